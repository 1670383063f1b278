/* Making the calling thread's context current. Invariant and callers: see
 * current_context.h. */
#include "python/driver/current_context.h"

#include "driver/stream_use.h"
#include "driver/events.h"
#include "python/driver/context_stack.h"
#include "python/support/suspects.h"

int
pcu_current_context_settle(pcu_state *st)
{
    CUcontext current = NULL;
    int rc = 0;
    if (pcu_drv_info.state != PCU_DRV_READY) {
        return 0; /* the driver call itself reports the error */
    }
    pcu_ctxstack *self = pcu_ctxstack_borrow(st, st->lent_context != NULL);
    if (self == NULL) {
        if (PyErr_Occurred()) {
            return -1;
        }
        return 0;
    }
    if (pcu_ctxstack_refresh(st, self) < 0) {
        return -1;
    }
    if (self->active != NULL) {
        PCU_CALL(rc, st, CtxGetCurrent, (&current));
    }
    if (rc == 0 && current != self->active) { /* another library changed it */
        PCU_CALL(rc, st, CtxSetCurrent, (self->active));
    }
    return rc;
}

int
pcu_current_context_repair(pcu_state *st, CUresult status)
{
    CUcontext before = NULL;
    CUcontext after = NULL;
    if (status != CUDA_ERROR_INVALID_CONTEXT && status != CUDA_ERROR_INVALID_HANDLE &&
        status != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
        return 0;
    }
    if (drv.CtxGetCurrent(&before) != CUDA_SUCCESS) {
        return 0;
    }
    if (pcu_current_context_settle(st) < 0) {
        PyErr_Clear(); /* the first error is reported */
        return 0;
    }
    return drv.CtxGetCurrent(&after) == CUDA_SUCCESS && after != before;
}

int
pcu_current_context_synchronize(pcu_state *st)
{
    pcu_context_record *rec = pcu_ctx_current;
    unsigned long queued = 0;
    unsigned long clock = pcu_stream_clock();
    uint64_t number = pcu_launch_newest();
    int rc;
    if (rec != NULL) {
        queued = rec->queued;
    }
    PCU_CALL_CURRENT(rc, st, CtxSynchronize, ());
    if (rc == 0 && rec != NULL && rec == pcu_ctx_current && queued > rec->passed) {
        /* Not rec->queued: work that other threads enqueued meanwhile may be pending.
         */
        rec->passed = queued;
    }
    if (rc == 0 && rec != NULL && rec == pcu_ctx_current) {
        pcu_stream_table_passed(rec, clock);
        pcu_launches_passed_all(rec, number);
        pcu_suspects_forget(rec); /* the context works: it was reset */
    }
    return rc;
}
