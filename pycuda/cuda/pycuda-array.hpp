// What generated array kernels are made of: element types, conversions, and one function
// op_<name> for each row of the table of elementwise operations.
//
// Results follow NumPy: floor division and remainder by the sign of the divisor,
// division of integers by zero gives 0, NaN wins in maximum and minimum, complex
// numbers are ordered by real and then imaginary part. Half precision is computed in
// float and rounded once.
#ifndef PYCUDA_ARRAY_HPP
#define PYCUDA_ARRAY_HPP

namespace pycuda_array {

#define PYCUDA_FN __device__ __forceinline__

typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;

// In a graph, a kernel that begins with this may be launched before the kernel ahead has
// ended (pcu_kernel_launch_following): wait for the end here. Elsewhere it has no effect.
// Few blocks let the next kernel be launched at once; with more blocks, its waiting
// blocks would delay this kernel. Large grids are not launched early, because the wait
// itself takes time.
PYCUDA_FN void follow()
{
#if __CUDA_ARCH__ >= 900
    if (gridDim.x <= 256) {
        asm volatile("griddepcontrol.wait;" ::: "memory");
        if (gridDim.x <= 8) asm volatile("griddepcontrol.launch_dependents;");
    }
#endif
}

// -- half precision -------------------------------------------------------------------

struct float16 {
    unsigned short bits;

    PYCUDA_FN operator float() const
    {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};

PYCUDA_FN float16 make_half(float value)
{
    float16 half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half.bits) : "f"(value));
    return half;
}

PYCUDA_FN float16 make_half(double value)
{
    float16 half;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(half.bits) : "d"(value));
    return half;
}

// The upper half of a float.
struct bfloat16 {
    unsigned short bits;

    PYCUDA_FN operator float() const
    {
        return __uint_as_float((unsigned int)bits << 16);
    }
};

PYCUDA_FN bfloat16 make_bfloat(float value)
{
    const unsigned int all = __float_as_uint(value);
    bfloat16 result;
    result.bits = (unsigned short)((all + 0x7fff + (all >> 16 & 1)) >> 16);
    if (value != value) {
        result.bits = (unsigned short)(all >> 16 | 0x40);
    }
    return result;
}

// The float is rounded to odd, so that the second rounding is that of the value.
PYCUDA_FN bfloat16 make_bfloat(double value)
{
    float toward_0 = __double2float_rz(value);
    if ((double)toward_0 != value && value == value) {
        toward_0 = __uint_as_float(__float_as_uint(toward_0) | 1);
    }
    return make_bfloat(toward_0);
}

// -- complex --------------------------------------------------------------------------

template <class T>
struct complex {
    typedef T part;
    T re, im;
};
typedef complex<float> complex64;
typedef complex<double> complex128;

template <class T>
PYCUDA_FN complex<T> make_complex(T re, T im)
{
    complex<T> z;
    z.re = re;
    z.im = im;
    return z;
}

// -- bytes that are only moved --------------------------------------------------------

template <int size>
struct word_of;
template <>
struct word_of<1> {
    typedef unsigned char type;
};
template <>
struct word_of<2> {
    typedef unsigned short type;
};
template <>
struct word_of<4> {
    typedef unsigned int type;
};
template <>
struct word_of<8> {
    typedef uint2 type;
};
template <>
struct word_of<16> {
    typedef uint4 type;
};

template <int size, int word>
struct raw {
    typename word_of<word>::type words[size / word];
};

// N elements that are read and written as whole words.
template <class T, int N>
union pack {
    static const int bytes = N * (int)sizeof(T);
    static const int width = bytes < 16 ? bytes : 16;
    typedef typename word_of<width>::type word;

    word words[bytes / width];
    T items[N];

    PYCUDA_FN pack() {}
    PYCUDA_FN void load(const T *from)
    {
#pragma unroll
        for (int i = 0; i < bytes / width; i++) {
            words[i] = ((const word *)from)[i];
        }
    }
    // What is read once need not stay in a cache.
    PYCUDA_FN void stream(const T *from)
    {
#pragma unroll
        for (int i = 0; i < bytes / width; i++) {
            words[i] = __ldcs((const word *)from + i);
        }
    }
    PYCUDA_FN void store(T *to) const
    {
#pragma unroll
        for (int i = 0; i < bytes / width; i++) {
            ((word *)to)[i] = words[i];
        }
    }
    // The same element N times.
    PYCUDA_FN void repeat(const T *from)
    {
        const T item = *from;
#pragma unroll
        for (int i = 0; i < N; i++) {
            items[i] = item;
        }
    }
    // In reverse order.
    PYCUDA_FN void load_backward(const T *from)
    {
        pack<T, N> forward;
        forward.load(from);
#pragma unroll
        for (int i = 0; i < N; i++) {
            items[i] = forward.items[N - 1 - i];
        }
    }
};

// One element, of any size.
template <class T>
struct single {
    T items[1];

    PYCUDA_FN void load(const T *from)
    {
        items[0] = *from;
    }
    PYCUDA_FN void store(T *to) const
    {
        *to = items[0];
    }
};

// The quotient of n and a length, whose multiplier and shift the host has computed.
PYCUDA_FN uint32 quotient(uint32 n, uint32 multiplier, uint32 shift)
{
    return (__umulhi(n, multiplier) + n) >> shift;
}
PYCUDA_FN uint64 quotient(uint64 n, uint64 multiplier, uint64 shift)
{
    return (__umul64hi(n, multiplier) + n) >> (int)shift;
}

// -- copies that exchange axes --------------------------------------------------------

// Which tile a block takes. Tiles are taken in bands of 4 columns, row by row, so that
// neighbours in time are neighbours in all operands. There are fewer than 2**31: numbers
// of 64 bits would cost more in divisions than all the rest.
PYCUDA_FN void find_tile(uint32 place, uint32 columns, uint32 rows, uint32 &column,
                         uint32 &row)
{
    uint32 wide = min(columns, 4u);
    uint32 band = place / (wide * rows), within = place - band * wide * rows;
    uint32 width = min(wide, columns - wide * band);
    row = within / width;
    column = wide * band + within - row * width;
}

// What a copy keeps of a matrix: all elements, or those of a triangle. The distance of
// an element is its column less its row.
struct whole_matrix {
    PYCUDA_FN bool has(int64) const
    {
        return true;
    }
    PYCUDA_FN bool has_some(int64, int64) const
    {
        return true;
    }
};
struct triangle_part {
    int64 k;
    bool is_lower;

    PYCUDA_FN bool has(int64 distance) const
    {
        return has_some(distance, distance);
    }
    // Whether distances from least to most occur in the triangle.
    PYCUDA_FN bool has_some(int64 least, int64 most) const
    {
        if (is_lower) {
            return least <= k;
        }
        return most >= k;
    }
};

// A tile of SIDE x SIDE elements goes through shared memory. In the source, elements
// follow each other `across`, in the target `along`; PER of them are one word.
template <int SIZE, int TILE, int PER>
struct transpose_tile {
    enum {
        SIDE = TILE,
        WORDS = SIDE / PER,    // in a row
        STEP = 256 / WORDS,    // rows that a block's threads take at once
        ROUNDS = SIDE / STEP,
        ROW = SIDE * SIZE + (SIZE < 4 ? 4 : SIZE)
    };
    typedef typename word_of<SIZE>::type item;
    typedef typename word_of<SIZE * PER>::type word;

    // One element of each of PER rows. They are in one row of the target, the first at
    // this distance.
    template <class Part>
    static PYCUDA_FN word gather(const char *shared, const Part &part, int64 distance)
    {
        union {
            item items[PER];
            word whole;
        } some;
#pragma unroll
        for (int k = 0; k < PER; k++) {
            some.items[k] =
                part.has(distance + k) ? *(const item *)(shared + k * ROW) : item();
        }
        return some.whole;
    }

    // All loads of a thread are under way before it waits for the first. Elements outside
    // of the part become 0; a tile without others is not read.
    template <class Part>
    static PYCUDA_FN void move(const char *source, char *target, uint64 across,
                               uint64 along, int64 source_step, int64 target_step,
                               uint32 column, uint32 row, const Part &part)
    {
        __shared__ __align__(16) char shared[SIDE * ROW];
        const int x = threadIdx.x % WORDS * PER, y = threadIdx.x / WORDS;
        const uint64 first = (uint64)column * SIDE, top = (uint64)row * SIDE;
        const int right = (int)min(across - first, (uint64)SIDE);
        const int down = (int)min(along - top, (uint64)SIDE);
        const int64 distance = (int64)top - (int64)first;
        const bool is_read = part.has_some(distance - (right - 1), distance + (down - 1));
        word held[ROUNDS];
        source += (first + x) * SIZE + (int64)(top + y) * source_step;
        target += (top + x) * SIZE + (int64)(first + y) * target_step;
#pragma unroll
        for (int k = 0; k < ROUNDS; k++, source += STEP * source_step) {
            if (is_read && x < right && y + k * STEP < down) {
                held[k] = *(const word *)source;
            }
        }
#pragma unroll
        for (int k = 0; k < ROUNDS; k++) {
            *(word *)(shared + (y + k * STEP) * ROW + x * SIZE) = held[k];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ROUNDS; k++, target += STEP * target_step) {
            if (x < down && y + k * STEP < right) {
                *(word *)target = gather(shared + x * ROW + (y + k * STEP) * SIZE, part,
                                         distance + x - (y + k * STEP));
            }
        }
    }
};

// A tile of elements of SIZE bytes, written by rows and read by columns. The bytes after
// each row keep the threads of a warp in different banks of shared memory.
template <int SIZE, int SIDE>
struct turned_tile {
    enum { ROW = SIDE * SIZE + (SIZE < 4 ? 4 : SIZE) };
    __align__(16) char bytes[SIDE * ROW];

    template <class Pack>
    PYCUDA_FN void put(int row, int column, const Pack &element)
    {
        *(typename Pack::word *)(bytes + row * ROW + column * SIZE) = element.words[0];
    }
    template <class Pack>
    PYCUDA_FN void get(int row, int column, Pack &element) const
    {
        element.words[0] =
            *(const typename Pack::word *)(bytes + row * ROW + column * SIZE);
    }
};

// -- kinds of types -------------------------------------------------------------------

template <class T>
struct kind {
    static const bool is_float = false;
    static const bool is_signed = T(-1) < T(0);
};
template <>
struct kind<float> {
    static const bool is_float = true;
    static const bool is_signed = true;
};
template <>
struct kind<double> {
    static const bool is_float = true;
    static const bool is_signed = true;
};

template <class T, bool is_signed = kind<T>::is_signed>
struct sign_of {
    static PYCUDA_FN bool is_negative(T x)
    {
        return x < T(0);
    }
};
template <class T>
struct sign_of<T, false> {
    static PYCUDA_FN bool is_negative(T)
    {
        return false;
    }
};
template <class T>
PYCUDA_FN bool is_negative(T x)
{
    return sign_of<T>::is_negative(x);
}

template <class T>
PYCUDA_FN bool is_nan(T)
{
    return false;
}
PYCUDA_FN bool is_nan(float x)
{
    return x != x;
}
PYCUDA_FN bool is_nan(double x)
{
    return x != x;
}
template <class T>
PYCUDA_FN bool is_nan(complex<T> z)
{
    return z.re != z.re || z.im != z.im;
}

template <class T>
PYCUDA_FN bool truth(T x)
{
    return x != T(0);
}
PYCUDA_FN bool truth(float16 x)
{
    return (float)x != 0;
}
PYCUDA_FN bool truth(bfloat16 x)
{
    return (float)x != 0;
}
template <class T>
PYCUDA_FN bool truth(complex<T> z)
{
    return z.re != 0 || z.im != 0;
}

template <class T>
PYCUDA_FN bool positive(T x)
{
    return x > T(0);
}
PYCUDA_FN bool positive(bool x)
{
    return x;
}
PYCUDA_FN bool positive(float16 x)
{
    return (float)x > 0;
}
PYCUDA_FN bool positive(bfloat16 x)
{
    return (float)x > 0;
}
template <class T>
PYCUDA_FN bool positive(complex<T> z)
{
    return z.re > 0 || (z.re == 0 && z.im > 0);
}

// -- conversion -----------------------------------------------------------------------

// A float becomes an unsigned integer by way of a signed one, so that -1 wraps.
template <class To, class From>
PYCUDA_FN To from_float(From x)
{
    if (sizeof(To) < 4) {
        return To(int(x));
    }
    if (kind<To>::is_signed || (sizeof(To) == 8 && x >= From(0))) {
        return To(x);
    }
    return To((long long)x);
}

template <class To>
struct cast_to {
    template <class From>
    static PYCUDA_FN To of(From x)
    {
        return To(x);
    }
    static PYCUDA_FN To of(float x)
    {
        return from_float<To>(x);
    }
    static PYCUDA_FN To of(double x)
    {
        return from_float<To>(x);
    }
    static PYCUDA_FN To of(float16 x)
    {
        return from_float<To>((float)x);
    }
    static PYCUDA_FN To of(bfloat16 x)
    {
        return from_float<To>((float)x);
    }
    template <class T>
    static PYCUDA_FN To of(complex<T> z)
    {
        return of(z.re);
    }
};

#define PYCUDA_CAST_TO_FLOAT(T)          \
    template <>                          \
    struct cast_to<T> {                  \
        template <class From>            \
        static PYCUDA_FN T of(From x)    \
        {                                \
            return T(x);                 \
        }                                \
        static PYCUDA_FN T of(float16 x) \
        {                                \
            return T((float)x);          \
        }                                \
        static PYCUDA_FN T of(bfloat16 x) \
        {                                \
            return T((float)x);          \
        }                                \
        template <class U>               \
        static PYCUDA_FN T of(complex<U> z) \
        {                                \
            return T(z.re);              \
        }                                \
    };
PYCUDA_CAST_TO_FLOAT(float)
PYCUDA_CAST_TO_FLOAT(double)

template <>
struct cast_to<bool> {
    template <class From>
    static PYCUDA_FN bool of(From x)
    {
        return truth(x);
    }
};

template <>
struct cast_to<bfloat16> {
    template <class From>
    static PYCUDA_FN bfloat16 of(From x)
    {
        const bool needs_double =
            sizeof(From) == 8 || (sizeof(From) == 4 && !kind<From>::is_float);
        if (needs_double) {
            return make_bfloat((double)x);
        }
        return make_bfloat((float)x);
    }
    // An integer of 64 bits is rounded to odd before it is rounded to a double.
    static PYCUDA_FN bfloat16 of(int64 x)
    {
        return make_bfloat(x < 0 ? -odd(0ull - (uint64)x) : odd((uint64)x));
    }
    static PYCUDA_FN bfloat16 of(uint64 x)
    {
        return make_bfloat(odd(x));
    }
    static PYCUDA_FN double odd(uint64 x)
    {
        return x >> 53 == 0 ? (double)x : (double)((x >> 11 | ((x & 2047) != 0)) << 11);
    }
    static PYCUDA_FN bfloat16 of(float16 x)
    {
        return make_bfloat((float)x);
    }
    static PYCUDA_FN bfloat16 of(bfloat16 x)
    {
        return x;
    }
    template <class T>
    static PYCUDA_FN bfloat16 of(complex<T> z)
    {
        return make_bfloat(z.re);
    }
};

template <>
struct cast_to<float16> {
    static PYCUDA_FN float16 of(bfloat16 x)
    {
        return make_half((float)x);
    }
    template <class From>
    static PYCUDA_FN float16 of(From x)
    {
        return sizeof(From) == 8 ? make_half((double)x) : make_half((float)x);
    }
    static PYCUDA_FN float16 of(float16 x)
    {
        return x;
    }
    template <class T>
    static PYCUDA_FN float16 of(complex<T> z)
    {
        return make_half(z.re);
    }
};

template <class T>
struct cast_to<complex<T> > {
    template <class From>
    static PYCUDA_FN complex<T> of(From x)
    {
        return make_complex(cast_to<T>::of(x), T(0));
    }
    template <class U>
    static PYCUDA_FN complex<T> of(complex<U> z)
    {
        return make_complex(T(z.re), T(z.im));
    }
};

template <class To, class From>
PYCUDA_FN To cast(From x)
{
    return cast_to<To>::of(x);
}

// 1 / x to about 23 bits; 0 for x of 2**126 and more.
PYCUDA_FN float approximate_reciprocal(float x)
{
    float result;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

// -- arithmetic -----------------------------------------------------------------------

template <class T>
PYCUDA_FN T op_add(T x, T y)
{
    return T(x + y);
}
PYCUDA_FN bool op_add(bool x, bool y)
{
    return x || y;
}
template <class T>
PYCUDA_FN complex<T> op_add(complex<T> x, complex<T> y)
{
    return make_complex(x.re + y.re, x.im + y.im);
}

template <class T>
PYCUDA_FN T op_subtract(T x, T y)
{
    return T(x - y);
}
template <class T>
PYCUDA_FN complex<T> op_subtract(complex<T> x, complex<T> y)
{
    return make_complex(x.re - y.re, x.im - y.im);
}

template <class T>
PYCUDA_FN T op_multiply(T x, T y)
{
    return T(x * y);
}
// As unsigned int the product of two 16-bit numbers cannot overflow an int.
PYCUDA_FN unsigned short op_multiply(unsigned short x, unsigned short y)
{
    return (unsigned short)((unsigned int)x * y);
}
PYCUDA_FN bool op_multiply(bool x, bool y)
{
    return x && y;
}
template <class T>
PYCUDA_FN complex<T> op_multiply(complex<T> x, complex<T> y)
{
    return make_complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}

template <class T>
PYCUDA_FN T op_divide(T x, T y)
{
    return x / y;
}

// A term of a product of matrices, added as pycuda-product.hpp does it.
PYCUDA_FN float add_product(float sum, float x, float y)
{
    return __fmaf_rn(x, y, sum);
}
PYCUDA_FN double add_product(double sum, double x, double y)
{
    return __fma_rn(x, y, sum);
}

// x / y and the root of x in fewer steps, without branches. They have the same bits if
// `usual` stays true: no number is close to 0, and a root is not of a great number. Before
// the last step a result is off by less than a unit in its last place, and what it leaves
// of x is exact, so the last step rounds once. Where that does not hold at the upper end,
// the quotient is NaN or 0.
PYCUDA_FN float quick_divide(float x, float y, bool &usual)
{
    float part, quotient;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(part) : "f"(y));
    part = __fmaf_rn(part, __fmaf_rn(-y, part, 1.0f), part);
    quotient = __fmul_rn(x, part);
    quotient = __fmaf_rn(part, __fmaf_rn(-y, quotient, x), quotient);
    usual = usual & (::fabsf(quotient) > 1e-30f) & (::fabsf(x) > 1e-30f);
    return quotient;
}
PYCUDA_FN float quick_sqrt(float x, bool &usual)
{
    float part, root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(part) : "f"(x));
    root = __fmul_rn(x, part);
    usual = usual & (x > 1e-30f) & (x < 1e30f);
    return __fmaf_rn(__fmaf_rn(-root, root, x), __fmul_rn(part, 0.5f), root);
}
// Scaled by the greater part of the divisor, so that nothing overflows on the way.
template <class T>
PYCUDA_FN complex<T> op_divide(complex<T> x, complex<T> y)
{
    T re = ::fabs(y.re), im = ::fabs(y.im);
    if (re >= im) {
        if (re == 0 && im == 0) {
            return make_complex(x.re / re, x.im / re);
        }
        T ratio = y.im / y.re;
        T scale = T(1) / (y.re + y.im * ratio);
        return make_complex((x.re + x.im * ratio) * scale,
                            (x.im - x.re * ratio) * scale);
    }
    T ratio = y.re / y.im;
    T scale = T(1) / (y.im + y.re * ratio);
    return make_complex((x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale);
}

template <class T>
PYCUDA_FN T negated(T x)
{
    return T(0ull - (unsigned long long)x);
}

template <class T>
PYCUDA_FN T op_floor_divide(T x, T y)
{
    if (y == 0) {
        return 0;
    }
    if (kind<T>::is_signed) {
        if (y == T(-1)) {
            return negated(x);
        }
        T quotient = x / y;
        return quotient * y != x && is_negative(x) != is_negative(y) ? T(quotient - 1)
                                                                     : quotient;
    }
    return x / y;
}

template <class T>
PYCUDA_FN T op_remainder(T x, T y)
{
    if (y == 0 || (kind<T>::is_signed && y == T(-1))) {
        return 0;
    }
    T rest = x % y;
    return rest != 0 && is_negative(rest) != is_negative(y) ? T(rest + y) : rest;
}

template <class T>
PYCUDA_FN T op_fmod(T x, T y)
{
    return y == 0 || (kind<T>::is_signed && y == T(-1)) ? T(0) : T(x % y);
}

// The truncated quotient and the remainder, which has the sign of x, if the quotient has
// few digits: then a multiplication and a subtraction give the remainder exactly. The
// rounded quotient may be 1 too large.
PYCUDA_FN bool short_division(float x, float y, float ratio, float &whole, float &rest)
{
    if (!(::fabsf(ratio) < 4194304.0f)) {
        return false;
    }
    whole = ::truncf(ratio);
    rest = whole == 0 ? x : __fmaf_rn(-whole, y, x);
    if (rest != 0 && (rest < 0) != (x < 0)) {
        rest += ::copysignf(y, x);
        whole -= ::copysignf(1.0f, ratio);
    }
    rest = ::copysignf(rest, x);
    return true;
}
PYCUDA_FN bool short_division(double x, double y, double ratio, double &whole,
                              double &rest)
{
    if (!(::fabs(ratio) < 2251799813685248.0)) {
        return false;
    }
    whole = ::trunc(ratio);
    rest = whole == 0 ? x : __fma_rn(-whole, y, x);
    if (rest != 0 && (rest < 0) != (x < 0)) {
        rest += ::copysign(y, x);
        whole -= ::copysign(1.0, ratio);
    }
    rest = ::copysign(rest, x);
    return true;
}

template <class T>
PYCUDA_FN void float_divmod(T x, T y, T &quotient, T &rest)
{
    const T ratio = x / y;
    T whole;
    if (short_division(x, y, ratio, whole, rest)) {
        if (rest == 0) {
            rest = ::copysign(T(0), y);
        }
        else if ((y < 0) != (rest < 0)) {
            rest += y;
            whole -= T(1);
        }
        quotient = whole != 0 ? whole : ::copysign(T(0), ratio);
        return;
    }
    rest = ::fmod(x, y);
    if (y == 0) {
        quotient = x / y;
        return;
    }
    T div = (x - rest) / y;
    if (rest != 0) {
        if ((y < 0) != (rest < 0)) {
            rest += y;
            div -= T(1);
        }
    }
    else {
        rest = ::copysign(T(0), y);
    }
    if (div != 0) {
        quotient = ::floor(div);
        if (div - quotient > T(0.5)) {
            quotient += T(1);
        }
    }
    else {
        quotient = ::copysign(T(0), x / y);
    }
}

#define PYCUDA_FLOAT_DIVISION(T)             \
    PYCUDA_FN T op_floor_divide(T x, T y)    \
    {                                        \
        T quotient, rest;                    \
        float_divmod(x, y, quotient, rest);  \
        return quotient;                     \
    }                                        \
    PYCUDA_FN T op_remainder(T x, T y)       \
    {                                        \
        T quotient, rest;                    \
        float_divmod(x, y, quotient, rest);  \
        return rest;                         \
    }                                        \
    PYCUDA_FN T op_fmod(T x, T y)            \
    {                                        \
        T whole, rest;                       \
        return short_division(x, y, x / y, whole, rest) ? rest : T(::fmod(x, y)); \
    }                                        \
    template <class Q, class R>              \
    PYCUDA_FN void op_divmod(T x, T y, Q &quotient, R &rest) \
    {                                        \
        T whole, part;                       \
        float_divmod(x, y, whole, part);     \
        quotient = cast<Q>(whole);           \
        rest = cast<R>(part);                \
    }
PYCUDA_FLOAT_DIVISION(float)
PYCUDA_FLOAT_DIVISION(double)

template <class T, class Q, class R>
PYCUDA_FN void op_divmod(T x, T y, Q &quotient, R &rest)
{
    quotient = cast<Q>(op_floor_divide(x, y));
    rest = cast<R>(op_remainder(x, y));
}

// 2**(y * log2(x)) for positive normal x, where the logarithm is a sum of two floats:
// the error is about one unit in the last place. All other arguments, and results
// close to the limits of a float, are left to pow().
PYCUDA_FN float general_power(float x, float y)
{
    const uint32 root = 0x3f3504f3;  // of one half
    const uint32 bits = __float_as_uint(x), above = bits - root;
    // x = m * 2**e with m near 1, and log2(m) = 2 / ln(2) * atanh(f / (m + 1))
    const float m = __uint_as_float((above & 0x7fffff) + root);
    const float e = __uint_as_float(0x4b400000 + ((int32)above >> 23)) - 12582912.0f;
    const float f = m - 1.0f;
    float over;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(over) : "f"(m + 1.0f));
    const float s = f * over;
    const float rest = __fmaf_rn(-s, f, __fmaf_rn(-2.0f, s, f)) * over;
    const float square = s * s;
    float cubic = __fmaf_rn(square, 0.336604059f, 0.411900669f);
    cubic = __fmaf_rn(square, cubic, 0.577079773f);
    cubic = __fmaf_rn(square, cubic, 0.961796701f) * square;
    const float scale = 2.88539004f;
    float high = __fmaf_rn(s, scale, e);
    float low = __fmaf_rn(s, scale, e - high);
    low = __fmaf_rn(s, 3.85192597e-08f, low);
    low = __fmaf_rn(rest, __fmaf_rn(cubic, 3.0f, scale), low);
    low = __fmaf_rn(s, cubic, low);
    const float sum = high + low;
    low = (high - sum) + low;
    high = sum * y;
    low = __fmaf_rn(low, y, __fmaf_rn(sum, y, -high));
    // 2**n with a whole n, and 2**r with r between -1/2 and 1/2
    const float n = high + 12582912.0f;
    const float r = (high - (n - 12582912.0f)) + low;
    float p = __fmaf_rn(r, 0.000154531634f, 0.00133908633f);
    p = __fmaf_rn(r, p, 0.00961808301f);
    p = __fmaf_rn(r, p, 0.0555035695f);
    p = __fmaf_rn(r, p, 0.240226507f);
    p = __fmaf_rn(r, p, 0.693147182f);
    p = __fmaf_rn(r, p, 1.0f);
    if (bits - 0x00800000 < 0x7f000000 && ::fabsf(high) < 125.0f) {
        return __uint_as_float(__float_as_uint(p) + (__float_as_uint(n) << 23));
    }
    return ::powf(x, y);
}
PYCUDA_FN double general_power(double x, double y)
{
    return ::pow(x, y);
}
template <class T>
PYCUDA_FN T op_general_power(T x, T y)
{
    return general_power(x, y);
}

// Integers: by squaring; a negative exponent leaves 1, -1 or 0.
template <class T>
PYCUDA_FN T op_power(T x, T y)
{
    if (is_negative(y)) {
        if (x == T(1)) {
            return 1;
        }
        if (x != T(-1)) {
            return 0;
        }
        return y & 1 ? T(-1) : T(1);
    }
    T result = 1;
    for (; y != 0; y = T(y >> 1)) {
        if (y & 1) {
            result = op_multiply(result, x);
        }
        x = op_multiply(x, x);
    }
    return result;
}

// The root of x + 0 is 0 for -0 too, as the power is.
#define PYCUDA_FLOAT_POWER(T)           \
    PYCUDA_FN T op_power(T x, T y)      \
    {                                   \
        if (y == T(2)) {                \
            return x * x;               \
        }                               \
        if (y == T(1)) {                \
            return x;                   \
        }                               \
        if (y == T(-1)) {               \
            return T(1) / x;            \
        }                               \
        if (y == T(0.5) && x >= T(0)) { \
            return ::sqrt(x + T(0));    \
        }                               \
        return general_power(x, y);     \
    }
PYCUDA_FLOAT_POWER(float)
PYCUDA_FLOAT_POWER(double)

// -- bits -----------------------------------------------------------------------------

template <class T>
PYCUDA_FN T op_bitwise_and(T x, T y)
{
    return T(x & y);
}
template <class T>
PYCUDA_FN T op_bitwise_or(T x, T y)
{
    return T(x | y);
}
template <class T>
PYCUDA_FN T op_bitwise_xor(T x, T y)
{
    return T(x ^ y);
}
template <class T>
PYCUDA_FN T op_invert(T x)
{
    return T(~x);
}
PYCUDA_FN bool op_invert(bool x)
{
    return !x;
}
template <class T>
PYCUDA_FN T op_left_shift(T x, T y)
{
    return (unsigned long long)y < 8 * sizeof(T)
               ? T((unsigned long long)x << (unsigned long long)y)
               : T(0);
}
template <class T>
PYCUDA_FN T op_right_shift(T x, T y)
{
    if ((unsigned long long)y < 8 * sizeof(T)) {
        return T(x >> y);
    }
    return is_negative(x) ? T(-1) : T(0);
}

// -- comparison -----------------------------------------------------------------------

#define PYCUDA_COMPARE(name, op, complex_expression)             \
    template <class T>                                           \
    PYCUDA_FN bool op_##name(T x, T y)                           \
    {                                                            \
        return x op y;                                           \
    }                                                            \
    template <class T>                                           \
    PYCUDA_FN bool op_##name(complex<T> x, complex<T> y)         \
    {                                                            \
        return complex_expression;                               \
    }
#define PYCUDA_NO_NAN (!is_nan(x.im) && !is_nan(y.im))
PYCUDA_COMPARE(equal, ==, x.re == y.re && x.im == y.im)
PYCUDA_COMPARE(not_equal, !=, x.re != y.re || x.im != y.im)
PYCUDA_COMPARE(less, <,
               (x.re < y.re && PYCUDA_NO_NAN) || (x.re == y.re && x.im < y.im))
PYCUDA_COMPARE(less_equal, <=,
               (x.re < y.re && PYCUDA_NO_NAN) || (x.re == y.re && x.im <= y.im))
PYCUDA_COMPARE(greater, >,
               (x.re > y.re && PYCUDA_NO_NAN) || (x.re == y.re && x.im > y.im))
PYCUDA_COMPARE(greater_equal, >=,
               (x.re > y.re && PYCUDA_NO_NAN) || (x.re == y.re && x.im >= y.im))

// Integers of either sign, exactly.
#define PYCUDA_COMPARE_MIXED(name, op, if_negative, if_negative_second)        \
    PYCUDA_FN bool op_##name(int64 x, uint64 y)                                \
    {                                                                          \
        return x < 0 ? if_negative : (uint64)x op y;                           \
    }                                                                          \
    PYCUDA_FN bool op_##name(uint64 x, int64 y)                                \
    {                                                                          \
        return y < 0 ? if_negative_second : x op(uint64) y;                    \
    }
PYCUDA_COMPARE_MIXED(equal, ==, false, false)
PYCUDA_COMPARE_MIXED(not_equal, !=, true, true)
PYCUDA_COMPARE_MIXED(less, <, true, false)
PYCUDA_COMPARE_MIXED(less_equal, <=, true, false)
PYCUDA_COMPARE_MIXED(greater, >, false, true)
PYCUDA_COMPARE_MIXED(greater_equal, >=, false, true)

template <class T>
PYCUDA_FN bool op_logical_and(T x, T y)
{
    return truth(x) && truth(y);
}
template <class T>
PYCUDA_FN bool op_logical_or(T x, T y)
{
    return truth(x) || truth(y);
}
template <class T>
PYCUDA_FN bool op_logical_xor(T x, T y)
{
    return truth(x) != truth(y);
}
template <class T>
PYCUDA_FN bool op_logical_not(T x)
{
    return !truth(x);
}

template <class T>
PYCUDA_FN T op_maximum(T x, T y)
{
    return is_nan(x) || op_greater_equal(x, y) ? x : y;
}
template <class T>
PYCUDA_FN T op_minimum(T x, T y)
{
    return is_nan(x) || op_less_equal(x, y) ? x : y;
}
template <class T>
PYCUDA_FN T op_fmax(T x, T y)
{
    return is_nan(y) || op_greater_equal(x, y) ? x : y;
}
template <class T>
PYCUDA_FN T op_fmin(T x, T y)
{
    return is_nan(y) || op_less_equal(x, y) ? x : y;
}

template <class T>
PYCUDA_FN T op_clip(T x, T low, T high)
{
    return op_minimum(op_maximum(x, low), high);
}

// -- one input ------------------------------------------------------------------------

template <class T>
PYCUDA_FN T op_negative(T x)
{
    return negated(x);
}
PYCUDA_FN float op_negative(float x)
{
    return -x;
}
PYCUDA_FN double op_negative(double x)
{
    return -x;
}
template <class T>
PYCUDA_FN complex<T> op_negative(complex<T> z)
{
    return make_complex(-z.re, -z.im);
}
template <class T>
PYCUDA_FN T op_positive(T x)
{
    return x;
}

template <class T>
PYCUDA_FN T op_absolute(T x)
{
    return kind<T>::is_signed && x < T(0) ? negated(x) : x;
}
PYCUDA_FN float op_absolute(float x)
{
    return ::fabsf(x);
}
PYCUDA_FN double op_absolute(double x)
{
    return ::fabs(x);
}
PYCUDA_FN bool op_absolute(bool x)
{
    return x;
}
template <class T>
PYCUDA_FN T op_absolute(complex<T> z)
{
    return ::hypot(z.re, z.im);
}

template <class T>
PYCUDA_FN T op_real(T x)
{
    return x;
}
template <class T>
PYCUDA_FN T op_real(complex<T> z)
{
    return z.re;
}
template <class T>
PYCUDA_FN T op_imag(T)
{
    return T(0);
}
template <class T>
PYCUDA_FN T op_imag(complex<T> z)
{
    return z.im;
}
template <class T>
PYCUDA_FN T op_angle(T x)
{
    return ::atan2(T(0), x);
}
template <class T>
PYCUDA_FN T op_angle(complex<T> z)
{
    return ::atan2(z.im, z.re);
}
template <class T>
PYCUDA_FN T op_conjugate(T x)
{
    return x;
}
template <class T>
PYCUDA_FN complex<T> op_conjugate(complex<T> z)
{
    return make_complex(z.re, -z.im);
}

template <class T>
PYCUDA_FN T op_sign(T x)
{
    T sign = 0;
    if (is_nan(x)) {
        sign = x;
    }
    if (kind<T>::is_signed && x < T(0)) {
        sign = T(-1);
    }
    if (x > T(0)) {
        sign = T(1);
    }
    return sign;
}
template <class T>
PYCUDA_FN complex<T> op_sign(complex<T> z)
{
    T size = ::hypot(z.re, z.im);
    if (size == 0) {
        return make_complex(T(0), T(0));
    }
    if (::isinf(size)) {
        // Two infinities have no direction, nor has one beside a NaN.
        bool open = is_nan(z) || (::isinf(z.re) && ::isinf(z.im));
        T one = open ? z.re - z.re : T(1), none = open ? one : T(0);
        return ::isinf(z.re) ? make_complex(::copysign(one, z.re), none)
                             : make_complex(none, ::copysign(one, z.im));
    }
    return make_complex(z.re / size, z.im / size);
}

template <class T>
PYCUDA_FN T op_square(T x)
{
    return op_multiply(x, x);
}
template <class T>
PYCUDA_FN T op_reciprocal(T x)
{
    return x == T(1) || (kind<T>::is_signed && x == T(-1)) ? x : T(0);
}
PYCUDA_FN float op_reciprocal(float x)
{
    return 1.0f / x;
}
PYCUDA_FN double op_reciprocal(double x)
{
    return 1.0 / x;
}
template <class T>
PYCUDA_FN complex<T> op_reciprocal(complex<T> z)
{
    if (::fabs(z.im) <= ::fabs(z.re)) {
        T ratio = z.im / z.re, below = z.re + z.im * ratio;
        return make_complex(T(1) / below, -ratio / below);
    }
    T ratio = z.re / z.im, below = z.re * ratio + z.im;
    return make_complex(ratio / below, T(-1) / below);
}

#define PYCUDA_MATH(name, function)    \
    PYCUDA_FN float op_##name(float x) \
    {                                  \
        return ::function##f(x);       \
    }                                  \
    PYCUDA_FN double op_##name(double x) \
    {                                  \
        return ::function(x);          \
    }
PYCUDA_MATH(sqrt, sqrt)
PYCUDA_MATH(cbrt, cbrt)
PYCUDA_MATH(exp, exp)
PYCUDA_MATH(exp2, exp2)
PYCUDA_MATH(expm1, expm1)
PYCUDA_MATH(log, log)
PYCUDA_MATH(log2, log2)
PYCUDA_MATH(log10, log10)
PYCUDA_MATH(log1p, log1p)
PYCUDA_MATH(sin, sin)
PYCUDA_MATH(cos, cos)
PYCUDA_MATH(tan, tan)
PYCUDA_MATH(arcsin, asin)
PYCUDA_MATH(arccos, acos)
PYCUDA_MATH(arctan, atan)
PYCUDA_MATH(sinh, sinh)
PYCUDA_MATH(cosh, cosh)
PYCUDA_MATH(tanh, tanh)
PYCUDA_MATH(arcsinh, asinh)
PYCUDA_MATH(arccosh, acosh)
PYCUDA_MATH(arctanh, atanh)
PYCUDA_MATH(fabs, fabs)
PYCUDA_MATH(rint, rint)
template <class T>
PYCUDA_FN complex<T> op_rint(complex<T> z)
{
    return make_complex(T(::rint(z.re)), T(::rint(z.im)));
}

// Whether x and y differ by no more than most + relative * |y|.
template <class T>
PYCUDA_FN bool is_close(T distance, T size, T relative, T most)
{
    return distance <= most + relative * size;
}
template <class T>
PYCUDA_FN bool op_isclose(T x, T y, T relative, T most)
{
    return x == y || (y - y == T(0) &&
                      is_close(op_absolute(T(x - y)), op_absolute(y), relative, most));
}
template <class T>
PYCUDA_FN bool op_isclose(complex<T> x, complex<T> y, complex<T> relative,
                          complex<T> most)
{
    const bool is_finite = y.re - y.re == T(0) && y.im - y.im == T(0);
    return op_equal(x, y) ||
           (is_finite && is_close(op_absolute(op_subtract(x, y)), op_absolute(y),
                                  relative.re, most.re));
}
template <class T>
PYCUDA_FN bool op_isclose_or_nan(T x, T y, T relative, T most)
{
    return op_isclose(x, y, relative, most) || (is_nan(x) && is_nan(y));
}

// NaN, infinity and minus infinity become the given numbers.
template <class T>
PYCUDA_FN T op_nan_to_num(T x, T nan, T above, T below)
{
    T number = x;
    if (x - x != T(0)) {
        number = x > T(0) ? above : below;
    }
    if (is_nan(x)) {
        number = nan;
    }
    return number;
}
template <class T>
PYCUDA_FN complex<T> op_nan_to_num(complex<T> z, complex<T> nan, complex<T> above,
                                   complex<T> below)
{
    return make_complex(op_nan_to_num(z.re, nan.re, above.re, below.re),
                        op_nan_to_num(z.im, nan.re, above.re, below.re));
}
template <class T>
PYCUDA_FN bool op_isposinf(T x)
{
    return ::isinf(x) && x > T(0);
}
template <class T>
PYCUDA_FN bool op_isneginf(T x)
{
    return ::isinf(x) && x < T(0);
}

// sin(pi x) / (pi x)
template <class T>
PYCUDA_FN T op_sinc(T x)
{
    return x == T(0) ? T(1) : T(::sinpi(x)) / (T(3.14159265358979323846) * x);
}
// Numbers below 2**-13 give 1, those from 2**23 on are whole and give 0. Between them
// the steps of a division need no care for very small and very large numbers.
PYCUDA_FN float op_sinc(float x)
{
    const float angle = 3.14159265f * x, size = ::fabsf(x), sine = ::sinpif(x);
    float inverse = approximate_reciprocal(angle);
    inverse = ::fmaf(::fmaf(-angle, inverse, 1.0f), inverse, inverse);
    float result = sine * inverse;
    result = ::fmaf(::fmaf(-result, angle, sine), inverse, result);
    if (size < 0x1p-13f) {
        result = 1.0f;
    }
    if (size >= 0x1p23f) {
        result = sine * ::copysignf(1.0f, x);
    }
    return result;
}

// To multiples of 1 / unit, or of -unit if that is negative.
template <class T>
PYCUDA_FN T op_round_at(T x, T unit)
{
    return unit < 0 ? op_rint(x / -unit) * -unit : op_rint(x * unit) / unit;
}
template <class T>
PYCUDA_FN complex<T> op_round_at(complex<T> z, complex<T> unit)
{
    return make_complex(op_round_at(z.re, unit.re), op_round_at(z.im, unit.re));
}

// Integers and bool are whole already.
#define PYCUDA_ROUND(name)             \
    template <class T>                 \
    PYCUDA_FN T op_##name(T x)         \
    {                                  \
        return x;                      \
    }                                  \
    PYCUDA_FN float op_##name(float x) \
    {                                  \
        return ::name##f(x);           \
    }                                  \
    PYCUDA_FN double op_##name(double x) \
    {                                  \
        return ::name(x);              \
    }
PYCUDA_ROUND(floor)
PYCUDA_ROUND(ceil)
PYCUDA_ROUND(trunc)

template <class T>
PYCUDA_FN T op_arctan2(T x, T y)
{
    return ::atan2(x, y);
}
template <class T>
PYCUDA_FN T op_hypot(T x, T y)
{
    return ::hypot(x, y);
}
template <class T>
PYCUDA_FN T op_copysign(T x, T y)
{
    return ::copysign(x, y);
}
template <class T>
PYCUDA_FN T op_nextafter(T x, T y)
{
    return ::nextafter(x, y);
}
// The neighbours of a number with 16 bits.
template <class T>
PYCUDA_FN T next_half(T x, T y)
{
    const float from = x, to = y;
    T next = x;
    if (is_nan(from) || is_nan(to)) {
        next.bits = 0x7fff;
    }
    else if (from == 0 && to != 0) {
        next.bits = (unsigned short)(1 | (y.bits & 0x8000));
    }
    else if (from != to) {
        next.bits = (unsigned short)(x.bits + ((from < to) == (from > 0) ? 1 : -1));
    }
    return next;
}
PYCUDA_FN float16 op_nextafter(float16 x, float16 y)
{
    return next_half(x, y);
}
PYCUDA_FN bfloat16 op_nextafter(bfloat16 x, bfloat16 y)
{
    return (float)x == (float)y ? y : next_half(x, y);  // float16: x, as in NumPy
}
// The distance to the next number away from 0; of half floats to the next greater one.
// That is what NumPy's functions return.
template <class T>
PYCUDA_FN T op_spacing(T x)
{
    const T far = x < 0 ? T(-1) / T(0) : T(1) / T(0);
    return ::isinf(x) ? x - x : T(::nextafter(x, far)) - x;
}
PYCUDA_FN float16 op_spacing(float16 x)
{
    float16 next = x;
    const bool is_zero = (x.bits & 0x7fff) == 0, is_number = (x.bits & 0x7c00) != 0x7c00;
    const int step = x.bits & 0x8000 ? -1 : 1;
    next.bits = is_zero ? 1 : (unsigned short)(x.bits + step);
    return make_half((is_number ? (float)next : (float)x) - (float)x);
}
PYCUDA_FN bfloat16 op_spacing(bfloat16 x)
{
    bfloat16 next = x;
    next.bits = (unsigned short)(x.bits + 1);
    const bool is_number = (x.bits & 0x7f80) != 0x7f80;
    return make_bfloat((is_number ? (float)next : (float)x) - (float)x);
}
template <class T>
PYCUDA_FN T op_heaviside(T x, T at_zero)
{
    T step = x;
    if (x == 0) {
        step = at_zero;
    }
    if (x < 0) {
        step = T(0);
    }
    if (x > 0) {
        step = T(1);
    }
    return step;  // x if that is NaN
}
// Euclid's algorithm with quotients of floats, which are only almost right: any quotient
// keeps the common divisor. The rest is at most a little more than y / 2, or less than
// x / 2**20 if the quotient has more digits than a float, so the loop ends. The first
// steps are exact if the sign of a rest would need another bit.
PYCUDA_FN uint32 common_divisor(uint32 x, uint32 y)
{
    if ((int32)(x | y) < 0) {
        if (y == 0) {
            return x;
        }
        x %= y;
        if (x == 0) {
            return y;
        }
        y %= x;
    }
    float size = (float)x;
    while (y != 0) {
        const float next = (float)y;
        const uint32 quotient = __float2uint_rn(size * approximate_reciprocal(next));
        const int32 rest = (int32)(x - quotient * y);
        x = y;
        y = (uint32)::abs(rest);
        size = next;
    }
    return x;
}
PYCUDA_FN uint64 common_divisor(uint64 x, uint64 y)
{
    if ((int64)(x | y) < 0) {
        if (y == 0) {
            return x;
        }
        x %= y;
        if (x == 0) {
            return y;
        }
        y %= x;
    }
    while (y != 0 && (x | y) >> 32 != 0) {
        const float size = (float)x * approximate_reciprocal((float)y);
        const int64 rest = (int64)(x - __float2ull_rn(size) * y);
        x = y;
        y = (uint64)::llabs(rest);
    }
    return y == 0 ? x : common_divisor((uint32)x, (uint32)y);
}

// The magnitude of an integer, which is that of its size for the least number as well,
// and the word in which divisors are computed.
template <int size>
struct magnitude_of;
template <>
struct magnitude_of<1> {
    typedef uint8 type;
    typedef uint32 word;
};
template <>
struct magnitude_of<2> {
    typedef uint16 type;
    typedef uint32 word;
};
template <>
struct magnitude_of<4> {
    typedef uint32 type;
    typedef uint32 word;
};
template <>
struct magnitude_of<8> {
    typedef uint64 type;
    typedef uint64 word;
};
template <class T>
PYCUDA_FN T op_gcd(T x, T y)
{
    typedef magnitude_of<sizeof(T)> number;
    const typename number::type a = op_absolute(x), b = op_absolute(y);
    return (T)common_divisor((typename number::word)a, (typename number::word)b);
}
template <class T>
PYCUDA_FN T op_lcm(T x, T y)
{
    T divisor = op_gcd(x, y);
    return divisor == 0 ? T(0)
                        : op_multiply(T(op_absolute(x) / divisor), op_absolute(y));
}
// The number of ones in the magnitude.
template <class T>
PYCUDA_FN uint8 op_bitwise_count(T x)
{
    const uint64 bits = is_negative(x) ? uint64(0) - uint64(int64(x)) : uint64(x);
    return uint8(::__popcll(bits));
}
template <class T>
PYCUDA_FN T op_logaddexp2(T x, T y)
{
    if (x == y) {
        return x + T(1);
    }
    const T scale = T(1.442695040888963407359924681001892137);
    T distance = x - y;
    if (distance > 0) {
        return x + scale * T(::log1p(::exp2(-distance)));
    }
    return distance <= 0 ? y + scale * T(::log1p(::exp2(distance))) : distance;
}
template <class T>
PYCUDA_FN T op_logaddexp(T x, T y)
{
    if (x == y) {
        return x + T(0.693147180559945309417232121458176568);
    }
    T distance = x - y;
    if (distance > 0) {
        return x + ::log1p(::exp(-distance));
    }
    return distance <= 0 ? y + ::log1p(::exp(distance)) : distance;
}
template <class T>
PYCUDA_FN T op_deg2rad(T x)
{
    return x * T(3.14159265358979323846 / 180.0);
}
template <class T>
PYCUDA_FN T op_rad2deg(T x)
{
    return x * T(180.0 / 3.14159265358979323846);
}
// What an int cannot hold is as far beyond all numbers as these limits.
template <class T>
PYCUDA_FN int exponent(T x)
{
    return cast<int>(x);
}
#define PYCUDA_WIDE_EXPONENT(type, below)    \
    PYCUDA_FN int exponent(type x)           \
    {                                        \
        if (below) {                         \
            return -100000;                  \
        }                                    \
        return x > 100000 ? 100000 : (int)x; \
    }
PYCUDA_WIDE_EXPONENT(unsigned, false)
PYCUDA_WIDE_EXPONENT(unsigned long, false)
PYCUDA_WIDE_EXPONENT(unsigned long long, false)
PYCUDA_WIDE_EXPONENT(long, x < -100000)
PYCUDA_WIDE_EXPONENT(long long, x < -100000)
#undef PYCUDA_WIDE_EXPONENT

template <class T>
PYCUDA_FN T op_ldexp(T x, int exponent)
{
    return ::ldexp(x, exponent);
}
template <class T, class F, class E>
PYCUDA_FN void op_frexp(T x, F &fraction, E &exponent)
{
    int power = 0;
    fraction = cast<F>(T(::frexp(x, &power)));
    exponent = cast<E>(x - x != T(0) ? 0 : power);
}
template <class T, class F, class W>
PYCUDA_FN void op_modf(T x, F &fraction, W &whole)
{
    T part;
    fraction = cast<F>(T(::modf(x, &part)));
    whole = cast<W>(part);
}

template <class T>
PYCUDA_FN bool op_isnan(T x)
{
    return is_nan(x);
}
template <class T>
PYCUDA_FN bool op_isfinite(T x)
{
    return x - x == T(0);
}
template <class T>
PYCUDA_FN bool op_isfinite(complex<T> z)
{
    return op_isfinite(z.re) && op_isfinite(z.im);
}
template <class T>
PYCUDA_FN bool op_isinf(T x)
{
    return !is_nan(x) && !op_isfinite(x);
}
template <class T>
PYCUDA_FN bool op_isinf(complex<T> z)
{
    return op_isinf(z.re) || op_isinf(z.im);
}
template <class T>
PYCUDA_FN bool op_signbit(T x)
{
    return ::signbit(x);
}

// Element i of n evenly spaced ones. The step is 0 where it is too small for its dtype.
template <class T>
PYCUDA_FN T op_linspace(T start, T step, T stop, T endpoint, uint64 i, uint64 n)
{
    bool closed = cast<bool>(endpoint);
    if (closed && n > 1 && i == n - 1) {
        return stop;
    }
    T place = cast<T>((double)i);
    if (!cast<bool>(step) && n > 1) {
        T fraction = op_divide(place, cast<T>((double)(closed ? n - 1 : n)));
        return op_add(op_multiply(fraction, op_subtract(stop, start)), start);
    }
    return op_add(op_multiply(place, step), start);
}

}  // namespace pycuda_array

#endif
