/* Copies that exchange axes: see transpose.h.
 *
 * Source and target are packed along different axes. A block moves a square tile of the
 * two axes through shared memory, so that it reads runs of the source and writes runs
 * of the target. Elements of one or two bytes are moved as words of four bytes if all
 * addresses, strides and lengths are multiples of a word. */

#include "python/array/ops/transpose.h"

#include "driver/shape.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"

enum { TRANSPOSE_THREADS = 256, TRANSPOSE_WORD = 4 };

/* The two axes of the tiles, and the others. The source is packed along the axis
 * `across`, the target along the axis `along`. */
typedef struct {
    size_t itemsize;
    size_t tile; /* elements on a side */
    size_t per;  /* elements a thread moves at once */
    size_t across, along;
    ptrdiff_t source_step; /* bytes to the next row of `along` */
    ptrdiff_t target_step; /* bytes to the next row of `across` */
    int others;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t source[PCU_MAX_NDIM];
    ptrdiff_t target[PCU_MAX_NDIM];
} transpose_plan;

/* The side of a tile, as measured on an H200. */
static size_t
transpose_tile(size_t itemsize)
{
    if (itemsize <= 4) {
        return 64;
    }
    return 32;
}

/* The axis along which an operand is packed; -1: none. */
static int
transpose_run(const pcu_strided_copy *copy, const ptrdiff_t *strides)
{
    for (int k = 0; k < copy->ndim; k++) {
        if (strides[k] == (ptrdiff_t)copy->itemsize) {
            return k;
        }
    }
    return -1;
}

/* Whether all elements of both sides are at multiples of `size`. */
static bool
transpose_is_aligned(const pcu_strided_copy *copy, size_t size)
{
    uint64_t bits = copy->source_address | copy->target_address;
    for (int k = 0; k < copy->ndim; k++) {
        if (copy->source[k] != (ptrdiff_t)copy->itemsize) {
            bits |= (uint64_t)copy->source[k];
        }
        if (copy->target[k] != (ptrdiff_t)copy->itemsize) {
            bits |= (uint64_t)copy->target[k];
        }
    }
    return bits % size == 0;
}

/* Whether the copy uses at least a quarter of a tile. */
static bool
transpose_is_worth_it(size_t across, size_t along, size_t tile)
{
    return 4 * Py_MIN(across, tile) * Py_MIN(along, tile) >= tile * tile;
}

/* Whether the kernel can keep the part of the matrices that the copy asks for: rows of
 * the target must be those of the matrices. */
static bool
transpose_has_part(const pcu_strided_copy *copy, int across, int along)
{
    return copy->part == NULL || (across == copy->ndim - 2 && along == copy->ndim - 1);
}

/* Plan the copy: whether it exchanges axes. */
static bool
transpose_fill(transpose_plan *plan, const pcu_strided_copy *copy)
{
    size_t size = copy->itemsize;
    int across = transpose_run(copy, copy->source);
    int along = transpose_run(copy, copy->target);
    if ((size & (size - 1)) != 0 || size > 16 || across < 0 || along < 0 ||
        across == along || !transpose_has_part(copy, across, along) ||
        !transpose_is_worth_it(copy->shape[across], copy->shape[along],
                               transpose_tile(size)) ||
        !transpose_is_aligned(copy, size)) {
        return false;
    }
    plan->itemsize = size;
    plan->tile = transpose_tile(size);
    plan->across = copy->shape[across];
    plan->along = copy->shape[along];
    plan->source_step = copy->source[along];
    plan->target_step = copy->target[across];
    plan->per = 1;
    if (size < TRANSPOSE_WORD && transpose_is_aligned(copy, TRANSPOSE_WORD) &&
        (plan->across | plan->along) % (TRANSPOSE_WORD / size) == 0) {
        plan->per = TRANSPOSE_WORD / size;
    }
    plan->others = 0;
    for (int k = 0; k < copy->ndim; k++) {
        if (k != across && k != along) {
            plan->shape[plan->others] = copy->shape[k];
            plan->source[plan->others] = copy->source[k];
            plan->target[plan->others++] = copy->target[k];
        }
    }
    return true;
}

/* Both addresses, the two axes, the part, then length and strides of each other axis.
 */
static int
transpose_pack(const transpose_plan *plan, const pcu_strided_copy *copy,
               pcu_argument_buffer *params)
{
    const ptrdiff_t head[] = {
        (ptrdiff_t)copy->source_address,
        (ptrdiff_t)copy->target_address,
        (ptrdiff_t)plan->across,
        (ptrdiff_t)plan->along,
        plan->source_step,
        plan->target_step,
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(head); i++) {
        if (pcu_kernel_put_index(params, 1, head[i]) < 0) {
            return -1;
        }
    }
    if (copy->part != NULL &&
        (pcu_kernel_put_index(params, 1, (ptrdiff_t)copy->part->k) < 0 ||
         pcu_kernel_put_index(params, 0, copy->part->lower) < 0)) {
        return -1;
    }
    for (int k = 0; k < plan->others; k++) {
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->shape[k]) < 0 ||
            pcu_kernel_put_index(params, 1, plan->source[k]) < 0 ||
            pcu_kernel_put_index(params, 1, plan->target[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_transpose(pcu_state *st, pcu_context *ctx, const pcu_strided_copy *copy,
              CUstream stream)
{
    transpose_plan plan;
    pcu_kernel_key key;
    pcu_argument_buffer params;
    if (!transpose_fill(&plan, copy)) {
        return 0;
    }
    size_t blocks = (plan.across + plan.tile - 1) / plan.tile *
                    ((plan.along + plan.tile - 1) / plan.tile);
    for (int k = 0; k < plan.others; k++) {
        blocks *= plan.shape[k];
    }
    if (blocks > INT32_MAX) {
        return 0;
    }
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_TRANSPOSE;
    key.operation = PCU_OP_COPY;
    key.raw_bytes = (uint32_t)plan.itemsize;
    key.ndim = (uint8_t)plan.others;
    key.vector = (uint8_t)plan.per;
    key.tile = (uint16_t)plan.tile;
    key.partial = copy->part != NULL;
    CUfunction kernel = NULL;
    int rc = pcu_kernel_table_get(st, ctx, &key, &kernel);
    if (rc != 0) {
        return rc;
    }
    pcu_argument_buffer_init(&params);
    rc = transpose_pack(&plan, copy, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, kernel, blocks, TRANSPOSE_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    if (rc < 0) {
        return -1;
    }
    return 1;
}
