/* Elementwise kernels: from operands to a launch. See elementwise_kernel.h.
 *
 * Where all operands are packed in the same order the kernel is flat: it sees one run
 * of elements and reads 16 bytes at a time. Otherwise the axes along which all operands
 * advance evenly are joined, and the kernel gets the remaining lengths and strides by
 * value. No Python code runs unless the kernel is new to the context. */

#include "python/array/ops/elementwise_kernel.h"

#include "driver/shape.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/ops/transpose.h"
#include "python/driver/context.h"

enum {
    ELEMENTWISE_THREADS = 256,
    ELEMENTWISE_WORD = 16,  /* the most bytes that one load of a thread moves */
    ELEMENTWISE_WIDEST = 32 /* the most bytes of one operand in one thread */
};

/* One launch being put together. */
typedef struct {
    pcu_kernel_key key;
    int nin;
    int nops; /* inputs and outputs */
    const pcu_operand *inputs;
    pcu_gpuarray *const *outputs;
    pcu_gpuarray *arrays[PCU_OPERANDS_MAX]; /* NULL: a scalar */
    size_t count;
    int ndim; /* of the loop; 0: flat */
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_OPERANDS_MAX][PCU_MAX_NDIM];
} elementwise_loop;

/* -- layout ------------------------------------------------------------------------ */

/* 1 if every array is packed in one and the same order. */
static int
elementwise_is_flat(const elementwise_loop *loop)
{
    const pcu_gpuarray *out = loop->arrays[loop->nin];
    int common = PCU_ARRAY_C | PCU_ARRAY_F;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            continue;
        }
        common &= array->contiguous;
        if (!common || !pcu_gpuarray_has_shape(array, out->ndim, out->shape)) {
            return 0;
        }
    }
    return 1;
}

/* Fill shape and strides of the loop: those of operands broadcast to the output. */
static int
elementwise_fill_strides(elementwise_loop *loop)
{
    const pcu_gpuarray *out = loop->arrays[loop->nin];
    memcpy(loop->shape, out->shape, (size_t)out->ndim * sizeof(size_t));
    loop->ndim = out->ndim;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            memset(loop->strides[i], 0, (size_t)out->ndim * sizeof(ptrdiff_t));
        }
        else if (pcu_broadcast_strides(array->ndim, array->shape, array->strides,
                                       out->ndim, out->shape, loop->strides[i]) < 0) {
            return pcu_raise_shapes(
                "%s: an operand of shape %S cannot be broadcast to shape %S",
                pcu_ops[loop->key.operation].name, array->ndim, array->shape, out);
        }
    }
    return 0;
}

static void
elementwise_swap_rows(elementwise_loop *loop, int a, int b)
{
    ptrdiff_t row[PCU_MAX_NDIM];
    size_t size = (size_t)loop->ndim * sizeof(ptrdiff_t);
    if (a != b) {
        memcpy(row, loop->strides[a], size);
        memcpy(loop->strides[a], loop->strides[b], size);
        memcpy(loop->strides[b], row, size);
    }
}

/* Make the loop flat if the joined axes are one run: 1 if it is flat now, 0 if not.
 * Inputs of stride 0 are then passed as ONE. */
static int
elementwise_flatten(elementwise_loop *loop)
{
    if (loop->ndim > 1) {
        return 0;
    }
    for (int i = 0; i < loop->nops; i++) {
        pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL || loop->ndim == 0 ||
            loop->strides[i][0] == (ptrdiff_t)pcu_gpuarray_itemsize(array)) {
            continue;
        }
        if (i >= loop->nin || loop->strides[i][0] != 0) {
            return 0;
        }
    }
    for (int i = 0; i < loop->nin; i++) {
        if (loop->arrays[i] != NULL && loop->ndim == 1 && loop->strides[i][0] == 0) {
            loop->key.passing[i] = PCU_PASS_ONE;
        }
    }
    loop->ndim = 0;
    return 1;
}

/* 1 if the distance of an element does not fit 32 bits. */
static int
elementwise_is_wide(const elementwise_loop *loop)
{
    if (loop->count > INT32_MAX) {
        return 1;
    }
    for (int i = 0; i < loop->nops; i++) {
        ptrdiff_t low = 0;
        ptrdiff_t high = 0;
        if (pcu_extent(loop->ndim, loop->shape, loop->strides[i], 16, &low, &high) <
                0 ||
            high > INT32_MAX || low < INT32_MIN) {
            return 1;
        }
    }
    return 0;
}

/* Address and strides of an operand in the loop, combined: a power of two divides all
 * of them if and only if it divides the result. */
static uint64_t
elementwise_address_bits(const elementwise_loop *loop, int operand)
{
    uint64_t bits = loop->arrays[operand]->address;
    for (int k = 0; k < loop->ndim; k++) {
        bits |= (uint64_t)loop->strides[operand][k];
    }
    return bits;
}

/* The device reads an element only at a multiple of its alignment. RAW elements are
 * moved byte by byte if need be. */
static int
elementwise_check_alignment(const elementwise_loop *loop)
{
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL || !pcu_type_is_number(array->type)) {
            continue;
        }
        size_t align = pcu_types[array->type].align;
        if ((elementwise_address_bits(loop, i) & (align - 1)) != 0) {
            PyErr_Format(
                PyExc_ValueError,
                "elements of dtype %S are at addresses or strides that are not "
                "multiples of %zu bytes",
                (PyObject *)array->dtype, align);
            return -1;
        }
    }
    return 0;
}

static int
elementwise_is_run(const elementwise_loop *loop, int operand)
{
    return loop->arrays[operand] != NULL &&
           loop->key.passing[operand] == PCU_PASS_ARRAY;
}

/* How many elements a thread of a flat kernel handles: 16 bytes of the smallest ones,
 * but at most 32 bytes of the largest; 1 if an address does not allow it. */
static size_t
elementwise_vector(const elementwise_loop *loop)
{
    size_t least = ELEMENTWISE_WORD;
    size_t most = 1;
    for (int i = 0; i < loop->nops; i++) {
        if (!elementwise_is_run(loop, i)) {
            continue;
        }
        size_t size = pcu_gpuarray_itemsize(loop->arrays[i]);
        if ((size & (size - 1)) != 0 || size > ELEMENTWISE_WORD) {
            return 1;
        }
        least = Py_MIN(least, size);
        most = Py_MAX(most, size);
    }
    size_t vector = ELEMENTWISE_WORD / least;
    if (vector * most > ELEMENTWISE_WIDEST) {
        vector = ELEMENTWISE_WIDEST / most;
    }
    for (int i = 0; i < loop->nops; i++) {
        if (!elementwise_is_run(loop, i)) {
            continue;
        }
        size_t bytes = vector * pcu_gpuarray_itemsize(loop->arrays[i]);
        if (loop->arrays[i]->address % Py_MIN(bytes, ELEMENTWISE_WORD) != 0) {
            return 1;
        }
    }
    return vector;
}

/* The bytes of the widest word that moves RAW elements: addresses, strides and sizes
 * are multiples of it. */
static size_t
elementwise_raw_word(const elementwise_loop *loop)
{
    uint64_t bits = ELEMENTWISE_WORD;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array != NULL && array->type == PCU_T_RAW) {
            bits |= elementwise_address_bits(loop, i) | pcu_gpuarray_itemsize(array);
        }
    }
    return (size_t)(bits & (~bits + 1));
}

/* Choose the layout class: flat or strided, the width of indices, the vector. */
static int
elementwise_plan(elementwise_loop *loop)
{
    if (!elementwise_is_flat(loop)) {
        if (elementwise_fill_strides(loop) < 0) {
            return -1;
        }
        /* pcu_collapse orders the axes by the first array that decides: the output. */
        elementwise_swap_rows(loop, 0, loop->nin);
        loop->ndim =
            pcu_collapse(loop->ndim, loop->shape, loop->nops, loop->strides[0]);
        elementwise_swap_rows(loop, 0, loop->nin);
        if (!elementwise_flatten(loop)) {
            loop->key.wide = (uint8_t)elementwise_is_wide(loop);
        }
    }
    if (loop->ndim == 0) {
        loop->key.wide = loop->count > INT32_MAX;
    }
    if (elementwise_check_alignment(loop) < 0) {
        return -1;
    }
    loop->key.ndim = (uint8_t)loop->ndim;
    loop->key.vector = 1;
    if (loop->key.raw_bytes != 0) {
        loop->key.vector = (uint8_t)elementwise_raw_word(loop);
    }
    else if (loop->ndim == 0) {
        loop->key.vector = (uint8_t)elementwise_vector(loop);
    }
    return 0;
}

/* -- parameters -------------------------------------------------------------------- */

static inline int
elementwise_put_operand(const elementwise_loop *loop, int operand,
                        pcu_argument_buffer *params)
{
    if (loop->arrays[operand] != NULL) {
        return pcu_kernel_put_address(params, loop->arrays[operand]->address);
    }
    const pcu_operand *scalar = &loop->inputs[operand];
    const pcu_type_row *type = &pcu_types[scalar->type];
    return pcu_kernel_put(params, scalar->value, type->size, type->align);
}

/* Lengths, then the strides of each array. */
static int
elementwise_put_axes(const elementwise_loop *loop, pcu_argument_buffer *params)
{
    int wide = loop->key.wide;
    for (int k = 0; k < loop->ndim; k++) {
        if (pcu_kernel_put_index(params, wide, (ptrdiff_t)loop->shape[k]) < 0) {
            return -1;
        }
    }
    for (int i = 0; i < loop->nops; i++) {
        if (loop->arrays[i] == NULL) {
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

/* Inputs, outputs, the number of elements; then the axes, unless the kernel is flat. */
static int
elementwise_pack(const elementwise_loop *loop, pcu_argument_buffer *params)
{
    for (int i = 0; i < loop->nops; i++) {
        if (elementwise_put_operand(loop, i, params) < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_index(params, loop->key.wide, (ptrdiff_t)loop->count) < 0) {
        return -1;
    }
    if (loop->ndim == 0) {
        return 0;
    }
    return elementwise_put_axes(loop, params);
}

/* -- the launch -------------------------------------------------------------------- */

/* Enqueue the loop if it is a plain copy that exchanges axes. Returns what
 * pcu_transpose returns. */
static int
elementwise_transpose(pcu_state *st, pcu_context *ctx, const elementwise_loop *loop,
                      CUstream stream)
{
    if (loop->key.operation != PCU_OP_COPY || loop->ndim < 2 ||
        loop->arrays[0] == NULL || loop->key.types[0] != loop->key.types[1]) {
        return 0;
    }
    pcu_strided_copy copy = {.source_address = loop->arrays[0]->address,
                             .target_address = loop->arrays[1]->address,
                             .itemsize = pcu_gpuarray_itemsize(loop->arrays[1]),
                             .ndim = loop->ndim,
                             .shape = loop->shape,
                             .source = loop->strides[0],
                             .target = loop->strides[1]};
    return pcu_transpose(st, ctx, &copy, stream);
}

/* Enqueue the planned loop. PCU_KERNEL_MADE: nothing was enqueued. */
static int
elementwise_launch(pcu_state *st, pcu_context *ctx, elementwise_loop *loop,
                   CUstream stream)
{
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    int rc = elementwise_transpose(st, ctx, loop, stream);
    if (rc == 1) {
        return 0;
    }
    if (rc == 0) {
        rc = pcu_kernel_table_get(st, ctx, &loop->key, &kernel);
    }
    if (rc != 0) {
        return rc;
    }
    size_t each = 1;
    if (loop->ndim == 0 && loop->key.raw_bytes == 0) {
        each = loop->key.vector;
    }
    size_t threads = loop->count / each + (loop->count % each != 0);
    size_t blocks = (threads + ELEMENTWISE_THREADS - 1) / ELEMENTWISE_THREADS;
    pcu_argument_buffer_init(&params);
    rc = elementwise_pack(loop, &params);
    if (rc == 0) {
        rc =
            pcu_kernel_launch(st, kernel, blocks, ELEMENTWISE_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* Set one operand of the loop, and check that work in ctx may use its memory. */
static int
elementwise_set_operand(elementwise_loop *loop, int operand, pcu_gpuarray *array,
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
elementwise_attempt(pcu_state *st, pcu_context *ctx, elementwise_loop *loop, int op,
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
    loop->ndim = 0;
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
    if (elementwise_plan(loop) < 0) {
        return -1;
    }
    return elementwise_launch(st, ctx, loop, stream);
}

/* After a kernel was made: the operation was chosen by the dtypes, so these must be the
 * same as before. Everything else is checked and planned again. A copy of bits takes
 * its elements as numbers of their size, so there only the sizes are compared. */
static int
elementwise_check_types(const elementwise_loop *loop)
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
        int same = pcu_gpuarray_itemsize(array) == size;
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
    elementwise_loop loop;
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
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
