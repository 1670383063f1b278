/* The registry of context records, and scopes. Invariant and callers: see
 * context_record.h. */

#include "driver/context_record.h"

PCU_THREAD pcu_context_record *pcu_ctx_current;
PCU_THREAD bool pcu_in_host_function;
/* The innermost scope of the calling thread. */
static PCU_THREAD pcu_scope *scope_top;
unsigned int pcu_calls_waiting;

/* All records between pcu_context_record_register and pcu_context_record_forget, the
 * newest first. */
static pcu_context_record *context_record_registry;

pcu_context_record *
pcu_context_record_find(CUcontext handle)
{
    pcu_context_record *rec = context_record_registry;
    while (rec != NULL && (rec->handle != handle || !rec->alive)) {
        rec = rec->next;
    }
    return rec;
}

pcu_context_record *
pcu_context_record_first(void)
{
    return context_record_registry;
}

void
pcu_context_record_register(pcu_context_record *rec)
{
    static unsigned long lives;
    const pcu_context_record *twin = pcu_context_record_find(rec->handle);
    if (twin != NULL) {
        rec->life = twin->life;
    }
    else {
        rec->life = ++lives;
    }
    rec->next = context_record_registry;
    context_record_registry = rec;
}

void
pcu_context_record_forget(pcu_context_record *rec)
{
    pcu_context_record **link = &context_record_registry;
    while (*link != NULL && *link != rec) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = rec->next;
    }
}

bool
pcu_context_record_outlived(const pcu_context_record *rec)
{
    if (rec->kind == PCU_CTX_OWNED) {
        return false;
    }
    const pcu_context_record *twin = pcu_context_record_find(rec->handle);
    return twin != NULL && twin->life == rec->life;
}

CUresult
pcu_context_record_describe(pcu_context_record *rec, const char **routine)
{
    static const CUdevice_attribute wanted[] = {
        CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
        CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
    };
    int values[sizeof(wanted) / sizeof(wanted[0])];
    *routine = "cuCtxGetDevice";
    CUresult status = drv.CtxGetDevice(&rec->device);
    if (status == CUDA_SUCCESS) {
        *routine = "cuDeviceGetAttribute";
    }
    for (size_t i = 0; status == CUDA_SUCCESS && i < sizeof(wanted) / sizeof(wanted[0]);
         i++) {
        status = drv.DeviceGetAttribute(&values[i], wanted[i], rec->device);
    }
    if (status == CUDA_SUCCESS) {
        rec->limits.max_threads = values[0];
        for (int i = 0; i < 3; i++) {
            rec->limits.max_block[i] = values[1 + i];
            rec->limits.max_grid[i] = values[4 + i];
        }
        rec->limits.multiprocessors = values[7];
        rec->limits.cache = values[8];
    }
    return status;
}

bool
pcu_context_record_is_busy(const pcu_context_record *rec)
{
    unsigned int releases = rec->releases; /* rec may have left the registry */
    for (const pcu_context_record *r = context_record_registry; r != NULL;
         r = r->next) {
        if (r->handle == rec->handle) {
            releases += r->releases;
        }
    }
    return releases != 0;
}

bool
pcu_context_record_is_last(const pcu_context_record *rec)
{
    const pcu_context_record *r = context_record_registry;
    while (r != NULL && (r == rec || r->handle != rec->handle || !r->alive ||
                         r->kind != PCU_CTX_PRIMARY)) {
        r = r->next;
    }
    return r == NULL && rec->kind != PCU_CTX_FOREIGN;
}

static CUresult
scope_begin(pcu_scope *scope, pcu_context_record *rec)
{
    scope->context = rec->handle;
    scope->rec = rec;
    scope->suspended = false;
    scope->outer = scope_top;
    scope_top = scope;
    return CUDA_SUCCESS;
}

CUresult
pcu_scope_enter(pcu_scope *scope, pcu_context_record *rec)
{
    CUcontext current = NULL;
    scope->entered = NULL;
    scope->routine = "cuCtxGetCurrent";
    if (!pcu_context_record_lives(rec)) {
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (rec == pcu_ctx_current) {
        /* The driver has the same context: see python/driver/current_context.h. */
        return scope_begin(scope, rec);
    }
    CUresult status = drv.CtxGetCurrent(&current);
    if (status == CUDA_SUCCESS && current != rec->handle) {
        scope->routine = "cuCtxPushCurrent";
        status = drv.CtxPushCurrent(rec->handle);
        if (status == CUDA_SUCCESS) {
            scope->entered = rec->handle;
        }
    }
    if (status == CUDA_SUCCESS) {
        return scope_begin(scope, rec);
    }
    return status;
}

static CUresult
scope_pop(const pcu_scope *scope)
{
    CUcontext popped = NULL;
    CUcontext current = NULL;
    CUresult status = drv.CtxPopCurrent(&popped);
    /* The call may report an error of earlier work although it popped the context. */
    if (status != CUDA_SUCCESS && drv.CtxGetCurrent(&current) == CUDA_SUCCESS &&
        current == scope->entered) {
        status = drv.CtxPopCurrent(&popped);
    }
    if (status == CUDA_SUCCESS && popped != scope->entered) {
        status = CUDA_ERROR_INVALID_CONTEXT;
    }
    return status;
}

CUresult
pcu_scope_leave(pcu_scope *scope)
{
    CUresult status = CUDA_SUCCESS;
    if (scope->entered != NULL) {
        status = scope_pop(scope);
    }
    scope->entered = NULL;
    scope_top = scope->outer;
    return status;
}

pcu_context_record *
pcu_context_record_working(void)
{
    const pcu_scope *scope = scope_top;
    while (scope != NULL && scope->suspended) {
        scope = scope->outer;
    }
    return scope == NULL ? pcu_ctx_current : scope->rec;
}

bool
pcu_scope_is_within(CUcontext context)
{
    const pcu_scope *scope = scope_top;
    while (scope != NULL && scope->context != context) {
        scope = scope->outer;
    }
    return scope != NULL;
}

pcu_scope *
pcu_scopes_suspend(void)
{
    pcu_scope *scope = scope_top;
    while (scope != NULL && !scope->suspended &&
           (scope->entered == NULL || scope_pop(scope) == CUDA_SUCCESS)) {
        scope->suspended = true;
        scope = scope->outer;
    }
    return scope;
}

void
pcu_scopes_resume(pcu_scope *stop)
{
    while (scope_top != stop) {
        pcu_scope *scope = scope_top; /* resume the outermost scope first */
        while (scope->outer != stop) {
            scope = scope->outer;
        }
        if (scope->entered != NULL &&
            drv.CtxPushCurrent(scope->entered) != CUDA_SUCCESS) {
            scope->entered = NULL; /* pcu_scope_leave has nothing to pop */
        }
        scope->suspended = false;
        stop = scope;
    }
}
