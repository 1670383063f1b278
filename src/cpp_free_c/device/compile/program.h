/* A loaded program of the software device: PTX texts, parsed, linked and lowered.
 *
 * The driver entry points load texts, look up kernels and variables by name and read
 * their attributes; exec.h runs a kernel. A program never changes after loading, except
 * that the memory of its variables is written by kernels and copies; it may be read by
 * any number of threads. It must outlive every launch of its kernels.
 *
 * No text, however malformed, does more than fail with a code and a log. */
#ifndef DEVICE_COMPILE_PROGRAM_H
#define DEVICE_COMPILE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "device/compile/code.h"

/* -- loading ----------------------------------------------------------------------- */

typedef struct {
    const char *text; /* need not end in a zero byte; a trailing one is ignored */
    size_t size;
    const char *name; /* for messages; may be NULL */
} emu_source;

typedef struct {
    unsigned max_registers; /* of CU_JIT_MAX_REGISTERS; 0: no limit */
    char *info_log;         /* may be NULL; always ends in a zero byte */
    size_t info_log_room;
    size_t info_log_size; /* out: bytes written, the zero byte not counted */
    char *error_log;
    size_t error_log_room;
    size_t error_log_size;
} emu_load_options;

/* Parses and links all texts into one program and creates its variables in `space`,
 * which must outlive the program. `ops` are the functions of the operations, by
 * EMU_OP_ number. `options` may be NULL. On failure *out is NULL; the codes are
 * INVALID_PTX (malformed, unknown opcode, undefined symbol), INVALID_IMAGE (not PTX),
 * UNSUPPORTED_PTX_VERSION, OUT_OF_MEMORY. */
CUresult emu_program_load(CUcontext context, const emu_source *sources, size_t count,
                          emu_load_options *options, const emu_op *ops,
                          emu_program **out);
/* Frees the program, and its variables where the context has not done so. NULL is
 * allowed. */
void emu_program_free(emu_program *program);

/* -- kernels ----------------------------------------------------------------------- */

/* NULL when there is none of that name. */
const emu_kernel *emu_program_kernel(const emu_program *program, const char *name);
size_t emu_program_kernel_count(const emu_program *program);
/* In the order of the texts; NULL past the end. */
const emu_kernel *emu_program_kernel_at(const emu_program *program, size_t index);
const emu_kernel_info *emu_kernel_get_info(const emu_kernel *kernel);

/* -- variables --------------------------------------------------------------------- */

/* 1 and address, size of a .global or .const variable, else 0. */
int emu_program_variable(const emu_program *program, const char *name,
                         uint64_t *address, size_t *size);
/* The same for a variable of type .texref or .surfref, which the above leaves out. */
int emu_program_reference(const emu_program *program, const char *name, int surface,
                          uint64_t *address);

#endif
