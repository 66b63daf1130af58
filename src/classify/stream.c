#define _POSIX_C_SOURCE 200809L
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "engine.h"

enum {
    DEFLATE_AT_BEST = 1032,
    BUFFER = 1 << 16,
    END_RECORD = 22,
    END_SEARCH = END_RECORD + 65535,
    MEMBER_RECORD = 46,
    LOCAL_RECORD = 30
};

struct rf_stream {
    char name[512];
    uint64_t most, at; /* `at`: bytes read so far */
    gzFile gz;         /* or, for a member of an archive: */
    FILE *archive;
    int deflated;
    uint64_t packed_left, unpacked_left;
    uint32_t crc_expected;
    uLong crc;
    z_stream inflate;
    unsigned char buffer[BUFFER];
};

const char *rf_stream_name(const rf_stream *s) { return s->name; }
uint64_t rf_stream_most(const rf_stream *s) { return s->most; }

void rf_stream_close(rf_stream *s)
{
    if (!s)
        return;
    if (s->gz)
        gzclose_r(s->gz);
    if (s->archive)
        fclose(s->archive);
    if (s->deflated)
        inflateEnd(&s->inflate);
    free(s);
}

/* The descriptor of an ordinary file and its size, or -1 with a message. */
static int open_file(const char *path, uint64_t *bytes, char *error, size_t size)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rf_fail(error, size, "%s: %s", path, strerror(errno));
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        return rf_fail(error, size, "%s: not an ordinary file", path);
    }
    *bytes = (uint64_t)about.st_size;
    return fd;
}

static rf_stream *stream_new(const char *path)
{
    rf_stream *s = calloc(1, sizeof *s);
    if (s)
        snprintf(s->name, sizeof s->name, "%s", path);
    return s;
}

rf_stream *rf_stream_open(const char *path, char *error, size_t size)
{
    uint64_t bytes;
    int fd = open_file(path, &bytes, error, size);
    if (fd < 0)
        return NULL;
    rf_stream *s = stream_new(path);
    if (!s || !(s->gz = gzdopen(fd, "rb"))) {
        rf_fail(error, size, "%s: out of memory", path);
        close(fd);
        rf_stream_close(s);
        return NULL;
    }
    gzbuffer(s->gz, BUFFER);
    s->most = gzdirect(s->gz) ? bytes : bytes * DEFLATE_AT_BEST;
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

/* Reads the central directory's record number `index` and moves to where the member's bytes begin.
   Returns 1, 0 past the last member, or -1 with a message. */
static int find_member(rf_stream *s, uint64_t bytes, unsigned index, char *name, size_t name_size, char *error,
                       size_t size)
{
    unsigned char end[END_RECORD], record[MEMBER_RECORD], local[LOCAL_RECORD];
    if (find_end(s->archive, bytes, end) < 0)
        return rf_fail(error, size, "%s: not a zip archive, or its end is missing", s->name);
    uint64_t at = little(end + 16, 4);
    if (index >= little(end + 10, 2))
        return 0;
    for (unsigned i = 0;; i++) {
        if (read_at(s->archive, at, record, sizeof record) < 0 || memcmp(record, "PK\1\2", 4) != 0)
            return rf_fail(error, size, "%s: damaged zip archive: no member %u at byte %llu", s->name, i,
                           (unsigned long long)at);
        if (i == index)
            break;
        at += MEMBER_RECORD + little(record + 28, 2) + little(record + 30, 2) + little(record + 32, 2);
    }
    size_t length = little(record + 28, 2);
    if (length >= name_size || fread(name, 1, length, s->archive) != length)
        return rf_fail(error, size, "%s: damaged zip archive: the name of member %u", s->name, index);
    name[length] = '\0';
    unsigned method = little(record + 10, 2);
    s->crc_expected = little(record + 16, 4);
    s->packed_left = little(record + 20, 4);
    s->unpacked_left = little(record + 24, 4);
    uint64_t begin = little(record + 42, 4);
    if (s->packed_left == UINT32_MAX || s->unpacked_left == UINT32_MAX || begin == UINT32_MAX)
        return rf_fail(error, size, "%s: member %s is over 4 GB; save it as .npy", s->name, name);
    if ((method != 0 && method != 8) || (little(record + 8, 2) & 1))
        return rf_fail(error, size, "%s: member %s is neither stored nor deflated", s->name, name);
    if (read_at(s->archive, begin, local, sizeof local) < 0 || memcmp(local, "PK\3\4", 4) != 0)
        return rf_fail(error, size, "%s: damaged zip archive: no member at byte %llu", s->name,
                       (unsigned long long)begin);
    begin += LOCAL_RECORD + little(local + 26, 2) + little(local + 28, 2);
    if (begin > bytes || s->packed_left > bytes - begin || (method == 0 && s->packed_left != s->unpacked_left) ||
        s->unpacked_left / DEFLATE_AT_BEST > s->packed_left)
        return rf_fail(error, size, "%s: damaged zip archive: the sizes of member %s", s->name, name);
    fseeko(s->archive, (off_t)begin, SEEK_SET);
    s->deflated = method == 8;
    s->most = s->unpacked_left;
    size_t used = strlen(s->name);
    snprintf(s->name + used, sizeof s->name - used, "(%s)", name);
    return 1;
}

rf_stream *rf_stream_open_member(const char *path, unsigned index, char *name, size_t name_size, char *error,
                                 size_t size)
{
    uint64_t bytes;
    error[0] = '\0';
    int fd = open_file(path, &bytes, error, size);
    if (fd < 0)
        return NULL;
    rf_stream *s = stream_new(path);
    if (!s || !(s->archive = fdopen(fd, "rb"))) {
        rf_fail(error, size, "%s: out of memory", path);
        close(fd);
        rf_stream_close(s);
        return NULL;
    }
    if (find_member(s, bytes, index, name, name_size, error, size) <= 0) {
        s->deflated = 0;
        rf_stream_close(s);
        return NULL;
    }
    if (s->deflated && inflateInit2(&s->inflate, -MAX_WBITS) != Z_OK) {
        s->deflated = 0;
        rf_stream_close(s);
        rf_fail(error, size, "%s: out of memory", path);
        return NULL;
    }
    s->crc = crc32(0, NULL, 0);
    return s;
}

/* Inflates or copies; -1 when the member is damaged. */
static long member_some(rf_stream *s, void *to, size_t bytes)
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

long rf_stream_some(rf_stream *s, void *to, size_t bytes, char *error, size_t size)
{
    enum { AT_ONCE = 1 << 30 };
    unsigned want = bytes < AT_ONCE ? (unsigned)bytes : AT_ONCE;
    long got = s->gz ? gzread(s->gz, to, want) : member_some(s, to, want);
    int status = Z_OK;
    if (s->gz && got >= 0 && got < (long)want)
        gzerror(s->gz, &status); /* a file that ends too early reads as a short one */
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END))
        return rf_fail(error, size, "%s: damaged compressed data after byte %llu of its contents", s->name,
                       (unsigned long long)s->at + (got > 0 ? (unsigned long long)got : 0));
    s->at += (uint64_t)got;
    return got;
}

int rf_stream_read(rf_stream *s, void *to, size_t bytes, char *error, size_t size)
{
    for (size_t done = 0; done < bytes;) {
        long got = rf_stream_some(s, (unsigned char *)to + done, bytes - done, error, size);
        if (got < 0)
            return -1;
        if (got == 0)
            return rf_fail(error, size, "%s: ends at byte %llu, %llu bytes too early", s->name,
                           (unsigned long long)s->at, (unsigned long long)(bytes - done));
        done += (size_t)got;
    }
    return 0;
}

int rf_stream_end(rf_stream *s, char *error, size_t size)
{
    unsigned char more;
    long got = rf_stream_some(s, &more, 1, error, size);
    if (got > 0)
        return rf_fail(error, size, "%s: has more data than it declares, from byte %llu on", s->name,
                       (unsigned long long)(s->at - 1));
    return got < 0 ? -1 : 0;
}
