// Atomic operations: histograms, every operation and width, locks, queues.
#include <cuda_fp16.h>

extern "C" {

__global__ void histogram_shared(unsigned *bins, const unsigned char *in, int n)
{
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(&local[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (local[b]) atomicAdd(&bins[b], local[b]);
}

__global__ void histogram_global(int *bins, const float *in, float low, float width,
                                 int count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = (int)((in[i] - low) / width);
    atomicAdd(&bins[max(0, min(b, count - 1))], 1);
}

// Integer operations on 32 bits: each result does not depend on the order.
__global__ void atomic_int(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    atomicAdd(&out[0], v);
    atomicSub(&out[1], v);
    atomicMin(&out[2], v);
    atomicMax(&out[3], v);
    atomicMin((unsigned *)&out[4], (unsigned)v);
    atomicMax((unsigned *)&out[5], (unsigned)v);
    atomicAnd(&out[6], v | 0x00ff00ff);
    atomicOr(&out[7], v & 0x0f0f0f0f);
    atomicXor(&out[8], v);
    atomicInc((unsigned *)&out[9], 1000u);
    atomicDec((unsigned *)&out[10], 777u);
    if (atomicExch(&out[11], 1) == 0) atomicAdd(&out[12], 1);
    if (atomicCAS(&out[13], 0, 42) == 0) atomicAdd(&out[14], 1);
}

__global__ void atomic_long(unsigned long long *out, const long long *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long v = in[i];
    atomicAdd(&out[0], (unsigned long long)v);
    atomicMin((long long *)&out[1], v);
    atomicMax((long long *)&out[2], v);
    atomicMin(&out[3], (unsigned long long)v);
    atomicMax(&out[4], (unsigned long long)v);
    atomicAnd(&out[5], (unsigned long long)v | 0xff00ff00ff00ffULL);
    atomicOr(&out[6], (unsigned long long)v & 0x0f0f0f0f0f0f0f0fULL);
    atomicXor(&out[7], (unsigned long long)v);
    if (atomicCAS(&out[8], 0ULL, 1ULL << 40) == 0) atomicAdd(&out[9], 1ULL);
    atomicExch(&out[10], 0x123456789abcdefULL);
}

// The addends are multiples of 1/8 and small: every order gives the same sum.
__global__ void atomic_float(float *f, double *d, __half *h, const float *in, int n)
{
    __shared__ float block_sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) block_sum = 0.0f;
    __syncthreads();
    if (i < n) {
        atomicAdd(&f[i % 7], in[i]);
        atomicAdd(&d[i % 5], (double)in[i] * 0.5);
        atomicAdd(&h[i % 64], __float2half(in[i]));
        atomicAdd(&block_sum, in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&f[7], block_sum);
}

__device__ double max_by_cas(double *place, double v)
{
    unsigned long long *bits = (unsigned long long *)place, seen = *bits, was;
    do {
        was = seen;
        if (__longlong_as_double((long long)was) >= v) break;
        seen = atomicCAS(bits, was, (unsigned long long)__double_as_longlong(v));
    } while (seen != was);
    return __longlong_as_double((long long)seen);
}

__device__ unsigned char add_byte(unsigned char *place, unsigned char v)
{
    unsigned *word = (unsigned *)((size_t)place & ~(size_t)3);
    unsigned shift = 8 * ((size_t)place & 3), old = *word, was;
    do {
        was = old;
        unsigned sum = ((was >> shift) + v) & 0xff;
        old = atomicCAS(word, was, (was & ~(0xffu << shift)) | sum << shift);
    } while (was != old);
    return (unsigned char)(was >> shift);
}

__global__ void cas_loops(double *most, unsigned char *bytes, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    max_by_cas(&most[i % 3], in[i]);
    add_byte(&bytes[i % 13], (unsigned char)i);
}

// A lock in global memory, taken by one thread of each block, then by every lane.
__global__ void spin_lock(int *lock, long long *state)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        volatile long long *s = state;
        s[0] = s[0] + blockIdx.x + 1;
        s[1] = s[1] + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

__global__ void spin_lock_lanes(int *lock, int *state)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            volatile int *s = state;
            s[0] = s[0] + threadIdx.x;
            s[1] = s[1] + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// Each warp asks the queue once for all its lanes; the order does not matter.
__global__ void aggregated(int *queue, unsigned *length, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || in[i] % 3 != 0) return;
    unsigned active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x & 31;
    unsigned base = 0;
    if (lane == leader) base = atomicAdd(length, (unsigned)__popc(active));
    base = __shfl_sync(active, base, leader);
    queue[base + __popc(active & ((1u << lane) - 1))] = in[i];
}

}  // extern "C"
