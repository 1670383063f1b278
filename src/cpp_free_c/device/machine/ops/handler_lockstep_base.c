/* The handlers for warps in lockstep, for any processor. See handler_table.inc. */
#define EMU_HANDLERS emu_lockstep_base
#define EMU_LOCKSTEP
#include "device/machine/ops/handler_table.inc"
