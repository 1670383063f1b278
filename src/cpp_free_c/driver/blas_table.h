/* The table of cuBLAS's functions, each under its name without cublas.
 *
 * Invariant: after pcu_blas_load has succeeded, every member is set, except those whose
 * row in abi/cublas_abi.h says that they may be missing; these may be NULL. The library
 * is never closed. The interpreter lock guards the table. Callers:
 * python/array/product.
 */
#ifndef DRIVER_BLAS_TABLE_H
#define DRIVER_BLAS_TABLE_H

#include <stddef.h>

#include "abi/cublas_abi.h"
#include "driver/table.h"

#define PCU_BLAS_MEMBER(name, symbol, need, params) int(*name) params;
struct pcu_blas_table {
    PCU_CUBLAS_SYMBOLS(PCU_BLAS_MEMBER)
};
#undef PCU_BLAS_MEMBER

extern PCU_HIDDEN struct pcu_blas_table pcu_blas;

/* Open the library at a path, or by a name for the loader, and fill the table. Return 0
 * or -1, with the reason in `detail`. */
PCU_HIDDEN int pcu_blas_load(const char *path, char *detail, size_t size);

/* 1 if the table is filled. */
PCU_HIDDEN int pcu_blas_is_loaded(void);

/* The name of a status: CUBLAS_STATUS_... Never NULL. */
PCU_HIDDEN const char *pcu_blas_status_name(int status);

#endif
