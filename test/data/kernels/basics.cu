// Control flow, types, functions, memory spaces: what ordinary kernels are made of.
// basics.ptx is made from this file as test/data/README.rst says.

struct Record {
    char tag;
    short small;
    int number;
    double value;
    float3 vector;
};

__constant__ int weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__constant__ float scale;
__device__ int counter = 5;
__device__ int *counter_address = &counter;
__device__ int grid_of_numbers[3][4] = {{1, 2, 3, 4}, {5, 6}, {9, 10, 11, 12}};

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int plus_three(int x) { return x + 3; }
typedef int (*function)(int);
__device__ function functions[2] = {twice, plus_three};

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int forever(int n) { return forever(n + 1) + n; }

__device__ __noinline__ Record changed(Record r, int by)
{
    r.number += by;
    r.value *= by;
    r.vector.y -= by;
    return r;
}

__device__ __noinline__ int weighed(const int *values, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += values[i] * weights[i & 7];
    }
    return sum;
}

extern "C" {

__global__ void multiply_them(float *d, const float *a, const float *b)
{
    const int i = threadIdx.x;
    d[i] = a[i] * b[i];
}

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = a * x[i] + y[i];
    }
}

__global__ void widths(const signed char *a, const unsigned short *b, const long long *c,
                       double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = a[i] * 2.5 + b[i] - (double)(c[i] / 7) + (c[i] % 7);
    }
}

__global__ void position(int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
    out[(z * h + y) * w + x] = x + 100 * y + 10000 * z;
}

__global__ void collatz(const unsigned *start, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned x = start[i];
    int count = 0;
    while (x != 1) {
        if (x & 1) {
            x = 3 * x + 1;
        }
        else {
            x >>= 1;
        }
        count++;
        if (count > 500) {
            break;
        }
    }
    steps[i] = count;
}

__global__ void nested(int *out, int n)
{
    int i = threadIdx.x, sum = 0;
    for (int a = 0; a < i % 7; a++) {
        for (int b = a; b < i % 5 + a; b++) {
            if ((a ^ b) & 1) {
                continue;
            }
            for (int c = 0; c < b; c++) {
                sum += a * 100 + b * 10 + c;
                if (sum % 11 == 3) {
                    break;
                }
            }
        }
        if (sum > 5000) {
            goto done;
        }
    }
    sum += n;
done:
    out[i] = sum;
}

__global__ void choose(const int *what, int *out)
{
    int i = threadIdx.x, v = i;
    switch (what[i]) {
    case 0: v += 1; break;
    case 1: v *= 3;
    case 2: v -= 5; break;
    case 3: v ^= 0xff; break;
    case 4: v = -v; break;
    case 5: v <<= 3; break;
    case 6: v = 77;
    case 7: v /= 2; break;
    case 8: v = v * v; break;
    case 9: v = ~v; break;
    default: v = 0;
    }
    out[i] = v;
}

__global__ void by_value(Record r, Record *out, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        Record s = changed(r, i);
        s.tag = (char)(r.tag + i);
        s.small = (short)(r.small - i);
        out[i] = s;
    }
}

__global__ void calls(int *out)
{
    int i = threadIdx.x;
    out[i] = fibonacci(i % 13) * 1000 + functions[i & 1](i);
}

__global__ void overflow_stack(int *out) { out[threadIdx.x] = forever(threadIdx.x); }

__global__ void local_arrays(int *out)
{
    int values[16];
    int i = threadIdx.x;
    for (int k = 0; k < 16; k++) {
        values[k] = (i * 7 + k * 13) % 31;
    }
    for (int a = 1; a < 16; a++) {
        int v = values[a], b = a;
        while (b > 0 && values[b - 1] > v) {
            values[b] = values[b - 1];
            b--;
        }
        values[b] = v;
    }
    out[i] = weighed(values, 1 + i % 16);
}

__global__ void memories(int *out)
{
    int i = threadIdx.x;
    out[i] = weights[i & 7] + *counter_address + grid_of_numbers[i % 3][i % 4] +
             (int)(scale * i);
    if (i == 0) {
        counter += 100;
    }
}

__global__ void swap_pairs(float4 *v, double2 *w, uchar4 *c)
{
    int i = threadIdx.x;
    float4 a = v[i];
    v[i] = make_float4(a.w, a.z, a.y, a.x);
    double2 b = w[i];
    w[i] = make_double2(b.y, b.x);
    uchar4 d = c[i];
    c[i] = make_uchar4(d.y, d.x, d.w, d.z);
}

__global__ void mandelbrot(int *out, int w, int h, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) {
        return;
    }
    double cx = -2.0 + 3.0 * px / w, cy = -1.0 + 2.0 * py / h, x = 0, y = 0;
    int k = 0;
    while (k < most && x * x + y * y < 4.0) {
        double t = __dadd_rn(__dsub_rn(__dmul_rn(x, x), __dmul_rn(y, y)), cx);
        y = __dadd_rn(__dmul_rn(__dmul_rn(2.0, x), y), cy);
        x = t;
        k++;
    }
    out[py * w + px] = k;
}

__global__ void life(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) {
        return;
    }
    int n = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            n += (dx || dy) ? in[(y + dy + h) % h * w + (x + dx + w) % w] : 0;
        }
    }
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

}
