/* Option tables: parsing and help from the same description. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"
#include "rejfilt/session.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outputs.h"

static int is_silent;
static const char *spoken_for; /* a command name, e.g. "track", to be replaced by `speaker` at the start of messages */
static const char *speaker;

void cli_speak_for(const char *command, const char *as)
{
    spoken_for = command;
    speaker = as;
}

int cli_be_silent(void)
{
    is_silent = 1;
    return freopen("/dev/null", "w", stdout) ? 0 : -1;
}

int cli_error(const char *format, ...)
{
    char line[1024];
    if (is_silent)
        return CLI_BAD_INPUT;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    for (char *c = line; *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c; /* keeps the message on one line */
    const size_t length = spoken_for ? strlen(spoken_for) : 0;
    const int is_spoken_for = length && strncmp(line, spoken_for, length) == 0 && line[length] == ':';
    fprintf(stderr, "rejfilt: %s%s\n", is_spoken_for ? speaker : "", line + (is_spoken_for ? length : 0));
    return CLI_BAD_INPUT;
}

int cli_flush(void)
{
    static int has_said;
    const int failed = fflush(stdout) != 0, reason = errno;
    if (!failed && !ferror(stdout))
        return CLI_OK;
    if (!has_said++)
        cli_error("could not write all output%s%s", failed ? ": " : "", failed ? strerror(reason) : "");
    return CLI_FAILED;
}

/* The words that start the command. */
static const char *call_of(const cli_usage *usage, char text[64])
{
    snprintf(text, 64, usage->program ? "%s" : "rejfilt %s", usage->program ? usage->program : usage->command);
    return text;
}

const char cli_engine_help[] = "what runs the attempts (default simd):\nany of"
#define RF_ENGINE(name, argument, is_module) " " #name ","
#include "../../src/engines/list.def"
#undef RF_ENGINE
    "\nor with an argument, as in threads:4; the result does not\ndepend on it";

static void print_help(const cli_usage *usage)
{
    char call[64];
    printf("usage: %s %s\n\n%s\n\noptions:\n", call_of(usage, call), usage->synopsis, usage->about);
    for (const cli_option *o = usage->options; o->name; o++) {
        char left[64];
        if (!o->name[0])
            continue;
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
        const char *text = o->help, *line;
        printf("  %-24s", left);
        while ((line = strchr(text, '\n'))) {
            printf(" %.*s\n%26s", (int)(line - text), text, "");
            text = line + 1;
        }
        printf(" %s\n", text);
    }
    printf("  %-24s %s\n", "--help", "print this and exit");
    if (usage->examples)
        printf("\nexamples:\n%s\n", usage->examples);
}

const cli_option *cli_option_find(const cli_option *options, const char *name, size_t length)
{
    for (const cli_option *o = options; o->name; o++)
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

static int is_among(const char *value, const char *const names[])
{
    while (*names && strcmp(value, *names) != 0)
        names++;
    return *names != NULL;
}

static int set_name(const cli_option *o, int *field, const char *value, char *error, size_t size)
{
    const int which = rf_which(value, o->names, error, size);
    if (which >= 0)
        *field = which;
    return which < 0 ? -1 : 0;
}

static int set_flag(int *field, const char *value, char *error, size_t size)
{
    static const char *const words[] = {"no", "yes", "false", "true", "0", "1"};
    *field = 1;
    for (int i = 0; value && i < 6; i++)
        if (strcmp(value, words[i]) == 0) {
            *field = i % 2;
            return 0;
        }
    if (value)
        snprintf(error, size, "'%s' is neither yes nor no", value);
    return value ? -1 : 0;
}

int cli_list_add(const char *list[], unsigned max, const char *value, char *error, size_t size)
{
    for (unsigned i = 0; i < max; i++)
        if (!list[i]) {
            list[i] = value;
            return 0;
        }
    snprintf(error, size, "given more than %u times", max);
    return -1;
}

/* Remembers the option until the model is known. Its value is checked now, if that needs no model. */
static int set_wish(const char *name, cli_wishes *wishes, const char *value, char *error, size_t size)
{
    rf_config any = rf_config_default(rf_model_at(0));
    value = value ? value : "yes";
    if (!rf_option_find(name)->is_list && rf_config_set(&any, name, value, error, size) < 0)
        return -1;
    if (wishes->count == sizeof wishes->wish / sizeof *wishes->wish) {
        snprintf(error, size, "more than %u options", wishes->count);
        return -1;
    }
    wishes->wish[wishes->count].name = name;
    wishes->wish[wishes->count++].value = value;
    return 0;
}

static int set_value(const cli_option *o, void *config, const char *value, char *error, size_t size)
{
    char *field = (char *)config + o->offset;
    uint64_t whole = 0;
    error[0] = '\0';
    switch (o->kind) {
    case CLI_FLAG:
        return set_flag((int *)(void *)field, value, error, size);
    case CLI_U32:
    case CLI_U64:
    case CLI_LONG:
        if (rf_parse_whole(value, (uint64_t)o->low, o->high > 0 ? (uint64_t)o->high : UINT64_MAX, &whole, error, size) < 0)
            return -1;
        if (o->kind == CLI_U32)
            *(uint32_t *)(void *)field = (uint32_t)whole;
        else if (o->kind == CLI_U64)
            *(uint64_t *)(void *)field = whole;
        else
            *(long *)(void *)field = (long)whole;
        return 0;
    case CLI_REAL:
        return rf_parse_real(value, o->low, o->high, (double *)(void *)field, error, size);
    case CLI_NAME:
        return set_name(o, (int *)(void *)field, value, error, size);
    case CLI_TEXT:
        *(const char **)(void *)field = value;
        return 0;
    case CLI_INPUT:
    case CLI_OUTPUT:
    case CLI_REPLACED:
    case CLI_STATE:
    case CLI_FOLDER:
        *(const char **)(void *)field = value;
        if (*value)
            return o->set ? o->set(config, value, error, size) : 0;
        snprintf(error, size, "the name of the file is empty");
        return -1;
    case CLI_INPUTS:
    case CLI_LIST:
        return cli_list_add((const char **)(void *)field, CLI_LIST_MAX, value, error, size);
    case CLI_CONFIG:
        return set_wish(o->name, (cli_wishes *)(void *)field, value, error, size);
    case CLI_CUSTOM:
        break;
    }
    return o->set(config, value, error, size);
}

int cli_option_set(const cli_usage *usage, const cli_option *o, void *config, const char *value, char *error, size_t size)
{
    const int status = set_value(o, config, value, error, size), is_no = o->kind == CLI_FLAG && !*(const int *)(void *)((char *)config + o->offset);
    const uint64_t bit = (uint64_t)1 << (o - usage->options);
    uint64_t *told = usage->told ? (uint64_t *)(void *)((char *)config + usage->told) : NULL;
    if (status == 0 && told)
        *told = is_no ? *told & ~bit : *told | bit;
    return status;
}

int cli_is_told(const cli_usage *usage, const void *config, const char *name)
{
    const uint64_t told = *(const uint64_t *)(const void *)((const char *)config + usage->told);
    for (const cli_option *o = usage->options; o->name; o++)
        if (strcmp(o->name, name) == 0 && told >> (o - usage->options) & 1)
            return 1;
    return 0;
}

int cli_check_told(const cli_usage *usage, const void *config, const cli_rule rules[], unsigned run)
{
    char message[256];
    for (const cli_rule *r = rules; r->name; r++)
        if (!(r->needs & run) && cli_is_told(usage, config, r->name)) {
            snprintf(message, sizeof message, "%s: %s", usage->command, r->message);
            return cli_error(message, r->name);
        }
    return CLI_OK;
}

void cli_option_print(const cli_option *o, const void *config, char *text, size_t size)
{
    const void *field = (const char *)config + o->offset;
    char digits[RF_REAL_TEXT];
    text[0] = '\0';
    if (o->kind == CLI_FLAG)
        snprintf(text, size, "%s", *(const int *)field ? "yes" : "no");
    else if (o->kind == CLI_U32)
        snprintf(text, size, "%u", *(const uint32_t *)field);
    else if (o->kind == CLI_U64)
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field);
    else if (o->kind == CLI_LONG)
        snprintf(text, size, "%ld", *(const long *)field);
    else if (o->kind == CLI_REAL)
        snprintf(text, size, "%s", rf_real_text(*(const double *)field, digits));
    else if (o->kind == CLI_NAME)
        snprintf(text, size, "%s", o->names[*(const int *)field]);
    else if (o->kind != CLI_CUSTOM && o->kind != CLI_LIST && o->kind != CLI_INPUTS && *(const char *const *)field)
        snprintf(text, size, "%s", *(const char *const *)field);
}

static void unknown(const cli_usage *usage, const char *argument)
{
    const char *names[64] = {"help"};
    size_t n = 1;
    for (const cli_option *o = usage->options; o->name && n < 63; o++)
        names[n++] = o->name;
    char name[64], call[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    const char *close = strncmp(name, "--", 2) == 0 ? rf_closest(name + 2, names) : NULL;
    cli_error("%s: unknown %s '%s'%s%s%s (see '%s --help')", usage->command,
              argument[0] == '-' ? "option" : "argument", name, close ? ", did you mean --" : "", close ? close : "",
              close ? "?" : "", call_of(usage, call));
}

/* Refuses a second argument for an option that takes one. Returns whether it did. */
static int is_one_too_many(const cli_usage *usage, const cli_option *bare, const char *argument, int count)
{
    char call[64];
    if (count < 2)
        return 0;
    cli_error("%s: one %s at a time: '%s' is the second (see '%s --help')", usage->command, bare->argument, argument, call_of(usage, call));
    return 1;
}

/* Lists the files of the run. Returns 0, or -1 after a message: one would be lost, or cannot be written. */
static int declare_files(const cli_usage *usage, const void *config)
{
    static const rf_use uses[] = {[CLI_INPUT] = RF_READS, [CLI_INPUTS] = RF_READS, [CLI_OUTPUT] = RF_WRITES, [CLI_REPLACED] = RF_REPLACES, [CLI_STATE] = RF_KEEPS, [CLI_FOLDER] = RF_FILLS};
    char error[2 * RF_PATH_MAX], what[80];
    int status = rf_output_begin(error, sizeof error);
    for (const cli_option *o = usage->options; o->name && status == 0; o++) {
        const char *const *field = (const char *const *)(const void *)((const char *)config + o->offset), *one[2] = {NULL, NULL};
        if (o->kind < CLI_INPUT)
            continue;
        if (o->kind != CLI_INPUTS)
            one[0] = *field;
        snprintf(what, sizeof what, "%s%s", *o->name ? "--" : o->argument, o->name);
        for (const char *const *path = o->kind == CLI_INPUTS ? field : one; *path && status == 0; path++)
            if (strcmp(*path, "-") != 0 && (strncmp(o->argument, "NAME|", strlen("NAME|")) != 0 || strpbrk(*path, "./")))
                status = rf_output_declare(what, *path, uses[o->kind], error, sizeof error);
    }
    if (status < 0)
        cli_error("%s: %s", usage->command, error);
    return status;
}

int cli_parse(const cli_usage *usage, void *config, int argc, char **argv)
{
    const cli_option *file = cli_option_find(usage->options, "", 0); /* FILE, which an option such as --data may name, too */
    int bare = 0, by_option = 0;
    file = file && file->kind == CLI_INPUT ? file : NULL;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(usage);
            return 0;
        }
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + 2, *equals = strchr(argv[i], '=');
        size_t length = strncmp(argv[i], "--", 2) != 0 ? 0 : equals ? (size_t)(equals - name) : strlen(name);
        const int is_bare = argv[i][0] != '-' || argv[i][1] == '\0'; /* '-' is standard input */
        const cli_option *option = length || is_bare ? cli_option_find(usage->options, name, length) : NULL;
        if (strncmp(argv[i], "--help=", 7) == 0) {
            cli_error("%s: --help takes no value", usage->command);
            return -1;
        }
        if (!option) {
            unknown(usage, argv[i]);
            return -1;
        }
        const char *value = is_bare ? argv[i] : equals ? equals + 1 : NULL;
        if (option->kind == CLI_NAME && option->argument[0] == '[' && !value) /* a value is optional */
            value = i + 1 < argc && is_among(argv[i + 1], option->names) ? argv[++i] : option->names[0];
        if (option->argument && !value)
            value = i + 1 < argc ? argv[++i] : NULL;
        if (!option->argument != !value) {
            cli_error("%s: --%s %s", usage->command, option->name, option->argument ? "needs a value" : "takes no value");
            return -1;
        }
        const int is_file = file && option->kind == CLI_INPUT && option->offset == file->offset;
        bare += is_file && is_bare;
        by_option |= is_file && !is_bare; /* of an option given twice, the last counts */
        if (is_file && is_one_too_many(usage, file, value, bare + by_option))
            return -1;
        char error[256] = "";
        if (cli_option_set(usage, option, config, value, error, sizeof error) < 0) {
            if (error[0])
                cli_error("%s: %s%s%s%s", usage->command, is_bare ? "" : "--", option->name, is_bare ? "" : ": ", error);
            return -1;
        }
    }
    return declare_files(usage, config) < 0 ? -1 : 1;
}
