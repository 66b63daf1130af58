#include "json.h"

#include <math.h>
#include <string.h>

/* Bytes of the UTF-8 character at `c`; 0 if invalid: truncated, overlong, a surrogate, or beyond U+10FFFF. */
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

static void put(cli_json *json, const char *bytes, size_t size) { cli_writer_put(&json->to, bytes, size); }

static void put_text(cli_json *json, const char *word) { put(json, word, strlen(word)); }

/* JSON is UTF-8: each byte of an invalid character becomes U+FFFD. */
static void text(cli_json *json, const char *value)
{
    put(json, "\"", 1);
    for (const unsigned char *c = (const unsigned char *)value; *c;) {
        const unsigned char *from = c;
        char escaped[8];
        while ((unsigned)*c - 0x20u < 0x5fu && *c != '"' && *c != '\\' && c - from < 32)
            c++;
        if (c > from) {
            put(json, (const char *)from, (size_t)(c - from));
            continue;
        }
        const unsigned bytes = character(c);
        if (bytes == 0)
            put_text(json, "\\ufffd");
        else if (*c == '"' || *c == '\\')
            put(json, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\%c", *c));
        else if (*c < 0x20)
            put(json, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", *c));
        else
            put(json, (const char *)c, bytes);
        c += bytes ? bytes : 1;
    }
    put(json, "\"", 1);
}

/* A fixed key: plain characters, at most 32. */
static void key(cli_json *json, const char *name)
{
    put(json, json->more ? ", \"" : "\"", json->more ? 3 : 1);
    json->more = 1;
    put_text(json, name);
    put(json, "\": ", 3);
}

void cli_json_open(cli_json *json, FILE *out)
{
    cli_writer_open(&json->to, out);
    json->more = json->items = 0;
    put(json, "{", 1);
}

void cli_json_close(cli_json *json)
{
    put(json, "}\n", 2);
    cli_writer_flush(&json->to);
}

void cli_json_text(cli_json *json, const char *name, const char *value)
{
    key(json, name);
    text(json, value);
}

static void put_real(cli_json *json, double value)
{
    if (isfinite(value))
        cli_writer_real(&json->to, value);
    else
        put_text(json, "null");
}

void cli_json_real(cli_json *json, const char *name, double value)
{
    key(json, name);
    put_real(json, value);
}

void cli_json_real_of(cli_json *json, const char *label, double value)
{
    if (json->more)
        put(json, ", ", 2);
    json->more = 1;
    text(json, label);
    put(json, ": ", 2);
    put_real(json, value);
}

void cli_json_whole(cli_json *json, const char *name, uint64_t value)
{
    key(json, name);
    cli_writer_whole(&json->to, value);
}

void cli_json_bool(cli_json *json, const char *name, int value)
{
    key(json, name);
    put_text(json, value ? "true" : "false");
}

void cli_json_list(cli_json *json, const char *name)
{
    key(json, name);
    put(json, "[", 1);
    json->items = 0;
}

void cli_json_item(cli_json *json)
{
    put_text(json, json->items++ ? "}, {" : "{");
    json->more = 0;
}

void cli_json_list_end(cli_json *json)
{
    put_text(json, json->items ? "}]" : "]");
    json->more = 1;
}

void cli_json_object(cli_json *json, const char *name)
{
    key(json, name);
    put(json, "{", 1);
    json->more = 0;
}

void cli_json_object_end(cli_json *json)
{
    put(json, "}", 1);
    json->more = 1;
}
