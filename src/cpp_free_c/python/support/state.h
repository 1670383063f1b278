/* The module's state: one list for each kind of member.
 *
 * Invariant: the struct, its traversal, its clearing and the check after setup are all
 * expansions of these lists. The state lives as long as the module; its members may be
 * NULL while the interpreter shuts down. Callers: every file of python/. */
#ifndef PYTHON_SUPPORT_STATE_H
#define PYTHON_SUPPORT_STATE_H

#include "driver/table.h"
#include "abi/enums.h"

#define PCU_STATE_TYPES(X)      \
    X(Device)                   \
    X(Context)                  \
    X(ContextStack)             \
    X(Stream)                   \
    X(Event)                    \
    X(DeviceAllocation)         \
    X(PointerHolderBase)        \
    X(HostPointer)              \
    X(PagelockedHostAllocation) \
    X(PooledDeviceAllocation)   \
    X(PooledHostAllocation)     \
    X(DeviceMemoryPool)         \
    X(MemoryPool)               \
    X(StreamAllocation)         \
    X(PhysicalMemory)           \
    X(VirtualMemory)            \
    X(PageLockedAllocator)      \
    X(PageLockedMemoryPool)     \
    X(ForeignAllocation)        \
    X(AlignedHostAllocation)    \
    X(RegisteredHostMemory)     \
    X(ManagedAllocation)        \
    X(IPCMemoryHandle)          \
    X(Memcpy2D)                 \
    X(Memcpy3D)                 \
    X(Memcpy3DPeer)             \
    X(Module)                   \
    X(Linker)                   \
    X(RegisteredObject)         \
    X(RegisteredBuffer)         \
    X(RegisteredImage)          \
    X(RegisteredMapping)        \
    X(BufferObject)             \
    X(BufferObjectMapping)      \
    X(Function)                 \
    X(ArgumentHandler)          \
    X(In)                       \
    X(Out)                      \
    X(InOut)                    \
    X(LaunchConfig)             \
    X(TensorMap)                \
    X(ArrayDescriptor)          \
    X(ArrayDescriptor3D)        \
    X(Array)                    \
    X(MipmappedArray)           \
    X(TextureObject)            \
    X(SurfaceObject)            \
    X(TextureReference)         \
    X(SurfaceReference)         \
    X(ArrayFlags)               \
    X(GPUArray)                 \
    X(Communicator)             \
    X(group)                    \
    X(_GraphResources)          \
    X(Graph)                    \
    X(GraphNode)                \
    X(GraphExec)                \
    X(StreamCapture)            \
    X(UserObject)               \
    X(_KernelRequest)           \
    X(LaunchRecord)             \
    X(_KernelCall)              \
    X(_FusedRun)                \
    X(_FusedCall)

#define PCU_STATE_ERRORS(X) \
    X(Error)                \
    X(LogicError)           \
    X(LaunchError)          \
    X(MemoryError)          \
    X(RuntimeError)         \
    X(PyCUDAWarning)

/* Other objects; each may be NULL. */
#define PCU_STATE_OBJECTS(X)                                                 \
    X(mem_alloc)         /* the module's function, which allocates arrays */ \
    X(default_allocator) /* the allocator that a program chose instead */    \
    X(deferred_textures) /* a list of objects to release after a capture */  \
    X(capture_fault)     /* str: the first call that a capture refused */    \
    X(array_ops)         /* {name: number} of elementwise operations */      \
    X(array_functions)   /* {function of NumPy: ours with its arguments} */  \
    X(foreign_context)   /* the last wrapper of another library's context */ \
    X(recorder)          /* see python/array/recording.h */                  \
    X(lost_report)       /* str: a report that was only a warning */         \
    X(lent_context)      /* weak reference: used by threads without a context */

/* Interned names, looked up on hot paths: X(name) is the string "name". */
#define PCU_STATE_STRINGS(X)    \
    X(_new_like_me)             \
    X(_run)                     \
    X(__cuda_array_interface__) \
    X(__cuda_stream__)          \
    X(allocate)                 \
    X(block)                    \
    X(cluster)                  \
    X(cooperative)              \
    X(data)                     \
    X(dtype)                    \
    X(filters)                  \
    X(get)                      \
    X(get_device_alloc)         \
    X(get_pointer)              \
    X(gpudata)                  \
    X(grid)                     \
    X(launch_config)            \
    X(nbytes)                   \
    X(post_call)                \
    X(pre_call)                 \
    X(priority)                 \
    X(programmatic)             \
    X(shared)                   \
    X(shared_size)              \
    X(size)                     \
    X(stream)                   \
    X(texrefs)                  \
    X(time_kernel)              \
    X(typestr)                  \
    X(warnings)

#define PCU_STATE_TYPE_MEMBER(name) PyTypeObject *name;
#define PCU_STATE_ERROR_MEMBER(name) PyObject *exc_##name;
#define PCU_STATE_STRING_MEMBER(name) PyObject *str_##name;
#define PCU_STATE_OBJECT_MEMBER(name) PyObject *name;
#define PCU_STATE_ENUM_MEMBER(name, doc) PyObject *enum_##name;

typedef struct {
    PCU_STATE_TYPES(PCU_STATE_TYPE_MEMBER)
    PCU_STATE_ERRORS(PCU_STATE_ERROR_MEMBER)
    PCU_STATE_STRINGS(PCU_STATE_STRING_MEMBER)
    PCU_STATE_OBJECTS(PCU_STATE_OBJECT_MEMBER)
    PCU_ENUM_CLASSES(PCU_STATE_ENUM_MEMBER)
    struct pcu_call_sites *call_sites;     /* see call_site.h; freed with the module */
    struct pcu_property_block *properties; /* owned list; freed with the module */
    PyObject *launch_names; /* owned: {str: the same}, for driver/events.h; freed with
                               the module */
    /* Warns or raises unless all elements of a GPUArray lie in its memory. Set by
     * python/array, called by launches. */
    int (*check_array)(PyObject *array);
    /* The name of the array operation of a generated kernel: a new str. Set by
     * python/array, called for the text of errors. */
    PyObject *(*kernel_name_new)(CUfunction kernel);
    bool has_device_warnings;       /* device_warnings.c gives them at exit */
    bool has_last_collection;       /* at_exit.c has registered it with atexit */
    bool has_driver_threads;        /* driver_thread.c has, too */
    unsigned long recording_thread; /* 0: none; see python/array/recording.h */
    Py_ssize_t fused_calls;         /* of fused functions, so far */
    void *curand;                   /* cuRAND; NULL until first used; never closed */
} pcu_state;

/* The module's definition. It identifies the module when the state is looked up from a
 * type. */
extern PCU_HIDDEN struct PyModuleDef pcu_module_def;

static inline pcu_state *
pcu_state_of_type(PyTypeObject *type)
{
    PyObject *module = PyType_GetModuleByDef(type, &pcu_module_def);
    if (module == NULL) {
        return NULL;
    }
    return (pcu_state *)PyModule_GetState(module);
}

static inline pcu_state *
pcu_state_of_module(PyObject *module)
{
    return (pcu_state *)PyModule_GetState(module);
}

#endif
