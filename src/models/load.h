/* A load in progress: what load.c, which compiles models, shares with load_check.c, which tries them. */
#ifndef REJFILT_LOAD_H
#define REJFILT_LOAD_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif

#include <limits.h>
#include <signal.h>
#include <time.h>

#include "rejfilt/host.h"

enum { WORDS_MAX = 192, TEXT_MAX = 32768, SEEN_MAX = 65536 };

typedef struct words { /* of a command */
    const char *word[WORDS_MAX + 1];
    unsigned count;
} words;

/* Of bytes: add them to RF_LOAD_HASH. */
typedef struct hash {
    uint64_t half[2];
} hash;
#define RF_LOAD_HASH ((hash){{0xcbf29ce484222325u, 0x243f6a8885a308d3u}})

typedef struct load {
    const char *name; /* the model file as the user wrote it */
    char source[PATH_MAX], include[PATH_MAX];
    char program[3 * PATH_MAX + 256]; /* what is compiled: it includes the source */
    char cache[PATH_MAX];         /* the cache as the user knows it, */
    int directory;                /* held open, and its path through the descriptor, which others cannot redirect */
    char place[32], object[96];
    words compiler, extra;
    int is_gcc; /* known once there is a key */
    char compiler_text[PATH_MAX], extra_text[PATH_MAX];
    char output[2][TEXT_MAX]; /* of compilers */
    char receipt[96];         /* where it is written down what the object was made from */
    char seen[SEEN_MAX];      /* files that the source was preprocessed from, each with a line end */
    int is_unseen;            /* there were others */
    char line[PATH_MAX + 64]; /* of the compiler's output, so far */
    size_t line_length;
    int is_broken;            /* a compiler ended as compilers do not */
    char **environment;
    sigset_t signals; /* as they were */
    char *error;
    size_t size;
} load;

/* Writes the message of the load and returns -1. */
__attribute__((format(printf, 2, 3))) int rf_load_fail(load *l, const char *format, ...);

void rf_load_hash(hash *h, const char *bytes, size_t count);

/* Loads the object and finds its model; 0, or -1 with a message. */
int rf_load_open(load *l, rf_model *m);

/* 0 when the object loads, describes a model, and gives a likelihood; else -1 with what it does instead. */
int rf_load_try(load *l);

/* ---- Receipts: what a compiled model was made from ---- */

/* More of a preprocessed source: the files it came from are noted in l->seen. */
void rf_load_see(load *l, const char *bytes, size_t count);
/* Where the receipt of this source, this command, this environment and this processor is. */
void rf_load_name_receipt(load *l, const words *command);
/* 0 with the object's key, when it is there and all the files are as they were. Else -1. */
int rf_load_read_receipt(load *l, char key[33]);
/* Leaves one, unless a file has changed since that time, or just before. */
void rf_load_write_receipt(const load *l, const char key[33], const struct timespec *since);

#endif
