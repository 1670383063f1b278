/* Launches: blocks over threads, warps of a block in turn. See exec.h. */
#define _GNU_SOURCE
#include "exec.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "machine.h"
#include "pool_threads.h"
#include "services.h"
#include "wait.h"

enum {
    MAX_THREADS_PER_BLOCK = 1024,
    MIN_STACK = 1 << 16,
    KEEP_BYTES = 1 << 24,
    LOOK_GAP = 63,
    LOOK_NANOSECONDS = 1000000
};

/* -- blocks ------------------------------------------------------------------------ */

/* Makes a buffer at least as large; its content is lost. */
static bool
reserve(uint8_t **buffer, size_t *room, size_t size)
{
    if (size <= *room) {
        return true;
    }
    free(*buffer);
    size = (size + 4095) & ~(size_t)4095;
    *buffer = aligned_alloc(64, size);
    *room = *buffer ? size : 0;
    if (*buffer && size <= 1 << 20) {
        memset(*buffer, 0, size);
    }
    return *buffer != NULL;
}

static void
warp_begin(emu_warp *warp, emu_block *block, unsigned number)
{
    const emu_grid *grid = block->grid;
    const emu_func *func = grid->kernel->func;
    const unsigned lanes = grid->threads - number * EMU_LANES;
    emu_frame *root = &block->roots[number];

    root->func = func;
    root->parent = NULL;
    root->regs = block->regs + (size_t)number * func->frame_size;
    root->lanes = lanes >= EMU_LANES ? EMU_FULL : ((uint32_t)1 << lanes) - 1;
    root->depth = 0;
    root->local_start = 0;
    root->local_end = func->local_size;
    warp->base[0] = root->regs;
    warp->base[1] = (uint8_t *)(uintptr_t)grid->kernel->program->constants - 1;
    warp->frame = root;
    warp->alive = root->lanes;
    warp->local_stride = grid->stack_size;
    warp->local = block->local + (size_t)number * EMU_LANES * grid->stack_size;
    warp->block = block;
    warp->recent = NULL;
    warp->number = number;
    warp->turns = 0;
    warp->spins = 0;
    warp->stays = 0;
    warp->rotate = false;
    warp->stamp = 0;
    warp->stop = EMU_STOP_WAIT;
    warp->tid = (const uint32_t(*)[EMU_LANES])grid->tids[number];
    warp->group_count = 0;
    warp->mask = warp->alive;
    (void)emu_warp_save(warp, func->code, EMU_RUNNABLE);
}

static uint64_t
mix(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    return x ^ x >> 29;
}

/* The order in which warps run: plain, or shuffled by the seed. */
static void
order_warps(emu_block *block)
{
    unsigned i;

    for (i = 0; i < block->warp_count; i++) {
        block->order[i] = (uint8_t)i;
    }
    if (emu_seed && block->warp_count > 1) {
        uint64_t state = mix(emu_seed + block->number * 0x100000001b3u + 1);

        for (i = block->warp_count - 1; i > 0; i--) {
            unsigned k = (unsigned)(state % (i + 1));
            uint8_t swapped = block->order[i];

            block->order[i] = block->order[k];
            block->order[k] = swapped;
            state = mix(state + i);
        }
    }
}

static bool
block_begin(emu_block *block, emu_grid *grid, uint64_t number)
{
    const emu_func *func = grid->kernel->func;
    unsigned i;

    block->grid = grid;
    block->number = number;
    block->ctaid[0] = (uint32_t)(number % grid->grid[0]);
    block->ctaid[1] = (uint32_t)(number / grid->grid[0] % grid->grid[1]);
    block->ctaid[2] = (uint32_t)(number / grid->grid[0] / grid->grid[1]);
    block->warp_count = grid->warp_count;
    block->live = grid->threads;
    if (!reserve(&block->regs, &block->regs_room,
                 (size_t)grid->warp_count * func->frame_size + 64) ||
        !reserve(&block->local, &block->local_room,
                 (size_t)grid->warp_count * EMU_LANES * grid->stack_size + 64) ||
        !reserve(&block->shared, &block->shared_room, grid->shared_size + 64)) {
        return false;
    }
    block->shared_size = grid->shared_size;
    if (!emu_check_begin(block, grid->checks)) {
        return false;
    }
    memset(block->barriers, 0, sizeof block->barriers);
    for (i = 0; i < block->warp_count; i++) {
        warp_begin(&block->warps[i], block, i);
    }
    order_warps(block);
    return true;
}

static bool
warp_ready(const emu_warp *warp)
{
    unsigned i;

    for (i = 0; i < warp->group_count; i++) {
        if (warp->groups[i].state == EMU_RUNNABLE) {
            return true;
        }
    }
    return false;
}

/* Threads of the block that wait at one place. */
typedef struct {
    const emu_insn *insn;
    const emu_func *func;
    bool at_barrier;
    uint32_t barrier;
    unsigned count, first; /* threads; the number of the first */
} waiting;

enum { PLACES = 4 };

static waiting
waiting_of(const emu_warp *warp, const emu_group *group)
{
    const bool at_barrier = group->state == EMU_AT_BARRIER;
    const bool has_passed = at_barrier && group->pc > group->frame->func->code;

    return (waiting){
        .insn = has_passed ? group->pc - 1 : group->pc,
        .func = group->frame->func,
        .at_barrier = at_barrier,
        .barrier = at_barrier ? group->barrier : 0,
        .count = (unsigned)__builtin_popcount(group->mask),
        .first = warp->number * EMU_LANES + (unsigned)__builtin_ctz(group->mask)};
}

/* The places where threads of the block wait, at most PLACES. */
static unsigned
waiting_places(const emu_block *block, waiting places[PLACES])
{
    unsigned found = 0, i, k, p;

    for (i = 0; i < block->warp_count; i++) {
        const emu_warp *warp = &block->warps[i];

        for (k = 0; k < warp->group_count; k++) {
            const waiting w = waiting_of(warp, &warp->groups[k]);

            for (p = 0; p < found && (places[p].insn != w.insn ||
                                      places[p].at_barrier != w.at_barrier ||
                                      places[p].barrier != w.barrier);
                 p++) {
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

/* "; 32 from thread (0, 0, 0) on at barrier 1 (k.cu:7); ..." */
static void
waiting_text(const emu_block *block, char *text, size_t room)
{
    waiting places[PLACES];
    const unsigned count = waiting_places(block, places);
    size_t used = 0;
    unsigned p;

    text[0] = 0;
    for (p = 0; p < count && used < room; p++) {
        const waiting *w = &places[p];
        char thread[48], place[112], at[32] = "a warp operation";
        int length;

        emu_thread_text(block->grid, w->first, thread, sizeof thread);
        emu_place_text(w->func->program, emu_place_of(w->func, w->insn), place,
                       sizeof place);
        if (w->at_barrier) {
            (void)snprintf(at, sizeof at, "barrier %u", w->barrier);
        }
        length = snprintf(text + used, room - used, "; %u from thread %s on at %s%s",
                          w->count, thread, at, place);
        used += length > 0 ? (size_t)length : room;
    }
}

/* Nothing in the block can go on: threads wait for others that never come. */
static void
fault_deadlock(emu_block *block)
{
    unsigned i, total = 0, barriers = 0;
    emu_warp *at = NULL;
    const emu_group *group = NULL;
    char places[400];
    waiting w;

    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[i];
        unsigned k;

        for (k = 0; k < warp->group_count; k++) {
            const unsigned count = (unsigned)__builtin_popcount(warp->groups[k].mask);

            total += count;
            barriers += warp->groups[k].state == EMU_AT_BARRIER ? count : 0;
            if (!group) {
                at = warp;
                group = &warp->groups[k];
            }
        }
    }
    if (!group) {
        return;
    }
    at->frame = group->frame;
    w = waiting_of(at, group);
    waiting_text(block, places, sizeof places);
    (void)emu_fault(
        at, w.insn, CUDA_ERROR_LAUNCH_FAILED, w.first % EMU_LANES, 0,
        "deadlock: %u threads wait at barriers and %u at warp operations for "
        "threads that never come there (a __syncthreads or a member mask "
        "that not all threads reach)%s",
        barriers, total - barriers, places);
}

static void
fault_timeout(emu_grid *grid)
{
    int expected = 0;

    if (atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        grid->report->code = CUDA_ERROR_LAUNCH_TIMEOUT;
        (void)snprintf(grid->report->text, sizeof grid->report->text,
                       "CUDA_ERROR_LAUNCH_TIMEOUT\n  kernel %.200s ran for longer than "
                       "PYCUDA_EMULATOR_TIMEOUT says\n",
                       grid->kernel->info.name);
    }
}

/* Ends the launch without a fault. */
static void
grid_cancel(emu_grid *grid)
{
    int expected = 0;

    if (atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        grid->report->code = EMU_INTERRUPTED;
    }
}

/* Once in a while: is the launch to end? Looks come every LOOK_GAP turns at most, and
 * about every millisecond if turns take long. */
static void
worker_look(emu_worker *worker, emu_grid *grid)
{
    const uint64_t now = emu_nanoseconds(false), passed = now - worker->looked;

    if (worker->looked && passed > 2 * LOOK_NANOSECONDS) {
        worker->look_gap /= 2;
    }
    else if (worker->looked && passed < LOOK_NANOSECONDS / 2 &&
             worker->look_gap < LOOK_GAP) {
        worker->look_gap = worker->look_gap * 2 + 1;
    }
    worker->looked = now;
    worker->until_look = worker->look_gap;
    if (grid->deadline && now > grid->deadline) {
        fault_timeout(grid);
    }
    if (atomic_load_explicit(&grid->context->cancels, memory_order_relaxed) ||
        (worker->number == 0 && emu_wait_poll_at(now))) {
        grid_cancel(grid);
    }
}

typedef enum { BLOCK_DONE, BLOCK_MORE, BLOCK_FAILED } block_state;

/* Gives every warp of the block one turn. */
static block_state
block_turn(emu_block *block)
{
    bool progress = false;
    unsigned i;

    for (i = 0; i < block->warp_count; i++) {
        emu_warp *warp = &block->warps[block->order[i]];

        if (!warp_ready(warp)) {
            continue;
        }
        progress = true;
        emu_warp_run(warp);
        if (warp->stop == EMU_STOP_FAULT) {
            if (warp->mask) { /* free_left_frames looks at waiting groups only */
                (void)emu_warp_save(warp, NULL, EMU_RUNNABLE);
            }
            return BLOCK_FAILED;
        }
    }
    if (--block->worker->until_look < 0) {
        worker_look(block->worker, block->grid);
    }
    if (atomic_load_explicit(&block->grid->failed, memory_order_relaxed)) {
        return BLOCK_FAILED;
    }
    if (block->live == 0) {
        return BLOCK_DONE;
    }
    if (!progress) {
        fault_deadlock(block);
        return BLOCK_FAILED;
    }
    return BLOCK_MORE;
}

static void
fault_memory(emu_grid *grid)
{
    int expected = 0;

    if (atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        grid->report->code = CUDA_ERROR_OUT_OF_MEMORY;
        (void)snprintf(
            grid->report->text, sizeof grid->report->text,
            "CUDA_ERROR_OUT_OF_MEMORY\n  no host memory to run kernel %.200s\n",
            grid->kernel->info.name);
    }
}

static void
block_free(emu_block *block)
{
    if (block) {
        free(block->regs);
        free(block->local);
        free(block->shared);
        emu_check_free(block);
        free(block);
    }
}

/* Frees the activations that a fault left behind. */
static void
free_left_frames(emu_block *block)
{
    unsigned i, k;

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

/* -- what one thread does ---------------------------------------------------------- */

/* Runs blocks one after the other until there are no more. */
static void
run_blocks(emu_worker *worker, emu_grid *grid)
{
    for (;;) {
        uint64_t number = atomic_fetch_add(&grid->next_block, 1);
        block_state state;

        if (number >= grid->block_count || atomic_load(&grid->failed)) {
            return;
        }
        if (!worker->block) {
            worker->block = aligned_alloc(64, (sizeof(emu_block) + 63) & ~(size_t)63);
            if (worker->block) {
                memset(worker->block, 0, sizeof(emu_block));
            }
        }
        if (!worker->block || !block_begin(worker->block, grid, number)) {
            fault_memory(grid);
            return;
        }
        worker->block->worker = worker;
        do {
            state = block_turn(worker->block);
        } while (state == BLOCK_MORE);
        if (state == BLOCK_FAILED) {
            free_left_frames(worker->block);
        }
    }
}

/* Cooperative: takes what blocks are left and runs them in turns. */
static void
run_together(emu_worker *worker, emu_grid *grid)
{
    emu_block **blocks = NULL;
    size_t count = 0, room = 0, left, i;

    for (;;) {
        uint64_t number = atomic_fetch_add(&grid->next_block, 1);
        emu_block *block;

        if (number >= grid->block_count || atomic_load(&grid->failed)) {
            break;
        }
        if (count == room) {
            emu_block **larger = realloc(blocks, (room * 2 + 8) * sizeof *blocks);

            if (!larger) {
                fault_memory(grid);
                break;
            }
            blocks = larger;
            room = room * 2 + 8;
        }
        block = aligned_alloc(64, (sizeof(emu_block) + 63) & ~(size_t)63);
        if (block) {
            memset(block, 0, sizeof *block);
            blocks[count++] = block;
        }
        if (!block || !block_begin(block, grid, number)) {
            fault_memory(grid);
            break;
        }
        block->worker = worker;
    }
    for (left = count; left && !atomic_load(&grid->failed);) {
        for (i = 0; i < count; i++) {
            if (blocks[i]->live && block_turn(blocks[i]) != BLOCK_MORE) {
                left--;
            }
        }
    }
    for (i = 0; i < count; i++) {
        if (blocks[i]->live && blocks[i]->grid) {
            free_left_frames(blocks[i]);
        }
        block_free(blocks[i]);
    }
    free(blocks);
}

static void
worker_free_frames(emu_worker *worker)
{
    unsigned bin;

    for (bin = 0; bin < EMU_FRAME_SIZES; bin++) {
        while (worker->free_frames[bin]) {
            emu_frame *next = worker->free_frames[bin]->parent;

            free(worker->free_frames[bin]->regs);
            free(worker->free_frames[bin]);
            worker->free_frames[bin] = next;
        }
    }
    worker->frame_bytes = 0;
}

/* Workers that are not at work keep their memory for the next launch. */
static struct {
    pthread_mutex_t lock;
    emu_worker *first;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static emu_worker *
worker_take(void)
{
    emu_worker *worker;

    (void)pthread_mutex_lock(&idle.lock);
    worker = idle.first;
    if (worker) {
        idle.first = worker->next;
    }
    (void)pthread_mutex_unlock(&idle.lock);
    return worker ? worker : calloc(1, sizeof *worker);
}

static void
worker_free(emu_worker *worker)
{
    worker_free_frames(worker);
    block_free(worker->block);
    free(worker);
}

/* Keeps the worker unless it holds much. */
static void
worker_give(emu_worker *worker)
{
    const emu_block *block = worker->block;

    if (worker->frame_bytes > KEEP_BYTES ||
        (block &&
         block->regs_room + block->local_room + block->shared_room > KEEP_BYTES)) {
        worker_free(worker);
        return;
    }
    (void)pthread_mutex_lock(&idle.lock);
    worker->next = idle.first;
    idle.first = worker;
    (void)pthread_mutex_unlock(&idle.lock);
}

static void
run_part(void *data, unsigned number)
{
    emu_grid *grid = data;
    emu_worker *worker = worker_take();

    if (!worker) {
        fault_memory(grid);
        return;
    }
    worker->number = number;
    worker->looked = 0;
    if (grid->launch->cooperative) {
        run_together(worker, grid);
    }
    else {
        run_blocks(worker, grid);
    }
    worker_give(worker);
}

/* While this thread waits for the workers. */
static void
run_idle(void *data)
{
    if (emu_wait_poll()) {
        grid_cancel(data);
    }
}

/* -- launches ---------------------------------------------------------------------- */

static CUresult
check(const emu_launch *launch)
{
    const emu_kernel_info *info = &launch->kernel->info;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    unsigned i;

    for (i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i] ||
            launch->block[i] > MAX_THREADS_PER_BLOCK) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (info->req_ntid[0] && launch->block[i] != info->req_ntid[i]) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (threads > MAX_THREADS_PER_BLOCK) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (threads > info->max_threads) {
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    if (launch->params_size < info->params_size ||
        launch->dynamic_shared > EMU_WINDOW_SIZE / 2) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void
fill_tids(emu_grid *grid)
{
    uint32_t t;

    for (t = 0; t < grid->warp_count * EMU_LANES; t++) {
        uint32_t(*tid)[EMU_LANES] = grid->tids[t / EMU_LANES];

        tid[0][t % EMU_LANES] = t % grid->block[0];
        tid[1][t % EMU_LANES] = t / grid->block[0] % grid->block[1];
        tid[2][t % EMU_LANES] = t / grid->block[0] / grid->block[1];
    }
}

static size_t
stack_size(CUcontext context, const emu_func *func)
{
    size_t size = (size_t)func->stack_size;

    if (func->unbounded) {
        size_t limit = context->limits[EMU_LIMIT_STACK_SIZE];

        size += limit > MIN_STACK ? limit : MIN_STACK;
    }
    return (size + 63) & ~(size_t)63;
}

/* When a launch that begins now is cut off: PYCUDA_EMULATOR_TIMEOUT, in seconds. */
static uint64_t
deadline(void)
{
    const char *text = getenv("PYCUDA_EMULATOR_TIMEOUT");
    const double seconds = text ? strtod(text, NULL) : 0;

    return seconds > 0 && seconds < 1e9
               ? emu_nanoseconds(false) + (uint64_t)(seconds * 1e9)
               : 0;
}

/* The counter of grid.sync, in device memory. */
static bool
sync_space(CUcontext context, emu_allocation **out)
{
    emu_memory_request request = {.kind = EMU_MEMORY_GLOBAL,
                                  .size = 64,
                                  .device = context->device->ordinal,
                                  .context = context,
                                  .name = "of grid.sync"};

    return emu_memory_allocate(&request, out) == CUDA_SUCCESS;
}

CUresult
emu_exec_grid(CUcontext context, const emu_launch *launch, emu_report *report,
              struct emu_device_work *work)
{
    static _Atomic uint64_t launches;
    emu_report own;
    emu_allocation *space = NULL;
    CUresult status = check(launch);
    const emu_func *func = launch->kernel->func;
    uint8_t *params = NULL;
    emu_grid grid;
    size_t params_room;
    uint64_t parts;

    if (!report) {
        report = &own;
    }
    memset(report, 0, sizeof *report);
    report->code = status;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    memset(&grid, 0, sizeof grid);
    grid.context = context;
    grid.kernel = launch->kernel;
    grid.launch = launch;
    grid.work = work;
    memcpy(grid.grid, launch->grid, sizeof grid.grid);
    memcpy(grid.block, launch->block, sizeof grid.block);
    grid.block_count = (uint64_t)grid.grid[0] * grid.grid[1] * grid.grid[2];
    grid.threads = grid.block[0] * grid.block[1] * grid.block[2];
    grid.warp_count = (grid.threads + EMU_LANES - 1) / EMU_LANES;
    grid.shared_size = func->dynamic_shared + launch->dynamic_shared;
    if (grid.shared_size < launch->kernel->info.shared_size) {
        grid.shared_size = launch->kernel->info.shared_size;
    }
    grid.checks = emu_check_wanted();
    grid.stack_size = stack_size(context, func);
    grid.report = report;
    grid.deadline = deadline();
    grid.number = atomic_fetch_add(&launches, 1) + 1;
    params_room = (launch->kernel->info.params_size + 79) & ~(size_t)63;
    params = aligned_alloc(64, params_room);
    grid.tids = malloc(grid.warp_count * sizeof *grid.tids);
    if (!params || !grid.tids ||
        (launch->cooperative && !sync_space(context, &space))) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
        goto done;
    }
    memset(params, 0, params_room);
    memcpy(params, launch->params, launch->kernel->info.params_size);
    grid.params = params;
    grid.params_size = launch->kernel->info.params_size;
    grid.sync_space = space ? space->base : 0;
    fill_tids(&grid);
    parts =
        grid.block_count < emu_threads_count() ? grid.block_count : emu_threads_count();
    emu_threads_run(run_part, run_idle, &grid, (unsigned)parts);
    status = report->code;
done:
    if (space) {
        (void)emu_memory_free(space);
    }
    free(grid.tids);
    free(params);
    return status;
}
