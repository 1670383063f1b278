/* Page-locked host memory: HostPointer, PagelockedHostAllocation, and arrays on them.
 *
 * An array's base is the allocation, which is released when the last view of it goes.
 */

#include "pcu.h"

/* -- types ------------------------------------------------------------------------- */

PyDoc_STRVAR(host_get_device_pointer_doc,
             "get_device_pointer($self, /)\n--\n\n"
             "The address under which the device sees this memory, as an int.");

static PyObject *
host_get_device_pointer(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    CUdeviceptr pointer = 0;
    int rc = pcu_resource_check(self, "cuMemHostGetDevicePointer");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, MemHostGetDevicePointer, (&pointer, self->handle.host, 0));
    return rc < 0 ? NULL : PyLong_FromUnsignedLongLong(pointer);
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

PyDoc_STRVAR(host_doc, "Host memory that the driver knows.");

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

PyDoc_STRVAR(pagelocked_free_doc,
             "free($self, /)\n--\n\n"
             "Release the memory now; arrays on it must not be used any more.\n\n"
             "LogicError the second time.");

static PyObject *
pagelocked_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return pcu_resource_free((pcu_resource *)op) < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(pagelocked_get_flags_doc,
             "get_flags($self, /)\n--\n\n"
             "The or-ed host_alloc_flags of this allocation, as the driver has them.");

static PyObject *
pagelocked_get_flags(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    unsigned int flags = 0;
    int rc = pcu_resource_check(self, "cuMemHostGetFlags");
    if (rc < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->st, MemHostGetFlags, (&flags, self->handle.host));
    return rc < 0 ? NULL : PyLong_FromUnsignedLong(flags);
}

static PyMethodDef pagelocked_methods[] = {
    {"free", pagelocked_free, METH_NOARGS, pagelocked_free_doc},
    {"get_flags", pagelocked_get_flags, METH_NOARGS, pagelocked_get_flags_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(
    pagelocked_doc,
    "Page-locked host memory: the base of the arrays that pagelocked_empty makes.");

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

/* -- arrays ------------------------------------------------------------------------ */

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    NPY_ORDER order;
    unsigned int flags;
} host_array_args;

static const pcu_argspec host_array_specs[] = {
    {"shape", pcu_as_shape, offsetof(host_array_args, shape)},
    {"dtype", pcu_as_dtype, offsetof(host_array_args, dtype)},
    {"order", pcu_as_order, offsetof(host_array_args, order)},
    {"mem_flags", pcu_as_uint, offsetof(host_array_args, flags)},
};

static int
host_bytes(const host_array_args *a, size_t *bytes)
{
    size_t total = (size_t)PyDataType_ELSIZE(a->dtype);
    for (int i = 0; i < a->shape.ndim; i++) {
        size_t dim = (size_t)a->shape.dims[i];
        if (dim != 0 && total > (size_t)PY_SSIZE_T_MAX / dim) {
            PyErr_SetString(
                PyExc_ValueError,
                "shape and dtype make an array larger than the address space");
            return -1;
        }
        total *= dim;
    }
    *bytes = total;
    return 0;
}

static PyObject *
host_allocation_new(pcu_state *st, size_t bytes, unsigned int flags)
{
    pcu_res_handle handle = {0};
    PyObject *self = NULL;
    PyObject *ctx = pcu_context_require(st, "cuMemHostAlloc");
    if (ctx == NULL) {
        return NULL;
    }
    CUresult status = drv.MemHostAlloc(&handle.host, bytes, flags);
    if (status == CUDA_ERROR_OUT_OF_MEMORY) {
        pcu_collect_garbage();
        status = drv.MemHostAlloc(&handle.host, bytes, flags);
    }
    if (status == CUDA_SUCCESS) {
        self = pcu_resource_new(st, st->PagelockedHostAllocation, ctx, PCU_RES_host,
                                handle);
    }
    else {
        pcu_raise_detail(st, "cuMemHostAlloc", status, "%zu bytes were asked for",
                         bytes);
    }
    Py_DECREF(ctx);
    return self;
}

/* An array over the allocation, whose base it becomes. Steals both references. */
static PyObject *
host_array_over_new(const host_array_args *a, PyObject *allocation)
{
    int flags = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;
    flags |=
        a->order == NPY_FORTRANORDER ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS;
    PyObject *array = PyArray_NewFromDescr(
        &PyArray_Type, a->dtype, a->shape.ndim, a->shape.dims, NULL,
        ((pcu_resource *)allocation)->handle.host, flags, NULL);
    if (array == NULL) {
        Py_DECREF(allocation);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, allocation) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

/* Consumes a->dtype. */
static PyObject *
host_array_new(pcu_state *st, host_array_args *a, int zero)
{
    size_t bytes = 0;
    PyObject *allocation = NULL;
    if (PyDataType_REFCHK(a->dtype)) {
        PyErr_SetString(PyExc_TypeError, "no GPU can read an array of Python objects");
    }
    else if (host_bytes(a, &bytes) == 0) {
        /* an empty array still has a base */
        allocation = host_allocation_new(st, bytes == 0 ? 1 : bytes, a->flags);
    }
    if (allocation == NULL) {
        Py_DECREF(a->dtype);
        return NULL;
    }
    if (zero) {
        memset(((pcu_resource *)allocation)->handle.host, 0, bytes);
    }
    return host_array_over_new(a, allocation);
}

static PyObject *
host_array_parse_new(PyObject *m, const pcu_argtable *table, int zero,
                     PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    host_array_args a = {.order = NPY_CORDER};
    if (pcu_args_parse(st, table, args, nargs, kwnames, &a) < 0) {
        Py_XDECREF(a.dtype);
        return NULL;
    }
    return host_array_new(st, &a, zero);
}

PyDoc_STRVAR(
    host_pagelocked_empty_doc,
    "pagelocked_empty($module, /, shape, dtype, order='C', mem_flags=0)\n--\n\n"
    "A new array in page-locked memory, uninitialised.\n\n"
    "mem_flags: or-ed host_alloc_flags. Its base is a PagelockedHostAllocation.");

static PyObject *
host_pagelocked_empty(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argtable table = {"pagelocked_empty", host_array_specs, 4, 2, 0};
    return host_array_parse_new(m, &table, 0, args, nargs, kwnames);
}

PyDoc_STRVAR(
    host_pagelocked_zeros_doc,
    "pagelocked_zeros($module, /, shape, dtype, order='C', mem_flags=0)\n--\n\n"
    "A new array of zeros in page-locked memory.");

static PyObject *
host_pagelocked_zeros(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argtable table = {"pagelocked_zeros", host_array_specs, 4, 2, 0};
    return host_array_parse_new(m, &table, 1, args, nargs, kwnames);
}

typedef struct {
    PyObject *array;
    unsigned int flags;
} host_like_args;

static const pcu_argspec host_like_specs[] = {
    {"array", pcu_as_object, offsetof(host_like_args, array)},
    {"mem_flags", pcu_as_uint, offsetof(host_like_args, flags)},
};

static PyObject *
host_like_new(PyObject *m, const pcu_argtable *table, int zero, PyObject *const *args,
              Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    host_like_args like = {0};
    host_array_args a = {.order = NPY_CORDER};
    if (pcu_args_parse(st, table, args, nargs, kwnames, &like) < 0) {
        return NULL;
    }
    if (!PyArray_Check(like.array)) {
        PyErr_Format(PyExc_TypeError, "array must be a numpy array, not %s",
                     Py_TYPE(like.array)->tp_name);
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)like.array;
    if (!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array)) {
        PyErr_SetString(PyExc_ValueError, "array is neither C- nor Fortran-contiguous");
        return NULL;
    }
    if (PyArray_NDIM(array) > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError,
                     "array has %d dimensions; at most %d are possible",
                     PyArray_NDIM(array), PCU_MAX_NDIM);
        return NULL;
    }
    a.order = PyArray_IS_C_CONTIGUOUS(array) ? NPY_CORDER : NPY_FORTRANORDER;
    a.shape.ndim = PyArray_NDIM(array);
    memcpy(a.shape.dims, PyArray_DIMS(array), (size_t)a.shape.ndim * sizeof(npy_intp));
    a.dtype = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(array));
    a.flags = like.flags;
    return host_array_new(st, &a, zero);
}

PyDoc_STRVAR(
    host_pagelocked_empty_like_doc,
    "pagelocked_empty_like($module, /, array, mem_flags=0)\n--\n\n"
    "A new array in page-locked memory with shape, dtype and order of another.");

static PyObject *
host_pagelocked_empty_like(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    static const pcu_argtable table = {"pagelocked_empty_like", host_like_specs, 2, 1,
                                       0};
    return host_like_new(m, &table, 0, args, nargs, kwnames);
}

PyDoc_STRVAR(
    host_pagelocked_zeros_like_doc,
    "pagelocked_zeros_like($module, /, array, mem_flags=0)\n--\n\n"
    "A new array of zeros in page-locked memory with shape, dtype and order of\n"
    "another.");

static PyObject *
host_pagelocked_zeros_like(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                           PyObject *kwnames)
{
    static const pcu_argtable table = {"pagelocked_zeros_like", host_like_specs, 2, 1,
                                       0};
    return host_like_new(m, &table, 1, args, nargs, kwnames);
}

#define HOST_FUNCTION(name)                                  \
    {                                                        \
#        name, (PyCFunction)(void (*)(void))host_##name,     \
            METH_FASTCALL | METH_KEYWORDS, host_##name##_doc \
    }

static PyMethodDef host_functions[] = {
    HOST_FUNCTION(pagelocked_empty),
    HOST_FUNCTION(pagelocked_zeros),
    HOST_FUNCTION(pagelocked_empty_like),
    HOST_FUNCTION(pagelocked_zeros_like),
    {NULL, NULL, 0, NULL},
};

int
pcu_hostmem_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->HostPointer, &host_spec, NULL) < 0) {
        return -1;
    }
    PyObject *bases = PyTuple_Pack(1, (PyObject *)st->HostPointer);
    int rc = bases == NULL ? -1
                           : pcu_add_type(m, &st->PagelockedHostAllocation,
                                          &pagelocked_spec, bases);
    Py_XDECREF(bases);
    /* the name old programs know */
    if (rc == 0) {
        rc = PyModule_AddObjectRef(m, "HostAllocation",
                                   (PyObject *)st->PagelockedHostAllocation);
    }
    return rc < 0 ? -1 : PyModule_AddFunctions(m, host_functions);
}
