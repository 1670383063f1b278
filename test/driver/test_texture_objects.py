"""TextureObject and SurfaceObject: creation, use as arguments, and lifetime."""

import ctypes
import gc

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import SourceModule
from support.capture import captured
from support.emulator import DriverError
from support.rawtexture import BORDER, CLAMP, MIRROR, WRAP, Raw
from support.texture_bench import (
    HEIGHT,
    WIDTH,
    Bench,
    array_of,
    descriptor_of,
    places,
    rng_of,
    texels,
)
from support.texture_model import Model

pytestmark = pytest.mark.gpu

CAPTURE_INVALIDATED = 901

SOURCE = """
__global__ void read4(cudaTextureObject_t t, float4 *out, const float *at, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float4>(t, at[i], at[n + i]);
}
__global__ void read1(char before, cudaTextureObject_t t, float *out, int w)
{
    out[threadIdx.y * w + threadIdx.x] =
        tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f) + before;
}
__global__ void fetch(cudaTextureObject_t t, uchar4 *out)
{
    out[threadIdx.x] = tex1Dfetch<uchar4>(t, threadIdx.x);
}
__global__ void fetch_unit(cudaTextureObject_t t, float4 *out)
{
    out[threadIdx.x] = tex1Dfetch<float4>(t, threadIdx.x);
}
__global__ void twice(cudaSurfaceObject_t s, float *out, int w)
{
    int x = threadIdx.x, y = threadIdx.y;
    float value = surf2Dread<float>(s, x * 4, y);
    out[y * w + x] = value;
    surf2Dwrite(2 * value, s, x * 4, y);
}
__global__ void half_of(float *out, const float *in) { *out = *in / 2; }
"""


@pytest.fixture
def module(ctx):
    return SourceModule(SOURCE)


@pytest.fixture
def bench():
    bench = Bench.__new__(Bench)
    bench.emulated = _driver._is_emulated()
    return bench


def plane(value=None, flags=0):
    """Make a 5 x 3 array of single floats. Return it and its content."""
    data = np.arange(15, dtype=np.float32).reshape(3, 5)
    data = data if value is None else np.full_like(data, value)
    return array_of(data[..., None], flags), data


def read(module, texture, **how):
    out = np.zeros((3, 5), np.float32)
    module.get_function("read1")(
        np.int8(0), texture, drv.Out(out), np.int32(5), block=(5, 3, 1), **how
    )
    return out


def test_one_row_with_a_pitch_is_an_image(module):
    """Linear memory has no border. Pitched memory has a border around its row."""
    data = np.arange(8, dtype=np.float32)
    descriptor = descriptor_of(data.reshape(1, 8, 1))
    memory = drv.to_device(np.append(data, np.zeros(120, np.float32)))
    texture = drv.TextureObject(
        memory, descriptor=descriptor, pitch=512, address_mode=BORDER
    )
    out = np.full((2, 8), -1, np.float32)
    module.get_function("read1")(
        np.int8(0), texture, drv.Out(out), np.int32(8), block=(8, 2, 1)
    )
    assert np.array_equal(out, [data, np.zeros(8)])


@pytest.mark.parametrize("unit", [False, True], ids=["texels", "unit"])
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int16"])
def test_settings(module, bench, dtype, linear, unit):
    rng = rng_of("objects", dtype, linear, unit)
    data = texels(rng, dtype, depth=1, channels=4)
    pitch = 512
    rows = np.zeros((HEIGHT, pitch), np.uint8)
    rows[:, : WIDTH * 4 * data.itemsize] = data.reshape(HEIGHT, -1).view(np.uint8)
    sources = [
        (array_of(data[0]), {}),
        (drv.to_device(rows), {"descriptor": descriptor_of(data[0]), "pitch": pitch}),
    ]
    border = (3.5, -20, 1, 2)
    for source, how in sources:
        for modes in (WRAP, CLAMP, MIRROR, BORDER, (WRAP, BORDER)):
            texture = drv.TextureObject(
                source,
                **how,
                address_mode=modes,
                filter_mode=drv.filter_mode(int(linear)),
                normalized_coords=unit,
                read_as_float=True,
                border_color=border,
            )
            both = (modes,) * 2 if isinstance(modes, int) else modes
            stays = 1 if data.dtype.kind == "f" else 0  # a border of [0, 1] is clamped
            if BORDER in both and not stays:
                continue
            model = Model(data, 2, (*both, CLAMP), linear, unit, border=border)
            at = places(rng, (WIDTH, HEIGHT), unit)
            out = np.zeros((len(at[0]), 4), np.float32)
            module.get_function("read4")(
                texture,
                drv.Out(out),
                drv.In(np.array(at)),
                np.int32(len(out)),
                block=(64, 1, 1),
                grid=(-(-len(out) // 64), 1),
            )
            span = np.ptp([*model.values().ravel(), *border])
            bench.compare(
                f"{dtype} modes {modes} linear {linear} unit {unit}",
                out,
                model.fetch(at),
                range_=span if linear else None,
                sides=2,
                uncertain=None if linear else model.near_an_edge(at, 1 / 128),
            )


def test_linear_memory(module):
    data = np.arange(40, dtype=np.uint8).reshape(1, 10, 4)
    memory = drv.to_device(data)
    texture = drv.TextureObject(memory, descriptor_of(data))
    assert texture.source is memory
    out = np.zeros((10, 4), np.uint8)
    module.get_function("fetch")(texture, drv.Out(out), block=(10, 1, 1))
    assert np.array_equal(out, data[0])
    texture = drv.TextureObject(
        source=int(memory), descriptor=descriptor_of(data), read_as_float=True
    )
    floats = np.zeros((10, 4), np.float32)
    module.get_function("fetch_unit")(texture, drv.Out(floats), block=(10, 1, 1))
    assert np.array_equal(floats, data[0] / np.float32(255))


def test_prepared_calls(module):
    array, data = plane()
    texture = drv.TextureObject(array)
    out = drv.mem_alloc(60)
    for format in ("bPPi", "bQPi", [np.int8, np.uint64, np.intp, np.int32]):
        kernel = module.get_function("read1").prepare(format)
        drv.memset_d32(out, 0, 15)
        kernel.prepared_call((1, 1), (5, 3, 1), 1, texture, out, 5)
        assert np.array_equal(drv.from_device(out, (3, 5), np.float32), data + 1)
        with pytest.raises(Exception, match="argument 1"):
            kernel.prepared_call((1, 1), (5, 3, 1), 1, None, out, 5)
    texture.free()
    with pytest.raises(Exception, match="released before"):
        kernel.prepared_call((1, 1), (5, 3, 1), 1, texture, out, 5)


def test_by_handle(module):
    array, data = plane()
    texture = drv.TextureObject(array)
    assert texture.handle != 0
    assert np.array_equal(read(module, np.uint64(texture.handle)), data)


def test_surface(module):
    array, data = plane(flags=drv.array3d_flags.SURFACE_LDST)
    surface = drv.SurfaceObject(array)
    assert surface.source is array
    out = np.zeros_like(data)
    twice = module.get_function("twice")
    for times in (1, 2):
        twice(surface, drv.Out(out), np.int32(5), block=(5, 3, 1))
        assert np.array_equal(out, data * times)
    assert np.array_equal(array.get(), data * 4)
    assert np.array_equal(read(module, drv.TextureObject(array)), data * 4)
    with pytest.raises(drv.LogicError, match="SURFACE_LDST"):
        drv.SurfaceObject(plane()[0])
    for wrong in (None, 3, drv.mem_alloc(4)):
        with pytest.raises(TypeError, match="Array"):
            drv.SurfaceObject(wrong)
    surface.free()
    with pytest.raises(drv.LogicError, match="released"):
        twice(surface, drv.Out(out), np.int32(5), block=(5, 3, 1))


def test_it_holds_its_array(module):
    texture = drv.TextureObject(plane(3)[0])
    gc.collect()
    assert _driver._live_counts()["array"] == 1
    assert (read(module, texture) == 3).all()
    texture.free()
    with pytest.raises(drv.LogicError, match="released before"):
        texture.free()
    with pytest.raises(drv.LogicError, match="released before"):
        read(module, texture)
    del texture
    gc.collect()
    assert _driver._live_counts()["array"] == 0


def test_temporary_objects(module):
    """The release of an object waits for kernels that may use it."""
    out = [drv.mem_alloc(60) for _ in range(12)]
    kernel, stream = module.get_function("read1"), drv.Stream()
    for value, memory in enumerate(out):
        kernel(
            np.int8(0),
            drv.TextureObject(plane(value)[0]),
            memory,
            np.int32(5),
            block=(5, 3, 1),
            stream=stream,
        )
    stream.synchronize()
    for value, memory in enumerate(out):
        assert (drv.from_device(memory, 15, np.float32) == value).all()
    assert _driver._live_counts()["texture_object"] == 0


def test_life(module):
    array, _ = plane()
    texture = drv.TextureObject(array)
    texture.note = texture  # in a cycle
    array.note = texture
    del texture, array
    gc.collect()
    counts = _driver._live_counts()
    assert (counts["texture_object"], counts["array"]) == (0, 0)

    array, _ = plane(2)
    texture = drv.TextureObject(array)
    assert (read(module, texture) == 2).all()
    other, _ = plane(5)
    texture.__init__(other)  # the first object goes
    assert _driver._live_counts()["texture_object"] == 1
    assert (read(module, texture) == 5).all()

    class Derived(drv.TextureObject):
        pass

    assert (read(module, Derived(array)) == 2).all()
    blank = drv.TextureObject.__new__(drv.TextureObject)
    assert blank.source is None
    with pytest.raises(drv.LogicError, match="__init__"):
        read(module, blank)


def test_another_context_is_refused(module):
    theirs = drv.Device(0).make_context()
    texture = drv.TextureObject(plane()[0])
    theirs.pop()
    with pytest.raises(drv.LogicError, match="TextureObject belongs to another contex"):
        read(module, texture)
    texture.free()
    theirs.detach()
    assert (read(module, drv.TextureObject(plane()[0])) == plane()[1]).all()


def test_after_the_context():
    context = drv.Device(0).make_context()
    texture = drv.TextureObject(plane()[0])
    context.pop()
    texture.handle  # noqa: B018  still readable
    context.detach()
    texture.free()  # it went with the context


def test_a_capture_is_spoilt_by_making_and_by_ending_one(ctx):
    """The driver reports it, so that no program uses an incomplete graph."""
    raw, stream = Raw(), drv.Stream()
    array, surface = plane()[0], plane(flags=drv.array3d_flags.SURFACE_LDST)[0]
    made = drv.TextureObject(array), drv.SurfaceObject(surface)
    spoiling = [
        lambda: drv.TextureObject(array),
        lambda: drv.SurfaceObject(surface),
        made[0].free,
        made[1].free,
    ]
    for use in (*spoiling, drv.Event):
        handle, graph = ctypes.c_void_p(stream.handle), ctypes.c_void_p()
        raw.ok("StreamBeginCapture", handle, 0)
        if use is drv.Event:
            use()
        else:
            with pytest.raises(drv.Error) as caught:
                use()
            assert caught.value.name == "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
        code = raw.code("StreamEndCapture", handle, ctypes.byref(graph))
        assert code == (0 if use is drv.Event else CAPTURE_INVALIDATED)
    raw.ok("GraphDestroy", graph)


def test_not_an_address(module):
    texture = drv.TextureObject(plane()[0])
    with pytest.raises(TypeError):
        drv.memset_d32(texture, 0, 1)
    with pytest.raises(TypeError):
        drv.memcpy_htod(texture, b"1234")


def test_bad_arguments(ctx):
    array, data = plane()
    memory = drv.to_device(data)
    flat = descriptor_of(data[..., None])
    cases = [
        (TypeError, "together with a descriptor", {"source": memory}),
        (TypeError, "together with a descriptor", {"source": None}),
        (TypeError, "has its own descriptor", {"source": array, "descriptor": flat}),
        (TypeError, "descriptor must be", {"source": memory, "descriptor": 3}),
        (TypeError, "source must be", {"source": "x", "descriptor": flat}),
        (TypeError, "pitch", {"source": array, "pitch": 512}),
        (OverflowError, "pitch", {"source": memory, "descriptor": flat, "pitch": -1}),
        (TypeError, "address_mode", {"source": array, "address_mode": "WRAP"}),
        (ValueError, "has 4 items", {"source": array, "address_mode": (0, 1, 2, 3)}),
        (ValueError, "has 0 items", {"source": array, "address_mode": ()}),
        (drv.LogicError, "modes", {"source": array, "address_mode": 9}),
        (TypeError, "filter_mode", {"source": array, "filter_mode": 1.5}),
        (drv.LogicError, "filter mode 7", {"source": array, "filter_mode": 7}),
        (ValueError, "has 5 items", {"source": array, "border_color": (0,) * 5}),
        (TypeError, "number", {"source": array, "border_color": ("red",)}),
        (TypeError, "border_color", {"source": array, "border_color": 1}),
        (OverflowError, "anisotropy", {"source": array, "max_anisotropy": -1}),
        (TypeError, "unexpected", {"source": array, "colour": 1}),
        (TypeError, "source", {}),
    ]
    for error, words, how in cases:
        with pytest.raises(error, match=words):
            drv.TextureObject(**how)
    empty = drv.ArrayDescriptor()
    with pytest.raises(ValueError, match="no valid size"):
        drv.TextureObject(memory, empty)
    numbers = array_of(np.zeros((3, 5, 1), np.uint8))
    with pytest.raises(drv.LogicError, match="cannot be filtered"):
        drv.TextureObject(numbers, filter_mode=drv.filter_mode.LINEAR)
    drv.TextureObject(
        numbers, filter_mode=drv.filter_mode.LINEAR, read_as_float=True
    ).free()
    array.free()
    with pytest.raises(drv.LogicError, match="released"):
        drv.TextureObject(array)


# -- while a stream is captured --------------------------------------------------------


@pytest.mark.parametrize("flags", [0, 1], ids=["blocking", "non-blocking"])
def test_an_object_that_is_dropped_during_a_capture(module, flags):
    array, _ = plane(3)
    out = drv.mem_alloc(4 * 15)
    stream = drv.Stream(flags)
    texture = drv.TextureObject(array)
    again = drv.TextureObject(array)
    function = module.get_function("read1")
    with captured(stream, launches=0):
        for one in (texture, again):
            function(np.int8(0), one, out, np.int32(5), block=(5, 3, 1))
        with pytest.raises(drv.LogicError, match="captured"):
            texture.free()
        del one, texture  # nothing waits: the capture goes on
        again.__init__(array)
        assert _driver._live_counts()["texture_object"] == 3
    drv.TextureObject(array)
    assert _driver._live_counts()["texture_object"] == 1
    assert (read(module, again) == 3).all()


def test_that_waiting_would_end_a_capture(module):
    """The test detects a wait, which the release of an object must not make."""
    stream = drv.Stream()
    with pytest.raises((drv.Error, DriverError)), captured(stream, launches=0):
        drv.Context.synchronize()
