/* The accesses that the race check remembers. See race_state.h. */
#define _GNU_SOURCE
#include "device/machine/warp/race_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/memory/memory.h"

enum {
    GLOBAL_VISITS = 1 << 23, /* so that stamps have 31 bits */
    BLOCK_VISITS = 1 << 13
};

/* The table of the process. */
static struct {
    pthread_mutex_t lock;
    emu_visit *visits;
    uint32_t first; /* number of the visit at the start of `visits` */
    _Atomic uint32_t next;
    unsigned running; /* launches that use it */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* -- the table of the process ------------------------------------------------------ */

static bool
visits_open_locked(void)
{
    void *memory;

    if (process.visits != NULL) {
        return true;
    }
    if (!emu_shadow_open_visits()) {
        return false;
    }
    memory =
        mmap(NULL, (size_t)GLOBAL_VISITS * sizeof(emu_visit), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return false;
    }
    process.visits = memory;
    atomic_store(&process.next, EMU_RACE_RESERVE); /* a stamp of 0 means none */
    return true;
}

/* No launch uses the table: begin to fill it at its start, with the next number. */
static void
visits_restart_locked(void)
{
    if (atomic_load(&process.next) > GLOBAL_VISITS / 2) {
        emu_shadow_clear_visits();
        atomic_store(&process.next, EMU_RACE_RESERVE);
    }
    process.first = atomic_load(&process.next);
}

bool
emu_visits_begin(emu_visit_table *table)
{
    pthread_mutex_lock(&process.lock);
    bool open = visits_open_locked();
    if (open && process.running == 0) {
        visits_restart_locked();
    }
    process.running += open;
    pthread_mutex_unlock(&process.lock);
    if (open) {
        uint32_t number = atomic_fetch_add(&process.next, EMU_RACE_RESERVE);

        if (number >= GLOBAL_VISITS) { /* it is full, and nothing is remembered */
            number = GLOBAL_VISITS - 1;
        }
        *table = (emu_visit_table){.visits = process.visits,
                                   .first = process.first,
                                   .oldest = number * EMU_VISIT_STAMPS,
                                   .split = number * EMU_VISIT_STAMPS};
        /* for other launches, which ignore it because of its launch 0 */
        memset(&table->visits[number - table->first], 0, sizeof(emu_visit));
    }
    return open;
}

void
emu_visits_enter(emu_visit_table *table)
{
    if (table->end - table->next < EMU_RACE_RESERVE / 4) {
        table->next = table->end; /* most blocks shall have numbers in one row */
    }
    table->block = table->next;
}

void
emu_visits_end(void)
{
    pthread_mutex_lock(&process.lock);
    process.running--;
    pthread_mutex_unlock(&process.lock);
}

/* -- tables of blocks -------------------------------------------------------------- */

bool
emu_visits_begin_block(emu_visit_table *table, bool *clear)
{
    *clear = false;
    if (table->visits == NULL) {
        table->visits = malloc(BLOCK_VISITS * sizeof *table->visits);
        *clear = true;
    }
    if (table->next > BLOCK_VISITS / 2) {
        *clear = true;
    }
    if (*clear) {
        table->next = EMU_RACE_CHUNK;
        table->end = BLOCK_VISITS;
    }
    table->oldest = table->next * EMU_VISIT_STAMPS;
    return table->visits != NULL;
}

void
emu_visits_free_block(emu_visit_table *table)
{
    free(table->visits);
    table->visits = NULL;
}

/* -- numbers ----------------------------------------------------------------------- */

/* Take numbers of the table of the process. False: it is full. */
static bool
visits_reserve(emu_visit_table *table)
{
    uint32_t first = atomic_load_explicit(&process.next, memory_order_relaxed);

    if (first < GLOBAL_VISITS) {
        first = atomic_fetch_add(&process.next, EMU_RACE_RESERVE);
    }
    if (first + EMU_RACE_RESERVE > GLOBAL_VISITS) {
        return false;
    }
    table->next = table->block = first;
    table->end = first + EMU_RACE_RESERVE;
    return true;
}

/* Take the next chunk of a table. False: it is full. */
static bool
visits_take_chunk(emu_visit_table *table, emu_visitor *visitor)
{
    if (table->next == table->end &&
        (table->visits != process.visits || !visits_reserve(table))) {
        return false;
    }
    uint32_t first = table->next;
    table->next += EMU_RACE_CHUNK;
    visitor->next = first;
    visitor->end = table->next;
    if (first < visitor->begin) {
        visitor->begin = first;
    }
    return true;
}

uint32_t
emu_visit_new(emu_visit_table *table, emu_visitor *visitor, const emu_visit *visit)
{
    const unsigned slot =
        (unsigned)((uintptr_t)visit->insn / sizeof(emu_insn)) % EMU_RACE_CACHE;

    if ((visitor->next == visitor->end ||
         visitor->next * EMU_VISIT_STAMPS < table->oldest) &&
        !visits_take_chunk(table, visitor)) {
        return 0;
    }
    table->visits[visitor->next - table->first] = *visit;
    visitor->cache[slot].insn = visit->insn;
    visitor->cache[slot].epoch = visit->epoch;
    visitor->cache[slot].number = visitor->next;
    return visitor->next++;
}
