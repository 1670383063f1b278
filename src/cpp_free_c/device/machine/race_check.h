/* Opt-in checks of shared memory and barriers: PYCUDA_EMULATOR_CHECK.
 *
 * A block that is checked has an emu_check; its accesses to shared memory all go
 * through emu_access, which asks emu_check_shared (block->shared_quick is 0, so no
 * shortcut of ops_mem.inc is taken). A block that is not has NULL there and pays
 * nothing.
 *
 * What counts as a race: two accesses to one byte by lanes of different warps, at least
 * one of them a write, not both atomic, and not two writes of the same value, with no
 * barrier that orders them; and two lanes that write different values to one address in
 * the same instruction. Each warp counts its epochs, a barrier gives those who leave it
 * the epochs of those who came: so barriers of a part of the block, and bar.arrive,
 * order just the warps that take part. Atomics and fences order nothing here.
 *
 * Called by exec.c (blocks), sched.c (barriers, exits), access.c (accesses). */
#ifndef DEVICE_MACHINE_RACE_CHECK_H
#define DEVICE_MACHINE_RACE_CHECK_H

#include "device/machine/machine.h"

enum { EMU_CHECK_INIT = 1, EMU_CHECK_RACE = 2, EMU_CHECK_BARRIER = 4 };

/* What PYCUDA_EMULATOR_CHECK asks for: names with commas between; NULL or "": nothing.
 * False for a name that is none. */
bool emu_check_parse(const char *text, unsigned *out);
/* Of this process. */
unsigned emu_check_wanted(void);

/* Makes a checked block ready to run, or one that is not: checks 0. False without
 * memory. */
bool emu_check_begin(emu_block *block, unsigned checks);
void emu_check_free(emu_block *block);

/* Host addresses of an access that is legal, lane by lane; false after a fault. Those
 * outside of shared memory are no concern of it. */
bool emu_check_shared(emu_warp *warp, const emu_insn *insn, uint32_t mask,
                      unsigned size, bool write, const uint64_t at[EMU_LANES]);

/* The warp comes to a barrier; leaves it; all that waited have left. Lanes of the warp
 * exit. */
void emu_check_arrive(emu_warp *warp, uint32_t barrier);
void emu_check_leave(emu_warp *warp, uint32_t barrier);
void emu_check_released(emu_block *block, uint32_t barrier);
void emu_check_exit(emu_warp *warp);

/* All have come to the barrier and are about to go on: a fault when they wait at
 * different __syncthreads. The launch ends when the current warp has had its turn. */
void emu_check_together(emu_block *block, uint32_t barrier);

#endif
