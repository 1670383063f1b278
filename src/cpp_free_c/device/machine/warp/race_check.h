/* The race check: accesses to shared and to global memory whose order is undefined.
 *
 * Two accesses to one byte by different warps are a race if nothing orders them
 * (race_order.h) and at least one is a write, unless both are atomic or strong, or both
 * write the same value. Two lanes that write different values to one address in the
 * same instruction are a race too. The lanes of a warp otherwise count as running in
 * step. A volatile access to shared memory counts as a plain one.
 *
 * A checked block has an emu_race; a block without the check has NULL in block->race
 * and no cost. Called by execution.c (grids), block.c (blocks), checked.c and
 * ops_matrix_group.c (accesses), bulk_copy.c (copies). */
#ifndef DEVICE_MACHINE_WARP_RACE_CHECK_H
#define DEVICE_MACHINE_WARP_RACE_CHECK_H

#include "device/base/checks.h"
#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/race_order.h"

/* Prepare a block to run with the check, or without it. False: out of memory. */
bool emu_race_begin(emu_block *block);
void emu_race_free(emu_block *block);

/* Check a legal access: `at` has the host address of each lane. Other memory than
 * shared and global is ignored. False after a fault. */
bool emu_race_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                     emu_race_kind kind, const uint64_t at[EMU_LANES]);

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

/* Check an asynchronous copy that a lane began: it writes to or reads from `size` bytes
 * at an offset of the block's shared memory. False after a fault. */
bool emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                   unsigned size, bool write);

/* All threads of the block have met at a barrier: earlier accesses to shared memory are
 * ordered before all that follows. */
void emu_race_forget(emu_block *block);
/* All warps, in lockstep, meet at such a barrier. */
void emu_race_meet(emu_block *block);

#endif
