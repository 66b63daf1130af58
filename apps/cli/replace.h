/* Replaces files as a whole or not at all. */
#ifndef REJFILT_CLI_REPLACE_H
#define REJFILT_CLI_REPLACE_H

#include <stddef.h>
#include <sys/stat.h>

#include "lock.h"

/* Checks that it is a regular file: a device or a pipe must not be replaced. Returns 0, or -1 with a line in `error`. */
int cli_file_check(const struct stat *there, const char *path, char *error, size_t size);

/* Follows links from `path` to `target`, which need not exist. Returns 0, or -1 with a line in `error`. */
int cli_file_follow(const char *path, char target[CLI_PATH_MAX], char *error, size_t size);

/* Splits a path into the directory and, as result, the file's name. */
const char *cli_file_split(const char *path, char directory[CLI_PATH_MAX]);

/* Writes the temporary file, in the target's directory, and renames it. The target keeps its permissions, less the umask. With `is_durable` it
   survives a power cut. Returns 0, or -1 with errno set and no temporary file left. */
int cli_file_replace(const char *target, const char *temporary, const unsigned char *bytes, size_t count, int is_durable);

#endif
