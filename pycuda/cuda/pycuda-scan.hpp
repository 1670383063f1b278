// Scans (prefix sums) in one pass over memory, for pycuda.scan and for the functions of
// arrays.
//
// A block takes the next tile of a line, scans it, and publishes the sum of the tile. The
// sum of all tiles before comes from look-back: the sums of the tiles before in the same
// window of 32 tiles, the sums of the windows before in the same span of 32 windows, and
// the sum up to the end of the span before. The last tile of a window publishes the sum
// of the window, the last tile of a span publishes the sum up to its end. The places of
// the elements alone decide which values are joined with which, so the same input always
// gives the same bits.
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
typedef long long int64;

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

// -- look-back ------------------------------------------------------------------------

// The places of the sums of a line: those of tiles, of windows, up to the ends of spans.
// `width` values are published side by side.
struct line_slots {
    enum { WINDOW = 32 };

    uint64 *tiles, *windows, *spans;

    // The slots of all lines follow a ticket counter. A launch zeroes them.
    PYCUDA_FN line_slots(uint64 *slots, uint64 lines, uint64 line, uint32 count,
                         uint32 words)
    {
        const uint64 windows_of_line = (count + WINDOW - 1) / WINDOW;
        const uint64 spans_of_line = (windows_of_line + WINDOW - 1) / WINDOW;
        tiles = slots + 1 + line * count * words;
        windows = slots + 1 + (lines * count + line * windows_of_line) * words;
        spans = slots + 1 +
                (lines * (count + windows_of_line) + line * spans_of_line) * words;
    }
};

#ifndef PYCUDA_SCAN_FIRST_WAIT
// These times were the best on an H200.
#define PYCUDA_SCAN_FIRST_WAIT 1500
#define PYCUDA_SCAN_NEXT_WAIT 300
#endif

// Return what the tiles of the line before tile `place` come to; `own` is the sum of the
// tile itself. Called by one warp; `patient`: the grid is large, so waiting warps sleep.
template <class T, class Op>
PYCUDA_FN T look_back(const line_slots &slots, uint32 place, const T &own, bool patient)
{
    enum { W = words<T>::count, WINDOW = line_slots::WINDOW };
    const uint32 lane = threadIdx.x & 31;
    const uint32 window = place / WINDOW, i = place % WINDOW;
    const uint32 span = window / WINDOW, j = window % WINDOW;
    if (lane == 0) {
        tell(slots.tiles + (uint64)place * W, own);
    }
    if (place == 0) {
        return own;
    }
    const volatile uint64 *tile_at = slots.tiles + (uint64)(place - i + lane) * W;
    const volatile uint64 *window_at = slots.windows + (uint64)(window - j + lane) * W;
    T of_tile = own, of_window = own, of_span = own;
    T sum = own, before = own;
    bool has_tile = lane >= i, has_window = lane >= j;
    bool has_span = lane != 0 || span == 0, has_sum = i == 0;
    if (patient) {
        wait_some(PYCUDA_SCAN_FIRST_WAIT);
    }
    while (true) {
        has_tile = has_tile || hear(tile_at, of_tile);
        has_window = has_window || hear(window_at, of_window);
        has_span = has_span || hear(slots.spans + (uint64)(span - 1) * W, of_span);
        if (!has_sum && __all_sync(0xffffffffu, has_tile)) {
            put(sum, from_lane(scan_warp<Op>(of_tile, lane, i), i - 1));
            has_sum = true;
            if (lane == 0 && i == WINDOW - 1) {
                tell(slots.windows + (uint64)window * W, Op::join(sum, own));
            }
        }
        if (__all_sync(0xffffffffu, has_tile && has_window && has_span)) {
            break;
        }
        if (patient) {
            wait_some(PYCUDA_SCAN_NEXT_WAIT);
        }
    }
    bool has_before = span > 0;
    if (has_before) {
        put(before, from_lane(of_span, 0));
    }
    if (j > 0) {
        T windows = from_lane(scan_warp<Op>(of_window, lane, j), j - 1);
        put(before, has_before ? Op::join(before, windows) : windows);
        has_before = true;
    }
    if (i > 0) {
        put(before, has_before ? Op::join(before, sum) : sum);
    }
    if (lane == 0 && i == WINDOW - 1 && j == WINDOW - 1) {
        tell(slots.spans + (uint64)span * W, Op::join(before, own));
    }
    return before;
}

// -- elements in memory ---------------------------------------------------------------

// How elements of type In become values of type T. The header of arrays has the general
// case.
template <class T, class In>
struct converted;
template <class T>
struct converted<T, T> {
    static PYCUDA_FN T of(const T &value)
    {
        return value;
    }
};

// 16 bytes of values of type T, which are elements of type In in memory. If they are the
// same bytes, the multiprocessor can copy them into shared memory by itself.
template <class T, class In>
struct unit;
template <class T>
struct unit<T, T> {
    enum { IS_COPY = 1 };
    uint4 bytes;

    PYCUDA_FN void load(const T *from, uint32 number)
    {
        bytes = __ldcs((const uint4 *)from + number);
    }
    PYCUDA_FN void store(T *to, uint32 number) const
    {
        __stcs((uint4 *)to + number, bytes);
    }
    PYCUDA_FN uint4 values() const
    {
        return bytes;
    }
    PYCUDA_FN void take(const uint4 &values)
    {
        bytes = values;
    }
};

// Sources define PYCUDA_SCAN_WITH_COPIES for kernels that do not look back. On an H200
// these copies made look-back slower by a fifth.
#if defined(PYCUDA_SCAN_WITH_COPIES) && __CUDA_ARCH__ >= 800
#define PYCUDA_SCAN_COPIES 1
#else
#define PYCUDA_SCAN_COPIES 0
#endif

// Begin to copy 16 bytes into shared memory; all such copies of a thread are complete
// after finish_copies().
PYCUDA_FN void begin_copy(char *shared, const void *from)
{
#if PYCUDA_SCAN_COPIES
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"((uint32)__cvta_generic_to_shared(shared)), "l"(from)
                 : "memory");
#endif
}
PYCUDA_FN void finish_copies()
{
#if PYCUDA_SCAN_COPIES
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

// An element at a distance in bytes.
template <class T>
PYCUDA_FN T *element_at(T *first, int64 step, uint32 i)
{
    return (T *)((char *)first + step * i);
}
template <class T>
PYCUDA_FN const T *element_at(const T *first, int64 step, uint32 i)
{
    return (const T *)((const char *)first + step * i);
}

// -- parts ----------------------------------------------------------------------------

// How many values follow the first `begin` of `count`; FULL: all `most` of a part.
template <bool FULL>
PYCUDA_FN uint32 rest_of(uint32 count, uint32 begin, uint32 most)
{
    if (FULL) {
        return most;
    }
    return count > begin ? count - begin : 0;
}

// The same, but at most `most` values.
template <bool FULL>
PYCUDA_FN uint32 part_of(uint64 count, uint64 begin, uint32 most)
{
    if (FULL || count >= begin + most) {
        return most;
    }
    return count > begin ? (uint32)(count - begin) : 0;
}

// -- rows of a tile -------------------------------------------------------------------

// The values of a thread lie in a row of shared memory. Rows are shifted against each
// other, so that neither reading by rows nor by columns meets one bank twice.
template <class T, int THREADS, int EACH>
struct tile_rows {
    enum {
        CAN_VECTOR = EACH * sizeof(T) % 16 == 0,
        CAN_CUT = 16 % sizeof(T) == 0, // a unit has whole elements
        IN_UNIT = CAN_CUT ? 16 / sizeof(T) : 1,
        STEP = CAN_VECTOR && CAN_CUT ? IN_UNIT : 1, // values that are read at once
        UNITS = CAN_VECTOR ? EACH * sizeof(T) / 16 : 1,
        ROW = CAN_VECTOR ? UNITS * 16 + 16 : (EACH + 1) * sizeof(T)
    };

    // The place of value i of the warp.
    static PYCUDA_FN T *value_at(char *rows, uint32 i)
    {
        return (T *)(rows + i / EACH * ROW + i % EACH * sizeof(T));
    }

    // Values first to first + IN_UNIT - 1 of a row, a unit at a time where that is
    // possible. One by one, the lanes of a warp would meet the same banks.
    static PYCUDA_FN void get(const char *row, int first, T *values)
    {
        const T *from = (const T *)row + first;
        if (CAN_VECTOR && CAN_CUT) {
            const uint4 bytes = *(const uint4 *)from;
            memcpy(values, &bytes, 16);
        }
        else {
            put(values[0], *from);
        }
    }
    static PYCUDA_FN void set(char *row, int first, const T *values)
    {
        T *to = (T *)row + first;
        if (CAN_VECTOR && CAN_CUT) {
            uint4 bytes;
            memcpy(&bytes, values, 16);
            *(uint4 *)to = bytes;
        }
        else {
            put(*to, values[0]);
        }
    }

    // Elements of the warp's rows, in the order of memory, to shared memory. `vector`:
    // they are packed, and the first is at a multiple of 16 bytes.
    template <bool FULL, class In>
    static PYCUDA_FN void move_in(char *rows, const In *from, int64 step, uint32 count,
                                  bool vector)
    {
        const uint32 lane = threadIdx.x & 31;
        if ((FULL || CAN_CUT) && CAN_VECTOR && vector) {
            enum { COPIES = PYCUDA_SCAN_COPIES && unit<T, In>::IS_COPY };
            unit<T, In> units[COPIES ? 1 : UNITS];
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                uint32 number = lane + 32 * k;
                char *place = rows + number / UNITS * ROW + number % UNITS * 16;
                if (FULL || (number + 1) * IN_UNIT <= count) {
                    if (COPIES) {
                        begin_copy(place, (const uint4 *)(const void *)from + number);
                    }
                    else {
                        units[COPIES ? 0 : k].load(from, number);
                    }
                }
            }
#pragma unroll
            for (int k = 0; k < (COPIES ? 0 : UNITS); k++) {
                uint32 number = lane + 32 * k;
                char *place = rows + number / UNITS * ROW + number % UNITS * 16;
                if (FULL || (number + 1) * IN_UNIT <= count) {
                    *(uint4 *)place = units[k].values();
                }
            }
            if (COPIES) {
                finish_copies();
            }
            uint32 rest = FULL ? 0 : count % IN_UNIT;
            if (lane < rest) {
                uint32 i = count - rest + lane;
                put(*value_at(rows, i), converted<T, In>::of(from[i]));
            }
            return;
        }
#pragma unroll 8
        for (int k = 0; k < EACH; k++) {
            uint32 i = lane + 32 * k;
            if (FULL || i < count) {
                put(*value_at(rows, i),
                    converted<T, In>::of(*element_at(from, step, i)));
            }
        }
    }

    template <bool FULL, class Out>
    static PYCUDA_FN void move_out(char *rows, Out *to, int64 step, uint32 count,
                                   bool vector)
    {
        const uint32 lane = threadIdx.x & 31;
        if ((FULL || CAN_CUT) && CAN_VECTOR && vector) {
#pragma unroll
            for (int k = 0; k < UNITS; k++) {
                uint32 number = lane + 32 * k;
                const char *place = rows + number / UNITS * ROW + number % UNITS * 16;
                if (FULL || (number + 1) * IN_UNIT <= count) {
                    unit<T, Out> out;
                    out.take(*(const uint4 *)place);
                    out.store(to, number);
                }
            }
            uint32 rest = FULL ? 0 : count % IN_UNIT;
            if (lane < rest) {
                uint32 i = count - rest + lane;
                put(to[i], converted<Out, T>::of(*value_at(rows, i)));
            }
            return;
        }
#pragma unroll 8
        for (int k = 0; k < EACH; k++) {
            uint32 i = lane + 32 * k;
            if (FULL || i < count) {
                put(*element_at(to, step, i), converted<Out, T>::of(*value_at(rows, i)));
            }
        }
    }
};

// -- a tile of a line -----------------------------------------------------------------

template <class In, class T, class Out, class Op, int THREADS, int EACH, bool EXCLUSIVE>
struct tile_scan {
    typedef tile_rows<T, THREADS, EACH> layout;
    enum { WARPS = THREADS / 32, TILE = THREADS * EACH, ROW = layout::ROW };

    struct shared {
        char rows[THREADS * ROW];
        char totals[WARPS * sizeof(T)];
        char before[sizeof(T)];
        uint32 ticket;
    };

    // Where the tiles of a line before this one come from: nothing, a value, or slots.
    struct predecessor {
        bool has_value, has_slots;
        T value;
        line_slots slots;
        uint32 place;
        bool patient;

        PYCUDA_FN explicit predecessor(const line_slots &slots_) : slots(slots_) {}
    };

    // Scan a tile. `whole` becomes the sum of the tile. ONLY_SUM: nothing is stored.
    template <bool FULL, bool ONLY_SUM>
    static PYCUDA_FN void scan(shared &room, const In *input, int64 in_step, Out *output,
                               int64 out_step, uint32 count, bool vector,
                               const predecessor &line, const T &neutral, T &whole)
    {
        const uint32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32;
        const uint32 skipped = warp * 32 * EACH;
        const uint32 in_warp = part_of<FULL>(count, skipped, 32 * EACH);
        const uint32 own = rest_of<FULL>(in_warp, lane * EACH, EACH);
        char *rows = room.rows + warp * 32 * ROW;
        char *row = rows + lane * ROW;
        T *totals = (T *)room.totals;
        enum { STEP = layout::STEP };
        T values[STEP], sum, before;

        layout::template move_in<FULL>(rows, element_at(input, in_step, skipped),
                                       in_step, in_warp, vector);
        __syncwarp();
        // The row gets its own sums. No value stays in a register while the block waits:
        // more blocks fit on a multiprocessor.
#pragma unroll
        for (int k = 0; k < EACH; k += STEP) {
            layout::get(row, k, values);
#pragma unroll
            for (int j = 0; j < STEP; j++) {
                if (FULL || k + j < own) {
                    put(sum, k + j == 0 ? values[0] : Op::join(sum, values[j]));
                    values[j] = sum;
                }
            }
            layout::set(row, k, values);
        }
        const uint32 busy = FULL ? 32 : (in_warp + EACH - 1) / EACH; // lanes
        put(sum, scan_warp<Op>(sum, lane, busy));
        if (lane + 1 == min(busy, 32u)) {
            totals[warp] = sum;
        }
        put(before, from_before(sum, 1));
        __syncthreads();

        const uint32 warps = FULL ? WARPS : (count + 32 * EACH - 1) / (32 * EACH);
        put(whole, totals[0]);
        T warps_before = whole;
#pragma unroll
        for (int k = 1; k < WARPS; k++) {
            if (k == warp) {
                warps_before = whole;
            }
            if (FULL || k < warps) {
                put(whole, Op::join(whole, totals[k]));
            }
        }
        if (ONLY_SUM) {
            return;
        }
        if (warp > 0) {
            put(before, lane > 0 ? Op::join(warps_before, before) : warps_before);
        }
        bool has_before = tid > 0;
        if (line.has_slots) {
            if (warp == 0) {
                T tiles_before =
                    look_back<T, Op>(line.slots, line.place, whole, line.patient);
                if (lane == 0) {
                    *(T *)room.before = tiles_before;
                }
            }
            __syncthreads();
        }
        if (line.has_value) {
            T tiles_before = line.has_slots ? *(const T *)room.before : line.value;
            put(before, has_before ? Op::join(tiles_before, before) : tiles_before);
            has_before = true;
        }
        T previous = neutral;
        if (has_before) {
            put(previous, before);
        }
#pragma unroll
        for (int k = 0; k < EACH; k += STEP) {
            layout::get(row, k, values);
#pragma unroll
            for (int j = 0; j < STEP; j++) {
                if (FULL || k + j < own) {
                    T value = values[j];
                    put(value, has_before ? Op::join(before, value) : value);
                    put(values[j], EXCLUSIVE ? previous : value);
                    put(previous, value);
                }
            }
            layout::set(row, k, values);
        }
        __syncwarp();
        layout::template move_out<FULL>(rows, element_at(output, out_step, skipped),
                                        out_step, in_warp, vector);
    }

    template <bool ONLY_SUM>
    static PYCUDA_FN void scan_some(shared &room, const In *input, int64 in_step,
                                    Out *output, int64 out_step, uint64 left, bool vector,
                                    const predecessor &line, const T &neutral, T &whole)
    {
        if (left >= TILE) {
            scan<true, ONLY_SUM>(room, input, in_step, output, out_step, TILE, vector, line,
                       neutral, whole);
        }
        else {
            scan<false, ONLY_SUM>(room, input, in_step, output, out_step, (uint32)left, vector,
                        line, neutral, whole);
        }
    }

    // One tile of a line of `tiles` tiles: a block takes the next one. gridDim.x is the
    // number of lines times `tiles`. Lines::find(line, input, output) moves the pointers
    // to the first element of a line.
    template <class Lines>
    static PYCUDA_FN void run(const In *input, int64 in_step, Out *output, int64 out_step,
                              uint64 *slots, uint64 length, uint32 tiles, bool vector,
                              const T &neutral, const Lines &lines)
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
        predecessor before(
            line_slots(slots, gridDim.x / tiles, line, tiles, words<T>::count));
        T whole;
        before.has_slots = tiles > 1;
        before.has_value = place > 0;
        before.place = place;
        before.patient = gridDim.x > 1024;
        lines.find(line, input, output);
        input = (const In *)((const char *)input + (int64)skipped * in_step);
        output = (Out *)((char *)output + (int64)skipped * out_step);
        scan_some<false>(room, input, in_step, output, out_step, length - skipped, vector,
                         before, neutral, whole);
    }

    // The same without look-back, as two kernels: the first stores the sum of each tile,
    // the second adds up those before its tile. It is faster if the cache holds the
    // input.
    template <class Lines>
    static PYCUDA_FN void sum_tile(const In *input, int64 in_step, T *sums, uint64 length,
                                   uint32 tiles, bool vector, const Lines &lines)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        const uint64 skipped = (uint64)(blockIdx.x % tiles) * TILE;
        predecessor before(line_slots(0, 0, 0, 0, 0));
        T whole;
        Out *output = 0;
        before.has_slots = before.has_value = before.patient = false;
        before.place = 0;
        lines.find(blockIdx.x / tiles, input, output);
        input = (const In *)((const char *)input + (int64)skipped * in_step);
        scan_some<true>(*(shared *)bytes, input, in_step, output, 0, length - skipped,
                        vector, before, T(), whole);
        if (threadIdx.x == 0) {
            sums[blockIdx.x] = whole;
        }
    }

    // The sum of `count` values, for all threads.
    static PYCUDA_FN T sum_of(shared &room, const T *values, uint32 count)
    {
        const uint32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32;
        const uint32 each = (count + THREADS - 1) / THREADS;
        const uint32 used = (count + each - 1) / each; // threads
        T *totals = (T *)room.totals;
        T sum = values[0];
        for (uint32 k = 0; k < each && tid * each + k < count; k++) {
            T value = values[tid * each + k];
            put(sum, k == 0 ? value : Op::join(sum, value));
        }
        const uint32 busy = used > warp * 32 ? used - warp * 32 : 0; // lanes
        put(sum, scan_warp<Op>(sum, lane, busy));
        if (lane + 1 == (busy < 32 ? busy : 32)) {
            totals[warp] = sum;
        }
        __syncthreads();
        put(sum, totals[0]);
        for (uint32 k = 1; k * 32 < used; k++) {
            put(sum, Op::join(sum, totals[k]));
        }
        __syncthreads(); // totals[] is read
        return sum;
    }

    template <class Lines>
    static PYCUDA_FN void run_after_sums(const In *input, int64 in_step, Out *output,
                                         int64 out_step, const T *sums, uint64 length,
                                         uint32 tiles, bool vector, const T &neutral,
                                         const Lines &lines)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        const uint32 line = blockIdx.x / tiles, place = blockIdx.x % tiles;
        const uint64 skipped = (uint64)place * TILE;
        predecessor before(line_slots(0, 0, 0, 0, 0));
        T whole;
        before.has_slots = before.patient = false;
        before.has_value = place > 0;
        before.place = 0;
        if (place > 0) {
            put(before.value, sum_of(room, sums + line * tiles, place));
        }
        lines.find(line, input, output);
        input = (const In *)((const char *)input + (int64)skipped * in_step);
        output = (Out *)((char *)output + (int64)skipped * out_step);
        scan_some<false>(room, input, in_step, output, out_step, length - skipped, vector,
                         before, neutral, whole);
    }

    // A whole line: a block for each.
    template <class Lines>
    static PYCUDA_FN void walk(const In *input, int64 in_step, Out *output,
                               int64 out_step, uint64 length, bool vector,
                               const T &neutral, const Lines &lines)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        predecessor before(line_slots(0, 0, 0, 0, 0));
        T whole;
        before.has_slots = false;
        before.has_value = false;
        before.place = 0;
        before.patient = false;
        lines.find(blockIdx.x, input, output);
        for (uint64 done = 0; done < length; done += TILE) {
            if (done > 0) {
                __syncthreads(); // totals[] is read
            }
            scan_some<false>(room, input, in_step, output, out_step, length - done,
                             vector, before, neutral, whole);
            put(before.value,
                before.has_value ? Op::join(before.value, whole) : whole);
            before.has_value = true;
            input = (const In *)((const char *)input + in_step * TILE);
            output = (Out *)((char *)output + out_step * TILE);
        }
    }
};

// Lines that follow each other in memory.
template <class T>
struct packed_lines {
    uint64 length;

    PYCUDA_FN void find(uint64 line, const T *&input, T *&output) const
    {
        input += line * length;
        output += line * length;
    }
};

}  // namespace pycuda_scan

#endif
