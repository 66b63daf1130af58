/* Cortex-M under QEMU: vector table, and semihosting for output and exit. */
#include "run.h"

extern uint32_t stack_high[];
void start(void);

#define CPACR (*(volatile uint32_t *)0xe000ed88u)

void reset(void)
{
#if defined(__ARM_FP)
    CPACR |= 0xfu << 20; /* the floating-point unit is off after reset */
    __asm__ volatile("dsb\n\tisb");
#endif
    start();
    board_exit(1);
}

static void fault(void) { board_exit(70); }

static const struct {
    uint32_t *stack;
    void (*handler[15])(void);
} vectors __attribute__((section(".vectors"), used)) = {stack_high, {reset, fault, fault, fault, fault, fault}};

static void semihost(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_put(const char *text) { semihost(0x04, text); }

void board_exit(int code)
{
    const uint32_t why[] = {0x20026, (uint32_t)code}; /* the application ended normally */
    for (;;)
        semihost(0x20, why);
}
