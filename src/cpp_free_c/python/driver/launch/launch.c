/* Checking the shape of a launch, and the call of cuLaunchKernel. See launch.h.
 *
 * The interpreter lock is held throughout, unless the launch may have to wait for a
 * place in the queue or for another thread's driver call: see PCU_STATUS. */
#include "python/driver/launch/launch.h"

#include <limits.h>

#include "driver/stream_use.h"
#include "python/driver/current_context.h"
#include "python/driver/graph_resources.h"
#include "python/driver/launched.h"
#include "python/driver/resource.h"
#include "python/driver/texture/reference.h"
#include "python/support/recording.h"

static int
launch_bad_shape(pcu_function *self, const char *routine, const char *what,
                 const unsigned int dims[3], const char *why, unsigned long long limit)
{
    return pcu_raise_detail(self->st, routine, CUDA_ERROR_INVALID_VALUE,
                            "%s (%u, %u, %u) of %U %s %llu", what, dims[0], dims[1],
                            dims[2], self->name, why, limit);
}

/* Raise for a shape that does not fit, naming the limit. This is the cold path. An
 * error about the block names cuFuncSetBlockShape: programs written for PyCUDA match
 * it. */
static int
launch_explain_shape(pcu_function *self, const pcu_launch_shape *s)
{
    static const char *const routine = "cuFuncSetBlockShape";
    static const char *const why[3] = {
        "is outside the device's limits: x must be 1 to",
        "is outside the device's limits: y must be 1 to",
        "is outside the device's limits: z must be 1 to",
    };
    const pcu_device_limits *device = &self->ctx->limits;
    unsigned long long threads =
        (unsigned long long)s->block[0] * s->block[1] * s->block[2];
    for (int i = 0; i < 3; i++) {
        if (s->block[i] == 0 || s->block[i] > (unsigned int)device->max_block[i]) {
            return launch_bad_shape(self, routine, "block", s->block, why[i],
                                    (unsigned long long)device->max_block[i]);
        }
        if (s->grid[i] == 0 || s->grid[i] > (unsigned int)device->max_grid[i]) {
            return launch_bad_shape(self, "cuLaunchKernel", "grid", s->grid, why[i],
                                    (unsigned long long)device->max_grid[i]);
        }
    }
    if (threads > (unsigned long long)self->max_threads) {
        return launch_bad_shape(self, routine, "block", s->block,
                                "has too many threads; this kernel takes at most",
                                (unsigned long long)self->max_threads);
    }
    return pcu_raise_detail(
        self->st, "cuLaunchKernel", CUDA_ERROR_INVALID_VALUE,
        "%U asks for %u bytes of dynamic shared memory beside its %zu static ones; "
        "that is more than a block of this device can have",
        self->name, s->shared, self->static_shared);
}

/* Whether the shape is within the limits of the device and the kernel. A dimension of 0
 * wraps to a huge number here. */
static inline bool
launch_shape_fits(const pcu_function *self, const pcu_launch_shape *s)
{
    const pcu_device_limits *device = &self->ctx->limits;
    unsigned long long threads =
        (unsigned long long)s->block[0] * s->block[1] * s->block[2];
    bool fits = threads <= (unsigned long long)self->max_threads &&
                s->shared <= self->max_dynamic;
    for (int i = 0; i < 3; i++) {
        fits &= s->block[i] - 1 < (unsigned int)device->max_block[i];
        fits &= s->grid[i] - 1 < (unsigned int)device->max_grid[i];
    }
    return fits;
}

/* Ask the driver for the dynamic shared memory that a launch needs beyond the limit of
 * the kernel, as a device allows on request. */
static void
launch_raise_limit(pcu_function *self, const pcu_launch_shape *s)
{
    CUresult status;
    if (s->shared <= self->max_dynamic || s->shared > INT_MAX) {
        return;
    }
    PCU_STATUS(status, FuncSetAttribute,
               (self->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                (int)s->shared));
    if (status == CUDA_SUCCESS) {
        self->max_dynamic = s->shared;
    }
}

int
pcu_launch_check(pcu_function *self, const pcu_launch_shape *shape)
{
    if (pcu_is_recording(self->st)) {
        PyErr_SetString(pcu_recorder_item(self->st, PCU_RECORDER_ERROR),
                        "a function under pycuda.fuse launches a kernel");
        return -1;
    }
    if (!self->ctx->alive &&
        pcu_resource_check((pcu_resource *)self->module, "cuLaunchKernel") < 0) {
        return -1;
    }
    if (launch_shape_fits(self, shape)) {
        return 0;
    }
    /* another Function of this kernel may have raised the limits: read them again */
    pcu_function_forget(self);
    if (pcu_function_describe(self) < 0) {
        return -1;
    }
    launch_raise_limit(self, shape);
    if (launch_shape_fits(self, shape)) {
        return 0;
    }
    return launch_explain_shape(self, shape);
}

/* A hint for the message of a launch that failed: a handle that the driver calls
 * invalid may belong to another context. */
static const char *
launch_hint(const pcu_function *self, CUresult status)
{
    if (status == CUDA_ERROR_INVALID_CONTEXT && pcu_ctx_current == NULL) {
        return "; this thread has no current context; push() one, or import "
               "pycuda.autoinit";
    }
    if (status != CUDA_ERROR_INVALID_HANDLE || pcu_ctx_current == NULL) {
        return "";
    }
    if (self->ctx->handle != pcu_ctx_current->handle) {
        return "; the kernel belongs to another context than the current one";
    }
    return "; does the stream belong to the current context?";
}

/* Do everything that comes before the driver call of a launch. */
static inline int
launch_ready(pcu_function *self, const pcu_launch_shape *s, void *params, size_t size)
{
    if (pcu_launch_check(self, s) < 0) {
        return -1;
    }
    if (((pcu_module *)self->module)->references != NULL &&
        pcu_reference_store_launch(self->module, s->stream) < 0) {
        return -1;
    }
    return pcu_captured_launch(params, size, self->handle, (PyObject *)self);
}

int
pcu_launch_run(pcu_function *self, const pcu_launch_shape *s, void *params, size_t size)
{
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    if (launch_ready(self, s, params, size) < 0) {
        return -1;
    }
    CUresult status;
    pcu_stream_note(s->stream); /* packing the arguments may have run other calls */
    do {
        PCU_STATUS(
            status, LaunchKernel,
            (self->handle, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
             s->block[2], s->shared, s->stream, NULL, size == 0 ? NULL : extra));
    } while (status != CUDA_SUCCESS && pcu_current_context_repair(self->st, status) &&
             pcu_context_record_lives(self->ctx));
    if (status == CUDA_SUCCESS) {
        return pcu_launched(self->st, self->ctx, PCU_LAUNCH_KERNEL, self->handle,
                            self->launch_name, s);
    }
    return pcu_raise_detail(
        self->st, "cuLaunchKernel", status,
        "%U with grid (%u, %u, %u), block (%u, %u, %u), %u bytes of "
        "dynamic shared memory%s",
        self->name, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1],
        s->block[2], s->shared, launch_hint(self, status));
}

int
pcu_launch_synchronize(pcu_state *st, CUstream stream)
{
    if (stream != NULL) {
        return pcu_launched_wait(st, stream);
    }
    return pcu_current_context_synchronize(st);
}

/* -- launches with attributes: cooperative launches, clusters and others ----------- */

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
                            launch_hint(self, status));
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
    if (launch_ready(self, s, params, size) < 0) {
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
