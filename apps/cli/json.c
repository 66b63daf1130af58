#define _POSIX_C_SOURCE 200809L /* putc_unlocked: one thread writes, and locks cost more than what they guard */
#include "json.h"

#include <math.h>

#include "cli.h"

static void text(FILE *out, const char *value)
{
    putc_unlocked('"', out);
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(out, "\\u%04x", *c);
        else
            putc_unlocked(*c, out);
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
