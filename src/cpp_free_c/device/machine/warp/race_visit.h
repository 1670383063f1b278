/* The accesses that the race check remembers.
 *
 * An access is a stamp: the number of a visit times 32, plus the lane. A visit is one
 * instruction of one warp in one epoch. The visits of global memory are in a table of
 * the process; those of shared memory are in a table of the block, which begins anew at
 * a barrier of the whole block. Stamps below a table's `oldest` count as none: they are
 * of earlier launches, or ordered by such a barrier. A warp takes numbers in chunks, so
 * its own stamps are found by one comparison. Called by race_check.c alone. */
#ifndef DEVICE_MACHINE_WARP_RACE_VISIT_H
#define DEVICE_MACHINE_WARP_RACE_VISIT_H

#include "device/machine/warp/machine.h"

/* How an access touches its bytes. A strong one is volatile, relaxed, and so on. */
typedef enum {
    EMU_RACE_READ,
    EMU_RACE_WRITE,
    EMU_RACE_ATOMIC,
    EMU_RACE_STRONG_READ,
    EMU_RACE_STRONG_WRITE
} emu_race_kind;

typedef struct {
    const emu_func *func;
    const emu_insn *insn;
    uint32_t launch, block; /* the low bits of their numbers */
    uint32_t epoch;
    uint8_t warp;    /* in the block, or EMU_RACE_COPIES */
    uint8_t starter; /* of a copy: the warp that began it */
    uint8_t kind;
} emu_visit;

/* The asynchronous copies of a block count as one more warp. */
enum { EMU_RACE_COPIES = EMU_MAX_WARPS, EMU_RACE_CHUNK = 4, EMU_RACE_CACHE = 32 };

/* Stamps of a chunk are equal in all bits but these. */
#define EMU_RACE_OWN_MASK (~(uint32_t)(EMU_RACE_CHUNK * EMU_LANES - 1))

typedef struct {
    emu_visit *visits;
    uint32_t oldest; /* stamps below it count as none */
    uint32_t next;   /* of a table of a block: the next number of a visit */
} emu_visit_table;

/* What a warp needs to make stamps of a table. */
typedef struct {
    uint32_t next, end; /* numbers of visits left in its chunk */
    struct {
        const emu_insn *insn;
        uint32_t epoch, stamp;
    } cache[EMU_RACE_CACHE];
} emu_visitor;

/* Prepare the table of the process for a launch. False: out of memory. */
bool emu_visits_begin(emu_visit_table *table);
/* The launch has ended. */
void emu_visits_end(void);

/* Prepare the table of a block. False: out of memory. */
bool emu_visits_begin_block(emu_visit_table *table);
void emu_visits_free_block(emu_visit_table *table);
/* All that was before counts no more. False: the table is nearly used up; the caller
 * clears all cells and calls emu_visits_begin_block. */
bool emu_visits_forget(emu_visit_table *table);

/* The stamp of lane 0 for a visit that the visitor has made before; 0: it has not, or
 * has forgotten it. */
static inline uint32_t
emu_visit_again(const emu_visit_table *table, const emu_visitor *visitor,
                const emu_insn *insn, uint32_t epoch)
{
    const unsigned slot =
        (unsigned)((uintptr_t)insn / sizeof(emu_insn)) % EMU_RACE_CACHE;

    if (visitor->cache[slot].insn == insn && visitor->cache[slot].epoch == epoch &&
        visitor->cache[slot].stamp >= table->oldest) {
        return visitor->cache[slot].stamp;
    }
    return 0;
}

/* The stamp of lane 0 for a new visit. 0: the table is full. */
uint32_t emu_visit_stamp(emu_visit_table *table, emu_visitor *visitor,
                         const emu_visit *visit);

static inline const emu_visit *
emu_visit_of(const emu_visit_table *table, uint32_t stamp)
{
    return &table->visits[stamp / EMU_LANES];
}

#endif
