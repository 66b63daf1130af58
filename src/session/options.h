/* Texts of options, for those who write similar ones: simulated worlds, comparisons. */
#ifndef REJFILT_SESSION_OPTIONS_H
#define REJFILT_SESSION_OPTIONS_H

#include "rejfilt/session.h"

extern const char *const rf_sampler_names[4], *const rf_precision_names[3], *const rf_chart_names[5];

/* "A:B", or "A+-B" if `gaussian`. Returns ':' or '+', or 0 with a message. */
int rf_parse_pair(const char *text, int gaussian, double *first, double *second, char *error, size_t size);
/* The same as a prior. Returns 0, or -1 with a message. */
int rf_parse_prior(const char *text, rf_prior *prior, char *error, size_t size);

/* Splits "[NAME=]REST": parameters, or settings, first .. last − 1; all without a name. Returns 0, or -1 with a
 * message. */
int rf_parse_whose(const rf_description *description, int is_setting, const char *text, unsigned *first, unsigned *last,
                   const char **rest, char *error, size_t size);

/* Set an option from "[NAME=]VALUE". Return 0, or -1 with a message and nothing changed. */
int rf_set_prior(rf_config *config, const char *text, char *error, size_t size);
int rf_set_chart(rf_config *config, const char *text, char *error, size_t size);
int rf_set_drift(rf_config *config, const char *text, char *error, size_t size);
int rf_set_range(rf_config *config, const char *text, char *error, size_t size);
int rf_set_cost(rf_config *config, const char *text, char *error, size_t size);
int rf_set_unit(rf_config *config, const char *text, char *error, size_t size);

/* If a setting of the record is outside its range, writes which, and returns 1; else 0. A record without outcome has none. */
int rf_record_outside(const rf_description *description, const rf_record *record, char *text, size_t size);

/* Does every prior fit its parameter's chart? Returns 0, or -1 with a message that begins with "prior: ". */
int rf_check_priors(const rf_config *config, char *error, size_t size);

/* Write a parameter's chart, or its drift, as these functions take it. */
void rf_chart_text(const rf_parameter *p, char *text, size_t size);
void rf_drift_text(const rf_config *config, unsigned i, char *text, size_t size);

#endif
