#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 27, ROOM_AT_FIRST = 256 };

const char *const cli_theme_names[3] = {"light", "dark", NULL};

/* Maximum of rows before thinning; a multiple of 4, so that rows form whole groups. */
static size_t most_rows(const cli_series *s)
{
    size_t max = s->max ? s->max : MOST_BYTES / (cli_series_width(s) * sizeof(double));
    return max < 4 ? 4 : max - max % 4;
}

/* Updates the extremes of a column with `value`; `first` and `second` keep them in order of time. */
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

/* Merges modes one by one if all rows have the same number of them; else removes them. */
static void absorb_modes(double *first, double *second, const double *modes)
{
    double joined[CLI_MODES_MAX * CLI_MODE_COLUMNS];
    int is_same = 1;
    for (size_t k = 0; k < CLI_MODES_MAX * CLI_MODE_COLUMNS; k += CLI_MODE_COLUMNS) {
        joined[k + CLI_MODE_LOW] = fmin(second[k + CLI_MODE_LOW], modes[k + CLI_MODE_LOW]);
        joined[k + CLI_MODE_HIGH] = fmax(second[k + CLI_MODE_HIGH], modes[k + CLI_MODE_HIGH]);
        joined[k + CLI_MODE_SHARE] = 0.5 * (second[k + CLI_MODE_SHARE] + modes[k + CLI_MODE_SHARE]);
        is_same &= isnan(second[k]) == isnan(modes[k]) &&
                   !(k > 0 && joined[k] <= joined[k - CLI_MODE_COLUMNS + CLI_MODE_HIGH]);
    }
    for (size_t k = 0; k < CLI_MODES_MAX * CLI_MODE_COLUMNS; k++)
        first[k] = second[k] = is_same ? joined[k] : NAN;
}

/* Merges a row into the two rows at `pair`. */
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
        absorb_modes(pair + c + CLI_MODES, second + c + CLI_MODES, row + c + CLI_MODES);
    }
    for (size_t c = settings; c < width; c++)
        absorb_extremes(&pair[c], &second[c], row[c]);
}

/* Each `group` of rows, at least 2, becomes two rows. `to` may be `from`. Returns the new number of rows. */
static size_t condense(const cli_series *s, const double *from, size_t count, size_t group, double *to)
{
    const size_t width = cli_series_width(s);
    double pair[2 * CLI_ROW_MAX];
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

/* Replaces values that cannot be drawn by NaN (above 1e100) or 0 (below 1e-100): differences and ratios stay finite. */
static double drawable(double value) { return fabs(value) <= 1e100 ? (fabs(value) < 1e-100 ? 0 : value) : NAN; }

unsigned cli_modes(const rf_step *step, unsigned parameter, rf_mode modes[])
{
    const rf_belief *belief = step->belief;
    const int is_several = belief && belief->kind->modes && belief->kind->modes(belief, parameter, modes) > 1;
    return is_several ? rf_belief_modes(belief, parameter, modes) : 0;
}

/* Writes the modes to columns of a row. If there are more than fit, the closest ones are merged. */
static void fill_modes(const rf_step *step, unsigned parameter, double turn, double *to)
{
    rf_mode modes[RF_MODES_MAX];
    unsigned count = cli_modes(step, parameter, modes);
    for (; count > CLI_MODES_MAX; count--) {
        unsigned close = 0;
        for (unsigned k = 1; k + 1 < count; k++)
            if (modes[k + 1].low - modes[k].high < modes[close + 1].low - modes[close].high)
                close = k;
        modes[close] = (rf_mode){modes[close].share + modes[close + 1].share, modes[close].low, modes[close + 1].high};
        memmove(&modes[close + 1], &modes[close + 2], (count - close - 2) * sizeof *modes);
    }
    for (unsigned k = 0; k < CLI_MODES_MAX; k++, to += CLI_MODE_COLUMNS) {
        to[CLI_MODE_LOW] = k < count ? drawable(modes[k].low) + turn : NAN;
        to[CLI_MODE_HIGH] = k < count ? drawable(modes[k].high) + turn : NAN;
        to[CLI_MODE_SHARE] = k < count ? modes[k].share : NAN;
    }
}

int cli_is_coarse(const rf_step *step)
{
    return step->health == RF_TRACKING && (step->is_coarse || (step->report.status & RF_NOTE_COARSE));
}

void cli_series_fill(cli_series *s, const rf_step *step, double time, double row[])
{
    row[CLI_STEP] = (double)step->step;
    row[CLI_TIME] = drawable(time);
    row[CLI_ACCEPTANCE] = drawable(step->report.acceptance);
    row[CLI_OUTCOME] = drawable(step->outcome);
    row[CLI_LOSS] = drawable(step->loss);
    row[CLI_HEALTH] = cli_is_coarse(step) ? CLI_COARSE : (double)step->health;
    row[CLI_RESTARTS] = (double)step->restarts;
    row += CLI_PARAMETERS;
    for (unsigned i = 0; i < s->description->dim; i++, row += CLI_PARAMETER_COLUMNS) {
        const rf_parameter *p = &s->description->parameter[i];
        const double period = p->high - p->low, mean = drawable(step->mean[i]);
        if (p->chart == RF_PERIODIC && !isnan(mean)) {
            if (s->count > 0)
                s->turn[i] -= round((mean - s->mean[i]) / period);
            s->mean[i] = mean;
        }
        const double turn = s->turn[i] * period;
        row[CLI_TRUTH] = drawable(step->truth[i]) + turn;
        row[CLI_MEAN] = mean + turn;
        row[CLI_LOW] = drawable(step->low[i]) + turn;
        row[CLI_HIGH] = drawable(step->high[i]) + turn;
        fill_modes(step, i, turn, row + CLI_MODES);
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

int cli_series_add_row(cli_series *s, const double row[])
{
    const size_t width = cli_series_width(s);
    s->per_row = s->per_row ? s->per_row : 1;
    if (s->pending == 0 && make_room(s, s->per_row > 1 ? 2 : 1) != 0)
        return -1;
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

int cli_series_add(cli_series *s, const rf_step *step, double time)
{
    double row[CLI_ROW_MAX];
    cli_series_fill(s, step, time, row);
    return cli_series_add_row(s, row);
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
