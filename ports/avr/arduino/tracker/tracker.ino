/* Tracks the detuning of an oscillator with an Arduino Uno (ATmega328P, 16 MHz). Copy fixed.h, fixed_math.h and fixed.c
   into the folder of this sketch.

   Pin 8 starts the oscillator. It runs for a chosen time against a reference frequency; then its in-phase signal is
   above or below zero. The analog comparator compares the signal at pin 6 (AIN0) with zero at pin 7 (AIN1). The
   reference is a PWM voltage at pin 9 that is low-pass filtered and steers a VCO. The noise of the signal must be about
   as large as the signal, so that the comparator gives 1 with probability (1 + cos)/2; with less noise, use a likelihood
   of your own, see RFI_LIKELIHOOD in fixed.h. The serial port sends the estimates, mean and standard deviation, at
   115200 baud.

   Units: a PWM step, 20 Hz of the VCO here, is 64 units; so a unit is 0.3125 Hz, or 1.9635 rad/s. */
#include <avr/io.h>

#include "fixed.h"

#define UNITS_PER_STEP 64
#define PRIOR_MEAN (512L * UNITS_PER_STEP) /* the middle of the VCO's range */
#define PRIOR_SD (128 * UNITS_PER_STEP)
#define DRIFT 1600L /* variance of the oscillator's drift between two measurements, units² */

static rfi_filter filter;

/* Converts time, in 2⁻²⁶ turns per unit, to ticks of 4 µs. A unit is 0.3125 Hz, so seconds = time·2⁻²⁶/0.3125, and ticks =
   time·0.01192 = time·781/2¹⁶. */
static uint16_t time_in_ticks(uint16_t time) { return (uint16_t)((uint32_t)time * 781 >> 16); }

static void set_reference(int32_t units)
{
    const int32_t step = units / UNITS_PER_STEP;
    OCR1A = (uint16_t)(step < 0 ? 0 : step > 1023 ? 1023 : step);
}

static void wait_ticks(uint16_t ticks) /* of 4 µs, by timer 0 */
{
    for (; ticks > 0; ticks--) {
        TCNT0 = 0;
        while (TCNT0 == 0) {
        }
    }
}

static uint8_t measure(uint16_t ticks)
{
    wait_ticks(250); /* 1 ms: the VCO settles */
    PORTB |= _BV(PB0);
    wait_ticks(ticks);
    const uint8_t outcome = ACSR & _BV(ACO) ? 1 : 0;
    PORTB &= (uint8_t)~_BV(PB0);
    return outcome;
}

static void send(char c)
{
    while (!(UCSR0A & _BV(UDRE0))) {
    }
    UDR0 = (uint8_t)c;
}

static void send_number(int32_t number, char after)
{
    char digits[11];
    uint8_t count = 0;
    uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
    if (number < 0)
        send('-');
    do
        digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (count > 0)
        send(digits[--count]);
    send(after);
}

void setup(void)
{
    DDRB = _BV(PB0) | _BV(PB1);
    DIDR1 = _BV(AIN0D) | _BV(AIN1D);
    TCCR1A = _BV(COM1A1) | _BV(WGM11) | _BV(WGM10); /* ten-bit PWM on pin 9 */
    TCCR1B = _BV(WGM12) | _BV(CS10);
    TCCR0A = 0; /* free-running; the Arduino core uses it for millis() */
    TCCR0B = _BV(CS01) | _BV(CS00); /* 16 MHz / 64: ticks of 4 µs */
    UBRR0 = 16; /* 115200 baud with U2X0 */
    UCSR0A = _BV(U2X0);
    UCSR0B = _BV(TXEN0);
    rfi_init(&filter, PRIOR_MEAN, PRIOR_SD, 1);
}

void loop(void)
{
    rfi_diffuse(&filter, DRIFT);
    rfi_ask(&filter, RFI_QUADRATURE);
    const int32_t reference = rfi_reference(&filter);
    const uint8_t is_flipped = filter.phase == -128 && reference > 1023L * UNITS_PER_STEP; /* beyond the VCO's range */
    set_reference(is_flipped ? filter.mean : reference);
    rfi_learn(&filter, measure(time_in_ticks(rfi_time(&filter))) ^ is_flipped);
    send_number(filter.mean, ' ');
    send_number(filter.sd, '\n');
}
