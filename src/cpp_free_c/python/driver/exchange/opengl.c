/* OpenGL's buffers and images as memory of the device.
 *
 * Registering makes an object of OpenGL known to CUDA; between map and unmap CUDA may
 * use it and OpenGL may not. A mapping holds its registration, and the arrays that it
 * gave out hold the mapping, so that nothing is unmapped or unregistered under somebody
 * who uses it; what is done by hand is refused, or makes those arrays unusable. All of
 * it must run in the thread where OpenGL's context is current, the release too. */
#include "python/support/base.h"

#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/context_stack.h"
#include "python/driver/device.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/stream.h"

typedef struct {
    pcu_resource base; /* handle.graphics */
    GLuint name;
    int mapped; /* by a mapping that is alive */
} gl_object;

typedef struct {
    pcu_resource base; /* never live: to unmap takes more than a handle */
    gl_object *object; /* strong */
    PyObject *stream;  /* strong: what the map was given, or the current Stream */
    CUstream handle;   /* of that, which keeps it */
    PyObject *arrays;  /* strong: list of weak references to what array() gave out */
    int mapped;
} gl_mapping;

/* BufferObject and, with `parent`, BufferObjectMapping: named by the GL name. */
typedef struct {
    pcu_resource base; /* handle.gl_buffer or handle.gl_mapping */
    PyObject *parent;  /* strong: the BufferObject of a mapping */
    CUdeviceptr pointer;
    size_t size;
} gl_old;

static int
gl_deprecated(const char *what, const char *instead)
{
    return PyErr_WarnFormat(PyExc_DeprecationWarning, 1,
                            "%s belongs to an interface that CUDA 3 replaced; %s", what,
                            instead);
}

/* Flags of either enumeration, or an int. */
static int
gl_as_flags(pcu_state *st, PyObject *value, void *out, const char *name)
{
    PyObject *type =
        PyObject_TypeCheck(value, (PyTypeObject *)st->enum_graphics_register_flags)
            ? st->enum_graphics_register_flags
            : st->enum_graphics_map_flags;
    return pcu_enum_value(type, value, out, name);
}

/* -- registrations ----------------------------------------------------------------- */

static void
object_adopt(gl_object *self, PyObject *ctx, CUgraphicsResource resource, GLuint name)
{
    pcu_handle handle = {.graphics = resource};
    self->name = name;
    pcu_resource_adopt(&self->base, ctx, PCU_HANDLE_graphics, handle);
}

static int
object_check_unmapped(gl_object *self, const char *routine)
{
    return !self->mapped
               ? 0
               : pcu_raise_detail(self->base.st, routine, CUDA_ERROR_ALREADY_MAPPED,
                                  "it is mapped; unmap it first");
}

typedef struct {
    unsigned int name;
    unsigned int target;
    unsigned int flags;
} object_args;

static int
buffer_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"bufobj", pcu_as_uint, offsetof(object_args, name)},
        {"flags", gl_as_flags, offsetof(object_args, flags)},
    };
    static const pcu_argtable table = {"RegisteredBuffer", specs, 2, 1, 0};
    gl_object *self = (gl_object *)op;
    pcu_state *st = self->base.st;
    object_args a = {0};
    CUgraphicsResource handle = NULL;
    int rc;
    if (pcu_args_parse_tuple(st, &table, args, kwargs, &a) < 0 ||
        object_check_unmapped(self, "cuGraphicsGLRegisterBuffer") < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuGraphicsGLRegisterBuffer");
    if (ctx == NULL) {
        return -1;
    }
    PCU_CALL(rc, st, GraphicsGLRegisterBuffer, (&handle, a.name, a.flags));
    if (rc == 0) {
        object_adopt(self, ctx, handle, a.name);
    }
    Py_DECREF(ctx);
    return rc;
}

static int
image_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {
        {"bufobj", pcu_as_uint, offsetof(object_args, name)},
        {"target", pcu_as_uint, offsetof(object_args, target)},
        {"flags", gl_as_flags, offsetof(object_args, flags)},
    };
    static const pcu_argtable table = {"RegisteredImage", specs, 3, 2, 0};
    gl_object *self = (gl_object *)op;
    pcu_state *st = self->base.st;
    object_args a = {0};
    CUgraphicsResource handle = NULL;
    int rc;
    if (pcu_args_parse_tuple(st, &table, args, kwargs, &a) < 0 ||
        object_check_unmapped(self, "cuGraphicsGLRegisterImage") < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuGraphicsGLRegisterImage");
    if (ctx == NULL) {
        return -1;
    }
    PCU_CALL(rc, st, GraphicsGLRegisterImage, (&handle, a.name, a.target, a.flags));
    if (rc == 0) {
        object_adopt(self, ctx, handle, a.name);
    }
    Py_DECREF(ctx);
    return rc;
}

PyDoc_STRVAR(object_gl_handle_doc,
             "gl_handle($self, /)\n--\n\nThe name that OpenGL has for it, an int.");

static PyObject *
object_gl_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLong(((gl_object *)op)->name);
}

PyDoc_STRVAR(object_unregister_doc,
             "unregister($self, /)\n--\n\n"
             "Give the object back to OpenGL alone. LogicError the second time, and\n"
             "while it is mapped.");

static PyObject *
object_unregister(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    gl_object *self = (gl_object *)op;
    if (object_check_unmapped(self, "cuGraphicsUnregisterResource") < 0 ||
        pcu_resource_free(&self->base) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Map in the registration's context. The mapping, which is made before, undoes it. */
static CUresult
object_map_run(gl_object *self, CUstream stream, const char **routine, int *mapped)
{
    CUgraphicsResource handle = self->base.handle.graphics;
    pcu_scope scope;
    *routine = "cuCtxPushCurrent";
    CUresult status = pcu_scope_enter(&scope, pcu_context_rec(self->base.ctx));
    if (status == CUDA_SUCCESS) {
        *routine = "cuGraphicsMapResources";
        PCU_STATUS(status, GraphicsMapResources, (1, &handle, stream));
        *mapped = status == CUDA_SUCCESS;
        CUresult left = pcu_scope_leave(&scope);
        if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    return status;
}

PyDoc_STRVAR(object_map_doc,
             "map($self, /, stream=None)\n--\n\n"
             "Let CUDA use the object until it is unmapped: a RegisteredMapping.\n\n"
             "Work of the stream that comes later sees what OpenGL did before.");

static PyObject *
object_map(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"stream", pcu_as_object, 0}};
    static const pcu_argtable table = {"map", specs, 1, 0, 0};
    gl_object *self = (gl_object *)op;
    pcu_state *st = self->base.st;
    PyObject *stream = Py_None;
    CUstream handle = NULL;
    const char *routine = "";
    int mapped = 0;
    CUresult status;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &stream) < 0 ||
        pcu_context_ready(st) < 0) {
        return NULL;
    }
    if (stream == Py_None) { /* the unmapping may come when another one is current */
        PyObject *current = (PyObject *)pcu_stream_find_borrow();
        stream = current == NULL ? Py_None : current;
    }
    if (pcu_as_stream(st, stream, &handle, "stream") < 0 ||
        pcu_resource_check(&self->base, "cuGraphicsMapResources") < 0 ||
        object_check_unmapped(self, "cuGraphicsMapResources") < 0) {
        return NULL;
    }
    Py_INCREF(stream); /* making the mapping may collect garbage */
    gl_mapping *mapping =
        (gl_mapping *)st->RegisteredMapping->tp_alloc(st->RegisteredMapping, 0);
    if (mapping == NULL) {
        Py_DECREF(stream);
        return NULL;
    }
    mapping->base.st = st;
    mapping->base.ctx = Py_NewRef(self->base.ctx);
    mapping->object = (gl_object *)Py_NewRef(op);
    mapping->stream = stream;
    mapping->handle = handle;
    self->mapped = 1; /* nobody else maps or unregisters it meanwhile */
    status = object_map_run(self, handle, &routine, &mapped);
    mapping->mapped = self->mapped = mapped;
    if (status != CUDA_SUCCESS) {
        Py_DECREF(mapping);
        pcu_raise(st, routine, status);
        return NULL;
    }
    return (PyObject *)mapping;
}

static PyMethodDef object_methods[] = {
    {"gl_handle", object_gl_handle, METH_NOARGS, object_gl_handle_doc},
    {"unregister", object_unregister, METH_NOARGS, object_unregister_doc},
    {"map", (PyCFunction)(void (*)(void))object_map, METH_FASTCALL | METH_KEYWORDS,
     object_map_doc},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef gl_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(object_doc, "An object of OpenGL that CUDA knows: base of the two below.");

static PyType_Slot object_slots[] = {
    {Py_tp_doc, (void *)object_doc},       {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, gl_getset},
    {Py_tp_methods, object_methods},       {0, NULL},
};

static PyType_Spec object_spec = {
    "pycuda._driver.RegisteredObject", sizeof(gl_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    object_slots};

PyDoc_STRVAR(
    buffer_doc,
    "RegisteredBuffer(bufobj, flags=0)\n--\n\n"
    "A buffer object of OpenGL, by its name, made known to the current context.\n\n"
    "flags: or-ed graphics_register_flags or graphics_map_flags.");

static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, (void *)buffer_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, buffer_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pcu_resource_dealloc},
    {0, NULL},
};

static PyType_Spec buffer_spec = {
    "pycuda._driver.RegisteredBuffer", sizeof(gl_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, buffer_slots};

PyDoc_STRVAR(
    image_doc,
    "RegisteredImage(bufobj, target, flags=0)\n--\n\n"
    "A texture or renderbuffer of OpenGL, made known to the current context.\n\n"
    "bufobj: its name. target: what it is, such as GL_TEXTURE_2D (0x0DE1). flags:\n"
    "or-ed graphics_register_flags or graphics_map_flags.");

static PyType_Slot image_slots[] = {
    {Py_tp_doc, (void *)image_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, image_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pcu_resource_dealloc},
    {0, NULL},
};

static PyType_Spec image_spec = {
    "pycuda._driver.RegisteredImage", sizeof(gl_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, image_slots};

/* -- mappings ---------------------------------------------------------------------- */

static int
mapping_check(gl_mapping *self, const char *routine)
{
    if (!self->mapped) {
        return pcu_raise_detail(self->base.st, routine, CUDA_ERROR_NOT_MAPPED,
                                "this mapping was unmapped before");
    }
    return pcu_resource_check(&self->object->base, routine);
}

/* Make the arrays that were given out unusable. */
static int
mapping_free_arrays(gl_mapping *self)
{
    PyObject *arrays = self->arrays;
    int rc = 0;
    self->arrays = NULL;
    for (Py_ssize_t i = 0; arrays != NULL && i < PyList_GET_SIZE(arrays); i++) {
        PyObject *array = PyObject_CallNoArgs(PyList_GET_ITEM(arrays, i));
        PyObject *freed = array == NULL || array == Py_None
                              ? Py_XNewRef(array)
                              : PyObject_CallMethod(array, "free", NULL);
        rc = freed == NULL ? -1 : rc;
        Py_XDECREF(array);
        Py_XDECREF(freed);
    }
    Py_XDECREF(arrays);
    return rc;
}

/* Unmap once, whoever asks. *ended says whether it is unmapped. */
static CUresult
mapping_end(gl_mapping *self, CUstream stream, const char **routine, int *ended)
{
    gl_object *object = self->object;
    self->mapped = 0;
    object->mapped = 0;
    return pcu_release_mapping(object->base.handle.graphics, stream, object->base.ctx,
                               routine, ended);
}

PyDoc_STRVAR(
    mapping_unmap_doc,
    "unmap($self, /, stream=...)\n--\n\n"
    "Give the object back to OpenGL, after the work of the stream (by default\n"
    "that of the map). Its pointer and its arrays are not to be used any more.");

static PyObject *
mapping_unmap(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {{"stream", pcu_as_object, 0}};
    static const pcu_argtable table = {"unmap", specs, 1, 0, 0};
    gl_mapping *self = (gl_mapping *)op;
    pcu_state *st = self->base.st;
    PyObject *stream = Py_Ellipsis;
    CUstream handle = self->handle;
    const char *routine = "";
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &stream) < 0) {
        return NULL;
    }
    if (stream == Py_Ellipsis && PyObject_TypeCheck(self->stream, st->Stream)) {
        stream = self->stream; /* which may have been released */
    }
    if ((stream != Py_Ellipsis && pcu_as_stream(st, stream, &handle, "stream") < 0) ||
        mapping_check(self, "cuGraphicsUnmapResources") < 0 ||
        mapping_free_arrays(self) < 0 ||
        mapping_check(self, "cuGraphicsUnmapResources") < 0) {
        return NULL;
    }
    int ended;
    CUresult status = mapping_end(self, handle, &routine, &ended);
    if (status != CUDA_SUCCESS) {
        self->mapped = self->object->mapped = !ended; /* as before, if it still is */
        pcu_raise(st, routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mapping_device_ptr_and_size_doc,
             "device_ptr_and_size($self, /)\n--\n\n"
             "Address and size in bytes of a mapped buffer, a tuple of ints.");

static PyObject *
mapping_device_ptr_and_size(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    gl_mapping *self = (gl_mapping *)op;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    int rc;
    if (mapping_check(self, "cuGraphicsResourceGetMappedPointer") < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->base.st, GraphicsResourceGetMappedPointer,
             (&pointer, &size, self->object->base.handle.graphics));
    return rc < 0 ? NULL : Py_BuildValue("(Kn)", pointer, (Py_ssize_t)size);
}

/* Remember an array, to make it unusable once it is unmapped. */
static int
mapping_remember(gl_mapping *self, PyObject *array)
{
    PyObject *reference = PyWeakref_NewRef(array, NULL);
    if (reference != NULL && self->arrays == NULL) {
        self->arrays = PyList_New(0);
    }
    int rc = reference == NULL || self->arrays == NULL
                 ? -1
                 : PyList_Append(self->arrays, reference);
    Py_XDECREF(reference);
    return rc;
}

typedef struct {
    unsigned int index;
    unsigned int level;
} mapping_array_args;

PyDoc_STRVAR(
    mapping_array_doc,
    "array($self, /, index, level)\n--\n\n"
    "The Array of a mapped image: a layer or cube face, and a mipmap level.\n\n"
    "It can be used until the mapping ends, which it keeps alive.");

static PyObject *
mapping_array(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"index", pcu_as_uint, offsetof(mapping_array_args, index)},
        {"level", pcu_as_uint, offsetof(mapping_array_args, level)},
    };
    static const pcu_argtable table = {"array", specs, 2, 2, 0};
    gl_mapping *self = (gl_mapping *)op;
    pcu_state *st = self->base.st;
    mapping_array_args a = {0};
    CUarray handle = NULL;
    int rc;
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0 ||
        mapping_check(self, "cuGraphicsSubResourceGetMappedArray") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, GraphicsSubResourceGetMappedArray,
             (&handle, self->object->base.handle.graphics, a.index, a.level));
    PyObject *array =
        rc < 0 ? NULL : pcu_texture_array_wrap_new(st, self->base.ctx, handle, op);
    if (array != NULL && mapping_remember(self, array) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static int
mapping_traverse(PyObject *op, visitproc visit, void *arg)
{
    gl_mapping *self = (gl_mapping *)op;
    Py_VISIT((PyObject *)self->object);
    Py_VISIT(self->stream);
    Py_VISIT(self->arrays);
    return pcu_resource_traverse(op, visit, arg);
}

static void
mapping_dealloc(PyObject *op)
{
    gl_mapping *self = (gl_mapping *)op;
    PyObject *object = (PyObject *)self->object;
    PyObject *stream = self->stream;
    PyObject_GC_UnTrack(op);
    if (self->mapped) { /* no array is left: each holds its mapping */
        const char *routine = "";
        int ended;
        CUresult status = mapping_end(self, self->handle, &routine, &ended);
        if (status != CUDA_SUCCESS) {
            pcu_report_cleanup(self->base.st, routine,
                               (uintptr_t)self->object->base.handle.graphics, status);
        }
    }
    Py_CLEAR(self->arrays);
    pcu_resource_dealloc(op);
    Py_XDECREF(stream);
    Py_XDECREF(object);
}

static PyMethodDef mapping_methods[] = {
    {"unmap", (PyCFunction)(void (*)(void))mapping_unmap, METH_FASTCALL | METH_KEYWORDS,
     mapping_unmap_doc},
    {"device_ptr_and_size", mapping_device_ptr_and_size, METH_NOARGS,
     mapping_device_ptr_and_size_doc},
    {"array", (PyCFunction)(void (*)(void))mapping_array, METH_FASTCALL | METH_KEYWORDS,
     mapping_array_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(mapping_doc,
             "The time in which CUDA may use an object of OpenGL; made by map().\n\n"
             "It ends with unmap(), or with the object.");

static PyType_Slot mapping_slots[] = {
    {Py_tp_doc, (void *)mapping_doc},      {Py_tp_traverse, mapping_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, mapping_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, gl_getset},
    {Py_tp_methods, mapping_methods},      {0, NULL},
};

static PyType_Spec mapping_spec = {
    "pycuda._driver.RegisteredMapping", sizeof(gl_mapping), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    mapping_slots};

/* -- the interface before CUDA 3 --------------------------------------------------- */

static int
old_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argspec specs[] = {{"bufobj", pcu_as_uint, 0}};
    static const pcu_argtable table = {"BufferObject", specs, 1, 1, 0};
    pcu_resource *self = (pcu_resource *)op;
    pcu_state *st = self->st;
    pcu_handle handle = {0};
    int rc;
    if (pcu_args_parse_tuple(st, &table, args, kwargs, &handle.gl_buffer) < 0 ||
        gl_deprecated("BufferObject", "use RegisteredBuffer") < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuGLRegisterBufferObject");
    if (ctx == NULL) {
        return -1;
    }
    PCU_CALL(rc, st, GLRegisterBufferObject, (handle.gl_buffer));
    if (rc == 0) {
        pcu_resource_adopt(self, ctx, PCU_HANDLE_gl_buffer, handle);
    }
    Py_DECREF(ctx);
    return rc;
}

PyDoc_STRVAR(old_handle_doc,
             "handle($self, /)\n--\n\nThe name that OpenGL has for it, an int.");

static PyObject *
old_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLong(((pcu_resource *)op)->handle.gl_buffer);
}

PyDoc_STRVAR(old_unregister_doc,
             "unregister($self, /)\n--\n\n"
             "Give the buffer back to OpenGL alone. LogicError the second time.");

static PyObject *
old_unregister(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return pcu_resource_free((pcu_resource *)op) < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(old_map_doc,
             "map($self, /)\n--\n\n"
             "Let CUDA use the buffer until it is unmapped: a BufferObjectMapping.");

static PyObject *
old_map(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    pcu_state *st = self->st;
    pcu_handle handle = {0};
    CUdeviceptr pointer = 0;
    size_t size = 0;
    int rc;
    if (gl_deprecated("BufferObjectMapping", "use RegisteredBuffer.map()") < 0 ||
        pcu_resource_check(self, "cuGLMapBufferObject") < 0) {
        return NULL;
    }
    handle.gl_mapping = self->handle.gl_buffer;
    PCU_CALL(rc, st, GLMapBufferObject, (&pointer, &size, handle.gl_mapping));
    if (rc < 0) {
        return NULL;
    }
    gl_old *mapping = (gl_old *)pcu_resource_new(st, st->BufferObjectMapping, self->ctx,
                                                 PCU_HANDLE_gl_mapping, handle);
    if (mapping != NULL) {
        mapping->parent = Py_NewRef(op);
        mapping->pointer = pointer;
        mapping->size = size;
    }
    return (PyObject *)mapping;
}

static int
old_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((gl_old *)op)->parent);
    return pcu_resource_traverse(op, visit, arg);
}

static void
old_dealloc(PyObject *op)
{
    PyObject *parent = ((gl_old *)op)->parent;
    PyObject_GC_UnTrack(op);
    pcu_resource_dealloc(op); /* unmaps, while the buffer is registered */
    Py_XDECREF(parent);
}

PyDoc_STRVAR(old_unmap_doc,
             "unmap($self, /)\n--\n\n"
             "Give the buffer back to OpenGL. LogicError the second time.");

static PyObject *
old_unmap(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return pcu_resource_free((pcu_resource *)op) < 0 ? NULL : Py_NewRef(Py_None);
}

PyDoc_STRVAR(old_device_ptr_doc,
             "device_ptr($self, /)\n--\n\nThe address of the buffer, an int.");

static PyObject *
old_device_ptr(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLongLong(((gl_old *)op)->pointer);
}

PyDoc_STRVAR(old_size_doc, "size($self, /)\n--\n\nThe bytes of the buffer, an int.");

static PyObject *
old_size(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromSize_t(((gl_old *)op)->size);
}

static PyMethodDef old_methods[] = {
    {"handle", old_handle, METH_NOARGS, old_handle_doc},
    {"unregister", old_unregister, METH_NOARGS, old_unregister_doc},
    {"map", old_map, METH_NOARGS, old_map_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef old_mapping_methods[] = {
    {"unmap", old_unmap, METH_NOARGS, old_unmap_doc},
    {"device_ptr", old_device_ptr, METH_NOARGS, old_device_ptr_doc},
    {"size", old_size, METH_NOARGS, old_size_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(old_doc,
             "BufferObject(bufobj)\n--\n\n"
             "A buffer of OpenGL in the interface before CUDA 3. Deprecated: use\n"
             "RegisteredBuffer.");

static PyType_Slot old_slots[] = {
    {Py_tp_doc, (void *)old_doc},
    {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, old_init},
    {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},
    {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members},
    {Py_tp_getset, gl_getset},
    {Py_tp_methods, old_methods},
    {0, NULL},
};

static PyType_Spec old_spec = {
    "pycuda._driver.BufferObject", sizeof(gl_old), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, old_slots};

PyDoc_STRVAR(
    old_mapping_doc,
    "The time in which CUDA may use a BufferObject; made by map(). Deprecated.");

static PyType_Slot old_mapping_slots[] = {
    {Py_tp_doc, (void *)old_mapping_doc},  {Py_tp_traverse, old_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, old_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, gl_getset},
    {Py_tp_methods, old_mapping_methods},  {0, NULL},
};

static PyType_Spec old_mapping_spec = {
    "pycuda._driver.BufferObjectMapping", sizeof(gl_old), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    old_mapping_slots};

/* -- the module's functions -------------------------------------------------------- */

PyDoc_STRVAR(gl_init_doc,
             "gl_init($module, /)\n--\n\n"
             "Prepare the current context for OpenGL, which no driver of today needs.\n"
             "Deprecated.");

static PyObject *
gl_init(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    int rc = 0;
    if (gl_deprecated("gl_init", "it does nothing now") < 0) {
        return NULL;
    }
    CUresult status;
    PCU_STATUS(status, GLInit, ());
    if (status != CUDA_SUCCESS && pcu_drv_missing_since("cuGLInit") == 0) {
        rc = pcu_raise(st, "cuGLInit", status);
    }
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

typedef struct {
    PyObject *device;
    unsigned int flags;
} gl_context_args;

PyDoc_STRVAR(
    make_gl_context_doc,
    "make_gl_context($module, /, dev, flags=0)\n--\n\n"
    "Make a context on the device and push it, where OpenGL's context is current.\n\n"
    "Today any context can share with OpenGL. flags: or-ed ctx_flags.");

static PyObject *
make_gl_context(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"dev", pcu_as_object, offsetof(gl_context_args, device)},
        {"flags", pcu_as_uint, offsetof(gl_context_args, flags)},
    };
    static const pcu_argtable table = {"make_gl_context", specs, 2, 1, 0};
    pcu_state *st = pcu_state_of_module(m);
    gl_context_args a = {0};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a.device, st->Device)) {
        PyErr_Format(PyExc_TypeError, "dev must be a Device, not %s",
                     Py_TYPE(a.device)->tp_name);
        return NULL;
    }
    return pcu_context_make_gl(st, pcu_device_handle(a.device), a.flags);
}

PyDoc_STRVAR(have_gl_ext_doc,
             "have_gl_ext($module, /)\n--\n\n"
             "True: this package always has what shares with OpenGL.");

static PyObject *
have_gl_ext(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_TRUE;
}

static PyMethodDef gl_functions[] = {
    {"gl_init", gl_init, METH_NOARGS, gl_init_doc},
    {"make_gl_context", (PyCFunction)(void (*)(void))make_gl_context,
     METH_FASTCALL | METH_KEYWORDS, make_gl_context_doc},
    {"have_gl_ext", have_gl_ext, METH_NOARGS, have_gl_ext_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_gl_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->RegisteredObject, &object_spec, NULL) < 0 ||
        pcu_add_type(m, &st->RegisteredBuffer, &buffer_spec,
                     (PyObject *)st->RegisteredObject) < 0 ||
        pcu_add_type(m, &st->RegisteredImage, &image_spec,
                     (PyObject *)st->RegisteredObject) < 0 ||
        pcu_add_type(m, &st->RegisteredMapping, &mapping_spec, NULL) < 0 ||
        pcu_add_type(m, &st->BufferObject, &old_spec, NULL) < 0 ||
        pcu_add_type(m, &st->BufferObjectMapping, &old_mapping_spec, NULL) < 0) {
        return -1;
    }
    return PyModule_AddFunctions(m, gl_functions);
}
