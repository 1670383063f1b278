// Places of values among sorted elements, and counts of values in bins.
#ifndef PYCUDA_SEARCH_HPP
#define PYCUDA_SEARCH_HPP

#include <pycuda-array.hpp>

namespace pycuda_array {

// The order of a sort: NaN is behind all numbers, complex numbers are in the order of
// their real and then their imaginary parts.
template <class T>
PYCUDA_FN bool goes_before(T x, T y)
{
    return x < y || (is_nan(y) && !is_nan(x));
}
template <class T>
PYCUDA_FN bool goes_before(complex<T> x, complex<T> y)
{
    if (is_nan(x.re) != is_nan(y.re) || is_nan(x.im) != is_nan(y.im)) {
        // Complex numbers with a NaN follow all others, ordered by the parts that are not.
        const int rank_x = 2 * is_nan(x.re) + is_nan(x.im);
        const int rank_y = 2 * is_nan(y.re) + is_nan(y.im);
        return rank_x < rank_y;
    }
    if (goes_before(x.re, y.re) || goes_before(y.re, x.re)) {
        return goes_before(x.re, y.re);
    }
    return goes_before(x.im, y.im);
}

// Sorted elements of type T that follow each other.
template <class T, class C>
struct packed_run {
    const T *first;

    template <class N>
    PYCUDA_FN C at(N i) const
    {
        return cast<C>(first[i]);
    }
};

// Sorted elements at a distance of `step` bytes.
template <class T, class C>
struct spaced_run {
    const char *first;
    int64 step;

    template <class N>
    PYCUDA_FN C at(N i) const
    {
        return cast<C>(*(const T *)(first + (int64)i * step));
    }
};

// Elements that `order` sorts.
template <class T, class C, class S>
struct sorted_by {
    const char *first;
    int64 step;
    const char *order;
    int64 order_step;

    template <class N>
    PYCUDA_FN C at(N i) const
    {
        const int64 j = (int64)*(const S *)(order + (int64)i * order_step);
        return cast<C>(*(const T *)(first + j * step));
    }
};

// Elements that may be sorted from greatest to least: read from their end then.
template <class Run, class C>
struct turned_run {
    Run run;
    uint64 last;
    bool down;

    template <class N>
    PYCUDA_FN C at(N i) const
    {
        return run.at(down ? N(last - i) : i);
    }
};

// Whether an element is on the left of the place of a value: it goes before the value, or
// is not behind it if `right`. For floats this takes few instructions.
template <bool right, class C>
PYCUDA_FN bool is_left(C element, C value)
{
    return right ? !goes_before(value, element) : goes_before(element, value);
}
template <bool right>
PYCUDA_FN bool is_left(float element, float value)
{
    return right ? element <= value || value != value
                 : !(value <= element) && element == element;
}
template <bool right>
PYCUDA_FN bool is_left(double element, double value)
{
    return right ? element <= value || value != value
                 : !(value <= element) && element == element;
}

// Find K values at once, so that their loads are under way together. place[k] is the
// first of `count` elements among which the place of values[k] is, or behind them. All
// threads take the same steps, without branches.
template <int K, bool right, class Run, class C, class N>
PYCUDA_FN void find_places(const Run &run, N count, const C *values, N *place)
{
    while (count > 1) {
        const N half = count >> 1;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const C x = run.at(place[k] + half - 1);
            place[k] += is_left<right>(x, values[k]) ? half : 0;
        }
        count -= half;
    }
    if (count == 1) {
#pragma unroll
        for (int k = 0; k < K; k++) {
            place[k] += is_left<right>(run.at(place[k]), values[k]);
        }
    }
}

// Each block keeps ROOM elements at even distances in shared memory: a search begins
// there and ends among the `width` elements between two of them.
template <int ROOM, class C, class N>
struct search_tops {
    C tops[ROOM];

    template <class Run>
    PYCUDA_FN void load(const Run &run, N width, N length)
    {
        for (N j = threadIdx.x; j < length / width; j += blockDim.x) {
            tops[j] = run.at((j + 1) * width - 1);
        }
        __syncthreads();
    }
    template <int K, bool right, class Run>
    PYCUDA_FN void find(const Run &run, N width, N length, const C *values,
                        N *place) const
    {
        const packed_run<C, C> shared = {tops};
        const N count = length / width;
#pragma unroll
        for (int k = 0; k < K; k++) {
            place[k] = 0;
        }
        find_places<K, right>(shared, count, values, place);
        // All runs of width - 1 elements end in bounds: the last one begins earlier.
        const N last = length - (width - 1);
#pragma unroll
        for (int k = 0; k < K; k++) {
            place[k] = place[k] * width < last ? place[k] * width : last;
        }
        find_places<K, right>(run, width - 1, values, place);
    }
};

// -- bins -----------------------------------------------------------------------------

// The value itself is the number of its bin.
template <class T>
struct bin_by_value {
    PYCUDA_FN int64 of(T x) const
    {
        return (int64)x;
    }
};

// Bins of the same width: a guess from the distance, then a comparison with the edges.
template <class T, class E>
struct bin_by_distance {
    const E *edges;
    int64 bins;
    double first, last, scale;

    PYCUDA_FN double edge(int64 i) const
    {
        return cast<double>(edges[i]);
    }
    PYCUDA_FN int64 of(T value) const
    {
        const double x = cast<double>(value);
        if (!(x >= first && x <= last)) {
            return -1;
        }
        int64 bin = (int64)((x - first) * scale);
        bin = max(min(bin, bins - 1), 0ll);
        while (bin > 0 && x < edge(bin)) {
            bin--;
        }
        while (bin < bins - 1 && x >= edge(bin + 1)) {
            bin++;
        }
        return bin;
    }
};

// Any bins: a binary search in the edges. The last bin has its right edge.
template <class T, class E, class C>
struct bin_by_search {
    const E *edges;
    int64 bins;

    PYCUDA_FN int64 of(T value) const
    {
        const C x = cast<C>(value);
        const C last = cast<C>(edges[bins]);
        if (is_nan(x) || !(x <= last) || !(x >= cast<C>(edges[0]))) {
            return -1;
        }
        const packed_run<E, C> run = {edges};
        uint64 place = 0;
        find_places<1, true>(run, (uint64)bins, &x, &place);
        return (int64)place - 1;
    }
};

PYCUDA_FN void add_to(uint32 *to, uint32 count)
{
    atomicAdd(to, count);
}
PYCUDA_FN void add_to(int64 *to, int64 count)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)count);
}
PYCUDA_FN void add_to(double *to, double weight)
{
#if __CUDA_ARCH__ >= 600
    atomicAdd(to, weight);
#else
    unsigned long long *bits = (unsigned long long *)to, seen = *bits, before;
    do {
        before = seen;
        seen = atomicCAS(bits, before,
                         __double_as_longlong(__longlong_as_double(before) + weight));
    } while (seen != before);
#endif
}

}  // namespace pycuda_array

#endif
