/* Elementwise kernels: from operands to a launch.
 *
 * Where all operands are packed alike the kernel is flat: it sees one run of elements
 * and reads 16 bytes at a time. Otherwise the axes that all operands pass evenly are
 * joined, and the kernel gets the remaining lengths and strides by value. No Python
 * code runs unless the kernel is new to the context. */
#include "python/support/base.h"

#include "python/array/gpuarray.h"

#include "driver/shape.h"

enum {
    ELEMENTWISE_THREADS = 256,
    ELEMENTWISE_VECTOR = 16, /* bytes of the smallest element's run */
    ELEMENTWISE_WIDEST = 32  /* of the largest one's */
};

/* One launch being put together. */
typedef struct {
    pcu_kernel_key key;
    int nin;
    int nops; /* inputs and outputs */
    const pcu_operand *inputs;
    pcu_gpuarray *arrays[PCU_OPERANDS_MAX]; /* NULL: a scalar */
    size_t count;
    int ndim; /* of the loop; 0: flat */
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_OPERANDS_MAX][PCU_MAX_NDIM];
} ew_loop;

/* -- layout ------------------------------------------------------------------------ */

/* 1 if every array is packed in one and the same order. */
static int
ew_is_flat(const ew_loop *loop)
{
    const pcu_gpuarray *out = loop->arrays[loop->nin];
    int common = PCU_ARRAY_C | PCU_ARRAY_F;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            continue;
        }
        common &= array->contiguous;
        if (!common || array->ndim != out->ndim ||
            memcmp(array->shape, out->shape, (size_t)out->ndim * sizeof(size_t)) != 0) {
            return 0;
        }
    }
    return 1;
}

static int
ew_bad_broadcast(const pcu_gpuarray *array, const pcu_gpuarray *out)
{
    PyObject *from = pcu_shape_tuple_new(array->ndim, array->shape);
    PyObject *to = pcu_shape_tuple_new(out->ndim, out->shape);
    if (from != NULL && to != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "an operand of shape %S cannot be broadcast to shape %S", from,
                     to);
    }
    Py_XDECREF(from);
    Py_XDECREF(to);
    return -1;
}

/* Fill shape and strides of the loop, the output in row 0. */
static int
ew_fill_strides(ew_loop *loop)
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
            return ew_bad_broadcast(array, out);
        }
    }
    return 0;
}

static void
ew_swap_rows(ew_loop *loop, int a, int b)
{
    ptrdiff_t row[PCU_MAX_NDIM];
    size_t size = (size_t)loop->ndim * sizeof(ptrdiff_t);
    if (a != b) {
        memcpy(row, loop->strides[a], size);
        memcpy(loop->strides[a], loop->strides[b], size);
        memcpy(loop->strides[b], row, size);
    }
}

/* After joining, is it one run after all? Operands that stand still become ONE. */
static int
ew_became_flat(ew_loop *loop)
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
            loop->key.kinds[i] = PCU_KIND_ONE;
        }
    }
    loop->ndim = 0;
    return 1;
}

/* 1 if an element is further away than 32 bits reach. */
static int
ew_is_wide(const ew_loop *loop)
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

/* A device reads an element only at a multiple of its size. */
static int
ew_check_alignment(const ew_loop *loop)
{
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array == NULL) {
            continue;
        }
        size_t size = pcu_gpuarray_itemsize(array);
        size_t align = size & (~size + 1);
        uint64_t bits = array->address;
        align = align > 16 ? 16 : align;
        for (int k = 0; k < loop->ndim; k++) {
            bits |= (uint64_t)loop->strides[i][k];
        }
        if (array->type >= PCU_T_COMPLEX64 && array->type < PCU_T_RAW) {
            align = size / 2 < 8 && array->type == PCU_T_COMPLEX64 ? 4 : 8;
        }
        if (array->type == PCU_T_RAW) {
            continue; /* moved byte by byte if need be: see the key's vec */
        }
        if ((bits & (align - 1)) != 0) {
            PyErr_Format(PyExc_ValueError,
                         "elements of dtype %S are at addresses or strides that are no "
                         "multiple of %zu bytes",
                         (PyObject *)array->dtype, align);
            return -1;
        }
    }
    return 0;
}

/* How many elements a thread of a flat kernel handles: as many as make 16 bytes of the
 * smallest, at most 32 bytes of the largest; 1 if an address does not allow it. */
static int
ew_vector(const ew_loop *loop)
{
    size_t least = 16;
    size_t most = 1;
    for (int i = 0; i < loop->nops; i++) {
        if (loop->arrays[i] != NULL && loop->key.kinds[i] == PCU_KIND_ARRAY) {
            size_t size = pcu_gpuarray_itemsize(loop->arrays[i]);
            if ((size & (size - 1)) != 0 || size > 16) {
                return 1;
            }
            least = size < least ? size : least;
            most = size > most ? size : most;
        }
    }
    size_t vec = ELEMENTWISE_VECTOR / least;
    if (vec * most > ELEMENTWISE_WIDEST) {
        vec = ELEMENTWISE_WIDEST / most;
    }
    for (int i = 0; i < loop->nops; i++) {
        if (loop->arrays[i] != NULL && loop->key.kinds[i] == PCU_KIND_ARRAY) {
            size_t bytes = vec * pcu_gpuarray_itemsize(loop->arrays[i]);
            bytes = bytes > 16 ? 16 : bytes;
            if (loop->arrays[i]->address % bytes != 0) {
                return 1;
            }
        }
    }
    return (int)vec;
}

/* RAW elements are moved as the widest words that addresses and strides allow. */
static int
ew_raw_word(const ew_loop *loop)
{
    uint64_t bits = 16;
    for (int i = 0; i < loop->nops; i++) {
        const pcu_gpuarray *array = loop->arrays[i];
        if (array != NULL && array->type == PCU_T_RAW) {
            bits |= array->address | pcu_gpuarray_itemsize(array);
            for (int k = 0; k < loop->ndim; k++) {
                bits |= (uint64_t)loop->strides[i][k];
            }
        }
    }
    return (int)(bits & (~bits + 1));
}

static int
ew_plan(ew_loop *loop)
{
    if (!ew_is_flat(loop)) {
        if (ew_fill_strides(loop) < 0) {
            return -1;
        }
        ew_swap_rows(loop, 0, loop->nin);
        loop->ndim =
            pcu_collapse(loop->ndim, loop->shape, loop->nops, loop->strides[0]);
        ew_swap_rows(loop, 0, loop->nin);
        if (!ew_became_flat(loop)) {
            loop->key.wide = (uint8_t)ew_is_wide(loop);
        }
    }
    if (loop->ndim == 0) {
        loop->key.wide = loop->count > INT32_MAX;
    }
    if (ew_check_alignment(loop) < 0) {
        return -1;
    }
    loop->key.ndim = (uint8_t)loop->ndim;
    loop->key.vec = (uint8_t)(loop->key.raw != 0 ? ew_raw_word(loop)
                              : loop->ndim == 0  ? ew_vector(loop)
                                                 : 1);
    return 0;
}

/* -- parameters -------------------------------------------------------------------- */

/* Inputs, outputs, the number of elements; then lengths, and strides by operand. */
static int
ew_pack(const ew_loop *loop, pcu_argbuf *params)
{
    int wide = loop->key.wide;
    for (int i = 0; i < loop->nops; i++) {
        int rc;
        if (loop->arrays[i] != NULL) {
            rc = pcu_kernel_put(params, &loop->arrays[i]->address, 8, 8);
        }
        else {
            int type = loop->inputs[i].type;
            size_t size = pcu_type_size(type);
            size_t align = type == PCU_T_COMPLEX64    ? 4
                           : type == PCU_T_COMPLEX128 ? 8
                                                      : size;
            rc = pcu_kernel_put(params, loop->inputs[i].value, size, align);
        }
        if (rc < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_index(params, wide, (ptrdiff_t)loop->count) < 0) {
        return -1;
    }
    for (int k = 0; k < loop->ndim; k++) {
        if (pcu_kernel_put_index(params, wide, (ptrdiff_t)loop->shape[k]) < 0) {
            return -1;
        }
    }
    for (int i = 0; loop->ndim > 0 && i < loop->nops; i++) {
        for (int k = 0; loop->arrays[i] != NULL && k < loop->ndim; k++) {
            if (pcu_kernel_put_index(params, wide, loop->strides[i][k]) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* -- overlap ----------------------------------------------------------------------- */

static void
ew_extent(const pcu_gpuarray *array, uint64_t *low, uint64_t *high)
{
    ptrdiff_t before = 0;
    ptrdiff_t after = 0;
    (void)pcu_extent(array->ndim, array->shape, array->strides,
                     pcu_gpuarray_itemsize(array), &before, &after);
    *low = array->address + (uint64_t)before;
    *high = array->address + (uint64_t)after;
}

static int
ew_same_elements(const pcu_gpuarray *a, const pcu_gpuarray *b)
{
    if (a->address != b->address || a->ndim != b->ndim ||
        pcu_gpuarray_itemsize(a) != pcu_gpuarray_itemsize(b)) {
        return 0;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i] ||
            (a->shape[i] != 1 && a->strides[i] != b->strides[i])) {
            return 0;
        }
    }
    return 1;
}

int
pcu_gpuarray_conflicts(const pcu_gpuarray *in, const pcu_gpuarray *out)
{
    uint64_t in_low, in_high, out_low, out_high;
    if (in->memory != out->memory && pcu_gpuarray_allocation(in) != NULL &&
        pcu_gpuarray_allocation(out) != NULL) {
        return 0; /* two allocations of ours; other objects may share one memory */
    }
    if (ew_same_elements(in, out)) {
        return 0;
    }
    ew_extent(in, &in_low, &in_high);
    ew_extent(out, &out_low, &out_high);
    return in_low < out_high && out_low < in_high;
}

/* Replace inputs that an output overlaps by copies; the copies are handed out. */
static int
ew_resolve_overlap(ew_loop *loop, PyObject **copies, CUstream stream)
{
    for (int i = 0; i < loop->nin; i++) {
        for (int k = loop->nin; loop->arrays[i] != NULL && k < loop->nops; k++) {
            if (pcu_gpuarray_conflicts(loop->arrays[i], loop->arrays[k])) {
                copies[i] = pcu_gpuarray_copy_new(loop->arrays[i], stream);
                if (copies[i] == NULL) {
                    return -1;
                }
                loop->arrays[i] = (pcu_gpuarray *)copies[i];
                break;
            }
        }
    }
    return 0;
}

/* -- the launch -------------------------------------------------------------------- */

/* A plain copy may be one that exchanges axes: 1 if it was queued, 0 if not, -1. */
static int
ew_transpose(pcu_state *st, pcu_context *ctx, const ew_loop *loop, CUstream stream)
{
    if (loop->key.op != PCU_OP_COPY || loop->ndim < 2 || loop->arrays[0] == NULL ||
        loop->key.types[0] != loop->key.types[1]) {
        return 0;
    }
    pcu_strided copy = {.source_address = loop->arrays[0]->address,
                        .target_address = loop->arrays[1]->address,
                        .itemsize = pcu_gpuarray_itemsize(loop->arrays[1]),
                        .ndim = loop->ndim,
                        .shape = loop->shape,
                        .source = loop->strides[0],
                        .target = loop->strides[1]};
    return pcu_transpose(st, ctx, &copy, stream);
}

static int
ew_launch(pcu_state *st, pcu_context *ctx, ew_loop *loop, CUstream stream)
{
    pcu_argbuf params;
    int exchanged = ew_transpose(st, ctx, loop, stream);
    if (exchanged != 0) {
        return exchanged < 0 ? -1 : 0;
    }
    CUfunction kernel = pcu_kernel_find(st, ctx, &loop->key);
    if (kernel == NULL) {
        return -1;
    }
    size_t each = loop->ndim == 0 && loop->key.raw == 0 ? loop->key.vec : 1;
    size_t threads = loop->count / each + (loop->count % each != 0);
    size_t blocks = (threads + ELEMENTWISE_THREADS - 1) / ELEMENTWISE_THREADS;
    pcu_argbuf_init(&params);
    int rc = ew_pack(loop, &params);
    if (rc == 0) {
        rc =
            pcu_kernel_launch(st, kernel, blocks, ELEMENTWISE_THREADS, stream, &params);
    }
    pcu_argbuf_free(&params);
    return rc;
}

int
pcu_elementwise(pcu_state *st, int op, int nin, const pcu_operand *inputs, int nout,
                pcu_gpuarray *const *outputs, int compute, CUstream stream)
{
    ew_loop loop;
    PyObject *copies[PCU_OPERANDS_MAX] = {NULL};
    int rc = 0;
    pcu_context *ctx = pcu_gpuarray_context(st);
    if (ctx == NULL) {
        return -1;
    }
    memset(&loop.key, 0, sizeof(loop.key));
    loop.key.op = (uint16_t)op;
    loop.key.nin = (uint8_t)nin;
    loop.key.nout = (uint8_t)nout;
    loop.key.compute = (uint8_t)compute;
    loop.nin = nin;
    loop.nops = nin + nout;
    loop.inputs = inputs;
    loop.ndim = 0;
    for (int i = 0; i < loop.nops; i++) {
        pcu_gpuarray *array = i < nin ? inputs[i].array : outputs[i - nin];
        int type = i < nin ? inputs[i].type : outputs[i - nin]->type;
        loop.arrays[i] = array;
        loop.key.types[i] = (uint8_t)type;
        if (array == NULL) {
            loop.key.kinds[i] = PCU_KIND_SCALAR;
            continue;
        }
        if (pcu_gpuarray_check(array, ctx) < 0) {
            return -1;
        }
        if (type == PCU_T_RAW) {
            loop.key.raw = (uint32_t)pcu_gpuarray_itemsize(array);
        }
    }
    loop.count = outputs[0]->count;
    if (loop.count == 0 || pcu_gpuarray_itemsize(outputs[0]) == 0) {
        return 0;
    }
    Py_INCREF(ctx); /* its kernels stay until the launch, whoever drops it meanwhile */
    rc = ew_resolve_overlap(&loop, copies, stream);
    if (rc == 0) {
        rc = ew_plan(&loop);
    }
    if (rc == 0) {
        rc = ew_launch(st, ctx, &loop, stream);
    }
    for (int i = 0; i < nin; i++) {
        Py_XDECREF(copies[i]);
    }
    Py_DECREF(ctx);
    return rc;
}
