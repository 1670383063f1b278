/* Lowering of cvt. See lower.h.
 *
 * The operations that extend and cut integers are in lower.c (low_convert). */
#include "device/compile/lower.h"

#include "device/base/number.h"
#include "device/compile/encoding.h"

/* -- numbers of 16 and 8 bits, pairs, tf32 ----------------------------------------- */

/* -- halves ------------------------------------------------------------------------ */

/* EMU_F16 or EMU_BF16, for a type that is f16, bf16 or a pair of them. */
static uint32_t
low_half_format(unsigned type)
{
    if (type == PTX_W_bf16 || type == PTX_W_bf16x2) {
        return EMU_BF16;
    }
    return EMU_F16;
}

/* Rounds a value of type st, f32 or f64, to half precision, with .sat, .relu and
 * .satfinite. */
static void
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

/* Rounds an integer of type st to half precision, with .sat. A source of less than 64
 * bits is in a register of 32 bits. */
static void
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

/* Lowers cvt if it is cvt.pack or one of its types is tf32, a pair of halves or a pair
 * of bytes. Returns whether it is. */
static bool
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

/* -- the other forms --------------------------------------------------------------- */

/* -- integers ---------------------------------------------------------------------- */

/* The value of a source, extended to 64 bits. */
static low_value
convert_widened(low_func *f, low_value a, ptx_class aw, unsigned type)
{
    low_value wide = low_temp(f, PTX_R64);

    low_convert(f, wide, PTX_R64, a, aw, type);
    return wide;
}

/* Clamps a 64-bit value to the range of type `to`. `from_signed`: the value is signed.
 */
static low_value
convert_clamped(low_func *f, low_value wide, bool from_signed, unsigned to)
{
    const unsigned bits = 8 * ptx_type_size(to);
    const bool is_signed = ptx_type_is_signed(to);
    uint64_t max = UINT64_MAX >> (64 - bits), min = 0;
    low_value low = low_temp(f, PTX_R64), d = low_temp(f, PTX_R64);

    if (is_signed) {
        max >>= 1;
        min = ~max;
    }
    if (!from_signed) {
        low_emit(f, EMU_OP_min_u64, d, wide, low_constant(f, PTX_R64, max), 0);
        return d;
    }
    low_emit(f, EMU_OP_max_s64, low, wide, low_constant(f, PTX_R64, min), 0);
    if (max > INT64_MAX) {
        return low;
    }
    low_emit(f, EMU_OP_min_s64, d, low, low_constant(f, PTX_R64, max), 0);
    return d;
}

static void
convert_integer_to_integer(low_func *f, low_value d, ptx_class dw, unsigned dt,
                           low_value a, ptx_class aw, unsigned st)
{
    const unsigned ds = ptx_type_size(dt), ss = ptx_type_size(st);

    if (low_has(f, PTX_W_sat)) {
        a = convert_clamped(f, convert_widened(f, a, aw, st), ptx_type_is_signed(st),
                            dt);
        low_convert(f, d, dw, a, PTX_R64, dt);
        return;
    }
    if (ds <= ss) {
        low_convert(f, d, dw, a, aw, dt);
        return;
    }
    if (dw != ptx_type_class(dt) && ptx_type_is_signed(st) && !ptx_type_is_signed(dt)) {
        /* the sign extends the source up to dt, zeros extend dt up to d */
        low_value middle = convert_widened(f, a, aw, st);

        low_convert(f, d, dw, middle, PTX_R64, dt);
        return;
    }
    low_convert(f, d, dw, a, aw, st);
}

/* -- from and to floating-point numbers ----------------------------------------------
 */

static bool
convert_is_half(unsigned type)
{
    return type == PTX_W_f16 || type == PTX_W_bf16;
}

static low_value
convert_half_value(low_func *f, low_value a, unsigned type)
{
    low_value d = low_temp(f, PTX_R32);

    low_emit(f, EMU_OP_cvt_f32_f16, d, a, 0, 0)->aux = low_half_format(type);
    return d;
}

/* Roundings to an integer, as the instruction names them. */
enum { RNI, RZI, RMI, RPI, NO_INTEGER };

static unsigned
convert_integer_rounding(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_rni, PTX_W_rzi, PTX_W_rmi, PTX_W_rpi};

    return low_find(f, words, NO_INTEGER);
}

static low_value
convert_whole_number(low_func *f, low_value a, bool is_double, unsigned rounding)
{
    static const uint16_t ops[2][4] = {
        {EMU_OP_rni_f32, EMU_OP_rzi_f32, EMU_OP_rmi_f32, EMU_OP_rpi_f32},
        {EMU_OP_rni_f64, EMU_OP_rzi_f64, EMU_OP_rmi_f64, EMU_OP_rpi_f64}};
    ptx_class width = PTX_R32;
    low_value d;

    if (is_double) {
        width = PTX_R64;
    }
    d = low_temp(f, width);
    low_emit(f, ops[is_double][rounding], d, a, 0, 0);
    return d;
}

/* The operation from f32 or f64 to an integer of 32 or 64 bits. */
static unsigned
convert_float_to_integer_op(bool is_double, bool is_wide, bool is_signed)
{
    static const uint16_t ops[2][2][2] = {{{EMU_OP_cvt_u32_f32, EMU_OP_cvt_s32_f32},
                                           {EMU_OP_cvt_u64_f32, EMU_OP_cvt_s64_f32}},
                                          {{EMU_OP_cvt_u32_f64, EMU_OP_cvt_s32_f64},
                                           {EMU_OP_cvt_u64_f64, EMU_OP_cvt_s64_f64}}};

    return ops[is_double][is_wide][is_signed];
}

/* A floating-point number rounded to a whole number, towards zero if the instruction
 * names no rounding. */
static low_value
convert_rounded_float(low_func *f, low_value a, unsigned st)
{
    unsigned rounding = convert_integer_rounding(f);

    if (convert_is_half(st)) {
        a = convert_half_value(f, a, st);
    }
    else if (st == PTX_W_f32) {
        a = low_flush(f, a);
    }
    if (rounding == NO_INTEGER) {
        rounding = RZI;
    }
    return convert_whole_number(f, a, st == PTX_W_f64, rounding);
}

/* The value, or its highest bit alone where the source, of type f64, is NaN. */
static low_value
convert_nan_to_top_bit(low_func *f, low_value value, low_value a, unsigned dt)
{
    const uint64_t top = (uint64_t)1 << (8 * ptx_type_size(dt) - 1);
    low_value d = low_temp(f, PTX_R64), p = low_temp(f, PTX_PRED);

    low_emit(f, EMU_OP_nan_f64, p, a, a, 0);
    low_emit(f, EMU_OP_selp_64, d, low_constant(f, PTX_R64, top), value, p);
    return d;
}

/* Converts to 8 and 16 bits in two steps, by way of 32 bits: clamping twice gives the
 * same as clamping once. */
static void
convert_float_to_integer(low_func *f, low_value d, ptx_class dw, unsigned dt,
                         low_value a, unsigned st)
{
    const bool is_signed = ptx_type_is_signed(dt);
    const unsigned size = ptx_type_size(dt);
    const unsigned op =
        convert_float_to_integer_op(st == PTX_W_f64, size == 8, is_signed);
    low_value r = d, wide;

    a = convert_rounded_float(f, a, st);
    if (size == 8) {
        if (dw != PTX_R64) {
            low_fail(f, "the destination register has the wrong width");
        }
        low_emit(f, op, d, a, 0, 0);
        return;
    }
    if (dw != PTX_R32 || size != 4) {
        r = low_temp(f, PTX_R32);
    }
    low_emit(f, op, r, a, 0, 0);
    if (size < 4) {
        unsigned word = PTX_W_u32;

        if (is_signed) {
            word = PTX_W_s32;
        }
        wide = low_temp(f, PTX_R64);
        low_convert(f, wide, PTX_R64, r, PTX_R32, word);
        wide = convert_clamped(f, wide, is_signed, dt);
        if (st == PTX_W_f64 && !is_signed) {
            wide = convert_nan_to_top_bit(f, wide, a, dt);
        }
        low_convert(f, d, dw, wide, PTX_R64, dt);
    }
    else if (r != d) {
        low_convert(f, d, dw, r, PTX_R32, dt);
    }
}

/* The operation from an integer of 32 or 64 bits to f32 or f64. */
static unsigned
convert_integer_to_float_op(bool is_double, unsigned st)
{
    static const uint16_t ops[2][2][2] = {{{EMU_OP_cvt_f32_u32, EMU_OP_cvt_f32_s32},
                                           {EMU_OP_cvt_f32_u64, EMU_OP_cvt_f32_s64}},
                                          {{EMU_OP_cvt_f64_u32, EMU_OP_cvt_f64_s32},
                                           {EMU_OP_cvt_f64_u64, EMU_OP_cvt_f64_s64}}};

    return ops[is_double][ptx_type_size(st) == 8][ptx_type_is_signed(st)];
}

static void
convert_saturate_double(low_func *f, low_value d, low_value a)
{
    low_value r = low_temp(f, PTX_R64);

    low_emit(f, EMU_OP_max_f64, r, low_constant(f, PTX_R64, 0), a, 0);
    low_emit(f, EMU_OP_min_f64, d, r, low_constant(f, PTX_R64, 0x3ff0000000000000u), 0);
}

static void
convert_integer_to_float(low_func *f, low_value d, unsigned dt, low_value a,
                         ptx_class aw, unsigned st)
{
    const unsigned size = ptx_type_size(st);
    const unsigned op = convert_integer_to_float_op(dt != PTX_W_f32, st);

    if (size < 4 || (size == 4 && aw != PTX_R32)) {
        low_value wide = low_temp(f, PTX_R32);

        low_convert(f, wide, PTX_R32, a, aw, st);
        a = wide;
    }
    else if (size == 8 && aw != PTX_R64) {
        low_fail(f, "the source register has the wrong width");
    }
    if (convert_is_half(dt)) {
        low_integer_to_half(f, d, dt, a, st);
        return;
    }
    low_emit(f, op, d, a, 0, 0)->round = (uint8_t)low_rounding(f);
    if (low_has(f, PTX_W_sat) && dt == PTX_W_f32) {
        low_emit(f, EMU_OP_sat_f32, d, d, 0, 0);
    }
    else if (low_has(f, PTX_W_sat)) {
        convert_saturate_double(f, d, d);
    }
}

/* A source as f32 or f64. Sets *st to that type. */
static low_value
convert_float_source(low_func *f, low_value a, unsigned dt, unsigned *st)
{
    low_value r;

    if (convert_is_half(*st) && dt == PTX_W_f64) {
        r = low_temp(f, PTX_R64);
        low_emit(f, EMU_OP_cvt_f64_f16, r, a, 0, 0)->aux = low_half_format(*st);
        *st = PTX_W_f64;
        return r;
    }
    if (convert_is_half(*st)) {
        a = convert_half_value(f, a, *st);
        *st = PTX_W_f32;
        return a;
    }
    if (*st == PTX_W_f32 && dt == PTX_W_f64 && low_has(f, PTX_W_ftz)) {
        r = low_temp(f, PTX_R32); /* an addition flushes, and has one NaN only */
        low_emit(f, EMU_OP_add_ftz_f32, r, a, low_constant(f, PTX_R32, 0x80000000u), 0);
        return r;
    }
    /* a conversion to f16 does not flush its source */
    if (*st == PTX_W_f32 &&
        !(convert_is_half(dt) && convert_integer_rounding(f) == NO_INTEGER)) {
        return low_flush(f, a);
    }
    return a;
}

static void
convert_to_double(low_func *f, low_value d, low_value a, unsigned st)
{
    const bool sat = low_has(f, PTX_W_sat);
    unsigned op = EMU_OP_cvt_f64_f32;
    low_value r = d;

    if (sat) {
        r = low_temp(f, PTX_R64);
    }
    if (st == PTX_W_f64) {
        op = EMU_OP_mov_64;
    }
    low_emit(f, op, r, a, 0, 0);
    if (sat) {
        convert_saturate_double(f, d, r);
    }
}

static void
convert_to_single(low_func *f, low_value d, low_value a, unsigned st)
{
    const bool sat = low_has(f, PTX_W_sat);
    low_value r = d;

    if (sat || low_has(f, PTX_W_ftz)) {
        r = low_temp(f, PTX_R32);
    }
    if (st == PTX_W_f64) {
        low_emit(f, EMU_OP_cvt_f32_f64, r, a, 0, 0)->round = (uint8_t)low_rounding(f);
    }
    else if (low_has(f, PTX_W_ftz)) { /* an addition has one NaN only */
        low_emit(f, EMU_OP_add_ftz_f32, r, a, low_constant(f, PTX_R32, 0x80000000u), 0);
    }
    else {
        low_emit(f, EMU_OP_mov_32, r, a, 0, 0);
    }
    if (sat) {
        low_emit(f, EMU_OP_sat_f32, d, low_flush(f, r), 0, 0);
    }
    else if (r != d) {
        low_emit(f, EMU_OP_ftz_f32, d, r, 0, 0);
    }
}

static void
convert_float_to_float(low_func *f, low_value d, unsigned dt, low_value a, unsigned st)
{
    const unsigned rounding = convert_integer_rounding(f);

    a = convert_float_source(f, a, dt, &st);
    if (rounding != NO_INTEGER) {
        a = convert_whole_number(f, a, st == PTX_W_f64, rounding);
    }
    if (convert_is_half(dt)) {
        low_to_half(f, d, dt, a, st);
    }
    else if (dt == PTX_W_f64) {
        convert_to_double(f, d, a, st);
    }
    else {
        convert_to_single(f, d, a, st);
    }
}

/* -- cvt --------------------------------------------------------------------------- */

static bool
convert_is_plain_float(unsigned type)
{
    return convert_is_half(type) || type == PTX_W_f32 || type == PTX_W_f64;
}

static bool
convert_is_integer(unsigned type)
{
    return type >= PTX_W_u8 && type <= PTX_W_b64;
}

/* Whether a register of the class may hold a number. */
static bool
convert_is_number_class(ptx_class width)
{
    return width != PTX_PRED && width != PTX_R128;
}

/* Converts between numbers; pairs and tf32 have functions of their own. */
static void
convert_number(low_func *f, unsigned dt, unsigned st)
{
    ptx_class dw = ptx_type_class(dt), aw;
    low_value d, a;

    low_check_operand_count(f, 2, 2);
    a = low_source_any(f, &f->in->operands[1], st, &aw);
    if (convert_is_plain_float(dt)) {
        d = low_target(f, &f->in->operands[0], dw);
    }
    else {
        d = low_target_any(f, &f->in->operands[0], &dw);
    }
    if (convert_is_plain_float(st) && aw != ptx_type_class(st)) {
        low_fail(f, "the source register has the wrong width");
    }
    if (!convert_is_number_class(aw) || !convert_is_number_class(dw)) {
        low_fail(f, "a register has the wrong width");
    }
    if (convert_is_integer(dt) && convert_is_integer(st)) {
        convert_integer_to_integer(f, d, dw, dt, a, aw, st);
    }
    else if (convert_is_integer(dt)) {
        convert_float_to_integer(f, d, dw, dt, a, st);
    }
    else if (convert_is_integer(st)) {
        convert_integer_to_float(f, d, dt, a, aw, st);
    }
    else {
        convert_float_to_float(f, d, dt, a, st);
    }
}

void
low_cvt(low_func *f)
{
    const unsigned dt = low_type_at(f, 0), st = low_type_at(f, 1);

    if (low_packed_conversion(f, dt, st)) {
        return;
    }
    if (!(convert_is_plain_float(dt) || convert_is_integer(dt)) ||
        !(convert_is_plain_float(st) || convert_is_integer(st)) ||
        (low_has(f, PTX_W_satfinite) && !convert_is_half(dt))) {
        low_unsupported(f);
    }
    convert_number(f, dt, st);
}
