/* The directory of compiled models. */
#ifndef REJFILT_CACHE_H
#define REJFILT_CACHE_H

#include <stddef.h>

/* Opens the cache: $REJFILT_CACHE, or rejfilt in the user's cache directory; creates it if missing. Only the user may
   have access, because programs in it are run. Returns a descriptor that stays open and writes the path (PATH_MAX
   bytes); or -1 with a message. */
int rf_cache_open(char *path, char *error, size_t size);

#endif
