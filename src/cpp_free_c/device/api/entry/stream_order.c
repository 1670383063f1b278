/* The turns of streams. See stream_order.h. */
#define _GNU_SOURCE
#include "device/api/entry/stream_order.h"

#include <stdlib.h>

#include "device/check/stream_check.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/pending_free.h"
#include "device/api/entry/users.h"

typedef struct emu_order {
    pthread_rwlock_t lock;
} emu_order;

bool
emu_stream_order_open(emu_context *context)
{
    context->order = calloc(1, sizeof(*context->order));
    if (context->order == NULL) {
        return false;
    }
    pthread_rwlock_init(&context->order->lock, NULL);
    return true;
}

void
emu_stream_order_close(emu_context *context)
{
    pthread_rwlock_destroy(&context->order->lock);
    free(context->order);
    context->order = NULL;
}

/* Take the order lock as the stream needs it. False: a signal ended the wait. */
static inline bool
order_take(const emu_stream *stream)
{
    emu_order *order = stream->object.context->order;

    if (stream->is_null) {
        return emu_wait_write(&order->lock);
    }
    if (emu_stream_is_blocking(stream)) {
        return emu_wait_read(&order->lock);
    }
    return true;
}

static inline void
order_give(const emu_stream *stream)
{
    if (stream->is_null || emu_stream_is_blocking(stream)) {
        pthread_rwlock_unlock(&stream->object.context->order->lock);
    }
}

/* Take the API lock again; the stream may be destroyed from now on. */
static inline void
turn_over(emu_stream *stream, int token)
{
    emu_lock_resume((emu_call)token);
    emu_users_remove(&stream->object);
    emu_users_remove(&stream->object.context->object);
}

int
emu_stream_turn(emu_stream *stream)
{
    int token;

    emu_users_add(&stream->object);
    emu_users_add(&stream->object.context->object);
    token = (int)emu_lock_pause();
    if (order_take(stream)) {
        if (emu_wait_mutex(&stream->turn)) {
            emu_lock();
            emu_running_begin(&stream->running, stream->object.context);
            emu_unlock();
            return token;
        }
        order_give(stream);
    }
    turn_over(stream, token);
    return -1;
}

void
emu_stream_end(emu_stream *stream, int token)
{
    emu_operation_end();
    emu_lock();
    emu_running_end(&stream->running);
    emu_pending_free_flush();
    emu_lock_wake();
    emu_unlock();
    pthread_mutex_unlock(&stream->turn);
    order_give(stream);
    turn_over(stream, token);
}
