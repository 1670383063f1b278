/* The wrappers of driver functions that record a timeline: see timeline.h. The rows are
 * in tables/timed_calls.h. */

#include "driver/timeline.h"
#include "tables/timed_calls.h"

#define TIMED_CALL(name, kind, params, args, stream, bytes)                        \
    static CUresult timed_##name params                                            \
    {                                                                              \
        pcu_timed_call call;                                                       \
        pcu_timeline_enter(&call, PCU_SPAN_##kind, "cu" #name, (stream), (bytes)); \
        return pcu_timeline_leave(&call, pcu_timeline.plain.name args);            \
    }
PCU_TIMED_CALLS(TIMED_CALL)
#undef TIMED_CALL

static CUresult
timed_launch(CUfunction f, unsigned int grid_x, unsigned int grid_y,
             unsigned int grid_z, unsigned int block_x, unsigned int block_y,
             unsigned int block_z, unsigned int shared, CUstream stream, void **params,
             void **extra)
{
    const CUlaunchConfig config = {.gridDimX = grid_x,
                                   .gridDimY = grid_y,
                                   .gridDimZ = grid_z,
                                   .blockDimX = block_x,
                                   .blockDimY = block_y,
                                   .blockDimZ = block_z,
                                   .sharedMemBytes = shared,
                                   .hStream = stream};
    pcu_timed_call call;
    pcu_timeline_enter_launch(&call, "cuLaunchKernel", f, &config, extra);
    return pcu_timeline_leave(&call, pcu_timeline.plain.LaunchKernel(
                                         f, grid_x, grid_y, grid_z, block_x, block_y,
                                         block_z, shared, stream, params, extra));
}

static CUresult
timed_launch_ex(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    pcu_timed_call call;
    pcu_timeline_enter_launch(&call, "cuLaunchKernelEx", f, config, extra);
    return pcu_timeline_leave(
        &call, pcu_timeline.plain.LaunchKernelEx(config, f, params, extra));
}

/* -- calls that end what the timeline uses ----------------------------------------- */

/* Take the interpreter lock for a note before a call. Return 0 if nothing is recorded.
 */
static int
timed_attach(void **token)
{
    *token = NULL;
    if (!pcu_timeline.hooks.attach(token)) {
        return 0;
    }
    if (!pcu_timeline.on) {
        pcu_timeline.hooks.detach(*token);
        return 0;
    }
    return 1;
}

static CUresult
timed_unload(CUmodule module)
{
    void *token;
    if (timed_attach(&token)) {
        pcu_timeline_forget_functions();
        pcu_timeline.hooks.detach(token);
    }
    return pcu_timeline.plain.ModuleUnload(module);
}

static CUresult
timed_destroy(CUcontext context)
{
    void *token;
    if (timed_attach(&token)) {
        pcu_timeline_end_context(context);
        pcu_timeline.hooks.detach(token);
    }
    return pcu_timeline.plain.CtxDestroy(context);
}

/* Other owners may keep the primary context alive. Then its next call is timed again.
 */
static void
timed_end_primary(CUdevice device)
{
    void *token;
    if (timed_attach(&token)) {
        pcu_timeline_end_device(device);
        pcu_timeline.hooks.detach(token);
    }
}

static CUresult
timed_release(CUdevice device)
{
    timed_end_primary(device);
    return pcu_timeline.plain.DevicePrimaryCtxRelease(device);
}

static CUresult
timed_reset(CUdevice device)
{
    timed_end_primary(device);
    return pcu_timeline.plain.DevicePrimaryCtxReset(device);
}

void
pcu_timed_calls_install(void)
{
#define INSTALL(name, kind, params, args, stream, bytes) drv.name = timed_##name;
    PCU_TIMED_CALLS(INSTALL)
#undef INSTALL
    drv.LaunchKernel = timed_launch;
    drv.LaunchKernelEx = timed_launch_ex;
    drv.ModuleUnload = timed_unload;
    drv.CtxDestroy = timed_destroy;
    drv.DevicePrimaryCtxRelease = timed_release;
    drv.DevicePrimaryCtxReset = timed_reset;
}
