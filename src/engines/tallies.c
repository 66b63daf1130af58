/* Memory for private tallies. */
#include "engine.h"

#include <stdlib.h>

#define LINE 64u

int rf_tallies_make(rf_tallies *tallies, unsigned count, unsigned dim)
{
    if (tallies->memory && count <= tallies->count && dim <= tallies->dim)
        return 0;
    size_t bytes = rf64_tally_bytes(dim) > rf32_tally_bytes(dim) ? rf64_tally_bytes(dim) : rf32_tally_bytes(dim);
    if (bytes == 0)
        return -1;
    size_t stride = (bytes + RF_TALLY_GUARD + LINE - 1) / LINE * LINE;
    unsigned char *memory = aligned_alloc(LINE, stride * count);
    if (!memory)
        return -1;
    rf_tallies made = {memory, stride, count, dim};
    rf_tallies_free(tallies);
    *tallies = made;
    return 0;
}

void rf_tallies_free(rf_tallies *tallies)
{
    free(tallies->memory);
    tallies->memory = NULL;
}
