/* The type ManagedAllocation: memory that has the same address on the host and the
 * device. The driver moves it between them.
 *
 * Invariant: a ManagedAllocation is a DeviceAllocation whose address the host can use.
 * Callers: Python, numpy_array.c and memory.c. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

enum { MANAGED_GLOBAL = 1 }; /* mem_attach_flags.GLOBAL */

typedef struct {
    unsigned int flags;
    CUstream stream;
} managed_attach_args;

static const pcu_word managed_attach_words[] = {
    PCU_WORD("mem_flags", pcu_as_uint, managed_attach_args, flags),
    PCU_WORD("stream", pcu_as_stream, managed_attach_args, stream),
};

PCU_SIGNATURE(managed_attach, managed_attach_words,
              "attach($self, /, mem_flags, stream=None)\n--\n\n"
              "Restrict the access to the memory, in the order of a stream.\n"
              "\nParameters\n----------\n"
              "mem_flags : mem_attach_flags\n"
              "    GLOBAL for all streams, HOST for the host only, or SINGLE for\n"
              "    kernels of the stream only.\n"
              "stream : Stream or None, optional\n"
              "    Stream behind whose work the access changes. SINGLE needs one. The\n"
              "    default is the current stream.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the memory was released, or if the flags are not valid.\n"
              "\nSee Also\n--------\n"
              "managed_empty : Allocate managed memory.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT)

static PyObject *
managed_attach(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    managed_attach_args a = {.stream = pcu_stream_current()};
    int rc;
    if (pcu_args_parse(self->st, &managed_attach_signature, args, nargs, kwnames, &a) <
            0 ||
        pcu_resource_check(self, "cuStreamAttachMemAsync") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, StreamAttachMemAsync,
                     (a.stream, self->handle.memory, 0, a.flags));
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(managed_get_device_pointer_doc,
             "get_device_pointer($self, /)\n--\n\n"
             "Return the address, as ``int()`` does.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The address, which is the same on the host and the device.");

static PyObject *
managed_get_device_pointer(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLongLong(((pcu_resource *)op)->handle.memory);
}

static PyMethodDef managed_methods[] = {
    PCU_METHOD("attach", managed_attach),
    {"get_device_pointer", managed_get_device_pointer, METH_NOARGS,
     managed_get_device_pointer_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(managed_doc,
             "Managed (unified) memory, which host and device share.\n"
             "\n"
             "It is the base of the arrays of ``managed_empty``, and is released\n"
             "with the last of them.\n"
             "\nSee Also\n--------\n"
             "managed_empty : Make an array.\n"
             "mem_prefetch : Move the memory before it is used.");

static PyType_Slot managed_slots[] = {
    {Py_tp_doc, (void *)managed_doc},  {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear}, {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_methods, managed_methods},  {0, NULL},
};

static PyType_Spec managed_spec = {
    "pycuda._driver.ManagedAllocation", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    managed_slots};

PyObject *
pcu_managed_alloc(pcu_state *st, size_t bytes, unsigned int flags, void **data)
{
    pcu_handle handle = {0};
    PyObject *self = NULL;
    CUresult status;
    PyObject *ctx = pcu_context_require(st, "cuMemAllocManaged");
    if (ctx == NULL) {
        return NULL;
    }
    if (flags == 0) {
        flags = MANAGED_GLOBAL;
    }
    PCU_ALLOCATE(status, MemAllocManaged, (&handle.memory, bytes, flags));
    if (status == CUDA_SUCCESS) {
        *data = (void *)(uintptr_t)handle.memory;
        self = pcu_resource_with_size(
            pcu_resource_new(st, st->ManagedAllocation, ctx, PCU_HANDLE_memory, handle),
            bytes);
        pcu_memory_noted(self, PCU_MEMORY_MANAGED, bytes);
    }
    else {
        pcu_out_of_memory_raise(st, "cuMemAllocManaged", status, bytes);
    }
    Py_DECREF(ctx);
    return self;
}

PyObject *
pcu_owner_of_array(PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        base = PyArray_BASE((PyArrayObject *)base);
    }
    return base;
}

PyObject *
pcu_managed_of_array(pcu_state *st, PyArrayObject *array)
{
    PyObject *base = pcu_owner_of_array(array);
    if (base == NULL || !PyObject_TypeCheck(base, st->ManagedAllocation)) {
        return NULL;
    }
    return base;
}

int
pcu_managed_setup(PyObject *m, pcu_state *st)
{
    PyObject *bases = PyTuple_Pack(1, (PyObject *)st->DeviceAllocation);
    int rc = -1;
    if (bases != NULL) {
        rc = pcu_add_type(m, &st->ManagedAllocation, &managed_spec, bases);
    }
    Py_XDECREF(bases);
    /* PyCUDA has this name also where there is no managed memory */
    if (rc < 0) {
        return -1;
    }
    return PyModule_AddObjectRef(m, "ManagedAllocationOrStub",
                                 (PyObject *)st->ManagedAllocation);
}
