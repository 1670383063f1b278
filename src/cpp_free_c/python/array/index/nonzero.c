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
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    CUdeviceptr addresses[PCU_MAX_NDIM];
    size_t step; /* in elements */
} places_plan;

static int
places_put(const places_plan *plan, const pcu_mask_bits *bits,
           pcu_argument_buffer *params)
{
    if (pcu_kernel_put_index(params, 1, (ptrdiff_t)plan->step) < 0 ||
        pcu_mask_bits_put(bits, params) < 0) {
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
places_store(const places_plan *plan, const pcu_mask_bits *bits, CUstream stream)
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
    key.wide = bits->count > INT32_MAX;
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = pcu_kernel_table_get(plan->st, ctx, &key, &kernel);
    } while (rc == PCU_KERNEL_MADE);
    if (rc == 0) {
        pcu_argument_buffer_init(&params);
        rc = places_put(plan, bits, &params);
        if (rc == 0) {
            rc = pcu_mask_bits_launch(plan->st, bits, kernel, stream, &params);
        }
        pcu_argument_buffer_free(&params);
    }
    Py_DECREF(ctx);
    return rc;
}

/* Find the bits of x and wait for their number. The shape is that of the bits: other
 * threads may give x another one during the wait. */
static int
places_begin(places_plan *plan, pcu_gpuarray *x, pcu_mask_bits *bits, CUstream stream,
             size_t *count)
{
    plan->st = x->st;
    if (pcu_mask_bits_find(bits, x, true, stream) < 0) {
        return -1;
    }
    plan->ndim = x->ndim;
    memcpy(plan->shape, x->shape, (size_t)x->ndim * sizeof(size_t));
    return pcu_mask_bits_count(bits, stream, count);
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

PyObject *
pcu_nonzero_new(pcu_gpuarray *x, CUstream stream)
{
    places_plan plan;
    pcu_mask_bits bits;
    size_t count = 0;
    PyObject *result = NULL;
    PyObject *allocator = Py_XNewRef(x->allocator);
    if (places_begin(&plan, x, &bits, stream, &count) == 0) {
        plan.step = 1;
        result = places_tuple_new(&plan, count, allocator);
    }
    if (result != NULL && count > 0 && places_store(&plan, &bits, stream) < 0) {
        Py_CLEAR(result);
    }
    pcu_mask_bits_clear(&bits);
    Py_XDECREF(allocator);
    return result;
}

PyObject *
pcu_argwhere_new(pcu_gpuarray *x, CUstream stream)
{
    places_plan plan;
    pcu_mask_bits bits;
    size_t shape[2] = {0, 0};
    PyObject *result = NULL;
    PyObject *allocator = Py_XNewRef(x->allocator);
    if (places_begin(&plan, x, &bits, stream, &shape[0]) == 0) {
        shape[1] = plan.step = (size_t)plan.ndim;
        result = places_array_new(plan.st, 2, shape, allocator);
    }
    if (result != NULL && shape[0] > 0 && plan.ndim > 0) {
        for (int k = 0; k < plan.ndim; k++) {
            plan.addresses[k] =
                ((pcu_gpuarray *)result)->address + (size_t)k * sizeof(int64_t);
        }
        if (places_store(&plan, &bits, stream) < 0) {
            Py_CLEAR(result);
        }
    }
    pcu_mask_bits_clear(&bits);
    Py_XDECREF(allocator);
    return result;
}

PyObject *
pcu_flatnonzero_new(pcu_gpuarray *x, CUstream stream)
{
    places_plan plan;
    pcu_mask_bits bits;
    size_t count = 0;
    PyObject *result = NULL;
    PyObject *allocator = Py_XNewRef(x->allocator);
    if (places_begin(&plan, x, &bits, stream, &count) == 0) {
        plan.ndim = 1;
        plan.shape[0] = bits.count;
        plan.step = 1;
        result = places_array_new(plan.st, 1, &count, allocator);
    }
    if (result != NULL && count > 0) {
        plan.addresses[0] = ((pcu_gpuarray *)result)->address;
        if (places_store(&plan, &bits, stream) < 0) {
            Py_CLEAR(result);
        }
    }
    pcu_mask_bits_clear(&bits);
    Py_XDECREF(allocator);
    return result;
}
