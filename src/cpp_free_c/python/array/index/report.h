/* The report of a context: page-locked memory in which kernels note an index out of
 * bounds.
 *
 * A kernel skips an element whose index is out of bounds and notes the first such
 * index. No call waits for that: the IndexError comes from the next call that waits for
 * the device anyway (get(), synchronize()), and names the statement with the wrong
 * index. Called by selection.c and by the methods that wait. */
#ifndef PYTHON_ARRAY_INDEX_REPORT_H
#define PYTHON_ARRAY_INDEX_REPORT_H

#include "python/driver/context.h"

/* Prepare for a kernel that may note an index. *address is that of the report on the
 * device, *site the number of the running statement, which the kernel notes too. */
PCU_HIDDEN PCU_RAISES int pcu_index_report_announce(pcu_context *ctx,
                                                    CUdeviceptr *address,
                                                    uint32_t *site);

/* Raise IndexError if a kernel of the current context noted an index, and clear the
 * report. */
PCU_HIDDEN PCU_RAISES int pcu_index_report_check(pcu_state *st);

/* Raise NumPy's IndexError. `index` is the text of a number. Returns -1. */
PCU_HIDDEN PCU_RAISES int pcu_raise_index(PyObject *index, int axis, size_t length);

#endif
