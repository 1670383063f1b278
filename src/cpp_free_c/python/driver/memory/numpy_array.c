/* NumPy arrays in memory for the device: the functions pagelocked_*, aligned_* and
 * managed_*.
 *
 * Invariant: the base of such an array is its allocation, which is released when the
 * last view of the array is deleted. Callers: Python, and page_locked_pool.c. */
#include "python/driver/memory/memory.h"

#include "python/support/setup.h"
#include "python/support/docs.h"

/* -- docstrings -------------------------------------------------------------------- */

#define NUMPY_ARRAY_DOC_ARRAY \
    "array : ndarray\n"       \
    "    Contiguous array that gives shape, dtype and order.\n"

#define NUMPY_ARRAY_DOC_ALIGNMENT \
    "alignment : int, optional\n" \
    "    Bytes of which the address is a multiple, a power of two.\n"

#define NUMPY_ARRAY_DOC_ALIGNED \
    "ndarray\n"                 \
    "    A new array. Its base is an AlignedHostAllocation.\n"

#define NUMPY_ARRAY_DOC_HOST_FLAGS \
    "mem_flags : int, optional\n"  \
    "    Values of ``host_alloc_flags``, combined with ``|``.\n"

#define NUMPY_ARRAY_DOC_PAGELOCKED \
    "ndarray\n"                    \
    "    A new array. Its base is a PagelockedHostAllocation.\n"

#define NUMPY_ARRAY_DOC_ATTACH                 \
    "mem_flags : mem_attach_flags, optional\n" \
    "    Who may access the memory. The default 0 is GLOBAL.\n"

#define NUMPY_ARRAY_DOC_MANAGED \
    "ndarray\n"                 \
    "    A new array. Its base is a ManagedAllocation.\n"

#define NUMPY_ARRAY_DOC_NO_MEMORY \
    "MemoryError\n"               \
    "    If memory is short, also after a collection of garbage.\n"

#define NUMPY_ARRAY_DOC_GAPS \
    "ValueError\n"           \
    "    If the array has gaps.\n"

#define NUMPY_ARRAY_DOC_NO_POWER \
    "LogicError\n"               \
    "    If ``alignment`` is no power of two.\n"

int
pcu_numpy_array_bytes(const pcu_shape *shape, PyArray_Descr *dtype, size_t *bytes)
{
    size_t total = (size_t)PyDataType_ELSIZE(dtype);
    bool empty = false;
    for (int i = 0; i < shape->ndim; i++) {
        size_t dim = (size_t)shape->dims[i];
        empty |= dim == 0;
        if (dim != 0 &&
            (pcu_mul_size(total, dim, &total) < 0 || total > (size_t)PY_SSIZE_T_MAX)) {
            PyErr_SetString(
                PyExc_ValueError,
                "shape and dtype make an array larger than the address space");
            return -1;
        }
    }
    *bytes = empty ? 0 : total;
    return 0;
}

PyObject *
pcu_numpy_array_new(const pcu_shape *shape, PyArray_Descr *dtype, NPY_ORDER order,
                    void *data, PyObject *base)
{
    int flags = NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE;
    flags |=
        order == NPY_FORTRANORDER ? NPY_ARRAY_F_CONTIGUOUS : NPY_ARRAY_C_CONTIGUOUS;
    PyObject *array = PyArray_NewFromDescr(&PyArray_Type, dtype, shape->ndim,
                                           shape->dims, NULL, data, flags, NULL);
    if (array == NULL) {
        Py_DECREF(base);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, base) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

/* -- the three kinds of memory ----------------------------------------------------- */

typedef struct {
    PyObject *like; /* borrowed: gives shape, dtype and order; or NULL */
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    NPY_ORDER order;
    unsigned int flags;
    size_t alignment;
} numpy_array_args;

static PyObject *
numpy_array_pagelocked(pcu_state *st, const numpy_array_args *a, size_t bytes,
                       void **data)
{
    return pcu_pagelocked_alloc(st, bytes, a->flags, data);
}

static PyObject *
numpy_array_aligned(pcu_state *st, const numpy_array_args *a, size_t bytes, void **data)
{
    return pcu_aligned_alloc(st, bytes, a->alignment, data);
}

static PyObject *
numpy_array_managed(pcu_state *st, const numpy_array_args *a, size_t bytes, void **data)
{
    return pcu_managed_alloc(st, bytes, a->flags, data);
}

static const pcu_word numpy_array_words[] = {
    PCU_WORD("shape", pcu_as_shape, numpy_array_args, shape),
    PCU_WORD("dtype", pcu_as_dtype, numpy_array_args, dtype),
    PCU_WORD("order", pcu_as_order, numpy_array_args, order),
    PCU_WORD("array", pcu_as_object, numpy_array_args, like),
    PCU_WORD("mem_flags", pcu_as_uint, numpy_array_args, flags),
    PCU_WORD("alignment", pcu_as_size, numpy_array_args, alignment),
};

/* One function of the module. */
typedef struct {
    const pcu_signature *signature;
    PyObject *(*allocate)(pcu_state *st, const numpy_array_args *a, size_t bytes,
                          void **data);
    int zero; /* fill the array with zeros */
} numpy_array_row;

/* -- the functions -------------------------------------------------------------------
 */

/* Take shape, dtype and order from a->like. */
static int
numpy_array_read_like(numpy_array_args *a)
{
    if (!PyArray_Check(a->like)) {
        PyErr_Format(PyExc_TypeError, "array must be a numpy array, not %s",
                     Py_TYPE(a->like)->tp_name);
        return -1;
    }
    PyArrayObject *array = (PyArrayObject *)a->like;
    if (!PyArray_IS_C_CONTIGUOUS(array) && !PyArray_IS_F_CONTIGUOUS(array)) {
        PyErr_SetString(PyExc_ValueError, "array is neither C- nor Fortran-contiguous");
        return -1;
    }
    if (PyArray_NDIM(array) > PCU_MAX_NDIM) {
        PyErr_Format(PyExc_ValueError,
                     "array has %d dimensions; at most %d are possible",
                     PyArray_NDIM(array), PCU_MAX_NDIM);
        return -1;
    }
    a->order = PyArray_IS_C_CONTIGUOUS(array) ? NPY_CORDER : NPY_FORTRANORDER;
    a->shape.ndim = PyArray_NDIM(array);
    memcpy(a->shape.dims, PyArray_DIMS(array),
           (size_t)a->shape.ndim * sizeof(npy_intp));
    a->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)PyArray_DESCR(array));
    return 0;
}

/* Make the array. Takes over the reference a->dtype. */
static PyObject *
numpy_array_new(pcu_state *st, const numpy_array_row *row, numpy_array_args *a)
{
    size_t bytes = 0;
    void *data = NULL;
    PyObject *allocation = NULL;
    if (PyDataType_REFCHK(a->dtype)) {
        pcu_refuse_objects(a->dtype, row->signature->function);
    }
    else if (pcu_numpy_array_bytes(&a->shape, a->dtype, &bytes) == 0) {
        /* an empty array has a base too, so at least one byte is allocated */
        allocation = row->allocate(st, a, bytes + (bytes == 0), &data);
    }
    if (allocation == NULL) {
        Py_DECREF(a->dtype);
        return NULL;
    }
    if (row->zero) {
        memset(data, 0, bytes);
    }
    return pcu_numpy_array_new(&a->shape, a->dtype, a->order, data, allocation);
}

/* The body of all functions of the table. */
static PyObject *
numpy_array_call(PyObject *m, const numpy_array_row *row, PyObject *const *args,
                 Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    numpy_array_args a = {.order = NPY_CORDER, .alignment = 4096};
    if (pcu_args_parse(st, row->signature, args, nargs, kwnames, &a) < 0 ||
        (a.like != NULL && numpy_array_read_like(&a) < 0)) {
        Py_XDECREF(a.dtype);
        return NULL;
    }
    return numpy_array_new(st, row, &a);
}

/* Define a function by its row: name, the kind of memory, whether it is filled with
 * zeros, signature and docstring. */
#define NUMPY_ARRAY_ROW(name, allocate, zero, signature, doc)                          \
    PCU_SIGNATURE(numpy_array_##name, numpy_array_words,                               \
                  #name "($module, /, " signature ")\n--\n\n" doc)                     \
    static PyObject *numpy_array_##name(PyObject *m, PyObject *const *args,            \
                                        Py_ssize_t nargs, PyObject *kwnames)           \
    {                                                                                  \
        static const numpy_array_row row = {&numpy_array_##name##_signature, allocate, \
                                            zero};                                     \
        return numpy_array_call(m, &row, args, nargs, kwnames);                        \
    }

NUMPY_ARRAY_ROW(
    pagelocked_empty, numpy_array_pagelocked, 0, "shape, dtype, order='C', mem_flags=0",
    "Return a new uninitialised array in page-locked (pinned) memory.\n"
    "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
        NUMPY_ARRAY_DOC_HOST_FLAGS "\nReturns\n-------\n" NUMPY_ARRAY_DOC_PAGELOCKED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_NO_MEMORY PCU_DOC_PYTHON_OBJECTS
    "\nSee Also\n--------\n"
    "PageLockedMemoryPool : Reuse page-locked memory.\n"
    "register_host_memory : Page-lock the memory of an array.\n"
    "memcpy_htod_async : Copy beside the host.\n"
    "\nNotes\n-----\n"
    "The allocation is slow: use an array many times, or a pool. The memory\n"
    "is released with the last view of the array.\n"
    "\nExamples\n--------\n"
    ">>> a = drv.pagelocked_empty((2, 3), np.float32)\n"
    ">>> a.shape, type(a.base).__name__\n"
    "((2, 3), 'PagelockedHostAllocation')")
NUMPY_ARRAY_ROW(pagelocked_zeros, numpy_array_pagelocked, 1,
                "shape, dtype, order='C', mem_flags=0",
                "Return a new array of zeros in page-locked (pinned) memory.\n"
                "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
                    NUMPY_ARRAY_DOC_HOST_FLAGS
                "\nReturns\n-------\n" NUMPY_ARRAY_DOC_PAGELOCKED
                "\nRaises\n------\n" NUMPY_ARRAY_DOC_NO_MEMORY PCU_DOC_PYTHON_OBJECTS
                "\nSee Also\n--------\n"
                "pagelocked_empty : Leave the elements undefined.\n"
                "\nExamples\n--------\n"
                ">>> drv.pagelocked_zeros(3, np.int32)\n"
                "array([0, 0, 0], dtype=int32)")
NUMPY_ARRAY_ROW(
    pagelocked_empty_like, numpy_array_pagelocked, 0, "array, mem_flags=0",
    "Return a new uninitialised array like another one, in page-locked memory.\n"
    "\nParameters\n----------\n" NUMPY_ARRAY_DOC_ARRAY NUMPY_ARRAY_DOC_HOST_FLAGS
    "\nReturns\n-------\n" NUMPY_ARRAY_DOC_PAGELOCKED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_GAPS NUMPY_ARRAY_DOC_NO_MEMORY
    "\nSee Also\n--------\n"
    "pagelocked_empty : Give shape and dtype.")
NUMPY_ARRAY_ROW(
    pagelocked_zeros_like, numpy_array_pagelocked, 1, "array, mem_flags=0",
    "Return a new array of zeros like another one, in page-locked memory.\n"
    "\nParameters\n----------\n" NUMPY_ARRAY_DOC_ARRAY NUMPY_ARRAY_DOC_HOST_FLAGS
    "\nReturns\n-------\n" NUMPY_ARRAY_DOC_PAGELOCKED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_GAPS NUMPY_ARRAY_DOC_NO_MEMORY
    "\nSee Also\n--------\n"
    "pagelocked_zeros : Give shape and dtype.")

NUMPY_ARRAY_ROW(aligned_empty, numpy_array_aligned, 0,
                "shape, dtype, order='C', alignment=4096",
                "Return a new uninitialised array in aligned memory.\n"
                "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
                    NUMPY_ARRAY_DOC_ALIGNMENT
                "\nReturns\n-------\n" NUMPY_ARRAY_DOC_ALIGNED
                "\nRaises\n------\n" NUMPY_ARRAY_DOC_NO_POWER
                "MemoryError\n"
                "    If the host has not enough memory.\n" PCU_DOC_PYTHON_OBJECTS
                "\nSee Also\n--------\n"
                "register_host_memory : Page-lock the memory.\n"
                "pagelocked_empty : Allocate page-locked memory.\n"
                "\nExamples\n--------\n"
                ">>> a = drv.aligned_empty(100, np.float32, alignment=4096)\n"
                ">>> a.ctypes.data % 4096\n"
                "0")
NUMPY_ARRAY_ROW(aligned_zeros, numpy_array_aligned, 1,
                "shape, dtype, order='C', alignment=4096",
                "Return a new array of zeros in aligned memory.\n"
                "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
                    NUMPY_ARRAY_DOC_ALIGNMENT
                "\nReturns\n-------\n" NUMPY_ARRAY_DOC_ALIGNED
                "\nRaises\n------\n" NUMPY_ARRAY_DOC_NO_POWER PCU_DOC_PYTHON_OBJECTS
                "\nSee Also\n--------\n"
                "aligned_empty : Leave the elements undefined.")
NUMPY_ARRAY_ROW(
    aligned_empty_like, numpy_array_aligned, 0, "array, alignment=4096",
    "Return a new uninitialised array like another one, in aligned memory.\n"
    "\nParameters\n----------\n" NUMPY_ARRAY_DOC_ARRAY NUMPY_ARRAY_DOC_ALIGNMENT
    "\nReturns\n-------\n" NUMPY_ARRAY_DOC_ALIGNED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_GAPS NUMPY_ARRAY_DOC_NO_POWER
    "\nSee Also\n--------\n"
    "aligned_empty : Give shape and dtype.")
NUMPY_ARRAY_ROW(
    aligned_zeros_like, numpy_array_aligned, 1, "array, alignment=4096",
    "Return a new array of zeros like another one, in aligned memory.\n"
    "\nParameters\n----------\n" NUMPY_ARRAY_DOC_ARRAY NUMPY_ARRAY_DOC_ALIGNMENT
    "\nReturns\n-------\n" NUMPY_ARRAY_DOC_ALIGNED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_GAPS NUMPY_ARRAY_DOC_NO_POWER
    "\nSee Also\n--------\n"
    "aligned_zeros : Give shape and dtype.")

NUMPY_ARRAY_ROW(
    managed_empty, numpy_array_managed, 0, "shape, dtype, order='C', mem_flags=0",
    "Return a new uninitialised array in managed (unified) memory.\n"
    "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
        NUMPY_ARRAY_DOC_ATTACH "\nReturns\n-------\n" NUMPY_ARRAY_DOC_MANAGED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_NO_MEMORY PCU_DOC_PYTHON_OBJECTS
    "\nSee Also\n--------\n"
    "mem_prefetch : Move the memory before it is used.\n"
    "ManagedAllocation.attach : Restrict the access.\n"
    "\nNotes\n-----\n"
    "Kernels take the array as an argument. Wait for the kernel before the\n"
    "host uses the array.\n"
    "\nExamples\n--------\n"
    ">>> a = drv.managed_empty(4, np.int32)\n"
    ">>> drv.memset_d32(a, 7, 4)\n"
    ">>> drv.Context.synchronize()\n"
    ">>> a\n"
    "array([7, 7, 7, 7], dtype=int32)")
NUMPY_ARRAY_ROW(managed_zeros, numpy_array_managed, 1,
                "shape, dtype, order='C', mem_flags=0",
                "Return a new array of zeros in managed (unified) memory.\n"
                "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
                    NUMPY_ARRAY_DOC_ATTACH
                "\nReturns\n-------\n" NUMPY_ARRAY_DOC_MANAGED
                "\nRaises\n------\n" NUMPY_ARRAY_DOC_NO_MEMORY PCU_DOC_PYTHON_OBJECTS
                "\nSee Also\n--------\n"
                "managed_empty : Leave the elements undefined.\n"
                "\nExamples\n--------\n"
                ">>> drv.managed_zeros(3, np.float32)\n"
                "array([0., 0., 0.], dtype=float32)")
NUMPY_ARRAY_ROW(
    managed_empty_like, numpy_array_managed, 0, "array, mem_flags=0",
    "Return a new uninitialised array like another one, in managed memory.\n"
    "\nParameters\n----------\n" NUMPY_ARRAY_DOC_ARRAY NUMPY_ARRAY_DOC_ATTACH
    "\nReturns\n-------\n" NUMPY_ARRAY_DOC_MANAGED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_GAPS NUMPY_ARRAY_DOC_NO_MEMORY
    "\nSee Also\n--------\n"
    "managed_empty : Give shape and dtype.")
NUMPY_ARRAY_ROW(
    managed_zeros_like, numpy_array_managed, 1, "array, mem_flags=0",
    "Return a new array of zeros like another one, in managed memory.\n"
    "\nParameters\n----------\n" NUMPY_ARRAY_DOC_ARRAY NUMPY_ARRAY_DOC_ATTACH
    "\nReturns\n-------\n" NUMPY_ARRAY_DOC_MANAGED
    "\nRaises\n------\n" NUMPY_ARRAY_DOC_GAPS NUMPY_ARRAY_DOC_NO_MEMORY
    "\nSee Also\n--------\n"
    "managed_zeros : Give shape and dtype.")

#define NUMPY_ARRAY_FUNCTION(name) PCU_METHOD(#name, numpy_array_##name)

static PyMethodDef numpy_array_functions[] = {
    NUMPY_ARRAY_FUNCTION(pagelocked_empty),
    NUMPY_ARRAY_FUNCTION(pagelocked_zeros),
    NUMPY_ARRAY_FUNCTION(pagelocked_empty_like),
    NUMPY_ARRAY_FUNCTION(pagelocked_zeros_like),
    NUMPY_ARRAY_FUNCTION(aligned_empty),
    NUMPY_ARRAY_FUNCTION(aligned_zeros),
    NUMPY_ARRAY_FUNCTION(aligned_empty_like),
    NUMPY_ARRAY_FUNCTION(aligned_zeros_like),
    NUMPY_ARRAY_FUNCTION(managed_empty),
    NUMPY_ARRAY_FUNCTION(managed_zeros),
    NUMPY_ARRAY_FUNCTION(managed_empty_like),
    NUMPY_ARRAY_FUNCTION(managed_zeros_like),
    {NULL, NULL, 0, NULL},
};

int
pcu_numpy_array_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, numpy_array_functions);
}
