// Reductions: for each a struct reduce_<name> that says how elements are gathered, and
// the kernels around it.
//
// A reduction has a type Acc. identity() is what no element gives. add() takes up an
// element of type C, add_some() several that are in registers. merge() joins two
// accumulators, merge_lanes() those of some lanes of a warp. finish() makes the result. I
// is the type of an element's index. Which elements a thread takes up depends on lengths
// and device only, so that the same input gives the same bits.
#ifndef PYCUDA_REDUCE_HPP
#define PYCUDA_REDUCE_HPP

#include <pycuda-array.hpp>

namespace pycuda_array {

// -- accumulators ---------------------------------------------------------------------

// A sum and what rounding took from it (Neumaier).
struct exact_sum {
    double sum, rest;
};

PYCUDA_FN void gather(exact_sum &acc, double x)
{
    double total = acc.sum + x;
    acc.rest += ::fabs(acc.sum) >= ::fabs(x) ? (acc.sum - total) + x
                                             : (x - total) + acc.sum;
    acc.sum = total;
}
PYCUDA_FN void gather(exact_sum &acc, exact_sum other)
{
    gather(acc, other.sum);
    acc.rest += other.rest;
}
PYCUDA_FN double value_of(exact_sum acc)
{
    return acc.rest - acc.rest == 0 ? acc.sum + acc.rest : acc.sum;
}

struct exact_complex_sum {
    exact_sum re, im;
};
PYCUDA_FN void gather(exact_complex_sum &acc, complex128 z)
{
    gather(acc.re, z.re);
    gather(acc.im, z.im);
}
PYCUDA_FN void gather(exact_complex_sum &acc, exact_complex_sum other)
{
    gather(acc.re, other.re);
    gather(acc.im, other.im);
}
PYCUDA_FN complex128 value_of(exact_complex_sum acc)
{
    return make_complex(value_of(acc.re), value_of(acc.im));
}

template <class T>
PYCUDA_FN void gather(T &acc, T x)
{
    acc = op_add(acc, x);
}
template <class T>
PYCUDA_FN T value_of(T acc)
{
    return acc;
}

// The accumulator of a sum of T, and the type that its elements are taken up in.
template <class T>
struct sum_of {
    typedef T acc;
    typedef T item;
};
template <>
struct sum_of<bool> {
    typedef int64 acc;
    typedef int64 item;
};
// float: in double, which is exact enough; half has become float before.
template <>
struct sum_of<float> {
    typedef double acc;
    typedef double item;
};
template <>
struct sum_of<double> {
    typedef exact_sum acc;
    typedef double item;
};
template <>
struct sum_of<complex64> {
    typedef complex128 acc;
    typedef complex128 item;
};
template <>
struct sum_of<complex128> {
    typedef exact_complex_sum acc;
    typedef complex128 item;
};

template <class T>
struct wide {
    typedef T type;
};
template <>
struct wide<float> {
    typedef double type;
};
template <>
struct wide<complex64> {
    typedef complex128 type;
};

template <class T>
PYCUDA_FN T zeroed()
{
    T value;
    for (unsigned int i = 0; i < sizeof(T); i++) {
        ((char *)&value)[i] = 0;
    }
    return value;
}

// -- lanes ----------------------------------------------------------------------------

// A function that exchanges a value of any size between lanes, word by word.
#define PYCUDA_EXCHANGE(name, shuffle)                                   \
    template <class T>                                                   \
    PYCUDA_FN T name(const T &value, int lane)                           \
    {                                                                    \
        union {                                                          \
            T value;                                                     \
            unsigned words[(sizeof(T) + 3) / 4];                         \
        } moved;                                                         \
        moved.value = value;                                             \
        _Pragma("unroll")                                                \
        for (int i = 0; i < (int)((sizeof(T) + 3) / 4); i++) {           \
            moved.words[i] = shuffle(0xffffffffu, moved.words[i], lane); \
        }                                                                \
        return moved.value;                                              \
    }

PYCUDA_EXCHANGE(shifted_down, __shfl_down_sync) // of the lane so far above this one
PYCUDA_EXCHANGE(exchanged, __shfl_xor_sync)     // of the lane that differs in this bit
PYCUDA_EXCHANGE(from_lane, __shfl_sync)
#undef PYCUDA_EXCHANGE

template <class T>
PYCUDA_FN T from_first_lane(const T &value)
{
    return from_lane(value, 0);
}

// The value of the first thread of the block. All of its threads call it.
template <class T>
PYCUDA_FN T from_first_thread(const T &value)
{
    __shared__ __align__(16) char room[sizeof(T)];
    if (threadIdx.x == 0) {
        *(T *)room = value;
    }
    __syncthreads();
    return *(const T *)room;
}

// The sum of a number over lanes whose distances are powers of 2 from FROM to TO / 2. All
// of them get it.
template <int FROM, int TO, class T>
PYCUDA_FN T lane_sum(T x)
{
#pragma unroll
    for (int distance = TO / 2; distance >= FROM; distance /= 2) {
        x += __shfl_xor_sync(0xffffffffu, x, distance);
    }
    return x;
}
template <int FROM, int TO>
PYCUDA_FN complex128 lane_sum(complex128 z)
{
    return make_complex(lane_sum<FROM, TO>(z.re), lane_sum<FROM, TO>(z.im));
}

// -- the reductions -------------------------------------------------------------------

// The steps that most reductions do element by element. Self is the reduction.
template <class Self>
struct reduce_steps {
    // U runs of V elements. The first has the index `place`; runs are `step` apart.
    template <int V, int U, class Acc, class C, class I>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I place, I step)
    {
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            Self::add(acc, x[j], place + j / V * step + j % V);
        }
    }
    // Join lanes whose distances are powers of 2 from FROM to TO / 2. The first of them
    // gets the result. All lanes of the warp call it.
    template <int FROM, int TO, class Acc>
    static PYCUDA_FN void merge_lanes(Acc &acc)
    {
#pragma unroll
        for (int distance = TO / 2; distance >= FROM; distance /= 2) {
            Self::merge(acc, shifted_down(acc, distance));
        }
    }
};

template <class C, class I>
struct reduce_sum : reduce_steps<reduce_sum<C, I> > {
    typedef typename sum_of<C>::acc Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        gather(acc, cast<typename sum_of<C>::item>(x));
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        gather(acc, other);
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(value_of(acc));
    }
};

template <class T>
PYCUDA_FN T divided(T x, double by)
{
    return T(x / by);
}
template <class T>
PYCUDA_FN complex<T> divided(complex<T> z, double by)
{
    return make_complex(T(z.re / by), T(z.im / by));
}

template <class C, class I>
struct reduce_mean : reduce_sum<C, I> {
    template <class Z>
    static PYCUDA_FN Z finish(const typename reduce_sum<C, I>::Acc &acc, double divisor)
    {
        return cast<Z>(divided(value_of(acc), divisor));
    }
};

template <class C, class I>
struct reduce_dot : reduce_sum<C, I> {
    typedef typename reduce_sum<C, I>::Acc Acc;
    static PYCUDA_FN void add(Acc &acc, C x, C y, I)
    {
        typedef typename sum_of<C>::item item;
        gather(acc, op_multiply(cast<item>(x), cast<item>(y)));
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, const C *y, I, I)
    {
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            add(acc, x[j], y[j], 0);
        }
    }
};

template <class T>
PYCUDA_FN T conjugate(T x)
{
    return x;
}
template <class T>
PYCUDA_FN complex<T> conjugate(complex<T> z)
{
    return make_complex(z.re, -z.im);
}

template <class C, class I>
struct reduce_vdot : reduce_dot<C, I> {
    typedef typename reduce_sum<C, I>::Acc Acc;
    static PYCUDA_FN void add(Acc &acc, C x, C y, I place)
    {
        reduce_dot<C, I>::add(acc, conjugate(x), y, place);
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, const C *y, I, I)
    {
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            add(acc, x[j], y[j], 0);
        }
    }
};

// -- variance -------------------------------------------------------------------------

// How many elements, their mean as a distance from `base`, one of them, and the sum of
// the squared distances from the mean. Elements that lie close together far from 0 lose
// nothing, because their distances from `base` are exact.
template <class T>
struct spread {
    double count;
    T base, mean;
    double squares;
};

template <class T>
PYCUDA_FN T squared_size(T x)
{
    return x * x;
}
template <class T>
PYCUDA_FN T squared_size(complex<T> z)
{
    return z.re * z.re + z.im * z.im;
}
template <class T>
struct part_of {
    typedef T type;
};
template <class T>
struct part_of<complex<T> > {
    typedef T type;
};

// The root of the sum of squares, which is summed as reals are.
template <class C, class I>
struct reduce_norm : reduce_sum<typename part_of<C>::type, I> {
    typedef typename reduce_sum<typename part_of<C>::type, I>::Acc Acc;
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        gather(acc, (double)squared_size(cast<typename sum_of<C>::item>(x)));
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I, I)
    {
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            add(acc, x[j], 0);
        }
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(::sqrt(value_of(acc)));
    }
};

// The sum of absolute values, which are summed as reals are.
template <class C, class I>
struct reduce_absolute_sum : reduce_sum<typename part_of<C>::type, I> {
    typedef typename reduce_sum<typename part_of<C>::type, I>::Acc Acc;
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        gather(acc, (double)op_absolute(cast<typename sum_of<C>::item>(x)));
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I, I)
    {
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            add(acc, x[j], 0);
        }
    }
};

PYCUDA_FN double scaled(double x, double by)
{
    return x * by;
}
PYCUDA_FN complex128 scaled(complex128 z, double by)
{
    return make_complex(z.re * by, z.im * by);
}

// One pass over the elements: the squared distances of a few elements from their own
// mean, joined by the formula of Chan, Golub and LeVeque.
template <class C, class I>
struct reduce_var {
    typedef typename sum_of<C>::item item; // double or complex128
    typedef spread<item> Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    // Take up `count` elements at a distance `delta` from the mean.
    static PYCUDA_FN void join(Acc &acc, double count, item delta, double squares)
    {
        double all = acc.count + count;
        double part = count == acc.count ? 0.5 : count / all, weight = acc.count * part;
        acc.squares += squares + (weight == 0 ? 0.0 : squared_size(delta) * weight);
        acc.mean = op_add(acc.mean, scaled(delta, part));
        acc.count = all;
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I, I)
    {
        const int n = U * V;
        item away[n];
        item mean = zeroed<item>();
        double squares = 0;
        if (acc.count == 0) {
            acc.base = cast<item>(x[0]);
        }
#pragma unroll
        for (int j = 0; j < n; j++) {
            away[j] = op_subtract(cast<item>(x[j]), acc.base);
            mean = op_add(mean, away[j]);
        }
        mean = scaled(mean, 1.0 / n);
#pragma unroll
        for (int j = 0; j < n; j++) {
            squares += squared_size(op_subtract(away[j], mean));
        }
        join(acc, n, op_subtract(mean, acc.mean), squares);
    }
    static PYCUDA_FN void add(Acc &acc, C x, I place)
    {
        add_some<1, 1>(acc, &x, place, 0);
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        if (acc.count == 0) {
            acc = other;
        }
        else if (other.count != 0) {
            item bases = op_subtract(other.base, acc.base);
            item means = op_subtract(other.mean, acc.mean);
            join(acc, other.count, op_add(bases, means), other.squares);
        }
    }
    // The lanes at once. If the first of them has no element, none has.
    template <int FROM, int TO>
    static PYCUDA_FN void merge_lanes(Acc &acc)
    {
        if (FROM == TO) {
            return;
        }
        const int first = threadIdx.x % 32 & ~(TO - FROM);
        item base = base_of(acc.base, first);
        item mean = zeroed<item>();
        if (acc.count != 0) {
            mean = op_add(op_subtract(acc.base, base), acc.mean);
        }
        double all = lane_sum<FROM, TO>(acc.count);
        item middle = lane_sum<FROM, TO>(scaled(mean, acc.count));
        middle = scaled(middle, all == 0 ? 0.0 : 1.0 / all);
        double away = acc.count * squared_size(op_subtract(mean, middle));
        acc.squares = lane_sum<FROM, TO>(acc.squares + (acc.count == 0 ? 0.0 : away));
        acc.base = base;
        acc.mean = middle;
        acc.count = all;
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double divisor)
    {
        return cast<Z>(acc.squares / divisor);
    }

private:
    static PYCUDA_FN double base_of(double x, int lane)
    {
        return __shfl_sync(0xffffffffu, x, lane);
    }
    static PYCUDA_FN complex128 base_of(complex128 z, int lane)
    {
        return make_complex(base_of(z.re, lane), base_of(z.im, lane));
    }
};
template <class C, class I>
struct reduce_std : reduce_var<C, I> {
    template <class Z>
    static PYCUDA_FN Z finish(const typename reduce_var<C, I>::Acc &acc, double divisor)
    {
        return cast<Z>(::sqrt(acc.squares / divisor));
    }
};

// -- products, extremes, truth --------------------------------------------------------

template <class C, class I>
struct reduce_prod : reduce_steps<reduce_prod<C, I> > {
    typedef typename wide<typename sum_of<C>::item>::type Acc;
    static PYCUDA_FN Acc identity()
    {
        return cast<Acc>(1);
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        acc = op_multiply(acc, cast<Acc>(x));
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        acc = op_multiply(acc, other);
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(acc);
    }
};

// The lesser or the greater of two elements; NaN wins.
template <bool least, class C>
PYCUDA_FN C bound(C x, C y)
{
    return least ? op_minimum(x, y) : op_maximum(x, y);
}
#if __CUDA_ARCH__ >= 800
template <bool least>
PYCUDA_FN float bound(float x, float y)
{
    float z;
    if (least) {
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    }
    else {
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    }
    return z;
}
#endif

// The least or greatest element, and where it was first. No element: place is -1.
template <class C, class I>
struct extreme {
    C value;
    I place;
};

template <class C, class I, bool least>
struct reduce_extreme {
    typedef extreme<C, I> Acc;
    static PYCUDA_FN Acc identity()
    {
        Acc acc = zeroed<Acc>();
        acc.place = -1;
        return acc;
    }
    static PYCUDA_FN bool is_better(C x, C than)
    {
        if (is_nan(than)) {
            return false;
        }
        return is_nan(x) || (least ? op_less(x, than) : op_greater(x, than));
    }
    static PYCUDA_FN bool is_same(C x, C y)
    {
        return is_nan(y) ? is_nan(x) : op_equal(x, y);
    }
    // Indices never decrease from call to call: an equal element is no better.
    static PYCUDA_FN void add(Acc &acc, C x, I place)
    {
        if (acc.place < 0 || is_better(x, acc.value)) {
            acc.value = x;
            acc.place = place;
        }
    }
    // Most elements are not better than those before: look at the best of them only.
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I place, I step)
    {
        C best = x[0];
#pragma unroll
        for (int j = 1; j < U * V; j++) {
            best = bound<least>(best, x[j]);
        }
        if (acc.place < 0 || is_better(best, acc.value)) {
            I at = place;
#pragma unroll
            for (int j = U * V - 1; j > 0; j--) {
                at = is_same(x[j], best) ? I(place + j / V * step + j % V) : at;
            }
            acc.place = is_same(x[0], best) ? place : at;
            acc.value = best;
        }
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        if (other.place < 0) {
            return;
        }
        if (acc.place < 0 || is_better(other.value, acc.value) ||
            (other.place < acc.place && is_same(other.value, acc.value))) {
            acc = other;
        }
    }
    template <int FROM, int TO>
    static PYCUDA_FN void merge_lanes(Acc &acc)
    {
        reduce_steps<reduce_extreme>::template merge_lanes<FROM, TO>(acc);
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return acc.place;
    }
};
template <class C, class I>
struct reduce_argmin : reduce_extreme<C, I, true> {};
template <class C, class I>
struct reduce_argmax : reduce_extreme<C, I, false> {};

template <class C>
struct present {
    C value;
    int there;
};

template <class C, class I, bool least>
struct reduce_bound : reduce_steps<reduce_bound<C, I, least> > {
    typedef present<C> Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        acc.value = acc.there ? bound<least>(acc.value, x) : x;
        acc.there = 1;
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I place, I)
    {
        C best = x[0];
#pragma unroll
        for (int j = 1; j < U * V; j++) {
            best = bound<least>(best, x[j]);
        }
        add(acc, best, place);
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        if (other.there) {
            add(acc, other.value, 0);
        }
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(acc.value);
    }
};
template <class C, class I>
struct reduce_min : reduce_bound<C, I, true> {};
template <class C, class I>
struct reduce_max : reduce_bound<C, I, false> {};

// The distance of the greatest and the least element.
template <class C>
struct extent {
    C least, most;
    int there;
};

template <class C, class I>
struct reduce_ptp : reduce_steps<reduce_ptp<C, I> > {
    typedef extent<C> Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        acc.least = acc.there ? bound<true>(acc.least, x) : x;
        acc.most = acc.there ? bound<false>(acc.most, x) : x;
        acc.there = 1;
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        if (other.there) {
            add(acc, other.least, 0);
            add(acc, other.most, 0);
        }
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(op_subtract(acc.most, acc.least));
    }
};

// The least and the greatest element of real numbers, as the parts of a complex number.
template <class C, class I>
struct reduce_ends : reduce_ptp<C, I> {
    template <class Z>
    static PYCUDA_FN Z finish(const extent<C> &acc, double)
    {
        return make_complex(cast<double>(acc.least), cast<double>(acc.most));
    }
};

// Bytes of a word that are not 0, as their highest bits.
PYCUDA_FN uint32 bytes_set(uint32 word)
{
    return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
}

template <class C, class I>
struct reduce_any : reduce_steps<reduce_any<C, I> > {
    typedef int Acc;
    static PYCUDA_FN Acc identity()
    {
        return 0;
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        acc |= truth(x);
    }
    template <int WORDS>
    static PYCUDA_FN void add_bytes(Acc &acc, const uint32 *words)
    {
        uint32 all = 0;
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            all |= words[j];
        }
        acc |= all != 0;
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        acc |= other;
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return acc != 0;
    }
};
template <class C, class I>
struct reduce_all : reduce_steps<reduce_all<C, I> > {
    typedef int Acc;
    static PYCUDA_FN Acc identity()
    {
        return 1;
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        acc &= truth(x);
    }
    template <int WORDS>
    static PYCUDA_FN void add_bytes(Acc &acc, const uint32 *words)
    {
        uint32 all = 0x80808080u;
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            all &= bytes_set(words[j]);
        }
        acc &= all == 0x80808080u;
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        acc &= other;
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return acc != 0;
    }
};
template <class C, class I>
struct reduce_count_nonzero : reduce_steps<reduce_count_nonzero<C, I> > {
    typedef int64 Acc;
    static PYCUDA_FN Acc identity()
    {
        return 0;
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        acc += truth(x);
    }
    template <int WORDS>
    static PYCUDA_FN void add_bytes(Acc &acc, const uint32 *words)
    {
        int some = 0;
#pragma unroll
        for (int j = 0; j < WORDS; j++) {
            some += __popc(bytes_set(words[j]));
        }
        acc += some;
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I, I)
    {
        int some = 0;
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            some += truth(x[j]);
        }
        acc += some;
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        acc += other;
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(acc);
    }
};

// -- without NaN ----------------------------------------------------------------------

// A reduction of the elements that are not NaN.
template <class Base, class C, class I>
struct skip_nan : Base {
    typedef typename Base::Acc Acc;
    static PYCUDA_FN void add(Acc &acc, C x, I place)
    {
        if (!is_nan(x)) {
            Base::add(acc, x, place);
        }
    }
    template <int V, int U>
    static PYCUDA_FN void add_some(Acc &acc, const C *x, I place, I step)
    {
        bool has_nan = false;
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            has_nan = has_nan || is_nan(x[j]);
        }
        if (!has_nan) {
            Base::template add_some<V, U>(acc, x, place, step);
            return;
        }
#pragma unroll
        for (int j = 0; j < U * V; j++) {
            add(acc, x[j], I(place + j / V * step + j % V));
        }
    }
};

template <class C, class I>
struct reduce_nansum : skip_nan<reduce_sum<C, I>, C, I> {};
template <class C, class I>
struct reduce_nanprod : skip_nan<reduce_prod<C, I>, C, I> {};
template <class C, class I>
struct reduce_nanargmin : skip_nan<reduce_argmin<C, I>, C, I> {};
template <class C, class I>
struct reduce_nanargmax : skip_nan<reduce_argmax<C, I>, C, I> {};

// With no other element the result is NaN, which the value is while none is there.
template <class C, class I, bool least>
struct reduce_nanbound : reduce_steps<reduce_nanbound<C, I, least> > {
    typedef present<C> Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, I)
    {
        const bool counts = !is_nan(x);
        if (counts || !acc.there) {
            acc.value = acc.there ? bound<least>(acc.value, x) : x;
        }
        acc.there = acc.there || counts;
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        if (other.there || is_nan(other.value)) {
            add(acc, other.value, 0);
        }
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(acc.value);
    }
};
template <class C, class I>
struct reduce_nanmin : reduce_nanbound<C, I, true> {};
template <class C, class I>
struct reduce_nanmax : reduce_nanbound<C, I, false> {};

template <class T>
struct counted_sum {
    T sum;
    int64 count;
};

template <class C, class I>
struct reduce_nanmean : reduce_steps<reduce_nanmean<C, I> > {
    typedef reduce_sum<C, I> Sum;
    typedef counted_sum<typename Sum::Acc> Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, I place)
    {
        if (!is_nan(x)) {
            Sum::add(acc.sum, x, place);
            acc.count++;
        }
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        Sum::merge(acc.sum, other.sum);
        acc.count += other.count;
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double)
    {
        return cast<Z>(divided(value_of(acc.sum), (double)acc.count));
    }
};

// The degrees of freedom depend on the elements: finish() gets what is taken from them.
template <class C, class I>
struct reduce_nanvar : skip_nan<reduce_var<C, I>, C, I> {
    typedef typename reduce_var<C, I>::Acc Acc;
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double ddof)
    {
        const double left = acc.count - ddof;
        return cast<Z>(left > 0 ? acc.squares / left : (left - left) / 0.0);
    }
};
template <class C, class I>
struct reduce_nanstd : reduce_nanvar<C, I> {
    typedef typename reduce_var<C, I>::Acc Acc;
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double ddof)
    {
        return cast<Z>(::sqrt(reduce_nanvar<C, I>::template finish<double>(acc, ddof)));
    }
};

// -- some lanes -----------------------------------------------------------------------

// Join the accumulators of U results, which L lanes hold in part. Each lane gives half of
// its results away and gets its partner's part of the other half, so that lane k ends
// with the results from k * U / L on, or with a copy of result k * U / L.
template <class R, int L, int U>
PYCUDA_FN void scatter_lanes(typename R::Acc *acc)
{
    typedef typename R::Acc Acc;
    int left = U;
#pragma unroll
    for (int distance = L / 2; distance > 0; distance /= 2) {
        const bool upper = threadIdx.x & distance;
        if (left == 1) {
            R::merge(acc[0], exchanged(acc[0], distance));
            continue;
        }
        left /= 2;
#pragma unroll
        for (int j = 0; j < U / 2; j++) {
            if (j < left) {
                const Acc given = upper ? acc[j] : acc[j + left];
                acc[j] = upper ? acc[j + left] : acc[j];
                R::merge(acc[j], exchanged(given, distance));
            }
        }
    }
}

// Reduce U results of which each lane has V elements, from index `first` on, if `has`. The
// accumulators end as scatter_lanes leaves them. `length`: the elements of a result.
template <class R, int L, int U, int V>
struct short_rows {
    template <class C, class I>
    static PYCUDA_FN void reduce(typename R::Acc *acc, const C *x, I first, bool has, I)
    {
#pragma unroll
        for (int u = 0; u < U; u++) {
            acc[u] = R::identity();
            if (has) {
                R::template add_some<V, 1>(acc[u], x + u * V, first, I(0));
            }
        }
        scatter_lanes<R, L, U>(acc);
    }
    template <class C, class I>
    static PYCUDA_FN void reduce(typename R::Acc *acc, const C *x, const C *y, I first,
                                 bool has, I)
    {
#pragma unroll
        for (int u = 0; u < U; u++) {
            acc[u] = R::identity();
            if (has) {
                R::template add_some<V, 1>(acc[u], x + u * V, y + u * V, first, I(0));
            }
        }
        scatter_lanes<R, L, U>(acc);
    }
};

// The same for one result in one thread: its N elements, which L lanes would have.
template <class R, int L, int V, int N, class Z, class C>
PYCUDA_FN Z reduce_few(const C *x, double divisor)
{
    typename R::Acc acc[L];
#pragma unroll
    for (int lane = 0; lane < L; lane++) {
        acc[lane] = R::identity();
        if (lane * V < N) {
            R::template add_some<V, 1>(acc[lane], x + lane * V, lane * V, 0);
        }
    }
#pragma unroll
    for (int distance = L / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int lane = 0; lane < distance; lane++) {
            R::merge(acc[lane], acc[lane + distance]);
        }
    }
    return R::template finish<Z>(acc[0], divisor);
}

// A sum that scatter_lanes may join.
struct plain_sum {
    typedef double Acc;
    static PYCUDA_FN void merge(Acc &acc, Acc other)
    {
        acc += other;
    }
};

// What the elements of a result are subtracted from first, so that none of their digits is
// lost: one of them. Doubles that hold floats have digits enough.
template <class C>
struct near_elements {
    template <int L, class T>
    static PYCUDA_FN T base(T)
    {
        return zeroed<T>();
    }
};
template <>
struct near_elements<double> {
    template <int L>
    static PYCUDA_FN double base(double x)
    {
        return __shfl_sync(0xffffffffu, x, threadIdx.x % 32 / L * L);
    }
};
template <>
struct near_elements<complex128> {
    template <int L>
    static PYCUDA_FN complex128 base(complex128 z)
    {
        return make_complex(near_elements<double>::base<L>(z.re),
                            near_elements<double>::base<L>(z.im));
    }
};

// The elements of a result are in registers: subtract their mean, then add the squares.
template <class R, int L, int U, int V>
struct short_spreads {
    template <class C, class I>
    static PYCUDA_FN void reduce(typename R::Acc *acc, const C *x, I, bool has, I length)
    {
        typedef typename R::item item;
        const double part = 1.0 / length;
        double squares[U];
#pragma unroll
        for (int u = 0; u < U; u++) {
            const item base =
                near_elements<C>::template base<L>(cast<item>(x[u * V]));
            item mean = zeroed<item>(), away[V];
#pragma unroll
            for (int v = 0; v < V; v++) {
                away[v] = op_subtract(cast<item>(x[u * V + v]), base);
                mean = op_add(mean, away[v]);
            }
            mean = scaled(lane_sum<1, L>(has ? mean : zeroed<item>()), part);
            squares[u] = 0;
#pragma unroll
            for (int v = 0; v < V; v++) {
                squares[u] += squared_size(op_subtract(away[v], mean));
            }
            squares[u] = has ? squares[u] : 0.0;
        }
        scatter_lanes<plain_sum, L, U>(squares);
#pragma unroll
        for (int u = 0; u < U; u++) {
            acc[u].squares = squares[u];
        }
    }
};
template <class C, class I, int L, int U, int V>
struct short_rows<reduce_var<C, I>, L, U, V> : short_spreads<reduce_var<C, I>, L, U, V> {};
template <class C, class I, int L, int U, int V>
struct short_rows<reduce_std<C, I>, L, U, V> : short_spreads<reduce_std<C, I>, L, U, V> {};

// -- a block --------------------------------------------------------------------------

// Join the accumulators of a block of THREADS; the result is thread 0's.
template <class R, int THREADS>
PYCUDA_FN void reduce_block(typename R::Acc &acc)
{
    typedef typename R::Acc Acc;
    const int warps = THREADS / 32;
    __shared__ __align__(16) char room[warps * sizeof(Acc)];
    Acc *shared = (Acc *)room;
    R::template merge_lanes<1, 32>(acc);
    if (threadIdx.x % 32 == 0) {
        shared[threadIdx.x / 32] = acc;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        acc = threadIdx.x < warps ? shared[threadIdx.x] : R::identity();
        R::template merge_lanes<1, warps>(acc);
    }
}

// The result of segments, as a block of 256 threads joins them. All lanes of a warp call it,
// and get the result.
template <class R, class Z>
PYCUDA_FN Z joined(const char *partial, uint32 segments, double divisor)
{
    typedef typename R::Acc Acc;
    const int warps = 256 / 32;
    const uint32 lane = threadIdx.x % 32;
    Acc acc[warps];
#pragma unroll
    for (int warp = 0; warp < warps; warp++) {
        acc[warp] = R::identity();
        if (warp * 32 < segments) {
            for (uint32 s = warp * 32 + lane; s < segments; s += 256) {
                R::merge(acc[warp], ((const Acc *)partial)[s]);
            }
            R::template merge_lanes<1, 32>(acc[warp]);
        }
    }
#pragma unroll
    for (int distance = warps / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (int warp = 0; warp < distance; warp++) {
            R::merge(acc[warp], acc[warp + distance]);
        }
    }
    return from_first_lane<Z>(R::template finish<Z>(acc[0], divisor));
}

// Join the accumulators of threads that have the same columns: a thread has V, and the
// block's threads stand in rows of X. store(column, acc) takes the results.
template <class R, int THREADS, int X, int V, class Store>
PYCUDA_FN void reduce_columns(typename R::Acc *acc, Store store)
{
    typedef typename R::Acc Acc;
    const int warps = THREADS / 32, columns = X * V;
    __shared__ __align__(16) char room[warps * columns * sizeof(Acc)];
    Acc *shared = (Acc *)room;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int v = 0; v < V; v++) {
        R::template merge_lanes<X, 32>(acc[v]);
        if (lane < X) {
            shared[warp * columns + lane * V + v] = acc[v];
        }
    }
    __syncthreads();
    for (int column = threadIdx.x / warps; column < (columns + 31) / 32 * 32;
         column += 32) {
        Acc one = R::identity();
        if (column < columns) {
            one = shared[threadIdx.x % warps * columns + column];
        }
        R::template merge_lanes<1, warps>(one);
        if (column < columns && threadIdx.x % warps == 0) {
            store(column, one);
        }
    }
}

}  // namespace pycuda_array

#endif
