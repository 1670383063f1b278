"""Each driver call around arrays and textures fails once.

Each time, the result is right or the package raises its own error, nothing is left
behind, and the operation works the next time.
"""

import ctypes
import gc

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import compile as compile_source
from support.compilers import needs_nvcc
from support.emulator import LIBRARY

pytestmark = [
    pytest.mark.gpu,
    needs_nvcc,
    pytest.mark.software(why="faults on request are the software device's"),
]

UNKNOWN = 999
SOURCE = """
texture<float, 2> image;
texture<int> line;
surface<void, 2> canvas;
__global__ void copy(float *out)
{
    out[threadIdx.x] = tex2D(image, threadIdx.x, 0);
}
__global__ void paint(float *out)
{
    out[threadIdx.x] = surf2Dread<float>(canvas, threadIdx.x * 4, 0);
}
__global__ void read(cudaTextureObject_t image, float *out)
{
    out[threadIdx.x] = tex2D<float>(image, threadIdx.x, 0);
}
"""
DATA = np.arange(8, dtype=np.float32).reshape(1, 8)


class Stage:
    """The objects that operations need, made before any failure."""

    def __init__(self, image):
        self.module = drv.module_from_buffer(image)
        self.image = self.module.get_texref("image")
        self.line = self.module.get_texref("line")
        self.canvas = self.module.get_surfref("canvas")
        self.descriptor = drv.ArrayDescriptor3D()
        self.descriptor.width, self.descriptor.height = 8, 1
        self.descriptor.format, self.descriptor.num_channels = 32, 1
        self.descriptor.flags = drv.array3d_flags.SURFACE_LDST
        self.array = drv.Array(self.descriptor)
        self.array.set(DATA)
        self.memory = drv.to_device(DATA)
        self.out = drv.to_device(np.zeros(8, np.float32))
        self.streams = [drv.Stream(), drv.Stream()]
        self.fresh = drv.module_from_buffer(image)

    def run(self, name, *arguments, stream=None):
        self.module.get_function(name)(*arguments, block=(8, 1, 1), stream=stream)

    def result(self):
        return drv.from_device(self.out, (1, 8), np.float32)

    def launch(self):
        self.image.set_array(self.array)
        self.run("copy", self.out)
        return self.result()

    def rebind(self):
        """Change the binding between launches in several streams."""
        other = drv.matrix_to_array(-DATA, "C")
        results = []
        for number, array in enumerate([self.array, other, self.array, other]):
            if number < 3:
                self.image.set_array(array)
            stream = self.streams[number % 2]
            self.run("copy", self.out, stream=stream)
            stream.synchronize()
            results.append(self.result() * (-1) ** number)
        return [*results[:3], -results[3]]

    def surface(self):
        self.canvas.set_array(self.array)
        self.run("paint", self.out)
        return self.result()

    def texture_object(self):
        self.run("read", drv.TextureObject(self.array), self.out)
        return self.result()

    def surface_object(self):
        surface = drv.SurfaceObject(self.array)
        surface.free()

    def make_array(self):
        array = drv.Array(self.descriptor)
        array.set(DATA)
        assert array.get_descriptor().width == 8
        array.free()

    def helpers(self):
        return [
            drv.matrix_to_array(DATA, "C").get(),
            drv.np_to_array(DATA, "C", allowSurfaceBind=True).get()[0],
        ]

    def get_references(self):
        assert self.fresh.get_texref("image").get_format()[1] == 1
        self.fresh.get_surfref("canvas")

    def addresses(self):
        assert self.line.set_address(self.memory, 32) == 0
        flat = drv.ArrayDescriptor()
        flat.width, flat.height, flat.format, flat.num_channels = 8, 1, 32, 1
        self.image.set_address_2d(self.memory, flat, 512)
        self.run("copy", self.out)
        return self.result()


OPERATIONS = [
    name
    for name in vars(Stage)
    if not name.startswith("_") and name not in ("run", "result")
]


@pytest.fixture(scope="module")
def image():
    drv.init()
    context = drv.Device(0).make_context()
    try:
        return compile_source(SOURCE, target="ptx")
    finally:
        context.pop()
        context.detach()


def check(name, result):
    for values in result if isinstance(result, list) else [result]:
        assert values is None or np.array_equal(values, DATA), name


@pytest.mark.filterwarnings("ignore::pycuda.driver.PyCUDAWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_sweep(ctx, image, name):
    device = ctypes.CDLL(LIBRARY)
    device.emu_fault_set.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int]
    device.emu_fault_fired.restype = ctypes.c_ulonglong
    failed = 0
    for number in range(1, 500):
        stage = Stage(image)
        gc.collect()
        before = _driver._live_counts()
        fired = device.emu_fault_fired()
        assert device.emu_fault_set(b"*", number, UNKNOWN) == 0
        try:
            result = getattr(stage, name)()
        except drv.Error as error:
            assert "failed" in str(error)  # noqa: PT017  only some of them raise
            failed += 1
        else:
            check(name, result)
        finally:
            device.emu_fault_clear()
        assert drv.Context.get_current() == ctx
        check(name, getattr(stage, name)())
        if device.emu_fault_fired() == fired:
            break
        check(name, stage.launch())
        stage.run("copy", stage.out)  # also releases what the previous launch replaced
        result = None
        gc.collect()
        more = {
            kind: count - before[kind]
            for kind, count in _driver._live_counts().items()
            if count != before[kind]
        }
        most = {"texture_object": 2, "surface_object": 1, "event": 1}
        assert all(0 < more[kind] <= most.get(kind, 0) for kind in more), more
    else:
        pytest.fail("the faults never ended")
    print(f"  {name}: {number - 1} calls, {failed} errors")
    assert failed
