/* Prints the functions of a program to stderr after each pass of the loader.
 *
 * The letters in PYCUDA_EMULATOR_DUMP name the passes: p for parsing, l for lowering, r
 * for the places of registers, c for the final code. For developers of the software
 * device. Called by program.c and lower.c. */
#ifndef DEVICE_COMPILE_DUMP_H
#define DEVICE_COMPILE_DUMP_H

#include "device/compile/lower_state.h"

enum {
    EMU_DUMP_PARSED = 1,
    EMU_DUMP_LOWERED = 2,
    EMU_DUMP_REGISTERS = 4,
    EMU_DUMP_CODE = 8
};

/* The EMU_DUMP_ flags of the environment variable. */
unsigned emu_dump_flags(void);

/* A function as the parser left it. */
void emu_dump_parsed(const ptx_function *function);
/* The PTX instruction f->in and its machine instructions, which are those from number
 * `first` on. */
void emu_dump_lowered(const low_func *f, size_t first);
/* The machine instructions with the places of their registers in the frame. */
void emu_dump_registers(const low_func *f);
/* The final code; `handlers` has the function of each operation. */
void emu_dump_code(const emu_func *func, const emu_handler_set *handlers);

#endif
