/* The check of bounds: whether an access stays in the variable that its address comes
 * from (device/compile/bounds.c), in shared and local memory. Called by checked.c. */
#ifndef DEVICE_MACHINE_WARP_BOUND_CHECK_H
#define DEVICE_MACHINE_WARP_BOUND_CHECK_H

#include "device/machine/warp/machine.h"

/* Prepare a block for a launch. Blocks of which no access has bounds are not checked.
 */
void emu_bound_begin(emu_block *block);

/* The lanes whose access leaves its bounds. */
uint32_t emu_bound_lanes(const emu_warp *warp, const emu_insn *insn);
/* Whether no access of the warps in lockstep leaves its bounds. */
bool emu_bound_all(const emu_warp *warp, const emu_insn *insn);
/* Report the access of the first of these lanes. */
void emu_bound_fault(emu_warp *warp, const emu_insn *insn, uint32_t lanes);

#endif
