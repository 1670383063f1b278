/* Lowering of cvt. See lower.h. */
#include "device/base/half.h"
#include "device/compile/lower.h"

/* -- integers ---------------------------------------------------------------------- */

/* The operation that widens the low part of type `type` of a register of class aw. */
static unsigned
part_op(ptx_class dw, ptx_class aw, unsigned type)
{
    static const uint16_t ops[3][3][7] = {
        /* u8, s8, u16, s16, u32, s32, 64 */
        {{EMU_OP_cvt_16_u8, EMU_OP_cvt_16_s8, EMU_OP_mov_16, EMU_OP_mov_16},
         {EMU_OP_cvt_16from32_u8, EMU_OP_cvt_16from32_s8, EMU_OP_cvt_16from32_u16,
          EMU_OP_cvt_16from32_u16, EMU_OP_cvt_16from32_u16, EMU_OP_cvt_16from32_u16},
         {EMU_OP_cvt_16from64_u8, EMU_OP_cvt_16from64_s8, EMU_OP_cvt_16from64_u16,
          EMU_OP_cvt_16from64_u16, EMU_OP_cvt_16from64_u16, EMU_OP_cvt_16from64_u16,
          EMU_OP_cvt_16from64_u16}},
        {{EMU_OP_cvt_32from16_u8, EMU_OP_cvt_32from16_s8, EMU_OP_cvt_32from16_u16,
          EMU_OP_cvt_32from16_s16},
         {EMU_OP_cvt_32_u8, EMU_OP_cvt_32_s8, EMU_OP_cvt_32_u16, EMU_OP_cvt_32_s16,
          EMU_OP_mov_32, EMU_OP_mov_32},
         {EMU_OP_cvt_32from64_u8, EMU_OP_cvt_32from64_s8, EMU_OP_cvt_32from64_u16,
          EMU_OP_cvt_32from64_s16, EMU_OP_cvt_32from64_u32, EMU_OP_cvt_32from64_u32,
          EMU_OP_cvt_32from64_u32}},
        {{EMU_OP_cvt_64from16_u8, EMU_OP_cvt_64from16_s8, EMU_OP_cvt_64from16_u16,
          EMU_OP_cvt_64from16_s16},
         {EMU_OP_cvt_64from32_u8, EMU_OP_cvt_64from32_s8, EMU_OP_cvt_64from32_u16,
          EMU_OP_cvt_64from32_s16, EMU_OP_cvt_64from32_u32, EMU_OP_cvt_64from32_s32},
         {EMU_OP_cvt_64_u8, EMU_OP_cvt_64_s8, EMU_OP_cvt_64_u16, EMU_OP_cvt_64_s16,
          EMU_OP_cvt_64_u32, EMU_OP_cvt_64_s32, EMU_OP_mov_64}}};
    const unsigned size = ptx_type_size(type);
    const unsigned part = size == 8 ? 6
                                    : (size == 4   ? 4
                                       : size == 2 ? 2
                                                   : 0) +
                                          (ptx_type_is_signed(type) ? 1 : 0);

    if (dw < PTX_R16 || dw > PTX_R64 || aw < PTX_R16 || aw > PTX_R64) {
        return 0;
    }
    return ops[dw - PTX_R16][aw - PTX_R16][part];
}

void
low_convert(low_func *f, low_value d, ptx_class dw, low_value a, ptx_class aw,
            unsigned type)
{
    const unsigned op = part_op(dw, aw, type);

    if (!op) {
        low_fail(f, "a register is too narrow or too wide for its type");
    }
    low_emit(f, op, d, a, 0, 0);
}

/* The value of a source, extended to 64 bits. */
static low_value
widened(low_func *f, low_value a, ptx_class aw, unsigned type)
{
    low_value wide = low_temp(f, PTX_R64);

    low_convert(f, wide, PTX_R64, a, aw, type);
    return wide;
}

/* Clamps a 64-bit value, which is signed or not as the source is, to a type's range. */
static low_value
clamped(low_func *f, low_value wide, bool from_signed, unsigned to)
{
    const unsigned bits = 8 * ptx_type_size(to);
    const bool is_signed = ptx_type_is_signed(to);
    const uint64_t max = is_signed
                             ? ((uint64_t)1 << (bits - 1)) - 1
                             : (bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
    const uint64_t min = is_signed ? 0 - ((uint64_t)1 << (bits - 1)) : 0;
    low_value low = low_temp(f, PTX_R64), d = low_temp(f, PTX_R64);

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
integer_to_integer(low_func *f, low_value d, ptx_class dw, unsigned dt, low_value a,
                   ptx_class aw, unsigned st)
{
    const unsigned ds = ptx_type_size(dt), ss = ptx_type_size(st);

    if (low_has(f, PTX_W_sat)) {
        a = clamped(f, widened(f, a, aw, st), ptx_type_is_signed(st), dt);
        low_convert(f, d, dw, a, PTX_R64, dt);
        return;
    }
    if (ds <= ss) {
        low_convert(f, d, dw, a, aw, dt);
        return;
    }
    if (dw != ptx_type_class(dt) && ptx_type_is_signed(st) && !ptx_type_is_signed(dt)) {
        low_value middle = widened(f, a, aw, st); /* extended to dt, then to d */

        low_convert(f, d, dw, middle, PTX_R64, dt);
        return;
    }
    low_convert(f, d, dw, a, aw, st);
}

/* -- from and to floats ------------------------------------------------------------ */

static uint32_t
half_format(unsigned type)
{
    return type == PTX_W_bf16 || type == PTX_W_bf16x2 ? EMU_BF16 : EMU_F16;
}

static bool
is_half(unsigned type)
{
    return type == PTX_W_f16 || type == PTX_W_bf16;
}

static low_value
half_value(low_func *f, low_value a, unsigned type)
{
    low_value d = low_temp(f, PTX_R32);

    low_emit(f, EMU_OP_cvt_f32_f16, d, a, 0, 0)->aux = half_format(type);
    return d;
}

/* Rounds a float or double to half, with .sat or .relu. */
static void
to_half(low_func *f, low_value d, unsigned dt, low_value a, unsigned st)
{
    static const uint8_t roundings[] = {EMU_RN, EMU_RN, EMU_RZ, EMU_RM, EMU_RP};
    const bool sat = low_has(f, PTX_W_sat), relu = low_has(f, PTX_W_relu);
    low_value r = sat || relu ? low_temp(f, PTX_R16) : d;

    low_emit(f, st == PTX_W_f64 ? EMU_OP_cvt_f16_f64 : EMU_OP_cvt_f16_f32, r, a, 0, 0)
        ->aux = half_format(dt) | (uint32_t)roundings[low_rounding(f)] << 4;
    if (r != d) {
        low_insn *insn = low_emit(f, EMU_OP_half_sat, d, r, 0, 0);

        insn->aux = half_format(dt);
        insn->imm = relu;
    }
}

/* Index of the rounding to an integer: rni, rzi, rmi, rpi; -1 when there is none. */
static int
integer_rounding(const low_func *f)
{
    return low_has(f, PTX_W_rni)   ? 0
           : low_has(f, PTX_W_rzi) ? 1
           : low_has(f, PTX_W_rmi) ? 2
           : low_has(f, PTX_W_rpi) ? 3
                                   : -1;
}

static low_value
whole_number(low_func *f, low_value a, bool is_double, int rounding)
{
    static const uint16_t ops[2][4] = {
        {EMU_OP_rni_f32, EMU_OP_rzi_f32, EMU_OP_rmi_f32, EMU_OP_rpi_f32},
        {EMU_OP_rni_f64, EMU_OP_rzi_f64, EMU_OP_rmi_f64, EMU_OP_rpi_f64}};
    low_value d = low_temp(f, is_double ? PTX_R64 : PTX_R32);

    low_emit(f, ops[is_double][rounding], d, a, 0, 0);
    return d;
}

/* To 8 and 16 bits by way of 32: clamped twice is clamped once. */
static void
float_to_integer(low_func *f, low_value d, ptx_class dw, unsigned dt, low_value a,
                 unsigned st)
{
    const bool is_double = st == PTX_W_f64, is_signed = ptx_type_is_signed(dt);
    const int rounding = integer_rounding(f);
    const unsigned size = ptx_type_size(dt);
    low_value r;

    if (is_half(st)) {
        a = half_value(f, a, st);
    }
    else if (st == PTX_W_f32) {
        a = low_flush(f, a);
    }
    a = whole_number(f, a, is_double, rounding < 0 ? 1 : rounding);
    if (size == 8) {
        if (dw != PTX_R64) {
            low_fail(f, "the destination register has the wrong width");
        }
        low_emit(f,
                 is_double ? (is_signed ? EMU_OP_cvt_s64_f64 : EMU_OP_cvt_u64_f64)
                           : (is_signed ? EMU_OP_cvt_s64_f32 : EMU_OP_cvt_u64_f32),
                 d, a, 0, 0);
        return;
    }
    r = dw == PTX_R32 && size == 4 ? d : low_temp(f, PTX_R32);
    low_emit(f,
             is_double ? (is_signed ? EMU_OP_cvt_s32_f64 : EMU_OP_cvt_u32_f64)
                       : (is_signed ? EMU_OP_cvt_s32_f32 : EMU_OP_cvt_u32_f32),
             r, a, 0, 0);
    if (size < 4) {
        low_value wide = low_temp(f, PTX_R64);

        low_convert(f, wide, PTX_R64, r, PTX_R32, is_signed ? PTX_W_s32 : PTX_W_u32);
        wide = clamped(f, wide, is_signed, dt);
        low_convert(f, d, dw, wide, PTX_R64, dt);
    }
    else if (r != d) {
        low_convert(f, d, dw, r, PTX_R32, dt);
    }
}

static unsigned
integer_to_float_op(bool is_double, unsigned st)
{
    const bool wide = ptx_type_size(st) == 8, is_signed = ptx_type_is_signed(st);

    if (is_double) {
        return wide ? (is_signed ? EMU_OP_cvt_f64_s64 : EMU_OP_cvt_f64_u64)
                    : (is_signed ? EMU_OP_cvt_f64_s32 : EMU_OP_cvt_f64_u32);
    }
    return wide ? (is_signed ? EMU_OP_cvt_f32_s64 : EMU_OP_cvt_f32_u64)
                : (is_signed ? EMU_OP_cvt_f32_s32 : EMU_OP_cvt_f32_u32);
}

static void
integer_to_float(low_func *f, low_value d, unsigned dt, low_value a, ptx_class aw,
                 unsigned st)
{
    const bool is_double = dt != PTX_W_f32;
    low_value r = d;

    if (ptx_type_size(st) < 4 || (ptx_type_size(st) == 4 && aw != PTX_R32)) {
        low_value wide = low_temp(f, PTX_R32);

        low_convert(f, wide, PTX_R32, a, aw, st);
        a = wide;
    }
    else if (ptx_type_size(st) == 8 && aw != PTX_R64) {
        low_fail(f, "the source register has the wrong width");
    }
    if (is_half(dt)) {
        r = low_temp(f, PTX_R64); /* exact below 2^53; above, half is infinite anyway */
    }
    low_emit(f, integer_to_float_op(is_double, st), r, a, 0, 0)->round =
        (uint8_t)(is_half(dt) ? 0 : low_rounding(f));
    if (is_half(dt)) {
        to_half(f, d, dt, r, PTX_W_f64);
    }
    else if (low_has(f, PTX_W_sat) && dt == PTX_W_f32) {
        low_emit(f, EMU_OP_sat_f32, d, d, 0, 0);
    }
}

static void
saturate_double(low_func *f, low_value d, low_value a)
{
    low_value r = low_temp(f, PTX_R64);

    low_emit(f, EMU_OP_max_f64, r, low_constant(f, PTX_R64, 0), a, 0);
    low_emit(f, EMU_OP_min_f64, d, r, low_constant(f, PTX_R64, 0x3ff0000000000000u), 0);
}

static void
float_to_float(low_func *f, low_value d, unsigned dt, low_value a, unsigned st)
{
    const int whole = integer_rounding(f);
    const bool sat = low_has(f, PTX_W_sat);
    low_value r;

    if (is_half(st) && dt == PTX_W_f64) {
        r = low_temp(f, PTX_R64);
        low_emit(f, EMU_OP_cvt_f64_f16, r, a, 0, 0)->aux = half_format(st);
        a = r;
        st = PTX_W_f64;
    }
    else if (is_half(st)) {
        a = half_value(f, a, st);
        st = PTX_W_f32;
    }
    else if (st == PTX_W_f32 && dt == PTX_W_f64 && low_has(f, PTX_W_ftz)) {
        r = low_temp(f, PTX_R32); /* an addition flushes, and knows one NaN only */
        low_emit(f, EMU_OP_add_ftz_f32, r, a, low_constant(f, PTX_R32, 0x80000000u), 0);
        a = r;
    }
    else if (st == PTX_W_f32) {
        a = low_flush(f, a);
    }
    if (whole >= 0) {
        a = whole_number(f, a, st == PTX_W_f64, whole);
    }
    if (is_half(dt)) {
        to_half(f, d, dt, a, st);
        return;
    }
    if (dt == PTX_W_f64) {
        r = sat ? low_temp(f, PTX_R64) : d;
        low_emit(f, st == PTX_W_f64 ? EMU_OP_mov_64 : EMU_OP_cvt_f64_f32, r, a, 0, 0);
        if (sat) {
            saturate_double(f, d, r);
        }
        return;
    }
    r = sat || low_has(f, PTX_W_ftz) ? low_temp(f, PTX_R32) : d;
    if (st == PTX_W_f64) {
        low_emit(f, EMU_OP_cvt_f32_f64, r, a, 0, 0)->round = (uint8_t)low_rounding(f);
    }
    else {
        low_emit(f, EMU_OP_mov_32, r, a, 0, 0);
    }
    if (r != d && sat) {
        low_emit(f, EMU_OP_sat_f32, d, low_flush(f, r), 0, 0);
    }
    else if (r != d) {
        low_emit(f, EMU_OP_ftz_f32, d, r, 0, 0);
    }
}

/* -- cvt --------------------------------------------------------------------------- */

/* cvt.rn.f16x2.f32 d, a, b: a goes to the upper half. */
static void
pair_of_halves(low_func *f, unsigned dt)
{
    const unsigned type = dt == PTX_W_f16x2 ? PTX_W_f16 : PTX_W_bf16;
    low_value halves[2];
    unsigned i;

    low_operands(f, 3, 3);
    for (i = 0; i < 2; i++) {
        halves[i] = low_temp(f, PTX_R16);
        to_half(f, halves[i], type, low_source(f, &f->in->operands[2 - i], PTX_W_f32),
                PTX_W_f32);
    }
    low_emit(f, EMU_OP_join_32, low_target(f, &f->in->operands[0], PTX_R32), halves[0],
             halves[1], 0);
}

static bool
is_plain_float(unsigned type)
{
    return is_half(type) || type == PTX_W_f32 || type == PTX_W_f64;
}

static bool
is_integer(unsigned type)
{
    return type >= PTX_W_u8 && type <= PTX_W_b64;
}

/* tf32: a float whose lower 13 bits are rounded away, ties away from zero. */
static void
to_tf32(low_func *f)
{
    low_value sum = low_temp(f, PTX_R32);

    low_operands(f, 2, 2);
    low_emit(f, EMU_OP_add_32, sum, low_source(f, &f->in->operands[1], PTX_W_f32),
             low_constant(f, PTX_R32, 0x1000), 0);
    low_emit(f, EMU_OP_and_32, low_target(f, &f->in->operands[0], PTX_R32), sum,
             low_constant(f, PTX_R32, 0xffffe000u), 0);
}

void
low_cvt(low_func *f)
{
    const unsigned dt = low_type(f, 0), st = low_type(f, 1);
    ptx_class dw = ptx_type_class(dt), aw;
    low_value d, a;

    if ((dt == PTX_W_f16x2 || dt == PTX_W_bf16x2) && st == PTX_W_f32) {
        pair_of_halves(f, dt);
        return;
    }
    if (dt == PTX_W_tf32 && st == PTX_W_f32 && low_has(f, PTX_W_rna)) {
        to_tf32(f);
        return;
    }
    if (!(is_plain_float(dt) || is_integer(dt)) ||
        !(is_plain_float(st) || is_integer(st)) || low_has(f, PTX_W_pack) ||
        low_has(f, PTX_W_satfinite)) {
        low_unsupported(f);
    }
    low_operands(f, 2, 2);
    a = low_source_any(f, &f->in->operands[1], st, &aw);
    if (is_plain_float(dt)) {
        d = low_target(f, &f->in->operands[0], dw);
    }
    else {
        d = low_target_any(f, &f->in->operands[0], &dw);
    }
    if (is_plain_float(st) && aw != ptx_type_class(st)) {
        low_fail(f, "the source register has the wrong width");
    }
    if (aw == PTX_PRED || aw == PTX_R128 || dw == PTX_PRED || dw == PTX_R128) {
        low_fail(f, "a register has the wrong width");
    }
    if (is_integer(dt) && is_integer(st)) {
        integer_to_integer(f, d, dw, dt, a, aw, st);
    }
    else if (is_integer(dt)) {
        float_to_integer(f, d, dw, dt, a, st);
    }
    else if (is_integer(st)) {
        integer_to_float(f, d, dt, a, aw, st);
    }
    else {
        float_to_float(f, d, dt, a, st);
    }
}
