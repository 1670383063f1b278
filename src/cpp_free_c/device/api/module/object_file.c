/* The sections of ELF object files, and the members of archives. See image.h. */
#include "device/api/module/image.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* -- layouts ----------------------------------------------------------------------- */

/* Of the ELF specification, for 64 bits. */
typedef struct {
    unsigned char magic[4], class, order, rest[10];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, programs, sections; /* sections: offset of their table */
    uint32_t flags;
    uint16_t size, program_size, program_count;
    uint16_t section_size, section_count, names; /* names: number of a section */
} elf_header;

typedef struct {
    uint32_t name, type; /* name: offset in the section of names */
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t align, entry_size;
} elf_section;

enum { ELF_64 = 2, ELF_LITTLE = 1, MACHINE_X86_64 = 62, MACHINE_AARCH64 = 183 };

/* Of the format that ar writes: decimal numbers, filled up with spaces. */
typedef struct {
    char name[16], date[12], owner[6], group[6], mode[8], size[10], end[2];
} archive_member;

static const char archive_magic[] = {'!', '<', 'a', 'r', 'c', 'h', '>', '\n'};

/* An object file and what has been found in it. */
typedef struct {
    const char *data;
    size_t size;
    unsigned capability;
    emu_source text; /* what to say about its texts */
    size_t fatbins;
    emu_image *image;
} object_file;

/* -- object files ------------------------------------------------------------------ */

/* Whether the bytes from `offset` on are within the file. */
static bool
object_has(const object_file *file, uint64_t offset, uint64_t size)
{
    return offset <= file->size && size <= file->size - offset;
}

/* Whether this is the section of fat binaries of whole programs or of parts. */
static bool
object_is_device_section(const object_file *file, const elf_section *names,
                         const elf_section *section)
{
    static const char *const wanted[] = {".nv_fatbin", "__nv_relfatbin"};

    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        const size_t length = strlen(wanted[i]) + 1;

        if (section->name <= names->size && length <= names->size - section->name &&
            memcmp(file->data + names->offset + section->name, wanted[i], length) ==
                0) {
            return true;
        }
    }
    return false;
}

/* Open the fat binaries of a section, which are aligned to 8 bytes. */
static CUresult
object_open_section(object_file *file, const elf_section *section)
{
    const char *data = file->data + section->offset;
    size_t left = (size_t)section->size;
    CUresult status = CUDA_SUCCESS;

    while (status == CUDA_SUCCESS && left >= sizeof(uint64_t)) {
        uint64_t first;
        size_t size = sizeof(first);

        memcpy(&first, data, sizeof(first));
        if (first != 0) { /* not padding */
            size = emu_fatbin_size(data, left);
            status =
                emu_fatbin_open(data, left, file->capability, file->text, file->image);
            file->fatbins++;
            size = (size + 7) & ~(size_t)7;
        }
        if (size > left) {
            size = left;
        }
        data += size;
        left -= size;
    }
    return status;
}

/* Read one row of the table of sections. False: it is outside of the file. */
static bool
object_read_section(const object_file *file, const elf_header *header, unsigned index,
                    elf_section *section)
{
    const uint64_t offset = (uint64_t)index * header->section_size;

    if (index >= header->section_count || header->section_size < sizeof(*section) ||
        header->sections > file->size ||
        !object_has(file, header->sections + offset, sizeof(*section))) {
        return false;
    }
    memcpy(section, file->data + header->sections + offset, sizeof(*section));
    return true;
}

static bool
object_read_header(const object_file *file, elf_header *header)
{
    if (file->size < sizeof(*header)) {
        return false;
    }
    memcpy(header, file->data, sizeof(*header));
    return memcmp(header->magic, "\177ELF", 4) == 0 && header->class == ELF_64 &&
           header->order == ELF_LITTLE &&
           (header->machine == MACHINE_X86_64 || header->machine == MACHINE_AARCH64);
}

/* Open all sections that hold fat binaries. */
static CUresult
object_open_sections(object_file *file, const elf_header *header)
{
    elf_section names, section;
    CUresult status = CUDA_SUCCESS;

    if (!object_read_section(file, header, header->names, &names) ||
        !object_has(file, names.offset, names.size)) {
        return emu_image_refuse(file->image, CUDA_ERROR_INVALID_IMAGE,
                                "The object file %.200s is cut off.", file->text.name);
    }
    for (unsigned i = 0; status == CUDA_SUCCESS && i < header->section_count; i++) {
        if (!object_read_section(file, header, i, &section)) {
            return emu_image_refuse(file->image, CUDA_ERROR_INVALID_IMAGE,
                                    "The object file %.200s is cut off.",
                                    file->text.name);
        }
        if (!object_is_device_section(file, &names, &section)) {
            continue;
        }
        if (!object_has(file, section.offset, section.size)) {
            return emu_image_refuse(file->image, CUDA_ERROR_INVALID_IMAGE,
                                    "The object file %.200s is cut off.",
                                    file->text.name);
        }
        status = object_open_section(file, &section);
    }
    return status;
}

/* Put the name of the file before the problem. */
static CUresult
object_name_problem(const object_file *file, CUresult status)
{
    char problem[sizeof(file->image->problem)];

    memcpy(problem, file->image->problem, sizeof(problem));
    return emu_image_refuse(file->image, status, "%.100s: %.280s", file->text.name,
                            problem);
}

CUresult
emu_object_file_open(const char *data, size_t size, unsigned capability,
                     const char *name, emu_image *image)
{
    object_file file = {.data = data,
                        .size = size,
                        .capability = capability,
                        .text = {.name = name},
                        .image = image};
    elf_header header;
    CUresult status;

    if (!object_read_header(&file, &header)) {
        return emu_image_refuse(
            image, CUDA_ERROR_NO_BINARY_FOR_GPU,
            "%.200s is no object file of a host with PTX in it: object files for a GPU "
            "hold machine code, which the software device cannot run. Link PTX, or "
            "object files of nvcc -c.",
            name);
    }
    status = object_open_sections(&file, &header);
    if (status == CUDA_SUCCESS && file.fatbins == 0) {
        status = emu_image_refuse(image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                                  "This object file holds no device code.");
    }
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_OUT_OF_MEMORY) {
        return object_name_problem(&file, status);
    }
    return status;
}

/* -- libraries --------------------------------------------------------------------- */

/* The size in the header of a member. SIZE_MAX: it is no number. */
static size_t
library_member_size(const archive_member *member)
{
    size_t size = 0, digits = 0;

    if (memcmp(member->end, "`\n", 2) != 0) {
        return SIZE_MAX;
    }
    for (; digits < sizeof(member->size); digits++) {
        const char c = member->size[digits];

        if (c < '0' || c > '9') {
            break;
        }
        size = size * 10 + (size_t)(c - '0');
    }
    if (digits == 0) {
        return SIZE_MAX;
    }
    return size;
}

/* Open a member that is an object file with device code. Others, such as the table of
 * symbols and objects of plain C, have nothing to link. */
static CUresult
library_open_member(const char *data, size_t size, unsigned capability,
                    const char *name, emu_image *image)
{
    object_file file = {.data = data,
                        .size = size,
                        .capability = capability,
                        .text = {.name = name, .is_library = true},
                        .image = image};
    elf_header header;
    CUresult status;

    if (!object_read_header(&file, &header)) {
        return CUDA_SUCCESS;
    }
    status = object_open_sections(&file, &header);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_OUT_OF_MEMORY) {
        (void)object_name_problem(&file, status);
    }
    if (status == CUDA_ERROR_NO_BINARY_FOR_GPU) {
        return CUDA_SUCCESS;
    }
    return status;
}

CUresult
emu_library_file_open(const char *data, size_t size, unsigned capability,
                      const char *name, emu_image *image)
{
    size_t at = sizeof(archive_magic);
    CUresult status = CUDA_SUCCESS;

    if (size < at || memcmp(data, archive_magic, at) != 0) {
        return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                "%.200s is no library: a library begins with "
                                "\"!<arch>\".",
                                name);
    }
    while (status == CUDA_SUCCESS && size - at >= sizeof(archive_member)) {
        archive_member member;
        size_t length;

        memcpy(&member, data + at, sizeof(member));
        at += sizeof(member);
        length = library_member_size(&member);
        if (length > size - at) {
            return emu_image_refuse(image, CUDA_ERROR_INVALID_IMAGE,
                                    "The library %.200s is cut off.", name);
        }
        status = library_open_member(data + at, length, capability, name, image);
        at += length;
        if (length % 2 == 1 && at < size) {
            at++; /* members begin at even offsets */
        }
    }
    if (status == CUDA_SUCCESS && image->count == 0 && image->problem[0] == 0) {
        return emu_image_refuse(image, CUDA_ERROR_NO_BINARY_FOR_GPU,
                                "The library %.200s holds no PTX.", name);
    }
    return status;
}
