/* The registry of live handles: a hash set of pointers, and a list for each context. */
#include "device/base/object.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "device/base/site.h"

/* Open addressing with linear probing; guarded by the API lock. */
static struct {
    emu_object **slots;
    size_t room; /* a power of two, or 0 */
    size_t count;
    uint64_t last_serial;
    size_t counts[EMU_KINDS];
} registry;

static size_t
registry_slot_of(const void *handle)
{
    uint64_t key = (uint64_t)(uintptr_t)handle;

    key = (key >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(key >> 20) & (registry.room - 1);
}

static void
registry_put(emu_object *object)
{
    size_t at = registry_slot_of(object);

    while (registry.slots[at]) {
        at = (at + 1) & (registry.room - 1);
    }
    registry.slots[at] = object;
}

static bool
registry_grow(void)
{
    emu_object **old = registry.slots;
    size_t old_room = registry.room;
    size_t room = 256;
    emu_object **slots;

    if (old_room > 0) {
        room = old_room * 2;
    }
    slots = calloc(room, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    registry.slots = slots;
    registry.room = room;
    for (size_t i = 0; i < old_room; i++) {
        if (old[i]) {
            registry_put(old[i]);
        }
    }
    free(old);
    return true;
}

/* Empty a slot and move later entries of the same probe sequence up, so that no gap
 * hides them. */
static void
registry_take_out(size_t hole)
{
    size_t mask = registry.room - 1;
    size_t at = hole;

    for (;;) {
        size_t home;

        registry.slots[hole] = NULL;
        do {
            at = (at + 1) & mask;
            if (!registry.slots[at]) {
                return;
            }
            home = registry_slot_of(registry.slots[at]);
        } while (((at - home) & mask) < ((at - hole) & mask));
        registry.slots[hole] = registry.slots[at];
        hole = at;
    }
}

/* The header of a context: the first member of its record (device.h). */
static emu_object *
context_object(CUcontext context)
{
    return (emu_object *)(void *)context;
}

uint64_t
emu_object_last_serial(void)
{
    return registry.last_serial;
}

void *
emu_object_new(emu_kind kind, size_t size, CUcontext context,
               void (*destroy)(emu_object *))
{
    emu_object *object;

    if (2 * (registry.count + 1) > registry.room && !registry_grow()) {
        return NULL;
    }
    object = calloc(1, size);
    if (object == NULL) {
        return NULL;
    }
    object->kind = kind;
    object->serial = ++registry.last_serial;
    object->context = context;
    object->destroy = destroy;
    object->site = emu_site_now();
    registry_put(object);
    registry.count++;
    registry.counts[kind]++;
    if (context) {
        emu_object *owner = context_object(context);

        object->next = owner->owned;
        if (object->next) {
            object->next->previous = object;
        }
        owner->owned = object;
    }
    return object;
}

static bool
registry_find(const void *handle, size_t *slot)
{
    size_t at;

    if (!handle || !registry.room) {
        return false;
    }
    at = registry_slot_of(handle);
    while (registry.slots[at]) {
        if (registry.slots[at] == handle) {
            *slot = at;
            return true;
        }
        at = (at + 1) & (registry.room - 1);
    }
    return false;
}

void *
emu_object_get(const void *handle, emu_kind kind)
{
    size_t slot;

    if (!registry_find(handle, &slot) || registry.slots[slot]->kind != kind) {
        return NULL;
    }
    return registry.slots[slot];
}

void *
emu_object_get_same(const void *handle, emu_kind kind, uint64_t serial)
{
    emu_object *object = emu_object_get(handle, kind);

    if (object == NULL || object->serial != serial) {
        return NULL;
    }
    return object;
}

void
emu_object_unlist(emu_object *object)
{
    size_t slot;

    if (!registry_find(object, &slot)) {
        return;
    }
    registry_take_out(slot);
    registry.count--;
    if (!object->is_part) {
        registry.counts[object->kind]--;
    }
    if (registry.count == 0) {
        free(registry.slots);
        registry.slots = NULL;
        registry.room = 0;
    }
    if (object->previous) {
        object->previous->next = object->next;
    }
    else if (object->context) {
        context_object(object->context)->owned = object->next;
    }
    if (object->next) {
        object->next->previous = object->previous;
    }
    object->next = object->previous = NULL;
}

bool
emu_object_list(emu_object *object)
{
    if (2 * (registry.count + 1) > registry.room && !registry_grow()) {
        return false;
    }
    registry_put(object);
    registry.count++;
    registry.counts[object->kind]++;
    return true;
}

void
emu_object_free(emu_object *object)
{
    emu_object_unlist(object);
    free(object);
}

void
emu_object_make_part(emu_object *object)
{
    object->is_part = true;
    registry.counts[object->kind]--;
}

size_t
emu_object_count(emu_kind kind)
{
    return registry.counts[kind];
}

void
emu_object_each(void (*see)(void *data, emu_object *object), void *data)
{
    for (size_t i = 0; i < registry.room; i++) {
        if (registry.slots[i] != NULL) {
            see(data, registry.slots[i]);
        }
    }
}
