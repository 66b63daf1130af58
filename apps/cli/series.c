#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 27, ROOM_AT_FIRST = 256 };

/* Rows until the series is thinned; a multiple of 4, so that it is made of whole groups. */
static size_t most_rows(const cli_series *s)
{
    size_t max = s->max ? s->max : MOST_BYTES / (cli_series_width(s) * sizeof(double));
    return max < 4 ? 4 : max - max % 4;
}

/* `first` and `second` hold the extremes of a column in the order they came. */
static void absorb_extremes(double *first, double *second, double value)
{
    double low = fmin(*first, *second), high = fmax(*first, *second);
    if (isnan(low)) {
        *first = *second = value;
    } else if (value > high) {
        *first = low;
        *second = value;
    } else if (value < low) {
        *first = high;
        *second = value;
    }
}

/* A row becomes part of the two rows from `pair` on. */
static void absorb(const cli_series *s, double *pair, const double *row)
{
    const size_t width = cli_series_width(s), settings = cli_series_setting(s, 0);
    double *second = pair + width;
    second[CLI_STEP] = row[CLI_STEP];
    second[CLI_TIME] = row[CLI_TIME];
    absorb_extremes(&pair[CLI_ACCEPTANCE], &second[CLI_ACCEPTANCE], row[CLI_ACCEPTANCE]);
    absorb_extremes(&pair[CLI_OUTCOME], &second[CLI_OUTCOME], row[CLI_OUTCOME]);
    for (size_t c = CLI_HEALTH; c <= CLI_RESTARTS; c++)
        pair[c] = second[c] = fmax(second[c], row[c]);
    for (size_t c = CLI_PARAMETERS; c < settings; c += CLI_PARAMETER_COLUMNS) {
        absorb_extremes(&pair[c + CLI_TRUTH], &second[c + CLI_TRUTH], row[c + CLI_TRUTH]);
        absorb_extremes(&pair[c + CLI_MEAN], &second[c + CLI_MEAN], row[c + CLI_MEAN]);
        pair[c + CLI_LOW] = second[c + CLI_LOW] = fmin(second[c + CLI_LOW], row[c + CLI_LOW]);
        pair[c + CLI_HIGH] = second[c + CLI_HIGH] = fmax(second[c + CLI_HIGH], row[c + CLI_HIGH]);
        for (size_t g = c + CLI_GAPS; g < c + CLI_PARAMETER_COLUMNS; g += 2) { /* that all rows have */
            const double bottom = second[g] >= row[g] ? second[g] : row[g], top = second[g + 1] <= row[g + 1] ? second[g + 1] : row[g + 1];
            const int is_gap = !isnan(second[g]) && bottom < top;
            pair[g] = second[g] = is_gap ? bottom : NAN;
            pair[g + 1] = second[g + 1] = is_gap ? top : NAN;
        }
    }
    for (size_t c = settings; c < width; c++)
        absorb_extremes(&pair[c], &second[c], row[c]);
}

/* Each `group` of rows, at least 2, becomes two rows. `to` may be `from`. Returns the new count. */
static size_t condense(const cli_series *s, const double *from, size_t count, size_t group, double *to)
{
    const size_t width = cli_series_width(s);
    double pair[2 * (CLI_PARAMETERS + (CLI_PARAMETER_COLUMNS + 1) * RF_DESCRIBED_MAX)];
    size_t made = 0;
    for (size_t i = 0; i < count; i += group, made += 2) {
        memcpy(pair, from + i * width, width * sizeof *pair);
        memcpy(pair + width, pair, width * sizeof *pair);
        for (size_t k = i + 1; k < count && k < i + group; k++)
            absorb(s, pair, from + k * width);
        memcpy(to + made * width, pair, 2 * width * sizeof *pair);
    }
    return made;
}

/* What can be drawn: numbers of sizes whose differences and ratios are finite. */
static double drawable(double value) { return fabs(value) <= 1e100 ? (fabs(value) < 1e-100 ? 0 : value) : NAN; }

unsigned cli_modes(const rf_step *step, unsigned parameter, rf_mode modes[])
{
    const rf_belief *belief = step->belief;
    const int is_several = belief && belief->kind->modes && belief->kind->modes(belief, parameter, modes) > 1;
    return is_several ? rf_belief_modes(belief, parameter, modes) : 0;
}

static void fill_gaps(const rf_step *step, unsigned parameter, double turn, double *gaps)
{
    rf_mode modes[RF_MODES_MAX];
    const unsigned count = cli_modes(step, parameter, modes);
    for (unsigned k = 0; k < CLI_GAPS_MAX; k++) {
        const int is_gap = k + 1 < count && modes[k].high < modes[k + 1].low;
        gaps[2 * k] = is_gap ? drawable(modes[k].high) + turn : NAN;
        gaps[2 * k + 1] = is_gap ? drawable(modes[k + 1].low) + turn : NAN;
    }
}

static void fill(cli_series *s, const rf_step *step, double time, double *row)
{
    row[CLI_STEP] = (double)step->step;
    row[CLI_TIME] = drawable(time);
    row[CLI_ACCEPTANCE] = drawable(step->report.acceptance);
    row[CLI_OUTCOME] = drawable(step->outcome);
    row[CLI_LOSS] = drawable(step->loss);
    row[CLI_HEALTH] = (double)step->health;
    row[CLI_RESTARTS] = (double)step->restarts;
    row += CLI_PARAMETERS;
    for (unsigned i = 0; i < s->description->dim; i++, row += CLI_PARAMETER_COLUMNS) {
        const rf_parameter *p = &s->description->parameter[i];
        const double period = p->high - p->low, mean = drawable(step->mean[i]);
        if (p->chart == RF_PERIODIC && !isnan(mean)) {
            if (s->count > 0)
                s->turn[i] -= period * round((mean - s->mean[i]) / period);
            s->mean[i] = mean;
        }
        row[CLI_TRUTH] = drawable(step->truth[i]) + s->turn[i];
        row[CLI_MEAN] = mean + s->turn[i];
        row[CLI_LOW] = drawable(step->low[i]) + s->turn[i];
        row[CLI_HIGH] = drawable(step->high[i]) + s->turn[i];
        fill_gaps(step, i, s->turn[i], row + CLI_GAPS);
    }
    for (unsigned i = 0; i < s->description->settings; i++)
        row[i] = drawable(step->setting[i]);
}

static int make_room(cli_series *s, size_t rows)
{
    size_t max = most_rows(s), room = s->room ? 2 * s->room : ROOM_AT_FIRST;
    if (s->count + rows > max) {
        s->count = condense(s, s->rows, s->count, 4, s->rows);
        s->per_row *= 2;
    }
    if (s->count + rows <= s->room)
        return 0;
    room = room < max ? room : max;
    double *grown = realloc(s->rows, room * cli_series_width(s) * sizeof *grown);
    if (!grown)
        return -1;
    s->rows = grown;
    s->room = room;
    return 0;
}

int cli_series_add(cli_series *s, const rf_step *step, double time)
{
    const size_t width = cli_series_width(s);
    double row[CLI_PARAMETERS + (CLI_PARAMETER_COLUMNS + 1) * RF_DESCRIBED_MAX];
    s->per_row = s->per_row ? s->per_row : 1;
    if (s->pending == 0 && make_room(s, s->per_row > 1 ? 2 : 1) != 0)
        return -1;
    fill(s, step, time, row);
    double *next = s->rows + s->count * width;
    if (s->pending > 0) {
        absorb(s, next - 2 * width, row);
    } else {
        memcpy(next, row, width * sizeof *row);
        if (s->per_row > 1)
            memcpy(next + width, row, width * sizeof *row);
        s->count += s->per_row > 1 ? 2 : 1;
    }
    if (s->per_row > 1)
        s->pending = (s->pending + 1) % (2 * s->per_row);
    return 0;
}

int cli_series_thin(const cli_series *from, size_t max, cli_series *to)
{
    const size_t half = max / 2, width = cli_series_width(from), is_long = from->count > max;
    *to = *from;
    to->room = is_long ? max : from->count + 1;
    to->rows = malloc(to->room * width * sizeof *to->rows);
    if (!to->rows)
        return -1;
    if (is_long) {
        const size_t group = (from->count + half - 1) / half;
        to->count = condense(from, from->rows, from->count, group, to->rows);
        to->per_row = from->per_row * (group + 1) / 2;
    } else if (from->count > 0) {
        memcpy(to->rows, from->rows, from->count * width * sizeof *to->rows);
    }
    return 0;
}

void cli_series_free(cli_series *s)
{
    free(s->rows);
    s->rows = NULL;
    s->count = s->room = s->per_row = s->pending = 0;
}
