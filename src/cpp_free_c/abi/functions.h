/* The functions of the driver, one row each. Everything that both libraries know of a
 * function comes from its row: the extension's table of loaded functions, the stubs,
 * the rule of the interpreter lock and the timeline; the software device's exports, the
 * answers of cuGetProcAddress, and how a call enters and leaves.
 *
 *   X(Name, export, version, thread, caller,
 *     door, traits, span,
 *     (type, parameter), ...)
 *
 * Name is the CUDA name without its cu. A name that ends in _v and a number is another
 * ABI of a function that has a row without it. The parameters are those of the ABI that
 * appeared in the CUDA version given (major * 1000 + minor * 10); cuGetProcAddress is
 * asked for that version. `void` stands for no parameters. All functions return
 * CUresult.
 *
 * export: the name in the driver's library. (export, other, version): another export
 * has the same ABI, since that version.
 *
 * thread: whether the library also exports a form whose default stream is that of the
 * thread (since CUDA 7.0): ONE, it does not; PTDS or PTSZ, it does, with that ending.
 *
 * caller: who calls the function.
 *   REQUIRED(lock)  the extension; init() refuses a driver that lacks it (all since
 *                   11.4 have it)
 *   OPTIONAL(lock)  the extension; if the driver lacks it, a call returns NOT_FOUND
 *   CLIENT          other programs only
 * lock: when the call may take long, so that the interpreter lock is released around it
 * (PCU_STATUS in python/support/driver_call.h), and for what it waits, so that signals
 * can end the wait (driver/waits.h). Measured on an H200:
 *   NOGIL   it may wait for the device, read files or work for milliseconds
 *   IDLE    the same, and it waits until all work of the context has ended
 *   COPY    as NOGIL, and it enqueues work in a stream
 *   SYNC    the same, and it waits for the work of the default stream
 *   QUEUE   it enqueues work in a stream, and waits if the queue is full
 *   BEHIND  it waits only behind a NOGIL call of another thread that holds the driver's
 *           lock; QUEUE and COPY may do that too
 *   GIL     it only looks up a value
 *
 * door: how a call enters the software device (device/api/exports/exports.c explains
 * the doors). traits: what such a call does to captures and to work under way
 * (device/api/entry/call.h). NOT_BUILT: the software device lacks the function; rows of
 * functions that nothing here calls then have no parameters.
 * These are mostly the forms of CUDA 2 and 3: cuMemcpyHtoD without _v2 takes an address
 * of 32 bits. A program compiled since CUDA 3.2 calls the _v2 forms.
 *
 * span: what a timeline records. NO_SPAN: nothing. SPAN(kind, stream, bytes): a span of
 * the kind. OWN_SPAN: python/driver/timeline.c has a function for it.
 *
 * test/driver/test_abi.py compares the rows with cuda.h, test/device/test_exports.py
 * compares them with the names that a driver exports. */
#ifndef ABI_FUNCTIONS_H
#define ABI_FUNCTIONS_H

/* clang-format off */
#define PCU_FUNCTIONS(X)                                                               \
                                                                                       \
    /* the library itself */                                                           \
    X(Init, cuInit, 2000, ONE, REQUIRED(NOGIL),                                        \
      EARLY, PLAIN, NO_SPAN, (unsigned int, Flags))                                    \
    X(DriverGetVersion, cuDriverGetVersion, 2020, ONE, REQUIRED(GIL),                  \
      EARLY, PLAIN, NO_SPAN, (int *, driverVersion))                                   \
    X(GetErrorName, cuGetErrorName, 6000, ONE, REQUIRED(GIL),                          \
      NO_DOOR, PLAIN, NO_SPAN, (CUresult, error), (const char **, pStr))               \
    X(GetErrorString, cuGetErrorString, 6000, ONE, REQUIRED(GIL),                      \
      NO_DOOR, PLAIN, NO_SPAN, (CUresult, error), (const char **, pStr))               \
    X(LogsRegisterCallback, cuLogsRegisterCallback, 12090, ONE, OPTIONAL(GIL),         \
      EARLY, PLAIN, NO_SPAN,                                                           \
      (CUlogsCallback, callbackFunc), (void *, userData),                              \
      (CUlogsCallbackHandle *, callback_out))                                          \
    X(GetProcAddress, cuGetProcAddress, 11030, ONE, CLIENT,                            \
      NO_DOOR, PLAIN, NO_SPAN,                                                         \
      (const char *, symbol), (void **, pfn), (int, cudaVersion), (cuuint64_t, flags)) \
    X(GetProcAddress_v2, cuGetProcAddress_v2, 12000, ONE, CLIENT,                      \
      NO_DOOR, PLAIN, NO_SPAN,                                                         \
      (const char *, symbol), (void **, pfn), (int, cudaVersion), (cuuint64_t, flags), \
      (unsigned int *, symbolStatus))                                                  \
    X(GetExportTable, cuGetExportTable, 3000, ONE, CLIENT,                             \
      EARLY, PLAIN, NO_SPAN,                                                       \
      (const void **, ppExportTable), (const CUuuid *, pExportTableId))                \
                                                                                       \
    /* devices */                                                                      \
    X(DeviceGet, cuDeviceGet, 2000, ONE, REQUIRED(GIL),                                \
      INITIALISED, PLAIN, NO_SPAN, (CUdevice *, device), (int, ordinal))               \
    X(DeviceGetCount, cuDeviceGetCount, 2000, ONE, REQUIRED(GIL),                      \
      INITIALISED, PLAIN, NO_SPAN, (int *, count))                                     \
    X(DeviceGetName, cuDeviceGetName, 2000, ONE, REQUIRED(GIL),                        \
      DEVICE(dev), PLAIN, NO_SPAN, (char *, name), (int, len), (CUdevice, dev))        \
    X(DeviceGetUuid, (cuDeviceGetUuid, cuDeviceGetUuid_v2, 11040), 9020, ONE,          \
      OPTIONAL(GIL),                                                                   \
      DEVICE(dev), PLAIN, NO_SPAN, (CUuuid *, uuid), (CUdevice, dev))                  \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, 3020, ONE, REQUIRED(GIL),                   \
      DEVICE(dev), PLAIN, NO_SPAN, (size_t *, bytes), (CUdevice, dev))                 \
    X(DeviceGetAttribute, cuDeviceGetAttribute, 2000, ONE, REQUIRED(GIL),              \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (int *, pi), (CUdevice_attribute, attrib), (CUdevice, dev))                      \
    X(DeviceGetByPCIBusId, cuDeviceGetByPCIBusId, 4010, ONE, REQUIRED(GIL),            \
      INITIALISED, PLAIN, NO_SPAN, (CUdevice *, dev), (const char *, pciBusId))        \
    X(DeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010, ONE, REQUIRED(GIL),                \
      DEVICE(dev), PLAIN, NO_SPAN, (char *, pciBusId), (int, len), (CUdevice, dev))    \
    X(DeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000, ONE, REQUIRED(GIL),            \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (int *, canAccessPeer), (CUdevice, dev), (CUdevice, peerDev))                    \
    X(DeviceGetP2PAttribute, cuDeviceGetP2PAttribute, 8000, ONE, OPTIONAL(GIL),        \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (int *, value), (CUdevice_P2PAttribute, attrib), (CUdevice, srcDevice),          \
      (CUdevice, dstDevice))                                                           \
    X(DeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, 11020, ONE, OPTIONAL(GIL),   \
      INITIALISED, PLAIN, NO_SPAN, (CUmemoryPool *, pool_out), (CUdevice, dev))        \
    X(DeviceGetMemPool, cuDeviceGetMemPool, 11020, ONE, OPTIONAL(GIL),                 \
      INITIALISED, PLAIN, NO_SPAN, (CUmemoryPool *, pool), (CUdevice, dev))            \
    X(DeviceSetMemPool, cuDeviceSetMemPool, 11020, ONE, OPTIONAL(GIL),                 \
      INITIALISED, PLAIN, NO_SPAN, (CUdevice, dev), (CUmemoryPool, pool))              \
    X(DeviceComputeCapability, cuDeviceComputeCapability, 2000, ONE, CLIENT,           \
      DEVICE(dev), PLAIN, NO_SPAN, (int *, major), (int *, minor), (CUdevice, dev))    \
    X(DeviceGetProperties, cuDeviceGetProperties, 2000, ONE, CLIENT,                   \
      DEVICE(dev), PLAIN, NO_SPAN, (CUdevprop *, prop), (CUdevice, dev))               \
    X(DeviceGetExecAffinitySupport, cuDeviceGetExecAffinitySupport, 11040, ONE,        \
      CLIENT,                                                                          \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (int *, pi), (CUexecAffinityType, type), (CUdevice, dev))                        \
    X(DeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities, 13000, ONE,  \
      CLIENT,                                                                          \
      NOT_BUILT, PLAIN, NO_SPAN,                                                       \
      (unsigned int *, capabilities), (const CUatomicOperation *, operations),         \
      (unsigned int, count), (CUdevice, dev))                                          \
    X(DeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities, 13000, ONE,    \
      CLIENT,                                                                          \
      NOT_BUILT, PLAIN, NO_SPAN,                                                       \
      (unsigned int *, capabilities), (const CUatomicOperation *, operations),         \
      (unsigned int, count), (CUdevice, srcDevice), (CUdevice, dstDevice))             \
    X(FlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites, 11030, ONE, CLIENT,        \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUflushGPUDirectRDMAWritesTarget, target),                                      \
      (CUflushGPUDirectRDMAWritesScope, scope))                                        \
                                                                                       \
    /* primary contexts */                                                             \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, ONE, REQUIRED(NOGIL),    \
      DEVICE(dev), PLAIN, NO_SPAN, (CUcontext *, pctx), (CUdevice, dev))               \
    X(DevicePrimaryCtxRelease,                                                         \
      (cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 7000), 11000, ONE,     \
      REQUIRED(NOGIL),                                                                 \
      DEVICE(dev), ENDS_CONTEXT, OWN_SPAN, (CUdevice, dev))                            \
    X(DevicePrimaryCtxSetFlags,                                                        \
      (cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags, 7000), 11000, ONE,   \
      OPTIONAL(GIL),                                                                   \
      DEVICE(dev), PLAIN, NO_SPAN, (CUdevice, dev), (unsigned int, flags))             \
    X(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000, ONE, OPTIONAL(GIL),  \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (CUdevice, dev), (unsigned int *, flags), (int *, active))                       \
    X(DevicePrimaryCtxReset,                                                           \
      (cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 7000), 11000, ONE,         \
      OPTIONAL(NOGIL),                                                                 \
      DEVICE(dev), ENDS_CONTEXT, OWN_SPAN, (CUdevice, dev))                            \
                                                                                       \
    /* contexts */                                                                     \
    X(CtxCreate, (cuCtxCreate_v2, cuCtxCreate, 2000), 3020, ONE, REQUIRED(NOGIL),      \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (CUcontext *, pctx), (unsigned int, flags), (CUdevice, dev))                     \
    X(CtxDestroy, (cuCtxDestroy_v2, cuCtxDestroy, 2000), 4000, ONE, REQUIRED(NOGIL),   \
      INITIALISED, ENDS_CONTEXT, OWN_SPAN, (CUcontext, ctx))                           \
    X(CtxPushCurrent, (cuCtxPushCurrent_v2, cuCtxPushCurrent, 2000), 4000, ONE,        \
      REQUIRED(GIL),                                                                   \
      INITIALISED, PLAIN, NO_SPAN, (CUcontext, ctx))                                   \
    X(CtxPopCurrent, (cuCtxPopCurrent_v2, cuCtxPopCurrent, 2000), 4000, ONE,           \
      REQUIRED(GIL),                                                                   \
      INITIALISED, PLAIN, NO_SPAN, (CUcontext *, pctx))                                \
    X(CtxSetCurrent, cuCtxSetCurrent, 4000, ONE, REQUIRED(GIL),                        \
      INITIALISED, PLAIN, NO_SPAN, (CUcontext, ctx))                                   \
    X(CtxGetCurrent, cuCtxGetCurrent, 4000, ONE, REQUIRED(GIL),                        \
      INITIALISED, PLAIN, NO_SPAN, (CUcontext *, pctx))                                \
    X(CtxGetDevice, cuCtxGetDevice, 2000, ONE, REQUIRED(GIL),                          \
      CONTEXT_EVEN_FAILED, PLAIN, NO_SPAN, (CUdevice *, device))                       \
    X(CtxGetFlags, cuCtxGetFlags, 7000, ONE, OPTIONAL(GIL),                            \
      CONTEXT_EVEN_FAILED, PLAIN, NO_SPAN, (unsigned int *, flags))                    \
    X(CtxGetId, cuCtxGetId, 12000, ONE, OPTIONAL(GIL),                                 \
      CONTEXT_OR_CURRENT(ctx), PLAIN, NO_SPAN,                                         \
      (CUcontext, ctx), (unsigned long long *, ctxId))                                 \
    X(CtxSynchronize, cuCtxSynchronize, 2000, ONE, REQUIRED(NOGIL),                    \
      CONTEXT, WAITS, SPAN(WAIT, NULL, 0), void)                                       \
    X(CtxGetLimit, cuCtxGetLimit, 3010, ONE, REQUIRED(GIL),                            \
      CONTEXT, PLAIN, NO_SPAN, (size_t *, pvalue), (CUlimit, limit))                   \
    X(CtxSetLimit, cuCtxSetLimit, 3010, ONE, REQUIRED(IDLE),                           \
      CONTEXT, PLAIN, NO_SPAN, (CUlimit, limit), (size_t, value))                      \
    X(CtxGetCacheConfig, cuCtxGetCacheConfig, 3020, ONE, REQUIRED(GIL),                \
      CONTEXT, PLAIN, NO_SPAN, (CUfunc_cache *, pconfig))                              \
    X(CtxSetCacheConfig, cuCtxSetCacheConfig, 3020, ONE, REQUIRED(GIL),                \
      CONTEXT, PLAIN, NO_SPAN, (CUfunc_cache, config))                                 \
    X(CtxGetSharedMemConfig, cuCtxGetSharedMemConfig, 4020, ONE, OPTIONAL(GIL),        \
      CURRENT, PLAIN, NO_SPAN, (CUsharedconfig *, pConfig))                            \
    X(CtxSetSharedMemConfig, cuCtxSetSharedMemConfig, 4020, ONE, OPTIONAL(GIL),        \
      CONTEXT, PLAIN, NO_SPAN, (CUsharedconfig, config))                               \
    X(CtxGetApiVersion, cuCtxGetApiVersion, 3020, ONE, REQUIRED(GIL),                  \
      CONTEXT_OR_CURRENT(ctx), PLAIN, NO_SPAN,                                         \
      (CUcontext, ctx), (unsigned int *, version))                                     \
    X(CtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050, ONE,               \
      OPTIONAL(GIL),                                                                   \
      CURRENT, PLAIN, NO_SPAN, (int *, leastPriority), (int *, greatestPriority))      \
    X(CtxFromGreenCtx, cuCtxFromGreenCtx, 12040, ONE, OPTIONAL(BEHIND),                \
      OBJECT(GREEN_CONTEXT, hCtx), PLAIN, NO_SPAN,                                     \
      (CUcontext *, pContext), (CUgreenCtx, hCtx))                                     \
    X(CtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, 11000, ONE,              \
      OPTIONAL(GIL),                                                                   \
      CURRENT, PLAIN, NO_SPAN, void)                                                   \
    X(CtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000, ONE, REQUIRED(NOGIL),          \
      CONTEXT, PLAIN, NO_SPAN, (CUcontext, peerContext), (unsigned int, Flags))        \
    X(CtxDisablePeerAccess, cuCtxDisablePeerAccess, 4000, ONE, REQUIRED(NOGIL),        \
      CONTEXT, PLAIN, NO_SPAN, (CUcontext, peerContext))                               \
    X(CtxCreate_v3, cuCtxCreate_v3, 11040, ONE, CLIENT,                                \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (CUcontext *, pctx), (CUexecAffinityParam *, paramsArray), (int, numParams),     \
      (unsigned int, flags), (CUdevice, dev))                                          \
    X(CtxCreate_v4, cuCtxCreate_v4, 12050, ONE, CLIENT,                                \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (CUcontext *, pctx), (CUctxCreateParams *, ctxCreateParams),                     \
      (unsigned int, flags), (CUdevice, dev))                                          \
    X(CtxGetDevice_v2, cuCtxGetDevice_v2, 13000, ONE, CLIENT,                          \
      CONTEXT_OR_CURRENT(ctx), PLAIN, NO_SPAN, (CUdevice *, device), (CUcontext, ctx)) \
    X(CtxSynchronize_v2, cuCtxSynchronize_v2, 13000, ONE, CLIENT,                      \
      CONTEXT_OR_CURRENT(ctx), WAITS, NO_SPAN, (CUcontext, ctx))                       \
    X(CtxSetFlags, cuCtxSetFlags, 12010, ONE, CLIENT,                                  \
      CONTEXT, PLAIN, NO_SPAN, (unsigned int, flags))                                  \
    X(CtxGetExecAffinity, cuCtxGetExecAffinity, 11040, ONE, CLIENT,                    \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUexecAffinityParam *, pExecAffinity), (CUexecAffinityType, type))              \
    X(CtxRecordEvent, cuCtxRecordEvent, 12050, ONE, OPTIONAL(QUEUE),                   \
      INITIALISED, REACHES, NO_SPAN, (CUcontext, hCtx), (CUevent, hEvent))             \
    X(CtxWaitEvent, cuCtxWaitEvent, 12050, ONE, CLIENT,                                \
      INITIALISED, PLAIN, NO_SPAN, (CUcontext, hCtx), (CUevent, hEvent))               \
                                                                                       \
    /* modules, functions */                                                           \
    X(ModuleLoad, cuModuleLoad, 2000, ONE, REQUIRED(IDLE),                             \
      CONTEXT, ALLOCATES, SPAN(LOAD, NULL, 0),                                         \
      (CUmodule *, module), (const char *, fname))                                     \
    X(ModuleLoadData, cuModuleLoadData, 2000, ONE, REQUIRED(IDLE),                     \
      CONTEXT, ALLOCATES, SPAN(LOAD, NULL, 0),                                         \
      (CUmodule *, module), (const void *, image))                                     \
    X(ModuleLoadDataEx, cuModuleLoadDataEx, 2010, ONE, REQUIRED(IDLE),                 \
      CONTEXT, ALLOCATES, SPAN(LOAD, NULL, 0),                                         \
      (CUmodule *, module), (const void *, image), (unsigned int, numOptions),         \
      (CUjit_option *, options), (void **, optionValues))                              \
    X(ModuleLoadFatBinary, cuModuleLoadFatBinary, 2000, ONE, OPTIONAL(IDLE),           \
      CONTEXT, ALLOCATES, NO_SPAN, (CUmodule *, module), (const void *, fatCubin))     \
    X(ModuleUnload, cuModuleUnload, 2000, ONE, REQUIRED(IDLE),                         \
      OBJECT(MODULE, hmod), FREES, OWN_SPAN, (CUmodule, hmod))                         \
    X(ModuleGetFunction, cuModuleGetFunction, 2000, ONE, REQUIRED(BEHIND),             \
      OBJECT(MODULE, hmod), PLAIN, NO_SPAN,                                            \
      (CUfunction *, hfunc), (CUmodule, hmod), (const char *, name))                   \
    X(ModuleGetGlobal, cuModuleGetGlobal_v2, 3020, ONE, REQUIRED(BEHIND),              \
      OBJECT(MODULE, hmod), PLAIN, NO_SPAN,                                            \
      (CUdeviceptr *, dptr), (size_t *, bytes), (CUmodule, hmod),                      \
      (const char *, name))                                                            \
    X(ModuleGetTexRef, cuModuleGetTexRef, 2000, ONE, OPTIONAL(BEHIND),                 \
      OBJECT(MODULE, hmod), PLAIN, NO_SPAN,                                            \
      (CUtexref *, pTexRef), (CUmodule, hmod), (const char *, name))                   \
    X(ModuleGetSurfRef, cuModuleGetSurfRef, 3000, ONE, OPTIONAL(BEHIND),               \
      OBJECT(MODULE, hmod), PLAIN, NO_SPAN,                                            \
      (CUsurfref *, pSurfRef), (CUmodule, hmod), (const char *, name))                 \
    X(ModuleGetFunctionCount, cuModuleGetFunctionCount, 12040, ONE, OPTIONAL(GIL),     \
      OBJECT(MODULE, hmod), PLAIN, NO_SPAN, (unsigned int *, count), (CUmodule, hmod)) \
    X(ModuleEnumerateFunctions, cuModuleEnumerateFunctions, 12040, ONE, OPTIONAL(GIL), \
      OBJECT(MODULE, mod), PLAIN, NO_SPAN,                                             \
      (CUfunction *, functions), (unsigned int, numFunctions), (CUmodule, mod))        \
    X(LibraryGetModule, cuLibraryGetModule, 12000, ONE, OPTIONAL(BEHIND),              \
      CONTEXT, PLAIN, NO_SPAN, (CUmodule *, pMod), (CUlibrary, library))               \
    X(KernelGetFunction, cuKernelGetFunction, 12000, ONE, OPTIONAL(BEHIND),            \
      OBJECT(KERNEL, kernel), PLAIN, NO_SPAN,                                          \
      (CUfunction *, pFunc), (CUkernel, kernel))                                       \
    X(ModuleGetLoadingMode, cuModuleGetLoadingMode, 11070, ONE, OPTIONAL(GIL),         \
      INITIALISED, PLAIN, NO_SPAN, (CUmoduleLoadingMode *, mode))                      \
    X(FuncGetAttribute, cuFuncGetAttribute, 2020, ONE, REQUIRED(GIL),                  \
      FUNCTION(hfunc), PLAIN, NO_SPAN,                                                 \
      (int *, pi), (CUfunction_attribute, attrib), (CUfunction, hfunc))                \
    X(FuncSetAttribute, cuFuncSetAttribute, 9000, ONE, REQUIRED(BEHIND),               \
      FUNCTION(hfunc), PLAIN, NO_SPAN,                                                 \
      (CUfunction, hfunc), (CUfunction_attribute, attrib), (int, value))               \
    X(FuncSetCacheConfig, cuFuncSetCacheConfig, 3000, ONE, REQUIRED(BEHIND),           \
      FUNCTION(hfunc), PLAIN, NO_SPAN, (CUfunction, hfunc), (CUfunc_cache, config))    \
    X(FuncSetSharedMemConfig, cuFuncSetSharedMemConfig, 4020, ONE, OPTIONAL(GIL),      \
      FUNCTION(hfunc), PLAIN, NO_SPAN, (CUfunction, hfunc), (CUsharedconfig, config))  \
    X(FuncGetModule, cuFuncGetModule, 11000, ONE, OPTIONAL(GIL),                       \
      FUNCTION(hfunc), PLAIN, NO_SPAN, (CUmodule *, hmod), (CUfunction, hfunc))        \
    X(FuncGetName, cuFuncGetName, 12030, ONE, OPTIONAL(GIL),                           \
      FUNCTION(hfunc), PLAIN, NO_SPAN, (const char **, name), (CUfunction, hfunc))     \
    X(FuncGetParamInfo, cuFuncGetParamInfo, 12040, ONE, OPTIONAL(GIL),                 \
      FUNCTION(func), PLAIN, NO_SPAN,                                                  \
      (CUfunction, func), (size_t, paramIndex), (size_t *, paramOffset),               \
      (size_t *, paramSize))                                                           \
    X(FuncIsLoaded, cuFuncIsLoaded, 12040, ONE, OPTIONAL(GIL),                         \
      FUNCTION(hfunc), PLAIN, NO_SPAN,                                                 \
      (CUfunctionLoadingState *, state), (CUfunction, hfunc))                          \
    X(FuncLoad, cuFuncLoad, 12040, ONE, OPTIONAL(NOGIL),                               \
      FUNCTION(hfunc), PLAIN, NO_SPAN, (CUfunction, hfunc))                            \
                                                                                       \
    /* linking */                                                                      \
    X(LinkCreate, (cuLinkCreate_v2, cuLinkCreate, 5050), 6050, ONE, REQUIRED(NOGIL),   \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (unsigned int, numOptions), (CUjit_option *, options), (void **, optionValues),  \
      (CUlinkState *, stateOut))                                                       \
    X(LinkAddData, (cuLinkAddData_v2, cuLinkAddData, 5050), 6050, ONE,                 \
      REQUIRED(NOGIL),                                                                 \
      OBJECT(LINK, state), PLAIN, NO_SPAN,                                             \
      (CUlinkState, state), (CUjitInputType, type), (void *, data), (size_t, size),    \
      (const char *, name), (unsigned int, numOptions), (CUjit_option *, options),     \
      (void **, optionValues))                                                         \
    X(LinkAddFile, (cuLinkAddFile_v2, cuLinkAddFile, 5050), 6050, ONE,                 \
      REQUIRED(NOGIL),                                                                 \
      OBJECT(LINK, state), PLAIN, NO_SPAN,                                             \
      (CUlinkState, state), (CUjitInputType, type), (const char *, path),              \
      (unsigned int, numOptions), (CUjit_option *, options), (void **, optionValues))  \
    X(LinkComplete, cuLinkComplete, 5050, ONE, REQUIRED(NOGIL),                        \
      OBJECT(LINK, state), PLAIN, SPAN(LOAD, NULL, 0),                                 \
      (CUlinkState, state), (void **, cubinOut), (size_t *, sizeOut))                  \
    X(LinkDestroy, cuLinkDestroy, 5050, ONE, REQUIRED(NOGIL),                          \
      OBJECT(LINK, state), PLAIN, NO_SPAN, (CUlinkState, state))                       \
                                                                                       \
    /* launching */                                                                    \
    X(LaunchKernel, cuLaunchKernel, 4000, PTSZ, REQUIRED(QUEUE),                       \
      STREAM(hStream), PLAIN, OWN_SPAN,                                                \
      (CUfunction, f), (unsigned int, gridDimX), (unsigned int, gridDimY),             \
      (unsigned int, gridDimZ), (unsigned int, blockDimX), (unsigned int, blockDimY),  \
      (unsigned int, blockDimZ), (unsigned int, sharedMemBytes), (CUstream, hStream),  \
      (void **, kernelParams), (void **, extra))                                       \
    X(LaunchKernelEx, cuLaunchKernelEx, 11060, PTSZ, OPTIONAL(QUEUE),                  \
      STREAM_CONTEXT(config == NULL ? NULL : config->hStream), PLAIN, OWN_SPAN,        \
      (const CUlaunchConfig *, config), (CUfunction, f), (void **, kernelParams),      \
      (void **, extra))                                                                \
    X(LaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000, PTSZ, OPTIONAL(QUEUE), \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUfunction, f), (unsigned int, gridDimX), (unsigned int, gridDimY),             \
      (unsigned int, gridDimZ), (unsigned int, blockDimX), (unsigned int, blockDimY),  \
      (unsigned int, blockDimZ), (unsigned int, sharedMemBytes), (CUstream, hStream),  \
      (void **, kernelParams))                                                         \
    X(LaunchHostFunc, cuLaunchHostFunc, 10000, PTSZ, OPTIONAL(QUEUE),                  \
      STREAM(hStream), PLAIN, SPAN(HOST_FUNCTION, hStream, 0),                         \
      (CUstream, hStream), (CUhostFn, fn), (void *, userData))                         \
    X(OccupancyMaxActiveBlocksPerMultiprocessor,                                       \
      cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, ONE, OPTIONAL(GIL),           \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (int *, numBlocks), (CUfunction, func), (int, blockSize),                        \
      (size_t, dynamicSMemSize))                                                       \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags,                              \
      cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, ONE, OPTIONAL(GIL),  \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (int *, numBlocks), (CUfunction, func), (int, blockSize),                        \
      (size_t, dynamicSMemSize), (unsigned int, flags))                                \
    X(OccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, 6050, ONE,     \
      OPTIONAL(GIL),                                                                   \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (int *, minGridSize), (int *, blockSize), (CUfunction, func),                    \
      (CUoccupancyB2DSize, blockSizeToDynamicSMemSize), (size_t, dynamicSMemSize),     \
      (int, blockSizeLimit))                                                           \
    X(OccupancyAvailableDynamicSMemPerBlock, cuOccupancyAvailableDynamicSMemPerBlock,  \
      10020, ONE, OPTIONAL(GIL),                                                       \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (size_t *, dynamicSmemSize), (CUfunction, func), (int, numBlocks),               \
      (int, blockSize))                                                                \
    X(OccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize, 11070,     \
      ONE, OPTIONAL(GIL),                                                              \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (int *, clusterSize), (CUfunction, func), (const CUlaunchConfig *, config))      \
    X(OccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters, 11070, ONE,            \
      OPTIONAL(GIL),                                                                   \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (int *, numClusters), (CUfunction, func), (const CUlaunchConfig *, config))      \
                                                                                       \
    /* memory */                                                                       \
    X(MemGetInfo, cuMemGetInfo_v2, 3020, ONE, REQUIRED(GIL),                           \
      CONTEXT, PLAIN, NO_SPAN, (size_t *, free), (size_t *, total))                    \
    X(MemAlloc, cuMemAlloc_v2, 3020, ONE, REQUIRED(BEHIND),                            \
      CONTEXT, ALLOCATES, SPAN(ALLOCATE, NULL, bytesize),                              \
      (CUdeviceptr *, dptr), (size_t, bytesize))                                       \
    X(MemAllocPitch, cuMemAllocPitch_v2, 3020, ONE, REQUIRED(BEHIND),                  \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (CUdeviceptr *, dptr), (size_t *, pPitch), (size_t, WidthInBytes),               \
      (size_t, Height), (unsigned int, ElementSizeBytes))                              \
    X(MemFree, cuMemFree_v2, 3020, ONE, REQUIRED(IDLE),                                \
      MEMORY(dptr), FREES_MEMORY, SPAN(FREE, NULL, 0), (CUdeviceptr, dptr))                   \
    X(MemGetAddressRange, cuMemGetAddressRange_v2, 3020, ONE, REQUIRED(GIL),           \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, pbase), (size_t *, psize), (CUdeviceptr, dptr))                  \
    X(MemHostAlloc, cuMemHostAlloc, 2020, ONE, REQUIRED(NOGIL),                        \
      CONTEXT, ALLOCATES, SPAN(ALLOCATE, NULL, bytesize),                              \
      (void **, pp), (size_t, bytesize), (unsigned int, Flags))                        \
    X(MemFreeHost, cuMemFreeHost, 2000, ONE, REQUIRED(IDLE),                           \
      MEMORY((uintptr_t)p), FREES, SPAN(FREE, NULL, 0), (void *, p))                   \
    X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, 3020, ONE, REQUIRED(GIL), \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, pdptr), (void *, p), (unsigned int, Flags))                      \
    X(MemHostGetFlags, cuMemHostGetFlags, 2030, ONE, REQUIRED(GIL),                    \
      CURRENT, PLAIN, NO_SPAN, (unsigned int *, pFlags), (void *, p))                  \
    X(MemHostRegister, (cuMemHostRegister_v2, cuMemHostRegister, 4000), 6050, ONE,     \
      REQUIRED(NOGIL),                                                                 \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (void *, p), (size_t, bytesize), (unsigned int, Flags))                          \
    X(MemHostUnregister, cuMemHostUnregister, 4000, ONE, REQUIRED(IDLE),               \
      CURRENT, FREES, NO_SPAN, (void *, p))                                            \
    X(MemAllocManaged, cuMemAllocManaged, 6000, ONE, REQUIRED(BEHIND),                 \
      CONTEXT, ALLOCATES, SPAN(ALLOCATE, NULL, bytesize),                              \
      (CUdeviceptr *, dptr), (size_t, bytesize), (unsigned int, flags))                \
    X(MemPrefetchAsync, cuMemPrefetchAsync, 8000, PTSZ, OPTIONAL(QUEUE),               \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUdeviceptr, devPtr), (size_t, count), (CUdevice, dstDevice),                   \
      (CUstream, hStream))                                                             \
    X(MemAdvise, cuMemAdvise, 8000, ONE, OPTIONAL(BEHIND),                             \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr, devPtr), (size_t, count), (CUmem_advise, advice),                  \
      (CUdevice, device))                                                              \
    X(MemPrefetchAsync_v2, cuMemPrefetchAsync_v2, 12020, PTSZ, OPTIONAL(QUEUE),        \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUdeviceptr, devPtr), (size_t, count), (CUmemLocation, location),               \
      (unsigned int, flags), (CUstream, hStream))                                      \
    X(MemAdvise_v2, cuMemAdvise_v2, 12020, ONE, OPTIONAL(BEHIND),                      \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr, devPtr), (size_t, count), (CUmem_advise, advice),                  \
      (CUmemLocation, location))                                                       \
    X(MemPrefetchBatchAsync, cuMemPrefetchBatchAsync, 13000, PTSZ, OPTIONAL(QUEUE),    \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUdeviceptr *, dptrs), (size_t *, sizes), (size_t, count),                      \
      (CUmemLocation *, prefetchLocs), (size_t *, prefetchLocIdxs),                    \
      (size_t, numPrefetchLocs), (unsigned long long, flags), (CUstream, hStream))     \
    X(MemRangeGetAttribute, cuMemRangeGetAttribute, 8000, ONE, OPTIONAL(BEHIND),       \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (void *, data), (size_t, dataSize), (CUmem_range_attribute, attribute),          \
      (CUdeviceptr, devPtr), (size_t, count))                                          \
    X(StreamAttachMemAsync, cuStreamAttachMemAsync, 6000, PTSZ, REQUIRED(QUEUE),       \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUdeviceptr, dptr), (size_t, length),                      \
      (unsigned int, flags))                                                           \
    X(PointerGetAttribute, cuPointerGetAttribute, 4000, ONE, REQUIRED(GIL),            \
      MEMORY(ptr), PLAIN, NO_SPAN,                                                     \
      (void *, data), (CUpointer_attribute, attribute), (CUdeviceptr, ptr))            \
    X(PointerGetAttributes, cuPointerGetAttributes, 7000, ONE, OPTIONAL(GIL),          \
      MEMORY(ptr), PLAIN, NO_SPAN,                                                     \
      (unsigned int, numAttributes), (CUpointer_attribute *, attributes),              \
      (void **, data), (CUdeviceptr, ptr))                                             \
    X(PointerSetAttribute, cuPointerSetAttribute, 6000, ONE, OPTIONAL(BEHIND),         \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (const void *, value), (CUpointer_attribute, attribute), (CUdeviceptr, ptr))     \
    X(MemAllocAsync, cuMemAllocAsync, 11020, PTSZ, OPTIONAL(QUEUE),                    \
      STREAM(hStream), PLAIN, SPAN(ALLOCATE, hStream, bytesize),                       \
      (CUdeviceptr *, dptr), (size_t, bytesize), (CUstream, hStream))                  \
    X(MemFreeAsync, cuMemFreeAsync, 11020, PTSZ, OPTIONAL(QUEUE),                      \
      STREAM(hStream), PLAIN, SPAN(FREE, hStream, 0),                                  \
      (CUdeviceptr, dptr), (CUstream, hStream))                                        \
    X(MemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020, PTSZ, OPTIONAL(QUEUE),    \
      STREAM(hStream), PLAIN, SPAN(ALLOCATE, hStream, bytesize),                       \
      (CUdeviceptr *, dptr), (size_t, bytesize), (CUmemoryPool, pool),                 \
      (CUstream, hStream))                                                             \
    X(MemPoolCreate, cuMemPoolCreate, 11020, ONE, OPTIONAL(BEHIND),                    \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemoryPool *, pool), (const CUmemPoolProps *, poolProps))                     \
    X(MemPoolDestroy, cuMemPoolDestroy, 11020, ONE, OPTIONAL(NOGIL),                   \
      OBJECT(POOL, pool), PLAIN, NO_SPAN, (CUmemoryPool, pool))                        \
    X(MemPoolTrimTo, cuMemPoolTrimTo, 11020, ONE, OPTIONAL(NOGIL),                     \
      OBJECT(POOL, pool), PLAIN, NO_SPAN,                                              \
      (CUmemoryPool, pool), (size_t, minBytesToKeep))                                  \
    X(MemPoolSetAttribute, cuMemPoolSetAttribute, 11020, ONE, OPTIONAL(GIL),           \
      OBJECT(POOL, pool), PLAIN, NO_SPAN,                                              \
      (CUmemoryPool, pool), (CUmemPool_attribute, attr), (void *, value))              \
    X(MemPoolGetAttribute, cuMemPoolGetAttribute, 11020, ONE, OPTIONAL(GIL),           \
      OBJECT(POOL, pool), PLAIN, NO_SPAN,                                              \
      (CUmemoryPool, pool), (CUmemPool_attribute, attr), (void *, value))              \
    X(MemPoolSetAccess, cuMemPoolSetAccess, 11020, ONE, OPTIONAL(GIL),                 \
      OBJECT(POOL, pool), PLAIN, NO_SPAN,                                              \
      (CUmemoryPool, pool), (const CUmemAccessDesc *, map), (size_t, count))           \
    X(MemPoolGetAccess, cuMemPoolGetAccess, 11020, ONE, OPTIONAL(GIL),                 \
      OBJECT(POOL, memPool), PLAIN, NO_SPAN,                                           \
      (CUmemAccess_flags *, flags), (CUmemoryPool, memPool),                           \
      (CUmemLocation *, location))                                                     \
    X(MemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle, 11020, ONE,    \
      OPTIONAL(BEHIND),                                                                \
      OBJECT(POOL, pool), PLAIN, NO_SPAN,                                              \
      (void *, handle_out), (CUmemoryPool, pool),                                      \
      (CUmemAllocationHandleType, handleType), (unsigned long long, flags))            \
    X(MemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle, 11020,     \
      ONE, OPTIONAL(NOGIL),                                                            \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemoryPool *, pool_out), (void *, handle),                                    \
      (CUmemAllocationHandleType, handleType), (unsigned long long, flags))            \
    X(MemPoolExportPointer, cuMemPoolExportPointer, 11020, ONE, OPTIONAL(BEHIND),      \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUmemPoolPtrExportData *, shareData_out), (CUdeviceptr, ptr))                   \
    X(MemPoolImportPointer, cuMemPoolImportPointer, 11020, ONE, OPTIONAL(NOGIL),       \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, ptr_out), (CUmemoryPool, pool),                                  \
      (CUmemPoolPtrExportData *, shareData))                                           \
    X(MemAllocHost, cuMemAllocHost_v2, 3020, ONE, CLIENT,                              \
      CONTEXT, ALLOCATES, NO_SPAN, (void **, pp), (size_t, bytesize))                  \
    X(MemGetDefaultMemPool, cuMemGetDefaultMemPool, 13000, ONE, CLIENT,                \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemoryPool *, pool_out), (CUmemLocation *, location),                         \
      (CUmemAllocationType, type))                                                     \
    X(MemGetMemPool, cuMemGetMemPool, 13000, ONE, CLIENT,                              \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemoryPool *, pool), (CUmemLocation *, location),                             \
      (CUmemAllocationType, type))                                                     \
    X(MemSetMemPool, cuMemSetMemPool, 13000, ONE, CLIENT,                              \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemLocation *, location), (CUmemAllocationType, type), (CUmemoryPool, pool))  \
    X(MemRangeGetAttributes, cuMemRangeGetAttributes, 8000, ONE, CLIENT,               \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (void **, data), (size_t *, dataSizes), (CUmem_range_attribute *, attributes),   \
      (size_t, numAttributes), (CUdeviceptr, devPtr), (size_t, count))                 \
    X(MemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000, ONE, CLIENT,      \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemGenericAllocationHandle *, handle), (void *, addr))                        \
    X(MemcpyBatchAsync, cuMemcpyBatchAsync, 12080, PTSZ, CLIENT,                       \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUdeviceptr *, dsts), (CUdeviceptr *, srcs), (size_t *, sizes),                 \
      (size_t, count), (CUmemcpyAttributes *, attrs), (size_t *, attrsIdxs),           \
      (size_t, numAttrs), (size_t *, failIdx), (CUstream, hStream))                    \
    X(MemcpyBatchAsync_v2, cuMemcpyBatchAsync_v2, 13000, PTSZ, CLIENT,                 \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUdeviceptr *, dsts), (CUdeviceptr *, srcs), (size_t *, sizes),                 \
      (size_t, count), (CUmemcpyAttributes *, attrs), (size_t *, attrsIdxs),           \
      (size_t, numAttrs), (CUstream, hStream))                                         \
    X(Memcpy3DBatchAsync, cuMemcpy3DBatchAsync, 12080, PTSZ, CLIENT,                   \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (size_t, numOps), (CUDA_MEMCPY3D_BATCH_OP *, opList), (size_t *, failIdx),       \
      (unsigned long long, flags), (CUstream, hStream))                                \
    X(Memcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync_v2, 13000, PTSZ, CLIENT,             \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (size_t, numOps), (CUDA_MEMCPY3D_BATCH_OP *, opList),                            \
      (unsigned long long, flags), (CUstream, hStream))                                \
    X(MemDiscardBatchAsync, cuMemDiscardBatchAsync, 13000, PTSZ, CLIENT,               \
      NOT_BUILT, PLAIN, NO_SPAN,                                                       \
      (CUdeviceptr *, dptrs), (size_t *, sizes), (size_t, count),                      \
      (unsigned long long, flags), (CUstream, hStream))                                \
    X(MemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync, 13000, PTSZ, \
      CLIENT,                                                                          \
      NOT_BUILT, PLAIN, NO_SPAN,                                                       \
      (CUdeviceptr *, dptrs), (size_t *, sizes), (size_t, count),                      \
      (CUmemLocation *, prefetchLocs), (size_t *, prefetchLocIdxs),                    \
      (size_t, numPrefetchLocs), (unsigned long long, flags), (CUstream, hStream))     \
    X(ArrayGetMemoryRequirements, cuArrayGetMemoryRequirements, 11060, ONE, CLIENT,    \
      NOT_BUILT, PLAIN, NO_SPAN,                                                       \
      (CUDA_ARRAY_MEMORY_REQUIREMENTS *, memoryRequirements), (CUarray, array),        \
      (CUdevice, device))                                                              \
                                                                                       \
    /* virtual memory */                                                               \
    X(MemAddressReserve, cuMemAddressReserve, 10020, ONE, OPTIONAL(BEHIND),            \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, ptr), (size_t, size), (size_t, alignment), (CUdeviceptr, addr),  \
      (unsigned long long, flags))                                                     \
    X(MemAddressFree, cuMemAddressFree, 10020, ONE, OPTIONAL(NOGIL),                   \
      INITIALISED, PLAIN, NO_SPAN, (CUdeviceptr, ptr), (size_t, size))                 \
    X(MemCreate, cuMemCreate, 10020, ONE, OPTIONAL(NOGIL),                             \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemGenericAllocationHandle *, handle), (size_t, size),                        \
      (const CUmemAllocationProp *, prop), (unsigned long long, flags))                \
    X(MemRelease, cuMemRelease, 10020, ONE, OPTIONAL(NOGIL),                           \
      INITIALISED, PLAIN, NO_SPAN, (CUmemGenericAllocationHandle, handle))             \
    X(MemMap, cuMemMap, 10020, ONE, OPTIONAL(NOGIL),                                   \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUdeviceptr, ptr), (size_t, size), (size_t, offset),                            \
      (CUmemGenericAllocationHandle, handle), (unsigned long long, flags))             \
    X(MemUnmap, cuMemUnmap, 10020, ONE, OPTIONAL(NOGIL),                               \
      INITIALISED, PLAIN, NO_SPAN, (CUdeviceptr, ptr), (size_t, size))                 \
    X(MemSetAccess, cuMemSetAccess, 10020, ONE, OPTIONAL(NOGIL),                       \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUdeviceptr, ptr), (size_t, size), (const CUmemAccessDesc *, desc),             \
      (size_t, count))                                                                 \
    X(MemGetAccess, cuMemGetAccess, 10020, ONE, OPTIONAL(GIL),                         \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (unsigned long long *, flags), (const CUmemLocation *, location),                \
      (CUdeviceptr, ptr))                                                              \
    X(MemExportToShareableHandle, cuMemExportToShareableHandle, 10020, ONE,            \
      OPTIONAL(BEHIND),                                                                \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (void *, shareableHandle), (CUmemGenericAllocationHandle, handle),               \
      (CUmemAllocationHandleType, handleType), (unsigned long long, flags))            \
    X(MemImportFromShareableHandle, cuMemImportFromShareableHandle, 10020, ONE,        \
      OPTIONAL(NOGIL),                                                                 \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemGenericAllocationHandle *, handle), (void *, osHandle),                    \
      (CUmemAllocationHandleType, shHandleType))                                       \
    X(MemGetAllocationGranularity, cuMemGetAllocationGranularity, 10020, ONE,          \
      OPTIONAL(GIL),                                                                   \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (size_t *, granularity), (const CUmemAllocationProp *, prop),                    \
      (CUmemAllocationGranularity_flags, option))                                      \
    X(MemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle,    \
      10020, ONE, OPTIONAL(GIL),                                                       \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUmemAllocationProp *, prop), (CUmemGenericAllocationHandle, handle))           \
                                                                                       \
    /* between processes */                                                            \
    X(IpcGetEventHandle, cuIpcGetEventHandle, 4010, ONE, REQUIRED(BEHIND),             \
      CURRENT, PLAIN, NO_SPAN, (CUipcEventHandle *, pHandle), (CUevent, event))        \
    X(IpcOpenEventHandle, cuIpcOpenEventHandle, 4010, ONE, REQUIRED(NOGIL),            \
      CONTEXT, PLAIN, NO_SPAN, (CUevent *, phEvent), (CUipcEventHandle, handle))       \
    X(IpcGetMemHandle, cuIpcGetMemHandle, 4010, ONE, REQUIRED(BEHIND),                 \
      CONTEXT, PLAIN, NO_SPAN, (CUipcMemHandle *, pHandle), (CUdeviceptr, dptr))       \
    X(IpcOpenMemHandle, (cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle, 4010), 11000, ONE, \
      REQUIRED(NOGIL),                                                                 \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, pdptr), (CUipcMemHandle, handle), (unsigned int, Flags))         \
    X(IpcCloseMemHandle, cuIpcCloseMemHandle, 4010, ONE, REQUIRED(NOGIL),              \
      CURRENT, PLAIN, NO_SPAN, (CUdeviceptr, dptr))                                    \
                                                                                       \
    /* copies */                                                                       \
    X(Memcpy, cuMemcpy, 4000, PTDS, OPTIONAL(COPY),                                    \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, ByteCount),                              \
      (CUdeviceptr, dst), (CUdeviceptr, src), (size_t, ByteCount))                     \
    X(MemcpyAsync, cuMemcpyAsync, 4000, PTSZ, OPTIONAL(COPY),                          \
      STREAM(hStream), PLAIN, SPAN(COPY, hStream, ByteCount),                          \
      (CUdeviceptr, dst), (CUdeviceptr, src), (size_t, ByteCount),                     \
      (CUstream, hStream))                                                             \
    X(MemcpyPeer, cuMemcpyPeer, 4000, PTDS, REQUIRED(COPY),                            \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, ByteCount),                              \
      (CUdeviceptr, dstDevice), (CUcontext, dstContext), (CUdeviceptr, srcDevice),     \
      (CUcontext, srcContext), (size_t, ByteCount))                                    \
    X(MemcpyPeerAsync, cuMemcpyPeerAsync, 4000, PTSZ, REQUIRED(COPY),                  \
      STREAM(hStream), PLAIN, SPAN(COPY, hStream, ByteCount),                          \
      (CUdeviceptr, dstDevice), (CUcontext, dstContext), (CUdeviceptr, srcDevice),     \
      (CUcontext, srcContext), (size_t, ByteCount), (CUstream, hStream))               \
    X(MemcpyHtoD, cuMemcpyHtoD_v2, 3020, PTDS, REQUIRED(SYNC),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY_IN, NULL, ByteCount),                           \
      (CUdeviceptr, dstDevice), (const void *, srcHost), (size_t, ByteCount))          \
    X(MemcpyDtoH, cuMemcpyDtoH_v2, 3020, PTDS, REQUIRED(SYNC),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY_OUT, NULL, ByteCount),                          \
      (void *, dstHost), (CUdeviceptr, srcDevice), (size_t, ByteCount))                \
    X(MemcpyDtoD, cuMemcpyDtoD_v2, 3020, PTDS, REQUIRED(COPY),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, ByteCount),                              \
      (CUdeviceptr, dstDevice), (CUdeviceptr, srcDevice), (size_t, ByteCount))         \
    X(MemcpyDtoA, cuMemcpyDtoA_v2, 3020, PTDS, REQUIRED(COPY),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, ByteCount),                              \
      (CUarray, dstArray), (size_t, dstOffset), (CUdeviceptr, srcDevice),              \
      (size_t, ByteCount))                                                             \
    X(MemcpyAtoD, cuMemcpyAtoD_v2, 3020, PTDS, REQUIRED(COPY),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, ByteCount),                              \
      (CUdeviceptr, dstDevice), (CUarray, srcArray), (size_t, srcOffset),              \
      (size_t, ByteCount))                                                             \
    X(MemcpyHtoA, cuMemcpyHtoA_v2, 3020, PTDS, REQUIRED(SYNC),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY_IN, NULL, ByteCount),                           \
      (CUarray, dstArray), (size_t, dstOffset), (const void *, srcHost),               \
      (size_t, ByteCount))                                                             \
    X(MemcpyAtoH, cuMemcpyAtoH_v2, 3020, PTDS, REQUIRED(SYNC),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY_OUT, NULL, ByteCount),                          \
      (void *, dstHost), (CUarray, srcArray), (size_t, srcOffset),                     \
      (size_t, ByteCount))                                                             \
    X(MemcpyAtoA, cuMemcpyAtoA_v2, 3020, PTDS, REQUIRED(COPY),                         \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, ByteCount),                              \
      (CUarray, dstArray), (size_t, dstOffset), (CUarray, srcArray),                   \
      (size_t, srcOffset), (size_t, ByteCount))                                        \
    X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, 3020, PTSZ, REQUIRED(COPY),               \
      STREAM(hStream), PLAIN, SPAN(COPY_IN, hStream, ByteCount),                       \
      (CUdeviceptr, dstDevice), (const void *, srcHost), (size_t, ByteCount),          \
      (CUstream, hStream))                                                             \
    X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, 3020, PTSZ, REQUIRED(COPY),               \
      STREAM(hStream), PLAIN, SPAN(COPY_OUT, hStream, ByteCount),                      \
      (void *, dstHost), (CUdeviceptr, srcDevice), (size_t, ByteCount),                \
      (CUstream, hStream))                                                             \
    X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, 3020, PTSZ, REQUIRED(COPY),               \
      STREAM(hStream), PLAIN, SPAN(COPY, hStream, ByteCount),                          \
      (CUdeviceptr, dstDevice), (CUdeviceptr, srcDevice), (size_t, ByteCount),         \
      (CUstream, hStream))                                                             \
    X(MemcpyHtoAAsync, cuMemcpyHtoAAsync_v2, 3020, PTSZ, REQUIRED(COPY),               \
      STREAM(hStream), PLAIN, SPAN(COPY_IN, hStream, ByteCount),                       \
      (CUarray, dstArray), (size_t, dstOffset), (const void *, srcHost),               \
      (size_t, ByteCount), (CUstream, hStream))                                        \
    X(MemcpyAtoHAsync, cuMemcpyAtoHAsync_v2, 3020, PTSZ, REQUIRED(COPY),               \
      STREAM(hStream), PLAIN, SPAN(COPY_OUT, hStream, ByteCount),                      \
      (void *, dstHost), (CUarray, srcArray), (size_t, srcOffset),                     \
      (size_t, ByteCount), (CUstream, hStream))                                        \
    X(Memcpy2D, cuMemcpy2D_v2, 3020, PTDS, REQUIRED(COPY),                             \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, pCopy->WidthInBytes * pCopy->Height),    \
      (const CUDA_MEMCPY2D *, pCopy))                                                  \
    X(Memcpy2DUnaligned, cuMemcpy2DUnaligned_v2, 3020, PTDS, REQUIRED(COPY),           \
      DEFAULT_STREAM, PLAIN, SPAN(COPY, NULL, pCopy->WidthInBytes * pCopy->Height),    \
      (const CUDA_MEMCPY2D *, pCopy))                                                  \
    X(Memcpy2DAsync, cuMemcpy2DAsync_v2, 3020, PTSZ, REQUIRED(COPY),                   \
      STREAM(hStream), PLAIN,                                                          \
      SPAN(COPY, hStream, pCopy->WidthInBytes * pCopy->Height),                        \
      (const CUDA_MEMCPY2D *, pCopy), (CUstream, hStream))                             \
    X(Memcpy3D, cuMemcpy3D_v2, 3020, PTDS, REQUIRED(COPY),                             \
      DEFAULT_STREAM, PLAIN,                                                           \
      SPAN(COPY, NULL, pCopy->WidthInBytes * pCopy->Height * pCopy->Depth),            \
      (const CUDA_MEMCPY3D *, pCopy))                                                  \
    X(Memcpy3DAsync, cuMemcpy3DAsync_v2, 3020, PTSZ, REQUIRED(COPY),                   \
      STREAM(hStream), PLAIN,                                                          \
      SPAN(COPY, hStream, pCopy->WidthInBytes * pCopy->Height * pCopy->Depth),         \
      (const CUDA_MEMCPY3D *, pCopy), (CUstream, hStream))                             \
    X(Memcpy3DPeer, cuMemcpy3DPeer, 4000, PTDS, REQUIRED(COPY),                        \
      DEFAULT_STREAM, PLAIN,                                                           \
      SPAN(COPY, NULL, pCopy->WidthInBytes * pCopy->Height * pCopy->Depth),            \
      (const CUDA_MEMCPY3D_PEER *, pCopy))                                             \
    X(Memcpy3DPeerAsync, cuMemcpy3DPeerAsync, 4000, PTSZ, REQUIRED(COPY),              \
      STREAM(hStream), PLAIN,                                                          \
      SPAN(COPY, hStream, pCopy->WidthInBytes * pCopy->Height * pCopy->Depth),         \
      (const CUDA_MEMCPY3D_PEER *, pCopy), (CUstream, hStream))                        \
    X(MemsetD8, cuMemsetD8_v2, 3020, PTDS, REQUIRED(COPY),                             \
      DEFAULT_STREAM, PLAIN, SPAN(FILL, NULL, N),                                      \
      (CUdeviceptr, dstDevice), (unsigned char, uc), (size_t, N))                      \
    X(MemsetD16, cuMemsetD16_v2, 3020, PTDS, REQUIRED(COPY),                           \
      DEFAULT_STREAM, PLAIN, SPAN(FILL, NULL, N * 2),                                  \
      (CUdeviceptr, dstDevice), (unsigned short, us), (size_t, N))                     \
    X(MemsetD32, cuMemsetD32_v2, 3020, PTDS, REQUIRED(COPY),                           \
      DEFAULT_STREAM, PLAIN, SPAN(FILL, NULL, N * 4),                                  \
      (CUdeviceptr, dstDevice), (unsigned int, ui), (size_t, N))                       \
    X(MemsetD2D8, cuMemsetD2D8_v2, 3020, PTDS, REQUIRED(COPY),                         \
      DEFAULT_STREAM, PLAIN, SPAN(FILL, NULL, Width * Height),                         \
      (CUdeviceptr, dstDevice), (size_t, dstPitch), (unsigned char, uc),               \
      (size_t, Width), (size_t, Height))                                               \
    X(MemsetD2D16, cuMemsetD2D16_v2, 3020, PTDS, REQUIRED(COPY),                       \
      DEFAULT_STREAM, PLAIN, SPAN(FILL, NULL, Width * Height * 2),                     \
      (CUdeviceptr, dstDevice), (size_t, dstPitch), (unsigned short, us),              \
      (size_t, Width), (size_t, Height))                                               \
    X(MemsetD2D32, cuMemsetD2D32_v2, 3020, PTDS, REQUIRED(COPY),                       \
      DEFAULT_STREAM, PLAIN, SPAN(FILL, NULL, Width * Height * 4),                     \
      (CUdeviceptr, dstDevice), (size_t, dstPitch), (unsigned int, ui),                \
      (size_t, Width), (size_t, Height))                                               \
    X(MemsetD8Async, cuMemsetD8Async, 3020, PTSZ, REQUIRED(COPY),                      \
      STREAM(hStream), PLAIN, SPAN(FILL, hStream, N),                                  \
      (CUdeviceptr, dstDevice), (unsigned char, uc), (size_t, N), (CUstream, hStream)) \
    X(MemsetD16Async, cuMemsetD16Async, 3020, PTSZ, REQUIRED(COPY),                    \
      STREAM(hStream), PLAIN, SPAN(FILL, hStream, N * 2),                              \
      (CUdeviceptr, dstDevice), (unsigned short, us), (size_t, N),                     \
      (CUstream, hStream))                                                             \
    X(MemsetD32Async, cuMemsetD32Async, 3020, PTSZ, REQUIRED(COPY),                    \
      STREAM(hStream), PLAIN, SPAN(FILL, hStream, N * 4),                              \
      (CUdeviceptr, dstDevice), (unsigned int, ui), (size_t, N), (CUstream, hStream))  \
    X(MemsetD2D8Async, cuMemsetD2D8Async, 3020, PTSZ, REQUIRED(COPY),                  \
      STREAM(hStream), PLAIN, SPAN(FILL, hStream, Width * Height),                     \
      (CUdeviceptr, dstDevice), (size_t, dstPitch), (unsigned char, uc),               \
      (size_t, Width), (size_t, Height), (CUstream, hStream))                          \
    X(MemsetD2D16Async, cuMemsetD2D16Async, 3020, PTSZ, REQUIRED(COPY),                \
      STREAM(hStream), PLAIN, SPAN(FILL, hStream, Width * Height * 2),                 \
      (CUdeviceptr, dstDevice), (size_t, dstPitch), (unsigned short, us),              \
      (size_t, Width), (size_t, Height), (CUstream, hStream))                          \
    X(MemsetD2D32Async, cuMemsetD2D32Async, 3020, PTSZ, REQUIRED(COPY),                \
      STREAM(hStream), PLAIN, SPAN(FILL, hStream, Width * Height * 4),                 \
      (CUdeviceptr, dstDevice), (size_t, dstPitch), (unsigned int, ui),                \
      (size_t, Width), (size_t, Height), (CUstream, hStream))                          \
                                                                                       \
    /* arrays, textures, surfaces */                                                   \
    X(ArrayCreate, cuArrayCreate_v2, 3020, ONE, REQUIRED(BEHIND),                      \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (CUarray *, pHandle), (const CUDA_ARRAY_DESCRIPTOR *, pAllocateArray))           \
    X(ArrayGetDescriptor, cuArrayGetDescriptor_v2, 3020, ONE, REQUIRED(GIL),           \
      OBJECT(ARRAY, hArray), PLAIN, NO_SPAN,                                           \
      (CUDA_ARRAY_DESCRIPTOR *, pArrayDescriptor), (CUarray, hArray))                  \
    X(Array3DCreate, cuArray3DCreate_v2, 3020, ONE, REQUIRED(BEHIND),                  \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (CUarray *, pHandle), (const CUDA_ARRAY3D_DESCRIPTOR *, pAllocateArray))         \
    X(Array3DGetDescriptor, cuArray3DGetDescriptor_v2, 3020, ONE, REQUIRED(GIL),       \
      OBJECT(ARRAY, hArray), PLAIN, NO_SPAN,                                           \
      (CUDA_ARRAY3D_DESCRIPTOR *, pArrayDescriptor), (CUarray, hArray))                \
    X(ArrayDestroy, cuArrayDestroy, 2000, ONE, REQUIRED(IDLE),                         \
      OBJECT(ARRAY, hArray), FREES, NO_SPAN, (CUarray, hArray))                        \
    X(MipmappedArrayCreate, cuMipmappedArrayCreate, 5000, ONE, OPTIONAL(BEHIND),       \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (CUmipmappedArray *, pHandle),                                                   \
      (const CUDA_ARRAY3D_DESCRIPTOR *, pMipmappedArrayDesc),                          \
      (unsigned int, numMipmapLevels))                                                 \
    X(MipmappedArrayGetLevel, cuMipmappedArrayGetLevel, 5000, ONE, OPTIONAL(BEHIND),   \
      OBJECT(MIPMAP, hMipmappedArray), PLAIN, NO_SPAN,                                 \
      (CUarray *, pLevelArray), (CUmipmappedArray, hMipmappedArray),                   \
      (unsigned int, level))                                                           \
    X(MipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000, ONE, OPTIONAL(IDLE),       \
      OBJECT(MIPMAP, hMipmappedArray), FREES, NO_SPAN,                                 \
      (CUmipmappedArray, hMipmappedArray))                                             \
    X(TexObjectCreate, cuTexObjectCreate, 5000, ONE, REQUIRED(BEHIND),                 \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (CUtexObject *, pTexObject), (const CUDA_RESOURCE_DESC *, pResDesc),             \
      (const CUDA_TEXTURE_DESC *, pTexDesc),                                           \
      (const CUDA_RESOURCE_VIEW_DESC *, pResViewDesc))                                 \
    X(TexObjectDestroy, cuTexObjectDestroy, 5000, ONE, REQUIRED(BEHIND),               \
      CURRENT, DESTROYS, NO_SPAN, (CUtexObject, texObject))                            \
    X(TexObjectGetResourceDesc, cuTexObjectGetResourceDesc, 5000, ONE, OPTIONAL(GIL),  \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUDA_RESOURCE_DESC *, pResDesc), (CUtexObject, texObject))                      \
    X(TexObjectGetTextureDesc, cuTexObjectGetTextureDesc, 5000, ONE, OPTIONAL(GIL),    \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUDA_TEXTURE_DESC *, pTexDesc), (CUtexObject, texObject))                       \
    X(TexObjectGetResourceViewDesc, cuTexObjectGetResourceViewDesc, 5000, ONE,         \
      OPTIONAL(GIL),                                                                   \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUDA_RESOURCE_VIEW_DESC *, pResViewDesc), (CUtexObject, texObject))             \
    X(SurfObjectCreate, cuSurfObjectCreate, 5000, ONE, REQUIRED(BEHIND),               \
      CONTEXT, ALLOCATES, NO_SPAN,                                                     \
      (CUsurfObject *, pSurfObject), (const CUDA_RESOURCE_DESC *, pResDesc))           \
    X(SurfObjectDestroy, cuSurfObjectDestroy, 5000, ONE, REQUIRED(BEHIND),             \
      CURRENT, DESTROYS, NO_SPAN, (CUsurfObject, surfObject))                          \
    X(SurfObjectGetResourceDesc, cuSurfObjectGetResourceDesc, 5000, ONE,               \
      OPTIONAL(GIL),                                                                   \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUDA_RESOURCE_DESC *, pResDesc), (CUsurfObject, surfObject))                    \
    X(TexRefCreate, cuTexRefCreate, 2000, ONE, OPTIONAL(BEHIND),                       \
      CONTEXT, PLAIN, NO_SPAN, (CUtexref *, pTexRef))                                  \
    X(TexRefDestroy, cuTexRefDestroy, 2000, ONE, OPTIONAL(BEHIND),                     \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN, (CUtexref, hTexRef))                    \
    X(TexRefSetArray, cuTexRefSetArray, 2000, ONE, OPTIONAL(GIL),                      \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUtexref, hTexRef), (CUarray, hArray), (unsigned int, Flags))                   \
    X(TexRefSetAddress, cuTexRefSetAddress_v2, 3020, ONE, OPTIONAL(GIL),               \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (size_t *, ByteOffset), (CUtexref, hTexRef), (CUdeviceptr, dptr),                \
      (size_t, bytes))                                                                 \
    X(TexRefSetAddress2D, (cuTexRefSetAddress2D_v3, cuTexRefSetAddress2D_v2, 3020),    \
      4010, ONE, OPTIONAL(GIL),                                                        \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUtexref, hTexRef), (const CUDA_ARRAY_DESCRIPTOR *, desc), (CUdeviceptr, dptr), \
      (size_t, Pitch))                                                                 \
    X(TexRefSetFormat, cuTexRefSetFormat, 2000, ONE, OPTIONAL(GIL),                    \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUtexref, hTexRef), (CUarray_format, fmt), (int, NumPackedComponents))          \
    X(TexRefSetAddressMode, cuTexRefSetAddressMode, 2000, ONE, OPTIONAL(GIL),          \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUtexref, hTexRef), (int, dim), (CUaddress_mode, am))                           \
    X(TexRefSetFilterMode, cuTexRefSetFilterMode, 2000, ONE, OPTIONAL(GIL),            \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUtexref, hTexRef), (CUfilter_mode, fm))                                        \
    X(TexRefSetFlags, cuTexRefSetFlags, 2000, ONE, OPTIONAL(GIL),                      \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUtexref, hTexRef), (unsigned int, Flags))                                      \
    X(TexRefGetAddress, cuTexRefGetAddress_v2, 3020, ONE, OPTIONAL(GIL),               \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUdeviceptr *, pdptr), (CUtexref, hTexRef))                                     \
    X(TexRefGetArray, cuTexRefGetArray, 2000, ONE, OPTIONAL(GIL),                      \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUarray *, phArray), (CUtexref, hTexRef))                                       \
    X(TexRefGetAddressMode, cuTexRefGetAddressMode, 2000, ONE, OPTIONAL(GIL),          \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUaddress_mode *, pam), (CUtexref, hTexRef), (int, dim))                        \
    X(TexRefGetFilterMode, cuTexRefGetFilterMode, 2000, ONE, OPTIONAL(GIL),            \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUfilter_mode *, pfm), (CUtexref, hTexRef))                                     \
    X(TexRefGetFormat, cuTexRefGetFormat, 2000, ONE, OPTIONAL(GIL),                    \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (CUarray_format *, pFormat), (int *, pNumChannels), (CUtexref, hTexRef))         \
    X(TexRefGetFlags, cuTexRefGetFlags, 2000, ONE, OPTIONAL(GIL),                      \
      OBJECT(TEXREF, hTexRef), PLAIN, NO_SPAN,                                         \
      (unsigned int *, pFlags), (CUtexref, hTexRef))                                   \
    X(SurfRefSetArray, cuSurfRefSetArray, 3000, ONE, OPTIONAL(GIL),                    \
      OBJECT(SURFREF, hSurfRef), PLAIN, NO_SPAN,                                       \
      (CUsurfref, hSurfRef), (CUarray, hArray), (unsigned int, Flags))                 \
    X(TensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000, ONE, OPTIONAL(GIL),         \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUtensorMap *, tensorMap), (CUtensorMapDataType, tensorDataType),               \
      (uint32_t, tensorRank), (void *, globalAddress), (const uint64_t *, globalDim),  \
      (const uint64_t *, globalStrides), (const uint32_t *, boxDim),                   \
      (const uint32_t *, elementStrides), (CUtensorMapInterleave, interleave),         \
      (CUtensorMapSwizzle, swizzle), (CUtensorMapL2promotion, l2Promotion),            \
      (CUtensorMapFloatOOBfill, oobFill))                                              \
    X(TensorMapEncodeIm2col, cuTensorMapEncodeIm2col, 12000, ONE, OPTIONAL(GIL),       \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUtensorMap *, tensorMap), (CUtensorMapDataType, tensorDataType),               \
      (uint32_t, tensorRank), (void *, globalAddress), (const uint64_t *, globalDim),  \
      (const uint64_t *, globalStrides), (const int *, pixelBoxLowerCorner),           \
      (const int *, pixelBoxUpperCorner), (uint32_t, channelsPerPixel),                \
      (uint32_t, pixelsPerColumn), (const uint32_t *, elementStrides),                 \
      (CUtensorMapInterleave, interleave), (CUtensorMapSwizzle, swizzle),              \
      (CUtensorMapL2promotion, l2Promotion), (CUtensorMapFloatOOBfill, oobFill))       \
    X(SurfRefGetArray, cuSurfRefGetArray, 3000, ONE, OPTIONAL(GIL),                    \
      OBJECT(SURFREF, hSurfRef), PLAIN, NO_SPAN,                                       \
      (CUarray *, phArray), (CUsurfref, hSurfRef))                                     \
    X(TensorMapReplaceAddress, cuTensorMapReplaceAddress, 12000, ONE, CLIENT,          \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUtensorMap *, tensorMap), (void *, globalAddress))                             \
                                                                                       \
    /* streams */                                                                      \
    X(StreamCreate, cuStreamCreate, 2000, ONE, REQUIRED(BEHIND),                       \
      CONTEXT, PLAIN, NO_SPAN, (CUstream *, phStream), (unsigned int, Flags))          \
    X(StreamCreateWithPriority, cuStreamCreateWithPriority, 5050, ONE,                 \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUstream *, phStream), (unsigned int, flags), (int, priority))                  \
    X(StreamGetPriority, cuStreamGetPriority, 5050, PTSZ, OPTIONAL(GIL),               \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream), (int *, priority))         \
    X(StreamGetFlags, cuStreamGetFlags, 5050, PTSZ, OPTIONAL(GIL),                     \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream), (unsigned int *, flags))   \
    X(StreamGetCtx, cuStreamGetCtx, 9020, PTSZ, OPTIONAL(GIL),                         \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream), (CUcontext *, pctx))       \
    X(StreamGetId, cuStreamGetId, 12000, PTSZ, OPTIONAL(GIL),                          \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (unsigned long long *, streamId))                           \
    X(StreamWaitEvent, cuStreamWaitEvent, 3020, PTSZ, REQUIRED(QUEUE),                 \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUevent, hEvent), (unsigned int, Flags))                   \
    X(StreamAddCallback, cuStreamAddCallback, 5000, PTSZ, OPTIONAL(QUEUE),             \
      STREAM_CONTEXT(hStream), PLAIN, NO_SPAN,                                         \
      (CUstream, hStream), (CUstreamCallback, callback), (void *, userData),           \
      (unsigned int, flags))                                                           \
    X(StreamWaitValue32, (cuStreamWaitValue32_v2, cuStreamWaitValue32, 8000), 11070,   \
      PTSZ, OPTIONAL(QUEUE),                                                           \
      STREAM(stream), PLAIN, NO_SPAN,                                                  \
      (CUstream, stream), (CUdeviceptr, addr), (unsigned int, value),                  \
      (unsigned int, flags))                                                           \
    X(StreamWaitValue64, (cuStreamWaitValue64_v2, cuStreamWaitValue64, 9000), 11070,   \
      PTSZ, OPTIONAL(QUEUE),                                                           \
      STREAM(stream), PLAIN, NO_SPAN,                                                  \
      (CUstream, stream), (CUdeviceptr, addr), (uint64_t, value),                      \
      (unsigned int, flags))                                                           \
    X(StreamWriteValue32, (cuStreamWriteValue32_v2, cuStreamWriteValue32, 8000),       \
      11070, PTSZ, OPTIONAL(QUEUE),                                                    \
      STREAM(stream), PLAIN, NO_SPAN,                                                  \
      (CUstream, stream), (CUdeviceptr, addr), (unsigned int, value),                  \
      (unsigned int, flags))                                                           \
    X(StreamWriteValue64, (cuStreamWriteValue64_v2, cuStreamWriteValue64, 9000),       \
      11070, PTSZ, OPTIONAL(QUEUE),                                                    \
      STREAM(stream), PLAIN, NO_SPAN,                                                  \
      (CUstream, stream), (CUdeviceptr, addr), (uint64_t, value),                      \
      (unsigned int, flags))                                                           \
    X(StreamBatchMemOp, (cuStreamBatchMemOp_v2, cuStreamBatchMemOp, 8000), 11070,      \
      PTSZ, OPTIONAL(QUEUE),                                                           \
      STREAM(stream), PLAIN, NO_SPAN,                                                  \
      (CUstream, stream), (unsigned int, count),                                       \
      (CUstreamBatchMemOpParams *, paramArray), (unsigned int, flags))                 \
    X(StreamQuery, cuStreamQuery, 2000, PTSZ, REQUIRED(GIL),                           \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream))                            \
    X(StreamSynchronize, cuStreamSynchronize, 2000, PTSZ, REQUIRED(NOGIL),             \
      STREAM(hStream), PLAIN, SPAN(WAIT, hStream, 0), (CUstream, hStream))             \
    X(StreamDestroy, (cuStreamDestroy_v2, cuStreamDestroy, 2000), 4000, ONE,           \
      REQUIRED(NOGIL),                                                                 \
      OBJECT(STREAM, hStream), RUNS_KEPT, NO_SPAN, (CUstream, hStream))                \
    X(StreamBeginCapture, cuStreamBeginCapture_v2, 10010, PTSZ, OPTIONAL(BEHIND),      \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUstreamCaptureMode, mode))                                \
    X(StreamEndCapture, cuStreamEndCapture, 10000, PTSZ, OPTIONAL(BEHIND),             \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream), (CUgraph *, phGraph))      \
    X(StreamIsCapturing, cuStreamIsCapturing, 10000, PTSZ, OPTIONAL(GIL),              \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUstreamCaptureStatus *, captureStatus))                   \
    X(StreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030, PTSZ,             \
      OPTIONAL(BEHIND),                                                                \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUgraph, hGraph), (const CUgraphNode *, dependencies),     \
      (const CUgraphEdgeData *, dependencyData), (size_t, numDependencies),            \
      (CUstreamCaptureMode, mode))                                                     \
    X(StreamGetCaptureInfo, cuStreamGetCaptureInfo_v3, 12030, PTSZ, OPTIONAL(GIL),     \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUstreamCaptureStatus *, captureStatus_out),               \
      (cuuint64_t *, id_out), (CUgraph *, graph_out),                                  \
      (const CUgraphNode **, dependencies_out),                                        \
      (const CUgraphEdgeData **, edgeData_out), (size_t *, numDependencies_out))       \
    X(StreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2, 12030,    \
      PTSZ, OPTIONAL(BEHIND),                                                          \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUgraphNode *, dependencies),                              \
      (const CUgraphEdgeData *, dependencyData), (size_t, numDependencies),            \
      (unsigned int, flags))                                                           \
    X(ThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, ONE,  \
      OPTIONAL(GIL),                                                                   \
      INITIALISED, PLAIN, NO_SPAN, (CUstreamCaptureMode *, mode))                      \
    X(StreamGetCtx_v2, cuStreamGetCtx_v2, 12050, PTSZ, CLIENT,                         \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUcontext *, pCtx), (CUgreenCtx *, pGreenCtx))             \
    X(StreamGetDevice, cuStreamGetDevice, 12080, PTSZ, CLIENT,                         \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream), (CUdevice *, device))      \
    X(StreamGetGreenCtx, cuStreamGetGreenCtx, 12040, ONE, CLIENT,                      \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream), (CUgreenCtx *, phCtx))     \
    X(StreamCopyAttributes, cuStreamCopyAttributes, 11000, PTSZ, CLIENT,               \
      STREAM(dst), PLAIN, NO_SPAN, (CUstream, dst), (CUstream, src))                   \
    X(StreamGetAttribute, cuStreamGetAttribute, 11000, PTSZ, CLIENT,                   \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUlaunchAttributeID, attr),                                \
      (CUlaunchAttributeValue *, value_out))                                           \
    X(StreamSetAttribute, cuStreamSetAttribute, 11000, PTSZ, CLIENT,                   \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUlaunchAttributeID, attr),                                \
      (const CUlaunchAttributeValue *, value))                                         \
    X(StreamBeginCapture_v1, cuStreamBeginCapture, 10000, PTSZ, CLIENT,                \
      STREAM(hStream), PLAIN, NO_SPAN, (CUstream, hStream))                            \
    X(StreamGetCaptureInfo_v1, cuStreamGetCaptureInfo, 10010, PTSZ, CLIENT,            \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUstreamCaptureStatus *, captureStatus_out),               \
      (cuuint64_t *, id_out))                                                          \
    X(StreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v2, 11030, PTSZ, CLIENT,         \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUstreamCaptureStatus *, captureStatus_out),               \
      (cuuint64_t *, id_out), (CUgraph *, graph_out),                                  \
      (const CUgraphNode **, dependencies_out), (size_t *, numDependencies_out))       \
    X(StreamUpdateCaptureDependencies_v1, cuStreamUpdateCaptureDependencies, 11030,    \
      PTSZ, CLIENT,                                                                    \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUstream, hStream), (CUgraphNode *, dependencies), (size_t, numDependencies),   \
      (unsigned int, flags))                                                           \
                                                                                       \
    /* events */                                                                       \
    X(EventCreate, cuEventCreate, 2000, ONE, REQUIRED(BEHIND),                         \
      CONTEXT, PLAIN, NO_SPAN, (CUevent *, phEvent), (unsigned int, Flags))            \
    X(EventRecord, cuEventRecord, 2000, PTSZ, REQUIRED(QUEUE),                         \
      STREAM(hStream), PLAIN, NO_SPAN, (CUevent, hEvent), (CUstream, hStream))         \
    X(EventRecordWithFlags, cuEventRecordWithFlags, 11010, PTSZ, OPTIONAL(QUEUE),      \
      STREAM(hStream), PLAIN, NO_SPAN,                                                 \
      (CUevent, hEvent), (CUstream, hStream), (unsigned int, flags))                   \
    X(EventQuery, cuEventQuery, 2000, ONE, REQUIRED(GIL),                              \
      OBJECT(EVENT, hEvent), PLAIN, NO_SPAN, (CUevent, hEvent))                        \
    X(EventSynchronize, cuEventSynchronize, 2000, ONE, REQUIRED(NOGIL),                \
      OBJECT(EVENT, hEvent), PLAIN, SPAN(WAIT, NULL, 0), (CUevent, hEvent))            \
    X(EventDestroy, (cuEventDestroy_v2, cuEventDestroy, 2000), 4000, ONE,              \
      REQUIRED(BEHIND),                                                                \
      OBJECT(EVENT, hEvent), PLAIN, NO_SPAN, (CUevent, hEvent))                        \
    X(EventElapsedTime, (cuEventElapsedTime, cuEventElapsedTime_v2, 12080), 2000, ONE, \
      REQUIRED(GIL),                                                                   \
      OBJECT(EVENT, hStart), PLAIN, NO_SPAN,                                           \
      (float *, pMilliseconds), (CUevent, hStart), (CUevent, hEnd))                    \
                                                                                       \
    /* graphs */                                                                       \
    X(GraphCreate, cuGraphCreate, 10000, ONE, OPTIONAL(GIL),                           \
      CONTEXT, PLAIN, NO_SPAN, (CUgraph *, phGraph), (unsigned int, flags))            \
    X(GraphDestroy, cuGraphDestroy, 10000, ONE, OPTIONAL(BEHIND),                      \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN, (CUgraph, hGraph))                        \
    X(GraphClone, cuGraphClone, 10000, ONE, OPTIONAL(GIL),                             \
      CONTEXT, PLAIN, NO_SPAN, (CUgraph *, phGraphClone), (CUgraph, originalGraph))    \
    X(GraphGetNodes, cuGraphGetNodes, 10000, ONE, OPTIONAL(GIL),                       \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (CUgraphNode *, nodes), (size_t *, numNodes))                 \
    X(GraphNodeGetType, cuGraphNodeGetType, 10000, ONE, OPTIONAL(GIL),                 \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUgraphNodeType *, type))                                 \
    X(GraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, ONE,              \
      OPTIONAL(NOGIL),                                                                 \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec *, phGraphExec), (CUgraph, hGraph), (unsigned long long, flags))    \
    X(GraphUpload, cuGraphUpload, 11010, PTSZ, OPTIONAL(QUEUE),                        \
      STREAM(hStream), PLAIN, NO_SPAN, (CUgraphExec, hGraph), (CUstream, hStream))     \
    X(GraphLaunch, cuGraphLaunch, 10000, PTSZ, OPTIONAL(QUEUE),                        \
      STREAM(hStream), PLAIN, SPAN(GRAPH, hStream, 0),                                 \
      (CUgraphExec, hGraph), (CUstream, hStream))                                      \
    X(GraphExecDestroy, cuGraphExecDestroy, 10000, ONE, OPTIONAL(BEHIND),              \
      OBJECT(GRAPH_EXEC, hGraphExec), PLAIN, NO_SPAN, (CUgraphExec, hGraphExec))       \
    X(GraphDebugDotPrint, cuGraphDebugDotPrint, 11030, ONE, OPTIONAL(NOGIL),           \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (const char *, path), (unsigned int, flags))                  \
    X(GraphNodeFindInClone, cuGraphNodeFindInClone, 10000, ONE, OPTIONAL(GIL),         \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phNode), (CUgraphNode, hOriginalNode), (CUgraph, hClonedGraph))  \
    X(GraphGetRootNodes, cuGraphGetRootNodes, 10000, ONE, OPTIONAL(GIL),               \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (CUgraphNode *, rootNodes), (size_t *, numRootNodes))         \
    X(GraphGetEdges, cuGraphGetEdges_v2, 12030, ONE, OPTIONAL(GIL),                    \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (CUgraphNode *, from), (CUgraphNode *, to),                   \
      (CUgraphEdgeData *, edgeData), (size_t *, numEdges))                             \
    X(GraphNodeGetDependencies, cuGraphNodeGetDependencies_v2, 12030, ONE,             \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUgraphNode *, dependencies),                             \
      (CUgraphEdgeData *, edgeData), (size_t *, numDependencies))                      \
    X(GraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2, 12030, ONE,         \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUgraphNode *, dependentNodes),                           \
      (CUgraphEdgeData *, edgeData), (size_t *, numDependentNodes))                    \
    X(GraphAddDependencies, cuGraphAddDependencies_v2, 12030, ONE, OPTIONAL(BEHIND),   \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (const CUgraphNode *, from), (const CUgraphNode *, to),       \
      (const CUgraphEdgeData *, edgeData), (size_t, numDependencies))                  \
    X(GraphRemoveDependencies, cuGraphRemoveDependencies_v2, 12030, ONE,               \
      OPTIONAL(BEHIND),                                                                \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (const CUgraphNode *, from), (const CUgraphNode *, to),       \
      (const CUgraphEdgeData *, edgeData), (size_t, numDependencies))                  \
    X(GraphDestroyNode, cuGraphDestroyNode, 10000, ONE, OPTIONAL(BEHIND),              \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN, (CUgraphNode, hNode))                 \
    X(GraphAddNode, cuGraphAddNode_v2, 12030, ONE, OPTIONAL(BEHIND),                   \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (const CUgraphEdgeData *, dependencyData),  \
      (size_t, numDependencies), (CUgraphNodeParams *, nodeParams))                    \
    X(GraphNodeSetParams, cuGraphNodeSetParams, 12020, ONE, OPTIONAL(BEHIND),          \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (CUgraphNodeParams *, nodeParams))                         \
    X(GraphAddKernelNode, cuGraphAddKernelNode_v2, 12000, ONE, OPTIONAL(BEHIND),       \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (const CUDA_KERNEL_NODE_PARAMS *, nodeParams))                                   \
    X(GraphKernelNodeGetParams, cuGraphKernelNodeGetParams_v2, 12000, ONE,             \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_KERNEL_NODE_PARAMS *, nodeParams))                   \
    X(GraphKernelNodeSetParams, cuGraphKernelNodeSetParams_v2, 12000, ONE,             \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (const CUDA_KERNEL_NODE_PARAMS *, nodeParams))             \
    X(GraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, 11000, ONE,      \
      OPTIONAL(BEHIND),                                                                \
      OBJECT(GRAPH_NODE, dst), PLAIN, NO_SPAN, (CUgraphNode, dst), (CUgraphNode, src)) \
    X(GraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, 11000, ONE,          \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUlaunchAttributeID, attr),                               \
      (CUlaunchAttributeValue *, value_out))                                           \
    X(GraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, 11000, ONE,          \
      OPTIONAL(BEHIND),                                                                \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUlaunchAttributeID, attr),                               \
      (const CUlaunchAttributeValue *, value))                                         \
    X(GraphAddMemcpyNode, cuGraphAddMemcpyNode, 10000, ONE, OPTIONAL(BEHIND),          \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (const CUDA_MEMCPY3D *, copyParams), (CUcontext, ctx))                           \
    X(GraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams, 10000, ONE, OPTIONAL(GIL), \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_MEMCPY3D *, nodeParams))                             \
    X(GraphMemcpyNodeSetParams, cuGraphMemcpyNodeSetParams, 10000, ONE,                \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (const CUDA_MEMCPY3D *, nodeParams))                       \
    X(GraphAddMemsetNode, cuGraphAddMemsetNode, 10000, ONE, OPTIONAL(BEHIND),          \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (const CUDA_MEMSET_NODE_PARAMS *, memsetParams), (CUcontext, ctx))               \
    X(GraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, 10000, ONE, OPTIONAL(GIL), \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_MEMSET_NODE_PARAMS *, nodeParams))                   \
    X(GraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, 10000, ONE,                \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (const CUDA_MEMSET_NODE_PARAMS *, nodeParams))             \
    X(GraphAddHostNode, cuGraphAddHostNode, 10000, ONE, OPTIONAL(BEHIND),              \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (const CUDA_HOST_NODE_PARAMS *, nodeParams))                                     \
    X(GraphHostNodeGetParams, cuGraphHostNodeGetParams, 10000, ONE, OPTIONAL(GIL),     \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_HOST_NODE_PARAMS *, nodeParams))                     \
    X(GraphHostNodeSetParams, cuGraphHostNodeSetParams, 10000, ONE, OPTIONAL(BEHIND),  \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (const CUDA_HOST_NODE_PARAMS *, nodeParams))               \
    X(GraphAddChildGraphNode, cuGraphAddChildGraphNode, 10000, ONE, OPTIONAL(BEHIND),  \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (CUgraph, childGraph))                                                           \
    X(GraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, 10000, ONE,          \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUgraph *, phGraph))                                      \
    X(GraphAddEmptyNode, cuGraphAddEmptyNode, 10000, ONE, OPTIONAL(BEHIND),            \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies))                  \
    X(GraphAddEventRecordNode, cuGraphAddEventRecordNode, 11010, ONE,                  \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (CUevent, event))                                                                \
    X(GraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, 11010, ONE,        \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUevent *, event_out))                                    \
    X(GraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, 11010, ONE,        \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN, (CUgraphNode, hNode), (CUevent, event))                 \
    X(GraphAddEventWaitNode, cuGraphAddEventWaitNode, 11010, ONE, OPTIONAL(BEHIND),    \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (CUevent, event))                                                                \
    X(GraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, 11010, ONE,            \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUevent *, event_out))                                    \
    X(GraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, 11010, ONE,            \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN, (CUgraphNode, hNode), (CUevent, event))                 \
    X(GraphAddMemAllocNode, cuGraphAddMemAllocNode, 11040, ONE, OPTIONAL(BEHIND),      \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (CUDA_MEM_ALLOC_NODE_PARAMS *, nodeParams))                                      \
    X(GraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams, 11040, ONE,            \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_MEM_ALLOC_NODE_PARAMS *, params_out))                \
    X(GraphAddMemFreeNode, cuGraphAddMemFreeNode, 11040, ONE, OPTIONAL(BEHIND),        \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (CUdeviceptr, dptr))                                                             \
    X(GraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams, 11040, ONE,              \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUdeviceptr *, dptr_out))                                 \
    X(GraphAddBatchMemOpNode, cuGraphAddBatchMemOpNode, 11070, ONE, OPTIONAL(BEHIND),  \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (const CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams))                             \
    X(GraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeGetParams, 11070, ONE,        \
      OPTIONAL(GIL),                                                                   \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams_out))         \
    X(GraphBatchMemOpNodeSetParams, cuGraphBatchMemOpNodeSetParams, 11070, ONE,        \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (const CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams))       \
    X(GraphConditionalHandleCreate, cuGraphConditionalHandleCreate, 12030, ONE,        \
      OPTIONAL(BEHIND),                                                                \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                                         \
      (CUgraphConditionalHandle *, pHandle_out), (CUgraph, hGraph), (CUcontext, ctx),  \
      (unsigned int, defaultLaunchValue), (unsigned int, flags))                       \
    X(GraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, PTSZ,           \
      OPTIONAL(NOGIL),                                                                 \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec *, phGraphExec), (CUgraph, hGraph),                                 \
      (CUDA_GRAPH_INSTANTIATE_PARAMS *, instantiateParams))                            \
    X(GraphExecGetFlags, cuGraphExecGetFlags, 12000, ONE, OPTIONAL(GIL),               \
      OBJECT(GRAPH_EXEC, hGraphExec), PLAIN, NO_SPAN,                                  \
      (CUgraphExec, hGraphExec), (cuuint64_t *, flags))                                \
    X(GraphExecUpdate, cuGraphExecUpdate_v2, 12000, ONE, OPTIONAL(NOGIL),              \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraph, hGraph),                                    \
      (CUgraphExecUpdateResultInfo *, resultInfo))                                     \
    X(GraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020, ONE, OPTIONAL(BEHIND),  \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (CUgraphNodeParams *, nodeParams))                                               \
    X(GraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, 12000, ONE,     \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (const CUDA_KERNEL_NODE_PARAMS *, nodeParams))                                   \
    X(GraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020, ONE,        \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (const CUDA_MEMCPY3D *, copyParams), (CUcontext, ctx))                           \
    X(GraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, 10020, ONE,        \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (const CUDA_MEMSET_NODE_PARAMS *, memsetParams), (CUcontext, ctx))               \
    X(GraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, 10020, ONE,            \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (const CUDA_HOST_NODE_PARAMS *, nodeParams))                                     \
    X(GraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, 11010,     \
      ONE, OPTIONAL(BEHIND),                                                           \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode), (CUgraph, childGraph))          \
    X(GraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, 11010,     \
      ONE, OPTIONAL(BEHIND),                                                           \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode), (CUevent, event))               \
    X(GraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, 11010, ONE,    \
      OPTIONAL(BEHIND),                                                                \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode), (CUevent, event))               \
    X(GraphExecBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams, 11070,     \
      ONE, OPTIONAL(BEHIND),                                                           \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (const CUDA_BATCH_MEM_OP_NODE_PARAMS *, nodeParams))                             \
    X(GraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060, ONE, OPTIONAL(BEHIND),        \
      OBJECT(GRAPH_EXEC, hGraphExec), PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode), (unsigned int, isEnabled))      \
    X(GraphNodeGetEnabled, cuGraphNodeGetEnabled, 11060, ONE, OPTIONAL(GIL),           \
      OBJECT(GRAPH_EXEC, hGraphExec), PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode), (unsigned int *, isEnabled))    \
    X(DeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, 11040, ONE,            \
      OPTIONAL(GIL),                                                                   \
      DEVICE(device), PLAIN, NO_SPAN,                                                  \
      (CUdevice, device), (CUgraphMem_attribute, attr), (void *, value))               \
    X(DeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute, 11040, ONE,            \
      OPTIONAL(GIL),                                                                   \
      DEVICE(device), PLAIN, NO_SPAN,                                                  \
      (CUdevice, device), (CUgraphMem_attribute, attr), (void *, value))               \
    X(DeviceGraphMemTrim, cuDeviceGraphMemTrim, 11040, ONE, OPTIONAL(NOGIL),           \
      DEVICE(device), PLAIN, NO_SPAN, (CUdevice, device))                              \
    X(UserObjectCreate, cuUserObjectCreate, 11030, ONE, OPTIONAL(GIL),                 \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUuserObject *, object_out), (void *, ptr), (CUhostFn, destroy),                \
      (unsigned int, initialRefcount), (unsigned int, flags))                          \
    X(UserObjectRetain, cuUserObjectRetain, 11030, ONE, OPTIONAL(GIL),                 \
      OBJECT(USER_OBJECT, object), PLAIN, NO_SPAN,                                     \
      (CUuserObject, object), (unsigned int, count))                                   \
    X(UserObjectRelease, cuUserObjectRelease, 11030, ONE, OPTIONAL(BEHIND),            \
      OBJECT(USER_OBJECT, object), PLAIN, NO_SPAN,                                     \
      (CUuserObject, object), (unsigned int, count))                                   \
    X(GraphRetainUserObject, cuGraphRetainUserObject, 11030, ONE, OPTIONAL(GIL),       \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUgraph, graph), (CUuserObject, object), (unsigned int, count),                 \
      (unsigned int, flags))                                                           \
    X(GraphReleaseUserObject, cuGraphReleaseUserObject, 11030, ONE, OPTIONAL(BEHIND),  \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUgraph, graph), (CUuserObject, object), (unsigned int, count))                 \
    X(GraphGetEdges_v1, cuGraphGetEdges, 10000, ONE, CLIENT,                           \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (CUgraphNode *, from), (CUgraphNode *, to),                   \
      (size_t *, numEdges))                                                            \
    X(GraphNodeGetDependencies_v1, cuGraphNodeGetDependencies, 10000, ONE, CLIENT,     \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUgraphNode *, dependencies),                             \
      (size_t *, numDependencies))                                                     \
    X(GraphNodeGetDependentNodes_v1, cuGraphNodeGetDependentNodes, 10000, ONE, CLIENT, \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUgraphNode *, dependentNodes),                           \
      (size_t *, numDependentNodes))                                                   \
    X(GraphAddDependencies_v1, cuGraphAddDependencies, 10000, ONE, CLIENT,             \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (const CUgraphNode *, from), (const CUgraphNode *, to),       \
      (size_t, numDependencies))                                                       \
    X(GraphRemoveDependencies_v1, cuGraphRemoveDependencies, 10000, ONE, CLIENT,       \
      OBJECT(GRAPH, hGraph), PLAIN, NO_SPAN,                                           \
      (CUgraph, hGraph), (const CUgraphNode *, from), (const CUgraphNode *, to),       \
      (size_t, numDependencies))                                                       \
    X(GraphAddNode_v1, cuGraphAddNode, 12020, ONE, CLIENT,                             \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (CUgraphNodeParams *, nodeParams))                                               \
    X(GraphAddKernelNode_v1, cuGraphAddKernelNode, 10000, ONE, CLIENT,                 \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode *, phGraphNode), (CUgraph, hGraph),                                 \
      (const CUgraphNode *, dependencies), (size_t, numDependencies),                  \
      (const CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams))                                \
    X(GraphKernelNodeGetParams_v1, cuGraphKernelNodeGetParams, 10000, ONE, CLIENT,     \
      OBJECT(GRAPH_NODE, hNode), PLAIN, NO_SPAN,                                       \
      (CUgraphNode, hNode), (CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams))                \
    X(GraphKernelNodeSetParams_v1, cuGraphKernelNodeSetParams, 10000, ONE, CLIENT,     \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphNode, hNode), (const CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams))          \
    X(GraphExecKernelNodeSetParams_v1, cuGraphExecKernelNodeSetParams, 10010, ONE,     \
      CLIENT,                                                                          \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraphNode, hNode),                                 \
      (const CUDA_KERNEL_NODE_PARAMS_v1 *, nodeParams))                                \
    X(GraphInstantiate_v1, (cuGraphInstantiate, cuGraphInstantiate_v2, 11000), 10000,  \
      ONE, CLIENT,                                                                     \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec *, phGraphExec), (CUgraph, hGraph), (CUgraphNode *, phErrorNode),   \
      (char *, logBuffer), (size_t, bufferSize))                                       \
    X(GraphExecUpdate_v1, cuGraphExecUpdate, 10020, ONE, CLIENT,                       \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUgraphExec, hGraphExec), (CUgraph, hGraph), (CUgraphNode *, hErrorNode_out),   \
      (CUgraphExecUpdateResult *, updateResult_out))                                   \
                                                                                       \
    /* OpenGL */                                                                       \
    X(GLInit, cuGLInit, 2000, ONE, OPTIONAL(NOGIL),                                    \
      INITIALISED, PLAIN, NO_SPAN, void)                                               \
    X(GLRegisterBufferObject, cuGLRegisterBufferObject, 2000, ONE, OPTIONAL(GIL),      \
      CONTEXT, PLAIN, NO_SPAN, (GLuint, buffer))                                       \
    X(GLUnregisterBufferObject, cuGLUnregisterBufferObject, 2000, ONE,                 \
      OPTIONAL(NOGIL),                                                                 \
      CONTEXT, PLAIN, NO_SPAN, (GLuint, buffer))                                       \
    X(GLMapBufferObject, cuGLMapBufferObject_v2, 3020, ONE, OPTIONAL(NOGIL),           \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, dptr), (size_t *, size), (GLuint, buffer))                       \
    X(GLUnmapBufferObject, cuGLUnmapBufferObject, 2000, ONE, OPTIONAL(NOGIL),          \
      CONTEXT, PLAIN, NO_SPAN, (GLuint, buffer))                                       \
    X(GraphicsGLRegisterBuffer, cuGraphicsGLRegisterBuffer, 3000, ONE, OPTIONAL(GIL),  \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphicsResource *, pCudaResource), (GLuint, buffer), (unsigned int, Flags))  \
    X(GraphicsGLRegisterImage, cuGraphicsGLRegisterImage, 3000, ONE, OPTIONAL(GIL),    \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUgraphicsResource *, pCudaResource), (GLuint, image), (GLenum, target),        \
      (unsigned int, Flags))                                                           \
    X(GLGetDevices, cuGLGetDevices_v2, 6050, ONE, OPTIONAL(GIL),                       \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (unsigned int *, pCudaDeviceCount), (CUdevice *, pCudaDevices),                  \
      (unsigned int, cudaDeviceCount), (CUGLDeviceList, deviceList))                   \
    X(GLCtxCreate, cuGLCtxCreate_v2, 3020, ONE, OPTIONAL(NOGIL),                       \
      DEVICE(device), PLAIN, NO_SPAN,                                                  \
      (CUcontext *, pCtx), (unsigned int, Flags), (CUdevice, device))                  \
    X(GraphicsUnregisterResource, cuGraphicsUnregisterResource, 3000, ONE,             \
      OPTIONAL(NOGIL),                                                                 \
      OBJECT(GRAPHICS, resource), PLAIN, NO_SPAN, (CUgraphicsResource, resource))      \
    X(GraphicsSubResourceGetMappedArray, cuGraphicsSubResourceGetMappedArray, 3000,    \
      ONE, OPTIONAL(GIL),                                                              \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUarray *, pArray), (CUgraphicsResource, resource), (unsigned int, arrayIndex), \
      (unsigned int, mipLevel))                                                        \
    X(GraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer_v2, 3020,   \
      ONE, OPTIONAL(GIL),                                                              \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, pDevPtr), (size_t *, pSize), (CUgraphicsResource, resource))     \
    X(GraphicsMapResources, cuGraphicsMapResources, 3000, PTSZ, OPTIONAL(NOGIL),       \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (unsigned int, count), (CUgraphicsResource *, resources), (CUstream, hStream))   \
    X(GraphicsUnmapResources, cuGraphicsUnmapResources, 3000, PTSZ, OPTIONAL(NOGIL),   \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (unsigned int, count), (CUgraphicsResource *, resources), (CUstream, hStream))   \
                                                                                       \
    /* profiler control */                                                             \
    X(ProfilerInitialize, cuProfilerInitialize, 4000, ONE, OPTIONAL(GIL),              \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (const char *, configFile), (const char *, outputFile),                          \
      (CUoutput_mode, outputMode))                                                     \
    X(ProfilerStart, cuProfilerStart, 4000, ONE, OPTIONAL(GIL),                        \
      CURRENT, PLAIN, NO_SPAN, void)                                                   \
    X(ProfilerStop, cuProfilerStop, 4000, ONE, OPTIONAL(GIL),                          \
      CURRENT, PLAIN, NO_SPAN, void)                                                   \
                                                                                       \
    /* libraries and kernels */                                                        \
    X(LibraryLoadData, cuLibraryLoadData, 12000, ONE, CLIENT,                          \
      INITIALISED, ALLOCATES, NO_SPAN,                                                 \
      (CUlibrary *, library), (const void *, code), (CUjit_option *, jitOptions),      \
      (void **, jitOptionsValues), (unsigned int, numJitOptions),                      \
      (CUlibraryOption *, libraryOptions), (void **, libraryOptionValues),             \
      (unsigned int, numLibraryOptions))                                               \
    X(LibraryLoadFromFile, cuLibraryLoadFromFile, 12000, ONE, CLIENT,                  \
      INITIALISED, ALLOCATES, NO_SPAN,                                                 \
      (CUlibrary *, library), (const char *, fileName), (CUjit_option *, jitOptions),  \
      (void **, jitOptionsValues), (unsigned int, numJitOptions),                      \
      (CUlibraryOption *, libraryOptions), (void **, libraryOptionValues),             \
      (unsigned int, numLibraryOptions))                                               \
    X(LibraryUnload, cuLibraryUnload, 12000, ONE, CLIENT,                              \
      OBJECT(LIBRARY, library), FREES, NO_SPAN, (CUlibrary, library))                  \
    X(LibraryGetKernel, cuLibraryGetKernel, 12000, ONE, CLIENT,                        \
      OBJECT(LIBRARY, library), PLAIN, NO_SPAN,                                        \
      (CUkernel *, pKernel), (CUlibrary, library), (const char *, name))               \
    X(LibraryGetKernelCount, cuLibraryGetKernelCount, 12040, ONE, CLIENT,              \
      OBJECT(LIBRARY, lib), PLAIN, NO_SPAN, (unsigned int *, count), (CUlibrary, lib)) \
    X(LibraryEnumerateKernels, cuLibraryEnumerateKernels, 12040, ONE, CLIENT,          \
      OBJECT(LIBRARY, lib), PLAIN, NO_SPAN,                                            \
      (CUkernel *, kernels), (unsigned int, numKernels), (CUlibrary, lib))             \
    X(LibraryGetGlobal, cuLibraryGetGlobal, 12000, ONE, CLIENT,                        \
      CONTEXT, PLAIN, NO_SPAN,                                                         \
      (CUdeviceptr *, dptr), (size_t *, bytes), (CUlibrary, library),                  \
      (const char *, name))                                                            \
    X(LibraryGetManaged, cuLibraryGetManaged, 12000, ONE, CLIENT,                      \
      OBJECT(LIBRARY, library), PLAIN, NO_SPAN,                                        \
      (CUdeviceptr *, dptr), (size_t *, bytes), (CUlibrary, library),                  \
      (const char *, name))                                                            \
    X(LibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction, 12000, ONE, CLIENT,      \
      OBJECT(LIBRARY, library), PLAIN, NO_SPAN,                                        \
      (void **, fptr), (CUlibrary, library), (const char *, symbol))                   \
    X(KernelGetLibrary, cuKernelGetLibrary, 12050, ONE, CLIENT,                        \
      OBJECT(KERNEL, kernel), PLAIN, NO_SPAN, (CUlibrary *, pLib), (CUkernel, kernel)) \
    X(KernelGetName, cuKernelGetName, 12030, ONE, CLIENT,                              \
      OBJECT(KERNEL, hfunc), PLAIN, NO_SPAN, (const char **, name), (CUkernel, hfunc)) \
    X(KernelGetAttribute, cuKernelGetAttribute, 12000, ONE, CLIENT,                    \
      OBJECT(KERNEL, kernel), PLAIN, NO_SPAN,                                          \
      (int *, pi), (CUfunction_attribute, attrib), (CUkernel, kernel),                 \
      (CUdevice, dev))                                                                 \
    X(KernelSetAttribute, cuKernelSetAttribute, 12000, ONE, CLIENT,                    \
      OBJECT(KERNEL, kernel), PLAIN, NO_SPAN,                                          \
      (CUfunction_attribute, attrib), (int, val), (CUkernel, kernel), (CUdevice, dev)) \
    X(KernelSetCacheConfig, cuKernelSetCacheConfig, 12000, ONE, CLIENT,                \
      OBJECT(KERNEL, kernel), PLAIN, NO_SPAN,                                          \
      (CUkernel, kernel), (CUfunc_cache, config), (CUdevice, dev))                     \
    X(KernelGetParamInfo, cuKernelGetParamInfo, 12040, ONE, CLIENT,                    \
      OBJECT(KERNEL, kernel), PLAIN, NO_SPAN,                                          \
      (CUkernel, kernel), (size_t, paramIndex), (size_t *, paramOffset),               \
      (size_t *, paramSize))                                                           \
    X(OccupancyMaxPotentialBlockSizeWithFlags,                                         \
      cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, ONE, CLIENT,                    \
      CURRENT, PLAIN, NO_SPAN,                                                         \
      (int *, minGridSize), (int *, blockSize), (CUfunction, func),                    \
      (CUoccupancyB2DSize, blockSizeToDynamicSMemSize), (size_t, dynamicSMemSize),     \
      (int, blockSizeLimit), (unsigned int, flags))                                    \
                                                                                       \
    /* green contexts */                                                               \
    X(DeviceGetDevResource, cuDeviceGetDevResource, 12040, ONE, CLIENT,                \
      DEVICE(device), PLAIN, NO_SPAN,                                                  \
      (CUdevice, device), (CUdevResource *, resource), (CUdevResourceType, type))      \
    X(CtxGetDevResource, cuCtxGetDevResource, 12040, ONE, CLIENT,                      \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUcontext, hCtx), (CUdevResource *, resource), (CUdevResourceType, type))       \
    X(DevSmResourceSplitByCount, cuDevSmResourceSplitByCount, 12040, ONE, CLIENT,      \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUdevResource *, result), (unsigned int *, nbGroups),                           \
      (const CUdevResource *, input), (CUdevResource *, remaining),                    \
      (unsigned int, useFlags), (unsigned int, minCount))                              \
    X(DevResourceGenerateDesc, cuDevResourceGenerateDesc, 12040, ONE, CLIENT,          \
      INITIALISED, PLAIN, NO_SPAN,                                                     \
      (CUdevResourceDesc *, phDesc), (CUdevResource *, resources),                     \
      (unsigned int, nbResources))                                                     \
    X(GreenCtxCreate, cuGreenCtxCreate, 12040, ONE, CLIENT,                            \
      DEVICE(dev), PLAIN, NO_SPAN,                                                     \
      (CUgreenCtx *, phCtx), (CUdevResourceDesc, desc), (CUdevice, dev),               \
      (unsigned int, flags))                                                           \
    X(GreenCtxDestroy, cuGreenCtxDestroy, 12040, ONE, CLIENT,                          \
      OBJECT(GREEN_CONTEXT, hCtx), ENDS_CONTEXT, NO_SPAN, (CUgreenCtx, hCtx))          \
    X(GreenCtxGetDevResource, cuGreenCtxGetDevResource, 12040, ONE, CLIENT,            \
      OBJECT(GREEN_CONTEXT, hCtx), PLAIN, NO_SPAN,                                     \
      (CUgreenCtx, hCtx), (CUdevResource *, resource), (CUdevResourceType, type))      \
    X(GreenCtxGetId, cuGreenCtxGetId, 12090, ONE, CLIENT,                              \
      OBJECT(GREEN_CONTEXT, greenCtx), PLAIN, NO_SPAN,                                 \
      (CUgreenCtx, greenCtx), (unsigned long long *, greenCtxId))                      \
    X(GreenCtxStreamCreate, cuGreenCtxStreamCreate, 12050, ONE, CLIENT,                \
      OBJECT(GREEN_CONTEXT, greenCtx), PLAIN, NO_SPAN,                                 \
      (CUstream *, phStream), (CUgreenCtx, greenCtx), (unsigned int, flags),           \
      (int, priority))                                                                 \
    X(GreenCtxRecordEvent, cuGreenCtxRecordEvent, 12040, ONE, CLIENT,                  \
      OBJECT(GREEN_CONTEXT, hCtx), REACHES, NO_SPAN,                                   \
      (CUgreenCtx, hCtx), (CUevent, hEvent))                                           \
    X(GreenCtxWaitEvent, cuGreenCtxWaitEvent, 12040, ONE, CLIENT,                      \
      OBJECT(GREEN_CONTEXT, hCtx), PLAIN, NO_SPAN,                                     \
      (CUgreenCtx, hCtx), (CUevent, hEvent))                                           \
                                                                                       \
    /* the log of failed calls */                                                      \
    X(LogsUnregisterCallback, cuLogsUnregisterCallback, 12090, ONE, CLIENT,            \
      EARLY, PLAIN, NO_SPAN, (CUlogsCallbackHandle, callback))                         \
    X(LogsCurrent, cuLogsCurrent, 12090, ONE, CLIENT,                                  \
      EARLY, PLAIN, NO_SPAN, (CUlogIterator *, iterator_out), (unsigned int, flags))   \
    X(LogsDumpToFile, cuLogsDumpToFile, 12090, ONE, CLIENT,                            \
      EARLY, PLAIN, NO_SPAN,                                                           \
      (CUlogIterator *, iterator), (const char *, pathToFile), (unsigned int, flags))  \
    X(LogsDumpToMemory, cuLogsDumpToMemory, 12090, ONE, CLIENT,                        \
      EARLY, PLAIN, NO_SPAN,                                                           \
      (CUlogIterator *, iterator), (char *, buffer), (size_t *, size),                 \
      (unsigned int, flags))                                                           \
                                                                                       \
    /* not built: only the names, without parameters */                                \
    X(Array3DCreate_v1, cuArray3DCreate, 2000, ONE, CLIENT,                            \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Array3DGetDescriptor_v1, cuArray3DGetDescriptor, 2000, ONE, CLIENT,              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ArrayCreate_v1, cuArrayCreate, 2000, ONE, CLIENT,                                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ArrayGetDescriptor_v1, cuArrayGetDescriptor, 2000, ONE, CLIENT,                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ArrayGetPlane, cuArrayGetPlane, 11020, ONE, CLIENT,                              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ArrayGetSparseProperties, cuArrayGetSparseProperties, 11010, ONE, CLIENT,        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CheckpointProcessCheckpoint, cuCheckpointProcessCheckpoint, 12080, ONE, CLIENT,  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CheckpointProcessGetRestoreThreadId,                                             \
      cuCheckpointProcessGetRestoreThreadId, 12080, ONE, CLIENT,                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CheckpointProcessGetState, cuCheckpointProcessGetState, 12080, ONE, CLIENT,      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CheckpointProcessLock, cuCheckpointProcessLock, 12080, ONE, CLIENT,              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CheckpointProcessRestore, cuCheckpointProcessRestore, 12080, ONE, CLIENT,        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CheckpointProcessUnlock, cuCheckpointProcessUnlock, 12080, ONE, CLIENT,          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CoredumpGetAttribute, cuCoredumpGetAttribute, 12010, ONE, CLIENT,                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CoredumpGetAttributeGlobal, cuCoredumpGetAttributeGlobal, 12010, ONE, CLIENT,    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CoredumpSetAttribute, cuCoredumpSetAttribute, 12010, ONE, CLIENT,                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CoredumpSetAttributeGlobal, cuCoredumpSetAttributeGlobal, 12010, ONE, CLIENT,    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CtxAttach, cuCtxAttach, 2000, ONE, CLIENT,                                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(CtxDetach, cuCtxDetach, 2000, ONE, CLIENT,                                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DestroyExternalMemory, cuDestroyExternalMemory, 10000, ONE, CLIENT,              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DestroyExternalSemaphore, cuDestroyExternalSemaphore, 10000, ONE, CLIENT,        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DeviceGetLuid, cuDeviceGetLuid, 10000, ONE, CLIENT,                              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DeviceGetNvSciSyncAttributes,                                                    \
      cuDeviceGetNvSciSyncAttributes, 10020, ONE, CLIENT,                              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DeviceGetTexture1DLinearMaxWidth,                                                \
      cuDeviceGetTexture1DLinearMaxWidth, 11010, ONE, CLIENT,                          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DeviceRegisterAsyncNotification,                                                 \
      cuDeviceRegisterAsyncNotification, 12040, ONE, CLIENT,                           \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DeviceTotalMem_v1, cuDeviceTotalMem, 2000, ONE, CLIENT,                          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(DeviceUnregisterAsyncNotification,                                               \
      cuDeviceUnregisterAsyncNotification, 12040, ONE, CLIENT,                         \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ExternalMemoryGetMappedBuffer,                                                   \
      cuExternalMemoryGetMappedBuffer, 10000, ONE, CLIENT,                             \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ExternalMemoryGetMappedMipmappedArray,                                           \
      cuExternalMemoryGetMappedMipmappedArray, 10000, ONE, CLIENT,                     \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(FuncSetBlockShape, cuFuncSetBlockShape, 2000, ONE, CLIENT,                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(FuncSetSharedSize, cuFuncSetSharedSize, 2000, ONE, CLIENT,                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphAddExternalSemaphoresSignalNode,                                            \
      cuGraphAddExternalSemaphoresSignalNode, 11020, ONE, CLIENT,                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphAddExternalSemaphoresWaitNode,                                              \
      cuGraphAddExternalSemaphoresWaitNode, 11020, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphExecExternalSemaphoresSignalNodeSetParams,                                  \
      cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, ONE, CLIENT,            \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphExecExternalSemaphoresWaitNodeSetParams,                                    \
      cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, ONE, CLIENT,              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphExternalSemaphoresSignalNodeGetParams,                                      \
      cuGraphExternalSemaphoresSignalNodeGetParams, 11020, ONE, CLIENT,                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphExternalSemaphoresSignalNodeSetParams,                                      \
      cuGraphExternalSemaphoresSignalNodeSetParams, 11020, ONE, CLIENT,                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphExternalSemaphoresWaitNodeGetParams,                                        \
      cuGraphExternalSemaphoresWaitNodeGetParams, 11020, ONE, CLIENT,                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphExternalSemaphoresWaitNodeSetParams,                                        \
      cuGraphExternalSemaphoresWaitNodeSetParams, 11020, ONE, CLIENT,                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphicsResourceGetMappedMipmappedArray,                                         \
      cuGraphicsResourceGetMappedMipmappedArray, 5000, ONE, CLIENT,                    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphicsResourceGetMappedPointer_v1,                                             \
      cuGraphicsResourceGetMappedPointer, 3000, ONE, CLIENT,                           \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphicsResourceSetMapFlags_v1,                                                  \
      cuGraphicsResourceSetMapFlags, 3000, ONE, CLIENT,                                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(GraphicsResourceSetMapFlags_v2,                                                  \
      cuGraphicsResourceSetMapFlags_v2, 6050, ONE, CLIENT,                             \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ImportExternalMemory, cuImportExternalMemory, 10000, ONE, CLIENT,                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ImportExternalSemaphore, cuImportExternalSemaphore, 10000, ONE, CLIENT,          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Launch, cuLaunch, 2000, ONE, CLIENT,                                             \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(LaunchCooperativeKernelMultiDevice,                                              \
      cuLaunchCooperativeKernelMultiDevice, 9000, ONE, CLIENT,                         \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(LaunchGrid, cuLaunchGrid, 2000, ONE, CLIENT,                                     \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(LaunchGridAsync, cuLaunchGridAsync, 2000, ONE, CLIENT,                           \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemAlloc_v1, cuMemAlloc, 2000, ONE, CLIENT,                                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemAllocHost_v1, cuMemAllocHost, 2000, ONE, CLIENT,                              \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemAllocPitch_v1, cuMemAllocPitch, 2000, ONE, CLIENT,                            \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemBatchDecompressAsync, cuMemBatchDecompressAsync, 12060, PTSZ, CLIENT,         \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemFree_v1, cuMemFree, 2000, ONE, CLIENT,                                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemGetAddressRange_v1, cuMemGetAddressRange, 2000, ONE, CLIENT,                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemGetHandleForAddressRange, cuMemGetHandleForAddressRange, 11070, ONE, CLIENT,  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemGetInfo_v1, cuMemGetInfo, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemHostGetDevicePointer_v1, cuMemHostGetDevicePointer, 2020, ONE, CLIENT,        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemMapArrayAsync, cuMemMapArrayAsync, 11010, PTSZ, CLIENT,                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Memcpy2D_v1, cuMemcpy2D, 2000, ONE, CLIENT,                                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Memcpy2DAsync_v1, cuMemcpy2DAsync, 2000, ONE, CLIENT,                            \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Memcpy2DUnaligned_v1, cuMemcpy2DUnaligned, 2000, ONE, CLIENT,                    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Memcpy3D_v1, cuMemcpy3D, 2000, ONE, CLIENT,                                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(Memcpy3DAsync_v1, cuMemcpy3DAsync, 2000, ONE, CLIENT,                            \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyAtoA_v1, cuMemcpyAtoA, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyAtoD_v1, cuMemcpyAtoD, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyAtoH_v1, cuMemcpyAtoH, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyAtoHAsync_v1, cuMemcpyAtoHAsync, 2000, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyDtoA_v1, cuMemcpyDtoA, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyDtoD_v1, cuMemcpyDtoD, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyDtoDAsync_v1, cuMemcpyDtoDAsync, 3000, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyDtoH_v1, cuMemcpyDtoH, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyDtoHAsync_v1, cuMemcpyDtoHAsync, 2000, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyHtoA_v1, cuMemcpyHtoA, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyHtoAAsync_v1, cuMemcpyHtoAAsync, 2000, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyHtoD_v1, cuMemcpyHtoD, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemcpyHtoDAsync_v1, cuMemcpyHtoDAsync, 2000, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemsetD16_v1, cuMemsetD16, 2000, ONE, CLIENT,                                    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemsetD2D16_v1, cuMemsetD2D16, 2000, ONE, CLIENT,                                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemsetD2D32_v1, cuMemsetD2D32, 2000, ONE, CLIENT,                                \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemsetD2D8_v1, cuMemsetD2D8, 2000, ONE, CLIENT,                                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemsetD32_v1, cuMemsetD32, 2000, ONE, CLIENT,                                    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MemsetD8_v1, cuMemsetD8, 2000, ONE, CLIENT,                                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MipmappedArrayGetMemoryRequirements,                                             \
      cuMipmappedArrayGetMemoryRequirements, 11060, ONE, CLIENT,                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MipmappedArrayGetSparseProperties,                                               \
      cuMipmappedArrayGetSparseProperties, 11010, ONE, CLIENT,                         \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ModuleGetGlobal_v1, cuModuleGetGlobal, 2000, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MulticastAddDevice, cuMulticastAddDevice, 12010, ONE, CLIENT,                    \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MulticastBindAddr, cuMulticastBindAddr, 12010, ONE, CLIENT,                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MulticastBindMem, cuMulticastBindMem, 12010, ONE, CLIENT,                        \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MulticastCreate, cuMulticastCreate, 12010, ONE, CLIENT,                          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MulticastGetGranularity, cuMulticastGetGranularity, 12010, ONE, CLIENT,          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(MulticastUnbind, cuMulticastUnbind, 12010, ONE, CLIENT,                          \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ParamSetSize, cuParamSetSize, 2000, ONE, CLIENT,                                 \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ParamSetTexRef, cuParamSetTexRef, 2000, ONE, CLIENT,                             \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ParamSetf, cuParamSetf, 2000, ONE, CLIENT,                                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ParamSeti, cuParamSeti, 2000, ONE, CLIENT,                                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(ParamSetv, cuParamSetv, 2000, ONE, CLIENT,                                       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(SignalExternalSemaphoresAsync,                                                   \
      cuSignalExternalSemaphoresAsync, 10000, PTSZ, CLIENT,                            \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TensorMapEncodeIm2colWide, cuTensorMapEncodeIm2colWide, 12080, ONE, CLIENT,      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetAddress_v1, cuTexRefGetAddress, 2000, ONE, CLIENT,                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetBorderColor, cuTexRefGetBorderColor, 8000, ONE, CLIENT,                 \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetMaxAnisotropy, cuTexRefGetMaxAnisotropy, 5000, ONE, CLIENT,             \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetMipmapFilterMode, cuTexRefGetMipmapFilterMode, 5000, ONE, CLIENT,       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetMipmapLevelBias, cuTexRefGetMipmapLevelBias, 5000, ONE, CLIENT,         \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetMipmapLevelClamp, cuTexRefGetMipmapLevelClamp, 5000, ONE, CLIENT,       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefGetMipmappedArray, cuTexRefGetMipmappedArray, 5000, ONE, CLIENT,           \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetAddress_v1, cuTexRefSetAddress, 2000, ONE, CLIENT,                      \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetAddress2D_v1, cuTexRefSetAddress2D, 2020, ONE, CLIENT,                  \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetBorderColor, cuTexRefSetBorderColor, 8000, ONE, CLIENT,                 \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetMaxAnisotropy, cuTexRefSetMaxAnisotropy, 5000, ONE, CLIENT,             \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetMipmapFilterMode, cuTexRefSetMipmapFilterMode, 5000, ONE, CLIENT,       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetMipmapLevelBias, cuTexRefSetMipmapLevelBias, 5000, ONE, CLIENT,         \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetMipmapLevelClamp, cuTexRefSetMipmapLevelClamp, 5000, ONE, CLIENT,       \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(TexRefSetMipmappedArray, cuTexRefSetMipmappedArray, 5000, ONE, CLIENT,           \
      NOT_BUILT, PLAIN, NO_SPAN, void)                                                 \
    X(WaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync, 10000, PTSZ, CLIENT, \
      NOT_BUILT, PLAIN, NO_SPAN, void)

/* -- reading rows ------------------------------------------------------------------ */

#define PCU_KEEP(...) __VA_ARGS__
#define PCU_DROP(...)

/* 1 if the argument is in parentheses, otherwise 0. */
#define PCU_IN_PARENTHESES(x) PCU_SECOND(PCU_PROBE x, 0, 0)
#define PCU_PROBE(...)        ~, 1
#define PCU_SECOND(...)       PCU_SECOND_OF(__VA_ARGS__)
#define PCU_SECOND_OF(a, b, ...) b
#define PCU_JOIN(a, b)        PCU_JOINED(a, b)
#define PCU_JOINED(a, b)      a##b
#define PCU_TEXT(x)           PCU_TEXT_OF(x)
#define PCU_TEXT_OF(x)        #x

/* The column `export`: the export of that version, and PCU_KEEP if there is another
 * one, of which the macros PCU_OTHER_ tell the name and the version. */
#define PCU_EXPORT(export) \
    PCU_JOIN(PCU_EXPORT_, PCU_IN_PARENTHESES(export))(export)
#define PCU_EXPORT_0(export)      export
#define PCU_EXPORT_1(export)      PCU_EXPORT_OF export
#define PCU_EXPORT_OF(export, other, version) export
#define PCU_IF_OTHER(export)      PCU_JOIN(PCU_IF_OTHER_, PCU_IN_PARENTHESES(export))
#define PCU_IF_OTHER_0            PCU_DROP
#define PCU_IF_OTHER_1            PCU_KEEP
#define PCU_OTHER_NAME(export)    PCU_OTHER_NAME_OF export
#define PCU_OTHER_NAME_OF(export, other, version) other
#define PCU_OTHER_VERSION(export) PCU_OTHER_VERSION_OF export
#define PCU_OTHER_VERSION_OF(export, other, version) version

/* The column `thread`: PCU_KEEP if there is a form for the stream of a thread, and its
 * name. */
#define PCU_IF_THREAD_ONE  PCU_DROP
#define PCU_IF_THREAD_PTDS PCU_KEEP
#define PCU_IF_THREAD_PTSZ PCU_KEEP
#define PCU_THREAD_NAME_PTDS(export) PCU_JOIN(export, _ptds)
#define PCU_THREAD_NAME_PTSZ(export) PCU_JOIN(export, _ptsz)
enum { PCU_THREAD_VERSION = 7000 };

/* The column `caller`: PCU_KEEP if the extension calls the function; whether it needs
 * it; the value of `lock`, one of the enumeration below. */
#define PCU_IF_CALLED_REQUIRED(lock) PCU_KEEP
#define PCU_IF_CALLED_OPTIONAL(lock) PCU_KEEP
#define PCU_IF_CALLED_CLIENT         PCU_DROP
#define PCU_IS_NEEDED_REQUIRED(lock) true
#define PCU_IS_NEEDED_OPTIONAL(lock) false
#define PCU_LOCK_REQUIRED(lock)      PCU_BLOCKING_##lock
#define PCU_LOCK_OPTIONAL(lock)      PCU_BLOCKING_##lock

/* The parameters as a list of declarations, and their names as a list of arguments; and
 * the same lists behind another parameter or argument. */
#define PCU_PARAMETERS(...) PCU_LIST(PCU_DECLARATION, __VA_ARGS__)
#define PCU_ARGUMENTS(...)  PCU_LIST(PCU_ARGUMENT, __VA_ARGS__)
#define PCU_PARAMETERS_AFTER(first, ...) \
    first PCU_IF_ANY(__VA_ARGS__)(, PCU_PARAMETERS(__VA_ARGS__))
#define PCU_ARGUMENTS_AFTER(first, ...) \
    first PCU_IF_ANY(__VA_ARGS__)(, PCU_ARGUMENTS(__VA_ARGS__))

#define PCU_DECLARATION(item) \
    PCU_JOIN(PCU_DECLARATION_, PCU_IN_PARENTHESES(item))(item)
#define PCU_DECLARATION_0(item)  void
#define PCU_DECLARATION_1(item)  PCU_DECLARE item
#define PCU_DECLARE(type, name)  type name
#define PCU_ARGUMENT(item)       PCU_JOIN(PCU_ARGUMENT_, PCU_IN_PARENTHESES(item))(item)
#define PCU_ARGUMENT_0(item)
#define PCU_ARGUMENT_1(item)     PCU_NAME item
#define PCU_NAME(type, name)     name
#define PCU_IF_ANY(...)          PCU_IF_ANY_OF(__VA_ARGS__, )
#define PCU_IF_ANY_OF(item, ...) PCU_JOIN(PCU_IF_OTHER_, PCU_IN_PARENTHESES(item))

/* f(a), f(b), ... for up to 16 items. */
#define PCU_LIST(f, ...) PCU_JOIN(PCU_LIST_, PCU_COUNT(__VA_ARGS__))(f, __VA_ARGS__)
#define PCU_COUNT(...) \
    PCU_COUNT_OF(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )
#define PCU_COUNT_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, count, ...) count
#define PCU_LIST_1(f, a)       f(a)
#define PCU_LIST_2(f, a, ...) f(a), PCU_LIST_1(f, __VA_ARGS__)
#define PCU_LIST_3(f, a, ...) f(a), PCU_LIST_2(f, __VA_ARGS__)
#define PCU_LIST_4(f, a, ...) f(a), PCU_LIST_3(f, __VA_ARGS__)
#define PCU_LIST_5(f, a, ...) f(a), PCU_LIST_4(f, __VA_ARGS__)
#define PCU_LIST_6(f, a, ...) f(a), PCU_LIST_5(f, __VA_ARGS__)
#define PCU_LIST_7(f, a, ...) f(a), PCU_LIST_6(f, __VA_ARGS__)
#define PCU_LIST_8(f, a, ...) f(a), PCU_LIST_7(f, __VA_ARGS__)
#define PCU_LIST_9(f, a, ...) f(a), PCU_LIST_8(f, __VA_ARGS__)
#define PCU_LIST_10(f, a, ...) f(a), PCU_LIST_9(f, __VA_ARGS__)
#define PCU_LIST_11(f, a, ...) f(a), PCU_LIST_10(f, __VA_ARGS__)
#define PCU_LIST_12(f, a, ...) f(a), PCU_LIST_11(f, __VA_ARGS__)
#define PCU_LIST_13(f, a, ...) f(a), PCU_LIST_12(f, __VA_ARGS__)
#define PCU_LIST_14(f, a, ...) f(a), PCU_LIST_13(f, __VA_ARGS__)
#define PCU_LIST_15(f, a, ...) f(a), PCU_LIST_14(f, __VA_ARGS__)
#define PCU_LIST_16(f, a, ...) f(a), PCU_LIST_15(f, __VA_ARGS__)
/* clang-format on */

#endif
