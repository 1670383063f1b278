/* The registry of what graphs use. Invariant and callers: see graph_record.h. */

#include "driver/graph_record.h"

#include <stdlib.h>
#include <string.h>

pcu_graph_record *pcu_graph_records;
unsigned int pcu_captures_active;

void
pcu_graph_record_register(pcu_graph_record *rec)
{
    rec->next = pcu_graph_records;
    pcu_graph_records = rec;
}

void
pcu_graph_record_forget(pcu_graph_record *rec)
{
    pcu_graph_record **link = &pcu_graph_records;
    while (*link != NULL && *link != rec) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = rec->next;
    }
}

/* -- words ------------------------------------------------------------------------- */

/* The place of the word, or the empty place where it belongs. `room` is a power of two.
 */
static size_t
graph_record_place(const uint64_t *words, size_t room, uint64_t word)
{
    size_t place = (size_t)((word * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (room - 1);
    while (words[place] != 0 && words[place] != word) {
        place = (place + 1) & (room - 1);
    }
    return place;
}

static int
graph_record_grow(pcu_graph_record *rec)
{
    size_t room = 64;
    if (rec->room != 0) {
        room = rec->room * 2;
    }
    uint64_t *words = calloc(room, sizeof(*words));
    if (words == NULL) {
        return -1;
    }
    for (size_t i = 0; i < rec->room; i++) {
        if (rec->words[i] != 0) {
            words[graph_record_place(words, room, rec->words[i])] = rec->words[i];
        }
    }
    free(rec->words);
    rec->words = words;
    rec->room = room;
    return 0;
}

int
pcu_graph_record_add(pcu_graph_record *rec, uint64_t word)
{
    if (word == 0 || pcu_graph_record_has(rec, word)) {
        return 0;
    }
    if (2 * (rec->count + 1) > rec->room && graph_record_grow(rec) < 0) {
        return -1;
    }
    rec->words[graph_record_place(rec->words, rec->room, word)] = word;
    rec->count++;
    return 0;
}

int
pcu_graph_record_has(const pcu_graph_record *rec, uint64_t word)
{
    return rec->room != 0 &&
           rec->words[graph_record_place(rec->words, rec->room, word)] == word;
}

/* -- handles ----------------------------------------------------------------------- */

/* The word by which work refers to a handle of this kind; 0: work refers to no such
 * handle, or the objects of Python keep it. */
static uint64_t
graph_record_word(pcu_handle_kind kind, pcu_handle handle)
{
    switch ((int)kind) {
        case PCU_HANDLE_memory:
            return handle.memory;
        case PCU_HANDLE_ipc_memory:
            return handle.ipc_memory;
        case PCU_HANDLE_host:
            return (uint64_t)(uintptr_t)handle.host;
        case PCU_HANDLE_registered:
            return (uint64_t)(uintptr_t)handle.registered;
        case PCU_HANDLE_array:
            return (uint64_t)(uintptr_t)handle.array;
        case PCU_HANDLE_mipmapped_array:
            return (uint64_t)(uintptr_t)handle.mipmapped_array;
        case PCU_HANDLE_texture_object:
            return handle.texture_object;
        case PCU_HANDLE_surface_object:
            return handle.surface_object;
        default:
            return 0;
    }
}

/* 1 if work refers to an address of the range. */
static int
graph_record_has_within(const pcu_graph_record *rec, const pcu_virtual_range *range)
{
    for (size_t i = 0; i < rec->room; i++) {
        if (rec->words[i] != 0 && rec->words[i] - range->base < range->size) {
            return 1;
        }
    }
    return 0;
}

/* 1 if work of the graph refers to the handle. */
static int
graph_record_refers(const pcu_graph_record *rec, pcu_handle_kind kind,
                    pcu_handle handle)
{
    if (kind == PCU_HANDLE_range) {
        return graph_record_has_within(rec, handle.range);
    }
    uint64_t word = graph_record_word(kind, handle);
    return word != 0 && pcu_graph_record_has(rec, word);
}

pcu_graph_record *
pcu_graph_record_user(pcu_handle_kind kind, pcu_handle handle, CUcontext context,
                      unsigned long thread)
{
    pcu_graph_record *rec = pcu_graph_records;
    if (pcu_captures_active != 0) {
        while (rec != NULL && !(rec->capturing &&
                                (rec->thread == thread || rec->context == context))) {
            rec = rec->next;
        }
        if (rec != NULL) {
            return rec;
        }
        rec = pcu_graph_records;
    }
    while (rec != NULL &&
           !(rec->context == context && graph_record_refers(rec, kind, handle))) {
        rec = rec->next;
    }
    return rec;
}

int
pcu_graph_record_take(pcu_graph_record *rec, pcu_handle_kind kind, pcu_handle handle,
                      void *ctx)
{
    if (rec->owed_count == rec->owed_room) {
        size_t room = 2 * rec->owed_room + 8;
        pcu_owed_handle *owed = realloc(rec->owed, room * sizeof(*owed));
        if (owed == NULL) {
            return -1;
        }
        rec->owed = owed;
        rec->owed_room = room;
    }
    rec->owed[rec->owed_count].kind = kind;
    rec->owed[rec->owed_count].handle = handle;
    rec->owed[rec->owed_count].ctx = ctx;
    rec->owed_count++;
    return 0;
}

void
pcu_graph_record_free(pcu_graph_record *rec)
{
    free(rec->words);
    free(rec->owed);
    rec->words = NULL;
    rec->owed = NULL;
    rec->count = rec->room = rec->owed_count = rec->owed_room = 0;
}
