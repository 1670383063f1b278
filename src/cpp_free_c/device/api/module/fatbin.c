/* The entries of fat binaries, and the choice among them. See image.h. */
#include "device/api/module/image.h"

#include <stdint.h>
#include <string.h>

/* -- layouts ----------------------------------------------------------------------- */

typedef struct {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of the entries behind the header */
} fatbin_header;

typedef struct {
    uint16_t kind; /* KIND_ */
    uint16_t attributes;
    uint32_t header_size;
    uint64_t size;            /* of the data, with padding */
    uint32_t compressed_size; /* 0: plain */
    uint32_t options;         /* offset of the options of the compiler */
    uint16_t minor, major;    /* of the format of the data */
    uint32_t capability;
    uint32_t name_offset, name_size;
    uint64_t flags; /* FLAG_; this and what follows is absent from short headers */
    uint64_t unused;
    uint64_t full_size; /* of compressed data: their size before */
} fatbin_entry;

enum { LEAST_HEADER = 32, KIND_PTX = 1, KIND_CODE = 2, KIND_LTO = 8 };
enum {
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCHITECTURE = 0x100000, /* compute_90a: for this capability only */
    FLAG_FAMILY = 0x200000        /* compute_100f: for this major version only */
};

/* -- the choice -------------------------------------------------------------------- */

/* What the entries of a fat binary offer. */
typedef struct {
    const char *best; /* data of the best entry, or NULL */
    fatbin_entry entry;
    bool has_code, has_lto, has_newer, has_other;
} fatbin_offer;

/* The worth of an entry among those of the same capability. */
static unsigned
fatbin_rank(const fatbin_entry *entry)
{
    if (entry->flags & FLAG_ARCHITECTURE) {
        return 2;
    }
    return (entry->flags & FLAG_FAMILY) != 0;
}

/* Whether PTX with features of one architecture or family is for another device. */
static bool
fatbin_is_for_others(const fatbin_entry *entry, unsigned capability)
{
    if (entry->flags & FLAG_ARCHITECTURE) {
        return entry->capability != capability;
    }
    return (entry->flags & FLAG_FAMILY) && entry->capability / 10 != capability / 10;
}

/* Whether an entry is better than the best so far. Of equal entries for the device's
 * own capability the last one is loaded, of those for an older one the first, as an
 * H200 does. */
static bool
fatbin_is_better(const fatbin_offer *offer, const fatbin_entry *entry,
                 unsigned capability)
{
    if (offer->best == NULL || entry->capability > offer->entry.capability) {
        return true;
    }
    if (entry->capability < offer->entry.capability) {
        return false;
    }
    int better = (int)fatbin_rank(entry) - (int)fatbin_rank(&offer->entry);
    return better > 0 || (better == 0 && entry->capability == capability);
}

static void
fatbin_consider(fatbin_offer *offer, const fatbin_entry *entry, const char *data,
                unsigned capability)
{
    offer->has_code |= entry->kind == KIND_CODE;
    offer->has_lto |= entry->kind == KIND_LTO;
    if (entry->kind != KIND_PTX) {
        return;
    }
    if (entry->capability > capability) {
        offer->has_newer = true;
    }
    else if (fatbin_is_for_others(entry, capability)) {
        offer->has_other = true;
    }
    else if (fatbin_is_better(offer, entry, capability)) {
        offer->best = data;
        offer->entry = *entry;
    }
}

/* Look at all entries in [data, data + size). False: one is cut off. */
static bool
fatbin_read_entries(const char *data, size_t size, unsigned capability,
                    fatbin_offer *offer)
{
    size_t at = 0;

    while (size - at >= LEAST_HEADER) {
        fatbin_entry entry;
        uint32_t header_size;
        size_t known = sizeof(entry);

        memcpy(&header_size, data + at + offsetof(fatbin_entry, header_size),
               sizeof(header_size));
        if (header_size < LEAST_HEADER || header_size > size - at) {
            return false;
        }
        if (known > header_size) {
            known = header_size;
        }
        memset(&entry, 0, sizeof(entry));
        memcpy(&entry, data + at, known);
        if (entry.size > size - at - header_size) {
            return false;
        }
        fatbin_consider(offer, &entry, data + at + header_size, capability);
        at += header_size + (size_t)entry.size;
    }
    return true;
}

/* -- the result -------------------------------------------------------------------- */

/* Say why a fat binary without suitable PTX is refused. */
static CUresult
fatbin_refuse(const fatbin_offer *offer, unsigned capability, emu_image *image)
{
    const CUresult status = CUDA_ERROR_NO_BINARY_FOR_GPU;

    if (offer->has_newer) {
        return emu_image_refuse(image, status,
                                "The PTX in this fat binary is for a newer device: see "
                                "PYCUDA_EMULATOR_CAPABILITY.");
    }
    if (offer->has_other) {
        return emu_image_refuse(
            image, status,
            "The PTX in this fat binary is for another architecture only (such as "
            "compute_90a), the device has %u.%u: build PTX for all "
            "(-arch=compute_75), or see PYCUDA_EMULATOR_CAPABILITY.",
            capability / 10, capability % 10);
    }
    if (offer->has_lto) {
        return emu_image_refuse(
            image, status,
            "This fat binary holds LTO code without PTX. Only NVIDIA's compiler can "
            "translate it: build PTX (code=compute_75 instead of code=lto_75).");
    }
    if (offer->has_code) {
        return emu_image_refuse(
            image, status,
            "This fat binary holds machine code only, which the software device "
            "cannot run: build PTX (-arch=compute_75).");
    }
    return emu_image_refuse(image, status, "This fat binary is empty.");
}

/* Add the text of the best entry. */
static CUresult
fatbin_take(const fatbin_offer *offer, emu_source text, emu_image *image)
{
    const fatbin_entry *entry = &offer->entry;
    emu_compression kind = EMU_COMPRESSION_ZSTD;

    text.text = offer->best;
    text.size = (size_t)entry->size;
    if (entry->compressed_size == 0) {
        return emu_image_add(image, text);
    }
    if (entry->flags & FLAG_LZ4) {
        kind = EMU_COMPRESSION_LZ4;
    }
    else if (!(entry->flags & FLAG_ZSTD)) {
        return emu_image_refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "The PTX in this fat binary is compressed, but neither with zstd nor with "
            "LZ4: build it with nvcc --no-compress to run it on the software device.");
    }
    if (entry->compressed_size > entry->size || entry->full_size > SIZE_MAX / 2) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "An entry of the fat binary is cut off.");
    }
    CUresult status = emu_decompress(image, kind, offer->best, entry->compressed_size,
                                     (size_t)entry->full_size, &text.text);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    text.size = (size_t)entry->full_size;
    return emu_image_add(image, text);
}

size_t
emu_fatbin_size(const char *data, size_t size)
{
    fatbin_header header;

    if (size < sizeof(header)) {
        return 0;
    }
    memcpy(&header, data, sizeof(header));
    if (header.magic != EMU_FATBIN_MAGIC || header.header_size < sizeof(header) ||
        header.header_size > size || header.size > size - header.header_size) {
        return 0;
    }
    return header.header_size + (size_t)header.size;
}

CUresult
emu_fatbin_open(const char *data, size_t size, unsigned capability, emu_source text,
                emu_image *image)
{
    fatbin_offer offer = {.best = NULL};
    fatbin_header header;

    size = emu_fatbin_size(data, size);
    if (size == 0) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "The fat binary is cut off.");
    }
    memcpy(&header, data, sizeof(header));
    if (!fatbin_read_entries(data + header.header_size, size - header.header_size,
                             capability, &offer)) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "An entry of the fat binary is cut off.");
    }
    if (offer.best == NULL) {
        return fatbin_refuse(&offer, capability, image);
    }
    return fatbin_take(&offer, text, image);
}
