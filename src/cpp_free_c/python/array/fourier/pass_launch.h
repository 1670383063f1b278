/* The launch of one kernel of a Fourier transform.
 *
 * Called by axis.c and mirror.c, which have planned it and got its kernel. */
#ifndef PYTHON_ARRAY_FOURIER_PASS_LAUNCH_H
#define PYTHON_ARRAY_FOURIER_PASS_LAUNCH_H

#include "python/array/fourier/passes.h"

/* Enqueue the kernel. addresses: of each pcu_fourier_buffer. */
PCU_HIDDEN PCU_RAISES int pcu_fourier_pass_launch(pcu_state *st,
                                                  const pcu_fourier_pass *pass,
                                                  const CUdeviceptr *addresses,
                                                  CUstream stream);

#endif
