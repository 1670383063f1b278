/* The forms of cvt with narrow numbers. See narrow_forms.h. */
#include "device/compile/narrow_forms.h"

#include "device/base/fp8.h"
#include "device/base/half.h"
#include "device/compile/encoding.h"
#include "device/compile/lower_operand.h"

/* -- halves ------------------------------------------------------------------------ */

uint32_t
low_half_format(unsigned type)
{
    if (type == PTX_W_bf16 || type == PTX_W_bf16x2) {
        return EMU_BF16;
    }
    return EMU_F16;
}

void
low_to_half(low_func *f, low_value d, unsigned dt, low_value a, unsigned st)
{
    const bool sat = low_has(f, PTX_W_sat), relu = low_has(f, PTX_W_relu);
    unsigned op = EMU_OP_cvt_f16_f32;
    low_value r = d;
    low_insn *insn;

    if (sat || relu) {
        r = low_temp(f, PTX_R16);
    }
    if (st == PTX_W_f64) {
        op = EMU_OP_cvt_f16_f64;
    }
    insn = low_emit(f, op, r, a, 0, 0);
    insn->aux = low_half_format(dt) | (uint32_t)low_rounding(f) << 4;
    if (low_has(f, PTX_W_satfinite)) {
        insn->aux |= EMU_HALF_FINITE;
    }
    if (r != d) {
        insn = low_emit(f, EMU_OP_half_sat, d, r, 0, 0);
        insn->aux = low_half_format(dt);
        insn->imm = relu;
    }
}

void
low_integer_to_half(low_func *f, low_value d, unsigned dt, low_value a, unsigned st)
{
    low_value wide = a, r = d;
    low_insn *insn;

    if (ptx_type_size(st) != 8) {
        unsigned word = PTX_W_u32;

        if (ptx_type_is_signed(st)) {
            word = PTX_W_s32;
        }
        wide = low_temp(f, PTX_R64);
        low_convert(f, wide, PTX_R64, a, PTX_R32, word);
    }
    if (low_has(f, PTX_W_sat)) {
        r = low_temp(f, PTX_R16);
    }
    insn = low_emit(f, EMU_OP_cvt_f16_64, r, wide, 0, 0);
    insn->aux = low_half_format(dt) | (uint32_t)low_rounding(f) << 4;
    insn->imm = ptx_type_is_signed(st);
    if (r != d) {
        low_emit(f, EMU_OP_half_sat, d, r, 0, 0)->aux = low_half_format(dt);
    }
}

/* cvt.rn.f16x2.f32 d, a, b: a goes to the upper half. */
static void
narrow_pair_of_halves(low_func *f, unsigned dt)
{
    unsigned type = PTX_W_bf16;
    low_value halves[2];

    if (dt == PTX_W_f16x2) {
        type = PTX_W_f16;
    }
    low_check_operand_count(f, 3, 3);
    for (unsigned i = 0; i < 2; i++) {
        halves[i] = low_temp(f, PTX_R16);
        low_to_half(f, halves[i], type, low_source_at(f, 2 - i, PTX_W_f32), PTX_W_f32);
    }
    low_emit(f, EMU_OP_join_32, low_target(f, &f->in->operands[0], PTX_R32), halves[0],
             halves[1], 0);
}

/* -- tf32 -------------------------------------------------------------------------- */

/* tf32: a float whose lower 13 bits are rounded away. */
static void
narrow_to_tf32(low_func *f)
{
    low_insn *insn;
    low_value a;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, PTX_W_f32);
    insn = low_emit(f, EMU_OP_cvt_tf32_f32, low_target(f, &f->in->operands[0], PTX_R32),
                    a, 0, 0);
    if (low_has(f, PTX_W_rna)) {
        insn->aux = EMU_TF32_RNA;
    }
    else if (low_has(f, PTX_W_rz)) {
        insn->aux = EMU_TF32_RZ;
    }
    else {
        insn->aux = EMU_TF32_RN;
    }
    if (low_has(f, PTX_W_relu)) {
        insn->aux |= EMU_TF32_RELU;
    }
    if (low_has(f, PTX_W_satfinite)) {
        insn->aux |= EMU_TF32_FINITE;
    }
}

/* -- pairs of bytes ---------------------------------------------------------------- */

static bool
narrow_is_byte_pair(unsigned type)
{
    return type == PTX_W_e4m3x2 || type == PTX_W_e5m2x2;
}

static uint32_t
narrow_byte_format(unsigned type)
{
    if (type == PTX_W_e4m3x2) {
        return EMU_E4M3;
    }
    return EMU_E5M2;
}

/* cvt.rn.satfinite.e4m3x2.f32 d, a, b: a goes to the upper byte. */
static void
narrow_bytes_of_singles(low_func *f, unsigned dt)
{
    low_value a, b;
    low_insn *insn;

    low_check_operand_count(f, 3, 3);
    b = low_source_at(f, 2, PTX_W_f32);
    a = low_source_at(f, 1, PTX_W_f32);
    insn = low_emit(f, EMU_OP_cvt_fp8x2_f32,
                    low_target(f, &f->in->operands[0], PTX_R16), a, b, 0);
    insn->aux = narrow_byte_format(dt);
    insn->imm = low_has(f, PTX_W_relu);
}

/* cvt.rn.satfinite.e4m3x2.f16x2 d, a */
static void
narrow_bytes_of_halves(low_func *f, unsigned dt, unsigned st)
{
    low_value a, singles[2], half;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, st);
    for (unsigned k = 0; k < 2; k++) {
        half = low_temp(f, PTX_R16);
        low_emit(f, EMU_OP_part_16from32, half, a, 0, 0)->imm = (int64_t)16 * k;
        singles[k] = low_temp(f, PTX_R32);
        low_emit(f, EMU_OP_cvt_f32_f16, singles[k], half, 0, 0)->aux =
            low_half_format(st);
    }
    insn =
        low_emit(f, EMU_OP_cvt_fp8x2_f32, low_target(f, &f->in->operands[0], PTX_R16),
                 singles[1], singles[0], 0);
    insn->aux = narrow_byte_format(dt);
    insn->imm = low_has(f, PTX_W_relu);
}

/* cvt.rn.f16x2.e4m3x2 d, a */
static void
narrow_halves_of_bytes(low_func *f, unsigned st)
{
    low_value a;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    a = low_source_at(f, 1, PTX_W_b16);
    insn = low_emit(f, EMU_OP_cvt_f16x2_fp8,
                    low_target(f, &f->in->operands[0], PTX_R32), a, 0, 0);
    insn->aux = narrow_byte_format(st);
    insn->imm = low_has(f, PTX_W_relu);
}

/* -- integers ---------------------------------------------------------------------- */

/* cvt.pack.sat.u8.s32.b32 d, a, b, c: a and b, clamped, below the low bits of c.
 * Numbers of 16 bits leave no room for c. */
static void
narrow_pack(low_func *f)
{
    static const uint16_t words[] = {PTX_W_u16, PTX_W_s16, PTX_W_u8, PTX_W_s8,
                                     PTX_W_u4,  PTX_W_s4,  PTX_W_u2, PTX_W_s2};
    static const uint8_t bits[] = {16, 16, 8, 8, 4, 4, 2, 2};
    const unsigned which = low_find(f, words, 8);
    low_value a, b, c;
    low_insn *insn;

    if (which == 8 || !low_has(f, PTX_W_sat)) {
        low_unsupported(f);
    }
    c = low_constant(f, PTX_R32, 0);
    if (bits[which] == 16) {
        low_check_operand_count(f, 3, 3);
    }
    else {
        low_check_operand_count(f, 4, 4);
        c = low_source_at(f, 3, PTX_W_b32);
    }
    b = low_source_at(f, 2, PTX_W_s32);
    a = low_source_at(f, 1, PTX_W_s32);
    insn = low_emit(f, EMU_OP_cvt_pack, low_target(f, &f->in->operands[0], PTX_R32), a,
                    b, c);
    insn->aux = bits[which];
    insn->imm = which % 2; /* signed */
}

/* -- which ------------------------------------------------------------------------- */

bool
low_packed_conversion(low_func *f, unsigned dt, unsigned st)
{
    if (low_has(f, PTX_W_pack)) {
        narrow_pack(f);
    }
    else if ((dt == PTX_W_f16x2 || dt == PTX_W_bf16x2) && st == PTX_W_f32) {
        narrow_pair_of_halves(f, dt);
    }
    else if (dt == PTX_W_tf32 && st == PTX_W_f32) {
        narrow_to_tf32(f);
    }
    else if (narrow_is_byte_pair(dt) && st == PTX_W_f32) {
        narrow_bytes_of_singles(f, dt);
    }
    else if (narrow_is_byte_pair(dt) && st == PTX_W_f16x2) {
        narrow_bytes_of_halves(f, dt, st);
    }
    else if (dt == PTX_W_f16x2 && narrow_is_byte_pair(st)) {
        narrow_halves_of_bytes(f, st);
    }
    else {
        return false;
    }
    return true;
}
