/* Texture and surface references: PTX variables of type .texref and .surfref.
 *
 * In memory, such a variable is the handle of a texture or surface object. A reference
 * keeps the settings of the program. Each change waits for all work under way, makes a
 * new object of the settings and stores its handle in the variable. A module lists its
 * references and destroys them. References of cuTexRefCreate belong to no module and
 * only keep their settings. */
#define _GNU_SOURCE
#include <string.h>

#include "device/memory/texture.h"
#include "device/machine/grid/execution.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/entry.h"
#include "device/api/module/module.h"
#include "device/api/stream/stream.h"

enum { LARGEST_ALIGNMENT = 512, OVERRIDE_FORMAT = 1 };

/* What a program sets. */
typedef struct {
    bool bound;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned int channels;
} settings;

struct CUtexref_st {
    emu_object object;
    emu_module *module; /* NULL: of cuTexRefCreate */
    struct CUtexref_st *next;
    uint64_t variable; /* its address */
    uint64_t handle;   /* of the object in the variable, or 0 */
    settings set;
};

/* -- making and destroying --------------------------------------------------------- */

static void
reference_destroy(emu_object *object)
{
    CUtexref reference = (CUtexref)object;

    if (reference->module != NULL) {
        CUtexref *link = &reference->module->references;

        while (*link != reference) {
            link = &(*link)->next;
        }
        *link = reference->next;
    }
    emu_texture_drop_hidden(reference->handle);
    emu_object_free(object);
}

static CUtexref
reference_new(emu_kind kind, emu_context *context)
{
    CUtexref reference =
        emu_object_new(kind, sizeof(*reference), context, reference_destroy);

    if (reference != NULL) {
        reference->set.format = 0x20; /* float */
        reference->set.channels = 1;
    }
    return reference;
}

static CUtexref
reference_new_of_variable(emu_kind kind, emu_module *module, uint64_t address)
{
    CUtexref reference = reference_new(kind, module->object.context);

    if (reference != NULL) {
        reference->module = module;
        reference->variable = address;
        reference->next = module->references;
        module->references = reference;
    }
    return reference;
}

/* Find the reference of a variable, or make it at the first request. */
static CUresult
reference_find(emu_module *module, const char *name, emu_kind kind, CUtexref *out)
{
    CUtexref reference = module->references;
    uint64_t address;

    if (!emu_program_reference(module->program, name, kind == EMU_SURFREF, &address)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    while (reference != NULL && reference->variable != address) {
        reference = reference->next;
    }
    if (reference == NULL) {
        reference = reference_new_of_variable(kind, module, address);
    }
    if (reference == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = reference;
    return CUDA_SUCCESS;
}

/* Wait for all work, and store an object of the settings in the variable. */
static CUresult
reference_renew(CUtexref reference, const settings *s)
{
    emu_context *context = reference->object.context;
    const CUDA_TEXTURE_DESC *texture = &s->texture;
    uint64_t handle = 0;
    CUresult status = emu_cuStreamSynchronize(context->null_stream);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (reference->object.kind == EMU_SURFREF) {
        texture = NULL;
    }
    status = emu_texture_make_hidden(context, &s->resource, texture, &handle);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_texture_drop_hidden(reference->handle);
    reference->handle = handle;
    memcpy((void *)(uintptr_t)reference->variable, &handle, sizeof(handle));
    return CUDA_SUCCESS;
}

/* Give a reference new settings, unless no object can be made of them. */
static CUresult
reference_set(CUtexref reference, const settings *s)
{
    if (s->bound && reference->module != NULL) {
        CUresult status = reference_renew(reference, s);

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    reference->set = *s;
    return CUDA_SUCCESS;
}

/* -- finding and making ------------------------------------------------------------ */

CUresult
emu_cuModuleGetTexRef(CUtexref *pTexRef, emu_module *module, const char *name)
{
    if (pTexRef == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return reference_find(module, name, EMU_TEXREF, pTexRef);
}

CUresult
emu_cuModuleGetSurfRef(CUsurfref *pSurfRef, emu_module *module, const char *name)
{
    CUtexref reference = NULL;

    if (pSurfRef == NULL || name == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = reference_find(module, name, EMU_SURFREF, &reference);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *pSurfRef = (CUsurfref)(void *)reference;
    return CUDA_SUCCESS;
}

CUresult
emu_cuTexRefCreate(emu_context *context, CUtexref *pTexRef)
{
    if (pTexRef == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUtexref reference = reference_new(EMU_TEXREF, context);

    if (reference == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *pTexRef = reference;
    return CUDA_SUCCESS;
}

CUresult
emu_cuTexRefDestroy(CUtexref reference)
{
    if (reference->module != NULL) {
        return CUDA_ERROR_INVALID_HANDLE; /* the module owns it */
    }
    reference_destroy(&reference->object);
    return CUDA_SUCCESS;
}

/* -- binding ----------------------------------------------------------------------- */

static void
settings_bind_array(settings *s, CUarray handle, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    memset(&s->resource, 0, sizeof(s->resource));
    s->resource.resType = CU_RESOURCE_TYPE_ARRAY;
    s->resource.res.array.hArray = handle;
    s->format = d->Format;
    s->channels = d->NumChannels;
    s->bound = true;
}

CUresult
emu_cuTexRefSetArray(CUtexref reference, CUarray hArray, unsigned int Flags)
{
    const emu_array *array = emu_object_get(hArray, EMU_ARRAY);
    settings s = reference->set;

    if (Flags != OVERRIDE_FORMAT) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (array == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    settings_bind_array(&s, hArray, &array->descriptor);
    return reference_set(reference, &s);
}

CUresult
emu_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags)
{
    CUtexref reference = (CUtexref)(void *)hSurfRef;
    const emu_array *array = emu_object_get(hArray, EMU_ARRAY);
    settings s = reference->set;

    if (Flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (array == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if ((array->descriptor.Flags & EMU_ARRAY_SURFACE) == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    settings_bind_array(&s, hArray, &array->descriptor);
    return reference_set(reference, &s);
}

static void
settings_bind_linear(settings *s, uint64_t address, size_t size)
{
    memset(&s->resource, 0, sizeof(s->resource));
    s->resource.resType = CU_RESOURCE_TYPE_LINEAR;
    s->resource.res.linear.devPtr = address;
    s->resource.res.linear.format = s->format;
    s->resource.res.linear.numChannels = s->channels;
    s->resource.res.linear.sizeInBytes = size;
    s->bound = true;
}

CUresult
emu_cuTexRefSetAddress(size_t *ByteOffset, CUtexref reference, CUdeviceptr dptr,
                       size_t bytes)
{
    const size_t offset = dptr % LARGEST_ALIGNMENT;
    settings s = reference->set;

    if (offset != 0 && ByteOffset == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    settings_bind_linear(&s, dptr - offset, bytes + offset);
    CUresult status = reference_set(reference, &s);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (ByteOffset != NULL) {
        *ByteOffset = offset;
    }
    return CUDA_SUCCESS;
}

static void
settings_bind_pitched(settings *s, const CUDA_ARRAY_DESCRIPTOR *d, uint64_t address,
                      size_t pitch)
{
    memset(&s->resource, 0, sizeof(s->resource));
    s->resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    s->resource.res.pitch2D.devPtr = address;
    s->resource.res.pitch2D.format = d->Format;
    s->resource.res.pitch2D.numChannels = d->NumChannels;
    s->resource.res.pitch2D.width = d->Width;
    s->resource.res.pitch2D.height = d->Height;
    s->resource.res.pitch2D.pitchInBytes = pitch;
    s->format = d->Format;
    s->channels = d->NumChannels;
    s->bound = true;
}

CUresult
emu_cuTexRefSetAddress2D(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *desc,
                         CUdeviceptr dptr, size_t Pitch)
{
    settings s = reference->set;

    if (desc == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    settings_bind_pitched(&s, desc, dptr, Pitch);
    return reference_set(reference, &s);
}

/* -- settings ---------------------------------------------------------------------- */

static void
settings_set_format(settings *s, CUarray_format format, unsigned int channels)
{
    s->format = format;
    s->channels = channels;
    if (s->bound && s->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        s->resource.res.linear.format = format;
        s->resource.res.linear.numChannels = channels;
    }
}

CUresult
emu_cuTexRefSetFormat(CUtexref reference, CUarray_format fmt, int NumPackedComponents)
{
    settings s = reference->set;
    const unsigned int channels = (unsigned int)NumPackedComponents;

    if (emu_array_format_size(fmt) == 0 ||
        (channels != 1 && channels != 2 && channels != 4)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    settings_set_format(&s, fmt, channels);
    return reference_set(reference, &s);
}

CUresult
emu_cuTexRefSetAddressMode(CUtexref reference, int dim, CUaddress_mode am)
{
    settings s = reference->set;

    if (dim < 0 || dim > 2 || am > 3) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    s.texture.addressMode[dim] = am;
    return reference_set(reference, &s);
}

CUresult
emu_cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode fm)
{
    settings s = reference->set;

    if (fm > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    s.texture.filterMode = fm;
    return reference_set(reference, &s);
}

CUresult
emu_cuTexRefSetFlags(CUtexref reference, unsigned int Flags)
{
    settings s = reference->set;

    s.texture.flags = Flags;
    return reference_set(reference, &s);
}

/* -- getters ----------------------------------------------------------------------- */

static bool
reference_is_bound_to(const struct CUtexref_st *reference, CUresourcetype type)
{
    return reference->set.bound && reference->set.resource.resType == type;
}

/* The address of a reference that is bound to linear or pitched memory. */
static CUdeviceptr
reference_address(const struct CUtexref_st *reference)
{
    if (reference->set.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        return reference->set.resource.res.linear.devPtr;
    }
    return reference->set.resource.res.pitch2D.devPtr;
}

/* The array of a reference that is bound to one. */
static CUresult
reference_array(const struct CUtexref_st *reference, CUarray *array)
{
    if (array == NULL || !reference_is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *array = reference->set.resource.res.array.hArray;
    return CUDA_SUCCESS;
}

CUresult
emu_cuTexRefGetArray(CUarray *phArray, CUtexref reference)
{
    return reference_array(reference, phArray);
}

CUresult
emu_cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef)
{
    return reference_array((CUtexref)(void *)hSurfRef, phArray);
}

CUresult
emu_cuTexRefGetAddress(CUdeviceptr *pdptr, CUtexref reference)
{
    if (pdptr == NULL ||
        (!reference_is_bound_to(reference, CU_RESOURCE_TYPE_LINEAR) &&
         !reference_is_bound_to(reference, CU_RESOURCE_TYPE_PITCH2D))) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pdptr = reference_address(reference);
    return CUDA_SUCCESS;
}

CUresult
emu_cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref reference, int dim)
{
    if (pam == NULL || dim < 0 || dim > 2) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pam = reference->set.texture.addressMode[dim];
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuTexRefGetFilterMode, (CUfilter_mode * pfm, CUtexref reference), pfm,
           reference->set.texture.filterMode)

CUresult
emu_cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref reference)
{
    if (pFormat == NULL || pNumChannels == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pFormat = reference->set.format;
    *pNumChannels = (int)reference->set.channels;
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuTexRefGetFlags, (unsigned int *pFlags, CUtexref reference), pFlags,
           reference->set.texture.flags)
