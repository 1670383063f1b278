/* The four names that the library exports of the driver's interface, and the table
 * through which all the others are had: cuGetProcAddress. */
#include <string.h>

#include "device/api/entry.h"
#include "device/api/faults.h"
#include "device/api/deferred.h"

typedef void (*entry_point)(void);

#define ENTRY_ROW(name, version, need, blocking, parameters) \
    {"cu" #name, version, (entry_point)emu_cu##name},
static const struct {
    const char *name;
    int version;
    entry_point function; /* NULL: the device lacks it */
} entries[] = {PCU_DRV_SYMBOLS(ENTRY_ROW)};
#undef ENTRY_ROW

enum { FOUND = 0, NO_SUCH_SYMBOL = 1, VERSION_TOO_LOW = 2 };

EMU_EXPORT CUresult cuInit(unsigned int flags);
EMU_EXPORT CUresult cuDriverGetVersion(int *version);
EMU_EXPORT CUresult cuGetErrorName(CUresult error, const char **text);
EMU_EXPORT CUresult cuGetErrorString(CUresult error, const char **text);
EMU_EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version,
                                     uint64_t flags);
EMU_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function,
                                        int version, uint64_t flags,
                                        int *symbol_status);

/* Objects and functions have the same pointers on every system with a dlsym; C alone
 * does not promise it, so the bytes are copied. */
static void
store_function(void **out, entry_point function)
{
    _Static_assert(sizeof(*out) == sizeof(function), "pointers differ in size");
    memcpy(out, &function, sizeof(function));
}

static int
look_up(const char *symbol, void **function, int version)
{
    int status = NO_SUCH_SYMBOL;

    *function = NULL;
    if (strcmp(symbol, "cuGetProcAddress") == 0) {
        store_function(function, version >= 12000 ? (entry_point)cuGetProcAddress_v2
                                                  : (entry_point)cuGetProcAddress);
        return FOUND;
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (!entries[i].function || strcmp(symbol, entries[i].name) != 0) {
            continue;
        }
        if (entries[i].version > version) {
            status = VERSION_TOO_LOW;
            continue;
        }
        store_function(function, entries[i].function);
        return FOUND;
    }
    return status;
}

CUresult
cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                    int *symbol_status)
{
    int status;

    if (!symbol || !function || flags > 2 || version > EMU_DRIVER_VERSION) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = look_up(symbol, function, version);
    if (symbol_status) {
        *symbol_status = status;
    }
    return status == FOUND ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult
cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

CUresult
cuInit(unsigned int flags)
{
    return emu_cuInit(flags);
}

CUresult
cuDriverGetVersion(int *version)
{
    return emu_cuDriverGetVersion(version);
}

CUresult
cuGetErrorName(CUresult error, const char **text)
{
    return emu_cuGetErrorName(error, text);
}

CUresult
cuGetErrorString(CUresult error, const char **text)
{
    return emu_cuGetErrorString(error, text);
}

/* -- the library itself ------------------------------------------------------------ */

CUresult
emu_cuInit(unsigned int Flags)
{
    CUresult status = emu_enter_early(EMU_CALL_Init);

    if (status == CUDA_SUCCESS && Flags != 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && !emu_is_initialised()) {
        status = emu_fault_environment();
        if (status == CUDA_SUCCESS) {
            status = emu_late_open();
        }
        if (status == CUDA_SUCCESS) {
            status = emu_memory_open();
            if (status != CUDA_SUCCESS) {
                emu_message_set(
                    "The system refuses the 4 GiB of addresses that the software "
                    "device needs at least: see ulimit -v.");
            }
        }
        if (status == CUDA_SUCCESS) {
            status = emu_device_open();
        }
        if (status == CUDA_SUCCESS) {
            emu_mark_initialised();
        }
    }
    return emu_leave(status);
}

CUresult
emu_cuDriverGetVersion(int *driverVersion)
{
    CUresult status = emu_enter_early(EMU_CALL_DriverGetVersion);

    if (status == CUDA_SUCCESS && !driverVersion) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *driverVersion = EMU_DRIVER_VERSION;
    }
    return emu_leave(status);
}

/* These two are asked when something has failed: no fault is injected here. */
CUresult
emu_cuGetErrorName(CUresult error, const char **pStr)
{
#define RESULT_NAME(name, code, exception, text) \
    case code:                                   \
        *pStr = #name;                           \
        break;

    if (!pStr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch ((int)error) {
        PCU_RESULTS(RESULT_NAME)
        default:
            *pStr = NULL;
    }
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
#undef RESULT_NAME
}

CUresult
emu_cuGetErrorString(CUresult error, const char **pStr)
{
#define RESULT_TEXT(name, code, exception, text) \
    case code:                                   \
        *pStr = text;                            \
        break;

    if (!pStr) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    switch ((int)error) {
        PCU_RESULTS(RESULT_TEXT)
        default:
            *pStr = NULL;
    }
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
#undef RESULT_TEXT
}
