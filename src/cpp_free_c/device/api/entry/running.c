/* The list of running work. See running.h. */
#define _GNU_SOURCE
#include "device/api/entry/running.h"

#include "device/machine/warp/wait.h"
#include "device/api/entry/lock.h"

static struct {
    emu_running *first;
    uint64_t last_ticket;
} running; /* guarded by the API lock */

static _Thread_local uint64_t given_up; /* the last ticket given up by this thread */

void
emu_running_begin(emu_running *work, const emu_context *context)
{
    work->context = context;
    work->ticket = ++running.last_ticket;
    work->next = running.first;
    running.first = work;
}

void
emu_running_end(emu_running *work)
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
emu_running_is(const emu_context *context, uint64_t ticket)
{
    return running_between(context, 0, ticket);
}

bool
emu_running_cannot_settle(const emu_context *context, uint64_t *ticket)
{
    *ticket = running.last_ticket;
    return emu_wait_is_nested() && running_between(context, given_up, *ticket);
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
