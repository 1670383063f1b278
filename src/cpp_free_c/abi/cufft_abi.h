/* The part of cuFFT's binary interface that Fourier transforms of arrays use, as
 * NVIDIA's manual defines it: it is the same in the libraries of CUDA 11, 12 and 13.
 *
 *   X(name without cufft, exported name, need, parameters)
 *
 * Every function returns a status. Callers: driver/vendor_libraries.c and
 * python/array/fourier. */
#ifndef ABI_CUFFT_ABI_H
#define ABI_CUFFT_ABI_H

#include <stddef.h>

#include "abi/cuda_abi.h"

/* The statuses that the package treats differently. */
enum {
    PCU_CUFFT_SUCCESS = 0,
    PCU_CUFFT_INVALID_PLAN = 1,
    PCU_CUFFT_ALLOC_FAILED = 2,
    PCU_CUFFT_INVALID_TYPE = 3,
    PCU_CUFFT_INVALID_VALUE = 4,
    PCU_CUFFT_INTERNAL_ERROR = 5,
    PCU_CUFFT_EXEC_FAILED = 6,
    PCU_CUFFT_SETUP_FAILED = 7,
    PCU_CUFFT_INVALID_SIZE = 8,
    PCU_CUFFT_INVALID_DEVICE = 11,
    PCU_CUFFT_NO_WORKSPACE = 13,
    PCU_CUFFT_NOT_IMPLEMENTED = 14,
    PCU_CUFFT_NOT_SUPPORTED = 16
};

/* cufftType */
enum {
    PCU_CUFFT_C2C = 0x29,
    PCU_CUFFT_R2C = 0x2a,
    PCU_CUFFT_C2R = 0x2c,
    PCU_CUFFT_Z2Z = 0x69,
    PCU_CUFFT_D2Z = 0x6a,
    PCU_CUFFT_Z2D = 0x6c
};

enum { PCU_CUFFT_FORWARD = -1, PCU_CUFFT_INVERSE = 1 };

/* clang-format off */
#define PCU_CUFFT_SYMBOLS(X) \
    X(Create, "cufftCreate", 1, (int *plan)) \
    X(Destroy, "cufftDestroy", 1, (int plan)) \
    X(GetVersion, "cufftGetVersion", 1, (int *version)) \
    X(SetAutoAllocation, "cufftSetAutoAllocation", 1, (int plan, int automatic)) \
    X(MakePlanMany64, "cufftMakePlanMany64", 1, (int plan, int rank, long long *n, long long *inembed, long long istride, long long idist, long long *onembed, long long ostride, long long odist, int type, long long batch, size_t *work)) \
    X(SetWorkArea, "cufftSetWorkArea", 1, (int plan, void *work)) \
    X(SetStream, "cufftSetStream", 1, (int plan, CUstream stream)) \
    X(ExecC2C, "cufftExecC2C", 1, (int plan, void *in, void *out, int direction)) \
    X(ExecZ2Z, "cufftExecZ2Z", 1, (int plan, void *in, void *out, int direction)) \
    X(ExecR2C, "cufftExecR2C", 1, (int plan, void *in, void *out)) \
    X(ExecD2Z, "cufftExecD2Z", 1, (int plan, void *in, void *out)) \
    X(ExecC2R, "cufftExecC2R", 1, (int plan, void *in, void *out)) \
    X(ExecZ2D, "cufftExecZ2D", 1, (int plan, void *in, void *out))
/* clang-format on */

#endif
