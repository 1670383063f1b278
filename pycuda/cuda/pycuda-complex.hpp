// Complex numbers for device code: pycuda::complex<float> and pycuda::complex<double>.
//
// The layout is that of numpy's complex64 and complex128, with the alignment of the
// parts. All of it is in the namespace pycuda; the functions are found through their
// arguments. Compiles under nvcc and NVRTC, inside extern "C" too.
//
// Operators take another complex number, or any number, which is converted to the type
// of the parts: z * 2 and 0.5 * z keep z's type. A complex<float> widens to
// complex<double> by itself; the other way must be written out or assigned. Objects may
// be volatile, as programs that reduce within a warp have them.
#ifndef PYCUDA_COMPLEX_HPP
#define PYCUDA_COMPLEX_HPP

#define PYCUDA_COMPLEX_CALL __host__ __device__ __forceinline__

extern "C++" {
namespace pycuda {

// The functions of one type of parts: NVRTC's overloads do not reach all of them.
template <class T> struct complex_maths;
#define PYCUDA_COMPLEX_ONE(name, f)                                              \
    static PYCUDA_COMPLEX_CALL type name(type x) { return ::f(x); }
#define PYCUDA_COMPLEX_TWO(name, f)                                              \
    static PYCUDA_COMPLEX_CALL type name(type x, type y) { return ::f(x, y); }
#define PYCUDA_COMPLEX_MATHS(T, s, most)                                         \
    template <> struct complex_maths<T> {                                        \
        typedef T type;                                                          \
        PYCUDA_COMPLEX_ONE(sqrt, sqrt##s)                                        \
        PYCUDA_COMPLEX_ONE(exp, exp##s)                                          \
        PYCUDA_COMPLEX_ONE(log, log##s)                                          \
        PYCUDA_COMPLEX_ONE(log1p, log1p##s)                                      \
        PYCUDA_COMPLEX_ONE(sin, sin##s)                                          \
        PYCUDA_COMPLEX_ONE(cos, cos##s)                                          \
        PYCUDA_COMPLEX_ONE(sinh, sinh##s)                                        \
        PYCUDA_COMPLEX_ONE(cosh, cosh##s)                                        \
        PYCUDA_COMPLEX_ONE(tanh, tanh##s)                                        \
        PYCUDA_COMPLEX_ONE(asinh, asinh##s)                                      \
        PYCUDA_COMPLEX_ONE(fabs, fabs##s)                                        \
        PYCUDA_COMPLEX_TWO(hypot, hypot##s)                                      \
        PYCUDA_COMPLEX_TWO(atan2, atan2##s)                                      \
        PYCUDA_COMPLEX_TWO(copysign, copysign##s)                                \
        PYCUDA_COMPLEX_TWO(pow, pow##s)                                          \
        /* beyond it tanh is 1, and cosh's square would overflow soon */         \
        static PYCUDA_COMPLEX_CALL type wide() { return most; }                  \
    };
PYCUDA_COMPLEX_MATHS(float, f, 12.0f)
PYCUDA_COMPLEX_MATHS(double, , 22.0)
#undef PYCUDA_COMPLEX_ONE
#undef PYCUDA_COMPLEX_TWO
#undef PYCUDA_COMPLEX_MATHS

// Which numbers may be an operand, and which of them count.
template <class T> struct complex_number;
#define PYCUDA_COMPLEX_NUMBER(T, counts)                                         \
    template <> struct complex_number<T> {                                       \
        typedef int type;                                                        \
        static constexpr bool integer = counts;                                  \
    };
PYCUDA_COMPLEX_NUMBER(bool, true)
PYCUDA_COMPLEX_NUMBER(char, true)
PYCUDA_COMPLEX_NUMBER(signed char, true)
PYCUDA_COMPLEX_NUMBER(unsigned char, true)
PYCUDA_COMPLEX_NUMBER(short, true)
PYCUDA_COMPLEX_NUMBER(unsigned short, true)
PYCUDA_COMPLEX_NUMBER(int, true)
PYCUDA_COMPLEX_NUMBER(unsigned int, true)
PYCUDA_COMPLEX_NUMBER(long, true)
PYCUDA_COMPLEX_NUMBER(unsigned long, true)
PYCUDA_COMPLEX_NUMBER(long long, true)
PYCUDA_COMPLEX_NUMBER(unsigned long long, true)
PYCUDA_COMPLEX_NUMBER(float, false)
PYCUDA_COMPLEX_NUMBER(double, false)
#undef PYCUDA_COMPLEX_NUMBER

// Which conversions lose nothing.
template <class From, class To> struct complex_narrows {
    typedef int type;
};
template <class From, class To> struct complex_widens {};
template <> struct complex_widens<float, double> {
    typedef int type;
};
template <> struct complex_narrows<float, double> {};
template <class T> struct complex_widens<T, T> {
    typedef int type;
};
template <class T> struct complex_narrows<T, T> {};

template <class T> struct complex {
    typedef T value_type;

    T _M_re;
    T _M_im;

    PYCUDA_COMPLEX_CALL constexpr complex(T re = T(), T im = T()) : _M_re(re), _M_im(im)
    {
    }
    complex(const complex &) = default;

    // Templates are no copy constructors: the bytes may still be copied.
    template <class U, typename complex_widens<U, T>::type = 0>
    PYCUDA_COMPLEX_CALL complex(const complex<U> &z) : _M_re(z._M_re), _M_im(z._M_im)
    {
    }
    template <class U, typename complex_widens<U, T>::type = 0>
    PYCUDA_COMPLEX_CALL complex(const volatile complex<U> &z)
        : _M_re(z._M_re), _M_im(z._M_im)
    {
    }
    template <class U, typename complex_narrows<U, T>::type = 0>
    explicit PYCUDA_COMPLEX_CALL complex(const complex<U> &z)
        : _M_re((T)z._M_re), _M_im((T)z._M_im)
    {
    }
    template <class U, typename complex_narrows<U, T>::type = 0>
    explicit PYCUDA_COMPLEX_CALL complex(const volatile complex<U> &z)
        : _M_re((T)z._M_re), _M_im((T)z._M_im)
    {
    }

    complex &operator=(const complex &) = default;
    template <class U> PYCUDA_COMPLEX_CALL complex &operator=(const complex<U> &z)
    {
        return *this = complex(z);
    }
    template <class U>
    PYCUDA_COMPLEX_CALL complex &operator=(const volatile complex<U> &z)
    {
        return *this = complex(z);
    }
    PYCUDA_COMPLEX_CALL void operator=(const complex &z) volatile
    {
        _M_re = z._M_re;
        _M_im = z._M_im;
    }
    template <class U>
    PYCUDA_COMPLEX_CALL void operator=(const volatile complex<U> &z) volatile
    {
        *this = complex(z);
    }

    PYCUDA_COMPLEX_CALL T real() const { return _M_re; }
    PYCUDA_COMPLEX_CALL T imag() const { return _M_im; }
    PYCUDA_COMPLEX_CALL T real() const volatile { return _M_re; }
    PYCUDA_COMPLEX_CALL T imag() const volatile { return _M_im; }
    PYCUDA_COMPLEX_CALL void real(T re) { _M_re = re; }
    PYCUDA_COMPLEX_CALL void imag(T im) { _M_im = im; }
    PYCUDA_COMPLEX_CALL void real(T re) volatile { _M_re = re; }
    PYCUDA_COMPLEX_CALL void imag(T im) volatile { _M_im = im; }

    // By value, for which a volatile operand is converted.
    friend PYCUDA_COMPLEX_CALL complex operator+(complex a, complex b)
    {
        return complex(a._M_re + b._M_re, a._M_im + b._M_im);
    }
    friend PYCUDA_COMPLEX_CALL complex operator+(complex a, T b)
    {
        return complex(a._M_re + b, a._M_im);
    }
    friend PYCUDA_COMPLEX_CALL complex operator+(T a, complex b)
    {
        return complex(a + b._M_re, b._M_im);
    }
    friend PYCUDA_COMPLEX_CALL complex operator-(complex a, complex b)
    {
        return complex(a._M_re - b._M_re, a._M_im - b._M_im);
    }
    friend PYCUDA_COMPLEX_CALL complex operator-(complex a, T b)
    {
        return complex(a._M_re - b, a._M_im);
    }
    friend PYCUDA_COMPLEX_CALL complex operator-(T a, complex b)
    {
        return complex(a - b._M_re, -b._M_im);
    }
    friend PYCUDA_COMPLEX_CALL complex operator*(complex a, complex b)
    {
        return complex(a._M_re * b._M_re - a._M_im * b._M_im,
                       a._M_re * b._M_im + a._M_im * b._M_re);
    }
    friend PYCUDA_COMPLEX_CALL complex operator*(complex a, T b)
    {
        return complex(a._M_re * b, a._M_im * b);
    }
    friend PYCUDA_COMPLEX_CALL complex operator*(T a, complex b)
    {
        return complex(a * b._M_re, a * b._M_im);
    }
    // The larger part of the divisor is divided out first: its square may overflow.
    friend PYCUDA_COMPLEX_CALL complex operator/(complex a, complex b)
    {
        typedef complex_maths<T> m;
        if (m::fabs(b._M_re) >= m::fabs(b._M_im)) {
            if (b._M_re == T(0) && b._M_im == T(0)) {
                T zero = m::fabs(b._M_re);
                return complex(a._M_re / zero, a._M_im / zero);
            }
            T ratio = b._M_im / b._M_re;
            T scale = T(1) / (b._M_re + b._M_im * ratio);
            return complex((a._M_re + a._M_im * ratio) * scale,
                           (a._M_im - a._M_re * ratio) * scale);
        }
        T ratio = b._M_re / b._M_im;
        T scale = T(1) / (b._M_re * ratio + b._M_im);
        return complex((a._M_re * ratio + a._M_im) * scale,
                       (a._M_im * ratio - a._M_re) * scale);
    }
    friend PYCUDA_COMPLEX_CALL complex operator/(complex a, T b)
    {
        return complex(a._M_re / b, a._M_im / b);
    }
    friend PYCUDA_COMPLEX_CALL complex operator/(T a, complex b)
    {
        return complex(a) / b;
    }
    friend PYCUDA_COMPLEX_CALL bool operator==(complex a, complex b)
    {
        return a._M_re == b._M_re && a._M_im == b._M_im;
    }
    friend PYCUDA_COMPLEX_CALL bool operator!=(complex a, complex b)
    {
        return a._M_re != b._M_re || a._M_im != b._M_im;
    }
    friend PYCUDA_COMPLEX_CALL bool operator==(complex a, T b)
    {
        return a._M_re == b && a._M_im == T(0);
    }
    friend PYCUDA_COMPLEX_CALL bool operator!=(complex a, T b)
    {
        return a._M_re != b || a._M_im != T(0);
    }
    friend PYCUDA_COMPLEX_CALL bool operator==(T a, complex b) { return b == a; }
    friend PYCUDA_COMPLEX_CALL bool operator!=(T a, complex b) { return b != a; }
    friend PYCUDA_COMPLEX_CALL complex operator+(complex z) { return z; }
    friend PYCUDA_COMPLEX_CALL complex operator-(complex z)
    {
        return complex(-z._M_re, -z._M_im);
    }

#define PYCUDA_COMPLEX_UPDATE(op)                                                \
    PYCUDA_COMPLEX_CALL complex &operator op##=(T x)                             \
    {                                                                            \
        return *this = *this op x;                                               \
    }                                                                            \
    template <class U>                                                           \
    PYCUDA_COMPLEX_CALL complex &operator op##=(const complex<U> &z)             \
    {                                                                            \
        return *this = *this op complex(z);                                      \
    }                                                                            \
    template <class U>                                                           \
    PYCUDA_COMPLEX_CALL complex &operator op##=(const volatile complex<U> &z)    \
    {                                                                            \
        return *this = *this op complex(z);                                      \
    }                                                                            \
    PYCUDA_COMPLEX_CALL void operator op##=(T x) volatile                        \
    {                                                                            \
        *this = complex(*this) op x;                                             \
    }                                                                            \
    template <class U>                                                           \
    PYCUDA_COMPLEX_CALL void operator op##=(const complex<U> &z) volatile        \
    {                                                                            \
        *this = complex(*this) op complex(z);                                    \
    }                                                                            \
    template <class U>                                                           \
    PYCUDA_COMPLEX_CALL void operator op##=(const volatile complex<U> &z)        \
        volatile                                                                 \
    {                                                                            \
        *this = complex(*this) op complex(z);                                    \
    }
    PYCUDA_COMPLEX_UPDATE(+)
    PYCUDA_COMPLEX_UPDATE(-)
    PYCUDA_COMPLEX_UPDATE(*)
    PYCUDA_COMPLEX_UPDATE(/)
#undef PYCUDA_COMPLEX_UPDATE
};

// -- parts ----------------------------------------------------------------------------

#define PYCUDA_COMPLEX_TEMPLATE template <class T> PYCUDA_COMPLEX_CALL

PYCUDA_COMPLEX_TEMPLATE T
real(const complex<T> &z)
{
    return z._M_re;
}

PYCUDA_COMPLEX_TEMPLATE T
imag(const complex<T> &z)
{
    return z._M_im;
}

PYCUDA_COMPLEX_TEMPLATE T
abs(const complex<T> &z)
{
    return complex_maths<T>::hypot(z._M_re, z._M_im);
}

PYCUDA_COMPLEX_TEMPLATE T
arg(const complex<T> &z)
{
    return complex_maths<T>::atan2(z._M_im, z._M_re);
}

PYCUDA_COMPLEX_TEMPLATE T
norm(const complex<T> &z)
{
    return z._M_re * z._M_re + z._M_im * z._M_im;
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
conj(const complex<T> &z)
{
    return complex<T>(z._M_re, -z._M_im);
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
polar(const T &rho, const T &theta)
{
    typedef complex_maths<T> m;
    return complex<T>(rho * m::cos(theta), rho * m::sin(theta));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
polar(const T &rho)
{
    return complex<T>(rho);
}

// -- roots, exponentials, logarithms --------------------------------------------------

PYCUDA_COMPLEX_TEMPLATE complex<T>
sqrt(const complex<T> &z)
{
    typedef complex_maths<T> m;
    T re = m::fabs(z._M_re), im = m::fabs(z._M_im);
    T larger = re > im ? re : im;
    if (larger == T(0)) {
        return complex<T>(T(0), z._M_im);
    }
    if (larger - larger != T(0)) {  // infinite, or not a number
        if (im - im != T(0) && im == im) {
            return complex<T>(im, z._M_im);
        }
        if (z._M_re == re && re == re && z._M_im == z._M_im) {
            return complex<T>(re, m::copysign(T(0), z._M_im));
        }
        if (re == re && z._M_im == z._M_im) {
            return complex<T>(T(0), m::copysign(re, z._M_im));
        }
        return complex<T>(z._M_re + z._M_im, z._M_re + z._M_im);
    }
    // a part of the size of the largest number would overflow, a small one vanish
    T scale(1), root(1);
    if (larger > T(4)) {
        scale = T(0.25);
        root = T(2);
    }
    if (larger < T(1e-30)) {
        scale = T(18014398509481984.0);
        root = T(7.450580596923828125e-09);
    }
    re *= scale;
    im *= scale;
    T half = m::sqrt((re + m::hypot(re, im)) * T(0.5));
    T other = im / (half + half);
    half *= root;
    other *= root;
    return z._M_re >= T(0) ? complex<T>(half, m::copysign(other, z._M_im))
                           : complex<T>(other, m::copysign(half, z._M_im));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
exp(const complex<T> &z)
{
    typedef complex_maths<T> m;
    T size = m::exp(z._M_re);
    if (z._M_im == T(0)) {
        return complex<T>(size, z._M_im);
    }
    if (size - size != T(0)) {  // halves, so that infinity times a small part is not lost
        T root = m::exp(z._M_re * T(0.5));
        return complex<T>(root * m::cos(z._M_im) * root, root * m::sin(z._M_im) * root);
    }
    return complex<T>(size * m::cos(z._M_im), size * m::sin(z._M_im));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
log(const complex<T> &z)
{
    typedef complex_maths<T> m;
    T re = m::fabs(z._M_re), im = m::fabs(z._M_im);
    T more = re > im ? re : im, less = re > im ? im : re;
    // near the unit circle the logarithm of the size would have few digits
    T size = more > T(0.5) && more < T(1.5) && less < T(1.5)
                 ? T(0.5) * m::log1p((more - T(1)) * (more + T(1)) + less * less)
                 : m::log(m::hypot(re, im));
    return complex<T>(size, arg(z));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
log10(const complex<T> &z)
{
    return log(z) * T(0.434294481903251827651);
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
complex_integer_power(complex<T> z, long long n)
{
    unsigned long long left = n < 0 ? 0ULL - (unsigned long long)n : (unsigned long long)n;
    complex<T> power(T(1));
    while (left != 0) {
        power = (left & 1) != 0 ? power * z : power;
        left >>= 1;
        z = left != 0 ? z * z : z;
    }
    return n < 0 ? T(1) / power : power;
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
pow(const complex<T> &z, const complex<T> &w)
{
    if (z == T(0)) {
        return w == T(0) ? complex<T>(T(1)) : complex<T>();
    }
    return exp(w * log(z));
}

template <class T, bool integer> struct complex_power {
    template <class S>
    static PYCUDA_COMPLEX_CALL complex<T> of(const complex<T> &z, S x)
    {
        return complex_integer_power(z, (long long)x);
    }
};
template <class T> struct complex_power<T, false> {
    template <class S>
    static PYCUDA_COMPLEX_CALL complex<T> of(const complex<T> &z, S given)
    {
        T x = (T)given;
        if (z._M_im == T(0) && z._M_re > T(0)) {
            return complex<T>(complex_maths<T>::pow(z._M_re, x));
        }
        if (z == T(0)) {
            return x == T(0) ? complex<T>(T(1)) : complex<T>();
        }
        return exp(log(z) * x);
    }
};

template <class T, class S, typename complex_number<S>::type = 0>
PYCUDA_COMPLEX_CALL complex<T>
pow(const complex<T> &z, S x)
{
    return complex_power<T, complex_number<S>::integer>::of(z, x);
}

template <class T, class S, typename complex_number<S>::type = 0>
PYCUDA_COMPLEX_CALL complex<T>
pow(S given, const complex<T> &w)
{
    T x = (T)given;
    if (x > T(0)) {
        return exp(w * complex_maths<T>::log(x));
    }
    return pow(complex<T>(x), w);
}

// -- trigonometric and hyperbolic functions -------------------------------------------

PYCUDA_COMPLEX_TEMPLATE complex<T>
sinh(const complex<T> &z)
{
    typedef complex_maths<T> m;
    return complex<T>(m::sinh(z._M_re) * m::cos(z._M_im),
                      m::cosh(z._M_re) * m::sin(z._M_im));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
cosh(const complex<T> &z)
{
    typedef complex_maths<T> m;
    return complex<T>(m::cosh(z._M_re) * m::cos(z._M_im),
                      m::sinh(z._M_re) * m::sin(z._M_im));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
tanh(const complex<T> &z)
{
    typedef complex_maths<T> m;
    T s = m::sin(z._M_im), c = m::cos(z._M_im);
    if (m::fabs(z._M_re) > m::wide()) {
        return complex<T>(m::copysign(T(1), z._M_re),
                          T(4) * s * c * m::exp(T(-2) * m::fabs(z._M_re)));
    }
    T sh = m::sinh(z._M_re);
    T size = sh * sh + c * c;
    return complex<T>(sh * m::cosh(z._M_re) / size, s * c / size);
}

// The sine of z is that of iz, hyperbolic, turned back; so are the others.
PYCUDA_COMPLEX_TEMPLATE complex<T>
sin(const complex<T> &z)
{
    complex<T> w = sinh(complex<T>(-z._M_im, z._M_re));
    return complex<T>(w._M_im, -w._M_re);
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
cos(const complex<T> &z)
{
    return cosh(complex<T>(-z._M_im, z._M_re));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
tan(const complex<T> &z)
{
    complex<T> w = tanh(complex<T>(-z._M_im, z._M_re));
    return complex<T>(w._M_im, -w._M_re);
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
asin(const complex<T> &z)
{
    typedef complex_maths<T> m;
    complex<T> a = sqrt(T(1) - z), b = sqrt(T(1) + z);
    return complex<T>(m::atan2(z._M_re, a._M_re * b._M_re - a._M_im * b._M_im),
                      m::asinh(a._M_re * b._M_im - a._M_im * b._M_re));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
acos(const complex<T> &z)
{
    typedef complex_maths<T> m;
    complex<T> a = sqrt(T(1) - z), b = sqrt(T(1) + z);
    return complex<T>(T(2) * m::atan2(a._M_re, b._M_re),
                      m::asinh(b._M_re * a._M_im - b._M_im * a._M_re));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
acosh(const complex<T> &z)
{
    typedef complex_maths<T> m;
    complex<T> a = sqrt(z - T(1)), b = sqrt(z + T(1));
    return complex<T>(m::asinh(a._M_re * b._M_re + a._M_im * b._M_im),
                      T(2) * m::atan2(a._M_im, b._M_re));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
atanh(const complex<T> &z)
{
    typedef complex_maths<T> m;
    T x = z._M_re, y = z._M_im;
    T far = (T(1) - x) * (T(1) - x) + y * y;
    return complex<T>(T(0.25) * m::log1p(T(4) * x / far),
                      T(0.5) * m::atan2(T(2) * y, (T(1) - x) * (T(1) + x) - y * y));
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
asinh(const complex<T> &z)
{
    complex<T> w = asin(complex<T>(-z._M_im, z._M_re));
    return complex<T>(w._M_im, -w._M_re);
}

PYCUDA_COMPLEX_TEMPLATE complex<T>
atan(const complex<T> &z)
{
    complex<T> w = atanh(complex<T>(-z._M_im, z._M_re));
    return complex<T>(w._M_im, -w._M_re);
}

#undef PYCUDA_COMPLEX_TEMPLATE

}  // namespace pycuda
}  // extern "C++"

#undef PYCUDA_COMPLEX_CALL

#endif
