/* The functions that the software device provides to kernels. A PTX text declares them
 * and calls them by name. */
#ifndef DEVICE_COMPILE_RUNTIME_H
#define DEVICE_COMPILE_RUNTIME_H

#include <stdbool.h>

#include "device/ptx/ir.h"

/* -- services: functions that the machine runs ------------------------------------- */

/* Lowering looks the name up here and writes the service's number into the call; the
 * machine runs the service by number. A row has the number's name, the function's name
 * and the number of its parameters. */

/* clang-format off */

/* Run by device/machine/services/services.c. */
#define EMU_SERVICES(X) \
    X(PRINTF, "vprintf", 2) \
    X(ASSERT, "__assertfail", 5) \
    X(MALLOC, "malloc", 1) \
    X(FREE, "free", 1) \
    X(SET_CONDITIONAL, "cudaGraphSetConditional", 2)

/* The functions of dynamic parallelism: the row Name is __cudaCDP2Name and
 * __cudaCDP2Name_ptsz. Run by device/machine/services/dynamic_parallelism.c. */
#define EMU_RUNTIME_SERVICES(X) \
    X(GetParameterBufferV2, 4) \
    X(GetParameterBuffer, 2) \
    X(LaunchDeviceV2, 2) \
    X(LaunchDevice, 6) \
    X(GetLastError, 0) \
    X(PeekAtLastError, 0) \
    X(GetErrorName, 1) \
    X(GetErrorString, 1) \
    X(StreamCreateWithFlags, 2) \
    X(StreamDestroy, 1) \
    X(StreamWaitEvent, 3) \
    X(EventCreateWithFlags, 2) \
    X(EventRecord, 2) \
    X(EventRecordWithFlags, 3) \
    X(EventDestroy, 1) \
    X(MemcpyAsync, 5) \
    X(Memcpy2DAsync, 8) \
    X(MemsetAsync, 4) \
    X(Memset2DAsync, 6) \
    X(Malloc, 2) \
    X(Free, 1) \
    X(GetDevice, 1) \
    X(GetDeviceCount, 1) \
    X(DeviceGetAttribute, 3) \
    X(DeviceGetLimit, 2) \
    X(DeviceGetCacheConfig, 1) \
    X(DeviceGetSharedMemConfig, 1) \
    X(RuntimeGetVersion, 1) \
    X(FuncGetAttributes, 2) \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, 4) \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 5)

#define EMU_SERVICE_MEMBER(member, name, parameters) EMU_SERVICE_##member,
#define EMU_RUNTIME_MEMBER(name, parameters) EMU_RUNTIME_##name,
enum {
    EMU_SERVICE_NONE,
    EMU_SERVICES(EMU_SERVICE_MEMBER)
    EMU_RUNTIME_SERVICES(EMU_RUNTIME_MEMBER)
    EMU_SERVICE_COUNT,
    EMU_SERVICE_RUNTIME = EMU_RUNTIME_GetParameterBufferV2 /* the first of these */
};
#undef EMU_SERVICE_MEMBER
#undef EMU_RUNTIME_MEMBER
/* clang-format on */

/* The number of a function's name, or EMU_SERVICE_NONE. */
unsigned emu_service_number(const char *name);
/* The name of a service: for one of dynamic parallelism without its prefix. */
const char *emu_service_name(unsigned service);
/* How many parameters it takes, at least. */
unsigned emu_service_parameters(unsigned service);

/* -- functions of the device runtime library that are PTX -------------------------- */

/* A program that declares one of them and does not define it gets this text as one more
 * library. */

/* Whether one of the modules declares a function that the text may have. */
bool emu_runtime_text_is_wanted(const ptx_module *modules);

const char *emu_runtime_text(void);

#endif
