/* Running grids with all that they launch. See device_work.h. */
#define _GNU_SOURCE
#include "device/machine/child_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/copy.h"
#include "device/machine/dynamic_parallelism.h"

struct emu_work_item {
    emu_work_item *next;
    emu_launch launch; /* its parameters are in `parameters`; kernel NULL: a copy */
    emu_device_copy copy;
    _Alignas(16) char parameters[];
};

static void
append(emu_device_work *work, emu_work_item *item, uint64_t stream)
{
    emu_work_item ***last = stream == EMU_STREAM_TAIL ? &work->tail_last : &work->last;

    **last = item;
    *last = &item->next;
}

bool
emu_work_launch(emu_device_work *work, const emu_launch *launch, uint64_t stream)
{
    emu_work_item *item = calloc(1, sizeof *item + launch->params_size);

    if (!item) {
        return false;
    }
    item->launch = *launch;
    if (launch->params_size) {
        memcpy(item->parameters, launch->params, launch->params_size);
    }
    item->launch.params = item->parameters;
    work->pending++;
    append(work, item, stream);
    return true;
}

bool
emu_work_copy(emu_device_work *work, const emu_device_copy *copy, uint64_t stream)
{
    emu_work_item *item = calloc(1, sizeof *item);

    if (!item) {
        return false;
    }
    item->copy = *copy;
    append(work, item, stream);
    return true;
}

/* Whether the rows lie within one allocation. */
static bool
rows_inside(uint64_t address, size_t pitch, size_t width, size_t height)
{
    size_t extent;

    return (height <= 1 || pitch >= width) &&
           !__builtin_mul_overflow(pitch, height - 1, &extent) &&
           !__builtin_add_overflow(extent, width, &extent) &&
           emu_is_device_range(address, extent);
}

bool
emu_work_check(const emu_device_copy *copy)
{
    if (!copy->width || !copy->height) {
        return true;
    }
    return rows_inside(copy->target, copy->target_pitch, copy->width, copy->height) &&
           (!copy->source ||
            rows_inside(copy->source, copy->source_pitch, copy->width, copy->height));
}

static CUresult
run_copy(const emu_device_copy *copy, emu_report *report)
{
    if (!emu_work_check(copy)) { /* freed since it was enqueued */
        if (report) {
            memset(report, 0, sizeof *report);
            report->code = CUDA_ERROR_ILLEGAL_ADDRESS;
            report->address = copy->target;
            (void)snprintf(report->text, sizeof report->text,
                           "CUDA_ERROR_ILLEGAL_ADDRESS\n  a copy or fill that a kernel "
                           "enqueued, to 0x%llx, is not within live memory\n",
                           (unsigned long long)copy->target);
        }
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    for (size_t y = 0; copy->width && y < copy->height; y++) {
        char *target = (char *)(uintptr_t)(copy->target + y * copy->target_pitch);

        if (copy->source) {
            memmove(target,
                    (const char *)(uintptr_t)(copy->source + y * copy->source_pitch),
                    copy->width);
        }
        else {
            memset(target, copy->value, copy->width);
        }
    }
    return CUDA_SUCCESS;
}

static void
free_items(emu_work_item *item)
{
    while (item) {
        emu_work_item *next = item->next;

        free(item);
        item = next;
    }
}

static void
close_work(emu_device_work *work)
{
    free_items(work->first);
    while (work->buffers) { /* asked for and never launched */
        emu_parameter_buffer *next = work->buffers->next;

        (void)emu_memory_free(work->buffers->memory); /* ours, alive */
        free(work->buffers);
        work->buffers = next;
    }
    emu_runtime_forget_errors(work);
    (void)pthread_mutex_destroy(&work->lock);
}

static CUresult run_family(CUcontext context, const emu_launch *launch,
                           emu_report *report, unsigned depth);

/* Runs a grid and what it enqueued, but for the tail, which is given out. The grids
 * within go down at most EMU_MAX_NESTING levels. */
static CUresult
run_one(CUcontext context, const emu_launch *launch, emu_report *report, unsigned depth,
        emu_work_item **tail)
{
    emu_device_work work = {.lock = PTHREAD_MUTEX_INITIALIZER, .depth = depth};
    CUresult status;

    work.last = &work.first;
    work.tail_last = &work.tail;
    status = emu_exec_grid(context, launch, report, &work);
    for (const emu_work_item *item = work.first; status == CUDA_SUCCESS && item;
         item = item->next) {
        status = item->launch.kernel
                     ? run_family(context, &item->launch, report, depth + 1)
                     : run_copy(&item->copy, report);
    }
    *tail = work.tail;
    close_work(&work);
    return status;
}

/* The same with the tail; a grid in the tail may have one of its own, which comes
 * before the rest. */
static CUresult
run_family(CUcontext context, const emu_launch *launch, emu_report *report,
           unsigned depth)
{
    emu_work_item *tail;
    CUresult status = run_one(context, launch, report, depth, &tail);

    while (status == CUDA_SUCCESS && tail) {
        emu_work_item *item = tail, *own = NULL;

        tail = item->next;
        if (item->launch.kernel) {
            emu_work_item **end = &own;

            status = run_one(context, &item->launch, report, depth, &own);
            while (*end) {
                end = &(*end)->next;
            }
            *end = tail;
            tail = own;
        }
        else {
            status = run_copy(&item->copy, report);
        }
        free(item);
    }
    free_items(tail);
    return status;
}

CUresult
emu_exec_run(CUcontext context, const emu_launch *launch, emu_report *report)
{
    return run_family(context, launch, report, 0);
}
