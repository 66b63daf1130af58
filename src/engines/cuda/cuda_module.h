/* The interface of the module rejfilt_cuda.so, between program.c and module.c. The module loads NVIDIA's driver and
   run-time compiler when a device is opened, so building and installing it needs nothing of CUDA. */
#ifndef REJFILT_CUDA_MODULE_H
#define REJFILT_CUDA_MODULE_H

#include <stddef.h>
#include <stdint.h>

#define RF_CUDA_ABI 1u

typedef struct rf_cuda_device rf_cuda_device;
typedef struct rf_cuda_image rf_cuda_image; /* a compiled program on the device */
typedef struct rf_cuda_function rf_cuda_function;

/* Functions that can fail return 0 or a pointer; on failure -1 or null with a message in `error`. Work on a device is
   done in order; copies and launches return before it is done. */
typedef struct rf_cuda_module {
    uint32_t abi;
    /* Opens device number `index`; may be called repeatedly. */
    rf_cuda_device *(*open)(unsigned index, char *error, size_t size);
    void (*close)(rf_cuda_device *device);
    unsigned (*count)(char *error, size_t size);      /* number of devices; 0 with a message */
    unsigned (*target)(const rf_cuda_device *device); /* compute capability, 90 for 9.0 */
    unsigned (*processors)(const rf_cuda_device *device);
    const char *(*name)(const rf_cuda_device *device);
    uint64_t (*texts)(void); /* a hash of the embedded headers and sources */
    /* Compiles a program, which can include the headers, for a target. `log` receives the compiler's output. Returns
       bytes to free by `release`. */
    unsigned char *(*compile)(const char *program, unsigned target, const char *const options[], unsigned count,
                              size_t *bytes, char *log, size_t size);
    void (*release)(unsigned char *bytes);
    rf_cuda_image *(*load)(rf_cuda_device *device, const unsigned char *bytes, char *error, size_t size);
    void (*unload)(rf_cuda_device *device, rf_cuda_image *image);
    rf_cuda_function *(*find)(rf_cuda_device *device, rf_cuda_image *image, const char *name, unsigned shared,
                              char *error, size_t size);
    unsigned (*fit)(rf_cuda_device *device, rf_cuda_function *function, unsigned threads,
                    unsigned shared); /* resident blocks, on the whole device */
    int (*launch)(rf_cuda_device *device, rf_cuda_function *function, unsigned blocks, unsigned threads,
                  unsigned shared, void *parameters, char *error, size_t size);
    void *(*take)(rf_cuda_device *device, size_t bytes, char *error, size_t size); /* zeroed device memory */
    void (*give)(rf_cuda_device *device, void *memory);
    void *(*take_host)(rf_cuda_device *device, size_t bytes, char *error,
                       size_t size); /* host memory that the device can access */
    void (*give_host)(rf_cuda_device *device, void *memory);
    int (*to_device)(rf_cuda_device *device, void *to, const void *from, size_t bytes, char *error, size_t size);
    int (*to_host)(rf_cuda_device *device, void *to, const void *from, size_t bytes, char *error, size_t size);
    int (*state)(rf_cuda_device *device, char *error, size_t size); /* 1: all done; 0: not yet; -1: failed */
    void (*abandon)(rf_cuda_device *device); /* the device does not respond: never wait for it again */
} rf_cuda_module;

#endif
