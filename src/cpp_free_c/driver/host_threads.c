/* The threads of the driver that run Python code now. See host_threads.h. */
#define _GNU_SOURCE

#include "driver/host_threads.h"

#include <stdatomic.h>
#include <unistd.h>

static struct {
    atomic_int inside;
    atomic_bool closed;
    pid_t process; /* whose threads are counted */
} threads;

bool
pcu_host_threads_enter(void)
{
    atomic_fetch_add(&threads.inside, 1);
    if (atomic_load(&threads.closed)) {
        pcu_host_threads_leave();
        return false;
    }
    return true;
}

void
pcu_host_threads_leave(void)
{
    atomic_fetch_sub(&threads.inside, 1);
}

void
pcu_host_threads_open(void)
{
    threads.process = getpid();
    atomic_store(&threads.closed, false);
}

void
pcu_host_threads_close(void)
{
    atomic_store(&threads.closed, true);
}

int
pcu_host_threads_inside(void)
{
    return getpid() == threads.process ? atomic_load(&threads.inside) : 0;
}
