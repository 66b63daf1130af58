/* The hardware beside fixed.c: both get the same commands, and after each the whole state and all answers must be the same.

       cosim UPDATES [SEED]     directed corners, then random commands until so many updates were made

   Prints the cycles each command took. Exit status 1 at the first difference. */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "Vmodel.h"
#include "Vmodel___024root.h"
#include "verilated.h"

#include "subject.h"

double sc_time_stamp() { return 0; }

enum { INIT = 1, DIFFUSE, ASK, ASK_PGH, LEARN_0, LEARN_1 };
static const char *const names[] = {"nothing", "init", "diffuse", "ask", "ask (PGH)", "learn", "learn"};

static uint64_t source = 1;

static uint32_t any() /* 32 random bits: splitmix64 */
{
    uint64_t z = source += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 32);
}

static double uniform() { return (any() + 0.5) / 4294967296.0; }
static double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }

struct Cycles {
    unsigned least = ~0u, most = 0;
    void take(unsigned n) { least = std::min(least, n), most = std::max(most, n); }
};

class Pair {
  public:
    rfi_filter f{};
    uint8_t accepted = 0;
    unsigned long updates = 0, commands = 0;
    std::map<std::string, Cycles> cycles;

    Pair() { reset(); }

    void tick()
    {
        top.clk = 0, top.eval();
        top.clk = 1, top.eval();
    }

    void reset()
    {
        top.start = 0, top.reset = 1;
        tick(), tick();
        top.reset = 0;
        tick();
        if (!top.ready)
            different("ready after reset", 0, 1);
    }

    void begin(int command)
    {
        if (any() % 4 == 0) /* some time later */
            for (unsigned k = any() % 24; k > 0; k--)
                tick();
        top.command = (uint8_t)command, top.start = 1;
        tick();
        top.start = 0;
    }

    unsigned finish()
    {
        unsigned n = 1;
        for (; !top.ready; n++) {
            if (n > 20000)
                different("ready", 0, 1);
            top.start = any() % 4 == 0; /* a command while busy is ignored */
            tick();
        }
        top.start = 0;
        return n;
    }

    void put(rfi_filter to) /* a state of our choice */
    {
        f = to;
        top.rootp->bench__DOT__filter__DOT__random = f.random;
        top.rootp->bench__DOT__filter__DOT__mean = (uint32_t)f.mean;
        top.rootp->bench__DOT__filter__DOT__sd = f.sd;
        top.rootp->bench__DOT__filter__DOT__widest = f.widest;
        top.rootp->bench__DOT__filter__DOT__slope = f.slope;
        top.rootp->bench__DOT__filter__DOT__phase = (uint8_t)f.phase;
        top.rootp->bench__DOT__filter__DOT__due = f.due;
        top.rootp->bench__DOT__filter__DOT__alike = f.alike;
        top.rootp->bench__DOT__filter__DOT__home = (uint32_t)f.home;
        top.rootp->bench__DOT__filter__DOT__evidence = (uint32_t)f.evidence;
        tick(), tick(), tick(); /* the next random number is computed */
        compare("put");
    }

    void init(int32_t mean, uint16_t sd, uint16_t seed)
    {
        top.operand = (uint32_t)mean, top.first_sd = sd, top.seed = seed;
        did(INIT);
        rfi_init(&f, mean, sd, seed);
        compare("init");
    }

    void diffuse(uint32_t q)
    {
        top.operand = q;
        did(DIFFUSE);
        rfi_diffuse(&f, q);
        compare("diffuse");
    }

    void ask(bool pgh)
    {
        did(pgh ? ASK_PGH : ASK);
        subject_ask(&f, pgh);
        compare("ask");
        check("time", top.duration, subject_time(&f));
        check("reference", top.base, (uint32_t)subject_reference(&f));
    }

    void learn(uint8_t outcome)
    {
        const rfi_filter before = f;
        begin(outcome ? LEARN_1 : LEARN_0);
        const unsigned n = finish();
        accepted = rfi_learn(&f, outcome);
        updates++;
        compare("learn");
        check("stuck", top.stuck, accepted == RFI_STUCK);
        if (accepted == RFI_STUCK) {
            cycles["stuck"].take(n);
            return;
        }
        check("accepted", (uint8_t)(top.count - 1), accepted);
        const bool widened = accepted <= 1 || (subject_anchor(&before) && (before.phase < 0) == (outcome != 0));
        check("lost", top.lost, widened);
        cycles["learn, " + std::to_string(top.passes) + (top.passes == 1 ? " pass" : " passes") + (widened ? ", widened" : "")].take(n);
    }


  private:
    Vmodel top;

    void did(int command)
    {
        begin(command);
        cycles[names[command]].take(finish());
        commands++;
    }

    void compare(const char *after)
    {
        last = after;
        check("random", top.random, f.random);
        check("mean", top.mean, (uint32_t)f.mean);
        check("sd", top.sd, f.sd);
        check("widest", top.widest, f.widest);
        check("slope", top.slope, f.slope);
        check("phase", top.phase, (uint8_t)f.phase);
        check("due", top.due, f.due);
        check("alike", top.alike, f.alike);
        check("home", top.home, (uint32_t)f.home);
        check("evidence", top.evidence, (uint32_t)f.evidence);
    }

    void check(const char *what, uint32_t hardware, uint32_t software)
    {
        if (hardware != software)
            different(what, hardware, software);
    }

    const char *last = "reset";
    [[noreturn]] void different(const char *what, uint32_t hardware, uint32_t software)
    {
        std::fprintf(stderr, "cosim: after %s (update %lu): %s is %lu in hardware, %lu in software\n", last, updates, what, (unsigned long)hardware,
                     (unsigned long)software);
        std::exit(1);
    }
};

static int32_t anywhere() /* a mean of any size: a decay waits for times between its limits below 2²⁰ */
{
    const unsigned smaller = any() % 24;
    return (int32_t)any() >> smaller;
}

static rfi_filter somewhere()
{
    rfi_filter f;
    rfi_init(&f, anywhere(), (uint16_t)(RFI_SD_LEAST + any() % (RFI_SD_MAX - RFI_SD_LEAST + 1)), (uint16_t)any());
    f.due = (uint8_t)(any() % 5);
    f.alike = (uint8_t)(any() % 42);
    f.home = anywhere();
    f.evidence = (int32_t)(any() % 2000000) - 1000000;
    return f;
}

static void corners(Pair &p)
{
    /* nothing is accepted: 20 passes, and the filter widens; then one or a few */
    for (unsigned k = 0; k < 400; k++) {
        rfi_filter f = somewhere();
        f.slope = (uint8_t)(k / 10);
        f.phase = subject_far;
        p.put(f);
        p.learn(subject_unlikely);
    }
    /* the evidence at its limits, and beside them */
    for (int sign = -1; sign <= 1; sign += 2)
        for (const int32_t d : {-30000, -20000, -9000, -3, -2, -1, 0, 1, 2}) {
            rfi_filter f = somewhere();
            f.evidence = sign * ((INT32_C(1) << 30) + d);
            p.put(f);
            for (unsigned k = 0; k < 6; k++)
                p.ask(k % 2), p.learn((uint8_t)(any() & 1));
        }
    /* sd at its limits, with every width of the prior; the mean wraps */
    for (unsigned k = 0; k < 300; k++) {
        rfi_filter f = somewhere();
        f.widest = (uint16_t)(k % 3 == 0 ? RFI_SD_LEAST : k % 3 == 1 ? (unsigned)RFI_SD_MAX : RFI_SD_LEAST + any() % (RFI_SD_MAX - RFI_SD_LEAST + 1));
        f.sd = k % 2 ? f.widest : (uint16_t)RFI_SD_LEAST;
        f.mean = k % 4 ? INT32_MAX - (int32_t)(any() % 100) : INT32_MIN;
        p.put(f);
        p.diffuse(k % 5 ? any() >> (1 + any() % 31) : 0x7fffffff);
        p.ask(k % 7 == 0), p.learn((uint8_t)(k / 2 % 2));
        p.ask(k % 7 == 1), p.learn((uint8_t)(any() & 1));
    }
    for (unsigned sd = RFI_SD_LEAST; sd <= RFI_SD_MAX; sd += 2621)
        p.init(anywhere(), (uint16_t)sd, (uint16_t)any()), p.ask(false), p.learn(1);
    p.init(0, RFI_SD_MAX, 0);
    p.init(0, RFI_SD_MAX / 2, 0);
    p.init(0, RFI_SD_MAX / 2 + 1, 0);
    /* every octave of a lifetime, with its ends, and every entry of the table for the longest */
    for (int32_t octave = -1; octave <= 33; octave++)
        for (const int32_t beyond : {-1, 0, 1, 10000})
            p.init(octave * 32768 + beyond, RFI_SD_LEAST, (uint16_t)any()), p.ask(false), p.learn((uint8_t)(any() & 1));
    for (int32_t entry = 0; entry < 256; entry++)
        p.init(30 * 32768 + entry * 128, RFI_SD_LEAST, (uint16_t)any()), p.ask(false), p.learn((uint8_t)(any() & 1));
    /* outcomes alike until it is frozen, and longer; then one that differs, or PGH, which is not tested */
    for (unsigned k = 0; k < 12; k++) {
        p.init(anywhere(), (uint16_t)(RFI_SD_LEAST + any() % 40000), (uint16_t)any());
        for (unsigned j = 0; j < 60; j++)
            p.diffuse(any() >> (8 + any() % 24)), p.ask(j > 50 && k % 3 == 0), p.learn((uint8_t)((k ^ (j > 30 + k)) & 1));
    }
    /* lost at the widest: it goes home, if the prior was not wider than that */
    for (unsigned k = 0; k < 200; k++) {
        rfi_filter f = somewhere();
        f.due = 0;
        f.widest = (uint16_t)(k % 3 ? f.sd : RFI_SD_MAX);
        p.put(f);
        for (unsigned j = 0; j < 4; j++) {
            p.ask(false);
            p.learn((uint8_t)(p.f.phase < 0));
        }
    }
    /* another outcome while the sd is half the widest, or just not: home is where the mean is, or stays */
    for (unsigned k = 0; k < 60; k++) {
        rfi_filter f = somewhere();
        f.widest = (uint16_t)(RFI_SD_MAX - k / 3);
        f.sd = (uint16_t)(f.widest / 2 + k % 3 - 1);
        p.put(f);
        p.ask(false);
        p.learn((uint8_t)!(p.f.alike & 1));
    }
    /* experiments without anchors until their counter wraps */
    for (unsigned k = 0; k < 600; k++)
        p.ask(true);
    for (unsigned k = 0; k < 300; k++)
        p.ask(k % 3 != 0);
    /* learning without asking, and again and again */
    for (unsigned k = 0; k < 40; k++) {
        p.init(anywhere(), 10000, (uint16_t)any());
        for (unsigned j = 0; j < 4; j++)
            p.learn((uint8_t)(k & 1));
    }
    /* reset in the middle of a command; what was begun is forgotten, and all is well from the next init on */
    for (int command = DIFFUSE; command <= LEARN_1; command++)
        for (unsigned k = 0; k < 260; k += command < LEARN_0 ? 3 : 7) {
            p.init(anywhere(), (uint16_t)(256 + any() % 40000), (uint16_t)any());
            p.ask(true);
            p.begin(command);
            for (unsigned j = 0; j < k; j++)
                p.tick();
            p.reset();
            p.init(anywhere(), (uint16_t)(256 + any() % 40000), (uint16_t)any());
            p.ask(k & 1);
            p.learn((uint8_t)(any() & 1));
        }
}

static void commands(Pair &p, unsigned long until)
{
    p.init(0, 14859, 1);
    while (p.updates < until) {
        const uint32_t word = any();
        if (word % 1024 == 0) {
            p.init(anywhere(), (uint16_t)(RFI_SD_LEAST + any() % (RFI_SD_MAX - RFI_SD_LEAST + 1)), (uint16_t)any());
        } else if (word % 1024 < 8) {
            rfi_filter f = somewhere();
            f.slope = p.f.slope, f.phase = p.f.phase;
            f.widest = std::max(f.sd, (uint16_t)(any() % (RFI_SD_MAX + 1)));
            f.evidence = (int32_t)any() / 2 + (int32_t)any() / 8192;
            p.put(f);
        }
        if (word >> 10 & 1)
            p.diffuse(any() >> (1 + any() % 31));
        if (word >> 11 & 15)
            p.ask((word >> 15 & 7) == 0);
        /* mostly what a world would answer, sometimes anything */
        p.learn((uint8_t)((word >> 18 & 3) ? subject_outcome(&p.f, normal() * p.f.sd + p.f.mean, uniform()) : word >> 20 & 1));
    }
}

int main(int argc, char **argv)
{
    Pair p;
    const unsigned long until = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10000;
    source = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
    corners(p);
    commands(p, until);
    for (const auto &c : p.cycles)
        std::printf("cycles, %s: %u%s%s\n", c.first.c_str(), c.second.least, c.second.most != c.second.least ? " to " : "",
                    c.second.most != c.second.least ? std::to_string(c.second.most).c_str() : "");
    std::printf("%lu updates, %lu other commands: no bit different\n", p.updates, p.commands);
    return 0;
}
