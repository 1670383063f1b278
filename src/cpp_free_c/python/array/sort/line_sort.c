/* Sorts of packed lines: see line_sort.h. */

#include "python/array/sort/line_sort.h"

#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/sort/radix_passes.h"

enum {
    SORT_LANES_LONGEST = 128,          /* line that lanes of a warp sort */
    SORT_LANES_THREADS = 256,          /* of their block */
    SORT_BLOCK_LONGEST = 4096,         /* line that a block sorts */
    SORT_BLOCK_LONGEST_OF_MANY = 8192, /* the same if there are many */
    SORT_BLOCK_BYTES = 32768,          /* of a line that a block sorts, at most */
    SORT_MANY_LINES = 64,
    SORT_PASS_THREADS = 256, /* of a block */
    SORT_PASS_BYTES = 29696, /* of its elements in shared memory */
    SORT_PASS_MOST = 24,     /* elements of a thread */
    SORT_PASS_FEW = 8,
    SORT_PASS_FEW_ELEMENTS = 1 << 19,   /* of all lines */
    SORT_NARROW_LENGTH = (1 << 30) - 1, /* longest line whose counts have 32 bits */
    SORT_WARP = 32
};

/* The block for lines up to a length. */
typedef struct {
    size_t length;
    unsigned int threads;
    unsigned int items;
} sort_shape;

static const sort_shape sort_shapes[] = {
    {256, 64, 4},    {512, 64, 8},    {1024, 64, 16},
    {2048, 128, 16}, {4096, 256, 16}, {8192, 512, 16},
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
    const sort_shape *shape = sort_shapes;
    while (shape->length < sort->length) {
        shape++;
    }
    sort->threads = shape->threads;
    sort->items = shape->items;
}

/* The longest line that a block sorts. A block needs more time than several blocks do
 * for a longer one, but does not read and write it for each digit. */
static size_t
sort_block_longest(const pcu_line_sort *sort)
{
    size_t longest = SORT_BLOCK_LONGEST;
    if (sort->lines >= SORT_MANY_LINES) {
        longest = SORT_BLOCK_LONGEST_OF_MANY;
    }
    return Py_MIN(longest, SORT_BLOCK_BYTES / sort->itemsize);
}

/* The elements of a thread in a pass, a multiple of 4: as many as the shared memory of
 * a block holds, or few if there are not enough blocks to fill the device. */
static unsigned int
sort_pass_items(const pcu_line_sort *sort)
{
    size_t each = sort->itemsize;
    size_t most = SORT_PASS_MOST;
    if (sort->indices) {
        each += sort->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    }
    if (sort->lines * sort->length <= SORT_PASS_FEW_ELEMENTS) {
        most = SORT_PASS_FEW;
    }
    size_t fit = SORT_PASS_BYTES / SORT_PASS_THREADS / each;
    return (unsigned int)(Py_MIN(fit, most) / 4 * 4);
}

static int
sort_plan_passes(pcu_line_sort *sort)
{
    sort->wide = sort->length > SORT_NARROW_LENGTH;
    sort->threads = SORT_PASS_THREADS;
    sort->items = sort_pass_items(sort);
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
    if (sort->length <= sort_block_longest(sort)) {
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

/* -- the kernel ----------------------------------------------------------------------
 */

int
pcu_line_sort_get_kernel(const pcu_line_sort *sort, pcu_context *ctx,
                         CUfunction *kernel)
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
    key.variant = (uint8_t)variants[sort->method];
    key.tile = (uint16_t)sort->threads;
    key.vector = (uint8_t)sort->items;
    key.partial = (uint8_t)sort->indices;
    return pcu_kernel_table_get(sort->st, ctx, &key, kernel);
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
                     CUfunction kernel, const pcu_sort_memory *memory, CUstream stream)
{
    pcu_argument_buffer params;
    size_t blocks = sort->lines;
    unsigned int threads = sort->threads;
    if (sort->method == PCU_SORT_BY_PASSES) {
        return pcu_radix_passes_launch(sort, ctx, kernel, memory, stream);
    }
    if (sort->method == PCU_SORT_BY_LANES) {
        size_t in_block = SORT_LANES_THREADS / sort->threads;
        blocks = (sort->lines + in_block - 1) / in_block;
        threads = SORT_LANES_THREADS;
    }
    pcu_argument_buffer_init(&params);
    int rc = sort_pack(sort, memory, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(sort->st, kernel, blocks, threads, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}
