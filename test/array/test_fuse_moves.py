"""pycuda.fuse: joined, padded, rolled, repeated and taken elements."""

import numpy as np
import pytest

from pycuda import fuse, gpuarray
from pycuda.fuse import FuseError, _moves as moves
from pycuda.gpuarray import to_gpu
from support.arrays import same
from support.fuse_programs import check

pytestmark = pytest.mark.gpu


def _array(*shape, dtype=np.float32):
    return to_gpu((np.random.default_rng(3).random(shape) * 8).astype(dtype))


def _index(*numbers):
    return to_gpu(np.array(numbers))


_ONE_KERNEL = {
    "roll": lambda x, i: np.roll(x * 2, 1, 0) + np.roll(x, (2, -3), (0, 1)),
    "concatenate": lambda x, i: np.concatenate([x * 2, np.sqrt(x), x[:0]]) + 1,
    "dtypes": lambda x, i: np.concatenate([x * 2, x.astype(np.int64) > 3], axis=1),
    "one array": lambda x, i: np.concatenate([x * 2]) + 1,
    "stack": lambda x, i: np.stack([x * 2, x + 1], axis=1)[::2, :, ::-1] * 2,
    "hstack": lambda x, i: np.hstack([x * 2, x[:, :3]]).T + 1,
    "periodic": lambda x, i: np.diff(np.concatenate([x[-1:], x, x[:1]]), axis=0),
    "pad": lambda x, i: np.pad(x * 2, ((1, 2), (0, 3)), constant_values=7.5) + 1,
    "repeat": lambda x, i: np.repeat(x * 2, 3, axis=1) + 1,
    "tile": lambda x, i: np.tile(x * 2, (2, 3)) + 1,
    "take": lambda x, i: np.take(x * 2, i, axis=0) + np.take(x, i + 1, axis=0),
    "lookup": lambda x, i: np.take(x[0] * 3, x.astype(np.uint8)) + 1,
    "wrap": lambda x, i: np.take(x, i * 100, axis=1, mode="wrap") + 1,
    "clip": lambda x, i: np.take(x, i * 100, axis=0, mode="clip") + 1,
    "a list": lambda x, i: (x * 2)[[1, 0, -2]] + 1,
    "two lists": lambda x, i: (x * 2)[[1, 0, -2], [[0], [3]]] + 1,
    "index arrays": lambda x, i: (x * 2)[i, i + 2] + x[i, 1],
    "arange": lambda x, i: np.roll(gpuarray.arange(9, dtype=np.float32), 2) * x,
    "of each other": lambda x, i: np.concatenate(
        [np.pad(x, 1), np.roll(np.pad(x, 1), 1, 1)]
    ),
    "namespace": lambda x, i: x.__array_namespace__().concat(
        [x * 2, x.__array_namespace__().take(x, i, axis=0)]
    ),
    "outer": lambda x, i: np.outer(x[0], x[1]) + 1,
    "meshgrid": lambda x, i: sum(np.meshgrid(x[0], x[1])),
}


@pytest.mark.parametrize("name", _ONE_KERNEL)
def test_elements_from_other_places_are_in_the_kernel(ctx, name):
    (kernel,) = check(_ONE_KERNEL[name], _array(6, 9), _index(1, -1, 3, 0))
    assert not kernel.call


@pytest.mark.parametrize("mode", ["edge", "wrap", "reflect", "symmetric"])
@pytest.mark.parametrize("widths", [1, ((4, 1), (2, 31)), ((0, 0), (0, 5))])
def test_pads_are_indices(ctx, mode, widths):
    (kernel,) = check(lambda x: np.pad(x * 2, widths, mode=mode) + 1, _array(6, 9))
    assert kernel.operations >= 2
    check(lambda x: np.pad(x, 2, mode=mode)[1:-1, ::-2], _array(1, 3))


@pytest.mark.parametrize("mode", ["linear_ramp", "maximum", "mean", "empty"])
def test_pads_of_several_steps(ctx, mode):
    check(lambda x: np.pad(x * 2, ((2, 3), (1, 0)), mode=mode)[2:-3, 1:], _array(6, 9))


def test_a_join_of_many_arrays_is_one_array(ctx):
    many = moves.MOST_JOINED + 1
    check(lambda x: np.concatenate([x * k for k in range(many)], 1) + 1, _array(3, 4))


def test_only_elements_of_the_chosen_array_are_loaded(ctx):
    steps = check(lambda x, y: np.concatenate([x, y]) * 2, _array(30), _array(10))
    assert [step.bytes for step in steps] == [2 * 40 * 4]


def test_parts_of_a_stack_share_what_they_are_computed_from(ctx):
    def solved(x):
        size = np.exp(x[:, 0]) + x[:, 1]
        parts = [x[:, k] / size for k in range(3)]
        return np.stack(parts, axis=1)

    x = _array(50, 3)
    (kernel,) = check(solved, x)
    assert kernel.shape == (50,)
    assert kernel.operations < 10
    (other,) = check(lambda x: solved(x) + 1, x)  # a part for each thread
    assert other.shape == (50, 3)
    check(lambda x: np.stack([x[0, 0] * 2, x[1, 1]]), x)
    check(lambda x: np.concatenate([x[:, :1], x[:, 1:2].astype(np.int8)], axis=1), x)


def test_a_stack_of_parts_that_differ_in_numbers_chooses_the_numbers(ctx):
    def members(x, count):
        return np.stack([(x < k) & (x > 0.5) for k in range(count)], axis=1) + 1

    x = _array(70)
    source = fuse.fuse(members).source(x, 8)
    assert source.count("op_less(") == 1
    check(lambda x: members(x, 8), x)
    others = fuse.fuse(lambda x: np.stack([x < 1, x * 2 < 1]) + 1).source(x)
    assert others.count("op_less(") == 2


def test_dear_values_in_several_places_are_stored(ctx):
    def function(x):
        y = np.exp(np.sin(x)) + np.cos(x)
        return np.roll(y, 1) + np.roll(y, -1) + y

    assert [step.shape for step in check(function, _array(100))] == [(100,), (100,)]
    cheap = fuse.fuse(lambda x: np.roll(x * 2, 1) + np.roll(x * 2, -1))
    assert len(cheap.kernels(_array(100))) == 1


def test_text_does_not_grow_with_each_join(ctx):
    def function(x):
        for _ in range(12):
            x = np.concatenate([x[:50], x[50:]]) * 2 + np.roll(x, 1)
        return x

    check(function, _array(100))
    assert len(fuse.fuse(function).source(_array(100))) < 200_000


def test_a_move_into_its_own_array_reads_first(ctx):
    def function(x, i):
        x[...] = np.roll(x, 1, 0)
        x[1:3] = x[i]
        return np.concatenate([x, x])

    check(function, _array(6, 9), _index(4, 5))


def test_a_move_is_read_before_its_array_changes(ctx):
    def function(x):
        before = np.pad(x * 2, 1, mode="edge")
        x += 1
        return before * 3

    check(function, _array(6, 9))


def test_moves_in_a_loop(ctx):
    def function(x, i):
        return fuse.loop(4, lambda u: u + np.roll(u, 1) * 0.5 + u[i][0], x)

    (step,) = check(function, _array(20), _index(3, 1))
    assert step.call == "loop"


def test_large_arrays(ctx):
    n = 1 << 18
    check(lambda x: np.concatenate([x * 2, x + 1]) * 3, _array(n))
    check(lambda x: np.roll(x, 5) + x, _array(n))
    check(lambda x: np.pad(x, (4, 4)) + 1, _array(n))


# -- indices out of bounds -------------------------------------------------------------


def _picked(x, index):
    return np.take(x * 2, index, axis=0) + 1


@pytest.mark.parametrize("number", [6, -7, 1 << 32])
def test_an_index_out_of_bounds_is_noted(ctx, number):
    x, index = _array(6, 9), _index(1, number)
    fused = fuse.fuse(_picked)
    result = fused(x, index)
    line = _picked.__code__.co_firstlineno + 1
    with pytest.raises(IndexError, match=f"index {number} .* axis 0 .* line {line};"):
        result.get()
    assert fused.kernels(x, index)[0].call == ""
    want = x.get()[1] * 2 + 1
    same(result, np.stack([want, np.ones_like(want)]))  # the element of zeros
    fused(x, _index(1, 2)).get()


def test_an_index_of_the_host_out_of_bounds(ctx):
    with pytest.raises(IndexError, match="index 6 is out of bounds"):
        fuse.fuse(lambda x: x[[0, 6]])(_array(6))
    with pytest.raises(FuseError, match="used as an index"):
        fuse.fuse(lambda x: [1, 2][x[0]])(_index(0))


def test_an_axis_without_elements(ctx):
    fused = fuse.fuse(lambda x, index: np.take(x, index, axis=0))
    with pytest.raises(IndexError):
        fused(gpuarray.zeros((0, 3), np.float32), _index(0))
    x, nothing = gpuarray.zeros((0, 3), np.float32), gpuarray.zeros(0, np.int64)
    check(lambda x, i: np.take(x, i, axis=0), x, nothing)


def test_indices_of_the_host_are_kept(ctx):
    fused = fuse.fuse(lambda x: x[[2, 0]] + 1)
    x = _array(4)
    same(fused(x), x.get()[[2, 0]] + 1)
    same(fused(x), x.get()[[2, 0]] + 1)
    assert len(fused.kernels(x)) == 1


# -- reductions and moves --------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 9), (40, 1), (3, 300), (70, 5), (2, 5000)])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_reductions_of_elements_from_other_places(ctx, shape, axis):
    def function(x):
        rolled = np.roll(x, 1, 0) * x
        total = rolled.sum(axis=axis, keepdims=True)
        joined = np.concatenate([x * 2, rolled])
        picked = np.take(x, _numbers(x), axis=0, mode="clip")
        padded = np.pad(x, 1, constant_values=2)
        return (
            rolled / total,
            joined.max(axis=axis),
            picked.mean(axis=axis),
            padded.sum(axis=axis),
            np.roll(x / x.sum(axis=axis, keepdims=True), 2, 1),
        )

    check(function, _array(*shape))


def test_an_element_of_each_row_joins_the_reductions_of_the_row(ctx):
    """The index differs between rows only, so it is found once in a row."""

    def function(x, labels):
        most = x.max(axis=1, keepdims=True)
        total = np.log(np.exp(x - most).sum(axis=1)) + most[:, 0]
        return total - np.take_along_axis(x, labels[:, None], axis=1)[:, 0]

    x = _array(4096, 256)
    labels = gpuarray.to_gpu(np.arange(4096) * 7 % 256)
    assert len(check(function, x, labels)) == 1


def _numbers(x):
    return (x[:, 0] * 3).astype(np.int32)


def test_a_deep_chain_of_moves(ctx):
    def function(x):
        y = x
        for k in range(60):
            y = np.roll(y * 0.5, 1, 0) + x if k % 7 == 0 else y * 0.99 + 1
        return y

    check(function, _array(6, 70))


def test_a_pad_reads_a_product_of_few_elements(ctx):
    """The reduction is inside a branch, and its kernel needs its header."""

    def function(x):
        y = np.pad(np.arctan2(*[np.prod(x, axis=0, keepdims=True)] * 2), 1)
        return np.arctan2(y, y)

    values = np.asfortranarray(np.arange(600).reshape(3, 200) % 5)
    check(function, gpuarray.to_gpu(values.astype(np.uint8)))
