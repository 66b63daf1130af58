/* The file of a checkpoint, which is always complete. */
#ifndef REJFILT_CLI_STATEFILE_H
#define REJFILT_CLI_STATEFILE_H

#include <stdint.h>

#include "lock.h"

enum { CLI_STATE_MAX = 1 << 30 }; /* bytes */

/* A checkpoint that this process has locked. */
typedef struct cli_state_file {
    const char *path;         /* as given; must outlive this struct */
    rf_lock lock;
} cli_state_file;

/* Locks the file at `path`. Returns as rf_lock_take, which is an exit code. After CLI_OK call cli_state_close. */
int cli_state_open(cli_state_file *f, const char *path, char *error, size_t size);
void cli_state_close(cli_state_file *f);

/* Replaces the file by these bytes, of cli_checkpoint_write, as rf_output_replace does: after a kill the old or the new file is
   there, complete. Returns 0, or -1 with one line in `error`; only if syncing the directory fails, the last step, the new file
   stays. */
int cli_state_save(const unsigned char *bytes, size_t count, const cli_state_file *f, int is_durable, char *error, size_t size);

/* Reads what was sealed into malloc'ed memory. Returns 1; 0 if there is no such file; -1 if it is refused, with one line in
   `error`: "run.state is truncated (117 of 240 bytes)". */
int cli_state_load(unsigned char **contents, size_t *count, const char *path, char *error, size_t size);

#endif
