/* Device memory of other processes: mem_get_ipc_handle() and IPCMemoryHandle.
 *
 * Invariant: the exporting process keeps the memory allocated while another process has
 * it open. Callers: only programs. */
#include "python/driver/context.h"
#include "python/driver/foreign_handle.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"

PyDoc_STRVAR(ipc_mem_get_ipc_handle_doc,
             "mem_get_ipc_handle($module, devptr, /)\n--\n\n"
             "Return bytes that identify device memory to other processes.\n"
             "\nParameters\n----------\n"
             "devptr : DeviceAllocation, GPUArray or int\n"
             "    Memory of ``mem_alloc``, or its address.\n"
             "\nReturns\n-------\n"
             "bytearray\n"
             "    The handle, 64 bytes.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the memory cannot be shared.\n"
             "\nSee Also\n--------\n"
             "IPCMemoryHandle : Open the memory in another process.\n"
             "\nNotes\n-----\n"
             "Keep the memory until the other processes of this machine have closed\n"
             "it.\n"
             "\nExamples\n--------\n"
             ">>> memory = drv.mem_alloc(16)\n"
             ">>> len(drv.mem_get_ipc_handle(memory))\n"
             "64");

static PyObject *
ipc_mem_get_ipc_handle(PyObject *m, PyObject *devptr)
{
    pcu_state *st = pcu_state_of_module(m);
    CUdeviceptr pointer = 0;
    CUipcMemHandle handle;
    int rc = pcu_as_pointer(st, devptr, &pointer, "devptr");
    if (rc == 0) {
        PCU_CALL_CURRENT(rc, st, IpcGetMemHandle, (&handle, pointer));
    }
    if (rc < 0) {
        return NULL;
    }
    return pcu_ipc_bytes_new(&handle);
}

/* -- IPCMemoryHandle --------------------------------------------------------------- */

typedef struct {
    PyObject *bytes;
    PyObject *flags;
} ipc_args;

static const pcu_word ipc_words[] = {
    PCU_WORD("ipc_handle", pcu_as_object, ipc_args, bytes),
    PCU_WORD("flags", pcu_as_object, ipc_args, flags),
};

PCU_SIGNATURE(
    ipc, ipc_words,
    "IPCMemoryHandle(ipc_handle, flags=ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS, /)\n"
    "--\n\n"
    "Open device memory of another process in the current context.\n"
    "\n"
    "``int()`` gives the address in this process. Functions and kernels\n"
    "take the object as an address.\n"
    "\nParameters\n----------\n"
    "ipc_handle : bytearray or bytes\n"
    "    Result of ``mem_get_ipc_handle()`` in the other process.\n"
    "flags : ipc_mem_flags, optional\n"
    "    Flag of the driver. The default is its only one.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the bytes are no handle, or if they are of this process.\n"
    "\nSee Also\n--------\n"
    "mem_get_ipc_handle : Make a handle.")

static int
ipc_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_resource *self = (pcu_resource *)op;
    ipc_args a = {0};
    unsigned int flags = 1; /* LAZY_ENABLE_PEER_ACCESS */
    CUipcMemHandle handle;
    pcu_handle memory = {0};
    int rc;
    if (pcu_args_parse_tuple(self->st, &ipc_signature, args, kwargs, &a) < 0 ||
        (a.flags != NULL &&
         pcu_enum_value(self->st->enum_ipc_mem_flags, a.flags, &flags, "flags") < 0) ||
        pcu_ipc_bytes(self->st, a.bytes, "cuIpcOpenMemHandle", &handle) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(self->st, "cuIpcOpenMemHandle");
    if (ctx == NULL) {
        return -1;
    }
    PCU_CALL(rc, self->st, IpcOpenMemHandle, (&memory.ipc_memory, handle, flags));
    if (rc == 0) {
        pcu_resource_adopt(self, ctx, PCU_HANDLE_ipc_memory, memory);
    }
    Py_DECREF(ctx);
    return rc;
}

PyDoc_STRVAR(ipc_close_doc,
             "close($self, /)\n--\n\n"
             "Close the memory now.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nNotes\n-----\n"
             "The other process keeps its memory.");

static PyObject *
ipc_close(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (pcu_resource_free((pcu_resource *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
ipc_int(PyObject *op)
{
    return PyLong_FromUnsignedLongLong(((pcu_resource *)op)->handle.ipc_memory);
}

PyDoc_STRVAR(ipc_long_doc,
             "__long__($self, /)\n--\n\nReturn the address, as int() does.");

static PyObject *
ipc_long(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return ipc_int(op);
}

static PyMethodDef ipc_methods[] = {
    {"close", ipc_close, METH_NOARGS, ipc_close_doc},
    {"__long__", ipc_long, METH_NOARGS, ipc_long_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef ipc_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot ipc_slots[] = {
    {Py_tp_doc, (void *)ipc_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, ipc_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, ipc_getset},
    {Py_tp_methods, ipc_methods},
    {Py_nb_int, ipc_int},
    {Py_nb_index, ipc_int},
    {0, NULL},
};

static PyType_Spec ipc_spec = {
    "pycuda._driver.IPCMemoryHandle", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, ipc_slots};

static PyMethodDef ipc_functions[] = {
    {"mem_get_ipc_handle", ipc_mem_get_ipc_handle, METH_O, ipc_mem_get_ipc_handle_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_ipc_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->IPCMemoryHandle, &ipc_spec, NULL) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, ipc_functions);
}
