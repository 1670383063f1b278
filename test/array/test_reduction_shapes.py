"""Reductions over shapes, strides and dtypes that take each kind of kernel.

Long and short rows, columns, few and many results, elements that vectors can and cannot
load. The expected values are NumPy's, of the same elements in double precision.
"""

import sys

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

SHAPES = [
    (3,),
    (4097,),
    (70_001,),
    (300_000,),
    (1024, 16),
    (999, 16),
    (40, 3),
    (3, 4000),
    (16, 3000),
    (1100, 40),
    (1100, 200),
    (1080, 9),
    (33, 1001),
    (20_000, 8),
    (7, 5, 33),
    (2, 40, 64),
    (64, 1),
]
NAMES = ("sum", "mean", "var", "min", "argmax", "any")


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * 50
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    elif np.dtype(dtype).kind == "u":
        values = abs(values)
    return values.astype(dtype)


def check(x, a, name, axis):
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    result = getattr(x, name)(axis=axis)
    expected = np.asarray(getattr(wide, name)(axis=axis))
    half = result.dtype == np.float16
    np.testing.assert_allclose(
        result.get(), expected, rtol=2e-3 if half else 5e-7, atol=1e-7, err_msg=name
    )
    assert result.dtype == np.asarray(getattr(a[:1], name)()).dtype


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_axis(ctx, shape):
    a = numbers(shape, np.float32)
    x = gpuarray.to_gpu(a)
    for axis in (None, *range(a.ndim)):
        for name in NAMES:
            if name != "any" or axis is not None:
                check(x, a, name, axis)


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f8", "c8", "c16"], ids=str
)
def test_every_dtype(ctx, dtype):
    for shape in ((600, 16), (5000,), (40, 300)):
        a = numbers(shape, dtype)
        x = gpuarray.to_gpu(a)
        for axis in (None, 0, -1):
            for name in ("sum", "var", "argmin"):
                check(x, a, name, axis)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, 1:-1],
        lambda a: a[::-1, ::2],
        lambda a: a.T,
        lambda a: a[3:, 4:],
        lambda a: a.reshape(30, 10, 40).transpose(1, 0, 2)[:, :, 2:-2],
    ],
    ids=["inner", "steps", "transposed", "aligned", "three axes"],
)
def test_views(ctx, view):
    a = numbers((300, 40), np.float32)
    x, a = view(gpuarray.to_gpu(a)), view(a)
    axes = [None, *range(a.ndim)] + ([(0, 2), (1, 2)] if a.ndim == 3 else [])
    for axis in axes:
        for name in ("sum", "var"):
            check(x, a, name, axis)
        if not isinstance(axis, tuple):
            check(x, a, "argmax", axis)


@pytest.mark.parametrize("shape", [(5000,), (700, 16), (40, 300)], ids=str)
def test_the_first_of_equal_elements_and_nan(ctx, shape):
    a = np.random.default_rng(1).integers(0, 3, shape).astype(np.float32)
    b = a.copy()
    b[..., 2] = np.nan
    b[-1] = np.nan
    for array in (a, b, -b, np.full(shape, -np.inf, np.float32)):
        x = gpuarray.to_gpu(array)
        for axis in (None, 0, -1):
            for name in ("argmax", "argmin", "max", "min"):
                np.testing.assert_array_equal(
                    getattr(x, name)(axis=axis).get(), getattr(array, name)(axis=axis)
                )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(40_000,), (2500, 16), (60, 500)], ids=str)
def test_the_variance_of_numbers_far_from_0(ctx, dtype, shape):
    """The variance is as exact as NumPy's, which reads the elements twice."""
    shift = 1e4 if dtype == np.float32 else 1e9
    a = numbers(shape, dtype, 2) / 50 + dtype(shift)
    a.reshape(-1)[0] += 300  # far from all others
    exact = a.astype(np.clongdouble if a.dtype.kind == "c" else np.longdouble)
    x = gpuarray.to_gpu(a)
    for axis in (None, 0, -1):
        true = exact.var(axis)
        for ours, theirs in (
            (x.var(axis).get(), a.var(axis)),
            (x.std(axis).get() ** 2, a.std(axis) ** 2),
        ):
            allowed = 4 * np.finfo(dtype).eps + 2 * abs(theirs - true) / true
            assert (abs(ours - true) / true <= allowed).all()


def test_infinity_and_nan_in_a_variance(ctx):
    a = numbers((64, 16), np.float32)
    a[3, 4], a[5, 6], a[7, 6] = np.nan, np.inf, -np.inf
    x = gpuarray.to_gpu(a)
    with np.errstate(all="ignore"):
        for axis in (None, 0, 1):
            np.testing.assert_allclose(x.var(axis).get(), a.var(axis), rtol=1e-6)
        for ddof in (15, 16, 17):
            np.testing.assert_allclose(
                gpuarray.var(x, 1, ddof).get(), a.var(1, ddof=ddof), rtol=1e-5
            )


def python_calls(function):
    """Return the Python functions that a call runs."""
    names = []

    def note(frame, event, argument):
        if event == "call":
            names.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return names[1:]  # without the lambda itself


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.sum(0),
        lambda x: x.var(axis=0, keepdims=True),
        lambda x: x.argmax(),
        lambda x: x.any(axis=1),
        lambda x: gpuarray.var(x, 1, 1),
        lambda x: gpuarray.mean(x, axis=-1),
        lambda x: gpuarray.count_nonzero(x),
    ],
)
def test_a_repeated_call_runs_no_python(ctx, call):
    x = gpuarray.to_gpu(numbers((60, 16), np.float32))
    assert python_calls(lambda: call(x)) != []  # compiles the kernel
    assert python_calls(lambda: call(x)) in ([], ["<lambda>"])


def test_numpys_functions_take_numpys_arguments(ctx):
    a = numbers((60, 16), np.float32)
    x = gpuarray.to_gpu(a)
    for _ in range(2):  # the second calls do not leave C
        np.testing.assert_allclose(np.var(x, 0, ddof=1).get(), a.var(0, ddof=1), 1e-6)
        np.testing.assert_allclose(np.sum(x, (0, 1)).get(), a.sum(), 1e-4)
        np.testing.assert_array_equal(np.any(x > 0, 1).get(), (a > 0).any(1))
        assert np.max(x, keepdims=True).shape == (1, 1)
        with pytest.raises(TypeError, match="axes"):
            np.sum(x, axes=0)
        with pytest.raises(TypeError, match="4 positional"):
            gpuarray.sum(x, None, None, None, 0)
