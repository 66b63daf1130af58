/* Figures, as scripts for gnuplot. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

enum { WIDTH = 460, HEIGHT = 390 }; /* pixels, for 12-pixel letters: still legible on a phone that shows 360 */

static lab_block *figure(lab *l) { return &l->blocks[l->block_count - 1]; }

static void add(const char **to, const char *text) { *to = lab_keep_text("%s%s", *to ? *to : "", text); }

void lab_gnuplot(lab *l, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    add(&figure(l)->script, lab_keep_text("%s\n", text));
}

/* A single-quoted string; only the quote itself is special. */
static const char *quoted(const char *text)
{
    char all[512];
    size_t n = 0;
    for (all[n++] = '\''; *text && n < sizeof all - 3; text++) {
        if (*text == '\'')
            all[n++] = '\'';
        all[n++] = *text;
    }
    all[n++] = '\'';
    all[n] = '\0';
    return lab_keep_text("%s", all);
}

void lab_axes(lab *l, const char *x, const char *y, const char *right, int logarithmic)
{
    lab_gnuplot(l, "set title %s noenhanced\nset xlabel %s.\"\\n\" noenhanced\nset ylabel %s noenhanced", quoted(figure(l)->title), quoted(x), quoted(y));
    lab_gnuplot(l, "set border %d lc rgb '#666666'; set tics nomirror out scale 0.5\n"
                   "set grid xtics ytics lt 1 lw 0.5 lc rgb '#dddddd'; set grid back\n"
                   "set key outside below center horizontal noenhanced; set style fill solid 0.3 noborder",
                right ? 11 : 3);
    if (right)
        lab_gnuplot(l, "set y2label %s noenhanced; set y2tics", quoted(right));
    static const struct {
        int flag;
        const char *axis;
    } axes[] = {{LAB_LOG_X, "x"}, {LAB_LOG_Y, "y"}, {LAB_LOG_RIGHT, "y2"}};
    for (int i = 0; i < 3; i++)
        if (logarithmic & axes[i].flag)
            lab_gnuplot(l, "set logscale %s; set format %s '10^{%%T}'", axes[i].axis, axes[i].axis);
}

static unsigned curves(const lab_block *b)
{
    unsigned count = 0;
    for (const char *c = b->curves; c && (c = strchr(c, '\n')); c++)
        count++;
    return count;
}

/* Distinguishable by colour and, without colour, by dashes and points. */
static const char *look(unsigned index, int style)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f3c8d"};
    static const char *const dashes[] = {"1", "(12,5)", "(4,4)", "(12,4,3,4)"};
    static const int points[] = {7, 5, 9, 11, 13, 6, 4, 8};
    return lab_keep_text("lw 2 dt %s pt %d ps 0.6 lc rgb '%s'", dashes[style & LAB_DASHED && !(style & 1) ? 2 : index / 8 % 4],
                         points[index % 8], colours[index % 8]);
}

void lab_curve(lab *l, const char *quantity, const char *of, const char *label, int style)
{
    const unsigned index = curves(figure(l));
    const char *kind = (style & 3) == LAB_POINTS ? "points" : (style & 3) == LAB_BOTH ? "linespoints" : "lines";
    const char *text = lab_keep_text("$curve%u << END\n", index), *axes = style & LAB_RIGHT ? "x1y2" : "x1y1";
    const lab_row *r = NULL;
    unsigned count = 0;
    while ((r = lab_next(l, r, quantity, of)))
        if (isfinite(r->x) && isfinite(r->value)) {
            text = lab_keep_text("%s%.12g %.12g %.12g\n", text, r->x, r->value, isfinite(r->error) ? r->error : 0);
            count++;
        }
    if (count == 0)
        return;
    add(&figure(l)->script, lab_keep_text("%sEND\n", text));
    const char *how = look(index, style);
    add(&figure(l)->curves, lab_keep_text("%s$curve%u using 1:2 axes %s with %s %s title %s%s\n", index ? ", " : "plot ", index, axes, kind,
                                          how, quoted(label),
                                          style & LAB_BARS ? lab_keep_text(", $curve%u using 1:2:3 axes %s with yerrorbars %s notitle", index, axes, how) : ""));
}

void lab_level(lab *l, double value, const char *label)
{
    const unsigned index = curves(figure(l));
    add(&figure(l)->curves, lab_keep_text("%s%.12g with lines lw 1 dt (3,3) lc rgb '#555555' title %s\n", index ? ", " : "plot ", value, quoted(label)));
}

void lab_map(lab *l, const char *quantity, const char *of, unsigned width, const char *label)
{
    const char *text = "$map << END\n";
    for (const lab_row *r = NULL; (r = lab_next(l, r, quantity, of));)
        text = lab_keep_text("%s%u %u %.6g\n", text, (unsigned)r->x % width, (unsigned)r->x / width, r->value);
    lab_gnuplot(l, "set title %s noenhanced; set cblabel %s noenhanced\nset size ratio -1; set yrange [] reverse; unset border; unset tics; set cbtics",
                quoted(figure(l)->title), quoted(label));
    lab_gnuplot(l, "set palette defined (0 '#ffffff', 0.15 '#9ecae1', 0.5 '#2171b5', 1 '#000000'); set cbrange [0:*]");
    add(&figure(l)->script, lab_keep_text("%sEND\n", text));
    add(&figure(l)->curves, "plot $map using 1:2:3 with image pixels notitle\n");
}

int lab_figure_draw(lab *l, const lab_block *b)
{
    char path[4096], error[512];
    if (!b->curves)
        return lab_fail(l, "figure %s has nothing to show", b->file);
    char *plot = strdup(b->curves);
    for (char *c = plot; plot && *c; c++) /* one command */
        *c = *c == '\n' ? ' ' : *c;
    lab_path(l, b->file, path, sizeof path);
    int status = cli_plot_script(path, WIDTH, HEIGHT, lab_keep_text("%s%s\n", b->script ? b->script : "", plot), error, sizeof error);
    free(plot);
    return status == 0 ? 0 : lab_fail(l, "%s", error);
}
