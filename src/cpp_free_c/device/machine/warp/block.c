/* Blocks. See warp.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/machine/warp/bound_check.h"
#include "device/machine/warp/init_check.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/report.h"
#include "device/machine/warp/warp.h"

/* An absent operand is read at the start of the frame, whatever its width. */
enum { READ_AT_START = 512, TRIAL_LENGTH = 20000 };

/* Make a buffer at least this large; its content is lost. */
static bool
block_reserve(uint8_t **buffer, size_t *room, size_t size)
{
    if (size <= *room) {
        return true;
    }
    free(*buffer);
    size = (size + 4095) & ~(size_t)4095;
    *buffer = aligned_alloc(64, size);
    *room = 0;
    if (!*buffer) {
        return false;
    }
    *room = size;
    if (size <= 1 << 20) {
        memset(*buffer, 0, size);
    }
    return true;
}

/* Set what is the same for a warp in all blocks of a launch. */
static void
block_prepare_warp(emu_warp *warp, emu_block *block, unsigned number)
{
    const emu_grid *grid = block->grid;
    const emu_func *func = grid->kernel->func;
    emu_frame *root = &block->roots[number];

    root->func = func;
    root->parent = NULL;
    root->regs = block->regs + (size_t)number * func->frame_size;
    root->depth = 0;
    root->local_start = 0;
    root->local_end = func->local_size;
    warp->base[EMU_TAG_CONSTANT] =
        (uint8_t *)(uintptr_t)grid->kernel->program->constants - EMU_TAG_CONSTANT;
    warp->base[EMU_TAG_UNIFORM] = block->once - EMU_TAG_UNIFORM;
    warp->base[EMU_TAG_WARP] = block->once + func->uniform_size +
                               (size_t)number * func->warp_size - EMU_TAG_WARP;
    warp->local_stride = grid->stack_size;
    warp->local = block->local + (size_t)number * EMU_LANES * grid->stack_size;
    warp->block = block;
    warp->recent = NULL;
    warp->is_noted = false;
    memset(warp->recents, 0, sizeof warp->recents);
    warp->number = number;
    warp->tid = (const uint32_t(*)[EMU_LANES])grid->tids[number];
}

static void
block_begin_warp(emu_warp *warp, emu_block *block, unsigned number)
{
    const unsigned lanes = block->grid->threads - number * EMU_LANES;
    emu_frame *root = &block->roots[number];

    root->lanes = EMU_FULL;
    if (lanes < EMU_LANES) {
        root->lanes = ((uint32_t)1 << lanes) - 1;
    }
    warp->alive = root->lanes;
    warp->turns = 0;
    warp->spins = 0;
    warp->stays = 0;
    warp->rotate = false;
    warp->meet_at = NULL;
    warp->stamp = 0;
    warp->stop = EMU_STOP_WAIT;
    warp->group_count = 0;
    warp->cluster_arrived = 0;
    warp->mask = warp->alive;
    emu_group_enter(warp, root);
    (void)emu_group_save(warp, root->func->code, EMU_RUNNABLE);
}

static void
block_begin_warps(emu_block *block)
{
    block->is_together = false;
    for (unsigned i = 0; i < block->warp_count; i++) {
        block_begin_warp(&block->warps[i], block, i);
    }
}

void
emu_block_settle(emu_block *block)
{
    if (block->is_fresh) {
        block->is_fresh = false;
        block_begin_warps(block);
    }
}

/* -- values that are computed once ------------------------------------------------- */

/* Compute the values of one level with a warp. They are in the memory of `tag`. */
static void
block_run_once(emu_warp *warp, unsigned level, unsigned tag)
{
    const emu_once *once = &warp->block->grid->kernel->func->once[level];
    uint8_t *const frame = warp->base[EMU_TAG_FRAME];
    const uint32_t mask = warp->mask;

    warp->base[EMU_TAG_FRAME] = warp->base[tag] + tag;
    warp->mask = EMU_FULL;
    for (uint32_t i = 0; i < once->count; i++) {
        (void)once->code[i].run(warp, &once->code[i]);
    }
    warp->mask = mask;
    warp->base[EMU_TAG_FRAME] = frame;
}

/* Find the shape of an address for each half of the warp. */
static void
block_find_shape(emu_shape *shape, const uint32_t value[EMU_LANES])
{
    shape->is_known = true;
    for (unsigned half = 0; half < 2; half++, value += EMU_LANES / 2) {
        shape->start[half] = value[0];
        shape->step[half] = value[1] - value[0];
        for (unsigned i = 0; i < EMU_LANES / 2; i++) {
            shape->is_known &= value[i] == value[0] + i * shape->step[half];
        }
    }
}

static void
block_find_shapes(emu_warp *warp, const emu_func *func)
{
    uint8_t *values = warp->base[EMU_TAG_WARP] + EMU_TAG_WARP;

    for (uint32_t i = 0; i < func->shaped_count; i++) {
        const emu_shaped *shaped = &func->shaped[i];
        uint32_t value[EMU_LANES];

        memcpy(value, values + shaped->value, sizeof value);
        block_find_shape((emu_shape *)(void *)(values + shaped->shape), value);
    }
}

static emu_shape *
block_shape_of(const emu_warp *warp, const emu_shaped *shaped)
{
    return (emu_shape *)(void *)(warp->base[EMU_TAG_WARP] + EMU_TAG_WARP +
                                 shaped->shape);
}

/* Set what an address has in common in all warps. */
static void
block_join_shapes(const emu_block *block, const emu_shaped *shaped)
{
    emu_shape all = {.is_common = true, .least = UINT32_MAX};

    for (unsigned i = 0; i < 2 * block->warp_count; i++) {
        const emu_shape *shape = block_shape_of(&block->warps[i / 2], shaped);
        const uint32_t start = shape->start[i % 2], step = shape->step[i % 2];

        if (all.width == 0) {
            all.width = step;
        }
        all.is_common &= shape->is_known && (step == 0 || step == all.width);
        all.least = start < all.least ? start : all.least;
        all.most = start > all.most ? start : all.most;
        all.bits |= start;
    }
    for (unsigned i = 0; i < block->warp_count; i++) {
        emu_shape *shape = block_shape_of(&block->warps[i], shaped);

        memcpy(all.start, shape->start, sizeof all.start);
        memcpy(all.step, shape->step, sizeof all.step);
        all.is_known = shape->is_known;
        *shape = all;
    }
}

/* Make the buffers large enough for the blocks of a grid. False: out of memory. */
static bool
block_reserve_buffers(emu_block *block, const emu_grid *grid)
{
    const emu_func *func = grid->kernel->func;

    return block_reserve(&block->regs, &block->regs_room,
                         (size_t)grid->warp_count * func->frame_size + 64) &&
           block_reserve(
               &block->local, &block->local_room,
               (size_t)grid->warp_count * EMU_LANES * grid->stack_size + 64) &&
           block_reserve(&block->once, &block->once_room,
                         func->uniform_size +
                             (size_t)grid->warp_count * func->warp_size +
                             READ_AT_START) &&
           block_reserve(&block->shared, &block->shared_room,
                         grid->shared_size + EMU_SHARED_SPARE);
}

/* Set what is the same in all blocks of a launch. */
static void
block_prepare(emu_block *block)
{
    const emu_func *func = block->grid->kernel->func;

    block->once_launch = block->grid->number;
    block->is_together = false;
    emu_lockstep_prepare(block);
    for (unsigned i = 0; i < block->warp_count; i++) {
        block_prepare_warp(&block->warps[i], block, i);
    }
    block_run_once(&block->warps[0], EMU_ONCE_LAUNCH, EMU_TAG_UNIFORM);
    for (unsigned i = 0; i < block->warp_count; i++) {
        block_run_once(&block->warps[i], EMU_ONCE_WARP, EMU_TAG_WARP);
        block_find_shapes(&block->warps[i], func);
    }
    for (uint32_t i = 0; i < func->shaped_count; i++) {
        block_join_shapes(block, &func->shaped[i]);
    }
}

/* -- the order of warps ------------------------------------------------------------ */

static uint64_t
block_mix_seed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* Set the order in which warps run: by number, or shuffled by the seed. */
static void
block_order_warps(emu_block *block)
{
    unsigned i;

    if (emu_seed == 0 && !block->is_shuffled) {
        return;
    }
    for (i = 0; i < EMU_MAX_WARPS; i++) {
        block->order[i] = (uint8_t)i;
    }
    block->is_shuffled = emu_seed != 0;
    if (emu_seed && block->warp_count > 1) {
        uint64_t state = block_mix_seed(emu_seed + block->number * 0x100000001b3u + 1);

        for (i = block->warp_count - 1; i > 0; i--) {
            unsigned k = (unsigned)(state % (i + 1));
            uint8_t swapped = block->order[i];

            block->order[i] = block->order[k];
            block->order[k] = swapped;
            state = block_mix_seed(state + i);
        }
    }
}

/* Set the coordinates of the block. Mostly it is the next one of its row. */
static void
block_set_coordinates(emu_block *block, const emu_grid *grid, uint64_t number,
                      bool is_prepared)
{
    if (is_prepared && number == block->number + 1 &&
        block->ctaid[0] + 1 < grid->grid[0]) {
        block->ctaid[0]++;
    }
    else {
        block->ctaid[0] = (uint32_t)(number % grid->grid[0]);
        block->ctaid[1] = (uint32_t)(number / grid->grid[0] % grid->grid[1]);
        block->ctaid[2] = (uint32_t)(number / grid->grid[0] / grid->grid[1]);
    }
    block->number = number;
}

static void
block_set_checks(emu_block *block)
{
    block->checks = block->grid->checks;
    block->is_trial = block->grid->has_trial && block->number == 0;
    if (block->is_trial) {
        block->checks |= EMU_CHECKS_OF_TRIALS;
        block->trial_left = TRIAL_LENGTH;
    }
}

bool
emu_block_begin(emu_block *block, emu_grid *grid, uint64_t number)
{
    const bool is_prepared = block->once_launch == grid->number;
    bool has_inputs;

    block->grid = grid;
    block->cluster = NULL;
    block->cluster_rank = 0;
    block_set_coordinates(block, grid, number, is_prepared);
    block->warp_count = grid->warp_count;
    block->live = grid->threads;
    if (!is_prepared && !block_reserve_buffers(block, grid)) {
        return false;
    }
    block->watch = NULL;
    block->run_warp = emu_warp_run;
    block->run_lockstep = emu_lockstep_run_warps;
    block->is_apart = false;
    block->shared_size = grid->shared_size;
    block_set_checks(block);
    if (!emu_race_begin(block) || !emu_init_begin(block)) {
        return false;
    }
    emu_bound_begin(block);
    has_inputs =
        grid->input_count > 0 && (block->is_trial || block->checks & EMU_CHECK_MEMORY);
    block->has_inputs = has_inputs;
    if (block->is_trial) {
        block->run_warp = emu_trial_run;
        block->run_lockstep = emu_trial_run_lockstep;
    }
    else if (block->race || block->init || block->has_bounds || has_inputs) {
        block->run_warp = emu_checked_run;
        block->run_lockstep = emu_checked_run_lockstep;
    }
    else if (grid->gives_way) {
        block->run_warp = emu_warp_run_giving_way;
        block->run_lockstep = emu_lockstep_run_giving_way;
    }
    if (block->has_barriers) {
        memset(block->barriers, 0, sizeof block->barriers);
        block->has_barriers = false;
    }
    if (!is_prepared) {
        block_prepare(block);
    }
    block_run_once(&block->warps[0], EMU_ONCE_BLOCK, EMU_TAG_UNIFORM);
    block->is_fresh = emu_lockstep_takes_all(block) &&
                      !(block->init && grid->kernel->func->unset_count > 0);
    if (!block->is_fresh) {
        block_begin_warps(block);
    }
    if (block->init) {
        emu_unset_enter(block);
    }
    block_order_warps(block);
    return true;
}

static bool
block_warp_is_ready(const emu_warp *warp)
{
    unsigned i;

    for (i = 0; i < warp->group_count; i++) {
        if (warp->groups[i].state == EMU_RUNNABLE) {
            return true;
        }
    }
    return false;
}

/* The threads of the block that wait at one place. */
typedef struct {
    const emu_insn *insn;
    const emu_func *func;
    bool at_barrier;
    uint32_t barrier;
    unsigned count, first; /* number of threads; number of the first thread */
} waiting;

enum { PLACES = 4 };

static waiting
block_waiting_of(const emu_warp *warp, const emu_group *group)
{
    waiting w = {
        .insn = group->pc,
        .func = group->frame->func,
        .at_barrier = group->state == EMU_GROUP_AT_BARRIER,
        .count = (unsigned)__builtin_popcount(group->mask),
        .first = warp->number * EMU_LANES + (unsigned)__builtin_ctz(group->mask)};

    if (w.at_barrier) {
        w.barrier = group->barrier;
        if (w.insn > w.func->code) {
            w.insn--; /* pc is the instruction after the barrier */
        }
    }
    return w;
}

static bool
block_is_same_place(const waiting *a, const waiting *b)
{
    return a->insn == b->insn && a->at_barrier == b->at_barrier &&
           a->barrier == b->barrier;
}

/* The places where threads of the block wait, at most PLACES. */
static unsigned
block_waiting_places(const emu_block *block, waiting places[PLACES])
{
    unsigned found = 0, i, k, p;

    for (i = 0; i < block->warp_count; i++) {
        const emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            const waiting w = block_waiting_of(warp, &warp->groups[k]);

            p = 0;
            while (p < found && !block_is_same_place(&places[p], &w)) {
                p++;
            }
            if (p < found) {
                places[p].count += w.count;
            }
            else if (found < PLACES) {
                places[found++] = w;
            }
        }
    }
    return found;
}

/* Write "; 32 from thread (0, 0, 0) on at barrier 1 (k.cu:7); ...". */
static void
block_waiting_text(const emu_block *block, char *text, size_t room)
{
    waiting places[PLACES];
    const unsigned count = block_waiting_places(block, places);
    size_t used = 0;
    unsigned p;

    text[0] = 0;
    for (p = 0; p < count && used < room; p++) {
        const waiting *w = &places[p];
        char thread[48], place[112], at[32] = "a warp operation";

        emu_report_thread_text(block->grid, w->first, thread, sizeof thread);
        emu_report_place_text(w->func->program, emu_report_place_of(w->func, w->insn),
                              place, sizeof place);
        if (w->at_barrier) {
            (void)snprintf(at, sizeof at, "barrier %u", w->barrier);
        }
        int length =
            snprintf(text + used, room - used, "; %u from thread %s on at %s%s",
                     w->count, thread, at, place);
        if (length < 0) {
            return;
        }
        used += (size_t)length;
    }
}

void
emu_block_fault_early(emu_block *block, CUresult code)
{
    const char *text = "this thread ran when the kernel was cancelled";

    if (code == CUDA_ERROR_LAUNCH_TIMEOUT) {
        text = "the time limit PYCUDA_EMULATOR_TIMEOUT ended while this thread ran";
    }
    for (unsigned i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];

        if (warp->group_count > 0) {
            const waiting w = block_waiting_of(warp, &warp->groups[0]);

            warp->frame = warp->groups[0].frame;
            (void)emu_fault(warp, emu_report_loop_of(w.func, w.insn), code,
                            w.first % EMU_LANES, 0, "%s", text);
            return;
        }
    }
    emu_cancel_early(block->grid, code);
}

void
emu_block_tell_long(const emu_block *block)
{
    for (unsigned i = 0; i < block->warp_count; i++) {
        emu_warp warp = block->warps[i];

        if (warp.group_count > 0) {
            const waiting w = block_waiting_of(&warp, &warp.groups[0]);

            warp.frame = warp.groups[0].frame;
            emu_notice_give(&warp, emu_report_loop_of(w.func, w.insn),
                            w.first % EMU_LANES);
            return;
        }
    }
}

/* Report a deadlock: all threads of the block wait for threads that never arrive. */
static void
block_fault_deadlock(emu_block *block)
{
    unsigned i, total = 0, barriers = 0;
    emu_warp *at = NULL;
    const emu_group *group = NULL;
    char places[400];

    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];
        unsigned k;

        for (k = 0; k < warp->group_count; k++) {
            const unsigned count = (unsigned)__builtin_popcount(warp->groups[k].mask);

            total += count;
            if (warp->groups[k].state == EMU_GROUP_AT_BARRIER) {
                barriers += count;
            }
            if (group == NULL) {
                at = warp;
                group = &warp->groups[k];
            }
        }
    }
    if (group == NULL) {
        return;
    }
    at->frame = group->frame;
    waiting w = block_waiting_of(at, group);
    block_waiting_text(block, places, sizeof places);
    (void)emu_fault(
        at, w.insn, CUDA_ERROR_LAUNCH_FAILED, w.first % EMU_LANES, 0,
        "deadlock: %u threads wait at barriers and %u at warp operations for "
        "threads that never come there (a __syncthreads or a member mask "
        "that not all threads reach)%s",
        barriers, total - barriers, places);
}

/* Run a warp. Return it if it stopped with a fault, else NULL. */
static emu_warp *
block_run_warp(emu_block *block, emu_warp *warp)
{
    block->run_warp(warp);
    if (warp->stop == EMU_STOP_FAULT) {
        return warp;
    }
    return NULL;
}

/* Run warps in lockstep, and after that each one that has separated from the others.
 * Return the warp that stopped with a fault, or NULL. */
static emu_warp *
block_run_lockstep(emu_block *block, unsigned first, unsigned count)
{
    emu_warp *failed = emu_lockstep_run(block, first, count);

    for (unsigned i = first; i < first + count && failed == NULL && block->live; i++) {
        if (block->warps[i].stop == EMU_STOP_SEPARATE) {
            failed = block_run_warp(block, &block->warps[i]);
        }
    }
    return failed;
}

/* Run each warp that can run. Return the warp that stopped with a fault, or NULL. */
static emu_warp *
block_run_warps(emu_block *block, bool *progress)
{
    emu_warp *failed = NULL;
    unsigned i = 0;

    while (i < block->warp_count && failed == NULL) {
        emu_warp *warp = &block->warps[block->order[i]];
        const unsigned count = emu_lockstep_count(block, i);

        if (count > 1) {
            *progress = true;
            failed = block_run_lockstep(block, i, count);
        }
        else if (block_warp_is_ready(warp)) {
            *progress = true;
            failed = block_run_warp(block, warp);
        }
        i += count;
    }
    return failed;
}

emu_block_state
emu_block_turn(emu_block *block)
{
    bool progress = false;
    emu_warp *failed = block_run_warps(block, &progress);

    if (failed) {
        if (failed->mask) { /* for emu_block_drop_frames, which sees waiting groups
                               only */
            (void)emu_group_save(failed, NULL, EMU_RUNNABLE);
        }
        return EMU_BLOCK_FAILED;
    }
    block->worker->until_look--;
    if (block->worker->until_look < 0) {
        const CUresult end = emu_cancel_look(block->worker, block->grid);

        if (end != CUDA_SUCCESS) {
            emu_block_fault_early(block, end);
        }
        else if (emu_notice_is_due(block->worker, block->grid)) {
            emu_block_tell_long(block);
        }
    }
    if (atomic_load_explicit(&block->grid->failed, memory_order_relaxed)) {
        return EMU_BLOCK_FAILED;
    }
    if (block->live == 0) {
        if (block->race) {
            emu_step_tell(&block->race->steps);
        }
        return EMU_BLOCK_DONE;
    }
    if (!progress) {
        block_fault_deadlock(block);
        return EMU_BLOCK_FAILED;
    }
    return EMU_BLOCK_MORE;
}

emu_block *
emu_block_new(emu_worker *worker)
{
    emu_block *block = aligned_alloc(64, (sizeof *block + 63) & ~(size_t)63);

    if (block) {
        memset(block, 0, sizeof *block);
        block->worker = worker;
        block->is_shuffled = true; /* its order is not set yet */
    }
    return block;
}

void
emu_block_free(emu_block *block)
{
    if (block) {
        free(block->regs);
        free(block->local);
        free(block->once);
        free(block->shared);
        emu_race_free(block);
        emu_init_free(block);
        free(block->plans);
        free(block->bounded);
        free(block);
    }
}

void
emu_block_drop_frames(emu_block *block)
{
    unsigned i, k;

    if (block->is_fresh) {
        return; /* its warps still have what the last block left */
    }
    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            emu_frame *frame = warp->groups[k].frame;
            uint32_t mask = warp->groups[k].mask;

            while (frame && frame->parent) {
                emu_frame *parent = frame->parent;

                frame->lanes &= ~mask;
                if (!frame->lanes) {
                    free(frame->regs);
                    free(frame);
                }
                frame = parent;
            }
        }
    }
}

/* -- clusters ---------------------------------------------------------------------- */

emu_cluster *
emu_cluster_new(void)
{
    return calloc(1, sizeof(emu_cluster));
}

void
emu_cluster_join(emu_cluster *cluster, emu_block *block, uint32_t rank)
{
    block->cluster = cluster;
    block->cluster_rank = rank;
    cluster->blocks[rank] = block;
    cluster->live++;
}

bool
emu_cluster_leave(emu_block *block)
{
    emu_cluster *cluster = block->cluster;

    if (cluster == NULL) {
        return true;
    }
    block->cluster = NULL;
    cluster->blocks[block->cluster_rank] = NULL;
    cluster->live--;
    if (cluster->live) {
        return false;
    }
    free(cluster);
    return true;
}

uint64_t
emu_cluster_block_number(const emu_grid *grid, uint64_t cluster, uint32_t rank)
{
    uint64_t number = 0, below = 1;
    unsigned i;

    for (i = 0; i < 3; i++) {
        const uint32_t size = grid->cluster[i], count = grid->grid[i] / size;
        const uint64_t at = cluster % count * size + rank % size;

        number += at * below;
        below *= grid->grid[i];
        cluster /= count;
        rank /= size;
    }
    return number;
}

const emu_block *
emu_cluster_owner(const emu_block *block, uint64_t address)
{
    const uint64_t rank = address / EMU_CLUSTER_STEP - 1;

    if (address < EMU_CLUSTER_STEP) {
        return block;
    }
    if (block->cluster != NULL && rank < EMU_MAX_CLUSTER) {
        return block->cluster->blocks[rank];
    }
    if (rank == block->cluster_rank) {
        return block;
    }
    return NULL;
}

uint8_t *
emu_cluster_address(const emu_block *block, uint64_t address, size_t size)
{
    const uint64_t offset = address % EMU_CLUSTER_STEP;
    const emu_block *owner = NULL;

    if (address >= EMU_CLUSTER_STEP) {
        owner = emu_cluster_owner(block, address);
    }
    if (owner == NULL || size > owner->shared_size ||
        offset > owner->shared_size - size) {
        return NULL;
    }
    return owner->shared + offset;
}
