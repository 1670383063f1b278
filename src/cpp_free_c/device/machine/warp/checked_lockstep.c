/* Checked warps in lockstep. See checked_lockstep.h.
 *
 * No warp has unset values here, so only accesses to memory and fences are looked at.
 * An access that is right for sure is remembered for all warps, and then run for all of
 * them. Any other access is checked and run for one warp after the other. */
#include "device/machine/warp/checked_lockstep.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/access_parts.h"
#include "device/machine/warp/checked.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/lockstep.h"
#include "device/machine/warp/race_parts.h"
#include "device/machine/warp/shared_plan.h"

/* Whether an access may be checked for all warps before it runs: it is a plain load or
 * store. */
static bool
checked_is_plain(const emu_insn *insn)
{
    const unsigned kind = emu_op_rows[insn->op].effect;

    return (kind == EMU_EFFECT_READ || kind == EMU_EFFECT_WRITE) &&
           !(insn->aux & (EMU_AT_STRONG | EMU_AT_RELEASE));
}

/* Check an access of all warps to consecutive elements of global memory. False: it has
 * another form, or that is not enough. */
static bool
checked_span(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    const unsigned size = emu_access_bytes(insn);
    const bool loads = emu_op_rows[insn->op].effect == EMU_EFFECT_READ;
    const uint64_t start = emu_parts_of_warps(warp, insn, size);

    return start != 0 &&
           (!block->race ||
            emu_race_warps(warp, insn, size, loads ? EMU_RACE_READ : EMU_RACE_WRITE,
                           start)) &&
           (!block->init ||
            emu_init_range(warp, start, (uint64_t)size * EMU_LANES * warp->abreast,
                           loads));
}

/* Check loads of all warps from shared memory. False as above. */
static bool
checked_plan(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;
    const unsigned size = emu_access_bytes(insn);
    const emu_shared_plan *plan = emu_shared_plan_of(warp, insn, size);

    return plan != NULL && emu_op_rows[insn->op].effect == EMU_EFFECT_READ &&
           (!block->race || emu_race_plan(warp, insn, size, plan)) &&
           (!block->init || emu_init_plan(block, plan));
}

static bool
checked_all(emu_warp *warp, const emu_insn *insn)
{
    const emu_warp *const end = warp + warp->abreast;

    if ((insn->aux & EMU_AT_MASK) == EMU_AT_PARAM) {
        return true;
    }
    if (checked_span(warp, insn) || checked_plan(warp, insn)) {
        return true;
    }
    for (; warp < end; warp++) {
        if (!emu_checked_parts(warp, insn)) {
            return false;
        }
    }
    return true;
}

static const emu_insn *
checked_access(emu_warp *warp, const emu_insn *insn)
{
    if (emu_op_rows[insn->op].lockstep == EMU_LOCKSTEP_separate) {
        return insn->lockstep(warp, insn);
    }
    if (checked_is_plain(insn) && checked_all(warp, insn)) {
        return insn->lockstep(warp, insn);
    }
    return emu_lockstep_each_by(warp, insn, emu_checked_step);
}

static const emu_insn *
checked_step_all(emu_warp *warp, const emu_insn *insn)
{
    switch (emu_op_rows[insn->op].effect) {
        case EMU_EFFECT_PREFIX:
        case EMU_EFFECT_SPIN:
            return emu_lockstep_each_by(warp, insn, emu_checked_step);
        case EMU_EFFECT_READ:
        case EMU_EFFECT_WRITE:
        case EMU_EFFECT_UPDATE:
            return checked_access(warp, insn);
        default:
            return insn->lockstep(warp, insn);
    }
}

void
emu_checked_run_lockstep(emu_warp *warp, const emu_insn *insn)
{
    const emu_block *block = warp->block;

    while (insn != NULL && !block->is_apart) {
        insn = checked_step_all(warp, insn);
    }
    if (insn != NULL) {
        (void)emu_lockstep_separate(warp, insn);
    }
}
