/* Dynamic parallelism. See services.h.
 *
 * A function returns a code of the runtime's interface (cudaError_t). Each thread has a
 * last error; few threads ever have one, so they are in a list of the grid. */
#define _GNU_SOURCE
#include "device/machine/services/services.h"

#include <stdlib.h>
#include <string.h>

#include "device/compile/runtime.h"
#include "device/machine/warp/address_check.h"
#include "device/machine/warp/occupancy.h"
#include "device/machine/warp/report.h"

#define ERRORS(X)                                                                \
    X(SUCCESS, 0, "cudaSuccess", "no error")                                     \
    X(VALUE, 1, "cudaErrorInvalidValue", "invalid argument")                     \
    X(MEMORY, 2, "cudaErrorMemoryAllocation", "out of memory")                   \
    X(CONFIGURATION, 9, "cudaErrorInvalidConfiguration",                         \
      "invalid configuration argument")                                          \
    X(DEPTH, 65, "cudaErrorLaunchMaxDepthExceeded",                              \
      "launch would exceed maximum depth of nested launches")                    \
    X(PENDING, 69, "cudaErrorLaunchPendingCountExceeded",                        \
      "launch would exceed the limit of pending launches")                       \
    X(FUNCTION, 98, "cudaErrorInvalidDeviceFunction", "invalid device function") \
    X(DEVICE, 101, "cudaErrorInvalidDevice", "invalid device ordinal")           \
    X(LIMIT, 215, "cudaErrorUnsupportedLimit",                                   \
      "limit is not supported on this architecture")                             \
    X(HANDLE, 400, "cudaErrorInvalidResourceHandle", "invalid resource handle")  \
    X(RESOURCES, 701, "cudaErrorLaunchOutOfResources",                           \
      "too many resources requested for launch")                                 \
    X(UNKNOWN, 999, "cudaErrorUnknown", "unrecognized error code")

#define ERROR_MEMBER(member, code, name, text) ERROR_##member = (code),
typedef enum { ERRORS(ERROR_MEMBER) } error;
#undef ERROR_MEMBER

#define ERROR_ROW(member, code, name, text) {code, name, text},
static const struct {
    uint32_t code;
    const char *name, *text;
} error_rows[] = {ERRORS(ERROR_ROW)};
#undef ERROR_ROW

enum { ERROR_ROWS = sizeof error_rows / sizeof *error_rows, ERROR_ROOM = 96 };

/* The call of one lane. */
typedef struct {
    emu_warp *warp;
    const emu_insn *insn;
    unsigned lane;
    emu_child_work *work;
    CUcontext context;
    uint64_t result;
    uint64_t bad; /* an illegal address, which ends the launch, or 0 */
} call;

/* -- parameters and results -------------------------------------------------------- */

static uint64_t
cdp_parameter(const call *c, unsigned index)
{
    uint64_t value = 0;

    emu_service_parameter(c->warp, c->insn, index, c->lane, &value, sizeof value);
    return value;
}

static void
cdp_parameter_dim3(const call *c, unsigned index, unsigned out[3])
{
    memset(out, 0, 3 * sizeof *out);
    emu_service_parameter(c->warp, c->insn, index, c->lane, out, 3 * sizeof *out);
}

/* Write to the address in a parameter. */
static error
cdp_store(call *c, unsigned index, const void *value, size_t size)
{
    const uint64_t address = cdp_parameter(c, index);
    uint8_t *to = emu_address_generic(c->warp, c->lane, address, size);

    if (to == NULL) {
        c->bad = address;
        if (address == 0) {
            c->bad = 1;
        }
        return ERROR_VALUE;
    }
    memcpy(to, value, size);
    return ERROR_SUCCESS;
}

static error
cdp_store_int(call *c, unsigned index, int value)
{
    return cdp_store(c, index, &value, sizeof value);
}

static error
cdp_store_word(call *c, unsigned index, uint64_t value)
{
    return cdp_store(c, index, &value, sizeof value);
}

/* -- errors of threads ------------------------------------------------------------- */

static emu_thread_error **
cdp_find_error_locked(const call *c)
{
    const unsigned thread = c->warp->number * EMU_LANES + c->lane;
    emu_thread_error **at = &c->work->errors;

    while (*at && ((*at)->block != c->warp->block->number || (*at)->thread != thread)) {
        at = &(*at)->next;
    }
    return at;
}

static void
cdp_set_error(const call *c, error code)
{
    emu_thread_error **at;

    (void)pthread_mutex_lock(&c->work->lock);
    at = cdp_find_error_locked(c);
    if (!*at) {
        *at = calloc(1, sizeof **at); /* without memory the error is lost */
    }
    if (*at) {
        (*at)->block = c->warp->block->number;
        (*at)->thread = c->warp->number * EMU_LANES + c->lane;
        (*at)->code = (uint32_t)code;
    }
    (void)pthread_mutex_unlock(&c->work->lock);
}

/* The last error of the thread. `take` resets it. */
static error
cdp_get_error(const call *c, bool take)
{
    emu_thread_error **at;
    error code = ERROR_SUCCESS;

    (void)pthread_mutex_lock(&c->work->lock);
    at = cdp_find_error_locked(c);
    if (*at) {
        emu_thread_error *found = *at;

        code = (error)found->code;
        if (take) {
            *at = found->next;
            free(found);
        }
    }
    (void)pthread_mutex_unlock(&c->work->lock);
    return code;
}

static error
cdp_get_last_error(call *c)
{
    c->result = cdp_get_error(c, true);
    return ERROR_SUCCESS;
}

static error
cdp_peek_at_last_error(call *c)
{
    c->result = cdp_get_error(c, false);
    return ERROR_SUCCESS;
}

static emu_allocation *
cdp_create_error_texts(CUcontext context)
{
    emu_memory_request request = {.kind = EMU_MEMORY_GLOBAL,
                                  .size = (size_t)ERROR_ROWS * 2 * ERROR_ROOM,
                                  .device = context->device->ordinal,
                                  .context = context,
                                  .name = "of error texts"};
    emu_allocation *texts;
    char *to;

    if (emu_memory_allocate(&request, &texts) != CUDA_SUCCESS) {
        return NULL;
    }
    to = (char *)(uintptr_t)texts->base;
    for (size_t i = 0; i < ERROR_ROWS; i++, to += (size_t)2 * ERROR_ROOM) {
        memcpy(to, error_rows[i].name, strlen(error_rows[i].name) + 1);
        memcpy(to + ERROR_ROOM, error_rows[i].text, strlen(error_rows[i].text) + 1);
    }
    return texts;
}

/* The address of an error's name or text. The texts are in device memory, two places of
 * ERROR_ROOM bytes a row, and are created at the first call. */
static uint64_t
cdp_error_text(const call *c, bool name)
{
    emu_services *services = emu_services_get(c->context);
    const uint32_t code = (uint32_t)cdp_parameter(c, 0);
    uint64_t address = 0;
    size_t row = 0;

    while (row < ERROR_ROWS - 1 && error_rows[row].code != code) {
        row++; /* the last row is for unknown codes */
    }
    if (services == NULL) {
        return 0;
    }
    (void)pthread_mutex_lock(&services->lock);
    if (services->error_texts == NULL) {
        services->error_texts = cdp_create_error_texts(c->context);
    }
    if (services->error_texts) {
        address = services->error_texts->base + (row * 2 + !name) * ERROR_ROOM;
    }
    (void)pthread_mutex_unlock(&services->lock);
    return address;
}

static error
cdp_get_error_name(call *c)
{
    c->result = cdp_error_text(c, true);
    return ERROR_SUCCESS;
}

static error
cdp_get_error_string(call *c)
{
    c->result = cdp_error_text(c, false);
    return ERROR_SUCCESS;
}

/* -- launches ---------------------------------------------------------------------- */

/* The kernel with this function address, or NULL. */
static const emu_kernel *
cdp_find_kernel(const call *c, uint64_t address)
{
    const emu_program *program = c->warp->frame->func->program;
    const uint64_t offset = address - EMU_FUNC_WINDOW;

    for (size_t i = 0; offset % EMU_FUNC_STEP == 0 && i < program->kernel_count; i++) {
        if (program->kernels[i].func->number == offset / EMU_FUNC_STEP) {
            return &program->kernels[i];
        }
    }
    return NULL;
}

/* Whether the device can run the launch. */
static error
cdp_check_launch(const call *c, const emu_launch *launch)
{
    const emu_device_limits *limits = &c->context->device->limits;
    const emu_kernel_info *info;
    uint64_t threads = 1;

    if (launch->kernel == NULL) {
        return ERROR_FUNCTION;
    }
    info = &launch->kernel->info;
    for (unsigned i = 0; i < 3; i++) {
        if (!launch->grid[i] || launch->grid[i] > (unsigned)limits->grid_dim[i] ||
            !launch->block[i] || launch->block[i] > (unsigned)limits->block_dim[i] ||
            (info->req_ntid[0] && launch->block[i] != info->req_ntid[i])) {
            return ERROR_CONFIGURATION;
        }
        threads *= launch->block[i];
    }
    if (threads > (uint64_t)limits->threads_per_block) {
        return ERROR_CONFIGURATION;
    }
    if (threads > info->max_threads) {
        return ERROR_RESOURCES;
    }
    if (launch->dynamic_shared + info->shared_size > (size_t)limits->shared_per_block) {
        return ERROR_VALUE;
    }
    if (c->work->depth + 1 > EMU_MAX_NESTING) {
        return ERROR_DEPTH;
    }
    return ERROR_SUCCESS;
}

/* Give the thread memory for parameters. The thread writes to it before it launches. */
static error
cdp_get_buffer(call *c, const emu_launch *launch, size_t size)
{
    emu_memory_request request = {.kind = EMU_MEMORY_GLOBAL,
                                  .size = size ? size : 1,
                                  .device = c->context->device->ordinal,
                                  .context = c->context,
                                  .name = "of parameters"};
    emu_parameter_buffer *buffer = calloc(1, sizeof *buffer);

    if (buffer == NULL ||
        emu_memory_allocate(&request, &buffer->memory) != CUDA_SUCCESS) {
        free(buffer);
        return ERROR_MEMORY;
    }
    buffer->launch = *launch;
    buffer->address = buffer->memory->base;
    buffer->size = size;
    c->result = buffer->address;
    (void)pthread_mutex_lock(&c->work->lock);
    buffer->next = c->work->buffers;
    c->work->buffers = buffer;
    (void)pthread_mutex_unlock(&c->work->lock);
    return ERROR_SUCCESS;
}

static error
cdp_get_parameter_buffer_v2(call *c)
{
    emu_launch launch = {.kernel = cdp_find_kernel(c, cdp_parameter(c, 0))};
    error code;

    cdp_parameter_dim3(c, 1, launch.grid);
    cdp_parameter_dim3(c, 2, launch.block);
    launch.dynamic_shared = (uint32_t)cdp_parameter(c, 3);
    code = cdp_check_launch(c, &launch);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    return cdp_get_buffer(c, &launch, launch.kernel->info.params_size);
}

static error
cdp_get_parameter_buffer(call *c)
{
    const emu_launch none = {.kernel = NULL};
    const uint64_t align = cdp_parameter(c, 0), bytes = cdp_parameter(c, 1);

    if (align > 512 || bytes > 1 << 16) {
        return ERROR_VALUE;
    }
    return cdp_get_buffer(c, &none, (size_t)bytes);
}

static emu_parameter_buffer *
cdp_take_buffer_locked(emu_child_work *work, uint64_t address)
{
    emu_parameter_buffer **at = &work->buffers, *found;

    while (*at && (*at)->address != address) {
        at = &(*at)->next;
    }
    found = *at;
    if (found) {
        *at = found->next;
    }
    return found;
}

/* Queue a launch with the parameters in a buffer. */
static error
cdp_enqueue_launch(call *c, emu_parameter_buffer *buffer, const emu_launch *given,
                   uint64_t stream)
{
    emu_launch launch = *given;
    const size_t size = launch.kernel->info.params_size;
    char *block = calloc(1, size + 1);
    error code = ERROR_SUCCESS;

    if (block) {
        memcpy(block, (const char *)(uintptr_t)buffer->address,
               size < buffer->size ? size : buffer->size);
    }
    launch.params = block;
    launch.params_size = size;
    launch.last_hold = c->warp->block->grid->launch->last_hold;
    (void)pthread_mutex_lock(&c->work->lock);
    if (c->work->pending >= c->context->limits[EMU_LIMIT_PENDING_LAUNCH_COUNT]) {
        code = ERROR_PENDING;
    }
    else if (block == NULL || !emu_child_work_add_launch(c->work, &launch, stream)) {
        code = ERROR_MEMORY;
    }
    (void)pthread_mutex_unlock(&c->work->lock);
    free(block);
    return code;
}

static bool
cdp_is_stream(uint64_t stream)
{
    return stream <= 4 || stream >= EMU_STREAM_FIRST;
}

/* Launch with the parameters in the buffer at an address and free the buffer. `given`
 * is NULL if the buffer has the launch. */
static error
cdp_launch_buffer(call *c, uint64_t address, const emu_launch *given, uint64_t stream)
{
    emu_parameter_buffer *buffer;
    error code;

    (void)pthread_mutex_lock(&c->work->lock);
    buffer = cdp_take_buffer_locked(c->work, address);
    (void)pthread_mutex_unlock(&c->work->lock);
    if (buffer == NULL) {
        return ERROR_VALUE;
    }
    if (given == NULL) {
        given = &buffer->launch;
    }
    code = cdp_check_launch(c, given);
    if (code == ERROR_SUCCESS && !cdp_is_stream(stream)) {
        code = ERROR_HANDLE;
    }
    if (code == ERROR_SUCCESS) {
        code = cdp_enqueue_launch(c, buffer, given, stream);
    }
    (void)emu_memory_free(buffer->memory); /* it is live: only this file frees it */
    free(buffer);
    return code;
}

static error
cdp_launch_device_v2(call *c)
{
    return cdp_launch_buffer(c, cdp_parameter(c, 0), NULL, cdp_parameter(c, 1));
}

static error
cdp_launch_device(call *c)
{
    emu_launch launch = {.kernel = cdp_find_kernel(c, cdp_parameter(c, 0))};

    cdp_parameter_dim3(c, 2, launch.grid);
    cdp_parameter_dim3(c, 3, launch.block);
    launch.dynamic_shared = (uint32_t)cdp_parameter(c, 4);
    return cdp_launch_buffer(c, cdp_parameter(c, 1), &launch, cdp_parameter(c, 5));
}

/* -- streams and events: handles without effect, since all work runs in order ------ */

static error
cdp_create_handle(call *c, uint64_t flags)
{
    uint64_t handle;

    if (cdp_parameter(c, 1) != flags) {
        return ERROR_VALUE;
    }
    (void)pthread_mutex_lock(&c->work->lock);
    handle = EMU_STREAM_FIRST + c->work->handles++;
    (void)pthread_mutex_unlock(&c->work->lock);
    return cdp_store_word(c, 0, handle);
}

static error
cdp_stream_create(call *c)
{
    return cdp_create_handle(c, 1); /* cudaStreamNonBlocking, which kernels must pass */
}

static error
cdp_event_create(call *c)
{
    return cdp_create_handle(c,
                             2); /* cudaEventDisableTiming, which kernels must pass */
}

static bool
cdp_is_created(uint64_t handle)
{
    return handle >= EMU_STREAM_FIRST;
}

static error
cdp_destroy_handle(call *c)
{
    if (!cdp_is_created(cdp_parameter(c, 0))) {
        return ERROR_HANDLE;
    }
    return ERROR_SUCCESS;
}

static error
cdp_event_record(call *c)
{
    if (!cdp_is_created(cdp_parameter(c, 0)) || !cdp_is_stream(cdp_parameter(c, 1))) {
        return ERROR_HANDLE;
    }
    return ERROR_SUCCESS;
}

static error
cdp_stream_wait_event(call *c)
{
    if (!cdp_is_stream(cdp_parameter(c, 0)) || !cdp_is_created(cdp_parameter(c, 1))) {
        return ERROR_HANDLE;
    }
    return ERROR_SUCCESS;
}

/* -- memory ------------------------------------------------------------------------ */

static error
cdp_enqueue_copy(call *c, const emu_child_copy *copy, uint64_t stream)
{
    bool queued;

    if (!cdp_is_stream(stream)) {
        return ERROR_HANDLE;
    }
    if (!emu_child_copy_check(copy)) {
        return ERROR_VALUE;
    }
    (void)pthread_mutex_lock(&c->work->lock);
    queued = emu_child_work_add_copy(c->work, copy, stream);
    (void)pthread_mutex_unlock(&c->work->lock);
    if (!queued) {
        return ERROR_MEMORY;
    }
    return ERROR_SUCCESS;
}

static error
cdp_memcpy_async(call *c)
{
    const emu_child_copy copy = {.target = cdp_parameter(c, 0),
                                 .source = cdp_parameter(c, 1),
                                 .width = (size_t)cdp_parameter(c, 2),
                                 .height = 1};

    if (copy.source == 0) {
        return ERROR_VALUE;
    }
    return cdp_enqueue_copy(c, &copy, cdp_parameter(c, 4));
}

static error
cdp_memcpy_2d_async(call *c)
{
    const emu_child_copy copy = {.target = cdp_parameter(c, 0),
                                 .target_pitch = (size_t)cdp_parameter(c, 1),
                                 .source = cdp_parameter(c, 2),
                                 .source_pitch = (size_t)cdp_parameter(c, 3),
                                 .width = (size_t)cdp_parameter(c, 4),
                                 .height = (size_t)cdp_parameter(c, 5)};

    if (copy.source == 0) {
        return ERROR_VALUE;
    }
    return cdp_enqueue_copy(c, &copy, cdp_parameter(c, 7));
}

static error
cdp_memset_async(call *c)
{
    const emu_child_copy copy = {.target = cdp_parameter(c, 0),
                                 .value = (int)(uint8_t)cdp_parameter(c, 1),
                                 .width = (size_t)cdp_parameter(c, 2),
                                 .height = 1};

    return cdp_enqueue_copy(c, &copy, cdp_parameter(c, 3));
}

static error
cdp_memset_2d_async(call *c)
{
    const emu_child_copy copy = {.target = cdp_parameter(c, 0),
                                 .target_pitch = (size_t)cdp_parameter(c, 1),
                                 .value = (int)(uint8_t)cdp_parameter(c, 2),
                                 .width = (size_t)cdp_parameter(c, 3),
                                 .height = (size_t)cdp_parameter(c, 4)};

    return cdp_enqueue_copy(c, &copy, cdp_parameter(c, 5));
}

static error
cdp_malloc(call *c)
{
    const uint64_t size = cdp_parameter(c, 1);
    const uint64_t address = emu_heap_allocate(c->context, size);

    if (size && !address) {
        return ERROR_MEMORY;
    }
    return cdp_store_word(c, 0, address);
}

static error
cdp_free(call *c)
{
    const uint64_t address = cdp_parameter(c, 0);

    if (address && !emu_heap_free(c->context, address)) {
        return ERROR_VALUE;
    }
    return ERROR_SUCCESS;
}

/* -- queries ----------------------------------------------------------------------- */

static error
cdp_get_device(call *c)
{
    return cdp_store_int(c, 0, c->context->device->ordinal);
}

static error
cdp_get_device_count(call *c)
{
    return cdp_store_int(c, 0, emu_device_count);
}

static error
cdp_device_get_attribute(call *c)
{
    const emu_device *device = emu_device_get((CUdevice)(int32_t)cdp_parameter(c, 2));
    int value;

    if (device == NULL) {
        return ERROR_DEVICE;
    }
    if (!emu_device_attribute(device, (unsigned)cdp_parameter(c, 1), &value)) {
        return ERROR_VALUE;
    }
    return cdp_store_int(c, 0, value);
}

static error
cdp_device_get_limit(call *c)
{
    const uint32_t limit = (uint32_t)cdp_parameter(c, 1);

    if (limit >= EMU_LIMITS) {
        return ERROR_LIMIT;
    }
    return cdp_store_word(c, 0, c->context->limits[limit]);
}

static error
cdp_device_get_cache_config(call *c)
{
    return cdp_store_int(c, 0, (int)c->context->cache_config);
}

static error
cdp_device_get_shared_config(call *c)
{
    return cdp_store_int(c, 0, (int)c->context->shared_config);
}

static error
cdp_runtime_get_version(call *c)
{
    return cdp_store_int(c, 0, EMU_DRIVER_VERSION);
}

/* struct cudaFuncAttributes */
typedef struct {
    uint64_t shared_size, const_size, local_size;
    int32_t max_threads, registers, ptx_version, binary_version, cache_mode;
    int32_t max_dynamic_shared, carveout;
    int32_t others[22]; /* fields of clusters, and reserved ones */
} func_attributes;

static error
cdp_func_get_attributes(call *c)
{
    const emu_kernel *kernel = cdp_find_kernel(c, cdp_parameter(c, 1));
    const emu_device *device = c->context->device;
    func_attributes value;

    if (kernel == NULL) {
        return ERROR_FUNCTION;
    }
    value = (func_attributes){.shared_size = kernel->info.shared_size,
                              .const_size = kernel->info.const_size,
                              .local_size = kernel->info.local_size,
                              .max_threads = (int32_t)kernel->info.max_threads,
                              .registers = (int32_t)kernel->info.registers,
                              .ptx_version = (int32_t)kernel->info.target,
                              .binary_version = device->major * 10 + device->minor,
                              .max_dynamic_shared = device->limits.shared_per_block -
                                                    (int32_t)kernel->info.shared_size,
                              .carveout = -1};
    return cdp_store(c, 0, &value, sizeof value);
}

static error
cdp_get_occupancy(call *c)
{
    const emu_device *device = c->context->device;
    const emu_kernel *kernel = cdp_find_kernel(c, cdp_parameter(c, 1));
    const int threads = (int32_t)cdp_parameter(c, 2);

    if (kernel == NULL) {
        return ERROR_FUNCTION;
    }
    if (threads <= 0) {
        return ERROR_VALUE;
    }
    if (threads > device->limits.threads_per_block) {
        return cdp_store_int(c, 0, 0);
    }
    return cdp_store_int(c, 0,
                         emu_occupancy_blocks(device, &kernel->info, threads,
                                              (size_t)cdp_parameter(c, 3)));
}

/* -- the table --------------------------------------------------------------------- */

static const struct {
    error (*function)(call *c);
    bool gives; /* a result other than its error code */
} rows[EMU_SERVICE_COUNT] = {
    [EMU_RUNTIME_GetParameterBufferV2] = {cdp_get_parameter_buffer_v2, true},
    [EMU_RUNTIME_GetParameterBuffer] = {cdp_get_parameter_buffer, true},
    [EMU_RUNTIME_LaunchDeviceV2] = {cdp_launch_device_v2, false},
    [EMU_RUNTIME_LaunchDevice] = {cdp_launch_device, false},
    [EMU_RUNTIME_GetLastError] = {cdp_get_last_error, true},
    [EMU_RUNTIME_PeekAtLastError] = {cdp_peek_at_last_error, true},
    [EMU_RUNTIME_GetErrorName] = {cdp_get_error_name, true},
    [EMU_RUNTIME_GetErrorString] = {cdp_get_error_string, true},
    [EMU_RUNTIME_StreamCreateWithFlags] = {cdp_stream_create, false},
    [EMU_RUNTIME_StreamDestroy] = {cdp_destroy_handle, false},
    [EMU_RUNTIME_StreamWaitEvent] = {cdp_stream_wait_event, false},
    [EMU_RUNTIME_EventCreateWithFlags] = {cdp_event_create, false},
    [EMU_RUNTIME_EventRecord] = {cdp_event_record, false},
    [EMU_RUNTIME_EventRecordWithFlags] = {cdp_event_record, false},
    [EMU_RUNTIME_EventDestroy] = {cdp_destroy_handle, false},
    [EMU_RUNTIME_MemcpyAsync] = {cdp_memcpy_async, false},
    [EMU_RUNTIME_Memcpy2DAsync] = {cdp_memcpy_2d_async, false},
    [EMU_RUNTIME_MemsetAsync] = {cdp_memset_async, false},
    [EMU_RUNTIME_Memset2DAsync] = {cdp_memset_2d_async, false},
    [EMU_RUNTIME_Malloc] = {cdp_malloc, false},
    [EMU_RUNTIME_Free] = {cdp_free, false},
    [EMU_RUNTIME_GetDevice] = {cdp_get_device, false},
    [EMU_RUNTIME_GetDeviceCount] = {cdp_get_device_count, false},
    [EMU_RUNTIME_DeviceGetAttribute] = {cdp_device_get_attribute, false},
    [EMU_RUNTIME_DeviceGetLimit] = {cdp_device_get_limit, false},
    [EMU_RUNTIME_DeviceGetCacheConfig] = {cdp_device_get_cache_config, false},
    [EMU_RUNTIME_DeviceGetSharedMemConfig] = {cdp_device_get_shared_config, false},
    [EMU_RUNTIME_RuntimeGetVersion] = {cdp_runtime_get_version, false},
    [EMU_RUNTIME_FuncGetAttributes] = {cdp_func_get_attributes, false},
    [EMU_RUNTIME_OccupancyMaxActiveBlocksPerMultiprocessor] = {cdp_get_occupancy,
                                                               false},
    [EMU_RUNTIME_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags] = {
        cdp_get_occupancy, false}};

const emu_insn *
emu_cdp_call(emu_warp *warp, const emu_insn *insn)
{
    const unsigned row = insn->call->service;
    emu_grid *grid = warp->block->grid;

    for (uint32_t left = warp->mask; left; left &= left - 1) {
        call c = {.warp = warp,
                  .insn = insn,
                  .lane = (unsigned)__builtin_ctz(left),
                  .work = grid->work,
                  .context = grid->context};
        const error code = rows[row].function(&c);

        if (c.bad) {
            return emu_fault(warp, insn, CUDA_ERROR_ILLEGAL_ADDRESS, c.lane, c.bad,
                             "cuda%s writes its result to 0x%llx, outside of memory",
                             emu_service_name(row), (unsigned long long)c.bad);
        }
        if (code != ERROR_SUCCESS) {
            cdp_set_error(&c, code);
        }
        emu_service_return(warp, insn, c.lane, rows[row].gives ? c.result : code);
    }
    return insn + 1;
}
