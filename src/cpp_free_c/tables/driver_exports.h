/* What the software device exports. Written by tools/make_exports.py; do not edit.
 *
 *   X(export, base, version, stream, Name, (parameters), (arguments))
 *       an exported function, and the row of abi/symbols.h or abi/client_symbols.h
 *       that does its work. stream: LEGACY, or PER_THREAD for a function whose default
 *       stream is that of the thread.
 *   X(export, base, version, stream, Name)
 *       an exported function that is not built. Name is unique for each ABI.
 *
 * base is the name that cuGetProcAddress takes, version the first that has this ABI. */
#ifndef TABLES_DRIVER_EXPORTS_H
#define TABLES_DRIVER_EXPORTS_H

/* clang-format off */
#define PCU_DRIVER_EXPORTS(X) \
    X(cuArray3DCreate_v2, cuArray3DCreate, 3020, LEGACY, Array3DCreate, (CUarray \
      *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray), (pHandle, \
      pAllocateArray)) \
    X(cuArray3DGetDescriptor_v2, cuArray3DGetDescriptor, 3020, LEGACY, \
      Array3DGetDescriptor, (CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray \
      hArray), (pArrayDescriptor, hArray)) \
    X(cuArrayCreate_v2, cuArrayCreate, 3020, LEGACY, ArrayCreate, (CUarray *pHandle, \
      const CUDA_ARRAY_DESCRIPTOR *pAllocateArray), (pHandle, pAllocateArray)) \
    X(cuArrayDestroy, cuArrayDestroy, 2000, LEGACY, ArrayDestroy, (CUarray hArray), \
      (hArray)) \
    X(cuArrayGetDescriptor_v2, cuArrayGetDescriptor, 3020, LEGACY, ArrayGetDescriptor, \
      (CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray), (pArrayDescriptor, \
      hArray)) \
    X(cuArrayGetMemoryRequirements, cuArrayGetMemoryRequirements, 11060, LEGACY, \
      ArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, \
      CUarray array, CUdevice device), (memoryRequirements, array, device)) \
    X(cuCtxCreate, cuCtxCreate, 2000, LEGACY, CtxCreate, (CUcontext *pctx, unsigned \
      int flags, CUdevice dev), (pctx, flags, dev)) \
    X(cuCtxCreate_v2, cuCtxCreate, 3020, LEGACY, CtxCreate, (CUcontext *pctx, unsigned \
      int flags, CUdevice dev), (pctx, flags, dev)) \
    X(cuCtxCreate_v3, cuCtxCreate, 11040, LEGACY, CtxCreate_v3, (CUcontext *pctx, \
      CUexecAffinityParam *paramsArray, int numParams, unsigned int flags, CUdevice \
      dev), (pctx, paramsArray, numParams, flags, dev)) \
    X(cuCtxCreate_v4, cuCtxCreate, 12050, LEGACY, CtxCreate_v4, (CUcontext *pctx, \
      CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev), (pctx, \
      ctxCreateParams, flags, dev)) \
    X(cuCtxDestroy, cuCtxDestroy, 2000, LEGACY, CtxDestroy, (CUcontext ctx), (ctx)) \
    X(cuCtxDestroy_v2, cuCtxDestroy, 4000, LEGACY, CtxDestroy, (CUcontext ctx), (ctx)) \
    X(cuCtxDisablePeerAccess, cuCtxDisablePeerAccess, 4000, LEGACY, \
      CtxDisablePeerAccess, (CUcontext peerContext), (peerContext)) \
    X(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000, LEGACY, CtxEnablePeerAccess, \
      (CUcontext peerContext, unsigned int Flags), (peerContext, Flags)) \
    X(cuCtxFromGreenCtx, cuCtxFromGreenCtx, 12040, LEGACY, CtxFromGreenCtx, (CUcontext \
      *pContext, CUgreenCtx hCtx), (pContext, hCtx)) \
    X(cuCtxGetApiVersion, cuCtxGetApiVersion, 3020, LEGACY, CtxGetApiVersion, \
      (CUcontext ctx, unsigned int *version), (ctx, version)) \
    X(cuCtxGetCacheConfig, cuCtxGetCacheConfig, 3020, LEGACY, CtxGetCacheConfig, \
      (CUfunc_cache *pconfig), (pconfig)) \
    X(cuCtxGetCurrent, cuCtxGetCurrent, 4000, LEGACY, CtxGetCurrent, (CUcontext \
      *pctx), (pctx)) \
    X(cuCtxGetDevResource, cuCtxGetDevResource, 12040, LEGACY, CtxGetDevResource, \
      (CUcontext hCtx, CUdevResource *resource, CUdevResourceType type), (hCtx, \
      resource, type)) \
    X(cuCtxGetDevice, cuCtxGetDevice, 2000, LEGACY, CtxGetDevice, (CUdevice *device), \
      (device)) \
    X(cuCtxGetDevice_v2, cuCtxGetDevice, 13000, LEGACY, CtxGetDevice_v2, (CUdevice \
      *device, CUcontext ctx), (device, ctx)) \
    X(cuCtxGetExecAffinity, cuCtxGetExecAffinity, 11040, LEGACY, CtxGetExecAffinity, \
      (CUexecAffinityParam *pExecAffinity, CUexecAffinityType type), (pExecAffinity, \
      type)) \
    X(cuCtxGetFlags, cuCtxGetFlags, 7000, LEGACY, CtxGetFlags, (unsigned int *flags), \
      (flags)) \
    X(cuCtxGetId, cuCtxGetId, 12000, LEGACY, CtxGetId, (CUcontext ctx, unsigned long \
      long *ctxId), (ctx, ctxId)) \
    X(cuCtxGetLimit, cuCtxGetLimit, 3010, LEGACY, CtxGetLimit, (size_t *pvalue, \
      CUlimit limit), (pvalue, limit)) \
    X(cuCtxGetSharedMemConfig, cuCtxGetSharedMemConfig, 4020, LEGACY, \
      CtxGetSharedMemConfig, (CUsharedconfig *pConfig), (pConfig)) \
    X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050, LEGACY, \
      CtxGetStreamPriorityRange, (int *leastPriority, int *greatestPriority), \
      (leastPriority, greatestPriority)) \
    X(cuCtxPopCurrent, cuCtxPopCurrent, 2000, LEGACY, CtxPopCurrent, (CUcontext \
      *pctx), (pctx)) \
    X(cuCtxPopCurrent_v2, cuCtxPopCurrent, 4000, LEGACY, CtxPopCurrent, (CUcontext \
      *pctx), (pctx)) \
    X(cuCtxPushCurrent, cuCtxPushCurrent, 2000, LEGACY, CtxPushCurrent, (CUcontext \
      ctx), (ctx)) \
    X(cuCtxPushCurrent_v2, cuCtxPushCurrent, 4000, LEGACY, CtxPushCurrent, (CUcontext \
      ctx), (ctx)) \
    X(cuCtxRecordEvent, cuCtxRecordEvent, 12050, LEGACY, CtxRecordEvent, (CUcontext \
      hCtx, CUevent hEvent), (hCtx, hEvent)) \
    X(cuCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, 11000, LEGACY, \
      CtxResetPersistingL2Cache, (void), ()) \
    X(cuCtxSetCacheConfig, cuCtxSetCacheConfig, 3020, LEGACY, CtxSetCacheConfig, \
      (CUfunc_cache config), (config)) \
    X(cuCtxSetCurrent, cuCtxSetCurrent, 4000, LEGACY, CtxSetCurrent, (CUcontext ctx), \
      (ctx)) \
    X(cuCtxSetFlags, cuCtxSetFlags, 12010, LEGACY, CtxSetFlags, (unsigned int flags), \
      (flags)) \
    X(cuCtxSetLimit, cuCtxSetLimit, 3010, LEGACY, CtxSetLimit, (CUlimit limit, size_t \
      value), (limit, value)) \
    X(cuCtxSetSharedMemConfig, cuCtxSetSharedMemConfig, 4020, LEGACY, \
      CtxSetSharedMemConfig, (CUsharedconfig config), (config)) \
    X(cuCtxSynchronize, cuCtxSynchronize, 2000, LEGACY, CtxSynchronize, (void), ()) \
    X(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, LEGACY, CtxSynchronize_v2, \
      (CUcontext ctx), (ctx)) \
    X(cuCtxWaitEvent, cuCtxWaitEvent, 12050, LEGACY, CtxWaitEvent, (CUcontext hCtx, \
      CUevent hEvent), (hCtx, hEvent)) \
    X(cuDevResourceGenerateDesc, cuDevResourceGenerateDesc, 12040, LEGACY, \
      DevResourceGenerateDesc, (CUdevResourceDesc *phDesc, CUdevResource *resources, \
      unsigned int nbResources), (phDesc, resources, nbResources)) \
    X(cuDevSmResourceSplitByCount, cuDevSmResourceSplitByCount, 12040, LEGACY, \
      DevSmResourceSplitByCount, (CUdevResource *result, unsigned int *nbGroups, const \
      CUdevResource *input, CUdevResource *remaining, unsigned int useFlags, unsigned \
      int minCount), (result, nbGroups, input, remaining, useFlags, minCount)) \
    X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000, LEGACY, DeviceCanAccessPeer, \
      (int *canAccessPeer, CUdevice dev, CUdevice peerDev), (canAccessPeer, dev, \
      peerDev)) \
    X(cuDeviceComputeCapability, cuDeviceComputeCapability, 2000, LEGACY, \
      DeviceComputeCapability, (int *major, int *minor, CUdevice dev), (major, minor, \
      dev)) \
    X(cuDeviceGet, cuDeviceGet, 2000, LEGACY, DeviceGet, (CUdevice *device, int \
      ordinal), (device, ordinal)) \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000, LEGACY, DeviceGetAttribute, \
      (int *pi, CUdevice_attribute attrib, CUdevice dev), (pi, attrib, dev)) \
    X(cuDeviceGetByPCIBusId, cuDeviceGetByPCIBusId, 4010, LEGACY, DeviceGetByPCIBusId, \
      (CUdevice *dev, const char *pciBusId), (dev, pciBusId)) \
    X(cuDeviceGetCount, cuDeviceGetCount, 2000, LEGACY, DeviceGetCount, (int *count), \
      (count)) \
    X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, 11020, LEGACY, \
      DeviceGetDefaultMemPool, (CUmemoryPool *pool_out, CUdevice dev), (pool_out, \
      dev)) \
    X(cuDeviceGetDevResource, cuDeviceGetDevResource, 12040, LEGACY, \
      DeviceGetDevResource, (CUdevice device, CUdevResource *resource, \
      CUdevResourceType type), (device, resource, type)) \
    X(cuDeviceGetExecAffinitySupport, cuDeviceGetExecAffinitySupport, 11040, LEGACY, \
      DeviceGetExecAffinitySupport, (int *pi, CUexecAffinityType type, CUdevice dev), \
      (pi, type, dev)) \
    X(cuDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, 11040, LEGACY, \
      DeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attr, void \
      *value), (device, attr, value)) \
    X(cuDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities, 13000, \
      LEGACY, DeviceGetHostAtomicCapabilities, (unsigned int *capabilities, const \
      CUatomicOperation *operations, unsigned int count, CUdevice dev), (capabilities, \
      operations, count, dev)) \
    X(cuDeviceGetMemPool, cuDeviceGetMemPool, 11020, LEGACY, DeviceGetMemPool, \
      (CUmemoryPool *pool, CUdevice dev), (pool, dev)) \
    X(cuDeviceGetName, cuDeviceGetName, 2000, LEGACY, DeviceGetName, (char *name, int \
      len, CUdevice dev), (name, len, dev)) \
    X(cuDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities, 13000, \
      LEGACY, DeviceGetP2PAtomicCapabilities, (unsigned int *capabilities, const \
      CUatomicOperation *operations, unsigned int count, CUdevice srcDevice, CUdevice \
      dstDevice), (capabilities, operations, count, srcDevice, dstDevice)) \
    X(cuDeviceGetP2PAttribute, cuDeviceGetP2PAttribute, 8000, LEGACY, \
      DeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attrib, CUdevice \
      srcDevice, CUdevice dstDevice), (value, attrib, srcDevice, dstDevice)) \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010, LEGACY, DeviceGetPCIBusId, (char \
      *pciBusId, int len, CUdevice dev), (pciBusId, len, dev)) \
    X(cuDeviceGetProperties, cuDeviceGetProperties, 2000, LEGACY, DeviceGetProperties, \
      (CUdevprop *prop, CUdevice dev), (prop, dev)) \
    X(cuDeviceGetUuid, cuDeviceGetUuid, 9020, LEGACY, DeviceGetUuid, (CUuuid *uuid, \
      CUdevice dev), (uuid, dev)) \
    X(cuDeviceGetUuid_v2, cuDeviceGetUuid, 11040, LEGACY, DeviceGetUuid, (CUuuid \
      *uuid, CUdevice dev), (uuid, dev)) \
    X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, 11040, LEGACY, DeviceGraphMemTrim, \
      (CUdevice device), (device)) \
    X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000, LEGACY, \
      DevicePrimaryCtxGetState, (CUdevice dev, unsigned int *flags, int *active), \
      (dev, flags, active)) \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 7000, LEGACY, \
      DevicePrimaryCtxRelease, (CUdevice dev), (dev)) \
    X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000, LEGACY, \
      DevicePrimaryCtxRelease, (CUdevice dev), (dev)) \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000, LEGACY, \
      DevicePrimaryCtxReset, (CUdevice dev), (dev)) \
    X(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000, LEGACY, \
      DevicePrimaryCtxReset, (CUdevice dev), (dev)) \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, LEGACY, \
      DevicePrimaryCtxRetain, (CUcontext *pctx, CUdevice dev), (pctx, dev)) \
    X(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags, 7000, LEGACY, \
      DevicePrimaryCtxSetFlags, (CUdevice dev, unsigned int flags), (dev, flags)) \
    X(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags, 11000, LEGACY, \
      DevicePrimaryCtxSetFlags, (CUdevice dev, unsigned int flags), (dev, flags)) \
    X(cuDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute, 11040, LEGACY, \
      DeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attr, void \
      *value), (device, attr, value)) \
    X(cuDeviceSetMemPool, cuDeviceSetMemPool, 11020, LEGACY, DeviceSetMemPool, \
      (CUdevice dev, CUmemoryPool pool), (dev, pool)) \
    X(cuDeviceTotalMem_v2, cuDeviceTotalMem, 3020, LEGACY, DeviceTotalMem, (size_t \
      *bytes, CUdevice dev), (bytes, dev)) \
    X(cuDriverGetVersion, cuDriverGetVersion, 2020, LEGACY, DriverGetVersion, (int \
      *driverVersion), (driverVersion)) \
    X(cuEventCreate, cuEventCreate, 2000, LEGACY, EventCreate, (CUevent *phEvent, \
      unsigned int Flags), (phEvent, Flags)) \
    X(cuEventDestroy, cuEventDestroy, 2000, LEGACY, EventDestroy, (CUevent hEvent), \
      (hEvent)) \
    X(cuEventDestroy_v2, cuEventDestroy, 4000, LEGACY, EventDestroy, (CUevent hEvent), \
      (hEvent)) \
    X(cuEventElapsedTime, cuEventElapsedTime, 2000, LEGACY, EventElapsedTime, (float \
      *pMilliseconds, CUevent hStart, CUevent hEnd), (pMilliseconds, hStart, hEnd)) \
    X(cuEventElapsedTime_v2, cuEventElapsedTime, 12080, LEGACY, EventElapsedTime, \
      (float *pMilliseconds, CUevent hStart, CUevent hEnd), (pMilliseconds, hStart, \
      hEnd)) \
    X(cuEventQuery, cuEventQuery, 2000, LEGACY, EventQuery, (CUevent hEvent), \
      (hEvent)) \
    X(cuEventRecord, cuEventRecord, 2000, LEGACY, EventRecord, (CUevent hEvent, \
      CUstream hStream), (hEvent, hStream)) \
    X(cuEventRecordWithFlags, cuEventRecordWithFlags, 11010, LEGACY, \
      EventRecordWithFlags, (CUevent hEvent, CUstream hStream, unsigned int flags), \
      (hEvent, hStream, flags)) \
    X(cuEventRecordWithFlags_ptsz, cuEventRecordWithFlags, 11010, PER_THREAD, \
      EventRecordWithFlags, (CUevent hEvent, CUstream hStream, unsigned int flags), \
      (hEvent, hStream, flags)) \
    X(cuEventRecord_ptsz, cuEventRecord, 7000, PER_THREAD, EventRecord, (CUevent \
      hEvent, CUstream hStream), (hEvent, hStream)) \
    X(cuEventSynchronize, cuEventSynchronize, 2000, LEGACY, EventSynchronize, (CUevent \
      hEvent), (hEvent)) \
    X(cuFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites, 11030, LEGACY, \
      FlushGPUDirectRDMAWrites, (CUflushGPUDirectRDMAWritesTarget target, \
      CUflushGPUDirectRDMAWritesScope scope), (target, scope)) \
    X(cuFuncGetAttribute, cuFuncGetAttribute, 2020, LEGACY, FuncGetAttribute, (int \
      *pi, CUfunction_attribute attrib, CUfunction hfunc), (pi, attrib, hfunc)) \
    X(cuFuncGetModule, cuFuncGetModule, 11000, LEGACY, FuncGetModule, (CUmodule *hmod, \
      CUfunction hfunc), (hmod, hfunc)) \
    X(cuFuncGetName, cuFuncGetName, 12030, LEGACY, FuncGetName, (const char **name, \
      CUfunction hfunc), (name, hfunc)) \
    X(cuFuncGetParamInfo, cuFuncGetParamInfo, 12040, LEGACY, FuncGetParamInfo, \
      (CUfunction func, size_t paramIndex, size_t *paramOffset, size_t *paramSize), \
      (func, paramIndex, paramOffset, paramSize)) \
    X(cuFuncIsLoaded, cuFuncIsLoaded, 12040, LEGACY, FuncIsLoaded, \
      (CUfunctionLoadingState *state, CUfunction hfunc), (state, hfunc)) \
    X(cuFuncLoad, cuFuncLoad, 12040, LEGACY, FuncLoad, (CUfunction hfunc), (hfunc)) \
    X(cuFuncSetAttribute, cuFuncSetAttribute, 9000, LEGACY, FuncSetAttribute, \
      (CUfunction hfunc, CUfunction_attribute attrib, int value), (hfunc, attrib, \
      value)) \
    X(cuFuncSetCacheConfig, cuFuncSetCacheConfig, 3000, LEGACY, FuncSetCacheConfig, \
      (CUfunction hfunc, CUfunc_cache config), (hfunc, config)) \
    X(cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, 4020, LEGACY, \
      FuncSetSharedMemConfig, (CUfunction hfunc, CUsharedconfig config), (hfunc, \
      config)) \
    X(cuGLCtxCreate_v2, cuGLCtxCreate, 3020, LEGACY, GLCtxCreate, (CUcontext *pCtx, \
      unsigned int Flags, CUdevice device), (pCtx, Flags, device)) \
    X(cuGLGetDevices_v2, cuGLGetDevices, 6050, LEGACY, GLGetDevices, (unsigned int \
      *pCudaDeviceCount, CUdevice *pCudaDevices, unsigned int cudaDeviceCount, \
      CUGLDeviceList deviceList), (pCudaDeviceCount, pCudaDevices, cudaDeviceCount, \
      deviceList)) \
    X(cuGLInit, cuGLInit, 2000, LEGACY, GLInit, (void), ()) \
    X(cuGLMapBufferObject_v2, cuGLMapBufferObject, 3020, LEGACY, GLMapBufferObject, \
      (CUdeviceptr *dptr, size_t *size, GLuint buffer), (dptr, size, buffer)) \
    X(cuGLRegisterBufferObject, cuGLRegisterBufferObject, 2000, LEGACY, \
      GLRegisterBufferObject, (GLuint buffer), (buffer)) \
    X(cuGLUnmapBufferObject, cuGLUnmapBufferObject, 2000, LEGACY, GLUnmapBufferObject, \
      (GLuint buffer), (buffer)) \
    X(cuGLUnregisterBufferObject, cuGLUnregisterBufferObject, 2000, LEGACY, \
      GLUnregisterBufferObject, (GLuint buffer), (buffer)) \
    X(cuGetErrorName, cuGetErrorName, 6000, LEGACY, GetErrorName, (CUresult error, \
      const char **pStr), (error, pStr)) \
    X(cuGetErrorString, cuGetErrorString, 6000, LEGACY, GetErrorString, (CUresult \
      error, const char **pStr), (error, pStr)) \
    X(cuGetExportTable, cuGetExportTable, 3000, LEGACY, GetExportTable, (const void \
      **ppExportTable, const CUuuid *pExportTableId), (ppExportTable, pExportTableId)) \
    X(cuGetProcAddress, cuGetProcAddress, 11030, LEGACY, GetProcAddress, (const char \
      *symbol, void **pfn, int cudaVersion, cuuint64_t flags), (symbol, pfn, \
      cudaVersion, flags)) \
    X(cuGetProcAddress_v2, cuGetProcAddress, 12000, LEGACY, GetProcAddress_v2, (const \
      char *symbol, void **pfn, int cudaVersion, cuuint64_t flags, unsigned int \
      *symbolStatus), (symbol, pfn, cudaVersion, flags, symbolStatus)) \
    X(cuGraphAddBatchMemOpNode, cuGraphAddBatchMemOpNode, 11070, LEGACY, \
      GraphAddBatchMemOpNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, const \
      CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams), (phGraphNode, hGraph, dependencies, \
      numDependencies, nodeParams)) \
    X(cuGraphAddChildGraphNode, cuGraphAddChildGraphNode, 10000, LEGACY, \
      GraphAddChildGraphNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, CUgraph childGraph), \
      (phGraphNode, hGraph, dependencies, numDependencies, childGraph)) \
    X(cuGraphAddDependencies, cuGraphAddDependencies, 10000, LEGACY, \
      GraphAddDependencies_v1, (CUgraph hGraph, const CUgraphNode *from, const \
      CUgraphNode *to, size_t numDependencies), (hGraph, from, to, numDependencies)) \
    X(cuGraphAddDependencies_v2, cuGraphAddDependencies, 12030, LEGACY, \
      GraphAddDependencies, (CUgraph hGraph, const CUgraphNode *from, const \
      CUgraphNode *to, const CUgraphEdgeData *edgeData, size_t numDependencies), \
      (hGraph, from, to, edgeData, numDependencies)) \
    X(cuGraphAddEmptyNode, cuGraphAddEmptyNode, 10000, LEGACY, GraphAddEmptyNode, \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, \
      size_t numDependencies), (phGraphNode, hGraph, dependencies, numDependencies)) \
    X(cuGraphAddEventRecordNode, cuGraphAddEventRecordNode, 11010, LEGACY, \
      GraphAddEventRecordNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, CUevent event), (phGraphNode, \
      hGraph, dependencies, numDependencies, event)) \
    X(cuGraphAddEventWaitNode, cuGraphAddEventWaitNode, 11010, LEGACY, \
      GraphAddEventWaitNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, CUevent event), (phGraphNode, \
      hGraph, dependencies, numDependencies, event)) \
    X(cuGraphAddHostNode, cuGraphAddHostNode, 10000, LEGACY, GraphAddHostNode, \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, \
      size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams), (phGraphNode, \
      hGraph, dependencies, numDependencies, nodeParams)) \
    X(cuGraphAddKernelNode, cuGraphAddKernelNode, 10000, LEGACY, \
      GraphAddKernelNode_v1, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, const \
      CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams), (phGraphNode, hGraph, dependencies, \
      numDependencies, nodeParams)) \
    X(cuGraphAddKernelNode_v2, cuGraphAddKernelNode, 12000, LEGACY, \
      GraphAddKernelNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode \
      *dependencies, size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS \
      *nodeParams), (phGraphNode, hGraph, dependencies, numDependencies, nodeParams)) \
    X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, 11040, LEGACY, \
      GraphAddMemAllocNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS \
      *nodeParams), (phGraphNode, hGraph, dependencies, numDependencies, nodeParams)) \
    X(cuGraphAddMemFreeNode, cuGraphAddMemFreeNode, 11040, LEGACY, \
      GraphAddMemFreeNode, (CUgraphNode *phGraphNode, CUgraph hGraph, const \
      CUgraphNode *dependencies, size_t numDependencies, CUdeviceptr dptr), \
      (phGraphNode, hGraph, dependencies, numDependencies, dptr)) \
    X(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode, 10000, LEGACY, GraphAddMemcpyNode, \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, \
      size_t numDependencies, const CUDA_MEMCPY3D *copyParams, CUcontext ctx), \
      (phGraphNode, hGraph, dependencies, numDependencies, copyParams, ctx)) \
    X(cuGraphAddMemsetNode, cuGraphAddMemsetNode, 10000, LEGACY, GraphAddMemsetNode, \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, \
      size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext \
      ctx), (phGraphNode, hGraph, dependencies, numDependencies, memsetParams, ctx)) \
    X(cuGraphAddNode, cuGraphAddNode, 12020, LEGACY, GraphAddNode_v1, (CUgraphNode \
      *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, size_t \
      numDependencies, CUgraphNodeParams *nodeParams), (phGraphNode, hGraph, \
      dependencies, numDependencies, nodeParams)) \
    X(cuGraphAddNode_v2, cuGraphAddNode, 12030, LEGACY, GraphAddNode, (CUgraphNode \
      *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies, const \
      CUgraphEdgeData *dependencyData, size_t numDependencies, CUgraphNodeParams \
      *nodeParams), (phGraphNode, hGraph, dependencies, dependencyData, \
      numDependencies, nodeParams)) \
    X(cuGraphBatchMemOpNodeGetParams, cuGraphBatchMemOpNodeGetParams, 11070, LEGACY, \
      GraphBatchMemOpNodeGetParams, (CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS \
      *nodeParams_out), (hNode, nodeParams_out)) \
    X(cuGraphBatchMemOpNodeSetParams, cuGraphBatchMemOpNodeSetParams, 11070, LEGACY, \
      GraphBatchMemOpNodeSetParams, (CUgraphNode hNode, const \
      CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams), (hNode, nodeParams)) \
    X(cuGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, 10000, LEGACY, \
      GraphChildGraphNodeGetGraph, (CUgraphNode hNode, CUgraph *phGraph), (hNode, \
      phGraph)) \
    X(cuGraphClone, cuGraphClone, 10000, LEGACY, GraphClone, (CUgraph *phGraphClone, \
      CUgraph originalGraph), (phGraphClone, originalGraph)) \
    X(cuGraphConditionalHandleCreate, cuGraphConditionalHandleCreate, 12030, LEGACY, \
      GraphConditionalHandleCreate, (CUgraphConditionalHandle *pHandle_out, CUgraph \
      hGraph, CUcontext ctx, unsigned int defaultLaunchValue, unsigned int flags), \
      (pHandle_out, hGraph, ctx, defaultLaunchValue, flags)) \
    X(cuGraphCreate, cuGraphCreate, 10000, LEGACY, GraphCreate, (CUgraph *phGraph, \
      unsigned int flags), (phGraph, flags)) \
    X(cuGraphDebugDotPrint, cuGraphDebugDotPrint, 11030, LEGACY, GraphDebugDotPrint, \
      (CUgraph hGraph, const char *path, unsigned int flags), (hGraph, path, flags)) \
    X(cuGraphDestroy, cuGraphDestroy, 10000, LEGACY, GraphDestroy, (CUgraph hGraph), \
      (hGraph)) \
    X(cuGraphDestroyNode, cuGraphDestroyNode, 10000, LEGACY, GraphDestroyNode, \
      (CUgraphNode hNode), (hNode)) \
    X(cuGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, 11010, LEGACY, \
      GraphEventRecordNodeGetEvent, (CUgraphNode hNode, CUevent *event_out), (hNode, \
      event_out)) \
    X(cuGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, 11010, LEGACY, \
      GraphEventRecordNodeSetEvent, (CUgraphNode hNode, CUevent event), (hNode, \
      event)) \
    X(cuGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, 11010, LEGACY, \
      GraphEventWaitNodeGetEvent, (CUgraphNode hNode, CUevent *event_out), (hNode, \
      event_out)) \
    X(cuGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, 11010, LEGACY, \
      GraphEventWaitNodeSetEvent, (CUgraphNode hNode, CUevent event), (hNode, event)) \
    X(cuGraphExecBatchMemOpNodeSetParams, cuGraphExecBatchMemOpNodeSetParams, 11070, \
      LEGACY, GraphExecBatchMemOpNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode \
      hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams), (hGraphExec, hNode, \
      nodeParams)) \
    X(cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, 11010, \
      LEGACY, GraphExecChildGraphNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode \
      hNode, CUgraph childGraph), (hGraphExec, hNode, childGraph)) \
    X(cuGraphExecDestroy, cuGraphExecDestroy, 10000, LEGACY, GraphExecDestroy, \
      (CUgraphExec hGraphExec), (hGraphExec)) \
    X(cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, 11010, \
      LEGACY, GraphExecEventRecordNodeSetEvent, (CUgraphExec hGraphExec, CUgraphNode \
      hNode, CUevent event), (hGraphExec, hNode, event)) \
    X(cuGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, 11010, \
      LEGACY, GraphExecEventWaitNodeSetEvent, (CUgraphExec hGraphExec, CUgraphNode \
      hNode, CUevent event), (hGraphExec, hNode, event)) \
    X(cuGraphExecGetFlags, cuGraphExecGetFlags, 12000, LEGACY, GraphExecGetFlags, \
      (CUgraphExec hGraphExec, cuuint64_t *flags), (hGraphExec, flags)) \
    X(cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, 10020, LEGACY, \
      GraphExecHostNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode hNode, const \
      CUDA_HOST_NODE_PARAMS *nodeParams), (hGraphExec, hNode, nodeParams)) \
    X(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 10010, LEGACY, \
      GraphExecKernelNodeSetParams_v1, (CUgraphExec hGraphExec, CUgraphNode hNode, \
      const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams), (hGraphExec, hNode, nodeParams)) \
    X(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams, 12000, \
      LEGACY, GraphExecKernelNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode \
      hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams), (hGraphExec, hNode, \
      nodeParams)) \
    X(cuGraphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams, 10020, LEGACY, \
      GraphExecMemcpyNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode hNode, const \
      CUDA_MEMCPY3D *copyParams, CUcontext ctx), (hGraphExec, hNode, copyParams, ctx)) \
    X(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, 10020, LEGACY, \
      GraphExecMemsetNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode hNode, const \
      CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx), (hGraphExec, hNode, \
      memsetParams, ctx)) \
    X(cuGraphExecNodeSetParams, cuGraphExecNodeSetParams, 12020, LEGACY, \
      GraphExecNodeSetParams, (CUgraphExec hGraphExec, CUgraphNode hNode, \
      CUgraphNodeParams *nodeParams), (hGraphExec, hNode, nodeParams)) \
    X(cuGraphExecUpdate, cuGraphExecUpdate, 10020, LEGACY, GraphExecUpdate_v1, \
      (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out, \
      CUgraphExecUpdateResult *updateResult_out), (hGraphExec, hGraph, hErrorNode_out, \
      updateResult_out)) \
    X(cuGraphExecUpdate_v2, cuGraphExecUpdate, 12000, LEGACY, GraphExecUpdate, \
      (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo \
      *resultInfo), (hGraphExec, hGraph, resultInfo)) \
    X(cuGraphGetEdges, cuGraphGetEdges, 10000, LEGACY, GraphGetEdges_v1, (CUgraph \
      hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges), (hGraph, from, \
      to, numEdges)) \
    X(cuGraphGetEdges_v2, cuGraphGetEdges, 12030, LEGACY, GraphGetEdges, (CUgraph \
      hGraph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edgeData, size_t \
      *numEdges), (hGraph, from, to, edgeData, numEdges)) \
    X(cuGraphGetNodes, cuGraphGetNodes, 10000, LEGACY, GraphGetNodes, (CUgraph hGraph, \
      CUgraphNode *nodes, size_t *numNodes), (hGraph, nodes, numNodes)) \
    X(cuGraphGetRootNodes, cuGraphGetRootNodes, 10000, LEGACY, GraphGetRootNodes, \
      (CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes), (hGraph, \
      rootNodes, numRootNodes)) \
    X(cuGraphHostNodeGetParams, cuGraphHostNodeGetParams, 10000, LEGACY, \
      GraphHostNodeGetParams, (CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams), \
      (hNode, nodeParams)) \
    X(cuGraphHostNodeSetParams, cuGraphHostNodeSetParams, 10000, LEGACY, \
      GraphHostNodeSetParams, (CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS \
      *nodeParams), (hNode, nodeParams)) \
    X(cuGraphInstantiate, cuGraphInstantiate, 10000, LEGACY, GraphInstantiate_v1, \
      (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char \
      *logBuffer, size_t bufferSize), (phGraphExec, hGraph, phErrorNode, logBuffer, \
      bufferSize)) \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040, LEGACY, \
      GraphInstantiateWithFlags, (CUgraphExec *phGraphExec, CUgraph hGraph, unsigned \
      long long flags), (phGraphExec, hGraph, flags)) \
    X(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000, LEGACY, \
      GraphInstantiateWithParams, (CUgraphExec *phGraphExec, CUgraph hGraph, \
      CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams), (phGraphExec, hGraph, \
      instantiateParams)) \
    X(cuGraphInstantiateWithParams_ptsz, cuGraphInstantiateWithParams, 12000, \
      PER_THREAD, GraphInstantiateWithParams, (CUgraphExec *phGraphExec, CUgraph \
      hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams), (phGraphExec, hGraph, \
      instantiateParams)) \
    X(cuGraphInstantiate_v2, cuGraphInstantiate, 11000, LEGACY, GraphInstantiate_v1, \
      (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char \
      *logBuffer, size_t bufferSize), (phGraphExec, hGraph, phErrorNode, logBuffer, \
      bufferSize)) \
    X(cuGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, 11000, LEGACY, \
      GraphKernelNodeCopyAttributes, (CUgraphNode dst, CUgraphNode src), (dst, src)) \
    X(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, 11000, LEGACY, \
      GraphKernelNodeGetAttribute, (CUgraphNode hNode, CUlaunchAttributeID attr, \
      CUlaunchAttributeValue *value_out), (hNode, attr, value_out)) \
    X(cuGraphKernelNodeGetParams, cuGraphKernelNodeGetParams, 10000, LEGACY, \
      GraphKernelNodeGetParams_v1, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 \
      *nodeParams), (hNode, nodeParams)) \
    X(cuGraphKernelNodeGetParams_v2, cuGraphKernelNodeGetParams, 12000, LEGACY, \
      GraphKernelNodeGetParams, (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS \
      *nodeParams), (hNode, nodeParams)) \
    X(cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, 11000, LEGACY, \
      GraphKernelNodeSetAttribute, (CUgraphNode hNode, CUlaunchAttributeID attr, const \
      CUlaunchAttributeValue *value), (hNode, attr, value)) \
    X(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams, 10000, LEGACY, \
      GraphKernelNodeSetParams_v1, (CUgraphNode hNode, const \
      CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams), (hNode, nodeParams)) \
    X(cuGraphKernelNodeSetParams_v2, cuGraphKernelNodeSetParams, 12000, LEGACY, \
      GraphKernelNodeSetParams, (CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS \
      *nodeParams), (hNode, nodeParams)) \
    X(cuGraphLaunch, cuGraphLaunch, 10000, LEGACY, GraphLaunch, (CUgraphExec hGraph, \
      CUstream hStream), (hGraph, hStream)) \
    X(cuGraphLaunch_ptsz, cuGraphLaunch, 10000, PER_THREAD, GraphLaunch, (CUgraphExec \
      hGraph, CUstream hStream), (hGraph, hStream)) \
    X(cuGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams, 11040, LEGACY, \
      GraphMemAllocNodeGetParams, (CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS \
      *params_out), (hNode, params_out)) \
    X(cuGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams, 11040, LEGACY, \
      GraphMemFreeNodeGetParams, (CUgraphNode hNode, CUdeviceptr *dptr_out), (hNode, \
      dptr_out)) \
    X(cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeGetParams, 10000, LEGACY, \
      GraphMemcpyNodeGetParams, (CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams), \
      (hNode, nodeParams)) \
    X(cuGraphMemcpyNodeSetParams, cuGraphMemcpyNodeSetParams, 10000, LEGACY, \
      GraphMemcpyNodeSetParams, (CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams), \
      (hNode, nodeParams)) \
    X(cuGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, 10000, LEGACY, \
      GraphMemsetNodeGetParams, (CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS \
      *nodeParams), (hNode, nodeParams)) \
    X(cuGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, 10000, LEGACY, \
      GraphMemsetNodeSetParams, (CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS \
      *nodeParams), (hNode, nodeParams)) \
    X(cuGraphNodeFindInClone, cuGraphNodeFindInClone, 10000, LEGACY, \
      GraphNodeFindInClone, (CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph \
      hClonedGraph), (phNode, hOriginalNode, hClonedGraph)) \
    X(cuGraphNodeGetDependencies, cuGraphNodeGetDependencies, 10000, LEGACY, \
      GraphNodeGetDependencies_v1, (CUgraphNode hNode, CUgraphNode *dependencies, \
      size_t *numDependencies), (hNode, dependencies, numDependencies)) \
    X(cuGraphNodeGetDependencies_v2, cuGraphNodeGetDependencies, 12030, LEGACY, \
      GraphNodeGetDependencies, (CUgraphNode hNode, CUgraphNode *dependencies, \
      CUgraphEdgeData *edgeData, size_t *numDependencies), (hNode, dependencies, \
      edgeData, numDependencies)) \
    X(cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes, 10000, LEGACY, \
      GraphNodeGetDependentNodes_v1, (CUgraphNode hNode, CUgraphNode *dependentNodes, \
      size_t *numDependentNodes), (hNode, dependentNodes, numDependentNodes)) \
    X(cuGraphNodeGetDependentNodes_v2, cuGraphNodeGetDependentNodes, 12030, LEGACY, \
      GraphNodeGetDependentNodes, (CUgraphNode hNode, CUgraphNode *dependentNodes, \
      CUgraphEdgeData *edgeData, size_t *numDependentNodes), (hNode, dependentNodes, \
      edgeData, numDependentNodes)) \
    X(cuGraphNodeGetEnabled, cuGraphNodeGetEnabled, 11060, LEGACY, \
      GraphNodeGetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int \
      *isEnabled), (hGraphExec, hNode, isEnabled)) \
    X(cuGraphNodeGetType, cuGraphNodeGetType, 10000, LEGACY, GraphNodeGetType, \
      (CUgraphNode hNode, CUgraphNodeType *type), (hNode, type)) \
    X(cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060, LEGACY, \
      GraphNodeSetEnabled, (CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int \
      isEnabled), (hGraphExec, hNode, isEnabled)) \
    X(cuGraphNodeSetParams, cuGraphNodeSetParams, 12020, LEGACY, GraphNodeSetParams, \
      (CUgraphNode hNode, CUgraphNodeParams *nodeParams), (hNode, nodeParams)) \
    X(cuGraphReleaseUserObject, cuGraphReleaseUserObject, 11030, LEGACY, \
      GraphReleaseUserObject, (CUgraph graph, CUuserObject object, unsigned int \
      count), (graph, object, count)) \
    X(cuGraphRemoveDependencies, cuGraphRemoveDependencies, 10000, LEGACY, \
      GraphRemoveDependencies_v1, (CUgraph hGraph, const CUgraphNode *from, const \
      CUgraphNode *to, size_t numDependencies), (hGraph, from, to, numDependencies)) \
    X(cuGraphRemoveDependencies_v2, cuGraphRemoveDependencies, 12030, LEGACY, \
      GraphRemoveDependencies, (CUgraph hGraph, const CUgraphNode *from, const \
      CUgraphNode *to, const CUgraphEdgeData *edgeData, size_t numDependencies), \
      (hGraph, from, to, edgeData, numDependencies)) \
    X(cuGraphRetainUserObject, cuGraphRetainUserObject, 11030, LEGACY, \
      GraphRetainUserObject, (CUgraph graph, CUuserObject object, unsigned int count, \
      unsigned int flags), (graph, object, count, flags)) \
    X(cuGraphUpload, cuGraphUpload, 11010, LEGACY, GraphUpload, (CUgraphExec hGraph, \
      CUstream hStream), (hGraph, hStream)) \
    X(cuGraphUpload_ptsz, cuGraphUpload, 11010, PER_THREAD, GraphUpload, (CUgraphExec \
      hGraph, CUstream hStream), (hGraph, hStream)) \
    X(cuGraphicsGLRegisterBuffer, cuGraphicsGLRegisterBuffer, 3000, LEGACY, \
      GraphicsGLRegisterBuffer, (CUgraphicsResource *pCudaResource, GLuint buffer, \
      unsigned int Flags), (pCudaResource, buffer, Flags)) \
    X(cuGraphicsGLRegisterImage, cuGraphicsGLRegisterImage, 3000, LEGACY, \
      GraphicsGLRegisterImage, (CUgraphicsResource *pCudaResource, GLuint image, \
      GLenum target, unsigned int Flags), (pCudaResource, image, target, Flags)) \
    X(cuGraphicsMapResources, cuGraphicsMapResources, 3000, LEGACY, \
      GraphicsMapResources, (unsigned int count, CUgraphicsResource *resources, \
      CUstream hStream), (count, resources, hStream)) \
    X(cuGraphicsMapResources_ptsz, cuGraphicsMapResources, 7000, PER_THREAD, \
      GraphicsMapResources, (unsigned int count, CUgraphicsResource *resources, \
      CUstream hStream), (count, resources, hStream)) \
    X(cuGraphicsResourceGetMappedPointer_v2, cuGraphicsResourceGetMappedPointer, 3020, \
      LEGACY, GraphicsResourceGetMappedPointer, (CUdeviceptr *pDevPtr, size_t *pSize, \
      CUgraphicsResource resource), (pDevPtr, pSize, resource)) \
    X(cuGraphicsSubResourceGetMappedArray, cuGraphicsSubResourceGetMappedArray, 3000, \
      LEGACY, GraphicsSubResourceGetMappedArray, (CUarray *pArray, CUgraphicsResource \
      resource, unsigned int arrayIndex, unsigned int mipLevel), (pArray, resource, \
      arrayIndex, mipLevel)) \
    X(cuGraphicsUnmapResources, cuGraphicsUnmapResources, 3000, LEGACY, \
      GraphicsUnmapResources, (unsigned int count, CUgraphicsResource *resources, \
      CUstream hStream), (count, resources, hStream)) \
    X(cuGraphicsUnmapResources_ptsz, cuGraphicsUnmapResources, 7000, PER_THREAD, \
      GraphicsUnmapResources, (unsigned int count, CUgraphicsResource *resources, \
      CUstream hStream), (count, resources, hStream)) \
    X(cuGraphicsUnregisterResource, cuGraphicsUnregisterResource, 3000, LEGACY, \
      GraphicsUnregisterResource, (CUgraphicsResource resource), (resource)) \
    X(cuGreenCtxCreate, cuGreenCtxCreate, 12040, LEGACY, GreenCtxCreate, (CUgreenCtx \
      *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags), (phCtx, desc, \
      dev, flags)) \
    X(cuGreenCtxDestroy, cuGreenCtxDestroy, 12040, LEGACY, GreenCtxDestroy, \
      (CUgreenCtx hCtx), (hCtx)) \
    X(cuGreenCtxGetDevResource, cuGreenCtxGetDevResource, 12040, LEGACY, \
      GreenCtxGetDevResource, (CUgreenCtx hCtx, CUdevResource *resource, \
      CUdevResourceType type), (hCtx, resource, type)) \
    X(cuGreenCtxGetId, cuGreenCtxGetId, 12090, LEGACY, GreenCtxGetId, (CUgreenCtx \
      greenCtx, unsigned long long *greenCtxId), (greenCtx, greenCtxId)) \
    X(cuGreenCtxRecordEvent, cuGreenCtxRecordEvent, 12040, LEGACY, \
      GreenCtxRecordEvent, (CUgreenCtx hCtx, CUevent hEvent), (hCtx, hEvent)) \
    X(cuGreenCtxStreamCreate, cuGreenCtxStreamCreate, 12050, LEGACY, \
      GreenCtxStreamCreate, (CUstream *phStream, CUgreenCtx greenCtx, unsigned int \
      flags, int priority), (phStream, greenCtx, flags, priority)) \
    X(cuGreenCtxWaitEvent, cuGreenCtxWaitEvent, 12040, LEGACY, GreenCtxWaitEvent, \
      (CUgreenCtx hCtx, CUevent hEvent), (hCtx, hEvent)) \
    X(cuInit, cuInit, 2000, LEGACY, Init, (unsigned int Flags), (Flags)) \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, 4010, LEGACY, IpcCloseMemHandle, \
      (CUdeviceptr dptr), (dptr)) \
    X(cuIpcGetEventHandle, cuIpcGetEventHandle, 4010, LEGACY, IpcGetEventHandle, \
      (CUipcEventHandle *pHandle, CUevent event), (pHandle, event)) \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, 4010, LEGACY, IpcGetMemHandle, \
      (CUipcMemHandle *pHandle, CUdeviceptr dptr), (pHandle, dptr)) \
    X(cuIpcOpenEventHandle, cuIpcOpenEventHandle, 4010, LEGACY, IpcOpenEventHandle, \
      (CUevent *phEvent, CUipcEventHandle handle), (phEvent, handle)) \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle, 4010, LEGACY, IpcOpenMemHandle, \
      (CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags), (pdptr, handle, \
      Flags)) \
    X(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle, 11000, LEGACY, IpcOpenMemHandle, \
      (CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags), (pdptr, handle, \
      Flags)) \
    X(cuKernelGetAttribute, cuKernelGetAttribute, 12000, LEGACY, KernelGetAttribute, \
      (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev), (pi, \
      attrib, kernel, dev)) \
    X(cuKernelGetFunction, cuKernelGetFunction, 12000, LEGACY, KernelGetFunction, \
      (CUfunction *pFunc, CUkernel kernel), (pFunc, kernel)) \
    X(cuKernelGetLibrary, cuKernelGetLibrary, 12050, LEGACY, KernelGetLibrary, \
      (CUlibrary *pLib, CUkernel kernel), (pLib, kernel)) \
    X(cuKernelGetName, cuKernelGetName, 12030, LEGACY, KernelGetName, (const char \
      **name, CUkernel hfunc), (name, hfunc)) \
    X(cuKernelGetParamInfo, cuKernelGetParamInfo, 12040, LEGACY, KernelGetParamInfo, \
      (CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize), \
      (kernel, paramIndex, paramOffset, paramSize)) \
    X(cuKernelSetAttribute, cuKernelSetAttribute, 12000, LEGACY, KernelSetAttribute, \
      (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev), (attrib, \
      val, kernel, dev)) \
    X(cuKernelSetCacheConfig, cuKernelSetCacheConfig, 12000, LEGACY, \
      KernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice dev), \
      (kernel, config, dev)) \
    X(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000, LEGACY, \
      LaunchCooperativeKernel, (CUfunction f, unsigned int gridDimX, unsigned int \
      gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, \
      unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void \
      **kernelParams), (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, \
      blockDimZ, sharedMemBytes, hStream, kernelParams)) \
    X(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel, 9000, PER_THREAD, \
      LaunchCooperativeKernel, (CUfunction f, unsigned int gridDimX, unsigned int \
      gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, \
      unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream, void \
      **kernelParams), (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, \
      blockDimZ, sharedMemBytes, hStream, kernelParams)) \
    X(cuLaunchHostFunc, cuLaunchHostFunc, 10000, LEGACY, LaunchHostFunc, (CUstream \
      hStream, CUhostFn fn, void *userData), (hStream, fn, userData)) \
    X(cuLaunchHostFunc_ptsz, cuLaunchHostFunc, 10000, PER_THREAD, LaunchHostFunc, \
      (CUstream hStream, CUhostFn fn, void *userData), (hStream, fn, userData)) \
    X(cuLaunchKernel, cuLaunchKernel, 4000, LEGACY, LaunchKernel, (CUfunction f, \
      unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned \
      int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int \
      sharedMemBytes, CUstream hStream, void **kernelParams, void **extra), (f, \
      gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, \
      hStream, kernelParams, extra)) \
    X(cuLaunchKernelEx, cuLaunchKernelEx, 11060, LEGACY, LaunchKernelEx, (const \
      CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra), \
      (config, f, kernelParams, extra)) \
    X(cuLaunchKernelEx_ptsz, cuLaunchKernelEx, 11060, PER_THREAD, LaunchKernelEx, \
      (const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra), \
      (config, f, kernelParams, extra)) \
    X(cuLaunchKernel_ptsz, cuLaunchKernel, 7000, PER_THREAD, LaunchKernel, (CUfunction \
      f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned \
      int blockDimX, unsigned int blockDimY, unsigned int blockDimZ, unsigned int \
      sharedMemBytes, CUstream hStream, void **kernelParams, void **extra), (f, \
      gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, \
      hStream, kernelParams, extra)) \
    X(cuLibraryEnumerateKernels, cuLibraryEnumerateKernels, 12040, LEGACY, \
      LibraryEnumerateKernels, (CUkernel *kernels, unsigned int numKernels, CUlibrary \
      lib), (kernels, numKernels, lib)) \
    X(cuLibraryGetGlobal, cuLibraryGetGlobal, 12000, LEGACY, LibraryGetGlobal, \
      (CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name), (dptr, \
      bytes, library, name)) \
    X(cuLibraryGetKernel, cuLibraryGetKernel, 12000, LEGACY, LibraryGetKernel, \
      (CUkernel *pKernel, CUlibrary library, const char *name), (pKernel, library, \
      name)) \
    X(cuLibraryGetKernelCount, cuLibraryGetKernelCount, 12040, LEGACY, \
      LibraryGetKernelCount, (unsigned int *count, CUlibrary lib), (count, lib)) \
    X(cuLibraryGetManaged, cuLibraryGetManaged, 12000, LEGACY, LibraryGetManaged, \
      (CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name), (dptr, \
      bytes, library, name)) \
    X(cuLibraryGetModule, cuLibraryGetModule, 12000, LEGACY, LibraryGetModule, \
      (CUmodule *pMod, CUlibrary library), (pMod, library)) \
    X(cuLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction, 12000, LEGACY, \
      LibraryGetUnifiedFunction, (void **fptr, CUlibrary library, const char *symbol), \
      (fptr, library, symbol)) \
    X(cuLibraryLoadData, cuLibraryLoadData, 12000, LEGACY, LibraryLoadData, (CUlibrary \
      *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues, \
      unsigned int numJitOptions, CUlibraryOption *libraryOptions, void \
      **libraryOptionValues, unsigned int numLibraryOptions), (library, code, \
      jitOptions, jitOptionsValues, numJitOptions, libraryOptions, \
      libraryOptionValues, numLibraryOptions)) \
    X(cuLibraryLoadFromFile, cuLibraryLoadFromFile, 12000, LEGACY, \
      LibraryLoadFromFile, (CUlibrary *library, const char *fileName, CUjit_option \
      *jitOptions, void **jitOptionsValues, unsigned int numJitOptions, \
      CUlibraryOption *libraryOptions, void **libraryOptionValues, unsigned int \
      numLibraryOptions), (library, fileName, jitOptions, jitOptionsValues, \
      numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions)) \
    X(cuLibraryUnload, cuLibraryUnload, 12000, LEGACY, LibraryUnload, (CUlibrary \
      library), (library)) \
    X(cuLinkAddData, cuLinkAddData, 5050, LEGACY, LinkAddData, (CUlinkState state, \
      CUjitInputType type, void *data, size_t size, const char *name, unsigned int \
      numOptions, CUjit_option *options, void **optionValues), (state, type, data, \
      size, name, numOptions, options, optionValues)) \
    X(cuLinkAddData_v2, cuLinkAddData, 6050, LEGACY, LinkAddData, (CUlinkState state, \
      CUjitInputType type, void *data, size_t size, const char *name, unsigned int \
      numOptions, CUjit_option *options, void **optionValues), (state, type, data, \
      size, name, numOptions, options, optionValues)) \
    X(cuLinkAddFile, cuLinkAddFile, 5050, LEGACY, LinkAddFile, (CUlinkState state, \
      CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option \
      *options, void **optionValues), (state, type, path, numOptions, options, \
      optionValues)) \
    X(cuLinkAddFile_v2, cuLinkAddFile, 6050, LEGACY, LinkAddFile, (CUlinkState state, \
      CUjitInputType type, const char *path, unsigned int numOptions, CUjit_option \
      *options, void **optionValues), (state, type, path, numOptions, options, \
      optionValues)) \
    X(cuLinkComplete, cuLinkComplete, 5050, LEGACY, LinkComplete, (CUlinkState state, \
      void **cubinOut, size_t *sizeOut), (state, cubinOut, sizeOut)) \
    X(cuLinkCreate, cuLinkCreate, 5050, LEGACY, LinkCreate, (unsigned int numOptions, \
      CUjit_option *options, void **optionValues, CUlinkState *stateOut), (numOptions, \
      options, optionValues, stateOut)) \
    X(cuLinkCreate_v2, cuLinkCreate, 6050, LEGACY, LinkCreate, (unsigned int \
      numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut), \
      (numOptions, options, optionValues, stateOut)) \
    X(cuLinkDestroy, cuLinkDestroy, 5050, LEGACY, LinkDestroy, (CUlinkState state), \
      (state)) \
    X(cuLogsCurrent, cuLogsCurrent, 12090, LEGACY, LogsCurrent, (CUlogIterator \
      *iterator_out, unsigned int flags), (iterator_out, flags)) \
    X(cuLogsDumpToFile, cuLogsDumpToFile, 12090, LEGACY, LogsDumpToFile, \
      (CUlogIterator *iterator, const char *pathToFile, unsigned int flags), \
      (iterator, pathToFile, flags)) \
    X(cuLogsDumpToMemory, cuLogsDumpToMemory, 12090, LEGACY, LogsDumpToMemory, \
      (CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags), \
      (iterator, buffer, size, flags)) \
    X(cuLogsRegisterCallback, cuLogsRegisterCallback, 12090, LEGACY, \
      LogsRegisterCallback, (CUlogsCallback callbackFunc, void *userData, \
      CUlogsCallbackHandle *callback_out), (callbackFunc, userData, callback_out)) \
    X(cuLogsUnregisterCallback, cuLogsUnregisterCallback, 12090, LEGACY, \
      LogsUnregisterCallback, (CUlogsCallbackHandle callback), (callback)) \
    X(cuMemAddressFree, cuMemAddressFree, 10020, LEGACY, MemAddressFree, (CUdeviceptr \
      ptr, size_t size), (ptr, size)) \
    X(cuMemAddressReserve, cuMemAddressReserve, 10020, LEGACY, MemAddressReserve, \
      (CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned \
      long long flags), (ptr, size, alignment, addr, flags)) \
    X(cuMemAdvise, cuMemAdvise, 8000, LEGACY, MemAdvise, (CUdeviceptr devPtr, size_t \
      count, CUmem_advise advice, CUdevice device), (devPtr, count, advice, device)) \
    X(cuMemAdvise_v2, cuMemAdvise, 12020, LEGACY, MemAdvise_v2, (CUdeviceptr devPtr, \
      size_t count, CUmem_advise advice, CUmemLocation location), (devPtr, count, \
      advice, location)) \
    X(cuMemAllocAsync, cuMemAllocAsync, 11020, LEGACY, MemAllocAsync, (CUdeviceptr \
      *dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, hStream)) \
    X(cuMemAllocAsync_ptsz, cuMemAllocAsync, 11020, PER_THREAD, MemAllocAsync, \
      (CUdeviceptr *dptr, size_t bytesize, CUstream hStream), (dptr, bytesize, \
      hStream)) \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020, LEGACY, \
      MemAllocFromPoolAsync, (CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, \
      CUstream hStream), (dptr, bytesize, pool, hStream)) \
    X(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync, 11020, PER_THREAD, \
      MemAllocFromPoolAsync, (CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, \
      CUstream hStream), (dptr, bytesize, pool, hStream)) \
    X(cuMemAllocHost_v2, cuMemAllocHost, 3020, LEGACY, MemAllocHost, (void **pp, \
      size_t bytesize), (pp, bytesize)) \
    X(cuMemAllocManaged, cuMemAllocManaged, 6000, LEGACY, MemAllocManaged, \
      (CUdeviceptr *dptr, size_t bytesize, unsigned int flags), (dptr, bytesize, \
      flags)) \
    X(cuMemAllocPitch_v2, cuMemAllocPitch, 3020, LEGACY, MemAllocPitch, (CUdeviceptr \
      *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int \
      ElementSizeBytes), (dptr, pPitch, WidthInBytes, Height, ElementSizeBytes)) \
    X(cuMemAlloc_v2, cuMemAlloc, 3020, LEGACY, MemAlloc, (CUdeviceptr *dptr, size_t \
      bytesize), (dptr, bytesize)) \
    X(cuMemCreate, cuMemCreate, 10020, LEGACY, MemCreate, \
      (CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp \
      *prop, unsigned long long flags), (handle, size, prop, flags)) \
    X(cuMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync, 13000, \
      LEGACY, MemDiscardAndPrefetchBatchAsync, (CUdeviceptr *dptrs, size_t *sizes, \
      size_t count, CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t \
      numPrefetchLocs, unsigned long long flags, CUstream hStream), (dptrs, sizes, \
      count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)) \
    X(cuMemDiscardAndPrefetchBatchAsync_ptsz, cuMemDiscardAndPrefetchBatchAsync, \
      13000, PER_THREAD, MemDiscardAndPrefetchBatchAsync, (CUdeviceptr *dptrs, size_t \
      *sizes, size_t count, CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, \
      size_t numPrefetchLocs, unsigned long long flags, CUstream hStream), (dptrs, \
      sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)) \
    X(cuMemDiscardBatchAsync, cuMemDiscardBatchAsync, 13000, LEGACY, \
      MemDiscardBatchAsync, (CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned \
      long long flags, CUstream hStream), (dptrs, sizes, count, flags, hStream)) \
    X(cuMemDiscardBatchAsync_ptsz, cuMemDiscardBatchAsync, 13000, PER_THREAD, \
      MemDiscardBatchAsync, (CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned \
      long long flags, CUstream hStream), (dptrs, sizes, count, flags, hStream)) \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle, 10020, LEGACY, \
      MemExportToShareableHandle, (void *shareableHandle, CUmemGenericAllocationHandle \
      handle, CUmemAllocationHandleType handleType, unsigned long long flags), \
      (shareableHandle, handle, handleType, flags)) \
    X(cuMemFreeAsync, cuMemFreeAsync, 11020, LEGACY, MemFreeAsync, (CUdeviceptr dptr, \
      CUstream hStream), (dptr, hStream)) \
    X(cuMemFreeAsync_ptsz, cuMemFreeAsync, 11020, PER_THREAD, MemFreeAsync, \
      (CUdeviceptr dptr, CUstream hStream), (dptr, hStream)) \
    X(cuMemFreeHost, cuMemFreeHost, 2000, LEGACY, MemFreeHost, (void *p), (p)) \
    X(cuMemFree_v2, cuMemFree, 3020, LEGACY, MemFree, (CUdeviceptr dptr), (dptr)) \
    X(cuMemGetAccess, cuMemGetAccess, 10020, LEGACY, MemGetAccess, (unsigned long long \
      *flags, const CUmemLocation *location, CUdeviceptr ptr), (flags, location, ptr)) \
    X(cuMemGetAddressRange_v2, cuMemGetAddressRange, 3020, LEGACY, MemGetAddressRange, \
      (CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr), (pbase, psize, dptr)) \
    X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, 10020, LEGACY, \
      MemGetAllocationGranularity, (size_t *granularity, const CUmemAllocationProp \
      *prop, CUmemAllocationGranularity_flags option), (granularity, prop, option)) \
    X(cuMemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle, \
      10020, LEGACY, MemGetAllocationPropertiesFromHandle, (CUmemAllocationProp *prop, \
      CUmemGenericAllocationHandle handle), (prop, handle)) \
    X(cuMemGetDefaultMemPool, cuMemGetDefaultMemPool, 13000, LEGACY, \
      MemGetDefaultMemPool, (CUmemoryPool *pool_out, CUmemLocation *location, \
      CUmemAllocationType type), (pool_out, location, type)) \
    X(cuMemGetInfo_v2, cuMemGetInfo, 3020, LEGACY, MemGetInfo, (size_t *free, size_t \
      *total), (free, total)) \
    X(cuMemGetMemPool, cuMemGetMemPool, 13000, LEGACY, MemGetMemPool, (CUmemoryPool \
      *pool, CUmemLocation *location, CUmemAllocationType type), (pool, location, \
      type)) \
    X(cuMemHostAlloc, cuMemHostAlloc, 2020, LEGACY, MemHostAlloc, (void **pp, size_t \
      bytesize, unsigned int Flags), (pp, bytesize, Flags)) \
    X(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer, 3020, LEGACY, \
      MemHostGetDevicePointer, (CUdeviceptr *pdptr, void *p, unsigned int Flags), \
      (pdptr, p, Flags)) \
    X(cuMemHostGetFlags, cuMemHostGetFlags, 2030, LEGACY, MemHostGetFlags, (unsigned \
      int *pFlags, void *p), (pFlags, p)) \
    X(cuMemHostRegister, cuMemHostRegister, 4000, LEGACY, MemHostRegister, (void *p, \
      size_t bytesize, unsigned int Flags), (p, bytesize, Flags)) \
    X(cuMemHostRegister_v2, cuMemHostRegister, 6050, LEGACY, MemHostRegister, (void \
      *p, size_t bytesize, unsigned int Flags), (p, bytesize, Flags)) \
    X(cuMemHostUnregister, cuMemHostUnregister, 4000, LEGACY, MemHostUnregister, (void \
      *p), (p)) \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle, 10020, LEGACY, \
      MemImportFromShareableHandle, (CUmemGenericAllocationHandle *handle, void \
      *osHandle, CUmemAllocationHandleType shHandleType), (handle, osHandle, \
      shHandleType)) \
    X(cuMemMap, cuMemMap, 10020, LEGACY, MemMap, (CUdeviceptr ptr, size_t size, size_t \
      offset, CUmemGenericAllocationHandle handle, unsigned long long flags), (ptr, \
      size, offset, handle, flags)) \
    X(cuMemPoolCreate, cuMemPoolCreate, 11020, LEGACY, MemPoolCreate, (CUmemoryPool \
      *pool, const CUmemPoolProps *poolProps), (pool, poolProps)) \
    X(cuMemPoolDestroy, cuMemPoolDestroy, 11020, LEGACY, MemPoolDestroy, (CUmemoryPool \
      pool), (pool)) \
    X(cuMemPoolExportPointer, cuMemPoolExportPointer, 11020, LEGACY, \
      MemPoolExportPointer, (CUmemPoolPtrExportData *shareData_out, CUdeviceptr ptr), \
      (shareData_out, ptr)) \
    X(cuMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle, 11020, \
      LEGACY, MemPoolExportToShareableHandle, (void *handle_out, CUmemoryPool pool, \
      CUmemAllocationHandleType handleType, unsigned long long flags), (handle_out, \
      pool, handleType, flags)) \
    X(cuMemPoolGetAccess, cuMemPoolGetAccess, 11020, LEGACY, MemPoolGetAccess, \
      (CUmemAccess_flags *flags, CUmemoryPool memPool, CUmemLocation *location), \
      (flags, memPool, location)) \
    X(cuMemPoolGetAttribute, cuMemPoolGetAttribute, 11020, LEGACY, \
      MemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), \
      (pool, attr, value)) \
    X(cuMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle, 11020, \
      LEGACY, MemPoolImportFromShareableHandle, (CUmemoryPool *pool_out, void *handle, \
      CUmemAllocationHandleType handleType, unsigned long long flags), (pool_out, \
      handle, handleType, flags)) \
    X(cuMemPoolImportPointer, cuMemPoolImportPointer, 11020, LEGACY, \
      MemPoolImportPointer, (CUdeviceptr *ptr_out, CUmemoryPool pool, \
      CUmemPoolPtrExportData *shareData), (ptr_out, pool, shareData)) \
    X(cuMemPoolSetAccess, cuMemPoolSetAccess, 11020, LEGACY, MemPoolSetAccess, \
      (CUmemoryPool pool, const CUmemAccessDesc *map, size_t count), (pool, map, \
      count)) \
    X(cuMemPoolSetAttribute, cuMemPoolSetAttribute, 11020, LEGACY, \
      MemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attr, void *value), \
      (pool, attr, value)) \
    X(cuMemPoolTrimTo, cuMemPoolTrimTo, 11020, LEGACY, MemPoolTrimTo, (CUmemoryPool \
      pool, size_t minBytesToKeep), (pool, minBytesToKeep)) \
    X(cuMemPrefetchAsync, cuMemPrefetchAsync, 8000, LEGACY, MemPrefetchAsync, \
      (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream), \
      (devPtr, count, dstDevice, hStream)) \
    X(cuMemPrefetchAsync_ptsz, cuMemPrefetchAsync, 8000, PER_THREAD, MemPrefetchAsync, \
      (CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream), \
      (devPtr, count, dstDevice, hStream)) \
    X(cuMemPrefetchAsync_v2, cuMemPrefetchAsync, 12020, LEGACY, MemPrefetchAsync_v2, \
      (CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, \
      CUstream hStream), (devPtr, count, location, flags, hStream)) \
    X(cuMemPrefetchAsync_v2_ptsz, cuMemPrefetchAsync, 12020, PER_THREAD, \
      MemPrefetchAsync_v2, (CUdeviceptr devPtr, size_t count, CUmemLocation location, \
      unsigned int flags, CUstream hStream), (devPtr, count, location, flags, \
      hStream)) \
    X(cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync, 13000, LEGACY, \
      MemPrefetchBatchAsync, (CUdeviceptr *dptrs, size_t *sizes, size_t count, \
      CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, \
      unsigned long long flags, CUstream hStream), (dptrs, sizes, count, prefetchLocs, \
      prefetchLocIdxs, numPrefetchLocs, flags, hStream)) \
    X(cuMemPrefetchBatchAsync_ptsz, cuMemPrefetchBatchAsync, 13000, PER_THREAD, \
      MemPrefetchBatchAsync, (CUdeviceptr *dptrs, size_t *sizes, size_t count, \
      CUmemLocation *prefetchLocs, size_t *prefetchLocIdxs, size_t numPrefetchLocs, \
      unsigned long long flags, CUstream hStream), (dptrs, sizes, count, prefetchLocs, \
      prefetchLocIdxs, numPrefetchLocs, flags, hStream)) \
    X(cuMemRangeGetAttribute, cuMemRangeGetAttribute, 8000, LEGACY, \
      MemRangeGetAttribute, (void *data, size_t dataSize, CUmem_range_attribute \
      attribute, CUdeviceptr devPtr, size_t count), (data, dataSize, attribute, \
      devPtr, count)) \
    X(cuMemRangeGetAttributes, cuMemRangeGetAttributes, 8000, LEGACY, \
      MemRangeGetAttributes, (void **data, size_t *dataSizes, CUmem_range_attribute \
      *attributes, size_t numAttributes, CUdeviceptr devPtr, size_t count), (data, \
      dataSizes, attributes, numAttributes, devPtr, count)) \
    X(cuMemRelease, cuMemRelease, 10020, LEGACY, MemRelease, \
      (CUmemGenericAllocationHandle handle), (handle)) \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000, LEGACY, \
      MemRetainAllocationHandle, (CUmemGenericAllocationHandle *handle, void *addr), \
      (handle, addr)) \
    X(cuMemSetAccess, cuMemSetAccess, 10020, LEGACY, MemSetAccess, (CUdeviceptr ptr, \
      size_t size, const CUmemAccessDesc *desc, size_t count), (ptr, size, desc, \
      count)) \
    X(cuMemSetMemPool, cuMemSetMemPool, 13000, LEGACY, MemSetMemPool, (CUmemLocation \
      *location, CUmemAllocationType type, CUmemoryPool pool), (location, type, pool)) \
    X(cuMemUnmap, cuMemUnmap, 10020, LEGACY, MemUnmap, (CUdeviceptr ptr, size_t size), \
      (ptr, size)) \
    X(cuMemcpy, cuMemcpy, 4000, LEGACY, Memcpy, (CUdeviceptr dst, CUdeviceptr src, \
      size_t ByteCount), (dst, src, ByteCount)) \
    X(cuMemcpy2DAsync_v2, cuMemcpy2DAsync, 3020, LEGACY, Memcpy2DAsync, (const \
      CUDA_MEMCPY2D *pCopy, CUstream hStream), (pCopy, hStream)) \
    X(cuMemcpy2DAsync_v2_ptsz, cuMemcpy2DAsync, 7000, PER_THREAD, Memcpy2DAsync, \
      (const CUDA_MEMCPY2D *pCopy, CUstream hStream), (pCopy, hStream)) \
    X(cuMemcpy2DUnaligned_v2, cuMemcpy2DUnaligned, 3020, LEGACY, Memcpy2DUnaligned, \
      (const CUDA_MEMCPY2D *pCopy), (pCopy)) \
    X(cuMemcpy2DUnaligned_v2_ptds, cuMemcpy2DUnaligned, 7000, PER_THREAD, \
      Memcpy2DUnaligned, (const CUDA_MEMCPY2D *pCopy), (pCopy)) \
    X(cuMemcpy2D_v2, cuMemcpy2D, 3020, LEGACY, Memcpy2D, (const CUDA_MEMCPY2D *pCopy), \
      (pCopy)) \
    X(cuMemcpy2D_v2_ptds, cuMemcpy2D, 7000, PER_THREAD, Memcpy2D, (const CUDA_MEMCPY2D \
      *pCopy), (pCopy)) \
    X(cuMemcpy3DAsync_v2, cuMemcpy3DAsync, 3020, LEGACY, Memcpy3DAsync, (const \
      CUDA_MEMCPY3D *pCopy, CUstream hStream), (pCopy, hStream)) \
    X(cuMemcpy3DAsync_v2_ptsz, cuMemcpy3DAsync, 7000, PER_THREAD, Memcpy3DAsync, \
      (const CUDA_MEMCPY3D *pCopy, CUstream hStream), (pCopy, hStream)) \
    X(cuMemcpy3DBatchAsync, cuMemcpy3DBatchAsync, 12080, LEGACY, Memcpy3DBatchAsync, \
      (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, unsigned long \
      long flags, CUstream hStream), (numOps, opList, failIdx, flags, hStream)) \
    X(cuMemcpy3DBatchAsync_ptsz, cuMemcpy3DBatchAsync, 12080, PER_THREAD, \
      Memcpy3DBatchAsync, (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t \
      *failIdx, unsigned long long flags, CUstream hStream), (numOps, opList, failIdx, \
      flags, hStream)) \
    X(cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync, 13000, LEGACY, \
      Memcpy3DBatchAsync_v2, (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned \
      long long flags, CUstream hStream), (numOps, opList, flags, hStream)) \
    X(cuMemcpy3DBatchAsync_v2_ptsz, cuMemcpy3DBatchAsync, 13000, PER_THREAD, \
      Memcpy3DBatchAsync_v2, (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned \
      long long flags, CUstream hStream), (numOps, opList, flags, hStream)) \
    X(cuMemcpy3DPeer, cuMemcpy3DPeer, 4000, LEGACY, Memcpy3DPeer, (const \
      CUDA_MEMCPY3D_PEER *pCopy), (pCopy)) \
    X(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync, 4000, LEGACY, Memcpy3DPeerAsync, \
      (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream), (pCopy, hStream)) \
    X(cuMemcpy3DPeerAsync_ptsz, cuMemcpy3DPeerAsync, 7000, PER_THREAD, \
      Memcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream), (pCopy, \
      hStream)) \
    X(cuMemcpy3DPeer_ptds, cuMemcpy3DPeer, 7000, PER_THREAD, Memcpy3DPeer, (const \
      CUDA_MEMCPY3D_PEER *pCopy), (pCopy)) \
    X(cuMemcpy3D_v2, cuMemcpy3D, 3020, LEGACY, Memcpy3D, (const CUDA_MEMCPY3D *pCopy), \
      (pCopy)) \
    X(cuMemcpy3D_v2_ptds, cuMemcpy3D, 7000, PER_THREAD, Memcpy3D, (const CUDA_MEMCPY3D \
      *pCopy), (pCopy)) \
    X(cuMemcpyAsync, cuMemcpyAsync, 4000, LEGACY, MemcpyAsync, (CUdeviceptr dst, \
      CUdeviceptr src, size_t ByteCount, CUstream hStream), (dst, src, ByteCount, \
      hStream)) \
    X(cuMemcpyAsync_ptsz, cuMemcpyAsync, 7000, PER_THREAD, MemcpyAsync, (CUdeviceptr \
      dst, CUdeviceptr src, size_t ByteCount, CUstream hStream), (dst, src, ByteCount, \
      hStream)) \
    X(cuMemcpyAtoA_v2, cuMemcpyAtoA, 3020, LEGACY, MemcpyAtoA, (CUarray dstArray, \
      size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount), \
      (dstArray, dstOffset, srcArray, srcOffset, ByteCount)) \
    X(cuMemcpyAtoA_v2_ptds, cuMemcpyAtoA, 7000, PER_THREAD, MemcpyAtoA, (CUarray \
      dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t \
      ByteCount), (dstArray, dstOffset, srcArray, srcOffset, ByteCount)) \
    X(cuMemcpyAtoD_v2, cuMemcpyAtoD, 3020, LEGACY, MemcpyAtoD, (CUdeviceptr dstDevice, \
      CUarray srcArray, size_t srcOffset, size_t ByteCount), (dstDevice, srcArray, \
      srcOffset, ByteCount)) \
    X(cuMemcpyAtoD_v2_ptds, cuMemcpyAtoD, 7000, PER_THREAD, MemcpyAtoD, (CUdeviceptr \
      dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount), (dstDevice, \
      srcArray, srcOffset, ByteCount)) \
    X(cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync, 3020, LEGACY, MemcpyAtoHAsync, (void \
      *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream \
      hStream), (dstHost, srcArray, srcOffset, ByteCount, hStream)) \
    X(cuMemcpyAtoHAsync_v2_ptsz, cuMemcpyAtoHAsync, 7000, PER_THREAD, MemcpyAtoHAsync, \
      (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream \
      hStream), (dstHost, srcArray, srcOffset, ByteCount, hStream)) \
    X(cuMemcpyAtoH_v2, cuMemcpyAtoH, 3020, LEGACY, MemcpyAtoH, (void *dstHost, CUarray \
      srcArray, size_t srcOffset, size_t ByteCount), (dstHost, srcArray, srcOffset, \
      ByteCount)) \
    X(cuMemcpyAtoH_v2_ptds, cuMemcpyAtoH, 7000, PER_THREAD, MemcpyAtoH, (void \
      *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount), (dstHost, \
      srcArray, srcOffset, ByteCount)) \
    X(cuMemcpyBatchAsync, cuMemcpyBatchAsync, 12080, LEGACY, MemcpyBatchAsync, \
      (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, \
      CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, \
      CUstream hStream), (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, \
      failIdx, hStream)) \
    X(cuMemcpyBatchAsync_ptsz, cuMemcpyBatchAsync, 12080, PER_THREAD, \
      MemcpyBatchAsync, (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t \
      count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t \
      *failIdx, CUstream hStream), (dsts, srcs, sizes, count, attrs, attrsIdxs, \
      numAttrs, failIdx, hStream)) \
    X(cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync, 13000, LEGACY, MemcpyBatchAsync_v2, \
      (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, \
      CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream \
      hStream), (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream)) \
    X(cuMemcpyBatchAsync_v2_ptsz, cuMemcpyBatchAsync, 13000, PER_THREAD, \
      MemcpyBatchAsync_v2, (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, \
      size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, \
      CUstream hStream), (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, \
      hStream)) \
    X(cuMemcpyDtoA_v2, cuMemcpyDtoA, 3020, LEGACY, MemcpyDtoA, (CUarray dstArray, \
      size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount), (dstArray, \
      dstOffset, srcDevice, ByteCount)) \
    X(cuMemcpyDtoA_v2_ptds, cuMemcpyDtoA, 7000, PER_THREAD, MemcpyDtoA, (CUarray \
      dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount), (dstArray, \
      dstOffset, srcDevice, ByteCount)) \
    X(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync, 3020, LEGACY, MemcpyDtoDAsync, \
      (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream \
      hStream), (dstDevice, srcDevice, ByteCount, hStream)) \
    X(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync, 7000, PER_THREAD, MemcpyDtoDAsync, \
      (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream \
      hStream), (dstDevice, srcDevice, ByteCount, hStream)) \
    X(cuMemcpyDtoD_v2, cuMemcpyDtoD, 3020, LEGACY, MemcpyDtoD, (CUdeviceptr dstDevice, \
      CUdeviceptr srcDevice, size_t ByteCount), (dstDevice, srcDevice, ByteCount)) \
    X(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD, 7000, PER_THREAD, MemcpyDtoD, (CUdeviceptr \
      dstDevice, CUdeviceptr srcDevice, size_t ByteCount), (dstDevice, srcDevice, \
      ByteCount)) \
    X(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync, 3020, LEGACY, MemcpyDtoHAsync, (void \
      *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream), (dstHost, \
      srcDevice, ByteCount, hStream)) \
    X(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync, 7000, PER_THREAD, MemcpyDtoHAsync, \
      (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream), \
      (dstHost, srcDevice, ByteCount, hStream)) \
    X(cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020, LEGACY, MemcpyDtoH, (void *dstHost, \
      CUdeviceptr srcDevice, size_t ByteCount), (dstHost, srcDevice, ByteCount)) \
    X(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH, 7000, PER_THREAD, MemcpyDtoH, (void \
      *dstHost, CUdeviceptr srcDevice, size_t ByteCount), (dstHost, srcDevice, \
      ByteCount)) \
    X(cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync, 3020, LEGACY, MemcpyHtoAAsync, (CUarray \
      dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream \
      hStream), (dstArray, dstOffset, srcHost, ByteCount, hStream)) \
    X(cuMemcpyHtoAAsync_v2_ptsz, cuMemcpyHtoAAsync, 7000, PER_THREAD, MemcpyHtoAAsync, \
      (CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, \
      CUstream hStream), (dstArray, dstOffset, srcHost, ByteCount, hStream)) \
    X(cuMemcpyHtoA_v2, cuMemcpyHtoA, 3020, LEGACY, MemcpyHtoA, (CUarray dstArray, \
      size_t dstOffset, const void *srcHost, size_t ByteCount), (dstArray, dstOffset, \
      srcHost, ByteCount)) \
    X(cuMemcpyHtoA_v2_ptds, cuMemcpyHtoA, 7000, PER_THREAD, MemcpyHtoA, (CUarray \
      dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount), (dstArray, \
      dstOffset, srcHost, ByteCount)) \
    X(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync, 3020, LEGACY, MemcpyHtoDAsync, \
      (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream \
      hStream), (dstDevice, srcHost, ByteCount, hStream)) \
    X(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync, 7000, PER_THREAD, MemcpyHtoDAsync, \
      (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream \
      hStream), (dstDevice, srcHost, ByteCount, hStream)) \
    X(cuMemcpyHtoD_v2, cuMemcpyHtoD, 3020, LEGACY, MemcpyHtoD, (CUdeviceptr dstDevice, \
      const void *srcHost, size_t ByteCount), (dstDevice, srcHost, ByteCount)) \
    X(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD, 7000, PER_THREAD, MemcpyHtoD, (CUdeviceptr \
      dstDevice, const void *srcHost, size_t ByteCount), (dstDevice, srcHost, \
      ByteCount)) \
    X(cuMemcpyPeer, cuMemcpyPeer, 4000, LEGACY, MemcpyPeer, (CUdeviceptr dstDevice, \
      CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, size_t \
      ByteCount), (dstDevice, dstContext, srcDevice, srcContext, ByteCount)) \
    X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, 4000, LEGACY, MemcpyPeerAsync, \
      (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext \
      srcContext, size_t ByteCount, CUstream hStream), (dstDevice, dstContext, \
      srcDevice, srcContext, ByteCount, hStream)) \
    X(cuMemcpyPeerAsync_ptsz, cuMemcpyPeerAsync, 7000, PER_THREAD, MemcpyPeerAsync, \
      (CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext \
      srcContext, size_t ByteCount, CUstream hStream), (dstDevice, dstContext, \
      srcDevice, srcContext, ByteCount, hStream)) \
    X(cuMemcpyPeer_ptds, cuMemcpyPeer, 7000, PER_THREAD, MemcpyPeer, (CUdeviceptr \
      dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext, \
      size_t ByteCount), (dstDevice, dstContext, srcDevice, srcContext, ByteCount)) \
    X(cuMemcpy_ptds, cuMemcpy, 7000, PER_THREAD, Memcpy, (CUdeviceptr dst, CUdeviceptr \
      src, size_t ByteCount), (dst, src, ByteCount)) \
    X(cuMemsetD16Async, cuMemsetD16Async, 3020, LEGACY, MemsetD16Async, (CUdeviceptr \
      dstDevice, unsigned short us, size_t N, CUstream hStream), (dstDevice, us, N, \
      hStream)) \
    X(cuMemsetD16Async_ptsz, cuMemsetD16Async, 7000, PER_THREAD, MemsetD16Async, \
      (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream), \
      (dstDevice, us, N, hStream)) \
    X(cuMemsetD16_v2, cuMemsetD16, 3020, LEGACY, MemsetD16, (CUdeviceptr dstDevice, \
      unsigned short us, size_t N), (dstDevice, us, N)) \
    X(cuMemsetD16_v2_ptds, cuMemsetD16, 7000, PER_THREAD, MemsetD16, (CUdeviceptr \
      dstDevice, unsigned short us, size_t N), (dstDevice, us, N)) \
    X(cuMemsetD2D16Async, cuMemsetD2D16Async, 3020, LEGACY, MemsetD2D16Async, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t \
      Height, CUstream hStream), (dstDevice, dstPitch, us, Width, Height, hStream)) \
    X(cuMemsetD2D16Async_ptsz, cuMemsetD2D16Async, 7000, PER_THREAD, MemsetD2D16Async, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t \
      Height, CUstream hStream), (dstDevice, dstPitch, us, Width, Height, hStream)) \
    X(cuMemsetD2D16_v2, cuMemsetD2D16, 3020, LEGACY, MemsetD2D16, (CUdeviceptr \
      dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height), \
      (dstDevice, dstPitch, us, Width, Height)) \
    X(cuMemsetD2D16_v2_ptds, cuMemsetD2D16, 7000, PER_THREAD, MemsetD2D16, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t \
      Height), (dstDevice, dstPitch, us, Width, Height)) \
    X(cuMemsetD2D32Async, cuMemsetD2D32Async, 3020, LEGACY, MemsetD2D32Async, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t \
      Height, CUstream hStream), (dstDevice, dstPitch, ui, Width, Height, hStream)) \
    X(cuMemsetD2D32Async_ptsz, cuMemsetD2D32Async, 7000, PER_THREAD, MemsetD2D32Async, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t \
      Height, CUstream hStream), (dstDevice, dstPitch, ui, Width, Height, hStream)) \
    X(cuMemsetD2D32_v2, cuMemsetD2D32, 3020, LEGACY, MemsetD2D32, (CUdeviceptr \
      dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height), \
      (dstDevice, dstPitch, ui, Width, Height)) \
    X(cuMemsetD2D32_v2_ptds, cuMemsetD2D32, 7000, PER_THREAD, MemsetD2D32, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t \
      Height), (dstDevice, dstPitch, ui, Width, Height)) \
    X(cuMemsetD2D8Async, cuMemsetD2D8Async, 3020, LEGACY, MemsetD2D8Async, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t \
      Height, CUstream hStream), (dstDevice, dstPitch, uc, Width, Height, hStream)) \
    X(cuMemsetD2D8Async_ptsz, cuMemsetD2D8Async, 7000, PER_THREAD, MemsetD2D8Async, \
      (CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t \
      Height, CUstream hStream), (dstDevice, dstPitch, uc, Width, Height, hStream)) \
    X(cuMemsetD2D8_v2, cuMemsetD2D8, 3020, LEGACY, MemsetD2D8, (CUdeviceptr dstDevice, \
      size_t dstPitch, unsigned char uc, size_t Width, size_t Height), (dstDevice, \
      dstPitch, uc, Width, Height)) \
    X(cuMemsetD2D8_v2_ptds, cuMemsetD2D8, 7000, PER_THREAD, MemsetD2D8, (CUdeviceptr \
      dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height), \
      (dstDevice, dstPitch, uc, Width, Height)) \
    X(cuMemsetD32Async, cuMemsetD32Async, 3020, LEGACY, MemsetD32Async, (CUdeviceptr \
      dstDevice, unsigned int ui, size_t N, CUstream hStream), (dstDevice, ui, N, \
      hStream)) \
    X(cuMemsetD32Async_ptsz, cuMemsetD32Async, 7000, PER_THREAD, MemsetD32Async, \
      (CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream), \
      (dstDevice, ui, N, hStream)) \
    X(cuMemsetD32_v2, cuMemsetD32, 3020, LEGACY, MemsetD32, (CUdeviceptr dstDevice, \
      unsigned int ui, size_t N), (dstDevice, ui, N)) \
    X(cuMemsetD32_v2_ptds, cuMemsetD32, 7000, PER_THREAD, MemsetD32, (CUdeviceptr \
      dstDevice, unsigned int ui, size_t N), (dstDevice, ui, N)) \
    X(cuMemsetD8Async, cuMemsetD8Async, 3020, LEGACY, MemsetD8Async, (CUdeviceptr \
      dstDevice, unsigned char uc, size_t N, CUstream hStream), (dstDevice, uc, N, \
      hStream)) \
    X(cuMemsetD8Async_ptsz, cuMemsetD8Async, 7000, PER_THREAD, MemsetD8Async, \
      (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream), \
      (dstDevice, uc, N, hStream)) \
    X(cuMemsetD8_v2, cuMemsetD8, 3020, LEGACY, MemsetD8, (CUdeviceptr dstDevice, \
      unsigned char uc, size_t N), (dstDevice, uc, N)) \
    X(cuMemsetD8_v2_ptds, cuMemsetD8, 7000, PER_THREAD, MemsetD8, (CUdeviceptr \
      dstDevice, unsigned char uc, size_t N), (dstDevice, uc, N)) \
    X(cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000, LEGACY, \
      MipmappedArrayCreate, (CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR \
      *pMipmappedArrayDesc, unsigned int numMipmapLevels), (pHandle, \
      pMipmappedArrayDesc, numMipmapLevels)) \
    X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000, LEGACY, \
      MipmappedArrayDestroy, (CUmipmappedArray hMipmappedArray), (hMipmappedArray)) \
    X(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel, 5000, LEGACY, \
      MipmappedArrayGetLevel, (CUarray *pLevelArray, CUmipmappedArray hMipmappedArray, \
      unsigned int level), (pLevelArray, hMipmappedArray, level)) \
    X(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions, 12040, LEGACY, \
      ModuleEnumerateFunctions, (CUfunction *functions, unsigned int numFunctions, \
      CUmodule mod), (functions, numFunctions, mod)) \
    X(cuModuleGetFunction, cuModuleGetFunction, 2000, LEGACY, ModuleGetFunction, \
      (CUfunction *hfunc, CUmodule hmod, const char *name), (hfunc, hmod, name)) \
    X(cuModuleGetFunctionCount, cuModuleGetFunctionCount, 12040, LEGACY, \
      ModuleGetFunctionCount, (unsigned int *count, CUmodule hmod), (count, hmod)) \
    X(cuModuleGetGlobal_v2, cuModuleGetGlobal, 3020, LEGACY, ModuleGetGlobal, \
      (CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name), (dptr, \
      bytes, hmod, name)) \
    X(cuModuleGetLoadingMode, cuModuleGetLoadingMode, 11070, LEGACY, \
      ModuleGetLoadingMode, (CUmoduleLoadingMode *mode), (mode)) \
    X(cuModuleGetSurfRef, cuModuleGetSurfRef, 3000, LEGACY, ModuleGetSurfRef, \
      (CUsurfref *pSurfRef, CUmodule hmod, const char *name), (pSurfRef, hmod, name)) \
    X(cuModuleGetTexRef, cuModuleGetTexRef, 2000, LEGACY, ModuleGetTexRef, (CUtexref \
      *pTexRef, CUmodule hmod, const char *name), (pTexRef, hmod, name)) \
    X(cuModuleLoad, cuModuleLoad, 2000, LEGACY, ModuleLoad, (CUmodule *module, const \
      char *fname), (module, fname)) \
    X(cuModuleLoadData, cuModuleLoadData, 2000, LEGACY, ModuleLoadData, (CUmodule \
      *module, const void *image), (module, image)) \
    X(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010, LEGACY, ModuleLoadDataEx, \
      (CUmodule *module, const void *image, unsigned int numOptions, CUjit_option \
      *options, void **optionValues), (module, image, numOptions, options, \
      optionValues)) \
    X(cuModuleLoadFatBinary, cuModuleLoadFatBinary, 2000, LEGACY, ModuleLoadFatBinary, \
      (CUmodule *module, const void *fatCubin), (module, fatCubin)) \
    X(cuModuleUnload, cuModuleUnload, 2000, LEGACY, ModuleUnload, (CUmodule hmod), \
      (hmod)) \
    X(cuOccupancyAvailableDynamicSMemPerBlock, \
      cuOccupancyAvailableDynamicSMemPerBlock, 10020, LEGACY, \
      OccupancyAvailableDynamicSMemPerBlock, (size_t *dynamicSmemSize, CUfunction \
      func, int numBlocks, int blockSize), (dynamicSmemSize, func, numBlocks, \
      blockSize)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, \
      cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, LEGACY, \
      OccupancyMaxActiveBlocksPerMultiprocessor, (int *numBlocks, CUfunction func, int \
      blockSize, size_t dynamicSMemSize), (numBlocks, func, blockSize, \
      dynamicSMemSize)) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, \
      cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, LEGACY, \
      OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *numBlocks, CUfunction \
      func, int blockSize, size_t dynamicSMemSize, unsigned int flags), (numBlocks, \
      func, blockSize, dynamicSMemSize, flags)) \
    X(cuOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters, 11070, LEGACY, \
      OccupancyMaxActiveClusters, (int *numClusters, CUfunction func, const \
      CUlaunchConfig *config), (numClusters, func, config)) \
    X(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, 6050, \
      LEGACY, OccupancyMaxPotentialBlockSize, (int *minGridSize, int *blockSize, \
      CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t \
      dynamicSMemSize, int blockSizeLimit), (minGridSize, blockSize, func, \
      blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit)) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags, \
      cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, LEGACY, \
      OccupancyMaxPotentialBlockSizeWithFlags, (int *minGridSize, int *blockSize, \
      CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t \
      dynamicSMemSize, int blockSizeLimit, unsigned int flags), (minGridSize, \
      blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, \
      flags)) \
    X(cuOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize, 11070, \
      LEGACY, OccupancyMaxPotentialClusterSize, (int *clusterSize, CUfunction func, \
      const CUlaunchConfig *config), (clusterSize, func, config)) \
    X(cuPointerGetAttribute, cuPointerGetAttribute, 4000, LEGACY, PointerGetAttribute, \
      (void *data, CUpointer_attribute attribute, CUdeviceptr ptr), (data, attribute, \
      ptr)) \
    X(cuPointerGetAttributes, cuPointerGetAttributes, 7000, LEGACY, \
      PointerGetAttributes, (unsigned int numAttributes, CUpointer_attribute \
      *attributes, void **data, CUdeviceptr ptr), (numAttributes, attributes, data, \
      ptr)) \
    X(cuPointerSetAttribute, cuPointerSetAttribute, 6000, LEGACY, PointerSetAttribute, \
      (const void *value, CUpointer_attribute attribute, CUdeviceptr ptr), (value, \
      attribute, ptr)) \
    X(cuProfilerInitialize, cuProfilerInitialize, 4000, LEGACY, ProfilerInitialize, \
      (const char *configFile, const char *outputFile, CUoutput_mode outputMode), \
      (configFile, outputFile, outputMode)) \
    X(cuProfilerStart, cuProfilerStart, 4000, LEGACY, ProfilerStart, (void), ()) \
    X(cuProfilerStop, cuProfilerStop, 4000, LEGACY, ProfilerStop, (void), ()) \
    X(cuStreamAddCallback, cuStreamAddCallback, 5000, LEGACY, StreamAddCallback, \
      (CUstream hStream, CUstreamCallback callback, void *userData, unsigned int \
      flags), (hStream, callback, userData, flags)) \
    X(cuStreamAddCallback_ptsz, cuStreamAddCallback, 7000, PER_THREAD, \
      StreamAddCallback, (CUstream hStream, CUstreamCallback callback, void *userData, \
      unsigned int flags), (hStream, callback, userData, flags)) \
    X(cuStreamAttachMemAsync, cuStreamAttachMemAsync, 6000, LEGACY, \
      StreamAttachMemAsync, (CUstream hStream, CUdeviceptr dptr, size_t length, \
      unsigned int flags), (hStream, dptr, length, flags)) \
    X(cuStreamAttachMemAsync_ptsz, cuStreamAttachMemAsync, 7000, PER_THREAD, \
      StreamAttachMemAsync, (CUstream hStream, CUdeviceptr dptr, size_t length, \
      unsigned int flags), (hStream, dptr, length, flags)) \
    X(cuStreamBatchMemOp, cuStreamBatchMemOp, 8000, LEGACY, StreamBatchMemOp, \
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, \
      unsigned int flags), (stream, count, paramArray, flags)) \
    X(cuStreamBatchMemOp_ptsz, cuStreamBatchMemOp, 8000, PER_THREAD, StreamBatchMemOp, \
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, \
      unsigned int flags), (stream, count, paramArray, flags)) \
    X(cuStreamBatchMemOp_v2, cuStreamBatchMemOp, 11070, LEGACY, StreamBatchMemOp, \
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, \
      unsigned int flags), (stream, count, paramArray, flags)) \
    X(cuStreamBatchMemOp_v2_ptsz, cuStreamBatchMemOp, 11070, PER_THREAD, \
      StreamBatchMemOp, (CUstream stream, unsigned int count, CUstreamBatchMemOpParams \
      *paramArray, unsigned int flags), (stream, count, paramArray, flags)) \
    X(cuStreamBeginCapture, cuStreamBeginCapture, 10000, LEGACY, \
      StreamBeginCapture_v1, (CUstream hStream), (hStream)) \
    X(cuStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph, 12030, LEGACY, \
      StreamBeginCaptureToGraph, (CUstream hStream, CUgraph hGraph, const CUgraphNode \
      *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies, \
      CUstreamCaptureMode mode), (hStream, hGraph, dependencies, dependencyData, \
      numDependencies, mode)) \
    X(cuStreamBeginCaptureToGraph_ptsz, cuStreamBeginCaptureToGraph, 12030, \
      PER_THREAD, StreamBeginCaptureToGraph, (CUstream hStream, CUgraph hGraph, const \
      CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t \
      numDependencies, CUstreamCaptureMode mode), (hStream, hGraph, dependencies, \
      dependencyData, numDependencies, mode)) \
    X(cuStreamBeginCapture_ptsz, cuStreamBeginCapture, 10000, PER_THREAD, \
      StreamBeginCapture_v1, (CUstream hStream), (hStream)) \
    X(cuStreamBeginCapture_v2, cuStreamBeginCapture, 10010, LEGACY, \
      StreamBeginCapture, (CUstream hStream, CUstreamCaptureMode mode), (hStream, \
      mode)) \
    X(cuStreamBeginCapture_v2_ptsz, cuStreamBeginCapture, 10010, PER_THREAD, \
      StreamBeginCapture, (CUstream hStream, CUstreamCaptureMode mode), (hStream, \
      mode)) \
    X(cuStreamCopyAttributes, cuStreamCopyAttributes, 11000, LEGACY, \
      StreamCopyAttributes, (CUstream dst, CUstream src), (dst, src)) \
    X(cuStreamCopyAttributes_ptsz, cuStreamCopyAttributes, 11000, PER_THREAD, \
      StreamCopyAttributes, (CUstream dst, CUstream src), (dst, src)) \
    X(cuStreamCreate, cuStreamCreate, 2000, LEGACY, StreamCreate, (CUstream *phStream, \
      unsigned int Flags), (phStream, Flags)) \
    X(cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050, LEGACY, \
      StreamCreateWithPriority, (CUstream *phStream, unsigned int flags, int \
      priority), (phStream, flags, priority)) \
    X(cuStreamDestroy, cuStreamDestroy, 2000, LEGACY, StreamDestroy, (CUstream \
      hStream), (hStream)) \
    X(cuStreamDestroy_v2, cuStreamDestroy, 4000, LEGACY, StreamDestroy, (CUstream \
      hStream), (hStream)) \
    X(cuStreamEndCapture, cuStreamEndCapture, 10000, LEGACY, StreamEndCapture, \
      (CUstream hStream, CUgraph *phGraph), (hStream, phGraph)) \
    X(cuStreamEndCapture_ptsz, cuStreamEndCapture, 10000, PER_THREAD, \
      StreamEndCapture, (CUstream hStream, CUgraph *phGraph), (hStream, phGraph)) \
    X(cuStreamGetAttribute, cuStreamGetAttribute, 11000, LEGACY, StreamGetAttribute, \
      (CUstream hStream, CUlaunchAttributeID attr, CUlaunchAttributeValue *value_out), \
      (hStream, attr, value_out)) \
    X(cuStreamGetAttribute_ptsz, cuStreamGetAttribute, 11000, PER_THREAD, \
      StreamGetAttribute, (CUstream hStream, CUlaunchAttributeID attr, \
      CUlaunchAttributeValue *value_out), (hStream, attr, value_out)) \
    X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo, 10010, LEGACY, \
      StreamGetCaptureInfo_v1, (CUstream hStream, CUstreamCaptureStatus \
      *captureStatus_out, cuuint64_t *id_out), (hStream, captureStatus_out, id_out)) \
    X(cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo, 10010, PER_THREAD, \
      StreamGetCaptureInfo_v1, (CUstream hStream, CUstreamCaptureStatus \
      *captureStatus_out, cuuint64_t *id_out), (hStream, captureStatus_out, id_out)) \
    X(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo, 11030, LEGACY, \
      StreamGetCaptureInfo_v2, (CUstream hStream, CUstreamCaptureStatus \
      *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode \
      **dependencies_out, size_t *numDependencies_out), (hStream, captureStatus_out, \
      id_out, graph_out, dependencies_out, numDependencies_out)) \
    X(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo, 11030, PER_THREAD, \
      StreamGetCaptureInfo_v2, (CUstream hStream, CUstreamCaptureStatus \
      *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode \
      **dependencies_out, size_t *numDependencies_out), (hStream, captureStatus_out, \
      id_out, graph_out, dependencies_out, numDependencies_out)) \
    X(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo, 12030, LEGACY, \
      StreamGetCaptureInfo, (CUstream hStream, CUstreamCaptureStatus \
      *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode \
      **dependencies_out, const CUgraphEdgeData **edgeData_out, size_t \
      *numDependencies_out), (hStream, captureStatus_out, id_out, graph_out, \
      dependencies_out, edgeData_out, numDependencies_out)) \
    X(cuStreamGetCaptureInfo_v3_ptsz, cuStreamGetCaptureInfo, 12030, PER_THREAD, \
      StreamGetCaptureInfo, (CUstream hStream, CUstreamCaptureStatus \
      *captureStatus_out, cuuint64_t *id_out, CUgraph *graph_out, const CUgraphNode \
      **dependencies_out, const CUgraphEdgeData **edgeData_out, size_t \
      *numDependencies_out), (hStream, captureStatus_out, id_out, graph_out, \
      dependencies_out, edgeData_out, numDependencies_out)) \
    X(cuStreamGetCtx, cuStreamGetCtx, 9020, LEGACY, StreamGetCtx, (CUstream hStream, \
      CUcontext *pctx), (hStream, pctx)) \
    X(cuStreamGetCtx_ptsz, cuStreamGetCtx, 9020, PER_THREAD, StreamGetCtx, (CUstream \
      hStream, CUcontext *pctx), (hStream, pctx)) \
    X(cuStreamGetCtx_v2, cuStreamGetCtx, 12050, LEGACY, StreamGetCtx_v2, (CUstream \
      hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx), (hStream, pCtx, pGreenCtx)) \
    X(cuStreamGetCtx_v2_ptsz, cuStreamGetCtx, 12050, PER_THREAD, StreamGetCtx_v2, \
      (CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx), (hStream, pCtx, \
      pGreenCtx)) \
    X(cuStreamGetDevice, cuStreamGetDevice, 12080, LEGACY, StreamGetDevice, (CUstream \
      hStream, CUdevice *device), (hStream, device)) \
    X(cuStreamGetDevice_ptsz, cuStreamGetDevice, 12080, PER_THREAD, StreamGetDevice, \
      (CUstream hStream, CUdevice *device), (hStream, device)) \
    X(cuStreamGetFlags, cuStreamGetFlags, 5050, LEGACY, StreamGetFlags, (CUstream \
      hStream, unsigned int *flags), (hStream, flags)) \
    X(cuStreamGetFlags_ptsz, cuStreamGetFlags, 7000, PER_THREAD, StreamGetFlags, \
      (CUstream hStream, unsigned int *flags), (hStream, flags)) \
    X(cuStreamGetGreenCtx, cuStreamGetGreenCtx, 12040, LEGACY, StreamGetGreenCtx, \
      (CUstream hStream, CUgreenCtx *phCtx), (hStream, phCtx)) \
    X(cuStreamGetId, cuStreamGetId, 12000, LEGACY, StreamGetId, (CUstream hStream, \
      unsigned long long *streamId), (hStream, streamId)) \
    X(cuStreamGetId_ptsz, cuStreamGetId, 12000, PER_THREAD, StreamGetId, (CUstream \
      hStream, unsigned long long *streamId), (hStream, streamId)) \
    X(cuStreamGetPriority, cuStreamGetPriority, 5050, LEGACY, StreamGetPriority, \
      (CUstream hStream, int *priority), (hStream, priority)) \
    X(cuStreamGetPriority_ptsz, cuStreamGetPriority, 7000, PER_THREAD, \
      StreamGetPriority, (CUstream hStream, int *priority), (hStream, priority)) \
    X(cuStreamIsCapturing, cuStreamIsCapturing, 10000, LEGACY, StreamIsCapturing, \
      (CUstream hStream, CUstreamCaptureStatus *captureStatus), (hStream, \
      captureStatus)) \
    X(cuStreamIsCapturing_ptsz, cuStreamIsCapturing, 10000, PER_THREAD, \
      StreamIsCapturing, (CUstream hStream, CUstreamCaptureStatus *captureStatus), \
      (hStream, captureStatus)) \
    X(cuStreamQuery, cuStreamQuery, 2000, LEGACY, StreamQuery, (CUstream hStream), \
      (hStream)) \
    X(cuStreamQuery_ptsz, cuStreamQuery, 7000, PER_THREAD, StreamQuery, (CUstream \
      hStream), (hStream)) \
    X(cuStreamSetAttribute, cuStreamSetAttribute, 11000, LEGACY, StreamSetAttribute, \
      (CUstream hStream, CUlaunchAttributeID attr, const CUlaunchAttributeValue \
      *value), (hStream, attr, value)) \
    X(cuStreamSetAttribute_ptsz, cuStreamSetAttribute, 11000, PER_THREAD, \
      StreamSetAttribute, (CUstream hStream, CUlaunchAttributeID attr, const \
      CUlaunchAttributeValue *value), (hStream, attr, value)) \
    X(cuStreamSynchronize, cuStreamSynchronize, 2000, LEGACY, StreamSynchronize, \
      (CUstream hStream), (hStream)) \
    X(cuStreamSynchronize_ptsz, cuStreamSynchronize, 7000, PER_THREAD, \
      StreamSynchronize, (CUstream hStream), (hStream)) \
    X(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies, 11030, \
      LEGACY, StreamUpdateCaptureDependencies_v1, (CUstream hStream, CUgraphNode \
      *dependencies, size_t numDependencies, unsigned int flags), (hStream, \
      dependencies, numDependencies, flags)) \
    X(cuStreamUpdateCaptureDependencies_ptsz, cuStreamUpdateCaptureDependencies, \
      11030, PER_THREAD, StreamUpdateCaptureDependencies_v1, (CUstream hStream, \
      CUgraphNode *dependencies, size_t numDependencies, unsigned int flags), \
      (hStream, dependencies, numDependencies, flags)) \
    X(cuStreamUpdateCaptureDependencies_v2, cuStreamUpdateCaptureDependencies, 12030, \
      LEGACY, StreamUpdateCaptureDependencies, (CUstream hStream, CUgraphNode \
      *dependencies, const CUgraphEdgeData *dependencyData, size_t numDependencies, \
      unsigned int flags), (hStream, dependencies, dependencyData, numDependencies, \
      flags)) \
    X(cuStreamUpdateCaptureDependencies_v2_ptsz, cuStreamUpdateCaptureDependencies, \
      12030, PER_THREAD, StreamUpdateCaptureDependencies, (CUstream hStream, \
      CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData, size_t \
      numDependencies, unsigned int flags), (hStream, dependencies, dependencyData, \
      numDependencies, flags)) \
    X(cuStreamWaitEvent, cuStreamWaitEvent, 3020, LEGACY, StreamWaitEvent, (CUstream \
      hStream, CUevent hEvent, unsigned int Flags), (hStream, hEvent, Flags)) \
    X(cuStreamWaitEvent_ptsz, cuStreamWaitEvent, 7000, PER_THREAD, StreamWaitEvent, \
      (CUstream hStream, CUevent hEvent, unsigned int Flags), (hStream, hEvent, \
      Flags)) \
    X(cuStreamWaitValue32, cuStreamWaitValue32, 8000, LEGACY, StreamWaitValue32, \
      (CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags), \
      (stream, addr, value, flags)) \
    X(cuStreamWaitValue32_ptsz, cuStreamWaitValue32, 8000, PER_THREAD, \
      StreamWaitValue32, (CUstream stream, CUdeviceptr addr, unsigned int value, \
      unsigned int flags), (stream, addr, value, flags)) \
    X(cuStreamWaitValue32_v2, cuStreamWaitValue32, 11070, LEGACY, StreamWaitValue32, \
      (CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags), \
      (stream, addr, value, flags)) \
    X(cuStreamWaitValue32_v2_ptsz, cuStreamWaitValue32, 11070, PER_THREAD, \
      StreamWaitValue32, (CUstream stream, CUdeviceptr addr, unsigned int value, \
      unsigned int flags), (stream, addr, value, flags)) \
    X(cuStreamWaitValue64, cuStreamWaitValue64, 9000, LEGACY, StreamWaitValue64, \
      (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned int flags), \
      (stream, addr, value, flags)) \
    X(cuStreamWaitValue64_ptsz, cuStreamWaitValue64, 9000, PER_THREAD, \
      StreamWaitValue64, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned \
      int flags), (stream, addr, value, flags)) \
    X(cuStreamWaitValue64_v2, cuStreamWaitValue64, 11070, LEGACY, StreamWaitValue64, \
      (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned int flags), \
      (stream, addr, value, flags)) \
    X(cuStreamWaitValue64_v2_ptsz, cuStreamWaitValue64, 11070, PER_THREAD, \
      StreamWaitValue64, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned \
      int flags), (stream, addr, value, flags)) \
    X(cuStreamWriteValue32, cuStreamWriteValue32, 8000, LEGACY, StreamWriteValue32, \
      (CUstream stream, CUdeviceptr addr, unsigned int value, unsigned int flags), \
      (stream, addr, value, flags)) \
    X(cuStreamWriteValue32_ptsz, cuStreamWriteValue32, 8000, PER_THREAD, \
      StreamWriteValue32, (CUstream stream, CUdeviceptr addr, unsigned int value, \
      unsigned int flags), (stream, addr, value, flags)) \
    X(cuStreamWriteValue32_v2, cuStreamWriteValue32, 11070, LEGACY, \
      StreamWriteValue32, (CUstream stream, CUdeviceptr addr, unsigned int value, \
      unsigned int flags), (stream, addr, value, flags)) \
    X(cuStreamWriteValue32_v2_ptsz, cuStreamWriteValue32, 11070, PER_THREAD, \
      StreamWriteValue32, (CUstream stream, CUdeviceptr addr, unsigned int value, \
      unsigned int flags), (stream, addr, value, flags)) \
    X(cuStreamWriteValue64, cuStreamWriteValue64, 9000, LEGACY, StreamWriteValue64, \
      (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned int flags), \
      (stream, addr, value, flags)) \
    X(cuStreamWriteValue64_ptsz, cuStreamWriteValue64, 9000, PER_THREAD, \
      StreamWriteValue64, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned \
      int flags), (stream, addr, value, flags)) \
    X(cuStreamWriteValue64_v2, cuStreamWriteValue64, 11070, LEGACY, \
      StreamWriteValue64, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned \
      int flags), (stream, addr, value, flags)) \
    X(cuStreamWriteValue64_v2_ptsz, cuStreamWriteValue64, 11070, PER_THREAD, \
      StreamWriteValue64, (CUstream stream, CUdeviceptr addr, uint64_t value, unsigned \
      int flags), (stream, addr, value, flags)) \
    X(cuSurfObjectCreate, cuSurfObjectCreate, 5000, LEGACY, SurfObjectCreate, \
      (CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc), (pSurfObject, \
      pResDesc)) \
    X(cuSurfObjectDestroy, cuSurfObjectDestroy, 5000, LEGACY, SurfObjectDestroy, \
      (CUsurfObject surfObject), (surfObject)) \
    X(cuSurfObjectGetResourceDesc, cuSurfObjectGetResourceDesc, 5000, LEGACY, \
      SurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC *pResDesc, CUsurfObject \
      surfObject), (pResDesc, surfObject)) \
    X(cuSurfRefGetArray, cuSurfRefGetArray, 3000, LEGACY, SurfRefGetArray, (CUarray \
      *phArray, CUsurfref hSurfRef), (phArray, hSurfRef)) \
    X(cuSurfRefSetArray, cuSurfRefSetArray, 3000, LEGACY, SurfRefSetArray, (CUsurfref \
      hSurfRef, CUarray hArray, unsigned int Flags), (hSurfRef, hArray, Flags)) \
    X(cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col, 12000, LEGACY, \
      TensorMapEncodeIm2col, (CUtensorMap *tensorMap, CUtensorMapDataType \
      tensorDataType, uint32_t tensorRank, void *globalAddress, const uint64_t \
      *globalDim, const uint64_t *globalStrides, const int *pixelBoxLowerCorner, const \
      int *pixelBoxUpperCorner, uint32_t channelsPerPixel, uint32_t pixelsPerColumn, \
      const uint32_t *elementStrides, CUtensorMapInterleave interleave, \
      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, \
      CUtensorMapFloatOOBfill oobFill), (tensorMap, tensorDataType, tensorRank, \
      globalAddress, globalDim, globalStrides, pixelBoxLowerCorner, \
      pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn, elementStrides, \
      interleave, swizzle, l2Promotion, oobFill)) \
    X(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000, LEGACY, \
      TensorMapEncodeTiled, (CUtensorMap *tensorMap, CUtensorMapDataType \
      tensorDataType, uint32_t tensorRank, void *globalAddress, const uint64_t \
      *globalDim, const uint64_t *globalStrides, const uint32_t *boxDim, const \
      uint32_t *elementStrides, CUtensorMapInterleave interleave, CUtensorMapSwizzle \
      swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill), \
      (tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, \
      boxDim, elementStrides, interleave, swizzle, l2Promotion, oobFill)) \
    X(cuTensorMapReplaceAddress, cuTensorMapReplaceAddress, 12000, LEGACY, \
      TensorMapReplaceAddress, (CUtensorMap *tensorMap, void *globalAddress), \
      (tensorMap, globalAddress)) \
    X(cuTexObjectCreate, cuTexObjectCreate, 5000, LEGACY, TexObjectCreate, \
      (CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc, const \
      CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc), \
      (pTexObject, pResDesc, pTexDesc, pResViewDesc)) \
    X(cuTexObjectDestroy, cuTexObjectDestroy, 5000, LEGACY, TexObjectDestroy, \
      (CUtexObject texObject), (texObject)) \
    X(cuTexObjectGetResourceDesc, cuTexObjectGetResourceDesc, 5000, LEGACY, \
      TexObjectGetResourceDesc, (CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject), \
      (pResDesc, texObject)) \
    X(cuTexObjectGetResourceViewDesc, cuTexObjectGetResourceViewDesc, 5000, LEGACY, \
      TexObjectGetResourceViewDesc, (CUDA_RESOURCE_VIEW_DESC *pResViewDesc, \
      CUtexObject texObject), (pResViewDesc, texObject)) \
    X(cuTexObjectGetTextureDesc, cuTexObjectGetTextureDesc, 5000, LEGACY, \
      TexObjectGetTextureDesc, (CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject), \
      (pTexDesc, texObject)) \
    X(cuTexRefCreate, cuTexRefCreate, 2000, LEGACY, TexRefCreate, (CUtexref *pTexRef), \
      (pTexRef)) \
    X(cuTexRefDestroy, cuTexRefDestroy, 2000, LEGACY, TexRefDestroy, (CUtexref \
      hTexRef), (hTexRef)) \
    X(cuTexRefGetAddressMode, cuTexRefGetAddressMode, 2000, LEGACY, \
      TexRefGetAddressMode, (CUaddress_mode *pam, CUtexref hTexRef, int dim), (pam, \
      hTexRef, dim)) \
    X(cuTexRefGetAddress_v2, cuTexRefGetAddress, 3020, LEGACY, TexRefGetAddress, \
      (CUdeviceptr *pdptr, CUtexref hTexRef), (pdptr, hTexRef)) \
    X(cuTexRefGetArray, cuTexRefGetArray, 2000, LEGACY, TexRefGetArray, (CUarray \
      *phArray, CUtexref hTexRef), (phArray, hTexRef)) \
    X(cuTexRefGetFilterMode, cuTexRefGetFilterMode, 2000, LEGACY, TexRefGetFilterMode, \
      (CUfilter_mode *pfm, CUtexref hTexRef), (pfm, hTexRef)) \
    X(cuTexRefGetFlags, cuTexRefGetFlags, 2000, LEGACY, TexRefGetFlags, (unsigned int \
      *pFlags, CUtexref hTexRef), (pFlags, hTexRef)) \
    X(cuTexRefGetFormat, cuTexRefGetFormat, 2000, LEGACY, TexRefGetFormat, \
      (CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef), (pFormat, \
      pNumChannels, hTexRef)) \
    X(cuTexRefSetAddress2D_v2, cuTexRefSetAddress2D, 3020, LEGACY, TexRefSetAddress2D, \
      (CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t \
      Pitch), (hTexRef, desc, dptr, Pitch)) \
    X(cuTexRefSetAddress2D_v3, cuTexRefSetAddress2D, 4010, LEGACY, TexRefSetAddress2D, \
      (CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc, CUdeviceptr dptr, size_t \
      Pitch), (hTexRef, desc, dptr, Pitch)) \
    X(cuTexRefSetAddressMode, cuTexRefSetAddressMode, 2000, LEGACY, \
      TexRefSetAddressMode, (CUtexref hTexRef, int dim, CUaddress_mode am), (hTexRef, \
      dim, am)) \
    X(cuTexRefSetAddress_v2, cuTexRefSetAddress, 3020, LEGACY, TexRefSetAddress, \
      (size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes), \
      (ByteOffset, hTexRef, dptr, bytes)) \
    X(cuTexRefSetArray, cuTexRefSetArray, 2000, LEGACY, TexRefSetArray, (CUtexref \
      hTexRef, CUarray hArray, unsigned int Flags), (hTexRef, hArray, Flags)) \
    X(cuTexRefSetFilterMode, cuTexRefSetFilterMode, 2000, LEGACY, TexRefSetFilterMode, \
      (CUtexref hTexRef, CUfilter_mode fm), (hTexRef, fm)) \
    X(cuTexRefSetFlags, cuTexRefSetFlags, 2000, LEGACY, TexRefSetFlags, (CUtexref \
      hTexRef, unsigned int Flags), (hTexRef, Flags)) \
    X(cuTexRefSetFormat, cuTexRefSetFormat, 2000, LEGACY, TexRefSetFormat, (CUtexref \
      hTexRef, CUarray_format fmt, int NumPackedComponents), (hTexRef, fmt, \
      NumPackedComponents)) \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode, 10010, \
      LEGACY, ThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode), (mode)) \
    X(cuUserObjectCreate, cuUserObjectCreate, 11030, LEGACY, UserObjectCreate, \
      (CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int \
      initialRefcount, unsigned int flags), (object_out, ptr, destroy, \
      initialRefcount, flags)) \
    X(cuUserObjectRelease, cuUserObjectRelease, 11030, LEGACY, UserObjectRelease, \
      (CUuserObject object, unsigned int count), (object, count)) \
    X(cuUserObjectRetain, cuUserObjectRetain, 11030, LEGACY, UserObjectRetain, \
      (CUuserObject object, unsigned int count), (object, count))

/* Exports under another base: X(export, base, version, stream). */
#define PCU_DRIVER_RENAMED(X)

/* What is not built: X(export, base, version, stream, Name). */
#define PCU_DRIVER_MISSING(X) \
    X(cuArray3DCreate, cuArray3DCreate, 2000, LEGACY, Array3DCreate_v1) \
    X(cuArray3DGetDescriptor, cuArray3DGetDescriptor, 2000, LEGACY, \
      Array3DGetDescriptor_v1) \
    X(cuArrayCreate, cuArrayCreate, 2000, LEGACY, ArrayCreate_v1) \
    X(cuArrayGetDescriptor, cuArrayGetDescriptor, 2000, LEGACY, ArrayGetDescriptor_v1) \
    X(cuArrayGetPlane, cuArrayGetPlane, 11020, LEGACY, ArrayGetPlane) \
    X(cuArrayGetSparseProperties, cuArrayGetSparseProperties, 11010, LEGACY, \
      ArrayGetSparseProperties) \
    X(cuCheckpointProcessCheckpoint, cuCheckpointProcessCheckpoint, 12080, LEGACY, \
      CheckpointProcessCheckpoint) \
    X(cuCheckpointProcessGetRestoreThreadId, cuCheckpointProcessGetRestoreThreadId, \
      12080, LEGACY, CheckpointProcessGetRestoreThreadId) \
    X(cuCheckpointProcessGetState, cuCheckpointProcessGetState, 12080, LEGACY, \
      CheckpointProcessGetState) \
    X(cuCheckpointProcessLock, cuCheckpointProcessLock, 12080, LEGACY, \
      CheckpointProcessLock) \
    X(cuCheckpointProcessRestore, cuCheckpointProcessRestore, 12080, LEGACY, \
      CheckpointProcessRestore) \
    X(cuCheckpointProcessUnlock, cuCheckpointProcessUnlock, 12080, LEGACY, \
      CheckpointProcessUnlock) \
    X(cuCoredumpGetAttribute, cuCoredumpGetAttribute, 12010, LEGACY, \
      CoredumpGetAttribute) \
    X(cuCoredumpGetAttributeGlobal, cuCoredumpGetAttributeGlobal, 12010, LEGACY, \
      CoredumpGetAttributeGlobal) \
    X(cuCoredumpSetAttribute, cuCoredumpSetAttribute, 12010, LEGACY, \
      CoredumpSetAttribute) \
    X(cuCoredumpSetAttributeGlobal, cuCoredumpSetAttributeGlobal, 12010, LEGACY, \
      CoredumpSetAttributeGlobal) \
    X(cuCtxAttach, cuCtxAttach, 2000, LEGACY, CtxAttach) \
    X(cuCtxDetach, cuCtxDetach, 2000, LEGACY, CtxDetach) \
    X(cuDestroyExternalMemory, cuDestroyExternalMemory, 10000, LEGACY, \
      DestroyExternalMemory) \
    X(cuDestroyExternalSemaphore, cuDestroyExternalSemaphore, 10000, LEGACY, \
      DestroyExternalSemaphore) \
    X(cuDeviceGetLuid, cuDeviceGetLuid, 10000, LEGACY, DeviceGetLuid) \
    X(cuDeviceGetNvSciSyncAttributes, cuDeviceGetNvSciSyncAttributes, 10020, LEGACY, \
      DeviceGetNvSciSyncAttributes) \
    X(cuDeviceGetTexture1DLinearMaxWidth, cuDeviceGetTexture1DLinearMaxWidth, 11010, \
      LEGACY, DeviceGetTexture1DLinearMaxWidth) \
    X(cuDeviceRegisterAsyncNotification, cuDeviceRegisterAsyncNotification, 12040, \
      LEGACY, DeviceRegisterAsyncNotification) \
    X(cuDeviceTotalMem, cuDeviceTotalMem, 2000, LEGACY, DeviceTotalMem_v1) \
    X(cuDeviceUnregisterAsyncNotification, cuDeviceUnregisterAsyncNotification, 12040, \
      LEGACY, DeviceUnregisterAsyncNotification) \
    X(cuExternalMemoryGetMappedBuffer, cuExternalMemoryGetMappedBuffer, 10000, LEGACY, \
      ExternalMemoryGetMappedBuffer) \
    X(cuExternalMemoryGetMappedMipmappedArray, \
      cuExternalMemoryGetMappedMipmappedArray, 10000, LEGACY, \
      ExternalMemoryGetMappedMipmappedArray) \
    X(cuFuncSetBlockShape, cuFuncSetBlockShape, 2000, LEGACY, FuncSetBlockShape) \
    X(cuFuncSetSharedSize, cuFuncSetSharedSize, 2000, LEGACY, FuncSetSharedSize) \
    X(cuGraphAddExternalSemaphoresSignalNode, cuGraphAddExternalSemaphoresSignalNode, \
      11020, LEGACY, GraphAddExternalSemaphoresSignalNode) \
    X(cuGraphAddExternalSemaphoresWaitNode, cuGraphAddExternalSemaphoresWaitNode, \
      11020, LEGACY, GraphAddExternalSemaphoresWaitNode) \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams, \
      cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, LEGACY, \
      GraphExecExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams, \
      cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, LEGACY, \
      GraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphExternalSemaphoresSignalNodeGetParams, \
      cuGraphExternalSemaphoresSignalNodeGetParams, 11020, LEGACY, \
      GraphExternalSemaphoresSignalNodeGetParams) \
    X(cuGraphExternalSemaphoresSignalNodeSetParams, \
      cuGraphExternalSemaphoresSignalNodeSetParams, 11020, LEGACY, \
      GraphExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExternalSemaphoresWaitNodeGetParams, \
      cuGraphExternalSemaphoresWaitNodeGetParams, 11020, LEGACY, \
      GraphExternalSemaphoresWaitNodeGetParams) \
    X(cuGraphExternalSemaphoresWaitNodeSetParams, \
      cuGraphExternalSemaphoresWaitNodeSetParams, 11020, LEGACY, \
      GraphExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphicsResourceGetMappedMipmappedArray, \
      cuGraphicsResourceGetMappedMipmappedArray, 5000, LEGACY, \
      GraphicsResourceGetMappedMipmappedArray) \
    X(cuGraphicsResourceGetMappedPointer, cuGraphicsResourceGetMappedPointer, 3000, \
      LEGACY, GraphicsResourceGetMappedPointer_v1) \
    X(cuGraphicsResourceSetMapFlags, cuGraphicsResourceSetMapFlags, 3000, LEGACY, \
      GraphicsResourceSetMapFlags_v1) \
    X(cuGraphicsResourceSetMapFlags_v2, cuGraphicsResourceSetMapFlags, 6050, LEGACY, \
      GraphicsResourceSetMapFlags_v2) \
    X(cuImportExternalMemory, cuImportExternalMemory, 10000, LEGACY, \
      ImportExternalMemory) \
    X(cuImportExternalSemaphore, cuImportExternalSemaphore, 10000, LEGACY, \
      ImportExternalSemaphore) \
    X(cuLaunch, cuLaunch, 2000, LEGACY, Launch) \
    X(cuLaunchCooperativeKernelMultiDevice, cuLaunchCooperativeKernelMultiDevice, \
      9000, LEGACY, LaunchCooperativeKernelMultiDevice) \
    X(cuLaunchGrid, cuLaunchGrid, 2000, LEGACY, LaunchGrid) \
    X(cuLaunchGridAsync, cuLaunchGridAsync, 2000, LEGACY, LaunchGridAsync) \
    X(cuMemAlloc, cuMemAlloc, 2000, LEGACY, MemAlloc_v1) \
    X(cuMemAllocHost, cuMemAllocHost, 2000, LEGACY, MemAllocHost_v1) \
    X(cuMemAllocPitch, cuMemAllocPitch, 2000, LEGACY, MemAllocPitch_v1) \
    X(cuMemBatchDecompressAsync, cuMemBatchDecompressAsync, 12060, LEGACY, \
      MemBatchDecompressAsync) \
    X(cuMemBatchDecompressAsync_ptsz, cuMemBatchDecompressAsync, 12060, PER_THREAD, \
      MemBatchDecompressAsync) \
    X(cuMemFree, cuMemFree, 2000, LEGACY, MemFree_v1) \
    X(cuMemGetAddressRange, cuMemGetAddressRange, 2000, LEGACY, MemGetAddressRange_v1) \
    X(cuMemGetHandleForAddressRange, cuMemGetHandleForAddressRange, 11070, LEGACY, \
      MemGetHandleForAddressRange) \
    X(cuMemGetInfo, cuMemGetInfo, 2000, LEGACY, MemGetInfo_v1) \
    X(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer, 2020, LEGACY, \
      MemHostGetDevicePointer_v1) \
    X(cuMemMapArrayAsync, cuMemMapArrayAsync, 11010, LEGACY, MemMapArrayAsync) \
    X(cuMemMapArrayAsync_ptsz, cuMemMapArrayAsync, 11010, PER_THREAD, \
      MemMapArrayAsync) \
    X(cuMemcpy2D, cuMemcpy2D, 2000, LEGACY, Memcpy2D_v1) \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync, 2000, LEGACY, Memcpy2DAsync_v1) \
    X(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned, 2000, LEGACY, Memcpy2DUnaligned_v1) \
    X(cuMemcpy3D, cuMemcpy3D, 2000, LEGACY, Memcpy3D_v1) \
    X(cuMemcpy3DAsync, cuMemcpy3DAsync, 2000, LEGACY, Memcpy3DAsync_v1) \
    X(cuMemcpyAtoA, cuMemcpyAtoA, 2000, LEGACY, MemcpyAtoA_v1) \
    X(cuMemcpyAtoD, cuMemcpyAtoD, 2000, LEGACY, MemcpyAtoD_v1) \
    X(cuMemcpyAtoH, cuMemcpyAtoH, 2000, LEGACY, MemcpyAtoH_v1) \
    X(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync, 2000, LEGACY, MemcpyAtoHAsync_v1) \
    X(cuMemcpyDtoA, cuMemcpyDtoA, 2000, LEGACY, MemcpyDtoA_v1) \
    X(cuMemcpyDtoD, cuMemcpyDtoD, 2000, LEGACY, MemcpyDtoD_v1) \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync, 3000, LEGACY, MemcpyDtoDAsync_v1) \
    X(cuMemcpyDtoH, cuMemcpyDtoH, 2000, LEGACY, MemcpyDtoH_v1) \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync, 2000, LEGACY, MemcpyDtoHAsync_v1) \
    X(cuMemcpyHtoA, cuMemcpyHtoA, 2000, LEGACY, MemcpyHtoA_v1) \
    X(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync, 2000, LEGACY, MemcpyHtoAAsync_v1) \
    X(cuMemcpyHtoD, cuMemcpyHtoD, 2000, LEGACY, MemcpyHtoD_v1) \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync, 2000, LEGACY, MemcpyHtoDAsync_v1) \
    X(cuMemsetD16, cuMemsetD16, 2000, LEGACY, MemsetD16_v1) \
    X(cuMemsetD2D16, cuMemsetD2D16, 2000, LEGACY, MemsetD2D16_v1) \
    X(cuMemsetD2D32, cuMemsetD2D32, 2000, LEGACY, MemsetD2D32_v1) \
    X(cuMemsetD2D8, cuMemsetD2D8, 2000, LEGACY, MemsetD2D8_v1) \
    X(cuMemsetD32, cuMemsetD32, 2000, LEGACY, MemsetD32_v1) \
    X(cuMemsetD8, cuMemsetD8, 2000, LEGACY, MemsetD8_v1) \
    X(cuMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements, \
      11060, LEGACY, MipmappedArrayGetMemoryRequirements) \
    X(cuMipmappedArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties, 11010, \
      LEGACY, MipmappedArrayGetSparseProperties) \
    X(cuModuleGetGlobal, cuModuleGetGlobal, 2000, LEGACY, ModuleGetGlobal_v1) \
    X(cuMulticastAddDevice, cuMulticastAddDevice, 12010, LEGACY, MulticastAddDevice) \
    X(cuMulticastBindAddr, cuMulticastBindAddr, 12010, LEGACY, MulticastBindAddr) \
    X(cuMulticastBindMem, cuMulticastBindMem, 12010, LEGACY, MulticastBindMem) \
    X(cuMulticastCreate, cuMulticastCreate, 12010, LEGACY, MulticastCreate) \
    X(cuMulticastGetGranularity, cuMulticastGetGranularity, 12010, LEGACY, \
      MulticastGetGranularity) \
    X(cuMulticastUnbind, cuMulticastUnbind, 12010, LEGACY, MulticastUnbind) \
    X(cuParamSetSize, cuParamSetSize, 2000, LEGACY, ParamSetSize) \
    X(cuParamSetTexRef, cuParamSetTexRef, 2000, LEGACY, ParamSetTexRef) \
    X(cuParamSetf, cuParamSetf, 2000, LEGACY, ParamSetf) \
    X(cuParamSeti, cuParamSeti, 2000, LEGACY, ParamSeti) \
    X(cuParamSetv, cuParamSetv, 2000, LEGACY, ParamSetv) \
    X(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync, 10000, LEGACY, \
      SignalExternalSemaphoresAsync) \
    X(cuSignalExternalSemaphoresAsync_ptsz, cuSignalExternalSemaphoresAsync, 10000, \
      PER_THREAD, SignalExternalSemaphoresAsync) \
    X(cuTensorMapEncodeIm2colWide, cuTensorMapEncodeIm2colWide, 12080, LEGACY, \
      TensorMapEncodeIm2colWide) \
    X(cuTexRefGetAddress, cuTexRefGetAddress, 2000, LEGACY, TexRefGetAddress_v1) \
    X(cuTexRefGetBorderColor, cuTexRefGetBorderColor, 8000, LEGACY, \
      TexRefGetBorderColor) \
    X(cuTexRefGetMaxAnisotropy, cuTexRefGetMaxAnisotropy, 5000, LEGACY, \
      TexRefGetMaxAnisotropy) \
    X(cuTexRefGetMipmapFilterMode, cuTexRefGetMipmapFilterMode, 5000, LEGACY, \
      TexRefGetMipmapFilterMode) \
    X(cuTexRefGetMipmapLevelBias, cuTexRefGetMipmapLevelBias, 5000, LEGACY, \
      TexRefGetMipmapLevelBias) \
    X(cuTexRefGetMipmapLevelClamp, cuTexRefGetMipmapLevelClamp, 5000, LEGACY, \
      TexRefGetMipmapLevelClamp) \
    X(cuTexRefGetMipmappedArray, cuTexRefGetMipmappedArray, 5000, LEGACY, \
      TexRefGetMipmappedArray) \
    X(cuTexRefSetAddress, cuTexRefSetAddress, 2000, LEGACY, TexRefSetAddress_v1) \
    X(cuTexRefSetAddress2D, cuTexRefSetAddress2D, 2020, LEGACY, TexRefSetAddress2D_v1) \
    X(cuTexRefSetBorderColor, cuTexRefSetBorderColor, 8000, LEGACY, \
      TexRefSetBorderColor) \
    X(cuTexRefSetMaxAnisotropy, cuTexRefSetMaxAnisotropy, 5000, LEGACY, \
      TexRefSetMaxAnisotropy) \
    X(cuTexRefSetMipmapFilterMode, cuTexRefSetMipmapFilterMode, 5000, LEGACY, \
      TexRefSetMipmapFilterMode) \
    X(cuTexRefSetMipmapLevelBias, cuTexRefSetMipmapLevelBias, 5000, LEGACY, \
      TexRefSetMipmapLevelBias) \
    X(cuTexRefSetMipmapLevelClamp, cuTexRefSetMipmapLevelClamp, 5000, LEGACY, \
      TexRefSetMipmapLevelClamp) \
    X(cuTexRefSetMipmappedArray, cuTexRefSetMipmappedArray, 5000, LEGACY, \
      TexRefSetMipmappedArray) \
    X(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync, 10000, LEGACY, \
      WaitExternalSemaphoresAsync) \
    X(cuWaitExternalSemaphoresAsync_ptsz, cuWaitExternalSemaphoresAsync, 10000, \
      PER_THREAD, WaitExternalSemaphoresAsync)

/* The names of what is not built, one for each ABI: X(Name). */
#define PCU_DRIVER_MISSING_CALLS(X) \
    X(Array3DCreate_v1) \
    X(Array3DGetDescriptor_v1) \
    X(ArrayCreate_v1) \
    X(ArrayGetDescriptor_v1) \
    X(ArrayGetPlane) \
    X(ArrayGetSparseProperties) \
    X(CheckpointProcessCheckpoint) \
    X(CheckpointProcessGetRestoreThreadId) \
    X(CheckpointProcessGetState) \
    X(CheckpointProcessLock) \
    X(CheckpointProcessRestore) \
    X(CheckpointProcessUnlock) \
    X(CoredumpGetAttribute) \
    X(CoredumpGetAttributeGlobal) \
    X(CoredumpSetAttribute) \
    X(CoredumpSetAttributeGlobal) \
    X(CtxAttach) \
    X(CtxDetach) \
    X(DestroyExternalMemory) \
    X(DestroyExternalSemaphore) \
    X(DeviceGetLuid) \
    X(DeviceGetNvSciSyncAttributes) \
    X(DeviceGetTexture1DLinearMaxWidth) \
    X(DeviceRegisterAsyncNotification) \
    X(DeviceTotalMem_v1) \
    X(DeviceUnregisterAsyncNotification) \
    X(ExternalMemoryGetMappedBuffer) \
    X(ExternalMemoryGetMappedMipmappedArray) \
    X(FuncSetBlockShape) \
    X(FuncSetSharedSize) \
    X(GraphAddExternalSemaphoresSignalNode) \
    X(GraphAddExternalSemaphoresWaitNode) \
    X(GraphExecExternalSemaphoresSignalNodeSetParams) \
    X(GraphExecExternalSemaphoresWaitNodeSetParams) \
    X(GraphExternalSemaphoresSignalNodeGetParams) \
    X(GraphExternalSemaphoresSignalNodeSetParams) \
    X(GraphExternalSemaphoresWaitNodeGetParams) \
    X(GraphExternalSemaphoresWaitNodeSetParams) \
    X(GraphicsResourceGetMappedMipmappedArray) \
    X(GraphicsResourceGetMappedPointer_v1) \
    X(GraphicsResourceSetMapFlags_v1) \
    X(GraphicsResourceSetMapFlags_v2) \
    X(ImportExternalMemory) \
    X(ImportExternalSemaphore) \
    X(Launch) \
    X(LaunchCooperativeKernelMultiDevice) \
    X(LaunchGrid) \
    X(LaunchGridAsync) \
    X(MemAlloc_v1) \
    X(MemAllocHost_v1) \
    X(MemAllocPitch_v1) \
    X(MemBatchDecompressAsync) \
    X(MemFree_v1) \
    X(MemGetAddressRange_v1) \
    X(MemGetHandleForAddressRange) \
    X(MemGetInfo_v1) \
    X(MemHostGetDevicePointer_v1) \
    X(MemMapArrayAsync) \
    X(Memcpy2D_v1) \
    X(Memcpy2DAsync_v1) \
    X(Memcpy2DUnaligned_v1) \
    X(Memcpy3D_v1) \
    X(Memcpy3DAsync_v1) \
    X(MemcpyAtoA_v1) \
    X(MemcpyAtoD_v1) \
    X(MemcpyAtoH_v1) \
    X(MemcpyAtoHAsync_v1) \
    X(MemcpyDtoA_v1) \
    X(MemcpyDtoD_v1) \
    X(MemcpyDtoDAsync_v1) \
    X(MemcpyDtoH_v1) \
    X(MemcpyDtoHAsync_v1) \
    X(MemcpyHtoA_v1) \
    X(MemcpyHtoAAsync_v1) \
    X(MemcpyHtoD_v1) \
    X(MemcpyHtoDAsync_v1) \
    X(MemsetD16_v1) \
    X(MemsetD2D16_v1) \
    X(MemsetD2D32_v1) \
    X(MemsetD2D8_v1) \
    X(MemsetD32_v1) \
    X(MemsetD8_v1) \
    X(MipmappedArrayGetMemoryRequirements) \
    X(MipmappedArrayGetSparseProperties) \
    X(ModuleGetGlobal_v1) \
    X(MulticastAddDevice) \
    X(MulticastBindAddr) \
    X(MulticastBindMem) \
    X(MulticastCreate) \
    X(MulticastGetGranularity) \
    X(MulticastUnbind) \
    X(ParamSetSize) \
    X(ParamSetTexRef) \
    X(ParamSetf) \
    X(ParamSeti) \
    X(ParamSetv) \
    X(SignalExternalSemaphoresAsync) \
    X(TensorMapEncodeIm2colWide) \
    X(TexRefGetAddress_v1) \
    X(TexRefGetBorderColor) \
    X(TexRefGetMaxAnisotropy) \
    X(TexRefGetMipmapFilterMode) \
    X(TexRefGetMipmapLevelBias) \
    X(TexRefGetMipmapLevelClamp) \
    X(TexRefGetMipmappedArray) \
    X(TexRefSetAddress_v1) \
    X(TexRefSetAddress2D_v1) \
    X(TexRefSetBorderColor) \
    X(TexRefSetMaxAnisotropy) \
    X(TexRefSetMipmapFilterMode) \
    X(TexRefSetMipmapLevelBias) \
    X(TexRefSetMipmapLevelClamp) \
    X(TexRefSetMipmappedArray) \
    X(WaitExternalSemaphoresAsync)

/* clang-format on */

#endif
