/* The launch of a generated kernel: see kernel_launch.h. */

#include "python/array/ops/kernel_launch.h"

#include "driver/stream_use.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/launched.h"

/* unsigned __int128, with the extension accepted. */
__extension__ typedef unsigned __int128 launch_wide_number;

int
pcu_kernel_put_divisor(pcu_argument_buffer *params, bool wide, size_t length)
{
    uint64_t multiplier;
    int shift = 0;
    while (shift < 63 && ((uint64_t)1 << shift) < length) {
        shift++;
    }
    uint64_t rest = ((uint64_t)1 << shift) - length;
    if (wide) {
        multiplier = (uint64_t)(((launch_wide_number)rest << 64) / length + 1);
    }
    else {
        multiplier = (rest << 32) / length + 1;
    }
    if (pcu_kernel_put_index(params, wide, (ptrdiff_t)length) < 0 ||
        pcu_kernel_put_index(params, wide, (ptrdiff_t)multiplier) < 0) {
        return -1;
    }
    return pcu_kernel_put_index(params, wide, shift);
}

/* Enqueue the kernel. `early`: it may be launched before the kernel ahead has ended. */
static int
kernel_launch_run(pcu_state *st, CUfunction kernel, const CUlaunchConfig *config,
                  bool early, pcu_argument_buffer *params)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params->data,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &params->used, CU_LAUNCH_PARAM_END};
    if (pcu_captured_launch(params->data, params->used, kernel, NULL) < 0) {
        return -1;
    }
    pcu_context_record *rec = pcu_ctx_current; /* the kernel's context */
    CUstream stream = config->hStream;
    CUresult status;
    pcu_stream_note(stream); /* making the result may have run other calls */
    do {
        if (early) {
            PCU_STATUS(status, LaunchKernelEx, (config, kernel, NULL, extra));
        }
        else {
            PCU_STATUS(status, LaunchKernel,
                       (kernel, config->gridDimX, 1, 1, config->blockDimX, 1, 1,
                        config->sharedMemBytes, stream, NULL, extra));
        }
    } while (status != CUDA_SUCCESS && pcu_current_context_repair(st, status) &&
             rec == pcu_ctx_current);
    if (status == CUDA_SUCCESS) {
        const pcu_launch_shape shape = {.grid = {config->gridDimX, 1, 1},
                                        .block = {config->blockDimX, 1, 1},
                                        .shared = config->sharedMemBytes,
                                        .stream = stream};
        return pcu_launched(st, rec, PCU_LAUNCH_ARRAY, kernel, NULL, &shape);
    }
    if (early) {
        return pcu_raise(st, "cuLaunchKernelEx", status);
    }
    return pcu_raise(st, "cuLaunchKernel", status);
}

int
pcu_kernel_launch(pcu_state *st, CUfunction kernel, size_t blocks, unsigned int threads,
                  CUstream stream, pcu_argument_buffer *params)
{
    return pcu_kernel_launch_shared(st, kernel, blocks, threads, 0, stream, params);
}

static int
kernel_check_blocks(size_t blocks)
{
    if (blocks <= INT32_MAX) {
        return 0;
    }
    PyErr_Format(PyExc_OverflowError,
                 "the kernel needs %zu blocks, which is more than a launch can have",
                 blocks);
    return -1;
}

int
pcu_kernel_launch_shared(pcu_state *st, CUfunction kernel, size_t blocks,
                         unsigned int threads, unsigned int shared, CUstream stream,
                         pcu_argument_buffer *params)
{
    const CUlaunchConfig config = {.gridDimX = (unsigned int)blocks,
                                   .blockDimX = threads,
                                   .sharedMemBytes = shared,
                                   .hStream = stream};
    if (kernel_check_blocks(blocks) < 0) {
        return -1;
    }
    return kernel_launch_run(st, kernel, &config, false, params);
}

/* Whether the image of a kernel that calls follow() has the instructions for it. */
static bool
kernel_can_follow(CUfunction kernel)
{
    enum { PTX_VERSION = 5, SM_90 = 90 };
    int version = 0;
    return drv.FuncGetAttribute(&version, PTX_VERSION, kernel) == CUDA_SUCCESS &&
           version >= SM_90;
}

int
pcu_kernel_launch_following(pcu_state *st, CUfunction kernel, size_t blocks,
                            unsigned int threads, CUstream stream,
                            pcu_argument_buffer *params)
{
    CUlaunchAttribute attribute = {
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1};
    const CUlaunchConfig config = {.gridDimX = (unsigned int)blocks,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = stream,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    if (pcu_captures == NULL || blocks > PCU_FOLLOWING_BLOCKS_MOST ||
        !kernel_can_follow(kernel)) {
        return pcu_kernel_launch(st, kernel, blocks, threads, stream, params);
    }
    int rc =
        kernel_launch_run(st, kernel, &config, pcu_captured_follows(stream), params);
    if (rc == 0) {
        pcu_captured_note_following(stream);
    }
    return rc;
}
