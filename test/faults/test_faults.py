"""Every public entry point, with one failure of each driver call and allocation in it.

FAULTS_ROWS is a pattern that chooses rows of the first two sweeps::

    FAULTS_ROWS="gpuarray: nansum$" make test ARGS="test/faults -k fails_once"

The sweeps run in their own processes on the software device. So a crash is a failure of
one test, and a machine with a GPU runs them too.
"""

import inspect
import json
import os
import re
import signal
import sys
import sysconfig
import textwrap

import pytest

from faults import rows, rows_broken, walk  # noqa: F401
from faults.row import ROWS
from support import cc
from support.child import run_child

HERE = cc.ROOT / "test" / "faults"
#: CPython 3.13 crashes if there is no memory for a generator; a test below shows it.
NEEDS_GENERATORS = sys.version_info[:2] == (3, 13)


def run_sweep(kind, table, *names, path="", variables=()):
    environment = {
        **os.environ,
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_EMULATOR_DEVICES": "2",
        # NumPy and SciPy lose exceptions when they find no memory.
        "PYCUDA_BLAS": "generated",
        "PYCUDA_FFT": "generated",
        "PYCUDA_SOLVER": "generated",
        "PYTHONPATH": os.pathsep.join(
            [str(path), str(HERE.parent), os.environ.get("PYTHONPATH", str(cc.ROOT))]
        ),
        **dict(variables),
    }
    environment.pop("PYCUDA_COMPILER", None)  # the rows of compilers name a program
    command = [sys.executable, "-X", "faulthandler", "-m", "faults.sweep"]
    return cc.run([*command, kind, table, *names], env=environment, timeout=1800)


def sweep(*words, **options):
    """Return the lines of a sweep by name. Fail if the sweep did not finish."""
    done = run_sweep(*words, **options)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.stderr)
    return {line["name"]: line for line in lines}


def chosen():
    """Return the names of the rows that FAULTS_ROWS chooses, none if it is not set."""
    pattern = os.environ.get("FAULTS_ROWS")
    if not pattern:
        return []
    names = [name for name in ROWS if re.search(pattern, name)]
    assert names, f"FAULTS_ROWS={pattern} is in the name of no row"
    return [name for name in names if name not in rows_broken.ALL]


def problems(lines):
    return [f"{n}: {what}" for n, line in lines.items() for what in line["problems"]]


@pytest.fixture(scope="module")
def nomemory(tmp_path_factory):
    """The folder of the module that lets Python's allocations fail."""
    if not cc.compilers():
        pytest.skip("neither gcc nor clang is installed")
    folder = tmp_path_factory.mktemp("nomemory")
    flags = ["-std=c11", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    include = ["-isystem", sysconfig.get_paths()["include"]]
    cc.must(
        cc.compile_c(
            cc.compilers()[0],
            [HERE / "nomemory.c"],
            folder / "faults_nomemory.so",
            [*flags, *include, "-ldl"],
        )
    )
    return folder


def test_every_entry_point_has_a_row():
    """If this fails, add a row to test/faults/rows_*.py, which is one line for most."""
    there = {name for row in ROWS.values() for name in (row.name, *row.also)}
    points = walk.entry_points()
    assert [name for name in points if name not in there] == []
    assert len(points) > 280


def test_the_walk_sees_what_is_new():
    class Module:
        def added(self):
            """A new class and a new function."""

        @property
        def also_added(self):
            return 1

    Module.__module__ = "pycuda.driver"
    module = type(sys)("somewhere")
    module.Module, module.walk = Module, walk.members
    Module.__init__ = lambda self: None
    assert sorted(walk.of_module(module)) == [
        "Module",
        "Module.added",
        "Module.also_added",
    ]


def test_a_pattern_chooses_rows(monkeypatch):
    monkeypatch.delenv("FAULTS_ROWS", raising=False)
    assert chosen() == []
    monkeypatch.setenv("FAULTS_ROWS", "gpuarray: nanstd$")
    assert chosen() == ["pycuda.gpuarray: nanstd"]
    monkeypatch.setenv("FAULTS_ROWS", "gpuarray: nonsense")
    with pytest.raises(AssertionError, match="nonsense is in the name of no row"):
        chosen()


def test_each_driver_call_fails_once(capsys):
    names = chosen()
    lines = sweep("calls", "faults.rows", *names)
    assert problems(lines) == []
    if names:
        return
    assert set(lines) == set(ROWS) - set(rows_broken.ALL)
    pairs = sum(line["count"] for line in lines.values())
    with capsys.disabled():
        codes = os.environ.get("FAULTS_CODES", "1 2 100 701 999")
        print(f"\n{pairs} pairs of entry point and driver call failed with {codes}")
    assert pairs > 350


#: Entry points whose calls the checks ``sync`` and ``leak`` observe begin with these.
CHECKED = (
    *("Context", "Stream", "Event", "GraphExec", "Function", "memcpy_", "memset_"),
    *("mem_alloc", "pagelocked_", "managed_", "register_host_memory", "HostAllocation"),
    *("RegisteredHostMemory", "ManagedAllocation", "DeviceAllocation", "MemoryPool"),
)


#: Rows that work in another way under the checks, which let work run late.
OTHERWISE = {
    "Function.__call__ (another type)": "the argument is an error, not a warning",
    "StreamAllocation of two streams dropped (captured)": "an event stays until the "
    "context ends, and is then destroyed while no context is current",
}


def test_each_driver_call_fails_once_with_all_checks():
    """A call that fails leaves nothing in the checks that a later call could meet."""
    names = [n for n in ROWS if n.startswith(CHECKED) and n not in OTHERWISE]
    lines = sweep("calls", "faults.rows", *names, variables={"PYCUDA_CHECK": "all"})
    assert problems(lines) == []
    assert set(lines) == set(names)
    assert sum(line["count"] for line in lines.values()) > 150


@pytest.mark.skipif(NEEDS_GENERATORS, reason="CPython 3.13 itself crashes in it")
def test_each_allocation_fails_once(nomemory, capsys):
    names = chosen()
    lines = sweep("allocations", "faults.rows", *names, path=nomemory)
    assert problems(lines) == []
    if names:
        return
    assert set(lines) == set(ROWS) - set(rows_broken.ALL)
    pairs = sum(line["count"] for line in lines.values())
    with capsys.disabled():
        print(f"\n{pairs} pairs of entry point and allocation failed")
    assert pairs > 2000


@pytest.mark.parametrize(
    "call, make, release",
    [
        ("cuMemFree", "drv.mem_alloc(64)", "free"),
        ("cuMemFreeHost", "drv.pagelocked_empty(4, 'f4').base", "free"),
        ("cuCtxDestroy", "drv.Device(0).make_context()", "detach"),
    ],
)
def test_a_release_that_failed_can_be_tried_again(call, make, release):
    code = f"""
    import gc
    import pycuda.driver as drv
    drv.init()
    context = drv.Device(0).make_context()
    thing = {make}
    before = drv.Context.get_current()
    for left in (1, 0):
        try:
            thing.{release}()
        except drv.Error as error:
            print(error.routine, error.code, left)
            assert drv.Context.get_current() is before
    try:
        thing.{release}()
    except drv.LogicError as error:
        print("released", error.code in (201, 400))
    context.detach()
    """
    done = run_child(
        code, PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_FAULT=f"{call}:1:999"
    )
    assert done.stdout.splitlines() == [f"{call} 999 1", "released True"]


def test_the_sweep_of_calls_finds_what_is_wrong():
    lines = sweep("calls", "faults.rows_broken", *rows_broken.FOUND_BY_CALLS)
    for name, words in rows_broken.FOUND_BY_CALLS.items():
        assert any(words in what for what in lines[name]["problems"]), lines[name]


def test_the_sweep_of_allocations_finds_what_is_wrong(nomemory):
    names = rows_broken.FOUND_BY_ALLOCATIONS
    lines = sweep("allocations", "faults.rows_broken", *names, path=nomemory)
    for name, words in names.items():
        assert any(words in what for what in lines[name]["problems"]), lines[name]


def test_what_is_lost_without_memory_is_seen(nomemory):
    if "detect_leaks=1" not in os.environ.get("ASAN_OPTIONS", ""):
        pytest.skip("only tools/sanitize.py leaks looks for leaks")
    for name, words in rows_broken.FOUND_BY_LEAKS.items():
        done = run_sweep("allocations", "faults.rows_broken", name, path=nomemory)
        assert done.returncode != 0
        assert "LeakSanitizer" in done.stderr
        assert words in done.stderr


def test_cells_are_spared_where_the_interpreter_needs_it(nomemory):
    """Test what nomemory.c says about CPython, without the package."""
    code = """
    import gc, weakref
    import faults_nomemory as nomemory

    class Argument:
        pass

    def with_a_cell(argument):
        return lambda: argument

    for spares in (True, False):
        nomemory.spare_cells(spares)
        argument = Argument()
        reference = weakref.ref(argument)
        nomemory.arm(1)
        try:
            with_a_cell(argument)
        except MemoryError:
            pass
        nomemory.disarm()
        del argument
        gc.collect()
        print(nomemory.spared(), reference() is not None)
    """
    path = os.pathsep.join([str(nomemory), os.environ.get("PYTHONPATH", str(cc.ROOT))])
    # the second time, CPython loses it
    done = run_child(code, PYTHONPATH=path, ASAN_OPTIONS="detect_leaks=0")
    is_wrong = (3, 11) <= sys.version_info < (3, 13)
    assert done.stdout.split() == [str(is_wrong), "False", "False", str(is_wrong)]


def has_other(numbers):
    pairs = zip(numbers, numbers, strict=False)
    return any(a != b for a, b in pairs)


def has_pairs(numbers):
    return sorted(dict.fromkeys(numbers).items())


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(
            has_other,  # the sweep of allocations cannot pass there
            marks=pytest.mark.skipif(not NEEDS_GENERATORS, reason="is about 3.13"),
        ),
        pytest.param(
            has_pairs,  # the reason for own_allocations in rows_gpuarray.py
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 14), reason="was tried in earlier versions"
            ),
        ),
    ],
)
def test_the_interpreter_crashes_without_memory(function, nomemory):
    """Test CPython without the package."""
    code = f"""
    import gc
    import faults_nomemory as nomemory

    {textwrap.indent(inspect.getsource(function), "    ").strip()}

    call = {function.__name__}
    call([1.5]), call([2.5])
    for number in range(1, 100):
        gc.collect()  # empties the interpreter's lists of free objects
        nomemory.arm(number)
        try:
            call([1.5, 2.5])
        except MemoryError:
            pass
        nomemory.disarm()
    """
    environment = {**os.environ, "PYTHONPATH": str(nomemory)}
    environment["ASAN_OPTIONS"] = "handle_segv=0"
    done = cc.run([sys.executable, "-c", textwrap.dedent(code)], env=environment)
    assert done.returncode == -signal.SIGSEGV
