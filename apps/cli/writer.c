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
}

void cli_writer_put(cli_writer *w, const char *bytes, size_t size)
{
    if (w->size + size > sizeof w->waiting)
        cli_writer_flush(w);
    memcpy(w->waiting + w->size, bytes, size);
    w->size += size;
}

void cli_writer_real(cli_writer *w, double value)
{
    unsigned i = 0;
    while (i < w->known && memcmp(&w->recent[i].value, &value, sizeof value) != 0)
        i++;
    if (i == w->known) {
        i = w->next;
        w->next = (i + 1) % 4;
        w->known += w->known < 4;
        w->recent[i].value = value;
        w->recent[i].size = cli_real_digits(value, w->recent[i].text);
    }
    cli_writer_put(w, w->recent[i].text, w->recent[i].size);
}

void cli_writer_whole(cli_writer *w, uint64_t value)
{
    char text[CLI_REAL_TEXT];
    cli_writer_put(w, text, cli_whole_digits(value, text));
}
