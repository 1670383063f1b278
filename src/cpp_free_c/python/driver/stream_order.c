/* The order of work in different streams, and waiting for a stream of any library.
 *
 * Callers: see stream.h. */
#include "python/driver/stream.h"

#include "python/support/driver_call.h"
#include "python/driver/graph_resources.h"

static bool
stream_is_legacy(CUstream handle)
{
    return handle == NULL || handle == CU_STREAM_LEGACY;
}

static CUresult
stream_order_by_event(CUstream before, CUstream after, const char **routine)
{
    CUevent event = NULL;
    *routine = "cuEventCreate";
    CUresult status;
    CUresult ended;
    PCU_STATUS(status, EventCreate, (&event, CU_EVENT_DISABLE_TIMING));
    if (status != CUDA_SUCCESS) {
        return status;
    }
    *routine = "cuEventRecord";
    PCU_STATUS(status, EventRecord, (event, before));
    if (status == CUDA_SUCCESS) {
        *routine = "cuStreamWaitEvent";
        PCU_STATUS(status, StreamWaitEvent, (after, event, 0));
    }
    PCU_STATUS(ended, EventDestroy, (event)); /* the driver defers this until its use */
    if (status == CUDA_SUCCESS && ended != CUDA_SUCCESS) {
        *routine = "cuEventDestroy";
        status = ended;
    }
    return status;
}

int
pcu_stream_synchronize(pcu_state *st, CUstream handle)
{
    CUcontext current = NULL;
    CUcontext own = NULL;
    bool named = (uintptr_t)handle > (uintptr_t)CU_STREAM_PER_THREAD;
    int rc = 0;
    if (named && drv.StreamGetCtx(handle, &own) == CUDA_SUCCESS) {
        PCU_CALL(rc, st, CtxGetCurrent, (&current));
    }
    if (rc < 0 || own == current) {
        own = NULL;
    }
    if (rc == 0 && own != NULL) {
        PCU_CALL(rc, st, CtxPushCurrent, (own));
    }
    if (rc < 0) {
        return -1;
    }
    PCU_CALL(rc, st, StreamSynchronize, (handle));
    if (own != NULL) {
        CUresult status = drv.CtxPopCurrent(&own);
        if (rc == 0 && status != CUDA_SUCCESS) {
            rc = pcu_raise(st, "cuCtxPopCurrent", status);
        }
    }
    return rc;
}

/* Whether the work of `after` is captured and that of `before` is not: the order of the
 * two is that of the launch of the graph, which the program decides. */
static bool
stream_order_is_for_the_launch(CUstream before, CUstream after)
{
    return pcu_is_captured(after) && !pcu_is_captured(before);
}

int
pcu_stream_order(pcu_state *st, CUstream before, CUstream after)
{
    const char *routine = "";
    if (before == after || (stream_is_legacy(before) && stream_is_legacy(after))) {
        return 0;
    }
    if (stream_order_is_for_the_launch(before, after)) {
        return 0;
    }
    if (pcu_captured_fork() < 0) {
        return -1;
    }
    CUresult status = stream_order_by_event(before, after, &routine);
    if (status == CUDA_ERROR_INVALID_HANDLE || status == CUDA_ERROR_INVALID_CONTEXT) {
        /* The stream belongs to another context, so an event cannot order the two. */
        return pcu_stream_synchronize(st, before);
    }
    if (status == CUDA_SUCCESS) {
        return 0;
    }
    return pcu_raise(st, routine, status);
}
