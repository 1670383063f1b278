/* Elementwise loops by rows: see elementwise_rows.h.
 *
 * The software device runs all warps of a block together while they access consecutive
 * elements by the number of the thread, and computes once in a block what does not
 * depend on that number. So a block has a part of one row along the fastest axis, and
 * each thread one element of every 64, 128 or 256. The kernel finds the row with a
 * division for the block, and has no vectors. A GPU would gain nothing from that. */

#include "python/array/ops/elementwise_rows.h"

#include "python/array/element_type.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"

enum {
    ROWS_THREADS = 256,
    ROWS_SHORT = 128, /* the threads for rows of fewer elements than 256 */
    ROWS_LONG = 2048  /* elements; for longer rows, a thread has eight of them */
};

typedef struct {
    const pcu_elementwise_loop *loop;
    size_t length; /* elements of a row */
    size_t pieces; /* blocks of a row */
    int axes;      /* of the rows: all but the fastest one */
    pcu_kernel_key key;
} rows_plan;

/* Whether the operation takes many instructions, so that its loop is not unrolled. */
static bool
rows_cost_much(const pcu_kernel_key *key)
{
    if (key->compute == PCU_T_COMPLEX64 || key->compute == PCU_T_COMPLEX128) {
        return true;
    }
    switch (key->operation) {
        case PCU_OP_POWER:
        case PCU_OP_GENERAL_POWER:
        case PCU_OP_GCD:
        case PCU_OP_LCM:
        case PCU_OP_SINC:
            return true;
        default:
            break;
    }
    switch (pcu_ops[key->operation].rule) {
        case PCU_RULE_FLOAT:
        case PCU_RULE_REAL:
        case PCU_RULE_ANGLE:
        case PCU_RULE_FLOOR:
        case PCU_RULE_LDEXP:
        case PCU_RULE_FREXP:
        case PCU_RULE_CLOSE:
            return true;
        default:
            return false;
    }
}

/* How the kernel finds the elements of an operand in a row. */
static int
rows_passing(const pcu_elementwise_loop *loop, int operand)
{
    ptrdiff_t step;
    if (loop->arrays[operand] == NULL) {
        return PCU_PASS_SCALAR;
    }
    if (loop->key.passing[operand] == PCU_PASS_ONE) {
        return PCU_PASS_REPEATED;
    }
    if (loop->ndim == 0) {
        return PCU_PASS_PACKED;
    }
    step = loop->strides[operand][loop->ndim - 1];
    if (step == (ptrdiff_t)pcu_gpuarray_itemsize(loop->arrays[operand])) {
        return PCU_PASS_PACKED;
    }
    if (step == 0 && operand < loop->nin) {
        return PCU_PASS_REPEATED;
    }
    return PCU_PASS_ARRAY;
}

static void
rows_fill(rows_plan *plan)
{
    const pcu_elementwise_loop *loop = plan->loop;
    pcu_kernel_key *key = &plan->key;
    size_t threads = ROWS_THREADS;
    size_t each = 8;
    plan->length = loop->count;
    if (loop->ndim > 0) {
        plan->axes = loop->ndim - 1;
        plan->length = loop->shape[plan->axes];
    }
    if (plan->length <= ROWS_SHORT / 2) {
        threads = ROWS_SHORT / 2;
        each = 1;
    }
    else if (plan->length < ROWS_THREADS) {
        threads = ROWS_SHORT;
        each = 1 + (plan->length > ROWS_SHORT);
    }
    else if (plan->length < ROWS_LONG) {
        each = 4;
    }
    if (rows_cost_much(&loop->key)) {
        each = 1;
    }
    plan->pieces = (plan->length + threads * each - 1) / (threads * each);
    *key = loop->key;
    key->family = PCU_FAMILY_ELEMENTWISE_ROWS;
    key->ndim = (uint8_t)plan->axes;
    key->vector = 1;
    key->partial = plan->pieces > 1;
    key->threads = (uint16_t)threads;
    key->tile = (uint16_t)each;
    for (int i = 0; i < loop->nops; i++) {
        key->passing[i] = (uint8_t)rows_passing(loop, i);
    }
}

/* The strides of an operand: of the axes of rows, and of a row unless the kernel knows
 * it. */
static int
rows_put_strides(const rows_plan *plan, int operand, pcu_argument_buffer *params)
{
    const ptrdiff_t *strides = plan->loop->strides[operand];
    int count = plan->axes;
    if (plan->key.passing[operand] == PCU_PASS_ARRAY) {
        count++;
    }
    for (int k = 0; k < count; k++) {
        if (pcu_kernel_put_index(params, false, strides[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* The operands, the length of a row and its number of blocks; the lengths of the axes
 * of rows but the first; the strides. */
static int
rows_pack(const rows_plan *plan, pcu_argument_buffer *params)
{
    const pcu_elementwise_loop *loop = plan->loop;
    for (int i = 0; i < loop->nops; i++) {
        if (pcu_elementwise_put_operand(loop, i, params) < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_index(params, false, (ptrdiff_t)plan->length) < 0) {
        return -1;
    }
    if (plan->key.partial && plan->axes > 0 &&
        pcu_kernel_put_divisor(params, false, plan->pieces) < 0) {
        return -1;
    }
    for (int k = 1; k < plan->axes; k++) {
        if (pcu_kernel_put_divisor(params, false, loop->shape[k]) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < loop->nops; i++) {
        if (loop->arrays[i] != NULL && rows_put_strides(plan, i, params) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Get the kernel. PCU_KERNEL_MADE: it was made, or it is not wanted, which the loop
 * then remembers. */
static int
rows_get_kernel(pcu_state *st, pcu_context *ctx, pcu_elementwise_loop *loop,
                const pcu_kernel_key *key, CUfunction *kernel)
{
    if (!pcu_kernel_table_has(ctx, key)) {
        int wanted = pcu_kernel_may_differ();
        if (wanted < 0) {
            return -1;
        }
        if (!wanted) {
            loop->has_no_rows = true;
            return PCU_KERNEL_MADE;
        }
    }
    return pcu_kernel_table_get(st, ctx, key, kernel);
}

int
pcu_elementwise_rows(pcu_state *st, pcu_context *ctx, pcu_elementwise_loop *loop,
                     CUstream stream)
{
    rows_plan plan = {.loop = loop};
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    if (!loop->is_by_rows) {
        return 0;
    }
    rows_fill(&plan);
    int rc = rows_get_kernel(st, ctx, loop, &plan.key, &kernel);
    if (rc != 0) {
        return rc;
    }
    size_t blocks = loop->count / plan.length * plan.pieces;
    pcu_argument_buffer_init(&params);
    rc = rows_pack(&plan, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, kernel, blocks, plan.key.threads, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    if (rc < 0) {
        return -1;
    }
    return 1;
}
