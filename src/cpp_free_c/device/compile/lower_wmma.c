/* Lowering of wmma: loads and stores of fragments, and products, which become the
 * operation mma. See lower.h.
 *
 * PTX does not say how the lanes share a matrix. These are the places on an H200. Lane
 * 4 g + t has elements of the lines g, g + 8, ... of a matrix: rows of A, columns of B.
 * Along a line it has E t to E t + E - 1, where a register has E elements, and those
 * 4 E further. A wide matrix has its registers in pairs, for the lines g and g + 8. The
 * other one has a line after the other. Lines of C and D are those of the wide matrix:
 * rows, or columns if B has 32 of them. A and B of halves have eight registers, which
 * repeat the distinct ones. */
#include "device/compile/lower.h"

#include <string.h>

#include "device/compile/encoding.h"

/* -- which shapes exist with which types ------------------------------------------- */

/* A bit of a set is for the shape at its place. */
static const ptx_shape wmma_shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16},
                                        {16, 16, 8},  {8, 8, 4},   {8, 8, 32},
                                        {8, 8, 128}};
enum {
    BIG_SHAPES = 7,
    TF32_SHAPE = 8,
    F64_SHAPE = 16,
    NIBBLE_SHAPE = 32,
    BIT_SHAPE = 64
};

/* The shapes with A and B of this type (EMU_MATRIX_), and those with C and D of it: a
 * bit for each. */
static unsigned
low_wmma_shapes(unsigned type)
{
    switch (type) {
        case EMU_MATRIX_F16:
        case EMU_MATRIX_BF16:
        case EMU_MATRIX_S8:
        case EMU_MATRIX_U8:
            return BIG_SHAPES;
        case EMU_MATRIX_TF32:
            return TF32_SHAPE;
        case EMU_MATRIX_F64:
            return F64_SHAPE;
        case EMU_MATRIX_S4:
        case EMU_MATRIX_U4:
            return NIBBLE_SHAPE;
        case EMU_MATRIX_B1:
            return BIT_SHAPE;
        default:
            return 0;
    }
}

static unsigned
low_wmma_result_shapes(unsigned type)
{
    switch (type) {
        case EMU_MATRIX_F16:
            return BIG_SHAPES;
        case EMU_MATRIX_F32:
            return BIG_SHAPES | TF32_SHAPE;
        case EMU_MATRIX_F64:
            return F64_SHAPE;
        case EMU_MATRIX_S32:
            return BIG_SHAPES | NIBBLE_SHAPE | BIT_SHAPE;
        default:
            return 0;
    }
}

/* Fails unless the shape is one of the set. */
static void
low_check_wmma_shape(const low_func *f, ptx_shape shape, unsigned set)
{
    for (unsigned i = 0; i < sizeof wmma_shapes / sizeof *wmma_shapes; i++) {
        if ((set >> i & 1) && wmma_shapes[i].rows == shape.rows &&
            wmma_shapes[i].columns == shape.columns &&
            wmma_shapes[i].depth == shape.depth) {
            return;
        }
    }
    low_unsupported(f);
}

/* -- fragments and products -------------------------------------------------------- */

enum {
    MAX_FRAGMENT = 8,
    HALF_FRAGMENT = 8, /* registers of A and B of halves */
    LANES_OF_LINE = 4,
    TILE_LINES = 16,
    TILE = 8, /* columns of a tile */
    MAX_STEPS = 2
};

/* A matrix that the registers of a warp hold. */
typedef struct {
    unsigned type;     /* EMU_MATRIX_ */
    unsigned bits;     /* of an element */
    unsigned elements; /* of a register */
    unsigned depth;    /* along a line */
    bool is_result;    /* C or D */
    bool is_wide;      /* its registers are in pairs of lines */
    bool tiles_beside; /* a second tile of a result is along the lines */
    bool line_is_row;
    unsigned registers, distinct;
} wmma_fragment;

static unsigned
wmma_elements(unsigned type)
{
    if (type == EMU_MATRIX_F64) {
        return 1;
    }
    return 32 / emu_matrix_bits(type);
}

static wmma_fragment
wmma_result(ptx_shape shape, unsigned type)
{
    wmma_fragment m = {.type = type,
                       .bits = emu_matrix_bits(type),
                       .elements = wmma_elements(type),
                       .is_result = true,
                       .is_wide = shape.rows * shape.columns > 64,
                       .tiles_beside = shape.rows == shape.columns,
                       .line_is_row = shape.columns != 32};

    m.registers = emu_matrix_registers(shape.rows * shape.columns, type);
    m.distinct = m.registers;
    return m;
}

static wmma_fragment
wmma_factor(ptx_shape shape, unsigned type, bool is_a)
{
    const unsigned lines = is_a ? shape.rows : shape.columns;
    wmma_fragment m = {.type = type,
                       .bits = emu_matrix_bits(type),
                       .elements = wmma_elements(type),
                       .depth = shape.depth,
                       .is_wide = lines == 32 || (is_a && lines == TILE_LINES),
                       .line_is_row = is_a};

    m.distinct = emu_matrix_registers(lines * shape.depth, type);
    m.registers = m.distinct;
    if (type == EMU_MATRIX_F16) {
        m.registers = HALF_FRAGMENT;
    }
    return m;
}

/* The line and the place along it of the first element of register i, beyond those of
 * the lane's first element. */
static void
wmma_indices(const wmma_fragment *m, unsigned i, unsigned *line, unsigned *along)
{
    const unsigned step = LANES_OF_LINE * m->elements;
    unsigned steps, tile;

    if (m->is_result) {
        const unsigned slots = m->is_wide ? 4 : 2, slot = i * m->elements;

        tile = slot / slots;
        *line = slot % slots / 2 * TILE;
        *along = slot % 2;
        if (m->tiles_beside) {
            *along += tile * TILE;
        }
        else {
            *line += tile * TILE_LINES;
        }
        return;
    }
    steps = m->depth / step;
    if (m->is_wide) {
        *line = i / (2 * steps) * TILE_LINES + i % 2 * TILE;
        *along = i / 2 % steps * step;
    }
    else {
        *line = i / steps * TILE;
        *along = i % steps * step;
    }
}

/* -- places in memory -------------------------------------------------------------- */

/* The place of a lane's elements in memory. */
typedef struct {
    low_place start;     /* of its first element */
    low_value column;    /* bytes from one line of memory to the next */
    bool along_is_dense; /* neighbours along a line are neighbours in memory */
    unsigned bits;       /* of an element */
    ptx_class width;     /* of addresses */
} wmma_place;

static unsigned
wmma_op_of(ptx_class width, unsigned narrow, unsigned wide)
{
    if (width == PTX_R64) {
        return wide;
    }
    return narrow;
}

static low_value
wmma_added(low_func *f, ptx_class width, low_value a, low_value b)
{
    low_value d = low_temp(f, width);

    low_emit(f, wmma_op_of(width, EMU_OP_add_32, EMU_OP_add_64), d, a, b, 0);
    return d;
}

static low_value
wmma_product(low_func *f, ptx_class width, low_value a, low_value b)
{
    low_value d = low_temp(f, width);

    low_emit(f, wmma_op_of(width, EMU_OP_mul_32, EMU_OP_mul_64), d, a, b, 0);
    return d;
}

static low_value
wmma_times(low_func *f, ptx_class width, low_value a, uint64_t factor)
{
    return wmma_product(f, width, a, low_constant(f, width, factor));
}

/* t and g of the lane. */
static void
wmma_lane_parts(low_func *f, low_value *t, low_value *g)
{
    low_value lane = low_temp(f, PTX_R32);
    low_insn *insn = low_emit(f, EMU_OP_lane_special, lane, 0, 0, 0);

    insn->aux = PTX_S_laneid;
    insn->e = LOW_NUMBER(4);
    *t = low_temp(f, PTX_R32);
    *g = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_and_32, *t, lane, low_constant(f, PTX_R32, 3), 0);
    low_emit(f, EMU_OP_shr_u32, *g, lane, low_constant(f, PTX_R32, 2), 0);
}

static low_value
wmma_as_address(low_func *f, ptx_class width, low_value number)
{
    low_value d = number;

    if (width == PTX_R64) {
        d = low_temp(f, PTX_R64);
        low_convert(f, d, PTX_R64, number, PTX_R32, PTX_W_u32);
    }
    return d;
}

/* The bytes from one line of memory to the next. */
static low_value
wmma_column(low_func *f, ptx_class width, const ptx_operand *stride, unsigned elements,
            unsigned bits)
{
    low_value count, bytes = low_temp(f, PTX_R32);

    if (stride != NULL) {
        count = low_source(f, stride, PTX_W_u32);
    }
    else {
        count = low_constant(f, PTX_R32, elements);
    }
    count = wmma_times(f, PTX_R32, count, bits);
    low_emit(f, EMU_OP_shr_u32, bytes, count, low_constant(f, PTX_R32, 3), 0);
    return wmma_as_address(f, width, bytes);
}

/* operands: the address and, or not, the elements from one line to the next. */
static wmma_place
wmma_at(low_func *f, const wmma_fragment *m, const ptx_operand *where,
        const ptx_operand *stride, unsigned elements)
{
    const unsigned unit = m->is_result ? 2 : m->elements; /* elements of a lane */
    wmma_place p = {.start = low_address(f, where),
                    .along_is_dense = low_has(f, PTX_W_row) == m->line_is_row,
                    .bits = m->bits,
                    .width = PTX_R64};
    low_value t, g, offset;

    if (p.start.aux & EMU_AT_BASE32) {
        p.width = PTX_R32;
    }
    wmma_lane_parts(f, &t, &g);
    t = wmma_as_address(f, p.width, t);
    g = wmma_as_address(f, p.width, g);
    p.column = wmma_column(f, p.width, stride, elements, m->bits);
    if (p.along_is_dense) {
        offset = wmma_added(f, p.width, wmma_product(f, p.width, g, p.column),
                            wmma_times(f, p.width, t, unit * m->bits / 8));
    }
    else {
        t = wmma_times(f, p.width, t, unit);
        offset = wmma_added(f, p.width, wmma_product(f, p.width, t, p.column),
                            wmma_times(f, p.width, g, m->bits / 8));
    }
    if (p.start.base != 0) {
        offset = wmma_added(f, p.width, p.start.base, offset);
    }
    else {
        p.start.aux |= EMU_AT_BASE64;
    }
    p.start.base = offset;
    return p;
}

/* The place of the element `line` and `along` beyond the lane's first one. */
static low_place
wmma_element(low_func *f, const wmma_place *p, unsigned line, unsigned along)
{
    unsigned lines = along, dense = line;
    low_place at = p->start;

    if (p->along_is_dense) {
        lines = line;
        dense = along;
    }
    at.offset += (int64_t)dense * p->bits / 8;
    if (lines != 0) {
        at.base =
            wmma_added(f, p->width, at.base, wmma_times(f, p->width, p->column, lines));
    }
    return at;
}

/* -- loads and stores -------------------------------------------------------------- */

/* A register of elements that are not neighbours in memory. */
static low_value
wmma_gather(low_func *f, const wmma_fragment *m, const wmma_place *p, unsigned line,
            unsigned along)
{
    low_value d = low_temp(f, PTX_R32), part, moved, joined;

    low_emit(f, EMU_OP_mov_32, d, low_constant(f, PTX_R32, 0), 0, 0);
    for (unsigned i = 0; i < m->elements; i++) {
        part = low_temp(f, PTX_R32);
        moved = low_temp(f, PTX_R32);
        joined = low_temp(f, PTX_R32);
        low_access(f, m->bits == 8 ? EMU_OP_ld_u8_32 : EMU_OP_ld_u16_32, part,
                   wmma_element(f, p, line, along + i), 0);
        low_emit(f, EMU_OP_shl_32, moved, part,
                 low_constant(f, PTX_R32, (uint64_t)i * m->bits), 0);
        low_emit(f, EMU_OP_or_32, joined, d, moved, 0);
        d = joined;
    }
    return d;
}

/* Whether a register is one access of memory. */
static bool
wmma_is_one_access(const wmma_fragment *m, const wmma_place *p)
{
    return m->elements == 1 || p->along_is_dense;
}

static void
wmma_load_register(low_func *f, const wmma_fragment *m, const wmma_place *p, unsigned i,
                   low_value target)
{
    unsigned line, along;

    wmma_indices(m, i, &line, &along);
    if (m->bits == 64) {
        low_access(f, EMU_OP_ld_u64_64, target, wmma_element(f, p, line, along), 0);
    }
    else if (wmma_is_one_access(m, p)) {
        low_access(f, EMU_OP_ld_u32_32, target, wmma_element(f, p, line, along), 0);
    }
    else {
        low_emit(f, EMU_OP_mov_32, target, wmma_gather(f, m, p, line, along), 0, 0);
    }
}

static void
wmma_store_register(low_func *f, const wmma_fragment *m, const wmma_place *p,
                    unsigned i, low_value value)
{
    unsigned line, along;

    wmma_indices(m, i, &line, &along);
    if (m->bits == 64) {
        low_access(f, EMU_OP_st_64_64, 0, wmma_element(f, p, line, along), value);
        return;
    }
    if (wmma_is_one_access(m, p)) {
        low_access(f, EMU_OP_st_32_32, 0, wmma_element(f, p, line, along), value);
        return;
    }
    for (unsigned k = 0; k < 2; k++) { /* halves */
        low_value part = low_temp(f, PTX_R16);

        low_emit(f, EMU_OP_part_16from32, part, value, 0, 0)->imm = (int64_t)16 * k;
        low_access(f, EMU_OP_st_16_16, 0, wmma_element(f, p, line, along + k), part);
    }
}

/* The stride between lines of memory, or NULL. */
static const ptx_operand *
wmma_stride(const low_func *f)
{
    low_check_operand_count(f, 2, 3);
    if (f->in->operand_count == 3) {
        return &f->in->operands[2];
    }
    return NULL;
}

/* The type of the elements, the only one among the words. */
static unsigned
wmma_type(const low_func *f)
{
    unsigned types[LOW_MAX_MATRIX_TYPES];

    if (low_matrix_types(f, types) != 1) {
        low_unsupported(f);
    }
    return types[0];
}

/* -- layouts ---------------------------------------------------------------------- */

/* Fails for a layout that the type lacks: bits are in the order of A's rows and B's
 * columns. */
static void
wmma_check_layout(const low_func *f, const wmma_fragment *m)
{
    const bool is_row = low_has(f, PTX_W_row);

    if (is_row == low_has(f, PTX_W_col) || (m->bits < 8 && is_row != m->line_is_row)) {
        low_unsupported(f);
    }
}

/* -- the three instructions -------------------------------------------------------- */

static void
wmma_load(low_func *f)
{
    const unsigned type = wmma_type(f);
    const ptx_shape shape = low_matrix_shape(f);
    const ptx_operand *const stride = wmma_stride(f);
    low_value targets[MAX_FRAGMENT];
    unsigned elements = shape.depth;
    wmma_fragment m;
    wmma_place p;

    if (low_has(f, PTX_W_c)) {
        low_check_wmma_shape(f, shape, low_wmma_result_shapes(type));
        m = wmma_result(shape, type);
        elements = low_has(f, PTX_W_row) ? shape.columns : shape.rows;
    }
    else {
        low_check_wmma_shape(f, shape, low_wmma_shapes(type));
        m = wmma_factor(shape, type, low_has(f, PTX_W_a));
        if (low_has(f, PTX_W_row) != m.line_is_row) {
            elements = m.line_is_row ? shape.rows : shape.columns;
        }
    }
    wmma_check_layout(f, &m);
    p = wmma_at(f, &m, &f->in->operands[1], stride, elements);
    low_matrix_targets(f, &f->in->operands[0], type, m.registers, targets);
    for (unsigned i = 0; i < m.distinct; i++) {
        wmma_load_register(f, &m, &p, i, targets[i]);
    }
    for (unsigned i = m.distinct; i < m.registers; i++) {
        low_emit(f, EMU_OP_mov_32, targets[i], targets[i % m.distinct], 0, 0);
    }
}

static void
wmma_store(low_func *f)
{
    const unsigned type = wmma_type(f);
    const ptx_shape shape = low_matrix_shape(f);
    const ptx_operand *const stride = wmma_stride(f);
    const wmma_fragment m = wmma_result(shape, type);
    low_value values[MAX_FRAGMENT];
    wmma_place p;

    low_check_wmma_shape(f, shape, low_wmma_result_shapes(type));
    if (!low_has(f, PTX_W_d)) {
        low_unsupported(f);
    }
    wmma_check_layout(f, &m);
    low_matrix_sources(f, &f->in->operands[1], type, m.registers, values);
    p = wmma_at(f, &m, &f->in->operands[0], stride,
                low_has(f, PTX_W_row) ? shape.columns : shape.rows);
    for (unsigned i = 0; i < m.registers; i++) {
        wmma_store_register(f, &m, &p, i, values[i]);
    }
}

/* Fails unless a product names a layout for A and for B: .row.col if their elements
 * have less than 8 bits. The lanes hold the elements of all layouts alike. */
static void
wmma_check_layouts(const low_func *f, unsigned bits)
{
    unsigned count = 0;

    for (unsigned i = 0; i < f->in->word_count; i++) {
        const unsigned word = f->in->words[i];

        if (word != PTX_W_row && word != PTX_W_col) {
            continue;
        }
        if (bits < 8 && word != (count == 0 ? PTX_W_row : PTX_W_col)) {
            low_unsupported(f);
        }
        count++;
    }
    if (count != 2) {
        low_unsupported(f);
    }
}

/* The types of D, A, B, C: all four, or those of D and C of halves. */
static low_matrix_product
wmma_types(const low_func *f)
{
    unsigned types[LOW_MAX_MATRIX_TYPES];
    const unsigned count = low_matrix_types(f, types);
    low_matrix_product p = {.shape = low_matrix_shape(f)};

    p.flags = low_matrix_flag(f, PTX_W_satfinite, EMU_MMA_SATFINITE_BIT) |
              low_matrix_flag(f, PTX_W_xor, EMU_MMA_XOR_BIT) |
              (uint64_t)low_rounding(f) << EMU_MMA_ROUNDING_SHIFT;
    p.d = types[0];
    if (count == 2) {
        p.a = p.b = EMU_MATRIX_F16;
        p.c = types[1];
    }
    else if (count == 4 && types[1] != EMU_MATRIX_F16) {
        p.a = types[1];
        p.b = types[2];
        p.c = types[3];
    }
    else {
        low_unsupported(f);
    }
    if (p.a != p.b || (p.a != EMU_MATRIX_F16 && p.c != p.d)) {
        low_unsupported(f);
    }
    low_check_product_modifiers(f, &p);
    wmma_check_layouts(f, emu_matrix_bits(p.a));
    low_check_wmma_shape(f, p.shape, low_wmma_shapes(p.a));
    low_check_wmma_shape(f, p.shape, low_wmma_result_shapes(p.d));
    low_check_wmma_shape(f, p.shape, low_wmma_result_shapes(p.c));
    return p;
}

/* The registers of a product's tile and step. */
typedef struct {
    low_value d[4], c[4], wide[8], narrow[4];
    unsigned results, addends, wide_count, narrow_count;
} wmma_tile;

static void
wmma_emit_tile(low_func *f, const low_matrix_product *p, const wmma_tile *tile)
{
    low_insn *insn = low_emit(f, EMU_OP_mma, 0, 0, 0, 0);

    insn->imm = low_product_fields(p);
    for (unsigned i = 0; i < tile->results; i++) {
        low_add_x(f, insn, tile->d[i], true);
    }
    for (unsigned i = 0; i < tile->wide_count; i++) {
        low_add_x(f, insn, tile->wide[i], false);
    }
    for (unsigned i = 0; i < tile->narrow_count; i++) {
        low_add_x(f, insn, tile->narrow[i], false);
    }
    for (unsigned i = 0; i < tile->addends; i++) {
        low_add_x(f, insn, tile->c[i], false);
    }
}

/* All registers of a product, and how many tiles and steps it has. */
typedef struct {
    low_value d[MAX_FRAGMENT], a[MAX_FRAGMENT], b[MAX_FRAGMENT], c[MAX_FRAGMENT];
    wmma_fragment fd, fa, fb, fc;
    unsigned tiles, steps;
} wmma_work;

/* A or B as a factor of one tile. */
typedef struct {
    const low_value *values; /* of the tile, a step after the other */
    unsigned count;          /* of a step */
    bool is_wide;
} wmma_part;

static wmma_part
wmma_part_of(const wmma_work *w, bool is_a, unsigned number)
{
    const wmma_fragment *const m = is_a ? &w->fa : &w->fb;
    const low_value *const values = is_a ? w->a : w->b;
    const unsigned lines = m->distinct * m->elements * LANES_OF_LINE / m->depth;
    unsigned tiles = 1;

    /* in units of eight lines: a wide tile has two, another one */
    if (lines > 2 || (lines == 2 && !m->is_wide)) {
        tiles = w->tiles;
    }
    return (wmma_part){
        .values = values + (size_t)(number % tiles) * (m->distinct / tiles),
        .count = m->distinct / tiles / w->steps,
        .is_wide = m->is_wide};
}

/* The tile number `number` of D. Steps follow each other along the depth: the hardware
 * multiplies tf32 by four elements at a time. */
static void
wmma_emit_steps(low_func *f, low_matrix_product p, const wmma_work *w, unsigned number)
{
    const bool swapped = p.shape.columns == 32;
    const wmma_part wide = wmma_part_of(w, !swapped, number);
    const wmma_part narrow = wmma_part_of(w, swapped, number);
    wmma_tile tile = {.results = w->fd.registers / w->tiles,
                      .addends = w->fc.registers / w->tiles,
                      .wide_count = wide.count,
                      .narrow_count = narrow.count};

    p.shape.rows = wide.is_wide ? TILE_LINES : TILE;
    p.shape.columns = TILE;
    p.shape.depth = (uint16_t)(p.shape.depth / w->steps);
    memcpy(tile.c, w->c + (size_t)number * tile.addends, tile.addends * sizeof *tile.c);
    for (unsigned step = 0; step < w->steps; step++) {
        memcpy(tile.wide, wide.values + (size_t)step * wide.count,
               wide.count * sizeof *tile.wide);
        memcpy(tile.narrow, narrow.values + (size_t)step * narrow.count,
               narrow.count * sizeof *tile.narrow);
        for (unsigned i = 0; i < tile.results; i++) {
            tile.d[i] = w->d[number * tile.results + i];
            if (step + 1 < w->steps) {
                tile.d[i] = low_temp(f, low_matrix_register_class(p.d));
            }
        }
        wmma_emit_tile(f, &p, &tile);
        memcpy(tile.c, tile.d, sizeof tile.c);
    }
}

/* Whether a tile that is written could change a register that a later tile reads. */
static bool
wmma_overlaps(const wmma_work *w, const low_value *targets)
{
    for (unsigned i = 0; i < w->fd.registers; i++) {
        for (unsigned k = 0; k < MAX_FRAGMENT; k++) {
            if ((k < w->fa.registers && targets[i] == w->a[k]) ||
                (k < w->fb.registers && targets[i] == w->b[k]) ||
                (k < w->fc.registers && k != i && targets[i] == w->c[k])) {
                return true;
            }
        }
    }
    return w->fc.registers != w->fd.registers;
}

static void
wmma_multiply(low_func *f)
{
    const ptx_operand *const operands = f->in->operands;
    const low_matrix_product p = wmma_types(f);
    wmma_work w = {.fd = wmma_result(p.shape, p.d),
                   .fa = wmma_factor(p.shape, p.a, true),
                   .fb = wmma_factor(p.shape, p.b, false),
                   .fc = wmma_result(p.shape, p.c),
                   .steps = p.a == EMU_MATRIX_TF32 ? MAX_STEPS : 1};
    low_value targets[MAX_FRAGMENT];
    const uint32_t skip = low_guard_begin(f);
    bool overlaps;

    low_check_operand_count(f, 4, 4);
    w.tiles = w.fd.is_wide ? 2 : 1;
    low_matrix_targets(f, &operands[0], p.d, w.fd.registers, targets);
    low_matrix_sources(f, &operands[1], p.a, w.fa.registers, w.a);
    low_matrix_sources(f, &operands[2], p.b, w.fb.registers, w.b);
    low_matrix_sources(f, &operands[3], p.c, w.fc.registers, w.c);
    overlaps = wmma_overlaps(&w, targets);
    for (unsigned i = 0; i < w.fd.registers; i++) {
        w.d[i] = targets[i];
        if (overlaps) {
            w.d[i] = low_temp(f, low_matrix_register_class(p.d));
        }
    }
    for (unsigned number = 0; number < w.tiles; number++) {
        wmma_emit_steps(f, p, &w, number);
    }
    for (unsigned i = 0; overlaps && i < w.fd.registers; i++) {
        low_emit(f, p.d == EMU_MATRIX_F64 ? EMU_OP_mov_64 : EMU_OP_mov_32, targets[i],
                 w.d[i], 0, 0);
    }
    low_guard_end(f, skip);
}

void
low_wmma(low_func *f)
{
    if (low_has(f, PTX_W_load)) {
        wmma_load(f);
    }
    else if (low_has(f, PTX_W_store)) {
        wmma_store(f);
    }
    else if (low_has(f, PTX_W_mma)) {
        wmma_multiply(f);
    }
    else {
        low_unsupported(f);
    }
}
