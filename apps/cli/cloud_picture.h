/* Pictures of classifications, written as SVG. */
#ifndef REJFILT_CLI_CLOUD_PICTURE_H
#define REJFILT_CLI_CLOUD_PICTURE_H

#include <stdio.h>

#include "task.h"
#include "sweep.h"

/* Does the name end in .svg? If not, a message in `error` and -1. */
int cli_picture_check(const char *path, char *error, size_t size);

/* One object's story: which features were asked, in order, and what was believed after each. */
void cli_picture_story(FILE *out, const char *title, const rf_table *table, const rf_task *task, const uint8_t *object,
                       uint32_t truth, const rf_answer *answer);

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

/* Heat maps side by side for images, bars for tables; below them the error against the features kept. */
void cli_picture_maps(FILE *out, const char *title, const rf_table *table, const cli_map *maps, unsigned count,
                      const cli_cut *cuts, unsigned cut_count);

#endif
