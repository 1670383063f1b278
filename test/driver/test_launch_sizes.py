"""Arguments and formats of other sizes or numbers than the kernel's parameters.

An H200 treats a parameter block of another size as follows. A longer one is
CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES. The missing bytes of a shorter one come from an
earlier launch. An integer that is shorter than its parameter is right if zero padding
follows it.
"""

import struct

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _parameter_types, _pvt_struct
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.gpu

SOURCE = """
typedef unsigned long long u64;
#define index_t long
struct pair { double d; int i; };
struct four { int a, b, c, d; };
struct mix { float x; double y; };
struct nest { double p; float2 v; short s[3]; };
__global__ void last(u64 *out, size_t n) { out[0] = n; }
__global__ void inner(u64 *out, size_t n, u64 *q)
{
    out[0] = n;
    out[1] = (u64)q;
}
__global__ void mixed(long long *out, /* a, comment */ const int a, index_t b, u64 c,
                      short d, unsigned e)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = e;
}
__global__ void real(double *out, double x) { out[0] = x; }
__global__ void one(u64 *out) { out[0] = 77; }
__global__ void of_pair(double *out, pair p) { out[0] = p.d; out[1] = p.i; }
__global__ void of_four(int *out, four f) { out[0] = f.a; out[3] = f.d; }
__global__ void of_mix(double *out, mix m) { out[0] = m.x; out[1] = m.y; }
__global__ void of_nest(double *out, nest n) { out[0] = n.p; out[1] = n.s[2]; }
__global__ void three_ints(int *out, int a, int b, int c) { out[0] = a + b + c; }
"""
ONE = {"block": (1, 1, 1)}


@pytest.fixture(scope="module")
def module_of_all():
    context = drv.Device(0).make_context()
    try:
        module = SourceModule(SOURCE)
    finally:
        context.pop()
    yield context, module
    del module
    context.detach()


@pytest.fixture
def mod(module_of_all):
    context, module = module_of_all
    context.push()
    yield module
    context.pop()


@pytest.fixture
def out(mod):
    memory = drv.mem_alloc(64)
    drv.memset_d8(memory, 0x55, 64)
    return memory


def read(memory, dtype=np.int64, n=5):
    return drv.from_device(memory, n, dtype).tolist()


SMALL = [np.uint32(2**32 - 16), np.int32(5), np.uint8(200), np.int16(300)]


@pytest.mark.parametrize("value", [*SMALL, np.array(7, np.uint32)])
def test_an_integer_is_widened(mod, out, value):
    mod.get_function("last")(out, value, **ONE)
    assert read(out, n=1) == [int(value)]
    mod.get_function("inner")(out, value, out, **ONE)
    assert read(out, n=2) == [int(value), int(out)]


def test_integers_of_every_size_and_sign(mod, out):
    mixed = mod.get_function("mixed")
    mixed(out, np.int64(-5), np.int32(-6), np.int8(7), np.int32(-8), np.int8(9), **ONE)
    assert read(out) == [-5, -6, 7, -8, 9]
    mixed(
        out, np.uint64(5), np.int16(-1), np.uint8(1), np.int8(-1), np.uint16(1), **ONE
    )
    assert read(out) == [5, -1, 1, -1, 1]


@pytest.mark.parametrize(("int_", "short"), [(-(2**31), -(2**15)), (2**31 - 1, 32767)])
def test_the_ends_of_the_range_fit(mod, out, int_, short):
    numbers = np.int64(int_), np.int64(1), np.uint64(2), np.int32(short), np.uint32(3)
    mod.get_function("mixed")(out, *numbers, **ONE)
    assert read(out) == [int_, 1, 2, short, 3]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (1, np.int64(2**31)),
        (1, np.int64(-(2**31) - 1)),
        (1, np.uint64(2**63)),
        (3, np.int32(-1)),
        (4, np.int32(70000)),
        (5, np.int8(-1)),
    ],
)
def test_a_value_that_does_not_fit_is_refused(mod, out, place, value, strict):
    arguments = [out, np.int32(1), np.int64(1), np.uint64(1), np.int16(1), np.uint32(1)]
    arguments[place] = value
    with pytest.raises(OverflowError, match=f"argument {place}"):
        mod.get_function("mixed")(*arguments, **ONE)
    assert read(out, np.uint8, 1) == [0x55]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("real", np.int32(5)),  # the bits of an integer are no double
        ("real", np.float32(5)),
        ("last", np.float32(5)),
        ("inner", np.uint32(5)),  # in place of the pointer
    ],
)
def test_other_sizes_are_refused(mod, out, name, value, strict):
    arguments = (out, np.uint64(1), value) if name == "inner" else (out, value)
    with pytest.raises(TypeError, match=r"of 4 bytes, but that parameter takes 8"):
        mod.get_function(name)(*arguments, **ONE)


def test_a_wide_integer_needs_padding_behind_its_parameter(mod, out):
    """Only there is PyCUDA's layout right. Otherwise the next argument is misplaced."""
    arguments = [out, np.int64(0), np.int64(1), np.uint64(2), np.int16(3), np.int64(4)]
    with pytest.raises(TypeError, match="argument 5 .* of 8 bytes.* takes 4"):
        mod.get_function("mixed")(*arguments, **ONE)
    with pytest.raises(TypeError, match="argument 1 .* of 8 bytes.* takes 4"):
        mod.get_function("three_ints")(out, *map(np.int64, range(3)), **ONE)


def test_a_wrong_number_is_refused(mod, out, strict):
    last = mod.get_function("last")
    for arguments in [(out,), (out, np.uint64(1), np.int32(1))]:
        with pytest.raises(TypeError, match=r"last takes 2 arguments \(\d given\)"):
            last(*arguments, **ONE)


def test_code_without_a_source_converts_nothing(mod, out, strict):
    """The types of code from a file are unknown."""
    module = drv.module_from_buffer(drv_image(mod))
    module.get_function("last")(out, np.uint64(3), **ONE)
    assert read(out, n=1) == [3]
    with pytest.raises(TypeError, match="that parameter takes 8"):
        module.get_function("last")(out, np.uint32(3), **ONE)


def drv_image(module):
    from pycuda.compiler import compile

    return compile(SOURCE, target="ptx")


# -- what PyCUDA passes, and a GPU forgives

PADDED = np.int32(1), np.int64(1), np.uint64(1), np.int16(1), np.uint32(1)


@pytest.mark.parametrize(
    ("place", "value", "read_there"),
    [
        (1, np.int64(2**31), -(2**31)),
        (1, np.uint64(2**63 + 7), 7),
        (4, np.int32(70000), 70000 - 2**16),
        (5, np.int8(-1), 255),
        (5, np.float16(0), 0),
        (1, np.float64(0), 0),
    ],
)
def test_bytes_that_move_no_other_argument_are_passed(
    mod, out, place, value, read_there
):
    """The kernel reads the lowest bytes. There are zeros behind a short argument."""
    arguments = [out, *PADDED]
    arguments[place] = value
    with pytest.warns(drv.ArgumentTypeWarning, match=f"argument {place} .*STRICT=1"):
        mod.get_function("mixed")(*arguments, **ONE)
    expected = [1] * 5
    expected[place - 1] = read_there
    assert read(out) == expected


@pytest.mark.parametrize(
    "zero",
    [np.int32(0), np.uint8(0), np.float32(0), np.zeros(2, np.float32), b"\0" * 4],
    ids=["int", "byte", "float", "host array", "bytes"],
)
def test_zeros_are_a_null_pointer(mod, out, zero):
    """A kernel may take NULL, or an address that it does not use."""
    with pytest.warns(UserWarning, match="argument 2 of inner") as shown:
        mod.get_function("inner")(out, np.uint64(5), zero, **ONE)
    assert len(shown) == 1
    assert read(out, n=2) == [5, 0]


def test_a_short_argument_that_moves_others_is_an_error(mod, out):
    """In PyCUDA's layout the kernel finds none of the arguments behind it."""
    arguments = [out, *PADDED]
    for place, value in ((3, np.int32(-1)), (3, np.float32(0))):
        arguments[place] = value
        with pytest.raises((TypeError, OverflowError), match=f"argument {place}"):
            mod.get_function("mixed")(*arguments, **ONE)
        arguments[place] = PADDED[place - 1]


def test_missing_arguments_are_zeros(mod, out):
    with pytest.warns(drv.PyCUDAWarning, match=r"last takes 2 .*1 given.*STRICT=1"):
        mod.get_function("last")(out, **ONE)
    assert read(out, n=1) == [0]
    with pytest.raises(TypeError, match=r"takes 2 arguments \(3 given\)"):
        mod.get_function("last")(out, np.uint64(1), np.int32(1), **ONE)


def test_members_of_a_structure_as_arguments(mod, out):
    with pytest.warns(
        drv.PyCUDAWarning, match=r"of_pair takes 2 arguments \(3 given\)"
    ):
        mod.get_function("of_pair")(out, np.float64(2.5), np.int32(7), **ONE)
    assert read(out, np.float64, 2) == [2.5, 7]
    with pytest.warns(
        drv.PyCUDAWarning, match=r"of_four takes 2 arguments \(5 given\)"
    ):
        mod.get_function("of_four")(out, *np.arange(4, dtype=np.int32), **ONE)
    assert read(out, np.int32, 4)[::3] == [0, 3]


@pytest.mark.parametrize(
    ("name", "form", "values", "dtype", "expected"),
    [
        ("last", "P", (), np.uint64, 0),
        ("three_ints", "Pq", (1 + (2 << 32),), np.int32, 3),
        ("three_ints", "Pqi", (1 + (2 << 32), 4), np.int32, 7),
        ("three_ints", "Pii", (1, 2), np.int32, 3),
        ("real", "Pf", (0.0,), np.float64, 0),
        ("mixed", "PdqQhI", (0.0, 1, 1, 1, 1), np.int64, 0),
    ],
)
def test_formats_that_pycuda_passes(mod, out, name, form, values, dtype, expected):
    function = mod.get_function(name)
    with pytest.warns(drv.PyCUDAWarning, match="argument.*STRICT=1"):
        function.prepare(form)
    function.prepared_call((1, 1), (1, 1, 1), out, *values)
    assert read(out, dtype, 1) == [expected]


def test_a_format_with_wider_integers_takes_both_signs(mod, out):
    """The kernel reads the lowest bytes of what PyCUDA passes."""
    mixed = mod.get_function("mixed").prepare("PllLhl")
    for number, expected in ((2**32 - 5, -5), (-5, -5)):
        mixed.prepared_call((1, 1), (1, 1, 1), out, number, 1, 1, 1, 2**32 - 1)
        assert read(out) == [expected, 1, 1, 1, 2**32 - 1]


def test_a_value_that_is_too_long_for_its_parameter(mod, out, monkeypatch):
    """Where padding follows, PyCUDA passes the lowest bytes, as of a hash."""
    mixed = mod.get_function("mixed").prepare("PlqQhI")
    arguments = out, 2**40 + 7, 1, 1, 1, 1
    with pytest.warns(drv.PyCUDAWarning, match="1099511627783 .* 4 bytes.*STRICT=1"):
        mixed.prepared_call((1, 1), (1, 1, 1), *arguments)
    assert read(out) == [7, 1, 1, 1, 1]
    ints = mod.get_function("three_ints").prepare("Plll")  # none is followed by padding
    for call in (
        lambda: ints.prepared_call((1, 1), (1, 1, 1), out, 2**40, 1, 1),
        lambda: mixed.prepared_call((1, 1), (1, 1, 1), out, 2**64, 1, 1, 1, 1),
    ):
        with pytest.raises(_pvt_struct.error, match="argument 1"):
            call()
    monkeypatch.setenv("PYCUDA_STRICT", "1")
    with pytest.raises(_pvt_struct.error, match="argument 1.*1099511627783"):
        mixed.prepared_call((1, 1), (1, 1, 1), *arguments)


def test_the_calls_of_cuda_3_may_be_short(mod, out):
    last = mod.get_function("last")
    block = struct.pack("P", int(out))
    last.set_block_shape(1, 1, 1)
    last.param_set_size(8)
    last.param_setv(0, block)
    with pytest.warns(drv.PyCUDAWarning, match="16 bytes of parameters, 8 were given"):
        last.launch()
    assert read(out, n=1) == [0]
    with pytest.warns(drv.PyCUDAWarning, match="16 bytes of parameters, 8 were given"):
        last._launch_kernel((1, 1, 1), (1, 1, 1), block, 0, None)


# -- prepared formats


@pytest.mark.parametrize(
    ("name", "form", "words"),
    [
        ("one", "Pif", "3 arguments of 16 bytes, but one takes 1 of 8"),
        ("one", "PP", "2 arguments of 16 bytes, but one takes 1 of 8"),
        ("last", "P", "1 argument of 8 bytes, but last takes 2 of 16"),
        ("last", "PQI", "3 arguments of 20 bytes, but last takes 2 of 16"),
        ("three_ints", "Pii", "3 arguments of 16 bytes, but three_ints takes 4 of 20"),
        ("three_ints", "Pq", "2 arguments of 16 bytes, but three_ints takes 4 of 20"),
        ("three_ints", "Pqi", "3 arguments of 20 bytes, but three_ints takes 4 of 20"),
        ("three_ints", "Piiii", "5 arguments of 24 bytes, but three_ints"),
        ("of_four", "Piii", "4 arguments of 20 bytes, but of_four takes 2 of 24"),
    ],
)
def test_a_format_of_another_size_is_refused(mod, name, form, words, strict):
    function = mod.get_function(name)
    with pytest.raises(TypeError, match=words):
        function.prepare(form)
    with pytest.raises(TypeError, match=words):
        function.arg_format = form
    with pytest.raises(AttributeError):
        function.arg_format  # noqa: B018


def test_formats_that_name_the_members_of_structures(mod, out):
    of_pair = mod.get_function("of_pair").prepare("Pdi")
    of_pair.prepared_call((1, 1), (1, 1, 1), out, 2.5, 7)
    assert read(out, np.float64, 2) == [2.5, 7.0]
    of_four = mod.get_function("of_four").prepare("P4i")
    of_four.prepared_call((1, 1), (1, 1, 1), out, 1, 2, 3, 4)
    assert read(out, np.int32, 4)[::3] == [1, 4]
    whole = mod.get_function("of_four").prepare("P16s")
    whole.prepared_call((1, 1), (1, 1, 1), out, struct.pack("4i", 5, 6, 7, 8))
    assert read(out, np.int32, 4)[::3] == [5, 8]
    padded = mod.get_function("of_pair").prepare("Pdi4x")
    padded.prepared_call((1, 1), (1, 1, 1), out, 1.5, 3)
    assert read(out, np.float64, 2) == [1.5, 3.0]


FIELDS = [("x", np.float32), ("y", np.float64)]
RECORDS = {
    "packed": np.dtype(FIELDS),
    "too few fields": np.dtype(FIELDS[:1]),
    "the wrong end": np.dtype([("y", np.float32), ("x", np.float32, 2)]),
    "fields apart": np.dtype({"names": ["x"], "formats": ["f8"], "offsets": [4]}),
    "without fields": np.dtype("V12"),
}


def calls_of(function, dtype):
    """Return ways to call a kernel with a pointer and a value of a dtype."""
    shape = (1, 1), (1, 1, 1)

    def prepared(form):
        plan = function.prepare(form)
        return lambda out, value: plan.prepared_call(*shape, out, value)

    return {
        "call": lambda out, value: function(out, value, **ONE),
        "prepared": prepared(["P", dtype]),
        "format": prepared(f"P{dtype.itemsize}s"),
    }


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("way", ["call", "prepared", "format"])
def test_a_record_of_another_size_than_the_structure(mod, out, name, way, monkeypatch):
    dtype = RECORDS[name]
    call = calls_of(mod.get_function("of_mix"), dtype)[way]
    record = np.zeros(1, dtype)
    size = f"of {dtype.itemsize} bytes, but that parameter takes 16"
    for value in record[0], record:
        remedy = "" if dtype.names is None else r": .* made with align=True\."
        text = f"argument 1 of of_mix is a numpy.* {size}{remedy}"
        with pytest.warns(drv.ArgumentTypeWarning, match=text):
            call(out, value)
        with monkeypatch.context() as patch:
            patch.setenv("PYCUDA_STRICT", "1")
            with pytest.raises((TypeError, _pvt_struct.error), match=text):
                call(out, value)


#: Records of the right fields, with the padding at the end of the structure or without.
WHOLE = {
    "of_mix": np.dtype(FIELDS, align=True),
    "of_pair": np.dtype([("d", np.float64), ("i", np.int32)], align=True),
    "of_pair, no tail": np.dtype([("d", np.float64), ("i", np.int32)]),
    "of_nest, no tail": np.dtype([("p", np.float64), ("v", "c8"), ("s", np.int16, 3)]),
}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("way", ["call", "prepared", "format"])
def test_a_record_of_the_fields_of_the_structure(mod, out, name, way, recwarn):
    dtype = WHOLE[name]
    function = mod.get_function(name.partition(",")[0])
    record = np.zeros(1, dtype)
    record[dtype.names[0]], record[dtype.names[-1]] = 2.5, 7
    for value in record[0], record:
        calls_of(function, dtype)[way](out, value)
        assert read(out, np.float64, 2) == [2.5, 7]
    assert not recwarn.list


def test_an_element_of_another_size_for_a_structure(mod, out, monkeypatch):
    """The module struct fills and cuts bytes; an element has the wrong dtype."""
    whole = mod.get_function("of_four").prepare("P16s")
    shape = (1, 1), (1, 1, 1)
    element = np.zeros(1, "4i4")
    element[:] = 5, 6, 7, 8
    whole.prepared_call(*shape, out, element[0])
    assert read(out, np.int32, 4)[::3] == [5, 8]
    for wrong in np.int32(1), np.arange(5, dtype=np.int32):
        text = (
            f"argument 1 of of_four is .* of {wrong.nbytes} bytes, but that parameter "
        )
        text += r"takes 16\. It is for parameter 1 \(four f\)|If the parameter is a"
        with pytest.warns(drv.ArgumentTypeWarning, match=text):
            whole.prepared_call(*shape, out, wrong)
        with monkeypatch.context() as patch:
            patch.setenv("PYCUDA_STRICT", "1")
            with pytest.raises(Exception, match=text):
                whole.prepared_call(*shape, out, wrong)
    whole.prepared_call(*shape, out, b"short")


def test_a_format_that_is_set_without_prepare(mod, out):
    function = mod.get_function("three_ints")
    with pytest.raises(AttributeError, match="call prepare"):
        function.prepared_call((1, 1), (1, 1, 1), out, 1, 2, 3)
    function.arg_format = "Piii"
    assert function.arg_format == "Piii"
    function.prepared_call((1, 1), (1, 1, 1), out, 1, 2, 3)
    assert read(out, np.int32, 1) == [6]
    function.prepare("PPPP")
    assert function.arg_format == "PPPP"
    for wrong, error in [("Pi$", ValueError), (None, TypeError), (5, TypeError)]:
        with pytest.raises(error):
            function.arg_format = wrong
        assert function.arg_format == "PPPP"
    del function.arg_format
    assert not hasattr(function, "arg_format")
    with pytest.raises(AttributeError, match="call prepare"):
        function.prepared_call((1, 1), (1, 1, 1), out, 1, 2, 3)


# -- what the source tells

# fmt: off
KINDS = [
    ("__global__ void f(int a, unsigned b, const long long c)", 3, b"\1\2\1"),
    ("__global__ void f(size_t n, std::uint32_t m, char c)", 3, b"\2\2\1"),
    ("__global__ void f(float *a, double x, int4 v, bool b)", 4, b"\0\0\0\0"),
    ("__global__ void f(int *a, int b[3], int &c, int)", 4, b"\0\0\0\1"),
    ("typedef unsigned T; __global__ void f(T x, U y)", 2, b"\2\0"),
    ("using T = unsigned long; __global__ void f(T x)", 1, b"\2"),
    ("#define T int\n__global__ void f(T x)", 1, b"\1"),
    ("#define T T\n__global__ void f(T x)", 1, b"\0"),
    ("typedef double T; struct q { typedef int T; };__global__ void f(T x)", 1, b"\0"),
    ("typedef int T;\nstruct W { using T = double; };__global__ void f(T x)", 1, b"\0"),
    ("typedef int T;\nstruct W { using T = long; };__global__ void f(T x)", 1, b"\1"),
    ("#if A\ntypedef int T;\n#else\n#define T float\n#endif\n"
     "__global__ void f(T x)", 1, b"\0"),
    ("#if A\ntypedef int T;\n#else\n#define T long\n#endif\n"
     "__global__ void f(T x)", 1, b"\1"),
    ("#ifndef T\n#define T int\n#endif\n__global__ void f(T x)", 1, b"\0"),
    ("typedef int T; template <typename T> __global__ void f(T x)", 1, b"\0"),
    ("typedef int T; struct T { double x; }; __global__ void f(T x)", 1, b"\0"),
    ("typedef struct { int a; } T; struct W { typedef int T; };"
     "__global__ void f(T x, int a)", 2, b"\0\1"),
    ("#define long double\n__global__ void f(long x, int y)", 2, b"\0\1"),
    ("#define long double\n__global__ void f(unsigned long x)", 1, b"\0"),
    ("typedef unsigned U; typedef U T; __global__ void f(T x)", 1, b"\2"),
    ("__global__ void f(cuda::pair<int, int> p, int n)", 2, b"\0\1"),
    ("__global__ void __launch_bounds__(64, 2) f(long n)", 1, b"\1"),
    ("// __global__ void f(float n)\n__global__ void f(int n)", 1, b"\1"),
    ("__global__ void f(int n); __global__ void f(int n) {}", 1, b"\1"),
    ("__global__ void f(int n); __global__ void f(float n);", 1, None),
    ("__global__ void f(int n)", 2, None),
    ("__device__ void f(int n)", 1, None),
    ("void g() { f(int); }", 1, None),
]
# fmt: on


def test_a_name_with_two_types_is_no_integer(ctx):
    """An integer must not be converted for a parameter that may be a float."""
    text = "%s __global__ void f(double *out, T a, int b) { *out = a + b; }"
    certain = SourceModule(text % "typedef long T;").get_function("f")
    mixed = text % "typedef double T; struct W { typedef long T; };"
    uncertain = SourceModule(mixed).get_function("f")
    out = drv.mem_alloc(8)
    certain(out, np.int32(5), np.int32(2), **ONE)
    assert read(out, np.float64, 1) == [7.0]
    uncertain(out, np.float64(5), np.int32(3), **ONE)
    assert read(out, np.float64, 1) == [8.0]
    with pytest.raises(TypeError, match="4 bytes.* 8"):
        uncertain(out, np.int32(5), np.int32(3), **ONE)


@pytest.mark.parametrize(("source", "count", "kinds"), KINDS)
def test_kinds_of_parameters(source, count, kinds):
    assert _parameter_types.integers(source, "f", count) == kinds
    assert _parameter_types.integers(source, "_Z1fim", count) == kinds
    assert _parameter_types.integers(source, "g", count) is None
