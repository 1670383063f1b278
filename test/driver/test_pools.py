"""Memory pools: the bin rule, the counters, lifetimes, shortage of memory."""

import gc
import io
import pickle
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, strategies as st

import pycuda.driver as drv
import pycuda.tools as tools
from pycuda import _driver
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray
from support.child import run_child
from support.faults import OUT_OF_MEMORY, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

FILL = "__global__ void fill(int *x, int v) { x[threadIdx.x] = v; }"

MAKE_DEVICE = pytest.param(
    lambda: drv.DeviceMemoryPool(), lambda pool, n: pool.allocate(n), id="device"
)
MAKE_HOST = pytest.param(
    lambda: drv.PageLockedMemoryPool(),
    lambda pool, n: pool.allocate(n, np.uint8),
    id="page-locked",
)
both_pools = pytest.mark.parametrize("make, allocate", [MAKE_DEVICE, MAKE_HOST])


@pytest.fixture
def pool(ctx):
    return drv.DeviceMemoryPool()


def counters(pool):
    return (
        pool.held_blocks,
        pool.active_blocks,
        pool.managed_bytes,
        pool.active_bytes,
    )


# -- the bin rule ----------------------------------------------------------------------


def model_bin(size):
    """Return the bin by the rule: the exponent and four bits below the leading one."""
    if size < 2:
        return 0
    exponent = size.bit_length() - 1
    return 16 * exponent + (size * 16 // 2**exponent) % 16


@pytest.fixture(scope="module")
def bins():
    """A pool that is only used for its bin numbers."""
    return drv.PageLockedMemoryPool()


@pytest.mark.parametrize(
    "size, number, block",
    [
        (0, 0, 1),
        (1, 0, 1),
        (2, 16, 2),
        (3, 24, 3),
        (33, 80, 33),
        (256, 128, 271),
        (1000, 159, 1023),
        (2**64 - 1, 1023, 2**64 - 1),
    ],
)
def test_known_bins(bins, size, number, block):
    assert bins.bin_number(size) == number
    assert bins.alloc_size(number) == block


@given(size=st.integers(0, 2**64 - 1) | st.integers(0, 4096))
def test_the_bin_rule(bins, size):
    number = bins.bin_number(size)
    block = bins.alloc_size(number)
    assert number == model_bin(size)
    assert block >= size
    assert block - size <= size // 16 or size == 0
    assert bins.bin_number(block) == number
    if block < 2**64 - 1:
        assert bins.bin_number(block + 1) > number


def test_bin_arguments(bins):
    for call in (bins.bin_number, bins.alloc_size, drv.bitlog2):
        with pytest.raises(OverflowError):
            call(-1)
        with pytest.raises(TypeError):
            call(1.0)
    with pytest.raises(OverflowError, match="bin is 1024"):
        bins.alloc_size(1024)
    with pytest.raises(OverflowError):
        bins.bin_number(2**64)
    assert bins.bin_number(np.int32(1000)) == 159


@given(value=st.integers(1, 2**64 - 1))
def test_bitlog2(value):
    assert drv.bitlog2(value) == value.bit_length() - 1
    assert tools.bitlog2(0) == 0


# -- allocations -----------------------------------------------------------------------


def test_an_allocation_as_an_object(pool):
    block = pool.allocate(1000)
    assert isinstance(block, drv.PooledDeviceAllocation)
    assert int(block) == block.__index__() == block.__long__() > 0
    assert len(block) == 1000 and bool(block)
    assert hash(block) == object.__hash__(block) and block in {block}
    assert block != pool.allocate(1000)
    block.note = "mine"
    assert block.note == "mine" and weakref.ref(block)() is block
    for thing in (block, pool):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
    with pytest.raises(TypeError):
        drv.PooledDeviceAllocation()
    with pytest.raises(TypeError):
        drv.PooledHostAllocation()
    address = int(block)
    block.free()
    assert int(block) == address
    with pytest.raises(drv.LogicError, match="released before"):
        block.free()


def test_size_zero(pool):
    block = pool.allocate(0)
    assert len(block) == 0 and not block and int(block) > 0
    assert counters(pool) == (0, 1, 1, 0)


def test_pooled_memory_wherever_device_memory_goes(pool):
    block, other = pool.allocate(128), pool.allocate(128)
    values = np.arange(32, dtype=np.int32)
    drv.memcpy_htod(block, values)
    drv.memcpy_dtod(other, block, 128)
    assert (drv.from_device(other, 32, np.int32) == values).all()
    drv.memset_d32(other, 7, 32)
    got = np.zeros_like(values)
    drv.memcpy_dtoh(got, other)
    assert (got == 7).all()
    fill = SourceModule(FILL).get_function("fill")
    fill(block, np.int32(3), block=(32, 1, 1))
    assert (drv.from_device(block, 32, np.int32) == 3).all()
    fill.prepare("Pi").prepared_call((1, 1), (32, 1, 1), block, 5)
    assert (drv.from_device(block, 32, np.int32) == 5).all()
    fill(np.uintp(int(block)), np.int32(6), block=(32, 1, 1))
    assert (drv.from_device(int(block), 32, np.int32) == 6).all()


@pytest.mark.parametrize("is_pooled", [True, False])
def test_a_launch_refuses_an_array_whose_memory_was_freed(pool, is_pooled):
    """The block may already have another owner."""
    fill = SourceModule(FILL).get_function("fill")
    allocate = pool.allocate if is_pooled else drv.mem_alloc
    array = GPUArray(32, np.int32, allocate)
    fill(array, np.int32(4), block=(32, 1, 1))
    assert (array.get() == 4).all()
    array.gpudata.free()
    with pytest.raises(drv.LogicError, match="cuLaunchKernel.*released"):
        fill(array, np.int32(5), block=(32, 1, 1))


@both_pools
def test_blocks_are_held_and_handed_out_again(ctx, make, allocate):
    pool = make()
    assert counters(pool) == (0, 0, 0, 0)
    first = allocate(pool, 1000)
    assert counters(pool) == (0, 1, 1023, 1000)
    del first
    assert counters(pool) == (1, 0, 1023, 0)
    second = allocate(pool, 1020)  # the same bin
    assert counters(pool) == (0, 1, 1023, 1020)
    third = allocate(pool, 100)
    assert counters(pool) == (0, 2, 1023 + 103, 1120)
    del second, third
    assert counters(pool) == (2, 0, 1126, 0)
    pool.free_held()
    assert counters(pool) == (0, 0, 0, 0)
    kept = allocate(pool, 5)
    pool.stop_holding()
    assert counters(pool) == (0, 1, 5, 5)
    del kept
    assert counters(pool) == (0, 0, 0, 0)


def test_the_address_is_reused(pool):
    block = pool.allocate(1000)
    address = int(block)
    block.free()
    assert int(pool.allocate(999)) == address


def test_allocate_arguments(pool):
    assert len(pool.allocate(np.int64(12))) == 12
    with pytest.raises(OverflowError, match="size is -1"):
        pool.allocate(-1)
    with pytest.raises(TypeError):
        pool.allocate(1.5)
    with pytest.raises(TypeError):
        pool.allocate(size=4)
    with pytest.raises(TypeError):
        drv.DeviceMemoryPool(1)


def test_a_device_pool_wants_a_context():
    with pytest.raises(drv.LogicError, match="no current context"):
        drv.DeviceMemoryPool()
    with pytest.raises(drv.LogicError, match="no current context"):
        drv.PageLockedMemoryPool().allocate(3, np.uint8)


def test_a_derived_pool(ctx):
    class Mine(drv.DeviceMemoryPool):
        def __init__(self, name):
            self.name = name

    pool = Mine("a")
    assert pool.name == "a" and len(pool.allocate(8)) == 8


# -- page-locked arrays ----------------------------------------------------------------


def test_page_locked_arrays(ctx):
    pool = drv.PageLockedMemoryPool(drv.PageLockedAllocator())
    array = pool.allocate((3, 4), np.float32, order="F")
    assert isinstance(array.base, drv.PooledHostAllocation)
    assert len(array.base) == array.nbytes == 48
    assert array.shape == (3, 4) and array.flags.f_contiguous and array.flags.writeable
    array[...] = 2.5
    mem = drv.to_device(array)
    assert (drv.from_device_like(mem, array) == 2.5).all()
    assert pool.allocate(shape=[2], dtype="i4", order="C").dtype == np.int32
    assert pool.allocate(5, np.uint8).shape == (5,)
    assert pool.allocate((0, 3), np.uint8).size == 0
    view = array[1:]
    del array
    assert pool.active_blocks == 1
    del view
    assert pool.active_blocks == 0


def test_page_locked_arguments(ctx):
    pool = drv.PageLockedMemoryPool()
    with pytest.raises(RuntimeError, match="order must be 'C' or 'F'"):
        pool.allocate((2,), np.float32, order="K")
    with pytest.raises(TypeError, match="Python objects"):
        pool.allocate((2,), object)
    with pytest.raises(ValueError, match="address space"):
        pool.allocate((2**62, 4), np.float64)
    with pytest.raises(OverflowError):
        pool.allocate((-1,), np.float64)
    with pytest.raises(TypeError, match="PageLockedAllocator"):
        drv.PageLockedMemoryPool(3)
    with pytest.raises(TypeError):
        drv.PageLockedAllocator(flags=1)
    with pytest.raises(OverflowError):
        drv.PageLockedAllocator(-1)
    assert counters(pool) == (0, 0, 0, 0)


def test_page_locked_allocators_of_subclasses(ctx):
    class Allocator(drv.PageLockedAllocator):
        def __init__(self, name, *, flags):
            super().__init__(flags)
            self.name = name

    flags = drv.host_alloc_flags.PORTABLE | drv.host_alloc_flags.DEVICEMAP
    allocator = Allocator("mine", flags=flags)
    assert allocator.name == "mine"
    pool = drv.PageLockedMemoryPool(allocator)
    array = pool.allocate((4,), np.float32)
    array[...] = 1
    assert array.sum() == 4


def test_page_locked_flags(ctx):
    flags = drv.host_alloc_flags.DEVICEMAP
    pool = drv.PageLockedMemoryPool(drv.PageLockedAllocator(flags))
    array = pool.allocate((4,), np.float32)
    array[...] = 1
    assert array.sum() == 4
    array.base.free()
    with pytest.raises(drv.LogicError, match="released before"):
        array.base.free()


def test_a_page_locked_pool_outlives_a_context(ctx):
    pool = drv.PageLockedMemoryPool()
    other = drv.Device(0).make_context()
    held, kept = pool.allocate(64, np.uint8), pool.allocate(64, np.uint8)
    del held
    assert counters(pool)[:2] == (1, 1)
    other.pop()
    other.detach()
    assert counters(pool)[:2] == (0, 1)
    fresh = pool.allocate(64, np.uint8)  # of ctx
    fresh[:] = 1
    assert counters(pool)[:2] == (0, 2)
    del kept  # went with its context
    assert counters(pool)[:2] == (0, 1)
    del fresh
    assert counters(pool)[:2] == (1, 0)


def test_a_page_locked_pool_forgets_blocks_of_a_lost_context(ctx, fail_calls):  # noqa: F811
    """Blocks are forgotten without a read of the counters, which also forgets them."""
    pool = drv.PageLockedMemoryPool()
    other = drv.Device(0).make_context()
    pool.allocate(64, np.uint8)
    other.pop()
    other.detach()
    asked = fail_calls.count("cuMemHostAlloc")
    fresh = pool.allocate(64, np.uint8)
    assert fail_calls.count("cuMemHostAlloc") == asked + 1
    fresh[:] = 1
    del fresh
    assert counters(pool)[:2] == (1, 0)
    pool.allocate(64, np.uint8)  # the counterpart: a block of this context is reused
    assert fail_calls.count("cuMemHostAlloc") == asked + 1


# -- lifetimes -------------------------------------------------------------------------


@both_pools
def test_a_block_outlives_its_pool(ctx, make, allocate):
    pool = make()
    block = allocate(pool, 100)
    gone = weakref.ref(pool)
    del pool
    assert gone() is not None
    del block
    assert gone() is None


def test_a_cycle_through_a_pool_is_collected(ctx):
    pool = drv.DeviceMemoryPool()
    pool.block = pool.allocate(100)
    pool.itself = pool
    gone = weakref.ref(pool)
    del pool
    gc.collect()
    assert gone() is None


def test_a_block_freed_after_its_context():
    context = drv.Device(0).make_context()
    pool = drv.DeviceMemoryPool()
    held, block = pool.allocate(10), pool.allocate(100)
    del held
    context.pop()
    assert len(pool.allocate(10)) == 10  # its own context, which is not current
    context.detach()
    with pytest.raises(drv.LogicError, match="was detached"):
        pool.allocate(10)
    block.free()
    assert counters(pool) == (0, 0, 0, 0)


def test_freeing_the_first_block_without_a_context():
    """PyCUDA ended the process here."""
    context = drv.Device(0).make_context()
    pool = drv.DeviceMemoryPool()
    block = pool.allocate(10)
    context.pop()
    block.free()
    assert counters(pool) == (1, 0, 10, 0)
    pool.free_held()
    assert counters(pool) == (0, 0, 0, 0)
    context.detach()


def test_a_pool_in_another_context(ctx):
    pool = drv.DeviceMemoryPool()
    other = drv.Device(0).make_context()
    try:
        block = pool.allocate(64)
        assert drv.Context.get_current() == other
        block.free()
        pool.free_held()
        assert drv.Context.get_current() == other
    finally:
        other.pop()
        other.detach()


def in_thread(function):
    failures = []

    def run():
        try:
            function()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


@both_pools
def test_other_threads_allocate_and_free(ctx, make, allocate):
    pool = make()
    blocks = [allocate(pool, 100)]
    in_thread(lambda: blocks.append(allocate(pool, 100)))
    assert pool.active_blocks == 2
    in_thread(blocks.clear)
    assert counters(pool)[:2] == (2, 0)


def test_many_threads(pool):
    """Each thread writes its number into its blocks and reads it back."""
    barrier, workers = threading.Barrier(8), 8
    failures = []

    def work(number):
        barrier.wait()
        try:
            for size in range(1, 60):
                block = pool.allocate(4 * size)
                drv.memset_d32(block, number, size)
                if not (drv.from_device(block, size, np.int32) == number).all():
                    failures.append((number, size))
        except BaseException as error:
            failures.append(error)

    context = drv.Context.get_current()

    def run(number):
        context.push()
        try:
            work(number)
        finally:
            drv.Context.pop()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert counters(pool)[1] == 0 and counters(pool)[3] == 0


START = """
import gc, os, sys, numpy as np
import pycuda.driver as drv
drv.init()
ctx = drv.Device(0).make_context()
pool, host = drv.DeviceMemoryPool(), drv.PageLockedMemoryPool()
held, block, array = pool.allocate(5), pool.allocate(5), host.allocate(5, np.uint8)
del held
"""

ENDINGS = {
    "as it is": "",
    "popped": "ctx.pop()",
    "detached": "ctx.pop(); ctx.detach()",
    "pool first": "del pool, host",
    "context first": "ctx.pop(); del ctx",
    "a cycle": "pool.me = pool; block.pool = pool; block.me = block; del pool, block",
    "in a finalizer": "class F:\n    def __del__(self): self.b.free()\n"
    "f = F(); f.b = block; f.me = f; del f, block",
    "at exit": "import atexit; atexit.register(block.free)",
    "allocated at exit": "import atexit; atexit.register(pool.allocate, 9)",
    "in an exiting thread": "import threading\n"
    "t = threading.Thread(target=block.free); t.start(); t.join()",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_program_with_pools_ends_silently(name):
    run_child(START + ENDINGS[name], timeout=300)


def test_a_forked_child_leaves_the_pool_alone():
    done = run_child(
        START
        + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    try:
        pool.allocate(5)
        print("allocated")
    except drv.Error as error:
        print("refused:", type(error).__name__)
    block.free()
    print(pool.held_blocks, pool.active_blocks)
    del block, array, pool, host
    gc.collect()
    sys.stdout.flush()
    os._exit(0)
_, status = os.waitpid(child, 0)
print("status", status)
again = pool.allocate(5)
print("parent", pool.held_blocks, pool.active_blocks)
""",
        timeout=300,
    )
    assert done.stdout.split("\n")[:4] == [
        "refused: LogicError",
        "0 0",
        "status 0",
        "parent 0 2",
    ]


# -- short of memory -------------------------------------------------------------------


CALLS = {"device": "cuMemAlloc", "page-locked": "cuMemHostAlloc"}


@pytest.mark.parametrize("kind", CALLS)
def test_garbage_is_collected_first(ctx, fail_calls, kind):  # noqa: F811
    pool = drv.DeviceMemoryPool() if kind == "device" else drv.PageLockedMemoryPool()

    def allocate(n):
        return pool.allocate(*((n,) if kind == "device" else (n, np.uint8)))

    class Ring:
        pass

    ring = Ring()
    ring.me, ring.block = ring, allocate(1000)
    del ring
    fail_calls(CALLS[kind], 1, code=OUT_OF_MEMORY)
    before = counters(pool)
    again = allocate(1000)  # the collected one
    assert counters(pool) == before and len(again) == 1000


def test_garbage_may_end_the_context_of_the_pool(fail_calls):  # noqa: F811
    """The collection runs between two attempts. The second one has no context."""
    context = drv.Device(0).make_context()
    pool = drv.DeviceMemoryPool()

    class Owner:
        def __del__(self):
            context.pop()
            context.detach()

    owner = Owner()
    owner.me = owner
    del owner
    fail_calls("cuMemAlloc", 1, code=OUT_OF_MEMORY)
    with pytest.raises(drv.LogicError) as caught:
        pool.allocate(1000)
    assert caught.value.name == "CUDA_ERROR_CONTEXT_IS_DESTROYED"
    assert counters(pool) == (0, 0, 0, 0)


@pytest.mark.parametrize("kind", CALLS)
def test_held_blocks_are_released_largest_first(ctx, fail_calls, kind):  # noqa: F811
    pool = drv.DeviceMemoryPool() if kind == "device" else drv.PageLockedMemoryPool()

    def allocate(n):
        return pool.allocate(*((n,) if kind == "device" else (n, np.uint8)))

    blocks = [allocate(n) for n in (100, 3000, 20, 1 << 16)]
    sizes = [pool.alloc_size(pool.bin_number(n)) for n in (20, 100, 3000, 1 << 16)]
    blocks.clear()
    assert pool.held_blocks == 4
    # the first call, the one after the collection, and the one after the first release
    fail_calls(CALLS[kind], 1, 2, 3, code=OUT_OF_MEMORY)
    block = allocate(500)
    assert pool.held_blocks == 2
    assert pool.managed_bytes == sum(sizes[:2]) + 511
    del block


@pytest.mark.parametrize("kind", CALLS)
def test_out_of_memory_names_the_sizes(ctx, fail_calls, kind):  # noqa: F811
    pool = drv.DeviceMemoryPool() if kind == "device" else drv.PageLockedMemoryPool()

    def allocate(n):
        return pool.allocate(*((n,) if kind == "device" else (n, np.uint8)))

    kept, freed = allocate(64), allocate(256)
    del freed
    fail_calls(CALLS[kind], 1, 2, 3, code=OUT_OF_MEMORY)
    with pytest.raises(drv.MemoryError) as caught:
        allocate(1000)
    text = str(caught.value)
    assert f"{CALLS[kind]} failed" in text
    assert "1000 bytes were asked for, a block of 1023" in text
    assert "released the 271 bytes it held and now holds 0" in text
    assert "64 bytes in 1 blocks are in use" in text
    assert counters(pool) == (0, 1, 67, 64)
    assert len(allocate(1000)) == 1000
    assert len(kept) == 64


@pytest.mark.parametrize("kind", CALLS)
def test_other_errors_are_not_retried(ctx, fail_calls, kind):  # noqa: F811
    pool = drv.DeviceMemoryPool() if kind == "device" else drv.PageLockedMemoryPool()
    args = (1000,) if kind == "device" else (1000, np.uint8)
    fail_calls(CALLS[kind], 1)
    with pytest.raises(drv.LogicError, match=CALLS[kind]):
        pool.allocate(*args)
    assert counters(pool) == (0, 0, 0, 0)


def test_more_than_there_is(pool):
    held = pool.allocate(100)
    del held
    with pytest.raises(drv.MemoryError, match="bytes were asked for"):
        pool.allocate(1 << 60)
    assert counters(pool) == (0, 0, 0, 0)


def test_a_release_that_fails_is_a_warning(pool, fail_calls):  # noqa: F811
    block = pool.allocate(100)
    block.free()
    fail_calls("cuMemFree", 1)
    with pytest.warns(UserWarning, match="cuMemFree failed"):
        pool.free_held()
    assert counters(pool) == (0, 0, 0, 0)


def test_every_call_of_the_driver_may_fail(ctx, fail_calls):  # noqa: F811
    """Call from another context, so that entering and leaving it are calls too."""
    pool = drv.DeviceMemoryPool()
    other = drv.Device(0).make_context()
    live = _driver._live_counts()
    try:
        refused = 0
        for number in range(1, 20):
            fail_calls("*", number)
            try:
                block = pool.allocate(100)
            except drv.LogicError:
                refused += 1
                fail_calls.clear()
                assert drv.Context.get_current() == other
                assert _driver._live_counts() == live
                continue
            break
        fail_calls.clear()
        assert refused >= 3
        block.free()
        pool.free_held()
        assert _driver._live_counts() == live
    finally:
        fail_calls.clear()
        other.pop()
        other.detach()


# -- pycuda.tools ----------------------------------------------------------------------


def test_tools_has_the_same_names():
    for name in (
        "DeviceMemoryPool",
        "PageLockedMemoryPool",
        "PageLockedAllocator",
        "PooledDeviceAllocation",
        "PooledHostAllocation",
        "bitlog2",
    ):
        assert getattr(tools, name) is getattr(drv, name)


def test_debug_memory_pool(ctx):
    log = io.StringIO()
    pool = tools.DebugMemoryPool(interactive=False, logfile=log)
    assert isinstance(pool, drv.DeviceMemoryPool)
    blocks = [pool.allocate(1000) for _ in range(3)]
    assert len(pool.blocks) == 3 and len(pool.stacktrace_mnemonics) == 1
    (stack,) = pool.stacktrace_mnemonics
    assert "test_debug_memory_pool" in stack
    assert "1000 bytes wanted" in log.getvalue()
    assert "3 x 1000 bytes, place 1" in log.getvalue()
    assert log.getvalue().count("test_debug_memory_pool") == 1
    blocks.pop()
    assert len(pool.blocks) == 2
    log.truncate(0)
    other = pool.allocate(64)
    assert "2 x 1000 bytes, place 1" in log.getvalue()
    assert "1 x 64 bytes, place 2" in log.getvalue()
    assert len(other) == 64 and isinstance(pool.last_free, int)


def test_debug_memory_pool_waits_for_enter(ctx, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("builtins.input", asked.append)
    pool = tools.DebugMemoryPool()
    pool.allocate(8)
    assert len(asked) == 1
    assert "8 bytes wanted" in capsys.readouterr().out
