/* Loading of programs: PTX texts are parsed, linked and lowered.
 *
 * A program never changes after loading, so any number of threads may read it; kernels
 * and copies write the memory of its variables. It must outlive every launch of its
 * kernels. A malformed text fails with a code and a log, and has no other effect.
 * Called by device/api/module; the fuzzer of the loader calls it too. */
#ifndef DEVICE_COMPILE_PROGRAM_H
#define DEVICE_COMPILE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/compile/code.h"

typedef struct {
    const char *text; /* need not end in a zero byte; a trailing one is ignored */
    size_t size;
    const char *name;       /* for messages; may be NULL */
    unsigned max_registers; /* of CU_JIT_MAX_REGISTERS for this text; 0: no limit */
    bool is_library;        /* linked only if it defines what other texts need */
} emu_source;

typedef struct {
    unsigned max_registers; /* of CU_JIT_MAX_REGISTERS; 0: no limit */
    bool verbose;   /* of CU_JIT_LOG_VERBOSE: describe the kernels in info_log */
    char *info_log; /* may be NULL; always ends in a zero byte */
    size_t info_log_room;
    size_t info_log_size; /* out: bytes written, the zero byte not counted */
    char *error_log;
    size_t error_log_room;
    size_t error_log_size;
} emu_load_options;

/* Parses and links all texts into one program, and allocates its variables in the
 * context, which must outlive the program. `handlers` has the function of each
 * operation, by EMU_OP_ number. `options` may be NULL. On failure *out is NULL; the
 * codes are INVALID_PTX (malformed, unknown opcode, undefined symbol),
 * UNSUPPORTED_PTX_VERSION and OUT_OF_MEMORY. */
CUresult emu_program_load(CUcontext context, const emu_source *sources, size_t count,
                          emu_load_options *options, const emu_handler_set *handlers,
                          emu_program **out);
/* Frees the program, and those variables that the context has not freed. NULL is
 * allowed. */
void emu_program_free(emu_program *program);

/* -- kernels ----------------------------------------------------------------------- */

/* The kernel of a name, or NULL. */
const emu_kernel *emu_program_kernel(const emu_program *program, const char *name);
size_t emu_program_kernel_count(const emu_program *program);
/* Kernels in the order of the texts; NULL past the end. */
const emu_kernel *emu_program_kernel_at(const emu_program *program, size_t index);
const emu_kernel_info *emu_kernel_get_info(const emu_kernel *kernel);

/* -- variables --------------------------------------------------------------------- */

/* Finds a .global or .const variable, and sets address and size. False: there is none.
 */
bool emu_program_variable(const emu_program *program, const char *name,
                          uint64_t *address, size_t *size);
/* The same for a variable of type .surfref (`is_surface`) or .texref.
 * emu_program_variable does not find these. */
bool emu_program_reference(const emu_program *program, const char *name,
                           bool is_surface, uint64_t *address);

#endif
