"""Creation and shape functions with NumPy's names: values, dtypes, shapes, errors."""

import itertools

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray as ga
from pycuda.gpuarray import GPUArray, to_gpu

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

CUBE = np.arange(24.0).reshape(2, 3, 4)
ROW = np.array([1.0, 2, 3])
COLUMN = np.array([[4.0], [2.0]])


def same(ours, theirs, exact=True):
    """Compare one array, or a sequence of them, with NumPy's."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other, exact)
        return
    assert isinstance(ours, GPUArray)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    if exact:
        np.testing.assert_array_equal(ours.get(), theirs)
    else:
        np.testing.assert_allclose(ours.get(), theirs, rtol=1e-13)


def refused(error, call, *words):
    """Check that a call raises an error that has some words."""
    with pytest.raises(error) as caught:
        call()
    for word in words:
        assert word in str(caught.value)


# -- sequences -------------------------------------------------------------------------

BOUNDS = [
    (0, 1),
    (0.1, 7.3),
    (5, 5),
    (-3, 1e-310),
    (0, 5e-324),
    (1 + 2j, 3 - 1j),
    (np.float32(0.1), np.float32(2)),
    (2, -9),
    (0, np.inf),
]


@pytest.mark.parametrize("dtype", [None, "float32", "int32", "complex64"])
def test_linspace_of_numbers(ctx, dtype):
    for (start, stop), num, endpoint in itertools.product(
        BOUNDS, (0, 1, 2, 7, 1001), (True, False)
    ):
        whole = dtype == "int32" and not np.isfinite(stop)
        if whole or (isinstance(start, complex) and dtype in ("float32", "int32")):
            continue
        same(
            ga.linspace(start, stop, num, endpoint, dtype=dtype),
            np.linspace(start, stop, num, endpoint, dtype=dtype),
        )


def test_linspace_of_arrays(ctx):
    for axis, endpoint in itertools.product((0, 1, -1, 2), (True, False)):
        same(
            ga.linspace(to_gpu(ROW), to_gpu(COLUMN), 6, endpoint, axis=axis),
            np.linspace(ROW, COLUMN, 6, endpoint, axis=axis),
        )
    same(
        np.linspace(to_gpu(ROW), 4, 6, dtype=np.int32),
        np.linspace(ROW, 4, 6, dtype=np.int32),
    )
    same(ga.linspace(to_gpu(ROW), to_gpu(ROW), 3), np.linspace(ROW, ROW, 3))


def test_linspace_step(ctx):
    array, step = ga.linspace(0, 1, 5, retstep=True)
    assert step == 0.25
    same(array, np.linspace(0, 1, 5))
    assert np.isnan(ga.linspace(0, 1, 1, retstep=True)[1])


def test_linspace_in_a_stream_and_an_allocator(ctx):
    taken = []

    def allocator(nbytes):
        taken.append(nbytes)
        return drv.mem_alloc(nbytes)

    stream = drv.Stream()
    array = ga.linspace(0, 1, 5, allocator=allocator, stream=stream)
    stream.synchronize()
    assert taken == [40]
    same(array, np.linspace(0, 1, 5))


def test_logspace_and_geomspace(ctx):
    same(ga.logspace(0, 3, 7), np.logspace(0, 3, 7), exact=False)
    same(
        ga.logspace(to_gpu(ROW), 4, 3, base=2.0),
        np.logspace(ROW, 4, 3, base=2.0),
        exact=False,
    )
    for bounds in ((1, 1000), (-1, -1000), (1j, 1000j), (1000, 1)):
        for endpoint in (True, False):
            same(
                ga.geomspace(*bounds, 7, endpoint),
                np.geomspace(*bounds, 7, endpoint),
                exact=False,
            )
    same(
        ga.geomspace(to_gpu(ROW), 9, 4, axis=1),
        np.geomspace(ROW, 9, 4, axis=1),
        exact=False,
    )


def test_sequence_errors(ctx):
    with pytest.raises(ZeroDivisionError, match="arange: the step is 0"):
        ga.arange(0, 5, 0, dtype=np.float32)
    refused(ValueError, lambda: ga.linspace(0, 1, -1), "num", "-1")
    refused(TypeError, lambda: ga.linspace(ROW, 1), "(3,)", "to_gpu")
    refused(TypeError, lambda: ga.linspace(0, 1, 2.5))
    refused(ValueError, lambda: ga.geomspace(0, 1), "0")


# -- diagonals and triangles -----------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, np.int8, bool, np.complex128, np.float16])
def test_eye_and_tri(ctx, dtype):
    for rows, columns, k in itertools.product(
        (0, 1, 4), (None, 0, 3, 6), (-9, -2, 0, 1, 9)
    ):
        same(ga.eye(rows, columns, k, dtype), np.eye(rows, columns, k, dtype))
        same(ga.tri(rows, columns, k, dtype), np.tri(rows, columns, k, dtype))
    same(ga.identity(3, dtype), np.identity(3, dtype))
    assert ga.eye(3, order="F").flags.f_contiguous


LAYOUTS = [
    lambda a: a,
    lambda a: a[..., ::-1],
    lambda a: a[..., 1:],
    lambda a: a.swapaxes(-1, -2),
    lambda a: a[::2],
]


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (33, 40), (0, 3), (1, 1)])
def test_triangles(ctx, dtype, shape):
    host = (np.arange(np.prod(shape)) % 100 + 1).astype(dtype).reshape(shape)
    for layout, k in itertools.product(LAYOUTS, (-5, -1, 0, 1, 5)):
        a, x = layout(host), layout(to_gpu(host))
        same(ga.tril(x, k), np.tril(a, k))
        same(np.triu(x, k), np.triu(a, k))
    same(ga.tril(to_gpu(host), 2**63 - 1), host)
    same(ga.tril(to_gpu(host), -(2**63)), np.zeros_like(host))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "c16"])
@pytest.mark.parametrize("shape", [(64, 64), (100, 70), (2, 40, 90)])
def test_triangles_of_transposed_matrices(ctx, dtype, shape):
    host = (np.arange(np.prod(shape)) % 100 + 1).astype(dtype).reshape(shape)
    for view in (
        lambda a: a.swapaxes(-1, -2),
        lambda a: a[..., 3:, :].swapaxes(-1, -2),
    ):
        a, x = view(host), view(to_gpu(host))
        for k in (-65, -3, 0, 1, 40):
            same(ga.tril(x, k), np.tril(a, k))
            same(ga.triu(x, k), np.triu(a, k))


def test_triangles_of_structs(ctx):
    dtype = np.dtype([("a", "i4"), ("b", "f4"), ("c", "i4")])
    host = np.ones((4, 5), dtype)
    kept = ga.triu(to_gpu(host), 1).get()
    for name in dtype.names:
        np.testing.assert_array_equal(kept[name], np.triu(host[name], 1))


def test_indices_of_triangles(ctx):
    for n, k, m in itertools.product((0, 1, 4), (-2, 0, 3), (None, 0, 3, 6)):
        same(ga.tril_indices(n, k, m), np.tril_indices(n, k, m))
        same(ga.triu_indices(n, k, m), np.triu_indices(n, k, m))
    same(np.tril_indices_from(to_gpu(CUBE[0]), 1), np.tril_indices_from(CUBE[0], 1))
    same(np.triu_indices_from(to_gpu(CUBE[0]), 1), np.triu_indices_from(CUBE[0], 1))


def test_diagonal(ctx):
    x = to_gpu(CUBE)
    for offset in (-3, -1, 0, 2, 5):
        for axes in ((0, 1), (1, 2), (2, 0), (-1, 0)):
            same(np.diagonal(x, offset, *axes), np.diagonal(CUBE, offset, *axes))
        same(ga.diag(x[0], offset), np.diag(CUBE[0], offset))
        same(np.diag(x[0, 0], offset), np.diag(CUBE[0, 0], offset))
        same(np.diagflat(x, offset), np.diagflat(CUBE, offset))
    ga.diagonal(x[0])[...] = -1  # a view
    assert x.get()[0, 1, 1] == -1


def test_triangle_errors(ctx):
    x = to_gpu(ROW)
    refused(ValueError, lambda: ga.tril(x.sum()), "two axes", "0")
    refused(TypeError, lambda: ga.tril(ROW), "ndarray")
    refused(ValueError, lambda: ga.eye(-1), "-1")
    refused(ValueError, lambda: ga.diagonal(x), "(3,)")
    refused(ValueError, lambda: ga.diagonal(to_gpu(CUBE), 0, 1, 1), "same")
    refused(ValueError, lambda: ga.diagonal(to_gpu(CUBE), 0, 1, 5), "5")
    refused(ValueError, lambda: ga.diag(to_gpu(CUBE)), "(2, 3, 4)")
    refused(ValueError, lambda: ga.tril_indices_from(x), "(3,)")


# -- grids -----------------------------------------------------------------------------


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("copied", [False, True])
def test_meshgrid(ctx, indexing, sparse, copied):
    words = {"indexing": indexing, "sparse": sparse, "copy": copied}
    for hosts in ((), (ROW,), (ROW, COLUMN[:, 0]), (ROW, COLUMN[:, 0], np.arange(4))):
        same(ga.meshgrid(*map(to_gpu, hosts), **words), np.meshgrid(*hosts, **words))


def test_grid_errors(ctx):
    refused(ValueError, lambda: ga.meshgrid(to_gpu(CUBE)), "(2, 3, 4)")
    refused(ValueError, lambda: ga.meshgrid(to_gpu(ROW), indexing="ji"), "'ji'")
    refused(ValueError, lambda: ga.vander(to_gpu(CUBE)), "(2, 3, 4)")


def test_indices(ctx):
    same(ga.indices((2, 3)), np.indices((2, 3)))
    same(ga.indices((2, 3), np.float32, True), np.indices((2, 3), np.float32, True))
    same(ga.indices(()), np.indices(()))
    same(
        ga.fromfunction(lambda i, j: i + 2 * j, (3, 4)),
        np.fromfunction(lambda i, j: i + 2 * j, (3, 4)),
    )


@pytest.mark.parametrize("increasing", [False, True])
def test_vander(ctx, increasing):
    for host, columns in itertools.product(
        (np.arange(1, 5), np.array([0.5, 2]), np.array([1, 2], np.int8), np.zeros(0)),
        (None, 0, 1, 5),
    ):
        same(
            ga.vander(to_gpu(host), columns, increasing),
            np.vander(host, columns, increasing),
        )


# -- shapes ----------------------------------------------------------------------------


def test_shapes(ctx):
    x = to_gpu(CUBE)
    same(ga.expand_dims(x, (0, -1)), np.expand_dims(CUBE, (0, -1)))
    same(ga.squeeze(x[:, :1], 1), CUBE[:, 0])
    same(ga.moveaxis(x, (0, 1), (-1, 0)), np.moveaxis(CUBE, (0, 1), (-1, 0)))
    same(ga.swapaxes(x, 0, 2), np.swapaxes(CUBE, 0, 2))
    same(ga.permute_dims(x, (2, 0, 1)), np.transpose(CUBE, (2, 0, 1)))
    same(ga.matrix_transpose(x), np.swapaxes(CUBE, 1, 2))
    same(x.mT, np.swapaxes(CUBE, 1, 2))
    same(
        ga.broadcast_to(x[:, :, :1], (5, 2, 3, 6)),
        np.broadcast_to(CUBE[:, :, :1], (5, 2, 3, 6)),
    )
    same(
        np.broadcast_arrays(to_gpu(ROW), to_gpu(COLUMN)),
        tuple(np.broadcast_arrays(ROW, COLUMN)),
    )
    same(ga.unstack(x, axis=1), tuple(CUBE[:, k] for k in range(3)))
    for a, y in (
        (CUBE, x),
        (CUBE[0], x[0]),
        (ROW, to_gpu(ROW)),
        (ROW[0], to_gpu(ROW)[0]),
    ):
        same(ga.atleast_1d(y), np.atleast_1d(a))
        same(ga.atleast_2d(y), np.atleast_2d(a))
        same(np.atleast_3d(y), np.atleast_3d(a))


def test_squeeze_as_a_method(ctx):
    x = to_gpu(CUBE[None, ..., None])
    for axis in (0, -1, (0, -1), None):
        same(x.squeeze(axis), CUBE[None, ..., None].squeeze(axis))
        same(x.squeeze(axis=axis), CUBE[None, ..., None].squeeze(axis))
    refused(ValueError, lambda: x.squeeze(1), str(CUBE.shape[0]))
    refused(ValueError, lambda: x.squeeze(9), "9")


def test_sliding_window_view(ctx):
    from numpy.lib.stride_tricks import sliding_window_view

    x = to_gpu(CUBE)
    for window in ((2, CUBE.shape[-1]), (1, 1)):
        theirs = sliding_window_view(CUBE, window, (0, -1))
        same(sliding_window_view(x, window, (0, -1)), theirs)
    same(sliding_window_view(x, 2, 0), sliding_window_view(CUBE, 2, 0))
    same(sliding_window_view(x[0, 0], 2), sliding_window_view(CUBE[0, 0], 2))
    same(sliding_window_view(x, CUBE.shape), sliding_window_view(CUBE, CUBE.shape))
    assert sliding_window_view(x, 2, 0).base is x
    for arguments, word in (((x, 99, 0), "99"), ((x, (2, 2), 0), "2")):
        with pytest.raises(ValueError, match=word):
            x.__array_function__(sliding_window_view, (type(x),), arguments, {})


def test_shape_errors(ctx):
    x = to_gpu(CUBE)
    for error in (ValueError, IndexError):
        refused(error, lambda: ga.expand_dims(x, 7), "7")
        refused(error, lambda: ga.unstack(x, axis=3), "3")
    refused(ValueError, lambda: ga.squeeze(x, 0), "2")
    refused(ValueError, lambda: ga.broadcast_to(x, (2, 3, 5)), "(2, 3, 5)")
    refused(ValueError, lambda: to_gpu(ROW).mT, "1")


# -- conversion ------------------------------------------------------------------------


def test_asarray(ctx):
    x = to_gpu(CUBE)
    assert ga.asarray(x) is x
    assert ga.asarray(x, x.dtype, copy=False) is x
    copied = ga.copy(x)
    assert copied is not x and copied.ptr != x.ptr
    same(copied, CUBE)
    same(ga.asarray(x, np.float32), CUBE.astype(np.float32))
    same(ga.asarray(CUBE), CUBE)
    same(ga.asarray([[1, 2], [3, 4.5]]), np.array([[1, 2], [3, 4.5]]))
    same(ga.asarray(3), np.array(3))
    same(ga.asarray([x[0, 0, 1], 3.0]), np.array([1.0, 3.0]))
    same(np.asarray([1, 2], like=x), np.array([1, 2]))
    same(np.eye(2, like=x), np.eye(2))
    assert ga.asfortranarray(x).flags.f_contiguous
    assert ga.ascontiguousarray(x.T).flags.c_contiguous
    assert ga.ascontiguousarray(x) is x


LIKE = [
    lambda like: np.zeros((2, 3), **like),
    lambda like: np.zeros(3, np.int8, order="F", **like),
    lambda like: np.ones((2, 3), dtype="f4", **like),
    lambda like: np.full((2, 3), 7, **like),
    lambda like: np.full((2, 3), [1.5, 2, 3], **like),
    lambda like: np.array([[1, 2], [3, 4]], **like),
    lambda like: np.array(5, ndmin=2, **like),
    lambda like: np.array([1, 2], np.float32, order="C", **like),
    lambda like: np.asanyarray([1, 2], **like),
    lambda like: np.asarray([1, 2], **like),
    lambda like: np.arange(5, **like),
    lambda like: np.arange(1, 2, 0.1, **like),
    lambda like: np.arange(7, 1, -2, dtype=np.int16, **like),
    lambda like: np.arange(3, dtype=np.float32, **like),
    lambda like: np.frombuffer(bytes(range(8)), np.uint8, **like),
    lambda like: np.fromiter([1, 2], float, **like),
    lambda like: np.loadtxt(["1 2", "3 4"], **like),
]


@pytest.mark.parametrize("make", LIKE)
def test_like(ctx, make):
    found = make({"like": to_gpu(CUBE)})
    same(found, make({}))
    assert isinstance(found, ga.GPUArray)


def test_like_of_other_arguments(ctx):
    x = to_gpu(CUBE)
    assert np.empty((2, 3), np.int8, like=x).shape == (2, 3)
    assert np.asanyarray(x, like=x) is x
    assert np.array(x, like=x).ptr != x.ptr
    assert np.array(x, copy=None, like=x) is x
    same(np.full(2, x[0, 0, 1], like=x), np.full(2, CUBE[0, 0, 1]))
    refused(TypeError, lambda: np.array(["text"], like=x), "list")
    same(np.arange(1, 9, 3, np.int8, like=x), np.arange(1, 9, 3, np.int8))
    same(np.arange(stop=4, like=x), np.arange(stop=4))
    same(np.arange(1, 3, None, like=x), np.arange(1, 3, None))
    refused(ValueError, lambda: np.arange(1, 2, 0, like=x), "step")
    refused(TypeError, lambda: np.arange(like=x), "stop")
    with pytest.raises(TypeError, match="device"):
        x.__array_function__(np.zeros, (ga.GPUArray,), (3,), {"device": "gpu"})


@pytest.mark.parametrize("dtype", [None, np.int8])
def test_like_in_another_shape(ctx, dtype):
    x = to_gpu(CUBE.astype(np.float32))
    for function, value in ((np.zeros_like, 0), (np.ones_like, 1)):
        found = function(x, dtype, shape=(4, 2))
        same(found, np.full((4, 2), value, dtype or np.float32))
    same(np.full_like(x, 7, dtype, shape=3), np.full(3, 7, dtype or np.float32))
    assert np.empty_like(x, dtype, shape=()).shape == ()
    assert np.empty_like(x, dtype, "F", shape=(2, 3)).flags.f_contiguous


def test_records_in_another_shape(ctx):
    x = to_gpu(CUBE.astype(np.float32))
    fields = [("a", "f4"), ("b", "i8")]
    found = np.empty_like(x, np.dtype(fields, align=True), shape=2)
    found["b"] = 3
    same(found["b"] + 1, np.array([4, 4]))
    refused(TypeError, lambda: np.empty_like(x, fields, shape=2), "'b'", "align=True")


def test_asarray_errors(ctx):
    x = to_gpu(CUBE)
    refused(ValueError, lambda: ga.asarray([1], copy=False), "copy=False")
    refused(ValueError, lambda: ga.asarray(x, "f4", copy=False), "float64", "float32")
    refused(ValueError, lambda: ga.asarray(x, order="F", copy=False), "'F'")
    refused(OverflowError, lambda: ga.asarray([2**70]), "64")
    refused(TypeError, lambda: ga.asarray("text"), "str")


# -- the device ------------------------------------------------------------------------


def test_device(ctx):
    x = to_gpu(CUBE)
    assert x.device == drv.Context.get_device()
    assert x.to_device(x.device) is x
    assert x.to_device(x.device, stream=drv.Stream()) is x
    refused(ValueError, lambda: x.to_device("cpu"), "cpu")
    if drv.Device.count() > 1:
        refused(ValueError, lambda: x.to_device(drv.Device(1)), "1", "memcpy_peer")
