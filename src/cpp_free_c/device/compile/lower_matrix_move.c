/* Lowering of ldmatrix, stmatrix and movmatrix, which move matrices of 8 by 8 elements
 * of 16 bits. See lower_opcodes.h.
 *
 * Lane 4 g + t has the elements 2 t and 2 t + 1 of row g of a matrix or, of a
 * transposed one, of column g. Lane 8 i + r names the address of row r of matrix i. The
 * other lanes learn it by a shuffle. */
#include "device/compile/encoding.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

enum {
    MAX_MATRICES = 4,
    ROWS = 8,
    ROW_BYTES = 16,
    SHUFFLE_BY_INDEX = 3,
    NO_PREDICATE = 4
};

/* d = shfl.idx a, lane of all lanes */
static low_value
move_shuffled(low_func *f, low_value a, low_value lane)
{
    low_value d = low_temp(f, PTX_R32);
    low_insn *insn =
        low_emit(f, EMU_OP_shfl, d, a, lane, low_constant(f, PTX_R32, 0x1f));

    insn->aux = SHUFFLE_BY_INDEX | NO_PREDICATE;
    insn->imm = 1;
    low_add_x(f, insn, low_constant(f, PTX_R32, UINT32_MAX), false);
    return d;
}

static low_value
move_binary(low_func *f, unsigned op, low_value a, uint64_t b)
{
    low_value d = low_temp(f, PTX_R32);

    low_emit(f, op, d, a, low_constant(f, PTX_R32, b), 0);
    return d;
}

static low_value
move_sum(low_func *f, low_value a, low_value b)
{
    low_value d = low_temp(f, PTX_R32);

    low_emit(f, EMU_OP_add_32, d, a, b, 0);
    return d;
}

/* -- ldmatrix, stmatrix ------------------------------------------------------------ */

/* Where the elements of a lane are. */
typedef struct {
    low_place place;    /* without the base */
    low_value address;  /* of the row that the lane names */
    low_value lane;     /* the lane of a row, of matrix 0 */
    low_value offset;   /* bytes in the row */
    bool is_transposed; /* the second element is in the next row */
} move_rows;

static move_rows
move_rows_of(low_func *f, const ptx_operand *operand)
{
    move_rows rows = {.place = low_address(f, operand),
                      .is_transposed = low_has(f, PTX_W_trans)};
    const low_value lane = low_lane(f);
    low_value base = rows.place.base;

    if (!(rows.place.aux & (EMU_AT_BASE32 | EMU_AT_BASE64))) {
        base = low_constant(f, PTX_R32, 0);
    }
    if (rows.place.aux & EMU_AT_BASE64) { /* in the window of shared memory */
        base = low_temp(f, PTX_R32);
        low_convert(f, base, PTX_R32, rows.place.base, PTX_R64, PTX_W_u32);
    }
    /* An address that is no multiple of 16 becomes odd, so that the access faults. */
    rows.address = move_binary(f, EMU_OP_and_32, base, ROW_BYTES - 1);
    rows.address = move_binary(f, EMU_OP_min_u32, rows.address, 1);
    rows.address = move_sum(f, base, rows.address);
    rows.place.aux = EMU_AT_SHARED | EMU_AT_BASE32;
    if (rows.is_transposed) {
        rows.lane = move_binary(f, EMU_OP_and_32, lane, 3);
        rows.lane = move_binary(f, EMU_OP_shl_32, rows.lane, 1);
        rows.offset = move_binary(f, EMU_OP_shr_u32, lane, 2);
        rows.offset = move_binary(f, EMU_OP_shl_32, rows.offset, 1);
    }
    else {
        rows.lane = move_binary(f, EMU_OP_shr_u32, lane, 2);
        rows.offset = move_binary(f, EMU_OP_and_32, lane, 3);
        rows.offset = move_binary(f, EMU_OP_shl_32, rows.offset, 2);
    }
    return rows;
}

/* The place of the lane's element `part` of matrix `number`; of two elements, unless
 * the matrix is transposed. */
static low_place
move_place(low_func *f, const move_rows *rows, unsigned number, unsigned part)
{
    const low_value lane =
        move_binary(f, EMU_OP_add_32, rows->lane, (uint64_t)number * ROWS + part);
    low_place place = rows->place;

    place.base = move_sum(f, move_shuffled(f, rows->address, lane), rows->offset);
    return place;
}

/* The matrices of the instruction; fails for a form that the hardware lacks. */
static unsigned
move_count(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_x1, PTX_W_x2, PTX_W_x4};
    static const unsigned counts[] = {1, 2, 4, 0};
    const unsigned count = counts[low_find(f, words, 3)];

    low_check_operand_count(f, 2, 2);
    if (count == 0 || !low_has(f, PTX_W_m8n8) || !low_has(f, PTX_W_sync)) {
        low_unsupported(f);
    }
    return count;
}

/* The registers of the operand; one may be without braces. */
static const ptx_operand *
move_items(const low_func *f, const ptx_operand *operand, unsigned count)
{
    if (operand->kind == PTX_O_VECTOR && operand->count == count) {
        return operand->items;
    }
    if (operand->kind == PTX_O_VECTOR || count != 1) {
        low_fail(f, "the form needs %u registers", count);
    }
    return operand;
}

void
low_ldmatrix(low_func *f)
{
    const unsigned count = move_count(f);
    const ptx_operand *items = move_items(f, &f->in->operands[0], count);
    const uint32_t skip = low_guard_begin(f);
    const move_rows rows = move_rows_of(f, &f->in->operands[1]);
    low_value found[MAX_MATRICES];

    for (unsigned i = 0; i < count; i++) {
        found[i] = low_temp(f, PTX_R32);
        if (rows.is_transposed) {
            low_value parts[2];

            for (unsigned part = 0; part < 2; part++) {
                parts[part] = low_temp(f, PTX_R16);
                low_access(f, EMU_OP_ld_u16_16, parts[part],
                           move_place(f, &rows, i, part), 0);
            }
            low_emit(f, EMU_OP_join_32, found[i], parts[0], parts[1], 0);
        }
        else {
            low_access(f, EMU_OP_ld_u32_32, found[i], move_place(f, &rows, i, 0), 0);
        }
    }
    /* the address may be one of the targets */
    for (unsigned i = 0; i < count; i++) {
        low_emit(f, EMU_OP_mov_32, low_target(f, &items[i], PTX_R32), found[i], 0, 0);
    }
    low_guard_end(f, skip);
}

void
low_stmatrix(low_func *f)
{
    const unsigned count = move_count(f);
    const ptx_operand *items = move_items(f, &f->in->operands[1], count);
    const uint32_t skip = low_guard_begin(f);
    const move_rows rows = move_rows_of(f, &f->in->operands[0]);

    for (unsigned i = 0; i < count; i++) {
        const low_value value = low_source(f, &items[i], PTX_W_b32);

        if (!rows.is_transposed) {
            low_access(f, EMU_OP_st_32_32, 0, move_place(f, &rows, i, 0), value);
            continue;
        }
        for (unsigned part = 0; part < 2; part++) {
            low_value half = low_temp(f, PTX_R16);

            low_emit(f, EMU_OP_part_16from32, half, value, 0, 0)->imm =
                (int64_t)16 * part;
            low_access(f, EMU_OP_st_16_16, 0, move_place(f, &rows, i, part), half);
        }
    }
    low_guard_end(f, skip);
}

/* -- movmatrix --------------------------------------------------------------------- */

/* Lane 4 g + t gets the elements g of rows 2 t and 2 t + 1, which the lanes
 * 8 t + g / 2 and 4 lanes further have. */
void
low_movmatrix(low_func *f)
{
    const uint32_t skip = low_guard_begin(f);
    const low_value lane = low_lane(f);
    low_value value, from, shift, words[2];

    low_check_operand_count(f, 2, 2);
    if (!low_has(f, PTX_W_m8n8) || !low_has(f, PTX_W_trans)) {
        low_unsupported(f);
    }
    value = low_source_at(f, 1, PTX_W_b32);
    from = move_binary(f, EMU_OP_and_32, lane, 3);
    from = move_binary(f, EMU_OP_shl_32, from, 3);
    from = move_sum(f, from, move_binary(f, EMU_OP_shr_u32, lane, 3));
    shift = move_binary(f, EMU_OP_and_32, lane, 4);
    shift = move_binary(f, EMU_OP_shl_32, shift, 2);
    for (unsigned i = 0; i < 2; i++) {
        const low_value source = move_binary(f, EMU_OP_add_32, from, 4 * (uint64_t)i);
        const low_value word = low_temp(f, PTX_R32);

        low_emit(f, EMU_OP_shr_u32, word, move_shuffled(f, value, source), shift, 0);
        words[i] = move_binary(f, EMU_OP_and_32, word, 0xffff);
    }
    words[1] = move_binary(f, EMU_OP_shl_32, words[1], 16);
    low_emit(f, EMU_OP_or_32, low_result(f, PTX_W_b32), words[0], words[1], 0);
    low_guard_end(f, skip);
}
