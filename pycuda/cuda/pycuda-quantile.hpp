// Medians and quantiles of packed lines.
//
// lane_quantiles     some lanes of a warp sort a short line in registers
// sorted_quantiles   a thread for each quantile of a line that is sorted already
//
// NaNs are behind all numbers in a sorted line.
#ifndef PYCUDA_QUANTILE_HPP
#define PYCUDA_QUANTILE_HPP

#include <pycuda-array.hpp>

namespace pycuda_array {

// -- the place of a quantile ------------------------------------------------------------

// As in python/array/sort/quantile.c.
enum quantile_method {
    QUANTILE_MEDIAN,
    QUANTILE_LINEAR,
    QUANTILE_LOWER,
    QUANTILE_HIGHER,
    QUANTILE_NEAREST,
    QUANTILE_MIDPOINT,
    QUANTILE_AVERAGED_INVERTED_CDF,
    QUANTILE_INVERTED_CDF,
    QUANTILE_CLOSEST_OBSERVATION,
    QUANTILE_BY_FORMULA // with alpha and slope
};

// The quantiles of a launch, which is passed by value.
struct quantile_list {
    enum { MOST = 32 };
    double q[MOST];
    double alpha, slope;
    uint32 count;
    uint32 method;
    uint32 skips_nan; // 1: NaNs are no elements; 0: a line with a NaN has the quantile NaN
    uint32 is_single; // 1: NumPy computes the places in float
};

// The quantile is `weight` of the way from element `low` to element `high`.
struct quantile_place {
    uint64 low, high;
    double weight;
};

// The place after n * q - shift, or that place itself where the method says so.
template <class T>
PYCUDA_FN T next_unless(T place, bool only_even)
{
    const T low = ::floor(place);
    const bool is_whole = place == low;
    const bool stays = is_whole && (!only_even || low != T(2) * ::floor(low / T(2)));
    return stays ? low : low + T(1);
}

// The place among `count` elements, with a fraction; T is the type of q.
template <class T>
PYCUDA_FN double quantile_position(const quantile_list &list, uint64 count, T q)
{
    const T n = (T)count, last = (T)(count - 1);
    switch (list.method) {
    case QUANTILE_LOWER:
        return ::floor(last * q);
    case QUANTILE_HIGHER:
        return ::ceil(last * q);
    case QUANTILE_NEAREST:
        return ::rint(last * q);
    case QUANTILE_MIDPOINT:
        return T(0.5) * (::floor(last * q) + ::ceil(last * q));
    case QUANTILE_AVERAGED_INVERTED_CDF:
        return n * q - T(1);
    case QUANTILE_INVERTED_CDF:
        return next_unless(n * q - T(1), false);
    case QUANTILE_CLOSEST_OBSERVATION:
        return next_unless(n * q - T(1.5), true);
    case QUANTILE_BY_FORMULA:
        return n * q + ((T)list.alpha + q * (T)list.slope) - T(1);
    default:
        return last * q;
    }
}

// The place of quantile k among `count` elements, at least one.
PYCUDA_FN quantile_place find_quantile(const quantile_list &list, uint64 count, uint32 k)
{
    quantile_place place = {(count - 1) / 2, count / 2, 0.5};
    if (list.method == QUANTILE_MEDIAN) {
        return place;
    }
    const double at = list.is_single ? quantile_position(list, count, (float)list.q[k])
                                     : quantile_position(list, count, list.q[k]);
    const double last = (double)(count - 1);
    const double low = ::floor(::fmin(::fmax(at, 0.0), last));
    place.low = (uint64)low;
    place.high = place.low + 1 < count ? place.low + 1 : place.low;
    place.weight = at - low;
    if (list.method == QUANTILE_MIDPOINT) {
        place.weight = at == ::floor(at) ? 0.0 : 0.5;
    }
    if (list.method == QUANTILE_AVERAGED_INVERTED_CDF) {
        place.weight = at == low ? 0.5 : 1.0;
    }
    if (!(at >= 0 && at < last)) {
        place.weight = 0;
    }
    return place;
}

// The value between two elements; exact at both ends.
template <class C>
PYCUDA_FN C value_between(C low, C high, double weight)
{
    if (weight == 0) {
        return low;
    }
    const C step = high - low;
    if (weight >= 0.5) {
        return high - step * (C)(1 - weight);
    }
    return low + step * (C)weight;
}

// The result from the elements at a place. Complex numbers have medians only.
template <class C, bool IS_ELEMENT>
struct quantile_value {
    template <class R, class E>
    static PYCUDA_FN R of(const quantile_list &list, const quantile_place &place, E low, E high)
    {
        const C a = cast<C>(low), b = cast<C>(high);
        if (list.method == QUANTILE_MEDIAN) {
            return cast<R>(place.low == place.high ? a : (C)((a + b) / C(2)));
        }
        return cast<R>(value_between(a, b, place.weight));
    }
};
template <class T>
struct quantile_value<complex<T>, false> {
    template <class R, class E>
    static PYCUDA_FN R of(const quantile_list &, const quantile_place &place, E low, E high)
    {
        if (place.low == place.high) {
            return low;
        }
        return make_complex((low.re + high.re) / T(2), (low.im + high.im) / T(2));
    }
};
template <class C>
struct quantile_value<C, true> {
    template <class R, class E>
    static PYCUDA_FN R of(const quantile_list &, const quantile_place &, E low, E)
    {
        return cast<R>(low);
    }
};

// The result of a line without elements, or with a NaN.
template <class R>
struct no_quantile {
    static PYCUDA_FN R value()
    {
        return cast<R>(__int_as_float(0x7fc00000));
    }
};

// -- short lines ------------------------------------------------------------------------

// Elements as unsigned integers of the same order: KIND 0 unsigned, 1 signed, 2 floats,
// whose NaNs are the greatest.
template <class E, class U, int KIND, U INFINITY_BITS>
struct ordered_bits {
    typedef E element;
    typedef U bits;
    enum { IS_FLOAT = KIND == 2 };
    static const U TOP = (U)1 << (8 * sizeof(E) - 1);
    static const U NONE = ~(U)0; // of NaN, and of a place without an element

    static PYCUDA_FN U encode(const E &x)
    {
        U word = 0;
        memcpy(&word, &x, sizeof(E));
        if (KIND == 1) {
            word ^= TOP;
        }
        if (KIND == 2) {
            const bool is_number = (word & (TOP - 1)) <= INFINITY_BITS;
            word = word & TOP ? ~word & (TOP | (TOP - 1)) : word | TOP;
            word = is_number ? word : NONE;
        }
        return word;
    }
    static PYCUDA_FN E decode(U word)
    {
        E x;
        if (KIND == 1 || (KIND == 2 && word & TOP)) {
            word ^= TOP;
        }
        else if (KIND == 2) {
            word = ~word;
        }
        memcpy(&x, &word, sizeof(E));
        return x;
    }
};

// LANES lanes sort a line of at most LANES * ITEMS elements.
template <class CODE, class R, class C, bool IS_ELEMENT, int LANES, int ITEMS>
struct lane_quantiles {
    typedef typename CODE::element E;
    typedef typename CODE::bits U;
    enum { BYTES = ITEMS * sizeof(E), UNITS = BYTES / 16 };

    // The order of the elements before the sort is of no importance: each lane loads
    // neighbours.
    static PYCUDA_FN void load(const E *line, uint32 length, uint32 lane, U (&item)[ITEMS])
    {
        const uint32 first = lane * ITEMS;
        const E *from = line + first;
        if (BYTES % 16 == 0 && first + ITEMS <= length && (uint64)from % 16 == 0) {
            uint4 units[UNITS > 0 ? UNITS : 1];
            E x[ITEMS];
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                units[k] = ((const uint4 *)from)[k];
            }
            memcpy(x, units, sizeof(x));
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                item[k] = CODE::encode(x[k]);
            }
            return;
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            item[k] = CODE::NONE;
            if (first + k < length) {
                item[k] = CODE::encode(from[k]);
            }
        }
    }

    // A bitonic sort: afterwards element i is item[i / LANES] of lane i % LANES.
    static PYCUDA_FN void sort(uint32 lane, U (&item)[ITEMS])
    {
#pragma unroll
        for (int size = 2; size <= LANES * ITEMS; size *= 2) {
#pragma unroll
            for (int by = size / 2; by > 0; by /= 2) {
#pragma unroll
                for (int k = 0; k < ITEMS; k++) {
                    const bool up = ((lane + LANES * k) & size) == 0;
                    const U mine = item[k];
                    if (by >= LANES) {
                        const int at = k ^ by / LANES;
                        if (k < at && (mine > item[at]) == up) {
                            item[k] = item[at];
                            item[at] = mine;
                        }
                    }
                    else {
                        const U other = __shfl_xor_sync(0xffffffffu, mine, by);
                        const bool is_low = (lane & by) == 0;
                        if ((mine > other) == (is_low == up)) {
                            item[k] = other;
                        }
                    }
                }
            }
        }
    }

    // Element i of the line; all lanes call.
    static PYCUDA_FN E at(const U (&item)[ITEMS], uint32 i)
    {
        U word = item[0];
#pragma unroll
        for (int k = 1; k < ITEMS; k++) {
            word = i / LANES == k ? item[k] : word;
        }
        if (LANES > 1) {
            word = __shfl_sync(0xffffffffu, word, i % LANES, LANES);
        }
        return CODE::decode(word);
    }

    // How many NaNs the line has.
    static PYCUDA_FN uint32 nans(const U (&item)[ITEMS], uint32 length)
    {
        uint32 count = 0;
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            count += item[k] == CODE::NONE;
        }
#pragma unroll
        for (int by = 1; by < LANES; by *= 2) {
            count += __shfl_xor_sync(0xffffffffu, count, by);
        }
        return count - (LANES * ITEMS - length);
    }

    static PYCUDA_FN void run(const E *in, R *out, uint64 lines, uint32 length,
                              const quantile_list &list)
    {
        const uint64 line = (blockIdx.x * (uint64)blockDim.x + threadIdx.x) / LANES;
        const uint32 lane = threadIdx.x % LANES;
        const uint32 own = line < lines ? length : 0;
        U item[ITEMS];
        load(in + line * length, own, lane, item);
        sort(lane, item);
        uint32 count = length, missing = 0;
        if (CODE::IS_FLOAT) {
            missing = nans(item, own);
            count = list.skips_nan ? length - missing : length;
        }
        const bool has_value = count > 0 && (list.skips_nan || missing == 0);
        for (uint32 k = 0; k < list.count; k++) {
            const quantile_place place = find_quantile(list, count > 0 ? count : 1, k);
            const E low = at(item, (uint32)place.low);
            const E high = at(item, (uint32)place.high);
            if (line >= lines || lane != 0) {
                continue;
            }
            R result = no_quantile<R>::value();
            if (has_value) {
                result = quantile_value<C, IS_ELEMENT>::template of<R>(list, place, low, high);
            }
            out[k * lines + line] = result;
        }
    }
};

// -- sorted lines -----------------------------------------------------------------------

template <class E, class R, class C, bool IS_ELEMENT>
struct sorted_quantiles {
    // The number of elements before the first NaN.
    static PYCUDA_FN uint64 numbers(const E *line, uint64 length)
    {
        uint64 low = 0;
        for (uint64 left = length; left > 0;) {
            const uint64 half = left / 2;
            if (is_nan(cast<C>(line[low + half]))) {
                left = half;
            }
            else {
                low += half + 1;
                left -= half + 1;
            }
        }
        return low;
    }

    static PYCUDA_FN void run(const E *sorted, R *out, uint64 lines, uint64 length,
                              const quantile_list &list)
    {
        const uint64 i = blockIdx.x * (uint64)blockDim.x + threadIdx.x;
        if (i >= lines * list.count) {
            return;
        }
        const E *line = sorted + i % lines * length;
        uint64 count = length;
        bool has_value = length > 0 && !is_nan(cast<C>(line[length - 1]));
        if (list.skips_nan && length > 0 && !has_value) {
            count = numbers(line, length);
            has_value = count > 0;
        }
        R result = no_quantile<R>::value();
        if (length > 0) {
            result = cast<R>(line[length - 1]); // a NaN, if there is no value
        }
        if (has_value) {
            const quantile_place place = find_quantile(list, count, (uint32)(i / lines));
            result = quantile_value<C, IS_ELEMENT>::template of<R>(
                list, place, line[place.low], line[place.high]);
        }
        out[i] = result;
    }
};

}  // namespace pycuda_array

#endif
