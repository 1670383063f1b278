/* The race check: accesses to shared and to global memory whose order is undefined.
 *
 * Two accesses to one byte by different warps are a race if nothing orders them and at
 * least one is a write, unless both are atomic or strong, or both write the same value.
 * Two lanes that write different values to one address in the
 * same instruction are a race too. The lanes of a warp otherwise count as running in
 * step. A volatile access to shared memory counts as a plain one.
 *
 * race_check.c checks lane by lane, race_parts.c several lanes at once. Called by
 * checked.c and ops_matrix_group.c (accesses), ops_bulk.c (copies). */
#ifndef DEVICE_MACHINE_WARP_RACE_CHECK_H
#define DEVICE_MACHINE_WARP_RACE_CHECK_H

#include "device/base/checks.h"
#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/race_state.h"

/* Check a legal access: `at` has the host address of each lane. Other memory than
 * shared and global is ignored. False after a fault. */
bool emu_race_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                     emu_race_kind kind, const uint64_t at[EMU_LANES]);

/* Check an asynchronous copy that a lane began: it writes to or reads from `size` bytes
 * at an offset of the block's shared memory. False after a fault. */
bool emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                   unsigned size, bool write);

/* -- several lanes at once --------------------------------------------------------- */

/* Several lanes at once in the race check: plain accesses whose lanes access
 * consecutive elements, or one element. */

/* Check the parts of an access as a whole. False: the lanes must be checked one by one,
 * by emu_race_access. */
bool emu_race_parts(emu_warp *warp, const emu_insn *insn, unsigned size,
                    emu_race_kind kind, const emu_parts *parts);

/* The same for all warps in lockstep, whose lanes access consecutive elements of global
 * memory from a host address on. The access is plain. */
bool emu_race_warps(emu_warp *warp, const emu_insn *insn, unsigned size,
                    emu_race_kind kind, uint64_t start);

/* The same for loads of all warps in lockstep from shared memory. */
bool emu_race_plan(emu_warp *warp, const emu_insn *insn, unsigned size,
                   const emu_shared_plan *plan);

/* -- the check of a block ---------------------------------------------------------- */

/* The race check of a block: its beginning and its barriers.
 *
 * A checked block has an emu_race; a block without the check has NULL in block->race
 * and no cost. */

/* Prepare a block to run with the check, or without it. False: out of memory. */
bool emu_race_begin(emu_block *block);
void emu_race_free(emu_block *block);

/* All threads of the block have met at a barrier: earlier accesses to shared memory are
 * ordered before all that follows. */
void emu_race_forget(emu_block *block);
/* All warps, in lockstep, meet at such a barrier. */
void emu_race_meet(emu_block *block);

/* -- the order of accesses --------------------------------------------------------- */

/* The order of accesses: which of them the program has put before others.
 *
 * Each warp counts its epochs and knows how many epochs of each warp of its block are
 * before its present one. A barrier gives the warps that leave it the epochs of the
 * warps that arrived, so barriers of a part of the block, and bar.arrive, order only
 * the warps that take part. All mbarriers of a block count as one barrier.
 *
 * A fence, and an atomic operation that releases, publish what the warp knows. A strong
 * read and an atomic operation acquire all that was published until then, whatever
 * address they read. So an order that the program makes is never missed, but a program
 * that waits for the wrong flag may not be found. A fence of the scope of a block is
 * published to the block only. Other blocks look up by time: a grid has a clock that
 * counts publications, a block remembers the time of each of its own, and a warp the
 * time at which it acquired last. */

/* What blocks of a grid have published. NULL: out of memory. */
emu_race_grid *emu_race_grid_new(void);
/* The visits of the grid to global memory. */
const emu_visit_table *emu_race_grid_visits(const emu_race_grid *grid);
void emu_race_grid_free(emu_race_grid *grid);

/* A block begins: nothing is ordered yet. */
void emu_order_begin(emu_order *order);

/* The warp arrives at a barrier. */
void emu_race_arrive(emu_warp *warp, uint32_t barrier);
/* The warp leaves the barrier. */
void emu_race_leave(emu_warp *warp, uint32_t barrier);
/* All warps of the block arrive at a barrier of the block and leave it. */
void emu_order_meet(emu_block *block);
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
/* The warp runs a fence. */
void emu_race_fence(emu_warp *warp, bool in_block);
/* A strong read or an atomic operation of the warp is done. */
void emu_race_acquire(emu_warp *warp);

/* The epoch of an access that the warp makes now. */
uint32_t emu_order_epoch(const emu_warp *warp, emu_race_kind kind);
/* Whether the access of a stamp, by a visit, is ordered before what the warp does now.
 */
bool emu_order_is_before(const emu_warp *warp, const emu_visit *visit, uint32_t stamp);

#endif
