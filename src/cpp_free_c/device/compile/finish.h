/* The final code of a function, whose registers must have their places. Called by
 * program.c. */
#ifndef DEVICE_COMPILE_FINISH_H
#define DEVICE_COMPILE_FINISH_H

#include "device/compile/lower_state.h"

/* Writes the code into `out`. `handlers` has the function of each operation. */
void low_finish(const low_func *f, const emu_handler_set *handlers, emu_func *out);

#endif
