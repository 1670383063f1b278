/* The second half of the transform of real elements: see mirror.h. */

#include "python/array/fourier/mirror.h"

#include "python/array/fourier/form.h"
#include "python/array/fourier/pass_launch.h"
#include "python/array/memory.h"
#include "python/array/ops/kernel_table.h"

/* Add an axis before those with shorter strides, so that neighbouring threads store
 * neighbouring elements. */
static void
mirror_add_axis(pcu_fourier_mirror *mirror, size_t length, ptrdiff_t stride,
                bool is_mirrored, bool is_half)
{
    int place = mirror->ndim++;
    while (place > 0 && Py_ABS(mirror->strides[place - 1]) < Py_ABS(stride)) {
        mirror->shape[place] = mirror->shape[place - 1];
        mirror->strides[place] = mirror->strides[place - 1];
        mirror->mirrored[place] = mirror->mirrored[place - 1];
        if (mirror->axis == place - 1) {
            mirror->axis = place;
        }
        place--;
    }
    mirror->shape[place] = length;
    mirror->strides[place] = stride;
    mirror->mirrored[place] = (unsigned char)is_mirrored;
    if (is_half) {
        mirror->axis = place;
    }
}

static void
mirror_fill(const pcu_fourier_step *steps, int count, const pcu_gpuarray *out,
            pcu_fourier_mirror *mirror)
{
    unsigned char transformed[PCU_MAX_NDIM] = {0};
    uint64_t bits = out->address;
    for (int i = 0; i < count; i++) {
        transformed[steps[i].axis] = 1;
    }
    mirror->type = out->type;
    mirror->axis = -1;
    mirror->ndim = 0;
    for (int k = 0; k < out->ndim; k++) {
        if (out->shape[k] > 1) {
            bits |= (uint64_t)out->strides[k];
            mirror_add_axis(mirror, out->shape[k], out->strides[k], transformed[k],
                            k == steps[0].axis);
        }
    }
    mirror->is_loose = bits % pcu_gpuarray_itemsize(out) != 0;
}

/* Check the array and enqueue. PCU_KERNEL_MADE: nothing was enqueued. */
static int
mirror_attempt(pcu_state *st, pcu_context *ctx, const pcu_fourier_step *steps,
               int count, pcu_gpuarray *out, CUstream stream)
{
    CUdeviceptr addresses[PCU_FOURIER_BUFFERS] = {0};
    pcu_fourier_mirror mirror;
    pcu_fourier_pass pass;
    if (pcu_gpuarray_check(out, ctx) < 0) {
        return -1;
    }
    mirror_fill(steps, count, out, &mirror);
    pcu_fourier_mirror_fill(&mirror, &pass);
    int rc = pcu_kernel_table_get(st, ctx, &pass.key, &pass.kernel);
    if (rc != 0) {
        return rc;
    }
    addresses[PCU_FOURIER_OUT] = out->address;
    return pcu_fourier_pass_launch(st, &pass, addresses, stream);
}

int
pcu_fourier_mirror_half(pcu_state *st, const pcu_fourier_step *steps, int count,
                        pcu_gpuarray *out, CUstream stream)
{
    pcu_fourier_forms forms;
    if (out->count == 0 || out->shape[steps[0].axis] < 3) {
        return 0;
    }
    pcu_context *ctx = pcu_context_launch_borrow(st);
    if (ctx == NULL) {
        return -1;
    }
    Py_INCREF(ctx); /* its kernels stay loaded until the launch */
    pcu_fourier_forms_read(&forms, out, out);
    int rc = mirror_attempt(st, ctx, steps, count, out, stream);
    while (rc == PCU_KERNEL_MADE) {
        rc = pcu_fourier_forms_check(&forms, out, out);
        if (rc == 0) {
            rc = mirror_attempt(st, ctx, steps, count, out, stream);
        }
    }
    Py_DECREF(ctx);
    return rc;
}
