/* The calls on occupancy. The computation is in machine/occupancy.h. */
#include "device/api/module/module.h"

#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/users.h"

enum { CLUSTER_PORTABLE = 8, CLUSTER_NON_PORTABLE = 16 };

static int
occupancy_min(int a, int b)
{
    return a < b ? a : b;
}

static int
occupancy_round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

int
emu_occupancy_of(const emu_function *function, int block_size, size_t dynamic_shared)
{
    return emu_occupancy_blocks(function->object.context->device,
                                emu_kernel_get_info(function->kernel), block_size,
                                dynamic_shared);
}

static CUresult
occupancy_count(CUfunction handle, int block_size, size_t dynamic_shared, int *blocks)
{
    emu_function *function;
    CUresult status = emu_function_find(handle, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (blocks == NULL || block_size <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *blocks = 0;
    if (block_size <= function->object.context->device->limits.threads_per_block) {
        *blocks = emu_occupancy_of(function, block_size, dynamic_shared);
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                int blockSize, size_t dynamicSMemSize)
{
    return occupancy_count(func, blockSize, dynamicSMemSize, numBlocks);
}

CUresult
emu_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
                                                         CUfunction func, int blockSize,
                                                         size_t dynamicSMemSize,
                                                         unsigned int flags)
{
    if (flags > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return occupancy_count(func, blockSize, dynamicSMemSize, numBlocks);
}

/* A search for the best block size. */
typedef struct {
    const emu_function *function;
    CUoccupancyB2DSize shared_of; /* the program's function; NULL: use `shared` */
    size_t shared;
    int largest;
    int best_size, best_blocks; /* the result */
} search;

/* Find the size, a whole number of warps, that keeps most threads busy; of equal ones
 * the largest. Called without the API lock, since the program's function may take long.
 */
static void
search_run(search *s)
{
    int best = 0;

    for (int size = occupancy_round_up(s->largest, EMU_WARP_SIZE); size > 0;
         size -= EMU_WARP_SIZE) {
        int tried = occupancy_min(size, s->largest);
        size_t shared = s->shared;
        int blocks;

        if (s->shared_of != NULL) {
            shared = s->shared_of(tried);
        }
        blocks = emu_occupancy_of(s->function, tried, shared);
        if (blocks * tried > best) {
            best = blocks * tried;
            s->best_size = tried;
            s->best_blocks = blocks;
        }
    }
}

CUresult
emu_cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                     CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                     size_t dynamicSMemSize, int blockSizeLimit)
{
    emu_function *function;
    CUresult status = emu_function_find(func, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (minGridSize == NULL || blockSize == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    search s = {.function = function,
                .shared_of = blockSizeToDynamicSMemSize,
                .shared = dynamicSMemSize,
                .largest = (int)emu_kernel_get_info(function->kernel)->max_threads};
    emu_module *module = function->module;
    const int multiprocessors = module->object.context->device->limits.multiprocessors;

    if (blockSizeLimit > 0 && blockSizeLimit < s.largest) {
        s.largest = blockSizeLimit;
    }
    emu_users_add(&module->object); /* the caller's function runs without the lock */
    const emu_call call = emu_lock_pause();
    search_run(&s);
    emu_lock_resume(call);
    emu_users_remove(&module->object);
    *blockSize = s.best_size;
    *minGridSize = s.best_blocks * multiprocessors;
    return CUDA_SUCCESS;
}

/* The flag is about caches, which there are none of. */
CUresult
emu_cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *minGridSize, int *blockSize, CUfunction func,
    CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
    int blockSizeLimit, unsigned int flags)
{
    if (flags > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_cuOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func,
                                                blockSizeToDynamicSMemSize,
                                                dynamicSMemSize, blockSizeLimit);
}

/* The dynamic shared memory that each of `count` blocks can have. */
static size_t
occupancy_available(const emu_function *function, int count, int block_size)
{
    const emu_device *device = function->object.context->device;
    const size_t most = (size_t)device->limits.shared_per_block_optin;
    const size_t fixed = emu_kernel_get_info(function->kernel)->shared_size +
                         (size_t)emu_occupancy_reserved_shared(device);
    size_t each =
        (size_t)(device->limits.shared_per_multiprocessor / count) / 256 * 256;

    if (each > most) {
        each = most;
    }
    if (each <= fixed || emu_occupancy_of(function, block_size, 0) < count) {
        return 0;
    }
    return each - fixed;
}

CUresult
emu_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                            int numBlocks, int blockSize)
{
    emu_function *function;
    CUresult status = emu_function_find(func, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (dynamicSmemSize == NULL || numBlocks <= 0 || blockSize <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *dynamicSmemSize = occupancy_available(function, numBlocks, blockSize);
    return CUDA_SUCCESS;
}

/* -- clusters ---------------------------------------------------------------------- */

unsigned int
emu_occupancy_cluster_most(const emu_function *function)
{
    if (function->non_portable_cluster) {
        return CLUSTER_NON_PORTABLE;
    }
    return CLUSTER_PORTABLE;
}

/* The blocks of this shape that the device holds at once. */
static int
occupancy_device_blocks(const emu_function *function, const CUlaunchConfig *config)
{
    const emu_device_limits *limits = &function->object.context->device->limits;
    uint64_t threads =
        (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;

    if (threads == 0 || threads > (uint64_t)limits->threads_per_block) {
        return 0;
    }
    return emu_occupancy_of(function, (int)threads, config->sharedMemBytes) *
           limits->multiprocessors;
}

CUresult
emu_cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func,
                                       const CUlaunchConfig *config)
{
    emu_function *function;
    CUresult status = emu_function_find(func, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (clusterSize == NULL || config == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    /* an H200 takes no account of the size that the kernel requires */
    *clusterSize = (int)emu_occupancy_cluster_most(function);
    *clusterSize =
        occupancy_min(*clusterSize, occupancy_device_blocks(function, config));
    return CUDA_SUCCESS;
}

/* The blocks of a cluster of this launch, 0 if they are too many. */
static unsigned int
occupancy_cluster_size(const emu_function *function, const CUlaunchConfig *config)
{
    const unsigned *required = emu_kernel_get_info(function->kernel)->req_cluster;
    uint64_t size = 1;

    if (required[0] != 0) {
        size = (uint64_t)required[0] * required[1] * required[2];
    }
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];

        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            size = (uint64_t)attribute->value.clusterDim.x *
                   attribute->value.clusterDim.y * attribute->value.clusterDim.z;
        }
    }
    if (size > emu_occupancy_cluster_most(function)) {
        return 0;
    }
    return (unsigned int)size;
}

CUresult
emu_cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func,
                                 const CUlaunchConfig *config)
{
    emu_function *function;
    CUresult status = emu_function_find(func, &function);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (numClusters == NULL || config == NULL ||
        (config->numAttrs > 0 && config->attrs == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    unsigned int size = occupancy_cluster_size(function, config);
    if (size == 0) {
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    *numClusters = occupancy_device_blocks(function, config) / (int)size;
    return CUDA_SUCCESS;
}
