/* The attributes of GPUArray, which programs read and assign, and its flags. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/driver/memory/pool.h"
#include "python/array/gpuarray.h"

/* -- flags ------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    char c_contiguous;
    char f_contiguous;
    char forc;
} array_flags;

static PyObject *
flags_from(pcu_state *st, int contiguous)
{
    array_flags *flags = (array_flags *)st->ArrayFlags->tp_alloc(st->ArrayFlags, 0);
    if (flags != NULL) {
        flags->c_contiguous = (char)((contiguous & PCU_ARRAY_C) != 0);
        flags->f_contiguous = (char)((contiguous & PCU_ARRAY_F) != 0);
        flags->forc = (char)(contiguous != 0);
    }
    return (PyObject *)flags;
}

int
pcu_gpuarray_flags_are_true(const pcu_gpuarray *self)
{
    const array_flags *flags = (const array_flags *)self->flags;
    return flags == NULL ||
           (Py_IS_TYPE(self->flags, self->st->ArrayFlags) &&
            flags->c_contiguous == ((self->contiguous & PCU_ARRAY_C) != 0) &&
            flags->f_contiguous == ((self->contiguous & PCU_ARRAY_F) != 0) &&
            flags->forc == (self->contiguous != 0));
}

/* What an object with flags of its own, such as a numpy array, says of one. */
static int
flags_ask(PyObject *flags, const char *name)
{
    PyObject *answer = PyObject_GetAttrString(flags, name);
    int truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    return truth;
}

static PyObject *
flags_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {{"ary", pcu_as_object, 0}};
    static const pcu_argtable table = {"ArrayFlags", specs, 1, 1, 0};
    pcu_state *st = pcu_state_of_type(type);
    PyObject *ary = NULL;
    if (st == NULL || pcu_args_parse_tuple(st, &table, args, kwargs, &ary) < 0) {
        return NULL;
    }
    if (pcu_is_array(st, ary)) {
        return flags_from(st, ((pcu_gpuarray *)ary)->contiguous);
    }
    PyObject *flags = PyObject_GetAttrString(ary, "flags");
    int c = flags == NULL ? -1 : flags_ask(flags, "c_contiguous");
    int f = c < 0 ? -1 : flags_ask(flags, "f_contiguous");
    Py_XDECREF(flags);
    return f < 0 ? NULL : flags_from(st, (c ? PCU_ARRAY_C : 0) | (f ? PCU_ARRAY_F : 0));
}

static PyObject *
flags_repr(PyObject *op)
{
    array_flags *flags = (array_flags *)op;
    return PyUnicode_FromFormat("  C_CONTIGUOUS : %s\n  F_CONTIGUOUS : %s",
                                flags->c_contiguous ? "True" : "False",
                                flags->f_contiguous ? "True" : "False");
}

static int
flags_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    return 0;
}

static void
flags_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyMemberDef flags_members[] = {
    {"c_contiguous", T_BOOL, offsetof(array_flags, c_contiguous), 0,
     "The last axis is the fastest, without gaps."},
    {"f_contiguous", T_BOOL, offsetof(array_flags, f_contiguous), 0,
     "The first axis is the fastest, without gaps."},
    {"forc", T_BOOL, offsetof(array_flags, forc), 0, "Either of the two."},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(flags_doc,
             "ArrayFlags(ary)\n--\n\n"
             "How the elements of an array lie in memory.");

static PyType_Slot flags_slots[] = {
    {Py_tp_doc, (void *)flags_doc},
    {Py_tp_new, flags_new},
    {Py_tp_repr, flags_repr},
    {Py_tp_members, flags_members},
    {Py_tp_dealloc, flags_dealloc},
    {Py_tp_traverse, flags_traverse},
    {0, NULL},
};

PyType_Spec pcu_gpuarray_flags_spec = {"pycuda._driver.ArrayFlags", sizeof(array_flags),
                                       0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                       flags_slots};

/* -- attributes -------------------------------------------------------------------- */

/* AttributeError before __init__, which getattr(x, name, default) understands. */
static int
array_has_values(pcu_gpuarray *self, const char *name)
{
    if (self->dtype != NULL) {
        return 1;
    }
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%s' yet",
                 Py_TYPE(self)->tp_name, name);
    return 0;
}

static int
array_no_delete(PyObject *value, const char *name)
{
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "%s cannot be deleted", name);
    }
    return value == NULL ? -1 : 0;
}

static PyObject *
array_get_shape(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return array_has_values(self, "shape")
               ? pcu_shape_tuple_new(self->ndim, self->shape)
               : NULL;
}

/* A packed array stays packed, in its order; one with gaps keeps its strides if there
 * are as many axes. */
static int
array_set_shape(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    pcu_shape shape = {0};
    size_t lengths[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (array_no_delete(value, "shape") < 0 || pcu_gpuarray_ready(self) < 0 ||
        pcu_as_shape(self->st, value, &shape, "shape") < 0) {
        return -1;
    }
    for (int i = 0; i < shape.ndim; i++) {
        lengths[i] = (size_t)shape.dims[i];
    }
    if (self->contiguous == PCU_ARRAY_F && shape.ndim > 1) {
        if (pcu_strides_f(shape.ndim, lengths, pcu_gpuarray_itemsize(self), strides) <
            0) {
            PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
            return -1;
        }
        return pcu_gpuarray_set_layout(self, shape.ndim, lengths, strides);
    }
    int keep = !self->contiguous && shape.ndim == self->ndim;
    return pcu_gpuarray_set_layout(self, shape.ndim, lengths,
                                   keep ? self->strides : NULL);
}

static PyObject *
array_get_strides(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return array_has_values(self, "strides")
               ? pcu_strides_tuple_new(self->ndim, self->strides)
               : NULL;
}

static int
array_set_strides(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    ptrdiff_t strides[PCU_MAX_NDIM];
    if (array_no_delete(value, "strides") < 0 || pcu_gpuarray_ready(self) < 0 ||
        pcu_gpuarray_read_strides(value, self->ndim, strides) < 0) {
        return -1;
    }
    return pcu_gpuarray_set_layout(self, self->ndim, self->shape, strides);
}

static PyObject *
array_get_dtype(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return array_has_values(self, "dtype") ? Py_NewRef((PyObject *)self->dtype) : NULL;
}

static int
array_set_dtype(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyArray_Descr *dtype = NULL;
    if (array_no_delete(value, "dtype") < 0 || pcu_gpuarray_ready(self) < 0 ||
        pcu_as_dtype(self->st, value, &dtype, "dtype") < 0) {
        return -1;
    }
    int rc = -1;
    if (PyDataType_REFCHK(dtype)) {
        pcu_refuse_objects(dtype, "dtype");
    }
    else {
        rc = pcu_gpuarray_describe(self, dtype, self->ndim, self->shape, self->strides);
    }
    Py_DECREF(dtype);
    return rc;
}

static PyObject *
array_get_gpudata(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!array_has_values(self, "gpudata")) {
        return NULL;
    }
    if (self->gpudata == NULL) {
        self->gpudata = PyLong_FromUnsignedLongLong(self->address);
    }
    return Py_XNewRef(self->gpudata);
}

static int
array_set_gpudata(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    return array_no_delete(value, "gpudata") < 0
               ? -1
               : pcu_gpuarray_adopt((pcu_gpuarray *)op, value);
}

static PyObject *
array_get_ptr(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!array_has_values(self, "ptr")) {
        return NULL;
    }
    if (self->gpudata == Py_None) {
        PyErr_SetString(PyExc_AttributeError, "an array without elements has no ptr");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(self->address);
}

static PyObject *
array_get_base(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *base = ((pcu_gpuarray *)op)->base;
    return Py_NewRef(base == NULL ? Py_None : base);
}

static int
array_set_base(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (array_no_delete(value, "base") < 0) {
        return -1;
    }
    Py_XSETREF(((pcu_gpuarray *)op)->base, value == Py_None ? NULL : Py_NewRef(value));
    return 0;
}

static PyObject *
array_get_allocator(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyObject *standard = self->st->default_allocator == NULL
                             ? self->st->mem_alloc
                             : self->st->default_allocator;
    return Py_NewRef(self->allocator == NULL ? standard : self->allocator);
}

static int
array_set_allocator(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (array_no_delete(value, "allocator") < 0 ||
        pcu_as_allocator(((pcu_gpuarray *)op)->st, value, &value, "allocator") < 0) {
        return -1;
    }
    Py_XSETREF(((pcu_gpuarray *)op)->allocator,
               value == Py_None ? NULL : Py_NewRef(value));
    return 0;
}

static PyObject *
array_get_flags(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->flags == NULL) {
        self->flags = flags_from(self->st, self->contiguous);
    }
    return Py_XNewRef(self->flags);
}

static int
array_set_flags(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    if (array_no_delete(value, "flags") < 0) {
        return -1;
    }
    Py_XSETREF(((pcu_gpuarray *)op)->flags, Py_NewRef(value));
    return 0;
}

/* The plain numbers: closure is the offset of a size_t. */
static PyObject *
array_get_number(PyObject *op, void *closure)
{
    return PyLong_FromSize_t(*(size_t *)((char *)op + (uintptr_t)closure));
}

static int
array_set_number(PyObject *op, PyObject *value, void *closure)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    size_t number = 0;
    if (array_no_delete(value, "a size") < 0 ||
        pcu_as_size(self->st, value, &number, "a size") < 0) {
        return -1;
    }
    *(size_t *)((char *)op + (uintptr_t)closure) = number;
    return 0;
}

static PyObject *
array_get_itemsize(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    return array_has_values(self, "itemsize")
               ? PyLong_FromSize_t(pcu_gpuarray_itemsize(self))
               : NULL;
}

static PyObject *
array_get_ndim(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromLong(((pcu_gpuarray *)op)->ndim);
}

/* The dtype that a bool array has in arithmetic. */
static PyObject *
array_get_counts_as(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (self->type != PCU_T_BOOL || self->counts_as == PCU_T_BOOL) {
        Py_RETURN_NONE;
    }
    return (PyObject *)pcu_dtype_of_type(self->counts_as);
}

static int
array_set_counts_as(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    PyArray_Descr *dtype = NULL;
    if (value == NULL || value == Py_None) {
        self->counts_as = PCU_T_BOOL;
        return 0;
    }
    if (pcu_as_dtype(self->st, value, &dtype, "_counts_as") < 0) {
        return -1;
    }
    int type = pcu_type_of_dtype(dtype);
    Py_DECREF(dtype);
    self->counts_as = (unsigned char)(type < PCU_T_COUNT ? type : PCU_T_BOOL);
    return 0;
}

/* How many blocks of how many threads suit the elements: blocks of 32 to 128 threads,
 * no more of them than the device has at work. */
static int
array_splay(pcu_gpuarray *self, unsigned int *blocks, unsigned int *threads)
{
    pcu_context *ctx = pcu_gpuarray_context(self->st);
    if (ctx == NULL) {
        return -1;
    }
    size_t most = 32 * (size_t)ctx->rec.limits.multiprocessors;
    size_t each = (self->count + most - 1) / most;
    size_t warps = each == 0 ? 1 : (each + 31) / 32;
    *threads = 32 * (unsigned int)(warps > 4 ? 4 : warps);
    size_t needed = (self->count + *threads - 1) / *threads;
    *blocks = (unsigned int)(needed == 0 ? 1 : needed > most ? most : needed);
    return 0;
}

/* _grid and _block: what a program assigned, which its __dict__ has, else what suits.
 * The closure says which. */
enum { ARRAY_GRID, ARRAY_BLOCK };

static const char *const array_shape_names[] = {
    [ARRAY_GRID] = "_grid", [ARRAY_BLOCK] = "_block"};

static PyObject *
array_get_launch_shape(PyObject *op, void *closure)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    int which = (int)(uintptr_t)closure;
    unsigned int blocks = 1;
    unsigned int threads = 1;
    if (self->dict != NULL) {
        PyObject *assigned = PyDict_GetItemString(self->dict, array_shape_names[which]);
        if (assigned != NULL) {
            return Py_NewRef(assigned);
        }
    }
    if (array_splay(self, &blocks, &threads) < 0) {
        return NULL;
    }
    return which == ARRAY_GRID ? Py_BuildValue("(Ii)", blocks, 1)
                               : Py_BuildValue("(Iii)", threads, 1, 1);
}

static int
array_set_launch_shape(PyObject *op, PyObject *value, void *closure)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    const char *name = array_shape_names[(uintptr_t)closure];
    if (self->dict == NULL) {
        self->dict = PyDict_New();
    }
    if (self->dict == NULL) {
        return -1;
    }
    if (value != NULL) {
        return PyDict_SetItemString(self->dict, name, value);
    }
    int rc = PyDict_DelItemString(self->dict, name);
    if (rc < 0 && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear(); /* the same absence, as an attribute */
        PyErr_Format(PyExc_AttributeError, "%s was not assigned", name);
    }
    return rc;
}

/* The fields of a dtype. NumPy's own list of the one field of a plain dtype may come
 * with an exception set when memory is short. */
static PyObject *
array_descr_new(PyArray_Descr *dtype, PyObject *typestr)
{
    return PyDataType_HASFIELDS(dtype)
               ? PyObject_GetAttrString((PyObject *)dtype, "descr")
               : Py_BuildValue("[(sO)]", "", typestr);
}

static PyObject *
array_get_interface(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (!array_has_values(self, "__cuda_array_interface__") ||
        pcu_gpuarray_check_inside(self) < 0) {
        return NULL;
    }
    PyObject *result = NULL;
    PyObject *typestr = PyObject_GetAttrString((PyObject *)self->dtype, "str");
    PyObject *descr = typestr == NULL ? NULL : array_descr_new(self->dtype, typestr);
    PyObject *shape =
        descr == NULL ? NULL : pcu_shape_tuple_new(self->ndim, self->shape);
    PyObject *strides =
        shape == NULL ? NULL : pcu_strides_tuple_new(self->ndim, self->strides);
    if (strides != NULL) {
        unsigned long long address = self->gpudata == Py_None ? 0 : self->address;
        result = Py_BuildValue("{sOsOsOsOs(KO)sisO}", "shape", shape, "strides",
                               strides, "typestr", typestr, "descr", descr, "data",
                               address, Py_False, "version", 3, "stream", Py_None);
    }
    Py_XDECREF(typestr);
    Py_XDECREF(descr);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return result;
}

#define ARRAY_NUMBER(name, doc)                             \
    {                                                       \
#        name, array_get_number, array_set_number, doc,     \
            (void *)(uintptr_t)offsetof(pcu_gpuarray, name) \
    }

PyGetSetDef pcu_gpuarray_getset[] = {
    {"shape", array_get_shape, array_set_shape, "The lengths of the axes.", NULL},
    {"strides", array_get_strides, array_set_strides,
     "Bytes from one element to the next, for each axis.", NULL},
    {"dtype", array_get_dtype, array_set_dtype, "The numpy.dtype of the elements.",
     NULL},
    {"gpudata", array_get_gpudata, array_set_gpudata,
     "The memory: an allocation, an int for a view, None without elements.", NULL},
    {"ptr", array_get_ptr, NULL, "The address of the first element.", NULL},
    {"base", array_get_base, array_set_base, "The array this is a view of, or None.",
     NULL},
    {"allocator", array_get_allocator, array_set_allocator,
     "Where results of operations get their memory.", NULL},
    {"flags", array_get_flags, array_set_flags, "An ArrayFlags.", NULL},
    {"itemsize", array_get_itemsize, NULL, "Bytes of an element.", NULL},
    {"ndim", array_get_ndim, NULL, "The number of axes.", NULL},
    ARRAY_NUMBER(size, "The number of elements."),
    ARRAY_NUMBER(mem_size, "The number of elements."),
    ARRAY_NUMBER(nbytes, "The bytes of the elements: size * itemsize."),
    {"_grid", array_get_launch_shape, array_set_launch_shape,
     "Blocks for a kernel over the elements.", (void *)(uintptr_t)ARRAY_GRID},
    {"_block", array_get_launch_shape, array_set_launch_shape,
     "Threads of such a block.", (void *)(uintptr_t)ARRAY_BLOCK},
    {"_counts_as", array_get_counts_as, array_set_counts_as,
     "The dtype compared to make a bool array, which arithmetic on it has; or None.",
     NULL},
    {"real", pcu_gpuarray_get_real, NULL, "The real parts; self if it is real.", NULL},
    {"imag", pcu_gpuarray_get_imag, NULL, "The imaginary parts; zeros if real.", NULL},
    {"T", pcu_gpuarray_get_T, NULL, "The array with its axes reversed; a view.", NULL},
    {"__cuda_array_interface__", array_get_interface, NULL,
     "The array as other libraries see it (version 3).", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
