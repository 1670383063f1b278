/* A Fourier transform along one axis of an array.
 *
 * Called by fourier.c, which goes through the axes. */
#ifndef PYTHON_ARRAY_FOURIER_AXIS_H
#define PYTHON_ARRAY_FOURIER_AXIS_H

#include "python/driver/context.h"
#include "python/driver/memory/gpuarray.h"

typedef enum {
    PCU_FOURIER_COMPLEX, /* n numbers to n numbers */
    PCU_FOURIER_REAL,    /* n real elements to half a spectrum, n / 2 + 1 numbers */
    PCU_FOURIER_HALF /* half a spectrum to n real elements, by the inverse transform */
} pcu_fourier_kind;

typedef struct {
    pcu_fourier_kind kind;
    bool inverse;   /* of COMPLEX */
    bool conjugate; /* the input of HALF, or the result of REAL */
    int axis;
    size_t n;
    double scale; /* factor of the result */
} pcu_fourier_step;

/* Elements along the axis of the result. */
PCU_HIDDEN size_t pcu_fourier_result_length(const pcu_fourier_step *step);

/* Enqueue the transform of `in` into `out`. `out` has the shape of the result and a
 * complex dtype, or a real one for HALF. It may be `in` itself, but must not overlap it
 * in another way. Input elements beyond n are not used, and missing ones are zeros.
 * compute: PCU_T_FLOAT32 or PCU_T_FLOAT64. */
PCU_HIDDEN PCU_RAISES int pcu_fourier_axis(pcu_state *st, const pcu_fourier_step *step,
                                           pcu_gpuarray *in, pcu_gpuarray *out,
                                           int compute, PyObject *allocator,
                                           CUstream stream);

#endif
