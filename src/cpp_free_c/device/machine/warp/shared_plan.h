/* The words of shared memory that all warps in lockstep load, where the shape of the
 * address says so (EMU_AT_SHAPE). They are the same in all blocks of a launch, so they
 * are found once and checked together. Called by checked_lockstep.c, race_check.c and
 * init_check.c. */
#ifndef DEVICE_MACHINE_WARP_SHARED_PLAN_H
#define DEVICE_MACHINE_WARP_SHARED_PLAN_H

#include "device/machine/warp/machine.h"

enum { EMU_PLAN_SETS = 16, EMU_PLANS = 64 };

/* A bit for each word of 64 words of shared memory, from word 64 * at on. */
typedef struct {
    uint32_t at;
    uint64_t bits;
} emu_word_set;

typedef struct emu_shared_plan {
    const emu_insn *insn;
    uint64_t launch;
    uint32_t first, warps; /* the warps in lockstep */
    uint32_t count;        /* of sets; 0: the access has another form */
    emu_word_set sets[EMU_PLAN_SETS];
} emu_shared_plan;

/* The plan of an access to elements of `size` bytes. NULL: it has another form, or the
 * system has no memory. */
const emu_shared_plan *emu_shared_plan_of(emu_warp *warp, const emu_insn *insn,
                                          unsigned size);

#endif
