/* Reductions of GPUArrays along some or all axes.
 *
 * The axes that stay ("kept") and those that go ("reduced") are joined where that is
 * possible. A result is the work of one block, or, where neighbouring results lie side
 * by side, of one thread. Where there are too few results to fill the device, the
 * reduced elements are cut into segments, whose partial results a second kernel joins.
 * The cut depends on lengths and device only. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/driver/memory/pool.h"
#include "python/array/gpuarray.h"

enum {
    REDUCE_THREADS = 256,
    REDUCE_ACC_BYTES = 32, /* at most, of pycuda-reduce.hpp's accumulators */
    REDUCE_KEEP = 0,       /* spare[]: which field of a key */
    REDUCE_VARIANT = 1,
    REDUCE_PARTIAL = 2,
    REDUCE_STREAM = 3
};

/* The kernels of a reduction. */
enum { REDUCE_BY_BLOCK, REDUCE_BY_THREAD, REDUCE_JOIN_BY_BLOCK, REDUCE_JOIN_BY_THREAD };

#define REDUCE_RULES(X) X(WIDEN) X(SAME) X(INDEX) X(EXTREME) X(BOOL) X(MEAN) X(SPREAD)
#define REDUCE_RULE(name) RULE_##name,
typedef enum { REDUCE_RULES(REDUCE_RULE) RULE_COUNT } reduce_rule;

typedef struct {
    unsigned char nin;
    unsigned char rule;
} reduce_row;

#define REDUCE_ROW(NAME, name, nin, rule) {nin, RULE_##rule},
static const reduce_row reduce_rows[] = {PCU_ARRAY_REDUCTIONS(REDUCE_ROW)};

/* A set of axes with the strides of both inputs. */
typedef struct {
    int ndim;
    size_t count; /* the product of the lengths */
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[2][PCU_MAX_NDIM];
} reduce_axes;

typedef struct {
    pcu_state *st;
    int op;
    int nin;
    pcu_gpuarray *inputs[2];
    int compute; /* pcu_type */
    int result;  /* pcu_type */
    double divisor;
    reduce_axes kept;
    reduce_axes reduced;
    size_t segments;
    size_t segment; /* reduced elements in each, but the last */
    int by_thread;
    int wide;
    int vec;
    int stream; /* more bytes than the cache holds: none of them need stay there */
} reduce_plan;

/* -- types ------------------------------------------------------------------------- */

static int
reduce_is_integer(int type)
{
    return type <= PCU_T_UINT64;
}

static int
reduce_widened(int type)
{
    if (!reduce_is_integer(type)) {
        return type;
    }
    int is_unsigned = type == PCU_T_UINT8 || type == PCU_T_UINT16 ||
                      type == PCU_T_UINT32 || type == PCU_T_UINT64;
    return is_unsigned ? PCU_T_UINT64 : PCU_T_INT64;
}

static int
reduce_all_bool(const reduce_plan *plan)
{
    for (int i = 0; i < plan->nin; i++) {
        if (plan->inputs[i]->type != PCU_T_BOOL) {
            return 0;
        }
    }
    return 1;
}

/* The common type of the inputs. In sums of products bool arrays count as numbers. */
static int
reduce_common_type(const reduce_plan *plan, int *type)
{
    int numbers = reduce_rows[plan->op].rule == RULE_SAME;
    *type = numbers ? pcu_gpuarray_number_type(plan->inputs[0]) : plan->inputs[0]->type;
    for (int i = 0; i < plan->nin; i++) {
        if (plan->inputs[i]->type >= PCU_T_RAW) {
            PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S",
                         pcu_reduction_name(plan->op),
                         (PyObject *)plan->inputs[i]->dtype);
            return -1;
        }
    }
    if (plan->nin == 2) {
        int other =
            numbers ? pcu_gpuarray_number_type(plan->inputs[1]) : plan->inputs[1]->type;
        if (pcu_type_promote(*type, other, type) < 0) {
            return -1;
        }
    }
    if (numbers && reduce_is_integer(*type) && reduce_all_bool(plan)) {
        *type = PCU_T_INT64; /* a count, whatever integers were compared */
    }
    return 0;
}

/* compute and result; dtype is what a program asked for, or PCU_T_NONE. */
static int
reduce_types(reduce_plan *plan, int dtype)
{
    int common = PCU_T_NONE;
    if (reduce_common_type(plan, &common) < 0) {
        return -1;
    }
    int rule = reduce_rows[plan->op].rule;
    plan->compute = common;
    switch (rule) {
        case RULE_WIDEN:
            plan->compute = dtype != PCU_T_NONE ? dtype : reduce_widened(common);
            plan->result = plan->compute;
            break;
        case RULE_SAME:
            plan->compute = dtype != PCU_T_NONE ? dtype : common;
            plan->result = plan->compute;
            break;
        case RULE_EXTREME:
            plan->result = common;
            break;
        case RULE_INDEX:
            plan->result = PCU_T_INT64;
            break;
        case RULE_BOOL:
            plan->result = PCU_T_BOOL;
            break;
        case RULE_MEAN:
            plan->compute = dtype != PCU_T_NONE         ? dtype
                            : reduce_is_integer(common) ? PCU_T_FLOAT64
                                                        : common;
            plan->result = plan->compute;
            break;
        default:
            plan->compute = reduce_is_integer(common) ? PCU_T_FLOAT64 : common;
            plan->result = plan->compute == PCU_T_COMPLEX64    ? PCU_T_FLOAT32
                           : plan->compute == PCU_T_COMPLEX128 ? PCU_T_FLOAT64
                                                               : plan->compute;
    }
    return 0;
}

/* -- axes -------------------------------------------------------------------------- */

/* Which axes go: mask[i] is 1. An array without axes takes axis 0 and -1, as NumPy's
 * do. */
static int
reduce_read_axes(PyObject *axis, int ndim, unsigned char *mask)
{
    memset(mask, axis == Py_None, (size_t)ndim + 1);
    if (axis == Py_None) {
        return 0;
    }
    PyObject *items = PyTuple_Check(axis) ? Py_NewRef(axis) : PyTuple_Pack(1, axis);
    int rc = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(items); i++) {
        unsigned long long bits = 0;
        rc =
            pcu_as_integer(PyTuple_GET_ITEM(items, i), INT_MIN, INT_MAX, &bits, "axis");
        int number = (int)bits;
        if (rc == 0 && ndim == 0 && !PyTuple_Check(axis) && number >= -1 &&
            number <= 0) {
            break;
        }
        number += number < 0 ? ndim : 0;
        if (rc == 0 && (number < 0 || number >= ndim || mask[number])) {
            PyErr_Format(PyExc_ValueError,
                         "axis %S is not one of the %d axes, or is "
                         "there twice",
                         axis, ndim);
            rc = -1;
        }
        if (rc == 0) {
            mask[number] = 1;
        }
    }
    Py_XDECREF(items);
    return rc;
}

static void
reduce_add_axis(reduce_axes *axes, const reduce_plan *plan, int axis,
                ptrdiff_t strides[2][PCU_MAX_NDIM])
{
    axes->shape[axes->ndim] = plan->inputs[0]->shape[axis];
    axes->strides[0][axes->ndim] = strides[0][axis];
    axes->strides[1][axes->ndim] = strides[1][axis];
    axes->count *= plan->inputs[0]->shape[axis];
    axes->ndim++;
}

/* Join neighbours, without another order. */
static void
reduce_join_axes(reduce_axes *axes, int nin)
{
    int kept = 0;
    for (int i = 0; i < axes->ndim; i++) {
        int joint = kept > 0;
        if (axes->shape[i] == 1) {
            continue;
        }
        for (int k = 0; joint && k < nin; k++) {
            joint = axes->strides[k][kept - 1] ==
                    axes->strides[k][i] * (ptrdiff_t)axes->shape[i];
        }
        int place = joint ? kept - 1 : kept++;
        axes->shape[place] =
            joint ? axes->shape[place] * axes->shape[i] : axes->shape[i];
        axes->strides[0][place] = axes->strides[0][i];
        axes->strides[1][place] = axes->strides[1][i];
    }
    axes->ndim = kept;
}

static int
reduce_fill_axes(reduce_plan *plan, const unsigned char *mask)
{
    const pcu_gpuarray *x = plan->inputs[0];
    ptrdiff_t strides[2][PCU_MAX_NDIM] = {{0}};
    memcpy(strides[0], x->strides, (size_t)x->ndim * sizeof(ptrdiff_t));
    if (plan->nin == 2 &&
        pcu_broadcast_strides(plan->inputs[1]->ndim, plan->inputs[1]->shape,
                              plan->inputs[1]->strides, x->ndim, x->shape,
                              strides[1]) < 0) {
        PyObject *a = pcu_shape_tuple_new(x->ndim, x->shape);
        PyObject *b =
            pcu_shape_tuple_new(plan->inputs[1]->ndim, plan->inputs[1]->shape);
        if (a != NULL && b != NULL) {
            PyErr_Format(PyExc_ValueError, "%s: shapes %S and %S do not go together",
                         pcu_reduction_name(plan->op), a, b);
        }
        Py_XDECREF(a);
        Py_XDECREF(b);
        return -1;
    }
    plan->kept.ndim = plan->reduced.ndim = 0;
    plan->kept.count = plan->reduced.count = 1;
    for (int i = 0; i < x->ndim; i++) {
        reduce_add_axis(mask[i] ? &plan->reduced : &plan->kept, plan, i, strides);
    }
    reduce_join_axes(&plan->kept, plan->nin);
    if (plan->op == PCU_REDUCE_ARGMIN || plan->op == PCU_REDUCE_ARGMAX) {
        reduce_join_axes(&plan->reduced, plan->nin);
    }
    else {
        plan->reduced.ndim = pcu_collapse(plan->reduced.ndim, plan->reduced.shape,
                                          plan->nin, plan->reduced.strides[0]);
    }
    return 0;
}

/* -- the cut ----------------------------------------------------------------------- */

static size_t
reduce_step(ptrdiff_t stride)
{
    return (size_t)(stride < 0 ? -stride : stride);
}

/* Elements a thread takes up at once: where the reduced ones are one packed run that
 * begins at a multiple of 16 bytes for every result. */
static int
reduce_vector(const reduce_plan *plan)
{
    size_t itemsize = pcu_gpuarray_itemsize(plan->inputs[0]);
    size_t vec = itemsize < 16 ? 16 / itemsize : 1;
    if (plan->by_thread || plan->reduced.ndim != 1) {
        return 1;
    }
    for (int i = 0; i < plan->nin; i++) {
        size_t size = pcu_gpuarray_itemsize(plan->inputs[i]);
        uint64_t bits = plan->inputs[i]->address;
        for (int k = 0; k < plan->kept.ndim; k++) {
            bits |= (uint64_t)plan->kept.strides[i][k];
        }
        if (size != itemsize || plan->reduced.strides[i][0] != (ptrdiff_t)size ||
            bits % 16 != 0) {
            return 1;
        }
    }
    return (int)vec;
}

static int
reduce_streams(const reduce_plan *plan, const pcu_context *ctx)
{
    size_t bytes = 0;
    for (int i = 0; i < plan->nin; i++) {
        bytes += pcu_gpuarray_itemsize(plan->inputs[i]);
    }
    return plan->vec > 1 && plan->kept.count * plan->reduced.count >
                                (size_t)ctx->rec.limits.cache / bytes;
}

static void
reduce_cut(reduce_plan *plan, const pcu_context *ctx)
{
    size_t sms = (size_t)ctx->rec.limits.multiprocessors;
    size_t results = plan->kept.count;
    size_t n = plan->reduced.count;
    size_t wanted;
    size_t least;
    int last_kept = plan->kept.ndim - 1;
    int last_reduced = plan->reduced.ndim - 1;
    plan->by_thread = results >= 32 && last_kept >= 0 &&
                      (n <= 16 || last_reduced < 0 ||
                       reduce_step(plan->kept.strides[0][last_kept]) <
                           reduce_step(plan->reduced.strides[0][last_reduced]));
    plan->vec = reduce_vector(plan);
    plan->stream = reduce_streams(plan, ctx);
    if (plan->by_thread) {
        wanted = sms * 2048 / results;
        least = 64;
    }
    else {
        wanted = sms * 8 / results;
        least = (size_t)4 * REDUCE_THREADS * (size_t)plan->vec;
    }
    size_t most = n / least;
    plan->segments = wanted < most ? wanted : most;
    if (plan->segments < 1) {
        plan->segments = 1;
    }
    /* whole rounds of a block, so that segments begin at multiples of 16 bytes too */
    size_t round = plan->by_thread ? 1 : REDUCE_THREADS * (size_t)plan->vec;
    size_t each = (n + plan->segments - 1) / plan->segments;
    plan->segment = (each + round - 1) / round * round;
    if (plan->segment == 0) {
        plan->segment = 1;
    }
    plan->segments = n == 0 ? 1 : (n + plan->segment - 1) / plan->segment;
}

static int
reduce_is_wide(const reduce_plan *plan)
{
    size_t total = 0;
    const reduce_axes *both[2] = {&plan->kept, &plan->reduced};
    if (pcu_mul_size(plan->kept.count, plan->segments, &total) < 0 ||
        total > INT32_MAX - REDUCE_THREADS ||
        plan->reduced.count > INT32_MAX - REDUCE_THREADS * 16) {
        return 1;
    }
    for (int i = 0; i < plan->nin; i++) {
        size_t reach = 16;
        for (int k = 0; k < 2; k++) {
            for (int d = 0; d < both[k]->ndim; d++) {
                reach += both[k]->shape[d] * reduce_step(both[k]->strides[i][d]);
            }
        }
        if (reach > INT32_MAX) {
            return 1;
        }
    }
    return 0;
}

/* -- launches ---------------------------------------------------------------------- */

static int
reduce_put_axes(const reduce_plan *plan, pcu_argbuf *params)
{
    const reduce_axes *both[2] = {&plan->kept, &plan->reduced};
    int rc = 0;
    for (int k = 0; k < 2; k++) {
        for (int d = 0; rc == 0 && d < both[k]->ndim; d++) {
            rc = pcu_kernel_put_index(params, plan->wide, (ptrdiff_t)both[k]->shape[d]);
        }
    }
    for (int i = 0; i < plan->nin; i++) {
        for (int k = 0; k < 2; k++) {
            for (int d = 0; rc == 0 && d < both[k]->ndim; d++) {
                rc = pcu_kernel_put_index(params, plan->wide, both[k]->strides[i][d]);
            }
        }
    }
    return rc;
}

static void
reduce_key(const reduce_plan *plan, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_REDUCE;
    key->op = (uint16_t)plan->op;
    key->nin = (uint8_t)plan->nin;
    key->nout = 1;
    for (int i = 0; i < plan->nin; i++) {
        key->types[i] = plan->inputs[i]->type;
    }
    key->types[plan->nin] = (uint8_t)plan->result;
    key->compute = (uint8_t)plan->compute;
    key->wide = (uint8_t)plan->wide;
}

/* The first kernel: into out, or as accumulators into partial. */
static int
reduce_launch(const reduce_plan *plan, pcu_context *ctx, CUdeviceptr target,
              CUstream stream)
{
    pcu_kernel_key key;
    pcu_argbuf params;
    reduce_key(plan, &key);
    key.ndim = (uint8_t)plan->reduced.ndim;
    key.vec = (uint8_t)plan->vec;
    key.spare[REDUCE_KEEP] = (uint8_t)plan->kept.ndim;
    key.spare[REDUCE_VARIANT] = plan->by_thread ? REDUCE_BY_THREAD : REDUCE_BY_BLOCK;
    key.spare[REDUCE_PARTIAL] = plan->segments > 1;
    key.spare[REDUCE_STREAM] = (uint8_t)plan->stream;
    CUfunction kernel = pcu_kernel_find(plan->st, ctx, &key);
    if (kernel == NULL) {
        return -1;
    }
    size_t jobs = plan->kept.count * plan->segments;
    size_t blocks =
        plan->by_thread ? (jobs + REDUCE_THREADS - 1) / REDUCE_THREADS : jobs;
    pcu_argbuf_init(&params);
    int rc = 0;
    for (int i = 0; rc == 0 && i < plan->nin; i++) {
        rc = pcu_kernel_put(&params, &plan->inputs[i]->address, 8, 8);
    }
    if (rc == 0) {
        rc = pcu_kernel_put(&params, &target, 8, 8);
    }
    if (rc == 0 &&
        pcu_kernel_put_index(&params, plan->wide, (ptrdiff_t)plan->kept.count) == 0 &&
        pcu_kernel_put_index(&params, plan->wide, (ptrdiff_t)plan->reduced.count) ==
            0 &&
        pcu_kernel_put_index(&params, plan->wide, (ptrdiff_t)plan->segments) == 0 &&
        pcu_kernel_put_index(&params, plan->wide, (ptrdiff_t)plan->segment) == 0 &&
        pcu_kernel_put(&params, &plan->divisor, 8, 8) == 0 &&
        reduce_put_axes(plan, &params) == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, blocks, REDUCE_THREADS, stream,
                               &params);
    }
    else {
        rc = -1;
    }
    pcu_argbuf_free(&params);
    return rc;
}

/* The second kernel: accumulators to results. */
static int
reduce_join(const reduce_plan *plan, pcu_context *ctx, CUdeviceptr partial,
            CUdeviceptr target, CUstream stream)
{
    pcu_kernel_key key;
    pcu_argbuf params;
    int by_thread = plan->kept.count >= 1024;
    reduce_key(plan, &key);
    key.spare[REDUCE_VARIANT] =
        by_thread ? REDUCE_JOIN_BY_THREAD : REDUCE_JOIN_BY_BLOCK;
    CUfunction kernel = pcu_kernel_find(plan->st, ctx, &key);
    if (kernel == NULL) {
        return -1;
    }
    size_t results = plan->kept.count;
    size_t blocks =
        by_thread ? (results + REDUCE_THREADS - 1) / REDUCE_THREADS : results;
    int rc = -1;
    pcu_argbuf_init(&params);
    if (pcu_kernel_put(&params, &partial, 8, 8) == 0 &&
        pcu_kernel_put(&params, &target, 8, 8) == 0 &&
        pcu_kernel_put_index(&params, plan->wide, (ptrdiff_t)results) == 0 &&
        pcu_kernel_put_index(&params, plan->wide, (ptrdiff_t)plan->segments) == 0 &&
        pcu_kernel_put(&params, &plan->divisor, 8, 8) == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, blocks, REDUCE_THREADS, stream,
                               &params);
    }
    pcu_argbuf_free(&params);
    return rc;
}

/* By both kernels, with room for the accumulators between them. */
static int
reduce_in_segments(const reduce_plan *plan, pcu_context *ctx, pcu_gpuarray *target,
                   PyObject *allocator, CUstream stream)
{
    size_t bytes = plan->kept.count * plan->segments * REDUCE_ACC_BYTES;
    PyArray_Descr *dtype = PyArray_DescrFromType(NPY_UINT8);
    PyObject *partial =
        pcu_gpuarray_new(plan->st, NULL, 1, &bytes, NULL, dtype, allocator);
    Py_DECREF(dtype);
    if (partial == NULL) {
        return -1;
    }
    CUdeviceptr address = ((pcu_gpuarray *)partial)->address;
    int rc = reduce_launch(plan, ctx, address, stream);
    if (rc == 0) {
        rc = reduce_join(plan, ctx, address, target->address, stream);
    }
    Py_DECREF(partial);
    return rc;
}

/* Run the plan into a packed array in C order. */
static int
reduce_run(reduce_plan *plan, pcu_gpuarray *target, PyObject *allocator,
           CUstream stream)
{
    static const char *const empty =
        "%s of an array without elements along the axes: it has no result";
    int rule = reduce_rows[plan->op].rule;
    pcu_context *ctx = pcu_gpuarray_context(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_gpuarray_check(plan->inputs[i], ctx) < 0) {
            return -1;
        }
    }
    if (plan->reduced.count == 0 &&
        (rule == RULE_EXTREME ||
         (rule == RULE_INDEX && plan->op != PCU_REDUCE_COUNT_NONZERO))) {
        PyErr_Format(PyExc_ValueError, empty, pcu_reduction_name(plan->op));
        return -1;
    }
    if (pcu_gpuarray_check(target, ctx) < 0 || plan->kept.count == 0) {
        return PyErr_Occurred() ? -1 : 0;
    }
    reduce_cut(plan, ctx);
    plan->wide = reduce_is_wide(plan);
    Py_INCREF(ctx); /* its kernels stay until the launch, whoever drops it meanwhile */
    int rc = plan->segments == 1
                 ? reduce_launch(plan, ctx, target->address, stream)
                 : reduce_in_segments(plan, ctx, target, allocator, stream);
    Py_DECREF(ctx);
    return rc;
}

/* -- the function ------------------------------------------------------------------ */

typedef struct {
    int op;
    PyObject *inputs;
    PyObject *axis;
    int keepdims;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *out;
    CUstream stream;
    PyObject *allocator;
    PyObject *ddof;
} reduce_args;

static int
reduce_as_dtype(pcu_state *st, PyObject *value, void *out, const char *name)
{
    return value == Py_None ? 0 : pcu_as_dtype(st, value, out, name);
}

/* The shape of the result. */
static int
reduce_shape(const pcu_gpuarray *x, const unsigned char *mask, int keepdims,
             size_t *shape)
{
    int ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (!mask[i]) {
            shape[ndim++] = x->shape[i];
        }
        else if (keepdims) {
            shape[ndim++] = 1;
        }
    }
    return ndim;
}

static int
reduce_check_out(const reduce_plan *plan, PyObject *out, int ndim, const size_t *shape)
{
    pcu_gpuarray *array = (pcu_gpuarray *)out;
    if (!pcu_is_array(plan->st, out)) {
        PyErr_Format(PyExc_TypeError, "out must be a GPUArray, not %s",
                     Py_TYPE(out)->tp_name);
        return -1;
    }
    if (pcu_gpuarray_ready(array) < 0) {
        return -1;
    }
    if (array->ndim == ndim &&
        memcmp(array->shape, shape, (size_t)ndim * sizeof(size_t)) == 0) {
        return 0;
    }
    PyObject *wanted = pcu_shape_tuple_new(ndim, shape);
    PyObject *has = pcu_shape_tuple_new(array->ndim, array->shape);
    if (wanted != NULL && has != NULL) {
        PyErr_Format(PyExc_ValueError, "%s: the result has shape %S, out has %S",
                     pcu_reduction_name(plan->op), wanted, has);
    }
    Py_XDECREF(wanted);
    Py_XDECREF(has);
    return -1;
}

/* Can results be written to `out` as they are found? */
static int
reduce_is_direct(const reduce_plan *plan, const pcu_gpuarray *out)
{
    if (!(out->contiguous & PCU_ARRAY_C) || out->type != plan->result) {
        return 0;
    }
    for (int i = 0; plan->kept.count > 1 && i < plan->nin; i++) {
        if (pcu_gpuarray_conflicts(plan->inputs[i], out)) {
            return 0;
        }
    }
    return 1;
}

static PyObject *
reduce_result(reduce_plan *plan, const reduce_args *a, const unsigned char *mask)
{
    size_t shape[PCU_MAX_NDIM];
    pcu_gpuarray *x = plan->inputs[0];
    PyObject *allocator = a->allocator == Py_None ? x->allocator : a->allocator;
    int ndim = reduce_shape(x, mask, a->keepdims, shape);
    if (a->out != Py_None && reduce_check_out(plan, a->out, ndim, shape) < 0) {
        return NULL;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(plan->result);
    PyObject *target = NULL;
    int direct = a->out != Py_None && reduce_is_direct(plan, (pcu_gpuarray *)a->out);
    target =
        direct ? Py_NewRef(a->out)
               : pcu_gpuarray_new(plan->st, NULL, ndim, shape, NULL, dtype, allocator);
    Py_DECREF(dtype);
    if (target == NULL ||
        reduce_run(plan, (pcu_gpuarray *)target, allocator, a->stream) < 0) {
        Py_XDECREF(target);
        return NULL;
    }
    if (a->out == Py_None &&
        (plan->op == PCU_REDUCE_MAX || plan->op == PCU_REDUCE_MIN)) {
        ((pcu_gpuarray *)target)->counts_as = x->counts_as;
    }
    if (a->out != Py_None && !direct) {
        int rc = pcu_gpuarray_assign((pcu_gpuarray *)a->out, target, a->stream);
        Py_DECREF(target);
        return rc < 0 ? NULL : Py_NewRef(a->out);
    }
    return target;
}

PyDoc_STRVAR(
    reduce_reduce_doc,
    "_reduce($module, op, inputs, /, axis=None, keepdims=False, dtype=None, out=None, "
    "stream=None, allocator=None, ddof=0)\n--\n\n"
    "A reduction, by its number in _array_reductions, of a tuple of GPUArrays.");

static PyObject *
reduce_reduce(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"op", pcu_as_int, offsetof(reduce_args, op)},
        {"inputs", pcu_as_object, offsetof(reduce_args, inputs)},
        {"axis", pcu_as_object, offsetof(reduce_args, axis)},
        {"keepdims", pcu_as_bool, offsetof(reduce_args, keepdims)},
        {"dtype", reduce_as_dtype, offsetof(reduce_args, dtype)},
        {"out", pcu_as_object, offsetof(reduce_args, out)},
        {"stream", pcu_as_stream, offsetof(reduce_args, stream)},
        {"allocator", pcu_as_allocator, offsetof(reduce_args, allocator)},
        {"ddof", pcu_as_object, offsetof(reduce_args, ddof)},
    };
    static const pcu_argtable table = {"_reduce", specs, 9, 2, 2};
    pcu_state *st = pcu_state_of_module(m);
    reduce_args a = {.axis = Py_None,
                     .out = Py_None,
                     .stream = pcu_gpuarray_stream(st),
                     .allocator = Py_None};
    unsigned char mask[PCU_MAX_NDIM + 1];
    reduce_plan plan;
    PyObject *result = NULL;
    int dtype = PCU_T_NONE;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        goto done;
    }
    if (a.op < 0 || a.op >= PCU_REDUCE_COUNT || !PyTuple_Check(a.inputs) ||
        PyTuple_GET_SIZE(a.inputs) != reduce_rows[a.op].nin) {
        PyErr_SetString(PyExc_TypeError, "no reduction has this number and inputs");
        goto done;
    }
    plan.st = st;
    plan.op = a.op;
    plan.nin = reduce_rows[a.op].nin;
    for (int i = 0; i < plan.nin; i++) {
        PyObject *input = PyTuple_GET_ITEM(a.inputs, i);
        if (!pcu_is_array(st, input)) {
            PyErr_Format(PyExc_TypeError, "%s takes a GPUArray, not %s%s",
                         pcu_reduction_name(a.op), Py_TYPE(input)->tp_name,
                         PyArray_Check(input) ? "; copy it with to_gpu()" : "");
            goto done;
        }
        plan.inputs[i] = (pcu_gpuarray *)input;
        if (pcu_gpuarray_ready(plan.inputs[i]) < 0) {
            goto done;
        }
    }
    if (a.dtype != NULL) {
        dtype = pcu_type_of_dtype(a.dtype);
        if (dtype >= PCU_T_RAW) {
            PyErr_Format(PyExc_TypeError, "nothing can be computed in dtype %S",
                         (PyObject *)a.dtype);
            goto done;
        }
    }
    double ddof = a.ddof == NULL ? 0.0 : PyFloat_AsDouble(a.ddof);
    if (PyErr_Occurred() || reduce_types(&plan, dtype) < 0 ||
        reduce_read_axes(a.axis, plan.inputs[0]->ndim, mask) < 0 ||
        reduce_fill_axes(&plan, mask) < 0) {
        goto done;
    }
    plan.divisor = (double)plan.reduced.count - ddof;
    plan.divisor = plan.divisor < 0 ? 0 : plan.divisor;
    result = reduce_result(&plan, &a, mask);
done:
    Py_XDECREF(a.dtype);
    return result;
}

PyMethodDef pcu_gpuarray_reduce_functions[] = {
    {"_reduce", (PyCFunction)(void (*)(void))reduce_reduce,
     METH_FASTCALL | METH_KEYWORDS, reduce_reduce_doc},
    {NULL, NULL, 0, NULL},
};

PyObject *
pcu_gpuarray_reductions_new(void)
{
    PyObject *reductions = PyDict_New();
    for (int op = 0; reductions != NULL && op < PCU_REDUCE_COUNT; op++) {
        PyObject *number = PyLong_FromLong(op);
        if (number == NULL ||
            PyDict_SetItemString(reductions, pcu_reduction_name(op), number) < 0) {
            Py_CLEAR(reductions);
        }
        Py_XDECREF(number);
    }
    return reductions;
}
