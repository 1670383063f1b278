// The language: templates, recursion, function pointers, virtual functions, switch, bits.

template <typename T, int N>
struct small_vector {
    T v[N];
    __device__ T dot(const small_vector &o) const
    {
        T s = 0;
#pragma unroll
        for (int k = 0; k < N; k++) s += v[k] * o.v[k];
        return s;
    }
};

template <typename T>
struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T>
struct larger {
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T, typename OP>
__device__ T fold(const T *in, int n, T first, OP op)
{
    for (int k = 0; k < n; k++) first = op(first, in[k]);
    return first;
}

template <typename F>
__device__ float integrate(F f, float a, float b, int steps)
{
    float h = (b - a) / steps, s = 0;
    for (int k = 0; k < steps; k++) s += f(a + (k + 0.5f) * h);
    return s * h;
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__device__ void quick_sort(float *a, int low, int high)
{
    while (low < high) {
        float pivot = a[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                float x = a[i];
                a[i++] = a[j];
                a[j--] = x;
            }
        }
        if (j - low < high - i) {
            quick_sort(a, low, j);
            low = i;
        } else {
            quick_sort(a, i, high);
            high = j;
        }
    }
}

typedef float (*unary)(float);

__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float inverse(float x) { return 1 / x; }
__device__ __noinline__ float flip(float x) { return -x; }
__device__ unary functions[4] = {twice, square, inverse, flip};

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual int sides() const { return 0; }
    __device__ virtual ~shape() {}
};

struct circle : shape {
    float r;
    __device__ circle(float r) : r(r) {}
    __device__ float area() const { return 3.140625f * r * r; }
};

struct box : shape {
    float w, h;
    __device__ box(float w, float h) : w(w), h(h) {}
    __device__ float area() const { return w * h; }
    __device__ int sides() const { return 4; }
};

extern "C" {

__global__ void templates(float *dots, int *sums, double *most, const float *f,
                          const int *i32, const double *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    small_vector<float, 5> a, b;
    for (int k = 0; k < 5; k++) {
        a.v[k] = f[(i + k) % n];
        b.v[k] = f[(i + 2 * k) % n];
    }
    dots[i] = a.dot(b);
    sums[i] = fold(i32, i % 40, 7, plus<int>());
    most[i] = fold(d, i % 50, -1.0, larger<double>());
}

__global__ void lambdas(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float c = i * 0.25f;
    auto parabola = [c](float x) { return x * x + c; };
    out[i] = integrate(parabola, 0.0f, 1.0f, 16) +
             integrate([=](float x) { return c - x; }, -1.0f, 2.0f, 8);
}

__global__ void recursion(int *a, unsigned *f, float *sorted, int per_thread)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    a[t] = ackermann(2, t % 5);
    f[t] = fib(t % 13);
    quick_sort(sorted + t * per_thread, 0, per_thread - 1);
}

__global__ void function_pointers(float *out, const float *in, const int *program,
                                  int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int k = 0; k < length; k++) x = functions[(program[k] + i) & 3](x);
    out[i] = x;
}

__global__ void virtual_functions(float *areas, int *sides, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    shape *s;
    if (i % 3 == 0)
        s = new circle(i * 0.5f);
    else
        s = new box((float)i, i % 3 + 0.5f);
    areas[i] = s->area();
    sides[i] = s->sides();
    delete s;
}

// A byte code with a dense switch: a jump table or a tree of comparisons.
__global__ void byte_code(int *out, const unsigned char *code, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a = i, b = 1;
    for (int pc = 0; pc < length; pc++) {
        switch (code[pc]) {
        case 0: a += b; break;
        case 1: a -= b; break;
        case 2: a *= 3; break;
        case 3: b = a ^ b; break;
        case 4: a = b >> 1; break;
        case 5: { int x = a; a = b; b = x; } break;
        case 6: a = -a; break;
        case 7: b += pc; break;
        case 8: if (a & 1) pc++; break;
        case 9: a |= 0x10; break;
        case 10: b &= 0xffff; break;
        default: a++; break;
        }
    }
    out[2 * i] = a;
    out[2 * i + 1] = b;
}

__global__ void lane_switch(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], r = 0;
    switch (v & 15) {
    case 0: r = v * 3; break;
    case 1: r = v - 7;  // falls through
    case 2: r += v / 3; break;
    case 3: r = v % 11; break;
    case 4: for (int k = 0; k < (v >> 4 & 7); k++) r += k * v; break;
    case 5: r = __popc(v); break;
    case 6: r = v << 3; break;
    case 7: r = v >> 2; break;
    case 8: r = ~v; break;
    case 9: return;
    case 10: r = v ^ 0x1234; break;
    case 11: r = min(v, 1000); break;
    default: r = -v; break;
    }
    out[i] = r;
}

__global__ void goto_loops(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = (unsigned)in[i] & 0xffff;
    int steps = 0;
    for (;;) {  // Collatz, with a way out of the middle
        if (v <= 1) break;
        if (steps > 200) goto far;
        if (v & 1) {
            v = 3 * v + 1;
            if (v % 5 == 0) {
                steps += 2;
                continue;
            }
        } else
            v >>= 1;
        steps++;
    }
    out[i] = steps;
    return;
far:
    out[i] = -steps;
}

__global__ void bit_tricks(unsigned *out, const unsigned *a, const unsigned *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    unsigned long long w = (unsigned long long)x << 32 | y;
    unsigned *o = out + 16 * i;
    o[0] = __popc(x);
    o[1] = __clz((int)x);
    o[2] = __brev(x);
    o[3] = __ffs((int)x);
    o[4] = __popcll(w);
    o[5] = __clzll((long long)w);
    o[6] = (unsigned)(__brevll(w) >> 13);
    o[7] = __ffsll((long long)w);
    o[8] = __byte_perm(x, y, 0x3615);
    o[9] = __funnelshift_l(x, y, y & 63);
    o[10] = __funnelshift_rc(x, y, y & 63);
    o[11] = __umulhi(x, y);
    o[12] = (unsigned)__mulhi((int)x, (int)y);
    o[13] = __sad((int)x, (int)y, 5u);
    o[14] = __umul24(x, y) + (unsigned)__mul24((int)x, (int)y);
    o[15] = (unsigned)__hadd((int)x, (int)y) ^ __urhadd(x, y);
}

__global__ void dot_products(int *out, const int *a, const int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = __dp4a(a[i], b[i], i);
    out[4 * i + 1] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], (unsigned)i);
    out[4 * i + 2] = __dp2a_lo(a[i], b[i], -i);
    out[4 * i + 3] = __dp2a_hi(a[i], b[i], i * i);
}

__global__ void simd_bytes(unsigned *out, const unsigned *a, const unsigned *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], *o = out + 6 * i;
    o[0] = __vadd4(x, y);
    o[1] = __vabsdiffu4(x, y);
    o[2] = __vmaxs2(x, y);
    o[3] = __vcmpgtu4(x, y);
    o[4] = __vaddus4(x, y);
    o[5] = __vavgu4(x, y);
}

__global__ void long_math(long long *out, const long long *a, const long long *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i] ? b[i] : 1, *o = out + 10 * i;
    unsigned long long ux = (unsigned long long)x, uy = (unsigned long long)y;
    int s = (int)(y & 63);
    o[0] = x / y;
    o[1] = x % y;
    o[2] = (long long)(ux / uy);
    o[3] = (long long)(ux % uy);
    o[4] = (long long)((ux << s) | (ux >> (63 & -s)));
    o[5] = x >> s;
    o[6] = __mul64hi(x, y);
    o[7] = (long long)__umul64hi(ux, uy);
    o[8] = x * y + (x < y);
    o[9] = llabs(x) / 1000003 + (long long)(ux % 97);
}

__global__ void wide_math(unsigned *out, const unsigned *a, const unsigned *b, int n)
{
    // 128-bit sum and product through carry chains and the compiler's own __int128.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned *x = a + 4 * i, *y = b + 4 * i;
    unsigned *o = out + 8 * i;
    asm("add.cc.u32 %0, %4, %8; addc.cc.u32 %1, %5, %9;"
        " addc.cc.u32 %2, %6, %10; addc.u32 %3, %7, %11;"
        : "=r"(o[0]), "=r"(o[1]), "=r"(o[2]), "=r"(o[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]),
          "r"(y[3]));
    unsigned __int128 p = (unsigned __int128)((unsigned long long)x[1] << 32 | x[0]) *
                          ((unsigned long long)y[1] << 32 | y[0]);
    p -= ((unsigned __int128)x[3] << 96) + y[2];
    o[4] = (unsigned)p;
    o[5] = (unsigned)(p >> 32);
    o[6] = (unsigned)(p >> 64);
    o[7] = (unsigned)(p >> 96);
}

__global__ void inline_ptx(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i], r, lane;
    unsigned below;
    asm volatile("{ .reg .pred p; .reg .b32 t;\n\t"
                 "setp.lt.s32 p, %1, 0;\n\t"
                 "mul.wide.s16 t, 3, 7;\n\t"
                 "@p neg.s32 t, t;\n\t"
                 "@!p add.s32 t, t, %1;\n\t"
                 "bfe.s32 %0, %1, 3, 9;\n\t"
                 "mad.lo.s32 %0, %0, 5, t; }"
                 : "=r"(r)
                 : "r"(v));
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out[i] = r ^ (lane << 20) ^ (int)(__popc(below) << 26);
}

__global__ void where_am_i(int *out)
{
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int *o = out + 4 * (b * blockDim.x * blockDim.y * blockDim.z + t);
    o[0] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    o[1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    o[2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16 | warpSize << 24;
    o[3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
}

}  // extern "C"
