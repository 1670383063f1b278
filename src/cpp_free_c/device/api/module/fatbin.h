/* Fat binaries: a header, then entries with PTX, machine code or LTO code, of which
 * each is for one compute capability. */
#ifndef DEVICE_API_MODULE_FATBIN_H
#define DEVICE_API_MODULE_FATBIN_H

#include <stdbool.h>

#include "device/api/module/image_texts.h"

/* The first four bytes. */
#define EMU_FATBIN_MAGIC 0xBA55ED50u

/* The size of the fat binary in the first bytes of [data, data + size), header
 * included. 0: it is cut off, or its header is damaged. */
size_t emu_fatbin_size(const char *data, size_t size);

/* Add the PTX that suits a device of this capability (10 * major + minor) best: that of
 * the highest capability. Of two for the same capability it is the one with the
 * features of that architecture (compute_90a). `text` has what to say about it.
 * INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY. */
CUresult emu_fatbin_open(const char *data, size_t size, unsigned capability,
                         emu_source text, emu_image *image);

#endif
