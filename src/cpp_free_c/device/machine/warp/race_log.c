/* The log of accesses to shared memory. See race_state.h. */
#include "device/machine/warp/race_state.h"

#include <stdlib.h>
#include <string.h>

bool
emu_race_log_begin(emu_race_log *log, size_t shared_size)
{
    const size_t count = shared_size / 4 / EMU_WORDS_OF_MASK + 2;

    if (log->entries == NULL) {
        log->entries = malloc(EMU_RACE_ENTRIES * sizeof *log->entries);
    }
    if (log->starts == NULL) {
        log->starts = malloc(EMU_RACE_STARTS * sizeof *log->starts);
    }
    if (log->room < count) {
        free(log->sets[0]);
        log->sets[0] = calloc(EMU_LOG_SETS * count, sizeof *log->sets[0]);
        log->room = log->sets[0] == NULL ? 0 : count;
        log->used = 0;
    }
    if (log->entries == NULL || log->starts == NULL || log->sets[0] == NULL) {
        return false;
    }
    for (unsigned i = 1; i < EMU_LOG_SETS; i++) {
        log->sets[i] = log->sets[0] + i * log->room;
    }
    emu_race_log_clear(log);
    return true;
}

void
emu_race_log_free(emu_race_log *log)
{
    free(log->sets[0]);
    free(log->entries);
    free(log->starts);
    *log = (emu_race_log){.entries = NULL};
}

void
emu_race_log_clear(emu_race_log *log)
{
    for (unsigned i = 0; i < EMU_LOG_SETS && log->used != 0; i++) {
        memset(log->sets[i], 0, log->used * sizeof *log->sets[i]);
    }
    log->used = 0;
    log->count = 0;
    log->start_count = 0;
}

/* -- bits of words ----------------------------------------------------------------- */

static unsigned
log_set_of(emu_race_kind kind)
{
    if (kind == EMU_RACE_ATOMIC) {
        return EMU_LOG_ATOMIC;
    }
    if (emu_race_kind_writes(kind)) {
        return EMU_LOG_WRITTEN;
    }
    return EMU_LOG_READ;
}

/* The words that an access of a kind may not meet, of those of the number `at`. */
static inline uint64_t
log_others(const emu_race_log *log, unsigned set, uint64_t at)
{
    uint64_t others = log->sets[EMU_LOG_WRITTEN][at];

    if (set != EMU_LOG_READ) {
        others |= log->sets[EMU_LOG_READ][at];
    }
    if (set != EMU_LOG_ATOMIC) {
        others |= log->sets[EMU_LOG_ATOMIC][at];
    }
    return others;
}

/* The bits of a range of words in the number `at`. */
static inline uint64_t
log_bits(uint64_t first, uint64_t end, uint64_t at)
{
    uint64_t bits = ~(uint64_t)0;

    if (first > at * EMU_WORDS_OF_MASK) {
        bits <<= first % EMU_WORDS_OF_MASK;
    }
    if (end < (at + 1) * EMU_WORDS_OF_MASK) {
        bits &= ~(~(uint64_t)0 << end % EMU_WORDS_OF_MASK);
    }
    return bits;
}

static inline bool
log_meets(const emu_race_log *log, unsigned set, uint64_t first, uint64_t end)
{
    uint64_t found = 0;

    for (uint64_t at = first / EMU_WORDS_OF_MASK; at <= (end - 1) / EMU_WORDS_OF_MASK;
         at++) {
        found |= log_others(log, set, at) & log_bits(first, end, at);
    }
    return found != 0;
}

static inline void
log_note(emu_race_log *log, unsigned set, uint64_t first, uint64_t end)
{
    for (uint64_t at = first / EMU_WORDS_OF_MASK; at <= (end - 1) / EMU_WORDS_OF_MASK;
         at++) {
        log->sets[set][at] |= log_bits(first, end, at);
    }
    if ((end - 1) / EMU_WORDS_OF_MASK >= log->used) {
        log->used = (end - 1) / EMU_WORDS_OF_MASK + 1;
    }
}

void
emu_race_log_note(emu_race_log *log, uint64_t first, uint64_t count, emu_race_kind kind)
{
    log_note(log, log_set_of(kind), first, first + count);
}

/* -- accesses ---------------------------------------------------------------------- */

bool
emu_race_log_add(emu_race_log *log, const emu_race_entry *entry)
{
    const unsigned set = log_set_of((emu_race_kind)entry->kind);

    for (unsigned i = 0; i < entry->count; i++) {
        const uint64_t first = entry->start[i];

        if (log_meets(log, set, first, first + emu_race_log_words(entry, i))) {
            return false;
        }
    }
    for (unsigned i = 0; i < entry->count; i++) {
        const uint64_t first = entry->start[i];

        log_note(log, set, first, first + emu_race_log_words(entry, i));
    }
    log->entries[log->count++] = *entry;
    return true;
}

bool
emu_race_log_add_lanes(emu_race_log *log, const emu_race_entry *entry,
                       const uint16_t first[EMU_LANES])
{
    const unsigned set = log_set_of((emu_race_kind)entry->kind);
    const unsigned words = entry->size / 4u;
    bool meets = false;

    for (uint32_t left = entry->lanes; left; left &= left - 1) {
        const uint64_t word = first[__builtin_ctz(left)];

        meets |= log_meets(log, set, word, word + words);
    }
    for (uint32_t left = entry->lanes; left && !meets; left &= left - 1) {
        const uint64_t word = first[__builtin_ctz(left)];

        /* lanes of one store may write to one word */
        meets = set == EMU_LOG_WRITTEN && log_meets(log, set, word, word + words);
        log_note(log, set, word, word + words);
    }
    if (meets) {
        return false;
    }
    log->entries[log->count] = *entry;
    log->entries[log->count++].place = log->start_count;
    memcpy(log->starts + log->start_count, first, EMU_LANES * sizeof *first);
    log->start_count += EMU_LANES;
    return true;
}

bool
emu_race_log_add_plan(emu_race_log *log, const emu_race_entry *entry,
                      const emu_shared_plan *plan)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < plan->count; i++) {
        found |= log_others(log, EMU_LOG_READ, plan->sets[i].at) & plan->sets[i].bits;
    }
    if (found) {
        return false;
    }
    for (unsigned i = 0; i < plan->count; i++) {
        log->sets[EMU_LOG_READ][plan->sets[i].at] |= plan->sets[i].bits;
        if (plan->sets[i].at >= log->used) {
            log->used = plan->sets[i].at + 1;
        }
    }
    log->entries[log->count++] = *entry;
    return true;
}
