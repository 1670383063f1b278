/* Warps of a block in lockstep: each instruction is run for all of them before the next
 * one, so that it is dispatched once and not once for each warp.
 *
 * Warps can run in lockstep if all of their lanes are at one instruction of the kernel
 * itself. They do so until they branch differently, wait, or reach an operation whose
 * effect depends on the order of the warps (emu_lockstep_separate). Then each of them
 * continues by itself until it yields. emu_insn.lockstep is the handler of an
 * instruction for warps in lockstep: the first of them has their number and the
 * distance of their registers. Between two instructions none of them has a waiting
 * group.
 *
 * Called by block.c. There is no lockstep while a block is watched, while it is checked
 * and a warp has unset values (init_value.h), and with a seed, which shuffles the
 * warps.
 */
#ifndef DEVICE_MACHINE_WARP_LOCKSTEP_H
#define DEVICE_MACHINE_WARP_LOCKSTEP_H

#include "device/machine/warp/machine.h"

/* Set how many warps of a block run in lockstep at most, for the blocks of a launch. */
void emu_lockstep_prepare(emu_block *block);

/* Whether all warps of a block that begins run in lockstep. Those of a cluster are set
 * at once, because other blocks read them. */
bool emu_lockstep_takes_all(const emu_block *block);

/* The number of warps from number `first` on that can run in lockstep now; 1 if it
 * cannot run together with the next one. */
unsigned emu_lockstep_count(const emu_block *block, unsigned first);

/* Run `count` warps until they stop or separate. Return the warp that stopped with a
 * fault, or NULL. */
emu_warp *emu_lockstep_run(emu_block *block, unsigned first, unsigned count);

/* Run warps in lockstep from an instruction on: the emu_block.run_lockstep of a block
 * without checks. */
void emu_lockstep_run_warps(emu_warp *warp, const emu_insn *insn);

/* -- handlers ---------------------------------------------------------------------- */

/* Run the instruction of each warp by its ordinary handler, and separate the warps if
 * they do not all continue at one instruction. */
const emu_insn *emu_lockstep_each(emu_warp *warp, const emu_insn *insn);
/* The same, with a function that runs the instruction of one warp. */
const emu_insn *emu_lockstep_each_by(emu_warp *warp, const emu_insn *insn,
                                     emu_handler run);
/* Separate the warps before the instruction. */
const emu_insn *emu_lockstep_separate(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_bar_sync(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_exit(emu_warp *warp, const emu_insn *insn);
/* Of a label and of the entry. */
const emu_insn *emu_lockstep_label(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_bra(emu_warp *warp, const emu_insn *insn);
const emu_insn *emu_lockstep_bra_if(emu_warp *warp, const emu_insn *insn);

#endif
