/* The parameters of the kernels of pycuda-solver.hpp: its structs stack and call. No
 * code. Called by the files of this folder. */
#ifndef PYTHON_ARRAY_SOLVER_SOLVER_PARAMS_H
#define PYTHON_ARRAY_SOLVER_SOLVER_PARAMS_H

#include "abi/cuda_abi.h"

enum { PCU_SOLVER_OPERANDS = 2 };

/* Dynamic shared memory that every kernel may have; for more it has to be allowed. */
enum { PCU_SOLVER_SHARED = 48 << 10 };

/* A stack of matrices, with distances in bytes. */
typedef struct {
    CUdeviceptr first;
    int64_t batch, row, column;
} pcu_solver_stack;

typedef struct {
    pcu_solver_stack stacks[PCU_SOLVER_OPERANDS];
    CUdeviceptr results[3];
    CUdeviceptr wrong; /* a number that becomes 1 if a matrix is singular */
    int32_t rows, columns;
    int32_t width;  /* columns of the second operand */
    int32_t chunk;  /* of the work, for each block */
    int32_t chunks; /* blocks for each matrix */
    int32_t option;
} pcu_solver_params;

#endif
