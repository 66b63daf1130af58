/* Checkpoints: any bytes as a file; then any bytes as the contents of a valid file, from which a run resumes. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "bytes.h"
#include "sealed.h"
#include "statefile.h"
#include "stream.h"

static int check_step(void *user, uint32_t trial, const rf_step *s)
{
    (void)user, (void)trial;
    for (unsigned i = 0; i < s->dim; i++)
        fuzz_require(s->mean[i] >= -0x1p500 && s->sd[i] > 0);
    return 0;
}

static void load_any(const uint8_t *bytes, size_t count)
{
    unsigned char *contents;
    size_t size;
    char error[600] = "";
    int loaded = cli_state_load(&contents, &size, fuzz_file("any.state", bytes, count), error, sizeof error);
    fuzz_require(loaded == 1 || loaded == -1);
    if (loaded < 0) {
        fuzz_require_message(error, sizeof error);
        fuzz_require(!contents && size == 0);
    }
    free(contents);
}

/* The first byte chooses precision and health; the rest are the contents after the fingerprint of this run. */
static void go_on_from(const uint8_t *bytes, size_t count)
{
    static const char records[] = "t,x_,time,outcome\n1,0.3,1,1\n2,0.3,2,0\n4,0.5,9,\n1,0.1,9,1\n3,0.7,10,1\n";
    static unsigned char state[1 << 16];
    static char data[512], path[512];
    static const char *const beliefs[] = {"gaussian", "particles:20", "grid:1024", "mixture:4"};
    unsigned char *back;
    size_t size;
    char error[600] = "", attempts[] = "--attempts=20", track[] = "track";
    char *arguments[] = {track, attempts, NULL};
    cli_track_config config;
    fuzz_require(cli_track_configure(&config, 2, arguments) == 1);
    config.run.config.belief = beliefs[(bytes[0] >> 4 & 7) % 4];
    config.run.config.is_float = (bytes[0] & 1) && (bytes[0] >> 4 & 7) % 4 == 0;
    static cli_checkpoint checkpoint;
    cli_checkpoint_begin(&checkpoint, &config.run.config, config.run.batch, rf_model_source(config.run.config.model));
    const size_t length = strlen(checkpoint.options);
    rf_writer w = {state, RF_SEAL};
    rf_write_bytes(&w, "RFRUN 9\n", 8);
    rf_write_u64(&w, checkpoint.fingerprint);
    rf_write_u64(&w, length);
    rf_write_bytes(&w, checkpoint.options, length);
    if (count - 1 > sizeof state - w.size)
        return;
    rf_write_bytes(&w, bytes + 1, count - 1);
    rf_seal(state, w.size, "RFSTATE\n", CLI_STATE_VERSION);
    snprintf(data, sizeof data, "%s", fuzz_file("data.csv", (const uint8_t *)records, sizeof records - 1));
    snprintf(path, sizeof path, "%s", fuzz_file("run.state", bytes, 0));
    static cli_state_file file;
    fuzz_require(cli_state_open(&file, path, error, sizeof error) == CLI_OK && !error[0]);
    fuzz_require(cli_state_save(state, w.size, &file, 0, error, sizeof error) == 0);
    fuzz_require(cli_state_load(&back, &size, path, error, sizeof error) == 1);
    fuzz_require(size == w.size - RF_SEAL && memcmp(back, state + RF_SEAL, size) == 0);
    free(back);
    config.data = data;
    config.state = path;
    config.run.config.on_lost = (rf_on_lost)(bytes[0] >> 1 & 3);
    rf_engine *engine = rf_engine_open("serial", error, sizeof error);
    fuzz_require(engine);
    config.run.config.engine = engine;
    const cli_stream stream = {.config = &config, .state = &file, .observer = check_step};
    const int code = cli_stream_run(&stream);
    fuzz_require(code == CLI_OK || code == CLI_BAD_INPUT || code == CLI_FAILED);
    rf_engine_close(engine);
    cli_state_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    load_any(bytes, count);
    if (count > 0)
        go_on_from(bytes, count);
    return 0;
}
