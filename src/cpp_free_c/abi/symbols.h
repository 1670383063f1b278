/* The functions of the driver, one row each: those that the extension calls, and those
 * that the software device offers to other programs besides.
 *
 *   X(Name, version, need, blocking, (parameters))
 *
 * Name is the CUDA name without its cu. The parameters are those of the ABI that
 * appeared in the CUDA version given (major * 1000 + minor * 10); cuGetProcAddress is
 * asked for that version; a function of which two ABIs are used has a second row, whose
 * name ends in _v2. need: every driver since 11.4 has the REQUIRED symbols, and
 * init() refuses a library that lacks one. A call of an OPTIONAL function that the
 * driver lacks returns CUDA_ERROR_NOT_FOUND. Functions that the extension does not call
 * are OPTIONAL.
 *
 * blocking says when the call may take long, so that the interpreter lock is released
 * around it (PCU_STATUS in python/support/driver_call.h). Measured on an H200:
 *   NOGIL   it may wait for the device, read files or work for milliseconds
 *   COPY    the same, and it enqueues work in a stream
 *   QUEUE   it enqueues work in a stream, and waits if the queue is full
 *   BEHIND  it waits only behind a NOGIL call of another thread that holds the driver's
 *           lock; QUEUE and COPY may do that too
 *   GIL     it only looks up a value
 *
 * All functions return CUresult. test/driver/test_abi.py compares the rows with
 * cuda.h. */
#ifndef ABI_SYMBOLS_H
#define ABI_SYMBOLS_H

/* clang-format off */
#define PCU_DRV_SYMBOLS(X) \
                                                                                       \
    /* the library itself */                                                           \
    X(Init, 2000, REQUIRED, NOGIL, (unsigned int Flags))                               \
    X(DriverGetVersion, 2020, REQUIRED, GIL, (int *driverVersion))                     \
    X(GetErrorName, 6000, REQUIRED, GIL, (CUresult error, const char **pStr))          \
    X(GetErrorString, 6000, REQUIRED, GIL, (CUresult error, const char **pStr))        \
    X(LogsRegisterCallback, 12090, OPTIONAL, GIL,                                      \
      (CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle               \
       *callback_out))                                                                 \
                                                                                       \
    /* devices */                                                                      \
    X(DeviceGet, 2000, REQUIRED, GIL, (CUdevice *device, int ordinal))                 \
    X(DeviceGetCount, 2000, REQUIRED, GIL, (int *count))                               \
    X(DeviceGetName, 2000, REQUIRED, GIL, (char *name, int len, CUdevice dev))         \
    X(DeviceGetUuid, 9020, OPTIONAL, GIL, (CUuuid *uuid, CUdevice dev))                \
    X(DeviceTotalMem, 3020, REQUIRED, GIL, (size_t *bytes, CUdevice dev))              \
    X(DeviceGetAttribute, 2000, REQUIRED, GIL,                                         \
      (int *pi, CUdevice_attribute attrib, CUdevice dev))                              \
    X(DeviceGetByPCIBusId, 4010, REQUIRED, GIL, (CUdevice *dev, const char *pciBusId)) \
    X(DeviceGetPCIBusId, 4010, REQUIRED, GIL, (char *pciBusId, int len, CUdevice dev)) \
    X(DeviceCanAccessPeer, 4000, REQUIRED, GIL,                                        \
      (int *canAccessPeer, CUdevice dev, CUdevice peerDev))                            \
    X(DeviceGetP2PAttribute, 8000, OPTIONAL, GIL,                                      \
      (int *value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice          \
       dstDevice))                                                                     \
    X(DeviceGetDefaultMemPool, 11020, OPTIONAL, GIL,                                   \
      (CUmemoryPool *pool_out, CUdevice dev))                                          \
    X(DeviceGetMemPool, 11020, OPTIONAL, GIL, (CUmemoryPool *pool, CUdevice dev))      \
    X(DeviceSetMemPool, 11020, OPTIONAL, GIL, (CUdevice dev, CUmemoryPool pool))       \
                                                                                       \
    /* primary contexts */                                                             \
    X(DevicePrimaryCtxRetain, 7000, REQUIRED, NOGIL, (CUcontext *pctx, CUdevice dev))  \
    X(DevicePrimaryCtxRelease, 11000, REQUIRED, NOGIL, (CUdevice dev))                 \
    X(DevicePrimaryCtxSetFlags, 11000, OPTIONAL, GIL,                                  \
      (CUdevice dev, unsigned int flags))                                              \
    X(DevicePrimaryCtxGetState, 7000, OPTIONAL, GIL,                                   \
      (CUdevice dev, unsigned int *flags, int *active))                                \
    X(DevicePrimaryCtxReset, 11000, OPTIONAL, NOGIL, (CUdevice dev))                   \
                                                                                       \
    /* contexts */                                                                     \
    X(CtxCreate, 3020, REQUIRED, NOGIL,                                                \
      (CUcontext *pctx, unsigned int flags, CUdevice dev))                             \
    X(CtxDestroy, 4000, REQUIRED, NOGIL, (CUcontext ctx))                              \
    X(CtxPushCurrent, 4000, REQUIRED, GIL, (CUcontext ctx))                            \
    X(CtxPopCurrent, 4000, REQUIRED, GIL, (CUcontext *pctx))                           \
    X(CtxSetCurrent, 4000, REQUIRED, GIL, (CUcontext ctx))                             \
    X(CtxGetCurrent, 4000, REQUIRED, GIL, (CUcontext *pctx))                           \
    X(CtxGetDevice, 2000, REQUIRED, GIL, (CUdevice *device))                           \
    X(CtxGetFlags, 7000, OPTIONAL, GIL, (unsigned int *flags))                         \
    X(CtxGetId, 12000, OPTIONAL, GIL, (CUcontext ctx, unsigned long long *ctxId))      \
    X(CtxSynchronize, 2000, REQUIRED, NOGIL, (void))                                   \
    X(CtxGetLimit, 3010, REQUIRED, GIL, (size_t *pvalue, CUlimit limit))               \
    X(CtxSetLimit, 3010, REQUIRED, BEHIND, (CUlimit limit, size_t value))              \
    X(CtxGetCacheConfig, 3020, REQUIRED, GIL, (CUfunc_cache *pconfig))                 \
    X(CtxSetCacheConfig, 3020, REQUIRED, GIL, (CUfunc_cache config))                   \
    X(CtxGetSharedMemConfig, 4020, OPTIONAL, GIL, (CUsharedconfig *pConfig))           \
    X(CtxSetSharedMemConfig, 4020, OPTIONAL, GIL, (CUsharedconfig config))             \
    X(CtxGetApiVersion, 3020, REQUIRED, GIL, (CUcontext ctx, unsigned int *version))   \
    X(CtxGetStreamPriorityRange, 5050, OPTIONAL, GIL,                                  \
      (int *leastPriority, int *greatestPriority))                                     \
    X(CtxFromGreenCtx, 12040, OPTIONAL, BEHIND,                                        \
      (CUcontext *pContext, CUgreenCtx hCtx))                                          \
    X(CtxResetPersistingL2Cache, 11000, OPTIONAL, GIL, (void))                         \
    X(CtxEnablePeerAccess, 4000, REQUIRED, NOGIL,                                      \
      (CUcontext peerContext, unsigned int Flags))                                     \
    X(CtxDisablePeerAccess, 4000, REQUIRED, NOGIL, (CUcontext peerContext))            \
                                                                                       \
    /* modules, functions */                                                           \
    X(ModuleLoad, 2000, REQUIRED, NOGIL, (CUmodule *module, const char *fname))        \
    X(ModuleLoadData, 2000, REQUIRED, NOGIL, (CUmodule *module, const void *image))    \
    X(ModuleLoadDataEx, 2010, REQUIRED, NOGIL,                                         \
      (CUmodule *module, const void *image, unsigned int numOptions, CUjit_option      \
       *options, void **optionValues))                                                 \
    X(ModuleLoadFatBinary, 2000, OPTIONAL, NOGIL,                                      \
      (CUmodule *module, const void *fatCubin))                                        \
    X(ModuleUnload, 2000, REQUIRED, NOGIL, (CUmodule hmod))                            \
    X(ModuleGetFunction, 2000, REQUIRED, BEHIND,                                       \
      (CUfunction *hfunc, CUmodule hmod, const char *name))                            \
    X(ModuleGetGlobal, 3020, REQUIRED, BEHIND,                                         \
      (CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name))             \
    X(ModuleGetTexRef, 2000, OPTIONAL, BEHIND,                                         \
      (CUtexref *pTexRef, CUmodule hmod, const char *name))                            \
    X(ModuleGetSurfRef, 3000, OPTIONAL, BEHIND,                                        \
      (CUsurfref *pSurfRef, CUmodule hmod, const char *name))                          \
    X(ModuleGetFunctionCount, 12040, OPTIONAL, GIL,                                    \
      (unsigned int *count, CUmodule hmod))                                            \
    X(ModuleEnumerateFunctions, 12040, OPTIONAL, GIL,                                  \
      (CUfunction *functions, unsigned int numFunctions, CUmodule mod))                \
    X(LibraryGetModule, 12000, OPTIONAL, BEHIND, (CUmodule *pMod, CUlibrary library))  \
    X(KernelGetFunction, 12000, OPTIONAL, BEHIND, (CUfunction *pFunc, CUkernel kernel)) \
    X(ModuleGetLoadingMode, 11070, OPTIONAL, GIL, (CUmoduleLoadingMode *mode))         \
    X(FuncGetAttribute, 2020, REQUIRED, GIL,                                           \
      (int *pi, CUfunction_attribute attrib, CUfunction hfunc))                        \
    X(FuncSetAttribute, 9000, REQUIRED, BEHIND,                                        \
      (CUfunction hfunc, CUfunction_attribute attrib, int value))                      \
    X(FuncSetCacheConfig, 3000, REQUIRED, BEHIND,                                      \
      (CUfunction hfunc, CUfunc_cache config))                                         \
    X(FuncSetSharedMemConfig, 4020, OPTIONAL, GIL,                                     \
      (CUfunction hfunc, CUsharedconfig config))                                       \
    X(FuncGetModule, 11000, OPTIONAL, GIL, (CUmodule *hmod, CUfunction hfunc))         \
    X(FuncGetName, 12030, OPTIONAL, GIL, (const char **name, CUfunction hfunc))        \
    X(FuncGetParamInfo, 12040, OPTIONAL, GIL,                                          \
      (CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize))    \
    X(FuncIsLoaded, 12040, OPTIONAL, GIL,                                              \
      (CUfunctionLoadingState *state, CUfunction hfunc))                               \
    X(FuncLoad, 12040, OPTIONAL, NOGIL, (CUfunction hfunc))                            \
                                                                                       \
    /* linking */                                                                      \
    X(LinkCreate, 6050, REQUIRED, NOGIL,                                               \
      (unsigned int numOptions, CUjit_option *options, void **optionValues,            \
       CUlinkState *stateOut))                                                         \
    X(LinkAddData, 6050, REQUIRED, NOGIL,                                              \
      (CUlinkState state, CUjitInputType type, void *data, size_t size, const char     \
       *name, unsigned int numOptions, CUjit_option *options, void **optionValues))    \
    X(LinkAddFile, 6050, REQUIRED, NOGIL,                                              \
      (CUlinkState state, CUjitInputType type, const char *path, unsigned int          \
       numOptions, CUjit_option *options, void **optionValues))                        \
    X(LinkComplete, 5050, REQUIRED, NOGIL,                                             \
      (CUlinkState state, void **cubinOut, size_t *sizeOut))                           \
    X(LinkDestroy, 5050, REQUIRED, NOGIL, (CUlinkState state))                         \
                                                                                       \
    /* launching */                                                                    \
    X(LaunchKernel, 4000, REQUIRED, QUEUE,                                             \
      (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int        \
       gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int          \
       blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void **kernelParams,  \
       void **extra))                                                                  \
    X(LaunchKernelEx, 11060, OPTIONAL, QUEUE,                                          \
      (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void           \
       **extra))                                                                       \
    X(LaunchCooperativeKernel, 9000, OPTIONAL, QUEUE,                                  \
      (CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int        \
       gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int          \
       blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void                  \
       **kernelParams))                                                                \
    X(LaunchHostFunc, 10000, OPTIONAL, QUEUE,                                          \
      (CUstream hStream, CUhostFn fn, void *userData))                                 \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, 6050, OPTIONAL, GIL,                  \
      (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize))        \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, OPTIONAL, GIL,         \
      (int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize,         \
       unsigned int flags))                                                            \
    X(OccupancyMaxPotentialBlockSize, 6050, OPTIONAL, GIL,                             \
      (int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize           \
       blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit))        \
    X(OccupancyAvailableDynamicSMemPerBlock, 10020, OPTIONAL, GIL,                     \
      (size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize))        \
    X(OccupancyMaxPotentialClusterSize, 11070, OPTIONAL, GIL,                          \
      (int *clusterSize, CUfunction func, const CUlaunchConfig *config))               \
    X(OccupancyMaxActiveClusters, 11070, OPTIONAL, GIL,                                \
      (int *numClusters, CUfunction func, const CUlaunchConfig *config))               \
                                                                                       \
    /* memory */                                                                       \
    X(MemGetInfo, 3020, REQUIRED, GIL, (size_t *free, size_t *total))                  \
    X(MemAlloc, 3020, REQUIRED, BEHIND, (CUdeviceptr *dptr, size_t bytesize))          \
    X(MemAllocPitch, 3020, REQUIRED, BEHIND,                                           \
      (CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,          \
       unsigned int ElementSizeBytes))                                                 \
    X(MemFree, 3020, REQUIRED, NOGIL, (CUdeviceptr dptr))                              \
    X(MemGetAddressRange, 3020, REQUIRED, GIL,                                         \
      (CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr))                           \
    X(MemHostAlloc, 2020, REQUIRED, NOGIL,                                             \
      (void **pp, size_t bytesize, unsigned int Flags))                                \
    X(MemFreeHost, 2000, REQUIRED, NOGIL, (void *p))                                   \
    X(MemHostGetDevicePointer, 3020, REQUIRED, GIL,                                    \
      (CUdeviceptr *pdptr, void *p, unsigned int Flags))                               \
    X(MemHostGetFlags, 2030, REQUIRED, GIL, (unsigned int *pFlags, void *p))           \
    X(MemHostRegister, 6050, REQUIRED, NOGIL,                                          \
      (void *p, size_t bytesize, unsigned int Flags))                                  \
    X(MemHostUnregister, 4000, REQUIRED, NOGIL, (void *p))                             \
    X(MemAllocManaged, 6000, REQUIRED, BEHIND,                                         \
      (CUdeviceptr *dptr, size_t bytesize, unsigned int flags))                        \
    X(MemPrefetchAsync, 8000, OPTIONAL, QUEUE,                                         \
      (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream))        \
    X(MemAdvise, 8000, OPTIONAL, BEHIND,                                               \
      (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device))        \
    X(MemPrefetchAsync_v2, 12020, OPTIONAL, QUEUE,                                     \
      (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,   \
       CUstream hStream))                                                              \
    X(MemAdvise_v2, 12020, OPTIONAL, BEHIND,                                           \
      (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation            \
       location))                                                                      \
    X(MemPrefetchBatchAsync, 13000, OPTIONAL, QUEUE,                                   \
      (CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,   \
       size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,      \
       CUstream hStream))                                                              \
    X(MemRangeGetAttribute, 8000, OPTIONAL, BEHIND,                                    \
      (void *data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr       \
       devPtr, size_t count))                                                          \
    X(StreamAttachMemAsync, 6000, REQUIRED, QUEUE,                                     \
      (CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags))         \
    X(PointerGetAttribute, 4000, REQUIRED, GIL,                                        \
      (void *data, CUpointer_attribute attribute, CUdeviceptr ptr))                    \
    X(PointerGetAttributes, 7000, OPTIONAL, GIL,                                       \
      (unsigned int numAttributes, CUpointer_attribute *attributes, void **data,       \
       CUdeviceptr ptr))                                                               \
    X(PointerSetAttribute, 6000, OPTIONAL, BEHIND,                                     \
      (const void *value, CUpointer_attribute attribute, CUdeviceptr ptr))             \
    X(MemAllocAsync, 11020, OPTIONAL, QUEUE,                                           \
      (CUdeviceptr *dptr, size_t bytesize, CUstream hStream))                          \
    X(MemFreeAsync, 11020, OPTIONAL, QUEUE, (CUdeviceptr dptr, CUstream hStream))      \
    X(MemAllocFromPoolAsync, 11020, OPTIONAL, QUEUE,                                   \
      (CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream))       \
    X(MemPoolCreate, 11020, OPTIONAL, BEHIND,                                          \
      (CUmemoryPool *pool, const CUmemPoolProps *poolProps))                           \
    X(MemPoolDestroy, 11020, OPTIONAL, NOGIL, (CUmemoryPool pool))                     \
    X(MemPoolTrimTo, 11020, OPTIONAL, NOGIL, (CUmemoryPool pool, size_t minBytesToKeep)) \
    X(MemPoolSetAttribute, 11020, OPTIONAL, GIL,                                       \
      (CUmemoryPool pool, CUmemPool_attribute attr, void *value))                      \
    X(MemPoolGetAttribute, 11020, OPTIONAL, GIL,                                       \
      (CUmemoryPool pool, CUmemPool_attribute attr, void *value))                      \
    X(MemPoolSetAccess, 11020, OPTIONAL, GIL,                                          \
      (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count))                   \
    X(MemPoolGetAccess, 11020, OPTIONAL, GIL,                                          \
      (CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location))       \
    X(MemPoolExportToShareableHandle, 11020, OPTIONAL, BEHIND,                         \
      (void *handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,      \
       unsigned long long flags))                                                      \
    X(MemPoolImportFromShareableHandle, 11020, OPTIONAL, NOGIL,                        \
      (CUmemoryPool *pool_out, void *handle, CUmemAllocationHandleType handleType,     \
       unsigned long long flags))                                                      \
    X(MemPoolExportPointer, 11020, OPTIONAL, BEHIND,                                   \
      (CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr))                        \
    X(MemPoolImportPointer, 11020, OPTIONAL, NOGIL,                                    \
      (CUdeviceptr *ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData *shareData))    \
                                                                                       \
    /* virtual memory */                                                               \
    X(MemAddressReserve, 10020, OPTIONAL, BEHIND,                                      \
      (CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned     \
       long long flags))                                                               \
    X(MemAddressFree, 10020, OPTIONAL, NOGIL, (CUdeviceptr ptr, size_t size))          \
    X(MemCreate, 10020, OPTIONAL, NOGIL,                                               \
      (CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp    \
       *prop, unsigned long long flags))                                               \
    X(MemRelease, 10020, OPTIONAL, NOGIL, (CUmemGenericAllocationHandle handle))       \
    X(MemMap, 10020, OPTIONAL, NOGIL,                                                  \
      (CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle       \
       handle, unsigned long long flags))                                              \
    X(MemUnmap, 10020, OPTIONAL, NOGIL, (CUdeviceptr ptr, size_t size))                \
    X(MemSetAccess, 10020, OPTIONAL, NOGIL,                                            \
      (CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count))       \
    X(MemGetAccess, 10020, OPTIONAL, GIL,                                              \
      (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr))     \
    X(MemExportToShareableHandle, 10020, OPTIONAL, BEHIND,                             \
      (void *shareableHandle, CUmemGenericAllocationHandle handle,                     \
       CUmemAllocationHandleType handleType, unsigned long long flags))                \
    X(MemImportFromShareableHandle, 10020, OPTIONAL, NOGIL,                            \
      (CUmemGenericAllocationHandle *handle, void *osHandle, CUmemAllocationHandleType \
       shHandleType))                                                                  \
    X(MemGetAllocationGranularity, 10020, OPTIONAL, GIL,                               \
      (size_t *granularity, const CUmemAllocationProp *prop,                           \
       CUmemAllocationGranularity_flags option))                                       \
    X(MemGetAllocationPropertiesFromHandle, 10020, OPTIONAL, GIL,                      \
      (CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle))                \
                                                                                       \
    /* between processes */                                                            \
    X(IpcGetEventHandle, 4010, REQUIRED, BEHIND,                                       \
      (CUipcEventHandle *pHandle, CUevent event))                                      \
    X(IpcOpenEventHandle, 4010, REQUIRED, NOGIL,                                       \
      (CUevent *phEvent, CUipcEventHandle handle))                                     \
    X(IpcGetMemHandle, 4010, REQUIRED, BEHIND,                                         \
      (CUipcMemHandle *pHandle, CUdeviceptr dptr))                                     \
    X(IpcOpenMemHandle, 11000, REQUIRED, NOGIL,                                        \
      (CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags))                 \
    X(IpcCloseMemHandle, 4010, REQUIRED, NOGIL, (CUdeviceptr dptr))                    \
                                                                                       \
    /* copies */                                                                       \
    X(Memcpy, 4000, OPTIONAL, COPY,                                                    \
      (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount))                            \
    X(MemcpyAsync, 4000, OPTIONAL, COPY,                                               \
      (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream))          \
    X(MemcpyPeer, 4000, REQUIRED, COPY,                                                \
      (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext   \
       srcContext, size_t ByteCount))                                                  \
    X(MemcpyPeerAsync, 4000, REQUIRED, COPY,                                           \
      (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext   \
       srcContext, size_t ByteCount, CUstream hStream))                                \
    X(MemcpyHtoD, 3020, REQUIRED, COPY,                                                \
      (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount))                  \
    X(MemcpyDtoH, 3020, REQUIRED, COPY,                                                \
      (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount))                        \
    X(MemcpyDtoD, 3020, REQUIRED, COPY,                                                \
      (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount))                \
    X(MemcpyDtoA, 3020, REQUIRED, COPY,                                                \
      (CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount))   \
    X(MemcpyAtoD, 3020, REQUIRED, COPY,                                                \
      (CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount))   \
    X(MemcpyHtoA, 3020, REQUIRED, COPY,                                                \
      (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount))     \
    X(MemcpyAtoH, 3020, REQUIRED, COPY,                                                \
      (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount))           \
    X(MemcpyAtoA, 3020, REQUIRED, COPY,                                                \
      (CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,         \
       size_t ByteCount))                                                              \
    X(MemcpyHtoDAsync, 3020, REQUIRED, COPY,                                           \
      (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream          \
       hStream))                                                                       \
    X(MemcpyDtoHAsync, 3020, REQUIRED, COPY,                                           \
      (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream))      \
    X(MemcpyDtoDAsync, 3020, REQUIRED, COPY,                                           \
      (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream        \
       hStream))                                                                       \
    X(MemcpyHtoAAsync, 3020, REQUIRED, COPY,                                           \
      (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,      \
       CUstream hStream))                                                              \
    X(MemcpyAtoHAsync, 3020, REQUIRED, COPY,                                           \
      (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream   \
       hStream))                                                                       \
    X(Memcpy2D, 3020, REQUIRED, COPY, (const CUDA_MEMCPY2D *pCopy))                    \
    X(Memcpy2DUnaligned, 3020, REQUIRED, COPY, (const CUDA_MEMCPY2D *pCopy))           \
    X(Memcpy2DAsync, 3020, REQUIRED, COPY,                                             \
      (const CUDA_MEMCPY2D *pCopy, CUstream hStream))                                  \
    X(Memcpy3D, 3020, REQUIRED, COPY, (const CUDA_MEMCPY3D *pCopy))                    \
    X(Memcpy3DAsync, 3020, REQUIRED, COPY,                                             \
      (const CUDA_MEMCPY3D *pCopy, CUstream hStream))                                  \
    X(Memcpy3DPeer, 4000, REQUIRED, COPY, (const CUDA_MEMCPY3D_PEER *pCopy))           \
    X(Memcpy3DPeerAsync, 4000, REQUIRED, COPY,                                         \
      (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream))                             \
    X(MemsetD8, 3020, REQUIRED, COPY,                                                  \
      (CUdeviceptr dstDevice, unsigned char uc, size_t N))                             \
    X(MemsetD16, 3020, REQUIRED, COPY,                                                 \
      (CUdeviceptr dstDevice, unsigned short us, size_t N))                            \
    X(MemsetD32, 3020, REQUIRED, COPY,                                                 \
      (CUdeviceptr dstDevice, unsigned int ui, size_t N))                              \
    X(MemsetD2D8, 3020, REQUIRED, COPY,                                                \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,         \
       size_t Height))                                                                 \
    X(MemsetD2D16, 3020, REQUIRED, COPY,                                               \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,        \
       size_t Height))                                                                 \
    X(MemsetD2D32, 3020, REQUIRED, COPY,                                               \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t   \
       Height))                                                                        \
    X(MemsetD8Async, 3020, REQUIRED, COPY,                                             \
      (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream))           \
    X(MemsetD16Async, 3020, REQUIRED, COPY,                                            \
      (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream))          \
    X(MemsetD32Async, 3020, REQUIRED, COPY,                                            \
      (CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream))            \
    X(MemsetD2D8Async, 3020, REQUIRED, COPY,                                           \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,         \
       size_t Height, CUstream hStream))                                               \
    X(MemsetD2D16Async, 3020, REQUIRED, COPY,                                          \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,        \
       size_t Height, CUstream hStream))                                               \
    X(MemsetD2D32Async, 3020, REQUIRED, COPY,                                          \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t   \
       Height, CUstream hStream))                                                      \
                                                                                       \
    /* arrays, textures, surfaces */                                                   \
    X(ArrayCreate, 3020, REQUIRED, BEHIND,                                             \
      (CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray))                 \
    X(ArrayGetDescriptor, 3020, REQUIRED, GIL,                                         \
      (CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray))                       \
    X(Array3DCreate, 3020, REQUIRED, BEHIND,                                           \
      (CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray))               \
    X(Array3DGetDescriptor, 3020, REQUIRED, GIL,                                       \
      (CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray))                     \
    X(ArrayDestroy, 2000, REQUIRED, NOGIL, (CUarray hArray))                           \
    X(MipmappedArrayCreate, 5000, OPTIONAL, BEHIND,                                    \
      (CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR                        \
       *pMipmappedArrayDesc, unsigned int numMipmapLevels))                            \
    X(MipmappedArrayGetLevel, 5000, OPTIONAL, BEHIND,                                  \
      (CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level))    \
    X(MipmappedArrayDestroy, 5000, OPTIONAL, NOGIL, (CUmipmappedArray hMipmappedArray)) \
    X(TexObjectCreate, 5000, REQUIRED, BEHIND,                                         \
      (CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const              \
       CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc))      \
    X(TexObjectDestroy, 5000, REQUIRED, BEHIND, (CUtexObject texObject))               \
    X(TexObjectGetResourceDesc, 5000, OPTIONAL, GIL,                                   \
      (CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject))                           \
    X(TexObjectGetTextureDesc, 5000, OPTIONAL, GIL,                                    \
      (CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject))                            \
    X(TexObjectGetResourceViewDesc, 5000, OPTIONAL, GIL,                               \
      (CUDA_RESOURCE_VIEW_DESC *pResViewDesc, CUtexObject texObject))                  \
    X(SurfObjectCreate, 5000, REQUIRED, BEHIND,                                        \
      (CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc))                 \
    X(SurfObjectDestroy, 5000, REQUIRED, BEHIND, (CUsurfObject surfObject))            \
    X(SurfObjectGetResourceDesc, 5000, OPTIONAL, GIL,                                  \
      (CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject))                         \
    X(TexRefCreate, 2000, OPTIONAL, BEHIND, (CUtexref *pTexRef))                       \
    X(TexRefDestroy, 2000, OPTIONAL, BEHIND, (CUtexref hTexRef))                       \
    X(TexRefSetArray, 2000, OPTIONAL, GIL,                                             \
      (CUtexref hTexRef, CUarray hArray, unsigned int Flags))                          \
    X(TexRefSetAddress, 3020, OPTIONAL, GIL,                                           \
      (size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes))          \
    X(TexRefSetAddress2D, 4010, OPTIONAL, GIL,                                         \
      (CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t   \
       Pitch))                                                                         \
    X(TexRefSetFormat, 2000, OPTIONAL, GIL,                                            \
      (CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents))                 \
    X(TexRefSetAddressMode, 2000, OPTIONAL, GIL,                                       \
      (CUtexref hTexRef, int dim, CUaddress_mode am))                                  \
    X(TexRefSetFilterMode, 2000, OPTIONAL, GIL, (CUtexref hTexRef, CUfilter_mode fm))  \
    X(TexRefSetFlags, 2000, OPTIONAL, GIL, (CUtexref hTexRef, unsigned int Flags))     \
    X(TexRefGetAddress, 3020, OPTIONAL, GIL, (CUdeviceptr *pdptr, CUtexref hTexRef))   \
    X(TexRefGetArray, 2000, OPTIONAL, GIL, (CUarray *phArray, CUtexref hTexRef))       \
    X(TexRefGetAddressMode, 2000, OPTIONAL, GIL,                                       \
      (CUaddress_mode *pam, CUtexref hTexRef, int dim))                                \
    X(TexRefGetFilterMode, 2000, OPTIONAL, GIL,                                        \
      (CUfilter_mode *pfm, CUtexref hTexRef))                                          \
    X(TexRefGetFormat, 2000, OPTIONAL, GIL,                                            \
      (CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef))                  \
    X(TexRefGetFlags, 2000, OPTIONAL, GIL, (unsigned int *pFlags, CUtexref hTexRef))   \
    X(SurfRefSetArray, 3000, OPTIONAL, GIL,                                            \
      (CUsurfref hSurfRef, CUarray hArray, unsigned int Flags))                        \
    X(TensorMapEncodeTiled, 12000, OPTIONAL, GIL,                                      \
      (CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, uint32_t            \
       tensorRank, void *globalAddress, const uint64_t *globalDim, const uint64_t      \
       *globalStrides, const uint32_t *boxDim, const uint32_t *elementStrides,         \
       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,                   \
       CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill))           \
    X(TensorMapEncodeIm2col, 12000, OPTIONAL, GIL,                                     \
      (CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, uint32_t            \
       tensorRank, void *globalAddress, const uint64_t *globalDim, const uint64_t      \
       *globalStrides, const int *pixelBoxLowerCorner, const int                       \
       *pixelBoxUpperCorner, uint32_t channelsPerPixel, uint32_t pixelsPerColumn,      \
       const uint32_t *elementStrides, CUtensorMapInterleave interleave,               \
       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,                 \
       CUtensorMapFloatOOBfill oobFill))                                               \
    X(SurfRefGetArray, 3000, OPTIONAL, GIL, (CUarray *phArray, CUsurfref hSurfRef))    \
                                                                                       \
    /* streams */                                                                      \
    X(StreamCreate, 2000, REQUIRED, BEHIND, (CUstream *phStream, unsigned int Flags))  \
    X(StreamCreateWithPriority, 5050, OPTIONAL, BEHIND,                                \
      (CUstream *phStream, unsigned int flags, int priority))                          \
    X(StreamGetPriority, 5050, OPTIONAL, GIL, (CUstream hStream, int *priority))       \
    X(StreamGetFlags, 5050, OPTIONAL, GIL, (CUstream hStream, unsigned int *flags))    \
    X(StreamGetCtx, 9020, OPTIONAL, GIL, (CUstream hStream, CUcontext *pctx))          \
    X(StreamGetId, 12000, OPTIONAL, GIL,                                               \
      (CUstream hStream, unsigned long long *streamId))                                \
    X(StreamWaitEvent, 3020, REQUIRED, QUEUE,                                          \
      (CUstream hStream, CUevent hEvent, unsigned int Flags))                          \
    X(StreamAddCallback, 5000, OPTIONAL, QUEUE,                                        \
      (CUstream hStream, CUstreamCallback callback, void *userData, unsigned int       \
       flags))                                                                         \
    X(StreamWaitValue32, 11070, OPTIONAL, QUEUE,                                       \
      (CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags))     \
    X(StreamWaitValue64, 11070, OPTIONAL, QUEUE,                                       \
      (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned int flags))         \
    X(StreamWriteValue32, 11070, OPTIONAL, QUEUE,                                      \
      (CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags))     \
    X(StreamWriteValue64, 11070, OPTIONAL, QUEUE,                                      \
      (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned int flags))         \
    X(StreamBatchMemOp, 11070, OPTIONAL, QUEUE,                                        \
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray,      \
       unsigned int flags))                                                            \
    X(StreamQuery, 2000, REQUIRED, GIL, (CUstream hStream))                            \
    X(StreamSynchronize, 2000, REQUIRED, NOGIL, (CUstream hStream))                    \
    X(StreamDestroy, 4000, REQUIRED, NOGIL, (CUstream hStream))                        \
    X(StreamBeginCapture, 10010, OPTIONAL, BEHIND,                                     \
      (CUstream hStream, CUstreamCaptureMode mode))                                    \
    X(StreamEndCapture, 10000, OPTIONAL, BEHIND, (CUstream hStream, CUgraph *phGraph)) \
    X(StreamIsCapturing, 10000, OPTIONAL, GIL,                                         \
      (CUstream hStream, CUstreamCaptureStatus *captureStatus))                        \
    X(StreamBeginCaptureToGraph, 12030, OPTIONAL, BEHIND,                              \
      (CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies, const        \
       CUgraphEdgeData *dependencyData, size_t numDependencies, CUstreamCaptureMode    \
       mode))                                                                          \
    X(StreamGetCaptureInfo, 12030, OPTIONAL, GIL,                                      \
      (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, \
       CUgraph *graph_out, const CUgraphNode **dependencies_out, const CUgraphEdgeData \
       **edgeData_out, size_t *numDependencies_out))                                   \
    X(StreamUpdateCaptureDependencies, 12030, OPTIONAL, BEHIND,                        \
      (CUstream hStream, CUgraphNode *dependencies, const CUgraphEdgeData              \
       *dependencyData, size_t numDependencies, unsigned int flags))                   \
    X(ThreadExchangeStreamCaptureMode, 10010, OPTIONAL, GIL,                           \
      (CUstreamCaptureMode *mode))                                                     \
                                                                                       \
    /* events */                                                                       \
    X(EventCreate, 2000, REQUIRED, BEHIND, (CUevent *phEvent, unsigned int Flags))     \
    X(EventRecord, 2000, REQUIRED, QUEUE, (CUevent hEvent, CUstream hStream))          \
    X(EventRecordWithFlags, 11010, OPTIONAL, QUEUE,                                    \
      (CUevent hEvent, CUstream hStream, unsigned int flags))                          \
    X(EventQuery, 2000, REQUIRED, GIL, (CUevent hEvent))                               \
    X(EventSynchronize, 2000, REQUIRED, NOGIL, (CUevent hEvent))                       \
    X(EventDestroy, 4000, REQUIRED, BEHIND, (CUevent hEvent))                          \
    X(EventElapsedTime, 2000, REQUIRED, GIL,                                           \
      (float *pMilliseconds, CUevent hStart, CUevent hEnd))                            \
                                                                                       \
    /* graphs */                                                                       \
    X(GraphCreate, 10000, OPTIONAL, GIL, (CUgraph *phGraph, unsigned int flags))       \
    X(GraphDestroy, 10000, OPTIONAL, BEHIND, (CUgraph hGraph))                         \
    X(GraphClone, 10000, OPTIONAL, GIL,                                                \
      (CUgraph *phGraphClone, CUgraph originalGraph))                                  \
    X(GraphGetNodes, 10000, OPTIONAL, GIL,                                             \
      (CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes))                          \
    X(GraphNodeGetType, 10000, OPTIONAL, GIL,                                          \
      (CUgraphNode hNode, CUgraphNodeType *type))                                      \
    X(GraphInstantiateWithFlags, 11040, OPTIONAL, NOGIL,                               \
      (CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags))            \
    X(GraphUpload, 11010, OPTIONAL, QUEUE, (CUgraphExec hGraph, CUstream hStream))     \
    X(GraphLaunch, 10000, OPTIONAL, QUEUE, (CUgraphExec hGraph, CUstream hStream))     \
    X(GraphExecDestroy, 10000, OPTIONAL, BEHIND, (CUgraphExec hGraphExec))             \
    X(GraphDebugDotPrint, 11030, OPTIONAL, NOGIL,                                      \
      (CUgraph hGraph, const char *path, unsigned int flags))                          \
    X(GraphNodeFindInClone, 10000, OPTIONAL, GIL,                                      \
      (CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph))          \
    X(GraphGetRootNodes, 10000, OPTIONAL, GIL,                                         \
      (CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes))                  \
    X(GraphGetEdges, 12030, OPTIONAL, GIL,                                             \
      (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData,  \
       size_t *numEdges))                                                              \
    X(GraphNodeGetDependencies, 12030, OPTIONAL, GIL,                                  \
      (CUgraphNode hNode, CUgraphNode *dependencies, CUgraphEdgeData *edgeData, size_t \
       *numDependencies))                                                              \
    X(GraphNodeGetDependentNodes, 12030, OPTIONAL, GIL,                                \
      (CUgraphNode hNode, CUgraphNode *dependentNodes, CUgraphEdgeData *edgeData,      \
       size_t *numDependentNodes))                                                     \
    X(GraphAddDependencies, 12030, OPTIONAL, BEHIND,                                   \
      (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const           \
       CUgraphEdgeData *edgeData, size_t numDependencies))                             \
    X(GraphRemoveDependencies, 12030, OPTIONAL, BEHIND,                                \
      (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, const           \
       CUgraphEdgeData *edgeData, size_t numDependencies))                             \
    X(GraphDestroyNode, 10000, OPTIONAL, BEHIND, (CUgraphNode hNode))                  \
    X(GraphAddNode, 12030, OPTIONAL, BEHIND,                                           \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       const CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams\
       *nodeParams))                                                                   \
    X(GraphNodeSetParams, 12020, OPTIONAL, BEHIND,                                     \
      (CUgraphNode hNode, CUgraphNodeParams *nodeParams))                              \
    X(GraphAddKernelNode, 12000, OPTIONAL, BEHIND,                                     \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *nodeParams))             \
    X(GraphKernelNodeGetParams, 12000, OPTIONAL, GIL,                                  \
      (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams))                        \
    X(GraphKernelNodeSetParams, 12000, OPTIONAL, BEHIND,                               \
      (CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams))                  \
    X(GraphKernelNodeCopyAttributes, 11000, OPTIONAL, BEHIND,                          \
      (CUgraphNode dst, CUgraphNode src))                                              \
    X(GraphKernelNodeGetAttribute, 11000, OPTIONAL, GIL,                               \
      (CUgraphNode hNode, CUlaunchAttributeID attr, CUlaunchAttributeValue             \
       *value_out))                                                                    \
    X(GraphKernelNodeSetAttribute, 11000, OPTIONAL, BEHIND,                            \
      (CUgraphNode hNode, CUlaunchAttributeID attr, const CUlaunchAttributeValue       \
       *value))                                                                        \
    X(GraphAddMemcpyNode, 10000, OPTIONAL, BEHIND,                                     \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx))        \
    X(GraphMemcpyNodeGetParams, 10000, OPTIONAL, GIL,                                  \
      (CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams))                                  \
    X(GraphMemcpyNodeSetParams, 10000, OPTIONAL, BEHIND,                               \
      (CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams))                            \
    X(GraphAddMemsetNode, 10000, OPTIONAL, BEHIND,                                     \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext  \
       ctx))                                                                           \
    X(GraphMemsetNodeGetParams, 10000, OPTIONAL, GIL,                                  \
      (CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams))                        \
    X(GraphMemsetNodeSetParams, 10000, OPTIONAL, BEHIND,                               \
      (CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams))                  \
    X(GraphAddHostNode, 10000, OPTIONAL, BEHIND,                                       \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams))               \
    X(GraphHostNodeGetParams, 10000, OPTIONAL, GIL,                                    \
      (CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams))                          \
    X(GraphHostNodeSetParams, 10000, OPTIONAL, BEHIND,                                 \
      (CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams))                    \
    X(GraphAddChildGraphNode, 10000, OPTIONAL, BEHIND,                                 \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, CUgraph childGraph))                                    \
    X(GraphChildGraphNodeGetGraph, 10000, OPTIONAL, GIL,                               \
      (CUgraphNode hNode, CUgraph *phGraph))                                           \
    X(GraphAddEmptyNode, 10000, OPTIONAL, BEHIND,                                      \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies))                                                        \
    X(GraphAddEventRecordNode, 11010, OPTIONAL, BEHIND,                                \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, CUevent event))                                         \
    X(GraphEventRecordNodeGetEvent, 11010, OPTIONAL, GIL,                              \
      (CUgraphNode hNode, CUevent *event_out))                                         \
    X(GraphEventRecordNodeSetEvent, 11010, OPTIONAL, BEHIND,                           \
      (CUgraphNode hNode, CUevent event))                                              \
    X(GraphAddEventWaitNode, 11010, OPTIONAL, BEHIND,                                  \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, CUevent event))                                         \
    X(GraphEventWaitNodeGetEvent, 11010, OPTIONAL, GIL,                                \
      (CUgraphNode hNode, CUevent *event_out))                                         \
    X(GraphEventWaitNodeSetEvent, 11010, OPTIONAL, BEHIND,                             \
      (CUgraphNode hNode, CUevent event))                                              \
    X(GraphAddMemAllocNode, 11040, OPTIONAL, BEHIND,                                   \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams))                \
    X(GraphMemAllocNodeGetParams, 11040, OPTIONAL, GIL,                                \
      (CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS *params_out))                     \
    X(GraphAddMemFreeNode, 11040, OPTIONAL, BEHIND,                                    \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, CUdeviceptr dptr))                                      \
    X(GraphMemFreeNodeGetParams, 11040, OPTIONAL, GIL,                                 \
      (CUgraphNode hNode, CUdeviceptr *dptr_out))                                      \
    X(GraphAddBatchMemOpNode, 11070, OPTIONAL, BEHIND,                                 \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams))       \
    X(GraphBatchMemOpNodeGetParams, 11070, OPTIONAL, GIL,                              \
      (CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out))              \
    X(GraphBatchMemOpNodeSetParams, 11070, OPTIONAL, BEHIND,                           \
      (CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams))            \
    X(GraphConditionalHandleCreate, 12030, OPTIONAL, BEHIND,                           \
      (CUgraphConditionalHandle *pHandle_out, CUgraph hGraph, CUcontext ctx, unsigned  \
       int defaultLaunchValue, unsigned int flags))                                    \
    X(GraphInstantiateWithParams, 12000, OPTIONAL, NOGIL,                              \
      (CUgraphExec *phGraphExec, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS         \
       *instantiateParams))                                                            \
    X(GraphExecGetFlags, 12000, OPTIONAL, GIL,                                         \
      (CUgraphExec hGraphExec, cuuint64_t *flags))                                     \
    X(GraphExecUpdate, 12000, OPTIONAL, NOGIL,                                         \
      (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo             \
       *resultInfo))                                                                   \
    X(GraphExecNodeSetParams, 12020, OPTIONAL, BEHIND,                                 \
      (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams *nodeParams))      \
    X(GraphExecKernelNodeSetParams, 12000, OPTIONAL, BEHIND,                           \
      (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS        \
       *nodeParams))                                                                   \
    X(GraphExecMemcpyNodeSetParams, 10020, OPTIONAL, BEHIND,                           \
      (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D *copyParams,     \
       CUcontext ctx))                                                                 \
    X(GraphExecMemsetNodeSetParams, 10020, OPTIONAL, BEHIND,                           \
      (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS        \
       *memsetParams, CUcontext ctx))                                                  \
    X(GraphExecHostNodeSetParams, 10020, OPTIONAL, BEHIND,                             \
      (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS          \
       *nodeParams))                                                                   \
    X(GraphExecChildGraphNodeSetParams, 11010, OPTIONAL, BEHIND,                       \
      (CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph))                 \
    X(GraphExecEventRecordNodeSetEvent, 11010, OPTIONAL, BEHIND,                       \
      (CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event))                      \
    X(GraphExecEventWaitNodeSetEvent, 11010, OPTIONAL, BEHIND,                         \
      (CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event))                      \
    X(GraphExecBatchMemOpNodeSetParams, 11070, OPTIONAL, BEHIND,                       \
      (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS  \
       *nodeParams))                                                                   \
    X(GraphNodeSetEnabled, 11060, OPTIONAL, BEHIND,                                    \
      (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled))             \
    X(GraphNodeGetEnabled, 11060, OPTIONAL, GIL,                                       \
      (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int *isEnabled))            \
    X(DeviceGetGraphMemAttribute, 11040, OPTIONAL, GIL,                                \
      (CUdevice device, CUgraphMem_attribute attr, void *value))                       \
    X(DeviceSetGraphMemAttribute, 11040, OPTIONAL, GIL,                                \
      (CUdevice device, CUgraphMem_attribute attr, void *value))                       \
    X(DeviceGraphMemTrim, 11040, OPTIONAL, NOGIL, (CUdevice device))                   \
    X(UserObjectCreate, 11030, OPTIONAL, GIL,                                          \
      (CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int             \
       initialRefcount, unsigned int flags))                                           \
    X(UserObjectRetain, 11030, OPTIONAL, GIL,                                          \
      (CUuserObject object, unsigned int count))                                       \
    X(UserObjectRelease, 11030, OPTIONAL, BEHIND,                                      \
      (CUuserObject object, unsigned int count))                                       \
    X(GraphRetainUserObject, 11030, OPTIONAL, GIL,                                     \
      (CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags))    \
    X(GraphReleaseUserObject, 11030, OPTIONAL, BEHIND,                                 \
      (CUgraph graph, CUuserObject object, unsigned int count))                        \
                                                                                       \
    /* OpenGL */                                                                       \
    X(GLInit, 2000, OPTIONAL, NOGIL, (void))                                           \
    X(GLRegisterBufferObject, 2000, OPTIONAL, GIL, (GLuint buffer))                    \
    X(GLUnregisterBufferObject, 2000, OPTIONAL, NOGIL, (GLuint buffer))                \
    X(GLMapBufferObject, 3020, OPTIONAL, NOGIL,                                        \
      (CUdeviceptr *dptr, size_t *size, GLuint buffer))                                \
    X(GLUnmapBufferObject, 2000, OPTIONAL, NOGIL, (GLuint buffer))                     \
    X(GraphicsGLRegisterBuffer, 3000, OPTIONAL, GIL,                                   \
      (CUgraphicsResource *pCudaResource, GLuint buffer, unsigned int Flags))          \
    X(GraphicsGLRegisterImage, 3000, OPTIONAL, GIL,                                    \
      (CUgraphicsResource *pCudaResource, GLuint image, GLenum target, unsigned int    \
       Flags))                                                                         \
    X(GLGetDevices, 6050, OPTIONAL, GIL,                                               \
      (unsigned int *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int            \
       cudaDeviceCount, CUGLDeviceList deviceList))                                    \
    X(GLCtxCreate, 3020, OPTIONAL, NOGIL,                                              \
      (CUcontext *pCtx, unsigned int Flags, CUdevice device))                          \
    X(GraphicsUnregisterResource, 3000, OPTIONAL, NOGIL, (CUgraphicsResource resource)) \
    X(GraphicsSubResourceGetMappedArray, 3000, OPTIONAL, GIL,                          \
      (CUarray *pArray, CUgraphicsResource resource, unsigned int arrayIndex,          \
       unsigned int mipLevel))                                                         \
    X(GraphicsResourceGetMappedPointer, 3020, OPTIONAL, GIL,                           \
      (CUdeviceptr *pDevPtr, size_t *pSize, CUgraphicsResource resource))              \
    X(GraphicsMapResources, 3000, OPTIONAL, NOGIL,                                     \
      (unsigned int count, CUgraphicsResource *resources, CUstream hStream))           \
    X(GraphicsUnmapResources, 3000, OPTIONAL, NOGIL,                                   \
      (unsigned int count, CUgraphicsResource *resources, CUstream hStream))           \
                                                                                       \
    /* profiler control */                                                             \
    X(ProfilerInitialize, 4000, OPTIONAL, GIL,                                         \
      (const char *configFile, const char *outputFile, CUoutput_mode outputMode))      \
    X(ProfilerStart, 4000, OPTIONAL, GIL, (void))                                      \
    X(ProfilerStop, 4000, OPTIONAL, GIL, (void))
/* clang-format on */

#endif
