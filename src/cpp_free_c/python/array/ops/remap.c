/* Copies whose elements come from other places along each axis: see remap.h.
 *
 * Neighbouring axes that keep their places are joined. Where the elements along the
 * last axis follow each other on both sides, the kernel moves words of several. */

#include "python/array/ops/remap.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/operations.h"
#include "python/array/recording.h"
#include "python/array/scalar.h"
#include "python/driver/context.h"

enum {
    REMAP_THREADS = 256,
    REMAP_WORD = 16,
    REMAP_MOST = 8,           /* the most words of a thread */
    REMAP_FILL_BLOCKS = 16,   /* blocks on a multiprocessor that fill the device */
    REMAP_MASK_BITS = 8,      /* axes beyond count as mapped */
    REMAP_PARTS_LEAST = 4096, /* elements that the software device rolls by parts */
    REMAP_PARTS_AXES = 2,
    REMAP_NARROW = INT32_MAX / 2
};

typedef struct {
    size_t target; /* lengths */
    size_t source;
    ptrdiff_t stride; /* of the source */
    ptrdiff_t first;
    bool is_mapped;
} remap_axis;

typedef struct {
    const pcu_remap_call *call;
    pcu_gpuarray *source;
    CUdeviceptr target_address;
    size_t count; /* of words */
    size_t itemsize;
    size_t word;
    size_t each;
    bool wide;
    int ndim;
    remap_axis axes[PCU_MAX_NDIM];
    unsigned char value[PCU_SCALAR_BYTES];
} remap_plan;

/* -- axes -------------------------------------------------------------------------- */

/* Whether each element of the axis keeps its place. */
static bool
remap_keeps(pcu_remap_rule rule, const remap_axis *axis)
{
    if (axis->target != axis->source) {
        return false;
    }
    if (rule == PCU_REMAP_REPEAT) {
        return axis->first == 1;
    }
    return rule == PCU_REMAP_TILE || axis->first == 0;
}

/* The number of the axis as the kernel takes it: a roll adds what is missing to n. */
static ptrdiff_t
remap_first(pcu_remap_rule rule, ptrdiff_t first, size_t length)
{
    ptrdiff_t n = (ptrdiff_t)length;
    if (rule != PCU_REMAP_ROLL || n == 0) {
        return first;
    }
    ptrdiff_t shift = first % n;
    if (shift > 0) {
        return n - shift;
    }
    return -shift;
}

/* Fill in the axes; neighbours that keep their places are joined. */
static void
remap_fill_axes(remap_plan *plan)
{
    const pcu_gpuarray *source = plan->source;
    pcu_remap_rule rule = plan->call->rule;
    plan->ndim = 0;
    for (int i = 0; i < source->ndim; i++) {
        remap_axis axis = {
            .target = plan->call->shape[i],
            .source = source->shape[i],
            .stride = source->strides[i],
            .first = remap_first(rule, plan->call->firsts[i], source->shape[i]),
        };
        axis.is_mapped = !remap_keeps(rule, &axis);
        if (!axis.is_mapped && axis.target == 1) {
            continue;
        }
        remap_axis *last = plan->axes + plan->ndim - 1;
        if (plan->ndim > 0 && !axis.is_mapped && !last->is_mapped &&
            last->stride == axis.stride * (ptrdiff_t)axis.target) {
            last->target *= axis.target;
            last->source = last->target;
            last->stride = axis.stride;
        }
        else {
            plan->axes[plan->ndim++] = axis;
        }
    }
}

/* -- words ------------------------------------------------------------------------- */

/* Whether numbers of elements along a mapped axis can be replaced by numbers of words.
 */
static bool
remap_scales(pcu_remap_rule rule)
{
    return rule == PCU_REMAP_ROLL || rule == PCU_REMAP_TILE ||
           rule == PCU_REMAP_EMPTY || rule == PCU_REMAP_WRAP;
}

/* Whether the last axis is a run of elements that can be moved in words. */
static bool
remap_is_run(const remap_plan *plan)
{
    const remap_axis *last = plan->axes + plan->ndim - 1;
    return plan->ndim > 0 && last->stride == (ptrdiff_t)plan->itemsize &&
           (!last->is_mapped || remap_scales(plan->call->rule)) &&
           plan->call->value == NULL;
}

/* Choose the word, and count words instead of elements along a run. */
static void
remap_choose_word(remap_plan *plan)
{
    bool is_run = remap_is_run(plan);
    int axes = plan->ndim;
    size_t size = plan->itemsize;
    uint64_t bits = REMAP_WORD | plan->source->address | plan->target_address;
    if (is_run) {
        remap_axis *last = plan->axes + --axes;
        bits |= last->target * size | last->source * size;
        bits |= (uint64_t)last->first * size;
    }
    else {
        bits |= size;
    }
    for (int i = 0; i < axes; i++) {
        bits |= (uint64_t)plan->axes[i].stride;
    }
    plan->word = (size_t)(bits & (~bits + 1));
    if (is_run) {
        remap_axis *last = plan->axes + axes;
        last->target = last->target * size / plan->word;
        last->source = last->source * size / plan->word;
        last->first = last->first * (ptrdiff_t)size / (ptrdiff_t)plan->word;
        last->stride = (ptrdiff_t)plan->word;
        plan->itemsize = plan->word;
    }
}

/* Whether a number that the kernel takes does not fit 32 bits. */
static bool
remap_is_wide(const remap_plan *plan)
{
    if (plan->count > REMAP_NARROW) {
        return true;
    }
    for (int i = 0; i < plan->ndim; i++) {
        const remap_axis *axis = &plan->axes[i];
        if (axis->source > REMAP_NARROW || axis->target > REMAP_NARROW ||
            axis->first > REMAP_NARROW || axis->first < -REMAP_NARROW ||
            axis->stride > INT32_MAX || axis->stride < -INT32_MAX) {
            return true;
        }
    }
    return false;
}

static void
remap_fill_plan(remap_plan *plan, const pcu_gpuarray *target, const pcu_context *ctx)
{
    plan->itemsize = pcu_gpuarray_itemsize(plan->source);
    plan->target_address = target->address;
    remap_fill_axes(plan);
    remap_choose_word(plan);
    plan->count = 1;
    for (int i = 0; i < plan->ndim; i++) {
        plan->count *= plan->axes[i].target;
    }
    plan->wide = remap_is_wide(plan);
    size_t fill = (size_t)ctx->rec.limits.multiprocessors * REMAP_FILL_BLOCKS;
    plan->each = 1;
    while (plan->each * plan->word < REMAP_WORD && plan->each < REMAP_MOST &&
           plan->count / (REMAP_THREADS * plan->each) > fill) {
        plan->each *= 2;
    }
}

/* -- the launch -------------------------------------------------------------------- */

static void
remap_fill_key(const remap_plan *plan, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_REMAP;
    key->operation = PCU_OP_COPY;
    key->raw_bytes = (uint32_t)plan->itemsize;
    key->vector = (uint8_t)plan->word;
    key->ndim = (uint8_t)plan->ndim;
    key->wide = (uint8_t)plan->wide;
    key->tile = (uint16_t)plan->each;
    key->variant = (uint8_t)(PCU_VARIANT_REMAP_ROLL + (int)plan->call->rule);
    for (int i = 0; i < plan->ndim && i < REMAP_MASK_BITS; i++) {
        key->kept_ndim |= (uint8_t)(plan->axes[i].is_mapped << i);
    }
}

/* The number by which the rule divides a place. */
static size_t
remap_divisor(const remap_plan *plan, const remap_axis *axis)
{
    size_t divisor = axis->source;
    if (plan->call->rule == PCU_REMAP_REPEAT) {
        divisor = (size_t)axis->first;
    }
    return Py_MAX(divisor, 1);
}

/* Both addresses, the value outside, the number of words; then the axes. */
static int
remap_pack(const remap_plan *plan, pcu_argument_buffer *params)
{
    bool wide = plan->wide;
    if (pcu_kernel_put_address(params, plan->source->address) < 0 ||
        pcu_kernel_put_address(params, plan->target_address) < 0 ||
        (plan->call->value != NULL &&
         pcu_kernel_put(params, plan->value, plan->itemsize, plan->word) < 0) ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)plan->count) < 0) {
        return -1;
    }
    for (int i = 0; i < plan->ndim; i++) {
        const remap_axis *axis = &plan->axes[i];
        if (pcu_kernel_put_divisor(params, wide, axis->target) < 0 ||
            pcu_kernel_put_index(params, wide, (ptrdiff_t)axis->source) < 0 ||
            pcu_kernel_put_index(params, wide, axis->stride) < 0 ||
            pcu_kernel_put_index(params, wide, axis->first) < 0 ||
            pcu_kernel_put_divisor(params, wide, remap_divisor(plan, axis)) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
remap_launch(const remap_plan *plan, CUfunction kernel)
{
    pcu_argument_buffer params;
    size_t each = REMAP_THREADS * plan->each;
    pcu_argument_buffer_init(&params);
    int rc = remap_pack(plan, &params);
    if (rc == 0) {
        rc =
            pcu_kernel_launch(plan->source->st, kernel, (plan->count + each - 1) / each,
                              REMAP_THREADS, plan->call->stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* After a kernel was made other code may have changed the source. */
static int
remap_check_same(const pcu_gpuarray *source, int ndim, const size_t *shape, int type)
{
    if (source->type == type && pcu_gpuarray_has_shape(source, ndim, shape)) {
        return 0;
    }
    PyErr_SetString(PyExc_RuntimeError,
                    "the shape or dtype of an array changed during the call");
    return -1;
}

static int
remap_enqueue(remap_plan *plan, pcu_gpuarray *target, pcu_context *ctx)
{
    pcu_kernel_key key;
    size_t shape[PCU_MAX_NDIM];
    CUfunction kernel = NULL;
    pcu_gpuarray *source = plan->source;
    int ndim = source->ndim;
    int type = source->type;
    int rc;
    memcpy(shape, source->shape, (size_t)ndim * sizeof(*shape));
    do {
        if (remap_check_same(source, ndim, shape, type) < 0 ||
            pcu_gpuarray_check(source, ctx) < 0 ||
            pcu_gpuarray_check(target, ctx) < 0) {
            return -1;
        }
        remap_fill_plan(plan, target, ctx);
        remap_fill_key(plan, &key);
        rc = pcu_kernel_table_get(source->st, ctx, &key, &kernel);
    } while (rc == PCU_KERNEL_MADE);
    if (rc < 0) {
        return -1;
    }
    return remap_launch(plan, kernel);
}

/* -- rolls on the software device -------------------------------------------------- */

/* It copies rows faster than it finds the place of each element. */
typedef struct {
    pcu_gpuarray *source;
    pcu_gpuarray *target;
    const pcu_remap_call *call;
    size_t shape[PCU_MAX_NDIM];
} remap_roll;

/* Copy the parts of a roll whose axes before this one are chosen. */
static int
remap_copy_parts(remap_roll *roll, int axis, ptrdiff_t from, ptrdiff_t to)
{
    pcu_gpuarray *source = roll->source;
    pcu_gpuarray *target = roll->target;
    if (axis == source->ndim) {
        pcu_gpuarray *part = pcu_gpuarray_view_new(source, axis, roll->shape,
                                                   source->strides, from, NULL);
        pcu_gpuarray *place = NULL;
        int rc = -1;
        if (part != NULL) {
            place = pcu_gpuarray_view_new(target, axis, roll->shape, target->strides,
                                          to, NULL);
        }
        if (place != NULL) {
            rc = pcu_device_copy(place, part, roll->call->stream);
        }
        Py_XDECREF(part);
        Py_XDECREF(place);
        return rc;
    }
    ptrdiff_t n = (ptrdiff_t)source->shape[axis];
    ptrdiff_t rest = remap_first(PCU_REMAP_ROLL, roll->call->firsts[axis], (size_t)n);
    ptrdiff_t parts[2][3] = {{n - rest, 0, rest}, {rest, n - rest, 0}};
    for (int i = 0; i < 2; i++) {
        ptrdiff_t length = parts[i][0];
        roll->shape[axis] = (size_t)length;
        if (length > 0 &&
            remap_copy_parts(roll, axis + 1, from + parts[i][2] * source->strides[axis],
                             to + parts[i][1] * target->strides[axis]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Roll by copies of parts: 1 if they were enqueued, 0 if not, or -1. */
static int
remap_roll_by_parts(pcu_gpuarray *source, pcu_gpuarray *target,
                    const pcu_remap_call *call)
{
    remap_roll roll = {.source = source, .target = target, .call = call};
    int rolled = 0;
    for (int i = 0; i < source->ndim; i++) {
        rolled += remap_first(call->rule, call->firsts[i], source->shape[i]) != 0;
    }
    if (call->rule != PCU_REMAP_ROLL || source->count < REMAP_PARTS_LEAST ||
        rolled > REMAP_PARTS_AXES) {
        return 0;
    }
    int rc = pcu_kernel_may_differ();
    if (rc == 1 && remap_copy_parts(&roll, 0, 0, 0) < 0) {
        return -1;
    }
    return rc;
}

/* -- the record -------------------------------------------------------------------- */

/* Note the source, and the number outside if there is one; the rule and the numbers of
 * the axes. */
static int
remap_record(remap_plan *plan, pcu_gpuarray *target)
{
    pcu_gpuarray *source = plan->source;
    PyObject *inputs = NULL;
    PyObject *firsts = PyTuple_New(source->ndim);
    for (int i = 0; firsts != NULL && i < source->ndim; i++) {
        PyObject *number = PyLong_FromSsize_t(plan->call->firsts[i]);
        if (number == NULL) {
            Py_CLEAR(firsts);
            break;
        }
        PyTuple_SET_ITEM(firsts, i, number);
    }
    if (firsts == NULL) {
        return -1;
    }
    if (plan->call->value == NULL) {
        inputs = pcu_record_arrays_new(&source, 1);
    }
    else {
        inputs = Py_BuildValue("(O(sy#))", source, pcu_types[source->type].name,
                               plan->value, (Py_ssize_t)pcu_gpuarray_itemsize(source));
    }
    return pcu_record(source->st, "remap", "raw", inputs,
                      pcu_record_arrays_new(&target, 1),
                      Py_BuildValue("(iN)", (int)plan->call->rule, firsts));
}

/* -- the result -------------------------------------------------------------------- */

/* Elements outside of the source need others to take, or a value. */
static int
remap_check_lengths(const pcu_gpuarray *source, const pcu_remap_call *call)
{
    for (int i = 0; i < source->ndim; i++) {
        if (source->shape[i] == 0 && call->shape[i] > 0 &&
            call->rule != PCU_REMAP_EMPTY && call->rule != PCU_REMAP_CONSTANT) {
            PyErr_Format(PyExc_ValueError,
                         "axis %d has no elements, so it cannot be extended to %zu "
                         "elements: give a constant",
                         i, call->shape[i]);
            return -1;
        }
    }
    return 0;
}

PyObject *
pcu_remap_new(pcu_gpuarray *source, const pcu_remap_call *call)
{
    remap_plan plan;
    pcu_state *st = source->st;
    plan.call = call;
    plan.source = source;
    if (remap_check_lengths(source, call) < 0) {
        return NULL;
    }
    if (call->value != NULL && !pcu_type_is_number(source->type)) {
        PyErr_Format(PyExc_TypeError, "elements of dtype %S have no constant number",
                     (PyObject *)source->dtype);
        return NULL;
    }
    if (call->value != NULL && pcu_scalar_pack(call->value, source->type,
                                               PCU_SCALAR_ASSIGNED, plan.value) < 0) {
        return NULL;
    }
    PyObject *result = pcu_gpuarray_new(st, NULL, source->ndim, call->shape, NULL,
                                        source->dtype, source->allocator);
    if (result == NULL) {
        return NULL;
    }
    pcu_gpuarray *target = (pcu_gpuarray *)result;
    target->counts_as = source->counts_as;
    if (target->count == 0 || pcu_gpuarray_itemsize(target) == 0) {
        return result;
    }
    if (pcu_is_recording(st)) {
        if (remap_record(&plan, target) < 0) {
            Py_CLEAR(result);
        }
        return result;
    }
    int rc = remap_roll_by_parts(source, target, call);
    if (rc < 0) {
        Py_CLEAR(result);
    }
    if (rc != 0) {
        return result;
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        Py_DECREF(result);
        return NULL;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    if (remap_enqueue(&plan, target, ctx) < 0) {
        Py_CLEAR(result);
    }
    Py_DECREF(ctx);
    return result;
}
