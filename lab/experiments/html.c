/* The report as one self-contained HTML file, with the figures inside. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <string.h>

/* The policy has the SHA-256 of the style below; when that changes, tests/test_reproduce.py prints the new hash. */
static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-TbsFHa3Zidbowx+wJifX/cTgEQ16uxNf7+EqKI3G/7I='; img-src data:; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<title>Rejection filtering, reproduced</title>\n<style>\n"
    ":root { color-scheme: light dark; --line: #ccc; --soft: #f4f4f4; --good: #1a7f37; --part: #8a5a00; --bad: #b42318 }\n"
    "@media (prefers-color-scheme: dark) { :root { --line: #555; --soft: #2a2a2a; --good: #5bd07f; --part: #f0b64f; --bad: #ff8a7a } }\n"
    "body { margin: 1em auto; padding: 0 1em; max-width: 60em; font: 16px/1.45 sans-serif }\n"
    "h2 { margin-top: 2em; border-bottom: 1px solid var(--line) }\n"
    "figure { margin: 1em 0; break-inside: avoid } figure img { width: 100%; max-width: 40em; height: auto; background: #fff }\n"
    "figcaption { font-size: .9em }\n"
    ".table { overflow-x: auto; break-inside: avoid }\n"
    "table { border-collapse: collapse; font-size: .9em; margin: .5em 0 1em } caption { text-align: left; font-style: italic; padding: .3em 0 }\n"
    "th, td { border: 1px solid var(--line); padding: .25em .5em; text-align: left; vertical-align: top; font-variant-numeric: tabular-nums }\n"
    "th { background: var(--soft) } code { background: var(--soft); overflow-wrap: anywhere } p { overflow-wrap: anywhere }\n"
    ".holds { color: var(--good) } .part { color: var(--part) } .fails { color: var(--bad) }\n"
    "@media (max-width: 40em) { .claims thead { display: none } .claims tr { display: block; border: 1px solid var(--line); margin: 0 0 1em }\n"
    "  .claims td { display: block; border: 0 } .claims td::before { content: attr(data-head) ': '; font-weight: bold } }\n"
    "@media print { body { max-width: none; font-size: 11px } h2 { break-after: avoid } tr { break-inside: avoid } .table { break-inside: auto } }\n"
    "</style>\n</head>\n<body>\n";

static void put_plain(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(text[i], out);
        }
}

/* The text from the first `mark` on, or null. */
static const char *closing(const char *text, size_t length, const char *mark)
{
    for (const char *c = text; c + strlen(mark) <= text + length; c++)
        if (strncmp(c, mark, strlen(mark)) == 0)
            return c;
    return NULL;
}

static const char *verdict_class(const char *text)
{
    return strncmp(text, "holds with", 10) == 0 || strncmp(text, "not measured", 12) == 0 ? "part" : strncmp(text, "holds", 5) == 0 ? "holds" : "fails";
}

/* `code`, *emphasis*, **verdict** and [text](address). */
static void put_inline(FILE *out, const char *text, size_t length)
{
    const char *end = text + length, *close, *middle;
    for (const char *c = text; c < end; c++) {
        const size_t left = (size_t)(end - c);
        if (*c == '`' && (close = closing(c + 1, left - 1, "`"))) {
            fputs("<code>", out);
            put_plain(out, c + 1, (size_t)(close - c - 1));
            fputs("</code>", out);
            c = close;
        } else if (left > 4 && strncmp(c, "**", 2) == 0 && (close = closing(c + 2, left - 2, "**"))) {
            fprintf(out, "<strong class=\"%s\">", verdict_class(c + 2));
            put_plain(out, c + 2, (size_t)(close - c - 2));
            fputs("</strong>", out);
            c = close + 1;
        } else if (*c == '*' && (close = closing(c + 1, left - 1, "*"))) {
            fputs("<em>", out);
            put_plain(out, c + 1, (size_t)(close - c - 1));
            fputs("</em>", out);
            c = close;
        } else if (*c == '[' && (middle = closing(c, left, "](")) && (close = closing(middle, (size_t)(end - middle), ")"))) {
            fputs("<a href=\"", out);
            put_plain(out, middle + 2, (size_t)(close - middle - 2));
            fputs("\">", out);
            put_plain(out, c + 1, (size_t)(middle - c - 1));
            fputs("</a>", out);
            c = close;
        } else
            put_plain(out, c, 1);
    }
}

static void heading(FILE *out, int level, const char *id, const char *text)
{
    fprintf(out, "<h%d id=\"%s\">", level, id);
    put_inline(out, text, strlen(text));
    fprintf(out, "</h%d>\n", level);
}

static void paragraph(FILE *out, const char *text)
{
    fputs("<p>", out);
    put_inline(out, text, strlen(text));
    fputs("</p>\n", out);
}

/* The part of "a | b" at *line, without surrounding blanks; advances *line to the next part, or null. */
static const char *part(const char **line, size_t *length)
{
    const char *begin = *line + strspn(*line, " "), *bar = strchr(begin, '|');
    *length = bar ? (size_t)(bar - begin) : strlen(begin);
    while (*length > 0 && begin[*length - 1] == ' ')
        (*length)--;
    *line = bar ? bar + 1 : NULL;
    return begin;
}

static void put_row(FILE *out, const char *job, const char *line, const char *heads)
{
    size_t length, head_length;
    fputs("<tr>", out);
    while (line) {
        const char *text = part(&line, &length), *name = heads ? part(&heads, &head_length) : NULL;
        fprintf(out, "<%s", job);
        if (name) {
            fputs(" data-head=\"", out);
            put_plain(out, name, head_length);
            fputc('"', out);
        }
        fputc('>', out);
        put_inline(out, text, length);
        fprintf(out, "</%s>", job);
    }
    fputs("</tr>\n", out);
}

static void table(FILE *out, const char *title, const char *heads, const char *const lines[], unsigned count)
{
    const int is_claims = strcmp(title, "Claims") == 0;
    fprintf(out, "<div class=\"table%s\"><table><caption>", is_claims ? " claims" : "");
    put_inline(out, title, strlen(title));
    fputs("</caption><thead>", out);
    put_row(out, "th scope=\"col\"", heads, NULL);
    fputs("</thead><tbody>\n", out);
    for (unsigned i = 0; i < count; i++)
        put_row(out, "td", lines[i], is_claims ? heads : NULL);
    fputs("</tbody></table></div>\n", out);
}

/* Writes a file's contents in base 64. */
static void put_file(FILE *out, const char *path)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char three[3];
    FILE *in = fopen(path, "rb");
    for (size_t n; in && (n = fread(three, 1, 3, in)) > 0;) {
        const unsigned long bits = (unsigned long)three[0] << 16 | (n > 1 ? (unsigned long)three[1] << 8 : 0) | (n > 2 ? three[2] : 0);
        for (size_t i = 0; i < 4; i++)
            fputc(i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=', out);
    }
    if (in)
        fclose(in);
}

static void figure(FILE *out, const lab *l, const lab_block *b)
{
    char path[4096];
    lab_path(l, b->file, path, sizeof path);
    fputs("<figure><img alt=\"", out);
    put_plain(out, b->text, strlen(b->text));
    fputs("\" src=\"data:image/svg+xml;base64,", out);
    put_file(out, path);
    fputs("\"><figcaption>", out);
    put_inline(out, b->title, strlen(b->title));
    fputs("</figcaption></figure>\n", out);
}

lab_writer lab_html_open(FILE *out)
{
    if (out)
        fputs(head, out);
    return (lab_writer){out, heading, paragraph, table, figure};
}

void lab_html_close(FILE *out) { fputs("</body>\n</html>\n", out); }
