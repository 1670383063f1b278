/* The radix sort of long lines: see radix_passes.h, and cuda/pycuda-sort.hpp for the
 * kernel.
 *
 * The workspace holds, in this order: the totals of all digits; a ticket for each pass;
 * what the blocks of all passes tell each other (slots); the elements between passes.
 * Passes write in turn to two places for elements, A and B. The last pass reads A and
 * writes the results. If the elements are a result, B is where they go. */

#include "python/array/sort/radix_passes.h"

#include "driver/shape.h"
#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/driver/current_context.h"

enum {
    RADIX_BINS = 256,
    RADIX_ALIGNMENT = 256,
    RADIX_COUNT_LEAST = 2048, /* elements that make a counting block worth its work */
    RADIX_FILL_BLOCKS = 4     /* counting blocks on a multiprocessor */
};

/* The parameters of a launch, as struct pass in pycuda-sort.hpp. */
typedef struct {
    CUdeviceptr in;
    CUdeviceptr out;
    CUdeviceptr values_in;
    CUdeviceptr values_out;
    CUdeviceptr indices;
    CUdeviceptr totals;
    CUdeviceptr slots;
    CUdeviceptr ticket;
    uint64_t length;
    uint64_t words;
    uint32_t tiles;
    uint32_t place;
    uint32_t flip;
    uint32_t parts;
} radix_pass;

/* The parts of the workspace, as offsets. */
typedef struct {
    size_t word; /* of a count: bytes */
    size_t tickets;
    size_t slots;
    size_t keys[2];   /* of A and B */
    size_t values[2]; /* of A and B */
    size_t bytes;
} radix_layout;

/* Append a part of n items to the workspace; *offset is where it begins. */
static int
radix_append(radix_layout *layout, size_t n, size_t itemsize, size_t *offset)
{
    size_t bytes = 0;
    *offset = layout->bytes;
    if (pcu_mul_size(n, itemsize, &bytes) < 0 ||
        pcu_add_size(bytes, RADIX_ALIGNMENT - 1, &bytes) < 0 ||
        pcu_add_size(layout->bytes, bytes / RADIX_ALIGNMENT * RADIX_ALIGNMENT,
                     &layout->bytes) < 0) {
        PyErr_SetString(PyExc_OverflowError,
                        "the sort needs more memory than an address can reach");
        return -1;
    }
    return 0;
}

static int
radix_lay_out(const pcu_line_sort *sort, radix_layout *layout)
{
    size_t n = sort->length * sort->lines;
    size_t rows = sort->lines * sort->digits; /* a total for each digit */
    size_t totals = 0;
    memset(layout, 0, sizeof(*layout));
    layout->word = sort->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    if (radix_append(layout, rows * RADIX_BINS, layout->word, &totals) < 0 ||
        radix_append(layout, sort->digits, sizeof(uint32_t), &layout->tickets) < 0 ||
        radix_append(layout, rows * sort->tiles * RADIX_BINS, layout->word,
                     &layout->slots) < 0) {
        return -1;
    }
    for (size_t k = 0; k < 2 && sort->digits > k + 1; k++) {
        bool is_target = k == 1 && sort->keys;
        if (!is_target &&
            radix_append(layout, n, sort->itemsize, &layout->keys[k]) < 0) {
            return -1;
        }
        if (sort->indices &&
            radix_append(layout, n, layout->word, &layout->values[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_radix_passes_plan(pcu_line_sort *sort)
{
    radix_layout layout;
    size_t tile = (size_t)sort->threads * sort->items;
    sort->tiles = (sort->length + tile - 1) / tile;
    if (radix_lay_out(sort, &layout) < 0) {
        return -1;
    }
    sort->workspace = layout.bytes;
    return 0;
}

static uint32_t
radix_flip(const pcu_line_sort *sort)
{
    if (sort->descending) {
        return RADIX_BINS - 1;
    }
    return 0;
}

/* How many blocks count the digits of a line. */
static size_t
radix_parts(const pcu_line_sort *sort, const pcu_context *ctx)
{
    size_t fill = (size_t)ctx->rec.limits.multiprocessors * RADIX_FILL_BLOCKS;
    size_t most = (sort->length + RADIX_COUNT_LEAST - 1) / RADIX_COUNT_LEAST;
    return Py_MAX(Py_MIN(fill / sort->lines, most), 1);
}

static int
radix_launch(const pcu_line_sort *sort, CUfunction kernel, const radix_pass *pass,
             size_t blocks, unsigned int shared, CUstream stream)
{
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = pcu_kernel_put(&params, pass, sizeof(*pass), sizeof(uint64_t));
    if (rc == 0) {
        rc = pcu_kernel_launch_shared(sort->st, kernel, blocks, sort->threads, shared,
                                      stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Enqueue the count of all digits. It sets the slots to 0. */
static int
radix_count(const pcu_line_sort *sort, const pcu_context *ctx,
            const radix_layout *layout, CUfunction kernel,
            const pcu_sort_memory *memory, CUstream stream)
{
    int rc;
    size_t parts = radix_parts(sort, ctx);
    radix_pass pass = {.in = memory->source,
                       .totals = memory->workspace,
                       .slots = memory->workspace + layout->slots,
                       .length = sort->length,
                       .words = sort->lines * sort->digits * sort->tiles * RADIX_BINS,
                       .flip = radix_flip(sort),
                       .parts = (uint32_t)parts};
    PCU_CALL(rc, sort->st, MemsetD32Async,
             (memory->workspace, 0, layout->slots / sizeof(uint32_t), stream));
    if (rc < 0) {
        return -1;
    }
    return radix_launch(sort, kernel, &pass, parts * sort->lines, 0, stream);
}

int
pcu_radix_passes_launch(const pcu_line_sort *sort, const pcu_context *ctx,
                        const pcu_sort_kernels *kernels, const pcu_sort_memory *memory,
                        CUstream stream)
{
    radix_layout layout;
    if (radix_lay_out(sort, &layout) < 0 ||
        radix_count(sort, ctx, &layout, kernels->count, memory, stream) < 0) {
        return -1;
    }
    size_t row = RADIX_BINS * layout.word;
    CUdeviceptr room = memory->workspace;
    CUdeviceptr keys[2] = {room + layout.keys[0], room + layout.keys[1]};
    CUdeviceptr values[2] = {room + layout.values[0], room + layout.values[1]};
    if (sort->keys) {
        keys[1] = memory->keys;
    }
    radix_pass pass = {.in = memory->source,
                       .length = sort->length,
                       .tiles = (uint32_t)sort->tiles,
                       .flip = radix_flip(sort)};
    for (size_t place = 0; place < sort->digits; place++) {
        size_t side = (sort->digits - place) % 2; /* the pass before the last: A */
        pass.place = (uint32_t)place;
        pass.totals = room + place * row;
        pass.ticket = room + layout.tickets + place * sizeof(uint32_t);
        pass.slots = room + layout.slots + place * sort->lines * sort->tiles * row;
        pass.out = keys[side];
        pass.values_out = values[side];
        if (place + 1 == sort->digits) {
            pass.out = memory->keys;
            pass.indices = memory->indices;
        }
        if (radix_launch(sort, kernels->sort, &pass, sort->tiles * sort->lines,
                         sort->shared, stream) < 0) {
            return -1;
        }
        pass.in = pass.out;
        if (sort->indices) {
            pass.values_in = pass.values_out;
        }
    }
    return 0;
}
