"""pycuda.fft, compared with numpy.fft.

On the software device, generated kernels transform here; test_fft_host.py has NumPy's
transforms. On a GPU, cuFFT does where it is installed, unless PYCUDA_FFT is
"generated". test_fft_library.py has the calls of cuFFT.
"""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, fft
from pycuda._array.sources import fourier
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import COMPLEX, DTYPES, FLOATS

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

ALONG = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
AXES = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
TAKES_REAL = ("rfft", "ihfft", "rfft2", "rfftn")
GIVES_REAL = ("irfft", "hfft", "irfft2", "irfftn")
NORMS = (None, "backward", "ortho", "forward")
PRECISION = {"f": 4e-7, "d": 1e-15}


@pytest.fixture(autouse=True)
def on_the_device(ctx, monkeypatch):
    """Let kernels transform, also on the software device."""
    if _driver._is_emulated():
        monkeypatch.setenv("PYCUDA_FFT", "generated")
        assert "PYCUDA_FFT" in fft.transform_library()


def random(shape, dtype, seed=0):
    """Return random numbers of a dtype."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return rng.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def double(x):
    """Return the numbers in double precision."""
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def result_dtype(name, dtype):
    """Return the dtype that NumPy 2 gives the result."""
    single = dtype in (np.float16, np.float32, np.complex64)
    if name in GIVES_REAL:
        return np.dtype(np.float32 if single else np.float64)
    return np.dtype(np.complex64 if single else np.complex128)


def close(result, wanted, dtype):
    """Assert shape, dtype and values, with an error that grows as a logarithm."""
    got = result.get()
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    size = np.linalg.norm(wanted)
    error = np.linalg.norm(got - wanted)
    steps = 1 + np.log2(max(wanted.size, 2)) / 8
    assert error <= PRECISION[got.real.dtype.char] * steps * size


def check(name, x, device=None, **kwargs):
    """Compare a function with NumPy's of that name, in double precision."""
    device = to_gpu(x) if device is None else device
    wanted = getattr(np.fft, name)(double(x), **kwargs)
    result = getattr(fft, name)(device, **kwargs)
    close(result, wanted, result_dtype(name, x.dtype))
    return result


def input_of(name, shape, single=True, seed=0):
    """Return random numbers that a function takes."""
    kinds = (
        ("float32", "float64") if name in TAKES_REAL else ("complex64", "complex128")
    )
    return random(shape, kinds[0 if single else 1], seed)


# -- lengths ---------------------------------------------------------------------------


@pytest.mark.parametrize("n", [*range(1, 27), 28, 32, 37, 48, 53, 60, 63, 64])
def test_short_lengths(n):
    check("fft", random((3, n), "complex64", n))


@pytest.mark.parametrize("n", [2, 3, 8, 11, 16, 17, 60, 97, 128, 512, 1001, 1021, 2048])
def test_lengths_of_one_kernel_in_double_precision(n):
    check("fft", random((2, n), "complex128", n))


@pytest.mark.parametrize("n", [256, 1000, 2187, 4096, 5040, 997])
def test_lengths_of_one_kernel_in_single_precision(n):
    check("ifft", random((2, n), "complex64", n))


@pytest.mark.parametrize(
    ("n", "dtype"),
    [
        (8192, "complex64"),
        (30030, "complex64"),  # 2 * 3 * 5 * 7 * 11 * 13
        (4096, "complex128"),
        (3**5 * 5**5, "complex64"),  # three kernels
    ],
)
def test_lengths_of_several_kernels(n, dtype):
    check("fft", random(n, dtype))
    check("ifft", random((2, n), dtype))


@pytest.mark.parametrize(("n", "dtype"), [(4099, "complex64"), (2053, "complex128")])
def test_long_lengths_with_large_prime_factors(n, dtype):
    check("fft", random(n, dtype))
    check("ifft", random((2, n), dtype))


@pytest.mark.parametrize("name", ["rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 9, 12, 22, 34, 37, 64])
def test_real_lengths(name, n):
    elements = n if name in TAKES_REAL else n // 2 + 1
    check(name, input_of(name, (3, elements), seed=n), n=n)


@pytest.mark.parametrize("name", ["rfft", "irfft"])
@pytest.mark.parametrize("n", [1000, 1001, 8192, 16384, 4106])
def test_long_real_lengths(name, n):
    elements = n if name in TAKES_REAL else n // 2 + 1
    check(name, input_of(name, (2, elements), n % 3 != 0), n=n)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
@pytest.mark.parametrize("n", [2000, 3000, 6000])
def test_long_columns(name, n):
    """Neighbouring elements in memory belong to neighbouring lines."""
    elements = n // 2 + 1 if name == "irfft" else n
    check(name, input_of(name, (elements, 3), n == 3000), axis=0)
    x = input_of(name, (2, elements, 3))
    check(name, x, to_gpu(np.asfortranarray(x)), axis=1)


ACCURATE = [(4096, "complex64"), (2048, "complex128"), (1000, "complex64")]


def rounding_errors(n, dtype):
    """Return the error of fft in units of rounding errors of the result.

    NumPy computes in double precision whatever the dtype, or in a wider one.
    """
    x = random((4, n), dtype)
    wanted = np.fft.fft(x.astype(np.clongdouble))
    error = np.linalg.norm(fft.fft(to_gpu(x)).get() - wanted)
    return error / (np.finfo(dtype).eps / 2 * np.linalg.norm(wanted))


@pytest.mark.parametrize(("n", "dtype"), ACCURATE)
def test_generated_transforms_are_accurate(monkeypatch, n, dtype):
    """Roots of unity are rounded once: errors grow with the logarithm of the length."""
    monkeypatch.setenv("PYCUDA_FFT", "generated")
    context = drv.Context.get_device().make_context()
    try:
        assert "generated" in fft.transform_library()
        assert rounding_errors(n, dtype) <= np.log2(n) / 4
    finally:
        context.pop()
        context.detach()


@pytest.mark.parametrize(("n", "dtype"), ACCURATE)
def test_transforms_are_accurate(n, dtype):
    """cuFFT's error at 4096 elements was 0.256 log2(n) on an H200, with CUDA 13."""
    generated = fft.transform_library().startswith("generated")
    assert rounding_errors(n, dtype) <= np.log2(n) / (4 if generated else 2)


@pytest.mark.parametrize("name", ["irfft", "hfft"])
@pytest.mark.parametrize("n", [5, 8, 999, 4096, 16384, 65536])
@pytest.mark.parametrize("axis", [0, 1])
def test_imaginary_parts_that_have_no_meaning(name, n, axis):
    """Those of frequency 0 and of the highest one of an even length are ignored."""
    shape = [2, 2]
    shape[axis] = n // 2 + 1
    x = input_of(name, shape)
    ends = x.swapaxes(0, axis)[:: n // 2 if n % 2 == 0 else n]
    ends.imag = 1e3
    check(name, x, n=n, axis=axis)


@pytest.mark.parametrize("shape", [(4, 5), (6, 33), (3, 4, 8), (8, 513)])
def test_spectra_of_no_real_array(shape):
    """NumPy transforms the last axis at the end, and ignores imaginary parts there."""
    check("irfftn", input_of("irfftn", shape))
    check("irfftn", input_of("irfftn", shape), axes=(-1, 0))
    check("irfft2", input_of("irfft2", shape, False), norm="ortho")


# -- arguments -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("norm", NORMS)
def test_norms(name, norm):
    check(name, input_of(name, (2, 12)), norm=norm)
    check(name, input_of(name, (2, 9), False), norm=norm)


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("n", [5, 14])
def test_input_is_cut_off_or_padded(name, n):
    check(name, input_of(name, (3, 9)), n=n)
    check(name, input_of(name, (9, 3)), n=n, axis=0)


@pytest.mark.parametrize("name", ALONG)
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_axis(name, axis):
    check(name, input_of(name, (6, 5, 8)), axis=axis)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes(dtype):
    x = random((2, 12), dtype)
    for name in ("fft", "rfft"):
        if name in TAKES_REAL and dtype.kind == "c":
            with pytest.raises(TypeError, match=f"{name} takes real .* {dtype}"):
                getattr(fft, name)(to_gpu(x))
        else:
            check(name, x)


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("norm", NORMS[1:])
def test_several_axes(name, norm):
    check(name, input_of(name, (4, 6, 5)), norm=norm)
    check(name, input_of(name, (4, 9), False), norm=norm)


@pytest.mark.parametrize("name", AXES[4:])
@pytest.mark.parametrize("axes", [(0,), (1, 0), (2, 0), (0, 2, 1), (-1, -3), (1, 1)])
def test_chosen_axes(name, axes):
    check(name, input_of(name, (4, 6, 5)), axes=axes)


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize("s", [(8, 6), (3, 4), (-1, 7)])
def test_lengths_of_axes(name, s):
    check(name, input_of(name, (4, 6, 5)), s=s, axes=(0, 2))


def test_no_axes():
    x = random((3, 4), "float32")
    assert fft.fftn(to_gpu(x), axes=()).get().tolist() == x.tolist()


# -- layouts ---------------------------------------------------------------------------


def views(x):
    """Return a name and a function for each view to transform."""
    return {
        "transposed": lambda x: x.T,
        "reversed": lambda x: x[:, ::-1],
        "reversed rows": lambda x: x[::-1],
        "every second": lambda x: x[:, 1::2],
        "part": lambda x: x[1:-1, 2:-1],
        "one row": lambda x: x[2],
        "one column": lambda x: x[:, 3],
        "new axis": lambda x: x[:, None, ::3].transpose(2, 1, 0),
    }


@pytest.mark.parametrize("view", views(None))
@pytest.mark.parametrize("name", ["fft", "rfft", "irfft"])
def test_views(name, view):
    x = input_of(name, (12, 13))
    take = views(x)[view]
    for axis in (0, -1):
        check(name, take(x), take(to_gpu(x)), axis=axis)


@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn"])
def test_views_in_several_axes(name):
    x = input_of(name, (6, 5, 8))
    device = to_gpu(x)
    check(name, x.T, device.T)
    check(name, x[::-1, :, ::2], device[::-1, :, ::2])
    check(name, x[:, 1], device[:, 1])


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "fft2"])
def test_elements_that_are_not_aligned(name):
    """A view of records: elements begin at multiples of 4 bytes."""
    kind = input_of(name, 1).dtype
    records = np.zeros((6, 8), [("first", "i4"), ("x", kind)])
    records["x"] = input_of(name, (6, 8))
    device = to_gpu(records)
    address = int(device.gpudata) + 4
    x = GPUArray((6, 8), kind, gpudata=address, strides=device.strides, base=device)
    check(name, records["x"].copy(), x)


def test_arrays_without_elements():
    for shape in ((0, 4), (3, 0, 4)):
        for name in ("fft", "rfft", "irfft"):
            check(name, input_of(name, shape))
    check("fft2", random((0, 4, 4), "complex64"))
    check("fft", random((3, 0), "complex64"), n=4)


def test_many_short_lines():
    check("fft", random((5000, 3), "complex64"))
    check("fft", random((3, 5000), "complex64"), axis=0)


# -- out, stream, allocator ------------------------------------------------------------


@pytest.mark.parametrize("name", [*ALONG, "fft2", "rfft2", "irfft2"])
def test_out(name):
    x = input_of(name, (6, 8))
    wanted = getattr(np.fft, name)(double(x))
    single = result_dtype(name, x.dtype)
    out = GPUArray(wanted.shape, single)
    assert getattr(fft, name)(to_gpu(x), out=out) is out
    close(out, wanted, single)
    wide = GPUArray(wanted.T.shape, result_dtype(name, np.float64)).T
    assert getattr(fft, name)(to_gpu(x), out=wide) is wide
    assert wide.dtype.itemsize == 2 * single.itemsize
    np.testing.assert_allclose(wide.get(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [12, 17, 8192])
def test_out_may_be_the_input(n):
    x = random((2, n), "complex64")
    device = to_gpu(x)
    assert fft.fft(device, out=device) is device
    close(device, np.fft.fft(double(x)), np.complex64)
    fft.ifft2(device, out=device)
    close(device, np.fft.ifft2(np.fft.fft(double(x))), np.complex64)


def test_out_may_overlap_the_input():
    x = random(40, "complex64")
    device = to_gpu(x)
    fft.fft(device[:32], out=device[8:])
    close(device[8:], np.fft.fft(double(x[:32])), np.complex64)
    device = to_gpu(x)
    fft.fft(device, out=device[::-1])
    close(device[::-1], np.fft.fft(double(x)), np.complex64)
    real = random(34, "float32")
    device = to_gpu(real)
    fft.rfft(device[:32], out=device.view(np.complex64))
    close(device.view(np.complex64), np.fft.rfft(double(real[:32])), np.complex64)


def test_wrong_out():
    x = to_gpu(random((2, 8), "complex64"))
    with pytest.raises(ValueError, match=r"\(2, 8\).*\(2, 9\)"):
        fft.fft(x, out=GPUArray((2, 9), np.complex64))
    with pytest.raises(TypeError, match="float32.*complex64"):
        fft.fft(x, out=GPUArray((2, 8), np.float32))
    with pytest.raises(TypeError, match=r"GPUArray, not numpy\.ndarray"):
        fft.fft(x, out=np.empty((2, 8), np.complex64))


def test_stream():
    x = random((2, 4096), "complex64")
    stream = drv.Stream()
    result = fft.fft(to_gpu(x), stream=stream)
    stream.synchronize()
    close(result, np.fft.fft(double(x)), np.complex64)
    with stream:
        result = fft.rfft(to_gpu(x.real.copy()))
    stream.synchronize()
    close(result, np.fft.rfft(double(x.real)), np.complex64)


def test_memory_comes_from_the_allocator():
    sizes = []

    def allocate(nbytes):
        sizes.append(nbytes)
        return drv.mem_alloc(nbytes)

    x = to_gpu(random(8192, "complex64"), allocator=allocate)
    sizes.clear()
    result = fft.fft(x)
    assert result.allocator is allocate
    assert min(sizes) >= 8
    assert 8192 * 8 in sizes


# -- errors ----------------------------------------------------------------------------


def test_wrong_arguments():
    x = to_gpu(random((2, 8), "float32"))
    for n in (0, -3):
        with pytest.raises(ValueError, match=f"axis 1 would have {n} elements"):
            fft.fft(x, n)
    with pytest.raises(ValueError, match="axis 2 is not one of the 2 axes"):
        fft.fft(x, axis=2)
    with pytest.raises(ValueError, match="axis -3 is not one of the 2 axes"):
        fft.rfft(x, axis=-3)
    with pytest.raises(ValueError, match="norm is 'half'.*\"ortho\""):
        fft.fft(x, norm="half")
    with pytest.raises(TypeError):
        fft.fft(x, 2.5)
    with pytest.raises(TypeError):
        fft.fft(x, axis="x")
    with pytest.raises(ValueError, match="would have 0 elements"):
        fft.irfft(to_gpu(np.ones(1, np.complex64)))
    with pytest.raises(ValueError, match="0 axes"):
        fft.fft(to_gpu(np.ones((), np.float32)))
    with pytest.raises(ValueError, match="would have 0 elements"):
        fft.fft(to_gpu(np.ones((2, 0), np.float32)))


def test_wrong_lengths_and_axes():
    x = to_gpu(random((2, 8), "float32"))
    with pytest.raises(ValueError, match="3 lengths.*2 axes"):
        fft.fftn(x, s=(2, 2, 2))
    with pytest.raises(ValueError, match="s has 1 lengths.*2 axes"):
        fft.fftn(x, s=(2,), axes=(0, 1))
    with pytest.raises(ValueError, match="at least one axis"):
        fft.rfftn(x, axes=())
    with pytest.raises(TypeError, match="s must be a sequence"):
        fft.fftn(x, s=3)
    with pytest.raises(ValueError, match="axis -2 is not"):
        fft.fft2(to_gpu(np.ones(3, np.float32)))


def test_wrong_arrays():
    with pytest.raises(TypeError, match=r"ndarray; copy it with to_gpu\(\)"):
        fft.fft(np.ones(3))
    with pytest.raises(TypeError, match="list"):
        fft.fft([1, 2])
    records = np.zeros(3, [("a", "i4"), ("b", "f4")])
    with pytest.raises(TypeError, match="fft does not take arrays of dtype"):
        fft.fft(to_gpu(records))


# -- frequencies and shifts ------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 100])
def test_frequencies(n):
    for d in (1.0, 0.25, 3):
        for name in ("fftfreq", "rfftfreq"):
            got = getattr(fft, name)(n, d).get()
            wanted = getattr(np.fft, name)(n, d)
            assert got.dtype == np.float64
            np.testing.assert_allclose(got, wanted, rtol=1e-15)
    assert fft.fftfreq(n, dtype=np.float32).dtype == np.float32


def test_wrong_frequencies():
    for function in (fft.fftfreq, fft.rfftfreq):
        with pytest.raises(ValueError, match="must be an integer"):
            function(2.5)
        with pytest.raises(ValueError, match="at least 1"):
            function(0)
        with pytest.raises(TypeError, match="floating-point"):
            function(4, dtype=np.int32)


@pytest.mark.parametrize("shape", [(1,), (5,), (6,), (4, 5), (3, 2, 5)])
@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name, shape):
    x = random(shape, "float32")
    for axes in (None, 0, (0,), -1, tuple(range(len(shape)))):
        got = getattr(fft, name)(to_gpu(x), axes).get()
        np.testing.assert_array_equal(got, getattr(np.fft, name)(x, axes))
    with pytest.raises(ValueError, match="axis 7"):
        getattr(fft, name)(to_gpu(x), 7)


# -- NumPy's functions -----------------------------------------------------------------


@pytest.mark.parametrize("name", [*ALONG, *AXES, "fftshift", "ifftshift"])
def test_functions_of_numpy_stay_on_the_device(name):
    x = input_of(name, (4, 6))
    got = getattr(np.fft, name)(to_gpu(x))
    assert isinstance(got, GPUArray)
    wanted = getattr(np.fft, name)(x)
    np.testing.assert_allclose(got.get(), wanted, rtol=1e-4, atol=1e-4)


# -- properties ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_random_calls(seed):
    """Any function with any arguments gives NumPy's result."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(ALONG if seed % 2 else AXES))
    ndim = int(rng.integers(1 if seed % 2 else 2, 4))
    shape = tuple(rng.integers(1, 9, ndim).tolist())
    kinds = [*FLOATS] if name in TAKES_REAL else [*FLOATS, *COMPLEX, *COMPLEX]
    x = random(shape, kinds[rng.integers(len(kinds))], seed)
    kwargs = {"norm": NORMS[rng.integers(4)]}
    if seed % 2:
        kwargs["axis"] = int(rng.integers(-ndim, ndim))
        kwargs["n"] = int(rng.integers(1, 20))
    else:
        count = 2 if name.endswith("2") else int(rng.integers(1, ndim + 1))
        kwargs["axes"] = tuple(rng.permutation(ndim)[:count].tolist())
        kwargs["s"] = tuple(rng.integers(1, 12, count).tolist())
    order = rng.permutation(ndim).tolist()
    back = np.argsort(order).tolist()
    device = to_gpu(x.transpose(order).copy()).transpose(back)
    check(name, x, device, **kwargs)


# -- sources ---------------------------------------------------------------------------


def test_python_knows_every_word_of_a_request():
    with open(fourier.__file__, encoding="utf-8") as file:
        text = file.read()
    text = text.replace("'", '"')
    assert '"inverse", "chirped"' in text  # after store_
    for name in _driver._fourier_words:
        assert f'"{name}"' in text or f'"{name.removeprefix("store_")}"' in text
