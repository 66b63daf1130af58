/* The task of the paper's tracking figure, in units of 2⁻¹⁵ rad: a uniform prior on 0..π/2, a walk with steps of
   π/120. */
#ifndef REJFILT_PORTS_AVR_TASK_H
#define REJFILT_PORTS_AVR_TASK_H

#define TASK_UNIT (1.0 / 32768) /* rad */
#define TASK_MEAN 25736         /* π/4 */
#define TASK_SD 14859           /* π/2/√12 */
#define TASK_Q UINT32_C(735931) /* (π/120)² */
#define TASK_SEED 1

#endif
