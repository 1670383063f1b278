/* TextureObject and SurfaceObject: kernel arguments of eight bytes, through which a
 * kernel reads or writes an image. See texture_object.h.
 *
 * The driver destroys such an object at once, even while a kernel uses it. So the
 * release of an object that was passed to a launch waits for the context first, as the
 * release of device memory does. While a stream is captured, nothing may wait: the
 * driver's object is then deferred. It stays in the module's state until another object
 * is made or released. */
#include "python/driver/texture/texture_object.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/current_context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/resource.h"
#include "python/driver/stream.h"

/* -- making ------------------------------------------------------------------------ */

/* Raise for an object that cannot be made, and name its reference. Steals `why`. */
static int
texture_raise(pcu_state *st, const pcu_texture_spec *spec, CUresult status,
              PyObject *why)
{
    int rc = -1;
    if (why != NULL && spec->name != NULL) {
        rc = pcu_raise_detail(st, "cuTexObjectCreate", status,
                              "texture reference '%s': %U", spec->name, why);
    }
    else if (why != NULL) {
        rc = pcu_raise_detail(st, "cuTexObjectCreate", status, "%U", why);
    }
    Py_XDECREF(why);
    return rc;
}

/* Refuse combinations that the hardware does not support. */
static int
texture_check(pcu_state *st, const pcu_texture_spec *spec)
{
    bool integers = pcu_array_format_is_integer(spec->format) &&
                    ((spec->texture.flags & CU_TRSF_READ_AS_INTEGER) != 0 ||
                     pcu_array_format_size(spec->format) == 4);
    if (integers && spec->texture.filterMode == CU_TR_FILTER_MODE_LINEAR) {
        return texture_raise(
            st, spec, CUDA_ERROR_INVALID_VALUE,
            PyUnicode_FromString(
                "elements that are read as integers cannot be filtered; use "
                "filter_mode.POINT, or let 8- and 16-bit elements be read as floats"));
    }
    return 0;
}

static pcu_texture *
texture_wrap(pcu_state *st, PyTypeObject *type, PyObject *ctx, pcu_handle_kind kind,
             pcu_handle handle, PyObject *source)
{
    pcu_texture *self = (pcu_texture *)pcu_resource_new(st, type, ctx, kind, handle);
    if (self != NULL) {
        self->source = Py_NewRef(source);
    }
    return self;
}

/* A hint for memory that is bound by its address: nothing keeps it alive. */
static const char *
texture_memory_hint(const pcu_texture_spec *spec)
{
    if (spec->resource.resType == CU_RESOURCE_TYPE_ARRAY ||
        spec->resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        return "";
    }
    return "; is the memory still allocated, and large enough?";
}

static int
texture_create(pcu_state *st, const pcu_texture_spec *spec, CUtexObject *handle)
{
    if (texture_check(st, spec) < 0) {
        return -1;
    }
    CUresult status;
    PCU_STATUS(status, TexObjectCreate,
               (handle, &spec->resource, &spec->texture, NULL));
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    PyObject *format = pcu_enum_member_new(st->enum_array_format, (long)spec->format);
    PyObject *why = NULL;
    if (format != NULL) {
        why = PyUnicode_FromFormat(
            "elements of %u x %S, address modes (%u, %u, %u), "
            "filter mode %u, flags %u%s",
            spec->channels, format, spec->texture.addressMode[0],
            spec->texture.addressMode[1], spec->texture.addressMode[2],
            spec->texture.filterMode, spec->texture.flags, texture_memory_hint(spec));
    }
    Py_XDECREF(format);
    return texture_raise(st, spec, status, why);
}

PyObject *
pcu_texture_new(pcu_state *st, PyObject *ctx, const pcu_texture_spec *spec,
                PyObject *source)
{
    pcu_handle handle = {0};
    if (texture_create(st, spec, &handle.texture_object) < 0) {
        return NULL;
    }
    return (PyObject *)texture_wrap(st, st->TextureObject, ctx,
                                    PCU_HANDLE_texture_object, handle, source);
}

static int
surface_create(pcu_state *st, PyObject *array, CUsurfObject *handle)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    if (pcu_texture_array_describe(st, array, &d) < 0 ||
        pcu_texture_array_handle(array, "array", &resource.res.array.hArray) < 0) {
        return -1;
    }
    if (!(d.Flags & CUDA_ARRAY3D_SURFACE_LDST)) {
        return pcu_raise_detail(
            st, "cuSurfObjectCreate", CUDA_ERROR_INVALID_VALUE,
            "the array was made without "
            "array3d_flags.SURFACE_LDST, so kernels cannot write it");
    }
    CUresult status;
    PCU_STATUS(status, SurfObjectCreate, (handle, &resource));
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(st, "cuSurfObjectCreate", status);
}

PyObject *
pcu_surface_new(pcu_state *st, PyObject *ctx, PyObject *array)
{
    pcu_handle handle = {0};
    if (surface_create(st, array, &handle.surface_object) < 0) {
        return NULL;
    }
    return (PyObject *)texture_wrap(st, st->SurfaceObject, ctx,
                                    PCU_HANDLE_surface_object, handle, array);
}

int
pcu_texture_argument(pcu_state *st, PyObject *value, CUdeviceptr *handle)
{
    pcu_texture *self = (pcu_texture *)value;
    if (PyObject_TypeCheck(value, st->TextureObject)) {
        *handle = self->base.handle.texture_object;
    }
    else if (PyObject_TypeCheck(value, st->SurfaceObject)) {
        *handle = self->base.handle.surface_object;
    }
    else {
        return 0;
    }
    self->used = true;
    if (pcu_resource_check(&self->base, "cuLaunchKernel") < 0) {
        return -1;
    }
    const pcu_context_record *rec = pcu_context_rec(self->base.ctx);
    if (pcu_ctx_current != NULL && pcu_ctx_current->handle != rec->handle) {
        return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT,
                                "this %s belongs to another context (device %d) than "
                                "the current one",
                                Py_TYPE(value)->tp_name, (int)rec->device);
    }
    return 1;
}

/* -- waiting for kernels ----------------------------------------------------------- */

uint64_t
pcu_texture_source_word(pcu_state *st, PyObject *value)
{
    if (!PyObject_TypeCheck(value, st->TextureObject) &&
        !PyObject_TypeCheck(value, st->SurfaceObject)) {
        return 0;
    }
    PyObject *source = ((pcu_texture *)value)->source;
    if (source == NULL) {
        return 0;
    }
    uint64_t word = pcu_texture_array_word(st, source);
    if (word == 0 && (PyObject_TypeCheck(source, st->MipmappedArray) ||
                      PyObject_TypeCheck(source, st->DeviceAllocation))) {
        memcpy(&word, &((pcu_resource *)source)->handle, sizeof(word));
    }
    return word;
}

/* Whether a kernel may be using the object. */
static bool
texture_is_read(const pcu_texture *self)
{
    return self->used && self->base.live &&
           pcu_context_record_usable(pcu_context_rec(self->base.ctx));
}

/* Whether a stream of the object's context is being captured. The default stream
 * answers for every stream that it is ordered with. Of the other streams only the
 * current one is asked. */
static bool
texture_is_captured(const pcu_texture *self)
{
    pcu_capture state;
    pcu_scope scope;
    if (pcu_is_captured(pcu_stream_peek())) {
        return true;
    }
    if (pcu_scope_enter(&scope, pcu_context_rec(self->base.ctx)) != CUDA_SUCCESS) {
        return false;
    }
    (void)pcu_capture_ask(NULL, &state); /* an error shows up in the next call, */
    (void)pcu_scope_leave(&scope);       /* and here too */
    return state == PCU_CAPTURE_BLOCKS;
}

/* Move the driver's object to a new Python object, which waits in the module's state.
 * Without memory for that, the driver's object is released without waiting. */
static void
texture_defer(pcu_texture *self)
{
    pcu_state *st = self->base.st;
    PyTypeObject *type = st->TextureObject;
    if (self->base.kind == PCU_HANDLE_surface_object) {
        type = st->SurfaceObject;
    }
    pcu_saved_error pending;
    self->used = false;
    if (type == NULL) {
        return; /* the module is being cleared */
    }
    pcu_error_save(&pending);
    if (st->deferred_textures == NULL) {
        st->deferred_textures = PyList_New(0);
    }
    pcu_texture *deferred = NULL;
    if (st->deferred_textures != NULL) {
        deferred = (pcu_texture *)type->tp_alloc(type, 0);
    }
    if (deferred != NULL) {
        deferred->base.st = st;
        if (PyList_Append(st->deferred_textures, (PyObject *)deferred) == 0) {
            deferred->base.ctx = Py_NewRef(self->base.ctx);
            deferred->base.handle = self->base.handle;
            deferred->base.kind = self->base.kind;
            deferred->source = Py_XNewRef(self->source);
            deferred->used = true;
            deferred->base.live = true;
            self->base.live = false;
        }
        Py_DECREF(deferred);
    }
    pcu_error_restore(&pending);
}

/* Release the deferred objects. An object that must wait is deferred again. */
static void
texture_end_deferred(pcu_state *st)
{
    PyObject *deferred = st->deferred_textures;
    st->deferred_textures = NULL;
    Py_XDECREF(deferred);
}

/* Wait until no kernel uses the object any more. */
static void
texture_settle(pcu_texture *self)
{
    const char *routine;
    if (!texture_is_read(self)) {
        return;
    }
    if (texture_is_captured(self)) {
        texture_defer(self);
        return;
    }
    self->used = false;
    /* After an error no kernel runs in the context. */
    (void)pcu_context_wait(pcu_context_rec(self->base.ctx), &routine);
}

/* -- __init__ ---------------------------------------------------------------------- */

/* The end of both __init__: adopt the handle and the new source. Cannot fail. */
static void
texture_adopt(pcu_texture *self, PyObject *ctx, pcu_handle_kind kind, pcu_handle handle,
              PyObject *source)
{
    texture_settle(self); /* other threads may run meanwhile */
    texture_end_deferred(self->base.st);
    PyObject *old = self->source;
    self->source = Py_NewRef(source);
    pcu_resource_adopt(&self->base, ctx, kind, handle);
    Py_XDECREF(old);
}

PCU_SIGNATURE(
    texture, pcu_texture_words,
    "TextureObject(source, descriptor=None, pitch=0, address_mode=address_mode.CLAMP,\n"
    "filter_mode=filter_mode.POINT, normalized_coords=False, read_as_float=False,\n"
    "srgb=False, border_color=None, max_anisotropy=0, seamless_cubemap=False,\n"
    "mipmap_filter_mode=filter_mode.POINT, mipmap_level_bias=0, min_mipmap_level=0,\n"
    "max_mipmap_level=1000)\n"
    "--\n\n"
    "Let a kernel read an image, as an argument of type ``cudaTextureObject_t``.\n"
    "\nParameters\n----------\n"
    "source : Array, MipmappedArray, DeviceAllocation, GPUArray or int\n"
    "    Image, or device memory, which the object holds.\n"
    "descriptor : ArrayDescriptor, ArrayDescriptor3D or None, optional\n"
    "    Elements, width and height of device memory, and only of that. A\n"
    "    height of 0 or 1 without a pitch is one row, which kernels read\n"
    "    with ``tex1Dfetch``.\n"
    "pitch : int, optional\n"
    "    Bytes from row to row of device memory. The default 0 is no gaps.\n"
    "address_mode : address_mode or sequence of address_mode, optional\n"
    "    Reads outside the image: one mode, or one for each dimension. The\n"
    "    default is CLAMP.\n"
    "filter_mode : filter_mode, optional\n"
    "    POINT reads the nearest element, LINEAR interpolates. The default\n"
    "    is POINT.\n"
    "normalized_coords : bool, optional\n"
    "    If true, coordinates go from 0 to 1, else they count elements.\n"
    "read_as_float : bool, optional\n"
    "    If true, integers of 8 and 16 bits are read as numbers in [0, 1]\n"
    "    or [-1, 1].\n"
    "srgb : bool, optional\n"
    "    If true, elements of 8 bits are converted from sRGB.\n"
    "border_color : sequence of float or None, optional\n"
    "    Up to 4 channels of what BORDER reads. The default is zeros.\n"
    "max_anisotropy : int, optional\n"
    "    Most samples of anisotropic filtering. The default 0 is none.\n"
    "seamless_cubemap : bool, optional\n"
    "    If true, filtering goes on across the edges of a cube map.\n"
    "mipmap_filter_mode : filter_mode, optional\n"
    "    As ``filter_mode``, between the levels of a MipmappedArray.\n"
    "mipmap_level_bias : float, optional\n"
    "    Number that is added to the level.\n"
    "min_mipmap_level : float, optional\n"
    "    Least level that is read.\n"
    "max_mipmap_level : float, optional\n"
    "    Most level that is read.\n"
    "\nRaises\n------\n"
    "TypeError\n"
    "    If device memory has no descriptor, or another source has one.\n"
    "ValueError\n"
    "    If a MipmappedArray is read without ``normalized_coords``.\n"
    "LogicError\n"
    "    If the driver refuses the combination, such as LINEAR with\n"
    "    integers.\n"
    "\nSee Also\n--------\n"
    "SurfaceObject : Let a kernel write an image.\n"
    "matrix_to_array : Make an Array.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> module = SourceModule('''\n"
    "... __global__ void row(cudaTextureObject_t image, float *out) {\n"
    "...     out[threadIdx.x] = tex2D<float>(image, threadIdx.x, 1);\n"
    "... }''')\n"
    ">>> a = np.arange(6, dtype=np.float32).reshape(2, 3)\n"
    ">>> image = drv.TextureObject(drv.matrix_to_array(a, \"C\"))\n"
    ">>> out = np.empty(3, dtype=np.float32)\n"
    ">>> module.get_function(\"row\")(image, drv.Out(out), block=(3, 1, 1))\n"
    ">>> out\n"
    "array([3., 4., 5.], dtype=float32)")

static int
texture_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_texture *self = (pcu_texture *)op;
    pcu_state *st = self->base.st;
    pcu_texture_spec spec;
    PyObject *source = NULL;
    pcu_handle handle = {0};
    if (pcu_texture_describe(st, &texture_signature, args, kwargs, &spec, &source) <
        0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuTexObjectCreate");
    int rc = -1;
    if (ctx != NULL) {
        rc = texture_create(st, &spec, &handle.texture_object);
    }
    if (rc == 0) {
        texture_adopt(self, ctx, PCU_HANDLE_texture_object, handle, source);
    }
    Py_XDECREF(ctx);
    return rc;
}

PCU_SIGNATURE_OF_ONE(
    surface, "array", pcu_as_texture_array,
    "SurfaceObject(array)\n--\n\n"
    "Let a kernel read and write an Array, as a ``cudaSurfaceObject_t``.\n"
    "\nParameters\n----------\n"
    "array : Array\n"
    "    Array made with ``array3d_flags.SURFACE_LDST``. The object holds\n"
    "    it.\n"
    "\nRaises\n------\n"
    "LogicError\n"
    "    If the array was made without that flag.\n"
    "\nSee Also\n--------\n"
    "TextureObject : Let a kernel read an image.\n"
    "np_to_array : Make an Array.\n"
    "\nExamples\n--------\n"
    ">>> image = drv.np_to_array(np.zeros((2, 3), np.float32), \"C\", True)\n"
    ">>> surface = drv.SurfaceObject(image)\n"
    ">>> surface.source is image\n"
    "True")

static int
surface_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_texture *self = (pcu_texture *)op;
    pcu_state *st = self->base.st;
    PyObject *array = NULL;
    pcu_handle handle = {0};
    if (pcu_args_parse_tuple(st, &surface_signature, args, kwargs,
                             PCU_ONLY(surface, &array)) < 0) {
        return -1;
    }
    PyObject *ctx = pcu_context_require(st, "cuSurfObjectCreate");
    int rc = -1;
    if (ctx != NULL) {
        rc = surface_create(st, array, &handle.surface_object);
    }
    if (rc == 0) {
        texture_adopt(self, ctx, PCU_HANDLE_surface_object, handle, array);
    }
    Py_XDECREF(ctx);
    return rc;
}

/* -- release ----------------------------------------------------------------------- */

PyDoc_STRVAR(texture_free_doc,
             "free($self, /)\n--\n\n"
             "Release the object.\n"
             "\nRaises\n------\n" PCU_DOC_RELEASED
             "\nNotes\n-----\n"
             "The call waits for the kernels that use the object. While a stream is\n"
             "captured it cannot wait, and raises a LogicError.");

static PyObject *
texture_free(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texture *self = (pcu_texture *)op;
    if (texture_is_read(self) && texture_is_captured(self)) {
        pcu_raise_detail(
            self->base.st, pcu_handle_release_routine(self->base.kind),
            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            "this %s was passed to kernels, and free() cannot wait for them "
            "while a stream is being captured",
            Py_TYPE(op)->tp_name);
        return NULL;
    }
    texture_settle(self);
    if (pcu_resource_free((pcu_resource *)op) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static int
texture_traverse(PyObject *op, visitproc visit, void *arg)
{
    Py_VISIT(((pcu_texture *)op)->source);
    return pcu_resource_traverse(op, visit, arg);
}

/* Release the source after the object that reads it. */
static void
texture_dealloc(PyObject *op)
{
    pcu_texture *self = (pcu_texture *)op;
    PyObject *source = self->source;
    pcu_state *st = self->base.st;
    PyObject_GC_UnTrack(op);
    bool waits = texture_is_read(self);
    texture_settle(self);
    bool waited = waits && self->base.live;
    pcu_resource_dealloc(op);
    Py_XDECREF(source);
    if (waited) {
        texture_end_deferred(st);
    }
}

/* -- types ------------------------------------------------------------------------- */

static PyObject *
texture_get_handle(PyObject *op, void *Py_UNUSED(closure))
{
    pcu_resource *self = (pcu_resource *)op;
    if (self->kind == PCU_HANDLE_surface_object) {
        return PyLong_FromUnsignedLongLong(self->handle.surface_object);
    }
    return PyLong_FromUnsignedLongLong(self->handle.texture_object);
}

static PyObject *
texture_get_source(PyObject *op, void *Py_UNUSED(closure))
{
    PyObject *source = ((pcu_texture *)op)->source;
    if (source == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(source);
}

static PyGetSetDef texture_getset[] = {
    {"handle", texture_get_handle, NULL,
     "The CUtexObject or CUsurfObject as an int, the value that kernels receive.",
     NULL},
    {"source", texture_get_source, NULL,
     "The Array or device memory, which the object holds.", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef texture_methods[] = {
    {"free", texture_free, METH_NOARGS, texture_free_doc},
    {NULL, NULL, 0, NULL},
};

#define TEXTURE_TYPE(prefix, type_name)                                             \
    static PyType_Slot prefix##_slots[] = {                                         \
        {Py_tp_doc, (void *)prefix##_doc},     {Py_tp_new, pcu_resource_blank_new}, \
        {Py_tp_init, prefix##_init},           {Py_tp_traverse, texture_traverse},  \
        {Py_tp_clear, pcu_resource_clear},     {Py_tp_dealloc, texture_dealloc},    \
        {Py_tp_members, pcu_resource_members}, {Py_tp_getset, texture_getset},      \
        {Py_tp_methods, texture_methods},      {0, NULL},                           \
    };                                                                              \
    static PyType_Spec prefix##_spec = {                                            \
        "pycuda._driver." type_name, sizeof(pcu_texture), 0,                        \
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, prefix##_slots}
TEXTURE_TYPE(texture, "TextureObject");
TEXTURE_TYPE(surface, "SurfaceObject");

int
pcu_texture_object_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->TextureObject, &texture_spec, NULL) < 0) {
        return -1;
    }
    return pcu_add_type(m, &st->SurfaceObject, &surface_spec, NULL);
}
