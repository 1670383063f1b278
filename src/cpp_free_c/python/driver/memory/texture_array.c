/* ArrayDescriptor, ArrayDescriptor3D and Array: images laid out for the texture unit.
 *
 * Both descriptors are the three-dimensional structure of the driver; the plain one
 * shows four of its six fields. An Array is a pcu_resource, but for handles that
 * somebody else releases (a level of an OpenGL image): those have `borrowed` set and
 * `live` clear, and hold what keeps them in `owner`. */
#include "python/driver/memory/texture_array.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context_stack.h"
#include "python/driver/resource.h"

typedef struct {
    pcu_resource base;
    PyObject *owner; /* what keeps a borrowed handle; NULL otherwise */
    int borrowed;    /* the handle is good but not ours to release */
} pcu_array;

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *dict;
    PyObject *weakrefs;
    CUDA_ARRAY3D_DESCRIPTOR d;
} pcu_descriptor;

/* -- formats ----------------------------------------------------------------------- */

size_t
pcu_array_format_size(CUarray_format format)
{
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8:
            return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF:
            return 2;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT:
            return 4;
        default:
            return 0;
    }
}

int
pcu_as_array_format(pcu_state *st, PyObject *value, void *out, const char *name)
{
    unsigned int format = 0;
    if (pcu_enum_value(st->enum_array_format, value, &format, name) < 0) {
        return -1;
    }
    *(CUarray_format *)out = format;
    return 0;
}

/* -- descriptors ------------------------------------------------------------------- */

static PyObject *
descriptor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    /* a derived type may take arguments of its own */
    int exact = type == st->ArrayDescriptor || type == st->ArrayDescriptor3D;
    if (exact && (PyTuple_GET_SIZE(args) != 0 ||
                  (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0))) {
        PyErr_Format(
            PyExc_TypeError, "%s() takes no arguments",
            type == st->ArrayDescriptor ? "ArrayDescriptor" : "ArrayDescriptor3D");
        return NULL;
    }
    pcu_descriptor *self = (pcu_descriptor *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
    }
    return (PyObject *)self;
}

static PyObject *
descriptor_from(pcu_state *st, PyTypeObject *type, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    pcu_descriptor *self = (pcu_descriptor *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->d = *d;
    }
    return (PyObject *)self;
}

static int
descriptor_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(((pcu_descriptor *)op)->dict);
    return 0;
}

static int
descriptor_clear(PyObject *op)
{
    Py_CLEAR(((pcu_descriptor *)op)->dict);
    return 0;
}

static void
descriptor_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (((pcu_descriptor *)op)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    descriptor_clear(op);
    type->tp_free(op);
    Py_DECREF(type);
}

/* A field of a descriptor, the closure of its property. */
typedef struct {
    const char *name;
    size_t offset; /* in CUDA_ARRAY3D_DESCRIPTOR */
    int is_size;   /* size_t, else unsigned int */
} descriptor_field;

static const descriptor_field descriptor_width = {
    "width", offsetof(CUDA_ARRAY3D_DESCRIPTOR, Width), 1};
static const descriptor_field descriptor_height = {
    "height", offsetof(CUDA_ARRAY3D_DESCRIPTOR, Height), 1};
static const descriptor_field descriptor_depth = {
    "depth", offsetof(CUDA_ARRAY3D_DESCRIPTOR, Depth), 1};
static const descriptor_field descriptor_channels = {
    "num_channels", offsetof(CUDA_ARRAY3D_DESCRIPTOR, NumChannels), 0};
static const descriptor_field descriptor_flags = {
    "flags", offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags), 0};

static int
descriptor_refuse_deletion(PyObject *value, const char *name)
{
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "the %s of a descriptor cannot be deleted",
                     name);
        return -1;
    }
    return 0;
}

static PyObject *
descriptor_get(PyObject *op, void *closure)
{
    const descriptor_field *field = closure;
    const char *place = (const char *)&((pcu_descriptor *)op)->d + field->offset;
    return PyLong_FromSize_t(field->is_size
                                 ? *(const size_t *)(const void *)place
                                 : *(const unsigned int *)(const void *)place);
}

static int
descriptor_set(PyObject *op, PyObject *value, void *closure)
{
    const descriptor_field *field = closure;
    pcu_descriptor *self = (pcu_descriptor *)op;
    void *place = (char *)&self->d + field->offset;
    size_t size = 0;
    unsigned int number = 0;
    if (descriptor_refuse_deletion(value, field->name) < 0 ||
        (field->is_size ? pcu_as_size(self->st, value, &size, field->name)
                        : pcu_as_uint(self->st, value, &number, field->name)) < 0) {
        return -1;
    }
    if (field->is_size) {
        *(size_t *)place = size;
    }
    else {
        *(unsigned int *)place = number;
    }
    return 0;
}

static PyObject *
descriptor_get_format(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_descriptor *self = (pcu_descriptor *)op;
    return pcu_enum_member_new(self->st->enum_array_format, (long)self->d.Format);
}

static int
descriptor_set_format(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    pcu_descriptor *self = (pcu_descriptor *)op;
    return descriptor_refuse_deletion(value, "format") < 0
               ? -1
               : pcu_as_array_format(self->st, value, &self->d.Format, "format");
}

#define DESCRIPTOR_FIELD(field, doc)                                              \
    {                                                                             \
#        field, descriptor_get, descriptor_set, doc, (void *)&descriptor_##field, \
    }
#define DESCRIPTOR_COMMON                                                        \
    DESCRIPTOR_FIELD(width, "Elements of a row."),                               \
        DESCRIPTOR_FIELD(height, "Rows; 0 makes a one-dimensional array."),      \
        {"format", descriptor_get_format, descriptor_set_format,                 \
         "The array_format of a channel.", NULL},                                \
        {"num_channels", descriptor_get, descriptor_set,                         \
         "Channels of an element: 1, 2 or 4.", (void *)&descriptor_channels},    \
    {                                                                            \
        "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL \
    }

static PyGetSetDef descriptor_getset[] = {
    DESCRIPTOR_COMMON,
    {NULL, NULL, NULL, NULL, NULL},
};

static PyGetSetDef descriptor_3d_getset[] = {
    DESCRIPTOR_COMMON,
    DESCRIPTOR_FIELD(depth, "Slices, or layers, or faces of a cube map."),
    DESCRIPTOR_FIELD(flags, "Or-ed array3d_flags."),
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef descriptor_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_descriptor, dict), Py_READONLY,
     NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_descriptor, weakrefs),
     Py_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(descriptor_doc,
             "ArrayDescriptor()\n--\n\n"
             "Size and element of a one- or two-dimensional Array; all fields are 0.");
PyDoc_STRVAR(descriptor_3d_doc,
             "ArrayDescriptor3D()\n--\n\n"
             "Size, element and flags of any Array; all fields are 0.");

#define DESCRIPTOR_TYPE(prefix, type_name)                                          \
    static PyType_Slot prefix##_slots[] = {                                         \
        {Py_tp_doc, (void *)prefix##_doc},     {Py_tp_new, descriptor_new},         \
        {Py_tp_traverse, descriptor_traverse}, {Py_tp_clear, descriptor_clear},     \
        {Py_tp_dealloc, descriptor_dealloc},   {Py_tp_members, descriptor_members}, \
        {Py_tp_getset, prefix##_getset},       {0, NULL},                           \
    };                                                                              \
    static PyType_Spec prefix##_spec = {                                            \
        "pycuda._driver." type_name, sizeof(pcu_descriptor), 0,                     \
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, prefix##_slots}
DESCRIPTOR_TYPE(descriptor, "ArrayDescriptor");
DESCRIPTOR_TYPE(descriptor_3d, "ArrayDescriptor3D");

int
pcu_as_descriptor(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (!PyObject_TypeCheck(value, st->ArrayDescriptor) &&
        !PyObject_TypeCheck(value, st->ArrayDescriptor3D)) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be an ArrayDescriptor or an ArrayDescriptor3D, not %s",
                     name, Py_TYPE(value)->tp_name);
        return -1;
    }
    *(const CUDA_ARRAY3D_DESCRIPTOR **)out = &((pcu_descriptor *)value)->d;
    return 0;
}

/* -- the array --------------------------------------------------------------------- */

/* The driver says only that a value is invalid: say which ones were given. */
static int
array_raise(pcu_state *st, const char *routine, CUresult status,
            const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    if (status != CUDA_ERROR_INVALID_VALUE) {
        return pcu_raise_detail(st, routine, status,
                                "%zu x %zu x %zu elements were "
                                "asked for",
                                d->Width, d->Height, d->Depth);
    }
    PyObject *format = pcu_enum_member_new(st->enum_array_format, (long)d->Format);
    if (format == NULL) {
        return -1;
    }
    const char *why = "";
    if (pcu_array_format_size(d->Format) == 0) {
        why = "; set the format to one of array_format";
    }
    else if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4) {
        why = "; an element has 1, 2 or 4 channels";
    }
    else if (d->Width == 0) {
        why = "; the width must not be 0";
    }
    int rc = pcu_raise_detail(st, routine, status,
                              "the descriptor has width %zu, height %zu, depth %zu, "
                              "format %S, num_channels %u, flags %u%s",
                              d->Width, d->Height, d->Depth, format, d->NumChannels,
                              d->Flags, why);
    Py_DECREF(format);
    return rc;
}

static int
array_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {{"descriptor", pcu_as_object, 0}};
    static const pcu_argtable table = {"Array", specs, 1, 1, 0};
    pcu_array *self = (pcu_array *)op;
    pcu_state *st = self->base.st;
    PyObject *descriptor = NULL;
    const CUDA_ARRAY3D_DESCRIPTOR *given = NULL;
    pcu_res_handle handle = {0};
    if (pcu_args_parse_tuple(st, &table, args, kwargs, &descriptor) < 0 ||
        pcu_as_descriptor(st, descriptor, &given, "descriptor") < 0) {
        return -1;
    }
    CUDA_ARRAY3D_DESCRIPTOR d = *given;
    int full = PyObject_TypeCheck(descriptor, st->ArrayDescriptor3D);
    const char *routine = full ? "cuArray3DCreate" : "cuArrayCreate";
    PyObject *ctx = pcu_context_require(st, routine);
    if (ctx == NULL) {
        return -1;
    }
    CUDA_ARRAY_DESCRIPTOR flat = {d.Width, d.Height, d.Format, d.NumChannels};
    CUresult status;
    if (full) {
        PCU_STATUS(status, Array3DCreate, (&handle.array, &d));
    }
    else {
        PCU_STATUS(status, ArrayCreate, (&handle.array, &flat));
    }
    if (status == CUDA_SUCCESS) {
        self->borrowed = 0;
        Py_CLEAR(self->owner);
        pcu_resource_adopt(&self->base, ctx, PCU_RES_array, handle);
    }
    Py_DECREF(ctx);
    return status == CUDA_SUCCESS ? 0 : array_raise(st, routine, status, &d);
}

static int
array_check(pcu_array *self, const char *routine)
{
    return self->borrowed && pcu_ctxrec_lives(pcu_context_rec(self->base.ctx))
               ? 0
               : pcu_resource_check(&self->base, routine);
}

PyObject *
pcu_array_wrap_new(pcu_state *st, PyObject *ctx, CUarray handle, PyObject *owner)
{
    pcu_array *self = (pcu_array *)st->Array->tp_alloc(st->Array, 0);
    if (self != NULL) {
        self->base.st = st;
        self->base.ctx = Py_NewRef(ctx);
        self->base.kind = PCU_RES_array;
        self->base.handle.array = handle;
        self->owner = Py_XNewRef(owner);
        self->borrowed = 1;
    }
    return (PyObject *)self;
}

int
pcu_as_array(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (!PyObject_TypeCheck(value, st->Array)) {
        PyErr_Format(PyExc_TypeError, "%s must be an Array, not %s", name,
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    *(PyObject **)out = value;
    return array_check((pcu_array *)value, "cuArray3DGetDescriptor");
}

int
pcu_array_handle(PyObject *obj, const char *what, CUarray *out)
{
    pcu_state *st = pcu_state_of_type(Py_TYPE(obj));
    if (st == NULL || !PyObject_TypeCheck(obj, st->Array)) {
        PyErr_Format(PyExc_TypeError, "%s must be an Array, not %s", what,
                     Py_TYPE(obj)->tp_name);
        return -1;
    }
    *out = ((pcu_resource *)obj)->handle.array;
    return array_check((pcu_array *)obj, what);
}

int
pcu_array_is_borrowed(PyObject *array)
{
    return ((pcu_array *)array)->borrowed;
}

PyObject *
pcu_array_context(PyObject *array)
{
    return ((pcu_resource *)array)->ctx;
}

PyDoc_STRVAR(array_free_doc,
             "free($self, /)\n--\n\n"
             "Release the array now. Doing it again does nothing.");

static PyObject *
array_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_array *self = (pcu_array *)op;
    self->borrowed = 0;
    Py_CLEAR(self->owner);
    if (self->base.live && pcu_resource_free(&self->base) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(array_get_descriptor_doc,
             "get_descriptor($self, /)\n--\n\n"
             "What the array is like, an ArrayDescriptor. For up to two dimensions.");

static PyObject *
array_get_descriptor(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    CUDA_ARRAY_DESCRIPTOR flat = {0};
    int rc;
    if (array_check((pcu_array *)op, "cuArrayGetDescriptor") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, ArrayGetDescriptor, (&flat, self->handle.array));
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = flat.Width,
                                 .Height = flat.Height,
                                 .Format = flat.Format,
                                 .NumChannels = flat.NumChannels};
    return rc < 0 ? NULL : descriptor_from(self->st, self->st->ArrayDescriptor, &d);
}

PyDoc_STRVAR(array_get_descriptor_3d_doc,
             "get_descriptor_3d($self, /)\n--\n\n"
             "What the array is like, an ArrayDescriptor3D.");

static PyObject *
array_get_descriptor_3d(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    int rc;
    if (array_check((pcu_array *)op, "cuArray3DGetDescriptor") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, Array3DGetDescriptor, (&d, self->handle.array));
    return rc < 0 ? NULL : descriptor_from(self->st, self->st->ArrayDescriptor3D, &d);
}

static PyMethodDef array_methods[] = {
    {"free", array_free, METH_NOARGS, array_free_doc},
    {"get_descriptor", array_get_descriptor, METH_NOARGS, array_get_descriptor_doc},
    {"get_descriptor_3d", array_get_descriptor_3d, METH_NOARGS,
     array_get_descriptor_3d_doc},
    {NULL, NULL, 0, NULL},
};

static PyObject *
array_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.array);
}

static PyGetSetDef array_getset[] = {
    {"handle", array_get_handle, NULL, "The CUarray as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static int
array_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pcu_array *)op)->owner);
    return pcu_resource_traverse(op, visit, arg);
}

/* The owner keeps the handle: it goes with the object, as the context does. */
static void
array_dealloc(PyObject *op)
{
    PyObject *owner = ((pcu_array *)op)->owner;
    pcu_resource_dealloc(op);
    Py_XDECREF(owner);
}

PyDoc_STRVAR(array_doc,
             "Array(descriptor)\n--\n\n"
             "An image on the device, in the layout of the texture unit.\n\n"
             "descriptor: an ArrayDescriptor or ArrayDescriptor3D. Filled by copies;\n"
             "read and written by kernels through textures and surfaces.");

static PyType_Slot array_slots[] = {
    {Py_tp_doc, (void *)array_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, array_init},
    {Py_tp_traverse, array_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, array_getset},
    {Py_tp_methods, array_methods},
    {0, NULL},
};

static PyType_Spec array_spec = {
    "pycuda._driver.Array", sizeof(pcu_array), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, array_slots};

int
pcu_array_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->ArrayDescriptor, &descriptor_spec, NULL) < 0 ||
        pcu_add_type(m, &st->ArrayDescriptor3D, &descriptor_3d_spec, NULL) < 0) {
        return -1;
    }
    if (pcu_add_type(m, &st->Array, &array_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_methods(st->Array, pcu_arraydata_methods);
}
