/* Calls of libzstd and liblz4. See image.h. */
#include "device/api/module/image.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* From the manuals of the two libraries. */
typedef size_t (*zstd_decompress)(void *out, size_t room, const void *data,
                                  size_t size);
typedef int (*lz4_decompress)(const char *data, char *out, int size, int room);

typedef struct {
    const char *name;     /* of the format */
    const char *file;     /* of the library */
    const char *packages; /* that have it, in the words of a sentence */
    const char *symbol;
    size_t ratio; /* more bytes than this cannot come from one */
} decompression_library;

static const decompression_library libraries[] = {
    [EMU_COMPRESSION_LZ4] = {"LZ4", "liblz4.so.1", "liblz4-1 (Debian) or lz4-libs",
                             "LZ4_decompress_safe", 255},
    [EMU_COMPRESSION_ZSTD] = {"zstd", "libzstd.so.1", "libzstd1 (Debian) or libzstd",
                              "ZSTD_decompress", 32768},
};

/* Whether `size` bytes may be `full` bytes after decompression, which is not known
 * before. The size in the header may be damaged. */
static bool
decompression_is_possible(const decompression_library *row, size_t size, size_t full)
{
    const size_t largest_text = (size_t)1 << 30;

    return full <= largest_text && full / row->ratio <= size;
}

/* Call the function of a library. True: it wrote exactly `full` bytes. */
static bool
decompression_call(emu_compression kind, void *symbol, const char *data, size_t size,
                   char *out, size_t full)
{
    if (kind == EMU_COMPRESSION_ZSTD) {
        zstd_decompress decompress;

        memcpy(&decompress, &symbol, sizeof(decompress)); /* a cast is not ISO C */
        return decompress(out, full, data, size) == full;
    }
    lz4_decompress decompress;

    memcpy(&decompress, &symbol, sizeof(decompress));
    return size <= INT32_MAX &&
           decompress(data, out, (int)size, (int)full) == (int)full;
}

/* Decompress with the library, which is open. */
static CUresult
decompression_run(emu_image *image, emu_compression kind, void *library,
                  const char *data, size_t size, size_t full, const char **out)
{
    const decompression_library *row = &libraries[kind];
    void *symbol = dlsym(library, row->symbol);
    char *text;

    if (symbol == NULL) {
        return emu_image_refuse(image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                                "The library %s has no function %s, which the %s "
                                "compressed PTX of this image needs.",
                                row->file, row->symbol, row->name);
    }
    text = emu_image_memory_new(image, full + 1);
    if (text == NULL) {
        return emu_image_refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
    }
    if (!decompression_call(kind, symbol, data, size, text, full)) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The PTX of this image is damaged: %s cannot "
                                "decompress it to %zu bytes.",
                                row->name, full);
    }
    text[full] = 0;
    *out = text;
    return CUDA_SUCCESS;
}

CUresult
emu_decompress(emu_image *image, emu_compression kind, const char *data, size_t size,
               size_t full, const char **out)
{
    const decompression_library *row = &libraries[kind];
    void *library;
    CUresult status;

    *out = NULL;
    if (!decompression_is_possible(row, size, full)) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The PTX of this image is damaged: it claims to have "
                                "%zu bytes.",
                                full);
    }
    library = dlopen(row->file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        return emu_image_refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "The PTX in this fat binary is compressed with %s, and the library %s "
            "cannot be opened: install the package %s, or build the fat binary with "
            "nvcc --no-compress.",
            row->name, row->file, row->packages);
    }
    status = decompression_run(image, kind, library, data, size, full, out);
    (void)dlclose(library); /* nothing is done about a failure */
    return status;
}
