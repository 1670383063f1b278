/* Elementwise loops by tiles: see elementwise_tiles.h.
 *
 * The outputs are packed along the fastest axis, and at least one input is packed along
 * another axis. A block computes a square tile of the two axes. It reads runs of such a
 * turned input and passes them through shared memory. The other operands are read and
 * written in the order of the outputs. */

#include "python/array/ops/elementwise_tiles.h"

#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"

enum {
    TILES_THREADS = 256,
    TILES_WIDE = 64,   /* the side of a tile of elements of up to 2 bytes */
    TILES_NARROW = 32, /* the side of other tiles: on an H200, x + y.T of float32 takes
                        * 880 us with it and 1,070 with 64 */
    TILES_TURNED_MOST = 2 /* the inputs that fit shared memory */
};

typedef struct {
    const pcu_elementwise_loop *loop;
    int across;  /* the axis along which turned inputs are packed */
    int along;   /* the fastest axis */
    int turned;  /* how many inputs are turned */
    size_t side; /* of a tile, in elements */
    bool is_turned[PCU_OPERANDS_MAX];
} tiles_plan;

static bool
tiles_is_run(const pcu_elementwise_loop *loop, int operand, int axis)
{
    return loop->arrays[operand] != NULL &&
           loop->strides[operand][axis] ==
               (ptrdiff_t)pcu_gpuarray_itemsize(loop->arrays[operand]);
}

/* The axis along which the input is packed if it is turned, else -1. */
static int
tiles_axis_of(const pcu_elementwise_loop *loop, int operand)
{
    int last = loop->ndim - 1;
    if (loop->arrays[operand] == NULL || loop->strides[operand][last] == 0 ||
        tiles_is_run(loop, operand, last)) {
        return -1;
    }
    for (int k = last - 1; k >= 0; k--) {
        if (tiles_is_run(loop, operand, k)) {
            return k;
        }
    }
    return -1;
}

/* Find the turned inputs, which are packed along the axis of the first. */
static void
tiles_find_turned(tiles_plan *plan)
{
    const pcu_elementwise_loop *loop = plan->loop;
    plan->side = TILES_WIDE;
    plan->along = loop->ndim - 1;
    for (int i = 0; i < loop->nops; i++) {
        int axis = -1;
        if (i < loop->nin) {
            axis = tiles_axis_of(loop, i);
        }
        if (axis >= 0 && plan->turned == 0) {
            plan->across = axis;
        }
        plan->is_turned[i] = axis >= 0 && axis == plan->across;
        if (plan->is_turned[i]) {
            plan->turned++;
        }
        if (loop->arrays[i] != NULL && pcu_gpuarray_itemsize(loop->arrays[i]) > 2) {
            plan->side = TILES_NARROW;
        }
    }
}

/* Plan the tiles: whether the loop has some. */
static bool
tiles_fill(tiles_plan *plan)
{
    const pcu_elementwise_loop *loop = plan->loop;
    if (loop->ndim < 2 || loop->key.vector > 1 || loop->key.raw_bytes != 0) {
        return false;
    }
    for (int i = loop->nin; i < loop->nops; i++) {
        if (!tiles_is_run(loop, i, loop->ndim - 1)) {
            return false;
        }
    }
    tiles_find_turned(plan);
    if (plan->turned == 0 || plan->turned > TILES_TURNED_MOST) {
        return false;
    }
    /* The copy should use at least a quarter of a tile. */
    size_t across = Py_MIN(loop->shape[plan->across], plan->side);
    size_t along = Py_MIN(loop->shape[plan->along], plan->side);
    return 4 * across * along >= plan->side * plan->side;
}

static size_t
tiles_along(const tiles_plan *plan, int axis)
{
    return (plan->loop->shape[axis] + plan->side - 1) / plan->side;
}

/* The number of blocks; 0 if a launch cannot have so many. */
static size_t
tiles_blocks(const tiles_plan *plan)
{
    size_t blocks = tiles_along(plan, plan->across) * tiles_along(plan, plan->along);
    for (int k = 0; k < plan->loop->ndim; k++) {
        if (k != plan->across && k != plan->along) {
            blocks *= plan->loop->shape[k];
        }
    }
    if (blocks > INT32_MAX) {
        return 0;
    }
    return blocks;
}

static void
tiles_fill_key(const tiles_plan *plan, pcu_kernel_key *key)
{
    *key = plan->loop->key;
    key->family = PCU_FAMILY_ELEMENTWISE_TILES;
    key->ndim = (uint8_t)(plan->loop->ndim - 2);
    key->tile = (uint16_t)plan->side;
    key->wide = 0;
    for (int i = 0; i < plan->loop->nops; i++) {
        if (plan->is_turned[i]) {
            key->passing[i] = PCU_PASS_TURNED;
        }
        else if (plan->loop->arrays[i] != NULL) {
            key->passing[i] = PCU_PASS_ARRAY;
        }
    }
}

/* The strides of all arrays along an axis. */
static int
tiles_put_strides(const tiles_plan *plan, int axis, pcu_argument_buffer *params)
{
    const pcu_elementwise_loop *loop = plan->loop;
    for (int i = 0; i < loop->nops; i++) {
        if (loop->arrays[i] != NULL &&
            pcu_kernel_put_index(params, 1, loop->strides[i][axis]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The operands; lengths and strides of the two axes, then those of the others. */
static int
tiles_pack(const tiles_plan *plan, pcu_argument_buffer *params)
{
    const pcu_elementwise_loop *loop = plan->loop;
    for (int i = 0; i < loop->nops; i++) {
        if (pcu_elementwise_put_operand(loop, i, params) < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_index(params, 1, (ptrdiff_t)loop->shape[plan->across]) < 0 ||
        tiles_put_strides(plan, plan->across, params) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)loop->shape[plan->along]) < 0 ||
        tiles_put_strides(plan, plan->along, params) < 0) {
        return -1;
    }
    for (int k = 0; k < loop->ndim; k++) {
        if (k == plan->across || k == plan->along) {
            continue;
        }
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)loop->shape[k]) < 0 ||
            tiles_put_strides(plan, k, params) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_elementwise_tiles(pcu_state *st, pcu_context *ctx, const pcu_elementwise_loop *loop,
                      CUstream stream)
{
    tiles_plan plan = {.loop = loop};
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    size_t blocks = 0;
    if (tiles_fill(&plan)) {
        blocks = tiles_blocks(&plan);
    }
    if (blocks == 0) {
        return 0;
    }
    tiles_fill_key(&plan, &key);
    int rc = pcu_kernel_table_get(st, ctx, &key, &kernel);
    if (rc != 0) {
        return rc;
    }
    pcu_argument_buffer_init(&params);
    rc = tiles_pack(&plan, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, kernel, blocks, TILES_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    if (rc < 0) {
        return -1;
    }
    return 1;
}
