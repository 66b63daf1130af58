#define _POSIX_C_SOURCE 200809L
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "engine.h"
#include "file.h"

enum {
    DEFLATE_AT_BEST = 1032,
    BUFFER = 1 << 16,
    END_RECORD = 22,
    END_SEARCH = END_RECORD + 65535,
    MEMBER_RECORD = 46,
    LOCAL_RECORD = 30
};

struct tables_stream {
    char name[512];
    uint64_t max, at; /* `at`: bytes read so far */
    gzFile gz;        /* or, for a member of an archive: */
    FILE *archive;    /* owned by the archive */
    tables_archive *own; /* closed with the stream; or null */
    int deflated;
    uint64_t packed_left, unpacked_left;
    uint32_t crc_expected;
    uLong crc;
    z_stream inflate;
    unsigned char buffer[BUFFER];
};

const char *tables_stream_name(const tables_stream *s) { return s->name; }
uint64_t tables_stream_max(const tables_stream *s) { return s->max; }

void tables_stream_close(tables_stream *s)
{
    if (!s)
        return;
    if (s->gz)
        gzclose_r(s->gz);
    if (s->deflated)
        inflateEnd(&s->inflate);
    tables_archive_close(s->own);
    free(s);
}

static tables_stream *stream_new(const char *path)
{
    tables_stream *s = calloc(1, sizeof *s);
    if (s)
        snprintf(s->name, sizeof s->name, "%s", path);
    return s;
}

static tables_stream *open_only_member(const char *path, char *error, size_t size);

tables_stream *tables_stream_open(const char *path, char *error, size_t size)
{
    uint64_t bytes;
    char first[4];
    int fd = rf_file_open(path, &bytes, error, size);
    if (fd < 0)
        return NULL;
    if (pread(fd, first, sizeof first, 0) == sizeof first && memcmp(first, "PK\3\4", sizeof first) == 0) {
        close(fd);
        return open_only_member(path, error, size);
    }
    tables_stream *s = stream_new(path);
    if (!s || !(s->gz = gzdopen(fd, "rb"))) {
        rf_fail(error, size, "%s: out of memory", path);
        close(fd);
        tables_stream_close(s);
        return NULL;
    }
    gzbuffer(s->gz, BUFFER);
    s->max = gzdirect(s->gz) ? bytes : bytes * DEFLATE_AT_BEST;
    return s;
}

/* ---- Members of an archive ---- */

static uint32_t little(const unsigned char *p, unsigned bytes)
{
    uint32_t v = 0;
    for (unsigned i = bytes; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static int read_at(FILE *f, uint64_t at, void *to, size_t bytes)
{
    return fseeko(f, (off_t)at, SEEK_SET) == 0 && fread(to, 1, bytes, f) == bytes ? 0 : -1;
}

/* Finds the end record: the last "PK\5\6" of the file. */
static int find_end(FILE *f, uint64_t bytes, unsigned char end[END_RECORD])
{
    static const char signature[] = "PK\5\6";
    uint64_t start = bytes > END_SEARCH ? bytes - END_SEARCH : 0;
    size_t length = (size_t)(bytes - start);
    unsigned char *tail = malloc(length + 1);
    int found = -1;
    if (tail && read_at(f, start, tail, length) == 0)
        for (size_t i = length >= END_RECORD ? length - END_RECORD + 1 : 0; i-- > 0 && found < 0;)
            if (memcmp(tail + i, signature, 4) == 0) {
                memcpy(end, tail + i, END_RECORD);
                found = 0;
            }
    free(tail);
    return found;
}

struct tables_archive {
    const char *path;
    FILE *file;
    uint64_t bytes;
    unsigned char *directory; /* all its records, one after the other */
    size_t length;
};

static size_t record_length(const unsigned char *record)
{
    return (size_t)MEMBER_RECORD + little(record + 28, 2) + little(record + 30, 2) + little(record + 32, 2);
}

/* Checks that every record of the directory is complete, and that their number is the one in the end record. */
static int check_directory(const tables_archive *a, uint64_t begin, uint32_t members, char *error, size_t size)
{
    uint32_t count = 0;
    for (size_t at = 0; at < a->length; count++) {
        const unsigned char *record = a->directory + at;
        if (a->length - at < 4 || memcmp(record, "PK\1\2", 4) != 0)
            return rf_fail(error, size, "%s: damaged zip archive: no member %u at byte %llu", a->path, count,
                           (unsigned long long)(begin + at));
        if (a->length - at < MEMBER_RECORD || a->length - at < record_length(record))
            return rf_fail(error, size, "%s: damaged zip archive: its directory is cut short in member %u", a->path,
                           count);
        at += record_length(record);
    }
    if (count != members && members != UINT16_MAX) /* UINT16_MAX means that many or more */
        return rf_fail(error, size, "%s: damaged zip archive: there are %u members, but its end says %u", a->path,
                       count, members);
    return 0;
}

static int read_directory(tables_archive *a, char *error, size_t size)
{
    unsigned char end[END_RECORD];
    if (find_end(a->file, a->bytes, end) < 0)
        return rf_fail(error, size, "%s: not a zip archive, or its end is missing", a->path);
    const uint64_t begin = little(end + 16, 4), length = little(end + 12, 4);
    if (begin == UINT32_MAX || length == UINT32_MAX)
        return rf_fail(error, size, "%s: is over 4 GB; save its arrays as .npy", a->path);
    if (begin > a->bytes || length > a->bytes - begin)
        return rf_fail(error, size, "%s: damaged zip archive: its directory is beyond its end", a->path);
    a->length = (size_t)length;
    a->directory = malloc(a->length + 1);
    if (!a->directory)
        return rf_fail(error, size, "%s: out of memory", a->path);
    if (read_at(a->file, begin, a->directory, a->length) < 0)
        return rf_fail(error, size, "%s: damaged zip archive: its directory cannot be read", a->path);
    return check_directory(a, begin, little(end + 10, 2), error, size);
}

void tables_archive_close(tables_archive *a)
{
    if (!a)
        return;
    if (a->file)
        fclose(a->file);
    free(a->directory);
    free(a);
}

tables_archive *tables_archive_open(const char *path, char *error, size_t size)
{
    uint64_t bytes;
    int fd = rf_file_open(path, &bytes, error, size);
    if (fd < 0)
        return NULL;
    tables_archive *a = calloc(1, sizeof *a);
    if (!a || !(a->file = fdopen(fd, "rb"))) {
        rf_fail(error, size, "%s: out of memory", path);
        close(fd);
        tables_archive_close(a);
        return NULL;
    }
    a->path = path;
    a->bytes = bytes;
    if (read_directory(a, error, size) < 0) {
        tables_archive_close(a);
        return NULL;
    }
    return a;
}

static int is_called(const unsigned char *record, const char *name)
{
    const size_t length = little(record + 28, 2), own = strlen(name);
    return length >= own && memcmp(record + MEMBER_RECORD, name, own) == 0 &&
           (length == own || (length == own + 4 && memcmp(record + MEMBER_RECORD + own, ".npy", 4) == 0));
}

/* The member with the first of `names` that is found. NULL on failure: with a message if two members have that name,
   without one if none is found. */
static const unsigned char *find_member(const tables_archive *a, const char *const names[], char *error, size_t size)
{
    const unsigned char *found = NULL;
    size_t best = SIZE_MAX;
    int is_unique = 1;
    for (size_t at = 0; at < a->length; at += record_length(a->directory + at))
        for (size_t i = 0; names[i] && i <= best; i++)
            if (is_called(a->directory + at, names[i])) {
                is_unique = i < best;
                best = i;
                found = a->directory + at;
                break;
            }
    if (!is_unique)
        rf_fail(error, size, "%s: has two arrays called %s", a->path, names[best]);
    return is_unique ? found : NULL;
}

/* Seeks to the first byte of the member. */
static int begin_member(tables_stream *s, const tables_archive *a, const unsigned char *record, char *error,
                        size_t size)
{
    unsigned char local[LOCAL_RECORD];
    const int length = (int)little(record + 28, 2);
    const char *name = (const char *)record + MEMBER_RECORD;
    unsigned method = little(record + 10, 2);
    s->crc_expected = little(record + 16, 4);
    s->packed_left = little(record + 20, 4);
    s->unpacked_left = little(record + 24, 4);
    uint64_t begin = little(record + 42, 4);
    if (s->packed_left == UINT32_MAX || s->unpacked_left == UINT32_MAX || begin == UINT32_MAX)
        return rf_fail(error, size, "%s: member %.*s is over 4 GB; save it as .npy", a->path, length, name);
    if ((method != 0 && method != 8) || (little(record + 8, 2) & 1))
        return rf_fail(error, size, "%s: member %.*s is encrypted, or neither stored nor deflated", a->path, length,
                       name);
    if (read_at(a->file, begin, local, sizeof local) < 0 || memcmp(local, "PK\3\4", 4) != 0)
        return rf_fail(error, size, "%s: damaged zip archive: no member at byte %llu", a->path,
                       (unsigned long long)begin);
    begin += LOCAL_RECORD + little(local + 26, 2) + little(local + 28, 2);
    if (begin > a->bytes || s->packed_left > a->bytes - begin || (method == 0 && s->packed_left != s->unpacked_left) ||
        s->unpacked_left / DEFLATE_AT_BEST > s->packed_left || fseeko(a->file, (off_t)begin, SEEK_SET) != 0)
        return rf_fail(error, size, "%s: damaged zip archive: the sizes of member %.*s", a->path, length, name);
    snprintf(s->name, sizeof s->name, "%s(%.*s)", a->path, length, name);
    s->archive = a->file;
    s->max = s->unpacked_left;
    s->crc = crc32(0, NULL, 0);
    if (method == 8 && inflateInit2(&s->inflate, -MAX_WBITS) != Z_OK)
        return rf_fail(error, size, "%s: out of memory", a->path);
    s->deflated = method == 8;
    return 0;
}

static tables_stream *open_member(const tables_archive *a, const unsigned char *record, char *error, size_t size)
{
    tables_stream *s = stream_new(a->path);
    if (!s)
        rf_fail(error, size, "%s: out of memory", a->path);
    if (!s || begin_member(s, a, record, error, size) < 0) {
        tables_stream_close(s);
        return NULL;
    }
    return s;
}

tables_stream *tables_archive_find(const tables_archive *a, const char *const names[], char *error, size_t size)
{
    error[0] = '\0';
    const unsigned char *record = find_member(a, names, error, size);
    return record ? open_member(a, record, error, size) : NULL;
}

/* Is it a file, and not a directory or what macOS adds? */
static int is_file(const unsigned char *record)
{
    static const char added[] = "__MACOSX/";
    const size_t length = little(record + 28, 2);
    const char *name = (const char *)record + MEMBER_RECORD;
    return length > 0 && name[length - 1] != '/' &&
           strncmp(name, added, length < strlen(added) ? length : strlen(added)) != 0;
}

/* Opens a zip archive of one file. NULL with a message. */
static tables_stream *open_only_member(const char *path, char *error, size_t size)
{
    tables_archive *a = tables_archive_open(path, error, size);
    const unsigned char *only = NULL;
    unsigned files = 0;
    for (size_t at = 0; a && at < a->length; at += record_length(a->directory + at))
        if (is_file(a->directory + at)) {
            only = a->directory + at;
            files++;
        }
    if (a && files != 1)
        rf_fail(error, size, "%s: has %u files, not one; unpack it, or save the table as CSV", path, files);
    tables_stream *s = files == 1 ? open_member(a, only, error, size) : NULL;
    if (s)
        s->own = a;
    else
        tables_archive_close(a);
    return s;
}

/* Inflates or copies; -1 if the member is damaged. */
static long member_some(tables_stream *s, void *to, size_t bytes)
{
    unsigned want = (unsigned)(bytes < s->unpacked_left ? bytes : s->unpacked_left);
    s->inflate.next_out = to;
    s->inflate.avail_out = want;
    while (s->inflate.avail_out > 0) {
        if (s->inflate.avail_in == 0) {
            size_t part = s->packed_left < BUFFER ? (size_t)s->packed_left : BUFFER;
            s->inflate.avail_in = (unsigned)fread(s->buffer, 1, part, s->archive);
            s->inflate.next_in = s->buffer;
            s->packed_left -= s->inflate.avail_in;
            if (s->inflate.avail_in == 0)
                return -1;
        }
        if (s->deflated) {
            int status = inflate(&s->inflate, Z_NO_FLUSH);
            if (status != Z_OK && !(status == Z_STREAM_END && s->inflate.avail_out == 0))
                return -1;
        } else {
            unsigned part = s->inflate.avail_in < s->inflate.avail_out ? s->inflate.avail_in : s->inflate.avail_out;
            memcpy(s->inflate.next_out, s->inflate.next_in, part);
            s->inflate.next_out += part;
            s->inflate.avail_out -= part;
            s->inflate.next_in += part;
            s->inflate.avail_in -= part;
        }
    }
    s->crc = crc32(s->crc, to, want);
    s->unpacked_left -= want;
    return s->unpacked_left == 0 && (uint32_t)s->crc != s->crc_expected ? -1 : (long)want;
}

/* ---- Reading ---- */

long tables_stream_some(tables_stream *s, void *to, size_t bytes, char *error, size_t size)
{
    enum { AT_ONCE = 1 << 30 };
    unsigned want = bytes < AT_ONCE ? (unsigned)bytes : AT_ONCE;
    long got = s->gz ? gzread(s->gz, to, want) : member_some(s, to, want);
    int status = Z_OK;
    if (s->gz && got >= 0 && got < (long)want)
        gzerror(s->gz, &status); /* zlib reports a truncated file only here */
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
        return rf_fail(error, size, "%s: damaged compressed data after byte %llu of its contents", s->name,
                       (unsigned long long)s->at + (got > 0 ? (unsigned long long)got : 0));
    s->at += (uint64_t)got;
    return got;
}

int tables_stream_read(tables_stream *s, void *to, size_t bytes, char *error, size_t size)
{
    for (size_t done = 0; done < bytes;) {
        long got = tables_stream_some(s, (unsigned char *)to + done, bytes - done, error, size);
        if (got < 0)
            return -1;
        if (got == 0)
            return rf_fail(error, size, "%s: ends at byte %llu, %llu bytes too early", s->name,
                           (unsigned long long)s->at, (unsigned long long)(bytes - done));
        done += (size_t)got;
    }
    return 0;
}

int tables_stream_end(tables_stream *s, char *error, size_t size)
{
    unsigned char more;
    long got = tables_stream_some(s, &more, 1, error, size);
    if (got > 0)
        return rf_fail(error, size, "%s: has more data than it declares, from byte %llu on", s->name,
                       (unsigned long long)(s->at - 1));
    return got < 0 ? -1 : 0;
}
