/* The driver's current context: making the calling thread's context current, and driver
 * calls that depend on it.
 *
 * Another library may change the driver's current context. Calls that depend on the
 * current context therefore begin with pcu_current_context_ready, which compares, or
 * are repeated after pcu_current_context_repair.
 *
 * Invariant: if a function returns 0, the driver's current context is that of the
 * thread, unless the thread has none. Callers: all files in python/ that make driver
 * calls. */
#ifndef PYTHON_DRIVER_CURRENT_CONTEXT_H
#define PYTHON_DRIVER_CURRENT_CONTEXT_H

#include "python/support/base.h"

#include "python/support/driver_call.h"

/* Make this thread's context the driver's current one: the top of its stack, else the
 * context that pycuda.autoinit lends. If there is neither, the driver's current context
 * stays. */
PCU_HIDDEN PCU_RAISES int pcu_current_context_settle(pcu_state *st);

/* The same, with a fast path that costs one driver call if nothing has to be done. */
static inline PCU_RAISES int
pcu_current_context_ready(pcu_state *st)
{
    CUcontext current = NULL;
    if (pcu_ctx_current != NULL && pcu_ctx_current->alive) {
        CUresult status = drv.CtxGetCurrent(&current);
        if (status == CUDA_SUCCESS && current == pcu_ctx_current->handle) {
            return 0;
        }
        if (status != CUDA_SUCCESS && pcu_drv_info.state == PCU_DRV_READY) {
            return pcu_raise(st, "cuCtxGetCurrent", status);
        }
    }
    return pcu_current_context_settle(st);
}

/* After a call failed with this status: return 1 if the driver's current context was
 * not this thread's and has been corrected, so that the call can be repeated. Never
 * raises. Used for calls that are too frequent for pcu_current_context_ready. */
PCU_HIDDEN int pcu_current_context_repair(pcu_state *st, CUresult status);

/* PCU_CALL for a function that depends on the current context. Not for use inside a
 * scope. */
#define PCU_CALL_CURRENT(rc, st, name, args)               \
    do {                                                   \
        if (((rc) = pcu_current_context_ready(st)) == 0) { \
            PCU_CALL(rc, st, name, args);                  \
        }                                                  \
    } while (0)

/* Wait until all work of the current context has finished. */
PCU_HIDDEN PCU_RAISES int pcu_current_context_synchronize(pcu_state *st);

#endif
