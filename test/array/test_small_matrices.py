"""Generated kernels that solve and decompose small matrices, compared with NumPy."""

import numpy as np
import pytest

from pycuda import _driver, _libraries, driver as drv, gpuarray, linalg
from pycuda.gpuarray import to_gpu

pytestmark = pytest.mark.gpu

DTYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128")]
SIZES = [1, 2, 3, 8, 17, 33]
LARGER = {4: 90, 8: 70}  # by the bytes of an element: matrices in 64 KiB
SHAPES = [(1, 1), (4, 4), (3, 7), (7, 3), (1, 5), (5, 1), (40, 34), (20, 35)]


@pytest.fixture(autouse=True)
def no_library(ctx, monkeypatch):
    """A context in which only the kernels compute: there is no cuSOLVER."""
    monkeypatch.setenv("PYCUDA_SOLVER", "generated")
    for library in (_libraries.CUBLAS, _libraries.CUSOLVER):
        monkeypatch.setattr(library, "find", lambda functions=None: None)


def sample(dtype, *shape, seed=0):
    """Return random numbers between -1 and 1."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.uniform(-1, 1, shape)
    return values.astype(dtype)


def sizes(dtype):
    """Return numbers of rows that all devices can take."""
    return [*SIZES, *[n for k, n in LARGER.items() if k == dtype.itemsize]]


def regular(dtype, *shape):
    """Return well-conditioned square matrices."""
    n = shape[-1]
    return sample(dtype, *shape) + 2 * float(np.sqrt(n)) * np.eye(n, dtype=dtype)


def close(got, expected, scale=None):
    """Assert that an array is near another: parts of the greatest element."""
    assert isinstance(got, gpuarray.GPUArray)
    got, expected = got.get(), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    scale = 50 + 20 * max(expected.shape[-2:], default=1) if scale is None else scale
    most = np.abs(expected).max(initial=np.finfo(expected.dtype).tiny)
    eps = np.finfo(expected.dtype).eps
    np.testing.assert_allclose(got, expected, rtol=0, atol=scale * eps * most)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_systems(dtype):
    for n in sizes(dtype):
        a, b = regular(dtype, n, n), sample(dtype, n, 37, seed=1)
        x = to_gpu(a)
        close(linalg.solve(x, to_gpu(b)), np.linalg.solve(a, b))
        close(linalg.solve(x, to_gpu(b[:, 0])), np.linalg.solve(a, b[:, 0]))
        close(linalg.inv(x), np.linalg.inv(a))
        if n < 50:  # the determinants of larger ones overflow
            close(linalg.det(x), np.linalg.det(a), 200 + 20 * n)
        sign, logarithm = np.linalg.slogdet(a)
        got = linalg.slogdet(x)
        close(got.sign, sign, 200)
        close(got.logabsdet, logarithm, 200)
        close(x, a)  # no operand is overwritten


def test_pivots(ctx):
    """Rows are exchanged where the greatest element of a column is below."""
    a = np.eye(9)[[3, 1, 0, 2, 8, 7, 6, 5, 4]] * np.arange(1, 10)
    close(linalg.det(to_gpu(a)), np.linalg.det(a), 8)
    close(linalg.slogdet(to_gpu(-a)).sign, np.linalg.slogdet(-a)[0], 0)
    close(linalg.inv(to_gpu(a)), np.linalg.inv(a), 8)
    tiny = np.array([[1e-20, 1], [1, 1]])
    close(linalg.solve(to_gpu(tiny), to_gpu(tiny[0])), np.linalg.solve(tiny, tiny[0]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_cholesky(dtype):
    for n in sizes(dtype):
        a = regular(dtype, n, n)
        a = a @ a.conj().T
        factor = np.linalg.cholesky(a)
        close(linalg.cholesky(to_gpu(np.tril(a))), factor)
        close(linalg.cholesky(to_gpu(np.triu(a)), upper=True), factor.conj().T)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_qr(dtype, shape):
    a = sample(dtype, *shape)
    for mode in ("reduced", "complete"):
        expected = np.linalg.qr(a, mode)
        got = linalg.qr(to_gpu(a), mode)
        for part, other in zip(got, expected, strict=True):
            assert part.shape == other.shape
        q, r = got.Q.get(), got.R.get()
        close(got.R, expected[1])
        eps = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(q @ r, a, atol=eps)
        one = np.eye(q.shape[1])
        np.testing.assert_allclose(q.conj().T @ q, one, atol=eps)
    close(linalg.qr(to_gpu(a), "r"), np.linalg.qr(a, "r"))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values(dtype):
    for shape in SHAPES:
        a = sample(dtype, *shape)
        expected = np.linalg.svd(a, compute_uv=False)
        close(linalg.svdvals(to_gpu(a)), expected, 50)
        close(linalg.svd(to_gpu(a), compute_uv=False), expected, 50)
    for n in sizes(dtype):
        a = sample(dtype, n, n)
        for uplo in "LU":
            expected = np.linalg.eigvalsh(a, uplo)
            close(linalg.eigvalsh(to_gpu(a), uplo), expected, 50)


@pytest.mark.parametrize("power", [-36, -20, 20, 36])
def test_values_far_from_one(power):
    """Squares of the elements overflow or become 0 in single precision."""
    a = (sample(np.float64, 6, 6) * 10.0**power).astype(np.float32)
    wide = a.astype(np.float64)
    eps = 50 * np.finfo(np.float32).eps
    for got, expected in (
        (linalg.svdvals(to_gpu(a)), np.linalg.svd(wide, compute_uv=False)),
        (linalg.eigvalsh(to_gpu(a)), np.linalg.eigvalsh(wide)),
        (linalg.qr(to_gpu(a), "r"), np.linalg.qr(wide, "r")),
    ):
        unit = np.abs(expected).max()
        np.testing.assert_allclose(got.get() / unit, expected / unit, atol=eps)


def test_multiple_and_zero_values(ctx):
    close(linalg.eigvalsh(to_gpu(np.eye(20))), np.ones(20))
    close(linalg.eigvalsh(to_gpu(np.zeros((5, 5)))), np.zeros(5))
    close(linalg.svdvals(to_gpu(np.zeros((5, 3)))), np.zeros(3))
    close(linalg.svdvals(to_gpu(np.ones((20, 12)))), np.r_[np.sqrt(240), np.zeros(11)])
    assert linalg.matrix_rank(to_gpu(np.outer(np.arange(9.0), np.ones(7)))).get() == 1
    q, r = linalg.qr(to_gpu(np.zeros((4, 3))))
    close(q, np.eye(4, 3))
    close(r, np.zeros((3, 3)))


def test_special_values(ctx):
    a = np.array([[1, np.nan], [np.nan, 2]])
    assert np.isnan(linalg.det(to_gpu(a)).get())
    assert np.isnan(linalg.solve(to_gpu(a), to_gpu(a)).get()).all()
    assert np.isnan(linalg.svdvals(to_gpu(a)).get()).all()
    assert np.isnan(linalg.eigvalsh(to_gpu(a)).get()).all()
    a[0, 1] = a[1, 0] = np.inf
    assert not np.isfinite(linalg.eigvalsh(to_gpu(a)).get()).any()


@pytest.mark.parametrize("batch", [(5,), (2, 3), (1, 1), (0,), (2, 0)], ids=str)
def test_batches(batch):
    a, b = regular(np.float32, *batch, 4, 4), sample(np.float32, *batch, 4, 3)
    x = to_gpu(a)
    positive = a @ a.swapaxes(-1, -2)
    if 0 in batch:
        assert linalg.det(x).shape == batch
        return
    close(linalg.solve(x, to_gpu(b)), np.linalg.solve(a, b))
    close(linalg.inv(x), np.linalg.inv(a))
    close(linalg.det(x), np.linalg.det(a))
    close(linalg.slogdet(x).logabsdet, np.linalg.slogdet(a)[1])
    close(linalg.cholesky(to_gpu(positive)), np.linalg.cholesky(positive))
    close(linalg.qr(x).R, np.linalg.qr(a)[1])
    close(linalg.svdvals(x), np.linalg.svd(a, compute_uv=False))
    close(linalg.eigvalsh(x), np.linalg.eigvalsh(a))


def test_layouts(ctx):
    whole = regular(np.float64, 4, 3, 8, 8)
    x = to_gpu(whole)
    for view in (
        lambda a: a[1, 2].T,
        lambda a: a[::2, ::-1],
        lambda a: a[::-1, 1, ::2, ::2],
        lambda a: a.transpose(1, 0, 3, 2),
        lambda a: a[:, :, ::-1, ::-1],
        lambda a: a[:2, :2],
        lambda a: a[..., 1:6, 1:6],
    ):
        part = np.ascontiguousarray(view(whole))
        close(linalg.inv(view(x)), np.linalg.inv(part), 2000)
        close(linalg.svdvals(view(x)), np.linalg.svd(part, compute_uv=False))
        close(linalg.svdvals(view(x)[..., :3, :]), _svdvals(part[..., :3, :]))
        close(linalg.qr(view(x)[..., :2], "r"), np.linalg.qr(part[..., :2], "r"))
    close(linalg.solve(x[0, 0], x[0, 1][:, ::3]), _solved(whole))


def _svdvals(a):
    return np.linalg.svd(a, compute_uv=False)


def _solved(whole):
    return np.linalg.solve(whole[0, 0], whole[0, 1][:, ::3])


def test_dtypes_and_broadcast_systems(ctx):
    whole = np.array([[2, 1], [1, 3]])
    close(linalg.inv(to_gpu(whole)), np.linalg.inv(whole))
    close(linalg.det(to_gpu(whole > 1)), np.linalg.det(whole > 1))
    close(linalg.slogdet(to_gpu(whole)).logabsdet, np.linalg.slogdet(whole)[1])
    close(linalg.cholesky(to_gpu(whole)), np.linalg.cholesky(whole))
    close(linalg.qr(to_gpu(whole)).R, np.linalg.qr(whole)[1])
    close(linalg.svdvals(to_gpu(whole)), _svdvals(whole))
    close(linalg.eigvalsh(to_gpu(whole)), np.linalg.eigvalsh(whole))
    a, b = regular(np.float32, 2, 1, 3, 3), sample(np.complex128, 4, 3, 2)
    close(linalg.solve(to_gpu(a), to_gpu(b)), np.linalg.solve(a, b))
    close(linalg.solve(to_gpu(a), to_gpu(b[0, :, 0])), np.linalg.solve(a, b[0])[..., 0])


def test_failures(ctx):
    flat = np.ones((3, 3))
    many = np.broadcast_to(np.eye(3), (8, 3, 3)).copy()
    many[5] = 1
    for singular in (flat, many, np.zeros((1, 1))):
        x = to_gpu(singular)
        for call in (linalg.inv, lambda x: linalg.solve(x, x)):
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                call(x)
        close(linalg.det(x), np.linalg.det(singular))
    sign, logarithm = linalg.slogdet(to_gpu(flat))
    assert (sign.get(), logarithm.get()) == (0, -np.inf)
    many[5] = -np.eye(3)
    for wrong in (-np.eye(3), many, np.full((2, 2), np.nan)):
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            linalg.cholesky(to_gpu(wrong))
    close(linalg.inv(to_gpu(np.eye(3))), np.eye(3))  # a report is not seen again


def test_streams_and_allocators(ctx):
    stream = drv.Stream()
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    a = regular(np.float64, 6, 6)
    x = to_gpu(a, allocator=allocate)
    asked.clear()
    y = linalg.inv(x, stream=stream)
    assert asked == [a.nbytes]
    stream.synchronize()
    close(y, np.linalg.inv(a))
    with stream:
        close(linalg.svdvals(x), _svdvals(a))


@pytest.mark.software(why="a GPU's machine has cuSOLVER")
def test_only_small_matrices(ctx, monkeypatch):
    """Larger matrices, and all if the program says so, are cuSOLVER's."""
    large = gpuarray.zeros((300, 300), np.float32)
    for call in (linalg.inv, linalg.det, linalg.svdvals, linalg.eigvalsh, linalg.qr):
        with pytest.raises(drv.RuntimeError, match="the extra linalg"):
            call(large)
    small = to_gpu(np.eye(3))
    monkeypatch.setenv("PYCUDA_SOLVER", "cusolver")
    with pytest.raises(drv.RuntimeError, match="the extra linalg"):
        linalg.inv(small)
    monkeypatch.setenv("PYCUDA_SOLVER", "mine")
    with pytest.raises(ValueError, match="PYCUDA_SOLVER"):
        linalg.inv(small)


def test_the_private_function(ctx):
    x = to_gpu(np.eye(3))
    with pytest.raises(ValueError, match="solver"):
        _driver._small_solver("lu", x)
    for arguments in (("solve", x), ("inv", x, x), ("inv", 3), ("det", x[0])):
        assert _driver._small_solver(*arguments) is None


# -- diagonals of larger matrices ------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
@pytest.mark.parametrize("power", [-25, 0, 25])
def test_values_of_diagonals(dtype, power):
    for n in (1, 2, 3, 40, 101):
        main = sample(np.float64, 2, n) * 10.0**power
        beside = sample(np.float64, 2, n, seed=1) * 10.0**power
        arrays = [to_gpu(x.astype(dtype)) for x in (main, beside)]
        upper = [
            np.diag(d) + np.diag(e[:-1], 1) for d, e in zip(main, beside, strict=True)
        ]
        both = [x + x.T - np.diag(np.diag(x)) for x in upper]
        for is_bidiagonal, expected in (
            (True, np.linalg.svd(upper, compute_uv=False)),
            (False, np.linalg.eigvalsh(both)),
        ):
            got = _driver._values_of_diagonals(*arrays, is_bidiagonal).get()
            assert got.dtype == dtype
            unit = np.abs(expected).max()
            eps = 40 * np.finfo(dtype).eps
            np.testing.assert_allclose(got / unit, expected / unit, atol=eps)


def test_diagonals_that_are_refused(ctx):
    x = to_gpu(np.ones(8))
    for other in (x[:4], x.astype(np.float32), x[::-1], x.astype(np.int64)):
        with pytest.raises(ValueError, match="diagonals"):
            _driver._values_of_diagonals(x, other, False)
    with pytest.raises(TypeError, match="takes a GPUArray, not NoneType"):
        _driver._values_of_diagonals(x, None, True)
    long = gpuarray.empty(2**20, np.float64)
    assert _driver._values_of_diagonals(long, long, True) is None


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_determinants_of_factors(dtype):
    a = np.triu(sample(dtype, 3, 70, 70)) + np.eye(70, dtype=dtype)
    pivots = np.tile(np.arange(1, 71, dtype=np.int32), (3, 1))
    pivots[1, :9] = 10  # nine exchanges
    arrays = to_gpu(a), to_gpu(pivots[..., None])
    sign, logarithm = np.linalg.slogdet(a)
    sign[1] *= -1
    got = _driver._small_solver("slogdet of factors", *arrays)
    close(got[0], sign, 400)
    close(got[1], logarithm, 400)
    assert _driver._small_solver("det of factors", arrays[0], arrays[0]) is None
    close(
        _driver._small_solver("det of factors", arrays[0][:, :8, :8], arrays[1][:, :8]),
        np.linalg.det(a[:, :8, :8]),
        400,
    )
