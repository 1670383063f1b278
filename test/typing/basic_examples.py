"""Programs as users write them, for type checkers. This file never runs.

A line with an error has a `type: ignore`. A checker that accepts the line reports the
comment as unused.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

import pycuda.autoinit
import pycuda.driver as drv
from pycuda import array_api as xp, gpuarray
from pycuda.array_api import concat, full
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray
from pycuda.interop import from_gpuarray, to_gpuarray
from pycuda.tools import device_for_rank, make_default_context

Floats = NDArray[np.float32]


# -- programs --------------------------------------------------------------------------


def first_program(a: Floats) -> Floats:
    module = SourceModule("__global__ void twice(float *x) { x[threadIdx.x] *= 2; }")
    twice = module.get_function("twice")
    assert_type(twice, drv.Function)
    assert_type(twice(drv.InOut(a), block=(4, 4, 1)), None)
    pycuda.autoinit.context.synchronize()
    return a


def explicit_copies(a: Floats) -> Floats:
    a_gpu = drv.mem_alloc(a.nbytes)
    assert_type(a_gpu, drv.DeviceAllocation)
    drv.memcpy_htod(a_gpu, a)
    drv.memcpy_htod(int(a_gpu) + 4, bytearray(8))
    drv.memcpy_dtod(dest=a_gpu, src=int(a_gpu), size=np.int64(4))
    doubled = np.empty_like(a)
    drv.memcpy_dtoh(doubled, a_gpu)
    drv.memset_d32(a_gpu, 0, a.size)
    a_gpu.free()
    return doubled


def new_arrays(where: drv.DeviceAllocation, like: Floats, name: str) -> None:
    assert_type(drv.from_device(where, (2, 3), np.float32), NDArray[np.float32])
    assert_type(drv.from_device(where, 6, np.dtype(np.int32)), NDArray[np.int32])
    assert_type(drv.from_device(where, [2, 3], name, order="F"), NDArray[Any])
    assert_type(drv.from_device_like(where, like), Floats)
    assert_type(drv.pagelocked_empty(4, np.float64), NDArray[np.float64])
    assert_type(drv.pagelocked_zeros_like(like), Floats)
    flags = drv.host_alloc_flags.DEVICEMAP | drv.host_alloc_flags.PORTABLE
    base: Any = drv.pagelocked_zeros((4,), "f4", mem_flags=flags).base
    assert isinstance(base, drv.HostAllocation)
    assert_type(base.get_device_pointer(), int)
    assert_type(drv.aligned_empty((2, 3), np.int8, "F", 64), NDArray[np.int8])
    assert_type(drv.aligned_zeros_like(like, alignment=64), Floats)
    assert_type(drv.register_host_memory(like, flags=2), Floats)
    attach = drv.mem_attach_flags.GLOBAL
    managed = drv.managed_zeros(4, np.float32, mem_flags=attach)
    assert_type(managed, NDArray[np.float32])
    owner: Any = managed.base
    assert isinstance(owner, drv.ManagedAllocation)
    owner.attach(drv.mem_attach_flags.SINGLE, stream=drv.Stream())
    drv.memcpy_dtod(owner, where, 16)


def rectangles(host: Floats, array: drv.Array, stream: drv.Stream) -> None:
    memory, pitch = drv.mem_alloc_pitch(host.shape[1] * 4, host.shape[0], 4)
    assert_type(pitch, int)
    copy = drv.Memcpy2D()
    copy.set_src_host(host[:, 1:])
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch = host.strides[0], pitch
    copy.width_in_bytes, copy.height = 4, 3
    assert_type(copy.src_memory_type, drv.memory_type)
    copy()
    copy(aligned=False)
    copy(True)
    copy(stream)
    box = drv.Memcpy3D()
    box.set_src_array(array)
    box.set_dst_unified(host)
    box.src_z, box.depth = 1, 2
    box()
    box(stream=stream)
    peer = drv.Memcpy3DPeer()
    peer.set_dst_context(drv.Context.get_current())
    peer(stream)
    drv.memset_d2d32(memory, pitch, data=0, width=4, height=3)


def between_processes(memory: drv.DeviceAllocation, event: drv.Event) -> None:
    handle = drv.mem_get_ipc_handle(memory)
    assert_type(handle, bytearray)
    other = drv.IPCMemoryHandle(handle, drv.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS)
    drv.memcpy_dtod(other, memory, 4)
    other.close()
    assert_type(drv.Event.from_ipc_handle(bytes(event.ipc_handle())), drv.Event)
    assert_type(drv.mem_get_address_range(memory), tuple[int, int])


def textures(matrix: Floats, memory: drv.DeviceAllocation, f: drv.Function) -> None:
    array = drv.matrix_to_array(matrix, "C")
    assert_type(array, drv.Array)
    assert_type(array.get_descriptor_3d().format, drv.array_format)
    modes = (drv.address_mode.WRAP, drv.address_mode.CLAMP)
    texture = drv.TextureObject(array, address_mode=modes, normalized_coords=True)
    drv.TextureObject(memory, drv.ArrayDescriptor(), pitch=512)
    drv.TextureObject("array")  # type: ignore[arg-type]
    f(texture, drv.SurfaceObject(array), block=(4, 4, 1))
    module = SourceModule("texture<float, 2> image; surface<void, 2> canvas;")
    image = module.get_texref("image")
    assert_type(image, drv.TextureReference)
    image.set_array(array)
    assert_type(image.set_address(memory, 64, allow_offset=True), int)
    assert_type(image.get_format(), tuple[drv.array_format, int])
    image.set_filter_mode("LINEAR")  # type: ignore[arg-type]
    f(block=(4, 4, 1), texrefs=[image])
    assert_type(module.get_surfref("canvas").get_array(), drv.Array)


def streams_and_events(f: drv.Function, host: Floats) -> float:
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    start, end = drv.Event(), drv.Event(flags=drv.event_flags.BLOCKING_SYNC)
    start.record(stream)
    device = drv.to_device(host)
    drv.memcpy_htod_async(device, host, stream)
    f(device, np.int32(host.size), block=(256, 1, 1), grid=(8,), stream=stream)
    drv.memcpy_dtoh_async(host, device, stream=stream)
    assert_type(end.record(stream=stream).synchronize(), drv.Event)
    stream.wait_for_event(end)
    assert_type(stream.is_done(), bool)
    return start.time_till(end)


def prepared(f: drv.Function, x: drv.DeviceAllocation, stream: drv.Stream) -> float:
    assert_type(f.prepare([np.float32, np.intp, None, "P"]), drv.Function)
    f.prepare("fPi", texrefs=[]).prepared_call((8, 1), (128, 1, 1), 2.0, x, 1000)
    f.prepared_async_call((8, 1), (128, 1, 1), stream, 3, x, 1000, shared_size=64)
    seconds = f.prepared_timed_call((8, 1), (128, 1, 1), 2.0, x, 1000)
    assert_type(seconds, Callable[[], float])
    return seconds()


def timed(f: drv.Function, block: list[int], maybe: bool) -> None:
    assert_type(f(block=block, time_kernel=True), float)
    assert_type(f(block=block, time_kernel=False), None)
    assert_type(f(block=128, time_kernel=maybe), float | None)


def structs(f: drv.Function) -> None:
    float4 = np.dtype([(name, np.float32) for name in "xyzw"])
    f(np.zeros(1, dtype=float4)[0], np.complex64(1j), b"raw bytes", block=(1, 1, 1))


def properties(device: drv.Device) -> dict[str, int]:
    assert_type(device.compute_capability(), tuple[int, int])
    assert_type(device.name(), str)
    assert_type(device.pci_bus_id(), str)
    assert_type(device.max_threads_per_block, int)
    assert_type(device.compute_mode, drv.compute_mode)
    attributes = device.get_attributes()
    return {str(attribute): value for attribute, value in attributes.items()}


def enumerations() -> None:
    assert_type(drv.limit.STACK_SIZE, drv.limit)
    assert_type(drv.limit(0), drv.limit)
    assert_type(drv.limit.names["STACK_SIZE"].name, str | None)
    assert_type(drv.ctx_flags.MAP_HOST | drv.ctx_flags.SCHED_AUTO, int)
    drv.Context.set_limit(drv.limit.PRINTF_FIFO_SIZE, 1 << 20)


def contexts() -> None:
    drv.init()
    context = drv.Device("0000:01:00.0").make_context(flags=drv.ctx_flags.MAP_HOST)
    with context as same:
        assert_type(same, drv.Context)
    context.pop()
    drv.Context.pop()
    other = make_default_context(lambda device: device.retain_primary_context())
    assert_type(other, drv.Context)
    assert_type(drv.Context.get_current(), drv.Context | None)
    assert_type(pycuda.autoinit.device, drv.Device)


def errors() -> str | None:
    try:
        drv.init()
    except drv.MemoryError as error:
        memory_error: MemoryError = error
        return str(memory_error)
    except drv.CompileError as error:
        return error.stderr if isinstance(error.stderr, str) else error.msg
    except drv.Error as error:
        return error.name if error.code == 100 else error.routine
    return None


def loaded(ptx: bytes) -> tuple[int, int]:
    def handler(success: bool, info: str, error: str) -> None:
        print(success, info, error)

    module = drv.module_from_buffer(
        ptx, options=[(drv.jit_option.MAX_REGISTERS, 32)], message_handler=handler
    )
    function = module.get_function("f")
    assert_type(function.num_regs, int)
    assert_type(function.get_attribute(drv.function_attribute.NUM_REGS), int)
    return module.get_global("table")


class Holder(drv.PointerHolderBase):
    """Memory of another library."""

    def __init__(self, address: int) -> None:
        super().__init__()
        self.address = address

    def get_pointer(self) -> int:
        return self.address


class Wrapped:
    """An array as many libraries have it."""

    def __init__(self, gpudata: drv.DeviceAllocation | None) -> None:
        self.gpudata = gpudata


class Offset(drv.InOut):
    """A handler that a program defines."""

    def pre_call(self, stream: drv.Stream | None) -> None:
        super().pre_call(stream)

    def get_device_alloc(self) -> drv.DeviceAllocation:
        return drv.mem_alloc(self.array.nbytes)


def foreign_memory(f: drv.Function, a: Floats) -> memoryview:
    holder = Holder(0x1000)
    f(holder, Wrapped(None), Offset(a), block=(1, 1, 1))
    drv.memcpy_htod(holder, a)
    drv.memcpy_htod(Wrapped(None), a)
    return holder.as_buffer(16, offset=4)


def exchanged(theirs: object, a: Floats) -> drv.Device:
    ours = to_gpuarray(theirs)
    assert_type(ours, drv.GPUArray)
    assert_type(to_gpuarray(a, copyif=True), drv.GPUArray)
    assert_type(from_gpuarray(ours, "strided"), Any)
    capsule = ours.__dlpack__(stream=None, max_version=(1, 0), copy=False)
    assert_type(drv.from_dlpack(capsule), drv.ForeignAllocation)
    assert_type(ours.__dlpack_device__(), tuple[int, int])
    assert_type(device_for_rank(), drv.Device)
    return device_for_rank(comm=theirs)


class TheirStream:
    """A stream as other libraries have it."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0


def sums(x: GPUArray, mask: GPUArray, theirs: TheirStream) -> GPUArray:
    assert_type(gpuarray.sum(x, np.float64, theirs, axis=(0, 1)), GPUArray)
    assert_type(x.fill(0, stream=theirs).sum(1, where=mask), GPUArray)
    assert_type(gpuarray.nonzero(x), tuple[GPUArray, ...])
    x.sum(where=[True])  # type: ignore[arg-type]
    x.sum(0, keepdim=True)  # type: ignore[call-arg]
    gpuarray.median(x, method="linear")  # type: ignore[call-arg]
    return gpuarray.searchsorted(x, 3, "right")


def standard_arrays(x: GPUArray) -> GPUArray:
    """Use names of the standard's namespace from each of its modules."""
    assert_type(concat([x, full(3, 2.5, dtype=xp.float32)]), GPUArray)
    assert_type(xp.where(xp.isnan(x), 0.0, x), GPUArray)
    assert_type(xp.unstack(xp.sort(x)), tuple[GPUArray, ...])
    assert_type(xp.fft.fft(x), GPUArray)
    xp.sum(x, 0)  # type: ignore[call-arg]
    return xp.sum(x, axis=(0, 1), keepdims=True)


def sized(f: drv.Function, a: Floats, p: drv.DeviceAllocation) -> None:
    f(a, size=a.shape)
    f(a, size=3, stream=None)
    assert_type(f(a, size=3, time_kernel=True), float | None)
    f.prepared_call(p, 3, size=3)
    f.prepared_async_call(None, p, 3, size=(3, 4))


# -- what must be refused --------------------------------------------------------------


def refused(f: drv.Function, a: Floats, device: drv.Device) -> None:
    f(a, 3, block=(1, 1, 1))  # type: ignore[call-overload]
    f(a, 2.5, block=(1, 1, 1))  # type: ignore[call-overload]
    f(a)  # type: ignore[call-overload]
    f(a, block=(1, 1, 1), threads=3)  # type: ignore[call-overload]
    f(a, size=3, block=(1, 1, 1))  # type: ignore[call-overload]
    f.prepared_call(a, 3, size=3, grid=(1, 1))  # type: ignore[call-overload]
    f(a, block=(1.5, 1, 1))  # type: ignore[arg-type]
    drv.memcpy_htod("0x1000", a)  # type: ignore[arg-type]
    drv.memcpy_htod(0, [1, 2, 3])  # type: ignore[arg-type]
    drv.memcpy_htod(0)  # type: ignore[call-arg]
    drv.memcpy_dtod(0, 0, 1.5)  # type: ignore[arg-type]
    drv.memcpy_htod_async(0, a, 7)  # type: ignore[arg-type]
    drv.pagelocked_empty(4, np.float32, order="K")  # type: ignore[call-overload]
    drv.aligned_empty(4, np.float32, alignment="page")  # type: ignore[call-overload]
    drv.Memcpy2D().height = "4"  # type: ignore[assignment]
    drv.Memcpy2D()("now")  # type: ignore[call-overload]
    drv.Memcpy3D().set_src_array(a)  # type: ignore[arg-type]
    drv.Memcpy3D().set_src_context(None)  # type: ignore[attr-defined]
    drv.IPCMemoryHandle("handle")  # type: ignore[arg-type]
    drv.mem_alloc(bytes=4)  # type: ignore[call-arg]
    drv.mem_alloc(4.0)  # type: ignore[arg-type]
    drv.In(3)  # type: ignore[arg-type]
    drv.Device(number_or_pci_bus_id=0)  # type: ignore[call-arg]
    drv.Event().time_since(3)  # type: ignore[arg-type]
    drv.limit("STACK_SIZE")  # type: ignore[arg-type]
    print(drv.limit.STACK_SIZES)  # type: ignore[attr-defined]
    print(device.max_thread_per_block)  # type: ignore[attr-defined]
    device.warp_size = "64"  # type: ignore[assignment]
    drv.module_from_buffer("text")  # type: ignore[arg-type]
    from_gpuarray(a, "cupy")  # type: ignore[arg-type]
    to_gpuarray(a, copyif="no")  # type: ignore[arg-type]
