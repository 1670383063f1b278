/* The libraries of NVIDIA that are opened at run time: a table of the functions of
 * each, under their names without cublas, cufft and nccl.
 *
 * Invariant: after pcu_..._load has succeeded, every member of the table is set, except
 * those whose row in abi/ says that they may be missing; these may be NULL. A library
 * is never closed. The interpreter lock guards the tables. Callers:
 * python/array/product, python/array/fourier and python/array/collective.
 */
#ifndef DRIVER_VENDOR_LIBRARIES_H
#define DRIVER_VENDOR_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/cublas_abi.h"
#include "abi/cufft_abi.h"
#include "abi/nccl_abi.h"
#include "driver/visibility.h"

/* -- cuBLAS ------------------------------------------------------------------------ */

#define PCU_BLAS_MEMBER(name, symbol, need, params) int(*name) params;
struct pcu_blas_table {
    PCU_CUBLAS_SYMBOLS(PCU_BLAS_MEMBER)
};
#undef PCU_BLAS_MEMBER

extern PCU_HIDDEN struct pcu_blas_table pcu_blas;

/* Open the library at a path, or by a name for the loader, and fill the table. Return 0
 * or -1, with the reason in `detail`. */
PCU_HIDDEN int pcu_blas_load(const char *path, char *detail, size_t size);

/* Whether the table is filled. */
PCU_HIDDEN bool pcu_blas_is_loaded(void);

/* The name of a status: CUBLAS_STATUS_... Never NULL. */
PCU_HIDDEN const char *pcu_blas_status_name(int status);

/* -- cuFFT ------------------------------------------------------------------------- */

#define PCU_FFT_MEMBER(name, symbol, need, params) int(*name) params;
struct pcu_fft_table {
    PCU_CUFFT_SYMBOLS(PCU_FFT_MEMBER)
};
#undef PCU_FFT_MEMBER

extern PCU_HIDDEN struct pcu_fft_table pcu_fft;

PCU_HIDDEN int pcu_fft_load(const char *path, char *detail, size_t size);

/* Whether the table is filled. */
PCU_HIDDEN bool pcu_fft_is_loaded(void);

/* The name of a status: CUFFT_... Never NULL. */
PCU_HIDDEN const char *pcu_fft_status_name(int status);

/* -- NCCL -------------------------------------------------------------------------- */

#define PCU_NCCL_MEMBER(name, symbol, need, params) int(*name) params;
struct pcu_nccl_table {
    PCU_NCCL_SYMBOLS(PCU_NCCL_MEMBER)
    const char *(*GetLastError)(pcu_nccl_handle comm); /* NULL before NCCL 2.13 */
};
#undef PCU_NCCL_MEMBER

extern PCU_HIDDEN struct pcu_nccl_table pcu_nccl;

PCU_HIDDEN int pcu_nccl_load(const char *path, char *detail, size_t size);

/* Whether the table is filled. */
PCU_HIDDEN bool pcu_nccl_is_loaded(void);

/* The name of a status in NCCL's manual. Never NULL. */
PCU_HIDDEN const char *pcu_nccl_status_name(int status);

#endif
