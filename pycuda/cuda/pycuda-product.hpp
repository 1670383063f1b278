// What generated products of matrices are made of.
//
// A block of 256 threads computes a tile of the result. Two buffers in shared memory
// hold the parts of the operands that are multiplied: while one is used, the next part
// is on its way in registers. A thread adds up a small rectangle in registers.
#ifndef PYCUDA_PRODUCT_HPP
#define PYCUDA_PRODUCT_HPP

#include <pycuda-array.hpp>

namespace pycuda_array {

// -- sums of products -----------------------------------------------------------------

struct sum_of_products {
    static PYCUDA_FN void add(float &sum, float x, float y)
    {
        sum = __fmaf_rn(x, y, sum);
    }
    static PYCUDA_FN void add(double &sum, double x, double y)
    {
        sum = __fma_rn(x, y, sum);
    }
    template <class T>
    static PYCUDA_FN void add(complex<T> &sum, complex<T> x, complex<T> y)
    {
        add(sum.re, x.re, y.re);
        add(sum.re, -x.im, y.im);
        add(sum.im, x.re, y.im);
        add(sum.im, x.im, y.re);
    }
    static PYCUDA_FN void add(uint32 &sum, uint32 x, uint32 y)
    {
        sum += x * y;
    }
    static PYCUDA_FN void add(uint64 &sum, uint64 x, uint64 y)
    {
        sum += x * y;
    }
};

// Of truth values, which are 0 and 1.
struct any_of_products {
    static PYCUDA_FN void add(uint32 &sum, uint32 x, uint32 y)
    {
        sum |= x & y;
    }
};

// -- one operand ----------------------------------------------------------------------

// The part of an operand that a tile needs: LINES rows (of the left operand) or columns
// (of the right one), DEPTH elements of each. A thread loads V elements at once: along
// the lines if ALONG, else across them.
template <class T, class Item, class Convert, int LINES, int DEPTH, bool ALONG, int V>
struct product_operand {
    enum {
        COUNT = LINES * DEPTH / 256 / V, // loads of a thread
        WIDTH = (ALONG ? DEPTH : LINES) / V,
        STEP = 256 / WIDTH,
        PAD = 16 / sizeof(Item),
        ROW = LINES + PAD // items of a row in shared memory: all lines at one depth
    };
    pack<T, V> held[COUNT];
    const char *from;
    int64 step, advance;
    int line, depth; // of the thread's first element in the part

    // `across` is the distance of lines, `along` that of the elements of a line.
    PYCUDA_FN void begin(const char *first, int64 across, int64 along)
    {
        const int run = threadIdx.x % WIDTH * V, other = threadIdx.x / WIDTH;
        line = ALONG ? other : run;
        depth = ALONG ? run : other;
        from = first + line * across + depth * along;
        step = STEP * (ALONG ? across : along);
        advance = DEPTH * along;
    }

    // Load the next part, of which `lines` and `rest` are inside the operand.
    PYCUDA_FN void fetch(int lines, uint64 rest)
    {
        const int left = (int)min(rest, (uint64)DEPTH);
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const bool inside = ALONG ? line + i * STEP < lines && depth < left
                                      : line < lines && depth + i * STEP < left;
            if (inside) {
                held[i].load((const T *)(from + i * step));
            }
            else {
#pragma unroll
                for (int w = 0; w < held[i].bytes / held[i].width; w++) {
                    held[i].words[w] = typename pack<T, V>::word();
                }
            }
        }
        from += advance;
    }

    PYCUDA_FN void store(Item *shared) const
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            pack<Item, V> items;
#pragma unroll
            for (int j = 0; j < V; j++) {
                items.items[j] = Convert::of(held[i].items[j]);
            }
            if (ALONG) {
#pragma unroll
                for (int j = 0; j < V; j++) {
                    shared[(depth + j) * ROW + line + i * STEP] = items.items[j];
                }
            }
            else {
                items.store(shared + (depth + i * STEP) * ROW + line);
            }
        }
    }
};

// -- the tile -------------------------------------------------------------------------

template <class Left, class Right, class Sum, class Item, class Z, int ROWS,
          int COLUMNS, int DEPTH>
struct product_tile {
    enum {
        WORD = 16 / sizeof(Item),
        TALL = ROWS / 16, // the rectangle of a thread
        WIDE = COLUMNS / 16,
        TALL_WORD = TALL < WORD ? TALL : WORD, // neighbours that are one load
        WIDE_WORD = WIDE < WORD ? WIDE : WORD,
        LEFT = DEPTH * Left::ROW,
        RIGHT = DEPTH * Right::ROW
    };

    // Tiles are taken in bands of 8 rows, column by column, so that tiles in progress
    // share rows and columns in the cache.
    static PYCUDA_FN void find(uint32 place, uint32 rows, uint32 columns, uint32 &row,
                               uint32 &column)
    {
        uint32 tall = min(rows, 8u);
        uint32 band = place / (tall * columns), within = place - band * tall * columns;
        uint32 height = min(tall, rows - tall * band);
        column = within / height;
        row = tall * band + within - column * height;
    }

    // The row, or column, in the tile of a thread's number i.
    template <int STEP>
    static PYCUDA_FN int place(int thread, int i)
    {
        return i / STEP * (16 * STEP) + thread * STEP + i % STEP;
    }

    template <int N, int STEP>
    static PYCUDA_FN void read(pack<Item, STEP> (&items)[N / STEP], const Item *shared,
                               int thread)
    {
#pragma unroll
        for (int i = 0; i < N / STEP; i++) {
            items[i].load(shared + i * (16 * STEP) + thread * STEP);
        }
    }

    static PYCUDA_FN void add(Item (&sums)[TALL][WIDE], const Item *left,
                              const Item *right, int y, int x)
    {
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            pack<Item, TALL_WORD> tall[TALL / TALL_WORD];
            pack<Item, WIDE_WORD> wide[WIDE / WIDE_WORD];
            read<TALL, TALL_WORD>(tall, left + k * Left::ROW, y);
            read<WIDE, WIDE_WORD>(wide, right + k * Right::ROW, x);
#pragma unroll
            for (int i = 0; i < TALL; i++) {
#pragma unroll
                for (int j = 0; j < WIDE; j++) {
                    Sum::add(sums[i][j], tall[i / TALL_WORD].items[i % TALL_WORD],
                             wide[j / WIDE_WORD].items[j % WIDE_WORD]);
                }
            }
        }
    }

    static PYCUDA_FN void multiply(const char *left, const char *right, char *result,
                                   uint64 m, uint64 n, uint64 k, int64 left_row,
                                   int64 left_column, int64 right_row,
                                   int64 right_column, int64 result_row,
                                   int64 result_column, uint32 row, uint32 column)
    {
        __shared__ __align__(16) char memory[2 * (LEFT + RIGHT) * sizeof(Item)];
        Item *const shared = (Item *)memory;
        const uint64 top = (uint64)row * ROWS, first = (uint64)column * COLUMNS;
        const int down = (int)min(m - top, (uint64)ROWS);
        const int across = (int)min(n - first, (uint64)COLUMNS);
        // A warp has 4 by 8 rectangles, so that few words of shared memory serve it.
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int y = warp / 2 * 4 + lane / 8, x = warp % 2 * 8 + lane % 8;
        Left lefts;
        Right rights;
        Item sums[TALL][WIDE];
#pragma unroll
        for (int i = 0; i < TALL; i++) {
#pragma unroll
            for (int j = 0; j < WIDE; j++) {
                sums[i][j] = cast<Item>(0);
            }
        }
        lefts.begin(left + (int64)top * left_row, left_row, left_column);
        rights.begin(right + (int64)first * right_column, right_column, right_row);
        lefts.fetch(down, k);
        rights.fetch(across, k);
        lefts.store(shared);
        rights.store(shared + LEFT);
        __syncthreads();
        int now = 0;
        for (uint64 rest = k; rest > 0;) {
            rest = rest > DEPTH ? rest - DEPTH : 0;
            if (rest > 0) {
                lefts.fetch(down, rest);
                rights.fetch(across, rest);
            }
            const Item *part = shared + now * (LEFT + RIGHT);
            add(sums, part, part + LEFT, y, x);
            if (rest > 0) {
                now = 1 - now;
                lefts.store(shared + now * (LEFT + RIGHT));
                rights.store(shared + now * (LEFT + RIGHT) + LEFT);
                __syncthreads();
            }
        }
        result += (int64)top * result_row + (int64)first * result_column;
#pragma unroll
        for (int i = 0; i < TALL; i++) {
            const int at = place<TALL_WORD>(y, i);
#pragma unroll
            for (int j = 0; j < WIDE; j++) {
                const int to = place<WIDE_WORD>(x, j);
                if (at < down && to < across) {
                    *(Z *)(result + at * result_row + to * result_column) =
                        cast<Z>(sums[i][j]);
                }
            }
        }
    }
};

} // namespace pycuda_array

#endif
