/* Tables, inside. */
#ifndef REJFILT_CLASSIFY_TABLE_H
#define REJFILT_CLASSIFY_TABLE_H

#include "rejfilt/classify.h"

/* Memory for data that is read here and there, on large pages where the system has them; free() frees it. */
void *rfc_huge(size_t bytes);

/* Keeps the rows i with keep(context, i), in order. */
void rfc_table_keep(rfc_table *table, int (*keep)(const void *context, uint32_t row), const void *context);

#endif
