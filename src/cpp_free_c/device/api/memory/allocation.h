/* Allocating, finding and freeing the memory that programs ask for.
 *
 * Shared by the calls on device, page-locked and managed memory. */
#ifndef DEVICE_API_MEMORY_ALLOCATION_H
#define DEVICE_API_MEMORY_ALLOCATION_H

#include "device/memory/memory.h"

/* Allocate memory for a context, on its device. */
CUresult emu_allocation_new(emu_context *context, emu_memory_kind kind, size_t size,
                            unsigned int flags, emu_allocation **out);

/* Free the allocation that begins at an address, once no running work may use it.
 * INVALID_VALUE if there is none, or if its kind is not one of `kinds`, a sum of
 * 1 << kind. Call it with the API lock held. */
CUresult emu_allocation_free(uint64_t address, unsigned int kinds);

/* The live allocation that holds an address, if its kind is one of `kinds`, or NULL. */
const emu_allocation *emu_allocation_find(uint64_t address, unsigned int kinds);

/* Set the bytes that a pool of the program has lent of the block that begins at the
 * address; 0: all. Kernels may use no more, while copies may use the whole block. */
void emu_allocation_lend(unsigned long long address, size_t size);
void emu_allocation_hold(unsigned long long address);

/* -- releases ---------------------------------------------------------------------- */

/* Every free of a program goes through here, at once or later (turn.h), and so does the
 * end of a context. */

/* Tell the pool or the shared memory that an allocation is about to be freed. Call it
 * with the API lock held. */
void emu_release_forget(const emu_allocation *allocation);

/* The same, and free the allocation. False if it was freed before. */
bool emu_release_memory(emu_allocation *allocation);

#endif
