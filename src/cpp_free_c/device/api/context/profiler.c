/* Profiler control: accepted, so that programs that bracket their work with it run;
 * there is no profiler to switch. */
#include "device/api/entry/entry.h"

CUresult
emu_cuProfilerInitialize(const char *configFile, const char *outputFile,
                         CUoutput_mode outputMode)
{
    CUresult status = EMU_ENTER(ProfilerInitialize);

    if (status == CUDA_SUCCESS &&
        (configFile == NULL || outputFile == NULL || outputMode > 1)) {
        status = CUDA_ERROR_INVALID_VALUE;
    }
    return emu_leave(status);
}

CUresult
emu_cuProfilerStart(void)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ProfilerStart, &context);

    return emu_leave(status);
}

CUresult
emu_cuProfilerStop(void)
{
    emu_context *context;
    CUresult status = EMU_ENTER_CONTEXT(ProfilerStop, &context);

    return emu_leave(status);
}
