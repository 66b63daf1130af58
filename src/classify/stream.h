/* Bytes from a file: plain, gzip, or one member of a zip archive. */
#ifndef REJFILT_STREAM_H
#define REJFILT_STREAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct rf_stream rf_stream;

/* A plain or a gzip file. Null with a one-line message in `error`. */
rf_stream *rf_stream_open(const char *path, char *error, size_t size);

/* Member number `index` of a zip archive, its name in `name`. Null with a message; with an empty one
   past the last member. */
rf_stream *rf_stream_open_member(const char *path, unsigned index, char *name, size_t name_size, char *error,
                                 size_t size);

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
