/* Lowering of operations between the lanes of a warp. See lower_opcodes.h.
 *
 * They must not run under a guard prefix, which changes the mask for one instruction
 * only. So a guarded one becomes a branch around the operation (low_guard_begin). */
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* In aux of shfl and match: there is no predicate to write. */
enum { NO_PREDICATE = 4 };

void
low_shfl(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_up, PTX_W_down, PTX_W_bfly, PTX_W_idx};
    const bool sync = low_has(f, PTX_W_sync);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, e = 0, a, b, c, mask = 0;
    low_insn *insn;
    const uint32_t mode = low_find(f, modes, 4);

    low_check_operand_count(f, 4u + sync, 4u + sync);
    if (mode == 4 || ptx_type_size(low_type_at(f, 0)) != 4) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], PTX_R32);
    if (f->in->second != NULL) {
        e = low_target(f, f->in->second, PTX_PRED);
    }
    a = low_source(f, &operands[1], PTX_W_b32);
    b = low_source(f, &operands[2], PTX_W_b32);
    c = low_source(f, &operands[3], PTX_W_b32);
    if (sync) {
        mask = low_source(f, &operands[4], PTX_W_b32);
    }
    insn = low_emit(f, EMU_OP_shfl, d, a, b, c);
    insn->e = e;
    insn->aux = mode;
    if (e == 0) {
        insn->aux |= NO_PREDICATE;
    }
    insn->imm = sync;
    if (sync) {
        low_add_x(f, insn, mask, false);
    }
    low_guard_end(f, skip);
}

void
low_vote(low_func *f)
{
    static const uint16_t modes[] = {PTX_W_all, PTX_W_any, PTX_W_uni, PTX_W_ballot};
    const bool sync = low_has(f, PTX_W_sync);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, a, mask = 0;
    low_insn *insn;
    const uint32_t mode = low_find(f, modes, 4);
    ptx_class width = PTX_PRED;

    low_check_operand_count(f, 2u + sync, 2u + sync);
    if (mode == 3) {
        width = PTX_R32; /* .ballot */
    }
    if (mode == 4) {
        low_unsupported(f);
    }
    d = low_target(f, &operands[0], width);
    a = low_predicate(f, &operands[1]);
    if (sync) {
        mask = low_source(f, &operands[2], PTX_W_b32);
    }
    insn = low_emit(f, EMU_OP_vote, d, a, mask, 0);
    insn->aux = mode;
    insn->imm = sync;
    low_guard_end(f, skip);
}

void
low_match(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    const bool all = low_has(f, PTX_W_all);
    const ptx_operand *operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_value d, e = 0, a, mask;
    low_insn *insn;

    low_check_operand_count(f, 3, 3);
    d = low_target(f, &operands[0], PTX_R32);
    if (f->in->second != NULL) {
        e = low_target(f, f->in->second, PTX_PRED);
    }
    a = low_source(f, &operands[1], type);
    mask = low_source(f, &operands[2], PTX_W_b32);
    insn = low_emit(f, EMU_OP_match, d, a, mask, 0);
    insn->e = e;
    insn->aux = all;
    if (type == PTX_W_b64) {
        insn->aux |= 2;
    }
    if (e == 0) {
        insn->aux |= NO_PREDICATE;
    }
    insn->imm = 1;
    low_guard_end(f, skip);
}

void
low_redux(low_func *f)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max,
                                     PTX_W_and, PTX_W_or,  PTX_W_xor};
    const unsigned type = low_type_at(f, 0);
    const uint32_t skip = low_guard_begin(f);
    low_value d, a, mask;
    low_insn *insn;
    const uint32_t which = low_find(f, words, 6);

    low_check_operand_count(f, 3, 3);
    if (which == 6) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    a = low_source(f, &f->in->operands[1], type);
    mask = low_source(f, &f->in->operands[2], PTX_W_b32);
    insn = low_emit(f, EMU_OP_redux, d, a, mask, 0);
    insn->aux = which;
    if (type == PTX_W_s32) {
        insn->aux |= 8;
    }
    insn->imm = 1;
    low_guard_end(f, skip);
}

void
low_elect(low_func *f)
{
    const uint32_t skip = low_guard_begin(f);
    low_value d, mask;
    low_insn *insn;

    low_check_operand_count(f, 2, 2);
    if (f->in->second == NULL) {
        low_unsupported(f);
    }
    d = low_target(f, &f->in->operands[0], PTX_R32);
    mask = low_source(f, &f->in->operands[1], PTX_W_b32);
    insn = low_emit(f, EMU_OP_elect, d, mask, 0, 0);
    insn->e = low_target(f, f->in->second, PTX_PRED);
    insn->imm = 1;
    low_guard_end(f, skip);
}

void
low_activemask(low_func *f)
{
    low_check_operand_count(f, 1, 1);
    low_emit(f, EMU_OP_activemask, low_result(f, PTX_W_b32), 0, 0, 0);
}
