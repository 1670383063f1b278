/* The users of objects, waiting for them, and doubtful releases. See users.h. */
#define _GNU_SOURCE
#include "device/api/entry/users.h"

#include <stdatomic.h>

#include "device/base/device.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/context_stack.h"

void
emu_users_add(emu_object *object)
{
    object->users++;
}

void
emu_users_remove(emu_object *object)
{
    object->users--;
    if (object->users == 0) {
        emu_lock_wake();
    }
}

bool
emu_users_can_wait(const emu_object *object)
{
    return object->users == 0 || !emu_wait_is_nested();
}

void
emu_users_wait(emu_object *object)
{
    emu_context *context = object->context;
    bool cancels = false;

    if (object->kind == EMU_CONTEXT) {
        context = (emu_context *)object;
    }
    emu_wait_set_stuck(object->users > 0);
    while (object->users > 0) {
        if (emu_lock_wait() && context != NULL && !cancels) {
            cancels = true;
            atomic_fetch_add(&context->cancels, 1);
        }
    }
    emu_wait_set_stuck(false);
    if (cancels) {
        atomic_fetch_sub(&context->cancels, 1);
    }
}

CUresult
emu_users_destroy(emu_object *object)
{
    emu_object *context = &object->context->object;

    if (!emu_users_can_wait(object)) {
        return CUDA_ERROR_NOT_PERMITTED;
    }
    emu_count_free(object->context);
    emu_object_unlist(object); /* no new work finds it */
    emu_users_add(context);
    emu_users_wait(object);
    object->destroy(object);
    emu_users_remove(context);
    return CUDA_SUCCESS;
}

/* -- doubtful releases ------------------------------------------------------------- */

static unsigned long long abandoned, foreign; /* guarded by the API lock */

void
emu_count_abandoned(size_t count)
{
    abandoned += count;
}

void
emu_count_free(const emu_context *owner)
{
    if (owner != NULL && emu_context_top() != owner) {
        foreign++;
    }
}

unsigned long long
emu_abandoned_count(void)
{
    unsigned long long count;

    emu_lock();
    count = abandoned;
    emu_unlock();
    return count;
}

unsigned long long
emu_foreign_free_count(void)
{
    unsigned long long count;

    emu_lock();
    count = foreign;
    emu_unlock();
    return count;
}
