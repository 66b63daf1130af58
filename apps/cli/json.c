#define _POSIX_C_SOURCE 200809L /* putc_unlocked: one thread writes, and locks cost more than what they guard */
#include "json.h"

#include <math.h>

#include "cli.h"

/* How many bytes the character at `c` has in UTF-8; 0 when it is none: cut short, too long for its number, a half of a
   pair of UTF-16, or beyond U+10FFFF. */
static unsigned character(const unsigned char *c)
{
    static const struct {
        unsigned char first, last, low, high;
        unsigned bytes;
    } forms[] = {{0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (c[0] < forms[i].first || c[0] > forms[i].last)
            continue;
        for (unsigned k = 1; k < forms[i].bytes; k++)
            if (c[k] < (k == 1 ? forms[i].low : 0x80) || c[k] > (k == 1 ? forms[i].high : 0xbf))
                return 0;
        return forms[i].bytes;
    }
    return 0;
}

/* JSON is UTF-8: what is not becomes U+FFFD, byte by byte. */
static void text(FILE *out, const char *value)
{
    putc_unlocked('"', out);
    for (const unsigned char *c = (const unsigned char *)value; *c;) {
        unsigned bytes = character(c);
        if (bytes == 0)
            fputs("\\ufffd", out);
        else if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            for (unsigned k = 0; k < bytes; k++)
                putc_unlocked(c[k], out);
        c += bytes ? bytes : 1;
    }
    putc_unlocked('"', out);
}

static void key(cli_json *json, const char *name)
{
    if (json->more)
        fputs(", ", json->out);
    json->more = 1;
    text(json->out, name);
    fputs(": ", json->out);
}

cli_json cli_json_open(FILE *out)
{
    cli_json json = {out, 0, 0};
    putc_unlocked('{', out);
    return json;
}

void cli_json_close(cli_json *json) { fputs("}\n", json->out); }

void cli_json_text(cli_json *json, const char *name, const char *value)
{
    key(json, name);
    text(json->out, value);
}

void cli_json_real(cli_json *json, const char *name, double value)
{
    char digits[CLI_REAL_TEXT];
    key(json, name);
    if (isfinite(value))
        fputs(cli_real_text(value, digits), json->out);
    else
        fputs("null", json->out);
}

void cli_json_whole(cli_json *json, const char *name, uint64_t value)
{
    key(json, name);
    fprintf(json->out, "%llu", (unsigned long long)value);
}

void cli_json_bool(cli_json *json, const char *name, int value)
{
    key(json, name);
    fputs(value ? "true" : "false", json->out);
}

void cli_json_list(cli_json *json, const char *name)
{
    key(json, name);
    putc_unlocked('[', json->out);
    json->items = 0;
}

void cli_json_item(cli_json *json)
{
    fputs(json->items++ ? "}, {" : "{", json->out);
    json->more = 0;
}

void cli_json_list_end(cli_json *json)
{
    fputs(json->items ? "}]" : "]", json->out);
    json->more = 1;
}

void cli_json_object(cli_json *json, const char *name)
{
    key(json, name);
    putc_unlocked('{', json->out);
    json->more = 0;
}

void cli_json_object_end(cli_json *json)
{
    putc_unlocked('}', json->out);
    json->more = 1;
}
