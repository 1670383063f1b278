"""Products through cuSPARSE.

On the software device, a library of the tests (test/c/fake_cusparse.c) replaces
cuSPARSE and checks the calls. On a GPU, the tests check the results.
"""

import ctypes
import gc
import shutil
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, _libraries, gpuarray
from pycuda.gpuarray import to_gpu
from pycuda.sparse import cusparse
from pycuda.sparse.csr import CsrSpMV
from pycuda.sparse.cusparse import CusparseSpMV
from support import cc

SOURCE = Path(__file__).parents[1] / "c" / "fake_cusparse.c"
MATRIX = np.array([[0, 2.0, 0], [0, 0, 0], [1, 0, 3]])

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    path = tmp_path_factory.mktemp("cusparse") / "libcusparse.so"
    cc.must(cc.compile_c("cc", [SOURCE], path, ["-std=c11", "-shared", "-fPIC"]))
    return path


@pytest.fixture
def fake(built, ctx, monkeypatch):
    """The library of the tests, opened as cuSPARSE. Its objects must be released."""
    if not _driver._is_emulated():
        pytest.skip("only the software device has memory that a processor can read")
    monkeypatch.setattr(_libraries.CUSPARSE, "paths", lambda: [str(built)])
    monkeypatch.setattr(_libraries.CUSPARSE, "_library", None)
    monkeypatch.setattr(_driver, "_is_emulated", lambda: False)
    library = ctypes.CDLL(str(built))

    class Fake:
        def __getattr__(self, name):
            kind = ctypes.c_void_p if name in ("stream", "buffer") else ctypes.c_int
            return kind.in_dll(library, f"fake_{name}").value

        def fail(self, number):
            ctypes.c_int.in_dll(library, "fake_failing").value = number

    found = Fake()
    yield found
    found.fail(0)
    gc.collect()
    assert found.alive == 0


def test_a_product(fake):
    before = fake.products
    operator = CusparseSpMV(MATRIX)
    assert operator.why_not is None
    x = to_gpu(np.array([1.0, 10.0, 100.0]))
    assert operator(x).get().tolist() == [20, 0, 301]
    y = gpuarray.full(3, 7.0)
    assert operator(x, y) is y
    assert y.get().tolist() == [20, 0, 301]
    assert fake.products == before + 2
    assert fake.alive == 4
    assert cusparse.get_cusparse_version() == (12, 13, 14)


def test_the_buffer_is_kept(fake):
    operator = CusparseSpMV(MATRIX)
    x = gpuarray.zeros(3)
    operator(x)
    buffer = fake.buffer
    assert operator._buffer.nbytes == 1000
    assert operator._buffer.ptr == buffer
    operator(x)
    assert fake.buffer == buffer


def test_the_stream_is_ours(fake):
    operator = CusparseSpMV(MATRIX)
    x = gpuarray.zeros(3)
    operator(x)
    assert fake.stream is None  # the default stream
    stream, other = drv.Stream(), drv.Stream()
    operator(x, stream=stream)
    assert fake.stream == stream.handle
    with other:
        operator(x)
    assert fake.stream == other.handle


def test_released_with_another_context_current(fake):
    operator = CusparseSpMV(MATRIX)
    other = drv.Device(0).make_context()
    assert fake.alive == 4
    del operator
    gc.collect()
    assert fake.alive == 0
    assert drv.Context.get_current() == other
    other.pop()
    other.detach()


@pytest.mark.parametrize("number", [1, 2])
def test_what_was_made_before_a_failure_is_released(fake, number):
    fake.fail(number)
    with pytest.raises(drv.RuntimeError, match="cusparseCreate.* status"):
        CusparseSpMV(MATRIX)
    gc.collect()
    assert fake.alive == 0


def test_a_product_that_fails(fake):
    operator = CusparseSpMV(MATRIX)
    x = gpuarray.zeros(3)
    fake.fail(3)
    with pytest.raises(drv.RuntimeError, match="cusparseSpMV failed.* status 6"):
        operator(x)
    fake.fail(0)
    assert operator(x).get().tolist() == [0, 0, 0]


def test_a_matrix_without_elements(fake):
    operator = CusparseSpMV(np.zeros((2, 3)))
    assert "no elements" in operator.why_not
    assert operator(gpuarray.zeros(3)).get().tolist() == [0, 0]


def test_a_library_that_is_not_there(ctx, monkeypatch):
    nowhere = ["/no/such/libcusparse.so"]
    monkeypatch.setattr(_libraries.CUSPARSE, "paths", lambda: nowhere)
    monkeypatch.setattr(_libraries.CUSPARSE, "_library", None)
    monkeypatch.setattr(_driver, "_is_emulated", lambda: False)
    with pytest.raises(drv.RuntimeError, match="pip install nvidia-cusparse"):
        cusparse.get_cusparse_version()
    operator = CusparseSpMV(MATRIX)
    assert "was not found" in operator.why_not
    x = to_gpu(np.array([1.0, 10.0, 100.0]))
    assert operator(x).get().tolist() == [20, 0, 301]


def test_a_library_that_is_something_else(ctx, monkeypatch):
    monkeypatch.setattr(_libraries.CUSPARSE, "paths", lambda: ["libc.so.6"])
    monkeypatch.setattr(_libraries.CUSPARSE, "_library", None)
    with pytest.raises(drv.RuntimeError, match="was not found"):
        cusparse.get_cusparse_version()


def test_the_software_device_does_without(ctx):
    operator = CusparseSpMV(MATRIX)
    if _driver._is_emulated():
        assert "software device" in operator.why_not
    x = to_gpu(np.array([1.0, 10.0, 100.0]))
    assert operator(x).get().tolist() == [20, 0, 301]


@pytest.mark.hardware(why="cuSPARSE is machine code")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (50, 70), (3000, 40), (5, 9000)])
def test_the_same_results(ctx, dtype, shape):
    rng = np.random.default_rng(1)
    matrix = np.where(rng.random(shape) < 0.3, rng.integers(-8, 9, shape) / 4, 0)
    matrix[0, 0] = 1
    matrix = matrix.astype(dtype)
    x = to_gpu((rng.integers(-8, 9, shape[1]) / 4).astype(dtype))
    ours, theirs = CsrSpMV(matrix), CusparseSpMV(matrix)
    if theirs.why_not is not None:
        pytest.skip(theirs.why_not)
    streams = [None, drv.Stream(), drv.Stream()]
    for stream in streams:
        y = theirs(x, stream=stream)
        ctx.synchronize()
        np.testing.assert_array_equal(y.get(), ours(x).get())
