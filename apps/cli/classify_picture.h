/* Pictures of classifications: SVG, or an HTML page with the same picture and its numbers. */
#ifndef REJFILT_CLI_CLASSIFY_PICTURE_H
#define REJFILT_CLI_CLASSIFY_PICTURE_H

#include <stdio.h>

#include "few.h"

/* Checks that the name ends in .svg or .html. Returns 0, or -1 with a message in `error`. */
int cli_picture_check(const char *path, char *error, size_t size);

/* Does the name end in .html? */
int cli_picture_is_page(const char *path);

/* One object: the features asked, in order, their values in the data's units, and the class probabilities `before` the
   first question and after each answer. */
void cli_picture_story(FILE *out, int is_page, const char *title, const rfc_table *table, const rfc_coding *coding,
                       const rfc_task *task, const float before[], const uint8_t *object, uint32_t truth,
                       const rfc_answer *answer);

/* A number per feature. */
typedef struct cli_map {
    const char *title;
    const double *value;
} cli_map;

/* A cut: the number of features kept, and the error with only these. */
typedef struct cli_cut {
    uint32_t features;
    double percentile, error;
} cli_cut;

/* Maps side by side: heat maps for images (the colour follows the square root of the value), bars for tables. Below
   them the error against the number of features kept. A page also lists the features in `order`. */
void cli_picture_maps(FILE *out, int is_page, const char *title, const rfc_table *table, const cli_map *maps, unsigned count,
                      const cli_cut *cuts, unsigned cut_count, const uint32_t *order);

#endif
