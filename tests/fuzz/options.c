/* Command lines of every subcommand, up to the point where work would begin: one argument per line, the first is the
   subcommand. If the first line is 'cost' or 'mask', the rest is the file that classify takes for that option. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <string.h>

#include "cli.h"
#include "classify_data.h"
#include "track_options.h"

enum { ARGUMENTS_MAX = 40 };

/* Some arguments act before all are read: a file is compiled, a picture drawn, data are read. Such inputs are
   skipped. */
static int is_harmless(const char *argument)
{
    return !strstr(argument, "plot") && !strchr(argument, '/') && !strstr(argument, ".c") &&
           !strstr(argument, "config");
}

static void run_track(int argc, char **argv)
{
    cli_track_config config;
    static cli_checkpoint checkpoint;
    if (cli_track_configure(&config, argc, argv) == 1)
        cli_checkpoint_begin(&checkpoint, &config.run.config, config.run.batch, rf_model_source(config.run.config.model));
}

/* The other subcommands read files, so the last word is a file that does not exist. */
static void run_without_data(int (*command)(int, char **), char *last, int argc, char **argv)
{
    static char serial[] = "--engine=serial";
    if (command == cli_compare)
        argv[argc++] = serial; /* opening a thousand threads is tested elsewhere */
    argv[argc++] = last;
    argv[argc] = NULL;
    const int code = command(argc, argv);
    int asks_help = 0;
    for (int i = 1; i < argc; i++)
        asks_help |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
    fuzz_require(code == (asks_help ? CLI_OK : CLI_BAD_INPUT));
}

/* Reads costs, or a mask, of the features of a small table. */
static void read_features(int is_cost, const uint8_t *bytes, size_t count)
{
    static const char table[] = "a,b,a b,x1,label\n1,2,3,4,no\n2,3,5,4,yes\n7,1,0,2,yes\n";
    static char train[512];
    if (!train[0])
        snprintf(train, sizeof train, "%s", fuzz_file("train.csv", (const uint8_t *)table, sizeof table - 1));
    classify_config config = classify_config_default("classify");
    classify_data data;
    config.source.train = train;
    *(is_cost ? &config.cost : &config.mask) = fuzz_file("features", bytes, count);
    const int code = classify_load(&config, &data);
    fuzz_require(code == CLI_OK || code == CLI_BAD_INPUT);
    if (code != CLI_OK)
        return;
    fuzz_require(is_cost || memchr(data.mask, 1, data.train.features));
    for (uint32_t i = 0; i < data.train.features; i++) {
        fuzz_require(!is_cost || data.cost[i] == 0 || (data.cost[i] >= 0.9e-9f && data.cost[i] <= 1.1e9f));
        fuzz_require(is_cost || data.mask[i] <= 1);
    }
    classify_free(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count >= 5 && (memcmp(bytes, "cost\n", 5) == 0 || memcmp(bytes, "mask\n", 5) == 0)) {
        read_features(bytes[0] == 'c', bytes + 5, count - 5);
        return 0;
    }
    char text[4096], *argv[ARGUMENTS_MAX + 3], *rest = text;
    int argc = 0;
    if (count >= sizeof text || memchr(bytes, '\0', count))
        return -1;
    memcpy(text, bytes, count);
    text[count] = '\0';
    for (char *one; argc < ARGUMENTS_MAX && (one = strsep(&rest, "\n"));) {
        if (!is_harmless(one))
            return -1;
        argv[argc++] = one;
    }
    argv[argc] = NULL;
    static char nowhere[] = "--data=/nonexistent", no_train[] = "--train=/nonexistent";
    if (strcmp(argv[0], "track") == 0)
        run_track(argc, argv);
    else if (strcmp(argv[0], "compare") == 0)
        run_without_data(cli_compare, nowhere, argc, argv);
    else if (strcmp(argv[0], "classify") == 0)
        run_without_data(cli_classify, strstr(text, "--data") ? nowhere : no_train, argc, argv);
    else if (strcmp(argv[0], "models") == 0)
        cli_models(argc, argv);
    else
        return -1;
    return 0;
}
