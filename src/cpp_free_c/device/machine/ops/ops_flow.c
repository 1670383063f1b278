/* The operations that decide where a warp continues: guards, branches, yields, traps.
 * emu_op_round is here too: like a guard, it runs the next instruction itself. Calls
 * and returns are in calls.c, barriers in barrier.c. */
#include "device/machine/warp/machine.h"

#include <fenv.h>

#include "device/machine/warp/warp.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/report.h"
#include "device/ptx/words.h"

/* -- operations that run the next instruction -------------------------------------- */

/* Run the next instruction for the lanes whose predicate a is true, or false if aux
 * is set. If there is no such lane, skip imm instructions. */
const emu_insn *
emu_op_guard(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t mask = warp->mask;
    const uint32_t bits = emu_predicate(warp, insn->a, insn->aux != 0);
    const emu_insn *next;

    if (!(mask & bits)) {
        return insn + 1 + insn->imm;
    }
    warp->mask = mask & bits;
    next = insn[1].run(warp, insn + 1);
    warp->mask = mask;
    return next;
}

/* Run the next instruction in the rounding mode aux. */
const emu_insn *
emu_op_round(emu_warp *warp, const emu_insn *insn)
{
    const emu_insn *next;

#if defined(__x86_64__)
    /* fesetround would also set the x87 unit, which is not used here */
    const unsigned state = __builtin_ia32_stmxcsr();

    __builtin_ia32_ldmxcsr((state & ~0x6000u) | insn->aux << 3);
    next = insn[1].run(warp, insn + 1);
    __builtin_ia32_ldmxcsr(state & ~0x6000u);
#else
    (void)fesetround((int)insn->aux);
    next = insn[1].run(warp, insn + 1);
    (void)fesetround(FE_TONEAREST);
#endif
    return next;
}

/* -- yields ------------------------------------------------------------------------ */

/* An operation of loops that wait: let other groups run soon. */
const emu_insn *
emu_op_spin(emu_warp *warp, const emu_insn *insn)
{
    warp->spins += EMU_SPIN_STEP;
    return insn + 1;
}

const emu_insn *
emu_op_fence(emu_warp *warp, const emu_insn *insn)
{
    atomic_thread_fence(memory_order_seq_cst);
    warp->spins += EMU_SPIN_STEP;
    return insn + 1;
}

/* nanosleep: let the other warps run at once. */
const emu_insn *
emu_op_yield(emu_warp *warp, const emu_insn *insn)
{
    warp->spins = EMU_SPINS;
    return emu_warp_yield(warp, insn + 1);
}

/* -- branches ---------------------------------------------------------------------- */

/* Every endless loop passes here, or through emu_op_brx or a recursive call. So a warp
 * runs only for a short time between two yields. */
static inline const emu_insn *
flow_jump(emu_warp *warp, const emu_insn *insn, const emu_insn *target)
{
    if (target > insn) {
        return target;
    }
    warp->turns--;
    if (warp->turns < 0) {
        return emu_warp_yield(warp, target);
    }
    return target;
}

const emu_insn *
emu_op_bra(emu_warp *warp, const emu_insn *insn)
{
    return flow_jump(warp, insn, insn + insn->imm);
}

/* Split the current group: `lanes` continue at `target`, the other lanes at `rest`.
 * The group at the lower instruction runs first. */
static const emu_insn *
flow_diverge(emu_warp *warp, const emu_insn *target, uint32_t lanes,
             const emu_insn *rest)
{
    const uint32_t mask = warp->mask;
    const emu_insn *first = rest, *later = target;
    uint32_t first_lanes = mask & ~lanes;

    if (target < rest) {
        first = target;
        later = rest;
        first_lanes = lanes;
    }
    warp->mask = mask & ~first_lanes;
    (void)emu_group_save(warp, later, EMU_RUNNABLE);
    warp->mask = first_lanes;
    if (later < warp->merge_at) {
        warp->merge_at = later;
    }
    return first;
}

const emu_insn *
emu_op_bra_if(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t bits = emu_predicate(warp, insn->a, insn->aux != 0);
    const uint32_t taken = warp->mask & bits;
    const emu_insn *target = insn + insn->imm;

    if (!taken) {
        return insn + 1;
    }
    if (taken != warp->mask) {
        return flow_jump(warp, insn, flow_diverge(warp, target, taken, insn + 1));
    }
    return flow_jump(warp, insn, target);
}

/* Branch to the target number a. x has the distances of aux targets. */
const emu_insn *
emu_op_brx(emu_warp *warp, const emu_insn *insn)
{
    const u32 *const index = EMU_SOURCE(u32, insn->a);
    uint32_t left = warp->mask;

    while (left) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint32_t chosen = index[lane];
        uint32_t lanes = 0, i;

        if (chosen >= insn->aux) {
            warp->mask = left;
            return emu_fault(warp, insn, CUDA_ERROR_INVALID_PC, lane, 0,
                             "brx.idx with index %u of %u", chosen, insn->aux);
        }
        for (i = 0; i < EMU_LANES; i++) {
            lanes |= (uint32_t)(index[i] == chosen) << i;
        }
        lanes &= left;
        left &= ~lanes;
        warp->mask = lanes;
        (void)emu_group_save(warp, insn + (int32_t)insn->x[chosen], EMU_RUNNABLE);
    }
    warp->mask = 0;
    warp->turns--;
    if (warp->turns < 0) {
        (void)emu_warp_renew_turns(warp);
        warp->stop = EMU_STOP_YIELD;
        return NULL;
    }
    return emu_group_switch(warp);
}

/* -- trap and brkpt ---------------------------------------------------------------- */

/* Whether the code reads the address of the counter of grid.sync(). */
static bool
trap_is_of_grid_sync(const emu_func *func)
{
    for (uint32_t i = 0; i < func->count; i++) {
        if (func->code[i].run == emu_op_special &&
            func->code[i].aux == PTX_S_envreg + 1) {
            return true;
        }
    }
    return false;
}

const emu_insn *
emu_op_trap(emu_warp *warp, const emu_insn *insn)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);

    if (insn->aux && !warp->block->grid->launch->cooperative &&
        trap_is_of_grid_sync(warp->frame->func)) {
        return emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, 0,
                         "trap: the kernel waits for the whole grid, as grid.sync() "
                         "does, and was not launched as a cooperative kernel");
    }
    if (insn->aux) {
        return emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, 0, "trap");
    }
    return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, lane, 0, "brkpt");
}
