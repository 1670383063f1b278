"""Calls of functions under pycuda.fuse: what they cost, and where they work."""

import functools
import gc
import os
import sys
import threading

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.fuse
from pycuda import _driver, fuse, gpuarray
from pycuda._array.kernels import compilation
from pycuda.fuse import _code, _group as group, _launch, _steps, _trace
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.tools import DeviceMemoryPool
from support.arrays import same
from support.child import run_child

pytestmark = pytest.mark.gpu


def _array(*shape, dtype=np.float32):
    return to_gpu(np.random.default_rng(3).random(shape).astype(dtype))


def _events(function, *args, **kwargs):
    """Return how many functions of Python, or of C from Python, a call runs."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        function(*args, **kwargs)
    finally:
        sys.setprofile(None)
    return count - 1  # sys.setprofile


# -- a warm call -----------------------------------------------------------------------


@pycuda.fuse
def scaled(x, factor=2, name=None):
    return x * factor + 1, x - factor


@pycuda.fuse
def in_steps(x):
    y = np.exp(np.sin(x)) + np.cos(x)
    return y[:-2] + y[1:-1] + y[2:]


@pytest.mark.parametrize(
    ("function", "rest"),
    [
        (scaled, ()),
        (scaled, (3,)),
        (scaled, (1.5, None)),
        (scaled, (True, "name")),
        (in_steps, ()),
        (fuse.fuse(lambda x: x[1:]), ()),
    ],
)
def test_a_warm_call_runs_in_c(ctx, function, rest):
    x = _array(30)
    want = function.__wrapped__(x, *rest)
    assert _events(function, x, *rest) > 100  # records
    got = function(x, *rest)
    assert _events(function, x, *rest) <= 1 + 10 * isinstance(want, GPUArray)
    for ours, plain in zip(
        got if isinstance(got, tuple) else [got],
        want if isinstance(want, tuple) else [want],
        strict=True,
    ):
        same(ours, plain.get())


def test_a_call_with_keywords_runs_in_python(ctx):
    x = _array(30)
    scaled(x, 3)
    assert _events(scaled, x, 3) == 0
    assert _events(scaled, x, factor=3) > 10


def test_arguments_of_another_key_are_not_those_of_the_last_call(ctx):
    whole = _array(64)
    seen = []

    def plain(x, factor):
        return x * factor

    function = fuse.fuse(plain)
    arguments = [
        (whole[:16], 2),
        (whole[:16], 2.0),
        (whole[:16], -0.0),
        (whole[:16], 0.0),
        (whole[:16], True),
        (whole[:15], 2),
        (whole[:32:2], 2),
        (whole[15::-1], 2),
        (whole[:16].reshape(4, 4), 2),
        (whole[:16].reshape(4, 4).T, 2),
        (whole[:16].astype(np.float16), 2),
        (whole[:16].view(np.int32), 2),
        (whole[1:17], 2),
        (whole[:16] > 0.5, 2),
        (whole[:16].astype(np.float64) > 0.5, 2),
    ]
    for _ in range(3):
        for each in arguments:
            ours, want = function(*each), plain(*each)
            assert ours.dtype == want.dtype
            assert ours.strides == want.strides
            np.testing.assert_array_equal(ours.get(), want.get())
            seen.append(function.specialisations)
    assert seen[len(arguments) - 1] == len(arguments)
    assert seen[-1] == len(arguments)


def test_an_axis_of_length_1_keeps_its_stride(ctx):
    def plain(x):
        y = np.sqrt(x)
        return y[None], y[:, None] + 1

    function = fuse.fuse(plain)
    x = _array(5)
    for _ in range(2):
        for ours, want in zip(function(x), plain(x), strict=True):
            assert ours.strides == want.strides
            same(ours, want.get())


def test_equal_dtypes_have_one_key(ctx):
    x = _array(8)
    function = fuse.fuse(lambda x: x + 1)
    function(x)
    other = GPUArray((8,), np.dtype([("a", np.float32)])["a"].newbyteorder("="))
    other[...] = x
    same(function(other), x.get() + 1)
    assert function.specialisations == 1


def test_a_result_has_the_allocator_of_the_first_array(ctx):
    pool = DeviceMemoryPool()
    x = to_gpu(np.ones(5, np.float32), allocator=pool.allocate)
    function = fuse.fuse(lambda x, y: x + y)
    for _ in range(2):
        assert function(x, _array(5)).allocator == pool.allocate
    assert function(_array(5), x).allocator is drv.mem_alloc
    del x
    pool.stop_holding()


def test_results_in_given_arrays(ctx):
    function = fuse.fuse(lambda x, n: x[::-1] * n)
    x = _array(8)
    want = x.get()[::-1] * 2
    function(x, 2)
    out = gpuarray.zeros(8, np.float32)
    assert _events(function, x, 2, out=out) == 0
    same(out, want)
    whole = gpuarray.zeros(18, np.float64)
    others = [whole[1:9], whole[::2][1:], whole[:8].astype(np.float32)[::-1]]
    for other in others:  # of another layout: the result is copied
        assert function(x, 2, out=other) is other
        np.testing.assert_array_equal(other.get(), want)
    with pytest.raises(ValueError):
        function(x, 2, out=gpuarray.zeros(7, np.float32))
    with pytest.raises(ValueError):
        function(x, 2, out=(out, out))
    function(x, 2, out=x)  # overlaps the argument
    same(x, want)


def test_several_results_in_given_arrays(ctx):
    function = fuse.fuse(lambda x: (x * 2, x[::-1] + 1))
    x = _array(8)
    want = [each.get() for each in function(x)]
    outs = tuple(gpuarray.zeros(8, np.float32) for _ in range(2))
    for _ in range(2):
        assert function(x, out=outs) == outs
        for ours, plain in zip(outs, want, strict=True):
            same(ours, plain)
    function(x, out=(outs[0], outs[0][:]))  # which overlap: the last one is written
    same(outs[0], want[1])


def test_donated_arrays_in_a_warm_call(ctx):
    @fuse.fuse(donate=("u", "v"))
    def step(u, c, v):
        return 2 * u - v + c, u * c

    x, y, c = _array(9), _array(9) * 2, _array(9) * 3
    for each in (True, False):
        u, v, seen = x.copy(), y.copy(), set()
        for _ in range(6):
            u, v = step(u, c, v) if each else step.__wrapped__(u, c, v)
            seen |= {u.ptr, v.ptr}
        if each:
            ours = u.get(), v.get()
            assert len(seen) == 4
    np.testing.assert_array_equal(ours[0], u.get())
    np.testing.assert_array_equal(ours[1], v.get())
    assert _events(step, u, c, v) == 0


def test_donated_arrays_of_another_stream_are_not_used(ctx):
    step = fuse.fuse(lambda u: u * 2, donate="u")
    stream, u, v = drv.Stream(), _array(9), _array(9)
    step(u)
    assert step(v, stream=stream).ptr != u.ptr
    stream.synchronize()


def test_an_error_in_a_warm_call_leaves_nothing(ctx):
    function = fuse.fuse(lambda x: (x * 2, x + 1))
    x = _array(8)
    function(x)
    x.gpudata.free()
    with pytest.raises(drv.LogicError):
        function(x)
    same(function(_array(8))[1], _array(8).get() + 1)


def test_memory_that_cannot_be_had(ctx):
    calls = []

    def allocate(size):
        if len(calls) == 3:
            raise MemoryError
        calls.append(size)
        return drv.mem_alloc(size)

    x = to_gpu(np.ones(8, np.float32), allocator=allocate)
    function = fuse.fuse(lambda x: (x * 2, x[::-1] + 1))
    function(x)
    with pytest.raises(MemoryError):
        function(x)
    calls.clear()
    same(function(x)[0], np.full(8, 2, np.float32))


def test_arguments_that_overlap_in_a_warm_call(ctx):
    def plain(u, v):
        u += v

    function = fuse.fuse(plain)
    x, y = _array(16), _array(16)
    for fused, each in ((function, x), (plain, y)):
        fused(each[:5], each[8:13])
        fused(each[:5], each[8:13])
        fused(each[4:9], each[8:13])
    same(x, y.get())


# -- the first call --------------------------------------------------------------------


def _chain(n):
    def function(x, y):
        z = x
        for k in range(n // 5):
            z = np.where(z > 0.5, np.sin(z) * y, z + k)
        z[1:] = z[:-1] * 2
        for k in range(n // 5):
            z += y * k
            z[...] = z * 2
        return z

    return function


def _work(n):
    """Return the events of recording, planning and writing."""
    x = _array(100)
    fuse.fuse(_chain(5)).source(x, x)  # imports
    return _events(fuse.fuse(_chain(n)).source, x, x)


def test_recording_and_planning_take_time_that_is_linear(ctx):
    few, many = _work(100), _work(200)
    assert many < 2.4 * few
    assert many < 200 * 2 * 250


def test_the_check_of_linear_time_finds_sums_over_all_operations(ctx, monkeypatch):
    plain = group.Plan._must_store

    def slow(self, number):
        sum(len(self.statements) > k for k in range(number))
        return plain(self, number)

    monkeypatch.setattr(group.Plan, "_must_store", slow)
    assert _work(200) > 2.4 * _work(100)


def test_sizes_share_a_kernel(ctx, monkeypatch):
    monkeypatch.setattr(_code, "WORDS_FROM", 1000)
    texts = []
    compile_texts = _steps.compile_texts

    def note(sources):
        texts.extend(sources)
        return compile_texts(sources)

    monkeypatch.setattr(_steps, "compile_texts", note)

    @pycuda.fuse
    def function(x, y):
        return np.sqrt(x) * 2 + y

    for size in range(100, 2100, 100):
        x, y = _array(size), _array(size)
        same(function(x, y), function.__wrapped__(x, y).get())
    assert function.specialisations == 20
    assert len(texts) == 2  # one loads whole words
    function(_array(3, 5), _array(5))
    assert len(texts) == 3


def test_kernels_end_with_the_last_specialisation(ctx, monkeypatch):
    monkeypatch.setattr(_launch, "MOST_SPECIALISATIONS", 2)
    function = fuse.fuse(lambda x, n: x * 2 if n < 5 else x + n)
    x = _array(5)
    function(x, 0)
    gc.collect()
    modules = _driver._live_counts()["module"]
    function(x, 6)
    assert _driver._live_counts()["module"] == modules + 1
    function(x, 7)
    result = function(x, 8)
    gc.collect()
    assert _driver._live_counts()["module"] == modules  # only x + n is left
    same(result, x.get() + 8)
    same(function(x, 0), x.get() * 2)
    del function
    gc.collect()
    assert _driver._live_counts()["module"] == modules - 1


def test_a_kernel_ends_after_its_work(ctx):
    x, stream = _array(100_000), drv.Stream()
    function = fuse.fuse(lambda x: np.sin(x) * 2)
    want = function.__wrapped__(x).get()
    result = function(x, stream=stream)
    del function
    gc.collect()
    stream.synchronize()
    same(result, want)


def test_the_specialisations_used_last_are_kept(ctx, monkeypatch):
    monkeypatch.setattr(_launch, "MOST_SPECIALISATIONS", 3)
    function = fuse.fuse(lambda x, n: x + n)
    x = _array(5)
    for n in (1, 2, 3, 1, 4, 1, 5, 1):
        function(x, n)
    assert function.specialisations == 5


def test_more_specialisations_are_kept_if_they_are_needed_again(ctx, monkeypatch):
    monkeypatch.setattr(_launch, "MOST_SPECIALISATIONS", 3)
    x, counts = _array(5), []
    function = fuse.fuse(lambda x, n: x + n)
    for _ in range(4):
        for n in range(10):
            function(x, n)
        counts.append(function.specialisations)
    assert counts[1] < 20
    assert counts[1] == counts[2] == counts[3]
    others = fuse.fuse(lambda x, n: x + n)
    for _ in range(3):  # more than 16 times 3
        for n in range(60):
            others(x, n)
    assert others.specialisations == 180
    assert len(others._last()) == 48


def _compiled(folder):
    """Return the times at which the files of a compile cache were written."""
    files = [*folder.rglob("*.ptx"), *folder.rglob("*.cubin")]
    return sorted(each.stat().st_mtime_ns for each in files)


def test_a_second_process_compiles_nothing(ctx, tmp_path):
    program = """
        import numpy as np
        import pycuda.autoinit
        import pycuda.fuse
        from pycuda.gpuarray import to_gpu

        function = pycuda.fuse.fuse(lambda x: np.sqrt(x) * 2 + 1)
        print(function(to_gpu(np.ones(3, np.float32))).get()[0])
    """
    folder = {"PYCUDA_CACHE_DIR": str(tmp_path)}
    assert run_child(program, **folder).stdout == "3.0\n"
    entries = _compiled(tmp_path)
    assert run_child(program, **folder).stdout == "3.0\n"
    assert entries == _compiled(tmp_path)
    assert entries


# -- captures --------------------------------------------------------------------------


def _with_calls(x):
    y = np.exp(np.sin(x)) + np.cos(x)
    z = y[:-2] + y[1:-1] + y[2:]
    z = z * z.max()
    return np.sort(z) + 1


@pytest.mark.parametrize("plain", [_with_calls, in_steps.__wrapped__, lambda x: x + 1])
@pytest.mark.parametrize("in_pool", [False, True])
@pytest.mark.parametrize("is_warm", [False, True])
def test_a_call_in_a_capture(ctx, plain, in_pool, is_warm):
    pool = DeviceMemoryPool() if in_pool else None
    start = np.random.default_rng(5).random(40).astype(np.float32)
    x = to_gpu(start, allocator=pool.allocate if in_pool else None)
    function, stream = fuse.fuse(plain), drv.Stream()
    if is_warm:
        function(x)
    with stream.capture() as graph, stream:
        result = function(x)
    executable = graph.instantiate()
    for factor in (1, 3):
        x.set(start * np.float32(factor))
        executable.launch(stream)
        stream.synchronize()
        same(result, plain(x).get())
    assert function.specialisations == 1
    del executable, graph, result, x


def test_recording_in_a_capture_adds_nothing_to_the_graph(ctx):
    x, counts = _array(40), []
    for is_warm in (True, False):
        function, stream = fuse.fuse(_with_calls), drv.Stream()
        if is_warm:
            function(x)
        with stream.capture() as graph, stream:
            function(x)
        counts.append(len(graph.nodes))
    assert counts[0] == counts[1]


# -- contexts and threads --------------------------------------------------------------


def test_two_contexts_in_turn(ctx):
    function = fuse.fuse(lambda x: x * 2 + 1)
    other = drv.Device(0).make_context()
    try:
        y = _array(7)
        drv.Context.pop()
        x = _array(7)
        for _ in range(3):
            same(function(x), x.get() * 2 + 1)
            other.push()
            same(function(y), y.get() * 2 + 1)
            drv.Context.pop()
        assert function.specialisations == 2
        other.push()
        del y
    finally:
        other.pop()
        other.detach()


def test_threads_that_call_first_at_once(ctx):
    x = _array(50)
    texts, results, faults = [], [], []
    recorded = threading.Barrier(8)

    @pycuda.fuse
    def function(x):
        texts.append(1)
        return np.sin(x) * 2 + 1

    def work():
        ctx.push()
        try:
            recorded.wait()
            results.extend(function(x).get() for _ in range(20))
        except BaseException as fault:
            faults.append(fault)
        finally:
            drv.Context.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert faults == []
    assert len(texts) == function.specialisations == 1
    assert len(results) == 160
    want = function.__wrapped__(x).get()
    assert all(np.array_equal(each, want) for each in results)


def test_plain_work_of_another_thread_during_a_recording(ctx):
    x, found = _array(9), []

    def work():
        ctx.push()
        try:
            found.append((x + 1).get())
        finally:
            drv.Context.pop()

    @pycuda.fuse
    def function(x):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return x * 2

    same(function(x), x.get() * 2)
    np.testing.assert_array_equal(found[0], x.get() + 1)


# -- what a function is and gets -------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, fuse.FuseError])
def test_an_exception_ends_the_recording(ctx, error):
    fails = [True]

    @pycuda.fuse
    def function(x):
        y = np.sort(x * 2)
        if fails.pop():
            raise error
        return y

    x = _array(5)
    with pytest.raises(error) as caught:
        function(x)
    assert caught.value.__context__ is None
    assert not _trace.is_recording()
    assert _trace._active == []
    same(x + 1, x.get() + 1)
    fails.append(False)
    same(function(x), np.sort(x.get() * 2))


def test_an_exception_of_the_compiler_is_not_remembered(ctx, monkeypatch):
    function = fuse.fuse(lambda x: x * 2)
    x = _array(5)

    def fail(sources):
        raise drv.CompileError("no", 1)

    with monkeypatch.context() as patch:
        patch.setattr(_steps, "compile_texts", fail)
        with pytest.raises(drv.CompileError):
            function(x)
    same(function(x), x.get() * 2)
    assert function.specialisations == 1


def test_recursion(ctx):
    @pycuda.fuse
    def power(x, n):
        return x if n == 0 else power(x, n - 1) * x + n

    x = _array(5)
    same(power(x, 4), power.__wrapped__(x, 4).get())


def test_iterators_run_plainly(ctx):
    @pycuda.fuse
    def total(items):
        result = 0
        for each in items:
            result = result + each
        return result

    x = _array(5)
    for k in (1, 2):
        same(total(each * k for each in (x, x)), x.get() * k + x.get() * k)
    used = iter([x])
    total(used)
    assert total(used) == 0
    assert total.specialisations == 0


def test_generators_and_coroutines_are_refused():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    for each in (generator, coroutine):
        with pytest.raises(TypeError, match=f"{each.__name__} is a generator or"):
            fuse.fuse(each)


class _Scaled:
    def __init__(self, factor, weights):
        self.factor = factor
        self.parts = {"weights": [weights]}
        self.me = self

    @pycuda.fuse
    def apply(self, x):
        return x * self.factor + self.parts["weights"][0]


def test_a_method_uses_the_attributes_that_the_object_has_now(ctx):
    x, weights = _array(5), gpuarray.zeros(5, np.float32)
    scaled_by, other = _Scaled(2, weights), _Scaled(3, weights)
    before = _Scaled.apply.specialisations
    same(scaled_by.apply(x), x.get() * 2)
    same(other.apply(x), x.get() * 3)
    scaled_by.factor = 4
    same(scaled_by.apply(x), x.get() * 4)
    weights.fill(1)
    same(scaled_by.apply(x), x.get() * 4 + 1)
    assert _Scaled.apply.specialisations == before + 3
    scaled_by.parts["weights"][0] = gpuarray.zeros(5, np.float32)
    same(scaled_by.apply(x), x.get() * 4)
    assert _Scaled.apply.specialisations == before + 4


class _Named:
    """Objects that are equal if their names are."""

    def __init__(self, name, factor):
        self.name, self.factor = name, factor

    def __eq__(self, other):
        return isinstance(other, _Named) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class _Slots:
    __slots__ = ("factor",)


class _MoreThanSlots(_Slots):
    pass


def test_attributes_of_objects_that_are_equal_or_have_slots(ctx):
    x, function = _array(5), fuse.fuse(lambda m, x: x * m.factor)
    with_slots, with_more = _Slots(), _MoreThanSlots()
    for factor in (2, 3, 2):
        with_slots.factor = with_more.factor = factor
        for each in (with_slots, with_more, _Named("a", factor)):
            same(function(each, x), x.get() * factor)


def test_attributes_of_functions(ctx):
    def other(x):
        return x * other.factor

    x, function = _array(5), fuse.fuse(lambda f, x: f(x))
    for other.factor in (2, 3, 2):
        same(function(other, x), x.get() * other.factor)


def test_a_list_in_itself_runs_plainly(ctx):
    x = _array(5)
    items = [x]
    items.append(items)
    same(fuse.fuse(lambda items: items[1][0] + 1)(items), x.get() + 1)


_factor = 2


def test_a_recording_keeps_the_values_of_names_outside(ctx, monkeypatch):
    function = fuse.fuse(lambda x: x * _factor)
    x = _array(5)
    same(function(x), x.get() * 2)
    monkeypatch.setattr(sys.modules[__name__], "_factor", 3)
    same(function(x), x.get() * 2)
    same(function(x[:4]), x.get()[:4] * 3)


def test_partial_functions(ctx):
    def plain(x, n):
        return x * n

    x = _array(5)
    same(functools.partial(fuse.fuse(plain), n=3)(x), x.get() * 3)
    same(fuse.fuse(functools.partial(plain, n=3))(x), x.get() * 3)
    with pytest.raises(ValueError, match="no parameter"):
        fuse.fuse(functools.partial(plain, n=3), donate="m")


@pytest.mark.parametrize("processors", [1, 2])
def test_kernels_are_compiled_side_by_side(ctx, monkeypatch, processors):
    """They are, if no cache has them, on as many processors as the process has."""
    names = set()
    meeting = threading.Barrier(processors)

    def build(prepared):
        names.add(threading.current_thread().name)
        meeting.wait(60)
        return plain(prepared)

    def four(x):
        return x + 1, x[:100] * 3, x.sum(), x[:7] - 1

    plain = compilation.build
    monkeypatch.setattr(compilation, "build", build)
    monkeypatch.setattr(compilation, "is_kept", lambda prepared: False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(processors)))
    x = to_gpu(np.ones(1000 + processors, np.float32))
    function = pycuda.fuse.fuse(four)
    count = len(function.kernels(x))
    assert count % 2 == 0  # so that each meeting is complete
    same(function(x)[0], np.full(x.size, 2, np.float32))
    assert len(names) == processors
    names.clear()
    monkeypatch.setattr(compilation, "is_kept", lambda prepared: True)
    monkeypatch.setattr(meeting, "wait", lambda timeout: None)
    two = pycuda.fuse.fuse(lambda x: (np.sqrt(x), np.cos(x[:9] - x[:9])))
    same(two(x)[1], np.ones(9, np.float32))
    assert names == {threading.current_thread().name}
