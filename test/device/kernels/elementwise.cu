// Elementwise kernels: one result an element, every common type, every way to index.
#include <cuda_fp16.h>

struct cplx {
    float re, im;
    __device__ cplx(float r, float i) : re(r), im(i) {}
};

__device__ cplx operator*(cplx a, cplx b)
{
    return cplx(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

__device__ cplx operator+(cplx a, cplx b) { return cplx(a.re + b.re, a.im + b.im); }

struct zplx {
    double re, im;
};

__device__ zplx divide(zplx a, zplx b)
{
    // Smith's way: no overflow where the quotient has none.
    zplx q;
    if (fabs(b.re) >= fabs(b.im)) {
        double r = b.im / b.re, d = b.re + b.im * r;
        q.re = (a.re + a.im * r) / d;
        q.im = (a.im - a.re * r) / d;
    } else {
        double r = b.re / b.im, d = b.re * r + b.im;
        q.re = (a.re * r + a.im) / d;
        q.im = (a.im * r - a.re) / d;
    }
    return q;
}

extern "C" {

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void grid_stride(double *z, const double *x, const double *y, double a,
                            double b, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        z[i] = a * x[i] + b * y[i];
}

__global__ void block_stride(int *out, const int *in, int per_block, int n)
{
    int begin = blockIdx.x * per_block;
    int end = min(begin + per_block, n);
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x)
        out[i] = in[i] * in[i] - 3 * in[i] + (i - begin);
}

__global__ void complex_horner(cplx *out, const cplx *z, const cplx *c, int degree, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cplx s = c[degree];
    for (int k = degree - 1; k >= 0; k--) s = s * z[i] + c[k];
    out[i] = s;
}

__global__ void complex_divide(zplx *out, const zplx *a, const zplx *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = divide(a[i], b[i]);
}

__global__ void int_ops(int *out, const int *a, const int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i], y = b[i];
    int *o = out + 10 * i;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = y ? x / y : -1;
    o[4] = y ? x % y : -1;
    o[5] = min(x, y) ^ max(x, y);
    o[6] = abs(x);
    o[7] = (unsigned)x / ((unsigned)y | 1);
    o[8] = (x < y) + 2 * (x == y) + 4 * ((unsigned)x < (unsigned)y);
    o[9] = (x & y) | ~(x ^ 0x5a5a);
}

__global__ void half_ops(__half *out, const __half *a, const __half *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = a[i], y = b[i];
    out[5 * i] = x + y;
    out[5 * i + 1] = x * y;
    out[5 * i + 2] = __hfma(x, y, __float2half(0.5f));
    out[5 * i + 3] = __hlt(x, y) ? __hneg(x) : y;
    out[5 * i + 4] = __float2half(sqrtf(fabsf(__half2float(x))) / 3.0f);
}

__global__ void half2_dot(float *out, const __half2 *a, const __half2 *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half2 s = __float2half2_rn(0.0f);
    for (int k = 0; k < 8; k++) s = __hfma2(a[8 * i + k], b[8 * i + k], s);
    out[i] = __low2float(s) + __high2float(s);
}

__global__ void mixed(double *out, const signed char *c, const unsigned short *s,
                      const int *i32, const long long *l, const float *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = c[i] * s[i] + (double)(i32[i] + l[i]) - f[i] * c[i];
}

__global__ void conversions(const double *x, signed char *c, unsigned char *uc, short *s,
                            int *i32, unsigned *u32, long long *i64,
                            unsigned long long *u64, float *f, __half *h, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    c[i] = (signed char)(int)v;
    uc[i] = (unsigned char)(unsigned)fabs(v);
    s[i] = (short)(int)v;
    i32[i] = (int)v;
    u32[i] = __double2uint_rz(v);
    i64[i] = __double2ll_rd(v);
    u64[i] = __double2ull_ru(v);
    f[i] = __double2float_rd(v);
    h[i] = __float2half((float)v);
}

__global__ void specials(float *out, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y;
    if (i >= n) return;
    float x = a[i], y = b[j];
    float *o = out + 8 * (j * n + i);
    o[0] = x + y;
    o[1] = x * y;
    o[2] = x / y;
    o[3] = fminf(x, y);
    o[4] = fmaxf(x, y);
    o[5] = fmaf(x, y, x);
    o[6] = (x < y) + 2 * (x == y) + 4 * (x > y) + 8 * isnan(x) + 16 * !(x <= y);
    o[7] = copysignf(sqrtf(fabsf(x)), y);
}

__global__ void vectors(float4 *out, const float4 *a, const int2 *b, const uchar4 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = a[i];
    int2 k = b[i];
    uchar4 w = c[i];
    out[i] = make_float4(v.x + w.x, v.y * k.x, v.z - w.z * k.y, v.w + (w.y ^ w.w));
}

}  // extern "C"
