/* Systems of equations and decompositions of small matrices, by one generated kernel.
 *
 * A block works on a matrix in its shared memory, so a call costs one launch where
 * cuSOLVER takes many. Larger matrices are cuSOLVER's: pycuda/_array/linalg calls it.
 * Called by type/solver_functions.c. */
#ifndef PYTHON_ARRAY_SOLVER_SMALL_MATRICES_H
#define PYTHON_ARRAY_SOLVER_SMALL_MATRICES_H

#include "python/driver/memory/gpuarray.h"

/* What is computed, and its results. */
typedef enum {
    PCU_SMALL_SOLVE,       /* a @ x = b: x */
    PCU_SMALL_INVERSE,     /* the inverse */
    PCU_SMALL_DET,         /* the determinant */
    PCU_SMALL_SLOGDET,     /* its sign and the logarithm of its size */
    PCU_SMALL_CHOLESKY,    /* the factor; option 1: the upper one */
    PCU_SMALL_QR,          /* Q and R; see PCU_SMALL_QR_... */
    PCU_SMALL_EIGENVALUES, /* of Hermitian matrices; option 1: reads the upper triangle
                            */
    PCU_SMALL_SINGULAR,    /* singular values */
    /* The same as of PCU_SMALL_DET and PCU_SMALL_SLOGDET, of matrices of any size that
     * getrf has factored; b are its pivots, int32 of shape (..., n, 1). */
    PCU_SMALL_FACTORS_DET,
    PCU_SMALL_FACTORS_SLOGDET,
    PCU_SMALL_KINDS
} pcu_small_kind;

/* The option of PCU_SMALL_QR. Without Q, the first result is NULL. */
enum { PCU_SMALL_QR_REDUCED, PCU_SMALL_QR_COMPLETE, PCU_SMALL_QR_UPPER };

typedef struct {
    pcu_small_kind kind;
    pcu_gpuarray *a;
    pcu_gpuarray *b; /* NULL unless the kind takes it */
    int option;
    CUstream stream;
} pcu_small_call;

typedef struct {
    PyObject *arrays[2]; /* new references; NULL: none */
    bool failed;         /* a matrix is singular, or not positive definite */
} pcu_small_results;

/* Enqueue the call; wait for the device if it may fail. Return 1 and the results, 0 if
 * the kernels do not take these arrays, or -1. They take floating-point and complex
 * arrays of one dtype, with matrices that are not empty, whose batches have one shape.
 */
PCU_HIDDEN PCU_RAISES int pcu_small_matrices(pcu_state *st, const pcu_small_call *call,
                                             pcu_small_results *results);

#endif
