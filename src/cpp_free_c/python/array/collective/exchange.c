/* What all exchanges of arrays share: see exchange.h. */

#include "python/array/collective/exchange.h"

#include "python/array/collective/group.h"
#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/launched.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

/* -- the arrays -------------------------------------------------------------------- */

const void *
pcu_exchange_source(const pcu_exchange *e)
{
    return (const void *)(uintptr_t)e->send->address;
}

void *
pcu_exchange_target(const pcu_exchange *e)
{
    if (e->recv == NULL) {
        return NULL;
    }
    return (void *)(uintptr_t)e->recv->address;
}

static int
exchange_check_array(const pcu_exchange *e, PyObject *op, const char *name,
                     pcu_gpuarray **out)
{
    pcu_state *st = e->self->st;
    if (!pcu_is_array(st, op)) {
        PyErr_Format(PyExc_TypeError, "%s: %s must be a GPUArray, not %s", e->routine,
                     name, Py_TYPE(op)->tp_name);
        return -1;
    }
    pcu_gpuarray *array = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(array) < 0 ||
        pcu_gpuarray_check(array, (pcu_context *)e->self->ctx) < 0) {
        return -1;
    }
    if (array->contiguous == 0) {
        PyObject *shape = pcu_shape_tuple_new(array->ndim, array->shape);
        PyObject *strides = pcu_numbers_tuple_new(array->ndim, array->strides);
        if (shape != NULL && strides != NULL) {
            PyErr_Format(PyExc_ValueError,
                         "%s: the elements of %s (shape %S, strides %S) are not "
                         "adjacent in memory: exchange a copy",
                         e->routine, name, shape, strides);
        }
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return -1;
    }
    *out = array;
    return 0;
}

/* The communicator's context must be current: its streams are meant. */
static int
exchange_check_context(const pcu_exchange *e)
{
    pcu_state *st = e->self->st;
    if (e->self->ctx == NULL) {
        return 0; /* pcu_communicator_enter raises */
    }
    pcu_context *current = pcu_context_launch_borrow(st);
    if (current == NULL) {
        return -1;
    }
    if (current->rec.handle != pcu_context_rec(e->self->ctx)->handle) {
        PyErr_Format(st->exc_LogicError,
                     "%s: the communicator works in another context than the current "
                     "one: push its attribute `context` first",
                     e->routine);
        return -1;
    }
    return 0;
}

/* ValueError if the memory of the two overlaps, unless recv begins `offset` bytes after
 * send (or send after recv: `offset` is negative). */
static int
exchange_check_overlap(const pcu_exchange *e, ptrdiff_t offset, bool may_coincide)
{
    CUdeviceptr first = e->send->address, second = e->recv->address;
    bool apart = first + pcu_gpuarray_nbytes(e->send) <= second ||
                 second + pcu_gpuarray_nbytes(e->recv) <= first;
    if (apart || (may_coincide && second == first + (CUdeviceptr)offset)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "%s: the memory of send and recv overlaps: exchange a copy",
                 e->routine);
    return -1;
}

/* The array for the result: the one given, which must have the shape, or a new one. */
PyObject *
pcu_exchange_result_new(pcu_exchange *e, PyObject *given, int ndim, const size_t *shape,
                        ptrdiff_t offset, bool may_coincide)
{
    pcu_gpuarray *send = e->send;
    bool same_shape = pcu_gpuarray_has_shape(send, ndim, shape);
    if (given == Py_None) {
        PyObject *made;
        if (same_shape) {
            made = pcu_gpuarray_like_new(send, ndim, NULL, send->dtype, NULL);
        }
        else {
            made = pcu_gpuarray_new(e->self->st, NULL, ndim, shape, NULL, send->dtype,
                                    send->allocator);
        }
        e->recv = (pcu_gpuarray *)made;
        return made;
    }
    if (exchange_check_array(e, given, "recv", &e->recv) < 0) {
        return NULL;
    }
    pcu_gpuarray *recv = e->recv;
    if (!PyArray_EquivTypes(recv->dtype, send->dtype)) {
        PyErr_Format(PyExc_TypeError, "%s: recv has dtype %S, send has %S", e->routine,
                     recv->dtype, send->dtype);
        return NULL;
    }
    if (!pcu_gpuarray_has_shape(recv, ndim, shape)) {
        (void)pcu_raise_shapes("%s: recv must have shape %S, not %S", e->routine, ndim,
                               shape, recv);
        return NULL;
    }
    int common = send->contiguous & recv->contiguous;
    if (common == 0 || (!same_shape && (common & PCU_ARRAY_C) == 0)) {
        PyErr_Format(PyExc_ValueError,
                     "%s: send and recv must have the same order in memory%s",
                     e->routine, same_shape ? "" : ", that of C");
        return NULL;
    }
    if (exchange_check_overlap(e, offset, may_coincide) < 0) {
        return NULL;
    }
    return Py_NewRef(given);
}

/* -- the numbers ------------------------------------------------------------------- */

int
pcu_exchange_set_peer(pcu_exchange *e, const char *name, int peer)
{
    e->peer = peer;
    if (e->self->ctx == NULL || (peer >= 0 && peer < e->self->size)) {
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "%s: %s is %d; it must be from 0 to %d", e->routine,
                 name, peer, e->self->size - 1);
    return -1;
}

/* Move elements as bytes. */
void
pcu_exchange_as_bytes(pcu_exchange *e, size_t count)
{
    e->type = PCU_NCCL_UINT8;
    e->count = count * pcu_gpuarray_itemsize(e->send);
}

int
pcu_exchange_set_op(pcu_exchange *e, PyObject *op)
{
    static const char *const names[] = {
        [PCU_NCCL_SUM] = "sum", [PCU_NCCL_PROD] = "prod", [PCU_NCCL_MAX] = "max",
        [PCU_NCCL_MIN] = "min", [PCU_NCCL_AVG] = "avg",
    };
    size_t place = pcu_find_word(op, names, Py_ARRAY_LENGTH(names));
    if (place < Py_ARRAY_LENGTH(names)) {
        e->op = (int)place;
        return 0;
    }
    PyErr_Format(PyExc_ValueError,
                 "%s: op must be 'sum', 'prod', 'max', 'min' or 'avg', not %R",
                 e->routine, op);
    return -1;
}

/* Reduce `count` elements. Sums of complex numbers are sums of their parts. */
int
pcu_exchange_as_numbers(pcu_exchange *e, size_t count)
{
    static const int types[PCU_T_COUNT] = {
        [PCU_T_BOOL] = -1,
        [PCU_T_INT8] = PCU_NCCL_INT8,
        [PCU_T_UINT8] = PCU_NCCL_UINT8,
        [PCU_T_INT16] = -1,
        [PCU_T_UINT16] = -1,
        [PCU_T_INT32] = PCU_NCCL_INT32,
        [PCU_T_UINT32] = PCU_NCCL_UINT32,
        [PCU_T_INT64] = PCU_NCCL_INT64,
        [PCU_T_UINT64] = PCU_NCCL_UINT64,
        [PCU_T_FLOAT16] = PCU_NCCL_FLOAT16,
        [PCU_T_FLOAT32] = PCU_NCCL_FLOAT32,
        [PCU_T_FLOAT64] = PCU_NCCL_FLOAT64,
        [PCU_T_COMPLEX64] = PCU_NCCL_FLOAT32,
        [PCU_T_COMPLEX128] = PCU_NCCL_FLOAT64,
        [PCU_T_BFLOAT16] = PCU_NCCL_BFLOAT16,
    };
    int type = e->send->type;
    bool is_complex = type < PCU_T_COUNT && pcu_type_is_complex(type);
    if (type >= PCU_T_COUNT || types[type] < 0 ||
        (is_complex && e->op != PCU_NCCL_SUM && e->op != PCU_NCCL_AVG)) {
        PyErr_Format(
            PyExc_TypeError,
            "%s: NCCL cannot reduce %S with that op; it reduces integers of 8, "
            "32 and 64 bits and floats, and adds complex numbers",
            e->routine, e->send->dtype);
        return -1;
    }
    e->type = types[type];
    e->count = count * (size_t)(1 + is_complex);
    return 0;
}

/* -- enqueuing --------------------------------------------------------------------- */

/* Keep everything alive that NCCL uses at the end of an open group. */
static int
exchange_hold(const pcu_exchange *e)
{
    PyObject *const objects[] = {(PyObject *)e->self, (PyObject *)e->send,
                                 (PyObject *)e->recv, e->stream_object};
    for (size_t i = 0; i < Py_ARRAY_LENGTH(objects); i++) {
        if (objects[i] != NULL && pcu_group_hold(objects[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
exchange_enqueue(const pcu_exchange *e, pcu_exchange_function function)
{
    pcu_state *st = e->self->st;
    int status = PCU_NCCL_SUCCESS;
    if (exchange_hold(e) < 0 || pcu_captured_object((PyObject *)e->self) < 0 ||
        pcu_current_context_ready(st) < 0 ||
        pcu_communicator_enter(e->self, e->routine) < 0) {
        return -1;
    }
    (void)pcu_queue_count();
    PyThreadState *thread = pcu_unlock(); /* the first one connects */
    status = function(e);
    pcu_lock(thread);
    pcu_communicator_leave(e->self);
    if (status != PCU_NCCL_SUCCESS) {
        return pcu_nccl_raise(st, e->routine, status);
    }
    return pcu_launched_exchange(st, pcu_ctx_current, e->routine, e->stream);
}

/* Parse the arguments and check `send`. */
int
pcu_exchange_begin(pcu_exchange *e, const pcu_signature *signature,
                   pcu_exchange_args *a, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_state *st = e->self->st;
    e->routine = signature->function;
    e->stream = pcu_stream_current();
    e->stream_object = (PyObject *)pcu_stream_find_borrow();
    if (pcu_args_parse(st, signature, args, nargs, kwnames, a) < 0 ||
        exchange_check_context(e) < 0) {
        return -1;
    }
    if (a->stream != Py_None) {
        e->stream_object = a->stream;
        if (pcu_as_stream(st, a->stream, &e->stream, "stream") < 0) {
            return -1;
        }
    }
    return exchange_check_array(e, a->send, signature->parameters[0].text, &e->send);
}

/* Enqueue into the array `result`, which is consumed and returned. NULL: it failed. */
PyObject *
pcu_exchange_finish(const pcu_exchange *e, pcu_exchange_function function,
                    PyObject *result)
{
    if (result != NULL && exchange_enqueue(e, function) < 0) {
        Py_CLEAR(result);
    }
    return result;
}
