/* The load of a program: its memory, and how it fails.
 *
 * The parser and the lowering allocate from arenas; freeing an arena frees all of its
 * memory. Every error leaves through emu_load_fail, which jumps back to
 * emu_program_load. So no function in between has anything to release or a status to
 * pass on. Used by
 * device/ptx and device/compile, never while kernels run. */
#ifndef DEVICE_PTX_LOAD_H
#define DEVICE_PTX_LOAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

/* Why a load fails. */
typedef enum {
    EMU_LOAD_NO_FAILURE,
    EMU_LOAD_INVALID_PTX,         /* malformed, an unknown opcode, an undefined name */
    EMU_LOAD_UNSUPPORTED_VERSION, /* the .version is too new */
    EMU_LOAD_NO_MEMORY
} emu_load_failure;

typedef struct emu_arena_chunk {
    struct emu_arena_chunk *next;
    size_t used;
    size_t room;
    _Alignas(64) unsigned char bytes[];
} emu_arena_chunk;

typedef struct {
    emu_arena_chunk *first;
    size_t total;
} emu_arena;

typedef struct emu_load {
    emu_arena keep;    /* lives as long as the program */
    emu_arena scratch; /* lives as long as the load, or the lowering of one function */
    emu_arena parsed;  /* what scratch holds, while functions are lowered */
    size_t limit;      /* bytes of all arenas together */
    jmp_buf failed;
    emu_load_failure failure;
    const char *source_name; /* of the text being read */
    char *error_log;
    size_t error_room;
    size_t error_size;
} emu_load;

/* Zeroed memory for `count` elements of `size` bytes. It is aligned to 64 bytes if it
 * has 64 or more, else to 16. Fails the load if there is no memory or at the limit. */
void *emu_arena_get(emu_load *load, emu_arena *arena, size_t count, size_t size);
void emu_arena_free(emu_arena *arena);

/* Makes room for one more element in an array of scratch memory. Returns the array,
 * which may have moved. */
void *emu_arena_grow(emu_load *load, void *array, size_t count, size_t *room,
                     size_t size);

/* A copy of a text that lives as long as the program. */
const char *emu_keep_text(emu_load *load, const char *text);

/* Ends the load. The message goes to the error log, with the name of the text and the
 * line, unless it is 0. */
_Noreturn void emu_load_fail(emu_load *load, emu_load_failure failure, unsigned line,
                             const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

#endif
