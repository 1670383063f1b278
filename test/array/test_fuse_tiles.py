"""pycuda.fuse: kernels over rows, stencils, and loops of them on the host."""

import inspect

import numpy as np
import pytest

from pycuda import fuse, gpuarray
from pycuda.fuse import _group as group, _tile as tile
from pycuda.gpuarray import GPUArray, to_gpu

pytestmark = pytest.mark.gpu


def _roll(u, rows, columns):
    return np.roll(np.roll(u, rows, axis=0), columns, axis=1)


def _around(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def one_step(u):
    return 0.25 * _around(u)


def two_steps(u):
    return one_step(one_step(u))


def padded(u):
    return np.pad(0.25 * _around(u), 1)


def two_padded(u):
    return padded(padded(u))


def padded_with_a_number(u):
    return np.pad(u[1:-1, 1:-1] + u[2:, 1:-1], 1, constant_values=2.5) * u


def padded_at_an_end(u):
    return np.pad(u[2:, 3:] * u[2:3, 3:], ((0, 2), (1, 2))) + u


def torus(u):
    around = _roll(u, 1, 0) + _roll(u, -1, 0) + _roll(u, 0, 1) + _roll(u, 0, -1)
    return u + 0.1 * (around - 4 * u)


def two_on_a_torus(u):
    return torus(torus(u))


def wave(u, before):
    return 2 * u - before + 0.1 * (torus(u) - u), u


def two_of_a_wave(u, before):
    return wave(*wave(u, before))


def life(u):
    u = np.where(u > 0.5, 1, 0).astype(np.float32)
    lines = u + np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0)
    around = lines + np.roll(lines, 1, axis=1) + np.roll(lines, -1, axis=1) - u
    alive = (around == 3) | ((around == 2) & (u > 0.5))
    return np.where(alive, 1, 0).astype(np.float32)


def rolls_of_padded(u):
    return np.roll(padded(u), 1, axis=0) + padded(u)


def rolls_of_views(u):
    a = np.roll(u, 3, axis=0) * 2
    b = np.roll(np.roll(a, 1, axis=0), 5, axis=1)
    return np.roll(a[::-1], 2, axis=0) + b, np.roll(a[::2, ::3], 1, axis=0), a.T + 1


def broadcast(u):
    return u * u[:, 3:4] + u[2:3] - u[::-1] + u[:, ::-1]


def numbered(u):
    return u + gpuarray.arange(u.size, dtype=np.float32).reshape(u.shape) * u


def in_place(u):
    u *= 2
    return u + 1


def three_axes(u):
    v = u[:, : u.shape[1] // 2 * 2].reshape(u.shape[0], 2, -1)
    return v * v[:1] + v[:, ::-1]


def half(u):
    return np.roll(u, 1, axis=1).astype(np.float16) * u.astype(np.float16)


FUNCTIONS = [
    one_step,
    two_steps,
    padded,
    two_padded,
    padded_with_a_number,
    padded_at_an_end,
    torus,
    two_on_a_torus,
    wave,
    two_of_a_wave,
    life,
    rolls_of_padded,
    rolls_of_views,
    broadcast,
    numbered,
    in_place,
    three_axes,
    half,
]


def _arrays(function, shape):
    count = len(inspect.signature(function).parameters)
    values = np.random.default_rng(4).random((count, *shape)).astype(np.float32)
    values[:, ::7, ::5] = np.nan
    return [to_gpu(each) for each in values]


def _differs(function, shape):
    """Say whether a fused function has other results than the plain one."""
    arrays = _arrays(function, shape)
    want = function(*[each.copy() for each in arrays])
    got = fuse.fuse(function)(*arrays)
    pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
    return any(
        not np.array_equal(ours.get(), plain.get(), equal_nan=True)
        for ours, plain in pairs
    )


def _source(function, *shape):
    return fuse.fuse(function).source(*_arrays(function, shape))


def _kernels(function, *shape):
    return fuse.fuse(function).kernels(*_arrays(function, shape))


# -- the same bits ---------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 1 << 30], ids=["rows", "one"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_threads_of_several_rows_compute_the_same(ctx, monkeypatch, function, threads):
    monkeypatch.setattr(tile, "_ENOUGH_THREADS", threads)
    for shape in ((70, 128), (131, 67), (65, 300), (8, 200), (20, 30)):
        assert not _differs(function, shape), shape


def test_the_comparison_finds_a_wrong_lane(ctx, monkeypatch):
    monkeypatch.setattr(tile.Tile, "_is_worth_a_shuffle", lambda self, number: True)
    assert not _differs(two_steps, (70, 200))
    reach = tile.Tile._choose

    def short(self):
        reach(self)
        self.geometry.before = 0

    monkeypatch.setattr(tile.Tile, "_choose", short)
    assert _differs(two_steps, (70, 200))


# -- what threads compute --------------------------------------------------------------


def test_rows_need_no_divisions(ctx):
    assert "quotient" not in _source(one_step, 70, 200)
    assert "quotient" in _source(one_step, 70, 20)  # threads would have no element


def test_rows_of_a_thread_share_their_elements(ctx, monkeypatch):
    monkeypatch.setattr(tile, "_ENOUGH_THREADS", 1)
    text = _source(one_step, 70, 200)
    # Of eight rows: ten elements of the column and eight at each side.
    assert text.count("const float32 v") - text.count("cast<") == 10 + 2 * 8
    monkeypatch.setattr(tile, "_ENOUGH_THREADS", 1 << 30)
    text = _source(one_step, 70, 200)
    assert text.count("const float32 v") - text.count("cast<") == 4


def test_neighbours_in_a_warp_share_values(ctx, monkeypatch):
    monkeypatch.setattr(tile, "_ENOUGH_THREADS", 1)
    text = _source(two_steps, 70, 200)
    assert text.count("__shfl_sync") == 2 * 8
    # The first step is computed once for each of ten rows, the second for eight.
    assert text.count("op_multiply") == 10 + 8
    assert "__shfl_sync" not in _source(one_step, 70, 200)  # loads are cheaper


def test_a_kernel_that_changes_its_input_has_one_row_for_each_thread(ctx, monkeypatch):
    monkeypatch.setattr(tile, "_ENOUGH_THREADS", 1)
    assert _source(in_place, 70, 200).count("] = v") == 2


# -- what becomes one kernel -----------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [two_steps, two_padded, two_on_a_torus, two_of_a_wave, life],
    ids=lambda each: each.__name__,
)
def test_two_steps_are_one_kernel(ctx, monkeypatch, function):
    assert len(_kernels(function, 70, 200)) == 1
    monkeypatch.setattr(group, "MOST_HALO", 0)
    assert len(_kernels(function, 70, 200)) > 1


def test_short_rows_share_nothing(ctx):
    assert len(_kernels(life, 70, 100)) == 2


def test_the_work_of_neighbours_counts_rows_and_columns(ctx):
    def dear(u):
        for _ in range(3):
            u = np.exp(np.sin(u))
        return u[:-1] + u[1:]

    assert len(_kernels(dear, 70, 200)) == 1


def test_values_reach_over_few_rows(ctx):
    def steps(u):
        for _ in range(7):
            u = one_step(u)
        return u

    assert [each.shape for each in _kernels(steps, 70, 200)] == [
        (64, 194),
        (58, 188),
        (56, 186),
    ]


def test_long_chains_are_one_kernel(ctx):
    def chain(x):
        for _ in range(300):
            x = x * 0.75 + 0.5
        return x

    (kernel,) = _kernels(chain, 5, 6)
    assert kernel.operations == 600
    assert not _differs(chain, (5, 6))


def test_a_kernel_has_a_bounded_number_of_operations(ctx, monkeypatch):
    monkeypatch.setattr(group, "MOST_OPERATIONS", 40)

    def masked(x, y):
        a, times = x, x * 0
        for _ in range(20):
            inside = a * a < 4
            a = np.where(inside, a * a + y, a)
            times = times + inside
        return a, times

    counts = [each.operations for each in _kernels(masked, 5, 6)]
    assert len(counts) > 1
    assert sum(counts) < 200  # of 140: few are computed again
    assert not _differs(masked, (5, 6))


# -- loops on the host -----------------------------------------------------------------


@pytest.mark.parametrize("turns", [1, 2, 5, 8])
@pytest.mark.parametrize("function", [padded, wave, life], ids=lambda f: f.__name__)
def test_a_loop_runs_two_turns_at_once(ctx, function, turns):
    def plain(*state):
        for _ in range(turns):
            state = function(*state)
            state = state if isinstance(state, tuple) else (state,)
        return state

    def looped(*state):
        if len(state) == 1:
            return (fuse.loop(turns, function, state[0]),)
        return fuse.loop(turns, lambda state: function(*state), state)

    arrays = _arrays(function, (70, 130))
    before = [each.get() for each in arrays]
    fused = fuse.fuse(looped)
    for _ in range(2):
        for ours, want in zip(fused(*arrays), plain(*arrays), strict=True):
            np.testing.assert_array_equal(ours.get(), want.get())
    for array, values in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array.get(), values)


def test_a_loop_uses_the_memory_of_earlier_states(ctx):
    made = []

    def allocate(size):
        made.append(GPUArray((size,), np.uint8))
        return made[-1].gpudata

    @fuse.fuse
    def waves(u, before):
        return fuse.loop(12, lambda state: wave(*state), (u, before))

    values = np.random.default_rng(4).random((2, 70, 130)).astype(np.float32)
    arrays = [to_gpu(each, allocator=allocate) for each in values]
    want = tuple(arrays)
    for _ in range(12):
        want = wave(*want)
    made.clear()
    got = waves(*arrays)
    assert len(made) <= 4  # of 24 states
    for ours, plain in zip(got, want, strict=True):
        np.testing.assert_array_equal(ours.get(), plain.get())


def test_a_loop_of_a_state_that_is_not_at_a_whole_word(ctx):
    def shifted(x):
        return fuse.loop(4, lambda x: x[::-1] * 0.5 + 1, x)

    x = to_gpu(np.random.default_rng(4).random(100).astype(np.float32))[1:]
    want = x
    for _ in range(4):
        want = want[::-1] * 0.5 + 1
    np.testing.assert_array_equal(fuse.fuse(shifted)(x).get(), want.get())
