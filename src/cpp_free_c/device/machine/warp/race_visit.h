/* The accesses that the race check remembers.
 *
 * A visit is one instruction of up to eight warps of a block in one epoch. An access is
 * a stamp: the number of a visit times 256, plus the thread in the eight warps. The
 * visits of global memory are in a table of the process; those of shared memory are in
 * a table of the block, which begins anew at a barrier of the whole block. Stamps below
 * a table's `oldest` count as none: they are of earlier launches, or ordered by such a
 * barrier. A visitor takes numbers in chunks, so the stamps of a warp are found by one
 * comparison. Called by the other files of the race check. */
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

static inline bool
emu_race_kind_writes(emu_race_kind kind)
{
    return kind != EMU_RACE_READ && kind != EMU_RACE_STRONG_READ;
}

enum {
    EMU_VISIT_WARPS = 8,
    EMU_VISIT_STAMPS = EMU_VISIT_WARPS * EMU_LANES,
    EMU_RACE_CHUNK = 4, /* visits */
    EMU_RACE_RESERVE =
        64, /* visits of the process's table that a block takes at once */
    EMU_RACE_CACHE = 32,
    /* The asynchronous copies of a block count as one more warp. */
    EMU_RACE_COPIES = EMU_MAX_WARPS,
    EMU_RACE_GROUPS = EMU_MAX_WARPS / EMU_VISIT_WARPS,
    EMU_RACE_SIZES = 5, /* of elements: 1 to 16 bytes */
    /* of groups, of copies, and of groups for each size (emu_visit.pairs) */
    EMU_RACE_VISITORS = EMU_RACE_GROUPS * (1 + EMU_RACE_SIZES) + 1
};

typedef struct {
    const emu_func *func;
    const emu_insn *insn;
    uint32_t launch, block; /* the low bits of their numbers */
    uint32_t epoch;
    uint8_t first;   /* the first of its warps, or EMU_RACE_COPIES */
    uint8_t starter; /* of a copy: the warp that began it */
    uint8_t kind;
    bool pairs; /* some of its lines are of two warps: race_lines.h */
} emu_visit;

/* Stamps of a thread in a chunk are equal in all bits but those of the visit; stamps of
 * a warp differ in the lane, too. */
#define EMU_RACE_THREAD_MASK (~(uint32_t)((EMU_RACE_CHUNK - 1) * EMU_VISIT_STAMPS))
#define EMU_RACE_OWN_MASK (EMU_RACE_THREAD_MASK & ~(uint32_t)(EMU_LANES - 1))

typedef struct {
    emu_visit *visits;
    uint32_t first;  /* number of the visit at its start */
    uint32_t oldest; /* stamps below it count as none */
    uint32_t split;  /* of the process: the stamp of a line that has cells of words */
    /* The next number of a visit. Of the process's table, blocks take numbers in
     * advance, up to `end`, and the present block has those from `block` on. */
    uint32_t next, end, block;
} emu_visit_table;

/* What the warps of a visit need to make stamps of a table. */
typedef struct {
    uint32_t next, end; /* numbers of visits left in its chunk */
    uint32_t begin;     /* the least of its numbers */
    uint64_t block;     /* the block for which it has them (emu_race.blocks) */
    struct {
        const emu_insn *insn;
        uint32_t epoch, number;
    } cache[EMU_RACE_CACHE];
} emu_visitor;

/* Prepare the table of the process for a launch. False: out of memory. */
bool emu_visits_begin(emu_visit_table *table);
/* The launch has ended. */
void emu_visits_end(void);

/* A block begins to use the table of the process. */
void emu_visits_enter(emu_visit_table *table);

/* Prepare the table of a block: no visit counts any more. *clear says whether the
 * caller must clear all cells. False: out of memory. */
bool emu_visits_begin_block(emu_visit_table *table, bool *clear);
void emu_visits_free_block(emu_visit_table *table);

/* Let a visitor begin anew unless it is of this block. */
static inline void
emu_visitor_begin(emu_visitor *visitor, uint64_t block)
{
    if (visitor->block != block) {
        visitor->block = block;
        visitor->next = visitor->end = 0;
        visitor->begin = UINT32_MAX;
    }
}

/* The number of a visit that the visitor has made before in the block; 0: it has not,
 * or has forgotten it. */
static inline uint32_t
emu_visit_again(const emu_visit_table *table, const emu_visitor *visitor,
                const emu_insn *insn, uint32_t epoch)
{
    const unsigned slot =
        (unsigned)((uintptr_t)insn / sizeof(emu_insn)) % EMU_RACE_CACHE;

    if (visitor->cache[slot].insn == insn && visitor->cache[slot].epoch == epoch &&
        visitor->cache[slot].number >= visitor->begin &&
        visitor->cache[slot].number * EMU_VISIT_STAMPS >= table->oldest) {
        return visitor->cache[slot].number;
    }
    return 0;
}

/* The number of a new visit. 0: the table is full. */
uint32_t emu_visit_new(emu_visit_table *table, emu_visitor *visitor,
                       const emu_visit *visit);

static inline const emu_visit *
emu_visit_of(const emu_visit_table *table, uint32_t stamp)
{
    return &table->visits[stamp / EMU_VISIT_STAMPS - table->first];
}

/* The warp of a stamp, or EMU_RACE_COPIES. */
static inline unsigned
emu_visit_warp(const emu_visit *visit, uint32_t stamp)
{
    if (visit->first == EMU_RACE_COPIES) {
        return EMU_RACE_COPIES;
    }
    return visit->first + stamp / EMU_LANES % EMU_VISIT_WARPS;
}

#endif
