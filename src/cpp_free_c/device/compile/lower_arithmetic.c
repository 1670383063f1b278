/* Lowering of arithmetic. See lower.h. */
#include "device/base/half.h"
#include "device/compile/lower.h"

/* -- which operation --------------------------------------------------------------- */

/* One operation for 16, 32, 64 bits. */
typedef struct {
    uint16_t r16, r32, r64;
} by_width;

#define BY_WIDTH(name) \
    ((by_width){EMU_OP_##name##_16, EMU_OP_##name##_32, EMU_OP_##name##_64})

/* One operation for each integer type. */
typedef struct {
    uint16_t u16, s16, u32, s32, u64, s64;
} by_type;

#define BY_TYPE(name)                                                         \
    ((by_type){EMU_OP_##name##_u16, EMU_OP_##name##_s16, EMU_OP_##name##_u32, \
               EMU_OP_##name##_s32, EMU_OP_##name##_u64, EMU_OP_##name##_s64})

static unsigned
pick_width(const low_func *f, by_width ops, unsigned type)
{
    switch (ptx_type_size(type)) {
        case 2:
            return ops.r16;
        case 4:
            return ops.r32;
        case 8:
            return ops.r64;
        default:
            low_unsupported(f);
    }
}

static unsigned
pick_type(const low_func *f, by_type ops, unsigned type)
{
    switch (type) {
        case PTX_W_u16:
        case PTX_W_b16:
            return ops.u16;
        case PTX_W_s16:
            return ops.s16;
        case PTX_W_u32:
        case PTX_W_b32:
            return ops.u32;
        case PTX_W_s32:
            return ops.s32;
        case PTX_W_u64:
        case PTX_W_b64:
            return ops.u64;
        case PTX_W_s64:
            return ops.s64;
        default:
            low_unsupported(f);
    }
}

static low_value
source(low_func *f, unsigned index, unsigned type)
{
    return low_source(f, &f->in->operands[index], type);
}

static low_value
target(low_func *f, unsigned type)
{
    return low_target(f, &f->in->operands[0], ptx_type_class(type));
}

/* -- single and double precision --------------------------------------------------- */

/* Emits an operation on floats with its .ftz, .sat and rounding; sources are read
 * already. */
static void
emit_float(low_func *f, unsigned op, unsigned type, low_value d, low_value a,
           low_value b, low_value c)
{
    const bool single = type == PTX_W_f32;
    const bool ftz = single && low_has(f, PTX_W_ftz);
    const bool sat = single && low_has(f, PTX_W_sat);
    low_value result = d;
    low_insn *insn;

    if (ftz) {
        a = a ? low_flush(f, a) : 0;
        b = b ? low_flush(f, b) : 0;
        c = c ? low_flush(f, c) : 0;
    }
    if (ftz || sat) {
        result = low_temp(f, PTX_R32);
    }
    insn = low_emit(f, op, result, a, b, c);
    insn->round = (uint8_t)low_rounding(f);
    if (ftz) {
        low_value flushed = sat ? low_temp(f, PTX_R32) : d;

        low_emit(f, EMU_OP_ftz_f32, flushed, result, 0, 0);
        result = flushed;
    }
    if (sat) {
        low_emit(f, EMU_OP_sat_f32, d, result, 0, 0);
    }
}

/* Operations whose .ftz form the interpreter has itself. */
static unsigned
flushing_form(const low_func *f, unsigned op)
{
    if (!low_has(f, PTX_W_ftz)) {
        return 0;
    }
    switch (op) {
        case EMU_OP_add_f32:
            return EMU_OP_add_ftz_f32;
        case EMU_OP_sub_f32:
            return EMU_OP_sub_ftz_f32;
        case EMU_OP_mul_f32:
            return EMU_OP_mul_ftz_f32;
        case EMU_OP_fma_f32:
            return EMU_OP_fma_ftz_f32;
        default:
            return 0;
    }
}

static void
float_operation(low_func *f, unsigned op32, unsigned op64, unsigned type,
                unsigned sources)
{
    const unsigned op = type == PTX_W_f32 ? op32 : op64;
    low_value d, v[3] = {0, 0, 0};
    unsigned flushing, i;

    if (!op || (type != PTX_W_f32 && type != PTX_W_f64)) {
        low_unsupported(f);
    }
    low_operands(f, sources + 1, sources + 1);
    d = target(f, type);
    for (i = 0; i < sources; i++) {
        v[i] = source(f, i + 1, type);
    }
    flushing = flushing_form(f, op);
    if (flushing) {
        low_value result = low_has(f, PTX_W_sat) ? low_temp(f, PTX_R32) : d;

        low_emit(f, flushing, result, v[0], v[1], v[2])->round =
            (uint8_t)low_rounding(f);
        if (result != d) {
            low_emit(f, EMU_OP_sat_f32, d, result, 0, 0);
        }
        return;
    }
    emit_float(f, op, type, d, v[0], v[1], v[2]);
}

/* -- half precision ---------------------------------------------------------------- */

static bool
is_half(unsigned type)
{
    return type == PTX_W_f16 || type == PTX_W_bf16 || type == PTX_W_f16x2 ||
           type == PTX_W_bf16x2;
}

static bool
is_half_pair(unsigned type)
{
    return type == PTX_W_f16x2 || type == PTX_W_bf16x2;
}

/* One half operation, with .sat or .relu behind it. */
static void
half_one(low_func *f, unsigned op, uint32_t format, low_value d, const low_value v[3])
{
    const bool sat = low_has(f, PTX_W_sat), relu = low_has(f, PTX_W_relu);
    low_value result = sat || relu ? low_temp(f, PTX_R16) : d;

    low_insn *insn = low_emit(f, op, result, v[0], v[1], v[2]);

    insn->aux = format;
    insn->imm = low_has(f, PTX_W_NaN);
    if (result != d) {
        insn = low_emit(f, EMU_OP_half_sat, d, result, 0, 0);
        insn->aux = format;
        insn->imm = relu;
    }
}

/* Half operations, pairs of them one by one. */
static void
half_operation(low_func *f, unsigned op, unsigned type, unsigned sources)
{
    const uint32_t format =
        (type == PTX_W_bf16 || type == PTX_W_bf16x2 ? EMU_BF16 : EMU_F16) |
        (low_has(f, PTX_W_ftz) ? EMU_HALF_FTZ : 0);
    low_value d, v[3] = {0, 0, 0}, parts[2][3] = {{0}}, results[2];
    unsigned i, k;

    low_operands(f, sources + 1, sources + 1);
    d = target(f, type);
    for (i = 0; i < sources; i++) {
        v[i] = source(f, i + 1, type);
    }
    if (!is_half_pair(type)) {
        half_one(f, op, format, d, v);
        return;
    }
    for (k = 0; k < 2; k++) {
        for (i = 0; i < sources; i++) {
            parts[k][i] = low_temp(f, PTX_R16);
            low_emit(f, EMU_OP_part_16from32, parts[k][i], v[i], 0, 0)->imm =
                (int64_t)16 * k;
        }
        results[k] = low_temp(f, PTX_R16);
        half_one(f, op, format, results[k], parts[k]);
    }
    low_emit(f, EMU_OP_join_32, d, results[0], results[1], 0);
}

/* -- integers ---------------------------------------------------------------------- */

static void
integer_binary(low_func *f, unsigned op, unsigned type)
{
    low_operands(f, 3, 3);
    low_emit(f, op, target(f, type), source(f, 1, type), source(f, 2, type), 0);
}

/* add, sub with a carry: .cc goes out, addc takes it in. */
static void
carry_add(low_func *f, bool subtract, bool in)
{
    const unsigned type = low_type(f, 0);
    const bool wide = ptx_type_size(type) == 8;
    const bool out = low_has(f, PTX_W_cc);
    low_insn *insn;

    if (ptx_type_size(type) != 4 && !wide) {
        low_unsupported(f);
    }
    low_operands(f, 3, 3);
    insn = low_emit(f,
                    subtract ? (wide ? EMU_OP_subc_64 : EMU_OP_subc_32)
                             : (wide ? EMU_OP_addc_64 : EMU_OP_addc_32),
                    target(f, type), source(f, 1, type), source(f, 2, type),
                    in ? f->carry : 0);
    insn->e = out ? f->carry : 0;
    insn->aux = (in ? 1 : 0) | (out ? 2 : 0);
}

static void
lower_add(low_func *f, bool subtract)
{
    const unsigned type = low_type(f, 0);

    if (low_has(f, PTX_W_cc)) {
        carry_add(f, subtract, false);
    }
    else if (is_half(type)) {
        half_operation(f, subtract ? EMU_OP_half_sub : EMU_OP_half_add, type, 2);
    }
    else if (ptx_type_is_float(type)) {
        float_operation(f, subtract ? EMU_OP_sub_f32 : EMU_OP_add_f32,
                        subtract ? EMU_OP_sub_f64 : EMU_OP_add_f64, type, 2);
    }
    else if (type == PTX_W_s16x2 || type == PTX_W_u16x2) {
        low_value c = low_constant(f, PTX_R32, 0);
        low_insn *insn;

        low_operands(f, 3, 3);
        insn = low_emit(f, EMU_OP_simd_video, target(f, type), source(f, 1, type),
                        source(f, 2, type), c);
        insn->aux = subtract;
        insn->imm = 1;
    }
    else if (low_has(f, PTX_W_sat)) {
        if (type != PTX_W_s32) {
            low_unsupported(f);
        }
        integer_binary(f, subtract ? EMU_OP_subsat_s32 : EMU_OP_addsat_s32, type);
    }
    else {
        integer_binary(f, pick_width(f, subtract ? BY_WIDTH(sub) : BY_WIDTH(add), type),
                       type);
    }
}

static unsigned
twice(const low_func *f, unsigned type)
{
    switch (type) {
        case PTX_W_u16:
            return PTX_W_u32;
        case PTX_W_s16:
            return PTX_W_s32;
        case PTX_W_u32:
            return PTX_W_u64;
        case PTX_W_s32:
            return PTX_W_s64;
        default:
            low_unsupported(f);
    }
}

static unsigned
wide_op(const low_func *f, unsigned type, bool add)
{
    switch (type) {
        case PTX_W_u16:
            return add ? EMU_OP_madwide_u16 : EMU_OP_mulwide_u16;
        case PTX_W_s16:
            return add ? EMU_OP_madwide_s16 : EMU_OP_mulwide_s16;
        case PTX_W_u32:
            return add ? EMU_OP_madwide_u32 : EMU_OP_mulwide_u32;
        case PTX_W_s32:
            return add ? EMU_OP_madwide_s32 : EMU_OP_mulwide_s32;
        default:
            low_unsupported(f);
    }
}

static void
lower_mul(low_func *f)
{
    const unsigned type = low_type(f, 0);

    if (is_half(type)) {
        half_operation(f, EMU_OP_half_mul, type, 2);
    }
    else if (ptx_type_is_float(type)) {
        float_operation(f, EMU_OP_mul_f32, EMU_OP_mul_f64, type, 2);
    }
    else if (low_has(f, PTX_W_wide)) {
        low_operands(f, 3, 3);
        low_emit(f, wide_op(f, type, false), target(f, twice(f, type)),
                 source(f, 1, type), source(f, 2, type), 0);
    }
    else if (low_has(f, PTX_W_hi)) {
        integer_binary(f, pick_type(f, BY_TYPE(mulhi), type), type);
    }
    else {
        integer_binary(f, pick_width(f, BY_WIDTH(mul), type), type);
    }
}

/* mad.lo.cc, madc.hi.cc and so on: the product, then an addition with carries. */
static void
carry_mad(low_func *f, bool in)
{
    const unsigned type = low_type(f, 0);
    const bool wide = ptx_type_size(type) == 8;
    const bool out = low_has(f, PTX_W_cc);
    low_value product = low_temp(f, ptx_type_class(type));
    low_insn *insn;

    if (ptx_type_size(type) != 4 && !wide) {
        low_unsupported(f);
    }
    low_operands(f, 4, 4);
    low_emit(f,
             low_has(f, PTX_W_hi) ? pick_type(f, BY_TYPE(mulhi), type)
                                  : pick_width(f, BY_WIDTH(mul), type),
             product, source(f, 1, type), source(f, 2, type), 0);
    insn = low_emit(f, wide ? EMU_OP_addc_64 : EMU_OP_addc_32, target(f, type), product,
                    source(f, 3, type), in ? f->carry : 0);
    insn->e = out ? f->carry : 0;
    insn->aux = (in ? 1 : 0) | (out ? 2 : 0);
}

static void
lower_mad(low_func *f)
{
    const unsigned type = low_type(f, 0);

    if (ptx_type_is_float(type)) {
        float_operation(f, EMU_OP_fma_f32, EMU_OP_fma_f64, type, 3);
        return;
    }
    if (low_has(f, PTX_W_cc)) {
        carry_mad(f, false);
        return;
    }
    low_operands(f, 4, 4);
    if (low_has(f, PTX_W_wide)) {
        low_emit(f, wide_op(f, type, true), target(f, twice(f, type)),
                 source(f, 1, type), source(f, 2, type), source(f, 3, twice(f, type)));
    }
    else if (low_has(f, PTX_W_hi)) {
        low_value product = low_temp(f, ptx_type_class(type));
        const bool sat = low_has(f, PTX_W_sat);

        if (sat && type != PTX_W_s32) {
            low_unsupported(f);
        }
        low_emit(f, pick_type(f, BY_TYPE(mulhi), type), product, source(f, 1, type),
                 source(f, 2, type), 0);
        low_emit(f, sat ? EMU_OP_addsat_s32 : pick_width(f, BY_WIDTH(add), type),
                 target(f, type), product, source(f, 3, type), 0);
    }
    else {
        low_emit(f, pick_width(f, BY_WIDTH(mad), type), target(f, type),
                 source(f, 1, type), source(f, 2, type), source(f, 3, type));
    }
}

static void
lower_mul24(low_func *f, bool add)
{
    const unsigned type = low_type(f, 0);
    const bool is_signed = type == PTX_W_s32;
    const unsigned op = low_has(f, PTX_W_hi)
                            ? (is_signed ? EMU_OP_mul24hi_s32 : EMU_OP_mul24hi_u32)
                            : (is_signed ? EMU_OP_mul24lo_s32 : EMU_OP_mul24lo_u32);
    low_value product;

    if (type != PTX_W_u32 && type != PTX_W_s32) {
        low_unsupported(f);
    }
    low_operands(f, add ? 4 : 3, add ? 4 : 3);
    product = add ? low_temp(f, PTX_R32) : target(f, type);
    low_emit(f, op, product, source(f, 1, type), source(f, 2, type), 0);
    if (add) {
        const bool sat = low_has(f, PTX_W_sat);

        low_emit(f, sat ? EMU_OP_addsat_s32 : EMU_OP_add_32, target(f, type), product,
                 source(f, 3, type), 0);
    }
}

static void
lower_fma(low_func *f)
{
    const unsigned type = low_type(f, 0);

    if (is_half(type)) {
        half_operation(f, EMU_OP_half_fma, type, 3);
    }
    else {
        float_operation(f, EMU_OP_fma_f32, EMU_OP_fma_f64, type, 3);
    }
}

static void
lower_div(low_func *f)
{
    const unsigned type = low_type(f, 0);

    if (type == PTX_W_f32 && low_has(f, PTX_W_approx)) {
        float_operation(f, EMU_OP_divapprox_f32, 0, type, 2);
    }
    else if (ptx_type_is_float(type)) {
        float_operation(f, EMU_OP_div_f32, EMU_OP_div_f64, type, 2);
    }
    else {
        integer_binary(f, pick_type(f, BY_TYPE(div), type), type);
    }
}

static void
lower_neg_abs(low_func *f, bool negate)
{
    const unsigned type = low_type(f, 0);

    if (is_half(type)) {
        half_operation(f, negate ? EMU_OP_neg_half : EMU_OP_abs_half, type, 1);
        return;
    }
    if (ptx_type_is_float(type)) {
        float_operation(f, negate ? EMU_OP_neg_f32 : EMU_OP_abs_f32,
                        negate ? EMU_OP_neg_f64 : EMU_OP_abs_f64, type, 1);
        return;
    }
    low_operands(f, 2, 2);
    low_emit(f,
             negate ? pick_width(f, BY_WIDTH(neg), type)
                    : (ptx_type_size(type) == 2   ? EMU_OP_abs_s16
                       : ptx_type_size(type) == 4 ? EMU_OP_abs_s32
                                                  : EMU_OP_abs_s64),
             target(f, type), source(f, 1, type), 0, 0);
}

/* -- minimum and maximum ----------------------------------------------------------- */

/* min.xorsign.abs: of the magnitudes, with the product of the signs. */
static void
xorsign(low_func *f, unsigned op)
{
    low_value d = target(f, PTX_W_f32);
    low_value a = low_flush(f, source(f, 1, PTX_W_f32));
    low_value b = low_flush(f, source(f, 2, PTX_W_f32));
    low_value sign = low_temp(f, PTX_R32), x = low_temp(f, PTX_R32),
              y = low_temp(f, PTX_R32), r = low_temp(f, PTX_R32);

    low_emit(f, EMU_OP_xor_32, sign, a, b, 0);
    low_emit(f, EMU_OP_abs_f32, x, a, 0, 0);
    low_emit(f, EMU_OP_abs_f32, y, b, 0, 0);
    low_emit(f, op, r, x, y, 0);
    low_emit(f, EMU_OP_copysign_f32, d, sign, r, 0);
}

static void
lower_min_max(low_func *f, bool min)
{
    const unsigned type = low_type(f, 0);
    const bool nan = low_has(f, PTX_W_NaN);

    low_operands(f, 3, 3);
    if (type == PTX_W_f32) {
        const unsigned op = nan ? (min ? EMU_OP_minnan_f32 : EMU_OP_maxnan_f32)
                                : (min ? EMU_OP_min_f32 : EMU_OP_max_f32);

        if (low_has(f, PTX_W_xorsign)) {
            xorsign(f, op);
        }
        else {
            float_operation(f, op, 0, type, 2);
        }
    }
    else if (type == PTX_W_f64) {
        float_operation(f, 0, min ? EMU_OP_min_f64 : EMU_OP_max_f64, type, 2);
    }
    else if (is_half(type)) {
        if (low_has(f, PTX_W_xorsign)) {
            low_unsupported(f);
        }
        half_operation(f, min ? EMU_OP_half_min : EMU_OP_half_max, type, 2);
    }
    else if (type == PTX_W_s16x2 || type == PTX_W_u16x2) {
        const bool relu = low_has(f, PTX_W_relu);
        low_value zero = low_constant(f, PTX_R32, 0), d = target(f, type);
        low_value r = relu ? low_temp(f, PTX_R32) : d;
        low_insn *insn;

        if (relu && type != PTX_W_s16x2) {
            low_unsupported(f);
        }
        insn = low_emit(f, EMU_OP_simd_video, r, source(f, 1, type), source(f, 2, type),
                        zero);
        insn->aux = min ? 4 : 5;
        insn->imm = 1 | (type == PTX_W_s16x2 ? 2 | 4 | 8 : 0);
        if (relu) {
            insn = low_emit(f, EMU_OP_simd_video, d, r, zero, zero);
            insn->aux = 5;
            insn->imm = 1 | 2 | 4 | 8;
        }
    }
    else {
        low_value d = target(f, type), a = source(f, 1, type), b = source(f, 2, type);
        const bool relu = low_has(f, PTX_W_relu);
        low_value r = relu ? low_temp(f, PTX_R32) : d;

        if (relu && type != PTX_W_s32) {
            low_unsupported(f);
        }
        low_emit(f, pick_type(f, min ? BY_TYPE(min) : BY_TYPE(max), type), r, a, b, 0);
        if (relu) {
            low_emit(f, EMU_OP_max_s32, d, r, low_constant(f, PTX_R32, 0), 0);
        }
    }
}

/* -- functions --------------------------------------------------------------------- */

static void
lower_function(low_func *f)
{
    const unsigned type = low_type(f, 0);
    const bool gross = low_has(f, PTX_W_approx);

    switch (f->in->opcode) {
        case PTX_OP_rcp:
            float_operation(f, EMU_OP_rcp_f32,
                            gross ? EMU_OP_rcpgross_f64 : EMU_OP_rcp_f64, type, 1);
            break;
        case PTX_OP_sqrt:
            float_operation(f, EMU_OP_sqrt_f32, EMU_OP_sqrt_f64, type, 1);
            break;
        case PTX_OP_rsqrt:
            float_operation(
                f, EMU_OP_rsqrt_f32,
                low_has(f, PTX_W_ftz) ? EMU_OP_rsqrtgross_f64 : EMU_OP_rsqrt_f64, type,
                1);
            break;
        case PTX_OP_sin:
            float_operation(f, EMU_OP_sin_f32, 0, type, 1);
            break;
        case PTX_OP_cos:
            float_operation(f, EMU_OP_cos_f32, 0, type, 1);
            break;
        case PTX_OP_lg2:
            float_operation(f, EMU_OP_lg2_f32, 0, type, 1);
            break;
        case PTX_OP_ex2:
            if (is_half(type)) {
                half_operation(f, EMU_OP_half_ex2, type, 1);
            }
            else {
                float_operation(f, EMU_OP_ex2_f32, 0, type, 1);
            }
            break;
        case PTX_OP_tanh:
            if (is_half(type)) {
                half_operation(f, EMU_OP_half_tanh, type, 1);
            }
            else {
                float_operation(f, EMU_OP_tanh_f32, 0, type, 1);
            }
            break;
        default:
            float_operation(f, EMU_OP_copysign_f32, EMU_OP_copysign_f64, type, 2);
            break;
    }
}

static void
lower_testp(low_func *f)
{
    static const uint16_t tests[] = {PTX_W_finite,     PTX_W_infinite, PTX_W_number,
                                     PTX_W_notanumber, PTX_W_normal,   PTX_W_subnormal};
    const unsigned type = low_type(f, 0);
    unsigned i;

    low_operands(f, 2, 2);
    if (type != PTX_W_f32 && type != PTX_W_f64) {
        low_unsupported(f);
    }
    for (i = 0; i < 6 && !low_has(f, tests[i]); i++) {
    }
    if (i == 6) {
        low_unsupported(f);
    }
    low_emit(f, type == PTX_W_f32 ? EMU_OP_testp_f32 : EMU_OP_testp_f64,
             low_target(f, &f->in->operands[0], PTX_PRED), source(f, 1, type), 0, 0)
        ->aux = i;
}

bool
low_arithmetic(low_func *f)
{
    switch (f->in->opcode) {
        case PTX_OP_add:
        case PTX_OP_sub:
            lower_add(f, f->in->opcode == PTX_OP_sub);
            return true;
        case PTX_OP_addc:
        case PTX_OP_subc:
            carry_add(f, f->in->opcode == PTX_OP_subc, true);
            return true;
        case PTX_OP_mul:
            lower_mul(f);
            return true;
        case PTX_OP_mad:
            lower_mad(f);
            return true;
        case PTX_OP_madc:
            carry_mad(f, true);
            return true;
        case PTX_OP_mul24:
        case PTX_OP_mad24:
            lower_mul24(f, f->in->opcode == PTX_OP_mad24);
            return true;
        case PTX_OP_fma:
            lower_fma(f);
            return true;
        case PTX_OP_div:
            lower_div(f);
            return true;
        case PTX_OP_rem:
            integer_binary(f, pick_type(f, BY_TYPE(rem), low_type(f, 0)),
                           low_type(f, 0));
            return true;
        case PTX_OP_neg:
        case PTX_OP_abs:
            lower_neg_abs(f, f->in->opcode == PTX_OP_neg);
            return true;
        case PTX_OP_min:
        case PTX_OP_max:
            lower_min_max(f, f->in->opcode == PTX_OP_min);
            return true;
        case PTX_OP_rcp:
        case PTX_OP_sqrt:
        case PTX_OP_rsqrt:
        case PTX_OP_sin:
        case PTX_OP_cos:
        case PTX_OP_lg2:
        case PTX_OP_ex2:
        case PTX_OP_tanh:
        case PTX_OP_copysign:
            lower_function(f);
            return true;
        case PTX_OP_testp:
            lower_testp(f);
            return true;
        default:
            return false;
    }
}
