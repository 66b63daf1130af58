/* Internal to tables. */
#ifndef REJFILT_CLASSIFY_TABLE_H
#define REJFILT_CLASSIFY_TABLE_H

#include "few.h"

/* Memory for data with random access, on large pages where the system has them; free it by free(). */
void *rfc_huge(size_t bytes);

/* Keeps those rows i for which keep(context, i) is true, in order. */
void rfc_table_keep(rfc_table *table, int (*keep)(const void *context, uint32_t row), const void *context);

#endif
