/* Streams that run late. See late.h. */
#define _GNU_SOURCE
#include "device/api/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

typedef struct emu_late_item {
    struct emu_late_item *next;
    const emu_work *work;
    _Alignas(16) char payload[];
} item;

bool emu_late_on;                /* set once, by cuInit */
static emu_stream *late_streams; /* that keep something; under the API lock */

CUresult
emu_late_open(void)
{
    const char *value = getenv("PYCUDA_EMULATOR_STREAMS");

    if (value && *value && strcmp(value, "late") != 0 && strcmp(value, "eager") != 0) {
        emu_message_set("PYCUDA_EMULATOR_STREAMS is \"%s\"; it must be eager or late.",
                        value);
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_late_on = value && strcmp(value, "late") == 0;
    return CUDA_SUCCESS;
}

static void
list(emu_stream *stream)
{
    emu_late *late = emu_stream_late(stream);

    late->last = &late->first;
    late->previous = NULL;
    late->next = late_streams;
    if (late->next) {
        emu_stream_late(late->next)->previous = stream;
    }
    late_streams = stream;
}

static void
unlist(emu_stream *stream)
{
    emu_late *late = emu_stream_late(stream);

    if (late->previous) {
        emu_stream_late(late->previous)->next = late->next;
    }
    else {
        late_streams = late->next;
    }
    if (late->next) {
        emu_stream_late(late->next)->previous = late->previous;
    }
    late->next = late->previous = NULL;
}

bool
emu_late_keep(emu_stream *stream, const emu_work *work, const void *payload,
              size_t size)
{
    emu_late *late = emu_stream_late(stream);
    item *kept;

    if (!emu_late_on || emu_stream_is_null(stream) ||
        (work->can_wait && !work->can_wait(payload))) {
        return false;
    }
    kept = calloc(1, sizeof(*kept) + size);
    if (!kept) {
        return false; /* running it now is right too */
    }
    kept->work = work;
    memcpy(kept->payload, payload, size);
    if (work->begin && work->begin(kept->payload) != CUDA_SUCCESS) {
        free(kept);
        return false;
    }
    if (!late->first) {
        list(stream);
    }
    *late->last = kept;
    late->last = &kept->next;
    late->kept++;
    return true;
}

bool
emu_late_keeps(void)
{
    bool keeps;

    emu_lock();
    keeps = late_streams != NULL;
    emu_unlock();
    return keeps;
}

/* Takes the first item out; the stream's turn is held, so it is run before the next. */
static item *
take_first(emu_stream *stream)
{
    emu_late *late = emu_stream_late(stream);
    item *first;

    emu_lock();
    first = late->first;
    if (first) {
        late->first = first->next;
        if (!late->first) {
            unlist(stream);
        }
    }
    emu_unlock();
    return first;
}

bool
emu_late_run(emu_stream *stream, uint64_t until)
{
    emu_late *late = emu_stream_late(stream);
    emu_context *context = emu_stream_context(stream);

    while (late->done < (emu_wait_interrupted() ? late->kept : until)) {
        emu_report report = {.text = ""};
        CUresult status = (CUresult)atomic_load(&context->sticky);
        int token = emu_stream_turn(stream);
        item *first;

        if (token < 0) {
            return false;
        }
        first = take_first(stream);
        if (first) {
            /* what a signal keeps from running is dropped */
            if (status == CUDA_SUCCESS && first->work->run && !emu_wait_interrupted()) {
                status = first->work->run(first->payload, context, &report);
            }
            emu_lock();
            if (first->work->end) {
                first->work->end(first->payload);
            }
            late->done++;
            emu_unlock();
            free(first);
        }
        if (status != CUDA_SUCCESS && status != EMU_INTERRUPTED) {
            emu_context_fail(context, status);
        }
        emu_stream_end(stream, token);
        if (report.text[0]) {
            emu_message_set("%s", report.text);
        }
    }
    return true;
}

/* The first stream that keeps something: of one context and blocking, or any. */
static emu_stream *
find(const emu_context *context)
{
    emu_stream *stream = late_streams;

    while (stream && context &&
           (emu_stream_context(stream) != context || !emu_stream_is_blocking(stream))) {
        stream = emu_stream_late(stream)->next;
    }
    return stream;
}

static void
run_all(const emu_context *context)
{
    emu_stream *stream;

    while ((stream = find(context)) != NULL) {
        if (!emu_late_run(stream, emu_stream_late(stream)->kept)) {
            return;
        }
    }
}

void
emu_late_before(emu_stream *stream)
{
    if (emu_stream_is_null(stream)) {
        run_all(emu_stream_context(stream));
    }
    else {
        (void)emu_late_run(
            stream, emu_stream_late(stream)->kept); /* the caller takes the turn */
    }
}

/* What a call waits for. Measured on an H200: the first kind waits for the device
 * there; what the second takes away the device keeps until its work is done. */
typedef enum { WAITS_NOT, WAITS_FOR_ALL, WAITS_FOR_KEPT } waiting;

static waiting
waits(emu_call call)
{
    switch (call) {
        case EMU_CALL_CtxSynchronize:
            run_all(NULL);
            return true;
        case EMU_CALL_CtxDestroy:
        case EMU_CALL_DevicePrimaryCtxRelease:
        case EMU_CALL_DevicePrimaryCtxReset:
        case EMU_CALL_ModuleUnload:
        case EMU_CALL_MemFree:
        case EMU_CALL_MemFreeHost:
        case EMU_CALL_MemHostUnregister:
        case EMU_CALL_ArrayDestroy:
        case EMU_CALL_MipmappedArrayDestroy:
            return WAITS_FOR_ALL;
        case EMU_CALL_StreamDestroy:
        case EMU_CALL_TexObjectDestroy:
        case EMU_CALL_SurfObjectDestroy:
            return WAITS_FOR_KEPT;
        default:
            return WAITS_NOT;
    }
}

bool
emu_late_call(emu_call call)
{
    waiting what = waits(call);

    if (what != WAITS_NOT && emu_late_on) {
        run_all(NULL);
    }
    if (what == WAITS_FOR_ALL) {
        emu_stream_settle(emu_context_peek());
    }
    return call == EMU_CALL_CtxSynchronize;
}
