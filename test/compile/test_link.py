"""Linking of device code: pieces, libraries, several architectures, and its cache."""

import os
import subprocess

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import compiler
from pycuda._compile import architecture, inputs, nvrtc
from pycuda.compiler import SourceModule
from pycuda.driver import CompileError, CompilerNotFoundError
from support.compilers import REAL_NVCC, make_counting, make_toy, needs_nvcc

pytestmark = pytest.mark.usefixtures("cache")

CALLER = """
extern __device__ float twice(float x);
__global__ void k(float *a) { a[threadIdx.x] = twice(a[threadIdx.x]); }
"""
CALLEE = "__device__ float twice(float x) { return 2 * x; }\n"
RDC = ["-rdc=true"]
EM_CUDA = 190
CURRENT_DEVICE = architecture.current_device
FATBIN = b"\x50\xed\x55\xba"


@pytest.fixture
def loaded(monkeypatch):
    """The images that SourceModule hands to the driver."""
    images = []

    class Module:
        get_function = get_global = get_texref = get_surfref = None

        def __init__(self, image, message_handler=None):
            images.append(image)

    monkeypatch.setattr("pycuda.driver.module_from_buffer", Module)
    return images


def piece(source, arch="sm_80", **how):
    return compiler.compile(source, options=RDC, arch=arch, **how)


def elf_type(image):
    """Return 2 if the image can be loaded, 1 if it must be linked."""
    assert image[:4] == b"\x7fELF"
    assert int.from_bytes(image[18:20], "little") == EM_CUDA
    return int.from_bytes(image[16:18], "little")


def test_libraries_of_the_variable_are_watched(tmp_path, monkeypatch):
    """nvcc searches these after the libraries of the options."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two/libx.a").touch()
    options = [f"-L{tmp_path / 'one'}", "-lx"]
    assert inputs.libraries(options) == []
    monkeypatch.setenv("LIBRARY_PATH", f"/nowhere:{tmp_path / 'two'}")
    assert inputs.libraries(options) == [str(tmp_path / "two/libx.a")]
    (tmp_path / "one/libx.a").touch()
    assert inputs.libraries(options) == [str(tmp_path / "one/libx.a")]


def archive(folder, name, source, arch="sm_80"):
    """Make a static library of relocatable device code."""
    (folder / f"{name}.cu").write_text(f'extern "C" {{\n{source}}}\n')
    library = folder / f"lib{name}.a"
    command = [REAL_NVCC, "-lib", *RDC, f"-arch={arch}", "-o", library]
    subprocess.run([*command, folder / f"{name}.cu"], check=True, cwd=folder)
    return library


# Pieces


@needs_nvcc
@pytest.mark.parametrize("target", ["cubin", "ptx", "fatbin"])
def test_pieces_of_each_kind(target):
    pieces = [piece(source, target=target) for source in (CALLER, CALLEE)]
    linked = compiler.link(pieces, arch="sm_80")
    assert elf_type(linked) == 2
    assert b"twice" in linked


@needs_nvcc
def test_pieces_from_files(tmp_path):
    (tmp_path / "odd.name").write_bytes(piece(CALLER))
    library = archive(tmp_path, "two", CALLEE)
    linked = compiler.link([tmp_path / "odd.name", str(library)], arch="sm_80")
    assert elf_type(linked) == 2


@needs_nvcc
def test_what_is_missing_is_the_linkers_error():
    with pytest.raises(CompileError) as caught:
        compiler.link([piece(CALLER)], arch="sm_80")
    error = caught.value
    assert "nvcc linking failed" in error.msg
    assert "twice" in error.stderr
    assert "-dlink" in error.command_line


@pytest.mark.parametrize(
    ("pieces", "error"),
    [
        ([], ValueError),
        ([b""], ValueError),
        ([b"no code"], ValueError),
        ([3], TypeError),
        (["/nowhere/piece.o"], FileNotFoundError),
    ],
)
def test_pieces_that_are_none(pieces, error, tmp_path):
    with pytest.raises(error):
        compiler.link(pieces, nvcc=make_toy(tmp_path).path)


def test_targets_of_linking(tmp_path):
    with pytest.raises(ValueError, match="ptx"):
        compiler.link([b".version"], target="ptx")


def test_linking_needs_nvcc(monkeypatch):
    with pytest.raises(CompilerNotFoundError):
        compiler.link([b".version 8.0"], nvcc="/nowhere/nvcc")


@needs_nvcc
def test_linking_is_cached(tmp_path):
    counted = make_counting(tmp_path)
    pieces = [piece(source) for source in (CALLER, CALLEE)]
    first = compiler.link(pieces, nvcc=counted.path, arch="sm_80")
    runs = len(counted.calls)
    assert compiler.link(pieces, nvcc=counted.path, arch="sm_80") == first
    assert len(counted.calls) == runs
    compiler.link(pieces[::-1], nvcc=counted.path, arch="sm_80")
    assert len(counted.calls) == runs + 1
    other = piece(CALLEE.replace("2 *", "3 *"))
    assert compiler.link([pieces[0], other], nvcc=counted.path, arch="sm_80") != first
    compiler.link(pieces, nvcc=counted.path, arch="sm_80", cache_dir=False)
    assert len(counted.calls) == runs + 3


@needs_nvcc
def test_library_that_changed_is_linked_anew(tmp_path):
    counted = make_counting(tmp_path)
    archive(tmp_path, "two", CALLEE)
    caller = piece(CALLER)

    def link():
        return compiler.link(
            [caller],
            nvcc=counted.path,
            arch="sm_80",
            options=[f"-L{tmp_path}", "-ltwo", "-lcudadevrt"],
        )

    def make_old(library):
        os.utime(library, (1, 1))

    make_old(tmp_path / "libtwo.a")
    first = link()
    runs = len(counted.calls)
    assert link() == first
    assert len(counted.calls) == runs
    archive(tmp_path, "two", CALLEE.replace("2 *", "3 *"))
    assert link() != first
    assert len(counted.calls) == runs + 1


# Modules in pieces


@needs_nvcc
def test_source_module_links_what_it_leaves_open(tmp_path, on_device, loaded):
    archive(tmp_path, "two", CALLEE)
    on_device(8, 0)
    options = [*RDC, f"-L{tmp_path}", "-ltwo"]
    SourceModule(CALLER, options=options)
    SourceModule("__global__ void k() {}", options=RDC)
    assert [elf_type(image) for image in loaded] == [2, 2]


@needs_nvcc
def test_compile_leaves_pieces_as_they_are(on_device):
    on_device(8, 0)
    assert elf_type(compiler.compile(CALLER, options=RDC)) == 1


def test_software_device_is_not_linked_for(tmp_path, on_device, loaded):
    toy = make_toy(tmp_path)
    on_device(7, 5, software=True)
    SourceModule("text", nvcc=toy.path, options=[*RDC, "-lcudadevrt"])
    assert toy.compilations[0][0] == "--ptx"
    assert "-dlink" not in toy.compilations[0]


@pytest.mark.skipif(nvrtc.find() is None, reason="needs NVRTC, which is not installed")
def test_nvrtc_makes_one_piece_of_one_source(on_device, loaded):
    on_device(8, 0)
    SourceModule("__global__ void k() {}", options=RDC, compiler="nvrtc")
    assert elf_type(loaded[0]) == 2
    with pytest.raises(CompileError, match="DynamicSourceModule"):
        SourceModule(
            "__global__ void k() {}",
            options=[*RDC, "-lcudadevrt"],
            compiler="nvrtc",
        )


# Several architectures


@needs_nvcc
def test_fatbin_for_several_architectures():
    archs = ["sm_80", "sm_90", "compute_90"]
    image = compiler.compile(CALLEE, target="fatbin", arch=archs)
    assert image[:4] == FATBIN
    pieces = [
        compiler.compile(source, target="fatbin", arch=archs[:2], options=RDC)
        for source in (CALLER, CALLEE)
    ]
    assert compiler.link(pieces, target="fatbin", arch=archs[:2])[:4] == FATBIN


def options_of(toy):
    return [o for o in toy.compilations[-1] if o.startswith(("--", "-gen", "-arch"))]


def test_several_architectures_in_options(tmp_path, on_device, loaded):
    toy = make_toy(tmp_path)
    archs = ["sm_80", "compute_90"]
    gencode = [
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90,code=compute_90",
    ]
    compiler.compile("text", nvcc=toy.path, target="fatbin", arch=archs)
    assert options_of(toy) == ["--fatbin", *gencode]
    on_device(9, 0)
    SourceModule("text", nvcc=toy.path, arch=archs)
    assert options_of(toy) == ["--fatbin", *gencode]


@pytest.mark.parametrize(
    ("archs", "best"),
    [
        (["sm_80", "sm_70", "sm_75"], "sm_75"),
        (["compute_60", "sm_90a"], "compute_60"),
        (["sm_90", "sm_80"], "sm_80"),
    ],
)
def test_software_device_takes_the_best_of_several(
    archs, best, tmp_path, on_device, loaded
):
    toy = make_toy(tmp_path)
    on_device(7, 5, software=True)
    SourceModule("text", nvcc=toy.path, arch=archs)
    assert options_of(toy) == ["--ptx", f"-arch={best}"]


def test_several_architectures_need_a_fatbin(tmp_path):
    toy = make_toy(tmp_path)
    for target in ("cubin", "ptx"):
        with pytest.raises(ValueError, match="fatbin"):
            compiler.compile("a", nvcc=toy.path, target=target, arch=["sm_80", "sm_90"])
    with pytest.raises(ValueError, match="'80'"):
        compiler.compile("a", nvcc=toy.path, target="fatbin", arch=["sm_80", "80"])
    assert toy.compilations == []


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.hardware(why="the software device runs PTX, and this is machine code")
def test_linked_code_runs(ctx, monkeypatch):
    monkeypatch.setattr(architecture, "current_device", CURRENT_DEVICE)

    def run(module):
        a = np.arange(4, dtype=np.float32)
        module.get_function("k")(drv.InOut(a), block=(4, 1, 1))
        return a.tolist()

    pieces = [compiler.compile(source, options=RDC) for source in (CALLER, CALLEE)]
    assert run(drv.module_from_buffer(compiler.link(pieces))) == [0, 2, 4, 6]
    whole = CALLEE + CALLER.replace("extern ", "")
    assert run(SourceModule(whole, options=RDC)) == [0, 2, 4, 6]
    major, minor = ctx.get_device().compute_capability()
    archs = [f"sm_{major}{minor}", f"compute_{major}{minor}"]
    assert run(SourceModule(whole, arch=archs)) == [0, 2, 4, 6]


# Which files


def test_libraries_named_by_options(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("liba.a", "libb.a", "lib/liba.a", "extra.o"):
        (tmp_path / name).write_text("")
    options = ["-lineinfo", f"-L{tmp_path}/lib", "-L", str(tmp_path), "-la", "-l", "b"]
    options += ["-lcudadevrt", str(tmp_path / "extra.o"), "-DX"]
    found = inputs.libraries(options)
    assert [os.path.relpath(path, tmp_path) for path in found] == [
        "lib/liba.a",
        "libb.a",
        "extra.o",
    ]
    long = [f"--library-path={tmp_path}/lib,{tmp_path}", "--library=a,b"]
    assert len(inputs.libraries(long)) == 2
