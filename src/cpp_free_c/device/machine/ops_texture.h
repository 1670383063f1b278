/* How textures and surfaces are named in instructions: aux of the operations that
 * lower_tex.c writes and ops_tex.c, ops_surf.c run.
 *
 * tex: operand a is the handle; x holds the results (4, or 2 of packed halves), the
 * layer, the coordinates, then the level or two derivatives of as many parts as there
 * are coordinates, then the offsets.
 * suld, sust, sured: a is the handle; x holds the values, the layer, the coordinates.
 * tex_query: a is the handle, b the level, aux the PTX_W_ word; imm is 1 for a surface.
 */
#ifndef DEVICE_MACHINE_OPS_TEXTURE_H
#define DEVICE_MACHINE_OPS_TEXTURE_H

#include "device/machine/machine.h"
#include "device/memory/texture.h"

enum {
    EMU_TEX_GEOMETRY = 7, /* emu_geometry */
    EMU_TEX_INTEGER = 1 << 3,
    EMU_TEX_LEVEL = 1 << 4,
    EMU_TEX_GRADIENT = 1 << 5,
    EMU_TEX_GATHER = 1 << 6,
    EMU_TEX_CHANNEL_SHIFT = 7, /* of a gather, two bits */
    EMU_TEX_OFFSETS = 1 << 9,
    EMU_TEX_HALVES = 1 << 10
};

enum {
    EMU_SURF_TRAP,
    EMU_SURF_CLAMP,
    EMU_SURF_ZERO,
    EMU_SURF_MODE_SHIFT = 3,   /* two bits */
    EMU_SURF_COUNT_SHIFT = 8,  /* elements, four bits */
    EMU_SURF_BYTES_SHIFT = 12, /* of an element, five bits */
    EMU_SURF_WIDE_SHIFT = 17   /* of a register, five bits */
};

/* Copies the live texture or surface of a lane's handle into `out` (levels in use
 * alone) once its memory has been checked; false after a fault. */
bool emu_texture_open(emu_warp *warp, const emu_insn *insn, unsigned lane,
                      uint64_t handle, bool surface, emu_texture *out);

#endif
