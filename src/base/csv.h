/* CSV fields after RFC 4180, for reading and writing. */
#ifndef REJFILT_CSV_H
#define REJFILT_CSV_H

#include <stdio.h>

/* Writes the parts (ending in null) as one field. It is quoted if it is empty, has separators, quotes or line ends, begins
   or ends with a blank, or looks like a comment. */
void rf_csv_write(FILE *out, const char *const parts[]);
#define rf_csv_field(out, ...) rf_csv_write(out, (const char *const[]){__VA_ARGS__, NULL})

/* Writes a word of a blank-separated list; a word with blanks is quoted. */
void rf_csv_word(FILE *out, const char *word);

/* The separator of a line: the most frequent of , ; and tab outside quotes. */
char rf_csv_separator(const char *line);

/* Does the line end inside quotes, so that its last field continues in the next line? `was_open`: it began inside quotes. A
   separator of zero means any. */
int rf_csv_is_open(const char *line, char separator, int was_open);

/* Extracts the field at *at in place, without quotes and surrounding blanks. *at moves past the separator, or becomes NULL
   after the last field. Returns the field, or NULL with a message. */
char *rf_csv_cut(char **at, char separator, char *error, size_t size);

/* The text of a number with a decimal point: between semicolons 3,5 is 3.5. Returns `text`, or a copy in `point`. */
enum { RF_CSV_NUMBER = 32 };
const char *rf_csv_number(const char *text, char separator, char point[RF_CSV_NUMBER]);

#endif
