/* Numbers that kernels tell the host: how many elements of a mask are true.
 *
 * A number is in page-locked memory, which the kernel writes and the host reads after
 * it has waited for the stream. A context keeps a page of them. Called by mask_bits.c.
 */
#ifndef PYTHON_ARRAY_INDEX_TRUE_COUNT_H
#define PYTHON_ARRAY_INDEX_TRUE_COUNT_H

#include "python/driver/context.h"

typedef struct {
    PyObject *page; /* strong: the allocation; NULL: none taken */
    int place;      /* in the page */
} pcu_true_count;

/* Take a number for one kernel; *address is that of the number on the device. The
 * context is the current one. */
PCU_HIDDEN PCU_RAISES int pcu_true_count_take(pcu_context *ctx, pcu_true_count *self,
                                              CUdeviceptr *address);

/* Wait for the stream and read the number. Other threads may run meanwhile. */
PCU_HIDDEN PCU_RAISES int pcu_true_count_read(pcu_state *st, const pcu_true_count *self,
                                              CUstream stream, size_t *count);

/* Give the number back. */
PCU_HIDDEN void pcu_true_count_give_back(pcu_true_count *self);

#endif
