/* Every kind of driver object this package owns.
 *
 *   X(kind, C type, driver function that ends it)
 *
 * The row is all there is to releasing one: see driver/release.h. The kinds of
 * PCU_RESOURCES_OF_PARTS take several calls, of which the row names the last. `ordered`
 * is memory of cuMemAllocAsync: cuMemFree does not wait for the work that uses it. */
#ifndef TABLES_RESOURCES_H
#define TABLES_RESOURCES_H

/* clang-format off */
#define PCU_RESOURCES(X) \
    PCU_PLAIN_RESOURCES(X)   \
    PCU_RESOURCES_OF_PARTS(X)

#define PCU_RESOURCES_OF_PARTS(X) \
    X(ordered, CUdeviceptr, MemFree) \
    X(range, struct pcu_virtual_range *, MemAddressFree)

#define PCU_PLAIN_RESOURCES(X) \
    X(memory, CUdeviceptr, MemFree)               \
    X(host, void *, MemFreeHost)                  \
    X(registered, void *, MemHostUnregister)      \
    X(ipc_memory, CUdeviceptr, IpcCloseMemHandle) \
    X(stream, CUstream, StreamDestroy)            \
    X(event, CUevent, EventDestroy)               \
    X(graph_exec, CUgraphExec, GraphExecDestroy)  \
    X(graph, CUgraph, GraphDestroy)               \
    X(pool, CUmemoryPool, MemPoolDestroy)         \
    X(physical, CUmemGenericAllocationHandle, MemRelease) \
    X(module, CUmodule, ModuleUnload)             \
    X(link, CUlinkState, LinkDestroy)             \
    X(array, CUarray, ArrayDestroy)               \
    X(mipmapped_array, CUmipmappedArray, MipmappedArrayDestroy) \
    X(texref, CUtexref, TexRefDestroy)            \
    X(texture_object, CUtexObject, TexObjectDestroy)  \
    X(surface_object, CUsurfObject, SurfObjectDestroy) \
    X(graphics, CUgraphicsResource, GraphicsUnregisterResource) \
    X(gl_buffer, GLuint, GLUnregisterBufferObject) \
    X(gl_mapping, GLuint, GLUnmapBufferObject)
/* clang-format on */

#endif
