"""TensorMap: the description of tiles of an array, and passing it to kernels."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SWIZZLE = drv.tensor_map_swizzle

SOURCE = """
struct __align__(64) tensor_map { unsigned long long words[16]; };

extern "C" __global__ void show(char before, const __grid_constant__ tensor_map map,
                                unsigned long long *out)
{
    out[threadIdx.x] = map.words[threadIdx.x] + before;
}
"""


def array(shape=(32, 64), dtype=np.float32):
    values = np.arange(np.prod(shape)).reshape(shape)
    return gpuarray.to_gpu(values.astype(dtype))


@pytest.mark.parametrize("way", ["call", "prepared"])
def test_kernels_receive_the_bytes(ctx, way):
    show = SourceModule(SOURCE, no_extern_c=True).get_function("show")
    map = drv.TensorMap(array(), (8, 16))
    out = np.zeros(16, np.uint64)
    if way == "call":
        show(np.int8(0), map, drv.Out(out), block=(16, 1, 1))
    else:
        memory = drv.mem_alloc(128)
        show.prepare("b128sP")
        show.prepared_call((1, 1), (16, 1, 1), 0, bytes(map), memory)
        out = drv.from_device(memory, 16, np.uint64)
    assert out.tobytes() == bytes(map) and len(bytes(map)) == 128


def test_what_differs_in_the_map(ctx):
    base = array()
    maps = [
        drv.TensorMap(base, (8, 16)),
        drv.TensorMap(base, (4, 16)),
        drv.TensorMap(base[8:], (8, 16)),
        drv.TensorMap(base, (8, 16), SWIZZLE.SWIZZLE_64B),
        drv.TensorMap(base, (8, 16), element_strides=(2, 1)),
        drv.TensorMap(base, (8, 16), l2_promotion=2),
        drv.TensorMap(base, (8, 16), oob_fill=1),
        drv.TensorMap(base, (8, 16), data_type=drv.tensor_map_data_type.TFLOAT32),
        drv.TensorMap(base[:, :32], (8, 16)),
        drv.TensorMap(base.reshape(4, 8, 64), (1, 8, 16)),
    ]
    assert len({bytes(map) for map in maps}) == len(maps)
    assert bytes(drv.TensorMap(base, [8, 16])) == bytes(maps[0])


@pytest.mark.parametrize(
    "dtype",
    [
        *("uint8", "int8", "bool", "uint16", "int32", "uint64"),
        *("float16", "float32", "float64"),
    ],
)
def test_dtypes(ctx, dtype):
    drv.TensorMap(array(dtype=dtype), (4, 16))


def test_buffer(ctx):
    map = drv.TensorMap(array(), (8, 16))
    view = memoryview(map)
    assert view.readonly and view.nbytes == 128 and bytes(view) == bytes(map)


def images(shape=(2, 6, 8, 16)):
    return gpuarray.zeros(shape, np.float16)


def test_im2col(ctx):
    base = images()
    maps = [
        drv.TensorMap.im2col(base, (0, 0), (0, 0), 16, 8),
        drv.TensorMap.im2col(base, (-1, 0), (0, 0), 16, 8),
        drv.TensorMap.im2col(base, (0, -1), (0, 0), 16, 8),
        drv.TensorMap.im2col(base, (0, 0), (0, 1), 16, 8),
        drv.TensorMap.im2col(base, (0, 0), (0, 0), 8, 8),
        drv.TensorMap.im2col(base, (0, 0), (0, 0), 16, 9),
        drv.TensorMap.im2col(base, (0, 0), (0, 0), 16, 8, swizzle=1),
        drv.TensorMap.im2col(base, (0, 0), (0, 0), 16, 8, element_strides=(1, 2, 2, 1)),
    ]
    assert len({bytes(map) for map in maps}) == len(maps)
    assert maps[0].array is base and type(maps[0]) is drv.TensorMap


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda f: f(array(), (), (), 16, 8), ValueError, "3 to 5 dimensions"),
        (lambda f: f(images(), (0,), (0, 0), 16, 8), ValueError, "lower has 1 items"),
        (lambda f: f(images(), (0, 0), (0, 200), 16, 8), OverflowError, "upper"),
        (lambda f: f(images(), (0, 0), (0, 0), 3, 8), ValueError, "16 bytes, not 6"),
        (lambda f: f(images(), (0, 0), (0, 0), 16, 1025), ValueError, "1 to 1024"),
        (lambda f: f(images(), (0, 0), (0, 0), 0, 8), ValueError, "0$"),
        (
            lambda f: f(images((2, 8, 8, 64)), (0, 0), (0, 0), 64, 8, 1),
            drv.LogicError,
            "cuTensorMapEncodeIm2col",
        ),
    ],
)
def test_wrong_im2col(ctx, make, error, text):
    with pytest.raises(error, match=text):
        make(drv.TensorMap.im2col)


def test_it_keeps_the_array(ctx):
    source = array()
    dead = weakref.ref(source)
    map = drv.TensorMap(source, (8, 16))
    assert map.array is source
    del source
    gc.collect()
    assert dead() is not None
    del map
    gc.collect()
    assert dead() is None


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda a: drv.TensorMap(a, (8,)), ValueError, "2 dimensions"),
        (lambda a: drv.TensorMap(a, (8, 257)), OverflowError, "box"),
        (lambda a: drv.TensorMap(a, (0, 16)), OverflowError, "box"),
        (lambda a: drv.TensorMap(a, (8, 3)), ValueError, "16 bytes, not 12"),
        (lambda a: drv.TensorMap(a, (8, 32), 2), drv.LogicError, "fit the swizzle"),
        (lambda a: drv.TensorMap(a, (8, 16), interleave=1), drv.LogicError, ""),
        (lambda a: drv.TensorMap(a, (8, 16), "x"), TypeError, "swizzle"),
        (lambda a: drv.TensorMap(a[:, 1:], (8, 16)), ValueError, "address"),
        (lambda a: drv.TensorMap(a[:, ::2], (8, 16)), ValueError, "side by side"),
        (lambda a: drv.TensorMap(a[:0], (8, 16)), ValueError, "dimension 0"),
        (
            lambda a: drv.TensorMap(gpuarray.zeros((4, 3), np.float32), (4, 3)),
            ValueError,
            "stride of dimension 0",
        ),
        (
            lambda a: drv.TensorMap(gpuarray.zeros((2,) * 6, np.float32), (1,) * 6),
            ValueError,
            "1 to 5 dimensions",
        ),
        (
            lambda a: drv.TensorMap(gpuarray.zeros(8, np.complex64), (8,)),
            TypeError,
            "data_type",
        ),
        (
            lambda a: drv.TensorMap(
                gpuarray.zeros((2, 2, 4, 4, 4), np.float16), (1, 1, 4, 8), interleave=1
            ),
            ValueError,
            "slices of 16 bytes as its last dimension",
        ),
        (lambda a: drv.TensorMap(3, (8, 16)), TypeError, "not int"),
        (lambda a: drv.TensorMap(np.zeros((8, 16)), (8, 16)), TypeError, "ndarray"),
    ],
)
def test_wrong_maps(ctx, make, error, text):
    with pytest.raises(error, match=text or None):
        make(array())
