/* Tables of synthetic digits. */
#include <stdio.h>

#include "digit.h"
#include "engine.h"
#include "few.h"

int rfc_synthetic(uint64_t seed, uint32_t first, uint32_t count, rfc_table *t, char *error, size_t size)
{
    static const char *const digits[10] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    snprintf(t->source, sizeof t->source, "synthetic digits");
    t->features = RFC_DIGIT_SIDE * RFC_DIGIT_SIDE;
    t->height = t->width = RFC_DIGIT_SIDE;
    int status = rfc_table_reserve(t, count);
    for (unsigned i = 0; i < 10 && status == 0; i++)
        status = rfc_names_add(&t->labels, digits[i]);
    if (status < 0)
        return rf_fail(error, size, "out of memory for synthetic digits");
    t->rows = count;
    for (uint32_t i = 0; i < count; i++) {
        t->label[i] = (first + i) % 10;
        rfc_digit_draw(seed, first + i, t->label[i], t->bytes + (size_t)i * t->features);
    }
    return 0;
}
