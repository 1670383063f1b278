/* Launching kernels: the checks before a run, and the effect of a fault after it.
 *
 * As on a GPU, a launch that may start succeeds, and a fault while it runs makes every
 * later call in the context fail. The report of the fault is the last message
 * (message.h). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/base/site.h"
#include "device/sync_check/stream_check.h"
#include "device/machine/grid/execution.h"
#include "device/machine/warp/wait.h"
#include "device/api/entry/capture.h"
#include "device/api/entry/context_stack.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"
#include "device/api/module/launch_work.h"
#include "device/api/module/module.h"
#include "device/api/stream/stream.h"
#include "device/api/entry/users.h"

#define STACK_PARAMETERS 4096
#define UNKNOWN_BYTE 0xCD

enum { CLUSTER_MOST = 16 };

/* -- checks ------------------------------------------------------------------------ */

/* Check that all blocks of a cooperative launch fit on the device together. */
static CUresult
launch_check_cooperative(const emu_function *function, const emu_launch_request *r,
                         uint64_t threads)
{
    const emu_device_limits *limits = &function->object.context->device->limits;
    uint64_t resident = (uint64_t)limits->multiprocessors *
                        (uint64_t)emu_occupancy_of(function, (int)threads, r->shared);
    uint64_t rows = (uint64_t)r->grid[0] * r->grid[1]; /* fits: 31 and 16 bits */

    if (rows > resident || rows * r->grid[2] > resident) {
        emu_error_log_say(
            "A cooperative launch of this kernel has %llu blocks at most.",
            (unsigned long long)resident);
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

/* Check the clusters of a launch. A kernel that requires clusters has them without an
 * attribute too. */
static CUresult
launch_check_clusters(const emu_function *function, emu_launch_request *r)
{
    const emu_kernel_info *info = emu_kernel_get_info(function->kernel);
    unsigned int size = 1;

    if (r->cluster[0] == 0) {
        memcpy(r->cluster, info->req_cluster, sizeof(r->cluster));
    }
    if (r->cluster[0] == 0) {
        return CUDA_SUCCESS;
    }
    for (int i = 0; i < 3; i++) {
        if (info->req_cluster[0] != 0 && r->cluster[i] != info->req_cluster[i]) {
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
        if (r->cluster[i] == 0 || r->cluster[i] > CLUSTER_MOST ||
            r->grid[i] % r->cluster[i] != 0) {
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
        size *= r->cluster[i];
    }
    if (size > emu_occupancy_cluster_most(function)) {
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    if (size > 1 && function->object.context->device->major < 9) {
        return CUDA_ERROR_NOT_SUPPORTED; /* as the attribute CLUSTER_LAUNCH says */
    }
    return CUDA_SUCCESS;
}

/* Say which dimension of a launch is wrong. */
static CUresult
launch_refuse_shape(const emu_launch_request *r, const emu_device_limits *limits, int i)
{
    const char axis = "xyz"[i];

    if (r->grid[i] == 0 || r->grid[i] > (unsigned)limits->grid_dim[i]) {
        emu_error_log_say("The grid is %u in %c. It must be between 1 and %d.",
                          r->grid[i], axis, limits->grid_dim[i]);
    }
    else {
        emu_error_log_say("The block is %u in %c. It must be between 1 and %d.",
                          r->block[i], axis, limits->block_dim[i]);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static CUresult
launch_check(const emu_function *function, const emu_launch_request *r)
{
    const emu_kernel_info *info = emu_kernel_get_info(function->kernel);
    const emu_device_limits *limits = &function->object.context->device->limits;
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        if (r->grid[i] == 0 || r->block[i] == 0 ||
            r->grid[i] > (unsigned)limits->grid_dim[i] ||
            r->block[i] > (unsigned)limits->block_dim[i]) {
            return launch_refuse_shape(r, limits, i);
        }
        if (info->req_ntid[0] != 0 && r->block[i] != info->req_ntid[i]) {
            emu_error_log_say("The kernel requires blocks of (%u, %u, %u) threads.",
                              info->req_ntid[0], info->req_ntid[1], info->req_ntid[2]);
            return CUDA_ERROR_INVALID_VALUE;
        }
        threads *= r->block[i];
    }
    if (threads > (uint64_t)limits->threads_per_block || threads > info->max_threads) {
        emu_error_log_say(
            "The block has %llu threads. The device allows %d, the kernel %u.",
            (unsigned long long)threads, limits->threads_per_block, info->max_threads);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (r->shared > (unsigned)function->dynamic_shared) {
        emu_error_log_say(
            "The launch has %u bytes of dynamic shared memory. The function allows %d.",
            r->shared, function->dynamic_shared);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (r->cooperative) {
        return launch_check_cooperative(function, r, threads);
    }
    return CUDA_SUCCESS;
}

/* -- parameters -------------------------------------------------------------------- */

/* Read the buffer and its size from the markers of `extra`. */
static CUresult
launch_read_extra(void *const *extra, const void **buffer, size_t *size)
{
    *buffer = NULL;
    *size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            *buffer = extra[i + 1];
        }
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1] != NULL) {
            memcpy(size, extra[i + 1], sizeof(*size));
        }
        else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult
launch_pack_parameters(const emu_kernel_info *info, void *const *parameters,
                       char *block)
{
    for (size_t i = 0; i < info->param_count; i++) {
        const emu_param *param = &info->params[i];

        if (parameters[i] == NULL) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(block + param->offset, parameters[i], param->size);
    }
    return CUDA_SUCCESS;
}

static CUresult
launch_pack_extra(const emu_kernel_info *info, void *const *extra, char *block)
{
    const void *buffer;
    size_t size, used = 0;
    CUresult status = launch_read_extra(extra, &buffer, &size);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (info->param_count > 0) {
        const emu_param *last = &info->params[info->param_count - 1];

        used = last->offset + last->size;
    }
    if (size > used) {
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES; /* as on an H200 */
    }
    if (buffer == NULL && used > 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (size > 0) {
        memcpy(block, buffer, size);
    }
    /* A GPU accepts a buffer that is too short; the rest comes from an earlier launch.
     */
    memset(block + size, UNKNOWN_BYTE, used - size);
    return CUDA_SUCCESS;
}

/* Copy the parameters into one block that is laid out as the kernel expects. */
static CUresult
launch_pack(const emu_kernel_info *info, const emu_launch_request *r, char *block)
{
    if (r->parameters != NULL && r->extra != NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memset(block, 0, info->params_size);
    if (r->extra != NULL) {
        return launch_pack_extra(info, r->extra, block);
    }
    if (info->param_count == 0) {
        return CUDA_SUCCESS;
    }
    if (r->parameters == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return launch_pack_parameters(info, r->parameters, block);
}

/* -- running ----------------------------------------------------------------------- */

/* Whether a code means that the launch could not start, or that the program cancelled
 * it. Then the context has not failed. */
static bool
launch_is_refusal(CUresult status)
{
    return status == EMU_INTERRUPTED || status == CUDA_ERROR_INVALID_VALUE ||
           status == CUDA_ERROR_OUT_OF_MEMORY ||
           status == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
           status == CUDA_ERROR_INVALID_CLUSTER_SIZE ||
           status == CUDA_ERROR_NOT_SUPPORTED || status == CUDA_ERROR_NOT_PERMITTED ||
           status == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* The memory that a word of the parameters points to, or NULL. */
static const emu_allocation *
launch_memory(const void *params, size_t index)
{
    uint64_t word;

    memcpy(&word, (const char *)params + index * sizeof(word), sizeof(word));
    return emu_memory_holding(word, 1);
}

/* -- launches as work: their function may be unloaded before they run -------------- */

static bool
payload_has_function(const emu_launch_payload *work)
{
    return emu_object_get_same(work->function, EMU_FUNCTION, work->serial) != NULL;
}

static CUresult
payload_begin(const void *payload)
{
    const emu_launch_payload *work = payload;

    if (!payload_has_function(work)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_users_add(&work->function->module->object);
    emu_users_add(&work->function->object.context->object);
    return CUDA_SUCCESS;
}

/* Note the memory that parameters point to. */
static void
payload_use(const void *payload, emu_operation *operation)
{
    const emu_launch_payload *work = payload;
    const size_t words = work->launch.params_size / sizeof(uint64_t);

    if (!payload_has_function(work)) {
        return; /* a graph that cannot run */
    }
    for (size_t i = 0; i < words; i++) {
        const emu_allocation *memory = launch_memory(work->parameters, i);

        if (memory != NULL) {
            emu_operation_may_use(operation, memory);
        }
    }
    emu_operation_name(operation, emu_kernel_get_info(work->function->kernel)->name);
}

/* Make a context fail, and the function's too: a graph may run in another one. Another
 * thread that sees the failure finds the message. */
static CUresult
payload_failed(const emu_function *function, emu_context *context, CUresult status,
               emu_report *report)
{
    if (status != CUDA_SUCCESS && !launch_is_refusal(status)) {
        emu_lock();
        emu_message_set_report(report);
        emu_unlock();
        report->text[0] = 0;
        emu_context_fail(function->object.context, status);
        emu_context_fail(context, status);
    }
    return status;
}

static CUresult
payload_run(const void *payload, emu_context *context, emu_report *report)
{
    const emu_launch_payload *work = payload;
    const emu_function *function = work->function;
    emu_operation *operation = emu_operation_present();
    emu_launch launch = work->launch;
    emu_flight *left = NULL;
    CUresult status = emu_context_status(function->object.context);

    launch.params = work->parameters;
    launch.last_hold = emu_memory_work_hold;
    if (operation != NULL) {
        launch.uses = emu_operation_kernel(operation,
                                           emu_kernel_get_info(function->kernel)->name);
    }
    if (status == CUDA_SUCCESS) {
        status = emu_execution_run(function->object.context, &launch, report,
                                   report->may_leave ? &left : NULL);
    }
    if (status == EMU_GOES_ON) {
        report->left = left;
        return status;
    }
    return payload_failed(function, context, status, report);
}

static CUresult
payload_go_on(void *left, const void *payload, emu_context *context, emu_report *report)
{
    const emu_launch_payload *work = payload;

    const CUresult status = emu_execution_go_on(left, report);

    return payload_failed(work->function, context, status, report);
}

static void
payload_end(const void *payload)
{
    const emu_launch_payload *work = payload;

    emu_users_remove(&work->function->module->object);
    emu_users_remove(&work->function->object.context->object);
}

static const char *
payload_name(const void *payload)
{
    const emu_launch_payload *work = payload;

    if (!payload_has_function(work)) {
        return "a function of an unloaded module";
    }
    return emu_kernel_get_info(work->function->kernel)->name;
}

const emu_work emu_launch_work = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                                  .begin = payload_begin,
                                  .use = payload_use,
                                  .run = payload_run,
                                  .go_on = payload_go_on,
                                  .end = payload_end,
                                  .name = payload_name,
                                  .describe = emu_kernel_node_describe,
                                  .compare = emu_kernel_node_compare,
                                  .draw = emu_kernel_node_draw};

/* -- launches ---------------------------------------------------------------------- */

size_t
emu_launch_payload_size(const emu_function *function)
{
    const emu_kernel_info *info = emu_kernel_get_info(function->kernel);
    const size_t pointers = info->param_count + EMU_LAUNCH_EXTRA_WORDS;

    return sizeof(emu_launch_payload) + emu_launch_round_up(info->params_size) +
           pointers * sizeof(void *);
}

static _Thread_local uint64_t launch_inputs; /* of the next launch */

void
emu_set_inputs(uint64_t parameters)
{
    launch_inputs = parameters;
}

CUresult
emu_launch_fill(emu_function *function, const emu_launch_request *r,
                emu_launch_payload *work)
{
    const emu_kernel_info *info = emu_kernel_get_info(function->kernel);
    emu_launch_request own = *r;
    CUresult status = launch_check(function, r);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = launch_check_clusters(function, &own);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    work->function = function;
    work->serial = function->object.serial;
    work->context = function->object.context;
    work->attributes = (emu_launch_attributes){.domain_map = {0, 1}};
    for (unsigned int i = 0; i < r->attribute_count; i++) {
        emu_launch_attribute_store(&work->attributes, &r->attributes[i]);
    }
    work->attributes.cooperative = r->cooperative;
    work->packed = r->extra != NULL;
    work->launch =
        (emu_launch){.kernel = function->kernel,
                     .grid = {r->grid[0], r->grid[1], r->grid[2]},
                     .block = {r->block[0], r->block[1], r->block[2]},
                     .cluster = {own.cluster[0], own.cluster[1], own.cluster[2]},
                     .dynamic_shared = r->shared,
                     .params = work->parameters,
                     .params_size = info->params_size,
                     .site = emu_site_now(),
                     .cooperative = r->cooperative,
                     .inputs = launch_inputs};
    launch_inputs = 0;
    return launch_pack(info, r, work->parameters);
}

CUresult
emu_launch_apply(emu_launch_payload *work, const emu_launch_attributes *attributes)
{
    emu_launch *launch = &work->launch;
    emu_launch_request r = {.shared = (unsigned int)launch->dynamic_shared,
                            .cooperative = attributes->cooperative != 0};

    memcpy(r.grid, launch->grid, sizeof(r.grid));
    memcpy(r.block, launch->block, sizeof(r.block));
    memcpy(r.cluster, attributes->cluster, sizeof(r.cluster));
    CUresult status = launch_check(work->function, &r);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    status = launch_check_clusters(work->function, &r);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    work->attributes = *attributes;
    launch->cooperative = r.cooperative;
    memcpy(launch->cluster, r.cluster, sizeof(launch->cluster));
    return CUDA_SUCCESS;
}

/* Submit a launch. `work` has room for it. */
static CUresult
launch_fill_and_submit(emu_stream *stream, emu_function *function,
                       const emu_launch_request *r, emu_launch_payload *work,
                       size_t size)
{
    CUresult status = emu_launch_fill(function, r, work);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (work->attributes.priority == 0) {
        work->attributes.priority = stream->priority;
    }
    status = emu_queue_submit(stream, &emu_launch_work, work, size, EMU_SUBMIT);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (r->early) {
        emu_capture_launched_early(stream);
    }
    return CUDA_SUCCESS;
}

static CUresult
launch_submit(emu_stream *stream, CUfunction handle, const emu_launch_request *r)
{
    _Alignas(emu_launch_payload) char
        on_stack[sizeof(emu_launch_payload) + STACK_PARAMETERS];
    emu_launch_payload *work = (emu_launch_payload *)(void *)on_stack;
    emu_context *context = stream->object.context;
    emu_function *function;
    CUresult status = emu_function_find_in(context, handle, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (function->object.context != context) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    const size_t size = emu_launch_payload_size(function);
    if (size > sizeof(on_stack)) {
        work = malloc(size);
        if (work == NULL) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    status = launch_fill_and_submit(stream, function, r, work, size);
    if ((char *)work != on_stack) {
        free(work);
    }
    return status;
}

/* A launch that a captured stream refuses ends the capture. */
static CUresult
launch(emu_stream *stream, CUfunction function, const emu_launch_request *r)
{
    return emu_capture_failed(stream, launch_submit(stream, function, r));
}

CUresult
emu_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                   unsigned int gridDimZ, unsigned int blockDimX,
                   unsigned int blockDimY, unsigned int blockDimZ,
                   unsigned int sharedMemBytes, emu_stream *stream, void **kernelParams,
                   void **extra)
{
    const emu_launch_request r = {.grid = {gridDimX, gridDimY, gridDimZ},
                                  .block = {blockDimX, blockDimY, blockDimZ},
                                  .shared = sharedMemBytes,
                                  .parameters = kernelParams,
                                  .extra = extra};

    return launch(stream, f, &r);
}

CUresult
emu_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                              unsigned int gridDimY, unsigned int gridDimZ,
                              unsigned int blockDimX, unsigned int blockDimY,
                              unsigned int blockDimZ, unsigned int sharedMemBytes,
                              emu_stream *stream, void **kernelParams)
{
    const emu_launch_request r = {.grid = {gridDimX, gridDimY, gridDimZ},
                                  .block = {blockDimX, blockDimY, blockDimZ},
                                  .shared = sharedMemBytes,
                                  .cooperative = 1,
                                  .parameters = kernelParams};

    return launch(stream, f, &r);
}

/* Read the attributes that change how a kernel runs here; the others are hints to
 * hardware. */
static CUresult
launch_read_attributes(const CUlaunchConfig *config, emu_launch_request *r)
{
    if (config->numAttrs > 0 && config->attrs == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    r->attributes = config->attrs;
    r->attribute_count = config->numAttrs;
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];

        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
            r->cooperative = attribute->value.cooperative != 0;
        }
        else if (attribute->id ==
                 CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
            r->early = attribute->value.programmaticStreamSerializationAllowed != 0;
        }
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            r->cluster[0] = attribute->value.clusterDim.x;
            r->cluster[1] = attribute->value.clusterDim.y;
            r->cluster[2] = attribute->value.clusterDim.z;
            if (r->cluster[0] == 0) {
                return CUDA_ERROR_INVALID_CLUSTER_SIZE; /* as on an H200 */
            }
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuLaunchKernelEx(emu_context *context, const CUlaunchConfig *config, CUfunction f,
                     void **kernelParams, void **extra)
{
    emu_stream *stream;

    if (config == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    CUresult status = emu_stream_find(context, config->hStream, &stream);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    emu_launch_request r = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared = config->sharedMemBytes,
        .parameters = kernelParams,
        .extra = extra};
    status = launch_read_attributes(config, &r);
    if (status != CUDA_SUCCESS) {
        return emu_capture_failed(stream, status);
    }
    return launch(stream, f, &r);
}
