// Reductions: for each a struct reduce_<name> that says how elements are gathered, and
// the kernels around it.
//
// A reduction has a type Acc; identity() is what no element gives, add() takes up an
// element of type C, merge() joins two, finish() makes the result. Which elements a thread
// takes up depends on lengths and device only, so that the same input gives the same bits.
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

// -- the reductions -------------------------------------------------------------------

template <class C>
struct reduce_sum {
    typedef typename sum_of<C>::acc Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, int64)
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

template <class C>
struct reduce_mean : reduce_sum<C> {
    template <class Z>
    static PYCUDA_FN Z finish(const typename reduce_sum<C>::Acc &acc, double divisor)
    {
        return cast<Z>(divided(value_of(acc), divisor));
    }
};

template <class C>
struct reduce_dot : reduce_sum<C> {
    static PYCUDA_FN void add(typename reduce_sum<C>::Acc &acc, C x, C y, int64)
    {
        typedef typename sum_of<C>::item item;
        gather(acc, op_multiply(cast<item>(x), cast<item>(y)));
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

template <class C>
struct reduce_vdot : reduce_dot<C> {
    static PYCUDA_FN void add(typename reduce_sum<C>::Acc &acc, C x, C y, int64 i)
    {
        reduce_dot<C>::add(acc, conjugate(x), y, i);
    }
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

// The second input is the mean.
template <class C>
struct reduce_var : reduce_sum<double> {
    static PYCUDA_FN void add(Acc &acc, C x, C mean, int64)
    {
        typedef typename wide<C>::type item;
        gather(acc, (double)squared_size(op_subtract(cast<item>(x), cast<item>(mean))));
    }
    template <class Z>
    static PYCUDA_FN Z finish(const Acc &acc, double divisor)
    {
        return cast<Z>(value_of(acc) / divisor);
    }
};
template <class C>
struct reduce_std : reduce_var<C> {
    template <class Z>
    static PYCUDA_FN Z finish(const typename reduce_var<C>::Acc &acc, double divisor)
    {
        return cast<Z>(::sqrt(value_of(acc) / divisor));
    }
};

template <class C>
struct reduce_prod {
    typedef typename wide<typename sum_of<C>::item>::type Acc;
    static PYCUDA_FN Acc identity()
    {
        return cast<Acc>(1);
    }
    static PYCUDA_FN void add(Acc &acc, C x, int64)
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

// The least or greatest element, and where it was first. No element: place is -1.
template <class C>
struct extreme {
    C value;
    int64 place;
};

template <class C, bool least>
struct reduce_extreme {
    typedef extreme<C> Acc;
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
    static PYCUDA_FN void take(Acc &acc, C x, int64 place)
    {
        bool equal = is_nan(x) ? is_nan(acc.value) : op_equal(x, acc.value);
        if (acc.place < 0 || is_better(x, acc.value) ||
            (equal && place < acc.place)) {
            acc.value = x;
            acc.place = place;
        }
    }
    static PYCUDA_FN void add(Acc &acc, C x, int64 place)
    {
        take(acc, x, place);
    }
    static PYCUDA_FN void merge(Acc &acc, const Acc &other)
    {
        if (other.place >= 0) {
            take(acc, other.value, other.place);
        }
    }
};
template <class C>
struct reduce_argmin : reduce_extreme<C, true> {
    template <class Z>
    static PYCUDA_FN Z finish(const extreme<C> &acc, double)
    {
        return acc.place;
    }
};
template <class C>
struct reduce_argmax : reduce_extreme<C, false> {
    template <class Z>
    static PYCUDA_FN Z finish(const extreme<C> &acc, double)
    {
        return acc.place;
    }
};

template <class C>
struct present {
    C value;
    int there;
};

template <class C, bool least>
struct reduce_bound {
    typedef present<C> Acc;
    static PYCUDA_FN Acc identity()
    {
        return zeroed<Acc>();
    }
    static PYCUDA_FN void add(Acc &acc, C x, int64)
    {
        acc.value = !acc.there ? x
                    : least    ? op_minimum(acc.value, x)
                               : op_maximum(acc.value, x);
        acc.there = 1;
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
template <class C>
struct reduce_min : reduce_bound<C, true> {};
template <class C>
struct reduce_max : reduce_bound<C, false> {};

template <class C>
struct reduce_any {
    typedef int Acc;
    static PYCUDA_FN Acc identity()
    {
        return 0;
    }
    static PYCUDA_FN void add(Acc &acc, C x, int64)
    {
        acc |= truth(x);
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
template <class C>
struct reduce_all {
    typedef int Acc;
    static PYCUDA_FN Acc identity()
    {
        return 1;
    }
    static PYCUDA_FN void add(Acc &acc, C x, int64)
    {
        acc &= truth(x);
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
template <class C>
struct reduce_count_nonzero : reduce_sum<int64> {
    static PYCUDA_FN void add(Acc &acc, C x, int64)
    {
        acc += truth(x);
    }
};

// -- a block --------------------------------------------------------------------------

// Join the accumulators of the 256 threads of a block; the result is thread 0's.
template <class R>
PYCUDA_FN void reduce_block(typename R::Acc &acc)
{
    typedef typename R::Acc Acc;
    __shared__ __align__(16) char room[256 * sizeof(Acc)];
    Acc *shared = (Acc *)room;
    shared[threadIdx.x] = acc;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) {
            R::merge(acc, shared[threadIdx.x + half]);
            shared[threadIdx.x] = acc;
        }
        __syncthreads();
    }
}

}  // namespace pycuda_array

#endif
