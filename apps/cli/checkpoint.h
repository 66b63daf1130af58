/* The part of a checkpoint before the session: the run's options and its position. */
#ifndef REJFILT_CLI_CHECKPOINT_H
#define REJFILT_CLI_CHECKPOINT_H

#include "chain.h"

enum { CLI_OPTIONS_TEXT = 16384 };

typedef struct cli_checkpoint {
    uint64_t fingerprint;           /* of the options, and of the model's source */
    char options[CLI_OPTIONS_TEXT]; /* options that affect results, as a configuration file */
    uint64_t updates;               /* lines written */
    cli_chain chain;                /* the records learnt from */
    uint64_t source;                /* hash of the model's source; 0: none */
} cli_checkpoint;

#define CLI_STATE_VERSION 9u /* increment when the meaning of the contents changes */

/* The contents of a checkpoint, sealed or as version 8 had them. Returns 0, or -1 with why it is refused. */
int cli_checkpoint_unseal(const unsigned char *bytes, size_t count, const unsigned char **contents, size_t *length, char *error,
                          size_t size);

/* Initialises a checkpoint at the start of a run; free its chain at the end. `source`: hash of the model's source; 0: none. */
void cli_checkpoint_begin(cli_checkpoint *c, const rf_config *config, uint32_t batch, uint64_t source);

/* Writes the sealed checkpoint to `bytes`, unless NULL. Returns the number of bytes. */
size_t cli_checkpoint_write(const cli_checkpoint *c, const rf_session *session, unsigned char *bytes);

/* Reads the checkpoint from its contents. Returns the offset of its session; 0: not a checkpoint. */
size_t cli_checkpoint_read(cli_checkpoint *c, const unsigned char *bytes, size_t size);

/* Resumes the run *c from contents that have the same options. Returns 0. Otherwise returns -1 with the difference
   in `error` ("is of a run with seed = 2, not 1") and changes nothing. */
int cli_checkpoint_take(cli_checkpoint *c, rf_session *session, const unsigned char *bytes, size_t size, char *error,
                        size_t error_size);

#endif
