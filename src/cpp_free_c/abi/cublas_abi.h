/* The part of cuBLAS's binary interface that products of arrays use, as NVIDIA's manual
 * defines it: it is the same in the libraries of CUDA 11, 12 and 13.
 *
 *   X(name without cublas, exported name, need, parameters)
 *
 * Every function returns a status. Callers: driver/vendor_libraries.c and
 * python/array/product. */
#ifndef ABI_CUBLAS_ABI_H
#define ABI_CUBLAS_ABI_H

#include <stdint.h>

#include "abi/cuda_abi.h"

typedef struct pcu_cublas_context *pcu_cublas_handle;

/* The statuses that the package treats differently. */
enum {
    PCU_CUBLAS_SUCCESS = 0,
    PCU_CUBLAS_NOT_INITIALIZED = 1,
    PCU_CUBLAS_ALLOC_FAILED = 3,
    PCU_CUBLAS_INVALID_VALUE = 7,
    PCU_CUBLAS_ARCH_MISMATCH = 8,
    PCU_CUBLAS_MAPPING_ERROR = 11,
    PCU_CUBLAS_EXECUTION_FAILED = 13,
    PCU_CUBLAS_INTERNAL_ERROR = 14,
    PCU_CUBLAS_NOT_SUPPORTED = 15,
    PCU_CUBLAS_LICENSE_ERROR = 16
};

/* cublasOperation_t */
enum { PCU_CUBLAS_OP_N = 0, PCU_CUBLAS_OP_T = 1 };

/* cudaDataType */
enum {
    PCU_CUDA_R_32F = 0,
    PCU_CUDA_R_64F = 1,
    PCU_CUDA_R_16F = 2,
    PCU_CUDA_C_32F = 4,
    PCU_CUDA_C_64F = 5,
    PCU_CUDA_R_16BF = 14
};

/* cublasComputeType_t, cublasGemmAlgo_t, cublasMath_t. The last forbids partial sums in
 * half precision, which the default allows. */
enum {
    PCU_CUBLAS_COMPUTE_32F = 68,
    PCU_CUBLAS_COMPUTE_64F = 70,
    PCU_CUBLAS_GEMM_DEFAULT = -1,
    PCU_CUBLAS_MATH_FULL_SUMS = 16
};

/* clang-format off */
#define PCU_CUBLAS_GEMM_PARAMS(INT) \
    (pcu_cublas_handle handle, int op_a, int op_b, INT m, INT n, INT k, \
     const void *alpha, const void *a, int type_a, INT lda, \
     const void *b, int type_b, INT ldb, const void *beta, \
     void *c, int type_c, INT ldc, int compute, int algorithm)
#define PCU_CUBLAS_BATCH_PARAMS(INT) \
    (pcu_cublas_handle handle, int op_a, int op_b, INT m, INT n, INT k, \
     const void *alpha, const void *a, int type_a, INT lda, long long step_a, \
     const void *b, int type_b, INT ldb, long long step_b, const void *beta, \
     void *c, int type_c, INT ldc, long long step_c, INT count, int compute, \
     int algorithm)

#define PCU_CUBLAS_SYMBOLS(X) \
    X(Create, "cublasCreate_v2", 1, (pcu_cublas_handle *handle)) \
    X(Destroy, "cublasDestroy_v2", 1, (pcu_cublas_handle handle)) \
    X(GetVersion, "cublasGetVersion_v2", 1, (pcu_cublas_handle handle, int *version)) \
    X(SetStream, "cublasSetStream_v2", 1, (pcu_cublas_handle handle, CUstream stream)) \
    X(SetWorkspace, "cublasSetWorkspace_v2", 0, \
      (pcu_cublas_handle handle, void *workspace, size_t bytes)) \
    X(SetMathMode, "cublasSetMathMode", 1, (pcu_cublas_handle handle, int mode)) \
    X(GemmEx, "cublasGemmEx", 1, PCU_CUBLAS_GEMM_PARAMS(int)) \
    X(GemmStridedBatchedEx, "cublasGemmStridedBatchedEx", 1, \
      PCU_CUBLAS_BATCH_PARAMS(int)) \
    X(GemmStridedBatchedEx_64, "cublasGemmStridedBatchedEx_64", 0, \
      PCU_CUBLAS_BATCH_PARAMS(int64_t))
/* clang-format on */

#endif
