/* Decompression of the PTX in fat binaries: zstd and LZ4.
 *
 * The libraries are opened when a text needs them and closed after it. The package does
 * not depend on them. */
#ifndef DEVICE_API_MODULE_DECOMPRESSION_H
#define DEVICE_API_MODULE_DECOMPRESSION_H

#include "device/api/module/image_texts.h"

typedef enum { EMU_COMPRESSION_LZ4, EMU_COMPRESSION_ZSTD } emu_compression;

/* Decompress [data, data + size) to exactly `full` bytes at *out, which is memory of
 * the image. NO_BINARY_FOR_GPU without the library, INVALID_IMAGE if the data are
 * damaged, OUT_OF_MEMORY. */
CUresult emu_decompress(emu_image *image, emu_compression kind, const char *data,
                        size_t size, size_t full, const char **out);

#endif
