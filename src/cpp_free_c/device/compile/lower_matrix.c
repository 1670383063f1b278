/* Lowering of mma and wgmma, and of ldmatrix, stmatrix and movmatrix, which move
 * matrices of 8 by 8 elements of 16 bits; and the forms of matrix operations. See
 * lower.h. */
#include "device/compile/lower.h"

#include "device/compile/encoding.h"

/* -- forms ------------------------------------------------------------------------- */

static const struct {
    uint16_t word;
    uint8_t type;
} matrix_words[] = {{PTX_W_f16, EMU_MATRIX_F16},   {PTX_W_bf16, EMU_MATRIX_BF16},
                    {PTX_W_tf32, EMU_MATRIX_TF32}, {PTX_W_e4m3, EMU_MATRIX_E4M3},
                    {PTX_W_e5m2, EMU_MATRIX_E5M2}, {PTX_W_f32, EMU_MATRIX_F32},
                    {PTX_W_f64, EMU_MATRIX_F64},   {PTX_W_s8, EMU_MATRIX_S8},
                    {PTX_W_u8, EMU_MATRIX_U8},     {PTX_W_s4, EMU_MATRIX_S4},
                    {PTX_W_u4, EMU_MATRIX_U4},     {PTX_W_b1, EMU_MATRIX_B1},
                    {PTX_W_s32, EMU_MATRIX_S32}};

/* The depths of products, by the type of A. Each depth is a power of two, so that a set
 * of them is a sum. */
static const struct {
    uint16_t small;  /* with 8 rows */
    uint16_t dense;  /* with 16 rows */
    uint16_t sparse; /* with 16 rows */
    uint16_t group;  /* of wgmma; a sparse A doubles it */
} matrix_depths[EMU_MATRIX_TYPES] = {[EMU_MATRIX_F16] = {4, 8 | 16, 16 | 32, 16},
                                     [EMU_MATRIX_BF16] = {0, 8 | 16, 16 | 32, 16},
                                     [EMU_MATRIX_TF32] = {0, 4 | 8, 8 | 16, 8},
                                     [EMU_MATRIX_E4M3] = {0, 16 | 32, 64, 32},
                                     [EMU_MATRIX_E5M2] = {0, 16 | 32, 64, 32},
                                     [EMU_MATRIX_F64] = {4, 4 | 8 | 16, 0, 0},
                                     [EMU_MATRIX_S8] = {16, 16 | 32, 32 | 64, 32},
                                     [EMU_MATRIX_U8] = {16, 16 | 32, 32 | 64, 32},
                                     [EMU_MATRIX_S4] = {32, 32 | 64, 64 | 128, 0},
                                     [EMU_MATRIX_U4] = {32, 32 | 64, 64 | 128, 0},
                                     [EMU_MATRIX_B1] = {128, 128 | 256, 0, 256}};

#define FLAG(bit) ((uint64_t)1 << (bit))

unsigned
low_matrix_types(const low_func *f, unsigned types[LOW_MAX_MATRIX_TYPES])
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->in->word_count; i++) {
        for (unsigned k = 0; k < sizeof matrix_words / sizeof *matrix_words; k++) {
            if (matrix_words[k].word != f->in->words[i]) {
                continue;
            }
            if (count == LOW_MAX_MATRIX_TYPES) {
                low_unsupported(f);
            }
            types[count++] = matrix_words[k].type;
        }
    }
    return count;
}

ptx_shape
low_matrix_shape(const low_func *f)
{
    for (unsigned i = 0; i < f->in->word_count; i++) {
        const ptx_shape shape = ptx_word_shape(f->in->words[i]);

        if (shape.rows != 0) {
            return shape;
        }
    }
    low_unsupported(f);
}

uint64_t
low_matrix_flag(const low_func *f, unsigned word, unsigned bit)
{
    if (low_has(f, word)) {
        return FLAG(bit);
    }
    return 0;
}

/* -- which products the hardware has ----------------------------------------------- */

static bool
matrix_is_short_float(unsigned type)
{
    return type == EMU_MATRIX_E4M3 || type == EMU_MATRIX_E5M2;
}

static bool
matrix_is_integer(unsigned type)
{
    return type >= EMU_MATRIX_S8 && type <= EMU_MATRIX_U4;
}

/* Whether A and B may have these types. */
static bool
matrix_fit_together(unsigned a, unsigned b)
{
    if (matrix_is_short_float(a)) {
        return matrix_is_short_float(b);
    }
    if (matrix_is_integer(a)) {
        return matrix_is_integer(b) && emu_matrix_bits(a) == emu_matrix_bits(b);
    }
    return a == b;
}

/* Whether C or D may have this type. */
static bool
matrix_is_result(unsigned a, unsigned type)
{
    switch (a) {
        case EMU_MATRIX_F16:
        case EMU_MATRIX_E4M3:
        case EMU_MATRIX_E5M2:
            return type == EMU_MATRIX_F16 || type == EMU_MATRIX_F32;
        case EMU_MATRIX_BF16:
        case EMU_MATRIX_TF32:
            return type == EMU_MATRIX_F32;
        case EMU_MATRIX_F64:
            return type == EMU_MATRIX_F64;
        default:
            return type == EMU_MATRIX_S32;
    }
}

/* Whether A, B, C and D may have the product's types together. */
static bool
matrix_types_fit(const low_matrix_product *p)
{
    return matrix_fit_together(p->a, p->b) && matrix_is_result(p->a, p->d) &&
           matrix_is_result(p->a, p->c);
}

/* Whether the instruction names a rounding. */
static bool
matrix_is_rounded(const low_func *f)
{
    static const uint16_t words[] = {PTX_W_rn, PTX_W_rz, PTX_W_rm, PTX_W_rp};

    return low_find(f, words, 4) < 4;
}

void
low_check_product_modifiers(const low_func *f, const low_matrix_product *p)
{
    const bool saturates = p->flags & FLAG(EMU_MMA_SATFINITE_BIT);

    if ((saturates && !matrix_is_integer(p->a)) ||
        ((p->flags & FLAG(EMU_MMA_XOR_BIT)) && p->a != EMU_MATRIX_B1) ||
        (matrix_is_rounded(f) && p->a != EMU_MATRIX_F64)) {
        low_unsupported(f);
    }
}

/* Fails unless the hardware has a product of one warp, or of wgmma, with these types,
 * this shape and these flags. */
static void
low_check_product(const low_func *f, const low_matrix_product *p)
{
    const bool sparse = p->flags & FLAG(EMU_MMA_SPARSE_BIT);
    const bool is_quad = p->shape.rows == 8 && p->a == EMU_MATRIX_F16;
    const uint64_t layouts =
        p->flags & (FLAG(EMU_MMA_A_BY_COLUMNS_BIT) | FLAG(EMU_MMA_B_BY_ROWS_BIT));
    unsigned depths = matrix_depths[p->a].small;

    if (p->shape.rows == 16) {
        depths = sparse ? matrix_depths[p->a].sparse : matrix_depths[p->a].dense;
    }
    if (!matrix_types_fit(p) || p->shape.columns != 8 || !(depths & p->shape.depth) ||
        p->shape.rows > 16 || (sparse && p->shape.rows == 8)) {
        low_unsupported(f);
    }
    if (layouts != 0 && !is_quad) {
        low_unsupported(f);
    }
    low_check_product_modifiers(f, p);
    if (p->c != p->d && !(is_quad && p->d == EMU_MATRIX_F32)) {
        low_unsupported(f);
    }
    if (sparse && matrix_is_short_float(p->a) && p->d != EMU_MATRIX_F32) {
        low_unsupported(f);
    }
}

static void
low_check_group_product(const low_func *f, const low_matrix_product *p)
{
    const bool sparse = p->flags & FLAG(EMU_MMA_SPARSE_BIT);
    const bool is_integer = p->d == EMU_MATRIX_S32;
    unsigned depth = matrix_depths[p->a].group;

    if (sparse && p->a != EMU_MATRIX_B1) {
        depth *= 2;
    }
    else if (sparse) {
        depth = 0;
    }
    if (!matrix_types_fit(p) || p->shape.rows != 64 || depth != p->shape.depth ||
        depth == 0 || (p->flags & FLAG(EMU_MMA_XOR_BIT))) {
        low_unsupported(f);
    }
    low_check_product_modifiers(f, p);
    /* integers have no odd multiples of 8 columns but 8 and 24 */
    if (is_integer && p->shape.columns % 16 != 0 && p->shape.columns > 24) {
        low_unsupported(f);
    }
}

int64_t
low_product_fields(const low_matrix_product *p)
{
    const uint64_t fields =
        (uint64_t)p->d << EMU_MMA_D_SHIFT | (uint64_t)p->a << EMU_MMA_A_SHIFT |
        (uint64_t)p->b << EMU_MMA_B_SHIFT | (uint64_t)p->c << EMU_MMA_C_SHIFT |
        (uint64_t)p->shape.rows << EMU_MMA_ROWS_SHIFT |
        (uint64_t)p->shape.columns << EMU_MMA_COLUMNS_SHIFT |
        (uint64_t)p->shape.depth << EMU_MMA_DEPTH_SHIFT;

    return (int64_t)(fields | p->flags);
}

/* -- registers --------------------------------------------------------------------- */

/* The registers of D, A, B and C of a product of one warp. */
static void
low_product_registers(const low_matrix_product *p, unsigned counts[4])
{
    const ptx_shape s = p->shape;
    unsigned copies = 1, stored = s.depth;

    if (s.rows == 8 && p->a == EMU_MATRIX_F16) {
        copies = 4; /* m8n8k4: a product for each eight lanes */
    }
    if (p->flags & FLAG(EMU_MMA_SPARSE_BIT)) {
        stored /= 2;
    }
    counts[0] = emu_matrix_registers(copies * s.rows * s.columns, p->d);
    counts[1] = emu_matrix_registers(copies * s.rows * stored, p->a);
    counts[2] = emu_matrix_registers(copies * s.depth * s.columns, p->b);
    counts[3] = emu_matrix_registers(copies * s.rows * s.columns, p->c);
}

/* The type of a register with elements of this type, and its width. */
static unsigned
low_matrix_register_type(unsigned type)
{
    switch (type) {
        case EMU_MATRIX_F32:
            return PTX_W_f32;
        case EMU_MATRIX_F64:
            return PTX_W_f64;
        default:
            return PTX_W_b32;
    }
}

ptx_class
low_matrix_register_class(unsigned type)
{
    return ptx_type_class(low_matrix_register_type(type));
}

/* The registers of an operand; one register may be without braces. */
static const ptx_operand *
matrix_items(const low_func *f, const ptx_operand *operand, unsigned count)
{
    if (operand->kind == PTX_O_VECTOR && operand->count == count) {
        return operand->items;
    }
    if (operand->kind == PTX_O_VECTOR || count != 1) {
        low_fail(f, "a matrix needs %u registers", count);
    }
    return operand;
}

void
low_matrix_targets(low_func *f, const ptx_operand *operand, unsigned type,
                   unsigned count, low_value *out)
{
    const ptx_operand *items = matrix_items(f, operand, count);

    for (unsigned i = 0; i < count; i++) {
        out[i] = low_target(f, &items[i], low_matrix_register_class(type));
    }
}

void
low_matrix_sources(low_func *f, const ptx_operand *operand, unsigned type,
                   unsigned count, low_value *out)
{
    const ptx_operand *items = matrix_items(f, operand, count);

    for (unsigned i = 0; i < count; i++) {
        out[i] = low_source(f, &items[i], low_matrix_register_type(type));
    }
}

/* -- mma and wgmma ----------------------------------------------------------------- */

enum { MAX_WGMMA_REGISTERS = 128 /* of D of wgmma */, WARPS = 4 /* of a group */ };

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

static low_matrix_product
mma_product(const low_func *f)
{
    unsigned types[LOW_MAX_MATRIX_TYPES];
    low_matrix_product p = {.shape = low_matrix_shape(f)};

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
              low_matrix_flag(f, PTX_W_sp_ordered_metadata, EMU_MMA_SPARSE_BIT);
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
mma_selector(const low_func *f, const low_matrix_product *p, const ptx_operand *operand)
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
    low_matrix_product p = mma_product(f);
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

static low_matrix_product
group_product(const low_func *f)
{
    unsigned types[LOW_MAX_MATRIX_TYPES];
    low_matrix_product p = {.shape = low_matrix_shape(f)};

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
group_numbers(const low_func *f, const low_matrix_product *p,
              const ptx_operand *numbers, unsigned count)
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
    low_matrix_product p = group_product(f);
    const bool sparse = p.flags >> EMU_MMA_SPARSE_BIT & 1;
    const bool a_is_loaded = operands[1].kind == PTX_O_VECTOR;
    const unsigned results =
        emu_matrix_registers(p.shape.rows * p.shape.columns / WARPS, p.d);
    low_value d[MAX_WGMMA_REGISTERS], c[MAX_WGMMA_REGISTERS], a[4], e = 0;
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

/* -- ldmatrix, stmatrix, movmatrix ------------------------------------------------- */

/* Lane 4 g + t has the elements 2 t and 2 t + 1 of row g of a matrix or, of a
 * transposed one, of column g. Lane 8 i + r names the address of row r of matrix i. The
 * other lanes learn it by a shuffle. */

enum { MAX_MATRICES = 4, ROWS = 8, ROW_BYTES = 16, SHUFFLE_BY_INDEX = 3 };

/* d = shfl.idx a, lane of all lanes */
static low_value
move_shuffled(low_func *f, low_value a, low_value lane)
{
    low_value d = low_temp(f, PTX_R32);
    low_insn *insn =
        low_emit(f, EMU_OP_shfl, d, a, lane, low_constant(f, PTX_R32, 0x1f));

    insn->aux = SHUFFLE_BY_INDEX | LOW_NO_PREDICATE;
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
