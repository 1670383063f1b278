// Special functions that CUDA's mathematical library lacks, in double precision.
//
// Each is computed by the series, asymptotic expansion or continued fraction that the
// NIST Digital Library of Mathematical Functions gives for it. Continued fractions are
// evaluated by the algorithm of Lentz.
#ifndef PYCUDA_SPECIAL_HPP
#define PYCUDA_SPECIAL_HPP

namespace pycuda_special {

#define PYCUDA_SPECIAL __device__ __forceinline__

static const double PI = 3.14159265358979323846;
static const double ROOT_HALF = 0.70710678118654752440;
static const double EPSILON = 2.220446049250313e-16;
static const double TINY = 1e-300;

PYCUDA_SPECIAL double nan_of()
{
    return ::nan("");
}

// -- the normal distribution ----------------------------------------------------------

PYCUDA_SPECIAL double log_ndtr(double x)
{
    if (x < -1) {
        return ::log(::erfcx(-x * ROOT_HALF) / 2) - x * x / 2;
    }
    return ::log1p(-::erfc(x * ROOT_HALF) / 2);
}

// -- entropy, logistic function -------------------------------------------------------

PYCUDA_SPECIAL double entr(double x)
{
    if (x > 0) {
        return -x * ::log(x);
    }
    if (x < 0) {
        return -1 / 0.0;
    }
    return x; // 0 or NaN
}
PYCUDA_SPECIAL double expit(double x)
{
    return 1 / (1 + ::exp(-x));
}
PYCUDA_SPECIAL double logit(double x)
{
    return ::log(x) - ::log1p(-x);
}
PYCUDA_SPECIAL double xlogy(double x, double y)
{
    return x == 0 && !::isnan(y) ? 0 : x * ::log(y);
}
PYCUDA_SPECIAL double xlog1py(double x, double y)
{
    return x == 0 && !::isnan(y) ? 0 : x * ::log1p(y);
}
PYCUDA_SPECIAL double sinc(double x)
{
    return x == 0 ? 1 : ::sinpi(x) / (PI * x);
}

// -- modified Bessel functions, scaled ------------------------------------------------

// Both scaled functions are close to 1 / sqrt(2 pi x) for large x: DLMF 10.40.1.
PYCUDA_SPECIAL double scaled_bessel(double x, double order)
{
    double mu = 4 * order * order, term = 1, sum = 1;
    for (int k = 1; k < 12; k++) {
        term *= -(mu - (2 * k - 1.0) * (2 * k - 1.0)) / (k * 8 * x);
        sum += term;
    }
    return sum / ::sqrt(2 * PI * x);
}
PYCUDA_SPECIAL double i0e(double x)
{
    double size = ::fabs(x);
    if (size > 200) {
        return scaled_bessel(size, 0);
    }
    return ::exp(-size) * ::cyl_bessel_i0(size);
}
PYCUDA_SPECIAL double i1e(double x)
{
    double size = ::fabs(x);
    if (size > 200) {
        return ::copysign(scaled_bessel(size, 1), x);
    }
    return ::exp(-size) * ::cyl_bessel_i1(x);
}

// -- the gamma function and its relatives ---------------------------------------------

// DLMF 5.5.2, 5.5.4 and 5.11.2
PYCUDA_SPECIAL double psi(double x)
{
    double result = 0;
    if (x == 0) {
        return -1 / x;
    }
    if (x < 0) {
        if (x == ::floor(x)) {
            return nan_of();
        }
        double rest = x - ::rint(x); // exact, also close to a pole
        result = -PI / ::tan(PI * rest);
        x = 1 - x;
    }
    for (; x < 12; x += 1) {
        result -= 1 / x;
    }
    double y = 1 / (x * x);
    double sum = y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240
        - y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
    return result + ::log(x) - 0.5 / x - sum;
}

// x^a exp(-x) / gamma(a). For large a by Stirling's series, in which nothing cancels.
PYCUDA_SPECIAL double gamma_density(double a, double x)
{
    if (a < 20) {
        return ::exp(a * ::log(x) - x - ::lgamma(a));
    }
    double t = (x - a) / a, y = 1 / (a * a);
    double rest = (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y / 1680))) / a;
    return ::sqrt(a / (2 * PI)) * ::exp(a * (::log1p(t) - t) - rest);
}

// The lower incomplete gamma function P: DLMF 8.11.4
PYCUDA_SPECIAL double gamma_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (double k = a + 1; term > sum * EPSILON / 4 && k < a + 100000; k += 1) {
        term *= x / k;
        sum += term;
    }
    return sum * gamma_density(a, x);
}

// The upper incomplete gamma function Q: DLMF 8.9.2
PYCUDA_SPECIAL double gamma_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / TINY, d = 1 / b, result = d;
    for (int k = 1; k < 100000; k++) {
        double factor = -k * (k - a);
        b += 2;
        d = factor * d + b;
        d = 1 / (::fabs(d) < TINY ? TINY : d);
        c = b + factor / c;
        c = ::fabs(c) < TINY ? TINY : c;
        result *= c * d;
        if (::fabs(c * d - 1) < EPSILON) {
            break;
        }
    }
    return result * gamma_density(a, x);
}

PYCUDA_SPECIAL double incomplete_gamma(double a, double x, bool upper)
{
    if (::isnan(a) || ::isnan(x) || a < 0 || x < 0 || (a == 0 && x == 0)
        || (::isinf(a) && ::isinf(x))) {
        return nan_of();
    }
    if (a == 0 || ::isinf(x)) {
        return upper ? 0 : 1;
    }
    if (x == 0 || ::isinf(a)) {
        return upper ? 1 : 0;
    }
    if (x < a + 1) {
        double lower = gamma_series(a, x);
        return upper ? 1 - lower : lower;
    }
    double above = gamma_fraction(a, x);
    return upper ? above : 1 - above;
}
PYCUDA_SPECIAL double gammainc(double a, double x)
{
    return incomplete_gamma(a, x, false);
}
PYCUDA_SPECIAL double gammaincc(double a, double x)
{
    return incomplete_gamma(a, x, true);
}

PYCUDA_SPECIAL double chdtrc(double df, double x)
{
    return incomplete_gamma(df / 2, x / 2, true);
}

// -- the zeta functions ---------------------------------------------------------------

// The sum of (a + k)^-s over all k from 0 on, for a > -20, s > 0: DLMF 25.11.5 (the
// formula of Euler and Maclaurin). Factors are B(2k) / (2k)!.
PYCUDA_SPECIAL double zeta_sum(double s, double a)
{
    const double factors[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600,
        1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600,
        -3617.0 / 10670622842880000, 43867.0 / 5109094217170944000,
        -174611.0 / 802857662698291200000.0};
    double sum = 0;
    for (int k = 0; k < 12 || a < 12; k++, a += 1) {
        double term = ::pow(a, -s);
        sum += term;
        if (a > 0 && term < ::fabs(sum) * EPSILON / 8) {
            return sum;
        }
    }
    double tail = a / (s - 1) + 0.5, rising = s / a;
    for (int k = 0; k < 10; k++) {
        tail += factors[k] * rising;
        rising *= (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a);
    }
    return sum + ::pow(a, -s) * tail;
}

PYCUDA_SPECIAL double zeta(double s, double q)
{
    if (s == 1) {
        return 1 / 0.0;
    }
    if (s < 1) {
        return nan_of();
    }
    if (q <= 0 && q == ::floor(q)) {
        return 1 / 0.0;
    }
    if (::isnan(s) || ::isnan(q) || (q < 0 && s != ::floor(s))) {
        return nan_of();
    }
    if (::isinf(q)) {
        return 0;
    }
    if (::isinf(s)) {
        return q > 1 ? 0 : q == 1 ? 1 : 1 / 0.0;
    }
    if (q > -20) {
        return zeta_sum(s, q);
    }
    double rest = q - ::floor(q); // negative terms in the order of their sizes
    double below = zeta_sum(s, 1 - rest) - zeta_sum(s, 1 - q);
    return zeta_sum(s, rest) + (::fmod(s, 2.0) == 0 ? below : -below);
}

// For s < 0 by DLMF 25.4.1
PYCUDA_SPECIAL double riemann_zeta(double s)
{
    if (s == 1 || s >= 60 || ::isnan(s)) {
        return s == 1 ? 1 / 0.0 : s >= 60 ? 1 : s;
    }
    if (s >= 0) {
        return zeta_sum(s, 1);
    }
    double sine = 2 * ::sinpi(s / 2);
    if (s > -170) {
        double power = ::pow(2 * PI, s - 1);
        return sine * power * ::tgamma(1 - s) * zeta_sum(1 - s, 1);
    }
    return sine * ::exp(::lgamma(1 - s) + (s - 1) * ::log(2 * PI));
}

PYCUDA_SPECIAL double polygamma(double n, double x)
{
    if (n == 0) {
        return psi(x);
    }
    double size = ::tgamma(n + 1) * zeta(n + 1, x);
    return ::fmod(n, 2.0) == 0 ? -size : size;
}

// -- the beta function and its relatives ----------------------------------------------

PYCUDA_SPECIAL double betaln(double a, double b)
{
    return ::lgamma(a) + ::lgamma(b) - ::lgamma(a + b);
}

// DLMF 8.17.22
PYCUDA_SPECIAL double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (::fabs(d) < TINY ? TINY : d);
    double result = d;
    for (int m = 1; m < 100000; m++) {
        double last = 1;
        for (int odd = 0; odd < 2; odd++) {
            double factor = odd
                ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + factor * d;
            d = 1 / (::fabs(d) < TINY ? TINY : d);
            c = 1 + factor / c;
            c = ::fabs(c) < TINY ? TINY : c;
            last = c * d;
            result *= last;
        }
        if (::fabs(last - 1) < EPSILON) {
            break;
        }
    }
    return result;
}

// The regularized incomplete beta function of x = 1 - y, or 1 minus it.
PYCUDA_SPECIAL double incomplete_beta(double a, double b, double x, double y, bool upper)
{
    if (::isnan(a) || ::isnan(b) || ::isnan(x) || a < 0 || b < 0 || x < 0 || y < 0
        || (a == 0 && b == 0)) {
        return nan_of();
    }
    if (x == 0 || b == 0) {
        return upper ? 1 : 0;
    }
    if (y == 0 || a == 0) {
        return upper ? 0 : 1;
    }
    double log_x = x < 0.5 ? ::log(x) : ::log1p(-y);
    double log_y = y < 0.5 ? ::log(y) : ::log1p(-x);
    double front = ::exp(a * log_x + b * log_y - betaln(a, b));
    if (x < (a + 1) / (a + b + 2)) {
        double lower = front * beta_fraction(a, b, x) / a;
        return upper ? 1 - lower : lower;
    }
    double above = front * beta_fraction(b, a, y) / b;
    return upper ? above : 1 - above;
}
PYCUDA_SPECIAL double betainc(double a, double b, double x)
{
    return incomplete_beta(a, b, x, 1 - x, false);
}
PYCUDA_SPECIAL double betaincc(double a, double b, double x)
{
    return incomplete_beta(a, b, x, 1 - x, true);
}

// Distributions of F and of Student's t, by the incomplete beta function.
PYCUDA_SPECIAL double fdtr(double m, double n, double x)
{
    double all = m * x + n;
    return incomplete_beta(m / 2, n / 2, m * x / all, n / all, false);
}
PYCUDA_SPECIAL double fdtrc(double m, double n, double x)
{
    double all = m * x + n;
    return incomplete_beta(m / 2, n / 2, m * x / all, n / all, true);
}
PYCUDA_SPECIAL double stdtr(double df, double t)
{
    if (::isinf(df)) {
        return ::normcdf(t);
    }
    if (::isinf(t)) {
        return t < 0 ? 0 : 1;
    }
    double all = df + t * t;
    double tail = incomplete_beta(df / 2, 0.5, df / all, t * t / all, false) / 2;
    return t < 0 ? tail : 1 - tail;
}

}  // namespace pycuda_special

#endif
