/* Pictures of classifications: SVG, or a page of HTML that holds it and the numbers. */
#ifndef REJFILT_CLI_CLASSIFY_PICTURE_H
#define REJFILT_CLI_CLASSIFY_PICTURE_H

#include <stdio.h>

#include "rejfilt/classify.h"

/* Does the name end in .svg or .html? If not, a message in `error` and -1. */
int cli_picture_check(const char *path, char *error, size_t size);

/* Is it a name that ends in .html? */
int cli_picture_is_page(const char *path);

/* One object's story: which features were asked, in order, what they were in the data's units, and what was believed
   after each. */
void cli_picture_story(FILE *out, int is_page, const char *title, const rfc_table *table, const rfc_coding *coding,
                       const rfc_task *task, const uint8_t *object, uint32_t truth, const rfc_answer *answer);

/* A number per feature. */
typedef struct cli_map {
    const char *title;
    const double *value;
} cli_map;

/* A cut: the features kept, and the error with them. */
typedef struct cli_cut {
    uint32_t features;
    double percentile, error;
} cli_cut;

/* Heat maps side by side for images, whose colours go with the root of the value, bars for tables; below them the error
   against the features kept. A page lists the features in that order, too. */
void cli_picture_maps(FILE *out, int is_page, const char *title, const rfc_table *table, const cli_map *maps, unsigned count,
                      const cli_cut *cuts, unsigned cut_count, const uint32_t *order);

#endif
