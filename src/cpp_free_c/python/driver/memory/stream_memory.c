/* Values in memory that a stream waits for or writes: methods of Stream.
 *
 * Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/memory/pointer.h"
#include "python/driver/resource.h"

enum { OPERATIONS_MOST = 256 }; /* of one call of the driver */

typedef struct {
    PyObject *memory;
    PyObject *value;
    unsigned int flags;
    unsigned int width;
} value_args;

/* A value of 4 or 8 bytes; negative numbers have the same bits as signed integers. */
static int
value_read(PyObject *value, unsigned int width, unsigned long long *bits)
{
    if (width == 8) {
        return pcu_as_integer(value, LLONG_MIN, ULLONG_MAX, bits, "value");
    }
    if (width == 4) {
        int rc = pcu_as_integer(value, INT_MIN, UINT_MAX, bits, "value");
        *bits &= UINT_MAX;
        return rc;
    }
    PyErr_Format(PyExc_ValueError, "width must be 4 or 8 bytes, not %u", width);
    return -1;
}

/* The address of a value, and the graph of an active capture told of it. */
static int
value_address(pcu_state *st, PyObject *memory, CUdeviceptr *address)
{
    if (pcu_as_pointer(st, memory, address, "memory") < 0 ||
        pcu_captured_object(memory) < 0) {
        return -1;
    }
    return pcu_captured_address(*address);
}

typedef struct {
    CUdeviceptr address;
    unsigned long long bits;
} value_place;

/* Raise for a status, naming what was asked. flags_rule: which flags the call takes. */
static int
value_raise(pcu_state *st, const char *routine, CUresult status, const value_place *p,
            const value_args *a, const char *flags_rule)
{
    return pcu_raise_detail(
        st, routine, status,
        "%u bytes at %p with flags %u; the address must be a multiple of %u in "
        "memory of the device, in managed or in page-locked memory, and the flags %s",
        a->width, (void *)(uintptr_t)p->address, a->flags, a->width, flags_rule);
}

/* -- Stream.wait_value, Stream.write_value ----------------------------------------- */

static const pcu_argspec value_specs[] = {
    {"memory", pcu_as_object, offsetof(value_args, memory)},
    {"value", pcu_as_object, offsetof(value_args, value)},
    {"condition", pcu_as_uint, offsetof(value_args, flags)},
    {"width", pcu_as_uint, offsetof(value_args, width)},
};
static const pcu_argspec write_specs[] = {
    {"memory", pcu_as_object, offsetof(value_args, memory)},
    {"value", pcu_as_object, offsetof(value_args, value)},
    {"flags", pcu_as_uint, offsetof(value_args, flags)},
    {"width", pcu_as_uint, offsetof(value_args, width)},
};

/* Parse the arguments and make the stream's context ready. */
static int
value_begin(pcu_resource *self, const pcu_argtable *table, PyObject *const *args,
            Py_ssize_t nargs, PyObject *kwnames, value_args *a, value_place *place)
{
    if (pcu_args_parse(self->st, table, args, nargs, kwnames, a) < 0 ||
        value_read(a->value, a->width, &place->bits) < 0 ||
        pcu_resource_check(self, "cuStreamBatchMemOp") < 0 ||
        value_address(self->st, a->memory, &place->address) < 0) {
        return -1;
    }
    return pcu_current_context_ready(self->st);
}

PyDoc_STRVAR(
    stream_wait_value_doc,
    "wait_value($self, /, memory, value, condition=0, width=4)\n--\n\n"
    "Let work that is enqueued from now on wait for a value in memory.\n\n"
    "memory: device, managed or page-locked memory, or an address. condition, a\n"
    "stream_wait_value: GEQ (the default; the difference is 0 or more as a signed\n"
    "number), EQ, AND (common bits) or NOR. width: bytes of the value, 4 or 8.\n"
    "Calls cuStreamWaitValue32 or cuStreamWaitValue64, of CUDA 11.7.");

static PyObject *
stream_wait_value(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const pcu_argtable table = {"wait_value", value_specs, 4, 2, 0};
    pcu_resource *self = (pcu_resource *)op;
    CUstream stream = self->handle.stream;
    value_args a = {.width = 4};
    value_place p;
    CUresult status;
    const char *routine = "cuStreamWaitValue32";
    if (value_begin(self, &table, args, nargs, kwnames, &a, &p) < 0) {
        return NULL;
    }
    if (a.width == 8) {
        routine = "cuStreamWaitValue64";
        PCU_STATUS(status, StreamWaitValue64, (stream, p.address, p.bits, a.flags));
    }
    else {
        PCU_STATUS(status, StreamWaitValue32,
                   (stream, p.address, (unsigned int)p.bits, a.flags));
    }
    if (status != CUDA_SUCCESS) {
        value_raise(self->st, routine, status, &p, &a, "a stream_wait_value");
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(
    stream_write_value_doc,
    "write_value($self, /, memory, value, flags=0, width=4)\n--\n\n"
    "Write a value to memory after the work enqueued so far.\n\n"
    "memory: device, managed or page-locked memory, or an address. flags: a\n"
    "stream_write_value; drivers since CUDA 11.7 refuse NO_MEMORY_BARRIER. width:\n"
    "bytes of the value, 4 or 8. Calls cuStreamWriteValue32 or\n"
    "cuStreamWriteValue64, of CUDA 11.7.");

static PyObject *
stream_write_value(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argtable table = {"write_value", write_specs, 4, 2, 0};
    pcu_resource *self = (pcu_resource *)op;
    CUstream stream = self->handle.stream;
    value_args a = {.width = 4};
    value_place p;
    CUresult status;
    const char *routine = "cuStreamWriteValue32";
    if (value_begin(self, &table, args, nargs, kwnames, &a, &p) < 0) {
        return NULL;
    }
    if (a.width == 8) {
        routine = "cuStreamWriteValue64";
        PCU_STATUS(status, StreamWriteValue64, (stream, p.address, p.bits, a.flags));
    }
    else {
        PCU_STATUS(status, StreamWriteValue32,
                   (stream, p.address, (unsigned int)p.bits, a.flags));
    }
    if (status != CUDA_SUCCESS) {
        value_raise(self->st, routine, status, &p, &a, "0");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* -- Stream.batch_memory_operations ------------------------------------------------ */

/* Read (WAIT_... or WRITE_..., memory, value[, flags]). */
static int
operation_read_value(pcu_state *st, PyObject *item, CUstreamBatchMemOpParams *p)
{
    Py_ssize_t n = PyTuple_GET_SIZE(item);
    unsigned int width = 4;
    if (p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
        p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
        width = 8;
    }
    if (n != 3 && n != 4) {
        PyErr_Format(PyExc_TypeError,
                     "an operation must be (stream_mem_op, memory, value) or "
                     "(stream_mem_op, memory, value, flags), not %R",
                     item);
        return -1;
    }
    if (value_address(st, PyTuple_GET_ITEM(item, 1), &p->waitValue.address) < 0 ||
        value_read(PyTuple_GET_ITEM(item, 2), width, &p->waitValue.value64) < 0) {
        return -1;
    }
    if (n == 4) {
        return pcu_as_uint(st, PyTuple_GET_ITEM(item, 3), &p->waitValue.flags, "flags");
    }
    return 0;
}

/* Read one operation. Those on values have their fields at the same places. */
static int
operation_read(pcu_state *st, PyObject *item, CUstreamBatchMemOpParams *p)
{
    memset(p, 0, sizeof(*p));
    if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) == 0) {
        PyErr_Format(PyExc_TypeError,
                     "an operation must be a tuple that begins with a stream_mem_op, "
                     "not %R",
                     item);
        return -1;
    }
    if (pcu_enum_value(st->enum_stream_mem_op, PyTuple_GET_ITEM(item, 0), &p->operation,
                       "the first item of an operation") < 0) {
        return -1;
    }
    if (p->operation != CU_STREAM_MEM_OP_BARRIER &&
        p->operation != CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES) {
        return operation_read_value(st, item, p);
    }
    if (PyTuple_GET_SIZE(item) > 2) {
        PyErr_Format(PyExc_TypeError, "this operation takes flags only, not %R", item);
        return -1;
    }
    if (PyTuple_GET_SIZE(item) == 2) {
        return pcu_as_uint(st, PyTuple_GET_ITEM(item, 1), &p->memoryBarrier.flags,
                           "flags");
    }
    return 0;
}

static int
operations_enqueue(pcu_resource *self, CUstreamBatchMemOpParams *list, Py_ssize_t n)
{
    int rc = pcu_current_context_ready(self->st);
    if (rc < 0) {
        return -1;
    }
    PCU_CALL(rc, self->st, StreamBatchMemOp,
             (self->handle.stream, (unsigned int)n, list, 0));
    return rc;
}

PyDoc_STRVAR(
    stream_batch_doc,
    "batch_memory_operations($self, operations, /)\n--\n\n"
    "Enqueue several waits and writes by one call of cuStreamBatchMemOp.\n\n"
    "operations: tuples (stream_mem_op, memory, value) or (stream_mem_op, memory,\n"
    "value, flags), or (stream_mem_op.BARRIER, flags), at most 256.");

static PyObject *
stream_batch(PyObject *op, PyObject *operations)
{
    pcu_resource *self = (pcu_resource *)op;
    CUstreamBatchMemOpParams *list = NULL;
    int rc = -1;
    if (pcu_resource_check(self, "cuStreamBatchMemOp") < 0) {
        return NULL;
    }
    PyObject *items = PySequence_Tuple(operations);
    if (items == NULL) {
        return NULL;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n > OPERATIONS_MOST) {
        PyErr_Format(PyExc_ValueError, "a batch has at most %d operations, not %zd",
                     OPERATIONS_MOST, n);
        goto done;
    }
    list = PyMem_Calloc((size_t)n + 1, sizeof(*list));
    if (list == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    rc = 0;
    for (Py_ssize_t i = 0; i < n && rc == 0; i++) {
        rc = operation_read(self->st, PyTuple_GET_ITEM(items, i), &list[i]);
    }
    if (rc == 0 && n > 0) {
        rc = operations_enqueue(self, list, n);
    }
done:
    PyMem_Free(list);
    Py_DECREF(items);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef stream_memory_methods[] = {
    {"wait_value", (PyCFunction)(void (*)(void))stream_wait_value,
     METH_FASTCALL | METH_KEYWORDS, stream_wait_value_doc},
    {"write_value", (PyCFunction)(void (*)(void))stream_write_value,
     METH_FASTCALL | METH_KEYWORDS, stream_write_value_doc},
    {"batch_memory_operations", stream_batch, METH_O, stream_batch_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_stream_memory_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Stream, stream_memory_methods);
}
