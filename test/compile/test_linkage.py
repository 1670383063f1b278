"""Headers with C++ inside the extern "C" that is put around a source."""

import re
import warnings

import pytest

from pycuda import compiler
from pycuda._compile import nvrtc, source_text
from pycuda._compile.source_text import wrapped
from pycuda.driver import CompileError
from support.compilers import needs_nvcc

COMPILERS = [
    pytest.param("nvcc", marks=needs_nvcc),
    pytest.param(
        "nvrtc",
        marks=pytest.mark.skipif(nvrtc.find() is None, reason="needs libnvrtc"),
    ),
]

HALF = """
// #include <nothing.h>
#include <cuda_bf16.h>
/* #include <nothing.h> */
__global__ void twice(__nv_bfloat16 *a, float *b)
{ b[0] = 2 * __bfloat162float(a[0]); }
"""


@pytest.fixture(params=COMPILERS)
def compile_ptx(request, cache):
    def run(source, **more):
        return compiler.compile(
            source, target="ptx", arch="compute_80", compiler=request.param, **more
        ).decode()

    return run


def test_a_header_with_templates(compile_ptx):
    with pytest.warns(UserWarning, match="<cuda_bf16.h>.*no_extern_c=True") as caught:
        image = compile_ptx(HALF)
    assert len(caught) == 1 and "nothing" not in str(caught[0].message)
    assert re.search(r"\.entry twice\(", image)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_ptx(HALF) == image  # from the cache


def test_the_header_needs_the_second_compilation(compile_ptx, monkeypatch):
    """Without it the errors are those that the retry is for."""
    monkeypatch.setattr(
        source_text, "is_linkage_complaint", lambda source, output: False
    )
    with pytest.raises(CompileError, match="linkage"):
        compile_ptx(HALF)


def test_errors_of_the_program_have_their_lines(compile_ptx):
    source = (
        "\n#include <cuda_bf16.h>\n\n__global__ void k(float *a)\n{ a[0] = bad; }\n"
    )
    with pytest.raises(CompileError) as caught:
        compile_ptx(source)
    text = str(caught.value)
    assert 'kernel.cu(5): error: identifier "bad" is undefined' in text
    assert "kernel.cu, line 5:" in text and "linkage" not in text
    assert "no_extern_c" not in text


@pytest.mark.parametrize("include", ["", "#include <cuda_bf16.h>\n"])
def test_templates_of_the_program(compile_ptx, include):
    source = f"{include}template <class T> __device__ T f(T x) {{ return x; }}\n"
    with pytest.raises(CompileError) as caught:
        compile_ptx(source)
    assert "Pass no_extern_c=True" in caught.value.msg
    number = 1 + len(include.splitlines())
    assert f"kernel.cu({number}): error" in str(caught.value)
    assert "cuda_fp16" not in str(caught.value)


def test_a_source_without_the_wrapping_is_compiled_once(compile_ptx):
    source = 'extern "C" {\n#include <cuda_bf16.h>\n}\n'
    with pytest.raises(CompileError, match="linkage") as caught:
        compile_ptx(source, no_extern_c=True)
    assert "no_extern_c" not in caught.value.msg


def test_a_source_with_numbers_of_its_own_is_not_changed():
    source = wrapped('#line 7 "mine.cu"\n#include <cuda_bf16.h>\n', False)
    assert source_text.with_headers_outside(source) == (source, [])


def test_only_includes_are_changed():
    text = (
        '#include <a.h>\n"#include <b.h>";\n/*\n#include <c.h>\n*/\n # include <d.h>\n'
    )
    source = wrapped(text, False)
    changed, headers = source_text.with_headers_outside(source)
    assert headers == ["a.h", "d.h"]
    assert changed.count('extern "C++" {') == 2
    assert '}\n#line 2 "kernel.cu"\n"#include <b.h>"' in changed
    assert changed.endswith(source[source.index('#line 1 "after') :])
