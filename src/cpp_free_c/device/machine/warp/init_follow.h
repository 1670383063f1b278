/* Following unset values from register to register (init_check.h).
 *
 * An operation that moves bits gives a copy of an unset value; any other one, a value
 * that was computed with it. Results that do not depend on the unset operand are set:
 * the operand that a selection does not choose, or `x && y` where the other side is
 * false. Called by checked.c (instructions) and ops_warp.c (shuffles). */
#ifndef DEVICE_MACHINE_WARP_INIT_FOLLOW_H
#define DEVICE_MACHINE_WARP_INIT_FOLLOW_H

#include "device/machine/warp/init_value.h"

/* Follow unset values through an instruction that does not access memory. Called before
 * it runs, if warp->unset is not 0. */
void emu_init_follow(emu_warp *warp, const emu_insn *insn);
/* Note the lanes whose branch or guard has an unset condition. */
void emu_init_branch(emu_warp *warp, const emu_insn *insn);
/* A lane takes the value of another lane in a shuffle; `is_there`: that lane takes part
 * in it. `before` has the unset lanes of the operand before the shuffle. */
void emu_init_shuffle(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      unsigned source, bool is_there, const emu_unset *before);

#endif
