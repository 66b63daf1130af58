#define _POSIX_C_SOURCE 200809L
#include "classify_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SIDE = 280, MARGIN = 40, TOP = 70, WIDE = 420, MOST_BARS = 30, MOST_NUMBERS = 60, MOST_LISTED = 14 };

/* Readable in colour and, by their dashes, without it. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#000000", "#999999", "#7f3c8d", "#8c6d31"};
static const char *const dashes[] = {"none", "6,3", "2,2", "8,3,2,3", "12,4"};
enum { COLOURS = 10, DASHES = 5 };

int cli_picture_check(const char *path, char *error, size_t size)
{
    size_t length = strlen(path);
    if (length > 4 && strcasecmp(path + length - 4, ".svg") == 0)
        return 0;
    snprintf(error, size, "'%s' does not end in .svg", path);
    return -1;
}

static void put_text(FILE *out, double x, double y, const char *more, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, more);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '<' || *c == '>' || *c == '&')
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c < 0x20 ? ' ' : *c, out);
    }
    fputs("</text>\n", out);
}

static void begin(FILE *out, int width, int height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height);
    put_text(out, MARGIN, 28, "font-size=\"14\"", title);
}

static void put_cells(FILE *out, const rfc_table *t, double x, double y, double side, const double *value, double max)
{
    uint32_t longest = t->height > t->width ? t->height : t->width;
    double cell = side / longest;
    for (uint32_t i = 0; i < t->features; i++) {
        int level = 255 - (int)(255 * (max > 0 ? value[i] / max : 0));
        fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"#%02x%02x%02x\"/>\n",
                x + cell * (i % t->width), y + cell * (i / t->width), cell + .2, cell + .2, level, level, level);
    }
    fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"none\" stroke=\"#666\"/>\n", x, y,
            cell * t->width, cell * t->height);
}

/* A frame with a vertical axis of so many percent; returns nothing but ink. */
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

/* ---- The story of one object ---- */

/* The object as an image, with the order of the queries in the pixels asked. */
static void put_object(FILE *out, const rfc_table *t, const uint8_t *object, const rfc_answer *a)
{
    double *value = malloc(t->features * sizeof *value),
           cell = (double)SIDE / (t->height > t->width ? t->height : t->width);
    char text[16];
    for (uint32_t i = 0; i < t->features && value; i++)
        value[i] = object[i];
    if (value)
        put_cells(out, t, MARGIN, TOP, SIDE, value, 255);
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

/* Names and values of the features asked. */
static void put_list(FILE *out, const rfc_table *t, const uint8_t *object, const rfc_answer *a)
{
    char text[160], name[100];
    put_text(out, MARGIN, TOP + 10, "", "features asked, in order (value on the scale 0 to 255)");
    for (uint32_t k = 0; k < a->queries && k < MOST_LISTED; k++) {
        snprintf(text, sizeof text, "%u.  %s = %u", k + 1, rfc_table_feature(t, a->asked[k], name, sizeof name),
                 object[a->asked[k]]);
        put_text(out, MARGIN + 10, TOP + 32 + 18 * k, "", text);
    }
    if (a->queries > MOST_LISTED) {
        snprintf(text, sizeof text, "and %u more", a->queries - MOST_LISTED);
        put_text(out, MARGIN + 10, TOP + 32 + 18 * MOST_LISTED, "", text);
    }
}

void cli_picture_story(FILE *out, const char *title, const rfc_table *t, const rfc_task *task, const uint8_t *object,
                       uint32_t truth, const rfc_answer *a)
{
    uint32_t classes = task->classes.count;
    double x = MARGIN + SIDE + 90, y = TOP, width = WIDE, height = SIDE,
           step = width / (a->queries > 1 ? a->queries - 1 : 1);
    char text[200];
    begin(out, (int)(x + width) + 130, TOP + SIDE + 70, title);
    snprintf(text, sizeof text, "decided: %s (truth: %s) after %u queries", task->classes.text[a->decided],
             truth < task->classes.count ? task->classes.text[truth] : "not known", a->queries);
    put_text(out, MARGIN, 50, "fill=\"#444\"", text);
    (t->width ? put_object : put_list)(out, t, object, a);
    put_frame(out, x, y, width, height, 100, "queries answered: what is believed after each");
    for (uint32_t k = 0; k < a->queries; k += a->queries / 10 + 1) {
        snprintf(text, sizeof text, "%u", k + 1);
        put_text(out, x + step * k, y + height + 16, "text-anchor=\"middle\" font-size=\"11\"", text);
    }
    for (uint32_t c = 0; c < classes; c++) {
        const char *colour = colours[c % COLOURS];
        fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"",
                colour, dashes[c % DASHES]);
        for (uint32_t k = 0; k < a->queries; k++)
            fprintf(out, "%.1f,%.1f ", x + step * k, y + height * (1 - (double)a->story[(size_t)k * classes + c]));
        fputs("\"/>\n", out);
        if (c < 16) {
            double at = y + 10 + 18 * c;
            fprintf(out,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\" "
                    "stroke-dasharray=\"%s\"/>\n",
                    x + width + 12, x + width + 42, at, at, colour, dashes[c % DASHES]);
            put_text(out, x + width + 48, at + 4, "", task->classes.text[c]);
        }
    }
    fputs("</svg>\n", out);
}

/* ---- Maps of features ---- */

static double largest(const double *value, uint32_t count)
{
    double max = 0;
    for (uint32_t i = 0; i < count; i++)
        max = fmax(max, value[i]);
    return max;
}

/* Bars of the features, in their order or, where there are many, of those with most of the first map. */
static void put_bars(FILE *out, const rfc_table *t, const cli_map *map, const uint32_t *shown, uint32_t count, double x,
                     int names)
{
    char name[64];
    double row = (double)SIDE / count, max = largest(map->value, t->features);
    for (uint32_t i = 0; i < count; i++) {
        double y = TOP + row * i;
        fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#0072b2\"/>\n", x, y,
                max > 0 ? SIDE * map->value[shown[i]] / max : 0, row * .8);
        if (names)
            put_text(out, x - 5, y + row * .75,
                     row < 14 ? "text-anchor=\"end\" font-size=\"9\"" : "text-anchor=\"end\"",
                     rfc_table_feature(t, shown[i], name, sizeof name));
    }
}

/* The least of 1, 2, 4, 8 times a power of ten that is not below x. */
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

void cli_picture_maps(FILE *out, const char *title, const rfc_table *t, const cli_map *maps, unsigned count,
                      const cli_cut *cuts, unsigned cut_count)
{
    int left = MARGIN + (t->width ? 0 : 60), width = left + (int)count * (SIDE + MARGIN),
        height = TOP + SIDE + 40 + (cut_count ? 200 : 0);
    uint32_t shown[MOST_BARS], bars = t->features < MOST_BARS ? t->features : MOST_BARS;
    for (uint32_t j = 0, kept = 0; j < t->features; j++) { /* those with most, in order, unless all are shown */
        uint32_t at = kept < bars ? kept++ : bars;
        while (t->features > bars && at > 0 && maps[0].value[j] > maps[0].value[shown[at - 1]]) {
            if (at < bars)
                shown[at] = shown[at - 1];
            at--;
        }
        if (at < bars)
            shown[at] = j;
    }
    begin(out, width, height, title);
    for (unsigned m = 0; m < count; m++) {
        double x = left + (double)m * (SIDE + MARGIN);
        put_text(out, x, TOP - 10, "", maps[m].title);
        if (t->width)
            put_cells(out, t, x, TOP, SIDE, maps[m].value, largest(maps[m].value, t->features));
        else
            put_bars(out, t, &maps[m], shown, bars, x, m == 0);
    }
    if (cut_count)
        put_cuts(out, TOP + SIDE + 40, width, cuts, cut_count);
    fputs("</svg>\n", out);
}
