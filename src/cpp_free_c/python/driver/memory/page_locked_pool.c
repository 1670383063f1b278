/* PageLockedMemoryPool: a pool of page-locked host memory that makes NumPy arrays, and
 * PageLockedAllocator, which holds the flags of its memory.
 *
 * Invariant: the blocks of a pool were allocated with the pool's flags; a second
 * __init__ with other flags releases the held blocks first. A pool takes the current
 * context when it first needs one, and another one after that context has ended. Python
 * is the only caller; the shared part is in pool.c. */
#include "python/driver/memory/pool.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/type.h"
#include "python/support/setup.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"

/* -- PageLockedAllocator ----------------------------------------------------------- */

typedef struct {
    pcu_instance base;
    unsigned int flags;
} hostallocator;

PCU_SIGNATURE_OF_ONE(hostallocator, "flags", pcu_as_uint,
                     "PageLockedAllocator(flags=0, /)\n--\n\n"
                     "Hold the flags of the memory of a PageLockedMemoryPool.\n"
                     "\nParameters\n----------\n"
                     "flags : int, optional\n"
                     "    Values of ``host_alloc_flags``, combined with ``|``.\n"
                     "\nSee Also\n--------\n"
                     "PageLockedMemoryPool : Use the flags.")

static int
hostallocator_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(Py_TYPE(op));
    unsigned int flags = 0;
    if (st == NULL || pcu_args_parse_tuple(st, &hostallocator_signature, args, kwargs,
                                           PCU_ONLY(hostallocator, &flags)) < 0) {
        return -1;
    }
    ((hostallocator *)op)->flags = flags;
    return 0;
}

static PyType_Slot hostallocator_slots[] = {
    {Py_tp_doc, (void *)hostallocator_doc}, {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, hostallocator_init},       {Py_tp_traverse, pcu_instance_traverse},
    {Py_tp_clear, pcu_instance_clear},      {Py_tp_dealloc, pcu_instance_dealloc},
    {Py_tp_members, pcu_instance_members},  {0, NULL},
};

enum { HOSTPOOL_FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE };

static PyType_Spec hostallocator_spec = {"pycuda._driver.PageLockedAllocator",
                                         sizeof(hostallocator), 0, HOSTPOOL_FLAGS,
                                         hostallocator_slots};

/* -- PageLockedMemoryPool ---------------------------------------------------------- */

static PyObject *
hostpool_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    return (PyObject *)pcu_pool_blank_new(type, PCU_HANDLE_host);
}

PCU_SIGNATURE_OF_ONE(
    hostpool, "allocator", pcu_as_object,
    "PageLockedMemoryPool(allocator=..., /)\n--\n\n"
    "Keep freed page-locked (pinned) memory for the next array.\n"
    "\nParameters\n----------\n"
    "allocator : PageLockedAllocator, optional\n"
    "    Flags of the memory. The default is no flag.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If ``allocator`` is another object.\n"
    "\nSee Also\n--------\n"
    "pagelocked_empty : Allocate without a pool.\n"
    "DeviceMemoryPool : Do the same for device memory.\n"
    "\nNotes\n-----\n"
    "A block may be used again as soon as it is returned: wait for the\n"
    "copies of an array before its last view is deleted.\n"
    "\nExamples\n--------\n"
    ">>> pool = drv.PageLockedMemoryPool()\n"
    ">>> a = pool.allocate((2, 3), np.float32)\n"
    ">>> del a\n"
    ">>> pool.held_blocks\n"
    "1")

static int
hostpool_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_memory_pool *self = (pcu_memory_pool *)op;
    PyObject *allocator = NULL;
    unsigned int flags = 0;
    if (pcu_args_parse_tuple(self->st, &hostpool_signature, args, kwargs,
                             PCU_ONLY(hostpool, &allocator)) < 0) {
        return -1;
    }
    if (allocator != NULL) {
        if (!PyObject_TypeCheck(allocator, self->st->PageLockedAllocator)) {
            PyErr_Format(PyExc_TypeError,
                         "allocator must be a PageLockedAllocator, not %s",
                         Py_TYPE(allocator)->tp_name);
            return -1;
        }
        flags = ((hostallocator *)allocator)->flags;
    }
    if (flags != self->flags) { /* a second __init__: release blocks with old flags */
        pcu_pool_free_held_noraise(self);
        self->flags = flags;
    }
    return 0;
}

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *order;
} hostpool_args;

static const pcu_word hostpool_allocate_words[] = {
    PCU_WORD("shape", pcu_as_shape, hostpool_args, shape),
    PCU_WORD("dtype", pcu_as_dtype, hostpool_args, dtype),
    PCU_WORD("order", pcu_as_object, hostpool_args, order),
};

/* The order of the array. A value that is neither C nor F is the built-in RuntimeError,
 * as in PyCUDA. */
static int
hostpool_order(pcu_state *st, PyObject *value, NPY_ORDER *order)
{
    *order = NPY_CORDER;
    if (value == NULL || pcu_as_order(st, value, order, "order") == 0) {
        return 0;
    }
    if (PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Format(PyExc_RuntimeError, "order must be 'C' or 'F', not %R", value);
    }
    return -1;
}

PCU_SIGNATURE(hostpool_allocate, hostpool_allocate_words,
              "allocate($self, /, shape, dtype, order='C')\n--\n\n"
              "Return a new uninitialised array in page-locked memory of the pool.\n"
              "\nParameters\n----------\n" PCU_DOC_SHAPE PCU_DOC_DTYPE PCU_DOC_ORDER
              "\nReturns\n-------\n"
              "ndarray\n"
              "    A new array. Its base is a PooledHostAllocation.\n"
              "\nRaises\n------\n"
              "MemoryError\n"
              "    If memory is short, also after held blocks were released.\n"
              "RuntimeError\n"
              "    If ``order`` is another value.\n" PCU_DOC_PYTHON_OBJECTS
              "\nSee Also\n--------\n"
              "pagelocked_empty : Allocate without a pool.\n"
              "\nNotes\n-----\n"
              "The pool gets the memory back when the last view is deleted. A block\n"
              "of the right size is used again; the driver is asked only if there is\n"
              "none.\n"
              "\nExamples\n--------\n"
              ">>> pool = drv.PageLockedMemoryPool()\n"
              ">>> pool.allocate(4, np.int32).nbytes\n"
              "16")

static PyObject *
hostpool_allocate(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_memory_pool *self = (pcu_memory_pool *)op;
    hostpool_args a = {.order = NULL};
    PyObject *allocation = NULL;
    PyObject *array = NULL;
    NPY_ORDER order;
    size_t bytes = 0;
    if (pcu_args_parse(self->st, &hostpool_allocate_signature, args, nargs, kwnames,
                       &a) < 0 ||
        hostpool_order(self->st, a.order, &order) < 0) {
        goto done;
    }
    if (PyDataType_REFCHK(a.dtype)) {
        pcu_refuse_objects(a.dtype, "allocate");
        goto done;
    }
    if (pcu_numpy_array_bytes(&a.shape, a.dtype, &bytes) < 0) {
        goto done;
    }
    allocation = pcu_pooled_new(self, self->st->PooledHostAllocation, bytes);
    if (allocation != NULL) {
        array =
            pcu_numpy_array_new(&a.shape, a.dtype, order,
                                ((pcu_resource *)allocation)->handle.host, allocation);
        a.dtype = NULL; /* taken over */
    }
done:
    Py_XDECREF(a.dtype);
    return array;
}

static PyMethodDef hostpool_methods[] = {
    PCU_METHOD("allocate", hostpool_allocate),
    {NULL, NULL, 0, NULL},
};

static PyType_Slot hostpool_slots[] = {
    {Py_tp_doc, (void *)hostpool_doc}, {Py_tp_new, hostpool_new},
    {Py_tp_init, hostpool_init},       {Py_tp_traverse, pcu_pool_traverse},
    {Py_tp_clear, pcu_pool_clear},     {Py_tp_dealloc, pcu_pool_dealloc},
    {Py_tp_members, pcu_pool_members}, {Py_tp_getset, pcu_pool_getset},
    {Py_tp_methods, hostpool_methods}, {0, NULL},
};

static PyType_Spec hostpool_spec = {"pycuda._driver.PageLockedMemoryPool",
                                    sizeof(pcu_memory_pool), 0, HOSTPOOL_FLAGS,
                                    hostpool_slots};

int
pcu_page_locked_pool_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->PageLockedAllocator, &hostallocator_spec, NULL) < 0 ||
        pcu_add_type(m, &st->PageLockedMemoryPool, &hostpool_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_methods(st->PageLockedMemoryPool, pcu_pool_methods);
}
