/* BufferObject and BufferObjectMapping: the interface to OpenGL before CUDA 3. Both
 * types give a DeprecationWarning. */
#include "python/driver/exchange/opengl.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/resource.h"

/* A BufferObjectMapping. A BufferObject uses only the first member. */
typedef struct {
    pcu_resource base; /* handle.gl_buffer or handle.gl_mapping */
    PyObject *parent;  /* strong: the BufferObject of a mapping */
    CUdeviceptr pointer;
    size_t size;
} buffer_mapping;

PCU_SIGNATURE_OF_ONE(buffer_object, "bufobj", pcu_as_uint,
                     "BufferObject(bufobj)\n--\n\n"
                     "Register a buffer of OpenGL, in the interface before CUDA 3.\n"
                     "\n"
                     "Deprecated: use RegisteredBuffer.\n"
                     "\nParameters\n----------\n"
                     "bufobj : int\n"
                     "    Name of the buffer in OpenGL.\n"
                     "\nRaises\n------\n"
                     "LogicError\n"
                     "    If there is no such buffer.\n"
                     "\nWarns\n-----\n" PCU_OPENGL_DOC_DEPRECATED
                     "\nSee Also\n--------\n"
                     "RegisteredBuffer : The present interface.")

static int
buffer_object_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_resource *self = (pcu_resource *)op;
    pcu_state *st = self->st;
    pcu_handle handle = {0};
    int rc;
    if (pcu_args_parse_tuple(st, &buffer_object_signature, args, kwargs,
                             PCU_ONLY(buffer_object, &handle.gl_buffer)) < 0 ||
        pcu_opengl_warn_deprecated("BufferObject", "use RegisteredBuffer") < 0) {
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

PyDoc_STRVAR(buffer_object_handle_doc,
             "handle($self, /)\n--\n\n"
             "Return the name of the buffer in OpenGL.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    The name.");

static PyObject *
buffer_object_handle(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLong(((pcu_resource *)op)->handle.gl_buffer);
}

PyDoc_STRVAR(buffer_object_unregister_doc,
             "unregister($self, /)\n--\n\n"
             "End the registration.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED);

/* unregister() of a BufferObject, and unmap() of its mapping. */
static PyObject *
buffer_object_release(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    if (pcu_resource_free((pcu_resource *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(buffer_object_map_doc,
             "map($self, /)\n--\n\n"
             "Let CUDA use the buffer.\n"
             "\nReturns\n-------\n"
             "BufferObjectMapping\n"
             "    The mapping, which ends with ``unmap()``.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nWarns\n-----\n" PCU_OPENGL_DOC_DEPRECATED);

static PyObject *
buffer_object_map(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_resource *self = (pcu_resource *)op;
    pcu_state *st = self->st;
    pcu_handle handle = {0};
    CUdeviceptr pointer = 0;
    size_t size = 0;
    int rc;
    if (pcu_opengl_warn_deprecated("BufferObjectMapping",
                                   "use RegisteredBuffer.map()") < 0 ||
        pcu_resource_check(self, "cuGLMapBufferObject") < 0) {
        return NULL;
    }
    handle.gl_mapping = self->handle.gl_buffer;
    PCU_CALL(rc, st, GLMapBufferObject, (&pointer, &size, handle.gl_mapping));
    if (rc < 0) {
        return NULL;
    }
    buffer_mapping *mapping = (buffer_mapping *)pcu_resource_new(
        st, st->BufferObjectMapping, self->ctx, PCU_HANDLE_gl_mapping, handle);
    if (mapping != NULL) {
        mapping->parent = Py_NewRef(op);
        mapping->pointer = pointer;
        mapping->size = size;
    }
    return (PyObject *)mapping;
}

static int
buffer_mapping_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((buffer_mapping *)op)->parent);
    return pcu_resource_traverse(op, visit, arg);
}

static void
buffer_mapping_dealloc(PyObject *op)
{
    PyObject *parent = ((buffer_mapping *)op)->parent;
    PyObject_GC_UnTrack(op);
    pcu_resource_dealloc(op); /* unmaps, while the buffer is registered */
    Py_XDECREF(parent);
}

PyDoc_STRVAR(buffer_mapping_unmap_doc,
             "unmap($self, /)\n--\n\n"
             "Return the buffer to OpenGL.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED);

PyDoc_STRVAR(buffer_mapping_device_ptr_doc,
             "device_ptr($self, /)\n--\n\n"
             "Return the address of the buffer.\n"
             "\nReturns\n-------\n" PCU_DOC_ADDRESS);

static PyObject *
buffer_mapping_device_ptr(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromUnsignedLongLong(((buffer_mapping *)op)->pointer);
}

PyDoc_STRVAR(buffer_mapping_size_doc,
             "size($self, /)\n--\n\n"
             "Return the size of the buffer.\n"
             "\nReturns\n-------\n" PCU_DOC_BYTES);

static PyObject *
buffer_mapping_size(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromSize_t(((buffer_mapping *)op)->size);
}

static PyMethodDef buffer_object_methods[] = {
    {"handle", buffer_object_handle, METH_NOARGS, buffer_object_handle_doc},
    {"unregister", buffer_object_release, METH_NOARGS, buffer_object_unregister_doc},
    {"map", buffer_object_map, METH_NOARGS, buffer_object_map_doc},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef buffer_mapping_methods[] = {
    {"unmap", buffer_object_release, METH_NOARGS, buffer_mapping_unmap_doc},
    {"device_ptr", buffer_mapping_device_ptr, METH_NOARGS,
     buffer_mapping_device_ptr_doc},
    {"size", buffer_mapping_size, METH_NOARGS, buffer_mapping_size_doc},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot buffer_object_slots[] = {
    {Py_tp_doc, (void *)buffer_object_doc}, {Py_tp_new, pcu_resource_blank_new},
    {Py_tp_init, buffer_object_init},       {Py_tp_traverse, pcu_resource_traverse},
    {Py_tp_clear, pcu_resource_clear},      {Py_tp_dealloc, pcu_resource_dealloc},
    {Py_tp_members, pcu_resource_members},  {Py_tp_getset, pcu_opengl_getset},
    {Py_tp_methods, buffer_object_methods}, {0, NULL},
};

static PyType_Spec buffer_object_spec = {
    "pycuda._driver.BufferObject", sizeof(buffer_mapping), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, buffer_object_slots};

PyDoc_STRVAR(buffer_mapping_doc,
             "The time in which CUDA may use a BufferObject.\n"
             "\n"
             "``BufferObject.map()`` makes it. Deprecated: use RegisteredBuffer.\n"
             "\nSee Also\n--------\n"
             "RegisteredMapping : The present interface.");

static PyType_Slot buffer_mapping_slots[] = {
    {Py_tp_doc, (void *)buffer_mapping_doc}, {Py_tp_traverse, buffer_mapping_traverse},
    {Py_tp_clear, pcu_resource_clear},       {Py_tp_dealloc, buffer_mapping_dealloc},
    {Py_tp_members, pcu_resource_members},   {Py_tp_getset, pcu_opengl_getset},
    {Py_tp_methods, buffer_mapping_methods}, {0, NULL},
};

static PyType_Spec buffer_mapping_spec = {
    "pycuda._driver.BufferObjectMapping", sizeof(buffer_mapping), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    buffer_mapping_slots};

int
pcu_opengl_buffer_object_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->BufferObject, &buffer_object_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_type(m, &st->BufferObjectMapping, &buffer_mapping_spec, NULL);
}
