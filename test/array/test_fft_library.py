"""The calls of cuFFT by pycuda.fft, and its plans.

A library of the tests (test/c/fake_cufft.c) replaces cuFFT. It transforms in memory of
the software device and checks the calls.
"""

import ctypes
import gc
import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _libraries, fft
from pycuda.gpuarray import GPUArray, to_gpu
from support.child import run_child
from support.fake_library import FakeLibrary, build

PLANS = 64  # that a context keeps

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.software(why="only its memory can be read by a processor"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("cufft"), "cufft", "gnu11")


@pytest.fixture
def fake(built, monkeypatch, ctx):
    """The library of the tests, opened as cuFFT by the context."""
    monkeypatch.setattr(_libraries.CUFFT, "paths", lambda: [str(built)])
    monkeypatch.setenv("PYCUDA_FFT", "cufft")
    found = FakeLibrary(built)
    found.variable("made").value = found.variable("executed").value = 0
    yield found
    found.variable("failing").value = found.variable("refusing").value = 0
    gc.collect()


def random(shape, dtype="complex64", seed=0):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def check(name, x, device=None, **kwargs):
    device = to_gpu(x) if device is None else device
    wanted = getattr(np.fft, name)(x, **kwargs)
    got = getattr(fft, name)(device, **kwargs).get()
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4)


#: A function, the shape and dtype of its input, and keyword arguments.
TAKEN = [
    ("fft", (9,), "complex64", {}),
    ("ifft", (9,), "complex128", {"norm": "forward"}),
    ("ifft", (4, 9), "complex64", {}),
    ("fft", (4, 9), "complex64", {"axis": 0}),
    ("fft", (3, 4, 5), "complex64", {"axis": 1}),
    ("fft", (2, 3, 4, 5), "complex128", {"axis": 2, "norm": "ortho"}),
    ("rfft", (4, 9), "float32", {}),
    ("rfft", (4, 8), "float64", {"axis": 0}),
    ("irfft", (4, 5), "complex64", {}),
    ("irfft", (5, 4), "complex128", {"axis": 0, "n": 9}),
    ("fft2", (3, 4, 5), "complex64", {}),
    ("ifftn", (3, 4, 5), "complex64", {}),
    ("fftn", (3, 4, 5), "complex128", {"axes": (2, 0)}),
    ("rfftn", (3, 4, 6), "float32", {}),
    ("rfft2", (3, 4, 6), "float32", {"norm": "ortho"}),
    ("irfftn", (3, 4, 6), "complex64", {}),
    ("irfft2", (3, 4, 6), "complex64", {"s": (4, 11)}),
    ("fft", (4, 9), "complex64", {"n": 12}),
    ("ifft", (4, 9), "complex64", {"n": 7}),
    ("rfft", (9, 4), "float32", {"axis": 0, "n": 16}),
    ("irfft", (4, 9), "complex64", {"n": 24}),
    ("rfftn", (3, 4, 6), "float32", {"s": (5, 3, 8), "axes": (0, 1, 2)}),
    ("fft2", (3, 4, 6), "float64", {"s": (6, 4)}),
    ("fft", (4, 0), "complex64", {"n": 4}),
    ("fft", (4, 9), "float64", {}),
    ("fft", (8, 5), "float32", {"axis": 0, "norm": "ortho"}),
    ("fft", (3, 1, 2), "float32", {}),
    ("ifft", (4, 9), "float32", {}),
    ("fft2", (3, 4, 6), "float32", {}),
    ("fftn", (3, 4, 5), "float64", {}),
    ("fftn", (3, 4, 5), "float64", {"axes": (0, 2)}),
    ("fft", (4, 9), "int32", {}),
    ("fft2", (4, 9), "float16", {}),
]


@pytest.mark.parametrize(("name", "shape", "dtype", "kwargs"), TAKEN)
def test_the_library_transforms(fake, name, shape, dtype, kwargs):
    x = random(shape, dtype)
    if dtype == "float16":
        x = x.astype(np.float32)
    device = to_gpu(x.astype(dtype))
    x = device.get().astype(x.dtype)
    check(name, x, device, **kwargs)
    assert fake.executed > 0
    made = fake.made
    check(name, x, device, **kwargs)
    assert fake.made == made
    np.testing.assert_array_equal(device.get(), x.astype(dtype))


@pytest.mark.parametrize("n", [7, 8])
def test_imaginary_parts_of_the_ends(fake, n):
    """cuFFT may use the imaginary parts that NumPy ignores; fake_cufft.c does."""
    x = random((3, n // 2 + 1))
    device = to_gpu(x)
    check("irfft", x, device, n=n)
    check("irfft", x.T, device.T, n=n, axis=0)
    check("irfft2", x, device, s=(3, n))
    assert fake.executed == 4  # irfft2: an axis after the other
    np.testing.assert_array_equal(device.get(), x)


def test_views(fake):
    x = random((6, 8, 5))
    device = to_gpu(x)
    check("fft", x.T, device.T)
    check("fft", x[:, ::2], device[:, ::2])
    check("fft2", x[1:, 2:], device[1:, 2:], axes=(0, 1))
    check("fftn", x.transpose(1, 2, 0), device.transpose(1, 2, 0))
    assert fake.executed == 15  # lines that are no batch of a plan are repeated


@pytest.mark.parametrize(
    ("name", "take", "kwargs"),
    [
        ("fft", lambda x: x[::-1, ::-1], {}),
        ("hfft", lambda x: x, {}),
        ("fftn", lambda x: x, {"axes": (0, 0)}),
    ],
)
def test_generated_kernels_take_the_rest(fake, name, take, kwargs):
    x = random((4, 8))
    check(name, take(x), take(to_gpu(x)), **kwargs)
    assert fake.made <= 1


def test_out_and_in_place(fake):
    x = random((4, 8))
    device = to_gpu(x)
    assert fft.fft(device, out=device) is device
    np.testing.assert_allclose(device.get(), np.fft.fft(x), rtol=1e-4, atol=1e-4)
    target = GPUArray((8, 4), np.complex64).T
    fft.ifft2(device, out=target)
    wanted = np.fft.ifft2(np.fft.fft(x))
    np.testing.assert_allclose(target.get(), wanted, rtol=1e-4, atol=1e-4)
    assert fake.executed == 3  # the second: an axis after the other


def test_stream(fake):
    stream = drv.Stream()
    device = to_gpu(random(8))
    fft.fft(device, stream=stream)
    assert fake.variable("stream", ctypes.c_void_p).value == stream.handle
    fft.fft(device)
    assert fake.variable("stream", ctypes.c_void_p).value is None
    with stream:
        fft.fft(device)
    assert fake.variable("stream", ctypes.c_void_p).value == stream.handle
    assert fake.made == 1


def test_plans_are_bounded(fake):
    device = to_gpu(random(PLANS + 40))
    alive = fake.alive
    for n in range(2, PLANS + 30):
        fft.fft(device[:n])
    assert fake.made == PLANS + 28
    assert fake.alive == alive + PLANS
    fft.fft(device[: PLANS + 29])  # used last: kept
    assert fake.made == PLANS + 28
    fft.fft(device[:2])
    assert fake.made == PLANS + 29


def test_plans_that_graphs_use_are_kept(fake):
    before = fake.alive
    context = drv.Device(0).make_context()
    device = to_gpu(random(PLANS + 40))
    stream, other = drv.Stream(), drv.Stream()
    fft.fft(device[:2])
    drv.Context.synchronize()
    # The library of the tests waits for its stream, so that one is not captured.
    with stream.capture(), other:
        fft.fft(device[:2])
    for n in range(3, PLANS + 3):
        fft.fft(device[:n])
    assert fake.alive == before + PLANS + 1
    del device, stream, other
    context.pop()
    context.detach()
    assert fake.alive == before


def test_plans_end_with_the_context(fake, request):
    before = fake.alive
    context = drv.Device(0).make_context()
    fft.fft(to_gpu(random(8)))
    fft.rfft(to_gpu(random(8, "float32")))
    assert fake.alive == before + 2
    context.pop()
    context.detach()
    assert fake.alive == before


def test_failures(fake):
    device = to_gpu(random(8))
    fft.fft(device)
    for status, kind in (
        (6, drv.LaunchError),
        (2, drv.MemoryError),
        (5, drv.LogicError),
    ):
        fake.variable("failing").value = status
        with pytest.raises(kind, match="cufftExec failed: CUFFT_"):
            fft.fft(device)
    fake.variable("failing").value = 0
    check("fft", device.get(), device)


def test_refused_plans(fake):
    x = random(10)
    fake.variable("refusing").value = 8  # CUFFT_INVALID_SIZE
    check("fft", x)
    check("fft", x)
    assert fake.executed == 0
    fake.variable("refusing").value = 2
    with pytest.raises(drv.MemoryError, match="CUFFT_ALLOC_FAILED"):
        fft.fft(to_gpu(random(12)))


def test_the_choice(ctx, built, monkeypatch):
    monkeypatch.setenv("PYCUDA_FFT", "generated")
    assert "PYCUDA_FFT is 'generated'" in in_new_context(fft.transform_library)
    monkeypatch.delenv("PYCUDA_FFT")
    assert "software device" in in_new_context(fft.transform_library)
    monkeypatch.setenv("PYCUDA_FFT", "fftw")
    with pytest.raises(ValueError, match="'fftw'.*auto, cufft or generated"):
        in_new_context(lambda: fft.fft(to_gpu(random(8))))


MISSING = """
import numpy as np, pycuda.autoinit, pycuda.driver
from pycuda import _libraries, fft
from pycuda.gpuarray import to_gpu
_libraries.CUFFT.paths = lambda: ["/nowhere/libcufft.so"]
try:
    fft.fft(to_gpu(np.ones(8)))
except pycuda.driver.RuntimeError as error:
    print(error)
"""


def test_a_missing_library():
    said = run_child(MISSING, PYCUDA_FFT="cufft").stdout
    assert "cuFFT was not found: /nowhere/libcufft.so" in said
    assert "cuda-toolkit[cufft]" in said


def in_new_context(function):
    context = drv.Device(0).make_context()
    try:
        return function()
    finally:
        context.pop()
        context.detach()


def test_threads_share_plans(fake, ctx):
    x = random((4, 16))
    wanted = np.fft.fft(x)
    failures = []
    barrier = threading.Barrier(4)

    def run():
        ctx.push()
        try:
            device = to_gpu(x)
            stream = drv.Stream()
            barrier.wait()
            for n in range(40):
                got = fft.fft(device, stream=stream)
                fft.fft(device[:, : 2 + n % 14], stream=stream)
                stream.synchronize()
                if not np.allclose(got.get(), wanted, atol=1e-4):
                    failures.append(n)
        except BaseException as error:
            failures.append(error)
        finally:
            ctx.pop()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
