"""Fused functions whose steps are launched as a CUDA graph."""

import gc
import sys
import threading

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.fuse
from pycuda import gpuarray
from pycuda.fuse import _steps
from pycuda.gpuarray import to_gpu
from support.faults import fail_calls

__all__ = ["fail_calls"]  # a fixture


@pytest.fixture(autouse=True)
def on_the_device(monkeypatch):
    """Let kernels compute, also on the software device: NumPy cannot be captured."""
    for name in ("PYCUDA_BLAS", "PYCUDA_FFT", "PYCUDA_SOLVER"):
        monkeypatch.setenv(name, "generated")


def descend(x, w):
    """Products and kernels in turn."""
    for _ in range(3):
        errors = 1 / (1 + np.exp(-(x @ w))) - 0.5
        w = w - 0.1 * (errors @ x)
    return w


def chain(x):
    """Kernels that cannot be one."""
    for _ in range(3):
        x = np.cumsum(x * 0.5) + 1
    return x


def arguments(seed=0):
    rng = np.random.default_rng(seed)
    return to_gpu(rng.random((20, 30), "f4")), to_gpu(rng.random(30, "f4"))


def run_of(function):
    """The only run of a fused function in this context."""
    (made,) = function._of_context().values()
    return made.steps


def same(a, b):
    return a.get().tobytes() == b.get().tobytes()


def test_equal_calls_launch_a_graph(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    expected = descend(x, w)
    kept = [function(x, w) for _ in range(6)]
    assert all(same(result, expected) for result in kept)
    assert len({result.ptr for result in kept}) == 6
    result = None
    for _ in range(6):
        result = function(x, w)
    assert same(result, expected)
    assert run_of(function).graph_launches > 0


def test_a_graph_reads_what_its_arrays_have_now(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    out = gpuarray.empty_like(w)
    for k in range(5):
        w.set(np.full(30, k, "f4"))
        function(x, w, out=out)
        assert same(out, descend(x, w))
    run = run_of(function)
    assert (run.graphs, run.graph_launches) == (1, 3)


def test_results_go_back_into_the_function(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    expected = w
    for _ in range(20):
        w, expected = function(x, w), descend(x, expected)
    assert same(w, expected)
    assert run_of(function).graph_launches > 5


def test_a_result_that_a_plain_function_makes(ctx):
    function = pycuda.fuse.fuse(lambda x, w: (x @ (w + 1), w * 2))
    x, w = arguments()
    expected = x @ (w + 1)
    results = [function(x, w)[0] for _ in range(4)]
    assert run_of(function).graphs > 0
    assert all(same(each, expected) for each in results)
    results[-1].fill(0)
    assert same(results[-2], expected)


def test_arguments_change_in_place(ctx):
    @pycuda.fuse.fuse
    def function(x, w):
        w += (x @ w).sum()
        w *= 0.5
        return x @ w

    x, w = arguments()
    other = w.copy()
    for _ in range(5):
        assert same(function(x, w), function.__wrapped__(x, other))
    assert same(w, other)
    assert run_of(function).graphs > 0


def test_few_kernels_need_no_graph(ctx):
    function = pycuda.fuse.fuse(lambda x: x * 2 + 1)
    x = to_gpu(np.ones(5, "f4"))
    for _ in range(4):
        function(x)
    assert run_of(function).graphs == 0


def test_a_graph_does_not_keep_its_arguments(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    result = None
    for _ in range(4):
        result = function(x, w)
    assert run_of(function).graphs > 0
    known = [drv.mem_get_info()[0] for _ in range(1)]
    big = to_gpu(np.ones((1 << 18, 30), "f4"))
    for _ in range(4):
        result = function(big, w)
    used = known[0] - drv.mem_get_info()[0]
    assert used > big.nbytes
    size = big.nbytes
    del big, result
    gc.collect()
    assert known[0] - drv.mem_get_info()[0] <= used - size


def test_the_arrays_of_a_graph_may_be_freed_and_made_again(ctx):
    function = pycuda.fuse.fuse(descend)
    for k in range(30):
        x, w = arguments(k)
        assert same(function(x, w), descend(x, w))
        x.gpudata.free()
        del x, w


def test_captures_end_if_addresses_never_come_again(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    kept = [(w.copy(), function(x, w)) for _ in range(3)]
    for _ in range(60):
        other = w.copy()
        kept.append((other, function(x, other)))
    assert all(same(result, kept[0][1]) for _, result in kept)
    assert run_of(function).graphs <= 20


def waits(x):
    return to_gpu(x.get())


waits.__module__ = "pycuda.linalg"  # such a function counts as one that repeats


def test_a_function_that_waits_is_not_captured(ctx):
    function = pycuda.fuse.fuse(lambda x: pycuda.fuse.call(waits, x * 2) + 1)
    x = to_gpu(np.arange(5.0))
    for _ in range(5):
        assert function(x).get().tolist() == [1, 3, 5, 7, 9]
    assert run_of(function).graphs == 1  # the failed one
    assert not drv.Stream.get_current() or not drv.Stream.get_current().is_capturing


def test_an_unknown_function_runs_in_each_call(ctx):
    calls = []

    def count(x):
        calls.append(1)
        return x + len(calls)

    function = pycuda.fuse.fuse(lambda x: pycuda.fuse.call(count, x * 2) + 1)
    x = to_gpu(np.zeros(3))
    results = [function(x).get()[0] for _ in range(5)]
    assert results == sorted(set(results))
    assert run_of(function).graphs == 0


def test_numpy_products_are_not_captured(ctx, monkeypatch):
    monkeypatch.setattr(_steps.host, "may_compute", lambda: True)
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    for _ in range(4):
        function(x, w)
    assert run_of(function).graphs == 0


def test_a_capture_of_the_program_has_the_steps(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    out = gpuarray.empty_like(w)
    for _ in range(3):
        function(x, w, out=out)
    graphs = run_of(function).graphs
    stream = drv.Stream()
    with stream.capture() as graph:
        function(x, w, out=out)
    w.set(np.full(30, 2, "f4"))
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert same(out, descend(x, w))
    assert run_of(function).graphs == graphs


def test_streams(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    expected = descend(x, w)
    streams = [drv.Stream() for _ in range(3)]
    drv.Context.synchronize()
    for _ in range(5):
        results = [function(x, w, stream=stream) for stream in streams]
        drv.Context.synchronize()
        assert all(same(result, expected) for result in results)
    assert run_of(function).graph_launches > 0


def test_threads(ctx):
    function = pycuda.fuse.fuse(chain)
    x = to_gpu(np.arange(100, dtype="f4"))
    expected = chain(x)
    wrong = []

    def work():
        ctx.push()
        try:
            for _ in range(30):
                if not same(function(x), expected):
                    wrong.append(1)
        except BaseException as error:
            wrong.append(error)
        finally:
            ctx.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert run_of(function).graph_launches > 0


def test_donated_arrays(ctx):
    function = pycuda.fuse.fuse(descend, donate=("w",))
    x, w = arguments()
    expected = w.copy()
    for _ in range(10):
        w, expected = function(x, w), descend(x, expected)
    assert same(w, expected)
    assert run_of(function).graph_launches > 0


def test_loops_of_the_host(ctx):
    def body(x):
        return np.sort(x * 2 + 1) - 3

    function = pycuda.fuse.fuse(lambda x: pycuda.fuse.loop(5, body, x + 1) * 2)
    x = to_gpu(np.arange(9.0)[::-1].copy())
    expected = x + 1
    for _ in range(5):
        expected = body(expected)
    for _ in range(4):
        assert same(function(x), expected * 2)


def test_a_graph_ends_with_its_function(ctx):
    def count():
        return sum(type(each) is drv.GraphExec for each in gc.get_objects())

    gc.collect()
    before = count()
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    for _ in range(4):
        function(x, w)
    gc.collect()
    during = count()
    del function
    gc.collect()
    assert during > before
    assert count() == before


def test_no_reference_is_lost(ctx):
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    out = gpuarray.empty_like(w)
    for _ in range(3):
        function(x, w, out=out)
    before = [sys.getrefcount(each) for each in (x, w, out)]
    for _ in range(10):
        function(x, w, out=out)
    assert [sys.getrefcount(each) for each in (x, w, out)] == before


@pytest.mark.parametrize(
    "view",
    [lambda x: x[::2], lambda x: x[::-1], lambda x: x.T, lambda x: x[:, 1:5]],
    ids=["steps", "reversed", "transposed", "columns"],
)
def test_views_of_small_arrays(ctx, view):
    def plain(x):
        return np.cumsum(x, axis=0) + np.sum(x) * 2

    function = pycuda.fuse.fuse(plain)
    for k in range(6):
        x = to_gpu(np.random.default_rng(k).random((8, 8)))
        assert same(function(view(x)), plain(view(x)))
    assert run_of(function).graph_launches == 4


def test_the_last_call_of_a_copied_argument_counts(ctx):
    """A graph that copied only once would return the first result again."""
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    seen = [function(x, w * k).get().tobytes() for k in range(6)]
    assert len(set(seen)) == 6


@pytest.mark.parametrize(
    "name", ["cuGraphExecMemcpyNodeSetParams", "cuGraphExecKernelNodeSetParams"]
)
def test_an_address_that_was_refused_is_set_again(ctx, fail_calls, name):  # noqa: F811
    """A graph that took it for set would read the array of an earlier call."""
    function = pycuda.fuse.fuse(descend)
    x, w = arguments()
    for _ in range(3):
        function(x, w)
    kept, moved = w.copy(), w * 3
    fail_calls(name, 1)
    with pytest.raises(drv.Error, match=name):
        function(x, moved)
    assert same(function(x, moved), descend(x, moved))
    assert same(function(x, kept), descend(x, kept))
