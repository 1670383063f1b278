/* The log of the race check: accesses to the words of shared memory since the last
 * barrier of the whole block.
 *
 * Three bits for each word say whether it was read, written, or the place of an atomic
 * operation. An access that meets no bit of a conflicting access is right for sure, and
 * is only appended to the log. Other accesses need to know the earlier ones:
 * race_check.c then moves the log to the cells of the words first. A barrier forgets
 * the log, so most accesses never touch a cell. Called by race_check.c alone. */
#ifndef DEVICE_MACHINE_WARP_RACE_LOG_H
#define DEVICE_MACHINE_WARP_RACE_LOG_H

#include "device/machine/warp/race_visit.h"
#include "device/machine/warp/shared_plan.h"

/* An access of a whole warp, in one or two parts; or of some lanes of a warp; or the
 * loads of several warps by their shape (shared_plan.h). */
typedef struct {
    const emu_insn *insn;
    uint32_t epoch;
    uint8_t warp;      /* the first one */
    uint8_t warps;     /* 0: one warp, with these parts or lanes */
    uint8_t size;      /* bytes of a lane */
    uint8_t count;     /* of parts */
    uint8_t same;      /* a bit for each part */
    uint8_t kind;      /* emu_race_kind */
    uint16_t start[2]; /* the first word of each part */
    uint32_t lanes;    /* they have their first words in `starts` of the log */
    uint32_t place;    /* where these begin there */
} emu_race_entry;

enum { EMU_RACE_ENTRIES = 2048, EMU_RACE_STARTS = 1 << 14 };

enum { EMU_LOG_READ, EMU_LOG_WRITTEN, EMU_LOG_ATOMIC, EMU_LOG_SETS };

typedef struct {
    uint64_t *sets[EMU_LOG_SETS]; /* a bit for each word of shared memory */
    size_t room;                  /* numbers in each of them */
    size_t used;                  /* numbers of which bits may be set */
    emu_race_entry *entries;
    unsigned count;
    uint16_t *starts; /* of accesses of single lanes */
    unsigned start_count;
} emu_race_log;

/* The words of a part of an access. */
static inline uint64_t
emu_race_log_words(const emu_race_entry *entry, unsigned part)
{
    const uint64_t words = entry->size / 4u;

    if (entry->same >> part & 1) {
        return words;
    }
    return words * (EMU_LANES / entry->count);
}

/* Prepare for a block with so many bytes of shared memory. False: out of memory. */
bool emu_race_log_begin(emu_race_log *log, size_t shared_size);
void emu_race_log_free(emu_race_log *log);
/* Forget all accesses. */
void emu_race_log_clear(emu_race_log *log);

/* Whether there is room for one more entry. If not, the log must be moved. */
static inline bool
emu_race_log_has_room(const emu_race_log *log)
{
    return log->count < EMU_RACE_ENTRIES &&
           log->start_count + EMU_LANES <= EMU_RACE_STARTS;
}

/* Append an access with parts. False: it may conflict with an earlier one. */
bool emu_race_log_add(emu_race_log *log, const emu_race_entry *entry);
/* The same for single lanes; `first` has the first word of each. */
bool emu_race_log_add_lanes(emu_race_log *log, const emu_race_entry *entry,
                            const uint16_t first[EMU_LANES]);
/* The same for loads of a plan. */
bool emu_race_log_add_plan(emu_race_log *log, const emu_race_entry *entry,
                           const emu_shared_plan *plan);
/* Note an access that is in the cells: words [first, first + count). */
void emu_race_log_note(emu_race_log *log, uint64_t first, uint64_t count,
                       emu_race_kind kind);

#endif
