/* Logs of workers. See use_log.h. */
#include "device/check/use_log.h"

#include <stdlib.h>

struct emu_use_log {
    emu_uses *uses; /* NULL: nothing is noted */
    emu_use_table table;
    bool has_host;   /* memory that the host can access is used */
    bool incomplete; /* memory was short */
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

void
emu_use_log_end(emu_use_log *log)
{
    if (log->uses != NULL) {
        emu_uses_merge(log->uses, &log->table, log->has_host, log->incomplete);
        log->uses = NULL;
    }
    emu_use_table_clear(&log->table);
}

bool
emu_use_log_wants(emu_use_log *log, const emu_allocation *allocation)
{
    bool is_host;

    if (log == NULL || log->uses == NULL) {
        return false;
    }
    is_host = emu_uses_is_host_kind(allocation->kind);
    log->has_host |= is_host;
    return is_host || !log->uses->host_only;
}

void
emu_use_log_add(emu_use_log *log, uint64_t address, uint64_t bytes, unsigned kind)
{
    if (!emu_use_table_add(&log->table, address, address + bytes,
                           emu_use_kind_index(kind))) {
        log->incomplete = true;
    }
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
