"""Fourier transforms on the software device are SciPy's or NumPy's, to the last bit."""

import numpy as np
import pytest
import scipy.fft

import pycuda.driver as drv
from pycuda import array_api, fft
from pycuda._array import host
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import DTYPES
from support.child import run_child

pytestmark = pytest.mark.software(why="a GPU has libraries of its own")

ALONG = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
AXES = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
TAKES_REAL = ("rfft", "ihfft", "rfft2", "rfftn")


@pytest.fixture(autouse=True)
def automatic(ctx, monkeypatch):
    """The variable is not set."""
    monkeypatch.delenv("PYCUDA_FFT", raising=False)


def random(shape, dtype):
    rng = np.random.default_rng(len(shape))
    dtype = np.dtype(dtype)
    values = rng.integers(0, 2 if dtype.kind == "b" else 50, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.integers(0, 50, shape)
    return values.astype(dtype)


def wide(x):
    """Return the elements in the dtype in which a transform computes."""
    single = x.dtype in (np.float16, np.float32, np.complex64)
    if x.dtype.kind == "c":
        return x.astype(np.complex64 if single else np.complex128)
    return x.astype(np.float32 if single else np.float64)


def same(got, expected):
    assert isinstance(got, GPUArray)
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    assert got.get().tobytes() == expected.tobytes()


def near(got, expected):
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(
        got.get(),
        expected,
        rtol=0,
        atol=20 * np.finfo(expected.dtype).eps * np.abs(expected).max(),
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ALONG)
def test_every_dtype(name, dtype):
    dtype = np.dtype(dtype)
    if name in TAKES_REAL and dtype.kind == "c":
        with pytest.raises(TypeError, match="real"):
            getattr(fft, name)(to_gpu(random((4,), dtype)))
        return
    x = random((3, 14), dtype)
    given = wide(x)
    if name in ("fft", "ifft") and dtype.kind != "c":
        # The signs of zeros are those of complex numbers, as in NumPy and cuFFT.
        given = given.astype(np.result_type(given.dtype, np.complex64))
    expected = getattr(scipy.fft, name)(given)
    got = getattr(fft, name)(to_gpu(x))
    if name in ("irfft", "hfft") and dtype == np.float16:  # as in NumPy
        expected = expected.astype(np.float16)
    same(got, expected)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 5, 16, 23])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ALONG)
def test_lengths_axes_and_norms(name, axis, n, norm):
    x = random((6, 7, 8), "f4" if name in TAKES_REAL else "c8")
    words = {"n": n, "axis": axis, "norm": norm}
    same(getattr(fft, name)(to_gpu(x), **words), getattr(scipy.fft, name)(x, **words))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4"])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", AXES)
def test_several_axes(name, norm, dtype):
    if name in TAKES_REAL and dtype.startswith("c"):
        dtype = dtype.replace("c8", "f4").replace("c16", "f8")
    x = random((4, 6, 9), dtype)
    expected = getattr(scipy.fft, name)(wide(x), norm=norm)
    near(getattr(fft, name)(to_gpu(x), norm=norm), expected)
    words = {"s": (5, 12), "axes": (2, 0)}
    expected = getattr(scipy.fft, name)(wide(x), **words)
    near(getattr(fft, name)(to_gpu(x), **words), expected)


def test_the_standards_functions():
    x = random((4, 8), "c8")
    got = array_api.fft.fftn(array_api.asarray(to_gpu(x)))
    near(got, scipy.fft.fftn(x))


def test_views_and_out():
    x = random((6, 10), "c8")
    device = to_gpu(x)
    same(fft.fft(device[::2, ::-1]), scipy.fft.fft(x[::2, ::-1]))
    same(fft.fft(device.T), scipy.fft.fft(x.T))
    out = GPUArray((12, 10), np.complex64)[::2]
    assert fft.fft(device, out=out) is out
    same(out.copy(), scipy.fft.fft(x))
    double = GPUArray((6, 10), np.complex128)
    fft.fft(device, out=double)
    same(double, scipy.fft.fft(x).astype(np.complex128))
    fft.fft(device, out=device)
    same(device, scipy.fft.fft(x))


def test_work_is_in_the_order_of_the_stream():
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    x = to_gpu(np.zeros(512))
    page = drv.pagelocked_empty(512, np.float64)
    page[...] = np.arange(512)
    x.set_async(page, stream=stream)
    same(fft.fft(x, stream=stream), scipy.fft.fft(page + 0j))
    with stream:
        same(fft.rfft(x), scipy.fft.rfft(page))


def test_what_is_captured_is_generated():
    values = random((48,), "c8")
    x = to_gpu(values)
    stream = drv.Stream()
    with stream:
        with stream.capture() as graph:
            y = fft.fft(x)
        executable = graph.instantiate()
        for k in (1, 3):
            x.set(k * values)
            executable.launch(stream)
            stream.synchronize()
            np.testing.assert_allclose(y.get(), k * np.fft.fft(values), rtol=1e-4)


def test_a_freed_array_is_an_error():
    x = to_gpu(np.ones(8))
    fft.fft(x)  # while it is alive
    x.gpudata.free()
    with pytest.raises(drv.LogicError, match="released"):
        fft.fft(x)
    out = GPUArray(8, np.complex128)
    out.gpudata.free()
    with pytest.raises(drv.LogicError, match="released"):
        fft.fft(to_gpu(np.ones(8)), out=out)


def test_the_switch_keeps_the_generated_kernels(monkeypatch):
    x = random((48,), "c8")
    device = to_gpu(x)
    assert fft.transform_library().startswith("SciPy: the software device")
    monkeypatch.setattr(scipy.fft, "fft", None)  # the host is asked ...
    with pytest.raises(TypeError):
        fft.fft(device)
    monkeypatch.setenv("PYCUDA_FFT", "generated")
    context = drv.Device(0).make_context()
    try:  # ... and here it is not
        assert fft.transform_library().startswith("generated kernels: PYCUDA_FFT")
        got = fft.fft(to_gpu(x))
        np.testing.assert_allclose(got.get(), np.fft.fft(x), rtol=1e-4)
    finally:
        context.pop()
        context.detach()


@pytest.mark.parametrize("name", ALONG)
def test_numpy_transforms_without_scipy(monkeypatch, name):
    monkeypatch.setattr(host, "_transforms", lambda: np.fft)
    assert fft.transform_library().startswith("NumPy: ")
    for norm in (None, "ortho", "forward"):
        x = random((3, 14), "f8" if name in TAKES_REAL else "c16")
        expected = getattr(np.fft, name)(x, norm=norm)
        near(getattr(fft, name)(to_gpu(x), norm=norm), expected)
    monkeypatch.setattr(np.fft, "rfft", None)
    with pytest.raises(TypeError):
        fft.rfft(to_gpu(np.ones(8)))


def test_a_graph_cannot_repeat_what_the_host_computes(monkeypatch):
    for name in ("PYCUDA_BLAS", "PYCUDA_SOLVER"):
        monkeypatch.setenv(name, "generated")
    assert host.may_compute()
    monkeypatch.setenv("PYCUDA_FFT", "generated")
    assert not host.may_compute()


@pytest.mark.parametrize(
    "call, reported",
    [
        ("fft.fft(x)", True),
        ("fft.fft(x, 1000)", False),
        ("fft.fft2(y)", True),
        ("fft.fft2(y, (8, 1000))", False),
    ],
)
def test_unwritten_elements_are_reported(call, reported):
    """Elements behind the length of the transform may be unwritten."""
    code = f"""
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as drv
        from pycuda import fft
        from pycuda.gpuarray import empty
        x, y = empty(1009, np.complex64), empty((8, 1009), np.complex64)
        x[:1000] = y[:, :1000] = np.complex64(1)
        try:
            {call}
            drv.Context.synchronize()
            print("fine")
        except drv.LaunchError as error:
            print(error)
    """
    said = run_child(code, check=False, PYCUDA_CHECK="init").stdout
    assert ("uninitialised read" in said) == reported
    assert (said == "fine\n") != reported
