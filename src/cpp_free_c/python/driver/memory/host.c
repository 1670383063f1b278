/* Host memory: HostPointer and its subclasses. The driver allocates page-locked memory
 * (PagelockedHostAllocation); the C library allocates aligned memory, which can be
 * registered (AlignedHostAllocation); a program can register the memory of its own
 * arrays (RegisteredHostMemory).
 *
 * Invariant: the objects are pcu_resources; aligned memory has no driver handle and is
 * freed with its object. Callers: Python, and numpy_array.c. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/support/call_site.h"
#include "python/support/docs.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/resource.h"
#include "driver/staging.h"

/* -- HostPointer ------------------------------------------------------------------- */

PyDoc_STRVAR(host_get_device_pointer_doc,
             "get_device_pointer($self, /)\n--\n\n"
             "Return the address of this memory on the device.\n"
             "\nReturns\n-------\n" PCU_DOC_ADDRESS
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the memory was released, or if the device cannot address it.\n"
             "\nNotes\n-----\n"
             "Memory for which ``host_alloc_flags.DEVICEMAP`` was given, and all\n"
             "page-locked memory of a device with unified addressing, has such an\n"
             "address.");

static PyObject *
host_device_pointer_new(pcu_resource *self)
{
    CUdeviceptr pointer = 0;
    int rc;
    PCU_CALL_CURRENT(rc, self->st, MemHostGetDevicePointer,
                     (&pointer, self->handle.host, 0));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(pointer);
}

static PyObject *
host_get_device_pointer(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    if (pcu_resource_check(self, "cuMemHostGetDevicePointer") < 0) {
        return NULL;
    }
    return host_device_pointer_new(self);
}

static PyMethodDef host_methods[] = {
    {"get_device_pointer", host_get_device_pointer, METH_NOARGS,
     host_get_device_pointer_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef host_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(host_doc,
             "Host memory that the driver knows.\n"
             "\n"
             "It is the base of the arrays in such memory.\n"
             "\nSee Also\n--------\n"
             "PagelockedHostAllocation : Memory of the driver.\n"
             "RegisteredHostMemory : Memory of an array that exists.\n"
             "AlignedHostAllocation : Memory that can be registered.");

static PyType_Slot host_slots[] = {
    {Py_tp_doc, (void *)host_doc},         {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, host_getset},
    {Py_tp_methods, host_methods},         {0, NULL},
};

static PyType_Spec host_spec = {"pycuda._driver.HostPointer", sizeof(pcu_resource), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                    Py_TPFLAGS_BASETYPE |
                                    Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                host_slots};

/* -- page-locked ------------------------------------------------------------------- */

PyDoc_STRVAR(pagelocked_free_doc,
             "free($self, /)\n--\n\n"
             "Release the memory now.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nNotes\n-----\n"
             "Arrays in the memory must not be used afterwards.");

static PyObject *
pagelocked_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_device_site_asks(true);
    int rc = pcu_resource_free((pcu_resource *)op);
    pcu_device_site_asks(false);
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pagelocked_get_flags_doc,
             "get_flags($self, /)\n--\n\n"
             "Return the flags of the memory.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The ``host_alloc_flags`` that the driver reports, combined with\n"
             "    ``|``.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED);

static PyObject *
pagelocked_get_flags(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    unsigned int flags = 0;
    int rc = pcu_resource_check(self, "cuMemHostGetFlags");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, MemHostGetFlags, (&flags, self->handle.host));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLong(flags);
}

static PyMethodDef pagelocked_methods[] = {
    {"free", pagelocked_free, METH_NOARGS, pagelocked_free_doc},
    {"get_flags", pagelocked_get_flags, METH_NOARGS, pagelocked_get_flags_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(pagelocked_doc,
             "Page-locked (pinned) host memory.\n"
             "\n"
             "It is the base of the arrays of ``pagelocked_empty``, and is released\n"
             "with the last of them.\n"
             "\nSee Also\n--------\n"
             "pagelocked_empty : Make an array.");

static PyType_Slot pagelocked_slots[] = {
    {Py_tp_doc, (void *)pagelocked_doc}, {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},   {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_methods, pagelocked_methods}, {0, NULL},
};

static PyType_Spec pagelocked_spec = {
    "pycuda._driver.PagelockedHostAllocation", sizeof(pcu_resource), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    pagelocked_slots};

PyObject *
pcu_pagelocked_alloc(pcu_state *st, size_t bytes, unsigned int flags, void **data)
{
    pcu_handle handle = {0};
    PyObject *self = NULL;
    CUresult status;
    PyObject *ctx = pcu_context_require(st, "cuMemHostAlloc");
    if (ctx == NULL) {
        return NULL;
    }
    PCU_ALLOCATE(status, MemHostAlloc, (&handle.host, bytes, flags));
    if (status == CUDA_SUCCESS) {
        *data = handle.host;
        self = pcu_resource_new(st, st->PagelockedHostAllocation, ctx, PCU_HANDLE_host,
                                handle);
        pcu_memory_noted(self, PCU_MEMORY_PAGE_LOCKED, bytes);
    }
    else {
        pcu_out_of_host_memory_raise(st, "cuMemHostAlloc", status, bytes);
    }
    Py_DECREF(ctx);
    return self;
}

int
pcu_host_array_check(pcu_state *st, PyObject *object, const char *routine,
                     const char *name)
{
    PyObject *owner = NULL;
    if (PyArray_Check(object)) {
        owner = pcu_owner_of_array((PyArrayObject *)object);
    }
    bool has_owner =
        owner != NULL && (PyObject_TypeCheck(owner, st->PagelockedHostAllocation) ||
                          PyObject_TypeCheck(owner, st->ManagedAllocation));
    if (!has_owner || ((pcu_resource *)owner)->live) {
        return 0;
    }
    return pcu_raise_detail(st, routine, CUDA_ERROR_INVALID_VALUE,
                            "%s: the memory of this array, a %s, was freed", name,
                            Py_TYPE(owner)->tp_name);
}

/* -- aligned ----------------------------------------------------------------------- */

/* Memory of the C library, in handle.host; the driver has nothing to release. */
typedef struct {
    pcu_resource head;
    bool held; /* false after free() */
} aligned;

static int
aligned_check(aligned *self, const char *routine)
{
    if (self->held) {
        return 0;
    }
    return pcu_raise_detail(self->head.st, routine, CUDA_ERROR_INVALID_HANDLE,
                            "this %s was released before", Py_TYPE(self)->tp_name);
}

PyDoc_STRVAR(aligned_free_doc,
             "free($self, /)\n--\n\n"
             "Give the memory up.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nNotes\n-----\n"
             "It is freed when no array uses it any more.");

static PyObject *
aligned_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    aligned *self = (aligned *)op;
    if (aligned_check(self, "free") < 0) {
        return NULL;
    }
    self->held = false;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(aligned_get_device_pointer_doc,
             "get_device_pointer($self, /)\n--\n\n"
             "Return the address of this memory on the device.\n"
             "\nReturns\n-------\n" PCU_DOC_ADDRESS
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the memory is not registered, or was released.\n"
             "\nSee Also\n--------\n"
             "register_host_memory : Page-lock the memory.");

static PyObject *
aligned_get_device_pointer(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (aligned_check((aligned *)op, "cuMemHostGetDevicePointer") < 0) {
        return NULL;
    }
    return host_device_pointer_new((pcu_resource *)op);
}

static void
aligned_dealloc(PyObject *op)
{
    void *memory = ((aligned *)op)->head.handle.host;
    pcu_resource_dealloc(op);
    free(memory);
}

static PyMethodDef aligned_methods[] = {
    {"free", aligned_free, METH_NOARGS, aligned_free_doc},
    {"get_device_pointer", aligned_get_device_pointer, METH_NOARGS,
     aligned_get_device_pointer_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(aligned_doc,
             "Host memory with an aligned address.\n"
             "\n"
             "It is the base of the arrays of ``aligned_empty``.\n"
             "\nSee Also\n--------\n"
             "aligned_empty : Make an array.\n"
             "register_host_memory : Page-lock the memory.");

static PyType_Slot aligned_slots[] = {
    {Py_tp_doc, (void *)aligned_doc},  {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear}, {Py_tp_dealloc, aligned_dealloc},
    {Py_tp_methods, aligned_methods},  {0, NULL},
};

static PyType_Spec aligned_spec = {
    "pycuda._driver.AlignedHostAllocation", sizeof(aligned), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    aligned_slots};

PyObject *
pcu_aligned_alloc(pcu_state *st, size_t bytes, size_t alignment, void **data)
{
    aligned *self = NULL;
    PyObject *ctx = pcu_context_require(st, "aligned_alloc");
    if (ctx == NULL) {
        return NULL;
    }
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        pcu_raise_detail(st, "aligned_alloc", CUDA_ERROR_INVALID_VALUE,
                         "alignment is %zu; it must be a power of two", alignment);
        goto done;
    }
    size_t step = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    size_t whole = 0;
    void *memory = NULL;
    if (pcu_add_size(bytes, step - 1, &whole) >= 0) {
        memory = aligned_alloc(step, whole & ~(step - 1));
    }
    if (memory == NULL) {
        pcu_raise_detail(st, "aligned_alloc", CUDA_ERROR_OUT_OF_MEMORY,
                         "%zu bytes aligned to %zu were asked for", bytes, alignment);
        goto done;
    }
    PyTypeObject *type = st->AlignedHostAllocation;
    self = (aligned *)type->tp_alloc(type, 0);
    if (self == NULL) {
        free(memory);
        goto done;
    }
    self->head.st = st;
    self->head.ctx = Py_NewRef(ctx);
    self->head.handle.host = *data = memory;
    self->held = true;
done:
    Py_DECREF(ctx);
    return (PyObject *)self;
}

/* -- registered -------------------------------------------------------------------- */

typedef struct {
    pcu_resource head;
    PyObject *base; /* strong: owns the memory; dropped after unregistering */
} registered;

PyDoc_STRVAR(registered_unregister_doc,
             "unregister($self, /)\n--\n\n"
             "End the registration.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nNotes\n-----\n"
             "The memory itself stays valid.");

static PyMethodDef registered_methods[] = {
    {"unregister", pagelocked_free, METH_NOARGS, registered_unregister_doc},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef registered_members[] = {
    {"base", Py_T_OBJECT_EX, offsetof(registered, base), Py_READONLY,
     "The array that was registered."},
    {NULL, 0, 0, 0, NULL},
};

static int
registered_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((registered *)op)->base);
    return pcu_resource_traverse(op, visit, arg);
}

static void
registered_dealloc(PyObject *op)
{
    PyObject *base = ((registered *)op)->base;
    pcu_resource_dealloc(op);
    Py_XDECREF(base);
}

PyDoc_STRVAR(registered_doc,
             "Memory of an array that the driver has page-locked.\n"
             "\n"
             "It is the base of the array that ``register_host_memory`` returns. Its\n"
             "attribute ``base`` is the array that was registered.\n"
             "\nSee Also\n--------\n"
             "register_host_memory : Page-lock the memory of an array.");

static PyType_Slot registered_slots[] = {
    {Py_tp_doc, (void *)registered_doc},
    {Py_tp_traverse, registered_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, registered_dealloc},
    {Py_tp_members, registered_members},
    {Py_tp_methods, registered_methods},
    {0, NULL},
};

static PyType_Spec registered_spec = {
    "pycuda._driver.RegisteredHostMemory", sizeof(registered), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    registered_slots};

/* Page-lock the array's memory. */
static PyObject *
registered_new(pcu_state *st, PyArrayObject *array, unsigned int flags)
{
    size_t bytes = (size_t)PyArray_NBYTES(array);
    pcu_handle handle = {.host = PyArray_DATA(array)};
    PyObject *self = NULL;
    if (PyDataType_REFCHK(PyArray_DESCR(array))) {
        pcu_refuse_objects(PyArray_DESCR(array), "register_host_memory");
        return NULL;
    }
    PyObject *ctx = pcu_context_require(st, "cuMemHostRegister");
    if (ctx == NULL) {
        return NULL;
    }
    CUresult status;
    PCU_STATUS(status, MemHostRegister, (handle.host, bytes, flags));
    if (status == CUDA_SUCCESS) {
        self = pcu_resource_new(st, st->RegisteredHostMemory, ctx,
                                PCU_HANDLE_registered, handle);
    }
    else {
        pcu_raise_detail(st, "cuMemHostRegister", status, "%zu bytes at %p", bytes,
                         handle.host);
    }
    if (self != NULL) {
        ((registered *)self)->base = Py_NewRef((PyObject *)array);
    }
    Py_DECREF(ctx);
    return self;
}

typedef struct {
    PyObject *array;
    unsigned int flags;
} register_args;

static const pcu_word register_words[] = {
    PCU_WORD("ary", pcu_as_object, register_args, array),
    PCU_WORD("flags", pcu_as_uint, register_args, flags),
};

PCU_SIGNATURE(host_register_host_memory, register_words,
              "register_host_memory($module, /, ary, flags=0)\n--\n\n"
              "Page-lock the memory of an array.\n"
              "\nParameters\n----------\n"
              "ary : ndarray\n"
              "    Contiguous array, preferably of ``aligned_empty``.\n"
              "flags : int, optional\n"
              "    Values of ``mem_host_register_flags``, combined with ``|``.\n"
              "\nReturns\n-------\n"
              "ndarray\n"
              "    An array of the same memory. Its base is a RegisteredHostMemory.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``ary`` is no NumPy array, or has Python objects.\n"
              "LogicError\n"
              "    If the array is not contiguous, or if the driver cannot lock its\n"
              "    memory.\n"
              "\nSee Also\n--------\n"
              "pagelocked_empty : Allocate page-locked memory.\n"
              "aligned_empty : Allocate memory that can be registered.\n"
              "\nNotes\n-----\n"
              "The registration ends when the last view of the result is deleted.\n"
              "\nExamples\n--------\n"
              ">>> a = drv.aligned_zeros(1024, np.float32)\n"
              ">>> pinned = drv.register_host_memory(a)\n"
              ">>> pinned[0] = 3\n"
              ">>> float(a[0])\n"
              "3.0")

static PyObject *
host_register_host_memory(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                          PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    register_args a = {0};
    if (pcu_args_parse(st, &host_register_host_memory_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    if (!PyArray_Check(a.array)) {
        PyErr_Format(PyExc_TypeError, "ary must be a numpy array, not %s",
                     Py_TYPE(a.array)->tp_name);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)a.array;
    if (!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array)) {
        pcu_raise_detail(st, "cuMemHostRegister", CUDA_ERROR_INVALID_VALUE,
                         "ary is not contiguous");
        return NULL;
    }
    PyObject *self = registered_new(st, array, a.flags);
    PyObject *result = NULL;
    if (self != NULL) {
        result = PyArray_NewFromDescr(
            &PyArray_Type, (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(array)),
            PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
            PyArray_DATA(array), PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE, NULL);
    }
    if (result == NULL) {
        Py_XDECREF(self);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)result, self) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

PyDoc_STRVAR(
    host_release_staging_doc,
    "release_staging($module, /)\n--\n\n"
    "Free the page-locked memory that large copies of the current context use.\n"
    "\nReturns\n-------\n"
    "int\n"
    "    The bytes that were freed.\n"
    "\nSee Also\n--------\n"
    "pagelocked_empty : Allocate page-locked memory.\n"
    "memcpy_htod : Copy to the device, large arrays through this memory.\n"
    "memcpy_dtoh : Copy to the host, large arrays through this memory.\n"
    "\nNotes\n-----\n"
    "The threads of these copies end, too (:ref:`staging`). The next large copy\n"
    "makes both again, and reads the variable ``PYCUDA_STAGING`` again. The end\n"
    "of the context frees the memory, too.\n"
    "\nExamples\n--------\n"
    ">>> freed = drv.release_staging()");

static PyObject *
host_release_staging(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    CUcontext context = NULL;
    int rc;
    PCU_CALL_CURRENT(rc, pcu_state_of_module(m), CtxGetCurrent, (&context));
    if (rc < 0) {
        return NULL;
    }
    PyThreadState *thread = pcu_unlock();
    size_t bytes = pcu_staging_release(context);
    pcu_lock(thread);
    return PyLong_FromSize_t(bytes);
}

static PyMethodDef host_functions[] = {
    PCU_METHOD("register_host_memory", host_register_host_memory),
    {"release_staging", host_release_staging, METH_NOARGS, host_release_staging_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_host_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->HostPointer, &host_spec, NULL) < 0) {
        return -1;
    }
    PyObject *bases = PyTuple_Pack(1, (PyObject *)st->HostPointer);
    int rc = -1;
    if (bases != NULL) {
        rc = pcu_add_type(m, &st->PagelockedHostAllocation, &pagelocked_spec, bases);
    }
    if (rc == 0) {
        rc = pcu_add_type(m, &st->AlignedHostAllocation, &aligned_spec, bases);
    }
    if (rc == 0) {
        rc = pcu_add_type(m, &st->RegisteredHostMemory, &registered_spec, bases);
    }
    Py_XDECREF(bases);
    /* old programs use this name */
    if (rc == 0) {
        rc = PyModule_AddObjectRef(m, "HostAllocation",
                                   (PyObject *)st->PagelockedHostAllocation);
    }
    if (rc < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, host_functions);
}
