/* Launches: checks, the record of the grid, then the blocks and the child work. See
 * execution.h. */
#define _GNU_SOURCE
#include "device/machine/grid/execution.h"

#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/base/counts.h"
#include "device/machine/warp/wait.h"
#include "device/machine/services/services.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/machine.h"
#include "device/machine/warp/occupancy.h"
#include "device/machine/warp/report.h"

static _Atomic uint64_t launches; /* so far, for %gridid */

enum { MAX_THREADS_PER_BLOCK = 1024, MIN_STACK = 1 << 16 };

static CUresult
execution_check(const emu_launch *launch)
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
execution_fill_tids(emu_grid *grid)
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
execution_stack_size(CUcontext context, const emu_func *func)
{
    size_t size = (size_t)func->stack_size;

    if (func->unbounded) {
        size_t limit = context->limits[EMU_LIMIT_STACK_SIZE];

        if (limit < MIN_STACK) {
            limit = MIN_STACK;
        }
        size += limit;
    }
    return (size + 63) & ~(size_t)63;
}

/* Set the shape of the clusters, by which the caller has checked the grid. */
static void
execution_set_clusters(emu_grid *grid, const emu_launch *launch)
{
    grid->cluster_size = 1;
    for (unsigned i = 0; i < 3; i++) {
        grid->cluster[i] = 1;
        if (launch->cluster[i] > 1) {
            grid->cluster[i] = launch->cluster[i];
        }
        grid->cluster_size *= grid->cluster[i];
    }
    grid->cluster_count = grid->block_count / grid->cluster_size;
}

/* The most clusters that may be resident at once. For a cooperative launch, the caller
 * has checked that all blocks fit. */
static unsigned
execution_resident(const emu_device *device, const emu_launch *launch,
                   unsigned cluster_size)
{
    const unsigned threads = launch->block[0] * launch->block[1] * launch->block[2];
    int blocks = emu_occupancy_blocks(device, &launch->kernel->info, (int)threads,
                                      launch->dynamic_shared);

    if (blocks < 1) {
        blocks = 1;
    }
    blocks *= device->limits.multiprocessors;
    if ((unsigned)blocks < cluster_size) {
        return 1;
    }
    return (unsigned)blocks / cluster_size;
}

/* Allocate the counter of grid.sync in device memory. */
static bool
execution_sync_space(CUcontext context, emu_allocation **out)
{
    emu_memory_request request = {.kind = EMU_MEMORY_GLOBAL,
                                  .size = 64,
                                  .device = context->device->ordinal,
                                  .context = context,
                                  .name = "of grid.sync"};

    return emu_memory_allocate(&request, out) == CUDA_SUCCESS;
}

/* Set the checks, and whether the first block has all of them as a trial: in the first
 * launch of a kernel for which no such check is asked for. In that launch, and in later
 * ones if the trial has found a race, warps give way before stores. */
static void
execution_set_checks(emu_grid *grid)
{
    const emu_func *func = grid->kernel->func;
    unsigned tried;

    grid->checks = emu_checks_wanted();
    if ((grid->checks & EMU_CHECKS_OF_TRIALS) != 0 || grid->cluster_size > 1) {
        return;
    }
    tried = atomic_fetch_or(func->tried, EMU_TRIED);
    grid->has_trial = tried == 0;
    grid->gives_way = grid->warp_count > 1 && func->gives_way &&
                      (grid->has_trial || tried & EMU_TRIED_RACE);
}

static void
execution_set_params(emu_grid *grid, uint8_t *params, size_t room)
{
    memset(params, 0, room);
    memcpy(params, grid->launch->params, grid->kernel->info.params_size);
    grid->params = params;
    grid->params_size = grid->kernel->info.params_size;
    emu_inputs_begin(grid);
}

/* Begin the record of a launch: its shape, and its memory in each thread. */
static void
execution_open(emu_grid *grid, CUcontext context, const emu_launch *launch)
{
    const emu_func *func = launch->kernel->func;

    memset(grid, 0, sizeof *grid);
    grid->context = context;
    grid->kernel = launch->kernel;
    grid->launch = launch;
    memcpy(grid->grid, launch->grid, sizeof grid->grid);
    memcpy(grid->block, launch->block, sizeof grid->block);
    grid->block_count = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];
    grid->threads = grid->block[0] * grid->block[1] * grid->block[2];
    grid->is_linear = grid->block[1] == 1 && grid->block[2] == 1;
    grid->warp_count = (grid->threads + EMU_LANES - 1) / EMU_LANES;
    grid->shared_size = launch->kernel->info.shared_size;
    if (launch->dynamic_shared > 0) {
        grid->shared_size = func->dynamic_shared + launch->dynamic_shared;
    }
    grid->stack_size = execution_stack_size(context, func);
    grid->local_end = func->own_end;
    if (func->own_end == 0) {
        grid->local_end = grid->stack_size;
    }
}

/* Run a grid; its threads enqueue into `work`. */
static CUresult
execution_run_grid(CUcontext context, const emu_launch *launch, emu_report *report,
                   emu_child_work *work)
{
    emu_report own;
    emu_allocation *space = NULL;
    CUresult status = execution_check(launch);
    uint8_t *params = NULL;
    emu_grid grid;
    size_t params_room;

    if (report == NULL) {
        report = &own;
    }
    memset(report, 0, sizeof *report);
    report->code = status;
    if (status != CUDA_SUCCESS) {
        return status;
    }
    execution_open(&grid, context, launch);
    grid.work = work;
    grid.report = report;
    if (context->device->timeout != 0) {
        grid.deadline = emu_clock_steady() + context->device->timeout;
    }
    else {
        grid.notice = EMU_NOTICE_UNSET;
    }
    execution_set_clusters(&grid, launch);
    grid.max_resident = execution_resident(context->device, launch, grid.cluster_size);
    atomic_init(&grid.takes_turns, launch->cooperative || grid.cluster_size > 1);
    execution_set_checks(&grid);
    grid.number = atomic_fetch_add(&launches, 1) + 1;
    params_room = (launch->kernel->info.params_size + 79) & ~(size_t)63;
    params = aligned_alloc(64, params_room);
    grid.tids = malloc(grid.warp_count * sizeof *grid.tids);
    if (grid.checks & EMU_CHECK_RACE) {
        grid.race = emu_race_grid_new();
    }
    if (params == NULL || !grid.tids ||
        (grid.checks & EMU_CHECK_RACE && grid.race == NULL) ||
        (launch->cooperative && !execution_sync_space(context, &space))) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
        goto done;
    }
    execution_set_params(&grid, params, params_room);
    if (space) {
        grid.sync_space = space->base;
    }
    execution_fill_tids(&grid);
    emu_workers_run(&grid);
    status = report->code;
done:
    if (space) {
        (void)emu_memory_free(space);
    }
    emu_race_grid_free(grid.race);
    free(grid.tids);
    free(params);
    return status;
}

/* -- grids with their child work --------------------------------------------------- */

static CUresult execution_run_family(CUcontext context, const emu_launch *launch,
                                     emu_report *report, unsigned depth);

/* Count the launch, if the launches of the kernel are counted. */
static void
execution_count(CUcontext context, const emu_launch *launch)
{
    const emu_kernel *kernel = launch->kernel;
    emu_count_function *counted = kernel->func->counted;
    const unsigned threads = launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t blocks =
        (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

    if (counted == NULL) {
        return;
    }
    atomic_fetch_add(&counted->launches, 1);
    atomic_fetch_add(&counted->blocks, blocks);
    atomic_fetch_add(&counted->threads, blocks * threads);
    atomic_store(&counted->block_size, threads);
    atomic_store(&counted->shared,
                 (unsigned)(kernel->info.shared_size + launch->dynamic_shared));
    atomic_store(&counted->registers, kernel->info.registers);
    atomic_store(&counted->resident,
                 (unsigned)emu_occupancy_blocks(context->device, &kernel->info,
                                                (int)threads, launch->dynamic_shared));
}

/* Run a grid and the work that it enqueued, except its tail, which the caller gets.
 * Grids nest at most EMU_MAX_NESTING levels deep. */
static CUresult
execution_run_one(CUcontext context, const emu_launch *launch, emu_report *report,
                  unsigned depth, emu_child_item **tail)
{
    emu_child_work work;
    CUresult status;

    emu_child_work_open(&work, depth);
    status = execution_run_grid(context, launch, report, &work);
    if (status == CUDA_SUCCESS) {
        execution_count(context, launch);
    }
    for (const emu_child_item *item = work.first; status == CUDA_SUCCESS && item;
         item = item->next) {
        if (item->launch.kernel) {
            status = execution_run_family(context, &item->launch, report, depth + 1);
        }
        else {
            status = emu_child_copy_run(&item->copy, report);
        }
    }
    *tail = work.tail;
    emu_child_work_close(&work);
    return status;
}

/* Run a grid, its work and its tail. A grid in the tail may have a tail of its own,
 * which runs before the rest. */
static CUresult
execution_run_family(CUcontext context, const emu_launch *launch, emu_report *report,
                     unsigned depth)
{
    emu_child_item *tail;
    CUresult status = execution_run_one(context, launch, report, depth, &tail);

    while (status == CUDA_SUCCESS && tail) {
        emu_child_item *item = tail, *own = NULL;

        tail = item->next;
        if (item->launch.kernel) {
            emu_child_item **end = &own;

            status = execution_run_one(context, &item->launch, report, depth, &own);
            while (*end) {
                end = &(*end)->next;
            }
            *end = tail;
            tail = own;
        }
        else {
            status = emu_child_copy_run(&item->copy, report);
        }
        free(item);
    }
    emu_child_items_free(tail);
    return status;
}

CUresult
emu_execution_run(CUcontext context, const emu_launch *launch, emu_report *report)
{
    return execution_run_family(context, launch, report, 0);
}
