/* Bytes from a file: plain, gzip, or one member of a zip archive. */
#ifndef REJFILT_TABLES_STREAM_H
#define REJFILT_TABLES_STREAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct tables_stream tables_stream;

/* A plain or a gzip file. Null with a one-line message in `error`. */
tables_stream *tables_stream_open(const char *path, char *error, size_t size);

/* A zip archive, whose directory is read and checked once; `path` stays the caller's. Null with a message. */
typedef struct tables_archive tables_archive;
tables_archive *tables_archive_open(const char *path, char *error, size_t size);
void tables_archive_close(tables_archive *archive);

/* The member that is called like the first of `names` (ending in null) that there is, itself or with .npy. One at a
   time is read, while the archive is open. Null with a message; with an empty one when there is none. */
tables_stream *tables_archive_find(const tables_archive *archive, const char *const names[], char *error, size_t size);

void tables_stream_close(tables_stream *stream);

/* What it is called in messages: the file, and the member where it is one. */
const char *tables_stream_name(const tables_stream *stream);

/* The most bytes it can hold, from the size of the file and what deflate can do at best. */
uint64_t tables_stream_max(const tables_stream *stream);

/* Up to `bytes` bytes; fewer only at the end. Returns how many, or -1 with a message. */
long tables_stream_some(tables_stream *stream, void *to, size_t bytes, char *error, size_t size);

/* Exactly that many bytes. Returns 0, or -1 with a message. */
int tables_stream_read(tables_stream *stream, void *to, size_t bytes, char *error, size_t size);

/* Nothing may follow, and checksums must be right. Returns 0, or -1 with a message. */
int tables_stream_end(tables_stream *stream, char *error, size_t size);

#endif
