// Stable sorts of packed lines: generated array kernels and pycuda.sort include this.
//
// A type KEY describes the elements:
//   KEY::element                the type that is moved
//   KEY::DIGITS                 how many digits of 8 bits a key has
//   KEY::digit(x, place)        a digit of the key of x; place 0 is the least significant
//
// digit_totals counts all digits of lines of any length: the first launch of a radix sort
// onesweep     moves the elements to their places by one digit: each of the other launches
// block_sort   all passes in one block, for lines that fit its shared memory
// warp_sort    a bitonic sort of (key, index) for short lines
//
// `flip` is 0, or 255 for a descending order: digits are flipped, so equal keys keep
// their order.
#ifndef PYCUDA_SORT_HPP
#define PYCUDA_SORT_HPP

namespace pycuda_sort {

#define PYCUDA_SORT_FN static __device__ __forceinline__

typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

const uint32 ALL = 0xffffffffu;

// -- the order of keys as unsigned integers --------------------------------------------

// NaNs are equal and above all numbers; 0.0 and -0.0 are equal.
template <class U>
PYCUDA_SORT_FN U float_order(U bits, U top, U infinity)
{
    const U magnitude = bits & (top - 1);
    U order = bits & top ? ~bits : bits | top;
    if (magnitude == 0) {
        order = top;
    }
    if (magnitude > infinity) {
        order = ~(U)0;
    }
    return order;
}

PYCUDA_SORT_FN uint32 order_of(bool x) { return x; }
PYCUDA_SORT_FN uint32 order_of(unsigned char x) { return x; }
PYCUDA_SORT_FN uint32 order_of(unsigned short x) { return x; }
PYCUDA_SORT_FN uint32 order_of(unsigned int x) { return x; }
PYCUDA_SORT_FN uint64 order_of(unsigned long x) { return x; }
PYCUDA_SORT_FN uint64 order_of(unsigned long long x) { return x; }
PYCUDA_SORT_FN uint32 order_of(char x) { return (unsigned char)x ^ 0x80u; }
PYCUDA_SORT_FN uint32 order_of(signed char x) { return (unsigned char)x ^ 0x80u; }
PYCUDA_SORT_FN uint32 order_of(short x) { return (unsigned short)x ^ 0x8000u; }
PYCUDA_SORT_FN uint32 order_of(int x) { return x ^ 0x80000000u; }
PYCUDA_SORT_FN uint64 order_of(long x) { return x ^ 1ull << 63; }
PYCUDA_SORT_FN uint64 order_of(long long x) { return x ^ 1ull << 63; }
PYCUDA_SORT_FN uint32 order_of(float x)
{
    // The sum has one zero and one NaN, whose bits are 0x7fffffff.
    const uint32 bits = __float_as_uint(x + 0.0f);
    return bits ^ ((int)bits >> 31 | 0x80000000u);
}
PYCUDA_SORT_FN uint64 order_of(double x)
{
    return float_order((uint64)__double_as_longlong(x), 1ull << 63, 0x7ffull << 52);
}

template <class U>
PYCUDA_SORT_FN uint32 digit_of(U order, uint32 place)
{
    return (uint32)(order >> 8 * place) & 255;
}

// A digit of a number. Of a double only the word with the digit is computed, and special
// values are rare.
template <class T>
PYCUDA_SORT_FN uint32 digit_at(T x, uint32 place)
{
    return digit_of(order_of(x), place);
}
PYCUDA_SORT_FN uint32 digit_at(double x, uint32 place)
{
    const uint32 top = 0x80000000u, infinity = 0x7ff00000u << 1;
    const uint32 low = (uint32)__double2loint(x), high = (uint32)__double2hiint(x);
    const uint32 sign = (uint32)((int)high >> 31);
    const uint32 zero = place < 4 ? 0 : top;
    uint32 word = (place < 4 ? low : high) ^ (sign | zero);
    if ((high << 1) - 1 >= infinity - 1) { // zero, the least numbers, infinity, NaN
        const uint32 magnitude = high << 1 | (low != 0);
        if (magnitude == 0) {
            word = zero;
        }
        if (magnitude > infinity) {
            word = ALL;
        }
    }
    return word >> 8 * (place & 3) & 255;
}

// Numbers of C: KEY::order(x) is what warp_sort compares.
template <class T>
struct number_key {
    typedef T element;
    enum { DIGITS = sizeof(T) };
    PYCUDA_SORT_FN uint64 order(T x) { return order_of(x); }
    PYCUDA_SORT_FN uint32 digit(T x, uint32 place)
    {
        return digit_at(x, place);
    }
};

// Half precision as bits; INFINITY_BITS tells its formats apart.
template <int INFINITY_BITS>
struct half_key {
    typedef unsigned short element;
    enum { DIGITS = 2 };
    PYCUDA_SORT_FN uint64 order(element x)
    {
        return float_order((uint32)x, 0x8000u, (uint32)INFINITY_BITS) & 0xffff;
    }
    PYCUDA_SORT_FN uint32 digit(element x, uint32 place)
    {
        return digit_of((uint32)order(x), place);
    }
};

// Complex numbers by real and then imaginary part. Those with a NaN come last: first
// those whose real part is a number, then those whose imaginary part is one.
template <class T>
struct complex_key {
    struct element {
        T re, im;
    };
    enum { PART = sizeof(T), DIGITS = 2 * PART + 1 };
    PYCUDA_SORT_FN uint32 digit(const element &x, uint32 place)
    {
        if (place == 2 * PART) {
            return (x.re != x.re) * 2 + (x.im != x.im);
        }
        return digit_at(place < PART ? x.im : x.re, place % PART);
    }
};

// -- parts of a block -------------------------------------------------------------------

// Counters for each digit.
struct digit_counts {
    uint32 count[256];

    // The number of elements before this one in its digit, of those that the warp has
    // counted here. The lanes with the same digit are found by votes: shared memory is
    // what the sort waits for.
    __device__ __forceinline__ uint32 rank(uint32 digit)
    {
        uint32 peers = ALL;
#pragma unroll
        for (int bit = 0; bit < 8; bit++) {
            const bool is_set = digit >> bit & 1;
            const uint32 votes = __ballot_sync(ALL, is_set);
            peers &= is_set ? votes : ~votes;
        }
        const uint32 lane = 1u << (threadIdx.x & 31);
        const uint32 earlier = __popc(peers & (lane - 1)), before = count[digit];
        __syncwarp();
        if (earlier == 0) {
            count[digit] = before + __popc(peers);
        }
        __syncwarp();
        return before + earlier;
    }
};

// The sum of the values of the threads before, for the first THREADS threads. All
// threads of the block call. `sums` has a place for each warp.
template <int THREADS, class T>
PYCUDA_SORT_FN T sum_before(T value, T *sums)
{
    const uint32 tid = threadIdx.x, lane = tid & 31;
    T sum = value;
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        const T other = __shfl_up_sync(ALL, sum, by);
        if (lane >= by) {
            sum += other;
        }
    }
    if (lane == 31) {
        sums[tid / 32] = sum;
    }
    __syncthreads();
    T before = sum - value;
#pragma unroll
    for (int k = 0; k < THREADS / 32; k++) {
        if (k < tid / 32) {
            before += sums[k];
        }
    }
    __syncthreads();
    return before;
}

// -- the radix sort of long lines -------------------------------------------------------

// What a block tells about one digit of its tile: a count and one of two flags. PARTIAL:
// the elements of the tile. WHOLE: those of the tile and all tiles before, and where the
// digit begins in the line.
template <class COUNT>
struct told {
    enum { BITS = 8 * sizeof(COUNT) };
    static const COUNT WHOLE = (COUNT)1 << (BITS - 1);
    static const COUNT PARTIAL = WHOLE >> 1;
};

// The parameters of a launch.
//
// digit_totals counts all digits of the lines at `in`, by `parts` blocks for each line;
// if these are several, the totals are 0 before. It sets the first `words` words of the
// slots to 0.
//
// onesweep moves elements by one digit, `place`. Without values_in, the value of an
// element is its index. Where `indices` is not null, the values go there. Without out,
// no keys are written.
template <class E, class V, class COUNT>
struct pass {
    const E *in;
    E *out;
    const V *values_in;
    V *values_out;
    int64 *indices;
    COUNT *totals;  // [line][place][digit], from the first line and the place on
    COUNT *slots;   // [line][tile][digit] of the place
    uint32 *ticket; // 0 before
    uint64 length;
    uint64 words;
    uint32 tiles; // of a line
    uint32 place;
    uint32 flip;
    uint32 parts;
};

// The count of all digits. It is a kernel of its own, so that two compilers can work side
// by side. Its text is short, since each line of it is unrolled for each digit.
template <class KEY, class COUNT, int THREADS>
struct digit_totals {
    typedef typename KEY::element E;
    enum {
        LOADS_WORDS = sizeof(E) == 4 || sizeof(E) == 8,
        MANY = LOADS_WORDS ? 16 / sizeof(E) : 1, // elements of a load
        BINS = KEY::DIGITS * 256
    };

    PYCUDA_SORT_FN void count(uint32 *counts, const E &x, uint32 flip)
    {
#pragma unroll
        for (int place = 0; place < KEY::DIGITS; place++) {
            atomicAdd(&counts[place * 256 + (KEY::digit(x, place) ^ flip)], 1u);
        }
    }

    PYCUDA_SORT_FN void run(const pass<E, COUNT, COUNT> &p)
    {
        __shared__ uint32 counts[BINS];
        const uint32 tid = threadIdx.x;
        const uint64 line = blockIdx.x / p.parts;
        const uint64 first = blockIdx.x * (uint64)THREADS + tid;
        const uint64 step = (uint64)p.parts * THREADS;
        for (uint64 i = first; i < p.words; i += (uint64)gridDim.x * THREADS) {
            p.slots[i] = 0;
        }
        for (uint32 i = tid; i < BINS; i += THREADS) {
            counts[i] = 0;
        }
        __syncthreads();
        const E *in = p.in + line * p.length;
        uint64 i = first - line * step;
        uint64 rest = 0; // the elements before are loaded in groups
        if (MANY * sizeof(E) == 16 && (uint64)in % 16 == 0) {
            rest = p.length / MANY * MANY;
            for (uint64 k = i; k < p.length / MANY; k += step) {
                __align__(16) E x[MANY];
                *(uint4 *)x = ((const uint4 *)in)[k];
#pragma unroll
                for (int j = 0; j < MANY; j++) {
                    count(counts, x[j], p.flip);
                }
            }
        }
#pragma unroll 1
        for (i += rest; i < p.length; i += step) {
            count(counts, in[i], p.flip);
        }
        __syncthreads();
        for (uint32 i = tid; i < BINS; i += THREADS) {
            if (p.parts == 1) {
                p.totals[line * BINS + i] = counts[i];
            }
            else if (counts[i] != 0) {
                atomicAdd(&p.totals[line * BINS + i], (COUNT)counts[i]);
            }
        }
    }
};

// The dynamic shared memory of a block holds digit_counts for each warp, and the elements
// and values of a tile.
template <class KEY, bool VALUES, class COUNT, int THREADS, int ITEMS>
struct onesweep {
    typedef typename KEY::element E;
    typedef COUNT V; // of values: indices
    typedef told<COUNT> flags;
    enum {
        WARPS = THREADS / 32,
        TILE = THREADS * ITEMS,
        BATCH = 4,
        BINS = KEY::DIGITS * 256, // of a line in the totals
        COUNTS = WARPS * sizeof(digit_counts),
        KEYS = TILE * sizeof(E)
    };

    // The elements k to k + BATCH of a thread, and their digits.
    struct batch {
        E x[BATCH];
        uint32 digit[BATCH];

        __device__ __forceinline__ void load(const E *in, uint32 first, uint32 count,
                                             uint32 place, uint32 flip)
        {
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                if (first + 32 * k < count) {
                    x[k] = in[first + 32 * k];
                }
            }
#pragma unroll
            for (int k = 0; k < BATCH; k++) {
                digit[k] = 255; // of the missing elements, which are the last ones
                if (first + 32 * k < count) {
                    digit[k] = KEY::digit(x[k], place) ^ flip;
                }
            }
        }
    };

    // Where the elements of a digit begin in the tiles before this one, and tell it on.
    PYCUDA_SORT_FN COUNT look_back(COUNT *slot, uint32 own)
    {
        COUNT before = 0;
        const volatile COUNT *at = slot;
        while (true) {
            at -= 256;
            COUNT word = *at;
            while (word == 0) {
                word = *at;
            }
            before += word & (flags::PARTIAL - 1);
            if (word & flags::WHOLE) {
                break;
            }
        }
        *(volatile COUNT *)slot = flags::WHOLE | (before + own);
        return before;
    }

    // Write an element, and its value, to a place in all lines.
    PYCUDA_SORT_FN void put(const pass<E, V, COUNT> &p, uint64 to, const E &key, V value)
    {
        if (!VALUES || p.out) {
            p.out[to] = key;
        }
        if (VALUES && p.indices) {
            p.indices[to] = value;
        }
        else if (VALUES) {
            p.values_out[to] = value;
        }
    }

    PYCUDA_SORT_FN void run(const pass<E, V, COUNT> &p)
    {
        extern __shared__ __align__(16) char room[];
        __shared__ COUNT base[256];
        __shared__ COUNT sums[WARPS];
        __shared__ uint32 drawn;
        digit_counts *counts = (digit_counts *)room;
        E *keys = (E *)(room + COUNTS);
        V *values = (V *)(room + COUNTS + KEYS);
        const uint32 tid = threadIdx.x, warp = tid / 32;
        const uint32 mine = warp * 32 * ITEMS + (tid & 31);
        batch b;

        if (tid == 0) {
            drawn = atomicAdd(p.ticket, 1u);
        }
        for (uint32 i = tid; i < COUNTS / 4; i += THREADS) {
            ((uint32 *)room)[i] = 0;
        }
        __syncthreads();
        const uint64 line = drawn / p.tiles;
        const uint32 tile = drawn % p.tiles;
        const uint64 first = (uint64)tile * TILE;
        const uint32 count = p.length - first < TILE ? (uint32)(p.length - first) : TILE;
        const uint64 start = line * p.length;
        COUNT *slot = p.slots + (uint64)drawn * 256 + tid;
        const E *in = p.in + start + first;
        const V *from = p.values_in + start + first;
        COUNT begin = 0;

        if (tid < 256) {
            begin = p.totals[line * BINS + tid];
        }
        if (__syncthreads_or(tid < 256 && begin == p.length)) {
            // All elements of the line have one digit, so they keep their places.
#pragma unroll 2
            for (uint32 i = tid; i < count; i += THREADS) {
                put(p, start + first + i, in[i], p.values_in ? from[i] : (V)(first + i));
            }
            return;
        }

#pragma unroll 1
        for (int k = 0; k < ITEMS; k += BATCH) {
            b.load(in, mine + 32 * k, count, p.place, p.flip);
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                atomicAdd(&counts[warp].count[b.digit[j]], 1u);
            }
        }
        __syncthreads();

        uint32 own = 0;
        if (tid < 256) {
#pragma unroll 8
            for (int w = 0; w < WARPS; w++) {
                own += counts[w].count[tid];
            }
            if (tile > 0) {
                *(volatile COUNT *)slot =
                    flags::PARTIAL | (own - (tid == 255 ? TILE - count : 0));
            }
        }
        const uint32 place = (uint32)sum_before<256>((COUNT)own, sums);
        if (tile == 0) {
            begin = sum_before<256>(begin, sums);
        }
        if (tid < 256) {
            uint32 sum = place;
#pragma unroll 8
            for (int w = 0; w < WARPS; w++) {
                const uint32 in_warp = counts[w].count[tid];
                counts[w].count[tid] = sum;
                sum += in_warp;
            }
            own -= tid == 255 ? TILE - count : 0;
            if (tile == 0) {
                *(volatile COUNT *)slot = flags::WHOLE | (begin + own);
            }
        }
        __syncthreads();

        // The elements are read again: registers for all would leave too few warps.
#pragma unroll 1
        for (int k = 0; k < ITEMS; k += BATCH) {
            const uint32 i = mine + 32 * k;
            V v[BATCH];
            b.load(in, i, count, p.place, p.flip);
#pragma unroll
            for (int j = 0; j < BATCH && VALUES; j++) {
                v[j] = (V)(first + i + 32 * j);
                if (p.values_in && i + 32 * j < count) {
                    v[j] = from[i + 32 * j];
                }
            }
#pragma unroll
            for (int j = 0; j < BATCH; j++) {
                const uint32 rank = counts[warp].rank(b.digit[j]);
                keys[rank] = b.x[j];
                if (VALUES) {
                    values[rank] = v[j];
                }
            }
        }
        if (tid < 256) {
            if (tile > 0) {
                begin = look_back(slot, own);
            }
            base[tid] = begin - place;
        }
        __syncthreads();

#pragma unroll 4
        for (uint32 i = tid; i < count; i += THREADS) {
            const E key = keys[i];
            const COUNT to = base[KEY::digit(key, p.place) ^ p.flip] + i;
            put(p, start + to, key, VALUES ? values[i] : 0);
        }
    }
};

// -- the radix sort of a line in a block ------------------------------------------------

// Elements go to their ranks through shared memory, as many at once as fit.
template <class T, int THREADS, int ITEMS, int BYTES>
PYCUDA_SORT_FN void exchange(char *room, T (&x)[ITEMS], const uint32 (&rank)[ITEMS])
{
    enum { TILE = THREADS * ITEMS, FIT = BYTES / sizeof(T), CHUNK = FIT < TILE ? FIT : TILE };
    const uint32 tid = threadIdx.x, mine = tid / 32 * 32 * ITEMS + (tid & 31);
    T *items = (T *)room;
    T moved[ITEMS];
#pragma unroll
    for (uint32 from = 0; from < TILE; from += CHUNK) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (CHUNK == TILE || rank[k] - from < CHUNK) {
                items[rank[k] - from] = x[k];
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (CHUNK == TILE || mine + 32 * k - from < CHUNK) {
                moved[k] = items[mine + 32 * k - from];
            }
        }
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        x[k] = moved[k];
    }
}

template <class KEY, bool INDICES, int THREADS, int ITEMS>
struct block_sort {
    typedef typename KEY::element E;
    enum {
        WARPS = THREADS / 32,
        TILE = THREADS * ITEMS,
        SCANNERS = THREADS < 256 ? THREADS : 256, // threads that add the counts
        EACH = 256 / SCANNERS,                    // digits of each of them
        COUNTS = WARPS * sizeof(digit_counts),
        LARGEST = TILE * sizeof(E) > COUNTS ? TILE * sizeof(E) : COUNTS,
        ROOM = LARGEST < 40960 ? LARGEST : 40960
    };

    // A block sorts a line of `length` elements, at most TILE. With INDICES, out may be
    // null.
    PYCUDA_SORT_FN void run(const E *in, E *out, int64 *indices, uint32 length,
                            uint32 flip)
    {
        __shared__ __align__(16) char room[ROOM];
        __shared__ uint32 sums[WARPS];
        digit_counts *counts = (digit_counts *)room;
        const uint32 tid = threadIdx.x, warp = tid / 32;
        const uint32 mine = warp * 32 * ITEMS + (tid & 31);
        const uint64 start = (uint64)blockIdx.x * length;
        E x[ITEMS];
        uint32 index[ITEMS];
        uint32 rank[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const uint32 i = mine + 32 * k;
            if (i < length) {
                x[k] = in[start + i];
            }
            if (INDICES) {
                index[k] = i;
            }
        }
#pragma unroll 1
        for (uint32 place = 0; place < KEY::DIGITS; place++) {
            __syncthreads();
            for (uint32 i = tid; i < COUNTS / 4; i += THREADS) {
                ((uint32 *)room)[i] = 0;
            }
            __syncthreads();
            // The missing elements stay behind the others: they are the last ones with
            // the largest digit in each pass.
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                uint32 digit = 255;
                if (mine + 32 * k < length) {
                    digit = KEY::digit(x[k], place) ^ flip;
                }
                rank[k] = counts[warp].rank(digit) | digit << 16;
            }
            __syncthreads();
            uint32 own = 0;
            if (tid < SCANNERS) {
                for (int e = 0; e < EACH; e++) {
#pragma unroll 8
                    for (int w = 0; w < WARPS; w++) {
                        own += counts[w].count[tid * EACH + e];
                    }
                }
            }
            uint32 sum = sum_before<SCANNERS>(own, sums);
            if (tid < SCANNERS) {
                for (int e = 0; e < EACH; e++) {
#pragma unroll 8
                    for (int w = 0; w < WARPS; w++) {
                        const uint32 in_warp = counts[w].count[tid * EACH + e];
                        counts[w].count[tid * EACH + e] = sum;
                        sum += in_warp;
                    }
                }
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                rank[k] = (rank[k] & 0xffff) + counts[warp].count[rank[k] >> 16];
            }
            exchange<E, THREADS, ITEMS, ROOM>(room, x, rank);
            if (INDICES) {
                exchange<uint32, THREADS, ITEMS, ROOM>(room, index, rank);
            }
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const uint32 i = mine + 32 * k;
            if (i < length) {
                if (INDICES) {
                    indices[start + i] = index[k];
                }
                if (!INDICES || out) {
                    out[start + i] = x[k];
                }
            }
        }
    }
};

// -- the bitonic sort of short lines ----------------------------------------------------

// What is compared: the order of a key above the index of its element, so that equal
// keys keep their order.
template <class KEY, bool SMALL>
struct ordered {
    uint64 order;
    uint32 at;

    PYCUDA_SORT_FN ordered make(uint64 order, uint32 at)
    {
        ordered item = {order, at};
        return item;
    }
    __device__ __forceinline__ uint32 index() const { return at; }
    __device__ __forceinline__ bool operator>(const ordered &other) const
    {
        return order > other.order || (order == other.order && at > other.at);
    }
    __device__ __forceinline__ ordered across(int by) const
    {
        return make(__shfl_xor_sync(ALL, order, by), __shfl_xor_sync(ALL, at, by));
    }
};

// The same in one word, for keys of at most 32 bits.
template <class KEY>
struct ordered<KEY, true> {
    uint64 word;

    PYCUDA_SORT_FN ordered make(uint64 order, uint32 at)
    {
        ordered item = {order << 32 | at};
        return item;
    }
    __device__ __forceinline__ uint32 index() const { return (uint32)word; }
    __device__ __forceinline__ bool operator>(const ordered &other) const
    {
        return word > other.word;
    }
    __device__ __forceinline__ ordered across(int by) const
    {
        ordered item = {__shfl_xor_sync(ALL, word, by)};
        return item;
    }
};

// LANES lanes sort a line of at most LANES * ITEMS elements. Its key is at most 64 bits.
template <class KEY, bool INDICES, int LANES, int ITEMS>
struct warp_sort {
    typedef typename KEY::element E;
    typedef ordered<KEY, sizeof(E) <= 4> T;

    PYCUDA_SORT_FN void run(const E *in, E *out, int64 *indices, uint32 length,
                            uint64 lines, uint32 flip)
    {
        const uint64 line = (blockIdx.x * (uint64)blockDim.x + threadIdx.x) / LANES;
        const uint32 lane = threadIdx.x % LANES;
        const uint64 start = line * length;
        const uint32 count = line < lines ? length : 0;
        T item[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const uint32 i = lane + LANES * k;
            uint64 order = ~0ull; // of a missing element, which comes after all
            if (i < count) {
                order = KEY::order(in[start + i]);
                order = flip ? ~order : order;
            }
            item[k] = T::make(order, i);
        }
#pragma unroll
        for (int size = 2; size <= LANES * ITEMS; size *= 2) {
#pragma unroll
            for (int by = size / 2; by > 0; by /= 2) {
#pragma unroll
                for (int k = 0; k < ITEMS; k++) {
                    const bool up = ((lane + LANES * k) & size) == 0;
                    const T mine = item[k];
                    if (by >= LANES) {
                        const int at = k ^ by / LANES;
                        if (k < at && (mine > item[at]) == up) {
                            item[k] = item[at];
                            item[at] = mine;
                        }
                    }
                    else {
                        const T other = mine.across(by);
                        const bool is_low = (lane & by) == 0;
                        if ((mine > other) == (is_low == up)) {
                            item[k] = other;
                        }
                    }
                }
            }
        }
        E x[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            if (lane + LANES * k < count && (!INDICES || out)) {
                x[k] = in[start + item[k].index()];
            }
        }
        __syncwarp();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const uint32 i = lane + LANES * k;
            if (i < count) {
                if (INDICES) {
                    indices[start + i] = item[k].index();
                }
                if (!INDICES || out) {
                    out[start + i] = x[k];
                }
            }
        }
    }
};

}  // namespace pycuda_sort

#endif
