#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 900,
    RIGHT_MARGIN = 36,
    TOP = 72,
    BOTTOM_MARGIN = 56,
    GAP = 14,
    LETTER = 8, /* upper estimate of a character's width */
    TURNS_MAX = 20,
    LABEL_MAX = 14
};

/* States of health go from light to dark; on a dark background, from dark to light. They can be told apart without
   colour. */
const cli_palette cli_palettes[2] = {
    {"#ffffff",
     "#1a1a1a",
     "#666666",
     "#dddddd",
     "#b4d2ea",
     "#0060a0",
     "#000000",
     "#9c3d00",
     "#555555",
     {"#c4b5dd", "#dba51c", "#c8641e", "#701050", "#10104a"}},
    {"#16191d",
     "#e8e8e8",
     "#9a9a9a",
     "#3a3f45",
     "#2c5a80",
     "#7cc4ff",
     "#ffffff",
     "#ff9d5c",
     "#b8b8b8",
     {"#5b4a85", "#a87400", "#e0762a", "#ff7fc4", "#d9d0ff"}},
};

double cli_shade(double share) { return share < 1 ? 0.25 + 0.75 * fmax(share, 0) : 1; }

unsigned cli_health_level(double health) { return health >= RF_FAULT ? RF_FAULT : health > 0 ? (unsigned)health : 0; }

typedef cli_range range;

static const range nothing = {INFINITY, -INFINITY};

static range extended(range r, double value)
{
    return isfinite(value) ? (range){fmin(r.low, value), fmax(r.high, value)} : r;
}

static range range_of(const cli_series *s, size_t column)
{
    range r = nothing;
    for (size_t i = 0; i < s->count; i++)
        r = extended(r, cli_series_at(s, i, column));
    return r;
}

/* Bytes of the UTF-8 character at `c`; 0 if invalid. */
static size_t character_length(const unsigned char *c)
{
    size_t length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    const int is_surrogate = length == 3 && c[0] == 0xed && c[1] >= 0xa0;
    const int is_long = length >= 3 && ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90));
    return is_surrogate || is_long || (length == 4 && c[0] == 0xf4 && c[1] >= 0x90) ? 0 : length;
}

void cli_plain(const char *text, size_t limit, char out[CLI_CAPTION_MAX])
{
    static const char dots[] = "…";
    const unsigned char *c = (const unsigned char *)(text ? text : "");
    size_t used = 0, kept = 0; /* used: bytes of all characters; kept: bytes to keep if there are too many */
    for (size_t n = 0; *c; n++) {
        const size_t length = character_length(c);
        const int is_control = *c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0);
        if (n == limit || used + 4 + sizeof dots > CLI_CAPTION_MAX) {
            memcpy(out + kept, dots, sizeof dots);
            return;
        }
        memcpy(out + used, length == 0 || is_control ? " " : (const char *)c, length && !is_control ? length : 1);
        used += length && !is_control ? length : 1;
        c += length ? length : 1;
        if (n + 1 < limit)
            kept = used;
    }
    out[used] = '\0';
}

/* ---- Axes ---- */

double cli_axis_at(const cli_axis *a, double value)
{
    if (a->is_log)
        return value > 0 ? log(value / a->low) / log(a->high / a->low) : -1;
    return (value - a->low) / (a->high - a->low);
}

static void add_tick(cli_axis *a, double value, const char *format, int digits)
{
    if (a->ticks == CLI_TICKS_MAX)
        return;
    a->tick[a->ticks] = value;
    snprintf(a->label[a->ticks], sizeof *a->label, format, digits, value + 0.0);
    a->ticks++;
}

/* The smallest of 1, 2, 5 times a power of 10 that is not below `rough`. */
static double round_step(double rough)
{
    double unit = pow(10, floor(log10(rough) + 1e-9)), part = rough / unit;
    return part <= 1.000001 ? unit : part <= 2 ? 2 * unit : part <= 5 ? 5 * unit : 10 * unit;
}

static double ticks_within(const cli_axis *a, double step)
{
    return floor(a->high / step + 1e-9) - ceil(a->low / step - 1e-9) + 1;
}

/* Adds about `ticks` ticks, at least `least` apart and, if possible, two or more. Labels have enough digits to
   differ. */
static void add_ticks(cli_axis *a, unsigned ticks, double least)
{
    double step = round_step(fmax((a->high - a->low) / ticks, least));
    while (ticks_within(a, step) < 2 && step / 2.5 >= least)
        step = round_step(step / 2.5);
    double size = fmax(fabs(a->low), fabs(a->high)), decimals = fmax(-floor(log10(step) + 1e-9), 0);
    int is_plain = decimals < 8 && size < 1e10 && size >= 1e-3,
        digits = (int)fmin(ceil(log10(size / step)) + 1, LABEL_MAX);
    double first = ceil(a->low / step - 1e-9), count = ticks_within(a, step);
    for (double k = 0; k < count; k += 1)
        add_tick(a, (first + k) * step + 0.0, is_plain ? "%.*f" : "%.*g", is_plain ? (int)decimals : digits);
}

static void add_decades(cli_axis *a, unsigned ticks)
{
    double low = ceil(log10(a->low) - 1e-9), high = floor(log10(a->high) + 1e-9);
    double step = fmax(ceil((high - low) / ticks), 1);
    for (double k = ceil(low / step) * step; k <= high; k += step)
        if (k < -3 || k > 4)
            add_tick(a, pow(10, k), "1e%.*f", 0), snprintf(a->label[a->ticks - 1], sizeof *a->label, "1e%.0f", k);
        else
            add_tick(a, pow(10, k), "%.*g", 6);
}

/* An axis a little wider than `r`; logarithmic if `may_be_log` and the values span a factor of 100. */
static cli_axis axis_over(range r, unsigned ticks, int may_be_log)
{
    cli_axis a = {.low = r.low, .high = r.high};
    double pad = 0.05 * (r.high - r.low), size = fmax(fabs(r.low), fabs(r.high));
    if (may_be_log && r.low > 0 && r.high > 100 * r.low) {
        double factor = pow(r.high / r.low, 0.06);
        a = (cli_axis){.low = r.low / factor, .high = r.high * factor, .is_log = 1};
        add_decades(&a, ticks);
        return a;
    }
    if (!(pad > 1e-9 * size))
        pad = size > 0 ? 0.1 * size : 1;
    a.low -= pad;
    a.high += pad;
    add_ticks(&a, ticks, 0);
    return a;
}

static cli_axis axis_exactly(double low, double high, unsigned ticks, double least)
{
    cli_axis a = {.low = low, .high = high};
    add_ticks(&a, ticks, least);
    return a;
}

/* ---- Panels ---- */

/* The horizontal axis is time if every row has a time and times never decrease and are not all equal. */
static int has_times(const cli_series *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!isfinite(cli_series_at(s, i, CLI_TIME)) ||
            (i > 0 && cli_series_at(s, i, CLI_TIME) < cli_series_at(s, i - 1, CLI_TIME)))
            return 0;
    return s->count > 0 && cli_series_at(s, s->count - 1, CLI_TIME) > cli_series_at(s, 0, CLI_TIME);
}

static void lay_horizontally(cli_picture *p, const cli_series *s)
{
    p->x_column = has_times(s) ? CLI_TIME : CLI_STEP;
    const char *unit = p->x_column == CLI_TIME ? s->description->time_unit : NULL;
    snprintf(p->x_name, sizeof p->x_name, unit ? "%s (%s)" : "%s", p->x_column == CLI_TIME ? "time" : "measurement",
             unit);
    double low = cli_series_at(s, 0, p->x_column), high = cli_series_at(s, s->count - 1, p->x_column);
    p->dash = fmax(0.4 / (double)s->count, 0.0012) * (high - low);
    if (!(high > low)) {
        p->dash = 0.1;
        low -= 1;
        high += 1;
    }
    p->x = axis_exactly(low - p->dash, high + p->dash, 9, p->x_column == CLI_STEP ? 1 : 0);
}

static size_t characters(const char *text)
{
    size_t count = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; count++) {
        const size_t length = character_length(c);
        c += length ? length : 1;
    }
    return count;
}

/* Adds a panel below the others. Its name is shortened to its height; the unit stays, if there is room. */
static cli_panel *add_panel(cli_picture *p, cli_panel_kind kind, size_t column, const char *name, const char *unit,
                            double height)
{
    const size_t limit = (size_t)((height + GAP - 1) / LETTER), unit_length = unit ? characters(unit) + 3 : 0;
    const int is_short = unit_length + 3 <= limit; /* then the name is cut, not the unit */
    char labelled[CLI_CAPTION_MAX + RF_UNIT_MAX + 4], cut[CLI_CAPTION_MAX];
    cli_plain(name, is_short ? limit - unit_length : limit, cut);
    snprintf(labelled, sizeof labelled, unit ? "%s (%s)" : "%s", cut, unit);
    cli_panel *panel = &p->panel[p->panels++];
    *panel = (cli_panel){.kind = kind, .column = column, .top = p->height, .bottom = p->height + height};
    cli_plain(labelled, limit, panel->name);
    p->height += height + GAP;
    return panel;
}

static unsigned ticks_for(const cli_panel *panel) { return (unsigned)fmax((panel->bottom - panel->top) / 26, 3); }

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

cli_range cli_estimate_range(cli_range lines, cli_range band, double widths[], size_t count)
{
    if (lines.low > lines.high || band.low > band.high)
        return lines;
    qsort(widths, count, sizeof *widths, compare);
    const double reach = fmax(0.5 * (lines.high - lines.low), count ? widths[count / 2] : 0);
    return (range){fmin(lines.low, fmax(band.low, lines.low - reach)),
                   fmax(lines.high, fmin(band.high, lines.high + reach))};
}

static range estimate_range(const cli_series *s, unsigned i)
{
    double widths[CLI_PICTURE_ROWS];
    size_t known = 0;
    range lines = nothing, band = nothing;
    for (size_t row = 0; row < s->count; row++) {
        const double *of = s->rows + row * cli_series_width(s) + cli_series_parameter(i, 0);
        lines = extended(extended(lines, of[CLI_MEAN]), of[CLI_TRUTH]);
        band = extended(extended(band, of[CLI_LOW]), of[CLI_HIGH]);
        if (isfinite(of[CLI_HIGH] - of[CLI_LOW]) && known < CLI_PICTURE_ROWS)
            widths[known++] = of[CLI_HIGH] - of[CLI_LOW];
    }
    return cli_estimate_range(lines, band, widths, known);
}

/* Periodic parameters are drawn within one period, unless they make too many turns: then unwrapped. */
static void add_estimate(cli_picture *p, const cli_series *s, unsigned i, double height)
{
    const rf_parameter *description = &s->description->parameter[i];
    range r = nothing;
    for (size_t which = 0; which < CLI_MODES; which++) {
        range part = range_of(s, cli_series_parameter(i, which));
        r = extended(extended(r, part.low), part.high);
    }
    cli_panel *panel = add_panel(p, CLI_PANEL_ESTIMATE, cli_series_parameter(i, 0), description->name,
                                 s->description->unit[i], height);
    double period = description->high - description->low;
    const int is_near = r.low <= r.high && fmax(-r.low, r.high) < 1e6 * period; /* whole turns are then exact */
    if (description->chart == RF_PERIODIC && is_near && r.high - r.low < TURNS_MAX * period) {
        panel->period = period;
        panel->turn_first = (int)floor((r.low - description->low) / period);
        panel->turn_last = (int)floor((r.high - description->low) / period);
        panel->axis = axis_exactly(description->low, description->high, ticks_for(panel), 0);
    } else {
        panel->axis = axis_over(r.low > r.high ? (range){0, 0} : estimate_range(s, i), ticks_for(panel), 0);
    }
}

static void add_dashes(cli_picture *p, const cli_series *s, size_t column, const char *name, const char *unit,
                       double height)
{
    range r = range_of(s, column);
    if (r.low > r.high)
        return;
    cli_panel *panel = add_panel(p, CLI_PANEL_DASHES, column, name, unit, height);
    panel->axis = column == CLI_ACCEPTANCE ? axis_exactly(-0.04, 1.04, 3, 0.5)
                                           : axis_over(r, ticks_for(panel), column != CLI_LOSS);
}

static double key_width(const char *text) { return CLI_SAMPLE + LETTER * (double)strlen(text); }

/* Adds a key to the right of the last one, or below if there is no room; panels then move down. */
static void add_key(cli_picture *p, cli_key_kind kind, const char *text)
{
    const double line = 22;
    const cli_key *last = p->keys ? &p->key[p->keys - 1] : NULL;
    cli_key key = {kind, text, last ? last->x + key_width(last->text) + 20 : p->left, last ? last->y : CLI_KEYS_Y};
    if (last && key.x + key_width(text) > p->width) {
        key.x = p->left;
        key.y += line;
        p->height += line;
        for (unsigned k = 0; k < p->panels; k++) {
            p->panel[k].top += line;
            p->panel[k].bottom += line;
        }
    }
    p->key[p->keys++] = key;
}

int cli_panel_has_modes(const cli_panel *panel, const cli_series *s)
{
    for (size_t i = 0; i < s->count && panel->kind == CLI_PANEL_ESTIMATE; i++)
        if (isfinite(cli_series_at(s, i, panel->column + CLI_MODES)))
            return 1;
    return 0;
}

enum { SECOND_MODE = CLI_MODES + CLI_MODE_COLUMNS };

int cli_is_split(const cli_series *s, size_t row, const cli_panel *panel)
{
    return panel->kind == CLI_PANEL_ESTIMATE && isfinite(cli_series_at(s, row, panel->column + SECOND_MODE));
}

void cli_series_split(cli_series *s)
{
    for (unsigned i = 0; i < s->description->dim; i++)
        for (size_t row = 0; row < s->count; row++) {
            const size_t second = cli_series_parameter(i, SECOND_MODE);
            double *of = s->rows + row * cli_series_width(s) + cli_series_parameter(i, 0), *mode = of + CLI_MODES;
            const int is_beside = (row > 0 && isfinite(cli_series_at(s, row - 1, second))) ||
                                  (row + 1 < s->count && isfinite(cli_series_at(s, row + 1, second)));
            if (is_beside && !isfinite(of[SECOND_MODE])) {
                mode[CLI_MODE_LOW] = of[CLI_LOW];
                mode[CLI_MODE_HIGH] = of[CLI_HIGH];
                mode[CLI_MODE_SHARE] = 1;
            }
        }
}

static int has_panel(const cli_picture *p, cli_panel_kind kind)
{
    for (unsigned k = 0; k < p->panels; k++)
        if (p->panel[k].kind == kind)
            return 1;
    return 0;
}

static void add_keys(cli_picture *p, const cli_series *s)
{
    int seen[CLI_HEALTHS] = {0}, is_known = 0, has_modes = 0, has_estimates = 0;
    for (unsigned k = 0; k < p->panels; k++) {
        const int is_estimate = p->panel[k].kind == CLI_PANEL_ESTIMATE;
        has_estimates |= is_estimate;
        has_modes |= cli_panel_has_modes(&p->panel[k], s);
        for (size_t i = 0; i < s->count && is_estimate; i++)
            is_known |= isfinite(cli_series_at(s, i, p->panel[k].column + CLI_TRUTH)) != 0;
    }
    for (size_t i = 0; i < s->count; i++)
        seen[cli_health_level(cli_series_at(s, i, CLI_HEALTH))] |= cli_series_at(s, i, CLI_HEALTH) > RF_TRACKING;
    if (has_estimates)
        add_key(p, CLI_KEY_ESTIMATE, "estimate");
    if (has_estimates)
        add_key(p, CLI_KEY_BAND, has_modes ? "95 % band (shade: weight)" : "95 % band");
    if (is_known)
        add_key(p, CLI_KEY_TRUTH, "truth");
    for (int h = RF_TRACKING; h <= RF_FAULT; h++)
        if (seen[h] && has_panel(p, CLI_PANEL_HEALTH))
            add_key(p, (cli_key_kind)(CLI_KEY_COARSE + h), h ? rf_health_name((rf_health)h) : "coarse");
    if (has_estimates && cli_series_at(s, s->count - 1, CLI_RESTARTS) > 0)
        add_key(p, CLI_KEY_RESTART, "restart");
}

/* Space on the left for the longest label. */
static double left_margin(const cli_picture *p)
{
    size_t longest = 4;
    for (unsigned k = 0; k < p->panels; k++)
        for (unsigned i = 0; i < p->panel[k].axis.ticks; i++) {
            size_t length = strlen(p->panel[k].axis.label[i]);
            longest = length > longest ? length : longest;
        }
    return 56 + LETTER * (double)longest;
}

/* ---- Which panels ---- */

/* Panel numbers: parameters first, then settings, then these. */
enum { HEALTH = 2 * RF_DESCRIBED_MAX, ACCEPTANCE, LOSS, NO_PANEL };

static unsigned panel_named(const rf_description *d, const char *name, size_t length)
{
    static const char *const others[] = {"health", "acceptance", "loss"};
    for (unsigned i = 0; i < d->dim; i++)
        if (strlen(d->parameter[i].name) == length && strncmp(d->parameter[i].name, name, length) == 0)
            return i;
    for (unsigned i = 0; i < d->settings; i++)
        if (strlen(d->setting[i].name) == length && strncmp(d->setting[i].name, name, length) == 0)
            return RF_DESCRIBED_MAX + i;
    for (unsigned i = 0; i < 3; i++)
        if (strlen(others[i]) == length && strncmp(others[i], name, length) == 0)
            return HEALTH + i;
    return NO_PANEL;
}

/* The panel at *list; advances *list, to null at the end. NO_PANEL: unknown name. */
static unsigned next_panel(const rf_description *d, const char **list)
{
    const size_t length = strcspn(*list, ",");
    const unsigned panel = panel_named(d, *list, length);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return panel;
}

int cli_panels_check(const char *panels, const rf_description *d, char *error, size_t error_size)
{
    int is_there[NO_PANEL] = {0};
    for (const char *list = panels, *name = list; list; name = list) {
        const unsigned panel = next_panel(d, &list);
        const int length = (int)strcspn(name, ",");
        if (panel == NO_PANEL) {
            snprintf(error, error_size, "there is no panel '%.*s'; there are", length, name);
            for (unsigned i = 0; i < d->dim + d->settings && strlen(error) + 1 < error_size; i++)
                snprintf(error + strlen(error), error_size - strlen(error), " %s,",
                         i < d->dim ? d->parameter[i].name : d->setting[i - d->dim].name);
            snprintf(error + strlen(error), error_size - strlen(error), " health, acceptance and loss");
            return -1;
        }
        if (is_there[panel]++) {
            snprintf(error, error_size, "'%.*s' is there twice", length, name);
            return -1;
        }
    }
    return 0;
}

static unsigned estimates_in(const cli_series *s)
{
    unsigned count = 0;
    for (const char *list = s->panels; list;)
        count += next_panel(s->description, &list) < RF_DESCRIBED_MAX;
    return s->panels ? count : s->description->dim < CLI_ESTIMATES_MAX ? s->description->dim : CLI_ESTIMATES_MAX;
}

static void add_numbered(cli_picture *p, const cli_series *s, unsigned number)
{
    static const double heights[CLI_ESTIMATES_MAX + 1] = {0, 240, 165, 135, 115};
    const rf_description *d = s->description;
    const unsigned estimates = estimates_in(s), setting = number - RF_DESCRIBED_MAX;
    const int is_alone = s->panels && !strchr(s->panels, ',');
    if (number < RF_DESCRIBED_MAX) {
        add_estimate(p, s, number,
                     is_alone ? 340 : heights[estimates < CLI_ESTIMATES_MAX ? estimates : CLI_ESTIMATES_MAX]);
    } else if (number < HEALTH) {
        add_dashes(p, s, cli_series_setting(s, setting), d->setting[setting].name, d->setting_unit[setting],
                   is_alone          ? 340
                   : d->settings > 4 ? 68
                                     : 78);
    } else if (number == HEALTH) {
        cli_panel *panel = add_panel(p, CLI_PANEL_HEALTH, CLI_HEALTH, "", NULL, 18);
        panel->axis = (cli_axis){.high = RF_FAULT, .ticks = 1, .tick = {0.5 * RF_FAULT}, .label = {"health"}};
    } else {
        add_dashes(p, s, number == LOSS ? CLI_LOSS : CLI_ACCEPTANCE, number == LOSS ? "loss" : "acceptance",
                   number == LOSS ? "nats" : NULL,
                   is_alone         ? 340
                   : number == LOSS ? 90
                                    : 82);
    }
}

static void add_panels(cli_picture *p, const cli_series *s)
{
    const unsigned estimates = estimates_in(s);
    for (const char *list = s->panels; list;)
        add_numbered(p, s, next_panel(s->description, &list));
    if (s->panels)
        return;
    for (unsigned i = 0; i < estimates; i++)
        add_numbered(p, s, i);
    if (range_of(s, CLI_HEALTH).high > RF_TRACKING)
        add_numbered(p, s, HEALTH);
    for (unsigned i = 0; i < s->description->settings; i++) {
        const range r = range_of(s, cli_series_setting(s, i));
        if (r.low < r.high || s->count < 2)
            add_numbered(p, s, RF_DESCRIBED_MAX + i);
    }
    add_numbered(p, s, ACCEPTANCE);
    if (range_of(s, CLI_LOSS).high > 0)
        add_numbered(p, s, LOSS);
}

int cli_picture_lay(cli_picture *p, const cli_series *s)
{
    const unsigned dim = s->description->dim, shown = s->panels ? dim : estimates_in(s);
    char title[CLI_CAPTION_MAX + 64];
    int is_finite = 0;
    for (unsigned i = 0; i < shown; i++) {
        range r = range_of(s, cli_series_parameter(i, CLI_MEAN));
        is_finite |= r.low <= r.high;
    }
    if (!is_finite)
        return -1;
    *p = (cli_picture){.width = WIDTH, .height = TOP, .right = WIDTH - RIGHT_MARGIN};
    cli_plain(s->title, dim > shown ? 70 : 95, p->title);
    if (dim > shown) {
        snprintf(title, sizeof title, "%s; the first %u of %u parameters", p->title, shown, dim);
        cli_plain(title, CLI_CAPTION_MAX, p->title);
    }
    lay_horizontally(p, s);
    add_panels(p, s);
    if (p->panels == 0)
        return -1;
    p->height += BOTTOM_MARGIN - GAP;
    p->left = left_margin(p);
    add_keys(p, s);
    return 0;
}
