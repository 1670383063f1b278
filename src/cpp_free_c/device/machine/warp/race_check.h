/* The race check, and the other opt-in checks of shared memory and barriers (checks.h).
 *
 * A checked block has an emu_race. All of its accesses to shared memory go through
 * emu_address_check, which calls emu_race_access: block->shared_fast_size is 0, so
 * the fast checks of ops_memory.inc do not apply. A block without checks has NULL in
 * block->race and no cost.
 *
 * Two accesses to one byte by lanes of different warps are a race if no barrier orders
 * them and at least one is a write, unless both are atomic or both write the same
 * value. Two lanes that write different values to one address in the same instruction
 * are a race too. Each warp counts its epochs. A barrier gives the warps that leave it
 * the epochs of the warps that arrived, so barriers of a part of the block, and
 * bar.arrive, order only the warps that take part. All mbarriers of a block count as
 * one barrier, at which a warp arrives and for which it waits. Atomics and fences order
 * nothing here.
 *
 * Called by execution.c, block.c (blocks), calls.c (exits), barrier.c (barriers)
 * mbarrier.c and ops_mbarrier.c (mbarriers), and address_check.c and bulk_copy.c
 * (accesses). */
#ifndef DEVICE_MACHINE_WARP_RACE_CHECK_H
#define DEVICE_MACHINE_WARP_RACE_CHECK_H

#include "device/base/checks.h"
#include "device/machine/warp/machine.h"

/* The checks of this process that this file makes. */
unsigned emu_race_wanted(void);

/* Prepare a block to run with these checks; 0 means none. False: out of memory. */
bool emu_race_begin(emu_block *block, unsigned checks);
void emu_race_free(emu_block *block);

/* Check a legal access: `at` has the host address of each lane. Addresses outside
 * shared memory are ignored. False after a fault. */
bool emu_race_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                     bool write, const uint64_t at[EMU_LANES]);

/* Check an asynchronous copy that a lane began: it writes to or reads from `size` bytes
 * at an offset of the block's shared memory. False after a fault. */
bool emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                   unsigned size, bool write);

/* The warp arrives at a barrier. */
void emu_race_arrive(emu_warp *warp, uint32_t barrier);
/* The warp leaves the barrier. */
void emu_race_leave(emu_warp *warp, uint32_t barrier);
/* All warps that waited have left the barrier. */
void emu_race_released(emu_block *block, uint32_t barrier);
/* The warp arrives at an mbarrier. */
void emu_race_signal(emu_warp *warp);
/* A copy to the shared memory of the block is complete. */
void emu_race_copied(emu_block *block);
/* A wait of the warp for an mbarrier has succeeded. */
void emu_race_observe(emu_warp *warp);
/* Lanes of the warp exit. */
void emu_race_exit(emu_warp *warp);

/* Called when the barrier is complete and its threads still wait. Fault if they wait
 * at different __syncthreads. The launch ends after the turn of the current warp. */
void emu_race_together(emu_block *block, uint32_t barrier);

#endif
