/* GPUArray: construction, attributes, the type. See gpuarray.h for the invariant. */
#include "python/array/gpuarray.h"

#include "python/support/convert.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/exchange/dlpack.h"
#include "python/driver/memory/allocation.h"
#include "python/driver/memory/pointer.h"
#include "python/driver/memory/pool.h"

/* -- memory ------------------------------------------------------------------------ */

pcu_context *
pcu_gpuarray_context(pcu_state *st)
{
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        return (pcu_context *)pcu_ctx_current->owner;
    }
    PyObject *ctx = pcu_context_require(st, "cuLaunchKernel");
    if (ctx == NULL) {
        return NULL;
    }
    /* The stack, or the registry through a living array, holds it: a wrapper of a
     * stranger's context that nobody holds goes here, so keep it on the state. */
    Py_XSETREF(st->foreign_context, ctx);
    return (pcu_context *)ctx;
}

int
pcu_gpuarray_ready(const pcu_gpuarray *self)
{
    if (self->dtype != NULL) {
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "the __init__ of this %s was not called",
                 Py_TYPE(self)->tp_name);
    return -1;
}

/* Is this memory of ours, which knows whether it is alive and where it belongs? */
static int
array_is_allocation(pcu_state *st, PyObject *memory)
{
    return Py_IS_TYPE(memory, st->DeviceAllocation) ||
           Py_IS_TYPE(memory, st->PooledDeviceAllocation) ||
           PyObject_TypeCheck(memory, st->DeviceAllocation) ||
           PyObject_TypeCheck(memory, st->PooledDeviceAllocation);
}

pcu_resource *
pcu_gpuarray_allocation(const pcu_gpuarray *self)
{
    return self->memory != NULL && array_is_allocation(self->st, self->memory)
               ? (pcu_resource *)self->memory
               : NULL;
}

static int
array_wrong_context(pcu_gpuarray *self, const pcu_resource *memory)
{
    PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
    if (shape == NULL) {
        return -1;
    }
    pcu_raise_detail(self->st, "cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT,
                     "the memory of an array of shape %S and dtype %S belongs to "
                     "another context (device %d) than the current one",
                     shape, (PyObject *)self->dtype,
                     (int)pcu_context_rec(memory->ctx)->device);
    Py_DECREF(shape);
    return -1;
}

/* The memory that an object stands for, if its size is known: *start and *size. */
static int
array_memory_range(pcu_state *st, PyObject *memory, CUdeviceptr *start, size_t *size)
{
    if (memory == NULL) {
        return 0;
    }
    if (Py_IS_TYPE(memory, st->ForeignAllocation)) {
        const pcu_dlpack *tensor = pcu_dlpack_of(memory);
        ptrdiff_t low = 0;
        ptrdiff_t high = 0;
        if (pcu_extent(tensor->ndim, tensor->shape, tensor->strides,
                       (size_t)PyDataType_ELSIZE(tensor->dtype), &low, &high) < 0) {
            return 0;
        }
        *start = tensor->pointer + (CUdeviceptr)low;
        *size = (size_t)high - (size_t)low;
        return 1;
    }
    const pcu_resource *resource = (const pcu_resource *)memory;
    if (!array_is_allocation(st, memory) || !resource->has_size) {
        return 0;
    }
    *start = resource->handle.memory;
    *size = resource->size;
    return 1;
}

static int
array_is_outside(pcu_gpuarray *self, long long first, long long last, size_t size)
{
    PyObject *shape = pcu_shape_tuple_new(self->ndim, self->shape);
    PyObject *strides = pcu_strides_tuple_new(self->ndim, self->strides);
    if (shape != NULL && strides != NULL) {
        PyErr_Format(PyExc_ValueError,
                     "an array of shape %S, strides %S and dtype %S takes the bytes "
                     "%lld to %lld of memory that has %zu bytes",
                     shape, strides, (PyObject *)self->dtype, first, last, size);
    }
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return -1;
}

int
pcu_gpuarray_check_inside(pcu_gpuarray *self)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    if (self->inside || self->count == 0 || pcu_gpuarray_itemsize(self) == 0) {
        return 0;
    }
    if (self->gpudata == Py_None) {
        PyErr_SetString(PyExc_ValueError,
                        "the array has elements but no memory: its gpudata is None");
        return -1;
    }
    if (pcu_extent(self->ndim, self->shape, self->strides, pcu_gpuarray_itemsize(self),
                   &low, &high) < 0) {
        PyErr_SetString(PyExc_ValueError, "an array with these strides is too big");
        return -1;
    }
    if (array_memory_range(self->st, self->memory, &start, &size)) {
        uint64_t offset = self->address - start; /* wraps if the address is below */
        if (offset > size || offset < (uint64_t)0 - (uint64_t)low ||
            size - offset < (uint64_t)high) {
            return array_is_outside(self, (long long)offset + low,
                                    (long long)offset + high, size);
        }
    }
    self->inside = 1;
    return 0;
}

int
pcu_gpuarray_check(pcu_gpuarray *self, const pcu_context *ctx)
{
    pcu_state *st = self->st;
    if (self->dtype == NULL) {
        return pcu_gpuarray_ready(self);
    }
    if (self->memory != NULL && array_is_allocation(st, self->memory)) {
        pcu_resource *memory = (pcu_resource *)self->memory;
        if (pcu_resource_check(memory, "cuLaunchKernel") < 0) {
            return -1;
        }
        if (ctx != NULL && pcu_context_rec(memory->ctx)->handle != ctx->rec.handle) {
            return array_wrong_context(self, memory);
        }
    }
    return self->inside ? 0 : pcu_gpuarray_check_inside(self);
}

/* The memory of the base, for an array that is given by a bare address. A base that is
 * no array may only keep something alive, and an attribute may point elsewhere after
 * __init__: then the address decides. */
static PyObject *
array_memory_of_base(pcu_gpuarray *self, CUdeviceptr address, int is_new)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    if (self->base == NULL) {
        return NULL;
    }
    int is_array = pcu_is_array(self->st, self->base);
    PyObject *memory = is_array ? ((pcu_gpuarray *)self->base)->memory : self->base;
    int known = array_memory_range(self->st, memory, &start, &size);
    if (known ? is_array && is_new : is_array) {
        return memory;
    }
    return known && address - start <= size ? memory : NULL;
}

static int
array_adopt(pcu_gpuarray *self, PyObject *gpudata, int is_new)
{
    CUdeviceptr address = 0;
    PyObject *memory = NULL;
    if (gpudata != Py_None) {
        if (pcu_as_pointer(self->st, gpudata, &address, "gpudata") < 0) {
            return -1;
        }
        if (PyLong_Check(gpudata)) {
            memory = array_memory_of_base(self, address, is_new);
        }
        else {
            memory = pcu_is_array(self->st, gpudata) ? ((pcu_gpuarray *)gpudata)->memory
                                                     : gpudata;
        }
    }
    Py_XINCREF(memory);
    self->address = address;
    self->inside = 0;
    Py_XSETREF(self->gpudata, Py_NewRef(gpudata));
    Py_XSETREF(self->memory, memory);
    return 0;
}

int
pcu_gpuarray_adopt(pcu_gpuarray *self, PyObject *gpudata)
{
    return array_adopt(self, gpudata, 0);
}

/* The address that allocator's result stands for: also of objects that only int() can
 * read. */
static int
array_allocated_address(pcu_state *st, PyObject *memory, CUdeviceptr *address)
{
    if (array_is_allocation(st, memory)) {
        *address = ((pcu_resource *)memory)->handle.memory;
        return 0;
    }
    return pcu_as_address(memory, address, "what the allocator returned");
}

/* Allocate for the layout that self has. */
static int
array_allocate(pcu_gpuarray *self)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = 0;
    pcu_state *st = self->st;
    if (self->count == 0 || pcu_gpuarray_itemsize(self) == 0) {
        Py_XSETREF(self->gpudata, Py_NewRef(Py_None));
        return 0;
    }
    if (self->contiguous) {
        high = (ptrdiff_t)pcu_gpuarray_nbytes(self);
    }
    else if (pcu_extent(self->ndim, self->shape, self->strides,
                        pcu_gpuarray_itemsize(self), &low, &high) < 0) {
        PyErr_SetString(PyExc_ValueError, "an array with these strides is too big");
        return -1;
    }
    size_t size = (size_t)high - (size_t)low;
    PyObject *allocator =
        self->allocator != NULL ? self->allocator : st->default_allocator;
    PyObject *memory;
    if (allocator == NULL || allocator == st->mem_alloc) {
        memory = pcu_allocation_new(st, size);
    }
    else {
        memory = pcu_allocate(st, allocator, size);
    }
    CUdeviceptr address = 0;
    if (memory == NULL || array_allocated_address(st, memory, &address) < 0) {
        Py_XDECREF(memory);
        return -1;
    }
    self->address = address + (CUdeviceptr)(-low);
    self->inside = allocator == NULL || allocator == st->mem_alloc;
    Py_XSETREF(self->gpudata, low == 0 ? Py_NewRef(memory) : NULL);
    Py_XSETREF(self->memory, memory);
    return 0;
}

/* -- construction ------------------------------------------------------------------ */

static pcu_gpuarray *
array_blank_new(pcu_state *st, PyTypeObject *type)
{
    pcu_gpuarray *self = (pcu_gpuarray *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->shape = self->inline_shape;
        self->strides = self->inline_strides;
        self->type = PCU_T_NONE;
    }
    return self;
}

static PyObject *
array_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    return st == NULL ? NULL : (PyObject *)array_blank_new(st, type);
}

/* A subclass is made as its own __init__ wants it. */
static PyObject *
array_subclass_new(PyTypeObject *type, int ndim, const size_t *shape,
                   const ptrdiff_t *strides, PyArray_Descr *dtype, PyObject *allocator)
{
    PyObject *result = NULL;
    PyObject *lengths = pcu_shape_tuple_new(ndim, shape);
    PyObject *steps =
        strides == NULL ? Py_NewRef(Py_None) : pcu_strides_tuple_new(ndim, strides);
    PyObject *args = NULL;
    PyObject *kwargs = NULL;
    if (lengths != NULL && steps != NULL) {
        args = PyTuple_Pack(2, lengths, (PyObject *)dtype);
        kwargs =
            Py_BuildValue("{sOsO}", "allocator",
                          allocator == NULL ? Py_None : allocator, "strides", steps);
    }
    if (args != NULL && kwargs != NULL) {
        result = PyObject_Call((PyObject *)type, args, kwargs);
    }
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(lengths);
    Py_XDECREF(steps);
    return result;
}

PyObject *
pcu_gpuarray_new(pcu_state *st, PyTypeObject *type, int ndim, const size_t *shape,
                 const ptrdiff_t *strides, PyArray_Descr *dtype, PyObject *allocator)
{
    if (type != NULL && type != st->GPUArray) {
        PyObject *made =
            array_subclass_new(type, ndim, shape, strides, dtype, allocator);
        if (made != NULL && !pcu_is_array(st, made)) {
            PyErr_Format(PyExc_TypeError, "%s() made a %s, which is no GPUArray",
                         type->tp_name, Py_TYPE(made)->tp_name);
            Py_CLEAR(made);
        }
        if (made != NULL && pcu_gpuarray_ready((pcu_gpuarray *)made) < 0) {
            Py_CLEAR(made);
        }
        return made;
    }
    pcu_gpuarray *self = array_blank_new(st, st->GPUArray);
    if (self == NULL) {
        return NULL;
    }
    self->allocator = Py_XNewRef(allocator);
    if (pcu_gpuarray_describe(self, dtype, ndim, shape, strides) < 0 ||
        array_allocate(self) < 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

pcu_gpuarray *
pcu_gpuarray_view_new(pcu_gpuarray *self, int ndim, const size_t *shape,
                      const ptrdiff_t *strides, ptrdiff_t offset, PyArray_Descr *dtype)
{
    pcu_gpuarray *view = array_blank_new(self->st, self->st->GPUArray);
    if (view == NULL) {
        return NULL;
    }
    PyArray_Descr *own = dtype == NULL ? self->dtype : dtype;
    view->dtype = (PyArray_Descr *)Py_NewRef((PyObject *)own);
    view->type = dtype == NULL ? self->type : (unsigned char)pcu_type_of_dtype(dtype);
    view->counts_as = self->counts_as;
    view->allocator = Py_XNewRef(self->allocator);
    view->base = Py_NewRef((PyObject *)self);
    if (pcu_gpuarray_set_layout(view, ndim, shape, strides) < 0) {
        Py_DECREF(view);
        return NULL;
    }
    if (self->gpudata == Py_None || view->count == 0) {
        view->gpudata = Py_NewRef(Py_None);
    }
    else {
        view->memory = Py_XNewRef(self->memory);
        view->address = self->address + (CUdeviceptr)offset;
        view->inside = self->inside; /* a view leaves no memory that its array is in */
    }
    return view;
}

typedef struct {
    pcu_shape shape;
    PyArray_Descr *dtype; /* new reference once parsed */
    PyObject *allocator;  /* borrowed, as are the next three */
    PyObject *base;
    PyObject *gpudata;
    PyObject *strides;
    NPY_ORDER order;
} array_args;

static const pcu_argspec array_specs[] = {
    {"shape", pcu_as_shape, offsetof(array_args, shape)},
    {"dtype", pcu_as_dtype, offsetof(array_args, dtype)},
    {"allocator", pcu_as_allocator, offsetof(array_args, allocator)},
    {"base", pcu_as_object, offsetof(array_args, base)},
    {"gpudata", pcu_as_object, offsetof(array_args, gpudata)},
    {"strides", pcu_as_object, offsetof(array_args, strides)},
    {"order", pcu_as_order, offsetof(array_args, order)},
};
static const pcu_argtable array_table = {"GPUArray", array_specs, 7, 2, 0};

static int
array_init_layout(pcu_gpuarray *self, const array_args *a)
{
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
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
        if (pcu_strides_f(ndim, shape, (size_t)PyDataType_ELSIZE(a->dtype), strides) <
            0) {
            PyErr_SetString(PyExc_ValueError, "an array of that shape is too big");
            return -1;
        }
        return pcu_gpuarray_describe(self, a->dtype, ndim, shape, strides);
    }
    return pcu_gpuarray_describe(self, a->dtype, ndim, shape, NULL);
}

/* Let go of the memory of an earlier __init__, so that it is never used with the new
 * layout, even if the new memory cannot be had. */
static void
array_forget_memory(pcu_gpuarray *self)
{
    self->address = 0;
    self->inside = 0;
    Py_XSETREF(self->gpudata, Py_NewRef(Py_None));
    Py_CLEAR(self->memory);
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
    int rc = -1;
    if (pcu_args_parse_tuple(self->st, &array_table, args, kwargs, &a) < 0) {
        Py_XDECREF(a.dtype);
        return -1;
    }
    if (PyDataType_REFCHK(a.dtype)) {
        pcu_refuse_objects(a.dtype, "GPUArray");
    }
    else if (a.base != Py_None && a.gpudata == Py_None) {
        PyErr_SetString(PyExc_AssertionError, "base is given without gpudata");
    }
    else {
        rc = array_init_layout(self, &a);
    }
    if (rc == 0) {
        Py_XSETREF(self->allocator,
                   a.allocator == Py_None ? NULL : Py_NewRef(a.allocator));
        Py_XSETREF(self->base, a.base == Py_None ? NULL : Py_NewRef(a.base));
        array_forget_memory(self);
        if (a.gpudata != Py_None) {
            rc = array_adopt(self, a.gpudata, 1);
        }
        else {
            rc = array_allocate(self);
        }
    }
    Py_DECREF(a.dtype);
    return rc;
}

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

/* -- the type ---------------------------------------------------------------------- */

static Py_ssize_t
array_length(PyObject *op)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    if (pcu_gpuarray_ready(self) < 0) {
        return -1;
    }
    if (self->ndim == 0) {
        PyErr_SetString(PyExc_TypeError, "len() of an array without axes");
        return -1;
    }
    return (Py_ssize_t)self->shape[0];
}

static PyObject *
array_text(PyObject *op, PyObject *(*render)(PyObject *))
{
    PyObject *host = PyObject_CallMethodNoArgs(op, ((pcu_gpuarray *)op)->st->str_get);
    PyObject *text = host == NULL ? NULL : render(host);
    Py_XDECREF(host);
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
    PyErr_SetString(PyExc_TypeError, "a GPUArray can change, so it has no hash");
    return -1;
}

static PyMemberDef array_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_gpuarray, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_gpuarray, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(
    array_doc,
    "GPUArray(shape, dtype, allocator=None, base=None, gpudata=None, strides=None, "
    "order='C')\n--\n\n"
    "An array in device memory: any shape, any strides.\n\n"
    "allocator(nbytes) gives the memory, by default pycuda.driver.mem_alloc; gpudata\n"
    "takes memory that is there, and base is kept alive with it. strides are in "
    "bytes;\n"
    "without them order is 'C' or 'F'. The elements are not set.");

/* Those of the type itself; the operators' come behind them when it is made. */
static const PyType_Slot array_slots[] = {
    {Py_tp_doc, (void *)array_doc},
    {Py_tp_new, array_new},
    {Py_tp_init, array_init},
    {Py_tp_traverse, array_traverse},
    {Py_tp_clear, array_clear},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_members, array_members},
    {Py_tp_getset, pcu_gpuarray_getset},
    {Py_tp_repr, array_repr},
    {Py_tp_str, array_str},
    {Py_tp_hash, array_hash},
    {Py_tp_richcompare, pcu_gpuarray_richcompare},
    {Py_sq_length, array_length},
    {Py_mp_length, array_length},
    {Py_sq_item, pcu_gpuarray_item},
    {Py_sq_contains, pcu_gpuarray_contains},
    {Py_mp_subscript, pcu_gpuarray_subscript},
    {Py_mp_ass_subscript, pcu_gpuarray_ass_subscript},
    {0, NULL},
};

PyDoc_STRVAR(array_default_doc,
             "_set_default_allocator($module, allocator, /)\n--\n\n"
             "Let arrays that are given no allocator use this one; None: mem_alloc.");

static PyObject *
array_set_default_allocator(PyObject *m, PyObject *allocator)
{
    pcu_state *st = pcu_state_of_module(m);
    if (pcu_as_allocator(st, allocator, &allocator, "allocator") < 0) {
        return NULL;
    }
    Py_XSETREF(st->default_allocator,
               allocator == Py_None ? NULL : Py_NewRef(allocator));
    Py_RETURN_NONE;
}

static PyMethodDef array_functions[] = {
    {"_set_default_allocator", array_set_default_allocator, METH_O, array_default_doc},
    {NULL, NULL, 0, NULL},
};

static int
array_add_type(PyObject *m, pcu_state *st)
{
    PyType_Slot slots[80];
    int n = 0;
    for (int i = 0; array_slots[i].slot != 0; i++) {
        slots[n++] = array_slots[i];
    }
    for (int i = 0; pcu_gpuarray_number_slots[i].slot != 0; i++) {
        slots[n++] = pcu_gpuarray_number_slots[i];
    }
    slots[n] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {"pycuda.gpuarray.GPUArray", sizeof(pcu_gpuarray), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
                        slots};
    return pcu_add_type(m, &st->GPUArray, &spec, NULL);
}

int
pcu_gpuarray_setup(PyObject *m, pcu_state *st)
{
    st->mem_alloc = PyObject_GetAttrString(m, "mem_alloc");
    st->array_ops = pcu_gpuarray_ops_new();
    if (st->mem_alloc == NULL || st->array_ops == NULL ||
        PyModule_AddObjectRef(m, "_array_ops", st->array_ops) < 0 ||
        pcu_add_type(m, &st->ArrayFlags, &pcu_gpuarray_flags_spec, NULL) < 0 ||
        array_add_type(m, st) < 0) {
        return -1;
    }
    PyObject *priority = PyLong_FromLong(100);
    int rc = priority == NULL ? -1
                              : PyObject_SetAttrString((PyObject *)st->GPUArray,
                                                       "__array_priority__", priority);
    Py_XDECREF(priority);
    if (rc < 0 || pcu_add_methods(st->GPUArray, pcu_gpuarray_view_methods) < 0 ||
        pcu_add_methods(st->GPUArray, pcu_gpuarray_copy_methods) < 0 ||
        pcu_add_methods(st->GPUArray, pcu_gpuarray_dlpack_methods) < 0 ||
        pcu_add_methods(st->GPUArray, pcu_gpuarray_op_methods) < 0 ||
        pcu_add_methods(st->GPUArray, pcu_gpuarray_methods) < 0 ||
        PyModule_AddFunctions(m, pcu_gpuarray_exchange_functions) < 0 ||
        PyModule_AddFunctions(m, array_functions) < 0 ||
        PyModule_AddFunctions(m, pcu_gpuarray_copy_functions) < 0 ||
        PyModule_AddFunctions(m, pcu_gpuarray_check_functions) < 0 ||
        PyModule_AddFunctions(m, pcu_gpuarray_reduce_functions) < 0) {
        return -1;
    }
    PyObject *reductions = pcu_gpuarray_reductions_new();
    rc = reductions == NULL ? -1
                            : PyModule_AddObjectRef(m, "_array_reductions", reductions);
    Py_XDECREF(reductions);
    if (rc < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, pcu_gpuarray_op_functions);
}
