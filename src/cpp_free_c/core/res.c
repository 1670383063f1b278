/* Releasing and counting driver objects. See res.h. */

#include "res.h"

#include <stdatomic.h>

#include "status.h"

/* Side by side, and one addition for each event: mem_alloc pays for both. */
static struct {
    atomic_ulong created;
    atomic_ulong released;
} res_counts[PCU_RES_COUNT];

void
pcu_res_created(pcu_res_kind kind)
{
    atomic_fetch_add_explicit(&res_counts[kind].created, 1, memory_order_relaxed);
}

static void
res_gone(pcu_res_kind kind)
{
    atomic_fetch_add_explicit(&res_counts[kind].released, 1, memory_order_relaxed);
}

long
pcu_res_live(pcu_res_kind kind)
{
    unsigned long released =
        pcu_res_released(kind); /* first: never more than created */
    unsigned long created =
        atomic_load_explicit(&res_counts[kind].created, memory_order_relaxed);
    return (long)(created - released);
}

unsigned long
pcu_res_released(pcu_res_kind kind)
{
    return atomic_load_explicit(&res_counts[kind].released, memory_order_relaxed);
}

const char *
pcu_res_name(pcu_res_kind kind)
{
#define RES_NAME(kind_, type, ender) #kind_,
    static const char *const names[] = {PCU_RESOURCES(RES_NAME)};
#undef RES_NAME
    return names[kind];
}

const char *
pcu_res_ender(pcu_res_kind kind)
{
#define RES_ENDER(kind_, type, ender) "cu" #ender,
    static const char *const names[] = {PCU_RESOURCES(RES_ENDER)};
#undef RES_ENDER
    return names[kind];
}

static CUresult
res_call_ender(pcu_res_kind kind, pcu_res_handle handle, const char **routine)
{
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    *routine = pcu_res_ender(kind);
    switch ((int)kind) {
#define RES_END(kind_, type, ender)       \
    case PCU_RES_##kind_:                 \
        status = drv.ender(handle.kind_); \
        break;
        PCU_RESOURCES(RES_END)
#undef RES_END
    }
    return status;
}

/* 1 for codes after which the handle is gone although the call did not end it. */
static int
res_status_is_moot(CUresult status)
{
    return status == CUDA_ERROR_DEINITIALIZED ||
           status == CUDA_ERROR_CONTEXT_IS_DESTROYED || pcu_status_is_sticky(status);
}

/* End it within its context. */
static CUresult
res_end_inside(pcu_res_kind kind, pcu_res_handle handle, const pcu_ctxrec *ctx,
               const char **routine, int *ended)
{
    pcu_scope scope;
    CUresult status = pcu_scope_enter(&scope, ctx);
    *routine = scope.routine;
    if (status == CUDA_SUCCESS) {
        status = res_call_ender(kind, handle, routine);
        *ended = status == CUDA_SUCCESS;
        CUresult left = pcu_scope_leave(&scope);
        if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    return status;
}

CUresult
pcu_res_end(pcu_res_kind kind, pcu_res_handle handle, const pcu_ctxrec *ctx,
            const char **routine, int *ended)
{
    CUresult status = CUDA_SUCCESS;
    *ended = 0;
    if (pcu_ctxrec_usable(ctx)) {
        status = res_end_inside(kind, handle, ctx, routine, ended);
    }
    if (res_status_is_moot(status)) {
        status = CUDA_SUCCESS;
    }
    *ended |= status == CUDA_SUCCESS;
    if (*ended) {
        res_gone(kind);
    }
    return status;
}

CUresult
pcu_res_release(pcu_res_kind kind, pcu_res_handle handle, const pcu_ctxrec *ctx,
                const char **routine)
{
    int ended;
    CUresult status = pcu_res_end(kind, handle, ctx, routine, &ended);
    if (!ended) {
        res_gone(kind);
    }
    return status;
}

CUresult
pcu_res_unmap(CUgraphicsResource resource, CUstream stream, const pcu_ctxrec *ctx,
              const char **routine, int *ended)
{
    *ended = !pcu_ctxrec_usable(ctx);
    if (*ended) {
        return CUDA_SUCCESS;
    }
    pcu_scope scope;
    *routine = "cuCtxPushCurrent";
    CUresult status = pcu_scope_enter(&scope, ctx);
    if (status == CUDA_SUCCESS) {
        *routine = "cuGraphicsUnmapResources";
        status = drv.GraphicsUnmapResources(1, &resource, stream);
        *ended = status == CUDA_SUCCESS;
        CUresult left = pcu_scope_leave(&scope);
        if (status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            *routine = "cuCtxPopCurrent";
            status = left;
        }
    }
    if (res_status_is_moot(status)) {
        status = CUDA_SUCCESS;
    }
    *ended |= status == CUDA_SUCCESS;
    return status;
}
