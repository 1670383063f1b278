/* Ending a launch before its blocks end. See cancel.h. */
#define _GNU_SOURCE
#include "device/machine/warp/cancel.h"

#include <stdio.h>

#include "device/machine/warp/clock.h"
#include "device/machine/warp/wait.h"

enum {
    LOOK_GAP = 63, /* the most turns between two looks */
    LOOK_NANOSECONDS = 1000000
};

void
emu_cancel(emu_grid *grid, CUresult code, const char *text)
{
    int expected = 0;

    if (atomic_compare_exchange_strong(&grid->failed, &expected, 1)) {
        grid->report->code = code;
        if (text) {
            (void)snprintf(grid->report->text, sizeof grid->report->text,
                           "%s kernel %.200s\n", text, grid->kernel->info.name);
        }
    }
}

void
emu_cancel_no_memory(emu_grid *grid)
{
    emu_cancel(grid, CUDA_ERROR_OUT_OF_MEMORY,
               "CUDA_ERROR_OUT_OF_MEMORY\n  no host memory to run");
}

static void
cancel_at_deadline(emu_grid *grid)
{
    emu_cancel(grid, CUDA_ERROR_LAUNCH_TIMEOUT,
               "CUDA_ERROR_LAUNCH_TIMEOUT\n  the time limit PYCUDA_EMULATOR_TIMEOUT "
               "ended");
}

void
emu_cancel_look(emu_worker *worker, emu_grid *grid)
{
    const uint64_t now = emu_clock_steady(), passed = now - worker->looked;

    if (worker->looked && passed > UINT64_C(2) * LOOK_NANOSECONDS) {
        worker->look_gap /= 2;
    }
    else if (worker->looked && passed < LOOK_NANOSECONDS / 2 &&
             worker->look_gap < LOOK_GAP) {
        worker->look_gap = worker->look_gap * 2 + 1;
    }
    worker->looked = now;
    worker->until_look = worker->look_gap;
    worker->has_looked = true;
    if (grid->deadline && now > grid->deadline) {
        cancel_at_deadline(grid);
    }
    if (atomic_load_explicit(&grid->context->cancels, memory_order_relaxed) ||
        (worker->number == 0 && emu_wait_poll_at(now))) {
        emu_cancel(grid, EMU_INTERRUPTED, NULL);
    }
}
