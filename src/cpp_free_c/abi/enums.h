/* The enumerations of pycuda.driver, X(class, docstring), and their members,
 * X(class, MEMBER, value).
 *
 * device_attribute and function_attribute have their own tables. The rows of a class
 * are consecutive. If two names of a class share a value, calls return the member of
 * the later row. test_abi.py compares the rows with cuda.h. Read by
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
    X(direction_vector_set, "cuRAND's sets of Sobol direction vectors.") \
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
    X(address_mode, WRAP, 0) \
    X(address_mode, CLAMP, 1) \
    X(address_mode, MIRROR, 2) \
    X(address_mode, BORDER, 3) \
    /* array_cubemap_face */ \
    X(array_cubemap_face, POSITIVE_X, 0) \
    X(array_cubemap_face, NEGATIVE_X, 1) \
    X(array_cubemap_face, POSITIVE_Y, 2) \
    X(array_cubemap_face, NEGATIVE_Y, 3) \
    X(array_cubemap_face, POSITIVE_Z, 4) \
    X(array_cubemap_face, NEGATIVE_Z, 5) \
    /* array_format */ \
    X(array_format, UNSIGNED_INT8, 1) \
    X(array_format, UNSIGNED_INT16, 2) \
    X(array_format, UNSIGNED_INT32, 3) \
    X(array_format, SIGNED_INT8, 8) \
    X(array_format, SIGNED_INT16, 9) \
    X(array_format, SIGNED_INT32, 10) \
    X(array_format, HALF, 16) \
    X(array_format, FLOAT, 32) \
    /* compute_mode */ \
    X(compute_mode, DEFAULT, 0) \
    X(compute_mode, PROHIBITED, 2) \
    X(compute_mode, EXCLUSIVE_PROCESS, 3) \
    X(compute_mode, EXCLUSIVE, 1) \
    /* ctx_flags */ \
    X(ctx_flags, SCHED_AUTO, 0) \
    X(ctx_flags, SCHED_SPIN, 1) \
    X(ctx_flags, SCHED_YIELD, 2) \
    X(ctx_flags, SCHED_MASK, 7) \
    X(ctx_flags, BLOCKING_SYNC, 4) \
    X(ctx_flags, SCHED_BLOCKING_SYNC, 4) \
    X(ctx_flags, MAP_HOST, 8) \
    X(ctx_flags, LMEM_RESIZE_TO_MAX, 16) \
    X(ctx_flags, FLAGS_MASK, 255) \
    /* direction_vector_set */ \
    X(direction_vector_set, VECTOR_32, 101) \
    X(direction_vector_set, SCRAMBLED_VECTOR_32, 102) \
    X(direction_vector_set, VECTOR_64, 103) \
    X(direction_vector_set, SCRAMBLED_VECTOR_64, 104) \
    /* event_flags */ \
    X(event_flags, DEFAULT, 0) \
    X(event_flags, BLOCKING_SYNC, 1) \
    X(event_flags, DISABLE_TIMING, 2) \
    X(event_flags, INTERPROCESS, 4) \
    /* event_record_flags */ \
    X(event_record_flags, DEFAULT, 0) \
    X(event_record_flags, EXTERNAL, 1) \
    /* event_wait_flags */ \
    X(event_wait_flags, DEFAULT, 0) \
    X(event_wait_flags, EXTERNAL, 1) \
    /* filter_mode */ \
    X(filter_mode, POINT, 0) \
    X(filter_mode, LINEAR, 1) \
    /* func_cache */ \
    X(func_cache, PREFER_NONE, 0) \
    X(func_cache, PREFER_SHARED, 1) \
    X(func_cache, PREFER_L1, 2) \
    X(func_cache, PREFER_EQUAL, 3) \
    /* graphics_map_flags */ \
    X(graphics_map_flags, NONE, 0) \
    X(graphics_map_flags, READ_ONLY, 1) \
    X(graphics_map_flags, WRITE_DISCARD, 2) \
    /* graphics_register_flags */ \
    X(graphics_register_flags, NONE, 0) \
    X(graphics_register_flags, READ_ONLY, 1) \
    X(graphics_register_flags, WRITE_DISCARD, 2) \
    X(graphics_register_flags, SURFACE_LDST, 4) \
    X(graphics_register_flags, TEXTURE_GATHER, 8) \
    /* ipc_mem_flags */ \
    X(ipc_mem_flags, LAZY_ENABLE_PEER_ACCESS, 1) \
    /* jit_fallback */ \
    X(jit_fallback, PREFER_PTX, 0) \
    X(jit_fallback, PREFER_BINARY, 1) \
    /* jit_input_type */ \
    X(jit_input_type, CUBIN, 0) \
    X(jit_input_type, PTX, 1) \
    X(jit_input_type, FATBINARY, 2) \
    X(jit_input_type, OBJECT, 3) \
    X(jit_input_type, LIBRARY, 4) \
    /* jit_option */ \
    X(jit_option, MAX_REGISTERS, 0) \
    X(jit_option, THREADS_PER_BLOCK, 1) \
    X(jit_option, WALL_TIME, 2) \
    X(jit_option, INFO_LOG_BUFFER, 3) \
    X(jit_option, INFO_LOG_BUFFER_SIZE_BYTES, 4) \
    X(jit_option, ERROR_LOG_BUFFER, 5) \
    X(jit_option, ERROR_LOG_BUFFER_SIZE_BYTES, 6) \
    X(jit_option, OPTIMIZATION_LEVEL, 7) \
    X(jit_option, TARGET_FROM_CUCONTEXT, 8) \
    X(jit_option, TARGET, 9) \
    X(jit_option, FALLBACK_STRATEGY, 10) \
    /* jit_target */ \
    X(jit_target, COMPUTE_30, 30) \
    X(jit_target, COMPUTE_32, 32) \
    X(jit_target, COMPUTE_35, 35) \
    X(jit_target, COMPUTE_37, 37) \
    X(jit_target, COMPUTE_50, 50) \
    X(jit_target, COMPUTE_52, 52) \
    X(jit_target, COMPUTE_53, 53) \
    X(jit_target, COMPUTE_60, 60) \
    X(jit_target, COMPUTE_61, 61) \
    X(jit_target, COMPUTE_62, 62) \
    X(jit_target, COMPUTE_70, 70) \
    X(jit_target, COMPUTE_72, 72) \
    X(jit_target, COMPUTE_75, 75) \
    X(jit_target, COMPUTE_80, 80) \
    X(jit_target, COMPUTE_86, 86) \
    X(jit_target, COMPUTE_90, 90) \
    X(jit_target, COMPUTE_90A, 65626) \
    X(jit_target, COMPUTE_87, 87) \
    X(jit_target, COMPUTE_89, 89) \
    X(jit_target, COMPUTE_100, 100) \
    X(jit_target, COMPUTE_103, 103) \
    X(jit_target, COMPUTE_110, 110) \
    X(jit_target, COMPUTE_120, 120) \
    X(jit_target, COMPUTE_121, 121) \
    X(jit_target, COMPUTE_100A, 65636) \
    X(jit_target, COMPUTE_103A, 65639) \
    X(jit_target, COMPUTE_110A, 65646) \
    X(jit_target, COMPUTE_120A, 65656) \
    X(jit_target, COMPUTE_121A, 65657) \
    X(jit_target, COMPUTE_10, 10) \
    X(jit_target, COMPUTE_11, 11) \
    X(jit_target, COMPUTE_12, 12) \
    X(jit_target, COMPUTE_13, 13) \
    X(jit_target, COMPUTE_20, 20) \
    X(jit_target, COMPUTE_21, 21) \
    /* launch_attribute */ \
    X(launch_attribute, ACCESS_POLICY_WINDOW, 1) \
    X(launch_attribute, COOPERATIVE, 2) \
    X(launch_attribute, SYNCHRONIZATION_POLICY, 3) \
    X(launch_attribute, CLUSTER_DIMENSION, 4) \
    X(launch_attribute, CLUSTER_SCHEDULING_POLICY_PREFERENCE, 5) \
    X(launch_attribute, PROGRAMMATIC_STREAM_SERIALIZATION, 6) \
    X(launch_attribute, PROGRAMMATIC_EVENT, 7) \
    X(launch_attribute, PRIORITY, 8) \
    X(launch_attribute, MEM_SYNC_DOMAIN_MAP, 9) \
    X(launch_attribute, MEM_SYNC_DOMAIN, 10) \
    X(launch_attribute, PREFERRED_CLUSTER_DIMENSION, 11) \
    X(launch_attribute, LAUNCH_COMPLETION_EVENT, 12) \
    X(launch_attribute, PREFERRED_SHARED_MEMORY_CARVEOUT, 14) \
    X(launch_attribute, NVLINK_UTIL_CENTRIC_SCHEDULING, 16) \
    /* limit */ \
    X(limit, STACK_SIZE, 0) \
    X(limit, PRINTF_FIFO_SIZE, 1) \
    X(limit, MALLOC_HEAP_SIZE, 2) \
    X(limit, DEV_RUNTIME_SYNC_DEPTH, 3) \
    X(limit, DEV_RUNTIME_PENDING_LAUNCH_COUNT, 4) \
    X(limit, MAX_L2_FETCH_GRANULARITY, 5) \
    X(limit, PERSISTING_L2_CACHE_SIZE, 6) \
    X(limit, SHMEM_SIZE, 7) \
    X(limit, CIG_ENABLED, 8) \
    X(limit, CIG_SHMEM_FALLBACK_ENABLED, 9) \
    /* mem_access_flags */ \
    X(mem_access_flags, NONE, 0) \
    X(mem_access_flags, READ, 1) \
    X(mem_access_flags, READWRITE, 3) \
    /* mem_advice */ \
    X(mem_advice, SET_READ_MOSTLY, 1) \
    X(mem_advice, UNSET_READ_MOSTLY, 2) \
    X(mem_advice, SET_PREFERRED_LOCATION, 3) \
    X(mem_advice, UNSET_PREFERRED_LOCATION, 4) \
    X(mem_advice, SET_ACCESSED_BY, 5) \
    X(mem_advice, UNSET_ACCESSED_BY, 6) \
    /* mem_attach_flags */ \
    X(mem_attach_flags, GLOBAL, 1) \
    X(mem_attach_flags, HOST, 2) \
    X(mem_attach_flags, SINGLE, 4) \
    /* mem_pool_attribute */ \
    X(mem_pool_attribute, REUSE_FOLLOW_EVENT_DEPENDENCIES, 1) \
    X(mem_pool_attribute, REUSE_ALLOW_OPPORTUNISTIC, 2) \
    X(mem_pool_attribute, REUSE_ALLOW_INTERNAL_DEPENDENCIES, 3) \
    X(mem_pool_attribute, RELEASE_THRESHOLD, 4) \
    X(mem_pool_attribute, RESERVED_MEM_CURRENT, 5) \
    X(mem_pool_attribute, RESERVED_MEM_HIGH, 6) \
    X(mem_pool_attribute, USED_MEM_CURRENT, 7) \
    X(mem_pool_attribute, USED_MEM_HIGH, 8) \
    /* mem_range_attribute */ \
    X(mem_range_attribute, READ_MOSTLY, 1) \
    X(mem_range_attribute, PREFERRED_LOCATION, 2) \
    X(mem_range_attribute, ACCESSED_BY, 3) \
    X(mem_range_attribute, LAST_PREFETCH_LOCATION, 4) \
    X(mem_range_attribute, PREFERRED_LOCATION_TYPE, 5) \
    X(mem_range_attribute, PREFERRED_LOCATION_ID, 6) \
    X(mem_range_attribute, LAST_PREFETCH_LOCATION_TYPE, 7) \
    X(mem_range_attribute, LAST_PREFETCH_LOCATION_ID, 8) \
    /* memory_type */ \
    X(memory_type, HOST, 1) \
    X(memory_type, DEVICE, 2) \
    X(memory_type, ARRAY, 3) \
    X(memory_type, UNIFIED, 4) \
    /* pointer_attribute */ \
    X(pointer_attribute, CONTEXT, 1) \
    X(pointer_attribute, MEMORY_TYPE, 2) \
    X(pointer_attribute, DEVICE_POINTER, 3) \
    X(pointer_attribute, HOST_POINTER, 4) \
    X(pointer_attribute, P2P_TOKENS, 5) \
    X(pointer_attribute, SYNC_MEMOPS, 6) \
    X(pointer_attribute, BUFFER_ID, 7) \
    X(pointer_attribute, IS_MANAGED, 8) \
    X(pointer_attribute, DEVICE_ORDINAL, 9) \
    X(pointer_attribute, IS_LEGACY_CUDA_IPC_CAPABLE, 10) \
    X(pointer_attribute, RANGE_START_ADDR, 11) \
    X(pointer_attribute, RANGE_SIZE, 12) \
    X(pointer_attribute, MAPPED, 13) \
    X(pointer_attribute, ALLOWED_HANDLE_TYPES, 14) \
    X(pointer_attribute, IS_GPU_DIRECT_RDMA_CAPABLE, 15) \
    X(pointer_attribute, ACCESS_FLAGS, 16) \
    X(pointer_attribute, MEMPOOL_HANDLE, 17) \
    X(pointer_attribute, MAPPING_SIZE, 18) \
    X(pointer_attribute, MAPPING_BASE_ADDR, 19) \
    X(pointer_attribute, MEMORY_BLOCK_ID, 20) \
    X(pointer_attribute, IS_HW_DECOMPRESS_CAPABLE, 21) \
    /* profiler_output_mode */ \
    X(profiler_output_mode, KEY_VALUE_PAIR, 0) \
    X(profiler_output_mode, CSV, 1) \
    /* shared_config */ \
    X(shared_config, DEFAULT_BANK_SIZE, 0) \
    X(shared_config, FOUR_BYTE_BANK_SIZE, 1) \
    X(shared_config, EIGHT_BYTE_BANK_SIZE, 2) \
    /* stream_flags */ \
    X(stream_flags, DEFAULT, 0) \
    X(stream_flags, NON_BLOCKING, 1) \
    /* stream_mem_op */ \
    X(stream_mem_op, WAIT_VALUE_32, 1) \
    X(stream_mem_op, WRITE_VALUE_32, 2) \
    X(stream_mem_op, FLUSH_REMOTE_WRITES, 3) \
    X(stream_mem_op, WAIT_VALUE_64, 4) \
    X(stream_mem_op, WRITE_VALUE_64, 5) \
    X(stream_mem_op, BARRIER, 6) \
    /* stream_wait_value */ \
    X(stream_wait_value, GEQ, 0) \
    X(stream_wait_value, EQ, 1) \
    X(stream_wait_value, AND, 2) \
    X(stream_wait_value, NOR, 3) \
    X(stream_wait_value, FLUSH, 1073741824) \
    /* stream_write_value */ \
    X(stream_write_value, DEFAULT, 0) \
    X(stream_write_value, NO_MEMORY_BARRIER, 1) \
    /* tensor_map_data_type */ \
    X(tensor_map_data_type, UINT8, 0) \
    X(tensor_map_data_type, UINT16, 1) \
    X(tensor_map_data_type, UINT32, 2) \
    X(tensor_map_data_type, INT32, 3) \
    X(tensor_map_data_type, UINT64, 4) \
    X(tensor_map_data_type, INT64, 5) \
    X(tensor_map_data_type, FLOAT16, 6) \
    X(tensor_map_data_type, FLOAT32, 7) \
    X(tensor_map_data_type, FLOAT64, 8) \
    X(tensor_map_data_type, BFLOAT16, 9) \
    X(tensor_map_data_type, FLOAT32_FTZ, 10) \
    X(tensor_map_data_type, TFLOAT32, 11) \
    X(tensor_map_data_type, TFLOAT32_FTZ, 12) \
    /* tensor_map_interleave */ \
    X(tensor_map_interleave, INTERLEAVE_NONE, 0) \
    X(tensor_map_interleave, INTERLEAVE_16B, 1) \
    X(tensor_map_interleave, INTERLEAVE_32B, 2) \
    /* tensor_map_l2_promotion */ \
    X(tensor_map_l2_promotion, NONE, 0) \
    X(tensor_map_l2_promotion, L2_64B, 1) \
    X(tensor_map_l2_promotion, L2_128B, 2) \
    X(tensor_map_l2_promotion, L2_256B, 3) \
    /* tensor_map_oob_fill */ \
    X(tensor_map_oob_fill, NONE, 0) \
    X(tensor_map_oob_fill, NAN_REQUEST_ZERO_FMA, 1) \
    /* tensor_map_swizzle */ \
    X(tensor_map_swizzle, SWIZZLE_NONE, 0) \
    X(tensor_map_swizzle, SWIZZLE_32B, 1) \
    X(tensor_map_swizzle, SWIZZLE_64B, 2) \
    X(tensor_map_swizzle, SWIZZLE_128B, 3)
/* clang-format on */

#endif
