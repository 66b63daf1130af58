/* A load in progress: shared by load.c, which compiles models, and load_check.c, which tests them. */
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

typedef struct words { /* the words of a command */
    const char *word[WORDS_MAX + 1];
    unsigned count;
} words;

/* Adds bytes to a hash that starts as RF_LOAD_HASH. */
typedef struct hash {
    uint64_t half[2];
} hash;
#define RF_LOAD_HASH ((hash){{0xcbf29ce484222325u, 0x243f6a8885a308d3u}})

typedef struct load {
    const char *name; /* the model file as the user wrote it */
    char source[PATH_MAX], include[PATH_MAX];
    char program[3 * PATH_MAX + 256]; /* the program to compile, which includes the source */
    char cache[PATH_MAX];         /* the cache directory as the user named it */
    int directory;                /* its descriptor; `place` is the path through it, which others cannot redirect */
    char place[32], object[96];
    words compiler, extra;
    int is_gcc; /* set once the key is known */
    char compiler_text[PATH_MAX], extra_text[PATH_MAX];
    char output[2][TEXT_MAX]; /* output of the two compilers */
    char receipt[96];         /* the receipt's path: which files the object was made from */
    char seen[SEEN_MAX];      /* files of the preprocessed source, one a line */
    int is_unseen;            /* some files did not fit */
    char line[PATH_MAX + 64]; /* start of an incomplete line of the compiler's output */
    size_t line_length;
    int is_broken;            /* a compiler ended abnormally */
    char **environment;
    sigset_t signals; /* the mask to restore */
    char *error;
    size_t size;
} load;

/* Writes the load's error message and returns -1. */
__attribute__((format(printf, 2, 3))) int rf_load_fail(load *l, const char *format, ...);

void rf_load_hash(hash *h, const char *bytes, size_t count);

/* Loads the object and finds its model. Returns 0, or -1 with a message. */
int rf_load_open(load *l, rf_model *m);

/* Tests the object: it must load, describe a model, and give a likelihood. Returns 0, or -1 with a message. */
int rf_load_try(load *l);

/* ---- Receipts: what a compiled model was made from ---- */

/* Reads more of a preprocessed source and adds the files it came from to l->seen. */
void rf_load_see(load *l, const char *bytes, size_t count);
/* The receipt's path for this source, command, environment and processor. */
void rf_load_name_receipt(load *l, const words *command);
/* Returns 0 and the object's key if it exists and no file has changed, else -1. */
int rf_load_read_receipt(load *l, char key[33]);
/* Writes a receipt, unless a file has changed since that time, or just before it. */
void rf_load_write_receipt(const load *l, const char key[33], const struct timespec *since);

#endif
