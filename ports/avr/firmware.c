/* Tracks a drifting frequency on an ATtiny: at each tick of timer 0 it chooses an experiment, reads the outcome and
   learns. The instrument is at I/O registers: six bytes of settings are written to EEDR (the EEPROM's data register,
   a plain latch while the EEPROM is idle); the outcome is read from pin PB0. EEAR marks the begin (1) and the end
   (2) of an update. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>

#ifndef TIMSK0 /* its name on the ATtiny25 and its relatives */
#define TIMSK0 TIMSK
#endif

#include "fixed.c" /* one translation unit: functions are inlined, and live values stay in registers */

#include "task.h"

__attribute__((section(".noinit"))) rfi_filter filter; /* rfi_init sets it, so no code to clear it is linked */

/* The vector table. Only two vectors are used; the space between is left empty. A tick sets the latch of the unused
   pin PB4. That is one instruction and changes no flag, so an interrupt needs two bytes of stack, for the return
   address. */
__attribute__((naked, used, section(".vectors"))) void vectors(void)
{
    __asm__("rjmp main\n\t"
            ".space %0\n"
            ".global tick\n"
            "tick:\n\t"
            "sbi %1, 4\n\t"
            "reti" ::"i"(2 * (TIM0_OVF_vect_num - 1)),
            "I"(_SFR_IO_ADDR(PORTB)));
}

/* No start-up code: after a reset the stack pointer is right, and rfi_init sets the only variable. */
__attribute__((OS_main)) int main(void)
{
    __asm__ volatile("clr __zero_reg__");
    TCCR0B = _BV(CS02) | _BV(CS00); /* a tick every 256·1024 cycles */
    TIMSK0 = _BV(TOIE0);
    MCUCR = _BV(SE);
    rfi_filter *f; /* the asm hides the known address from the compiler: access by Y + n is one word shorter */
    __asm__("" : "=r"(f) : "0"(&filter));
    rfi_init(f, TASK_MEAN, TASK_SD, TASK_SEED);
    for (;;) {
        for (;;) {
            cli();
            if (PORTB & _BV(4))
                break;
            sei(); /* takes effect after the next instruction, so no tick can come between the check and sleep_cpu() */
            sleep_cpu();
        }
        PORTB &= (uint8_t)~_BV(4);
        sei();
        EEARL = 1;
        rfi_diffuse(f, TASK_Q);
        rfi_ask(f, RFI_QUADRATURE);
        const union {
            uint16_t word;
            uint8_t byte[2];
        } time = {rfi_time(f)};
        EEDR = time.byte[0];
        EEDR = time.byte[1];
        const union {
            int32_t word;
            uint8_t byte[4];
        } reference = {rfi_reference(f)};
        EEDR = reference.byte[0];
        EEDR = reference.byte[1];
        EEDR = reference.byte[2];
        EEDR = reference.byte[3];
        rfi_learn(f, PINB & 1);
        EEARL = 2;
    }
}
