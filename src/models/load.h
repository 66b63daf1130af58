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

enum { WORDS_MAX = 192, TEXT_MAX = 32768 };

typedef struct words { /* the words of a command */
    const char *word[WORDS_MAX + 1];
    unsigned count;
} words;

typedef struct hash {
    uint64_t half[2];
} hash;

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
    int is_broken;            /* a compiler ended abnormally */
    char *files;              /* names of the user's files, one after the other, and an empty one */
    size_t files_size;        /* without the last */
    hash source_hash;         /* of their bytes */
    int has_halves;           /* a header distinguishes precisions */
    sigset_t signals; /* the mask to restore */
    char *error;
    size_t size;
} load;

/* Writes the load's error message and returns -1. */
__attribute__((format(printf, 2, 3))) int rf_load_fail(load *l, const char *format, ...);

/* Loads the object and finds its model. Returns 0, or -1 with a message. */
int rf_load_open(load *l, rf_model *m);

/* Tests the object: it must load, describe a model, and give a likelihood. Returns 0, or -1 with a message. */
int rf_load_try(load *l);

#endif
