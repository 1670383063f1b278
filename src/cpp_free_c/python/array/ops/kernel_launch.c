/* The launch of a generated kernel: see kernel_launch.h. */

#include "python/array/ops/kernel_launch.h"

#include "driver/stream_use.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"

/* unsigned __int128, with the extension accepted. */
__extension__ typedef unsigned __int128 launch_wide_number;

int
pcu_kernel_put_divisor(pcu_argument_buffer *params, int wide, size_t length)
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

int
pcu_kernel_launch(pcu_state *st, CUfunction kernel, size_t blocks, unsigned int threads,
                  CUstream stream, pcu_argument_buffer *params)
{
    return pcu_kernel_launch_shared(st, kernel, blocks, threads, 0, stream, params);
}

int
pcu_kernel_launch_shared(pcu_state *st, CUfunction kernel, size_t blocks,
                         unsigned int threads, unsigned int shared, CUstream stream,
                         pcu_argument_buffer *params)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params->data,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &params->used, CU_LAUNCH_PARAM_END};
    if (blocks > INT32_MAX) {
        PyErr_Format(
            PyExc_OverflowError,
            "the kernel needs %zu blocks, which is more than a launch can have",
            blocks);
        return -1;
    }
    if (pcu_captured_launch(params->data, params->used, kernel, NULL) < 0) {
        return -1;
    }
    const pcu_context_record *rec = pcu_ctx_current; /* the kernel's context */
    CUresult status;
    pcu_stream_note(stream); /* making the result may have run other calls */
    do {
        PCU_STATUS(status, LaunchKernel,
                   (kernel, (unsigned int)blocks, 1, 1, threads, 1, 1, shared, stream,
                    NULL, extra));
    } while (status != CUDA_SUCCESS && pcu_current_context_repair(st, status) &&
             rec == pcu_ctx_current);
    if (status != CUDA_SUCCESS) {
        return pcu_raise(st, "cuLaunchKernel", status);
    }
    return 0;
}
