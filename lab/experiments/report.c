/* Makes verdicts, report.md and report.json from the rows. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* ---- Calls of experiments ---- */

static lab_finding *finding(lab *l, const char *name)
{
    for (unsigned i = 0; i < l->finding_count; i++)
        if (strcmp(l->findings[i].name, name) == 0)
            return &l->findings[i];
    cli_error("reproduce: %s.ini has no [claim %s]", l->name, name);
    exit(CLI_FAILED);
}

void lab_claim(lab *l, const char *name, double value, double error)
{
    lab_finding *f = finding(l, name);
    if (f->is_about_mnist && !lab_data(l))
        return;
    f->value = value;
    f->error = error;
}

void lab_claim_changed(lab *l, const char *name, double value, double error)
{
    lab_finding *f = finding(l, name);
    if (f->is_about_mnist && !lab_data(l))
        return;
    f->changed = value;
    f->changed_error = error;
}

static void add_block(lab *l, lab_block block)
{
    if (l->block_count == LAB_BLOCKS_MAX) {
        cli_error("reproduce: %s has more than %d tables and figures", l->name, LAB_BLOCKS_MAX);
        exit(CLI_FAILED);
    }
    l->blocks[l->block_count] = block;
    l->blocks[l->block_count++].is_timing = l->is_about_timing;
}

void lab_timing(lab *l) { l->is_about_timing = 1; }

static const char *formatted(const char *format, va_list arguments)
{
    char text[4096];
    vsnprintf(text, sizeof text, format, arguments);
    return lab_keep_text("%s", text);
}

void lab_paragraph(lab *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_block(l, (lab_block){.kind = LAB_TEXT_BLOCK, .text = formatted(format, arguments)});
    va_end(arguments);
}

void lab_table(lab *l, const char *title, const char *heads)
{
    add_block(l, (lab_block){.kind = LAB_TABLE_BLOCK, .title = lab_keep_text("%s", title), .text = lab_keep_text("%s", heads)});
}

void lab_line(lab *l, const char *format, ...)
{
    lab_block *table = &l->blocks[l->block_count - 1];
    const char **more = lab_keep((table->line_count + 1) * sizeof *more);
    va_list arguments;
    va_start(arguments, format);
    if (table->line_count)
        memcpy(more, table->lines, table->line_count * sizeof *more);
    more[table->line_count++] = formatted(format, arguments);
    table->lines = more;
    va_end(arguments);
}

void lab_figure(lab *l, const char *file, const char *title, const char *alt)
{
    add_block(l, (lab_block){.kind = LAB_FIGURE_BLOCK, .title = lab_keep_text("%s", title), .text = lab_keep_text("%s", alt),
                             .file = lab_keep_text("%s-%s.svg", l->name, file)});
}

/* ---- Numbers ---- */

const char *lab_number(double value, double error, char text[LAB_NUMBER_TEXT])
{
    if (!isfinite(value))
        snprintf(text, LAB_NUMBER_TEXT, "%s", isnan(value) ? "–" : value > 0 ? "∞" : "−∞");
    else if (!(error > 0) || !isfinite(error))
        snprintf(text, LAB_NUMBER_TEXT, "%.4g", value);
    else if (fmax(fabs(value), error) < 1e-3 || fabs(value) >= 1e6) {
        int digits = (int)fmax(0, fmin(9, floor(log10(fabs(value))) - floor(log10(error)) + 1));
        snprintf(text, LAB_NUMBER_TEXT, "%.*e ± %.1e", digits, value, error);
    } else {
        int digits = (int)fmax(0, 1 - floor(log10(error)));
        snprintf(text, LAB_NUMBER_TEXT, "%.*f ± %.*f", digits, value, digits, error);
    }
    return text;
}

/* ---- Verdicts ---- */

const char *const lab_verdict_names[] = {"holds", "holds with a change", "does not hold", "not measured"};

static int is_within(lab_bounds b, double value) { return value >= b.low && value <= b.high; }

lab_verdict lab_judge(const lab_finding *f)
{
    if (isnan(f->value))
        return LAB_UNMEASURED;
    if (is_within(f->holds, f->value))
        return LAB_HOLDS;
    return is_within(f->holds, f->changed) ? LAB_HOLDS_CHANGED : LAB_FAILS;
}

int lab_departs(const lab_finding *f)
{
    const double slack = f->error > 0 ? 3 * f->error : 0;
    return f->expect.text && !(f->value >= f->expect.low - slack && f->value <= f->expect.high + slack);
}

/* ---- The document ---- */

static const char claim_heads[] = "experiment | the paper says | its number | ours | verdict";

static const char *claim_line(const lab *l, const lab_finding *f)
{
    char own[LAB_NUMBER_TEXT], changed[LAB_NUMBER_TEXT];
    const lab_verdict verdict = lab_judge(f);
    const char *with = verdict == LAB_HOLDS || isnan(f->changed) ? ""
                                                                   : lab_keep_text("%s %s: %s", verdict == LAB_HOLDS_CHANGED ? "," : "; nor", f->change,
                                                                                   lab_number(f->changed, f->changed_error, changed));
    const char *departs = lab_departs(f) ? lab_keep_text("; departs from what is expected, %s", f->expect.text) : "";
    return lab_keep_text("[%s](#%s) | %s%s%s%s | %s | %s: %s | **%s**%s%s", l->name, l->name, f->paper, f->where ? " (" : "",
                         f->where ? f->where : "", f->where ? ")" : "", f->number ? f->number : "–", f->measure,
                         lab_number(f->value, f->error, own), lab_verdict_names[verdict], with, departs);
}

static unsigned put_claims(const lab_writer *w, const lab *labs, unsigned count, int is_timing)
{
    const char *lines[LAB_FINDINGS_MAX * 16];
    unsigned n = 0;
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < labs[k].finding_count && n < sizeof lines / sizeof *lines; i++)
            if (labs[k].findings[i].paper && labs[k].findings[i].is_timing == is_timing)
                lines[n++] = claim_line(&labs[k], &labs[k].findings[i]);
    if (n > 0)
        w->table(w->out, "Claims", claim_heads, lines, n);
    return n;
}

static void put_blocks(const lab_writer *w, const lab *l, int is_timing)
{
    for (unsigned i = 0; i < l->block_count; i++) {
        const lab_block *b = &l->blocks[i];
        if (b->is_timing != is_timing)
            continue;
        if (b->kind == LAB_TEXT_BLOCK)
            w->paragraph(w->out, b->text);
        else if (b->kind == LAB_TABLE_BLOCK)
            w->table(w->out, b->title, b->text, b->lines, b->line_count);
        else
            w->figure(w->out, l, b);
    }
}

/* Our numbers and their known ranges. */
static void put_known(const lab_writer *w, const lab *l, int is_timing)
{
    const char *lines[LAB_FINDINGS_MAX];
    unsigned n = 0;
    char own[LAB_NUMBER_TEXT];
    for (unsigned i = 0; i < l->finding_count; i++) {
        const lab_finding *f = &l->findings[i];
        if (f->expect.text && f->is_timing == is_timing)
            lines[n++] = lab_keep_text("%s | %s | %s | %s", f->measure, lab_number(f->value, f->error, own), f->expect.text,
                                       lab_departs(f) ? "**no**" : "yes");
    }
    if (n > 0)
        w->table(w->out, "Our numbers, and where they are expected, from earlier computations of ours", "number | this run | expected | there, within 3 standard errors", lines, n);
}

static void put_settings(const lab_writer *w, const lab *l)
{
    const char *text = "Settings:";
    for (unsigned i = 0; i < l->setting_count; i++)
        text = lab_keep_text("%s%s %s = %s", text, i ? ";" : "", l->settings[i].key, l->settings[i].value);
    w->paragraph(w->out, lab_keep_text("%s. Data: [%s.csv](%s.csv).", text, l->name, l->name));
}

/* The same document in every format. Parts that depend on time, and so change from run to run, come last. */
static void put_document(const lab_writer *w, const lab *labs, unsigned count)
{
    unsigned timing = 0;
    w->heading(w->out, 1, "top", "The paper on rejection filtering, reproduced");
    w->paragraph(w->out, lab_keep_text("rejfilt %s, `rejfilt reproduce --%s --seed %llu`. Every number here is computed from the CSV "
                                       "files beside this report. ± is one standard error. *Verdict*: by our number and the bounds in the "
                                       "experiment's settings file.",
                                       RF_VERSION, labs->options->is_full ? "full" : "quick", (unsigned long long)labs->options->seed));
    put_claims(w, labs, count, 0);
    for (unsigned k = 0; k < count; k++) {
        const lab *l = &labs[k];
        timing |= (unsigned)l->what->has_timing;
        w->heading(w->out, 2, l->name, lab_keep_text("%s: %s", l->name, l->title));
        w->paragraph(w->out, l->about);
        if (l->note)
            w->paragraph(w->out, l->note);
        put_blocks(w, l, 0);
        put_known(w, l, 0);
        put_settings(w, l);
    }
    if (!timing)
        return;
    w->heading(w->out, 2, "timing", "Timing on this machine");
    w->paragraph(w->out, "What follows is about time and differs from machine to machine and from run to run; all above does not.");
    put_claims(w, labs, count, 1);
    for (unsigned k = 0; k < count; k++) {
        put_blocks(w, &labs[k], 1);
        put_known(w, &labs[k], 1);
    }
}

/* ---- report.md ---- */

static void md_heading(FILE *out, int level, const char *id, const char *text)
{
    if (level > 1)
        fprintf(out, "<a id=\"%s\"></a>\n\n", id);
    fprintf(out, "%.*s %s\n\n", level, "###", text);
}

static void md_paragraph(FILE *out, const char *text) { fprintf(out, "%s\n\n", text); }

static void md_table(FILE *out, const char *title, const char *heads, const char *const lines[], unsigned count)
{
    fprintf(out, "*%s*\n\n| %s |\n|", title, heads);
    for (const char *c = heads; c; c = strchr(c, '|') ? strchr(c, '|') + 1 : NULL)
        fputs("---|", out);
    fputc('\n', out);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "| %s |\n", lines[i]);
    fputc('\n', out);
}

static void md_figure(FILE *out, const lab *l, const lab_block *b)
{
    (void)l;
    fprintf(out, "![%s](%s)\n\n*%s*\n\n", b->text, b->file, b->title);
}

static int write_markdown(lab *labs, unsigned count)
{
    const lab_writer w = {lab_create(labs, "report.md"), md_heading, md_paragraph, md_table, md_figure};
    if (!w.out)
        return -1;
    put_document(&w, labs, count);
    return lab_finish(labs);
}

static int write_html(lab *labs, unsigned count)
{
    const lab_writer w = lab_html_open(lab_create(labs, "report.html"));
    if (!w.out)
        return -1;
    put_document(&w, labs, count);
    lab_html_close(w.out);
    return lab_finish(labs);
}

/* ---- report.json ---- */

static void put_finding(cli_json *json, const lab *l, const lab_finding *f)
{
    cli_json_item(json);
    cli_json_text(json, "experiment", l->name);
    cli_json_text(json, "claim", f->name);
    cli_json_text(json, "paper", f->paper ? f->paper : "");
    cli_json_text(json, "number", f->number ? f->number : "");
    cli_json_text(json, "measure", f->measure);
    cli_json_real(json, "value", f->value);
    cli_json_real(json, "error", f->error);
    cli_json_real(json, "value_with_change", f->changed);
    cli_json_text(json, "holds", f->holds.text ? f->holds.text : "");
    cli_json_text(json, "expect", f->expect.text ? f->expect.text : "");
    cli_json_text(json, "verdict", f->paper ? lab_verdict_names[lab_judge(f)] : "");
    cli_json_bool(json, "as_expected", !lab_departs(f));
    cli_json_bool(json, "timing", f->is_timing);
}

static int write_json(lab *labs, unsigned count)
{
    FILE *out = lab_create(labs, "report.json");
    if (!out)
        return -1;
    cli_json json;
    cli_json_open(&json, out);
    cli_json_text(&json, "version", RF_VERSION);
    cli_json_text(&json, "mode", labs->options->is_full ? "full" : "quick");
    cli_json_whole(&json, "seed", labs->options->seed);
    cli_json_list(&json, "claims");
    for (int timing = 0; timing < 2; timing++)
        for (unsigned k = 0; k < count; k++)
            for (unsigned i = 0; i < labs[k].finding_count; i++)
                if (labs[k].findings[i].is_timing == timing)
                    put_finding(&json, &labs[k], &labs[k].findings[i]);
    cli_json_list_end(&json);
    for (unsigned k = 0; k < count; k++) {
        cli_json_object(&json, labs[k].name);
        for (unsigned i = 0; i < labs[k].setting_count; i++)
            cli_json_text(&json, labs[k].settings[i].key, labs[k].settings[i].value);
        cli_json_object_end(&json);
    }
    cli_json_close(&json);
    return lab_finish(labs);
}

int lab_report_write(lab *labs, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        labs[k].what->report(&labs[k]);
        for (unsigned i = 0; i < labs[k].block_count; i++)
            if (labs[k].blocks[i].kind == LAB_FIGURE_BLOCK && lab_figure_draw(&labs[k], &labs[k].blocks[i]) < 0)
                return labs == &labs[k] ? -1 : lab_fail(labs, "%s", labs[k].error);
    }
    return write_markdown(labs, count) < 0 || write_json(labs, count) < 0 || write_html(labs, count) < 0 ? -1 : 0;
}
