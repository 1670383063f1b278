/* Texture and surface references: PTX variables of type .texref and .surfref.
 *
 * In memory, such a variable is the handle of a texture or surface object. A reference
 * keeps the settings of the program. Each change waits for all work under way, makes a
 * new object of the settings and stores its handle in the variable. A module lists its
 * references and destroys them. References of cuTexRefCreate belong to no module and
 * only keep their settings. */
#define _GNU_SOURCE
#include <string.h>

#include "device/memory/array.h"
#include "device/memory/texture.h"
#include "device/machine/grid/execution.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/entry.h"
#include "device/api/module/module.h"
#include "device/api/stream/stream.h"

enum { LARGEST_ALIGNMENT = 512, OVERRIDE_FORMAT = 1 };

struct CUtexref_st {
    emu_object object;
    emu_module *module; /* NULL: of cuTexRefCreate */
    struct CUtexref_st *next;
    uint64_t variable; /* its address */
    uint64_t handle;   /* of the object in the variable, or 0 */
    bool bound;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned int channels;
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
        reference->format = 0x20; /* float */
        reference->channels = 1;
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
reference_find(CUmodule handle, const char *name, emu_kind kind, CUtexref *out)
{
    emu_module *module;
    CUtexref reference;
    uint64_t address;
    CUresult status = emu_module_find(handle, &module);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (!emu_program_reference(module->program, name, kind == EMU_SURFREF, &address)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    reference = module->references;
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

/* Wait for all work, and store an object of the present settings in the variable. */
static CUresult
reference_renew(emu_context *context, CUtexref reference)
{
    const CUDA_TEXTURE_DESC *texture = &reference->texture;
    uint64_t handle = 0;
    CUresult status;

    if (!reference->bound || reference->module == NULL) {
        return CUDA_SUCCESS;
    }
    status = emu_stream_synchronize(context->null_stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (reference->object.kind == EMU_SURFREF) {
        texture = NULL;
    }
    status = emu_texture_make_hidden(context, &reference->resource, texture, &handle);
    if (status == CUDA_SUCCESS) {
        emu_texture_drop_hidden(reference->handle);
        reference->handle = handle;
        memcpy((void *)(uintptr_t)reference->variable, &handle, sizeof(handle));
    }
    return status;
}

/* Change the settings, and undo the change if no object can be made of them. */
#define CHANGE(context, reference, statement)            \
    do {                                                 \
        const struct CUtexref_st before_ = *(reference); \
        statement;                                       \
        status = reference_renew(context, reference);    \
        if (status != CUDA_SUCCESS) {                    \
            (reference)->bound = before_.bound;          \
            (reference)->resource = before_.resource;    \
            (reference)->texture = before_.texture;      \
            (reference)->format = before_.format;        \
            (reference)->channels = before_.channels;    \
        }                                                \
    } while (0)

/* Enter a call on a reference of a kind. */
static CUresult
reference_enter(emu_call call, const void *handle, emu_kind kind, emu_context **context,
                CUtexref *reference)
{
    CUresult status = emu_enter_context(call, context);

    *reference = NULL;
    if (status == CUDA_SUCCESS) {
        *reference = emu_object_get(handle, kind);
        if (*reference == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return status;
}

#define ENTER(name, handle, kind) \
    reference_enter(EMU_CALL_##name, handle, kind, &context, &reference)

/* -- finding and making ------------------------------------------------------------ */

CUresult
emu_cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MODULE(ModuleGetTexRef, hmod, &context);

    if (status == CUDA_SUCCESS && (pTexRef == NULL || name == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = reference_find(hmod, name, EMU_TEXREF, pTexRef);
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name)
{
    emu_context *context;
    CUtexref reference = NULL;
    CUresult status = EMU_ENTER_MODULE(ModuleGetSurfRef, hmod, &context);

    if (status == CUDA_SUCCESS && (pSurfRef == NULL || name == NULL)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = reference_find(hmod, name, EMU_SURFREF, &reference);
    }
    if (status == CUDA_SUCCESS) {
        *pSurfRef = (CUsurfref)(void *)reference;
    }
    return emu_leave(status);
}

CUresult
emu_cuTexRefCreate(CUtexref *pTexRef)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(TexRefCreate, &context);

    if (status == CUDA_SUCCESS && pTexRef == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CUtexref reference = reference_new(EMU_TEXREF, context);

        if (reference != NULL) {
            *pTexRef = reference;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuTexRefDestroy(CUtexref hTexRef)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefDestroy, hTexRef, EMU_TEXREF);

    if (status == CUDA_SUCCESS && reference->module != NULL) {
        status = CUDA_ERROR_INVALID_HANDLE; /* the module owns it */
    }
    if (status == CUDA_SUCCESS) {
        reference_destroy(&reference->object);
    }
    return emu_leave(status);
}

/* -- binding ----------------------------------------------------------------------- */

static void
reference_bind_array(CUtexref reference, CUarray handle,
                     const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    memset(&reference->resource, 0, sizeof(reference->resource));
    reference->resource.resType = CU_RESOURCE_TYPE_ARRAY;
    reference->resource.res.array.hArray = handle;
    reference->format = d->Format;
    reference->channels = d->NumChannels;
    reference->bound = true;
}

CUresult
emu_cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefSetArray, hTexRef, EMU_TEXREF);
    const emu_array *array = NULL;

    if (status == CUDA_SUCCESS && Flags != OVERRIDE_FORMAT) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        array = emu_object_get(hArray, EMU_ARRAY);
        if (array == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference,
               reference_bind_array(reference, hArray, &array->descriptor));
    }
    return emu_leave(status);
}

CUresult
emu_cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(SurfRefSetArray, hSurfRef, EMU_SURFREF);
    const emu_array *array = NULL;

    if (status == CUDA_SUCCESS && Flags != 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        array = emu_object_get(hArray, EMU_ARRAY);
        if (array == NULL) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if ((array->descriptor.Flags & EMU_ARRAY_SURFACE) == 0) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference,
               reference_bind_array(reference, hArray, &array->descriptor));
    }
    return emu_leave(status);
}

static void
reference_bind_linear(CUtexref reference, uint64_t address, size_t size)
{
    memset(&reference->resource, 0, sizeof(reference->resource));
    reference->resource.resType = CU_RESOURCE_TYPE_LINEAR;
    reference->resource.res.linear.devPtr = address;
    reference->resource.res.linear.format = reference->format;
    reference->resource.res.linear.numChannels = reference->channels;
    reference->resource.res.linear.sizeInBytes = size;
    reference->bound = true;
}

CUresult
emu_cuTexRefSetAddress(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr,
                       size_t bytes)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefSetAddress, hTexRef, EMU_TEXREF);
    const size_t offset = dptr % LARGEST_ALIGNMENT;

    if (status == CUDA_SUCCESS && offset != 0 && ByteOffset == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference,
               reference_bind_linear(reference, dptr - offset, bytes + offset));
    }
    if (status == CUDA_SUCCESS && ByteOffset != NULL) {
        *ByteOffset = offset;
    }
    return emu_leave(status);
}

static void
reference_bind_pitched(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *d,
                       uint64_t address, size_t pitch)
{
    memset(&reference->resource, 0, sizeof(reference->resource));
    reference->resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    reference->resource.res.pitch2D.devPtr = address;
    reference->resource.res.pitch2D.format = d->Format;
    reference->resource.res.pitch2D.numChannels = d->NumChannels;
    reference->resource.res.pitch2D.width = d->Width;
    reference->resource.res.pitch2D.height = d->Height;
    reference->resource.res.pitch2D.pitchInBytes = pitch;
    reference->format = d->Format;
    reference->channels = d->NumChannels;
    reference->bound = true;
}

CUresult
emu_cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
                         CUdeviceptr dptr, size_t Pitch)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefSetAddress2D, hTexRef, EMU_TEXREF);

    if (status == CUDA_SUCCESS && desc == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference,
               reference_bind_pitched(reference, desc, dptr, Pitch));
    }
    return emu_leave(status);
}

/* -- settings ---------------------------------------------------------------------- */

static void
reference_set_format(CUtexref reference, CUarray_format format, unsigned int channels)
{
    reference->format = format;
    reference->channels = channels;
    if (reference->bound && reference->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        reference->resource.res.linear.format = format;
        reference->resource.res.linear.numChannels = channels;
    }
}

CUresult
emu_cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents)
{
    emu_context *context;
    CUtexref reference;
    const unsigned int channels = (unsigned int)NumPackedComponents;
    CUresult status = ENTER(TexRefSetFormat, hTexRef, EMU_TEXREF);

    if (status == CUDA_SUCCESS && (emu_array_format_size(fmt) == 0 ||
                                   (channels != 1 && channels != 2 && channels != 4))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, reference_set_format(reference, fmt, channels));
    }
    return emu_leave(status);
}

CUresult
emu_cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefSetAddressMode, hTexRef, EMU_TEXREF);

    if (status == CUDA_SUCCESS && (dim < 0 || dim > 2 || am > 3)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, reference->texture.addressMode[dim] = am);
    }
    return emu_leave(status);
}

CUresult
emu_cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefSetFilterMode, hTexRef, EMU_TEXREF);

    if (status == CUDA_SUCCESS && fm > 1) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, reference->texture.filterMode = fm);
    }
    return emu_leave(status);
}

CUresult
emu_cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags)
{
    emu_context *context;
    CUtexref reference;
    CUresult status = ENTER(TexRefSetFlags, hTexRef, EMU_TEXREF);

    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, reference->texture.flags = Flags);
    }
    return emu_leave(status);
}

/* -- getters ----------------------------------------------------------------------- */

/* A call that stores facts about a reference if the condition holds. */
#define REFERENCE_GETTER(name, parameters, handle, kind, condition, statement) \
    CUresult emu_cu##name parameters                                           \
    {                                                                          \
        emu_context *context;                                                  \
        CUtexref reference;                                                    \
        CUresult status = ENTER(name, handle, kind);                           \
                                                                               \
        if (status == CUDA_SUCCESS && !(condition)) {                          \
            status = CUDA_ERROR_INVALID_VALUE;                                 \
        }                                                                      \
        if (status == CUDA_SUCCESS) {                                          \
            statement;                                                         \
        }                                                                      \
        return emu_leave(status);                                              \
    }

static bool
reference_is_bound_to(const struct CUtexref_st *reference, CUresourcetype type)
{
    return reference->bound && reference->resource.resType == type;
}

/* The address of a reference that is bound to linear or pitched memory. */
static CUdeviceptr
reference_address(const struct CUtexref_st *reference)
{
    if (reference->resource.resType == CU_RESOURCE_TYPE_LINEAR) {
        return reference->resource.res.linear.devPtr;
    }
    return reference->resource.res.pitch2D.devPtr;
}

REFERENCE_GETTER(TexRefGetAddress, (CUdeviceptr * pdptr, CUtexref hTexRef), hTexRef,
                 EMU_TEXREF,
                 pdptr != NULL &&
                     (reference_is_bound_to(reference, CU_RESOURCE_TYPE_LINEAR) ||
                      reference_is_bound_to(reference, CU_RESOURCE_TYPE_PITCH2D)),
                 *pdptr = reference_address(reference))
REFERENCE_GETTER(TexRefGetArray, (CUarray * phArray, CUtexref hTexRef), hTexRef,
                 EMU_TEXREF,
                 phArray != NULL &&
                     reference_is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY),
                 *phArray = reference->resource.res.array.hArray)
REFERENCE_GETTER(SurfRefGetArray, (CUarray * phArray, CUsurfref hSurfRef), hSurfRef,
                 EMU_SURFREF,
                 phArray != NULL &&
                     reference_is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY),
                 *phArray = reference->resource.res.array.hArray)
REFERENCE_GETTER(TexRefGetAddressMode,
                 (CUaddress_mode * pam, CUtexref hTexRef, int dim), hTexRef, EMU_TEXREF,
                 pam != NULL && dim >= 0 && dim <= 2,
                 *pam = reference->texture.addressMode[dim])
REFERENCE_GETTER(TexRefGetFilterMode, (CUfilter_mode * pfm, CUtexref hTexRef), hTexRef,
                 EMU_TEXREF, pfm != NULL, *pfm = reference->texture.filterMode)
REFERENCE_GETTER(TexRefGetFormat,
                 (CUarray_format * pFormat, int *pNumChannels, CUtexref hTexRef),
                 hTexRef, EMU_TEXREF, pFormat != NULL && pNumChannels != NULL,
                 (*pFormat = reference->format,
                  *pNumChannels = (int)reference->channels))
REFERENCE_GETTER(TexRefGetFlags, (unsigned int *pFlags, CUtexref hTexRef), hTexRef,
                 EMU_TEXREF, pFlags != NULL, *pFlags = reference->texture.flags)
