/* What stands for OpenGL on the software device: named buffers and images.
 *
 * There is no OpenGL that could share memory with it, so a test declares here the names
 * that it would have made there. Where none is declared, the calls that begin something
 * fail as they do on a GPU without a current OpenGL context. The functions may be
 * called from any thread at any time. */
#ifndef DEVICE_API_OPENGL_H
#define DEVICE_API_OPENGL_H

#include "device/api/entry.h"

/* Declares a buffer of that many bytes; 0 bytes: forgets the name. 0, or -1 if there is
 * no room for more. What is registered stays as it is. */
EMU_EXPORT int emu_gl_buffer(unsigned int name, size_t bytes);

/* The same for an image: width 0 forgets it. The format is a CUarray_format. */
EMU_EXPORT int emu_gl_image(unsigned int name, unsigned int target, size_t width,
                            size_t height, size_t depth, unsigned int format,
                            unsigned int channels);

#endif
