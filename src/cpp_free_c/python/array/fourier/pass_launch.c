/* The launch of one kernel of a Fourier transform: see pass_launch.h. */

#include "python/array/fourier/pass_launch.h"

#include "python/array/ops/kernel_launch.h"

/* The parameters in the order of pycuda/_array/sources/fourier.py. */
static int
launch_pack(const pcu_fourier_pass *pass, const CUdeviceptr *addresses,
            pcu_argument_buffer *params)
{
    const uint64_t words[] = {
        addresses[pass->source],
        addresses[pass->target],
        addresses[pass->factor],
        pass->load_spacing,
        pass->load_count,
        (uint64_t)pass->load_step,
        (uint64_t)pass->load_part,
        pass->store_spacing,
        pass->store_count,
        (uint64_t)pass->store_step,
        (uint64_t)pass->store_part,
        pass->whole,
        pass->span,
    };
    const int64_t tail[] = {(int64_t)pass->lines, pass->which};
    if (pcu_kernel_put(params, words, sizeof(words), 8) < 0 ||
        pcu_kernel_put(params, &pass->scale, sizeof(double), 8) < 0 ||
        pcu_kernel_put(params, tail, sizeof(tail), 8) < 0) {
        return -1;
    }
    for (int k = 0; k < pass->ndim; k++) {
        if (pcu_kernel_put_index(params, 1, (ptrdiff_t)pass->shape[k]) < 0 ||
            pcu_kernel_put_index(params, 1, pass->load[k]) < 0 ||
            pcu_kernel_put_index(params, 1, pass->store[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

int
pcu_fourier_pass_launch(pcu_state *st, const pcu_fourier_pass *pass,
                        const CUdeviceptr *addresses, CUstream stream)
{
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = launch_pack(pass, addresses, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(st, pass->kernel, pass->blocks, pass->key.threads,
                               stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}
