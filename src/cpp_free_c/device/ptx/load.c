/* Arenas, and the end of a load that fails. See load.h. */
#include "device/ptx/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

void *
emu_arena_get(emu_load *load, emu_arena *arena, size_t count, size_t size)
{
    emu_arena_chunk *chunk = arena->first;
    size_t align = 16, start, bytes, room = CHUNK;

    if (size == 0 || count == 0) {
        size = count = 1;
    }
    if (count > load->limit / size) {
        emu_load_fail(load, EMU_LOAD_NO_MEMORY, 0, "the program is too large");
    }
    bytes = count * size;
    if (bytes >= 64) {
        align = 64;
    }
    if (chunk != NULL) {
        start = (chunk->used + align - 1) & ~(align - 1);
        if (start <= chunk->room && bytes <= chunk->room - start) {
            chunk->used = start + bytes;
            return chunk->bytes + start;
        }
    }
    if (bytes > CHUNK / 4) {
        room = bytes; /* a chunk of its own */
    }
    if (room >
        load->limit - (load->keep.total + load->scratch.total + load->parsed.total)) {
        emu_load_fail(load, EMU_LOAD_NO_MEMORY, 0, "the program is too large");
    }
    chunk = aligned_alloc(64, (sizeof(emu_arena_chunk) + room + 63) & ~(size_t)63);
    if (chunk == NULL) {
        emu_load_fail(load, EMU_LOAD_NO_MEMORY, 0, "out of memory");
    }
    memset(chunk->bytes, 0, room);
    chunk->used = bytes;
    chunk->room = room;
    arena->total += room;
    if (arena->first != NULL && room == bytes) {
        /* keep the half-filled chunk in front */
        chunk->next = arena->first->next;
        arena->first->next = chunk;
    }
    else {
        chunk->next = arena->first;
        arena->first = chunk;
    }
    return chunk->bytes;
}

void
emu_arena_free(emu_arena *arena)
{
    while (arena->first != NULL) {
        emu_arena_chunk *next = arena->first->next;

        free(arena->first);
        arena->first = next;
    }
    arena->total = 0;
}

void *
emu_arena_grow(emu_load *load, void *array, size_t count, size_t *room, size_t size)
{
    void *larger;

    if (count < *room) {
        return array;
    }
    if (*room == 0) {
        *room = 16;
    }
    else {
        *room *= 2;
    }
    larger = emu_arena_get(load, &load->scratch, *room, size);
    if (count > 0) {
        memcpy(larger, array, count * size);
    }
    return larger;
}

const char *
emu_keep_text(emu_load *load, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = emu_arena_get(load, &load->keep, size, 1);

    memcpy(copy, text, size);
    return copy;
}

/* Appends a message to the error log, which is cut where its room ends. */
static void
load_write_log(emu_load *load, const char *where, const char *text)
{
    int size;

    if (load->error_log == NULL || load->error_size >= load->error_room) {
        return;
    }
    size = snprintf(load->error_log + load->error_size,
                    load->error_room - load->error_size, "error: %s%s\n", where, text);
    if (size > 0) {
        load->error_size += (size_t)size;
    }
    if (load->error_size >= load->error_room) {
        load->error_size = load->error_room - 1;
    }
}

void
emu_load_fail(emu_load *load, emu_load_failure failure, unsigned line,
              const char *format, ...)
{
    char text[512];
    char where[320] = "";
    const char *name = load->source_name;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (name == NULL) {
        name = "ptx";
    }
    if (line != 0) {
        (void)snprintf(where, sizeof where, "%.256s, line %u: ", name, line);
    }
    load_write_log(load, where, text);
    load->failure = failure;
    longjmp(load->failed, 1);
}
