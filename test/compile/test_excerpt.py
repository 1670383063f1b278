"""Errors show the lines of the source with the compiler's or driver's messages."""

import textwrap

import pytest

from pycuda import _excerpt, compiler, driver
from pycuda._compile import architecture, build
from pycuda.driver import CompileError
from support.compilers import COMPILERS

each_compiler = pytest.mark.parametrize("which", COMPILERS)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))


def refused(source, which, **how):
    with pytest.raises(CompileError) as caught:
        compiler.compile(source, arch="sm_80", compiler=which, **how)
    return caught.value


def shown(error):
    """Return the text of an error between its first line and the command."""
    before = str(error).partition("\n[command: ")[0]
    return before.partition("\n")[2]


def text(lines):
    return textwrap.dedent(lines).strip("\n")


@each_compiler
@pytest.mark.parametrize("no_extern_c", [False, True])
def test_line_and_message(which, no_extern_c):
    source = "\n__global__ void wrong(float *a)\n{\n  a[0] = nowhere;\n}\n"
    error = refused(source, which, no_extern_c=no_extern_c)
    assert shown(error) == text("""
        kernel.cu, line 4:
          2 | __global__ void wrong(float *a)
          3 | {
          4 |   a[0] = nowhere;
            |          ^
              error: identifier "nowhere" is undefined
    """)
    assert source in error.source
    assert "nowhere" in error.stderr
    assert error.stdout == ""
    assert "-arch=sm_80" in error.command_line


@each_compiler
def test_carets_are_below_tabs_and_macros(which):
    source = (
        "#define SIZE 3\n"
        "__global__ void f(float *a)\n"
        "{\n"
        "\ta[0]\t= SIZE + nowhere; }\n"
        "__device__ void g() { __shared__ int x; x = elsewhere; }\n"
    )
    lines = shown(refused(source, which)).splitlines()
    above = [lines[n - 1] for n, line in enumerate(lines) if line.endswith("^")]
    carets = [line for line in lines if line.endswith("^")]
    marked = [line[len(caret) - 1 :] for line, caret in zip(above, carets, strict=True)]
    assert marked == ["nowhere; }", "elsewhere; }"]
    assert carets[0].partition("|")[2] == " \t    \t         ^"


@each_compiler
def test_first_errors_are_shown_and_the_others_counted(which):
    lines = [f"__device__ int f{n}() {{ return no{n}; }}" for n in range(9)]
    part = shown(refused("\n".join(lines), which))
    assert part.count("is undefined") == 4
    assert part.endswith("and 5 more errors")
    assert "kernel.cu, line 1:\n  1 | __device__ int f0() { return no0; }\n" in part


@each_compiler
def test_warnings_beside_an_error_are_not_shown_as_errors(which):
    source = "__global__ void f()\n{ int unused; }\n__device__ int g() { return no; }"
    part = shown(refused(source, which))
    assert "unused" not in part.replace(source.splitlines()[1], "")
    assert "kernel.cu, line 3:" in part


@each_compiler
def test_lines_of_a_header(which, tmp_path):
    (tmp_path / "mine.h").write_text("\n__device__ int g() { return no; }\n")
    error = refused('#include "mine.h"\n', which, include_dirs=[tmp_path])
    assert f"{tmp_path}/mine.h, line 2:\n  1 |\n  2 | __device__" in shown(error)


@each_compiler
def test_missing_header(which):
    part = shown(refused('// mine\n#include "nowhere.h"\n', which))
    assert part.startswith("kernel.cu, line 2:\n  1 | // mine\n  2 | #include")
    assert "nowhere.h" in part.splitlines()[-1]


@each_compiler
def test_message_of_the_assembler_has_no_line_of_the_source(which):
    error = refused('__global__ void f() { asm("nope.u32;"); }', which)
    assert shown(error) == ""
    assert "nope" in error.stderr


@each_compiler
def test_users_own_line_numbers_are_left_alone(which):
    """Line numbers that a generator sets with #line stay unchanged."""
    error = refused(
        '#line 70 "template.mako"\n__device__ int f() { return no; }', which
    )
    assert shown(error) == ""
    assert "template.mako(70): error" in error.stderr


@each_compiler
@pytest.mark.parametrize(
    "before",
    [
        "// \f\n",
        "\f\n",
        "// \v \x1c\n",
        "// \x85 \u2028 \u2029\n",
        "// a\r\n",
        "// a\r// b\n",
    ],
)
def test_only_what_ends_a_line_for_the_compiler_does_here(which, before):
    """Python has more line ends than nvcc, for which "\\r" alone is one."""
    source = f"{before}// x\n__device__ void f()\n{{\n  nowhere();\n}}\n"
    error = refused(source, which)
    number = 6 if which == "nvcc" and "\r//" in before else 5
    assert f"kernel.cu({number}): error" in error.stderr
    assert shown(error) == text(f"""
        kernel.cu, line {number}:
          {number - 2} | __device__ void f()
          {number - 1} | {{
          {number} |   nowhere();
            |   ^
              error: identifier "nowhere" is undefined
    """)


@each_compiler
def test_lines_numbered_anew(which):
    """The compiler's line number follows the line directives of the source."""
    source = "// 1\n__device__ int f()\n{\n#line 50\n  // 50\n  return no;\n}\n"
    assert shown(refused(source, which)).startswith(
        "kernel.cu, line 51:\n  50 |   // 50\n  51 |   return no;\n"
    )
    twice = source.replace("#line 50", "#line 1")
    error = refused(twice, which)
    assert "kernel.cu(2): error" in error.stderr
    assert shown(error) == ""  # which one is meant is unknown


@each_compiler
def test_macros_before_a_source_that_is_numbered_anew(which):
    """So tools for tuning put parameters before the source of a user."""
    macros = "#define SIZE 4\n  #define OTHER 5\n\n#define LAST 6\n#line 1\n"
    error = refused(macros + "// 1\n// 2\n__device__ int f() { return no; }", which)
    assert shown(error).startswith("kernel.cu, line 3:\n  1 | // 1\n  2 | // 2\n  3 | ")


@each_compiler
def test_missing_brace_is_reported_where_the_source_ends(which):
    source = "__global__ void f(int *a)\n{\n  a[0] = 1;\n\n"
    for no_extern_c in (False, True):
        error = refused(source, which, no_extern_c=no_extern_c)
        assert shown(error) == text("""
            kernel.cu, line 3:
              1 | __global__ void f(int *a)
              2 | {
              3 |   a[0] = 1;
                  error: expected a "}"
        """)
        assert "\nkernel.cu(1): note" not in error.stderr or no_extern_c


@each_compiler
def test_brace_too_many(which):
    source = "__global__ void f(int *a)\n{\n  a[0] = 1;\n}}\n"
    error = refused(source, which)
    assert shown(error) == text("""
        kernel.cu, line 4:
          2 | {
          3 |   a[0] = 1;
          4 | }}
              error: expected a declaration
    """)
    assert "\nkernel.cu(" not in f"\n{error.stderr}"
    # Without the package's brace, it belongs to the source.
    assert "kernel.cu(4)" in refused(source, which, no_extern_c=True).stderr


@each_compiler
def test_source_with_the_end_of_a_comment_or_macro_missing(which):
    """An unfinished comment or macro must not swallow an important added line."""
    for last in ("// goes on \\", "#define GOES_ON \\"):
        compiler.compile(f"__global__ void f() {{}}\n{last}", compiler=which)


@each_compiler
@pytest.mark.parametrize("before", ['"größe日本"; ', '"plain"; '])
def test_carets_are_below_what_follows_other_letters(which, before):
    source = f"__device__ void f(const char *s)\n{{ s = {before}nowhere(); }}\n"
    _, _, line, caret, _ = shown(refused(source, which)).splitlines()
    assert line[caret.index("^") :] == "nowhere(); }"


@each_compiler
@pytest.mark.parametrize("folder", ["of (8) things", "a:b", "c(3): d", "größe"])
def test_header_in_a_folder_with_an_odd_name(which, folder, tmp_path):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "mine.h").write_text("\n__device__ int g() { return no; }\n")
    error = refused('#include "mine.h"\n', which, include_dirs=[tmp_path / folder])
    assert f"{tmp_path}/{folder}/mine.h, line 2:\n  1 |\n  2 | __device__" in shown(
        error
    )


@pytest.mark.parametrize("number", [0, 3, 99999999999999999999])
def test_line_that_is_not_there(number):
    assert _excerpt.of_source("a\nb", f"kernel.cu({number}): error: x\n") == ""


def test_error_without_a_source():
    error = CompileError("no", ["nvcc"], "", b"kernel.cu(1): error: x")
    assert "line 1:" not in str(error)
    error.source = b"text"
    assert "kernel.cu, line 1:\n  1 | text\n      error: x\n[command" in str(error)


# The driver's messages

PTX = b"""//
.version 7.0
.target sm_75
.address_size 64
.visible .entry f()
{
  .loc 1 2 3
  nope.u32 %r1;
  ret;
}
.file 1 "/tmp/pycuda-x/kernel.cu"
\0"""


def test_line_of_ptx_and_of_the_source():
    log = "ptxas application ptx input, line 8; fatal   : Parsing error near 'nope'\n"
    source = 'extern "C" {\n#line 1 "kernel.cu"\nfirst\n  second\n}\n'
    assert _excerpt.of_ptx(PTX, log, source) == text("""
        PTX, line 8:
          6 | {
          7 |   .loc 1 2 3
          8 |   nope.u32 %r1;
              fatal   : Parsing error near 'nope'
        from kernel.cu, line 2:
              second
    """)


@pytest.mark.parametrize(
    ("ptx", "line"),
    [
        (PTX.replace(b"kernel.cu", b"other.cu"), 8),
        (PTX.replace(b"  .loc 1 2 3\n", b"\n"), 8),
        (PTX.replace(b".loc 1 2", b".loc 1 99"), 8),
        (PTX, 2),
    ],
)
def test_line_of_the_source_is_shown_only_if_it_is_sure(ptx, line):
    part = _excerpt.of_ptx(ptx, f"error: ptx, line {line}: bad\n", "a\nb\nc\n")
    assert part.endswith("bad")
    assert f"PTX, line {line}:" in part
    assert "from" not in part


@pytest.mark.parametrize("log", ["", "no line", "line 0: x", "line 400: x"])
def test_log_without_a_line(log):
    assert _excerpt.of_ptx(PTX, log, "a") == ""


@pytest.mark.gpu
@each_compiler
def test_error_of_the_driver_carries_the_same(which, ctx):
    """The compiler accepts the PTX and the driver rejects it."""
    source = '__global__ void f()\n{\n  asm("nope.u32 %%r1, %%r2;");\n}'
    ptx = compiler.compile(source, target="ptx", arch="compute_75", compiler=which)

    def give(*rest):
        return ptx, [], ""

    with pytest.MonkeyPatch.context() as patch, pytest.raises(driver.Error) as caught:
        patch.setattr(build, "build", give)
        patch.setattr(architecture, "option_for", lambda *rest: ("compute_75", "ptx"))
        compiler.SourceModule(source, options=["-lineinfo"], compiler=which)
    error = caught.value
    assert type(error) is driver.LogicError
    assert source in error.source
    assert "line " in error.stderr  # the message depends on the driver
    assert error.stdout == ""
    assert error.msg.startswith("cuModuleLoadDataEx failed: ")
    assert error.command_line[1] == "--ptx"
    assert "-lineinfo" in error.command_line
    assert "PTX, line " in str(error)
    assert "nope" in str(error)
