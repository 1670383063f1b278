/* A substitute for OpenGL on the software device: named buffers and images.
 *
 * There is no OpenGL that could share memory with the device, so a test declares the
 * names that it would have made there. If no name is declared, calls that register a
 * name fail as on a GPU without a current OpenGL context. The functions may be called
 * from any thread at any time. */
#ifndef DEVICE_API_TEXTURE_OPENGL_H
#define DEVICE_API_TEXTURE_OPENGL_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/cuda_abi.h"
#include "device/base/export.h"

/* Declare a buffer of that many bytes; 0 bytes: forget the name. Return 0, or -1 if
 * there is no room for more names. Registered objects stay as they are. */
EMU_EXPORT int emu_gl_buffer(unsigned int name, size_t bytes);

/* The same for an image; width 0: forget the name. The format is a CUarray_format. */
EMU_EXPORT int emu_gl_image(unsigned int name, unsigned int target, size_t width,
                            size_t height, size_t depth, unsigned int format,
                            unsigned int channels);

/* -- for the entry points, with the API lock held ---------------------------------- */

typedef struct {
    bool used, image;
    unsigned int name, target;
    size_t bytes;                       /* of a buffer */
    CUDA_ARRAY3D_DESCRIPTOR descriptor; /* of an image */
} emu_gl_name;

/* The buffer or image that is declared by that name, or NULL. */
const emu_gl_name *emu_gl_find(unsigned int name, bool image);

/* INVALID_GRAPHICS_CONTEXT if no name is declared: then there is no OpenGL. */
CUresult emu_gl_check_context(void);

#endif
