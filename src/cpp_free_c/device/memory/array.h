/* CUDA arrays: one to three dimensions, layers, cube faces and levels, row after row.
 *
 * An element (x, y, z) is at base + z * slice + y * pitch + x * element; z counts
 * layers or faces of an array that has them. Read by textures, surfaces and copies. The
 * driver's calls on arrays are in device/api/texture/array.c. */
#ifndef DEVICE_MEMORY_ARRAY_H
#define DEVICE_MEMORY_ARRAY_H

#include "device/memory/memory.h"

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

#endif
