"""Solvers and decompositions by cuSOLVER, compared with NumPy.

Matrices of all sizes are cuSOLVER's here; test_small_matrices.py tests the generated
kernels. On the software device, SciPy's LAPACK under cuSOLVER's functions
(support/cusolver.py) replaces the library. On a GPU, cuSOLVER itself computes.
"""

import gc

import numpy as np
import pytest

import pycuda.driver as drv
import pycuda.fuse
from pycuda import _driver, _libraries, gpuarray, linalg
from pycuda._array.linalg import cusolver, factors
from pycuda.gpuarray import to_gpu
from pycuda.tools import clear_context_caches

DTYPES = [np.dtype(name) for name in ("float32", "float64", "complex64", "complex128")]
BATCHES = [(), (3,), (2, 3), (0,)]

pytestmark = pytest.mark.gpu


@pytest.fixture
def library(ctx, monkeypatch):
    """A context with a cuSOLVER; on the software device, the one of the tests."""
    monkeypatch.setenv("PYCUDA_SOLVER", "cusolver")
    if not _driver._is_emulated():
        yield None
        return
    model = pytest.importorskip("support.cusolver")
    found = model.install(monkeypatch.setattr)
    clear_context_caches()
    yield found
    clear_context_caches()
    gc.collect()
    assert found.alive == 0


def sample(dtype, shape, seed=0):
    """Return random numbers between -1 and 1."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    values = rng.uniform(-1, 1, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(-1, 1, shape)
    return values.astype(dtype)


def square(dtype, n=5, batch=(), seed=0):
    """Return well-conditioned square matrices."""
    return sample(dtype, (*batch, n, n), seed) + 3 * np.eye(n, dtype=dtype)


def hermitian(dtype, n=5, batch=(), seed=0):
    """Return positive definite matrices."""
    a = square(dtype, n, batch, seed)
    return a @ a.conj().swapaxes(-1, -2)


def close(got, expected, scale=200):
    """Assert that an array is near another, of the same dtype and shape."""
    if isinstance(got, gpuarray.GPUArray):
        got = got.get()
    expected = np.asarray(expected)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, expected)
        return
    eps = scale * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(got, expected, rtol=eps, atol=eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_systems(library, dtype, batch):
    a, b = square(dtype, batch=batch), sample(dtype, (*batch, 5, 2), 1)
    close(linalg.solve(to_gpu(a), to_gpu(b)), np.linalg.solve(a, b))
    close(linalg.inv(to_gpu(a)), np.linalg.inv(a))
    close(linalg.det(to_gpu(a)), np.linalg.det(a), 2000)
    sign, logarithm = linalg.slogdet(to_gpu(a))
    expected = np.linalg.slogdet(a)
    close(sign, expected[0])
    close(logarithm, expected[1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("batch", "n"), [((), 40), ((2,), 40), ((4,), 40)], ids=str)
def test_larger_systems(library, dtype, batch, n):
    """One by one, or at once: sizes decide."""
    a = square(dtype, n, batch) + 9 * np.eye(n, dtype=dtype)
    b = sample(dtype, (*batch, n, 3), 1)
    close(linalg.solve(to_gpu(a), to_gpu(b)), np.linalg.solve(a, b))
    close(linalg.inv(to_gpu(a)), np.linalg.inv(a))
    sign, logarithm = linalg.slogdet(to_gpu(a))
    close(sign, np.linalg.slogdet(a)[0])
    close(logarithm, np.linalg.slogdet(a)[1])
    hermite = a @ a.conj().swapaxes(-1, -2)
    close(linalg.cholesky(to_gpu(hermite)), np.linalg.cholesky(hermite), 5000)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_cholesky(library, dtype, batch):
    a = hermitian(dtype, batch=batch)
    lower = np.linalg.cholesky(a)
    close(linalg.cholesky(to_gpu(a)), lower)
    close(linalg.cholesky(to_gpu(a), upper=True), lower.conj().swapaxes(-1, -2))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape", [(5, 3), (3, 5), (4, 4), (2, 4, 3), (0, 3, 2)], ids=str
)
def test_qr(library, dtype, shape):
    a = sample(dtype, shape)
    m, n = shape[-2:]
    for mode in ("reduced", "complete"):
        found = linalg.qr(to_gpu(a), mode)
        q, r = found.Q.get(), found.R.get()
        expected = np.linalg.qr(a, mode)
        assert (q.shape, r.shape) == (expected[0].shape, expected[1].shape)
        close(q @ r, a)
        identity = np.broadcast_to(
            np.eye(q.shape[-1], dtype=dtype), (*shape[:-2], *q.shape[-1:] * 2)
        )
        close(q.conj().swapaxes(-1, -2) @ q, identity)
        close(r, np.triu(r))
    close(abs(linalg.qr(to_gpu(a), "r").get()), abs(np.linalg.qr(a, "r")))
    h, tau = linalg.qr(to_gpu(a), "raw")
    assert h.shape == (*shape[:-2], n, m)
    assert tau.shape == (*shape[:-2], min(m, n))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "shape", [(5, 3), (3, 5), (4, 4), (2, 4, 3), (2, 3, 4), (0, 3, 2)], ids=str
)
def test_svd(library, dtype, shape):
    a = sample(dtype, shape)
    x = to_gpu(a)
    values = np.linalg.svd(a, compute_uv=False)
    close(linalg.svdvals(x), values)
    close(linalg.svd(x, compute_uv=False), values)
    for full in (False, True):
        found = linalg.svd(x, full)
        expected = np.linalg.svd(a, full)
        u, s, vh = (part.get() for part in found)
        assert [p.shape for p in (u, s, vh)] == [p.shape for p in expected]
        k = s.shape[-1]
        close(s, values)
        close(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a)
        for side in (u, vh.conj().swapaxes(-1, -2)):
            products = side.conj().swapaxes(-1, -2) @ side
            close(
                products,
                np.broadcast_to(np.eye(side.shape[-1], dtype=dtype), products.shape),
            )
    close(linalg.pinv(x), np.linalg.pinv(a))
    close(linalg.matrix_rank(x), np.linalg.matrix_rank(a))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_of_bidiagonal_matrices(library, dtype, monkeypatch):
    """Matrices of more columns than these are not Jacobi's method's."""
    monkeypatch.setattr(factors, "JACOBI_MOST", 0)
    for shape in ((1, 1), (6, 4), (4, 6), (2, 9, 9)):
        a = sample(dtype, shape)
        close(linalg.svdvals(to_gpu(a)), np.linalg.svd(a, compute_uv=False), 2000)


def test_ranks(library):
    a = np.outer([1.0, 2, 3], [1.0, 0, 2, 1])
    close(linalg.matrix_rank(to_gpu(a)), np.int64(1))
    close(linalg.matrix_rank(to_gpu(np.eye(3)), tol=2), np.int64(0))
    close(linalg.matrix_rank(to_gpu(np.zeros(3))), np.int64(0))
    close(linalg.pinv(to_gpu(a)), np.linalg.pinv(a))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_least_squares(library, dtype):
    for m, n in ((6, 3), (3, 6), (4, 4)):
        a = sample(dtype, (m, n))
        for b in (sample(dtype, (m,), 1), sample(dtype, (m, 2), 1)):
            got = linalg.lstsq(to_gpu(a), to_gpu(b))
            expected = np.linalg.lstsq(a, b, rcond=None)
            close(got[0], expected[0], 2000)
            close(got[1], expected[1], 2000)
            assert got[2] == expected[2]
            close(got[3], expected[3])
    flat = np.ones((4, 3), dtype)
    got = linalg.lstsq(to_gpu(flat), to_gpu(flat[:, 0].copy()))
    expected = np.linalg.lstsq(flat, flat[:, 0], rcond=None)
    close(got[0], expected[0])
    assert (got[1].shape, got[2]) == ((0,), 1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_eigenvalues(library, dtype, batch):
    a = hermitian(dtype, batch=batch)
    a = a + 0
    for uplo in "LU":
        half = np.tril(a) if uplo == "L" else np.triu(a)  # the rest is not read
        values, vectors = linalg.eigh(to_gpu(half), uplo)
        close(values, np.linalg.eigvalsh(a), 2000)
        w, v = values.get(), vectors.get()
        close(a @ v, (v * w[..., None, :]).astype(dtype), 5000)
        close(linalg.eigvalsh(to_gpu(half), uplo), np.linalg.eigvalsh(a), 2000)


def test_powers_of_matrices(library):
    a = square(np.float64)
    for power in (0, 1, 2, 3, 7, -1, -2):
        close(
            linalg.matrix_power(to_gpu(a), power), np.linalg.matrix_power(a, power), 1e5
        )
    whole = np.array([[1, 1], [1, 0]])
    close(linalg.matrix_power(to_gpu(whole), 30), np.linalg.matrix_power(whole, 30))


def test_conditions(library):
    a = square(np.float64, batch=(2,))
    for order in (None, 2, -2, "fro", "nuc", 1, -1, np.inf, -np.inf):
        close(linalg.cond(to_gpu(a), order), np.linalg.cond(a, order), 2000)
    with pytest.raises(np.linalg.LinAlgError, match=r"\(3,\)"):
        linalg.cond(gpuarray.zeros(3))


def test_tensors(library):
    a = sample(np.float64, (4, 6, 8, 3))
    close(np.linalg.tensorinv(to_gpu(a)), np.linalg.tensorinv(a), 1e5)
    b = sample(np.float64, (4, 6))
    close(np.linalg.tensorsolve(to_gpu(a), to_gpu(b)), np.linalg.tensorsolve(a, b), 1e5)
    a = sample(np.float64, (2, 8, 4))
    b = sample(np.float64, (8,))
    close(
        linalg.tensorsolve(to_gpu(a), to_gpu(b), axes=(0, 2)),
        np.linalg.tensorsolve(a, b, axes=(0, 2)),
        1e5,
    )
    for call in (
        lambda: linalg.tensorinv(to_gpu(a), 1),
        lambda: linalg.tensorsolve(to_gpu(a), to_gpu(b)),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="tensor"):
            call()


def test_layouts_and_dtypes(library):
    a = square(np.float32, 8)
    x = to_gpu(a)
    close(linalg.inv(x.T), np.linalg.inv(a.T))
    close(linalg.inv(x[::2, ::-2]), np.linalg.inv(a[::2, ::-2]), 2000)
    close(linalg.solve(x, x[:, ::3]), np.linalg.solve(a, a[:, ::3]))
    close(linalg.solve(x, x[0]), np.linalg.solve(a, a[0]))
    whole = np.array([[2, 1], [1, 3]])
    close(linalg.inv(to_gpu(whole)), np.linalg.inv(whole))
    close(linalg.det(to_gpu(whole > 1)), np.linalg.det(whole > 1))
    mixed = linalg.solve(x, to_gpu(a[0].astype(np.complex128)))
    close(mixed, np.linalg.solve(a, a[0].astype(np.complex128)), 1e9)
    close(x, a)  # no operand is overwritten


def test_broadcast_systems(library):
    a, b = square(np.float64, 3, (2, 1)), sample(np.float64, (4, 3, 2), 1)
    close(linalg.solve(to_gpu(a), to_gpu(b)), np.linalg.solve(a, b))


def test_singular_matrices(library):
    flat = to_gpu(np.ones((3, 3)))
    many = np.broadcast_to(np.eye(3), (8, 3, 3)).copy()
    many[5] = 1
    for call in (linalg.inv, lambda x: linalg.solve(x, x)):
        for singular in (flat, to_gpu(many)):
            with pytest.raises(np.linalg.LinAlgError, match="Singular"):
                call(singular)
    close(linalg.det(to_gpu(many)), np.linalg.det(many))
    close(linalg.det(flat), np.float64(0))
    sign, logarithm = linalg.slogdet(flat)
    assert (sign.get(), logarithm.get()) == (0, -np.inf)
    many[5] = -np.eye(3)
    for wrong in (-np.eye(3), many):
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            linalg.cholesky(to_gpu(wrong))


def test_numpy_functions(library):
    a = square(np.float64)
    x = to_gpu(a)
    for name in ("inv", "det", "svd", "eigvalsh", "qr", "pinv", "matrix_rank"):
        got = getattr(np.linalg, name)(x)
        parts = got if isinstance(got, tuple) else (got,)
        assert all(isinstance(part, gpuarray.GPUArray) for part in parts)
    close(np.linalg.solve(x, x), np.linalg.solve(a, a))
    assert np.linalg.svd(x).S.shape == (5,)
    assert np.linalg.eigh(x).eigenvalues.shape == (5,)
    assert np.linalg.slogdet(x).sign.shape == ()


@pytest.mark.software(why="a GPU's library may be older than CUDA 12.8")
def test_numpy_eigenvalues(library):
    x = to_gpu(square(np.float64))
    assert np.linalg.eig(x).eigenvalues.dtype == np.complex128
    assert np.linalg.eigvals(x).shape == (5,)


# -- errors ----------------------------------------------------------------------------


def test_bad_operands(ctx):
    x = gpuarray.zeros((2, 3))
    for call in (linalg.inv, linalg.det, linalg.cholesky, linalg.eigh):
        with pytest.raises(np.linalg.LinAlgError, match=r"\(2, 3\)"):
            call(x)
        with pytest.raises(np.linalg.LinAlgError, match=r"\(3,\)"):
            call(gpuarray.zeros(3))
    for call in (linalg.svd, linalg.qr, linalg.pinv):
        with pytest.raises(np.linalg.LinAlgError, match=r"\(3,\)"):
            call(gpuarray.zeros(3))
    square = gpuarray.zeros((2, 2))
    with pytest.raises(ValueError, match="2 rows"):
        linalg.solve(square, gpuarray.zeros((3, 2)))
    with pytest.raises(TypeError, match="float16"):
        linalg.inv(square.astype(np.float16))
    with pytest.raises(TypeError, match="to_gpu"):
        linalg.inv(np.eye(2))
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(square, "economic")
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(square, "X")
    with pytest.raises(np.linalg.LinAlgError, match="lstsq"):
        linalg.lstsq(x, gpuarray.zeros(3))
    with pytest.raises(TypeError, match="integer"):
        linalg.matrix_power(square, 1.5)


@pytest.mark.software(why="a GPU's machine has cuSOLVER")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_eig(library, dtype, batch):
    a = sample(dtype, (*batch, 5, 5))
    wide = np.result_type(dtype, np.complex64)
    close = 100 * np.finfo(dtype).eps
    values, vectors = linalg.eig(to_gpu(a))
    assert (values.dtype, vectors.dtype) == (wide, wide)
    assert (values.shape, vectors.shape) == ((*batch, 5), (*batch, 5, 5))
    w, v = values.get(), vectors.get()
    np.testing.assert_allclose(a @ v, v * w[..., None, :], atol=10 * close)
    np.testing.assert_allclose(np.linalg.norm(v, axis=-2), 1, atol=close)
    alone = linalg.eigvals(to_gpu(a))
    assert alone.dtype == wide
    np.testing.assert_allclose(
        np.sort_complex(alone.get()), np.sort_complex(w), atol=10 * close
    )


def test_eig_errors(library):
    with pytest.raises(np.linalg.LinAlgError, match=r"\(2, 3\)"):
        linalg.eig(to_gpu(np.ones((2, 3))))
    with pytest.raises(TypeError, match="float16"):
        linalg.eigvals(to_gpu(np.ones((2, 2), np.float16)))


@pytest.mark.software(why="a GPU has solvers")
def test_the_software_device_has_no_solvers(ctx, monkeypatch):
    monkeypatch.setenv("PYCUDA_SOLVER", "cusolver")
    for each in (np.eye(3), np.stack([np.eye(3)] * 8)):
        with pytest.raises(drv.RuntimeError, match="software device"):
            linalg.inv(to_gpu(each))


def test_without_cusolver(ctx, monkeypatch):
    """The libraries are hidden: the error is that of a GPU's machine without them."""
    monkeypatch.setenv("PYCUDA_SOLVER", "cusolver")
    for library in (_libraries.CUBLAS, _libraries.CUSOLVER):
        monkeypatch.setattr(library, "paths", lambda: ["/nowhere/library.so"])
        monkeypatch.setattr(library, "_library", None)
    hardware = type("Hardware", (), {"_is_emulated": staticmethod(lambda: False)})
    monkeypatch.setattr(cusolver, "_driver", hardware)
    clear_context_caches()
    for each in (np.eye(3), np.eye(40)):
        with pytest.raises(drv.RuntimeError, match=r"cuda-toolkit\[cublas,cusolver\]"):
            linalg.inv(to_gpu(each))


@pytest.mark.software(why="a GPU's library has no failures to inject")
def test_statuses(library):
    x, y = to_gpu(np.eye(40)), to_gpu(np.eye(3))
    for routine, status, kind in (
        ("Create", 2, drv.MemoryError),
        ("getrf_bufferSize", 3, drv.LogicError),
        ("getrf", 6, drv.LaunchError),
    ):
        library.failing = {routine: status}
        with pytest.raises(kind, match="CUSOLVER_STATUS_"):
            linalg.inv(x)
    for status, kind in ((3, drv.MemoryError), (13, drv.LaunchError)):
        library.failing = {"getrfBatched": status}
        with pytest.raises(kind, match="CUBLAS_STATUS_"):
            linalg.inv(y)
    library.failing = {}
    close(linalg.inv(x), np.eye(40))
    close(linalg.inv(y), np.eye(3))


@pytest.mark.parametrize("n", [100, 256, 600])
def test_captures_are_refused(library, n):
    """A routine that a failed capture had begun would damage the context."""
    a, b = to_gpu(np.eye(n) + 1), to_gpu(np.ones(n))
    expected = np.linalg.solve(np.eye(n) + 1, np.ones(n))
    for _ in range(3):
        with (
            pytest.raises(drv.LogicError, match="cannot be captured"),
            drv.Stream().capture(),
        ):
            linalg.solve(a, b)
        np.testing.assert_allclose(linalg.solve(a, b).get(), expected, 1e-12)


def test_a_library_gets_no_stand_ins(library):
    """A recording has arrays without memory, which a routine must not see."""
    n = 200

    def plain(a, b):
        return np.linalg.solve(a + n * 2, b) * 2, np.linalg.eigvalsh(a + a.T)

    rng = np.random.default_rng(0)
    a, b = to_gpu(rng.random((n, n))), to_gpu(rng.random(n))
    expected = [each.get() for each in plain(a, b)]
    function = pycuda.fuse.fuse(plain)
    for _ in range(3):
        for got, want in zip(function(a, b), expected, strict=True):
            np.testing.assert_allclose(got.get(), want, 1e-9)
