// Functions of complex numbers, for generated array kernels that compute in a complex
// type. Special values are those of C's Annex G, as in NumPy.
#ifndef PYCUDA_ARRAY_COMPLEX_HPP
#define PYCUDA_ARRAY_COMPLEX_HPP

#include <pycuda-array.hpp>

namespace pycuda_array {

// Numbers that depend on the precision.
template <class T>
struct limits_of;
template <>
struct limits_of<float> {
    static PYCUDA_FN float epsilon() { return 1.1920929e-7f; }
    static PYCUDA_FN float root_most() { return 2e18f; }  // the root of the largest, / 8
    static PYCUDA_FN float exp_most() { return 88.0f; }
};
template <>
struct limits_of<double> {
    static PYCUDA_FN double epsilon() { return 2.220446049250313e-16; }
    static PYCUDA_FN double root_most() { return 1.6e153; }
    static PYCUDA_FN double exp_most() { return 709.0; }
};

template <class T>
PYCUDA_FN T nan_of(complex<T> z)
{
    return z.re + z.im;  // of a number with a NaN, or with infinities of both signs
}
template <class T>
PYCUDA_FN bool is_finite(T x)
{
    return x - x == T(0);
}

// -- exponentials and logarithms ------------------------------------------------------

// size * (cos(angle) + i sin(angle)), where size is an exponential of a real number
template <class T>
PYCUDA_FN complex<T> from_polar(T size, T angle, T real)
{
    if (angle == 0) {
        return make_complex(size, angle);
    }
    if (!is_finite(angle)) {
        const T nan = angle - angle;
        if (::isinf(real)) {
            return real > 0 ? make_complex(size, nan)
                            : make_complex(size, ::copysign(T(0), angle));
        }
        return make_complex(nan, nan);
    }
    T sine, cosine;
    ::sincos(angle, &sine, &cosine);
    if (size == 0) {
        return make_complex(::copysign(size, cosine), ::copysign(size, sine));
    }
    return make_complex(size * cosine, size * sine);
}
template <class T>
PYCUDA_FN complex<T> op_exp(complex<T> z)
{
    return from_polar(T(::exp(z.re)), z.im, z.re);
}
template <class T>
PYCUDA_FN complex<T> op_exp2(complex<T> z)
{
    return from_polar(T(::exp2(z.re)), z.im * T(0.69314718055994530942), z.re);
}
template <class T>
PYCUDA_FN complex<T> op_expm1(complex<T> z)
{
    T size = ::expm1(z.re + T(0));  // the standard has 0 for -0, unlike of real numbers
    if (z.im == 0) {
        return make_complex(size, z.im);
    }
    if (::isinf(z.re) && !is_finite(z.im)) {
        return z.re > 0 ? make_complex(z.re, z.im - z.im)
                        : make_complex(T(-1), ::copysign(T(0), z.im));
    }
    T sine, cosine, half = ::sin(z.im / 2);
    ::sincos(z.im, &sine, &cosine);
    return make_complex(size * cosine - 2 * half * half, T(::exp(z.re)) * sine);
}

// Near the unit circle the logarithm of the size comes from 1 - |z|^2, exactly enough.
template <class T>
PYCUDA_FN T log_size(complex<T> z)
{
    T big = ::fabs(z.re), small = ::fabs(z.im);
    if (big < small) {
        T swapped = big;
        big = small;
        small = swapped;
    }
    if (big > T(0.5) && big < T(2)) {
        return T(0.5) * ::log1p(::fma(big - T(1), big + T(1), small * small));
    }
    return ::log(::hypot(big, small));
}
template <class T>
PYCUDA_FN complex<T> op_log(complex<T> z)
{
    return make_complex(log_size(z), ::atan2(z.im, z.re));
}
template <class T>
PYCUDA_FN complex<T> op_log2(complex<T> z)
{
    complex<T> log = op_log(z);
    const T scale = T(1.44269504088896340736);
    return make_complex(log.re * scale, log.im * scale);
}
template <class T>
PYCUDA_FN complex<T> op_log10(complex<T> z)
{
    complex<T> log = op_log(z);
    const T scale = T(0.43429448190325182765);
    return make_complex(log.re * scale, log.im * scale);
}
// Near 0 the sum 1 + z would lose the digits of z.
template <class T>
PYCUDA_FN complex<T> op_log1p(complex<T> z)
{
    T angle = ::atan2(z.im, z.re + T(1));
    if (::fabs(z.re) < T(0.5) && ::fabs(z.im) < T(0.5)) {
        T square = ::fma(z.re, z.re, z.im * z.im);
        return make_complex(T(0.5) * T(::log1p(2 * z.re + square)), angle);
    }
    return make_complex(log_size(make_complex(z.re + T(1), z.im)), angle);
}

// -- powers ---------------------------------------------------------------------------

template <class T>
PYCUDA_FN complex<T> op_sqrt(complex<T> z)
{
    if (z.re == 0 && z.im == 0) {
        return make_complex(T(0), z.im);
    }
    if (::isinf(z.im)) {
        return make_complex(::fabs(z.im), z.im);
    }
    if (::isinf(z.re)) {
        T other = is_nan(z.im) ? z.im : ::copysign(T(0), z.im);
        return z.re > 0 ? make_complex(z.re, other)
                        : make_complex(::fabs(other), ::copysign(z.re, z.im));
    }
    // Scaled where a sum could overflow or a square lose its digits.
    T scale = 1;
    T most = ::fmax(::fabs(z.re), ::fabs(z.im));
    if (most > (sizeof(T) == 8 ? T(1e300) : T(1e37f))) {
        scale = 2;
        z = make_complex(z.re / 4, z.im / 4);
    }
    else if (most < (sizeof(T) == 8 ? T(1e-290) : T(1e-30f))) {
        const T up = sizeof(T) == 8 ? T(1.8014398509481984e16) : T(16777216);
        scale = T(1) / ::sqrt(up);
        z = make_complex(z.re * up, z.im * up);
    }
    T size = ::sqrt((::fabs(z.re) + ::hypot(z.re, z.im)) * T(0.5));
    T other = z.im / (2 * size);
    complex<T> root = z.re >= 0 ? make_complex(size, other)
                                : make_complex(::fabs(other), ::copysign(size, z.im));
    return make_complex(root.re * scale, root.im * scale);
}

// Small whole exponents by multiplication, all others by logarithms.
template <class T>
PYCUDA_FN complex<T> op_power(complex<T> x, complex<T> y)
{
    if (y.re == 0 && y.im == 0) {
        return make_complex(T(1), T(0));
    }
    if (x.re == 0 && x.im == 0) {
        return y.re > 0 ? make_complex(T(0), T(0))
                        : make_complex(T(0) / T(0), T(0) / T(0));
    }
    if (y.im == 0 && y.re == ::rint(y.re) && ::fabs(y.re) < T(100)) {
        int n = (int)::fabs(y.re);
        complex<T> result = make_complex(T(1), T(0));
        complex<T> factor = x;
        for (; n != 0; n >>= 1) {
            if (n & 1) {
                result = op_multiply(result, factor);
            }
            factor = op_multiply(factor, factor);
        }
        return y.re < 0 ? op_reciprocal(result) : result;
    }
    return op_exp(op_multiply(y, op_log(x)));
}

// -- hyperbolic functions -------------------------------------------------------------

// exp(|x|) / 2 times a factor that may bring the product back into range
template <class T>
PYCUDA_FN T half_exp(T x, T factor)
{
    T root = ::exp(::fabs(x) / 2);
    return T(0.5) * root * factor * root;
}
template <class T>
PYCUDA_FN complex<T> op_sinh(complex<T> z)
{
    if (z.im == 0) {
        return make_complex(T(::sinh(z.re)), z.im);
    }
    if (!is_finite(z.im) && (z.re == 0 || ::isinf(z.re))) {
        return make_complex(z.re, z.im - z.im);
    }
    T sine, cosine;
    ::sincos(z.im, &sine, &cosine);
    if (::fabs(z.re) > limits_of<T>::exp_most()) {
        return make_complex(::copysign(T(1), z.re) * half_exp(z.re, cosine),
                            half_exp(z.re, sine));
    }
    return make_complex(T(::sinh(z.re)) * cosine, T(::cosh(z.re)) * sine);
}
template <class T>
PYCUDA_FN complex<T> op_cosh(complex<T> z)
{
    if (z.im == 0 || (z.re == 0 && !is_finite(z.im))) {
        T sign = ::copysign(T(1), z.re) * ::copysign(T(1), z.im);
        T size = z.im == 0 ? T(::cosh(z.re)) : z.im - z.im;
        return make_complex(size, is_nan(z.re) ? z.im : ::copysign(T(0), sign));
    }
    if (::isinf(z.re) && !is_finite(z.im)) {
        return make_complex(T(::fabs(z.re)), z.im - z.im);
    }
    T sine, cosine;
    ::sincos(z.im, &sine, &cosine);
    if (::fabs(z.re) > limits_of<T>::exp_most()) {
        return make_complex(half_exp(z.re, cosine),
                            ::copysign(T(1), z.re) * half_exp(z.re, sine));
    }
    return make_complex(T(::cosh(z.re)) * cosine, T(::sinh(z.re)) * sine);
}
template <class T>
PYCUDA_FN complex<T> op_tanh(complex<T> z)
{
    if (z.im == 0) {
        return make_complex(T(::tanh(z.re)), z.im);
    }
    if (::isinf(z.re)) {
        return make_complex(::copysign(T(1), z.re), ::copysign(T(0), z.im));
    }
    if (!is_finite(z.im)) {
        const T nan = z.im - z.im;
        return make_complex(z.re == 0 ? z.re : nan, nan);
    }
    T sine, cosine;
    ::sincos(z.im, &sine, &cosine);
    if (::fabs(z.re) > T(20)) {
        return make_complex(::copysign(T(1), z.re),
                            4 * sine * cosine * T(::exp(-2 * ::fabs(z.re))));
    }
    T sh = ::sinh(z.re);
    T below = cosine * cosine + sh * sh;
    return make_complex(sh * T(::cosh(z.re)) / below, sine * cosine / below);
}

// sin z = -i sinh(iz), and so on.
template <class T>
PYCUDA_FN complex<T> op_sin(complex<T> z)
{
    complex<T> turned = op_sinh(make_complex(-z.im, z.re));
    return make_complex(turned.im, -turned.re);
}
template <class T>
PYCUDA_FN complex<T> op_cos(complex<T> z)
{
    return op_cosh(make_complex(-z.im, z.re));
}
template <class T>
PYCUDA_FN complex<T> op_tan(complex<T> z)
{
    complex<T> turned = op_tanh(make_complex(-z.im, z.re));
    return make_complex(turned.im, -turned.re);
}

template <class T>
PYCUDA_FN complex<T> op_sinc(complex<T> z)
{
    const T pi = T(3.14159265358979323846);
    if (z.re == 0 && z.im == 0) {
        return make_complex(T(1), T(0));
    }
    complex<T> turned = make_complex(z.re * pi, z.im * pi);
    return op_divide(op_sin(turned), turned);
}

// -- inverse functions ----------------------------------------------------------------

// What arcsin and arccos share, for x and y that are not negative and no NaN. The
// algorithm is that of Hull, Fairgrieve and Tang (ACM Transactions on Mathematical
// Software 23, 1997): with r and s, the distances to -1 and 1, and a = (r + s) / 2, the
// real parts are arcsin(x / a) and arccos(x / a) and the imaginary part is
// log(a + sqrt(a * a - 1)). All are evaluated without cancellation. The threads of a warp
// take one path unless a number is very large or close to an axis.
template <class T>
struct arc_parts {
    T x, y;       // as given
    T imaginary;  // log(a + sqrt(a**2 - 1))
    T rest;       // sqrt(a**2 - x**2), or its multiple as x is one: the angle's other side

    PYCUDA_FN arc_parts(T x_, T y_) : x(x_), y(y_)
    {
        if (x > limits_of<T>::root_most() || y > limits_of<T>::root_most()) {
            far_away();
        }
        else if (y <= limits_of<T>::epsilon() * ::fabs(x - T(1))) {
            close_to_axis();
        }
        else {
            anywhere();
        }
    }
    // Too large for squares.
    PYCUDA_FN void far_away()
    {
        const T half = T(0.5);
        imaginary =
            T(::log(::hypot(x * half, y * half))) + T(1.38629436111989061883);
        rest = y;
    }
    // The squares of y could vanish.
    PYCUDA_FN void close_to_axis()
    {
        if (x < T(1)) {
            rest = ::sqrt((T(1) - x) * (T(1) + x));
            imaginary = y / rest;
            return;
        }
        const T root = ::sqrt((x - T(1)) * (x + T(1)));
        rest = x * y / root;
        imaginary = T(::log1p((x - T(1)) + root));
        if (x == T(1)) {
            rest = T(0);
        }
    }
    PYCUDA_FN void anywhere()
    {
        const T right = x + T(1), left = ::fabs(x - T(1)), square = y * y;
        const T r = ::sqrt(::fma(right, right, square));
        const T s = ::sqrt(::fma(left, left, square));
        const T of_r = T(1) / (r + right), of_s = T(1) / (s + left);
        const T a = T(0.5) * (r + s);
        const bool is_inside = x < T(1);
        // Sums of r - x - 1 with s + x - 1, and of r - x - 1 with s - x + 1. One of the
        // differences is y squared over a sum.
        const T near = square * of_r, sum = s + left;
        const T above = T(0.5) * (near + (is_inside ? square * of_s : sum));  // a - 1
        const T below = is_inside ? near + sum : of_r + of_s;
        rest = ::sqrt(T(0.5) * (a + x) * below) * (is_inside ? T(1) : y);
        imaginary = T(::log1p(above + ::sqrt(above * (a + T(1)))));
        if (x == T(1) && y < limits_of<T>::epsilon()) {
            rest = ::sqrt(y);
            imaginary = rest;
        }
    }

    PYCUDA_FN T sine() const
    {
        return ::atan2(x, rest);
    }
    // of x with this sign
    PYCUDA_FN T cosine(bool is_left) const
    {
        return ::atan2(rest, is_left ? -x : x);
    }
};

template <class T>
PYCUDA_FN complex<T> op_arcsin(complex<T> z)
{
    if (is_nan(z)) {
        const T nan = nan_of(z);
        if (::isinf(z.re) || ::isinf(z.im)) {
            return make_complex(nan, ::isinf(z.im) ? z.im : z.re);
        }
        return make_complex(z.re == 0 ? z.re : nan, nan);
    }
    arc_parts<T> parts(::fabs(z.re), ::fabs(z.im));
    return make_complex(::copysign(parts.sine(), z.re),
                        ::copysign(parts.imaginary, z.im));
}
template <class T>
PYCUDA_FN complex<T> op_arccos(complex<T> z)
{
    if (is_nan(z)) {
        const T nan = nan_of(z);
        if (::isinf(z.re) || ::isinf(z.im)) {
            return make_complex(nan, ::isinf(z.im) ? -z.im : -z.re);
        }
        return make_complex(z.re == 0 ? T(1.57079632679489661923) : nan, nan);
    }
    arc_parts<T> parts(::fabs(z.re), ::fabs(z.im));
    return make_complex(parts.cosine(::signbit(z.re)),
                        ::copysign(parts.imaginary, -z.im));
}
// asinh(x + iy) = b + ia where asin(y + ix) = a + ib
template <class T>
PYCUDA_FN complex<T> op_arcsinh(complex<T> z)
{
    complex<T> turned = op_arcsin(make_complex(z.im, z.re));
    return make_complex(turned.im, turned.re);
}
template <class T>
PYCUDA_FN complex<T> op_arccosh(complex<T> z)
{
    complex<T> w = op_arccos(z);
    if (is_nan(w.re) && is_nan(w.im)) {
        return make_complex(w.im, w.re);
    }
    if (is_nan(w.re)) {
        return make_complex(T(::fabs(w.im)), w.re);
    }
    if (is_nan(w.im)) {
        return w.re == 0 ? make_complex(w.im, w.im) : make_complex(w.im, w.re);
    }
    return make_complex(T(::fabs(w.im)), ::copysign(w.re, z.im));
}

template <class T>
PYCUDA_FN complex<T> op_arctanh(complex<T> z)
{
    const T quarter = T(1.57079632679489661923);
    if (::isinf(z.re) || ::isinf(z.im)) {
        return make_complex(::copysign(T(0), z.re),
                            is_nan(z.im) ? z.im : ::copysign(quarter, z.im));
    }
    if (is_nan(z)) {
        const T nan = nan_of(z);
        return make_complex(z.re == 0 ? z.re : nan, nan);
    }
    T x = ::fabs(z.re), y = ::fabs(z.im), real, angle;
    if (x > T(1) / limits_of<T>::epsilon() || y > T(1) / limits_of<T>::epsilon()) {
        T size = ::hypot(x / 2, y / 2);
        real = x / size / size / 4;
        angle = quarter;
    }
    else if (x == T(1) && y < limits_of<T>::epsilon()) {
        real = T(0.5) * (T(0.69314718055994530942) - T(::log(y)));
        angle = y == 0 ? y : T(0.5) * T(::atan2(T(2), -y));
    }
    else {
        T away = T(1) - x;
        real = T(0.25) * T(::log1p(4 * x / ::fma(away, away, y * y)));
        angle = T(0.5) * T(::atan2(2 * y, ::fma(away, T(1) + x, -y * y)));
    }
    return make_complex(::copysign(real, z.re), ::copysign(angle, z.im));
}
// atan z = -i atanh(iz)
template <class T>
PYCUDA_FN complex<T> op_arctan(complex<T> z)
{
    complex<T> turned = op_arctanh(make_complex(-z.im, z.re));
    return make_complex(turned.im, -turned.re);
}

}  // namespace pycuda_array

#endif
