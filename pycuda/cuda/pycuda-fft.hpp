// What generated Fourier transforms are made of: roots of unity, butterflies, the stages
// of a transform in shared memory, and the ways in which elements are read and stored.
//
// A block computes LINES transforms of LENGTH elements. Each stage reads its elements,
// computes butterflies of one radix in registers and stores the elements in the order
// of the next stage (Stockham), so that no step that reorders elements remains. Inverse
// transforms exchange the real and imaginary parts of what they read and store.
#ifndef PYCUDA_FFT_HPP
#define PYCUDA_FFT_HPP

#include <pycuda-array.hpp>

namespace pycuda_fft {

using namespace pycuda_array;

// A complex number that is moved as one word.
template <class T>
struct __align__(2 * sizeof(T)) number {
    T re, im;
};

template <class T>
PYCUDA_FN number<T> make_number(T re, T im)
{
    number<T> z;
    z.re = re;
    z.im = im;
    return z;
}
template <class T>
PYCUDA_FN number<T> operator+(number<T> a, number<T> b)
{
    return make_number(a.re + b.re, a.im + b.im);
}
template <class T>
PYCUDA_FN number<T> operator-(number<T> a, number<T> b)
{
    return make_number(a.re - b.re, a.im - b.im);
}
template <class T>
PYCUDA_FN number<T> operator*(number<T> a, number<T> b)
{
    return make_number(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
template <class T>
PYCUDA_FN number<T> operator*(T a, number<T> b)
{
    return make_number(a * b.re, a * b.im);
}
template <class T>
PYCUDA_FN number<T> conjugate(number<T> a)
{
    return make_number(a.re, -a.im);
}
template <class T>
PYCUDA_FN number<T> exchanged(number<T> a)
{
    return make_number(a.im, a.re);
}
template <class T>
PYCUDA_FN number<T> times_minus_i(number<T> a)
{
    return make_number(a.im, -a.re);
}

// -- roots of unity -------------------------------------------------------------------

PYCUDA_FN void sine_cosine(float x, float &sine, float &cosine)
{
    ::sincospif(x, &sine, &cosine);
}
PYCUDA_FN void sine_cosine(double x, double &sine, double &cosine)
{
    ::sincospi(x, &sine, &cosine);
}

// exp(-pi i x / 2), turned by quarters of a circle.
template <class T>
PYCUDA_FN number<T> turned_root(int quarters, T x)
{
    T sine, cosine;
    sine_cosine(T(0.5) * x, sine, cosine);
    number<T> w = make_number(cosine, -sine);
    if (quarters & 1) {
        w = times_minus_i(w);
    }
    return quarters & 2 ? make_number(-w.re, -w.im) : w;
}

// The roots exp(-2 pi i m / n) for m < n. The angle is reduced to an eighth of a circle
// before it is rounded: in integers, or for single precision in double precision.
template <class T>
struct root_of_unity;
template <>
struct root_of_unity<double> {
    uint64 n;
    double unit;

    PYCUDA_FN root_of_unity(uint64 count) : n(count), unit(1.0 / (double)count) {}
    PYCUDA_FN number<double> at(uint64 m) const
    {
        const uint64 eighths = 8 * m;
        const int quarters = (eighths >= n) + (eighths >= 3 * n) + (eighths >= 5 * n) +
                             (eighths >= 7 * n);
        return turned_root(quarters, (double)(int64)(4 * m - quarters * n) * unit);
    }
};
template <>
struct root_of_unity<float> {
    double unit;

    PYCUDA_FN root_of_unity(uint64 count) : unit(4.0 / (double)count) {}
    PYCUDA_FN number<float> at(uint64 m) const
    {
        const double quarters = (double)m * unit, whole = ::rint(quarters);
        return turned_root((int)whole, (float)(quarters - whole));
    }
};

// The roots exp(-2 pi i first * j / n) for first * j < n. In single precision, products
// in double precision are exact enough.
template <class T>
struct root_of_line;
template <>
struct root_of_line<double> {
    uint64 first;
    root_of_unity<double> roots;

    PYCUDA_FN root_of_line(uint64 line, uint64 n) : first(line), roots(n) {}
    PYCUDA_FN number<double> at(int j) const
    {
        return roots.at(first * (uint64)j);
    }
};
template <>
struct root_of_line<float> {
    double step;

    PYCUDA_FN root_of_line(uint64 line, uint64 n) : step(4.0 * (double)line / (double)n)
    {
    }
    PYCUDA_FN number<float> at(int j) const
    {
        const double quarters = (double)j * step, whole = ::rint(quarters);
        return turned_root((int)whole, (float)(quarters - whole));
    }
};

template <class T>
PYCUDA_FN number<T> root(uint64 m, uint64 n)
{
    return root_of_unity<T>(n).at(m);
}

// exp(-pi i e^2 / n)
template <class T>
PYCUDA_FN number<T> chirp(uint64 e, uint64 n)
{
    return root<T>(e * e % (2 * n), 2 * n);
}

// -- butterflies: the transform of RADIX elements in registers ------------------------

// The cosines and sines of a prime radix; the generated source defines those it needs.
template <int RADIX>
struct circle;

template <class T, int RADIX>
struct butterfly {
    static PYCUDA_FN void apply(number<T> *v)
    {
        const int half = RADIX / 2;
        number<T> sums[half + 1], differences[half + 1];
        number<T> first = v[0];
#pragma unroll
        for (int j = 1; j <= half; j++) {
            sums[j] = v[j] + v[RADIX - j];
            differences[j] = v[j] - v[RADIX - j];
            v[0] = v[0] + sums[j];
        }
#pragma unroll
        for (int k = 1; k <= half; k++) {
            number<T> even = first, odd = make_number(T(0), T(0));
#pragma unroll
            for (int j = 1; j <= half; j++) {
                even = even + T(circle<RADIX>::cosine(j * k % RADIX)) * sums[j];
                odd = odd + T(circle<RADIX>::sine(j * k % RADIX)) * differences[j];
            }
            odd = times_minus_i(odd);
            v[k] = even + odd;
            v[RADIX - k] = even - odd;
        }
    }
};
template <class T>
struct butterfly<T, 1> {
    static PYCUDA_FN void apply(number<T> *) {}
};
template <class T>
struct butterfly<T, 2> {
    static PYCUDA_FN void apply(number<T> *v)
    {
        number<T> a = v[0];
        v[0] = a + v[1];
        v[1] = a - v[1];
    }
};
template <class T>
PYCUDA_FN void four(number<T> &a, number<T> &b, number<T> &c, number<T> &d)
{
    number<T> p = a + c, q = a - c, r = b + d, s = times_minus_i(b - d);
    a = p + r;
    b = q + s;
    c = p - r;
    d = q - s;
}
template <class T>
struct butterfly<T, 4> {
    static PYCUDA_FN void apply(number<T> *v)
    {
        four(v[0], v[1], v[2], v[3]);
    }
};
template <class T>
struct butterfly<T, 8> {
    static PYCUDA_FN void apply(number<T> *v)
    {
        const T h = T(0.70710678118654752440);
        four(v[0], v[2], v[4], v[6]);
        four(v[1], v[3], v[5], v[7]);
        number<T> a = make_number(h * (v[3].re + v[3].im), h * (v[3].im - v[3].re));
        number<T> b = times_minus_i(v[5]);
        number<T> c = make_number(h * (v[7].im - v[7].re), -h * (v[7].re + v[7].im));
        number<T> e0 = v[0], e1 = v[2], e2 = v[4], e3 = v[6], o0 = v[1];
        v[0] = e0 + o0;
        v[4] = e0 - o0;
        v[1] = e1 + a;
        v[5] = e1 - a;
        v[2] = e2 + b;
        v[6] = e2 - b;
        v[3] = e3 + c;
        v[7] = e3 - c;
    }
};
template <class T>
struct butterfly<T, 16> {
    static PYCUDA_FN void apply(number<T> *v)
    {
        const T c = T(0.92387953251128675613), s = T(0.38268343236508977173);
        const T h = T(0.70710678118654752440);
        number<T> w[16];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            four(v[j], v[j + 4], v[j + 8], v[j + 12]);
        }
        v[5] = v[5] * make_number(c, -s);
        v[6] = v[6] * make_number(h, -h);
        v[7] = v[7] * make_number(s, -c);
        v[9] = v[9] * make_number(h, -h);
        v[10] = times_minus_i(v[10]);
        v[11] = v[11] * make_number(-h, -h);
        v[13] = v[13] * make_number(s, -c);
        v[14] = v[14] * make_number(-h, -h);
        v[15] = v[15] * make_number(-c, s);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            four(v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]);
        }
#pragma unroll
        for (int k = 0; k < 16; k++) {
            w[k] = v[k % 4 * 4 + k / 4];
        }
#pragma unroll
        for (int k = 0; k < 16; k++) {
            v[k] = w[k];
        }
    }
};

// -- stages ---------------------------------------------------------------------------

// One stage of a transform of LENGTH elements by THREADS threads. DONE is the product
// of the radices of the stages before. A thread computes ROUNDS butterflies.
template <class T, int LENGTH, int RADIX, int DONE, int THREADS>
struct stage {
    enum { COUNT = LENGTH / RADIX, ROUNDS = (COUNT + THREADS - 1) / THREADS };
    number<T> held[ROUNDS][RADIX];

    static PYCUDA_FN bool has(int j)
    {
        return COUNT % THREADS == 0 || j < COUNT;
    }
    template <class Source>
    PYCUDA_FN void read(const Source &source, int thread)
    {
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            const int j = thread + i * THREADS;
            if (has(j)) {
#pragma unroll
                for (int q = 0; q < RADIX; q++) {
                    held[i][q] = source.get(j + q * COUNT);
                }
            }
        }
    }
    // roots: exp(-2 pi i k / (LENGTH * STEP)), with STEP 1 or 2
    template <int STEP>
    PYCUDA_FN void compute(const number<T> *roots, int thread)
    {
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            const int j = thread + i * THREADS;
            if (has(j)) {
                if (DONE > 1) {
                    const int k = j % DONE * (LENGTH / (DONE * RADIX)) * STEP;
#pragma unroll
                    for (int q = 1; q < RADIX; q++) {
                        held[i][q] = held[i][q] * roots[k * q];
                    }
                }
                butterfly<T, RADIX>::apply(held[i]);
            }
        }
    }
    template <class Target>
    PYCUDA_FN void write(const Target &target, int thread) const
    {
#pragma unroll
        for (int i = 0; i < ROUNDS; i++) {
            const int j = thread + i * THREADS;
            if (has(j)) {
                const int first = j / DONE * DONE * RADIX + j % DONE;
#pragma unroll
                for (int q = 0; q < RADIX; q++) {
                    target.put(first + q * DONE, held[i][q]);
                }
            }
        }
    }
};

// A line in shared memory, with a gap after each group of elements, so that the threads
// of a stage use different banks.
template <class T>
struct shared_line {
    number<T> *line;

    static PYCUDA_FN int place(int i)
    {
        return i + i / (128 / (int)sizeof(number<T>));
    }
    PYCUDA_FN number<T> get(int i) const
    {
        return line[place(i)];
    }
    PYCUDA_FN void put(int i, number<T> value) const
    {
        line[place(i)] = value;
    }
};

// The same, for the middle of a convolution: the transform is multiplied by a spectrum,
// and its parts are exchanged for the inverse transform.
template <class T>
struct convolved_line {
    shared_line<T> line;
    const number<T> *spectrum;

    PYCUDA_FN void put(int i, number<T> value) const
    {
        line.put(i, exchanged(value * spectrum[i]));
    }
};

// -- elements in global memory --------------------------------------------------------

// An element of any type as a number. LOOSE: its address may not be a multiple of its
// size.
template <class T, class E, bool LOOSE>
struct element {
    static PYCUDA_FN number<T> load(const char *at)
    {
        return make_number(cast<T>(*(const E *)at), T(0));
    }
    static PYCUDA_FN void store(char *at, number<T> value)
    {
        *(E *)at = cast<E>(value.re);
    }
};
template <class T, class P>
struct element<T, complex<P>, true> {
    static PYCUDA_FN number<T> load(const char *at)
    {
        return make_number(T(((const P *)at)[0]), T(((const P *)at)[1]));
    }
    static PYCUDA_FN void store(char *at, number<T> value)
    {
        ((P *)at)[0] = P(value.re);
        ((P *)at)[1] = P(value.im);
    }
};
template <class T, class P>
struct element<T, complex<P>, false> {
    static PYCUDA_FN number<T> load(const char *at)
    {
        const number<P> z = *(const number<P> *)at;
        return make_number(T(z.re), T(z.im));
    }
    static PYCUDA_FN void store(char *at, number<T> value)
    {
        *(number<P> *)at = make_number(P(value.re), P(value.im));
    }
};

// One side of a line in global memory. Element e of the whole transform is at `at + e *
// step`; from `count` on elements read as zeros and are not stored. Element i of the line
// is at `line + i * stride`.
template <class A>
struct side {
    A at;
    uint64 first;   // of the line in the whole transform
    uint64 spacing; // between elements of the line in the whole transform
    uint64 count;
    int64 step;
    int64 part;   // from an even to an odd real element
    A line;       // element 0 of the line
    int64 stride; // between elements of the line
};

// Reading: element i of the line, which is element e of the whole transform.
template <class T, class M, bool BOUNDED>
struct load_plain {
    static PYCUDA_FN number<T> get(const side<const char *> &from, int i, uint64 e,
                                   uint64)
    {
        if (BOUNDED && e >= from.count) {
            return make_number(T(0), T(0));
        }
        return M::load(from.line + (int64)i * from.stride);
    }
};

// Two real elements are one number.
template <class T, class M>
struct load_pairs {
    static PYCUDA_FN number<T> get(const side<const char *> &from, int, uint64 e, uint64)
    {
        number<T> z = make_number(T(0), T(0));
        const char *at = from.at + (int64)e * from.step;
        if (2 * e < from.count) {
            z.re = M::load(at).re;
        }
        if (2 * e + 1 < from.count) {
            z.im = M::load(at + from.part).re;
        }
        return z;
    }
};

// Half a spectrum as the whole one of `whole` elements, whose other half are the
// conjugates. The imaginary part counts as zero where the two halves meet.
template <class T, class M, bool CONJUGATED>
struct load_half {
    static PYCUDA_FN number<T> one(const side<const char *> &from, uint64 e, uint64 whole)
    {
        number<T> z = make_number(T(0), T(0));
        if (e < from.count) {
            z = M::load(from.at + (int64)e * from.step);
        }
        if (CONJUGATED) {
            z = conjugate(z);
        }
        if (e == 0 || 2 * e == whole) {
            z.im = T(0);
        }
        return z;
    }
    static PYCUDA_FN number<T> get(const side<const char *> &from, int, uint64 e,
                                   uint64 whole)
    {
        if (2 * e > whole) {
            return conjugate(one(from, whole - e, whole));
        }
        return one(from, e, whole);
    }
};

// Half a spectrum as the transform of half the length, in which an even element is the
// real part and the odd one after it the imaginary part.
template <class T, class M, bool CONJUGATED>
struct load_half_pairs {
    static PYCUDA_FN number<T> get(const side<const char *> &from, int, uint64 e,
                                   uint64 whole)
    {
        typedef load_half<T, M, CONJUGATED> half;
        const number<T> a = half::one(from, e, whole);
        const number<T> b = conjugate(half::one(from, whole / 2 - e, whole));
        const number<T> odd = (a - b) * conjugate(root<T>(e, whole));
        return a + b - times_minus_i(odd);
    }
};

// The chirp by which a convolution makes a transform of `whole` elements.
template <class T>
struct load_chirp {
    static PYCUDA_FN number<T> get(const side<const char *> &from, int, uint64 e,
                                   uint64 whole)
    {
        if (e < whole) {
            return conjugate(chirp<T>(e, whole));
        }
        if (from.count - e < whole) {
            return conjugate(chirp<T>(from.count - e, whole));
        }
        return make_number(T(0), T(0));
    }
};

// Storing.
template <class T, class M, bool BOUNDED>
struct store_plain {
    static PYCUDA_FN void put(const side<char *> &to, int i, uint64 e, number<T> value)
    {
        if (!BOUNDED || e < to.count) {
            M::store(to.line + (int64)i * to.stride, value);
        }
    }
};
template <class T, class M>
struct store_pairs {
    static PYCUDA_FN void put(const side<char *> &to, int, uint64 e, number<T> value)
    {
        char *at = to.at + (int64)e * to.step;
        M::store(at, value);
        M::store(at + to.part, make_number(value.im, T(0)));
    }
};

// A line as the first stage reads it. TWIDDLED: earlier passes have transformed other
// factors of the length. The twiddles are roots for their product with this factor.
template <class T, class Load, bool TWIDDLED, bool EXCHANGED, bool CHIRPED>
struct source_line {
    side<const char *> from;
    uint64 whole;
    root_of_line<T> twiddle;
    bool present;

    PYCUDA_FN number<T> get(int i) const
    {
        if (!present) {
            return make_number(T(0), T(0));
        }
        const uint64 e = TWIDDLED ? (uint64)i : from.first + (uint64)i * from.spacing;
        if (CHIRPED && e >= whole) {
            return make_number(T(0), T(0));
        }
        number<T> z = Load::get(from, i, e, whole);
        if (EXCHANGED) {
            z = exchanged(z);
        }
        if (CHIRPED) {
            z = z * chirp<T>(e, whole);
        }
        if (TWIDDLED) {
            z = z * twiddle.at(i);
        }
        return z;
    }
};

// A line as the last stage stores it. INDEXED: the last of several passes.
// TURNED: the transform was an inverse one inside a convolution.
template <class T, class Store, bool INDEXED, bool EXCHANGED, bool CHIRPED, bool TURNED,
          bool CONJUGATED, bool MULTIPLIED>
struct target_line {
    side<char *> to;
    const number<T> *factor;
    uint64 whole;
    T scale;
    bool present;

    PYCUDA_FN void put(int i, number<T> z) const
    {
        if (!present) {
            return;
        }
        const uint64 e = INDEXED ? to.first + (uint64)i * to.spacing : (uint64)i;
        if (CHIRPED && e >= whole) {
            return;
        }
        if (MULTIPLIED) {
            z = z * factor[e];
        }
        if (TURNED) {
            z = exchanged(z);
        }
        if (CHIRPED) {
            z = z * chirp<T>(e, whole);
        }
        if (EXCHANGED) {
            z = exchanged(z);
        }
        if (CONJUGATED) {
            z = conjugate(z);
        }
        Store::put(to, i, e, scale * z);
    }
};

// From the transform z of half the length, in which an even real element was the real
// part and the odd one after it the imaginary part, to elements k and half - k of the
// real elements' transform.
template <class T, class M, bool CONJUGATED>
PYCUDA_FN void put_unzipped(const side<char *> &to, uint64 k, uint64 half, number<T> low,
                            number<T> high, number<T> root_of_k, T scale)
{
    high = conjugate(high);
    const number<T> even = T(0.5) * (low + high);
    const number<T> odd = times_minus_i(T(0.5) * (low - high) * root_of_k);
    number<T> a = scale * (even + odd), b = scale * conjugate(even - odd);
    if (CONJUGATED) {
        a = conjugate(a);
        b = conjugate(b);
    }
    M::store(to.at + (int64)k * to.step, a);
    M::store(to.at + (int64)(half - k) * to.step, b);
}

// Element n - k of the transform of real elements, from element k.
template <class T, class M>
PYCUDA_FN void put_mirrored(const char *source, char *target, uint64 k, uint64 n,
                            int64 source_step, int64 target_step)
{
    const number<T> z = M::load(source + (int64)k * source_step);
    M::store(target + (int64)(n - k) * target_step, conjugate(z));
}

}  // namespace pycuda_fft

#endif
