/* Start-up code of every board, and the two functions that a freestanding compiler may call. */
#include <stddef.h>
#include <stdint.h>

extern uint32_t data_low[], data_high[], data_from[], bss_low[], bss_high[];
int main(void);

void start(void)
{
    for (uint32_t *to = data_low, *from = data_from; to < data_high;)
        *to++ = *from++;
    for (uint32_t *to = bss_low; to < bss_high;)
        *to++ = 0;
    main();
}

void *memcpy(void *to, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}

void *memset(void *to, int value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned char *)to)[i] = (unsigned char)value;
    return to;
}
