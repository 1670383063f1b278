/* Texture and surface objects: their descriptors, unpacked for sampling.
 *
 * A handle is a slot number and a generation. Slots are never freed, so a kernel that
 * uses a destroyed handle does not crash: emu_texture_find returns NULL. The program
 * may have freed the memory of a live texture: check it with emu_memory_check (a linear
 * resource) or compare `serial` with its record (an array). The driver's calls are in
 * device/api/texture/texture.c. */
#ifndef DEVICE_MEMORY_TEXTURE_H
#define DEVICE_MEMORY_TEXTURE_H

#include "device/memory/array.h"

/* CUDA_TEXTURE_DESC.flags. */
enum {
    EMU_TEXTURE_READ_AS_INTEGER = 1,
    EMU_TEXTURE_NORMALIZED_COORDINATES = 2,
    EMU_TEXTURE_SRGB = 16,
    EMU_TEXTURE_DISABLE_TRILINEAR = 32,
    EMU_TEXTURE_SEAMLESS_CUBEMAP = 64
};

/* An element (x, y, z) of a level is at base + z * slice + y * pitch + x * element. */
typedef struct {
    uint64_t base;
    size_t width, height, depth; /* in elements; depth counts layers or faces */
    size_t pitch, slice;         /* bytes */
    uint64_t serial;             /* of the allocation when the object was created */
} emu_texture_level;

typedef struct emu_texture {
    _Atomic uint64_t handle; /* 0: no live texture or surface is in this slot */
    bool surface;
    bool has_view;
    int device;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture; /* zeros for a surface */
    CUDA_RESOURCE_VIEW_DESC view;
    CUarray_format format;
    unsigned int channels;
    size_t element;
    int dimensions;     /* 1, 2 or 3, layers not counted */
    unsigned int flags; /* EMU_ARRAY_ flags of the array; 0 for linear memory */
    unsigned int level_count;
    emu_texture_level levels[EMU_ARRAY_LEVELS];
    uint64_t generation;
    struct emu_texture *next; /* free slots; guarded by the API lock */
} emu_texture;

/* A texture or surface object in the registry; the context owns it. */
typedef struct {
    emu_object object;
    emu_texture *slot;
} emu_texture_object;

/* Create an object of that kind: EMU_TEXTURE, EMU_SURFACE, or EMU_TEXREF for a hidden
 * one. `texture` is NULL for a surface, `view` may be NULL. Call with the API lock
 * held, as the next three. The `destroy` of the object's header destroys it. */
CUresult emu_texture_create(emu_context *context, emu_kind kind,
                            const CUDA_RESOURCE_DESC *resource,
                            const CUDA_TEXTURE_DESC *texture,
                            const CUDA_RESOURCE_VIEW_DESC *view, uint64_t *handle);
/* The live texture or surface of a handle that the program gave, or NULL. */
emu_texture_object *emu_texture_get(uint64_t handle, emu_kind kind);

/* Create and destroy the object of a texture or surface reference; the counts of live
 * objects leave it out. `texture` is NULL for a surface reference. Destroying handle 0
 * does nothing. */
CUresult emu_texture_make_hidden(struct CUctx_st *context,
                                 const CUDA_RESOURCE_DESC *resource,
                                 const CUDA_TEXTURE_DESC *texture, uint64_t *handle);
void emu_texture_drop_hidden(uint64_t handle);

/* The live texture or surface of a handle, or NULL. Takes no lock. */
const emu_texture *emu_texture_find(uint64_t handle);

#endif
