// Every function of the device's mathematics, by number.
// The tests compile this file, because its PTX contains code of NVIDIA's libdevice.

#define UNARY(X)                                                                     \
    X(0, sin) X(1, cos) X(2, tan) X(3, asin) X(4, acos) X(5, atan) X(6, sinh)        \
    X(7, cosh) X(8, tanh) X(9, asinh) X(10, acosh) X(11, atanh) X(12, exp)           \
    X(13, exp2) X(14, exp10) X(15, expm1) X(16, log) X(17, log2) X(18, log10)        \
    X(19, log1p) X(20, sqrt) X(21, cbrt) X(22, erf) X(23, erfc) X(24, lgamma)        \
    X(25, tgamma) X(26, floor) X(27, ceil) X(28, trunc) X(29, rint) X(30, round)     \
    X(31, fabs) X(32, j0) X(33, j1) X(34, y0) X(35, y1) X(36, rsqrt) X(37, sinpi)    \
    X(38, cospi) X(39, logb) X(40, erfinv) X(41, normcdf)
#define BINARY(X)                                                                    \
    X(0, pow) X(1, fmod) X(2, atan2) X(3, hypot) X(4, fmin) X(5, fmax) X(6, copysign) \
    X(7, remainder) X(8, fdim) X(9, nextafter)

template <typename T> __device__ void unary(int which, const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    T v = x[i], r = 0;
    switch (which) {
#define CASE(number, name) case number: r = name(v); break;
        UNARY(CASE)
    }
    y[i] = r;
}

template <typename T> __device__ void binary(int which, const T *x, const T *y, T *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    T v = x[i], w = y[i], r = 0;
    switch (which) {
#define CASE2(number, name) case number: r = name(v, w); break;
        BINARY(CASE2)
    }
    z[i] = r;
}

extern "C" {

__global__ void unary_f(int which, const float *x, float *y, int n) { unary(which, x, y, n); }
__global__ void unary_d(int which, const double *x, double *y, int n) { unary(which, x, y, n); }
__global__ void binary_f(int which, const float *x, const float *y, float *z, int n)
{
    binary(which, x, y, z, n);
}
__global__ void binary_d(int which, const double *x, const double *y, double *z, int n)
{
    binary(which, x, y, z, n);
}

__global__ void fast(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        out[i] = __sinf(v);
        out[n + i] = __cosf(v);
        out[2 * n + i] = __expf(v);
        out[3 * n + i] = __logf(fabsf(v));
        out[4 * n + i] = __fdividef(1.0f, v);
        out[5 * n + i] = __powf(fabsf(v), 1.5f);
    }
}

}
