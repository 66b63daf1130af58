/* The functions of fixed.h (with -DDECAY: of decay.h), computed by the hardware. Preloaded into a program, they replace the C filter.
   One filter at a time. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vmodel.h"
#include "verilated.h"

#include "subject.h"

double sc_time_stamp() { return 0; }

enum { INIT = 1, DIFFUSE, ASK, ASK_PGH, LEARN_0, LEARN_1 };

static Vmodel top;
static unsigned long updates;

static void tick() { top.clk = 0, top.eval(), top.clk = 1, top.eval(); }

static void command(rfi_filter *f, int what)
{
    top.command = (uint8_t)what, top.start = 1;
    tick();
    top.start = 0;
    while (!top.ready)
        tick();
    *f = {top.random, (int32_t)top.mean, top.sd, top.widest, top.slope, (int8_t)top.phase, top.due, top.alike, (int32_t)top.home, (int32_t)top.evidence};
}

void rfi_init(rfi_filter *f, int32_t mean, uint16_t sd, uint16_t seed)
{
    top.reset = 1, tick(), top.reset = 0;
    top.operand = (uint32_t)mean, top.first_sd = sd, top.seed = seed;
    command(f, INIT);
}

void rfi_diffuse(rfi_filter *f, uint32_t q)
{
    top.operand = q;
    command(f, DIFFUSE);
}

uint8_t rfi_learn(rfi_filter *f, uint8_t outcome)
{
    command(f, outcome ? LEARN_1 : LEARN_0);
    updates++;
    return top.stuck ? (uint8_t)RFI_STUCK : (uint8_t)(top.count - 1);
}

#ifdef DECAY
void rfi_decay_ask(rfi_filter *f) { command(f, ASK); }
uint32_t rfi_decay_time(const rfi_filter *) { return top.duration; }
#else
void rfi_ask(rfi_filter *f, rfi_design design) { command(f, design == RFI_PGH ? ASK_PGH : ASK); }
uint16_t rfi_time(const rfi_filter *) { return (uint16_t)top.duration; }
int32_t rfi_reference(const rfi_filter *) { return (int32_t)top.base; }
#endif

/* shows that the hardware was used */
static void tell() { std::fprintf(stderr, "%lu updates by the hardware\n", updates); }
static const int told = std::atexit(tell);
