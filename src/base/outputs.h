/* Every file that rejfilt writes is written here, so that none is lost: an ordinary file is replaced as a whole or not
   at all, a file that the run reads is not written, and a pipe or a device is written to, never replaced.

   On failure functions return -1 or null with one line in `error`; then the old file is unchanged and no temporary file
   is left. */
#ifndef REJFILT_OUTPUTS_H
#define REJFILT_OUTPUTS_H

#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

enum { RF_PATH_MAX = 4096 }; /* bytes, with the final zero */

enum {
    RF_OUTPUT_ORDINARY = 1, /* refuse pipes and devices */
    RF_OUTPUT_DURABLE = 2,  /* survive a power cut */
    RF_OUTPUT_OWN = 4,      /* the user did not choose the name: refuse a link */
    RF_OUTPUT_PRIVATE = 12  /* and others have no access, whatever was there */
};

/* ---- Whole files ---- */

/* Replaces the file, or makes it. A link stays, and its target is replaced. Permissions and, where possible, the owner
 * are kept. */
int rf_output_replace(const char *path, const void *bytes, size_t count, unsigned how, char *error, size_t size);

/* An output in the making, not to be copied: an ordinary file is collected in memory until it is closed. */
typedef struct rf_output {
    const char *path; /* must outlive this struct */
    FILE *stream;     /* write here; null: not open */
    char *bytes;      /* null: a pipe or a device */
    size_t count;
    unsigned how;
} rf_output;

/* Opens it, after the checks that can be made before a long run. /dev/stdout and the like are this process's own
   streams. Returns the stream. */
FILE *rf_output_open(rf_output *output, const char *path, unsigned how, char *error, size_t size);

/* Puts the file in its place; or drops it, unless it `is_wanted`. */
int rf_output_close(rf_output *output, int is_wanted, char *error, size_t size);

/* ---- Growing files ---- */

/* Opens an ordinary file to read and append ("a+"), or makes it. */
FILE *rf_output_append(const char *path, unsigned how, char *error, size_t size);

/* Appends all bytes or none. Returns 0, or -1 with errno set. */
int rf_output_add(FILE *file, const void *bytes, size_t count, unsigned how);

/* ---- The files of a run ---- */

typedef enum rf_use {
    RF_READS,
    RF_WRITES,
    RF_REPLACES, /* an ordinary file only */
    RF_KEEPS,    /* a checkpoint, with its .lock and .history */
    RF_FILLS     /* a folder */
} rf_use;

/* Begins a list with the standard streams. Refused if output goes to the file that is read. */
int rf_output_begin(char *error, size_t size);

/* Adds a file before any work; `what` names the option in messages ("--out"). Refused if it is the same file as another
   one and either is written, or if it is an output that cannot be written. */
int rf_output_declare(const char *what, const char *path, rf_use use, char *error, size_t size);

/* What the opened file is called if it is an output of the list, else null. */
const char *rf_output_found(const struct stat *opened);

/* ---- For locks ---- */

/* Follows links to the ordinary file `target`, which need not exist. */
int rf_output_follow(const char *path, char target[RF_PATH_MAX], char *error, size_t size);

/* Removes temporary files of killed processes. Nobody else may be writing the file. */
void rf_output_tidy(const char *target);

#endif
