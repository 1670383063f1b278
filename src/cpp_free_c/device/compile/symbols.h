/* The symbols of a program: the definition of each name, and the initialisers of
 * variables, which may hold addresses. Called by program.c between parsing and
 * lowering.
 */
#ifndef DEVICE_COMPILE_SYMBOLS_H
#define DEVICE_COMPILE_SYMBOLS_H

#include "device/ptx/ir.h"

/* Removes the modules of libraries that define nothing that the others need. If all are
 * of libraries, all stay. Returns the first of those that stay. */
ptx_module *emu_symbols_choose(ptx_module *modules);
/* Sets `same` of each declaration to its definition, in whichever module it is. */
void emu_symbols_link(emu_load *load, ptx_module *modules);
/* Writes the initialisers of a module's variables into their memory, at `address`. */
void emu_symbols_initialise(emu_load *load, ptx_module *module);

#endif
