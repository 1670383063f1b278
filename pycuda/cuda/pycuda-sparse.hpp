// Products of sparse matrices in compressed rows with vectors: y = A x.
//
// The elements of a matrix are cut into tiles. A block reads its tile with 16-byte loads
// whatever the rows are like, leaves the products with x in shared memory, and sums them
// up there by rows. Where rows are short, tiles are of whole rows; else all tiles have as
// many elements, and a second kernel joins the sums of the rows that were cut. Which
// elements a thread takes up depends on the matrix only, so that the same input gives the
// same bits.
#ifndef PYCUDA_SPARSE_HPP
#define PYCUDA_SPARSE_HPP

#include <pycuda-complex.hpp>

#define PYCUDA_SPARSE_FN __device__ __forceinline__

// Blocks for a multiprocessor; Turing's hold 1024 threads, all others 1536 and more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
#define PYCUDA_SPARSE_BLOCKS(threads, blocks)                                          \
    ((threads) * (blocks) > 1024 ? 1024 / (threads) : (blocks))
#else
#define PYCUDA_SPARSE_BLOCKS(threads, blocks) (blocks)
#endif

extern "C++" {
namespace pycuda_sparse {

typedef pycuda::complex<float> complex64;
typedef pycuda::complex<double> complex128;

// -- memory -----------------------------------------------------------------------------

// Four elements, which are read once: they need not stay in a cache.
template <class T>
PYCUDA_SPARSE_FN void load4(T (&items)[4], const T *from)
{
    uint4 words[sizeof(items) / 16];
#pragma unroll
    for (int k = 0; k < (int)(sizeof(items) / 16); k++)
        words[k] = __ldcs((const uint4 *)from + k);
    memcpy((void *)items, words, sizeof(items));
}

template <class T>
PYCUDA_SPARSE_FN void store4(T *to, const T (&items)[4])
{
    uint4 words[sizeof(items) / 16];
    memcpy(words, (const void *)items, sizeof(items));
#pragma unroll
    for (int k = 0; k < (int)(sizeof(items) / 16); k++)
        ((uint4 *)to)[k] = words[k];
}

// An element of x, which others read too.
PYCUDA_SPARSE_FN float fetch(const float *x)
{
    return __ldg(x);
}
PYCUDA_SPARSE_FN double fetch(const double *x)
{
    return __ldg(x);
}
PYCUDA_SPARSE_FN complex64 fetch(const complex64 *x)
{
    float2 z = __ldg((const float2 *)x);
    return complex64(z.x, z.y);
}
PYCUDA_SPARSE_FN complex128 fetch(const complex128 *x)
{
    double2 z = __ldg((const double2 *)x);
    return complex128(z.x, z.y);
}

// An element of a matrix, which is read once.
PYCUDA_SPARSE_FN float once(const float *p)
{
    return __ldcs(p);
}
PYCUDA_SPARSE_FN double once(const double *p)
{
    return __ldcs(p);
}
PYCUDA_SPARSE_FN complex64 once(const complex64 *p)
{
    float2 z = __ldcs((const float2 *)p);
    return complex64(z.x, z.y);
}
PYCUDA_SPARSE_FN complex128 once(const complex128 *p)
{
    double2 z = __ldcs((const double2 *)p);
    return complex128(z.x, z.y);
}

// -- sums -------------------------------------------------------------------------------

template <class T>
PYCUDA_SPARSE_FN T lower(T value, int by)
{
    return __shfl_down_sync(0xffffffffu, value, by);
}
template <class T>
PYCUDA_SPARSE_FN pycuda::complex<T> lower(pycuda::complex<T> value, int by)
{
    return pycuda::complex<T>(lower(value.real(), by), lower(value.imag(), by));
}

// The sum of neighbouring lanes, in the first of them; all lanes of the warp take part.
template <int LANES, class T>
PYCUDA_SPARSE_FN T sum_lanes(T value)
{
#pragma unroll
    for (int by = LANES / 2; by > 0; by /= 2)
        value = value + lower(value, by);
    return value;
}

// -- the kernel -------------------------------------------------------------------------

// What a block does: the elements from begin to end, of the rows from row to last.
template <class Offset>
struct __align__(16) job {
    Offset begin, end;
    int row, last;
};

// A row that several blocks share: where their sums are.
struct joint {
    int row, first, last;
};

// LANES threads sum a row; the bounds of the first PASSES rows that a thread sees are
// read ahead. With UNEVEN rows, those of more than LIMIT elements are left to a warp.
// With CUT, the first row may have begun in another block, and the last may go on in one:
// their sums go to ``partial``.
template <class T, class Index, class Offset, int THREADS, int ITEMS, int LANES,
          int PASSES, bool UNEVEN, bool CUT>
struct rows {
    static const int VECTORS = ITEMS / 4;
    static const int ROWS = THREADS / LANES; // a pass
    static const int LIMIT = 16 * LANES + 16;
    // Every 128 bytes are followed by 16 bytes of nothing: rows of a length that is a
    // power of two do not begin in the same bank.
    static const int RUN = 128 / sizeof(T);
    static const int GAP = 16 / sizeof(T);
    static const int ROOM = THREADS * ITEMS / RUN * (RUN + GAP);
    static const int LONGER = UNEVEN ? THREADS * ITEMS / LIMIT + 1 : 1;

    const job<Offset> here;
    const Offset base; // of the products: whole 32-byte sectors of all arrays
    T *const products, *const y, *const partial;
    const int slot; // twice the place of the first partial sum, and 1 if row has begun
    int *const longer, *const longer_count;

    static PYCUDA_SPARSE_FN int place(int j)
    {
        return j + j / RUN * GAP;
    }

    PYCUDA_SPARSE_FN T sum(int from, int to, int step) const
    {
        T total = T(0);
#pragma unroll 4
        for (int j = from; j < to; j += step)
            total = total + products[place(j)];
        return total;
    }

    // Of a row from..to, this block's part among the products.
    PYCUDA_SPARSE_FN int first_of(Offset from) const
    {
        return (int)((CUT ? max(from, here.begin) : from) - base);
    }
    PYCUDA_SPARSE_FN int last_of(Offset to) const
    {
        return (int)((CUT ? min(to, here.end) : to) - base);
    }

    PYCUDA_SPARSE_FN void put(int row, Offset from, Offset to, T total) const
    {
        const bool begun = CUT && from < here.begin;
        const bool goes_on = CUT && to > here.end;
        if (begun || goes_on)
            partial[slot / 2 + (begun ? 0 : slot % 2)] = total;
        else
            y[row] = total;
    }

    PYCUDA_SPARSE_FN void one(int row, int lane, Offset from, Offset to) const
    {
        const int first = first_of(from), last = last_of(to);
        const bool left = UNEVEN && last - first > LIMIT;
        T total = T(0);
        if (!left)
            total = sum(first + lane, last, LANES);
        total = sum_lanes<LANES>(total);
        if (lane == 0 && row < here.last) {
            if (left)
                longer[atomicAdd(longer_count, 1)] = row;
            else
                put(row, from, to, total);
        }
    }

    PYCUDA_SPARSE_FN void run(const Offset *indptr, const Index *indices,
                              const T *values, const T *x) const
    {
        const int tid = threadIdx.x, lane = tid % LANES;
        const int most = here.end > base ? (int)(here.end - base - 1) & ~3 : -1;
        Index columns[VECTORS][4];
        T factors[VECTORS][4];
        Offset from[PASSES], to[PASSES];
        if (UNEVEN && tid == 0)
            *longer_count = 0;
        // Threads beyond the end repeat its last elements: no branch parts the loads.
        if (most >= 0) {
#pragma unroll
            for (int i = 0; i < VECTORS; i++) {
                int j = min(4 * (tid + i * THREADS), most);
                load4(columns[i], indices + base + j);
                load4(factors[i], values + base + j);
            }
        }
#pragma unroll
        for (int p = 0; p < PASSES; p++) {
            int row = here.row + tid / LANES + p * ROWS;
            from[p] = to[p] = base;
            if (row < here.last) {
                from[p] = indptr[row];
                to[p] = indptr[row + 1];
            }
        }
        if (most >= 0) {
#pragma unroll
            for (int i = 0; i < VECTORS; i++) {
                int j = min(4 * (tid + i * THREADS), most);
                T found[4];
#pragma unroll
                for (int k = 0; k < 4; k++)
                    found[k] = factors[i][k] * fetch(x + columns[i][k]);
                store4(products + place(j), found);
            }
        }
        __syncthreads();
        const int count = here.last - here.row;
#pragma unroll
        for (int p = 0; p < PASSES; p++) {
            if (p * ROWS < count)
                one(here.row + tid / LANES + p * ROWS, lane, from[p], to[p]);
        }
        for (int first = PASSES * ROWS; first < count; first += ROWS) {
            int row = here.row + first + tid / LANES;
            Offset begin = base, end = base;
            if (row < here.last) {
                begin = indptr[row];
                end = indptr[row + 1];
            }
            one(row, lane, begin, end);
        }
        if (UNEVEN) {
            __syncthreads();
            for (int i = tid / 32; i < *longer_count; i += THREADS / 32) {
                int row = longer[i];
                Offset begin = indptr[row], end = indptr[row + 1];
                T total = sum(first_of(begin) + tid % 32, last_of(end), 32);
                total = sum_lanes<32>(total);
                if (tid % 32 == 0)
                    put(row, begin, end, total);
            }
        }
    }

    static PYCUDA_SPARSE_FN void tile(const job<Offset> *jobs, const int *slots,
                                      const Offset *indptr, const Index *indices,
                                      const T *values, const T *x, T *y, T *partial)
    {
        __shared__ __align__(16) char room[ROOM * sizeof(T)];
        __shared__ int longer[LONGER], longer_count;
        const job<Offset> here = jobs[blockIdx.x];
        const int slot = CUT ? slots[blockIdx.x] : 0;
        const Offset base = here.begin & ~(Offset)7;
        const rows block = {here,    base, (T *)room, y,
                            partial, slot, longer,    &longer_count};
        block.run(indptr, indices, values, x);
    }
};

// One warp a row that blocks share.
template <class T>
PYCUDA_SPARSE_FN void join(const joint *joints, int count, const T *partial, T *y)
{
    const int number = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (number >= count)
        return;
    const joint here = joints[number];
    T total = T(0);
    for (int i = here.first + threadIdx.x % 32; i < here.last; i += 32)
        total = total + partial[i];
    total = sum_lanes<32>(total);
    if (threadIdx.x % 32 == 0)
        y[here.row] = total;
}

// -- coordinate form --------------------------------------------------------------------

PYCUDA_SPARSE_FN void add(float *to, float value)
{
    atomicAdd(to, value);
}
PYCUDA_SPARSE_FN void add(double *to, double value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
    unsigned long long old = *(unsigned long long *)to, seen;
    do {
        seen = old;
        double sum = __longlong_as_double((long long)seen) + value;
        old = atomicCAS((unsigned long long *)to, seen,
                        (unsigned long long)__double_as_longlong(sum));
    } while (old != seen);
#else
    atomicAdd(to, value);
#endif
}
template <class T>
PYCUDA_SPARSE_FN void add(pycuda::complex<T> *to, pycuda::complex<T> value)
{
    add((T *)to, value.real());
    add((T *)to + 1, value.imag());
}

template <class T>
PYCUDA_SPARSE_FN T higher(T value, int by)
{
    return __shfl_up_sync(0xffffffffu, value, by);
}
template <class T>
PYCUDA_SPARSE_FN pycuda::complex<T> higher(pycuda::complex<T> value, int by)
{
    return pycuda::complex<T>(higher(value.real(), by), higher(value.imag(), by));
}

// A warp's share of elements, which lie by rows. What a lane has in front of its last row
// is complete with the sums of the lanes before it; its last row goes on to the next lane.
template <class T, class Index>
struct coordinates {
    static PYCUDA_SPARSE_FN void run(Index begin, Index end, const Index *rows,
                                     const Index *columns, const T *values, const T *x,
                                     T *y)
    {
        const int lane = threadIdx.x % 32;
        Index open_row = -1; // of the last element of the lane 31 before
        T open = T(0);
        for (Index first = begin; first < end; first += 128) {
            Index row[4], column[4];
            T value[4];
            const Index j = first + 4 * lane;
            load4(row, rows + j);
            load4(column, columns + j);
            load4(value, values + j);
#pragma unroll
            for (int k = 0; k < 4; k++)
                value[k] = value[k] * fetch(x + column[k]);
            step(row, value, open_row, open, lane, y);
        }
        if (lane == 31 && open_row >= 0)
            add(y + open_row, open);
    }

    static PYCUDA_SPARSE_FN void step(const Index (&row)[4], const T (&value)[4],
                                      Index &open_row, T &open, int lane, T *y)
    {
        // Lane 0 takes up what the lane 31 had open.
        Index before_row = __shfl_sync(0xffffffffu, open_row, 31);
        T before = last_of(open);
        bool has_head = false;
        T head = T(0), sum = value[0];
        if (lane == 0 && before_row >= 0) {
            if (before_row == row[0])
                sum = before + sum;
            else
                add(y + before_row, before);
        }
#pragma unroll
        for (int k = 1; k < 4; k++) {
            if (row[k] == row[k - 1]) {
                sum = sum + value[k];
            } else {
                if (!has_head)
                    head = sum;
                else
                    add(y + row[k - 1], sum);
                has_head = true;
                sum = value[k];
            }
        }
        const Index key = row[3];
#pragma unroll
        for (int by = 1; by < 32; by *= 2) {
            Index other_key = __shfl_up_sync(0xffffffffu, key, by);
            T other = higher(sum, by);
            if (lane >= by && other_key == key)
                sum = other + sum;
        }
        Index left_key = __shfl_up_sync(0xffffffffu, key, 1);
        T left = higher(sum, 1);
        if (has_head)
            add(y + row[0], lane > 0 && left_key == row[0] ? left + head : head);
        // A last row ends here if the next lane begins with another one.
        Index next = __shfl_down_sync(0xffffffffu, row[0], 1);
        if (lane < 31 && next != key)
            add(y + key, sum);
        open_row = key;
        open = sum;
    }

    static PYCUDA_SPARSE_FN T last_of(T value)
    {
        return from_lane(value, 31);
    }
    template <class S>
    static PYCUDA_SPARSE_FN S from_lane(S value, int lane)
    {
        return __shfl_sync(0xffffffffu, value, lane);
    }
    template <class S>
    static PYCUDA_SPARSE_FN pycuda::complex<S> from_lane(pycuda::complex<S> value,
                                                         int lane)
    {
        return pycuda::complex<S>(from_lane(value.real(), lane),
                                  from_lane(value.imag(), lane));
    }
};

} // namespace pycuda_sparse
} // extern "C++"

#endif
