/* The scheduler: which lanes of a warp run. Groups, branches, calls, exits.
 *
 * Invariant: between two instructions every live lane is in exactly one group (the
 * current one or a waiting one), and a frame's `lanes` are those of the groups in it or
 * in a call made from it. The functions are declared in machine.h. */
#include "device/machine/machine.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "device/machine/race_check.h"
#include "device/machine/lanes.h"

/* A warp yields to the next one after TURNS + 1 back-edges, so that warps which stride
 * over memory together stay together (three times as fast as one after the other). The
 * groups of a warp change after SPINS of effort: a back-edge counts 1, an operation of
 * loops that wait counts SPIN_STEP. This keeps spin locks going, but costs convergence.
 * The only warp of a block yields every STAYS times. */
enum { TURNS = 1, SPINS = 1 << 20, SPIN_STEP = 1 << 14, STAYS = 1 << 8 };

#define NO_MERGE ((const emu_insn *)UINTPTR_MAX)

/* -- groups ------------------------------------------------------------------------ */

emu_group *
emu_warp_save(emu_warp *warp, const emu_insn *pc, emu_state state)
{
    emu_group *group = &warp->groups[warp->group_count++];

    group->pc = pc;
    group->frame = warp->frame;
    group->mask = warp->mask;
    group->state = state;
    group->stamp = warp->stamp;
    return group;
}

static void
group_remove(emu_warp *warp, unsigned index)
{
    warp->groups[index] = warp->groups[--warp->group_count];
}

static void
frame_enter(emu_warp *warp, emu_frame *frame)
{
    warp->frame = frame;
    warp->base[0] = frame->regs;
}

/* Whether a group runs before another: deepest call, then lowest instruction; or, if it
 * is time to rotate, the one that has waited longest. */
static bool
group_precedes(const emu_warp *warp, const emu_group *a, const emu_group *b)
{
    if (warp->rotate) {
        return a->stamp < b->stamp;
    }
    if (a->frame->depth != b->frame->depth) {
        return a->frame->depth > b->frame->depth;
    }
    return a->pc < b->pc;
}

/* The index of the runnable group that runs next; -1: none. */
static int
group_choose(const emu_warp *warp)
{
    const emu_group *best = NULL;
    unsigned i;

    for (i = 0; i < warp->group_count; i++) {
        const emu_group *group = &warp->groups[i];

        if (group->state != EMU_RUNNABLE) {
            continue;
        }
        if (!best || group_precedes(warp, group, best)) {
            best = group;
        }
    }
    if (!best) {
        return -1;
    }
    return (int)(best - warp->groups);
}

const emu_insn *
emu_warp_switch(emu_warp *warp)
{
    int chosen = group_choose(warp);
    const emu_insn *pc;
    unsigned i;

    if (chosen < 0) {
        warp->mask = 0;
        warp->stop = warp->group_count ? EMU_STOP_WAIT : EMU_STOP_DONE;
        return NULL;
    }
    pc = warp->groups[chosen].pc;
    warp->mask = warp->groups[chosen].mask;
    frame_enter(warp, warp->groups[chosen].frame);
    warp->stamp++;
    group_remove(warp, (unsigned)chosen);
    warp->merge_at = NO_MERGE;
    for (i = 0; i < warp->group_count;) {
        const emu_group *group = &warp->groups[i];

        if (group->state == EMU_RUNNABLE && group->pc == pc &&
            group->frame == warp->frame) {
            warp->mask |= group->mask;
            group_remove(warp, i);
            continue;
        }
        if (group->state == EMU_RUNNABLE && !warp->rotate &&
            group->frame->depth == warp->frame->depth && group->pc < warp->merge_at) {
            warp->merge_at = group->pc;
        }
        i++;
    }
    warp->rotate = false;
    if (pc->run == emu_op_label) {
        return pc + 1;
    }
    return pc;
}

/* A target of branches: the current group may have reached another group. */
const emu_insn *
emu_op_label(emu_warp *warp, const emu_insn *insn)
{
    if (insn >= warp->merge_at) {
        (void)emu_warp_save(warp, insn, EMU_RUNNABLE);
        return emu_warp_switch(warp);
    }
    return insn + 1;
}

/* Start the next turns of a warp. True: it is time to rotate its groups. */
static bool
warp_renew_turns(emu_warp *warp)
{
    warp->turns = TURNS;
    warp->spins += TURNS + 1;
    if (warp->spins < SPINS) {
        return false;
    }
    warp->spins = 0;
    warp->rotate = true;
    return true;
}

/* Called at back-edges when the turns are used up. */
static const emu_insn *
warp_yield(emu_warp *warp, const emu_insn *next)
{
    if (!warp_renew_turns(warp) && warp->block->warp_count == 1 &&
        ++warp->stays % STAYS && !warp->block->watch) {
        return next; /* the block has no other warp */
    }
    (void)emu_warp_save(warp, next, EMU_RUNNABLE);
    warp->stop = EMU_STOP_YIELD;
    return NULL;
}

/* Every endless loop passes here, or through emu_op_brx or a recursive call. So a warp
 * runs only for a short time between two yields. */
static inline const emu_insn *
jump(emu_warp *warp, const emu_insn *insn, const emu_insn *target)
{
    if (target <= insn && --warp->turns < 0) {
        return warp_yield(warp, target);
    }
    return target;
}

void
emu_warp_run(emu_warp *warp)
{
    const emu_insn *insn = emu_warp_switch(warp);

    while (insn) {
        insn = insn->run(warp, insn);
    }
}

/* -- prefixes ---------------------------------------------------------------------- */

/* Run the next instruction for the lanes whose predicate a is true (aux: false). The
 * guard covers imm instructions. */
const emu_insn *
emu_op_guard(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t mask = warp->mask;
    const uint32_t bits = *EMU_SOURCE(u32, insn->a) ^ (insn->aux ? EMU_FULL : 0);
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

/* An operation of loops that wait: let other groups run soon. */
const emu_insn *
emu_op_spin(emu_warp *warp, const emu_insn *insn)
{
    warp->spins += SPIN_STEP;
    return insn + 1;
}

const emu_insn *
emu_op_fence(emu_warp *warp, const emu_insn *insn)
{
    atomic_thread_fence(memory_order_seq_cst);
    warp->spins += SPIN_STEP;
    return insn + 1;
}

/* nanosleep: let the other warps run at once. */
const emu_insn *
emu_op_yield(emu_warp *warp, const emu_insn *insn)
{
    warp->spins = SPINS;
    return warp_yield(warp, insn + 1);
}

/* -- branches ---------------------------------------------------------------------- */

const emu_insn *
emu_op_bra(emu_warp *warp, const emu_insn *insn)
{
    return jump(warp, insn, insn + insn->imm);
}

/* Split the current group: `lanes` continue at `target`, the others at `rest`. The
 * lower instruction runs first. */
static const emu_insn *
diverge(emu_warp *warp, const emu_insn *target, uint32_t lanes, const emu_insn *rest)
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
    (void)emu_warp_save(warp, later, EMU_RUNNABLE);
    warp->mask = first_lanes;
    if (later < warp->merge_at) {
        warp->merge_at = later;
    }
    return first;
}

const emu_insn *
emu_op_bra_if(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t bits = *EMU_SOURCE(u32, insn->a) ^ (insn->aux ? EMU_FULL : 0);
    const uint32_t taken = warp->mask & bits;
    const emu_insn *target = insn + insn->imm;

    if (!taken) {
        return insn + 1;
    }
    if (taken != warp->mask) {
        return jump(warp, insn, diverge(warp, target, taken, insn + 1));
    }
    return jump(warp, insn, target);
}

/* Branch to the target with index a: x has aux targets, as distances. */
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
            lanes |= index[i] == chosen ? 1u << i : 0;
        }
        lanes &= left;
        left &= ~lanes;
        warp->mask = lanes;
        (void)emu_warp_save(warp, insn + (int32_t)insn->x[chosen], EMU_RUNNABLE);
    }
    warp->mask = 0;
    if (--warp->turns < 0) {
        (void)warp_renew_turns(warp);
        warp->stop = EMU_STOP_YIELD;
        return NULL;
    }
    return emu_warp_switch(warp);
}

/* -- calls ------------------------------------------------------------------------- */

enum { MAX_FRAME_BYTES = 1 << 30, FRAME_COST = 48 };

static emu_frame *
frame_new(emu_worker *worker, const emu_func *func)
{
    unsigned bin = 8;
    emu_frame *frame;

    while (((size_t)1 << bin) < func->frame_size) {
        bin++;
    }
    frame = worker->free_frames[bin];
    if (frame) {
        worker->free_frames[bin] = frame->parent;
    }
    else {
        if (worker->frame_bytes + ((size_t)1 << bin) > MAX_FRAME_BYTES) {
            return NULL;
        }
        frame = malloc(sizeof *frame);
        if (!frame) {
            return NULL;
        }
        frame->room = (size_t)1 << bin;
        frame->regs = aligned_alloc(64, frame->room);
        if (!frame->regs) {
            free(frame);
            return NULL;
        }
        memset(frame->regs, 0, frame->room);
        worker->frame_bytes += frame->room;
    }
    frame->func = func;
    return frame;
}

static void
frame_free(emu_worker *worker, emu_frame *frame)
{
    unsigned bin = (unsigned)__builtin_ctzll((unsigned long long)frame->room);

    frame->parent = worker->free_frames[bin];
    worker->free_frames[bin] = frame;
}

/* Remove lanes from a frame and its callers, up to `stop`. */
static void
frame_leave(emu_warp *warp, emu_frame *frame, uint32_t lanes, const emu_frame *stop)
{
    while (frame && frame != stop) {
        emu_frame *parent = frame->parent;

        frame->lanes &= ~lanes;
        if (!frame->lanes && parent) {
            frame_free(warp->block->worker, frame);
        }
        frame = parent;
    }
}

/* Copy one parameter between two activations, for all active lanes. */
static void
slot_copy(emu_warp *warp, const emu_frame *to, const emu_slot *target,
          const emu_frame *from, const emu_slot *source)
{
    const uint32_t size = target->size < source->size ? target->size : source->size;
    uint32_t left;

    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t *local = warp->local + lane * warp->local_stride;
        const uint8_t *s;
        uint8_t *d;

        if (source->is_reg) {
            const uint8_t *base = source->offset & 1 ? warp->base[1] : from->regs;

            s = base + source->offset + (size_t)lane * source->size;
        }
        else {
            s = local + from->local_start + source->offset;
        }
        if (target->is_reg) {
            d = to->regs + target->offset + (size_t)lane * target->size;
        }
        else {
            d = local + to->local_start + target->offset;
        }
        memcpy(d, s, size);
    }
}

static const emu_insn *
call_enter(emu_warp *warp, const emu_insn *insn, const emu_func *func)
{
    const emu_callsite *call = insn->call;
    emu_frame *caller = warp->frame, *frame;
    uint32_t start = (caller->local_end + 15) & ~15u, i;
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);

    if (start + (uint64_t)func->local_size + FRAME_COST > warp->local_stride) {
        return emu_fault(warp, insn, CUDA_ERROR_HARDWARE_STACK_ERROR, lane, 0,
                         "stack overflow in a call of %s, %u calls deep: a thread has "
                         "%zu bytes (the limit CU_LIMIT_STACK_SIZE)",
                         func->name, caller->depth, warp->local_stride);
    }
    frame = frame_new(warp->block->worker, func);
    if (!frame) {
        return emu_fault(warp, insn, CUDA_ERROR_HARDWARE_STACK_ERROR, lane, 0,
                         "no memory for a call of %s, %u calls deep", func->name,
                         caller->depth);
    }
    frame->parent = caller;
    frame->ret = insn + 1;
    frame->lanes = warp->mask;
    frame->depth = caller->depth + 1;
    frame->local_start = start;
    frame->local_end = start + func->local_size;
    if (func->unbounded) {
        frame->local_end += FRAME_COST;
    }
    for (i = 0; i < call->param_count && i < func->param_count; i++) {
        slot_copy(warp, frame, &func->params[i], caller, &call->params[i]);
    }
    frame_enter(warp, frame);
    warp->merge_at = NO_MERGE;
    if (func->unbounded && --warp->turns < 0) {
        return warp_yield(warp, func->code);
    }
    return func->code;
}

const emu_insn *
emu_op_call(emu_warp *warp, const emu_insn *insn)
{
    return call_enter(warp, insn, insn->call->func);
}

/* A call through the address a: run the call for the lanes that call the function of
 * the first lane; the other lanes repeat the instruction later. */
const emu_insn *
emu_op_call_to(emu_warp *warp, const emu_insn *insn)
{
    const u64 *const to = EMU_SOURCE(u64, insn->a);
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    const uint64_t offset = to[first] - EMU_FUNC_WINDOW;
    const emu_program *program = warp->frame->func->program;
    const uint32_t mask = warp->mask;
    const emu_func *func;
    uint32_t same = 0, left;

    if (offset % EMU_FUNC_STEP || offset / EMU_FUNC_STEP >= program->func_count ||
        !program->funcs[offset / EMU_FUNC_STEP]) {
        return emu_fault(warp, insn, CUDA_ERROR_INVALID_PC, first, to[first],
                         "call of 0x%llx, which is no function",
                         (unsigned long long)to[first]);
    }
    func = program->funcs[offset / EMU_FUNC_STEP];
    if (func->param_count != insn->call->param_count ||
        func->return_count != insn->call->return_count) {
        return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, first, to[first],
                         "call of %s with %u parameters and %u results", func->name,
                         insn->call->param_count, insn->call->return_count);
    }
    for (left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        same |= to[lane] == to[first] ? 1u << lane : 0;
    }
    if (same != mask) {
        warp->mask = mask & ~same;
        (void)emu_warp_save(warp, insn, EMU_RUNNABLE);
        warp->mask = same;
    }
    return call_enter(warp, insn, func);
}

const emu_insn *
emu_op_ret(emu_warp *warp, const emu_insn *insn)
{
    emu_frame *frame = warp->frame, *caller = frame->parent;
    const emu_func *func = frame->func;
    const emu_insn *next;
    const emu_callsite *call;
    uint32_t i;

    if (!caller) {
        return emu_op_exit(warp, insn);
    }
    next = frame->ret;
    call = next[-1].call;
    for (i = 0; i < call->return_count && i < func->return_count; i++) {
        slot_copy(warp, caller, &call->returns[i], frame, &func->returns[i]);
    }
    frame_enter(warp, caller);
    frame_leave(warp, frame, warp->mask, caller);
    if (warp->group_count) {
        (void)emu_warp_save(warp, next, EMU_RUNNABLE);
        return emu_warp_switch(warp);
    }
    return next;
}

/* The first instruction of a function. */
const emu_insn *
emu_op_entry(emu_warp *warp, const emu_insn *insn)
{
    (void)warp;
    return insn + 1;
}

const emu_insn *
emu_op_trap(emu_warp *warp, const emu_insn *insn)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);

    if (insn->aux) {
        return emu_fault(warp, insn, CUDA_ERROR_LAUNCH_FAILED, lane, 0, "trap");
    }
    return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, lane, 0, "brkpt");
}

/* -- operations of several lanes --------------------------------------------------- */

/* The lanes that a .sync operation waits for. */
static uint32_t
sync_need(const emu_warp *warp, const emu_insn *insn, uint32_t members)
{
    uint32_t need = 0, left;

    if (members == EMU_WHOLE_WARP) {
        return EMU_FULL;
    }
    if (!insn->imm) {
        return warp->mask;
    }
    for (left = warp->mask; left; left &= left - 1) {
        need |= EMU_SOURCE(u32, members)[__builtin_ctz(left)];
    }
    return need;
}

/* Run phase 1 for each team of the lanes in `mask`. */
static void
sync_teams(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
           uint32_t members, emu_sync_phase phase)
{
    if (members == EMU_WHOLE_WARP || !insn->imm) {
        phase(warp, insn, mask, all, 1);
        return;
    }
    while (mask) {
        const u32 *const named = EMU_SOURCE(u32, members);
        const uint32_t mine = named[__builtin_ctz(mask)];
        uint32_t team = 0;

        for (unsigned lane = 0; lane < EMU_LANES; lane++) {
            team |= (uint32_t)(named[lane] == mine) << lane;
        }
        team &= mask;
        mask &= ~team; /* before phase 1, which may overwrite the members */
        phase(warp, insn, team, (mine & all) | team, 1);
    }
}

/* The operation that a waiting group shares with other groups. */
typedef struct {
    emu_op run;
    uint32_t need;
} sync_point;

static bool
sync_is_at(const emu_group *group, sync_point point)
{
    return group->state == EMU_AT_SYNC && group->pc->run == point.run &&
           group->need == point.need;
}

/* Run a phase for all groups at a point. */
static void
sync_run(emu_warp *warp, sync_point point, uint32_t all, int phase)
{
    for (uint32_t i = 0; i < warp->group_count; i++) {
        emu_group *group = &warp->groups[i];

        if (!sync_is_at(group, point)) {
            continue;
        }
        warp->base[0] = group->frame->regs;
        if (phase == 0) {
            group->phase(warp, group->pc, group->mask, all, 0);
        }
        else {
            sync_teams(warp, group->pc, group->mask, all, group->members, group->phase);
        }
    }
}

/* If all lanes that the waiting groups need have arrived at the same kind of operation,
 * run it for all of them and let them continue. */
static void
sync_try(emu_warp *warp, const emu_group *waiting)
{
    const sync_point point = {waiting->pc->run, waiting->need};
    uint8_t *base = warp->base[0];
    uint32_t all = 0, i;

    for (i = 0; i < warp->group_count; i++) {
        if (sync_is_at(&warp->groups[i], point)) {
            all |= warp->groups[i].mask;
        }
    }
    if (!all || (point.need & warp->alive & ~all)) {
        return;
    }
    sync_run(warp, point, all, 0);
    sync_run(warp, point, all, 1);
    for (i = 0; i < warp->group_count; i++) {
        emu_group *group = &warp->groups[i];

        if (sync_is_at(group, point)) {
            group->state = EMU_RUNNABLE;
            group->pc++;
        }
    }
    warp->base[0] = base;
}

const emu_insn *
emu_warp_sync(emu_warp *warp, const emu_insn *insn, uint32_t members,
              emu_sync_phase phase)
{
    const uint32_t need = sync_need(warp, insn, members);
    emu_group *group;

    if (!(need & warp->alive & ~warp->mask)) {
        phase(warp, insn, warp->mask, warp->mask, 0);
        sync_teams(warp, insn, warp->mask, warp->mask, members, phase);
        return insn + 1;
    }
    group = emu_warp_save(warp, insn, EMU_AT_SYNC);
    group->need = need;
    group->members = members;
    group->phase = phase;
    sync_try(warp, group);
    return emu_warp_switch(warp);
}

/* -- exits ------------------------------------------------------------------------- */

void
emu_warp_exit_lanes(emu_warp *warp, uint32_t lanes)
{
    emu_block *block = warp->block;
    uint32_t i;

    warp->alive &= ~lanes;
    block->live -= (uint32_t)__builtin_popcount(lanes);
    if (block->race) {
        emu_race_exit(warp);
    }
    emu_barrier_exit_lanes(warp);
    for (i = 0; i < warp->group_count; i++) {
        const emu_group *group = &warp->groups[i];

        if (group->state == EMU_AT_SYNC) {
            sync_try(warp, group);
        }
    }
}

const emu_insn *
emu_op_exit(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t lanes = warp->mask;

    (void)insn;
    frame_leave(warp, warp->frame, lanes, NULL);
    warp->mask = 0;
    emu_warp_exit_lanes(warp, lanes);
    return emu_warp_switch(warp);
}
