"""pycuda.fuse: functions of arrays that run as few kernels."""

import functools
import pickle
import threading

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.fuse
from pycuda import cumath, curandom, fuse, gpuarray, linalg
from pycuda.fuse import FuseError, _code as code, _group as group, _trace
from pycuda.fuse._program import Call
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same

pytestmark = pytest.mark.gpu


def _array(*shape, dtype=np.float32):
    return to_gpu(np.random.default_rng(3).random(shape).astype(dtype))


def _both(function, *arrays):
    """Check a function against its plain run; return its steps."""
    copies = [each.copy() if isinstance(each, GPUArray) else each for each in arrays]
    want = function(*copies)
    fused = fuse.fuse(function)
    steps = fused.kernels(*arrays)
    got = fused(*arrays)
    pairs = list(zip(arrays, copies, strict=True))
    pairs += [(got, want)] if isinstance(got, GPUArray) else zip(got, want, strict=True)
    for ours, plain in pairs:
        if isinstance(ours, GPUArray):
            assert ours.dtype == plain.dtype
            assert ours.strides == plain.strides
            np.testing.assert_array_equal(ours.get(), plain.get())
    return steps


@pycuda.fuse
def stencil(u):
    return 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


# -- kernels ---------------------------------------------------------------------------


def test_a_stencil_is_one_kernel(ctx):
    u = _array(20, 30)
    (kernel,) = stencil.kernels(u)
    assert (kernel.shape, kernel.operations) == ((18, 28), 4)
    assert kernel.bytes == 5 * 4 * 18 * 28
    same(stencil(u), stencil.__wrapped__(u).get())
    assert "op_multiply" in stencil.source(u)


def test_the_source_is_that_of_other_sizes_too(ctx):
    assert stencil.source(_array(20, 30)) == stencil.source(_array(11, 50))


def test_large_arrays_are_loaded_in_whole_words(ctx):
    def function(x, y):
        z = x * 2 + y
        return z, z > 1, z + gpuarray.arange(x.size, dtype=np.float32)

    x, y = _array(1 << 18), _array((1 << 18) + 3)
    _both(function, x, y[:-3])
    assert ".load(" in fuse.fuse(function).source(x, y[:-3])
    _both(function, x[:-3], y[:-6])
    _both(lambda x, y: x + y, x, y[1:-2])
    assert ".load(" not in fuse.fuse(function).source(x, y[1:-2])
    fused, want = fuse.fuse(lambda x: x * 2), x.get() * 2
    for first in (0, 1):
        out = gpuarray.empty(x.size + 4, np.float32)[first : first + x.size]
        same(fused(x, out=out), want)
    assert fused.specialisations == 1


def _quotients(x, y):
    return x / y, np.sqrt(x), (y - 1) / 3


def _unusual(count):
    """Return arrays with numbers of all sizes, and one with unusual ones only."""
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 1 << 32, (2, count), np.uint32).view(np.float32)
    sizes = np.float32(2) ** rng.integers(-120, 120, (2, count))
    some = np.where(rng.random((2, count)) < 0.01, bits, sizes + 1)
    ends = np.array([0, -0.0, np.inf, np.nan, 1e-45, 3e38, 1e-38, -1e-30], np.float32)
    ends = ends.repeat(count // 8), np.tile(ends, count // 8)
    return [tuple(map(to_gpu, each)) for each in (bits, sizes, some, ends)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_of_unusual_numbers_in_whole_words(ctx, monkeypatch):
    monkeypatch.setattr(code, "WORDS_FROM", 1)
    assert "quick_divide(" in fuse.fuse(_quotients).source(*_unusual(8000)[0])
    for x, y in _unusual(8000):
        _both(_quotients, x, y)
        _both(_quotients, x[:-3], y[:-3])

    def in_place(x, y):
        x /= y
        x /= 3
        return x

    _both(in_place, *_unusual(8000)[2])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quick_quotients_of_unusual_numbers_are_other_ones(ctx, monkeypatch):
    finished = code.finished

    def changed(source, fast):
        source.text = source.text.replace("if (usual)", "if (true)")
        return finished(source, fast)

    monkeypatch.setattr(code, "WORDS_FROM", 1)
    monkeypatch.setattr(code, "finished", changed)
    with pytest.raises(AssertionError):
        _both(_quotients, *_unusual(8000)[3])


def test_long_operations_have_a_thread_for_each_element(ctx):
    def function(x, times):
        for _ in range(times):
            x = np.exp(x) - x
        return x

    x = _array(1 << 18)
    fused = fuse.fuse(function)
    assert ".load(" in fused.source(x, 2)
    assert ".load(" not in fused.source(x, 20)
    _both(lambda x: function(x, 20), x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_small_matrices_are_operations(ctx, dtype):
    def function(a, b):
        return (a + 1) @ b @ (2 * a).swapaxes(-1, -2)

    for shape in [(2, 2), (70, 3, 4), (5, 6, 2, 2), (100, 4)]:
        a = _array(*shape, dtype=np.dtype(dtype))
        b = _array(shape[-1], shape[-1], dtype=np.dtype(dtype))
        steps = _both(function, a, b)
        assert any(step.call for step in steps) == (shape == (100, 4))
    negative = to_gpu(np.full((3, 2, 2), -1e-30, dtype))
    _both(lambda a: (a @ -a, a @ a.swapaxes(1, 2)), negative)
    five = _array(9, 5, dtype=np.dtype(dtype))
    for several in (lambda a: a.T @ a, lambda a: a @ a.T):
        (step,) = _both(several, five)
        assert step.call


def test_alternating_elements_are_written_by_one_kernel(ctx):
    def function(x):
        y = gpuarray.empty_like(x)
        y[::2] = x[::2] + 1
        y[1::2] = x[::2] - 1
        return y

    assert len(_both(function, _array(40))) == 1

    def shifted(x):
        x[::2] = x[1::2] + 1
        x[1::2] = x[::2] * 2
        return x

    _both(shifted, _array(40))


def test_a_call_whose_result_is_not_at_a_whole_word(ctx):
    whole = _array((1 << 18) + 16)
    calls = []

    def plain(x):
        calls.append(x)
        return whole[len(calls) :][: x.size]

    fused = fuse.fuse(lambda x: fuse.call(plain, x) * 2)
    x = _array(1 << 18)
    calls.append(x)
    calls.append(x)
    calls.append(x)
    for first in (5, 6):
        same(fused(x), whole.get()[first:][: x.size] * 2)


def test_several_results_are_one_kernel(ctx):
    steps = _both(lambda x, y: (x + y, x * y, np.sqrt(x)), _array(9), _array(9))
    assert len(steps) == 1


def test_broadcasting_casts_and_where(ctx):
    def function(x, y):
        z = x[:, None] * y[None] + np.float64(2)
        return np.where(z > 2.5, z.astype(np.int32), -1), z.T

    assert len(_both(function, _array(5), _array(7))) == 1


def test_numbers_yield_to_the_dtypes_of_arrays(ctx):
    def function(x, b):
        return x * 2 + 0.5, b * 3, b + b, x**2, x**-1.5, b / 2

    _both(function, _array(6, dtype=np.float16), to_gpu(np.array([3, 4], np.uint8)))


def test_every_view_is_an_index(ctx):
    def function(x):
        y = x * 2
        flipped = np.flip(y, 0)[1:, ::-2]
        return flipped + y.T[0, :5], y[::3, 1:][None], np.broadcast_to(y, (2, 6, 9)) - 1

    _both(function, _array(6, 9)[:, :])


def test_rolls_are_indices(ctx):
    def function(x):
        sides = [
            np.roll(x, by, axis) for by, axis in ((1, 0), (-1, 0), (1, 1), (13, 1))
        ]
        y = sum(sides) + np.roll(x, (2, -3), (0, 1))[::2, ::-1].T[:5, :3].sum()
        return np.roll(y * 2, 1, 0) + y, np.roll(x[0], 2)

    steps = _both(function, _array(6, 9)[:, ::1])
    assert "roll" not in [step.call for step in steps]
    (only,) = _both(lambda x: np.roll(x, 1, 0) + np.roll(x, -1, 1), _array(6, 9))
    assert (only.operations, only.bytes) == (1, 3 * 6 * 9 * 4)


def test_an_assignment_to_a_slice_reads_before_it_writes(ctx):
    def function(u):
        u[1:-1] += 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])
        u[0] = 7
        return u.sum()

    _both(function, _array(50))


def test_a_value_is_kept_before_its_input_changes(ctx):
    def function(u):
        before = u * 2
        u += 1
        return before + u

    _both(function, _array(50))


def test_a_returned_argument_is_the_argument(ctx):
    @pycuda.fuse
    def function(u):
        u *= 2
        return u

    x = _array(5)
    assert function(x) is x


def test_arguments_that_overlap_run_plainly(ctx):
    def function(u, v):
        u += v
        return u

    x, y = _array(10), _array(10)
    fuse.fuse(function)(x[1:], x[:-1])
    function(y[1:], y[:-1])
    same(x, y.get())


def test_one_value_for_a_mask(ctx):
    def function(x):
        y = x * 1
        y[y > 0.5] = 0
        return y

    assert len(_both(function, _array(40))) == 1


def test_calls_between_kernels(ctx):
    def function(x):
        total = (x * x).sum(axis=0)
        return np.sort(x - total, axis=0) @ x.T, np.concatenate([x, x]) + 1

    steps = _both(function, _array(6, 5))
    assert [step.call for step in steps if step.call][:2] == ["sort", "__matmul__"]


def test_the_namespace_of_the_standard(ctx):
    def function(x):
        xp = x.__array_namespace__()
        shifted = x - xp.max(x, axis=1, keepdims=True)
        e = xp.exp(shifted)
        return e / xp.sum(e, axis=1, keepdims=True)

    _both(function, _array(6, 5))


def test_functions_of_the_package(ctx):
    def function(x):
        inverse = fuse.call(linalg.inv, x + 3 * gpuarray.eye(4, dtype=np.float32))
        return cumath.sqrt(abs(inverse))

    _both(function, _array(4, 4))


def test_fused_functions_and_loops_in_a_plain_function(ctx):
    def plain(u):
        return fuse.loop(3, lambda v: v + stencil(u).sum(), u)

    _both(lambda u: fuse.call(plain, u * 2) + 1, _array(5, 6))


def test_views_of_an_array_from_outside(ctx):
    weights = _array(6)

    def function(x):
        return x * weights[::2] + np.cumsum(weights[1:])[2], weights[1:], weights

    _both(function, _array(3))


def test_new_arrays_are_filled_in_each_call(ctx):
    @pycuda.fuse
    def function(x):
        total = gpuarray.zeros(x.shape, x.dtype)
        total += x
        return total

    x = _array(5)
    function(x)
    same(function(x), x.get())


def test_an_array_from_outside_keeps_its_changes(ctx):
    counter = gpuarray.zeros(3, np.int32)

    @pycuda.fuse
    def function(x):
        counter.__iadd__(x)
        return counter * 2

    x = to_gpu(np.array([1, 2, 3], np.int32))
    function(x)
    same(function(x), np.array([4, 8, 12], np.int32))
    same(counter, np.array([2, 4, 6], np.int32))


# -- the estimate ----------------------------------------------------------------------


def _blur(times):
    def function(x):
        y = x
        for _ in range(times):
            y = y[:-1] + y[1:]
        return y[:-2] + y[1:-1] + y[2:]

    return function


def test_cheap_values_are_computed_again(ctx):
    assert len(_both(_blur(1), _array(100))) == 1


def test_dear_values_are_stored(ctx):
    def function(x):
        y = np.exp(np.sin(x)) + np.cos(x)
        return y[:-2] + y[1:-1] + y[2:]

    assert [step.shape for step in _both(function, _array(100))] == [(100,), (98,)]


def test_more_operations_a_byte_compute_more_values_again(ctx, monkeypatch):
    x = _array(100)
    assert len(fuse.fuse(_blur(6)).kernels(x)) > 1
    monkeypatch.setattr(group, "OPERATIONS_PER_BYTE", 10**6)
    assert len(fuse.fuse(_blur(6)).kernels(x)) == 1


def test_values_for_rows_are_computed_once(ctx):
    def function(x, y):
        return np.exp(np.sin(x))[:, None] * y

    assert len(_both(function, _array(5), _array(5, 6))) == 2


# -- loops -----------------------------------------------------------------------------


def test_a_loop_over_elements_is_in_the_kernel(ctx):
    def function(c):
        def body(state):
            z, n = state
            inside = abs(z) < 2
            return np.where(inside, z * z + c, z), n + inside

        return fuse.loop(20, body, (c * 0, c.real * 0))

    points = np.linspace(-2, 1, 7)[None] + 1j * np.linspace(-1, 1, 5)[:, None]
    (kernel,) = _both(function, to_gpu(points.astype(np.complex64)))
    assert not kernel.call
    assert kernel.work > 20 * 35


def test_a_loop_that_reads_neighbours_is_on_the_host(ctx):
    def function(u, n):
        def body(u):
            v = u.copy()
            v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            return v

        return fuse.loop(n, body, u) + 1

    for n in (0, 1, 5):
        steps = _both(function, _array(50), n)
        assert n == 0 or steps[0].call == "loop"


def test_a_loop_reads_arrays_of_the_function(ctx):
    def function(x, y):
        z = y * 2
        shifted = fuse.loop(3, lambda s: s * z[::-1] + y.sum(), x)
        return fuse.loop(3, lambda s: s * z + y, shifted)

    _both(function, _array(5), _array(5))


def test_a_while_loop(ctx):
    def function(x):
        def unfinished(x):
            return abs(x * x - 2).max() > 1e-9

        return fuse.while_loop(unfinished, lambda x: 0.5 * (x + 2 / x), x)

    _both(function, to_gpu(np.array([1.0, 3.0])))


def test_a_state_that_changes_in_place_is_refused(ctx):
    def body(u):
        u += 1
        return u

    with pytest.raises(FuseError, match="in place"):
        fuse.fuse(lambda u: fuse.loop(3, body, u))(_array(3))


@pytest.mark.parametrize("function", [np.sort, lambda s: np.partition(s, 1)])
def test_sorting_a_copy_in_a_loop(ctx, function):
    def turned(x):
        return fuse.loop(3, lambda s: function(s) * -2, x)

    _both(turned, _array(20))


def test_sorting_the_state_of_a_loop_is_refused(ctx):
    def body(s):
        s.sort()
        return s * 2

    with pytest.raises(FuseError, match="in place"):
        fuse.fuse(lambda x: fuse.loop(3, body, x))(_array(20))


def _changed_by_calls(function, x):
    """Return what the calls between the kernels of a function change."""
    statements = _trace.record(function, (x,), {}).statements
    return [len(each.writes) for each in statements if isinstance(each, Call)]


def test_only_the_method_sorts_in_place(ctx):
    x = _array(20)
    assert _changed_by_calls(np.sort, x) == [0]
    assert _changed_by_calls(lambda x: np.partition(x, 2), x) == [0]
    assert _changed_by_calls(lambda x: x.__array_namespace__().sort(x), x) == [0]
    assert _changed_by_calls(lambda x: x.sort(), x) == [1]


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.uint16])
def test_counts_of_all_values_of_a_dtype(ctx, dtype):
    def counts(x, weights):
        n = 2 if dtype is np.bool_ else 256 ** np.dtype(dtype).itemsize
        values = (x * 7).astype(dtype)
        return np.bincount(values, minlength=n) + 1, np.bincount(values, weights, n)

    _both(counts, _array(100), _array(100))


def test_counts_of_few_numbers(ctx):
    def counts(x):
        return np.histogram((x * 7).astype(np.int32), 7, (-0.5, 6.5))[0]

    assert len(_both(counts, _array(100))) == 2
    numbers = np.random.default_rng(3).random(100).astype(np.float32) * 7
    same(fuse.fuse(counts)(_array(100)), np.bincount(numbers.astype(int), minlength=7))


@pytest.mark.parametrize(
    "function",
    [
        lambda module, x: module.take(x * 2, [1, 0], axis=0),
        lambda module, x: module.concatenate([x * 2, x + 1]),
        lambda module, x: module.stack([x * 2, x + 1], axis=1),
    ],
)
def test_functions_of_gpuarray_make_the_steps_of_numpy_ones(ctx, function):
    ours, numpys = (
        _both(functools.partial(function, module), _array(5, 4))
        for module in (gpuarray, np)
    )
    assert ours == numpys


def test_random_numbers(ctx):
    rng = curandom.XORWOWRandomNumberGenerator()

    @pycuda.fuse
    def noisy(x):
        return x + fuse.call(rng.gen_uniform, x.shape, np.float32)

    x = gpuarray.zeros(50, np.float32)
    first, second = noisy(x).get(), noisy(x).get()
    assert 0 < first.min() < first.max() <= 1
    assert not np.array_equal(first, second)


# -- errors ----------------------------------------------------------------------------


def _branch(u):
    return u if u[0] > 1 else 2 * u


@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (_branch, "where"),
        (lambda u: float(u[0]), "Return the array"),
        (lambda u: print(u), "print it outside"),
        (lambda u: f"{u}", "print it outside"),
        (lambda u: u.get(), "Return the array"),
        (lambda u: u[u > 0], "where"),
        (lambda u: np.nonzero(u), "where"),
        (lambda u: gpuarray.sort(u), r"fuse.call\(gpuarray.sort, \*arguments\)"),
        (lambda u: u + gpuarray.to_gpu(np.ones(3)), "gpuarray.to_gpu is not"),
        (lambda u: np.bincount(u.astype(np.int32), minlength=9), "histogram"),
        (lambda u: np.bincount(u.astype(np.uint8), minlength=255), "minlength=256"),
        (lambda u: [1, 2][u[0]], "take"),
        (lambda u: u + curandom.rand(u.shape), r"fuse.call\(curandom.rand"),
    ],
)
def test_an_error_names_the_line(ctx, function, advice):
    line = function.__code__.co_firstlineno + (function is _branch)
    with pytest.raises(FuseError, match=advice) as caught:
        fuse.fuse(function)(_array(3))
    assert f"{__file__}, line {line}: " in str(caught.value)
    assert caught.value.__cause__ is None


def _many_functions(x):
    results = [np.pad(x * 2, 1) + 1, np.stack([x * 2, x + 1]), np.cumsum(x * 2, axis=0)]
    results += [np.take(x * 2, [1, 0], axis=0), (x * 2)[[1, 0]], np.argmax(x, axis=1)]
    results += [*divmod(x, 0.3), *np.modf(x), *np.frexp(x), np.clip(x, 0.2, 0.5)]
    results += [*np.split(x, 2, axis=0), *np.meshgrid(x[0] * 2, x[1]), np.tril(x * 2)]
    results += [np.einsum("ij,ij->i", x, x * 2), np.diff(x * x, axis=1), np.round(x, 2)]
    results += [np.add.reduce(x * 2), np.add.outer(x[0], x[1]), (x * 2).view(np.int32)]
    results += [np.isclose(x, x + 1e-9), np.nan_to_num(x / 0), np.repeat(x * 2, 2, 0)]
    ordered = x * -1
    ordered.sort(axis=0)
    x[[0, 1]] = x[2:4] * 3
    x[1:] = x[:-1]
    np.add(x, 1, out=x)
    return *results, ordered


def test_functions_that_are_and_are_not_elementwise(ctx):
    _both(_many_functions, _array(6, 8))


def test_after_an_error_arrays_work(ctx):
    with pytest.raises(FuseError):
        fuse.fuse(_branch)(_array(3))
    same(_array(3) + 1, _array(3).get() + 1)


def test_an_error_of_the_function_is_its_own(ctx):
    with pytest.raises(ValueError, match="broadcast"):
        fuse.fuse(lambda x, y: x + y)(_array(3), _array(4))


def test_a_stand_in_is_useless_afterwards(ctx):
    kept = []

    def keep(x):
        kept.append(x * 2)

    @pycuda.fuse
    def function(x):
        keep(x)
        return x + 1

    x = _array(3)
    with pytest.raises(FuseError, match=r"the function keeps an array in a list"):
        function(x)
    for use in (
        lambda x: x + 1,
        lambda x: gpuarray.sum(x),
        lambda x: gpuarray.sort(x),
        lambda x: x.copy(),
        lambda x: x.get(),
        lambda x: bool(x),
    ):
        with pytest.raises(FuseError, match="kept it"):
            use(kept[0])


def test_what_a_body_keeps_is_refused(ctx):
    def summed(x):
        sums = [x * 0]

        def body(s):
            sums[0] = sums[0] + s
            return s * 2

        return fuse.loop(3, body, x), sums[0]

    def counted(x):
        turns = 0

        def body(s):
            nonlocal turns
            turns += 1
            return s * turns

        return fuse.loop(3, body, x)

    def kept_state(x):
        seen = {0: x}

        def note(s):
            seen[0] = s

        def body(s):
            note(s)
            return s * 2

        return fuse.loop(3, body, x) + seen[0]

    def kept_in_condition(x):
        seen = []

        def condition(s):
            seen.append(s + 1)
            return s.sum() < 100

        return fuse.while_loop(condition, lambda s: s * 2, x) + seen[0]

    x = _array(5)
    for function, text in (
        (summed, "changes a list"),
        (counted, "changes the name 'turns'"),
        (kept_state, "keeps an array in the key 0 of a dict"),
        (kept_in_condition, "changes a list"),
    ):
        with pytest.raises(FuseError, match=f"body or condition of a loop {text}"):
            fuse.fuse(function)(x)
        function(x)  # it works plainly


def test_a_body_that_changes_an_array_outside(ctx):
    def summed(x):
        total = x * 0

        def body(s):
            nonlocal total
            total += s
            return s * 2

        return fuse.loop(3, body, x), total

    _both(summed, _array(5))


# -- calls -----------------------------------------------------------------------------


def test_specialisations_are_counted_and_bounded(ctx, monkeypatch):
    @pycuda.fuse
    def function(x, factor):
        return x * factor

    x = _array(5)
    for factor in (2, 2, 2.0, True, np.float32(2), -0.0, 0.0):
        same(function(x, factor), x.get() * factor)
    assert function.specialisations == 6
    monkeypatch.setattr(pycuda.fuse._launch, "MOST_SPECIALISATIONS", 4)
    for factor in range(10, 20):
        function(x, factor)
    assert function.specialisations == 16
    function(x, 19)
    assert function.specialisations == 16
    function(x, 10)
    assert function.specialisations == 17


def test_the_switch_runs_functions_plainly(ctx, monkeypatch):
    seen = []

    @pycuda.fuse
    def function(x):
        seen.append(type(x))
        return x + 1

    for value in ("0", "off", "false", "No"):
        monkeypatch.setenv("PYCUDA_FUSE", value)
        function(_array(3))
        assert seen.pop() is GPUArray, value
    for value in ("1", "yes", ""):
        monkeypatch.setenv("PYCUDA_FUSE", value)
        function(_array(3 + len(value)))
        assert seen.pop() is not GPUArray, value


def test_a_stream(ctx):
    stream = drv.Stream()
    u = _array(20, 30)
    result = stencil(u, stream=stream)
    stream.synchronize()
    same(result, stencil.__wrapped__(u).get())


def test_a_capture(ctx):
    u, result = _array(20, 30), gpuarray.zeros((18, 28), np.float32)
    stencil(u, out=result)
    stream = drv.Stream()
    with stream.capture() as graph, stream:
        stencil(u, out=result)
    result.fill(0)
    graph.instantiate().launch(stream)
    stream.synchronize()
    same(result, stencil.__wrapped__(u).get())


def test_a_while_loop_in_a_capture(ctx):
    @pycuda.fuse
    def function(x):
        return fuse.while_loop(lambda x: x.max() < 9, lambda x: x * 2, x)

    x, stream = _array(20), drv.Stream()
    for _ in range(2):  # the first call, and a warm one
        with (
            pytest.raises(FuseError, match=r"test_fuse.py:\d+: while_loop.*captured"),
            stream.capture(),
            stream,
        ):
            function(x)
        same(function(x), function.__wrapped__(x).get())


def test_any_thread(ctx):
    u = _array(20, 30)
    want = stencil.__wrapped__(u).get()
    function = fuse.fuse(stencil.__wrapped__)
    results = []

    def work():
        ctx.push()
        try:
            results.extend(function(u).get() for _ in range(5))
        finally:
            drv.Context.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 20
    assert all(np.array_equal(each, want) for each in results)


def test_a_fused_function_inside_another_one(ctx):
    def function(u):
        return stencil(u * 2)[1:] + 1

    assert len(_both(function, _array(20, 30))) == 1


def test_pickling_by_reference(ctx):
    assert pickle.loads(pickle.dumps(stencil)) is stencil


def _twice(x):
    return 2 * x


def test_pickling_a_function_that_no_name_finds(ctx):
    for function in (lambda x: 2 * x, _twice):
        with pytest.raises(pickle.PicklingError, match="does not name"):
            pickle.dumps(fuse.fuse(function))


def test_parameters_with_the_names_of_a_call():
    def positional(x, out, /):
        return x + out

    def keyword(x, *, stream):
        return x

    for function in (lambda x, out: x, lambda stream: stream, keyword):
        with pytest.raises(TypeError, match="parameter '(out|stream)'"):
            fuse.fuse(function)
    for function in (positional, lambda *out: out, lambda **stream: stream):
        fuse.fuse(function)


@pytest.mark.parametrize(
    "use",
    [bool, float, int, complex, lambda x: x.item(), lambda x: x in [1]],
)
def test_the_element_of_an_array_with_several_is_a_plain_error(ctx, use):
    x = _array(3)
    with pytest.raises((TypeError, ValueError)) as plain:
        use(x)
    with pytest.raises(type(plain.value)) as caught:
        fuse.fuse(lambda x: use(x))(x)
    assert str(caught.value) == str(plain.value)
    with pytest.raises(FuseError):
        fuse.fuse(lambda x: use(x))(x[:1])


def test_the_name_of_the_type_of_arrays(ctx):
    assert fuse.fuse(lambda x: (x + 1, type(x).__name__))(_array(3))[1] == "GPUArray"


def test_out_takes_dtypes_of_the_same_kind(ctx, monkeypatch):
    x, out = _array(20, 30), gpuarray.zeros((18, 28), np.int32)
    for is_enabled in (True, False):
        monkeypatch.setenv("PYCUDA_FUSE", str(is_enabled))
        function = fuse.fuse(stencil.__wrapped__)
        for _ in range(2):  # the second time with a known key
            with pytest.raises(TypeError, match="float32 cannot be put.*int32"):
                function(x, out=out)
            assert not out.get().any()
            function(x)
        function(x, out=gpuarray.zeros((18, 28), np.complex64))


@pytest.mark.parametrize("result", [None, {}, "text", [], 2.5])
def test_out_takes_arrays_only(ctx, result, monkeypatch):
    x = _array(3)
    want = x.get()
    for is_enabled in (True, False):
        monkeypatch.setenv("PYCUDA_FUSE", str(is_enabled))
        function = fuse.fuse(lambda x: result)
        for _ in range(2):
            with pytest.raises(TypeError, match=f"returns a {type(result).__name__}"):
                function(x, out=x)
            function(x)
    same(x, want)


def test_out(ctx):
    u, out = _array(20, 30), gpuarray.zeros((18, 28), np.float64)
    assert stencil(u, out=out) is out
    same(out, stencil.__wrapped__(u).get().astype(np.float64))
    with pytest.raises(ValueError):
        stencil(u, out=(out, out))


def test_out_that_overlaps_an_argument(ctx):
    function = fuse.fuse(lambda x: x[::-1] * 2)
    x = _array(9)
    want = x.get()[::-1] * 2
    function(x, out=x)
    same(x, want)


def test_donated_arguments_need_no_allocation(ctx):
    @pycuda.fuse(donate="u")
    def function(u):
        return u[::-1] * 2

    u, seen = _array(9), set()
    want = u.get()
    for _ in range(6):
        u = function(u)
        want = want[::-1] * 2
        seen.add(u.ptr)
    same(u, want)
    assert len(seen) == 2
    with pytest.raises(ValueError, match="no parameter"):
        fuse.fuse(lambda u: u, donate="v")


def test_nested_arguments_and_results(ctx):
    function = fuse.fuse(lambda arrays, names: {"a": [arrays[0] + names["k"]], "n": 3})
    x = _array(4)
    result = function((x,), {"k": 1})
    same(result["a"][0], x.get() + 1)
    assert result["n"] == 3


def test_empty_arrays_and_arrays_without_axes(ctx):
    _both(lambda x: (x + 1, x[:0].sum()), gpuarray.zeros((0, 3), np.float32))
    _both(lambda x: x * 2 + 1, to_gpu(np.array(3.0)))
    x = to_gpu(np.ones((1, 6)))
    _both(lambda x: np.diff(x, axis=0)[0:0:2, 2:3:3], x)  # strides of a view


def test_no_intermediate_array_is_allocated(ctx):
    sizes = []

    def allocate(size):
        sizes.append(size)
        return drv.mem_alloc(size)

    x = to_gpu(np.ones(1000, np.float32), allocator=allocate)
    function = fuse.fuse(lambda x: np.sqrt(x * x + 1) - x)
    function(x)
    sizes.clear()
    function(x)
    assert sizes == [4000]
    function.__wrapped__(x)
    assert len(sizes) > 2


@pytest.mark.parametrize(
    ("target", "source"),
    [((3,), (2,)), ((3, 3), (2,)), ((3, 3), (9,)), ((3,), (2, 3)), ((3,), (0,))],
)
def test_an_assignment_of_another_shape_is_refused(ctx, target, source):
    def function(x, y):
        x[...] = y
        return x

    given = [to_gpu(np.ones(shape, np.float32)) for shape in (target, source)]
    for each in (function, pycuda.fuse.fuse(function)):
        with pytest.raises(ValueError, match="cannot be broadcast"):
            each(*given)


@pytest.mark.parametrize("source", [(3,), (1,), (1, 3), (1, 1, 1), ()])
def test_an_assignment_that_is_broadcast(ctx, source):
    def function(x, y):
        x[1:] = y
        return x * 2

    made = []
    for each in (function, pycuda.fuse.fuse(function)):
        x = to_gpu(np.ones((4, 3), np.float32))
        y = to_gpu(np.full(source, 5, np.float32))
        made.append(each(x, y).get())
    np.testing.assert_array_equal(*made)


def test_a_loop_over_nothing(ctx):
    @pycuda.fuse
    def function(x):
        return pycuda.fuse.loop(4, lambda state: np.roll(state, 1) * 2, x[:0])

    assert function(to_gpu(np.ones(3, np.float32))).shape == (0,)


def test_turns_are_a_whole_number(ctx):
    x = to_gpu(np.ones(3, np.float32))
    for function in (pycuda.fuse.loop, pycuda.fuse.fuse(pycuda.fuse.loop)):
        with pytest.raises(TypeError, match="integer"):
            function(3.0, lambda state: state * 2, x)
