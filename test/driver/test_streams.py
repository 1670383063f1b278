"""Streams: priorities, foreign handles, the current stream, order between streams."""

import gc
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import SourceModule
from support.child import run_child
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

NON_BLOCKING = drv.stream_flags.NON_BLOCKING

KERNELS = """
__global__ void fill(int *x, int v) { x[threadIdx.x] = v; }
__global__ void copy(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }
"""


class Foreign:
    """Another library's stream."""

    def __init__(self, pair):
        self.pair = pair

    def __cuda_stream__(self):
        return self.pair


class Array:
    """Another library's array."""

    def __init__(self, memory, stream=None, **more):
        self.__cuda_array_interface__ = {
            "shape": (32,),
            "typestr": "<i4",
            "data": (int(memory), False),
            "version": 3,
            "stream": stream,
            **more,
        }


@pytest.fixture
def mod(ctx):
    return SourceModule(KERNELS)


# -- making one ------------------------------------------------------------------------


def test_flags_and_priority(ctx):
    least, greatest = drv.Context.get_stream_priority_range()
    assert greatest <= 0 <= least
    assert (drv.Stream().flags, drv.Stream().priority) == (0, 0)
    stream = drv.Stream(NON_BLOCKING, greatest)
    assert (stream.flags, stream.priority) == (1, greatest)
    assert drv.Stream(priority=least, flags=0).priority == least
    assert drv.Stream(priority=greatest - 100).priority == greatest
    with pytest.raises(TypeError, match="priority"):
        drv.Stream(priority=0.5)
    with pytest.raises(OverflowError):
        drv.Stream(priority=1 << 40)
    with pytest.raises(drv.LogicError, match="flags is 64; it takes .* stream_flags"):
        drv.Stream(64)
    with pytest.raises(drv.LogicError, match="flags is 64; it takes .* event_flags"):
        drv.Event(64)


def test_without_a_context():
    for call in (drv.Stream, drv.Context.get_stream_priority_range):
        with pytest.raises(drv.LogicError):
            call()
    with pytest.raises(drv.LogicError, match="no current context"):
        drv.Stream.from_handle(0)
    assert drv.Stream.get_current() is None


def test_a_dead_stream_is_refused():
    context = drv.Device(0).make_context()
    stream = drv.Stream()
    context.pop()
    context.detach()
    for call in (
        lambda: stream.priority,
        lambda: stream.flags,
        stream.__cuda_stream__,
        stream.__enter__,
    ):
        with pytest.raises(drv.LogicError, match="was detached"):
            call()


# -- other libraries' streams ----------------------------------------------------------


def test_a_wrapped_handle_is_not_owned(mod):
    mine = drv.Stream()
    memory = drv.to_device(np.zeros(32, np.int32))
    live = _driver._live_counts()
    wrapped = drv.Stream.from_handle(mine.handle)
    assert type(wrapped) is drv.Stream and wrapped.handle == mine.handle
    assert _driver._live_counts() == live
    fill = mod.get_function("fill")
    fill(memory, np.int32(4), block=(32, 1, 1), stream=wrapped)
    wrapped.synchronize()
    assert wrapped.is_done()
    assert (drv.from_device(memory, 32, np.int32) == 4).all()
    del wrapped
    gc.collect()
    mine.synchronize()  # it is still there
    assert _driver._live_counts() == live


def test_a_wrapped_handle_keeps_its_owner(ctx):
    class Owner:
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    mine = drv.Stream()
    wrapped = drv.Stream.from_handle(handle=mine.handle, owner=owner)
    owner.stream = wrapped  # in a cycle too
    del owner
    gc.collect()
    assert gone() is not None
    del wrapped
    gc.collect()
    assert gone() is None


def test_a_stream_of_another_context(ctx):
    other = drv.Device(0).make_context()
    mine = drv.Stream()
    other.pop()
    wrapped = drv.Stream.from_handle(mine.handle)
    with other:
        wrapped.synchronize()
        mine.synchronize()
    other.detach()
    with pytest.raises(drv.LogicError, match="was detached"):
        wrapped.synchronize()


def test_default_streams_by_handle(mod):
    fill = mod.get_function("fill")
    memory = drv.to_device(np.zeros(32, np.int32))
    for value, handle in enumerate((0, 1, 2), 1):
        stream = drv.Stream.from_handle(handle)
        assert stream.handle == handle
        fill(memory, np.int32(value), block=(32, 1, 1), stream=stream)
        stream.synchronize()
        assert (drv.from_device(memory, 32, np.int32) == value).all()


def test_a_second_init_of_a_wrapped_stream(ctx):
    mine = drv.Stream()
    wrapped = drv.Stream.from_handle(mine.handle)
    wrapped.__init__()
    assert wrapped.handle != mine.handle
    del wrapped
    mine.synchronize()


def test_a_derived_stream(ctx):
    class Mine(drv.Stream):
        pass

    assert type(Mine.from_handle(0)) is Mine


def test_objects_with_the_stream_protocol(mod):
    mine = drv.Stream()
    assert mine.__cuda_stream__() == (0, mine.handle)
    foreign = Foreign((0, mine.handle))
    memory = drv.to_device(np.zeros(32, np.int32))
    fill = mod.get_function("fill")
    fill(memory, np.int32(8), block=(32, 1, 1), stream=foreign)
    drv.Event().record(foreign).synchronize()
    assert (drv.from_device(memory, 32, np.int32) == 8).all()
    drv.memset_d32_async(memory, 9, 32, foreign)
    mine.synchronize()
    assert (drv.from_device(memory, 32, np.int32) == 9).all()
    assert drv.Stream.from_handle(foreign).handle == mine.handle
    pair = type("Pair", (), {"__cuda_stream__": (0, mine.handle)})()
    assert drv.Stream.from_handle(pair).handle == mine.handle


@pytest.mark.parametrize(
    "pair, error",
    [
        ((1, 0), TypeError),
        ((0,), TypeError),
        (None, TypeError),
        ((0, "x"), TypeError),
        ((0, -1), OverflowError),
        ((0, 1 << 64), OverflowError),
    ],
)
def test_a_broken_stream_protocol(ctx, pair, error):
    with pytest.raises(error):
        drv.Event().record(Foreign(pair))
    with pytest.raises(error):
        drv.Stream.from_handle(Foreign(pair))


def test_what_is_no_stream(ctx):
    class Raising:
        def __cuda_stream__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        drv.Event().record(Raising())
    with pytest.raises(TypeError, match="stream must be a Stream or None, not int"):
        drv.Event().record(0)
    with pytest.raises(TypeError, match="handle must be an int or an object"):
        drv.Stream.from_handle("x")
    with pytest.raises(OverflowError):
        drv.Stream.from_handle(-1)


# -- the current stream ----------------------------------------------------------------


def test_with_blocks_nest(ctx):
    a, b = drv.Stream(), drv.Stream()
    current = drv.Stream.get_current
    assert current() is None
    with a as entered:
        assert entered is a and current() is a
        with b:
            assert current() is b
            with a:
                assert current() is a
            assert current() is b
        assert current() is a
        with pytest.raises(KeyError), b:
            raise KeyError
        assert current() is a
    assert current() is None
    with pytest.raises(drv.LogicError, match="did not enter"):
        a.__exit__(None, None, None)


def test_blocks_that_end_in_another_order(ctx):
    a, b = drv.Stream(), drv.Stream()
    a.__enter__()
    b.__enter__()
    a.__exit__(None, None, None)
    assert drv.Stream.get_current() is b
    b.__exit__(None, None, None)
    assert drv.Stream.get_current() is None


def test_each_thread_has_its_own(ctx):
    stream, seen = drv.Stream(), []

    def look():
        ctx.push()
        seen.append(drv.Stream.get_current())
        with drv.Stream() as mine:
            seen.append(drv.Stream.get_current() is mine)
        drv.Context.pop()

    with stream:
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert drv.Stream.get_current() is stream
    assert seen == [None, True]


def test_a_thread_ends_inside_a_block(ctx):
    streams = []

    def leave():
        ctx.push()
        stream = drv.Stream()
        stream.__enter__()
        streams.append(weakref.ref(stream))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    gc.collect()
    assert streams[0]() is None
    assert drv.Stream.get_current() is None


def test_a_stream_counts_in_its_own_context(ctx):
    with drv.Stream() as outer:
        other = drv.Device(0).make_context()
        try:
            assert drv.Stream.get_current() is None
            drv.Event().record().synchronize()
            with drv.Stream() as inner:
                assert drv.Stream.get_current() is inner
                with ctx:
                    assert drv.Stream.get_current() is outer
        finally:
            other.pop()
            other.detach()
        assert drv.Stream.get_current() is outer


#: Calls that enqueue work with value v on memory m, with no stream or None.
LATE = """
import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule
drv.init()
context = drv.Device(0).make_context()
mod = SourceModule('''KERNELS''')
fill, copy = mod.get_function("fill"), mod.get_function("copy")
prepared = mod.get_function("fill").prepare("Pi")
old = mod.get_function("fill")
block, grid = (32, 1, 1), (1, 1)
memory = drv.to_device(np.zeros(32, np.int32))
a, b = drv.Stream(1), drv.Stream(1)  # NON_BLOCKING
page = drv.pagelocked_zeros(32, np.int32)

def peek():
    "The first word, read by a stream that waits for nobody."
    word = drv.pagelocked_zeros(1, np.int32)
    s = drv.Stream(1)
    drv.memcpy_dtoh_async(word, memory, s)
    s.synchronize()
    return int(word[0])

class Array:
    def __init__(self, memory, stream):
        self.__cuda_array_interface__ = dict(
            shape=(32,), typestr="<i4", data=(int(memory), False), version=3,
            stream=stream)
""".replace("KERNELS", KERNELS)


WAYS = {
    "a call": "fill(memory, np.int32(5), block=block)",
    "a call, None": "fill(memory, np.int32(5), block=block, stream=None)",
    "prepared": "prepared.prepared_call(grid, block, memory, 5)",
    "prepared async": "prepared.prepared_async_call(grid, block, None, memory, 5)",
    "prepared timed": "prepared.prepared_timed_call(grid, block, memory, 5)",
    "old launch": "old.param_set(memory, np.int32(5))\n"
    "    old.set_block_shape(32, 1, 1)\n"
    "    old.launch_grid(1, 1)",
    "old async": "old.param_set(memory, np.int32(5))\n"
    "    old.set_block_shape(32, 1, 1)\n"
    "    old.launch_grid_async(1, 1, None)",
    "fill": "drv.memset_d32_async(memory, 5, 32)",
    "copy": "page[:] = 5; drv.memcpy_htod_async(memory, page)",
}


@pytest.mark.parametrize("name", WAYS)
def test_work_goes_to_the_current_stream(name):
    """The software device defers the stream, so its value is not written before."""
    done = run_child(
        f"""{LATE}
with a:
    {WAYS[name]}
if drv.Device(0).name().startswith("PyCUDA software"):
    assert peek() == 0, "the work was not queued to a stream that runs late"
a.synchronize()
print(peek())
""",
        timeout=300,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    assert done.stdout == "5\n"


@pytest.mark.parametrize("base", ["Out", "InOut"])
def test_derived_handlers_wait_for_the_stream(base):
    done = run_child(
        f"""{LATE}
class Mine(drv.{base}):
    pass
values = drv.pagelocked_zeros(32, np.int32)
fill(Mine(values), np.int32(6), block=block, stream=a)
print(values[0])
""",
        timeout=300,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    assert done.stdout == "6\n"


def test_handlers_wait_for_the_current_stream():
    done = run_child(
        f"""{LATE}
values = np.zeros(32, np.int32)
with a:
    fill(drv.Out(values), np.int32(6), block=block)
    print(values[0])
    print(fill(memory, np.int32(7), block=block, time_kernel=True) > 0, peek())
""",
        timeout=300,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    assert done.stdout == "6\nTrue 7\n"


# -- order -----------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["stream=b", "stream=None"])
@pytest.mark.parametrize("kind", ["handle", "None"])
def test_a_launch_comes_after_the_array_s_stream(where, kind):
    """The counterpart without the stream's handle reads the old value."""
    stream = "a.handle" if kind == "handle" else "None"
    done = run_child(
        f"""{LATE}
out = drv.to_device(np.zeros(32, np.int32))
fill(memory, np.int32(5), block=block, stream=a)
copy(out, Array(memory, {stream}), block=block, {where})
b.synchronize()
drv.Stream.from_handle(0).synchronize()
memory = out
print(peek(), drv.Device(0).name())
a.synchronize()
""",
        timeout=300,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    value, device = done.stdout.split(" ", 1)
    if kind == "handle" or "software" in device:
        assert value == ("5" if kind == "handle" else "0")


def test_what_a_queued_get_needs_is_not_handed_out_again():
    """get_async() packs a strided array in memory of the pool."""
    done = run_child(
        f"""{LATE}
from pycuda import gpuarray
pool = drv.DeviceMemoryPool()
x = gpuarray.to_gpu(np.arange(32, dtype=np.int32).reshape(4, 8), pool.allocate)
host = drv.pagelocked_zeros((4, 4), np.int32)
x[:, ::2].get_async(stream=a, ary=host)
y = gpuarray.GPUArray((4, 4), np.int32, pool.allocate)
y.fill(9, stream=b)
b.synchronize()
a.synchronize()
print(y.get().tolist() == [[9] * 4] * 4)
print(host.tolist() == np.arange(32).reshape(4, 8)[:, ::2].tolist())
""",
        timeout=300,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    assert done.stdout == "True\nTrue\n"


@pytest.mark.parametrize("call", ["cuEventRecord", "cuStreamWaitEvent"])
def test_an_order_that_fails_leaves_no_event_behind(mod, fail_calls, call):  # noqa: F811
    """The launch orders two streams with its own event."""
    copy = mod.get_function("copy")
    source, out = (drv.to_device(np.arange(32, dtype=np.int32)) for _ in range(2))
    before, after = drv.Stream(), drv.Stream()
    array = Array(source, before.handle)
    copy(out, array, block=(32, 1, 1), stream=after)
    created, ended = map(fail_calls.count, ("cuEventCreate", "cuEventDestroy"))
    fail_calls(call, 1)
    with pytest.raises(drv.LogicError, match=call):
        copy(out, array, block=(32, 1, 1), stream=after)
    assert fail_calls.count("cuEventCreate") == created + 1
    assert fail_calls.count("cuEventDestroy") == ended + 1
    copy(out, array, block=(32, 1, 1), stream=after)
    after.synchronize()


def test_param_set_waits_for_the_array_s_stream():
    done = run_child(
        f"""{LATE}
fill(memory, np.int32(5), block=block, stream=a)
old.param_set(Array(memory, a.handle), np.int32(6))
print(peek())
""",
        timeout=300,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    assert done.stdout == "5\n"


def test_streams_of_an_array_interface(mod):
    copy = mod.get_function("copy")
    source = drv.to_device(np.arange(32, dtype=np.int32))
    stream = drv.Stream()
    for number, say in enumerate((None, 1, 2, stream.handle)):
        out = drv.to_device(np.full(32, -number, np.int32))
        copy(out, Array(source, say), block=(32, 1, 1), stream=stream)
        stream.synchronize()
        assert (drv.from_device(out, 32, np.int32) == np.arange(32)).all()
    with pytest.raises(OverflowError, match="'stream'"):
        copy(source, Array(source, 0), block=(32, 1, 1))
    with pytest.raises(TypeError, match="'stream'"):
        copy(source, Array(source, "x"), block=(32, 1, 1))


def test_a_mapping_that_is_no_dict(mod):
    class Mapping(dict):
        pass

    copy = mod.get_function("copy")
    source = drv.to_device(np.arange(32, dtype=np.int32))
    out = drv.to_device(np.zeros(32, np.int32))
    array = Array(source)
    array.__cuda_array_interface__ = Mapping(array.__cuda_array_interface__)
    del array.__cuda_array_interface__["stream"]
    copy(out, array, block=(32, 1, 1))
    assert (drv.from_device(out, 32, np.int32) == np.arange(32)).all()


def test_an_array_of_a_stream_in_another_context(mod):
    copy = mod.get_function("copy")
    source = drv.to_device(np.arange(32, dtype=np.int32))
    out = drv.to_device(np.zeros(32, np.int32))
    other = drv.Device(0).make_context()
    stream = drv.Stream()
    other.pop()
    try:
        copy(out, Array(source, stream.handle), block=(32, 1, 1))
        assert (drv.from_device(out, 32, np.int32) == np.arange(32)).all()
    finally:
        other.detach()


def test_no_stream_costs_no_call(mod, fail_calls):  # noqa: F811
    copy = mod.get_function("copy")
    source = drv.to_device(np.arange(32, dtype=np.int32))
    stream = drv.Stream()

    def calls(say, launch):
        before = fail_calls.count("cuEventRecord")
        copy(source, Array(source, say), block=(32, 1, 1), stream=launch)
        return fail_calls.count("cuEventRecord") - before

    assert calls(None, stream) == calls(None, None) == 0
    assert calls(stream.handle, stream) == calls(1, None) == 0
    assert calls(stream.handle, None) == calls(1, stream) == 1


def test_every_call_of_ordering_may_fail(mod, fail_calls):  # noqa: F811
    copy = mod.get_function("copy")
    source = drv.to_device(np.arange(32, dtype=np.int32))
    a, b = drv.Stream(), drv.Stream()
    for name in (
        "cuEventCreate",
        "cuEventRecord",
        "cuStreamWaitEvent",
        "cuEventDestroy",
    ):
        fail_calls(name, 1)
        with pytest.raises(drv.LogicError, match=name):
            copy(source, Array(source, a.handle), block=(32, 1, 1), stream=b)
    copy(source, Array(source, a.handle), block=(32, 1, 1), stream=b)


def test_making_a_stream_may_fail(ctx, fail_calls):  # noqa: F811
    stream = drv.Stream()
    live = _driver._live_counts()
    for name, make in (
        ("cuStreamCreate", drv.Stream),
        ("cuStreamCreateWithPriority", lambda: drv.Stream(0, -1)),
        ("cuCtxGetStreamPriorityRange", drv.Context.get_stream_priority_range),
        ("cuStreamGetPriority", lambda: stream.priority),
        ("cuStreamGetFlags", lambda: stream.flags),
        ("cuStreamGetCtx", lambda: drv.Stream.from_handle(stream.handle)),
    ):
        fail_calls(name, 1)
        with pytest.raises(drv.LogicError, match=name):
            make()
        make()
        assert _driver._live_counts() == live


def test_a_second_init_is_refused(ctx):
    """The stream may be current, or another thread may wait for it."""
    stream = drv.Stream()
    handle = stream.handle
    with stream:
        with pytest.raises(drv.LogicError, match="called before"):
            stream.__init__()
        assert stream.handle == handle
    stream.synchronize()
