// Selection of the first k elements of an order, for pycuda.gpuarray.top_k.
//
// few_first   a block keeps the first k elements of those that it reads, for small k
// select      finds the last of the first k elements digit by digit, for larger k
//
// In `select`, the elements are ordered by key and then by index. Launches find the last of the
// first k elements digit by digit, the most significant one first: first the digits of
// its key, then those of its index. Most launches of the second kind return at once,
// since all elements with the key are wanted. A last launch stores the elements up to
// that one, in any order.
#ifndef PYCUDA_SELECT_HPP
#define PYCUDA_SELECT_HPP

#include <pycuda-sort.hpp>

namespace pycuda_sort {

// What launches hand on. All is 0 before, except left, which is k.
struct selection {
    uint64 counts[256]; // of a digit, in the current launch
    uint64 left;        // elements that are wanted of those with the digits found
    uint64 key;         // of the last element
    uint64 index;       // of the last element
    uint64 stored;
    uint32 blocks; // that have finished in the current launch
    uint32 found;  // 1: the elements up to (key, index) are those wanted
};

template <class KEY>
struct select {
    typedef typename KEY::element E;

    // The bits of a key in the wanted order; flip has all bits set for the opposite one.
    PYCUDA_SORT_FN uint64 order_of_element(const E &x, uint64 flip)
    {
        return KEY::order(x) ^ (flip >> (64 - 8 * KEY::DIGITS));
    }

    // Find one digit of the key or of the index.
    PYCUDA_SORT_FN void find(const E *in, uint64 length, selection *to, uint32 place,
                             bool of_index, uint64 flip)
    {
        __shared__ uint32 counts[256];
        __shared__ uint64 sums[8];
        __shared__ bool is_last;
        const uint32 tid = threadIdx.x, shift = 8 * place;
        if (to->found) {
            return;
        }
        const uint64 key = to->key, index = to->index;
        const uint64 above = place == 7 ? 0 : ~0ull << (shift + 8);
        counts[tid] = 0;
        __syncthreads();
#pragma unroll 4
        for (uint64 i = blockIdx.x * 256ull + tid; i < length; i += gridDim.x * 256ull) {
            const uint64 order = order_of_element(in[i], flip);
            const uint64 digits = of_index ? i : order;
            const bool is_key = !of_index || order == key;
            if (is_key && ((digits ^ (of_index ? index : key)) & above) == 0) {
                atomicAdd(&counts[digits >> shift & 255], 1u);
            }
        }
        __syncthreads();
        if (counts[tid] != 0) {
            atomicAdd(&to->counts[tid], (uint64)counts[tid]);
        }
        __threadfence();
        __syncthreads();
        if (tid == 0) {
            is_last = atomicAdd(&to->blocks, 1u) == gridDim.x - 1;
        }
        __syncthreads();
        if (!is_last) {
            return;
        }
        __threadfence();
        const uint64 count = ((volatile uint64 *)to->counts)[tid], left = to->left;
        const uint64 before = sum_before<256>(count, sums);
        if (before < left && left <= before + count) {
            const uint64 low = left - before == count ? (1ull << shift) - 1 : 0;
            if (of_index) {
                to->index = index | (uint64)tid << shift | low;
            }
            else {
                to->key = key | (uint64)tid << shift | low;
                to->index = left - before == count ? ~0ull : 0;
            }
            to->found = left - before == count;
            to->left = left - before;
        }
        to->counts[tid] = 0;
        to->blocks = 0;
    }

    PYCUDA_SORT_FN void store(const E *in, uint64 length, selection *to, uint64 flip,
                              E *elements, int64 *indices)
    {
        const uint64 key = to->key, index = to->index;
#pragma unroll 4
        for (uint64 i = blockIdx.x * 256ull + threadIdx.x; i < length;
             i += gridDim.x * 256ull) {
            const E x = in[i];
            const uint64 order = order_of_element(x, flip);
            if (order < key || (order == key && i <= index)) {
                const uint64 place = atomicAdd(&to->stored, (uint64)1);
                elements[place] = x;
                indices[place] = i;
            }
        }
    }
};

// -- few elements -----------------------------------------------------------------------

// The order of a key above the index of its element. In the narrow form both fit into a
// word. The greatest entry stands for no element.
template <bool NARROW>
struct entry {
    uint64 order, index;

    PYCUDA_SORT_FN entry make(uint64 order, uint64 index)
    {
        const entry item = {order, index};
        return item;
    }
    PYCUDA_SORT_FN entry none() { return make(~0ull, ~0ull); }
    __device__ __forceinline__ entry across(int by) const
    {
        return make(__shfl_xor_sync(ALL, order, by), __shfl_xor_sync(ALL, index, by));
    }
    __device__ __forceinline__ uint64 place() const { return index; }
    __device__ __forceinline__ bool operator<(const entry &other) const
    {
        return order < other.order || (order == other.order && index < other.index);
    }
};
template <>
struct entry<true> {
    uint64 word;

    PYCUDA_SORT_FN entry make(uint64 order, uint64 index)
    {
        const entry item = {order << 32 | index};
        return item;
    }
    PYCUDA_SORT_FN entry none()
    {
        const entry item = {~0ull};
        return item;
    }
    __device__ __forceinline__ entry across(int by) const
    {
        const entry item = {__shfl_xor_sync(ALL, word, by)};
        return item;
    }
    __device__ __forceinline__ uint64 place() const { return (uint32)word; }
    __device__ __forceinline__ bool operator<(const entry &other) const
    {
        return word < other.word;
    }
};

// Where entries come from: elements, or the entries that other blocks have kept.
template <class KEY, bool NARROW>
struct entries_of_elements {
    typedef typename KEY::element E;
    typedef E item;
    const E *in;
    uint64 flip; // as of select

    __device__ __forceinline__ entry<NARROW> of(const E &x, uint64 i) const
    {
        const uint64 order = KEY::order(x) ^ (flip >> (64 - 8 * KEY::DIGITS));
        return entry<NARROW>::make(order, i);
    }
};
template <bool NARROW>
struct entries_of_blocks {
    typedef entry<NARROW> item;
    const item *in;

    __device__ __forceinline__ item of(const item &x, uint64) const { return x; }
};

// A block keeps up to ROOM entries in shared memory. If there are more, it sorts them,
// keeps the first k, and from then on takes only entries before the last of these.
template <bool NARROW, int THREADS, int EACH>
struct few_first {
    enum { ROOM = 2 * THREADS, CROWDED = ROOM - ROOM / 4 };
    typedef entry<NARROW> T;

    struct shared {
        T kept[ROOM];
        uint32 count;
    };

    // Put the smaller or the larger one of two entries in the place of the first.
    PYCUDA_SORT_FN void choose(T &mine, const T &other, uint32 i, uint32 by, uint32 size)
    {
        const bool is_smaller = ((i & by) == 0) == ((i & size) == 0);
        if ((other < mine) == is_smaller) {
            mine = other;
        }
    }

    // Sort the entries by a bitonic network and keep k of them at most. A thread has
    // entries i and i + 32, so that most steps are in a warp.
    PYCUDA_SORT_FN void keep_first(shared &room, uint32 k)
    {
        const uint32 tid = threadIdx.x, i = tid / 32 * 64 + tid % 32;
        const uint32 count = room.count < ROOM ? room.count : ROOM;
        T low = i < count ? room.kept[i] : T::none();
        T high = i + 32 < count ? room.kept[i + 32] : T::none();
#pragma unroll 1
        for (uint32 size = 2; size <= ROOM; size *= 2) {
#pragma unroll 1
            for (uint32 by = size / 2; by > 0; by /= 2) {
                if (by < 32) {
                    choose(low, low.across(by), i, by, size);
                    choose(high, high.across(by), i + 32, by, size);
                }
                else if (by == 32) {
                    const T mine = low;
                    choose(low, high, i, by, size);
                    choose(high, mine, i + 32, by, size);
                }
                else {
                    __syncthreads(); // the entries are read
                    room.kept[i] = low;
                    room.kept[i + 32] = high;
                    __syncthreads();
                    choose(low, room.kept[i ^ by], i, by, size);
                    choose(high, room.kept[(i + 32) ^ by], i + 32, by, size);
                }
            }
        }
        __syncthreads();
        room.kept[i] = low;
        room.kept[i + 32] = high;
        if (tid == 0) {
            room.count = count < k ? count : k;
        }
        __syncthreads();
    }

    // The items of a group that the thread reads.
    template <class ITEM>
    PYCUDA_SORT_FN void load(ITEM (&x)[EACH], const ITEM *in, uint64 first, uint64 length)
    {
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            if (first + THREADS * j < length) {
                x[j] = in[first + THREADS * j];
            }
        }
    }

    // Take the entries of a group that are before the limit; `pending` are those that
    // were not taken yet. True if the room is full, or if `crowded` entries are there.
    template <class SOURCE>
    PYCUDA_SORT_FN bool take(shared &room, const SOURCE &source,
                             const typename SOURCE::item (&x)[EACH], uint64 first,
                             const T &limit, uint32 crowded, uint32 &pending)
    {
        bool is_crowded = false;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const T item = source.of(x[j], first + THREADS * j);
            const bool is_wanted = pending >> j & 1 && item < limit;
            bool is_left = false;
            if (is_wanted) {
                const uint32 place = atomicAdd(&room.count, 1u);
                is_left = place >= ROOM;
                is_crowded = is_crowded || place + 1 >= crowded;
                if (!is_left) {
                    room.kept[place] = item;
                }
            }
            if (!is_left) {
                pending &= ~(1u << j);
            }
        }
        return is_crowded;
    }

    // Read the items in groups of THREADS * EACH, each block its share of the groups.
    template <class SOURCE>
    PYCUDA_SORT_FN void run(shared &room, const SOURCE &source, uint64 length, uint32 k)
    {
        typedef typename SOURCE::item ITEM;
        enum { GROUP = THREADS * EACH };
        const uint64 step = gridDim.x * (uint64)GROUP;
        uint64 first = blockIdx.x * (uint64)GROUP + threadIdx.x;
        bool has_limit = false;
        ITEM x[EACH], next[EACH];
        if (threadIdx.x == 0) {
            room.count = 0;
        }
        load(next, source.in, first, length);
        __syncthreads();
        for (; first - threadIdx.x < length; first += step) {
            uint32 pending = 0;
#pragma unroll
            for (int j = 0; j < EACH; j++) {
                x[j] = next[j];
                pending |= first + THREADS * j < length ? 1u << j : 0;
            }
            load(next, source.in, first + step, length);
            while (true) {
                const T limit = has_limit ? room.kept[k - 1] : T::none();
                const bool is_crowded = take(room, source, x, first, limit,
                                             has_limit ? CROWDED : k, pending);
                if (!__syncthreads_or(is_crowded)) {
                    break;
                }
                const bool is_full = __syncthreads_or(pending != 0);
                keep_first(room, k);
                has_limit = true; // there were k entries at least
                if (!is_full) {
                    break;
                }
            }
        }
        __syncthreads();
        keep_first(room, k);
    }
};

// Each block stores the first k entries of its elements.
template <class KEY, bool NARROW, int THREADS, int EACH>
PYCUDA_SORT_FN void first_of_blocks(const typename KEY::element *in, uint64 length,
                                    uint64 flip, uint32 k, entry<NARROW> *out)
{
    typedef few_first<NARROW, THREADS, EACH> block;
    __shared__ __align__(16) char bytes[sizeof(typename block::shared)];
    typename block::shared &room = *(typename block::shared *)bytes;
    const entries_of_elements<KEY, NARROW> source = {in, flip};
    block::run(room, source, length, k);
    for (uint32 i = threadIdx.x; i < k; i += THREADS) {
        out[blockIdx.x * (uint64)k + i] = room.kept[i];
    }
}

// One block stores the first k elements and their indices, which are among `count`
// entries. Without entries it reads the elements themselves.
template <class KEY, bool NARROW, int THREADS, int EACH>
PYCUDA_SORT_FN void first_of_all(const typename KEY::element *in, uint64 length,
                                 uint64 flip, uint32 k, const entry<NARROW> *entries,
                                 uint64 count, typename KEY::element *elements,
                                 int64 *indices)
{
    typedef few_first<NARROW, THREADS, EACH> block;
    __shared__ __align__(16) char bytes[sizeof(typename block::shared)];
    typename block::shared &room = *(typename block::shared *)bytes;
    if (entries) {
        const entries_of_blocks<NARROW> source = {entries};
        block::run(room, source, count, k);
    }
    else {
        const entries_of_elements<KEY, NARROW> source = {in, flip};
        block::run(room, source, length, k);
    }
    for (uint32 i = threadIdx.x; i < k; i += THREADS) {
        const uint64 place = room.kept[i].place();
        elements[i] = in[place];
        indices[i] = place;
    }
}

}  // namespace pycuda_sort

#endif
