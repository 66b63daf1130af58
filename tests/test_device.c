/* What a GPU runs has the serial engine's bits as host code, too: the units that the command names, each a model, a
   sampler and a precision. */
#define _POSIX_C_SOURCE 200809L
#include "testing.h"

#include <dlfcn.h>

#include "device_unit.h"

static char **units;

static void units_have_the_same_bits(void **state)
{
    (void)state;
    const rf32_device_library in_float = {&rf32_serial,        rf32_tally_clear, rf32_filter_init,
                                          rf32_filter_restore, rf32_filter_mean, rf32_update};
    const rf64_device_library in_double = {&rf64_serial,        rf64_tally_clear, rf64_filter_init,
                                           rf64_filter_restore, rf64_filter_mean, rf64_update};
    for (char **path = units; *path; path++) {
        char error[300] = "";
        void *library = dlopen(*path, RTLD_NOW | RTLD_LOCAL);
        const device_unit *unit = library ? dlsym(library, "unit") : NULL;
        if (!unit)
            fail_msg("%s", dlerror());
        if ((unit->check32 && unit->check32(&in_float, error, sizeof error) < 0) ||
            (unit->check64 && unit->check64(&in_double, error, sizeof error) < 0))
            fail_msg("%s", error);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_have_the_same_bits)};
    units = arguments + 1;
    return count > 1 ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
