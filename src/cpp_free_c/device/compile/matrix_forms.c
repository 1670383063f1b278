/* The forms of matrix operations. See matrix_forms.h. */
#include "device/compile/matrix_forms.h"

#include "device/compile/lower_operand.h"

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
matrix_types_fit(const low_product *p)
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
low_check_product_modifiers(const low_func *f, const low_product *p)
{
    const bool saturates = p->flags & FLAG(EMU_MMA_SATFINITE_BIT);

    if ((saturates && !matrix_is_integer(p->a)) ||
        ((p->flags & FLAG(EMU_MMA_XOR_BIT)) && p->a != EMU_MATRIX_B1) ||
        (matrix_is_rounded(f) && p->a != EMU_MATRIX_F64)) {
        low_unsupported(f);
    }
}

void
low_check_product(const low_func *f, const low_product *p)
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

void
low_check_group_product(const low_func *f, const low_product *p)
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
low_product_fields(const low_product *p)
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

void
low_product_registers(const low_product *p, unsigned counts[4])
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

unsigned
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
