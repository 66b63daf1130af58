/* A drifting frequency, tracked by the hardware alone: the loop is started over the serial line; outcomes come in at the pins.
   Prints step, truth, estimate and its standard deviation, in radians. */
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vmodel.h"
#include "Vmodel___024root.h"
#include "verilated.h"

#include "subject.h"

double sc_time_stamp() { return 0; }

enum { DIVIDER = 4, STEPS = 400 };
static Vmodel top;
static uint64_t source = 5;
static unsigned long cycles;

static double uniform()
{
    uint64_t z = source += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((z ^ z >> 31) >> 11) * 0x1p-53 + 0x1p-54;
}

static void tick() { top.clk = 0, top.eval(), top.clk = 1, top.eval(), cycles++; }

static void send(uint8_t byte)
{
    const unsigned frame = 0x200u | (unsigned)byte << 1;
    for (int bit = 0; bit < 10; bit++) {
        top.rx = frame >> bit & 1;
        for (int k = 0; k < DIVIDER; k++)
            tick();
    }
}

static void put(int address, uint32_t word)
{
    send((uint8_t)(0xc0 | address));
    for (int k = 0; k < 4; k++)
        send((uint8_t)(word >> 8 * k));
}

int main()
{
    const double unit = 0x1p-15;
    double truth = subject_mean + 9000;
    top.rx = 1, top.answer = 0, top.reset = 1;
    for (int k = 0; k < 4; k++)
        tick();
    top.reset = 0;
    for (int k = 0; k < 50; k++)
        tick();
    put(4, (uint32_t)subject_mean);
    put(8, subject_sd | 1u << 16);
    send(0x80), send(1); /* init */
    put(4, (uint32_t)(subject_drift * subject_drift));
    send(0x80), send(8); /* loop */
    for (int step = 0; step < STEPS; step++) {
        const unsigned long from = cycles;
        while (!top.asking) {
            tick();
            if (cycles - from > 10000)
                return std::fprintf(stderr, "demo: the hardware does not ask\n"), 1;
        }
        const uint8_t outcome = subject_outcome_at(top.duration, (int32_t)top.base, truth, uniform());
        top.outcome = outcome, top.answer = 1;
        tick();
        top.answer = 0;
        for (int k = 0; k < 20; k++)
            tick();
        while (!top.asking)
            tick();
        const int32_t mean = (int32_t)top.rootp->rejfilt_uart__DOT__registers__DOT__filter__DOT__mean;
        std::printf("%d %.6f %.6f %.6f\n", step, truth * unit, mean * unit, top.rootp->rejfilt_uart__DOT__registers__DOT__filter__DOT__sd * unit);
        truth += subject_drift * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform());
    }
    return 0;
}
