"""The line of the CUDA source in the errors of plain runs on the software device."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda.driver as drv
from pycuda import _fault_line
from pycuda._compile import build
from pycuda.compiler import SourceModule, compile as compile_source
from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = pytest.mark.software(why="a GPU does not name a line")

SOURCE = """
__device__ float next(const float *x, int i)
{
    return x[i + (1 << 20)];  // NEXT
}
__global__ void twice(float *x)
{
    int i = threadIdx.x;
    if (i < 3) x[i] = 2;
    x[i] = next(x, i);
}
__global__ void far(float *x)
{
    x[1 << 20] = 1;  // FAR
}
"""
#: The same names and another line.
OTHER = """
__global__ void far(float *x)
{

    x[1 << 20] = 2;
}
"""
ONE = {"block": (1, 1, 1)}


def line_of(mark):
    rows = SOURCE.split("\n")
    return 1 + next(n for n, row in enumerate(rows) if row.endswith(f"// {mark}"))


def place_of(source, number):
    """Return a pattern for a line of a source: its number, and where it is here."""
    row = source.split("\n")[number - 1]
    here = Path(__file__).read_text().split("\n").index(row) + 1
    return rf"\n  at kernel\.cu:{number} \(\S*test_fault_line\.py:{here}\)\n"


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    monkeypatch.delenv("PYCUDA_CHECK", raising=False)


def error_of(kernel, block=(4, 1, 1)):
    """Return the text of the error of a launch over 4 numbers."""
    memory = drv.mem_alloc(16)
    kernel(memory, block=block)
    with pytest.raises(drv.LogicError) as caught:
        drv.Context.synchronize()
    return str(caught.value)


@pytest.fixture
def context():
    context = drv.Device(0).make_context()
    yield context
    context.pop()
    context.detach()


@needs_nvcc
@pytest.mark.parametrize(("name", "mark"), [("twice", "NEXT"), ("far", "FAR")])
def test_an_error_names_the_line(context, name, mark):
    text = error_of(SourceModule(SOURCE).get_function(name))
    number = line_of(mark)
    row = SOURCE.split("\n")[number - 1].strip()
    assert re.search(place_of(SOURCE, number) + f"      {re.escape(row)}\n", text)


def test_an_error_names_the_line_with_nvrtc(context, monkeypatch):
    monkeypatch.setenv("PYCUDA_COMPILER", "nvrtc")
    text = error_of(SourceModule(SOURCE).get_function("twice"))
    assert re.search(place_of(SOURCE, line_of("NEXT")), text)


@needs_nvcc
@pytest.mark.parametrize("last", [SOURCE, OTHER])
def test_modules_with_the_same_names(context, last):
    """The other module is compiled later, and is not the one at fault."""
    first = OTHER if last is SOURCE else SOURCE
    kernel = SourceModule(first).get_function("far")
    SourceModule(last)
    text = error_of(kernel)
    wanted = line_of("FAR") if first is SOURCE else 5
    assert re.search(place_of(first, wanted), text)


@needs_nvcc
def test_a_source_with_lines(context):
    text = error_of(SourceModule(SOURCE, options=["-lineinfo"]).get_function("far"))
    assert text.count("kernel.cu:") == 1 and "// FAR" not in text


@needs_nvcc
def test_a_module_without_a_source(context):
    image = compile_source(SOURCE, target="ptx")
    build.of_software_device.clear()  # as if another program had compiled it
    text = error_of(drv.module_from_buffer(image).get_function("far"))
    assert "in kernel far," in text and "kernel.cu" not in text


PROGRAM = f'''
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
module = SourceModule("""{SOURCE}""")
module.get_function("far")(drv.mem_alloc(16), block=(1, 1, 1))
drv.Context.synchronize()
'''


@needs_nvcc
def test_a_line_of_a_string_in_the_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    number = 4 + line_of("FAR")
    assert f"kernel.cu:{line_of('FAR')} (program.py:{number})\n" in done.stderr


@needs_nvcc
def test_nothing_is_compiled_before_a_fault():
    done = run_child(
        f"""
import sys
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
from pycuda._compile import build
SourceModule({SOURCE!r}).get_function("far")
print("pycuda._fault_line" in sys.modules, len(build.of_software_device))
"""
    )
    assert done.stdout.split() == ["False", "1"], done.stderr


def test_a_compiler_that_fails_leaves_the_report(monkeypatch):
    report = "CUDA_ERROR\n  bad\n  in kernel f, block (0, 0, 0), thread (0, 0, 0)\n"

    def fail(*_arguments):
        raise OSError("no compiler")

    monkeypatch.setattr(_fault_line, "_candidates", fail)
    assert _fault_line.complete(report, 10, 3, 0) == report


PLAIN = """.version 8.0
.visible .entry f(
)
{
\tadd.s32 %r1, %r2, 1;
\tst.global.f32 [%rd1], %f1;
}
"""
LINED = PLAIN.replace("\tadd", "\t.loc\t1 4 2\n\tadd").replace(
    "\tst",
    "\t.loc\t1 7 2\n\t.loc\t2 90 1, function_name $L, inlined_at 1 7 2\n\tst",
)


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("/usr/local/cuda/include/cuda_fp16.hpp", ("a.cu", 7)),
        ("/home/me/mine.cuh", ("/home/me/mine.cuh", 90)),
    ],
)
def test_lines_of_headers(file, place):
    """A line of a header of the toolkit is that of the call, as with -lineinfo."""
    places = _fault_line._Places(PLAIN, f'.file 1 "a.cu"\n{LINED}\n.file 2 "{file}"\n')
    rows = [*PLAIN.split("\n")].index("\tst.global.f32 [%rd1], %f1;") + 1
    assert places.of(rows) == place
    assert places.of(rows - 1) == ("a.cu", 4)
    other = _fault_line._Places(PLAIN.replace("add", "sub"), LINED)
    assert other.of(rows) is None
