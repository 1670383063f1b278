/* Images: PTX text, a fat binary, or the result of cuLinkComplete.
 *
 * Modules are loaded from images and links are made of them. Machine code cannot run
 * here; it is refused with a message that says what to build. However malformed an
 * image is, nothing outside [data, data + size) is read. */
#ifndef DEVICE_API_MODULE_IMAGE_H
#define DEVICE_API_MODULE_IMAGE_H

#include "device/api/module/image_texts.h"

#define EMU_IMAGE_SIZE_UNKNOWN ((size_t)-1)

/* Find the PTX texts of an image for a capability of 10 * major + minor. If the size is
 * unknown, a text must end in a zero byte, and the sizes in headers are trusted.
 * INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY. After a failure there is nothing to
 * close. */
CUresult emu_image_open(const void *data, size_t size, int capability,
                        emu_image *image);

/* The same for an object file or a library, which only links take. `name` is for
 * messages. */
CUresult emu_image_open_object(const void *data, size_t size, int capability,
                               const char *name, emu_image *image);
CUresult emu_image_open_library(const void *data, size_t size, int capability,
                                const char *name, emu_image *image);

/* Pack texts into an image that emu_image_open reads; to be freed with free. NULL: out
 * of memory. */
void *emu_image_pack(const emu_source *texts, size_t count, size_t *size);

/* Read a whole file, with a zero byte behind it that `size` does not count; to be freed
 * with free. FILE_NOT_FOUND, INVALID_VALUE if it cannot be opened, INVALID_IMAGE if it
 * cannot be read (a folder), OUT_OF_MEMORY. */
CUresult emu_image_read_file(const char *path, char **data, size_t *size);

#endif
