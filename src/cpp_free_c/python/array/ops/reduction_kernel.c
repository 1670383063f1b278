/* The kernels of a reduction: see reduction_kernel.h. */

#include "python/array/ops/reduction_kernel.h"

#include "python/array/ops/kernel_launch.h"
#include "python/array/ops/kernel_table.h"

enum {
    SECOND_STAGE_THREADS = 256,
    JOIN_BY_WARP = 128 /* results from which a warp joins each */
};

/* -- parameters -------------------------------------------------------------------- */

static int
reduce_put_lengths(const pcu_reduction_plan *plan, const pcu_reduction_axes *axes,
                   pcu_argument_buffer *params)
{
    for (int d = 0; d < axes->ndim; d++) {
        if (pcu_kernel_put_index(params, plan->wide, (ptrdiff_t)axes->shape[d]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_put_strides(const pcu_reduction_plan *plan, const pcu_reduction_axes *axes,
                   int input, pcu_argument_buffer *params)
{
    for (int d = 0; d < axes->ndim; d++) {
        if (pcu_kernel_put_index(params, plan->wide, axes->strides[input][d]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_put_axes(const pcu_reduction_plan *plan, pcu_argument_buffer *params)
{
    if (reduce_put_lengths(plan, &plan->kept, params) < 0 ||
        reduce_put_lengths(plan, &plan->reduced, params) < 0) {
        return -1;
    }
    for (int i = 0; i < plan->nin; i++) {
        if (reduce_put_strides(plan, &plan->kept, i, params) < 0 ||
            reduce_put_strides(plan, &plan->reduced, i, params) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
reduce_put_size(const pcu_reduction_plan *plan, size_t value,
                pcu_argument_buffer *params)
{
    return pcu_kernel_put_index(params, plan->wide, (ptrdiff_t)value);
}

static int
reduce_put_divisor(const pcu_reduction_plan *plan, pcu_argument_buffer *params)
{
    return pcu_kernel_put(params, &plan->divisor, sizeof(double), sizeof(double));
}

/* The inputs, the target, counts, the divisor, the axes. */
static int
reduce_pack(const pcu_reduction_plan *plan, CUdeviceptr target,
            pcu_argument_buffer *params)
{
    for (int i = 0; i < plan->nin; i++) {
        if (pcu_kernel_put_address(params, plan->inputs[i]->address) < 0) {
            return -1;
        }
    }
    if (pcu_kernel_put_address(params, target) < 0 ||
        reduce_put_size(plan, plan->kept.count, params) < 0 ||
        reduce_put_size(plan, plan->reduced.count, params) < 0 ||
        reduce_put_size(plan, plan->segments, params) < 0 ||
        reduce_put_size(plan, plan->segment, params) < 0 ||
        reduce_put_divisor(plan, params) < 0) {
        return -1;
    }
    return reduce_put_axes(plan, params);
}

/* The accumulators, the target, counts, the divisor. */
static int
reduce_pack_join(const pcu_reduction_plan *plan, CUdeviceptr partial,
                 CUdeviceptr target, pcu_argument_buffer *params)
{
    if (pcu_kernel_put_address(params, partial) < 0 ||
        pcu_kernel_put_address(params, target) < 0 ||
        reduce_put_size(plan, plan->kept.count, params) < 0 ||
        reduce_put_size(plan, plan->segments, params) < 0) {
        return -1;
    }
    return reduce_put_divisor(plan, params);
}

static void
reduce_key(const pcu_reduction_plan *plan, int variant, pcu_kernel_key *key)
{
    memset(key, 0, sizeof(*key));
    key->family = PCU_FAMILY_REDUCTION;
    key->operation = (uint16_t)plan->op;
    key->inputs = (uint8_t)plan->nin;
    key->outputs = 1;
    for (int i = 0; i < plan->nin; i++) {
        key->types[i] = plan->inputs[i]->type;
    }
    key->types[plan->nin] = (uint8_t)plan->result;
    key->compute = (uint8_t)plan->compute;
    key->wide = (uint8_t)plan->wide;
    key->variant = (uint8_t)variant;
}

/* -- the kernel that reduces elements ---------------------------------------------- */

int
pcu_reduction_kernel_get(const pcu_reduction_plan *plan, pcu_context *ctx,
                         CUfunction *kernel)
{
    pcu_kernel_key key;
    reduce_key(plan, plan->variant, &key);
    key.ndim = (uint8_t)plan->reduced.ndim;
    key.vector = (uint8_t)plan->vector;
    key.kept_ndim = (uint8_t)plan->kept.ndim;
    key.partial = plan->segments > 1;
    key.streamed = (uint8_t)plan->streamed;
    key.threads = (uint16_t)plan->threads;
    key.lanes = (uint16_t)plan->lanes;
    key.rounds = (uint32_t)plan->rounds;
    return pcu_kernel_table_get(plan->st, ctx, &key, kernel);
}

int
pcu_reduction_kernel_launch(const pcu_reduction_plan *plan, CUfunction kernel,
                            CUdeviceptr target, CUstream stream)
{
    pcu_argument_buffer params;
    pcu_argument_buffer_init(&params);
    int rc = reduce_pack(plan, target, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, plan->blocks,
                               (unsigned int)plan->threads, stream, &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}

/* -- the kernel that joins segments ------------------------------------------------ */

size_t
pcu_reduction_join_lanes(const pcu_reduction_plan *plan)
{
    if (plan->kept.count >= JOIN_BY_WARP) {
        return 32;
    }
    return SECOND_STAGE_THREADS;
}

int
pcu_reduction_join_get(const pcu_reduction_plan *plan, pcu_context *ctx,
                       CUfunction *kernel)
{
    pcu_kernel_key key;
    int variant = PCU_VARIANT_JOIN_BY_BLOCK;
    size_t lanes = pcu_reduction_join_lanes(plan);
    if (lanes < SECOND_STAGE_THREADS) {
        variant = PCU_VARIANT_JOIN_BY_ROW;
    }
    reduce_key(plan, variant, &key);
    key.threads = SECOND_STAGE_THREADS;
    key.lanes = (uint16_t)lanes;
    return pcu_kernel_table_get(plan->st, ctx, &key, kernel);
}

int
pcu_reduction_join_launch(const pcu_reduction_plan *plan, CUfunction kernel,
                          CUdeviceptr partial, CUdeviceptr target, CUstream stream)
{
    pcu_argument_buffer params;
    size_t jobs = SECOND_STAGE_THREADS / pcu_reduction_join_lanes(plan);
    size_t blocks = plan->kept.count / jobs + (plan->kept.count % jobs != 0);
    pcu_argument_buffer_init(&params);
    int rc = reduce_pack_join(plan, partial, target, &params);
    if (rc == 0) {
        rc = pcu_kernel_launch(plan->st, kernel, blocks, SECOND_STAGE_THREADS, stream,
                               &params);
    }
    pcu_argument_buffer_free(&params);
    return rc;
}
