/* The bytes that were written. See written.h. */
#include "device/memory/written.h"

#include <string.h>

#include "device/memory/memory.h"
#include "device/memory/shadow.h"

static bool
written_tracks(uint64_t address)
{
    const emu_allocation *record = emu_memory_find(address);

    return record != NULL && emu_shadow_tracks(record);
}

void
emu_written_mark(uint64_t address, uint64_t bytes)
{
    uint8_t *marks = emu_shadow_marks(address, bytes);

    if (marks != NULL && written_tracks(address)) {
        memset(marks, 1, bytes);
    }
}

void
emu_written_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    uint8_t *target = emu_shadow_marks(to, bytes);
    const uint8_t *source = emu_shadow_marks(from, bytes);

    if (target == NULL || !written_tracks(to)) {
        return;
    }
    if (source == NULL || !written_tracks(from)) {
        memset(target, 1, bytes);
    }
    else {
        memmove(target, source, bytes);
    }
}
