// A lower bound for any implementation on a GPU: Philox, and the normals made from it, with the same arithmetic. Prints
// attempts per second.
//      nvcc -O3 -std=c++20 -arch=native -fmad=false -Iinclude lab/bench/floor.cu -o floor && ./floor
#include <cstdio>

#include "rejfilt/rejfilt.h"

template <int what> __global__ void work(unsigned pairs, float *out)
{
    float sum = 0;
    unsigned bits = 0;
    for (unsigned pair = blockIdx.x * blockDim.x + threadIdx.x; pair < pairs; pair += gridDim.x * blockDim.x) {
        const rf_words w = rf_draw(5, 3, pair, 0, RF_FOR_ATTEMPTS);
        if (what == 0) {
            bits ^= w.word[0] ^ w.word[1] ^ w.word[2] ^ w.word[3];
        } else {
            float a, b;
            rf32_normal_pair(w.word[0], w.word[1], &a, &b);
            sum += a + b + rf32_uniform(w.word[2]) + rf32_uniform(w.word[3]);
        }
    }
    if (sum == 12345.0f || bits == 12345)
        *out = sum;
}

// The same for the candidates of many parameters.
template <int dim> __global__ void many(unsigned pairs, float *out)
{
    float sum = 0;
    for (unsigned pair = blockIdx.x * blockDim.x + threadIdx.x; pair < pairs; pair += gridDim.x * blockDim.x)
        for (unsigned block = 0; block <= dim / 2; block++) {
            const rf_words w = rf_draw(5, 3, pair, block, RF_FOR_ATTEMPTS);
            for (unsigned half = 0; half < 2; half++) {
                float a, b;
                rf32_normal_pair(w.word[2 * half], w.word[2 * half + 1], &a, &b);
                sum += 2 * block + half < dim ? a + b : 0;
            }
        }
    if (sum == 12345.0f)
        *out = sum;
}

template <typename kernel> void measure(const char *name, kernel work, unsigned pairs)
{
    float *out, best = 1e9f;
    cudaEvent_t begin, end;
    cudaMalloc(&out, sizeof *out);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int k = 0; k < 6; k++) {
        float spent;
        cudaEventRecord(begin);
        work<<<132 * 8, 256>>>(pairs, out);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&spent, begin, end);
        best = spent < best ? spent : best;
    }
    printf("%s: %.3e attempts/s %s\n", name, 2e3 * pairs / best, cudaGetErrorString(cudaGetLastError()));
}

int main()
{
    measure("Philox alone", work<0>, 1u << 30);
    measure("Philox and normals", work<1>, 1u << 30);
    measure("Philox and normals, D = 4", many<4>, 1u << 28);
    measure("Philox and normals, D = 16", many<16>, 1u << 26);
    measure("Philox and normals, D = 64", many<64>, 1u << 24);
}
