/* Lowering of mma and wgmma. See lower_opcodes.h.
 *
 * They must not run under a guard prefix (lower_warp.c). */
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"
#include "device/compile/matrix_forms.h"

enum { MAX_REGISTERS = 128 /* of D of wgmma */, WARPS = 4 /* of a group */ };

/* Add registers to the instruction's further operands. */
static void
mma_add(low_func *f, low_insn *insn, const low_value *values, unsigned count,
        bool written)
{
    for (unsigned i = 0; i < count; i++) {
        low_add_x(f, insn, values[i], written);
    }
}

/* -- mma --------------------------------------------------------------------------- */

static low_product
mma_product(const low_func *f)
{
    unsigned types[LOW_MAX_MATRIX_TYPES];
    low_product p = {.shape = low_matrix_shape(f)};

    if (low_matrix_types(f, types) != 4) {
        low_unsupported(f);
    }
    p.d = types[0];
    p.a = types[1];
    p.b = types[2];
    p.c = types[3];
    p.flags = low_matrix_flag(f, PTX_W_satfinite, EMU_MMA_SATFINITE_BIT) |
              low_matrix_flag(f, PTX_W_xor, EMU_MMA_XOR_BIT) |
              low_matrix_flag(f, PTX_W_sp, EMU_MMA_SPARSE_BIT) |
              low_matrix_flag(f, PTX_W_sp_ordered, EMU_MMA_SPARSE_BIT);
    return p;
}

/* The layouts of A and B: the first and the second of .row and .col. */
static uint64_t
mma_layouts(const low_func *f)
{
    uint64_t flags = 0;
    unsigned seen = 0;

    for (unsigned i = 0; i < f->in->word_count; i++) {
        const unsigned word = f->in->words[i];

        if (word != PTX_W_row && word != PTX_W_col) {
            continue;
        }
        if (seen == 0 && word == PTX_W_col) {
            flags |= (uint64_t)1 << EMU_MMA_A_BY_COLUMNS_BIT;
        }
        if (seen == 1 && word == PTX_W_row) {
            flags |= (uint64_t)1 << EMU_MMA_B_BY_ROWS_BIT;
        }
        seen++;
    }
    if (seen != 2) {
        low_unsupported(f);
    }
    return flags;
}

/* Which of the four lanes of a row hold the indices of a sparse matrix. */
static uint64_t
mma_selector(const low_func *f, const low_product *p, const ptx_operand *operand)
{
    const uint64_t selector = low_number(f, operand);
    const unsigned bits = emu_matrix_bits(p->a);
    unsigned words = p->shape.depth, limit;

    if (bits == 32) {
        words *= 2; /* four bits choose one of two elements */
    }
    if (bits == 4) {
        words /= 2; /* they choose pairs */
    }
    limit = 64 / words;
    if (selector >= limit) {
        low_fail(f, "the selector is %llu, which must be below %u",
                 (unsigned long long)selector, limit);
    }
    return selector << EMU_MMA_SELECTOR_SHIFT;
}

void
low_mma(low_func *f)
{
    const ptx_operand *const operands = f->in->operands;
    low_product p = mma_product(f);
    const bool sparse = p.flags >> EMU_MMA_SPARSE_BIT & 1;
    low_value x[4][8], e = 0;
    unsigned counts[4];
    uint32_t skip;
    low_insn *insn;

    p.flags |= mma_layouts(f) | (uint64_t)low_rounding(f) << EMU_MMA_ROUNDING_SHIFT;
    low_check_product(f, &p);
    low_check_operand_count(f, 4 + 2 * sparse, 4 + 2 * sparse);
    low_product_registers(&p, counts);
    skip = low_guard_begin(f);
    low_matrix_targets(f, &operands[0], p.d, counts[0], x[0]);
    low_matrix_sources(f, &operands[1], p.a, counts[1], x[1]);
    low_matrix_sources(f, &operands[2], p.b, counts[2], x[2]);
    low_matrix_sources(f, &operands[3], p.c, counts[3], x[3]);
    if (sparse) {
        e = low_source(f, &operands[4], PTX_W_b32);
        p.flags |= mma_selector(f, &p, &operands[5]);
    }
    insn = low_emit(f, EMU_OP_mma, 0, 0, 0, 0);
    insn->imm = low_product_fields(&p);
    for (unsigned i = 0; i < 4; i++) {
        mma_add(f, insn, x[i], counts[i], i == 0);
    }
    if (sparse) {
        low_add_x(f, insn, e, false);
    }
    low_guard_end(f, skip);
}

/* -- wgmma ------------------------------------------------------------------------- */

static low_product
group_product(const low_func *f)
{
    unsigned types[LOW_MAX_MATRIX_TYPES];
    low_product p = {.shape = low_matrix_shape(f)};

    if (low_matrix_types(f, types) != 3) {
        low_unsupported(f);
    }
    p.d = p.c = types[0];
    p.a = types[1];
    p.b = types[2];
    p.flags = low_matrix_flag(f, PTX_W_satfinite, EMU_MMA_SATFINITE_BIT) |
              low_matrix_flag(f, PTX_W_xor, EMU_MMA_XOR_BIT) |
              low_matrix_flag(f, PTX_W_sp, EMU_MMA_SPARSE_BIT) |
              (uint64_t)1 << EMU_MMA_GROUP_BIT;
    low_check_group_product(f, &p);
    return p;
}

/* The number 1 or -1 that scales A or B: the flag `bit` for -1. */
static uint64_t
group_sign(const low_func *f, const ptx_operand *operand, unsigned bit)
{
    const int64_t sign = (int64_t)low_number(f, operand);

    if (sign != 1 && sign != -1) {
        low_fail(f, "a scale is %lld, which must be 1 or -1", (long long)sign);
    }
    return (uint64_t)(sign < 0) << bit;
}

/* The number 0 or 1 that says whether A or B is transposed. */
static uint64_t
group_transposed(const low_func *f, const ptx_operand *operand, unsigned bit)
{
    const uint64_t is_transposed = low_number(f, operand);

    if (is_transposed > 1) {
        low_fail(f, "the transposition of a matrix must be 0 or 1");
    }
    return is_transposed << bit;
}

/* The numbers that follow the predicate: signs and transpositions. */
static uint64_t
group_numbers(const low_func *f, const low_product *p, const ptx_operand *numbers,
              unsigned count)
{
    const bool a_shared = p->flags >> EMU_MMA_A_SHARED_BIT & 1;
    unsigned wanted = 0;
    uint64_t flags = 0;

    if (p->d != EMU_MATRIX_S32) {
        wanted = 2;
        if (emu_matrix_bits(p->a) == 16) {
            wanted += 1 + a_shared;
        }
    }
    if (count != wanted) {
        low_fail(f, "%u operands", f->in->operand_count);
    }
    if (wanted != 0) {
        flags = group_sign(f, &numbers[0], EMU_MMA_A_NEGATED_BIT) |
                group_sign(f, &numbers[1], EMU_MMA_B_NEGATED_BIT);
    }
    if (wanted == 4) {
        flags |= group_transposed(f, &numbers[2], EMU_MMA_A_BY_COLUMNS_BIT);
    }
    if (wanted > 2) {
        flags |= group_transposed(f, &numbers[wanted - 1], EMU_MMA_B_BY_ROWS_BIT);
    }
    return flags;
}

static void
group_multiply(low_func *f)
{
    const ptx_operand *const operands = f->in->operands, *next = &operands[3];
    low_product p = group_product(f);
    const bool sparse = p.flags >> EMU_MMA_SPARSE_BIT & 1;
    const bool a_is_loaded = operands[1].kind == PTX_O_VECTOR;
    const unsigned results =
        emu_matrix_registers(p.shape.rows * p.shape.columns / WARPS, p.d);
    low_value d[MAX_REGISTERS], c[MAX_REGISTERS], a[4], e = 0;
    const uint32_t skip = low_guard_begin(f);
    low_value from = 0, to, adds;
    low_insn *insn;

    low_check_operand_count(f, sparse ? 6 : 4, PTX_MAX_OPERANDS);
    low_matrix_targets(f, &operands[0], p.d, results, d);
    low_matrix_sources(f, &operands[0], p.d, results, c);
    if (a_is_loaded) {
        low_matrix_sources(f, &operands[1], p.a, 4, a);
    }
    else {
        from = low_source(f, &operands[1], PTX_W_b64);
        p.flags |= (uint64_t)1 << EMU_MMA_A_SHARED_BIT;
    }
    to = low_source(f, &operands[2], PTX_W_b64);
    if (sparse) {
        e = low_source(f, next++, PTX_W_b32);
        p.flags |= mma_selector(f, &p, next++);
    }
    adds = low_predicate(f, next++);
    p.flags |=
        group_numbers(f, &p, next, f->in->operand_count - (unsigned)(next - operands));
    insn = low_emit(f, EMU_OP_wgmma, 0, from, to, adds);
    insn->imm = low_product_fields(&p);
    mma_add(f, insn, d, results, true);
    if (a_is_loaded) {
        mma_add(f, insn, a, 4, false);
    }
    mma_add(f, insn, c, results, false);
    if (sparse) {
        low_add_x(f, insn, e, false);
    }
    low_guard_end(f, skip);
}

/* wgmma.fence, commit_group and wait_group order nothing here: each wgmma is complete
 * when it ends. */
void
low_wgmma(low_func *f)
{
    if (low_has(f, PTX_W_mma_async)) {
        group_multiply(f);
    }
    else if (low_has(f, PTX_W_wait_group)) {
        low_check_operand_count(f, 1, 1);
        (void)low_number(f, &f->in->operands[0]);
    }
    else if (low_has(f, PTX_W_fence) || low_has(f, PTX_W_commit_group)) {
        low_check_operand_count(f, 0, 0);
    }
    else {
        low_unsupported(f);
    }
    low_need_specific_target(f);
}
