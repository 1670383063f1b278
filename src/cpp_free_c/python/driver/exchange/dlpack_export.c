/* Exporting device memory by DLPack, and as_dlpack() of allocations. See
 * dlpack.h.
 *
 * The consumer may end a loan in any thread. The reference to the owner is then dropped
 * under the interpreter lock. After the interpreter has ended, the reference stays. */
#include "python/driver/exchange/dlpack.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_thread.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/resource.h"

typedef struct {
    union {
        pcu_dl_managed plain;
        pcu_dl_versioned versioned;
    } managed;
    PyObject *owner; /* strong */
    int64_t dims[];  /* shape, then strides */
} export_loan;

/* Whether this thread holds the interpreter lock. */
static bool
export_thread_has_lock(void)
{
    return PyThreadState_GetUnchecked() != NULL && PyGILState_Check();
}

static void
export_drop_owner(PyObject *owner)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    Py_DECREF(owner);
    pcu_error_restore(&pending);
}

/* End a loan. Runs in any thread, at any time. */
static void
export_loan_end(export_loan *loan)
{
    PyObject *owner = loan->owner;
    pcu_driver_thread thread;
    PyMem_RawFree(loan);
    if (export_thread_has_lock()) {
        export_drop_owner(owner);
    }
    else if (pcu_driver_thread_enter(&thread)) {
        export_drop_owner(owner);
        pcu_driver_thread_leave(&thread);
    }
}

static void
export_plain_deleter(pcu_dl_managed *managed)
{
    export_loan_end(managed->manager);
}

static void
export_versioned_deleter(pcu_dl_versioned *managed)
{
    export_loan_end(managed->manager);
}

/* Free a capsule. If no consumer took the tensor, end its loan. */
static void
export_capsule_end(PyObject *capsule)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    if (PyCapsule_IsValid(capsule, PCU_DL_NAME)) {
        pcu_dl_managed *managed = PyCapsule_GetPointer(capsule, PCU_DL_NAME);
        export_loan_end(managed->manager);
    }
    else if (PyCapsule_IsValid(capsule, PCU_DL_VERSIONED_NAME)) {
        pcu_dl_versioned *managed =
            PyCapsule_GetPointer(capsule, PCU_DL_VERSIONED_NAME);
        export_loan_end(managed->manager);
    }
    pcu_error_restore(&pending);
}

/* Fill in shape and strides. DLPack counts strides in items. */
static int
export_fill_dims(export_loan *loan, const pcu_dlpack *t)
{
    npy_intp size = PyDataType_ELSIZE(t->dtype);
    for (int i = 0; i < t->ndim; i++) {
        if (t->strides[i] % size != 0) {
            PyErr_Format(
                PyExc_BufferError,
                "a stride of %zd bytes is not a multiple of the item size, %zd "
                "bytes, so DLPack cannot describe it",
                (Py_ssize_t)t->strides[i], (Py_ssize_t)size);
            return -1;
        }
        loan->dims[i] = (int64_t)t->shape[i];
        loan->dims[t->ndim + i] = t->strides[i] / size;
    }
    return 0;
}

PyObject *
pcu_dlpack_export(const pcu_dlpack *t, PyObject *owner, int versioned)
{
    pcu_dl_tensor tensor = {
        .data = (void *)(uintptr_t)t->pointer, .device = t->device, .ndim = t->ndim};
    if (pcu_dlpack_describe_dtype(t->dtype, &tensor.dtype) < 0) {
        return NULL;
    }
    if (t->readonly && !versioned) {
        PyErr_SetString(PyExc_BufferError,
                        "read-only memory needs a consumer that knows DLPack 1");
        return NULL;
    }
    export_loan *loan =
        PyMem_RawCalloc(1, sizeof(*loan) + 2 * (size_t)t->ndim * sizeof(int64_t));
    if (loan == NULL) {
        return PyErr_NoMemory();
    }
    if (export_fill_dims(loan, t) < 0) {
        PyMem_RawFree(loan);
        return NULL;
    }
    tensor.shape = loan->dims;
    tensor.strides = loan->dims + t->ndim;
    loan->owner = Py_NewRef(owner);
    const char *name = PCU_DL_NAME;
    if (versioned) {
        pcu_dl_versioned *managed = &loan->managed.versioned;
        managed->version.major = PCU_DL_MAJOR;
        managed->version.minor = PCU_DL_MINOR;
        managed->manager = loan;
        managed->deleter = export_versioned_deleter;
        if (t->readonly) {
            managed->flags |= PCU_DL_READ_ONLY;
        }
        if (t->copied) {
            managed->flags |= PCU_DL_IS_COPIED;
        }
        managed->tensor = tensor;
        name = PCU_DL_VERSIONED_NAME;
    }
    else {
        pcu_dl_managed *managed = &loan->managed.plain;
        managed->tensor = tensor;
        managed->manager = loan;
        managed->deleter = export_plain_deleter;
    }
    /* both structs are at the start of the loan */
    PyObject *capsule = PyCapsule_New(loan, name, export_capsule_end);
    if (capsule == NULL) {
        export_loan_end(loan);
    }
    return capsule;
}

int
pcu_dlpack_wants_version(PyObject *max_version)
{
    unsigned long long major = 0;
    if (max_version == NULL || max_version == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(max_version) || PyTuple_GET_SIZE(max_version) != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "max_version must be None or a tuple (major, minor)");
        return -1;
    }
    if (pcu_as_integer(PyTuple_GET_ITEM(max_version, 0), 0, UINT32_MAX, &major,
                       "max_version[0]") < 0) {
        return -1;
    }
    return major >= PCU_DL_MAJOR;
}

/* -- as_dlpack() of allocations ---------------------------------------------------- */

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *strides;
    PyObject *max_version;
} export_args;

static int
export_parse_strides(PyObject *strides, pcu_dlpack *t)
{
    size_t size = (size_t)PyDataType_ELSIZE(t->dtype);
    if (strides == NULL || strides == Py_None) {
        if (pcu_strides_c(t->ndim, t->shape, size, t->strides) == 0) {
            return 0;
        }
        PyErr_SetString(PyExc_ValueError, "shape and dtype are too large");
        return -1;
    }
    PyObject *items = PySequence_Tuple(strides);
    if (items == NULL) {
        return -1;
    }
    int rc = 0;
    if (PyTuple_GET_SIZE(items) != t->ndim) {
        PyErr_Format(PyExc_ValueError, "strides has %zd entries, shape has %d",
                     PyTuple_GET_SIZE(items), t->ndim);
        rc = -1;
    }
    for (int i = 0; rc == 0 && i < t->ndim; i++) {
        unsigned long long bits = 0;
        rc = pcu_as_integer(PyTuple_GET_ITEM(items, i), PTRDIFF_MIN, PTRDIFF_MAX, &bits,
                            "strides");
        t->strides[i] = (ptrdiff_t)bits;
    }
    Py_DECREF(items);
    return rc;
}

/* Raise unless the array lies inside the allocation. */
static int
export_check_extent(pcu_resource *self, const pcu_dlpack *t)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    CUdeviceptr base = 0;
    size_t size = 0;
    int rc = pcu_extent(t->ndim, t->shape, t->strides,
                        (size_t)PyDataType_ELSIZE(t->dtype), &low, &high);
    if (rc == 0 && Py_IS_TYPE((PyObject *)self, self->st->PooledDeviceAllocation)) {
        size = (size_t)PyObject_Size((PyObject *)self);
    }
    else if (rc == 0) {
        PCU_CALL_CURRENT(rc, self->st, MemGetAddressRange, (&base, &size, t->pointer));
        if (rc < 0) {
            return -1;
        }
        size -= (size_t)(t->pointer - base);
    }
    if (rc < 0 || low < 0 || (size_t)high > size) {
        PyErr_SetString(PyExc_ValueError,
                        "an array of that shape, dtype and strides does not lie inside "
                        "this allocation");
        return -1;
    }
    return 0;
}

static const pcu_word export_words[] = {
    PCU_WORD("shape", pcu_as_shape, export_args, shape),
    PCU_WORD("dtype", pcu_as_dtype, export_args, dtype),
    PCU_WORD("strides", pcu_as_object, export_args, strides),
    PCU_WORD("max_version", pcu_as_object, export_args, max_version),
};

PCU_SIGNATURE(
    export_as_dlpack, export_words,
    "as_dlpack($self, /, shape, dtype, strides=None, max_version=None)\n"
    "--\n\n"
    "Return a DLPack capsule of an array in this memory, for another library.\n"
    "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE
    "strides : sequence of int or None, optional\n"
    "    Bytes from element to element along each axis. The default is C\n"
    "    order.\n"
    "max_version : tuple of int or None, optional\n"
    "    Newest version of DLPack that the other library knows. From (1, 0)\n"
    "    on the capsule has the form of DLPack 1.\n"
    "\nReturns\n-------\n"
    "PyCapsule\n"
    "    A capsule, which keeps this allocation.\n"
    "\nRaises\n------\n"
    "ValueError\n"
    "    If the array does not lie inside the allocation.\n"
    "BufferError\n"
    "    If DLPack cannot describe the dtype or the strides.\n" PCU_DOC_RELEASED
    "\nSee Also\n--------\n"
    "from_dlpack : Import an array.\n"
    "pycuda.gpuarray.GPUArray : An array, which other libraries import without this.\n"
    "\nNotes\n-----\n"
    "The call does not wait for enqueued work.\n"
    "\nExamples\n--------\n"
    ">>> memory = drv.to_device(np.arange(4, dtype=np.int32))\n"
    ">>> capsule = memory.as_dlpack((2, 2), np.int32)\n"
    ">>> drv.from_dlpack(capsule).shape\n"
    "(2, 2)")

static PyObject *
export_as_dlpack(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_resource *self = (pcu_resource *)op;
    export_args a = {.dtype = NULL};
    pcu_dlpack t;
    PyObject *capsule = NULL;
    if (pcu_args_parse(self->st, &export_as_dlpack_signature, args, nargs, kwnames,
                       &a) < 0) {
        Py_XDECREF(a.dtype);
        return NULL;
    }
    int versioned = pcu_dlpack_wants_version(a.max_version);
    t.dtype = a.dtype;
    t.ndim = a.shape.ndim;
    t.readonly = false;
    t.copied = false;
    for (int i = 0; i < t.ndim; i++) {
        t.shape[i] = (size_t)a.shape.dims[i];
    }
    if (versioned >= 0 && PyDataType_ELSIZE(a.dtype) == 0) {
        PyErr_SetString(PyExc_BufferError, "DLPack has no type for items of 0 bytes");
    }
    /* Check the allocation after reading the arguments, which may run code that frees
     * it. */
    else if (versioned >= 0 && export_parse_strides(a.strides, &t) == 0 &&
             pcu_resource_check(self, "as_dlpack") == 0) {
        t.pointer = self->handle.memory;
        t.device.type = pcu_dlpack_device_type(t.pointer);
        t.device.id = pcu_context_rec(self->ctx)->device;
        if (export_check_extent(self, &t) == 0) {
            capsule = pcu_dlpack_export(&t, op, versioned);
        }
    }
    Py_XDECREF(a.dtype);
    return capsule;
}

static PyMethodDef export_allocation_methods[] = {
    PCU_METHOD("as_dlpack", export_as_dlpack),
    {NULL, NULL, 0, NULL},
};

int
pcu_dlpack_export_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    if (pcu_add_methods(st->DeviceAllocation, export_allocation_methods) < 0) {
        return -1;
    }
    return pcu_add_methods(st->PooledDeviceAllocation, export_allocation_methods);
}
