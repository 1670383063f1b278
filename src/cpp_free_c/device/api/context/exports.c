/* The names of the driver's interface that the library exports.
 *
 * Programs get all other functions from cuGetProcAddress, which searches a table. This
 * file also has the calls on the library itself: cuInit, versions, error names. */
#include <string.h>

#include "device/memory/memory.h"
#include "device/api/entry/call_log.h"
#include "device/api/entry/deferred.h"
#include "device/api/context/device_setup.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/fault_injection.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"

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

/* Pointers to objects and to functions are alike on every system with dlsym. C alone
 * does not promise that, so the bytes are copied. */
static void
export_store(void **out, entry_point function)
{
    _Static_assert(sizeof(*out) == sizeof(function), "pointers differ in size");
    memcpy(out, &function, sizeof(function));
}

/* Whether a row has this symbol. The second ABI of a function has a row of its own,
 * whose name ends in _v2. */
static bool
export_is_named(const char *row, const char *symbol)
{
    const size_t length = strlen(symbol);

    return strncmp(row, symbol, length) == 0 &&
           (row[length] == '\0' || strcmp(row + length, "_v2") == 0);
}

static int
export_find(const char *symbol, void **function, int version)
{
    int status = NO_SUCH_SYMBOL;
    int newest = -1; /* the version of the row found */

    *function = NULL;
    if (strcmp(symbol, "cuGetProcAddress") == 0) {
        if (version >= 12000) {
            export_store(function, (entry_point)cuGetProcAddress_v2);
        }
        else {
            export_store(function, (entry_point)cuGetProcAddress);
        }
        return FOUND;
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (entries[i].function == NULL || !export_is_named(entries[i].name, symbol) ||
            entries[i].version <= newest) {
            continue;
        }
        if (entries[i].version <= version) {
            export_store(function, entries[i].function);
            newest = entries[i].version;
            status = FOUND;
        }
        else if (newest < 0) {
            status = VERSION_TOO_LOW;
        }
    }
    return status;
}

CUresult
cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                    int *symbol_status)
{
    int status;

    if (symbol == NULL || function == NULL || flags > 2 ||
        version > EMU_DRIVER_VERSION) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    status = export_find(symbol, function, version);
    if (symbol_status != NULL) {
        *symbol_status = status;
    }
    if (status != FOUND) {
        return CUDA_ERROR_NOT_FOUND;
    }
    return CUDA_SUCCESS;
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

static CUresult
library_open_memory(void)
{
    CUresult status = emu_memory_open();

    if (status != CUDA_SUCCESS) {
        emu_message_set(
            "The system refuses the 4 GiB of addresses that the software device needs "
            "at "
            "least: see ulimit -v.");
    }
    return status;
}

/* The steps of the first cuInit. */
static CUresult (*const library_steps[])(void) = {
    emu_fault_environment, emu_call_log_environment, emu_deferred_open,
    library_open_memory,   emu_device_open,
};

CUresult
emu_cuInit(unsigned int Flags)
{
    CUresult status = emu_enter_early(EMU_CALL_Init);

    if (status == CUDA_SUCCESS && Flags != 0) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS && !emu_is_initialised()) {
        const size_t steps = sizeof(library_steps) / sizeof(library_steps[0]);

        for (size_t i = 0; status == CUDA_SUCCESS && i < steps; i++) {
            status = library_steps[i]();
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

    if (status == CUDA_SUCCESS && driverVersion == NULL) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    if (status == CUDA_SUCCESS) {
        *driverVersion = EMU_DRIVER_VERSION;
    }
    return emu_leave(status);
}

/* Programs ask for these texts when something has failed, so no fault is injected here.
 */
#define RESULT_TEXTS(name, code, exception, text) {code, #name, text},
static const struct {
    int code;
    const char *name, *text;
} results[] = {PCU_RESULTS(RESULT_TEXTS)};
#undef RESULT_TEXTS

/* The row of a result; -1 for an unknown one. */
static int
result_find(CUresult error)
{
    for (int i = 0; i < (int)(sizeof(results) / sizeof(results[0])); i++) {
        if (results[i].code == (int)error) {
            return i;
        }
    }
    return -1;
}

CUresult
emu_cuGetErrorName(CUresult error, const char **pStr)
{
    const int row = result_find(error);

    if (pStr == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = NULL;
    if (row < 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = results[row].name;
    return CUDA_SUCCESS;
}

CUresult
emu_cuGetErrorString(CUresult error, const char **pStr)
{
    const int row = result_find(error);

    if (pStr == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = NULL;
    if (row < 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *pStr = results[row].text;
    return CUDA_SUCCESS;
}
