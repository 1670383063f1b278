/* The bits of a mask: the truth of an array's elements in C order, on the device.
 *
 * A first kernel packs them and counts; further kernels move the true elements. Called
 * by mask.c and nonzero.c. */
#ifndef PYTHON_ARRAY_INDEX_MASK_BITS_H
#define PYTHON_ARRAY_INDEX_MASK_BITS_H

#include "driver/argument_buffer.h"
#include "python/array/index/true_count.h"
#include "python/array/ops/kernel_table.h"
#include "python/array/ops/reduction_axes.h"
#include "python/driver/memory/gpuarray.h"

typedef struct {
    size_t count;       /* elements of the array */
    PyObject *memory;   /* strong: holds the bits; NULL for an array without elements */
    CUdeviceptr bits;   /* a word of 32 bits for 32 elements */
    CUdeviceptr before; /* the number of true elements before each tile */
    pcu_true_count true_count;
} pcu_mask_bits;

/* The axes of an array, joined where possible in the order of the indices. ndim is 0
 * for elements that follow each other. */
PCU_HIDDEN void pcu_mask_axes(pcu_gpuarray *x, pcu_reduction_axes *axes);

/* Append the length and the stride of each axis. */
PCU_HIDDEN PCU_RAISES int pcu_mask_axes_put(const pcu_reduction_axes *axes,
                                            pcu_argument_buffer *params);

/* Enqueue the kernel that finds the bits of x, whose elements are numbers. `counted`: 1
 * if pcu_mask_bits_count follows. The caller clears *self in any case. */
PCU_HIDDEN PCU_RAISES int pcu_mask_bits_find(pcu_mask_bits *self, pcu_gpuarray *x,
                                             bool counted, CUstream stream);

/* Wait for the stream, and get the number of true elements. Other threads may run
 * meanwhile and change arrays. */
PCU_HIDDEN PCU_RAISES int pcu_mask_bits_count(const pcu_mask_bits *self,
                                              CUstream stream, size_t *count);

/* Launch a kernel that visits the true elements. */
PCU_HIDDEN PCU_RAISES int pcu_mask_bits_launch(pcu_state *st, const pcu_mask_bits *self,
                                               CUfunction kernel, CUstream stream,
                                               pcu_argument_buffer *params);

/* Append the parameters that all such kernels have: bits, counts, number of elements.
 */
PCU_HIDDEN PCU_RAISES int pcu_mask_bits_put(const pcu_mask_bits *self,
                                            pcu_argument_buffer *params);

PCU_HIDDEN void pcu_mask_bits_clear(pcu_mask_bits *self);

#endif
