"""pycuda.notebook in a kernel of Jupyter: cells of CUDA C, and what they show."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("jupyter_client", reason="it is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

import pycuda.compiler  # noqa: E402
from pycuda._compile import nvcc, nvrtc  # noqa: E402
from pycuda.notebook import _session  # noqa: E402
from support.compilers import REAL_NVCC  # noqa: E402
from support.jupyter import Notebook  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(
        nvrtc.find() is None and REAL_NVCC is None, reason="needs NVRTC or nvcc"
    ),
]

BEGIN = """%load_ext pycuda.notebook
import os
import numpy as np
import pycuda
import pycuda.driver as drv
from pycuda import gpuarray
"""

SCALE = """%%cuda
__global__ void scale(float *out, const float *x, float by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = by * x[i];
}
"""


def start(folder):
    notebook = Notebook(env={**os.environ, "PYCUDA_CACHE_DIR": str(folder)})
    notebook(BEGIN)
    return notebook


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The compile cache of all kernels here."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def shared(folder):
    notebook = start(folder)
    yield notebook
    notebook.end()


@pytest.fixture
def run(shared):
    """Execute a cell in a kernel whose context stays good."""
    return shared


@pytest.fixture
def own(folder):
    """Execute a cell in a kernel of this test alone, which may lose its context."""
    notebook = start(folder)
    yield notebook
    notebook.end()


# -- kernels as functions --------------------------------------------------------------


def test_a_kernel_is_a_function(run):
    reply = run(SCALE)
    assert (reply.stdout, reply.stderr, reply.data) == ("", "", [])
    run("x = np.arange(1000, dtype=np.float32); out = np.zeros_like(x)")
    run("scale(out, x, 2.5, 1000); assert (out == 2.5 * x).all()")
    run("scale(out, n=999, x=x, by=1); assert (out[:999] == x[:999]).all()")
    run("assert out[999] == 2.5 * 999")
    assert (
        "scale(out: float *, x: const float *, by: float, n: int)" in run("scale").text
    )


def test_arrays_of_the_device_stay_there(run):
    run(SCALE)
    run("a = gpuarray.to_gpu(np.ones(300, np.float32)); b = gpuarray.zeros_like(a)")
    assert run("scale(b, a, 3, a.size); b.get().sum()").text.endswith("900.0)")


def test_only_what_a_kernel_may_write_is_copied_back(run):
    run(
        "%%cuda\n__global__ void both(int *a, const int *b, int *const c)\n"
        "{ int *d = (int *)b; a[0] = 1; d[0] = 1; c[0] = 1; }"
    )
    run("a, b, c = np.zeros((3, 1), np.int32); both(a, b, c, threads=1)")
    assert run("[n.item() for n in (a[0], b[0], c[0])]").text == "[1, 0, 1]"


def test_other_arrays_of_python(run):
    run("%%cuda\n__global__ void add(int *y, const int *x, const int *z)\n"
        "{ int i = threadIdx.x; y[i] = x[i] + z[i]; }")  # fmt: skip
    run("import array; y = array.array('i', [0] * 4)")
    assert run("add(y, [1, 2, 3, 4], range(4)); y.tolist()").text == "[1, 3, 5, 7]"
    reply = run("add([0] * 4, y, y)", fails=True)
    assert "add may write 'y', and a list cannot take that back" in reply.error


def test_the_shape_of_a_launch(run):
    run("""%%cuda
__global__ void shape(int *out)
{
    int n[6] = {blockDim.x, blockDim.y, blockDim.z, gridDim.x, gridDim.y, gridDim.z};
    for (int i = 0; i < 6; i++) out[i] = n[i];
}""")
    run("out = np.zeros(1000, np.int32)")

    def of(words):
        return run(f"shape(out{words}); out[:6].tolist()").text

    assert of("") == "[256, 1, 1, 4, 1, 1]"
    assert of("[:100].copy()").startswith("[256")  # out itself is as before
    assert of(", threads=7") == "[7, 1, 1, 1, 1, 1]"
    assert of(", threads=(40, 20)") == "[16, 16, 1, 3, 2, 1]"
    assert of(", threads=(9, 9, 9)") == "[8, 8, 4, 2, 2, 3]"
    assert of(", block=64") == "[64, 1, 1, 16, 1, 1]"
    assert of(", block=(8, 4), grid=(2, 3, 4)") == "[8, 4, 1, 2, 3, 4]"
    assert "grid needs block" in run("shape(out, grid=3)", fails=True).error
    both = run("shape(out, grid=3, threads=4)", fails=True).error
    assert "pass grid or threads, not both" in both
    assert "one to three whole numbers" in run("shape(out, block=0)", fails=True).error


def test_without_an_array_the_call_says_how_many_threads(run):
    run('%%cuda\n__global__ void none(int n) { printf("%d|", threadIdx.x + n); }')
    assert "Pass threads=N" in run("none(1)", fails=True).error
    assert run("none(1, threads=3)").stdout == "1|2|3|"
    assert run("none(1, block=2)").stdout == "1|2|"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("scale(x)", "needs an argument for 'x'"),
        ("scale(x, x, 1, 2, 3)", "takes 4 arguments (5 given)"),
        ("scale(x, x, 1, 2, by=3)", "was given 'by' twice"),
        ("scale(x, x, 1, m=3)", "has no parameter 'm'"),
        ("scale(x, 3, 1, 2)", "'x' of scale is a const float *, and 3 is a number"),
        (
            "scale(x, x, 1, 2.5)",
            "'n' of scale is an int, and 2.5 is not a whole n",
        ),
        ("scale(x, x, 1, 1 << 31)", "numbers from -2147483648 to 2147483647"),
        ("scale(x, x, 1j, 1)", "1j is a complex number"),
        ("scale(x[::2], x, 1, 1)", "'out' of scale is an array that is not contig"),
        ("scale(x[::2], x, 1, 1)", "(numpy.ascontiguousarray), and take the result"),
        (
            "scale(x, x[::2], 1, 1)",
            "'x' of scale is an array that is not contiguous",
        ),
        ("scale(z, x, 1, 1)", "'out' of scale is an array that is read-only, and"),
        ("scale(x, y, 1, 1)", "1 of scale is a numpy.ndarray of float64, but the para"),
        ("scale(x, y, 1, 1)", "Pass an array of float32, such as x.astype(numpy.float"),
        ("scale(x, drv.In(y), 1, 1)", "argument 1 of scale is an In of float64"),
        ("scale(gpuarray.to_gpu(y), x, 1, 1)", "0 of scale is a GPUArray of float64"),
        ("scale.timed(x, y, 1, 1)", "'x' is a const float *. Pass an array of float32"),
        ("scale(x, x, np.int32(1), 1)", "numpy.int32, but the parameter 'by' is a fl"),
    ],
)
def test_wrong_arguments(run, call, text):
    run(SCALE)
    run("x, y = np.zeros(4, np.float32), np.zeros(2)")
    run("z = np.zeros(4, np.float32); z.flags.writeable = False; scale(x, z, 1, 4)")
    reply = run(call, fails=True)
    assert text in reply.error
    assert "_kernel.py" not in reply.error  # only the lines of the notebook
    assert reply.stderr == ""


def test_arguments_of_unlike_types_that_are_right(run):
    """Addresses without a type, bytes, and vectors of numbers."""
    run("%%cuda\n__global__ void any(void *a, unsigned char *b, bool *c, float2 *d,\n"
        "                    int n) { d->y = *b; }")  # fmt: skip
    for b, d in (("bool", "np.complex64"), ("np.int8", "(np.float32, 2)")):
        run(f"d = np.zeros(1, {d}); any(np.zeros(3), np.ones(1, {b}), "
            "np.zeros(1, np.uint8), d, np.uint32(1), threads=1)")  # fmt: skip
        assert run("d.view(np.float32).ravel().tolist()").text == "[0.0, 1.0]"


def test_calls_of_other_functions_warn_of_an_argument(run):
    run(SCALE)
    run("x, y = gpuarray.zeros(2, np.float32), gpuarray.zeros(2, np.float64)")
    said = run("scale.function(x, y, np.float32(1), np.int32(2), block=(1, 1, 1))")
    assert re.match(r"Cell In\[\d+\], line 1: ArgumentTypeWarning: ", said.stderr)


BODY = """%%cuda
struct Body { float mass; float at[3]; };
struct Pair { int id; double value; };
__global__ void move(Body *b, const struct Body *const from) { b->at[0] += 1; }
__global__ void pair(Pair *p) { p->value += 1; }
"""


def test_records_have_the_size_of_the_struct(run):
    run(BODY)
    run("good = np.dtype([('mass', 'f4'), ('at', 'f4', 3)])")
    plain = "(np.float32, 4)", "(np.complex64, 2)", "(np.uint8, 16)", "'S16'", "'V16'"
    for dtype in ("good", *plain):
        run(f"b = np.zeros(2, {dtype}); move(b, b, threads=1)")
        run("assert b.ravel().view(np.float32)[1] == 1")
    run("pair(np.zeros(2, np.dtype([('id', 'i4'), ('value', 'f8')], align=True)))")
    for array, text in (
        ("np.zeros(2, [('mass', 'f8'), ('at', 'f4', 3)])", "with elements of 20 bytes"),
        ("gpuarray.zeros(2, np.float64)", "an array of float64, with elements of 8 b"),
        ("np.zeros((2, 4), np.int64)", "pass an array of records"),
    ):
        error = run(f"move({array}, np.zeros(2, good))", fails=True).error
        assert "'b' of move is a Body *, a struct of 16 bytes, and the" in error
        assert text in error and "_kernel.py" not in error
        error = run(f"move(np.zeros(2, good), {array})", fails=True).error
        assert "'from' of move is a const struct Body *" in error
    packed = "np.zeros(2, [('id', 'i4'), ('value', 'f8')])"
    error = run(f"pair(drv.InOut({packed}))", fails=True).error
    assert "with align=True the dtype places its fields as C does, in 16 bytes" in error


@pytest.mark.parametrize(
    "text",
    [
        "#pragma pack(1)\nstruct S { char c; int i; };",
        "#if 1\nstruct S { int i; };\n#else\nstruct S { char c; int i; };\n#endif",
        "struct S { int *p; };",
        "struct Base { char c; }; struct S : Base { int i; };",
        "struct S { int i; __device__ int get() { return i; } };",
        "struct __align__(16) S { int i; };",
        "struct S;",
    ],
)
def test_a_struct_whose_layout_is_not_certain_is_not_compared(run, text):
    run(f"%%cuda\n{text}\n__global__ void f(S *s) {{}}")
    run("f(np.zeros(2, [('c', 'i1'), ('i', 'i4')])); f(np.zeros(2))")


def test_a_vector_is_made_by_its_function(run):
    run("%%cuda\n__global__ void f(float *x, const float2 a, int4 b)\n"
        "{ x[0] = a.y + b.w; }")  # fmt: skip
    run("x = np.zeros(1, np.float32); vec = gpuarray.vec")
    error = run("f(x, (1, 2), vec.make_int4(1, 2, 3, 4))", fails=True).error
    assert "Pass a complex number or pycuda.gpuarray.vec.make_float2(...)" in error
    error = run("f(x, 1 + 2j, [1, 2, 3, 4])", fails=True).error
    assert "Pass pycuda.gpuarray.vec.make_int4(...)" in error
    run("f(x, vec.make_float2(1, 2), vec.make_int4(1, 2, 3, 4)); assert x[0] == 6")
    run("f(x, 1 + 3j, vec.make_int4(1, 2, 3, 4)); assert x[0] == 7")


def test_a_cell_without_a_kernel_says_so(run):
    said = run("%%cuda\n__device__ int twice(int x) { return 2 * x; }").stderr
    assert said.startswith("This cell has no kernel (a __global__ function)")
    assert run("%%cuda --module m\n__constant__ int table[4];").stderr == ""
    assert run("%%cuda\ntemplate <int N> __global__ void f() {}").stderr == ""


def test_names_that_are_words_of_python(run):
    run("%%cuda\n__global__ void f(int *out, const int *in, int) { *out = *in; }")
    run("out, x = np.zeros((2, 1), np.int32); f(out, in_=x + 5, argument2=0)")
    assert run("out.tolist()").text == "[5]"
    assert "f(out: int *, in_: const int *, argument2: int)" in run("f").text


def test_templates_and_namespaces(run):
    run("""%%cuda --module mod
#include <cuda_fp16.h>
namespace a { namespace b {
template <typename T, int N = 2> __global__ void times(T *x, T by)
{
    x[threadIdx.x] *= N * by;
}
}
__global__ void __launch_bounds__(128) plain(int *x) { x[threadIdx.x] += 1; }
}
__constant__ float weights[4];
extern "C" __global__ void in_c(__half *x) { x[threadIdx.x] = __float2half(1.5f); }
""")
    run("i = np.arange(4, dtype=np.int32); h = np.zeros(2, np.float16)")
    assert run("times['int', 3](i, 2); plain(i); i.tolist()").text == "[1, 7, 13, 19]"
    assert run("times[np.int32](i, 1); i.tolist()").text == "[2, 14, 26, 38]"
    assert run("in_c(h); h.tolist()").text == "[1.5, 1.5]"
    assert run("mod.get_global('weights')[1]").text == "16"
    assert "times<int, 3>(x: T *, by: T)" in run("times['int', 3]").text
    assert "is a template" in run("times(i, 1)", fails=True).error


def test_a_kernel_that_the_preprocessor_removes(run):
    run("%%cuda -D CHOICE=1\n#if CHOICE\n__global__ void one(int *x) { *x = CHOICE; }\n"
        "#else\n__global__ void other(int *x) { }\n#endif")  # fmt: skip
    assert run("x = np.zeros(1, np.int32); one(x); x.tolist()").text == "[1]"
    assert "NameError" in run("other", fails=True).error


# -- the magic -------------------------------------------------------------------------


def test_run_takes_variables_by_name(run):
    run("out = np.zeros(5, np.float32); x = [1, 2, 3, 4, 5]; by = 2; n = 5")
    reply = run(SCALE.replace("%%cuda", "%%cuda --run"))
    assert reply.stdout == ""
    assert run("out.tolist()").text == "[2.0, 4.0, 6.0, 8.0, 10.0]"
    timed = run(SCALE.replace("%%cuda", "%%cuda --run scale --time --block '(5, 1)'"))
    assert re.fullmatch(r"scale: [\d.]+ (ns|µs|ms)\n", timed.stdout)


def test_run_names_a_variable_that_is_missing(run):
    cell = "%%cuda --run\n__global__ void f(int *missing) {}"
    reply = run(cell, fails=True)
    assert "parameter 'int *missing', and the notebook has no variable" in reply.error
    assert reply.error.count("\n") == 0


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("--run h", "no kernel 'h'. Its kernels: f, g"),
        ("--run", "the name of a kernel if the cell has not exactly one"),
        ("--grid '3, 4'", "--grid is for --run"),
        ("--run f --grid 3+", "--grid 3+ is not an expression of Python: SyntaxError"),
        ("--nothing", "Unknown option '--nothing'"),
    ],
)
def test_a_wrong_line(run, line, text):
    kernels = "__global__ void f(int n) {}\n__global__ void g() {}"
    reply = run(f"%%cuda {line}\n{kernels}", fails=True)
    assert text in reply.error + reply.stderr


def test_macros_and_options(run):
    run("size = 7")
    run("%%cuda -D SIZE={size} --use_fast_math -DTWO=2\n"
        "__global__ void f(int *x) { x[0] = SIZE * TWO; }")  # fmt: skip
    assert run("x = np.zeros(1, np.int32); f(x); x.tolist()").text == "[14]"


def test_a_folder_of_headers(run, tmp_path):
    (tmp_path / "own.h").write_text("#define OWN 5\n")
    run(f"%%cuda -I {tmp_path}\n#include <own.h>\n"
        "__global__ void f(int *x) { x[0] = OWN; }")  # fmt: skip
    assert run("x = np.zeros(1, np.int32); f(x); x.tolist()").text == "[5]"


def test_help(run):
    shown = run("%cuda")
    assert "--run [KERNEL]" in shown.stdout
    assert (
        "%cuda lists the options" in run("%%cuda --compiler gcc\n ", fails=True).error
    )
    assert "--run [KERNEL]" in run("get_ipython().find_cell_magic('cuda').__doc__").text


# -- compilers -------------------------------------------------------------------------


def test_an_error_of_the_compiler_is_shown_at_the_line_of_the_cell(run):
    reply = run(
        "\n\n%%cuda\n__global__ void f(int *x)\n{\n    x[0] = y;\n}", fails=True
    )
    assert re.search(r"compilation of Cell In\[\d+\] failed", reply.error)
    assert re.search(r"Cell In\[\d+\], line 6:", reply.error)
    assert "  6 |     x[0] = y;\n    |            ^\n" in reply.error
    assert 'identifier "y" is undefined' in reply.error
    assert "interactiveshell" not in reply.error and "kernel.cu" not in reply.error


def test_a_warning_of_the_compiler_names_the_line_of_the_cell(run):
    reply = run(
        "%%cuda\n__global__ void f(int *x)\n{\n    int unused;\n    x[0] = 1;\n}"
    )
    assert re.search(r"Cell In\[\d+\], line 4: warning .*unused", reply.stderr)


def test_the_number_of_the_cell_is_that_of_the_notebook(run):
    first = int(run("get_ipython().execution_count").text)
    error = run("%%cuda\n__global__ void f(int *x) { y }", fails=True).error
    assert f"Cell In[{first}]" in error or f"Cell In[{first + 1}]" in error
    number = int(re.search(r"In\[(\d+)\]", error)[1])
    again = run("1/0", fails=True).error
    assert f"Cell In[{number + 1}], line 1" in again


def test_a_warm_cell_is_fast(run):
    """A cell that was compiled before costs a few milliseconds; the bound is 50."""
    run(SCALE)
    costs = [run(SCALE).seconds - run("pass").seconds for _ in range(5)]
    assert min(costs) < 0.05


CUB = """%%cuda
#include <cub/cub.cuh>
__global__ void total(const int *x, int *out)
{
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage room;
    int sum = Reduce(room).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) *out = sum;
}
"""
has_cub = any(
    os.path.exists(os.path.join(folder, "cub/cub.cuh"))
    for folder in (nvrtc._own_folders(nvrtc.find()) if nvrtc.find() else ())
)


@pytest.mark.skipif(not has_cub, reason="needs NVRTC and the headers of CUB")
def test_cub_is_compiled_by_nvrtc(run):
    """nvcc needs ten times as long, and comes after NVRTC has failed."""
    run("from pycuda._compile import nvcc; kept = nvcc.Tool.run; nvcc.Tool.run = None")
    run(CUB)
    run("x, out = np.arange(64, dtype=np.int32), np.zeros(1, np.int32); total(x, out)")
    assert run("out.tolist()").text == "[2016]"
    lacking = "struct Cub { enum { value = cub::Nothing }; };"
    run(CUB.replace("__global__", f"{lacking}\n__global__"), fails=True)
    run("nvcc.Tool.run = kept")


@pytest.mark.parametrize(
    ("header", "first"),
    [("thrust/tuple.h", "nvcc"), ("cub/device/device_scan.cuh", "nvcc"),
     ("cub/block/block_scan.cuh", "nvrtc"), ("cuda/std/tuple", "nvrtc")],
)  # fmt: skip
def test_headers_with_functions_of_the_host_go_to_nvcc(monkeypatch, header, first):
    """NVRTC would refuse them after seconds."""
    used = []

    def compile_with(text, compiler, **arguments):
        used.append(compiler)

    monkeypatch.delenv("PYCUDA_COMPILER", raising=False)
    monkeypatch.setattr(nvrtc, "find", lambda: "libnvrtc.so")
    monkeypatch.setattr(nvcc, "find", lambda name: name)
    monkeypatch.setattr(pycuda.compiler, "SourceModule", compile_with)
    _session._compiled(f"\n  # include <{header}>\n", None, {})
    assert used == [first]


# -- sources in strings ----------------------------------------------------------------

STRING = '''# a comment
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

source = """
__global__ void fill(int *x)
{
    x[threadIdx.x + 100000000] = VALUE;
}
"""
fill = SourceModule(source, options=["-DVALUE=NUMBER"]).get_function("fill")
'''


def test_an_error_of_the_compiler_is_shown_at_the_line_of_the_string(run):
    error = run(STRING.replace("NUMBER", "y"), fails=True).error
    number = int(re.search(r"Cell In\[(\d+)\], line 11\n", error)[1])
    assert f"\nCell In[{number}], line 8:\n  6 | __global__ void fill" in error
    assert "\n  8 |     x[threadIdx.x + 100000000] = VALUE;\n" in error
    assert 'identifier "y" is undefined' in error and "kernel.cu, line" not in error
    made = "source = source.replace('VALUE', 'z') + chr(10)\n"
    made += "SourceModule(source.replace('x[', 'x ['))"
    error = run(made, fails=True).error  # similar to the line of the older cell
    assert f"\nCell In[{number}], line 8:\n" in error
    other = "SourceModule(''.join(map(chr, [95, 95, 113, 101, 59])))"
    assert "kernel.cu, line 1:" in run(other, fails=True).error  # in no cell


def test_lines_of_one_line_of_a_cell_are_shown_once(run):
    """The string has lines of its own, which are no lines of the cell."""
    cell = r"SourceModule('__global__ void f(int *x)\n{\n    x[0] = y;\n}')"
    run("from pycuda.compiler import SourceModule")
    error = run(cell, fails=True).error
    assert re.search(r"\], line 1:\n  1 |     x\[0\] = y;\n +| +\^\n", error)
    assert "-1 |" not in error and "0 |" not in error


def test_an_error_of_the_compiler_is_shown_at_the_line_of_an_operation(run):
    error = run(
        "from pycuda.elementwise import ElementwiseKernel\n"
        'ElementwiseKernel("float *x", """\n    float own = 2;\n    x[i] = own + q;\n'
        '""")(gpuarray.zeros(4, np.float32))', fails=True).error  # fmt: skip
    assert re.search(r"\nCell In\[\d+\], line 4:\n +3 |     float own = 2;\n", error)
    assert "During handling" not in error  # the other compiler's error


@pytest.mark.software(why="a GPU does not tell the line")
def test_an_error_of_a_kernel_is_shown_at_the_line_of_the_string(own):
    own("%%cuda\n__global__ void fill(int *x) {}")  # another kernel of this name
    own(STRING.replace("NUMBER", "1"))
    error = own("fill(gpuarray.zeros(4, np.int32), block=(4, 1, 1))", fails=True).error
    assert "\n  at Cell In[3], line 8\n      x[threadIdx.x + 100000000]" in error
    assert "kernel.cu" not in error
    assert ", at Cell In[4], line 1" in error


# -- output ----------------------------------------------------------------------------


def test_what_a_kernel_prints_is_in_the_output_of_its_cell(run):
    run('%%cuda\n__global__ void hello() { printf("hello %d\\n", threadIdx.x); }')
    reply = run("print('before'); hello(threads=2); print('after')")
    assert reply.stdout == "before\nhello 0\nhello 1\nafter\n"
    assert run("print('next')").stdout == "next\n"


def test_what_another_kernel_prints_is_in_the_output_of_its_cell(run):
    """A launch without a wait: the extension waits at the end of the cell."""
    run(
        """
from pycuda.compiler import SourceModule
module = SourceModule('__global__ void say() { printf("%d ", threadIdx.x); }',
                      compiler="nvrtc" if {nvrtc} else None)
""".replace("{nvrtc}", str(nvrtc.find() is not None))
    )
    say = "module.get_function('say')(block=(3, 1, 1), stream=drv.Stream())"
    assert run(say).stdout == "0 1 2 "
    assert run("print('next')").stdout == "next\n"


def test_what_c_and_child_processes_print(run):
    reply = run("os.write(1, 'é from C\\n'.encode()); os.system('echo child')")
    assert reply.stdout == "é from C\nchild\n"


def test_much_output_does_not_block(run):
    body = 'for (int i = 0; i < 50; i++) printf("%064d\\n", threadIdx.x);'
    run(f"%%cuda\n__global__ void much() {{ {body} }}")
    lines = run("much(threads=64)").stdout.split("\n")
    assert len(lines) == 50 * 64 + 1


def test_capture_gets_what_a_kernel_prints(run):
    run('%%cuda\n__global__ void hello() { printf("hello"); }')
    assert run("%%capture got\nhello(threads=1)").stdout == ""
    assert run("got.stdout").text == "'hello'"


# -- errors of kernels -----------------------------------------------------------------

BAD = """%%cuda
__global__ void bad(float *out, const float *x)
{
    int i = threadIdx.x;
    out[i] = x[i + 100000000];
}
"""


@pytest.mark.software(why="a GPU does not tell the line")
def test_an_error_of_a_kernel_is_shown_at_the_line_of_the_cell(own):
    own(BAD)
    reply = own("# a comment\na = gpuarray.zeros(4, np.float32)\nbad(a, a)", fails=True)
    error = reply.error
    assert re.search(r"----> 3 bad\(a, a\)", error)
    assert re.search(r"at Cell In\[2\], line 5\n", error)
    assert "----> 5     out[i] = x[i + 100000000];" in error
    assert re.search(r"at Cell In\[3\], line 3\n", error)
    for hidden in ("kernel.cu", "ipykernel", "_kernel.py", "pycuda.explain"):
        assert hidden not in error
    assert "call pycuda.tools.recover_context()" in error
    assert "restart the kernel of the notebook" in error


@pytest.mark.software(why="a GPU's context is lost for good")
def test_the_report_of_a_fault_is_shown_once(own):
    own(BAD)
    own("a = gpuarray.zeros(4, np.float32)")
    assert "4-byte" in own("bad(a, a)", fails=True).error.replace(
        " of 4 bytes", " 4-byte"
    )
    for code in ("bad(a, a)", "a", "b = a + 1", BAD.replace("bad", "other")):
        error = own(code, fails=True).error
        assert "of 4 bytes" not in error and "Launches since" not in error
        assert error.count("\n") < 6
        text = "failed, because the context is lost since an earlier fault: an illegal "
        text += "memory access was encountered, in kernel bad, at Cell In[2], line 5. "
        assert text + "To go on, call pycuda.tools.recover_context()" in error
    own("from pycuda import tools; tools.recover_context()")
    own("b = gpuarray.zeros(4, np.float32)")
    for code in ("bad(b, b)", "bad.timed(b, b)", "bad(b, b, block=4, grid=1)"):
        error = own(code, fails=True).error
        text = "kernel bad belongs to a context that was detached: run Cell In[2] again"
        assert text in error
    own(BAD)
    again = own("a = gpuarray.zeros(4, np.float32); bad(a, a)", fails=True).error
    assert "of 4 bytes" in again  # another fault
    assert "earlier fault" in own("a.get()", fails=True).error


NEAR = BAD.replace("100000000", "1").replace("bad", "near")


@pytest.mark.software(why="a GPU does not warn")
def test_a_warning_about_a_kernel_is_shown_at_the_line_of_the_cell(own):
    own(NEAR)
    own("a = gpuarray.zeros(4, np.float32)")
    said = own("# a comment\nnear(a, a)").stderr
    assert said.startswith("Cell In[4], line 2: PyCUDAWarning: a kernel goes beyond")
    assert "  at Cell In[2], line 5\n" in said and "  near(a, a)\n" in said
    assert "----> 5     out[i] = x[i + 1];" in said
    for hidden in ("kernel.cu", "ipykernel", "_kernel.py"):
        assert hidden not in said
    own("a = gpuarray.zeros(5, np.float32)")
    assert own("near(a, a)").stderr == ""  # once for each line of the kernel


@pytest.mark.parametrize(
    ("session", "name"), [("/home/me/my.ipynb", "my.ipynb"), ("", "notebook.ipynb")]
)
def test_advice_names_the_notebook_and_not_the_program_of_jupyter(run, session, name):
    """Not every program that starts the kernel sets the variable."""
    run("from pycuda import _program; kept = os.environ.pop('JPY_SESSION_NAME', None)")
    run(f"os.environ['JPY_SESSION_NAME'] = {session!r}")
    assert run("_program.words_to_rerun()").text == repr(name)
    run("del os.environ['JPY_SESSION_NAME']\nif kept:\n"
        "    os.environ['JPY_SESSION_NAME'] = kept")  # fmt: skip


def test_other_warnings_are_shown_as_always(own):
    said = own("import warnings\nwarnings.warn('as always')").stderr
    assert re.match(r"\S+/ipykernel_\S+:2: UserWarning: as always\n", said)
    shown = own("warnings.formatwarning").text
    own("%unload_ext pycuda.notebook")
    assert "warning_text" in shown
    assert "warning_text" not in own("warnings.formatwarning").text


def test_an_error_of_an_asynchronous_launch_is_shown_in_its_cell(own):
    own(BAD)
    own("a, s = gpuarray.zeros(4, np.float32), drv.Stream()")
    reply = own("bad(a, a, stream=s)\nprint('the launch has returned')", fails=True)
    assert reply.stdout == "the launch has returned\n"
    assert "illegal" in reply.error
    assert "at Cell In[4], line 1" in reply.error


def test_an_error_names_the_instance_of_a_template(own):
    own("%%cuda\ntemplate <typename T> __global__ void wild(T *x)\n{\n"
        "    x[threadIdx.x + 100000000] = 1;\n}")  # fmt: skip
    error = own("wild['float'](gpuarray.zeros(4, np.float32))", fails=True).error
    assert "kernel wild<float>, " in error
    assert "_Z" not in error


def test_an_index_out_of_bounds_on_the_device_fails_its_cell(run):
    run("k = gpuarray.zeros(4, np.int32); at = gpuarray.to_gpu(np.array([7]))")
    run("%%cuda\n__global__ void idle(int *x) {}")
    for cell, shown in (
        ("pass\nk[at] = 3", ""),
        ("pass\nk[at] = 3\nk.get()", "----> 3 k.get()"),
        ("pass\nk[at] = 3\nidle(k)", "----> 3 idle(k)"),
    ):
        error = run(cell, fails=True).error
        text = "IndexError: index 7 is out of bounds for axis 0 of length 4 "
        assert re.search(text + r"\(the index array of Cell In\[\d+\], line 2;", error)
        assert shown in error
        for hidden in ("_session.py", "_cell.py", "_kernel.py", "ipykernel"):
            assert hidden not in error
    run("k[at - 4] = 3; assert k.get()[3] == 3")


@pytest.mark.software(why="a GPU does not see a race")
def test_a_race_names_the_line_in_brackets(own):
    own("%env PYCUDA_CHECK=race")
    own("%%cuda\n__global__ void race(int *out)\n{\n    __shared__ int s[64];\n"
        "    s[threadIdx.x] = threadIdx.x;\n    out[threadIdx.x] = s[63 - threadIdx.x];"
        "\n}")  # fmt: skip
    error = own("race(np.zeros(64, np.int32))", fails=True).error
    assert re.search(
        r"thread \([^()]*\) \(Cell In\[3\], line 5\), with no __sync", error
    )


TERMINAL = """
import sys
from IPython.terminal.interactiveshell import TerminalInteractiveShell
shell = TerminalInteractiveShell.instance(colors=sys.argv[1])
for cell in sys.argv[2:]:
    shell.run_cell(cell, store_history=True)
"""


@pytest.mark.software(why="a GPU does not tell the line")
@pytest.mark.parametrize("colors", ["nocolor", "linux"])
def test_in_a_terminal_errors_name_cells(folder, colors):
    near = BAD.replace("100000000", "1").replace("bad", "near")
    call = "near(a, a); a.get(); bad(a, a)"
    done = subprocess.run(
        [sys.executable, "-c", TERMINAL, colors]
        + [BEGIN, BAD, near, "a = gpuarray.zeros(4, np.float32)", call, "%%cuda -D '"],
        env={**os.environ, "PYCUDA_CACHE_DIR": str(folder)},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "Cell In[5], line 1: PyCUDAWarning: a kernel goes beyond" in done.stderr
    assert re.search(r"\(4, 1, 1\), at Cell In\[5\], line 1\n", done.stdout)
    assert "ipython-input" not in done.stdout + done.stderr
    assert ("\x1b[" in done.stdout + done.stderr) == (colors != "nocolor")


@pytest.mark.software(why="a call of a GPU's driver cannot be interrupted")
def test_interrupt_ends_a_kernel(run):
    run("%%cuda\n__global__ void spin(volatile int *x) { while (*x == 0); }")
    run("flag = gpuarray.zeros(1, np.int32)")
    reply = run("spin(flag)", fails=True, interrupt=0.5)
    assert "KeyboardInterrupt" in reply.error
    assert re.search(r"\n  at Cell In\[\d+\], line 2\n", reply.error)
    for hidden in ("kernel.cu", "_kernel.py", "_cell.py"):
        assert hidden not in reply.error
    assert reply.seconds < 5
    assert run("flag += 1; spin(flag); flag.get().tolist()").text == "[1]"


@pytest.mark.hardware(why="the software device ends the kernel, too")
def test_interrupt_ends_the_wait_for_a_kernel(own):
    """The kernel runs on after the interrupt, so no other test shares its context."""
    body = "long long t = clock64(); while (clock64() - t < n); *done += 1;"
    own(f"%%cuda\n__global__ void spend(long long n, int *done) {{ {body} }}")
    own("done = gpuarray.zeros(1, np.int32)")
    own("spend(1, done)")  # the interrupt must not meet the first launch's loading
    reply = own("spend(8_000_000_000, done)", fails=True, interrupt=0.5)
    assert "KeyboardInterrupt" in reply.error
    assert reply.seconds < 2
    assert own("done.get().tolist()").text == "[2]"  # the kernel has run on


@pytest.mark.parametrize(
    ("failure", "waits"), [(None, 1), (ValueError(), 1), (KeyboardInterrupt(), 0)]
)
def test_after_an_interrupt_nothing_is_waited_for(monkeypatch, failure, waits):
    """On a GPU the kernel runs on, so another wait would be as long as the first."""
    session, waited = _session.Session(SimpleNamespace()), []
    monkeypatch.setattr(_session, "_newest_launch", lambda: 5)
    monkeypatch.setattr(_session, "wait", lambda: waited.append(1))
    result = SimpleNamespace(success=failure is None, error_in_exec=failure)
    session.end_cell(result)
    assert len(waited) == waits


# -- progress, pictures, arrays --------------------------------------------------------


def test_progress(run):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    reply = run(
        "from pycuda.notebook import progress\na = gpuarray.zeros(4, np.int32)\n"
        "for i in progress(range(20), 'steps'):\n    a += i\nprint(a.get()[0])"
    )
    assert reply.stdout == "190\n"
    assert "steps: 100%" in reply.stderr and "20/20" in reply.stderr


def test_show(run):
    reply = run("pycuda.show(gpuarray.zeros((4, 8), np.float32) + 2)")
    assert reply.text == "8 x 4 pixels, float32 from 2 to 2"
    assert reply.data[0]["image/png"].startswith("iVBOR")


def test_an_array_is_a_table(run):
    reply = run("gpuarray.zeros((4, 8), np.float32)")
    assert "<th" in reply.data[0]["text/html"]
    assert reply.text.startswith("array([[0.,")


# -- loading ---------------------------------------------------------------------------


def test_load_and_unload(own):
    own("%load_ext pycuda.notebook")  # a second time
    own("%unload_ext pycuda.notebook")
    assert "not found" in own("%%cuda\n", fails=True).stderr
    assert "_render_traceback_" in own("drv.Error._render_traceback_", fails=True).error
    own("%load_ext pycuda.notebook")
    own(SCALE)


# -- wrong arguments -------------------------------------------------------------------

CAREFUL = """%%cuda
__global__ void careful(float *x, const int *n, float by)
{
    if (n[0] == 12345) x[0] = by;
}
"""


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (
            "np.array(['a']), n, 1",
            "'x' of careful is a float *, and the argument is",
        ),
        ("x, np.array([b'abcd']), 1", "an array of |S4. Pass an array of"),
        ("x, np.array([None]), 1", "'n' of careful is a const int *, and the argument"),
        ("np.array([(1, None)], 'f,O'), n, 1", "Pass an array of numbers"),
        ("x, ['a'], 1", "the argument ['a'] cannot be an array of it: invalid literal"),
        ("x, [[1], [2, 3]], 1", "cannot be an array of it: setting an array element"),
        ("x, 'abc', 1", "'n' of careful is a const int *, and the argument is 'abc'"),
        ("None, n, 1", "and the argument is None. Pass an array"),
        (
            "np.frombuffer(b'1234', 'f'), n, 1",
            "'x' of careful is an array that is read-only",
        ),
        (
            "b'1234', n, 1",
            "an InOut of uint8, but the parameter 'x' is a float *. Pass",
        ),
        ("x[:0], n, 1", "an array without elements, of the shape (0,)"),
        ("x, n, None", "'by' of careful is a float, and the argument is None"),
        ("x, n, [1]", "and the argument is [1]. Pass a number"),
        ("x, n, 10**400", "'by' of careful is a float, and the argument is too large"),
        ("x, n, 1, threads='a'", "threads is one to three whole numbers"),
        ("x, n, 1, threads=1.5", "threads is one to three whole numbers"),
        ("x, n, 1, block=(1, 'a')", "block is one to three whole numbers"),
    ],
)
def test_wrong_arguments_name_the_parameter(run, call, error):
    run(CAREFUL)
    run("x, n = np.zeros(4, np.float32), np.zeros(4, np.int32)")
    reply = run(f"import warnings; warnings.simplefilter('ignore'); careful({call})",
                fails=True)  # fmt: skip
    assert error in reply.error
    assert "pycuda/" not in reply.error and ".py" not in reply.error
    run("careful(x, n, 1); careful(x, n, 1, threads=4.0); careful(x, [5], 1)")


def test_texts_of_the_size_of_integers_are_passed(run):
    run("%%cuda\n__global__ void last(char *a, unsigned int *b, void *c)\n"
        "{ a[2] = 'z'; b[1] = 'y'; }")  # fmt: skip
    run("a, b = np.array([b'abc']), np.array(['de'])")
    run("last(a, b, np.array(['any']), threads=1)")
    assert run("a[0], b[0]").text == "(np.bytes_(b'abz'), np.str_('dy'))"


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('"unclosed', "cannot be read: No closing quotation"),
        ("hello world", "the word 'hello' is no option"),
        ("-lineinfo hello -x y z", "the word 'z' is no option"),
        ("--block (16, 16)", "Put an expression with spaces in quotes, such as --blo"),
        ("--module 1abc", "--module 1abc is not a name"),
        ("--module class", "--module class is not a name"),
    ],
)
def test_wrong_words_of_the_magic(run, line, error):
    reply = run(f"%%cuda {line}\n__global__ void f() {{}}", fails=True)
    assert error in reply.error
    assert "Traceback" not in reply.error and ".py" not in reply.error


@pytest.mark.parametrize("argument", ["None", "object", "3.5", "'M8[s]', object"])
def test_wrong_arguments_of_a_template(run, argument):
    run("%%cuda\ntemplate <class T> __global__ void fill(T *x) { *x = 1; }")
    reply = run(f"fill[{argument}]", fails=True)
    assert "is no argument of the template fill" in reply.error
    assert ".py" not in reply.error
    run("x = np.zeros(1, np.int16); fill[x.dtype](x); assert x[0] == 1")


COLUMN = """%%cuda --lines --threads '(64, 64)'
__global__ void turn(float *out, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y * blockDim.y + threadIdx.y;
    out[k * 64 + i] = x[i * 64 + k];
}
"""


@pytest.mark.software(why="lines are counted on the software device")
def test_the_cost_of_the_lines_of_a_cell(run):
    run("x = np.arange(4096, dtype=np.float32).reshape(64, 64); out = np.zeros_like(x)")
    for _ in range(2):  # the counts begin anew
        reply = run(COLUMN)
        (shown,) = reply.data
        text = shown["text/plain"]
        assert "turn: 1 launch, 16 blocks of 256 threads" in text
        assert re.search(r"\n +6 +\S+ +32.0 +16 +4 +out\[k \* 64", text)
        advice = "neighbouring threads read addresses 256 bytes apart"
        assert " ".join(text.split()).count(advice) == 1
        assert "data:text/html;base64," in shown["text/html"]
        assert (reply.stdout, reply.stderr) == ("", "")
    assert run("bool((out == x.T).all())").text == "True"
    run("out[:] = 0")
    assert run(COLUMN.replace("--lines", "--run")).data == []  # nothing is counted
    assert run("'PYCUDA_EMULATOR_COUNT' in os.environ").text == "False"


@pytest.mark.software(why="lines are counted on the software device")
def test_counting_ends_with_the_cell(run, tmp_path):
    run("x = np.arange(4096, dtype=np.float32).reshape(64, 64); out = np.zeros_like(x)")
    run(COLUMN.replace("turn(", "turn_once("))
    counted, later = tmp_path / "counted", tmp_path / "later"
    run(f"""
from pycuda import _driver
_driver._write_counts({str(counted)!r})
turn_once(out, x, threads=(64, 64))
_driver._write_counts({str(later)!r})
""")
    assert "turn_once" in counted.read_text()
    assert later.read_text() == counted.read_text()
    assert run("bool((out == x.T).all())").text == "True"


@pytest.mark.hardware(why="the software device counts lines")
def test_the_lines_are_not_counted_on_a_gpu(run):
    assert "counts on the software device" in run(COLUMN, fails=True).error
