/* See arena.h. */
#include "device/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

void *
emu_arena_get(emu_load *load, emu_arena *arena, size_t count, size_t size)
{
    emu_arena_chunk *chunk = arena->first;
    size_t align, start, bytes, room;

    if (size == 0 || count == 0) {
        size = count = 1;
    }
    if (count > load->limit / size) {
        emu_load_fail(load, CUDA_ERROR_OUT_OF_MEMORY, 0, "the program is too large");
    }
    bytes = count * size;
    align = bytes >= 64 ? 64 : 16;
    if (chunk) {
        start = (chunk->used + align - 1) & ~(align - 1);
        if (start <= chunk->room && bytes <= chunk->room - start) {
            chunk->used = start + bytes;
            return chunk->bytes + start;
        }
    }
    room = bytes > CHUNK / 4 ? bytes : CHUNK;
    if (room >
        load->limit - (load->keep.total + load->scratch.total + load->parsed.total)) {
        emu_load_fail(load, CUDA_ERROR_OUT_OF_MEMORY, 0, "the program is too large");
    }
    chunk = aligned_alloc(64, (sizeof(emu_arena_chunk) + room + 63) & ~(size_t)63);
    if (!chunk) {
        emu_load_fail(load, CUDA_ERROR_OUT_OF_MEMORY, 0, "out of memory");
    }
    memset(chunk->bytes, 0, room);
    chunk->used = bytes;
    chunk->room = room;
    arena->total += room;
    if (arena->first && room == bytes) {
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
    while (arena->first) {
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
    *room = *room ? *room * 2 : 16;
    larger = emu_arena_get(load, &load->scratch, *room, size);
    if (count) {
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

void
emu_load_fail(emu_load *load, CUresult code, unsigned line, const char *format, ...)
{
    char text[512];
    char where[320] = "";
    const char *name = load->source_name ? load->source_name : "ptx";
    va_list args;
    int size;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line) {
        (void)snprintf(where, sizeof where, "%.256s, line %u: ", name, line);
    }
    if (load->error_log && load->error_size < load->error_room) {
        size =
            snprintf(load->error_log + load->error_size,
                     load->error_room - load->error_size, "error: %s%s\n", where, text);
        load->error_size += size > 0 ? (size_t)size : 0;
        if (load->error_size >= load->error_room) {
            load->error_size = load->error_room - 1;
        }
    }
    load->code = code;
    longjmp(load->failed, 1);
}
