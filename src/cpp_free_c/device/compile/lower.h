/* From a parsed function to instructions over virtual registers. Called by program.c,
 * which passes the result to low_allocate (registers.h) and low_finish (finish.h). */
#ifndef DEVICE_COMPILE_LOWER_H
#define DEVICE_COMPILE_LOWER_H

#include "device/compile/lower_state.h"

/* Bytes at the start of a kernel's local memory that no variable has. */
enum { LOW_ENTRY_ROOM = 16 };

/* Sets the slots of a function, its name, and local_size as far as it is known. All
 * functions must be declared before a call is lowered. */
void low_declare(emu_load *load, ptx_function *function, emu_func *out);
/* Makes the registers of f->function, and the instruction that enters it. */
void low_begin(low_func *f);
/* Lowers all instructions of f->function. */
void low_instructions(low_func *f);

#endif
