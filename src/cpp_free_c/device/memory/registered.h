/* Registered memory: the sorted list of the program's own memory that it has registered
 * (cuMemHostRegister). It is outside the range of address_space.h.
 *
 * Invariant: the records of the list are live and do not overlap. Changed by memory.c,
 * with its mutex held; read by the lookups of memory.h from any thread. */
#ifndef DEVICE_MEMORY_REGISTERED_H
#define DEVICE_MEMORY_REGISTERED_H

#include "device/memory/allocation.h"

/* The live registered memory that shares a byte with [base, base + size), or NULL. */
const emu_allocation *emu_registered_overlap(uint64_t base, size_t size);

/* Make room for one more record. False: out of memory. */
bool emu_registered_reserve(void);
/* Insert a record; emu_registered_reserve has made room for it. */
void emu_registered_insert(emu_allocation *record);
/* Remove the record that begins at `base` and return it, or NULL. */
emu_allocation *emu_registered_remove(uint64_t base);

#endif
