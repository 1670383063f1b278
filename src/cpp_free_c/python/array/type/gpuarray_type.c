/* The type GPUArray: its construction by programs, its end, and the parts of the type,
 * which the other files of this folder define.
 *
 * Top of the array rooms: module.c calls pcu_gpuarray_setup. */

#include "python/array/construction.h"
#include "python/array/flags.h"
#include "python/array/fourier/fourier.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/recording.h"
#include "python/array/ops/kernel_name.h"
#include "python/array/ops/kernel_request.h"
#include "python/array/ops/operations.h"
#include "python/array/type/members.h"
#include "python/driver/memory/pool.h"
#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/support/docs.h"

/* -- construction ------------------------------------------------------------------ */

static PyObject *
array_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    return (PyObject *)pcu_gpuarray_blank_new(st, type);
}

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *allocator;  /* borrowed, as are the three below */
    PyObject *base;
    PyObject *gpudata;
    PyObject *strides;
    NPY_ORDER order;
} array_args;

static const pcu_word array_words[] = {
    PCU_WORD("shape", pcu_as_shape, array_args, shape),
    PCU_WORD("dtype", pcu_as_dtype, array_args, dtype),
    PCU_WORD("allocator", pcu_as_allocator, array_args, allocator),
    PCU_WORD("base", pcu_as_object, array_args, base),
    PCU_WORD("gpudata", pcu_as_object, array_args, gpudata),
    PCU_WORD("strides", pcu_as_object, array_args, strides),
    PCU_WORD("order", pcu_as_order, array_args, order),
};

PCU_SIGNATURE(
    array, array_words,
    "GPUArray(shape, dtype, allocator=None, base=None, gpudata=None, strides=None, "
    "order='C')\n"
    "--\n\n"
    "Array in device memory: any shape, any strides.\n\n"
    "The elements are not initialised.\n"
    "\nParameters\n----------\n"
    "shape : int or tuple of int\n"
    "    Shape of the array.\n"
    "dtype : dtype_like\n"
    "    Dtype of the elements.\n" PCU_DOC_ALLOCATOR
    "base : object, optional\n"
    "    Object that is kept alive with ``gpudata``.\n"
    "gpudata : DeviceAllocation or int, optional\n"
    "    Memory that exists. The default is new memory.\n"
    "strides : tuple of int, optional\n"
    "    Strides in bytes. The default follows from ``order``.\n" PCU_DOC_ORDER
    "\nAttributes\n----------\n"
    "__array_priority__ : int\n"
    "    100: NumPy's scalars leave operations with arrays to the arrays.\n"
    "\nRaises\n------\n" PCU_DOC_NO_MEMORY
    "ValueError\n"
    "    If the shape or the strides are not possible.\n"
    "\nSee Also\n--------\n"
    "to_gpu : Copy an array of NumPy.\n"
    "zeros : Set the elements to 0.\n"
    "\nNotes\n-----\n"
    "The array belongs to the current context. Operators and functions\n"
    "enqueue their work in the current stream and do not wait.\n"
    "\nExamples\n--------\n"
    ">>> x = gpuarray.GPUArray((2, 3), np.float32)\n"
    ">>> x.shape, x.dtype, x.nbytes\n"
    "((2, 3), dtype('float32'), 24)")

static int
array_init_layout(pcu_gpuarray *self, const array_args *a)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    size_t itemsize = (size_t)PyDataType_ELSIZE(a->dtype);
    int ndim = a->shape.ndim;
    for (int i = 0; i < ndim; i++) {
        shape[i] = (size_t)a->shape.dims[i];
    }
    if (a->strides != Py_None) {
        if (pcu_gpuarray_read_strides(a->strides, ndim, strides) < 0) {
            return -1;
        }
        return pcu_gpuarray_describe(self, a->dtype, ndim, shape, strides);
    }
    if (a->order == NPY_FORTRANORDER) {
        if (pcu_strides_in_order(true, ndim, shape, itemsize, strides) < 0) {
            return -1;
        }
        return pcu_gpuarray_describe(self, a->dtype, ndim, shape, strides);
    }
    return pcu_gpuarray_describe(self, a->dtype, ndim, shape, NULL);
}

static int
array_init_parsed(pcu_gpuarray *self, const array_args *a)
{
    if (PyDataType_REFCHK(a->dtype)) {
        return pcu_refuse_objects(a->dtype, "GPUArray");
    }
    if (a->base != Py_None && a->gpudata == Py_None) {
        PyErr_SetString(PyExc_AssertionError, "base is given without gpudata");
        return -1;
    }
    if (array_init_layout(self, a) < 0) {
        return -1;
    }
    pcu_gpuarray_set_optional(&self->allocator, a->allocator);
    pcu_gpuarray_set_optional(&self->base, a->base);
    /* never use the memory of an earlier __init__ with the new layout, even if the new
     * memory cannot be allocated */
    pcu_gpuarray_forget_memory(self);
    if (a->gpudata != Py_None) {
        return pcu_gpuarray_adopt(self, a->gpudata, true);
    }
    return pcu_gpuarray_allocate(self);
}

static int
array_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    array_args a = {.allocator = Py_None,
                    .base = Py_None,
                    .gpudata = Py_None,
                    .strides = Py_None,
                    .order = NPY_CORDER};
    int rc = pcu_args_parse_tuple(self->st, &array_signature, args, kwargs, &a);
    if (rc == 0) {
        rc = array_init_parsed(self, &a);
    }
    Py_XDECREF(a.dtype);
    return rc;
}

/* -- the end of an array ----------------------------------------------------------- */

static int
array_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->gpudata);
    Py_VISIT(self->memory);
    Py_VISIT(self->base);
    Py_VISIT(self->allocator);
    Py_VISIT(self->flags);
    Py_VISIT(self->dict);
    return 0;
}

static int
array_clear(PyObject *op)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    Py_CLEAR(self->gpudata);
    Py_CLEAR(self->base);
    Py_CLEAR(self->allocator);
    Py_CLEAR(self->flags);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->memory);
    return 0;
}

static void
array_dealloc(PyObject *op)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    array_clear(op);
    Py_CLEAR(self->dtype);
    if (self->shape != self->inline_shape) {
        PyMem_Free(self->shape);
    }
    type->tp_free(op);
    Py_DECREF(type);
}

/* -- text -------------------------------------------------------------------------- */

/* The text of the elements on the host. */
static PyObject *
array_text(PyObject *op, PyObject *(*render)(PyObject *))
{
    PyObject *host = PyObject_CallMethodNoArgs(op, ((pcu_gpuarray *)op)->st->str_get);
    if (host == NULL) {
        return NULL;
    }
    PyObject *text = render(host);
    Py_DECREF(host);
    return text;
}

static PyObject *
array_repr(PyObject *op)
{
    return array_text(op, PyObject_Repr);
}

static PyObject *
array_str(PyObject *op)
{
    return array_text(op, PyObject_Str);
}

static Py_hash_t
array_hash(PyObject *Py_UNUSED(op))
{
    PyErr_SetString(PyExc_TypeError, "a GPUArray is mutable, so it has no hash");
    return -1;
}

/* -- the default allocator --------------------------------------------------------- */

PyDoc_STRVAR(array_default_doc,
             "_set_default_allocator($module, allocator, /)\n--\n\n"
             "Set the allocator of arrays that are given none; None: mem_alloc.");

static PyObject *
array_set_default_allocator(PyObject *m, PyObject *allocator)
{
    pcu_state *st = pcu_state_of_module(m);
    if (pcu_as_allocator(st, allocator, &allocator, "allocator") < 0) {
        return NULL;
    }
    pcu_gpuarray_set_optional(&st->default_allocator, allocator);
    Py_RETURN_NONE;
}

static PyMethodDef array_functions[] = {
    {"_set_default_allocator", array_set_default_allocator, METH_O, array_default_doc},
    {NULL, NULL, 0, NULL},
};

/* -- the type ---------------------------------------------------------------------- */

static PyMemberDef array_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_gpuarray, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_gpuarray, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

static const PyType_Slot array_slots[] = {
    {Py_tp_doc, (void *)array_doc}, {Py_tp_new, array_new},
    {Py_tp_init, array_init},       {Py_tp_traverse, array_traverse},
    {Py_tp_clear, array_clear},     {Py_tp_dealloc, array_dealloc},
    {Py_tp_members, array_members}, {Py_tp_getset, pcu_gpuarray_getset},
    {Py_tp_repr, array_repr},       {Py_tp_str, array_str},
    {Py_tp_hash, array_hash},       {0, NULL},
};

enum { ARRAY_SLOTS_MAX = 80 };

/* Append a table of slots; returns the new number of slots. */
static int
array_append_slots(PyType_Slot *slots, int count, const PyType_Slot *table)
{
    for (; table->slot != 0; table++) {
        assert(count < ARRAY_SLOTS_MAX - 1);
        slots[count++] = *table;
    }
    return count;
}

static int
array_add_type(PyObject *m, pcu_state *st)
{
    PyType_Slot slots[ARRAY_SLOTS_MAX];
    int count = 0;
    count = array_append_slots(slots, count, array_slots);
    count = array_append_slots(slots, count, pcu_operator_slots);
    count = array_append_slots(slots, count, pcu_element_value_slots);
    count = array_append_slots(slots, count, pcu_indexing_slots);
    slots[count] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {"pycuda.gpuarray.GPUArray", sizeof(pcu_gpuarray), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                        slots};
    return pcu_add_type(m, &st->GPUArray, &spec, NULL);
}

/* NumPy asks an array of a higher priority first. */
static int
array_add_priority(pcu_state *st)
{
    PyObject *priority = PyLong_FromLong(100);
    if (priority == NULL) {
        return -1;
    }
    int rc = PyObject_SetAttrString((PyObject *)st->GPUArray, "__array_priority__",
                                    priority);
    Py_DECREF(priority);
    return rc;
}

static int
array_add_methods(pcu_state *st)
{
    static PyMethodDef *const tables[] = {
        pcu_view_methods,          pcu_transfer_methods,    pcu_copy_methods,
        pcu_dlpack_export_methods, pcu_operator_methods,    pcu_element_value_methods,
        pcu_complex_parts_methods, pcu_combination_methods, pcu_numpy_protocol_methods,
        pcu_forwarded_methods,     pcu_scan_methods,        pcu_reduction_methods,
        pcu_device_methods,        pcu_mask_methods,        pcu_search_methods,
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(tables); i++) {
        if (pcu_add_methods(st->GPUArray, tables[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
array_add_functions(PyObject *m)
{
    static PyMethodDef *const tables[] = {
        array_functions,
        pcu_transfer_functions,
        pcu_plain_array_functions,
        pcu_recording_functions,
        pcu_operation_functions,
        pcu_fourier_functions,
        pcu_index_functions,
        pcu_shape_functions,
        pcu_reduction_functions,
        pcu_pointer_facts_functions,
        pcu_stream_waits_functions,
        pcu_scan_functions,
        pcu_sort_functions,
        pcu_product_functions,
        pcu_solver_functions,
        pcu_triangle_functions,
        pcu_search_functions,
        pcu_cross_functions,
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(tables); i++) {
        if (PyModule_AddFunctions(m, tables[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Add a function as _name. The tables of all public modules share these names. */
static int
array_add_public_function(PyObject *m, PyMethodDef *row, PyObject *home)
{
    int rc = -1;
    PyObject *name = PyUnicode_FromFormat("_%s", row->ml_name);
    PyObject *function = PyCFunction_NewEx(row, m, home);
    if (name != NULL && function != NULL) {
        PyObject *names = PyModule_GetDict(m);
        int is_there = PyDict_Contains(names, name);
        if (is_there > 0) {
            PyErr_Format(PyExc_SystemError, "%U is there twice", name);
        }
        if (is_there == 0) {
            rc = PyDict_SetItem(names, name, function);
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(function);
    return rc;
}

/* Add a table of functions, as _name, that a public module gives to programs. */
static int
array_add_public_table(PyObject *m, PyMethodDef *table, const char *module)
{
    int rc = 0;
    PyObject *home = PyUnicode_FromString(module);
    if (home == NULL) {
        return -1;
    }
    for (PyMethodDef *row = table; rc == 0 && row->ml_name != NULL; row++) {
        rc = array_add_public_function(m, row, home);
    }
    Py_DECREF(home);
    return rc;
}

/* Functions that public modules give to programs: _name in this module, so that
 * pycuda.driver does not have them. */
static int
array_add_public_functions(PyObject *m)
{
    static PyMethodDef *const tables[] = {
        pcu_public_scan_functions,      pcu_public_mask_functions,
        pcu_public_reduction_functions, pcu_public_search_functions,
        pcu_public_index_functions,     pcu_public_shape_functions,
        pcu_public_quantile_functions,
    };
    for (size_t i = 0; i < Py_ARRAY_LENGTH(tables); i++) {
        if (array_add_public_table(m, tables[i], "pycuda.gpuarray") < 0) {
            return -1;
        }
    }
    return array_add_public_table(m, pcu_public_standard_functions, "pycuda.array_api");
}

/* The numbers of operations and reductions, and a dict that Python fills. */
static int
array_add_numbers(PyObject *m, pcu_state *st)
{
    st->array_ops = pcu_op_numbers_new();
    if (st->array_ops == NULL ||
        PyModule_AddObjectRef(m, "_array_ops", st->array_ops) < 0) {
        return -1;
    }
    st->array_functions = PyDict_New();
    if (st->array_functions == NULL ||
        PyModule_AddObjectRef(m, "_array_functions", st->array_functions) < 0) {
        return -1;
    }
    PyObject *reductions = pcu_reduction_numbers_new();
    if (reductions == NULL) {
        return -1;
    }
    int rc = PyModule_AddObjectRef(m, "_array_reductions", reductions);
    Py_DECREF(reductions);
    return rc;
}

/* The numbers of Fourier transforms. */
static int
array_add_fourier_numbers(PyObject *m)
{
    PyObject *numbers = pcu_fourier_numbers_new();
    if (numbers == NULL) {
        return -1;
    }
    int rc = PyModule_AddObjectRef(m, "_fourier_functions", numbers);
    Py_DECREF(numbers);
    return rc;
}

/* For launches: see python/support/state.h. */
static int
array_check_launch(PyObject *array)
{
    return pcu_gpuarray_check_launch((pcu_gpuarray *)array);
}

int
pcu_gpuarray_setup(PyObject *m, pcu_state *st)
{
    st->check_array = array_check_launch;
    st->kernel_name_new = pcu_kernel_name_new;
    st->mem_alloc = PyObject_GetAttrString(m, "mem_alloc");
    if (st->mem_alloc == NULL) {
        return -1;
    }
    if (pcu_add_type(m, &st->ArrayFlags, &pcu_array_flags_spec, NULL) < 0 ||
        array_add_type(m, st) < 0 || array_add_priority(st) < 0 ||
        array_add_methods(st) < 0 || array_add_functions(m) < 0 ||
        array_add_public_functions(m) < 0 || array_add_numbers(m, st) < 0 ||
        array_add_fourier_numbers(m) < 0) {
        return -1;
    }
    return pcu_kernel_request_setup(m, st);
}
