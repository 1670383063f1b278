/* The arithmetic of tensor cores on one tile: D = A * B + C.
 *
 * A tile has up to 16 rows, 8 columns and a depth of 128. Its elements are bits, which
 * the types of the form explain. The results are those of an H200. Called by
 * ops_matrix.c and ops_matrix_group.c. */
#ifndef DEVICE_MACHINE_OPS_TENSOR_CORE_H
#define DEVICE_MACHINE_OPS_TENSOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

enum { EMU_TILE_ROWS = 16, EMU_TILE_COLUMNS = 8, EMU_TILE_DEPTH = 128 };

/* The element is not stored: a zero of a sparse matrix. No stored element of a sparse
 * matrix has this bit. */
#define EMU_TILE_ABSENT ((uint64_t)1 << 63)

typedef struct {
    uint64_t a[EMU_TILE_ROWS][EMU_TILE_DEPTH];
    uint64_t b[EMU_TILE_COLUMNS][EMU_TILE_DEPTH];
    uint64_t c[EMU_TILE_ROWS][EMU_TILE_COLUMNS];
    uint64_t d[EMU_TILE_ROWS][EMU_TILE_COLUMNS];
} emu_tile;

typedef struct {
    uint8_t d_type, a_type, b_type, c_type; /* EMU_MATRIX_ types */
    unsigned rows, columns, depth;          /* of b1: words of 32 elements */
    unsigned rounding;                      /* of f64: EMU_RN to EMU_RP */
    bool satfinite, is_xor;
    bool a_negated, b_negated;
    bool is_group; /* wgmma, which has 8-bit floats of its own */
    bool is_sparse;
} emu_tile_form;

/* Compute tile->d from the rest. */
void emu_tile_multiply(const emu_tile_form *form, emu_tile *tile);

#endif
