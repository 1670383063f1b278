/* Calls, returns and exits.
 *
 * A call makes a frame for the callee. Frames of one size are kept in a list of the
 * worker for the next call. Invariant: a frame's `lanes` are those of the groups in it
 * or in a call made from it; a frame without lanes is free. The handlers are declared
 * in handlers.h. */
#include "device/machine/warp/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/warp.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/report.h"

/* -- frames ------------------------------------------------------------------------ */

enum { MAX_FRAME_BYTES = 1 << 30, FRAME_COST = 48 };

/* Take a free frame, or allocate one. NULL: out of memory. */
static emu_frame *
frame_new(emu_worker *worker, const emu_func *func)
{
    unsigned bin = 8;

    while (((size_t)1 << bin) < func->frame_size) {
        bin++;
    }
    emu_frame *frame = worker->free_frames[bin];
    if (frame) {
        worker->free_frames[bin] = frame->parent;
    }
    else {
        if (worker->frame_bytes + ((size_t)1 << bin) > MAX_FRAME_BYTES) {
            return NULL;
        }
        frame = malloc(sizeof *frame);
        if (frame == NULL) {
            return NULL;
        }
        frame->room = (size_t)1 << bin;
        frame->regs = aligned_alloc(64, frame->room);
        if (frame->regs == NULL) {
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

/* -- calls ------------------------------------------------------------------------- */

/* Copy one parameter between two activations, for all active lanes. */
static void
call_copy_slot(emu_warp *warp, const emu_frame *to, const emu_slot *target,
               const emu_frame *from, const emu_slot *source)
{
    const uint8_t *values = from->regs;
    uint32_t size = source->size, left;

    if (source->is_reg && (source->offset & EMU_TAG_MASK) != EMU_TAG_FRAME) {
        values = warp->base[source->offset & EMU_TAG_MASK];
    }
    if (target->size < size) {
        size = target->size;
    }
    for (left = warp->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint8_t *local = warp->local + lane * warp->local_stride;
        const uint8_t *s;
        uint8_t *d;

        if (source->is_reg) {
            s = values + source->offset + (size_t)lane * source->size;
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
    emu_frame *caller = warp->frame;
    uint32_t start = (caller->local_end + 15) & ~15u, i;
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);

    if (start + (uint64_t)func->local_size + FRAME_COST > warp->local_stride) {
        return emu_fault(warp, insn, CUDA_ERROR_HARDWARE_STACK_ERROR, lane, 0,
                         "stack overflow in a call of %s, %u calls deep: a thread has "
                         "%zu bytes (the limit CU_LIMIT_STACK_SIZE)",
                         func->name, caller->depth, warp->local_stride);
    }
    emu_frame *frame = frame_new(warp->block->worker, func);
    if (frame == NULL) {
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
        call_copy_slot(warp, frame, &func->params[i], caller, &call->params[i]);
    }
    emu_group_enter(warp, frame);
    warp->merge_at = EMU_NO_MERGE;
    if (func->unbounded) {
        warp->turns--;
        if (warp->turns < 0) {
            return emu_warp_yield(warp, func->code);
        }
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
    uint32_t same = 0, left;

    if (offset % EMU_FUNC_STEP || offset / EMU_FUNC_STEP >= program->func_count ||
        !program->funcs[offset / EMU_FUNC_STEP]) {
        return emu_fault(warp, insn, CUDA_ERROR_INVALID_PC, first, to[first],
                         "call of 0x%llx, which is no function",
                         (unsigned long long)to[first]);
    }
    const emu_func *func = program->funcs[offset / EMU_FUNC_STEP];
    if (func->param_count != insn->call->param_count ||
        func->return_count != insn->call->return_count) {
        return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_INSTRUCTION, first, to[first],
                         "call of %s with %u parameters and %u results", func->name,
                         insn->call->param_count, insn->call->return_count);
    }
    for (left = mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);

        same |= (uint32_t)(to[lane] == to[first]) << lane;
    }
    if (same != mask) {
        warp->mask = mask & ~same;
        (void)emu_group_save(warp, insn, EMU_RUNNABLE);
        warp->mask = same;
    }
    return call_enter(warp, insn, func);
}

/* -- exits ------------------------------------------------------------------------- */

/* Remove lanes from the block, after their group has ended. */
static void
call_exit_lanes(emu_warp *warp, uint32_t lanes)
{
    emu_block *block = warp->block;

    warp->alive &= ~lanes;
    block->live -= (uint32_t)__builtin_popcount(lanes);
    if (block->race) {
        emu_race_exit(warp);
    }
    emu_barrier_lanes_exited(warp);
    emu_sync_lanes_exited(warp);
}

const emu_insn *
emu_op_exit(emu_warp *warp, const emu_insn *insn)
{
    const uint32_t lanes = warp->mask;

    (void)insn;
    frame_leave(warp, warp->frame, lanes, NULL);
    warp->mask = 0;
    call_exit_lanes(warp, lanes);
    return emu_group_switch(warp);
}

/* -- returns ----------------------------------------------------------------------- */

const emu_insn *
emu_op_ret(emu_warp *warp, const emu_insn *insn)
{
    emu_frame *frame = warp->frame, *caller = frame->parent;
    const emu_func *func = frame->func;
    uint32_t i;

    if (caller == NULL) {
        return emu_op_exit(warp, insn);
    }
    const emu_insn *next = frame->ret;
    const emu_callsite *call = next[-1].call;
    for (i = 0; i < call->return_count && i < func->return_count; i++) {
        call_copy_slot(warp, caller, &call->returns[i], frame, &func->returns[i]);
    }
    emu_group_enter(warp, caller);
    frame_leave(warp, frame, warp->mask, caller);
    if (warp->group_count) {
        (void)emu_group_save(warp, next, EMU_RUNNABLE);
        return emu_group_switch(warp);
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
