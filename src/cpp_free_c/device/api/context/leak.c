/* The list of what is alive at exit. See leak.h. */
#define _GNU_SOURCE
#include "device/api/context/leak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/base/checks.h"
#include "device/base/site.h"
#include "device/memory/memory.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/graph.h"
#include "device/api/entry/lock.h"

enum { LINE_ROOM = 700 };
typedef enum { LEAK_ALIVE, LEAK_CYCLE, LEAK_STACK, LEAK_REASONS } leak_reason;

/* Things of one kind that one line has made. */
typedef struct {
    const char *kind, *site;
    leak_reason reason;
    size_t count;
    uint64_t bytes;
} leak_row;

/* A thing that was alive before the collection. */
typedef struct {
    const emu_allocation *memory; /* or NULL */
    const emu_object *object;
    emu_kind object_kind;
    uint64_t serial, bytes;
    const char *kind, *site;
} leak_thing;

static struct {
    bool on;
    leak_row *rows;
    size_t count, room;
    leak_thing *things;
    size_t thing_count, thing_room;
} leak; /* guarded by the API lock */

void
emu_leak_open(bool on)
{
    leak.on = on;
}

/* -- rows -------------------------------------------------------------------------- */

static void
leak_add(const char *kind, const char *site, leak_reason reason, uint64_t bytes)
{
    for (size_t i = 0; i < leak.count; i++) {
        leak_row *row = &leak.rows[i];

        if (row->site == site && row->reason == reason &&
            strcmp(row->kind, kind) == 0) {
            row->count++;
            row->bytes += bytes;
            return;
        }
    }
    if (leak.count == leak.room) {
        const size_t room = leak.room * 2 + 16;
        leak_row *rows = realloc(leak.rows, room * sizeof(*rows));

        if (rows == NULL) {
            return; /* the list is not complete */
        }
        leak.rows = rows;
        leak.room = room;
    }
    leak.rows[leak.count++] = (leak_row){kind, site, reason, 1, bytes};
}

/* -- what counts ------------------------------------------------------------------- */

/* A word for objects that a program has to release; NULL: others. */
static const char *
leak_object_word(emu_kind kind)
{
    switch (kind) {
        case EMU_STREAM:
            return "stream";
        case EMU_EVENT:
            return "event";
        case EMU_ARRAY:
            return "array";
        case EMU_MIPMAP:
            return "mipmapped array";
        case EMU_TEXTURE:
            return "texture object";
        case EMU_SURFACE:
            return "surface object";
        case EMU_PHYSICAL:
            return "piece of physical memory";
        case EMU_GRAPH:
            return "graph";
        case EMU_GRAPH_EXEC:
            return "executable graph";
        case EMU_GRAPHICS:
            return "graphics resource";
        case EMU_LINK:
            return "linker";
        default: /* also modules: programs keep kernels for as long as the context */
            return NULL;
    }
}

bool
emu_leak_is_object(const emu_object *o)
{
    return o->kind != EMU_FUNCTION && o->kind != EMU_TEXREF && o->kind != EMU_SURFREF &&
           !o->is_part && !(o->kind == EMU_GRAPH && emu_graph_is_owned(o));
}

bool
emu_leak_is_memory(const emu_allocation *a)
{
    return a->kind != EMU_MEMORY_ARRAY && a->kind != EMU_MEMORY_GLOBAL &&
           a->kind != EMU_MEMORY_HEAP && a->kind != EMU_MEMORY_GRAPHICS &&
           !a->suspended;
}

/* -- contexts ---------------------------------------------------------------------- */

/* Call `see` for everything of a context that a program has to release. */
static void
leak_each_of_context(emu_context *context, void (*see)(const leak_thing *thing))
{
    if (atomic_load(&context->sticky) != 0) {
        return;
    }
    for (const emu_object *o = context->object.owned; o != NULL; o = o->next) {
        const char *word = leak_object_word(o->kind);

        if (word != NULL && emu_leak_is_object(o) &&
            o->serial > context->lost_objects) {
            see(&(leak_thing){.object = o,
                              .object_kind = o->kind,
                              .serial = o->serial,
                              .kind = word,
                              .site = o->site});
        }
    }
    for (const emu_allocation *a = context->allocations; a != NULL; a = a->next) {
        if (emu_leak_is_memory(a) && a->serial > context->lost_memory) {
            see(&(leak_thing){.memory = a,
                              .serial = a->serial,
                              .bytes = a->size,
                              .kind = emu_memory_kind_name(a->kind),
                              .site = a->site});
        }
    }
}

static void
leak_see_alive(const leak_thing *thing)
{
    leak_add(thing->kind, thing->site, LEAK_ALIVE, thing->bytes);
}

void
emu_leak_note_context(emu_context *context)
{
    if (leak.on && !emu_site_is_asked()) {
        leak_each_of_context(context, leak_see_alive);
    }
}

static void
leak_see_context(void *data, emu_object *object)
{
    void (*const *see)(const leak_thing *) = data;

    if (object->kind == EMU_CONTEXT) {
        leak_each_of_context((emu_context *)(void *)object, *see);
    }
}

/* Call `see` for everything of all contexts. */
static void
leak_each(void (*see)(const leak_thing *thing))
{
    emu_object_each(leak_see_context, &see);
}

/* -- the collection ---------------------------------------------------------------- */

static void
leak_see_before(const leak_thing *thing)
{
    if (leak.thing_count == leak.thing_room) {
        const size_t room = leak.thing_room * 2 + 64;
        leak_thing *things = realloc(leak.things, room * sizeof(*things));

        if (things == NULL) {
            return;
        }
        leak.things = things;
        leak.thing_room = room;
    }
    leak.things[leak.thing_count++] = *thing;
}

static bool
leak_thing_is_alive(const leak_thing *thing)
{
    if (thing->memory != NULL) {
        return thing->memory->serial == thing->serial && emu_memory_live(thing->memory);
    }
    return emu_object_get_same(thing->object, thing->object_kind, thing->serial) !=
           NULL;
}

int
emu_leak_before_collection(void)
{
    emu_context *top;

    emu_lock();
    if (!leak.on || emu_is_forked()) {
        emu_unlock();
        return 0;
    }
    if (emu_context_current(&top) == CUDA_SUCCESS && !top->primary &&
        atomic_load(&top->sticky) == 0) {
        leak_add("context", top->object.site, LEAK_STACK, 0);
    }
    leak_each(leak_see_before);
    emu_unlock();
    return 1;
}

void
emu_leak_after_collection(void)
{
    emu_lock();
    for (size_t i = 0; i < leak.thing_count; i++) {
        const leak_thing *thing = &leak.things[i];

        if (!leak_thing_is_alive(thing)) {
            leak_add(thing->kind, thing->site, LEAK_CYCLE, thing->bytes);
        }
    }
    free(leak.things);
    leak.things = NULL;
    leak.thing_count = leak.thing_room = 0;
    emu_unlock();
}

/* -- the list ---------------------------------------------------------------------- */

static const char *const leak_titles[LEAK_REASONS] = {
    "alive at exit", "held by a reference cycle: only the garbage collector frees it",
    "still on the stack of its thread: pop() or detach() was not called"};

static int
leak_compare(const void *left, const void *right)
{
    const leak_row *a = left, *b = right;

    if (a->reason != b->reason) {
        return a->reason < b->reason ? -1 : 1;
    }
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return 0;
}

static void
leak_write_row(const leak_row *row)
{
    const char *site = row->site, *plural = row->count == 1 ? "" : "s";
    char text[LINE_ROOM];

    if (site == NULL) {
        site = "an unknown line";
    }
    if (row->bytes > 0) {
        (void)snprintf(text, sizeof(text),
                       "  %zu %s allocation%s, %llu bytes, made at %s\n", row->count,
                       row->kind, plural, (unsigned long long)row->bytes, site);
    }
    else {
        (void)snprintf(text, sizeof(text), "  %zu %s%s, made at %s\n", row->count,
                       row->kind, plural, site);
    }
    (void)fputs(text, stderr);
    (void)emu_report_log("leak", text);
}

/* Runs after Python has ended, so there is no other thread that uses the device. */
__attribute__((destructor)) static void
leak_write(void)
{
    leak_reason reason = LEAK_REASONS;

    if (!leak.on || emu_is_forked()) {
        return;
    }
    leak_each(leak_see_alive);
    if (leak.count > 0) {
        qsort(leak.rows, leak.count, sizeof(*leak.rows), leak_compare);
    }
    for (size_t i = 0; i < leak.count; i++) {
        if (leak.rows[i].reason != reason) {
            reason = leak.rows[i].reason;
            (void)fprintf(stderr, "PYCUDA_CHECK=leak: %s\n", leak_titles[reason]);
        }
        leak_write_row(&leak.rows[i]);
    }
    leak.on = false;
}
