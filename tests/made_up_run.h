/* A simulated run, shared by the tests of pictures and of the terminal. */
#ifndef REJFILT_TEST_MADE_UP_RUN_H
#define REJFILT_TEST_MADE_UP_RUN_H

#include "testing.h"

#include <math.h>

#include "../apps/cli/track_options.h"

static rf_description description;

/* One parameter and one setting, which most tests need. */
static inline int describe(void **state)
{
    (void)state;
    description = (rf_description){.name = "synthetic", .dim = 1, .settings = 1};
    description.parameter[0] = (rf_parameter){.name = "omega_0", .low = 0, .high = 1};
    description.setting[0] = (rf_setting){.name = "t"};
    return 0;
}

static inline rf_step synthetic(long step)
{
    double sigma = 0.3 * exp(-(double)step / 50.0) + 0.01;
    rf_step s = {.step = step, .dim = description.dim, .outcome = 1.0, .report.acceptance = 0.5};
    for (unsigned i = 0; i < description.dim; i++) {
        s.truth[i] = 0.8;
        s.mean[i] = 0.8 + sigma * sin(0.3 * (double)step);
        s.sd[i] = sigma;
        s.low[i] = s.mean[i] - 1.959963984540054 * sigma;
        s.high[i] = s.mean[i] + 1.959963984540054 * sigma;
    }
    for (unsigned i = 0; i < description.settings; i++)
        s.setting[i] = 1.0 / sigma;
    return s;
}

/* The contents of the file, zero-terminated; closes the file. The caller frees the result. */
static inline char *read_all(FILE *file, size_t *length)
{
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

#endif
