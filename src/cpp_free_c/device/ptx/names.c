/* The names of a PTX text: a hash table. See names.h. */
#include "device/ptx/names.h"

#include <string.h>

static uint32_t
names_hash(const char *text, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    }
    return hash;
}

static void
names_resize(emu_load *load, ptx_names *names)
{
    size_t room = 2048;
    ptx_name **slots;

    if (names->room > 0) {
        room = names->room * 4;
    }
    slots = emu_arena_get(load, &load->scratch, room, sizeof(ptx_name *));
    for (size_t i = 0; i < names->room; i++) {
        ptx_name *name = names->slots[i];

        while (name != NULL) {
            ptx_name *next = name->next;

            name->next = slots[name->hash & (room - 1)];
            slots[name->hash & (room - 1)] = name;
            name = next;
        }
    }
    names->slots = slots;
    names->room = room;
}

ptx_name *
ptx_names_get(emu_load *load, ptx_names *names, const char *text, size_t size, bool add)
{
    uint32_t hash = names_hash(text, size);
    ptx_name *name;

    if (names->count >= names->room) {
        names_resize(load, names);
    }
    for (name = names->slots[hash & (names->room - 1)]; name != NULL;
         name = name->next) {
        if (name->hash == hash && name->size == size &&
            memcmp(name->text, text, size) == 0) {
            return name;
        }
    }
    if (!add) {
        return NULL;
    }
    if (size > 1 << 20) {
        emu_load_fail(load, EMU_LOAD_INVALID_PTX, 0, "a name is too long");
    }
    name = emu_arena_get(load, &load->scratch, 1, sizeof(ptx_name) + size + 1);
    name->hash = hash;
    name->size = (uint32_t)size;
    memcpy(name->text, text, size);
    name->next = names->slots[hash & (names->room - 1)];
    names->slots[hash & (names->room - 1)] = name;
    names->count++;
    return name;
}
