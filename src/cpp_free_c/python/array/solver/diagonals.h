/* Eigenvalues of symmetric tridiagonal matrices, and singular values of bidiagonal
 * ones, by bisection in one kernel.
 *
 * cuSOLVER makes these matrices of larger ones; see pycuda/_array/linalg/factors.py.
 * Called by type/solver_functions.c. */
#ifndef PYTHON_ARRAY_SOLVER_DIAGONALS_H
#define PYTHON_ARRAY_SOLVER_DIAGONALS_H

#include "python/driver/memory/gpuarray.h"

typedef struct {
    pcu_gpuarray *diagonal; /* shape (..., n): float32 or float64 in C order */
    pcu_gpuarray *beside;   /* the same; the last element of each row is not used */
    bool is_bidiagonal;     /* singular values, descending; else eigenvalues */
    CUstream stream;
} pcu_diagonals_call;

/* Enqueue the kernel. Return the values, an array of shape (..., n), or None if the
 * shared memory of a block does not hold the numbers of a matrix. ValueError if the
 * arrays are not as above. */
PCU_HIDDEN PCU_NEWREF PyObject *pcu_diagonals_values(pcu_state *st,
                                                     const pcu_diagonals_call *call);

#endif
