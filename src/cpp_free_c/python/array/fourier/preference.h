/* Which transforms along one axis generated kernels compute faster than cuFFT.
 *
 * Arithmetic only. The limits were measured on an H200 with cuFFT of CUDA 13. Called by
 * library.c. */
#ifndef PYTHON_ARRAY_FOURIER_PREFERENCE_H
#define PYTHON_ARRAY_FOURIER_PREFERENCE_H

#include "python/array/fourier/axis.h"

typedef struct {
    pcu_fourier_kind kind;
    size_t n;          /* elements of the transform */
    size_t number;     /* bytes of a complex number */
    size_t count;      /* elements of the result */
    bool adds_kernels; /* cuFFT needs kernels before or after: scale, convert, complete
                        */
    bool is_columns;   /* neighbouring elements in memory belong to different lines */
    size_t cache;      /* bytes of the L2 cache */
} pcu_fourier_case;

/* Whether generated kernels are faster. */
PCU_HIDDEN bool pcu_fourier_prefers_kernels(const pcu_fourier_case *given);

#endif
