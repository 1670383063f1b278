/* RegisteredBuffer and RegisteredImage: objects of OpenGL that are registered with
 * CUDA. See opengl.h for the rules. */
#include "python/driver/exchange/opengl.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* -- docstrings -------------------------------------------------------------------- */

#define REGISTRATION_DOC_FLAGS                                                        \
    "flags : int, optional\n"                                                         \
    "    Values of ``graphics_register_flags`` or ``graphics_map_flags``, combined\n" \
    "    with ``|``.\n"

#define REGISTRATION_DOC_REFUSED \
    "LogicError\n"               \
    "    If OpenGL has no such object, or no context is current.\n"

typedef unsigned int registration_as_flags_stores;

/* Converter: flags of either enumeration, or an int. */
static int
registration_as_flags(pcu_state *st, PyObject *value, void *out, const char *name)
{
    PyObject *type = st->enum_graphics_register_flags;
    if (!PyObject_TypeCheck(value, (PyTypeObject *)type)) {
        type = st->enum_graphics_map_flags;
    }
    return pcu_enum_value(type, value, out, name);
}

static int
registration_check_unmapped(pcu_opengl_registration *self, const char *routine)
{
    if (!self->mapped) {
        return 0;
    }
    return pcu_raise_detail(self->base.st, routine, CUDA_ERROR_ALREADY_MAPPED,
                            "it is mapped; unmap it first");
}

typedef struct {
    unsigned int name;
    unsigned int target;
    unsigned int flags;
} registration_args;

/* Register an object of OpenGL in the current context. `image` selects the call. */
static int
registration_begin(pcu_opengl_registration *self, const registration_args *a,
                   bool image)
{
    pcu_state *st = self->base.st;
    const char *routine = "cuGraphicsGLRegisterBuffer";
    pcu_handle handle = {0};
    int rc;
    if (image) {
        routine = "cuGraphicsGLRegisterImage";
    }
    if (registration_check_unmapped(self, routine) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, routine);
    if (ctx == NULL) {
        return -1;
    }
    if (image) {
        PCU_CALL(rc, st, GraphicsGLRegisterImage,
                 (&handle.graphics, a->name, a->target, a->flags));
    }
    else {
        PCU_CALL(rc, st, GraphicsGLRegisterBuffer,
                 (&handle.graphics, a->name, a->flags));
    }
    if (rc == 0) {
        self->name = a->name;
        pcu_resource_adopt(&self->base, ctx, PCU_HANDLE_graphics, handle);
    }
    Py_DECREF(ctx);
    return rc;
}

static const pcu_word registration_words[] = {
    PCU_WORD("bufobj", pcu_as_uint, registration_args, name),
    PCU_WORD("flags", registration_as_flags, registration_args, flags),
    PCU_WORD("target", pcu_as_uint, registration_args, target),
};

PCU_SIGNATURE(registered_buffer, registration_words,
              "RegisteredBuffer(bufobj, flags=0)\n--\n\n"
              "Register a buffer object of OpenGL in the current context.\n"
              "\nParameters\n----------\n"
              "bufobj : int\n"
              "    Name of the buffer in OpenGL.\n" REGISTRATION_DOC_FLAGS
              "\nRaises\n------\n" REGISTRATION_DOC_REFUSED
              "\nSee Also\n--------\n"
              "RegisteredImage : Register an image.\n"
              "make_gl_context : Make a context.")

static int
registered_buffer_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_opengl_registration *self = (pcu_opengl_registration *)op;
    registration_args a = {0};
    if (pcu_args_parse_tuple(self->base.st, &registered_buffer_signature, args, kwargs,
                             &a) < 0) {
        return -1;
    }
    return registration_begin(self, &a, false);
}

PCU_SIGNATURE(registered_image, registration_words,
              "RegisteredImage(bufobj, target, flags=0)\n--\n\n"
              "Register a texture or a renderbuffer of OpenGL in the current context.\n"
              "\nParameters\n----------\n"
              "bufobj : int\n"
              "    Name of the texture or the renderbuffer in OpenGL.\n"
              "target : int\n"
              "    Its kind, such as GL_TEXTURE_2D (0x0DE1).\n" REGISTRATION_DOC_FLAGS
              "\nRaises\n------\n" REGISTRATION_DOC_REFUSED
              "\nSee Also\n--------\n"
              "RegisteredBuffer : Register a buffer.\n"
              "make_gl_context : Make a context.")

static int
registered_image_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_opengl_registration *self = (pcu_opengl_registration *)op;
    registration_args a = {0};
    if (pcu_args_parse_tuple(self->base.st, &registered_image_signature, args, kwargs,
                             &a) < 0) {
        return -1;
    }
    return registration_begin(self, &a, true);
}

PyDoc_STRVAR(registration_gl_handle_doc,
             "gl_handle($self, /)\n--\n\n"
             "Return the name of the object in OpenGL.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The name.");

static PyObject *
registration_gl_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLong(((pcu_opengl_registration *)op)->name);
}

PyDoc_STRVAR(registration_unregister_doc,
             "unregister($self, /)\n--\n\n"
             "End the registration.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the object is mapped, or was unregistered before.\n"
             "\nSee Also\n--------\n"
             "RegisteredMapping.unmap : End a mapping.");

static PyObject *
registration_unregister(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_opengl_registration *self = (pcu_opengl_registration *)op;
    if (registration_check_unmapped(self, "cuGraphicsUnregisterResource") < 0 ||
        pcu_resource_free(&self->base) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PCU_SIGNATURE_OF_ONE(
    registration_map, "stream", pcu_as_object,
    "map($self, /, stream=None)\n--\n\n"
    "Let CUDA use the object.\n"
    "\nParameters\n----------\n"
    "stream : Stream or None, optional\n"
    "    Stream whose later work sees the earlier work of OpenGL. The\n"
    "    default is the current stream.\n"
    "\nReturns\n-------\n"
    "RegisteredMapping\n"
    "    The mapping, which ends with ``unmap()``.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the object is mapped, or was unregistered.\n"
    "\nSee Also\n--------\n"
    "RegisteredMapping.array : Return an image.\n"
    "RegisteredMapping.device_ptr_and_size : Return a buffer.")

static PyObject *
registration_map(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_opengl_registration *self = (pcu_opengl_registration *)op;
    pcu_state *st = self->base.st;
    PyObject *stream = Py_None;
    CUstream handle = NULL;
    if (pcu_args_parse(st, &registration_map_signature, args, nargs, kwnames,
                       PCU_ONLY(registration_map, &stream)) < 0 ||
        pcu_current_context_ready(st) < 0) {
        return NULL;
    }
    if (stream == Py_None) { /* another stream may be current at the time of unmap() */
        PyObject *current = (PyObject *)pcu_stream_find_borrow();
        if (current != NULL) {
            stream = current;
        }
    }
    if (pcu_as_stream(st, stream, &handle, "stream") < 0 ||
        pcu_resource_check(&self->base, "cuGraphicsMapResources") < 0 ||
        registration_check_unmapped(self, "cuGraphicsMapResources") < 0) {
        return NULL;
    }
    return pcu_opengl_map_new(self, stream, handle);
}

static PyMethodDef registration_methods[] = {
    {"gl_handle", registration_gl_handle, METH_NOARGS, registration_gl_handle_doc},
    {"unregister", registration_unregister, METH_NOARGS, registration_unregister_doc},
    PCU_METHOD("map", registration_map),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(registration_doc,
             "An object of OpenGL that is registered with CUDA.\n"
             "\n"
             "It is the base class of RegisteredBuffer and RegisteredImage.\n"
             "\nSee Also\n--------\n"
             "RegisteredBuffer : A buffer of OpenGL.\n"
             "RegisteredImage : An image of OpenGL.");

static PyType_Slot registration_slots[] = {
    {Py_tp_doc, (void *)registration_doc}, {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, pcu_opengl_getset},
    {Py_tp_methods, registration_methods}, {0, NULL},
};

static PyType_Spec registration_spec = {
    "pycuda._driver.RegisteredObject", sizeof(pcu_opengl_registration), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    registration_slots};

/* The types with a constructor differ in name, text and __init__ only. */
#define REGISTRATION_TYPE(prefix, type_name)                             \
    static PyType_Slot prefix##_slots[] = {                              \
        {Py_tp_doc, (void *)prefix##_doc},                               \
        {Py_tp_new, pcu_resource_blank_new},                             \
        {Py_tp_init, prefix##_init},                                     \
        {Py_tp_traverse, pcu_resource_traverse},                         \
        {Py_tp_clear, pcu_resource_clear},                               \
        {Py_tp_dealloc, pcu_resource_dealloc},                           \
        {0, NULL},                                                       \
    };                                                                   \
    static PyType_Spec prefix##_spec = {                                 \
        "pycuda._driver." type_name, sizeof(pcu_opengl_registration), 0, \
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, prefix##_slots}

REGISTRATION_TYPE(registered_buffer, "RegisteredBuffer");
REGISTRATION_TYPE(registered_image, "RegisteredImage");

int
pcu_opengl_registration_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->RegisteredObject, &registration_spec, NULL) < 0 ||
        pcu_add_type(m, &st->RegisteredBuffer, &registered_buffer_spec,
                     (PyObject *)st->RegisteredObject) < 0) {
        return -1;
    }
    return pcu_add_type(m, &st->RegisteredImage, &registered_image_spec,
                        (PyObject *)st->RegisteredObject);
}
