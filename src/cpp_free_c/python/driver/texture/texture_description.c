/* Reading the arguments of TextureObject. See texture_object.h. */
#include "python/driver/texture/texture_object.h"

#include "python/support/args.h"
#include "python/support/convert.h"
#include "python/support/enums.h"
#include "python/driver/memory/texture_array.h"
#include "python/driver/memory/memory.h"

typedef struct {
    PyObject *source;     /* borrowed, as the others */
    PyObject *descriptor; /* NULL or None: source is an Array */
    size_t pitch;
    PyObject *modes;
    PyObject *filter;
    bool normalized;
    bool as_float;
    bool srgb;
    PyObject *border;
    unsigned int anisotropy;
    bool seamless;
    PyObject *mipmap_filter;
    PyObject *bias;
    PyObject *least_level;
    PyObject *most_level;
} description_args;

/* The items of a sequence, held in a tuple, so that converting one cannot release the
 * others. TypeError with this message if it is no sequence. */
static PyObject *
description_items_new(PyObject *value, const char *message)
{
    PyObject *items = PySequence_Tuple(value);
    if (items == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_SetString(PyExc_TypeError, message);
    }
    return items;
}

/* One address mode for all dimensions, or a sequence of up to three. */
static int
description_read_modes(pcu_state *st, PyObject *value, CUaddress_mode modes[3])
{
    unsigned int mode = CU_TR_ADDRESS_MODE_CLAMP;
    for (int i = 0; i < 3; i++) {
        modes[i] = mode;
    }
    if (value == NULL) {
        return 0;
    }
    if (PyIndex_Check(value) || PyUnicode_Check(value)) {
        int rc = pcu_enum_value(st->enum_address_mode, value, &mode, "address_mode");
        modes[0] = modes[1] = modes[2] = mode;
        return rc;
    }
    PyObject *items = description_items_new(
        value, "address_mode must be an address_mode or a sequence");
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    int rc = 0;
    if (n < 1 || n > 3) {
        PyErr_Format(PyExc_ValueError,
                     "address_mode has %zd items; a texture has 1 to 3 dimensions", n);
        rc = -1;
    }
    for (Py_ssize_t i = 0; rc == 0 && i < n; i++) {
        rc = pcu_enum_value(st->enum_address_mode, PyTuple_GET_ITEM(items, i), &mode,
                            "address_mode");
        modes[i] = mode;
    }
    Py_DECREF(items);
    return rc;
}

static int
description_read_border(PyObject *value, float border[4])
{
    if (value == NULL || value == Py_None) {
        return 0;
    }
    PyObject *items = description_items_new(
        value, "border_color must be a sequence of up to 4 numbers");
    if (items == NULL) {
        return -1;
    }
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    if (n > 4) {
        PyErr_Format(PyExc_ValueError, "border_color has %zd items; the maximum is 4",
                     n);
    }
    for (Py_ssize_t i = 0; i < n && i < 4; i++) {
        border[i] = (float)PyFloat_AsDouble(PyTuple_GET_ITEM(items, i));
        if (PyErr_Occurred()) {
            break;
        }
    }
    Py_DECREF(items);
    if (PyErr_Occurred()) {
        return -1;
    }
    return 0;
}

/* Describe a texture of an Array. */
static int
description_read_array(pcu_state *st, const description_args *a, pcu_texture_spec *spec)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    if (a->pitch != 0) {
        PyErr_SetString(PyExc_TypeError,
                        "pitch is for device memory; source is an Array");
        return -1;
    }
    spec->resource.resType = CU_RESOURCE_TYPE_ARRAY;
    if (pcu_texture_array_handle(a->source, "cuTexObjectCreate",
                                 &spec->resource.res.array.hArray) < 0 ||
        pcu_texture_array_describe(st, a->source, &d) < 0) {
        return -1;
    }
    spec->format = d.Format;
    spec->channels = d.NumChannels;
    return 0;
}

/* A level or its bias, a number. NULL leaves the value. */
static int
description_read_float(PyObject *value, float *out)
{
    if (value == NULL || value == Py_None) {
        return 0;
    }
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        return -1;
    }
    *out = (float)number;
    return 0;
}

/* Describe a texture of a MipmappedArray. */
static int
description_read_mipmap(pcu_state *st, const description_args *a,
                        pcu_texture_spec *spec)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    unsigned int filter = CU_TR_FILTER_MODE_POINT;
    if (a->pitch != 0) {
        PyErr_SetString(PyExc_TypeError,
                        "pitch is for device memory; source is a MipmappedArray");
        return -1;
    }
    if (!a->normalized) {
        PyErr_SetString(PyExc_ValueError,
                        "textures of a MipmappedArray have normalized coordinates: "
                        "give normalized_coords=True");
        return -1;
    }
    spec->texture.maxMipmapLevelClamp = 1000;
    if ((a->mipmap_filter != NULL &&
         pcu_enum_value(st->enum_filter_mode, a->mipmap_filter, &filter,
                        "mipmap_filter_mode") < 0) ||
        description_read_float(a->bias, &spec->texture.mipmapLevelBias) < 0 ||
        description_read_float(a->least_level, &spec->texture.minMipmapLevelClamp) <
            0 ||
        description_read_float(a->most_level, &spec->texture.maxMipmapLevelClamp) < 0) {
        return -1;
    }
    spec->texture.mipmapFilterMode = filter;
    spec->resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    if (pcu_mipmapped_array_handle(a->source, "cuTexObjectCreate",
                                   &spec->resource.res.mipmap.hMipmappedArray,
                                   &d) < 0) {
        return -1;
    }
    spec->format = d.Format;
    spec->channels = d.NumChannels;
    return 0;
}

/* Describe a texture of device memory: one row, or rows with a pitch. */
static int
description_read_memory(pcu_state *st, const description_args *a,
                        pcu_texture_spec *spec)
{
    const CUDA_ARRAY3D_DESCRIPTOR *d = NULL;
    CUdeviceptr pointer = 0;
    size_t row = 0;
    if (pcu_as_pointer(st, a->source, &pointer, "source") < 0 ||
        pcu_as_array_descriptor(st, a->descriptor, &d, "descriptor") < 0) {
        return -1;
    }
    size_t element = pcu_array_format_size(d->Format) * d->NumChannels;
    if (pcu_mul_size(d->Width, element, &row) < 0 || element == 0) {
        PyErr_Format(PyExc_ValueError,
                     "the descriptor has no valid size: width %zu, %u channels",
                     d->Width, d->NumChannels);
        return -1;
    }
    spec->format = d->Format;
    spec->channels = d->NumChannels;
    if (d->Height <= 1 && a->pitch == 0) {
        spec->resource.resType = CU_RESOURCE_TYPE_LINEAR;
        spec->resource.res.linear.devPtr = pointer;
        spec->resource.res.linear.format = d->Format;
        spec->resource.res.linear.numChannels = d->NumChannels;
        spec->resource.res.linear.sizeInBytes = row;
        return 0;
    }
    spec->resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    spec->resource.res.pitch2D.devPtr = pointer;
    spec->resource.res.pitch2D.format = d->Format;
    spec->resource.res.pitch2D.numChannels = d->NumChannels;
    spec->resource.res.pitch2D.width = d->Width;
    spec->resource.res.pitch2D.height = Py_MAX(d->Height, 1);
    spec->resource.res.pitch2D.pitchInBytes = a->pitch;
    if (a->pitch == 0) {
        spec->resource.res.pitch2D.pitchInBytes = row;
    }
    return 0;
}

/* Raise unless exactly one of these is true: the source is an Array, there is a
 * descriptor. */
static int
description_check_descriptor(const description_args *a, bool of_array)
{
    bool described = a->descriptor != NULL && a->descriptor != Py_None;
    if (of_array && described) {
        PyErr_SetString(PyExc_TypeError,
                        "descriptor is for device memory; source is an Array, which "
                        "has its own descriptor");
        return -1;
    }
    if (!of_array && !described) {
        PyErr_SetString(PyExc_TypeError,
                        "source must be an Array, or device memory together with a "
                        "descriptor of its elements");
        return -1;
    }
    return 0;
}

/* Read the arguments. The source comes last: converting the others may run code that
 * releases it. */
static int
description_read_args(pcu_state *st, const description_args *a, pcu_texture_spec *spec)
{
    unsigned int filter = CU_TR_FILTER_MODE_POINT;
    bool of_array = PyObject_TypeCheck(a->source, st->Array);
    bool of_mipmap = PyObject_TypeCheck(a->source, st->MipmappedArray);
    int rc;
    if (description_check_descriptor(a, of_array || of_mipmap) < 0 ||
        description_read_modes(st, a->modes, spec->texture.addressMode) < 0 ||
        (a->filter != NULL &&
         pcu_enum_value(st->enum_filter_mode, a->filter, &filter, "filter_mode") < 0) ||
        description_read_border(a->border, spec->texture.borderColor) < 0) {
        return -1;
    }
    if (of_mipmap) {
        rc = description_read_mipmap(st, a, spec);
    }
    else if (of_array) {
        rc = description_read_array(st, a, spec);
    }
    else {
        rc = description_read_memory(st, a, spec);
    }
    if (rc < 0) {
        return -1;
    }
    spec->texture.filterMode = filter;
    spec->texture.maxAnisotropy = a->anisotropy;
    if (a->normalized) {
        spec->texture.flags |= CU_TRSF_NORMALIZED_COORDINATES;
    }
    if (a->srgb) {
        spec->texture.flags |= CU_TRSF_SRGB;
    }
    if (a->seamless) {
        spec->texture.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
    }
    if (!a->as_float && pcu_array_format_is_integer(spec->format)) {
        spec->texture.flags |= CU_TRSF_READ_AS_INTEGER;
    }
    return 0;
}

const pcu_word pcu_texture_words[15] = {
    PCU_WORD("source", pcu_as_object, description_args, source),
    PCU_WORD("descriptor", pcu_as_object, description_args, descriptor),
    PCU_WORD("pitch", pcu_as_size, description_args, pitch),
    PCU_WORD("address_mode", pcu_as_object, description_args, modes),
    PCU_WORD("filter_mode", pcu_as_object, description_args, filter),
    PCU_WORD("normalized_coords", pcu_as_bool, description_args, normalized),
    PCU_WORD("read_as_float", pcu_as_bool, description_args, as_float),
    PCU_WORD("srgb", pcu_as_bool, description_args, srgb),
    PCU_WORD("border_color", pcu_as_object, description_args, border),
    PCU_WORD("max_anisotropy", pcu_as_uint, description_args, anisotropy),
    PCU_WORD("seamless_cubemap", pcu_as_bool, description_args, seamless),
    PCU_WORD("mipmap_filter_mode", pcu_as_object, description_args, mipmap_filter),
    PCU_WORD("mipmap_level_bias", pcu_as_object, description_args, bias),
    PCU_WORD("min_mipmap_level", pcu_as_object, description_args, least_level),
    PCU_WORD("max_mipmap_level", pcu_as_object, description_args, most_level),
};

int
pcu_texture_describe(pcu_state *st, const pcu_signature *signature, PyObject *args,
                     PyObject *kwargs, pcu_texture_spec *spec, PyObject **source)
{
    description_args a = {0};
    memset(spec, 0, sizeof(*spec));
    if (pcu_args_parse_tuple(st, signature, args, kwargs, &a) < 0) {
        return -1;
    }
    *source = a.source;
    return description_read_args(st, &a, spec);
}
