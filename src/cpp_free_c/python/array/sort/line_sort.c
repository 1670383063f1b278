/* Sorts of packed lines: see line_sort.h. */

#include "python/array/sort/line_sort.h"

#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/sort/radix_passes.h"
#include "python/support/driver_call.h"

enum {
    SORT_LANES_LONGEST = 256,           /* line that lanes of a warp sort */
    SORT_LANES_THREADS = 256,           /* of their block */
    SORT_BLOCK_LONGEST = 8192,          /* line that a block sorts */
    SORT_BLOCK_BYTES = 32768,           /* of the line, at most */
    SORT_PASS_SHARED = 108 << 10,       /* dynamic shared memory of a block, at most */
    SORT_PASS_STATIC = 3 << 10,         /* more than the static shared memory */
    SORT_COUNT_BYTES = 1024,            /* of digit_counts in pycuda-sort.hpp */
    SORT_NARROW_LENGTH = (1 << 30) - 1, /* longest line whose counts have 32 bits */
    SORT_WARP = 32
};

/* A block for lines up to a length. */
typedef struct {
    size_t length;
    unsigned int threads;
    unsigned int items; /* of a thread, at most */
} sort_shape;

static const sort_shape sort_shapes[] = {
    {512, 64, 8}, {1024, 64, 16}, {2048, 128, 16}, {4096, 256, 16}, {8192, 512, 16},
};

/* The block of a radix sort of so many elements, of all lines: the fastest ones on an
 * H200. With few elements large tiles would leave processors without work. */
static const sort_shape sort_pass_shapes[] = {
    {1 << 18, 256, 8},
    {1 << 20, 256, 16},
    {SIZE_MAX, 256, 32},
};
/* The same for elements of more than 4 bytes, or with indices. */
static const sort_shape sort_pass_shapes_of_large[] = {
    {1 << 18, 256, 8},
    {1 << 20, 384, 12},
    {SIZE_MAX, 384, 20},
};

/* -- the plan ---------------------------------------------------------------------- */

/* The lanes of a line and the elements of each, powers of two: the fastest ones on an
 * H200. */
static void
sort_plan_lanes(pcu_line_sort *sort)
{
    size_t room = 4;
    while (room < sort->length) {
        room *= 2;
    }
    sort->items = room <= 32 ? 4 : 8;
    sort->threads = (unsigned int)room / sort->items;
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

static const sort_shape *
sort_pass_shape_for(const pcu_line_sort *sort)
{
    const sort_shape *shape = sort_pass_shapes;
    if (sort->indices || sort->itemsize > sizeof(uint32_t)) {
        shape = sort_pass_shapes_of_large;
    }
    while (shape->length < sort->lines * sort->length) {
        shape++;
    }
    return shape;
}

/* Choose the elements of a thread, a multiple of 4: as many as the shared memory of a
 * block holds. */
static void
sort_plan_tile(pcu_line_sort *sort, size_t most_shared)
{
    const sort_shape *shape = sort_pass_shape_for(sort);
    size_t counts = (size_t)(shape->threads / SORT_WARP) * SORT_COUNT_BYTES;
    size_t each = sort->itemsize;
    if (sort->indices) {
        each += sort->wide ? sizeof(uint64_t) : sizeof(uint32_t);
    }
    size_t room = Py_MIN(most_shared, SORT_PASS_SHARED) - counts;
    size_t items = Py_MIN(room / shape->threads / each, shape->items) / 4 * 4;
    sort->threads = shape->threads;
    sort->items = (unsigned int)items;
    sort->shared = (unsigned int)(counts + shape->threads * items * each);
}

static int
sort_plan_passes(pcu_line_sort *sort, const pcu_context *ctx)
{
    int shared = 0;
    int rc;
    PCU_CALL(rc, sort->st, DeviceGetAttribute,
             (&shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
              ctx->rec.device));
    if (rc < 0) {
        return -1;
    }
    sort->wide = sort->length > SORT_NARROW_LENGTH;
    sort_plan_tile(sort, (size_t)shared - SORT_PASS_STATIC);
    return pcu_radix_passes_plan(sort);
}

int
pcu_line_sort_plan(pcu_line_sort *sort, const pcu_context *ctx)
{
    bool is_complex = pcu_type_is_complex(sort->type);
    sort->itemsize = pcu_types[sort->type].size;
    sort->digits = sort->itemsize + (size_t)is_complex;
    sort->wide = false;
    sort->tiles = 0;
    sort->workspace = 0;
    if (sort->length <= SORT_LANES_LONGEST && !is_complex) {
        sort->method = PCU_SORT_BY_LANES;
        sort_plan_lanes(sort);
        return 0;
    }
    if (sort->length <= Py_MIN(SORT_BLOCK_LONGEST, SORT_BLOCK_BYTES / sort->itemsize)) {
        sort->method = PCU_SORT_BY_BLOCK;
        sort_plan_block(sort);
        return 0;
    }
    sort->method = PCU_SORT_BY_PASSES;
    return sort_plan_passes(sort, ctx);
}

bool
pcu_line_sort_is_in_place(const pcu_line_sort *sort)
{
    if (sort->indices) {
        return false;
    }
    return sort->method != PCU_SORT_BY_PASSES || sort->digits % 2 == 0;
}

/* -- the kernel ----------------------------------------------------------------------
 */

static void
sort_fill_key(const pcu_line_sort *sort, int variant, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_SORT;
    key->operation = PCU_OP_COPY;
    key->inputs = 1;
    key->types[0] = (uint8_t)sort->type;
    key->wide = (uint8_t)sort->wide;
    key->variant = (uint8_t)variant;
    key->tile = (uint16_t)sort->threads;
}

int
pcu_line_sort_get_kernels(const pcu_line_sort *sort, pcu_context *ctx,
                          pcu_sort_kernels *kernels)
{
    static const int variants[] = {PCU_VARIANT_SORT_LANES, PCU_VARIANT_SORT_BLOCK,
                                   PCU_VARIANT_SORT_PASS};
    pcu_kernel_key keys[2];
    CUfunction found[2];
    size_t count = 1;
    sort_fill_key(sort, variants[sort->method], &keys[0]);
    keys[0].vector = (uint8_t)sort->items;
    keys[0].partial = (uint8_t)sort->indices;
    if (sort->method == PCU_SORT_BY_PASSES) {
        sort_fill_key(sort, PCU_VARIANT_SORT_COUNT, &keys[1]);
        count = 2;
    }
    int rc = pcu_kernel_table_get_all(sort->st, ctx, count, keys, found);
    if (rc != 0) {
        return rc;
    }
    kernels->sort = found[0];
    if (sort->method == PCU_SORT_BY_PASSES) {
        kernels->count = found[1];
        PCU_CALL(rc, sort->st, FuncSetAttribute,
                 (kernels->sort, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                  (int)sort->shared));
    }
    return rc;
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
