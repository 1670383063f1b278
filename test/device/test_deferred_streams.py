"""Deferred streams of the software device, which always reveal a missing wait."""

from support.emulator import R, child

START = """
from device.test_stream_capture import *

NOT_READY = R.ERROR_NOT_READY
d.ok("Init", 0)
context = d.context()
w = Bench(d)
host = c_void_p(d.out(c_void_p, "MemHostAlloc", size(16), 0))
pinned = ctypes.cast(host, ctypes.POINTER(c_uint))
"""


def late(code, mode="late", **environment):
    out = child(START + code, PYCUDA_EMULATOR_STREAMS=mode, **environment)
    return out.splitlines()


def test_a_read_without_waiting_sees_the_old_value():
    code = """
assert w.step(w.a, 0, 7) == 0
print(w.get(sync=False))
d.ok("StreamSynchronize", w.a)
print(w.get(sync=False))
"""
    assert late(code) == ["0", "7"]
    assert late(code, "eager") == late(code, "") == ["7", "7"]


def test_the_null_stream_waits_for_blocking_streams():
    assert late("""
s = w.stream(flags=0)
assert w.step(s, 0, 7) == 0
assert w.step(w.a, 0, 3, n=1) == 0
print(w.get(sync=False), w.get(1, sync=False))
d.ok("CtxSynchronize")
print(w.get(1, sync=False))
""") == ["7 0", "3"]


def test_streams_are_waited_for_in_any_order():
    assert late("""
streams = w.a, w.b, w.stream()
for first, second in (0, 1), (2, 1), (1, 2), (1, 0):
    for at, stream in enumerate(streams):
        d.ok("MemsetD32Async", w.word(at), 0, size(1), stream)
        d.ok("MemsetD32Async", w.word(at), at + 1, size(1), stream)
    d.ok("StreamSynchronize", streams[first])
    d.ok("StreamSynchronize", streams[second])
    d.ok("MemsetD32Async", w.word(first), 5, size(1), streams[first])
    d.ok("CtxSynchronize")
    print(*(w.get(at, sync=False) for at in range(3)))
""") == ["5 2 3", "1 2 5", "1 5 3", "1 5 3"]


def test_page_locked_memory_is_copied_late_and_other_memory_at_once():
    assert late("""
other = (c_uint * 1)(5)
pinned[0] = 6
d.ok("MemcpyHtoDAsync", w.word(0), other, size(4), w.a)
d.ok("MemcpyHtoDAsync", w.word(1), host, size(4), w.a)
other[0] = pinned[0] = 9
print(w.get(0), w.get(1))
assert w.step(w.a, 0, 4) == 0
d.ok("MemcpyDtoHAsync", host, w.word(0), size(4), w.a)
print(pinned[0])
d.ok("MemcpyDtoHAsync", other, w.word(0), size(4), w.a)
print(pinned[0], other[0])
""") == ["5 9", "9", "4 4"]


def test_events():
    assert late("""
e, f = w.event(), w.event()
assert w.step(w.a, 0, 4) == 0
d.ok("EventRecord", e, w.a)
assert w.step(w.a, 0, 5) == 0
d.ok("EventRecord", f, w.a)
print(d.EventElapsedTime(byref(c_float()), e, f) == NOT_READY)
d.ok("EventSynchronize", e)
print(w.get(sync=False))
print(d.EventQuery(e), d.EventQuery(f) == NOT_READY)
while d.EventQuery(f) == NOT_READY:
    pass
print(w.get(sync=False))
d.ok("EventElapsedTime", byref(c_float()), e, f)
assert w.step(w.a, 0, 6) == 0
d.ok("EventRecord", e, w.a)
d.ok("StreamWaitEvent", w.b, e, 0)
assert w.step(w.b, 10, 1) == 0
d.ok("StreamSynchronize", w.b)
print(w.get(sync=False))
assert w.step(w.a, 0, 6) == 0
d.ok("EventRecord", e, w.a)
d.ok("EventDestroy", e)  # and the record comes to nothing
d.ok("EventDestroy", f)
d.ok("StreamSynchronize", w.a)
""") == ["True", "4", "0 True", "5", "61"]


def test_asking_a_stream_again_and_again_gets_there():
    assert late("""
for i in range(3):
    assert w.step(w.a, 1, 1) == 0
n = 0
while d.StreamQuery(w.a) == NOT_READY:
    n += 1
print(n, w.get(sync=False))
""") == ["2 3"]


def test_what_work_needs_goes_after_it():
    assert late("""
gone = d.alloc(1 << 20)
m = d.module(SOURCE)
f = d.function(m, b"step")
s = w.stream()
seen = []
note = HOST_FUNCTION(seen.append)
d.ok("MemsetD8Async", gone, 1, size(100), s)
d.ok("MemFree", gone)
parameters = launch_parameters(w.word(), c_uint(0), c_uint(8))
d.ok("LaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, parameters, None)
d.ok("ModuleUnload", m)
d.ok("LaunchHostFunc", s, note, c_void_p(3))
print(seen)
d.ok("StreamDestroy", s)
print(seen, w.get(sync=False))
w.begin()
assert w.step(w.a, 1, 1) == 0
graph = w.end()
assert w.step(w.b, 0, 20) == 0
w.run(graph, stream=w.b)
print(w.get(sync=False))
d.ok("GraphDestroy", graph)
assert w.step(w.a, 0, 1) == 0
d.ok("MemFreeHost", host)
w.close()
d.ok("CtxDestroy", context)
print(d.live(), d.lib.emu_abandoned_count())
""") == ["[]", "[3] 8", "21", "{} 0"]


def test_an_array_goes_after_what_reads_it():
    """The counterpart, which releases nothing, sees the old value."""
    code = """
class Descriptor(ctypes.Structure):
    _fields_ = [("width", c_size_t), ("height", c_size_t), ("format", c_uint),
                ("channels", c_uint)]
array = c_void_p(d.out(c_void_p, "ArrayCreate", byref(Descriptor(4, 0, 3, 1))))
pinned[0] = 6
d.ok("MemcpyHtoAAsync", array, size(0), host, size(4), w.a)
d.ok("StreamSynchronize", w.a)
pinned[0] = 9
d.ok("MemcpyAtoHAsync", host, array, size(0), size(4), w.a)
if RELEASE:
    d.ok("ArrayDestroy", array)
print(pinned[0])
"""
    assert late("RELEASE = True" + code) == ["6"]
    assert late("RELEASE = False" + code) == ["9"]


def test_a_context_with_work_left_over():
    assert late("""
assert w.step(w.a, 0, 1) == 0
d.ok("CtxDestroy", context)
print(d.live())
""") == ["{}"]


def test_a_fault_comes_when_it_is_waited_for():
    assert late("""
parameters = launch_parameters(c_uint64(64), c_uint(0), c_uint(8))
d.ok("LaunchKernel", w.step_function, 1, 1, 1, 1, 1, 1, 0, w.a, parameters, None)
assert w.step(w.a, 0, 1) == 0
print(d.StreamSynchronize(w.a) == R.ERROR_ILLEGAL_ADDRESS, "step" in d.message())
print(d.CtxSynchronize() == R.ERROR_ILLEGAL_ADDRESS)
d.ok("CtxDestroy", context)
print(d.live())
""") == ["True True", "True", "{}"]


def test_a_value_that_is_neither():
    out = child(
        "print(d.Init(0), d.message())",
        PYCUDA_EMULATOR_STREAMS="now",
    )
    assert out.startswith(f"{R.ERROR_INVALID_VALUE} PYCUDA_EMULATOR_STREAMS")


def test_a_blocking_copy_in_the_default_stream_of_a_thread_is_done():
    """Its memory is page-locked, so a copy that does not block could be kept."""
    assert late("""
d.ok("MemsetD32", w.word(0), 7, size(1))
copy = d.lib.cuMemcpyDtoH_v2_ptds
assert copy(host, w.word(0), size(4)) == 0
print(pinned[0])
""") == ["7"]


def test_freeing_memory_of_a_pool_does_not_wait():
    """cuMemFree waits for the users of other memory only, as CUDA's manual says."""
    assert late("""
def fill_and_free(address):
    memory = ctypes.c_uint64(address)
    d.ok("MemsetD32Async", w.word(0), 0, size(1), w.a)
    d.ok("StreamSynchronize", w.a)
    d.ok("MemsetD32Async", memory, 7, size(4), w.a)
    d.ok("MemsetD32Async", w.word(0), 9, size(1), w.a)
    d.ok("MemFree", memory)
    return w.get(sync=False)
plain = d.out(ctypes.c_uint64, "MemAlloc", size(16))
print(fill_and_free(plain))
ordered = d.out(ctypes.c_uint64, "MemAllocAsync", size(16), w.b)
d.ok("StreamSynchronize", w.b)
print(fill_and_free(ordered))
print(d.StreamSynchronize(w.a) == R.ERROR_ILLEGAL_ADDRESS)
""") == ["9", "0", "True"]
