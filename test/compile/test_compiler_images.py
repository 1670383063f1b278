"""compile() without a target: its image loads on the current device."""

import os
import struct
import time

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, compiler
from support.compilers import COMPILERS

pytestmark = pytest.mark.gpu

SOURCE = "__global__ void twice(int *a) { a[threadIdx.x] *= 2; }"


def doubles(module):
    numbers = np.arange(8, dtype=np.int32)
    module.get_function("twice")(drv.InOut(numbers), block=(8, 1, 1))
    return (numbers == 2 * np.arange(8)).all()


def fat_binary(length, ptx):
    """Return a fat binary with PTX of the oldest architecture, with this length."""
    entry = bytes([1, 0, 1, 1]) + struct.pack("<IQIQI32x", 64, len(ptx), 0, 0, 75) + ptx
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, length or len(entry)) + entry


def test_a_fat_binary_that_is_cut_off(ctx):
    """The driver uses the length in the header, so the package checks it before."""
    ptx = b".version 6.5\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }"
    ptx += bytes(8 - len(ptx) % 8)
    whole = fat_binary(None, ptx)
    if not _driver._is_emulated():
        whole = compiler.compile('extern "C" __global__ void k() { }', target="fatbin")
    assert drv.module_from_buffer(whole).get_function("k")
    assert drv.module_from_buffer(bytearray(whole)).get_function("k")
    wrong = [whole[:4], whole[:15], whole[:16], whole[:100], whole[:-1]]
    for data in [*wrong, fat_binary(1 << 40, ptx), fat_binary((1 << 64) - 1, ptx)]:
        for kind in bytes, bytearray:
            with pytest.raises(drv.Error, match="is a truncated fat binary") as caught:
                drv.module_from_buffer(kind(data))
            assert caught.value.name == "CUDA_ERROR_INVALID_IMAGE"
    with pytest.raises(drv.Error, match="data .* bytes. is a truncated fat binary"):
        drv.Linker().add_data(whole[:100], drv.jit_input_type.FATBINARY)


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


def test_each_module_has_its_own_variables(ctx, tmp_path):
    source = """
        __device__ int count;
        __global__ void add(int *a) { *a = ++count; }
    """
    found = []
    modules = [compiler.SourceModule(source, cache_dir=tmp_path) for _ in range(3)]
    for module in [*modules, modules[0]]:
        value = np.zeros(1, np.int32)
        module.get_function("add")(drv.Out(value), block=(1, 1, 1))
        found.append(int(value[0]))
    assert found == [1, 1, 1, 2]


def test_a_changed_header_counts(ctx, tmp_path):
    header = tmp_path / "value.h"
    source = '#include "value.h"\n__global__ void f(int *a) { *a = VALUE; }'
    found = []
    for value in (3, 3, 4, 4):
        text = f"#define VALUE {value}\n"
        if not header.exists() or header.read_text() != text:
            header.write_text(text)
            then = time.time() - 60 + value
            os.utime(header, (then, then))
        module = compiler.SourceModule(
            source, include_dirs=[tmp_path], cache_dir=tmp_path
        )
        result = np.zeros(1, np.int32)
        module.get_function("f")(drv.Out(result), block=(1, 1, 1))
        found.append(int(result[0]))
    assert found == [3, 3, 4, 4]
