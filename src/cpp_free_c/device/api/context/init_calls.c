/* The calls on the library itself: cuInit, versions, error names. */
#include <string.h>

#include "device/memory/memory.h"
#include "device/base/checks.h"
#include "device/base/site.h"
#include "device/base/warnings.h"
#include "device/sync_check/stream_check.h"
#include "device/api/context/leak.h"
#include "device/api/entry/call_log.h"
#include "device/api/entry/injection.h"
#include "device/api/entry/queue.h"
#include "device/api/context/device_setup.h"
#include "device/api/entry/entry.h"
#include "device/api/entry/lock.h"
#include "device/api/entry/message.h"

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

/* The words of PYCUDA_CHECK that watch more than kernels. */
static CUresult
library_open_checks(void)
{
    const unsigned checks = emu_checks_wanted();

    emu_site_want(checks != 0);
    emu_leak_open((checks & EMU_CHECK_LEAK) != 0);
    emu_stream_check_open((checks & EMU_CHECK_SYNC) != 0);
    return CUDA_SUCCESS;
}

/* The steps of the first cuInit. */
static CUresult (*const library_steps[])(void) = {
    emu_injection_environment, emu_call_log_environment, emu_queue_open,
    library_open_memory,       emu_device_open,          library_open_checks,
};

CUresult
emu_cuInit(unsigned int Flags)
{
    const size_t steps = sizeof(library_steps) / sizeof(library_steps[0]);

    if (Flags != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (emu_is_initialised()) {
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < steps; i++) {
        CUresult status = library_steps[i]();

        if (status != CUDA_SUCCESS) {
            return status;
        }
    }
    emu_mark_initialised();
    return CUDA_SUCCESS;
}

EMU_GETTER(emu_cuDriverGetVersion, (int *driverVersion), driverVersion,
           emu_driver_version())

/* The runtime library asks for its first table when a program calls it for the first
 * time, and gives the program 801 without a cause. So the cause is said here, once. */
CUresult
emu_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    static const char cause[] =
        "The software device does not have cuGetExportTable: tables of functions that "
        "NVIDIA does not document. CUDA's runtime library (cudaMalloc and so on) and "
        "the libraries on it reach the driver through them, so they need a GPU; "
        "programs that call the driver (cuMemAlloc and so on) run.\n";
    const int length = (int)sizeof(cause) - 2; /* without the end of the line */
    static bool is_said = false;               /* guarded by the API lock */

    (void)ppExportTable;
    (void)pExportTableId;
    emu_message_set("%.*s", length, cause);
    emu_error_log_say("%.*s", length, cause);
    if (!is_said) {
        is_said = true;
        emu_warning_add(NULL, cause, (emu_ptx_place){0});
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Programs ask for these texts when something has failed, so no fault is injected here.
 */
#define RESULT_TEXTS(name, code, exception, text) {code, #name, text},
static const struct {
    int code;
    const char *name, *text;
} results[] = {PCU_RESULTS(RESULT_TEXTS)};
#undef RESULT_TEXTS

/* Store the name or the text of a result. */
static CUresult
result_find(CUresult error, bool is_name, const char **found)
{
    if (found == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *found = NULL;
    for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
        if (results[i].code == (int)error) {
            *found = is_name ? results[i].name : results[i].text;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult
emu_cuGetErrorName(CUresult error, const char **pStr)
{
    return result_find(error, true, pStr);
}

CUresult
emu_cuGetErrorString(CUresult error, const char **pStr)
{
    return result_find(error, false, pStr);
}
