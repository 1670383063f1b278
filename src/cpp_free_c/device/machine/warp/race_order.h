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
 * time at which it acquired last.
 *
 * Called by barrier.c, calls.c, mbarrier.c, ops_mbarrier.c, ops_cluster.c, checked.c
 * (events), by execution.c (grids) and by race_check.c (questions). */
#ifndef DEVICE_MACHINE_WARP_RACE_ORDER_H
#define DEVICE_MACHINE_WARP_RACE_ORDER_H

#include "device/machine/warp/race_state.h"

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
