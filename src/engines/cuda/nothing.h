/* Stands in for C headers: NVRTC has the parts that are used built in. */
