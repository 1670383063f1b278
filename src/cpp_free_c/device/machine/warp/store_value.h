/* The values that a store writes: what a lane has in the registers of the instruction.
 * Called by the checks. */
#ifndef DEVICE_MACHINE_WARP_STORE_VALUE_H
#define DEVICE_MACHINE_WARP_STORE_VALUE_H

#include "device/machine/warp/machine.h"

enum { EMU_MOST_STORED = 64 };

/* Copy the `size` bytes that a store writes for a lane; at most EMU_MOST_STORED. */
void emu_store_value(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                     unsigned size, uint8_t value[EMU_MOST_STORED]);

#endif
