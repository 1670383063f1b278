/* TextureReference: binding an image or memory, and how kernels read it. Programs
 * written for CUDA before 12 use it.
 *
 * A setter changes the state of the reference; for a reference of kind DRIVER it also
 * calls the driver. Getters ask the driver for a reference of that kind. The next
 * launch brings the state to the device: see reference_store.c. */
#include "python/driver/texture/reference.h"

#include "python/support/convert.h"
#include "python/support/docs.h"
#include "python/support/enums.h"
#include "python/support/setup.h"
#include "python/support/type.h"
#include "python/driver/context.h"
#include "python/driver/memory/memory.h"
#include "python/driver/memory/texture_array.h"

/* -- docstrings -------------------------------------------------------------------- */

#define TEXREF_DOC_AM_DIM \
    "dim : int\n"         \
    "    Dimension: 0, 1 or 2.\n"

#define TEXREF_DOC_DEVPTR                          \
    "devptr : DeviceAllocation, GPUArray or int\n" \
    "    Device memory, or its address. The reference does not hold it.\n"

/* -- TextureReference: binding ----------------------------------------------------- */

PyDoc_STRVAR(texref_set_array_doc,
             "set_array($self, array, /)\n--\n\n"
             "Bind an Array for the next launches.\n"
             "\nParameters\n----------\n"
             "array : Array\n"
             "    Array, which the reference holds. The format becomes that of the\n"
             "    array.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If the array is of another context, or was released.\n"
             "\nSee Also\n--------\n"
             "matrix_to_texref : Bind a new Array of a matrix.\n"
             "TextureReference.set_address : Bind memory.");

static PyObject *
texref_set_array(PyObject *op, PyObject *array)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUarray handle = NULL;
    int rc;
    if (pcu_as_texture_array(self->st, array, &array, "array") < 0 ||
        pcu_texture_array_handle(array, "array", &handle) < 0 ||
        pcu_reference_wrapper_check_context(self, "cuTexRefSetArray", array) < 0 ||
        pcu_texture_array_describe(self->st, array, &d) < 0) {
        return NULL;
    }
    PCU_REFERENCE_CALL(rc, self, TexRefSetArray,
                       (self->ref->texref, handle, CU_TRSA_OVERRIDE_FORMAT));
    if (rc < 0) {
        return NULL;
    }
    self->ref->format = d.Format;
    self->ref->channels = (int)d.NumChannels;
    pcu_reference_wrapper_bind_array(self, array);
    Py_RETURN_NONE;
}

/* The arguments of the functions here; objects are borrowed. */
typedef struct {
    CUdeviceptr pointer;
    size_t bytes;
    bool allow_offset;
    const CUDA_ARRAY3D_DESCRIPTOR *descriptor;
    size_t pitch;
    CUarray_format format;
    int channels;
    int dim;
    PyObject *mode;
} texref_args;

/* The distance of an address from the last place where a texture can start. */
static int
texref_misalignment(pcu_reference_wrapper *self, CUdeviceptr pointer, size_t *offset)
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

/* Bind memory. The reference does not hold it. */
static void
texref_bind_memory(pcu_reference_wrapper *self, pcu_reference_bound bound)
{
    self->ref->bound = bound;
    pcu_reference_wrapper_touch(self);
    Py_CLEAR(self->ref->array);
}

static int
texref_bind_linear(pcu_reference_wrapper *self, const texref_args *a, size_t *offset)
{
    size_t bytes = 0;
    int rc;
    if (self->ref->kind == PCU_REFERENCE_DRIVER) {
        PCU_REFERENCE_CALL(rc, self, TexRefSetAddress,
                           (offset, self->ref->texref, a->pointer, a->bytes));
    }
    else {
        rc = pcu_reference_wrapper_check(self, "cuTexRefSetAddress");
        if (rc == 0) {
            rc = texref_misalignment(self, a->pointer, offset);
        }
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
            "the address is %zu bytes past the last place where a texture can start; "
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

typedef int texref_as_dim_stores;

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

static const pcu_word texref_words[] = {
    PCU_WORD("devptr", pcu_as_pointer, texref_args, pointer),
    PCU_WORD("bytes", pcu_as_size, texref_args, bytes),
    PCU_WORD("allow_offset", pcu_as_bool, texref_args, allow_offset),
    PCU_WORD("descr", pcu_as_array_descriptor, texref_args, descriptor),
    PCU_WORD("pitch", pcu_as_size, texref_args, pitch),
    PCU_WORD("format", pcu_as_array_format, texref_args, format),
    PCU_WORD("num_components", pcu_as_int, texref_args, channels),
    PCU_WORD("dim", texref_as_dim, texref_args, dim),
    PCU_WORD("am", pcu_as_object, texref_args, mode),
};

PCU_SIGNATURE(texref_set_address, texref_words,
              "set_address($self, /, devptr, bytes, allow_offset=False)\n--\n\n"
              "Bind linear memory, which kernels read with ``tex1Dfetch``.\n"
              "\nParameters\n----------\n" TEXREF_DOC_DEVPTR
              "bytes : int\n"
              "    Bytes to bind, at least 1.\n"
              "allow_offset : bool, optional\n"
              "    If true, the memory may begin where no texture can begin.\n"
              "\nReturns\n-------\n"
              "int\n"
              "    Bytes from the start of the texture to the memory: 0 unless\n"
              "    ``allow_offset`` is true.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the address is not aligned and ``allow_offset`` is false.\n"
              "\nSee Also\n--------\n"
              "TextureReference.set_format : Set the elements, before this call.\n"
              "gpuarray_to_texref : Bind a device array.")

static PyObject *
texref_set_address(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    texref_args a = {0};
    size_t offset = 0;
    if (pcu_args_parse(self->st, &texref_set_address_signature, args, nargs, kwnames,
                       &a) < 0 ||
        texref_bind_linear(self, &a, &offset) < 0) {
        return NULL;
    }
    return PyLong_FromSize_t(offset);
}

PCU_SIGNATURE(texref_set_address_2d, texref_words,
              "set_address_2d($self, /, devptr, descr, pitch)\n--\n\n"
              "Bind rows of memory, which kernels read with ``tex2D``.\n"
              "\nParameters\n----------\n" TEXREF_DOC_DEVPTR
              "descr : ArrayDescriptor\n"
              "    Elements, width and height.\n"
              "pitch : int\n"
              "    Bytes from the start of a row to the start of the next.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    If the driver refuses the memory.\n"
              "\nSee Also\n--------\n"
              "mem_alloc_pitch : Allocate rows.")

static PyObject *
texref_set_address_2d(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                      PyObject *kwnames)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    texref_args a = {0};
    int rc;
    if (pcu_args_parse(self->st, &texref_set_address_2d_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    const CUDA_ARRAY_DESCRIPTOR d = {a.descriptor->Width, a.descriptor->Height,
                                     a.descriptor->Format, a.descriptor->NumChannels};
    PCU_REFERENCE_CALL(rc, self, TexRefSetAddress2D,
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

PCU_SIGNATURE(texref_set_format, texref_words,
              "set_format($self, /, format, num_components)\n--\n\n"
              "Set the elements of bound memory.\n"
              "\nParameters\n----------\n"
              "format : array_format\n"
              "    Type of a channel.\n"
              "num_components : int\n"
              "    Channels of an element: 1, 2 or 4.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    For another format or number.\n"
              "\nSee Also\n--------\n"
              "dtype_to_array_format : Return the format of a dtype.")

static PyObject *
texref_set_format(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    texref_args a = {0};
    int rc;
    if (pcu_args_parse(self->st, &texref_set_format_signature, args, nargs, kwnames,
                       &a) < 0) {
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
    PCU_REFERENCE_CALL(rc, self, TexRefSetFormat,
                       (self->ref->texref, a.format, a.channels));
    if (rc < 0) {
        return NULL;
    }
    self->ref->format = a.format;
    self->ref->channels = a.channels;
    pcu_reference_wrapper_touch(self);
    Py_RETURN_NONE;
}

PCU_SIGNATURE(texref_set_address_mode, texref_words,
              "set_address_mode($self, /, dim, am)\n--\n\n"
              "Set the result of reads outside the image.\n"
              "\nParameters\n----------\n" TEXREF_DOC_AM_DIM
              "am : address_mode\n"
              "    Mode of the dimension.\n"
              "\nRaises\n------\n"
              "LogicError\n"
              "    For another dimension or mode.")

static PyObject *
texref_set_address_mode(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                        PyObject *kwnames)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    texref_args a = {0};
    unsigned int mode = 0;
    int rc;
    if (pcu_args_parse(self->st, &texref_set_address_mode_signature, args, nargs,
                       kwnames, &a) < 0 ||
        pcu_enum_value(self->st->enum_address_mode, a.mode, &mode, "am") < 0) {
        return NULL;
    }
    if (mode > CU_TR_ADDRESS_MODE_BORDER) {
        pcu_raise_detail(self->st, "cuTexRefSetAddressMode", CUDA_ERROR_INVALID_VALUE,
                         "am is %u; it must be an address_mode", mode);
        return NULL;
    }
    PCU_REFERENCE_CALL(rc, self, TexRefSetAddressMode,
                       (self->ref->texref, a.dim, mode));
    if (rc < 0) {
        return NULL;
    }
    self->ref->modes[a.dim] = mode;
    pcu_reference_wrapper_touch(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(texref_set_filter_mode_doc,
             "set_filter_mode($self, fm, /)\n--\n\n"
             "Set whether reads between elements are interpolated.\n"
             "\nParameters\n----------\n"
             "fm : filter_mode\n"
             "    POINT reads the nearest element, LINEAR interpolates.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    For another mode.");

static PyObject *
texref_set_filter_mode(PyObject *op, PyObject *value)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
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
    PCU_REFERENCE_CALL(rc, self, TexRefSetFilterMode, (self->ref->texref, filter));
    if (rc < 0) {
        return NULL;
    }
    self->ref->filter = filter;
    pcu_reference_wrapper_touch(self);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(texref_set_flags_doc,
             "set_flags($self, flags, /)\n--\n\n"
             "Set the flags of reads.\n"
             "\nParameters\n----------\n"
             "flags : int\n"
             "    TRSF_READ_AS_INTEGER and TRSF_NORMALIZED_COORDINATES, combined\n"
             "    with ``|``.\n"
             "\nNotes\n-----\n"
             "A ``texture<>`` of integers is read as its declaration says.");

static PyObject *
texref_set_flags(PyObject *op, PyObject *value)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    unsigned int flags = 0;
    int rc;
    if (pcu_as_uint(self->st, value, &flags, "flags") < 0) {
        return NULL;
    }
    PCU_REFERENCE_CALL(rc, self, TexRefSetFlags, (self->ref->texref, flags));
    if (rc < 0) {
        return NULL;
    }
    self->ref->flags = flags;
    pcu_reference_wrapper_touch(self);
    Py_RETURN_NONE;
}

/* -- TextureReference: getters ----------------------------------------------------- */

PyDoc_STRVAR(texref_get_address_doc,
             "get_address($self, /)\n--\n\n"
             "Return the address of the bound memory.\n"
             "\nReturns\n-------\n" PCU_DOC_ADDRESS
             "\nRaises\n------\n"
             "LogicError\n"
             "    If no memory is bound.");

static PyObject *
texref_get_address(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    CUdeviceptr pointer = self->ref->address;
    int rc;
    PCU_REFERENCE_CALL(rc, self, TexRefGetAddress, (&pointer, self->ref->texref));
    if (rc == 0 && self->ref->kind != PCU_REFERENCE_DRIVER &&
        self->ref->bound != PCU_BOUND_LINEAR && self->ref->bound != PCU_BOUND_PITCHED) {
        rc = pcu_reference_wrapper_not_bound(self, "cuTexRefGetAddress", "memory");
    }
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(pointer);
}

PyDoc_STRVAR(texref_get_array_doc,
             "get_array($self, /)\n--\n\n"
             "Return the Array that is bound.\n"
             "\nReturns\n-------\n"
             "Array\n"
             "    The Array.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    If none is bound.");

static PyObject *
texref_get_array(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    CUarray handle = NULL;
    int rc;
    PCU_REFERENCE_CALL(rc, self, TexRefGetArray, (&handle, self->ref->texref));
    if (rc < 0) {
        return NULL;
    }
    return pcu_reference_wrapper_array_new(self, "cuTexRefGetArray", handle);
}

PyDoc_STRVAR(texref_get_address_mode_doc,
             "get_address_mode($self, dim, /)\n--\n\n"
             "Return the result of reads outside the image.\n"
             "\nParameters\n----------\n" TEXREF_DOC_AM_DIM
             "\nReturns\n-------\n"
             "address_mode\n"
             "    Mode of the dimension.\n"
             "\nRaises\n------\n"
             "LogicError\n"
             "    For another dimension.");

static PyObject *
texref_get_address_mode(PyObject *op, PyObject *value)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    int dim = 0;
    int rc;
    if (texref_as_dim(self->st, value, &dim, "dim") < 0) {
        return NULL;
    }
    CUaddress_mode mode = self->ref->modes[dim];
    PCU_REFERENCE_CALL(rc, self, TexRefGetAddressMode, (&mode, self->ref->texref, dim));
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(self->st->enum_address_mode, (long)mode);
}

PyDoc_STRVAR(texref_get_filter_mode_doc,
             "get_filter_mode($self, /)\n--\n\n"
             "Return whether reads between elements are interpolated.\n"
             "\nReturns\n-------\n"
             "filter_mode\n"
             "    POINT or LINEAR.");

static PyObject *
texref_get_filter_mode(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    CUfilter_mode filter = self->ref->filter;
    int rc;
    PCU_REFERENCE_CALL(rc, self, TexRefGetFilterMode, (&filter, self->ref->texref));
    if (rc < 0) {
        return NULL;
    }
    return pcu_enum_member_new(self->st->enum_filter_mode, (long)filter);
}

PyDoc_STRVAR(texref_get_format_doc,
             "get_format($self, /)\n--\n\n"
             "Return the format of the elements.\n"
             "\nReturns\n-------\n"
             "array_format\n"
             "    Type of a channel.\n"
             "int\n"
             "    Channels of an element.");

static PyObject *
texref_get_format(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    CUarray_format format = self->ref->format;
    int channels = self->ref->channels;
    int rc;
    PCU_REFERENCE_CALL(rc, self, TexRefGetFormat,
                       (&format, &channels, self->ref->texref));
    PyObject *member = NULL;
    if (rc >= 0) {
        member = pcu_enum_member_new(self->st->enum_array_format, (long)format);
    }
    if (member == NULL) {
        return NULL;
    }
    return Py_BuildValue("(Ni)", member, channels);
}

PyDoc_STRVAR(texref_get_flags_doc,
             "get_flags($self, /)\n--\n\n"
             "Return the flags of reads.\n"
             "\nReturns\n-------\n"
             "int\n"
             "    TRSF_READ_AS_INTEGER and TRSF_NORMALIZED_COORDINATES, combined\n"
             "    with ``|``.");

static PyObject *
texref_get_flags(PyObject *op, PyObject *Py_UNUSED(ignored))
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    unsigned int flags = self->ref->flags;
    int rc;
    PCU_REFERENCE_CALL(rc, self, TexRefGetFlags, (&flags, self->ref->texref));
    if (rc < 0) {
        return NULL;
    }
    return PyLong_FromUnsignedLong(flags);
}

/* -- the type ---------------------------------------------------------------------- */

static PyObject *
texref_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    pcu_state *st = pcu_state_of_type(type);
    if (st == NULL) {
        return NULL;
    }
    pcu_reference *ref = pcu_reference_new("", 0);
    if (ref == NULL) {
        return NULL;
    }
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)type->tp_alloc(type, 0);
    if (self == NULL) {
        pcu_reference_free(ref);
        return NULL;
    }
    self->st = st;
    self->ref = ref;
    return (PyObject *)self;
}

PCU_SIGNATURE(
    texref, pcu_no_words,
    "TextureReference()\n--\n\n"
    "A ``texture<>`` variable of a module.\n"
    "\n"
    "``Module.get_texref()`` returns it. Kernels read the bound image\n"
    "through it. An object that you construct belongs to no module: it only\n"
    "keeps its state.\n"
    "\nSee Also\n--------\n"
    "TextureObject : An argument of a kernel, without a variable.\n"
    "matrix_to_texref : Bind a matrix.\n"
    "\nExamples\n--------\n"
    ">>> from pycuda.compiler import SourceModule\n"
    ">>> module = SourceModule('''\n"
    "... texture<float, 2> image;\n"
    "... __global__ void row(float *out) {\n"
    "...     out[threadIdx.x] = tex2D(image, threadIdx.x, 1);\n"
    "... }''')\n"
    ">>> image = module.get_texref(\"image\")\n"
    ">>> drv.matrix_to_texref(np.array([[1, 2], [3, 4]], np.float32), image, \"C\")\n"
    ">>> out = np.empty(2, dtype=np.float32)\n"
    ">>> row = module.get_function(\"row\")\n"
    ">>> row(drv.Out(out), block=(2, 1, 1), texrefs=[image])\n"
    ">>> out\n"
    "array([3., 4.], dtype=float32)")

static int
texref_init(PyObject *op, PyObject *args, PyObject *kwargs)
{
    pcu_reference_wrapper *self = (pcu_reference_wrapper *)op;
    /* a derived type may take arguments of its own */
    return pcu_args_parse_tuple(self->st, &texref_signature, args, kwargs, NULL);
}

/* clang-format off */
#define TEXREF_PLAIN(name, flags) {#name, texref_##name, flags, texref_##name##_doc}
#define TEXREF_KEYWORDS(name)                                              \
    {#name, (PyCFunction)(void (*)(void))texref_##name,                    \
     METH_FASTCALL | METH_KEYWORDS, texref_##name##_doc}
/* clang-format on */

static PyMethodDef texref_methods[] = {
    TEXREF_PLAIN(set_array, METH_O),
    TEXREF_KEYWORDS(set_address),
    TEXREF_KEYWORDS(set_address_2d),
    TEXREF_KEYWORDS(set_format),
    TEXREF_KEYWORDS(set_address_mode),
    TEXREF_PLAIN(set_filter_mode, METH_O),
    TEXREF_PLAIN(set_flags, METH_O),
    TEXREF_PLAIN(get_address, METH_NOARGS),
    TEXREF_PLAIN(get_array, METH_NOARGS),
    TEXREF_PLAIN(get_address_mode, METH_O),
    TEXREF_PLAIN(get_filter_mode, METH_NOARGS),
    TEXREF_PLAIN(get_format, METH_NOARGS),
    TEXREF_PLAIN(get_flags, METH_NOARGS),
    {NULL, NULL, 0, NULL},
};

static PyType_Slot texref_slots[] = {
    {Py_tp_doc, (void *)texref_doc},
    {Py_tp_new, texref_new},
    {Py_tp_init, texref_init},
    {Py_tp_traverse, pcu_reference_wrapper_traverse},
    {Py_tp_clear, pcu_reference_wrapper_clear},
    {Py_tp_dealloc, pcu_reference_wrapper_dealloc},
    {Py_tp_repr, pcu_reference_wrapper_repr},
    {Py_tp_members, pcu_reference_wrapper_members},
    {Py_tp_getset, pcu_reference_wrapper_getset},
    {Py_tp_methods, texref_methods},
    {0, NULL},
};

static PyType_Spec texref_spec = {
    "pycuda._driver.TextureReference", sizeof(pcu_reference_wrapper), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, texref_slots};

int
pcu_texture_reference_setup(PyObject *m, pcu_state *st)
{
    if (pcu_add_type(m, &st->TextureReference, &texref_spec, NULL) < 0 ||
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
