/* The indices of the elements that are not 0: see nonzero.h. */

#include "python/array/index/nonzero.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/index/mask_bits.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"

/* Where a kernel stores indices: index k of true element n at addresses[k], n steps on.
 */
typedef struct {
    pcu_state *st;
    pcu_mask_bits bits;
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    CUdeviceptr addresses[PCU_MAX_NDIM];
    size_t step; /* in elements */
} places_plan;

static int
places_put(const places_plan *plan, pcu_argument_buffer *params)
{
    if (pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->step) < 0 ||
        pcu_mask_bits_put(&plan->bits, params) < 0) {
        return -1;
    }
    for (int k = 0; k < plan->ndim; k++) {
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->shape[k]) < 0) {
            return -1;
        }
    }
    for (int k = 0; k < plan->ndim; k++) {
        if (pcu_kernel_put_address(params, plan->addresses[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Enqueue the kernel that stores the indices. */
static int
places_store(const places_plan *plan, CUstream stream)
{
    pcu_kernel_key key;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    int rc;
    pcu_context *ctx = pcu_context_launch_borrow(plan->st);
    if (ctx == NULL) {
        return -1;
    }
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_MASK;
    key.variant = PCU_VARIANT_PLACES_OF_TRUE;
    key.inputs = 1;
    key.types[0] = PCU_T_INT64;
    key.ndim = (uint8_t)plan->ndim;
    key.wide = plan->bits.count > INT32_MAX;
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = pcu_kernel_table_get(plan->st, ctx, &key, &kernel);
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0) {
        pcu_argument_buffer_init(&params);
        rc = places_put(plan, &params);
        if (rc == 0) {
            rc = pcu_mask_bits_launch(plan->st, &plan->bits, kernel, stream, &params);
        }
        pcu_argument_buffer_free(&params);
    }
    Py_DECREF(ctx);
    return rc;
}

/* A function that makes the result, and sets where the kernel stores its indices. */
typedef PyObject *(*places_maker)(places_plan *plan, size_t count, PyObject *allocator);

/* Find the bits of x and wait for their number. The shape is that of the bits: other
 * threads may give x another one during the wait. */
static PyObject *
places_new(pcu_gpuarray *x, CUstream stream, places_maker maker)
{
    places_plan plan;
    size_t count = 0;
    PyObject *result = NULL;
    PyObject *allocator = Py_XNewRef(x->allocator);
    plan.st = x->st;
    plan.step = 1;
    if (pcu_mask_bits_find(&plan.bits, x, true, stream) == 0) {
        plan.ndim = x->ndim;
        memcpy(plan.shape, x->shape, (size_t)x->ndim * sizeof(size_t));
        if (pcu_mask_bits_count(&plan.bits, stream, &count) == 0) {
            result = maker(&plan, count, allocator);
        }
    }
    if (result != NULL && count > 0 && plan.ndim > 0 &&
        places_store(&plan, stream) < 0) {
        Py_CLEAR(result);
    }
    pcu_mask_bits_clear(&plan.bits);
    Py_XDECREF(allocator);
    return result;
}

static PyObject *
places_array_new(pcu_state *st, int ndim, const size_t *shape, PyObject *allocator)
{
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_INT64);
    PyObject *array = pcu_gpuarray_new(st, NULL, ndim, shape, NULL, dtype, allocator);
    Py_DECREF(dtype);
    return array;
}

/* Arrays for the indices of each axis, in a tuple. */
static PyObject *
places_tuple_new(places_plan *plan, size_t count, PyObject *allocator)
{
    PyObject *tuple = PyTuple_New(plan->ndim);
    for (int k = 0; tuple != NULL && k < plan->ndim; k++) {
        PyObject *array = places_array_new(plan->st, 1, &count, allocator);
        if (array == NULL) {
            Py_DECREF(tuple);
            return NULL;
        }
        plan->addresses[k] = ((pcu_gpuarray *)array)->address;
        PyTuple_SET_ITEM(tuple, k, array);
    }
    return tuple;
}

/* An array with a row for each true element. */
static PyObject *
places_rows_new(places_plan *plan, size_t count, PyObject *allocator)
{
    const size_t shape[2] = {count, (size_t)plan->ndim};
    PyObject *rows = places_array_new(plan->st, 2, shape, allocator);
    plan->step = shape[1];
    for (int k = 0; rows != NULL && k < plan->ndim; k++) {
        plan->addresses[k] =
            ((pcu_gpuarray *)rows)->address + (size_t)k * sizeof(int64_t);
    }
    return rows;
}

/* An array for the indices into the flat array. */
static PyObject *
places_flat_new(places_plan *plan, size_t count, PyObject *allocator)
{
    PyObject *array = places_array_new(plan->st, 1, &count, allocator);
    plan->ndim = 1;
    plan->shape[0] = plan->bits.count;
    if (array != NULL) {
        plan->addresses[0] = ((pcu_gpuarray *)array)->address;
    }
    return array;
}

PyObject *
pcu_nonzero_new(pcu_gpuarray *x, CUstream stream)
{
    return places_new(x, stream, places_tuple_new);
}

PyObject *
pcu_argwhere_new(pcu_gpuarray *x, CUstream stream)
{
    return places_new(x, stream, places_rows_new);
}

PyObject *
pcu_flatnonzero_new(pcu_gpuarray *x, CUstream stream)
{
    return places_new(x, stream, places_flat_new);
}
