/* Transforms along one to three axes through cuFFT, for the arrays that it takes.
 *
 * Called by fourier.c, which uses generated kernels for all others. */
#ifndef PYTHON_ARRAY_FOURIER_LIBRARY_H
#define PYTHON_ARRAY_FOURIER_LIBRARY_H

#include "python/array/fourier/axis.h"

/* Enqueue the transforms of all steps from `in` into `out`, and return 0. 1: cuFFT is
 * not there, or does not take these arrays, and nothing was enqueued. The arrays have
 * the shapes of the first input and the last result. `in` may be `out` itself, but must
 * not overlap it in another way. compute: PCU_T_FLOAT32 or PCU_T_FLOAT64. */
PCU_HIDDEN PCU_RAISES int pcu_fourier_library(pcu_state *st,
                                              const pcu_fourier_step *steps, int count,
                                              pcu_gpuarray *in, pcu_gpuarray *out,
                                              int compute, PyObject *allocator,
                                              CUstream stream);

#endif
