/* The directory where compiled models are kept. */
#ifndef REJFILT_CACHE_H
#define REJFILT_CACHE_H

#include <stddef.h>

/* Opens it: $REJFILT_CACHE, or rejfilt in the user's cache, which is made if it is missing. It must be the user's own
   and closed to all others, since what lies in it will be run. Returns its descriptor, which stays open, and leaves its
   path, which needs PATH_MAX bytes; or -1 with a message. */
int rf_cache_open(char *path, char *error, size_t size);

#endif
