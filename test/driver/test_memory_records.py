"""Which lines hold memory: notes of allocations, snapshots, the text of errors."""

import dataclasses
import inspect
import json
import os
import threading
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.memory as memory
from pycuda import _driver, _leaks, gpuarray
from pycuda.memory import _picture, _records, _snapshot
from support.child import run_child

pytestmark = pytest.mark.gpu

KIB = 1024


@pytest.fixture(autouse=True)
def recording(ctx):
    """Keep the history of one test only."""
    memory.record(events=64)
    memory.record()
    yield
    memory.record()


def here(back=0):
    """Return file, line and function of the caller."""
    frame = inspect.currentframe().f_back
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name)  # without it before Python 3.11
    return (__file__, frame.f_lineno - back, name)


def find(address, snapshot=None):
    """Return the allocation at an address, or None."""
    for a in (snapshot or memory.snapshot()).allocations:
        if a.address == int(address):
            return a
    return None


# -- lines -----------------------------------------------------------------------------


def allocate():
    return drv.mem_alloc(5 * KIB), here()


def test_an_allocation_notes_its_line():
    block, (file, line, name) = allocate()
    found = find(block)
    assert (found.line.file, found.line.line, found.line.function) == (file, line, name)
    assert (found.bytes, found.asked, found.kind) == (5 * KIB, 5 * KIB, "device")
    assert not found.held and not found.on_host
    assert str(found.line) == f"{file}:{line} in {name}"


def test_an_array_belongs_to_the_line_of_the_program():
    a = gpuarray.zeros(1000, np.float32)
    line = here(1)[1]
    b = a + a
    assert find(a.ptr).line.line == line
    assert find(b.ptr).line == memory.Line(*here(2))


def test_memory_that_is_freed_is_in_no_snapshot():
    block, dropped = drv.mem_alloc(KIB), drv.mem_alloc(KIB)
    addresses = int(block), int(dropped)
    block.free()
    del dropped
    assert [find(a) for a in addresses] == [None, None]


def make_kinds(stream):
    """Yield an object of each kind of memory with its address, kind and bytes."""
    flags = drv.mem_attach_flags.GLOBAL
    plain = drv.mem_alloc(4 * KIB)
    yield plain, int(plain), "device", 4 * KIB
    pitched, pitch = drv.mem_alloc_pitch(100, 3, 4)
    yield pitched, int(pitched), "device", 3 * pitch
    managed = drv.managed_empty(KIB, np.float32, mem_flags=flags)
    yield managed, managed.ctypes.data, "managed", 4 * KIB
    pinned = drv.pagelocked_empty(KIB, np.float32)
    yield pinned, pinned.ctypes.data, "page-locked", 4 * KIB
    ordered = drv.mem_alloc_async(4 * KIB, stream)
    yield ordered, int(ordered), "stream", 4 * KIB
    block = drv.DeviceMemoryPool().allocate(1000)
    yield block, int(block), "pool", 1023
    array = drv.PageLockedMemoryPool().allocate(1000, np.uint8)
    yield array, array.ctypes.data, "page-locked pool", 1023


def test_every_kind_of_memory_is_listed():
    for owner, address, kind, size in make_kinds(drv.Stream()):
        found = find(address)
        assert (found.kind, found.bytes) == (kind, size), kind
        assert found.on_host == kind.startswith("page-locked")
        del owner


def test_texture_arrays_and_physical_memory_are_listed():
    before = len(memory.snapshot().allocations)
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = 16, 8, 0
    descriptor.format, descriptor.num_channels = drv.array_format.FLOAT, 4
    array = drv.Array(descriptor)
    levels = drv.MipmappedArray(descriptor, 3)
    physical = drv.PhysicalMemory(1)
    new = memory.snapshot().allocations
    assert len(new) == before + 3
    sizes = sorted(a.bytes for a in new if a.kind == "array")
    assert sizes == [16 * 8 * 16, (16 * 8 + 8 * 4 + 4 * 2) * 16]
    assert [a.bytes for a in new if a.kind == "physical"] == [physical.size]
    del array, levels, physical
    assert len(memory.snapshot().allocations) == before


# -- pools -----------------------------------------------------------------------------


def test_a_block_of_a_pool_belongs_to_its_user():
    pool = drv.DeviceMemoryPool()
    first = pool.allocate(1000)
    address, line = int(first), here(1)[1]
    assert (find(address).asked, find(address).line.line) == (1000, line)
    first.free()
    assert find(address).held
    second = pool.allocate(1020)
    assert int(second) == address
    found = find(address)
    assert (found.asked, found.held, found.line.line) == (1020, False, here(3)[1])
    second.free()
    pool.free_held()
    assert find(address) is None


def test_sums_of_a_snapshot():
    pool = drv.DeviceMemoryPool()
    before = memory.snapshot()
    used, free = pool.allocate(1000), pool.allocate(2000)
    line = here(1)[1]
    free.free()
    held = pool.managed_bytes - 1023
    after = memory.snapshot()
    assert after.used() - before.used() == 1023
    assert after.held() - before.held() == held
    assert after.rounding() - before.rounding() == 23
    own = [use for use in after.lines() if use.line.line == line]
    assert [(use.bytes, use.count) for use in own] == [(1023, 1)]
    del used


def test_lines_are_ordered_and_told_apart_by_place():
    small = [drv.mem_alloc(KIB) for _ in range(3)]
    large = drv.mem_alloc(64 * KIB)
    uses = [u for u in memory.snapshot().lines() if u.line.file == __file__]
    assert [(u.bytes, u.count) for u in uses] == [(64 * KIB, 1), (3 * KIB, 3)]
    del small, large


# -- the end of memory -----------------------------------------------------------------


def test_memory_of_an_ended_context_is_not_listed():
    context = drv.Device(0).make_context()
    block = drv.mem_alloc(3 * KIB)
    address = int(block)
    assert find(address) is not None
    context.pop()
    context.detach()
    assert find(address) is None
    del block


def test_memory_that_a_graph_keeps_is_listed():
    stream = drv.Stream()
    block = drv.mem_alloc(4 * KIB)
    address = int(block)
    with stream.capture() as captured:
        drv.memset_d8_async(block, 1, 4 * KIB, stream)
        del block
    assert find(address) is not None
    del captured
    assert find(address) is None


def test_a_refused_free_keeps_the_note():
    block = drv.mem_alloc(KIB)
    block.free()
    with pytest.raises(drv.LogicError):
        block.free()
    again = drv.mem_alloc(KIB)
    assert find(again) is not None


def test_threads_note_their_own_lines(ctx):
    found = []

    def work():
        ctx.push()
        block = drv.mem_alloc(KIB)
        found.append((find(block).line.line, here(1)[1]))
        drv.Context.pop()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[0][0] == found[0][1]


FORKED = """
import os, sys
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.memory as memory

block = drv.mem_alloc(1024)
child = os.fork()
if child == 0:
    s = memory.snapshot()
    os._exit(len(s.allocations))
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), len(memory.snapshot().allocations))
"""


def test_a_forked_child_holds_nothing():
    # Python warns of a fork in a process with threads, which a driver has.
    done = run_child(FORKED, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert done.stdout.split() == ["0", "1"]


MANY_LINES = """
import types
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.memory as memory

def allocate():
    return drv.mem_alloc(64)

first = allocate()
for number in range(66000):
    code = allocate.__code__.replace(co_firstlineno=number + 100)
    types.FunctionType(code, globals())()
last = drv.mem_alloc(128)
lines = {a.bytes: a.line for a in memory.snapshot().allocations}
print(lines[64].line, lines[128].file)
"""


def test_a_program_that_makes_code_without_end_runs_on():
    """There are numbers for 65,536 lines. Later ones are not known."""
    assert run_child(MANY_LINES).stdout.split() == ["8", "None"]


# -- the history -----------------------------------------------------------------------


def changes():
    return memory.snapshot().events["change"].tolist()


def test_events_are_kept_in_order():
    memory.record(events=128)
    block = drv.mem_alloc(KIB)
    block.free()
    pool = drv.DeviceMemoryPool()
    part = pool.allocate(1000)
    part.free()
    pool.free_held()
    r = _records
    assert changes() == [r.ALLOCATED, r.FREED, r.GROWN, r.TAKEN, r.RETURNED, r.SHRUNK]
    events = memory.snapshot().events
    assert (np.diff(events["time"].astype(np.int64)) >= 0).all()
    assert events["bytes"].tolist() == [KIB, KIB, 1023, 1023, 1023, 1023]


def test_old_events_are_dropped():
    memory.record(events=8)
    for _ in range(10):
        drv.mem_alloc(KIB).free()
    s = memory.snapshot()
    assert (len(s.events), s.event_count) == (8, 20)


def test_nothing_is_recorded_when_it_is_off():
    memory.record(False)
    assert not memory.is_recording()
    block = drv.mem_alloc(KIB)
    part = drv.DeviceMemoryPool().allocate(KIB)
    assert find(block) is None and find(part) is None
    memory.record()
    block.free()
    part.free()
    assert memory.is_recording()


def test_numbers_of_events():
    memory.record(events=5)
    assert _driver._memory_recording()[1] == 8
    memory.record(events=0)
    drv.mem_alloc(KIB).free()
    assert len(memory.snapshot().events) == 0
    with pytest.raises(ValueError, match="events is -3"):
        memory.record(events=-3)


def test_the_curve_ends_at_the_snapshot():
    memory.record(events=16)
    kept = drv.mem_alloc(8 * KIB)
    for _ in range(20):  # more events than the history keeps
        drv.mem_alloc(KIB).free()
    s = memory.snapshot()
    c = _picture.curve(s, 0, False)
    assert c.bytes[:, -1].sum() == s.used(device=0) + s.held(device=0)
    own = c.bytes[c.names.index(find(kept, s).line)]
    assert own.min() == own.max() == 8 * KIB
    assert (c.bytes >= 0).all()


# -- files -----------------------------------------------------------------------------


def sample():
    pool = drv.DeviceMemoryPool()
    blocks = [pool.allocate(1000 * n) for n in range(1, 14)]
    pinned = drv.pagelocked_empty(100, np.uint8)
    blocks[3].free()
    return memory.snapshot(), (blocks, pinned)


def test_files_of_a_snapshot(tmp_path):
    s, held = sample()
    for name in ("m.svg", "m.html", "m.json", "m.txt"):
        s.save(tmp_path / name)
    svg = ElementTree.parse(tmp_path / "m.svg").getroot()
    assert svg.tag.endswith("svg")
    page = (tmp_path / "m.html").read_text(encoding="utf-8")
    assert "test_memory_records.py" in page and page.count("<svg") >= 2
    for outside in ("src=", "href=", "@import", "url("):
        assert outside not in page
    rows = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))["allocations"]
    assert {row["kind"] for row in rows} >= {"pool", "page-locked"}
    assert (tmp_path / "m.txt").read_text(encoding="utf-8") == s.text()
    with pytest.raises(ValueError, match=r"use \.html, \.json, \.svg, \.txt"):
        s.save(tmp_path / "m.png")
    del held


def test_the_picture_of_a_notebook_is_markup():
    s, held = sample()
    assert ElementTree.fromstring(s._repr_html_()).tag == "div"
    assert ElementTree.fromstring(s.svg(host=True)) is not None
    del held


def test_an_empty_snapshot_has_a_picture():
    memory.record(events=32)
    assert ElementTree.fromstring(memory.snapshot().svg(device=99)) is not None


def test_many_events_make_a_small_picture():
    memory.record(events=4096)
    for _ in range(1500):
        drv.mem_alloc(KIB).free()
    assert len(memory.snapshot().svg()) < 100_000


# -- errors ----------------------------------------------------------------------------


def test_the_error_lists_the_lines():
    blocks = [drv.mem_alloc(n * KIB) for n in range(1, 13)]
    line = here(1)[1]
    with pytest.raises(drv.MemoryError) as caught:
        drv.mem_alloc(1 << 50)
    first, *rows = str(caught.value).splitlines()
    assert f"{1 << 50} bytes were asked for" in first
    assert rows[0].startswith("This program uses ")
    assert any(f"test_memory_records.py:{line} in " in row for row in rows)
    del blocks


def test_the_error_of_a_pool_names_what_pools_hold():
    other = drv.DeviceMemoryPool()
    other.allocate(100 * KIB).free()
    with pytest.raises(drv.MemoryError) as caught:
        drv.DeviceMemoryPool().allocate(1 << 50)
    assert "are held by pools and unused; free_held() of the pool" in str(caught.value)


def test_the_error_lists_ten_lines():
    blocks = []
    for n in range(12):  # a line of its own for each
        exec(
            compile(
                f"blocks.append(drv.mem_alloc({n + 1} * 4096))", f"part{n}.py", "exec"
            )
        )
    with pytest.raises(drv.MemoryError) as caught:
        drv.mem_alloc(1 << 50)
    text = str(caught.value)
    assert "part11.py:1" in text and "part1.py:1" not in text
    assert "other lines" in text
    blocks.clear()


def test_the_error_of_host_memory_lists_host_lines():
    pinned = drv.pagelocked_empty(1000, np.uint8)
    with pytest.raises(drv.MemoryError) as caught:
        drv.pagelocked_empty(1 << 46, np.uint8)
    assert "of page-locked host memory, by line:" in str(caught.value)
    del pinned


def test_a_failing_report_leaves_the_error(monkeypatch):
    def fail(asked, host):
        raise RuntimeError("no report")

    monkeypatch.setattr(_snapshot, "explain", fail)
    with pytest.raises(drv.MemoryError, match="are free$"):
        drv.mem_alloc(1 << 50)
    monkeypatch.setattr(_snapshot, "explain", lambda asked, host: 3)
    with pytest.raises(drv.MemoryError, match="are free$"):
        drv.mem_alloc(1 << 50)


def test_an_interrupt_during_the_report_is_raised(monkeypatch):
    def interrupt(asked, host):
        raise KeyboardInterrupt

    monkeypatch.setattr(_snapshot, "explain", interrupt)
    with pytest.raises(KeyboardInterrupt):
        drv.mem_alloc(1 << 50)


def test_fragmented_memory_is_named():
    s = memory.snapshot()
    [device] = s.devices
    text = _report_of(s, device.free // 2)
    assert "the free memory is fragmented, or the driver reserves a part" in text
    assert "fragmented" not in _report_of(s, device.free + 1)


def _report_of(snapshot, asked):
    from pycuda.memory import _report

    return _report.out_of_memory(snapshot, asked, False)


def test_other_processes_are_named(monkeypatch):
    other = memory.Process(1, "other", 3 << 30)
    monkeypatch.setattr(_snapshot, "processes_of", lambda device: [other])
    text = memory.snapshot().text()
    assert "Process 1 (other) uses 3.0 GiB." in text


def test_the_rest_of_this_process_is_told_from_others():
    s = memory.snapshot()
    known = s.used() + s.held()
    own = memory.Process(os.getpid(), "own", known + (5 << 30))
    device = s.devices[0]._replace(total=64 << 30, free=(50 << 30) - known)
    s = dataclasses.replace(s, processes=[own], devices=[device])
    text = s.text()
    assert "5.0 GiB are used by contexts, kernels and other libraries of this" in text
    assert "9.0 GiB are used by other processes." in text
    assert s.others() == []


def test_a_mark_knows_memory_again(ctx, monkeypatch):
    """The time of an allocation is an estimate, which differs between two moments."""
    kept = [drv.mem_alloc(64) for _ in range(200)]
    mark, notes = _leaks.Mark(), _driver._memory_notes

    def later():
        return [(*row[:5], row[5] + 1, *row[6:]) for row in notes()]

    monkeypatch.setattr(_driver, "_memory_notes", later)
    assert _leaks.Mark().lines_since(mark) == []
    time.sleep(0.02)  # longer than a tick of any clock
    del kept[:100]  # other memory may get their addresses
    kept += [drv.mem_alloc(64) for _ in range(100)]
    found = _leaks.Mark().lines_since(mark)
    assert sum(held.allocations for held in found) == 100
    assert {held.file for held in found} == {__file__}


@pytest.mark.parametrize("end", ["html", "svg", "json", "txt"])
def test_files_of_a_snapshot_with_names_that_are_no_utf_8(tmp_path, end):
    names = {"drv": drv}
    file = '/x/</script><evil>&"\udcff.py'
    exec(compile("block = drv.mem_alloc(1 << 20)", file, "exec"), names)
    path = os.fsencode(tmp_path / f"s.{end}")
    memory.snapshot().save(path)
    text = (tmp_path / f"s.{end}").read_text(encoding="utf-8")
    if end == "svg":
        ElementTree.fromstring(text)
    if end == "json":
        assert any(a["line"]["file"] == file for a in json.loads(text)["allocations"])
    elif end != "txt":
        assert "<evil>" not in text and "\ufffd.py" in text
