/* Numbers that kernels tell the host: how many elements of a mask are true.
 *
 * A number is in page-locked memory, which the kernel writes and the host reads after
 * it has waited for the stream. A context has memory for many numbers, so that several
 * threads can wait at once. The interpreter lock guards it. Called by mask_bits.c. */
#ifndef PYTHON_ARRAY_INDEX_TRUE_COUNT_H
#define PYTHON_ARRAY_INDEX_TRUE_COUNT_H

#include "python/driver/context.h"

typedef struct {
    pcu_context *ctx;               /* strong; NULL: no number is taken */
    struct pcu_true_counts *counts; /* of the context at that time */
    int place;                      /* of the number */
} pcu_true_count;

/* Take a number for one kernel; *address is that of the number on the device. The
 * context is the current one. */
PCU_HIDDEN PCU_RAISES int pcu_true_count_take(pcu_context *ctx, pcu_true_count *self,
                                              CUdeviceptr *address);

/* Wait for the stream and read the number. Other threads may run meanwhile. */
PCU_HIDDEN PCU_RAISES int pcu_true_count_read(const pcu_true_count *self,
                                              CUstream stream, size_t *count);

/* Give the number back, if one is taken. */
PCU_HIDDEN void pcu_true_count_give_back(pcu_true_count *self);

#endif
