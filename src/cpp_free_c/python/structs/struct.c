/* The module pycuda._pvt_struct: the standard library's struct with complex numbers, in
 * native layout only. This file has the type, the functions and the module; codec.c
 * compiles formats, packs and unpacks.
 *
 * Invariant: an operation holds a reference to its plan while Python code may run. The
 * module shares nothing with pycuda._driver. Python is the only caller. */
#include "python/structs/codec.h"

/* The maximal number of cached formats. The cache is cleared when it is full. */
#define CACHE_LIMIT 100

/* -- state ------------------------------------------------------------------------- */

typedef struct {
    PyObject *error;  /* a class named struct.error, not the standard library's */
    PyObject *Struct; /* the type */
    PyObject *cache;  /* dict: format as bytes -> plan */
} pvt_state;

static struct PyModuleDef pvt_module;

/* Convert a format to bytes. Return a new reference, or NULL with an exception. */
static PyObject *
pvt_format_as_bytes(PyObject *format)
{
    if (PyUnicode_Check(format)) {
        return PyUnicode_AsASCIIString(format);
    }
    if (PyBytes_Check(format)) {
        return Py_NewRef(format);
    }
    PyErr_Format(PyExc_TypeError,
                 "Struct() argument 1 must be a str or bytes object, not %.200s",
                 Py_TYPE(format)->tp_name);
    return NULL;
}

/* The plan of a format (str or bytes), from the cache if possible. New reference. */
static PyObject *
pvt_plan_for(pvt_state *st, PyObject *format)
{
    PyObject *key = pvt_format_as_bytes(format);
    PyObject *bytes = NULL;

    if (key == NULL) {
        return NULL;
    }
    bytes = PyDict_GetItemWithError(st->cache, key);
    Py_XINCREF(bytes);
    if (bytes != NULL || PyErr_Occurred()) {
        goto done;
    }
    bytes = pvt_compile(st->error, key);
    if (bytes == NULL) {
        goto done;
    }
    if (PyDict_GET_SIZE(st->cache) >= CACHE_LIMIT) {
        PyDict_Clear(st->cache);
    }
    if (PyDict_SetItem(st->cache, key, bytes) < 0) {
        Py_CLEAR(bytes);
    }
done:
    Py_DECREF(key);
    return bytes;
}

/* -- the four operations, on a plan ------------------------------------------------ */

static int
pvt_check_values(pvt_state *st, const char *name, const pvt_plan *p, Py_ssize_t got)
{
    if (got == p->values) {
        return 0;
    }
    PyErr_Format(st->error, "%s expected %zd items for packing (got %zd)", name,
                 p->values, got);
    return -1;
}

static PyObject *
pvt_do_pack(pvt_state *st, PyObject *bytes, PyObject *const *values, Py_ssize_t nvalues)
{
    const pvt_plan *p = pvt_plan_borrow(bytes);
    PyObject *result = NULL;

    if (pvt_check_values(st, "pack", p, nvalues) < 0) {
        return NULL;
    }
    result = PyBytes_FromStringAndSize(NULL, p->size);
    if (result == NULL) {
        return NULL;
    }
    if (pvt_pack_all(st->error, p, (unsigned char *)PyBytes_AS_STRING(result), values) <
        0) {
        Py_CLEAR(result);
    }
    return result;
}

/* Resolve an offset, which counts from the end if it is negative, and check that `size`
 * bytes fit the buffer there. Return 0, or -1 with an exception. */
static int
pvt_fit_offset(pvt_state *st, const char *name, Py_ssize_t size, Py_ssize_t length,
               Py_ssize_t *offset)
{
    Py_ssize_t place = *offset;

    if (place < 0) {
        place += length;
    }
    if (place < 0) {
        PyErr_Format(st->error, "offset %zd out of range for %zd-byte buffer", *offset,
                     length);
        return -1;
    }
    if (place > length || length - place < size) {
        PyErr_Format(st->error,
                     "%s needs %zd bytes at offset %zd, the buffer has %zd bytes", name,
                     size, *offset, length);
        return -1;
    }
    *offset = place;
    return 0;
}

static PyObject *
pvt_do_pack_into(pvt_state *st, PyObject *bytes, PyObject *const *args,
                 Py_ssize_t nargs)
{
    const pvt_plan *p = pvt_plan_borrow(bytes);
    Py_buffer view = {0};
    PyObject *result = NULL;
    Py_ssize_t offset;

    if (nargs < 2) {
        const char *missing = "pack_into expected buffer argument";
        if (nargs == 1) {
            missing = "pack_into expected offset argument";
        }
        PyErr_SetString(st->error, missing);
        return NULL;
    }
    if (pvt_check_values(st, "pack_into", p, nargs - 2) < 0) {
        return NULL;
    }
    if (PyObject_GetBuffer(args[0], &view, PyBUF_WRITABLE) < 0) {
        return NULL;
    }
    offset = PyNumber_AsSsize_t(args[1], PyExc_IndexError);
    if (offset == -1 && PyErr_Occurred()) {
        goto done;
    }
    if (pvt_fit_offset(st, "pack_into", p->size, view.len, &offset) < 0 ||
        pvt_pack_all(st->error, p, (unsigned char *)view.buf + offset, args + 2) < 0) {
        goto done;
    }
    result = Py_NewRef(Py_None);
done:
    PyBuffer_Release(&view);
    return result;
}

static PyObject *
pvt_do_unpack(pvt_state *st, PyObject *bytes, PyObject *buffer)
{
    const pvt_plan *p = pvt_plan_borrow(bytes);
    PyObject *result = NULL;
    Py_buffer view;

    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    if (view.len != p->size) {
        PyErr_Format(st->error, "unpack requires a buffer of %zd bytes", p->size);
    }
    else {
        result = pvt_unpack_all(p, view.buf);
    }
    PyBuffer_Release(&view);
    return result;
}

static PyObject *
pvt_do_unpack_from(pvt_state *st, PyObject *bytes, PyObject *buffer, Py_ssize_t offset)
{
    const pvt_plan *p = pvt_plan_borrow(bytes);
    PyObject *result = NULL;
    Py_buffer view;

    if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    if (pvt_fit_offset(st, "unpack_from", p->size, view.len, &offset) == 0) {
        result = pvt_unpack_all(p, (const unsigned char *)view.buf + offset);
    }
    PyBuffer_Release(&view);
    return result;
}

/* -- Struct ------------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    pvt_state *st;    /* borrowed from the type's module, which the type keeps alive */
    PyObject *format; /* bytes; NULL before __init__ */
    PyObject *plan;   /* bytes that hold a plan; NULL before __init__ */
} pvt_struct;

/* The state of this module, found from Struct or a subclass. */
static pvt_state *
pvt_state_of_type(PyTypeObject *type)
{
    for (; type != NULL; type = type->tp_base) {
        PyObject *module = NULL;

        if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) {
            module = ((PyHeapTypeObject *)type)->ht_module;
        }
        if (module != NULL && PyModule_GetDef(module) == &pvt_module) {
            return PyModule_GetState(module);
        }
    }
    PyErr_SetString(PyExc_SystemError, "not a Struct");
    return NULL;
}

/* The arguments are left to __init__, so that a subclass may have its own. */
static PyObject *
struct_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pvt_state *st = pvt_state_of_type(type);
    PyObject *self;

    (void)args;
    (void)kwargs;
    if (st == NULL) {
        return NULL;
    }
    self = type->tp_alloc(type, 0);
    if (self != NULL) {
        ((pvt_struct *)self)->st = st;
    }
    return self;
}

static int
struct_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"format", NULL};
    pvt_struct *self = (pvt_struct *)op;
    PyObject *given;
    PyObject *format = NULL;
    PyObject *made = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Struct", (char **)names,
                                     &given)) {
        return -1;
    }
    format = pvt_format_as_bytes(given);
    if (format == NULL) {
        return -1;
    }
    made = pvt_compile(self->st->error, format);
    if (made == NULL) {
        Py_DECREF(format);
        return -1;
    }
    Py_XSETREF(self->format, format);
    Py_XSETREF(self->plan, made);
    return 0;
}

static int
struct_traverse(PyObject *op, visitproc visit, void *arg)
{
    pvt_struct *self = (pvt_struct *)op;

    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->format);
    Py_VISIT(self->plan);
    return 0;
}

/* There is no tp_clear: bytes objects are in no cycle, and methods need the plan. */
static void
struct_dealloc(PyObject *op)
{
    pvt_struct *self = (pvt_struct *)op;
    PyTypeObject *type = Py_TYPE(op);

    PyObject_GC_UnTrack(op);
    Py_CLEAR(self->format);
    Py_CLEAR(self->plan);
    type->tp_free(op);
    Py_DECREF(type);
}

/* A new reference to the plan of an object whose __init__ has run. The caller holds it
 * while Python code may run. */
static PyObject *
struct_plan(pvt_struct *self)
{
    if (self->plan == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "Struct object is not initialized");
        return NULL;
    }
    return Py_NewRef(self->plan);
}

PyDoc_STRVAR(struct_pack_doc,
             "pack($self, /, *values)\n--\n\n"
             "Return the values as bytes in the layout of the format.");

static PyObject *
struct_pack(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pvt_struct *self = (pvt_struct *)op;
    PyObject *bytes = struct_plan(self);
    PyObject *result = NULL;

    if (bytes != NULL) {
        result = pvt_do_pack(self->st, bytes, args, nargs);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(struct_pack_into_doc,
             "pack_into($self, buffer, offset, /, *values)\n--\n\n"
             "Write the values to a buffer, starting at offset.");

static PyObject *
struct_pack_into(PyObject *op, PyObject *const *args, Py_ssize_t nargs)
{
    pvt_struct *self = (pvt_struct *)op;
    PyObject *bytes = struct_plan(self);
    PyObject *result = NULL;

    if (bytes != NULL) {
        result = pvt_do_pack_into(self->st, bytes, args, nargs);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(struct_unpack_doc,
             "unpack($self, buffer, /)\n--\n\n"
             "Return the values of a buffer of exactly the format's size, as a tuple.");

static PyObject *
struct_unpack(PyObject *op, PyObject *buffer)
{
    pvt_struct *self = (pvt_struct *)op;
    PyObject *bytes = struct_plan(self);
    PyObject *result = NULL;

    if (bytes != NULL) {
        result = pvt_do_unpack(self->st, bytes, buffer);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(struct_unpack_from_doc,
             "unpack_from($self, /, buffer, offset=0)\n--\n\n"
             "Return the values of a buffer, starting at offset, as a tuple.");

static PyObject *
struct_unpack_from(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"buffer", "offset", NULL};
    pvt_struct *self = (pvt_struct *)op;
    PyObject *bytes = NULL;
    PyObject *result = NULL;
    PyObject *buffer;
    Py_ssize_t offset = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:unpack_from", (char **)names,
                                     &buffer, &offset)) {
        return NULL;
    }
    bytes = struct_plan(self);
    if (bytes != NULL) {
        result = pvt_do_unpack_from(self->st, bytes, buffer, offset);
        Py_DECREF(bytes);
    }
    return result;
}

static PyObject *
struct_get_format(PyObject *op, void *closure)
{
    pvt_struct *self = (pvt_struct *)op;

    (void)closure;
    if (self->format == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "Struct object is not initialized");
        return NULL;
    }
    return Py_NewRef(self->format);
}

static PyObject *
struct_get_size(PyObject *op, void *closure)
{
    PyObject *bytes = struct_plan((pvt_struct *)op);
    PyObject *result = NULL;

    (void)closure;
    if (bytes != NULL) {
        result = PyLong_FromSsize_t(pvt_plan_borrow(bytes)->size);
        Py_DECREF(bytes);
    }
    return result;
}

static PyMethodDef struct_methods[] = {
    {"pack", (PyCFunction)(void (*)(void))struct_pack, METH_FASTCALL, struct_pack_doc},
    {"pack_into", (PyCFunction)(void (*)(void))struct_pack_into, METH_FASTCALL,
     struct_pack_into_doc},
    {"unpack", struct_unpack, METH_O, struct_unpack_doc},
    {"unpack_from", (PyCFunction)(void (*)(void))struct_unpack_from,
     METH_VARARGS | METH_KEYWORDS, struct_unpack_from_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef struct_getset[] = {
    {"format", struct_get_format, NULL, "The format, as bytes.", NULL},
    {"size", struct_get_size, NULL, "The size of the values in bytes.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(struct_doc,
             "Struct(format)\n--\n\n"
             "A compiled format with native byte order, sizes and alignment.");

/* A slot stores a function as a void *, which POSIX allows and ISO C does not. */
#define PVT_SLOT(function) __extension__(void *)(function)

static PyType_Slot struct_slots[] = {
    {Py_tp_doc, (void *)struct_doc},
    {Py_tp_new, PVT_SLOT(struct_new)},
    {Py_tp_init, PVT_SLOT(struct_init)},
    {Py_tp_dealloc, PVT_SLOT(struct_dealloc)},
    {Py_tp_traverse, PVT_SLOT(struct_traverse)},
    {Py_tp_methods, struct_methods},
    {Py_tp_getset, struct_getset},
    {0, NULL},
};

static PyType_Spec struct_spec = {
    .name = "pycuda._pvt_struct.Struct",
    .basicsize = sizeof(pvt_struct),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = struct_slots,
};

/* -- functions of the module ------------------------------------------------------- */

/* A new reference to the plan of the format that is the first argument. */
static PyObject *
pvt_first_plan(PyObject *module, const char *name, PyObject *const *args,
               Py_ssize_t nargs)
{
    if (nargs == 0) {
        PyErr_Format(PyExc_TypeError, "%s() missing format argument", name);
        return NULL;
    }
    return pvt_plan_for(PyModule_GetState(module), args[0]);
}

PyDoc_STRVAR(pvt_pack_doc,
             "pack($module, format, /, *values)\n--\n\n"
             "Return the values as bytes in the layout of the format.");

static PyObject *
pvt_pack(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *bytes = pvt_first_plan(module, "pack", args, nargs);
    PyObject *result = NULL;

    if (bytes != NULL) {
        result = pvt_do_pack(PyModule_GetState(module), bytes, args + 1, nargs - 1);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(pvt_pack_into_doc,
             "pack_into($module, format, buffer, offset, /, *values)\n--\n\n"
             "Write the values to a buffer, starting at offset.");

static PyObject *
pvt_pack_into(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *bytes = pvt_first_plan(module, "pack_into", args, nargs);
    PyObject *result = NULL;

    if (bytes != NULL) {
        result =
            pvt_do_pack_into(PyModule_GetState(module), bytes, args + 1, nargs - 1);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(pvt_unpack_doc,
             "unpack($module, format, buffer, /)\n--\n\n"
             "Return the values of a buffer of exactly the format's size, as a tuple.");

static PyObject *
pvt_unpack(PyObject *module, PyObject *const *args, Py_ssize_t nargs)
{
    PyObject *bytes = NULL;
    PyObject *result = NULL;

    if (nargs != 2) {
        PyErr_Format(PyExc_TypeError, "unpack expected 2 arguments, got %zd", nargs);
        return NULL;
    }
    bytes = pvt_first_plan(module, "unpack", args, nargs);
    if (bytes != NULL) {
        result = pvt_do_unpack(PyModule_GetState(module), bytes, args[1]);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(pvt_unpack_from_doc,
             "unpack_from($module, format, /, buffer, offset=0)\n--\n\n"
             "Return the values of a buffer, starting at offset, as a tuple.");

static PyObject *
pvt_unpack_from(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static const char *const names[] = {"", "buffer", "offset", NULL};
    pvt_state *st = PyModule_GetState(module);
    PyObject *bytes = NULL;
    PyObject *result = NULL;
    PyObject *format;
    PyObject *buffer;
    Py_ssize_t offset = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|n:unpack_from", (char **)names,
                                     &format, &buffer, &offset)) {
        return NULL;
    }
    bytes = pvt_plan_for(st, format);
    if (bytes != NULL) {
        result = pvt_do_unpack_from(st, bytes, buffer, offset);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(
    pvt_calcsize_doc,
    "calcsize($module, format, /)\n--\n\n"
    "Return the size of the format's values in bytes, without padding at the end.");

static PyObject *
pvt_calcsize(PyObject *module, PyObject *format)
{
    PyObject *bytes = pvt_first_plan(module, "calcsize", &format, 1);
    PyObject *result = NULL;

    if (bytes != NULL) {
        result = PyLong_FromSsize_t(pvt_plan_borrow(bytes)->size);
        Py_DECREF(bytes);
    }
    return result;
}

PyDoc_STRVAR(pvt_clearcache_doc,
             "_clearcache($module, /)\n--\n\n"
             "Remove all compiled formats from the cache.");

static PyObject *
pvt_clearcache(PyObject *module, PyObject *unused)
{
    pvt_state *st = PyModule_GetState(module);

    (void)unused;
    PyDict_Clear(st->cache);
    Py_RETURN_NONE;
}

static PyMethodDef pvt_methods[] = {
    {"pack", (PyCFunction)(void (*)(void))pvt_pack, METH_FASTCALL, pvt_pack_doc},
    {"pack_into", (PyCFunction)(void (*)(void))pvt_pack_into, METH_FASTCALL,
     pvt_pack_into_doc},
    {"unpack", (PyCFunction)(void (*)(void))pvt_unpack, METH_FASTCALL, pvt_unpack_doc},
    {"unpack_from", (PyCFunction)(void (*)(void))pvt_unpack_from,
     METH_VARARGS | METH_KEYWORDS, pvt_unpack_from_doc},
    {"calcsize", pvt_calcsize, METH_O, pvt_calcsize_doc},
    {"_clearcache", pvt_clearcache, METH_NOARGS, pvt_clearcache_doc},
    {NULL, NULL, 0, NULL},
};

/* -- module ------------------------------------------------------------------------ */

static int
pvt_exec(PyObject *module)
{
    pvt_state *st = PyModule_GetState(module);

    st->cache = PyDict_New();
    if (st->cache == NULL) {
        return -1;
    }
    st->error = PyErr_NewExceptionWithDoc(
        "struct.error", "A format is wrong, or a value does not fit it.",
        PyExc_Exception, NULL);
    if (st->error == NULL || PyModule_AddObjectRef(module, "error", st->error) < 0) {
        return -1;
    }
    st->Struct = PyType_FromModuleAndSpec(module, &struct_spec, NULL);
    if (st->Struct == NULL) {
        return -1;
    }
    return PyModule_AddType(module, (PyTypeObject *)st->Struct);
}

static int
pvt_traverse(PyObject *module, visitproc visit, void *arg)
{
    pvt_state *st = PyModule_GetState(module);

    Py_VISIT(st->error);
    Py_VISIT(st->Struct);
    Py_VISIT(st->cache);
    return 0;
}

static int
pvt_clear(PyObject *module)
{
    pvt_state *st = PyModule_GetState(module);

    Py_CLEAR(st->error);
    Py_CLEAR(st->Struct);
    Py_CLEAR(st->cache);
    return 0;
}

static void
pvt_free(void *module)
{
    pvt_clear(module);
}

static PyModuleDef_Slot pvt_slots[] = {
    {Py_mod_exec, PVT_SLOT(pvt_exec)},
    {0, NULL},
};

static struct PyModuleDef pvt_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pycuda._pvt_struct",
    .m_doc = "Pack Python values, complex numbers too, into bytes in the layout of C.",
    .m_size = sizeof(pvt_state),
    .m_methods = pvt_methods,
    .m_slots = pvt_slots,
    .m_traverse = pvt_traverse,
    .m_clear = pvt_clear,
    .m_free = pvt_free,
};

PyMODINIT_FUNC PyInit__pvt_struct(void);

PyMODINIT_FUNC
PyInit__pvt_struct(void)
{
    return PyModuleDef_Init(&pvt_module);
}
