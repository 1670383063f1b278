/* Lowering of wmma: 16 by 16 by 16 elements, multiplicands of half precision. See
 * lower_opcodes.h.
 *
 * PTX does not say how the lanes share a matrix. Here lane 4 g + t holds the elements
 * with index g or g + 8 in one dimension, called far, and index 2 t, 2 t + 1, 2 t + 8
 * or 2 t + 9 in the other, called near. The far dimension is the row of A, C and D, and
 * the column of B. A register of halves holds two neighbours of the near dimension. A
 * and B have eight registers, of which the last four repeat the first four. */
#include "device/compile/encoding.h"
#include "device/compile/lower_opcodes.h"
#include "device/compile/lower_operand.h"

enum { FRAGMENT = 8, DISTINCT = 4 };

/* The distinct registers of a fragment. */
static unsigned
matrix_distinct_registers(bool halves)
{
    if (halves) {
        return DISTINCT;
    }
    return FRAGMENT;
}

/* The type by which a register of a fragment is read. */
static unsigned
matrix_register_type(bool halves)
{
    if (halves) {
        return PTX_W_b32;
    }
    return PTX_W_f32;
}

/* The place of a lane's elements in memory. */
typedef struct {
    low_place start;    /* of its first element */
    low_value column;   /* bytes from one line of the matrix to the next */
    bool near_is_dense; /* neighbours of the near dimension are neighbours in memory */
    unsigned size;      /* bytes of an element */
    ptx_class width;    /* of addresses */
} matrix;

static unsigned
matrix_op_of(ptx_class width, unsigned narrow, unsigned wide)
{
    if (width == PTX_R64) {
        return wide;
    }
    return narrow;
}

static low_value
matrix_added(low_func *f, ptx_class width, low_value a, low_value b)
{
    low_value d = low_temp(f, width);

    low_emit(f, matrix_op_of(width, EMU_OP_add_32, EMU_OP_add_64), d, a, b, 0);
    return d;
}

static low_value
matrix_times(low_func *f, ptx_class width, low_value a, uint64_t factor)
{
    low_value d = low_temp(f, width);

    low_emit(f, matrix_op_of(width, EMU_OP_mul_32, EMU_OP_mul_64), d, a,
             low_constant(f, width, factor), 0);
    return d;
}

/* t and g of the lane. */
static void
matrix_lane_parts(low_func *f, low_value *t, low_value *g)
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
matrix_as_address(low_func *f, ptx_class width, low_value number)
{
    low_value d = number;

    if (width == PTX_R64) {
        d = low_temp(f, PTX_R64);
        low_convert(f, d, PTX_R64, number, PTX_R32, PTX_W_u32);
    }
    return d;
}

static matrix
matrix_at(low_func *f, const ptx_operand *where, const ptx_operand *stride,
          unsigned size, bool near_is_dense)
{
    low_value t, g, line, dense, elements, offset, product;
    matrix m = {.start = low_address(f, where),
                .near_is_dense = near_is_dense,
                .size = size,
                .width = PTX_R64};

    if (m.start.aux & EMU_AT_BASE32) {
        m.width = PTX_R32;
    }
    matrix_lane_parts(f, &t, &g);
    product = low_temp(f, PTX_R32);
    low_emit(f, EMU_OP_add_32, product, t, t, 0);
    if (near_is_dense) {
        line = matrix_as_address(f, m.width, g);
        dense = matrix_as_address(f, m.width, product);
    }
    else {
        line = matrix_as_address(f, m.width, product);
        dense = matrix_as_address(f, m.width, g);
    }
    if (stride != NULL) {
        elements = low_source(f, stride, PTX_W_u32);
    }
    else {
        elements = low_constant(f, PTX_R32, 16);
    }
    m.column = matrix_times(f, m.width, matrix_as_address(f, m.width, elements), size);
    product = low_temp(f, m.width);
    low_emit(f, matrix_op_of(m.width, EMU_OP_mul_32, EMU_OP_mul_64), product, line,
             m.column, 0);
    offset = matrix_added(f, m.width, product, matrix_times(f, m.width, dense, size));
    if (m.start.base != 0) {
        offset = matrix_added(f, m.width, m.start.base, offset);
    }
    else {
        m.start.aux |= EMU_AT_BASE64;
    }
    m.start.base = offset;
    return m;
}

/* The place of the lane's element with indices `far` (0 or 8) and `near` (0, 1, 8, 9)
 * beyond its first. */
static low_place
matrix_element(low_func *f, const matrix *m, unsigned far, unsigned near)
{
    unsigned lines = near, dense = far;
    low_place p = m->start;

    if (m->near_is_dense) {
        lines = far;
        dense = near;
    }
    p.offset += (int64_t)dense * m->size;
    if (lines != 0) {
        p.base = matrix_added(f, m->width, p.base,
                              matrix_times(f, m->width, m->column, lines));
    }
    return p;
}

/* Indices of register i of a fragment, or of element i of one of floats. */
static void
matrix_indices(bool halves, unsigned i, unsigned *far, unsigned *near)
{
    unsigned slot = i;

    if (halves) {
        slot *= 2;
    }
    *far = (slot & 2) * 4;
    *near = (slot & 1) + (slot & 4) * 2;
}

static low_value
matrix_load_halves(low_func *f, const matrix *m, unsigned far, unsigned near)
{
    low_value d = low_temp(f, PTX_R32), parts[2];

    for (unsigned i = 0; i < 2; i++) {
        parts[i] = low_temp(f, PTX_R16);
        low_access(f, EMU_OP_ld_u16_16, parts[i], matrix_element(f, m, far, near + i),
                   0);
    }
    low_emit(f, EMU_OP_join_32, d, parts[0], parts[1], 0);
    return d;
}

static void
matrix_store_halves(low_func *f, const matrix *m, unsigned far, unsigned near,
                    low_value value)
{
    for (unsigned i = 0; i < 2; i++) {
        low_value part = low_temp(f, PTX_R16);

        low_emit(f, EMU_OP_part_16from32, part, value, 0, 0)->imm = (int64_t)16 * i;
        low_access(f, EMU_OP_st_16_16, 0, matrix_element(f, m, far, near + i), part);
    }
}

/* The registers of a fragment. */
static const ptx_operand *
matrix_fragment(const low_func *f, const ptx_operand *operand, unsigned count)
{
    if (operand->kind != PTX_O_VECTOR || operand->count != count) {
        low_fail(f, "a fragment needs %u registers", count);
    }
    return operand->items;
}

static const ptx_operand *
matrix_stride_operand(const low_func *f)
{
    low_check_operand_count(f, 2, 3);
    if (f->in->operand_count == 3) {
        return &f->in->operands[2];
    }
    return NULL;
}

static void
matrix_load(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    const bool halves = type == PTX_W_f16, accumulator = low_has(f, PTX_W_c);
    const bool far_is_row = !low_has(f, PTX_W_b);
    const ptx_operand *d, *stride;
    unsigned count = FRAGMENT;
    matrix m;
    unsigned far, near;

    if (accumulator && halves) {
        count = DISTINCT;
    }
    d = matrix_fragment(f, &f->in->operands[0], count);
    stride = matrix_stride_operand(f);
    if (!halves && !(accumulator && type == PTX_W_f32)) {
        low_unsupported(f);
    }
    m = matrix_at(f, &f->in->operands[1], stride, ptx_type_size(type),
                  low_has(f, PTX_W_row) == far_is_row);
    for (unsigned i = 0; i < matrix_distinct_registers(halves); i++) {
        low_value target = low_target(f, &d[i], PTX_R32), value;

        matrix_indices(halves, i, &far, &near);
        if (!halves) {
            low_access(f, EMU_OP_ld_u32_32, target, matrix_element(f, &m, far, near),
                       0);
            continue;
        }
        value = matrix_load_halves(f, &m, far, near);
        low_emit(f, EMU_OP_mov_32, target, value, 0, 0);
        if (count == FRAGMENT) {
            low_emit(f, EMU_OP_mov_32, low_target(f, &d[i + DISTINCT], PTX_R32), value,
                     0, 0);
        }
    }
}

static void
matrix_store(low_func *f)
{
    const unsigned type = low_type_at(f, 0);
    const bool halves = type == PTX_W_f16;
    const unsigned count = matrix_distinct_registers(halves);
    const ptx_operand *s = matrix_fragment(f, &f->in->operands[1], count);
    const ptx_operand *const stride = matrix_stride_operand(f);
    matrix m;
    unsigned far, near;

    if (!low_has(f, PTX_W_d) || (!halves && type != PTX_W_f32)) {
        low_unsupported(f);
    }
    m = matrix_at(f, &f->in->operands[0], stride, ptx_type_size(type),
                  low_has(f, PTX_W_row));
    for (unsigned i = 0; i < count; i++) {
        low_value value = low_source(f, &s[i], matrix_register_type(halves));

        matrix_indices(halves, i, &far, &near);
        if (halves) {
            matrix_store_halves(f, &m, far, near, value);
        }
        else {
            low_access(f, EMU_OP_st_32_32, 0, matrix_element(f, &m, far, near), value);
        }
    }
}

/* Adds registers of a fragment to x: those to write of D, those to read of C. */
static unsigned
matrix_take_fragment(low_func *f, const ptx_operand *operand, bool halves, bool written,
                     low_value *x)
{
    const unsigned count = matrix_distinct_registers(halves);
    const ptx_operand *items = matrix_fragment(f, operand, count);

    for (unsigned i = 0; i < count; i++) {
        if (written) {
            x[i] = low_target(f, &items[i], PTX_R32);
        }
        else {
            x[i] = low_source(f, &items[i], matrix_register_type(halves));
        }
    }
    return count;
}

/* The same for A or B, of which half the registers are distinct. */
static unsigned
matrix_take_multiplicand(low_func *f, const ptx_operand *operand, low_value *x)
{
    const ptx_operand *items = matrix_fragment(f, operand, FRAGMENT);

    for (unsigned i = 0; i < DISTINCT; i++) {
        x[i] = low_source(f, &items[i], PTX_W_b32);
    }
    return DISTINCT;
}

static void
matrix_multiply(low_func *f)
{
    const unsigned dt = low_type_at(f, 0), ct = low_type_at(f, 1);
    const bool d_half = dt == PTX_W_f16, c_half = ct == PTX_W_f16;
    const ptx_operand *const operands = f->in->operands;
    const uint32_t skip = low_guard_begin(f);
    low_insn *insn;
    low_value x[2 * DISTINCT + 2 * FRAGMENT];
    unsigned count, written;

    low_check_operand_count(f, 4, 4);
    if (ct == PTX_W_NONE || low_type_at(f, 2) != PTX_W_NONE ||
        low_has(f, PTX_W_satfinite)) {
        low_unsupported(f);
    }
    written = matrix_take_fragment(f, &operands[0], d_half, true, x);
    count = written;
    count += matrix_take_multiplicand(f, &operands[1], x + count);
    count += matrix_take_multiplicand(f, &operands[2], x + count);
    count += matrix_take_fragment(f, &operands[3], c_half, false, x + count);
    insn = low_emit(f, EMU_OP_wmma, 0, 0, 0, 0);
    if (d_half) {
        insn->aux |= EMU_WMMA_D_HALF;
    }
    if (c_half) {
        insn->aux |= EMU_WMMA_C_HALF;
    }
    for (unsigned i = 0; i < count; i++) {
        low_add_x(f, insn, x[i], i < written);
    }
    low_guard_end(f, skip);
}

void
low_wmma(low_func *f)
{
    if (!low_has(f, PTX_W_m16n16k16)) {
        low_unsupported(f);
    }
    if (low_has(f, PTX_W_load)) {
        matrix_load(f);
    }
    else if (low_has(f, PTX_W_store)) {
        matrix_store(f);
    }
    else {
        matrix_multiply(f);
    }
}
