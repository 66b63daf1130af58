/* Headers of C that NVRTC has built in, as far as we use them. */
