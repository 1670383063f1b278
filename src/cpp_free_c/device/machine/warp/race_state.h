/* What the race check knows of a block: the order of its accesses (race_order.h), and
 * the accesses to shared and global memory (race_check.h). This header has no .c. */
#ifndef DEVICE_MACHINE_WARP_RACE_STATE_H
#define DEVICE_MACHINE_WARP_RACE_STATE_H

#include "device/machine/warp/race_visit.h"
#include "device/memory/shadow.h"

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
    bool has_published;              /* some warp has run a fence */
    bool after_fence[EMU_MAX_WARPS]; /* a fence began the warp's present epoch */
} emu_order;

enum { EMU_RACE_SHARED, EMU_RACE_GLOBAL, EMU_RACE_SPACES };

/* The memory in which cells are: those of a word are at (address - base) / 4. */
typedef struct {
    uint64_t base, size;
    emu_visits words, bytes;
    uint8_t *narrow; /* whether a part has stamps of bytes */
    unsigned narrow_shift;
    emu_visit_table table;
} emu_race_space;

struct emu_race {
    emu_order order;
    emu_race_space spaces[EMU_RACE_SPACES];
    emu_visitor visitors[EMU_MAX_WARPS + 1][EMU_RACE_SPACES]; /* the last: copies */
    uint32_t *cells;                                          /* of shared memory */
    size_t cell_count; /* of each of the six kinds, and room for as many */
    uint8_t narrow;
    bool has_copies;
    bool keeps_writes; /* atomic operations are noted as reads, see race_check.c */
};

#endif
