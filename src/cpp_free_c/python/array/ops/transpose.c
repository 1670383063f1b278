/* Copies that exchange axes: where the source steps by one element along one axis and
 * the target along another.
 *
 * Both sides then want runs of memory that the other does not have. A block moves a
 * square tile of the two axes through shared memory, so that it reads runs of the one
 * and writes runs of the other. Elements of one or two bytes travel as words of four
 * where everything is a multiple of that. Called by pcu_elementwise for plain copies.
 */
#include "python/support/base.h"

#include "python/array/gpuarray.h"

#include "driver/shape.h"

enum { TRANSPOSE_THREADS = 256, TRANSPOSE_WORD = 4 };

/* The two axes of the tiles, and the others. `across` is the source's run, `along` the
 * target's. */
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

/* As measured on an H200. */
static size_t
transpose_tile(size_t itemsize)
{
    return itemsize <= 4 ? 64 : 32;
}

/* The axis along which this operand goes on element by element; -1: none. */
static int
transpose_run(const pcu_strided *copy, const ptrdiff_t *strides)
{
    for (int k = 0; k < copy->ndim; k++) {
        if (strides[k] == (ptrdiff_t)copy->itemsize) {
            return k;
        }
    }
    return -1;
}

/* 1 if elements lie at multiples of their size everywhere. */
static int
transpose_is_aligned(const pcu_strided *copy, size_t size)
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

/* 1 if a quarter of a tile is used at least. */
static int
transpose_is_worth_it(size_t across, size_t along, size_t tile)
{
    across = across < tile ? across : tile;
    along = along < tile ? along : tile;
    return 4 * across * along >= tile * tile;
}

/* 1 if this copy is one, and the plan of it. */
static int
transpose_fill(transpose_plan *plan, const pcu_strided *copy)
{
    size_t size = copy->itemsize;
    int across = transpose_run(copy, copy->source);
    int along = transpose_run(copy, copy->target);
    if ((size & (size - 1)) != 0 || size > 16 || across < 0 || along < 0 ||
        across == along ||
        !transpose_is_worth_it(copy->shape[across], copy->shape[along],
                               transpose_tile(size)) ||
        !transpose_is_aligned(copy, size)) {
        return 0;
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
    return 1;
}

/* Both addresses, the two axes, then length and steps of each other axis. */
static int
transpose_pack(const transpose_plan *plan, const pcu_strided *copy, pcu_argbuf *params)
{
    const ptrdiff_t head[] = {
        (ptrdiff_t)copy->source_address,
        (ptrdiff_t)copy->target_address,
        (ptrdiff_t)plan->across,
        (ptrdiff_t)plan->along,
        plan->source_step,
        plan->target_step,
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(head) / sizeof(head[0]); i++) {
        rc = pcu_kernel_put_index(params, 1, head[i]);
    }
    for (int k = 0; rc == 0 && k < plan->others; k++) {
        rc = pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->shape[k]);
        rc = rc < 0 ? rc : pcu_kernel_put_index(params, 1, plan->source[k]);
        rc = rc < 0 ? rc : pcu_kernel_put_index(params, 1, plan->target[k]);
    }
    return rc;
}

int
pcu_transpose(pcu_state *st, pcu_context *ctx, const pcu_strided *copy, CUstream stream)
{
    transpose_plan plan;
    pcu_kernel_key key;
    pcu_argbuf params;
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
    key.op = PCU_OP_COPY;
    key.raw = (uint32_t)plan.itemsize;
    key.ndim = (uint8_t)plan.others;
    key.vec = (uint8_t)plan.per;
    key.spare[0] = (uint8_t)plan.tile;
    CUfunction kernel = pcu_kernel_find(st, ctx, &key);
    if (kernel == NULL) {
        return -1;
    }
    pcu_argbuf_init(&params);
    int rc = transpose_pack(&plan, copy, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, kernel, blocks, TRANSPOSE_THREADS, stream, &params);
    }
    pcu_argbuf_free(&params);
    return rc < 0 ? -1 : 1;
}
