/* Deferred streams. See deferred.h. */
#define _GNU_SOURCE
#include "device/api/entry/deferred.h"

#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"
#include "device/api/entry/users.h"

typedef struct emu_deferred_item {
    struct emu_deferred_item *next;
    const emu_work *work;
    emu_operation *operation; /* NULL: the check of streams is off */
    _Alignas(16) char payload[];
} deferred_item;

bool emu_deferred_on;
static bool deferred_has_order; /* matters for what is reported; set once, by cuInit */
static emu_stream *deferred_streams; /* that keep work; guarded by the API lock */

CUresult
emu_deferred_open(void)
{
    const unsigned both = EMU_CHECK_SYNC | EMU_CHECK_INIT;
    const char *value = getenv("PYCUDA_EMULATOR_STREAMS");

    deferred_has_order = (emu_checks_wanted() & both) == both;
    if (value == NULL || *value == 0) {
        /* the check finds more if work runs late */
        emu_deferred_on = (emu_checks_wanted() & EMU_CHECK_SYNC) != 0;
        return CUDA_SUCCESS;
    }
    if (strcmp(value, "eager") == 0) {
        emu_deferred_on = false;
        return CUDA_SUCCESS;
    }
    if (strcmp(value, "late") == 0) {
        emu_deferred_on = true;
        return CUDA_SUCCESS;
    }
    emu_message_set("PYCUDA_EMULATOR_STREAMS is \"%s\"; it must be eager or late.",
                    value);
    return CUDA_ERROR_INVALID_VALUE;
}

static void
deferred_list(emu_stream *stream)
{
    emu_deferred_queue *queue = &stream->deferred;

    queue->last = &queue->first;
    queue->previous = NULL;
    queue->next = deferred_streams;
    if (queue->next != NULL) {
        queue->next->deferred.previous = stream;
    }
    deferred_streams = stream;
    emu_wait_set_deferred(true);
}

static void
deferred_unlist(emu_stream *stream)
{
    emu_deferred_queue *queue = &stream->deferred;

    if (queue->previous != NULL) {
        queue->previous->deferred.next = queue->next;
    }
    else {
        deferred_streams = queue->next;
    }
    if (queue->next != NULL) {
        queue->next->deferred.previous = queue->previous;
    }
    queue->next = queue->previous = NULL;
    emu_wait_set_deferred(deferred_streams != NULL);
}

/* Whether the first item of the stream can run now, or there is none. */
static bool
deferred_is_ready(const emu_stream *stream)
{
    const deferred_item *first = stream->deferred.first;

    return first == NULL || first->work->is_ready == NULL ||
           first->work->is_ready(first->payload);
}

/* Whether the stream must keep work: all streams do, or work ahead of it waits, or the
 * work itself does. */
static bool
deferred_must_keep(const emu_stream *stream, const emu_work *work, const void *payload)
{
    if (stream->is_null) {
        return false;
    }
    if (work->is_ready != NULL && !work->is_ready(payload)) {
        return true;
    }
    return (emu_deferred_on || stream->deferred.first != NULL) &&
           (work->can_wait == NULL || work->can_wait(payload));
}

bool
emu_deferred_keep(emu_stream *stream, const emu_work *work, const void *payload,
                  size_t size)
{
    emu_deferred_queue *queue = &stream->deferred;
    deferred_item *item;

    if (!deferred_must_keep(stream, work, payload)) {
        return false;
    }
    item = calloc(1, sizeof(*item) + size);
    if (item == NULL) {
        return false; /* running it now is correct too */
    }
    item->work = work;
    memcpy(item->payload, payload, size);
    if (work->begin != NULL && work->begin(item->payload) != CUDA_SUCCESS) {
        free(item);
        return false;
    }
    item->operation = emu_operation_new(stream->lane, emu_call_name(emu_lock_call()));
    if (item->operation != NULL && work->use != NULL) {
        work->use(item->payload, item->operation);
    }
    if (queue->first == NULL) {
        deferred_list(stream);
    }
    *queue->last = item;
    queue->last = &item->next;
    queue->kept++;
    return true;
}

/* Take the first item out. The caller holds the stream's turn, so the item runs before
 * the next one. */
static deferred_item *
deferred_take_first(emu_stream *stream)
{
    emu_deferred_queue *queue = &stream->deferred;
    deferred_item *first;

    emu_lock();
    first = queue->first;
    if (first != NULL) {
        queue->first = first->next;
        if (queue->first == NULL) {
            deferred_unlist(stream);
        }
    }
    emu_unlock();
    return first;
}

/* Run an item in the stream's turn and free it. `status` is that of the context: after
 * a fault, or when a signal has ended the call, the item is dropped. */
static CUresult
deferred_run_item(emu_stream *stream, deferred_item *item, CUresult status,
                  emu_report *report)
{
    const emu_work *work = item->work;

    if (status != CUDA_SUCCESS || emu_wait_interrupted()) {
        emu_operation_drop(item->operation);
    }
    else if (work->run != NULL) {
        emu_operation_begin(item->operation);
        status = work->run(item->payload, stream->object.context, report);
        emu_operation_end();
    }
    else {
        emu_operation_drop(item->operation); /* such as a wait: the clock has it */
    }
    emu_lock();
    if (work->end != NULL) {
        work->end(item->payload);
    }
    stream->deferred.done++;
    emu_unlock();
    free(item);
    return status;
}

/* Run one item of another stream, if one is ready: the stream waits for such work. */
static bool
deferred_help(const emu_stream *stream)
{
    emu_stream *other = deferred_streams;

    while (other != NULL && (other == stream || !deferred_is_ready(other))) {
        other = other->deferred.next;
    }
    return other != NULL && emu_deferred_run(other, other->deferred.done + 1);
}

/* Wait until the first item of the stream can run. No turn is held meanwhile, so that
 * other streams and threads go on. A signal ends the wait. */
static void
deferred_await(emu_stream *stream)
{
    while (!deferred_is_ready(stream) && !emu_wait_interrupted()) {
        if (!deferred_help(stream)) {
            (void)emu_lock_wait(); /* emu_wait_interrupted tells of a signal */
        }
    }
}

void
emu_deferred_advance(emu_stream *stream, uint64_t until)
{
    const emu_deferred_queue *queue = &stream->deferred;

    while (queue->done < until && deferred_is_ready(stream) &&
           emu_deferred_run(stream, queue->done + 1)) {
    }
}

void
emu_deferred_drop(emu_stream *stream)
{
    emu_deferred_queue *queue = &stream->deferred;

    while (queue->first != NULL) {
        deferred_item *item = queue->first;

        queue->first = item->next;
        queue->done++;
        if (item->work->end != NULL) {
            item->work->end(item->payload);
        }
        emu_operation_drop(item->operation);
        free(item);
        if (queue->first == NULL) {
            deferred_unlist(stream);
        }
    }
}

bool
emu_deferred_any(void)
{
    return deferred_streams != NULL;
}

/* Whether kept work may conflict with new work: with the first item of `stream`, or if
 * that is NULL, with `uses`. */
static bool
deferred_meets(const deferred_item *item, const emu_stream *stream,
               const emu_uses *uses)
{
    if (stream != NULL) {
        return emu_operation_may_race(item->operation,
                                      stream->deferred.first->operation);
    }
    return emu_operation_may_meet(item->operation, uses);
}

/* A stream that keeps such work, or NULL. `until` is set as emu_deferred_advance needs
 * it to run the work. */
static emu_stream *
deferred_find_earlier(const emu_stream *stream, const emu_uses *uses, uint64_t *until)
{
    for (emu_stream *other = deferred_streams; other != NULL;
         other = other->deferred.next) {
        *until = other->deferred.done;
        for (const deferred_item *item = other->deferred.first; item != NULL;
             item = item->next) {
            ++*until;
            if (deferred_meets(item, stream, uses)) {
                return other;
            }
        }
    }
    return NULL;
}

/* Run the work of other streams that was enqueued earlier and may conflict with new
 * work, as far as it is ready. Without that, the check `init` would report a missing
 * wait as a read of memory that nothing has written, and end the new work. The check
 * `sync` reports it in either order. */
static void
deferred_run_earlier(const emu_stream *stream, const emu_uses *uses)
{
    while (stream == NULL || stream->deferred.first != NULL) {
        uint64_t until;
        emu_stream *other = deferred_find_earlier(stream, uses, &until);

        if (other == NULL) {
            return;
        }
        emu_deferred_advance(other, until);
        if (other->deferred.done < until) {
            return; /* it waits for a value, or a signal has ended the call */
        }
    }
}

bool
emu_deferred_needs_uses(void)
{
    return deferred_has_order && deferred_streams != NULL;
}

void
emu_deferred_run_earlier(const emu_uses *uses)
{
    deferred_run_earlier(NULL, uses);
}

bool
emu_deferred_run(emu_stream *stream, uint64_t until)
{
    emu_deferred_queue *queue = &stream->deferred;
    emu_context *context = stream->object.context;

    for (;;) {
        emu_report report = {.text = ""};
        CUresult status;
        deferred_item *item;
        int token;

        if (queue->done < until && deferred_has_order) {
            emu_users_add(&stream->object);
            deferred_run_earlier(stream, NULL);
            emu_users_remove(&stream->object);
        }
        status = emu_context_status(context);
        if (queue->done < until) {
            deferred_await(stream);
        }
        if (emu_wait_interrupted()) {
            until = queue->kept;
        }
        if (queue->done >= until) {
            return true;
        }
        token = emu_stream_turn(stream);
        if (token < 0) {
            return false;
        }
        item = deferred_take_first(stream);
        if (item != NULL) {
            status = deferred_run_item(stream, item, status, &report);
        }
        if (status != CUDA_SUCCESS && status != EMU_INTERRUPTED) {
            emu_context_fail(context, status);
        }
        emu_stream_end(stream, token);
        emu_message_set_report(&report);
    }
}

/* The first stream that keeps work: a blocking one of that context, or any for NULL. */
static emu_stream *
deferred_find(const emu_context *context)
{
    emu_stream *stream = deferred_streams;

    while (stream != NULL && context != NULL &&
           (stream->object.context != context || !emu_stream_is_blocking(stream))) {
        stream = stream->deferred.next;
    }
    return stream;
}

static void
deferred_run_all(const emu_context *context)
{
    emu_stream *stream = deferred_find(context);

    while (stream != NULL && emu_deferred_run(stream, stream->deferred.kept)) {
        stream = deferred_find(context);
    }
}

void
emu_deferred_run_before(emu_stream *stream)
{
    if (stream->is_null) {
        deferred_run_all(stream->object.context);
    }
    else {
        /* If there is no turn, the caller does not get one either. */
        (void)emu_deferred_run(stream, stream->deferred.kept);
    }
}

bool
emu_deferred_enter(emu_call call)
{
    const unsigned char traits = emu_call_traits[call];

    if (deferred_streams != NULL && (traits & EMU_CALL_RUNS_DEFERRED) != 0) {
        if ((traits & EMU_CALL_ENDS_CONTEXT) != 0) {
            while (deferred_help(NULL)) { /* drops what waits for memory */
            }
        }
        else {
            deferred_run_all(NULL);
        }
    }
    if ((traits & EMU_CALL_WAITS_RUNNING) != 0) {
        emu_running_settle(emu_context_top());
    }
    return (traits & EMU_CALL_IS_INTERRUPTIBLE) != 0;
}
