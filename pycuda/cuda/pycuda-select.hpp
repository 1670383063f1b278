// Selection of the first k elements of an order, for pycuda.gpuarray.top_k.
//
// The elements are ordered by key and then by index. Launches find the last of the
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

}  // namespace pycuda_sort

#endif
