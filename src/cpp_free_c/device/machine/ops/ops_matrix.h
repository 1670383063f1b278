/* Matrices in the registers of a warp. See ops_matrix.c. Called by ops_matrix_group.c
 * and ops_matrix_sparse.c. */
#ifndef DEVICE_MACHINE_OPS_OPS_MATRIX_H
#define DEVICE_MACHINE_OPS_OPS_MATRIX_H

#include "device/machine/ops/tensor_core.h"
#include "device/machine/warp/machine.h"

/* A or B: its type, its rows or columns, and the elements that each of them has. */
typedef struct {
    unsigned type, lines, depth;
} emu_matrix_side;

/* The form that imm of the instruction has. */
emu_tile_form emu_matrix_form(const emu_insn *insn);
/* The bits that a tile has as one element: those of the type, and 32 of b1. */
unsigned emu_matrix_element_bits(unsigned type);
/* Read A or B from the registers of all lanes. */
void emu_matrix_gather(emu_warp *warp, const uint32_t *x, emu_matrix_side side,
                       uint64_t (*out)[EMU_TILE_DEPTH]);
/* Read eight columns of C, and write eight columns of D. */
void emu_matrix_take_addend(emu_warp *warp, const emu_tile_form *form,
                            const uint32_t *x, emu_tile *tile);
void emu_matrix_give_result(emu_warp *warp, const emu_tile_form *form,
                            const uint32_t *x, const emu_tile *tile);
/* Move the stored elements of a sparse A to the places that the indices in register
 * `x` name, and mark the others as absent. */
void emu_matrix_spread(emu_warp *warp, const emu_insn *insn, const emu_tile_form *form,
                       uint32_t x, emu_tile *tile);

#endif
