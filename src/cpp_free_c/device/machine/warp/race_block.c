/* The race check of a block. See race_block.h. */
#include "device/machine/warp/race_block.h"

#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/race_order.h"

enum { WORD = 4, TAGS = 255 };

/* All accesses to shared memory count no more. False: out of memory. */
static bool
race_begin_shared(emu_race *race)
{
    bool clear;

    if (!emu_visits_begin_block(&race->spaces[EMU_RACE_SHARED].table, &clear)) {
        return false;
    }
    if (clear) { /* numbers of visits begin anew */
        memset(race->cells, 0, race->cell_count * sizeof *race->cells);
        memset(race->visitors, 0, sizeof race->visitors);
        race->narrow = 0;
    }
    return true;
}

/* Set the cells of shared memory. What is in them is old. False: out of memory. */
static bool
race_reserve_shared(emu_block *block, emu_race *race)
{
    emu_race_space *space = &race->spaces[EMU_RACE_SHARED];
    const size_t bytes = block->shared_size + WORD, words = bytes / WORD + 1;
    const size_t count = 3 * bytes + 3 * words;

    if (race->cell_count < count) {
        free(race->cells);
        race->cells = calloc(count, sizeof *race->cells);
        race->cell_count = race->cells == NULL ? 0 : count;
        if (race->cells == NULL) {
            return false;
        }
    }
    space->words =
        (emu_visits){race->cells, race->cells + words, race->cells + 2 * words};
    space->bytes =
        (emu_visits){race->cells + 3 * words, race->cells + 3 * words + bytes,
                     race->cells + 3 * words + 2 * bytes};
    space->base = (uint64_t)(uintptr_t)block->shared;
    space->size = block->shared_size;
    space->narrow = &race->narrow;
    space->tag = 1;
    space->narrow_shift = 63;
    return emu_race_log_begin(&race->log, block->shared_size);
}

/* Set what is the same for all blocks of a launch. False: out of memory. */
static bool
race_prepare(emu_block *block, emu_race *race)
{
    emu_race_space *global = &race->spaces[EMU_RACE_GLOBAL];

    *global = (emu_race_space){
        .base = emu_memory_tables.base,
        .size = emu_memory_tables.size,
        .lines = emu_memory_shadow.lines,
        .words = emu_memory_shadow.words,
        .bytes = emu_memory_shadow.bytes,
        .narrow = emu_memory_shadow.narrow,
        .tag = (uint8_t)(block->grid->number % TAGS + 1),
        .narrow_shift = EMU_CHUNK_SHIFT,
        .table = *emu_race_grid_visits(block->grid->race),
    };
    memset(race->visitors, 0, sizeof race->visitors);
    race->launch = block->grid->number;
    return race_reserve_shared(block, race);
}

bool
emu_race_begin(emu_block *block)
{
    emu_race *race = block->race;

    if (block->grid->race == NULL) {
        emu_race_free(block);
        return true;
    }
    if (race == NULL) {
        race = block->race = calloc(1, sizeof *race);
        if (race == NULL) {
            return false;
        }
    }
    if (race->launch != block->grid->number && !race_prepare(block, race)) {
        race->launch = 0;
        return false;
    }
    emu_order_begin(&race->order);
    emu_visits_enter(&race->spaces[EMU_RACE_GLOBAL].table);
    race->blocks++; /* visitors begin anew when they are used */
    emu_race_log_clear(&race->log);
    race->narrow = 0;
    race->has_copies = false;
    race->keeps_writes = false;
    return race_begin_shared(race);
}

void
emu_race_free(emu_block *block)
{
    if (block->race) {
        emu_visits_free_block(&block->race->spaces[EMU_RACE_SHARED].table);
        emu_race_log_free(&block->race->log);
        free(block->race->cells);
        free(block->race);
        block->race = NULL;
    }
}

void
emu_race_forget(emu_block *block)
{
    emu_race *race = block->race;

    if (race->has_copies) {
        return; /* no barrier orders them */
    }
    emu_race_log_clear(&race->log);
    (void)race_begin_shared(race); /* it has its memory */
}

void
emu_race_meet(emu_block *block)
{
    emu_order_meet(block);
    emu_race_forget(block);
}
