/* The log of accesses to shared memory. See race_log.h. */
#include "device/machine/warp/race_log.h"

#include <stdlib.h>
#include <string.h>

enum { BITS = 64 };

bool
emu_race_log_begin(emu_race_log *log, size_t shared_size)
{
    const size_t count = shared_size / 4 / BITS + 2;

    if (log->entries == NULL) {
        log->entries = malloc(EMU_RACE_ENTRIES * sizeof *log->entries);
    }
    if (log->room < count) {
        free(log->read);
        log->read = calloc(2 * count, sizeof *log->read);
        log->room = log->read == NULL ? 0 : count;
        log->used = 0;
    }
    if (log->entries == NULL || log->read == NULL) {
        return false;
    }
    log->written = log->read + log->room;
    emu_race_log_clear(log);
    return true;
}

void
emu_race_log_free(emu_race_log *log)
{
    free(log->read);
    free(log->entries);
    *log = (emu_race_log){.read = NULL};
}

void
emu_race_log_clear(emu_race_log *log)
{
    if (log->used != 0) {
        memset(log->read, 0, log->used * sizeof *log->read);
        memset(log->written, 0, log->used * sizeof *log->written);
    }
    log->used = 0;
    log->count = 0;
}

/* The bits of a range of words in the number `at`. */
static inline uint64_t
log_bits(uint64_t first, uint64_t end, uint64_t at)
{
    uint64_t bits = ~(uint64_t)0;

    if (first > at * BITS) {
        bits <<= first % BITS;
    }
    if (end < (at + 1) * BITS) {
        bits &= ~(~(uint64_t)0 << end % BITS);
    }
    return bits;
}

static inline bool
log_meets(const emu_race_log *log, uint64_t first, uint64_t end, bool writes)
{
    const uint64_t reads = -(uint64_t)writes;
    uint64_t found = 0;

    for (uint64_t at = first / BITS; at <= (end - 1) / BITS; at++) {
        found |=
            ((log->read[at] & reads) | log->written[at]) & log_bits(first, end, at);
    }
    return found != 0;
}

void
emu_race_log_note(emu_race_log *log, uint64_t first, uint64_t count, bool writes)
{
    const uint64_t end = first + count;
    uint64_t *const set = writes ? log->written : log->read;

    for (uint64_t at = first / BITS; at <= (end - 1) / BITS; at++) {
        set[at] |= log_bits(first, end, at);
    }
    if ((end - 1) / BITS >= log->used) {
        log->used = (end - 1) / BITS + 1;
    }
}

bool
emu_race_log_add(emu_race_log *log, const emu_race_entry *entry)
{
    const bool writes = emu_race_kind_writes((emu_race_kind)entry->kind);

    if (log->count == EMU_RACE_ENTRIES) {
        return false;
    }
    for (unsigned i = 0; i < entry->count; i++) {
        const uint64_t first = entry->start[i];

        if (log_meets(log, first, first + emu_race_log_words(entry, i), writes)) {
            return false;
        }
    }
    for (unsigned i = 0; i < entry->count; i++) {
        emu_race_log_note(log, entry->start[i], emu_race_log_words(entry, i), writes);
    }
    log->entries[log->count++] = *entry;
    return true;
}

bool
emu_race_log_add_plan(emu_race_log *log, const emu_race_entry *entry,
                      const emu_shared_plan *plan)
{
    uint64_t found = 0;

    if (log->count == EMU_RACE_ENTRIES) {
        return false;
    }
    for (unsigned i = 0; i < plan->count; i++) {
        found |= log->written[plan->sets[i].at] & plan->sets[i].bits;
    }
    if (found) {
        return false;
    }
    for (unsigned i = 0; i < plan->count; i++) {
        log->read[plan->sets[i].at] |= plan->sets[i].bits;
        if (plan->sets[i].at >= log->used) {
            log->used = plan->sets[i].at + 1;
        }
    }
    log->entries[log->count++] = *entry;
    return true;
}
