/* Files to read, named by the user. Opening never blocks on the other end of a pipe. An output of the run is refused. */
#ifndef REJFILT_FILE_H
#define REJFILT_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An ordinary file to read, and its size; pipes, directories and devices are refused. Returns its descriptor, or -1
   with "PATH: why". */
int rf_file_open(const char *path, uint64_t *bytes, char *error, size_t size);

/* The same as a stream, or null with a message. */
FILE *rf_file_read(const char *path, char *error, size_t size);

/* Opens a file, pipe or device for sequential reading; the writer of a pipe may come later. */
FILE *rf_file_listen(const char *path, char *error, size_t size);

#endif
