/* Releasing memory, with the bookkeeping of pools and shared memory.
 *
 * Every free of a program goes through here, at once or later (pending_free.h), and so
 * does the end of a context. */
#ifndef DEVICE_API_MEMORY_RELEASE_H
#define DEVICE_API_MEMORY_RELEASE_H

#include "device/memory/memory.h"

/* Tell the pool or the shared memory that an allocation is about to be freed. Call it
 * with the API lock held. */
void emu_release_forget(const emu_allocation *allocation);

/* The same, and free the allocation. False if it was freed before. */
bool emu_release_memory(emu_allocation *allocation);

#endif
