/* PhysicalMemory, which is memory without an address, and mem_granularity.
 *
 * Invariant: a PhysicalMemory is a pcu_resource. In the driver it does not belong to
 * its context. Callers: Python, and virtual_memory.c, which maps it. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"

static CUmemAllocationProp
physical_properties(CUdevice device, bool ipc)
{
    CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE,
        .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    if (ipc) {
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    }
    return properties;
}

int
pcu_physical_round(pcu_state *st, CUdevice device, bool recommended, size_t *size)
{
    CUmemAllocationProp properties = physical_properties(device, false);
    size_t step = 0;
    int rc;
    PCU_CALL(rc, st, MemGetAllocationGranularity,
             (&step, &properties, (unsigned int)recommended));
    if (rc < 0) {
        return -1;
    }
    if (*size > SIZE_MAX - step) {
        PyErr_Format(PyExc_OverflowError, "size is %zu, which is too much", *size);
        return -1;
    }
    *size = (*size + step - 1) / step * step;
    return 0;
}

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    CUdevice device;
    bool recommended;
    size_t size;
    bool ipc;
    int file;
} physical_args;

static const pcu_word physical_words[] = {
    PCU_WORD("device", pcu_as_device, physical_args, device),
    PCU_WORD("recommended", pcu_as_bool, physical_args, recommended),
    PCU_WORD("size", pcu_as_size, physical_args, size),
    PCU_WORD("ipc", pcu_as_bool, physical_args, ipc),
    PCU_WORD("handle", pcu_as_int, physical_args, file),
};

PCU_SIGNATURE(physical_granularity, physical_words,
              "mem_granularity($module, /, device=None, recommended=False)\n"
              "--\n\n"
              "Return the bytes of which sizes of virtual memory are multiples.\n"
              "\nParameters\n----------\n" PCU_DOC_DEVICE_OF_MEMORY
              "recommended : bool, optional\n"
              "    If true, return the multiple for the best speed, else the least\n"
              "    one.\n"
              "\nReturns\n-------\n" PCU_DOC_BYTES
              "\nSee Also\n--------\n"
              "VirtualMemory : Reserve addresses.\n"
              "PhysicalMemory : Allocate memory.\n"
              "\nExamples\n--------\n"
              ">>> drv.VirtualMemory(1).size == drv.mem_granularity()\n"
              "True")

static PyObject *
physical_granularity(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    physical_args a = {.device = -1};
    size_t size = 1;
    if (pcu_args_parse(st, &physical_granularity_signature, args, nargs, kwnames, &a) <
            0 ||
        (a.device == -1 && pcu_as_device(st, Py_None, &a.device, "device") < 0) ||
        pcu_physical_round(st, a.device, a.recommended, &size) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(size);
}

/* -- PhysicalMemory ---------------------------------------------------------------- */

PCU_SIGNATURE(physical, physical_words,
              "PhysicalMemory(size, device=None, ipc=False)\n--\n\n"
              "Hold memory of a device that has no address until it is mapped.\n"
              "\nParameters\n----------\n"
              "size : int\n"
              "    Bytes, which are rounded up to "
              "``mem_granularity()``.\n" PCU_DOC_DEVICE_OF_MEMORY
              "ipc : bool, optional\n"
              "    If true, other processes can open the memory.\n"
              "\nRaises\n------\n" PCU_DOC_NO_MEMORY
              "\nSee Also\n--------\n"
              "VirtualMemory.map : Give the memory an address.\n"
              "PhysicalMemory.from_handle : Open memory of another process.\n"
              "\nExamples\n--------\n"
              ">>> memory = drv.PhysicalMemory(1)\n"
              ">>> memory.size == drv.mem_granularity()\n"
              "True")

static int
physical_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_resource *self = (pcu_resource *)op;
    pcu_state *st = self->st;
    physical_args a = {.device = -1};
    pcu_handle handle = {0};
    CUresult status;
    if (pcu_args_parse_tuple(st, &physical_signature, args, kwargs, &a) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemCreate");
    int rc = -1;
    if (ctx == NULL ||
        (a.device == -1 && pcu_as_device(st, Py_None, &a.device, "device") < 0) ||
        pcu_physical_round(st, a.device, 0, &a.size) < 0) {
        goto done;
    }
    CUmemAllocationProp properties = physical_properties(a.device, a.ipc);
    PCU_ALLOCATE(status, MemCreate, (&handle.physical, a.size, &properties, 0));
    if (status == CUDA_SUCCESS) {
        pcu_resource_adopt(self, ctx, PCU_HANDLE_physical, handle);
        pcu_memory_noted(pcu_resource_with_size(op, a.size), PCU_MEMORY_PHYSICAL,
                         a.size);
        rc = 0;
    }
    else {
        pcu_out_of_memory_raise(st, "cuMemCreate", status, a.size);
    }
done:
    Py_XDECREF(ctx);
    return rc;
}

PyDoc_STRVAR(physical_free_doc,
             "free($self, /)\n--\n\n"
             "Release the memory once it is mapped nowhere.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nSee Also\n--------\n"
             "VirtualMemory.unmap : End a mapping.");

static PyObject *
physical_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (pcu_resource_free((pcu_resource *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(physical_export_doc,
             "export_handle($self, /)\n--\n\n"
             "Return a file descriptor that names this memory to another process.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    A new descriptor. Send it through a Unix socket, and close it.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the memory was made without ``ipc=True``, or was released.\n"
             "\nSee Also\n--------\n"
             "PhysicalMemory.from_handle : Open the memory.");

static PyObject *
physical_export(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    int file = -1;
    int rc = pcu_resource_check(self, "cuMemExportToShareableHandle");
    if (rc == 0) {
        PCU_CALL(rc, self->st, MemExportToShareableHandle,
                 (&file, self->handle.physical,
                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    }
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromLong(file);
}

PCU_SIGNATURE(physical_from_handle, physical_words,
              "from_handle($type, /, handle, size)\n--\n\n"
              "Open memory of another process.\n"
              "\nParameters\n----------\n"
              "handle : int\n"
              "    File descriptor from ``export_handle``. The caller closes it.\n"
              "size : int\n"
              "    Bytes of the memory.\n"
              "\nReturns\n-------\n"
              "PhysicalMemory\n"
              "    The memory.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the descriptor names no memory.\n"
              "\nSee Also\n--------\n"
              "PhysicalMemory.export_handle : Name the memory.")

static PyObject *
physical_from_handle(PyObject *type, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_type((PyTypeObject *)type);
    physical_args a = {0};
    pcu_handle handle = {0};
    PyObject *result = NULL;
    int rc;
    if (st == NULL || pcu_args_parse(st, &physical_from_handle_signature, args, nargs,
                                     kwnames, &a) < 0) {
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemImportFromShareableHandle");
    if (ctx == NULL) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, st, MemImportFromShareableHandle,
                     (&handle.physical, (void *)(uintptr_t)(unsigned int)a.file,
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (rc == 0) {
        result = pcu_resource_with_size(pcu_resource_new(st, (PyTypeObject *)type, ctx,
                                                         PCU_HANDLE_physical, handle),
                                        a.size);
    }
    Py_DECREF(ctx);
    return result;
}

static PyObject *
physical_get_size(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromSize_t(((pcu_resource *)op)->size);
}

static PyMethodDef physical_methods[] = {
    {"free", physical_free, METH_NOARGS, physical_free_doc},
    {"export_handle", physical_export, METH_NOARGS, physical_export_doc},
    {"from_handle", (PyCFunction)(void (*)(void))physical_from_handle,
     METH_CLASS | METH_FASTCALL | METH_KEYWORDS, physical_from_handle_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef physical_getset[] = {
    {"size", physical_get_size, NULL, "The bytes of the memory.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot physical_slots[] = {
    {Py_tp_doc, (void *)physical_doc},     {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, physical_init},           {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, physical_getset},
    {Py_tp_methods, physical_methods},     {0, NULL},
};

static PyType_Spec physical_spec = {
    "pycuda._driver.PhysicalMemory", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, physical_slots};

static PyMethodDef physical_functions[] = {
    PCU_METHOD("mem_granularity", physical_granularity),
    {NULL, NULL, 0, NULL},
};

int
pcu_physical_memory_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->PhysicalMemory, &physical_spec, NULL) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, physical_functions);
}
