"""The standard headers for NVRTC, which has none: the parts that device code uses.

``PRELUDE`` comes before a source that uses a name in it. It defines the names that
nvcc's own first header defines: the integer types of the C library, the limits, the
constants of math.h, and mixed overloads of the arithmetic functions. ``HEADERS`` are
found by ``#include``. Each of them but CUB's must compile inside ``extern "C"``.
"""

from __future__ import annotations

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
#ifndef MAXFLOAT
#define MAXFLOAT 3.40282347e+38f
#endif
#ifndef FP_NAN
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
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

_STDLIB = """
#pragma once
#ifndef EXIT_SUCCESS
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#endif
#ifndef RAND_MAX
#define RAND_MAX 2147483647
#endif
"""

# Macros that nvcc's host compiler predefines, without those for the system: with
# __linux__ defined, libcu++ of CUDA 12.5 to 12.8 includes headers of the C library.
_OF_GCC = """
#ifndef __CHAR_BIT__
#define __CHAR_BIT__ 8
#endif
#ifndef __SIZEOF_POINTER__
#define __SIZEOF_POINTER__ 8
#endif
#ifndef __INT_MAX__
#define __INT_MAX__ 2147483647
#endif
#ifndef __LONG_MAX__
#define __LONG_MAX__ 9223372036854775807L
#endif
"""

_NOTHING_MORE = "#pragma once\n"

PRELUDE = (
    f"#pragma once{_OF_GCC}"
    + """
// libcu++ defines the same limits in other words, and expects 64 bits to be long long.
#pragma nv_diag_suppress 47
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char u_char;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long ssize_t;
#if __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 2
// These releases call functions that they lack; later ones call these.
extern "C" __device__ float __nv_powif(float, int);
extern "C" __device__ double __nv_powi(double, int);
__device__ __forceinline__ float pow(float __x, int __n)
{ return __nv_powif(__x, __n); }
__device__ __forceinline__ double pow(double __x, int __n)
{ return __nv_powi(__x, __n); }
#endif
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
)

# A namespace std, which must not be affected by extern "C" around the include.
_IN_STD = 'extern "C++" {{\nnamespace std {{\n{}\n}}\n}}\n'


def _using(names: str) -> str:
    return _IN_STD.format(" ".join(f"using ::{name};" for name in names.split()))


_STD_MATH = _using(
    "abs fabs sqrt pow exp log log2 log10 sin cos tan asin acos atan atan2 sinh cosh "
    "tanh floor ceil round trunc fmod fmin fmax fma hypot cbrt erf erfc exp2 expm1 "
    "log1p asinh acosh atanh copysign fdim frexp ilogb ldexp lgamma llrint llround "
    "logb lrint lround modf nearbyint nextafter remainder remquo rint scalbln scalbn "
    "tgamma isnan isinf isfinite signbit size_t"
)
_STD_INT = _using(
    "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t "
    "uintptr_t intmax_t uintmax_t"
)

_TYPE_TRAITS = """
#pragma once
extern "C++" {
namespace std {
template <class T, T v> struct integral_constant {
    static constexpr T value = v;
    typedef T value_type;
    typedef integral_constant type;
    __host__ __device__ constexpr operator T() const { return v; }
    __host__ __device__ constexpr T operator()() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <class...> using void_t = void;
template <bool b, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool b, class T, class U> struct conditional { typedef T type; };
template <class T, class U> struct conditional<false, T, U> { typedef U type; };
template <class T, class U> struct is_same : false_type {};
template <class T> struct is_same<T, T> : true_type {};
template <class T> struct remove_const { typedef T type; };
template <class T> struct remove_const<const T> { typedef T type; };
template <class T> struct remove_volatile { typedef T type; };
template <class T> struct remove_volatile<volatile T> { typedef T type; };
template <class T> struct remove_cv {
    typedef typename remove_const<typename remove_volatile<T>::type>::type type;
};
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> struct remove_pointer { typedef T type; };
template <class T> struct remove_pointer<T *> { typedef T type; };
template <class T> struct remove_pointer<T *const> { typedef T type; };
template <class T> struct remove_extent { typedef T type; };
template <class T> struct remove_extent<T[]> { typedef T type; };
template <class T, unsigned long n> struct remove_extent<T[n]> { typedef T type; };
template <class T> struct add_const { typedef const T type; };
template <class T> struct add_pointer {
    typedef typename remove_reference<T>::type *type;
};
template <class T> struct is_const : false_type {};
template <class T> struct is_const<const T> : true_type {};
template <class T> struct is_pointer : false_type {};
template <class T> struct is_pointer<T *> : true_type {};
template <class T> struct is_pointer<T *const> : true_type {};
template <class T> struct is_reference : false_type {};
template <class T> struct is_reference<T &> : true_type {};
template <class T> struct is_reference<T &&> : true_type {};
template <class T> struct is_lvalue_reference : false_type {};
template <class T> struct is_lvalue_reference<T &> : true_type {};
template <class T> struct is_array : false_type {};
template <class T> struct is_array<T[]> : true_type {};
template <class T, unsigned long n> struct is_array<T[n]> : true_type {};
template <class T> struct is_void : is_same<typename remove_cv<T>::type, void> {};
template <class T> struct __pycuda_kind : integral_constant<int, 0> {};
#define __PYCUDA_KIND(n, t) \\
    template <> struct __pycuda_kind<t> : integral_constant<int, n> {};
__PYCUDA_KIND(1, bool)
__PYCUDA_KIND(1, char)
__PYCUDA_KIND(1, signed char)
__PYCUDA_KIND(1, unsigned char)
__PYCUDA_KIND(1, wchar_t)
__PYCUDA_KIND(1, char16_t)
__PYCUDA_KIND(1, char32_t)
__PYCUDA_KIND(1, short)
__PYCUDA_KIND(1, unsigned short)
__PYCUDA_KIND(1, int)
__PYCUDA_KIND(1, unsigned int)
__PYCUDA_KIND(1, long)
__PYCUDA_KIND(1, unsigned long)
__PYCUDA_KIND(1, long long)
__PYCUDA_KIND(1, unsigned long long)
__PYCUDA_KIND(2, float)
__PYCUDA_KIND(2, double)
#undef __PYCUDA_KIND
template <class T> struct is_integral
    : bool_constant<__pycuda_kind<typename remove_cv<T>::type>::value == 1> {};
template <class T> struct is_floating_point
    : bool_constant<__pycuda_kind<typename remove_cv<T>::type>::value == 2> {};
template <class T> struct is_arithmetic
    : bool_constant<__pycuda_kind<typename remove_cv<T>::type>::value != 0> {};
template <class T, bool = is_arithmetic<T>::value> struct is_signed
    : bool_constant<(T(-1) < T(0))> {};
template <class T> struct is_signed<T, false> : false_type {};
template <class T, bool = is_arithmetic<T>::value> struct is_unsigned
    : bool_constant<(T(0) < T(-1))> {};
template <class T> struct is_unsigned<T, false> : false_type {};
template <class T> struct is_enum : bool_constant<__is_enum(T)> {};
template <class T> struct is_class : bool_constant<__is_class(T)> {};
template <class T> struct is_union : bool_constant<__is_union(T)> {};
template <class T> struct is_empty : bool_constant<__is_empty(T)> {};
template <class B, class D> struct is_base_of : bool_constant<__is_base_of(B, D)> {};
template <class T> struct is_trivially_copyable
    : bool_constant<__is_trivially_copyable(T)> {};
template <class T> struct underlying_type { typedef __underlying_type(T) type; };
template <class T> struct make_unsigned { typedef T type; };
template <class T> struct make_signed { typedef T type; };
#define __PYCUDA_SIGNS(s, u) \\
    template <> struct make_unsigned<s> { typedef u type; }; \\
    template <> struct make_signed<u> { typedef s type; };
__PYCUDA_SIGNS(signed char, unsigned char)
__PYCUDA_SIGNS(short, unsigned short)
__PYCUDA_SIGNS(int, unsigned int)
__PYCUDA_SIGNS(long, unsigned long)
__PYCUDA_SIGNS(long long, unsigned long long)
#undef __PYCUDA_SIGNS
template <> struct make_unsigned<char> { typedef unsigned char type; };
template <> struct make_signed<char> { typedef signed char type; };
template <class T, class U = typename remove_reference<T>::type> struct decay {
    typedef typename conditional<is_array<U>::value,
        typename remove_extent<U>::type *, typename remove_cv<U>::type>::type type;
};
template <class T> T &&declval() noexcept;
template <bool b, class T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, class T, class U> using conditional_t =
    typename conditional<b, T, U>::type;
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> using add_pointer_t = typename add_pointer<T>::type;
template <class T> using make_unsigned_t = typename make_unsigned<T>::type;
template <class T> using make_signed_t = typename make_signed<T>::type;
template <class T> using underlying_type_t = typename underlying_type<T>::type;
template <class T> using decay_t = typename decay<T>::type;
#if __cplusplus >= 201703L
template <class T, class U> inline constexpr bool is_same_v = is_same<T, U>::value;
template <class T> inline constexpr bool is_integral_v = is_integral<T>::value;
template <class T> inline constexpr bool is_floating_point_v =
    is_floating_point<T>::value;
template <class T> inline constexpr bool is_arithmetic_v = is_arithmetic<T>::value;
template <class T> inline constexpr bool is_signed_v = is_signed<T>::value;
template <class T> inline constexpr bool is_unsigned_v = is_unsigned<T>::value;
template <class T> inline constexpr bool is_pointer_v = is_pointer<T>::value;
template <class T> inline constexpr bool is_const_v = is_const<T>::value;
template <class T> inline constexpr bool is_void_v = is_void<T>::value;
template <class T> inline constexpr bool is_enum_v = is_enum<T>::value;
template <class B, class D> inline constexpr bool is_base_of_v =
    is_base_of<B, D>::value;
#endif
}
}
"""

_NUMERIC_LIMITS = """
#pragma once
#include <limits.h>
#include <float.h>
extern "C++" {
namespace std {
template <class T> struct numeric_limits {
    static constexpr bool is_specialized = false;
};
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};
#define __PYCUDA_VALUE(name, value) \\
    __host__ __device__ static constexpr type name() noexcept { return value; }
#if __has_builtin(__builtin_bit_cast)
#define __PYCUDA_BITS(name, convert, bits) \\
    __PYCUDA_VALUE(name, __builtin_bit_cast(type, bits))
#else // then it is no constant
#define __PYCUDA_BITS(name, convert, bits) \\
    __device__ static type name() noexcept { return convert(bits); }
#endif
#define __PYCUDA_LIMITS(t, whole, least, most, bits, decimals) \\
    typedef t type; \\
    static constexpr bool is_specialized = true; \\
    static constexpr bool is_signed = (t)-1 < (t)0; \\
    static constexpr bool is_integer = whole; \\
    static constexpr bool is_exact = whole; \\
    static constexpr bool has_infinity = !whole; \\
    static constexpr bool has_quiet_NaN = !whole; \\
    static constexpr int radix = 2; \\
    static constexpr int digits = bits; \\
    static constexpr int digits10 = decimals; \\
    __PYCUDA_VALUE(min, least) \\
    __PYCUDA_VALUE(max, most)
#define __PYCUDA_WHOLE(t, least, most) \\
    template <> struct numeric_limits<t> { \\
        __PYCUDA_LIMITS(t, true, least, most, \\
            int(sizeof(t) * 8) - ((t)-1 < (t)0), digits * 643L / 2136) \\
        __PYCUDA_VALUE(lowest, least) \\
        __PYCUDA_VALUE(epsilon, 0) \\
        __PYCUDA_VALUE(infinity, 0) \\
        __PYCUDA_VALUE(quiet_NaN, 0) \\
    };
__PYCUDA_WHOLE(char, CHAR_MIN, CHAR_MAX)
__PYCUDA_WHOLE(signed char, SCHAR_MIN, SCHAR_MAX)
__PYCUDA_WHOLE(unsigned char, 0, UCHAR_MAX)
__PYCUDA_WHOLE(short, SHRT_MIN, SHRT_MAX)
__PYCUDA_WHOLE(unsigned short, 0, USHRT_MAX)
__PYCUDA_WHOLE(int, INT_MIN, INT_MAX)
__PYCUDA_WHOLE(unsigned int, 0, UINT_MAX)
__PYCUDA_WHOLE(long, LONG_MIN, LONG_MAX)
__PYCUDA_WHOLE(unsigned long, 0, ULONG_MAX)
__PYCUDA_WHOLE(long long, LLONG_MIN, LLONG_MAX)
__PYCUDA_WHOLE(unsigned long long, 0, ULLONG_MAX)
template <> struct numeric_limits<bool> {
    __PYCUDA_LIMITS(bool, true, false, true, 1, 0)
    __PYCUDA_VALUE(lowest, false)
};
template <> struct numeric_limits<float> {
    __PYCUDA_LIMITS(float, false, FLT_MIN, FLT_MAX, FLT_MANT_DIG, FLT_DIG)
    __PYCUDA_VALUE(lowest, -FLT_MAX)
    __PYCUDA_VALUE(epsilon, FLT_EPSILON)
    __PYCUDA_BITS(infinity, __int_as_float, 0x7f800000)
    __PYCUDA_BITS(quiet_NaN, __int_as_float, 0x7fc00000)
};
template <> struct numeric_limits<double> {
    __PYCUDA_LIMITS(double, false, DBL_MIN, DBL_MAX, DBL_MANT_DIG, DBL_DIG)
    __PYCUDA_VALUE(lowest, -DBL_MAX)
    __PYCUDA_VALUE(epsilon, DBL_EPSILON)
    __PYCUDA_BITS(infinity, __longlong_as_double, 0x7ff0000000000000LL)
    __PYCUDA_BITS(quiet_NaN, __longlong_as_double, 0x7ff8000000000000LL)
};
#undef __PYCUDA_VALUE
#undef __PYCUDA_BITS
#undef __PYCUDA_LIMITS
#undef __PYCUDA_WHOLE
}
}
"""

_UTILITY = """
#pragma once
extern "C++" {
namespace std {
using ::size_t;
template <class T> __host__ __device__ constexpr void swap(T &a, T &b)
{
    T c = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(c);
}
template <class A, class B> struct pair {
    typedef A first_type;
    typedef B second_type;
    A first;
    B second;
};
template <class A, class B>
__host__ __device__ constexpr pair<A, B> make_pair(A a, B b) { return {a, b}; }
}
}
"""

_ALGORITHM = """
#pragma once
#include <utility>
extern "C++" {
namespace std {
template <class T> __host__ __device__ constexpr const T &min(const T &a, const T &b)
{
    return b < a ? b : a;
}
template <class T> __host__ __device__ constexpr const T &max(const T &a, const T &b)
{
    return a < b ? b : a;
}
}
}
"""

# The driver's interface is host code. Device code needs its version and handle types.
_CUDA = """
#pragma once
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
"""

# Headers of host code. They are empty, so that a source that includes them without
# using them in device code compiles.
_OF_THE_HOST = (
    "complex.h ctype.h errno.h fenv.h iso646.h locale.h signal.h stdarg.h sys/time.h "
    "sys/types.h unistd.h array cctype cerrno cfenv clocale cstdarg cstdbool exception "
    "fstream functional iomanip iostream iterator map memory numeric sstream stdexcept "
    "string tuple typeinfo vector"
)

# CUB's header of everything includes algorithms that the host calls, which NVRTC
# refuses. This one includes what kernels call, as far as the installed CUB has it.
_CUB = "#pragma once\n#include <cub/config.cuh>\n" + "".join(
    f"#if __has_include(<cub/{name}.cuh>)\n#include <cub/{name}.cuh>\n#endif\n"
    for folder, names in {
        "block/block_": "adjacent_difference discontinuity exchange histogram load "
        "merge_sort radix_rank radix_sort reduce run_length_decode scan shuffle store",
        "grid/grid_": "even_share mapping queue",
        "iterator/": "arg_index_input_iterator cache_modified_input_iterator "
        "cache_modified_output_iterator",
        "thread/thread_": "load operators reduce scan search sort store",
        "warp/warp_": "exchange load merge_sort reduce scan store",
        "util_": "ptx type",
    }.items()
    for name in (folder + each for each in names.split())
)

HEADERS = {
    PRELUDE_NAME: PRELUDE,
    "cub/cub.cuh": _CUB,
    "cuda.h": _CUDA,
    "limits.h": _LIMITS,
    "float.h": _FLOAT,
    "math.h": _MATH,
    "stdint.h": _STDINT,
    "inttypes.h": "#pragma once\n#include <stdint.h>\n",
    "stddef.h": _NOTHING_MORE,
    "stdio.h": _NOTHING_MORE,
    "stdlib.h": _STDLIB,
    "stdbool.h": _NOTHING_MORE,
    "string.h": _NOTHING_MORE,
    "assert.h": _NOTHING_MORE,
    "time.h": _NOTHING_MORE,
    "memory.h": _NOTHING_MORE,
    "new": _NOTHING_MORE,
    "cmath": "#pragma once\n#include <math.h>\n" + _STD_MATH,
    "climits": "#pragma once\n#include <limits.h>\n",
    "cfloat": "#pragma once\n#include <float.h>\n",
    "cinttypes": "#pragma once\n#include <stdint.h>\n" + _STD_INT,
    "cstdint": "#pragma once\n#include <stdint.h>\n" + _STD_INT,
    "cstddef": "#pragma once\n" + _using("size_t ptrdiff_t"),
    "cstdio": "#pragma once\n" + _using("printf"),
    "cstdlib": "#pragma once\n"
    + "#include <stdlib.h>\n"
    + _using("size_t malloc free abs labs llabs"),
    "cstring": "#pragma once\n" + _using("size_t memcpy memset"),
    "cassert": _NOTHING_MORE,
    "ctime": "#pragma once\n" + _using("clock_t clock"),
    "type_traits": _TYPE_TRAITS,
    "limits": _NUMERIC_LIMITS,
    "utility": _UTILITY,
    "algorithm": _ALGORITHM,
    "initializer_list": _NOTHING_MORE,
    **dict.fromkeys(_OF_THE_HOST.split(), _NOTHING_MORE),
}

# The headers of which libcu++ of CUDA 12 has files of the same names, which it
# includes.
OF_CXX = frozenset(name for name in HEADERS if "." not in name)

# Headers whose content is built into NVRTC. They are offered empty where the toolkit's
# files are not installed.
BUILT_IN = (
    "builtin_types.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_atomic_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "host_defines.h",
    "math_functions.h",
    "vector_functions.h",
    "vector_types.h",
)
BUILT_IN_TEXT = _NOTHING_MORE
