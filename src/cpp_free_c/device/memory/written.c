/* The bytes that were written. See written.h. */
#include "device/memory/written.h"

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
    if (emu_shadow_has_marks(address, bytes) && written_tracks(address)) {
        emu_shadow_mark(address, bytes);
    }
}

void
emu_written_copy(uint64_t to, uint64_t from, uint64_t bytes)
{
    if (!emu_shadow_has_marks(to, bytes) || !written_tracks(to)) {
        return;
    }
    if (!emu_shadow_has_marks(from, bytes) || !written_tracks(from)) {
        emu_shadow_mark(to, bytes);
    }
    else {
        emu_shadow_copy(to, from, bytes);
    }
}
