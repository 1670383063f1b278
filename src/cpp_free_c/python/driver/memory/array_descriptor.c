/* ArrayDescriptor and ArrayDescriptor3D: size and element type of a texture array.
 *
 * Invariant: both types hold the driver's three-dimensional descriptor. ArrayDescriptor
 * shows four of its six fields; the other two stay 0. Callers: see texture_array.h.
 */
#include "python/driver/memory/texture_array.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/type.h"
#include "python/support/setup.h"

typedef struct {
    pcu_instance base;
    pcu_state *st;
    CUDA_ARRAY3D_DESCRIPTOR d;
} descriptor;

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

size_t
pcu_array_descriptor_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Width * Py_MAX(d->Height, 1) * Py_MAX(d->Depth, 1) * d->NumChannels *
           pcu_array_format_size(d->Format);
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
    /* a derived type may have its own arguments */
    bool exact = type == st->ArrayDescriptor || type == st->ArrayDescriptor3D;
    if (exact && (PyTuple_GET_SIZE(args) != 0 ||
                  (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0))) {
        PyErr_Format(
            PyExc_TypeError, "%s() takes no arguments",
            type == st->ArrayDescriptor ? "ArrayDescriptor" : "ArrayDescriptor3D");
        return NULL;
    }
    descriptor *self = (descriptor *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
    }
    return (PyObject *)self;
}

PyObject *
pcu_array_descriptor_new(pcu_state *st, PyTypeObject *type,
                         const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    descriptor *self = (descriptor *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->d = *d;
    }
    return (PyObject *)self;
}

/* A field of a descriptor, the closure of its property. */
typedef struct {
    const char *name;
    size_t offset; /* in CUDA_ARRAY3D_DESCRIPTOR */
    bool is_size;  /* size_t, else unsigned int */
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
    const char *place = (const char *)&((descriptor *)op)->d + field->offset;
    if (field->is_size) {
        return PyLong_FromSize_t(*(const size_t *)(const void *)place);
    }
    return PyLong_FromUnsignedLong(*(const unsigned int *)(const void *)place);
}

static int
descriptor_set(PyObject *op, PyObject *value, void *closure)
{
    const descriptor_field *field = closure;
    descriptor *self = (descriptor *)op;
    void *place = (char *)&self->d + field->offset;
    if (descriptor_refuse_deletion(value, field->name) < 0) {
        return -1;
    }
    if (field->is_size) {
        return pcu_as_size(self->st, value, place, field->name);
    }
    return pcu_as_uint(self->st, value, place, field->name);
}

static PyObject *
descriptor_get_format(PyObject *op, void *Py_UNUSED(closure))
{
    descriptor *self = (descriptor *)op;
    return pcu_enum_member_new(self->st->enum_array_format, (long)self->d.Format);
}

static int
descriptor_set_format(PyObject *op, PyObject *value, void *Py_UNUSED(closure))
{
    descriptor *self = (descriptor *)op;
    if (descriptor_refuse_deletion(value, "format") < 0) {
        return -1;
    }
    return pcu_as_array_format(self->st, value, &self->d.Format, "format");
}

#define DESCRIPTOR_FIELD(field, doc)                                              \
    {                                                                             \
#        field, descriptor_get, descriptor_set, doc, (void *)&descriptor_##field, \
    }
#define DESCRIPTOR_COMMON                                                        \
    DESCRIPTOR_FIELD(width, "Elements of a row."),                               \
        DESCRIPTOR_FIELD(height, "Rows; 0 for a one-dimensional array."),        \
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
    DESCRIPTOR_FIELD(depth, "Slices, layers, or faces of a cube map."),
    DESCRIPTOR_FIELD(flags, "Or-ed array3d_flags."),
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(descriptor_doc,
             "ArrayDescriptor()\n--\n\n"
             "Describe an Array of one or two dimensions.\n"
             "\n"
             "All fields are 0 initially. A width counts elements, and a height of 0\n"
             "is one dimension.\n"
             "\nSee Also\n--------\n"
             "ArrayDescriptor3D : Describe any Array.\n"
             "Array : Make an Array.\n"
             "\nExamples\n--------\n"
             ">>> descriptor = drv.ArrayDescriptor()\n"
             ">>> descriptor.width, descriptor.height = 4, 2\n"
             ">>> descriptor.format = drv.array_format.FLOAT\n"
             ">>> descriptor.num_channels = 1\n"
             ">>> drv.Array(descriptor).get().shape\n"
             "(2, 4)");
PyDoc_STRVAR(descriptor_3d_doc,
             "ArrayDescriptor3D()\n--\n\n"
             "Describe any Array, with its flags.\n"
             "\n"
             "All fields are 0 initially. Width, height and depth count elements.\n"
             "\nSee Also\n--------\n"
             "ArrayDescriptor : Describe an Array of one or two dimensions.\n"
             "Array : Make an Array.\n"
             "\nExamples\n--------\n"
             ">>> descriptor = drv.ArrayDescriptor3D()\n"
             ">>> descriptor.width, descriptor.height, descriptor.depth = 4, 3, 2\n"
             ">>> descriptor.format = drv.array_format.UNSIGNED_INT8\n"
             ">>> descriptor.num_channels = 1\n"
             ">>> drv.Array(descriptor).get().shape\n"
             "(2, 3, 4)");

#define DESCRIPTOR_TYPE(prefix, type_name)                  \
    static PyType_Slot prefix##_slots[] =                   \
        {                                                   \
            {Py_tp_doc, (void *)prefix##_doc},              \
            {Py_tp_new, descriptor_new},                    \
            {Py_tp_traverse, pcu_instance_traverse},        \
            {Py_tp_clear, pcu_instance_clear},              \
            {Py_tp_dealloc, pcu_instance_dealloc},          \
            {Py_tp_members, pcu_instance_members},          \
            {Py_tp_getset, prefix##_getset},                \
            {0, NULL},                                      \
    };                                                      \
    static PyType_Spec prefix##_spec = {                    \
        "pycuda._driver." type_name, sizeof(descriptor), 0, \
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, prefix##_slots}
DESCRIPTOR_TYPE(descriptor, "ArrayDescriptor");
DESCRIPTOR_TYPE(descriptor_3d, "ArrayDescriptor3D");

int
pcu_as_array_descriptor(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (!PyObject_TypeCheck(value, st->ArrayDescriptor) &&
        !PyObject_TypeCheck(value, st->ArrayDescriptor3D)) {
        PyErr_Format(PyExc_TypeError,
                     "%s must be an ArrayDescriptor or an ArrayDescriptor3D, not %s",
                     name, Py_TYPE(value)->tp_name);
        return -1;
    }
    *(const CUDA_ARRAY3D_DESCRIPTOR **)out = &((descriptor *)value)->d;
    return 0;
}

int
pcu_array_descriptor_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->ArrayDescriptor, &descriptor_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_type(m, &st->ArrayDescriptor3D, &descriptor_3d_spec, NULL);
}
