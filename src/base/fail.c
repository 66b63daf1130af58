#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

int rf_fail(char *error, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (error && size > 0)
        vsnprintf(error, size, format, arguments);
    va_end(arguments);
    return -1;
}
