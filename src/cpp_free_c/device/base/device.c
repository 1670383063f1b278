/* The records of the devices, and their attributes: from a table of constants, their
 * limits and their records. See device.h. */
#include "device/base/device.h"

/* -- records ----------------------------------------------------------------------- */

emu_device emu_devices[EMU_MAX_DEVICES];
int emu_device_count;
uint64_t emu_seed;

emu_device *
emu_device_get(CUdevice ordinal)
{
    if (ordinal < 0 || ordinal >= emu_device_count) {
        return NULL;
    }
    return &emu_devices[ordinal];
}

CUresult
emu_device_find(CUdevice ordinal, emu_device **device)
{
    *device = emu_device_get(ordinal);
    if (*device == NULL) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    return CUDA_SUCCESS;
}

/* -- attributes -------------------------------------------------------------------- */

/* The values follow a small GPU of the device's compute capability, so that code which
 * sizes its launches by them behaves as on hardware. */

/* Attributes of the driver that no name of cuda_abi.h covers. */
enum {
    SHARED_PER_BLOCK = 8,
    CONSTANT_MEMORY = 9,
    REGISTERS_PER_BLOCK = 12,
    PCI_BUS = 33,
    THREADS_PER_MULTIPROCESSOR = 39,
    SHARED_PER_MULTIPROCESSOR = 81,
    REGISTERS_PER_MULTIPROCESSOR = 82,
    BOARD_GROUP = 85,
    BLOCKS_PER_MULTIPROCESSOR = 106,
    RESERVED_SHARED_PER_BLOCK = 111, /* shared memory that the system takes */
    CLUSTER_LAUNCH = 120,
    LAST_ATTRIBUTE = 147
};

/* Attributes that are the same for all devices. An attribute that is in the driver's
 * range and in no table is 0: the device lacks the ability. */
static const struct {
    int attribute, value;
} constant_attributes[] = {
    {10, EMU_WARP_SIZE},
    {11, 2147483647}, /* pitch */
    {13, 1500000},    /* clock, kHz */
    {14, 512},        /* texture alignment */
    {15, 1},          /* overlap */
    {19, 1},          /* can map host memory */
    {21, 131072},     /* textures: 1D */
    {22, 131072},     /* 2D */
    {23, 65536},      /* 2D height */
    {24, 16384},      /* 3D */
    {25, 16384},      /* 3D height */
    {26, 16384},      /* 3D depth */
    {27, 32768},      /* 2D layered */
    {28, 32768},      /* 2D layered height */
    {29, 2048},       /* layers */
    {30, 512},        /* surface alignment */
    {31, 1},          /* concurrent kernels */
    {36, 5000000},    /* memory clock, kHz */
    {37, 256},        /* bus, bits */
    {38, 4 << 20},    /* L2 */
    {40, 1},          /* copy engines */
    {41, 1},          /* unified addressing */
    {42, 32768},      /* 1D layered */
    {43, 2048},       /* 1D layers */
    {44, 1},          /* tex2Dgather */
    {45, 32768},      /* gather width */
    {46, 32768},      /* gather height */
    {47, 8192},       /* alternate 3D */
    {48, 8192},       /* alternate 3D height */
    {49, 32768},      /* alternate 3D depth */
    {51, 32},         /* texture pitch alignment */
    {52, 32768},      /* cubemap */
    {53, 32768},      /* cubemap layered */
    {54, 2046},       /* cubemap layers */
    {55, 32768},      /* surfaces: 1D */
    {56, 131072},     /* 2D */
    {57, 65536},      /* 2D height */
    {58, 16384},      /* 3D */
    {59, 16384},      /* 3D height */
    {60, 16384},      /* 3D depth */
    {61, 32768},      /* 1D layered */
    {62, 2048},       /* 1D layers */
    {63, 32768},      /* 2D layered */
    {64, 32768},      /* 2D layered height */
    {65, 2048},       /* 2D layers */
    {66, 32768},      /* cubemap */
    {67, 32768},      /* cubemap layered */
    {68, 2046},       /* cubemap layers */
    {69, 268435456},  /* 1D linear texture */
    {70, 131072},     /* 2D linear texture */
    {71, 65000},      /* 2D linear height */
    {72, 2097120},    /* 2D linear pitch */
    {73, 32768},      /* 2D mipmapped */
    {74, 32768},      /* 2D mipmapped height */
    {77, 32768},      /* 1D mipmapped */
    {78, 1},          /* stream priorities */
    {79, 1},          /* global L1 */
    {80, 1},          /* local L1 */
    {83, 1},          /* managed memory */
    {87, 2},          /* single to double */
    {89, 1},          /* concurrent managed access */
    {90, 1},          /* preemption */
    {91, 1},          /* host pointer for registered memory */
    {95, 1},          /* cooperative launch */
    {99, 1},          /* host register */
    {101, 1},         /* managed access from the host */
    {102, 1},         /* virtual memory */
    {103, 1},         /* shared by file descriptors */
    {115, 1},         /* memory pools */
    {119, 1},         /* pools are shared by file descriptors */
    {122, 1},         /* 64-bit operations of streams on memory */
    {123, 1},         /* waiting for NOR */
    {125, 1},         /* IPC events */
    {126, 1},         /* domains of memory order */
    {144, 1},         /* pools of host memory */
};

#define LIMIT(attribute, member)                       \
    {                                                  \
        attribute, offsetof(emu_device_limits, member) \
    }

/* Attributes that are limits of the device. */
static const struct {
    int attribute;
    size_t offset; /* of the int in emu_device_limits */
} limit_attributes[] = {
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, threads_per_block),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, block_dim[0]),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, block_dim[1]),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, block_dim[2]),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, grid_dim[0]),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, grid_dim[1]),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, grid_dim[2]),
    LIMIT(SHARED_PER_BLOCK, shared_per_block),
    LIMIT(CONSTANT_MEMORY, constant_memory),
    LIMIT(REGISTERS_PER_BLOCK, registers_per_block),
    LIMIT(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, multiprocessors),
    LIMIT(THREADS_PER_MULTIPROCESSOR, threads_per_multiprocessor),
    LIMIT(SHARED_PER_MULTIPROCESSOR, shared_per_multiprocessor),
    LIMIT(REGISTERS_PER_MULTIPROCESSOR, registers_per_multiprocessor),
    LIMIT(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
          shared_per_block_optin),
    LIMIT(BLOCKS_PER_MULTIPROCESSOR, blocks_per_multiprocessor),
};

#undef LIMIT

/* Attributes that follow from the record of the device. */
static bool
attribute_of_record(const emu_device *device, unsigned int attribute, int *value)
{
    switch (attribute) {
        case PCI_BUS:
            *value = device->ordinal + 1;
            return true;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            *value = device->major;
            return true;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            *value = device->minor;
            return true;
        case BOARD_GROUP:
            *value = device->ordinal;
            return true;
        case RESERVED_SHARED_PER_BLOCK:
            *value = 0;
            if (device->major >= 8) {
                *value = 1024;
            }
            return true;
        case CLUSTER_LAUNCH:
            *value = device->major >= 9;
            return true;
        default:
            return false;
    }
}

bool
emu_device_attribute(const emu_device *device, unsigned int attribute, int *value)
{
    const size_t limits = sizeof(limit_attributes) / sizeof(limit_attributes[0]);
    const size_t constants =
        sizeof(constant_attributes) / sizeof(constant_attributes[0]);

    if (attribute == 0 || attribute > LAST_ATTRIBUTE) {
        return false;
    }
    if (attribute_of_record(device, attribute, value)) {
        return true;
    }
    for (size_t i = 0; i < limits; i++) {
        if (limit_attributes[i].attribute == (int)attribute) {
            const char *start = (const char *)&device->limits;

            *value = *(const int *)(const void *)(start + limit_attributes[i].offset);
            return true;
        }
    }
    *value = 0;
    for (size_t i = 0; i < constants; i++) {
        if (constant_attributes[i].attribute == (int)attribute) {
            *value = constant_attributes[i].value;
        }
    }
    return true;
}
