/* RegisteredMapping: the time in which CUDA may use an object of OpenGL. See opengl.h
 * for the rules. */
#include "python/driver/exchange/opengl.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* -- docstrings -------------------------------------------------------------------- */

#define MAPPING_DOC_UNMAPPED \
    "LogicError\n"           \
    "    If the mapping has ended, or if the object is of another kind.\n"

typedef struct {
    pcu_resource base; /* never live: unmapping needs more than a handle */
    pcu_opengl_registration *object; /* strong */
    PyObject *stream; /* strong: the argument of map(), or the current Stream */
    CUstream handle;  /* of that stream */
    PyObject *arrays; /* strong: list of weak references to the arrays of array() */
    bool mapped;
} opengl_mapping;

/* -- mapping ----------------------------------------------------------------------- */

/* Map in the registration's context. The mapping, which exists already, undoes it. */
static CUresult
mapping_begin(pcu_opengl_registration *self, CUstream stream, const char **routine,
              bool *mapped)
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

PyObject *
pcu_opengl_map_new(pcu_opengl_registration *self, PyObject *stream, CUstream handle)
{
    pcu_state *st = self->base.st;
    const char *routine = "";
    bool mapped = false;
    Py_INCREF(stream); /* making the mapping may collect garbage */
    opengl_mapping *mapping =
        (opengl_mapping *)st->RegisteredMapping->tp_alloc(st->RegisteredMapping, 0);
    if (mapping == NULL) {
        Py_DECREF(stream);
        return NULL;
    }
    mapping->base.st = st;
    mapping->base.ctx = Py_NewRef(self->base.ctx);
    mapping->object = (pcu_opengl_registration *)Py_NewRef((PyObject *)self);
    mapping->stream = stream;
    mapping->handle = handle;
    self->mapped = true; /* refuse other calls of map() and unregister() meanwhile */
    CUresult status = mapping_begin(self, handle, &routine, &mapped);
    mapping->mapped = mapped;
    self->mapped = mapped;
    if (status != CUDA_SUCCESS) {
        Py_DECREF(mapping);
        pcu_raise(st, routine, status);
        return NULL;
    }
    return (PyObject *)mapping;
}

/* -- methods ----------------------------------------------------------------------- */

static int
mapping_check(opengl_mapping *self, const char *routine)
{
    if (!self->mapped) {
        return pcu_raise_detail(self->base.st, routine, CUDA_ERROR_NOT_MAPPED,
                                "this mapping was unmapped before");
    }
    return pcu_resource_check(&self->object->base, routine);
}

/* Free one array by its weak reference, if it is alive. */
static int
mapping_free_array(PyObject *reference)
{
    PyObject *array = PyObject_CallNoArgs(reference);
    if (array == NULL) {
        return -1;
    }
    int rc = 0;
    if (array != Py_None) {
        PyObject *freed = PyObject_CallMethod(array, "free", NULL);
        if (freed == NULL) {
            rc = -1;
        }
        Py_XDECREF(freed);
    }
    Py_DECREF(array);
    return rc;
}

/* Free the arrays that array() returned. */
static int
mapping_free_arrays(opengl_mapping *self)
{
    PyObject *arrays = self->arrays;
    int rc = 0;
    self->arrays = NULL;
    for (Py_ssize_t i = 0; arrays != NULL && i < PyList_GET_SIZE(arrays); i++) {
        if (mapping_free_array(PyList_GET_ITEM(arrays, i)) < 0) {
            rc = -1;
        }
    }
    Py_XDECREF(arrays);
    return rc;
}

/* Unmap. *ended says whether the object is unmapped now. */
static CUresult
mapping_end(opengl_mapping *self, CUstream stream, const char **routine, bool *ended)
{
    pcu_opengl_registration *object = self->object;
    self->mapped = 0;
    object->mapped = 0;
    return pcu_release_mapping(object->base.handle.graphics, stream, object->base.ctx,
                               routine, ended);
}

PCU_SIGNATURE_OF_ONE(
    mapping_unmap, "stream", pcu_as_object,
    "unmap($self, /, stream=...)\n--\n\n"
    "Return the object to OpenGL.\n"
    "\nParameters\n----------\n"
    "stream : Stream or None, optional\n"
    "    Stream behind whose work the object returns. The default is the\n"
    "    stream of ``map()``.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the mapping has ended.\n"
    "\nSee Also\n--------\n"
    "RegisteredObject.map : Begin a mapping.\n"
    "\nNotes\n-----\n"
    "Do not use the address and the arrays of the mapping afterwards.")

static PyObject *
mapping_unmap(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    opengl_mapping *self = (opengl_mapping *)op;
    pcu_state *st = self->base.st;
    PyObject *stream = Py_Ellipsis;
    CUstream handle = self->handle;
    const char *routine = "";
    if (pcu_args_parse(st, &mapping_unmap_signature, args, nargs, kwnames,
                       PCU_ONLY(mapping_unmap, &stream)) < 0) {
        return NULL;
    }
    if (stream == Py_Ellipsis && PyObject_TypeCheck(self->stream, st->Stream)) {
        stream = self->stream; /* pcu_as_stream raises if it was released */
    }
    if ((stream != Py_Ellipsis && pcu_as_stream(st, stream, &handle, "stream") < 0) ||
        mapping_check(self, "cuGraphicsUnmapResources") < 0 ||
        mapping_free_arrays(self) < 0 ||
        mapping_check(self, "cuGraphicsUnmapResources") < 0) {
        return NULL;
    }
    bool ended;
    CUresult status = mapping_end(self, handle, &routine, &ended);
    if (status != CUDA_SUCCESS) {
        self->mapped = !ended;
        self->object->mapped = !ended;
        pcu_raise(st, routine, status);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(mapping_device_ptr_and_size_doc,
             "device_ptr_and_size($self, /)\n--\n\n"
             "Return the address and the size of a mapped buffer.\n"
             "\nReturns\n-------\n" PCU_DOC_ADDRESS PCU_DOC_BYTES
             "\nRaises\n------\n" MAPPING_DOC_UNMAPPED);

static PyObject *
mapping_device_ptr_and_size(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    opengl_mapping *self = (opengl_mapping *)op;
    CUdeviceptr pointer = 0;
    size_t size = 0;
    int rc;
    if (mapping_check(self, "cuGraphicsResourceGetMappedPointer") < 0) {
        return NULL;
    }
    PCU_CALL(rc, self->base.st, GraphicsResourceGetMappedPointer,
             (&pointer, &size, self->object->base.handle.graphics));
    if (rc < 0) {
        return NULL;
    }
    return Py_BuildValue("(Kn)", pointer, (Py_ssize_t)size);
}

/* Keep a weak reference to an array, to free the array before unmapping. */
static int
mapping_remember(opengl_mapping *self, PyObject *array)
{
    PyObject *reference = PyWeakref_NewRef(array, NULL);
    if (reference != NULL && self->arrays == NULL) {
        self->arrays = PyList_New(0);
    }
    int rc = -1;
    if (reference != NULL && self->arrays != NULL) {
        rc = PyList_Append(self->arrays, reference);
    }
    Py_XDECREF(reference);
    return rc;
}

typedef struct {
    unsigned int index;
    unsigned int level;
} mapping_array_args;

static const pcu_word mapping_array_words[] = {
    PCU_WORD("index", pcu_as_uint, mapping_array_args, index),
    PCU_WORD("level", pcu_as_uint, mapping_array_args, level),
};

PCU_SIGNATURE(mapping_array, mapping_array_words,
              "array($self, /, index, level)\n--\n\n"
              "Return an Array of a mapped image.\n"
              "\nParameters\n----------\n"
              "index : int\n"
              "    Layer, or face of a cube map.\n"
              "level : int\n"
              "    Level of the mipmap; 0 is the largest.\n"
              "\nReturns\n-------\n"
              "Array\n"
              "    The image, which keeps the mapping.\n"
              "\nRaises\n------\n" MAPPING_DOC_UNMAPPED
              "\nNotes\n-----\n"
              "It can be used until ``unmap()``.")

static PyObject *
mapping_array(PyObject *op, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    opengl_mapping *self = (opengl_mapping *)op;
    pcu_state *st = self->base.st;
    mapping_array_args a = {0};
    CUarray handle = NULL;
    int rc;
    if (pcu_args_parse(st, &mapping_array_signature, args, nargs, kwnames, &a) < 0 ||
        mapping_check(self, "cuGraphicsSubResourceGetMappedArray") < 0) {
        return NULL;
    }
    PCU_CALL(rc, st, GraphicsSubResourceGetMappedArray,
             (&handle, self->object->base.handle.graphics, a.index, a.level));
    PyObject *array = NULL;
    if (rc >= 0) {
        array = pcu_texture_array_wrap_new(st, self->base.ctx, handle, op);
    }
    if (array != NULL && mapping_remember(self, array) < 0) {
        Py_CLEAR(array);
    }
    return array;
}

static int
mapping_traverse(PyObject *op, visitproc visit, void *arg)
{
    opengl_mapping *self = (opengl_mapping *)op;
    Py_VISIT((PyObject *)self->object);
    Py_VISIT(self->stream);
    Py_VISIT(self->arrays);
    return pcu_resource_traverse(op, visit, arg);
}

static void
mapping_dealloc(PyObject *op)
{
    opengl_mapping *self = (opengl_mapping *)op;
    PyObject *object = (PyObject *)self->object;
    PyObject *stream = self->stream;
    PyObject_GC_UnTrack(op);
    if (self->mapped) { /* no array is left: each array holds its mapping */
        const char *routine = "";
        bool ended;
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
    PCU_METHOD("unmap", mapping_unmap),
    {"device_ptr_and_size", mapping_device_ptr_and_size, METH_NOARGS,
     mapping_device_ptr_and_size_doc},
    PCU_METHOD("array", mapping_array),
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(mapping_doc,
             "The time in which CUDA may use an object of OpenGL.\n"
             "\n"
             "``RegisteredObject.map()`` makes it. It ends with ``unmap()``, or when\n"
             "the object is deleted.\n"
             "\nSee Also\n--------\n"
             "RegisteredBuffer : A buffer of OpenGL.\n"
             "RegisteredImage : An image of OpenGL.");

static PyType_Slot mapping_slots[] = {
    {Py_tp_doc, (void *)mapping_doc},      {Py_tp_traverse, mapping_traverse},
    {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, mapping_dealloc},
    {Py_tp_members, pcu_resource_members}, {Py_tp_getset, pcu_opengl_getset},
    {Py_tp_methods, mapping_methods},      {0, NULL},
};

static PyType_Spec mapping_spec = {
    "pycuda._driver.RegisteredMapping", sizeof(opengl_mapping), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    mapping_slots};

int
pcu_opengl_mapping_setup(PyObject *m, pcu_state *st)
{
    return pcu_add_type(m, &st->RegisteredMapping, &mapping_spec, NULL);
}
