/* The layout of a scan: see scan_layout.h. */

#include "python/array/ops/scan_layout.h"

#include "python/array/ops/kernel_request.h"

enum {
    SCAN_THREADS = 256,
    SCAN_LONG_THREADS = 512, /* of a block that scans a long line alone */
    SCAN_THREAD_BYTES = 128, /* values of a thread in a large scan */
    SCAN_SMALL_BYTES = 32,   /* the same in a small one */
    SCAN_COLUMN_BYTES = 64,  /* the same in columns, unless the step is known */
    SCAN_MOST_EACH = 32,     /* elements of a thread */
    SCAN_UNIT = 16,          /* bytes of a unit; see pycuda-array-scan.hpp */
    SCAN_SECTOR = 32,        /* bytes that memory moves at once */
    SCAN_WINDOW = 32,        /* tiles of a window; see pycuda-array-scan.hpp */
    SCAN_MOST_SUMS = 1024,   /* tiles of a scan by two kernels */
    SCAN_WALK_TILES = 4,     /* of a line that one block scans though few lines exist */
    SCAN_SHIFT = 5,          /* log2 of the lines of a block, if the lines are long */
    SCAN_MOST_SHIFT = 8,
    SCAN_SHORT_STEP = 512, /* bytes */
    SCAN_MANY_TILES = 16   /* for a multiprocessor */
};

static size_t
scan_step(ptrdiff_t stride)
{
    return (size_t)Py_ABS(stride);
}

static size_t
scan_ceil(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

void
pcu_scan_layout_fill(pcu_scan_layout *layout, int ndim, const size_t *shape,
                     const ptrdiff_t *in_strides, const ptrdiff_t *out_strides,
                     int axis)
{
    pcu_reduction_axes *lines = &layout->lines;
    lines->ndim = 0;
    lines->count = 1;
    for (int i = 0; i < ndim; i++) {
        if (i == axis) {
            layout->length = shape[i];
            layout->steps[0] = in_strides[i];
            layout->steps[1] = out_strides[i];
            continue;
        }
        lines->shape[lines->ndim] = shape[i];
        lines->strides[0][lines->ndim] = in_strides[i];
        lines->strides[1][lines->ndim] = out_strides[i];
        lines->count *= shape[i];
        lines->ndim++;
    }
    lines->ndim = pcu_collapse(lines->ndim, lines->shape, 2, lines->strides[0]);
}

/* Whether the neighbour of an element is on another line. */
static bool
scan_is_across(const pcu_scan_layout *layout, int side)
{
    const pcu_reduction_axes *lines = &layout->lines;
    for (int k = 0; k < lines->ndim; k++) {
        if (scan_step(lines->strides[side][k]) < scan_step(layout->steps[side])) {
            return true;
        }
    }
    return false;
}

bool
pcu_scan_layout_is_transposed(const pcu_scan_layout *layout)
{
    return layout->length > 1 && scan_is_across(layout, 0) != scan_is_across(layout, 1);
}

/* Whether the lines follow each other without gaps on both sides. */
static bool
scan_is_packed(const pcu_scan_layout *layout)
{
    const pcu_reduction_axes *lines = &layout->lines;
    for (int side = 0; side < 2; side++) {
        ptrdiff_t size = (ptrdiff_t)layout->itemsizes[side];
        if (layout->steps[side] != size || lines->ndim > 1 ||
            (lines->ndim == 1 &&
             lines->strides[side][0] != size * (ptrdiff_t)layout->length)) {
            return false;
        }
    }
    return true;
}

/* Whether both sides are packed along the lines, and every line, or every `per` lines,
 * begin at a multiple of a unit. */
static bool
scan_is_vector(const pcu_scan_layout *layout, size_t size, size_t per)
{
    for (int side = 0; side < 2; side++) {
        size_t item = layout->itemsizes[side];
        size_t unit = SCAN_UNIT / size * item;
        uint64_t bits = layout->addresses[side];
        if (layout->steps[side] != (ptrdiff_t)item) {
            return false;
        }
        for (int k = 0; k < layout->lines.ndim; k++) {
            bits |= (uint64_t)layout->lines.strides[side][k] * per;
        }
        if (bits % Py_MIN(unit, SCAN_UNIT) != 0) {
            return false;
        }
    }
    return true;
}

/* The elements of a thread: `bytes` of values, but whole units. */
static unsigned int
scan_each(size_t bytes, size_t size)
{
    size_t each = Py_MIN(bytes / size, SCAN_MOST_EACH);
    return (unsigned int)Py_MAX(each, SCAN_UNIT / size);
}

size_t
pcu_scan_slots(size_t groups, size_t tiles, size_t words)
{
    size_t windows = scan_ceil(tiles, SCAN_WINDOW);
    return 1 + groups * (tiles + windows + scan_ceil(windows, SCAN_WINDOW)) * words;
}

/* Several lines in each block. */
static void
scan_cut_short(const pcu_scan_layout *layout, size_t size, size_t sms,
               pcu_scan_cut *cut)
{
    size_t lines = layout->lines.count;
    size_t unit = SCAN_UNIT / size;
    size_t small = (size_t)scan_each(SCAN_SMALL_BYTES, size) * SCAN_THREADS;
    if (layout->length * lines <= 2 * sms * small && 2 * layout->length <= small) {
        cut->each = scan_each(SCAN_SMALL_BYTES, size);
    }
    size_t per = (size_t)cut->threads * cut->each / layout->length;
    if (per > unit) {
        per -= per % unit; /* then each block begins at a multiple of a unit */
    }
    cut->variant = PCU_VARIANT_SCAN_LINES;
    cut->width = (unsigned int)per;
    cut->is_packed = scan_is_packed(layout);
    cut->vector = cut->is_packed && scan_is_vector(layout, size, per);
    cut->blocks = scan_ceil(lines, per);
}

/* A block for each line, or for each tile of a line. */
static void
scan_cut_long(const pcu_scan_layout *layout, size_t size, size_t sms, size_t cache,
              pcu_scan_cut *cut)
{
    size_t lines = layout->lines.count;
    size_t tiles = scan_ceil(layout->length, (size_t)cut->threads * cut->each);
    cut->vector = scan_is_vector(layout, size, 1);
    if (lines >= 2 * sms || tiles <= SCAN_WALK_TILES) {
        cut->variant = PCU_VARIANT_SCAN_WALK;
        cut->blocks = lines;
        if (lines < sms && tiles > 1 && cut->each * size == SCAN_THREAD_BYTES) {
            cut->threads = SCAN_LONG_THREADS;
            cut->each /= 2;
        }
        return;
    }
    cut->tiles = tiles;
    cut->blocks = lines * tiles;
    if (cut->blocks <= SCAN_MOST_SUMS &&
        layout->length * lines * layout->itemsizes[0] <= cache / 2) {
        cut->variant = PCU_VARIANT_SCAN_AFTER_SUMS;
        cut->sums = cut->blocks;
        return;
    }
    cut->variant = PCU_VARIANT_SCAN_LOOK_BACK;
    cut->slots = pcu_scan_slots(lines, tiles, scan_ceil(size, 4));
}

static unsigned int
scan_log2(size_t n)
{
    unsigned int shift = 0;
    while (shift < SCAN_MOST_SHIFT && ((size_t)1 << shift) < n) {
        shift++;
    }
    return shift;
}

/* The steps of both sides if they are equal and short: rows of few columns. A kernel
 * that is made for them needs fewer registers. 0 for others. */
static unsigned int
scan_short_step(const pcu_scan_layout *layout)
{
    ptrdiff_t step = layout->steps[0];
    if (step != layout->steps[1] || step <= 0 || step > SCAN_SHORT_STEP) {
        return 0;
    }
    return (unsigned int)step;
}

/* Whether the elements of the lines are rows of a power of two, which follow each other
 * on both sides and begin at a multiple of a unit. Rows of a sector or more need no
 * shared memory to be read well. */
static bool
scan_is_rows(const pcu_scan_layout *layout, size_t size)
{
    size_t lines = layout->lines.count;
    if (layout->lines.ndim != 1 || lines > (1 << SCAN_SHIFT) ||
        (lines & (lines - 1)) != 0) {
        return false;
    }
    for (int side = 0; side < 2; side++) {
        size_t item = layout->itemsizes[side];
        size_t unit = SCAN_UNIT / size * item;
        if (lines * item >= SCAN_SECTOR ||
            layout->lines.strides[side][0] != (ptrdiff_t)item ||
            layout->steps[side] != (ptrdiff_t)(lines * item) ||
            layout->addresses[side] % Py_MIN(unit, SCAN_UNIT) != 0) {
            return false;
        }
    }
    return true;
}

/* Rows of few lines: a block for each tile. Return true if there are many tiles. */
static bool
scan_cut_rows(const pcu_scan_layout *layout, size_t size, pcu_scan_cut *cut)
{
    size_t tile = (size_t)cut->threads * cut->each;
    size_t tiles = scan_ceil(layout->length * layout->lines.count, tile);
    if (tiles <= SCAN_WALK_TILES) {
        return false;
    }
    cut->variant = PCU_VARIANT_SCAN_ROWS_LOOK_BACK;
    cut->is_packed = true;
    cut->width = scan_log2(layout->lines.count);
    cut->tiles = tiles;
    cut->blocks = tiles;
    cut->slots = pcu_scan_slots(1, tiles, scan_ceil(size, 4) << cut->width);
    return true;
}

/* Neighbouring threads at neighbouring lines. */
static void
scan_cut_columns(const pcu_scan_layout *layout, size_t size, size_t sms,
                 pcu_scan_cut *cut)
{
    size_t lines = layout->lines.count;
    if (scan_is_rows(layout, size) && scan_cut_rows(layout, size, cut)) {
        return;
    }
    if (lines * layout->length <= sms * cut->threads * cut->each) {
        cut->each = scan_each(SCAN_SMALL_BYTES, size);
    }
    /* the rows of threads that have elements, and so the lines for the other threads */
    cut->step = scan_short_step(layout);
    if (cut->step == 0) {
        cut->each = Py_MIN(cut->each, scan_each(SCAN_COLUMN_BYTES, size));
    }
    unsigned int rows = scan_log2(scan_ceil(layout->length, cut->each));
    unsigned int shift = Py_MAX(SCAN_SHIFT, SCAN_MOST_SHIFT - rows);
    cut->width = Py_MIN(shift, scan_log2(lines));
    size_t groups = scan_ceil(lines, (size_t)1 << cut->width);
    size_t tile = (size_t)(cut->threads >> cut->width) * cut->each;
    size_t tiles = scan_ceil(layout->length, tile);
    if (groups >= 2 * sms || tiles <= SCAN_WALK_TILES) {
        cut->variant = PCU_VARIANT_SCAN_COLUMNS_WALK;
        cut->blocks = groups;
        return;
    }
    cut->variant = PCU_VARIANT_SCAN_COLUMNS_LOOK_BACK;
    if (cut->step != 0 && groups * tiles >= SCAN_MANY_TILES * sms) {
        cut->each *= 2; /* fewer blocks wait */
        tiles = scan_ceil(layout->length, 2 * tile);
    }
    cut->tiles = tiles;
    cut->blocks = groups * tiles;
    cut->slots = pcu_scan_slots(groups, tiles, scan_ceil(size, 4) << cut->width);
}

void
pcu_scan_layout_cut(const pcu_scan_layout *layout, size_t size,
                    const pcu_device_limits *limits, pcu_scan_cut *cut)
{
    size_t sms = (size_t)limits->multiprocessors;
    memset(cut, 0, sizeof(*cut));
    cut->threads = SCAN_THREADS;
    cut->each = scan_each(SCAN_THREAD_BYTES, size);
    cut->tiles = 1;
    if (scan_is_across(layout, 1)) {
        scan_cut_columns(layout, size, sms, cut);
    }
    else if (layout->lines.count > 1 &&
             2 * layout->length <= (size_t)cut->threads * cut->each) {
        scan_cut_short(layout, size, sms, cut);
    }
    else {
        scan_cut_long(layout, size, sms, (size_t)limits->cache, cut);
    }
}
