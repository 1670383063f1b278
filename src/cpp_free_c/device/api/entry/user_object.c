/* User objects. See graph.h. */
#include "device/api/entry/graph.h"

#include <stdlib.h>

static emu_user_object *dead; /* guarded by the API lock */

emu_user_object *
emu_user_object_new(void *data, CUhostFn destroy, uint64_t count)
{
    emu_user_object *object =
        emu_object_new(EMU_USER_OBJECT, sizeof(*object), NULL, NULL);

    if (object != NULL) {
        object->data = data;
        object->destroy = destroy;
        object->count = count;
    }
    return object;
}

emu_user_object *
emu_user_object_get(CUuserObject handle)
{
    return emu_object_get(handle, EMU_USER_OBJECT);
}

void
emu_user_object_release(emu_user_object *object, uint64_t count)
{
    if (count < object->count) {
        object->count -= count;
        return;
    }
    object->count = 0;
    emu_object_unlist(&object->object);
    object->next = dead;
    dead = object;
}

static struct emu_user_reference *
references_find(const emu_user_references *list, const emu_user_object *object)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].object == object) {
            return &list->items[i];
        }
    }
    return NULL;
}

bool
emu_user_references_add(emu_user_references *list, emu_user_object *object,
                        uint64_t count, bool create)
{
    struct emu_user_reference *item = references_find(list, object);

    if (item == NULL) {
        item = realloc(list->items, (list->count + 1) * sizeof(*item));
        if (item == NULL) {
            return false;
        }
        list->items = item;
        item += list->count++;
        *item = (struct emu_user_reference){object, 0};
    }
    item->count += count;
    if (create) {
        object->count += count;
    }
    return true;
}

bool
emu_user_references_remove(emu_user_references *list, emu_user_object *object,
                           uint64_t count)
{
    struct emu_user_reference *item = references_find(list, object);

    if (item == NULL || item->count < count) {
        return false;
    }
    item->count -= count;
    if (item->count == 0) {
        *item = list->items[--list->count];
    }
    emu_user_object_release(object, count);
    return true;
}

bool
emu_user_references_copy(emu_user_references *to, const emu_user_references *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct emu_user_reference *item = &from->items[i];

        if (!emu_user_references_add(to, item->object, item->count, true)) {
            return false;
        }
    }
    return true;
}

void
emu_user_references_drop(emu_user_references *list)
{
    for (size_t i = 0; i < list->count; i++) {
        emu_user_object_release(list->items[i].object, list->items[i].count);
    }
    free(list->items);
    *list = (emu_user_references){0};
}

emu_user_object *
emu_user_objects_take(void)
{
    emu_user_object *first = dead;

    dead = NULL;
    return first;
}

void
emu_user_objects_destroy(emu_user_object *first)
{
    while (first != NULL) {
        emu_user_object *object = first;

        first = object->next;
        object->destroy(object->data);
        free(object);
    }
}
