/* The half-precision forms of arithmetic opcodes: .f16, .bf16 and pairs of them. See
 * half_forms.h. */
#include "device/compile/half_forms.h"

#include "device/base/half.h"
#include "device/compile/lower_operand.h"

static bool
half_is_pair(unsigned type)
{
    return type == PTX_W_f16x2 || type == PTX_W_bf16x2;
}

bool
low_is_half(unsigned type)
{
    return type == PTX_W_f16 || type == PTX_W_bf16 || half_is_pair(type);
}

/* The first source; for neg.ftz and abs.ftz, with subnormal numbers flushed to zero.
 * The other operations flush their sources themselves. */
static low_value
half_flushed(low_func *f, unsigned op, uint32_t format, low_value value)
{
    enum { ONE = 0x3c00 };
    low_value d;

    if ((op != EMU_OP_neg_half && op != EMU_OP_abs_half) ||
        (format & EMU_HALF_FTZ) == 0) {
        return value;
    }
    d = low_temp(f, PTX_R16);
    low_emit(f, EMU_OP_half_mul, d, value, low_constant(f, PTX_R16, ONE), 0)->aux =
        format;
    return d;
}

/* Emits one operation on halves, then that of .sat or .relu. */
static void
half_emit(low_func *f, unsigned op, uint32_t format, low_value d, const low_value v[3])
{
    const bool sat = low_has(f, PTX_W_sat), relu = low_has(f, PTX_W_relu);
    low_value result = d;
    low_insn *insn;

    if (sat || relu) {
        result = low_temp(f, PTX_R16);
    }
    insn = low_emit(f, op, result, half_flushed(f, op, format, v[0]), v[1], v[2]);
    insn->aux = format;
    if (low_has(f, PTX_W_NaN)) {
        insn->imm |= EMU_HALF_PREFERS_NAN;
    }
    if (low_has(f, PTX_W_xorsign)) {
        insn->imm |= EMU_HALF_XORSIGN;
    }
    if (result != d) {
        insn = low_emit(f, EMU_OP_half_sat, d, result, 0, 0);
        insn->aux = format;
        insn->imm = relu;
    }
}

void
low_half_operation(low_func *f, unsigned op, unsigned type, unsigned sources)
{
    uint32_t format = EMU_F16;
    low_value d, v[3] = {0, 0, 0}, parts[2][3] = {{0}}, results[2];

    if (type == PTX_W_bf16 || type == PTX_W_bf16x2) {
        format = EMU_BF16;
    }
    if (low_has(f, PTX_W_ftz)) {
        format |= EMU_HALF_FTZ;
    }
    if (low_has(f, PTX_W_oob)) {
        format |= EMU_HALF_OOB;
    }
    low_check_operand_count(f, sources + 1, sources + 1);
    d = low_result(f, type);
    for (unsigned i = 0; i < sources; i++) {
        v[i] = low_source_at(f, i + 1, type);
    }
    if (!half_is_pair(type)) {
        half_emit(f, op, format, d, v);
        return;
    }
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < sources; i++) {
            parts[k][i] = low_temp(f, PTX_R16);
            low_emit(f, EMU_OP_part_16from32, parts[k][i], v[i], 0, 0)->imm =
                (int64_t)16 * k;
        }
        results[k] = low_temp(f, PTX_R16);
        half_emit(f, op, format, results[k], parts[k]);
    }
    low_emit(f, EMU_OP_join_32, d, results[0], results[1], 0);
}
