/* Bytes from a file: plain, gzip, or one member of a zip archive. */
#ifndef REJFILT_TABLES_STREAM_H
#define REJFILT_TABLES_STREAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct tables_stream tables_stream;

/* Opens a plain or gzip file, or a zip archive of one file. NULL with a one-line message in `error`. */
tables_stream *tables_stream_open(const char *path, char *error, size_t size);

/* Opens a zip archive; its directory is read and checked once. `path` must outlive it. NULL with a message. */
typedef struct tables_archive tables_archive;
tables_archive *tables_archive_open(const char *path, char *error, size_t size);
void tables_archive_close(tables_archive *archive);

/* Opens the member with the first of `names` (ending in null) that exists, also as NAME.npy. Only one member can be
   open at a time, while the archive is open. NULL with a message, which is empty if there is no such member. */
tables_stream *tables_archive_find(const tables_archive *archive, const char *const names[], char *error, size_t size);

void tables_stream_close(tables_stream *stream);

/* Name in messages: the file, and the member if it is one. */
const char *tables_stream_name(const tables_stream *stream);

/* Upper bound of the number of bytes, from the file size and the best ratio of deflate. */
uint64_t tables_stream_max(const tables_stream *stream);

/* Reads up to `bytes` bytes; fewer only at the end. Returns the number, or -1 with a message. */
long tables_stream_some(tables_stream *stream, void *to, size_t bytes, char *error, size_t size);

/* Reads exactly that many bytes. Returns 0, or -1 with a message. */
int tables_stream_read(tables_stream *stream, void *to, size_t bytes, char *error, size_t size);

/* Checks that nothing follows and that checksums are right. Returns 0, or -1 with a message. */
int tables_stream_end(tables_stream *stream, char *error, size_t size);

#endif
