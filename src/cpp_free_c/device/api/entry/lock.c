/* The API lock, and what a fork does to it. See lock.h. */
#define _GNU_SOURCE
#include "device/api/entry/lock.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "device/machine/warp/wait.h"

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    _Atomic bool initialised;
    _Atomic bool forked;
} api = {.mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static _Thread_local emu_call current_call;

/* In the child of a fork another thread may have held the lock, and the handles are the
 * parent's. The child may still initialise a device that the parent had not. */
static void
lock_after_fork(void)
{
    pthread_mutex_init(&api.mutex, NULL);
    pthread_cond_init(&api.wake, NULL);
    if (atomic_load(&api.initialised)) {
        atomic_store(&api.forked, true);
    }
}

static void
lock_prepare(void)
{
    (void)pthread_atfork(NULL, NULL, lock_after_fork); /* fails only without memory */
}

void
emu_lock(void)
{
    pthread_once(&prepared, lock_prepare);
    pthread_mutex_lock(&api.mutex);
}

void
emu_unlock(void)
{
    pthread_mutex_unlock(&api.mutex);
}

void
emu_lock_for(emu_call call)
{
    emu_lock();
    current_call = call;
}

emu_call
emu_lock_call(void)
{
    return current_call;
}

emu_call
emu_lock_pause(void)
{
    emu_call call = current_call;

    pthread_mutex_unlock(&api.mutex);
    return call;
}

void
emu_lock_resume(emu_call call)
{
    pthread_mutex_lock(&api.mutex);
    current_call = call;
}

bool
emu_lock_wait(void)
{
    const struct timespec deadline = emu_wait_deadline();
    bool ends = false;

    if (pthread_cond_timedwait(&api.wake, &api.mutex, &deadline) == ETIMEDOUT) {
        const emu_call call = emu_lock_pause();

        ends = emu_wait_poll();
        emu_wait_count_threads();
        emu_lock_resume(call);
    }
    return ends;
}

void
emu_lock_wake(void)
{
    pthread_cond_broadcast(&api.wake);
}

void
emu_mark_initialised(void)
{
    atomic_store(&api.initialised, true);
}

bool
emu_is_initialised(void)
{
    return atomic_load(&api.initialised);
}

bool
emu_is_forked(void)
{
    return atomic_load(&api.forked);
}
