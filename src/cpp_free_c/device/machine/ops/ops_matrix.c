/* wmma.mma of a warp: D = A * B + C of 16 by 16 elements.
 *
 * PTX does not define how the lanes share a matrix; lower_matrix.c documents the choice
 * of this device. Products are exact; their sum is rounded once. */
#include "device/machine/warp/machine.h"

#include "device/base/half.h"
#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/sync.h"

enum { SIDE = 16, HALF = 8 };

static double
matrix_half_of_word(uint32_t word, unsigned which)
{
    return emu_half_value((uint16_t)(word >> (16 * which)), EMU_F16);
}

/* The element in slot `slot` of a lane. A register of halves has two elements. */
static double
matrix_half_slot(emu_warp *warp, const uint32_t *x, unsigned lane, unsigned slot)
{
    return matrix_half_of_word(EMU_SOURCE(u32, x[slot / 2])[lane], slot & 1);
}

/* Elements by (row, column) of A, (column, row) of B, row and column of C and D: `far`
 * runs over the lanes' groups of four, `near` within them. */
static unsigned
matrix_lane_of(unsigned far, unsigned near)
{
    return (far % HALF) * 4 + (near % HALF) / 2;
}

static unsigned
matrix_slot_of(unsigned far, unsigned near)
{
    return near % 2 + (far / HALF) * 2 + (near / HALF) * 4;
}

static double
matrix_addend(emu_warp *warp, const emu_insn *insn, const uint32_t *x, unsigned lane,
              unsigned slot)
{
    if (insn->aux & EMU_WMMA_C_HALF) {
        return matrix_half_slot(warp, x, lane, slot);
    }
    return (double)EMU_SOURCE(f32, x[slot])[lane];
}

static void
matrix_write_result(emu_warp *warp, const emu_insn *insn, unsigned lane, unsigned slot,
                    double value)
{
    if (insn->aux & EMU_WMMA_D_HALF) {
        u32 *const word = &EMU_TARGET(u32, insn->x[slot / 2])[lane];
        const unsigned shift = 16 * (slot & 1);

        *word = (*word & ~(0xffffu << shift)) |
                (uint32_t)emu_half_round(value, EMU_F16, EMU_RN) << shift;
    }
    else {
        EMU_TARGET(f32, insn->x[slot])[lane] = canonical((float)value);
    }
}

/* When all lanes have arrived, the group with the first lane computes for all of them.
 */
static void
matrix_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
             int phase)
{
    const unsigned results = insn->aux & EMU_WMMA_D_HALF ? 4 : 8;
    const uint32_t *const xa = insn->x + results, *const xb = xa + 4,
                          *const xc = xb + 4;
    double a[SIDE][SIDE], b[SIDE][SIDE], d[SIDE][SIDE];
    unsigned i, j, k;

    if (phase == 0 || !(mask & all & (0 - all))) {
        return;
    }
    for (i = 0; i < SIDE; i++) {
        for (j = 0; j < SIDE; j++) {
            a[i][j] =
                matrix_half_slot(warp, xa, matrix_lane_of(i, j), matrix_slot_of(i, j));
            b[i][j] =
                matrix_half_slot(warp, xb, matrix_lane_of(i, j), matrix_slot_of(i, j));
            d[i][j] = matrix_addend(warp, insn, xc, matrix_lane_of(i, j),
                                    matrix_slot_of(i, j));
        }
    }
    for (i = 0; i < SIDE; i++) {
        for (j = 0; j < SIDE; j++) {
            double sum = 0.0;

            for (k = 0; k < SIDE; k++) {
                sum += a[i][k] * b[j][k];
            }
            matrix_write_result(warp, insn, matrix_lane_of(i, j), matrix_slot_of(i, j),
                                sum + d[i][j]);
        }
    }
}

/* x: registers of D, then of A, B, C; aux: EMU_WMMA_ flags */
const emu_insn *
emu_op_wmma(emu_warp *warp, const emu_insn *insn)
{
    return emu_sync(warp, insn, EMU_WHOLE_WARP, matrix_phase);
}
