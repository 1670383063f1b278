/* The kernels of a Fourier transform along one axis: which there are, and how each
 * finds its lines.
 *
 * A length whose prime factors are small is one kernel if a line fits into shared
 * memory. Longer ones are products of factors: kernel after kernel transforms the lines
 * of one factor, in temporary memory between. All other lengths become a convolution,
 * whose length has small factors (Bluestein).
 *
 * Arithmetic only: no driver call, no Python object. Called by axis.c. */
#ifndef PYTHON_ARRAY_FOURIER_PASSES_H
#define PYTHON_ARRAY_FOURIER_PASSES_H

#include "python/array/ops/kernel_request.h"

#include "driver/shape.h"

enum { PCU_FOURIER_PASSES_MAX = 32, PCU_FOURIER_AXES_MAX = PCU_MAX_NDIM + 2 };

/* The memory that kernels read and write. */
typedef enum {
    PCU_FOURIER_IN,
    PCU_FOURIER_OUT,
    PCU_FOURIER_EVEN,   /* between the kernels of one transform, by turns */
    PCU_FOURIER_ODD,    /* the same */
    PCU_FOURIER_MIDDLE, /* between two transforms */
    PCU_FOURIER_FACTOR, /* the transform of the chirp */
    PCU_FOURIER_BUFFERS
} pcu_fourier_buffer;

/* One end of a transform: the elements of its lines in memory. */
typedef struct {
    pcu_fourier_buffer buffer;
    int type;                 /* pcu_type of the elements */
    uint32_t words;           /* PCU_FOURIER_LOAD_... or PCU_FOURIER_STORE_... */
    size_t count;             /* elements of a line that exist */
    ptrdiff_t step;           /* bytes from one complex number to the next */
    ptrdiff_t part;           /* bytes from an even real element to the odd one */
    const ptrdiff_t *strides; /* of the axes of lines */
} pcu_fourier_end;

/* A transform along one axis. */
typedef struct {
    int compute; /* PCU_T_FLOAT32 or PCU_T_FLOAT64 */
    size_t n;    /* elements of the transform */
    size_t
        whole;   /* the same; 2 * n if two real elements are one number (n is smooth) */
    bool unzips; /* the result is the transform of the real elements */
    double scale;
    size_t multiprocessors;
    int ndim; /* axes of lines, joined where possible */
    const size_t *shape;
    pcu_fourier_end in;
    pcu_fourier_end out;
} pcu_fourier_transform;

/* One kernel of it. */
typedef struct {
    pcu_kernel_key key;
    CUfunction kernel; /* filled in by the caller */
    int source;        /* pcu_fourier_buffer, as are the next two */
    int target;
    int factor;
    size_t lines;
    size_t blocks;
    int which; /* the axis whose index is that of a line in its transform; -1: none */
    int ndim;
    size_t shape[PCU_FOURIER_AXES_MAX];
    ptrdiff_t load[PCU_FOURIER_AXES_MAX];  /* strides */
    ptrdiff_t store[PCU_FOURIER_AXES_MAX]; /* strides */
    size_t load_spacing, load_count;
    ptrdiff_t load_step, load_part;
    size_t store_spacing, store_count;
    ptrdiff_t store_step, store_part;
    size_t whole, span;
    double scale;
} pcu_fourier_pass;

typedef struct {
    int count;
    size_t bytes[PCU_FOURIER_BUFFERS]; /* of temporary memory */
    pcu_fourier_pass passes[PCU_FOURIER_PASSES_MAX];
} pcu_fourier_plan;

/* An array whose elements from 1 to (n - 1) / 2 along an axis are the first half of the
 * transform of real elements. The second half are their conjugates, at the negative
 * index along the other axes that were transformed. Axes of length 0 or 1 are not among
 * them, and there are at most PCU_MAX_NDIM. */
typedef struct {
    int type; /* complex */
    bool is_loose;
    int axis;
    int ndim;
    size_t shape[PCU_MAX_NDIM];
    ptrdiff_t strides[PCU_MAX_NDIM];
    unsigned char mirrored[PCU_MAX_NDIM];
} pcu_fourier_mirror;

/* Describe the kernel that stores the second half. There is at least one element. */
PCU_HIDDEN void pcu_fourier_mirror_fill(const pcu_fourier_mirror *mirror,
                                        pcu_fourier_pass *pass);

/* Whether all prime factors are small. */
PCU_HIDDEN bool pcu_fourier_is_smooth(size_t n);

/* Plan the kernels of a transform. -1: it is too large (OverflowError). */
PCU_HIDDEN PCU_RAISES int pcu_fourier_plan_fill(const pcu_fourier_transform *transform,
                                                pcu_fourier_plan *plan);

#endif
