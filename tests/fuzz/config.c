/* Configuration files and their values: the whole way from an INI file to a run of `rejfilt track`. */
#define _GNU_SOURCE
#include "fuzz.h"

#include "../../apps/cli/config.c" /* it keeps texts until the program ends; here they must be freed */
#include "track_options.h"

static void forget(void)
{
    for (kept *next; all_kept; all_kept = next) {
        next = all_kept->next;
        free(all_kept);
    }
}

/* A model file would be compiled and run, and a picture drawn: such inputs are skipped. */
static int is_harmless(const uint8_t *bytes, size_t count)
{
    static const char *const harmful[] = {"plot", "/", ".c"};
    for (int i = 0; i < 3; i++)
        if (memmem(bytes, count, harmful[i], strlen(harmful[i])))
            return 0;
    return 1;
}

/* The options that a checkpoint would keep can be read back. */
static void again(const cli_track_config *config)
{
    static cli_checkpoint checkpoint;
    static cli_track_config other;
    cli_checkpoint_begin(&checkpoint, &config->run.config, config->run.batch, 0);
    fuzz_require(checkpoint.fingerprint != 0 && cli_track_again(&other, checkpoint.options, "options", config->model) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (!is_harmless(bytes, count))
        return -1;
    char path[512];
    snprintf(path, sizeof path, "%s", fuzz_file("run.ini", bytes, count));
    cli_track_config config;
    char *arguments[] = {(char[]){"track"}, (char[]){"--config"}, path, NULL};
    if (cli_track_configure(&config, 3, arguments) == 1)
        again(&config);
    forget();
    return 0;
}
