"""The types of the C extension pycuda._driver.

Checked against the extension itself by test/typing/test_typing.py. What is below a line
`written by tools/make_stub.py` follows from C and from the types in
tools/stub_types.ini: edit those and run the tool. Names with an underscore that the
extension has not are for type checkers alone.
"""

import builtins
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import (
    IO,
    Any,
    ClassVar,
    Final,
    Literal,
    Protocol,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    final,
    overload,
    type_check_only,
)

import numpy as np
from _typeshed import structseq
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer, Self, disjoint_base

# names of pycuda.driver: written by tools/make_stub.py
# fmt: off
__all__ = [
    "AlignedHostAllocation", "ArgumentHandler", "Array", "ArrayDescriptor",
    "ArrayDescriptor3D", "BufferObject", "BufferObjectMapping", "Context", "Device",
    "DeviceAllocation", "DeviceMemoryPool", "Error", "Event", "ForeignAllocation",
    "Function", "Graph", "GraphExec", "GraphNode", "HostAllocation", "HostPointer",
    "IPCMemoryHandle", "In", "InOut", "LaunchConfig", "LaunchError", "LaunchRecord",
    "Linker", "LogicError", "ManagedAllocation", "ManagedAllocationOrStub", "Memcpy2D",
    "Memcpy3D", "Memcpy3DPeer", "MemoryPool", "MipmappedArray", "Module", "Out",
    "PageLockedAllocator", "PageLockedMemoryPool", "PagelockedHostAllocation",
    "PhysicalMemory", "PointerHolderBase", "PooledDeviceAllocation",
    "PooledHostAllocation", "PyCUDAWarning", "RegisteredBuffer", "RegisteredHostMemory",
    "RegisteredImage", "RegisteredMapping", "RegisteredObject", "Stream",
    "StreamAllocation", "StreamCapture", "SurfaceObject", "SurfaceReference",
    "TRSA_OVERRIDE_FORMAT", "TRSF_NORMALIZED_COORDINATES", "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT", "TensorMap", "TextureObject", "TextureReference", "UserObject",
    "VirtualMemory", "address_mode", "aligned_empty", "aligned_empty_like",
    "aligned_zeros", "aligned_zeros_like", "array3d_flags", "array_cubemap_face",
    "array_format", "bitlog2", "compute_mode", "ctx_flags", "device_attribute",
    "direction_vector_set", "event_flags", "event_record_flags", "event_wait_flags",
    "filter_mode", "from_device", "from_device_like", "from_dlpack", "func_cache",
    "function_attribute", "get_curand_version", "get_driver_version", "get_version",
    "gl_init", "graphics_map_flags", "graphics_register_flags", "have_gl_ext",
    "host_alloc_flags", "init", "initialize_profiler", "ipc_mem_flags", "jit_fallback",
    "jit_input_type", "jit_option", "jit_target", "launch_attribute",
    "launch_host_func", "limit", "make_gl_context", "managed_empty",
    "managed_empty_like", "managed_zeros", "managed_zeros_like", "mem_access_flags",
    "mem_advice", "mem_advise", "mem_alloc", "mem_alloc_async", "mem_alloc_like",
    "mem_alloc_pitch", "mem_attach_flags", "mem_get_address_range", "mem_get_info",
    "mem_get_ipc_handle", "mem_granularity", "mem_host_register_flags",
    "mem_pool_attribute", "mem_prefetch", "mem_prefetch_batch", "mem_range_attribute",
    "mem_range_get_attribute", "memcpy_atoa", "memcpy_atod", "memcpy_atoh",
    "memcpy_atoh_async", "memcpy_dtoa", "memcpy_dtod", "memcpy_dtod_async",
    "memcpy_dtoh", "memcpy_dtoh_async", "memcpy_htoa", "memcpy_htoa_async",
    "memcpy_htod", "memcpy_htod_async", "memcpy_peer", "memcpy_peer_async",
    "memory_type", "memset_d16", "memset_d16_async", "memset_d2d16",
    "memset_d2d16_async", "memset_d2d32", "memset_d2d32_async", "memset_d2d8",
    "memset_d2d8_async", "memset_d32", "memset_d32_async", "memset_d8",
    "memset_d8_async", "module_from_buffer", "module_from_file", "pagelocked_empty",
    "pagelocked_empty_like", "pagelocked_zeros", "pagelocked_zeros_like",
    "pointer_attribute", "profiler_output_mode", "py_memcpy_atoh", "py_memcpy_htoa",
    "recent_launches", "register_host_memory", "release_staging", "shared_config",
    "start_profiler", "stop_profiler", "stream_flags", "stream_mem_op",
    "stream_wait_value", "stream_write_value", "tensor_map_data_type",
    "tensor_map_interleave", "tensor_map_l2_promotion", "tensor_map_oob_fill",
    "tensor_map_swizzle", "to_device",
]
# fmt: on
# names of pycuda.driver: end

_Scalar = TypeVar("_Scalar", bound=np.generic)
_T = TypeVar("_T")
_Array = TypeVar("_Array", bound=np.ndarray[Any, Any])

# -- what functions take ---------------------------------------------------------------

@type_check_only
class _HasGpudata(Protocol):
    @property
    def gpudata(self) -> SupportsIndex | None: ...

@type_check_only
class _HasCudaArrayInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

@type_check_only
class _HasNbytes(Protocol):
    @property
    def nbytes(self) -> int: ...

@type_check_only
class _HasCudaStream(Protocol):
    def __cuda_stream__(self) -> tuple[int, int]: ...

@type_check_only
class _HasCudaEvent(Protocol):  # PyTorch
    @property
    def cuda_event(self) -> Any: ...

@type_check_only
class _HasPtr(Protocol):  # CuPy
    @property
    def ptr(self) -> Any: ...

@type_check_only
class _HasHandle(Protocol):  # this package, cuda.core, Numba
    @property
    def handle(self) -> Any: ...

_AnyEvent: TypeAlias = _HasCudaEvent | _HasPtr | _HasHandle

# A stream of this package or another; None is the current one.
_Stream: TypeAlias = _HasCudaStream | None
# An address: an int, a DeviceAllocation, a PointerHolderBase, a GPUArray (its gpudata).
_DevicePointer: TypeAlias = SupportsIndex | _HasGpudata
_ManagedMemory: TypeAlias = np.ndarray[Any, Any] | DeviceAllocation | SupportsIndex
_DeviceOrNumber: TypeAlias = Device | SupportsIndex | None
_Location: TypeAlias = Device | SupportsIndex | str | tuple[str, SupportsIndex] | None
_File: TypeAlias = str | os.PathLike[str] | IO[bytes] | io.BufferedIOBase
_FileName: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_JitOptions: TypeAlias = Iterable[tuple[jit_option | SupportsIndex, SupportsIndex]]
_HostBuffer: TypeAlias = Buffer | np.ndarray[Any, Any]
# A block or a grid; missing dimensions are 1.
_Dims: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
_Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | NDArray[np.integer[Any]]
_Order: TypeAlias = Literal["C", "F", "c", "f"]
# Plain Python numbers are not among them: they have no fixed size.
_KernelArgument: TypeAlias = (
    np.generic
    | np.ndarray[Any, Any]
    | DeviceAllocation
    | PooledDeviceAllocation
    | IPCMemoryHandle
    | PointerHolderBase
    | ArgumentHandler
    | TextureObject
    | SurfaceObject
    | _HasCudaArrayInterface
    | _HasGpudata
    | Buffer
    | TensorMap
)

# -- errors ----------------------------------------------------------------------------

class Error(Exception):
    code: int | None
    name: str | None
    routine: str | None
    launches: tuple[LaunchRecord, ...]
    driver_log: str
    jit_log: str

class LogicError(Error): ...
class LaunchError(Error): ...
class MemoryError(Error, builtins.MemoryError): ...
class RuntimeError(Error, builtins.RuntimeError): ...
class PyCUDAWarning(UserWarning): ...

@final
class LaunchRecord(structseq[Any], tuple[Any, ...]):
    __match_args__: Final = (
        "name",
        "kind",
        "grid",
        "block",
        "shared",
        "stream",
        "file",
        "line",
        "function",
        "number",
    )
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> Literal["kernel", "array", "graph", "library"]: ...
    @property
    def grid(self) -> tuple[int, int, int] | None: ...
    @property
    def block(self) -> tuple[int, int, int] | None: ...
    @property
    def shared(self) -> int: ...
    @property
    def stream(self) -> int: ...
    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int: ...
    @property
    def function(self) -> str | None: ...
    @property
    def number(self) -> int: ...

# -- devices and contexts --------------------------------------------------------------

@disjoint_base
class Device:
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    # attributes of Device: written by tools/make_stub.py
    max_threads_per_block: int
    """The largest number of threads of a block."""
    max_block_dim_x: int
    """The largest size of a block in x, in threads."""
    max_block_dim_y: int
    """The largest size of a block in y, in threads."""
    max_block_dim_z: int
    """The largest size of a block in z, in threads."""
    max_grid_dim_x: int
    """The largest size of a grid in x, in blocks."""
    max_grid_dim_y: int
    """The largest size of a grid in y, in blocks."""
    max_grid_dim_z: int
    """The largest size of a grid in z, in blocks."""
    max_shared_memory_per_block: int
    """Shared memory of a block without a function's opt-in, in bytes."""
    shared_memory_per_block: int
    """The older name of MAX_SHARED_MEMORY_PER_BLOCK, in bytes."""
    total_constant_memory: int
    """Constant memory for the variables of a module, in bytes."""
    warp_size: int
    """The number of threads of a warp."""
    max_pitch: int
    """The largest pitch of a copy, in bytes."""
    max_registers_per_block: int
    """The number of 32-bit registers that a block can use."""
    registers_per_block: int
    """The older name of MAX_REGISTERS_PER_BLOCK, a number of registers."""
    clock_rate: int
    """The peak clock of the multiprocessors, in kHz."""
    texture_alignment: int
    """The alignment of a texture's address, in bytes."""
    gpu_overlap: int
    """1 if copies and kernels can run at the same time. Prefer ASYNC_ENGINE_COUNT."""
    multiprocessor_count: int
    """The number of multiprocessors."""
    kernel_exec_timeout: int
    """1 if the system ends kernels that run too long, otherwise 0."""
    integrated: int
    """1 if the device shares the memory of the host, 0 if it has its own."""
    can_map_host_memory: int
    """1 if kernels can use page-locked memory of the host, otherwise 0."""
    compute_mode: _compute_mode
    """The rule for making contexts on the device, a compute_mode."""
    maximum_texture1d_width: int
    """The largest width of a 1D texture, in elements."""
    maximum_texture2d_width: int
    """The largest width of a 2D texture, in elements."""
    maximum_texture2d_height: int
    """The largest height of a 2D texture, in rows."""
    maximum_texture3d_width: int
    """The largest width of a 3D texture, in elements."""
    maximum_texture3d_height: int
    """The largest height of a 3D texture, in rows."""
    maximum_texture3d_depth: int
    """The largest depth of a 3D texture, in slices."""
    maximum_texture2d_array_width: int
    """The older name of MAXIMUM_TEXTURE2D_LAYERED_WIDTH, in elements."""
    maximum_texture2d_array_height: int
    """The older name of MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, in rows."""
    maximum_texture2d_array_numslices: int
    """The older name of MAXIMUM_TEXTURE2D_LAYERED_LAYERS, a number of layers."""
    surface_alignment: int
    """The alignment of a surface's address, in bytes."""
    concurrent_kernels: int
    """1 if several kernels of a context can run at the same time, otherwise 0."""
    ecc_enabled: int
    """1 if the memory corrects errors (ECC), otherwise 0."""
    maximum_texture2d_layered_width: int
    """The largest width of a layered 2D texture, in elements."""
    maximum_texture2d_layered_height: int
    """The largest height of a layered 2D texture, in rows."""
    maximum_texture2d_layered_layers: int
    """The largest number of layers of a layered 2D texture."""
    maximum_texture1d_layered_width: int
    """The largest width of a layered 1D texture, in elements."""
    maximum_texture1d_layered_layers: int
    """The largest number of layers of a layered 1D texture."""
    pci_device_id: int
    """The number of the device on its PCI bus."""
    tcc_driver: int
    """1 if Windows uses the TCC driver for the device, otherwise 0."""
    memory_clock_rate: int
    """The peak clock of the memory, in kHz."""
    global_memory_bus_width: int
    """The width of the bus to the memory, in bits."""
    l2_cache_size: int
    """The size of the L2 cache, in bytes."""
    max_threads_per_multiprocessor: int
    """The largest number of threads on a multiprocessor at one time."""
    async_engine_count: int
    """The number of copy engines, which work beside kernels and each other."""
    unified_addressing: int
    """1 if the host and the devices share one range of addresses, otherwise 0."""
    maximum_texture2d_gather_width: int
    """The largest width of a 2D texture for gathers, in elements."""
    maximum_texture2d_gather_height: int
    """The largest height of a 2D texture for gathers, in rows."""
    maximum_texture3d_width_alternate: int
    """The width of a 3D texture of another shape, in elements; 0 if there is none."""
    maximum_texture3d_height_alternate: int
    """The height of a 3D texture of another shape, in rows; 0 if there is none."""
    maximum_texture3d_depth_alternate: int
    """The depth of a 3D texture of another shape, in slices; 0 if there is none."""
    pci_domain_id: int
    """The number of the device's PCI domain."""
    texture_pitch_alignment: int
    """The alignment of the pitch of a texture in linear memory, in bytes."""
    maximum_texturecubemap_width: int
    """The largest width and height of a cube map, in elements."""
    maximum_texturecubemap_layered_width: int
    """The largest width and height of a layered cube map, in elements."""
    maximum_texturecubemap_layered_layers: int
    """The largest number of layers of a layered cube map."""
    maximum_surface1d_width: int
    """The largest width of a 1D surface, in elements."""
    maximum_surface2d_width: int
    """The largest width of a 2D surface, in elements."""
    maximum_surface2d_height: int
    """The largest height of a 2D surface, in rows."""
    maximum_surface3d_width: int
    """The largest width of a 3D surface, in elements."""
    maximum_surface3d_height: int
    """The largest height of a 3D surface, in rows."""
    maximum_surface3d_depth: int
    """The largest depth of a 3D surface, in slices."""
    maximum_surface1d_layered_width: int
    """The largest width of a layered 1D surface, in elements."""
    maximum_surface1d_layered_layers: int
    """The largest number of layers of a layered 1D surface."""
    maximum_surface2d_layered_width: int
    """The largest width of a layered 2D surface, in elements."""
    maximum_surface2d_layered_height: int
    """The largest height of a layered 2D surface, in rows."""
    maximum_surface2d_layered_layers: int
    """The largest number of layers of a layered 2D surface."""
    maximum_surfacecubemap_width: int
    """The largest width of a cube map as a surface, in elements."""
    maximum_surfacecubemap_layered_width: int
    """The largest width of a layered cube map as a surface, in elements."""
    maximum_surfacecubemap_layered_layers: int
    """The largest number of layers of a layered cube map as a surface."""
    maximum_texture1d_linear_width: int
    """The largest width of a 1D texture in linear memory, in elements. Deprecated."""
    maximum_texture2d_linear_width: int
    """The largest width of a 2D texture in linear memory, in elements."""
    maximum_texture2d_linear_height: int
    """The largest height of a 2D texture in linear memory, in rows."""
    maximum_texture2d_linear_pitch: int
    """The largest pitch of a 2D texture in linear memory, in bytes."""
    maximum_texture2d_mipmapped_width: int
    """The largest width of a mipmapped 2D texture, in elements."""
    maximum_texture2d_mipmapped_height: int
    """The largest height of a mipmapped 2D texture, in rows."""
    compute_capability_major: int
    """The major number of the compute capability: 9 of 9.0."""
    compute_capability_minor: int
    """The minor number of the compute capability: 0 of 9.0."""
    maximum_texture1d_mipmapped_width: int
    """The largest width of a mipmapped 1D texture, in elements."""
    stream_priorities_supported: int
    """1 if streams can have priorities, otherwise 0."""
    global_l1_cache_supported: int
    """1 if the L1 cache holds global memory, otherwise 0."""
    local_l1_cache_supported: int
    """1 if the L1 cache holds local memory, otherwise 0."""
    max_shared_memory_per_multiprocessor: int
    """Shared memory of a multiprocessor, in bytes."""
    max_registers_per_multiprocessor: int
    """The number of 32-bit registers of a multiprocessor."""
    managed_memory: int
    """1 if the device can use managed memory, otherwise 0."""
    multi_gpu_board: int
    """1 if the board has several devices, otherwise 0."""
    multi_gpu_board_group_id: int
    """A number that the devices of one board have in common."""
    host_native_atomic_supported: int
    """1 if the link to the host has native atomic operations, otherwise 0."""
    single_to_double_precision_perf_ratio: int
    """The operations per second in single precision, as a multiple of those in
    double."""
    pageable_memory_access: int
    """1 if kernels can use the host's pageable memory without registration, otherwise
    0."""
    concurrent_managed_access: int
    """1 if the host can use managed memory while kernels run, otherwise 0."""
    compute_preemption_supported: int
    """1 if the device can interrupt a kernel, otherwise 0."""
    can_use_host_pointer_for_registered_mem: int
    """1 if registered memory has the same address in kernels, otherwise 0."""
    max_shared_memory_per_block_optin: int
    """Shared memory of a block if the function opts in, in bytes."""
    pageable_memory_access_uses_host_page_tables: int
    """1 if kernels use pageable memory through the host's page tables, otherwise 0."""
    direct_managed_mem_access_from_host: int
    """1 if the host uses managed memory on the device without moving it, otherwise
    0."""
    handle_type_posix_file_descriptor_supported: int
    """1 if memory can be shared by a POSIX file descriptor, otherwise 0."""
    handle_type_win32_handle_supported: int
    """1 if memory can be shared by a Windows NT handle, otherwise 0."""
    handle_type_win32_kmt_handle_supported: int
    """1 if memory can be shared by a Windows KMT handle, otherwise 0."""
    max_persisting_l2_cache_size: int
    """The part of the L2 cache that can be set aside for persisting data, in bytes."""
    max_blocks_per_multiprocessor: int
    """The largest number of blocks on a multiprocessor at one time."""
    generic_compression_supported: int
    """1 if memory can be compressed, otherwise 0."""
    reserved_shared_memory_per_block: int
    """Shared memory that the driver reserves for each block, in bytes."""
    read_only_host_register_supported: int
    """1 if memory of the host can be registered as read-only, otherwise 0."""
    memory_pools_supported: int
    """1 if the driver has pools of memory for the device, otherwise 0."""
    can_tex2d_gather: int
    """1 if kernels can gather from 2D textures, otherwise 0."""
    can_use_stream_mem_ops_v1: int
    """1 if streams have the first version of memory operations, otherwise 0.
    Deprecated."""
    can_use_64_bit_stream_mem_ops_v1: int
    """1 if these operations of the first version take 64 bits, otherwise 0.
    Deprecated."""
    can_use_stream_wait_value_nor_v1: int
    """1 if the first version has stream_wait_value.NOR, otherwise 0. Deprecated."""
    cooperative_launch: int
    """1 if cooperative launches are possible, otherwise 0."""
    cooperative_multi_device_launch: int
    """1 if one cooperative launch can use several devices, otherwise 0. Deprecated."""
    can_flush_remote_writes: int
    """1 if streams can flush writes of other devices to this one, otherwise 0."""
    host_register_supported: int
    """1 if memory of the host can be registered, otherwise 0."""
    virtual_address_management_supported: int
    """1 if addresses and memory can be managed apart, otherwise 0."""
    max_access_policy_window_size: int
    """The largest window of launch_attribute.ACCESS_POLICY_WINDOW, in bytes."""
    gpu_direct_rdma_with_cuda_vmm_supported: int
    """1 if GPUDirect RDMA can use virtual memory of the driver, otherwise 0."""
    sparse_cuda_array_supported: int
    """1 if CUDA arrays can be sparse, otherwise 0."""
    timeline_semaphore_interop_supported: int
    """1 if external timeline semaphores can be used, otherwise 0."""
    gpu_direct_rdma_supported: int
    """1 if other devices can use the memory by GPUDirect RDMA, otherwise 0."""
    gpu_direct_rdma_flush_writes_options: int
    """Ways to flush writes of GPUDirect RDMA, as bits: 1 by the host, 2 by streams."""
    gpu_direct_rdma_writes_ordering: int
    """Order of such writes without a flush: 0 none, 100 for this device, 200 for
    all."""
    mempool_supported_handle_types: int
    """Handles that share pools, as bits: 1 POSIX, 2 Windows NT, 4 KMT, 8 fabric."""
    cluster_launch: int
    """1 if kernels can have clusters of blocks, otherwise 0."""
    deferred_mapping_cuda_array_supported: int
    """1 if CUDA arrays can get their memory later, otherwise 0."""
    can_use_64_bit_stream_mem_ops: int
    """1 if memory operations of streams take 64 bits, otherwise 0."""
    can_use_stream_wait_value_nor: int
    """1 if streams can wait with stream_wait_value.NOR, otherwise 0."""
    dma_buf_supported: int
    """1 if memory can be shared as a dma-buf of Linux, otherwise 0."""
    ipc_event_supported: int
    """1 if processes can share events, otherwise 0."""
    mem_sync_domain_count: int
    """The number of memory synchronization domains."""
    tensor_map_access_supported: int
    """1 if kernels can copy with a TensorMap, otherwise 0."""
    handle_type_fabric_supported: int
    """1 if memory can be shared by a fabric handle, otherwise 0."""
    unified_function_pointers: int
    """1 if pointers to functions are the same on all such devices, otherwise 0."""
    numa_config: int
    """1 if the memory is a NUMA node of the host, otherwise 0."""
    numa_id: int
    """The number of the memory's NUMA node, if NUMA_CONFIG is 1."""
    multicast_supported: int
    """1 if one access can reach the memory of several devices, otherwise 0."""
    mps_enabled: int
    """1 if contexts are shared through MPS, otherwise 0."""
    host_numa_id: int
    """The number of the host's NUMA node nearest to the device; -1 without NUMA."""
    d3d12_cig_supported: int
    """1 if a context can share the device with a queue of Direct3D 12, otherwise 0."""
    mem_decompress_algorithm_mask: int
    """Formats that the hardware decompresses, as bits: 1 Deflate, 2 Snappy, 4 LZ4."""
    mem_decompress_maximum_length: int
    """The largest size of one decompression by hardware, in bytes."""
    vulkan_cig_supported: int
    """1 if a context can share the device with a queue of Vulkan, otherwise 0."""
    gpu_pci_device_id: int
    """The PCI device ID in the upper 16 bits, and the vendor ID in the lower."""
    gpu_pci_subsystem_id: int
    """The PCI subsystem ID in the upper 16 bits, and its vendor ID in the lower."""
    host_numa_virtual_memory_management_supported: int
    """1 if virtual memory can be on a NUMA node of the host, otherwise 0."""
    host_numa_memory_pools_supported: int
    """1 if pools of memory can be on a NUMA node of the host, otherwise 0."""
    host_numa_multinode_ipc_supported: int
    """1 if computers of a cluster can share memory of a host's NUMA node, otherwise
    0."""
    host_memory_pools_supported: int
    """1 if pools of memory can be on the host, otherwise 0."""
    host_virtual_memory_management_supported: int
    """1 if virtual memory can be on the host, otherwise 0."""
    host_alloc_dma_buf_supported: int
    """1 if page-locked memory can be shared as a dma-buf of Linux, otherwise 0."""
    only_partial_host_native_atomic_supported: int
    """1 if the link to the host has some native atomic operations only, otherwise 0."""
    # attributes of Device: end
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, number_or_pci_bus_id: SupportsIndex | str, /) -> None: ...
    @classmethod
    def count(cls) -> int: ...
    def name(self) -> str: ...
    def pci_bus_id(self) -> str: ...
    def compute_capability(self) -> tuple[int, int]: ...
    def total_memory(self) -> int: ...
    def get_attribute(self, attr: device_attribute | SupportsIndex, /) -> int: ...
    def get_attributes(self) -> dict[device_attribute, int]: ...
    def make_context(self, flags: SupportsIndex = 0) -> Context: ...
    def retain_primary_context(self) -> Context: ...
    def can_access_peer(self, other: Device, /) -> bool: ...
    def max_cooperative_blocks(
        self, function: Function, block: _Dims | None = None, shared: SupportsIndex = 0
    ) -> int: ...

@disjoint_base
class Context:
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def push(self) -> None: ...
    @classmethod
    def pop(cls) -> None: ...
    def detach(self) -> None: ...
    @classmethod
    def attach(cls, flags: SupportsIndex = 0) -> Context: ...
    @classmethod
    def get_current(cls) -> Context | None: ...
    @classmethod
    def synchronize(cls) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...
    @classmethod
    def get_limit(cls, limit: _limit | SupportsIndex, /) -> int: ...
    @classmethod
    def set_limit(
        cls, limit: _limit | SupportsIndex, value: SupportsIndex, /
    ) -> None: ...
    @classmethod
    def get_cache_config(cls) -> func_cache: ...
    @classmethod
    def set_cache_config(cls, config: func_cache | SupportsIndex, /) -> None: ...
    @classmethod
    def get_shared_config(cls) -> shared_config: ...
    @classmethod
    def set_shared_config(cls, config: shared_config | SupportsIndex, /) -> None: ...
    @classmethod
    def get_stream_priority_range(cls) -> tuple[int, int]: ...
    def get_api_version(self) -> int: ...
    @classmethod
    def from_handle(
        cls,
        handle: SupportsIndex | _HasHandle,
        owner: object = None,
        green: bool = False,
    ) -> Context: ...
    @classmethod
    def get_device(cls) -> Device: ...
    @classmethod
    def enable_peer_access(cls, peer: Context, flags: SupportsIndex = 0) -> None: ...
    @classmethod
    def disable_peer_access(cls, peer: Context) -> None: ...

@disjoint_base
class Stream:
    @property
    def handle(self) -> int: ...
    @property
    def priority(self) -> int: ...
    @property
    def flags(self) -> int: ...
    @property
    def is_capturing(self) -> bool: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self, flags: SupportsIndex = 0, priority: SupportsIndex = 0
    ) -> None: ...
    def synchronize(self) -> None: ...
    def is_done(self) -> bool: ...
    def wait_for_event(self, event: _AnyEvent, /, flags: SupportsIndex = 0) -> None: ...
    @classmethod
    def from_handle(
        cls, handle: SupportsIndex | _HasCudaStream, owner: object = None
    ) -> Self: ...
    @classmethod
    def get_current(cls) -> Stream | None: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc_info: object) -> None: ...
    def add_callback(
        self, function: Callable[..., object], /, *args: object
    ) -> None: ...
    def wait_value(
        self,
        memory: _DevicePointer,
        value: SupportsIndex,
        condition: SupportsIndex = 0,
        width: SupportsIndex = 4,
    ) -> None: ...
    def write_value(
        self,
        memory: _DevicePointer,
        value: SupportsIndex,
        flags: SupportsIndex = 0,
        width: SupportsIndex = 4,
    ) -> None: ...
    def batch_memory_operations(
        self, operations: Iterable[tuple[Any, ...]], /
    ) -> None: ...
    def capture(
        self, graph: Graph | None = None, after: _After = (), early: bool = True
    ) -> StreamCapture: ...

@disjoint_base
class Event:
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, flags: SupportsIndex = 0) -> None: ...
    def record(self, stream: _Stream = None, flags: SupportsIndex = 0) -> Self: ...
    def synchronize(self) -> Self: ...
    def query(self) -> bool: ...
    def time_since(self, event: Event, /) -> float: ...
    def time_till(self, event: Event, /) -> float: ...
    def ipc_handle(self) -> bytearray: ...
    @classmethod
    def from_ipc_handle(cls, handle: bytearray | bytes, /) -> Event: ...
    @classmethod
    def from_handle(
        cls, handle: SupportsIndex | _AnyEvent, owner: object = None
    ) -> Self: ...

# -- graphs ----------------------------------------------------------------------------

_After: TypeAlias = GraphNode | Iterable[GraphNode] | None

@final
class _GraphResources: ...

@final
class StreamCapture:
    # To the end of the class: written by tools/make_stub.py
    def __enter__(self) -> Graph: ...
    def __exit__(self, *exc_info: object) -> Literal[False]: ...

@disjoint_base
class Graph:
    @property
    def handle(self) -> int: ...
    @property
    def nodes(self) -> tuple[GraphNode, ...]: ...
    @property
    def leaves(self) -> tuple[GraphNode, ...]: ...
    @property
    def edges(self) -> tuple[tuple[GraphNode, GraphNode], ...]: ...
    # To the end of the class: written by tools/make_stub.py
    def condition(self, value: SupportsIndex = 0, reset: bool = True) -> np.uint64: ...
    def instantiate(
        self, priorities: bool = False, device_launch: bool = False
    ) -> GraphExec: ...
    def clone(self) -> Self: ...
    def find(self, node: GraphNode, /) -> GraphNode: ...
    def to_dot(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def add_edge(
        self, before: GraphNode, after: GraphNode, programmatic: bool = False
    ) -> None: ...
    def remove_edge(self, before: GraphNode, after: GraphNode) -> None: ...
    def add_kernel(
        self,
        function: Function,
        /,
        *args: Any,
        block: _Dims,
        grid: _Dims = (1, 1, 1),
        shared: SupportsIndex = 0,
        after: _After = (),
    ) -> GraphNode: ...
    def add_copy(
        self, dest: Any, src: Any, size: SupportsIndex | None = None, after: _After = ()
    ) -> GraphNode: ...
    def add_set(
        self,
        dest: Any,
        value: SupportsIndex,
        count: SupportsIndex | None = None,
        width: SupportsIndex = 1,
        after: _After = (),
    ) -> GraphNode: ...
    def add_host(
        self, function: Callable[[], object], after: _After = ()
    ) -> GraphNode: ...
    def add_empty(self, after: _After = ()) -> GraphNode: ...
    def add_event_record(self, event: Event, after: _After = ()) -> GraphNode: ...
    def add_event_wait(self, event: Event, after: _After = ()) -> GraphNode: ...
    def add_child(self, graph: Graph, after: _After = ()) -> GraphNode: ...
    def add_if(
        self, condition: SupportsIndex, otherwise: bool = False, after: _After = ()
    ) -> GraphNode: ...
    def add_while(self, condition: SupportsIndex, after: _After = ()) -> GraphNode: ...
    def add_switch(
        self, condition: SupportsIndex, count: SupportsIndex, after: _After = ()
    ) -> GraphNode: ...
    def add_batch(
        self, operations: Iterable[tuple[Any, ...]], after: _After = ()
    ) -> GraphNode: ...
    def add_alloc(self, bytes: SupportsIndex, after: _After = ()) -> GraphNode: ...
    def add_free(self, node: GraphNode, after: _After = ()) -> GraphNode: ...
    def retain(self, user_object: UserObject, count: SupportsIndex = 1) -> None: ...
    def release(self, user_object: UserObject, count: SupportsIndex = 1) -> None: ...

@final
class GraphNode:
    @property
    def type(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def handle(self) -> int: ...
    @property
    def function(self) -> Function | None: ...
    @property
    def grid(self) -> tuple[int, int, int] | None: ...
    @property
    def block(self) -> tuple[int, int, int] | None: ...
    @property
    def shared(self) -> int | None: ...
    @property
    def address(self) -> int | None: ...
    @property
    def bodies(self) -> tuple[Graph, ...]: ...
    @property
    def dependencies(self) -> tuple[GraphNode, ...]: ...
    @property
    def dependents(self) -> tuple[GraphNode, ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def remove(self) -> None: ...

@final
class GraphExec:
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def launch(self, stream: _Stream = None) -> None: ...
    def upload(self, stream: _Stream = None) -> None: ...
    def update(self, graph: Graph, /) -> None: ...
    def update_node(self, node: GraphNode, /, *args: Any, **kwargs: Any) -> None: ...
    def enable(self, node: GraphNode, enabled: bool = True) -> None: ...

@disjoint_base
class UserObject:
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, function: Callable[[], object]) -> None: ...
    def release(self) -> None: ...

# -- memory ----------------------------------------------------------------------------

@disjoint_base
class DeviceAllocation:
    def __int__(self, /) -> int: ...
    def __index__(self, /) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def free(self, stream: _Stream = None) -> None: ...
    def as_buffer(
        self, size: SupportsIndex, offset: SupportsIndex = 0
    ) -> memoryview: ...
    def __long__(self) -> int: ...
    def as_dlpack(
        self,
        shape: _Shape,
        dtype: DTypeLike,
        strides: Sequence[SupportsIndex] | None = None,
        max_version: tuple[int, int] | None = None,
    ) -> object: ...

class ManagedAllocation(DeviceAllocation):
    # To the end of the class: written by tools/make_stub.py
    def attach(self, mem_flags: SupportsIndex, stream: _Stream = None) -> None: ...
    def get_device_pointer(self) -> int: ...

ManagedAllocationOrStub = ManagedAllocation

@disjoint_base
class StreamAllocation(DeviceAllocation):
    @property
    def stream(self) -> _Stream: ...

@disjoint_base
class VirtualMemory(DeviceAllocation):
    @property
    def size(self) -> int: ...
    @property
    def mappings(self) -> list[tuple[int, int]]: ...
    def free(self) -> None: ...  # type: ignore[override]
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, size: SupportsIndex, alignment: SupportsIndex = 0) -> None: ...
    def map(
        self,
        memory: PhysicalMemory,
        offset: SupportsIndex = 0,
        memory_offset: SupportsIndex = 0,
        size: SupportsIndex | None = None,
        access: SupportsIndex = 3,
    ) -> None: ...
    def unmap(
        self, offset: SupportsIndex = 0, size: SupportsIndex | None = None
    ) -> None: ...
    def set_access(
        self,
        device: _DeviceOrNumber,
        flags: SupportsIndex = 3,
        offset: SupportsIndex = 0,
        size: SupportsIndex | None = None,
    ) -> None: ...
    def get_access(
        self, device: _DeviceOrNumber, offset: SupportsIndex = 0
    ) -> mem_access_flags: ...

@disjoint_base
class PhysicalMemory:
    @property
    def size(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self, size: SupportsIndex, device: _DeviceOrNumber = None, ipc: bool = False
    ) -> None: ...
    def free(self) -> None: ...
    def export_handle(self) -> int: ...
    @classmethod
    def from_handle(cls, handle: SupportsIndex, size: SupportsIndex) -> Self: ...

@disjoint_base
class IPCMemoryHandle:
    def __int__(self, /) -> int: ...
    def __index__(self, /) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self,
        ipc_handle: bytearray | bytes,
        flags: ipc_mem_flags | SupportsIndex = ...,
        /,
    ) -> None: ...
    def close(self) -> None: ...
    def __long__(self) -> int: ...

class PointerHolderBase:
    def __int__(self, /) -> int: ...
    def __index__(self, /) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def get_pointer(self) -> int: ...
    def as_buffer(
        self, size: SupportsIndex, offset: SupportsIndex = 0
    ) -> memoryview: ...
    def __long__(self) -> int: ...

@disjoint_base
class HostPointer:
    # To the end of the class: written by tools/make_stub.py
    def get_device_pointer(self) -> int: ...

class PagelockedHostAllocation(HostPointer):
    # To the end of the class: written by tools/make_stub.py
    def free(self) -> None: ...
    def get_flags(self) -> int: ...

HostAllocation = PagelockedHostAllocation

@disjoint_base
class AlignedHostAllocation(HostPointer):
    # To the end of the class: written by tools/make_stub.py
    def free(self) -> None: ...

@disjoint_base
class RegisteredHostMemory(HostPointer):
    @property
    def base(self) -> np.ndarray[Any, Any]: ...
    # To the end of the class: written by tools/make_stub.py
    def unregister(self) -> None: ...

@final
class PooledDeviceAllocation:
    def __int__(self, /) -> int: ...
    def __index__(self, /) -> int: ...
    def __len__(self, /) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def free(self, stream: _Stream = None) -> None: ...
    def __long__(self) -> int: ...
    def as_dlpack(
        self,
        shape: _Shape,
        dtype: DTypeLike,
        strides: Sequence[SupportsIndex] | None = None,
        max_version: tuple[int, int] | None = None,
    ) -> object: ...

@final
class PooledHostAllocation:
    def __len__(self, /) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def free(self) -> None: ...

@final
class ForeignAllocation:
    def __int__(self, /) -> int: ...
    def __index__(self, /) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> tuple[int, int]: ...
    @property
    def readonly(self) -> bool: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class _MemoryPool:
    @property
    def held_blocks(self) -> int: ...
    @property
    def active_blocks(self) -> int: ...
    @property
    def managed_bytes(self) -> int: ...
    @property
    def active_bytes(self) -> int: ...
    def free_held(self) -> None: ...
    def stop_holding(self) -> None: ...
    def bin_number(self, size: SupportsIndex, /) -> int: ...
    def alloc_size(self, bin: SupportsIndex, /) -> int: ...

@disjoint_base
class DeviceMemoryPool(_MemoryPool):
    # To the end of the class: written by tools/make_stub.py
    def allocate(self, size: SupportsIndex, /) -> PooledDeviceAllocation: ...

@disjoint_base
class MemoryPool(_MemoryPool):
    release_threshold: int
    hold_limit: int
    @property
    def reserved_bytes(self) -> int: ...
    @property
    def used_bytes(self) -> int: ...
    @property
    def device(self) -> Device: ...
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self,
        device: _DeviceOrNumber = None,
        max_size: SupportsIndex = 0,
        ipc: bool = False,
    ) -> None: ...
    def allocate(self, size: SupportsIndex, /) -> PooledDeviceAllocation: ...
    @classmethod
    def get_current(cls, device: _DeviceOrNumber = None) -> Self: ...
    @classmethod
    def get_default(cls, device: _DeviceOrNumber = None) -> Self: ...
    def make_current(self) -> None: ...
    def trim(self, min_bytes: SupportsIndex = 0) -> None: ...
    def get_attribute(self, attribute: SupportsIndex, /) -> int | bool: ...
    def set_attribute(
        self, attribute: SupportsIndex, value: SupportsIndex, /
    ) -> None: ...
    def set_access(self, device: _DeviceOrNumber, flags: SupportsIndex = 3) -> None: ...
    def get_access(self, device: _DeviceOrNumber) -> mem_access_flags: ...
    @classmethod
    def from_handle(
        cls, handle: SupportsIndex, device: _DeviceOrNumber = None
    ) -> Self: ...
    def export_handle(self) -> int: ...
    def export_pointer(self, memory: _DevicePointer, /) -> bytes: ...
    def import_pointer(self, data: Buffer, /) -> StreamAllocation: ...

@disjoint_base
class PageLockedAllocator:
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, flags: SupportsIndex = 0, /) -> None: ...

@disjoint_base
class PageLockedMemoryPool(_MemoryPool):
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, allocator: PageLockedAllocator = ..., /) -> None: ...
    @overload
    def allocate(
        self,
        shape: _Shape,
        dtype: type[_Scalar] | np.dtype[_Scalar],
        order: _Order = "C",
    ) -> NDArray[_Scalar]: ...
    @overload
    def allocate(
        self, shape: _Shape, dtype: DTypeLike, order: _Order = "C"
    ) -> NDArray[Any]: ...

# -- arrays ----------------------------------------------------------------------------

@disjoint_base
class ArrayDescriptor:
    width: int
    height: int
    format: array_format
    num_channels: int

@disjoint_base
class ArrayDescriptor3D:
    width: int
    height: int
    depth: int
    format: array_format
    num_channels: int
    flags: int

@disjoint_base
class MipmappedArray:
    @property
    def handle(self) -> int: ...
    @property
    def levels(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self, descriptor: ArrayDescriptor | ArrayDescriptor3D, levels: SupportsIndex = 0
    ) -> None: ...
    def get_level(self, level: SupportsIndex, /) -> Array: ...
    def get_descriptor_3d(self) -> ArrayDescriptor3D: ...
    def free(self) -> None: ...

@disjoint_base
class Array:
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, descriptor: ArrayDescriptor | ArrayDescriptor3D) -> None: ...
    def free(self) -> None: ...
    def get_descriptor(self) -> ArrayDescriptor: ...
    def get_descriptor_3d(self) -> ArrayDescriptor3D: ...
    def set(
        self,
        source: _HostBuffer | _DevicePointer,
        stream: _Stream = None,
        pitch: SupportsIndex = 0,
    ) -> None: ...
    def get(self) -> np.ndarray[Any, np.dtype[Any]]: ...

# -- copies of rectangles and boxes ----------------------------------------------------

@disjoint_base
class Memcpy2D:
    src_memory_type: memory_type
    src_x_in_bytes: int
    src_y: int
    src_device: int
    src_pitch: int
    dst_memory_type: memory_type
    dst_x_in_bytes: int
    dst_y: int
    dst_device: int
    dst_pitch: int
    width_in_bytes: int
    height: int
    @overload
    def __call__(self, aligned: bool | None = True) -> None: ...
    @overload
    def __call__(self, stream: Stream) -> None: ...
    # To the end of the class: written by tools/make_stub.py
    def set_src_host(self, buffer: _HostBuffer, /) -> None: ...
    def set_dst_host(self, buffer: _HostBuffer, /) -> None: ...
    def set_src_device(self, devptr: _DevicePointer, /) -> None: ...
    def set_dst_device(self, devptr: _DevicePointer, /) -> None: ...
    def set_src_array(self, array: Array, /) -> None: ...
    def set_dst_array(self, array: Array, /) -> None: ...
    def set_src_unified(self, buffer: _HostBuffer | _DevicePointer, /) -> None: ...
    def set_dst_unified(self, buffer: _HostBuffer | _DevicePointer, /) -> None: ...

@disjoint_base
class Memcpy3D:
    src_memory_type: memory_type
    src_x_in_bytes: int
    src_y: int
    src_z: int
    src_lod: int
    src_device: int
    src_pitch: int
    src_height: int
    dst_memory_type: memory_type
    dst_x_in_bytes: int
    dst_y: int
    dst_z: int
    dst_lod: int
    dst_device: int
    dst_pitch: int
    dst_height: int
    width_in_bytes: int
    height: int
    depth: int
    def __call__(self, stream: _Stream = None) -> None: ...
    # To the end of the class: written by tools/make_stub.py
    def set_src_host(self, buffer: _HostBuffer, /) -> None: ...
    def set_dst_host(self, buffer: _HostBuffer, /) -> None: ...
    def set_src_device(self, devptr: _DevicePointer, /) -> None: ...
    def set_dst_device(self, devptr: _DevicePointer, /) -> None: ...
    def set_src_array(self, array: Array, /) -> None: ...
    def set_dst_array(self, array: Array, /) -> None: ...
    def set_src_unified(self, buffer: _HostBuffer | _DevicePointer, /) -> None: ...
    def set_dst_unified(self, buffer: _HostBuffer | _DevicePointer, /) -> None: ...

@disjoint_base
class Memcpy3DPeer:
    src_memory_type: memory_type
    src_x_in_bytes: int
    src_y: int
    src_z: int
    src_lod: int
    src_device: int
    src_pitch: int
    src_height: int
    dst_memory_type: memory_type
    dst_x_in_bytes: int
    dst_y: int
    dst_z: int
    dst_lod: int
    dst_device: int
    dst_pitch: int
    dst_height: int
    width_in_bytes: int
    height: int
    depth: int
    def __call__(self, stream: _Stream = None) -> None: ...
    # To the end of the class: written by tools/make_stub.py
    def set_src_host(self, buffer: _HostBuffer, /) -> None: ...
    def set_dst_host(self, buffer: _HostBuffer, /) -> None: ...
    def set_src_device(self, devptr: _DevicePointer, /) -> None: ...
    def set_dst_device(self, devptr: _DevicePointer, /) -> None: ...
    def set_src_array(self, array: Array, /) -> None: ...
    def set_dst_array(self, array: Array, /) -> None: ...
    def set_src_unified(self, buffer: _HostBuffer | _DevicePointer, /) -> None: ...
    def set_dst_unified(self, buffer: _HostBuffer | _DevicePointer, /) -> None: ...
    def set_src_context(self, ctx: Context | None, /) -> None: ...
    def set_dst_context(self, ctx: Context | None, /) -> None: ...

# -- textures and surfaces -------------------------------------------------------------

TR_DEFAULT: int
TRSA_OVERRIDE_FORMAT: int
TRSF_NORMALIZED_COORDINATES: int
TRSF_READ_AS_INTEGER: int

@disjoint_base
class TextureObject:
    @property
    def handle(self) -> int: ...
    @property
    def source(self) -> Any: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self,
        source: Array | MipmappedArray | _DevicePointer,
        descriptor: ArrayDescriptor | ArrayDescriptor3D | None = None,
        pitch: SupportsIndex = 0,
        address_mode: address_mode | SupportsIndex | Sequence[Any] = ...,
        filter_mode: filter_mode | SupportsIndex = ...,
        normalized_coords: bool = False,
        read_as_float: bool = False,
        srgb: bool = False,
        border_color: Sequence[float] | None = None,
        max_anisotropy: SupportsIndex = 0,
        seamless_cubemap: bool = False,
        mipmap_filter_mode: filter_mode | SupportsIndex = ...,
        mipmap_level_bias: SupportsFloat = 0,
        min_mipmap_level: SupportsFloat = 0,
        max_mipmap_level: SupportsFloat = 1000,
    ) -> None: ...
    def free(self) -> None: ...

@disjoint_base
class SurfaceObject:
    @property
    def handle(self) -> int: ...
    @property
    def source(self) -> Any: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, array: Array) -> None: ...
    def free(self) -> None: ...

@disjoint_base
class TextureReference:
    # To the end of the class: written by tools/make_stub.py
    def set_array(self, array: Array, /) -> None: ...
    def set_address(
        self, devptr: _DevicePointer, bytes: SupportsIndex, allow_offset: bool = False
    ) -> int: ...
    def set_address_2d(
        self,
        devptr: _DevicePointer,
        descr: ArrayDescriptor | ArrayDescriptor3D,
        pitch: SupportsIndex,
    ) -> None: ...
    def set_format(
        self, format: array_format | SupportsIndex, num_components: SupportsIndex
    ) -> None: ...
    def set_address_mode(
        self, dim: SupportsIndex, am: address_mode | SupportsIndex
    ) -> None: ...
    def set_filter_mode(self, fm: filter_mode | SupportsIndex, /) -> None: ...
    def set_flags(self, flags: SupportsIndex, /) -> None: ...
    def get_address(self) -> int: ...
    def get_array(self) -> Array: ...
    def get_address_mode(self, dim: SupportsIndex, /) -> address_mode: ...
    def get_filter_mode(self) -> filter_mode: ...
    def get_format(self) -> tuple[array_format, int]: ...
    def get_flags(self) -> int: ...

@disjoint_base
class SurfaceReference:
    # To the end of the class: written by tools/make_stub.py
    def set_array(self, array: Array, flags: SupportsIndex = 0) -> None: ...
    def get_array(self) -> Array: ...

# -- modules and kernels ---------------------------------------------------------------

@disjoint_base
class Module:
    @property
    def handle(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def get_function(self, name: str) -> Function: ...
    def get_global(self, name: str) -> tuple[int, int]: ...
    def get_texref(self, name: str) -> TextureReference: ...
    def get_surfref(self, name: str) -> SurfaceReference: ...
    @classmethod
    def from_handle(
        cls,
        handle: SupportsIndex | _HasHandle | _HasPtr,
        owner: object = None,
        library: bool = False,
    ) -> Self: ...

@disjoint_base
class Linker:
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self,
        message_handler: Callable[[bool, str, str], object] | None = None,
        options: _JitOptions | None = None,
        log_verbose: object = False,
        /,
    ) -> None: ...
    def add_data(
        self,
        data: _HostBuffer,
        input_type: jit_input_type | SupportsIndex,
        name: str = "unknown",
    ) -> None: ...
    def add_file(
        self, filename: _FileName, input_type: jit_input_type | SupportsIndex
    ) -> None: ...
    def link_module(self) -> Module: ...

@final
class TensorMap:
    @property
    def array(self) -> Any: ...
    # To the end of the class: written by tools/make_stub.py
    def __new__(
        cls,
        array: _HasCudaArrayInterface,
        box: Sequence[SupportsIndex],
        swizzle: tensor_map_swizzle | SupportsIndex = 0,
        element_strides: Sequence[SupportsIndex] | None = None,
        interleave: tensor_map_interleave | SupportsIndex = 0,
        l2_promotion: tensor_map_l2_promotion | SupportsIndex = 0,
        oob_fill: tensor_map_oob_fill | SupportsIndex = 0,
        data_type: tensor_map_data_type | SupportsIndex | None = None,
    ) -> Self: ...
    @classmethod
    def im2col(
        cls,
        array: _HasCudaArrayInterface,
        lower: Sequence[SupportsIndex],
        upper: Sequence[SupportsIndex],
        channels: SupportsIndex,
        pixels: SupportsIndex,
        swizzle: tensor_map_swizzle | SupportsIndex = 0,
        element_strides: Sequence[SupportsIndex] | None = None,
        interleave: tensor_map_interleave | SupportsIndex = 0,
        l2_promotion: tensor_map_l2_promotion | SupportsIndex = 0,
        oob_fill: tensor_map_oob_fill | SupportsIndex = 0,
        data_type: tensor_map_data_type | SupportsIndex | None = None,
    ) -> Self: ...
    def __bytes__(self) -> bytes: ...

@final
class LaunchConfig:
    @property
    def attributes(self) -> dict[launch_attribute, Any]: ...
    # To the end of the class: written by tools/make_stub.py
    def __new__(
        cls,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        attributes: Mapping[launch_attribute | SupportsIndex, Any] | None = None,
    ) -> Self: ...

@disjoint_base
class Function:
    # Set by prepare(), or by the program.
    arg_format: str
    # Set by prepare().
    texrefs: list[Any]
    @property
    def handle(self) -> int: ...
    @property
    def name(self) -> str: ...
    @overload
    def __call__(
        self,
        *args: _KernelArgument,
        block: _Dims,
        grid: _Dims = ...,
        stream: _Stream = ...,
        shared: SupportsIndex = ...,
        texrefs: Sequence[Any] | None = ...,
        time_kernel: Literal[False] = ...,
        cooperative: bool | None = ...,
        cluster: _Dims | None = ...,
        programmatic: bool | None = ...,
        priority: SupportsIndex | None = ...,
        launch_config: LaunchConfig | None = ...,
    ) -> None: ...
    @overload
    def __call__(
        self,
        *args: _KernelArgument,
        block: _Dims,
        grid: _Dims = ...,
        stream: _Stream = ...,
        shared: SupportsIndex = ...,
        texrefs: Sequence[Any] | None = ...,
        time_kernel: Literal[True],
        cooperative: bool | None = ...,
        cluster: _Dims | None = ...,
        programmatic: bool | None = ...,
        priority: SupportsIndex | None = ...,
        launch_config: LaunchConfig | None = ...,
    ) -> float: ...
    @overload
    def __call__(
        self,
        *args: _KernelArgument,
        block: _Dims,
        grid: _Dims = ...,
        stream: _Stream = ...,
        shared: SupportsIndex = ...,
        texrefs: Sequence[Any] | None = ...,
        time_kernel: bool,
        cooperative: bool | None = ...,
        cluster: _Dims | None = ...,
        programmatic: bool | None = ...,
        priority: SupportsIndex | None = ...,
        launch_config: LaunchConfig | None = ...,
    ) -> float | None: ...
    @overload
    def __call__(
        self,
        *args: _KernelArgument,
        size: _Dims,
        stream: _Stream = ...,
        shared: SupportsIndex = ...,
        texrefs: Sequence[Any] | None = ...,
        time_kernel: Literal[False] = ...,
        cooperative: bool | None = ...,
        cluster: _Dims | None = ...,
        programmatic: bool | None = ...,
        priority: SupportsIndex | None = ...,
        launch_config: LaunchConfig | None = ...,
    ) -> None: ...
    @overload
    def __call__(
        self,
        *args: _KernelArgument,
        size: _Dims,
        stream: _Stream = ...,
        shared: SupportsIndex = ...,
        texrefs: Sequence[Any] | None = ...,
        time_kernel: bool,
        cooperative: bool | None = ...,
        cluster: _Dims | None = ...,
        programmatic: bool | None = ...,
        priority: SupportsIndex | None = ...,
        launch_config: LaunchConfig | None = ...,
    ) -> float | None: ...
    # attributes of Function: written by tools/make_stub.py
    max_threads_per_block: int
    """The largest number of threads of a block for this function."""
    shared_size_bytes: int
    """Shared memory of a block that the source declares, in bytes."""
    const_size_bytes: int
    """Constant memory that the source declares, in bytes."""
    local_size_bytes: int
    """Local memory of a thread, in bytes."""
    num_regs: int
    """The number of registers of a thread."""
    ptx_version: int
    """The PTX target, 10 times major plus minor: 90 for 9.0."""
    binary_version: int
    """The target of the binary code, 10 times major plus minor: 90 for 9.0."""
    cache_mode_ca: int
    """1 if the function was compiled to cache global loads in L1, otherwise 0."""
    max_dynamic_shared_size_bytes: int
    """The largest shared memory that a launch may ask for, in bytes."""
    preferred_shared_memory_carveout: int
    """The preferred part of on-chip memory for shared memory, in percent; -1: no
    preference."""
    cluster_size_must_be_set: int
    """1 if a launch must give the size of clusters, otherwise 0."""
    required_cluster_width: int
    """The required size of a cluster in x, in blocks; 0 if there is none."""
    required_cluster_height: int
    """The required size of a cluster in y, in blocks; 0 if there is none."""
    required_cluster_depth: int
    """The required size of a cluster in z, in blocks; 0 if there is none."""
    non_portable_cluster_size_allowed: int
    """1 if clusters may be larger than all devices support, otherwise 0."""
    cluster_scheduling_policy_preference: int
    """Order of clusters: 0 default, 1 spread over multiprocessors, 2 balanced."""
    # attributes of Function: end
    # To the end of the class: written by tools/make_stub.py
    def get_attribute(self, attr: function_attribute | SupportsIndex, /) -> int: ...
    def set_attribute(
        self, attr: function_attribute | SupportsIndex, value: SupportsIndex, /
    ) -> None: ...
    def set_cache_config(self, config: func_cache | SupportsIndex, /) -> None: ...
    def set_shared_config(self, config: shared_config | SupportsIndex, /) -> None: ...
    def param_set_texref(self, texref: Any, /) -> None: ...
    def prepare(
        self, arg_types: str | Iterable[Any], texrefs: Iterable[Any] | None = None
    ) -> Self: ...
    @overload
    def prepared_call(
        self,
        grid: _Dims,
        block: _Dims,
        *args: Any,
        shared_size: SupportsIndex = 0,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        launch_config: LaunchConfig | None = None,
    ) -> None: ...
    @overload
    def prepared_call(
        self,
        *args: Any,
        size: _Dims,
        shared_size: SupportsIndex = 0,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        launch_config: LaunchConfig | None = None,
    ) -> None: ...
    @overload
    def prepared_async_call(
        self,
        grid: _Dims,
        block: _Dims,
        stream: _Stream,
        *args: Any,
        shared_size: SupportsIndex = 0,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        launch_config: LaunchConfig | None = None,
    ) -> None: ...
    @overload
    def prepared_async_call(
        self,
        stream: _Stream,
        *args: Any,
        size: _Dims,
        shared_size: SupportsIndex = 0,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        launch_config: LaunchConfig | None = None,
    ) -> None: ...
    @overload
    def prepared_timed_call(
        self,
        grid: _Dims,
        block: _Dims,
        *args: Any,
        shared_size: SupportsIndex = 0,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        launch_config: LaunchConfig | None = None,
    ) -> Callable[[], float]: ...
    @overload
    def prepared_timed_call(
        self,
        *args: Any,
        size: _Dims,
        shared_size: SupportsIndex = 0,
        cooperative: bool | None = None,
        cluster: _Dims | None = None,
        programmatic: bool | None = None,
        priority: SupportsIndex | None = None,
        launch_config: LaunchConfig | None = None,
    ) -> Callable[[], float]: ...
    def param_set(self, *args: _KernelArgument) -> None: ...
    def _param_set(self, *args: _KernelArgument) -> None: ...
    def param_set_size(self, bytes: SupportsIndex) -> None: ...
    def _param_set_size(self, bytes: SupportsIndex, /) -> None: ...
    def param_seti(self, offset: SupportsIndex, value: SupportsIndex) -> None: ...
    def _param_seti(self, offset: SupportsIndex, value: SupportsIndex, /) -> None: ...
    def param_setf(self, offset: SupportsIndex, value: float) -> None: ...
    def _param_setf(self, offset: SupportsIndex, value: float, /) -> None: ...
    def param_setv(self, offset: SupportsIndex, buffer: _HostBuffer) -> None: ...
    def _param_setv(self, offset: SupportsIndex, buffer: _HostBuffer, /) -> None: ...
    def set_block_shape(
        self, x: SupportsIndex, y: SupportsIndex, z: SupportsIndex
    ) -> None: ...
    def _set_block_shape(
        self, x: SupportsIndex, y: SupportsIndex, z: SupportsIndex, /
    ) -> None: ...
    def set_shared_size(self, bytes: SupportsIndex) -> None: ...
    def _set_shared_size(self, bytes: SupportsIndex, /) -> None: ...
    def launch(self) -> None: ...
    def _launch(self) -> None: ...
    def launch_grid(self, width: SupportsIndex, height: SupportsIndex) -> None: ...
    def _launch_grid(
        self, grid_width: SupportsIndex, grid_height: SupportsIndex
    ) -> None: ...
    def launch_grid_async(
        self, width: SupportsIndex, height: SupportsIndex, stream: _Stream
    ) -> None: ...
    def _launch_grid_async(
        self, grid_width: SupportsIndex, grid_height: SupportsIndex, s: _Stream
    ) -> None: ...
    def _launch_kernel(
        self,
        grid: _Dims,
        block: _Dims,
        param_buffer: _HostBuffer,
        shared: SupportsIndex,
        stream: _Stream,
        /,
    ) -> None: ...
    @classmethod
    def from_handle(
        cls, handle: SupportsIndex | _HasHandle | _HasPtr, owner: object = None
    ) -> Function: ...
    def max_active_blocks(self, block: _Dims, shared: SupportsIndex = 0) -> int: ...
    def suggest_block(
        self,
        shared: SupportsIndex | Callable[[int], SupportsIndex] = 0,
        limit: SupportsIndex = 0,
    ) -> tuple[int, int]: ...
    def available_shared(self, block: _Dims, blocks: SupportsIndex = 1) -> int: ...
    def max_active_clusters(
        self, cluster: _Dims, block: _Dims, shared: SupportsIndex = 0
    ) -> int: ...
    def max_cluster_size(self, block: _Dims, shared: SupportsIndex = 0) -> int: ...

@disjoint_base
class ArgumentHandler:
    array: Any
    dev_alloc: Any
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, array: _HasNbytes) -> None: ...
    def get_device_alloc(self) -> Any: ...
    def pre_call(self, stream: Stream | None) -> None: ...

class In(ArgumentHandler): ...

class Out(ArgumentHandler):
    # To the end of the class: written by tools/make_stub.py
    def post_call(self, stream: Stream | None) -> None: ...

class InOut(In, Out): ...

# -- OpenGL ----------------------------------------------------------------------------

_GraphicsFlags: TypeAlias = graphics_map_flags | graphics_register_flags | SupportsIndex

@disjoint_base
class RegisteredObject:
    # To the end of the class: written by tools/make_stub.py
    def gl_handle(self) -> int: ...
    def unregister(self) -> None: ...
    def map(self, stream: _Stream = None) -> RegisteredMapping: ...

class RegisteredBuffer(RegisteredObject):
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, bufobj: SupportsIndex, flags: _GraphicsFlags = 0) -> None: ...

class RegisteredImage(RegisteredObject):
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self, bufobj: SupportsIndex, target: SupportsIndex, flags: _GraphicsFlags = 0
    ) -> None: ...

@final
class RegisteredMapping:
    # To the end of the class: written by tools/make_stub.py
    def unmap(self, stream: _Stream = ...) -> None: ...
    def device_ptr_and_size(self) -> tuple[int, int]: ...
    def array(self, index: SupportsIndex, level: SupportsIndex) -> Array: ...

@disjoint_base
class BufferObject:
    # To the end of the class: written by tools/make_stub.py
    def __init__(self, bufobj: SupportsIndex) -> None: ...
    def handle(self) -> int: ...
    def unregister(self) -> None: ...
    def map(self) -> BufferObjectMapping: ...

@final
class BufferObjectMapping:
    # To the end of the class: written by tools/make_stub.py
    def unmap(self) -> None: ...
    def device_ptr(self) -> int: ...
    def size(self) -> int: ...

# -- enumerations ----------------------------------------------------------------------

@type_check_only
class _Enumeration(int):
    names: ClassVar[dict[str, Self]]
    values: ClassVar[dict[int, Self]]
    def __new__(cls, value: SupportsIndex, /) -> Self: ...
    @property
    def name(self) -> str | None: ...

# enumerations: written by tools/make_stub.py
class address_mode(_Enumeration):
    """Results of texture reads outside the image."""

    WRAP: ClassVar[address_mode]
    """The image repeats."""
    CLAMP: ClassVar[address_mode]
    """The nearest element of the image is read."""
    MIRROR: ClassVar[address_mode]
    """The image repeats, every second time mirrored."""
    BORDER: ClassVar[address_mode]
    """The border value is read, which is 0 by default."""

class array_cubemap_face(_Enumeration):
    """Faces of a cube map, by layer."""

    POSITIVE_X: ClassVar[array_cubemap_face]
    """The face in the direction of positive x."""
    NEGATIVE_X: ClassVar[array_cubemap_face]
    """The face in the direction of negative x."""
    POSITIVE_Y: ClassVar[array_cubemap_face]
    """The face in the direction of positive y."""
    NEGATIVE_Y: ClassVar[array_cubemap_face]
    """The face in the direction of negative y."""
    POSITIVE_Z: ClassVar[array_cubemap_face]
    """The face in the direction of positive z."""
    NEGATIVE_Z: ClassVar[array_cubemap_face]
    """The face in the direction of negative z."""

class array_format(_Enumeration):
    """Element formats of CUDA arrays."""

    UNSIGNED_INT8: ClassVar[array_format]
    """Unsigned integers of 8 bits."""
    UNSIGNED_INT16: ClassVar[array_format]
    """Unsigned integers of 16 bits."""
    UNSIGNED_INT32: ClassVar[array_format]
    """Unsigned integers of 32 bits."""
    SIGNED_INT8: ClassVar[array_format]
    """Signed integers of 8 bits."""
    SIGNED_INT16: ClassVar[array_format]
    """Signed integers of 16 bits."""
    SIGNED_INT32: ClassVar[array_format]
    """Signed integers of 32 bits."""
    HALF: ClassVar[array_format]
    """Floating-point numbers of 16 bits."""
    FLOAT: ClassVar[array_format]
    """Floating-point numbers of 32 bits."""

class compute_mode(_Enumeration):
    """Rules for making contexts on a device."""

    DEFAULT: ClassVar[compute_mode]
    """Several processes may have contexts."""
    PROHIBITED: ClassVar[compute_mode]
    """No process may have a context."""
    EXCLUSIVE_PROCESS: ClassVar[compute_mode]
    """One process at a time may have contexts."""
    EXCLUSIVE: ClassVar[compute_mode]
    """One thread at a time may have a context. Drivers no longer have this mode."""

class ctx_flags(_Enumeration):
    """Flags of Device.make_context."""

    SCHED_AUTO: ClassVar[ctx_flags]
    """The driver chooses between SCHED_SPIN and SCHED_YIELD."""
    SCHED_SPIN: ClassVar[ctx_flags]
    """A waiting thread keeps its CPU busy: the lowest latency."""
    SCHED_YIELD: ClassVar[ctx_flags]
    """A waiting thread lets other threads run between its looks."""
    SCHED_MASK: ClassVar[ctx_flags]
    """The bits that say how a thread waits."""
    BLOCKING_SYNC: ClassVar[ctx_flags]
    """The older name of SCHED_BLOCKING_SYNC."""
    SCHED_BLOCKING_SYNC: ClassVar[ctx_flags]
    """A waiting thread sleeps until the device is done."""
    MAP_HOST: ClassVar[ctx_flags]
    """Kernels can use page-locked memory. Since CUDA 3.2 this is always so."""
    LMEM_RESIZE_TO_MAX: ClassVar[ctx_flags]
    """Local memory is not made smaller after a kernel that needed much."""
    FLAGS_MASK: ClassVar[ctx_flags]
    """All bits that are flags."""

class direction_vector_set(_Enumeration):
    """Sobol direction vectors of cuRAND."""

    VECTOR_32: ClassVar[direction_vector_set]
    """Vectors of 32 bits for 20,000 dimensions, by Joe and Kuo."""
    SCRAMBLED_VECTOR_32: ClassVar[direction_vector_set]
    """Scrambled vectors of 32 bits for 20,000 dimensions."""
    VECTOR_64: ClassVar[direction_vector_set]
    """Vectors of 64 bits for 20,000 dimensions, by Joe and Kuo."""
    SCRAMBLED_VECTOR_64: ClassVar[direction_vector_set]
    """Scrambled vectors of 64 bits for 20,000 dimensions."""

class event_flags(_Enumeration):
    """Flags of Event."""

    DEFAULT: ClassVar[event_flags]
    """The event records times; a waiting thread keeps its CPU busy."""
    BLOCKING_SYNC: ClassVar[event_flags]
    """A thread that waits for the event sleeps."""
    DISABLE_TIMING: ClassVar[event_flags]
    """The event records no times, which makes it cheaper."""
    INTERPROCESS: ClassVar[event_flags]
    """Other processes can open the event. DISABLE_TIMING is needed, too."""

class event_record_flags(_Enumeration):
    """Flags of Event.record."""

    DEFAULT: ClassVar[event_record_flags]
    """In a capture, the event marks a place in the graph."""
    EXTERNAL: ClassVar[event_record_flags]
    """In a capture, the graph gets a node that records the event at each launch."""

class event_wait_flags(_Enumeration):
    """Flags of Stream.wait_for_event."""

    DEFAULT: ClassVar[event_wait_flags]
    """In a capture, the wait becomes a dependency in the graph."""
    EXTERNAL: ClassVar[event_wait_flags]
    """In a capture, the graph gets a node that waits for the event at each launch."""

class filter_mode(_Enumeration):
    """Interpolation of texture reads between elements."""

    POINT: ClassVar[filter_mode]
    """The nearest element is read."""
    LINEAR: ClassVar[filter_mode]
    """Elements around the place are interpolated."""

class func_cache(_Enumeration):
    """Preferred split of on-chip memory."""

    PREFER_NONE: ClassVar[func_cache]
    """No preference."""
    PREFER_SHARED: ClassVar[func_cache]
    """More shared memory, a smaller L1 cache."""
    PREFER_L1: ClassVar[func_cache]
    """A larger L1 cache, less shared memory."""
    PREFER_EQUAL: ClassVar[func_cache]
    """Shared memory and L1 cache of the same size."""

class graphics_map_flags(_Enumeration):
    """Flags for mapping an OpenGL object."""

    NONE: ClassVar[graphics_map_flags]
    """Kernels may read and write the object."""
    READ_ONLY: ClassVar[graphics_map_flags]
    """Kernels only read the object."""
    WRITE_DISCARD: ClassVar[graphics_map_flags]
    """Kernels only write the object; its earlier contents are lost."""

class graphics_register_flags(_Enumeration):
    """Flags for registering an OpenGL object."""

    NONE: ClassVar[graphics_register_flags]
    """Kernels may read and write the object."""
    READ_ONLY: ClassVar[graphics_register_flags]
    """Kernels only read the object."""
    WRITE_DISCARD: ClassVar[graphics_register_flags]
    """Kernels only write the object; its earlier contents are lost."""
    SURFACE_LDST: ClassVar[graphics_register_flags]
    """The object can be bound to a surface reference."""
    TEXTURE_GATHER: ClassVar[graphics_register_flags]
    """Kernels can gather from the object as a texture."""

class ipc_mem_flags(_Enumeration):
    """Flags of IPCMemoryHandle."""

    LAZY_ENABLE_PEER_ACCESS: ClassVar[ipc_mem_flags]
    """Access to the device that owns the memory is enabled when needed."""

class jit_fallback(_Enumeration):
    """Fallbacks of the JIT without a matching binary."""

    PREFER_PTX: ClassVar[jit_fallback]
    """PTX is compiled if no binary matches exactly."""
    PREFER_BINARY: ClassVar[jit_fallback]
    """A compatible binary is used if none matches exactly."""

class jit_input_type(_Enumeration):
    """Kinds of input of Linker."""

    CUBIN: ClassVar[jit_input_type]
    """Device code for one architecture."""
    PTX: ClassVar[jit_input_type]
    """PTX as text."""
    FATBINARY: ClassVar[jit_input_type]
    """Several cubins and PTX texts in one file."""
    OBJECT: ClassVar[jit_input_type]
    """An object file of the host with device code in it."""
    LIBRARY: ClassVar[jit_input_type]
    """A library of such object files."""

class jit_option(_Enumeration):
    """Options of the JIT compiler."""

    MAX_REGISTERS: ClassVar[jit_option]
    """The largest number of registers of a thread."""
    THREADS_PER_BLOCK: ClassVar[jit_option]
    """The number of threads of a block to compile for; afterwards the number
    reached."""
    WALL_TIME: ClassVar[jit_option]
    """The time that the compiler took, in ms. An output."""
    INFO_LOG_BUFFER: ClassVar[jit_option]
    """The address of a buffer for messages."""
    INFO_LOG_BUFFER_SIZE_BYTES: ClassVar[jit_option]
    """The size of that buffer, in bytes; afterwards the bytes that were written."""
    ERROR_LOG_BUFFER: ClassVar[jit_option]
    """The address of a buffer for errors."""
    ERROR_LOG_BUFFER_SIZE_BYTES: ClassVar[jit_option]
    """The size of that buffer, in bytes; afterwards the bytes that were written."""
    OPTIMIZATION_LEVEL: ClassVar[jit_option]
    """The level of optimization, 0 to 4; 4 by default."""
    TARGET_FROM_CUCONTEXT: ClassVar[jit_option]
    """Compile for the device of the current context, the default."""
    TARGET: ClassVar[jit_option]
    """The architecture to compile for, a jit_target."""
    FALLBACK_STRATEGY: ClassVar[jit_option]
    """What to do if no binary matches, a jit_fallback."""

class jit_target(_Enumeration):
    """Targets of the JIT compiler."""

    COMPUTE_30: ClassVar[jit_target]
    """Compute capability 3.0."""
    COMPUTE_32: ClassVar[jit_target]
    """Compute capability 3.2."""
    COMPUTE_35: ClassVar[jit_target]
    """Compute capability 3.5."""
    COMPUTE_37: ClassVar[jit_target]
    """Compute capability 3.7."""
    COMPUTE_50: ClassVar[jit_target]
    """Compute capability 5.0."""
    COMPUTE_52: ClassVar[jit_target]
    """Compute capability 5.2."""
    COMPUTE_53: ClassVar[jit_target]
    """Compute capability 5.3."""
    COMPUTE_60: ClassVar[jit_target]
    """Compute capability 6.0."""
    COMPUTE_61: ClassVar[jit_target]
    """Compute capability 6.1."""
    COMPUTE_62: ClassVar[jit_target]
    """Compute capability 6.2."""
    COMPUTE_70: ClassVar[jit_target]
    """Compute capability 7.0."""
    COMPUTE_72: ClassVar[jit_target]
    """Compute capability 7.2."""
    COMPUTE_75: ClassVar[jit_target]
    """Compute capability 7.5."""
    COMPUTE_80: ClassVar[jit_target]
    """Compute capability 8.0."""
    COMPUTE_86: ClassVar[jit_target]
    """Compute capability 8.6."""
    COMPUTE_90: ClassVar[jit_target]
    """Compute capability 9.0."""
    COMPUTE_90A: ClassVar[jit_target]
    """Compute capability 9.0, and what only this architecture has."""
    COMPUTE_87: ClassVar[jit_target]
    """Compute capability 8.7."""
    COMPUTE_89: ClassVar[jit_target]
    """Compute capability 8.9."""
    COMPUTE_100: ClassVar[jit_target]
    """Compute capability 10.0."""
    COMPUTE_103: ClassVar[jit_target]
    """Compute capability 10.3."""
    COMPUTE_110: ClassVar[jit_target]
    """Compute capability 11.0."""
    COMPUTE_120: ClassVar[jit_target]
    """Compute capability 12.0."""
    COMPUTE_121: ClassVar[jit_target]
    """Compute capability 12.1."""
    COMPUTE_100A: ClassVar[jit_target]
    """Compute capability 10.0, and what only this architecture has."""
    COMPUTE_103A: ClassVar[jit_target]
    """Compute capability 10.3, and what only this architecture has."""
    COMPUTE_110A: ClassVar[jit_target]
    """Compute capability 11.0, and what only this architecture has."""
    COMPUTE_120A: ClassVar[jit_target]
    """Compute capability 12.0, and what only this architecture has."""
    COMPUTE_121A: ClassVar[jit_target]
    """Compute capability 12.1, and what only this architecture has."""
    COMPUTE_10: ClassVar[jit_target]
    """Compute capability 1.0."""
    COMPUTE_11: ClassVar[jit_target]
    """Compute capability 1.1."""
    COMPUTE_12: ClassVar[jit_target]
    """Compute capability 1.2."""
    COMPUTE_13: ClassVar[jit_target]
    """Compute capability 1.3."""
    COMPUTE_20: ClassVar[jit_target]
    """Compute capability 2.0."""
    COMPUTE_21: ClassVar[jit_target]
    """Compute capability 2.1."""

class launch_attribute(_Enumeration):
    """Attributes of LaunchConfig."""

    ACCESS_POLICY_WINDOW: ClassVar[launch_attribute]
    """A range of memory that the L2 cache prefers to keep."""
    COOPERATIVE: ClassVar[launch_attribute]
    """1: all blocks are on the device together."""
    SYNCHRONIZATION_POLICY: ClassVar[launch_attribute]
    """How threads wait for a stream. For streams, not for launches."""
    CLUSTER_DIMENSION: ClassVar[launch_attribute]
    """The size of a cluster, in blocks."""
    CLUSTER_SCHEDULING_POLICY_PREFERENCE: ClassVar[launch_attribute]
    """Order of clusters: 0 default, 1 spread over multiprocessors, 2 balanced."""
    PROGRAMMATIC_STREAM_SERIALIZATION: ClassVar[launch_attribute]
    """1: the kernel may begin before the kernel ahead of it has ended."""
    PROGRAMMATIC_EVENT: ClassVar[launch_attribute]
    """An event that is recorded when all blocks have triggered it."""
    PRIORITY: ClassVar[launch_attribute]
    """The priority of the launch; a lower number is a higher priority."""
    MEM_SYNC_DOMAIN_MAP: ClassVar[launch_attribute]
    """The numbers of the default and the remote memory synchronization domain."""
    MEM_SYNC_DOMAIN: ClassVar[launch_attribute]
    """The memory synchronization domain: 0 default, 1 remote."""
    PREFERRED_CLUSTER_DIMENSION: ClassVar[launch_attribute]
    """The size of a cluster where it fits, in blocks: a multiple of
    CLUSTER_DIMENSION."""
    LAUNCH_COMPLETION_EVENT: ClassVar[launch_attribute]
    """An event that is recorded when all blocks have begun."""
    PREFERRED_SHARED_MEMORY_CARVEOUT: ClassVar[launch_attribute]
    """The preferred part of on-chip memory for shared memory, in percent."""
    NVLINK_UTIL_CENTRIC_SCHEDULING: ClassVar[launch_attribute]
    """1: a hint to place blocks, which cause equal traffic, so that NVLink is used
    most."""

class limit(_Enumeration):
    """Limits of a context."""

    STACK_SIZE: ClassVar[limit]
    """The stack of a thread, in bytes."""
    PRINTF_FIFO_SIZE: ClassVar[limit]
    """The buffer for output of printf in kernels, in bytes."""
    MALLOC_HEAP_SIZE: ClassVar[limit]
    """The heap for malloc in kernels, in bytes."""
    DEV_RUNTIME_SYNC_DEPTH: ClassVar[limit]
    """The deepest level of kernels started by kernels that can wait. Deprecated."""
    DEV_RUNTIME_PENDING_LAUNCH_COUNT: ClassVar[limit]
    """The number of launches by kernels that can be pending."""
    MAX_L2_FETCH_GRANULARITY: ClassVar[limit]
    """The bytes that the L2 cache fetches at once, 0 to 128. A hint."""
    PERSISTING_L2_CACHE_SIZE: ClassVar[limit]
    """The part of the L2 cache for persisting data, in bytes."""
    SHMEM_SIZE: ClassVar[limit]
    """The shared memory that kernels of a CIG context can use, in bytes. Read only."""
    CIG_ENABLED: ClassVar[limit]
    """Not 0 if the context shares the device with a graphics queue (CIG). Read only."""
    CIG_SHMEM_FALLBACK_ENABLED: ClassVar[limit]
    """0: in a CIG context, launches with too much shared memory fail."""

class mem_access_flags(_Enumeration):
    """Rights of a device to use memory."""

    NONE: ClassVar[mem_access_flags]
    """The device can neither read nor write the memory."""
    READ: ClassVar[mem_access_flags]
    """The device can read the memory."""
    READWRITE: ClassVar[mem_access_flags]
    """The device can read and write the memory."""

class mem_advice(_Enumeration):
    """Advice on the use of managed memory."""

    SET_READ_MOSTLY: ClassVar[mem_advice]
    """The memory is mostly read: each processor gets a copy of what it reads."""
    UNSET_READ_MOSTLY: ClassVar[mem_advice]
    """Undo SET_READ_MOSTLY."""
    SET_PREFERRED_LOCATION: ClassVar[mem_advice]
    """The memory stays at the given place if possible."""
    UNSET_PREFERRED_LOCATION: ClassVar[mem_advice]
    """Undo SET_PREFERRED_LOCATION."""
    SET_ACCESSED_BY: ClassVar[mem_advice]
    """The given device uses the memory: keep it mapped there, without page faults."""
    UNSET_ACCESSED_BY: ClassVar[mem_advice]
    """Undo SET_ACCESSED_BY."""

class mem_attach_flags(_Enumeration):
    """Rules for access to managed memory."""

    GLOBAL: ClassVar[mem_attach_flags]
    """All streams of all devices can use the memory."""
    HOST: ClassVar[mem_attach_flags]
    """No stream of a device can use the memory, only the host."""
    SINGLE: ClassVar[mem_attach_flags]
    """One stream of a device can use the memory."""

class mem_pool_attribute(_Enumeration):
    """Attributes of a MemoryPool."""

    REUSE_FOLLOW_EVENT_DEPENDENCIES: ClassVar[mem_pool_attribute]
    """True: reuse memory of another stream if events order the streams."""
    REUSE_ALLOW_OPPORTUNISTIC: ClassVar[mem_pool_attribute]
    """True: reuse memory of another stream if its free is done."""
    REUSE_ALLOW_INTERNAL_DEPENDENCIES: ClassVar[mem_pool_attribute]
    """True: reuse memory of another stream, which the new stream waits for."""
    RELEASE_THRESHOLD: ClassVar[mem_pool_attribute]
    """Unused bytes that the pool keeps when the program waits for the device."""
    RESERVED_MEM_CURRENT: ClassVar[mem_pool_attribute]
    """The memory that the pool has from the device, in bytes."""
    RESERVED_MEM_HIGH: ClassVar[mem_pool_attribute]
    """The highest RESERVED_MEM_CURRENT since it was set to 0, in bytes."""
    USED_MEM_CURRENT: ClassVar[mem_pool_attribute]
    """The memory of the pool that the program uses, in bytes."""
    USED_MEM_HIGH: ClassVar[mem_pool_attribute]
    """The highest USED_MEM_CURRENT since it was set to 0, in bytes."""

class mem_range_attribute(_Enumeration):
    """What the driver knows about managed memory."""

    READ_MOSTLY: ClassVar[mem_range_attribute]
    """True if all pages were advised SET_READ_MOSTLY, otherwise False."""
    PREFERRED_LOCATION: ClassVar[mem_range_attribute]
    """The preferred place of all pages: a Device, 'host' or None."""
    ACCESSED_BY: ClassVar[mem_range_attribute]
    """The places for which SET_ACCESSED_BY was given, a list."""
    LAST_PREFETCH_LOCATION: ClassVar[mem_range_attribute]
    """The place of the last prefetch: a Device, 'host' or None."""
    PREFERRED_LOCATION_TYPE: ClassVar[mem_range_attribute]
    """The kind of the preferred place: 0 none, 1 device, 2 host, 3 and 4 NUMA node."""
    PREFERRED_LOCATION_ID: ClassVar[mem_range_attribute]
    """The number of the device or NUMA node of the preferred place."""
    LAST_PREFETCH_LOCATION_TYPE: ClassVar[mem_range_attribute]
    """The kind of the place of the last prefetch, as in PREFERRED_LOCATION_TYPE."""
    LAST_PREFETCH_LOCATION_ID: ClassVar[mem_range_attribute]
    """The number of the device or NUMA node of the last prefetch."""

class memory_type(_Enumeration):
    """Kinds of memory in Memcpy2D and Memcpy3D."""

    HOST: ClassVar[memory_type]
    """Memory of the host."""
    DEVICE: ClassVar[memory_type]
    """Memory of a device."""
    ARRAY: ClassVar[memory_type]
    """A CUDA array."""
    UNIFIED: ClassVar[memory_type]
    """Memory at an address that the host and the devices share."""

class pointer_attribute(_Enumeration):
    """Attributes of a pointer that the driver reports."""

    CONTEXT: ClassVar[pointer_attribute]
    """The CUcontext in which the memory was allocated, an address."""
    MEMORY_TYPE: ClassVar[pointer_attribute]
    """The kind of the memory, a memory_type."""
    DEVICE_POINTER: ClassVar[pointer_attribute]
    """The address that kernels use."""
    HOST_POINTER: ClassVar[pointer_attribute]
    """The address that the host uses."""
    P2P_TOKENS: ClassVar[pointer_attribute]
    """Two tokens for the kernel module of Linux that uses GPUDirect RDMA."""
    SYNC_MEMOPS: ClassVar[pointer_attribute]
    """1 if copies of this memory always wait, otherwise 0."""
    BUFFER_ID: ClassVar[pointer_attribute]
    """A number that no other allocation of the process has."""
    IS_MANAGED: ClassVar[pointer_attribute]
    """1 if the memory is managed, otherwise 0."""
    DEVICE_ORDINAL: ClassVar[pointer_attribute]
    """The number of the device that has the memory."""
    IS_LEGACY_CUDA_IPC_CAPABLE: ClassVar[pointer_attribute]
    """1 if IPCMemoryHandle can share the memory, otherwise 0."""
    RANGE_START_ADDR: ClassVar[pointer_attribute]
    """The first address of the allocation."""
    RANGE_SIZE: ClassVar[pointer_attribute]
    """The size of the allocation, in bytes."""
    MAPPED: ClassVar[pointer_attribute]
    """1 if there is memory behind the address, otherwise 0."""
    ALLOWED_HANDLE_TYPES: ClassVar[pointer_attribute]
    """Handles that can share the memory, as bits: 1 POSIX, 2 Windows NT, 4 KMT, 8
    fabric."""
    IS_GPU_DIRECT_RDMA_CAPABLE: ClassVar[pointer_attribute]
    """1 if other devices can use the memory by GPUDirect RDMA, otherwise 0."""
    ACCESS_FLAGS: ClassVar[pointer_attribute]
    """The rights of the current context's device, as mem_access_flags."""
    MEMPOOL_HANDLE: ClassVar[pointer_attribute]
    """The CUmemoryPool of the memory; 0 if there is none."""
    MAPPING_SIZE: ClassVar[pointer_attribute]
    """The size of the mapping that holds the address, in bytes."""
    MAPPING_BASE_ADDR: ClassVar[pointer_attribute]
    """The first address of the mapping that holds the address."""
    MEMORY_BLOCK_ID: ClassVar[pointer_attribute]
    """A number that no other physical memory of the process has."""
    IS_HW_DECOMPRESS_CAPABLE: ClassVar[pointer_attribute]
    """1 if the hardware can decompress into the memory, otherwise 0."""

class profiler_output_mode(_Enumeration):
    """Output formats of the profiler."""

    KEY_VALUE_PAIR: ClassVar[profiler_output_mode]
    """Lines of names and values."""
    CSV: ClassVar[profiler_output_mode]
    """Values with commas between them."""

class shared_config(_Enumeration):
    """Width of shared-memory banks."""

    DEFAULT_BANK_SIZE: ClassVar[shared_config]
    """The width that the context has."""
    FOUR_BYTE_BANK_SIZE: ClassVar[shared_config]
    """Banks of 4 bytes."""
    EIGHT_BYTE_BANK_SIZE: ClassVar[shared_config]
    """Banks of 8 bytes."""

class stream_flags(_Enumeration):
    """Flags of Stream."""

    DEFAULT: ClassVar[stream_flags]
    """The stream and the default stream wait for each other."""
    NON_BLOCKING: ClassVar[stream_flags]
    """The stream and the default stream never wait for each other."""

class stream_mem_op(_Enumeration):
    """Operations of Stream.batch_memory_operations."""

    WAIT_VALUE_32: ClassVar[stream_mem_op]
    """Wait until a value of 32 bits in memory meets a condition."""
    WRITE_VALUE_32: ClassVar[stream_mem_op]
    """Write a value of 32 bits."""
    FLUSH_REMOTE_WRITES: ClassVar[stream_mem_op]
    """Flush the writes of other devices to this one."""
    WAIT_VALUE_64: ClassVar[stream_mem_op]
    """Wait until a value of 64 bits in memory meets a condition."""
    WRITE_VALUE_64: ClassVar[stream_mem_op]
    """Write a value of 64 bits."""
    BARRIER: ClassVar[stream_mem_op]
    """Order memory accesses before and after it."""

class stream_wait_value(_Enumeration):
    """Conditions of Stream.wait_value."""

    GEQ: ClassVar[stream_wait_value]
    """Wait until the value in memory is at least the given one. The numbers are
    cyclic."""
    EQ: ClassVar[stream_wait_value]
    """Wait until the value in memory is the given one."""
    AND: ClassVar[stream_wait_value]
    """Wait until value & given is not 0."""
    NOR: ClassVar[stream_wait_value]
    """Wait until ~(value | given) is not 0."""
    FLUSH: ClassVar[stream_wait_value]
    """A flag beside the others: after the wait, flush the writes of other devices."""

class stream_write_value(_Enumeration):
    """Flags of Stream.write_value."""

    DEFAULT: ClassVar[stream_write_value]
    """Earlier writes of the stream are visible before the value."""
    NO_MEMORY_BARRIER: ClassVar[stream_write_value]
    """The value may become visible before earlier writes."""

class tensor_map_data_type(_Enumeration):
    """Elements of TensorMap."""

    UINT8: ClassVar[tensor_map_data_type]
    """Unsigned integers of 8 bits."""
    UINT16: ClassVar[tensor_map_data_type]
    """Unsigned integers of 16 bits."""
    UINT32: ClassVar[tensor_map_data_type]
    """Unsigned integers of 32 bits."""
    INT32: ClassVar[tensor_map_data_type]
    """Signed integers of 32 bits."""
    UINT64: ClassVar[tensor_map_data_type]
    """Unsigned integers of 64 bits."""
    INT64: ClassVar[tensor_map_data_type]
    """Signed integers of 64 bits."""
    FLOAT16: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 16 bits."""
    FLOAT32: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 32 bits."""
    FLOAT64: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 64 bits."""
    BFLOAT16: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 16 bits with the range of 32 bits (bfloat16)."""
    FLOAT32_FTZ: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 32 bits; subnormal numbers become 0."""
    TFLOAT32: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 32 bits, rounded to TF32."""
    TFLOAT32_FTZ: ClassVar[tensor_map_data_type]
    """Floating-point numbers of 32 bits, rounded to TF32; subnormal numbers become
    0."""

class tensor_map_interleave(_Enumeration):
    """Interleaved layouts of TensorMap."""

    INTERLEAVE_NONE: ClassVar[tensor_map_interleave]
    """Elements are not interleaved."""
    INTERLEAVE_16B: ClassVar[tensor_map_interleave]
    """Channels are stored in groups of 16 bytes."""
    INTERLEAVE_32B: ClassVar[tensor_map_interleave]
    """Channels are stored in groups of 32 bytes."""

class tensor_map_l2_promotion(_Enumeration):
    """Fetches of TensorMap to the L2 cache."""

    NONE: ClassVar[tensor_map_l2_promotion]
    """Only what is needed is fetched."""
    L2_64B: ClassVar[tensor_map_l2_promotion]
    """At least 64 bytes are fetched."""
    L2_128B: ClassVar[tensor_map_l2_promotion]
    """At least 128 bytes are fetched."""
    L2_256B: ClassVar[tensor_map_l2_promotion]
    """At least 256 bytes are fetched."""

class tensor_map_oob_fill(_Enumeration):
    """Elements outside the array of a TensorMap."""

    NONE: ClassVar[tensor_map_oob_fill]
    """Elements outside the array are 0."""
    NAN_REQUEST_ZERO_FMA: ClassVar[tensor_map_oob_fill]
    """Elements outside are a NaN that fused multiply-adds take as 0."""

class tensor_map_swizzle(_Enumeration):
    """Layouts of the tiles of TensorMap in shared memory."""

    SWIZZLE_NONE: ClassVar[tensor_map_swizzle]
    """Rows are stored as they are."""
    SWIZZLE_32B: ClassVar[tensor_map_swizzle]
    """Units of 16 bytes are exchanged within spans of 32 bytes."""
    SWIZZLE_64B: ClassVar[tensor_map_swizzle]
    """Units of 16 bytes are exchanged within spans of 64 bytes."""
    SWIZZLE_128B: ClassVar[tensor_map_swizzle]
    """Units of 16 bytes are exchanged within spans of 128 bytes."""

class device_attribute(_Enumeration):
    """Attributes for Device.get_attribute."""

    MAX_THREADS_PER_BLOCK: ClassVar[device_attribute]
    """The largest number of threads of a block."""
    MAX_BLOCK_DIM_X: ClassVar[device_attribute]
    """The largest size of a block in x, in threads."""
    MAX_BLOCK_DIM_Y: ClassVar[device_attribute]
    """The largest size of a block in y, in threads."""
    MAX_BLOCK_DIM_Z: ClassVar[device_attribute]
    """The largest size of a block in z, in threads."""
    MAX_GRID_DIM_X: ClassVar[device_attribute]
    """The largest size of a grid in x, in blocks."""
    MAX_GRID_DIM_Y: ClassVar[device_attribute]
    """The largest size of a grid in y, in blocks."""
    MAX_GRID_DIM_Z: ClassVar[device_attribute]
    """The largest size of a grid in z, in blocks."""
    MAX_SHARED_MEMORY_PER_BLOCK: ClassVar[device_attribute]
    """Shared memory of a block without a function's opt-in, in bytes."""
    SHARED_MEMORY_PER_BLOCK: ClassVar[device_attribute]
    """The older name of MAX_SHARED_MEMORY_PER_BLOCK, in bytes."""
    TOTAL_CONSTANT_MEMORY: ClassVar[device_attribute]
    """Constant memory for the variables of a module, in bytes."""
    WARP_SIZE: ClassVar[device_attribute]
    """The number of threads of a warp."""
    MAX_PITCH: ClassVar[device_attribute]
    """The largest pitch of a copy, in bytes."""
    MAX_REGISTERS_PER_BLOCK: ClassVar[device_attribute]
    """The number of 32-bit registers that a block can use."""
    REGISTERS_PER_BLOCK: ClassVar[device_attribute]
    """The older name of MAX_REGISTERS_PER_BLOCK, a number of registers."""
    CLOCK_RATE: ClassVar[device_attribute]
    """The peak clock of the multiprocessors, in kHz."""
    TEXTURE_ALIGNMENT: ClassVar[device_attribute]
    """The alignment of a texture's address, in bytes."""
    GPU_OVERLAP: ClassVar[device_attribute]
    """1 if copies and kernels can run at the same time. Prefer ASYNC_ENGINE_COUNT."""
    MULTIPROCESSOR_COUNT: ClassVar[device_attribute]
    """The number of multiprocessors."""
    KERNEL_EXEC_TIMEOUT: ClassVar[device_attribute]
    """1 if the system ends kernels that run too long, otherwise 0."""
    INTEGRATED: ClassVar[device_attribute]
    """1 if the device shares the memory of the host, 0 if it has its own."""
    CAN_MAP_HOST_MEMORY: ClassVar[device_attribute]
    """1 if kernels can use page-locked memory of the host, otherwise 0."""
    COMPUTE_MODE: ClassVar[device_attribute]
    """The rule for making contexts on the device, a compute_mode."""
    MAXIMUM_TEXTURE1D_WIDTH: ClassVar[device_attribute]
    """The largest width of a 1D texture, in elements."""
    MAXIMUM_TEXTURE2D_WIDTH: ClassVar[device_attribute]
    """The largest width of a 2D texture, in elements."""
    MAXIMUM_TEXTURE2D_HEIGHT: ClassVar[device_attribute]
    """The largest height of a 2D texture, in rows."""
    MAXIMUM_TEXTURE3D_WIDTH: ClassVar[device_attribute]
    """The largest width of a 3D texture, in elements."""
    MAXIMUM_TEXTURE3D_HEIGHT: ClassVar[device_attribute]
    """The largest height of a 3D texture, in rows."""
    MAXIMUM_TEXTURE3D_DEPTH: ClassVar[device_attribute]
    """The largest depth of a 3D texture, in slices."""
    MAXIMUM_TEXTURE2D_ARRAY_WIDTH: ClassVar[device_attribute]
    """The older name of MAXIMUM_TEXTURE2D_LAYERED_WIDTH, in elements."""
    MAXIMUM_TEXTURE2D_ARRAY_HEIGHT: ClassVar[device_attribute]
    """The older name of MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, in rows."""
    MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES: ClassVar[device_attribute]
    """The older name of MAXIMUM_TEXTURE2D_LAYERED_LAYERS, a number of layers."""
    SURFACE_ALIGNMENT: ClassVar[device_attribute]
    """The alignment of a surface's address, in bytes."""
    CONCURRENT_KERNELS: ClassVar[device_attribute]
    """1 if several kernels of a context can run at the same time, otherwise 0."""
    ECC_ENABLED: ClassVar[device_attribute]
    """1 if the memory corrects errors (ECC), otherwise 0."""
    MAXIMUM_TEXTURE2D_LAYERED_WIDTH: ClassVar[device_attribute]
    """The largest width of a layered 2D texture, in elements."""
    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT: ClassVar[device_attribute]
    """The largest height of a layered 2D texture, in rows."""
    MAXIMUM_TEXTURE2D_LAYERED_LAYERS: ClassVar[device_attribute]
    """The largest number of layers of a layered 2D texture."""
    MAXIMUM_TEXTURE1D_LAYERED_WIDTH: ClassVar[device_attribute]
    """The largest width of a layered 1D texture, in elements."""
    MAXIMUM_TEXTURE1D_LAYERED_LAYERS: ClassVar[device_attribute]
    """The largest number of layers of a layered 1D texture."""
    PCI_BUS_ID: ClassVar[device_attribute]
    """The number of the device's PCI bus."""
    PCI_DEVICE_ID: ClassVar[device_attribute]
    """The number of the device on its PCI bus."""
    TCC_DRIVER: ClassVar[device_attribute]
    """1 if Windows uses the TCC driver for the device, otherwise 0."""
    MEMORY_CLOCK_RATE: ClassVar[device_attribute]
    """The peak clock of the memory, in kHz."""
    GLOBAL_MEMORY_BUS_WIDTH: ClassVar[device_attribute]
    """The width of the bus to the memory, in bits."""
    L2_CACHE_SIZE: ClassVar[device_attribute]
    """The size of the L2 cache, in bytes."""
    MAX_THREADS_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    """The largest number of threads on a multiprocessor at one time."""
    ASYNC_ENGINE_COUNT: ClassVar[device_attribute]
    """The number of copy engines, which work beside kernels and each other."""
    UNIFIED_ADDRESSING: ClassVar[device_attribute]
    """1 if the host and the devices share one range of addresses, otherwise 0."""
    MAXIMUM_TEXTURE2D_GATHER_WIDTH: ClassVar[device_attribute]
    """The largest width of a 2D texture for gathers, in elements."""
    MAXIMUM_TEXTURE2D_GATHER_HEIGHT: ClassVar[device_attribute]
    """The largest height of a 2D texture for gathers, in rows."""
    MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE: ClassVar[device_attribute]
    """The width of a 3D texture of another shape, in elements; 0 if there is none."""
    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE: ClassVar[device_attribute]
    """The height of a 3D texture of another shape, in rows; 0 if there is none."""
    MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE: ClassVar[device_attribute]
    """The depth of a 3D texture of another shape, in slices; 0 if there is none."""
    PCI_DOMAIN_ID: ClassVar[device_attribute]
    """The number of the device's PCI domain."""
    TEXTURE_PITCH_ALIGNMENT: ClassVar[device_attribute]
    """The alignment of the pitch of a texture in linear memory, in bytes."""
    MAXIMUM_TEXTURECUBEMAP_WIDTH: ClassVar[device_attribute]
    """The largest width and height of a cube map, in elements."""
    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH: ClassVar[device_attribute]
    """The largest width and height of a layered cube map, in elements."""
    MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS: ClassVar[device_attribute]
    """The largest number of layers of a layered cube map."""
    MAXIMUM_SURFACE1D_WIDTH: ClassVar[device_attribute]
    """The largest width of a 1D surface, in elements."""
    MAXIMUM_SURFACE2D_WIDTH: ClassVar[device_attribute]
    """The largest width of a 2D surface, in elements."""
    MAXIMUM_SURFACE2D_HEIGHT: ClassVar[device_attribute]
    """The largest height of a 2D surface, in rows."""
    MAXIMUM_SURFACE3D_WIDTH: ClassVar[device_attribute]
    """The largest width of a 3D surface, in elements."""
    MAXIMUM_SURFACE3D_HEIGHT: ClassVar[device_attribute]
    """The largest height of a 3D surface, in rows."""
    MAXIMUM_SURFACE3D_DEPTH: ClassVar[device_attribute]
    """The largest depth of a 3D surface, in slices."""
    MAXIMUM_SURFACE1D_LAYERED_WIDTH: ClassVar[device_attribute]
    """The largest width of a layered 1D surface, in elements."""
    MAXIMUM_SURFACE1D_LAYERED_LAYERS: ClassVar[device_attribute]
    """The largest number of layers of a layered 1D surface."""
    MAXIMUM_SURFACE2D_LAYERED_WIDTH: ClassVar[device_attribute]
    """The largest width of a layered 2D surface, in elements."""
    MAXIMUM_SURFACE2D_LAYERED_HEIGHT: ClassVar[device_attribute]
    """The largest height of a layered 2D surface, in rows."""
    MAXIMUM_SURFACE2D_LAYERED_LAYERS: ClassVar[device_attribute]
    """The largest number of layers of a layered 2D surface."""
    MAXIMUM_SURFACECUBEMAP_WIDTH: ClassVar[device_attribute]
    """The largest width of a cube map as a surface, in elements."""
    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH: ClassVar[device_attribute]
    """The largest width of a layered cube map as a surface, in elements."""
    MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS: ClassVar[device_attribute]
    """The largest number of layers of a layered cube map as a surface."""
    MAXIMUM_TEXTURE1D_LINEAR_WIDTH: ClassVar[device_attribute]
    """The largest width of a 1D texture in linear memory, in elements. Deprecated."""
    MAXIMUM_TEXTURE2D_LINEAR_WIDTH: ClassVar[device_attribute]
    """The largest width of a 2D texture in linear memory, in elements."""
    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT: ClassVar[device_attribute]
    """The largest height of a 2D texture in linear memory, in rows."""
    MAXIMUM_TEXTURE2D_LINEAR_PITCH: ClassVar[device_attribute]
    """The largest pitch of a 2D texture in linear memory, in bytes."""
    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH: ClassVar[device_attribute]
    """The largest width of a mipmapped 2D texture, in elements."""
    MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT: ClassVar[device_attribute]
    """The largest height of a mipmapped 2D texture, in rows."""
    COMPUTE_CAPABILITY_MAJOR: ClassVar[device_attribute]
    """The major number of the compute capability: 9 of 9.0."""
    COMPUTE_CAPABILITY_MINOR: ClassVar[device_attribute]
    """The minor number of the compute capability: 0 of 9.0."""
    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH: ClassVar[device_attribute]
    """The largest width of a mipmapped 1D texture, in elements."""
    STREAM_PRIORITIES_SUPPORTED: ClassVar[device_attribute]
    """1 if streams can have priorities, otherwise 0."""
    GLOBAL_L1_CACHE_SUPPORTED: ClassVar[device_attribute]
    """1 if the L1 cache holds global memory, otherwise 0."""
    LOCAL_L1_CACHE_SUPPORTED: ClassVar[device_attribute]
    """1 if the L1 cache holds local memory, otherwise 0."""
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    """Shared memory of a multiprocessor, in bytes."""
    MAX_REGISTERS_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    """The number of 32-bit registers of a multiprocessor."""
    MANAGED_MEMORY: ClassVar[device_attribute]
    """1 if the device can use managed memory, otherwise 0."""
    MULTI_GPU_BOARD: ClassVar[device_attribute]
    """1 if the board has several devices, otherwise 0."""
    MULTI_GPU_BOARD_GROUP_ID: ClassVar[device_attribute]
    """A number that the devices of one board have in common."""
    HOST_NATIVE_ATOMIC_SUPPORTED: ClassVar[device_attribute]
    """1 if the link to the host has native atomic operations, otherwise 0."""
    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: ClassVar[device_attribute]
    """The operations per second in single precision, as a multiple of those in
    double."""
    PAGEABLE_MEMORY_ACCESS: ClassVar[device_attribute]
    """1 if kernels can use the host's pageable memory without registration, otherwise
    0."""
    CONCURRENT_MANAGED_ACCESS: ClassVar[device_attribute]
    """1 if the host can use managed memory while kernels run, otherwise 0."""
    COMPUTE_PREEMPTION_SUPPORTED: ClassVar[device_attribute]
    """1 if the device can interrupt a kernel, otherwise 0."""
    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: ClassVar[device_attribute]
    """1 if registered memory has the same address in kernels, otherwise 0."""
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: ClassVar[device_attribute]
    """Shared memory of a block if the function opts in, in bytes."""
    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: ClassVar[device_attribute]
    """1 if kernels use pageable memory through the host's page tables, otherwise 0."""
    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST: ClassVar[device_attribute]
    """1 if the host uses managed memory on the device without moving it, otherwise
    0."""
    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: ClassVar[device_attribute]
    """1 if memory can be shared by a POSIX file descriptor, otherwise 0."""
    HANDLE_TYPE_WIN32_HANDLE_SUPPORTED: ClassVar[device_attribute]
    """1 if memory can be shared by a Windows NT handle, otherwise 0."""
    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED: ClassVar[device_attribute]
    """1 if memory can be shared by a Windows KMT handle, otherwise 0."""
    MAX_PERSISTING_L2_CACHE_SIZE: ClassVar[device_attribute]
    """The part of the L2 cache that can be set aside for persisting data, in bytes."""
    MAX_BLOCKS_PER_MULTIPROCESSOR: ClassVar[device_attribute]
    """The largest number of blocks on a multiprocessor at one time."""
    GENERIC_COMPRESSION_SUPPORTED: ClassVar[device_attribute]
    """1 if memory can be compressed, otherwise 0."""
    RESERVED_SHARED_MEMORY_PER_BLOCK: ClassVar[device_attribute]
    """Shared memory that the driver reserves for each block, in bytes."""
    READ_ONLY_HOST_REGISTER_SUPPORTED: ClassVar[device_attribute]
    """1 if memory of the host can be registered as read-only, otherwise 0."""
    MEMORY_POOLS_SUPPORTED: ClassVar[device_attribute]
    """1 if the driver has pools of memory for the device, otherwise 0."""
    CAN_TEX2D_GATHER: ClassVar[device_attribute]
    """1 if kernels can gather from 2D textures, otherwise 0."""
    CAN_USE_STREAM_MEM_OPS_V1: ClassVar[device_attribute]
    """1 if streams have the first version of memory operations, otherwise 0.
    Deprecated."""
    CAN_USE_64_BIT_STREAM_MEM_OPS_V1: ClassVar[device_attribute]
    """1 if these operations of the first version take 64 bits, otherwise 0.
    Deprecated."""
    CAN_USE_STREAM_WAIT_VALUE_NOR_V1: ClassVar[device_attribute]
    """1 if the first version has stream_wait_value.NOR, otherwise 0. Deprecated."""
    COOPERATIVE_LAUNCH: ClassVar[device_attribute]
    """1 if cooperative launches are possible, otherwise 0."""
    COOPERATIVE_MULTI_DEVICE_LAUNCH: ClassVar[device_attribute]
    """1 if one cooperative launch can use several devices, otherwise 0. Deprecated."""
    CAN_FLUSH_REMOTE_WRITES: ClassVar[device_attribute]
    """1 if streams can flush writes of other devices to this one, otherwise 0."""
    HOST_REGISTER_SUPPORTED: ClassVar[device_attribute]
    """1 if memory of the host can be registered, otherwise 0."""
    VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    """1 if addresses and memory can be managed apart, otherwise 0."""
    MAX_ACCESS_POLICY_WINDOW_SIZE: ClassVar[device_attribute]
    """The largest window of launch_attribute.ACCESS_POLICY_WINDOW, in bytes."""
    GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: ClassVar[device_attribute]
    """1 if GPUDirect RDMA can use virtual memory of the driver, otherwise 0."""
    SPARSE_CUDA_ARRAY_SUPPORTED: ClassVar[device_attribute]
    """1 if CUDA arrays can be sparse, otherwise 0."""
    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED: ClassVar[device_attribute]
    """1 if external timeline semaphores can be used, otherwise 0."""
    GPU_DIRECT_RDMA_SUPPORTED: ClassVar[device_attribute]
    """1 if other devices can use the memory by GPUDirect RDMA, otherwise 0."""
    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: ClassVar[device_attribute]
    """Ways to flush writes of GPUDirect RDMA, as bits: 1 by the host, 2 by streams."""
    GPU_DIRECT_RDMA_WRITES_ORDERING: ClassVar[device_attribute]
    """Order of such writes without a flush: 0 none, 100 for this device, 200 for
    all."""
    MEMPOOL_SUPPORTED_HANDLE_TYPES: ClassVar[device_attribute]
    """Handles that share pools, as bits: 1 POSIX, 2 Windows NT, 4 KMT, 8 fabric."""
    CLUSTER_LAUNCH: ClassVar[device_attribute]
    """1 if kernels can have clusters of blocks, otherwise 0."""
    DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED: ClassVar[device_attribute]
    """1 if CUDA arrays can get their memory later, otherwise 0."""
    CAN_USE_64_BIT_STREAM_MEM_OPS: ClassVar[device_attribute]
    """1 if memory operations of streams take 64 bits, otherwise 0."""
    CAN_USE_STREAM_WAIT_VALUE_NOR: ClassVar[device_attribute]
    """1 if streams can wait with stream_wait_value.NOR, otherwise 0."""
    DMA_BUF_SUPPORTED: ClassVar[device_attribute]
    """1 if memory can be shared as a dma-buf of Linux, otherwise 0."""
    IPC_EVENT_SUPPORTED: ClassVar[device_attribute]
    """1 if processes can share events, otherwise 0."""
    MEM_SYNC_DOMAIN_COUNT: ClassVar[device_attribute]
    """The number of memory synchronization domains."""
    TENSOR_MAP_ACCESS_SUPPORTED: ClassVar[device_attribute]
    """1 if kernels can copy with a TensorMap, otherwise 0."""
    HANDLE_TYPE_FABRIC_SUPPORTED: ClassVar[device_attribute]
    """1 if memory can be shared by a fabric handle, otherwise 0."""
    UNIFIED_FUNCTION_POINTERS: ClassVar[device_attribute]
    """1 if pointers to functions are the same on all such devices, otherwise 0."""
    NUMA_CONFIG: ClassVar[device_attribute]
    """1 if the memory is a NUMA node of the host, otherwise 0."""
    NUMA_ID: ClassVar[device_attribute]
    """The number of the memory's NUMA node, if NUMA_CONFIG is 1."""
    MULTICAST_SUPPORTED: ClassVar[device_attribute]
    """1 if one access can reach the memory of several devices, otherwise 0."""
    MPS_ENABLED: ClassVar[device_attribute]
    """1 if contexts are shared through MPS, otherwise 0."""
    HOST_NUMA_ID: ClassVar[device_attribute]
    """The number of the host's NUMA node nearest to the device; -1 without NUMA."""
    D3D12_CIG_SUPPORTED: ClassVar[device_attribute]
    """1 if a context can share the device with a queue of Direct3D 12, otherwise 0."""
    MEM_DECOMPRESS_ALGORITHM_MASK: ClassVar[device_attribute]
    """Formats that the hardware decompresses, as bits: 1 Deflate, 2 Snappy, 4 LZ4."""
    MEM_DECOMPRESS_MAXIMUM_LENGTH: ClassVar[device_attribute]
    """The largest size of one decompression by hardware, in bytes."""
    VULKAN_CIG_SUPPORTED: ClassVar[device_attribute]
    """1 if a context can share the device with a queue of Vulkan, otherwise 0."""
    GPU_PCI_DEVICE_ID: ClassVar[device_attribute]
    """The PCI device ID in the upper 16 bits, and the vendor ID in the lower."""
    GPU_PCI_SUBSYSTEM_ID: ClassVar[device_attribute]
    """The PCI subsystem ID in the upper 16 bits, and its vendor ID in the lower."""
    HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    """1 if virtual memory can be on a NUMA node of the host, otherwise 0."""
    HOST_NUMA_MEMORY_POOLS_SUPPORTED: ClassVar[device_attribute]
    """1 if pools of memory can be on a NUMA node of the host, otherwise 0."""
    HOST_NUMA_MULTINODE_IPC_SUPPORTED: ClassVar[device_attribute]
    """1 if computers of a cluster can share memory of a host's NUMA node, otherwise
    0."""
    HOST_MEMORY_POOLS_SUPPORTED: ClassVar[device_attribute]
    """1 if pools of memory can be on the host, otherwise 0."""
    HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: ClassVar[device_attribute]
    """1 if virtual memory can be on the host, otherwise 0."""
    HOST_ALLOC_DMA_BUF_SUPPORTED: ClassVar[device_attribute]
    """1 if page-locked memory can be shared as a dma-buf of Linux, otherwise 0."""
    ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED: ClassVar[device_attribute]
    """1 if the link to the host has some native atomic operations only, otherwise 0."""

class function_attribute(_Enumeration):
    """Attributes for Function.get_attribute."""

    MAX_THREADS_PER_BLOCK: ClassVar[function_attribute]
    """The largest number of threads of a block for this function."""
    SHARED_SIZE_BYTES: ClassVar[function_attribute]
    """Shared memory of a block that the source declares, in bytes."""
    CONST_SIZE_BYTES: ClassVar[function_attribute]
    """Constant memory that the source declares, in bytes."""
    LOCAL_SIZE_BYTES: ClassVar[function_attribute]
    """Local memory of a thread, in bytes."""
    NUM_REGS: ClassVar[function_attribute]
    """The number of registers of a thread."""
    PTX_VERSION: ClassVar[function_attribute]
    """The PTX target, 10 times major plus minor: 90 for 9.0."""
    BINARY_VERSION: ClassVar[function_attribute]
    """The target of the binary code, 10 times major plus minor: 90 for 9.0."""
    CACHE_MODE_CA: ClassVar[function_attribute]
    """1 if the function was compiled to cache global loads in L1, otherwise 0."""
    MAX_DYNAMIC_SHARED_SIZE_BYTES: ClassVar[function_attribute]
    """The largest shared memory that a launch may ask for, in bytes."""
    PREFERRED_SHARED_MEMORY_CARVEOUT: ClassVar[function_attribute]
    """The preferred part of on-chip memory for shared memory, in percent; -1: no
    preference."""
    CLUSTER_SIZE_MUST_BE_SET: ClassVar[function_attribute]
    """1 if a launch must give the size of clusters, otherwise 0."""
    REQUIRED_CLUSTER_WIDTH: ClassVar[function_attribute]
    """The required size of a cluster in x, in blocks; 0 if there is none."""
    REQUIRED_CLUSTER_HEIGHT: ClassVar[function_attribute]
    """The required size of a cluster in y, in blocks; 0 if there is none."""
    REQUIRED_CLUSTER_DEPTH: ClassVar[function_attribute]
    """The required size of a cluster in z, in blocks; 0 if there is none."""
    NON_PORTABLE_CLUSTER_SIZE_ALLOWED: ClassVar[function_attribute]
    """1 if clusters may be larger than all devices support, otherwise 0."""
    CLUSTER_SCHEDULING_POLICY_PREFERENCE: ClassVar[function_attribute]
    """Order of clusters: 0 default, 1 spread over multiprocessors, 2 balanced."""
    MAX: ClassVar[function_attribute]
    """The number of attributes."""

@final
class array3d_flags:
    """Flags of ArrayDescriptor3D, to be or-ed."""

    ARRAY3D_2DARRAY: ClassVar[int]
    """The older name of LAYERED."""
    ARRAY3D_LAYERED: ClassVar[int]
    """The older name of LAYERED."""
    LAYERED: ClassVar[int]
    """The array has layers; the depth is their number."""
    SURFACE_LDST: ClassVar[int]
    """The array can be bound to a surface reference."""
    CUBEMAP: ClassVar[int]
    """The array is a cube map of 6 faces; with LAYERED, several."""
    TEXTURE_GATHER: ClassVar[int]
    """Kernels can gather from the array as a texture."""

@final
class host_alloc_flags:
    """Flags of page-locked memory, to be or-ed."""

    PORTABLE: ClassVar[int]
    """The memory is page-locked for all contexts."""
    DEVICEMAP: ClassVar[int]
    """Kernels can use the memory, at its device address."""
    WRITECOMBINED: ClassVar[int]
    """Fast for the host to write and to copy, slow to read."""

@final
class mem_host_register_flags:
    """Flags of register_host_memory, to be or-ed."""

    PORTABLE: ClassVar[int]
    """The memory is page-locked for all contexts."""
    DEVICEMAP: ClassVar[int]
    """Kernels can use the memory, at its device address."""

# enumerations: end

# Under names that no method or property of the classes above hides.
_compute_mode: TypeAlias = compute_mode
_limit: TypeAlias = limit

# -- arrays ----------------------------------------------------------------------------

@type_check_only
class _Allocator(Protocol):
    def __call__(self, nbytes: int, /) -> Any: ...

# A number that goes with arrays.
_Number: TypeAlias = complex | np.generic
_Operand: TypeAlias = GPUArray | _Number

@final
class ArrayFlags:
    c_contiguous: bool
    f_contiguous: bool
    forc: bool
    def __getitem__(self, key: str, /) -> bool: ...
    # To the end of the class: written by tools/make_stub.py
    def __new__(cls, ary: Any) -> Self: ...

_Axis = int | tuple[int, ...] | None

@disjoint_base
class GPUArray:
    __array_priority__: ClassVar[int]
    __hash__: ClassVar[None]  # type: ignore[assignment]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    gpudata: Any
    base: Any
    allocator: Any
    flags: Any
    size: int
    mem_size: int
    nbytes: int
    @property
    def ptr(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def T(self) -> GPUArray: ...
    @property
    def mT(self) -> GPUArray: ...
    @property
    def device(self) -> Device: ...
    @property
    def real(self) -> GPUArray: ...
    @property
    def imag(self) -> GPUArray: ...
    _grid: Any
    _block: Any
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[GPUArray]: ...
    def __getitem__(self, index: Any, /) -> GPUArray: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __neg__(self) -> GPUArray: ...
    def __pos__(self) -> Self: ...
    def __invert__(self) -> GPUArray: ...
    def __abs__(self) -> GPUArray: ...
    def __add__(self, value: _Operand, /) -> GPUArray: ...
    def __radd__(self, value: _Operand, /) -> GPUArray: ...
    def __iadd__(self, value: _Operand, /) -> Self: ...  # noqa: PYI034
    def __sub__(self, value: _Operand, /) -> GPUArray: ...
    def __rsub__(self, value: _Operand, /) -> GPUArray: ...
    def __isub__(self, value: _Operand, /) -> Self: ...
    def __mul__(self, value: _Operand, /) -> GPUArray: ...
    def __rmul__(self, value: _Operand, /) -> GPUArray: ...
    def __imul__(self, value: _Operand, /) -> Self: ...
    def __truediv__(self, value: _Operand, /) -> GPUArray: ...
    def __rtruediv__(self, value: _Operand, /) -> GPUArray: ...
    def __itruediv__(self, value: _Operand, /) -> Self: ...
    def __floordiv__(self, value: _Operand, /) -> GPUArray: ...
    def __rfloordiv__(self, value: _Operand, /) -> GPUArray: ...
    def __ifloordiv__(self, value: _Operand, /) -> Self: ...
    def __mod__(self, value: _Operand, /) -> GPUArray: ...
    def __rmod__(self, value: _Operand, /) -> GPUArray: ...
    def __imod__(self, value: _Operand, /) -> Self: ...
    def __divmod__(self, value: _Operand, /) -> tuple[GPUArray, GPUArray]: ...
    def __rdivmod__(self, value: _Operand, /) -> tuple[GPUArray, GPUArray]: ...
    def __pow__(self, value: _Operand, mod: None = None, /) -> GPUArray: ...
    def __rpow__(self, value: _Operand, mod: None = None, /) -> GPUArray: ...
    def __ipow__(self, value: _Operand, /) -> Self: ...  # type: ignore[misc]
    def __and__(self, value: _Operand, /) -> GPUArray: ...
    def __rand__(self, value: _Operand, /) -> GPUArray: ...
    def __iand__(self, value: _Operand, /) -> Self: ...
    def __or__(self, value: _Operand, /) -> GPUArray: ...
    def __ror__(self, value: _Operand, /) -> GPUArray: ...
    def __ior__(self, value: _Operand, /) -> Self: ...
    def __xor__(self, value: _Operand, /) -> GPUArray: ...
    def __rxor__(self, value: _Operand, /) -> GPUArray: ...
    def __ixor__(self, value: _Operand, /) -> Self: ...
    def __lshift__(self, value: _Operand, /) -> GPUArray: ...
    def __rlshift__(self, value: _Operand, /) -> GPUArray: ...
    def __ilshift__(self, value: _Operand, /) -> Self: ...
    def __rshift__(self, value: _Operand, /) -> GPUArray: ...
    def __rrshift__(self, value: _Operand, /) -> GPUArray: ...
    def __irshift__(self, value: _Operand, /) -> Self: ...
    def __matmul__(self, value: GPUArray, /) -> GPUArray: ...
    def __rmatmul__(self, value: GPUArray, /) -> GPUArray: ...
    def __imatmul__(self, value: GPUArray, /) -> Self: ...
    def __lt__(self, value: Any, /) -> GPUArray: ...
    def __le__(self, value: Any, /) -> GPUArray: ...
    def __eq__(self, value: Any, /) -> GPUArray: ...  # type: ignore[override]
    def __ne__(self, value: Any, /) -> GPUArray: ...  # type: ignore[override]
    def __gt__(self, value: Any, /) -> GPUArray: ...
    def __ge__(self, value: Any, /) -> GPUArray: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self,
        shape: _Shape,
        dtype: DTypeLike,
        allocator: _Allocator | None = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Sequence[SupportsIndex] | None = None,
        order: _Order = "C",
    ) -> None: ...
    def reshape(self, *shape: Any, order: str = "C") -> GPUArray: ...
    def ravel(self) -> GPUArray: ...
    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> GPUArray: ...
    def transpose(self, axes: Any = None, *more: int) -> GPUArray: ...
    def view(self, dtype: DTypeLike | None = None) -> GPUArray: ...
    def get(
        self,
        ary: _Array | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: _Stream = None,
    ) -> NDArray[Any]: ...
    def get_async(
        self, stream: _Stream = None, ary: _Array | None = None
    ) -> NDArray[Any]: ...
    def set(
        self,
        ary: np.ndarray[Any, Any] | GPUArray,
        async_: bool = False,
        stream: _Stream = None,
    ) -> None: ...
    def set_async(
        self, ary: np.ndarray[Any, Any] | GPUArray, stream: _Stream = None
    ) -> None: ...
    def _move_file(
        self,
        fd: SupportsIndex,
        offset: int,
        begin: int,
        size: SupportsIndex,
        writes: bool,
    ) -> bool: ...
    def fill(self, value: Any, stream: _Stream = None) -> Self: ...
    def astype(
        self, dtype: DTypeLike, stream: _Stream = None, *, copy: bool = True
    ) -> GPUArray: ...
    def reverse(self, stream: _Stream = None) -> GPUArray: ...
    def _new_like_me(
        self, dtype: DTypeLike | None = None, order: _Order = "C"
    ) -> GPUArray: ...
    def copy(self) -> GPUArray: ...
    def __copy__(self) -> GPUArray: ...
    def __deepcopy__(self, memo: Any, /) -> GPUArray: ...
    def __dlpack__(
        self,
        *,
        stream: int | _Stream = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __div__(self, other: _Operand, /) -> GPUArray: ...
    def __rdiv__(self, other: _Operand, /) -> GPUArray: ...
    def __idiv__(self, other: _Operand, /) -> Self: ...
    def __complex__(self) -> complex: ...
    def __format__(self, format_spec: str, /) -> str: ...
    def conj(self, out: GPUArray | None = None) -> GPUArray: ...
    def conjugate(self, out: GPUArray | None = None) -> GPUArray: ...
    def mul_add(
        self,
        selffac: _Number,
        other: _Operand,
        otherfac: _Number,
        add_timer: None = None,
        stream: _Stream = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    def _axpbyz(
        self,
        selffac: _Number,
        other: _Operand,
        otherfac: _Number,
        out: GPUArray,
        add_timer: None = None,
        stream: _Stream = None,
    ) -> GPUArray: ...
    def _axpbz(
        self, selffac: _Number, other: _Operand, out: GPUArray, stream: _Stream = None
    ) -> GPUArray: ...
    def _elwise_multiply(
        self, other: _Operand, out: GPUArray, stream: _Stream = None
    ) -> GPUArray: ...
    def _div(
        self, other: _Operand, out: GPUArray, stream: _Stream = None
    ) -> GPUArray: ...
    def _rdiv_scalar(
        self, other: _Operand, out: GPUArray, stream: _Stream = None
    ) -> GPUArray: ...
    def _pow(self, other: _Operand, new: bool) -> GPUArray: ...
    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]: ...
    def __array_ufunc__(
        self, ufunc: Any, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Any, types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> float: ...
    def bind_to_texref_ext(
        self,
        texref: Any,
        channels: int = 1,
        allow_double_hack: bool = False,
        allow_complex_hack: bool = False,
        allow_offset: bool = False,
    ) -> float: ...
    def dot(self, b: Any, out: GPUArray | None = None) -> GPUArray: ...
    def clip(
        self, min: Any = None, max: Any = None, out: GPUArray | None = None
    ) -> GPUArray: ...
    def round(self, decimals: int = 0, out: GPUArray | None = None) -> GPUArray: ...
    def flatten(self, order: str = "C") -> GPUArray: ...
    def swapaxes(self, axis1: int, axis2: int) -> GPUArray: ...
    def take(
        self, indices: Any, axis: int | None = None, out: GPUArray | None = None
    ) -> GPUArray: ...
    def item(self, *args: Any) -> Any: ...
    def tolist(self) -> Any: ...
    def to_numpy(self) -> NDArray[Any]: ...
    def tofile(self, file: _File, sep: str = "", format: str = "%s") -> None: ...
    def sort(
        self,
        axis: SupportsIndex = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
    ) -> None: ...
    def argsort(
        self,
        axis: SupportsIndex | None = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
    ) -> GPUArray: ...
    def partition(
        self,
        kth: SupportsIndex | Sequence[SupportsIndex],
        axis: SupportsIndex = -1,
        kind: str = "introselect",
        order: None = None,
    ) -> None: ...
    def argpartition(
        self,
        kth: SupportsIndex | Sequence[SupportsIndex],
        axis: SupportsIndex | None = -1,
        kind: str = "introselect",
        order: None = None,
    ) -> GPUArray: ...
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> GPUArray: ...
    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    def _repr_html_(self) -> str: ...
    def cumsum(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    def cumprod(
        self,
        axis: int | None = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    def sum(
        self,
        axis: _Axis = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        initial: _Number | None = None,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def prod(
        self,
        axis: _Axis = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        initial: _Number | None = None,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def min(
        self,
        axis: _Axis = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        initial: _Number | None = None,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def max(
        self,
        axis: _Axis = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        initial: _Number | None = None,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def argmin(
        self, axis: _Axis = None, out: GPUArray | None = None, *, keepdims: bool = False
    ) -> GPUArray: ...
    def argmax(
        self, axis: _Axis = None, out: GPUArray | None = None, *, keepdims: bool = False
    ) -> GPUArray: ...
    def mean(
        self,
        axis: _Axis = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
        keepdims: bool = False,
        *,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def var(
        self,
        axis: _Axis = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def std(
        self,
        axis: _Axis = None,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def ptp(
        self, axis: _Axis = None, out: GPUArray | None = None, keepdims: bool = False
    ) -> GPUArray: ...
    def any(
        self,
        stream: _Stream = None,
        allocator: _Allocator | None = None,
        axis: _Axis = None,
        keepdims: bool = False,
        out: GPUArray | None = None,
        *,
        initial: _Number | None = None,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def all(
        self,
        stream: _Stream = None,
        allocator: _Allocator | None = None,
        axis: _Axis = None,
        keepdims: bool = False,
        out: GPUArray | None = None,
        *,
        initial: _Number | None = None,
        where: GPUArray | bool = True,
    ) -> GPUArray: ...
    def to_device(self, device: Device, /, *, stream: _Stream = None) -> Self: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def nonzero(self) -> tuple[GPUArray, ...]: ...
    def searchsorted(
        self,
        v: GPUArray | _Number,
        side: Literal["left", "right"] = "left",
        sorter: GPUArray | None = None,
    ) -> GPUArray: ...

_array_ops: dict[str, int]

_array_reductions: dict[str, int]
_array_functions: dict[Any, Any]
_kernel_families: tuple[str, ...]
_operand_passing: tuple[str, ...]
_kernel_variants: tuple[str, ...]
_fourier_words: tuple[str, ...]
_fourier_functions: dict[str, int]

@final
class _KernelRequest(structseq[Any], tuple[Any, ...]):
    # fields of _KernelRequest: written by tools/make_stub.py
    __match_args__: Final = (
        "family",
        "operation",
        "raw_bytes",
        "types",
        "inputs",
        "outputs",
        "passing",
        "compute",
        "ndim",
        "wide",
        "vector",
        "kept_ndim",
        "variant",
        "partial",
        "streamed",
        "tile",
        "threads",
        "lanes",
        "rounds",
        "tile_columns",
        "depth",
        "left_by_row",
        "right_by_row",
        "left_vector",
        "right_vector",
        "length",
        "convolution",
        "fourier",
    )
    @property
    def family(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def raw_bytes(self) -> int: ...
    @property
    def types(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def passing(self) -> tuple[str, ...]: ...
    @property
    def compute(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def wide(self) -> bool: ...
    @property
    def vector(self) -> int: ...
    @property
    def kept_ndim(self) -> int: ...
    @property
    def variant(self) -> str: ...
    @property
    def partial(self) -> bool: ...
    @property
    def streamed(self) -> bool: ...
    @property
    def tile(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def lanes(self) -> int: ...
    @property
    def rounds(self) -> int: ...
    @property
    def tile_columns(self) -> int: ...
    @property
    def depth(self) -> int: ...
    @property
    def left_by_row(self) -> bool: ...
    @property
    def right_by_row(self) -> bool: ...
    @property
    def left_vector(self) -> int: ...
    @property
    def right_vector(self) -> int: ...
    @property
    def length(self) -> int: ...
    @property
    def convolution(self) -> int: ...
    @property
    def fourier(self) -> tuple[str, ...]: ...
    # fields of _KernelRequest: end

@disjoint_base
class _KernelCall:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    # To the end of the class: written by tools/make_stub.py
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def _remember(
        self,
        kind: str,
        context: Context,
        stages: tuple[Function, ...],
        dtypes: tuple[Any, ...],
        uses: bytes,
        first: int,
        result: np.dtype[Any] | None = None,
        threads: int = 0,
        each: int = 0,
        most_blocks: int = 0,
        /,
    ) -> None: ...
    def __getstate__(self) -> Any: ...

@final
class _FusedRun:
    @property
    def used(self) -> int: ...
    @property
    def graphs(self) -> int: ...
    @property
    def graph_launches(self) -> int: ...
    # To the end of the class: written by tools/make_stub.py
    def __new__(
        cls,
        context: Context,
        key: tuple[Any, ...] | None,
        sources: tuple[Any, ...],
        written: tuple[int, ...],
        steps: tuple[Any, ...],
        result: tuple[int, ...] | Callable[..., Any],
        layouts: tuple[Any, ...],
        donated: tuple[int, ...],
        graphs: tuple[Any, ...] | None,
        /,
    ) -> Self: ...
    def run(
        self, arrays: tuple[GPUArray, ...], outs: tuple[Any, ...] | None = None, /
    ) -> Any: ...
    def conflicts(self, arrays: tuple[GPUArray, ...], /) -> bool: ...

@disjoint_base
class _FusedCall:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    # To the end of the class: written by tools/make_stub.py
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def _remember(self, run: _FusedRun, /) -> None: ...

# -- exchanges between devices ---------------------------------------------------------

_Reduction: TypeAlias = Literal["sum", "prod", "max", "min", "avg"]

@disjoint_base
class _Communicator:
    @property
    def size(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    @property
    def context(self) -> Context | None: ...
    # To the end of the class: written by tools/make_stub.py
    def __init__(
        self, size: SupportsIndex, unique_id: bytes, rank: SupportsIndex
    ) -> None: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...
    def check(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...
    def all_reduce(
        self,
        send: GPUArray,
        recv: GPUArray | None = None,
        op: _Reduction = "sum",
        stream: _Stream = None,
    ) -> GPUArray: ...
    def reduce(
        self,
        send: GPUArray,
        recv: GPUArray | None = None,
        op: _Reduction = "sum",
        root: SupportsIndex = 0,
        stream: _Stream = None,
    ) -> GPUArray | None: ...
    def broadcast(
        self, array: GPUArray, root: SupportsIndex = 0, stream: _Stream = None
    ) -> GPUArray: ...
    def all_gather(
        self, send: GPUArray, recv: GPUArray | None = None, stream: _Stream = None
    ) -> GPUArray: ...
    def reduce_scatter(
        self,
        send: GPUArray,
        recv: GPUArray | None = None,
        op: _Reduction = "sum",
        stream: _Stream = None,
    ) -> GPUArray: ...
    def all_to_all(
        self, send: GPUArray, recv: GPUArray | None = None, stream: _Stream = None
    ) -> GPUArray: ...
    def send(
        self, array: GPUArray, peer: SupportsIndex, stream: _Stream = None
    ) -> GPUArray: ...
    def recv(
        self, array: GPUArray, peer: SupportsIndex, stream: _Stream = None
    ) -> GPUArray: ...

@final
class _nccl_group:
    # To the end of the class: written by tools/make_stub.py
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

# elementwise functions of the array API standard: of pycuda.array_api

# To the end of the file: written by tools/make_stub.py
def _take_lost_report() -> str | None: ...
def _setting(variable: str, /) -> Any: ...
def _is_strict() -> bool: ...
def init(flags: SupportsIndex = 0) -> None: ...
def get_version() -> tuple[int, int, int]: ...
def get_driver_version() -> int: ...
def _live_counts() -> dict[str, int]: ...
def _is_emulated() -> bool: ...
def recent_launches() -> tuple[LaunchRecord, ...]: ...
def _note_library_call(function: str, stream: int, /) -> None: ...
def _context_facts(context: Context, /) -> tuple[int, str, int, int, list[Context]]: ...
def _reset_primary_context(device: int, /) -> None: ...
def _lend_to_threads(context: Context | None, /) -> None: ...
def _working_context() -> Context | None: ...
def _untold_contexts() -> list[Context]: ...
def _recover_contexts() -> bool: ...
def launch_host_func(
    function: Callable[[], object], stream: _Stream = None
) -> None: ...
def _timeline_begin(most: SupportsIndex, /) -> None: ...
def _timeline_finish() -> tuple[int, int, int, list[Any], list[Any]]: ...
def _timeline_is_on() -> bool: ...
def _timeline_note(kind: str, name: str, begin: int, end: int, /) -> None: ...
def _timeline_clock() -> int: ...
def mem_alloc(bytes: SupportsIndex, /) -> DeviceAllocation: ...
def mem_alloc_like(ary: _HasNbytes) -> DeviceAllocation: ...
def mem_alloc_pitch(
    width: SupportsIndex, height: SupportsIndex, access_size: SupportsIndex
) -> tuple[DeviceAllocation, int]: ...
def mem_get_address_range(ptr: _DevicePointer, /) -> tuple[int, int]: ...
def mem_get_info() -> tuple[int, int]: ...
def to_device(bf_obj: _HostBuffer) -> DeviceAllocation: ...
def mem_get_ipc_handle(devptr: _DevicePointer, /) -> bytearray: ...
def register_host_memory(ary: _Array, flags: SupportsIndex = 0) -> _Array: ...
def release_staging() -> int: ...
@overload
def pagelocked_empty(
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
    mem_flags: SupportsIndex = 0,
) -> NDArray[_Scalar]: ...
@overload
def pagelocked_empty(
    shape: _Shape, dtype: DTypeLike, order: _Order = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]: ...
@overload
def pagelocked_zeros(
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
    mem_flags: SupportsIndex = 0,
) -> NDArray[_Scalar]: ...
@overload
def pagelocked_zeros(
    shape: _Shape, dtype: DTypeLike, order: _Order = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]: ...
def pagelocked_empty_like(array: _Array, mem_flags: SupportsIndex = 0) -> _Array: ...
def pagelocked_zeros_like(array: _Array, mem_flags: SupportsIndex = 0) -> _Array: ...
@overload
def aligned_empty(
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
    alignment: SupportsIndex = 4096,
) -> NDArray[_Scalar]: ...
@overload
def aligned_empty(
    shape: _Shape,
    dtype: DTypeLike,
    order: _Order = "C",
    alignment: SupportsIndex = 4096,
) -> NDArray[Any]: ...
@overload
def aligned_zeros(
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
    alignment: SupportsIndex = 4096,
) -> NDArray[_Scalar]: ...
@overload
def aligned_zeros(
    shape: _Shape,
    dtype: DTypeLike,
    order: _Order = "C",
    alignment: SupportsIndex = 4096,
) -> NDArray[Any]: ...
def aligned_empty_like(array: _Array, alignment: SupportsIndex = 4096) -> _Array: ...
def aligned_zeros_like(array: _Array, alignment: SupportsIndex = 4096) -> _Array: ...
@overload
def managed_empty(
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
    mem_flags: SupportsIndex = 0,
) -> NDArray[_Scalar]: ...
@overload
def managed_empty(
    shape: _Shape, dtype: DTypeLike, order: _Order = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]: ...
@overload
def managed_zeros(
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
    mem_flags: SupportsIndex = 0,
) -> NDArray[_Scalar]: ...
@overload
def managed_zeros(
    shape: _Shape, dtype: DTypeLike, order: _Order = "C", mem_flags: SupportsIndex = 0
) -> NDArray[Any]: ...
def managed_empty_like(array: _Array, mem_flags: SupportsIndex = 0) -> _Array: ...
def managed_zeros_like(array: _Array, mem_flags: SupportsIndex = 0) -> _Array: ...
def memcpy_htod(dest: _DevicePointer, src: _HostBuffer) -> None: ...
def memcpy_htod_async(
    dest: _DevicePointer, src: _HostBuffer, stream: _Stream = None
) -> None: ...
def memcpy_dtoh(dest: _HostBuffer, src: _DevicePointer) -> None: ...
def memcpy_dtoh_async(
    dest: _HostBuffer, src: _DevicePointer, stream: _Stream = None
) -> None: ...
def memcpy_dtod(
    dest: _DevicePointer, src: _DevicePointer, size: SupportsIndex
) -> None: ...
def memcpy_dtod_async(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
def memcpy_peer(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: SupportsIndex,
    dest_context: Context | None = None,
    src_context: Context | None = None,
) -> None: ...
def memcpy_peer_async(
    dest: _DevicePointer,
    src: _DevicePointer,
    size: SupportsIndex,
    dest_context: Context | None = None,
    src_context: Context | None = None,
    stream: _Stream = None,
) -> None: ...
def memcpy_atoa(
    dest: Array,
    dest_index: SupportsIndex,
    src: Array,
    src_index: SupportsIndex,
    len: SupportsIndex,
) -> None: ...
def memcpy_atod(
    dest: _DevicePointer, ary: Array, index: SupportsIndex, len: SupportsIndex
) -> None: ...
def memcpy_dtoa(
    ary: Array, index: SupportsIndex, src: _DevicePointer, len: SupportsIndex
) -> None: ...
def memcpy_atoh(dest: _HostBuffer, ary: Array, index: SupportsIndex) -> None: ...
def py_memcpy_atoh(dest: _HostBuffer, ary: Array, index: SupportsIndex) -> None: ...
def memcpy_atoh_async(
    dest: _HostBuffer, ary: Array, index: SupportsIndex, stream: _Stream = None
) -> None: ...
def memcpy_htoa(ary: Array, index: SupportsIndex, src: _HostBuffer) -> None: ...
def py_memcpy_htoa(ary: Array, index: SupportsIndex, src: _HostBuffer) -> None: ...
def memcpy_htoa_async(
    ary: Array, index: SupportsIndex, src: _HostBuffer, stream: _Stream = None
) -> None: ...
def memset_d8(
    dest: _DevicePointer, data: SupportsIndex, size: SupportsIndex
) -> None: ...
def memset_d8_async(
    dest: _DevicePointer,
    data: SupportsIndex,
    size: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
def memset_d2d8(
    dest: _DevicePointer,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
) -> None: ...
def memset_d2d8_async(
    dest: _DevicePointer,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
def memset_d16(
    dest: _DevicePointer, data: SupportsIndex, size: SupportsIndex
) -> None: ...
def memset_d16_async(
    dest: _DevicePointer,
    data: SupportsIndex,
    size: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
def memset_d2d16(
    dest: _DevicePointer,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
) -> None: ...
def memset_d2d16_async(
    dest: _DevicePointer,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
def memset_d32(
    dest: _DevicePointer, data: SupportsIndex, size: SupportsIndex
) -> None: ...
def memset_d32_async(
    dest: _DevicePointer,
    data: SupportsIndex,
    size: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
def memset_d2d32(
    dest: _DevicePointer,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
) -> None: ...
def memset_d2d32_async(
    dest: _DevicePointer,
    pitch: SupportsIndex,
    data: SupportsIndex,
    width: SupportsIndex,
    height: SupportsIndex,
    stream: _Stream = None,
) -> None: ...
@overload
def from_device(
    devptr: _DevicePointer,
    shape: _Shape,
    dtype: type[_Scalar] | np.dtype[_Scalar],
    order: _Order = "C",
) -> NDArray[_Scalar]: ...
@overload
def from_device(
    devptr: _DevicePointer, shape: _Shape, dtype: DTypeLike, order: _Order = "C"
) -> NDArray[Any]: ...
def from_device_like(devptr: _DevicePointer, other_ary: _Array) -> _Array: ...
def module_from_buffer(
    buffer: _HostBuffer,
    options: _JitOptions | None = [],
    message_handler: Callable[[bool, str, str], object] | None = None,
) -> Module: ...
def module_from_file(filename: _FileName) -> Module: ...
def bitlog2(value: SupportsIndex, /) -> int: ...
def mem_alloc_async(
    bytes: SupportsIndex, stream: _Stream = None
) -> StreamAllocation: ...
def _memory_notes() -> list[tuple[int, int, int, str, int, int, int, int, int]]: ...
def _memory_events() -> tuple[bytes, int]: ...
def _memory_record(on: bool, events: int, /) -> None: ...
def _memory_recording() -> tuple[bool, int, int]: ...
def _call_site(number: SupportsIndex, /) -> tuple[str | None, int, str | None]: ...
def mem_granularity(
    device: _DeviceOrNumber = None, recommended: bool = False
) -> int: ...
def mem_advise(
    memory: _ManagedMemory,
    advice: SupportsIndex,
    location: _Location = None,
    size: SupportsIndex | None = None,
) -> None: ...
def mem_prefetch(
    memory: _ManagedMemory,
    location: _Location = None,
    stream: _Stream = None,
    size: SupportsIndex | None = None,
) -> None: ...
def mem_prefetch_batch(
    memories: Iterable[_ManagedMemory],
    location: list[_Location] | _Location = None,
    stream: _Stream = None,
) -> None: ...
def mem_range_get_attribute(
    memory: _ManagedMemory, attribute: SupportsIndex, size: SupportsIndex | None = None
) -> bool | int | str | Device | list[Device | str] | None: ...
def from_dlpack(x: object, /, stream: _Stream = None) -> ForeignAllocation: ...
def gl_init() -> None: ...
def make_gl_context(dev: Device, flags: SupportsIndex = 0) -> Context: ...
def have_gl_ext() -> bool: ...
def initialize_profiler(
    config_file: _FileName,
    output_file: _FileName,
    output_mode: profiler_output_mode | SupportsIndex,
    /,
) -> None: ...
def start_profiler() -> None: ...
def stop_profiler() -> None: ...
def _write_counts(path: _FileName, /) -> bool: ...
def _clear_counts() -> None: ...
def get_curand_version() -> tuple[int, int, int]: ...
def _get_direction_vectors(
    set: direction_vector_set | SupportsIndex, dst: _HostBuffer, count: SupportsIndex
) -> None: ...
def _get_scramble_constants32(dst: _HostBuffer, count: SupportsIndex) -> None: ...
def _get_scramble_constants64(dst: _HostBuffer, count: SupportsIndex) -> None: ...
def _set_default_allocator(allocator: Any, /) -> None: ...
def to_gpu(
    ary: np.ndarray[Any, Any] | np.generic | GPUArray,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def to_gpu_async(
    ary: np.ndarray[Any, Any] | np.generic | GPUArray,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _check_arrays(*arrays: GPUArray) -> None: ...
def _plain_array(array: _T, /) -> _T: ...
def _set_recorder(recorder: Any, /) -> None: ...
def _record(active: bool, /) -> bool: ...
def _refuse_recording() -> None: ...
def _elementwise(
    op: int,
    inputs: tuple[Any, ...],
    /,
    out: Any = None,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> Any: ...
def _fourier(
    function: int,
    a: GPUArray,
    n: SupportsIndex | None,
    axis: SupportsIndex,
    norm: str | None,
    out: GPUArray | None,
    stream: _Stream,
    /,
) -> GPUArray: ...
def _fourier_axes(
    function: int,
    a: GPUArray,
    s: Sequence[SupportsIndex] | None,
    axes: Sequence[SupportsIndex] | None,
    norm: str | None,
    out: GPUArray | None,
    stream: _Stream,
    /,
) -> GPUArray: ...
def _fourier_library() -> str: ...
def _apply_at(op: int, a: GPUArray, index: Any, values: Any, /) -> None: ...
def _index_report() -> tuple[int, int]: ...
def _put(
    a: GPUArray,
    indices: Any,
    values: GPUArray,
    /,
    mode: str = "raise",
    stream: _Stream = None,
) -> None: ...
def _take_along_axis(
    a: GPUArray, indices: Any, axis: int, /, stream: _Stream = None
) -> GPUArray: ...
def _put_along_axis(
    a: GPUArray, indices: Any, values: Any, axis: int, /, stream: _Stream = None
) -> None: ...
def _join(
    arrays: Any,
    axis: int,
    is_new: bool,
    /,
    dtype: DTypeLike | None = None,
    f_order: bool = False,
    allocator: _Allocator | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _numpy_stack(
    arrays: Iterable[GPUArray],
    axis: int = 0,
    out: GPUArray | None = None,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
) -> GPUArray: ...
def _remap(
    a: GPUArray,
    rule: int,
    shape: tuple[int, ...],
    firsts: tuple[int, ...],
    /,
    value: Any = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _reduce(
    op: int,
    inputs: tuple[GPUArray, ...],
    /,
    axis: _Axis = None,
    keepdims: bool = False,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    ddof: float = 0,
) -> GPUArray: ...
def _pointer_facts(pointer: SupportsIndex, /) -> tuple[int, int, int, bool] | None: ...
def _allocated(pointer: SupportsIndex, /) -> tuple[int, int] | None: ...
def _use_rest(pointer: SupportsIndex, /) -> None: ...
def _wait_for_stream(handle: SupportsIndex, /) -> None: ...
def _accumulate(
    op: int,
    a: GPUArray,
    /,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> Any: ...
def _first_few(
    a: GPUArray,
    count: int,
    descending: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    /,
) -> Any: ...
def _sort(
    a: GPUArray,
    /,
    axis: int = -1,
    keys: bool = True,
    indices: bool = False,
    descending: bool = False,
    in_place: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> Any: ...
def matmul(
    a: GPUArray,
    b: GPUArray,
    /,
    out: GPUArray | None = None,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _product_library() -> str: ...
def _values_of_diagonals(
    diagonal: GPUArray, beside: GPUArray, is_bidiagonal: bool, /, stream: _Stream = None
) -> GPUArray | None: ...
def _small_solver(
    kind: str, a: Any, b: Any = None, option: int = 0, stream: _Stream = None
) -> Any: ...
def _triangle(
    a: GPUArray, lower: bool, k: int, /, stream: _Stream = None
) -> GPUArray: ...
def _fill_triangle(
    a: GPUArray, lower: bool, k: int, /, stream: _Stream = None
) -> GPUArray: ...
def _count(
    kind: str,
    values: GPUArray,
    edges: GPUArray | np.ndarray[Any, Any] | None,
    edges_out: GPUArray | None,
    weights: GPUArray | None,
    bins: int,
    first: float,
    last: float,
    /,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _cross(a: GPUArray, b: GPUArray, /, stream: _Stream = None) -> GPUArray | None: ...
def _cumsum(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _cumprod(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _cummax(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _cummin(
    a: GPUArray,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _cumulative_sum(
    a: GPUArray,
    /,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    include_initial: bool = False,
    stream: _Stream = None,
) -> GPUArray: ...
def _cumulative_prod(
    a: GPUArray,
    /,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    include_initial: bool = False,
    stream: _Stream = None,
) -> GPUArray: ...
def _nonzero(a: GPUArray, stream: _Stream = None) -> tuple[GPUArray, ...]: ...
def _flatnonzero(a: GPUArray, stream: _Stream = None) -> GPUArray: ...
def _argwhere(a: GPUArray, stream: _Stream = None) -> GPUArray: ...
def _sum(
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _prod(
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _min(
    a: GPUArray,
    stream: _Stream = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _max(
    a: GPUArray,
    stream: _Stream = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _argmin(
    a: GPUArray,
    stream: _Stream = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _argmax(
    a: GPUArray,
    stream: _Stream = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _count_nonzero(
    a: GPUArray,
    stream: _Stream = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _any(
    a: GPUArray,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    *,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _all(
    a: GPUArray,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    *,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _mean(
    a: GPUArray,
    dtype: DTypeLike | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    *,
    axis: _Axis = None,
    keepdims: bool = False,
    out: GPUArray | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _var(
    a: GPUArray,
    axis: _Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    out: GPUArray | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _std(
    a: GPUArray,
    axis: _Axis = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    out: GPUArray | None = None,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
    where: GPUArray | bool = True,
) -> GPUArray: ...
def _nansum(
    a: GPUArray,
    axis: _Axis = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    keepdims: bool = False,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanprod(
    a: GPUArray,
    axis: _Axis = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    keepdims: bool = False,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanmin(
    a: GPUArray,
    axis: _Axis = None,
    out: GPUArray | None = None,
    keepdims: bool = False,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanmax(
    a: GPUArray,
    axis: _Axis = None,
    out: GPUArray | None = None,
    keepdims: bool = False,
    initial: _Number | None = None,
    where: GPUArray | bool = True,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanargmin(
    a: GPUArray,
    axis: _Axis = None,
    out: GPUArray | None = None,
    *,
    keepdims: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanargmax(
    a: GPUArray,
    axis: _Axis = None,
    out: GPUArray | None = None,
    *,
    keepdims: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanmean(
    a: GPUArray,
    axis: _Axis = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    keepdims: bool = False,
    *,
    where: GPUArray | bool = True,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanvar(
    a: GPUArray,
    axis: _Axis = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: GPUArray | bool = True,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _nanstd(
    a: GPUArray,
    axis: _Axis = None,
    dtype: DTypeLike | None = None,
    out: GPUArray | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: GPUArray | bool = True,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _ptp(
    a: GPUArray,
    axis: _Axis = None,
    out: GPUArray | None = None,
    *,
    keepdims: bool = False,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _searchsorted(
    a: GPUArray,
    v: GPUArray | _Number,
    side: Literal["left", "right"] = "left",
    sorter: GPUArray | None = None,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _digitize(
    x: GPUArray | _Number,
    bins: Any,
    right: bool = False,
    *,
    stream: _Stream = None,
    allocator: _Allocator | None = None,
) -> GPUArray: ...
def _take(
    a: GPUArray,
    indices: Any,
    out: GPUArray | None = None,
    stream: _Stream = None,
    axis: int | None = None,
    mode: str = "raise",
) -> GPUArray: ...
def _concatenate(
    arrays: Iterable[GPUArray],
    axis: int | None = 0,
    allocator: _Allocator | None = None,
    out: GPUArray | None = None,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _stack(
    arrays: Iterable[GPUArray],
    axis: int = 0,
    allocator: _Allocator | None = None,
    out: GPUArray | None = None,
    dtype: DTypeLike | None = None,
    casting: str | None = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _quantile(
    a: GPUArray,
    q: Any,
    axis: int | list[int] | tuple[int, ...] | None = None,
    out: GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _percentile(
    a: GPUArray,
    q: Any,
    axis: int | list[int] | tuple[int, ...] | None = None,
    out: GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _nanquantile(
    a: GPUArray,
    q: Any,
    axis: int | list[int] | tuple[int, ...] | None = None,
    out: GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _nanpercentile(
    a: GPUArray,
    q: Any,
    axis: int | list[int] | tuple[int, ...] | None = None,
    out: GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    stream: _Stream = None,
) -> GPUArray: ...
def _median(
    a: GPUArray,
    axis: int | list[int] | tuple[int, ...] | None = None,
    out: GPUArray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
    stream: _Stream = None,
) -> GPUArray: ...
def _nanmedian(
    a: GPUArray,
    axis: int | list[int] | tuple[int, ...] | None = None,
    out: GPUArray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
    stream: _Stream = None,
) -> GPUArray: ...
def _abs(x: GPUArray, /) -> GPUArray: ...
def _acos(x: GPUArray, /) -> GPUArray: ...
def _acosh(x: GPUArray, /) -> GPUArray: ...
def _asin(x: GPUArray, /) -> GPUArray: ...
def _asinh(x: GPUArray, /) -> GPUArray: ...
def _atan(x: GPUArray, /) -> GPUArray: ...
def _atanh(x: GPUArray, /) -> GPUArray: ...
def _bitwise_invert(x: GPUArray, /) -> GPUArray: ...
def _ceil(x: GPUArray, /) -> GPUArray: ...
def _conj(x: GPUArray, /) -> GPUArray: ...
def _cos(x: GPUArray, /) -> GPUArray: ...
def _cosh(x: GPUArray, /) -> GPUArray: ...
def _exp(x: GPUArray, /) -> GPUArray: ...
def _expm1(x: GPUArray, /) -> GPUArray: ...
def _floor(x: GPUArray, /) -> GPUArray: ...
def _imag(x: GPUArray, /) -> GPUArray: ...
def _isfinite(x: GPUArray, /) -> GPUArray: ...
def _isinf(x: GPUArray, /) -> GPUArray: ...
def _isnan(x: GPUArray, /) -> GPUArray: ...
def _log(x: GPUArray, /) -> GPUArray: ...
def _log10(x: GPUArray, /) -> GPUArray: ...
def _log1p(x: GPUArray, /) -> GPUArray: ...
def _log2(x: GPUArray, /) -> GPUArray: ...
def _logical_not(x: GPUArray, /) -> GPUArray: ...
def _negative(x: GPUArray, /) -> GPUArray: ...
def _positive(x: GPUArray, /) -> GPUArray: ...
def _real(x: GPUArray, /) -> GPUArray: ...
def _reciprocal(x: GPUArray, /) -> GPUArray: ...
def _sign(x: GPUArray, /) -> GPUArray: ...
def _signbit(x: GPUArray, /) -> GPUArray: ...
def _sin(x: GPUArray, /) -> GPUArray: ...
def _sinh(x: GPUArray, /) -> GPUArray: ...
def _sqrt(x: GPUArray, /) -> GPUArray: ...
def _square(x: GPUArray, /) -> GPUArray: ...
def _tan(x: GPUArray, /) -> GPUArray: ...
def _tanh(x: GPUArray, /) -> GPUArray: ...
def _trunc(x: GPUArray, /) -> GPUArray: ...
def _add(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _atan2(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _bitwise_and(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _bitwise_left_shift(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _bitwise_or(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _bitwise_right_shift(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _bitwise_xor(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _copysign(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _divide(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _equal(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _floor_divide(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _greater(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _greater_equal(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _hypot(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _less(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _less_equal(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _logaddexp(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _logical_and(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _logical_or(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _logical_xor(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _maximum(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _minimum(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _multiply(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _nextafter(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _not_equal(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _pow(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _remainder(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _subtract(x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _round(x: GPUArray, /) -> GPUArray: ...
def _where(condition: GPUArray, x1: _Operand, x2: _Operand, /) -> GPUArray: ...
def _clip(
    x: GPUArray,
    /,
    min: GPUArray | float | None = None,
    max: GPUArray | float | None = None,
) -> GPUArray: ...
def _nccl_unique_id() -> bytes: ...
def _nccl_version() -> tuple[int, int, int]: ...
