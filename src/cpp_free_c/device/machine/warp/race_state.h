/* What the race check knows of a block: the order of its accesses (race_order.h), and
 * the accesses to shared and global memory (race_check.h). This header has no .c. */
#ifndef DEVICE_MACHINE_WARP_RACE_STATE_H
#define DEVICE_MACHINE_WARP_RACE_STATE_H

#include "device/machine/warp/race_log.h"
#include "device/machine/warp/race_visit.h"
#include "device/memory/memory.h"

/* Epochs of each warp, and of copies, that are ordered before something. */
typedef struct {
    uint32_t seen[EMU_MAX_WARPS + 1];
    uint64_t acquired; /* time of the grid's clock */
} emu_epochs;

typedef struct {
    emu_epochs warps[EMU_MAX_WARPS];
    emu_epochs barriers[EMU_BARRIERS];
    emu_epochs mbarriers; /* of all mbarriers of the block */
    emu_epochs published; /* by fences */
    emu_epochs exited;
    uint32_t copies;                 /* asynchronous copies that are complete */
    bool is_used;                    /* it is not all zero */
    bool has_published;              /* some warp has run a fence */
    bool after_fence[EMU_MAX_WARPS]; /* a fence began the warp's present epoch */
} emu_order;

enum { EMU_RACE_SHARED, EMU_RACE_GLOBAL, EMU_RACE_SPACES };

/* The memory in which cells are: those of a word are at (address - base) / 4. */
typedef struct {
    uint64_t base, size;
    emu_visits lines; /* of global memory alone */
    emu_visits words, bytes;
    uint8_t *narrow; /* `tag` if a part has stamps of bytes */
    uint8_t tag;
    unsigned narrow_shift;
    emu_visit_table table;
} emu_race_space;

/* An access of one warp that is being checked. */
typedef struct {
    emu_warp *warp;
    const emu_insn *insn;
    emu_race_space *space;
    const emu_visitor *visitor;
    emu_race_kind kind;
    unsigned size;
    uint32_t stamp; /* of lane 0 */
    bool same;      /* it writes the value that the bytes have */
    bool is_copy;
    bool pairs; /* a line may be of two warps */
} emu_race_try;

struct emu_race {
    emu_order order;
    emu_race_space spaces[EMU_RACE_SPACES];
    emu_visitor visitors[EMU_RACE_VISITORS][EMU_RACE_SPACES];
    emu_race_log log; /* of accesses to shared memory that are not in cells yet */
    uint64_t blocks;  /* blocks so far, for the visitors */
    uint64_t launch;  /* the last launch of which a block used it */
    uint32_t *cells;  /* of shared memory */
    size_t cell_count;
    uint8_t narrow;
    bool has_copies;
    bool keeps_writes; /* atomic operations are noted as reads, see race_check.c */
};

/* The stamps of the block in the table of the process, if the warps of all its visits
 * are the same: *size is 0 if not. */
static inline uint32_t
emu_race_block_stamps(const emu_race_try *a, uint32_t *size)
{
    const emu_visit_table *table = &a->space->table;

    *size = 0;
    if (a->warp->block->warp_count <= EMU_VISIT_WARPS) {
        *size = (table->end - table->block) * EMU_VISIT_STAMPS;
    }
    return table->block * EMU_VISIT_STAMPS;
}

/* The first stamp that the warp of an access has in its chunk. */
static inline uint32_t
emu_race_own(const emu_race_try *a)
{
    return (a->visitor->end - EMU_RACE_CHUNK) * EMU_VISIT_STAMPS +
           a->warp->number % EMU_VISIT_WARPS * EMU_LANES;
}

#endif
