/* A product of matrices as lengths and strides: see product.h. */

#include "python/array/product/product.h"

static void
product_drop_axis(pcu_product *p, int axis)
{
    for (int i = axis; i < p->ndim - 1; i++) {
        p->shape[i] = p->shape[i + 1];
        for (int k = 0; k < PCU_MATRICES; k++) {
            p->steps[k][i] = p->steps[k][i + 1];
        }
    }
    p->ndim--;
}

/* Whether `step` continues `count` rows, or columns, that are `each` bytes apart. */
static bool
product_continues(ptrdiff_t step, size_t count, ptrdiff_t each)
{
    return count == 1 || step == each * (ptrdiff_t)count;
}

/* Turn an axis along which the right operand stays the same into rows. */
static bool
product_take_rows(pcu_product *p, int axis)
{
    pcu_matrix *left = &p->matrices[PCU_LEFT];
    pcu_matrix *result = &p->matrices[PCU_RESULT];
    ptrdiff_t left_step = p->steps[PCU_LEFT][axis];
    ptrdiff_t result_step = p->steps[PCU_RESULT][axis];
    if (p->steps[PCU_RIGHT][axis] != 0 ||
        !product_continues(left_step, p->m, left->row) ||
        !product_continues(result_step, p->m, result->row)) {
        return false;
    }
    if (p->m == 1) {
        left->row = left_step;
        result->row = result_step;
    }
    p->m *= p->shape[axis];
    product_drop_axis(p, axis);
    return true;
}

static bool
product_take_axis(pcu_product *p, int axis)
{
    if (product_take_rows(p, axis)) {
        return true;
    }
    pcu_product_transpose(p);
    bool taken = product_take_rows(p, axis);
    pcu_product_transpose(p);
    return taken;
}

void
pcu_product_join(pcu_product *p)
{
    p->ndim = pcu_collapse(p->ndim, p->shape, PCU_MATRICES, p->steps[0]);
    for (int axis = p->ndim - 1; axis >= 0; axis--) {
        (void)product_take_axis(p, axis);
    }
}

void
pcu_product_transpose(pcu_product *p)
{
    size_t m = p->m;
    ptrdiff_t steps[PCU_MAX_NDIM];
    size_t bytes = (size_t)p->ndim * sizeof(*steps);
    pcu_matrix left = p->matrices[PCU_LEFT];
    p->matrices[PCU_LEFT] = p->matrices[PCU_RIGHT];
    p->matrices[PCU_RIGHT] = left;
    memcpy(steps, p->steps[PCU_LEFT], bytes);
    memcpy(p->steps[PCU_LEFT], p->steps[PCU_RIGHT], bytes);
    memcpy(p->steps[PCU_RIGHT], steps, bytes);
    p->m = p->n;
    p->n = m;
    for (int k = 0; k < PCU_MATRICES; k++) {
        ptrdiff_t row = p->matrices[k].row;
        p->matrices[k].row = p->matrices[k].column;
        p->matrices[k].column = row;
    }
}

/* Whether runs of `length` elements follow each other `step` bytes apart, without
 * overlap. */
static bool
matrix_has_runs(size_t size, size_t runs, ptrdiff_t step, size_t length,
                ptrdiff_t within, size_t *leading)
{
    if (length > 1 && within != (ptrdiff_t)size) {
        return false;
    }
    *leading = Py_MAX(length, 1);
    if (runs <= 1) {
        return true;
    }
    if (step <= 0 || (size_t)step % size != 0 || (size_t)step / size < *leading) {
        return false;
    }
    *leading = (size_t)step / size;
    return true;
}

bool
pcu_matrix_is_stored(const pcu_matrix *matrix, size_t rows, size_t columns,
                     pcu_matrix_storage *storage)
{
    size_t size = pcu_types[matrix->type].size;
    if (matrix->address % size != 0) {
        return false;
    }
    storage->by_row = true;
    if (matrix_has_runs(size, rows, matrix->row, columns, matrix->column,
                        &storage->leading)) {
        return true;
    }
    storage->by_row = false;
    return matrix_has_runs(size, columns, matrix->column, rows, matrix->row,
                           &storage->leading);
}
