"""pycuda.tools, autoinit and SourceModule in a real context, on any device."""

import gc
import subprocess
import sys
import warnings
import weakref

import pytest

from pycuda import driver, tools
from pycuda.compiler import SourceModule
from support.compilers import needs_nvcc

pytestmark = pytest.mark.gpu

KERNEL = "__global__ void one(float *a) { a[threadIdx.x] = 1; }"


def test_device_data_of_the_device(ctx):
    device = ctx.get_device()
    data = tools.DeviceData()
    assert data.max_threads == device.max_threads_per_block
    assert data.warp_size == 32
    assert data.shared_memory <= data.shared_memory_per_mp
    record = tools.OccupancyRecord(data, 128)
    assert 0 < record.occupancy <= 1
    assert vars(tools.DeviceData(device)) == vars(data)


def test_memoized_results_die_with_the_context(ctx):
    calls = []

    class Result:
        def __init__(self):
            self.context = driver.Context.get_current()

    @tools.context_dependent_memoize
    def result():
        calls.append(1)
        return Result()

    try:
        assert result() is result()
        other = ctx.get_device().make_context()
        inner = weakref.ref(result())
        assert len(calls) == 2
        other.pop()
        assert result() is not inner()
        assert len(calls) == 2
        del other
        gc.collect()
        assert inner() is None
    finally:
        tools.context_dependent_memoized_functions.remove(result)
        tools.clear_context_caches()


def test_mark_cuda_test_gives_a_context_of_its_own(ctx):
    seen = []

    @tools.mark_cuda_test
    def test(argument):
        seen.append((argument, driver.Context.get_current() == ctx))

    test(1)
    assert seen == [(1, False)]
    assert driver.Context.get_current() == ctx


def stack():
    """Return this thread's contexts, the current one first."""
    found = []
    while (context := driver.Context.get_current()) is not None:
        driver.Context.pop()
        found.append(context)
    for context in reversed(found):
        context.push()
    return found


LEAVES = {
    "detaches its own": lambda: driver.Context.get_current().detach(),
    "pops its own": lambda: driver.Context.pop(),
    "pops the caller's, too": lambda: (driver.Context.pop(), driver.Context.pop()),
    "pops all": lambda: [driver.Context.pop() for _ in stack()],
    "leaves one more": lambda: driver.Device(0).make_context(),
    "pushes its own again": lambda: stack()[0].push(),
    "pushes the caller's again": lambda: stack()[1].push(),
    "puts another in the caller's place": lambda: (
        LEAVES["pops the caller's, too"](),
        LEAVES["leaves one more"](),
    ),
}


@pytest.mark.parametrize("name", LEAVES)
def test_the_stack_is_what_it_was_before_the_test(ctx, name):
    caller = ctx.get_device().make_context()
    before, changed = stack(), []
    assert before == [caller, ctx]

    @tools.mark_cuda_test
    def test():
        within = stack()
        LEAVES[name]()
        changed.append(stack() != within)

    try:
        test()
        assert changed == [True]
        assert stack() == before
    finally:
        caller.detach()


def test_a_context_that_the_test_ended_does_not_come_back(ctx):
    caller = ctx.get_device().make_context()
    tools.mark_cuda_test(caller.detach)()
    assert stack() == [ctx]


@pytest.mark.parametrize("name", ["detaches its own", "pops its own", "pops all"])
def test_the_error_of_the_test_is_the_one_reported(name):
    def test():
        LEAVES[name]()
        raise KeyError("mine")

    assert stack() == []
    with pytest.raises(KeyError, match="mine"):
        tools.mark_cuda_test(test)()
    assert stack() == []


def test_make_default_context_pushes(ctx, monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "0")
    context = tools.make_default_context()
    try:
        assert driver.Context.get_current() == context
        assert context.get_device() == driver.Device(0)
    finally:
        context.pop()
    assert driver.Context.get_current() == ctx


@needs_nvcc
def test_source_module_loads_and_hits(ctx, monkeypatch, tmp_path):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))
    first = SourceModule(KERNEL)
    assert first.get_function("one") is not None
    with pytest.raises(driver.LogicError):
        first.get_function("two")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # No process may be started now.
        monkeypatch.setattr("pycuda._compile.nvcc._start", None)
        assert SourceModule(KERNEL).get_function("one") is not None


@pytest.mark.parametrize("name", ["autoinit", "autoprimaryctx"])
@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("", 0),
        ("a.context.pop()", 0),
        ("a.context.pop()\na.context = None", 0),
        ("a.context.pop()\ndel a.context", 0),
        ("a.device.make_context()", 0),
        ("a.context.detach()", 0),
        ("raise SystemExit(7)", 7),
    ],
)
def test_automatic_context_ends_silently(ctx, name, more, code):
    source = (
        f"import pycuda.{name} as a\nassert a.context.get_device() == a.device\n{more}"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", code)
