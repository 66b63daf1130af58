/* What measures a firmware while it runs: its world calls these around each experiment. */
#ifndef REJFILT_PORTS_RUN_H
#define REJFILT_PORTS_RUN_H

#include <stdint.h>

/* The firmware asks for an experiment with these settings, which are written out. Returns its number; the last, number
   RUN_EXPERIMENTS, ends the program and writes how deep the stack was. */
enum { RUN_EXPERIMENTS = 300 };
uint32_t run_asked(uint32_t first, uint32_t second);

/* It gets its answer: its stack is watched until it asks again. */
void run_answered(void);

/* What a board brings. */
void board_put(const char *text);
_Noreturn void board_exit(int code);

#endif
