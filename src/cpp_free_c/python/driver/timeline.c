/* A timeline: the calls of the driver that take time, when the host made them, and when
 * the device did the work.
 *
 * While a timeline records, the entries of the table `drv` for these calls are
 * wrappers. So nothing else in the package knows of it, and a program without a
 * timeline pays nothing. A wrapper notes the line of Python, lets the driver record an
 * event before and behind the work in its stream, and makes the call. The times of the
 * events are read later: when many are waiting, when a context ends, and at the end.
 * Therefore spans are a list of their own beside the ring of driver/events.h, which
 * keeps the last events only.
 *
 * A wrapper may be called with or without the interpreter lock. It takes the lock for
 * its notes and releases it around all calls that may wait, as PCU_STATUS does.
 *
 * Invariant: one timeline records at a time. Its members are read and written under the
 * interpreter lock only. A failure of an event never changes the result of a call; the
 * span then has no times of the device. Callers: Python, and through `drv` all code
 * that calls the driver. */
#include "python/support/call_site.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"

#include "driver/capture.h"
#include "driver/memory_map.h"
#include "driver/ticks.h"

/* What a span is: X(KIND, name, it is work of a stream, which the device does later).
 */
/* clang-format off */
#define PCU_SPAN_KINDS(X) \
    X(KERNEL, "kernel", true)               \
    X(GRAPH, "graph", true)                 \
    X(HOST_FUNCTION, "host function", true) \
    X(COPY_IN, "copy to device", true)      \
    X(COPY_OUT, "copy to host", true)       \
    X(COPY, "copy", true)                   \
    X(FILL, "fill", true)                   \
    X(WAIT, "wait", false)                  \
    X(ALLOCATE, "allocate", false)          \
    X(FREE, "free", false)                  \
    X(LOAD, "load", false)                  \
    X(COMPILE, "compile", false)            \
    X(RANGE, "range", false)
/* clang-format on */

#define PCU_SPAN_MEMBER(kind, name, on_device) PCU_SPAN_##kind,
typedef enum { PCU_SPAN_KINDS(PCU_SPAN_MEMBER) PCU_SPAN_KIND_COUNT } span_kind;
#undef PCU_SPAN_MEMBER

/* A kernel with a shape of its blocks: what decides its occupancy. */
typedef struct {
    CUfunction function; /* NULL after its module was unloaded */
    unsigned int threads;
    unsigned int shared;
    char name[256];
    int registers;
    int static_shared;
    int local;
    int blocks_per_multiprocessor; /* 0: not known */
} timed_kernel;

/* A context that did work while the timeline recorded. */
typedef struct {
    CUcontext handle; /* NULL after its end */
    CUdevice device;
    CUstream stream;    /* only for the events `base` */
    CUevent base;       /* the time of the device is counted from here */
    uint64_t base_time; /* the same moment: nanoseconds of the monotonic clock */
    CUevent *unused;    /* events for the next spans */
    size_t unused_count;
    size_t unused_room;
    size_t first_waiting; /* no span before this one has events of this context */
    size_t waiting;       /* spans whose events were not read */
} timed_context;

typedef struct {
    span_kind kind;
    const char *routine; /* of the driver, "" for spans of Python */
    uint64_t begin;      /* of the call: nanoseconds of the monotonic clock */
    uint64_t end;
    uint64_t device_begin; /* of the work; 0 if not known */
    uint64_t device_end;
    CUevent before; /* while the times of the device were not read */
    CUevent behind;
    unsigned long thread;
    CUstream stream;
    uint32_t site;
    int context; /* the index in `contexts`, -1: none */
    int kernel;  /* the index in `kernels`, -1: none */
    bool failed;
    unsigned int grid[3];
    unsigned int block[3];
    size_t bytes; /* copied or filled; of the arrays among a kernel's arguments */
    char *name;   /* of spans of Python: UTF-8, owned; else NULL */
} timed_span;

static struct timeline {
    bool on;
    struct pcu_drv plain; /* the driver's functions, while wrappers are in `drv` */
    pcu_state *st;        /* of the module that began it */
    timed_span *spans;
    size_t span_count;
    size_t span_room;
    size_t most;    /* spans beyond this number are only counted */
    size_t dropped; /* spans that were not kept */
    timed_kernel *kernels;
    size_t kernel_count;
    size_t kernel_room;
    timed_context *contexts;
    size_t context_count;
    size_t context_room;
    size_t generation; /* timelines so far */
    uint64_t start;    /* nanoseconds of the monotonic clock */
    uint64_t end;
} timeline;

/* A call that is being recorded. */
typedef struct {
    bool active;
    PyThreadState *token;
    PyThreadState *thread;
    size_t generation; /* the timeline that the call belongs to */
    timed_span span;
} timed_call;

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
event_take(timed_context *context)
{
    CUevent event = NULL;
    if (context->unused_count > 0) {
        return context->unused[--context->unused_count];
    }
    if (timeline.plain.EventCreate(&event, 0) != CUDA_SUCCESS) {
        return NULL;
    }
    return event;
}

static void
event_give_back(timed_context *context, CUevent event)
{
    if (event == NULL) {
        return;
    }
    CUevent *array = timeline_grow(context->unused, context->unused_count,
                                   &context->unused_room, sizeof(*array));
    if (array == NULL) {
        (void)timeline.plain.EventDestroy(event);
        return;
    }
    context->unused = array;
    context->unused[context->unused_count++] = event;
}

/* The time of an event on the clock of the host, 0 if it is not known. */
static uint64_t
event_time(const timed_context *context, CUevent event)
{
    float milliseconds = 0;
    if (timeline.plain.EventElapsedTime(&milliseconds, context->base, event) !=
        CUDA_SUCCESS) {
        return 0;
    }
    return context->base_time + (uint64_t)(int64_t)((double)milliseconds * 1e6);
}

/* Read the times of a span whose work has ended, or give them up. */
static void
span_read(timed_context *context, timed_span *span, bool ended)
{
    float milliseconds = 0;
    if (ended && timeline.plain.EventElapsedTime(&milliseconds, span->before,
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
context_read(timed_context *context, bool give_up)
{
    int index = (int)(context - timeline.contexts);
    size_t i = context->first_waiting;
    for (; i < timeline.span_count && context->waiting > 0; i++) {
        timed_span *span = &timeline.spans[i];
        if (span->context != index || span->behind == NULL) {
            continue;
        }
        bool ended = timeline.plain.EventQuery(span->behind) == CUDA_SUCCESS;
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
context_set_base(timed_context *context)
{
    const struct pcu_drv *plain = &timeline.plain;
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

static timed_context *
context_add(CUcontext handle)
{
    timed_context *array = timeline_grow(timeline.contexts, timeline.context_count,
                                         &timeline.context_room, sizeof(*array));
    if (array == NULL) {
        return NULL;
    }
    timeline.contexts = array;
    timed_context *context = &array[timeline.context_count];
    *context = (timed_context){.handle = handle, .first_waiting = timeline.span_count};
    enum { NON_BLOCKING = 1 };
    if (timeline.plain.CtxGetDevice(&context->device) != CUDA_SUCCESS ||
        timeline.plain.StreamCreate(&context->stream, NON_BLOCKING) != CUDA_SUCCESS) {
        return NULL;
    }
    timeline.context_count++;
    context_set_base(context);
    return context;
}

/* The current context, NULL if it cannot be timed now. */
static timed_context *
context_current(void)
{
    CUcontext handle = NULL;
    if (timeline.plain.CtxGetCurrent(&handle) != CUDA_SUCCESS || handle == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < timeline.context_count; i++) {
        if (timeline.contexts[i].handle == handle) {
            return &timeline.contexts[i];
        }
    }
    return context_add(handle);
}

/* The events of the context's spans were read, or cannot be read. */
static void
context_close(timed_context *context)
{
    const struct pcu_drv *plain = &timeline.plain;
    context_read(context, true);
    event_give_back(context, context->base);
    for (size_t i = 0; i < context->unused_count; i++) {
        (void)plain->EventDestroy(context->unused[i]);
    }
    if (context->stream != NULL) {
        (void)plain->StreamDestroy(context->stream);
    }
    free(context->unused);
    *context = (timed_context){.device = context->device};
}

/* Whether the context lives, as far as this package knows. */
static bool
context_lives(const timed_context *context)
{
    return context->handle != NULL && pcu_context_record_find(context->handle) != NULL;
}

static void
timeline_context_end(size_t index)
{
    CUcontext popped = NULL;
    CUcontext handle = timeline.contexts[index].handle;
    if (handle == NULL || timeline.plain.CtxPushCurrent(handle) != CUDA_SUCCESS) {
        return;
    }
    PyThreadState *thread = pcu_unlock();
    (void)timeline.plain.CtxSynchronize();
    pcu_lock(thread);
    context_close(&timeline.contexts[index]);
    (void)timeline.plain.CtxPopCurrent(&popped);
}

static void
timeline_end_context(CUcontext handle)
{
    for (size_t i = 0; i < timeline.context_count; i++) {
        if (timeline.contexts[i].handle == handle) {
            timeline_context_end(i);
        }
    }
}

static void
timeline_end_device(CUdevice device)
{
    for (size_t i = 0; i < timeline.context_count; i++) {
        if (timeline.contexts[i].device == device) {
            timeline_context_end(i);
        }
    }
}

/* -- spans ------------------------------------------------------------------------- */

static timed_span *
timeline_add(const timed_span *span)
{
    timed_span *array = NULL;
    if (timeline.span_count < timeline.most) {
        array = timeline_grow(timeline.spans, timeline.span_count, &timeline.span_room,
                              sizeof(*array));
    }
    if (array == NULL) {
        timeline.dropped++;
        return NULL;
    }
    timeline.spans = array;
    array[timeline.span_count] = *span;
    return &array[timeline.span_count++];
}

static bool
span_is_of_device(span_kind kind)
{
#define ON_DEVICE(kind_, name, on_device) on_device,
    static const bool on[] = {PCU_SPAN_KINDS(ON_DEVICE)};
#undef ON_DEVICE
    return on[kind];
}

/* Choose the events of a span, unless a capture forbids events. */
static void
span_time(timed_span *span)
{
    timed_context *context = NULL;
    if (span_is_of_device(span->kind) && pcu_captures == NULL) {
        context = context_current();
    }
    if (context == NULL) {
        return;
    }
    bool old = pcu_nanoseconds() - context->base_time > TIMELINE_BASE_AGE;
    if (context->waiting >= TIMELINE_WAITING || old) {
        context_read(context, false);
    }
    if (old && context->waiting == 0) {
        context_set_base(context);
    }
    if (context->base == NULL) {
        return;
    }
    span->context = (int)(context - timeline.contexts);
    span->before = event_take(context);
    span->behind = event_take(context);
    if (span->behind == NULL) {
        event_give_back(context, span->before);
        span->before = NULL;
    }
}

static void
call_start(timed_call *call)
{
    timed_span *span = &call->span;
    span_time(span);
    if (pcu_ctx_current != NULL && span->behind != NULL) {
        pcu_ctx_current->queued += 2; /* the events */
    }
    call->generation = timeline.generation;
    call->thread = pcu_unlock();
    if (span->behind != NULL &&
        timeline.plain.EventRecord(span->before, span->stream) != CUDA_SUCCESS) {
        span->failed = true;
    }
    span->begin = pcu_nanoseconds();
}

/* Take the interpreter lock for a note before a call, if this thread lacks it. Return
 * false if nothing is recorded; otherwise timed_detach follows. */
static bool
timed_attach(PyThreadState **token)
{
    PyThreadState *state = PyGILState_GetThisThreadState();
    *token = NULL;
    if (state == NULL || pcu_is_finalizing()) {
        return false;
    }
    if (pcu_thread_attached() == NULL) {
        PyEval_RestoreThread(state);
        *token = state;
    }
    if (!timeline.on && *token != NULL) {
        (void)PyEval_SaveThread();
    }
    return timeline.on;
}

/* Restore the lock as timed_attach found it. */
static void
timed_detach(PyThreadState *token)
{
    if (token != NULL) {
        (void)PyEval_SaveThread();
    }
}

/* Begin a call with the interpreter lock. Return false if it is not recorded. */
static bool
call_open(timed_call *call, span_kind kind, const char *routine, CUstream stream,
          size_t bytes)
{
    call->active = timed_attach(&call->token);
    if (call->active) {
        call->span = (timed_span){.kind = kind,
                                  .routine = routine,
                                  .stream = stream,
                                  .bytes = bytes,
                                  .site = pcu_call_site(timeline.st),
                                  .thread = PyThread_get_thread_ident(),
                                  .context = -1,
                                  .kernel = -1};
    }
    return call->active;
}

static void
timeline_enter(timed_call *call, span_kind kind, const char *routine, CUstream stream,
               size_t bytes)
{
    if (call_open(call, kind, routine, stream, bytes)) {
        call_start(call);
    }
}

/* Store a span whose call has returned. */
static void
call_store(timed_call *call, CUresult status)
{
    timed_span *span = &call->span;
    timed_context *context = NULL;
    if (call->generation != timeline.generation || !timeline.on) {
        return; /* the timeline has ended; its events are gone */
    }
    if (span->context >= 0) {
        context = &timeline.contexts[span->context];
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
    const timed_span *stored = timeline_add(span);
    if (span->behind != NULL && stored != NULL) {
        context->waiting++;
    }
    else if (span->behind != NULL) {
        event_give_back(context, span->before);
        event_give_back(context, span->behind);
    }
}

static CUresult
timeline_leave(timed_call *call, CUresult status)
{
    timed_span *span = &call->span;
    if (!call->active) {
        return status;
    }
    span->end = pcu_nanoseconds();
    if (span->behind != NULL && status == CUDA_SUCCESS && !span->failed &&
        timeline.plain.EventRecord(span->behind, span->stream) != CUDA_SUCCESS) {
        span->failed = true;
    }
    pcu_lock(call->thread);
    call_store(call, status);
    timed_detach(call->token);
    return status;
}

/* -- kernels ----------------------------------------------------------------------- */

/* Kernels of arrays are called "kernel" in their images. */
static void
kernel_rename(timed_kernel *kernel)
{
    const pcu_state *st = timeline.st;
    pcu_saved_error pending;
    if (strcmp(kernel->name, "kernel") != 0 || st->kernel_name_new == NULL) {
        return;
    }
    pcu_error_save(&pending);
    PyObject *found = st->kernel_name_new(kernel->function);
    const char *text = NULL;
    if (found != NULL) {
        text = PyUnicode_AsUTF8(found);
    }
    if (text != NULL) {
        (void)PyOS_snprintf(kernel->name, sizeof(kernel->name), "%s", text);
    }
    Py_XDECREF(found);
    PyErr_Clear(); /* the kernel keeps its name */
    pcu_error_restore(&pending);
}

static void
kernel_describe(timed_kernel *kernel)
{
    enum { SHARED_SIZE_BYTES = 1, LOCAL_SIZE_BYTES = 3, NUM_REGS = 4 };
    const struct pcu_drv *plain = &timeline.plain;
    const char *name = NULL;
    if (plain->FuncGetName(&name, kernel->function) != CUDA_SUCCESS || name == NULL) {
        name = "kernel";
    }
    (void)snprintf(kernel->name, sizeof(kernel->name), "%s", name);
    kernel_rename(kernel);
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
    for (size_t i = timeline.kernel_count; i-- > 0;) {
        const timed_kernel *kernel = &timeline.kernels[i];
        if (kernel->function == function && kernel->threads == threads &&
            kernel->shared == shared) {
            return (int)i;
        }
    }
    timed_kernel *array = timeline_grow(timeline.kernels, timeline.kernel_count,
                                        &timeline.kernel_room, sizeof(*array));
    if (array == NULL) {
        return -1;
    }
    timeline.kernels = array;
    timed_kernel *kernel = &array[timeline.kernel_count];
    *kernel =
        (timed_kernel){.function = function, .threads = threads, .shared = shared};
    kernel_describe(kernel);
    return (int)timeline.kernel_count++;
}

/* The bytes of an allocation that a word of the parameters points into, 0 for a number.
 * *base is its address. */
static size_t
argument_bytes(uint64_t word, uint64_t *base)
{
    CUdeviceptr start = 0;
    size_t size = 0;
    const pcu_memory_note *note = pcu_memory_find(word, NULL);
    if ((note == NULL || !note->recorded) && word >= 4096 &&
        timeline.plain.MemGetAddressRange(&start, &size, word) == CUDA_SUCCESS) {
        note = pcu_memory_find(start, NULL);
    }
    *base = start;
    if (note != NULL && note->recorded) {
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
        bool known = false;
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

static void
timeline_enter_launch(timed_call *call, const char *routine, CUfunction function,
                      const CUlaunchConfig *config, void **extra)
{
    if (!call_open(call, PCU_SPAN_KERNEL, routine, config->hStream, 0)) {
        return;
    }
    timed_span *span = &call->span;
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

static void
timeline_forget_functions(void)
{
    for (size_t i = 0; i < timeline.kernel_count; i++) {
        timeline.kernels[i].function = NULL;
    }
}

/* -- wrappers ---------------------------------------------------------------------- */

/* The column `span` of abi/functions.h says which functions have a wrapper. */
#define IF_SPAN_NO_SPAN PCU_DROP
#define IF_SPAN_OWN_SPAN PCU_DROP
#define IF_SPAN_SPAN(kind, stream, bytes) PCU_KEEP
#define SPAN_OF_SPAN(kind, stream, bytes) PCU_SPAN_##kind
#define STREAM_SPAN(kind, stream, bytes) (stream)
#define BYTES_SPAN(kind, stream, bytes) (bytes)

/* clang-format off */
#define TIMED_CALL(name, export, version, thread, caller, door, traits, span, ...)     \
    IF_SPAN_##span(                                                                    \
        static CUresult timed_##name(PCU_PARAMETERS(__VA_ARGS__))                      \
        {                                                                              \
            timed_call call;                                                           \
            timeline_enter(&call, SPAN_OF_##span, "cu" #name, STREAM_##span,           \
                           BYTES_##span);                                              \
            return timeline_leave(                                                     \
                &call, timeline.plain.name(PCU_ARGUMENTS(__VA_ARGS__)));               \
        })
/* clang-format on */
PCU_FUNCTIONS(TIMED_CALL)
#undef TIMED_CALL

static CUresult
timed_LaunchKernel(CUfunction f, unsigned int grid_x, unsigned int grid_y,
                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                   unsigned int block_z, unsigned int shared, CUstream stream,
                   void **params, void **extra)
{
    const CUlaunchConfig config = {.gridDimX = grid_x,
                                   .gridDimY = grid_y,
                                   .gridDimZ = grid_z,
                                   .blockDimX = block_x,
                                   .blockDimY = block_y,
                                   .blockDimZ = block_z,
                                   .sharedMemBytes = shared,
                                   .hStream = stream};
    timed_call call;
    timeline_enter_launch(&call, "cuLaunchKernel", f, &config, extra);
    return timeline_leave(
        &call, timeline.plain.LaunchKernel(f, grid_x, grid_y, grid_z, block_x, block_y,
                                           block_z, shared, stream, params, extra));
}

static CUresult
timed_LaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params,
                     void **extra)
{
    timed_call call;
    timeline_enter_launch(&call, "cuLaunchKernelEx", f, config, extra);
    return timeline_leave(&call,
                          timeline.plain.LaunchKernelEx(config, f, params, extra));
}

/* -- calls that end what the timeline uses ----------------------------------------- */

static CUresult
timed_ModuleUnload(CUmodule module)
{
    PyThreadState *token;
    if (timed_attach(&token)) {
        timeline_forget_functions();
        timed_detach(token);
    }
    return timeline.plain.ModuleUnload(module);
}

static CUresult
timed_CtxDestroy(CUcontext context)
{
    PyThreadState *token;
    if (timed_attach(&token)) {
        timeline_end_context(context);
        timed_detach(token);
    }
    return timeline.plain.CtxDestroy(context);
}

/* Other owners may keep the primary context alive. Then its next call is timed again.
 */
static void
timed_end_primary(CUdevice device)
{
    PyThreadState *token;
    if (timed_attach(&token)) {
        timeline_end_device(device);
        timed_detach(token);
    }
}

static CUresult
timed_DevicePrimaryCtxRelease(CUdevice device)
{
    timed_end_primary(device);
    return timeline.plain.DevicePrimaryCtxRelease(device);
}

static CUresult
timed_DevicePrimaryCtxReset(CUdevice device)
{
    timed_end_primary(device);
    return timeline.plain.DevicePrimaryCtxReset(device);
}

static void
timed_calls_install(void)
{
#define HAS_WRAPPER_NO_SPAN PCU_DROP
#define HAS_WRAPPER_OWN_SPAN PCU_KEEP
#define HAS_WRAPPER_SPAN(kind, stream, bytes) PCU_KEEP
#define INSTALL(name, export, version, thread, caller, door, traits, span, ...) \
    HAS_WRAPPER_##span(drv.name = timed_##name;)
    PCU_FUNCTIONS(INSTALL)
#undef INSTALL
}

/* -- begin and end ----------------------------------------------------------------- */

static void
recording_clear(void)
{
    for (size_t i = 0; i < timeline.span_count; i++) {
        free(timeline.spans[i].name);
    }
    for (size_t i = 0; i < timeline.context_count; i++) {
        free(timeline.contexts[i].unused);
    }
    free(timeline.spans);
    free(timeline.kernels);
    free(timeline.contexts);
    /* A thread may be inside of a wrapper, which calls the plain functions. */
    timeline = (struct timeline){
        .plain = timeline.plain, .st = timeline.st, .generation = timeline.generation};
}

/* -- the whole --------------------------------------------------------------------- */

static void
recording_begin(pcu_state *st, size_t most)
{
    recording_clear();
    timeline.st = st;
    timeline.most = most;
    timeline.plain = drv;
    timeline.generation++;
    timeline.on = true;
    timeline.start = pcu_nanoseconds();
    timed_calls_install();
}

static void
recording_finish(void)
{
    if (!timeline.on) {
        return;
    }
    timeline.end = pcu_nanoseconds();
    if (pcu_drv_info.state == PCU_DRV_READY) {
        drv = timeline.plain;
        for (size_t i = 0; i < timeline.context_count; i++) {
            if (context_lives(&timeline.contexts[i])) {
                timeline_context_end(i);
            }
        }
    }
    timeline.on = false;
}

PyDoc_STRVAR(timeline_begin_doc,
             "_timeline_begin($module, most, /)\n--\n\n"
             "Record the calls of the driver, at most so many.\n\n"
             "RuntimeError if a timeline is being recorded. It loads the driver.");

static PyObject *
timeline_begin(PyObject *m, PyObject *most)
{
    pcu_state *st = pcu_state_of_module(m);
    size_t count = PyLong_AsSize_t(most);
    if (count == (size_t)-1 && PyErr_Occurred()) {
        return NULL;
    }
    if (timeline.on) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a timeline is being recorded; end it first");
        return NULL;
    }
    CUresult status = pcu_drv_load();
    if (status != CUDA_SUCCESS) {
        pcu_raise(st, "cuInit", status);
        return NULL;
    }
    recording_begin(st, count);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(timeline_is_on_doc,
             "_timeline_is_on($module, /)\n--\n\n"
             "Return whether a timeline is being recorded.");

static PyObject *
timeline_is_on(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    return PyBool_FromLong(timeline.on);
}

static const char *
timeline_kind_name(span_kind kind)
{
#define KIND_NAME(kind_, name, on_device) name,
    static const char *const names[] = {PCU_SPAN_KINDS(KIND_NAME)};
#undef KIND_NAME
    return names[kind];
}

static PyObject *
timeline_span(const timed_span *span)
{
    const char *name = span->routine;
    int device = -1;
    if (span->name != NULL) {
        name = span->name;
    }
    if (span->context >= 0) {
        device = timeline.contexts[span->context].device;
    }
    return Py_BuildValue(
        "(ssKKKKkKIiii(III)(III)nO)", timeline_kind_name(span->kind), name,
        (unsigned long long)span->begin, (unsigned long long)span->end,
        (unsigned long long)span->device_begin, (unsigned long long)span->device_end,
        span->thread, (unsigned long long)(uintptr_t)span->stream,
        (unsigned int)span->site, span->context, device, span->kernel, span->grid[0],
        span->grid[1], span->grid[2], span->block[0], span->block[1], span->block[2],
        (Py_ssize_t)span->bytes, span->failed ? Py_True : Py_False);
}

static PyObject *
timeline_kernel(const timed_kernel *kernel)
{
    return Py_BuildValue("(sIIiiii)", kernel->name, kernel->threads, kernel->shared,
                         kernel->registers, kernel->static_shared, kernel->local,
                         kernel->blocks_per_multiprocessor);
}

static PyObject *
timeline_spans(void)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < timeline.span_count; i++) {
        PyObject *row = timeline_span(&timeline.spans[i]);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *
timeline_kernels(void)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < timeline.kernel_count; i++) {
        PyObject *row = timeline_kernel(&timeline.kernels[i]);
        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

PyDoc_STRVAR(
    timeline_finish_doc,
    "_timeline_finish($module, /)\n--\n\n"
    "End the timeline. Return its begin and end, the number of spans that were not\n"
    "kept, the spans and the kernels, as tuples.\n\n"
    "Times are nanoseconds of the monotonic clock. It waits for the work of all\n"
    "contexts that the timeline has seen.");

static PyObject *
timeline_finish(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    if (!timeline.on) {
        PyErr_SetString(PyExc_RuntimeError, "no timeline is being recorded");
        return NULL;
    }
    recording_finish();
    PyObject *spans = timeline_spans();
    PyObject *kernels = NULL;
    if (spans != NULL) {
        kernels = timeline_kernels();
    }
    PyObject *result = NULL;
    if (kernels != NULL) {
        result = Py_BuildValue("(KKnOO)", (unsigned long long)timeline.start,
                               (unsigned long long)timeline.end,
                               (Py_ssize_t)timeline.dropped, spans, kernels);
    }
    recording_clear();
    Py_XDECREF(spans);
    Py_XDECREF(kernels);
    return result;
}

/* -- spans of Python --------------------------------------------------------------- */

PyDoc_STRVAR(
    timeline_note_doc,
    "_timeline_note($module, kind, name, begin, end, /)\n--\n\n"
    "Add a span of the kind 'compile' or 'range' to the timeline, if one records.\n\n"
    "begin, end: nanoseconds of the monotonic clock.");

static PyObject *
timeline_note(PyObject *m, PyObject *args)
{
    const char *kind = NULL;
    const char *name = NULL;
    unsigned long long begin = 0;
    unsigned long long end = 0;
    if (!PyArg_ParseTuple(args, "ssKK:_timeline_note", &kind, &name, &begin, &end)) {
        return NULL;
    }
    if (!timeline.on) {
        Py_RETURN_NONE;
    }
    timed_span span = {.kind = PCU_SPAN_RANGE,
                       .routine = "",
                       .begin = begin,
                       .end = end,
                       .thread = PyThread_get_thread_ident(),
                       .site = pcu_call_site(pcu_state_of_module(m)),
                       .context = -1,
                       .kernel = -1};
    if (strcmp(kind, "compile") == 0) {
        span.kind = PCU_SPAN_COMPILE;
    }
    size_t size = strlen(name) + 1;
    span.name = malloc(size);
    if (span.name == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(span.name, name, size);
    if (timeline_add(&span) == NULL) {
        free(span.name);
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(timeline_clock_doc,
             "_timeline_clock($module, /)\n--\n\n"
             "Return the nanoseconds of the clock of timelines, 0 if none records.");

static PyObject *
timeline_clock(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    uint64_t now = 0;
    if (timeline.on) {
        now = pcu_nanoseconds();
    }
    return PyLong_FromUnsignedLongLong(now);
}

static PyMethodDef timeline_functions[] = {
    {"_timeline_begin", timeline_begin, METH_O, timeline_begin_doc},
    {"_timeline_finish", timeline_finish, METH_NOARGS, timeline_finish_doc},
    {"_timeline_is_on", timeline_is_on, METH_NOARGS, timeline_is_on_doc},
    {"_timeline_note", timeline_note, METH_VARARGS, timeline_note_doc},
    {"_timeline_clock", timeline_clock, METH_NOARGS, timeline_clock_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_timeline_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, timeline_functions);
}
