#include "html.h"
#include "html_script.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { DATA_BYTES = 1000000 }; /* approximate size of the embedded numbers */

/* The page loads nothing, and the policy allows only the style and the script below, by their SHA-256. When these
   change, tests/test_picture.py prints the new hashes. */
static const char head[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'sha256-SjXGiFt+vkRwTIQCjJpD8lKMoXIKHeujVbuEmCr5F9s='; "
    "script-src 'sha256-ZaLoti/pUK64k5S2U2fpTiBp6BvpjI7X0U3ENcmG6aY='; base-uri 'none'; form-action 'none'\">\n";

/* Colours are variables; put_style() defines them before this. */
static const char style[] =
    "body { margin: 1em auto; max-width: 960px; font: 14px sans-serif; color: var(--text); background: var(--bg) }\n"
    "svg { display: block; width: 100%; height: auto; touch-action: pan-y }\n"
    "#read { min-height: 3em; margin: .5em 0; font-variant-numeric: tabular-nums }\n"
    "#hint { color: var(--axis) }\n"
    ".t { fill: var(--text) } .title { font-size: 16px } .bg { fill: var(--bg) }\n"
    ".g { stroke: var(--grid); stroke-width: .7 } .a { stroke: var(--axis); fill: none }\n"
    ".band { fill: var(--band) } .mean { fill: none; stroke: var(--mean); stroke-width: 2.6; stroke-linejoin: round; "
    "stroke-linecap: round }\n"
    ".truth { fill: none; stroke: var(--truth); stroke-width: 1.4; stroke-dasharray: 7 4 }\n"
    ".setting, .rate { fill: none; stroke: var(--setting); stroke-width: 2 } .rate { stroke: var(--rate) }\n"
    ".restart { fill: var(--truth) }\n"
    ".h0 { fill: var(--h0) } .h1 { fill: var(--h1) } .h2 { fill: var(--h2) } .h3 { fill: var(--h3) } .h4 { fill: var(--h4) }\n"
    "</style>\n";

static void put_colours(FILE *out, const cli_palette *p)
{
    fprintf(
        out,
        "--bg: %s; --text: %s; --axis: %s; --grid: %s; --band: %s; --mean: %s; --truth: %s; --setting: %s; --rate: %s",
        p->background, p->text, p->axis, p->grid, p->band, p->mean, p->truth, p->setting, p->rate);
    for (int h = 0; h < CLI_HEALTHS; h++)
        fprintf(out, "; --h%d: %s", h, p->health[h]);
}

/* Follows the viewer's light or dark preference. */
static void put_style(FILE *out)
{
    fputs("<style>\n:root { color-scheme: light dark; ", out);
    put_colours(out, &cli_palettes[CLI_LIGHT]);
    fputs(" }\n@media (prefers-color-scheme: dark) { :root { ", out);
    put_colours(out, &cli_palettes[CLI_DARK]);
    fprintf(out, " } }\n%s", style);
}

/* Writes XML text or an attribute value. */
static void put_xml(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*text, out);
        }
}

/* Writes a JSON string that cannot end a script element. */
static void put_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || *text == '<' || *text == '&')
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

static void put_text(FILE *out, const char *text, double x, double y, const char *attributes)
{
    fprintf(out, "<text class=\"t\" x=\"%.1f\" y=\"%.1f\" %s>", x, y + 5, attributes);
    put_xml(out, text);
    fputs("</text>\n", out);
}

/* ---- The picture ---- */

typedef struct plot {
    FILE *out;
    const cli_picture *picture;
    const cli_series *series;
} plot;

/* Limited to 1000 pixels outside the panel, which clips it. */
static double y_of(const cli_panel *panel, double value)
{
    double y = panel->bottom - cli_axis_at(&panel->axis, value) * (panel->bottom - panel->top);
    return fmin(fmax(y, panel->top - 1000), panel->bottom + 1000);
}

static double x_of(const cli_picture *p, double value)
{
    return p->left + cli_axis_at(&p->x, value) * (p->right - p->left);
}

static double row_x(const plot *d, size_t row)
{
    return x_of(d->picture, cli_series_at(d->series, row, d->picture->x_column));
}

static double row_y(const plot *d, const cli_panel *panel, size_t row, size_t column, int turn)
{
    return y_of(panel, cli_series_at(d->series, row, column) - turn * panel->period);
}

/* Is the curve between rows i − 1 and i outside the panel? Columns `low` and `high` bound it. */
static int is_outside(const plot *d, const cli_panel *panel, size_t i, size_t low, size_t high, int turn)
{
    const double top = panel->axis.high + turn * panel->period, bottom = panel->axis.low + turn * panel->period;
    const double above = fmin(cli_series_at(d->series, i - 1, low), cli_series_at(d->series, i, low));
    const double below = fmax(cli_series_at(d->series, i - 1, high), cli_series_at(d->series, i, high));
    return above > top || below < bottom;
}

/* Can rows i − 1 and i be joined: by a line if low == high, else by a band between the columns? */
static int is_joined(const plot *d, const cli_panel *panel, size_t i, size_t low, size_t high, int turn)
{
    for (size_t k = i - 1; k <= i; k++)
        if (!isfinite(cli_series_at(d->series, k, low)) || !isfinite(cli_series_at(d->series, k, high)))
            return 0;
    if (low != high && (cli_is_split(d->series, i - 1, panel) || cli_is_split(d->series, i, panel)))
        return 0;
    return panel->period == 0 || !is_outside(d, panel, i, low, high, turn);
}

static void put_line(const plot *d, const cli_panel *panel, size_t column, int turn, const char *class)
{
    int is_down = 0;
    fprintf(d->out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 1; i < d->series->count; i++) {
        if (!is_joined(d, panel, i, column, column, turn)) {
            is_down = 0;
            continue;
        }
        if (!is_down)
            fprintf(d->out, "M%.1f %.1f", row_x(d, i - 1), row_y(d, panel, i - 1, column, turn));
        fprintf(d->out, "L%.1f %.1f", row_x(d, i), row_y(d, panel, i, column, turn));
        is_down = 1;
    }
    fputs("\"/>\n", d->out);
}

/* One polygon for each run of joined rows: upper side from left to right, lower side back. */
static void put_band(const plot *d, const cli_panel *panel, int turn)
{
    const size_t low = panel->column + CLI_LOW, high = panel->column + CLI_HIGH;
    fputs("<path class=\"band\" d=\"", d->out);
    for (size_t first = 0, last; first + 1 < d->series->count; first = last > first ? last : first + 1) {
        for (last = first; last + 1 < d->series->count && is_joined(d, panel, last + 1, low, high, turn); last++)
            ;
        for (size_t i = first; last > first && i <= last; i++)
            fprintf(d->out, "%c%.1f %.1f", i == first ? 'M' : 'L', row_x(d, i), row_y(d, panel, i, high, turn));
        for (size_t i = last + 1; last > first && i-- > first;)
            fprintf(d->out, "L%.1f %.1f", row_x(d, i), row_y(d, panel, i, low, turn));
        fputs(last > first ? "Z" : "", d->out);
    }
    fputs("\"/>\n", d->out);
}

/* Length in pixels of the dash that stands for a row. */
static double dash_length(const plot *d)
{
    return 2 * d->picture->dash * (d->picture->right - d->picture->left) / (d->picture->x.high - d->picture->x.low);
}

/* Several modes replace the band row by row: each mode is a shaded box. */
static void put_modes(const plot *d, const cli_panel *panel, int turn)
{
    const double length = CLI_WHOLE * dash_length(d);
    for (size_t i = 0; i < d->series->count; i++) {
        size_t c = panel->column + CLI_MODES;
        if (!isfinite(cli_series_at(d->series, i, c)))
            continue;
        const double x = row_x(d, i) - length / 2;
        for (; c < panel->column + CLI_PARAMETER_COLUMNS && isfinite(cli_series_at(d->series, i, c));
             c += CLI_MODE_COLUMNS) {
            const double y = row_y(d, panel, i, c + CLI_MODE_HIGH, turn);
            fprintf(
                d->out,
                "<rect class=\"band\" fill-opacity=\"%.2f\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                cli_shade(cli_series_at(d->series, i, c + CLI_MODE_SHARE)), x, y, length,
                row_y(d, panel, i, c + CLI_MODE_LOW, turn) - y);
        }
    }
}

/* A dash for each row; if rows stand for several updates, a line through their extremes. */
static void put_dashes(const plot *d, const cli_panel *panel)
{
    const double length = dash_length(d);
    const char *class = panel->column == CLI_ACCEPTANCE ? "rate" : "setting";
    if (d->series->per_row > 1) {
        put_line(d, panel, panel->column, 0, class);
        return;
    }
    fprintf(d->out, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < d->series->count; i++)
        if (isfinite(cli_series_at(d->series, i, panel->column)))
            fprintf(d->out, "M%.1f %.1fh%.1f", row_x(d, i) - length / 2, row_y(d, panel, i, panel->column, 0), length);
    fputs("\"/>\n", d->out);
}

/* Bars; a higher bar is a worse state. */
static void put_health(const plot *d, const cli_panel *panel)
{
    for (size_t i = 0, end; i < d->series->count; i = end) {
        const double level = cli_series_at(d->series, i, CLI_HEALTH);
        for (end = i + 1; end < d->series->count && cli_series_at(d->series, end, CLI_HEALTH) == level; end++)
            ;
        const double from = row_x(d, i), to = row_x(d, end < d->series->count ? end : end - 1), y = y_of(panel, level);
        if (level > RF_TRACKING)
            fprintf(d->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"h%u\"/>\n", from, y,
                    fmax(to - from, 2), panel->bottom - y, cli_health_level(level));
    }
}

static void put_restarts(const plot *d, const cli_panel *panel)
{
    fputs("<path class=\"restart\" d=\"", d->out);
    for (size_t i = 0; i < d->series->count; i++)
        if (cli_series_at(d->series, i, CLI_RESTARTS) > (i ? cli_series_at(d->series, i - 1, CLI_RESTARTS) : 0))
            fprintf(d->out, "M%.1f %.1fl-4 -7h8z", row_x(d, i), panel->top + 9);
    fputs("\"/>\n", d->out);
}

/* The part that the script redraws when the horizontal range changes. */
static void put_panel(const plot *d, unsigned number)
{
    const cli_picture *p = d->picture;
    const cli_panel *panel = &p->panel[number];
    fprintf(d->out, "<g id=\"p%u\">\n", number);
    for (unsigned i = 0; i < panel->axis.ticks; i++) {
        double y = y_of(panel, panel->axis.tick[i]);
        if (panel->kind != CLI_PANEL_HEALTH)
            fprintf(d->out, "<path class=\"g\" d=\"M%.1f %.1fH%.1f\"/>\n", p->left, y, p->right);
        put_text(d->out, panel->axis.label[i], p->left - 8, y, "text-anchor=\"end\"");
    }
    fprintf(d->out, "<g clip-path=\"url(#c%u)\">\n", number);
    for (int turn = panel->turn_first; panel->kind == CLI_PANEL_ESTIMATE && turn <= panel->turn_last; turn++) {
        put_band(d, panel, turn);
        put_modes(d, panel, turn);
    }
    for (int turn = panel->turn_first; panel->kind == CLI_PANEL_ESTIMATE && turn <= panel->turn_last; turn++) {
        put_line(d, panel, panel->column + CLI_MEAN, turn, "mean");
        put_line(d, panel, panel->column + CLI_TRUTH, turn, "truth");
    }
    if (panel->kind == CLI_PANEL_ESTIMATE)
        put_restarts(d, panel);
    else if (panel->kind == CLI_PANEL_HEALTH)
        put_health(d, panel);
    else
        put_dashes(d, panel);
    fputs("</g>\n</g>\n", d->out);
}

static void put_frame(FILE *out, const cli_picture *p, unsigned number)
{
    const cli_panel *panel = &p->panel[number];
    const double middle = (panel->top + panel->bottom) / 2;
    char turned[80];
    snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 %d %.1f)\"", CLI_NAME_X, middle);
    fprintf(out, "<clipPath id=\"c%u\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n",
            number, p->left, panel->top, p->right - p->left, panel->bottom - panel->top);
    fprintf(out, "<path class=\"a\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", p->left, panel->top, panel->bottom, p->right);
    put_text(out, panel->name, CLI_NAME_X, middle, turned);
}

static void put_key(FILE *out, const cli_key *key)
{
    const double y = key->y, right = key->x + CLI_SAMPLE - 8;
    put_text(out, key->text, key->x + CLI_SAMPLE, y, "");
    if (key->kind == CLI_KEY_ESTIMATE || key->kind == CLI_KEY_TRUTH)
        fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", key->kind == CLI_KEY_TRUTH ? "truth" : "mean",
                key->x, y, right);
    else if (key->kind == CLI_KEY_RESTART)
        fprintf(out, "<path class=\"restart\" d=\"M%.1f %.1fl-4 -7h8z\"/>\n", (key->x + right) / 2, y + 4);
    else if (key->kind == CLI_KEY_BAND)
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" class=\"band\"/>\n", key->x, y - 6,
                right - key->x);
    else
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" class=\"h%d\"/>\n", key->x, y - 6,
                right - key->x, key->kind - CLI_KEY_COARSE);
}

static void put_picture(const plot *d)
{
    const cli_picture *p = d->picture;
    const double bottom = p->panel[p->panels - 1].bottom;
    fprintf(
        d->out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"picture\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
        "font-size=\"%d\" role=\"img\" tabindex=\"0\">\n<title>",
        p->width, p->height, CLI_FONT);
    put_xml(d->out, p->title);
    fprintf(d->out, "</title>\n<rect width=\"%.0f\" height=\"%.0f\" class=\"bg\"/>\n<g class=\"title\">", p->width,
            p->height);
    put_text(d->out, p->title, p->left, CLI_TITLE_Y, "");
    fputs("</g>\n", d->out);
    for (unsigned k = 0; k < p->keys; k++)
        put_key(d->out, &p->key[k]);
    for (unsigned k = 0; k < p->panels; k++)
        put_panel(d, k);
    for (unsigned k = 0; k < p->panels; k++)
        put_frame(d->out, p, k);
    fputs("<g id=\"x\">\n", d->out);
    for (unsigned i = 0; i < p->x.ticks; i++) {
        double x = x_of(p, p->x.tick[i]);
        fprintf(d->out, "<path class=\"a\" d=\"M%.1f %.1fv5\"/>\n", x, bottom);
        put_text(d->out, p->x.label[i], x, bottom + 18, "text-anchor=\"middle\"");
    }
    fputs("</g>\n", d->out);
    put_text(d->out, p->x_name, (p->left + p->right) / 2, p->height - 14, "text-anchor=\"middle\"");
    fprintf(d->out, "<path id=\"cursor\" class=\"a\" visibility=\"hidden\" d=\"M0 %.1fV%.1f\"/>\n</svg>\n",
            p->panel[0].top, bottom);
}

/* ---- The data ---- */

static void put_numbers(FILE *out, const cli_series *s, size_t column, int digits)
{
    fputc('[', out);
    for (size_t i = 0; i < s->count; i++) {
        double value = cli_series_at(s, i, column);
        if (isfinite(value))
            fprintf(out, "%s%.*g", i ? "," : "", digits, value);
        else
            fputs(i ? ",null" : "null", out);
    }
    fputs("]", out);
}

static void put_curve(FILE *out, const cli_series *s, const char *name, size_t column, int digits)
{
    fprintf(out, ",\n\"%s\":", name);
    put_numbers(out, s, column, digits);
}

/* How many rows may be embedded. Upper bound of a row's size: parameters with 10 digits, settings and rates with 5. */
static size_t rows_embedded(const cli_picture *p, const cli_series *all)
{
    size_t bytes = 40;
    for (unsigned k = 0; k < p->panels; k++) {
        const int is_estimate = p->panel[k].kind == CLI_PANEL_ESTIMATE;
        bytes += is_estimate ? 4u * 16 + (cli_panel_has_modes(&p->panel[k], all) ? 80u : 0) : 11u;
    }
    return DATA_BYTES / bytes;
}

/* For rows with several modes: low, high and shade of each mode, keyed by row number. */
static void put_modes_data(FILE *out, const cli_series *s, size_t first)
{
    const char *comma = "";
    fputs(",\n\"modes\":{", out);
    for (size_t i = 0; i < s->count; i++) {
        if (!isfinite(cli_series_at(s, i, first)))
            continue;
        fprintf(out, "%s\"%zu\":[", comma, i);
        comma = ",";
        for (size_t c = first; c < first + CLI_MODES_MAX * CLI_MODE_COLUMNS && isfinite(cli_series_at(s, i, c));
             c += CLI_MODE_COLUMNS)
            fprintf(out, "%s[%.6g,%.6g,%.2f]", c > first ? "," : "", cli_series_at(s, i, c + CLI_MODE_LOW),
                    cli_series_at(s, i, c + CLI_MODE_HIGH), cli_shade(cli_series_at(s, i, c + CLI_MODE_SHARE)));
        fputs("]", out);
    }
    fputs("}", out);
}

static void put_panel_data(FILE *out, const cli_panel *panel, const cli_series *s)
{
    static const char *const kinds[] = {"estimate", "health", "dashes"};
    fprintf(out, "{\"kind\":\"%s\",\"name\":", kinds[panel->kind]);
    put_json(out, panel->name);
    fprintf(out, ",\"top\":%.1f,\"bottom\":%.1f,\"low\":%.17g,\"high\":%.17g,\"log\":%d,\"period\":%.17g,\"held\":%d",
            panel->top, panel->bottom, panel->axis.low, panel->axis.high, panel->axis.is_log, panel->period,
            panel->period > 0 || panel->column == CLI_ACCEPTANCE);
    if (panel->kind == CLI_PANEL_ESTIMATE) {
        put_curve(out, s, "truth", panel->column + CLI_TRUTH, 10);
        put_curve(out, s, "mean", panel->column + CLI_MEAN, 10);
        put_curve(out, s, "bottoms", panel->column + CLI_LOW, 10);
        put_curve(out, s, "tops", panel->column + CLI_HIGH, 10);
        put_modes_data(out, s, panel->column + CLI_MODES);
    } else {
        put_curve(out, s, "values", panel->column, 5);
    }
    fputs("}", out);
}

static void put_data(FILE *out, const cli_picture *p, const cli_series *s)
{
    fprintf(
        out,
        "<script type=\"application/json\" id=\"data\">\n{\"left\":%.1f,\"right\":%.1f,\"low\":%.17g,\"high\":%.17g,"
        "\"thinned\":%d,\"steps\":%d,\"name\":",
        p->left, p->right, p->x.low, p->x.high, s->per_row > 1, p->x_column == CLI_STEP);
    put_json(out, p->x_name);
    fputs(",\n\"states\":[", out);
    for (int h = 0; h < CLI_HEALTHS; h++)
        fprintf(out, "%s\"%s\"", h ? "," : "", rf_health_name((rf_health)h));
    fputs("]", out);
    put_curve(out, s, "x", p->x_column, 13);
    put_curve(out, s, "outcome", CLI_OUTCOME, 5);
    put_curve(out, s, "health", CLI_HEALTH, 1);
    put_curve(out, s, "restarts", CLI_RESTARTS, 9);
    fputs(",\n\"panels\":[\n", out);
    for (unsigned k = 0; k < p->panels; k++) {
        fputs(k ? ",\n" : "", out);
        put_panel_data(out, &p->panel[k], s);
    }
    fputs("]}\n</script>\n", out);
}

int cli_html_write(FILE *out, const cli_picture *picture, const cli_series *shown, const cli_series *all)
{
    const plot d = {out, picture, shown};
    cli_series embedded;
    if (cli_series_thin(all, rows_embedded(picture, all), &embedded) != 0) {
        errno = ENOMEM;
        return -1;
    }
    cli_series_split(&embedded);
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n%s", head);
    put_style(out);
    fputs("<title>", out);
    put_xml(out, picture->title);
    fputs("</title>\n</head>\n<body>\n", out);
    put_picture(&d);
    fputs("<p id=\"read\" hidden></p>\n<p id=\"hint\" hidden>Wheel or + and \xe2\x88\x92: zoom. Drag or arrows: pan. "
          "Double click or 0: "
          "all of it.</p>\n",
          out);
    put_data(out, picture, &embedded);
    fputs("<script>\n", out);
    for (size_t i = 0; i < sizeof script / sizeof *script; i++)
        fprintf(out, "%s\n", script[i]);
    fputs("</script>\n</body>\n</html>\n", out);
    cli_series_free(&embedded);
    return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}
