"""Memory and events shared between two processes, which take turns through pipes."""

import contextlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.tools import DeviceMemoryPool

pytestmark = pytest.mark.gpu

#: Both sides read and answer lines, so the speed does not matter.
PRELUDE = """
import sys
import numpy as np
import pycuda.driver as drv

drv.init()
context = drv.Device(0).make_context()

def say(*words):
    print(*words, flush=True)

def hear():
    return sys.stdin.readline().split()
"""


class Peer:
    """A process that runs a script after PRELUDE. say() and hear() exchange lines."""

    def __init__(self, script):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(self.process.communicate(timeout=300))
        return line.split()

    def end(self):
        """Wait for the process, which must succeed."""
        out, err = self.process.communicate(timeout=300)
        assert (self.process.returncode, out, err) == (0, "", "")


@contextlib.contextmanager
def peer(script):
    other = Peer(script)
    try:
        yield other
        other.end()
    finally:
        if other.process.poll() is None:
            other.process.kill()
            other.process.communicate()


def test_another_process_reads_and_writes_the_memory(ctx):
    values = np.arange(1000, dtype=np.int32)
    memory = drv.to_device(values)
    handle = drv.mem_get_ipc_handle(memory)
    assert isinstance(handle, bytearray) and len(handle) == 64
    script = """
    handle = bytearray.fromhex(hear()[0])
    memory = drv.IPCMemoryHandle(handle)
    assert int(memory) == memory.__index__() == memory.__long__() > 0
    values = drv.from_device(memory, 1000, np.int32)
    say(values.sum())
    drv.memcpy_htod(memory, values[::-1].copy())
    drv.memset_d32(int(memory) + 4000 - 4, 77, 1)
    drv.Context.synchronize()
    address = int(memory)
    memory.close()
    assert int(memory) == address
    try:
        memory.close()
    except drv.LogicError as error:
        assert "released before" in str(error)
    else:
        raise AssertionError("closed twice")
    say("closed")
    lazy = drv.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS
    again = drv.IPCMemoryHandle(bytes(handle), lazy)
    assert drv.from_device(again, 2, np.int32).tolist() == [999, 998]
    del again
    context.detach()
    """
    with peer(script) as other:
        other.say(handle.hex())
        assert other.hear() == [str(values.sum())]
        assert other.hear() == ["closed"]
        got = drv.from_device(memory, 1000, np.int32)
        assert (got[:-1] == values[::-1][:-1]).all() and got[-1] == 77
        drv.memcpy_htod(memory, values[::-1].copy())
        drv.Context.synchronize()


@pytest.mark.parametrize("size", [64, 4096, 1 << 20, 5 << 20])
def test_a_handle_of_freed_memory_does_not_open(ctx, size):
    """A GPU's driver rejects it too, unless the memory shares a block with others.

    Blocks have 2 MiB: an H200 opened a handle of freed memory of 1 MiB.
    """
    if not _driver._is_emulated() and size < 2 << 20:
        pytest.skip("the driver of a GPU cannot tell for a small allocation")
    script = """
    for expected in ("opens", "refused", "refused", "opens"):
        handle = bytes.fromhex(hear()[0])
        try:
            memory = drv.IPCMemoryHandle(handle)
        except drv.LogicError as error:
            assert error.name == "CUDA_ERROR_INVALID_VALUE", error
            say("refused")
        else:
            say("opens", drv.from_device(memory, 4, np.uint8)[3])
            memory.close()
    context.detach()
    """
    kept = drv.mem_alloc(size)  # the neighbor stays alive
    memory = drv.mem_alloc(size)
    drv.memset_d8(kept, 1, size)
    drv.memset_d8(memory, 2, size)
    drv.Context.synchronize()
    handle = drv.mem_get_ipc_handle(memory)
    with peer(script) as other:
        other.say(handle.hex())
        assert other.hear() == ["opens", "2"]
        memory.free()
        other.say(handle.hex())
        assert other.hear() == ["refused"]
        again = drv.mem_alloc(size)  # perhaps at the same address
        other.say(handle.hex() if _driver._is_emulated() else bytes(64).hex())
        assert other.hear() == ["refused"]
        other.say(drv.mem_get_ipc_handle(kept).hex())
        assert other.hear() == ["opens", "1"]
    del again


def test_an_address_inside_gives_the_handle_of_its_allocation(ctx):
    memory = drv.mem_alloc(4096)
    handle = drv.mem_get_ipc_handle(memory)
    assert drv.mem_get_ipc_handle(int(memory) + 128) == handle
    pool = DeviceMemoryPool()
    blocks = [pool.allocate(1000) for _ in range(2)]
    first, second = (drv.mem_get_ipc_handle(block) for block in blocks)
    assert first != second
    memory.free()
    with pytest.raises(drv.LogicError, match="cuIpcGetMemHandle"):
        drv.mem_get_ipc_handle(int(memory))


def test_memory_of_another_process_in_kernels(ctx):
    memory = drv.mem_alloc(400)
    drv.memset_d32(memory, 1, 100)
    drv.Context.synchronize()
    script = '''
    from pycuda.compiler import SourceModule
    module = SourceModule("""
    __global__ void plus(int *values, int k) { values[threadIdx.x] += k; }
    """)
    plus = module.get_function("plus")
    memory = drv.IPCMemoryHandle(bytearray.fromhex(hear()[0]))
    plus(memory, np.int32(10), block=(100, 1, 1))
    plus.prepare("Pi").prepared_call((1, 1), (100, 1, 1), memory, 5)
    drv.Context.synchronize()
    say("done")
    hear()
    memory.close()
    context.detach()
    '''
    with peer(script) as other:
        other.say(drv.mem_get_ipc_handle(int(memory)).hex())
        assert other.hear() == ["done"]
        assert (drv.from_device(memory, 100, np.int32) == 16).all()
        other.say("end")


def test_a_handle_that_is_dropped_closes_in_its_context(ctx):
    memory = drv.to_device(np.arange(4))
    script = """
    memory = drv.IPCMemoryHandle(bytearray.fromhex(hear()[0]))
    context.pop()
    del memory
    from pycuda import _driver
    assert _driver._live_counts()["ipc_memory"] == 0
    assert drv.Context.get_current() is None
    context.push()
    context.detach()
    """
    with peer(script) as other:
        other.say(drv.mem_get_ipc_handle(memory).hex())


def test_events_between_processes(ctx):
    flags = drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING
    event = drv.Event(flags)
    handle = event.ipc_handle()
    assert isinstance(handle, bytearray) and len(handle) == 64
    memory = drv.mem_alloc(4 << 20)
    stream = drv.Stream()
    script = """
    event = drv.Event.from_ipc_handle(bytearray.fromhex(hear()[0]))
    assert type(event) is drv.Event
    memory = drv.IPCMemoryHandle(bytearray.fromhex(hear()[0]))
    say("ready")
    hear()
    stream = drv.Stream()
    stream.wait_for_event(event)
    back = drv.pagelocked_empty(4 << 20, np.uint8)
    drv.memcpy_dtoh_async(back, memory, stream)
    stream.synchronize()
    assert event.synchronize() is event and event.query()
    say(back.min(), back.max())
    memory.close()
    context.detach()
    """
    with peer(script) as other:
        other.say(handle.hex())
        other.say(drv.mem_get_ipc_handle(memory).hex())
        assert other.hear() == ["ready"]
        drv.memset_d8_async(memory, 5, 4 << 20, stream)
        event.record(stream)
        other.say("recorded")
        assert other.hear() == ["5", "5"]
        stream.synchronize()


def test_an_event_recorded_by_the_other_process(ctx):
    event = drv.Event(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    script = """
    event = drv.Event.from_ipc_handle(bytes.fromhex(hear()[0]))
    event.record().synchronize()
    say("recorded")
    hear()
    context.detach()
    """
    with peer(script) as other:
        other.say(event.ipc_handle().hex())
        assert other.hear() == ["recorded"]
        assert event.synchronize() is event and event.query()
        other.say("end")


def test_an_opened_event_lets_go_of_its_context(ctx):
    event = drv.Event(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    script = """
    handle = bytes.fromhex(hear()[0])
    before = sys.getrefcount(context)
    for _ in range(10):
        drv.Event.from_ipc_handle(handle)
    say(sys.getrefcount(context) - before)
    context.detach()
    """
    with peer(script) as other:
        other.say(event.ipc_handle().hex())
        assert other.hear() == ["0"]


def test_only_interprocess_events_have_handles(ctx):
    for flags in (0, drv.event_flags.DISABLE_TIMING):
        with pytest.raises(drv.LogicError, match="cuIpcGetEventHandle"):
            drv.Event(flags).ipc_handle()


@pytest.mark.parametrize("opens", [drv.IPCMemoryHandle, drv.Event.from_ipc_handle])
def test_handles_that_are_none(ctx, opens):
    for wrong, said in (
        (bytes(63), "has 63 bytes; it must have 64"),
        (bytearray(65), "has 65 bytes"),
        (b"", "has 0 bytes"),
        ("x" * 64, "must be a bytearray or bytes, not str"),
        (64, "not int"),
        (None, "not NoneType"),
    ):
        with pytest.raises(drv.LogicError, match=said):
            opens(wrong)
    with pytest.raises(drv.Error, match="cuIpcOpen"):
        opens(bytes(64))


def test_handles_need_memory_and_a_context(ctx):
    memory = drv.mem_alloc(16)
    with pytest.raises(drv.LogicError, match="cuIpcGetMemHandle"):
        drv.mem_get_ipc_handle(16)
    with pytest.raises(TypeError, match="devptr must be a device pointer"):
        drv.mem_get_ipc_handle(None)
    handle = drv.mem_get_ipc_handle(memory)
    ctx.pop()
    for opens in (drv.IPCMemoryHandle, drv.Event.from_ipc_handle):
        with pytest.raises(drv.LogicError):
            opens(handle)
    ctx.push()


def test_a_handle_without_init(ctx):
    blank = drv.IPCMemoryHandle.__new__(drv.IPCMemoryHandle)
    assert int(blank) == 0
    with pytest.raises(drv.LogicError, match="__init__ .* was not called"):
        blank.close()
