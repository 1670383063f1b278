/* Telling the kinds of images apart and finding the PTX in them. See image.h. */
#include "device/api/module/image.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- layouts ----------------------------------------------------------------------- */

#define FATBIN_MAGIC 0xBA55ED50u
#define WRAPPER_MAGIC 0x466243B1u

typedef struct {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of the entries behind the header */
} fatbin_header;

typedef struct {
    uint16_t kind; /* 1: PTX, 2: machine code */
    uint16_t attributes;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed_size; /* 0: plain */
    uint32_t unused;
    uint16_t minor, major;
    uint32_t capability;
} fatbin_entry;

/* The compiler puts this into an object file; it points to the fat binary. */
typedef struct {
    uint32_t magic, version;
    const void *data;
} fatbin_wrapper;

/* The result of linking: texts one after the other, each with its size before it. */
static const char link_magic[8] = "\177PYCUDA";

typedef struct {
    char magic[8];
    uint64_t size, count; /* all bytes, header included; texts */
} link_header;

enum { KIND_PTX = 1, KIND_CODE = 2 };

static CUresult
image_refuse(emu_image *image, CUresult status, const char *problem)
{
    image->problem = problem;
    return status;
}

static CUresult
image_set_text(emu_image *image, const char *text, size_t size)
{
    image->texts = calloc(1, sizeof(*image->texts));
    if (image->texts == NULL) {
        return image_refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
    }
    while (size > 0 && text[size - 1] == 0) {
        size--; /* padding */
    }
    image->texts[0] = (emu_source){.text = text, .size = size};
    image->count = 1;
    return CUDA_SUCCESS;
}

/* -- fat binaries ------------------------------------------------------------------ */

/* What the entries of a fat binary offer. */
typedef struct {
    const char *best; /* PTX of the highest capability that the device has, or NULL */
    size_t best_size;
    uint32_t best_capability;
    bool has_code, has_compressed, has_newer;
} fatbin_offer;

static void
fatbin_consider(fatbin_offer *offer, const fatbin_entry *entry, const char *data,
                uint32_t capability)
{
    if (entry->kind == KIND_CODE) {
        offer->has_code = true;
    }
    if (entry->kind != KIND_PTX) {
        return;
    }
    if (entry->capability > capability) {
        offer->has_newer = true;
    }
    else if (entry->compressed_size != 0) {
        offer->has_compressed = true;
    }
    else if (offer->best == NULL || entry->capability > offer->best_capability) {
        offer->best = data;
        offer->best_size = (size_t)entry->size;
        offer->best_capability = entry->capability;
    }
}

/* Look at all entries in [data, data + size). False: one is cut off. */
static bool
fatbin_read_entries(const char *data, size_t size, uint32_t capability,
                    fatbin_offer *offer)
{
    size_t at = 0;

    while (size - at >= sizeof(fatbin_entry)) {
        fatbin_entry entry;

        memcpy(&entry, data + at, sizeof(entry));
        if (entry.header_size < sizeof(entry) || entry.header_size > size - at ||
            entry.size > size - at - entry.header_size) {
            return false;
        }
        fatbin_consider(offer, &entry, data + at + entry.header_size, capability);
        at += entry.header_size + (size_t)entry.size;
    }
    return true;
}

/* Say why a fat binary without suitable PTX is refused. */
static const char *
fatbin_problem(const fatbin_offer *offer)
{
    if (offer->has_compressed) {
        return "The PTX in this fat binary is compressed: build it with nvcc "
               "--no-compress to run it on the software device.";
    }
    if (offer->has_newer) {
        return "The PTX in this fat binary is for a newer device: see "
               "PYCUDA_EMULATOR_CAPABILITY.";
    }
    if (offer->has_code) {
        return "This fat binary holds machine code only, which the software "
               "device cannot run: build PTX (-arch=compute_75).";
    }
    return "This fat binary is empty.";
}

static CUresult
fatbin_open(const char *data, size_t size, int capability, emu_image *image)
{
    fatbin_header header;
    fatbin_offer offer = {.best = NULL};

    if (size < sizeof(header)) {
        return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                            "The fat binary is cut off.");
    }
    memcpy(&header, data, sizeof(header));
    if (size == EMU_IMAGE_SIZE_UNKNOWN) {
        size = 0;
        if (header.size <= SIZE_MAX / 2) {
            size = (size_t)header.size + header.header_size;
        }
    }
    if (header.header_size < sizeof(header) || header.header_size > size ||
        header.size > size - header.header_size) {
        return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                            "The fat binary is cut off.");
    }
    if (!fatbin_read_entries(data + header.header_size, (size_t)header.size,
                             (uint32_t)capability, &offer)) {
        return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                            "An entry of the fat binary is cut off.");
    }
    if (offer.best == NULL) {
        return image_refuse(image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                            fatbin_problem(&offer));
    }
    return image_set_text(image, offer.best, offer.best_size);
}

/* -- results of linking ------------------------------------------------------------ */

static CUresult
linked_open(const char *data, size_t size, emu_image *image)
{
    link_header header;
    size_t at = sizeof(header);

    if (size < sizeof(header)) {
        return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                            "The linked image is cut off.");
    }
    memcpy(&header, data, sizeof(header));
    if (header.size < sizeof(header) || header.size > size ||
        header.count > (header.size - sizeof(header)) / sizeof(uint64_t)) {
        return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                            "The linked image is cut off.");
    }
    size = (size_t)header.size;
    image->texts = calloc((size_t)header.count + 1, sizeof(*image->texts));
    if (image->texts == NULL) {
        return image_refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
    }
    for (uint64_t i = 0; i < header.count; i++) {
        uint64_t length;

        if (size - at < sizeof(length)) {
            return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The linked image is cut off.");
        }
        memcpy(&length, data + at, sizeof(length));
        at += sizeof(length);
        if (length > size - at) {
            return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The linked image is cut off.");
        }
        image->texts[i] = (emu_source){.text = data + at, .size = (size_t)length};
        image->count++;
        at += (size_t)length;
    }
    return CUDA_SUCCESS;
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

static CUresult
image_open_any(const char *data, size_t size, int capability, emu_image *image)
{
    static const uint32_t fatbin = FATBIN_MAGIC, wrapper = WRAPPER_MAGIC;

    if (image_begins_with(data, size, "\177ELF", 4)) {
        return image_refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "This is machine code for a GPU (a cubin), which the software device "
            "cannot run: build PTX (nvcc -ptx -arch=compute_75).");
    }
    if (image_begins_with(data, size, &fatbin, sizeof(fatbin))) {
        return fatbin_open(data, size, capability, image);
    }
    if (size == EMU_IMAGE_SIZE_UNKNOWN &&
        image_begins_with(data, size, &wrapper, sizeof(wrapper))) {
        fatbin_wrapper outer;

        memcpy(&outer, data, sizeof(outer));
        if (outer.data == NULL || memcmp(outer.data, &fatbin, sizeof(fatbin)) != 0) {
            return image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The wrapper points to no fat binary.");
        }
        return fatbin_open(outer.data, size, capability, image);
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
    return image_set_text(image, data, size);
}

CUresult
emu_image_open(const void *data, size_t size, int capability, emu_image *image)
{
    CUresult status;

    memset(image, 0, sizeof(*image));
    status = image_open_any(data, size, capability, image);
    if (status != CUDA_SUCCESS) {
        free(image->texts);
        image->texts = NULL;
        image->count = 0;
    }
    return status;
}

void
emu_image_close(emu_image *image)
{
    free(image->texts);
    image->texts = NULL;
    image->count = 0;
}

void *
emu_image_pack(const emu_source *texts, size_t count, size_t *size)
{
    link_header header = {.count = count};
    size_t at = sizeof(header), total = sizeof(header);
    char *data;

    for (size_t i = 0; i < count; i++) {
        total +=
            sizeof(uint64_t) + texts[i].size; /* cannot overflow: all are in memory */
    }
    data = malloc(total);
    if (data == NULL) {
        return NULL;
    }
    memcpy(header.magic, link_magic, sizeof(header.magic));
    header.size = total;
    memcpy(data, &header, sizeof(header));
    for (size_t i = 0; i < count; i++) {
        uint64_t length = texts[i].size;

        memcpy(data + at, &length, sizeof(length));
        at += sizeof(length);
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
