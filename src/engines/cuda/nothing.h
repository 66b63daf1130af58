/* stddef.h for NVRTC, which has all that we use of it. */
