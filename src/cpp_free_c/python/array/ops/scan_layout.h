/* How the elements of a scan lie in memory, and which kernel scans them.
 *
 * Arithmetic on lengths and strides; no kernel, no exception. The cut into tiles
 * depends on the layout and the device only, so the same input gives the same bits.
 * Called by scan.c. */
#ifndef PYTHON_ARRAY_OPS_SCAN_LAYOUT_H
#define PYTHON_ARRAY_OPS_SCAN_LAYOUT_H

#include "driver/context_record.h"
#include "python/array/ops/reduction_axes.h"

/* The elements of the input and of the output along the axis of the scan, and all other
 * axes, joined where possible: strides[0] are those of the input, strides[1] those of
 * the output. */
typedef struct {
    size_t length;
    ptrdiff_t steps[2]; /* bytes to the next element */
    uint64_t addresses[2];
    size_t itemsizes[2];
    pcu_reduction_axes lines;
} pcu_scan_layout;

/* What device code a kernel of a scan has: see pycuda/cuda/pycuda-array-scan.hpp. */
typedef struct {
    int variant;          /* pcu_variant */
    bool is_packed;       /* lines follow each other in memory */
    bool vector;          /* elements are moved in units of 16 bytes */
    unsigned int threads; /* of a block */
    unsigned int each;    /* elements of a thread at once */
    unsigned int width;   /* lines of a block, or log2 of it in the column kernels */
    unsigned int step;    /* the steps of both sides, if the kernel is made for them */
    size_t tiles;         /* of a line; 1 without look-back */
    size_t blocks;
    size_t slots; /* words of 64 bits that look-back needs; 0 without it */
    size_t sums;  /* values that a first kernel, SCAN_TILE_SUMS, stores; 0 without it */
} pcu_scan_cut;

/* The words of 64 bits that look-back needs for `groups` lines, or groups of lines, of
 * `tiles` tiles: a ticket, and sums of tiles, windows and spans. `words`: the words of
 * 32 bits of a sum. As in cuda/pycuda-scan.hpp. */
PCU_HIDDEN size_t pcu_scan_slots(size_t groups, size_t tiles, size_t words);

/* Join the other axes of an array of ndim axes. The axes are the input's, in its order
 * in memory. */
PCU_HIDDEN void pcu_scan_layout_fill(pcu_scan_layout *layout, int ndim,
                                     const size_t *shape, const ptrdiff_t *in_strides,
                                     const ptrdiff_t *out_strides, int axis);

/* Whether neighbours in memory lie on one line in the output, but on different lines in
 * the input, or the other way round. */
PCU_HIDDEN bool pcu_scan_layout_is_transposed(const pcu_scan_layout *layout);

/* Choose the kernel. `size`: the bytes of a value in the computation. */
PCU_HIDDEN void pcu_scan_layout_cut(const pcu_scan_layout *layout, size_t size,
                                    const pcu_device_limits *limits, pcu_scan_cut *cut);

#endif
