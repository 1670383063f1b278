/* Events: recording, waiting, elapsed times.
 *
 * A record that no stream keeps is complete. Waiting for another one runs what the
 * stream keeps before it, or waits for the thread that does. See stream.h. */
#define _GNU_SOURCE
#include "device/api/stream/stream.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "device/sync_check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"

static uint64_t
event_now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail for this clock */
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void
event_destroy(emu_object *object)
{
    emu_event *event = (emu_event *)object;

    emu_capture_place_leave(&event->place);
    emu_event_clock_close(&event->clock);
    if (event->mark != &event->own) {
        (void)munmap(event->mark,
                     sizeof(*event->mark)); /* our own mapping: it cannot fail */
    }
    if (event->file >= 0) {
        (void)close(event->file); /* memory: nothing is lost */
    }
    emu_object_free(object);
}

emu_event *
emu_event_new(emu_context *context, unsigned int flags)
{
    emu_event *event =
        emu_object_new(EMU_EVENT, sizeof(*event), context, event_destroy);

    if (event != NULL) {
        event->flags = flags;
        event->mark = &event->own;
        event->file = -1;
    }
    return event;
}

/* An event for other processes has no times. */
static bool
event_flags_are_valid(unsigned int flags)
{
    const unsigned int shared = EMU_EVENT_INTERPROCESS | EMU_EVENT_DISABLE_TIMING;

    return flags <= EMU_EVENT_FLAGS && (flags & shared) != EMU_EVENT_INTERPROCESS;
}

CUresult
emu_cuEventCreate(emu_context *context, CUevent *phEvent, unsigned int Flags)
{
    if (phEvent == NULL || !event_flags_are_valid(Flags)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    emu_event *event = emu_event_new(context, Flags);

    if (event == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *phEvent = event;
    return CUDA_SUCCESS;
}

CUresult
emu_cuEventDestroy(emu_event *event)
{
    emu_count_free(event->object.context);
    event_destroy(&event->object);
    return CUDA_SUCCESS;
}

/* -- recording --------------------------------------------------------------------- */

/* The payload of an event node, and of a record that a deferred stream keeps. An event
 * node comes from CU_EVENT_RECORD_EXTERNAL or CU_EVENT_WAIT_EXTERNAL: its event is
 * shared with streams outside the capture. */
typedef struct {
    emu_event *event;
    uint64_t serial;
    bool is_kept; /* by a deferred stream: the event has its clock */
} event_payload;

static CUresult
event_run_record(const void *payload, emu_context *context, emu_report *report)
{
    const event_payload *p = payload;

    (void)context;
    (void)report;
    emu_lock(); /* another thread may be destroying the event */
    if (emu_object_get_same(p->event, EMU_EVENT, p->serial) != NULL) {
        emu_capture_place_leave(&p->event->place);
        atomic_store(&p->event->mark->recorded, event_now());
        if (!p->is_kept) {
            emu_operation_record(emu_operation_present(), &p->event->clock);
        }
    }
    emu_unlock();
    return CUDA_SUCCESS;
}

static CUresult
event_begin_work(const void *payload)
{
    const event_payload *p = payload;

    if (emu_object_get_same(p->event, EMU_EVENT, p->serial) == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

/* The members eventRecord and eventWait of the union are alike. */
static void
event_describe(void *payload, CUgraphNodeParams *params)
{
    const event_payload *p = payload;

    params->eventRecord = (CUDA_EVENT_RECORD_NODE_PARAMS){p->event};
}

const emu_work emu_event_record_work = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                        .begin = event_begin_work,
                                        .run = event_run_record,
                                        .describe = event_describe};
/* A wait has nothing to run: the record has already happened. */
const emu_work emu_event_wait_work = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                      .begin = event_begin_work,
                                      .describe = event_describe};

CUresult
emu_event_node_make(emu_context *context, const CUgraphNodeParams *params,
                    emu_payload *out)
{
    emu_event *event = emu_object_get(params->eventRecord.event, EMU_EVENT);
    event_payload *p;

    (void)context; /* an event of any context may be used */
    if (event == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    p = malloc(sizeof(*p));
    if (p == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *p = (event_payload){event, event->object.serial, false};
    *out = (emu_payload){p, sizeof(*p)};
    return CUDA_SUCCESS;
}

/* Add an event node to the capture of the stream. */
static CUresult
event_add_node(emu_stream *stream, emu_event *event, const emu_work *work)
{
    const event_payload payload = {event, event->object.serial, false};

    if (stream->place.capture == NULL) {
        return CUDA_ERROR_ILLEGAL_STATE; /* the flag is for captures only */
    }
    return emu_queue_submit(stream, work, &payload, sizeof(payload), EMU_SUBMIT);
}

/* Let a deferred stream that keeps work keep the record too. */
static bool
event_defer_record(emu_event *event, emu_stream *stream)
{
    const event_payload payload = {event, event->object.serial, true};
    const emu_queue *queue = &stream->queue;

    event->deferred_stream = NULL;
    if ((queue->done >= queue->kept && !emu_queue_is_busy(stream)) ||
        !emu_queue_keep(stream, &emu_event_record_work, &payload, sizeof(payload))) {
        return false;
    }
    event->deferred_stream = stream;
    event->deferred_serial = stream->object.serial;
    event->deferred_number = queue->kept;
    return true;
}

static CUresult
event_record(emu_stream *stream, CUevent handle, bool external)
{
    emu_event *event = emu_object_get(handle, EMU_EVENT);
    CUresult status;
    bool taken;

    if (event == NULL || event->object.context != stream->object.context) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (external) {
        return event_add_node(stream, event, &emu_event_record_work);
    }
    status = emu_capture_record(stream, &event->place, &taken);
    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    emu_lane_record(stream->lane, &event->clock);
    if (event_defer_record(event, stream)) {
        return CUDA_SUCCESS;
    }
    /* No turn is needed: this thread's work has run, and the order with work that other
     * threads are enqueuing is undefined. */
    atomic_store(&event->mark->recorded, event_now());
    return CUDA_SUCCESS;
}

CUresult
emu_cuEventRecord(CUevent hEvent, emu_stream *stream)
{
    return event_record(stream, hEvent, false);
}

CUresult
emu_cuEventRecordWithFlags(CUevent hEvent, emu_stream *stream, unsigned int flags)
{
    if (flags > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return event_record(stream, hEvent, flags != 0);
}

/* -- asking and waiting ------------------------------------------------------------ */

/* The stream that still keeps the record of the event, or NULL. */
static emu_stream *
event_deferred_stream(const emu_event *event)
{
    emu_stream *stream;

    if (event->deferred_stream == NULL) {
        return NULL;
    }
    stream = emu_queue_keeper(event->deferred_stream, event->deferred_serial);
    if (stream == NULL || stream->queue.done >= event->deferred_number) {
        return NULL;
    }
    return stream;
}

/* Run the work that was enqueued before the record of the event. */
static void
event_reach(const emu_event *event)
{
    emu_stream *stream = event_deferred_stream(event);

    if (stream != NULL) {
        /* If a signal ends this, the caller sees it in emu_wait_interrupted. */
        (void)emu_queue_run(stream, event->deferred_number);
    }
}

/* The host has waited for the record of an event, or has seen that it is over. */
static void
event_is_reached(const emu_event *event)
{
    if (event->mark != &event->own) {
        emu_host_awaits_context(NULL); /* another process may have recorded it */
    }
    else {
        emu_host_awaits_event(&event->clock);
    }
}

CUresult
emu_cuEventQuery(emu_event *event)
{
    CUresult status = emu_capture_look(&event->place);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_stream *stream = event_deferred_stream(event);
    if (stream != NULL) {
        /* One item a query, so that a program which polls gets to the end. */
        emu_queue_advance(stream, stream->queue.done + 1);
        return CUDA_ERROR_NOT_READY;
    }
    event_is_reached(event);
    return CUDA_SUCCESS;
}

CUresult
emu_cuEventSynchronize(emu_event *event)
{
    emu_context *context = event->object.context;
    CUresult status = emu_capture_look(&event->place);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    event_reach(event);
    emu_stream_print(context);
    event_is_reached(event);
    if (emu_wait_interrupted()) {
        return EMU_INTERRUPTED;
    }
    return CUDA_SUCCESS;
}

/* Check that the time between two events can be asked for. */
static CUresult
event_check_pair(const emu_event *start, const emu_event *end)
{
    if (((start->flags | end->flags) & EMU_EVENT_DISABLE_TIMING) != 0) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (start->place.capture != NULL || end->place.capture != NULL) {
        return CUDA_ERROR_CAPTURED_EVENT;
    }
    if (start->place.captured || end->place.captured) {
        return CUDA_ERROR_INVALID_VALUE; /* the captures have ended */
    }
    if (event_deferred_stream(start) != NULL || event_deferred_stream(end) != NULL) {
        return CUDA_ERROR_NOT_READY;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuEventElapsedTime(float *pMilliseconds, emu_event *start, CUevent hEnd)
{
    const emu_event *end = emu_object_get(hEnd, EMU_EVENT);

    if (pMilliseconds == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (end == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    CUresult status = event_check_pair(start, end);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    const uint64_t from = atomic_load(&start->mark->recorded);
    const uint64_t to = atomic_load(&end->mark->recorded);
    if (from == 0 || to == 0) {
        return CUDA_ERROR_INVALID_HANDLE; /* never recorded */
    }
    *pMilliseconds = (float)((double)(int64_t)(to - from) * 1e-6);
    event_is_reached(start);
    event_is_reached(end);
    return CUDA_SUCCESS;
}

/* A wait for the record of an event that a stream still keeps. */
typedef struct {
    CUstream stream;
    uint64_t serial, number;
} kept_record;

static bool
event_kept_is_over(const void *payload)
{
    const kept_record *record = payload;
    const emu_stream *stream = emu_queue_keeper(record->stream, record->serial);

    return stream == NULL || stream->queue.done >= record->number;
}

static const emu_work kept_work = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                   .is_ready = event_kept_is_over};

/* Let the stream wait for a record that waits for a value in memory. */
static bool
event_defer_wait(emu_stream *stream, const emu_event *event)
{
    emu_stream *keeper = event_deferred_stream(event);
    const kept_record record = {event->deferred_stream, event->deferred_serial,
                                event->deferred_number};

    if (keeper == NULL || stream->place.capture != NULL) {
        return false;
    }
    emu_queue_advance(keeper, event->deferred_number);
    return event_deferred_stream(event) != NULL &&
           emu_queue_keep(stream, &kept_work, &record, sizeof(record));
}

static CUresult
event_wait(emu_stream *stream, emu_event *event, bool external)
{
    bool taken;

    if (external) {
        return event_add_node(stream, event, &emu_event_wait_work);
    }
    if (stream->place.capture == NULL && event->mark == &event->own) {
        emu_lane_await(stream->lane, &event->clock);
    }
    else if (stream->place.capture == NULL) {
        emu_lane_await_all(stream->lane); /* another process may have recorded it */
    }
    if (event_defer_wait(stream, event)) {
        return CUDA_SUCCESS;
    }
    event_reach(event);
    return emu_capture_wait(stream, &event->place,
                            atomic_load(&event->mark->recorded) != 0, &taken);
}

CUresult
emu_cuStreamWaitEvent(emu_stream *stream, CUevent hEvent, unsigned int Flags)
{
    emu_event *event = emu_object_get(hEvent, EMU_EVENT); /* of any context */

    if (Flags > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (event == NULL) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return event_wait(stream, event, Flags != 0);
}
