/* Notes about the memory of wrappers: which line of the program allocated it.
 *
 * Invariant: nothing is raised, and a note costs tens of nanoseconds at most. Callers:
 * the constructors of objects that own memory. */
#ifndef PYTHON_DRIVER_MEMORY_NOTE_H
#define PYTHON_DRIVER_MEMORY_NOTE_H

#include "python/support/base.h"

#include "driver/memory_map.h"
#include "python/support/call_site.h"

/* Note that a wrapper of a handle, a pcu_resource, owns `size` bytes of new memory. The
 * release of the handle ends the note. Returns self, which may be NULL. */
PCU_HIDDEN PyObject *pcu_memory_noted(PyObject *self, pcu_memory_kind kind,
                                      size_t size);

/* The number of the line that allocates now, 0 if nothing is recorded. */
static inline uint32_t
pcu_memory_site(pcu_state *st)
{
    if (!pcu_memory_map.recording) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    return pcu_call_site(st);
}

#endif
