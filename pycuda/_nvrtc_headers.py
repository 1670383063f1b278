"""The standard headers for NVRTC, which has none: what device code uses of them.

``PRELUDE`` is read before every source and gives what nvcc's own first header gives:
the integer names of the C library, the limits, the constants of math.h, and mixed
overloads of the arithmetic functions. ``HEADERS`` are found by ``#include``; each must
survive inside ``extern "C"``.
"""

PRELUDE_NAME = "pycuda-prelude.h"

_LIMITS = """
#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-9223372036854775807L - 1)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif
"""

_MATH = """
#pragma once
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#define HUGE_VALF INFINITY
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
"""

_FLOAT = """
#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_EPSILON 1.19209290e-7f
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#endif
"""

_STDINT = """
#pragma once
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef long long intmax_t;
typedef unsigned long long uintmax_t;
#ifndef INT8_MAX
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295U
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX UINT64_MAX
#endif
"""

_NOTHING_MORE = "#pragma once\n"

PRELUDE = """
#pragma once
// libcu++ defines the same limits in other words, and expects 64 bits to be long long.
#pragma nv_diag_suppress 47
#include <limits.h>
#include <math.h>
#include <stddef.h>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char u_char;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long ssize_t;
// nvcc's arithmetic functions take any numbers, as C++11 says; NVRTC's only some.
template <class __pycuda_T> struct __pycuda_number;
#define __PYCUDA_NUMBER(t) \\
    template <> struct __pycuda_number<t> { typedef double type; };
__PYCUDA_NUMBER(bool)
__PYCUDA_NUMBER(char)
__PYCUDA_NUMBER(signed char)
__PYCUDA_NUMBER(unsigned char)
__PYCUDA_NUMBER(short)
__PYCUDA_NUMBER(unsigned short)
__PYCUDA_NUMBER(int)
__PYCUDA_NUMBER(unsigned int)
__PYCUDA_NUMBER(long)
__PYCUDA_NUMBER(unsigned long)
__PYCUDA_NUMBER(long long)
__PYCUDA_NUMBER(unsigned long long)
__PYCUDA_NUMBER(float)
__PYCUDA_NUMBER(double)
#define __PYCUDA_ONE(f) \\
    template <class __pycuda_T> __device__ __forceinline__ \\
    typename __pycuda_number<__pycuda_T>::type f(__pycuda_T __x) \\
    { return f((double)__x); }
#define __PYCUDA_TWO(f) \\
    template <class __pycuda_T, class __pycuda_U, \\
              class = typename __pycuda_number<__pycuda_U>::type> \\
    __device__ __forceinline__ typename __pycuda_number<__pycuda_T>::type \\
    f(__pycuda_T __x, __pycuda_U __y) { return f((double)__x, (double)__y); }
__PYCUDA_ONE(sqrt) __PYCUDA_ONE(exp) __PYCUDA_ONE(exp2) __PYCUDA_ONE(log)
__PYCUDA_ONE(log2) __PYCUDA_ONE(log10) __PYCUDA_ONE(sin) __PYCUDA_ONE(cos)
__PYCUDA_ONE(tan) __PYCUDA_ONE(asin) __PYCUDA_ONE(acos) __PYCUDA_ONE(atan)
__PYCUDA_ONE(sinh) __PYCUDA_ONE(cosh) __PYCUDA_ONE(tanh) __PYCUDA_ONE(cbrt)
__PYCUDA_ONE(floor) __PYCUDA_ONE(ceil) __PYCUDA_ONE(fabs)
__PYCUDA_TWO(pow) __PYCUDA_TWO(fmod) __PYCUDA_TWO(atan2) __PYCUDA_TWO(hypot)
__PYCUDA_TWO(fmin) __PYCUDA_TWO(fmax)
#undef __PYCUDA_NUMBER
#undef __PYCUDA_ONE
#undef __PYCUDA_TWO
"""

_STD = """
#pragma once
extern "C++" {
namespace std {
using ::abs; using ::fabs; using ::sqrt; using ::pow; using ::exp; using ::log;
using ::log2; using ::log10; using ::sin; using ::cos; using ::tan; using ::asin;
using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh;
using ::floor; using ::ceil; using ::round; using ::trunc; using ::fmod; using ::fmin;
using ::fmax; using ::fma; using ::hypot; using ::cbrt; using ::erf; using ::exp2;
using ::isnan; using ::isinf; using ::isfinite;
}
}
"""

# The driver's interface is host code; device code needs its version and handle types.
_CUDA = """
#pragma once
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
"""

HEADERS = {
    PRELUDE_NAME: PRELUDE,
    "cuda.h": _CUDA,
    "limits.h": _LIMITS,
    "float.h": _FLOAT,
    "math.h": _MATH,
    "stdint.h": _STDINT,
    "inttypes.h": "#pragma once\n#include <stdint.h>\n",
    "stddef.h": _NOTHING_MORE,
    "stdio.h": _NOTHING_MORE,
    "stdlib.h": _NOTHING_MORE,
    "stdbool.h": _NOTHING_MORE,
    "string.h": _NOTHING_MORE,
    "assert.h": _NOTHING_MORE,
    "time.h": _NOTHING_MORE,
    "memory.h": _NOTHING_MORE,
    "cmath": "#pragma once\n#include <math.h>\n" + _STD.replace("#pragma once\n", ""),
    "climits": "#pragma once\n#include <limits.h>\n",
    "cfloat": "#pragma once\n#include <float.h>\n",
    "cstdint": "#pragma once\n#include <stdint.h>\n",
    "cstddef": "#pragma once\n#include <stddef.h>\n",
    "cstdio": _NOTHING_MORE,
    "cstdlib": _NOTHING_MORE,
    "cstring": _NOTHING_MORE,
    "cassert": _NOTHING_MORE,
    "ctime": _NOTHING_MORE,
}
