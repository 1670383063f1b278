/* Release and counting of driver handles. Invariant and callers: see release.h. */

#include "driver/release.h"

#include <stdatomic.h>
#include <string.h>

#include "driver/status.h"

/* Both counters of a kind share a cache line, and an event costs one addition:
 * mem_alloc and free are hot paths. */
static struct {
    atomic_ulong created;
    atomic_ulong released;
} handle_counts[PCU_HANDLE_KINDS];

void
pcu_handle_created(pcu_handle_kind kind)
{
    atomic_fetch_add_explicit(&handle_counts[kind].created, 1, memory_order_relaxed);
}

static void
handle_gone(pcu_handle_kind kind)
{
    atomic_fetch_add_explicit(&handle_counts[kind].released, 1, memory_order_relaxed);
}

long
pcu_handle_live(pcu_handle_kind kind)
{
    /* Read `released` first, so that it never exceeds `created`. */
    unsigned long released = pcu_handle_released(kind);
    unsigned long created =
        atomic_load_explicit(&handle_counts[kind].created, memory_order_relaxed);
    return (long)(created - released);
}

unsigned long
pcu_handle_released(pcu_handle_kind kind)
{
    return atomic_load_explicit(&handle_counts[kind].released, memory_order_relaxed);
}

const char *
pcu_handle_kind_name(pcu_handle_kind kind)
{
#define HANDLE_NAME(kind_, type, ender) #kind_,
    static const char *const names[] = {PCU_RESOURCES(HANDLE_NAME)};
#undef HANDLE_NAME
    return names[kind];
}

const char *
pcu_handle_release_routine(pcu_handle_kind kind)
{
#define HANDLE_ENDER(kind_, type, ender) "cu" #ender,
    static const char *const names[] = {PCU_RESOURCES(HANDLE_ENDER)};
#undef HANDLE_ENDER
    return names[kind];
}

int
pcu_handle_blocking(pcu_handle_kind kind)
{
#define HANDLE_BLOCKING(kind_, type, ender) PCU_BLOCKING_OF_##ender,
    static const unsigned char blocking[] = {PCU_RESOURCES(HANDLE_BLOCKING)};
#undef HANDLE_BLOCKING
    return blocking[kind];
}

void
pcu_handle_abandon(pcu_handle_kind kind)
{
    handle_gone(kind);
}

/* Whether the code means that the handle no longer exists, although the call did not
 * release it. */
static bool
handle_status_is_moot(CUresult status)
{
    return status == CUDA_ERROR_DEINITIALIZED ||
           status == CUDA_ERROR_CONTEXT_IS_DESTROYED || pcu_status_is_sticky(status);
}

/* Whether handles of the kind do not end with their context. */
static bool
handle_outlives_context(pcu_handle_kind kind)
{
    return kind == PCU_HANDLE_physical || kind == PCU_HANDLE_range ||
           kind == PCU_HANDLE_pool;
}

uint64_t
pcu_handle_address(pcu_handle_kind kind, pcu_handle handle)
{
    switch ((int)kind) {
        case PCU_HANDLE_memory:
            return handle.memory;
        case PCU_HANDLE_ordered:
            return handle.ordered;
        case PCU_HANDLE_ipc_memory:
            return handle.ipc_memory;
        case PCU_HANDLE_host:
            return (uint64_t)(uintptr_t)handle.host;
        case PCU_HANDLE_registered:
            return (uint64_t)(uintptr_t)handle.registered;
        case PCU_HANDLE_physical:
            return (uint64_t)handle.physical;
        case PCU_HANDLE_range:
            return handle.range->base;
        case PCU_HANDLE_array:
            return (uint64_t)(uintptr_t)handle.array;
        case PCU_HANDLE_mipmapped_array:
            return (uint64_t)(uintptr_t)handle.mipmapped_array;
        case PCU_HANDLE_texture_object:
            return handle.texture_object;
        case PCU_HANDLE_surface_object:
            return handle.surface_object;
        default:
            return 0;
    }
}

pcu_handle
pcu_handle_owed(const pcu_memory_note *note)
{
    pcu_handle handle = {0};
    if (note->handle_kind == PCU_HANDLE_range) {
        handle.range = pcu_virtual_range_at(note->address);
    }
    else {
        memcpy(&handle, &note->address, sizeof(note->address));
    }
    return handle;
}

/* Another thread may get the same memory while the driver frees it, so its note leaves
 * the map before. */
static void
release_take_note(pcu_release *r)
{
    uint64_t address = pcu_handle_address(r->kind, r->handle);
    r->note = NULL;
    if (address != 0 && !r->unmaps) {
        r->note = pcu_memory_take_out(address, r->ctx);
    }
}

static void
release_end_note(pcu_release *r)
{
    if (r->note == NULL) {
        return;
    }
    if (r->ended) {
        pcu_memory_end(r->note);
    }
    else {
        pcu_memory_put_back(r->note);
    }
}

bool
pcu_release_begin(pcu_release *r)
{
    release_take_note(r);
    r->status = CUDA_SUCCESS;
    r->routine = "";
    r->entered = false;
    r->calls = false;
    r->lost = CUDA_SUCCESS;
    if (pcu_context_record_usable(r->ctx)) {
        r->status = pcu_scope_enter(&r->scope, r->ctx);
        r->routine = r->scope.routine;
        r->entered = r->status == CUDA_SUCCESS;
        r->calls = r->entered;
    }
    else if (pcu_drv_info.state == PCU_DRV_READY) {
        r->calls = handle_outlives_context(r->kind);
    }
    r->ctx->releases += r->entered;
    return r->calls;
}

void
pcu_release_call(pcu_release *r)
{
    if (r->unmaps) {
        r->routine = "cuGraphicsUnmapResources";
        r->status = drv.GraphicsUnmapResources(1, &r->handle.graphics, r->stream);
        return;
    }
    if (r->async) {
        r->routine = "cuMemFreeAsync";
        r->status = drv.MemFreeAsync(r->handle.memory, r->stream);
        return;
    }
    if (r->kind == PCU_HANDLE_ordered) {
        r->routine = "cuCtxSynchronize";
        r->status = drv.CtxSynchronize();
        if (r->status == CUDA_SUCCESS) {
            r->routine = "cuMemFree";
            r->status = drv.MemFree(r->handle.ordered);
        }
        return;
    }
    if (r->kind == PCU_HANDLE_range) {
        r->status = pcu_virtual_range_end(r->handle.range, r->entered, &r->routine);
        return;
    }
    r->routine = pcu_handle_release_routine(r->kind);
    switch ((int)r->kind) {
#define HANDLE_END(kind_, type, ender)          \
    case PCU_HANDLE_##kind_:                    \
        r->status = drv.ender(r->handle.kind_); \
        break;
        PCU_PLAIN_RESOURCES(HANDLE_END)
#undef HANDLE_END
    }
}

CUresult
pcu_release_finish(pcu_release *r)
{
    r->ended = r->calls && r->status == CUDA_SUCCESS;
    if (r->entered) {
        CUresult left = pcu_scope_leave(&r->scope);
        r->ctx->releases--;
        if (r->status == CUDA_SUCCESS && left != CUDA_SUCCESS) {
            r->routine = "cuCtxPopCurrent";
            r->status = left;
        }
    }
    if (pcu_status_is_sticky(r->status)) {
        r->lost = r->status;
    }
    if (handle_status_is_moot(r->status)) {
        r->status = CUDA_SUCCESS;
    }
    r->ended |= r->status == CUDA_SUCCESS;
    release_end_note(r);
    if (r->ended && !r->unmaps) {
        handle_gone(r->kind);
        if (r->kind == PCU_HANDLE_range) {
            pcu_virtual_range_free(r->handle.range);
        }
    }
    return r->status;
}
