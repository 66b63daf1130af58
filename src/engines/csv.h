/* Fields of CSV as RFC 4180 has them, for all that writes and reads such files. */
#ifndef REJFILT_CSV_H
#define REJFILT_CSV_H

#include <stdio.h>

/* Writes the parts, which end in null, as one field: in quotes where it has separators, quotes or line ends, where it
   begins or ends with a blank, where it would look like a comment, and where it is empty. */
void rf_csv_write(FILE *out, const char *const parts[]);
#define rf_csv_field(out, ...) rf_csv_write(out, (const char *const[]){__VA_ARGS__, NULL})

/* Writes a word of a list that has blanks between its words; also where it has blanks, it is in quotes. */
void rf_csv_word(FILE *out, const char *word);

/* Which of , ; and tab separates the fields of a line: the one that is most frequent outside quotes. */
char rf_csv_separator(const char *line);

/* Does the line end inside quotes, so that the next one is part of its last field? `was_open`: it began so. A separator
   of zero is any. */
int rf_csv_is_open(const char *line, char separator, int was_open);

/* Cuts the field at *at out of a line, in place, without its quotes and the blanks around it. *at becomes what comes
   behind the separator, or null after the last field. Returns the field, or null with a message. */
char *rf_csv_cut(char **at, char separator, char *error, size_t size);

#endif
