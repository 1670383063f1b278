/* Virtual memory: address ranges that a program reserves, and the memory that it maps
 * there.
 *
 * A reservation has a record of kind RESERVED, whose extent is 0, for its addresses.
 * Memory is mapped in granules. Adjoining granules with the same rights have one record
 * of kind MAPPED, also if they are mapped from several pieces of memory, so an access
 * or a copy may cross the border.
 *
 * Call all functions with the API lock held. */
#ifndef DEVICE_MEMORY_VIRTUAL_H
#define DEVICE_MEMORY_VIRTUAL_H

#include "device/memory/memory.h"

#define EMU_VIRTUAL_GRANULE ((uint64_t)2 << 20)

/* Memory without addresses. */
typedef struct {
    emu_object object;
    int device; /* ordinal */
    uint64_t size;
    int file;         /* has its pages */
    size_t maps;      /* granules that are mapped */
    bool shareable;   /* other processes may open it */
    bool charged;     /* to its device; the process that made it pays */
    unsigned handles; /* 0: the last unmap frees it */
} emu_physical;

/* Free the memory if neither its handle nor a mapping needs it. */
void emu_physical_release_if_unused(emu_physical *physical);

CUresult emu_virtual_reserve(emu_context *context, uint64_t size, uint64_t alignment,
                             uint64_t *base);
CUresult emu_virtual_free(uint64_t base, uint64_t size);
CUresult emu_virtual_map(uint64_t address, uint64_t size, emu_physical *physical,
                         uint64_t offset);
CUresult emu_virtual_unmap(uint64_t address, uint64_t size);
/* Set the rights (0, 1: read, 3: read and write) of a device. */
CUresult emu_virtual_set_access(uint64_t address, uint64_t size, int device,
                                unsigned int rights);
/* The memory that is mapped at an address, or NULL. */
emu_physical *emu_virtual_memory_at(uint64_t address);
CUresult emu_virtual_get_access(uint64_t address, int device, unsigned int *rights);

#endif
