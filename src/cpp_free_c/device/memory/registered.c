/* Registered memory. See registered.h. */
#define _GNU_SOURCE
#include "device/memory/registered.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_rwlock_t lock; /* guards the list; taken after the mutex of memory.c */
    emu_allocation **list; /* sorted by base, never overlapping */
    size_t count, room;
} registered = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* The index of the first registered record that ends after `address`. */
static size_t
registered_after(uint64_t address)
{
    size_t low = 0, high = registered.count;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const emu_allocation *record = registered.list[middle];

        if (record->base + record->size <= address) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low;
}

static const emu_allocation *
registered_overlap_locked(uint64_t base, uint64_t size)
{
    size_t at = registered_after(base);

    if (at < registered.count && registered.list[at]->base < base + size) {
        return registered.list[at];
    }
    return NULL;
}

const emu_allocation *
emu_registered_overlap(uint64_t base, size_t size)
{
    const emu_allocation *record;

    pthread_rwlock_rdlock(&registered.lock);
    record = registered_overlap_locked(base, size);
    pthread_rwlock_unlock(&registered.lock);
    return record;
}

static bool
registered_grow_locked(void)
{
    size_t room = 16;
    emu_allocation **list;

    if (registered.count < registered.room) {
        return true;
    }
    if (registered.room != 0) {
        room = registered.room * 2;
    }
    list = realloc(registered.list, room * sizeof(*list));
    if (list == NULL) {
        return false;
    }
    registered.list = list;
    registered.room = room;
    return true;
}

bool
emu_registered_reserve(void)
{
    bool has_room;

    pthread_rwlock_wrlock(&registered.lock);
    has_room = registered_grow_locked();
    pthread_rwlock_unlock(&registered.lock);
    return has_room;
}

void
emu_registered_insert(emu_allocation *record)
{
    size_t at;

    pthread_rwlock_wrlock(&registered.lock);
    at = registered_after(record->base);
    memmove(&registered.list[at + 1], &registered.list[at],
            (registered.count - at) * sizeof(*registered.list));
    registered.list[at] = record;
    registered.count++;
    pthread_rwlock_unlock(&registered.lock);
}

emu_allocation *
emu_registered_remove(uint64_t base)
{
    emu_allocation *record = NULL;
    size_t at;

    pthread_rwlock_wrlock(&registered.lock);
    at = registered_after(base);
    if (at < registered.count && registered.list[at]->base == base) {
        record = registered.list[at];
        registered.count--;
        memmove(&registered.list[at], &registered.list[at + 1],
                (registered.count - at) * sizeof(*registered.list));
    }
    pthread_rwlock_unlock(&registered.lock);
    return record;
}
