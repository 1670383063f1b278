/* The setup functions of the module, in the order in which module.c calls them.
 *
 * Invariant: each function adds the types and functions of one file. A file that adds
 * methods to another file's type comes after that file. */
#ifndef PYTHON_SUPPORT_SETUP_H
#define PYTHON_SUPPORT_SETUP_H

#include "python/support/base.h"

#define PCU_SETUPS(X)         \
    X(args)                   \
    X(errors)                 \
    X(call_site)              \
    X(suspects)               \
    X(enums)                  \
    X(settings)               \
    X(init)                   \
    X(launched)               \
    X(context)                \
    X(context_settings)       \
    X(context_foreign)        \
    X(context_device)         \
    X(device)                 \
    X(stream)                 \
    X(event)                  \
    X(host_function)          \
    X(graph_resources)        \
    X(timeline)               \
    X(allocation)             \
    X(stream_memory)          \
    X(managed)                \
    X(ipc)                    \
    X(host)                   \
    X(numpy_array)            \
    X(copy)                   \
    X(handlers)               \
    X(module)                 \
    X(function)               \
    X(foreign_module)         \
    X(occupancy)              \
    X(launch_config)          \
    X(tensor_map)             \
    X(array_descriptor)       \
    X(texture_array)          \
    X(mipmapped_array)        \
    X(texture_array_data)     \
    X(copy_nd)                \
    X(texture_object)         \
    X(texture_reference)      \
    X(surface_reference)      \
    X(pool)                   \
    X(page_locked_pool)       \
    X(stream_capture)         \
    X(graph)                  \
    X(graph_node)             \
    X(graph_edges)            \
    X(graph_add)              \
    X(graph_memory)           \
    X(graph_exec)             \
    X(graph_update)           \
    X(user_object)            \
    X(stream_allocation)      \
    X(stream_pool)            \
    X(stream_pool_attributes) \
    X(stream_pool_sharing)    \
    X(memory_snapshot)        \
    X(physical_memory)        \
    X(virtual_memory)         \
    X(managed_range)          \
    X(dlpack_export)          \
    X(foreign_allocation)     \
    X(dlpack_import)          \
    X(linker)                 \
    X(opengl)                 \
    X(opengl_mapping)         \
    X(opengl_registration)    \
    X(opengl_buffer_object)   \
    X(profiler)               \
    X(counts)                 \
    X(curand_tables)          \
    X(gpuarray)               \
    X(kernel_call)            \
    X(fused_run)              \
    X(fused_call)             \
    X(communicator)           \
    X(group)

#define PCU_SETUP(name) \
    PCU_HIDDEN PCU_RAISES int pcu_##name##_setup(PyObject *m, pcu_state *st);
PCU_SETUPS(PCU_SETUP)
#undef PCU_SETUP

#endif
