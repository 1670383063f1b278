/* Occupancy. See occupancy.h. */
#include "device/machine/warp/occupancy.h"

enum {
    REGISTER_UNIT = 256,   /* registers of a warp are allocated in these units */
    SHARED_UNIT_OLD = 256, /* unit of shared memory before capability 8.0 */
    SHARED_UNIT = 128
};

static int
occupancy_min(int a, int b)
{
    if (b < a) {
        return b;
    }
    return a;
}

static int
occupancy_round_up(int value, int unit)
{
    return (value + unit - 1) / unit * unit;
}

int
emu_occupancy_reserved_shared(const emu_device *device)
{
    if (device->major < 8) {
        return 0;
    }
    return 1024;
}

int
emu_occupancy_blocks(const emu_device *device, const emu_kernel_info *info,
                     int block_size, size_t dynamic_shared)
{
    const emu_device_limits *limits = &device->limits;
    const int unit = device->major >= 8 ? SHARED_UNIT : SHARED_UNIT_OLD;
    const int warps = occupancy_round_up(block_size, EMU_WARP_SIZE) / EMU_WARP_SIZE;
    const int most_warps = limits->threads_per_multiprocessor / EMU_WARP_SIZE;
    const int registers =
        occupancy_round_up((int)info->registers * EMU_WARP_SIZE, REGISTER_UNIT) * warps;
    size_t shared = info->shared_size + dynamic_shared;
    int blocks = occupancy_min(limits->blocks_per_multiprocessor, most_warps / warps);

    if (block_size > (int)info->max_threads ||
        shared > (size_t)limits->shared_per_block_optin) {
        return 0;
    }
    if (registers > 0) {
        blocks =
            occupancy_min(blocks, limits->registers_per_multiprocessor / registers);
    }
    shared = (size_t)occupancy_round_up(
        (int)shared + emu_occupancy_reserved_shared(device), unit);
    if (shared > 0) {
        blocks = occupancy_min(blocks, limits->shared_per_multiprocessor / (int)shared);
    }
    return blocks;
}
