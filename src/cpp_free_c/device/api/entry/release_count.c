/* Counts of doubtful releases. See release_count.h. */
#include "device/api/entry/release_count.h"

#include "device/api/entry/context_stack.h"
#include "device/api/entry/lock.h"

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
