"""Errors of copies and fills beyond an allocation name its size and the request."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SIZE = 400


def rectangle(memory, rows, y=0):
    copy = drv.Memcpy2D()
    copy.set_src_host(np.zeros((rows, 10), np.int32))
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 40
    copy.height, copy.dst_y = rows, y
    return copy


def box(memory, planes):
    copy = drv.Memcpy3D()
    copy.set_src_device(memory)
    copy.set_dst_host(np.zeros((planes, 5, 10), np.int32))
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 40
    copy.height = copy.src_height = copy.dst_height = 5
    copy.depth = planes
    return copy


def ints(n):
    return np.zeros(n, np.int32)


def array_at(memory, n, offset=0):
    return gpuarray.GPUArray(n, np.int32, gpudata=int(memory) + offset)


#: Routine: what to do with memory of 400 bytes so that it fits, the same one step too
#: far, and the bytes and the offset that the message names.
COPIES = {
    "cuMemcpyHtoD": (
        lambda m, far: drv.memcpy_htod(m, ints(100 + far)),
        "dest: 404 bytes from byte 0",
    ),
    "cuMemcpyDtoH": (
        lambda m, far: drv.memcpy_dtoh(ints(90 + far), int(m) + 40),
        "src: 364 bytes from byte 40",
    ),
    "cuMemcpyDtoD": (
        lambda m, far: drv.memcpy_dtod(m, int(m) + 200, 200 + far),
        "src: 201 bytes from byte 200",
    ),
    "cuMemcpyDtoDAsync": (
        lambda m, far: drv.memcpy_dtod_async(int(m) + 300, m, 100 + far),
        "dest: 101 bytes from byte 300",
    ),
    "cuMemcpyHtoDAsync": (
        lambda m, far: drv.memcpy_htod_async(m, drv.pagelocked_zeros(400 + far, "b")),
        "dest: 401 bytes from byte 0",
    ),
    "cuMemcpyDtoHAsync": (
        lambda m, far: drv.memcpy_dtoh_async(drv.pagelocked_zeros(400 + far, "b"), m),
        "src: 401 bytes from byte 0",
    ),
    "cuMemsetD8": (
        lambda m, far: drv.memset_d8(int(m) + 1, 0, 399 + far),
        "dest: 400 bytes from byte 1",
    ),
    "cuMemsetD16Async": (
        lambda m, far: drv.memset_d16_async(m, 0, 200 + far),
        "dest: 402 bytes from byte 0",
    ),
    "cuMemsetD32": (
        lambda m, far: drv.memset_d32(m, 0, 100 + far),
        "dest: 404 bytes from byte 0",
    ),
    "cuMemsetD2D8": (
        lambda m, far: drv.memset_d2d8(m, 100, 0, 50, 4 + far),
        "dest: 450 bytes from byte 0",
    ),
    "cuMemcpy2D": (
        lambda m, far: rectangle(m, 9, 1 + far)(aligned=True),
        "the destination: 440 bytes from byte 0",
    ),
    "cuMemcpy3D": (
        lambda m, far: box(m, 2 + far)(),
        "the source: 600 bytes from byte 0",
    ),
}


@pytest.fixture
def memory(ctx):
    return drv.mem_alloc(SIZE)


@pytest.mark.parametrize("routine", COPIES)
def test_one_step_too_far(memory, routine):
    copy, words = COPIES[routine]
    copy(memory, 0)
    drv.Context.synchronize()
    with pytest.raises(drv.LogicError) as caught:
        copy(memory, 1)
    error = caught.value
    assert (error.routine, error.name) == (routine, "CUDA_ERROR_INVALID_VALUE")
    text = str(error)
    assert text.startswith(f"{routine} failed: invalid argument - {words} on were ")
    assert text.endswith(f"the allocation at {int(memory):#x} has {SIZE} bytes")


def test_arrays_over_too_little_memory(memory):
    fits, wide = array_at(memory, 90, 40), array_at(memory, 91, 40)
    fits.set(ints(90))
    assert (fits.get() == 0).all()
    fits.fill(0)
    wanted = "364 bytes from byte 40 on were asked for, but the allocation"
    other = gpuarray.zeros(91, np.int32)
    calls = [
        lambda: wide.get(),
        lambda: wide.set(ints(91)),
        lambda: wide.fill(0),
        lambda: wide.copy(),
        lambda: other.set(wide),
        lambda: wide.set(other),
    ]
    for call in calls:
        with pytest.raises(drv.LogicError, match=wanted):
            call()


def test_an_address_without_an_allocation(memory):
    with pytest.raises(
        drv.LogicError, match="src: 4 bytes were asked for at address 0x3039"
    ):
        drv.memcpy_dtoh(ints(1), 12345)


def test_other_failures_say_nothing_of_allocations(memory):
    """Overlapping rows are rejected for another reason."""
    copy = rectangle(memory, 9)
    copy.dst_pitch = 20
    with pytest.raises(drv.LogicError, match="9 rows of 40 bytes from host") as caught:
        copy(aligned=True)
    assert "allocation" not in str(caught.value)


@pytest.mark.parametrize("handler", [drv.In, drv.Out, drv.InOut])
def test_a_handler_is_called_by_its_name(ctx, handler):
    source = "__global__ void f(int *x) { if (!x) x[1] = 0; }"
    function = SourceModule(source).get_function("f")
    name = handler.__name__
    function(handler(ints(8)), block=(1, 1, 1))
    with pytest.raises((ValueError, TypeError), match=rf"the array of {name}\b"):
        function(handler(ints(8)[::2]), block=(1, 1, 1))

    class Own(handler):
        pass

    with pytest.raises((ValueError, TypeError), match=r"the array of Own\b"):
        function(Own(ints(8)[::2]), block=(1, 1, 1))
