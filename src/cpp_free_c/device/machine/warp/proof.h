/* The proof that a grid cannot make progress by itself.
 *
 * An epoch is a time in which all workers only watch their blocks. A worker votes when
 * it has proven, within the epoch, that all of its blocks wait. If all workers have
 * voted, and nothing else can write to the memory that they wait for, the launch fails;
 * see workers.h. Called by workers.c. */
#ifndef DEVICE_MACHINE_WARP_PROOF_H
#define DEVICE_MACHINE_WARP_PROOF_H

#include "device/machine/warp/machine.h"

/* The part of one worker. */
typedef struct {
    bool is_still;  /* it only watches: counted in emu_proof.still */
    uint64_t voted; /* the last epoch in which it voted */
} emu_proof_part;

/* Record that this worker only watches from now on. Return the present epoch, or 0 if
 * other workers still run blocks. */
uint64_t emu_proof_join(emu_grid *grid, emu_proof_part *part);
/* Record that this worker has proven, within the epoch, that all of its blocks wait.
 * `host`: some wait for memory that the host can write to. */
void emu_proof_vote(emu_grid *grid, emu_proof_part *part, uint64_t epoch, bool host);
/* Record that this worker makes progress: the epoch ends. */
void emu_proof_leave(emu_grid *grid, emu_proof_part *part);
/* Decide whether the launch fails: set grid->stuck. Call in the thread that launched.
 */
void emu_proof_judge(emu_grid *grid);

#endif
