/* The shapes of wmma. See wmma_forms.h. */
#include "device/compile/wmma_forms.h"

#include "device/compile/encoding.h"

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

unsigned
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

unsigned
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

void
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
