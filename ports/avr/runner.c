/* Simulates the drifting oscillator for a firmware in simavr, and measures the firmware: flash, static memory, true
   peak of the stack, cycles per update. The same filter runs here on the same outcomes; every byte of both is
   compared after every update. Exit status 1 if they differ, or if a budget is exceeded. Compile with the firmware's
   RFI_WITH_….
      usage: runner MCU FIRMWARE.elf BUDGET [TRIALS [STEPS]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simavr/avr_ioport.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_core.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>

#define RFI_LIKELIHOOD counted
#include "fixed.c"

#include "rejfilt/rejfilt.h"
#include "task.h"

enum { EEDR = 0x3d, EEAR = 0x3e };            /* registers for the firmware's settings and marks */
enum { MEMORY = 0x60 };                       /* first address of RAM on these chips */
enum { BEGIN = 1, END = 2 };                  /* marks */
enum { SETTINGS = 6 };                        /* bytes of the settings */
enum { BURN_IN = 100, LOST_STEPS = 20, LOST_SIGMAS = 5 };
enum { STUCK_AT = 200, STUCK_FOR = 40 };        /* fault of the detector, in every trial */
enum { PATIENCE = 50000000 };                 /* cycles until an update is given up */

static unsigned attempts; /* of the filter on this machine, in the current update */

uint8_t counted(const rfi_filter *f, int8_t z, uint8_t angle, uint8_t outcome)
{
    (void)f, (void)z;
    attempts++;
    return rfi_cosine(angle, outcome);
}

_Noreturn static void fail(const char *what, const char *which)
{
    fprintf(stderr, "runner: %s%s\n", what, which);
    exit(2);
}

/* ---- The world ---- */

typedef struct world {
    avr_t *avr;
    rfi_filter own;
    uint32_t trial, step;
    double truth; /* in units */
    uint8_t setting[SETTINGS], told;
    uint16_t filter_at;             /* address of the firmware's filter */
    int finished;                   /* the current update is finished */
    uint64_t begun;                 /* first cycle of the update */
    uint64_t cycles_most, passes_most_cycles; /* largest number for updates of one pass; for all */
    unsigned passes_most, differences, far;
} world;

static rf_words draw(const world *w, uint32_t block) { return rf_draw(TASK_SEED, w->trial, w->step, block, RF_FOR_TRUTH); }

static void move_truth(world *w)
{
    const rf_words words = draw(w, 0);
    double z, other;
    rf64_normal_pair(words.word[0], words.word[1], &z, &other);
    w->truth = w->step ? w->truth + z * sqrt((double)TASK_Q) : TASK_MEAN + (rf64_uniform(words.word[2]) - 0.5) * sqrt(12) * TASK_SD;
}

static uint32_t little_endian(const uint8_t *bytes, int count)
{
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

/* Is the detector stuck? Alternately at 0 and at 1. */
static int is_out(const world *w) { return w->step >= STUCK_AT && w->step < STUCK_AT + STUCK_FOR; }

static uint8_t measure(const world *w)
{
    const double time = little_endian(w->setting, 2) * 0x1p-26 * 6.283185307179586;
    const double angle = time * (w->truth - (int32_t)little_endian(w->setting + 2, 4));
    if (is_out(w))
        return w->trial % 2;
    return rf64_uniform(draw(w, 1).word[0]) <= (1 + cos(angle)) / 2;
}

static void differ(world *w, const char *what, long theirs, long own)
{
    if (w->differences++ == 0)
        fprintf(stderr, "runner: trial %u, step %u: %s is %ld in the firmware, %ld here\n", w->trial, w->step, what, theirs, own);
}

static void same(world *w, const char *what, uint32_t theirs, uint32_t own)
{
    if (theirs != own)
        differ(w, what, (long)(int32_t)theirs, (long)(int32_t)own);
}

static void compare(world *w)
{
    const uint8_t *theirs = w->avr->data + w->filter_at;
    same(w, "random", little_endian(theirs, 2), w->own.random);
    same(w, "mean", little_endian(theirs + 2, 4), (uint32_t)w->own.mean);
    same(w, "sd", little_endian(theirs + 6, 2), w->own.sd);
    same(w, "widest", little_endian(theirs + 8, 2), w->own.widest);
    same(w, "slope", theirs[10], w->own.slope);
    same(w, "phase", theirs[11], (uint8_t)w->own.phase);
    same(w, "due", theirs[12], w->own.due);
    same(w, "alike", theirs[13], w->own.alike);
    theirs += 14;
#if RFI_WITH_HOME
    same(w, "home", little_endian(theirs, 4), (uint32_t)w->own.home);
    theirs += 4;
#endif
#if RFI_WITH_EVIDENCE
    same(w, "evidence", little_endian(theirs, 4), (uint32_t)w->own.evidence);
#endif
}

/* All settings have arrived: the world answers, and the filter here learns from the same outcome. */
static void answer(world *w)
{
    rfi_diffuse(&w->own, TASK_Q);
    rfi_ask(&w->own, RFI_QUADRATURE);
    same(w, "time", little_endian(w->setting, 2), rfi_time(&w->own));
    same(w, "reference", little_endian(w->setting + 2, 4), (uint32_t)rfi_reference(&w->own));
    const uint8_t outcome = measure(w);
    avr_raise_irq(avr_io_getirq(w->avr, AVR_IOCTL_IOPORT_GETIRQ('B'), 0), outcome);
    attempts = 0;
    rfi_learn(&w->own, outcome);
}

static void on_setting(avr_t *avr, avr_io_addr_t address, uint8_t value, void *user)
{
    world *w = user;
    avr->data[address] = value;
    if (w->told < SETTINGS)
        w->setting[w->told++] = value;
    if (w->told == SETTINGS)
        answer(w);
}

static void on_mark(avr_t *avr, avr_io_addr_t address, uint8_t value, void *user)
{
    world *w = user;
    avr->data[address] = value;
    if (value == BEGIN) {
        w->begun = avr->cycle;
        w->told = 0;
    }
    if (value != END)
        return;
    const uint64_t cycles = avr->cycle - w->begun;
    const unsigned passes = attempts / RFI_ATTEMPTS;
    if (passes == 1 && cycles > w->cycles_most)
        w->cycles_most = cycles;
    if (cycles > w->passes_most_cycles) {
        w->passes_most_cycles = cycles;
        w->passes_most = passes;
    }
    w->finished = 1;
}

/* ---- The chip ---- */

typedef struct stack {
    unsigned top, peak, interrupt; /* SP of an empty stack; bytes outside interrupts, and of an interrupt */
    unsigned vector;               /* address of the one interrupt in use */
    unsigned before;               /* SP when the interrupt came; 0: not in an interrupt */
} stack;

static void no_sleep(avr_t *avr, avr_cycle_count_t how_long) { (void)avr, (void)how_long; }

static void watch_stack(stack *s, const avr_t *avr, unsigned sp_before)
{
    const unsigned sp = _avr_sp_get((avr_t *)avr);
    if (s->before == 0 && avr->pc == s->vector)
        s->before = sp_before;
    if (s->before != 0 && sp == s->before)
        s->before = 0;
    const unsigned used = s->before ? s->before - sp : s->top - sp;
    unsigned *most = s->before ? &s->interrupt : &s->peak;
    if (used > *most)
        *most = used;
}

static void run_update(world *w, stack *s)
{
    const uint64_t end = w->avr->cycle + PATIENCE;
    w->finished = 0;
    while (!w->finished) {
        const unsigned before = _avr_sp_get(w->avr);
        const int state = avr_run(w->avr);
        if (state == cpu_Done || state == cpu_Crashed || w->avr->cycle > end)
            fail("the firmware stopped", "");
        watch_stack(s, w->avr, before);
    }
}

static uint16_t find_symbol(const elf_firmware_t *firmware, const char *name)
{
    for (uint32_t i = 0; i < firmware->symbolcount; i++)
        if (strcmp(firmware->symbol[i]->symbol, name) == 0)
            return (uint16_t)firmware->symbol[i]->addr;
    fail("the firmware has no symbol ", name);
}

static avr_t *start(const char *mcu, elf_firmware_t *firmware)
{
    avr_t *avr = avr_make_mcu_by_name(mcu);
    if (!avr)
        fail("simavr does not know the chip ", mcu);
    avr_init(avr);
    avr->log = LOG_ERROR;
    avr->sleep = no_sleep;
    if (firmware->flashsize > avr->flashend + 1)
        fail("the firmware is larger than the flash of an ", mcu);
    avr_load_firmware(avr, firmware);
    avr->frequency = 8000000;
    return avr;
}

/* ---- Budget ---- */

typedef struct measured {
    const char *name;
    unsigned long value;
} measured;

/* Compares with the lines `chip.name = limit` of a file. Returns the number of values that exceed their limit or
   have none. */
static int check_budget(const char *path, const char *mcu, const measured *all, int count)
{
    int bad = 0;
    for (int i = 0; i < count; i++) {
        FILE *in = fopen(path, "r");
        char line[200], chip[32], name[32];
        unsigned long limit = 0, found = 0, value;
        if (!in)
            fail("cannot open ", path);
        while (!found && fgets(line, sizeof line, in))
            if (sscanf(line, " %31[^.#] . %31[a-z_] = %lu", chip, name, &value) == 3 && !strcmp(chip, mcu) && !strcmp(name, all[i].name))
                found = 1, limit = value;
        fclose(in);
        if (!found || all[i].value > limit) {
            fprintf(stderr, "runner: %s.%s is %lu, budget %lu%s\n", mcu, all[i].name, all[i].value, limit, found ? "" : " (none given)");
            bad++;
        }
        printf("  %-16s %7lu  of %7lu\n", all[i].name, all[i].value, limit);
    }
    return bad;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        fail("usage: runner MCU FIRMWARE.elf BUDGET [TRIALS [STEPS]]", "");
    const unsigned trials = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 4, steps = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 300;
    elf_firmware_t firmware = {0};
    if (trials == 0 || steps <= BURN_IN)
        fail("there must be a trial, and more than 100 steps", "");
    if (elf_read_firmware(argv[2], &firmware) != 0)
        fail("cannot read ", argv[2]);
    double *errors = malloc(sizeof *errors * trials * (steps - BURN_IN));
    if (!errors)
        fail("not enough memory", "");
    world w = {.filter_at = find_symbol(&firmware, "filter")};
    stack s = {.vector = find_symbol(&firmware, "tick")};
    unsigned lost = 0, count = 0;
    for (w.trial = 0; w.trial < trials; w.trial++) {
        w.avr = start(argv[1], &firmware);
        s.top = w.avr->ramend;
        s.before = 0;
        avr_register_io_write(w.avr, EEDR, on_setting, &w);
        avr_register_io_write(w.avr, EEAR, on_mark, &w);
        rfi_init(&w.own, TASK_MEAN, TASK_SD, TASK_SEED);
        w.far = 0;
        for (w.step = 0; w.step < steps; w.step++) {
            move_truth(&w);
            run_update(&w, &s);
            compare(&w);
            const double error = w.own.mean - w.truth;
            w.far += !is_out(&w) && fabs(error) > LOST_SIGMAS * (double)w.own.sd;
            if (w.step >= BURN_IN && !is_out(&w))
                errors[count++] = error * error / TASK_Q;
        }
        lost += w.far > LOST_STEPS;
        avr_terminate(w.avr);
        free(w.avr);
    }
    qsort(errors, count, sizeof *errors, ascending);
    printf("%s: %u updates, %u differences from the same code here; median squared error %.2f q, %u of %u tracks lost\n", argv[1],
           trials * steps, w.differences, errors[count / 2], lost, trials);
    printf("  an update of %u passes took %llu cycles, the longest\n", w.passes_most, (unsigned long long)w.passes_most_cycles);
    const unsigned long fixed = find_symbol(&firmware, "_end") - (unsigned long)MEMORY;
    const measured all[] = {{"flash", firmware.flashsize},
                            {"static", fixed},
                            {"stack", s.peak},
                            {"interrupt", s.interrupt},
                            {"memory", fixed + s.peak + s.interrupt},
                            {"cycles", (unsigned long)w.cycles_most}};
    free(errors);
    return check_budget(argv[3], argv[1], all, 6) > 0 || w.differences > 0;
}
