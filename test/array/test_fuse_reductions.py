"""Reductions under pycuda.fuse: their kernels have the bits of plain reductions."""

import re
from dataclasses import replace

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import fuse, gpuarray
from pycuda.fuse import _code as code, _rows as rows, _trace as trace
from pycuda.gpuarray import GPUArray, to_gpu
from support.fuse_programs import _facts

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::pycuda.driver.PyCUDAWarning"),
]

# fmt: off
NAMES = [
    "sum", "prod", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero",
    "mean", "var", "std", "ptp", "nansum", "nanprod", "nanmin", "nanmax", "nanargmin",
    "nanargmax", "nanmean", "nanvar", "nanstd",
]
DTYPES = [
    "float32", "float64", "float16", "bfloat16", "complex64", "complex128", "bool",
    "int8", "uint8", "int32", "uint32", "int64", "uint64",
]
# fmt: on
#: A shape and axes for each kind of kernel.
KINDS = {
    "by_block": ((3, 5000), -1),
    "by_block in segments": ((2, 70001), 1),
    "by_row": ((1100, 131), 1),
    "by_short_row": ((40, 12), 1),
    "by_column": ((50, 36), 0),
    "by_column in segments": ((5000, 36), 0),
}


def _values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(-5, 9, shape) * 0.5
    if dtype[0] in "ub":
        values = np.abs(values)
    if dtype[0] in "fc" or dtype == "bfloat16":
        values = values + rng.random(shape)
        values.flat[::97] = np.nan
        values.flat[1::31] = -0.0
    if dtype == "bfloat16":
        return values.astype(pytest.importorskip("ml_dtypes").bfloat16)
    return values.astype(dtype)


def _array(*shape, dtype="float32"):
    return to_gpu(np.random.default_rng(3).random(shape).astype(dtype))


def _both(function, *arrays):
    """Check a function against its plain run; return its steps."""
    copies = [each.copy() for each in arrays]
    want = function(*copies)
    fused = fuse.fuse(function)
    steps = fused.kernels(*arrays)
    got = fused(*arrays)
    if isinstance(want, GPUArray):
        got, want = (got,), (want,)
    for ours, plain in zip(got, want, strict=True):
        differs = _facts(ours) != _facts(plain)
        assert not differs  # pytest would compare the bytes for minutes
    for ours, plain in zip(arrays, copies, strict=True):
        differs = ours.get().tobytes() != plain.get().tobytes()
        assert not differs
    return steps


def _kinds(function, *arrays):
    """Return the kinds of the kernels of a function."""
    plan = fuse.fuse(function)._inspected(arrays, {}).plan
    cuts = [step.cut for step in plan.steps]
    return [cut.variant + " in segments" * (cut.segments > 1) for cut in cuts if cut]


# -- the same bits ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_each_reduction_takes_its_producers_in(ctx, kind):
    shape, axis = KINDS[kind]
    x = to_gpu(_values(shape, "float32"))
    for name in NAMES:
        reduce = getattr(np, name)
        _both(lambda x, r=reduce: r(x * 2 - 1, axis=axis), x)
    assert _kinds(lambda x: np.sum(x * 2, axis=axis), x)[0] == kind


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(ctx, dtype):
    def function(x, axis):
        y = x + x
        names = ("sum", "max", "argmin", "any", "var")
        return tuple(getattr(np, name)(y, axis=axis) for name in names)

    for kind in ("by_block in segments", "by_row", "by_short_row", "by_column"):
        shape, axis = KINDS[kind]
        _both(lambda x, a=axis: function(x, a), to_gpu(_values(shape, dtype)))


def _layouts(shape, dtype):
    """Return arrays of a shape: in C and Fortran order, backward, at odd addresses."""
    values = _values(shape, dtype)
    yield to_gpu(values)
    yield to_gpu(np.asfortranarray(values))
    yield to_gpu(values)[..., ::-1]
    flat = gpuarray.zeros((values.size + 1,), dtype)
    odd = flat[1:].reshape(shape)
    odd[...] = to_gpu(values)
    yield odd
    wide = gpuarray.zeros((*shape[:-1], 2 * shape[-1]), dtype)
    strided = wide[..., ::2]
    strided[...] = to_gpu(values)
    yield strided


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((40, 3, 50), (0, 2)),
        ((3, 40, 5), 1),
        ((2, 3, 4, 5), (1, 2)),
        ((2, 3, 4, 5), None),
        ((1, 77), None),
        ((300, 48), 1),
        ((5, 1200), 0),
        ((1100, 40), -1),
        ((4, 1, 6), (1,)),
    ],
)
def test_layouts(ctx, shape, axis):
    def function(x):
        return (
            np.sum(x, axis=axis),
            np.var(x * 2 - x[::-1], axis=axis, keepdims=True),
            np.argmax(x.reshape(-1)),
        )

    for x in _layouts(shape, "float32"):
        fused = fuse.fuse(function)
        for got, want in zip(fused(x), function(x), strict=True):
            assert _facts(got) == _facts(want)


def test_small_and_empty_arrays(ctx):
    for shape in [(), (1,), (1, 1), (0, 3), (3, 0)]:
        x = to_gpu(_values(shape, "float64") if 0 not in shape else np.zeros(shape))
        _both(lambda x: ((x * 2).sum(), np.prod(x + 1, keepdims=True)), x)
    with pytest.raises(ValueError, match="without elements"):
        fuse.fuse(lambda x: (x + 1).max(axis=0))(gpuarray.zeros((0, 3)))


def test_overflow_wraps_around(ctx):
    x = to_gpu(np.full((5, 6), 100, np.int8))
    _both(lambda x: ((x + x).sum(axis=0, dtype=np.int8), (x * x).max(axis=1)), x)


def test_results_in_given_arrays(ctx):
    def function(x, total):
        np.sum(x * 2, axis=0, out=total)
        np.max(x, axis=1, out=x[:, 0])
        return total + 1

    _both(function, _array(9, 7), _array(7))


def test_another_order_has_other_bits(ctx, monkeypatch):
    """The comparison notices if the elements are taken up in another order."""
    note = trace._note_reduction

    def changed(made, *args):
        note(made, *args)
        last = made.program.statements[-1]
        cut = replace(last.cut, vector=1, rounds=1)
        made.program.statements[-1] = replace(last, cut=cut)

    def function(x):
        return np.var(x * 3, axis=1)

    x = _array(3, 5000, dtype="float64")
    _both(function, x)
    monkeypatch.setattr(trace, "_note_reduction", changed)
    with pytest.raises(AssertionError):
        _both(function, x)


# -- what becomes one kernel -----------------------------------------------------------


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x):
    centered = x - x.mean(axis=1)[:, None]
    return centered / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)


def variance(x):
    centered = x - x.mean(axis=1, keepdims=True)
    return (centered * centered).mean(axis=1)


def logsumexp(x):
    most = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - most).sum(axis=1, keepdims=True)) + most


def root_mean_square(x):
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6)


def scaled(x):
    least = x.min(axis=1, keepdims=True)
    return (x - least) / (x.max(axis=1, keepdims=True) - least)


ROWS = [softmax, layer_norm, variance, logsumexp, root_mean_square, scaled]


@pytest.mark.parametrize("function", ROWS)
@pytest.mark.parametrize("shape", [(40, 12), (1100, 131), (60, 5000), (45, 256)])
def test_a_row_is_one_kernel(ctx, function, shape):
    for dtype in ("float32", "float64", "float16"):
        (kernel,) = _both(function, _array(*shape, dtype=dtype))
        assert not kernel.call


def test_a_row_is_loaded_once(ctx):
    (kernel,) = _both(softmax, _array(40, 12))
    assert kernel.bytes == 2 * 40 * 12 * 4


def test_rows_of_several_blocks_are_several_kernels(ctx):
    assert len(_both(softmax, _array(2, 70001))) > 3


def test_reductions_of_the_same_elements_share_a_pass(ctx):
    def function(x):
        y = x * 2
        return y.sum(), (y * y).sum(), y.max()

    first, second = _both(function, _array(70001))
    assert first.bytes == 4 * 70001
    assert second.operations == 3
    (only,) = _both(function, _array(70))
    assert only.bytes == 4 * 70 + 12


def test_scalars_follow_the_segments(ctx):
    first, second = _both(lambda x: np.sqrt((x * x).sum()) + 1, _array(70001))
    assert (first.operations, second.operations) == (2, 3)


def _centered(x):
    return x - np.sqrt((x * x).sum()) * 2


def test_warps_join_the_segments_of_a_result_that_they_need(ctx, monkeypatch):
    def of_the_distances(x):
        return abs(_centered(x)).max()

    def of_rows(x):
        return np.roll(_centered(x), 1, axis=0) + np.roll(_centered(x), -1, axis=0)

    for shape in [(70001,), (300, 301)]:
        x = _array(*shape)
        assert len(_both(_centered, x)) == 2
        assert len(_both(of_the_distances, x)) == 3
        assert len(_both(lambda x: (_centered(x), (x * x).sum()), x)) == 3
    _both(of_rows, x)

    def in_place(x):
        x *= (x * x).sum() + x[5, 7]
        return x

    assert len(_both(in_place, x)) == 3
    monkeypatch.setattr(rows, "LAUNCH", 10**4)
    assert len(_both(_centered, x)) > 2


def test_segments_that_are_left_out_change_the_result(ctx, monkeypatch):
    finished = code.finished

    def changed(source, fast):
        source.text = re.sub(r"(\(segments0, g\d+)", r"\1 - 1", source.text)
        return finished(source, fast)

    monkeypatch.setattr(code, "finished", changed)
    with pytest.raises(AssertionError):
        _both(_centered, _array(70001))


def forces(x):
    apart = x[None, :, :] - x[:, None, :]
    squares = np.sum(apart * apart, axis=2) + 0.01
    return np.sum(apart / (squares * np.sqrt(squares))[:, :, None], axis=1)


def _processors():
    return drv.Context.get_device().multiprocessor_count


@pytest.mark.parametrize("count", [5, 40, 333])
def test_neighbouring_results_share_work(ctx, count):
    x = _array(count, 3)
    if count >= 5 * _processors():  # else there is a thread for each result
        assert "a0[3]" in fuse.fuse(forces).source(x)
        assert len(_both(forces, x)) == 1
    _both(forces, x)
    _both(forces, _array(count, 2))
    _both(forces, _array(count, 4))
    _both(forces, _array(count, 5))
    _both(lambda x: np.stack([x, x + 1], -1).min(axis=(0, 1)), x)  # two results
    cheap = fuse.fuse(lambda x: (x[None] - x[:, None, :1]).sum(axis=1)).source(x)
    assert "a0[3]" not in cheap


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((3, 40000), 1),
        ((2, 70001), 1),
        ((1100, 1100), 1),
        ((900, 36), 0),
        ((9000, 36), 0),
    ],
)
def test_quotients_of_unusual_numbers(ctx, shape, axis, monkeypatch):
    rng = np.random.default_rng(7)
    x, y = (rng.random(shape).astype(np.float32) + 1 for _ in range(2))
    for each in (x, y):
        places = rng.random(shape) < 0.01
        some = rng.integers(0, 1 << 32, shape, np.uint32).view(np.float32)
        each[places] = some[places]
    x.flat[::31], y.flat[::37] = 0, 1e-45

    def function(x, y):
        quotient = np.sqrt(x) / y
        return np.where(abs(quotient) < 1e30, quotient, 1).sum(axis=axis)

    arrays = to_gpu(x), to_gpu(y)
    _both(function, *arrays)
    if "quick_divide(" not in fuse.fuse(function).source(*arrays):
        # Three rows leave most multiprocessors of a large device idle, so the
        # operations have a kernel of their own.
        assert shape == (3, 40000)
        assert _processors() > 8
        return
    finished = code.finished

    def changed(source, fast):
        source.text = source.text.replace("if (!usual)", "if (false)")
        return finished(source, fast)

    monkeypatch.setattr(code, "finished", changed)
    with pytest.raises(AssertionError):
        _both(function, *arrays)


def test_a_stored_array_is_reduced_while_it_is_in_registers(ctx):
    def function(x):
        y = x * 2 + 1
        return y, y.sum(axis=1), (y - 1).max(axis=1)

    (kernel,) = _both(function, _array(1100, 131))
    assert kernel.bytes == 2 * 4 * 1100 * 131 + 2 * 4 * 1100


def test_cross_entropy_is_two_kernels(ctx):
    def function(x, target):
        return ((logsumexp(x) - x) * target).sum(axis=1).mean()

    assert len(_both(function, _array(100, 30), _array(100, 30))) == 2


def nearest(points, centres):
    distances = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    return np.argmin(distances, axis=1), distances.min(axis=1)


def test_a_thread_adds_a_few_elements_by_itself(ctx):
    for coordinates, kernels in [(3, 1), (7, 1), (40, 2)]:
        arrays = _array(100, coordinates), _array(12, coordinates)
        assert len(_both(nearest, *arrays)) == kernels
        doubled = _both(lambda p, c: nearest(p, c)[0] * 2, *arrays)
        assert len(doubled) == kernels


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_few_elements_have_the_bits_of_many(ctx, dtype):
    def function(x):
        kept = x[:, ::2] + x[:, 1::2]
        names = ("sum", "max", "argmin", "any", "prod", "mean", "count_nonzero")
        results = [getattr(np, name)(kept, axis=1) for name in names]
        return tuple(r.reshape(-1, 1) + 1 for r in results)

    for length in (2, 6, 16):
        _both(function, to_gpu(_values((50, length), dtype)))


def test_another_tree_of_a_few_elements_has_other_bits(ctx, monkeypatch):
    def function(x):
        return np.sum(x * 3, axis=1) + 0

    x = _array(500, 7, dtype="float64")
    _both(function, x)
    few = property(lambda self: self.length <= 8)
    monkeypatch.setattr(type(_reduction(function, x)), "is_few", few)
    _both(function, x)
    note = trace._note_reduction

    def changed(made, *args):
        note(made, *args)
        last = made.program.statements[-1]
        cut = replace(last.cut, vector=8, lanes=1)
        made.program.statements[-1] = replace(last, cut=cut)

    monkeypatch.setattr(trace, "_note_reduction", changed)
    with pytest.raises(AssertionError):
        _both(function, x)


def _reduction(function, *arrays):
    """Return the recorded reduction of a function."""
    statements = fuse.fuse(function)._inspected(arrays, {}).plan.statements
    return next(each for each in statements if hasattr(each, "cut"))


def test_other_axes_are_other_kernels(ctx):
    steps = _both(lambda x: ((x * 2).sum(axis=0), (x * 2).sum(axis=1)), _array(50, 60))
    assert len(steps) == 2


def test_rows_in_place(ctx):
    def function(x):
        x *= 2
        x -= x.mean(axis=1, keepdims=True)
        x /= np.sqrt((x * x).sum(axis=1, keepdims=True))
        return x.sum(axis=1)

    for shape in [(40, 12), (1100, 131), (3, 5000), (50, 36)]:
        _both(function, _array(*shape))


def test_a_result_that_is_written_again(ctx):
    def function(x):
        most = np.max(x, axis=1, keepdims=True)
        most[:, 0] = 7
        x[:, 1:] -= most
        return most

    for shape in [(1, 50), (40, 12), (60, 300)]:
        _both(function, _array(*shape))


def test_a_result_that_is_read_backward_is_another_kernel(ctx):
    steps = _both(lambda x: x - x.sum(axis=1)[::-1, None], _array(40, 12))
    assert len(steps) == 2


def test_the_source_has_the_reduction(ctx):
    text = fuse.fuse(softmax).source(_array(1100, 131))
    assert "reduce_max" in text
    assert "op_exp" in text
    assert text.count("__global__") == 1


def test_functions_that_read_results_on_the_host_are_called(ctx):
    steps = _both(lambda x: np.histogram(x * 2, 4)[0] + 1, _array(30))
    assert "histogram" in [step.call for step in steps]


# -- the estimate ----------------------------------------------------------------------


def _heavy(x):
    for _ in range(6):
        x = np.exp(np.sin(x))
    return x


def test_few_blocks_compute_little(ctx, monkeypatch):
    x = _array(30000)
    for launch, kernels in [(10**5, 2), (10**15, 1)]:
        monkeypatch.setattr(rows, "LAUNCH", launch)
        assert len(_both(lambda x: _heavy(x).sum(), x)) == kernels


def test_dear_values_of_two_reductions_are_stored(ctx):
    def cheap(x):
        y = x * 2 + 1
        return y.sum(axis=0), y.sum(axis=1)

    def dear(x):
        y = _heavy(x)
        return y.sum(axis=0), y.sum(axis=1)

    x = _array(1000, 40)
    loaded = [sum(step.bytes for step in _both(f, x)) for f in (cheap, dear)]
    assert loaded[0] < loaded[1]


def test_values_of_many_loads_are_stored_for_other_kernels(ctx):
    def function(x, y, loads):
        z = x * 2
        for _ in range(loads - 1):
            z, y = z + y, y[::-1]
        return (x - (z * z).sum()) * z

    x, y = _array(70001), _array(70001)
    for loads, stores in [(1, 0), (2, 1)]:
        steps = _both(lambda x, y, n=loads: function(x, y, n), x, y)
        assert len(steps) == 2
        assert steps[0].bytes == (loads + stores) * 4 * 70001
