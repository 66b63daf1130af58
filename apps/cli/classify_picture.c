#define _POSIX_C_SOURCE 200809L
#include "classify_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "picture.h"

enum { LONG_NAME = 20, LONG_VALUE = 11, LONG_CLASS = 12 /* characters that fit */ };
enum { SIDE = 280, MARGIN = 40, TOP = 70, WIDE = 420, MOST_BARS = 30, MOST_NUMBERS = 60, LINE = 18, BAR = 12 };

/* Distinguishable by colour and, without colour, by dashes. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#000000", "#999999", "#7f3c8d", "#8c6d31"};
static const char *const dashes[] = {"none", "6,3", "2,2", "8,3,2,3", "12,4"};
enum { COLOURS = 10, DASHES = 5 };

static int ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && strcasecmp(path + length - wanted, ending) == 0;
}

int cli_picture_is_page(const char *path) { return ends_in(path, ".html"); }

int cli_picture_check(const char *path, char *error, size_t size)
{
    if (ends_in(path, ".svg") || cli_picture_is_page(path))
        return 0;
    snprintf(error, size, "'%s' does not end in .svg or .html", path);
    return -1;
}

/* Writes text as valid UTF-8, escaped for SVG and HTML. */
static void put_escaped(FILE *out, const char *text)
{
    char plain[CLI_CAPTION_MAX];
    cli_plain(text, CLI_CAPTION_MAX, plain);
    for (const char *c = plain; *c; c++) {
        if (strchr("<>&\"", *c))
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c, out);
    }
}

static void put_text(FILE *out, double x, double y, const char *more, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, more);
    put_escaped(out, text);
    fputs("</text>\n", out);
}

static void begin(FILE *out, int is_page, int width, int height, const char *title)
{
    if (is_page) {
        fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", out);
        put_escaped(out, title);
        fputs("</title>\n<style>body{font-family:sans-serif;margin:1em}table{border-collapse:collapse}"
              "td,th{padding:2px 12px;text-align:right;border-bottom:1px solid #ddd}</style></head><body>\n",
              out);
    }
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height);
    put_text(out, MARGIN, 28, "font-size=\"14\"", title);
}

/* A colour for 0 to 1: white over yellow and red to black. White means 0. */
static void put_heat(FILE *out, double x)
{
    static const int anchor[][3] = {{255, 255, 255}, {254, 217, 118}, {240, 59, 32}, {128, 0, 38}, {30, 0, 12}};
    const double at = 4 * fmin(fmax(x, 0), 1);
    const int k = at < 4 ? (int)at : 3;
    fputc('#', out);
    for (int i = 0; i < 3; i++)
        fprintf(out, "%02x", (int)(anchor[k][i] + (at - k) * (anchor[k + 1][i] - anchor[k][i])));
}

static void put_grey(FILE *out, double x)
{
    const int level = 255 - (int)(255 * x);
    fprintf(out, "#%02x%02x%02x", level, level, level);
}

/* An image of values from 0 to `max`. Hovering shows a value. */
static void put_cells(FILE *out, const rfc_table *t, double x, double y, double side, const double *value, double max,
                      int is_heat)
{
    uint32_t longest = t->height > t->width ? t->height : t->width;
    double cell = side / longest;
    for (uint32_t i = 0; i < t->features; i++) {
        const double part = max > 0 ? value[i] / max : 0;
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"", x + cell * (i % t->width),
                y + cell * (i / t->width), cell + .2, cell + .2);
        if (is_heat)
            put_heat(out, sqrt(part));
        else
            put_grey(out, part);
        if (part > 0)
            fprintf(out, "\"><title>row %u, column %u: %.4g</title></rect>\n", i / t->width, i % t->width, value[i]);
        else
            fputs("\"/>\n", out);
    }
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#666\"/>\n", x, y,
            cell * t->width, cell * t->height);
}

/* The scale of the colours. */
static void put_colour_bar(FILE *out, double x, double y, double width, double max)
{
    enum { STEPS = 70 };
    char text[32];
    for (int i = 0; i < STEPS; i++) {
        fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"", x + width * i / STEPS, y,
                width / STEPS + .2, BAR);
        put_heat(out, (i + .5) / STEPS);
        fputs("\"/>\n", out);
    }
    fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"none\" stroke=\"#666\"/>\n", x, y,
            width, BAR);
    for (int i = 0; i <= 4; i += 2) {
        snprintf(text, sizeof text, "%.3g", max * i * i / 16);
        put_text(out, x + width * i / 4, y + BAR + 13,
                 i == 0   ? "font-size=\"10\""
                 : i == 4 ? "font-size=\"10\" text-anchor=\"end\""
                          : "font-size=\"10\" text-anchor=\"middle\"",
                 text);
    }
}

/* A frame with a vertical axis from 0 to `max` percent. */
static void put_frame(FILE *out, double x, double y, double width, double height, double max, const char *below)
{
    char text[32];
    fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#666\"/>\n", x, y,
            width, height);
    for (int i = 0; i <= 4; i++) {
        double at = y + height * (4 - i) / 4;
        snprintf(text, sizeof text, "%.3g %%", max * i / 4);
        put_text(out, x - 6, at + 4, "text-anchor=\"end\" font-size=\"11\"", text);
        fprintf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", x, x + width, at, at);
    }
    put_text(out, x + width / 2, y + height + 34, "text-anchor=\"middle\"", below);
}

/* ---- The questions about one object ---- */

/* The object as an image, with the order of the queries in the pixels asked. */
static void put_object(FILE *out, const rfc_table *t, const uint8_t *object, const rfc_answer *a)
{
    double *value = malloc(t->features * sizeof *value),
           cell = (double)SIDE / (t->height > t->width ? t->height : t->width);
    char text[16];
    for (uint32_t i = 0; i < t->features && value; i++)
        value[i] = object[i];
    if (value)
        put_cells(out, t, MARGIN, TOP, SIDE, value, 255, 0);
    free(value);
    for (uint32_t k = 0; k < a->queries && k < MOST_NUMBERS; k++) {
        double x = MARGIN + cell * (a->asked[k] % t->width), y = TOP + cell * (a->asked[k] / t->width);
        fprintf(out,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#ffd92f\" fill-opacity=\".85\" "
                "stroke=\"#d55e00\"/>\n",
                x, y, cell, cell);
        snprintf(text, sizeof text, "%u", k + 1);
        fprintf(out, "<g font-size=\"%.1f\">", cell * .75);
        put_text(out, x + cell / 2, y + cell * .78, "text-anchor=\"middle\"", text);
        fputs("</g>\n", out);
    }
    put_text(out, MARGIN, TOP + SIDE + 20, "", "pixels asked, numbered in order");
}

/* Names and values of the features asked; a mark shows where each value lies among the training values. */
static void put_list(FILE *out, const rfc_table *t, const rfc_coding *coding, const uint8_t *object,
                     const rfc_answer *a)
{
    char text[CLI_CAPTION_MAX + 16], name[100], plain[CLI_CAPTION_MAX];
    put_text(out, MARGIN, TOP + 10, "", "features asked, in order");
    put_text(out, MARGIN + SIDE, TOP + 10, "text-anchor=\"end\" fill=\"#444\" font-size=\"10\"", "lowest to highest");
    for (uint32_t k = 0; k < a->queries; k++) {
        const uint32_t j = a->asked[k];
        const double y = TOP + 32 + LINE * k, left = MARGIN + SIDE - 80;
        cli_plain(rfc_coding_show(coding, j, object[j], text, sizeof text), LONG_VALUE, plain);
        put_text(out, left - 10, y, "text-anchor=\"end\"", plain);
        cli_plain(rfc_table_feature(t, j, name, sizeof name), strlen(plain) > 4 ? LONG_NAME - 6 : LONG_NAME - 2, plain);
        snprintf(text, sizeof text, "%u.  %s", k + 1, plain);
        put_text(out, MARGIN, y, "", text);
        if (!t->is_category || !t->is_category[j])
            fprintf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"80\" height=\"4\" fill=\"#ddd\"/>\n"
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#d55e00\"/>\n",
                    left, y - 6, left + 80 * object[j] / 255.0, y - 4);
    }
}

/* A table: question, answer, and the most probable class after it. */
static void put_story_table(FILE *out, const rfc_table *t, const rfc_coding *coding, const rfc_task *task,
                            const uint8_t *object, const rfc_answer *a)
{
    char text[160];
    const uint32_t classes = task->classes.count;
    fputs("<table><tr><th></th><th>feature</th><th>value</th><th>likeliest</th><th>probability</th></tr>\n", out);
    for (uint32_t k = 0; k < a->queries; k++) {
        const uint32_t j = a->asked[k];
        const float *belief = a->story + (size_t)k * classes;
        uint32_t best = 0;
        for (uint32_t c = 1; c < classes; c++)
            best = belief[c] > belief[best] ? c : best;
        fprintf(out, "<tr><td>%u</td><td>", k + 1);
        put_escaped(out, rfc_table_feature(t, j, text, sizeof text));
        fputs("</td><td>", out);
        put_escaped(out, rfc_coding_show(coding, j, object[j], text, sizeof text));
        fputs("</td><td>", out);
        put_escaped(out, task->classes.text[best]);
        fprintf(out, "</td><td>%.4f</td></tr>\n", (double)belief[best]);
    }
    fputs("</table>\n", out);
}

void cli_picture_story(FILE *out, int is_page, const char *title, const rfc_table *t, const rfc_coding *coding,
                       const rfc_task *task, const float before[], const uint8_t *object, uint32_t truth,
                       const rfc_answer *a)
{
    uint32_t classes = task->classes.count;
    double x = MARGIN + SIDE + 90, y = TOP, width = WIDE, height = SIDE,
           step = width / (a->queries > 0 ? a->queries : 1);
    const int list = t->width ? 0 : 40 + LINE * (int)a->queries;
    char text[CLI_CAPTION_MAX];
    begin(out, is_page, (int)(x + width) + 130, TOP + (list > SIDE + 60 ? list : SIDE + 60) + 10, title);
    snprintf(text, sizeof text, "decided: %s (truth: %s) after %u queries", task->classes.text[a->decided],
             truth < task->classes.count ? task->classes.text[truth] : "not known", a->queries);
    put_text(out, MARGIN, 50, "fill=\"#444\"", text);
    if (t->width)
        put_object(out, t, object, a);
    else
        put_list(out, t, coding, object, a);
    put_frame(out, x, y, width, height, 100, "queries answered: what is believed after each");
    for (uint32_t k = 0; k <= a->queries; k += a->queries / 10 + 1) {
        snprintf(text, sizeof text, "%u", k);
        put_text(out, x + step * k, y + height + 16, "text-anchor=\"middle\" font-size=\"11\"", text);
    }
    for (uint32_t c = 0; c < classes; c++) {
        const char *colour = colours[c % COLOURS];
        fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"",
                colour, dashes[c % DASHES]);
        for (uint32_t k = 0; k <= a->queries; k++)
            fprintf(out, "%.1f,%.1f ", x + step * k,
                    y + height * (1 - (double)(k ? a->story[(size_t)(k - 1) * classes + c] : before[c])));
        fputs("\"/>\n", out);
        if (c < 16) {
            double at = y + 10 + 18 * c;
            fprintf(out,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\" "
                    "stroke-dasharray=\"%s\"/>\n",
                    x + width + 12, x + width + 42, at, at, colour, dashes[c % DASHES]);
            cli_plain(task->classes.text[c], LONG_CLASS, text);
            put_text(out, x + width + 48, at + 4, "", text);
        }
    }
    fputs("</svg>\n", out);
    if (is_page) {
        put_story_table(out, t, coding, task, object, a);
        fputs("</body></html>\n", out);
    }
}

/* ---- Maps of features ---- */

static double largest(const double *value, uint32_t count)
{
    double max = 0;
    for (uint32_t i = 0; i < count; i++)
        max = fmax(max, value[i]);
    return max;
}

/* Bars of the features: all in their order or, if there are too many, those with the largest values in the first
   map. */
static void put_bars(FILE *out, const rfc_table *t, const cli_map *map, const uint32_t *shown, uint32_t count, double x,
                     int names)
{
    char name[CLI_CAPTION_MAX];
    double row = (double)SIDE / count, max = largest(map->value, t->features);
    for (uint32_t i = 0; i < count; i++) {
        const double y = TOP + row * i,
                     bar = max > 0 && !isnan(map->value[shown[i]]) ? (SIDE - 45) * map->value[shown[i]] / max : 0;
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#0072b2\"/>\n", x, y, bar,
                row * .8);
        snprintf(name, sizeof name, "%.3g", map->value[shown[i]]);
        put_text(out, x + bar + 4, y + row * .7,
                 row < 14 ? "font-size=\"8\" fill=\"#444\"" : "font-size=\"10\" fill=\"#444\"",
                 isnan(map->value[shown[i]]) ? "category" : name);
        if (names) {
            char how[100], number[16];
            cli_plain(rfc_table_feature(t, shown[i], number, sizeof number), LONG_NAME, name);
            const int is_long = strlen(name) > (row < 14 ? 18 : 13);
            snprintf(how, sizeof how, "text-anchor=\"end\"%s%s", row < 14 ? " font-size=\"9\"" : "",
                     is_long ? " textLength=\"95\" lengthAdjust=\"spacingAndGlyphs\"" : ""); /* fits the margin */
            put_text(out, x - 5, y + row * .75, how, name);
        }
    }
}

/* The smallest of 1, 2, 4, 8 times a power of ten that is not below x. */
static double nice_above(double x)
{
    double unit = x > 0 ? pow(10, floor(log10(x))) : 1;
    while (unit < x)
        unit *= 2;
    return unit;
}

static void put_cuts(FILE *out, double y, double width, const cli_cut *cuts, unsigned count)
{
    double max = 0, left = MARGIN + 30, height = 130;
    char text[32];
    for (unsigned i = 0; i < count; i++)
        max = fmax(max, 100 * cuts[i].error);
    max = nice_above(max);
    put_frame(out, left, y, width - left - MARGIN, height, max, "features kept: error with them");
    double step = (width - left - MARGIN - 60) / (count > 1 ? count - 1 : 1);
    fputs("<polyline fill=\"none\" stroke=\"#d55e00\" stroke-width=\"2\" points=\"", out);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%.1f,%.1f ", left + 30 + step * i, y + height * (1 - 100 * cuts[i].error / max));
    fputs("\"/>\n", out);
    for (unsigned i = 0; i < count; i++) {
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"#d55e00\"/>\n", left + 30 + step * i,
                y + height * (1 - 100 * cuts[i].error / max));
        snprintf(text, sizeof text, "%u", cuts[i].features);
        put_text(out, left + 30 + step * i, y + height + 16, "text-anchor=\"middle\" font-size=\"11\"", text);
    }
}

static void put_feature_table(FILE *out, const rfc_table *t, const cli_map *maps, unsigned count, const uint32_t *order)
{
    char text[64];
    fputs("<table><tr><th></th><th>feature</th>", out);
    for (unsigned m = 0; m < count; m++) {
        fputs("<th>", out);
        put_escaped(out, maps[m].title);
        fputs("</th>", out);
    }
    fputs("</tr>\n", out);
    for (uint32_t i = 0; i < t->features && maps[0].value[order[i]] > 0; i++) {
        fprintf(out, "<tr><td>%u</td><td>", i + 1);
        put_escaped(out, rfc_table_feature(t, order[i], text, sizeof text));
        fputs("</td>", out);
        for (unsigned m = 0; m < count; m++)
            fprintf(out, isnan(maps[m].value[order[i]]) ? "<td></td>" : "<td>%.6g</td>", maps[m].value[order[i]]);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

void cli_picture_maps(FILE *out, int is_page, const char *title, const rfc_table *t, const cli_map *maps,
                      unsigned count, const cli_cut *cuts, unsigned cut_count, const uint32_t *order)
{
    int left = MARGIN + (t->width ? 0 : 60), width = left + (int)count * (SIDE + MARGIN), bar = t->width ? BAR + 24 : 0,
        height = TOP + SIDE + bar + 40 + (cut_count ? 200 : 0);
    uint32_t shown[MOST_BARS], bars = t->features < MOST_BARS ? t->features : MOST_BARS;
    for (uint32_t j = 0, kept = 0; j < t->features; j++) { /* all, or the largest ones in descending order */
        uint32_t at = kept < bars ? kept++ : bars;
        while (t->features > bars && at > 0 && maps[0].value[j] > maps[0].value[shown[at - 1]]) {
            if (at < bars)
                shown[at] = shown[at - 1];
            at--;
        }
        if (at < bars)
            shown[at] = j;
    }
    begin(out, is_page, width, height, title);
    for (unsigned m = 0; m < count; m++) {
        double x = left + (double)m * (SIDE + MARGIN), max = largest(maps[m].value, t->features);
        put_text(out, x, TOP - 10, "", maps[m].title);
        if (t->width) {
            put_cells(out, t, x, TOP, SIDE, maps[m].value, max, 1);
            put_colour_bar(out, x, TOP + SIDE + 8, SIDE, max);
        } else
            put_bars(out, t, &maps[m], shown, bars, x, m == 0);
    }
    if (cut_count)
        put_cuts(out, TOP + SIDE + bar + 40, width, cuts, cut_count);
    fputs("</svg>\n", out);
    if (is_page) {
        put_feature_table(out, t, maps, count, order);
        fputs("</body></html>\n", out);
    }
}
