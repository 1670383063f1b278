/* The table of NCCL's functions, each under its name without nccl.
 *
 * Invariant: after pcu_nccl_load has succeeded, every member is set, except those whose
 * row in abi/nccl_abi.h says that they may be missing; these may be NULL. The library
 * is never closed. The interpreter lock guards the table. Callers:
 * python/array/collective.
 */
#ifndef DRIVER_NCCL_TABLE_H
#define DRIVER_NCCL_TABLE_H

#include <stddef.h>

#include "abi/nccl_abi.h"
#include "driver/table.h"

#define PCU_NCCL_MEMBER(name, symbol, need, params) int(*name) params;
struct pcu_nccl_table {
    PCU_NCCL_SYMBOLS(PCU_NCCL_MEMBER)
    const char *(*GetLastError)(pcu_nccl_handle comm); /* NULL before NCCL 2.13 */
};
#undef PCU_NCCL_MEMBER

extern PCU_HIDDEN struct pcu_nccl_table pcu_nccl;

/* Open the library at a path, or by a name for the loader, and fill the table. Return 0
 * or -1, with the reason in `detail`. */
PCU_HIDDEN int pcu_nccl_load(const char *path, char *detail, size_t size);

/* 1 if the table is filled. */
PCU_HIDDEN int pcu_nccl_is_loaded(void);

/* The name of a status in NCCL's manual. Never NULL. */
PCU_HIDDEN const char *pcu_nccl_status_name(int status);

#endif
