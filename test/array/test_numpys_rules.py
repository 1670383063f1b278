"""NumPy's rules of casting, its dtypes of results and its less common arguments."""

import warnings

import numpy as np
import pytest

from pycuda.driver import PyCUDAWarning
from pycuda.gpuarray import to_gpu
from support.arrays import same
from support.same_as_numpy import agree

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning"),
]

NAN, INF = np.nan, np.inf
DTYPES = ["?", "i1", "u1", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def empty(shape, dtype="f8"):
    return np.zeros(shape, dtype)


# -- casting ---------------------------------------------------------------------------


def changed(function):
    """Return a function that changes a copy of its first argument and returns it."""

    def call(x, *args, **kwargs):
        x = x.copy()
        function(x, *args, **kwargs)
        return x

    return call


@changed
def set_first(x, value):
    x[0] = value


@changed
def set_all(x, value):
    x[...] = value


@changed
def set_list(x, index, value):
    x[index] = value


copy_to = changed(np.copyto)
put = changed(np.put)

NUMBERS = [3, -3, 300, 2.5, 1 + 2j, True, np.int8(-3), np.int64(300), np.uint8(200)]
NUMBERS += [np.float64(2.5), np.float64(-1.0), np.complex64(3 + 1j), np.bool_(True)]
NUMBERS += [np.array(300), np.array(1 + 2j), 10**6, 2**63, -(2**63), 2**70]


@pytest.mark.parametrize("dtype", DTYPES)
def test_assigned_numbers(ctx, dtype):
    x = empty(3, dtype)
    for value in NUMBERS:
        if dtype == "i1" and isinstance(value, (np.integer, np.ndarray)):
            continue  # NumPy wraps or refuses, by the way of the assignment
        agree(set_first, x, value)
        agree(set_all, x, value)
        agree(set_list, x, [2, 0], value)
        agree(set_list, x, np.array([True, False, True]), value)


def test_assigned_lists(ctx):
    for dtype in ("u1", "u8", "i4", "f4"):
        x = empty(3, dtype)
        for values in ([-61, 85, 9], [300, 1, 2], [1.5, 2, 3], [1j, 1, 2]):
            agree(set_list, x, [2, 0, 1], values)
            agree(set_list, x, np.array([True, True, True]), values)
            agree(set_all, x, values)
            agree(put, x, [2, 0, 1], values)


def test_values_for_no_elements(ctx):
    """The shape of the values counts although there is nothing to store."""
    shapes = [(0,), (1,), (2,), (3,), (1, 0), (1, 1, 1), (2, 0), (2, 3), (2, 1, 1)]
    for shape in ((0,), (0, 3), (3, 0)):
        for key in (Ellipsis, slice(0, 0), slice(None)):
            for values in map(empty, shapes):
                agree(set_list, empty(shape), key, values)
                if values.ndim == 1:
                    agree(set_list, empty(shape, "f4"), key, values.tolist())
            agree(set_list, empty(shape), key, 5)
    agree(copy_to, empty(0), np.ones(2))
    agree(copy_to, empty((0, 3)), np.ones(3))
    agree(set_list, np.arange(4), slice(3, 1), [7, 8])


def test_values_that_functions_store(ctx):
    x, mask = empty(2, "u1"), np.array([True, True])
    for value in (300, [300], [1.5], 1.5, np.int8(-3), [1, 2]):
        agree(changed(np.putmask), x, mask, value)
        agree(changed(np.place), x, mask, value)
        agree(changed(np.fill_diagonal), empty((2, 2), "u1"), value)
        agree(np.insert, x, [0, 1], value)
        agree(np.append, x, value)
        agree(np.pad, x, 1, constant_values=value)


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
def test_copyto(ctx, casting):
    for dtype in DTYPES:
        for value in [3, -3, 2.5, 1j, True, np.int8(3), np.float64(2.5), [1, 2], [1.5]]:
            if value == 2.5 and casting == "unsafe":
                continue
            agree(copy_to, empty(2, dtype), value, casting)
        for other in ("i1", "u4", "f4", "c8"):
            agree(copy_to, empty(2, dtype), np.ones(2, other), casting)
    agree(copy_to, empty(2, "f4"), 1j, casting="unsafe", where=np.array([True, False]))


@pytest.mark.parametrize("dtype", ["u1", "i8", "u8", "f4"])
def test_where_and_select_convert_numbers(ctx, dtype):
    x, mask = np.array([0, 1, 2], dtype), np.array([True, False, True])
    for value in (1.5, np.int8(-3)):
        agree(np.where, mask, value, x)
        agree(np.select, [mask], [x], value)
    # NumPy before 2.5 converts these; a newer one refuses what does not fit.
    for value in (300, -1):
        converted = np.array(value).astype(dtype)
        ours, ours_mask = to_gpu(x), to_gpu(mask)
        result = np.where(ours_mask, value, ours)
        assert result.dtype == dtype
        assert (result.get() == np.where(mask, converted, x)).all()
        result = np.select([ours_mask], [ours], value)
        assert result.dtype == dtype
        assert (result.get() == np.where(mask, x, converted)).all()
    for value in (3, 1.5, np.int8(-3)):
        agree(np.select, [mask, ~mask], [value, x], 7)


def test_default_of_select_is_weak(ctx):
    mask = np.array([True, False])
    pair = [np.ones(2, "f4"), np.ones(2, "i2")]
    agree(np.select, [mask, mask], pair, 1.5)
    agree(np.select, [mask, mask], pair, np.float64(1.5))
    agree(np.select, [mask], [np.ones(2, bool)], 0)


BINARY = [np.add, np.subtract, np.multiply, np.bitwise_or, np.left_shift]


@pytest.mark.parametrize("function", [*BINARY, np.floor_divide, np.maximum])
def test_outputs_of_same_kind(ctx, function):
    for dtype in ("i1", "u1", "u4", "i8", "f4"):
        for other in ("i1", "u1", "i4", "f8"):
            for out in ("i2", "u2", "u4", "f4"):
                x, y = np.ones(2, dtype), np.ones(2, other)
                agree(function, x, y, out=empty(2, out))


def test_output_of_matmul(ctx):
    for dtype in ("i4", "u4", "f4", "f8"):
        x = np.ones((2, 2), dtype)
        for out in ("i4", "u4", "f4", "c8"):
            agree(np.matmul, x, x, out=empty((2, 2), out))
            agree(np.matmul, x, x, dtype=np.dtype(out))


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
def test_dtypes_of_einsum(ctx, casting):
    x = np.array([[1.5, 2], [3, 4.25]])
    for dtype in (None, "f4", "f8", "i4", "c8"):
        for other in ("f8", "f4", "i4"):
            y = x.astype(other)
            asked = dtype and np.dtype(dtype)
            agree(np.einsum, "ij,jk->ki", x, y, dtype=asked, casting=casting)


def test_asked_dtypes(ctx):
    for dtype in DTYPES[1:]:
        x = np.ones(2, dtype)
        for asked in map(np.dtype, ("?", "i1", "u1", "i4", "f4", "f8", "c8")):
            agree(np.add, x, x, dtype=asked)
            agree(np.add, x, 2, dtype=asked)
            agree(np.add, x, 2.5, dtype=asked)
            agree(np.less, x, x, dtype=asked)
            agree(np.isnan, x, dtype=asked)
            agree(np.maximum, x, x, dtype=asked)
            if x.dtype.kind != "c":
                agree(np.true_divide, x, x, dtype=asked)
    agree(np.absolute, np.array([3 + 4j], "c8"), dtype=np.dtype("f4"))


def joined(function, **kwargs):
    return lambda x, out: function([x, x], out=out, **kwargs)


#: {name: a function of 4 elements and an output, the shape of the output}
STORING = {
    "std": (lambda x, out: np.std(x, out=out), ()),
    "std where": (lambda x, out: np.std(x, out=out, where=x > 1), ()),
    "ptp": (lambda x, out: np.ptp(x, out=out), ()),
    "quantile": (lambda x, out: np.quantile(x, 0.5, out=out), ()),
    "nanpercentile": (lambda x, out: np.nanpercentile(x, [5, 50], out=out), (2,)),
    "median": (lambda x, out: np.median(x, out=out), ()),
    "sum where": (lambda x, out: np.sum(x, out=out, where=x > 1), ()),
    "round": (lambda x, out: np.round(x, 1, out=out), (4,)),
    "concatenate": (joined(np.concatenate), (8,)),
    # Before 2.4 NumPy converts a flat join unsafely unless it is told.
    "concatenate flat": (joined(np.concatenate, axis=None, casting="same_kind"), (8,)),
    "stack": (joined(np.stack), (2, 4)),
    "stack last": (joined(np.stack, axis=-1), (4, 2)),
    "vecdot": (lambda x, out: np.vecdot(x, x, out=out), ()),
    "take": (lambda x, out: np.take(x, [0, 1], out=out), (2,)),
}


@pytest.mark.parametrize("name", STORING)
@pytest.mark.parametrize("dtype", ["i4", "f4", "c8"])
def test_outputs_of_other_kinds(ctx, name, dtype):
    function, shape = STORING[name]
    if name == "vecdot" and not hasattr(np, name):
        pytest.skip("NumPy has no vecdot")
    if dtype == "c8" and name in ("quantile", "nanpercentile", "median"):
        return
    x = np.array([1.5, 2, 4, 8]).astype(dtype)
    for out in ("?", "i1", "u1", "i8", "f2", "f8", "c16"):
        if name == "take" and not np.can_cast(out, dtype):
            continue  # NumPy judges the conversion of the output to the elements
        agree(lambda x, out: function(x, out), x, empty(shape, out), tolerance=2e-3)


def test_asked_dtypes_of_joins(ctx):
    for dtype in ("i4", "f4", "c8"):
        x = np.ones(2, dtype)
        for asked in map(np.dtype, ("i2", "u4", "f2", "f8", "c8")):
            for function in (np.concatenate, np.stack, np.vstack, np.hstack):
                agree(function, [x, x], dtype=asked)
            agree(np.concatenate, [x, x], dtype=asked, casting="unsafe")
            agree(np.concatenate, [x, x], axis=None, dtype=asked, casting="safe")
    if hasattr(np, "vecdot"):
        agree(np.vecdot, np.ones(2), np.ones(2), dtype=np.dtype("i4"))
        agree(np.vecdot, np.ones(2), np.ones(2), dtype=np.dtype("f4"))


def test_arrays_of_values_are_converted_safely(ctx):
    mask = np.array([True, False])
    for dtype in ("u1", "i4", "u8", "f4", "c8"):
        for other in ("?", "i1", "u1", "i8", "f4", "f8", "c8"):
            for values in (np.ones(1, other), np.ones(2, other)):
                agree(changed(np.putmask), empty(2, dtype), mask, values)
                agree(changed(np.place), empty(2, dtype), mask, values)


def test_operands_are_broadcast_to_the_output(ctx):
    x, row = np.arange(12, dtype="f4").reshape(3, 4), np.arange(4, dtype="f4")
    agree(np.add, row, row, out=empty((3, 4), "f4"))
    agree(np.add, row[:1], 2, out=empty((3, 4), "f4"))
    agree(np.negative, x[:1], out=empty((3, 4), "f8"))
    agree(np.sqrt, row, out=empty((2, 3, 4), "f4"))
    agree(np.divmod, row, row + 1, out=(empty((3, 4), "f4"), empty((3, 4), "f4")))
    agree(np.divmod, row, row + 1, out=(empty((3, 4), "f4"), empty((1, 4), "f4")))
    agree(np.multiply, row, row, out=empty((2, 4), "f4"), where=row > 1)
    agree(np.add, row, row, out=empty((3, 2), "f4"))
    agree(np.add, x, row, out=empty(4, "f4"))
    agree(np.add, x, row, out=empty((1, 4), "f4"))
    agree(np.add, row, row, out=empty((0, 4), "f4"))
    ours = to_gpu(x)
    np.add(ours[:1], ours[0], out=ours)
    same(ours, np.broadcast_to(2 * row, (3, 4)))


def test_bits_of_other_sign_are_refused(ctx):
    """Operators in place that PyCUDA has not have NumPy's rule."""
    x, y = to_gpu(empty(2, "u4")), to_gpu(empty(2, "i4"))
    for change in ("__ior__", "__ifloordiv__", "__ilshift__", "__imod__"):
        with pytest.raises(TypeError, match="uint32"):
            getattr(x, change)(y)


def test_sums_of_other_sign_are_errors_in_strict_programs(ctx, monkeypatch):
    monkeypatch.setenv("PYCUDA_STRICT", "1")
    x = to_gpu(np.array([200, 100], "u1"))
    with pytest.raises(TypeError, match=r"int16 cannot be put into .* uint8"):
        x += np.int8(-3)


def test_sums_of_other_sign_warn(ctx):
    """PyCUDA's operators in place keep the dtype of the array."""
    for operand in (np.int8(-3), to_gpu(np.array([-3, 3], "i2"))):
        x = to_gpu(np.array([200, 100], "u1"))
        with pytest.warns(PyCUDAWarning, match="add in place.*int16.*uint8"):
            x += operand
        wanted = np.array([200, 100]) + (-3 if x.size != np.size(operand) else [-3, 3])
        assert x.get().tolist() == wanted.tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(PyCUDAWarning):
                x *= operand
            x += np.uint8(1)
            x += 1


def test_exponents_of_unsigned_integers(ctx):
    x = to_gpu(np.array([0, 1, 2], "u1"))
    assert (x**-2).get().tolist() == [0, 1, 0]
    for exponent in (-129, -(2**40), 300):
        with pytest.raises(OverflowError):
            _ = x**exponent


# -- reductions and scans --------------------------------------------------------------

SCANS = [np.cumsum, np.cumprod, np.nancumsum, np.nancumprod]


@pytest.mark.parametrize("function", SCANS)
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (2, 0, 3)])
def test_scans_of_no_elements(ctx, function, shape):
    x = empty(shape)
    agree(function, x)
    agree(function, x[..., ::2])
    for axis in range(x.ndim):
        agree(function, x, axis)


def test_flat_views_of_no_elements(ctx):
    x = to_gpu(empty((4, 6)))[::2, 3:3]
    assert x.reshape(-1).shape == x.ravel().shape == (0,)
    assert x.reshape(0, 5).shape == (0, 5)


@pytest.mark.parametrize("function", [*SCANS, np.sum, np.prod, np.nansum, np.nanprod])
def test_outputs_of_sums(ctx, function):
    shape = 3 if function in SCANS else ()
    for dtype in ("i1", "u1", "i4", "f4", "f8", "c8"):
        x = np.array([1.5, 2, 3.5]).astype(dtype)
        for out in ("i1", "u1", "i4", "i8", "f4", "f8", "c16"):
            agree(function, x, out=empty(shape, out))


@pytest.mark.parametrize("function", [np.nansum, np.nanprod, np.nanmean])
def test_nan_has_no_place_in_the_dtype(ctx, function):
    x = np.array([NAN, 2.0, 3.0])
    for dtype in ("i4", "u1", "f2", "f4", "c8"):
        agree(function, x, dtype=np.dtype(dtype))
        agree(function, x, out=empty((), dtype))
        agree(function, x.reshape(1, 3), axis=1, dtype=np.dtype(dtype))
    z = np.array([complex(1, NAN), 2.0], "c8")
    agree(function, z, dtype=np.dtype("f4"))


@pytest.mark.parametrize("function", [np.var, np.std, np.nanvar, np.nanstd])
@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "c8"])
def test_dtypes_of_deviations(ctx, function, dtype):
    for x in (np.array([[1, 2, 5], [7, 7, 9]]), np.array([[1.5, 2, 8], [0, 1, 3]])):
        agree(function, x, dtype=np.dtype(dtype))
        if dtype in ("i4", "u1") and "std" in function.__name__:
            continue  # NumPy refuses to store a root in an array of integers
        agree(function, x, axis=1, dtype=np.dtype(dtype), ddof=1, keepdims=True)


@pytest.mark.parametrize("function", [np.nanvar, np.nanstd])
def test_too_few_elements_have_no_deviation(ctx, function):
    x = np.array([[4.5, NAN, -5], [NAN, NAN, NAN], [1, 2, 4]], "f4")
    rows = np.array([[True], [True], [False]])
    for ddof in (0, 1, 2, 3, 4):
        for axis in (None, 1):
            agree(function, x, axis=axis, ddof=ddof, tolerance=1e-5)
            for dtype in map(np.dtype, ("f8", "f2", "c8")):
                agree(function, x, axis=axis, ddof=ddof, dtype=dtype, tolerance=1e-3)
            agree(function, x, axis=axis, ddof=ddof, where=rows, tolerance=1e-5)


def test_nan_reductions_of_quantiles_have_the_axes_of_q_first(ctx):
    x, q = np.arange(24.0).reshape(2, 3, 4), np.array([[0.1, 0.2], [0.4, 0.5]])
    for axis in (None, 0, (0, 1)):
        got = np.nanquantile(to_gpu(x), q, axis=axis)
        same(got, np.quantile(x, q, axis=axis), exact=False)


# -- histograms ------------------------------------------------------------------------

RULES = ["sqrt", "sturges", "rice", "scott", "doane", "fd", "auto", "stone"]


@pytest.mark.parametrize("rule", RULES)
def test_rules_of_histograms(ctx, rule):
    rng = np.random.default_rng(7)
    for values in ([27, 16], [5] * 40, [0], rng.normal(9, 3, 300).tolist()):
        for dtype in ("i4", "u1", "f4", "f8"):
            x = np.array(values).astype(dtype)
            if dtype == "u1" and rule == "stone":
                continue  # NumPy's extent of unsigned integers is no float
            agree(np.histogram, x, bins=rule)
            agree(np.histogram, x, bins=rule, range=(0, 20))


def test_rules_know_no_weights(ctx):
    agree(np.histogram, np.arange(5), bins="auto", weights=np.ones(5))


def test_edges_have_the_dtype_of_the_points(ctx):
    x, y = np.array([1, 2, 4], "f4"), np.array([3, 1, 1], "f4")
    agree(np.histogram2d, x, y)
    agree(np.histogram2d, x, y, bins=[3, np.array([0.0, 1, 3])])
    agree(np.histogram2d, x, y, range=[(0, 4), (1, 1)])
    agree(np.histogram2d, x, np.array([1, 2, 3]))
    agree(np.histogramdd, np.stack([x, y], 1), bins=4, density=True)


# -- dtypes of results -----------------------------------------------------------------


@pytest.mark.parametrize("function", [np.linspace, np.logspace, np.geomspace])
def test_dtypes_of_sequences(ctx, function):
    tolerance = 2e-3
    for dtype in ("i1", "f2", "f4", "f8", "c8"):
        x = np.array([1, 2], dtype)
        for other in (
            3,
            2.5,
            np.float32(3),
            np.array([2, 3], "f2"),
            np.array([3], "i2"),
        ):
            agree(function, x, other, 5, tolerance=tolerance)
            agree(function, other, x, 5, tolerance=tolerance)
    x = np.array([1, 2], "f4")
    agree(function, x, 3, 5, dtype=np.dtype("f2"), tolerance=tolerance)
    agree(function, x, 3, 5, dtype=np.dtype("i4"), tolerance=1)


def test_steps_do_not_wrap(ctx):
    for dtype in ("u1", "i1", "u8", "f2", "c8"):
        x = np.array([100, 4], dtype)
        for stop in (1, 2.5, np.array([1, 120], "i1")):
            agree(np.linspace, x, stop, 7, retstep=True, tolerance=2e-3)
            agree(np.linspace, stop, x, 7, endpoint=False, retstep=True, tolerance=2e-3)


@pytest.mark.parametrize("function", [np.fft.hfft, np.fft.irfft, np.fft.rfft])
@pytest.mark.parametrize("dtype", ["f2", "f4", "i4", "c8"])
def test_dtypes_of_transforms(ctx, function, dtype):
    if function is np.fft.rfft and dtype == "c8":
        return
    agree(function, np.arange(1, 6).astype(dtype), tolerance=1e-2)


def test_numbers_beside_differences(ctx):
    for dtype in ("i1", "u2", "f4", "c8"):
        x = np.array([1, 2, 5], dtype)
        agree(np.diff, x, prepend=1)
        agree(np.diff, x, append=1.5)
        agree(np.diff, x, prepend=[7], append=[8, 1.5])
        agree(np.diff, np.stack([x, x]), prepend=[[7, 2]] * 2)
        for end in (9, 1.5, [7, 8], np.array([7, 8], "f4")):
            agree(np.ediff1d, x, to_end=end)
            agree(np.ediff1d, x, end, to_begin=end)


@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f4", "f8"])
def test_bessel_function(ctx, dtype):
    agree(np.i0, np.linspace(-3, 3, 7).astype(dtype), tolerance=2e-3)
    agree(np.i0, empty((0, 2), dtype))


@pytest.mark.parametrize("function", [np.nanquantile, np.nanpercentile])
def test_no_elements_have_no_quantile(ctx, function):
    """NumPy drops the axes of q here."""
    for dtype in ("f4", "i4"):
        for method in ("linear", "hazen"):
            got = function(to_gpu(empty((3, 0), dtype)), 0.5, axis=1, method=method)
            same(got, np.full(3, NAN, "f4" if dtype == "f4" else "f8"))
    got = function(to_gpu(empty((0, 3))), [0.5, 1.0], axis=0, keepdims=True)
    same(got, np.full((2, 1, 3), NAN))
    with pytest.raises(ValueError, match="have no elements"):
        function(to_gpu(empty(0, "i4")), 0.5, method="lower")


# -- arguments -------------------------------------------------------------------------


def test_put_into_gaps(ctx):
    x = np.arange(12).reshape(3, 4)
    ours = to_gpu(x)
    for part in (np.s_[::2], np.s_[:, 1:3], np.s_[:, ::-1]):
        np.put(x[part], [0, 5], [70, 80])
        np.put(ours[part], [0, 5], [70, 80])
    same(ours, x)
    np.put(ours.T, [1], 9)
    np.put_along_axis(ours.T, to_gpu(np.array([2])), 8, None)
    x[1, 0], x[2, 0] = 9, 8
    same(ours, x)


def test_equal_nan(ctx):
    x = np.array([1, NAN], "f4")
    for equal_nan in (False, True):
        agree(np.array_equal, x, x, equal_nan=equal_nan)
        agree(np.array_equal, x, x[::-1].copy(), equal_nan=equal_nan)
        agree(np.array_equal, x, np.ones(3), equal_nan=equal_nan)
    agree(np.array_equal, np.array([1j * NAN]), np.array([NAN]), equal_nan=True)


#: Functions of an array and the argument axis.
ALONG = [np.sum, np.max, np.argmin, np.mean, np.std, np.ptp, np.nansum, np.nanmax]
ALONG += [np.median, np.cumsum, np.nancumprod, np.sort, np.argsort, np.flip, np.diff]
ALONG += [np.fft.fftshift, np.fft.hfft, np.squeeze, np.linalg.norm, np.count_nonzero]


@pytest.mark.parametrize("axis", [2, -3])
def test_axes_that_an_array_has_not(ctx, axis):
    """AxisError is a ValueError and an IndexError: programs catch any of the three."""
    x = to_gpu(np.arange(6.0).reshape(2, 3))
    for function in ALONG:
        if function is np.fft.fftshift:
            with pytest.raises(np.exceptions.AxisError):
                function(x, axes=axis)
            continue
        with pytest.raises(np.exceptions.AxisError):
            function(x, axis=axis)
    for call in (
        lambda: np.quantile(x, 0.5, axis=axis),
        lambda: np.take(x, [0], axis=axis),
        lambda: np.take_along_axis(x, to_gpu(np.array([[0]])), axis),
        lambda: np.concatenate([x, x], axis=axis),
        lambda: np.stack([x, x], axis=axis + (1 if axis > 0 else -1)),
        lambda: np.sum(x, axis=(0, axis)),
        lambda: np.fft.fft(x, axis=axis),
    ):
        with pytest.raises(np.exceptions.AxisError, match="is not one of the"):
            call()
    with pytest.raises(ValueError, match="sum: axis -2 is there twice"):
        np.sum(x, axis=(0, -2))


def test_places_of_no_elements(ctx):
    for function in (np.partition, np.argpartition):
        for shape in ((0,), (0, 3), (3, 0)):
            for kth in (0, -1, 3):
                agree(function, empty(shape), kth, axis=0)
        agree(function, np.arange(3.0), 3)


def test_weights_of_points_are_real(ctx):
    x = np.arange(3.0)
    agree(np.histogram2d, x, x, weights=np.array([1, 2, 3j]))
    agree(np.histogramdd, np.stack([x, x], 1), weights=np.array([1, 2, 3]))


def test_trimmed_axes(ctx):
    x = np.pad(np.arange(1, 7).reshape(2, 3), ((1, 2), (3, 0)))
    got = {
        (): np.trim_zeros(to_gpu(x)),
        ("f",): np.trim_zeros(to_gpu(x), "f"),
        ("b", 0): np.trim_zeros(to_gpu(x), "b", axis=0),
        ("fb", (1,)): np.trim_zeros(to_gpu(x), axis=(1,)),
    }
    wanted = (x[1:3, 3:], x[1:, 3:], x[:3], x[:, 3:])
    for result, expected in zip(got.values(), wanted, strict=True):
        same(result, expected)
    assert np.trim_zeros(to_gpu(x * 0)).shape == (0, 0)
    same(np.trim_zeros(to_gpu(np.array([0, 1, 0, 2, 0]))), np.array([1, 0, 2]))
    for ends in ("", "x"):
        with pytest.raises(ValueError, match="trim names"):
            np.trim_zeros(to_gpu(x), ends)


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_gradient_at_coordinates(ctx, edge_order, dtype):
    rng = np.random.default_rng(3)
    x = rng.normal(0, 9, (5, 4)).astype(dtype)
    rows, columns = np.array([0, 1, 2.5, 7, 8]), np.array([3, 4, 9, 11])
    for args in ((rows, columns), (2.0, columns), (rows, 0.5), (np.arange(5), 1)):
        agree(np.gradient, x, *args, edge_order=edge_order, tolerance=1e-5)
    agree(np.gradient, x, rows, axis=0, edge_order=edge_order, tolerance=1e-5)
    agree(np.gradient, x, rows, edge_order=edge_order)
    agree(np.gradient, x, rows[:3], columns, edge_order=edge_order)


def test_triangles_of_one_axis(ctx):
    for function in (np.tril, np.triu):
        for k in (-1, 0, 1):
            agree(function, np.arange(1, 4), k)


def test_variables_in_columns(ctx):
    x = np.arange(5.0)
    assert np.cov(to_gpu(x[None]), rowvar=False).shape == (5, 5)
    agree(np.cov, x.reshape(5, 1), rowvar=False)
    agree(np.cov, np.stack([x, x**2], 1), x[:, None], rowvar=False)


@pytest.mark.parametrize("order", [INF, 1, 2, None])
def test_norms_of_no_elements(ctx, order):
    x = to_gpu(empty((0, 3)))
    same(np.linalg.norm(x, order, axis=0), np.zeros(3))
    same(np.linalg.norm(x, order, axis=1), np.zeros(0))
    if order != 2:
        same(np.linalg.norm(x, order, axis=(0, 1)), np.zeros(()))


def test_flat_joins_convert_as_others(ctx):
    x, out = to_gpu(np.ones(2, "f4")), to_gpu(np.zeros(4, "i4"))
    with pytest.raises(TypeError, match="'same_kind' casting"):
        np.concatenate([x, x], axis=None, out=out)


def test_no_columns_hide_a_singular_matrix(ctx):
    for shape in ((2, 2), (3, 2, 2)):  # old versions of NumPy do not look
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            np.linalg.solve(to_gpu(np.zeros(shape)), to_gpu(empty((2, 0))))
    agree(np.linalg.solve, np.eye(2), empty((2, 0)))
    agree(np.linalg.solve, np.eye(2), empty((0, 2, 0)))


def test_format_specifications(ctx):
    x = to_gpu(np.arange(3.0))
    assert f"{x}" == str(x)
    assert f"{x[1]:.2f}" == "1.00"
    for spec in (".2f", "20"):
        with pytest.raises(TypeError, match="GPUArray.__format__"):
            format(x, spec)


# -- the names and the kinds of arguments ----------------------------------------------


@pytest.mark.parametrize("function", [np.nanstd, np.nanvar, np.nanmean])
def test_dtypes_of_deviations_may_be_types_of_numpy(ctx, function):
    x = np.array([[1, NAN, 3], [4, 5, 7]], "f4")
    for dtype in (np.float64, np.float32, "f8", np.dtype("f8"), np.int32, np.uint8):
        agree(function, x, axis=0, dtype=dtype)


def test_bounds_have_two_names(ctx):
    x = np.arange(-4.0, 4.0)
    agree(np.clip, x, a_min=-1, a_max=2)
    agree(np.clip, x, a_min=x[::-1].copy(), a_max=None)
    agree(np.clip, x, -1, a_max=2)
    agree(np.clip, a=x, a_min=0, a_max=1, out=empty(8))
    with pytest.raises(ValueError, match="min"):
        np.clip(to_gpu(x), a_min=0, min=1)
    with pytest.raises(ValueError, match="max"):
        np.clip(to_gpu(x), a_max=1, max=2)
    with pytest.raises(TypeError, match="numpy.clip .*nonsense"):
        np.clip(to_gpu(x), a_min=0, nonsense=1)


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe", "bogus"])
@pytest.mark.parametrize(
    "function",
    [np.concatenate, np.stack, np.hstack, np.vstack],
    ids=lambda f: f.__name__,
)
def test_casting_of_joined_arrays(ctx, function, casting):
    x, y = np.ones((2, 3), "f4"), np.ones((2, 3), "i4")
    agree(function, [x, x], casting=casting)
    agree(function, [x, y], casting=casting)
    agree(function, [x, y], dtype="f8", casting=casting)
    agree(function, [x, y], dtype="i4", casting=casting)


def test_out_is_an_array(ctx):
    x, n = np.arange(6.0).reshape(2, 3), np.array([0, 1])
    agree(np.take, x, n, out=3)
    agree(np.round, x, out=3)
    agree(np.dot, x, x[0], out=3)
    agree(np.compress, n, x, axis=0, out=3)
    agree(np.choose, n, [n, n], out=3)
    agree(np.concatenate, [x, x], out=3)
    agree(np.stack, [x, x], out=3)


def test_two_results_of_different_dtypes(ctx):
    """A program may give one of two outputs, or two of different dtypes."""
    x = np.array([-2.5, 1.25, 3.0, INF], "f4")
    n = np.array([-7, 5, 3, 9], "i4")
    for dtypes in (("f8", "f4"), ("f4", "f8")):
        outs = tuple(empty(4, dtype) for dtype in dtypes)
        agree(np.modf, x, out=outs)
        agree(np.divmod, x, x[::-1].copy(), out=outs)
        agree(np.divmod, n, 2, out=outs)
    agree(np.modf, x, empty(4))
    agree(np.divmod, x, 2, empty(4))
    agree(np.divmod, n, 2, empty(4, "i8"))
    agree(np.frexp, x[:3], out=(empty(3), empty(3, "i8")))


def test_rounded_bools_are_floats(ctx):
    agree(np.round, np.array([True, False]))


def test_paths_of_subscripts_in_lists(ctx):
    x = np.ones((3, 4), "f4")
    wanted = np.einsum_path(x, [0, 1], x, [0, 1])
    assert np.einsum_path(to_gpu(x), [0, 1], to_gpu(x), [0, 1]) == wanted
    agree(np.einsum_path, x)


def test_sizes_of_axes(ctx):
    x = to_gpu(np.ones((3, 4, 5), "f4"))
    assert (np.size(x), np.size(x, 1), np.size(x, -1)) == (60, 4, 5)
    assert np.size(x, axis=3 - 1) == 5
    with pytest.raises(IndexError):
        np.size(x, 3)


def test_views_of_no_elements_in_another_dtype(ctx):
    """NumPy may give such an array strides of 0."""
    x = np.zeros((3, 4), "f4")[:0].copy(order="K")
    for dtype in ("u1", "f2", "i4", "f8"):
        agree(lambda a, dtype=dtype: a.view(dtype), x)
