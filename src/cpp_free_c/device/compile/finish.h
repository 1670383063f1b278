/* The final code of a function, whose registers must have their places. Called by
 * program.c. */
#ifndef DEVICE_COMPILE_FINISH_H
#define DEVICE_COMPILE_FINISH_H

#include "device/compile/lowering.h"

/* Writes the code into `out`. `ops` are the functions of the operations. */
void low_finish(const low_func *f, const emu_op *ops, emu_func *out);

#endif
