/* Submitting, keeping and running work. See queue.h. */
#define _GNU_SOURCE
#include "device/api/entry/queue.h"

#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/memory/memory.h"
#include "device/sync_check/stream_check.h"
#include "device/machine/services/services.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"
#include "device/api/entry/users.h"

/* A piece of work that a stream keeps or runs. */
typedef struct emu_queue_item {
    struct emu_queue_item *next;
    const emu_work *work;
    const void *payload;      /* `copy`, or the caller's */
    emu_operation *operation; /* NULL: the check of streams is off */
    uint64_t last_hold;       /* when it was enqueued (memory.h) */
    bool is_kept, flushes;
    _Alignas(16) char copy[];
} queue_item;

bool emu_queue_keeps_all;
static bool queue_has_order; /* matters for what is reported; set once, by cuInit */
static emu_stream *queue_streams; /* that keep work; guarded by the API lock */

CUresult
emu_queue_open(void)
{
    const unsigned both = EMU_CHECK_SYNC | EMU_CHECK_INIT;
    const char *value = getenv("PYCUDA_EMULATOR_STREAMS");

    queue_has_order = (emu_checks_wanted() & both) == both;
    if (value == NULL || *value == 0) {
        /* the check finds more if work runs late */
        emu_queue_keeps_all = (emu_checks_wanted() & EMU_CHECK_SYNC) != 0;
        return CUDA_SUCCESS;
    }
    if (strcmp(value, "eager") == 0) {
        emu_queue_keeps_all = false;
        return CUDA_SUCCESS;
    }
    if (strcmp(value, "late") == 0) {
        emu_queue_keeps_all = true;
        return CUDA_SUCCESS;
    }
    emu_message_set("PYCUDA_EMULATOR_STREAMS is \"%s\"; it must be eager or late.",
                    value);
    return CUDA_ERROR_INVALID_VALUE;
}

/* -- one item ---------------------------------------------------------------------- */

static emu_work_time
work_time(const emu_work *work, const void *payload)
{
    if (work->when == NULL) {
        return EMU_WORK_LATE;
    }
    return work->when(payload);
}

/* Make the work an operation of the check of streams, with the memory that it uses.
 * NULL: the check is off. */
static emu_operation *
item_operation(const emu_stream *stream, const emu_work *work, const void *payload)
{
    emu_operation *operation;

    if (stream->lane == NULL) {
        return NULL;
    }
    operation = emu_operation_new(stream->lane, emu_call_name(emu_lock_call()));
    if (work->use != NULL) {
        work->use(payload, operation);
    }
    if (work->uses_are_exact) {
        emu_operation_known(operation);
    }
    return operation;
}

/* Do the work of an item as its operation. */
static CUresult
item_do(const queue_item *item, emu_context *context, emu_report *report)
{
    CUresult status;

    emu_memory_work_hold = item->last_hold;
    if (item->operation == NULL) {
        return item->work->run(item->payload, context, report);
    }
    emu_operation_begin(item->operation);
    status = item->work->run(item->payload, context, report);
    emu_operation_end();
    return status;
}

/* Run an item in the turn of its stream, and end the turn. After a fault of the
 * context, or with a status that is no success, it is dropped. */
static CUresult
item_run(emu_stream *stream, const queue_item *item, CUresult status, int token)
{
    const emu_work *work = item->work;
    emu_context *context = stream->object.context;
    emu_report report;

    report.text[0] = 0; /* enough, and cheap: work with a report fills all of it */
    if (status == CUDA_SUCCESS && !work->runs_after_fault) {
        status = emu_context_status(context);
    }
    if (status == CUDA_SUCCESS && work->run != NULL) {
        status = item_do(item, context, &report);
    }
    else {
        emu_operation_drop(item->operation); /* such as a wait: the clock has it */
    }
    if (item->flushes) {
        emu_services_flush(context);
    }
    if (item->is_kept) {
        if (status != CUDA_SUCCESS && status != EMU_INTERRUPTED) {
            emu_context_fail(context, status); /* no call can return it */
        }
        emu_lock();
        stream->queue.done++;
        emu_unlock();
    }
    emu_turn_end(stream, token);
    if (work->end != NULL) {
        work->end(item->payload);
    }
    emu_message_set_report(&report);
    return status;
}

/* -- streams that keep work -------------------------------------------------------- */

static void
queue_list(emu_stream *stream)
{
    emu_queue *queue = &stream->queue;

    queue->last = &queue->first;
    queue->previous = NULL;
    queue->next = queue_streams;
    if (queue->next != NULL) {
        queue->next->queue.previous = stream;
    }
    queue_streams = stream;
    emu_wait_set_deferred(true);
}

static void
queue_unlist(emu_stream *stream)
{
    emu_queue *queue = &stream->queue;

    if (queue->previous != NULL) {
        queue->previous->queue.next = queue->next;
    }
    else {
        queue_streams = queue->next;
    }
    if (queue->next != NULL) {
        queue->next->queue.previous = queue->previous;
    }
    queue->next = queue->previous = NULL;
    emu_wait_set_deferred(queue_streams != NULL);
}

/* Whether the first item of the stream can run now, or there is none. After a fault of
 * the context it can: it is dropped, since nothing may be left that ends its wait. */
static bool
queue_is_ready(const emu_stream *stream)
{
    const queue_item *first = stream->queue.first;

    return first == NULL || first->work->is_ready == NULL ||
           emu_context_status(stream->object.context) != CUDA_SUCCESS ||
           first->work->is_ready(first->payload);
}

/* Whether the stream must keep work: all streams do, or work ahead of it waits, or the
 * work itself does. */
static bool
queue_must_keep(const emu_stream *stream, const emu_work *work, const void *payload)
{
    if (stream->is_null) {
        return false;
    }
    if (work->is_ready != NULL && !work->is_ready(payload)) {
        return true;
    }
    return (emu_queue_keeps_all || stream->queue.first != NULL) &&
           work_time(work, payload) <= EMU_WORK_SOON;
}

bool
emu_queue_keep(emu_stream *stream, const emu_work *work, const void *payload,
               size_t size)
{
    emu_queue *queue = &stream->queue;
    queue_item *item;

    if (!queue_must_keep(stream, work, payload)) {
        return false;
    }
    item = calloc(1, sizeof(*item) + size);
    if (item == NULL) {
        return false; /* running it now is correct too */
    }
    *item = (queue_item){.work = work,
                         .payload = item->copy,
                         .last_hold = emu_memory_last_hold(),
                         .is_kept = true};
    memcpy(item->copy, payload, size);
    if (work->begin != NULL && work->begin(item->copy) != CUDA_SUCCESS) {
        free(item);
        return false;
    }
    item->operation = item_operation(stream, work, item->copy);
    if (queue->first == NULL) {
        queue_list(stream);
    }
    *queue->last = item;
    queue->last = &item->next;
    queue->kept++;
    if (work_time(work, payload) == EMU_WORK_SOON) {
        emu_queue_advance(stream, queue->kept);
    }
    return true;
}

/* Take the first item out. The caller holds the stream's turn, so the item runs before
 * the next one. */
static queue_item *
queue_take_first(emu_stream *stream)
{
    emu_queue *queue = &stream->queue;
    queue_item *first;

    emu_lock();
    first = queue->first;
    if (first != NULL) {
        queue->first = first->next;
        if (queue->first == NULL) {
            queue_unlist(stream);
        }
    }
    emu_unlock();
    return first;
}

/* Run one item of another stream, if one is ready: the stream waits for such work. */
static bool
queue_help(const emu_stream *stream)
{
    emu_stream *other = queue_streams;

    while (other != NULL && (other == stream || !queue_is_ready(other))) {
        other = other->queue.next;
    }
    return other != NULL && emu_queue_run(other, other->queue.done + 1);
}

/* Wait until the first item of the stream can run. No turn is held meanwhile, so that
 * other streams and threads go on. A signal ends the wait. */
static void
queue_await(emu_stream *stream)
{
    while (!queue_is_ready(stream) && !emu_wait_interrupted()) {
        if (!queue_help(stream)) {
            (void)emu_lock_wait(); /* emu_wait_interrupted tells of a signal */
        }
    }
}

void
emu_queue_advance(emu_stream *stream, uint64_t until)
{
    const emu_queue *queue = &stream->queue;

    while (queue->done < until && queue_is_ready(stream) &&
           emu_queue_run(stream, queue->done + 1)) {
    }
}

void
emu_queue_drop(emu_stream *stream)
{
    emu_queue *queue = &stream->queue;

    while (queue->first != NULL) {
        queue_item *item = queue->first;

        queue->first = item->next;
        queue->done++;
        if (item->work->end != NULL) {
            item->work->end(item->payload);
        }
        emu_operation_drop(item->operation);
        free(item);
        if (queue->first == NULL) {
            queue_unlist(stream);
        }
    }
}

/* -- kept work that must come first ------------------------------------------------ */

/* A stream that keeps work which may conflict with an operation, or NULL. `until` is
 * set as emu_queue_advance needs it to run the work. */
static emu_stream *
queue_find_earlier(const emu_operation *operation, uint64_t *until)
{
    for (emu_stream *other = queue_streams; other != NULL; other = other->queue.next) {
        *until = other->queue.done;
        for (const queue_item *item = other->queue.first; item != NULL;
             item = item->next) {
            ++*until;
            if (emu_operation_may_race(item->operation, operation)) {
                return other;
            }
        }
    }
    return NULL;
}

/* Run work of another stream that was enqueued earlier and may conflict with an
 * operation, as far as it is ready. False: there is none left that can run.
 *
 * Without that, the check `init` would report a missing wait as a read of memory that
 * nothing has written, and end the operation. The check `sync` reports it in either
 * order. */
static bool
queue_run_earlier(const emu_operation *operation)
{
    uint64_t until;
    emu_stream *other = queue_find_earlier(operation, &until);

    if (other == NULL) {
        return false;
    }
    emu_queue_advance(other, until);
    return other->queue.done >= until; /* or it waits for a value, or a signal came */
}

/* Run it for the first item of a stream. */
static void
queue_run_before_first(emu_stream *stream)
{
    emu_users_add(&stream->object);
    while (stream->queue.first != NULL &&
           queue_run_earlier(stream->queue.first->operation)) {
    }
    emu_users_remove(&stream->object);
}

bool
emu_queue_run(emu_stream *stream, uint64_t until)
{
    emu_queue *queue = &stream->queue;

    for (;;) {
        CUresult status = CUDA_SUCCESS;
        queue_item *item;
        int token;

        if (queue->done < until && queue_has_order) {
            queue_run_before_first(stream);
        }
        if (queue->done < until) {
            queue_await(stream);
        }
        if (emu_wait_interrupted()) {
            until = queue->kept;
            status = EMU_INTERRUPTED;
        }
        if (queue->done >= until) {
            return true;
        }
        token = emu_turn_begin(stream);
        if (token < 0) {
            return false;
        }
        item = queue_take_first(stream);
        if (item == NULL) {
            emu_turn_end(stream, token);
            continue;
        }
        (void)item_run(stream, item, status, token); /* a fault is in the context */
        free(item);
    }
}

/* The first stream that keeps work: a blocking one of that context, or any for NULL. */
static emu_stream *
queue_find(const emu_context *context)
{
    emu_stream *stream = queue_streams;

    while (stream != NULL && context != NULL &&
           (stream->object.context != context || !emu_stream_is_blocking(stream))) {
        stream = stream->queue.next;
    }
    return stream;
}

static void
queue_run_all(const emu_context *context)
{
    emu_stream *stream = queue_find(context);

    while (stream != NULL && emu_queue_run(stream, stream->queue.kept)) {
        stream = queue_find(context);
    }
}

/* Run everything that new work in the stream must wait for. False: a signal ended it.
 */
static bool
queue_run_before(emu_stream *stream)
{
    if (queue_streams == NULL) {
        return true;
    }
    if (stream->is_null) {
        queue_run_all(stream->object.context);
    }
    else {
        /* If there is no turn, the caller does not get one either. */
        (void)emu_queue_run(stream, stream->queue.kept);
    }
    return !emu_wait_interrupted();
}

int
emu_queue_begin_turn(emu_stream *stream)
{
    if (!queue_run_before(stream)) {
        return -1;
    }
    return emu_turn_begin(stream);
}

/* Run the deferred work and wait for running work, as the traits of a call say. */
static void
queue_wait(unsigned char traits)
{
    if (queue_streams != NULL && (traits & EMU_CALL_RUNS_DEFERRED) != 0) {
        if ((traits & EMU_CALL_ENDS_CONTEXT) != 0) {
            while (queue_help(NULL)) { /* drops what waits for memory */
            }
        }
        else {
            queue_run_all(NULL);
        }
    }
    if ((traits & EMU_CALL_WAITS_RUNNING) != 0) {
        emu_running_settle(emu_context_top());
    }
}

bool
emu_queue_enter(emu_call call)
{
    const unsigned char traits = emu_call_traits[call];

    queue_wait(traits);
    return (traits & EMU_CALL_IS_INTERRUPTIBLE) != 0;
}

void
emu_queue_settle(void)
{
    queue_wait(EMU_CALL_RUNS_DEFERRED | EMU_CALL_WAITS_RUNNING);
}

/* -- work that runs now ------------------------------------------------------------ */

/* Take the turn of the stream for an item, after all work that must come before. Below
 * 0: there is none. */
static int
item_turn(emu_stream *stream, queue_item *item)
{
    int token;

    if (!queue_run_before(stream)) {
        return -1;
    }
    item->operation = item_operation(stream, item->work, item->payload);
    while (queue_has_order && queue_run_earlier(item->operation)) {
    }
    token = emu_turn_begin(stream);
    if (token < 0) {
        emu_operation_drop(item->operation);
    }
    return token;
}

/* Run work in this thread. The stream lives until the lock is released. */
static CUresult
queue_run_now(emu_stream *stream, const emu_work *work, const void *payload,
              bool flushes)
{
    queue_item item = {.work = work,
                       .payload = payload,
                       .last_hold = emu_memory_last_hold(),
                       .flushes = flushes};
    CUresult status;
    int token;

    if (work->begin != NULL) {
        status = work->begin(payload);
        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    emu_users_add(&stream->object);
    token = item_turn(stream, &item);
    if (token >= 0) {
        status = item_run(stream, &item, CUDA_SUCCESS, token);
    }
    else {
        status = emu_wait_status();
        if (work->end != NULL) {
            work->end(payload);
        }
    }
    emu_users_remove(&stream->object);
    return status;
}

CUresult
emu_queue_submit(emu_stream *stream, const emu_work *work, const void *payload,
                 size_t size, emu_submit how)
{
    const emu_context *context = stream->object.context;
    const bool waits = how == EMU_SUBMIT_AND_WAIT;
    bool taken = false;
    CUresult status;

    if (how == EMU_SUBMIT) {
        status = emu_capture_add(stream, work, payload, size, &taken);
    }
    else {
        status = emu_capture_refuse(stream);
    }
    if (status != CUDA_SUCCESS || taken ||
        (how == EMU_SUBMIT && emu_queue_keep(stream, work, payload, size))) {
        return status;
    }
    status = queue_run_now(stream, work, payload, waits);
    if (status == CUDA_SUCCESS && stream->lane != NULL &&
        (waits || work_time(work, payload) == EMU_WORK_AWAITED)) {
        emu_host_awaits_lane(stream->lane);
    }
    if (status == EMU_INTERRUPTED || emu_context_status(context) == CUDA_SUCCESS) {
        return status;
    }
    if (waits) {
        return emu_context_status(context);
    }
    return CUDA_SUCCESS; /* as on a GPU, the next call reports the fault */
}
