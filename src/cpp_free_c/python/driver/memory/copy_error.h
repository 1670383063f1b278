/* Ranges of device memory that a failed copy or fill asked for. */
#ifndef PYTHON_DRIVER_MEMORY_RANGE_H
#define PYTHON_DRIVER_MEMORY_RANGE_H

#include "python/support/base.h"

#include "python/driver/context_stack.h"

/* Device memory that a copy or a fill reads or writes: bytes from an address on. */
typedef struct {
    const char *name; /* of the parameter */
    CUdeviceptr start;
    size_t bytes; /* 0: the copy has no such side */
} pcu_copy_range;

/* A copy or a fill failed with that status. If a range lies in no allocation, or ends
 * behind one, raise that with the sizes; otherwise 0. */
PCU_HIDDEN PCU_RAISES int pcu_copy_ranges_check(pcu_state *st, const char *routine,
                                                CUresult status,
                                                const pcu_copy_range *ranges,
                                                int count);

/* The same, and raise the plain failure where nothing can be said. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_copy_raise(pcu_state *st, const char *routine,
                                         CUresult status, const pcu_copy_range *ranges,
                                         int count);

/* PCU_CALL_CURRENT for a copy or a fill; the device memory that it accesses follows. */
#define PCU_CALL_COPY(rc, st, name, args, ...)                                \
    do {                                                                      \
        CUresult pcu_copied_ = CUDA_SUCCESS;                                  \
        (rc) = pcu_context_ready(st);                                         \
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
