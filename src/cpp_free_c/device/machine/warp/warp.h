/* A warp: the loop over its instructions, and when it yields.
 *
 * A warp yields after a few back-edges, so that all warps of a block make progress.
 * block.c chooses the warp that runs next, group.c the lanes of the warp. emu_warp_run
 * is called by block.c and watch.c through emu_block.run_warp. The inline functions are
 * called by the operations that jump and wait (ops_flow.c) and by recursive calls
 * (calls.c). */
#ifndef DEVICE_MACHINE_WARP_WARP_H
#define DEVICE_MACHINE_WARP_WARP_H

#include "device/machine/warp/group.h"
#include "device/machine/warp/machine.h"

enum {
    /* A warp yields to the next one after EMU_TURNS + 1 back-edges, so that warps which
     * stride over memory together stay together (three times as fast as one after the
     * other). */
    EMU_TURNS = 1,
    /* The groups of a warp change after EMU_SPINS of effort: a back-edge counts 1, an
     * operation of loops that wait counts EMU_SPIN_STEP. This lets spin locks make
     * progress, but lanes converge less. */
    EMU_SPINS = 1 << 20,
    EMU_SPIN_STEP = 1 << 14,
    /* The only warp of a block yields every EMU_STAYS times. */
    EMU_STAYS = 1 << 8
};

/* Run a warp until it stops. */
void emu_warp_run(emu_warp *warp);

/* Start the next turns of a warp. True: it is time to rotate its groups. */
static inline bool
emu_warp_renew_turns(emu_warp *warp)
{
    warp->turns = EMU_TURNS;
    warp->spins += EMU_TURNS + 1;
    if (warp->spins < EMU_SPINS) {
        return false;
    }
    warp->spins = 0;
    warp->rotate = true;
    return true;
}

/* Called when the turns of the warp are used up: yield before the instruction `next`.
 * Returns `next` if the warp may continue, else NULL. */
static inline const emu_insn *
emu_warp_yield(emu_warp *warp, const emu_insn *next)
{
    const bool rotates = emu_warp_renew_turns(warp);

    if (!rotates && warp->block->warp_count == 1) {
        warp->stays++;
        if (warp->stays % EMU_STAYS != 0 && warp->block->watch == NULL) {
            return next; /* the block has no other warp */
        }
    }
    (void)emu_group_save(warp, next, EMU_RUNNABLE);
    warp->stop = EMU_STOP_YIELD;
    return NULL;
}

#endif
