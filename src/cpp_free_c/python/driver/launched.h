/* What follows each successful launch: it is noted in the ring of events, and with
 * PYCUDA_LAUNCH_BLOCKING=1 the call waits for its end.
 *
 * Work that is captured is neither noted nor waited for: it does not run. Callers: all
 * files that launch kernels, graphs, or functions of libraries. */
#ifndef PYTHON_DRIVER_LAUNCHED_H
#define PYTHON_DRIVER_LAUNCHED_H

#include "python/support/base.h"

#include "driver/capture.h"
#include "driver/context_record.h"
#include "driver/events.h"
#include "python/support/call_site.h"

PCU_HIDDEN PCU_RAISES int pcu_launched_slow(pcu_state *st, pcu_context_record *rec,
                                            pcu_launch_kind kind, CUfunction kernel,
                                            PyObject *name,
                                            const pcu_launch_shape *shape);

/* A launch in the context of `rec`, which may be NULL, has succeeded. `kernel` is NULL
 * for graphs and functions of libraries, `name` for generated kernels; it is one of
 * pcu_launch_name_keep. */
static inline PCU_RAISES int
pcu_launched(pcu_state *st, pcu_context_record *rec, pcu_launch_kind kind,
             CUfunction kernel, PyObject *name, const pcu_launch_shape *shape)
{
    if (rec == NULL) {
        return 0;
    }
    if (pcu_captures != NULL || pcu_drv_info.launch_blocking) {
        return pcu_launched_slow(st, rec, kind, kernel, name, shape);
    }
    pcu_event_launch(rec, kind, kernel, name, shape, pcu_call_site(st));
    return 0;
}

/* The same for a function of a library such as cuBLAS. */
PCU_HIDDEN PCU_RAISES int pcu_launched_library(pcu_state *st, pcu_context_record *rec,
                                               const char *function, CUstream stream);

/* The same for an exchange with other processes. Its end may depend on the next calls
 * of this process, so the call does not wait for it. */
PCU_HIDDEN PCU_RAISES int pcu_launched_exchange(pcu_state *st, pcu_context_record *rec,
                                                const char *function, CUstream stream);

/* Wait for a stream of the current context, and note what that proves. */
PCU_HIDDEN PCU_RAISES int pcu_launched_wait(pcu_state *st, CUstream stream);

#endif
