/* The worker threads. See execution.h. */
#define _GNU_SOURCE
#include "device/machine/grid/execution.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/machine/warp/wait.h"

enum { MAX_WORKERS = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* workers wait here */
    pthread_cond_t done; /* the caller waits here */
    pid_t process;       /* the process of these threads */
    unsigned limit;      /* the most threads; 0: not known yet */
    unsigned started;    /* workers */
    bool busy;           /* a caller uses them */
    void (*part)(void *data, unsigned number);
    void *data;
    unsigned wanted;  /* calls that no worker has begun yet */
    unsigned number;  /* of the next call */
    unsigned running; /* calls that workers are in */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

bool
emu_threads_parse(const char *text, unsigned *count)
{
    char *end;
    const long number = strtol(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != 0 || number < 1) {
        return false;
    }
    *count = MAX_WORKERS;
    if (number < MAX_WORKERS) {
        *count = (unsigned)number;
    }
    return true;
}

/* The processors that this process may use. */
static unsigned
threads_cores(void)
{
    cpu_set_t cores;
    int count = 1;

    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
        count = CPU_COUNT(&cores);
    }
    if (count > MAX_WORKERS) {
        count = MAX_WORKERS;
    }
    return (unsigned)count;
}

static unsigned
threads_limit_locked(void)
{
    if (!pool.limit) {
        const char *text = getenv("PYCUDA_EMULATOR_THREADS");

        if (text == NULL || !emu_threads_parse(text, &pool.limit)) {
            pool.limit = threads_cores();
        }
    }
    return pool.limit;
}

unsigned
emu_threads_count(void)
{
    unsigned limit;

    (void)pthread_mutex_lock(&pool.lock);
    limit = threads_limit_locked();
    (void)pthread_mutex_unlock(&pool.lock);
    return limit;
}

static void *
threads_worker(void *unused)
{
    (void)unused;
    (void)pthread_mutex_lock(&pool.lock);
    for (;;) {
        unsigned number;

        while (!pool.wanted) {
            (void)pthread_cond_wait(&pool.work, &pool.lock);
        }
        pool.wanted--;
        pool.running++;
        number = pool.number++;
        (void)pthread_mutex_unlock(&pool.lock);
        pool.part(pool.data, number);
        (void)pthread_mutex_lock(&pool.lock);
        pool.running--;
        if (pool.running == 0) {
            (void)pthread_cond_signal(&pool.done);
        }
    }
    return NULL;
}

static void
threads_start_locked(unsigned count)
{
    pthread_attr_t attributes;

    if (pthread_attr_init(&attributes) != 0) {
        return;
    }
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pool.started < count) {
        pthread_t thread;

        if (pthread_create(&thread, &attributes, threads_worker, NULL) != 0) {
            break;
        }
        pool.started++;
    }
    (void)pthread_attr_destroy(&attributes);
}

void
emu_threads_wake(void)
{
    (void)pthread_mutex_lock(&pool.lock);
    /* No more workers than that: each one that wakes takes the lock. */
    for (unsigned i = 0; i < pool.wanted; i++) {
        (void)pthread_cond_signal(&pool.work);
    }
    (void)pthread_mutex_unlock(&pool.lock);
}

bool
emu_threads_begin(void (*part)(void *data, unsigned number), void *data, unsigned count)
{
    const pid_t process = getpid();
    bool helped = false;

    if (count > 1) {
        (void)pthread_mutex_lock(&pool.lock);
        if (!pool.process) {
            pool.process = process;
        }
        if (!pool.busy && pool.process == process && threads_limit_locked() > 1) {
            if (count > pool.limit) {
                count = pool.limit;
            }
            threads_start_locked(count - 1);
            pool.busy = helped = true;
            pool.part = part;
            pool.data = data;
            pool.number = 1;
            pool.wanted = pool.started;
            if (pool.wanted > count - 1) {
                pool.wanted = count - 1;
            }
        }
        (void)pthread_mutex_unlock(&pool.lock);
    }
    return helped;
}

bool
emu_threads_finish(bool (*idle)(void *data), void *data)
{
    bool stays = true;

    (void)pthread_mutex_lock(&pool.lock);
    pool.wanted = 0; /* workers that have not begun are no longer needed */
    while (pool.running && stays) {
        const struct timespec deadline = emu_wait_deadline();

        if (pthread_cond_timedwait(&pool.done, &pool.lock, &deadline) == ETIMEDOUT) {
            (void)pthread_mutex_unlock(&pool.lock);
            stays = idle(data);
            (void)pthread_mutex_lock(&pool.lock);
        }
    }
    pool.busy = pool.running != 0;
    const bool is_over = !pool.busy;
    (void)pthread_mutex_unlock(&pool.lock);
    return is_over;
}
