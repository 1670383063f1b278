"""pycuda.compyte: layouts of arrays compared with NumPy's, and names of C types."""

import itertools
import types
from typing import Protocol

import numpy as np
import pytest

from pycuda import tools
from pycuda.compyte import array, dtypes

SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 1, 4), (1, 1), (2, 0, 3), (4, 3, 2)]


# -- layouts ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("itemsize", [1, 8])
def test_strides_are_numpys(shape, itemsize):
    for order, strides in (
        ("C", array.c_contiguous_strides(itemsize, shape)),
        ("F", array.f_contiguous_strides(itemsize, shape)),
    ):
        made = np.empty(shape, f"V{itemsize}", order=order)
        assert array.equal_strides(strides, made.strides, shape)
        assert len(strides) == len(shape)
    assert array.f_contiguous_strides(4, [2, 0, 3]) == (4, 8, 8)
    assert array.c_contiguous_strides(4, [2, 0, 3]) == (12, 12, 4)


def layouts():
    base = np.zeros((4, 3, 2), np.int32)
    yield from (base, base.T, np.asfortranarray(base), base[::2], base[:, 0], base[1:2])
    yield from (base[:, :, :1], base[:0], base[0, 0, 0], base.transpose(1, 0, 2))
    yield np.broadcast_to(np.int32(1), (2, 3))


@pytest.mark.parametrize("ary", list(layouts()))
def test_flags_are_numpys(ary):
    flags = array.ArrayFlags(ary)
    assert flags.c_contiguous == ary.flags.c_contiguous
    assert flags.f_contiguous == ary.flags.f_contiguous
    assert flags.forc == ary.flags.forc
    assert str(flags) == repr(flags)
    lines = [line.split(" : ") for line in repr(flags).splitlines()]
    assert [name.strip() for name, _ in lines] == ["C_CONTIGUOUS", "F_CONTIGUOUS"]
    assert [value for _, value in lines] == [
        str(flags.c_contiguous),
        str(flags.f_contiguous),
    ]
    rest = (ary.itemsize, ary.shape)
    assert array.is_c_contiguous_strides(ary.strides, *rest) == flags.c_contiguous
    assert array.is_f_contiguous_strides(ary.strides, *rest) == flags.f_contiguous


def test_strides_that_differ():
    assert array.equal_strides((8, 99), (8, 4), (2, 1))
    assert not array.equal_strides((8, 4), (4, 8), (2, 2))
    assert not array.equal_strides((8,), (8, 4), (2, 2))
    assert array.equal_strides((8, 4), (4, 8), (2, 0))
    assert array.as_strided is np.lib.stride_tricks.as_strided


NUMBERS = ["?", "b", "B", "i", "I", "q", "Q", "f", "d", "F", "D"]


@pytest.mark.parametrize(("a", "b"), list(itertools.product(NUMBERS, NUMBERS)))
def test_common_dtype_of_arrays(a, b):
    one, other = np.ones(3, a), np.ones(3, b)
    wanted = (one + other).dtype
    assert array.get_common_dtype(one, other, True) == wanted
    single = {"d": "f", "D": "F"}.get(wanted.char, wanted.char)
    assert array.get_common_dtype(one, other, False) == np.dtype(single)


def test_common_dtype_of_scalars():
    shorts = np.ones(3, np.int16)
    for scalar in (1, True, 2.5, 1j, np.float32(1), np.int64(3)):
        wanted = (shorts + scalar).dtype
        assert array.get_common_dtype(shorts, scalar, True) == wanted
        assert array.get_common_dtype(scalar, shorts, True) == wanted
    assert array.get_common_dtype(1, 2.0, True) == np.float64
    assert array.get_common_dtype(1, 2.0, False) == np.float32
    # A value that does not fit the array must not fail.
    assert array.get_common_dtype(np.ones(1, np.uint8), 1000, True) == np.uint8


def test_what_an_array_must_have():
    def shape_of(ary: array.ArrayIsh):
        return ary.shape

    assert shape_of(np.zeros(3)) == (3,)
    assert Protocol in array.ArrayIsh.__mro__
    with pytest.raises(TypeError, match="[Pp]rotocol"):
        array.ArrayIsh()


# -- names of C types ------------------------------------------------------------------


def test_the_registry_of_the_process():
    registry = dtypes.TYPE_REGISTRY
    assert type(registry) is dtypes.DTypeRegistry
    assert dtypes.NAME_TO_DTYPE is registry.name_to_dtype
    assert dtypes.DTYPE_TO_NAME is registry.dtype_to_name
    assert dtypes.get_or_register_dtype is tools.get_or_register_dtype
    assert dtypes.register_dtype is tools.register_dtype
    assert registry.dtype_to_name[np.dtype(np.float32)] == "float"
    assert registry.dtype_to_name["float32"] == "float"
    assert registry.name_to_dtype["unsigned int"] == np.uint32
    assert dtypes.dtype_to_ctype(np.int64) == "long"
    assert issubclass(dtypes.TypeNameNotKnown, RuntimeError)


def test_a_registry_of_ones_own():
    registry = dtypes.DTypeRegistry()
    pair = np.dtype([("a", np.int32), ("b", np.float32)])
    with pytest.raises(KeyError, match="pair"):
        registry.get_or_register_dtype("pair")
    assert registry.get_or_register_dtype(["pair", "two"], pair) is pair
    same = np.dtype([("a", np.int32), ("b", np.float32)])
    assert registry.get_or_register_dtype("third", same) is pair
    assert [registry.get_or_register_dtype(n) for n in ("two", "third")] == [pair] * 2
    assert registry.dtype_to_ctype(same) == "pair"
    with pytest.raises(RuntimeError, match="'two' already means"):
        registry.get_or_register_dtype("two", np.int32)
    for unknown in (np.int32, None):
        with pytest.raises(ValueError, match="dtype"):
            registry.dtype_to_ctype(unknown)
    assert "pair" not in dtypes.NAME_TO_DTYPE


def spelled(fill, *how):
    registry = dtypes.DTypeRegistry()
    fill(registry, *how)
    return registry.name_to_dtype


def test_types_of_c(monkeypatch):
    names = spelled(dtypes.fill_registry_with_c_types, True)
    for name in ("short", "int", "long", "long long"):
        bits = 8 * {"short": 2, "int": 4, "long": 8, "long long": 8}[name]
        assert names[name] == np.dtype(f"int{bits}")
        assert names[f"unsigned {name}"] == np.dtype(f"uint{bits}")
    assert names["bool"] == np.bool_ and names["char"] == np.int8
    assert "bool" not in spelled(dtypes.fill_registry_with_c_types, True, False)
    monkeypatch.setattr(dtypes, "os", types.SimpleNamespace(name="nt"))
    assert spelled(dtypes.fill_registry_with_c_types, True)["long"] == np.int32
    assert spelled(dtypes.fill_registry_with_c_types, False)["long"] == np.int64


def test_types_of_c99():
    names = spelled(dtypes.fill_registry_with_c99_stdint_types)
    assert names["uint16_t"] == np.uint16 and names["int64_t"] == np.int64
    assert names["size_t"].itemsize == 8
    names = spelled(dtypes.fill_registry_with_c99_complex_types)
    assert names["float complex"] == np.complex64
    assert names["double complex"] == np.complex128


def test_types_of_opencl():
    names = spelled(dtypes.fill_registry_with_opencl_c_types)
    assert names["ulong"] == np.uint64 and names["uchar"] == np.uint8
    assert names["half"] == np.float16 and names["unsigned int"] == np.uint32


@pytest.mark.parametrize("text", ["float **x", "float *x[]", "float *x[4]"])
def test_pointers_to_pointers_are_refused(text):
    for once in (text.replace("*", "", 1), "float *x"):  # one of the levels is an array
        got = dtypes.parse_c_arg_backend(once, lambda *a: a, lambda *a: ("vector", *a))
        assert got == ("vector", np.float32, "x")
    with pytest.raises(ValueError, match="points to pointers"):
        dtypes.parse_c_arg_backend(text, lambda *a: a, lambda *a: a)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("const two *x", "vector"),
        ("two x", "scalar"),
        ("const struct two *x", "vector"),
        ("struct two x", "scalar"),
    ],
)
def test_declarations_with_other_names_and_factories(text, kind):
    registry = dtypes.DTypeRegistry()
    registry.get_or_register_dtype("two", np.int16)
    factories = {
        kind: lambda dtype, name, kind=kind: (kind, dtype, name)
        for kind in ("scalar", "vector")
    }

    def parse(names):
        return dtypes.parse_c_arg_backend(
            text, factories["scalar"], factories["vector"], names
        )

    wanted = (kind, np.dtype(np.int16), "x")
    assert parse(registry) == wanted
    assert parse({"two": np.dtype(np.int16)}.__getitem__) == wanted
    with pytest.raises(ValueError, match="type of .* is not known"):
        parse(None)
