/* The turns of streams, the list of those that run, and frees that wait for them. See
 * turn.h. */
#define _GNU_SOURCE
#include "device/api/entry/turn.h"

#include <stdlib.h>

#include "device/machine/warp/wait.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"

/* -- work that runs now ------------------------------------------------------------ */

static struct {
    emu_running *first;
    uint64_t last_ticket;
} running; /* guarded by the API lock */

static _Thread_local uint64_t given_up; /* the last ticket given up by this thread */

static void
running_begin(emu_running *work, const emu_context *context)
{
    work->context = context;
    work->ticket = ++running.last_ticket;
    work->next = running.first;
    running.first = work;
}

static void
running_end(emu_running *work)
{
    emu_running **link = &running.first;

    while (*link != work) {
        link = &(*link)->next;
    }
    *link = work->next;
}

/* Whether work of the context is running with a ticket above `after`, up to `last`. */
static bool
running_between(const emu_context *context, uint64_t after, uint64_t last)
{
    for (const emu_running *work = running.first; work != NULL; work = work->next) {
        if (work->context == context && work->ticket > after && work->ticket <= last) {
            return true;
        }
    }
    return false;
}

bool
emu_running_cannot_settle(const emu_context *context)
{
    return emu_wait_is_nested() &&
           running_between(context, given_up, running.last_ticket);
}

void
emu_running_give_up(void)
{
    given_up = running.last_ticket;
}

void
emu_running_settle(const emu_context *context)
{
    const uint64_t last = running.last_ticket;
    bool ends = false;

    if (emu_wait_is_nested() || !running_between(context, given_up, last)) {
        return;
    }
    emu_wait_set_stuck(true);
    while (!ends && running_between(context, given_up, last)) {
        ends = emu_lock_wait();
    }
    emu_wait_set_stuck(false);
}

/* -- frees that wait --------------------------------------------------------------- */

typedef struct pending {
    struct pending *next;
    emu_allocation *allocation;
    bool (*release)(emu_allocation *);
    uint64_t ticket; /* of the last work that may use the memory */
} pending;

static pending *pending_first; /* guarded by the API lock */

static bool
pending_has(const emu_allocation *allocation)
{
    for (const pending *item = pending_first; item != NULL; item = item->next) {
        if (item->allocation == allocation) {
            return true;
        }
    }
    return false;
}

CUresult
emu_pending_free(emu_allocation *allocation, bool (*release)(emu_allocation *))
{
    const emu_context *context = allocation->context;

    if (pending_has(allocation)) {
        return CUDA_ERROR_INVALID_VALUE; /* it was freed before */
    }
    if (context != NULL && emu_running_cannot_settle(context)) {
        pending *item = malloc(sizeof(*item));

        if (item == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        *item = (pending){pending_first, allocation, release, running.last_ticket};
        pending_first = item;
        emu_count_free(context);
        return CUDA_SUCCESS;
    }
    emu_count_free(context);
    if (!release(allocation)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Release the allocations whose work has ended. */
static void
pending_flush(void)
{
    pending **link = &pending_first;

    while (*link != NULL) {
        pending *item = *link;

        if (running_between(item->allocation->context, 0, item->ticket)) {
            link = &item->next;
        }
        else {
            *link = item->next;
            (void)item->release(item->allocation); /* nothing else can have freed it */
            free(item);
        }
    }
}

/* -- turns ------------------------------------------------------------------------- */

bool
emu_turn_is_free(const emu_stream *stream)
{
    const emu_turns *turns = &stream->object.context->turns;

    if (stream->has_turn) {
        return false;
    }
    if (stream->is_null) {
        return turns->blocking == 0;
    }
    return !emu_stream_is_blocking(stream) || !turns->null;
}

static void
turn_set(emu_stream *stream, bool has_turn)
{
    emu_turns *turns = &stream->object.context->turns;

    stream->has_turn = has_turn;
    if (stream->is_null) {
        turns->null = has_turn;
    }
    else if (emu_stream_is_blocking(stream) && has_turn) {
        turns->blocking++;
    }
    else if (emu_stream_is_blocking(stream)) {
        turns->blocking--;
    }
}

/* Wait until the stream can have a turn. False: a nested call, or a signal. */
static bool
turn_wait(const emu_stream *stream)
{
    bool ends = emu_wait_is_nested();

    emu_wait_set_stuck(!ends);
    while (!ends && !emu_turn_is_free(stream)) {
        ends = emu_lock_wait();
    }
    emu_wait_set_stuck(false);
    return !ends;
}

int
emu_turn_begin(emu_stream *stream)
{
    emu_users_add(&stream->object);
    emu_users_add(&stream->object.context->object);
    if (!emu_turn_is_free(stream) && !turn_wait(stream)) {
        emu_users_remove(&stream->object);
        emu_users_remove(&stream->object.context->object);
        return -1;
    }
    turn_set(stream, true);
    running_begin(&stream->running, stream->object.context);
    return (int)emu_lock_pause();
}

void
emu_turn_end(emu_stream *stream, int token)
{
    emu_lock_resume((emu_call)token);
    running_end(&stream->running);
    turn_set(stream, false);
    pending_flush();
    emu_lock_wake();
    emu_users_remove(&stream->object);
    emu_users_remove(&stream->object.context->object);
}
