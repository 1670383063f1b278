// Masks: which elements of an array are true, and kernels that move those elements.
//
// mark_true() packs the truth of 32 elements into a word and finds the number of true
// elements before each tile. The other kernels read these words; element i of the array
// has its place among the true elements.
#ifndef PYCUDA_MASK_HPP
#define PYCUDA_MASK_HPP

#include <pycuda-array.hpp>
#include <pycuda-scan.hpp>

namespace pycuda_mask {

using pycuda_array::int64;
using pycuda_array::uint32;
using pycuda_array::uint64;

enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    PARTS = 4, // words of a thread in mark_true; blocks of move_true for each tile
    TILE_WORDS = THREADS * PARTS
};

struct sum_of_counts {
    static PYCUDA_FN int64 join(int64 a, int64 b)
    {
        return a + b;
    }
};

// -- marking --------------------------------------------------------------------------

// Bit k is 1 if byte k is not 0.
PYCUDA_FN uint32 bits_of_bytes(uint32 bytes)
{
    uint32 high = (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
    return ((high >> 7) * 0x10204080u) >> 28;
}
PYCUDA_FN uint32 bits_of_bytes(uint4 bytes)
{
    return bits_of_bytes(bytes.x) | bits_of_bytes(bytes.y) << 4 |
           bits_of_bytes(bytes.z) << 8 | bits_of_bytes(bytes.w) << 12;
}

// Elements of one byte that follow each other, the first at a multiple of 16 bytes.
struct packed_bytes {
    const unsigned char *first;

    // The words of this thread: word k is number begin + THREADS * k + thread.
    PYCUDA_FN void read(uint64 begin, uint64 n, uint32 *words) const
    {
        const uint64 word = begin + threadIdx.x;
        if ((begin + TILE_WORDS) * 32 <= n) {
            uint4 units[2 * PARTS];
#pragma unroll
            for (int k = 0; k < 2 * PARTS; k++) {
                uint64 unit = (word + THREADS * (k / 2)) * 2 + k % 2;
                units[k] = __ldcs((const uint4 *)first + unit);
            }
#pragma unroll
            for (int k = 0; k < PARTS; k++) {
                words[k] =
                    bits_of_bytes(units[2 * k]) | bits_of_bytes(units[2 * k + 1]) << 16;
            }
            return;
        }
        for (int k = 0; k < PARTS; k++) {
            uint64 i = (word + THREADS * k) * 32;
            words[k] = 0;
            for (uint32 bit = 0; bit < 32 && i + bit < n; bit++) {
                words[k] |= (uint32)(first[i + bit] != 0) << bit;
            }
        }
    }
};

// Elements of any type; Source::at(i) is the truth of element i.
template <class Source>
struct single_elements {
    Source source;

    PYCUDA_FN void read(uint64 begin, uint64 n, uint32 *words) const
    {
        const uint32 lane = threadIdx.x & 31;
#pragma unroll
        for (int k = 0; k < PARTS; k++) {
            const uint64 word = begin + THREADS * k + (threadIdx.x & ~31);
            words[k] = 0;
#pragma unroll 8
            for (uint32 w = 0; w < 32; w++) {
                const uint64 i = (word + w) * 32 + lane;
                const uint32 bits =
                    __ballot_sync(0xffffffffu, i < n && source.at(i));
                if (lane == w) {
                    words[k] = bits;
                }
            }
        }
    }
};

// Store the truth of n elements in `bits`, the number of true elements before tile k in
// before[k], and the number of all true elements in *total. `slots` is zeroed; it is not
// used if there is one tile.
template <class Elements>
PYCUDA_FN void mark_true(const Elements &elements, uint64 n, uint32 *bits, int64 *before,
                         uint64 *slots, volatile int64 *total)
{
    __shared__ uint32 counts[WARPS];
    __shared__ uint32 ticket;
    const uint32 tid = threadIdx.x, lane = tid & 31, tiles = gridDim.x;
    uint32 tile = 0;
    if (tiles > 1) {
        if (tid == 0) {
            ticket = atomicAdd((uint32 *)slots, 1u);
        }
        __syncthreads();
        tile = ticket;
    }
    const uint64 begin = (uint64)tile * TILE_WORDS, all = (n + 31) / 32;
    uint32 words[PARTS], count = 0;
    elements.read(begin, n, words);
#pragma unroll
    for (int k = 0; k < PARTS; k++) {
        const uint64 word = begin + THREADS * k + tid;
        if (word < all) {
            bits[word] = words[k];
        }
        count += __popc(words[k]);
    }
    for (int by = 16; by > 0; by /= 2) {
        count += __shfl_xor_sync(0xffffffffu, count, by);
    }
    if (lane == 0) {
        counts[tid / 32] = count;
    }
    __syncthreads();
    if (tid >= 32) {
        return;
    }
    int64 own = 0, earlier = 0;
#pragma unroll
    for (int k = 0; k < WARPS; k++) {
        own += counts[k];
    }
    if (tiles > 1) {
        const pycuda_scan::line_slots line(slots, 1, 0, tiles,
                                           pycuda_scan::words<int64>::count);
        earlier = pycuda_scan::look_back<int64, sum_of_counts>(line, tile, own,
                                                               tiles > 1024);
        if (tile == 0) {
            earlier = 0;
        }
    }
    if (lane == 0) {
        before[tile] = earlier;
        if (tile == tiles - 1) {
            *total = earlier + own;
        }
    }
}

// -- moving ---------------------------------------------------------------------------

// A warp visits the elements of 32 words, BATCH words at a time.
template <class Move>
PYCUDA_FN void move_true(const uint32 *bits, const int64 *before, uint64 n,
                         const Move &move)
{
    enum { BATCH = Move::BATCH };
    __shared__ uint32 counts[WARPS], skipped[WARPS];
    const uint32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32;
    const uint64 all = (n + 31) / 32;
    const uint64 tile = blockIdx.x / PARTS, begin = (uint64)blockIdx.x * THREADS;
    const uint32 word = begin + tid < all ? bits[begin + tid] : 0;
    uint32 upto = __popc(word), before_block = 0;
    for (uint64 other = tile * TILE_WORDS; other < begin; other += THREADS) {
        before_block += __popc(bits[other + tid]);
    }
    const uint32 count = upto;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        uint32 earlier = __shfl_up_sync(0xffffffffu, upto, by);
        if (lane >= by) {
            upto += earlier;
        }
        before_block += __shfl_xor_sync(0xffffffffu, before_block, by);
    }
    if (lane == 31) {
        counts[warp] = upto;
        skipped[warp] = before_block;
    }
    __syncthreads();
    uint32 first = upto - count;
    int64 base = before[tile];
#pragma unroll
    for (int k = 0; k < WARPS; k++) {
        base += skipped[k];
        first += k < warp ? counts[k] : 0;
    }
    const uint64 i = (begin + warp * 32) * 32 + lane;
    const uint32 lower = (1u << lane) - 1;
#pragma unroll 1
    for (uint32 w = 0; w < 32; w += BATCH) {
        typename Move::value values[BATCH];
        uint32 places[BATCH];
        bool is_true[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const uint32 of = __shfl_sync(0xffffffffu, word, w + k);
            places[k] = __shfl_sync(0xffffffffu, first, w + k) + __popc(of & lower);
            is_true[k] = of >> lane & 1;
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            if (is_true[k]) {
                move.load(values[k], i + (w + k) * 32, base + places[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            if (is_true[k]) {
                move.store(values[k], i + (w + k) * 32, base + places[k]);
            }
        }
    }
}

// How many words a warp visits at a time, for elements of some size.
template <int SIZE, bool is_short = (SIZE <= 8), bool is_word = (SIZE <= 16)>
struct batch_for {
    enum { count = 1 };
};
template <int SIZE>
struct batch_for<SIZE, true, true> {
    enum { count = 8 };
};
template <int SIZE>
struct batch_for<SIZE, false, true> {
    enum { count = 4 };
};

// -- filling --------------------------------------------------------------------------

// Store a value where the mask is true. Both arrays are packed; a thread handles N
// elements, which lie at a multiple of their size. All of them are read and written: on
// an H200, leaving out those that the mask does not name took longer.
template <class T, int N>
PYCUDA_FN void fill_true(const bool *mask, T *array, uint64 n, const T &value)
{
    const uint64 first = ((uint64)blockIdx.x * THREADS + threadIdx.x) * N;
    if (N > 1 && first + N <= n) {
        pycuda_array::pack<bool, N> masks;
        pycuda_array::pack<T, N> items;
        masks.stream(mask + first);
        items.stream(array + first);
#pragma unroll
        for (int k = 0; k < N; k++) {
            if (masks.items[k]) {
                items.items[k] = value;
            }
        }
        items.store(array + first);
        return;
    }
    for (uint64 i = first; i < first + N && i < n; i++) {
        if (mask[i]) {
            array[i] = value;
        }
    }
}

}  // namespace pycuda_mask

#endif
