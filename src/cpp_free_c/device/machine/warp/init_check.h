/* The check of uninitialised values: what a kernel reads before anything has written
 * it.
 *
 * Each byte of global, shared and local memory has a mark that says whether it was
 * written (memory/memory.h for global memory). A load of an element of which no byte
 * was written gives a value that is unset; so does a register that is read before it is
 * written. Unset values may be moved and computed with: compilers copy the padding of
 * structures, and threads beyond the end of an array compute with what no thread has
 * written, and use it for nothing. A fault comes when such a value is the address of an
 * access, or an operand of an atomic operation; when it is stored to global memory,
 * unless it is a copy of global memory; and when a thread that has branched by it
 * stores to global memory.
 *
 * A warp without unset values (warp->unset is 0) costs nothing but the marks. Values of
 * functions that are called count as set, as do the results of matrix operations, votes
 * and textures.
 *
 * A checked block has an emu_init; a block without the check has NULL in block->init.
 * Called by block.c (blocks), checked.c (instructions), and bulk_copy.c, ops_bulk.c,
 * ops_tensor.c (copies). */
#ifndef DEVICE_MACHINE_WARP_INIT_CHECK_H
#define DEVICE_MACHINE_WARP_INIT_CHECK_H

#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/init_value.h"
#include "device/machine/warp/shared_plan.h"

/* Prepare a block to run with the check, or without it. False: out of memory. */
bool emu_init_begin(emu_block *block);
void emu_init_free(emu_block *block);

/* Check a legal access to memory; `at` has the host address of each lane. Called before
 * the instruction runs. False after a fault. */
bool emu_init_access(emu_warp *warp, const emu_insn *insn, unsigned size,
                     const uint64_t at[EMU_LANES]);
/* Check the parts of an access as a whole. False: the lanes must be checked one by one,
 * by emu_init_access. */
bool emu_init_parts(emu_warp *warp, const emu_insn *insn, unsigned size,
                    const emu_parts *parts);
/* Check bytes of shared or global memory that the warps in lockstep load or store.
 * False: the lanes must be checked one by one. The warps have no unset values. */
bool emu_init_range(emu_warp *warp, uint64_t start, uint64_t bytes, bool loads);
/* Whether all words of a plan were written for sure. */
bool emu_init_plan(const emu_block *block, const emu_shared_plan *plan);
/* Bytes of shared or global memory are written by other means than a store. Does
 * nothing without the check. */
void emu_init_write(const emu_block *block, uint64_t address, uint64_t bytes);

#endif
