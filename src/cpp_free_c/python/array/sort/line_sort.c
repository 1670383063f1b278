/* Sorts of packed lines: see line_sort.h. */

#include "python/array/sort/line_sort.h"

#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/sort/radix_passes.h"

enum {
    SORT_LANES_LONGEST = 128,           /* line that lanes of a warp sort */
    SORT_LANES_THREADS = 256,           /* of their block */
    SORT_BLOCK_BYTES = 65536,           /* of the longest line that a block sorts */
    SORT_FEW_LINES = 64,                /* lines that leave multiprocessors idle */
    SORT_NARROW_LENGTH = (1 << 30) - 1, /* longest line whose counts have 32 bits */
    SORT_WARP = 32
};

/* Block sizes for lines up to a length. */
typedef struct {
    size_t length;
    unsigned int threads;
    unsigned int items;
} sort_shape;

/* Many lines: few threads for each, so that several blocks share a multiprocessor. */
static const sort_shape sort_shapes_many[] = {
    {256, 64, 4},    {512, 128, 4},   {1024, 128, 8},    {2048, 256, 8},
    {4096, 256, 16}, {8192, 512, 16}, {16384, 1024, 16},
};

/* Few lines: many threads for each, so that a line is ready soon. */
static const sort_shape sort_shapes_few[] = {
    {256, 64, 4},    {512, 128, 4},   {1024, 256, 4},    {2048, 512, 4},
    {4096, 1024, 4}, {8192, 1024, 8}, {16384, 1024, 16},
};

/* -- the plan ---------------------------------------------------------------------- */

/* The lanes of a line and the elements of each, powers of two. */
static void
sort_plan_lanes(pcu_line_sort *sort)
{
    size_t room = 4;
    while (room < sort->length) {
        room *= 2;
    }
    sort->threads = (unsigned int)Py_MIN(room, SORT_WARP);
    sort->items = (unsigned int)(room / sort->threads);
}

static void
sort_plan_block(pcu_line_sort *sort)
{
    const sort_shape *shape = sort_shapes_many;
    if (sort->lines < SORT_FEW_LINES) {
        shape = sort_shapes_few;
    }
    while (shape->length < sort->length) {
        shape++;
    }
    sort->threads = shape->threads;
    sort->items = shape->items;
}

static int
sort_plan_passes(pcu_line_sort *sort)
{
    sort->wide = sort->length > SORT_NARROW_LENGTH;
    sort->threads = 512;
    sort->items = 16;
    if (sort->itemsize == 8) {
        sort->items = 8;
    }
    if (sort->itemsize == 16) {
        sort->items = 4;
    }
    return pcu_radix_passes_plan(sort);
}

int
pcu_line_sort_plan(pcu_line_sort *sort)
{
    int is_complex = pcu_type_is_complex(sort->type);
    sort->itemsize = pcu_types[sort->type].size;
    sort->digits = sort->itemsize + (size_t)is_complex;
    sort->wide = 0;
    sort->tiles = 0;
    sort->workspace = 0;
    if (sort->length <= SORT_LANES_LONGEST && !is_complex) {
        sort->method = PCU_SORT_BY_LANES;
        sort_plan_lanes(sort);
        return 0;
    }
    if (sort->length <= SORT_BLOCK_BYTES / Py_MAX(sort->itemsize, 4)) {
        sort->method = PCU_SORT_BY_BLOCK;
        sort_plan_block(sort);
        return 0;
    }
    sort->method = PCU_SORT_BY_PASSES;
    return sort_plan_passes(sort);
}

int
pcu_line_sort_is_in_place(const pcu_line_sort *sort)
{
    if (sort->indices) {
        return 0;
    }
    return sort->method != PCU_SORT_BY_PASSES || sort->digits % 2 == 0;
}

/* -- kernels ----------------------------------------------------------------------- */

int
pcu_line_sort_get_kernels(const pcu_line_sort *sort, pcu_context *ctx,
                          pcu_sort_kernels *kernels)
{
    static const int variants[] = {PCU_VARIANT_SORT_LANES, PCU_VARIANT_SORT_BLOCK,
                                   PCU_VARIANT_SORT_PASS};
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_SORT;
    key.operation = PCU_OP_COPY;
    key.inputs = 1;
    key.types[0] = (uint8_t)sort->type;
    key.wide = (uint8_t)sort->wide;
    if (sort->method == PCU_SORT_BY_PASSES) {
        key.variant = PCU_VARIANT_SORT_HISTOGRAM;
        int rc = pcu_kernel_table_get(sort->st, ctx, &key, &kernels->histogram);
        if (rc != 0) {
            return rc;
        }
    }
    key.variant = (uint8_t)variants[sort->method];
    key.tile = (uint16_t)sort->threads;
    key.vector = (uint8_t)sort->items;
    key.partial = (uint8_t)sort->indices;
    return pcu_kernel_table_get(sort->st, ctx, &key, &kernels->sort);
}

/* The addresses, the length and the number of lines, the direction. */
static int
sort_pack(const pcu_line_sort *sort, const pcu_sort_memory *memory,
          pcu_argument_buffer *params)
{
    uint32_t flip = sort->descending ? UINT8_MAX : 0;
    if (pcu_kernel_put_address(params, memory->source) < 0 ||
        pcu_kernel_put_address(params, memory->keys) < 0 ||
        pcu_kernel_put_address(params, memory->indices) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)sort->length) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)sort->lines) < 0) {
        return -1;
    }
    return pcu_kernel_put(params, &flip, sizeof(flip), sizeof(flip));
}

int
pcu_line_sort_launch(const pcu_line_sort *sort, const pcu_context *ctx,
                     const pcu_sort_kernels *kernels, const pcu_sort_memory *memory,
                     CUstream stream)
{
    pcu_argument_buffer params;
    size_t blocks = sort->lines;
    unsigned int threads = sort->threads;
    if (sort->method == PCU_SORT_BY_PASSES) {
        return pcu_radix_passes_launch(sort, ctx, kernels, memory, stream);
    }
    if (sort->method == PCU_SORT_BY_LANES) {
        size_t in_block = SORT_LANES_THREADS / sort->threads;
        blocks = (sort->lines + in_block - 1) / in_block;
        threads = SORT_LANES_THREADS;
    }
    pcu_argument_buffer_init(&params);
    int rc = sort_pack(sort, memory, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(sort->st, kernels->sort, blocks, threads, stream,
                               &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}
