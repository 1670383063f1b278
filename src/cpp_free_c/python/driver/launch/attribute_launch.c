/* The call of cuLaunchKernelEx, and the explanation of its errors. See
 * attribute_launch.h. */
#include "python/driver/launch/attribute_launch.h"

#include "python/driver/current_context.h"
#include "python/driver/launched.h"

#define SHAPE_FORMAT "%U with grid (%u, %u, %u), block (%u, %u, %u), %u bytes"
#define SHAPE_VALUES(self, s)                                              \
    (self)->name, (s)->grid[0], (s)->grid[1], (s)->grid[2], (s)->block[0], \
        (s)->block[1], (s)->block[2], (s)->shared

static unsigned long long
launch_product(const unsigned int dims[3])
{
    return (unsigned long long)dims[0] * dims[1] * dims[2];
}

/* Raise for a cooperative launch that does not fit: say how many blocks fit. */
static int
launch_explain_cooperative(pcu_function *self, const pcu_launch_shape *s,
                           CUresult status)
{
    unsigned long long threads = launch_product(s->block);
    int each = 0;
    int multiprocessors = self->ctx->limits.multiprocessors;
    if (drv.OccupancyMaxActiveBlocksPerMultiprocessor(&each, self->handle, (int)threads,
                                                      s->shared) != CUDA_SUCCESS) {
        each = 0;
    }
    return pcu_raise_detail(
        self->st, "cuLaunchKernelEx", status,
        SHAPE_FORMAT
        " of dynamic shared memory has %llu blocks, which a cooperative launch needs "
        "on the device together; %d fit (%d on each of %d multiprocessors); use fewer "
        "or smaller blocks, and loop in the kernel",
        SHAPE_VALUES(self, s), launch_product(s->grid), each * multiprocessors, each,
        multiprocessors);
}

/* The largest cluster of this kernel, 0 if it is not known. */
static int
launch_largest_cluster(pcu_function *self, const CUlaunchConfig *config)
{
    int blocks = 0;
    CUlaunchConfig asked = *config;
    asked.numAttrs = 0;
    asked.attrs = NULL;
    if (drv.OccupancyMaxPotentialClusterSize(&blocks, self->handle, &asked) !=
        CUDA_SUCCESS) {
        return 0;
    }
    return blocks;
}

/* Raise for a launch with clusters that the driver refused. */
static int
launch_explain_cluster(pcu_function *self, const pcu_launch_shape *s,
                       const CUlaunchAttributeValue *value,
                       const CUlaunchConfig *config, CUresult status)
{
    static const char axes[] = "xyz";
    unsigned int cluster[3] = {value->clusterDim.x, value->clusterDim.y,
                               value->clusterDim.z};
    for (int i = 0; i < 3; i++) {
        if (cluster[i] == 0 || s->grid[i] % cluster[i] != 0) {
            return pcu_raise_detail(
                self->st, "cuLaunchKernelEx", status,
                SHAPE_FORMAT
                " of dynamic shared memory, cluster (%u, %u, %u): %c of the grid must "
                "be a multiple of %c of the cluster, which must be 1 or more",
                SHAPE_VALUES(self, s), cluster[0], cluster[1], cluster[2], axes[i],
                axes[i]);
        }
    }
    int most = launch_largest_cluster(self, config);
    return pcu_raise_detail(
        self->st, "cuLaunchKernelEx", status,
        SHAPE_FORMAT
        " of dynamic shared memory, cluster (%u, %u, %u) has clusters of %llu blocks; "
        "clusters of at most %d blocks of this shape fit on this device; clusters of "
        "more than 8 blocks also need "
        "set_attribute(function_attribute.NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)",
        SHAPE_VALUES(self, s), cluster[0], cluster[1], cluster[2],
        launch_product(cluster), most);
}

/* How to get a software device with clusters. */
static const char *
launch_capability_hint(void)
{
    if (pcu_drv_info.device != NULL) {
        return "; set PYCUDA_EMULATOR_CAPABILITY=9.0 for the software device";
    }
    return "";
}

static int
launch_explain(pcu_function *self, const pcu_launch_shape *s,
               pcu_launch_attributes *attributes, const CUlaunchConfig *config,
               CUresult status)
{
    if (status == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) {
        return launch_explain_cooperative(self, s, status);
    }
    const CUlaunchAttributeValue *cluster =
        pcu_launch_attribute_find(attributes, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    if (cluster != NULL && status == CUDA_ERROR_NOT_SUPPORTED) {
        return pcu_raise_detail(self->st, "cuLaunchKernelEx", status,
                                "%U: this device has no clusters; they need compute "
                                "capability 9.0%s",
                                self->name, launch_capability_hint());
    }
    if (cluster != NULL && (status == CUDA_ERROR_INVALID_VALUE ||
                            status == CUDA_ERROR_INVALID_CLUSTER_SIZE ||
                            status == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)) {
        return launch_explain_cluster(self, s, cluster, config, status);
    }
    return pcu_raise_detail(self->st, "cuLaunchKernelEx", status,
                            SHAPE_FORMAT " of dynamic shared memory, %u attributes%s",
                            SHAPE_VALUES(self, s), attributes->count,
                            pcu_launch_hint(self, status));
}

int
pcu_launch_run_attributes(pcu_function *self, const pcu_launch_shape *s,
                          pcu_launch_attributes *attributes, void *params, size_t size)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    void **given = NULL;
    if (attributes->count == 0) {
        return pcu_launch_run(self, s, params, size);
    }
    if (pcu_launch_ready(self, s, params, size) < 0) {
        return -1;
    }
    CUlaunchConfig config = {.gridDimX = s->grid[0],
                             .gridDimY = s->grid[1],
                             .gridDimZ = s->grid[2],
                             .blockDimX = s->block[0],
                             .blockDimY = s->block[1],
                             .blockDimZ = s->block[2],
                             .sharedMemBytes = s->shared,
                             .hStream = s->stream,
                             .attrs = attributes->items,
                             .numAttrs = attributes->count};
    if (size != 0) {
        given = extra;
    }
    CUresult status;
    do {
        PCU_STATUS(status, LaunchKernelEx, (&config, self->handle, NULL, given));
    } while (status != CUDA_SUCCESS && pcu_current_context_repair(self->st, status) &&
             pcu_context_record_lives(self->ctx));
    if (status == CUDA_SUCCESS) {
        return pcu_launched(self->st, self->ctx, PCU_LAUNCH_KERNEL, self->handle,
                            self->launch_name, s);
    }
    return launch_explain(self, s, attributes, &config, status);
}
