/* Telling the kinds of images apart and finding the PTX in them. See image.h. */
#include "device/api/module/image.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- texts ------------------------------------------------------------------------- */

CUresult
emu_image_refuse(emu_image *image, CUresult status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(image->problem, sizeof(image->problem), format, args);
    va_end(args);
    return status;
}

CUresult
emu_image_add(emu_image *image, emu_source text)
{
    if (image->count == image->room) {
        const size_t room = image->room * 2 + 4;
        emu_source *texts = realloc(image->texts, room * sizeof(*texts));

        if (texts == NULL) {
            return emu_image_refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
        }
        image->texts = texts;
        image->room = room;
    }
    while (text.size > 0 && text.text[text.size - 1] == 0) {
        text.size--; /* padding */
    }
    image->texts[image->count++] = text;
    return CUDA_SUCCESS;
}

char *
emu_image_memory_new(emu_image *image, size_t size)
{
    emu_image_memory *memory = malloc(sizeof(*memory) + size);

    if (memory == NULL) {
        return NULL;
    }
    memory->next = image->memory;
    image->memory = memory;
    return memory->bytes;
}

void
emu_image_close(emu_image *image)
{
    while (image->memory != NULL) {
        emu_image_memory *next = image->memory->next;

        free(image->memory);
        image->memory = next;
    }
    free(image->texts);
    image->texts = NULL;
    image->count = image->room = 0;
}

/* -- layouts ----------------------------------------------------------------------- */

#define WRAPPER_MAGIC 0x466243B1u

/* The compiler puts this into an object file; it points to the fat binary. */
typedef struct {
    uint32_t magic, version;
    const void *data;
} fatbin_wrapper;

/* The result of linking: texts one after the other, each behind its own header. */
static const char link_magic[8] = "\177PYCUDA";

typedef struct {
    char magic[8];
    uint64_t size, count; /* all bytes, header included; texts */
} link_header;

typedef struct {
    uint64_t size;
    uint32_t max_registers, is_library; /* as in emu_source */
} link_text;

/* -- results of linking ------------------------------------------------------------ */

static CUresult
linked_open(const char *data, size_t size, emu_image *image)
{
    static const char cut_off[] = "The linked image is cut off.";
    link_header header;
    size_t at = sizeof(header);
    CUresult status = CUDA_SUCCESS;

    if (size < sizeof(header)) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE, cut_off);
    }
    memcpy(&header, data, sizeof(header));
    if (header.size < sizeof(header) || header.size > size) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE, cut_off);
    }
    size = (size_t)header.size;
    for (uint64_t i = 0; status == CUDA_SUCCESS && i < header.count; i++) {
        link_text text;

        if (size - at < sizeof(text)) {
            return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE, cut_off);
        }
        memcpy(&text, data + at, sizeof(text));
        at += sizeof(text);
        if (text.size > size - at) {
            return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE, cut_off);
        }
        status = emu_image_add(image, (emu_source){.text = data + at,
                                                   .size = (size_t)text.size,
                                                   .max_registers = text.max_registers,
                                                   .is_library = text.is_library != 0});
        at += (size_t)text.size;
    }
    return status;
}

/* -- images ------------------------------------------------------------------------ */

/* Compare the first bytes. This reads no byte behind the first that differs, because a
 * short text may end there. */
static bool
image_begins_with(const char *data, size_t size, const void *magic, size_t length)
{
    const char *expected = magic;

    if (size < length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (data[i] != expected[i]) {
            return false;
        }
    }
    return true;
}

/* Open the fat binary to which a wrapper points. */
static CUresult
wrapper_open(const char *data, unsigned capability, emu_image *image)
{
    static const uint32_t fatbin = EMU_FATBIN_MAGIC;
    fatbin_wrapper outer;

    memcpy(&outer, data, sizeof(outer));
    if (outer.data == NULL || memcmp(outer.data, &fatbin, sizeof(fatbin)) != 0) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The wrapper points to no fat binary.");
    }
    return emu_fatbin_open(outer.data, EMU_IMAGE_SIZE_UNKNOWN, capability,
                           (emu_source){.name = NULL}, image);
}

static CUresult
image_open_any(const char *data, size_t size, unsigned capability, emu_image *image)
{
    static const uint32_t fatbin = EMU_FATBIN_MAGIC, wrapper = WRAPPER_MAGIC;
    static const unsigned char lto_magic[] = {0xed, 0x43, 0x4e, 0x7f};

    if (image_begins_with(data, size, "\177ELF", 4)) {
        return emu_image_refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "This is machine code for a GPU (a cubin), which the software device "
            "cannot run: build PTX (nvcc -ptx -arch=compute_75).");
    }
    if (image_begins_with(data, size, lto_magic, sizeof(lto_magic))) {
        return emu_image_refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "This is LTO code (nvcc -ltoir), which only NVIDIA's compiler can "
            "translate: build PTX (nvcc -ptx -arch=compute_75).");
    }
    if (image_begins_with(data, size, &fatbin, sizeof(fatbin))) {
        return emu_fatbin_open(data, size, capability, (emu_source){.name = NULL},
                               image);
    }
    if (size == EMU_IMAGE_SIZE_UNKNOWN &&
        image_begins_with(data, size, &wrapper, sizeof(wrapper))) {
        return wrapper_open(data, capability, image);
    }
    if (image_begins_with(data, size, link_magic, sizeof(link_magic))) {
        return linked_open(data, size, image);
    }
    if (size == EMU_IMAGE_SIZE_UNKNOWN) {
        size = strlen(data);
    }
    else {
        const char *end = memchr(data, 0, size);

        if (end != NULL) {
            size = (size_t)(end - data);
        }
    }
    return emu_image_add(image, (emu_source){.text = data, .size = size});
}

/* Free what a failed call has found. */
static CUresult
image_finish(emu_image *image, CUresult status)
{
    if (status != CUDA_SUCCESS) {
        emu_image_close(image);
    }
    return status;
}

CUresult
emu_image_open(const void *data, size_t size, int capability, emu_image *image)
{
    memset(image, 0, sizeof(*image));
    return image_finish(image, image_open_any(data, size, (unsigned)capability, image));
}

CUresult
emu_image_open_object(const void *data, size_t size, int capability, const char *name,
                      emu_image *image)
{
    memset(image, 0, sizeof(*image));
    return image_finish(
        image, emu_object_file_open(data, size, (unsigned)capability, name, image));
}

CUresult
emu_image_open_library(const void *data, size_t size, int capability, const char *name,
                       emu_image *image)
{
    memset(image, 0, sizeof(*image));
    return image_finish(
        image, emu_library_file_open(data, size, (unsigned)capability, name, image));
}

void *
emu_image_pack(const emu_source *texts, size_t count, size_t *size)
{
    link_header header = {.count = count};
    size_t at = sizeof(header), total = sizeof(header);
    char *data;

    for (size_t i = 0; i < count; i++) {
        total +=
            sizeof(link_text) + texts[i].size; /* cannot overflow: all are in memory */
    }
    data = malloc(total);
    if (data == NULL) {
        return NULL;
    }
    memcpy(header.magic, link_magic, sizeof(header.magic));
    header.size = total;
    memcpy(data, &header, sizeof(header));
    for (size_t i = 0; i < count; i++) {
        const link_text text = {.size = texts[i].size,
                                .max_registers = texts[i].max_registers,
                                .is_library = texts[i].is_library};

        memcpy(data + at, &text, sizeof(text));
        at += sizeof(text);
        memcpy(data + at, texts[i].text, texts[i].size);
        at += texts[i].size;
    }
    *size = total;
    return data;
}

/* Read what is left of a file into *data, which grows. */
static CUresult
image_read_all(FILE *file, char **data, size_t *size)
{
    size_t room = 0;

    for (;;) {
        size_t got;

        if (room - *size < 2) { /* a byte to read and the zero byte */
            char *larger;

            room += room + ((size_t)64 << 10);
            larger = realloc(*data, room);
            if (larger == NULL) {
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            *data = larger;
        }
        got = fread(*data + *size, 1, room - *size - 1, file);
        *size += got;
        if (got == 0) {
            break;
        }
    }
    (*data)[*size] = 0;
    if (ferror(file)) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_image_read_file(const char *path, char **data, size_t *size)
{
    FILE *file = fopen(path, "rb");
    CUresult status;

    *data = NULL;
    *size = 0;
    if (file == NULL) {
        if (errno == ENOENT) {
            return CUDA_ERROR_FILE_NOT_FOUND;
        }
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = image_read_all(file, data, size);
    (void)fclose(file); /* read only: nothing is lost */
    if (status != CUDA_SUCCESS) {
        free(*data);
        *data = NULL;
    }
    return status;
}
