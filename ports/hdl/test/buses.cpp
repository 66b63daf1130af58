/* Drives the filter over its serial line (-DUART) or its Wishbone bus, like a host, and compares with fixed.c. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "Vmodel.h"
#include "Vmodel___024root.h"
#include "verilated.h"

#include "subject.h"

double sc_time_stamp() { return 0; }

enum { CONTROL = 0, OPERAND = 4, PRIOR = 8, DURATION = 12, BASE = 16, MEAN = 20, WIDTH = 24, EVIDENCE = 28, REST = 32, MORE = 36 };
enum { INIT = 1, DIFFUSE, ASK, ASK_PGH, LEARN_0, LEARN_1, LOOP = 8, FORGIVE = 32 };
enum { BUSY = 1, LOST = 2, REFUSED = 4, ASKING = 8, LOOPING = 16, STUCK = 32 };

static Vmodel top;
static std::set<uint32_t> seen; /* values of the mean seen */

[[noreturn]] static void fail(const char *what, unsigned long is, unsigned long should)
{
    std::fprintf(stderr, "buses: %s is %lu, not %lu\n", what, is, should);
    std::exit(1);
}

static void expect(const char *what, uint32_t is, uint32_t should)
{
    if (is != should)
        fail(what, is, should);
}

#ifdef UART
enum { DIVIDER = 4 };

static void tick()
{
    top.clk = 0, top.eval(), top.clk = 1, top.eval();
    seen.insert(top.rootp->rejfilt_uart__DOT__registers__DOT__filter__DOT__mean);
}

static void send(uint8_t byte)
{
    const unsigned frame = 0x200u | (unsigned)byte << 1; /* stop, data, start */
    for (int bit = 0; bit < 10; bit++) {
        top.rx = frame >> bit & 1;
        for (int k = 0; k < DIVIDER; k++)
            tick();
    }
}

static uint8_t receive()
{
    unsigned byte = 0;
    for (int k = 0; top.tx; k++) {
        if (k > 1000)
            fail("an answer", 0, 1);
        tick();
    }
    for (int k = 0; k < DIVIDER / 2; k++)
        tick();
    for (int bit = 0; bit < 8; bit++) {
        for (int k = 0; k < DIVIDER; k++)
            tick();
        byte |= (unsigned)top.tx << bit;
    }
    for (int k = 0; k < DIVIDER; k++)
        tick();
    expect("the stop bit", top.tx, 1);
    return (uint8_t)byte;
}

static void put(int address, uint32_t word)
{
    send((uint8_t)(0xc0 | address));
    for (int k = 0; k < 4; k++)
        send((uint8_t)(word >> 8 * k));
}

static uint32_t get_once(int address)
{
    uint32_t word = 0;
    send((uint8_t)(0x40 | address));
    for (int k = 0; k < 4; k++)
        word |= (uint32_t)receive() << 8 * k;
    return word;
}

static uint32_t get(int address)
{
    const uint32_t word = get_once(address);
    if (address == CONTROL) /* its contents may change between two reads */
        return word;
    send((uint8_t)(address + 1)); /* one byte of it, in a single access */
    expect("a byte of the word", receive(), word >> 8 & 255);
    return word;
}

static void command(uint8_t what)
{
    send(0x80);
    send(what);
}

static void begin(bool reset) { top.rx = 1, top.reset = reset; }
#else
static void tick()
{
    top.clk_i = 0, top.eval(), top.clk_i = 1, top.eval();
    seen.insert(top.rootp->rejfilt_wishbone__DOT__registers__DOT__filter__DOT__mean);
}

static uint32_t access(int address, bool write, uint8_t bytes, uint32_t word)
{
    top.cyc_i = top.stb_i = 1, top.we_i = write, top.adr_i = (uint8_t)address, top.sel_i = bytes, top.dat_i = word;
    for (int k = 0; k < 4; k++) {
        tick();
        if (top.ack_o) {
            const uint32_t answer = top.dat_o;
            top.cyc_i = top.stb_i = 0;
            tick();
            expect("the acknowledgement, after it", top.ack_o, 0);
            return answer;
        }
    }
    fail("the acknowledgement", 0, 1);
}

static void put(int address, uint32_t word)
{
    access(address, true, 3, word); /* in halves */
    access(address, true, 12, word);
}

static uint32_t get_once(int address) { return access(address, false, 15, 0); }
static uint32_t get(int address) { return get_once(address); }
static void command(uint8_t what) { access(CONTROL, true, 1, what); }
static void begin(bool reset) { top.cyc_i = top.stb_i = 0, top.rst_i = reset; }
#endif

static void wait()
{
    for (int k = 0; get(CONTROL) & BUSY; k++)
        if (k > 5000)
            fail("busy", 1, 0);
}

static void compare(const rfi_filter *f)
{
    expect("mean", get(MEAN), (uint32_t)f->mean);
    expect("sd and widest", get(WIDTH), f->sd | (uint32_t)f->widest << 16);
    expect("evidence", get(EVIDENCE), (uint32_t)f->evidence);
    expect("random, slope and phase", get(REST), f->random | (uint32_t)f->slope << 16 | (uint32_t)(uint8_t)f->phase << 24);
    expect("due", get(CONTROL) >> 24, f->due);
    expect("alike", get(MORE), f->alike);
}

int main()
{
    rfi_filter f;
    unsigned updates = 0;
    top.answer = 0;
    begin(true);
    for (int k = 0; k < 4; k++)
        tick();
    begin(false);
    for (int k = 0; k < 20; k++)
        tick();
    /* a host asks and tells */
    put(OPERAND, (uint32_t)subject_mean);
    put(PRIOR, subject_sd | 77u << 16);
    command(INIT);
    wait();
    rfi_init(&f, subject_mean, subject_sd, 77);
    compare(&f);
    for (unsigned k = 0; k < 60; k++) {
        const uint32_t q = k * k * 700;
        put(OPERAND, q);
        command(DIFFUSE);
        wait();
        rfi_diffuse(&f, q);
        command(k % 4 ? ASK : ASK_PGH);
        wait();
        rfi_ask(&f, k % 4 ? RFI_QUADRATURE : RFI_PGH);
        expect("time", get(DURATION), rfi_time(&f));
        expect("reference", get(BASE), (uint32_t)rfi_reference(&f));
        const uint8_t outcome = k * 7 % 3 == 0;
        command(outcome ? LEARN_1 : LEARN_0);
        wait();
        const uint8_t accepted = rfi_learn(&f, outcome);
        expect("accepted", get(CONTROL) >> 8 & 127, accepted);
        compare(&f);
        updates++;
    }
    /* a detector that is stuck */
    for (unsigned k = 0; k < 30; k++) {
        command(ASK);
        wait();
        rfi_ask(&f, RFI_QUADRATURE);
        command(LEARN_1);
        wait();
        expect("stuck", (get(CONTROL) & STUCK) != 0, rfi_learn(&f, 1) == RFI_STUCK);
        compare(&f);
        updates++;
    }
    command(ASK);
    wait();
    rfi_ask(&f, RFI_QUADRATURE);
    command(LEARN_0);
    wait();
    rfi_learn(&f, 0);
    expect("stuck, when it works again", get(CONTROL) & STUCK, 0);
    /* what comes too early is refused, and that is said until it was seen, even if the rest of a word was taken */
    const uint32_t before = 123456;
    put(OPERAND, before);
    expect("the note of a refused write, before", get(CONTROL) & REFUSED, 0);
    command(LEARN_1);
#ifdef UART
    for (int k = 0; k < 40; k++) /* so that the first byte of the word comes before the end, and the last after it */
        tick();
#endif
    put(OPERAND, ~before);
    wait();
    rfi_learn(&f, 1);
    expect("the note of a refused write", get(CONTROL) & REFUSED, REFUSED);
    put(OPERAND, 2500);
    expect("the note of a refused write, later", get(CONTROL) & REFUSED, REFUSED);
    command(FORGIVE);
    expect("the note of a refused write, when it was seen", get(CONTROL) & REFUSED, 0);
    compare(&f);
    /* the loop without a host: only outcomes come in, at the pins */
    command(LOOP);
    for (unsigned k = 0; k < 200; k++) {
        if (k)
            rfi_diffuse(&f, 2500);
        rfi_ask(&f, RFI_QUADRATURE);
        for (int n = 0; !top.asking; n++) {
            if (n > 5000)
                fail("asking", 0, 1);
            tick();
        }
        expect("time at the pins", top.duration, rfi_time(&f));
        expect("reference at the pins", top.base, (uint32_t)rfi_reference(&f));
        for (unsigned n = 0; n < k % 5; n++)
            tick();
        top.outcome = k % 3 != 0, top.answer = 1;
        tick();
        top.answer = 0;
        rfi_learn(&f, k % 3 != 0);
        updates++;
    }
    rfi_diffuse(&f, 2500);
    rfi_ask(&f, RFI_QUADRATURE);
    while (!top.asking)
        tick();
    expect("asking, as the status says it", get(CONTROL) & (ASKING | LOOPING | BUSY), ASKING | LOOPING);
    compare(&f);
    command(0);
    expect("looping, after it was told to stop", get(CONTROL) & (ASKING | LOOPING | BUSY), 0);
    compare(&f);
    /* a word is of one moment, while the loop changes it */
    command(LOOP);
    top.answer = 1;
    for (unsigned k = 0; k < 50; k++) {
        const uint32_t word = get_once(MEAN);
        expect("whether the mean was ever what was read", seen.count(word) != 0, 1);
        top.outcome = k % 3 != 0;
    }
    std::printf("%u updates: no bit different\n", updates);
    return 0;
}
