/* Values in memory that a stream waits for or writes: methods of Stream.
 *
 * Python is the only caller. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"
#include "driver/events.h"

/* -- docstrings -------------------------------------------------------------------- */

#define STREAM_MEMORY_DOC_MEMORY                                                 \
    "memory : DeviceAllocation, GPUArray, ndarray or int\n"                      \
    "    Device or managed memory, or an address, also of page-locked memory.\n" \
    "    The address is a multiple of ``width``.\n"

#define STREAM_MEMORY_DOC_WIDTH \
    "width : int, optional\n"   \
    "    Bytes of the value, 4 or 8.\n"

#define STREAM_MEMORY_DOC_RAISES             \
    "ValueError\n"                           \
    "    If ``width`` is neither 4 nor 8.\n" \
    "LogicError\n"                           \
    "    If the driver refuses the address or the flags.\n"

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
    "Let later work of the stream wait for a value in memory.\n"
    "\nParameters\n----------\n" STREAM_MEMORY_DOC_MEMORY
    "value : int\n"
    "    Value to compare with.\n"
    "condition : stream_wait_value, optional\n"
    "    GEQ: the difference is 0 or more as a signed number. EQ: the\n"
    "    values are equal. AND: ``memory & value`` is not 0. NOR:\n"
    "    ``~(memory | value)`` is not 0. The default is GEQ.\n" STREAM_MEMORY_DOC_WIDTH
    "\nRaises\n------\n" STREAM_MEMORY_DOC_RAISES
    "\nSee Also\n--------\n"
    "Stream.write_value : Write a value.\n"
    "Stream.wait_for_event : Wait for an event.\n"
    "\nNotes\n-----\n"
    "The call does not wait. It needs a driver for CUDA 11.7.\n"
    "\nExamples\n--------\n"
    ">>> memory = drv.to_device(np.zeros(1, np.int32))\n"
    ">>> stream, other = drv.Stream(), drv.Stream()\n"
    ">>> stream.write_value(memory, 5)\n"
    ">>> other.wait_value(memory, 5)\n"
    ">>> other.synchronize()")

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
    pcu_doubts++;
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

PCU_SIGNATURE(stream_write_value, value_words,
              "write_value($self, /, memory, value, flags=0, width=4)\n--\n\n"
              "Write a value to memory after the present work of the stream.\n"
              "\nParameters\n----------\n" STREAM_MEMORY_DOC_MEMORY
              "value : int\n"
              "    Value to write.\n"
              "flags : stream_write_value, optional\n"
              "    Flags. Drivers for CUDA 11.7 and later refuse "
              "NO_MEMORY_BARRIER.\n" STREAM_MEMORY_DOC_WIDTH
              "\nRaises\n------\n" STREAM_MEMORY_DOC_RAISES
              "\nSee Also\n--------\n"
              "Stream.wait_value : Wait for a value.\n"
              "\nNotes\n-----\n"
              "The call does not wait. It needs a driver for CUDA 11.7.")

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
    pcu_doubts++;
    PCU_CALL(rc, self->st, StreamBatchMemOp, (self->handle.stream, count, list, 0));
    return rc;
}

PyDoc_STRVAR(stream_batch_doc,
             "batch_memory_operations($self, operations, /)\n--\n\n"
             "Enqueue several waits and writes by one call.\n"
             "\nParameters\n----------\n"
             "operations : iterable of tuple\n"
             "    At most 256 of ``(stream_mem_op, memory, value)``,\n"
             "    ``(stream_mem_op, memory, value, flags)`` or\n"
             "    ``(stream_mem_op.BARRIER, flags)``.\n"
             "\nRaises\n------\n"
             "TypeError\n"
             "    If an item is no such tuple.\n"
             "ValueError\n"
             "    If there are too many.\n"
             "LogicError\n"
             "    If the driver refuses an operation.\n"
             "\nSee Also\n--------\n"
             "Stream.wait_value : Enqueue one wait.\n"
             "Stream.write_value : Enqueue one write.\n"
             "\nNotes\n-----\n" PCU_DOC_NO_WAIT
             "\nExamples\n--------\n"
             ">>> memory = drv.to_device(np.zeros(2, np.int32))\n"
             ">>> write = drv.stream_mem_op.WRITE_VALUE_32\n"
             ">>> stream = drv.Stream()\n"
             ">>> stream.batch_memory_operations([(write, memory, 1),\n"
             "...                                 (write, int(memory) + 4, 2)])\n"
             ">>> stream.synchronize()\n"
             ">>> drv.from_device(memory, 2, np.int32)\n"
             "array([1, 2], dtype=int32)");

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
