/* Recording a timeline. Invariant and callers: see timeline.h. */

#include "driver/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/graph_record.h"
#include "driver/memory_map.h"
#include "driver/ticks.h"

struct pcu_timeline pcu_timeline;

enum {
    TIMELINE_WAITING = 4096, /* spans of a context that wait for their times */
    TIMELINE_ARGUMENTS = 32  /* arrays among the arguments of a kernel */
};

/* The device's clock drifts against the host's, so a new common moment is chosen when
 * the last is older than this and no span counts from it. */
#define TIMELINE_BASE_AGE UINT64_C(2000000000)

/* Make room for one more element of `size` bytes. Return NULL without memory; the array
 * is unchanged then. */
static void *
timeline_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    size_t wanted = *room * 2 + 64;
    void *larger = realloc(array, wanted * size);
    if (larger != NULL) {
        *room = wanted;
    }
    return larger;
}

/* -- events ------------------------------------------------------------------------ */

static CUevent
event_take(pcu_timed_context *context)
{
    CUevent event = NULL;
    if (context->unused_count > 0) {
        return context->unused[--context->unused_count];
    }
    if (pcu_timeline.plain.EventCreate(&event, 0) != CUDA_SUCCESS) {
        return NULL;
    }
    return event;
}

static void
event_give_back(pcu_timed_context *context, CUevent event)
{
    if (event == NULL) {
        return;
    }
    CUevent *array = timeline_grow(context->unused, context->unused_count,
                                   &context->unused_room, sizeof(*array));
    if (array == NULL) {
        (void)pcu_timeline.plain.EventDestroy(event);
        return;
    }
    context->unused = array;
    context->unused[context->unused_count++] = event;
}

/* The time of an event on the clock of the host, 0 if it is not known. */
static uint64_t
event_time(const pcu_timed_context *context, CUevent event)
{
    float milliseconds = 0;
    if (pcu_timeline.plain.EventElapsedTime(&milliseconds, context->base, event) !=
        CUDA_SUCCESS) {
        return 0;
    }
    return context->base_time + (uint64_t)(int64_t)((double)milliseconds * 1e6);
}

/* Read the times of a span whose work has ended, or give them up. */
static void
span_read(pcu_timed_context *context, pcu_span *span, int ended)
{
    float milliseconds = 0;
    if (ended && pcu_timeline.plain.EventElapsedTime(&milliseconds, span->before,
                                                     span->behind) == CUDA_SUCCESS) {
        span->device_begin = event_time(context, span->before);
    }
    if (span->device_begin != 0) {
        span->device_end = span->device_begin + (uint64_t)((double)milliseconds * 1e6);
    }
    event_give_back(context, span->before);
    event_give_back(context, span->behind);
    span->before = NULL;
    span->behind = NULL;
    context->waiting--;
}

/* Read the times of the spans whose work has ended, the oldest first, up to one whose
 * work has not. `give_up`: also read the others. */
static void
context_read(pcu_timed_context *context, int give_up)
{
    int index = (int)(context - pcu_timeline.contexts);
    size_t i = context->first_waiting;
    for (; i < pcu_timeline.span_count && context->waiting > 0; i++) {
        pcu_span *span = &pcu_timeline.spans[i];
        if (span->context != index || span->behind == NULL) {
            continue;
        }
        int ended = pcu_timeline.plain.EventQuery(span->behind) == CUDA_SUCCESS;
        if (!ended && !give_up) {
            break;
        }
        span_read(context, span, ended);
    }
    context->first_waiting = i;
}

/* -- contexts ---------------------------------------------------------------------- */

/* Let the device pass an event at once, and note the time of the host. The shortest of
 * three attempts is the most exact. */
static void
context_set_base(pcu_timed_context *context)
{
    const struct pcu_drv *plain = &pcu_timeline.plain;
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        CUevent event = event_take(context);
        uint64_t begin = pcu_nanoseconds();
        if (event == NULL ||
            plain->EventRecord(event, context->stream) != CUDA_SUCCESS ||
            plain->EventSynchronize(event) != CUDA_SUCCESS) {
            event_give_back(context, event);
            return;
        }
        uint64_t width = pcu_nanoseconds() - begin;
        if (width < shortest) {
            shortest = width;
            event_give_back(context, context->base);
            context->base = event;
            context->base_time = begin + width / 2;
        }
        else {
            event_give_back(context, event);
        }
    }
}

static pcu_timed_context *
context_add(CUcontext handle)
{
    pcu_timed_context *array =
        timeline_grow(pcu_timeline.contexts, pcu_timeline.context_count,
                      &pcu_timeline.context_room, sizeof(*array));
    if (array == NULL) {
        return NULL;
    }
    pcu_timeline.contexts = array;
    pcu_timed_context *context = &array[pcu_timeline.context_count];
    *context =
        (pcu_timed_context){.handle = handle, .first_waiting = pcu_timeline.span_count};
    enum { NON_BLOCKING = 1 };
    if (pcu_timeline.plain.CtxGetDevice(&context->device) != CUDA_SUCCESS ||
        pcu_timeline.plain.StreamCreate(&context->stream, NON_BLOCKING) !=
            CUDA_SUCCESS) {
        return NULL;
    }
    pcu_timeline.context_count++;
    context_set_base(context);
    return context;
}

/* The current context, NULL if it cannot be timed now. */
static pcu_timed_context *
context_current(void)
{
    CUcontext handle = NULL;
    if (pcu_timeline.plain.CtxGetCurrent(&handle) != CUDA_SUCCESS || handle == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < pcu_timeline.context_count; i++) {
        if (pcu_timeline.contexts[i].handle == handle) {
            return &pcu_timeline.contexts[i];
        }
    }
    return context_add(handle);
}

/* The events of the context's spans were read, or cannot be read. */
static void
context_close(pcu_timed_context *context)
{
    const struct pcu_drv *plain = &pcu_timeline.plain;
    context_read(context, 1);
    event_give_back(context, context->base);
    for (size_t i = 0; i < context->unused_count; i++) {
        (void)plain->EventDestroy(context->unused[i]);
    }
    if (context->stream != NULL) {
        (void)plain->StreamDestroy(context->stream);
    }
    free(context->unused);
    *context = (pcu_timed_context){.device = context->device};
}

/* 1 if the context lives, as far as this package knows. */
static int
context_lives(const pcu_timed_context *context)
{
    return context->handle != NULL && pcu_context_record_find(context->handle) != NULL;
}

static void
context_end(size_t index)
{
    CUcontext popped = NULL;
    CUcontext handle = pcu_timeline.contexts[index].handle;
    if (handle == NULL || pcu_timeline.plain.CtxPushCurrent(handle) != CUDA_SUCCESS) {
        return;
    }
    void *thread = pcu_timeline.hooks.unlock();
    (void)pcu_timeline.plain.CtxSynchronize();
    pcu_timeline.hooks.lock(thread);
    context_close(&pcu_timeline.contexts[index]);
    (void)pcu_timeline.plain.CtxPopCurrent(&popped);
}

void
pcu_timeline_end_context(CUcontext handle)
{
    for (size_t i = 0; i < pcu_timeline.context_count; i++) {
        if (pcu_timeline.contexts[i].handle == handle) {
            context_end(i);
        }
    }
}

void
pcu_timeline_end_device(CUdevice device)
{
    for (size_t i = 0; i < pcu_timeline.context_count; i++) {
        if (pcu_timeline.contexts[i].device == device) {
            context_end(i);
        }
    }
}

/* -- spans ------------------------------------------------------------------------- */

pcu_span *
pcu_timeline_add(const pcu_span *span)
{
    pcu_span *array = NULL;
    if (pcu_timeline.span_count < pcu_timeline.most) {
        array = timeline_grow(pcu_timeline.spans, pcu_timeline.span_count,
                              &pcu_timeline.span_room, sizeof(*array));
    }
    if (array == NULL) {
        pcu_timeline.dropped++;
        return NULL;
    }
    pcu_timeline.spans = array;
    array[pcu_timeline.span_count] = *span;
    return &array[pcu_timeline.span_count++];
}

static int
span_is_of_device(pcu_span_kind kind)
{
#define ON_DEVICE(kind_, name, on_device) on_device,
    static const unsigned char on[] = {PCU_SPAN_KINDS(ON_DEVICE)};
#undef ON_DEVICE
    return on[kind];
}

/* Choose the events of a span, unless a capture forbids events. */
static void
span_time(pcu_span *span)
{
    pcu_timed_context *context = NULL;
    if (span_is_of_device(span->kind) && pcu_captures_active == 0) {
        context = context_current();
    }
    if (context == NULL) {
        return;
    }
    int old = pcu_nanoseconds() - context->base_time > TIMELINE_BASE_AGE;
    if (context->waiting >= TIMELINE_WAITING || old) {
        context_read(context, 0);
    }
    if (old && context->waiting == 0) {
        context_set_base(context);
    }
    if (context->base == NULL) {
        return;
    }
    span->context = (int)(context - pcu_timeline.contexts);
    span->before = event_take(context);
    span->behind = event_take(context);
    if (span->behind == NULL) {
        event_give_back(context, span->before);
        span->before = NULL;
    }
}

static void
call_start(pcu_timed_call *call)
{
    pcu_span *span = &call->span;
    span_time(span);
    if (pcu_ctx_current != NULL && span->behind != NULL) {
        pcu_ctx_current->queued += 2; /* the events */
    }
    call->generation = pcu_timeline.generation;
    call->thread = pcu_timeline.hooks.unlock();
    if (span->behind != NULL &&
        pcu_timeline.plain.EventRecord(span->before, span->stream) != CUDA_SUCCESS) {
        span->failed = 1;
    }
    span->begin = pcu_nanoseconds();
}

/* Begin a call with the interpreter lock. Return 0 if it is not recorded. */
static int
call_open(pcu_timed_call *call, pcu_span_kind kind, const char *routine,
          CUstream stream, size_t bytes)
{
    call->active = 0;
    if (!pcu_timeline.hooks.attach(&call->token)) {
        return 0;
    }
    if (!pcu_timeline.on) {
        pcu_timeline.hooks.detach(call->token);
        return 0;
    }
    call->active = 1;
    call->span = (pcu_span){.kind = kind,
                            .routine = routine,
                            .stream = stream,
                            .bytes = bytes,
                            .site = pcu_timeline.hooks.site(pcu_timeline.hooks.state),
                            .thread = pcu_timeline.hooks.thread(),
                            .context = -1,
                            .kernel = -1};
    return 1;
}

void
pcu_timeline_enter(pcu_timed_call *call, pcu_span_kind kind, const char *routine,
                   CUstream stream, size_t bytes)
{
    if (call_open(call, kind, routine, stream, bytes)) {
        call_start(call);
    }
}

/* Store a span whose call has returned. */
static void
call_store(pcu_timed_call *call, CUresult status)
{
    pcu_span *span = &call->span;
    pcu_timed_context *context = NULL;
    if (call->generation != pcu_timeline.generation || !pcu_timeline.on) {
        return; /* the timeline has ended; its events are gone */
    }
    if (span->context >= 0) {
        context = &pcu_timeline.contexts[span->context];
    }
    int useless = span->failed || status != CUDA_SUCCESS;
    span->failed = status != CUDA_SUCCESS;
    if (context != NULL && useless && context->handle != NULL) {
        event_give_back(context, span->before);
        event_give_back(context, span->behind);
    }
    if (context == NULL || useless || context->handle == NULL) {
        span->before = NULL;
        span->behind = NULL;
    }
    const pcu_span *stored = pcu_timeline_add(span);
    if (span->behind != NULL && stored != NULL) {
        context->waiting++;
    }
    else if (span->behind != NULL) {
        event_give_back(context, span->before);
        event_give_back(context, span->behind);
    }
}

CUresult
pcu_timeline_leave(pcu_timed_call *call, CUresult status)
{
    pcu_span *span = &call->span;
    if (!call->active) {
        return status;
    }
    span->end = pcu_nanoseconds();
    if (span->behind != NULL && status == CUDA_SUCCESS && !span->failed &&
        pcu_timeline.plain.EventRecord(span->behind, span->stream) != CUDA_SUCCESS) {
        span->failed = 1;
    }
    pcu_timeline.hooks.lock(call->thread);
    call_store(call, status);
    pcu_timeline.hooks.detach(call->token);
    return status;
}

/* -- kernels ----------------------------------------------------------------------- */

static void
kernel_describe(pcu_timed_kernel *kernel)
{
    enum { SHARED_SIZE_BYTES = 1, LOCAL_SIZE_BYTES = 3, NUM_REGS = 4 };
    const struct pcu_drv *plain = &pcu_timeline.plain;
    const char *name = NULL;
    if (plain->FuncGetName(&name, kernel->function) != CUDA_SUCCESS || name == NULL) {
        name = "kernel";
    }
    (void)snprintf(kernel->name, sizeof(kernel->name), "%s", name);
    pcu_timeline.hooks.rename(pcu_timeline.hooks.state, kernel->function, kernel->name,
                              sizeof(kernel->name));
    (void)plain->FuncGetAttribute(&kernel->registers, NUM_REGS, kernel->function);
    (void)plain->FuncGetAttribute(&kernel->static_shared, SHARED_SIZE_BYTES,
                                  kernel->function);
    (void)plain->FuncGetAttribute(&kernel->local, LOCAL_SIZE_BYTES, kernel->function);
    (void)plain->OccupancyMaxActiveBlocksPerMultiprocessor(
        &kernel->blocks_per_multiprocessor, kernel->function, (int)kernel->threads,
        kernel->shared);
}

/* The number of a kernel with this shape of blocks, -1 without memory. */
static int
kernel_find(CUfunction function, unsigned int threads, unsigned int shared)
{
    for (size_t i = pcu_timeline.kernel_count; i-- > 0;) {
        const pcu_timed_kernel *kernel = &pcu_timeline.kernels[i];
        if (kernel->function == function && kernel->threads == threads &&
            kernel->shared == shared) {
            return (int)i;
        }
    }
    pcu_timed_kernel *array =
        timeline_grow(pcu_timeline.kernels, pcu_timeline.kernel_count,
                      &pcu_timeline.kernel_room, sizeof(*array));
    if (array == NULL) {
        return -1;
    }
    pcu_timeline.kernels = array;
    pcu_timed_kernel *kernel = &array[pcu_timeline.kernel_count];
    *kernel =
        (pcu_timed_kernel){.function = function, .threads = threads, .shared = shared};
    kernel_describe(kernel);
    return (int)pcu_timeline.kernel_count++;
}

/* The bytes of an allocation that a word of the parameters points into, 0 for a number.
 * *base is its address. */
static size_t
argument_bytes(uint64_t word, uint64_t *base)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    const pcu_memory_note *note = pcu_memory_find(word);
    if (note == NULL && word >= 4096 &&
        pcu_timeline.plain.MemGetAddressRange(&start, &size, word) == CUDA_SUCCESS) {
        note = pcu_memory_find(start);
    }
    *base = start;
    if (note != NULL) {
        *base = note->address;
        size = note->asked;
    }
    return size;
}

/* The bytes of the arrays among the parameters of a launch, each counted once. */
static size_t
launch_bytes(void **extra)
{
    uint64_t seen[TIMELINE_ARGUMENTS];
    int seen_count = 0;
    const char *params = NULL;
    size_t size = 0;
    size_t total = 0;
    for (; extra != NULL && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            params = extra[1];
        }
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            size = *(size_t *)extra[1];
        }
    }
    for (size_t i = 0; params != NULL && i + sizeof(uint64_t) <= size;
         i += sizeof(uint64_t)) {
        uint64_t word;
        uint64_t base = 0;
        int known = 0;
        memcpy(&word, params + i, sizeof(word));
        size_t bytes = argument_bytes(word, &base);
        for (int k = 0; k < seen_count; k++) {
            known |= seen[k] == base;
        }
        if (bytes != 0 && !known && seen_count < TIMELINE_ARGUMENTS) {
            seen[seen_count++] = base;
            total += bytes;
        }
    }
    return total;
}

void
pcu_timeline_enter_launch(pcu_timed_call *call, const char *routine,
                          CUfunction function, const CUlaunchConfig *config,
                          void **extra)
{
    if (!call_open(call, PCU_SPAN_KERNEL, routine, config->hStream, 0)) {
        return;
    }
    pcu_span *span = &call->span;
    unsigned int threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    span->grid[0] = config->gridDimX;
    span->grid[1] = config->gridDimY;
    span->grid[2] = config->gridDimZ;
    span->block[0] = config->blockDimX;
    span->block[1] = config->blockDimY;
    span->block[2] = config->blockDimZ;
    span->kernel = kernel_find(function, threads, config->sharedMemBytes);
    span->bytes = launch_bytes(extra);
    call_start(call);
}

void
pcu_timeline_forget_functions(void)
{
    for (size_t i = 0; i < pcu_timeline.kernel_count; i++) {
        pcu_timeline.kernels[i].function = NULL;
    }
}

/* -- the whole --------------------------------------------------------------------- */

void
pcu_timeline_begin(const pcu_timeline_hooks *hooks, size_t most)
{
    pcu_timeline_clear();
    pcu_timeline.hooks = *hooks;
    pcu_timeline.most = most;
    pcu_timeline.plain = drv;
    pcu_timeline.generation++;
    pcu_timeline.on = 1;
    pcu_timeline.start = pcu_nanoseconds();
    pcu_timed_calls_install();
}

void
pcu_timeline_finish(void)
{
    if (!pcu_timeline.on) {
        return;
    }
    pcu_timeline.end = pcu_nanoseconds();
    if (pcu_drv_info.state == PCU_DRV_READY) {
        drv = pcu_timeline.plain;
        for (size_t i = 0; i < pcu_timeline.context_count; i++) {
            if (context_lives(&pcu_timeline.contexts[i])) {
                context_end(i);
            }
        }
    }
    pcu_timeline.on = 0;
}

void
pcu_timeline_clear(void)
{
    for (size_t i = 0; i < pcu_timeline.span_count; i++) {
        free(pcu_timeline.spans[i].name);
    }
    for (size_t i = 0; i < pcu_timeline.context_count; i++) {
        free(pcu_timeline.contexts[i].unused);
    }
    free(pcu_timeline.spans);
    free(pcu_timeline.kernels);
    free(pcu_timeline.contexts);
    /* A thread may be inside of a wrapper, which calls the plain functions. */
    pcu_timeline = (struct pcu_timeline){.plain = pcu_timeline.plain,
                                         .hooks = pcu_timeline.hooks,
                                         .generation = pcu_timeline.generation};
}
