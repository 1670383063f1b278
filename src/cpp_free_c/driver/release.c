/* Release and counting of driver handles. Invariant and callers: see release.h. */

#include "driver/release.h"

#include <stdatomic.h>

#include "driver/status.h"

/* Both counters of a kind share a cache line, and an event costs one addition:
 * mem_alloc and free are hot paths. */
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
    /* Read `released` first, so that it never exceeds `created`. */
    unsigned long released = pcu_res_released(kind);
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

int
pcu_res_blocking(pcu_res_kind kind)
{
#define RES_WAITS(kind_, type, ender) PCU_WAITS_##ender,
    static const unsigned char blocking[] = {PCU_RESOURCES(RES_WAITS)};
#undef RES_WAITS
    return blocking[kind];
}

void
pcu_res_abandon(pcu_res_kind kind)
{
    res_gone(kind);
}

/* 1 for codes that mean that the handle no longer exists, although the call did not
 * release it. */
static int
res_status_is_moot(CUresult status)
{
    return status == CUDA_ERROR_DEINITIALIZED ||
           status == CUDA_ERROR_CONTEXT_IS_DESTROYED || pcu_status_is_sticky(status);
}

int
pcu_release_begin(pcu_release *r)
{
    r->status = CUDA_SUCCESS;
    r->routine = "";
    r->entered = 0;
    if (pcu_ctxrec_usable(r->ctx)) {
        r->status = pcu_scope_enter(&r->scope, r->ctx);
        r->routine = r->scope.routine;
        r->entered = r->status == CUDA_SUCCESS;
    }
    r->ctx->releases += r->entered;
    return r->entered;
}

void
pcu_release_call(pcu_release *r)
{
    if (r->unmaps) {
        r->routine = "cuGraphicsUnmapResources";
        r->status = drv.GraphicsUnmapResources(1, &r->handle.graphics, r->stream);
        return;
    }
    r->routine = pcu_res_ender(r->kind);
    switch ((int)r->kind) {
#define RES_END(kind_, type, ender)             \
    case PCU_RES_##kind_:                       \
        r->status = drv.ender(r->handle.kind_); \
        break;
        PCU_RESOURCES(RES_END)
#undef RES_END
    }
}

CUresult
pcu_release_finish(pcu_release *r)
{
    r->ended = r->entered && r->status == CUDA_SUCCESS;
    if (r->entered) {
        CUresult left = pcu_scope_leave(&r->scope);
        r->ctx->releases--;
        if (r->status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            r->routine = "cuCtxPopCurrent";
            r->status = left;
        }
    }
    if (res_status_is_moot(r->status)) {
        r->status = CUDA_SUCCESS;
    }
    r->ended |= r->status == CUDA_SUCCESS;
    if (r->ended && !r->unmaps) {
        res_gone(r->kind);
    }
    return r->status;
}
