/* Profiler control: accepted, so that programs that bracket their work with it run;
 * there is no profiler to switch. */
#include "device/api/entry/entry.h"

CUresult
emu_cuProfilerInitialize(const char *configFile, const char *outputFile,
                         CUoutput_mode outputMode)
{
    if (configFile == NULL || outputFile == NULL || outputMode > 1) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult
emu_cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}

CUresult
emu_cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}
