"""Records: views of fields, reductions over them, structs in C and their dtypes."""

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.driver import CompileError
from pycuda.gpuarray import to_gpu
from pycuda.tools import dtype_from_struct, struct_from_dtype

pytestmark = pytest.mark.gpu

BODY = np.dtype(
    [
        ("mass", np.float32),
        ("at", np.float64, (3,)),
        ("id", np.int16),
        ("part", np.dtype([("kind", "u1"), ("share", "f8")], align=True)),
        ("table", np.int32, (2, 2)),
        ("color", gpuarray.vec.uchar4),
    ],
    align=True,
)


def sample(shape=(2, 5), dtype=BODY, seed=0):
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape)) * dtype.itemsize
    values = rng.integers(0, 64, count, np.uint8).view(dtype).reshape(shape)
    return values.copy()


# -- views of fields -------------------------------------------------------------------


@pytest.mark.parametrize("name", BODY.names)
def test_a_field_is_a_view(ctx, name):
    host = sample()
    array = to_gpu(host)
    view, wanted = array[name], host[name]
    assert (view.dtype, view.shape) == (wanted.dtype, wanted.shape)
    assert view.strides == wanted.strides
    assert view.ptr == array.ptr + BODY.fields[name][1]
    assert (view.get() == wanted).all()
    assert (array[1, ::-2][name].get() == host[1, ::-2][name]).all()


def test_fields_of_fields(ctx):
    host = sample()
    assert (to_gpu(host)["part"]["share"].get() == host["part"]["share"]).all()


def test_assignment_changes_one_field(ctx):
    host = sample()
    array = to_gpu(host)
    array["mass"] = 2.5
    host["mass"] = 2.5
    array["at"][:, 1, 2] = [7, 8]
    host["at"][:, 1, 2] = [7, 8]
    array["id"] += 3
    host["id"] += 3
    array[0]["table"] = np.int32([[1, 2], [3, 4]])
    host[0]["table"] = np.int32([[1, 2], [3, 4]])
    got = array.get()
    for name in BODY.names:
        assert (got[name] == host[name]).all(), name


def test_reductions_over_a_field(ctx):
    host = np.zeros(1000, BODY)
    rng = np.random.default_rng(1)
    host["mass"], host["at"] = rng.random(1000), rng.random((1000, 3))
    host["id"] = rng.integers(0, 1000, 1000)
    array = to_gpu(host)
    assert np.allclose(array["mass"].sum().get(), host["mass"].sum(), rtol=1e-5)
    assert np.allclose(array["at"].mean(axis=0).get(), host["at"].mean(axis=0))
    assert array["id"].max().get() == host["id"].max()
    assert array["mass"].argmin().get() == host["mass"].argmin()
    assert np.allclose(gpuarray.dot(array["at"][:, 0], array["at"][:, 1]).get(),
                       host["at"][:, 0] @ host["at"][:, 1])  # fmt: skip
    assert (gpuarray.argsort(array["mass"]).get() == np.argsort(host["mass"])).all()


def test_a_view_keeps_the_memory(ctx):
    view = to_gpu(sample())["mass"]
    assert (view.get() == sample()["mass"]).all()


def test_empty_and_scalar_records(ctx):
    assert gpuarray.zeros(0, BODY)["at"].shape == (0, 3)
    host = sample(())
    assert to_gpu(host)["mass"].get() == host["mass"]


def test_a_field_that_is_not_aligned(ctx):
    packed = np.dtype([("kind", "u1"), ("mass", "f4")])
    host = np.zeros(3, packed)
    host["mass"] = [1, 2, 3]
    view = to_gpu(host)["mass"]
    with pytest.raises(ValueError, match="not multiples of 4"):
        view + 1


def test_too_many_axes(ctx):
    deep = np.dtype([("x", "i1", (1,) * 40)])
    array = gpuarray.GPUArray((1,) * 30, deep)
    with pytest.raises(ValueError, match="the field has 70 axes"):
        array["x"]


# -- structs ---------------------------------------------------------------------------

REPORT = """
{struct}
extern "C" __global__ void report(unsigned long long *out)
{{
    {name} *p = 0;
    out[0] = sizeof({name});
    {rows}
}}
"""


def layout_in_c(text, name, dtype):
    """Return the size, and the offset and size of each field, as the compiler says."""
    rows = "\n    ".join(
        f"out[{2 * i + 1}] = (unsigned long long)&p->{each}; "
        f"out[{2 * i + 2}] = sizeof(p->{each});"
        for i, each in enumerate(dtype.names)
    )
    source = REPORT.format(struct=text, name=name, rows=rows)
    f = SourceModule(source, no_extern_c=True).get_function("report")
    out = gpuarray.zeros(2 * len(dtype.names) + 1, np.uint64)
    f(out, block=(1, 1, 1))
    return out.get().tolist()


def layout(dtype):
    rows = [dtype.itemsize]
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        rows += [offset, field.itemsize]
    return rows


def dtype_with_gaps():
    return np.dtype(
        {
            "names": ["b", "a", "c"],
            "formats": ["u1", "f8", "i4"],
            "offsets": [3, 16, 28],
            "itemsize": 48,
        }
    )


DTYPES = {
    "all kinds": BODY,
    "gaps": dtype_with_gaps(),
    "packed, but as in C": np.dtype([("a", "i4"), ("b", "f4"), ("c", "u1", (4,))]),
    "one byte": np.dtype([("a", "i1")]),
    "other order": np.dtype({"names": ["a", "b"], "formats": ["f4", "f4"],
                             "offsets": [4, 0], "itemsize": 8}),
    "half": np.dtype([("a", "u1"), ("h", "f2"), ("v", "f2", (3,)), ("b", "f8")],
                     align=True),
    "complex": np.dtype([("a", "u1"), ("z", "c8"), ("b", "f4"), ("w", "c16", (2,))],
                        align=True),
    "complex in a record": np.dtype(
        [("a", "u1"), ("part", np.dtype([("h", "f2"), ("z", "c8")], align=True))],
        align=True),
    "complex, far apart": np.dtype({"names": ["a", "z"], "formats": ["f4", "c16"],
                                    "offsets": [0, 16], "itemsize": 40}),
    "widths": np.dtype([(f"f{i}", k) for i, k in enumerate("bBhHiIlLfd?")], align=True),
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_the_struct_has_the_layout_of_the_dtype(ctx, name):
    dtype = DTYPES[name]
    text = struct_from_dtype(dtype, "record")
    assert layout_in_c(text, "record", dtype) == layout(dtype)


def test_the_check_of_layouts_can_fail(ctx):
    text = struct_from_dtype(DTYPES["gaps"], "record")
    with pytest.raises(CompileError, match="the dtype of record has 48 bytes"):
        layout_in_c(text.replace("c;", "c[9];"), "record", DTYPES["gaps"])
    moved = text.replace("pad_0[3]", "pad_0[2]")
    assert moved != text
    assert layout_in_c(moved, "record", DTYPES["gaps"]) != layout(DTYPES["gaps"])


def test_a_kernel_sees_the_fields(ctx):
    host = np.zeros(4, BODY)
    host["mass"], host["at"][:, 1] = [1, 2, 3, 4], 10
    source = (
        struct_from_dtype(BODY, "body")
        + """
    extern "C" __global__ void move(body *x) {
        x[threadIdx.x].at[1] += x[threadIdx.x].mass;
        x[threadIdx.x].part.share = 5;
    }"""
    )
    f = SourceModule(source, no_extern_c=True).get_function("move")
    array = to_gpu(host)
    f(array, block=(4, 1, 1))
    assert array["at"][:, 1].get().tolist() == [11, 12, 13, 14]
    assert array["part"]["share"].get().tolist() == [5] * 4


def test_half_and_complex_fields(ctx):
    host = np.zeros(4, np.dtype([("k", "i1"), ("h", "f2"), ("z", "c8")], align=True))
    host["h"], host["z"] = [1, 2, 3, 4], [1j, 2, 3 + 1j, 4]
    source = (
        struct_from_dtype(host.dtype, "part")
        + """
    extern "C" __global__ void twice(part *x) {
        part &own = x[threadIdx.x];
        own.h = __hadd(own.h, own.h);
        own.z = own.z * pycuda::complex<float>(0, 2);
    }"""
    )
    array = to_gpu(host)
    twice = SourceModule(source, no_extern_c=True).get_function("twice")
    twice(array, block=(4, 1, 1))
    assert (array["h"].get() == 2 * host["h"]).all()
    assert (array["z"].get() == 2j * host["z"]).all()
    assert array["h"].sum().get() == 20 and array["z"].sum().get() == -4 + 18j
    assert (array["k"].get() == 0).all()


def test_what_c_cannot_place():
    for dtype, words in (
        (np.dtype([("kind", "u1"), ("mass", "f4")]), "'mass' is at byte 1"),
        (np.dtype([("mass", "f4"), ("kind", "u1")]), "5 bytes"),
        (np.dtype({"names": ["a", "b"], "formats": ["f4", "f4"], "offsets": [0, 0]}),
         "'b' is at byte 0"),
        (np.dtype([("a b", "f4")]), "no name in C"),
        (np.dtype([("int", "f4")]), "'int' has no name in C"),
        (np.dtype([("a", "U3")]), "U3"),
        (np.dtype([("a", "f4"), ("v", gpuarray.vec.float4)]), "multiple of 16"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            struct_from_dtype(dtype, "record")
    for dtype, words in ((np.float32, "float32"), (np.dtype([]), r"not \[\]")):
        with pytest.raises(TypeError, match=words):
            struct_from_dtype(dtype, "record")
    for name in ("a b", "class", "größe"):
        with pytest.raises(ValueError, match="not a name"):
            struct_from_dtype(BODY, name)


def test_padding_has_a_name_of_its_own():
    named = {"names": ["pad_0", "b"], "formats": ["f4", "f4"], "offsets": [0, 12]}
    text = struct_from_dtype(np.dtype(named), "record")
    assert "float pad_0;\n    unsigned char pad_1[8];\n    float b;" in text


STRUCTS = """
// struct no { int x; };
struct inner { char kind; double share; };
struct body
{
    unsigned char a, b[3]; /* two */
    float4 place;
    struct inner part[2];
    long long int n;
    short m;
};
"""


def test_the_dtype_of_a_struct(ctx):
    dtype = dtype_from_struct(STRUCTS)
    assert dtype.names == ("a", "b", "place", "part", "n", "m")
    assert layout_in_c(STRUCTS, "body", dtype) == layout(dtype)
    assert dtype_from_struct(STRUCTS, "inner") == np.dtype(
        [("kind", "i1"), ("share", "f8")], align=True
    )


@pytest.mark.parametrize("name", ["half", "__half"])
def test_the_dtype_of_half_and_complex_members(ctx, name):
    text = f"struct r {{ char a; pycuda::complex<float> z; {name} h, v[3]; }};"
    dtype = dtype_from_struct(text)
    assert (dtype["z"], dtype["h"]) == (np.complex64, np.float16)
    headers = "#include <cuda_fp16.h>\n#include <pycuda-complex.hpp>\n"
    assert layout_in_c(headers + text, "r", dtype) == layout(dtype)
    wider = text.replace("char a", "char a[5]")
    assert layout_in_c(headers + wider, "r", dtype) != layout(dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_there_and_back(name):
    dtype = DTYPES[name]
    back = dtype_from_struct(struct_from_dtype(dtype, "record"), "record")
    assert {k: back.fields[k][1] for k in dtype.names} == {
        k: dtype.fields[k][1] for k in dtype.names
    }
    assert back.itemsize == dtype.itemsize


def test_structs_without_a_dtype():
    for text in ("int *p;", "int n : 3;", "body x;", "int f();", "__align__(8) int a;"):
        with pytest.raises(ValueError, match="is no|not known"):
            dtype_from_struct(f"struct other {{ {text} }};")
    with pytest.raises(KeyError, match="no struct"):
        dtype_from_struct("int n;")
    with pytest.raises(KeyError, match="no struct other"):
        dtype_from_struct(STRUCTS, "other")
