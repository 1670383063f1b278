/* The enumerations of pycuda.driver, X(class, docstring), and their members,
 * X(class, MEMBER, value, docstring).
 *
 * device_attribute and function_attribute have their own tables. The rows of a class
 * are consecutive. If two names of a class share a value, calls return the member of
 * the later row. test_abi.py compares the rows with cuda.h. The
 * docstrings are shown by help(), the stub and the pages. Read by
 * python/support/enums.c and tools/make_stub.py. */
#ifndef ABI_ENUMS_H
#define ABI_ENUMS_H

/* clang-format off */
#define PCU_ENUM_CLASSES(X) \
    X(address_mode, "Results of texture reads outside the image.") \
    X(array_cubemap_face, "Faces of a cube map, by layer.") \
    X(array_format, "Element formats of CUDA arrays.") \
    X(compute_mode, "Rules for making contexts on a device.") \
    X(ctx_flags, "Flags of Device.make_context.") \
    X(direction_vector_set, "Sobol direction vectors of cuRAND.") \
    X(event_flags, "Flags of Event.") \
    X(event_record_flags, "Flags of Event.record.") \
    X(event_wait_flags, "Flags of Stream.wait_for_event.") \
    X(filter_mode, "Interpolation of texture reads between elements.") \
    X(func_cache, "Preferred split of on-chip memory.") \
    X(graphics_map_flags, "Flags for mapping an OpenGL object.") \
    X(graphics_register_flags, "Flags for registering an OpenGL object.") \
    X(ipc_mem_flags, "Flags of IPCMemoryHandle.") \
    X(jit_fallback, "Fallbacks of the JIT without a matching binary.") \
    X(jit_input_type, "Kinds of input of Linker.") \
    X(jit_option, "Options of the JIT compiler.") \
    X(jit_target, "Targets of the JIT compiler.") \
    X(launch_attribute, "Attributes of LaunchConfig.") \
    X(limit, "Limits of a context.") \
    X(mem_access_flags, "Rights of a device to use memory.") \
    X(mem_advice, "Advice on the use of managed memory.") \
    X(mem_attach_flags, "Rules for access to managed memory.") \
    X(mem_pool_attribute, "Attributes of a MemoryPool.") \
    X(mem_range_attribute, "What the driver knows about managed memory.") \
    X(memory_type, "Kinds of memory in Memcpy2D and Memcpy3D.") \
    X(pointer_attribute, "Attributes of a pointer that the driver reports.") \
    X(profiler_output_mode, "Output formats of the profiler.") \
    X(shared_config, "Width of shared-memory banks.") \
    X(stream_flags, "Flags of Stream.") \
    X(stream_mem_op, "Operations of Stream.batch_memory_operations.") \
    X(stream_wait_value, "Conditions of Stream.wait_value.") \
    X(stream_write_value, "Flags of Stream.write_value.") \
    X(tensor_map_data_type, "Elements of TensorMap.") \
    X(tensor_map_interleave, "Interleaved layouts of TensorMap.") \
    X(tensor_map_l2_promotion, "Fetches of TensorMap to the L2 cache.") \
    X(tensor_map_oob_fill, "Elements outside the array of a TensorMap.") \
    X(tensor_map_swizzle, "Layouts of the tiles of TensorMap in shared memory.") \
    X(device_attribute, "Attributes for Device.get_attribute.") \
    X(function_attribute, "Attributes for Function.get_attribute.")

#define PCU_ENUMS(X) \
    /* address_mode */ \
    X(address_mode, WRAP, 0, "The image repeats.") \
    X(address_mode, CLAMP, 1, "The nearest element of the image is read.") \
    X(address_mode, MIRROR, 2, "The image repeats, every second time mirrored.") \
    X(address_mode, BORDER, 3, "The border value is read, which is 0 by default.") \
    /* array_cubemap_face */ \
    X(array_cubemap_face, POSITIVE_X, 0, "The face in the direction of positive x.") \
    X(array_cubemap_face, NEGATIVE_X, 1, "The face in the direction of negative x.") \
    X(array_cubemap_face, POSITIVE_Y, 2, "The face in the direction of positive y.") \
    X(array_cubemap_face, NEGATIVE_Y, 3, "The face in the direction of negative y.") \
    X(array_cubemap_face, POSITIVE_Z, 4, "The face in the direction of positive z.") \
    X(array_cubemap_face, NEGATIVE_Z, 5, "The face in the direction of negative z.") \
    /* array_format */ \
    X(array_format, UNSIGNED_INT8, 1, "Unsigned integers of 8 bits.") \
    X(array_format, UNSIGNED_INT16, 2, "Unsigned integers of 16 bits.") \
    X(array_format, UNSIGNED_INT32, 3, "Unsigned integers of 32 bits.") \
    X(array_format, SIGNED_INT8, 8, "Signed integers of 8 bits.") \
    X(array_format, SIGNED_INT16, 9, "Signed integers of 16 bits.") \
    X(array_format, SIGNED_INT32, 10, "Signed integers of 32 bits.") \
    X(array_format, HALF, 16, "Floating-point numbers of 16 bits.") \
    X(array_format, FLOAT, 32, "Floating-point numbers of 32 bits.") \
    /* compute_mode */ \
    X(compute_mode, DEFAULT, 0, "Several processes may have contexts.") \
    X(compute_mode, PROHIBITED, 2, "No process may have a context.") \
    X(compute_mode, EXCLUSIVE_PROCESS, 3, "One process at a time may have contexts.") \
    X(compute_mode, EXCLUSIVE, 1, "One thread at a time may have a context. Drivers no longer have this mode.") \
    /* ctx_flags */ \
    X(ctx_flags, SCHED_AUTO, 0, "The driver chooses between SCHED_SPIN and SCHED_YIELD.") \
    X(ctx_flags, SCHED_SPIN, 1, "A waiting thread keeps its CPU busy: the lowest latency.") \
    X(ctx_flags, SCHED_YIELD, 2, "A waiting thread lets other threads run between its looks.") \
    X(ctx_flags, SCHED_MASK, 7, "The bits that say how a thread waits.") \
    X(ctx_flags, BLOCKING_SYNC, 4, "The older name of SCHED_BLOCKING_SYNC.") \
    X(ctx_flags, SCHED_BLOCKING_SYNC, 4, "A waiting thread sleeps until the device is done.") \
    X(ctx_flags, MAP_HOST, 8, "Kernels can use page-locked memory. Since CUDA 3.2 this is always so.") \
    X(ctx_flags, LMEM_RESIZE_TO_MAX, 16, "Local memory is not made smaller after a kernel that needed much.") \
    X(ctx_flags, FLAGS_MASK, 255, "All bits that are flags.") \
    /* direction_vector_set */ \
    X(direction_vector_set, VECTOR_32, 101, "Vectors of 32 bits for 20,000 dimensions, by Joe and Kuo.") \
    X(direction_vector_set, SCRAMBLED_VECTOR_32, 102, "Scrambled vectors of 32 bits for 20,000 dimensions.") \
    X(direction_vector_set, VECTOR_64, 103, "Vectors of 64 bits for 20,000 dimensions, by Joe and Kuo.") \
    X(direction_vector_set, SCRAMBLED_VECTOR_64, 104, "Scrambled vectors of 64 bits for 20,000 dimensions.") \
    /* event_flags */ \
    X(event_flags, DEFAULT, 0, "The event records times; a waiting thread keeps its CPU busy.") \
    X(event_flags, BLOCKING_SYNC, 1, "A thread that waits for the event sleeps.") \
    X(event_flags, DISABLE_TIMING, 2, "The event records no times, which makes it cheaper.") \
    X(event_flags, INTERPROCESS, 4, "Other processes can open the event. DISABLE_TIMING is needed, too.") \
    /* event_record_flags */ \
    X(event_record_flags, DEFAULT, 0, "In a capture, the event marks a place in the graph.") \
    X(event_record_flags, EXTERNAL, 1, "In a capture, the graph gets a node that records the event at each launch.") \
    /* event_wait_flags */ \
    X(event_wait_flags, DEFAULT, 0, "In a capture, the wait becomes a dependency in the graph.") \
    X(event_wait_flags, EXTERNAL, 1, "In a capture, the graph gets a node that waits for the event at each launch.") \
    /* filter_mode */ \
    X(filter_mode, POINT, 0, "The nearest element is read.") \
    X(filter_mode, LINEAR, 1, "Elements around the place are interpolated.") \
    /* func_cache */ \
    X(func_cache, PREFER_NONE, 0, "No preference.") \
    X(func_cache, PREFER_SHARED, 1, "More shared memory, a smaller L1 cache.") \
    X(func_cache, PREFER_L1, 2, "A larger L1 cache, less shared memory.") \
    X(func_cache, PREFER_EQUAL, 3, "Shared memory and L1 cache of the same size.") \
    /* graphics_map_flags */ \
    X(graphics_map_flags, NONE, 0, "Kernels may read and write the object.") \
    X(graphics_map_flags, READ_ONLY, 1, "Kernels only read the object.") \
    X(graphics_map_flags, WRITE_DISCARD, 2, "Kernels only write the object; its earlier contents are lost.") \
    /* graphics_register_flags */ \
    X(graphics_register_flags, NONE, 0, "Kernels may read and write the object.") \
    X(graphics_register_flags, READ_ONLY, 1, "Kernels only read the object.") \
    X(graphics_register_flags, WRITE_DISCARD, 2, "Kernels only write the object; its earlier contents are lost.") \
    X(graphics_register_flags, SURFACE_LDST, 4, "The object can be bound to a surface reference.") \
    X(graphics_register_flags, TEXTURE_GATHER, 8, "Kernels can gather from the object as a texture.") \
    /* ipc_mem_flags */ \
    X(ipc_mem_flags, LAZY_ENABLE_PEER_ACCESS, 1, "Access to the device that owns the memory is enabled when needed.") \
    /* jit_fallback */ \
    X(jit_fallback, PREFER_PTX, 0, "PTX is compiled if no binary matches exactly.") \
    X(jit_fallback, PREFER_BINARY, 1, "A compatible binary is used if none matches exactly.") \
    /* jit_input_type */ \
    X(jit_input_type, CUBIN, 0, "Device code for one architecture.") \
    X(jit_input_type, PTX, 1, "PTX as text.") \
    X(jit_input_type, FATBINARY, 2, "Several cubins and PTX texts in one file.") \
    X(jit_input_type, OBJECT, 3, "An object file of the host with device code in it.") \
    X(jit_input_type, LIBRARY, 4, "A library of such object files.") \
    /* jit_option */ \
    X(jit_option, MAX_REGISTERS, 0, "The largest number of registers of a thread.") \
    X(jit_option, THREADS_PER_BLOCK, 1, "The number of threads of a block to compile for; afterwards the number reached.") \
    X(jit_option, WALL_TIME, 2, "The time that the compiler took, in ms. An output.") \
    X(jit_option, INFO_LOG_BUFFER, 3, "The address of a buffer for messages.") \
    X(jit_option, INFO_LOG_BUFFER_SIZE_BYTES, 4, "The size of that buffer, in bytes; afterwards the bytes that were written.") \
    X(jit_option, ERROR_LOG_BUFFER, 5, "The address of a buffer for errors.") \
    X(jit_option, ERROR_LOG_BUFFER_SIZE_BYTES, 6, "The size of that buffer, in bytes; afterwards the bytes that were written.") \
    X(jit_option, OPTIMIZATION_LEVEL, 7, "The level of optimization, 0 to 4; 4 by default.") \
    X(jit_option, TARGET_FROM_CUCONTEXT, 8, "Compile for the device of the current context, the default.") \
    X(jit_option, TARGET, 9, "The architecture to compile for, a jit_target.") \
    X(jit_option, FALLBACK_STRATEGY, 10, "What to do if no binary matches, a jit_fallback.") \
    /* jit_target */ \
    X(jit_target, COMPUTE_30, 30, "Compute capability 3.0.") \
    X(jit_target, COMPUTE_32, 32, "Compute capability 3.2.") \
    X(jit_target, COMPUTE_35, 35, "Compute capability 3.5.") \
    X(jit_target, COMPUTE_37, 37, "Compute capability 3.7.") \
    X(jit_target, COMPUTE_50, 50, "Compute capability 5.0.") \
    X(jit_target, COMPUTE_52, 52, "Compute capability 5.2.") \
    X(jit_target, COMPUTE_53, 53, "Compute capability 5.3.") \
    X(jit_target, COMPUTE_60, 60, "Compute capability 6.0.") \
    X(jit_target, COMPUTE_61, 61, "Compute capability 6.1.") \
    X(jit_target, COMPUTE_62, 62, "Compute capability 6.2.") \
    X(jit_target, COMPUTE_70, 70, "Compute capability 7.0.") \
    X(jit_target, COMPUTE_72, 72, "Compute capability 7.2.") \
    X(jit_target, COMPUTE_75, 75, "Compute capability 7.5.") \
    X(jit_target, COMPUTE_80, 80, "Compute capability 8.0.") \
    X(jit_target, COMPUTE_86, 86, "Compute capability 8.6.") \
    X(jit_target, COMPUTE_90, 90, "Compute capability 9.0.") \
    X(jit_target, COMPUTE_90A, 65626, "Compute capability 9.0, and what only this architecture has.") \
    X(jit_target, COMPUTE_87, 87, "Compute capability 8.7.") \
    X(jit_target, COMPUTE_89, 89, "Compute capability 8.9.") \
    X(jit_target, COMPUTE_100, 100, "Compute capability 10.0.") \
    X(jit_target, COMPUTE_103, 103, "Compute capability 10.3.") \
    X(jit_target, COMPUTE_110, 110, "Compute capability 11.0.") \
    X(jit_target, COMPUTE_120, 120, "Compute capability 12.0.") \
    X(jit_target, COMPUTE_121, 121, "Compute capability 12.1.") \
    X(jit_target, COMPUTE_100A, 65636, "Compute capability 10.0, and what only this architecture has.") \
    X(jit_target, COMPUTE_103A, 65639, "Compute capability 10.3, and what only this architecture has.") \
    X(jit_target, COMPUTE_110A, 65646, "Compute capability 11.0, and what only this architecture has.") \
    X(jit_target, COMPUTE_120A, 65656, "Compute capability 12.0, and what only this architecture has.") \
    X(jit_target, COMPUTE_121A, 65657, "Compute capability 12.1, and what only this architecture has.") \
    X(jit_target, COMPUTE_10, 10, "Compute capability 1.0.") \
    X(jit_target, COMPUTE_11, 11, "Compute capability 1.1.") \
    X(jit_target, COMPUTE_12, 12, "Compute capability 1.2.") \
    X(jit_target, COMPUTE_13, 13, "Compute capability 1.3.") \
    X(jit_target, COMPUTE_20, 20, "Compute capability 2.0.") \
    X(jit_target, COMPUTE_21, 21, "Compute capability 2.1.") \
    /* launch_attribute */ \
    X(launch_attribute, ACCESS_POLICY_WINDOW, 1, "A range of memory that the L2 cache prefers to keep.") \
    X(launch_attribute, COOPERATIVE, 2, "1: all blocks are on the device together.") \
    X(launch_attribute, SYNCHRONIZATION_POLICY, 3, "How threads wait for a stream. For streams, not for launches.") \
    X(launch_attribute, CLUSTER_DIMENSION, 4, "The size of a cluster, in blocks.") \
    X(launch_attribute, CLUSTER_SCHEDULING_POLICY_PREFERENCE, 5, "Order of clusters: 0 default, 1 spread over multiprocessors, 2 balanced.") \
    X(launch_attribute, PROGRAMMATIC_STREAM_SERIALIZATION, 6, "1: the kernel may begin before the kernel ahead of it has ended.") \
    X(launch_attribute, PROGRAMMATIC_EVENT, 7, "An event that is recorded when all blocks have triggered it.") \
    X(launch_attribute, PRIORITY, 8, "The priority of the launch; a lower number is a higher priority.") \
    X(launch_attribute, MEM_SYNC_DOMAIN_MAP, 9, "The numbers of the default and the remote memory synchronization domain.") \
    X(launch_attribute, MEM_SYNC_DOMAIN, 10, "The memory synchronization domain: 0 default, 1 remote.") \
    X(launch_attribute, PREFERRED_CLUSTER_DIMENSION, 11, "The size of a cluster where it fits, in blocks: a multiple of CLUSTER_DIMENSION.") \
    X(launch_attribute, LAUNCH_COMPLETION_EVENT, 12, "An event that is recorded when all blocks have begun.") \
    X(launch_attribute, PREFERRED_SHARED_MEMORY_CARVEOUT, 14, "The preferred part of on-chip memory for shared memory, in percent.") \
    X(launch_attribute, NVLINK_UTIL_CENTRIC_SCHEDULING, 16, "1: a hint to place blocks, which cause equal traffic, so that NVLink is used most.") \
    /* limit */ \
    X(limit, STACK_SIZE, 0, "The stack of a thread, in bytes.") \
    X(limit, PRINTF_FIFO_SIZE, 1, "The buffer for output of printf in kernels, in bytes.") \
    X(limit, MALLOC_HEAP_SIZE, 2, "The heap for malloc in kernels, in bytes.") \
    X(limit, DEV_RUNTIME_SYNC_DEPTH, 3, "The deepest level of kernels started by kernels that can wait. Deprecated.") \
    X(limit, DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4, "The number of launches by kernels that can be pending.") \
    X(limit, MAX_L2_FETCH_GRANULARITY, 5, "The bytes that the L2 cache fetches at once, 0 to 128. A hint.") \
    X(limit, PERSISTING_L2_CACHE_SIZE, 6, "The part of the L2 cache for persisting data, in bytes.") \
    X(limit, SHMEM_SIZE, 7, "The shared memory that kernels of a CIG context can use, in bytes. Read only.") \
    X(limit, CIG_ENABLED, 8, "Not 0 if the context shares the device with a graphics queue (CIG). Read only.") \
    X(limit, CIG_SHMEM_FALLBACK_ENABLED, 9, "0: in a CIG context, launches with too much shared memory fail.") \
    /* mem_access_flags */ \
    X(mem_access_flags, NONE, 0, "The device can neither read nor write the memory.") \
    X(mem_access_flags, READ, 1, "The device can read the memory.") \
    X(mem_access_flags, READWRITE, 3, "The device can read and write the memory.") \
    /* mem_advice */ \
    X(mem_advice, SET_READ_MOSTLY, 1, "The memory is mostly read: each processor gets a copy of what it reads.") \
    X(mem_advice, UNSET_READ_MOSTLY, 2, "Undo SET_READ_MOSTLY.") \
    X(mem_advice, SET_PREFERRED_LOCATION, 3, "The memory stays at the given place if possible.") \
    X(mem_advice, UNSET_PREFERRED_LOCATION, 4, "Undo SET_PREFERRED_LOCATION.") \
    X(mem_advice, SET_ACCESSED_BY, 5, "The given device uses the memory: keep it mapped there, without page faults.") \
    X(mem_advice, UNSET_ACCESSED_BY, 6, "Undo SET_ACCESSED_BY.") \
    /* mem_attach_flags */ \
    X(mem_attach_flags, GLOBAL, 1, "All streams of all devices can use the memory.") \
    X(mem_attach_flags, HOST, 2, "No stream of a device can use the memory, only the host.") \
    X(mem_attach_flags, SINGLE, 4, "One stream of a device can use the memory.") \
    /* mem_pool_attribute */ \
    X(mem_pool_attribute, REUSE_FOLLOW_EVENT_DEPENDENCIES, 1, "True: reuse memory of another stream if events order the streams.") \
    X(mem_pool_attribute, REUSE_ALLOW_OPPORTUNISTIC, 2, "True: reuse memory of another stream if its free is done.") \
    X(mem_pool_attribute, REUSE_ALLOW_INTERNAL_DEPENDENCIES, 3, "True: reuse memory of another stream, which the new stream waits for.") \
    X(mem_pool_attribute, RELEASE_THRESHOLD, 4, "Unused bytes that the pool keeps when the program waits for the device.") \
    X(mem_pool_attribute, RESERVED_MEM_CURRENT, 5, "The memory that the pool has from the device, in bytes.") \
    X(mem_pool_attribute, RESERVED_MEM_HIGH, 6, "The highest RESERVED_MEM_CURRENT since it was set to 0, in bytes.") \
    X(mem_pool_attribute, USED_MEM_CURRENT, 7, "The memory of the pool that the program uses, in bytes.") \
    X(mem_pool_attribute, USED_MEM_HIGH, 8, "The highest USED_MEM_CURRENT since it was set to 0, in bytes.") \
    /* mem_range_attribute */ \
    X(mem_range_attribute, READ_MOSTLY, 1, "True if all pages were advised SET_READ_MOSTLY, otherwise False.") \
    X(mem_range_attribute, PREFERRED_LOCATION, 2, "The preferred place of all pages: a Device, 'host' or None.") \
    X(mem_range_attribute, ACCESSED_BY, 3, "The places for which SET_ACCESSED_BY was given, a list.") \
    X(mem_range_attribute, LAST_PREFETCH_LOCATION, 4, "The place of the last prefetch: a Device, 'host' or None.") \
    X(mem_range_attribute, PREFERRED_LOCATION_TYPE, 5, "The kind of the preferred place: 0 none, 1 device, 2 host, 3 and 4 NUMA node.") \
    X(mem_range_attribute, PREFERRED_LOCATION_ID, 6, "The number of the device or NUMA node of the preferred place.") \
    X(mem_range_attribute, LAST_PREFETCH_LOCATION_TYPE, 7, "The kind of the place of the last prefetch, as in PREFERRED_LOCATION_TYPE.") \
    X(mem_range_attribute, LAST_PREFETCH_LOCATION_ID, 8, "The number of the device or NUMA node of the last prefetch.") \
    /* memory_type */ \
    X(memory_type, HOST, 1, "Memory of the host.") \
    X(memory_type, DEVICE, 2, "Memory of a device.") \
    X(memory_type, ARRAY, 3, "A CUDA array.") \
    X(memory_type, UNIFIED, 4, "Memory at an address that the host and the devices share.") \
    /* pointer_attribute */ \
    X(pointer_attribute, CONTEXT, 1, "The CUcontext in which the memory was allocated, an address.") \
    X(pointer_attribute, MEMORY_TYPE, 2, "The kind of the memory, a memory_type.") \
    X(pointer_attribute, DEVICE_POINTER, 3, "The address that kernels use.") \
    X(pointer_attribute, HOST_POINTER, 4, "The address that the host uses.") \
    X(pointer_attribute, P2P_TOKENS, 5, "Two tokens for the kernel module of Linux that uses GPUDirect RDMA.") \
    X(pointer_attribute, SYNC_MEMOPS, 6, "1 if copies of this memory always wait, otherwise 0.") \
    X(pointer_attribute, BUFFER_ID, 7, "A number that no other allocation of the process has.") \
    X(pointer_attribute, IS_MANAGED, 8, "1 if the memory is managed, otherwise 0.") \
    X(pointer_attribute, DEVICE_ORDINAL, 9, "The number of the device that has the memory.") \
    X(pointer_attribute, IS_LEGACY_CUDA_IPC_CAPABLE, 10, "1 if IPCMemoryHandle can share the memory, otherwise 0.") \
    X(pointer_attribute, RANGE_START_ADDR, 11, "The first address of the allocation.") \
    X(pointer_attribute, RANGE_SIZE, 12, "The size of the allocation, in bytes.") \
    X(pointer_attribute, MAPPED, 13, "1 if there is memory behind the address, otherwise 0.") \
    X(pointer_attribute, ALLOWED_HANDLE_TYPES, 14, "Handles that can share the memory, as bits: 1 POSIX, 2 Windows NT, 4 KMT, 8 fabric.") \
    X(pointer_attribute, IS_GPU_DIRECT_RDMA_CAPABLE, 15, "1 if other devices can use the memory by GPUDirect RDMA, otherwise 0.") \
    X(pointer_attribute, ACCESS_FLAGS, 16, "The rights of the current context's device, as mem_access_flags.") \
    X(pointer_attribute, MEMPOOL_HANDLE, 17, "The CUmemoryPool of the memory; 0 if there is none.") \
    X(pointer_attribute, MAPPING_SIZE, 18, "The size of the mapping that holds the address, in bytes.") \
    X(pointer_attribute, MAPPING_BASE_ADDR, 19, "The first address of the mapping that holds the address.") \
    X(pointer_attribute, MEMORY_BLOCK_ID, 20, "A number that no other physical memory of the process has.") \
    X(pointer_attribute, IS_HW_DECOMPRESS_CAPABLE, 21, "1 if the hardware can decompress into the memory, otherwise 0.") \
    /* profiler_output_mode */ \
    X(profiler_output_mode, KEY_VALUE_PAIR, 0, "Lines of names and values.") \
    X(profiler_output_mode, CSV, 1, "Values with commas between them.") \
    /* shared_config */ \
    X(shared_config, DEFAULT_BANK_SIZE, 0, "The width that the context has.") \
    X(shared_config, FOUR_BYTE_BANK_SIZE, 1, "Banks of 4 bytes.") \
    X(shared_config, EIGHT_BYTE_BANK_SIZE, 2, "Banks of 8 bytes.") \
    /* stream_flags */ \
    X(stream_flags, DEFAULT, 0, "The stream and the default stream wait for each other.") \
    X(stream_flags, NON_BLOCKING, 1, "The stream and the default stream never wait for each other.") \
    /* stream_mem_op */ \
    X(stream_mem_op, WAIT_VALUE_32, 1, "Wait until a value of 32 bits in memory meets a condition.") \
    X(stream_mem_op, WRITE_VALUE_32, 2, "Write a value of 32 bits.") \
    X(stream_mem_op, FLUSH_REMOTE_WRITES, 3, "Flush the writes of other devices to this one.") \
    X(stream_mem_op, WAIT_VALUE_64, 4, "Wait until a value of 64 bits in memory meets a condition.") \
    X(stream_mem_op, WRITE_VALUE_64, 5, "Write a value of 64 bits.") \
    X(stream_mem_op, BARRIER, 6, "Order memory accesses before and after it.") \
    /* stream_wait_value */ \
    X(stream_wait_value, GEQ, 0, "Wait until the value in memory is at least the given one. The numbers are cyclic.") \
    X(stream_wait_value, EQ, 1, "Wait until the value in memory is the given one.") \
    X(stream_wait_value, AND, 2, "Wait until value & given is not 0.") \
    X(stream_wait_value, NOR, 3, "Wait until ~(value | given) is not 0.") \
    X(stream_wait_value, FLUSH, 1073741824, "A flag beside the others: after the wait, flush the writes of other devices.") \
    /* stream_write_value */ \
    X(stream_write_value, DEFAULT, 0, "Earlier writes of the stream are visible before the value.") \
    X(stream_write_value, NO_MEMORY_BARRIER, 1, "The value may become visible before earlier writes.") \
    /* tensor_map_data_type */ \
    X(tensor_map_data_type, UINT8, 0, "Unsigned integers of 8 bits.") \
    X(tensor_map_data_type, UINT16, 1, "Unsigned integers of 16 bits.") \
    X(tensor_map_data_type, UINT32, 2, "Unsigned integers of 32 bits.") \
    X(tensor_map_data_type, INT32, 3, "Signed integers of 32 bits.") \
    X(tensor_map_data_type, UINT64, 4, "Unsigned integers of 64 bits.") \
    X(tensor_map_data_type, INT64, 5, "Signed integers of 64 bits.") \
    X(tensor_map_data_type, FLOAT16, 6, "Floating-point numbers of 16 bits.") \
    X(tensor_map_data_type, FLOAT32, 7, "Floating-point numbers of 32 bits.") \
    X(tensor_map_data_type, FLOAT64, 8, "Floating-point numbers of 64 bits.") \
    X(tensor_map_data_type, BFLOAT16, 9, "Floating-point numbers of 16 bits with the range of 32 bits (bfloat16).") \
    X(tensor_map_data_type, FLOAT32_FTZ, 10, "Floating-point numbers of 32 bits; subnormal numbers become 0.") \
    X(tensor_map_data_type, TFLOAT32, 11, "Floating-point numbers of 32 bits, rounded to TF32.") \
    X(tensor_map_data_type, TFLOAT32_FTZ, 12, "Floating-point numbers of 32 bits, rounded to TF32; subnormal numbers become 0.") \
    /* tensor_map_interleave */ \
    X(tensor_map_interleave, INTERLEAVE_NONE, 0, "Elements are not interleaved.") \
    X(tensor_map_interleave, INTERLEAVE_16B, 1, "Channels are stored in groups of 16 bytes.") \
    X(tensor_map_interleave, INTERLEAVE_32B, 2, "Channels are stored in groups of 32 bytes.") \
    /* tensor_map_l2_promotion */ \
    X(tensor_map_l2_promotion, NONE, 0, "Only what is needed is fetched.") \
    X(tensor_map_l2_promotion, L2_64B, 1, "At least 64 bytes are fetched.") \
    X(tensor_map_l2_promotion, L2_128B, 2, "At least 128 bytes are fetched.") \
    X(tensor_map_l2_promotion, L2_256B, 3, "At least 256 bytes are fetched.") \
    /* tensor_map_oob_fill */ \
    X(tensor_map_oob_fill, NONE, 0, "Elements outside the array are 0.") \
    X(tensor_map_oob_fill, NAN_REQUEST_ZERO_FMA, 1, "Elements outside are a NaN that fused multiply-adds take as 0.") \
    /* tensor_map_swizzle */ \
    X(tensor_map_swizzle, SWIZZLE_NONE, 0, "Rows are stored as they are.") \
    X(tensor_map_swizzle, SWIZZLE_32B, 1, "Units of 16 bytes are exchanged within spans of 32 bytes.") \
    X(tensor_map_swizzle, SWIZZLE_64B, 2, "Units of 16 bytes are exchanged within spans of 64 bytes.") \
    X(tensor_map_swizzle, SWIZZLE_128B, 3, "Units of 16 bytes are exchanged within spans of 128 bytes.")

/* Classes of plain ints, to be or-ed: X(class, docstring, rows), and their rows,
 * X(class, name, value, docstring). Some names are not identifiers. */
#define PCU_ARRAY3D_FLAGS(X) \
    X(array3d_flags, "2DARRAY", 1, "The older name of LAYERED.") \
    X(array3d_flags, "ARRAY3D_2DARRAY", 1, "The older name of LAYERED.") \
    X(array3d_flags, "ARRAY3D_LAYERED", 1, "The older name of LAYERED.") \
    X(array3d_flags, "LAYERED", 1, "The array has layers; the depth is their number.") \
    X(array3d_flags, "SURFACE_LDST", 2, "The array can be bound to a surface reference.") \
    X(array3d_flags, "CUBEMAP", 4, "The array is a cube map of 6 faces; with LAYERED, several.") \
    X(array3d_flags, "TEXTURE_GATHER", 8, "Kernels can gather from the array as a texture.")

#define PCU_HOST_ALLOC_FLAGS(X) \
    X(host_alloc_flags, "PORTABLE", 1, "The memory is page-locked for all contexts.") \
    X(host_alloc_flags, "DEVICEMAP", 2, "Kernels can use the memory, at its device address.") \
    X(host_alloc_flags, "WRITECOMBINED", 4, "Fast for the host to write and to copy, slow to read.")

#define PCU_MEM_HOST_REGISTER_FLAGS(X) \
    X(mem_host_register_flags, "PORTABLE", 1, "The memory is page-locked for all contexts.") \
    X(mem_host_register_flags, "DEVICEMAP", 2, "Kernels can use the memory, at its device address.")

#define PCU_PLAIN_CLASSES(X) \
    X(array3d_flags, "Flags of ArrayDescriptor3D, to be or-ed.", PCU_ARRAY3D_FLAGS) \
    X(host_alloc_flags, "Flags of page-locked memory, to be or-ed.", PCU_HOST_ALLOC_FLAGS) \
    X(mem_host_register_flags, "Flags of register_host_memory, to be or-ed.", PCU_MEM_HOST_REGISTER_FLAGS)
/* clang-format on */

#endif
