// Operations between lanes, divergence, atomics, locks.
// warps.ptx is made from this file as test/data/README.rst says.

#define ALL 0xffffffffu

extern "C" {

__global__ void shuffles(const int *x, int *out)
{
    int t = threadIdx.x, v = x[t];
    out[0 * 64 + t] = __shfl_sync(ALL, v, t * 5 + 3);
    out[1 * 64 + t] = __shfl_up_sync(ALL, v, 3);
    out[2 * 64 + t] = __shfl_down_sync(ALL, v, 5);
    out[3 * 64 + t] = __shfl_xor_sync(ALL, v, 9);
    out[4 * 64 + t] = __shfl_sync(ALL, v, 2, 8);
    out[5 * 64 + t] = __shfl_up_sync(ALL, v, 1, 4);
    out[6 * 64 + t] = __shfl_down_sync(ALL, v, 2, 16);
    out[7 * 64 + t] = (int)__shfl_xor_sync(ALL, (double)v, 1);
}

__global__ void votes(const int *x, unsigned *out)
{
    int t = threadIdx.x, v = x[t];
    out[0 * 64 + t] = __ballot_sync(ALL, v > 10);
    out[1 * 64 + t] = __any_sync(ALL, v > 90);
    out[2 * 64 + t] = __all_sync(ALL, v > 0);
    out[3 * 64 + t] = __match_any_sync(ALL, v % 5);
    int same;
    out[4 * 64 + t] = __match_all_sync(ALL, v / 1000, &same);
    out[5 * 64 + t] = same;
    unsigned some = 0;
    if (t % 3 == 0) {
        some = __activemask();
    }
    out[6 * 64 + t] = some;
}

// Both sides of the branch hold the same operation for the whole warp.
__global__ void split_sync(const int *x, int *out)
{
    int t = threadIdx.x, v = x[t], r;
    if (t & 1) {
        r = __shfl_sync(ALL, v, 31 - t) + 1000;
    }
    else {
        r = __shfl_sync(ALL, v, 31 - t) + 2000;
    }
    __syncwarp();
    out[t] = r;
}

__global__ void warp_sums(const float *x, float *out)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 16; k; k /= 2) {
        v += __shfl_down_sync(ALL, v, k);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(out, v);
    }
}

__global__ void atomics(int *i, unsigned *u, unsigned long long *l, float *f, double *d)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(i + 0, t);
    atomicSub(i + 1, t);
    atomicMin(i + 2, 1000 - t);
    atomicMax(i + 3, t - 1000);
    atomicExch(i + 4, 42);
    atomicAnd(u + 0, ~(1u << t % 32));
    atomicOr(u + 1, 1u << t % 32);
    atomicXor(u + 2, t * 2654435761u);
    atomicInc(u + 3, 99);
    atomicDec(u + 4, 99);
    atomicMin(u + 5, 4000000000u - t);
    atomicMax(u + 6, 3000000000u + t);
    atomicAdd(l + 0, 1ull << 33);
    atomicMax(l + 1, (unsigned long long)t << 32);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    unsigned long long seen = l[2], old;
    do {
        old = seen;
        seen = atomicCAS(l + 2, old, old + t);
    } while (seen != old);
}

// Every thread takes the lock in turn: lanes of one warp must not starve each other.
__global__ void locked(int *lock, int *count)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)count = *(volatile int *)count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

// The plain spin lock that dead-locks a warp which runs the lowest instruction only.
__global__ void spin_locked(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *(volatile int *)count = *(volatile int *)count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Warps of one block wait for each other through memory, without a barrier.
__global__ void relay(volatile int *turn, int *out)
{
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        while (*turn != warp) {
        }
        out[warp] = *turn * 10;
        __threadfence();
        *turn = warp + 1;
    }
}

__device__ unsigned finished;

__global__ void last_block(const int *x, int *parts, int *total, int n)
{
    __shared__ bool last;
    int t = threadIdx.x;
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        v += x[i];
    }
    for (int k = 16; k; k /= 2) {
        v += __shfl_xor_sync(ALL, v, k);
    }
    if (t == 0) {
        parts[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) {
            sum += ((volatile int *)parts)[b];
        }
        *total = sum;
    }
}

}
