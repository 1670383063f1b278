/* Submitting, keeping and running work. See queue.h. */
#define _GNU_SOURCE
#include "device/api/entry/queue.h"

#include <pthread.h>
#include <signal.h>
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
    uint64_t number;          /* of kept items, in the order of their calls */
    size_t size;              /* of the payload */
    const void *owner;        /* the thread that enqueued it */
    bool is_kept, flushes;
    bool is_uncounted; /* it has left while the stream kept other items */
    void *left;        /* what another thread must go on with, or NULL */
    int token;         /* of its turn, then */
    _Alignas(16) char copy[];
} queue_item;

bool emu_queue_keeps_all;
static bool queue_has_order; /* matters for what is reported; set once, by cuInit */

/* Guarded by the API lock. */
static emu_stream *queue_streams; /* with kept items that are not done */
static unsigned queue_threads;    /* streams that have a thread of the device */
static uint64_t queue_last_number;

static _Thread_local uint64_t
    queue_given_up;                    /* the last item given up by this thread */
static _Thread_local char queue_owner; /* its address names the thread */

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

/* -- the list of streams that keep work -------------------------------------------- */

/* Tell whether there is work that no thread of the device will run by itself. */
static void
queue_tell_deferred(void)
{
    const emu_stream *stream = queue_streams;

    while (stream != NULL &&
           (stream->queue.has_thread || stream->queue.first == NULL)) {
        stream = stream->queue.next;
    }
    emu_wait_set_deferred(stream != NULL);
}

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
}

static bool
queue_has_work(const emu_stream *stream)
{
    return stream->queue.done < stream->queue.kept;
}

/* Count an item that has run or was dropped. */
static void
queue_item_done(emu_stream *stream, const queue_item *item)
{
    stream->queue.done += !item->is_uncounted;
    if (!queue_has_work(stream)) {
        queue_unlist(stream);
    }
    queue_tell_deferred();
}

/* -- one item ---------------------------------------------------------------------- */

static bool item_leave(emu_stream *stream, queue_item *item, int token);

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
    if (item->left != NULL) {
        return item->work->go_on(item->left, item->payload, context, report);
    }
    if (item->operation == NULL) {
        return item->work->run(item->payload, context, report);
    }
    emu_operation_begin(item->operation);
    status = item->work->run(item->payload, context, report);
    emu_operation_end();
    return status;
}

/* Run an item in the turn of its stream, and end the turn. After a fault of the
 * context, or with a status that is no success, it is dropped. EMU_GOES_ON: a thread of
 * the device has the item and its turn. */
static CUresult
item_run(emu_stream *stream, queue_item *item, CUresult status, int token)
{
    const emu_work *work = item->work;
    emu_context *context = stream->object.context;
    emu_report report;

    report.text[0] = 0; /* enough, and cheap: work with a report fills all of it */
    report.may_leave = item->operation == NULL && emu_wait_may_leave();
    report.leaves_at = 0;
    if (status == CUDA_SUCCESS && !work->runs_after_fault && item->left == NULL) {
        status = emu_context_status(context);
    }
    if (status == CUDA_SUCCESS && work->run != NULL) {
        status = item_do(item, context, &report);
    }
    else {
        emu_operation_drop(item->operation); /* such as a wait: the clock has it */
    }
    if (status == EMU_GOES_ON) {
        item->left = report.left;
        if (item_leave(stream, item, token)) {
            return status;
        }
        report.may_leave = false;
        status = item_do(item, context, &report);
    }
    if (item->flushes) {
        emu_services_flush(context);
    }
    if (item->is_kept) {
        emu_lock();
        emu_message_set_report(&report); /* before anyone sees that it is done */
        if (status != CUDA_SUCCESS && status != EMU_INTERRUPTED) {
            emu_context_fail(context, status); /* no call can return it */
        }
        stream->queue.running = 0;
        queue_item_done(stream, item);
        emu_unlock();
    }
    emu_turn_end(stream, token);
    if (work->end != NULL) {
        work->end(item->payload);
    }
    if (!item->is_kept) {
        emu_message_set_report(&report);
    }
    return status;
}

/* -- streams that keep work -------------------------------------------------------- */

static bool queue_start(emu_stream *stream);
static void queue_start_all(void);
static bool queue_run_here(emu_stream *stream, uint64_t until);

/* Whether the null stream and another stream wait for each other. */
static bool
queue_are_ordered(const emu_stream *a, const emu_stream *b)
{
    return a != b && a->object.context == b->object.context &&
           (a->is_null || b->is_null) && emu_stream_is_blocking(a) &&
           emu_stream_is_blocking(b);
}

/* The number of the oldest item that is not done. */
static uint64_t
queue_oldest(const emu_stream *stream)
{
    const emu_queue *queue = &stream->queue;

    if (queue->running != 0) {
        return queue->running;
    }
    return queue->first != NULL ? queue->first->number : UINT64_MAX;
}

/* Whether a stream that is ordered with this one has an item from before `number` that
 * is not done. Without threads of the device, the order is that of the calls. */
static bool
queue_is_behind(const emu_stream *stream, uint64_t number)
{
    const emu_stream *other = queue_streams;

    if (queue_threads == 0) {
        return false;
    }
    while (other != NULL) {
        if (queue_oldest(other) < number && queue_are_ordered(stream, other)) {
            return true;
        }
        other = other->queue.next;
    }
    return false;
}

bool
emu_queue_is_busy(const emu_stream *stream)
{
    return queue_threads > 0 &&
           (queue_has_work(stream) || queue_is_behind(stream, UINT64_MAX));
}

/* Whether the first item of the stream can run now, or there is none. After a fault of
 * the context it can: it is dropped, since nothing may be left that ends its wait. */
static bool
queue_is_ready(const emu_stream *stream)
{
    const queue_item *first = stream->queue.first;

    return first == NULL ||
           (!queue_is_behind(stream, first->number) &&
            (first->work->is_ready == NULL ||
             emu_context_status(stream->object.context) != CUDA_SUCCESS ||
             first->work->is_ready(first->payload)));
}

/* Whether new work in the stream has to wait for a thread of the device. */
static bool
queue_waits(const emu_stream *stream, const emu_work *work, const void *payload)
{
    return queue_threads > 0 && work_time(work, payload) <= EMU_WORK_SOON &&
           (emu_queue_is_busy(stream) ||
            (work->is_ready != NULL && !work->is_ready(payload)));
}

/* Whether the stream must keep other work: all streams do, or work ahead of it waits,
 * or the work itself does. */
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

/* Add work to the items of a stream. False: it must run now. */
static bool
queue_add(emu_stream *stream, const emu_work *work, const void *payload, size_t size)
{
    emu_queue *queue = &stream->queue;
    queue_item *item;

    item = calloc(1, sizeof(*item) + size);
    if (item == NULL) {
        return false; /* running it now is correct too */
    }
    *item = (queue_item){.work = work,
                         .payload = item->copy,
                         .last_hold = emu_memory_last_hold(),
                         .number = ++queue_last_number,
                         .size = size,
                         .owner = &queue_owner,
                         .is_kept = true};
    memcpy(item->copy, payload, size);
    if (work->begin != NULL && work->begin(item->copy) != CUDA_SUCCESS) {
        free(item);
        return false;
    }
    item->operation = item_operation(stream, work, item->copy);
    if (!queue_has_work(stream)) {
        queue_list(stream);
    }
    if (queue->first == NULL) {
        queue->last = &queue->first;
    }
    *queue->last = item;
    queue->last = &item->next;
    queue->kept++;
    queue_tell_deferred();
    return true;
}

/* Keep work that must wait for a thread of the device, for such a thread. */
static bool
queue_keep_behind(emu_stream *stream, const emu_work *work, const void *payload,
                  size_t size)
{
    if (!queue_waits(stream, work, payload) ||
        !queue_add(stream, work, payload, size)) {
        return false;
    }
    (void)queue_start(stream); /* without it, a call runs it that waits for it */
    return true;
}

bool
emu_queue_keep(emu_stream *stream, const emu_work *work, const void *payload,
               size_t size)
{
    const emu_queue *queue = &stream->queue;

    if (!queue_keep_behind(stream, work, payload, size) &&
        (!queue_must_keep(stream, work, payload) ||
         !queue_add(stream, work, payload, size))) {
        return false;
    }
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
        queue->running = first->number;
        queue->owner = first->owner;
        queue_tell_deferred();
    }
    emu_unlock();
    return first;
}

/* Run one item of another stream, if one is ready: the stream waits for such work. */
static bool
queue_help(const emu_stream *stream)
{
    emu_stream *other = queue_streams;

    while (other != NULL && (other == stream || other->queue.has_thread ||
                             other->queue.first == NULL || !queue_is_ready(other))) {
        other = other->queue.next;
    }
    return other != NULL && queue_run_here(other, other->queue.done + 1);
}

/* Whether another thread, or an item that has left another thread, comes first. */
static bool
queue_must_yield(const emu_stream *stream)
{
    if (emu_wait_cancelled() != NULL) {
        return stream->queue.rest != NULL;
    }
    return stream->queue.has_thread;
}

/* Wait until the first item of the stream can run, or this thread must not run it. No
 * turn is held meanwhile, so that other streams and threads go on. A signal ends the
 * wait. */
static void
queue_await(emu_stream *stream)
{
    const bool is_device = emu_wait_cancelled() != NULL;
    bool is_ready = queue_is_ready(stream);

    emu_users_add(&stream->object);
    emu_users_add(&stream->object.context->object);
    while ((!is_ready || !(emu_turn_is_free(stream) || emu_wait_is_nested())) &&
           !queue_must_yield(stream) && !emu_wait_interrupted()) {
        emu_wait_set_stuck(is_device || is_ready);
        if (is_device || is_ready || !queue_help(stream)) {
            (void)emu_lock_wait(); /* emu_wait_interrupted tells of a signal */
        }
        is_ready = queue_is_ready(stream);
    }
    emu_wait_set_stuck(false);
    emu_users_remove(&stream->object.context->object);
    emu_users_remove(&stream->object);
}

void
emu_queue_advance(emu_stream *stream, uint64_t until)
{
    const emu_queue *queue = &stream->queue;

    while (queue->done < until && !queue->has_thread && queue_is_ready(stream) &&
           queue_run_here(stream, queue->done + 1)) {
    }
    if (queue->has_thread) {
        queue_start_all(); /* it may wait for other streams */
    }
}

emu_stream *
emu_queue_keeper(const emu_stream *stream, uint64_t serial)
{
    emu_stream *found = queue_streams;

    while (found != NULL && (found != stream || found->object.serial != serial)) {
        found = found->queue.next;
    }
    return found;
}

void
emu_queue_drop(emu_stream *stream)
{
    emu_queue *queue = &stream->queue;

    while (queue->first != NULL) {
        queue_item *item = queue->first;

        queue->first = item->next;
        queue_item_done(stream, item);
        if (item->work->end != NULL) {
            item->work->end(item->payload);
        }
        emu_operation_drop(item->operation);
        free(item);
    }
}

/* -- threads of the device --------------------------------------------------------- */

/* Go on with the item that has left the thread which enqueued it. */
static void
queue_go_on(emu_stream *stream)
{
    queue_item *item = stream->queue.rest;

    stream->queue.rest = NULL;
    (void)emu_lock_pause();
    (void)item_run(stream, item, CUDA_SUCCESS, item->token);
    free(item);
}

/* Go on with the item that has left, then run the items behind it until there is none.
 */
static void *
queue_thread(void *argument)
{
    emu_stream *stream = argument;
    emu_queue *queue = &stream->queue;

    emu_wait_device_begins(&queue->cancelled);
    emu_lock_for((emu_call)0);
    while (queue->rest != NULL || queue_has_work(stream)) {
        if (queue->rest != NULL) {
            queue_go_on(stream);
        }
        else {
            (void)queue_run_here(stream, queue->kept);
        }
    }
    queue->has_thread = false;
    queue_threads--;
    stream->object.context->turns.threads--;
    queue_tell_deferred();
    emu_wait_device_ends();
    emu_users_remove(&stream->object.context->object);
    emu_users_remove(&stream->object);
    emu_lock_wake();
    if (queue->is_orphan) {
        emu_users_wait(&stream->object);
        stream->object.destroy(&stream->object);
    }
    emu_unlock();
    return NULL;
}

/* Signals of the program are for its own threads, faults are for any. */
static void
queue_block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all;

    (void)sigfillset(&all);
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        (void)sigdelset(&all, faults[i]);
    }
    (void)pthread_sigmask(SIG_BLOCK, &all, before);
}

static bool
queue_make_thread(emu_stream *stream)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t before;

    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    queue_block_signals(&before);
    const bool made = pthread_create(&thread, &attributes, queue_thread, stream) == 0;

    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return made;
}

static bool
queue_start(emu_stream *stream)
{
    emu_queue *queue = &stream->queue;

    if (queue->has_thread) {
        return true;
    }
    atomic_store(&queue->cancelled, false);
    if (!queue_make_thread(stream)) {
        return false;
    }
    queue->has_thread = true;
    queue_threads++;
    stream->object.context->turns.threads++;
    emu_users_add(&stream->object);
    emu_users_add(&stream->object.context->object);
    queue_tell_deferred();
    return true;
}

/* Start a thread for each stream that keeps work: a thread of the program waits for a
 * stream with such a thread, whose work may wait for any other. */
static void
queue_start_all(void)
{
    for (emu_stream *stream = queue_streams; stream != NULL;
         stream = stream->queue.next) {
        (void)queue_start(stream);
    }
}

/* Give a thread of the device an item that has left the thread which enqueued it, and
 * take the API lock. False: there is no thread, and the lock is not taken. */
static bool
item_leave(emu_stream *stream, queue_item *item, int token)
{
    emu_queue *queue = &stream->queue;
    queue_item *rest = item;

    if (!item->is_kept) {
        rest = malloc(sizeof(*rest) + item->size);
        if (rest == NULL) {
            return false;
        }
        *rest = *item;
        memcpy(rest->copy, item->payload, item->size);
        rest->payload = rest->copy;
        rest->is_kept = true;
    }
    emu_lock_resume((emu_call)token);
    if (!queue_start(stream)) {
        emu_unlock();
        if (rest != item) {
            free(rest);
        }
        return false;
    }
    rest->token = token;
    queue->rest = rest;
    if (rest != item) {
        rest->number = ++queue_last_number;
        rest->is_uncounted = queue->first != NULL;
        if (!queue_has_work(stream)) {
            queue_list(stream);
        }
        queue->kept += !rest->is_uncounted;
        queue->running = rest->number;
    }
    queue->owner = rest->owner;
    queue_tell_deferred();
    emu_lock_wake(); /* the thread may wait for the turn */
    return true;
}

/* Wait until the thread of a stream has done that many items. A signal ends the wait:
 * then the thread ends its kernel and drops the items behind it, if this thread has
 * enqueued the kernel. False: a nested call, which cannot wait. */
static bool
queue_join(emu_stream *stream, uint64_t until)
{
    emu_queue *queue = &stream->queue;
    bool cancels = false, ends = false;

    if (emu_wait_is_nested()) {
        return false;
    }
    emu_users_add(&stream->object);
    emu_users_add(&stream->object.context->object);
    emu_wait_set_stuck(true);
    queue_start_all();
    while (queue->done < until && queue->has_thread && !ends) {
        if (emu_lock_wait() && !cancels) {
            cancels = queue->owner == &queue_owner;
            ends = !cancels;
        }
        if (cancels) {
            until = queue->kept;
            atomic_store(&queue->cancelled, true);
            emu_lock_wake();
        }
    }
    emu_wait_set_stuck(false);
    emu_users_remove(&stream->object.context->object);
    emu_users_remove(&stream->object);
    return !ends;
}

/* Whether a thread of the device runs an item of the context, or can begin one. */
static bool
queue_moves(const emu_context *context)
{
    bool moves = false;

    for (const emu_stream *stream = queue_streams; stream != NULL;
         stream = stream->queue.next) {
        moves |= stream->object.context == context && stream->queue.has_thread &&
                 (stream->queue.running != 0 || queue_is_ready(stream));
    }
    return moves;
}

void
emu_queue_end(const emu_context *context)
{
    bool cancels = false;

    emu_wait_set_stuck(context->turns.threads > 0);
    while (context->turns.threads > 0) {
        cancels |= !queue_moves(context);
        for (emu_stream *stream = queue_streams; cancels && stream != NULL;
             stream = stream->queue.next) {
            if (stream->object.context == context) {
                atomic_store(&stream->queue.cancelled, true);
            }
        }
        if (cancels) {
            emu_lock_wake();
        }
        cancels |= emu_lock_wait();
    }
    emu_wait_set_stuck(false);
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

static bool
queue_run_here(emu_stream *stream, uint64_t until)
{
    emu_queue *queue = &stream->queue;
    const bool is_device = emu_wait_cancelled() != NULL;

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
        if (queue_must_yield(stream)) {
            return true;
        }
        if (is_device) {
            (void)emu_wait_poll(); /* look at the flag */
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
        /* a fault is in the context */
        if (item_run(stream, item, status, token) != EMU_GOES_ON) {
            free(item);
        }
    }
}

bool
emu_queue_run(emu_stream *stream, uint64_t until)
{
    while (stream->queue.done < until) {
        if (stream->queue.has_thread ? !queue_join(stream, until)
                                     : !queue_run_here(stream, until)) {
            return false;
        }
        if (emu_wait_interrupted() && !stream->queue.has_thread) {
            return true; /* what it kept is dropped */
        }
    }
    return true;
}

/* The first stream that keeps work and is a blocking one of that context. */
static emu_stream *
queue_find(const emu_context *context)
{
    emu_stream *stream = queue_streams;

    while (stream != NULL &&
           (stream->object.context != context || !emu_stream_is_blocking(stream))) {
        stream = stream->queue.next;
    }
    return stream;
}

/* The first one that a call which runs deferred work waits for. It waits for threads of
 * the device only if it waits for running work, and then not for those in other
 * contexts or with work that it has given up. */
static emu_stream *
queue_find_awaited(bool waits)
{
    emu_stream *stream = queue_streams;

    while (stream != NULL && stream->queue.has_thread &&
           (!waits || stream->object.context != emu_context_top() ||
            queue_oldest(stream) <= queue_given_up)) {
        stream = stream->queue.next;
    }
    return stream;
}

void
emu_queue_give_up(void)
{
    queue_given_up = queue_last_number;
    emu_running_give_up();
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
        emu_stream *found = queue_find(stream->object.context);

        while (found != NULL && emu_queue_run(found, found->queue.kept)) {
            found = queue_find(stream->object.context);
        }
    }
    else {
        emu_stream *null = stream->object.context->null_stream;

        if (emu_stream_is_blocking(stream) && queue_has_work(null)) {
            (void)emu_queue_run(null, null->queue.kept);
        }
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
            const bool waits = (traits & EMU_CALL_WAITS_RUNNING) != 0;
            emu_stream *stream = queue_find_awaited(waits);

            while (stream != NULL && emu_queue_run(stream, stream->queue.kept)) {
                stream = queue_find_awaited(waits);
            }
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
              size_t size, bool flushes)
{
    queue_item item = {.work = work,
                       .payload = payload,
                       .size = size,
                       .owner = &queue_owner,
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

/* Keep work if the stream must. False: it must run now, for which the stream can have a
 * turn, or has to wait for one. */
static bool
queue_take(emu_stream *stream, const emu_work *work, const void *payload, size_t size,
           emu_submit how)
{
    bool taken = how == EMU_SUBMIT && emu_queue_keep(stream, work, payload, size);

    if (taken || how > EMU_SUBMIT_PROMPTLY ||
        (queue_threads == 0 && emu_turn_is_free(stream)) || emu_wait_is_nested()) {
        return taken;
    }
    taken = queue_keep_behind(stream, work, payload, size);
    /* what runs now may leave its thread */
    emu_users_add(&stream->object);
    emu_users_add(&stream->object.context->object);
    emu_wait_set_stuck(true);
    while (!taken && !emu_turn_is_free(stream) && !emu_lock_wait()) {
        taken = queue_keep_behind(stream, work, payload, size);
    }
    emu_wait_set_stuck(false);
    emu_users_remove(&stream->object.context->object);
    emu_users_remove(&stream->object);
    return taken;
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
    if (status != CUDA_SUCCESS || taken) {
        return status;
    }
    if (queue_take(stream, work, payload, size, how)) {
        return status;
    }
    status = queue_run_now(stream, work, payload, size, waits);
    if (status == EMU_GOES_ON) {
        return CUDA_SUCCESS;
    }
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
