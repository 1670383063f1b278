/* Values in memory that a stream waits for or writes: methods of Stream.
 *
 * Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"

typedef struct {
    PyObject *memory;
    PyObject *value;
    unsigned int flags;
    unsigned int width;
} value_args;

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

/* Parse the arguments and make the stream's context ready. */
static int
value_begin(pcu_resource *self, const pcu_signature *signature, PyObject *const *args,
            Py_ssize_t nargs, PyObject *kwnames, value_args *a, value_place *place)
{
    if (pcu_args_parse(self->st, signature, args, nargs, kwnames, a) < 0 ||
        pcu_memory_value_read(a->value, a->width, &place->bits) < 0 ||
        pcu_resource_check(self, "cuStreamBatchMemOp") < 0 ||
        pcu_memory_value_address(self->st, a->memory, NULL, &place->address) < 0) {
        return -1;
    }
    return pcu_current_context_ready(self->st);
}

static const pcu_word value_words[] = {
    PCU_WORD("memory", pcu_as_object, value_args, memory),
    PCU_WORD("value", pcu_as_object, value_args, value),
    PCU_WORD("condition", pcu_as_uint, value_args, flags),
    PCU_WORD("width", pcu_as_uint, value_args, width),
    PCU_WORD("flags", pcu_as_uint, value_args, flags),
};

PCU_SIGNATURE(
    stream_wait_value, value_words,
    "wait_value($self, /, memory, value, condition=0, width=4)\n--\n\n"
    "Let work that is enqueued from now on wait for a value in memory.\n\n"
    "memory: device, managed or page-locked memory, or an address. condition, a\n"
    "stream_wait_value: GEQ (the default; the difference is 0 or more as a signed\n"
    "number), EQ, AND (common bits) or NOR. width: bytes of the value, 4 or 8.\n"
    "Calls cuStreamWaitValue32 or cuStreamWaitValue64, of CUDA 11.7.")

static PyObject *
stream_wait_value(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    CUstream stream = self->handle.stream;
    value_args a = {.width = 4};
    value_place p;
    CUresult status;
    const char *routine = "cuStreamWaitValue32";
    if (value_begin(self, &stream_wait_value_signature, args, nargs, kwnames, &a, &p) <
        0) {
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

PCU_SIGNATURE(
    stream_write_value, value_words,
    "write_value($self, /, memory, value, flags=0, width=4)\n--\n\n"
    "Write a value to memory after the work enqueued so far.\n\n"
    "memory: device, managed or page-locked memory, or an address. flags: a\n"
    "stream_write_value; drivers since CUDA 11.7 refuse NO_MEMORY_BARRIER. width:\n"
    "bytes of the value, 4 or 8. Calls cuStreamWriteValue32 or\n"
    "cuStreamWriteValue64, of CUDA 11.7.")

static PyObject *
stream_write_value(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    CUstream stream = self->handle.stream;
    value_args a = {.width = 4};
    value_place p;
    CUresult status;
    const char *routine = "cuStreamWriteValue32";
    if (value_begin(self, &stream_write_value_signature, args, nargs, kwnames, &a, &p) <
        0) {
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

static int
operations_enqueue(pcu_resource *self, CUstreamBatchMemOpParams *list,
                   unsigned int count)
{
    int rc = pcu_current_context_ready(self->st);
    if (rc < 0) {
        return -1;
    }
    PCU_CALL(rc, self->st, StreamBatchMemOp, (self->handle.stream, count, list, 0));
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
    unsigned int count = 0;
    if (pcu_resource_check(self, "cuStreamBatchMemOp") < 0) {
        return NULL;
    }
    int rc = pcu_memory_operations_read(self->st, operations, NULL, &list, &count);
    if (rc == 0 && count > 0) {
        rc = operations_enqueue(self, list, count);
    }
    PyMem_Free(list);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef stream_memory_methods[] = {
    PCU_METHOD("wait_value", stream_wait_value),
    PCU_METHOD("write_value", stream_write_value),
    {"batch_memory_operations", stream_batch, METH_O, stream_batch_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_stream_memory_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    return pcu_add_methods(st->Stream, stream_memory_methods);
}
