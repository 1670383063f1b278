/* The values that a store writes: what a lane has in the registers of the instruction.
 * Called by the checks. */
#ifndef DEVICE_MACHINE_WARP_STORE_VALUE_H
#define DEVICE_MACHINE_WARP_STORE_VALUE_H

#include "device/base/checks.h"
#include "device/machine/warp/machine.h"

enum { EMU_MOST_STORED = 64 };

/* Copy the `size` bytes that a store writes for a lane; at most EMU_MOST_STORED. */
void emu_store_value(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                     unsigned size, uint8_t value[EMU_MOST_STORED]);

enum { EMU_VALUE_LINE = 3 * EMU_VALUE_ROOM };

/* Write the line of a report about the value that a lane writes, if the instruction is
 * a plain store, and the value that the memory has, if `present` is not NULL. "": there
 * is neither. */
void emu_store_value_line(const emu_warp *warp, const emu_insn *insn, unsigned lane,
                          unsigned size, const void *present,
                          char line[EMU_VALUE_LINE]);

#endif
