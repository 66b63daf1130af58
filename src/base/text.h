/* Words and numbers in texts that people write. */
#ifndef REJFILT_TEXT_H
#define REJFILT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Read a decimal number in low..high; anything else in the text, 0x10, inf and nan are errors. Return 0, or -1 with a
   message. */
int rf_parse_real(const char *text, double low, double high, double *value, char *error, size_t size);
int rf_parse_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value, char *error, size_t size);

/* Same result as strtod, faster for plain decimals. */
double rf_real_read(const char *text, char **end);

/* Writes the shortest digits that read back as the same number to `text`. Returns `text`. */
enum { RF_REAL_TEXT = 32 };
const char *rf_real_text(double value, char text[RF_REAL_TEXT]);
/* The same, but returns the number of characters. */
size_t rf_real_digits(double value, char text[RF_REAL_TEXT]);
size_t rf_whole_digits(uint64_t value, char text[RF_REAL_TEXT]);

/* The entry of `names` (ending in null) closest to `name`, if close enough to be a typing error; else NULL. */
const char *rf_closest(const char *name, const char *const names[]);

/* Writes ", did you mean NAME?" with that entry, or "", to `text`. Returns `text`. */
enum { RF_SUGGESTION = 64 };
const char *rf_suggestion(const char *name, const char *const names[], char text[RF_SUGGESTION]);

/* The index of `value` among `names` (ending in null); -1 with a message. */
int rf_which(const char *value, const char *const names[], char *error, size_t size);

#endif
