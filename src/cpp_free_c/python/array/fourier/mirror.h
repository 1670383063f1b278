/* The second half of the transform of real elements.
 *
 * Called by library.c: cuFFT computes the first half only. */
#ifndef PYTHON_ARRAY_FOURIER_MIRROR_H
#define PYTHON_ARRAY_FOURIER_MIRROR_H

#include "python/array/fourier/axis.h"

/* Enqueue: in `out`, a complex array that was transformed by these steps, store the
 * elements beyond the middle of the axis of the first step. They are the conjugates of
 * those before, at the negative index along the other axes. */
PCU_HIDDEN PCU_RAISES int pcu_fourier_mirror_half(pcu_state *st,
                                                  const pcu_fourier_step *steps,
                                                  int count, pcu_gpuarray *out,
                                                  CUstream stream);

#endif
