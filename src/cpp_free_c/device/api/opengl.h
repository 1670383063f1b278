/* A substitute for OpenGL on the software device: named buffers and images.
 *
 * There is no OpenGL that could share memory with the device, so a test declares the
 * names that it would have made there. If no name is declared, calls that register a
 * name fail as on a GPU without a current OpenGL context. The functions may be called
 * from any thread at any time. */
#ifndef DEVICE_API_OPENGL_H
#define DEVICE_API_OPENGL_H

#include <stddef.h>

#include "device/base/export.h"

/* Declare a buffer of that many bytes; 0 bytes: forget the name. Return 0, or -1 if
 * there is no room for more names. Registered objects stay as they are. */
EMU_EXPORT int emu_gl_buffer(unsigned int name, size_t bytes);

/* The same for an image; width 0: forget the name. The format is a CUarray_format. */
EMU_EXPORT int emu_gl_image(unsigned int name, unsigned int target, size_t width,
                            size_t height, size_t depth, unsigned int format,
                            unsigned int channels);

#endif
