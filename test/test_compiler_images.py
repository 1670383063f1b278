"""compile() without a target: its image loads on the current device."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, _nvrtc, compiler
from support.compilers import REAL_NVCC

pytestmark = pytest.mark.gpu

SOURCE = "__global__ void twice(int *a) { a[threadIdx.x] *= 2; }"

COMPILERS = [
    pytest.param("nvcc", marks=pytest.mark.skipif(REAL_NVCC is None, reason="no nvcc")),
    pytest.param(
        "nvrtc", marks=pytest.mark.skipif(_nvrtc.find() is None, reason="no NVRTC")
    ),
]


def doubles(module):
    numbers = np.arange(8, dtype=np.int32)
    module.get_function("twice")(drv.InOut(numbers), block=(8, 1, 1))
    return (numbers == 2 * np.arange(8)).all()


@pytest.mark.parametrize("way", COMPILERS)
def test_image_of_no_target_loads(ctx, way, tmp_path):
    image = compiler.compile(SOURCE, compiler=way)
    assert doubles(drv.module_from_buffer(image))
    path = tmp_path / "image"
    path.write_bytes(image)
    assert doubles(drv.module_from_file(str(path)))
    # On a GPU it is machine code, as in PyCUDA.
    assert (image[:4] == b"\x7fELF") is not _driver._is_emulated()


@pytest.mark.parametrize("way", COMPILERS)
def test_a_target_that_is_asked_for_is_made(ctx, way):
    image = compiler.compile(SOURCE, compiler=way, target="cubin")
    assert image[:4] == b"\x7fELF"
    if _driver._is_emulated():
        with pytest.raises(drv.RuntimeError, match="no kernel image|PTX"):
            drv.module_from_buffer(image)
    else:
        assert doubles(drv.module_from_buffer(image))
