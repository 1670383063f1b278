"""A kernel that reads another type than its texture gives is reported."""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

PROGRAM = """
import warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

f = SourceModule('''
__global__ void f(float *out, cudaTextureObject_t image)
{
    out[threadIdx.x] = (float)tex2D<TYPE>(image, threadIdx.x + 0.5f, 0.5f);
}''').get_function("f")
values = np.arange(16, dtype=np.DTYPE).reshape(1, 16)
image = drv.TextureObject(drv.np_to_array(values, order="C")MORE)
out = gpuarray.zeros(16, np.float32)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        for _ in range(2):
            f(out, image, block=(16, 1, 1))
        drv.Context.synchronize()
        print(out.get()[:3].tolist())
    except drv.Error as error:
        print(error.name, " ".join(str(error).split()))
for each in caught:
    print(" ".join(str(each.message).split()))
"""

AS_FLOAT = ", read_as_float=True"


def said(dtype, kind, more="", **environment):
    program = PROGRAM.replace("DTYPE", dtype).replace("TYPE", kind)
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    done = run_child(program.replace("MORE", more), **environment)
    return done.stdout.splitlines()


#: The elements, the type that the kernel reads, what the report says.
WRONG = [
    ("float32", "int", "", "1 x float32 and it gives floats, but the kernel reads int"),
    ("int32", "float", "", "1 x int32 and it gives integers, but the kernel reads flo"),
    ("uint8", "float", "", "1 x uint8 and it gives integers"),
    ("uint8", "unsigned char", AS_FLOAT, "(tex.2d.v4.u32), that is, their bits"),
    ("int16", "short", AS_FLOAT, "(tex.2d.v4.s32), that is, their bits"),
]


@pytest.mark.parametrize("dtype, kind, more, words", WRONG)
def test_another_type(dtype, kind, more, words):
    _, text = said(dtype, kind, more)
    title = "a kernel reads another type than the texture gives (PYCUDA_CHECK=memory"
    assert text.startswith(title) and words in text
    assert "in kernel f, block (0, 0, 0), thread (0, 0, 0)" in text
    assert ("TRSF_READ_AS_INTEGER" in text) == (more == AS_FLOAT)


def test_with_a_check_it_is_an_error():
    (text,) = said("float32", "int", PYCUDA_CHECK="memory")
    assert text.startswith("CUDA_ERROR_LAUNCH_FAILED")
    assert "1 x float32 and it gives floats" in text
    assert said("float32", "float", PYCUDA_CHECK="memory") == ["[0.0, 1.0, 2.0]"]


RIGHT = [
    ("float32", "float", ""),
    ("int32", "int", ""),
    ("int32", "unsigned", ""),
    ("uint8", "unsigned char", ""),
    ("int16", "short", ""),
    ("uint8", "float", AS_FLOAT),
]


@pytest.mark.parametrize("dtype, kind, more", RIGHT)
def test_the_type_that_the_texture_gives(dtype, kind, more):
    (values,) = said(dtype, kind, more)
    assert more or values == "[0.0, 1.0, 2.0]"
