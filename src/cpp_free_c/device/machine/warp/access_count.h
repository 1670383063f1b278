/* What accesses to memory cost on a GPU, counted for each PTX instruction.
 *
 * A warp that accesses memory makes one request. Global memory is moved in sectors of
 * 32 bytes: a request costs the different sectors that its lanes touch, and at least as
 * many as the different bytes fill. Atomic operations at equal addresses move their
 * sector once each. Shared memory has 32 banks of 4 bytes: a request
 * costs wavefronts, in each of which a bank gives one word, or makes one atomic
 * operation. Called by the operation
 * count_access and by what runs operations in its place; the counts are those of
 * device/base/counts.h. */
#ifndef DEVICE_MACHINE_WARP_ACCESS_COUNT_H
#define DEVICE_MACHINE_WARP_ACCESS_COUNT_H

#include "device/machine/warp/machine.h"

/* Count the access behind an operation count_access, of a warp or of all warps in
 * lockstep. */
void emu_access_count(const emu_warp *warp, const emu_insn *insn);
void emu_access_count_all(const emu_warp *warp, const emu_insn *insn);

#endif
