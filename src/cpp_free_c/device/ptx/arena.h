/* Memory and failure of one program load.
 *
 * All that the parser and the lowering allocate comes from arenas and is freed at once;
 * whatever goes wrong leaves through emu_load_fail, which jumps back to
 * emu_program_load. So no function in between has anything to release or to pass on.
 * Used by the files ptx_*.c, lower*.c, regalloc.c, link.c and program.c, never at run
 * time. */
#ifndef DEVICE_PTX_ARENA_H
#define DEVICE_PTX_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "abi/cuda_abi.h"

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
    size_t limit;      /* of all together */
    jmp_buf failed;
    CUresult code;
    const char *source_name; /* of the text being read */
    char *error_log;
    size_t error_room;
    size_t error_size;
} emu_load;

/* Zeroed memory, aligned to 64 bytes when `size` is 64 or more, else to 16. Fails the
 * load when there is none or the limit is passed. */
void *emu_arena_get(emu_load *load, emu_arena *arena, size_t count, size_t size);
void emu_arena_free(emu_arena *arena);

/* Grows a scratch array to hold one more element: returns the array, perhaps moved. */
void *emu_arena_grow(emu_load *load, void *array, size_t count, size_t *room,
                     size_t size);

/* A copy of a text that lives as long as the program. */
const char *emu_keep_text(emu_load *load, const char *text);

/* Ends the load with this code; the message goes to the error log with the name of the
 * text and, unless 0, the line. */
_Noreturn void emu_load_fail(emu_load *load, CUresult code, unsigned line,
                             const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

#endif
