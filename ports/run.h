/* What measures a firmware while it runs: its world calls these around each experiment. */
#ifndef REJFILT_PORTS_RUN_H
#define REJFILT_PORTS_RUN_H

#include <stdint.h>

/* The firmware asks for an experiment with these settings, and this is the truth: they are written out, bit for bit.
   After RUN_EXPERIMENTS this ends the program, and writes how deep the stack was. */
enum { RUN_EXPERIMENTS = 300 };
void run_asked(uint32_t time, uint32_t reference, uint32_t truth);

/* It gets its answer: its stack is watched until it asks again. */
void run_answered(void);

/* What a board brings. */
void board_put(const char *text);
_Noreturn void board_exit(int code);

#endif
