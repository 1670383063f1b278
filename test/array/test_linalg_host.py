"""Linear algebra on the software device is NumPy's, to the last bit."""

import re

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import linalg
from pycuda.gpuarray import GPUArray, empty, to_gpu
from support.child import run_child

pytestmark = pytest.mark.software(why="a GPU has libraries of its own")

DTYPES = [np.dtype(name) for name in ("f4", "f8", "c8", "c16", "i4")]
COMPLEX = {"eig", "eigvals"}  # complex also where all values are real
FUNCTIONS = {"cholesky", "det", "eigh", "eigvalsh", "inv", "qr", "slogdet", "svd"}
FUNCTIONS |= COMPLEX


@pytest.fixture(autouse=True)
def automatic(ctx, monkeypatch):
    """The variables are not set."""
    for name in ("PYCUDA_SOLVER", "PYCUDA_BLAS"):
        monkeypatch.delenv(name, raising=False)


def matrices(dtype, *shape):
    """Return positive definite matrices."""
    rng = np.random.default_rng(len(shape))
    a = rng.integers(-3, 4, shape).astype(dtype)
    if dtype.kind == "c":
        a = a + 1j * rng.integers(-3, 4, shape).astype(dtype)
    square = a @ a.conj().swapaxes(-1, -2) + 9 * np.eye(shape[-2])
    return square.astype(dtype)


def same(got, expected):
    """Assert that arrays, or tuples of them, have the same dtypes and bits."""
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for pair in zip(got, expected, strict=True):
            same(*pair)
        return
    assert isinstance(got, GPUArray)
    expected = np.asarray(expected)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.get().tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 5), (40, 40)], ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "cholesky",
        "det",
        "eig",
        "eigh",
        "eigvals",
        "eigvalsh",
        "inv",
        "qr",
        "slogdet",
        "svd",
    ],
)
def test_functions_of_matrices(name, shape, dtype):
    a = matrices(dtype, *shape)
    with np.errstate(over="ignore"):
        expected = getattr(np.linalg, name)(a.astype("f8") if dtype.kind == "i" else a)
    if name in COMPLEX:
        kind = np.result_type(np.complex64, np.float64 if dtype.kind == "i" else dtype)
        parts = expected if isinstance(expected, tuple) else (expected,)
        parts = tuple(part.astype(kind) for part in parts)
        expected = parts if isinstance(expected, tuple) else parts[0]
    same(getattr(linalg, name)(to_gpu(a)), expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_solutions(dtype):
    a, b = matrices(dtype, 2, 4, 4), matrices(dtype, 4, 4)
    wide = [x.astype("f8") if dtype.kind == "i" else x for x in (a, b)]
    same(linalg.solve(to_gpu(a), to_gpu(b)), np.linalg.solve(*wide))
    vector = linalg.solve(to_gpu(a[0]), to_gpu(b[0]))
    same(vector, np.linalg.solve(wide[0][0], wide[1][0]))
    assert int(linalg.matrix_rank(to_gpu(a[0])).get()) == 4
    x, _, rank, _ = linalg.lstsq(to_gpu(a[0]), to_gpu(b))
    assert rank == 4
    np.testing.assert_allclose(x.get(), np.linalg.solve(wide[0][0], wide[1]), rtol=1e-3)
    inverse = linalg.pinv(to_gpu(a[0])).get()
    np.testing.assert_allclose(inverse, np.linalg.inv(wide[0][0]), rtol=1e-3, atol=1e-6)


def test_upper_factors_and_modes():
    a = matrices(np.dtype("c16"), 4, 4)
    upper = linalg.cholesky(to_gpu(a), upper=True).get()
    np.testing.assert_allclose(upper.conj().T @ upper, a)
    assert (np.tril(upper, -1) == 0).all()
    tall = np.arange(12.0).reshape(4, 3) % 5
    for mode in ("complete", "r", "raw"):
        same(linalg.qr(to_gpu(tall), mode), np.linalg.qr(tall, mode))
    same(linalg.svd(to_gpu(tall), full_matrices=False), np.linalg.svd(tall, False))
    same(linalg.svdvals(to_gpu(tall)), np.linalg.svd(tall, compute_uv=False))
    same(linalg.eigvalsh(to_gpu(a), "U"), np.linalg.eigvalsh(a, "U"))


def test_errors_are_those_of_a_gpu():
    singular, wide = to_gpu(np.zeros((3, 3))), to_gpu(np.ones((2, 3)))
    for call in (linalg.inv, linalg.cholesky):
        with pytest.raises(np.linalg.LinAlgError, match=r"Singular|definite"):
            call(singular)
    for call in (linalg.inv, linalg.eigh, linalg.det, linalg.eig):
        with pytest.raises(np.linalg.LinAlgError, match="square"):
            call(wide)
    with pytest.raises(ValueError, match="3 rows"):
        linalg.solve(singular, to_gpu(np.ones(2)))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(singular, "X")
    with pytest.raises(TypeError, match="float16"):
        linalg.svd(to_gpu(np.ones((2, 2), np.float16)))


def test_work_is_in_the_order_of_the_stream():
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    host = np.diag([2.0, 4.0, 8.0])
    x = to_gpu(np.zeros((3, 3)))
    page = drv.pagelocked_empty((3, 3), np.float64)
    page[...] = host
    x.set_async(page, stream=stream)
    same(linalg.inv(x, stream=stream), np.linalg.inv(host))
    with stream:
        same(x @ x, host @ host)


def test_what_is_captured_is_generated_or_refused(monkeypatch):
    x = to_gpu(np.diag([2.0, 4.0]))
    stream = drv.Stream()
    with stream:
        monkeypatch.setenv("PYCUDA_SOLVER", "generated")
        linalg.det(x)  # makes the kernel
        monkeypatch.delenv("PYCUDA_SOLVER")
        with stream.capture() as graph:
            with pytest.raises(drv.RuntimeError, match="while a graph is captured"):
                linalg.eigh(x)
            value = linalg.det(x)
        graph.instantiate().launch(stream)
        stream.synchronize()
    assert value.get() == 8


def test_switches_keep_the_generated_kernels(monkeypatch):
    x = to_gpu(np.diag([2.0, 4.0]))
    for function in ("inv", "det"):
        monkeypatch.setattr(np.linalg, function, None)
        with pytest.raises(TypeError):
            getattr(linalg, function)(x)
    monkeypatch.setenv("PYCUDA_SOLVER", "generated")
    assert linalg.det(x).get() == 8
    same(linalg.inv(x), np.diag([0.5, 0.25]))
    context = drv.Device(0).make_context()
    try:
        monkeypatch.setenv("PYCUDA_BLAS", "generated")
        assert linalg.product_library().startswith("generated kernels")
    finally:
        context.pop()
        context.detach()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_products(dtype):
    assert linalg.product_library().startswith("NumPy")
    rng = np.random.default_rng(1)
    for left, right in (
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((4,), (2, 4, 3)),
        ((3, 4), (4,)),
        ((7,), (7,)),
    ):
        a = rng.integers(-5, 6, left).astype(dtype)
        b = rng.integers(-5, 6, right).astype(dtype)
        same(to_gpu(a) @ to_gpu(b), a @ b)
    a = rng.normal(size=(6, 8)).astype(np.float32)
    b = rng.normal(size=(8, 6))
    same(to_gpu(a) @ to_gpu(b), a.astype(np.float64) @ b)
    out = empty((12, 6), np.float64)[::2]
    assert linalg.matmul(to_gpu(a), to_gpu(b), out=out) is out
    same(out.copy(), a.astype(np.float64) @ b)
    same(to_gpu(a)[::2, ::-1] @ to_gpu(a).T[::-1], a[::2, ::-1] @ a.T[::-1])


# -- the checks ------------------------------------------------------------------------

UNWRITTEN = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import linalg
from pycuda.gpuarray import empty, to_gpu

whole = to_gpu(np.tril(np.ones((64, 64)) + np.diag(np.arange(64.0))))
part = empty((64, 64), np.float64)  # the array
part[ROWS] = whole[ROWS]
try:
    CALL
    drv.Context.synchronize()
    print("fine")
except drv.LaunchError as error:
    print(error)
"""

CALLS = {
    "product": "part @ whole",
    "product, right": "whole @ part",
    "solve": "linalg.solve(part, whole)",
    "solve, right": "linalg.solve(whole, part)",
    "inv": "linalg.inv(part)",
    "det": "linalg.det(part)",
    "qr": "linalg.qr(part)",
    "svd": "linalg.svd(part)",
    "eig": "linalg.eigvals(part)",
    "lstsq": "linalg.lstsq(part, whole)",
}


@pytest.mark.parametrize("call", CALLS)
def test_unwritten_elements_are_reported(call):
    """The report names the call and the array. A written array is fine."""
    code = UNWRITTEN.replace("CALL", CALLS[call])
    line = code.splitlines().index("    " + CALLS[call]) + 1
    array = next(
        n for n, text in enumerate(code.splitlines(), 1) if "# the array" in text
    )
    said = run_child(
        code.replace("ROWS", ":60"), check=False, PYCUDA_CHECK="init"
    ).stdout
    assert "uninitialised read of 8 bytes" in said
    assert "32768-byte device allocation" in said
    assert re.search(rf"launched at <string>:{line}\b", said)
    assert re.search(rf"memory was allocated at <string>:{array}\b", said)
    said = run_child(code.replace("ROWS", ":"), PYCUDA_CHECK="init").stdout
    assert said == "fine\n"


def test_the_triangle_that_a_function_ignores_may_be_unwritten():
    code = """
        import numpy as np
        import pycuda.autoinit
        from pycuda import linalg
        from pycuda.gpuarray import empty
        a = empty((2, 2), np.float64)
        a[:, 0] = np.float64(3)
        a[1, 1] = np.float64(5)
        print(linalg.eigvalsh(a).get().round(3), linalg.cholesky(a).get().round(3)[1])
    """
    said = run_child(code, PYCUDA_CHECK="init").stdout
    assert said == "[0.838 7.162] [1.732 1.414]\n"


RACE = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import linalg
from pycuda.compiler import SourceModule
from pycuda.gpuarray import to_gpu, zeros

twice = SourceModule(
    "__global__ void twice(double *x) { x[blockIdx.x * 64 + threadIdx.x] *= 2; }"
).get_function("twice")
a, out = to_gpu(np.eye(64)), zeros((64, 64), np.float64)
one, two = (drv.Stream(drv.stream_flags.NON_BLOCKING) for _ in range(2))
drv.Context.synchronize()
twice(a, block=(64, 1, 1), grid=(64, 1), stream=one)
if ORDERED:
    two.wait_for_event(drv.Event().record(one))
try:
    CALL
    drv.Context.synchronize()
    print("fine")
except drv.LaunchError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "call, verb, other",
    [
        ("linalg.matmul(a, a, out=out, stream=two)", "reads", "writes"),
        ("linalg.matmul(out, out, out=a, stream=two)", "writes", "(reads|writes)"),
        ("linalg.inv(a, stream=two)", "reads", "writes"),
        ("linalg.svd(a, stream=two)", "reads", "writes"),
    ],
)
def test_a_race_with_a_kernel_of_another_stream_is_reported(call, verb, other):
    """Nothing is reported if the stream waits for the other one."""
    code = RACE.replace("CALL", call)
    done = run_child(code.replace("ORDERED", "False"), check=False, PYCUDA_CHECK="sync")
    said = " ".join(done.stdout.split())
    assert re.search(rf"sync: \w[\w ]* {verb} byte \d+ of the 32768-byte device", said)
    assert re.search(rf"which kernel twice in another stream {other}", said)
    said = run_child(code.replace("ORDERED", "True"), PYCUDA_CHECK="sync").stdout
    assert said == "fine\n"
