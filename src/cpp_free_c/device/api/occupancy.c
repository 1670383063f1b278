/* Occupancy: from a device's limits and a kernel's needs, as on the hardware whose
 * limits the device has. */
#include "device/api/occupancy.h"

#include "device/api/entry.h"
#include "device/api/context.h"

enum {
    REGISTER_UNIT = 256,   /* registers are handed to a warp in these */
    SHARED_UNIT_OLD = 256, /* shared memory to a block, before 8.0 */
    SHARED_UNIT = 128
};

static int
smaller(int a, int b)
{
    return a < b ? a : b;
}

static int
up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Shared memory that the system takes in each block. */
static int
reserved_shared(const emu_device *device)
{
    return device->major >= 8 ? 1024 : 0;
}

int
emu_occupancy_blocks(const emu_device *device, const emu_kernel_info *info,
                     int block_size, size_t dynamic_shared)
{
    const emu_device_limits *limits = &device->limits;
    int warps = up(block_size, EMU_WARP_SIZE) / EMU_WARP_SIZE;
    int most_warps = limits->threads_per_multiprocessor / EMU_WARP_SIZE;
    int blocks = smaller(limits->blocks_per_multiprocessor, most_warps / warps);
    int registers = up((int)info->registers * EMU_WARP_SIZE, REGISTER_UNIT) * warps;
    size_t shared = info->shared_size + dynamic_shared;

    if (block_size > (int)info->max_threads ||
        shared > (size_t)limits->shared_per_block_optin) {
        return 0;
    }
    if (registers > 0) {
        blocks = smaller(blocks, limits->registers_per_multiprocessor / registers);
    }
    shared = (size_t)up((int)shared + reserved_shared(device),
                        device->major >= 8 ? SHARED_UNIT : SHARED_UNIT_OLD);
    if (shared > 0) {
        blocks = smaller(blocks, limits->shared_per_multiprocessor / (int)shared);
    }
    return blocks;
}

int
emu_occupancy_of(const emu_function *function, int block_size, size_t dynamic_shared)
{
    return emu_occupancy_blocks(function->object.context->device,
                                emu_kernel_get_info(function->kernel), block_size,
                                dynamic_shared);
}

static CUresult
count_blocks(CUfunction handle, int block_size, size_t dynamic_shared, int *blocks)
{
    const emu_function *function = emu_object_get(handle, EMU_FUNCTION);

    if (!function) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!blocks || block_size <= 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *blocks = block_size > function->object.context->device->limits.threads_per_block
                  ? 0
                  : emu_occupancy_of(function, block_size, dynamic_shared);
    return CUDA_SUCCESS;
}

CUresult
emu_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
                                                int blockSize, size_t dynamicSMemSize)
{
    emu_context *context;
    CUresult status =
        EMU_ENTER_CONTEXT(OccupancyMaxActiveBlocksPerMultiprocessor, &context);

    if (status == CUDA_SUCCESS) {
        status = count_blocks(func, blockSize, dynamicSMemSize, numBlocks);
    }
    return emu_leave(status);
}

CUresult
emu_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks,
                                                         CUfunction func, int blockSize,
                                                         size_t dynamicSMemSize,
                                                         unsigned int flags)
{
    emu_context *context;
    CUresult status =
        EMU_ENTER_CONTEXT(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &context);

    if (status == CUDA_SUCCESS && flags > 1) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        status = count_blocks(func, blockSize, dynamicSMemSize, numBlocks);
    }
    return emu_leave(status);
}

/* What the search for a block size holds fast while the caller's function runs. */
typedef struct {
    const emu_function *function;
    CUoccupancyB2DSize shared_of;
    size_t shared;
    int largest;
    int best_size, best_blocks;
} search;

/* The size, a whole number of warps, that keeps most threads busy; the larger of
 * equals. */
static void
find_block_size(search *s)
{
    int best = 0;

    for (int size = up(s->largest, EMU_WARP_SIZE); size > 0; size -= EMU_WARP_SIZE) {
        int tried = smaller(size, s->largest);
        size_t shared = s->shared_of ? s->shared_of(tried) : s->shared;
        int blocks = emu_occupancy_of(s->function, tried, shared);

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
    emu_context *context;
    emu_function *function = NULL;
    CUresult status = EMU_ENTER_CONTEXT(OccupancyMaxPotentialBlockSize, &context);

    if (status == CUDA_SUCCESS) {
        function = emu_object_get(func, EMU_FUNCTION);
        status = !function                    ? CUDA_ERROR_INVALID_HANDLE
                 : !minGridSize || !blockSize ? CUDA_ERROR_INVALID_VALUE
                                              : CUDA_SUCCESS;
    }
    if (status == CUDA_SUCCESS) {
        search s = {.function = function,
                    .shared_of = blockSizeToDynamicSMemSize,
                    .shared = dynamicSMemSize,
                    .largest = (int)emu_kernel_get_info(function->kernel)->max_threads};
        emu_module *module = function->module;
        emu_call call;

        if (blockSizeLimit > 0 && blockSizeLimit < s.largest) {
            s.largest = blockSizeLimit;
        }
        emu_use(&module->object); /* the caller's function runs without the lock */
        call = emu_pause();
        find_block_size(&s);
        emu_resume(call);
        emu_done(&module->object);
        *blockSize = s.best_size;
        *minGridSize = s.best_blocks * context->device->limits.multiprocessors;
    }
    return emu_leave(status);
}

CUresult
emu_cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func,
                                            int numBlocks, int blockSize)
{
    emu_context *context;
    const emu_function *function = NULL;
    CUresult status =
        EMU_ENTER_CONTEXT(OccupancyAvailableDynamicSMemPerBlock, &context);

    if (status == CUDA_SUCCESS) {
        function = emu_object_get(func, EMU_FUNCTION);
        status = !function ? CUDA_ERROR_INVALID_HANDLE
                 : !dynamicSmemSize || numBlocks <= 0 || blockSize <= 0
                     ? CUDA_ERROR_INVALID_VALUE
                     : CUDA_SUCCESS;
    }
    if (status == CUDA_SUCCESS) {
        const emu_device *device = function->object.context->device;
        size_t fixed = emu_kernel_get_info(function->kernel)->shared_size +
                       (size_t)reserved_shared(device);
        size_t each =
            (size_t)(device->limits.shared_per_multiprocessor / numBlocks) / 256 * 256;

        if (each > (size_t)device->limits.shared_per_block_optin) {
            each = (size_t)device->limits.shared_per_block_optin;
        }
        *dynamicSmemSize = each > fixed ? each - fixed : 0;
        if (emu_occupancy_of(function, blockSize, 0) < numBlocks) {
            *dynamicSmemSize = 0;
        }
    }
    return emu_leave(status);
}
