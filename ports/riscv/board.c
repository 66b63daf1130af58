/* RISC-V, QEMU's virt board: entry, serial port, power switch. */
#include "run.h"

#define SERIAL (*(volatile unsigned char *)0x10000000u)
#define SWITCH (*(volatile uint32_t *)0x00100000u)

__attribute__((naked, section(".vectors"), used)) void reset(void)
{
    __asm__ volatile(".option push\n\t"
                     ".option arch, +zicsr\n\t"
                     "la sp, stack_high\n\t"
                     "la t0, fault\n\t"
                     "csrw mtvec, t0\n\t"
                     "li t0, 0x2000\n\t" /* enables the floating-point unit, if there is one */
                     "csrs mstatus, t0\n\t"
                     ".option pop\n\t"
                     "j start");
}

__attribute__((aligned(4), used)) void fault(void) { board_exit(70); }

void board_put(const char *text)
{
    while (*text)
        SERIAL = (unsigned char)*text++;
}

void board_exit(int code)
{
    for (;;)
        SWITCH = code ? (uint32_t)code << 16 | 0x3333 : 0x5555;
}
