"""pycuda.tools.measure: what is called, what is measured, and how it is shown."""

import re

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray, tools
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SCALE = """
__global__ void scale(float *x, const float *y, int turns)
{
    float sum = 0;
    for (int i = 0; i < turns; i++)
        sum += y[(threadIdx.x + i) % 32];
    x[threadIdx.x] = sum;
}
"""


@pytest.fixture
def scale(ctx):
    return SourceModule(SCALE).get_function("scale")


def test_a_kernel(ctx, scale):
    x, y = gpuarray.zeros(32, np.float32), gpuarray.ones(32, np.float32)
    measured = tools.measure(scale, x, y, np.int32(5), repeats=7, block=(32, 1, 1))
    assert (x.get() == 5).all()
    assert measured.name == "scale"
    assert len(measured.times) == 7
    assert min(measured.times) > 0
    assert measured.nbytes == 256
    assert measured.bytes_per_second == 256 / measured.median
    low, high = measured.quartiles
    assert min(measured.times) <= low <= measured.median <= high <= max(measured.times)
    assert measured.spread == high - low


def test_more_work_takes_longer(ctx, scale):
    x, y = gpuarray.zeros(32, np.float32), gpuarray.ones(32, np.float32)
    little, much = (
        tools.measure(scale, x, y, np.int32(n), repeats=5, block=(32, 1, 1))
        for n in (1, 100_000)
    )
    assert much.median > 2 * little.median
    assert much.calls <= little.calls


def test_the_number_of_calls(ctx):
    calls = []
    measured = tools.measure(calls.append, 1, repeats=3, warm_up=4)
    assert len(calls) == 4 + 1 + 3 * measured.calls
    assert 1 <= measured.calls <= 1000
    calls.clear()
    measured = tools.measure(calls.append, 1, repeats=1, warm_up=0)
    assert len(calls) == 1 + 1 + measured.calls
    assert measured.spread == 0


def test_sizes(ctx):
    x = gpuarray.zeros(100, np.float32)

    def bytes_of(function, *args, **kwargs):
        return tools.measure(function, *args, repeats=1, warm_up=0, **kwargs).nbytes

    assert bytes_of(lambda x: None, x) == 400
    assert bytes_of(lambda x, y: None, x, x) == 400
    assert bytes_of(lambda x, y: None, x, y=x[:10]) == 400
    assert bytes_of(lambda x: x + 1, x) == 800
    assert bytes_of(lambda h: None, drv.In(np.zeros(3))) == 24
    assert bytes_of(lambda n: None, np.float32(1)) == 0
    assert bytes_of(lambda x: None, x, nbytes=7) == 7


def test_the_stream(ctx, scale):
    stream = drv.Stream()
    x, y = gpuarray.zeros(32, np.float32), gpuarray.ones(32, np.float32)
    stream.synchronize()
    measured = tools.measure(
        scale, x, y, np.int32(2000), repeats=2, block=(32, 1, 1), stream=stream
    )
    assert measured.median > 0
    assert (x.get() == 2000).all()


def test_the_text():
    measured = tools.Measurement("f", (1e-6, 2e-6, 3e-6, 4e-6, 5e-6), 10, 6000)
    assert str(measured) == repr(measured)
    assert str(measured) == (
        "f: 3.0 µs (half of the repeats from 2.0 µs to 4.0 µs; 5 repeats of 10 "
        "calls), 2 GB/s of 5.9 KiB"
    )
    unknown = tools.Measurement("f", (1e-6,), 10, 0)
    assert unknown.bytes_per_second is None
    assert str(unknown).endswith("1 repeat of 10 calls)")


def test_wrong_arguments(ctx):
    with pytest.raises(TypeError, match=re.escape("not 3")):
        tools.measure(3)
    with pytest.raises(ValueError, match="repeats=0"):
        tools.measure(len, (), repeats=0)
    with pytest.raises(ValueError, match="warm_up=-1"):
        tools.measure(len, (), warm_up=-1)
    with pytest.raises(ZeroDivisionError):
        tools.measure(lambda: 1 / 0)
