/* Elementwise kernels: from operands to a launch. See elementwise_kernel.h.
 *
 * elementwise_loop.c chooses the axes and the kernel. The kernel gets addresses,
 * lengths and strides by value. No Python code runs unless the kernel is new to the
 * context. */

#include "python/array/ops/elementwise_kernel.h"

#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/elementwise_loop.h"
#include "python/array/ops/elementwise_record.h"
#include "python/array/ops/elementwise_rows.h"
#include "python/array/ops/elementwise_tiles.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/transpose.h"
#include "python/array/recording.h"
#include "python/driver/context.h"

enum { ELEMENTWISE_THREADS = 256 };

/* -- parameters -------------------------------------------------------------------- */

/* For each axis but the first its length and the numbers of the division; then the
 * strides of the arrays that have some. */
static int
elementwise_put_axes(const pcu_elementwise_loop *loop, pcu_argument_buffer *params)
{
    bool wide = loop->key.wide;
    for (int k = 1; k < loop->ndim; k++) {
        if (pcu_kernel_put_divisor(params, wide, loop->shape[k]) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < loop->nops; i++) {
        if (!pcu_elementwise_has_strides(loop, i)) {
            continue;
        }
        for (int k = 0; k < loop->ndim; k++) {
            if (pcu_kernel_put_index(params, wide, loop->strides[i][k]) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* Inputs, outputs, the number of elements or units; then the axes, unless the kernel is
 * flat. */
static int
elementwise_pack(const pcu_elementwise_loop *loop, pcu_argument_buffer *params)
{
    for (int i = 0; i < loop->nops; i++) {
        if (pcu_elementwise_put_operand(loop, i, params) < 0) {
            return -1;
        }
    }
    size_t count = loop->units;
    if (loop->ndim == 0 && loop->key.tile == 1) {
        count = loop->count; /* the last vector may have fewer elements */
    }
    if (pcu_kernel_put_index(params, loop->key.wide, (ptrdiff_t)count) < 0) {
        return -1;
    }
    if (loop->ndim == 0) {
        return 0;
    }
    return elementwise_put_axes(loop, params);
}

/* -- the launch -------------------------------------------------------------------- */

/* Enqueue the loop if it is a plain copy that exchanges axes. A copy of vectors does
 * not. Returns what pcu_transpose returns. */
static int
elementwise_transpose(pcu_state *st, pcu_context *ctx, const pcu_elementwise_loop *loop,
                      CUstream stream)
{
    if (loop->key.operation != PCU_OP_COPY || loop->ndim < 2 ||
        loop->arrays[0] == NULL || loop->key.types[0] != loop->key.types[1] ||
        (loop->key.raw_bytes == 0 && loop->key.vector > 1)) {
        return 0;
    }
    pcu_strided_copy copy = {.source_address = loop->address[0],
                             .target_address = loop->address[1],
                             .itemsize = pcu_gpuarray_itemsize(loop->arrays[1]),
                             .ndim = loop->ndim,
                             .shape = loop->shape,
                             .source = loop->strides[0],
                             .target = loop->strides[1]};
    return pcu_transpose(st, ctx, &copy, stream);
}

/* Enqueue the planned loop. PCU_KERNEL_MADE: nothing was enqueued. */
static int
elementwise_launch(pcu_state *st, pcu_context *ctx, pcu_elementwise_loop *loop,
                   CUstream stream)
{
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    int rc = elementwise_transpose(st, ctx, loop, stream);
    if (rc == 0) {
        rc = pcu_elementwise_tiles(st, ctx, loop, stream);
    }
    if (rc == 0) {
        rc = pcu_elementwise_rows(st, ctx, loop, stream);
    }
    if (rc == 1) {
        return 0;
    }
    if (rc == 0) {
        rc = pcu_kernel_table_get(st, ctx, &loop->key, &kernel);
    }
    if (rc != 0) {
        return rc;
    }
    size_t each = (size_t)ELEMENTWISE_THREADS * loop->key.tile; /* units of a block */
    size_t blocks = (loop->units + each - 1) / each;
    pcu_argument_buffer_init(&params);
    rc = elementwise_pack(loop, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch_following(st, kernel, blocks, ELEMENTWISE_THREADS,
                                         stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Set one operand of the loop, and check that work in ctx may use its memory. */
static int
elementwise_set_operand(pcu_elementwise_loop *loop, int operand, pcu_gpuarray *array,
                        int type, const pcu_context *ctx)
{
    loop->arrays[operand] = array;
    loop->key.types[operand] = (uint8_t)type;
    if (array == NULL) {
        loop->key.passing[operand] = PCU_PASS_SCALAR;
        return 0;
    }
    if (pcu_gpuarray_check(array, ctx) < 0) {
        return -1;
    }
    if (type == PCU_T_RAW) {
        loop->key.raw_bytes = (uint32_t)pcu_gpuarray_itemsize(array);
    }
    return 0;
}

/* Check the operands, plan the loop and enqueue it. PCU_KERNEL_MADE: nothing was
 * enqueued. */
static int
elementwise_attempt(pcu_state *st, pcu_context *ctx, pcu_elementwise_loop *loop, int op,
                    int compute, CUstream stream)
{
    const pcu_operand *inputs = loop->inputs;
    pcu_gpuarray *const *outputs = loop->outputs;
    int nout = loop->nops - loop->nin;
    memset(&loop->key, 0, sizeof(loop->key));
    loop->key.family = PCU_FAMILY_ELEMENTWISE;
    loop->key.operation = (uint16_t)op;
    loop->key.inputs = (uint8_t)loop->nin;
    loop->key.outputs = (uint8_t)nout;
    loop->key.compute = (uint8_t)compute;
    for (int i = 0; i < loop->nin; i++) {
        if (elementwise_set_operand(loop, i, inputs[i].array, inputs[i].type, ctx) <
            0) {
            return -1;
        }
    }
    for (int i = 0; i < nout; i++) {
        if (elementwise_set_operand(loop, loop->nin + i, outputs[i], outputs[i]->type,
                                    ctx) < 0) {
            return -1;
        }
    }
    loop->count = outputs[0]->count;
    if (loop->count == 0 || pcu_gpuarray_itemsize(outputs[0]) == 0) {
        return 0;
    }
    if (pcu_elementwise_loop_plan(loop) < 0) {
        return -1;
    }
    return elementwise_launch(st, ctx, loop, stream);
}

/* After a kernel was made: the operation was chosen by the dtypes, so these must be the
 * same as before. Everything else is checked and planned again. A copy of bits takes
 * its elements as numbers of their size, so there only the sizes are compared. */
static int
elementwise_check_types(const pcu_elementwise_loop *loop)
{
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            continue;
        }
        int type = loop->key.types[i];
        size_t size = loop->key.raw_bytes;
        if (type != PCU_T_RAW) {
            size = pcu_types[type].size;
        }
        bool same = pcu_gpuarray_itemsize(array) == size;
        if (loop->key.operation != PCU_OP_COPY) {
            same = same && array->type == type;
        }
        if (!same) {
            PyErr_Format(PyExc_RuntimeError,
                         "%s: the dtype of an operand changed during the call",
                         pcu_ops[loop->key.operation].name);
            return -1;
        }
    }
    return 0;
}

int
pcu_elementwise_enqueue(pcu_state *st, int op, int nin, const pcu_operand *inputs,
                        int nout, pcu_gpuarray *const *outputs, int compute,
                        CUstream stream)
{
    pcu_elementwise_loop loop;
    int rc;
    if (pcu_is_recording(st)) {
        return pcu_elementwise_record(st, op, nin, inputs, nout, outputs, compute);
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    loop.has_no_rows = false;
    loop.nin = nin;
    loop.nops = nin + nout;
    loop.inputs = inputs;
    loop.outputs = outputs;
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = elementwise_attempt(st, ctx, &loop, op, compute, stream);
    } while (rc == PCU_KERNEL_MADE && elementwise_check_types(&loop) == 0);
    Py_DECREF(ctx);
    if (rc != 0) {
        return -1;
    }
    return 0;
}
