/* Scans of GPUArrays: see scan.h.
 *
 * One kernel reads and writes each element once. scan_layout.c chooses it. Inputs whose
 * order in memory no kernel handles well are copied first. */

#include "python/array/ops/scan.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/assign.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/overlap.h"
#include "python/array/ops/scan_layout.h"
#include "python/array/scalar.h"
#include "python/driver/context.h"
#include "python/driver/memory/copy.h"

/* One scan in progress. */
typedef struct {
    pcu_state *st;
    const pcu_scan_call *call;
    int compute; /* pcu_type */
    int result;  /* pcu_type */
    int ndim;    /* of the input as it is scanned: 1 for a flat scan */
    int axis;
    size_t shape[PCU_MAX_NDIM];     /* of the input as it is scanned */
    size_t out_shape[PCU_MAX_NDIM]; /* of the result */
    PyObject *allocator;            /* borrowed */
} scan_plan;

/* -- types ------------------------------------------------------------------------- */

typedef enum { SCAN_WIDENS, SCAN_KEEPS, SCAN_BITS, SCAN_TRUTH, SCAN_NEVER } scan_rule;

static scan_rule
scan_rule_of(int op)
{
    switch (op) {
        case PCU_OP_ADD:
        case PCU_OP_MULTIPLY:
            return SCAN_WIDENS;
        case PCU_OP_MAXIMUM:
        case PCU_OP_MINIMUM:
        case PCU_OP_FMAX:
        case PCU_OP_FMIN:
            return SCAN_KEEPS;
        case PCU_OP_BITWISE_AND:
        case PCU_OP_BITWISE_OR:
        case PCU_OP_BITWISE_XOR:
            return SCAN_BITS;
        case PCU_OP_LOGICAL_AND:
        case PCU_OP_LOGICAL_OR:
        case PCU_OP_LOGICAL_XOR:
            return SCAN_TRUTH;
        default:
            return SCAN_NEVER;
    }
}

bool
pcu_scan_has(int op)
{
    return scan_rule_of(op) != SCAN_NEVER;
}

/* The dtype of the result if the program asks for none: NumPy's. */
static int
scan_default_type(scan_rule rule, int type)
{
    if (rule == SCAN_TRUTH) {
        return PCU_T_BOOL;
    }
    if (rule != SCAN_WIDENS || !pcu_type_is_exact(type)) {
        return type;
    }
    if (pcu_type_is_unsigned(type)) {
        return PCU_T_UINT64;
    }
    return PCU_T_INT64;
}

static int
scan_types(scan_plan *plan)
{
    const pcu_scan_call *call = plan->call;
    const pcu_gpuarray *x = call->x;
    scan_rule rule = scan_rule_of(call->op);
    if (!pcu_type_is_number(x->type)) {
        PyErr_Format(PyExc_TypeError, "%s does not take arrays of dtype %S", call->name,
                     (PyObject *)x->dtype);
        return -1;
    }
    plan->result = scan_default_type(rule, x->type);
    if (call->dtype != PCU_T_NONE) {
        plan->result = call->dtype;
    }
    else if (call->out != Py_None && rule == SCAN_WIDENS) {
        int type = ((pcu_gpuarray *)call->out)->type;
        if (pcu_type_is_number(type) &&
            pcu_type_promote(x->type, type, &plan->result) < 0) {
            return -1;
        }
    }
    if ((rule == SCAN_BITS && !pcu_type_is_exact(plan->result)) ||
        (rule == SCAN_TRUTH && plan->result != PCU_T_BOOL)) {
        PyErr_Format(PyExc_TypeError, "%s of an array of dtype %S cannot have dtype %s",
                     call->name, (PyObject *)x->dtype, pcu_types[plan->result].name);
        return -1;
    }
    plan->compute = plan->result;
    return 0;
}

/* Half precision is computed in float. */
static size_t
scan_compute_size(const scan_plan *plan)
{
    if (pcu_type_is_half(plan->compute)) {
        return pcu_types[PCU_T_FLOAT32].size;
    }
    return pcu_types[plan->compute].size;
}

/* -- shapes ------------------------------------------------------------------------ */

static int
scan_shapes(scan_plan *plan)
{
    const pcu_scan_call *call = plan->call;
    const pcu_gpuarray *x = call->x;
    plan->axis = call->axis;
    plan->ndim = x->ndim;
    if (call->axis == PCU_SCAN_FLAT) {
        plan->ndim = 1;
        plan->axis = 0;
        plan->shape[0] = x->count;
    }
    else {
        memcpy(plan->shape, x->shape, (size_t)x->ndim * sizeof(size_t));
    }
    memcpy(plan->out_shape, plan->shape, (size_t)plan->ndim * sizeof(size_t));
    if (call->include_initial &&
        pcu_add_size(plan->shape[plan->axis], 1, &plan->out_shape[plan->axis]) < 0) {
        PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
        return -1;
    }
    return 0;
}

static int
scan_changed(const scan_plan *plan)
{
    PyErr_Format(PyExc_RuntimeError,
                 "%s: the shape or dtype of an array changed during the call",
                 plan->call->name);
    return -1;
}

/* The strides of an array of the plan's shape; a flat scan joins the axes in C order.
 * -1 without an exception if they cannot be joined. */
static int
scan_strides(const scan_plan *plan, const pcu_gpuarray *array, ptrdiff_t *strides)
{
    if (plan->call->axis == PCU_SCAN_FLAT && array->ndim != 1) {
        return pcu_reshape_strides(array->ndim, array->shape, array->strides,
                                   pcu_gpuarray_itemsize(array), 1, plan->shape, 0,
                                   strides);
    }
    memcpy(strides, array->strides, (size_t)plan->ndim * sizeof(ptrdiff_t));
    return 0;
}

/* Whether all elements are at multiples of the alignment of their dtype. */
static bool
scan_is_aligned(const pcu_gpuarray *x)
{
    uint64_t bits = x->address;
    for (int k = 0; k < x->ndim; k++) {
        bits |= (uint64_t)x->strides[k];
    }
    return bits % pcu_types[x->type].align == 0;
}

/* -- the launch -------------------------------------------------------------------- */

static void
scan_fill_layout(const scan_plan *plan, const pcu_gpuarray *source,
                 const pcu_gpuarray *target, const ptrdiff_t *in_strides,
                 pcu_scan_layout *layout)
{
    ptrdiff_t skipped = 0;
    if (plan->call->include_initial) {
        skipped = target->strides[plan->axis];
    }
    layout->addresses[0] = source->address;
    layout->addresses[1] = target->address + (uint64_t)skipped;
    layout->itemsizes[0] = pcu_gpuarray_itemsize(source);
    layout->itemsizes[1] = pcu_gpuarray_itemsize(target);
    pcu_scan_layout_fill(layout, plan->ndim, plan->shape, in_strides, target->strides,
                         plan->axis);
}

static int
scan_put_size(pcu_argument_buffer *params, size_t value)
{
    return pcu_kernel_put_index(params, 1, (ptrdiff_t)value);
}

/* Input, output, their steps, slots, lengths and the cut, then the axes of lines. */
static int
scan_pack(const pcu_scan_layout *layout, const pcu_scan_cut *cut, CUdeviceptr slots,
          pcu_argument_buffer *params)
{
    const pcu_reduction_axes *lines = &layout->lines;
    const uint64_t head[] = {layout->addresses[0],
                             layout->addresses[1],
                             (uint64_t)layout->steps[0],
                             (uint64_t)layout->steps[1],
                             slots,
                             layout->length,
                             lines->count,
                             cut->tiles,
                             cut->width,
                             (uint64_t)cut->vector};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(head); i++) {
        if (pcu_kernel_put_address(params, head[i]) < 0) {
            return -1;
        }
    }
    for (int k = 0; k < lines->ndim && !cut->is_packed; k++) {
        if (scan_put_size(params, lines->shape[k]) < 0 ||
            pcu_kernel_put_index(params, 1, lines->strides[0][k]) < 0 ||
            pcu_kernel_put_index(params, 1, lines->strides[1][k]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
scan_get_kernel(const scan_plan *plan, pcu_context *ctx, const pcu_scan_layout *layout,
                const pcu_scan_cut *cut, int variant, CUfunction *kernel)
{
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_SCAN;
    key.operation = (uint16_t)plan->call->op;
    key.inputs = 1;
    key.outputs = 1;
    key.types[0] = plan->call->x->type;
    key.types[1] = (uint8_t)plan->result;
    key.compute = (uint8_t)plan->compute;
    key.variant = (uint8_t)variant;
    key.vector = (uint8_t)cut->each;
    key.tile = (uint16_t)cut->threads;
    key.wide = layout->lines.count > INT32_MAX;
    key.rounds = cut->step;
    if (!cut->is_packed) {
        key.ndim = (uint8_t)layout->lines.ndim;
    }
    return pcu_kernel_table_get(plan->st, ctx, &key, kernel);
}

/* Memory for what the blocks tell each other: zeroed for look-back. NULL if there is
 * none; *failed is then true for an error. */
static PyObject *
scan_memory_new(const scan_plan *plan, const pcu_scan_cut *cut, bool *failed)
{
    size_t words = cut->slots;
    int rc = 0;
    *failed = false;
    if (cut->sums > 0) {
        words = cut->sums * PCU_SCALAR_BYTES / sizeof(uint64_t);
    }
    if (words == 0) {
        return NULL;
    }
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT64);
    PyObject *memory =
        pcu_gpuarray_new(plan->st, NULL, 1, &words, NULL, dtype, plan->allocator);
    Py_DECREF(dtype);
    if (memory != NULL && cut->slots > 0) {
        CUdeviceptr address = ((pcu_gpuarray *)memory)->address;
        size_t nbytes = words * sizeof(uint64_t);
        PCU_CALL_COPY(rc, plan->st, MemsetD8Async,
                      (address, 0, nbytes, plan->call->stream),
                      {"the sums of tiles", address, nbytes});
    }
    if (rc < 0) {
        Py_CLEAR(memory);
    }
    *failed = memory == NULL;
    return memory;
}

/* Launch the kernel of the cut, after the kernel `first` if the cut needs sums. */
static int
scan_launch(const scan_plan *plan, const pcu_scan_layout *layout,
            const pcu_scan_cut *cut, CUfunction first, CUfunction kernel)
{
    pcu_argument_buffer params;
    CUdeviceptr address = 0;
    CUstream stream = plan->call->stream;
    bool failed = false;
    PyObject *memory = scan_memory_new(plan, cut, &failed);
    if (failed) {
        return -1;
    }
    if (memory != NULL) {
        address = ((pcu_gpuarray *)memory)->address;
    }
    pcu_argument_buffer_init(&params);
    int rc = scan_pack(layout, cut, address, &params);
    if (rc == 0 && first != NULL) {
        rc = pcu_kernel_launch(plan->st, first, cut->blocks, cut->threads, stream,
                               &params);
    }
    if (rc == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, cut->blocks, cut->threads, stream,
                               &params);
    }
    pcu_argument_buffer_free(&params);
    Py_XDECREF(memory);
    return rc;
}

/* Check the arrays and enqueue the scan. PCU_KERNEL_MADE: nothing was enqueued. */
static int
scan_attempt(const scan_plan *plan, pcu_context *ctx, pcu_gpuarray *source,
             pcu_gpuarray *target)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_scan_layout layout;
    pcu_scan_cut cut;
    CUfunction first = NULL;
    CUfunction kernel = NULL;
    if (source->type != plan->call->x->type || target->type != plan->result ||
        !pcu_gpuarray_has_shape(target, plan->ndim, plan->out_shape) ||
        (plan->call->axis != PCU_SCAN_FLAT &&
         !pcu_gpuarray_has_shape(source, plan->ndim, plan->shape)) ||
        (plan->call->axis == PCU_SCAN_FLAT && source->count != plan->shape[0]) ||
        scan_strides(plan, source, strides) < 0) {
        return scan_changed(plan);
    }
    if (pcu_gpuarray_check(source, ctx) < 0 || pcu_gpuarray_check(target, ctx) < 0) {
        return -1;
    }
    if (source->count == 0) {
        return 0;
    }
    scan_fill_layout(plan, source, target, strides, &layout);
    pcu_scan_layout_cut(&layout, scan_compute_size(plan), &ctx->rec.limits, &cut);
    int rc = scan_get_kernel(plan, ctx, &layout, &cut, cut.variant, &kernel);
    if (rc == 0 && cut.sums > 0) {
        rc = scan_get_kernel(plan, ctx, &layout, &cut, PCU_VARIANT_SCAN_TILE_SUMS,
                             &first);
    }
    if (rc != 0) {
        return rc;
    }
    return scan_launch(plan, &layout, &cut, first, kernel);
}

/* Scan the source, which no kernel needs in another order, into the target. */
static int
scan_run(const scan_plan *plan, pcu_gpuarray *source, pcu_gpuarray *target)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = scan_attempt(plan, ctx, source, target);
    } while (rc == PCU_KERNEL_MADE);
    Py_DECREF(ctx);
    return rc;
}

/* -- source and target ------------------------------------------------------------- */

/* Whether a kernel can read the input as it lies in memory. */
static bool
scan_is_readable(const scan_plan *plan, const pcu_gpuarray *x,
                 const pcu_gpuarray *target)
{
    ptrdiff_t strides[PCU_MAX_NDIM];
    pcu_scan_layout layout;
    if (!scan_is_aligned(x) || scan_strides(plan, x, strides) < 0) {
        return false;
    }
    scan_fill_layout(plan, x, target, strides, &layout);
    return !pcu_scan_layout_is_transposed(&layout);
}

/* The input, or a copy of it in C order if no kernel reads it well. */
static PyObject *
scan_source_new(const scan_plan *plan, const pcu_gpuarray *target)
{
    pcu_gpuarray *x = plan->call->x;
    if (scan_is_readable(plan, x, target)) {
        return Py_NewRef((PyObject *)x);
    }
    PyObject *copy = pcu_gpuarray_new(plan->st, NULL, x->ndim, x->shape, NULL, x->dtype,
                                      plan->allocator);
    if (copy != NULL &&
        pcu_device_copy((pcu_gpuarray *)copy, x, plan->call->stream) < 0) {
        Py_CLEAR(copy);
    }
    return copy;
}

/* Store the value of no elements at the beginning of each line. */
static int
scan_fill_initial(const scan_plan *plan, pcu_gpuarray *target)
{
    size_t shape[PCU_MAX_NDIM];
    memcpy(shape, plan->out_shape, (size_t)plan->ndim * sizeof(size_t));
    shape[plan->axis] = 1;
    pcu_gpuarray *first =
        pcu_gpuarray_view_new(target, plan->ndim, shape, target->strides, 0, NULL);
    PyObject *value = PyLong_FromLong(plan->call->op == PCU_OP_MULTIPLY);
    int rc = -1;
    if (first != NULL && value != NULL) {
        rc = pcu_gpuarray_fill(first, value, plan->call->stream);
    }
    Py_XDECREF(first);
    Py_XDECREF(value);
    return rc;
}

static int
scan_into(const scan_plan *plan, pcu_gpuarray *target)
{
    PyObject *source = scan_source_new(plan, target);
    if (source == NULL) {
        return -1;
    }
    int rc = scan_run(plan, (pcu_gpuarray *)source, target);
    Py_DECREF(source);
    if (rc == 0 && plan->call->include_initial) {
        rc = scan_fill_initial(plan, target);
    }
    return rc;
}

static PyObject *
scan_result_new(const scan_plan *plan)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(plan->result);
    PyObject *target = pcu_gpuarray_new(plan->st, NULL, plan->ndim, plan->out_shape,
                                        NULL, dtype, plan->allocator);
    Py_DECREF(dtype);
    if (target == NULL) {
        return NULL;
    }
    if (scan_into(plan, (pcu_gpuarray *)target) < 0) {
        Py_CLEAR(target);
        return NULL;
    }
    if (plan->result == PCU_T_BOOL) {
        ((pcu_gpuarray *)target)->counts_as = plan->call->x->counts_as;
    }
    return target;
}

/* -- out --------------------------------------------------------------------------- */

/* Whether no two elements of the array are known to share memory. */
static bool
scan_is_disjoint(const pcu_gpuarray *array)
{
    for (int k = 0; k < array->ndim; k++) {
        if (array->shape[k] > 1 && array->strides[k] == 0) {
            return false;
        }
    }
    return true;
}

/* Whether the kernel can write its results to `out`. */
static bool
scan_is_direct(const scan_plan *plan, const pcu_gpuarray *out)
{
    return out->type == plan->result && scan_is_aligned(out) && scan_is_disjoint(out) &&
           !pcu_gpuarray_conflicts(plan->call->x, out);
}

static PyObject *
scan_result_in_out(const scan_plan *plan)
{
    pcu_gpuarray *out = (pcu_gpuarray *)plan->call->out;
    if (scan_is_direct(plan, out)) {
        if (scan_into(plan, out) < 0) {
            return NULL;
        }
        return Py_NewRef((PyObject *)out);
    }
    PyObject *result = scan_result_new(plan);
    if (result == NULL) {
        return NULL;
    }
    int rc = pcu_gpuarray_assign(out, result, plan->call->stream);
    Py_DECREF(result);
    if (rc < 0) {
        return NULL;
    }
    return Py_NewRef((PyObject *)out);
}

PyObject *
pcu_scan(pcu_state *st, const pcu_scan_call *call)
{
    scan_plan plan;
    plan.st = st;
    plan.call = call;
    plan.allocator = call->allocator;
    if (plan.allocator == NULL) {
        plan.allocator = call->x->allocator;
    }
    if (scan_shapes(&plan) < 0 ||
        (call->out != Py_None &&
         pcu_check_out(st, call->name, call->out, plan.ndim, plan.out_shape) < 0) ||
        scan_types(&plan) < 0) {
        return NULL;
    }
    if (call->out != Py_None) {
        return scan_result_in_out(&plan);
    }
    return scan_result_new(&plan);
}
