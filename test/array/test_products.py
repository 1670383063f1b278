"""Products of matrices, compared with NumPy: by generated kernels, and through cuBLAS.

On the software device, a library of the tests (test/c/fake_cublas.c) replaces cuBLAS
and checks the calls. On a GPU, cuBLAS itself multiplies.
"""

import ctypes
import gc
import math
import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, _libraries, gpuarray
from pycuda.gpuarray import matmul, to_gpu
from support.arrays import COMPLEX, DTYPES, FLOATS, same, whole_numbers as values
from support.child import run_child
from support.fake_library import FakeLibrary, build

SHAPES = [
    ((3, 4), (4, 5)),
    ((17, 33), (33, 19)),
    ((1, 5), (5, 1)),
    ((5,), (5,)),
    ((4, 5), (5,)),
    ((5,), (5, 4)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((3, 1, 4, 5), (2, 5, 6)),
    ((6, 2, 3), (6, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0, 2, 3), (3, 4)),
    ((40, 70), (70, 50)),
]

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("cublas"), "cublas", "c11")


@pytest.fixture
def fake(built, monkeypatch):
    """The library of the tests, opened as cuBLAS by new contexts."""
    if not _driver._is_emulated():
        pytest.skip("only the software device has memory that a processor can read")
    monkeypatch.setattr(_libraries.CUBLAS, "paths", lambda: [str(built)])
    monkeypatch.setenv("PYCUDA_BLAS", "cublas")
    found = FakeLibrary(built)
    yield found
    found.variable("failing").value = 0
    gc.collect()
    assert found.alive == 0


@pytest.fixture(scope="module")
def kept():
    """Contexts that tests share if they may: a context of cuBLAS takes long to make."""
    contexts = {}
    yield contexts
    gc.collect()
    for context in contexts.values():
        context.detach()


@pytest.fixture(params=["generated", "cublas"])
def library(request, kept, monkeypatch):
    """The name of what multiplies in the current context, which it alone uses."""
    name = request.param
    monkeypatch.setenv("PYCUDA_BLAS", name)
    if name == "cublas" and _driver._is_emulated():
        request.getfixturevalue("fake")
    if name in kept:
        kept[name].push()
        context = kept[name]
    else:
        context = drv.Device(0).make_context()
    yield name
    gc.collect()
    context.pop()
    if request.config.getoption("one_context") and not _driver._is_emulated():
        kept[name] = context
    else:
        context.detach()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_shapes(library, dtype):
    for a_shape, b_shape in SHAPES:
        a, b = values(dtype, a_shape, 1), values(dtype, b_shape, 2)
        same(matmul(to_gpu(a), to_gpu(b)), np.matmul(a, b))
        same(to_gpu(a) @ to_gpu(b), np.matmul(a, b))


def test_the_library_is_named(library):
    text = _driver._product_library()
    assert text.startswith({"generated": "generated", "cublas": "cuBLAS"}[library])


@pytest.mark.parametrize(
    ("left", "right"),
    ["fd", "if", "?f", "eF", "bH", "dF", "e?", "Bb"],
)
def test_mixed_dtypes(library, left, right):
    a, b = values(left, (20, 30), 1), values(right, (30, 7), 2)
    same(matmul(to_gpu(a), to_gpu(b)), np.matmul(a, b))


def views(a):
    """Return an array (or its copy on the device) in many layouts, as matrices."""
    yield a
    yield a.transpose((0, 2, 1))
    yield a[:, ::2, ::-1]
    yield a[:, 1:, 2:]
    yield a[::-1].transpose((2, 0, 1))
    yield a[:, :, :1]
    yield a.transpose((1, 2, 0))


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16"])
def test_strided_operands(library, dtype):
    host = values(dtype, (4, 6, 5))
    device = to_gpu(host)
    for a, x in zip(views(host), views(device), strict=True):
        n = a.shape[-1]
        for b, y in zip(views(host), views(device), strict=True):
            b, y = b[0, :n], y[0, :n]
            if len(b) == n:
                same(x @ y, a @ b)
        same(x @ x.transpose((0, 2, 1)), a @ a.transpose((0, 2, 1)))


def test_broadcast_batches(library):
    a, b = values("float32", (3, 1, 2, 4, 5), 1), values("float32", (2, 1, 5, 3), 2)
    same(to_gpu(a) @ to_gpu(b), a @ b)
    same(to_gpu(a[:, 0]) @ to_gpu(b[0]), a[:, 0] @ b[0])
    x = gpuarray.to_gpu(a)
    same(x.transpose((2, 1, 0, 3, 4)) @ to_gpu(b), a.transpose((2, 1, 0, 3, 4)) @ b)


def test_out(library):
    a, b = values("float32", (4, 5), 1), values("float32", (5, 6), 2)
    x, y, expected = to_gpu(a), to_gpu(b), a @ b
    for out in (
        gpuarray.zeros((4, 6), np.float32),
        gpuarray.zeros((4, 6), np.float32, order="F"),
        gpuarray.zeros((4, 12), np.float32)[:, ::2],
        gpuarray.zeros((4, 9), np.float32)[::-1, 1:7],
    ):
        assert matmul(x, y, out) is out
        same(out, expected)
    out = gpuarray.zeros((4, 6), np.complex128)
    same(matmul(x, y, out=out), expected.astype(np.complex128))
    square = to_gpu(a[:, :4].copy())
    same(matmul(square, square, out=square), a[:, :4] @ a[:, :4])
    square = to_gpu(a[:, :4].copy())
    square @= square.T
    same(square, a[:, :4] @ a[:, :4].T)


def test_dtype(library):
    a = values("int8", (4, 5)) * 30
    x = to_gpu(a.astype(np.int8))
    same(matmul(x, x.T, dtype=np.int64), np.matmul(x.get(), x.get().T, dtype=np.int64))
    same(x @ x.T, x.get() @ x.get().T)  # wraps around
    got = matmul(x, x.T, dtype=np.float32)
    assert got.dtype == np.float32


def test_half_precision_is_summed_in_single(library):
    a = np.full((2, 4000), 1, np.float16)
    b = np.full((4000, 3), 1, np.float16)
    assert (to_gpu(a) @ to_gpu(b)).get().tolist() == [[4000] * 3] * 2
    a[:, 1:] = 0.0004
    assert abs((to_gpu(a) @ to_gpu(b)).get() - 2.6).max() < 0.01


def test_bfloat16(library):
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    for a_shape, b_shape in (*SHAPES, ((3, 3000), (3000, 2))):
        a, b = values("float32", a_shape, 1), values("float32", b_shape, 2)
        expected = (a @ b).astype(bfloat16)
        got = to_gpu(a.astype(bfloat16)) @ to_gpu(b.astype(bfloat16))
        assert got.dtype == expected.dtype
        same(got.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX], ids=str)
def test_special_values(library, dtype):
    a = np.ones((3, 3), dtype)
    a[0, 0], a[1, 1] = np.nan, np.inf
    b = np.eye(3, dtype=dtype) + 1
    got = (to_gpu(a) @ to_gpu(b)).get()
    assert np.isnan(got[0]).all()
    assert not np.isfinite(got[1]).any()
    assert got[2].tolist() == [4, 4, 4]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_larger_matrices(library, dtype):
    for m, k, n in ((70, 50, 130), (129, 65, 33), (256, 24, 72)):
        a, b = values(dtype, (m, k), 1), values(dtype, (k, n), 2)
        same(to_gpu(a) @ to_gpu(b), a @ b)
        x, y = to_gpu(a.T.copy()).T, to_gpu(b.T.copy()).T
        same(x @ y, a @ b)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float16", "float32", "D"])
def test_few_long_sums(library, dtype):
    for m, k, n in ((3, 2048, 4), (2, 3001, 5), (20, 1030, 17)):
        a, b = values(dtype, (2, m, k), 1), values(dtype, (k, n), 2)
        same(to_gpu(a) @ to_gpu(b), a @ b)
        x = to_gpu(a.transpose((0, 2, 1)).copy()).transpose((0, 2, 1))
        same(x @ to_gpu(b), a @ b)
    out = gpuarray.zeros((5, 3), dtype).T
    same(matmul(to_gpu(a[0, :3]), to_gpu(b[:, :5]), out), a[0, :3] @ b[:, :5])
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    same(
        matmul(to_gpu(a[0]), to_gpu(b), allocator=allocate),
        a[0] @ b,
    )
    assert asked


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_small_matrices(library, dtype):
    small = values(dtype, (2, 2), 3)
    for shape in [(70, 2, 2), (5, 6, 4, 2), (300, 2), (3, 1, 2, 2)]:
        a = values(dtype, shape, 1)
        same(to_gpu(a) @ to_gpu(small), a @ small)
        same(to_gpu(a)[::2] @ to_gpu(small).T, a[::2] @ small.T)
        if a.ndim > 2:
            b = a.swapaxes(-1, -2)
            same(to_gpu(small) @ to_gpu(b.copy()), small @ b)
            same(to_gpu(a) @ to_gpu(a).swapaxes(-1, -2), a @ b)


def test_streams_and_allocators(library):
    a = values("float32", (8, 8))
    stream = drv.Stream()
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    x = to_gpu(a)
    same(matmul(x, x, stream=stream, allocator=allocate), a @ a)
    assert asked == [256]
    with stream:
        result = x @ x
    stream.synchronize()
    same(result, a @ a)


def test_bad_operands(ctx):
    x = gpuarray.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"\(2, 3\).* 3 columns, .* 2 rows"):
        x @ x
    with pytest.raises(ValueError, match="broadcast"):
        matmul(gpuarray.zeros((2, 3, 3), "f"), gpuarray.zeros((4, 3, 3), "f"))
    with pytest.raises(ValueError, match="one axis"):
        matmul(x, gpuarray.zeros((), "f"))
    for number in (3, np.float32(3)):
        with pytest.raises(ValueError, match="numbers"):
            x @ number
        with pytest.raises(ValueError, match="numbers"):
            number @ x
    with pytest.raises(TypeError, match="to_gpu"):
        matmul(x, np.zeros((3, 2)))
    with pytest.raises(TypeError):
        x @ np.zeros((3, 2))
    with pytest.raises(TypeError):
        x @ "text"
    with pytest.raises(TypeError, match="dtype"):
        matmul(gpuarray.zeros(3, "i4,i4"), gpuarray.zeros(3, "i4,i4"))
    y = x.T.copy()
    with pytest.raises(ValueError, match=r"\(2, 2\), out has \(2, 3\)"):
        matmul(x, y, out=x)
    with pytest.raises(TypeError, match="out must be"):
        matmul(x, y, out=np.zeros((2, 2)))
    with pytest.raises(TypeError, match="astype"):
        matmul(x, y, out=gpuarray.zeros((2, 2), np.int32))


def test_a_wrong_choice_is_an_error(monkeypatch):
    context = drv.Device(0).make_context()
    try:
        monkeypatch.setenv("PYCUDA_BLAS", "mkl")
        x = gpuarray.zeros((4, 4), np.float32)
        with pytest.raises(ValueError, match="auto, cublas or generated"):
            x @ x
        monkeypatch.setenv("PYCUDA_BLAS", "generated")
        same(x @ x, np.zeros((4, 4), np.float32))
        del x
    finally:
        context.pop()
        context.detach()


# -- the calls of cuBLAS ---------------------------------------------------------------


def test_handles_end_with_their_contexts(fake):
    for detach in (True, False):
        context = drv.Device(0).make_context()
        x = gpuarray.zeros((4, 4), np.float32)
        x @ x
        assert fake.alive == 1
        del x
        context.pop()
        if detach:
            context.detach()
        del context
        gc.collect()
        assert fake.alive == 0


@pytest.fixture
def counted(fake):
    """The library of the tests, in a fresh context."""
    context = drv.Device(0).make_context()
    yield fake
    gc.collect()
    context.pop()
    context.detach()


def test_how_many_calls(counted):
    """A batch is one call, or none: its axes become rows where that is possible."""

    def calls(a, b):
        before = counted.products
        result = a @ b
        return counted.products - before, result

    a, b = values("float32", (6, 7, 4, 5), 1), values("float32", (6, 7, 5, 3), 2)
    x, y = to_gpu(a), to_gpu(b)
    for left, right, count in (
        (x, y, 1),
        (x, y[0, 0], 1),
        (x, y[0], 6),
        (x[0, 0], y, 1),
        (x.transpose((1, 0, 2, 3)), y.transpose((1, 0, 2, 3)), 6),
        (x[:, :3], y[:, :3], 3),
        (x[0, 0], x[0, 0, 0], 0),  # a vector: no product of matrices
    ):
        number, result = calls(left, right)
        same(result, left.get() @ right.get())
        assert number == count


def test_vectors_across_large_matrices(counted):
    """Sums across the rows of a matrix beyond the cache go through cuBLAS."""
    cache = drv.Context.get_device().get_attribute(drv.device_attribute.L2_CACHE_SIZE)
    side = math.isqrt(cache // 4) + 8
    host = values("float32", (side, side))
    vector, matrix = to_gpu(host[0].copy()), to_gpu(host)
    for call, expected, count in (
        (lambda: vector @ matrix, host[0] @ host, 1),
        (lambda: matrix @ vector, host @ host[0], 0),
        (lambda: matrix.T @ vector, host.T @ host[0], 1),
        (lambda: vector @ matrix.T, host[0] @ host.T, 0),
        (lambda: vector @ matrix[:, ::2], host[0] @ host[:, ::2], 0),
        (lambda: vector[:8] @ matrix[:8], host[0, :8] @ host[:8], 0),
    ):
        before = counted.products
        same(call(), expected)
        assert counted.products - before == count


def test_more_products_than_the_queue_takes(counted):
    """After many calls without a synchronisation, a call releases the lock."""
    a = values("float32", (4, 4))
    x, out = to_gpu(a), gpuarray.zeros((4, 4), np.float32)
    for _ in range(1300):
        matmul(x, x, out)
    same(out, a @ a)


def test_threads_share_the_handle(counted):
    context = drv.Context.get_current()
    wrong = []

    def work(number):
        context.push()
        try:
            a = values("float64", (5, 5), number)
            b = values("float64", (12, 4, 5, 5), number)
            for _ in range(20):
                if (to_gpu(a) @ to_gpu(a)).get().tolist() != (a @ a).tolist():
                    wrong.append(number)
                several = to_gpu(b)[:, :3]  # one call for each of three matrices
                if (several @ several).get().tolist() != (b[:, :3] @ b[:, :3]).tolist():
                    wrong.append(number)
        finally:
            context.pop()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert counted.alive == 1


def test_errors_of_the_library(counted):
    x = gpuarray.zeros((4, 4), np.float32)
    for status, kind in (
        (3, drv.MemoryError),
        (13, drv.LaunchError),
        (14, drv.LogicError),
    ):
        counted.variable("failing").value = status
        with pytest.raises(kind, match="cublasGemmEx failed: CUBLAS_STATUS"):
            x @ x
    counted.variable("failing").value = 15  # not supported: a generated kernel
    same(x @ x, np.zeros((4, 4), np.float32))


@pytest.fixture
def capturable(counted):
    """The library of the tests, which then does not wait for the stream."""
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    ready = kind(lambda stream: 0)
    synchronize = counted.variable("synchronize", ctypes.c_void_p)
    before = synchronize.value
    synchronize.value = ctypes.cast(ready, ctypes.c_void_p).value
    yield counted
    synchronize.value = before


def test_each_captured_graph_has_a_workspace(capturable):
    """Products of a graph and others may run at the same time."""
    x = to_gpu(values("float32", (4, 4)))
    x @ x
    space = capturable.variable("workspace", ctypes.c_void_p)
    assert space.value is None
    stream, other = drv.Stream(), drv.Stream()
    fork, join = drv.Event(), drv.Event()
    found, graphs = [], []
    for _ in range(2):
        with stream.capture() as graph:
            x @ x
            found.append(space.value)
            x @ x
            assert space.value == found[-1]
            fork.record(stream)
            other.wait_for_event(fork)
            with other:
                x @ x
            found.append(space.value)
            join.record(other)
            stream.wait_for_event(join)
        graphs.append(graph)
    assert None not in found and len(set(found)) == 4
    x @ x
    assert space.value is None
    live = _driver._live_counts()["memory"]
    graphs.clear()
    del graph
    gc.collect()
    assert _driver._live_counts()["memory"] <= live - 4


@pytest.mark.software(why="a GPU's machine has cuBLAS where the loader finds it")
def test_no_library():
    code = """
import numpy as np, pycuda.autoinit
from pycuda import gpuarray
from pycuda._libraries import CUBLAS
CUBLAS.paths = lambda: ["/nowhere/libcublas.so"]
x = gpuarray.zeros((4, 4), np.float32)
try:
    x @ x
except pycuda.driver.RuntimeError as error:
    print(error)
"""
    done = run_child(code, PYCUDA_BLAS="cublas")
    assert "/nowhere/libcublas.so" in done.stdout
    assert "cuda-toolkit[cublas]" in done.stdout
