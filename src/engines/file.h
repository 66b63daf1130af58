/* Files that a user names. None of these waits for somebody at the other end of a pipe. */
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

/* Something to read in its order, from its beginning to its end: a file, a pipe, whose writer may come later, or a
 * device. */
FILE *rf_file_listen(const char *path, char *error, size_t size);

/* A file to write, emptied if it is there; or a device, or a pipe that somebody reads. Null with "cannot write 'PATH':
 * why". */
FILE *rf_file_write(const char *path, char *error, size_t size);

#endif
