/* Memory for private tallies. */
#include "engine.h"

#include <stdlib.h>

#define LINE 64u

int rf_room_make(rf_room *room, unsigned tallies, unsigned dim)
{
    if (room->memory && tallies <= room->tallies && dim <= room->dim)
        return 0;
    size_t bytes = rf64_tally_bytes(dim) > rf32_tally_bytes(dim) ? rf64_tally_bytes(dim) : rf32_tally_bytes(dim);
    if (bytes == 0)
        return -1;
    size_t stride = (bytes + RF_ROOM_GUARD + LINE - 1) / LINE * LINE;
    unsigned char *memory = aligned_alloc(LINE, stride * tallies);
    if (!memory)
        return -1;
    rf_room made = {memory, stride, tallies, dim};
    rf_room_free(room);
    *room = made;
    return 0;
}

void rf_room_free(rf_room *room)
{
    free(room->memory);
    room->memory = NULL;
}
