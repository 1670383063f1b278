/* Lowering of createpolicy. See lower_opcodes.h.
 *
 * A cache policy is an opaque number of 64 bits. Its bits are those of a GPU, but no
 * access reads them: there is no cache. */
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* The upper bits of a policy, without the fraction. */
static int64_t
policy_base(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_l2_eu, PTX_W_l2_ef, PTX_W_l2_el,
                                     PTX_W_l2_en};
    uint64_t base = 0x1000;
    unsigned seen = 0;

    for (unsigned i = 0; i < f->in->word_count; i++) {
        for (unsigned k = 0; k < 4; k++) {
            if (f->in->words[i] != words[k]) {
                continue;
            }
            if (seen == 0) {
                base |= (uint64_t)k << 9;
            }
            else if (k == 1) { /* the second priority is evict_first */
                base |= 0x100;
            }
            seen++;
        }
    }
    if (seen == 0) {
        low_unsupported(f);
    }
    return (int64_t)(base << 48);
}

void
low_createpolicy(low_func *f)
{
    const ptx_operand *operands = f->in->operands;
    low_value d = low_target(f, &operands[0], PTX_R64), fraction;

    if (low_has(f, PTX_W_cvt)) {
        low_check_operand_count(f, 2, 2);
        low_emit(f, EMU_OP_mov_64, d, low_source_at(f, 1, PTX_W_b64), 0, 0);
        return;
    }
    fraction = low_constant(f, PTX_R32, 0x3f800000);
    if (low_has(f, PTX_W_fractional)) {
        low_check_operand_count(f, 1, 2);
        if (f->in->operand_count == 2) {
            fraction = low_source_at(f, 1, PTX_W_f32);
        }
    }
    else if (low_has(f, PTX_W_range)) {
        low_check_operand_count(f, 4, 4);
    }
    else {
        low_unsupported(f);
    }
    low_emit(f, EMU_OP_policy, d, fraction, 0, 0)->imm = policy_base(f);
}
