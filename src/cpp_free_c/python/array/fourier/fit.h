/* Arrays cut off or padded with zeros to the lengths that transforms need.
 *
 * Called by library.c: cuFFT takes arrays of these lengths only. */
#ifndef PYTHON_ARRAY_FOURIER_FIT_H
#define PYTHON_ARRAY_FOURIER_FIT_H

#include "python/driver/memory/gpuarray.h"

/* Return `array` if it has the shape, a view of it if it is only longer, and otherwise
 * a new array in C order whose missing elements are zeros. shape has a length for each
 * axis. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_fourier_fit_new(pcu_state *st, pcu_gpuarray *array,
                                                    const size_t *shape,
                                                    PyObject *allocator,
                                                    CUstream stream);

#endif
