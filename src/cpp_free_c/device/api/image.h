/* What a module is loaded from: PTX text, a fat binary, or what cuLinkComplete made.
 *
 * Machine code cannot run here; it is refused with a message that says what to build.
 * No image, however malformed, makes this read outside [data, data + size). */
#ifndef DEVICE_API_IMAGE_H
#define DEVICE_API_IMAGE_H

#include <stddef.h>

#include "abi/cuda_abi.h"
#include "device/compile/program.h"

#define EMU_IMAGE_SIZE_UNKNOWN ((size_t)-1)

typedef struct {
    emu_source *texts; /* they point into the image */
    size_t count;
    const char *problem; /* after a failure: a sentence for the error log */
} emu_image;

/* Finds the PTX texts of an image for a capability of 10 * major + minor. With an
 * unknown size a text must end in a zero byte, and the headers are believed.
 * INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY. */
CUresult emu_image_open(const void *data, size_t size, int capability,
                        emu_image *image);
void emu_image_close(emu_image *image);

/* Packs texts into an image that emu_image_open reads; to be freed with free. NULL: out
 * of memory. */
void *emu_image_pack(const emu_source *texts, size_t count, size_t *size);

#endif
