/* Launching kernels: what is checked before, and what a fault does afterwards.
 *
 * As on a GPU a launch that may start succeeds; a fault while it runs makes the context
 * fail every later call. The report of the fault is the last message (fault.h). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "device/api/entry.h"
#include "device/api/capture.h"
#include "device/api/context.h"
#include "device/machine/execution.h"
#include "device/api/faults.h"
#include "device/api/module.h"
#include "device/api/occupancy.h"
#include "device/api/stream.h"
#include "device/machine/wait.h"

#define STACK_PARAMETERS 4096
#define UNKNOWN_BYTE 0xCD

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };

typedef struct {
    unsigned int grid[3], block[3];
    unsigned int shared;
    int cooperative;
    void **parameters, **extra;
} request;

static CUresult
check_shape(const emu_function *function, const request *r)
{
    const emu_device_limits *limits = &function->object.context->device->limits;
    uint64_t threads = 1;

    for (int i = 0; i < 3; i++) {
        if (r->grid[i] == 0 || r->block[i] == 0 ||
            r->grid[i] > (unsigned)limits->grid_dim[i] ||
            r->block[i] > (unsigned)limits->block_dim[i]) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        threads *= r->block[i];
    }
    for (int i = 0; i < 3; i++) {
        const unsigned int *required = emu_kernel_get_info(function->kernel)->req_ntid;

        if (required[0] && r->block[i] != required[i]) {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (threads > (uint64_t)limits->threads_per_block ||
        r->shared > (unsigned)function->dynamic_shared) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (threads > emu_kernel_get_info(function->kernel)->max_threads) {
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    if (r->cooperative) {
        uint64_t resident =
            (uint64_t)limits->multiprocessors *
            (uint64_t)emu_occupancy_of(function, (int)threads, r->shared);
        uint64_t rows = (uint64_t)r->grid[0] * r->grid[1]; /* fits: 31 and 16 bits */

        if (rows > resident || rows * r->grid[2] > resident) {
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
        }
    }
    return CUDA_SUCCESS;
}

/* The buffer and size that the markers of `extra` give. */
static CUresult
read_extra(void *const *extra, const void **buffer, size_t *size)
{
    *buffer = NULL;
    *size = 0;
    for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            *buffer = extra[i + 1];
        }
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1]) {
            memcpy(size, extra[i + 1], sizeof(*size));
        }
        else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return CUDA_SUCCESS;
}

/* Copies the parameters into one block laid out as the kernel says. */
static CUresult
pack(const emu_kernel_info *info, const request *r, char *block)
{
    const void *buffer;
    size_t size, used = 0;
    CUresult status;

    if (r->parameters && r->extra) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    memset(block, 0, info->params_size);
    if (info->param_count == 0 && !r->extra) {
        return CUDA_SUCCESS;
    }
    if (r->parameters) {
        for (size_t i = 0; i < info->param_count; i++) {
            if (!r->parameters[i]) {
                return CUDA_ERROR_INVALID_VALUE;
            }
            memcpy(block + info->params[i].offset, r->parameters[i],
                   info->params[i].size);
        }
        return CUDA_SUCCESS;
    }
    if (!r->extra) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = read_extra(r->extra, &buffer, &size);
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
    if (!buffer && used > 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* A GPU takes a buffer that is too short; the rest is of an earlier launch. */
    if (size > 0) {
        memcpy(block, buffer, size);
    }
    memset(block + size, UNKNOWN_BYTE, used - size);
    return CUDA_SUCCESS;
}

/* Whether a code says that the launch could not start, or that the program cancelled
 * it, rather than that it failed: the context stays sound. */
static bool
is_refusal(CUresult status)
{
    return status == EMU_INTERRUPTED || status == CUDA_ERROR_INVALID_VALUE ||
           status == CUDA_ERROR_OUT_OF_MEMORY ||
           status == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
           status == CUDA_ERROR_NOT_SUPPORTED || status == CUDA_ERROR_NOT_PERMITTED ||
           status == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* A launch with all that it needs, its parameters behind it. */
typedef struct {
    emu_function *function;
    uint64_t serial; /* of the function */
    emu_launch launch;
    _Alignas(16) char parameters[];
} kept_launch;

/* Runs in a stream's turn, without the API lock. A fault makes the context fail. */
static CUresult
execute(const emu_function *function, const emu_launch *launch, emu_report *report)
{
    emu_context *context = function->object.context;
    CUresult status = (CUresult)atomic_load(&context->sticky);

    if (status == CUDA_SUCCESS) {
        status = emu_exec_run(context, launch, report);
    }
    if (status != CUDA_SUCCESS && !is_refusal(status)) {
        emu_context_fail(context, status);
    }
    return status;
}

/* -- launches in graphs: the function may have gone between capture and run */

static CUresult
begin_kept(const void *payload)
{
    const kept_launch *kept = payload;

    if (!emu_object_get_same(kept->function, EMU_FUNCTION, kept->serial)) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    emu_use(&kept->function->module->object);
    emu_use(&kept->function->object.context->object);
    return CUDA_SUCCESS;
}

static CUresult
run_kept(const void *payload, emu_context *context, emu_report *report)
{
    const kept_launch *kept = payload;
    emu_launch launch = kept->launch;
    CUresult status;

    launch.params = kept->parameters;
    status = execute(kept->function, &launch, report);
    if (status != CUDA_SUCCESS && !is_refusal(status)) {
        emu_context_fail(context, status);
    }
    return status;
}

static void
end_kept(const void *payload)
{
    const kept_launch *kept = payload;

    emu_done(&kept->function->module->object);
    emu_done(&kept->function->object.context->object);
}

static const char *
kept_name(const void *payload)
{
    const kept_launch *kept = payload;

    return emu_object_get_same(kept->function, EMU_FUNCTION, kept->serial)
               ? emu_kernel_get_info(kept->function->kernel)->name
               : "a function of an unloaded module";
}

static const emu_work launch_work = {.type = EMU_NODE_KERNEL,
                                     .begin = begin_kept,
                                     .run = run_kept,
                                     .end = end_kept,
                                     .name = kept_name};

/* -- launches now */

static CUresult
run(emu_function *function, emu_stream *stream, const emu_launch *launch)
{
    emu_module *module = function->module;
    emu_report report = {.text = ""};
    CUresult status;
    int token;

    emu_use(&module->object);
    token = emu_stream_begin(stream);
    if (token < 0) {
        status = emu_wait_status();
    }
    else {
        status = execute(function, launch, &report);
        emu_stream_end(stream, token);
    }
    emu_done(&module->object);
    if (report.text[0]) {
        emu_message_set("%s", report.text);
    }
    return is_refusal(status) ? status : CUDA_SUCCESS;
}

static CUresult
launch(emu_context *context, CUfunction handle, CUstream stream_handle,
       const request *r)
{
    emu_function *function = emu_object_get(handle, EMU_FUNCTION);
    emu_stream *stream = emu_stream_get(context, stream_handle);
    const emu_kernel_info *info;
    _Alignas(kept_launch) char on_stack[sizeof(kept_launch) + STACK_PARAMETERS];
    kept_launch *kept = (kept_launch *)(void *)on_stack;
    bool taken;
    CUresult status;

    if (!function || !stream || function->object.context != context) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    status = check_shape(function, r);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    info = emu_kernel_get_info(function->kernel);
    if (info->params_size > STACK_PARAMETERS) {
        kept = malloc(sizeof(*kept) + info->params_size);
        if (!kept) {
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    kept->function = function;
    kept->serial = function->object.serial;
    kept->launch = (emu_launch){.kernel = function->kernel,
                                .grid = {r->grid[0], r->grid[1], r->grid[2]},
                                .block = {r->block[0], r->block[1], r->block[2]},
                                .dynamic_shared = r->shared,
                                .params = kept->parameters,
                                .params_size = info->params_size,
                                .cooperative = r->cooperative};
    status = pack(info, r, kept->parameters);
    if (status == CUDA_SUCCESS) {
        status = emu_capture_take(stream, &launch_work, kept,
                                  sizeof(*kept) + info->params_size, &taken);
    }
    if (status == CUDA_SUCCESS && !taken) {
        status = run(function, stream, &kept->launch);
    }
    if ((char *)kept != on_stack) {
        free(kept);
    }
    return status;
}

CUresult
emu_cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
                   unsigned int gridDimZ, unsigned int blockDimX,
                   unsigned int blockDimY, unsigned int blockDimZ,
                   unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,
                   void **extra)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(LaunchKernel, hStream, &context);

    if (status == CUDA_SUCCESS) {
        request r = {.grid = {gridDimX, gridDimY, gridDimZ},
                     .block = {blockDimX, blockDimY, blockDimZ},
                     .shared = sharedMemBytes,
                     .parameters = kernelParams,
                     .extra = extra};

        status = launch(context, f, hStream, &r);
        status = emu_capture_failed(emu_stream_get(context, hStream), status);
    }
    return emu_leave(status);
}

CUresult
emu_cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX,
                              unsigned int gridDimY, unsigned int gridDimZ,
                              unsigned int blockDimX, unsigned int blockDimY,
                              unsigned int blockDimZ, unsigned int sharedMemBytes,
                              CUstream hStream, void **kernelParams)
{
    emu_context *context;
    CUresult status = EMU_ENTER_STREAM(LaunchCooperativeKernel, hStream, &context);

    if (status == CUDA_SUCCESS) {
        request r = {.grid = {gridDimX, gridDimY, gridDimZ},
                     .block = {blockDimX, blockDimY, blockDimZ},
                     .shared = sharedMemBytes,
                     .cooperative = 1,
                     .parameters = kernelParams};

        status = launch(context, f, hStream, &r);
        status = emu_capture_failed(emu_stream_get(context, hStream), status);
    }
    return emu_leave(status);
}

/* Attributes that change how a kernel runs here; the others are hints to hardware. */
static CUresult
read_attributes(const CUlaunchConfig *config, request *r)
{
    if (config->numAttrs > 0 && !config->attrs) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];

        if (attribute->id == ATTRIBUTE_COOPERATIVE) {
            r->cooperative = attribute->value.cooperative != 0;
        }
        else if (attribute->id == ATTRIBUTE_CLUSTER &&
                 (attribute->value.clusterDim.x > 1 ||
                  attribute->value.clusterDim.y > 1 ||
                  attribute->value.clusterDim.z > 1)) {
            return CUDA_ERROR_NOT_SUPPORTED; /* as attribute CLUSTER_LAUNCH says */
        }
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams,
                     void **extra)
{
    emu_context *context;
    CUstream stream = config ? config->hStream : NULL;
    CUresult status = EMU_ENTER_STREAM(LaunchKernelEx, stream, &context);

    if (status == CUDA_SUCCESS && !config) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        request r = {.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
                     .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
                     .shared = config->sharedMemBytes,
                     .parameters = kernelParams,
                     .extra = extra};

        status = read_attributes(config, &r);
        if (status == CUDA_SUCCESS) {
            status = launch(context, f, config->hStream, &r);
        }
        status = emu_capture_failed(emu_stream_get(context, config->hStream), status);
    }
    return emu_leave(status);
}
