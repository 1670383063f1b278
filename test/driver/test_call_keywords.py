"""Keywords of prepared calls, of the calls of CUDA 3, and of handlers."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

KERNELS = """
__device__ int seen;
__global__ void mark() { seen = blockDim.x * 100 + gridDim.x; }
__global__ void put(int *x, int v) { x[threadIdx.x + blockIdx.x * 32] = v; }
"""


@pytest.fixture
def mod(ctx):
    return SourceModule(KERNELS)


def seen(mod):
    address, _ = mod.get_global("seen")
    return int(drv.from_device(address, 1, np.int32)[0])


def test_prepared_calls_by_keyword(mod):
    mark = mod.get_function("mark").prepare("")
    mark.prepared_call(grid=(2, 1), block=(3, 1, 1))
    assert seen(mod) == 302
    mark.prepared_call((1, 1), block=(4, 1, 1), shared_size=0)
    assert seen(mod) == 401
    mark.prepared_async_call(stream=None, block=(5, 1, 1), grid=(6, 1))
    assert seen(mod) == 506
    stream = drv.Stream()
    mark.prepared_async_call((1, 1), (6, 1, 1), stream=stream)
    stream.synchronize()
    assert seen(mod) == 601
    assert mark.prepared_timed_call(block=(7, 1, 1), grid=(2, 1))() >= 0
    assert seen(mod) == 702


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        ((), {}, "needs grid, block and the arguments"),
        ((), {"grid": (1, 1)}, "needs grid, block"),
        ((), {"block": (1, 1, 1)}, "needs grid, block"),
        (((1, 1),), {"grid": (1, 1), "block": (1, 1, 1)}, "multiple values.*'grid'"),
        (((1, 1), (1, 1, 1)), {"block": (1, 1, 1)}, "multiple values.*'block'"),
        (((1, 1), (1, 1, 1)), {"stream": None}, "unexpected keyword.*'stream'"),
        (((1, 1), (1, 1, 1)), {"nonsense": 1}, "unexpected keyword.*'nonsense'"),
    ],
)
def test_wrong_keywords_of_prepared_calls(mod, args, kwargs, text):
    mark = mod.get_function("mark").prepare("")
    with pytest.raises(TypeError, match=text):
        mark.prepared_call(*args, **kwargs)
    with pytest.raises(TypeError, match=text):
        mark.prepared_timed_call(*args, **kwargs)


def test_wrong_keywords_of_prepared_async_calls(mod):
    mark = mod.get_function("mark").prepare("")
    one = (1, 1, 1)
    with pytest.raises(TypeError, match="needs grid, block, stream"):
        mark.prepared_async_call((1, 1), one)
    with pytest.raises(TypeError, match="multiple values.*'stream'"):
        mark.prepared_async_call((1, 1), one, None, stream=None)


def test_the_old_calls_by_keyword(mod):
    put = mod.get_function("put")
    memory = drv.to_device(np.zeros(64, np.int32))
    put.param_set_size(bytes=12)
    put.param_setv(offset=0, buffer=np.uintp(int(memory)))
    put.param_seti(offset=8, value=7)
    put.set_block_shape(x=32, y=1, z=1)
    put.set_shared_size(bytes=0)
    put.launch_grid(width=2, height=1)
    assert (drv.from_device(memory, 64, np.int32) == 7).all()
    put._param_seti(8, 8)
    put._launch_grid(grid_width=2, grid_height=1)
    assert (drv.from_device(memory, 64, np.int32) == 8).all()
    stream = drv.Stream()
    put.param_seti(value=9, offset=8)
    put.launch_grid_async(width=1, height=1, stream=stream)
    stream.synchronize()
    assert (drv.from_device(memory, 32, np.int32) == 9).all()
    put.param_setf(offset=8, value=0.0)
    put._launch_grid_async(grid_width=2, grid_height=1, s=None)
    assert not drv.from_device(memory, 64, np.int32).any()
    for wrong in ({"width": 1}, {"grid_width": 1, "grid_height": 1}):
        with pytest.raises(TypeError):
            put.launch_grid(**wrong)
    with pytest.raises(TypeError, match="param_seti"):
        put.param_seti(offset=0, number=1)
    with pytest.raises(TypeError, match="set_shared_size"):
        put.set_shared_size(1, bytes=1)


def test_handlers_by_keyword(ctx):
    values = np.arange(8, dtype=np.int32)
    both = drv.InOut(values)
    assert both.pre_call(stream=None) is None
    values[:] = 0
    both.post_call(stream=drv.Stream())
    assert (values == np.arange(8)).all()
    assert drv.ArgumentHandler(values).pre_call(stream=None) is None
    for handler in (both, drv.ArgumentHandler(values)):
        with pytest.raises(TypeError, match="pre_call"):
            handler.pre_call()
        with pytest.raises(TypeError, match="pre_call"):
            handler.pre_call(None, stream=None)
    with pytest.raises(TypeError, match="post_call"):
        both.post_call(event=None)


def test_a_name_that_holds_the_function(mod):
    """A cycle through a name whose class derives from str is collected."""

    class Name(str):
        pass

    name = Name("mark")
    name.function = mod.get_function(name)
    gone = weakref.ref(name.function)
    del name
    gc.collect()
    assert gone() is None
