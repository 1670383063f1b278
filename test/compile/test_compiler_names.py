"""Kernels from templates, instantiated by name: ``get_function("f<float>")``."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import compiler
from pycuda._compile import nvcc, nvrtc, nvrtc_program
from pycuda.compiler import SourceModule
from pycuda.driver import CompileError
from support.compilers import REAL_NVCC, make_counting

SOURCE = """
typedef double real;
__device__ int calls;

template <class T> __global__ void scale(T *a, T factor)
{
    a[threadIdx.x] *= factor;
    if (threadIdx.x == 0)
        calls++;
}

namespace space {
template <class T, int N> __global__ void fill(T *a) { a[threadIdx.x] = N; }
__global__ void seven(int *a) { *a = 7; }
}

template <class T> __global__ void twice(T *a) { a[threadIdx.x] *= 2; }
template <class T> __global__ void twice(T *a, int n) { a[n] *= 2; }
"""

pytestmark = pytest.mark.gpu


@pytest.fixture(params=["nvcc", "nvrtc"])
def which(request, tmp_path, monkeypatch):
    """Each compiler, with its own empty cache."""
    if request.param == "nvcc" and REAL_NVCC is None:
        pytest.skip("needs nvcc, which is not installed")
    if request.param == "nvrtc" and nvrtc.find() is None:
        pytest.skip("needs NVRTC, which is not installed")
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PYCUDA_COMPILER", raising=False)
    return request.param


def scaled(module, name, dtype):
    values = np.arange(4, dtype=dtype)
    module.get_function(name)(drv.InOut(values), dtype(3), block=(4, 1, 1))
    return values.tolist()


def test_instances_that_the_program_asks_for(which, ctx):
    module = SourceModule(SOURCE, no_extern_c=True, compiler=which)
    assert scaled(module, "scale<float>", np.float32) == [0, 3, 6, 9]
    assert scaled(module, "scale<int>", np.int32) == [0, 3, 6, 9]
    assert scaled(module, "scale<real>", np.float64) == [0, 3, 6, 9]
    assert module.get_function("scale<real>").name == "_Z5scaleIdEvPT_S0_"


def test_an_instance_is_loaded_where_the_module_is(which, ctx):
    module = SourceModule(SOURCE, no_extern_c=True, compiler=which)
    other = drv.Device(0).make_context()
    try:
        scale = module.get_function("scale<float>")
        assert drv.Context.get_current() == other
    finally:
        other.pop()
        other.detach()
    values = np.arange(4, dtype=np.float32)
    scale(drv.InOut(values), np.float32(3), block=(4, 1, 1))
    assert values.tolist() == [0, 3, 6, 9]


def test_names_are_expressions(which, ctx):
    module = SourceModule(SOURCE, no_extern_c=True, compiler=which)
    values = np.zeros(3, np.float64)
    module.get_function("space::fill<real, (3 > 2) + 4>")(
        drv.Out(values), block=(3, 1, 1)
    )
    assert values.tolist() == [5, 5, 5]
    number = np.zeros(1, np.int32)
    module.get_function("space::seven")(drv.Out(number), block=(1, 1, 1))
    assert number[0] == 7
    module.get_function("(void (*)(float *)) twice<float>")


def test_instances_named_beforehand_share_the_variables(which, ctx):
    names = ["scale<float>", "scale<int>"]
    module = SourceModule(
        SOURCE, no_extern_c=True, compiler=which, name_expressions=names
    )

    def calls():
        number = np.zeros(1, np.int32)
        drv.memcpy_dtoh(number, module.get_global("calls")[0])
        return number[0]

    scaled(module, "scale<float>", np.float32)
    scaled(module, "scale<int>", np.int32)
    assert calls() == 2
    scaled(module, "scale<double>", np.float64)  # a module of its own
    assert calls() == 2


def test_templates_beside_plain_kernels(which, ctx):
    source = """
    extern "C++" {
    template <class T> __global__ void one(T *a) { *a = 1; }
    }
    __global__ void two(int *a) { *a = 2; }
    """
    module = SourceModule(source, compiler=which)
    for name, expected in (("one<int>", 1), ("two", 2)):
        number = np.zeros(1, np.int32)
        module.get_function(name)(drv.Out(number), block=(1, 1, 1))
        assert number[0] == expected


@pytest.mark.parametrize("name", ["missing<int>", "space::nope", "twice<float>"])
def test_names_that_mean_nothing_are_the_compilers_error(which, ctx, name):
    module = SourceModule(SOURCE, no_extern_c=True, compiler=which)
    with pytest.raises(CompileError) as caught:
        module.get_function(name)
    assert name.partition("<")[0].rpartition("::")[2] in caught.value.stderr


@pytest.mark.parametrize("name", ["scale<float>\n", "a<b>\nc", ""])
def test_names_that_are_none(which, ctx, name):
    with pytest.raises(ValueError, match="not the name"):
        SourceModule(
            SOURCE, no_extern_c=True, compiler=which, name_expressions=[name + "\n"]
        )
    with pytest.raises(TypeError, match="name_expressions"):
        SourceModule(
            SOURCE, no_extern_c=True, compiler=which, name_expressions="scale<int>"
        )


def test_plain_names_are_looked_up_as_ever(which, ctx):
    module = SourceModule(SOURCE, no_extern_c=True, compiler=which)
    with pytest.raises(drv.LogicError, match="seven"):
        module.get_function("seven")
    assert module.get_function("_ZN5space5sevenEPi").name == "_ZN5space5sevenEPi"


def test_instances_are_cached(which, ctx, tmp_path, monkeypatch):
    counted = make_counting(tmp_path)
    runs = []
    real = nvrtc_program._compile
    monkeypatch.setattr(
        nvrtc_program, "_compile", lambda *a: (runs.append(a), real(*a))[1]
    )
    how = {"nvcc": counted.path} if which == "nvcc" else {"compiler": which}

    def count():
        return len(runs) + len(counted.calls)

    first = SourceModule(SOURCE, no_extern_c=True, **how)
    one = first.get_function("scale<float>")
    assert first.get_function("scale<float>").name == one.name
    made = count()
    second = SourceModule(SOURCE, no_extern_c=True, **how)
    assert second.get_function("scale<float>").name == one.name
    assert scaled(second, "scale<float>", np.float32) == [0, 3, 6, 9]
    assert count() == made


def test_subclass_that_does_not_call_ours(ctx):
    class Loaded(compiler.SourceModule):
        def __init__(self, module):
            self.module = module

    class Module:
        def get_function(self, name):
            return name

    assert Loaded(Module()).get_function("f<float>") == "f<float>"


@pytest.mark.skipif(REAL_NVCC is None, reason="needs nvcc, which is not installed")
@pytest.mark.parametrize(
    "options",
    [
        ["-arch=sm_80"],
        ["-arch", "compute_80", "-code", "sm_80"],
        ["-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"],
        ["--gpu-architecture=compute_80", "--gpu-code=sm_80,sm_86", "-std=c++14"],
    ],
)
def test_names_for_several_architectures(options, tmp_path):
    tool = nvcc.Tool("nvcc")
    result = tool.run(SOURCE, options, "fatbin", False, ("scale<float>", "scale<int>"))
    assert result.lowered == ["_Z5scaleIfEvPT_S0_", "_Z5scaleIiEvPT_S0_"]
    assert result.image[:4] == b"\x50\xed\x55\xba"


def test_a_name_that_is_none(which, ctx):
    module = SourceModule(SOURCE, no_extern_c=True, compiler=which)
    with pytest.raises(TypeError, match="name must be a str, not int"):
        module.get_function(3)
