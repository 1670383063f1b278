"""The launches that a context notes, and the errors that list them."""

import gc
import json
import os
import re
import subprocess
import sys
import textwrap
import threading
import types
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from support.faults import fail_calls  # noqa: F401

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

SHAPE = {"block": (32, 1, 1), "grid": (2, 1, 1)}


@pytest.fixture(scope="module")
def mod(module_context):
    return SourceModule("""
        __global__ void put(int *to, int n) { to[threadIdx.x] = n; }
        __global__ void other(int *to) { to[threadIdx.x] = 0; }
    """)


@pytest.fixture(scope="module")
def put(mod):
    return mod.get_function("put")


@pytest.fixture(scope="module")
def memory(module_context):
    return drv.mem_alloc(1024)


def line():
    """Return the number of the line that calls this function."""
    return sys._getframe(1).f_lineno


def newest():
    return drv.recent_launches()[0]


def newest_number():
    return max((launch.number for launch in drv.recent_launches()), default=0)


# -- what is noted ---------------------------------------------------------------------


def test_a_launch_is_noted(put, memory):
    put(memory, np.int32(1), shared=64, **SHAPE); here = line()  # fmt: skip # noqa: E702
    noted = newest()
    assert (noted.name, noted.kind) == ("put", "kernel")
    assert (noted.grid, noted.block, noted.shared) == ((2, 1, 1), (32, 1, 1), 64)
    assert (noted.file, noted.line, noted.stream) == (__file__, here, 0)
    assert noted.function.endswith("test_a_launch_is_noted")


def test_numbers_rise(put, memory):
    for _ in range(3):
        put(memory, np.int32(1), **SHAPE)
    first, second, third = drv.recent_launches()[:3]
    assert first.number > second.number > third.number


def test_the_last_64_are_kept(put, memory):
    for n in range(70):
        put(memory, np.int32(n), **SHAPE)
    noted = drv.recent_launches()
    assert len(noted) == 64
    assert [launch.name for launch in noted] == ["put"] * 64


def test_a_stream_is_noted(put, memory):
    stream = drv.Stream()
    put(memory, np.int32(1), stream=stream, **SHAPE)
    assert newest().stream == stream.handle


def test_every_form_of_call_is_noted(put, memory):
    put.prepare("Pi")
    stream = drv.Stream()
    args = (memory, 1)
    grid, block = (3, 1, 1), (32, 1, 1)
    forms = [
        lambda: put.prepared_call(grid, block, *args),
        lambda: put.prepared_async_call(grid, block, stream, *args),
        lambda: put.prepared_timed_call(grid, block, *args),
        lambda: put(memory, np.int32(1), block=block, grid=grid, time_kernel=True),
        lambda: put(memory, np.int32(1), block=block, grid=grid, cooperative=True),
    ]
    for form in forms:
        before = newest_number()
        form()
        noted = newest()
        assert noted.number > before
        assert (noted.name, noted.grid, noted.file) == ("put", grid, __file__)
        assert noted.function.endswith("<lambda>")


def test_the_calls_of_old_programs_are_noted(mod, memory):
    put = mod.get_function("put")
    put.set_block_shape(32, 1, 1)
    put.param_set_size(12)
    put.param_setv(0, np.uint64(int(memory)).tobytes())
    put.param_seti(8, 1)
    put.launch_grid(4, 1)
    assert (newest().name, newest().grid) == ("put", (4, 1, 1))


def test_operations_of_arrays_have_their_names(module_context):
    x = gpuarray.to_gpu(np.arange(6, dtype=np.float32).reshape(2, 3))
    operations = {
        "add": lambda: x + 1,
        "sin": lambda: np.sin(x),
        "sum": lambda: x.sum(),
        "max": lambda: gpuarray.max(x),
        "indexing": lambda: x[np.array([1, 0])],
        "add.accumulate": lambda: np.cumsum(x),
        "sort": lambda: np.sort(x),
        "concatenate": lambda: np.concatenate([x, x, x]),
    }
    for name, operation in operations.items():
        operation()
        noted = newest()
        assert (noted.kind, noted.name) == ("array", name)
        assert noted.function.endswith("<lambda>"), "not a line of NumPy or the package"
        assert noted.file == __file__


def test_generated_kernels_have_the_name_that_the_program_gives(module_context):
    x = gpuarray.to_gpu(np.ones(5, np.float32))
    kernel = ElementwiseKernel("float *x", "x[i] *= 2", "double_it")
    kernel(x); here = line()  # fmt: skip # noqa: E702
    assert (newest().name, newest().kind) == ("double_it", "kernel")
    assert (newest().file, newest().line) == (__file__, here)


def test_graphs_are_noted_when_they_are_launched(mod, put, memory):
    stream = drv.Stream()
    before = newest_number()
    with stream.capture() as graph:
        put(memory, np.int32(1), stream=stream, **SHAPE)
        mod.get_function("other")(memory, stream=stream, **SHAPE)
    assert newest_number() == before, "captured work does not run"
    run = graph.instantiate()
    run.launch(stream)
    noted = newest()
    assert (noted.kind, noted.name) == ("graph", "put, other")
    assert (noted.grid, noted.block) == (None, None)
    assert (noted.file, noted.stream) == (__file__, stream.handle)
    stream.synchronize()


def test_a_call_from_a_thread_has_the_line_of_the_thread(put, memory, module_context):
    def work():
        module_context.push()
        put(memory, np.int32(1), **SHAPE)
        drv.Context.pop()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert newest().function.endswith("work")


def test_a_file_with_a_name_of_wide_characters(put, memory):
    code = compile(
        "put(memory, one, block=(1, 1, 1))", "/tmp/\u4e2d\U0001f600.py", "exec"
    )
    exec(code, {"put": put, "memory": memory, "one": np.int32(1)})
    assert newest().file == "/tmp/\u4e2d\U0001f600.py"
    assert newest().line == 1


def test_code_is_not_kept(put, memory):
    """A launch needs the line of its code, not the code itself."""
    code = compile("put(memory, one, block=(1, 1, 1))", "<made>", "exec")
    exec(code, {"put": put, "memory": memory, "one": np.int32(1)})
    reference = weakref.ref(code)
    del code
    assert reference() is None
    assert (newest().file, newest().line) == ("<made>", 1)


def test_equal_code_of_other_lines_is_told_apart(put, memory):
    """Code that replace() makes shares its table of lines with the original."""

    def launch():
        put(memory, np.int32(1), **SHAPE)

    launch()
    first = newest().line
    types.FunctionType(
        launch.__code__.replace(co_firstlineno=first + 999),
        globals(),
        closure=launch.__closure__,
    )()
    assert newest().line == first + 1000


def test_a_name_outlives_its_kernel():
    context = drv.Device(0).make_context()
    kernel = SourceModule("__global__ void passing() { }").get_function("passing")
    kernel(block=(1, 1, 1))
    del kernel
    gc.collect()
    assert newest().name == "passing"
    context.pop()


def test_launches_stay_while_much_else_happens(put, memory):
    """The ring passes over the last launches of a context."""
    other = drv.Device(0).make_context()
    SourceModule("__global__ void k() { }").get_function("k")(block=(1, 1, 1))
    other.pop()
    for _ in range(100):
        put(memory, np.int32(1), **SHAPE)
    before = drv.recent_launches()
    pool = drv.DeviceMemoryPool()
    for _ in range(40_000):  # two events each; the ring has 32,768 places
        pool.allocate(64)
    assert drv.recent_launches() == before
    assert len(before) == 64
    other.push()
    assert [launch.name for launch in drv.recent_launches()] == ["k"]
    drv.Context.pop()


def test_without_a_context_there_are_none():
    found = []
    thread = threading.Thread(target=lambda: found.append(drv.recent_launches()))
    thread.start()
    thread.join()
    assert found == [()]


def test_the_error_of_a_call_lists_nothing(put, memory):
    with pytest.raises(drv.LogicError) as caught:
        put(memory, np.int32(1), block=(4096, 1, 1))
    assert caught.value.launches == ()
    assert drv.Error.launches == ()
    assert "pycuda.explain" not in str(caught.value)


# -- errors that come later ------------------------------------------------------------

PROGRAM = """
import json, sys, threading, warnings
import numpy as np
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

drv.init()
context = drv.Device(0).make_context()
mod = SourceModule('''
    __global__ void good(int *to, int n) {{ to[threadIdx.x] = n; }}
    __global__ void bad(int *to, int n) {{ *(int *)(size_t)(16 * n) = n; }}
''')
good, bad = mod.get_function("good"), mod.get_function("bad")
x = drv.mem_alloc(1024)
array = gpuarray.zeros(32, np.float32)
stream, event = drv.Stream(), drv.Event()
one = np.int32(1)
shape = dict(block=(32, 1, 1))

def launch_good(**more):
    good(x, one, **shape, **more)

def launch_bad(**more):
    bad(x, one, **shape, **more)  # the fault

launch_good()
drv.Context.synchronize()
try:
{body}
except drv.Error as error:
    found = [list(launch) for launch in error.launches]
    print(json.dumps([type(error).__name__, error.name, str(error), found]))
else:
    print("no error")
"""


class Program:
    """Run a body in a process of its own: on a GPU, the error ends all its contexts."""

    def __init__(self, folder):
        self.path = folder / "program.py"

    def run(self, body, check=True, **env):
        text = PROGRAM.format(body=textwrap.indent(textwrap.dedent(body), "    "))
        self.path.write_text(text)
        numbers = [
            n for n, row in enumerate(text.splitlines(), 1) if "# the fault" in row
        ]
        self.fault = numbers[-1]
        done = subprocess.run(
            [sys.executable, str(self.path)],
            check=False,
            capture_output=True,
            text=True,
            timeout=100,
            env={**os.environ, **env},
        )
        assert done.returncode == 0, done.stderr
        if not check:
            return done
        assert done.stderr == ""
        kind, name, text, found = json.loads(done.stdout)
        assert kind == "LogicError"
        assert name == "CUDA_ERROR_ILLEGAL_ADDRESS"
        fields = drv.LaunchRecord.__match_args__
        launches = [
            types.SimpleNamespace(**dict(zip(fields, x, strict=True))) for x in found
        ]
        return text, launches

    def is_first(self, launches):
        """Check that the first launch is the bad one, at its line."""
        first = launches[0]
        assert first.name == "bad"
        assert (first.file, first.line) == (str(self.path), self.fault)
        return True


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


WAITS = {
    "context": "drv.Context.synchronize()",
    "stream": "stream.synchronize()",
    "copy": "drv.memcpy_dtoh(np.empty(8, np.int32), x)",
    "launch": "for _ in range(10000): launch_good()",
    "event": "event.record(stream); event.synchronize()",
    "event query": "event.record(stream)\nwhile not event.query(): pass",
    "stream query": "while not stream.is_done(): pass",
    "array": "array.get()",
}


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_the_launch_that_failed_comes_first(program, wait):
    body = f"launch_good()\nlaunch_bad(stream=stream)\narray + 1\n{wait}"
    text, launches = program.run(body)
    assert program.is_first(launches)
    assert launches[0].function == "launch_bad"
    assert launches[0].stream != 0
    assert f"{program.path}:{program.fault} in launch_bad" in text
    assert "1. kernel bad, grid (1, 1, 1), block (32, 1, 1), stream 0x" in text
    is_located = "\n  at kernel.cu:" in text
    assert ("PYCUDA_LAUNCH_BLOCKING=1" in text) != is_located
    assert (f"python -m pycuda.explain {program.path}" in text) != is_located


@pytest.mark.software(why="the checks are those of the software device")
@pytest.mark.parametrize("check, may_go_on", [("memory", False), ("", True)])
def test_a_report_makes_the_advice_needless(program, check, may_go_on):
    """The report has the launch and the line of the source."""
    text, launches = program.run("launch_bad()\narray.get()", PYCUDA_CHECK=check)
    assert program.is_first(launches)
    assert "\n  at kernel.cu:" in text
    assert "pycuda.explain" not in text
    assert "PYCUDA_LAUNCH_BLOCKING" not in text
    assert ("recover_context" in text) == may_go_on


@pytest.mark.software(why="no other driver loses a context on request")
def test_without_a_line_of_the_source_the_error_has_advice(put, memory, fail_calls):  # noqa: F811
    put(memory, np.int32(1), **SHAPE)
    with pytest.raises(drv.LogicError) as caught:
        lose(fail_calls)
    assert "Set PYCUDA_LAUNCH_BLOCKING=1 to get the error" in str(caught.value)
    assert "Run 'python -m pycuda.explain" in str(caught.value)


def test_finished_launches_are_no_suspects(program):
    body = """
    launch_good()
    launch_good(stream=stream)
    stream.synchronize()
    launch_good(stream=stream)
    event.record(stream)
    event.synchronize()
    launch_good()
    drv.memcpy_dtoh(np.empty(8, np.int32), x)
    launch_good()
    array.get()
    for _ in range(3):
        launch_good()
        drv.Context.synchronize()
    launch_bad()
    drv.Context.synchronize()
    """
    _, launches = program.run(body)
    assert program.is_first(launches)
    assert len(launches) == 1


def test_a_kernel_that_was_good_comes_later(program):
    body = """
    launch_bad()
    for _ in range(5):
        try:
            launch_good()
        except drv.Error:
            pass
    drv.Context.synchronize()
    """
    _, launches = program.run(body)
    assert program.is_first(launches)


def test_a_kernel_that_is_new_since_the_last_good_wait_comes_first(program):
    """A later launch of a known kernel in a new shape is less likely."""
    body = """
    launch_bad()
    for _ in range(20):
        launch_good()
    good(x, one, block=(8, 1, 1))
    drv.Context.synchronize()
    """
    _, launches = program.run(body, PYCUDA_EMULATOR_STREAMS="late")
    assert program.is_first(launches)


def test_equal_launches_are_one_line(program):
    """Counterpart: launches in another shape or from another line are another one."""
    body = """
    for other in (stream, None):
        for _ in range(5):
            launch_good(stream=other)
    good(x, one, block=(16, 1, 1))
    good(x, one, block=(32, 1, 1))
    launch_bad(stream=stream)
    drv.Context.synchronize()
    """
    text, launches = program.run(body, PYCUDA_EMULATOR_STREAMS="late")
    rows = re.findall(
        r"^  \d+\. kernel (\w+), .*block \((\d+), 1, 1\)(.*), at", text, re.M
    )
    found = [(name, block, more.split("0x")[0]) for name, block, more in rows]
    assert found[0] == ("bad", "32", ", stream ")
    assert sorted(found[1:]) == [
        ("good", "16", ""),
        ("good", "32", ""),
        ("good", "32", ", several streams, 10 launches"),
    ]
    assert len(launches) == 13


def test_all_errors_of_the_context_have_the_same_launches(program):
    body = """
    launch_bad()
    try:
        drv.Context.synchronize()
    except drv.Error as error:
        first = error
    try:
        drv.mem_alloc(10)
    except drv.Error as error:
        assert error.launches == first.launches
        raise
    """
    _, launches = program.run(body)
    assert program.is_first(launches)


def test_a_graph_is_named(program):
    body = """
    with stream.capture() as graph:
        launch_good(stream=stream)
        launch_bad(stream=stream)
    run = graph.instantiate()
    launch_good()
    run.launch(stream)  # the fault
    stream.synchronize()
    """
    text, launches = program.run(body)
    graph = [launch for launch in launches if launch.kind == "graph"]
    assert [launch.name for launch in graph] == ["good, bad"]
    assert graph[0].line == program.fault
    assert f"graph good, bad, stream {hex(graph[0].stream)}" in text


def test_another_thread_launched(program):
    body = """
    def work():
        context.push()
        launch_bad()
        context.pop()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    drv.Context.synchronize()
    """
    _, launches = program.run(body)
    assert program.is_first(launches)


def test_a_thread_without_the_context_finds_the_launches(program):
    body = """
    errors = []
    def work():
        try:
            while True:
                event.synchronize()
                stream.synchronize()
        except drv.Error as error:
            errors.append(error)
    event.record(stream)
    launch_bad(stream=stream)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    raise errors[0]
    """
    _, launches = program.run(body)
    assert program.is_first(launches)


def test_blocking_launches_fail_themselves(program):
    body = """
    launch_good()
    array + 1
    try:
        launch_bad(stream=stream)
    except drv.Error as error:
        assert len(error.launches) == 1
        assert error.routine == "cuLaunchKernel"
        raise
    raise KeyboardInterrupt
    """
    text, launches = program.run(body, PYCUDA_LAUNCH_BLOCKING="1")
    assert program.is_first(launches)
    assert "The launch that failed:" in text
    assert "PYCUDA_LAUNCH_BLOCKING" not in text


def test_blocking_graphs_fail_themselves(program):
    body = """
    with stream.capture() as graph:
        launch_bad(stream=stream)
    run = graph.instantiate()
    run.launch(stream)  # the fault
    raise KeyboardInterrupt
    """
    _, launches = program.run(body, PYCUDA_LAUNCH_BLOCKING="1")
    assert [(x.kind, x.line) for x in launches] == [("graph", program.fault)]


def test_zero_does_not_block(program):
    body = "launch_bad()\ndrv.Context.synchronize()"
    text, launches = program.run(body, PYCUDA_LAUNCH_BLOCKING="0")
    assert program.is_first(launches)
    assert "An earlier launch failed." in text


def test_a_destructor_reports_the_launches(program):
    """An error that shows first when memory is freed is a warning."""
    body = """
    launch_bad()
    del x
    """
    done = program.run(body, check=False)
    assert "a clean-up operation failed" in done.stderr
    assert f"{program.path}:{program.fault} in launch_bad" in done.stderr
    assert len(re.findall("likeliest first", done.stderr)) == 1


# -- logs ------------------------------------------------------------------------------


def test_the_log_of_the_compiler_is_attached(module_context):
    with pytest.raises(drv.Error) as caught:
        drv.module_from_buffer(b".version 7.0\n.target sm_80\nnonsense\n")
    assert caught.value.jit_log
    assert caught.value.jit_log in str(caught.value)
    assert drv.Error.jit_log == ""


def test_the_driver_says_what_was_wrong(put, memory):
    """Drivers for CUDA 12.9 or newer log the reason of most failed calls."""
    with pytest.raises(drv.Error) as caught:
        drv.mem_alloc(1 << 60)
    log = caught.value.driver_log
    assert isinstance(log, str)
    assert "Returning" not in log and not log.startswith("["), "the reason alone"
    if log and sys.version_info >= (3, 11):
        assert f"The driver's log: {log}" in caught.value.__notes__
    assert drv.Error.driver_log == ""


@pytest.mark.software(why="other drivers have other reasons")
def test_the_log_of_the_software_device(put, memory):
    stream = drv.Stream()
    errors = []
    with pytest.raises(drv.LogicError), stream.capture():
        try:
            drv.Context.synchronize()
        except drv.LogicError as error:
            errors.append(error)
    log = errors[0].driver_log
    assert log == "A stream is being captured, which forbids this call."
    if sys.version_info >= (3, 11):
        assert errors[0].__notes__ == [f"The driver's log: {log}"]


@pytest.mark.software(why="other drivers have other reasons")
def test_a_failure_without_a_reason_has_no_log(fail_calls):  # noqa: F811
    fail_calls("cuMemAlloc", 1, code=1)
    with pytest.raises(drv.LogicError) as caught:
        drv.mem_alloc(64)
    assert caught.value.driver_log == ""
    assert not hasattr(caught.value, "__notes__")


# -- without memory --------------------------------------------------------------------


def lose(device):
    """Let the next wait for the context say that the context is lost."""
    device("cuCtxSynchronize", 1, code=700)
    drv.Context.synchronize()


def test_a_wait_that_succeeds_clears_the_suspects(put, memory, fail_calls):  # noqa: F811
    """A context that was reset works again, and has new suspects."""
    put(memory, np.int32(1), **SHAPE)
    with pytest.raises(drv.LogicError) as first:
        lose(fail_calls)
    assert first.value.launches[0].name == "put"
    drv.Context.synchronize()
    with pytest.raises(drv.LogicError) as second:
        lose(fail_calls)
    assert second.value.launches == ()
    assert "from a copy or fill, or from a launch of another" in str(second.value)
    drv.Context.synchronize()


@pytest.fixture
def last_resort(monkeypatch):
    """Clear errors that Python 3.13 reports but does not raise.

    They are the interpreter's one MemoryError for an empty heap. It would keep the
    frames of the test, and so the kernels.
    """
    kept = []

    def clear(report):
        kept.append(type(report.exc_value))
        report.exc_value.with_traceback(None)

    monkeypatch.setattr(sys, "unraisablehook", clear)
    yield
    assert set(kept) <= {MemoryError}


def test_no_allocation_of_the_text_is_needed(
    put,
    memory,
    fail_calls,  # noqa: F811
    last_resort,
):
    """Each allocation fails once: the error is then a MemoryError of Python."""
    testcapi = pytest.importorskip("_testcapi")
    x = gpuarray.to_gpu(np.ones(5, np.float32))
    errors, number = [], -1
    while not errors or isinstance(errors[-1], MemoryError):
        number += 1
        assert number < 1000
        x += 1
        put(memory, np.int32(1), **SHAPE)
        fail_calls("cuCtxSynchronize", 1, code=700)
        if number > 0:  # the first time, the line gets its number and its text
            testcapi.set_nomemory(number, number + 1)
        try:
            drv.Context.synchronize()
        except Exception as error:  # noqa: BLE001 - its class is tested
            testcapi.remove_mem_hooks()
            errors += [error] * (number > 0)
        else:
            testcapi.remove_mem_hooks()
            errors.append(MemoryError())  # the hook made the call before it fail
        drv.Context.synchronize()
    assert len(errors) > 20
    assert {launch.name for launch in errors[-1].launches} == {"put", "add"}
