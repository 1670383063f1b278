/* Several lanes at once in the race check: plain accesses whose lanes access
 * consecutive elements, or one element. Called by checked.c and checked_lockstep.c. */
#ifndef DEVICE_MACHINE_WARP_RACE_PARTS_H
#define DEVICE_MACHINE_WARP_RACE_PARTS_H

#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/race_state.h"

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

#endif
