/* Events: recording, waiting, elapsed times.
 *
 * Work runs when it is enqueued, so a recorded event is complete and waiting for it has
 * nothing to wait for but the other thread's work that the record itself waited for. */
#define _GNU_SOURCE
#include "device/api/event.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device/api/entry.h"
#include "device/api/context.h"
#include "device/api/faults.h"
#include "device/api/deferred.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

static uint64_t
now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail for this clock */
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void
destroy(emu_object *object)
{
    emu_event *event = (emu_event *)object;

    emu_capture_forget(&event->place);
    if (event->mark != &event->own) {
        (void)munmap(event->mark, sizeof(*event->mark)); /* ours: cannot fail */
    }
    if (event->file >= 0) {
        (void)close(event->file); /* memory: nothing is lost */
    }
    emu_object_free(object);
}

emu_event *
emu_event_new(emu_context *context, unsigned int flags)
{
    emu_event *event = emu_object_new(EMU_EVENT, sizeof(*event), context, destroy);

    if (event) {
        event->flags = flags;
        event->mark = &event->own;
        event->file = -1;
    }
    return event;
}

CUresult
emu_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(EventCreate, &context);

    if (status == CUDA_SUCCESS &&
        (!phEvent || Flags > 7 ||
         ((Flags & EMU_EVENT_INTERPROCESS) && !(Flags & EMU_EVENT_DISABLE_TIMING)))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        emu_event *event = emu_event_new(context, Flags);

        if (event) {
            *phEvent = event;
        }
        else {
            status = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuEventDestroy(CUevent hEvent)
{
    emu_context *context;
    CUresult status = EMU_ENTER_EVENT(EventDestroy, hEvent, &context);

    if (status == CUDA_SUCCESS) {
        emu_event *event = emu_object_get(hEvent, EMU_EVENT);

        if (event) {
            emu_count_free(event->object.context);
            destroy(&event->object);
        }
        else {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
    }
    return emu_leave(status);
}

/* An event node: of CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL, whose event
 * is one of the world outside of the capture. */
typedef struct {
    emu_event *event;
    uint64_t serial;
} event_payload;

static CUresult
run_record(const void *payload, emu_context *context, emu_report *report)
{
    const event_payload *p = payload;

    (void)context;
    (void)report;
    emu_lock(); /* another thread may destroy it just now */
    if (emu_object_get_same(p->event, EMU_EVENT, p->serial)) {
        emu_capture_forget(&p->event->place);
        atomic_store(&p->event->mark->recorded, now());
    }
    emu_unlock();
    return CUDA_SUCCESS;
}

static CUresult
begin_event(const void *payload)
{
    const event_payload *p = payload;

    return emu_object_get_same(p->event, EMU_EVENT, p->serial)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_HANDLE;
}

static const emu_work record_work = {
    .type = EMU_NODE_EVENT_RECORD, .begin = begin_event, .run = run_record};
/* What was recorded has happened already. */
static const emu_work wait_work = {.type = EMU_NODE_WAIT_EVENT, .begin = begin_event};

static CUresult
record(emu_context *context, CUevent handle, CUstream stream_handle, bool external)
{
    emu_event *event = emu_object_get(handle, EMU_EVENT);
    emu_stream *stream = emu_stream_get(context, stream_handle);
    CUresult status;
    bool taken;

    if (!event || !stream || event->object.context != context) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (external) {
        event_payload p = {event, event->object.serial};

        if (!emu_stream_place(stream)->capture) {
            return CUDA_ERROR_ILLEGAL_STATE; /* is there only for captures */
        }
        return emu_capture_take(stream, &record_work, &p, sizeof(p), &taken);
    }
    status = emu_capture_record(stream, &event->place, &taken);
    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    if (emu_late_on) {
        event_payload p = {event, event->object.serial};

        event->late_stream = NULL;
        if (emu_stream_late(stream)->done < emu_stream_late(stream)->kept &&
            emu_late_keep(stream, &record_work, &p, sizeof(p))) {
            event->late_stream = stream_handle;
            event->late_serial = emu_stream_serial(stream);
            event->late_number = emu_stream_late(stream)->kept;
            return CUDA_SUCCESS;
        }
    }
    /* No turn is taken: the work of this thread has run, and no order is promised with
     * what other threads are enqueuing just now. */
    atomic_store(&event->mark->recorded, now());
    return CUDA_SUCCESS;
}

CUresult
emu_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(EventRecord, hStream, &context);

    if (status == CUDA_SUCCESS) {
        status = record(context, hEvent, hStream, false);
    }
    return emu_leave(status);
}

CUresult
emu_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(EventRecordWithFlags, hStream, &context);

    if (status == CUDA_SUCCESS && flags > 1) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = record(context, hEvent, hStream, flags != 0);
    }
    return emu_leave(status);
}

/* The stream in which the event is still to be recorded, or NULL. */
static emu_stream *
late_stream(const emu_event *event)
{
    emu_stream *stream = NULL;

    if (event->late_stream) {
        stream =
            emu_object_get_same(event->late_stream, EMU_STREAM, event->late_serial);
    }
    return stream && emu_stream_late(stream)->done < event->late_number ? stream : NULL;
}

/* Runs what was enqueued before the event. */
static void
reach(const emu_event *event)
{
    emu_stream *stream = late_stream(event);

    if (stream) {
        (void)emu_late_run(stream, event->late_number); /* the caller looks why */
    }
}

/* An event whose state a call asks for. */
static CUresult
look(CUevent handle)
{
    emu_event *event = emu_object_get(handle, EMU_EVENT);

    return event ? emu_capture_look(&event->place) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult
emu_cuEventQuery(CUevent hEvent)
{
    emu_context *context;
    CUresult status = EMU_ENTER_EVENT(EventQuery, hEvent, &context);

    if (status == CUDA_SUCCESS) {
        status = look(hEvent);
    }
    if (status == CUDA_SUCCESS && late_stream(hEvent)) {
        emu_stream *stream = late_stream(hEvent);

        (void)emu_late_run(stream, emu_stream_late(stream)->done + 1);
        status = CUDA_ERROR_NOT_READY;
    }
    return emu_leave(status);
}

CUresult
emu_cuEventSynchronize(CUevent hEvent)
{
    emu_context *context;
    CUresult status = EMU_ENTER_EVENT(EventSynchronize, hEvent, &context);

    if (status == CUDA_SUCCESS) {
        status = look(hEvent);
    }
    if (status == CUDA_SUCCESS) {
        emu_call call;

        reach(hEvent);
        emu_use(&context->object);
        call = emu_pause();
        emu_context_flush(context);
        emu_resume(call);
        emu_done(&context->object);
        if (emu_wait_interrupted()) {
            status = EMU_INTERRUPTED;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    emu_context *context;
    const emu_event *start = NULL, *end = NULL;
    CUresult status = EMU_ENTER_EVENT(EventElapsedTime, hStart, &context);

    if (status == CUDA_SUCCESS && !pMilliseconds) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        start = emu_object_get(hStart, EMU_EVENT);
        end = emu_object_get(hEnd, EMU_EVENT);
        if (!start || !end ||
            ((start->flags | end->flags) & EMU_EVENT_DISABLE_TIMING)) {
            status = CUDA_ERROR_INVALID_HANDLE;
        }
        else if (start->place.captured || end->place.captured) {
            status = start->place.capture || end->place.capture
                         ? CUDA_ERROR_CAPTURED_EVENT
                         : CUDA_ERROR_INVALID_VALUE; /* the captures have ended */
        }
        else if (late_stream(start) || late_stream(end)) {
            status = CUDA_ERROR_NOT_READY;
        }
    }
    if (status == CUDA_SUCCESS) {
        uint64_t from = atomic_load(&start->mark->recorded);
        uint64_t to = atomic_load(&end->mark->recorded);

        if (from && to) {
            *pMilliseconds = (float)((double)(int64_t)(to - from) * 1e-6);
        }
        else {
            status = CUDA_ERROR_INVALID_HANDLE; /* never recorded */
        }
    }
    return emu_leave(status);
}

static CUresult
wait_for(emu_stream *stream, emu_event *event, bool external)
{
    bool taken;

    if (external) {
        event_payload p = {event, event->object.serial};

        return emu_stream_place(stream)->capture
                   ? emu_capture_take(stream, &wait_work, &p, sizeof(p), &taken)
                   : CUDA_ERROR_ILLEGAL_STATE;
    }
    reach(event);
    return emu_capture_wait(stream, &event->place,
                            atomic_load(&event->mark->recorded) != 0, &taken);
}

CUresult
emu_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(StreamWaitEvent, hStream, &context);

    if (status == CUDA_SUCCESS && Flags > 1) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    /* The event may be another context's. */
    if (status == CUDA_SUCCESS) {
        emu_stream *stream = emu_stream_get(context, hStream);
        emu_event *event = emu_object_get(hEvent, EMU_EVENT);

        status = stream && event ? wait_for(stream, event, Flags != 0)
                                 : CUDA_ERROR_INVALID_HANDLE;
    }
    return emu_leave(status);
}
