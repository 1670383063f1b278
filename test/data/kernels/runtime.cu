// What the device's runtime provides: printf, assert, malloc, free; and faults.
// runtime.ptx is made from this file as test/data/README.rst says.

#include <assert.h>
#include <stdio.h>

extern "C" {

__global__ void print_things(int n)
{
    int t = threadIdx.x;
    if (t < n) {
        printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%X|%o\n", t, t * 11, t, t, t, 4000000000u + t,
               t * 4096, 48879, 8);
        printf("%lld %llu %ld %hhd %c %s %% %p\n", -5000000000LL, 10000000000000000000ULL, -7L,
               300, 'a' + t, t ? "one" : "zero", (void *)0x1234);
        printf("%f %.3f %10.2e %g %s %8s|%-8s|%.2s %*d\n", 1.5f, 3.14159265358979, 12345.678,
               0.0001, "text", "right", "left", "cut", 6, 42);
    }
}

__global__ void print_nothing() { printf("plain\n"); }

__global__ void check(const int *x, int limit)
{
    assert(x[threadIdx.x] < limit);
}

__global__ void heap(int *out, int n)
{
    int t = threadIdx.x;
    int *p = (int *)malloc((t + 1) * sizeof(int));
    if (!p) {
        out[t] = -1;
        return;
    }
    for (int i = 0; i <= t; i++) {
        p[i] = i * n;
    }
    int sum = 0;
    for (int i = 0; i <= t; i++) {
        sum += p[i];
    }
    free(p);
    out[t] = sum;
}

__global__ void too_much(unsigned long long *out) { *out = (unsigned long long)malloc(1ull << 40); }

__global__ void free_twice()
{
    void *p = malloc(16);
    free(p);
    free(p);
}

__global__ void store_at(int *p, long long offset) { p[offset] = 1; }

__global__ void load_at(const int *p, int *out, long long offset)
{
    out[threadIdx.x] = *(const int *)((const char *)p + offset);
}

__global__ void shared_at(int *out, int i)
{
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + i];
}

__global__ void stop() { asm volatile("trap;"); }

}
