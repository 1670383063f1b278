/* The error of a failed copy or fill: the driver only reports "invalid argument"; these
 * functions look up the allocations and add the sizes.
 *
 * Invariant: nothing is looked up unless the driver call failed, so a successful copy
 * costs nothing. Callers: copy.c, copy_nd.c and the copies of arrays. */
#ifndef PYTHON_DRIVER_MEMORY_COPY_ERROR_H
#define PYTHON_DRIVER_MEMORY_COPY_ERROR_H

#include "python/support/base.h"

#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"

/* A range of device memory that a copy or fill reads or writes. */
typedef struct {
    const char *name; /* the parameter */
    CUdeviceptr start;
    size_t bytes; /* 0: the range is not used */
} pcu_copy_range;

/* A copy or fill failed with this status. If a range is not inside an allocation, raise
 * an error with the sizes. Otherwise return 0. */
PCU_HIDDEN PCU_RAISES int pcu_copy_ranges_check(pcu_state *st, const char *routine,
                                                CUresult status,
                                                const pcu_copy_range *ranges,
                                                int count);

/* The same, but if no range is wrong, raise the status itself. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_copy_raise(pcu_state *st, const char *routine,
                                         CUresult status, const pcu_copy_range *ranges,
                                         int count);

/* While a stream is captured: refuse a copy without a stream, and note the ranges. */
PCU_HIDDEN PCU_RAISES int pcu_copy_captured(pcu_state *st, const char *routine,
                                            const pcu_copy_range *ranges, int count);

/* PCU_CALL_CURRENT for a copy or fill. The ranges that it accesses are the last
 * arguments. */
#define PCU_CALL_COPY(rc, st, name, args, ...)                                \
    do {                                                                      \
        CUresult pcu_copied_ = CUDA_SUCCESS;                                  \
        (rc) = pcu_current_context_ready(st);                                 \
        if ((rc) == 0 && pcu_captures != NULL) {                              \
            const pcu_copy_range pcu_used_[] = {__VA_ARGS__};                 \
            (rc) = pcu_copy_captured((st), "cu" #name, pcu_used_,             \
                                     (int)Py_ARRAY_LENGTH(pcu_used_));        \
        }                                                                     \
        if ((rc) == 0) {                                                      \
            PCU_STATUS(pcu_copied_, name, args);                              \
        }                                                                     \
        if (pcu_copied_ != CUDA_SUCCESS) {                                    \
            const pcu_copy_range pcu_ranges_[] = {__VA_ARGS__};               \
            (rc) = pcu_copy_raise((st), "cu" #name, pcu_copied_, pcu_ranges_, \
                                  (int)Py_ARRAY_LENGTH(pcu_ranges_));         \
        }                                                                     \
    } while (0)

#endif
