/* Values that are computed once for many warps, and addresses without own instructions.
 *
 * Many instructions of a kernel depend only on its parameters and on the numbers of the
 * block and of the thread: they give the same in each block of a launch or in each warp
 * of a block. Such an instruction leaves the code. The machine runs it once
 * (emu_func.once) and keeps the result in memory that all warps of the block read.
 *
 * An access to memory whose address is a base, the same for all lanes, plus a 32-bit
 * index times a constant takes base and index as its operands (EMU_AT_INDEX), so the
 * instructions that computed the address are dropped.
 *
 * Called by registers.c between the intervals and the places of registers. */
#ifndef DEVICE_COMPILE_HOIST_H
#define DEVICE_COMPILE_HOIST_H

#include "device/compile/lower_state.h"

/* `start` and `end` are the intervals of the registers in half instructions. Registers
 * that need no place in the frame get the start UINT32_MAX. */
void low_hoist(low_func *f, uint32_t *start, uint32_t *end);

#endif
