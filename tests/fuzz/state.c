/* State files: any bytes as a file; then as the contents of a whole file, from which a run goes on. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "cli.h"
#include "live.h"
#include "statefile.h"

static int check_step(void *user, uint32_t trial, const cli_step *s)
{
    (void)user, (void)trial;
    for (unsigned i = 0; i < s->dim; i++)
        fuzz_require(isfinite(s->mean[i]) && isfinite(s->sd[i]) && s->sd[i] > 0);
    return 0;
}

/* Takes the contents as whatever they say they are. */
static void read_any(cli_state *state)
{
    char text[32];
    unsigned char some[16];
    while (!state->failed && !cli_state_is_read(state))
        switch (cli_state_get_u32(state) & 3) {
        case 0:
            cli_state_get_text(state, text, sizeof text);
            fuzz_require(strnlen(text, sizeof text) < sizeof text);
            break;
        case 1: cli_state_get_bytes(state, some, sizeof some); break;
        case 2: cli_state_get_u64(state); break;
        default: cli_state_get_f64(state);
        }
    fuzz_require(state->at <= state->size);
}

static void load_any(const uint8_t *bytes, size_t count)
{
    static cli_state state;
    char error[600] = "";
    int loaded = cli_state_load(&state, fuzz_file("any.state", bytes, count), error, sizeof error);
    fuzz_require(loaded == 1 || loaded == -1);
    if (loaded < 0) { /* as nearly all are, for their checksum: so take them without one */
        fuzz_require_message(error, sizeof error);
        fuzz_require(state.size == 0);
        cli_state_put_bytes(&state, bytes, count);
    }
    read_any(&state);
}

/* The first byte chooses precision and health; the rest are contents, after the fingerprint of this run. */
static void go_on_from(const uint8_t *bytes, size_t count)
{
    static const char records[] = "t,x_,time,outcome\n1,0.3,1,1\n2,0.3,2,0\n4,0.5,9,\n1,0.1,9,1\n3,0.7,10,1\n";
    static cli_state state, back;
    static char data[512], path[512];
    char error[600] = "", attempts[] = "--attempts=20", track[] = "track";
    char *arguments[] = {track, attempts, NULL};
    cli_track_config config;
    fuzz_require(cli_track_configure(&config, 2, arguments) == 1);
    cli_state_reset(&state);
    cli_state_put_u64(&state, cli_track_fingerprint(&config));
    if (count - 1 > sizeof state.bytes - 8)
        return;
    cli_state_put_bytes(&state, bytes + 1, count - 1);
    snprintf(data, sizeof data, "%s", fuzz_file("data.csv", (const uint8_t *)records, sizeof records - 1));
    snprintf(path, sizeof path, "%s", fuzz_file("run.state", bytes, 0));
    static cli_state_file file;
    fuzz_require(cli_state_open(&file, path, error, sizeof error) == CLI_OK && !error[0]);
    fuzz_require(cli_state_save(&state, &file, 0, error, sizeof error) == 0);
    fuzz_require(cli_state_load(&back, path, error, sizeof error) == 1);
    fuzz_require(back.size == state.size && memcmp(back.bytes, state.bytes, state.size) == 0);
    config.data = data;
    config.state = path;
    config.run.on_lost = (rf_on_lost)(bytes[0] >> 1 & 3);
    rf_engine *engine = rf_engine_open("serial", error, sizeof error);
    fuzz_require(engine);
    config.run.engine = engine;
    const cli_live live = {&config, engine, &file, check_step, NULL};
    const int code = (bytes[0] & 1 ? rf32_live_run : rf64_live_run)(&live);
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
