/* Arrays, textures and surfaces: their records, and one fetch of one thread. The
 * driver's calls on them are in device/api/texture. */
#ifndef DEVICE_MEMORY_TEXTURE_H
#define DEVICE_MEMORY_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/base/number.h"
#include "device/memory/memory.h"

/* -- CUDA arrays: one to three dimensions, layers, cube faces and levels ----------- */

/* The elements are row after row: an element (x, y, z) is at base + z * slice +
 * y * pitch + x * element; z counts layers or faces of an array that has them. */

enum {
    EMU_ARRAY_LAYERED = 1,
    EMU_ARRAY_SURFACE = 2,
    EMU_ARRAY_CUBEMAP = 4,
    EMU_ARRAY_GATHER = 8
};

enum { EMU_ARRAY_LEVELS = 16 };

typedef struct CUarray_st {
    emu_object object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* as given */
    size_t element;                     /* bytes of an element, all channels */
    size_t width, height, depth;        /* in elements; 1 where the descriptor has 0 */
    size_t pitch, slice;                /* bytes */
    emu_allocation *memory;
    uint64_t base;
    struct CUmipmappedArray_st *parent; /* of a level; only it destroys the level */
    unsigned int level;
    struct CUarray_st **keeper; /* of an OpenGL image: the pointer of the registration,
                                 * which alone destroys the array. Set to NULL when the
                                 * context has destroyed it */
} emu_array;

typedef struct CUmipmappedArray_st {
    emu_object object;
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    unsigned int level_count;
    emu_array *levels[EMU_ARRAY_LEVELS]; /* NULL once destroyed */
} emu_mipmap;

/* Create a zeroed array in a context. INVALID_VALUE for a descriptor that is not valid.
 * The `destroy` of its header destroys it. */
CUresult emu_array_create(emu_context *context,
                          const CUDA_ARRAY3D_DESCRIPTOR *descriptor, emu_array **out);

/* Create a mipmapped array with its levels; each level is an array of the context. The
 * number of levels is cut to what the sides allow. */
CUresult emu_mipmap_create(emu_context *context,
                           const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                           unsigned int level_count, emu_mipmap **out);

/* Bytes of one channel of a CUarray_format; 0 for an unknown one. */
size_t emu_array_format_size(CUarray_format format);

/* -- texture and surface objects: their descriptors, unpacked for sampling --------- */

/* A handle is a slot number and a generation. Slots are never freed, so a kernel that
 * uses a destroyed handle does not crash: emu_texture_find returns NULL. The program
 * may have freed the memory of a live texture: check it with emu_memory_holding (a
 * linear resource) or compare `serial` with its record (an array). */

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

/* -- the geometries of texture and surface instructions ---------------------------- */

/* The geometry that an instruction names. The texture may have another one. */
typedef enum {
    EMU_GEOMETRY_1D,
    EMU_GEOMETRY_2D,
    EMU_GEOMETRY_3D,
    EMU_GEOMETRY_A1D,
    EMU_GEOMETRY_A2D,
    EMU_GEOMETRY_CUBE,
    EMU_GEOMETRY_ACUBE
} emu_geometry;

/* The number of coordinates of a geometry. The layer does not count. */
static inline unsigned
emu_geometry_sides(unsigned geometry)
{
    static const unsigned char sides[] = {1, 2, 3, 1, 2, 3, 3};

    return sides[geometry];
}

/* Whether the layer comes before the coordinates. */
static inline bool
emu_geometry_layered(unsigned geometry)
{
    return geometry == EMU_GEOMETRY_A1D || geometry == EMU_GEOMETRY_A2D ||
           geometry == EMU_GEOMETRY_ACUBE;
}

/* -- samplers: the state of a texture object --------------------------------------- */

/* A sampler is a copy, so that a fetch reads one state even while the program destroys
 * the object. */

typedef struct {
    CUarray_format format;
    unsigned int channels;
    size_t element;
    bool in_line;   /* linear memory: no filter, zeros outside */
    bool cubemap;   /* layers are faces */
    bool is_float;  /* a fetch returns floats, not integers */
    bool normalise; /* integers become floats of [0, 1] or [-1, 1] */
    bool linear;    /* filter */
    bool mip_linear;
    bool unit_range; /* coordinates of [0, 1) */
    bool srgb, seamless;
    CUaddress_mode modes[3];
    float bias, least_level, most_level;
    uint32_t border[4];
    unsigned int level_count; /* at least 1 */
    emu_texture_level levels[EMU_ARRAY_LEVELS];
} emu_sampler;

/* Copy the state of a texture. Does not access its memory. */
void emu_sampler_read(emu_sampler *sampler, const emu_texture *texture);

/* -- sampling: from coordinates to four values ------------------------------------- */

/* Every fetch stays within the levels of the sampler, whatever the coordinates are. The
 * caller has checked that the memory of the levels is live. Pure functions.
 *
 * The manuals leave some details open. Each is decided in one place: the rounding of
 * coordinates to 8 bits of fraction (axis_linear), the sum of the weighted texels
 * (filter), the channels that a format lacks (emu_texel_fill), equal components of a
 * cube direction (cube_face). */

typedef struct {
    unsigned geometry; /* emu_geometry */
    int32_t layer;
    float at[3];
    int32_t offset[3]; /* in texels */
    float level;
} emu_fetch;

/* Fetch; the result is the bits of four floats or integers. */
void emu_sample(const emu_sampler *sampler, const emu_fetch *fetch, uint32_t out[4]);
/* Fetch at integer coordinates, unfiltered. */
void emu_sample_texel(const emu_sampler *sampler, const emu_fetch *fetch,
                      const int32_t at[3], uint32_t out[4]);
/* Fetch one channel of the four texels that a linear filter in 2D reads, in the order
 * of tld4. */
void emu_sample_gather(const emu_sampler *sampler, const emu_fetch *fetch,
                       unsigned channel, uint32_t out[4]);
/* The level for derivatives of the coordinates. */
float emu_sample_level(const emu_sampler *sampler, const emu_fetch *fetch,
                       const float dx[3], const float dy[3]);

/* -- texels: from the bytes of an element to four channels ------------------------- */

/* A channel has the bits of a float or of a widened integer. A place outside the level
 * reads the colour of the border. Channels that the format lacks are 0. */

/* Set the channels that the format lacks, alpha too, to 0. */
void emu_texel_fill(const emu_sampler *s, uint32_t out[4]);
/* Read one texel for a filter; z is a slice, a layer or a face. If one of the indices
 * is outside the level, read the border. */
void emu_texel_tap(const emu_sampler *s, const emu_texture_level *level, int64_t x,
                   int64_t y, int64_t z, uint32_t out[4]);
/* Read one texel as a program sees it: the least normalised value is -1. */
void emu_texel_read(const emu_sampler *s, const emu_texture_level *level, int64_t x,
                    int64_t y, int64_t z, uint32_t out[4]);
/* Write one channel of an element. The word is a float for a format of floats, else an
 * integer, which is clamped to the range of the format. */
void emu_texel_write(CUarray_format format, uint8_t *element, unsigned int channel,
                     uint32_t word);

#endif
