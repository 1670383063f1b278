/* The race check: accesses to shared and to global memory whose order is undefined.
 *
 * Two accesses to one byte by different warps are a race if nothing orders them
 * (race_order.h) and at least one is a write, unless both are atomic or strong, or both
 * write the same value. Two lanes that write different values to one address in the
 * same instruction are a race too. The lanes of a warp otherwise count as running in
 * step. A volatile access to shared memory counts as a plain one.
 *
 * This file checks lane by lane; race_parts.h checks several lanes at once. Called by
 * checked.c and ops_matrix_group.c (accesses), bulk_copy.c (copies). */
#ifndef DEVICE_MACHINE_WARP_RACE_CHECK_H
#define DEVICE_MACHINE_WARP_RACE_CHECK_H

#include "device/base/checks.h"
#include "device/machine/warp/race_order.h"

/* Check a legal access: `at` has the host address of each lane. Other memory than
 * shared and global is ignored. False after a fault. */
bool emu_race_access(emu_warp *warp, const emu_insn *insn, uint32_t mask, unsigned size,
                     emu_race_kind kind, const uint64_t at[EMU_LANES]);

/* Check an asynchronous copy that a lane began: it writes to or reads from `size` bytes
 * at an offset of the block's shared memory. False after a fault. */
bool emu_race_copy(emu_warp *warp, const emu_insn *insn, unsigned lane, uint64_t offset,
                   unsigned size, bool write);

#endif
