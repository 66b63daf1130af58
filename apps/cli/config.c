/* Configuration files: an INI file gives options their values. */
#define _POSIX_C_SOURCE 200809L
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "file.h"
#include "rejfilt/session.h"

/* Values live until the program ends, because options keep pointers to them. */
typedef struct kept {
    struct kept *next;
    char text[];
} kept;

static kept *all_kept;

static char *keep(size_t size)
{
    kept *k = malloc(sizeof *k + size);
    if (!k)
        return NULL;
    k->next = all_kept;
    all_kept = k;
    return k->text;
}

typedef struct reading {
    const cli_usage *usage;
    void *config;
    FILE *file;
    int line, error_line; /* lines read so far, and the line of `error` */
    char error[256];
} reading;

/* Reads the next line without leading blanks; inih would take a line with them as a continuation. */
static char *next_line(char *line, int size, void *user)
{
    reading *r = user;
    r->line++;
    if (!fgets(line, size, r->file))
        return NULL;
    const size_t length = strlen(line), blanks = strspn(line, " \t");
    if (length + 1 == (size_t)size && line[length - 1] != '\n') {
        for (int c = 0; c != '\n' && c != EOF;)
            c = getc(r->file);
        if (!strchr("#;", line[blanks]) && !r->error[0]) {
            snprintf(r->error, sizeof r->error, "is longer than %d characters", size - 2);
            r->error_line = r->line;
        }
    }
    memmove(line, line + blanks, length - blanks + 1);
    return line;
}

/* The prefix of the value: "x=" for section "parameter x", "t=" for "setting t", else none. Null for an unknown
   section. */
static const char *prefix_of(const char *section)
{
    static const char *const kinds[] = {"parameter ", "setting "};
    for (int i = 0; i < 2; i++)
        if (strncmp(section, kinds[i], strlen(kinds[i])) == 0)
            return section + strlen(kinds[i]);
    return strcmp(section, "run") == 0 || !*section ? "" : NULL;
}

/* Handler for inih. Returns 1 to continue. */
static int take(void *user, const char *section, const char *key, const char *value)
{
    reading *r = user;
    const char *prefix = prefix_of(section);
    if (r->error[0])
        return 0;
    r->error_line = r->line;
    const cli_option *option = cli_option_find(r->usage->options, key, strlen(key));
    if (!prefix) {
        snprintf(r->error, sizeof r->error,
                 "there is no section [%.60s]; there are [run], [parameter NAME] and [setting NAME]", section);
        return 0;
    }
    if (!option || strcmp(key, "config") == 0) {
        snprintf(r->error, sizeof r->error, "there is no key '%.60s' (see 'rejfilt %s --help')", key,
                 r->usage->command);
        return 0;
    }
    const rf_option *of = option->kind == CLI_CONFIG ? rf_option_find(key) : NULL;
    if (*prefix && option->kind != CLI_LIST && !(of && of->is_list)) {
        snprintf(r->error, sizeof r->error, "'%.60s' belongs in section [run]", key);
        return 0;
    }
    size_t size = strlen(prefix) + strlen(value) + 2;
    char *text = keep(size);
    if (!text) {
        snprintf(r->error, sizeof r->error, "not enough memory");
        return 0;
    }
    snprintf(text, size, "%s%s%s", prefix, *prefix ? "=" : "", value);
    char why[200];
    if (cli_option_set(r->usage, option, r->config, text, why, sizeof why) == 0)
        return 1;
    snprintf(r->error, sizeof r->error, "%.60s: %.180s", key, why);
    return 0;
}

/* Reads an open file and closes it. */
static int read_open(const cli_usage *usage, void *config, FILE *file, const char *path)
{
    reading r = {usage, config, file, 0, 0, ""};
    int line = ini_parse_stream(next_line, &r, take, &r);
    fclose(r.file);
    if (line == 0 && !r.error[0])
        return 0;
    line = line ? line : r.error_line;
    cli_error("%s: %s: line %d: %s", usage->command, path, line,
              r.error[0] && r.error_line == line ? r.error : "this is not 'key = value', and no [section]");
    return -1;
}

int cli_config_read(const cli_usage *usage, void *config, const char *path)
{
    char error[600];
    FILE *file = rf_file_read(path, error, sizeof error);
    if (file)
        return read_open(usage, config, file, path);
    cli_error("%s: --config: %s", usage->command, error);
    return -1;
}

int cli_config_text(const cli_usage *usage, void *config, const char *text, const char *name)
{
    FILE *file = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    if (file)
        return read_open(usage, config, file, name);
    cli_error("%s: %s: not enough memory", usage->command, name);
    return -1;
}
