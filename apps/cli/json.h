/* Writes one JSON object per line. Numbers that are not finite become null. */
#ifndef REJFILT_CLI_JSON_H
#define REJFILT_CLI_JSON_H

#include "writer.h"

typedef struct cli_json {
    cli_writer to;
    int more;  /* write a comma before the next item */
    int items; /* objects written so far in the open list */
} cli_json;

void cli_json_open(cli_json *json, FILE *out);
void cli_json_close(cli_json *json);
void cli_json_text(cli_json *json, const char *name, const char *value);
void cli_json_real(cli_json *json, const char *name, double value);
/* The label may have any characters. */
void cli_json_real_of(cli_json *json, const char *label, double value);
void cli_json_whole(cli_json *json, const char *name, uint64_t value);
void cli_json_bool(cli_json *json, const char *name, int value);
/* A list of objects: call cli_json_item, then write the keys of that object. */
void cli_json_list(cli_json *json, const char *name);
void cli_json_item(cli_json *json);
void cli_json_list_end(cli_json *json);
/* An object: write its keys, then call cli_json_object_end. */
void cli_json_object(cli_json *json, const char *name);
void cli_json_object_end(cli_json *json);

#endif
