"""Memory that follows streams: pools and allocations that know which stream uses them.

The child programs read a block late: their kernel waits on a GPU, and the software
device defers the work of streams. A pool that gives the block out too early lets the
kernel read the values of the next owner.
"""

import ctypes
import gc
import os
import socket
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray, tools
from support.child import run_child
from support.emulator import LIBRARY
from support.faults import OUT_OF_MEMORY, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


@pytest.fixture
def ctx():
    """A fresh context: the streams of other tests would count in a shared one."""
    context = drv.Device(0).make_context()
    yield context
    context.pop()
    context.detach()


START = """
import numpy as np
import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.compiler import SourceModule

drv.init()
context = drv.Device(0).make_context()
code = SourceModule('''
__global__ void fill(int *x, int v) { x[threadIdx.x] = v; }
__global__ void read_late(const int *x, int *out, long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) { }
    out[threadIdx.x] = x[threadIdx.x];
}
''')
fill, read_late = code.get_function("fill"), code.get_function("read_late")
CYCLES = np.int64(0 if _driver._is_emulated() else 100_000_000)
N, BLOCK = 32 * 4, (32, 1, 1)
pool = drv.{pool}()
out = drv.mem_alloc(N)

def use(block, stream):
    fill(block, np.int32(1), block=BLOCK, stream=stream)
    context.synchronize()
    read_late(block, out, CYCLES, block=BLOCK, stream=stream)

def overwrite(block, stream):
    fill(block, np.int32(2), block=BLOCK, stream=stream)
    stream.synchronize()

def seen():
    host = np.zeros(32, np.int32)
    context.synchronize()
    drv.memcpy_dtoh(host, out)
    print(*sorted(set(host.tolist())))
"""

pools = pytest.mark.parametrize("pool", ["DeviceMemoryPool", "MemoryPool"])


def late(code, pool="DeviceMemoryPool"):
    """Run a program on deferred streams. Return what it printed."""
    program = START.replace("{pool}", pool) + code
    return run_child(program, PYCUDA_EMULATOR_STREAMS="late").stdout.splitlines()


# -- a block is not given out while a stream uses it -----------------------------------


def test_a_freed_block_is_not_given_to_another_stream():
    assert late("""
s, t = drv.Stream(), drv.Stream()
a = pool.allocate(N)
use(a, s)
del a
b = pool.allocate(N)
overwrite(b, t)
seen()
""") == ["1"]


@pools
def test_a_freed_block_of_a_current_stream(pool):
    assert late(
        """
s, t = drv.Stream(), drv.Stream()
with s:
    a = pool.allocate(N)
    use(a, s)
    del a
with t:
    b = pool.allocate(N)
    overwrite(b, t)
seen()
""",
        pool,
    ) == ["1"]


def test_a_non_blocking_stream_and_the_default_stream():
    assert late("""
s = drv.Stream(drv.stream_flags.NON_BLOCKING)
a = pool.allocate(N)
use(a, s)
a.free()
b = pool.allocate(N)
fill(b, np.int32(2), block=BLOCK)
seen()
""") == ["1"]


@pytest.mark.parametrize("flags", list(drv.stream_flags.values.values()))
def test_streams_and_events_begin_and_end_in_a_capture(ctx, flags):
    """Also the first stream that has no order with the captured one."""
    stream = drv.Stream()
    x = gpuarray.zeros(8, np.int32)
    with stream.capture() as graph:
        x += 1
        other, event = drv.Stream(flags), drv.Event()
        event.record(other)
        event.synchronize()
        del other, event
        x += 1
        drv.Stream(flags).synchronize()
    assert len(graph.nodes) == 2
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (x.get() == 2).all()


@pools
def test_the_work_before_a_capture(pool):
    """A stream that begins in a capture waits for work from before the capture."""
    assert late(
        """
s = drv.Stream()
a = pool.allocate(N)
use(a, s)
del a
b, c = pool.allocate(N), drv.mem_alloc(N)
with s.capture() as graph:
    fill(c, np.int32(3), block=BLOCK, stream=s)
    t = drv.Stream(drv.stream_flags.NON_BLOCKING)
    overwrite(b, t)
assert len(graph.nodes) == 1
seen()
""",
        pool,
    ) == ["1"]


def test_a_stream_that_cannot_wait_for_a_captured_one(ctx):
    """Another library began the capture, so nothing marks the work before it."""
    stream, pool = drv.Stream(), drv.DeviceMemoryPool()
    memory = pool.allocate(8)
    drv.memset_d8_async(memory, 0, 8, stream)
    driver = ctypes.CDLL(LIBRARY if _driver._is_emulated() else "libcuda.so.1")
    handle, graph = ctypes.c_void_p(stream.handle), ctypes.c_void_p()
    relaxed = 2
    assert driver.cuStreamBeginCapture_v2(handle, relaxed) == 0
    for _ in range(2):  # also not the second time
        with pytest.raises(drv.LogicError, match="make or use this stream before"):
            drv.Stream()
    assert driver.cuStreamEndCapture(handle, ctypes.byref(graph)) == 0
    assert driver.cuGraphDestroy(graph) == 0
    drv.Stream().synchronize()


def test_the_work_of_a_destroyed_stream():
    assert late("""
s, t = drv.Stream(), drv.Stream()
drv.memset_d8_async(pool.allocate(8), 0, 8, t)
a = pool.allocate(N)
use(a, s)
del s
a.free()
b = pool.allocate(N)
overwrite(b, t)
seen()
""") == ["1"]


def test_an_address_as_a_number():
    assert late("""
s, t = drv.Stream(), drv.Stream()
a = pool.allocate(N)
use(np.intp(int(a)), s)
a.free()
b = pool.allocate(N)
overwrite(b, t)
seen()
""") == ["1"]


def test_prepared_calls_and_copies():
    assert late("""
s, t = drv.Stream(), drv.Stream()
fill.prepare("Pi")
host = drv.pagelocked_empty(32, np.int32)
host[:] = 0
a = pool.allocate(N)
fill.prepared_async_call((1, 1), BLOCK, s, a, 1)
context.synchronize()
read_late(out, out, CYCLES, block=BLOCK, stream=s)
drv.memcpy_dtoh_async(host, a, s)
a.free()
b = pool.allocate(N)
fill.prepared_async_call((1, 1), BLOCK, t, b, 2)
t.synchronize()
s.synchronize()
print(*sorted(set(host.tolist())))
""") == ["1"]


def test_streams_of_other_libraries():
    assert late("""
class Foreign:
    def __init__(self):
        self.stream = drv.Stream()
    def __cuda_stream__(self):
        return 0, self.stream.handle

a = pool.allocate(N)
use(a, Foreign())
a.free()
t = drv.Stream()
b = pool.allocate(N)
overwrite(b, t)
seen()
c = pool.allocate(N)
use(c, drv.Stream.from_handle(Foreign()))
c.free()
d = pool.allocate(N)
overwrite(d, t)
seen()
""") == ["1", "1"]


def foreign_calls(*names):
    """Return functions of the driver, as another library would call them."""
    library = ctypes.CDLL(LIBRARY if _driver._is_emulated() else "libcuda.so.1")
    found = []
    for name in names:
        address = ctypes.c_void_p()
        status = library.cuGetProcAddress_v2(
            name.encode(), ctypes.byref(address), 12000, ctypes.c_uint64(0), None
        )
        assert status == 0
        found.append(ctypes.CFUNCTYPE(ctypes.c_int, *ARGUMENTS[name])(address.value))
    return found


ARGUMENTS = {
    "cuStreamCreate": (ctypes.c_void_p, ctypes.c_uint),
    "cuStreamDestroy": (ctypes.c_void_p,),
}


@pytest.mark.parametrize("with_pool", [False, True])
def test_idle_streams_of_other_libraries_are_let_go(ctx, with_pool):
    create, destroy = foreign_calls("cuStreamCreate", "cuStreamDestroy")

    class Foreign:
        def __init__(self):
            handle = ctypes.c_void_p()
            assert create(ctypes.byref(handle), 0) == 0
            self.handle = handle

        def __cuda_stream__(self):
            return 0, self.handle.value

        def __del__(self):
            assert destroy(self.handle) == 0

    pool = drv.DeviceMemoryPool() if with_pool else None
    memory = drv.mem_alloc(8)
    alive = []
    for _ in range(60):
        foreign = Foreign()
        drv.memset_d8_async(memory, 0, 8, foreign)
        alive.append(weakref.ref(foreign))
        if len(alive) % 20 == 0:
            drv.Context.synchronize()
    del foreign
    assert sum(ref() is not None for ref in alive) <= 40
    del pool


def test_free_names_a_stream_that_the_package_has_not_seen():
    assert late("""
s, t = drv.Stream(), drv.Stream()
fill(out, np.int32(0), block=BLOCK, stream=t)
use(out, s)
context.synchronize()
a = pool.allocate(N)
fill(a, np.int32(1), block=BLOCK)
drv.memset_d32(out, 0, 32)
context.synchronize()
b = pool.allocate(N)
a.free(stream=s)
print(int(pool.allocate(N)) == int(b))
""") == ["False"]


def test_memory_of_a_peer():
    if drv.Device.count() < 2:
        pytest.skip("needs two devices")
    assert late("""
device = drv.Device(1)
if not device.can_access_peer(drv.Device(0)):
    print(1)
    raise SystemExit
other = device.make_context()
drv.Context.enable_peer_access(context)
there = SourceModule('''
__global__ void read_late(const int *x, int *out, long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) { }
    out[threadIdx.x] = x[threadIdx.x];
}
''').get_function("read_late")
remote = drv.mem_alloc(N)
s = drv.Stream()
context.push()
a = pool.allocate(N)
fill(a, np.int32(1), block=BLOCK)
context.synchronize()
other.push()
there(a, remote, CYCLES, block=BLOCK, stream=s)
context.push()
a.free()
t = drv.Stream()
overwrite(pool.allocate(N), t)
other.push()
host = np.zeros(32, np.int32)
other.synchronize()
drv.memcpy_dtoh(host, remote)
print(*sorted(set(host.tolist())))
""") == ["1"]


# -- and is given out as soon as possible ----------------------------------------------


@pytest.fixture
def pool(ctx):
    return drv.DeviceMemoryPool()


def again(pool, first, second, wait=False):
    """Whether a block that `first` used is given to `second`."""
    a = pool.allocate(1000)
    address = int(a)
    drv.memset_d8_async(a, 0, 1000, first) if first else drv.memset_d8(a, 0, 1000)
    a.free()
    if wait:
        drv.Context.synchronize()
    if second is None:
        return int(pool.allocate(1000)) == address
    with second:
        return int(pool.allocate(1000)) == address


def test_one_stream_gets_its_block_again(pool):
    assert again(pool, None, None)
    s = drv.Stream()
    assert again(pool, s, s)
    assert again(pool, s, None)
    assert again(pool, None, s)


def test_every_stream_gets_its_own_block_again(pool):
    streams = [drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)]
    for stream in streams * 2:
        drv.Context.synchronize()  # the block may be one that the other stream used
        with stream:
            assert again(pool, stream, stream)


def test_a_block_goes_to_another_stream_after_the_work(pool):
    s, t = drv.Stream(), drv.Stream()
    for first, second in [(s, t), (t, s), (s, None), (None, t), (t, None)]:
        assert again(pool, first, second, wait=True)


def test_many_streams(pool):
    for _ in range(3):
        streams = [drv.Stream() for _ in range(6)]
        blocks = [pool.allocate(64) for _ in streams]
        for stream in streams:
            for block in blocks:
                drv.memset_d8_async(block, 1, 64, stream)
        del blocks, streams, stream, block
        gc.collect()
    drv.Context.synchronize()
    s, t = drv.Stream(), drv.Stream()
    drv.memset_d8_async(pool.allocate(8), 0, 8, s)
    drv.memset_d8_async(pool.allocate(8), 0, 8, t)
    held = pool.held_blocks  # more than 8 if the work of a round lasted into the next
    assert held >= 7
    with t:
        kept = [pool.allocate(64) for _ in range(6)]
    assert pool.held_blocks == held - 6, kept


def test_a_new_stream_cannot_have_used_a_block():
    assert late("""
streams = [drv.Stream() for _ in range(6)]
a = pool.allocate(N)
address = int(a)
for stream in streams:
    drv.memset_d8_async(a, 1, N, stream)
del a
context.synchronize()
busy, t = drv.Stream(), drv.Stream()
read_late(out, out, CYCLES, block=BLOCK, stream=busy)
with t:
    print(int(pool.allocate(N)) == address)
""") == ["True"]


def test_threads_with_their_own_streams(ctx):
    pool = drv.DeviceMemoryPool()
    code = "__global__ void f(int *x, int v) { x[threadIdx.x] = v; }"
    from pycuda.compiler import SourceModule

    fill = SourceModule(code).get_function("f")
    wrong = []

    def work(number):
        ctx.push()
        try:
            with drv.Stream() as stream:
                for i in range(30):
                    block = pool.allocate(128)
                    host = np.zeros(32, np.int32)
                    fill(block, np.int32(number * 100 + i), block=(32, 1, 1))
                    drv.memcpy_dtoh_async(host, block)
                    stream.synchronize()
                    if (host != number * 100 + i).any():
                        wrong.append((number, i, host))
                    block.free()
        finally:
            ctx.pop()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_shortage_waits_for_the_streams(pool, fail_calls):  # noqa: F811
    s, t = drv.Stream(), drv.Stream()
    drv.memset_d8_async(pool.allocate(8), 0, 8, t)
    a = pool.allocate(1 << 16)
    drv.memset_d8_async(a, 0, 1 << 16, s)
    a.free()
    fail_calls("cuEventRecord", 1, code=999)  # no fence: the block seems in use
    fail_calls("cuMemAlloc", 1, code=OUT_OF_MEMORY)
    with t:
        b = pool.allocate(1 << 16)
    assert pool.held_blocks == 1 and len(b) == 1 << 16


# -- free() ----------------------------------------------------------------------------


def test_free_of_pooled_memory_takes_a_stream(pool):
    stream = drv.Stream()
    a, b = pool.allocate(10), pool.allocate(10)
    a.free(stream)
    b.free(stream=None)
    for block in (a, b):
        with pytest.raises(drv.LogicError, match="released before"):
            block.free()
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        pool.allocate(10).free(3)


def test_free_of_memory_takes_a_stream(ctx):
    stream = drv.Stream()
    a = drv.mem_alloc(1000)
    drv.memset_d8_async(a, 1, 1000, stream)
    a.free(stream)
    with pytest.raises(drv.LogicError, match="released before"):
        a.free(stream)
    with pytest.raises(TypeError):
        drv.mem_alloc(8).free(3)


# -- mem_alloc_async -------------------------------------------------------------------


def test_memory_in_the_order_of_a_stream(ctx):
    stream = drv.Stream()
    a = drv.mem_alloc_async(400, stream)
    assert isinstance(a, drv.StreamAllocation) and isinstance(a, drv.DeviceAllocation)
    assert a.stream is stream and int(a) != 0
    drv.memset_d32_async(a, 7, 100, stream)
    host = drv.pagelocked_empty(100, np.uint32)
    drv.memcpy_dtoh_async(host, a, stream)
    a.free()
    stream.synchronize()
    assert (host == 7).all()
    with pytest.raises(drv.LogicError, match="released before"):
        a.free()
    b = drv.mem_alloc_async(bytes=400)
    assert b.stream is None
    with stream:
        c = drv.mem_alloc_async(400)
    assert c.stream is stream
    c.free(None)
    b.free(stream)


def test_memory_keeps_its_stream(ctx):
    a = drv.mem_alloc_async(400, drv.Stream())
    drv.memset_d8_async(a, 0, 400, a.stream)
    del a


def test_memory_is_freed_behind_other_streams():
    assert late("""
s, t = drv.Stream(), drv.Stream()
a = drv.mem_alloc_async(N, t)
t.synchronize()
use(a, s)
del a
b = drv.mem_alloc_async(N, t)
overwrite(b, t)
seen()
""") == ["1"]


def test_arrays_in_the_order_of_streams(ctx):
    x = gpuarray.to_gpu(np.arange(10.0), allocator=drv.mem_alloc_async)
    assert ((x + x).get() == np.arange(10.0) * 2).all()
    assert type((x + x).gpudata) is drv.StreamAllocation


def test_wrong_arguments_of_mem_alloc_async(ctx):
    with pytest.raises(drv.LogicError, match="cuMemAllocAsync failed.*0 bytes were"):
        drv.mem_alloc_async(0)
    with pytest.raises(TypeError, match="stream must be a Stream or None, not str"):
        drv.mem_alloc_async(8, "s")
    with pytest.raises(drv.MemoryError, match="bytes were asked for"):
        drv.mem_alloc_async(1 << 60)


def test_memory_outlives_its_context():
    run_child("""
import pycuda.driver as drv
drv.init()
context = drv.Device(0).make_context()
stream = drv.Stream()
a = drv.mem_alloc_async(100, stream)
pool = drv.MemoryPool()
b = pool.allocate(100)
c = drv.DeviceMemoryPool().allocate(100)
context.detach()
del a, b, pool, c, stream
""")


# -- MemoryPool ------------------------------------------------------------------------


@pytest.fixture
def stream_pool(ctx):
    return drv.MemoryPool()


def test_a_pool_of_the_driver(stream_pool):
    assert stream_pool.device == drv.Context.get_device()
    assert stream_pool.handle != 0
    a = stream_pool.allocate(1000)
    assert type(a) is drv.PooledDeviceAllocation and len(a) == 1000
    assert stream_pool.used_bytes >= 1000
    assert stream_pool.reserved_bytes >= stream_pool.used_bytes
    a.free()
    assert stream_pool.held_blocks == 1
    assert int(stream_pool.allocate(1000)) == int(a)
    stream_pool.trim()
    drv.Context.synchronize()
    assert stream_pool.held_blocks == 0 and stream_pool.used_bytes == 0


def test_large_blocks_return_to_the_driver(stream_pool):
    assert stream_pool.hold_limit == 32 << 20
    stream_pool.allocate(64 << 20).free()
    assert stream_pool.held_blocks == 0
    stream_pool.hold_limit = 1000
    stream_pool.allocate(900).free()
    stream_pool.allocate(900).free()
    assert stream_pool.held_blocks == 1
    stream_pool.hold_limit = 0
    assert stream_pool.held_blocks == 0
    with pytest.raises(OverflowError):
        stream_pool.hold_limit = -1
    with pytest.raises(AttributeError):
        del stream_pool.hold_limit


def test_attributes_of_a_pool(stream_pool):
    which = drv.mem_pool_attribute
    stream_pool.release_threshold = 1 << 20
    assert stream_pool.release_threshold == 1 << 20
    assert stream_pool.get_attribute(which.RELEASE_THRESHOLD) == 1 << 20
    for flag in (
        which.REUSE_FOLLOW_EVENT_DEPENDENCIES,
        which.REUSE_ALLOW_OPPORTUNISTIC,
        which.REUSE_ALLOW_INTERNAL_DEPENDENCIES,
    ):
        assert stream_pool.get_attribute(flag) is True
        stream_pool.set_attribute(flag, False)
        assert stream_pool.get_attribute(flag) is False
    stream_pool.allocate(5000)
    assert stream_pool.get_attribute(which.USED_MEM_HIGH) >= 5000
    stream_pool.trim()
    drv.Context.synchronize()
    stream_pool.set_attribute(which.USED_MEM_HIGH, 0)
    assert stream_pool.get_attribute(which.USED_MEM_HIGH) == 0
    with pytest.raises(drv.LogicError, match="cuMemPoolSetAttribute failed"):
        stream_pool.set_attribute(which.USED_MEM_CURRENT, 5)
    with pytest.raises(drv.LogicError, match="cuMemPoolGetAttribute failed"):
        stream_pool.get_attribute(99)


def test_arrays_of_a_pool(stream_pool):
    x = gpuarray.to_gpu(np.arange(100, dtype=np.float32), allocator=stream_pool)
    y = x + x
    assert type(y.gpudata) is drv.PooledDeviceAllocation
    assert (y.get() == np.arange(100, dtype=np.float32) * 2).all()
    tools.set_default_allocator(stream_pool)
    try:
        z = gpuarray.zeros(10, np.int32)
    finally:
        tools.set_default_allocator(None)
    assert type(z.gpudata) is drv.PooledDeviceAllocation and not z.get().any()
    assert type(gpuarray.zeros(10, np.int32).gpudata) is drv.DeviceAllocation


def test_the_pools_of_a_device(ctx):
    default = drv.MemoryPool.get_default()
    current = drv.MemoryPool.get_current(0)
    assert default.handle == current.handle
    mine = drv.MemoryPool()
    mine.make_current()
    try:
        assert drv.MemoryPool.get_current().handle == mine.handle
        a = drv.mem_alloc_async(4096)
        assert mine.used_bytes >= 4096
        a.free()
    finally:
        default.make_current()
    drv.Context.synchronize()


def test_a_pool_of_limited_size(ctx):
    pool = drv.MemoryPool(max_size=64 << 20)
    pool.allocate(1 << 20).free()
    with pytest.raises(drv.LogicError, match="__init__ of this .* was called before"):
        pool.__init__()
    with pytest.raises(drv.LogicError, match="the __init__ of this .* was not called"):
        drv.MemoryPool.__new__(drv.MemoryPool).trim()
    with pytest.raises(drv.LogicError, match="cuMemPoolCreate failed: invalid"):
        drv.MemoryPool(device=99)
    with pytest.raises(TypeError, match="device must be a Device, the number"):
        drv.MemoryPool(device="gpu")


def test_shortage_of_a_pool(stream_pool):
    stream_pool.allocate(1000).free()
    with pytest.raises(drv.MemoryError, match="the pool released the 1023 bytes"):
        stream_pool.allocate(1 << 50)
    assert stream_pool.held_blocks == 0


def test_access_of_other_devices(stream_pool):
    flags = drv.mem_access_flags
    assert stream_pool.get_access(drv.Device(0)) == flags.READWRITE
    if drv.Device.count() > 1 and drv.Device(1).can_access_peer(drv.Device(0)):
        assert stream_pool.get_access(1) == flags.NONE
        stream_pool.set_access(1)
        assert stream_pool.get_access(1) == flags.READWRITE
        stream_pool.set_access(1, flags.NONE)
        assert stream_pool.get_access(device=1) == flags.NONE
    with pytest.raises(drv.LogicError):
        stream_pool.set_access(0, flags.NONE)


IMPORT = """
import socket, sys
import numpy as np
import pycuda.driver as drv

link = socket.socket(fileno=int(sys.argv[1]))
data, files, *_ = socket.recv_fds(link, 1000, 1)
drv.init()
context = drv.Device(0).make_context()
"""


def in_another_process(code, file, data):
    """Run a program that gets bytes and a file descriptor. Return what it printed."""
    here, there = socket.socketpair()
    with here, there:
        socket.send_fds(here, [data], [file])
        os.close(file)
        done = subprocess.run(
            [sys.executable, "-c", IMPORT + code, str(there.fileno())],
            check=False,
            capture_output=True,
            text=True,
            pass_fds=[there.fileno()],
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pool_is_shared_with_another_process(ctx):
    pool = drv.MemoryPool(ipc=True)
    a = pool.allocate(400)
    drv.memcpy_htod(a, np.arange(100, dtype=np.int32))
    drv.Context.synchronize()
    with pytest.raises(drv.LogicError, match="cuMemPoolExportPointer failed"):
        pool.export_pointer(a)  # the pool was not exported
    printed = in_another_process(
        """
pool = drv.MemoryPool.from_handle(files[0])
memory = pool.import_pointer(data)
host = np.zeros(100, np.int32)
drv.memcpy_dtoh(host, memory)
drv.memcpy_htod(memory, host + 1)
context.synchronize()
print(host.sum())
memory.free()
context.synchronize()
try:
    pool.allocate(100)
except drv.Error as error:
    print("refused")
""",
        pool.export_handle(),
        pool.export_pointer(a),
    )
    assert printed.split() == ["4950", "refused"]
    host = np.zeros(100, np.int32)
    drv.memcpy_dtoh(host, a)
    assert host.sum() == 5050
    with pytest.raises(ValueError, match="64 bytes of export_pointer"):
        pool.import_pointer(b"too short")
    with pytest.raises(drv.LogicError, match="cuMemPoolExportToShareableHandle"):
        drv.MemoryPool().export_handle()
