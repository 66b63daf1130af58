/* Numbers as text: rf_real_text gives the same as trying printf with 15, 16 and 17 digits. */
#include "testing.h"

#include <math.h>

#include "cli.h"
#include "rejfilt/philox.h"

static void check(double value)
{
    char text[RF_REAL_TEXT], wanted[RF_REAL_TEXT];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(wanted, sizeof wanted, "%.*g", digits, value);
        if (strtod(wanted, NULL) == value)
            break;
    }
    assert_string_equal(rf_real_text(value, text), wanted);
    if (isfinite(value))
        assert_true(strtod(text, NULL) == value);
}

static void test_chosen(void **state)
{
    static const double values[] = {0, -0.0, 1, -1, 0.1, 0.5, 1e15, 1e-15, 1e16, 1e17, 1e22, 1e-5, 1e-4, 123456, 1e300, 5e-324, 0x1p-1074, 1.7976931348623157e308,
                                    99999999999999.99, 999999999999999.9, 9.9999999999999999e14, 0.1 + 0.2, 2.0 / 3, 9007199254740993.0, 5e-5, 0.00099999999999999999};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        check(values[i]);
        check(-values[i]);
        check(nextafter(values[i], INFINITY));
        check(nextafter(values[i], -INFINITY));
    }
    for (int e = -70; e <= 70; e++) {
        check(ldexp(1, e)); /* the gap below is half of the gap above */
        check(nextafter(ldexp(1, e), 0));
        check(pow(10, e / 3));
        check(nextafter(pow(10, e / 3), 0));
    }
}

static void test_any(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 50000; i++) {
        const rf_words w = rf_draw(1, 0, i, 0, RF_FOR_USER);
        const uint64_t bits = (uint64_t)w.word[0] << 32 | w.word[1];
        double any;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any))
            check(any);
        check(ldexp((double)(bits >> 11), -53 - (int)(w.word[2] % 50) + (int)(w.word[3] % 50)));
        check((double)(w.word[2] % 1000000) / 1000); /* few digits */
    }
}

/* Texts are read like strtod, to the same end and to the last bit. */
static void check_read(const char *text)
{
    char *end, *wanted_end;
    const double value = rf_real_read(text, &end), wanted = strtod(text, &wanted_end);
    assert_memory_equal(&value, &wanted, sizeof value);
    assert_ptr_equal(end, wanted_end);
}

static void test_read(void **state)
{
    static const char *const texts[] = {"0", "-0", "-0.0", "1.", ".5", "-.5", "-", "", ".", "1e3", "1.5x", " 1", "0x10", "nan", "1..2", "1.2.3", "+1", "9007199254740993", "9007199254740993.0",
                                        "9007199254740992.5", "9999999999999999999", "99999999999999999999", "0.000000000000000000000000001", "0.0000000000000000000000000001",
                                        "0000000000000000000000000000001.5", "1.00000000000000011102230246251565", "1.0000000000000001110", "0.30000000000000004", "5e-324"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_read(texts[i]);
    for (uint32_t i = 0; i < 50000; i++) {
        const rf_words w = rf_draw(2, 0, i, 0, RF_FOR_USER);
        const uint64_t digits = ((uint64_t)w.word[0] << 32 | w.word[1]) >> w.word[2] % 60;
        char text[64];
        snprintf(text, sizeof text, "%s%llu", w.word[3] % 2 ? "-" : "", (unsigned long long)digits);
        const size_t length = strlen(text), point = length - w.word[3] / 2 % length;
        memmove(text + point + 1, text + point, length + 1 - point);
        text[point] = '.';
        check_read(text);
        snprintf(text, sizeof text, "%.*f", (int)(w.word[3] % 28), (double)w.word[0] / (1 + w.word[1]));
        check_read(text);
        /* half way between two numbers, and slightly off */
        snprintf(text, sizeof text, "%llu.%s", (unsigned long long)((uint64_t)1 << 52 | digits >> 12), w.word[2] % 3 == 0 ? "5" : w.word[2] % 3 == 1 ? "501" : "499");
        check_read(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_chosen), cmocka_unit_test(test_any), cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
