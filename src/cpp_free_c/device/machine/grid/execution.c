/* Launches: checks, the record of the grid, then the blocks and the child work. See
 * execution.h. */
#define _GNU_SOURCE
#include "device/machine/grid/execution.h"

#include <stddef.h>
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
    const uint32_t width = grid->block[0], height = grid->block[1];
    uint32_t x = 0, y = 0, z = 0;

    for (uint32_t w = 0; w < grid->warp_count; w++) {
        uint32_t(*tid)[EMU_LANES] = grid->tids[w];

        for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
            tid[0][lane] = x;
            tid[1][lane] = y;
            tid[2][lane] = z;
            x++;
            if (x == width) { /* no divisions: they would take most of a launch */
                x = 0;
                y++;
            }
            if (y == height) {
                y = 0;
                z++;
            }
        }
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

    memset(grid, 0, offsetof(emu_grid, inputs)); /* input_count says how many */
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

/* A launch that runs, or rests until another thread goes on with it. */
struct emu_flight {
    emu_grid grid;
    emu_child_work work; /* that its threads enqueue */
    emu_launch launch;
    emu_report report;
    emu_allocation *space; /* of grid.sync; NULL: none */
    uint8_t *params;
};

/* One record is kept for the next launch. */
static _Atomic(emu_flight *) spare;

static emu_flight *
flight_new(void)
{
    emu_flight *flight = atomic_exchange(&spare, NULL);

    if (flight == NULL) {
        flight = malloc(sizeof *flight);
    }
    return flight;
}

static void
flight_free(emu_flight *flight)
{
    free(atomic_exchange(&spare, flight));
}

/* Empty a report, without the room of its texts. */
static void
report_open(emu_report *report, CUresult status)
{
    memset(report, 0, offsetof(emu_report, kernel));
    report->code = status;
    report->kernel[0] = report->file[0] = report->text[0] = 0;
}

/* Prepare the memory of a grid. */
static CUresult
flight_allocate(emu_flight *flight)
{
    emu_grid *grid = &flight->grid;
    const size_t room = (flight->launch.kernel->info.params_size + 79) & ~(size_t)63;

    flight->params = aligned_alloc(64, room);
    grid->tids = malloc(grid->warp_count * sizeof *grid->tids);
    if (grid->checks & EMU_CHECK_RACE) {
        grid->race = emu_race_grid_new();
    }
    if (flight->params == NULL || !grid->tids ||
        (grid->checks & EMU_CHECK_RACE && grid->race == NULL) ||
        (flight->launch.cooperative &&
         !execution_sync_space(grid->context, &flight->space))) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    execution_set_params(grid, flight->params, room);
    if (flight->space) {
        grid->sync_space = flight->space->base;
    }
    execution_fill_tids(grid);
    return CUDA_SUCCESS;
}

/* Run the grid of a launch, whose threads enqueue into `work`. EMU_GOES_ON: it rests.
 */
static CUresult
flight_run(emu_flight *flight, CUcontext context, bool may_leave)
{
    const emu_launch *launch = &flight->launch;
    emu_grid *grid = &flight->grid;
    CUresult status = execution_check(launch);

    report_open(&flight->report, status);
    flight->space = NULL;
    flight->params = NULL;
    execution_open(grid, context, launch);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    grid->work = &flight->work;
    grid->report = &flight->report;
    grid->may_leave = may_leave;
    if (context->device->timeout != 0) {
        grid->deadline = emu_clock_steady() + context->device->timeout;
    }
    else {
        grid->notice = EMU_NOTICE_UNSET;
    }
    execution_set_clusters(grid, launch);
    grid->max_resident =
        execution_resident(context->device, launch, grid->cluster_size);
    atomic_init(&grid->takes_turns, launch->cooperative || grid->cluster_size > 1);
    execution_set_checks(grid);
    grid->number = atomic_fetch_add(&launches, 1) + 1;
    status = flight_allocate(flight);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    return emu_workers_run(grid) ? flight->report.code : EMU_GOES_ON;
}

/* Free what the grid needed, and copy a report. */
static void
flight_close(emu_flight *flight, emu_report *report)
{
    if (flight->space) {
        (void)emu_memory_free(flight->space);
    }
    emu_race_grid_free(flight->grid.race);
    free(flight->grid.tids);
    free(flight->params);
    if (report != NULL && flight->report.text[0] != 0) {
        *report = flight->report;
    }
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

/* After a grid, run the work that it enqueued, except its tail, which the caller gets;
 * free the record. */
static CUresult
execution_follow(emu_flight *flight, CUresult status, emu_report *report,
                 emu_child_item **tail)
{
    emu_child_work *work = &flight->work;
    CUcontext context = flight->grid.context;

    flight_close(flight, report);
    if (status == CUDA_SUCCESS) {
        execution_count(context, &flight->launch);
    }
    for (const emu_child_item *item = work->first; status == CUDA_SUCCESS && item;
         item = item->next) {
        if (item->launch.kernel) {
            status =
                execution_run_family(context, &item->launch, report, work->depth + 1);
        }
        else {
            status = emu_child_copy_run(&item->copy, report);
        }
    }
    *tail = work->tail;
    emu_child_work_close(work);
    flight_free(flight);
    return status;
}

/* Run a grid. EMU_GOES_ON: it rests in *left, which may be NULL if it must not. Grids
 * nest at most EMU_MAX_NESTING levels deep. */
static CUresult
execution_run_one(CUcontext context, const emu_launch *launch, emu_report *report,
                  unsigned depth, emu_child_item **tail, emu_flight **left)
{
    emu_flight *flight = flight_new();

    *tail = NULL;
    if (flight == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    flight->launch = *launch;
    emu_child_work_open(&flight->work, depth);
    CUresult status = flight_run(flight, context, left != NULL);

    if (status == EMU_GOES_ON) {
        *left = flight;
        return status;
    }
    return execution_follow(flight, status, report, tail);
}

/* Run the tail of a grid. A grid in the tail may have a tail of its own, which runs
 * before the rest. */
static CUresult
execution_run_tail(CUcontext context, CUresult status, emu_report *report,
                   unsigned depth, emu_child_item *tail)
{
    while (status == CUDA_SUCCESS && tail) {
        emu_child_item *item = tail, *own = NULL;

        tail = item->next;
        if (item->launch.kernel) {
            emu_child_item **end = &own;

            status =
                execution_run_one(context, &item->launch, report, depth, &own, NULL);
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

/* Run a grid that another one launched, its work and its tail. */
static CUresult
execution_run_family(CUcontext context, const emu_launch *launch, emu_report *report,
                     unsigned depth)
{
    emu_child_item *tail;
    CUresult status = execution_run_one(context, launch, report, depth, &tail, NULL);

    return execution_run_tail(context, status, report, depth, tail);
}

CUresult
emu_execution_run(CUcontext context, const emu_launch *launch, emu_report *report,
                  emu_flight **left)
{
    emu_child_item *tail;
    CUresult status = execution_run_one(context, launch, report, 0, &tail, left);

    if (status == EMU_GOES_ON) {
        return status;
    }
    return execution_run_tail(context, status, report, 0, tail);
}

CUresult
emu_execution_go_on(emu_flight *flight, emu_report *report)
{
    CUcontext context = flight->grid.context;
    emu_child_item *tail;
    CUresult status;

    (void)emu_workers_go_on(&flight->grid); /* it does not leave again */
    status = execution_follow(flight, flight->report.code, report, &tail);
    return execution_run_tail(context, status, report, 0, tail);
}
