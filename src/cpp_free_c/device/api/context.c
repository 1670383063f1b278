/* Contexts: making and destroying, the stack of each thread, primary contexts, limits.
 *
 * Invariant: a stack entry may outlive its context; it carries the context's id and is
 * looked up in the registry before each use, so it is CONTEXT_IS_DESTROYED, never a
 * stray pointer. Destroying waits for the context's work, then frees all that it owns.
 */
#include "device/api/context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry.h"
#include "device/machine/execution.h"
#include "device/api/faults.h"
#include "device/api/ipc.h"
#include "device/api/pool.h"
#include "device/api/stream.h"

typedef struct {
    emu_context *context;
    uint64_t id;
} stack_entry;

typedef struct {
    stack_entry *entries;
    size_t count, room;
} context_stack;

static _Thread_local context_stack stack;
static pthread_key_t stack_key; /* frees a thread's stack when the thread ends */
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static uint64_t last_id; /* guarded by the API lock */

static void
free_entries(void *entries)
{
    free(entries);
}

static void
make_key(void)
{
    /* Without a key a thread's few bytes stay until the process ends. */
    (void)pthread_key_create(&stack_key, free_entries);
}

static CUresult
push(emu_context *context)
{
    if (stack.count == stack.room) {
        size_t room = stack.room ? stack.room * 2 : 8;
        stack_entry *entries = realloc(stack.entries, room * sizeof(*entries));

        if (!entries) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        stack.entries = entries;
        stack.room = room;
        pthread_once(&stack_once, make_key);
        (void)pthread_setspecific(stack_key, entries); /* see make_key */
    }
    stack.entries[stack.count].context = context;
    stack.entries[stack.count].id = context->id;
    stack.count++;
    return CUDA_SUCCESS;
}

emu_context *
emu_context_get(CUcontext handle)
{
    return emu_object_get(handle, EMU_CONTEXT);
}

const emu_context *
emu_context_peek(void)
{
    return stack.count ? stack.entries[stack.count - 1].context : NULL;
}

CUresult
emu_context_current(emu_context **context)
{
    const stack_entry *top;

    *context = NULL;
    if (stack.count == 0) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    top = &stack.entries[stack.count - 1];
    *context = emu_context_get(top->context);
    if (!*context || (*context)->id != top->id) {
        *context = NULL;
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    return CUDA_SUCCESS;
}

void
emu_context_fail(emu_context *context, CUresult status)
{
    int sound = 0;

    (void)atomic_compare_exchange_strong(&context->sticky, &sound, (int)status);
}

void
emu_context_flush(emu_context *context)
{
    emu_exec_flush(context);
}

/* -- making and destroying --------------------------------------------------------- */

/* Frees what a context owns, then itself. No work is under way. */
static void
destroy(emu_object *object)
{
    emu_context *context = (emu_context *)object;

    while (context->objects) {
        context->objects->destroy(context->objects);
    }
    emu_exec_context_close(context);
    for (const emu_allocation *a = context->allocations; a; a = a->next) {
        if (a->kind == EMU_MEMORY_POOLED) {
            emu_pool_forget(a);
        }
        else {
            emu_ipc_forget(a);
        }
    }
    (void)emu_memory_release_context(context); /* counted by the caller */
    emu_stream_close(context);
    emu_object_free(object);
}

static size_t
count_objects(const emu_context *context)
{
    size_t count = 0;

    for (const emu_object *o = context->objects; o; o = o->next) {
        count +=
            o->kind != EMU_FUNCTION && o->kind != EMU_TEXREF && o->kind != EMU_SURFREF;
    }
    return count;
}

static CUresult
make(emu_device *device, unsigned int flags, emu_context **out)
{
    emu_context *context = emu_object_new(EMU_CONTEXT, sizeof(*context), NULL, destroy);

    *out = NULL;
    if (!context) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    context->device = device;
    context->id = ++last_id;
    context->flags = flags;
    context->api_version = 3020;
    atomic_init(&context->access, (uint64_t)1 << device->ordinal);
    context->limits[EMU_LIMIT_STACK_SIZE] = 1024;
    context->limits[EMU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20;
    context->limits[EMU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    context->limits[EMU_LIMIT_SYNC_DEPTH] = 2;
    context->limits[EMU_LIMIT_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[EMU_LIMIT_L2_FETCH_GRANULARITY] = 64;
    if (emu_stream_open(context) != CUDA_SUCCESS) {
        emu_object_free(&context->object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = context;
    return CUDA_SUCCESS;
}

static void
end(emu_context *context)
{
    /* From here its handle is dead for all threads; only this one still holds it. */
    emu_object_unlist(&context->object);
    emu_wait_unused(&context->object);
    emu_count_abandoned(count_objects(context));
    for (const emu_allocation *a = context->allocations; a; a = a->next) {
        if (a->kind != EMU_MEMORY_ARRAY && a->kind != EMU_MEMORY_GLOBAL &&
            a->kind != EMU_MEMORY_HEAP && a->kind != EMU_MEMORY_GRAPHICS) {
            emu_count_abandoned(1);
        }
    }
    destroy(&context->object);
}

/* Flags that cuCtxCreate and the primary context take. */
static bool
valid_flags(unsigned int flags)
{
    unsigned int scheduling = flags & 7;

    return flags <= 0xff && (scheduling <= 2 || scheduling == 4);
}

CUresult
emu_cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    emu_device *device = NULL;
    emu_context *context = NULL;
    CUresult status = EMU_ENTER(CtxCreate);

    if (status == CUDA_SUCCESS && (!pctx || !valid_flags(flags))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        device = emu_device_get(dev);
        status = device ? make(device, flags, &context) : CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        status = push(context);
        if (status == CUDA_SUCCESS) {
            *pctx = context;
        }
        else {
            end(context);
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxDestroy(CUcontext ctx)
{
    emu_context *context = NULL;
    CUresult status = EMU_ENTER(CtxDestroy);

    if (status == CUDA_SUCCESS) {
        context = emu_context_get(ctx);
        if (!ctx) {
            status = CUDA_ERROR_INVALID_VALUE;
        }
        else if (!context) {
            status = CUDA_ERROR_CONTEXT_IS_DESTROYED;
        }
        else if (context->primary) {
            status = CUDA_ERROR_INVALID_CONTEXT;
        }
    }
    if (status == CUDA_SUCCESS && !emu_can_wait_unused(&context->object)) {
        status = CUDA_ERROR_NOT_PERMITTED;
    }
    if (status == CUDA_SUCCESS) {
        if (emu_context_peek() == context) {
            stack.count--;
        }
        end(context);
    }
    return emu_leave(status);
}

CUresult
emu_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    emu_device *device = NULL;
    CUresult status = EMU_ENTER(DevicePrimaryCtxRetain);

    if (status == CUDA_SUCCESS && !pctx) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        device = emu_device_get(dev);
        status = device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS && !device->primary) {
        emu_context *context;

        status = make(device, device->primary_flags, &context);
        if (status == CUDA_SUCCESS) {
            context->primary = true;
            device->primary = context;
        }
    }
    if (status == CUDA_SUCCESS) {
        device->primary_count++;
        *pctx = device->primary;
    }
    return emu_leave(status);
}

static void
end_primary(emu_device *device)
{
    emu_context *context = device->primary;

    device->primary = NULL;
    device->primary_count = 0;
    if (context) {
        end(context);
    }
}

static CUresult
can_end_primary(const emu_device *device)
{
    return !device->primary || emu_can_wait_unused(&device->primary->object)
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_PERMITTED;
}

CUresult
emu_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    emu_device *device = NULL;
    CUresult status = EMU_ENTER(DevicePrimaryCtxRelease);

    if (status == CUDA_SUCCESS) {
        device = emu_device_get(dev);
        status = device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS && device->primary_count == 0) {
        status = CUDA_ERROR_INVALID_CONTEXT;
    }
    if (status == CUDA_SUCCESS && device->primary_count == 1) {
        status = can_end_primary(device);
    }
    if (status == CUDA_SUCCESS && --device->primary_count == 0) {
        end_primary(device);
    }
    return emu_leave(status);
}

CUresult
emu_cuDevicePrimaryCtxReset(CUdevice dev)
{
    emu_device *device = NULL;
    CUresult status = EMU_ENTER(DevicePrimaryCtxReset);

    if (status == CUDA_SUCCESS) {
        device = emu_device_get(dev);
        status = device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        status = can_end_primary(device);
    }
    if (status == CUDA_SUCCESS) {
        end_primary(device);
    }
    return emu_leave(status);
}

CUresult
emu_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    emu_device *device = NULL;
    CUresult status = EMU_ENTER(DevicePrimaryCtxSetFlags);

    if (status == CUDA_SUCCESS) {
        device = emu_device_get(dev);
        status = device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS && !valid_flags(flags)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        device->primary_flags = flags;
        if (device->primary) {
            device->primary->flags = flags;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
    emu_device *device = NULL;
    CUresult status = EMU_ENTER(DevicePrimaryCtxGetState);

    if (status == CUDA_SUCCESS) {
        device = emu_device_get(dev);
        status = device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS && (!flags || !active)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *flags = device->primary_flags;
        *active = device->primary != NULL;
    }
    return emu_leave(status);
}

/* -- the stack --------------------------------------------------------------------- */

CUresult
emu_cuCtxPushCurrent(CUcontext ctx)
{
    CUresult status = EMU_ENTER(CtxPushCurrent);

    if (status == CUDA_SUCCESS) {
        emu_context *context = emu_context_get(ctx);

        status = context ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxPopCurrent(CUcontext *pctx)
{
    CUresult status = EMU_ENTER(CtxPopCurrent);

    if (status == CUDA_SUCCESS && stack.count == 0) {
        status = CUDA_ERROR_INVALID_CONTEXT;
    }
    if (status == CUDA_SUCCESS) {
        stack.count--;
        if (pctx) {
            *pctx = stack.entries[stack.count].context;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxSetCurrent(CUcontext ctx)
{
    CUresult status = EMU_ENTER(CtxSetCurrent);

    if (status == CUDA_SUCCESS) {
        emu_context *context = emu_context_get(ctx);

        if (ctx && !context) {
            status = CUDA_ERROR_INVALID_CONTEXT;
        }
        else {
            stack.count -= stack.count > 0;
            status = context ? push(context) : CUDA_SUCCESS;
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetCurrent(CUcontext *pctx)
{
    CUresult status = EMU_ENTER(CtxGetCurrent);

    if (status == CUDA_SUCCESS && !pctx) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *pctx = stack.count ? stack.entries[stack.count - 1].context : NULL;
    }
    return emu_leave(status);
}

/* A context given by the program, or the current one for NULL. */
static CUresult
given_or_current(CUcontext handle, emu_context **context)
{
    if (!handle) {
        return emu_context_current(context);
    }
    *context = emu_context_get(handle);
    return *context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult
emu_cuCtxGetDevice(CUdevice *device)
{
    emu_context *context = NULL;
    CUresult status = EMU_ENTER(CtxGetDevice);

    if (status == CUDA_SUCCESS) {
        status = emu_context_current(&context);
    }
    if (status == CUDA_SUCCESS && !device) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *device = context->device->ordinal;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
    emu_context *context = NULL;
    CUresult status = EMU_ENTER(CtxGetApiVersion);

    if (status == CUDA_SUCCESS) {
        status = given_or_current(ctx, &context);
    }
    if (status == CUDA_SUCCESS && !version) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *version = context->api_version;
    }
    return emu_leave(status);
}

CUresult
emu_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
    emu_context *context = NULL;
    CUresult status = EMU_ENTER(CtxGetId);

    if (status == CUDA_SUCCESS) {
        status = given_or_current(ctx, &context);
    }
    if (status == CUDA_SUCCESS && !ctxId) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *ctxId = context->id;
    }
    return emu_leave(status);
}
