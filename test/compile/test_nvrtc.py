"""NVRTC as the second compiler: its sources, its choice, and its cache."""

import contextlib
import os
import subprocess
import sys
import time
import warnings

import pytest

from pycuda import _extras, compiler
from pycuda._compile import (
    manifest,
    nvcc,
    nvrtc,
    nvrtc_options,
    nvrtc_program,
    toolkit,
    tools,
)
from pycuda.driver import CompileError, CompilerNotFoundError
from support.child import run_child
from support.compilers import make_toy, needs_nvcc
from support.ordinary_sources import SOURCES

pytestmark = pytest.mark.skipif(
    nvrtc.find() is None,
    reason="needs libnvrtc, which is neither in a toolkit nor in NVIDIA's wheels",
)

ONE = "__global__ void one(float *a)\n{ a[threadIdx.x] = 1; }\n"


@pytest.fixture(autouse=True)
def surroundings(cache, monkeypatch):
    """Forget which compilers were missing, worked or failed."""
    monkeypatch.setattr(tools, "_replaced", {})
    monkeypatch.setattr(tools, "_working", set())
    monkeypatch.setattr(nvrtc, "_broken", {})


@pytest.fixture
def no_nvcc(monkeypatch):
    def missing(nvcc):
        text = f"{nvcc} was not found. Install it: pip install it\n  in vain"
        raise CompilerNotFoundError(text, [nvcc], nvcc)

    monkeypatch.setattr(nvcc, "find", missing)


@pytest.fixture
def no_nvrtc(monkeypatch):
    monkeypatch.setattr(nvrtc, "find", lambda: None)


@pytest.fixture
def runs(monkeypatch):
    """The texts that NVRTC compiled."""
    texts = []
    real = nvrtc_program._compile

    def counted(library, text, arguments, *rest, **how):
        texts.append((text, arguments))
        return real(library, text, arguments, *rest, **how)

    monkeypatch.setattr(nvrtc_program, "_compile", counted)
    return texts


def with_nvrtc(source, **how):
    how.setdefault("arch", "sm_80")
    return compiler.compile(source, compiler="nvrtc", **how)


def ptx(source, **how):
    return with_nvrtc(source, target="ptx", **how)


# Results


def test_each_target():
    assert with_nvrtc(ONE)[:4] == b"\x7fELF"
    text = ptx(ONE)
    assert b".target sm_80" in text
    assert b".entry one(" in text
    assert not text.endswith(b"\0")
    assert b".entry _Z3onePf(" in ptx(ONE, no_extern_c=True)
    with pytest.raises(CompileError, match="no fatbin"):
        with_nvrtc(ONE, target="fatbin")


def test_errors_speak_of_the_users_lines():
    with pytest.raises(CompileError) as caught:
        with_nvrtc("\n\n__global__ void f(int *a) { *a = nowhere; }\n")
    error = caught.value
    assert 'kernel.cu(3): error: identifier "nowhere"' in error.stderr
    assert error.command_line[:2] == ["nvrtc", "-arch=sm_80"]


def test_messages_know_no_other_name_than_the_sources():
    """Messages must not show the impossible file name that the package gives NVRTC."""
    source = """
    __device__ const char *name = __FILE__;
    __global__ void f(uint *a) { *a = 1; }
    """
    text = ptx(source, options=["-G"])
    assert bytes(nvrtc_program._PROGRAM, "ascii") not in text
    assert ", ".join(map(str, b"kernel.cu")).encode() in text
    assert b'kernel.cu"' in ptx(source, options=["-lineinfo"])
    with pytest.raises(CompileError) as caught:
        with_nvrtc(source + "@")
    assert nvrtc_program._PROGRAM not in str(caught.value)
    assert 'detected in the compilation of "kernel.cu"' in caught.value.stderr


def test_chatter_is_a_warning_once():
    source = "__global__ void f(int *a) { int unused; *a = 1; }"
    with pytest.warns(UserWarning, match=r"kernel\.cu\(1\).*never referenced"):
        with_nvrtc(source)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with_nvrtc(source)


OWN = "kernel.cu(1): warning #177-D: mine\n  x\n  ^"
THEIRS = "/opt/cuda/include/cuda_fp8.hpp(3): warning #1444-D: theirs\n  y\n  ^"
UNUSED = 'kernel.cu(2): warning #177-D: function "f" was declared but never referenced'
REMARK = 'Remark: The warnings can be suppressed with "-diag-suppress <number>"'


@pytest.mark.parametrize(
    ("blocks", "left"),
    [
        ([], []),
        ([OWN, REMARK], [OWN, REMARK]),
        ([THEIRS, REMARK], []),
        ([THEIRS, REMARK, THEIRS], []),
        ([THEIRS, REMARK, OWN, THEIRS], [REMARK, OWN]),
        ([UNUSED, REMARK, f"{UNUSED}\n  int f()\n      ^"], []),
        ([UNUSED, REMARK, OWN], [REMARK, OWN]),
    ],
)
def test_warnings_that_nvcc_does_not_give_are_left_out(blocks, left):
    log = "".join(block + "\n\n" for block in blocks)
    kept = nvrtc_program._without_nvccs_silence(log, ["/opt/cuda/include"])
    assert kept.strip() == "\n\n".join(left)


def test_functions_that_nobody_calls_are_not_worth_a_word(recwarn):
    with_nvrtc(
        "static __device__ int f() { return 1; }\nstatic int g() { return 2; }\n" + ONE
    )
    assert list(recwarn) == []


def test_result_without_code_is_an_error(runs):
    """Code that must be linked is not a cubin and must not be cached as one."""
    for number in (1, 2):
        with pytest.raises(CompileError, match=r"made no cubin \(as with -dlto\)"):
            with_nvrtc(ONE, options=["-dlto"])
        assert len(runs) == number
    assert with_nvrtc(ONE)


def test_keep_leaves_the_files(tmp_path, capsys):
    with_nvrtc(ONE, keep=True)
    (folder,) = tmp_path.glob("pycuda-*")
    assert str(folder) in capsys.readouterr().out
    assert "one(float *a)" in (folder / "kernel.cu").read_text()
    assert (folder / "kernel.cubin").read_bytes()[:4] == b"\x7fELF"


def test_keep_leaves_also_what_is_no_text(tmp_path):
    with contextlib.suppress(CompileError):  # some releases accept such a comment
        with_nvrtc("// \udcff\n" + ONE, keep=True)
    (folder,) = tmp_path.glob("pycuda-*")
    assert b"// \xff\n" in (folder / "kernel.cu").read_bytes()


# Headers and declarations that sources expect

EVERYTHING = r"""
__global__ void f(float *a, int n, double d)
{
    uint u = n; ushort us = n; ulong ul = n; u_char uc = n;
    int8_t i8 = n; int16_t i16 = n; int32_t i32 = n; int64_t i64 = n;
    a[0] = u + us + ul + uc + i8 + i16 + i32 + i64 + INT_MAX + UINT_MAX + LONG_MAX;
    a[1] = pow(a[1], n) + pow(a[1], d) + pow(a[1], 2.0) + pow(2, a[1]) + pow(a[1], 3u);
    a[2] = pow(2, 3) + pow(d, 3) + pow(a[1], a[2]) + pow(d, d) + pow(d, 3l);
    a[3] = sqrt(n) + sin(n) + exp(3) + log(2u) + floor(n) + sqrt(a[1]) + sqrt(d);
    a[4] = fmax(a[1], d) + fmod(d, a[1]) + atan2(a[1], 1) + hypot(3, 4);
    a[5] = max(n, 3) + max(1.f, 2.0) + min(3u, 4) + abs(-2.5f) + abs(n) + fabs(d);
    a[6] = M_PI + M_SQRT2 + INFINITY + NAN + HUGE_VAL;
    a[7] = isnan(a[1]) + isinf(d);
    int *p = (int *)malloc(4);
    assert(p != NULL);
    memset(p, 0, 4);
    printf("%d %d\n", *p, (int)clock());
    free(p);
}
"""
HEADERS = """
#include <assert.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cuda.h>
"""
OF_HEADERS = """
__global__ void g(float *a, CUdeviceptr p, CUtexObject t)
{
    uint32_t u = UINT32_MAX;
    uint64_t w = (uintptr_t)a;
    a[0] = u + w + FLT_MAX + DBL_EPSILON + CUDA_VERSION + p + t;
    a[1] = std::abs(a[1]) + std::sqrt(a[2]) + std::pow(a[1], 2);
}
"""


def test_ordinary_sources_compile():
    assert with_nvrtc(EVERYTHING)[:4] == b"\x7fELF"
    assert with_nvrtc(HEADERS + EVERYTHING + OF_HEADERS)[:4] == b"\x7fELF"
    assert (
        with_nvrtc(HEADERS + EVERYTHING + OF_HEADERS, no_extern_c=True)[:4]
        == b"\x7fELF"
    )


@pytest.mark.parametrize("name", SOURCES)
def test_ordinary_sources_compile_without_a_word(name, recwarn):
    assert with_nvrtc(SOURCES[name], no_extern_c=True)[:4] == b"\x7fELF"
    assert list(recwarn) == []


@needs_nvcc
def test_ordinary_sources_are_ordinary(recwarn):
    """nvcc accepts all sources that NVRTC must accept."""
    compiler.compile_many(
        SOURCES.values(), compiler="nvcc", arch="sm_80", no_extern_c=True
    )
    assert list(recwarn) == []


@pytest.mark.parametrize(
    ("source", "options", "needed"),
    [
        (ONE, [], False),
        ("__global__ void f(float *a) { *a = sinf(*a); }", [], False),
        ("__global__ void f(uint *a) { *a = 1; }", [], True),
        ("__global__ void f(float *a) { *a = sqrt(2); }", [], True),
        ("__global__ void f(float *a) { *a = M_PI; }", [], True),
        ("__global__ void f(REAL *a) { *a = 1; }", ["-DREAL=int64_t"], True),
        ("__global__ void f(REAL *a) { *a = 1; }", ["-D", "REAL=int"], False),
        ("__global__ void f(int *a) { *a = LIMIT; }", ["-DLIMIT=INT_MAX"], True),
        ("# include <stdint.h>\n" + ONE, [], True),
        ("#define OF(x) u##x\n__global__ void f(OF(int) *a) { *a = 1; }", [], True),
    ],
)
def test_prelude_is_read_where_it_is_needed(source, options, needed, runs):
    with_nvrtc(source, options=options)
    assert runs[-1][0].startswith("#include") is needed


def test_headers_of_the_toolkit_that_are_not_there(monkeypatch):
    """Their declarations for device code are built into NVRTC."""
    monkeypatch.setattr(nvrtc, "_own_folders", lambda path: [])
    with_nvrtc(SOURCES["toolkit: runtime"], no_extern_c=True)
    with pytest.raises(CompileError, match="cuda_fp16"):
        with_nvrtc(SOURCES["toolkit: half"], no_extern_c=True)


def test_toolkit_that_has_headers_of_the_same_names(monkeypatch, tmp_path):
    """libcu++ of CUDA 12 includes its own "limits" from its folder."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/limits").write_text("#define VALUE 4711\n")
    (tmp_path / "own/outer.h").write_text('#include "limits"\nint a[VALUE ? 1 : -1];\n')
    monkeypatch.setattr(nvrtc, "_own_folders", lambda path: [str(tmp_path)])
    source = '#include "own/outer.h"\n__global__ void f(int *a) { *a = VALUE; }'
    how = {"options": ["--device-as-default-execution-space"], "no_extern_c": True}
    assert b"4711" in ptx(source, **how)


def test_host_code_that_cannot_be_the_devices_is_an_error():
    with pytest.raises(CompileError) as caught:
        with_nvrtc("#include <stdio.h>\nvoid f() { fopen(); }\n", no_extern_c=True)
    assert 'kernel.cu(2): error: identifier "fopen" is undefined' in caught.value.stderr
    assert "not allowed in JIT mode" not in caught.value.stderr


CUB = """
#include <cub/cub.cuh>
__global__ void total(const int *x, int *out)
{
    using Block = cub::BlockScan<int, 64>;
    using Warp = cub::WarpReduce<int>;
    __shared__ typename Block::TempStorage of_block;
    __shared__ typename Warp::TempStorage of_warp;
    int sum;
    Block(of_block).InclusiveSum(x[threadIdx.x], sum);
    out[threadIdx.x] = Warp(of_warp).Sum(cub::ThreadLoad<cub::LOAD_CA>(x)) + sum;
}
"""


def has_cub():
    folders = nvrtc._own_folders(nvrtc.find()) if nvrtc.find() else ()
    return any(os.path.exists(f"{folder}/cub/cub.cuh") for folder in folders)


needs_cub = pytest.mark.skipif(not has_cub(), reason="the headers of CUB are missing")


@needs_cub
def test_the_header_of_all_of_cub():
    assert b".entry" in ptx(CUB, no_extern_c=True)
    with pytest.raises(CompileError) as caught:
        ptx(CUB.replace("cub/cub.cuh", "cub/config.cuh"), no_extern_c=True)
    assert "BlockScan" in caught.value.stderr


@needs_cub
@pytest.mark.parametrize(
    "header",
    [
        "cub/device/device_reduce.cuh",
        "thrust/complex.h",
        "thrust/sort.h",
        "thrust/device_vector.h",
    ],
)
def test_an_error_tells_that_a_header_is_for_nvcc(header):
    with pytest.raises(CompileError) as caught:
        ptx(f"#include <{header}>\n{ONE}", no_extern_c=True)
    assert "functions of the host, which only nvcc compiles" in str(caught.value)


@needs_cub
@pytest.mark.parametrize(
    "source",
    [
        "__global__ void f(int *x) { *x = y; }",
        "__global__ void f() { cub::BlockReduce<Unknown, 64> sum; }",
        "__global__ void f() { cub::WarpReduce<int, 77>().Sum(1); }",
        "struct A {}; __device__ void f(A *a) { cub::ThreadReduce(*a, A()); }",
    ],
)
def test_a_mistake_of_the_source_is_not_about_the_host(source):
    with pytest.raises(CompileError) as caught:
        ptx(f"#include <cub/cub.cuh>\n{source}", no_extern_c=True)
    assert "functions of the host" not in str(caught.value)


def test_a_users_own_header_of_cub_is_taken(tmp_path):
    (tmp_path / "cub").mkdir()
    (tmp_path / "cub/cub.cuh").write_text("#define VALUE 4711\n")
    source = "#include <cub/cub.cuh>\n__global__ void f(int *a) { *a = VALUE; }"
    assert b"4711" in ptx(source, include_dirs=[str(tmp_path)], no_extern_c=True)


def test_cub_that_is_missing_is_an_error(monkeypatch):
    monkeypatch.setattr(nvrtc, "_own_folders", lambda path: [])
    with pytest.raises(CompileError) as caught:
        ptx(CUB, no_extern_c=True)
    assert 'cannot open source file "cub/config.cuh"' in caught.value.stderr


VALUES = """
#include <limits.h>
#include <limits>
#include <math.h>
#include <float.h>
#include <stdint.h>
static_assert(sizeof(int8_t) == 1 && sizeof(int16_t) == 2 && sizeof(int32_t) == 4, "");
static_assert(sizeof(int64_t) == 8 && sizeof(uintptr_t) == 8 && (int64_t)-1 < 0, "");
static_assert(sizeof(uint8_t) == 1 && sizeof(uint64_t) == 8 && (uint64_t)-1 > 0, "");
__device__ const long longs[] = {
    SCHAR_MIN, UCHAR_MAX, SHRT_MIN, SHRT_MAX, USHRT_MAX, INT_MIN, INT_MAX, UINT_MAX,
    LONG_MIN, LONG_MAX, LLONG_MIN, INT64_MIN, INT64_MAX, INT32_MIN, UINT16_MAX
};
__device__ const double doubles[] = {
    M_E, M_LOG2E, M_LOG10E, M_LN2, M_LN10, M_PI, M_PI_2, M_PI_4, M_1_PI, M_2_PI,
    M_2_SQRTPI, M_SQRT2, M_SQRT1_2, FLT_MAX, FLT_MIN, FLT_EPSILON,
    DBL_MAX, DBL_MIN, DBL_EPSILON
};
#define LIMITS(t) (long)std::numeric_limits<t>::min(), \\
    (long)std::numeric_limits<t>::max(), (long)std::numeric_limits<t>::lowest(), \\
    std::numeric_limits<t>::digits, std::numeric_limits<t>::digits10, \\
    std::numeric_limits<t>::is_signed, std::numeric_limits<t>::is_integer
__device__ const long whole_limits[] = {
    LIMITS(bool), LIMITS(char), LIMITS(signed char), LIMITS(unsigned char),
    LIMITS(short), LIMITS(unsigned short), LIMITS(int), LIMITS(unsigned int),
    LIMITS(long), LIMITS(unsigned long), LIMITS(long long), LIMITS(unsigned long long)
};
#define REALS(t) std::numeric_limits<t>::min(), std::numeric_limits<t>::max(), \\
    std::numeric_limits<t>::lowest(), std::numeric_limits<t>::epsilon(), \\
    std::numeric_limits<t>::infinity(), std::numeric_limits<t>::digits, \\
    std::numeric_limits<t>::digits10, std::numeric_limits<t>::has_quiet_NaN
__device__ const double real_limits[] = { REALS(float), REALS(double) };
"""


def test_constants_are_those_of_the_c_library():
    """Compare with the real headers, which nvcc reads."""
    try:
        wanted = compiler.compile(
            VALUES, arch="sm_80", target="ptx", options=["-w"], no_extern_c=True
        )
    except CompilerNotFoundError:
        pytest.skip("needs nvcc to compare with")

    def data(text):
        return [line for line in text.splitlines() if b".b8" in line or b"= {" in line]

    assert len(data(wanted)) == 4
    assert data(ptx(VALUES, options=["-w"], no_extern_c=True)) == data(wanted)


def test_overloads_do_not_shadow_the_fast_ones():
    body = ptx("__global__ void f(float *a) { a[0] = sqrt(a[1]) * fmax(a[2], a[3]); }")
    assert b"f64" not in body
    assert b"sqrt.rn.f32" in body


KINDS = """
#include <stdint.h>
template <class T> struct Kind { static const int value = 0; };
template <> struct Kind<long> { static const int value = 1; };
template <> struct Kind<long long> { static const int value = 2; };
template <> struct Kind<float> { static const int value = 3; };
template <> struct Kind<double> { static const int value = 4; };
static_assert(Kind<int64_t>::value == INTEGER, "");
static_assert(Kind<decltype(pow(1.f, 2))>::value == POWER, "");
"""


def test_types_that_differ():
    """The documentation names these two types."""
    with_nvrtc(KINDS, options=["-DINTEGER=2", "-DPOWER=3"], no_extern_c=True)


@needs_nvcc
def test_types_that_differ_with_nvcc():
    options = ["-DINTEGER=1", "-DPOWER=4"]
    compiler.compile(KINDS, options=options, arch="sm_80", no_extern_c=True)


def test_toolkit_headers(tmp_path):
    for header in ("cuda_runtime.h", "cuda_fp16.h", "curand_kernel.h"):
        folders = nvrtc._own_folders(nvrtc.find())
        if not any(os.path.exists(os.path.join(folder, header)) for folder in folders):
            pytest.skip(f"needs {header}, which is not installed")
        with_nvrtc(f"#include <{header}>\n" + ONE, no_extern_c=True)


# Options


@pytest.mark.parametrize(
    ("options", "target", "expected"),
    [
        ([], "cubin", ["-arch=sm_75"]),
        ([], "ptx", ["-arch=compute_75"]),
        (["-arch=sm_90"], "ptx", ["-arch=compute_90"]),
        (["-arch", "compute_90"], "cubin", ["-arch=sm_90"]),
        (["-arch=compute_80", "-code=sm_86"], "cubin", ["-arch=sm_86"]),
        (["-gencode", "arch=compute_90,code=sm_90"], "cubin", ["-arch=sm_90"]),
        (["-arch=sm_90a"], "cubin", ["-arch=sm_90a"]),
        (["-O3", "-g", "-G"], "ptx", ["-arch=compute_75", "-G"]),
        (["-Xcompiler", "-Wall", "-DX"], "ptx", ["-arch=compute_75", "-DX"]),
        (["--compiler-options=-Wall", "-lm"], "ptx", ["-arch=compute_75"]),
        (["-lineinfo"], "ptx", ["-arch=compute_75", "-lineinfo"]),
        (
            ["-Xptxas", "-v,-O1"],
            "cubin",
            ["-arch=sm_75", "--ptxas-options=-v", "--ptxas-options=-O1"],
        ),
        (["-isystem", "/inc"], "ptx", ["-arch=compute_75", "-I/inc"]),
        (
            ["-isystem=/a", "-I/b", "--system-include", "/c", "-I/d"],
            "ptx",
            ["-arch=compute_75", "-I/b", "-I/d", "-I/a", "-I/c"],
        ),
        (["--unknown"], "ptx", ["-arch=compute_75", "--unknown"]),
        (["-std", "c++14"], "ptx", ["-arch=compute_75", "-std=c++14"]),
        (["--std=c++17"], "ptx", ["-arch=compute_75", "-std=c++17"]),
        (['-DS=\\"x y\\"'], "ptx", ["-arch=compute_75", '-DS="x y"']),
        (["-D", "S=\\n"], "ptx", ["-arch=compute_75", "-D", "S=\\n"]),
    ],
)
def test_options_of_nvcc_in_nvrtcs_words(options, target, expected):
    assert nvrtc_options.translate(options, target, [75, 80, 90]) == expected


def test_usual_options_are_accepted():
    options = ["-O3", "--use_fast_math", "-std=c++14", "-lineinfo", "-D", "X=1", "-w"]
    with_nvrtc(ONE, options=[*options, "--expt-relaxed-constexpr", "--extended-lambda"])
    with pytest.warns(UserWarning, match="registers"):
        with_nvrtc(ONE, options=["-Xptxas", "-v"])


@pytest.mark.parametrize(
    "option",
    [
        *("-O 3", "--optimize 3", "--optimize=3", "-m 64", "--machine=64", "-O2"),
        *("-L dir", "-Ldir", "-l lib", "-llib", "--library lib", "--library=lib"),
        *("-cudart static", "--cudart=none", "-Xlinker -s", "--linker-options=-s"),
        *("-Xnvlink -v", "-Xfatbin -compress-all", "--fatbin-options=-compress-all"),
        *("-default-stream per-thread", "--default-stream=legacy", "-t 4", "-t=2"),
        *("--threads 0", "--threads=4", "--keep", "-keep", "--keep-dir /tmp", "-v"),
        *("--verbose", "-res-usage", "--resource-usage", "-pg", "-noeh", "-Wreorder"),
        *("-allow-unsupported-compiler", "--allow-unsupported-compiler"),
        *("-forward-unknown-to-host-compiler", "-Wno-deprecated-gpu-targets"),
        *("-Werror all-warnings", "-Werror=reorder", "--Werror all-warnings"),
    ],
)
def test_what_is_about_the_host_or_the_linker_is_left_out(option):
    words = ["-DA", *option.split(), "-DB"]
    assert nvrtc_options.translate(words, "ptx", [75]) == [
        "-arch=compute_75",
        "-DA",
        "-DB",
    ]


def test_system_folders_are_searched_last(tmp_path):
    for name in ("system", "own"):
        (tmp_path / name).mkdir()
        write_old(tmp_path / name / "cfg.h", f'#define NAME "from {name}"\n')
    source = "#include <cfg.h>\n__device__ char name[] = NAME;\n"
    system = ["-isystem", str(tmp_path / "system")]
    found = ptx(source, options=system, include_dirs=[tmp_path / "own"])
    assert b".b8 name[9]" in found  # "from own"
    assert b".b8 name[12]" in ptx(source, options=system)


@pytest.mark.parametrize("option", ["-Werror=all-warnings", "-Werror all-warnings"])
def test_warnings_that_are_errors(option):
    source = "__global__ void f(int *a)\n{ int unused; *a = 1; }"
    with pytest.raises(CompileError) as caught:
        with_nvrtc(source, options=option.split())
    assert "kernel.cu(2): error #177-D" in caught.value.stderr
    assert "kernel.cu, line 2:" in str(caught.value)
    with_nvrtc("static int f() { return 1; }\n" + ONE, options=option.split())
    with pytest.warns(UserWarning, match="never referenced"):
        with_nvrtc(source, options=["-Werror=reorder"])


def test_unknown_option_is_named():
    with pytest.raises(CompileError, match="--no-such-thing"):
        with_nvrtc(ONE, options=["--no-such-thing"])


def test_two_architectures_are_too_many():
    gencode = [
        "-gencode=arch=compute_80,code=sm_80",
        "-gencode=arch=compute_90,code=sm_90",
    ]
    with pytest.raises(CompileError, match="one architecture"):
        with_nvrtc(ONE, options=gencode, arch=None)


# Choice


def test_missing_nvcc_is_replaced_and_that_is_said_once(no_nvcc, runs):
    with pytest.warns(UserWarning, match="nvcc is not installed, so nvrtc") as caught:
        compiler.compile(ONE, arch="sm_80")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiler.compile(ONE + " ", arch="sm_80")
    assert len(runs) == 2


BROKEN = """#!/bin/sh
echo "$*" >> {log}
case "$1" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.1"; exit 0;;
--list-gpu-arch) echo compute_80; exit 0;;
esac
echo "gcc: No such file or directory" >&2
echo "nvcc fatal   : Failed to preprocess host compiler properties." >&2
exit 1
"""


@pytest.fixture
def broken_nvcc(monkeypatch, tmp_path):
    """An nvcc without a host compiler, and a function that counts its runs."""
    path, log = tmp_path / "nvcc", tmp_path / "nvcc.log"
    path.write_text(BROKEN.format(log=log))
    path.chmod(0o755)
    monkeypatch.setattr(nvcc, "find", lambda nvcc: str(path))
    return lambda: sum(" -o " in line for line in log.read_text().splitlines())


def test_nvcc_that_compiles_nothing_is_replaced_and_that_is_said_once(
    broken_nvcc, runs
):
    with pytest.warns(UserWarning) as caught:
        assert compiler.compile(ONE, arch="sm_80")[:4] == b"\x7fELF"
    (said,) = caught
    assert "nvcc cannot compile even an empty program, so nvrtc" in str(said.message)
    assert "nvcc says: gcc: No such file" in str(said.message)
    assert "Failed to preprocess host compiler" in str(said.message)
    assert said.filename == __file__
    assert broken_nvcc() == 2  # the program and the empty program
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiler.compile(ONE + " ", arch="sm_80")
        with pytest.raises(CompileError, match="NVRTC compilation of kernel.cu failed"):
            compiler.compile(ONE + "@", arch="sm_80")
    assert broken_nvcc() == 2


def test_another_host_compiler_is_tried(broken_nvcc, monkeypatch):
    with pytest.warns(UserWarning, match="even an empty program"):
        compiler.compile(ONE, arch="sm_80")
    monkeypatch.setenv("NVCC_CCBIN", "/usr/bin/another")
    with pytest.warns(UserWarning, match="even an empty program"):
        compiler.compile(ONE + " ", arch="sm_80")
    assert broken_nvcc() == 4


def test_threads_find_a_broken_nvcc_once(broken_nvcc):
    sources = [f"{ONE}// {number}" for number in range(6)]
    with pytest.warns(UserWarning, match="even an empty program") as caught:
        images = compiler.compile_many(sources, arch="sm_80", workers=3, progress=False)
    assert len(caught) == 1 and len(images) == 6


def test_broken_nvcc_without_nvrtc(broken_nvcc, no_nvrtc):
    with pytest.raises(
        CompileError, match=r"nvcc cannot compile an empty.*doctor"
    ) as e:
        compiler.compile(ONE, arch="sm_80")
    assert "Failed to preprocess host compiler properties" in e.value.stderr


def test_broken_nvcc_is_not_replaced_for_what_only_it_makes(broken_nvcc):
    with pytest.raises(CompileError, match="nvcc compilation of kernel.cu failed"):
        compiler.compile(ONE, arch="sm_80", target="fatbin")
    with pytest.raises(CompileError, match="nvcc compilation of kernel.cu failed"):
        compiler.compile(ONE, arch="sm_80", nvcc="/opt/cuda/bin/nvcc")


@needs_nvcc
def test_working_nvcc_is_not_replaced(runs):
    """nvcc may reject anything. An option is tried once with an empty program."""
    for wrong in ("-no-such-option", "-ccbin=/no/such/compiler"):
        with pytest.raises(CompileError, match="nvcc compilation of kernel.cu failed"):
            compiler.compile(ONE, arch="sm_80", options=[wrong])
    with pytest.raises(CompileError, match="nvcc compilation of kernel.cu failed"):
        compiler.compile(ONE + "@", arch="sm_80")
    assert runs == [] and tools._replaced == {}


def test_nvcc_that_cannot_be_started_is_replaced(monkeypatch, tmp_path, runs):
    path = tmp_path / "nvcc"
    path.write_bytes(b"\x7fELF of another machine")
    path.chmod(0o755)
    monkeypatch.setattr(nvcc, "find", lambda nvcc: str(path))
    with pytest.warns(UserWarning, match="nvcc' cannot be run: .*, so nvrtc"):
        compiler.compile(ONE, arch="sm_80")
    assert len(runs) == 1
    with pytest.raises(CompileError, match="cannot be run"):
        compiler.compile(ONE, nvcc=str(path))


def test_nvrtc_that_compiles_nothing_is_replaced(monkeypatch, tmp_path):
    toy = make_toy(tmp_path)
    monkeypatch.setattr(nvcc, "find", lambda nvcc: toy.path)
    lost = "nvrtc: error: failed to open libnvrtc-builtins.so.13.0."
    monkeypatch.setattr(nvrtc_program, "_compile", lambda *a, **how: (6, b"", lost, []))
    with pytest.warns(
        UserWarning, match="nvrtc cannot .*, so nvcc .*libnvrtc-builtins"
    ):
        assert b"text" in with_nvrtc("text")


def test_null_character_would_end_the_source():
    with pytest.raises(CompileError, match="a null character in line 3"):
        with_nvrtc(ONE + "//\0\n@")


def test_certain_nvcc_is_not_replaced(no_nvcc):
    with pytest.raises(CompilerNotFoundError):
        compiler.compile(ONE, arch="sm_80", nvcc="nvcc-12.9")


def test_missing_nvrtc_is_replaced(no_nvrtc, monkeypatch, tmp_path):
    toy = make_toy(tmp_path)
    monkeypatch.setattr(nvcc, "find", lambda nvcc: toy.path)
    with pytest.warns(UserWarning, match="nvrtc is not installed, so nvcc"):
        with_nvrtc("text")
    assert len(toy.compilations) == 1


def test_no_compiler_at_all(no_nvcc, no_nvrtc):
    """The first line says what to do. The places follow, one in a line."""
    with pytest.raises(CompilerNotFoundError) as caught:
        compiler.compile(ONE, arch="sm_80")
    first, *places = str(caught.value).split("\n")
    step = _extras.command("nvrtc")
    assert first == f"no CUDA compiler was found. Install one: {step}"
    assert places[:3] == [
        "  in vain",
        "These places have no libnvrtc.so:",
        "  LD_LIBRARY_PATH",
    ]
    assert all("Install" not in place for place in places)


def test_no_compiler_but_one_that_is_broken(no_nvrtc, monkeypatch):
    def broken(nvcc):
        raise CompileError("nvcc -V failed", [nvcc, "-V"])

    monkeypatch.setattr(nvcc, "find", broken)
    with pytest.raises(CompileError) as caught:
        compiler.compile(ONE, arch="sm_80")
    assert not isinstance(caught.value, CompilerNotFoundError)
    first, second, *_ = str(caught.value).split("\n")
    assert first == "nvcc -V failed"
    assert second.startswith("No other compiler replaces it: NVRTC (libnvrtc.so) was ")


def test_variable_chooses(monkeypatch, runs):
    monkeypatch.setenv("PYCUDA_COMPILER", "nvrtc")
    compiler.compile(ONE, arch="sm_80")
    assert len(runs) == 1
    monkeypatch.setenv("PYCUDA_COMPILER", "gcc")
    with pytest.raises(ValueError, match="'gcc'"):
        compiler.compile(ONE, arch="sm_80")
    with pytest.raises(ValueError, match="'tcc'"):
        compiler.compile(ONE, arch="sm_80", compiler="tcc")


def test_variable_does_not_override_a_certain_nvcc(monkeypatch, runs, tmp_path):
    toy = make_toy(tmp_path)
    compiler.compile("text", nvcc=toy.path, compiler="nvcc")
    assert (len(runs), len(toy.compilations)) == (0, 1)


def test_source_module_takes_the_choice(monkeypatch, runs):
    class Module:
        get_function = get_global = get_texref = get_surfref = None

    monkeypatch.setattr(
        "pycuda.driver.module_from_buffer", lambda image, **how: Module()
    )
    compiler.SourceModule(ONE, arch="sm_80", compiler="nvrtc")
    assert len(runs) == 1


def test_wheels_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(nvrtc, "_found", {})
    monkeypatch.setattr("pycuda._compile.toolkit.homes", list)
    folder = tmp_path / "nvidia/cu13/lib"
    folder.mkdir(parents=True)
    for version in ("9", "12", "13.0.1"):
        (folder / f"libnvrtc.so.{version}").touch()
    (folder / "libnvrtc-builtins.so.13.0").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    assert nvrtc.find() == str(folder / "libnvrtc.so.13.0.1")


@pytest.fixture
def broken(monkeypatch, tmp_path):
    """An incomplete library, which is found first."""
    monkeypatch.setattr(nvrtc, "_found", {})
    (tmp_path / "home/lib").mkdir(parents=True)
    path = tmp_path / "home/lib/libnvrtc.so.13"
    path.write_bytes(b"\x7fELF")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert nvrtc.find() == str(path)
    return path


@pytest.mark.parametrize("cached", [True, False])
def test_library_that_cannot_be_loaded_is_passed_over(broken, recwarn, cached):
    how = {} if cached else {"cache_dir": False}
    for _ in range(2):
        assert with_nvrtc(ONE, **how)[:4] == b"\x7fELF"
    assert nvrtc.find() != str(broken)
    assert list(recwarn) == []


@pytest.mark.parametrize("cached", [True, False])
def test_only_library_that_cannot_be_loaded_is_replaced(
    broken, monkeypatch, tmp_path, cached
):
    toy = make_toy(tmp_path)
    monkeypatch.setattr(nvrtc, "find", lambda: str(broken))
    how = {} if cached else {"cache_dir": False}
    with monkeypatch.context() as patch:
        patch.setattr(nvcc, "find", lambda nvcc: toy.path)
        with pytest.warns(UserWarning, match="cannot be loaded.* so nvcc") as caught:
            with_nvrtc("one", **how)
            with_nvrtc("two", **how)
    assert len(caught) == 1
    assert len(toy.compilations) == 2


def test_no_compiler_but_a_library_that_cannot_be_loaded(no_nvcc, broken, monkeypatch):
    monkeypatch.setattr(nvrtc, "find", lambda: str(broken))
    with pytest.raises(CompilerNotFoundError, match=r"libnvrtc\.so\.13' cannot be"):
        with_nvrtc(ONE)


# Cache


def write_old(path, text, age=60):
    path.write_text(text)
    then = time.time_ns() - int(age * 1e9)
    os.utime(path, ns=(then, then))


def test_hit_runs_nothing(runs):
    first = with_nvrtc(ONE)
    assert with_nvrtc(ONE) == first
    assert len(runs) == 1


def test_compilers_do_not_share_entries(tmp_path, runs):
    toy = make_toy(tmp_path)
    compiler.compile(ONE, nvcc=toy.path, arch="sm_80")
    with_nvrtc(ONE)
    assert (len(runs), len(toy.compilations)) == (1, 1)


def test_hit_in_a_fresh_process_loads_no_library():
    code = (
        "import sys\n"
        "from pycuda import compiler\n"
        "from pycuda._compile import architecture\n"
        "architecture.current_device = lambda: None\n"
        f"image = compiler.compile({ONE!r}, arch='sm_80', compiler='nvrtc')\n"
        "caller = 'pycuda._compile.nvrtc_program'  # it loads the library\n"
        "print(int(caller in sys.modules), len(image))\n"
    )
    answers = []
    for _ in range(2):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answers.append(done.stdout.split())
    assert answers == [["1", answers[0][1]], ["0", answers[0][1]]]


FIRST_COMPILATION = """
import os, signal, threading, time
from pycuda import compiler
from pycuda._compile import nvrtc_program

def later(seconds, *call):
    timer = threading.Timer(seconds, *call)
    timer.daemon = True
    timer.start()

interrupt = os.kill, (os.getpid(), signal.SIGINT)

def interrupted(library, name, *arguments):
    if name == "nvrtcCompileProgram" and arguments[1] > 1:  # with options: ours
        later(0.05, *interrupt)
    return real(library, name, *arguments)

real = nvrtc_program._Library.try_call
nvrtc_program._Library.try_call = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)
lines = ["#define X%d 1" % i for i in range(300000)]
try:
    compiler.compile("\\n".join(lines), arch="sm_80", target="ptx", compiler="nvrtc",
                     no_extern_c=True, cache_dir=False)
    signal.pause()
except KeyboardInterrupt:
    print("interrupted")

begin = time.monotonic()
reader, writer = os.pipe()
later(0.05, *interrupt)
later(9, os.write, (writer, b"x"))
try:
    os.read(reader, 1)
except KeyboardInterrupt:
    print(time.monotonic() - begin < 8)
"""


def test_ctrl_c_in_the_first_compilation_is_an_exception():
    """NVRTC would end the process, and leave Python's handler with other flags."""
    assert run_child(FIRST_COMPILATION).stdout.split() == ["interrupted", "True"]


def test_changed_header_compiles_anew(tmp_path, runs):
    write_old(tmp_path / "outer.h", '#include "inner.h"\n')
    write_old(tmp_path / "inner.h", "#define VALUE 4711\n")
    source = '#include "outer.h"\n__global__ void f(int *a) { *a = VALUE; }'
    for _ in range(2):
        assert b"4711" in ptx(source, include_dirs=[tmp_path])
    assert len(runs) == 1
    write_old(tmp_path / "inner.h", "#define VALUE 1174\n", age=30)
    assert b"1174" in ptx(source, include_dirs=[tmp_path])


VALUE = "__global__ void f(int *a) { *a = VALUE; }"


def test_current_directory_has_no_headers(tmp_path, monkeypatch):
    """nvcc does not search it either, and no key contains it."""
    (tmp_path / "folder/sub").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    write_old(tmp_path / "folder/a.h", '#include "sub/b.h"\n')
    write_old(tmp_path / "folder/sub/b.h", '#include "c.h"\n')
    write_old(tmp_path / "folder/sub/c.h", "#define VALUE 4711\n")
    for name in ("a.h", "b.h", "c.h"):
        write_old(tmp_path / "here" / name, "#define VALUE 1174\n")
    monkeypatch.chdir(tmp_path / "here")
    source = '#include "a.h"\n' + VALUE
    assert b"4711" in ptx(source, include_dirs=["../folder"])
    with pytest.raises(CompileError, match=r"a\.h"):
        ptx(source)
    assert b"1174" in ptx(source, include_dirs=["."])


def test_angle_brackets_do_not_look_beside_the_includer(tmp_path):
    (tmp_path / "sub").mkdir()
    write_old(tmp_path / "sub/a.h", "#include <b.h>\n")
    write_old(tmp_path / "sub/b.h", "#define VALUE 1\n")
    write_old(tmp_path / "b.h", "#define VALUE 4711\n")
    source = '#include "sub/a.h"\n' + VALUE
    assert b"4711" in ptx(source, include_dirs=[tmp_path])
    write_old(tmp_path / "b.h", "#define VALUE 1174\n", age=30)
    assert b"1174" in ptx(source, include_dirs=[tmp_path])


@pytest.mark.parametrize(
    "line",
    [
        "/* why */ #include <a.h>",
        "# /* why */ include /**/ <a.h>",
        "#include \\\n<a.h>",
        "%:include <a.h>",
        "#include_next <a.h>",
    ],
)
def test_each_form_of_an_include_line(tmp_path, line):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    write_old(tmp_path / "second/a.h", "#define VALUE 4711\n")
    folders = [tmp_path / "first", tmp_path / "second"]

    def compile():
        return ptx(f"{line}\n{VALUE}", include_dirs=folders, options=["-w"])

    assert b"4711" in compile()
    write_old(tmp_path / "second/a.h", "#define VALUE 1174\n", age=30)
    assert b"1174" in compile()
    write_old(tmp_path / "first/a.h", "#define VALUE 7141\n")
    assert b"7141" in compile()


@pytest.mark.parametrize("name", ["memory.h", "limits.h", "map", "vector"])
def test_headers_of_the_user_named_like_standard_ones(tmp_path, name):
    """The user's header is used, and the other standard headers still work."""
    others = "#include <stdint.h>\n#include <limits>\n#include <climits>\n"
    use = "__global__ void g(uint32_t *a) { *a = INT_MAX + sqrt(2); }\n"

    def compile(folder):
        source = f"#include <{name}>\n{others}{use}{VALUE}"
        return ptx(source, include_dirs=[folder], no_extern_c=True)

    with pytest.raises(CompileError, match='"VALUE" is undefined'):
        compile(tmp_path)
    write_old(tmp_path / name, "#define VALUE 4711\n")
    assert b"4711" in compile(tmp_path)
    write_old(tmp_path / name, "#define VALUE 1174\n", age=30)
    assert b"1174" in compile(tmp_path)


def test_system_headers_in_a_named_folder_are_not_the_users(runs):
    """The headers of the C library are for the host."""
    if not os.path.isfile("/usr/include/string.h"):
        pytest.skip("needs the headers of the C library")
    source = "#include <string.h>\n#include <math.h>\n" + ONE
    assert with_nvrtc(source, include_dirs=["/usr/include"])[:4] == b"\x7fELF"


def test_two_toolkits_of_one_release(tmp_path, monkeypatch):
    """The key has the toolkit's folder, because its headers are not checked singly."""
    real = nvrtc.find()
    for name, value in (("one", 4711), ("two", 1174)):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "include").mkdir()
        (tmp_path / name / "nvvm").mkdir()
        write_old(tmp_path / name / "include/cuda_runtime.h", "")
        write_old(tmp_path / name / "include/own.h", f"#define VALUE {value}\n")
        (tmp_path / name / "lib" / os.path.basename(real)).symlink_to(real)
        monkeypatch.setenv("CUDA_HOME", str(tmp_path / name))
        assert str(value).encode() in ptx("#include <own.h>\n" + VALUE)


def test_another_library_in_the_same_place(tmp_path, monkeypatch, runs):
    real = nvrtc.find()
    path = tmp_path / "libnvrtc.so.13"
    monkeypatch.setattr(nvrtc, "find", lambda: str(path))
    monkeypatch.setattr(
        nvrtc_program, "_libraries", {str(path): nvrtc_program._Library(real)}
    )
    for text in ("one", "another"):
        path.write_text(text)
        for _ in range(2):
            with_nvrtc(ONE)
    assert len(runs) == 2


def test_headers_beside_a_library_that_is_in_no_toolkit(tmp_path, monkeypatch, runs):
    """The folder has other headers than the toolkit's, as in a conda environment."""
    monkeypatch.setattr(nvrtc, "_own_folders", lambda path: [str(tmp_path)])
    write_old(tmp_path / "own.h", "#if __has_include(<x>)\n#endif\n#define VALUE 4711")
    for _ in range(2):
        assert b"4711" in ptx("#include <own.h>\n" + VALUE)
    assert len(runs) == 1
    write_old(tmp_path / "own.h", "#define VALUE 1174\n", age=30)
    assert b"1174" in ptx("#include <own.h>\n" + VALUE)
    assert toolkit.folders_of_toolkit(str(tmp_path)) == []


@pytest.mark.parametrize(
    "source",
    [
        '#define NAME "a.h"\n#include NAME\n',
        '#define NAME "a.h"\n/* why */ %:include NAME\n',
        '#if __has_include("a.h")\n#endif\n',
    ],
)
def test_what_cannot_be_followed_is_not_kept(source, tmp_path, runs):
    write_old(tmp_path / "a.h", "")
    for _ in range(2):
        with_nvrtc(source + ONE, include_dirs=[tmp_path])
    assert len(runs) == 2


def test_forced_header_is_not_kept(tmp_path, runs):
    write_old(tmp_path / "a.h", "#define VALUE 1\n")
    source = "__global__ void f(int *a) { *a = VALUE; }"
    for _ in range(2):
        with_nvrtc(source, options=["-include", str(tmp_path / "a.h")])
    assert len(runs) == 2


def test_include_lines_are_followed_as_the_compiler_does(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write_old(tmp_path / "two/a.h", '#include "b.h"\n# include <c.h>\n')
    write_old(tmp_path / "two/b.h", '#include "a.h"\n#include "absent.h"\n')
    write_old(tmp_path / "one/b.h", "")
    write_old(tmp_path / "one/c.h", "")
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]
    source = '#include <stdio.h>\n#include "a.h"\n'
    read = manifest.follow_includes(source, folders, [])
    assert sorted(os.path.relpath(path, tmp_path) for path in read) == [
        "one/c.h",
        "two/a.h",
        "two/b.h",
    ]
