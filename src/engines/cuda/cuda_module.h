/* What the module rejfilt_cuda.so exports, between program.c and module.c: NVIDIA's driver and run-time compiler, which
   it finds when it is asked for a device. Nothing of CUDA is needed to build or to install it. */
#ifndef REJFILT_CUDA_MODULE_H
#define REJFILT_CUDA_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define RF_CUDA_ABI 1u

typedef struct rf_cuda_device rf_cuda_device;
typedef struct rf_cuda_image rf_cuda_image; /* a compiled program on the device */
typedef struct rf_cuda_function rf_cuda_function;

/* Functions that can fail return 0 or a pointer, else -1 or null with a message in `error`. Work on a device is done in
   order; copies and launches only begin it. */
typedef struct rf_cuda_module {
    uint32_t abi;
    /* Device number `index`, as often as wanted. */
    rf_cuda_device *(*open)(unsigned index, char *error, size_t size);
    void (*close)(rf_cuda_device *device);
    unsigned (*count)(char *error, size_t size);      /* of devices; 0 with a message */
    unsigned (*target)(const rf_cuda_device *device); /* compute capability, 90 for 9.0 */
    unsigned (*processors)(const rf_cuda_device *device);
    const char *(*name)(const rf_cuda_device *device);
    uint64_t (*texts)(void); /* a number that changes with the headers and sources in here */
    /* Compiles a program, in which the headers are found, for a target. `log` gets the compiler's words. Returns bytes
     * that `release` frees. */
    unsigned char *(*compile)(const char *program, unsigned target, const char *const options[], unsigned count,
                              size_t *bytes, char *log, size_t size);
    void (*release)(unsigned char *bytes);
    rf_cuda_image *(*load)(rf_cuda_device *device, const unsigned char *bytes, char *error, size_t size);
    void (*unload)(rf_cuda_device *device, rf_cuda_image *image);
    rf_cuda_function *(*find)(rf_cuda_device *device, rf_cuda_image *image, const char *name, unsigned shared,
                              char *error, size_t size);
    unsigned (*fit)(rf_cuda_device *device, rf_cuda_function *function, unsigned threads,
                    unsigned shared); /* blocks at once, on the whole device */
    int (*launch)(rf_cuda_device *device, rf_cuda_function *function, unsigned blocks, unsigned threads,
                  unsigned shared, void *parameters, char *error, size_t size);
    void *(*take)(rf_cuda_device *device, size_t bytes, char *error, size_t size); /* memory on the device, zeroed */
    void (*give)(rf_cuda_device *device, void *memory);
    void *(*take_host)(rf_cuda_device *device, size_t bytes, char *error,
                       size_t size); /* memory of the host's that the device sees */
    void (*give_host)(rf_cuda_device *device, void *memory);
    int (*to_device)(rf_cuda_device *device, void *to, const void *from, size_t bytes, char *error, size_t size);
    int (*to_host)(rf_cuda_device *device, void *to, const void *from, size_t bytes, char *error, size_t size);
    int (*state)(rf_cuda_device *device, char *error, size_t size); /* 1: all is done; 0: not yet; -1: it failed */
    void (*abandon)(rf_cuda_device *device); /* it does not answer: nothing waits for it from now on */
} rf_cuda_module;

#endif
