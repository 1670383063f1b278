"""Calls with size=: the block by occupancy, the grid that covers the elements."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SOURCE = """
extern "C" __global__ void count(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(x + i, 1);
}

extern "C" __global__ void count3(int *x, int nz, int ny, int nx, int *shape)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < nx && j < ny && k < nz)
        atomicAdd(x + (k * ny + j) * nx + i, 1);
    shape[0] = blockDim.x, shape[1] = blockDim.y, shape[2] = blockDim.z;
    shape[3] = gridDim.x, shape[4] = gridDim.y, shape[5] = gridDim.z;
}

extern "C" __global__ void no_guard(int *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void __launch_bounds__(64) few(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(x + i, 1);
}

extern "C" __global__ void with_shared(int *x)
{
    extern __shared__ int room[];
    room[threadIdx.x] = 1;
    x[0] = blockDim.x;
}
"""


@pytest.fixture
def module(ctx):
    return SourceModule(SOURCE, no_extern_c=True)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 255, 257, 10_000, 100_000])
@pytest.mark.parametrize("name", ["count", "few"])
def test_each_element_has_one_thread(module, name, n):
    f = module.get_function(name)
    x = gpuarray.zeros(n, np.int32)
    f(x, np.int32(n), size=n)
    assert (x == 1).all()
    f.prepare("Pi")
    f.prepared_call(x.gpudata, n, size=n)
    assert (x == 2).all()
    stream = drv.Stream()
    drv.Context.synchronize()
    f.prepared_async_call(stream, x.gpudata, n, size=np.int64(n))
    f.prepared_async_call(None, x.gpudata, n, size=(n,))
    drv.Context.synchronize()
    assert (x == 4).all()
    assert f.prepared_timed_call(x.gpudata, n, size=n)() >= 0
    assert (x == 5).all()
    assert f(x, np.int32(n), size=n, time_kernel=True) >= 0
    f(x, np.int32(n), **{"".join(["si", "ze"]): n}, stream=stream, cooperative=False)
    drv.Context.synchronize()
    assert (x == 7).all()


def last(shape):
    """Return the block and the grid that the kernel has written."""
    return tuple(shape.get()[:3]), tuple(shape.get()[3:])


@pytest.mark.parametrize(
    "size",
    [
        (40, 100),
        (1, 7),
        (7, 1),
        (1000, 3),
        (3, 1000),
        (5, 6, 70),
        (70, 6, 5),
        (300, 1, 1),
    ],
)
def test_the_last_axis_is_x(module, size):
    f = module.get_function("count3")
    x, shape = gpuarray.zeros(size, np.int32), gpuarray.zeros(6, np.int32)
    nz, ny, nx = (1,) * (3 - len(size)) + size
    numbers = [np.int32(n) for n in (nz, ny, nx)]
    f(x, *numbers, shape, size=size)
    assert (x == 1).all()
    block, grid = last(shape)
    for threads, blocks, extent in zip(block, grid, (nx, ny, nz), strict=True):
        assert blocks == -(-extent // threads)
    assert np.prod(block) <= f.max_threads_per_block
    f(x, *numbers, shape, size=list(size))
    assert (x == 2).all()


def test_warps_lie_along_x(module):
    f = module.get_function("count3")
    size = (500, 600)
    x, shape = gpuarray.zeros(size, np.int32), gpuarray.zeros(6, np.int32)
    f(x, np.int32(1), np.int32(500), np.int32(600), shape, size=size)
    (x_threads, y_threads, z_threads), _ = last(shape)
    assert x_threads == 32
    assert y_threads > 1
    assert z_threads == 1


def test_shared_memory_counts(module):
    f = module.get_function("with_shared")
    x = gpuarray.zeros(1, np.int32)
    f(x, size=1 << 20, shared=4096)
    usual = int(x[0].get())
    f(x, size=1 << 20, shared=40_000)  # few blocks fit, so they are larger
    assert int(x[0].get()) > usual
    f(x, size=1 << 20, shared=4096)
    assert int(x[0].get()) == usual


def test_the_limit_of_an_attribute_counts(module):
    f = module.get_function("count")
    x = gpuarray.zeros(1000, np.int32)
    f(x, np.int32(1000), size=1000)
    assert f.max_threads_per_block > 64
    few = module.get_function("few")
    few(x, np.int32(1000), size=1000)
    assert (x == 2).all()


@pytest.mark.software(why="a GPU does not name the access")
def test_the_report_about_a_kernel_without_a_guard(module, recwarn):
    f = module.get_function("no_guard")
    f(gpuarray.zeros(1024, np.int32), size=1024)
    drv.Context.synchronize()
    assert not recwarn
    x = gpuarray.zeros(1000, np.int32)
    words = "(?s)0 bytes beyond the end of the 4000-byte device allocation.*no_guard"
    with pytest.warns(drv.PyCUDAWarning, match=words):
        f(x, size=1000)
        drv.Context.synchronize()


PREPARED = {
    "block": lambda f, x: f.prepared_call(x.gpudata, 4, size=4, block=(4, 1, 1)),
    "grid": lambda f, x: f.prepared_call(x.gpudata, 4, size=4, grid=(4, 1)),
    "by position": lambda f, x: f.prepared_call(
        (1, 1), (4, 1, 1), x.gpudata, 4, size=4
    ),
    "plain block": lambda f, x: f(x, np.int32(4), size=4, block=(4, 1, 1)),
    "plain grid": lambda f, x: f(x, np.int32(4), grid=(4, 1), size=4),
}


@pytest.mark.parametrize("name", PREPARED)
def test_size_beside_block_or_grid(module, name):
    f = module.get_function("count")
    x = gpuarray.zeros(4, np.int32)
    f.prepare("Pi")
    with pytest.raises(ValueError, match="takes size=, which chooses"):
        PREPARED[name](f, x)
    assert (x == 0).all()


@pytest.mark.parametrize(
    ("size", "error", "words"),
    [
        (0, OverflowError, "size"),
        (-1, OverflowError, "size"),
        ((), ValueError, "0 axes"),
        ((1, 2, 3, 4), ValueError, "4 axes"),
        (1.5, TypeError, "not float"),
        (None, TypeError, "not NoneType"),
        ((2, "x"), TypeError, "size"),
        (1 << 62, drv.LogicError, "x must be 1 to"),
        ((1 << 40, 4), drv.LogicError, "y must be 1 to"),
    ],
)
def test_wrong_sizes(module, size, error, words):
    f = module.get_function("count")
    x = gpuarray.zeros(4, np.int32)
    f.prepare("Pi")
    with pytest.raises(error, match=words):
        f(x, np.int32(4), size=size)
    with pytest.raises(error, match=words):
        f.prepared_call(x.gpudata, 4, size=size)
    assert (x == 0).all()


def test_prepared_calls_without_their_arguments(module):
    f = module.get_function("count").prepare("Pi")
    with pytest.raises(TypeError, match="stream and the arguments"):
        f.prepared_async_call(size=4)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sized'"):
        f.prepared_call(1, 4, size=4, sized=4)


def test_the_error_of_a_call_without_a_shape_names_size(module):
    with pytest.raises(ValueError, match="or size=, the number of elements"):
        module.get_function("count")(np.int32(4))


def test_a_captured_call(module):
    f = module.get_function("count")
    x = gpuarray.zeros(500, np.int32)
    stream = drv.Stream()
    drv.Context.synchronize()
    with stream.capture() as graph:
        f(x, np.int32(500), size=500, stream=stream)
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (x == 1).all()
