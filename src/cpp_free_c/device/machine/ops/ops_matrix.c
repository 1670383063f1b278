/* mma of a warp: D = A * B + C, with the matrices in registers of all lanes.
 *
 * Lane 4 g + t has parts of row g and, of a matrix with 16 rows, of row g + 8. Its
 * elements of a row are those at 4 * E * i + E * t and the E - 1 after it, where a
 * register has E elements. B is held like the transposed A. A register of C or D is
 * at column 2 * t or 2 * t + 1. lower_wmma.c makes wmma of the same operation. */
#include "device/compile/encoding.h"
#include "device/machine/ops/ops.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/warp.h"

enum { GROUP = 4 /* lanes that share a row */, ROWS_OF_LANES = 8 };

static unsigned
matrix_field(uint64_t imm, unsigned shift, unsigned bits)
{
    return (unsigned)(imm >> shift) & ((1u << bits) - 1);
}

static bool
matrix_flag(uint64_t imm, unsigned bit)
{
    return imm >> bit & 1;
}

emu_tile_form
emu_matrix_form(const emu_insn *insn)
{
    const uint64_t imm = (uint64_t)insn->imm;
    emu_tile_form form = {.d_type = (uint8_t)matrix_field(imm, EMU_MMA_D_SHIFT, 4),
                          .a_type = (uint8_t)matrix_field(imm, EMU_MMA_A_SHIFT, 4),
                          .b_type = (uint8_t)matrix_field(imm, EMU_MMA_B_SHIFT, 4),
                          .c_type = (uint8_t)matrix_field(imm, EMU_MMA_C_SHIFT, 4),
                          .rows = matrix_field(imm, EMU_MMA_ROWS_SHIFT, 8),
                          .columns = matrix_field(imm, EMU_MMA_COLUMNS_SHIFT, 12),
                          .depth = matrix_field(imm, EMU_MMA_DEPTH_SHIFT, 12),
                          .rounding = matrix_field(imm, EMU_MMA_ROUNDING_SHIFT, 2),
                          .satfinite = matrix_flag(imm, EMU_MMA_SATFINITE_BIT),
                          .is_xor = matrix_flag(imm, EMU_MMA_XOR_BIT),
                          .a_negated = matrix_flag(imm, EMU_MMA_A_NEGATED_BIT),
                          .b_negated = matrix_flag(imm, EMU_MMA_B_NEGATED_BIT),
                          .is_group = matrix_flag(imm, EMU_MMA_GROUP_BIT),
                          .is_sparse = matrix_flag(imm, EMU_MMA_SPARSE_BIT)};

    return form;
}

unsigned
emu_matrix_element_bits(unsigned type)
{
    if (type == EMU_MATRIX_B1) {
        return 32;
    }
    return emu_matrix_bits(type);
}

/* The bits of one register of a lane. */
static uint64_t
matrix_register(emu_warp *warp, uint32_t x, unsigned lane, unsigned bits)
{
    if (bits == 64) {
        return EMU_SOURCE(u64, x)[lane];
    }
    return EMU_SOURCE(u32, x)[lane];
}

void
emu_matrix_gather(emu_warp *warp, const uint32_t *x, emu_matrix_side side,
                  uint64_t (*out)[EMU_TILE_DEPTH])
{
    const unsigned bits = emu_matrix_element_bits(side.type);
    const unsigned parts = bits == 64 ? 1 : 32 / bits;
    const unsigned blocks = side.lines / ROWS_OF_LANES;
    const unsigned count = blocks * side.depth / (GROUP * parts);
    const uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;

    for (unsigned i = 0; i < count; i++) {
        const unsigned first = i / blocks * GROUP * parts;

        for (unsigned lane = 0; lane < EMU_LANES; lane++) {
            uint64_t *line = out[lane / GROUP + i % blocks * ROWS_OF_LANES];
            uint64_t word = matrix_register(warp, x[i], lane, bits);

            line += first + lane % GROUP * parts;
            for (unsigned part = 0; part < parts; part++) {
                line[part] = word & mask;
                word >>= bits % 64;
            }
        }
    }
}

/* -- C and D ----------------------------------------------------------------------- */

/* The lane and the slot of an element of a tile of C or D. */
static unsigned
matrix_lane_of(unsigned row, unsigned column)
{
    return row % ROWS_OF_LANES * GROUP + column / 2;
}

static unsigned
matrix_slot_of(unsigned row, unsigned column)
{
    return column % 2 + row / ROWS_OF_LANES * 2;
}

void
emu_matrix_take_addend(emu_warp *warp, const emu_tile_form *form, const uint32_t *x,
                       emu_tile *tile)
{
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < EMU_TILE_COLUMNS; j++) {
            const unsigned lane = matrix_lane_of(i, j), slot = matrix_slot_of(i, j);

            switch (emu_matrix_bits(form->c_type)) {
                case 64:
                    tile->c[i][j] = EMU_SOURCE(u64, x[slot])[lane];
                    break;
                case 32:
                    tile->c[i][j] = EMU_SOURCE(u32, x[slot])[lane];
                    break;
                default:
                    tile->c[i][j] =
                        EMU_SOURCE(u32, x[slot / 2])[lane] >> (16 * (slot & 1)) &
                        0xffff;
                    break;
            }
        }
    }
}

void
emu_matrix_give_result(emu_warp *warp, const emu_tile_form *form, const uint32_t *x,
                       const emu_tile *tile)
{
    for (unsigned i = 0; i < form->rows; i++) {
        for (unsigned j = 0; j < EMU_TILE_COLUMNS; j++) {
            const unsigned lane = matrix_lane_of(i, j), slot = matrix_slot_of(i, j);

            switch (emu_matrix_bits(form->d_type)) {
                case 64:
                    EMU_TARGET(u64, x[slot])[lane] = tile->d[i][j];
                    break;
                case 32:
                    EMU_TARGET(u32, x[slot])[lane] = (uint32_t)tile->d[i][j];
                    break;
                default:
                    EMU_TARGET(u16, x[slot / 2])
                    [2 * lane + (slot & 1)] = (uint16_t)tile->d[i][j];
                    break;
            }
        }
    }
}

/* -- m8n8k4 of halves: four products, each of eight lanes -------------------------- */

enum { QUADS = 4, QUAD_SIDE = 8, QUAD_DEPTH = 4 };

/* The lane with number `i` of the eight lanes of a product. */
static unsigned
matrix_quad_lane(unsigned quad, unsigned i)
{
    return quad * 4 + i % 4 + i / 4 * 16;
}

static uint64_t
matrix_half(emu_warp *warp, const uint32_t *x, unsigned lane, unsigned i)
{
    return EMU_SOURCE(u32, x[i / 2])[lane] >> (16 * (i & 1)) & 0xffff;
}

/* Line `i` of A or column `i` of B. A dense one is in the registers of one lane. */
static void
matrix_quad_line(emu_warp *warp, const uint32_t *x, unsigned quad, unsigned i,
                 bool dense, uint64_t *out)
{
    for (unsigned k = 0; k < QUAD_DEPTH; k++) {
        if (dense) {
            out[k] = matrix_half(warp, x, matrix_quad_lane(quad, i), k);
        }
        else {
            out[k] = matrix_half(warp, x, matrix_quad_lane(quad, i / 4 * 4 + k), i % 4);
        }
    }
}

/* The register of an element of C or D in single precision, and its lane among eight.
 */
static unsigned
matrix_quad_slot(unsigned row, unsigned column, unsigned *lane)
{
    *lane = (row & 5) | (column & 2);
    return (row & 2) | (column & 4) | (column & 1);
}

static void
matrix_quad_addend(emu_warp *warp, const emu_tile_form *form, const uint32_t *x,
                   unsigned quad, emu_tile *tile)
{
    for (unsigned i = 0; i < QUAD_SIDE; i++) {
        for (unsigned j = 0; j < QUAD_SIDE; j++) {
            unsigned lane;
            const unsigned slot = matrix_quad_slot(i, j, &lane);

            if (form->c_type == EMU_MATRIX_F16) {
                tile->c[i][j] = matrix_half(warp, x, matrix_quad_lane(quad, i), j);
            }
            else {
                tile->c[i][j] = EMU_SOURCE(u32, x[slot])[matrix_quad_lane(quad, lane)];
            }
        }
    }
}

static void
matrix_quad_result(emu_warp *warp, const emu_tile_form *form, const uint32_t *x,
                   unsigned quad, const emu_tile *tile)
{
    for (unsigned i = 0; i < QUAD_SIDE; i++) {
        for (unsigned j = 0; j < QUAD_SIDE; j++) {
            unsigned lane;
            const unsigned slot = matrix_quad_slot(i, j, &lane);

            if (form->d_type == EMU_MATRIX_F16) {
                EMU_TARGET(u16, x[j / 2])
                [2 * matrix_quad_lane(quad, i) + (j & 1)] = (uint16_t)tile->d[i][j];
            }
            else {
                EMU_TARGET(u32, x[slot])
                [matrix_quad_lane(quad, lane)] = (uint32_t)tile->d[i][j];
            }
        }
    }
}

static void
matrix_quads(emu_warp *warp, const emu_insn *insn, const emu_tile_form *form)
{
    const uint64_t imm = (uint64_t)insn->imm;
    const bool a_dense = !matrix_flag(imm, EMU_MMA_A_BY_COLUMNS_BIT);
    const bool b_dense = matrix_flag(imm, EMU_MMA_B_BY_ROWS_BIT);
    const uint32_t *const xa = insn->x + (form->d_type == EMU_MATRIX_F16 ? 4 : 8);
    emu_tile tile[QUADS];

    for (unsigned quad = 0; quad < QUADS; quad++) {
        for (unsigned i = 0; i < QUAD_SIDE; i++) {
            matrix_quad_line(warp, xa, quad, i, a_dense, tile[quad].a[i]);
            matrix_quad_line(warp, xa + 2, quad, i, !b_dense, tile[quad].b[i]);
        }
        matrix_quad_addend(warp, form, xa + 4, quad, &tile[quad]);
        emu_tile_multiply(form, &tile[quad]);
    }
    for (unsigned quad = 0; quad < QUADS; quad++) {
        matrix_quad_result(warp, form, insn->x, quad, &tile[quad]);
    }
}

/* -- the operation ----------------------------------------------------------------- */

static void
matrix_multiply(emu_warp *warp, const emu_insn *insn)
{
    emu_tile_form form = emu_matrix_form(insn);
    const unsigned side = form.rows * EMU_TILE_COLUMNS, depth = form.depth;
    const unsigned stored = form.is_sparse ? depth / 2 : depth;
    const uint32_t *x = insn->x;
    emu_tile tile;

    if (form.a_type == EMU_MATRIX_F16 && form.rows == QUAD_SIDE) {
        matrix_quads(warp, insn, &form);
        return;
    }
    if (form.a_type == EMU_MATRIX_B1) {
        form.depth /= 32;
    }
    x += emu_matrix_registers(side, form.d_type);
    emu_matrix_gather(warp, x,
                      (emu_matrix_side){form.a_type, form.rows,
                                        form.depth / (form.is_sparse ? 2 : 1)},
                      tile.a);
    x += emu_matrix_registers(form.rows * stored, form.a_type);
    emu_matrix_gather(
        warp, x, (emu_matrix_side){form.b_type, EMU_TILE_COLUMNS, form.depth}, tile.b);
    x += emu_matrix_registers(EMU_TILE_COLUMNS * depth, form.b_type);
    emu_matrix_take_addend(warp, &form, x, &tile);
    x += emu_matrix_registers(side, form.c_type);
    if (form.is_sparse) {
        emu_matrix_spread(warp, insn, &form, x[0], &tile);
    }
    emu_tile_multiply(&form, &tile);
    emu_matrix_give_result(warp, &form, insn->x, &tile);
}

/* When all lanes have arrived, the group with the first lane computes for all of them.
 */
static void
matrix_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
             int phase)
{
    if (phase != 0 && (mask & all & (0 - all))) {
        matrix_multiply(warp, insn);
    }
}

/* x: registers of D, then of A, B, C and the indices; imm: EMU_MMA_ fields */
const emu_insn *
emu_op_mma(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, EMU_WHOLE_WARP, matrix_phase);
}

/* -- sparse matrices --------------------------------------------------------------- */

/* Sparse matrices: two of four elements are stored, or one of two of tf32.
 *
 * Four bits of the indices say where a stored pair belongs: the first two bits place
 * the first element, the others the second. An element of tf32 counts as two, and of 4
 * bits as half of one. The lanes of a row hold the indices of the row g in their low
 * half and of row g + 8 in the high half or, of elements of 8 and 4 bits, in the next
 * lane. PTX shows it in figures only; it was confirmed by recordings. */

enum { HALF_ROWS = 8, LANES_OF_ROW = 4 };

/* The four bits that place pair `pair` of a row. */
static unsigned
sparse_nibble(emu_warp *warp, uint32_t x, unsigned bits, unsigned selector,
              unsigned row, unsigned pair)
{
    const u32 *const words = EMU_SOURCE(u32, x);
    const unsigned first = row % HALF_ROWS * LANES_OF_ROW;

    if (bits >= 16) {
        const uint32_t word = words[first + selector + pair / 4];

        return word >> (row / HALF_ROWS * 16 + pair % 4 * 4) & 15;
    }
    return words[first + selector + row / HALF_ROWS + pair / 8 * 2] >> (pair % 8 * 4) &
           15;
}

void
emu_matrix_spread(emu_warp *warp, const emu_insn *insn, const emu_tile_form *form,
                  uint32_t x, emu_tile *tile)
{
    const unsigned bits = emu_matrix_bits(form->a_type);
    /* elements that move together, and pairs of them in a row */
    const unsigned run = bits == 4 ? 2 : 1;
    const unsigned pairs = form->depth / (bits == 32 ? 2 : 4 * run);
    const unsigned lanes = bits >= 16 ? (pairs + 3) / 4 : (pairs + 7) / 8 * 2;
    const unsigned selector =
        (unsigned)((uint64_t)insn->imm >> EMU_MMA_SELECTOR_SHIFT & 3) * lanes;

    for (unsigned row = 0; row < EMU_TILE_ROWS; row++) {
        uint64_t stored[EMU_TILE_DEPTH];

        memcpy(stored, tile->a[row], sizeof stored);
        for (unsigned k = 0; k < form->depth; k++) {
            tile->a[row][k] = EMU_TILE_ABSENT;
        }
        for (unsigned pair = 0; pair < pairs; pair++) {
            const unsigned nibble =
                sparse_nibble(warp, x, bits, selector % LANES_OF_ROW, row, pair);

            if (bits == 32) {
                tile->a[row][2 * pair + (nibble >> 1 & 1)] = stored[pair];
                continue;
            }
            for (unsigned i = 0; i < 2 * run; i++) {
                const unsigned place = nibble >> (i / run * 2) & 3;

                tile->a[row][(4 * pair + place) * run + i % run] =
                    stored[2 * pair * run + i];
            }
        }
    }
}
