"""Arguments of another type than their parameters: one warning for each call site."""

import gc
import sys
import warnings

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _argument_types, _parameter_types, _symbol_types, gpuarray
from pycuda.compiler import SourceModule, compile
from pycuda.driver import ArgumentTypeWarning
from support.child import run_child
from support.dlpack import WithDLPack

pytestmark = pytest.mark.gpu

SOURCE = """
#include <stdint.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef float real;
using index = long long;
struct four { float a, b, c, d; };
#define TAKE(name, type) __global__ void name(type v) {}
extern "C" {
__global__ void of_float(float factor) {}
__global__ void of_real(real factor) {}
__global__ void of_double(const double factor) {}
__global__ void of_int(int n) {}
__global__ void of_unsigned(unsigned int n) {}
__global__ void of_long(index n) {}
__global__ void of_size(size_t n) {}
__global__ void of_address(uintptr_t p) {}
__global__ void of_half(__half h) {}
__global__ void of_bfloat(__nv_bfloat16 h) {}
__global__ void of_short(short h) {}
__global__ void of_bits(unsigned short h) {}
__global__ void of_byte(signed char c) {}
__global__ void of_bool(bool c) {}
__global__ void of_pair(float2 z) {}
__global__ void of_void(void *p) {}
__global__ void of_floats(const float *__restrict__ x) {}
__global__ void of_doubles(double x[]) {}
__global__ void of_ints(unsigned *x) {}
__global__ void of_longs(unsigned long long *x) {}
__global__ void of_shorts(short *x) {}
__global__ void of_halves(half *x) {}
__global__ void of_chars(char *x) {}
__global__ void of_uchars(unsigned char *x) {}
__global__ void of_pairs(float2 *x) {}
__global__ void of_pointers(float **x) {}
__global__ void of_complex(pycuda::complex<float> *x) {}
__global__ void of_fours(four *x) {}
TAKE(of_macro, float)
}
__global__ void mangled(float *x, int n) {}
template <class T> __global__ void generic(T *x, T factor, int n) {}
"""
ONE = {"block": (1, 1, 1)}


@pytest.fixture(scope="module")
def module_of_all():
    context = drv.Device(0).make_context()
    source = "#include <pycuda-complex.hpp>\n" + SOURCE
    names = ["generic<float>"]
    try:
        module = SourceModule(
            source, no_extern_c=True, compiler="nvrtc", name_expressions=names
        )
    finally:
        context.pop()
    yield context, module
    del module
    gc.collect()
    context.detach()


@pytest.fixture
def mod(module_of_all):
    context, module = module_of_all
    context.push()
    yield module
    gc.collect()
    context.pop()


def empty(dtype):
    return gpuarray.empty(4, dtype)


def scalar(name):
    return lambda: getattr(np, name)(1)


def allocation():
    return drv.mem_alloc(64)


# fmt: off
WRONG = [
    ("of_float", scalar("int32"), "numpy.int32", "'factor' is a float"),
    ("of_float", scalar("uint32"), "numpy.uint32", "'factor' is a float"),
    ("of_real", scalar("int32"), "numpy.int32", "'factor' is a real"),
    ("of_double", scalar("int64"), "numpy.int64", "'factor' is a const double"),
    ("of_double", scalar("complex64"), "numpy.complex64", "const double"),
    ("of_double", allocation, "DeviceAllocation", "'factor' is a const double"),
    ("of_double", lambda: empty(np.float64), "GPUArray of float64", "const double"),
    ("of_double", lambda: drv.In(np.zeros(2)), "In of float64", "const double"),
    ("of_int", scalar("float32"), "numpy.float32", "'n' is an int"),
    ("of_int", lambda: np.array(1, np.float32), "ndarray of float32", "'n' is an int"),
    ("of_long", scalar("float64"), "numpy.float64", "'n' is an index"),
    ("of_long", allocation, "DeviceAllocation", "'n' is an index"),
    ("of_size", lambda: empty(np.int64), "GPUArray of int64", "'n' is a size_t"),
    ("of_half", scalar("int16"), "numpy.int16", "'h' is a __half"),
    ("of_short", scalar("float16"), "numpy.float16", "'h' is a short"),
    ("of_bfloat", scalar("float16"), "numpy.float16", "'h' is a __nv_bfloat16"),
    ("of_pair", scalar("float64"), "numpy.float64", "'z' is a float2"),
    ("of_floats", scalar("float64"), "numpy.float64",
     r"'x' is a const float *__restrict__"),
    ("of_floats", lambda: empty(np.float64), "GPUArray of float64", "const float *"),
    ("of_floats", lambda: empty(np.int32), "GPUArray of int32", "const float *"),
    ("of_floats", lambda: drv.InOut(np.zeros(3, int)), "InOut of int64", "float *"),
    ("of_floats", lambda: drv.In(np.array(["a"])), "In of <U1", "float *"),
    ("of_halves", lambda: drv.InOut(np.array([b"ab"])), "InOut of |S2", "half *"),
    ("of_longs", lambda: drv.Out(np.array(["a"])), "Out of <U1", "long long *"),
    ("of_doubles", lambda: empty(np.float32), "GPUArray of float32", "double []"),
    ("of_ints", lambda: empty(np.float32), "GPUArray of float32", "unsigned *"),
    ("of_longs", lambda: empty(np.int32), "GPUArray of int32", "unsigned long long *"),
    ("of_shorts", lambda: empty(np.int32), "GPUArray of int32", "short *"),
    ("of_halves", lambda: empty(np.float32), "GPUArray of float32", "half *"),
    ("of_uchars", lambda: empty(np.float32), "GPUArray of float32", "unsigned char *"),
    ("of_pointers", lambda: empty(np.float64), "GPUArray of float64", "float **"),
    ("generic", scalar("float32"), "numpy.float32", "'n' is an int"),
    ("mangled", scalar("float32"), "numpy.float32", "'n' is an int"),
]
RIGHT = [
    ("of_float", scalar("float32")), ("of_real", scalar("float32")),
    ("of_double", scalar("float64")), ("of_int", scalar("int32")),
    ("of_int", scalar("uint32")), ("of_int", scalar("int16")),
    ("of_unsigned", scalar("int32")), ("of_long", scalar("int64")),
    ("of_long", scalar("int32")), ("of_size", scalar("uint64")),
    ("of_size", scalar("int64")), ("of_address", allocation),
    ("of_address", scalar("uintp")), ("of_half", scalar("float16")),
    ("of_half", scalar("uint16")), ("of_bfloat", scalar("uint16")),
    ("of_bits", scalar("float16")), ("of_byte", scalar("uint8")),
    ("of_bool", scalar("bool_")), ("of_bool", scalar("uint8")),
    ("of_pair", scalar("complex64")), ("of_pair", lambda: np.zeros(2, np.float32)),
    ("of_void", allocation), ("of_void", lambda: empty(np.int8)),
    ("of_floats", allocation), ("of_floats", lambda: empty(np.float32)),
    ("of_floats", lambda: empty(np.complex64)),
    ("of_floats", lambda: drv.In(np.zeros(2, np.float32))),
    ("of_ints", lambda: drv.In(np.array(["a"]))),
    ("of_uchars", lambda: drv.InOut(np.array([b"abc"]))),
    ("of_chars", lambda: drv.In(np.array(["a"]))),
    ("of_void", lambda: drv.In(np.array(["a"]))),
    ("of_fours", lambda: drv.In(np.array([b"abc"]))),
    ("of_address", lambda: drv.In(np.array(["a"]))),
    ("of_floats", lambda: np.uintp(0)), ("of_floats", lambda: np.intp(0)),
    ("of_ints", lambda: empty(np.int32)), ("of_longs", lambda: empty(np.int64)),
    ("of_halves", lambda: empty(np.uint16)), ("of_chars", lambda: empty(np.float64)),
    ("of_uchars", lambda: empty(bool)), ("of_pairs", lambda: empty(np.float32)),
    ("of_pairs", lambda: empty(np.complex64)),
    ("of_pointers", lambda: empty(np.uint64)),
    ("of_complex", lambda: empty(np.complex64)),
    ("of_fours", lambda: empty(np.float32)), ("of_macro", scalar("int32")),
    ("of_floats", lambda: empty(np.dtype([("x", "f4"), ("y", "f4")]))),
]
# fmt: on


def arguments_for(name, value):
    """Return the arguments of a kernel, with ``value`` in the place of interest."""
    if name == "generic":
        return (empty(np.float32), np.float32(1), value)
    if name == "mangled":
        return (empty(np.float32), value)
    return (value,)


def function_of(mod, name):
    names = {"generic": "generic<float>", "mangled": "_Z7mangledPfi"}
    return mod.get_function(names.get(name, name))


@pytest.mark.parametrize(("name", "make", "found", "wanted"), WRONG)
def test_an_argument_of_another_type_is_a_warning(mod, name, make, found, wanted):
    arguments = arguments_for(name, make())
    function = function_of(mod, name)
    with pytest.warns(ArgumentTypeWarning) as record:
        function(*arguments, **ONE)
    (warning,) = record
    text = str(warning.message)
    assert found in text, text
    assert wanted in text, text
    assert f"argument {len(arguments) - 1} of {name} is a" in text
    assert warning.filename == __file__


@pytest.mark.parametrize(("name", "make"), RIGHT)
def test_an_argument_of_the_right_type_is_silent(mod, name, make):
    function = function_of(mod, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(*arguments_for(name, make()), **ONE)


def test_the_warning_says_what_to_pass(mod):
    with pytest.warns(ArgumentTypeWarning, match=r"Pass a numpy\.float32"):
        mod.get_function("of_float")(np.int32(5), **ONE)
    with pytest.warns(ArgumentTypeWarning, match=r"array of float32.*view"):
        mod.get_function("of_floats")(empty(np.float64), **ONE)
    with pytest.warns(ArgumentTypeWarning, match="Pass device memory"):
        mod.get_function("of_floats")(np.float64(1), **ONE)


class Interface:
    """An array of another library."""

    def __init__(self, array, typestr):
        self.array = array
        self.__cuda_array_interface__ = {
            **array.__cuda_array_interface__, "typestr": typestr
        }  # fmt: skip


def test_arrays_of_other_libraries(mod):
    array = empty(np.float32)
    floats = mod.get_function("of_floats")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for typestr in ("<f4", "<c8", "|V4", "<x4", 5):
            floats(Interface(array, typestr), **ONE)
    for typestr in ("<f8", "<i4", "|u1", "<f2"):
        with pytest.warns(ArgumentTypeWarning):
            floats(Interface(array, typestr), **ONE)


def test_arrays_that_have_dlpack(mod):
    floats = mod.get_function("of_floats")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        floats(WithDLPack(empty(np.float32)), **ONE)
    with pytest.warns(ArgumentTypeWarning, match="float64"):
        floats(WithDLPack(empty(np.float64)), **ONE)


def test_memory_that_has_dlpack(mod):
    """Libraries export memory without a type as bytes. Arrays of bytes have a dtype."""
    floats = mod.get_function("of_floats")
    memory = WithDLPack(empty(np.int8))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        floats(memory, **ONE)
        floats(WithDLPack(empty(np.uint8)), **ONE)
    memory.dtype = np.dtype(np.int8)
    with pytest.warns(ArgumentTypeWarning, match="int8"):
        floats(memory, **ONE)


def test_managed_memory(mod):
    flags = drv.mem_attach_flags.GLOBAL
    right = drv.managed_empty(4, np.float32, mem_flags=flags)
    wrong = drv.managed_empty(4, np.float64, mem_flags=flags)
    floats = mod.get_function("of_floats")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        floats(right, **ONE)
    with pytest.warns(ArgumentTypeWarning, match="float64"):
        floats(wrong, **ONE)
    drv.Context.synchronize()


# -- the call site


def test_a_call_site_warns_once(mod):
    function = mod.get_function("of_float")
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("default")
        for _ in range(5):
            function(np.int32(1), **ONE)
        assert len(record) == 1
        function(np.int32(1), **ONE)
        assert len(record) == 2
        assert record[0].lineno != record[1].lineno
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        for _ in range(3):
            function(np.int32(1), **ONE)
        assert len(record) == 3


def test_new_filters_apply_to_a_site_that_has_warned(mod):
    function = mod.get_function("of_float")
    for action in ("default", "error", "ignore", "error"):
        with warnings.catch_warnings(record=True) as record:
            warnings.simplefilter(action)
            try:
                function(np.int32(1), **ONE)
                raised = False
            except ArgumentTypeWarning:
                raised = True
        assert raised == (action == "error")
        assert len(record) == (action == "default")


def test_a_function_keeps_no_site_longer_than_itself(mod):
    function = mod.get_function("of_float")
    names = {"function": function, "value": np.int32(1), "one": ONE}
    codes = [compile_line(number) for number in range(40)]
    counts = [sys.getrefcount(code) for code in codes]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in codes:
            exec(code, dict(names))
    del function, names, code
    nothing = mod.get_function("of_void")
    for _ in range(100):  # the context remembers the lines of its last launches
        nothing(np.uintp(0), **ONE)
    gc.collect()
    assert [sys.getrefcount(code) for code in codes] == counts


def compile_line(number):
    import builtins

    return builtins.compile(
        "function(value, **one)", f"a line {number}", "exec", dont_inherit=True
    )


def test_a_warning_that_is_an_error_stops_the_launch(mod):
    out = drv.mem_alloc(4)
    drv.memset_d32(out, 7, 1)
    module = SourceModule("__global__ void put(int *out, float x) { *out = x; }")
    put = module.get_function("put")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(ArgumentTypeWarning):
                put(out, np.int32(5), **ONE)
    assert drv.from_device(out, 1, np.int32).tolist() == [7]


def test_strict(mod, monkeypatch):
    monkeypatch.setenv("PYCUDA_STRICT", "1")
    function = mod.get_function("of_float")
    for _ in range(2):
        with pytest.raises(TypeError, match="'factor' is a float"):
            function(np.int32(1), **ONE)
    with pytest.raises(TypeError, match="'i' in the format"):
        function.prepare("i")
    function(np.float32(1), **ONE)
    monkeypatch.setenv("PYCUDA_STRICT", "0")
    with pytest.warns(ArgumentTypeWarning):
        function(np.int32(1), **ONE)


# -- prepared calls

# fmt: off
FORMATS = [
    ("of_float", "f", True), ("of_float", "i", False), ("of_float", "P", False),
    ("of_float", [np.float32], True), ("of_float", [np.int32], False),
    ("of_int", "i", True), ("of_int", "P", True), ("of_int", "f", False),
    ("of_int", "q", True), ("of_long", "d", False), ("of_long", "i", True),
    ("of_double", "d", True), ("of_double", "q", False), ("of_double", "F", False),
    ("of_floats", "P", True), ("of_floats", "Q", True), ("of_floats", "d", False),
    ("of_floats", [np.intp], True), ("of_half", "e", True), ("of_half", "h", True),
    ("of_pair", "F", True), ("of_pair", "d", False), ("of_pair", "ff", True),
    ("of_void", "P", True), ("of_size", "P", True), ("of_bool", "?", True),
]
# fmt: on


@pytest.mark.parametrize(("name", "form", "right"), FORMATS)
def test_formats_of_prepared_calls(mod, name, form, right):
    function = mod.get_function(name)
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        function.prepare(form)
    assert [w.category for w in record] == [ArgumentTypeWarning] * (not right)
    assert all(w.filename == __file__ for w in record)


def test_arrays_of_prepared_calls(mod):
    function = mod.get_function("of_floats").prepare("P")
    right, wrong = empty(np.float32), empty(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function.prepared_call((1, 1), (1, 1, 1), right)
        function.prepared_call((1, 1), (1, 1, 1), wrong.gpudata)
    with pytest.warns(ArgumentTypeWarning, match="GPUArray of float64"):
        function.prepared_call((1, 1), (1, 1, 1), wrong)


# -- code without a source

PTX_SOURCE = """
extern "C" __global__ void plain(float *x, float a, int n, double d, size_t m) {}
__global__ void mangled(float *x, unsigned char c, const double *y, double *z) {}
struct two { float a, b; };
extern "C" __global__ void of_two(two p) {}
"""


@pytest.fixture(scope="module")
def ptx():
    return compile(PTX_SOURCE, no_extern_c=True, target="ptx", compiler="nvrtc")


@pytest.mark.parametrize("from_file", [False, True])
def test_ptx_tells_floats_from_integers(mod, ptx, tmp_path, from_file):
    if from_file:
        (tmp_path / "code.ptx").write_bytes(ptx)
        module = drv.module_from_file(str(tmp_path / "code.ptx"))
    else:
        module = drv.module_from_buffer(ptx)
    plain = module.get_function("plain")
    x = empty(np.float32)
    right = [x, np.float32(1), np.int32(1), np.float64(1), np.uint64(1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain(*right, **ONE)
        plain(empty(np.float64), *right[1:], **ONE)  # PTX does not say
        module.get_function("of_two")(np.zeros(2, np.float32), **ONE)
    for place, value in ((1, np.int32(1)), (2, np.float32(1)), (3, np.int64(1))):
        wrong = [*right[:place], value, *right[place + 1 :]]
        with pytest.warns(ArgumentTypeWarning, match=f"argument {place} of plain"):
            plain(*wrong, **ONE)


@pytest.mark.parametrize("value", [np.datetime64(5, "s"), np.timedelta64(5, "s")])
def test_a_time_is_no_address(ctx, value, monkeypatch):
    """It has the 8 bytes of an integer, which may be an address."""
    source = "__global__ void f(float *p, long n, double x, long long m) {}"
    kernel = SourceModule(source).get_function("f")
    right = [np.uintp(0), np.int64(1), 1 * np.float64(1), np.int64(1)]
    for place, message in enumerate([r"float \*", None, "double", None]):
        arguments = [*right]
        arguments[place] = value
        if message is None:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                kernel(*arguments, **ONE)
            continue
        with pytest.warns(ArgumentTypeWarning, match=f"{place} of f .*64.*{message}"):
            kernel(*arguments, **ONE)
        with monkeypatch.context() as strict, pytest.raises(TypeError, match=message):
            strict.setenv("PYCUDA_STRICT", "1")
            kernel(*arguments, **ONE)


def test_a_mangled_symbol_has_the_types(mod, ptx):
    module = drv.module_from_buffer(ptx)
    mangled = module.get_function("_Z7mangledPfhPKdPd")
    x, y = empty(np.float32), empty(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mangled(x, np.uint8(1), y, y, **ONE)
    with pytest.warns(ArgumentTypeWarning, match=r"argument 2 of mangled.*double \*"):
        mangled(x, np.uint8(1), x, y, **ONE)


# -- declarations

# fmt: off
DECLARED = [
    ("float *x, const float *__restrict__ y, int n", "pf pf vi"),
    ("float x[], double *const *p, void *q", "pf pa pu"),
    ("pycuda::complex<float> *z, std::complex<double> w, S<int, 2> *p", "pu vu pu"),
    ("unsigned n, unsigned long long m, long int k, char c", "vI vL vl vc"),
    ("half h, __nv_bfloat16 b, float2 f, float4 g", "ve vE vF vu"),
    ("const __grid_constant__ CUtensorMap m, long double d", "vu vu"),
    ("std::uint32_t a, size_t b, uintptr_t c, cuda::std::int8_t d", "vI vL va vb"),
    ("float &x, float (*f)(int), int a = 3, ns::T b", "vu vu vi vu"),
    ("[[maybe_unused]] float x, alignas(16) float y", "vf vf"),
    ("float, float *, unsigned, unsigned char *", "vf pf vI pB"),
    ("cudaTextureObject_t t, CUdeviceptr p, struct four *q", "va va pu"),
]
ALIASES = [
    ("typedef float real;", "real x, real *y", "vf pf"),
    ("typedef float *reals;", "reals x, reals *y", "pf pa"),
    ("using real = double;", "real x", "vd"),
    ("#define real float", "real x, const real *y", "vf pf"),
    ("#if A\ntypedef float real;\n#else\ntypedef double real;\n#endif", "real x", "vu"),
    ("#ifndef real\n#define real float\n#endif", "real x, real *y", "vu pu"),
    ("template <typename T>", "T x, T *y, float z", "vu pu vf"),
    ("struct half { int a; };", "half x, half *y", "vu pu"),
    ("#define long double", "long x", "vd"),
    ("", "real x, real *y", "vu pu"),
]
SYMBOLS = [
    ("_Z1fPfi", "pf vi"), ("_Z1fPKfS0_i", "pf pf vi"), ("_ZN1a1fEPfS0_", "pf pf"),
    ("_ZN1a1bL1fEPf", None), ("_Z1fPKfPfS1_", "pf pf pf"), ("_Z1fv", ""),
    ("_Z1fIfEvPT_", None), ("_Z1fP6__halfm6float2PPf", "pe va vF pa"),
    ("_Z1fPvPKv", "pu pu"), ("_Z1f4fourPS_S0_", "vu pu pu"), ("f", None),
    ("_Z1fPFviE", None), ("_Z9f", None), ("_Z1fS_", None), ("_Z1fPfPi", "pf pi"),
]
# fmt: on


@pytest.mark.parametrize(
    ("before", "parameters", "types"), [("", *row) for row in DECLARED] + ALIASES
)
def test_declared_types(before, parameters, types):
    source = f"{before}\n__global__ void f({parameters}) {{}}"
    found = _parameter_types.declared(source, "f", len(types.split()))
    assert " ".join(parameter.type for parameter in found) == types


@pytest.mark.parametrize(("symbol", "types"), SYMBOLS)
def test_types_in_symbols(symbol, types):
    count = 1 if types is None else len(types.split())
    found = _symbol_types.mangled(symbol, count)
    if types is None:
        assert found is None
    else:
        assert " ".join(parameter.type for parameter in found) == types
        assert _symbol_types.mangled(symbol, count + 1) is None


def test_a_symbol_that_ends_too_soon():
    for symbol, _ in SYMBOLS:
        for end in range(len(symbol)):
            _symbol_types.mangled(symbol[:end], 1)


def test_two_declarations_must_agree():
    both = "__global__ void f(%s x); __global__ void f(%s y) {}"
    (found,) = _parameter_types.declared(both % ("float", "float"), "f", 1)
    assert found == ("vf", "y", "float")
    assert _parameter_types.declared(both % ("float", "int"), "f", 1) is None


def test_the_symbol_adds_what_the_source_hides():
    class Module:
        pass

    module = Module()
    module._source = "__global__ void f(REAL *x, REAL a, uintptr_t p, INDEX n) {}"
    found = _argument_types.characters(module, None, "_Z1fPffmi", 4)
    assert found == b"pfvfvavi"


def test_a_program_sees_the_line_and_its_text():
    """The message of a script: the file, the line, the text of the line."""
    program = """
import numpy as np
import pycuda.autoinit
from pycuda.compiler import SourceModule

scale = SourceModule("__global__ void scale(float a) {}").get_function("scale")
for _ in range(3):
    scale(np.int32(2), block=(1, 1, 1))
"""
    result = run_child(program, check=False)
    assert result.returncode == 0
    assert result.stderr.count("ArgumentTypeWarning") == 1
    assert "the parameter 'a' is a float" in result.stderr


KERNELS = r"""
// __global__ void in_a_comment(int x);
const char *text = "__global__ void in_a_string(int x) {";
namespace a { namespace b::c {
template <typename T, int N = f(2, 3)> __global__ void first(T *x, T y[N]) {}
} void other() { if (1) { } }
__global__ void __launch_bounds__(128, (2 + 3)) second(const T *x) {}
}
extern "C" { static __global__ void third(void) {} }
template <> __global__ void first<int>(int *x);
"""


def test_the_kernels_of_a_source():
    assert _parameter_types.kernels(KERNELS) == [
        ("first", "::a::b::c::first", ("T", "N")),
        ("second", "::a::second", None),
        ("third", "::third", None),
    ]


def test_the_parameters_of_a_kernel_of_a_template():
    found = _parameter_types.of_kernel(KERNELS, "first", {"T": "float", "N": "3"})
    assert found == [("pf", "x", "T *"), ("pf", "y", "T [N]")]
    unknown = _parameter_types.of_kernel(KERNELS, "first")
    assert [each.type[1] for each in unknown] == ["u", "u"]
    assert _parameter_types.of_kernel(KERNELS, "third") == []
    assert _parameter_types.of_kernel(KERNELS, "fourth") is None


# -- arrays with gaps ------------------------------------------------------------------


@pytest.fixture
def take(ctx):
    text = "struct pair { int a, b; };\n" + "\n".join(
        f'extern "C" __global__ void take_{name}(float *x, {kind} n) {{}}'
        for name, kind in [("int", "int"), ("pair", "pair")]
    )
    return SourceModule(text, no_extern_c=True)


@pytest.mark.parametrize(
    "view, n",
    [
        (lambda a: a[:, 3], 9),
        (lambda a: a[::-1], 9),
        (lambda a: a[::2, :4], 1),
        (lambda a: a.T[1:], 7),
    ],
)
def test_a_view_with_gaps(take, view, n):
    array = view(gpuarray.zeros((8, 8), np.float32))
    with pytest.warns(drv.PyCUDAWarning, match="argument 0 of take_int is a view with"):
        take.get_function("take_int")(array, np.int32(n), block=(1, 1, 1))


@pytest.mark.parametrize(
    "view, n",
    [
        (lambda a: a, 9),
        (lambda a: a.T, 9),  # no gaps, in the other order
        (lambda a: a[2:4], 9),
        (lambda a: a[:1, ::2][:, :1], 9),
        (lambda a: a[:, 3], 8),  # the kernel knows the stride in elements
        (lambda a: a[:, :4], 32),  # or in bytes
        (lambda a: a[::-1], -8),
    ],
)
def test_a_view_without_gaps_or_with_its_stride(take, view, n):
    array = view(gpuarray.zeros((8, 8), np.float32))
    pair = np.zeros((), [("a", np.int32), ("b", np.int32)])[()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        take.get_function("take_int")(array, np.int32(n), block=(1, 1, 1))
        take.get_function("take_pair")(array, pair, block=(1, 1, 1))
