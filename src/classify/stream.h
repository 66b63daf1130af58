/* Bytes from a file: plain, gzip, or one member of a zip archive. */
#ifndef REJFILT_STREAM_H
#define REJFILT_STREAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct rf_stream rf_stream;

/* A plain or a gzip file. Null with a one-line message in `error`. */
rf_stream *rf_stream_open(const char *path, char *error, size_t size);

/* A zip archive, whose directory is read and checked once; `path` stays the caller's. Null with a message. */
typedef struct rf_archive rf_archive;
rf_archive *rf_archive_open(const char *path, char *error, size_t size);
void rf_archive_close(rf_archive *archive);

/* The member that is called like the first of `names` (ending in null) that there is, itself or with .npy. One at a time is
   read, while the archive is open. Null with a message; with an empty one when there is none. */
rf_stream *rf_archive_find(const rf_archive *archive, const char *const names[], char *error, size_t size);

void rf_stream_close(rf_stream *stream);

/* What it is called in messages: the file, and the member where it is one. */
const char *rf_stream_name(const rf_stream *stream);

/* The most bytes it can hold, from the size of the file and what deflate can do at best. */
uint64_t rf_stream_most(const rf_stream *stream);

/* Up to `bytes` bytes; fewer only at the end. Returns how many, or -1 with a message. */
long rf_stream_some(rf_stream *stream, void *to, size_t bytes, char *error, size_t size);

/* Exactly that many bytes. Returns 0, or -1 with a message. */
int rf_stream_read(rf_stream *stream, void *to, size_t bytes, char *error, size_t size);

/* Nothing may follow, and checksums must be right. Returns 0, or -1 with a message. */
int rf_stream_end(rf_stream *stream, char *error, size_t size);

#endif
