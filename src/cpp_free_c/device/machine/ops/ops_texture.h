/* Opening the texture or surface of a lane: shared by ops_texture.c and ops_surface.c.
 */
#ifndef DEVICE_MACHINE_OPS_OPS_TEXTURE_H
#define DEVICE_MACHINE_OPS_OPS_TEXTURE_H

#include "device/compile/encoding.h"
#include "device/machine/warp/machine.h"
#include "device/memory/texture.h"

/* Copies the live texture or surface of a lane's handle into `out` (levels in use
 * alone) once its memory has been checked; false after a fault. */
bool emu_texture_open(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      uint64_t handle, bool surface, emu_texture *out);

#endif
