/* TextureReference and SurfaceReference: what programs written for CUDA before 12 bind
 * images with. See texref.h for what is behind them and refs.c for how a launch sees
 * it.
 *
 * A setter changes the state; for a reference of the driver it also tells the driver.
 * Getters ask the driver there. */
#include "python/driver/texture/reference.h"

#include "python/support/convert.h"
#include "python/support/driver_call.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/memory/pointer.h"
#include "python/driver/memory/texture_array.h"

typedef struct {
    PyObject_HEAD
    pcu_state *st;
    PyObject *module; /* strong: it holds the reference; NULL if that is FREE */
    PyObject *dict;
    PyObject *weakrefs;
    pcu_ref *ref; /* owned only if module is NULL */
} pcu_texref;

/* -- common ------------------------------------------------------------------------ */

/* 0 if the driver may be asked about the reference's module. */
static int
texref_check(pcu_texref *self, const char *routine)
{
    return self->module == NULL
               ? 0
               : pcu_resource_check((pcu_resource *)self->module, routine);
}

/* Call the driver for one of its own references, in its module's context. */
#define TEXREF_CALL(rc, self, name, args)                       \
    do {                                                        \
        (rc) = texref_check((self), "cu" #name);                \
        if ((rc) == 0 && (self)->ref->kind == PCU_REF_DRIVER) { \
            PCU_CALL(rc, (self)->st, name, args);               \
        }                                                       \
    } while (0)

static void
texref_touch(pcu_texref *self)
{
    if (self->module != NULL) {
        pcu_ref_touch(self->module, self->ref);
    }
}

/* Say that nothing is bound, or nothing of that sort. */
static int
texref_not_bound(pcu_texref *self, const char *routine, const char *what)
{
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_VALUE,
                            "the %s reference '%s' is bound to no %s",
                            self->ref->is_surface ? "surface" : "texture",
                            self->ref->name, what);
}

/* Bind an array, which the reference then holds. */
static void
texref_bind_array(pcu_texref *self, PyObject *array)
{
    self->ref->bound = PCU_BOUND_ARRAY;
    texref_touch(self);
    Py_XSETREF(self->ref->array, Py_NewRef(array));
}

/* Bind memory, which nobody holds. */
static void
texref_bind_memory(pcu_texref *self, pcu_ref_bound bound)
{
    self->ref->bound = bound;
    texref_touch(self);
    Py_CLEAR(self->ref->array);
}

static PyObject *
texref_array_new(pcu_texref *self, const char *routine, CUarray handle)
{
    if (self->ref->array != NULL) {
        return Py_NewRef(self->ref->array);
    }
    if (self->module == NULL || handle == NULL) {
        texref_not_bound(self, routine, "array");
        return NULL;
    }
    return pcu_texture_array_wrap_new(self->st, ((pcu_resource *)self->module)->ctx,
                                      handle, self->module);
}

/* Refuse an array that the module's kernels cannot read. */
static int
texref_check_context(pcu_texref *self, const char *routine, PyObject *array)
{
    const pcu_ctxrec *theirs = pcu_context_rec(((pcu_resource *)array)->ctx);
    const pcu_ctxrec *ours = self->module == NULL
                                 ? theirs
                                 : pcu_context_rec(((pcu_resource *)self->module)->ctx);
    return theirs->handle == ours->handle
               ? 0
               : pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_CONTEXT,
                                  "the array belongs to another context (device %d) "
                                  "than the %s reference '%s' (device %d)",
                                  (int)theirs->device,
                                  self->ref->is_surface ? "surface" : "texture",
                                  self->ref->name, (int)ours->device);
}

/* -- TextureReference: binding ----------------------------------------------------- */

PyDoc_STRVAR(texref_set_array_doc,
             "set_array($self, array, /)\n--\n\n"
             "Read an Array from the next launch on. The reference holds the array.\n\n"
             "The format becomes the array's.");

static PyObject *
texref_set_array(PyObject *op, PyObject *array)
{
    pcu_texref *self = (pcu_texref *)op;
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUarray handle = NULL;
    int rc;
    if (pcu_as_texture_array(self->st, array, &array, "array") < 0 ||
        pcu_texture_array_handle(array, "array", &handle) < 0 ||
        texref_check_context(self, "cuTexRefSetArray", array) < 0 ||
        pcu_texture_array_describe(self->st, array, &d) < 0) {
        return NULL;
    }
    TEXREF_CALL(rc, self, TexRefSetArray,
                (self->ref->texref, handle, CU_TRSA_OVERRIDE_FORMAT));
    if (rc < 0) {
        return NULL;
    }
    self->ref->format = d.Format;
    self->ref->channels = (int)d.NumChannels;
    texref_bind_array(self, array);
    Py_RETURN_NONE;
}

typedef struct {
    CUdeviceptr pointer;
    size_t bytes;
    int allow_offset;
} texref_address_args;

/* How far an address is past what textures can start at. */
static int
texref_misalignment(pcu_texref *self, CUdeviceptr pointer, size_t *offset)
{
    int alignment = 0;
    int rc;
    *offset = 0;
    if (self->module == NULL) {
        return 0;
    }
    CUdevice device = pcu_context_rec(((pcu_resource *)self->module)->ctx)->device;
    PCU_CALL(rc, self->st, DeviceGetAttribute,
             (&alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device));
    if (rc == 0 && alignment > 0) {
        *offset = (size_t)(pointer % (CUdeviceptr)alignment);
    }
    return rc;
}

static int
texref_bind_linear(pcu_texref *self, const texref_address_args *a, size_t *offset)
{
    size_t bytes = 0;
    int rc;
    if (self->ref->kind == PCU_REF_DRIVER) {
        TEXREF_CALL(rc, self, TexRefSetAddress,
                    (offset, self->ref->texref, a->pointer, a->bytes));
    }
    else {
        rc = texref_check(self, "cuTexRefSetAddress") < 0
                 ? -1
                 : texref_misalignment(self, a->pointer, offset);
    }
    if (rc < 0) {
        return -1;
    }
    if (a->bytes == 0) {
        return pcu_raise_detail(self->st, "cuTexRefSetAddress",
                                CUDA_ERROR_INVALID_VALUE, "0 bytes were given");
    }
    if (*offset != 0 && !a->allow_offset) {
        return pcu_raise_detail(
            self->st, "cuTexRefSetAddress", CUDA_ERROR_INVALID_VALUE,
            "the address is %zu bytes past what the device can start a texture at; "
            "with allow_offset=True the offset is returned, for the kernel to add",
            *offset);
    }
    if (pcu_add_size(a->bytes, *offset, &bytes) < 0) {
        return pcu_raise_detail(self->st, "cuTexRefSetAddress",
                                CUDA_ERROR_INVALID_VALUE, "%zu bytes were given",
                                a->bytes);
    }
    self->ref->address = a->pointer - *offset;
    self->ref->bytes = bytes;
    texref_bind_memory(self, PCU_BOUND_LINEAR);
    return 0;
}

PyDoc_STRVAR(
    texref_set_address_doc,
    "set_address($self, /, devptr, bytes, allow_offset=False)\n--\n\n"
    "Read linear memory, with tex1Dfetch, from the next launch on.\n\n"
    "Returns the offset in bytes of devptr from where the texture starts, which is\n"
    "0 unless allow_offset is true. Set the format before. Nothing holds the memory.");

static PyObject *
texref_set_address(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"devptr", pcu_as_pointer, offsetof(texref_address_args, pointer)},
        {"bytes", pcu_as_size, offsetof(texref_address_args, bytes)},
        {"allow_offset", pcu_as_bool, offsetof(texref_address_args, allow_offset)},
    };
    static const pcu_argtable table = {"set_address", specs, 3, 2, 0};
    pcu_texref *self = (pcu_texref *)op;
    texref_address_args a = {0};
    size_t offset = 0;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        texref_bind_linear(self, &a, &offset) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(offset);
}

typedef struct {
    CUdeviceptr pointer;
    const CUDA_ARRAY3D_DESCRIPTOR *descriptor;
    size_t pitch;
} texref_pitched_args;

PyDoc_STRVAR(
    texref_set_address_2d_doc,
    "set_address_2d($self, /, devptr, descr, pitch)\n--\n\n"
    "Read rows of memory that are pitch bytes apart, with tex2D.\n\n"
    "descr: an ArrayDescriptor of the elements, width and height. Nothing holds the\n"
    "memory.");

static PyObject *
texref_set_address_2d(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"devptr", pcu_as_pointer, offsetof(texref_pitched_args, pointer)},
        {"descr", pcu_as_array_descriptor, offsetof(texref_pitched_args, descriptor)},
        {"pitch", pcu_as_size, offsetof(texref_pitched_args, pitch)},
    };
    static const pcu_argtable table = {"set_address_2d", specs, 3, 3, 0};
    pcu_texref *self = (pcu_texref *)op;
    texref_pitched_args a = {0};
    int rc;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    const CUDA_ARRAY_DESCRIPTOR d = {a.descriptor->Width, a.descriptor->Height,
                                     a.descriptor->Format, a.descriptor->NumChannels};
    TEXREF_CALL(rc, self, TexRefSetAddress2D,
                (self->ref->texref, &d, a.pointer, a.pitch));
    if (rc < 0) {
        return NULL;
    }
    self->ref->address = a.pointer;
    self->ref->width = d.Width;
    self->ref->height = d.Height;
    self->ref->pitch = a.pitch;
    self->ref->format = d.Format;
    self->ref->channels = (int)d.NumChannels;
    texref_bind_memory(self, PCU_BOUND_PITCHED);
    Py_RETURN_NONE;
}

/* -- TextureReference: how it is read ---------------------------------------------- */

typedef struct {
    CUarray_format format;
    int channels;
} texref_format_args;

PyDoc_STRVAR(texref_set_format_doc,
             "set_format($self, /, format, num_components)\n--\n\n"
             "The array_format and the number of channels of elements in memory.");

static PyObject *
texref_set_format(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"format", pcu_as_array_format, offsetof(texref_format_args, format)},
        {"num_components", pcu_as_int, offsetof(texref_format_args, channels)},
    };
    static const pcu_argtable table = {"set_format", specs, 2, 2, 0};
    pcu_texref *self = (pcu_texref *)op;
    texref_format_args a = {0};
    int rc;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    if (pcu_array_format_size(a.format) == 0 ||
        (a.channels != 1 && a.channels != 2 && a.channels != 4)) {
        pcu_raise_detail(
            self->st, "cuTexRefSetFormat", CUDA_ERROR_INVALID_VALUE,
            "format %u with %d components; it takes an array_format and 1, "
            "2 or 4",
            a.format, a.channels);
        return NULL;
    }
    TEXREF_CALL(rc, self, TexRefSetFormat, (self->ref->texref, a.format, a.channels));
    if (rc < 0) {
        return NULL;
    }
    self->ref->format = a.format;
    self->ref->channels = a.channels;
    texref_touch(self);
    Py_RETURN_NONE;
}

/* One of the three dimensions. */
static int
texref_as_dim(pcu_state *st, PyObject *value, void *out, const char *name)
{
    int dim = 0;
    if (pcu_as_int(st, value, &dim, name) < 0) {
        return -1;
    }
    if (dim < 0 || dim > 2) {
        return pcu_raise_detail(st, "cuTexRefSetAddressMode", CUDA_ERROR_INVALID_VALUE,
                                "%s is %d; it must be 0, 1 or 2", name, dim);
    }
    *(int *)out = dim;
    return 0;
}

typedef struct {
    int dim;
    PyObject *mode;
} texref_mode_args;

PyDoc_STRVAR(texref_set_address_mode_doc,
             "set_address_mode($self, /, dim, am)\n--\n\n"
             "What a read outside the image gives along a dimension (0, 1 or 2).");

static PyObject *
texref_set_address_mode(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"dim", texref_as_dim, offsetof(texref_mode_args, dim)},
        {"am", pcu_as_object, offsetof(texref_mode_args, mode)},
    };
    static const pcu_argtable table = {"set_address_mode", specs, 2, 2, 0};
    pcu_texref *self = (pcu_texref *)op;
    texref_mode_args a = {0};
    unsigned int mode = 0;
    int rc;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_enum_value(self->st->enum_address_mode, a.mode, &mode, "am") < 0) {
        return NULL;
    }
    if (mode > CU_TR_ADDRESS_MODE_BORDER) {
        pcu_raise_detail(self->st, "cuTexRefSetAddressMode", CUDA_ERROR_INVALID_VALUE,
                         "am is %u; it must be an address_mode", mode);
        return NULL;
    }
    TEXREF_CALL(rc, self, TexRefSetAddressMode, (self->ref->texref, a.dim, mode));
    if (rc < 0) {
        return NULL;
    }
    self->ref->modes[a.dim] = mode;
    texref_touch(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(texref_set_filter_mode_doc,
             "set_filter_mode($self, fm, /)\n--\n\n"
             "Read the nearest element (POINT) or between elements (LINEAR).");

static PyObject *
texref_set_filter_mode(PyObject *op, PyObject *value)
{
    pcu_texref *self = (pcu_texref *)op;
    unsigned int filter = 0;
    int rc;
    if (pcu_enum_value(self->st->enum_filter_mode, value, &filter, "fm") < 0) {
        return NULL;
    }
    if (filter > CU_TR_FILTER_MODE_LINEAR) {
        pcu_raise_detail(self->st, "cuTexRefSetFilterMode", CUDA_ERROR_INVALID_VALUE,
                         "fm is %u; it must be a filter_mode", filter);
        return NULL;
    }
    TEXREF_CALL(rc, self, TexRefSetFilterMode, (self->ref->texref, filter));
    if (rc < 0) {
        return NULL;
    }
    self->ref->filter = filter;
    texref_touch(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(texref_set_flags_doc,
             "set_flags($self, flags, /)\n--\n\n"
             "Or-ed TRSF_READ_AS_INTEGER, TRSF_NORMALIZED_COORDINATES.\n\n"
             "A texture<> declared with integers is read as its declaration says.");

static PyObject *
texref_set_flags(PyObject *op, PyObject *value)
{
    pcu_texref *self = (pcu_texref *)op;
    unsigned int flags = 0;
    int rc;
    if (pcu_as_uint(self->st, value, &flags, "flags") < 0) {
        return NULL;
    }
    TEXREF_CALL(rc, self, TexRefSetFlags, (self->ref->texref, flags));
    if (rc < 0) {
        return NULL;
    }
    self->ref->flags = flags;
    texref_touch(self);
    Py_RETURN_NONE;
}

/* -- TextureReference: getters ----------------------------------------------------- */

PyDoc_STRVAR(texref_get_address_doc,
             "get_address($self, /)\n--\n\n"
             "Where the bound memory starts, an int. LogicError if none is bound.");

static PyObject *
texref_get_address(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texref *self = (pcu_texref *)op;
    CUdeviceptr pointer = self->ref->address;
    int rc;
    TEXREF_CALL(rc, self, TexRefGetAddress, (&pointer, self->ref->texref));
    if (rc == 0 && self->ref->kind != PCU_REF_DRIVER &&
        self->ref->bound != PCU_BOUND_LINEAR && self->ref->bound != PCU_BOUND_PITCHED) {
        rc = texref_not_bound(self, "cuTexRefGetAddress", "memory");
    }
    return rc < 0 ? NULL : PyLong_FromUnsignedLongLong(pointer);
}

PyDoc_STRVAR(texref_get_array_doc,
             "get_array($self, /)\n--\n\n"
             "The Array that is bound. LogicError if none is.");

static PyObject *
texref_get_array(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texref *self = (pcu_texref *)op;
    CUarray handle = NULL;
    int rc;
    TEXREF_CALL(rc, self, TexRefGetArray, (&handle, self->ref->texref));
    return rc < 0 ? NULL : texref_array_new(self, "cuTexRefGetArray", handle);
}

PyDoc_STRVAR(texref_get_address_mode_doc,
             "get_address_mode($self, dim, /)\n--\n\n"
             "The address_mode of a dimension (0, 1 or 2).");

static PyObject *
texref_get_address_mode(PyObject *op, PyObject *value)
{
    pcu_texref *self = (pcu_texref *)op;
    int dim = 0;
    int rc;
    if (texref_as_dim(self->st, value, &dim, "dim") < 0) {
        return NULL;
    }
    CUaddress_mode mode = self->ref->modes[dim];
    TEXREF_CALL(rc, self, TexRefGetAddressMode, (&mode, self->ref->texref, dim));
    return rc < 0 ? NULL : pcu_enum_member_new(self->st->enum_address_mode, (long)mode);
}

PyDoc_STRVAR(texref_get_filter_mode_doc,
             "get_filter_mode($self, /)\n--\n\nThe filter_mode.");

static PyObject *
texref_get_filter_mode(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texref *self = (pcu_texref *)op;
    CUfilter_mode filter = self->ref->filter;
    int rc;
    TEXREF_CALL(rc, self, TexRefGetFilterMode, (&filter, self->ref->texref));
    return rc < 0 ? NULL
                  : pcu_enum_member_new(self->st->enum_filter_mode, (long)filter);
}

PyDoc_STRVAR(texref_get_format_doc,
             "get_format($self, /)\n--\n\n"
             "The format of elements: (array_format, number of channels).");

static PyObject *
texref_get_format(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texref *self = (pcu_texref *)op;
    CUarray_format format = self->ref->format;
    int channels = self->ref->channels;
    int rc;
    TEXREF_CALL(rc, self, TexRefGetFormat, (&format, &channels, self->ref->texref));
    PyObject *member =
        rc < 0 ? NULL : pcu_enum_member_new(self->st->enum_array_format, (long)format);
    return member == NULL ? NULL : Py_BuildValue("(Ni)", member, channels);
}

PyDoc_STRVAR(texref_get_flags_doc,
             "get_flags($self, /)\n--\n\nThe flags that set_flags() set, an int.");

static PyObject *
texref_get_flags(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texref *self = (pcu_texref *)op;
    unsigned int flags = self->ref->flags;
    int rc;
    TEXREF_CALL(rc, self, TexRefGetFlags, (&flags, self->ref->texref));
    return rc < 0 ? NULL : PyLong_FromUnsignedLong(flags);
}

/* -- SurfaceReference -------------------------------------------------------------- */

typedef struct {
    PyObject *array;
    unsigned int flags;
} surfref_array_args;

PyDoc_STRVAR(surfref_set_array_doc,
             "set_array($self, /, array, flags=0)\n--\n\n"
             "Read and write an Array from the next launch on; it is held.\n\n"
             "The array must have been made with array3d_flags.SURFACE_LDST.");

static PyObject *
surfref_set_array(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"array", pcu_as_texture_array, offsetof(surfref_array_args, array)},
        {"flags", pcu_as_uint, offsetof(surfref_array_args, flags)},
    };
    static const pcu_argtable table = {"set_array", specs, 2, 1, 0};
    pcu_texref *self = (pcu_texref *)op;
    surfref_array_args a = {0};
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUarray handle = NULL;
    int rc;
    if (pcu_args_parse(self->st, &table, args, nargs, kwnames, &a) < 0 ||
        pcu_texture_array_handle(a.array, "array", &handle) < 0 ||
        texref_check_context(self, "cuSurfRefSetArray", a.array) < 0 ||
        pcu_texture_array_describe(self->st, a.array, &d) < 0) {
        return NULL;
    }
    if (!(d.Flags & CUDA_ARRAY3D_SURFACE_LDST)) {
        pcu_raise_detail(self->st, "cuSurfRefSetArray", CUDA_ERROR_INVALID_VALUE,
                         "the array was made without array3d_flags.SURFACE_LDST, so "
                         "kernels cannot write it");
        return NULL;
    }
    TEXREF_CALL(rc, self, SurfRefSetArray, (self->ref->surfref, handle, a.flags));
    if (rc < 0) {
        return NULL;
    }
    texref_bind_array(self, a.array);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(surfref_get_array_doc,
             "get_array($self, /)\n--\n\n"
             "The Array that is bound. LogicError if none is.");

static PyObject *
surfref_get_array(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_texref *self = (pcu_texref *)op;
    CUarray handle = NULL;
    int rc;
    TEXREF_CALL(rc, self, SurfRefGetArray, (&handle, self->ref->surfref));
    return rc < 0 ? NULL : texref_array_new(self, "cuSurfRefGetArray", handle);
}

/* -- life -------------------------------------------------------------------------- */

static PyObject *
texref_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    pcu_ref *ref = st == NULL ? NULL : pcu_ref_new_free();
    pcu_texref *self = ref == NULL ? NULL : (pcu_texref *)type->tp_alloc(type, 0);
    if (self == NULL) {
        pcu_ref_free(ref);
        return NULL;
    }
    self->st = st;
    self->ref = ref;
    return (PyObject *)self;
}

static int
texref_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    static const pcu_argtable table = {"TextureReference", NULL, 0, 0, 0};
    pcu_texref *self = (pcu_texref *)op;
    /* a derived type may take arguments of its own */
    return pcu_args_parse_tuple(self->st, &table, args, kwargs, NULL);
}

/* The array of a module's reference is the module's to visit. */
static int
texref_traverse(PyObject *op, visitproc visit, void *arg)
{
    pcu_texref *self = (pcu_texref *)op;
    Py_VISIT(Py_TYPE(op));
    Py_VISIT(self->module);
    Py_VISIT(self->dict);
    if (self->module == NULL && self->ref != NULL) {
        Py_VISIT(self->ref->array);
    }
    return 0;
}

/* The module stays: it holds the reference. */
static int
texref_clear(PyObject *op)
{
    Py_CLEAR(((pcu_texref *)op)->dict);
    return 0;
}

static void
texref_dealloc(PyObject *op)
{
    pcu_texref *self = (pcu_texref *)op;
    PyTypeObject *type = Py_TYPE(op);
    PyObject_GC_UnTrack(op);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs(op);
    }
    texref_clear(op);
    if (self->module == NULL) {
        pcu_ref_free(self->ref);
    }
    Py_CLEAR(self->module);
    type->tp_free(op);
    Py_DECREF(type);
}

static PyObject *
texref_repr(PyObject *op)
{
    pcu_ref *ref = ((pcu_texref *)op)->ref;
    return PyUnicode_FromFormat("<%s '%s'>", Py_TYPE(op)->tp_name, ref->name);
}

/* -- for Module and for launches --------------------------------------------------- */

typedef struct {
    PyObject *name;
} texref_name_args;

static PyObject *
texref_of_module(PyObject *module, const char *function, int is_surface,
                 PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const pcu_argspec specs[] = {
        {"name", pcu_as_object, offsetof(texref_name_args, name)}};
    const pcu_argtable table = {function, specs, 1, 1, 0};
    pcu_state *st = ((pcu_resource *)module)->st;
    texref_name_args a = {0};
    if (pcu_args_parse(st, &table, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    const char *name = pcu_as_name(a.name, "name");
    if (name == NULL || pcu_resource_check((pcu_resource *)module,
                                           is_surface ? "cuModuleGetSurfRef"
                                                      : "cuModuleGetTexRef") < 0) {
        return NULL;
    }
    pcu_ref *ref = pcu_refs_get(module, name, is_surface);
    PyTypeObject *type = is_surface ? st->SurfaceReference : st->TextureReference;
    pcu_texref *self = ref == NULL ? NULL : (pcu_texref *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->st = st;
        self->module = Py_NewRef(module);
        self->ref = ref;
    }
    return (PyObject *)self;
}

PyDoc_STRVAR(texref_get_texref_doc,
             "get_texref($self, /, name)\n--\n\n"
             "The TextureReference of a texture<> variable. LogicError if there is "
             "none.");

static PyObject *
texref_get_texref(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    return texref_of_module(op, "get_texref", 0, args, nargs, kwnames);
}

PyDoc_STRVAR(texref_get_surfref_doc,
             "get_surfref($self, /, name)\n--\n\n"
             "The SurfaceReference of a surface<> variable. LogicError if there is "
             "none.");

static PyObject *
texref_get_surfref(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    return texref_of_module(op, "get_surfref", 1, args, nargs, kwnames);
}

PyMethodDef pcu_texref_module_methods[] = {
    {"get_texref", (PyCFunction)(void (*)(void))texref_get_texref,
     METH_FASTCALL | METH_KEYWORDS, texref_get_texref_doc},
    {"get_surfref", (PyCFunction)(void (*)(void))texref_get_surfref,
     METH_FASTCALL | METH_KEYWORDS, texref_get_surfref_doc},
    {NULL, NULL, 0, NULL},
};

static int
texref_check_one(pcu_state *st, PyObject *item, Py_ssize_t i, int bound)
{
    if (!PyObject_TypeCheck(item, st->TextureReference) &&
        !PyObject_TypeCheck(item, st->SurfaceReference)) {
        PyErr_Format(PyExc_TypeError, "texrefs[%zd] must be a TextureReference, not %s",
                     i, Py_TYPE(item)->tp_name);
        return -1;
    }
    const pcu_ref *ref = ((pcu_texref *)item)->ref;
    if (bound && ref->bound == PCU_BOUND_NOT) {
        return pcu_raise_detail(st, "cuLaunchKernel", CUDA_ERROR_INVALID_VALUE,
                                "texrefs[%zd], the %s reference '%s', is bound to "
                                "nothing; use set_array or "
                                "set_address",
                                i, ref->is_surface ? "surface" : "texture", ref->name);
    }
    return 0;
}

int
pcu_texrefs_check(pcu_state *st, PyObject *texrefs, int bound)
{
    PyObject *items = PySequence_Fast(texrefs, "texrefs must be a sequence");
    int rc = items == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; rc == 0 && i < PySequence_Fast_GET_SIZE(items); i++) {
        rc = texref_check_one(st, PySequence_Fast_GET_ITEM(items, i), i, bound);
    }
    Py_XDECREF(items);
    return rc;
}

/* -- types ------------------------------------------------------------------------- */

#define TEXREF_PLAIN(prefix, name, flags)                    \
    {                                                        \
#        name, prefix##_##name, flags, prefix##_##name##_doc \
    }
#define TEXREF_KEYWORDS(prefix, name)                            \
    {                                                            \
#        name, (PyCFunction)(void (*)(void))prefix##_##name,     \
            METH_FASTCALL | METH_KEYWORDS, prefix##_##name##_doc \
    }

static PyMethodDef texref_methods[] = {
    TEXREF_PLAIN(texref, set_array, METH_O),
    TEXREF_KEYWORDS(texref, set_address),
    TEXREF_KEYWORDS(texref, set_address_2d),
    TEXREF_KEYWORDS(texref, set_format),
    TEXREF_KEYWORDS(texref, set_address_mode),
    TEXREF_PLAIN(texref, set_filter_mode, METH_O),
    TEXREF_PLAIN(texref, set_flags, METH_O),
    TEXREF_PLAIN(texref, get_address, METH_NOARGS),
    TEXREF_PLAIN(texref, get_array, METH_NOARGS),
    TEXREF_PLAIN(texref, get_address_mode, METH_O),
    TEXREF_PLAIN(texref, get_filter_mode, METH_NOARGS),
    TEXREF_PLAIN(texref, get_format, METH_NOARGS),
    TEXREF_PLAIN(texref, get_flags, METH_NOARGS),
    {NULL, NULL, 0, NULL},
};

static PyMethodDef surfref_methods[] = {
    TEXREF_KEYWORDS(surfref, set_array),
    TEXREF_PLAIN(surfref, get_array, METH_NOARGS),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef texref_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef texref_members[] = {
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(pcu_texref, dict), Py_READONLY, NULL},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(pcu_texref, weakrefs), Py_READONLY,
     NULL},
    {NULL, 0, 0, 0, NULL},
};

PyDoc_STRVAR(
    texref_doc,
    "TextureReference()\n--\n\n"
    "What a texture<> variable of a module reads, from Module.get_texref().\n\n"
    "One that is made by hand belongs to no module: it only keeps its state.");
PyDoc_STRVAR(surfref_doc,
             "What a surface<> variable of a module reads and writes, from\n"
             "Module.get_surfref().");

static PyType_Slot texref_slots[] = {
    {Py_tp_doc, (void *)texref_doc},
    {Py_tp_new, texref_new},
    {Py_tp_init, texref_init},
    {Py_tp_traverse, texref_traverse},
    {Py_tp_clear, texref_clear},
    {Py_tp_dealloc, texref_dealloc},
    {Py_tp_repr, texref_repr},
    {Py_tp_members, texref_members},
    {Py_tp_getset, texref_getset},
    {Py_tp_methods, texref_methods},
    {0, NULL},
};

static PyType_Slot surfref_slots[] = {
    {Py_tp_doc, (void *)surfref_doc},
    {Py_tp_traverse, texref_traverse},
    {Py_tp_clear, texref_clear},
    {Py_tp_dealloc, texref_dealloc},
    {Py_tp_repr, texref_repr},
    {Py_tp_members, texref_members},
    {Py_tp_getset, texref_getset},
    {Py_tp_methods, surfref_methods},
    {0, NULL},
};

static PyType_Spec texref_spec = {
    "pycuda._driver.TextureReference", sizeof(pcu_texref), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, texref_slots};

static PyType_Spec surfref_spec = {
    "pycuda._driver.SurfaceReference", sizeof(pcu_texref), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
        Py_TPFLAGS_DISALLOW_INSTANTIATION,
    surfref_slots};

int
pcu_texref_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->TextureReference, &texref_spec, NULL) < 0 ||
        pcu_add_type(m, &st->SurfaceReference, &surfref_spec, NULL) < 0 ||
        PyModule_AddIntConstant(m, "TRSA_OVERRIDE_FORMAT", CU_TRSA_OVERRIDE_FORMAT) <
            0 ||
        PyModule_AddIntConstant(m, "TR_DEFAULT", -1) < 0 ||
        PyModule_AddIntConstant(m, "TRSF_READ_AS_INTEGER", CU_TRSF_READ_AS_INTEGER) <
            0) {
        return -1;
    }
    return PyModule_AddIntConstant(m, "TRSF_NORMALIZED_COORDINATES",
                                   CU_TRSF_NORMALIZED_COORDINATES);
}
