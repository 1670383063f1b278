/* Telling images apart and finding the PTX in them. */
#include "device/api/image.h"

#include <stdint.h>
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

/* What the compiler puts into an object file: it points to the fat binary. */
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
refuse(emu_image *image, CUresult status, const char *problem)
{
    image->problem = problem;
    return status;
}

static CUresult
one_text(emu_image *image, const char *text, size_t size)
{
    image->texts = calloc(1, sizeof(*image->texts));
    if (!image->texts) {
        return refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
    }
    while (size > 0 && text[size - 1] == 0) {
        size--; /* padding */
    }
    image->texts[0] = (emu_source){.text = text, .size = size};
    image->count = 1;
    return CUDA_SUCCESS;
}

static CUresult
open_fatbin(const char *data, size_t size, int capability, emu_image *image)
{
    fatbin_header header;
    const char *best = NULL;
    size_t best_size = 0, at;
    uint32_t best_capability = 0;
    int code = 0, compressed = 0, newer = 0;

    if (size < sizeof(header)) {
        return refuse(image, CUDA_ERROR_INVALID_IMAGE, "The fat binary is cut off.");
    }
    memcpy(&header, data, sizeof(header));
    if (size == EMU_IMAGE_SIZE_UNKNOWN) {
        size =
            header.size > SIZE_MAX / 2 ? 0 : (size_t)header.size + header.header_size;
    }
    if (header.header_size < sizeof(header) || header.header_size > size ||
        header.size > size - header.header_size) {
        return refuse(image, CUDA_ERROR_INVALID_IMAGE, "The fat binary is cut off.");
    }
    at = header.header_size;
    size = at + (size_t)header.size;
    while (size - at >= sizeof(fatbin_entry)) {
        fatbin_entry entry;

        memcpy(&entry, data + at, sizeof(entry));
        if (entry.header_size < sizeof(entry) || entry.header_size > size - at ||
            entry.size > size - at - entry.header_size) {
            return refuse(image, CUDA_ERROR_INVALID_IMAGE,
                          "An entry of the fat binary is cut off.");
        }
        code |= entry.kind == KIND_CODE;
        if (entry.kind == KIND_PTX) {
            if (entry.capability > (uint32_t)capability) {
                newer = 1;
            }
            else if (entry.compressed_size) {
                compressed = 1;
            }
            else if (!best || entry.capability > best_capability) {
                best = data + at + entry.header_size;
                best_size = (size_t)entry.size;
                best_capability = entry.capability;
            }
        }
        at += entry.header_size + (size_t)entry.size;
    }
    if (best) {
        return one_text(image, best, best_size);
    }
    if (compressed) {
        return refuse(image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                      "The PTX in this fat binary is compressed: build it with nvcc "
                      "--no-compress to run it on the software device.");
    }
    return refuse(image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                  newer ? "The PTX in this fat binary is for a newer device: see "
                          "PYCUDA_EMULATOR_CAPABILITY."
                  : code
                      ? "This fat binary holds machine code only, which the software "
                        "device cannot run: build PTX (-arch=compute_75)."
                      : "This fat binary is empty.");
}

static CUresult
open_linked(const char *data, size_t size, emu_image *image)
{
    link_header header;
    size_t at = sizeof(header);

    if (size < sizeof(header)) {
        return refuse(image, CUDA_ERROR_INVALID_IMAGE, "The linked image is cut off.");
    }
    memcpy(&header, data, sizeof(header));
    if (header.size < sizeof(header) || header.size > size ||
        header.count > (header.size - sizeof(header)) / sizeof(uint64_t)) {
        return refuse(image, CUDA_ERROR_INVALID_IMAGE, "The linked image is cut off.");
    }
    size = (size_t)header.size;
    image->texts = calloc((size_t)header.count + 1, sizeof(*image->texts));
    if (!image->texts) {
        return refuse(image, CUDA_ERROR_OUT_OF_MEMORY, "Out of memory.");
    }
    for (uint64_t i = 0; i < header.count; i++) {
        uint64_t length;

        if (size - at < sizeof(length)) {
            return refuse(image, CUDA_ERROR_INVALID_IMAGE,
                          "The linked image is cut off.");
        }
        memcpy(&length, data + at, sizeof(length));
        at += sizeof(length);
        if (length > size - at) {
            return refuse(image, CUDA_ERROR_INVALID_IMAGE,
                          "The linked image is cut off.");
        }
        image->texts[i] = (emu_source){.text = data + at, .size = (size_t)length};
        image->count++;
        at += (size_t)length;
    }
    return CUDA_SUCCESS;
}

/* Looks no further than the first byte that differs: a short text ends there. */
static int
begins_with(const char *data, size_t size, const void *magic, size_t length)
{
    const char *expected = magic;

    if (size < length) {
        return 0;
    }
    for (size_t i = 0; i < length; i++) {
        if (data[i] != expected[i]) {
            return 0;
        }
    }
    return 1;
}

static CUresult
open_any(const char *data, size_t size, int capability, emu_image *image)
{
    static const uint32_t fatbin = FATBIN_MAGIC, wrapper = WRAPPER_MAGIC;
    const char *end;

    if (begins_with(data, size, "\177ELF", 4)) {
        return refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "This is machine code for a GPU (a cubin), which the software device "
            "cannot run: build PTX (nvcc -ptx -arch=compute_75).");
    }
    if (begins_with(data, size, &fatbin, sizeof(fatbin))) {
        return open_fatbin(data, size, capability, image);
    }
    if (size == EMU_IMAGE_SIZE_UNKNOWN &&
        begins_with(data, size, &wrapper, sizeof(wrapper))) {
        fatbin_wrapper outer;

        memcpy(&outer, data, sizeof(outer));
        if (!outer.data || memcmp(outer.data, &fatbin, sizeof(fatbin)) != 0) {
            return refuse(image, CUDA_ERROR_INVALID_IMAGE,
                          "The wrapper points to no fat binary.");
        }
        return open_fatbin(outer.data, size, capability, image);
    }
    if (begins_with(data, size, link_magic, sizeof(link_magic))) {
        return open_linked(data, size, image);
    }
    if (size == EMU_IMAGE_SIZE_UNKNOWN) {
        size = strlen(data);
    }
    else {
        end = memchr(data, 0, size);
        size = end ? (size_t)(end - data) : size;
    }
    return one_text(image, data, size);
}

CUresult
emu_image_open(const void *data, size_t size, int capability, emu_image *image)
{
    CUresult status;

    memset(image, 0, sizeof(*image));
    status = open_any(data, size, capability, image);
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
        total += sizeof(uint64_t) + texts[i].size; /* all are in memory: it fits */
    }
    data = malloc(total);
    if (!data) {
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
