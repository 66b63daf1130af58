/* Measures a firmware while it runs: its simulated world calls these functions around each experiment. */
#ifndef REJFILT_PORTS_RUN_H
#define REJFILT_PORTS_RUN_H

#include <stdint.h>

/* Call it when the firmware asks for an experiment with these settings; `truth` is the current truth. Prints all
   three bit for bit. After RUN_EXPERIMENTS it prints the stack depth and ends the program. */
enum { RUN_EXPERIMENTS = 300 };
void run_asked(uint32_t time, uint32_t reference, uint32_t truth);

/* Call it when the answer is returned: the stack is watched until the next question. */
void run_answered(void);

/* Provided by each board. */
void board_put(const char *text);
_Noreturn void board_exit(int code);

#endif
