/* Images: PTX text, a fat binary, or the result of cuLinkComplete.
 *
 * Modules are loaded from images and links are made of them. Machine code cannot run
 * here; it is refused with a message that says what to build. However malformed an
 * image is, nothing outside [data, data + size) is read. */
#ifndef DEVICE_API_MODULE_IMAGE_H
#define DEVICE_API_MODULE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/cuda_abi.h"
#include "device/compile/program.h"

/* -- texts ------------------------------------------------------------------------- */

/* image.c, fatbin.c and object_file.c add texts; modules and links read them. A text
 * points into the image, or into memory that belongs to this record. */

typedef struct emu_image_memory {
    struct emu_image_memory *next;
    char bytes[];
} emu_image_memory;

typedef struct {
    emu_source *texts;
    size_t count, room;
    emu_image_memory *memory; /* of decompressed texts */
    char problem[400];        /* a sentence for the error log, after a failure */
} emu_image;

/* Keep a sentence about the problem. Returns `status`. */
CUresult emu_image_refuse(emu_image *image, CUresult status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add a text, without the zero bytes at its end. OUT_OF_MEMORY. */
CUresult emu_image_add(emu_image *image, emu_source text);

/* Memory of the image for a text. NULL: out of memory. */
char *emu_image_memory_new(emu_image *image, size_t size);

/* Free all texts and their memory. */
void emu_image_close(emu_image *image);

/* -- decompression ----------------------------------------------------------------- */

/* Of the PTX in fat binaries: zstd and LZ4. The libraries are opened when a text needs
 * them and closed after it. The package does not depend on them. */

typedef enum { EMU_COMPRESSION_LZ4, EMU_COMPRESSION_ZSTD } emu_compression;

/* Decompress [data, data + size) to exactly `full` bytes at *out, which is memory of
 * the image. NO_BINARY_FOR_GPU without the library, INVALID_IMAGE if the data are
 * damaged, OUT_OF_MEMORY. */
CUresult emu_decompress(emu_image *image, emu_compression kind, const char *data,
                        size_t size, size_t full, const char **out);

/* -- fat binaries ------------------------------------------------------------------ */

/* A header, then entries with PTX, machine code or LTO code, of which each is for one
 * compute capability. */

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

/* -- object files ------------------------------------------------------------------ */

/* Object files and libraries of a host compiler that have device code in them. nvcc
 * puts fat binaries into sections of an object file. A library is an archive of object
 * files. Only links take them. */

/* Add the PTX of an object file for a device of this capability. `name` is for
 * messages. INVALID_IMAGE, NO_BINARY_FOR_GPU, OUT_OF_MEMORY. */
CUresult emu_object_file_open(const char *data, size_t size, unsigned capability,
                              const char *name, emu_image *image);

/* The same for all object files of a library. Its texts are linked only if they define
 * what other texts need. So an object file without suitable PTX is no error: its
 * problem is kept, in case that something is missing in the end. */
CUresult emu_library_file_open(const char *data, size_t size, unsigned capability,
                               const char *name, emu_image *image);

/* -- images ------------------------------------------------------------------------ */

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
