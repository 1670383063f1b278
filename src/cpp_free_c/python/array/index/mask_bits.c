/* The bits of a mask: see mask_bits.h. */

#include "python/array/index/mask_bits.h"

#include "python/array/construction.h"
#include "python/array/element_type.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/scan_layout.h"
#include "python/driver/memory/copy.h"

/* As in cuda/pycuda-mask.hpp. */
enum {
    BITS_THREADS = 256,
    BITS_WORD = 32,               /* elements of a word */
    BITS_BLOCK = 256 * BITS_WORD, /* elements of a block that moves true elements */
    BITS_TILE = 4 * BITS_BLOCK,   /* elements of a block that packs them */
    BITS_SUM_WORDS = 2            /* words of slots for a sum of tiles */
};

static size_t
bits_ceil(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

void
pcu_mask_axes(pcu_gpuarray *x, pcu_reduction_axes *axes)
{
    static const unsigned char none[PCU_MAX_NDIM + 1] = {0};
    pcu_reduction_axes reduced;
    /* cannot fail: one array does not broadcast */
    (void)pcu_reduction_axes_split(&x, 1, none, true, axes, &reduced);
    if (axes->ndim == 1 && axes->strides[0][0] == (ptrdiff_t)pcu_gpuarray_itemsize(x)) {
        axes->ndim = 0;
    }
}

/* -- memory ------------------------------------------------------------------------ */

/* The slots of look-back, if there are several tiles. */
static size_t
bits_slots(size_t tiles)
{
    if (tiles == 1) {
        return 0;
    }
    return pcu_scan_slots(1, tiles, BITS_SUM_WORDS);
}

/* Allocate slots, counts of tiles, the count of all, and bits, in this order; zero the
 * slots. */
static int
bits_allocate(pcu_mask_bits *self, pcu_gpuarray *x, size_t tiles, CUstream stream)
{
    size_t slots = bits_slots(tiles);
    size_t words = slots + tiles + 1 + bits_ceil(self->count, 2 * (size_t)BITS_WORD);
    int rc = 0;
    PyArray_Descr *dtype = pcu_dtype_of_type(PCU_T_UINT64);
    self->memory = pcu_gpuarray_new(x->st, NULL, 1, &words, NULL, dtype, x->allocator);
    Py_DECREF(dtype);
    if (self->memory == NULL) {
        return -1;
    }
    CUdeviceptr address = ((pcu_gpuarray *)self->memory)->address;
    size_t nbytes = slots * sizeof(uint64_t);
    self->before = address + nbytes;
    self->bits = self->before + (tiles + 1) * sizeof(uint64_t);
    if (slots > 0) {
        PCU_CALL_COPY(rc, x->st, MemsetD8Async, (address, 0, nbytes, stream),
                      {"the counts of tiles", address, nbytes});
    }
    return rc;
}

/* -- the kernel that packs --------------------------------------------------------- */

/* Whether the array is one run of bytes that kernels can read in units of 16 bytes. */
static bool
bits_is_bytes(const pcu_gpuarray *x, const pcu_reduction_axes *axes)
{
    return pcu_types[x->type].size == 1 && axes->ndim == 0 && x->address % 16 == 0;
}

static int
bits_get_kernel(pcu_context *ctx, const pcu_gpuarray *x, const pcu_reduction_axes *axes,
                CUfunction *kernel)
{
    pcu_kernel_key key;
    memset(&key, 0, sizeof(key));
    key.family = PCU_FAMILY_MASK;
    key.inputs = 1;
    key.types[0] = x->type;
    key.ndim = (uint8_t)axes->ndim;
    key.wide = axes->count > INT32_MAX;
    key.variant = PCU_VARIANT_MARK_ELEMENTS;
    if (bits_is_bytes(x, axes)) {
        key.variant = PCU_VARIANT_MARK_BYTES;
        key.wide = 0;
    }
    return pcu_kernel_table_get(x->st, ctx, &key, kernel);
}

int
pcu_mask_axes_put(const pcu_reduction_axes *axes, pcu_argument_buffer *params)
{
    for (int k = 0; k < axes->ndim; k++) {
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)axes->shape[k]) < 0 ||
            pcu_kernel_put_index(params, 1, axes->strides[0][k]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
bits_pack(const pcu_mask_bits *self, const pcu_gpuarray *x,
          const pcu_reduction_axes *axes, size_t tiles, CUdeviceptr total,
          pcu_argument_buffer *params)
{
    CUdeviceptr slots = ((pcu_gpuarray *)self->memory)->address;
    if (pcu_kernel_put_address(params, x->address) < 0 ||
        pcu_kernel_put_index(params, 1, (ptrdiff_t)self->count) < 0 ||
        pcu_kernel_put_address(params, self->bits) < 0 ||
        pcu_kernel_put_address(params, self->before) < 0 ||
        pcu_kernel_put_address(params, tiles > 1 ? slots : 0) < 0 ||
        pcu_kernel_put_address(params, total) < 0) {
        return -1;
    }
    return pcu_mask_axes_put(axes, params);
}

/* The device reads an element only at a multiple of its alignment. */
static int
bits_check_alignment(const pcu_gpuarray *x, const pcu_reduction_axes *axes)
{
    uint64_t bits = x->address;
    size_t align = pcu_types[x->type].align;
    for (int k = 0; k < axes->ndim; k++) {
        bits |= (uint64_t)axes->strides[0][k];
    }
    if (bits % align != 0) {
        PyErr_Format(PyExc_ValueError,
                     "elements of dtype %S are at addresses or strides that are not "
                     "multiples of %zu bytes",
                     (PyObject *)x->dtype, align);
        return -1;
    }
    return 0;
}

/* Check the array and enqueue the kernel. PCU_KERNEL_MADE: nothing was enqueued. */
static int
bits_attempt(pcu_mask_bits *self, pcu_context *ctx, pcu_gpuarray *x, bool counted,
             CUstream stream)
{
    pcu_reduction_axes axes;
    pcu_argument_buffer params;
    CUfunction kernel = NULL;
    if (!pcu_type_is_number(x->type)) {
        PyErr_Format(PyExc_TypeError, "elements of dtype %S are neither true nor false",
                     (PyObject *)x->dtype);
        return -1;
    }
    if (pcu_gpuarray_check(x, ctx) < 0) {
        return -1;
    }
    self->count = x->count;
    if (self->count == 0) {
        return 0;
    }
    pcu_mask_axes(x, &axes);
    if (bits_check_alignment(x, &axes) < 0) {
        return -1;
    }
    int rc = bits_get_kernel(ctx, x, &axes, &kernel);
    if (rc != 0) {
        return rc;
    }
    size_t tiles = bits_ceil(self->count, BITS_TILE);
    if (bits_allocate(self, x, tiles, stream) < 0) {
        return -1;
    }
    CUdeviceptr total = self->before + tiles * sizeof(uint64_t);
    if (counted && pcu_true_count_take(ctx, &self->true_count, &total) < 0) {
        return -1;
    }
    pcu_argument_buffer_init(&params);
    rc = bits_pack(self, x, &axes, tiles, total, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(x->st, kernel, tiles, BITS_THREADS, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

int
pcu_mask_bits_find(pcu_mask_bits *self, pcu_gpuarray *x, bool counted, CUstream stream)
{
    int rc;
    memset(self, 0, sizeof(*self));
    pcu_context *ctx = pcu_context_launch_borrow(x->st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    do {
        rc = bits_attempt(self, ctx, x, counted, stream);
    } while (rc == PCU_KERNEL_MADE);
    Py_DECREF(ctx);
    return rc;
}

int
pcu_mask_bits_count(const pcu_mask_bits *self, CUstream stream, size_t *count)
{
    *count = 0;
    if (self->count == 0) {
        return 0;
    }
    return pcu_true_count_read(&self->true_count, stream, count);
}

void
pcu_mask_bits_clear(pcu_mask_bits *self)
{
    pcu_true_count_give_back(&self->true_count);
    Py_CLEAR(self->memory);
}

/* -- kernels that visit true elements ---------------------------------------------- */

int
pcu_mask_bits_put(const pcu_mask_bits *self, pcu_argument_buffer *params)
{
    if (pcu_kernel_put_address(params, self->bits) < 0 ||
        pcu_kernel_put_address(params, self->before) < 0) {
        return -1;
    }
    return pcu_kernel_put_index(params, 1, (ptrdiff_t)self->count);
}

int
pcu_mask_bits_launch(pcu_state *st, const pcu_mask_bits *self, CUfunction kernel,
                     CUstream stream, pcu_argument_buffer *params)
{
    return pcu_kernel_launch(st, kernel, bits_ceil(self->count, BITS_BLOCK),
                             BITS_THREADS, stream, params);
}
