/* The first byte chooses the precision; the rest chooses the operations. */
#include "fuzz.h"
#include "numerics.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count > 0)
        (bytes[0] & 1 ? rf64_numerics : rf32_numerics)(bytes + 1, count - 1);
    return 0;
}
