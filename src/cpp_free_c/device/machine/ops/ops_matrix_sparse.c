/* Sparse matrices: two of four elements are stored, or one of two of tf32.
 *
 * Four bits of the indices say where a stored pair belongs: the first two bits place
 * the first element, the others the second. An element of tf32 counts as two, and of 4
 * bits as half of one. The lanes of a row hold the indices of the row g in their low
 * half and of row g + 8 in the high half or, of elements of 8 and 4 bits, in the next
 * lane. PTX shows it in figures only; it was confirmed by recordings. */
#include "device/machine/ops/ops_matrix.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"

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
