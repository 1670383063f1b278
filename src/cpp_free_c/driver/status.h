/* Name, text and exception class of a CUresult.
 *
 * Invariant: the functions only look up; they change nothing. Any code in driver/ and
 * python/ may call. */
#ifndef DRIVER_STATUS_H
#define DRIVER_STATUS_H

#include "driver/table.h"

/* The exception class of a code, a column of abi/results.h. */
typedef enum {
    PCU_KIND_Error,
    PCU_KIND_LogicError,
    PCU_KIND_LaunchError,
    PCU_KIND_MemoryError,
    PCU_KIND_RuntimeError
} pcu_status_kind;

/* The class of a code. A code outside the table is a LogicError. */
PCU_HIDDEN pcu_status_kind pcu_status_classify(CUresult status);

/* CUDA_ERROR_...; "CUDA_ERROR_<unknown>" for a code outside the table. Never NULL. */
PCU_HIDDEN const char *pcu_status_name(CUresult status);

/* The driver's text for a code, or the table's where the driver has none. Never NULL.
 */
PCU_HIDDEN const char *pcu_status_text(CUresult status);

/* Whether the code means that the context is lost: every later call in it fails with
 * the same code. */
PCU_HIDDEN bool pcu_status_is_sticky(CUresult status);

#endif
