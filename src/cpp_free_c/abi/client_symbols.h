/* The functions of the driver that only other programs call, one row each: the
 * software device offers them, the extension has no use for them.
 *
 *   X(Name, version, (parameters))
 *
 * Name is the CUDA name without its cu; the parameters are those of the ABI that
 * appeared in the CUDA version given (major * 1000 + minor * 10). A function of which
 * abi/symbols.h has another ABI has a name that ends in _v and a number here.
 *
 * tools/make_exports.py joins these rows and those of abi/symbols.h with the names that
 * a driver exports. A row without a function in device/ counts as not built.
 *
 * All functions return CUresult. test/driver/test_abi.py compares the rows with
 * cuda.h. */
#ifndef ABI_CLIENT_SYMBOLS_H
#define ABI_CLIENT_SYMBOLS_H

/* clang-format off */
#define PCU_CLIENT_SYMBOLS(X) \
                                                                                       \
    /* devices */                                                                      \
    X(DeviceComputeCapability, 2000, (int *major, int *minor, CUdevice dev))           \
    X(DeviceGetProperties, 2000, (CUdevprop *prop, CUdevice dev))                      \
    X(DeviceGetExecAffinitySupport, 11040,                                             \
      (int *pi, CUexecAffinityType type, CUdevice dev))                                \
    X(DeviceGetHostAtomicCapabilities, 13000,                                          \
      (unsigned int *capabilities, const CUatomicOperation *operations, unsigned int   \
       count, CUdevice dev))                                                           \
    X(DeviceGetP2PAtomicCapabilities, 13000,                                           \
      (unsigned int *capabilities, const CUatomicOperation *operations, unsigned int   \
       count, CUdevice srcDevice, CUdevice dstDevice))                                 \
    X(FlushGPUDirectRDMAWrites, 11030,                                                 \
      (CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope)) \
                                                                                       \
    /* contexts */                                                                     \
    X(CtxCreate_v3, 11040,                                                             \
      (CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned int  \
       flags, CUdevice dev))                                                           \
    X(CtxCreate_v4, 12050,                                                             \
      (CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,        \
       CUdevice dev))                                                                  \
    X(CtxGetDevice_v2, 13000, (CUdevice *device, CUcontext ctx))                       \
    X(CtxSynchronize_v2, 13000, (CUcontext ctx))                                       \
    X(CtxSetFlags, 12010, (unsigned int flags))                                        \
    X(CtxGetExecAffinity, 11040,                                                       \
      (CUexecAffinityParam *pExecAffinity, CUexecAffinityType type))                   \
    X(CtxRecordEvent, 12050, (CUcontext hCtx, CUevent hEvent))                         \
    X(CtxWaitEvent, 12050, (CUcontext hCtx, CUevent hEvent))                           \
                                                                                       \
    /* libraries and kernels */                                                        \
    X(LibraryLoadData, 12000,                                                          \
      (CUlibrary *library, const void *code, CUjit_option *jitOptions, void            \
       **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, \
       void **libraryOptionValues, unsigned int numLibraryOptions))                    \
    X(LibraryLoadFromFile, 12000,                                                      \
      (CUlibrary *library, const char *fileName, CUjit_option *jitOptions, void        \
       **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions, \
       void **libraryOptionValues, unsigned int numLibraryOptions))                    \
    X(LibraryUnload, 12000, (CUlibrary library))                                       \
    X(LibraryGetKernel, 12000, (CUkernel *pKernel, CUlibrary library, const char *name)) \
    X(LibraryGetKernelCount, 12040, (unsigned int *count, CUlibrary lib))              \
    X(LibraryEnumerateKernels, 12040,                                                  \
      (CUkernel *kernels, unsigned int numKernels, CUlibrary lib))                     \
    X(LibraryGetGlobal, 12000,                                                         \
      (CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name))         \
    X(LibraryGetManaged, 12000,                                                        \
      (CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name))         \
    X(LibraryGetUnifiedFunction, 12000,                                                \
      (void **fptr, CUlibrary library, const char *symbol))                            \
    X(KernelGetLibrary, 12050, (CUlibrary *pLib, CUkernel kernel))                     \
    X(KernelGetName, 12030, (const char **name, CUkernel hfunc))                       \
    X(KernelGetAttribute, 12000,                                                       \
      (int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev))           \
    X(KernelSetAttribute, 12000,                                                       \
      (CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev))           \
    X(KernelSetCacheConfig, 12000,                                                     \
      (CUkernel kernel, CUfunc_cache config, CUdevice dev))                            \
    X(KernelGetParamInfo, 12040,                                                       \
      (CUkernel kernel, size_t paramIndex, size_t *paramOffset, size_t *paramSize))    \
    X(OccupancyMaxPotentialBlockSizeWithFlags, 7000,                                   \
      (int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize           \
       blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,         \
       unsigned int flags))                                                            \
                                                                                       \
    /* memory */                                                                       \
    X(MemAllocHost, 3020, (void **pp, size_t bytesize))                                \
    X(MemGetDefaultMemPool, 13000,                                                     \
      (CUmemoryPool *pool_out, CUmemLocation *location, CUmemAllocationType type))     \
    X(MemGetMemPool, 13000,                                                            \
      (CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type))         \
    X(MemSetMemPool, 13000,                                                            \
      (CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool))          \
    X(MemRangeGetAttributes, 8000,                                                     \
      (void **data, size_t *dataSizes, CUmem_range_attribute *attributes, size_t       \
       numAttributes, CUdeviceptr devPtr, size_t count))                               \
    X(MemRetainAllocationHandle, 11000,                                                \
      (CUmemGenericAllocationHandle *handle, void *addr))                              \
    X(MemcpyBatchAsync, 12080,                                                         \
      (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,              \
       CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx, \
       CUstream hStream))                                                              \
    X(MemcpyBatchAsync_v2, 13000,                                                      \
      (CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,              \
       CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)) \
    X(Memcpy3DBatchAsync, 12080,                                                       \
      (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, size_t *failIdx, unsigned long   \
       long flags, CUstream hStream))                                                  \
    X(Memcpy3DBatchAsync_v2, 13000,                                                    \
      (size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,        \
       CUstream hStream))                                                              \
    X(MemDiscardBatchAsync, 13000,                                                     \
      (CUdeviceptr *dptrs, size_t *sizes, size_t count, unsigned long long flags,      \
       CUstream hStream))                                                              \
    X(MemDiscardAndPrefetchBatchAsync, 13000,                                          \
      (CUdeviceptr *dptrs, size_t *sizes, size_t count, CUmemLocation *prefetchLocs,   \
       size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,      \
       CUstream hStream))                                                              \
    X(ArrayGetMemoryRequirements, 11060,                                               \
      (CUDA_ARRAY_MEMORY_REQUIREMENTS *memoryRequirements, CUarray array, CUdevice     \
       device))                                                                        \
                                                                                       \
    /* streams */                                                                      \
    X(StreamGetCtx_v2, 12050,                                                          \
      (CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx))                      \
    X(StreamGetDevice, 12080, (CUstream hStream, CUdevice *device))                    \
    X(StreamGetGreenCtx, 12040, (CUstream hStream, CUgreenCtx *phCtx))                 \
    X(StreamCopyAttributes, 11000, (CUstream dst, CUstream src))                       \
    X(StreamGetAttribute, 11000,                                                       \
      (CUstream hStream, CUlaunchAttributeID attr, CUlaunchAttributeValue              \
       *value_out))                                                                    \
    X(StreamSetAttribute, 11000,                                                       \
      (CUstream hStream, CUlaunchAttributeID attr, const CUlaunchAttributeValue        \
       *value))                                                                        \
    X(StreamBeginCapture_v1, 10000, (CUstream hStream))                                \
    X(StreamGetCaptureInfo_v1, 10010,                                                  \
      (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t          \
       *id_out))                                                                       \
    X(StreamGetCaptureInfo_v2, 11030,                                                  \
      (CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out, \
       CUgraph *graph_out, const CUgraphNode **dependencies_out, size_t                \
       *numDependencies_out))                                                          \
    X(StreamUpdateCaptureDependencies_v1, 11030,                                       \
      (CUstream hStream, CUgraphNode *dependencies, size_t numDependencies, unsigned   \
       int flags))                                                                     \
                                                                                       \
    /* graphs */                                                                       \
    X(GraphGetEdges_v1, 10000,                                                         \
      (CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges))          \
    X(GraphNodeGetDependencies_v1, 10000,                                              \
      (CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies))         \
    X(GraphNodeGetDependentNodes_v1, 10000,                                            \
      (CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes))     \
    X(GraphAddDependencies_v1, 10000,                                                  \
      (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t          \
       numDependencies))                                                               \
    X(GraphRemoveDependencies_v1, 10000,                                               \
      (CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t          \
       numDependencies))                                                               \
    X(GraphAddNode_v1, 12020,                                                          \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, CUgraphNodeParams *nodeParams))                         \
    X(GraphAddKernelNode_v1, 10000,                                                    \
      (CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,      \
       size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams))          \
    X(GraphKernelNodeGetParams_v1, 10000,                                              \
      (CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams))                     \
    X(GraphKernelNodeSetParams_v1, 10000,                                              \
      (CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams))               \
    X(GraphExecKernelNodeSetParams_v1, 10010,                                          \
      (CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1     \
       *nodeParams))                                                                   \
    X(GraphInstantiate_v1, 10000,                                                      \
      (CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char        \
       *logBuffer, size_t bufferSize))                                                 \
    X(GraphExecUpdate_v1, 10020,                                                       \
      (CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,            \
       CUgraphExecUpdateResult *updateResult_out))                                     \
                                                                                       \
    /* green contexts */                                                               \
    X(DeviceGetDevResource, 12040,                                                     \
      (CUdevice device, CUdevResource *resource, CUdevResourceType type))              \
    X(CtxGetDevResource, 12040,                                                        \
      (CUcontext hCtx, CUdevResource *resource, CUdevResourceType type))               \
    X(DevSmResourceSplitByCount, 12040,                                                \
      (CUdevResource *result, unsigned int *nbGroups, const CUdevResource *input,      \
       CUdevResource *remaining, unsigned int useFlags, unsigned int minCount))        \
    X(DevResourceGenerateDesc, 12040,                                                  \
      (CUdevResourceDesc *phDesc, CUdevResource *resources, unsigned int nbResources)) \
    X(GreenCtxCreate, 12040,                                                           \
      (CUgreenCtx *phCtx, CUdevResourceDesc desc, CUdevice dev, unsigned int flags))   \
    X(GreenCtxDestroy, 12040, (CUgreenCtx hCtx))                                       \
    X(GreenCtxGetDevResource, 12040,                                                   \
      (CUgreenCtx hCtx, CUdevResource *resource, CUdevResourceType type))              \
    X(GreenCtxGetId, 12090, (CUgreenCtx greenCtx, unsigned long long *greenCtxId))     \
    X(GreenCtxStreamCreate, 12050,                                                     \
      (CUstream *phStream, CUgreenCtx greenCtx, unsigned int flags, int priority))     \
    X(GreenCtxRecordEvent, 12040, (CUgreenCtx hCtx, CUevent hEvent))                   \
    X(GreenCtxWaitEvent, 12040, (CUgreenCtx hCtx, CUevent hEvent))                     \
                                                                                       \
    /* tensor maps */                                                                  \
    X(TensorMapReplaceAddress, 12000, (CUtensorMap *tensorMap, void *globalAddress))   \
                                                                                       \
    /* the log of failed calls */                                                      \
    X(LogsUnregisterCallback, 12090, (CUlogsCallbackHandle callback))                  \
    X(LogsCurrent, 12090, (CUlogIterator *iterator_out, unsigned int flags))           \
    X(LogsDumpToFile, 12090,                                                           \
      (CUlogIterator *iterator, const char *pathToFile, unsigned int flags))           \
    X(LogsDumpToMemory, 12090,                                                         \
      (CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags))       \
                                                                                       \
    /* programs' way to functions */                                                   \
    X(GetProcAddress, 11030,                                                           \
      (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags))             \
    X(GetProcAddress_v2, 12000,                                                        \
      (const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags, unsigned int \
       *symbolStatus))                                                                 \
    X(GetExportTable, 3000,                                                            \
      (const void **ppExportTable, const CUuuid *pExportTableId))
/* clang-format on */

#endif
