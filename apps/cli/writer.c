#include "writer.h"

#include <string.h>

#include "cli.h"

void cli_writer_open(cli_writer *w, FILE *out)
{
    w->out = out;
    w->size = 0;
    w->known = w->next = 0;
}

void cli_writer_flush(cli_writer *w)
{
    fwrite(w->waiting, 1, w->size, w->out);
    w->size = 0;
    w->known = w->next = 0;
}

void cli_writer_put(cli_writer *w, const char *bytes, size_t size)
{
    if (w->size + size > sizeof w->waiting)
        cli_writer_flush(w);
    memcpy(w->waiting + w->size, bytes, size);
    w->size += size;
}

/* Room for one number. */
static char *room_in(cli_writer *w)
{
    if (w->size + RF_REAL_TEXT > sizeof w->waiting)
        cli_writer_flush(w);
    return w->waiting + w->size;
}

void cli_writer_real(cli_writer *w, double value)
{
    char *const to = room_in(w);
    uint64_t bits;
    unsigned i = 0;
    memcpy(&bits, &value, sizeof bits);
    while (i < w->known && w->recent[i].bits != bits)
        i++;
    if (i < w->known) {
        memmove(to, w->waiting + w->recent[i].at, RF_REAL_TEXT); /* what follows the number is overwritten later */
    } else {
        i = w->next;
        w->next = (i + 1) % 4;
        w->known += w->known < 4;
        w->recent[i].bits = bits;
        w->recent[i].at = w->size;
        w->recent[i].size = rf_real_digits(value, to);
    }
    w->size += w->recent[i].size;
}

void cli_writer_whole(cli_writer *w, uint64_t value)
{
    char *const to = room_in(w);
    w->size += value < 10 ? (*to = (char)('0' + value), 1u) : rf_whole_digits(value, to);
}
