/* The functions of the driver that a timeline records.
 *
 *   X(Name, kind of span, (parameters), (arguments), stream, bytes)
 *
 * Name is that of a row in abi/symbols.h, with the same parameters. Launches of kernels
 * and calls that end a context have functions of their own in driver/timeline_calls.c.
 */
#ifndef TABLES_TIMED_CALLS_H
#define TABLES_TIMED_CALLS_H

/* clang-format off */
#define PCU_TIMED_CALLS(X) \
    PCU_TIMED_COPIES(X)    \
    PCU_TIMED_FILLS(X)     \
    PCU_TIMED_OTHERS(X)

#define PCU_TIMED_COPIES(X) \
    X(Memcpy, COPY, (CUdeviceptr dst, CUdeviceptr src, size_t size),                   \
      (dst, src, size), NULL, size)                                                    \
    X(MemcpyAsync, COPY,                                                               \
      (CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream),                \
      (dst, src, size, stream), stream, size)                                          \
    X(MemcpyPeer, COPY,                                                                \
      (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size),   \
      (dst, to, src, from, size), NULL, size)                                          \
    X(MemcpyPeerAsync, COPY,                                                           \
      (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size,    \
       CUstream stream),                                                               \
      (dst, to, src, from, size, stream), stream, size)                                \
    X(MemcpyHtoD, COPY_IN, (CUdeviceptr dst, const void *src, size_t size),            \
      (dst, src, size), NULL, size)                                                    \
    X(MemcpyDtoH, COPY_OUT, (void *dst, CUdeviceptr src, size_t size),                 \
      (dst, src, size), NULL, size)                                                    \
    X(MemcpyDtoD, COPY, (CUdeviceptr dst, CUdeviceptr src, size_t size),               \
      (dst, src, size), NULL, size)                                                    \
    X(MemcpyDtoA, COPY, (CUarray dst, size_t place, CUdeviceptr src, size_t size),     \
      (dst, place, src, size), NULL, size)                                             \
    X(MemcpyAtoD, COPY, (CUdeviceptr dst, CUarray src, size_t place, size_t size),     \
      (dst, src, place, size), NULL, size)                                             \
    X(MemcpyHtoA, COPY_IN, (CUarray dst, size_t place, const void *src, size_t size),  \
      (dst, place, src, size), NULL, size)                                             \
    X(MemcpyAtoH, COPY_OUT, (void *dst, CUarray src, size_t place, size_t size),       \
      (dst, src, place, size), NULL, size)                                             \
    X(MemcpyAtoA, COPY,                                                                \
      (CUarray dst, size_t place, CUarray src, size_t from, size_t size),              \
      (dst, place, src, from, size), NULL, size)                                       \
    X(MemcpyHtoDAsync, COPY_IN,                                                        \
      (CUdeviceptr dst, const void *src, size_t size, CUstream stream),                \
      (dst, src, size, stream), stream, size)                                          \
    X(MemcpyDtoHAsync, COPY_OUT,                                                       \
      (void *dst, CUdeviceptr src, size_t size, CUstream stream),                      \
      (dst, src, size, stream), stream, size)                                          \
    X(MemcpyDtoDAsync, COPY,                                                           \
      (CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream),                \
      (dst, src, size, stream), stream, size)                                          \
    X(MemcpyHtoAAsync, COPY_IN,                                                        \
      (CUarray dst, size_t place, const void *src, size_t size, CUstream stream),      \
      (dst, place, src, size, stream), stream, size)                                   \
    X(MemcpyAtoHAsync, COPY_OUT,                                                       \
      (void *dst, CUarray src, size_t place, size_t size, CUstream stream),            \
      (dst, src, place, size, stream), stream, size)                                   \
    X(Memcpy2D, COPY, (const CUDA_MEMCPY2D *copy), (copy), NULL,                       \
      copy->WidthInBytes * copy->Height)                                               \
    X(Memcpy2DUnaligned, COPY, (const CUDA_MEMCPY2D *copy), (copy), NULL,              \
      copy->WidthInBytes * copy->Height)                                               \
    X(Memcpy2DAsync, COPY, (const CUDA_MEMCPY2D *copy, CUstream stream),               \
      (copy, stream), stream, copy->WidthInBytes * copy->Height)                       \
    X(Memcpy3D, COPY, (const CUDA_MEMCPY3D *copy), (copy), NULL,                       \
      copy->WidthInBytes * copy->Height * copy->Depth)                                 \
    X(Memcpy3DAsync, COPY, (const CUDA_MEMCPY3D *copy, CUstream stream),               \
      (copy, stream), stream, copy->WidthInBytes * copy->Height * copy->Depth)         \
    X(Memcpy3DPeer, COPY, (const CUDA_MEMCPY3D_PEER *copy), (copy), NULL,              \
      copy->WidthInBytes * copy->Height * copy->Depth)                                 \
    X(Memcpy3DPeerAsync, COPY, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream),      \
      (copy, stream), stream, copy->WidthInBytes * copy->Height * copy->Depth)

#define PCU_TIMED_FILLS(X) \
    X(MemsetD8, FILL, (CUdeviceptr dst, unsigned char value, size_t count),            \
      (dst, value, count), NULL, count)                                                \
    X(MemsetD16, FILL, (CUdeviceptr dst, unsigned short value, size_t count),          \
      (dst, value, count), NULL, count * 2)                                            \
    X(MemsetD32, FILL, (CUdeviceptr dst, unsigned int value, size_t count),            \
      (dst, value, count), NULL, count * 4)                                            \
    X(MemsetD2D8, FILL,                                                                \
      (CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,               \
       size_t height),                                                                 \
      (dst, pitch, value, width, height), NULL, width * height)                        \
    X(MemsetD2D16, FILL,                                                               \
      (CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,              \
       size_t height),                                                                 \
      (dst, pitch, value, width, height), NULL, width * height * 2)                    \
    X(MemsetD2D32, FILL,                                                               \
      (CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,                \
       size_t height),                                                                 \
      (dst, pitch, value, width, height), NULL, width * height * 4)                    \
    X(MemsetD8Async, FILL,                                                             \
      (CUdeviceptr dst, unsigned char value, size_t count, CUstream stream),           \
      (dst, value, count, stream), stream, count)                                      \
    X(MemsetD16Async, FILL,                                                            \
      (CUdeviceptr dst, unsigned short value, size_t count, CUstream stream),          \
      (dst, value, count, stream), stream, count * 2)                                  \
    X(MemsetD32Async, FILL,                                                            \
      (CUdeviceptr dst, unsigned int value, size_t count, CUstream stream),            \
      (dst, value, count, stream), stream, count * 4)                                  \
    X(MemsetD2D8Async, FILL,                                                           \
      (CUdeviceptr dst, size_t pitch, unsigned char value, size_t width,               \
       size_t height, CUstream stream),                                                \
      (dst, pitch, value, width, height, stream), stream, width * height)              \
    X(MemsetD2D16Async, FILL,                                                          \
      (CUdeviceptr dst, size_t pitch, unsigned short value, size_t width,              \
       size_t height, CUstream stream),                                                \
      (dst, pitch, value, width, height, stream), stream, width * height * 2)          \
    X(MemsetD2D32Async, FILL,                                                          \
      (CUdeviceptr dst, size_t pitch, unsigned int value, size_t width,                \
       size_t height, CUstream stream),                                                \
      (dst, pitch, value, width, height, stream), stream, width * height * 4)

#define PCU_TIMED_OTHERS(X) \
    X(GraphLaunch, GRAPH, (CUgraphExec graph, CUstream stream), (graph, stream),       \
      stream, 0)                                                                       \
    X(LaunchHostFunc, HOST_FUNCTION, (CUstream stream, CUhostFn function, void *data), \
      (stream, function, data), stream, 0)                                             \
    X(CtxSynchronize, WAIT, (void), (), NULL, 0)                                       \
    X(StreamSynchronize, WAIT, (CUstream stream), (stream), stream, 0)                 \
    X(EventSynchronize, WAIT, (CUevent event), (event), NULL, 0)                       \
    X(MemAlloc, ALLOCATE, (CUdeviceptr *memory, size_t size), (memory, size), NULL,    \
      size)                                                                            \
    X(MemAllocManaged, ALLOCATE,                                                       \
      (CUdeviceptr *memory, size_t size, unsigned int flags), (memory, size, flags),   \
      NULL, size)                                                                      \
    X(MemHostAlloc, ALLOCATE, (void **memory, size_t size, unsigned int flags),        \
      (memory, size, flags), NULL, size)                                               \
    X(MemAllocAsync, ALLOCATE, (CUdeviceptr *memory, size_t size, CUstream stream),    \
      (memory, size, stream), stream, size)                                            \
    X(MemAllocFromPoolAsync, ALLOCATE,                                                 \
      (CUdeviceptr *memory, size_t size, CUmemoryPool pool, CUstream stream),          \
      (memory, size, pool, stream), stream, size)                                      \
    X(MemFree, FREE, (CUdeviceptr memory), (memory), NULL, 0)                          \
    X(MemFreeHost, FREE, (void *memory), (memory), NULL, 0)                            \
    X(MemFreeAsync, FREE, (CUdeviceptr memory, CUstream stream), (memory, stream),     \
      stream, 0)                                                                       \
    X(ModuleLoad, LOAD, (CUmodule *module, const char *name), (module, name), NULL, 0) \
    X(ModuleLoadData, LOAD, (CUmodule *module, const void *image), (module, image),    \
      NULL, 0)                                                                         \
    X(ModuleLoadDataEx, LOAD,                                                          \
      (CUmodule *module, const void *image, unsigned int count, CUjit_option *options, \
       void **values),                                                                 \
      (module, image, count, options, values), NULL, 0)                                \
    X(LinkComplete, LOAD, (CUlinkState link, void **image, size_t *size),              \
      (link, image, size), NULL, 0)
/* clang-format on */

#endif
