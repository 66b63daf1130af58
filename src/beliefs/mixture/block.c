/* The functions of block.h for one target, RF_KERNEL_TARGET, compiled with its flags. */
#include "block.h"

#define RF_PASTE_(target) rf_block_kernel_##target
#define RF_PASTE(target) RF_PASTE_(target)

extern const rf_block_kernel RF_PASTE(RF_KERNEL_TARGET);
const rf_block_kernel RF_PASTE(RF_KERNEL_TARGET) = {rf_points_place, rf_sums_add, rf_merger_costs, rf_line_below};
