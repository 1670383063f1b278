"""Programs that ran with a compiler, run again with their bundle and without one."""

import os
import subprocess
import sys
import textwrap
import types

import pytest

from pycuda import _argument_types, _source_calls, precompile
from support.compilers import needs_nvcc

#: Hide every compiler, and the cache.
NOWHERE = """
import sys
from pycuda._compile import toolkit
toolkit.homes = lambda: []
toolkit.in_wheels = lambda parts: []
toolkit.on_path = lambda names: None
from pycuda._compile import nvrtc
nvrtc.find = lambda: None
"""

PROGRAM = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

module = SourceModule('''
#include <texture.h>

template <class T> __global__ void scaled(T *a) { a[threadIdx.x] *= FACTOR; }
''', no_extern_c=True, options=["-DFACTOR=3"], include_dirs=[FOLDER],
    name_expressions=["scaled<float>"])
a = np.arange(4, dtype=np.float32)
module.get_function("scaled<float>")(drv.InOut(a), block=(4, 1, 1))
b = np.arange(4)
module.get_function("scaled<long long>")(drv.InOut(b), block=(4, 1, 1))
x = gpuarray.arange(4, dtype=np.float32)
print(a, b, (2 * x + 1).get())
half = ElementwiseKernel("float *x", "x[i] = 0.5f * x[i]")
half(x)
print(x.get(), gpuarray.sum(x).get())
"""
SAID = "[0. 3. 6. 9.] [0 3 6 9] [1. 3. 5. 7.]\n[0.  0.5 1.  1.5] 3.0\n"


def run(*command, **environ):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYCUDA_")}
    if "PYCUDA_DRIVER" in os.environ:
        kept["PYCUDA_DRIVER"] = os.environ["PYCUDA_DRIVER"]
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env={**kept, "PYCUDA_COMPILER": "nvrtc", **environ},
        timeout=300,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("program")


@pytest.fixture(scope="module")
def made(folder):
    """The program and its bundle."""
    (folder / "include").mkdir()
    (folder / "include" / "texture.h").write_text("// nothing\n")
    program = folder / "program.py"
    program.write_text(PROGRAM.replace("FOLDER", repr(str(folder / "include"))))
    done = run(
        *("-m", "pycuda.precompile", program, "-o", folder / "app.bundle"),
        PYCUDA_CACHE_DIR=str(folder / "cache"),
        PYTHONWARNINGS="error::UserWarning:__main__",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(SAID)
    return program, folder / "app.bundle"


def run_without_compilers(program, folder, **environ):
    text = NOWHERE + f"import runpy\nrunpy.run_path({str(program)!r}, None, '__main__')"
    return run("-c", text, PYCUDA_CACHE_DIR=str(folder / "no cache"), **environ)


@needs_nvcc
@pytest.mark.gpu
def test_a_program_with_its_bundle_needs_no_compiler(made, folder):
    program, path = made
    (folder / "include" / "texture.h").unlink()
    done = run_without_compilers(program, folder, PYCUDA_BUNDLE=str(path))
    assert (done.stdout, done.returncode) == (SAID, 0), done.stderr
    assert not (folder / "no cache").exists()


@needs_nvcc
@pytest.mark.gpu
def test_without_the_bundle_it_needs_one(made, folder):
    done = run_without_compilers(made[0], folder)
    assert done.returncode == 1
    assert "CompilerNotFoundError" in done.stderr


FIRST = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
before = set(sys.modules)
from pycuda.compiler import SourceModule
module = SourceModule("__global__ void two(int *a) { a[threadIdx.x] *= 2; }")
a = np.arange(4, dtype=np.int32)
module.get_function("two")(drv.InOut(a), block=(4, 1, 1))
assert list(a) == [0, 2, 4, 6]
print(*sorted(set(sys.modules) - before))
"""

#: What the first kernel of a process may import after the context was made. The list is
#: short because the imports are most of its time: see bench/bench_compile.py.
ALLOWED = {
    "_blake2",
    "pycuda._argument_types",
    "pycuda._compile",
    "pycuda._compile.architecture",
    "pycuda._compile.build",
    "pycuda._compile.bundle",
    "pycuda._compile.request",
    "pycuda._compile.source_text",
    "pycuda._compile.store",
    "pycuda._excerpt",
    "pycuda._warning",
    "pycuda.compiler",
}


@needs_nvcc
@pytest.mark.gpu
def test_the_first_kernel_imports_little(folder):
    program = folder / "first.py"
    program.write_text(FIRST)
    path = folder / "first.bundle"
    cache = str(folder / "cache")
    done = run("-m", "pycuda.precompile", program, "-o", path, PYCUDA_CACHE_DIR=cache)
    assert done.returncode == 0, done.stderr
    with_compiler = set(done.stdout.splitlines()[0].split())
    done = run(program, PYCUDA_BUNDLE=str(path))
    assert done.returncode == 0, done.stderr
    found = set(done.stdout.split())
    assert "pycuda._compile.bundle" in found
    assert found <= ALLOWED
    assert with_compiler - ALLOWED  # the list is shorter than it could be


# Reading a program

READ = """
import textwrap
import types
import pycuda.compiler as cc
from pycuda import compiler
from pycuda.compiler import DynamicSourceModule, SourceModule as Module

BODY = "int x;"
TWICE = "int y;"
TWICE = "int z;"
SELF = SELF + "x"

def make(given, BODY2="no"):
    Module(given)
    Module(TWICE)
    Module(SELF)
    Module(open("x.cu").read())
    Module(BODY, **given)
    Module(BODY, wrong=1)
    Module(7)
    Module(BODY + " // 1", ["nvcc"][0])

Module(BODY)
cc.SourceModule(source=BODY + " // 2", options=["-DA"], no_extern_c=True)
compiler.compile("%s // %d" % (BODY, 3), target="ptx", arch="sm_80")
DynamicSourceModule(f"{BODY} // {4:>2}")
Module(textwrap.dedent('''
    int v;
''').replace("v", "w"), include_dirs=["include"], name_expressions=("f<int>",))
compile("a = 1", "x", "exec")
Other(BODY)
"""


def test_what_can_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "program.py"
    program.write_text(READ)
    found, unread = _source_calls.read(str(program))
    texts = {str(each.request.source): each for each in found}
    assert list(texts) == ["int x;", "int x; // 2", "int x; // 3", "int x; //  4"] + [
        "\nint w;\n"
    ]
    second = texts["int x; // 2"].request
    assert (second.options, second.no_extern_c, second.linked) == (("-DA",), True, True)
    third = texts["int x; // 3"].request
    assert (third.target, third.arch, third.linked) == ("ptx", "sm_80", False)
    fourth = texts["int x; //  4"].request
    assert (fourth.target, fourth.options) == ("ptx", ("-rdc=true", "-lcudadevrt"))
    last = texts["\nint w;\n"]
    assert last.names == ("f<int>",)
    assert last.request.include_dirs == [str(tmp_path / "include")]
    assert [each.text for each in unread] == [
        "given",
        "TWICE",
        "SELF + 'x'",
        "open('x.cu').read()",
        "given",
        "Module: got an unexpected keyword argument 'wrong'",
        "the source is no text",
        "['nvcc'][0]",
    ]
    first = READ.splitlines().index("    Module(given)") + 1
    assert unread[0].line == f"{program}:{first}"


def test_what_is_no_program(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text("def (:\n")
    words = ["--read", str(program), "--arch", "80", "-o", str(tmp_path / "b")]
    assert precompile.main(words) == 1
    assert "program.py, line 1" in capsys.readouterr().err


@needs_nvcc
def test_a_program_that_was_only_read(tmp_path):
    """Its bundle has the key that the running program asks for."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import sys
            from pycuda.compiler import SourceModule, compile
            SOURCE = "__global__ void one(int *a) { *a = NUMBER; }"
            def main():
                SourceModule(SOURCE, options=["-DNUMBER=1"])
            if len(sys.argv) > 1:
                main()
            compile(SOURCE, options=["-DNUMBER=2"], arch="sm_80")
            """
        )
    )
    (tmp_path / "one.cu").write_text("__global__ void two(int *a) { *a = 2; }")
    path = tmp_path / "app.bundle"
    words = ("--read", program, tmp_path / "one.cu", "--arch", "sm_80,compute_75")
    done = run("-m", "pycuda.precompile", *words, "-o", path)
    assert done.returncode == 0, done.stderr
    assert [row.kernels for row in precompile.contents(path)] == ["one", "one", "two"]
    folder = tmp_path / "empty"
    folder.mkdir()
    done = run_without_compilers(program, folder, PYCUDA_BUNDLE=str(path))
    assert done.returncode == 0, done.stderr
    done = run_without_compilers(program, folder)
    assert done.returncode == 1


# Types of parameters

DECLARATIONS = """
typedef float real;
__global__ void one(const real *a, int n, unsigned char c) {}
__global__ void none() {}
__global__ void two(struct thing s, long long *const p) {}
__global__ void two(struct thing s, long long *const p);
__global__ void differs(int a);
__global__ void differs(float a) {}
template <class T> __global__ void of_template(T *a) {}
"""


def test_a_bundle_has_the_types_that_the_source_declares():
    names = ["one", "none", "two", "differs", "of_template", "absent"]
    found = _argument_types.of_source(DECLARATIONS, names)
    assert found["one"] == "pfviv" + "B"
    assert set(found) >= {"one", "two"}
    assert "differs" not in found
    module = types.SimpleNamespace(_source=DECLARATIONS)
    for name, characters in found.items():
        count = len(characters) // 2
        read = _argument_types.characters(module, None, name, count)
        assert read == characters.encode()


def test_types_of_another_number_of_parameters_are_not_used():
    module = types.SimpleNamespace(_source="", _characters={"one": "pfvi"})
    assert _argument_types.characters(module, None, "one", 2) == b"pfvi"
    assert _argument_types.characters(module, None, "one", 1) == b"vu"


WRONG = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
module = SourceModule("__global__ void two(float *values) { values[0] = 2; }")
module.get_function("two")(drv.InOut(np.zeros(4, np.int32)), block=(1, 1, 1))
"""


@needs_nvcc
@pytest.mark.gpu
def test_a_wrong_argument_is_reported_with_a_bundle_too(folder):
    program = folder / "wrong.py"
    program.write_text(WRONG)
    path = folder / "wrong.bundle"
    cache = str(folder / "cache")
    first = run("-m", "pycuda.precompile", program, "-o", path, PYCUDA_CACHE_DIR=cache)
    assert "argument 0 of two" in first.stderr
    done = run_without_compilers(program, folder, PYCUDA_BUNDLE=str(path))
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == first.stderr.splitlines()[0]
    assert "float" in done.stderr
