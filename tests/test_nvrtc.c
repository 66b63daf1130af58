/* NVIDIA's compiler accepts the GPU code: attempts, a fleet, simulated trials. Skipped if it is not installed. With
   an argument the compiler is nvrtc_old.c, whose programs are the number of compilations: two for trials, one for
   the others. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/gpu.h"
#include "module.h"

int main(int count, char **arguments)
{
    (void)arguments;
    char error[2304];
    const rf_cuda_module *cuda = rf_module_load("cuda", RF_CUDA_ABI, "it is not built", error, sizeof error);
    if (!cuda)
        return fprintf(stderr, "%s\n", error), 1;
    rf64_chart charts[RF_DESCRIBED_MAX];
    const rf64_model one = rf64_instance_model(rf_model_find("precession")->f64, charts),
                     two = rf64_instance_model(rf_model_find("ramsey")->f64, charts);
    const rf_source *line = rf64_gpu_source(&one), *plane = rf64_gpu_source(&two);
    const rf_gpu_wanted all[] = {
        {.source = line,
         .bits = 32,
         .dim = 1,
         .kinds = "0",
         .sampler = RF_REJECT,
         .pairs = 1,
         .entropy = 1,
         .plain = 1},
        {.source = plane, .bits = 64, .dim = 2, .kinds = "0,1", .sampler = RF_WEIGHT, .pairs = 1, .group = 8},
        {.source = line, .bits = 64, .dim = 1, .kinds = "0", .trials = 32, .room = 2, .design = "quadrature"},
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        size_t bytes = 0;
        unsigned char *image = rf_gpu_compile(cuda, 90, &all[i], &bytes, error, sizeof error);
        if (!image && strstr(error, "run-time compiler is not found"))
            return printf("skipped: %s\n", error), 77;
        if (!image)
            return fprintf(stderr, "%s\n", error), 1;
        printf("program %u: %zu bytes\n", i, bytes);
        if (count > 1 && image[0] != "124"[i])
            return fprintf(stderr, "compiled %c times until then\n", image[0]), 1;
        cuda->release(image);
    }
    return 0;
}
