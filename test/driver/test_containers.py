"""Modules and links from fat binaries, object files and libraries of nvcc."""

import subprocess

import numpy as np
import pytest

import pycuda.driver as drv
from support import containers
from support.cc import ROOT
from support.compilers import REAL_NVCC, needs_nvcc

pytestmark = pytest.mark.gpu

DATA = ROOT / "test" / "data" / "containers"
INPUT = drv.jit_input_type

KERNEL = """.version 6.0
.target sm_50
.address_size 64
.visible .entry capability(.param .u64 out)
{
    .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], VALUE;
    ret;
}
"""


def text(value):
    return KERNEL.replace("VALUE", str(value)).encode() + b"\0"


def answer(module, kernel="capability"):
    out = np.zeros(1, np.int32)
    module.get_function(kernel)(drv.Out(out), block=(1, 1, 1))
    return int(out[0])


def best(*offers):
    """Return the highest capability of these that the device has."""
    major, minor = drv.Context.get_device().compute_capability()
    return max(value for value in offers if value <= 10 * major + minor)


@pytest.mark.parametrize("method", ["zstd", "lz4"])
def test_compressed_texts_of_nvcc(ctx, method):
    """The file has PTX for 7.5, 8.0 and 9.0a, and machine code for 8.0."""
    module = drv.module_from_buffer((DATA / f"{method}.fatbin").read_bytes())
    offers = [75, 80]
    if drv.Context.get_device().compute_capability() == (9, 0):
        offers.append(90)
    assert answer(module) == 10 * best(*offers)


def test_the_highest_capability_is_chosen(ctx):
    image = containers.fatbin(
        *(containers.entry(text(n), n) for n in (60, 75, 70, 500))
    )
    assert answer(drv.module_from_buffer(image)) == best(60, 70, 75)


@pytest.mark.parametrize("numbers", [(1, 2), (2, 1), (3, 1, 2), (5, 4, 4, 5)])
def test_one_of_equal_entries_is_chosen(ctx, numbers):
    """The last one for the device's own capability, else the first (H200, 13.0)."""
    major, minor = drv.Context.get_device().compute_capability()
    own, older = 10 * major + minor, 70
    chosen = {}
    for capability in (own, older):
        entries = (containers.entry(text(n), capability) for n in numbers)
        module = drv.module_from_buffer(containers.fatbin(*entries))
        chosen[capability] = answer(module)
    assert chosen == {own: numbers[-1], older: numbers[0]}


@needs_nvcc
def test_objects_and_libraries_of_nvcc_are_linked(ctx, tmp_path):
    """An object refers to a library, of which one member is not needed."""
    sources = {
        "main": "extern __device__ int helper(int);\n"
        'extern "C" __global__ void k(int *p) { *p = helper(20); }',
        "helper": "extern __device__ int twice(int);\n"
        "__device__ int helper(int x) { return twice(x) + 1; }",
        "twice": "__device__ int twice(int x) { return 2 * x; }",
        "other": "extern __device__ int missing();\n"
        "__device__ int other() { return missing(); }",
    }
    options = ["-rdc=true", "-gencode", "arch=compute_75,code=compute_75"]

    def nvcc(*words):
        subprocess.run([REAL_NVCC, *words], cwd=tmp_path, check=True)

    for name, source in sources.items():
        (tmp_path / f"{name}.cu").write_text(source)
    nvcc("-c", *options, *(f"{name}.cu" for name in sources))
    nvcc("-lib", "helper.o", "other.o", "twice.o", "-o", "parts.a")
    linker = drv.Linker()
    linker.add_file(tmp_path / "main.o", INPUT.OBJECT)
    linker.add_file(tmp_path / "parts.a", INPUT.LIBRARY)
    assert answer(linker.link_module(), "k") == 41
    linker = drv.Linker()
    for name in ("main", "helper", "twice"):
        linker.add_data((tmp_path / f"{name}.o").read_bytes(), INPUT.OBJECT, name)
    assert answer(linker.link_module(), "k") == 41


def test_a_limit_of_registers_is_kept_by_the_link(ctx):
    """64 values live at the same time need more than 32 registers."""
    lines = [f"ld.volatile.global.u32 %r{n}, [%rd2+{4 * n}];" for n in range(64)]
    lines += [f"st.volatile.global.u32 [%rd2+{4 * n}], %r{n};" for n in range(64)]
    body = ".reg .u32 %r<64>;\n" + "\n".join(lines)
    wide = KERNEL.replace("st.global.u32 [%rd2], VALUE;", body).encode()

    def registers(*options):
        linker = drv.Linker(None, options)
        linker.add_data(wide, INPUT.PTX, "wide")
        return linker.link_module().get_function("capability").num_regs

    option = drv.jit_option
    assert registers() > 40
    assert 16 <= registers((option.MAX_REGISTERS, 32)) <= 32
    assert registers((option.THREADS_PER_BLOCK, 1024)) <= 64
