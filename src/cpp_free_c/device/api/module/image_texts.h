/* The PTX texts that were found in an image.
 *
 * image.c, fatbin.c and object_file.c add texts; modules and links read them. A text
 * points into the image, or into memory that belongs to this record. */
#ifndef DEVICE_API_MODULE_IMAGE_TEXTS_H
#define DEVICE_API_MODULE_IMAGE_TEXTS_H

#include <stddef.h>

#include "abi/cuda_abi.h"
#include "device/compile/program.h"

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

#endif
