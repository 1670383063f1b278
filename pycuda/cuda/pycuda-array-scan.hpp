// Scans of arrays: the general conversions for pycuda-scan.hpp, several short lines in a
// tile, and lines that lie side by side.
#ifndef PYCUDA_ARRAY_SCAN_HPP
#define PYCUDA_ARRAY_SCAN_HPP

#include <pycuda-array.hpp>
#include <pycuda-scan.hpp>

namespace pycuda_scan {

// -- elements in memory ---------------------------------------------------------------

template <class T, class In>
struct converted {
    static PYCUDA_FN T of(In value)
    {
        return pycuda_array::cast<T>(value);
    }
};

template <class T, class In>
struct unit {
    enum { COUNT = 16 / sizeof(T), IS_COPY = 0 };
    typedef pycuda_array::pack<T, COUNT> value_pack;

    pycuda_array::pack<In, COUNT> items;

    PYCUDA_FN void load(const In *from, uint32 number)
    {
        items.stream(from + number * COUNT);
    }
    PYCUDA_FN void store(In *to, uint32 number) const
    {
        items.store(to + number * COUNT);
    }
    PYCUDA_FN uint4 values() const
    {
        value_pack all;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            all.items[i] = converted<T, In>::of(items.items[i]);
        }
        return all.words[0];
    }
    PYCUDA_FN void take(const uint4 &values)
    {
        value_pack all;
        all.words[0] = values;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            items.items[i] = converted<In, T>::of(all.items[i]);
        }
    }
};

// -- several lines in a tile ----------------------------------------------------------

// A block scans `per` whole lines of `length` elements, which fit in a tile.
template <class In, class T, class Out, class Op, int THREADS, int EACH>
struct lines_scan {
    typedef tile_rows<T, THREADS, EACH> layout;
    enum { WARPS = THREADS / 32, ROW = layout::ROW };

    struct shared {
        char rows[THREADS * ROW];
        char totals[WARPS * sizeof(T)];
        uint32 heads[WARPS]; // 1: a line begins in the warp
    };

    // Elements of lines that are not packed: the first is element `skipped` of the block.
    template <class Lines>
    static PYCUDA_FN void gather(char *rows, const In *input, int64 step, uint32 skipped,
                                 uint32 count, uint32 length, uint64 first,
                                 const Lines &lines)
    {
#pragma unroll 4
        for (int k = 0; k < EACH; k++) {
            uint32 i = (threadIdx.x & 31) + 32 * k;
            if (i < count) {
                uint32 line = (skipped + i) / length;
                const In *from = input;
                Out *none = 0;
                lines.find(first + line, from, none);
                put(*layout::value_at(rows, i),
                    converted<T, In>::of(
                        *element_at(from, step, skipped + i - line * length)));
            }
        }
    }
    template <class Lines>
    static PYCUDA_FN void scatter(char *rows, Out *output, int64 step, uint32 skipped,
                                  uint32 count, uint32 length, uint64 first,
                                  const Lines &lines)
    {
#pragma unroll 4
        for (int k = 0; k < EACH; k++) {
            uint32 i = (threadIdx.x & 31) + 32 * k;
            if (i < count) {
                uint32 line = (skipped + i) / length;
                const In *none = 0;
                Out *to = output;
                lines.find(first + line, none, to);
                put(*element_at(to, step, skipped + i - line * length),
                    converted<Out, T>::of(*layout::value_at(rows, i)));
            }
        }
    }

    // Scan the values in the rows of this warp. `skipped` values are in the warps before.
    template <bool FULL>
    static PYCUDA_FN void scan(shared &room, char *rows, uint32 skipped, uint32 in_warp,
                               uint32 length)
    {
        const uint32 tid = threadIdx.x, lane = tid & 31, warp = tid / 32;
        const uint32 own = part_of<FULL>(in_warp, lane * EACH, EACH);
        const uint32 place = (skipped + lane * EACH) % length; // in its line
        const uint32 head = place == 0 ? 0 : length - place;   // first line's begin
        const uint32 busy = FULL ? 32 : (in_warp + EACH - 1) / EACH;
        char *row = rows + lane * ROW;
        T *totals = (T *)room.totals;
        enum { STEP = layout::STEP };
        T items[EACH], sum, before;
        uint32 at = place;
#pragma unroll
        for (int k = 0; k < EACH; k += STEP) {
            layout::get(row, k, items + k);
#pragma unroll
            for (int j = k; j < k + STEP; j++) {
                if (FULL || j < own) {
                    sum = j == 0 || at == 0 ? items[j] : Op::join(sum, items[j]);
                    items[j] = sum;
                    at = at + 1 == length ? 0 : at + 1;
                }
            }
        }
        const uint32 heads = __ballot_sync(0xffffffffu, head < own);
        const uint32 upto = heads & (0xffffffffu >> (31 - lane));
        const uint32 begin = upto ? 31 - __clz(upto) : 0;
#pragma unroll
        for (int by = 1; by < 32; by *= 2) {
            T earlier = from_before(sum, by);
            if (lane >= begin + by && lane < busy) {
                sum = Op::join(earlier, sum);
            }
        }
        if (lane + 1 == (FULL || busy > 32 ? 32 : busy)) {
            totals[warp] = sum;
            room.heads[warp] = heads != 0;
        }
        before = from_before(sum, 1);
        __syncthreads();
        T warps_before = totals[0];
#pragma unroll
        for (int k = 1; k < WARPS; k++) {
            if (k < warp) {
                warps_before =
                    room.heads[k] ? totals[k] : Op::join(warps_before, totals[k]);
            }
        }
        if (warp > 0 && (heads & ((1u << lane) - 1)) == 0) {
            before = lane > 0 ? Op::join(warps_before, before) : warps_before;
        }
#pragma unroll
        for (int k = 0; k < EACH; k += STEP) {
#pragma unroll
            for (int j = k; j < k + STEP; j++) {
                if (j < head && (FULL || j < own)) {
                    items[j] = Op::join(before, items[j]);
                }
            }
            layout::set(row, k, items + k);
        }
    }

    template <bool FULL>
    static PYCUDA_FN void scan_packed(shared &room, const In *input, Out *output,
                                      uint32 count, uint32 length, bool vector)
    {
        const uint32 skipped = threadIdx.x / 32 * 32 * EACH;
        const uint32 in_warp = part_of<FULL>(count, skipped, 32 * EACH);
        char *rows = room.rows + threadIdx.x / 32 * 32 * ROW;
        layout::template move_in<FULL>(rows, input + skipped, sizeof(In), in_warp,
                                       vector);
        __syncwarp();
        scan<FULL>(room, rows, skipped, in_warp, length);
        __syncwarp();
        layout::template move_out<FULL>(rows, output + skipped, sizeof(Out), in_warp,
                                        vector);
    }

    // Lines that follow each other in memory.
    static PYCUDA_FN void run_packed(const In *input, Out *output, uint32 length,
                                     uint64 count, uint32 per, bool vector)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        const uint64 first = (uint64)blockIdx.x * per;
        const uint64 lines = count - first < per ? count - first : per;
        const uint32 elements = (uint32)lines * length;
        input += first * length;
        output += first * length;
        if (elements == THREADS * EACH) {
            scan_packed<true>(room, input, output, elements, length, vector);
        }
        else {
            scan_packed<false>(room, input, output, elements, length, vector);
        }
    }

    template <class Lines>
    static PYCUDA_FN void run(const In *input, int64 in_step, Out *output, int64 out_step,
                              uint32 length, uint64 count, uint32 per, const Lines &lines)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        const uint64 first = (uint64)blockIdx.x * per;
        const uint64 left = count - first < per ? count - first : per;
        const uint32 elements = (uint32)left * length;
        const uint32 skipped = threadIdx.x / 32 * 32 * EACH;
        const uint32 in_warp = part_of<false>(elements, skipped, 32 * EACH);
        char *rows = room.rows + threadIdx.x / 32 * 32 * ROW;
        gather(rows, input, in_step, skipped, in_warp, length, first, lines);
        __syncwarp();
        scan<false>(room, rows, skipped, in_warp, length);
        __syncwarp();
        scatter(rows, output, out_step, skipped, in_warp, length, first, lines);
    }
};

// -- lines side by side ---------------------------------------------------------------

// A block scans 1 << `shift` lines, a thread EACH elements of a line at a time. The
// threads of a warp are at neighbouring lines, so that they read neighbouring elements.
template <class In, class T, class Out, class Op, int THREADS, int EACH>
struct columns_scan {
    enum { WARPS = THREADS / 32, W = words<T>::count, WINDOW = line_slots::WINDOW };

    struct shared {
        char totals[2][THREADS * sizeof(T)];
        uint32 ticket;
    };

    // The threads of a block: `column` is the number of the thread's line, `row` the
    // number of its run of EACH elements.
    struct place {
        uint32 shift, column, row, rows;
        uint32 lanes;    // of a warp at different lines
        uint32 in_lanes; // the thread's one
        uint32 across;   // warps side by side

        PYCUDA_FN place(uint32 shift_) : shift(shift_)
        {
            const uint32 columns = 1u << shift;
            column = threadIdx.x & (columns - 1);
            row = threadIdx.x >> shift;
            rows = THREADS >> shift;
            lanes = columns < 32 ? columns : 32;
            in_lanes = threadIdx.x & (lanes - 1);
            across = columns < 32 ? 1 : columns / 32;
        }
    };

    // The sum of the rows before the thread's, and of all rows: both of its line.
    // `own` is the sum of its elements, if `count` > 0. Rows with elements come first.
    static PYCUDA_FN void across_rows(T *totals, const place &at, T own, uint32 used,
                                      T &before, bool &has_before, T &whole)
    {
        const uint32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
        for (uint32 by = at.lanes; by < 32; by *= 2) {
            T earlier = from_before(own, by);
            if (lane >= by && at.row < used) {
                own = Op::join(earlier, own);
            }
        }
        before = from_before(own, at.lanes & 31);
        has_before = lane >= at.lanes;
        const uint32 in_warp = 32 / at.lanes; // rows
        const uint32 first = at.row - lane / at.lanes;
        const uint32 busy = part_of<false>(used, first, in_warp);
        if (lane / at.lanes + 1 == busy) {
            totals[warp * 32 + at.in_lanes] = own;
        }
        __syncthreads();
        bool has_whole = false;
        for (uint32 k = warp & (at.across - 1); k < WARPS; k += at.across) {
            if (k == warp && has_whole) {
                before = has_before ? Op::join(whole, before) : whole;
                has_before = true;
            }
            if ((k / at.across) * in_warp < used) {
                T of_warp = totals[k * 32 + at.in_lanes];
                whole = has_whole ? Op::join(whole, of_warp) : of_warp;
                has_whole = true;
            }
        }
    }

    template <bool FULL>
    static PYCUDA_FN void load(const In *input, int64 step, uint32 own, T *items, T &sum)
    {
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (FULL || k < own) {
                items[k] = converted<T, In>::of(*element_at(input, step, k));
            }
        }
        sum = items[0];
#pragma unroll
        for (int k = 1; k < EACH; k++) {
            if (FULL || k < own) {
                items[k] = sum = Op::join(sum, items[k]);
            }
        }
    }
    template <bool FULL>
    static PYCUDA_FN void store(Out *output, int64 step, uint32 own, const T *items,
                                bool has_before, T before)
    {
#pragma unroll
        for (int k = 0; k < EACH; k++) {
            if (FULL || k < own) {
                *element_at(output, step, k) = converted<Out, T>::of(
                    has_before ? Op::join(before, items[k]) : items[k]);
            }
        }
    }

    // The sum of `count` values of the line that others publish from `slot` on, W words
    // for each line of the block. All threads call; all get the sum.
    static PYCUDA_FN T hear_all(T *totals, const place &at, const volatile uint64 *slot,
                                uint32 count)
    {
        const uint32 each = (WINDOW + at.rows - 1) / at.rows;
        T sum, value;
        __syncthreads(); // totals[] is read
        for (uint32 k = 0; k < each; k++) {
            uint32 number = at.row * each + k;
            if (number < count) {
                const volatile uint64 *from =
                    slot + (((uint64)number << at.shift) + at.column) * W;
                while (!hear(from, value)) {
                    wait_some(PYCUDA_SCAN_NEXT_WAIT);
                }
                sum = k == 0 ? value : Op::join(sum, value);
            }
        }
        T before, whole;
        bool has_before;
        across_rows(totals, at, sum, (count + each - 1) / each, before, has_before,
                    whole);
        return whole;
    }

    // What the tiles of the line before tile `number` come to; see look_back().
    static PYCUDA_FN T look_back_all(shared &room, const place &at,
                                     const line_slots &slots, uint32 number, const T &own)
    {
        const uint32 window = number / WINDOW, i = number % WINDOW;
        const uint32 span = window / WINDOW, j = window % WINDOW;
        const bool tells = at.row == 0;
        const uint32 width = W << at.shift;
        T sum = own, before = own;
        if (tells) {
            tell(slots.tiles + (uint64)number * width + at.column * W, own);
        }
        if (number > 0 && gridDim.x > 1024) {
            wait_some(PYCUDA_SCAN_FIRST_WAIT);
        }
        if (i > 0) {
            sum = hear_all((T *)room.totals[0], at, slots.tiles + (uint64)(number - i) * width,
                           i);
            if (tells && i == WINDOW - 1) {
                tell(slots.windows + (uint64)window * width + at.column * W,
                     Op::join(sum, own));
            }
        }
        bool has_before = false;
        if (span > 0) {
            before = hear_all((T *)room.totals[0], at,
                              slots.spans + (uint64)(span - 1) * width, 1);
            has_before = true;
        }
        if (j > 0) {
            T windows = hear_all((T *)room.totals[0], at,
                                 slots.windows + (uint64)(window - j) * width, j);
            before = has_before ? Op::join(before, windows) : windows;
            has_before = true;
        }
        if (i > 0) {
            before = has_before ? Op::join(before, sum) : sum;
        }
        if (tells && i == WINDOW - 1 && j == WINDOW - 1) {
            tell(slots.spans + (uint64)span * width + at.column * W,
                 Op::join(before, own));
        }
        return before;
    }

    // The lines of a block: to the first element of the thread's line.
    template <class Lines>
    static PYCUDA_FN bool find(const place &at, uint64 group, uint64 count,
                               const Lines &lines, const In *&input, Out *&output)
    {
        const uint64 line = (group << at.shift) + at.column;
        if (line >= count) {
            return false;
        }
        lines.find(line, input, output);
        return true;
    }

    static PYCUDA_FN void one_tile(shared &room, const place &at, const In *input,
                                   int64 in_step, Out *output, int64 out_step,
                                   uint64 left, bool active, uint32 turn,
                                   const line_slots *slots, uint32 number,
                                   bool &has_line, T &line_sum)
    {
        const uint32 skipped = at.row * EACH;
        const uint32 used = left >= at.rows * EACH ? at.rows
                                                   : (uint32)((left + EACH - 1) / EACH);
        const uint32 own = part_of<false>(active ? left : 0, skipped, EACH);
        T items[EACH], sum, before, whole;
        bool has_before;
        input = (const In *)((const char *)input + in_step * skipped);
        output = (Out *)((char *)output + out_step * skipped);
        if (own == EACH) {
            load<true>(input, in_step, own, items, sum);
        }
        else if (own > 0) {
            load<false>(input, in_step, own, items, sum);
        }
        across_rows((T *)room.totals[turn & 1], at, sum, used, before, has_before, whole);
        if (slots) {
            line_sum = look_back_all(room, at, *slots, number, whole);
            has_line = number > 0;
        }
        if (has_line) {
            before = has_before ? Op::join(line_sum, before) : line_sum;
            has_before = true;
        }
        if (own == EACH) {
            store<true>(output, out_step, own, items, has_before, before);
        }
        else if (own > 0) {
            store<false>(output, out_step, own, items, has_before, before);
        }
        line_sum = has_line ? Op::join(line_sum, whole) : whole;
        has_line = true;
    }

    // Whole lines: a block for each group of lines.
    template <class Lines>
    static PYCUDA_FN void walk(const In *input, int64 in_step, Out *output,
                               int64 out_step, uint64 length, uint64 count, uint32 shift,
                               const Lines &lines)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        const place at(shift);
        const uint32 tile = at.rows * EACH;
        bool active = find(at, blockIdx.x, count, lines, input, output);
        bool has_line = false;
        T line_sum;
        uint32 turn = 0;
        for (uint64 done = 0; done < length; done += tile) {
            one_tile(room, at, input, in_step, output, out_step, length - done, active,
                     turn++, 0, 0, has_line, line_sum);
            input = (const In *)((const char *)input + in_step * tile);
            output = (Out *)((char *)output + out_step * tile);
        }
    }

    // One tile of a group of lines: a block takes the next one. gridDim.x is the number
    // of groups times `tiles`.
    template <class Lines>
    static PYCUDA_FN void run(const In *input, int64 in_step, Out *output, int64 out_step,
                              uint64 *slots, uint64 length, uint64 count, uint32 tiles,
                              uint32 shift, const Lines &lines)
    {
        __shared__ __align__(16) char bytes[sizeof(shared)];
        shared &room = *(shared *)bytes;
        const place at(shift);
        if (threadIdx.x == 0) {
            room.ticket = atomicAdd((uint32 *)slots, 1u);
        }
        __syncthreads();
        const uint32 groups = gridDim.x / tiles;
        const uint32 group = room.ticket % groups, number = room.ticket / groups;
        const uint64 skipped = (uint64)number * at.rows * EACH;
        const line_slots own(slots, groups, group, tiles, W << shift);
        bool active = find(at, group, count, lines, input, output);
        bool has_line = false;
        T line_sum;
        input = (const In *)((const char *)input + in_step * (int64)skipped);
        output = (Out *)((char *)output + out_step * (int64)skipped);
        one_tile(room, at, input, in_step, output, out_step, length - skipped, active, 0,
                 &own, number, has_line, line_sum);
    }

    // The same for 1 << `shift` lines whose elements are rows that follow each other in
    // memory. Tiles pass through shared memory, so that memory is read and written in
    // units of 16 bytes.
    static PYCUDA_FN void run_rows(const In *input, Out *output, uint64 *slots,
                                   uint64 length, uint32 tiles, uint32 shift)
    {
        typedef tile_rows<T, THREADS, EACH> layout;
        enum { TILE = THREADS * EACH };
        __shared__ __align__(16) char bytes[sizeof(shared)];
        __shared__ __align__(16) char values[THREADS * layout::ROW];
        shared &room = *(shared *)bytes;
        const place at(shift);
        if (threadIdx.x == 0) {
            room.ticket = atomicAdd((uint32 *)slots, 1u);
        }
        __syncthreads();
        const uint32 number = room.ticket;
        const uint64 skipped = (uint64)number * TILE;
        const uint64 left = (length << shift) - skipped;
        const uint32 count = left < TILE ? (uint32)left : TILE;
        const uint32 first = threadIdx.x / 32 * 32 * EACH;
        const uint32 in_warp = part_of<false>(count, first, 32 * EACH);
        char *rows = values + threadIdx.x / 32 * 32 * layout::ROW;
        input += skipped + first;
        output += skipped + first;
        if (count == TILE) {
            layout::template move_in<true>(rows, input, sizeof(In), in_warp, true);
        }
        else {
            layout::template move_in<false>(rows, input, sizeof(In), in_warp, true);
        }
        __syncthreads();
        const uint32 lengths = count >> shift, begin = at.row * EACH;
        const uint32 own = part_of<false>(lengths, begin, EACH);
        T sum, before, whole;
        bool has_before;
#pragma unroll 8
        for (uint32 k = 0; k < own; k++) {
            T *value = layout::value_at(values, ((begin + k) << shift) + at.column);
            sum = k == 0 ? *value : Op::join(sum, *value);
            *value = sum;
        }
        across_rows((T *)room.totals[0], at, sum, (lengths + EACH - 1) / EACH, before,
                    has_before, whole);
        const line_slots line(slots, 1, 0, tiles, W << shift);
        T line_sum = look_back_all(room, at, line, number, whole);
        if (number > 0) {
            before = has_before ? Op::join(line_sum, before) : line_sum;
            has_before = true;
        }
        if (has_before) {
#pragma unroll 8
            for (uint32 k = 0; k < own; k++) {
                T *value = layout::value_at(values, ((begin + k) << shift) + at.column);
                *value = Op::join(before, *value);
            }
        }
        __syncthreads();
        if (count == TILE) {
            layout::template move_out<true>(rows, output, sizeof(Out), in_warp, true);
        }
        else {
            layout::template move_out<false>(rows, output, sizeof(Out), in_warp, true);
        }
    }
};

}  // namespace pycuda_scan

#endif
