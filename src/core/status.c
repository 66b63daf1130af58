/* Status messages, from the list in status.def. */
#include "rejfilt/rejfilt.h"

const char *rf_status_text(rf_status status)
{
    rf_status one = status > 0 ? status & -status : status;
    switch (one) {
#define RF_STATUS(name, value, text)                                                                                   \
    case name:                                                                                                         \
        return text;
#include "rejfilt/status.def"
#undef RF_STATUS
    default:
        return "unknown status";
    }
}
