/* wgmma of a warp: 16 of the 64 rows of D = A * B + C.
 *
 * B, and A unless it is in registers, are in shared memory, where a descriptor says how
 * they lie. wgmma is asynchronous on a GPU. Here it is complete when the instruction
 * ends: a program must not change its operands before wgmma.wait_group, so it cannot
 * see the difference. */
#include "device/machine/ops/ops.h"

#include "device/compile/encoding.h"
#include "device/machine/warp/lanes.h"
#include "device/machine/warp/race_check.h"
#include "device/machine/warp/report.h"
#include "device/machine/warp/warp.h"

enum { GROUP_WARPS = 4, CORE = 8 /* lines of a core matrix */, CORE_BYTES = 16 };

/* A matrix in shared memory, in bytes. */
typedef struct {
    uint32_t start, leading, stride;
    uint32_t width; /* of a line of the swizzle pattern: 16 without a swizzle */
    uint32_t base;  /* the number of the pattern's first line, in 128 bytes */
    unsigned bits;  /* of an element */
    bool by_lines;  /* the elements of a line of A or column of B are not neighbours */
} group_matrix;

static group_matrix
group_matrix_of(uint64_t descriptor, unsigned bits, bool by_lines)
{
    static const uint32_t widths[] = {16, 128, 64, 32};
    const group_matrix m = {.start = (uint32_t)(descriptor & 0x3fff) << 4,
                            .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                            .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                            .width = widths[descriptor >> 62],
                            .base = (uint32_t)(descriptor >> 49 & 7),
                            .bits = bits,
                            .by_lines = by_lines};

    return m;
}

/* The offset in shared memory of byte `byte` of a line. */
static uint32_t
group_offset(const group_matrix *m, unsigned line, unsigned byte)
{
    uint32_t at = m->start;

    if (m->by_lines) {
        const unsigned k = byte / 2, along = line * 2 + byte % 2;

        if (m->width == CORE_BYTES) {
            at += along / CORE_BYTES * m->stride + k / CORE * m->leading;
        }
        else {
            at += along / m->width * m->leading + k / CORE * m->stride;
        }
        at += k % CORE * m->width + along % m->width;
    }
    else {
        at += line / CORE * m->stride + line % CORE * m->width;
        at += byte / m->width * m->leading + byte % m->width;
    }
    return at ^ (((at >> 7) - m->base) & (m->width / CORE_BYTES - 1)) << 4;
}

/* The race check of a line's elements. False after a fault. */
static bool
group_check(emu_warp *warp, const emu_insn *insn, const group_matrix *m, unsigned line,
            unsigned depth)
{
    const unsigned bytes = m->bits / 8;
    const uint64_t shared = (uint64_t)(uintptr_t)warp->block->shared;
    uint64_t at[EMU_LANES];

    for (unsigned first = 0; first < depth; first += EMU_LANES) {
        uint32_t mask = 0;

        for (unsigned i = 0; i < EMU_LANES && first + i < depth; i++) {
            at[i] = shared + group_offset(m, line, (first + i) * bytes);
            mask |= (uint32_t)1 << i;
        }
        if (!emu_race_access(warp, insn, mask, bytes, EMU_RACE_READ, at)) {
            return false;
        }
    }
    return true;
}

/* Read `depth` elements of `lines` lines. False after a fault. */
static bool
group_read(emu_warp *warp, const emu_insn *insn, const group_matrix *m, unsigned first,
           emu_matrix_side side, uint64_t (*out)[EMU_TILE_DEPTH])
{
    const emu_block *block = warp->block;
    const unsigned bytes = m->bits / 8;

    for (unsigned i = 0; i < side.lines; i++) {
        for (unsigned k = 0; k < side.depth; k++) {
            const uint32_t at = group_offset(m, first + i, k * bytes);

            if (at + bytes > block->shared_size) {
                (void)emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, 0, at,
                                "wgmma read %u bytes at offset %u of shared memory, "
                                "which has %zu bytes",
                                bytes, at, block->shared_size);
                return false;
            }
            out[i][k] = 0;
            memcpy(&out[i][k], block->shared + at, bytes);
        }
        if (block->race != NULL && !group_check(warp, insn, m, first + i, side.depth)) {
            return false;
        }
    }
    return true;
}

/* The descriptor is the same in all lanes; read that of the first. */
static uint64_t
group_descriptor(emu_warp *warp, uint32_t operand)
{
    return EMU_SOURCE(u64, operand)[0];
}

typedef struct {
    emu_tile_form form;
    bool a_shared, adds;
    group_matrix a, b;
    const uint32_t *xa, *xc, *indices; /* registers */
} group_work;

static group_work
group_work_of(emu_warp *warp, const emu_insn *insn)
{
    const uint64_t imm = (uint64_t)insn->imm;
    group_work w = {.form = emu_matrix_form(insn),
                    .a_shared = imm >> EMU_MMA_A_SHARED_BIT & 1};
    const emu_tile_form *form = &w.form;
    const unsigned results =
        emu_matrix_registers(EMU_TILE_ROWS * form->columns, form->d_type);

    w.adds = emu_predicate(warp, insn->c, false) & 1;
    w.b = group_matrix_of(group_descriptor(warp, insn->b),
                          emu_matrix_element_bits(form->b_type),
                          imm >> EMU_MMA_B_BY_ROWS_BIT & 1);
    w.xa = insn->x + results;
    w.xc = w.xa;
    if (w.a_shared) {
        w.a = group_matrix_of(group_descriptor(warp, insn->a),
                              emu_matrix_element_bits(form->a_type),
                              imm >> EMU_MMA_A_BY_COLUMNS_BIT & 1);
    }
    else {
        w.xc += 4;
    }
    w.indices = w.xc + results;
    w.form.rows = EMU_TILE_ROWS;
    if (form->a_type == EMU_MATRIX_B1) {
        w.form.depth /= 32;
    }
    return w;
}

/* Eight columns: read B and C, compute, write D. */
static bool
group_columns(emu_warp *warp, const emu_insn *insn, const group_work *w,
              unsigned column, emu_tile *tile)
{
    const emu_matrix_side side = {w->form.b_type, EMU_TILE_COLUMNS, w->form.depth};
    const unsigned registers =
        column / EMU_TILE_COLUMNS *
        emu_matrix_registers(EMU_TILE_ROWS * EMU_TILE_COLUMNS, w->form.d_type);
    emu_tile_form form = w->form;

    if (!group_read(warp, insn, &w->b, column, side, tile->b)) {
        return false;
    }
    if (w->adds) {
        emu_matrix_take_addend(warp, &form, w->xc + registers, tile);
    }
    else {
        memset(tile->c, 0, sizeof tile->c);
    }
    form.columns = EMU_TILE_COLUMNS;
    emu_tile_multiply(&form, tile);
    emu_matrix_give_result(warp, &form, insn->x + registers, tile);
    return true;
}

static void
group_multiply(emu_warp *warp, const emu_insn *insn)
{
    const group_work w = group_work_of(warp, insn);
    const unsigned first = warp->number % GROUP_WARPS * EMU_TILE_ROWS;
    const emu_matrix_side side = {w.form.a_type, EMU_TILE_ROWS,
                                  w.form.depth / (w.form.is_sparse ? 2 : 1)};
    emu_tile tile;

    if (!w.a_shared) {
        emu_matrix_gather(warp, w.xa, side, tile.a);
    }
    else if (!group_read(warp, insn, &w.a, first, side, tile.a)) {
        return;
    }
    if (w.form.is_sparse) {
        emu_matrix_spread(warp, insn, &w.form, w.indices[0], &tile);
    }
    for (unsigned column = 0; column < w.form.columns; column += EMU_TILE_COLUMNS) {
        if (!group_columns(warp, insn, &w, column, &tile)) {
            return;
        }
    }
}

static void
group_phase(emu_warp *warp, const emu_insn *insn, uint32_t mask, uint32_t all,
            int phase)
{
    if (phase != 0 && (mask & all & (0 - all))) {
        group_multiply(warp, insn);
    }
}

/* x: registers of D, of A unless it is in shared memory, of C, the indices; a, b: the
 * descriptors; c: whether to add C; imm: EMU_MMA_ fields */
const emu_insn *
emu_op_wgmma(emu_warp *warp, const emu_insn *insn)
{
    const emu_insn *const next = emu_sync(warp, insn, EMU_WHOLE_WARP, group_phase);

    if (warp->stop == EMU_STOP_FAULT) {
        return NULL;
    }
    return next;
}
