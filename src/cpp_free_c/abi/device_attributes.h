/* Members of device_attribute: X(NAME, value, kind of the result, docstring).
 *
 * Each member is also a property of Device with its name in lower case and its
 * docstring, which gives the unit. If two names share a value, calls return the member
 * of the later row. NAME is the name in cuda.h without CU_DEVICE_ATTRIBUTE_;
 * test_abi.py compares the values. Read by python/support/enums.c,
 * python/driver/device.c and tools/make_stub.py. */
#ifndef ABI_DEVICE_ATTRIBUTES_H
#define ABI_DEVICE_ATTRIBUTES_H

/* clang-format off */
#define PCU_DEVICE_ATTRS(X) \
    X(MAX_THREADS_PER_BLOCK, 1, int, "The largest number of threads of a block.") \
    X(MAX_BLOCK_DIM_X, 2, int, "The largest size of a block in x, in threads.") \
    X(MAX_BLOCK_DIM_Y, 3, int, "The largest size of a block in y, in threads.") \
    X(MAX_BLOCK_DIM_Z, 4, int, "The largest size of a block in z, in threads.") \
    X(MAX_GRID_DIM_X, 5, int, "The largest size of a grid in x, in blocks.") \
    X(MAX_GRID_DIM_Y, 6, int, "The largest size of a grid in y, in blocks.") \
    X(MAX_GRID_DIM_Z, 7, int, "The largest size of a grid in z, in blocks.") \
    X(MAX_SHARED_MEMORY_PER_BLOCK, 8, int, "Shared memory of a block without a function's opt-in, in bytes.") \
    X(SHARED_MEMORY_PER_BLOCK, 8, int, "The older name of MAX_SHARED_MEMORY_PER_BLOCK, in bytes.") \
    X(TOTAL_CONSTANT_MEMORY, 9, int, "Constant memory for the variables of a module, in bytes.") \
    X(WARP_SIZE, 10, int, "The number of threads of a warp.") \
    X(MAX_PITCH, 11, int, "The largest pitch of a copy, in bytes.") \
    X(MAX_REGISTERS_PER_BLOCK, 12, int, "The number of 32-bit registers that a block can use.") \
    X(REGISTERS_PER_BLOCK, 12, int, "The older name of MAX_REGISTERS_PER_BLOCK, a number of registers.") \
    X(CLOCK_RATE, 13, int, "The peak clock of the multiprocessors, in kHz.") \
    X(TEXTURE_ALIGNMENT, 14, int, "The alignment of a texture's address, in bytes.") \
    X(GPU_OVERLAP, 15, int, "1 if copies and kernels can run at the same time. Prefer ASYNC_ENGINE_COUNT.") \
    X(MULTIPROCESSOR_COUNT, 16, int, "The number of multiprocessors.") \
    X(KERNEL_EXEC_TIMEOUT, 17, int, "1 if the system ends kernels that run too long, otherwise 0.") \
    X(INTEGRATED, 18, int, "1 if the device shares the memory of the host, 0 if it has its own.") \
    X(CAN_MAP_HOST_MEMORY, 19, int, "1 if kernels can use page-locked memory of the host, otherwise 0.") \
    X(COMPUTE_MODE, 20, compute_mode, "The rule for making contexts on the device, a compute_mode.") \
    X(MAXIMUM_TEXTURE1D_WIDTH, 21, int, "The largest width of a 1D texture, in elements.") \
    X(MAXIMUM_TEXTURE2D_WIDTH, 22, int, "The largest width of a 2D texture, in elements.") \
    X(MAXIMUM_TEXTURE2D_HEIGHT, 23, int, "The largest height of a 2D texture, in rows.") \
    X(MAXIMUM_TEXTURE3D_WIDTH, 24, int, "The largest width of a 3D texture, in elements.") \
    X(MAXIMUM_TEXTURE3D_HEIGHT, 25, int, "The largest height of a 3D texture, in rows.") \
    X(MAXIMUM_TEXTURE3D_DEPTH, 26, int, "The largest depth of a 3D texture, in slices.") \
    X(MAXIMUM_TEXTURE2D_ARRAY_WIDTH, 27, int, "The older name of MAXIMUM_TEXTURE2D_LAYERED_WIDTH, in elements.") \
    X(MAXIMUM_TEXTURE2D_ARRAY_HEIGHT, 28, int, "The older name of MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, in rows.") \
    X(MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES, 29, int, "The older name of MAXIMUM_TEXTURE2D_LAYERED_LAYERS, a number of layers.") \
    X(SURFACE_ALIGNMENT, 30, int, "The alignment of a surface's address, in bytes.") \
    X(CONCURRENT_KERNELS, 31, int, "1 if several kernels of a context can run at the same time, otherwise 0.") \
    X(ECC_ENABLED, 32, int, "1 if the memory corrects errors (ECC), otherwise 0.") \
    X(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 27, int, "The largest width of a layered 2D texture, in elements.") \
    X(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 28, int, "The largest height of a layered 2D texture, in rows.") \
    X(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 29, int, "The largest number of layers of a layered 2D texture.") \
    X(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 42, int, "The largest width of a layered 1D texture, in elements.") \
    X(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 43, int, "The largest number of layers of a layered 1D texture.") \
    X(PCI_BUS_ID, 33, int, "The number of the device's PCI bus.") \
    X(PCI_DEVICE_ID, 34, int, "The number of the device on its PCI bus.") \
    X(TCC_DRIVER, 35, int, "1 if Windows uses the TCC driver for the device, otherwise 0.") \
    X(MEMORY_CLOCK_RATE, 36, int, "The peak clock of the memory, in kHz.") \
    X(GLOBAL_MEMORY_BUS_WIDTH, 37, int, "The width of the bus to the memory, in bits.") \
    X(L2_CACHE_SIZE, 38, int, "The size of the L2 cache, in bytes.") \
    X(MAX_THREADS_PER_MULTIPROCESSOR, 39, int, "The largest number of threads on a multiprocessor at one time.") \
    X(ASYNC_ENGINE_COUNT, 40, int, "The number of copy engines, which work beside kernels and each other.") \
    X(UNIFIED_ADDRESSING, 41, int, "1 if the host and the devices share one range of addresses, otherwise 0.") \
    X(MAXIMUM_TEXTURE2D_GATHER_WIDTH, 45, int, "The largest width of a 2D texture for gathers, in elements.") \
    X(MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 46, int, "The largest height of a 2D texture for gathers, in rows.") \
    X(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 47, int, "The width of a 3D texture of another shape, in elements; 0 if there is none.") \
    X(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 48, int, "The height of a 3D texture of another shape, in rows; 0 if there is none.") \
    X(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 49, int, "The depth of a 3D texture of another shape, in slices; 0 if there is none.") \
    X(PCI_DOMAIN_ID, 50, int, "The number of the device's PCI domain.") \
    X(TEXTURE_PITCH_ALIGNMENT, 51, int, "The alignment of the pitch of a texture in linear memory, in bytes.") \
    X(MAXIMUM_TEXTURECUBEMAP_WIDTH, 52, int, "The largest width and height of a cube map, in elements.") \
    X(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 53, int, "The largest width and height of a layered cube map, in elements.") \
    X(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 54, int, "The largest number of layers of a layered cube map.") \
    X(MAXIMUM_SURFACE1D_WIDTH, 55, int, "The largest width of a 1D surface, in elements.") \
    X(MAXIMUM_SURFACE2D_WIDTH, 56, int, "The largest width of a 2D surface, in elements.") \
    X(MAXIMUM_SURFACE2D_HEIGHT, 57, int, "The largest height of a 2D surface, in rows.") \
    X(MAXIMUM_SURFACE3D_WIDTH, 58, int, "The largest width of a 3D surface, in elements.") \
    X(MAXIMUM_SURFACE3D_HEIGHT, 59, int, "The largest height of a 3D surface, in rows.") \
    X(MAXIMUM_SURFACE3D_DEPTH, 60, int, "The largest depth of a 3D surface, in slices.") \
    X(MAXIMUM_SURFACE1D_LAYERED_WIDTH, 61, int, "The largest width of a layered 1D surface, in elements.") \
    X(MAXIMUM_SURFACE1D_LAYERED_LAYERS, 62, int, "The largest number of layers of a layered 1D surface.") \
    X(MAXIMUM_SURFACE2D_LAYERED_WIDTH, 63, int, "The largest width of a layered 2D surface, in elements.") \
    X(MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 64, int, "The largest height of a layered 2D surface, in rows.") \
    X(MAXIMUM_SURFACE2D_LAYERED_LAYERS, 65, int, "The largest number of layers of a layered 2D surface.") \
    X(MAXIMUM_SURFACECUBEMAP_WIDTH, 66, int, "The largest width of a cube map as a surface, in elements.") \
    X(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 67, int, "The largest width of a layered cube map as a surface, in elements.") \
    X(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 68, int, "The largest number of layers of a layered cube map as a surface.") \
    X(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 69, int, "The largest width of a 1D texture in linear memory, in elements. Deprecated.") \
    X(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 70, int, "The largest width of a 2D texture in linear memory, in elements.") \
    X(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 71, int, "The largest height of a 2D texture in linear memory, in rows.") \
    X(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 72, int, "The largest pitch of a 2D texture in linear memory, in bytes.") \
    X(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 73, int, "The largest width of a mipmapped 2D texture, in elements.") \
    X(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 74, int, "The largest height of a mipmapped 2D texture, in rows.") \
    X(COMPUTE_CAPABILITY_MAJOR, 75, int, "The major number of the compute capability: 9 of 9.0.") \
    X(COMPUTE_CAPABILITY_MINOR, 76, int, "The minor number of the compute capability: 0 of 9.0.") \
    X(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 77, int, "The largest width of a mipmapped 1D texture, in elements.") \
    X(STREAM_PRIORITIES_SUPPORTED, 78, int, "1 if streams can have priorities, otherwise 0.") \
    X(GLOBAL_L1_CACHE_SUPPORTED, 79, int, "1 if the L1 cache holds global memory, otherwise 0.") \
    X(LOCAL_L1_CACHE_SUPPORTED, 80, int, "1 if the L1 cache holds local memory, otherwise 0.") \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81, int, "Shared memory of a multiprocessor, in bytes.") \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR, 82, int, "The number of 32-bit registers of a multiprocessor.") \
    X(MANAGED_MEMORY, 83, int, "1 if the device can use managed memory, otherwise 0.") \
    X(MULTI_GPU_BOARD, 84, int, "1 if the board has several devices, otherwise 0.") \
    X(MULTI_GPU_BOARD_GROUP_ID, 85, int, "A number that the devices of one board have in common.") \
    X(HOST_NATIVE_ATOMIC_SUPPORTED, 86, int, "1 if the link to the host has native atomic operations, otherwise 0.") \
    X(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 87, int, "The operations per second in single precision, as a multiple of those in double.") \
    X(PAGEABLE_MEMORY_ACCESS, 88, int, "1 if kernels can use the host's pageable memory without registration, otherwise 0.") \
    X(CONCURRENT_MANAGED_ACCESS, 89, int, "1 if the host can use managed memory while kernels run, otherwise 0.") \
    X(COMPUTE_PREEMPTION_SUPPORTED, 90, int, "1 if the device can interrupt a kernel, otherwise 0.") \
    X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 91, int, "1 if registered memory has the same address in kernels, otherwise 0.") \
    X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97, int, "Shared memory of a block if the function opts in, in bytes.") \
    X(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 100, int, "1 if kernels use pageable memory through the host's page tables, otherwise 0.") \
    X(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 101, int, "1 if the host uses managed memory on the device without moving it, otherwise 0.") \
    X(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 103, int, "1 if memory can be shared by a POSIX file descriptor, otherwise 0.") \
    X(HANDLE_TYPE_WIN32_HANDLE_SUPPORTED, 104, int, "1 if memory can be shared by a Windows NT handle, otherwise 0.") \
    X(HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED, 105, int, "1 if memory can be shared by a Windows KMT handle, otherwise 0.") \
    X(MAX_PERSISTING_L2_CACHE_SIZE, 108, int, "The part of the L2 cache that can be set aside for persisting data, in bytes.") \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR, 106, int, "The largest number of blocks on a multiprocessor at one time.") \
    X(GENERIC_COMPRESSION_SUPPORTED, 107, int, "1 if memory can be compressed, otherwise 0.") \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK, 111, int, "Shared memory that the driver reserves for each block, in bytes.") \
    X(READ_ONLY_HOST_REGISTER_SUPPORTED, 113, int, "1 if memory of the host can be registered as read-only, otherwise 0.") \
    X(MEMORY_POOLS_SUPPORTED, 115, int, "1 if the driver has pools of memory for the device, otherwise 0.") \
    X(CAN_TEX2D_GATHER, 44, int, "1 if kernels can gather from 2D textures, otherwise 0.") \
    X(CAN_USE_STREAM_MEM_OPS_V1, 92, int, "1 if streams have the first version of memory operations, otherwise 0. Deprecated.") \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS_V1, 93, int, "1 if these operations of the first version take 64 bits, otherwise 0. Deprecated.") \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 94, int, "1 if the first version has stream_wait_value.NOR, otherwise 0. Deprecated.") \
    X(COOPERATIVE_LAUNCH, 95, int, "1 if cooperative launches are possible, otherwise 0.") \
    X(COOPERATIVE_MULTI_DEVICE_LAUNCH, 96, int, "1 if one cooperative launch can use several devices, otherwise 0. Deprecated.") \
    X(CAN_FLUSH_REMOTE_WRITES, 98, int, "1 if streams can flush writes of other devices to this one, otherwise 0.") \
    X(HOST_REGISTER_SUPPORTED, 99, int, "1 if memory of the host can be registered, otherwise 0.") \
    X(VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 102, int, "1 if addresses and memory can be managed apart, otherwise 0.") \
    X(MAX_ACCESS_POLICY_WINDOW_SIZE, 109, int, "The largest window of launch_attribute.ACCESS_POLICY_WINDOW, in bytes.") \
    X(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED, 110, int, "1 if GPUDirect RDMA can use virtual memory of the driver, otherwise 0.") \
    X(SPARSE_CUDA_ARRAY_SUPPORTED, 112, int, "1 if CUDA arrays can be sparse, otherwise 0.") \
    X(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, 114, int, "1 if external timeline semaphores can be used, otherwise 0.") \
    X(GPU_DIRECT_RDMA_SUPPORTED, 116, int, "1 if other devices can use the memory by GPUDirect RDMA, otherwise 0.") \
    X(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, 117, int, "Ways to flush writes of GPUDirect RDMA, as bits: 1 by the host, 2 by streams.") \
    X(GPU_DIRECT_RDMA_WRITES_ORDERING, 118, int, "Order of such writes without a flush: 0 none, 100 for this device, 200 for all.") \
    X(MEMPOOL_SUPPORTED_HANDLE_TYPES, 119, int, "Handles that share pools, as bits: 1 POSIX, 2 Windows NT, 4 KMT, 8 fabric.") \
    X(CLUSTER_LAUNCH, 120, int, "1 if kernels can have clusters of blocks, otherwise 0.") \
    X(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 121, int, "1 if CUDA arrays can get their memory later, otherwise 0.") \
    X(CAN_USE_64_BIT_STREAM_MEM_OPS, 122, int, "1 if memory operations of streams take 64 bits, otherwise 0.") \
    X(CAN_USE_STREAM_WAIT_VALUE_NOR, 123, int, "1 if streams can wait with stream_wait_value.NOR, otherwise 0.") \
    X(DMA_BUF_SUPPORTED, 124, int, "1 if memory can be shared as a dma-buf of Linux, otherwise 0.") \
    X(IPC_EVENT_SUPPORTED, 125, int, "1 if processes can share events, otherwise 0.") \
    X(MEM_SYNC_DOMAIN_COUNT, 126, int, "The number of memory synchronization domains.") \
    X(TENSOR_MAP_ACCESS_SUPPORTED, 127, int, "1 if kernels can copy with a TensorMap, otherwise 0.") \
    X(HANDLE_TYPE_FABRIC_SUPPORTED, 128, int, "1 if memory can be shared by a fabric handle, otherwise 0.") \
    X(UNIFIED_FUNCTION_POINTERS, 129, int, "1 if pointers to functions are the same on all such devices, otherwise 0.") \
    X(NUMA_CONFIG, 130, int, "1 if the memory is a NUMA node of the host, otherwise 0.") \
    X(NUMA_ID, 131, int, "The number of the memory's NUMA node, if NUMA_CONFIG is 1.") \
    X(MULTICAST_SUPPORTED, 132, int, "1 if one access can reach the memory of several devices, otherwise 0.") \
    X(MPS_ENABLED, 133, int, "1 if contexts are shared through MPS, otherwise 0.") \
    X(HOST_NUMA_ID, 134, int, "The number of the host's NUMA node nearest to the device; -1 without NUMA.") \
    X(D3D12_CIG_SUPPORTED, 135, int, "1 if a context can share the device with a queue of Direct3D 12, otherwise 0.") \
    X(MEM_DECOMPRESS_ALGORITHM_MASK, 136, int, "Formats that the hardware decompresses, as bits: 1 Deflate, 2 Snappy, 4 LZ4.") \
    X(MEM_DECOMPRESS_MAXIMUM_LENGTH, 137, int, "The largest size of one decompression by hardware, in bytes.") \
    X(VULKAN_CIG_SUPPORTED, 138, int, "1 if a context can share the device with a queue of Vulkan, otherwise 0.") \
    X(GPU_PCI_DEVICE_ID, 139, int, "The PCI device ID in the upper 16 bits, and the vendor ID in the lower.") \
    X(GPU_PCI_SUBSYSTEM_ID, 140, int, "The PCI subsystem ID in the upper 16 bits, and its vendor ID in the lower.") \
    X(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 141, int, "1 if virtual memory can be on a NUMA node of the host, otherwise 0.") \
    X(HOST_NUMA_MEMORY_POOLS_SUPPORTED, 142, int, "1 if pools of memory can be on a NUMA node of the host, otherwise 0.") \
    X(HOST_NUMA_MULTINODE_IPC_SUPPORTED, 143, int, "1 if computers of a cluster can share memory of a host's NUMA node, otherwise 0.") \
    X(HOST_MEMORY_POOLS_SUPPORTED, 144, int, "1 if pools of memory can be on the host, otherwise 0.") \
    X(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 145, int, "1 if virtual memory can be on the host, otherwise 0.") \
    X(HOST_ALLOC_DMA_BUF_SUPPORTED, 146, int, "1 if page-locked memory can be shared as a dma-buf of Linux, otherwise 0.") \
    X(ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED, 147, int, "1 if the link to the host has some native atomic operations only, otherwise 0.")
/* clang-format on */

#endif
