/* Operations that several lanes of a warp do together: shfl, vote, match, mma and other
 * operations with .sync.
 *
 * A group that arrives before the other lanes waits as EMU_GROUP_AT_SYNC. When the last
 * lane arrives, the operation runs for all of them. Called by ops_warp.c, ops_matrix.c
 * and calls.c (exits). */
#ifndef DEVICE_MACHINE_WARP_SYNC_H
#define DEVICE_MACHINE_WARP_SYNC_H

#include "device/machine/warp/machine.h"

/* A value of `members`: all 32 lanes, as one team. */
#define EMU_WHOLE_WARP UINT32_MAX

/* Run a .sync operation once all lanes that its operand `members` names have arrived.
 * If imm is 0, the current lanes are all members, as one team. */
const emu_insn *emu_sync(emu_warp *warp, const emu_insn *insn, uint32_t members,
                         emu_sync_phase phase);
/* Run the operations that waited only for lanes which have exited. */
void emu_sync_lanes_exited(emu_warp *warp);

#endif
