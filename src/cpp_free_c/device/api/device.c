/* The devices: what the environment asks for, what their attributes say.
 *
 * Attribute values follow a small GPU of the compute capability asked for, so that code
 * which sizes its launches by them behaves as it would on hardware. */
#include "device/base/device.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/api/entry.h"
#include "device/machine/race_check.h"
#include "device/api/faults.h"

#define DEFAULT_MEMORY ((uint64_t)4 << 30)
#define LARGEST_MEMORY ((uint64_t)1 << 38)

emu_device emu_devices[EMU_MAX_DEVICES];
int emu_device_count;
uint64_t emu_seed;

/* -- the environment --------------------------------------------------------------- */

/* Digits alone; false for anything else or more than `most`. */
static bool
parse_number(const char *text, size_t length, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;

    if (length == 0 || length > 20) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (digit > 9 || digit > most || value > (most - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

static bool
parse_memory(const char *text, uint64_t *out)
{
    size_t length = strlen(text);
    int shift = 0;

    if (length) {
        const char *suffixes = "KMGT";
        const char *found = strchr(suffixes, toupper((unsigned char)text[length - 1]));

        if (found && *found) {
            shift = 10 * (int)(found - suffixes + 1);
            length--;
        }
    }
    if (!parse_number(text, length, LARGEST_MEMORY >> shift, out)) {
        return false;
    }
    *out <<= shift;
    return *out >= 1;
}

static bool
parse_capability(const char *text, int *major, int *minor)
{
    static const char *const known[] = {
        "5.0", "5.2", "5.3", "6.0", "6.1",  "6.2",  "7.0",  "7.2",  "7.5", "8.0",
        "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(text, known[i]) == 0) {
            const char *dot = strchr(text, '.');

            *major = atoi(text);
            *minor = atoi(dot + 1);
            return true;
        }
    }
    return false;
}

/* The variable, or NULL where it is unset or empty. */
static const char *
variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

static CUresult
read_environment(uint64_t *count, int *major, int *minor, uint64_t *memory)
{
    const char *devices = variable("PYCUDA_EMULATOR_DEVICES");
    const char *capability = variable("PYCUDA_EMULATOR_CAPABILITY");
    const char *bytes = variable("PYCUDA_EMULATOR_MEMORY");
    const char *seed = variable("PYCUDA_EMULATOR_SEED");
    const char *check = variable("PYCUDA_EMULATOR_CHECK");

    unsigned checks;

    if (devices && !parse_number(devices, strlen(devices), EMU_MAX_DEVICES, count)) {
        emu_message_set(
            "PYCUDA_EMULATOR_DEVICES is \"%s\"; it must be a number of "
            "devices from 0 to %d.",
            devices, EMU_MAX_DEVICES);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (capability && !parse_capability(capability, major, minor)) {
        emu_message_set(
            "PYCUDA_EMULATOR_CAPABILITY is \"%s\"; it must be a compute "
            "capability such as 7.5.",
            capability);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (bytes && !parse_memory(bytes, memory)) {
        emu_message_set(
            "PYCUDA_EMULATOR_MEMORY is \"%s\"; it must be a whole number of bytes, "
            "with K, M or G at the end if you like, from 1 to 256G.",
            bytes);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (seed && !parse_number(seed, strlen(seed), UINT32_MAX, &emu_seed)) {
        emu_message_set(
            "PYCUDA_EMULATOR_SEED is \"%s\"; it must be a number from 0 to "
            "4294967295.",
            seed);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!emu_race_parse(check, &checks)) {
        emu_message_set(
            "PYCUDA_EMULATOR_CHECK is \"%s\"; it must be names of checks with "
            "commas between: init, race, barrier, or all.",
            check);
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void
set_limits(emu_device *device)
{
    int capability = device->major * 10 + device->minor;
    emu_device_limits *limits = &device->limits;

    limits->threads_per_block = 1024;
    limits->block_dim[0] = 1024;
    limits->block_dim[1] = 1024;
    limits->block_dim[2] = 64;
    limits->grid_dim[0] = 2147483647;
    limits->grid_dim[1] = 65535;
    limits->grid_dim[2] = 65535;
    limits->shared_per_block = 48 << 10;
    limits->registers_per_block = 65536;
    limits->registers_per_multiprocessor = 65536;
    limits->multiprocessors = 8;
    limits->constant_memory = 64 << 10;
    limits->threads_per_multiprocessor = 2048;
    limits->blocks_per_multiprocessor = 32;
    limits->shared_per_multiprocessor = 96 << 10;
    limits->shared_per_block_optin = 48 << 10;
    if (capability == 75) {
        limits->threads_per_multiprocessor = 1024;
        limits->blocks_per_multiprocessor = 16;
        limits->shared_per_multiprocessor = 64 << 10;
        limits->shared_per_block_optin = 64 << 10;
    }
    else if (capability == 70 || capability == 72) {
        limits->shared_per_block_optin = 96 << 10;
    }
    else if (capability == 80 || capability == 87) {
        limits->shared_per_multiprocessor = 164 << 10;
        limits->shared_per_block_optin = 163 << 10;
    }
    else if (capability == 86 || capability == 89 || capability >= 120) {
        limits->threads_per_multiprocessor = 1536;
        limits->blocks_per_multiprocessor = capability == 86 ? 16 : 24;
        limits->shared_per_multiprocessor = 100 << 10;
        limits->shared_per_block_optin = 99 << 10;
    }
    else if (capability >= 90) {
        limits->shared_per_multiprocessor = 228 << 10;
        limits->shared_per_block_optin = 227 << 10;
    }
}

CUresult
emu_device_open(void)
{
    uint64_t count = 1, memory = DEFAULT_MEMORY;
    int major = 7, minor = 5;
    CUresult status = read_environment(&count, &major, &minor, &memory);

    if (status != CUDA_SUCCESS) {
        return status;
    }
    if (count == 0) {
        emu_message_set("PYCUDA_EMULATOR_DEVICES is 0, so there is no device.");
        return CUDA_ERROR_NO_DEVICE;
    }
    for (int i = 0; i < (int)count; i++) {
        emu_device *device = &emu_devices[i];

        memset(device, 0, sizeof(*device));
        device->ordinal = i;
        device->major = major;
        device->minor = minor;
        device->memory_bytes = memory;
        set_limits(device);
        emu_memory_set_total(i, memory);
    }
    emu_device_count = (int)count;
    return CUDA_SUCCESS;
}

emu_device *
emu_device_get(CUdevice ordinal)
{
    return ordinal >= 0 && ordinal < emu_device_count ? &emu_devices[ordinal] : NULL;
}

/* -- attributes -------------------------------------------------------------------- */

typedef struct {
    int attribute, value;
} attribute_value;

/* Attributes that no limit says and that are the same for all devices. One that is in
 * the driver's range and not here is 0: the device has no such ability. */
static const attribute_value constant_attributes[] = {
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
    {115, 1},         /* memory pools */
    {125, 1},         /* IPC events */
};

static bool
limit_attribute(const emu_device *device, unsigned int attribute, int *value)
{
    const emu_device_limits *limits = &device->limits;

    switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = limits->threads_per_block;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
            *value = limits->block_dim[attribute - CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X];
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
        case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
            *value = limits->grid_dim[attribute - CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X];
            return true;
        case 8:
            *value = limits->shared_per_block;
            return true;
        case 9:
            *value = limits->constant_memory;
            return true;
        case 12:
            *value = limits->registers_per_block;
            return true;
        case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
            *value = limits->multiprocessors;
            return true;
        case 39:
            *value = limits->threads_per_multiprocessor;
            return true;
        case 81:
            *value = limits->shared_per_multiprocessor;
            return true;
        case 82:
            *value = limits->registers_per_multiprocessor;
            return true;
        case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
            *value = limits->shared_per_block_optin;
            return true;
        case 106:
            *value = limits->blocks_per_multiprocessor;
            return true;
        default:
            return false;
    }
}

bool
emu_device_attribute(const emu_device *device, unsigned int attribute, int *value)
{
    if (attribute == 0 || attribute > 147) {
        return false;
    }
    if (limit_attribute(device, attribute, value)) {
        return true;
    }
    *value = 0;
    for (size_t i = 0; i < sizeof(constant_attributes) / sizeof(attribute_value); i++) {
        if (constant_attributes[i].attribute == (int)attribute) {
            *value = constant_attributes[i].value;
        }
    }
    switch (attribute) {
        case 33: /* PCI bus */
            *value = device->ordinal + 1;
            break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
            *value = device->major;
            break;
        case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
            *value = device->minor;
            break;
        case 85: /* board group */
            *value = device->ordinal;
            break;
        case 111: /* shared memory the system keeps in each block */
            *value = device->major >= 8 ? 1024 : 0;
            break;
        default:
            break;
    }
    return true;
}

/* -- entry points ------------------------------------------------------------------ */

/* The record of an ordinal given by the program, or why there is none. */
static CUresult
get(CUdevice ordinal, emu_device **device)
{
    *device = emu_device_get(ordinal);
    return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
emu_cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult status = EMU_ENTER(DeviceGet);

    if (status == CUDA_SUCCESS && !device) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && !emu_device_get(ordinal)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *device = ordinal;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetCount(int *count)
{
    CUresult status = EMU_ENTER(DeviceGetCount);

    if (status == CUDA_SUCCESS && !count) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *count = emu_device_count;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetName);

    if (status == CUDA_SUCCESS) {
        status = get(dev, &device);
    }
    if (status == CUDA_SUCCESS && (!name || len <= 0)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        (void)snprintf(name, (size_t)len, "%s", EMU_DEVICE_NAME); /* cut to fit */
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetUuid);

    if (status == CUDA_SUCCESS) {
        status = get(dev, &device);
    }
    if (status == CUDA_SUCCESS && !uuid) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        memcpy(uuid->bytes, "PyCUDA software", sizeof(uuid->bytes));
        uuid->bytes[15] = (char)dev;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceTotalMem);

    if (status == CUDA_SUCCESS) {
        status = get(dev, &device);
    }
    if (status == CUDA_SUCCESS && !bytes) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *bytes = (size_t)device->memory_bytes;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetAttribute);

    if (status == CUDA_SUCCESS) {
        status = get(dev, &device);
    }
    if (status == CUDA_SUCCESS && (!pi || !emu_device_attribute(device, attrib, pi))) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned int domain = 0, bus = 0, slot = 0;
    CUresult status = EMU_ENTER(DeviceGetByPCIBusId);

    if (status == CUDA_SUCCESS) {
        status = CUDA_ERROR_INVALID_VALUE;
        if (dev && pciBusId) {
            if (sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3) {
                domain = 0;
                if (sscanf(pciBusId, "%x:%x", &bus, &slot) != 2) {
                    slot = 1; /* no device has it */
                }
            }
            if (domain == 0 && slot == 0 && bus >= 1 && emu_device_get((int)bus - 1)) {
                *dev = (int)bus - 1;
                status = CUDA_SUCCESS;
            }
            else {
                status = CUDA_ERROR_INVALID_DEVICE;
            }
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    emu_device *device;
    CUresult status = EMU_ENTER(DeviceGetPCIBusId);

    if (status == CUDA_SUCCESS) {
        status = get(dev, &device);
    }
    if (status == CUDA_SUCCESS && (!pciBusId || len < 13)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        (void)snprintf(pciBusId, (size_t)len, "0000:%02X:00.0",
                       (unsigned)dev + 1); /* at most 64 devices: it fits */
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    CUresult status = EMU_ENTER(DeviceCanAccessPeer);

    if (status == CUDA_SUCCESS && !canAccessPeer) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && (!emu_device_get(dev) || !emu_device_get(peerDev))) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *canAccessPeer = dev != peerDev;
    }
    return emu_leave(status);
}

CUresult
emu_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                            CUdevice srcDevice, CUdevice dstDevice)
{
    CUresult status = EMU_ENTER(DeviceGetP2PAttribute);

    if (status == CUDA_SUCCESS && (!value || attrib == 0 || attrib > 4)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS &&
        (!emu_device_get(srcDevice) || !emu_device_get(dstDevice) ||
         srcDevice == dstDevice)) {
        status = CUDA_ERROR_INVALID_DEVICE;
    }
    if (status == CUDA_SUCCESS) {
        *value = attrib != 1; /* 1: rank, all alike; else: access, atomics, arrays */
    }
    return emu_leave(status);
}
