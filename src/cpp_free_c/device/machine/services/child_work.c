/* The queue of child work. See services.h. */
#define _GNU_SOURCE
#include "device/machine/services/services.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/memory/memory.h"

void
emu_child_work_open(emu_child_work *work, unsigned depth)
{
    *work = (emu_child_work){.lock = PTHREAD_MUTEX_INITIALIZER, .depth = depth};
    work->last = &work->first;
    work->tail_last = &work->tail;
}

static void
child_work_append(emu_child_work *work, emu_child_item *item, uint64_t stream)
{
    emu_child_item ***last = &work->last;

    if (stream == EMU_STREAM_TAIL) {
        last = &work->tail_last;
    }
    **last = item;
    *last = &item->next;
}

bool
emu_child_work_add_launch(emu_child_work *work, const emu_launch *launch,
                          uint64_t stream)
{
    emu_child_item *item = calloc(1, sizeof *item + launch->params_size);

    if (item == NULL) {
        return false;
    }
    item->launch = *launch;
    if (launch->params_size) {
        memcpy(item->parameters, launch->params, launch->params_size);
    }
    item->launch.params = item->parameters;
    work->pending++;
    child_work_append(work, item, stream);
    return true;
}

bool
emu_child_work_add_copy(emu_child_work *work, const emu_child_copy *copy,
                        uint64_t stream)
{
    emu_child_item *item = calloc(1, sizeof *item);

    if (item == NULL) {
        return false;
    }
    item->copy = *copy;
    child_work_append(work, item, stream);
    return true;
}

/* Whether the rows are within one live allocation. */
static bool
child_copy_rows_are_live(uint64_t address, size_t pitch, size_t width, size_t height)
{
    size_t extent;

    return (height <= 1 || pitch >= width) &&
           !__builtin_mul_overflow(pitch, height - 1, &extent) &&
           !__builtin_add_overflow(extent, width, &extent) &&
           emu_memory_holding(address, extent) != NULL;
}

bool
emu_child_copy_check(const emu_child_copy *copy)
{
    if (!copy->width || !copy->height) {
        return true;
    }
    return child_copy_rows_are_live(copy->target, copy->target_pitch, copy->width,
                                    copy->height) &&
           (!copy->source || child_copy_rows_are_live(copy->source, copy->source_pitch,
                                                      copy->width, copy->height));
}

CUresult
emu_child_copy_run(const emu_child_copy *copy, emu_report *report)
{
    if (!emu_child_copy_check(copy)) { /* its memory was freed after it was enqueued */
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
        const uint64_t to = copy->target + y * copy->target_pitch;
        const uint64_t from = copy->source + y * copy->source_pitch;
        char *target = (char *)(uintptr_t)to;

        if (copy->source) {
            emu_shadow_note_copy(to, from, copy->width);
            memmove(target, (const char *)(uintptr_t)from, copy->width);
        }
        else {
            emu_shadow_note_write(to, copy->width);
            memset(target, copy->value, copy->width);
        }
    }
    return CUDA_SUCCESS;
}

void
emu_child_items_free(emu_child_item *item)
{
    while (item) {
        emu_child_item *next = item->next;

        free(item);
        item = next;
    }
}

void
emu_child_work_close(emu_child_work *work)
{
    emu_child_items_free(work->first);
    while (work->buffers) { /* buffers that were never launched */
        emu_parameter_buffer *next = work->buffers->next;

        (void)emu_memory_free(
            work->buffers->memory); /* live: only the owner of a buffer frees it */
        free(work->buffers);
        work->buffers = next;
    }
    while (work->errors) {
        emu_thread_error *next = work->errors->next;

        free(work->errors);
        work->errors = next;
    }
    (void)pthread_mutex_destroy(&work->lock);
}
