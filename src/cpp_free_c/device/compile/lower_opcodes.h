/* The functions that lower the opcodes: the column `lower` of tables/opcodes.h. Each
 * lowers the instruction f->in; f->ops are the operations of its row. Called by
 * lower.c.
 */
#ifndef DEVICE_COMPILE_LOWER_OPCODES_H
#define DEVICE_COMPILE_LOWER_OPCODES_H

#include "device/compile/lower_state.h"

#define LOW_PROTOTYPE(opcode, lower, ...) void lower(low_func *f);
PTX_OPCODES(LOW_PROTOTYPE)
#undef LOW_PROTOTYPE

#endif
