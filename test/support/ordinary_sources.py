"""Ordinary CUDA sources, which every compiler must accept.

Each compiles with nvcc without options. They need only the compiler and, if the name
begins with "toolkit", the toolkit's headers.
"""

SOURCES = {
    "plain": """
extern __shared__ float s[];
__constant__ float c[4] = {1, 2, 3, 4};
__device__ float g[3];
__global__ __launch_bounds__(128) void f(float *p)
{
    s[threadIdx.x] = p[0];
    __syncthreads();
    *p = s[0] + c[1] + g[2];
    atomicAdd(p, 1.f);
}
""",
    "names of integers": """
__global__ void f(uint a, ushort b, ulong c, uchar4 d, size_t e, longlong2 g, float3 h,
                  ptrdiff_t i, int64_t j, int8_t k, int *o)
{
    *o = a + b + c + d.x + e + g.x + h.x + i + j + k;
}
""",
    "mathematics": """
#include <math.h>
__global__ void f(float *a, double *d, int i)
{
    a[0] = expm1(a[0]) + log1p(a[1]) + round(a[2]) + trunc(a[3]) + rint(a[4]);
    a[1] = copysign(a[1], a[2]) + erf(a[0]) + lgamma(a[1]) + tgamma(a[0]);
    a[2] = remainder(a[0], a[1]) + ldexp(a[0], i) + scalbn(a[0], i) + isfinite(a[0]);
    a[3] = signbit(a[0]) + fma(a[0], a[1], a[2]) + fdim(a[0], a[1]) + rsqrt(a[0]);
    a[4] = asinh(a[0]) + sinpi(a[0]) + pow(a[1], i) + pow(a[1], 2.0) + sqrtf(a[0]);
    d[0] = frexp(d[1], &i) + modf(d[2], d + 3) + lround(d[1]) + llrint(d[0]);
    d[1] = ilogb(d[1]) + nextafter(d[0], d[1]) + exp10(d[1]) + abs(d[0]) + fabs(d[1]);
    d[2] = max(i, 3) + min(2.f, a[0]) + max(a[0], d[0]) + fmaxf(a[0], 1) + M_PI;
}
""",
    "mathematics in std": """
#include <cmath>
__global__ void f(float *a, double *d, int i)
{
    a[0] = std::exp(a[0]) + std::atan2(a[0], a[1]) + std::copysign(a[0], a[1]);
    a[1] = std::floor(a[1]) + std::isnan(a[0]) + std::lround(a[0]) + std::abs(a[0]);
    d[0] = std::round(d[1]) + std::log1p(d[1]) + std::fmin(a[0], a[1]) + std::abs(i);
    d[1] = std::tgamma(d[0]) + std::pow(d[0], 2.0) + std::sqrt(d[1]);
}
""",
    "integers in std": """
#include <cstdint>
#include <cstddef>
__global__ void f(std::uint32_t *a, std::size_t n, std::int64_t k, std::uint8_t q)
{
    std::ptrdiff_t d = 1;
    a[n] = k + q + d + UINT32_MAX;
}
""",
    "traits": """
#include <type_traits>
template <class T>
__device__ typename std::enable_if<std::is_integral<T>::value, T>::type next(T a)
{
    return a + 1;
}
template <class T>
__device__ std::enable_if_t<std::is_floating_point<T>::value, T> next(T a)
{
    return a * 2;
}
enum class Kind : short { one };
struct Base {};
struct Derived : Base { int *p; };
static_assert(std::is_same<std::remove_reference<int &>::type, int>::value, "");
static_assert(std::is_same<std::decay_t<const int &>, int>::value, "");
static_assert(std::is_same<std::decay_t<int[3]>, int *>::value, "");
static_assert(std::is_same<std::remove_cv_t<const volatile int>, int>::value, "");
static_assert(std::is_same<std::make_unsigned_t<long>, unsigned long>::value, "");
static_assert(std::is_same<std::make_signed_t<unsigned char>, signed char>::value, "");
static_assert(std::is_same<std::underlying_type_t<Kind>, short>::value, "");
static_assert(std::is_same<std::remove_pointer_t<float *const>, float>::value, "");
static_assert(std::is_signed<int>::value && !std::is_signed<unsigned>::value, "");
static_assert(std::is_unsigned<bool>::value && std::is_signed<float>::value, "");
static_assert(!std::is_signed<Base>::value && !std::is_unsigned<double>::value, "");
static_assert(std::is_integral<const char>::value && std::is_integral<bool>::value, "");
static_assert(!std::is_arithmetic<int *>::value && std::is_pointer<int *>::value, "");
static_assert(std::is_base_of<Base, Derived>::value, "");
static_assert(std::is_trivially_copyable<Derived>::value, "");
static_assert(std::is_void<const void>::value && std::is_enum<Kind>::value, "");
static_assert(std::is_const<const int>::value && std::is_class<Base>::value, "");
static_assert(std::integral_constant<int, 3>() == 3 && std::true_type::value, "");
__global__ void f(float *a, int *b)
{
    std::conditional<true, int, float>::type z = 3;
    *a = next(*a) + z;
    *b = next(*b);
}
""",
    "limits": """
#include <limits>
template <class T> struct Small { enum { bits = std::numeric_limits<T>::digits }; };
static_assert(Small<float>::bits == 24 && Small<double>::bits == 53, "");
static_assert(Small<int>::bits == 31 && Small<unsigned char>::bits == 8, "");
static_assert(std::numeric_limits<int>::is_integer, "");
static_assert(!std::numeric_limits<float>::is_exact, "");
static_assert(std::numeric_limits<const long>::is_signed, "");
static_assert(std::numeric_limits<short>::digits10 == 4, "");
static_assert(std::numeric_limits<unsigned long long>::digits10 == 19, "");
static_assert(std::numeric_limits<double>::has_infinity, "");
static_assert(!std::numeric_limits<float *>::is_specialized, "");
static_assert(std::numeric_limits<int>::max() == 2147483647, "");
static_assert(std::numeric_limits<signed char>::min() == -128, "");
static_assert(std::numeric_limits<short>::lowest() == -32768, "");
static_assert(std::numeric_limits<float>::lowest() < -3.4e38f, "");
static_assert(std::numeric_limits<double>::epsilon() < 3e-16, "");
__global__ void f(float *a)
{
    a[0] = std::numeric_limits<float>::digits + Small<long>::bits;
}
""",
    "helpers of std": """
#include <algorithm>
#include <utility>
#include <initializer_list>
struct P { std::pair<int, float> p; };
__device__ int sum(std::initializer_list<int> list)
{
    int total = 0;
    for (int x : list)
        total += x;
    return total;
}
__global__ void f(int *a, P p) { a[0] = p.p.first + sum({1, 2, 3}); }
""",
    "headers of C": """
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
__global__ void f(char *p, int *q, clock_t *c)
{
    assert(q[0] > 0);
    memcpy(p, q, 5);
    void *m = malloc(4);
    memset(m, 0, 4);
    printf("%p %d", m, INT_MAX);
    free(m);
    c[0] = clock();
}
""",
    "headers of C in std": """
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
__global__ void f(int *p)
{
    float x = 1;
    std::memcpy(p, &x, sizeof x);
    p[1] = INT_MAX - CHAR_BIT;
    std::printf("%d", p[1]);
}
""",
    "constants of C without a header": """
static_assert(EXIT_SUCCESS == 0 && EXIT_FAILURE == 1 && RAND_MAX == 2147483647, "");
static_assert(FP_NAN == 0 && FP_INFINITE == 1 && FP_ZERO == 2, "");
static_assert(FP_SUBNORMAL == 3 && FP_NORMAL == 4 && MAXFLOAT > 3.4e38f, "");
__global__ void f(float *a) { a[0] = MAXFLOAT; }
""",
    "what the host compiler is": """
static_assert(__CHAR_BIT__ == 8 && __SIZEOF_POINTER__ == 8, "");
static_assert(__INT_MAX__ == 2147483647 && __LONG_MAX__ > __INT_MAX__, "");
__global__ void f(float *a) { a[0] = __CHAR_BIT__; }
""",
    "long integers in std": """
#include <cmath>
#include <cstdlib>
#include <cinttypes>
__global__ void f(long *a, long long *b, std::int32_t *c, std::size_t n)
{
    a[0] = std::labs(a[1]) + std::abs(a[2]) + labs(a[3]);
    b[0] = std::llabs(b[1]) + llabs(b[2]);
    c[n] = 1;
}
""",
    "size_t of other headers": """
#include <cmath>
#include <utility>
__global__ void f(int *a, std::size_t n) { a[n] = 1; }
""",
    "headers of no use": """
#include <complex.h>
#undef I
#include <fenv.h>
#include <iso646.h>
#include <locale.h>
#include <stdarg.h>
#include <sys/time.h>
#include <cfenv>
#include <clocale>
#include <cstdarg>
#include <cstdbool>
#include <exception>
#include <stdexcept>
#include <typeinfo>
__global__ void f(int *a) { a[0] = a[1] and not a[2]; }
""",
    "headers of host code": """
#include <array>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>
__global__ void f(int *p) { *p = 1; }
""",
    "functions of the host": """
#include <stdio.h>
int div_up(int a, int b) { return (a + b - 1) / b; }
__global__ void f(int *a) { *a = 1; }
void tell() { printf("%d", div_up(3, 2)); }
""",
    "variables of the host": """
int counter = 3;
const int N = 4;
static const float pi = 3.14f;
__global__ void f(float *a) { *a = N * pi; }
""",
    "objects": """
#include <new>
struct A {
    int x;
    __device__ A(int y) : x(y) {}
};
__global__ void f(void *p, int *q)
{
    A *a = new (p) A(3);
    int *z = new int[3];
    *q = a->x + z[0];
    delete[] z;
}
""",
    "lambdas": """
template <class F> __device__ int apply(F g) { return g(3); }
__global__ void f(int *p)
{
    int n = p[1];
    p[0] = apply([=](int x) { return x + n; });
}
""",
    "wide integers": """
__global__ void f(unsigned __int128 *a) { *a *= 3; }
""",
    "by compiler": """
#if defined(__CUDACC__) && __CUDACC_VER_MAJOR__ >= 11 && __cplusplus >= 201402L
__global__ void f(int *p)
{
#ifdef __CUDA_ARCH__
    *p = __CUDA_ARCH__;
#endif
}
#else
#error neither one nor the other
#endif
""",
    "inside of extern C": """
extern "C" {
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdint.h>
#include <type_traits>
#include <utility>
__global__ void f(int *p) { *p = 1; }
}
""",
    "toolkit: runtime": """
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <vector_types.h>
#include <cuda.h>
__global__ void f(float4 *a) { a[0] = make_float4(1, 2, 3, 4); }
""",
    "toolkit: constants": """
#include <math_constants.h>
__global__ void f(float *a) { *a = CUDART_INF_F + CUDART_PI_F; }
""",
    "toolkit: half": """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void f(__half *a, __nv_bfloat16 *b)
{
    *a = __hadd(*a, __float2half(2.f));
    *b = __float2bfloat16(3.f);
}
""",
    "toolkit: complex": """
#include <cuComplex.h>
__global__ void f(cuFloatComplex *a) { *a = cuCmulf(*a, *a); }
""",
    "toolkit: groups": """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void f(int *a)
{
    cg::thread_block block = cg::this_thread_block();
    block.sync();
    *a = block.size();
}
""",
}
