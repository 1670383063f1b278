// Functions of mathematics. Compiled as it is, with -use_fast_math and with -ftz=true.

extern "C" {

__global__ void double_functions(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i], p = fabs(x) + 0.125, *o = out + 16 * i, s, c;
    sincos(x, &s, &c);
    o[0] = s;
    o[1] = c;
    o[2] = tan(x);
    o[3] = exp(x);
    o[4] = log(p);
    o[5] = pow(p, x * 0.5);
    o[6] = sqrt(p);
    o[7] = atan2(x, p - 1);
    o[8] = asin(x / 64) + acos(x / 64);
    o[9] = sinh(x / 8) - tanh(x);
    o[10] = cbrt(x) + rcbrt(p);
    o[11] = erf(x / 4) + log1p(p) + expm1(x / 16);
    o[12] = hypot(x, 3.0) + rsqrt(p);
    o[13] = log2(p) + exp2(x / 4) + log10(p);
    o[14] = fmod(x, 0.7) + remainder(x, 1.3);
    o[15] = 1 / (x + 100) + x / 3;
}

__global__ void double_special(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i], p = fabs(x) + 0.25, *o = out + 8 * i;
    o[0] = tgamma(p);
    o[1] = lgamma(p);
    o[2] = erfc(x / 4);
    o[3] = j0(x);
    o[4] = y1(p);
    o[5] = normcdf(x / 8);
    o[6] = erfinv(x / 64);
    o[7] = cyl_bessel_i0(x / 4);
}

__global__ void float_functions(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], p = fabsf(x) + 0.125f, *o = out + 16 * i, s, c;
    sincosf(x, &s, &c);
    o[0] = s;
    o[1] = c;
    o[2] = tanf(x / 32);
    o[3] = expf(x);
    o[4] = logf(p);
    o[5] = powf(p, x * 0.25f);
    o[6] = sqrtf(p);
    o[7] = atan2f(x, p - 1);
    o[8] = asinf(x / 64);
    o[9] = tanhf(x);
    o[10] = cbrtf(x);
    o[11] = erff(x / 4);
    o[12] = hypotf(x, 3.0f);
    o[13] = log2f(p);
    o[14] = exp2f(x / 4);
    o[15] = p / 3.7f;
}

__global__ void float_special(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], p = fabsf(x) + 0.25f, *o = out + 8 * i;
    o[0] = tgammaf(p);
    o[1] = lgammaf(p);
    o[2] = erfcf(x / 4);
    o[3] = j1f(x);
    o[4] = y0f(p);
    o[5] = sinpif(x / 5);
    o[6] = normcdfinvf(0.5f + x / 256);
    o[7] = sinf(x * 1e6f);
}

// Rounding to integers, parts of a number, directed rounding.
__global__ void rounding(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = in[i], *o = out + 16 * i, whole;
    float f = (float)x;
    int e;
    o[0] = floor(x) + 16 * ceil(x);
    o[1] = trunc(x) + 16 * round(x);
    o[2] = rint(x) + 16 * (double)llrint(x / 2);
    o[3] = modf(x, &whole);
    o[3] += whole * 4;
    o[4] = frexp(x, &e) + e;
    o[5] = ldexp(x, i % 30 - 15) + logb(x + 40);
    o[6] = nextafter(x, 100.0);
    o[7] = fdim(x, 0.5) + copysign(2.0, x);
    o[8] = __dadd_ru(x, 1e-17) - __dadd_rd(x, 1e-17);
    o[9] = __dmul_rz(x, 1.1) - __dmul_ru(x, 1.1);
    o[10] = __fma_rd(x, x, 1e-18) - __fma_ru(x, x, 1e-18);
    o[11] = __fdiv_rd(f, 3.0f) - (double)__fdiv_ru(f, 3.0f);
    o[12] = __fsqrt_rz(fabsf(f)) - (double)__fsqrt_ru(fabsf(f));
    o[13] = __ddiv_rd(1.0, x + 50) - __ddiv_ru(1.0, x + 50);
    o[14] = __frcp_rd(f + 50) - (double)__frcp_ru(f + 50);
    o[15] = __fadd_rz(f, 1e-9f) + (double)__float2int_rn(f) + __float2uint_ru(fabsf(f)) +
            (double)__int2float_rz(i * 123456789) + __saturatef(f);
}

// The fast intrinsics by their own names: approximations of the hardware.
__global__ void intrinsics(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], p = fabsf(x) + 0.5f, *o = out + 8 * i;
    o[0] = __sinf(x / 11);
    o[1] = __cosf(x / 11);
    o[2] = __expf(x / 4);
    o[3] = __logf(p);
    o[4] = __powf(p, 1.5f);
    o[5] = __fdividef(x, p + 1);
    o[6] = rsqrtf(p);
    o[7] = exp10f(x / 16);
}

__global__ void denormals(float *out, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i], *o = out + 6 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = x - y;
    o[3] = fmaf(x, y, x);
    o[4] = x * 1e-30f * 1e-9f;
    o[5] = x < y ? x : fabsf(y);
}

__global__ void black_scholes(float *call, float *put, const float *spot,
                              const float *strike, const float *years, float rate,
                              float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = spot[i], k = strike[i], t = years[i], root = sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) /
               (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = 0.5f * erfcf(-d1 * 0.70710678f), n2 = 0.5f * erfcf(-d2 * 0.70710678f);
    float discounted = k * expf(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1 - n2) - s * (1 - n1);
}

}  // extern "C"
