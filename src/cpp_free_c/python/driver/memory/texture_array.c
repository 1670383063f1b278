/* Array: an image on the device in the layout of the texture unit. The public name is
 * PyCUDA's; in this code it is a texture array, since GPUArray is another thing.
 *
 * Invariant: an Array is a pcu_resource whose handle it releases. The exception is a
 * handle that another object releases, such as a level of an OpenGL image: then
 * `borrowed` is set, `live` is clear, and `owner` keeps that object alive. Callers: see
 * texture_array.h. */
#include "python/driver/memory/texture_array.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/resource.h"

typedef struct {
    pcu_resource base;
    PyObject *owner; /* keeps a borrowed handle valid; NULL otherwise */
    bool borrowed;   /* another object releases the handle */
} texture_array;

/* -- the array --------------------------------------------------------------------- */

/* Raise a failed creation. The driver only reports an invalid value, so the message
 * lists the values. */
static int
texture_array_raise(pcu_state *st, const char *routine, CUresult status,
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

PCU_SIGNATURE_OF_ONE(texture_array, "descriptor", pcu_as_object,
                     "Array(descriptor)\n--\n\n"
                     "Hold an image on the device in the layout of the texture unit.\n"
                     "\n"
                     "Copies fill it. Kernels read and write it through textures and\n"
                     "surfaces.\n"
                     "\nParameters\n----------\n"
                     "descriptor : ArrayDescriptor or ArrayDescriptor3D\n"
                     "    Size and elements.\n"
                     "\nRaises\n------\n"
                     "TypeError\n"
                     "    If the argument is no descriptor.\n"
                     "LogicError\n"
                     "    If the driver refuses the description.\n"
                     "MemoryError\n"
                     "    If the device has not enough free memory.\n"
                     "\nSee Also\n--------\n"
                     "matrix_to_array : Make an Array of a matrix.\n"
                     "TextureObject : Read it in a kernel.\n"
                     "SurfaceObject : Write it in a kernel.\n"
                     "\nExamples\n--------\n"
                     ">>> descriptor = drv.ArrayDescriptor()\n"
                     ">>> descriptor.width, descriptor.height = 3, 2\n"
                     ">>> descriptor.format = drv.array_format.SIGNED_INT32\n"
                     ">>> descriptor.num_channels = 1\n"
                     ">>> image = drv.Array(descriptor)\n"
                     ">>> image.set(np.arange(6, dtype=np.int32))\n"
                     ">>> image.get()\n"
                     "array([[0, 1, 2],\n"
                     "       [3, 4, 5]], dtype=int32)")

static int
texture_array_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    texture_array *self = (texture_array *)op;
    pcu_state *st = self->base.st;
    PyObject *descriptor = NULL;
    const CUDA_ARRAY3D_DESCRIPTOR *given = NULL;
    pcu_handle handle = {0};
    if (pcu_args_parse_tuple(st, &texture_array_signature, args, kwargs,
                             PCU_ONLY(texture_array, &descriptor)) < 0 ||
        pcu_as_array_descriptor(st, descriptor, &given, "descriptor") < 0) {
        return -1;
    }
    CUDA_ARRAY3D_DESCRIPTOR d = *given;
    bool full = PyObject_TypeCheck(descriptor, st->ArrayDescriptor3D);
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
        self->borrowed = false;
        Py_CLEAR(self->owner);
        pcu_resource_adopt(&self->base, ctx, PCU_HANDLE_array, handle);
        pcu_memory_noted(op, PCU_MEMORY_ARRAY, pcu_array_descriptor_bytes(&d));
    }
    Py_DECREF(ctx);
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return texture_array_raise(st, routine, status, &d);
}

static bool
texture_array_is_level(const texture_array *self)
{
    return self->borrowed && self->owner != NULL &&
           PyObject_TypeCheck(self->owner, self->base.st->MipmappedArray);
}

static int
texture_array_check(texture_array *self, const char *routine)
{
    if (texture_array_is_level(self)) {
        return pcu_resource_check((pcu_resource *)self->owner, routine);
    }
    if (self->borrowed && pcu_context_record_lives(pcu_context_rec(self->base.ctx))) {
        return 0;
    }
    return pcu_resource_check(&self->base, routine);
}

PyObject *
pcu_texture_array_wrap_new(pcu_state *st, PyObject *ctx, CUarray handle,
                           PyObject *owner)
{
    texture_array *self = (texture_array *)st->Array->tp_alloc(st->Array, 0);
    if (self != NULL) {
        self->base.st = st;
        self->base.ctx = Py_NewRef(ctx);
        self->base.kind = PCU_HANDLE_array;
        self->base.handle.array = handle;
        self->owner = Py_XNewRef(owner);
        self->borrowed = true;
    }
    return (PyObject *)self;
}

int
pcu_as_texture_array(pcu_state *st, PyObject *value, void *out, const char *name)
{
    if (!PyObject_TypeCheck(value, st->Array)) {
        PyErr_Format(PyExc_TypeError, "%s must be an Array, not %s", name,
                     Py_TYPE(value)->tp_name);
        return -1;
    }
    *(PyObject **)out = value;
    return texture_array_check((texture_array *)value, "cuArray3DGetDescriptor");
}

int
pcu_texture_array_handle(PyObject *obj, const char *what, CUarray *out)
{
    pcu_state *st = pcu_state_of_type(Py_TYPE(obj));
    if (st == NULL || !PyObject_TypeCheck(obj, st->Array)) {
        PyErr_Format(PyExc_TypeError, "%s must be an Array, not %s", what,
                     Py_TYPE(obj)->tp_name);
        return -1;
    }
    *out = ((pcu_resource *)obj)->handle.array;
    return texture_array_check((texture_array *)obj, what);
}

uint64_t
pcu_texture_array_word(pcu_state *st, PyObject *object)
{
    if (object == NULL || !PyObject_TypeCheck(object, st->Array)) {
        return 0;
    }
    const texture_array *self = (const texture_array *)object;
    if (texture_array_is_level(self)) {
        return (uintptr_t)((pcu_resource *)self->owner)->handle.mipmapped_array;
    }
    return (uintptr_t)self->base.handle.array;
}

bool
pcu_texture_array_is_borrowed(PyObject *array)
{
    return ((texture_array *)array)->borrowed;
}

int
pcu_texture_array_describe(pcu_state *st, PyObject *array,
                           CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUarray handle = NULL;
    int rc;
    if (pcu_texture_array_handle(array, "cuArray3DGetDescriptor", &handle) < 0) {
        return -1;
    }
    PCU_CALL_CURRENT(rc, st, Array3DGetDescriptor, (descriptor, handle));
    return rc;
}

PyDoc_STRVAR(texture_array_free_doc,
             "free($self, /)\n--\n\n"
             "Release the array now.\n"
             "\nNotes\n-----\n"
             "A second call does nothing.");

static PyObject *
texture_array_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    texture_array *self = (texture_array *)op;
    self->borrowed = false;
    Py_CLEAR(self->owner);
    if (self->base.live && pcu_resource_free(&self->base) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(texture_array_get_descriptor_doc,
             "get_descriptor($self, /)\n--\n\n"
             "Return the description of an array of one or two dimensions.\n"
             "\nReturns\n-------\n"
             "ArrayDescriptor\n"
             "    A new descriptor.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nSee Also\n--------\n"
             "Array.get_descriptor_3d : Describe any array.");

static PyObject *
texture_array_get_descriptor(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    CUDA_ARRAY_DESCRIPTOR flat = {0};
    int rc;
    if (texture_array_check((texture_array *)op, "cuArrayGetDescriptor") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, ArrayGetDescriptor, (&flat, self->handle.array));
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = flat.Width,
                                 .Height = flat.Height,
                                 .Format = flat.Format,
                                 .NumChannels = flat.NumChannels};
    if (rc < 0) {
        return NULL;
    }
    return pcu_array_descriptor_new(self->st, self->st->ArrayDescriptor, &d);
}

PyDoc_STRVAR(texture_array_get_descriptor_3d_doc,
             "get_descriptor_3d($self, /)\n--\n\n"
             "Return the description of the array.\n"
             "\nReturns\n-------\n"
             "ArrayDescriptor3D\n"
             "    A new descriptor.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED);

static PyObject *
texture_array_get_descriptor_3d(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    int rc;
    if (texture_array_check((texture_array *)op, "cuArray3DGetDescriptor") < 0) {
        return NULL;
    }
    PCU_CALL_CURRENT(rc, self->st, Array3DGetDescriptor, (&d, self->handle.array));
    if (rc < 0) {
        return NULL;
    }
    return pcu_array_descriptor_new(self->st, self->st->ArrayDescriptor3D, &d);
}

static PyMethodDef texture_array_methods[] = {
    {"free", texture_array_free, METH_NOARGS, texture_array_free_doc},
    {"get_descriptor", texture_array_get_descriptor, METH_NOARGS,
     texture_array_get_descriptor_doc},
    {"get_descriptor_3d", texture_array_get_descriptor_3d, METH_NOARGS,
     texture_array_get_descriptor_3d_doc},
    {NULL, NULL, 0, NULL},
};

static PyObject *
texture_array_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((pcu_resource *)op)->handle.array);
}

static PyGetSetDef texture_array_getset[] = {
    {"handle", texture_array_get_handle, NULL, "The CUarray as an int.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static int
texture_array_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((texture_array *)op)->owner);
    return pcu_resource_traverse(op, visit, arg);
}

/* The owner keeps a borrowed handle valid, so it is dropped last, as the context is. */
static void
texture_array_dealloc(PyObject *op)
{
    PyObject *owner = ((texture_array *)op)->owner;
    pcu_resource_dealloc(op);
    Py_XDECREF(owner);
}

static PyType_Slot texture_array_slots[] = {
    {Py_tp_doc, (void *)texture_array_doc}, {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, texture_array_init},       {Py_tp_traverse, texture_array_traverse},
    {Py_tp_clear, pcu_resource_clear},      {Py_tp_dealloc, texture_array_dealloc},
    {Py_tp_members, pcu_resource_members},  {Py_tp_getset, texture_array_getset},
    {Py_tp_methods, texture_array_methods}, {0, NULL},
};

static PyType_Spec texture_array_spec = {
    "pycuda._driver.Array", sizeof(texture_array), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, texture_array_slots};

int
pcu_texture_array_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->Array, &texture_array_spec, NULL);
}
