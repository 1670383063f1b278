// A scan (prefix sum) in one pass over memory, for pycuda.scan.
//
// A block takes the next tile of a line, scans it, and says what the tile comes to. What
// all tiles before come to is put together from what their blocks said: those of the
// same window of 64 tiles, and the sum of the windows before, which the last block of
// each window hands on. This is look-back, with one difference: what is joined with what
// depends on places alone, never on who was first, so the same input gives the same
// bits.
//
// A block waits for blocks that have begun before it only: tiles are taken in order.
//
// Op::join(a, b) joins two values, a before b. There is no neutral element: threads,
// warps and tiles without a predecessor are told apart instead.
#ifndef PYCUDA_SCAN_HPP
#define PYCUDA_SCAN_HPP

namespace pycuda_scan {

#define PYCUDA_FN __device__ __forceinline__

typedef unsigned int uint32;
typedef unsigned long long uint64;

// -- values as words ------------------------------------------------------------------

template <class T>
struct words {
    enum { count = (sizeof(T) + 3) / 4 };
    uint32 word[count];

    PYCUDA_FN words() {}
    explicit PYCUDA_FN words(const T &value)
    {
        word[count - 1] = 0;
        memcpy(word, &value, sizeof(T));
    }
    PYCUDA_FN T value() const
    {
        T result;
        memcpy(&result, word, sizeof(T));
        return result;
    }
};

// target = value, where the value is always a variable: a type may have no other
// assignment than one that takes a "const volatile &".
template <class T>
PYCUDA_FN void put(T &target, const T &value)
{
    target = value;
}

// The value of the lane `by` lanes before; every lane of the warp calls.
template <class T>
PYCUDA_FN T from_before(const T &value, int by)
{
    words<T> all(value);
#pragma unroll
    for (int k = 0; k < all.count; k++) {
        all.word[k] = __shfl_up_sync(0xffffffffu, all.word[k], by);
    }
    return all.value();
}

template <class T>
PYCUDA_FN T from_lane(const T &value, int lane)
{
    words<T> all(value);
#pragma unroll
    for (int k = 0; k < all.count; k++) {
        all.word[k] = __shfl_sync(0xffffffffu, all.word[k], lane);
    }
    return all.value();
}

// Each lane's value joined with those of the lanes before, where the first `count` lanes
// have one.
template <class Op, class T>
PYCUDA_FN T scan_warp(T value, uint32 lane, uint32 count)
{
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        T before = from_before(value, by);
        if (lane >= by && lane < count) {
            put(value, Op::join(before, value));
        }
    }
    return value;
}

// -- values between blocks ------------------------------------------------------------

// A value is written as 64-bit words, the upper half of which says that the lower one is
// there: each word is whole whenever it is read, so that no order of writes matters.
template <class T>
PYCUDA_FN void tell(volatile uint64 *slot, const T &value)
{
    words<T> all(value);
#pragma unroll
    for (int k = 0; k < all.count; k++) {
        slot[k] = 1ull << 32 | all.word[k];
    }
}

template <class T>
PYCUDA_FN bool hear(const volatile uint64 *slot, T &value)
{
    words<T> all;
    bool there = true;
#pragma unroll
    for (int k = 0; k < all.count; k++) {
        uint64 word = slot[k];
        there = there && word >> 32 != 0;
        all.word[k] = (uint32)word;
    }
    put(value, all.value());
    return there;
}

// Who asks too soon keeps those who have the answer from giving it. GPUs before Volta
// have no such instruction, and ask again at once.
PYCUDA_FN void wait_some(uint32 nanoseconds)
{
#if __CUDA_ARCH__ >= 700
    __nanosleep(nanoseconds);
#endif
}

// -- a tile ---------------------------------------------------------------------------

template <class T, class Op, int THREADS, int EACH, bool EXCLUSIVE>
struct tile_scan {
    enum { WARPS = THREADS / 32, TILE = THREADS * EACH, WINDOW = 64, W = words<T>::count };
    // A thread's elements lie in a row; rows are shifted against each other, so that
    // neither reading by rows nor by columns meets one bank twice.
    enum {
        CAN_VECTOR = EACH * sizeof(T) % 16 == 0,
        UNITS = CAN_VECTOR ? EACH * sizeof(T) / 16 : 1,
        ROW = CAN_VECTOR ? UNITS * 16 + 16 : (EACH + 1) * sizeof(T)
    };

    struct shared {
        char rows[THREADS * ROW];
        char totals[WARPS * sizeof(T)];
        char before[sizeof(T)];
        uint32 ticket;
    };

    // Elements of the warp's rows, in the order of memory, to and from shared memory.
    template <bool FULL>
    static PYCUDA_FN void move_in(char *rows, const T *from, uint32 count, bool vector)
    {
        const uint32 lane = threadIdx.x & 31;
        if (FULL && CAN_VECTOR && vector) {
            uint4 units[UNITS];
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                units[k] = __ldcs((const uint4 *)from + lane + 32 * k);
            }
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                uint32 unit = lane + 32 * k;
                *(uint4 *)(rows + unit / UNITS * ROW + unit % UNITS * 16) = units[k];
            }
            return;
        }
#pragma unroll 4
        for (int k = 0; k < EACH; k++) {
            uint32 i = lane + 32 * k;
            if (FULL || i < count) {
                *(T *)(rows + i / EACH * ROW + i % EACH * sizeof(T)) = from[i];
            }
        }
    }

    template <bool FULL>
    static PYCUDA_FN void move_out(const char *rows, T *to, uint32 count, bool vector)
    {
        const uint32 lane = threadIdx.x & 31;
        if (FULL && CAN_VECTOR && vector) {
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                uint32 unit = lane + 32 * k;
                __stcs((uint4 *)to + unit,
                       *(const uint4 *)(rows + unit / UNITS * ROW + unit % UNITS * 16));
            }
            return;
        }
#pragma unroll 4
        for (int k = 0; k < EACH; k++) {
            uint32 i = lane + 32 * k;
            if (FULL || i < count) {
                to[i] = *(const T *)(rows + i / EACH * ROW + i % EACH * sizeof(T));
            }
        }
    }

    // What the tiles of the line before this one come to; `own` is what it comes to
    // itself. Called by the first warp.
    static PYCUDA_FN T look_back(uint64 *slots, uint64 line, uint32 place, uint32 tiles,
                                 const T &own)
    {
        const uint32 lane = threadIdx.x & 31;
        const uint32 window = place / WINDOW, i = place % WINDOW;
        const uint32 windows = (tiles + WINDOW - 1) / WINDOW;
        uint64 lines = gridDim.x / tiles;
        uint64 *of_tile = slots + 1 + (line * tiles + place) * W;
        uint64 *of_window = slots + 1 + (lines * tiles + line * windows + window) * W;
        if (lane == 0) {
            tell(of_tile, own);
        }
        if (place == 0) {
            return own;
        }
        T early = own, late = own, windows_before = own;
        bool has_early = lane >= i, has_late = lane + 32 >= i;
        bool has_windows = lane != 0 || window == 0;
        // These times were the best on an H200.
        if (gridDim.x > 1024) {
            wait_some(1500);
        }
        while (true) {
            has_early = has_early || hear(of_tile - (uint64)(i - lane) * W, early);
            has_late = has_late || hear(of_tile - (uint64)(i - lane - 32) * W, late);
            has_windows = has_windows || hear(of_window - W, windows_before);
            if (__all_sync(0xffffffffu, has_early && has_late && has_windows)) {
                break;
            }
            if (gridDim.x > 1024) {
                wait_some(300);
            }
        }
        T before = from_lane(windows_before, 0);
        if (i > 0) {
            uint32 count = i < 32 ? i : 32;
            T sum = from_lane(scan_warp<Op>(early, lane, count), count - 1);
            put(before, window > 0 ? Op::join(before, sum) : sum);
        }
        if (i > 32) {
            T sum = from_lane(scan_warp<Op>(late, lane, i - 32), i - 33);
            put(before, Op::join(before, sum));
        }
        if (lane == 0 && i == WINDOW - 1) {
            tell(of_window, Op::join(before, own));
        }
        return before;
    }

    template <bool FULL>
    static PYCUDA_FN void scan(shared &room, const T *input, T *output, uint64 *slots,
                               uint32 count, uint64 line, uint32 place, uint32 tiles,
                               bool vector, const T &neutral)
    {
        const uint32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32;
        const uint32 skipped = warp * 32 * EACH;
        const uint32 in_warp = FULL ? 32 * EACH : count > skipped ? count - skipped : 0;
        const uint32 own = FULL                     ? EACH
                           : in_warp > lane * EACH ? in_warp - lane * EACH
                                                   : 0;
        char *rows = room.rows + warp * 32 * ROW;
        char *row = rows + lane * ROW;
        T *totals = (T *)room.totals;
        T items[EACH], sum, before;

        move_in<FULL>(rows, input + skipped, in_warp, vector);
        __syncwarp();
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (FULL || k < own) {
                items[k] = ((const T *)row)[k];
                put(sum, k == 0 ? items[0] : Op::join(sum, items[k]));
                items[k] = sum;
            }
        }
        const uint32 busy = FULL ? 32 : (in_warp + EACH - 1) / EACH; // lanes
        put(sum, scan_warp<Op>(sum, lane, busy));
        if (FULL ? lane == 31 : lane + 1 == (busy < 32 ? busy : 32)) {
            totals[warp] = sum;
        }
        put(before, from_before(sum, 1));
        __syncthreads();

        const uint32 warps = FULL ? WARPS : (count + 32 * EACH - 1) / (32 * EACH);
        T whole = totals[0], warps_before = whole;
#pragma unroll
        for (int k = 1; k < WARPS; k++) {
            if (k == warp) {
                warps_before = whole;
            }
            if (FULL || k < warps) {
                put(whole, Op::join(whole, totals[k]));
            }
        }
        if (warp > 0) {
            put(before, lane > 0 ? Op::join(warps_before, before) : warps_before);
        }
        bool has_before = tid > 0;
        if (tiles > 1) {
            if (warp == 0) {
                T tiles_before = look_back(slots, line, place, tiles, whole);
                if (lane == 0) {
                    *(T *)room.before = tiles_before;
                }
            }
            __syncthreads();
            if (place > 0) {
                T tiles_before = *(const T *)room.before;
                put(before, has_before ? Op::join(tiles_before, before) : tiles_before);
                has_before = true;
            }
        }
#pragma unroll
        for (int k = EACH - 1; k >= 0; k--) {
            if (FULL || k < own) {
                int from = EXCLUSIVE && k > 0 ? k - 1 : k;
                T value = items[from];
                put(value, has_before ? Op::join(before, value) : value);
                if (EXCLUSIVE && k == 0) {
                    put(value, has_before ? before : neutral);
                }
                ((T *)row)[k] = value;
            }
        }
        __syncwarp();
        move_out<FULL>(rows, output + skipped, in_warp, vector);
    }

    // The kernel: gridDim.x is the number of lines times `tiles`, those of each line.
    // `slots` is zeroed; it is not used where a line is one tile.
    static PYCUDA_FN void run(const T *input, T *output, uint64 *slots, uint64 length,
                              uint32 tiles, bool vector, const T &neutral)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        uint32 ticket = blockIdx.x;
        if (tiles > 1) {
            if (threadIdx.x == 0) {
                room.ticket = atomicAdd((uint32 *)slots, 1u);
            }
            __syncthreads();
            ticket = room.ticket;
        }
        const uint64 line = ticket / tiles;
        const uint32 place = ticket % tiles;
        const uint64 skipped = (uint64)place * TILE;
        const uint64 left = length - skipped;
        input += line * length + skipped;
        output += line * length + skipped;
        if (left >= TILE) {
            scan<true>(room, input, output, slots, TILE, line, place, tiles, vector,
                       neutral);
        }
        else {
            scan<false>(room, input, output, slots, (uint32)left, line, place, tiles,
                        false, neutral);
        }
    }
};

}  // namespace pycuda_scan

#endif
