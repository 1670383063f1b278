/* The interpreter's operations for any processor. See interp.inc. */
#define EMU_TABLE emu_ops_base
#include "device/machine/interpreter.inc"
