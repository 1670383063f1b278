"""Large copies of ordinary memory, by page-locked pieces (driver/staging.h).

The programs run in processes of their own, because the variable is read at the first
use of the driver. They have pieces of 4 KiB, so small arrays pass through many of them.
"""

import pytest

from support.child import run_child
from support.emulator import LIBRARY

PRELUDE = f"""
import ctypes, os, signal, sys, threading, time
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda import _driver

PIECE, UP, TOTAL = 4096, 4 * 4096, 64 << 10
rng = np.random.default_rng(0)
device = ctypes.CDLL({LIBRARY!r})
device.emu_call_count.restype = ctypes.c_ulonglong
device.emu_live_count.restype = ctypes.c_longlong

def count(*names):
    return sum(device.emu_call_count(name.encode()) for name in names)

def parts(call):
    '''How many copies of the bus a call makes, without the driver's own way.'''
    names = "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync"
    before = count(*names)
    call()
    return count(*names) - before

def fail(name, number, code=1):
    assert device.emu_fault_set(name.encode(), number, code) == 0

def numbers(size):
    return rng.integers(0, 255, size, dtype=np.uint8)

def warm():
    '''Copy as much as lets the context have pieces.'''
    gpuarray.to_gpu(numbers(TOTAL)).get()

def check(size, offset=0):
    '''Copy there and back, and look at the bytes beside the copy, too.'''
    source = numbers(size + offset)[offset:]
    memory = drv.mem_alloc(size + offset)
    target = np.full(size + 16, 7, np.uint8)
    drv.memcpy_htod(int(memory) + offset, source)
    drv.memcpy_dtoh(target[8:-8], int(memory) + offset)
    assert (target[8:-8] == source).all(), (size, offset)
    assert (target[:8] == 7).all() and (target[-8:] == 7).all(), (size, offset)
"""


def run(code, staging="64K,threads=4", **variables):
    """Return the lines that the code prints with this value of the variable."""
    done = run_child(PRELUDE + code, PYCUDA_STAGING=staging, **variables)
    return done.stdout.splitlines()


software = pytest.mark.software(why="it counts the calls of the software device")

# -- which copies ----------------------------------------------------------------------


@software
@pytest.mark.parametrize(
    ("staging", "expected"),
    [
        ("64K,threads=4", "True"),
        ("0", "False"),
        (None, "False"),
        ("64K,threads=1", "False"),
    ],
)
def test_the_variable_turns_pieces_on(staging, expected):
    """The software device has none unless the variable is set."""
    code = """
warm()
big = gpuarray.to_gpu(numbers(TOTAL))
print(parts(big.get) > 1, parts(lambda: big.set(numbers(TOTAL))) > 1)
print(drv.release_staging() > 0)
"""
    assert run(code, staging) == [f"{expected} {expected}", expected]


@software
def test_small_copies_are_the_driver_s():
    code = """
warm()
for size in (PIECE - 1, PIECE, UP - 1, UP):
    x = gpuarray.empty(size, np.uint8)
    print(parts(lambda: x.set(numbers(size))) > 0, parts(x.get) > 0)
"""
    assert run(code) == ["False False", "False True", "False True", "True True"]


@software
def test_pieces_are_made_after_as_many_bytes():
    code = """
x = gpuarray.to_gpu(numbers(TOTAL // 4))
print(parts(x.get), parts(x.get), drv.release_staging())
for i in range(3): x.get()
print(parts(x.get) > 0, 0 < drv.release_staging() <= TOTAL)
"""
    assert run(code) == ["0 0 0", "True True"]


@software
def test_memory_that_the_driver_knows_is_copied_directly():
    code = """
warm()
x = gpuarray.to_gpu(numbers(TOTAL))
pinned = drv.pagelocked_empty(TOTAL, np.uint8)
managed = drv.managed_empty(TOTAL, np.uint8, mem_flags=drv.mem_attach_flags.GLOBAL)
registered = drv.register_host_memory(drv.aligned_empty(TOTAL, np.uint8))
for array in (pinned, managed, registered, np.empty(TOTAL, np.uint8)):
    print(parts(lambda: drv.memcpy_dtoh(array, x.gpudata)), end=" ")
    array[:] = 3
    print(parts(lambda: drv.memcpy_htod(x.gpudata, array)) > 0, (x.get() == 3).all())
"""
    lines = run(code)
    assert lines[:3] == ["0 False True"] * 3
    assert lines[3] != "0 True True" and lines[3].endswith("True True")


@software
def test_a_capture_is_as_without_pieces():
    code = """
if os.environ["PYCUDA_STAGING"] != "0": warm()
x = gpuarray.to_gpu(numbers(TOTAL))
stream, host = drv.Stream(), numbers(TOTAL)
def copy():
    with stream.capture() as graph:
        drv.memcpy_htod_async(x.gpudata, host, stream)
    graph.instantiate().launch(stream)
    stream.synchronize()
print(parts(copy))
print((x.get() == host).all())
"""
    lines = run(code)
    assert lines == run(code, "0")
    assert lines == ["1", "True"]


# -- bytes -----------------------------------------------------------------------------


@pytest.mark.parametrize("staging", ["64K,threads=2", "64K,threads=9", "1M", "9K"])
def test_sizes_around_pieces_at_odd_addresses(staging):
    code = """
warm()
for size in (PIECE, UP, 5 * PIECE, TOTAL, 3 * TOTAL, (1 << 20) + 13):
    for more in (-1, 0, 1):
        for offset in (0, 1, 63, 4096, 5000):
            check(size + more, offset)
print(drv.release_staging() > 0)
"""
    assert run(code, staging) == ["True"]


def test_a_copy_of_wrong_bytes_is_noticed():
    code = """
memcpy_dtoh = drv.memcpy_dtoh
def wrong(target, source):
    memcpy_dtoh(target, source)
    target[len(target) // 2] ^= 1
drv.memcpy_dtoh = wrong
try:
    check(TOTAL)
except AssertionError as error:
    print(error)
"""
    assert run(code) == ["(65536, 0)"]


@software
def test_arrays_that_are_not_contiguous():
    """The threads arrange them in the pieces; counterpart: NumPy does for the rest."""
    code = """
warm()
def records(n):
    out = np.zeros(n, [("a", "f4"), ("b", "f8"), ("c", "i4")])  # 16 bytes
    out.view(np.uint8)[:] = rng.integers(0, 100, out.nbytes, dtype=np.uint8)
    return out
seen = set()
for dtype in ("i1", "i2", "f4", "f8", "c16", "records", "V24"):
    if dtype == "records":
        base = records(40 * 50 * 60).reshape(40, 50, 60)
    else:
        size = np.dtype(dtype).itemsize
        base = numbers(40 * 50 * 60 * size).view(dtype).reshape(40, 50, 60)
    views = (base[:, :, ::2], base[::-1, ::3, 5:], base.transpose(1, 0, 2)[3:, :, 1:],
             base.T[::2], base[:, ::7, ::-1], np.broadcast_to(base[0, 0], (400, 60)),
             base[:1, :, ::2], base[:, :, 5:6], base[None, :, ::2, None],
             base.reshape(-1)[: 2 * (2 * PIECE // base.itemsize) : 2])
    for view in views:
        x = gpuarray.to_gpu(view)
        assert x.get().tobytes() == view.tobytes(), (dtype, view.shape)
        for order in "CF":
            y = gpuarray.empty(view.shape, view.dtype, order=order)
            copies = parts(lambda: y.set(view))
            assert y.get().tobytes() == view.tobytes(), (dtype, view.shape, order)
            packed = view.flags.c_contiguous and order == "C"
            packed |= view.flags.f_contiguous and order == "F"
            if PIECE <= view.nbytes < UP and not packed:
                seen.add((view.itemsize, copies > 0))
print(*sorted(seen))
swapped = numbers(TOTAL).view(">f4")[::2]
y = gpuarray.empty(swapped.shape, np.float32)
try:
    y.set(swapped)
except ValueError as error:
    print("byte order" in str(error))
"""
    lines = run(code)
    assert lines == [
        "(1, True) (2, True) (4, True) (8, True) (16, True) (24, False)",
        "True",
    ]


# -- order, threads, contexts ----------------------------------------------------------


@software
def test_a_copy_follows_its_stream_and_has_read_its_source():
    """Counterpart: the driver's copy of page-locked memory reads it later."""
    code = """
warm()
x = gpuarray.zeros(TOTAL, np.uint8)
stream = drv.Stream()
pinned = drv.pagelocked_empty(TOTAL, np.uint8)
for host in (np.empty(TOTAL, np.uint8), pinned):
    host[:] = 1
    drv.memcpy_htod_async(x.gpudata, host, stream)
    host[:] = 2
    stream.synchronize()
    print(x.get().max(), end=" ")
    drv.memset_d8_async(x.gpudata, 5, TOTAL, stream)
    drv.memcpy_dtoh_async(host, x.gpudata, stream)
    print(host.min())
    stream.synchronize()
"""
    late = run(code, PYCUDA_EMULATOR_STREAMS="late")
    assert late == ["1 5", "2 2"]


def test_threads_that_copy_at_the_same_time():
    code = """
warm()
context = pycuda.autoinit.context
bad = []
def work(seed):
    context.push()
    try:
        source = np.full(TOTAL * 4, seed, np.uint8)
        source[::3] = seed + 1
        odd = source.view(np.uint16)[::2]
        for i in range(30):
            x = gpuarray.to_gpu(source)
            y = gpuarray.empty(TOTAL, np.uint16)
            y.set(odd)
            if (x.get() != source).any() or (y.get() != odd).any():
                bad.append(seed)
            if i % 10 == seed % 10: drv.release_staging()
    finally:
        context.pop()
threads = [threading.Thread(target=work, args=(3 * i,)) for i in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(bad)
"""
    assert run(code) == ["[]"]


@software
def test_each_context_has_its_own():
    code = """
def live(): return device.emu_live_count(b"registered")
def threads(): return len(os.listdir("/proc/self/task"))
few = threads()
warm()
first, many = live(), threads()
other = drv.Device(0).make_context()
warm()
print(first > 0, live() == 2 * first, many - few, threads() - many)
other.pop()
other.detach()
print(live() == first, threads() == many)
print(drv.release_staging() == first * PIECE, live(), threads() == few)
check(TOTAL)
os.environ["PYCUDA_STAGING"] = "0"
drv.release_staging()
warm()
print(live())
"""
    assert run(code) == ["True True 3 3", "True True", "True 0 True", "0"]


# -- failures --------------------------------------------------------------------------


@software
@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize(
    "name",
    ["copy", "cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuStreamQuery"],
)
def test_a_failure_in_the_middle(name, up):
    """It is reported once, and the next copy is right."""
    code = f"""
name, up = {name!r}, {up}
if name == "copy": name = "cuMemcpyHtoDAsync" if up else "cuMemcpyDtoHAsync"
warm()
x, host = gpuarray.to_gpu(numbers(4 * TOTAL)), numbers(4 * TOTAL)
copy = (lambda: x.set(host)) if up else (lambda: x.get(host))
failed = 0
for number in (1, 2, 15, 16, 17, 40, 63, 64, 65):
    fail(name, number)
    try:
        copy()
    except drv.LogicError as error:
        failed += 1
        assert "invalid argument" in str(error) or "cuMemcpy" in str(error), error
    device.emu_fault_clear()
    check(TOTAL, 3)
    copy()
    assert (x.get() == host).all()
print(failed > 0, drv.release_staging() > 0)
"""
    lines = run(code)
    assert lines[0] in ("True True", "False True")
    if name in ("copy", "cuEventRecord", "cuStreamQuery"):
        assert lines == ["True True"]


@software
@pytest.mark.parametrize("name", ["cuMemHostRegister", "cuEventCreate"])
def test_without_pieces_the_driver_copies(name):
    """Also if only some can be made; release_staging tries again."""
    code = f"""
for number in (1, 2, 5):
    fail({name!r}, number, 2)
    for i in range(3): check(4 * TOTAL)
    device.emu_fault_clear()
    x = gpuarray.to_gpu(numbers(TOTAL))
    print(parts(x.get), drv.release_staging() < TOTAL, end=" ")
    warm()
    print(parts(x.get) > 0)
    drv.release_staging()
"""
    assert run(code) == ["0 True True"] * 3


def test_a_range_beyond_the_allocation():
    code = """
if os.environ["PYCUDA_STAGING"] != "0": warm()
memory = drv.mem_alloc(TOTAL)
for call in (lambda: drv.memcpy_htod(memory, numbers(2 * TOTAL)),
             lambda: drv.memcpy_dtoh(numbers(2 * TOTAL), memory)):
    try:
        call()
    except drv.Error as error:
        print(type(error).__name__, str(error).replace(hex(int(memory)), "address"))
"""
    lines = run(code)
    assert lines == run(code, "0")
    assert len(lines) >= 2


@software
def test_a_signal_ends_a_copy_in_the_middle():
    """Counterpart: a handler that does not raise ends nothing."""
    code = """
warm()
size = 256 << 20
x, host = gpuarray.zeros(size, np.uint8), np.ones(size, np.uint8)
def raises(*args): raise KeyboardInterrupt
for handler in (raises, lambda *args: None):
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.03)
    def copy():
        try:
            x.set(host)
        except KeyboardInterrupt:
            print("interrupted", end=" ")
    copied = parts(copy)
    print(copied < size // PIECE - 100, (x.get() == 1).all())
"""
    lines = run(code)
    assert lines == ["interrupted True False", "False True"]


# -- processes -------------------------------------------------------------------------


def test_a_forked_child_leaves_the_pieces_alone():
    code = """
import warnings
warnings.simplefilter("ignore")  # of a fork beside threads
warm()
child = os.fork()
if child == 0:
    status = 1
    try:
        drv.release_staging()
    except drv.Error as error:
        status = 0 if "forked" in str(error) else 2
    os._exit(status)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
check(TOTAL)
print(drv.release_staging() > 0)
"""
    lines = run(code)
    assert lines == ["0", "True"]


@software
@pytest.mark.parametrize("ending", ["", "os._exit(0)", "context.detach()"])
def test_the_end_of_a_program(ending):
    """Pieces are no leak, and no thread keeps the program."""
    code = f"""
context = pycuda.autoinit.context
warm()
def work():
    context.push()
    while True: gpuarray.to_gpu(numbers(TOTAL)).get()
if {ending!r} != "context.detach()":
    threading.Thread(target=work, daemon=True).start()
    time.sleep(0.1)
"""
    if ending == "context.detach()":
        code += "drv.release_staging()\n"
        ending = ""
    run(code + ending)


@software
def test_pieces_are_no_leak():
    run("warm()", PYCUDA_CHECK="leak")
