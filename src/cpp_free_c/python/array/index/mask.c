/* x[mask] and x[mask] = value: see mask.h. */

#include "python/array/index/mask.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/mask_bits.h"
#include "python/array/index/values.h"
#include "python/array/layout.h"
#include "python/array/memory.h"
#include "python/array/ops/device_copy.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/overlap.h"
#include "python/array/scalar.h"

enum { MASK_THREADS = 256, MASK_UNIT = 16 };

bool
pcu_mask_fits(pcu_gpuarray *self, PyObject *index)
{
    const pcu_gpuarray *mask = (pcu_gpuarray *)index;
    return self->dtype != NULL && pcu_is_array(self->st, index) &&
           mask->dtype != NULL && mask->type == PCU_T_BOOL && mask->ndim > 0 &&
           mask->ndim <= self->ndim &&
           memcmp(self->shape, mask->shape, (size_t)mask->ndim * sizeof(size_t)) == 0;
}

static int
mask_changed(void)
{
    PyErr_SetString(PyExc_RuntimeError,
                    "x[mask]: the shape or dtype of an array changed during the call");
    return -1;
}

/* -- moving the true elements ------------------------------------------------------ */

/* The bytes of the widest word that moves the elements of both sides. */
static size_t
mask_word(const pcu_gpuarray *x, const pcu_reduction_axes *axes,
          const pcu_gpuarray *packed, ptrdiff_t step)
{
    uint64_t bits = MASK_UNIT | x->address | packed->address | (uint64_t)step |
                    pcu_gpuarray_itemsize(x);
    for (int k = 0; k < axes->ndim; k++) {
        bits |= (uint64_t)axes->strides[0][k];
    }
    return (size_t)(bits & (~bits + 1));
}

static int
mask_pack(const pcu_gpuarray *x, const pcu_reduction_axes *axes,
          const pcu_gpuarray *packed, ptrdiff_t step, const pcu_mask_bits *bits,
          pcu_argument_buffer *params)
{
    if (pcu_kernel_put_address(params, x->address) < 0 ||
        pcu_kernel_put_address(params, packed->address) < 0 ||
        pcu_kernel_put_index(params, 1, step) < 0 ||
        pcu_mask_bits_put(bits, params) < 0) {
        return -1;
    }
    return pcu_mask_axes_put(axes, params);
}

/* Enqueue the move. PCU_KERNEL_MADE: nothing was enqueued. */
static int
mask_move_attempt(pcu_context *ctx, pcu_gpuarray *x, pcu_gpuarray *packed,
                  ptrdiff_t step, const pcu_mask_bits *bits, int variant,
                  CUstream stream)
{
    pcu_reduction_axes axes;
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    if (x->count != bits->count ||
        pcu_gpuarray_itemsize(x) != pcu_gpuarray_itemsize(packed)) {
        return mask_changed();
    }
    if (pcu_gpuarray_check(x, ctx) < 0 || pcu_gpuarray_check(packed, ctx) < 0) {
        return -1;
    }
    if (pcu_gpuarray_itemsize(x) == 0) {
        return 0;
    }
    pcu_mask_axes(x, &axes);
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_MASK;
    key.variant = (uint8_t)variant;
    key.inputs = 1;
    key.types[0] = PCU_T_RAW;
    key.raw_bytes = (uint32_t)pcu_gpuarray_itemsize(x);
    key.vector = (uint8_t)mask_word(x, &axes, packed, step);
    key.ndim = (uint8_t)axes.ndim;
    key.wide = bits->count > INT32_MAX;
    int rc = pcu_kernel_table_get(x->st, ctx, &key, &kernel);
    if (rc != 0) {
        return rc;
    }
    pcu_argument_buffer_init(&params);
    rc = mask_pack(x, &axes, packed, step, bits, &params);
    if (rc == 0) {
        rc = pcu_mask_bits_launch(x->st, bits, kernel, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

static int
mask_move(pcu_gpuarray *x, pcu_gpuarray *packed, ptrdiff_t step,
          const pcu_mask_bits *bits, int variant, CUstream stream)
{
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(x->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = mask_move_attempt(ctx, x, packed, step, bits, variant, stream);
    } while (rc == PCU_KERNEL_MADE);
    Py_DECREF(ctx);
    return rc;
}

/* -- x[mask] ----------------------------------------------------------------------- */

PyObject *
pcu_mask_get(pcu_gpuarray *self, pcu_gpuarray *mask, CUstream stream)
{
    pcu_mask_bits bits;
    size_t count = 0;
    PyObject *result = NULL;
    int rc = pcu_mask_bits_find(&bits, mask, true, stream);
    if (rc == 0) {
        rc = pcu_mask_bits_count(&bits, stream, &count);
    }
    if (rc == 0) {
        result = pcu_gpuarray_new(self->st, NULL, 1, &count, NULL, self->dtype,
                                  self->allocator);
    }
    if (result != NULL && count > 0 &&
        mask_move(self, (pcu_gpuarray *)result, (ptrdiff_t)pcu_gpuarray_itemsize(self),
                  &bits, PCU_VARIANT_TAKE_TRUE, stream) < 0) {
        Py_CLEAR(result);
    }
    if (result != NULL) {
        ((pcu_gpuarray *)result)->counts_as = self->counts_as;
    }
    pcu_mask_bits_clear(&bits);
    return result;
}

/* -- x[mask] = number -------------------------------------------------------------- */

/* The axes of mask and array, joined. The mask broadcasts to the axes that it does not
 * have. strides[0] are those of the mask. */
static void
mask_fill_axes(const pcu_gpuarray *self, const pcu_gpuarray *mask,
               pcu_reduction_axes *axes)
{
    axes->ndim = self->ndim;
    axes->count = self->count;
    for (int k = 0; k < self->ndim; k++) {
        axes->shape[k] = self->shape[k];
        axes->strides[0][k] = 0;
        axes->strides[1][k] = self->strides[k];
        if (k < mask->ndim) {
            axes->strides[0][k] = mask->strides[k];
        }
    }
    axes->ndim = pcu_collapse(axes->ndim, axes->shape, 2, axes->strides[0]);
    if (axes->ndim == 1 && axes->strides[0][0] == 1 &&
        axes->strides[1][0] == (ptrdiff_t)pcu_gpuarray_itemsize(self)) {
        axes->ndim = 0;
    }
}

/* The elements that a thread of the flat kernel handles as one unit. */
static size_t
mask_fill_unit(const pcu_gpuarray *self, const pcu_gpuarray *mask)
{
    size_t size = pcu_gpuarray_itemsize(self);
    size_t unit = MASK_UNIT / size;
    if (self->address % MASK_UNIT != 0 || mask->address % unit != 0) {
        return 1;
    }
    return unit;
}

static int
mask_fill_pack(const pcu_gpuarray *self, const pcu_gpuarray *mask,
               const pcu_reduction_axes *axes, const unsigned char *value,
               pcu_argument_buffer *params)
{
    const pcu_type_row *type = &pcu_types[self->type];
    if (pcu_kernel_put_address(params, mask->address) < 0 ||
        pcu_kernel_put_address(params, self->address) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)self->count) < 0 ||
        pcu_kernel_put(params, value, type->size, type->align) < 0) {
        return -1;
    }
    for (int k = 0; k < axes->ndim; k++) {
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)axes->shape[k]) < 0 ||
            pcu_kernel_put_index(params, 1, axes->strides[0][k]) < 0 ||
            pcu_kernel_put_index(params, 1, axes->strides[1][k]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Enqueue the assignment of a number. PCU_KERNEL_MADE: nothing was enqueued. */
static int
mask_fill_attempt(pcu_context *ctx, pcu_gpuarray *self, pcu_gpuarray *mask, int type,
                  const unsigned char *value, CUstream stream)
{
    pcu_reduction_axes axes;
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    size_t each = 1;
    if (self->type != type || !pcu_mask_fits(self, (PyObject *)mask)) {
        return mask_changed();
    }
    if (pcu_gpuarray_check(self, ctx) < 0 || pcu_gpuarray_check(mask, ctx) < 0) {
        return -1;
    }
    if (self->count == 0) {
        return 0;
    }
    mask_fill_axes(self, mask, &axes);
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_MASK;
    key.variant = PCU_VARIANT_FILL_TRUE;
    key.inputs = 1;
    key.types[0] = self->type;
    key.ndim = (uint8_t)axes.ndim;
    key.wide = axes.ndim > 0 && self->count > INT32_MAX;
    if (axes.ndim == 0) {
        key.tile = (uint16_t)mask_fill_unit(self, mask);
        each = key.tile;
    }
    int rc = pcu_kernel_table_get(self->st, ctx, &key, &kernel);
    if (rc != 0) {
        return rc;
    }
    size_t block = MASK_THREADS * each;
    size_t blocks = self->count / block + (self->count % block != 0);
    pcu_argument_buffer_init(&params);
    rc = mask_fill_pack(self, mask, &axes, value, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(self->st, kernel, blocks, MASK_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

static int
mask_fill_launch(pcu_gpuarray *self, pcu_gpuarray *mask, const unsigned char *value,
                 CUstream stream)
{
    int type = self->type;
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(self->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = mask_fill_attempt(ctx, self, mask, type, value, stream);
    } while (rc == PCU_KERNEL_MADE);
    Py_DECREF(ctx);
    return rc;
}

/* Assign a number; a mask that shares memory with the array is copied before. */
static int
mask_fill(pcu_gpuarray *self, pcu_gpuarray *mask, PyObject *value, CUstream stream)
{
    unsigned char bytes[PCU_SCALAR_BYTES] = {0};
    PyObject *copy = NULL;
    if (pcu_scalar_pack(value, self->type, PCU_SCALAR_ASSIGNED, bytes) < 0) {
        return -1;
    }
    if (pcu_gpuarray_conflicts(mask, self)) {
        copy = pcu_gpuarray_copy_new(mask, self->allocator, stream);
        if (copy == NULL) {
            return -1;
        }
        mask = (pcu_gpuarray *)copy;
    }
    int rc = mask_fill_launch(self, mask, bytes, stream);
    Py_XDECREF(copy);
    return rc;
}

/* -- x[mask] = array --------------------------------------------------------------- */

/* *step = the distance in bytes of values that follow each other, false for one value.
 * Return true, or false if the values have several axes. */
static bool
mask_values_step(const pcu_gpuarray *values, ptrdiff_t *step)
{
    *step = 0;
    for (int k = 0; k < values->ndim; k++) {
        if (values->shape[k] == 1) {
            continue;
        }
        if (k != values->ndim - 1) {
            return false;
        }
        *step = values->strides[k];
    }
    return true;
}

static int
mask_check_count(const pcu_gpuarray *values, size_t count)
{
    if (values->count == count) {
        return 0;
    }
    return pcu_raise_shapes(
        "%s: the mask is true at %S elements, the values have "
        "shape %S",
        "x[mask] = values", 1, &count, values);
}

/* Assign values to the true elements, in C order. */
static int
mask_put(pcu_gpuarray *self, pcu_gpuarray *mask, pcu_gpuarray *values, ptrdiff_t step,
         CUstream stream)
{
    pcu_mask_bits bits;
    size_t count = 0;
    bool several = step != 0 || values->count != 1;
    int rc = pcu_mask_bits_find(&bits, mask, several, stream);
    if (rc == 0 && several) {
        rc = pcu_mask_bits_count(&bits, stream, &count);
        if (rc == 0) {
            rc = mask_check_count(values, count);
        }
    }
    if (rc == 0 && bits.count > 0 && !(several && count == 0)) {
        rc = mask_move(self, values, step, &bits, PCU_VARIANT_PUT_TRUE, stream);
    }
    pcu_mask_bits_clear(&bits);
    return rc;
}

int
pcu_mask_set(pcu_gpuarray *self, pcu_gpuarray *mask, PyObject *value, CUstream stream)
{
    int rc;
    if (pcu_is_scalar(value)) {
        if (!pcu_type_is_number(self->type)) {
            return 0;
        }
        rc = mask_fill(self, mask, value, stream);
    }
    else {
        if (mask->ndim != self->ndim) {
            return 0;
        }
        PyObject *values = pcu_values_new(self, value, stream);
        if (values == NULL) {
            return -1;
        }
        ptrdiff_t step = 0;
        if (!mask_values_step((pcu_gpuarray *)values, &step)) {
            Py_DECREF(values);
            return 0;
        }
        rc = mask_put(self, mask, (pcu_gpuarray *)values, step, stream);
        Py_DECREF(values);
    }
    if (rc < 0) {
        return -1;
    }
    return 1;
}
