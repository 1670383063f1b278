"""Virtual memory: reserving addresses, mapping memory, rights, other processes."""

import os
import socket
import subprocess
import sys

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import SourceModule
from support.child import run_child
from support.faults import OUT_OF_MEMORY, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


@pytest.fixture
def step(ctx):
    return drv.mem_granularity()


def words(memory, count=16, offset=0):
    host = np.zeros(count, np.uint32)
    drv.memcpy_dtoh(host, int(memory) + offset)
    return host.tolist()


def test_the_granularity(step):
    assert step >= 4096 and step & (step - 1) == 0
    assert drv.mem_granularity(0) == step
    assert drv.mem_granularity(device=drv.Device(0), recommended=True) % step == 0


def test_addresses_need_no_memory(step):
    free, total = drv.mem_get_info()
    space = drv.VirtualMemory(total)
    assert space.size >= total and space.size % step == 0
    assert int(space) != 0 and space.mappings == []
    if _driver._is_emulated():  # other programs may use the memory of a GPU
        assert drv.mem_get_info()[0] == free
    aligned = drv.VirtualMemory(1, alignment=1 << 24)
    assert int(aligned) % (1 << 24) == 0 and aligned.size == step
    space.free()
    with pytest.raises(drv.LogicError, match="released before"):
        space.free()
    with pytest.raises(drv.LogicError, match="cuMemAddressReserve failed"):
        drv.VirtualMemory(1, alignment=3)
    with pytest.raises(drv.LogicError, match="was called before"):
        aligned.__init__(1)


def test_memory_is_mapped_side_by_side(step):
    space = drv.VirtualMemory(4 * step)
    space.map(drv.PhysicalMemory(2 * step))
    space.map(drv.PhysicalMemory(1), offset=2 * step)
    assert space.mappings == [(0, 2 * step), (2 * step, step)]
    drv.memset_d32(space, 7, 3 * step // 4)  # across the border
    assert words(space, 16, 2 * step - 32) == [7] * 16
    fill = SourceModule(
        "__global__ void fill(int *x) { x[blockIdx.x * 1024 + threadIdx.x] = 5; }"
    ).get_function("fill")
    fill(space, block=(1024, 1, 1), grid=(3 * step // 4096, 1))
    assert words(space, 16, 2 * step - 32) == [5] * 16
    other = drv.PhysicalMemory(step)
    space.map(other, 3 * step)
    drv.memset_d32(int(space) + 3 * step, 3, 16)
    again = drv.VirtualMemory(2 * step)
    again.map(memory=other, offset=step)
    assert words(again, 16, step) == [3] * 16
    if _driver._is_emulated():  # as drivers up to CUDA 13
        with pytest.raises(drv.Error, match="operation not supported"):
            again.map(drv.PhysicalMemory(2 * step), memory_offset=step)


def test_unmapped_memory_can_be_mapped_elsewhere(step):
    memory = drv.PhysicalMemory(step)
    assert memory.size == step
    first, second = drv.VirtualMemory(step), drv.VirtualMemory(2 * step)
    first.map(memory)
    drv.memset_d32(first, 9, 16)
    first.unmap()
    assert first.mappings == []
    second.map(memory, step)
    memory.free()
    assert words(second, 16, step) == [9] * 16
    with pytest.raises(drv.LogicError, match="released before"):
        first.map(memory)


@pytest.mark.software(why="other programs may use the memory of a GPU")
def test_memory_counts(step):
    free = drv.mem_get_info()[0]
    memory = drv.PhysicalMemory(8 * step)
    assert free - drv.mem_get_info()[0] >= 8 * step
    space = drv.VirtualMemory(8 * step)
    space.map(memory)
    memory.free()
    assert free - drv.mem_get_info()[0] >= 8 * step
    del space
    assert drv.mem_get_info()[0] == free


def test_wrong_ranges(step):
    space = drv.VirtualMemory(2 * step)
    memory = drv.PhysicalMemory(2 * step)
    with pytest.raises(ValueError, match=f"beyond the {2 * step} bytes"):
        space.map(memory, step)
    with pytest.raises(ValueError, match="memory_offset is"):
        space.map(memory, memory_offset=3 * step)
    with pytest.raises(TypeError, match="memory must be a PhysicalMemory, not int"):
        space.map(5)
    with pytest.raises(drv.LogicError, match="cuMemMap failed"):
        space.map(memory, size=5)
    space.map(memory)
    with pytest.raises(drv.Error, match="cuMemMap failed"):
        space.map(memory)
    with pytest.raises(ValueError, match="can only be unmapped as a whole"):
        space.unmap(step)
    with pytest.raises(ValueError, match="beyond"):
        space.unmap(0, 3 * step)
    with pytest.raises(ValueError, match="beyond"):
        space.set_access(0, offset=3 * step)
    space.free()
    for call in (
        lambda: space.map(memory),
        space.unmap,
        lambda: space.set_access(0),
        lambda: space.get_access(0),
    ):
        with pytest.raises(drv.LogicError, match="released before"):
            call()


def test_shortage(ctx):
    total = drv.mem_get_info()[1]
    with pytest.raises(drv.MemoryError, match="cuMemCreate failed.*bytes were asked"):
        drv.PhysicalMemory(2 * total)
    with pytest.raises(OverflowError):
        drv.PhysicalMemory(2**64 - 1)
    with pytest.raises(drv.Error, match="bytes of addresses were asked for"):
        drv.VirtualMemory(1 << 60)


def test_rights(step):
    flags = drv.mem_access_flags
    space = drv.VirtualMemory(2 * step)
    space.map(drv.PhysicalMemory(step))
    space.map(drv.PhysicalMemory(step), step, access=flags.NONE)
    assert space.get_access(0) == flags.READWRITE
    assert space.get_access(device=0, offset=step) == flags.NONE
    space.set_access(drv.Device(0), offset=step, size=step)
    assert space.get_access(0, step) == flags.READWRITE
    if drv.Device.count() > 1 and drv.Device(1).can_access_peer(drv.Device(0)):
        assert space.get_access(1) == flags.NONE
        space.set_access(1)
        assert space.get_access(1, step) == flags.READWRITE


@pytest.mark.software(why="the context of a GPU is lost after the error")
def test_memory_without_rights_cannot_be_used():
    done = run_child(
        """
import pycuda.driver as drv
from pycuda.compiler import SourceModule
drv.init()
context = drv.Device(0).make_context()
fill = SourceModule("__global__ void f(int *x) { *x = 5; }").get_function("f")
space = drv.VirtualMemory(1)
for what in ("nothing mapped", "no rights"):
    try:
        fill(space, block=(1, 1, 1))
        context.synchronize()
    except drv.Error as error:
        print("ILLEGAL_ADDRESS" in str(error))
    context.detach()
    context = drv.Device(0).make_context()
    fill = SourceModule("__global__ void f(int *x) { *x = 5; }").get_function("f")
    space = drv.VirtualMemory(1)
    space.map(drv.PhysicalMemory(1), access=drv.mem_access_flags.NONE)
space.set_access(0)
fill(space, block=(1, 1, 1))
context.synchronize()
print("done")
"""
    )
    assert done.stdout.split() == ["True", "True", "done"]


def test_a_failed_map_leaves_nothing(step, fail_calls):  # noqa: F811
    space = drv.VirtualMemory(step)
    memory = drv.PhysicalMemory(step)
    fail_calls("cuMemSetAccess", 1, code=OUT_OF_MEMORY)
    with pytest.raises(drv.MemoryError, match="cuMemSetAccess"):
        space.map(memory)
    assert space.mappings == []
    space.map(memory)


def test_objects_outlive_their_context():
    run_child("""
import pycuda.driver as drv
drv.init()
context = drv.Device(0).make_context()
space = drv.VirtualMemory(1)
memory = drv.PhysicalMemory(1)
space.map(memory)
other = drv.VirtualMemory(1)
context.detach()
del memory, space
other.free()
""")


def test_memory_is_shared_with_another_process(step):
    memory = drv.PhysicalMemory(step, ipc=True)
    space = drv.VirtualMemory(step)
    space.map(memory)
    drv.memset_d32(space, 4, 16)
    drv.Context.synchronize()
    file = memory.export_handle()
    code = """
import socket, sys
import numpy as np
import pycuda.driver as drv

link = socket.socket(fileno=int(sys.argv[1]))
size, files, *_ = socket.recv_fds(link, 1000, 1)
drv.init()
context = drv.Device(0).make_context()
memory = drv.PhysicalMemory.from_handle(files[0], int(size))
space = drv.VirtualMemory(memory.size)
space.map(memory)
host = np.zeros(16, np.uint32)
drv.memcpy_dtoh(host, space)
drv.memset_d32(space, 6, 8)
context.synchronize()
print(*host)
"""
    here, there = socket.socketpair()
    with here, there:
        socket.send_fds(here, [str(step).encode()], [file])
        os.close(file)
        done = subprocess.run(
            [sys.executable, "-c", code, str(there.fileno())],
            check=False,
            capture_output=True,
            text=True,
            pass_fds=[there.fileno()],
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["4"] * 16
    assert words(space) == [6] * 8 + [4] * 8
    with pytest.raises(drv.LogicError, match="cuMemExportToShareableHandle"):
        drv.PhysicalMemory(1).export_handle()
