/* Batches: records that belong together. */
#include "session_state.h"

#include <math.h>

rf_batch_state rf_batch_add(rf_batch *batch, const rf_record *record, uint64_t id)
{
    if (!batch || !record || batch->count > RF_BATCH_MAX)
        return RF_BATCH_FULL;
    const int is_missing = isnan(record->outcome), is_new = batch->count == 0;
    if (!is_new && (is_missing || id != batch->id || (id == 0 && batch->count >= batch->together)))
        return RF_BATCH_NEXT;
    if (batch->count == RF_BATCH_MAX)
        return RF_BATCH_FULL;
    batch->record[batch->count++] = *record;
    batch->id = id;
    return is_missing || (id == 0 && batch->count >= batch->together) ? RF_BATCH_WHOLE : RF_BATCH_OPEN;
}
