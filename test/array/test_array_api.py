"""The namespace of the Python array API standard.

array_api_strict computes the results that ours are compared with.
"""

import subprocess
import sys

import numpy as np
import pytest

import pycuda.array_api as xp
import pycuda.driver as drv
from pycuda.gpuarray import GPUArray, to_gpu
from support.cc import ROOT
from support.standard.draws import Draw
from support.standard.names import missing
from support.standard.results import Tolerance, compare

pytestmark = pytest.mark.gpu

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)


# -- the names -------------------------------------------------------------------------


def test_all_names_and_signatures():
    lacks, count = missing()
    assert lacks == []
    assert count > 250


def test_table_of_names_is_that_of_array_api_strict():
    strict = pytest.importorskip("array_api_strict", minversion="2.6")
    own = {"Device", "ArrayAPIStrictFlags", "__version__"}
    names = {name for name in strict.__all__ if "_flags" not in name} - own
    assert names - {*xp.__all__} == set()
    assert {*strict.linalg.__all__} - {*xp.linalg.__all__} == set()
    assert xp.__array_api_version__ == strict.__array_api_version__


def test_namespace_of_an_array(ctx):
    x = to_gpu(MATRIX)
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2022.12") is xp
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.01")


def test_all_names_are_attributes():
    for name in xp.__all__:
        assert hasattr(xp, name), name
    with pytest.raises(AttributeError, match="nothing"):
        _ = xp.nothing


def test_names_beyond_the_standard(ctx):
    x = to_gpu(MATRIX)
    for call in (
        lambda xp, a: xp.pad(a, 1),
        lambda xp, a: xp.transpose(a, (1, 0)),
        lambda xp, a: xp.gradient(a, axis=0),
        lambda xp, a: xp.einsum("ij->i", a),
        lambda xp, a: xp.median(a, axis=[0]),
        lambda xp, a: xp.cumsum(a, axis=0),
        lambda xp, a: xp.quantile(a, 0.25),
        lambda xp, a: xp.diag(a[0]),
        lambda xp, a: xp.lib.stride_tricks.sliding_window_view(a, 2, 0),
    ):
        np.testing.assert_allclose(call(xp, x).get(), call(np, MATRIX), 1e-6)


def test_range_beyond_the_standard(ctx):
    np.testing.assert_allclose(xp.logspace(-1, 1, 5).get(), np.logspace(-1, 1, 5))
    assert "logspace" not in xp.__all__


def test_half_precision_is_beyond_the_standard(ctx):
    assert xp.ones(2, dtype=xp.float16).dtype == np.float16
    assert "float16" not in xp.__all__
    assert "float16" not in xp.__array_namespace_info__().dtypes()


def test_result_type_of_numbers():
    assert xp.result_type(np.float64(3)) == np.float64
    assert xp.result_type(np.float32(3), 1.5) == np.float32
    assert xp.result_type(np.float64(3), xp.float32) == np.float64
    assert xp.result_type(3.0, xp.float32) == np.float32
    with pytest.raises(ValueError, match="at least one"):
        xp.result_type(3.0)


# -- comparison with array_api_strict --------------------------------------------------


def test_no_differences(ctx):
    pytest.importorskip("array_api_strict", minversion="2.6")
    from support.standard.run import DRAWERS, run

    outcome = run(2 * len(DRAWERS), seed=12, variety=1)
    assert outcome.differences == []
    assert outcome.refused == {}  # only calls that the standard defines are drawn
    assert outcome.unavailable == {}
    assert outcome.cases == 2 * len(DRAWERS)


@pytest.mark.parametrize(
    "words, status, said",
    [
        ("--cases 40 add sum errors", 0, "40 cases, 0 differences"),
        ("nothing", 2, "the comparison knows no function 'nothing'"),
        ("--types 0", 2, "--types is the number of data types"),
    ],
)
def test_command(ctx, words, status, said):
    pytest.importorskip("array_api_strict", minversion="2.6")
    script = ROOT / "tools" / "compare_array_api.py"
    done = subprocess.run(
        [sys.executable, script, *words.split()],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout + done.stderr
    assert status or "names implemented" in done.stdout


def test_draws_repeat():
    first, second = Draw(3, 2), Draw(3, 2)
    for name in ("add", "sum"):
        assert first.dtype(name, ("int8", "int16", "int32")) == second.dtype(
            name, ("int8", "int16", "int32")
        )
    assert first.whole(0, 10**9) == second.whole(0, 10**9)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (np.float32(1), np.float64(1)),
        (np.ones(2), np.ones((2, 1))),
        (np.ones(2), np.array([1, 1 + 1e-9])),
        (np.array(np.nan), np.array(1.0)),
        (np.array(np.inf), np.array(-np.inf)),
        (np.array(0.0), np.array(-0.0)),
        (np.array(1 + 1j), np.array(1 + 2j)),
        (np.array([1, 2]), np.array([1, 3])),
        ([np.ones(1)], [np.ones(1), np.ones(1)]),
        ({"a": 1}, {"b": 1}),
        (True, 1),
    ],
)
def test_comparison_finds_differences(wanted, found):
    if isinstance(wanted, np.generic):
        wanted, found = np.asarray(wanted), np.asarray(found)
    assert compare(wanted, found, Tolerance(signs=True)) is not None
    assert compare(wanted, wanted, Tolerance(signs=True)) is None


# -- what the comparison cannot draw ---------------------------------------------------


def test_devices(ctx):
    x = to_gpu(MATRIX)
    here = xp.__array_namespace_info__().default_device()
    assert here == x.device == drv.Context.get_device()
    assert xp.__array_namespace_info__().devices() == (here,)
    assert xp.zeros(3, device=here).device == here
    for other in ("cpu", 0):
        with pytest.raises(ValueError, match="device"):
            xp.zeros(3, device=other)
        with pytest.raises(ValueError, match="device"):
            xp.astype(x, xp.float64, device=other)


def test_copies(ctx):
    x = to_gpu(MATRIX)
    assert xp.asarray(x) is x
    assert xp.asarray(x, copy=False) is x
    assert xp.asarray(x, copy=True).ptr != x.ptr
    assert xp.astype(x, xp.float32, copy=False) is x
    assert xp.astype(x, xp.float32).ptr != x.ptr
    assert xp.reshape(x, (6,), copy=False).ptr == x.ptr
    assert xp.reshape(x, (6,), copy=True).ptr != x.ptr
    assert xp.reshape(x[:, ::2], (2, 2, 1), copy=False).ptr == x.ptr
    with pytest.raises(ValueError, match="copy=False"):
        xp.reshape(x.T, (6,), copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(MATRIX, copy=False)


def test_reshape_follows_the_indices(ctx):
    x = to_gpu(np.asfortranarray(MATRIX))
    np.testing.assert_array_equal(xp.reshape(x, (3, 2)).get(), MATRIX.reshape(3, 2))


def test_counts_of_truth_values(ctx):
    mask = to_gpu(MATRIX) > 2
    assert xp.sum(mask).dtype == xp.int64
    assert int(xp.sum(mask)) == 3
    assert xp.cumulative_sum(mask[0]).dtype == xp.int64
    assert xp.where(mask, 1, to_gpu(MATRIX)).dtype == xp.float32


def test_casts_between_kinds(ctx):
    """The standard has no rule for mixed kinds; result_type() and can_cast() agree."""
    assert xp.can_cast(xp.bool, xp.float64) is True
    names = ["bool", "int8", "uint32", "uint64", "float16", "float64", "complex64"]
    for source in map(np.dtype, names):
        for target in map(np.dtype, names):
            expected = xp.result_type(source, target) == target
            assert xp.can_cast(source, target) is expected
            assert xp.can_cast(xp.zeros(2, dtype=source), target) is expected


def test_from_dlpack(ctx):
    x = to_gpu(MATRIX)
    shared = xp.from_dlpack(x)
    assert isinstance(shared, GPUArray) and shared.ptr == x.ptr
    assert xp.from_dlpack(x, copy=True).ptr != x.ptr
    with pytest.raises(BufferError):
        xp.from_dlpack(MATRIX)
    np.testing.assert_array_equal(xp.from_dlpack(MATRIX, copy=True).get(), MATRIX)
    np.testing.assert_array_equal(np.from_dlpack(x, device="cpu", copy=True), MATRIX)


def test_axes_must_be_named(ctx):
    x = to_gpu(MATRIX)
    for call in (
        lambda: xp.cumulative_sum(x),
        lambda: xp.cumulative_prod(x),
        lambda: xp.take(x, xp.asarray([0])),
    ):
        with pytest.raises(ValueError, match=r"\(2, 3\)"):
            call()
    with pytest.raises(ValueError, match="between -2 and -1, not 1"):
        xp.vecdot(x, x, axis=1)
    with pytest.raises(ValueError, match="step"):
        xp.arange(0, 1, 0)
    with pytest.raises(ValueError, match="-1"):
        xp.diff(x, n=-1)


def test_integers_in_arange_are_exact(ctx):
    big = 2**53
    np.testing.assert_array_equal(
        xp.arange(big, big + 4).get(), np.arange(big, big + 4)
    )
    assert xp.arange(3, -4, -2, dtype=xp.uint8).shape == (4,)


# -- array_api_compat ------------------------------------------------------------------


def test_array_api_compat(ctx):
    compat = pytest.importorskip("array_api_compat")
    x = to_gpu(MATRIX)
    assert compat.is_array_api_obj(x)
    assert compat.array_namespace(x, 1.0, None, x) is xp
    assert compat.device(x) == x.device
    assert compat.to_device(x, x.device) is x
    assert compat.size(x) == 6
    assert compat.is_writeable_array(x)
    assert not compat.is_lazy_array(x)
    with pytest.raises(TypeError, match="Multiple namespaces"):
        compat.array_namespace(x, MATRIX)


def test_powers_of_negative_zero(ctx):
    zeros = to_gpu(np.array([-0.0, -0.0, -0.0]))
    halves = to_gpu(np.array([0.5, 3.0, 2.0]))
    np.testing.assert_array_equal(
        np.signbit(xp.pow(zeros, halves).get()), [False, True, False]
    )


# -- elementwise functions in C --------------------------------------------------------


def test_elementwise_arguments(ctx):
    x = to_gpu(MATRIX)
    assert xp.add.__module__ == "pycuda.array_api"
    for call, words in (
        (lambda: xp.add(x), r"add\(\) takes 2 arguments \(1 given\)"),
        (lambda: xp.where(x, x), r"where\(\) takes 3 arguments \(2 given\)"),
        (lambda: xp.add(x, MATRIX), r"numpy.ndarray; copy it with to_gpu\(\)"),
        (lambda: xp.add(1, 2), "no operand is a GPUArray"),
        (lambda: xp.sin("x"), "sin takes GPUArrays and numbers, not str"),
        (lambda: xp.round(MATRIX), "rint takes GPUArrays"),
        (lambda: xp.floor(xp.astype(x, xp.complex64)), "floor .* complex64"),
        (lambda: xp.clip(x, low=1), "low"),
    ):
        with pytest.raises(TypeError, match=words):
            call()
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(2,\)"):
        xp.add(x, x[:, 0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "complex64"])
@pytest.mark.parametrize(
    ("low", "high"),
    [(1, 3), (None, 3), (1, None), (None, None), (2, 1), (-(10**30), 10**30)],
)
def test_clip_keeps_the_dtype(ctx, dtype, low, high):
    if dtype == "complex64" and low is not None and low < 0:
        pytest.skip("10**30 has no exact complex64")
    values = MATRIX.astype(dtype)
    found = xp.clip(to_gpu(values), low, max=high)
    exact = values if dtype == "complex64" else values.astype(object)
    wanted = exact if low is None and high is None else np.clip(exact, low, high)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.get(), wanted.astype(dtype))


def test_clip_with_arrays_and_other_dtypes(ctx):
    values = np.array([[1, 5, 9]], np.int32)
    x = to_gpu(values)
    for low, high in (
        (to_gpu(np.array([[2], [6]], np.int32)), 7),
        (to_gpu(np.array([2.5])), None),
        (0.5, np.float32(6)),
        (np.int8(2), None),
    ):
        bounds = [b.get() if isinstance(b, GPUArray) else b for b in (low, high)]
        found = xp.clip(x, low, high)
        np.testing.assert_array_equal(
            found.get(), np.clip(values, *bounds).astype(np.int32)
        )
        assert found.dtype == np.int32
    x = to_gpu(np.array([1, np.nan, 3], np.float32))
    np.testing.assert_array_equal(xp.clip(x, 2, 2.5).get(), [2, np.nan, 2.5])
    assert xp.clip(x).ptr != x.ptr


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex128"])
def test_round(ctx, dtype):
    values = np.array([0.5, 1.5, 2.5, 7.0]).astype(dtype)
    found = xp.round(to_gpu(values))
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.get(), np.round(values).astype(dtype))


def test_absent_values_of_numpy_wrappers(ctx):
    x = to_gpu(MATRIX)
    absent = np._NoValue
    assert np.max(x, initial=absent, keepdims=absent).get() == 5


def test_comparison_of_overflow():
    wanted = np.array([1 + 1j, complex(np.inf, np.nan)])
    loose = Tolerance(overflow=True)
    assert compare(wanted, np.array([1 + 1j, complex(-np.inf, 0)]), loose) is None
    assert compare(wanted, np.array([1 + 1j, complex(2, 0)]), loose) is not None
    assert compare(wanted, np.array([1 + 2j, complex(np.inf, 0)]), loose) is not None
    assert compare(wanted, np.array([1 + 1j, complex(np.inf, 0)]), Tolerance())
