/* What the race check does for an access before it looks at cells: the visit that the
 * access belongs to, the log of shared memory, and the cells of its words. Called by
 * race_parts.c and race_check.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_WORDS_H
#define DEVICE_MACHINE_WARP_RACE_WORDS_H

#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/race_cells.h"
#include "device/machine/warp/race_state.h"

/* The space of an address, or NULL. */
emu_race_space *emu_race_space_of(emu_race *race, uint64_t address);

/* Set the visitor and the stamp of an access. False: it cannot be remembered, and is
 * not checked. */
bool emu_race_begin_access(emu_race_try *a, uint32_t epoch);

/* Append an access to the log of shared memory, by its parts or by its lanes. False: it
 * must be checked by cells. */
bool emu_race_add_parts(const emu_race_try *a, const emu_parts *parts);
bool emu_race_add_lanes(const emu_race_try *a, uint32_t mask,
                        const uint64_t at[EMU_LANES]);
/* The log, with room for one more access. */
emu_race_log *emu_race_log_with_room(emu_block *block);

/* An access to words by consecutive lanes from that of the stamp on. */
emu_cell_access emu_race_words(const emu_race_try *a, uint32_t stamp, bool same);
/* Prepare the cells of words for an access. */
void emu_race_prepare_words(const emu_race_try *a, uint64_t offset, uint64_t bytes);

/* Whether elements of a size consist of words, and are aligned to them. */
static inline bool
emu_race_has_words(unsigned size)
{
    return size % 4 == 0 && (size & (size - 1)) == 0;
}

/* Whether the part of the space at an offset has stamps of bytes. */
static inline bool
emu_race_is_narrow(const emu_race_try *a, uint64_t offset)
{
    return a->space->narrow[offset >> a->space->narrow_shift] == a->space->tag;
}

static inline void
emu_race_set_narrow(const emu_race_try *a, uint64_t offset)
{
    a->space->narrow[offset >> a->space->narrow_shift] = a->space->tag;
}

#endif
