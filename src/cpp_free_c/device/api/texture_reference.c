/* Texture and surface references: PTX variables of type .texref and .surfref.
 *
 * In memory such a variable is the handle of a texture or surface object. A reference
 * keeps what the program set; each change makes a new object of it and stores its
 * handle, once all work under way is done. A module lists its references and destroys
 * them; those of cuTexRefCreate belong to no module and only keep their state. */
#define _GNU_SOURCE
#include "device/memory/texture.h"

#include <string.h>

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/module.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

enum { LARGEST_ALIGNMENT = 512, OVERRIDE_FORMAT = 1 };

struct CUtexref_st {
    emu_object object;
    emu_module *module; /* NULL: of cuTexRefCreate */
    struct CUtexref_st *next;
    uint64_t variable; /* its address */
    uint64_t handle;   /* of the object in it, or 0 */
    bool bound;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUarray_format format;
    unsigned int channels;
};

/* -- life -------------------------------------------------------------------------- */

static void
destroy(emu_object *object)
{
    CUtexref reference = (CUtexref)object;

    if (reference->module) {
        CUtexref *link = &reference->module->references;

        while (*link != reference) {
            link = &(*link)->next;
        }
        *link = reference->next;
    }
    emu_texture_drop_hidden(reference->handle);
    emu_object_free(object);
}

void
emu_references_close(emu_module *module)
{
    while (module->references) {
        destroy(&module->references->object);
    }
}

static CUtexref
make(emu_kind kind, emu_context *context)
{
    CUtexref reference = emu_object_new(kind, sizeof(*reference), context, destroy);

    if (reference) {
        reference->format = 0x20; /* float */
        reference->channels = 1;
    }
    return reference;
}

/* The reference of a variable, made when it is first asked for. */
static CUresult
find(CUmodule hmod, const char *name, emu_kind kind, CUtexref *out)
{
    emu_module *module = emu_object_get(hmod, EMU_MODULE);
    CUtexref reference;
    uint64_t address;

    if (!module) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!emu_program_reference(module->program, name, kind == EMU_SURFREF, &address)) {
        return CUDA_ERROR_NOT_FOUND;
    }
    for (reference = module->references; reference; reference = reference->next) {
        if (reference->variable == address) {
            *out = reference;
            return CUDA_SUCCESS;
        }
    }
    reference = make(kind, module->object.context);
    if (!reference) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    reference->module = module;
    reference->variable = address;
    reference->next = module->references;
    module->references = reference;
    *out = reference;
    return CUDA_SUCCESS;
}

/* Waits for all work and gives the variable an object of the present state. */
static CUresult
renew(emu_context *context, CUtexref reference)
{
    uint64_t handle = 0;
    CUresult status;
    int token;

    if (!reference->bound || !reference->module) {
        return CUDA_SUCCESS;
    }
    token = emu_stream_begin(context->null_stream);
    if (token < 0) {
        return emu_wait_status();
    }
    emu_context_flush(context);
    emu_stream_end(context->null_stream, token);
    status = emu_texture_make_hidden(
        context, &reference->resource,
        reference->object.kind == EMU_SURFREF ? NULL : &reference->texture, &handle);
    if (status == CUDA_SUCCESS) {
        emu_texture_drop_hidden(reference->handle);
        reference->handle = handle;
        memcpy((void *)(uintptr_t)reference->variable, &handle, sizeof(handle));
    }
    return status;
}

/* Sets a copy of the state, and undoes that where no object can be made of it. */
#define CHANGE(context, reference, statement)            \
    do {                                                 \
        const struct CUtexref_st before_ = *(reference); \
        statement;                                       \
        status = renew(context, reference);              \
        if (status != CUDA_SUCCESS) {                    \
            (reference)->bound = before_.bound;          \
            (reference)->resource = before_.resource;    \
            (reference)->texture = before_.texture;      \
            (reference)->format = before_.format;        \
            (reference)->channels = before_.channels;    \
        }                                                \
    } while (0)

/* Begins a call about a reference of a kind. */
static CUresult
enter(emu_call call, const void *handle, emu_kind kind, emu_context **context,
      CUtexref *reference)
{
    CUresult status = emu_enter_context(call, context);

    *reference = NULL;
    if (status == CUDA_SUCCESS) {
        *reference = emu_object_get(handle, kind);
        status = *reference ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    return status;
}

#define ENTER(name, handle, kind) \
    enter(EMU_CALL_##name, handle, kind, &context, &reference)

/* -- finding and making ------------------------------------------------------------ */

CUresult
emu_cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name)
{
    emu_context *context;
    CUresult status = EMU_ENTER_MODULE(ModuleGetTexRef, hmod, &context);

    if (status == CUDA_SUCCESS && (!pTexRef || !name)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = find(hmod, name, EMU_TEXREF, pTexRef);
    }
    return emu_leave(status);
}

CUresult
emu_cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name)
{
    emu_context *context;
    CUtexref reference = NULL;
    CUresult status = EMU_ENTER_MODULE(ModuleGetSurfRef, hmod, &context);

    if (status == CUDA_SUCCESS && (!pSurfRef || !name)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = find(hmod, name, EMU_SURFREF, &reference);
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

    if (status == CUDA_SUCCESS && !pTexRef) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CUtexref reference = make(EMU_TEXREF, context);

        if (reference) {
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

    if (status == CUDA_SUCCESS && reference->module) {
        status = CUDA_ERROR_INVALID_HANDLE; /* it is the module's */
    }
    if (status == CUDA_SUCCESS) {
        destroy(&reference->object);
    }
    return emu_leave(status);
}

/* -- binding ----------------------------------------------------------------------- */

static void
bind_array(CUtexref reference, CUarray handle, const CUDA_ARRAY3D_DESCRIPTOR *d)
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
        status = array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, bind_array(reference, hArray, &array->descriptor));
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
        status = !array ? CUDA_ERROR_INVALID_HANDLE
                 : array->descriptor.Flags & EMU_ARRAY_SURFACE
                     ? CUDA_SUCCESS
                     : CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, bind_array(reference, hArray, &array->descriptor));
    }
    return emu_leave(status);
}

static void
bind_linear(CUtexref reference, uint64_t address, size_t size)
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

    if (status == CUDA_SUCCESS && offset && !ByteOffset) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference,
               bind_linear(reference, dptr - offset, bytes + offset));
    }
    if (status == CUDA_SUCCESS && ByteOffset) {
        *ByteOffset = offset;
    }
    return emu_leave(status);
}

static void
bind_pitched(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *d, uint64_t address,
             size_t pitch)
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

    if (status == CUDA_SUCCESS && !desc) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, bind_pitched(reference, desc, dptr, Pitch));
    }
    return emu_leave(status);
}

/* -- settings ---------------------------------------------------------------------- */

static void
set_format(CUtexref reference, CUarray_format format, unsigned int channels)
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

    if (status == CUDA_SUCCESS && (!emu_array_format_size(fmt) ||
                                   (channels != 1 && channels != 2 && channels != 4))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        CHANGE(context, reference, set_format(reference, fmt, channels));
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

/* -- answers ----------------------------------------------------------------------- */

/* A getter: what it gives if the condition holds, else INVALID_VALUE. */
#define GETTER(name, parameters, handle, kind, condition, statement) \
    CUresult emu_cu##name parameters                                 \
    {                                                                \
        emu_context *context;                                        \
        CUtexref reference;                                          \
        CUresult status = ENTER(name, handle, kind);                 \
                                                                     \
        if (status == CUDA_SUCCESS && !(condition)) {                \
            status = CUDA_ERROR_INVALID_VALUE;                       \
        }                                                            \
        if (status == CUDA_SUCCESS) {                                \
            statement;                                               \
        }                                                            \
        return emu_leave(status);                                    \
    }

static bool
is_bound_to(const struct CUtexref_st *reference, CUresourcetype type)
{
    return reference->bound && reference->resource.resType == type;
}

GETTER(TexRefGetAddress, (CUdeviceptr * pdptr, CUtexref hTexRef), hTexRef, EMU_TEXREF,
       pdptr && (is_bound_to(reference, CU_RESOURCE_TYPE_LINEAR) ||
                 is_bound_to(reference, CU_RESOURCE_TYPE_PITCH2D)),
       *pdptr = reference->resource.resType == CU_RESOURCE_TYPE_LINEAR
                    ? reference->resource.res.linear.devPtr
                    : reference->resource.res.pitch2D.devPtr)
GETTER(TexRefGetArray, (CUarray * phArray, CUtexref hTexRef), hTexRef, EMU_TEXREF,
       phArray &&is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY),
       *phArray = reference->resource.res.array.hArray)
GETTER(SurfRefGetArray, (CUarray * phArray, CUsurfref hSurfRef), hSurfRef, EMU_SURFREF,
       phArray &&is_bound_to(reference, CU_RESOURCE_TYPE_ARRAY),
       *phArray = reference->resource.res.array.hArray)
GETTER(TexRefGetAddressMode, (CUaddress_mode * pam, CUtexref hTexRef, int dim), hTexRef,
       EMU_TEXREF, pam &&dim >= 0 && dim <= 2,
       *pam = reference->texture.addressMode[dim])
GETTER(TexRefGetFilterMode, (CUfilter_mode * pfm, CUtexref hTexRef), hTexRef,
       EMU_TEXREF, pfm, *pfm = reference->texture.filterMode)
GETTER(TexRefGetFormat, (CUarray_format * pFormat, int *pNumChannels, CUtexref hTexRef),
       hTexRef, EMU_TEXREF, pFormat &&pNumChannels,
       (*pFormat = reference->format, *pNumChannels = (int)reference->channels))
GETTER(TexRefGetFlags, (unsigned int *pFlags, CUtexref hTexRef), hTexRef, EMU_TEXREF,
       pFlags, *pFlags = reference->texture.flags)
