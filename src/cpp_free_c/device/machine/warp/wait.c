/* Waits. See wait.h. */
#define _GNU_SOURCE
#include "device/machine/warp/wait.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic(emu_host) host;

_Thread_local bool emu_wait_has_polled;

/* The present call of this thread. */
static _Thread_local struct {
    bool interrupted;              /* the host has ended the wait */
    uint64_t next;                 /* when to poll; 0: not set yet */
    unsigned depth;                /* nested polls of this thread */
    bool is_stuck;                 /* counted in threads.waiting */
    const _Atomic bool *cancelled; /* of a thread of the device */
} call;

/* The threads of the program that have used the device. */
static struct {
    pthread_once_t once;
    pthread_key_t key;        /* its destructor runs when a thread ends */
    _Atomic unsigned known;   /* that have not ended */
    _Atomic unsigned waiting; /* of them, those that wait for the device */
    _Atomic uint64_t ends;    /* waits that have ended */
    _Atomic unsigned device;  /* of the known, those of the device */
    _Atomic int counted;      /* the last count of the program's; 0: none */
    _Atomic bool deferred;    /* streams keep work that they will run */
} threads = {.once = PTHREAD_ONCE_INIT};

static void
wait_thread_ends(void *unused)
{
    (void)unused;
    atomic_fetch_sub(&threads.known, 1);
}

static void
wait_make_key(void)
{
    (void)pthread_key_create(&threads.key, wait_thread_ends);
}

void
emu_wait_thread_begins(void)
{
    (void)pthread_once(&threads.once, wait_make_key);
    /* if this fails because memory is exhausted, the thread counts as free even
     * after its end */
    (void)pthread_setspecific(threads.key, &threads);
    atomic_fetch_add(&threads.known, 1);
}

void
emu_wait_set_stuck(bool is_stuck)
{
    if (call.is_stuck != is_stuck) {
        call.is_stuck = is_stuck;
        if (is_stuck) {
            atomic_fetch_add(&threads.waiting, 1);
        }
        else {
            atomic_fetch_sub(&threads.waiting, 1);
            atomic_fetch_add(&threads.ends, 1);
        }
    }
}

void
emu_wait_set_deferred(bool keeps)
{
    atomic_store(&threads.deferred, keeps);
}

bool
emu_wait_is_any_free(uint64_t *seen)
{
    const uint64_t ends = atomic_load(&threads.ends), before = *seen;

    *seen = ends;
    return before != ends || atomic_load(&threads.deferred) ||
           atomic_load(&threads.known) > atomic_load(&threads.waiting);
}

bool
emu_wait_is_any_new(void)
{
    const emu_host ask = atomic_load(&host);
    const int known = (int)(atomic_load(&threads.known) - atomic_load(&threads.device));
    int count = 0;

    if (ask == NULL) {
        return false;
    }
    if (call.cancelled == NULL) {
        return ask(EMU_HOST_THREADS) > known;
    }
    count = atomic_load(&threads.counted);
    return count == 0 || count > known;
}

void
emu_wait_count_threads(void)
{
    const emu_host ask = atomic_load(&host);

    if (ask != NULL && call.cancelled == NULL && atomic_load(&threads.device) > 0) {
        atomic_store(&threads.counted, ask(EMU_HOST_THREADS));
    }
}

void
emu_wait_device_begins(const _Atomic bool *cancelled)
{
    call.cancelled = cancelled;
    atomic_fetch_add(&threads.device, 1);
    atomic_fetch_add(&threads.known, 1);
}

void
emu_wait_device_ends(void)
{
    emu_wait_set_stuck(false);
    atomic_fetch_sub(&threads.known, 1);
    atomic_fetch_sub(&threads.device, 1);
}

bool
emu_wait_may_leave(void)
{
    return call.cancelled == NULL && call.depth == 0;
}

const _Atomic bool *
emu_wait_cancelled(void)
{
    return call.cancelled;
}

void
emu_set_host(emu_host function)
{
    atomic_store(&host, function);
}

bool
emu_wait_poll(void)
{
    const emu_host ask = atomic_load(&host);
    bool interrupted = call.interrupted;

    if (call.cancelled != NULL) {
        call.interrupted |= atomic_load(call.cancelled);
        return call.interrupted;
    }
    if (ask == NULL) {
        return false;
    }
    call.depth++; /* nested calls of the host use the same record */
    interrupted |= ask(EMU_HOST_POLL) != 0;
    call.depth--;
    emu_wait_has_polled = true;
    call.interrupted = interrupted;
    return interrupted;
}

bool
emu_wait_poll_at(uint64_t now)
{
    bool interrupted = false;

    if (call.next && now >= call.next) {
        interrupted = emu_wait_poll();
        call.next = 0; /* the host may have taken long */
    }
    if (!call.next) {
        call.next = now + EMU_POLL_NANOSECONDS;
    }
    return interrupted;
}

bool
emu_wait_poll_due(void)
{
    return emu_wait_poll_at(emu_clock_steady());
}

bool
emu_wait_interrupted(void)
{
    return call.interrupted;
}

bool
emu_wait_is_nested(void)
{
    return call.depth > 0;
}

CUresult
emu_wait_status(void)
{
    if (call.interrupted) {
        return EMU_INTERRUPTED;
    }
    return CUDA_ERROR_NOT_PERMITTED;
}

void
emu_wait_leave(void)
{
    const emu_host tell = atomic_load(&host);

    call.interrupted = false;
    call.next = 0;
    emu_wait_has_polled = false;
    if (tell) {
        (void)tell(EMU_HOST_RETURN);
    }
}

struct timespec
emu_wait_deadline(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += (long)EMU_POLL_NANOSECONDS;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

/* -- clocks ------------------------------------------------------------------------ */

static uint64_t
clock_read(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t
emu_clock_steady(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t
emu_clock_coarse(void)
{
    return clock_read(CLOCK_MONOTONIC_COARSE);
}

uint64_t
emu_clock_of_day(void)
{
    return clock_read(CLOCK_REALTIME);
}
