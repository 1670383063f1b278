/* Lowering of atomic operations: atom, red. See lower_opcodes.h. */
#include "device/compile/encoding.h"
#include "device/compile/lower_bulk.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

/* -- which operation --------------------------------------------------------------- */

/* The operation of a floating-point type: the n-th word of add, min, max. */
static int
atomic_float_operation(const low_func *f, unsigned type, unsigned which)
{
    static const struct {
        uint16_t type;
        int8_t operations[3];
    } rows[] = {
        {PTX_W_f32, {EMU_ATOM_ADD_F32, -1, -1}},
        {PTX_W_f64, {EMU_ATOM_ADD_F64, -1, -1}},
        {PTX_W_f16, {EMU_ATOM_ADD_F16, EMU_ATOM_MIN_F16, EMU_ATOM_MAX_F16}},
        {PTX_W_bf16, {EMU_ATOM_ADD_BF16, EMU_ATOM_MIN_BF16, EMU_ATOM_MAX_BF16}},
        {PTX_W_f16x2, {EMU_ATOM_ADD_F16X2, EMU_ATOM_MIN_F16X2, EMU_ATOM_MAX_F16X2}},
        {PTX_W_bf16x2,
         {EMU_ATOM_ADD_BF16X2, EMU_ATOM_MIN_BF16X2, EMU_ATOM_MAX_BF16X2}}};

    for (size_t i = 0; which < 3 && i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type == type && rows[i].operations[which] >= 0) {
            return rows[i].operations[which];
        }
    }
    low_unsupported(f);
}

/* EMU_ATOM_ constant of the instruction. */
static int
atomic_operation(const low_func *f, unsigned type)
{
    static const uint16_t words[] = {PTX_W_add, PTX_W_min, PTX_W_max, PTX_W_exch,
                                     PTX_W_cas, PTX_W_and, PTX_W_or,  PTX_W_xor,
                                     PTX_W_inc, PTX_W_dec};
    static const uint8_t of_unsigned[] = {
        EMU_ATOM_ADD, EMU_ATOM_MIN_U, EMU_ATOM_MAX_U, EMU_ATOM_EXCH, EMU_ATOM_CAS,
        EMU_ATOM_AND, EMU_ATOM_OR,    EMU_ATOM_XOR,   EMU_ATOM_INC,  EMU_ATOM_DEC};
    const unsigned count = sizeof of_unsigned, which = low_find(f, words, count);

    if (which == count) {
        low_unsupported(f);
    }
    if (ptx_type_is_float(type)) {
        return atomic_float_operation(f, type, which);
    }
    if (ptx_type_is_signed(type) && words[which] == PTX_W_min) {
        return EMU_ATOM_MIN_S;
    }
    if (ptx_type_is_signed(type) && words[which] == PTX_W_max) {
        return EMU_ATOM_MAX_S;
    }
    return of_unsigned[which];
}

/* The operation for 16, 32, 64 or 128 bits. */
static unsigned
atomic_op(const low_func *f, unsigned type, int operation)
{
    switch (ptx_type_size(type)) {
        case 2:
            return f->ops[0];
        case 4:
            return f->ops[1];
        case 8:
            return f->ops[2];
        case 16:
            if (operation == EMU_ATOM_EXCH || operation == EMU_ATOM_CAS) {
                return f->ops[3];
            }
            low_unsupported(f);
        default:
            low_unsupported(f);
    }
}

/* -- one element ------------------------------------------------------------------- */

/* Emits the atomic operation. Operand `first` is the address; `d` is the register for
 * the old value, or 0. */
static void
atomic_emit(low_func *f, unsigned first, low_value d)
{
    const unsigned type = low_type_at(f, 0);
    const int operation = atomic_operation(f, type);
    const low_place p = low_address(f, &f->in->operands[first]);
    low_value b = low_source_at(f, first + 1, type), c = 0;
    low_insn *insn;

    if (operation == EMU_ATOM_CAS) {
        c = low_source_at(f, first + 2, type);
    }
    insn = low_access(f, atomic_op(f, type, operation), d, p, b);
    insn->c = c;
    insn->e = LOW_NUMBER(operation);
    if (d != 0) {
        insn->aux |= EMU_AT_RESULT;
    }
    if (low_has(f, PTX_W_release) || low_has(f, PTX_W_acq_rel)) {
        insn->aux |= EMU_AT_RELEASE;
        if (low_fence_scope(f) & EMU_FENCE_IN_BLOCK) {
            insn->aux |= EMU_AT_IN_BLOCK;
        }
    }
}

/* -- vectors ----------------------------------------------------------------------- */

/* Each element is one atomic operation. The results are in registers of their own until
 * the last element is done: they may be sources of later elements. */
static void
atomic_emit_vector(low_func *f, unsigned first, const ptx_operand *results)
{
    const unsigned type = low_type_at(f, 0), count = low_vector_count(f);
    const unsigned bytes = ptx_type_size(type);
    const int operation = atomic_operation(f, type);
    const ptx_operand *values = &f->in->operands[first + 1];
    low_place p = low_address(f, &f->in->operands[first]);
    low_value old[8] = {0};

    if (!ptx_type_is_float(type) || bytes > 4 || count * bytes > 16 ||
        values->kind != PTX_O_VECTOR || values->count != count ||
        (results != NULL &&
         (results->kind != PTX_O_VECTOR || results->count != count))) {
        low_unsupported(f);
    }
    for (unsigned i = 0; i < count; i++, p.offset += bytes) {
        low_insn *insn;
        low_value b = low_source(f, &values->items[i], type);

        if (results != NULL) {
            old[i] = low_temp(f, ptx_type_class(type));
        }
        insn = low_access(f, atomic_op(f, type, operation), old[i], p, b);
        insn->e = LOW_NUMBER(operation);
        if (results != NULL) {
            insn->aux |= EMU_AT_RESULT;
        }
    }
    for (unsigned i = 0; results != NULL && i < count; i++) {
        low_value d = low_target(f, &results->items[i], ptx_type_class(type));
        unsigned op = EMU_OP_mov_32;

        if (bytes == 2) {
            op = EMU_OP_mov_16;
        }
        low_emit(f, op, d, old[i], 0, 0);
    }
}

/* -- the opcodes ------------------------------------------------------------------- */

/* Fails unless there are as many operands as the operation needs, from `first` on. The
 * last one may be a cache policy. */
static void
atomic_check(const low_func *f, unsigned first)
{
    unsigned least = first + 2;

    if (low_has(f, PTX_W_cas)) {
        least++;
    }
    low_check_operand_count(f, least, least + 1);
}

void
low_atom(low_func *f)
{
    atomic_check(f, 1);
    if (low_vector_count(f) > 1) {
        atomic_emit_vector(f, 1, &f->in->operands[0]);
    }
    else {
        atomic_emit(f, 1, low_result(f, low_type_at(f, 0)));
    }
}

/* red.async: the operation is done at once, and the mbarrier counts its bytes. */
static void
atomic_red_async(low_func *f)
{
    low_check_operand_count(f, 3, 3);
    if (!low_has(f, PTX_W_mbarrier_bytes) || low_vector_count(f) > 1) {
        low_unsupported(f);
    }
    atomic_emit(f, 0, 0);
    low_complete_bytes(f, ptx_type_size(low_type_at(f, 0)));
}

void
low_red(low_func *f)
{
    atomic_check(f, 0);
    if (low_has(f, PTX_W_async)) {
        atomic_red_async(f);
    }
    else if (low_vector_count(f) > 1) {
        atomic_emit_vector(f, 0, NULL);
    }
    else {
        atomic_emit(f, 0, 0);
    }
}
