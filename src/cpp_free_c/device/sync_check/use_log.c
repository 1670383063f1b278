/* Logs of workers. See uses.h. */
#include "device/sync_check/uses.h"

#include <stdlib.h>

enum { RECENT = 8 };

/* Bytes that are used, and not yet in the table. Empty: start and end are equal. */
typedef struct {
    uint64_t start, end;
} log_range;

struct emu_use_log {
    emu_uses *uses; /* NULL: nothing is noted */
    emu_use_table table;
    /* The last ranges of each kind. A range grows while the next warp goes on where
     * the last one has ended, and is added to the table when its place is needed. */
    log_range recent[EMU_USE_KINDS][RECENT];
    unsigned next[EMU_USE_KINDS]; /* the place that is needed next, modulo RECENT */
    bool has_host;                /* memory that the host can access is used */
    bool incomplete;              /* memory was short */
};

emu_use_log *
emu_use_log_new(void)
{
    emu_use_log *log = calloc(1, sizeof(*log));

    if (log == NULL) {
        return NULL;
    }
    log->table.arena = emu_use_arena_new();
    if (log->table.arena == NULL) {
        free(log);
        return NULL;
    }
    return log;
}

void
emu_use_log_free(emu_use_log *log)
{
    if (log != NULL) {
        emu_use_table_close(&log->table);
        emu_use_arena_free(log->table.arena);
        free(log);
    }
}

void
emu_use_log_begin(emu_use_log *log, emu_uses *uses)
{
    log->uses = uses;
    log->has_host = false;
    log->incomplete = false;
}

/* Move a recent range to the table. */
static void
log_settle(emu_use_log *log, log_range *range, int kind)
{
    if (!emu_use_table_add(&log->table, range->start, range->end, kind)) {
        log->incomplete = true;
    }
    *range = (log_range){0, 0};
}

static void
log_settle_all(emu_use_log *log)
{
    for (int kind = 0; kind < EMU_USE_KINDS; kind++) {
        for (int i = 0; i < RECENT; i++) {
            log_settle(log, &log->recent[kind][i], kind);
        }
    }
}

void
emu_use_log_end(emu_use_log *log)
{
    log_settle_all(log);
    if (log->uses != NULL) {
        emu_uses_merge(log->uses, &log->table, log->has_host, log->incomplete);
        log->uses = NULL;
    }
    emu_use_table_clear(&log->table);
}

bool
emu_use_log_wants(emu_use_log *log, const emu_allocation *allocation)
{
    if (log == NULL || log->uses == NULL) {
        return false;
    }
    bool is_host = emu_uses_is_host_kind(allocation->kind);
    log->has_host |= is_host;
    return is_host || !log->uses->host_only;
}

void
emu_use_log_add(emu_use_log *log, uint64_t address, uint64_t bytes, unsigned kind)
{
    const int index = emu_use_kind_index(kind);
    const uint64_t end = address + bytes;
    log_range *range = log->recent[index];

    for (int i = 0; i < RECENT; i++, range++) {
        if (address - range->start <= range->end - range->start) {
            if (end > range->end) {
                range->end = end;
            }
            return;
        }
    }
    range = &log->recent[index][log->next[index]++ % RECENT];
    log_settle(log, range, index);
    *range = (log_range){address, end};
}

void
emu_use_log_add_lanes(emu_use_log *log, const uint64_t *at, uint32_t mask,
                      unsigned size, unsigned kind)
{
    if (!emu_use_table_add_lanes(&log->table, at, mask, size,
                                 emu_use_kind_index(kind))) {
        log->incomplete = true;
    }
}
