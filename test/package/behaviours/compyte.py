"""Behaviours of pycuda.compyte."""

import typing

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from package.behaviours import behaviour
from pycuda.compyte import array, dtypes


def row(*names):
    return behaviour(*names, of="pycuda.compyte.array")


@row(
    "ArrayFlags",
    "ArrayFlags.__repr__",
    "ArrayFlags.__str__",
    "ArrayFlags.c_contiguous",
    "ArrayFlags.f_contiguous",
    "ArrayFlags.forc",
)
def array_flags(name):
    a = np.zeros((2, 3))
    for ary, c, f in ((a, True, False), (a.T, False, True), (a[:, ::2], False, False)):
        flags = array.ArrayFlags(ary)
        values = (flags.c_contiguous, flags.f_contiguous, flags.forc)
        assert values == (c, f, c or f)
        for render in (str, repr):
            lines = render(flags).splitlines()
            assert len(lines) == 2 and str(c) in lines[0] and str(f) in lines[1]


@row("ArrayIsh", "ArrayIsh.shape", "ArrayIsh.strides", "ArrayIsh.dtype")
def array_ish(name):
    assert typing.Protocol in array.ArrayIsh.__mro__
    if name != "ArrayIsh":
        hints = typing.get_type_hints(getattr(array.ArrayIsh, name).fget)
        plain = typing.get_origin(hints["return"])
        assert plain is (np.dtype if name == "dtype" else tuple)


@row("as_strided")
def strided(name):
    assert array.as_strided is as_strided
    assert array.as_strided(np.arange(4), (2, 2), (8, 8)).tolist() == [[0, 1], [1, 2]]


@row("c_contiguous_strides", "f_contiguous_strides")
def strides_of(name):
    expected = {"c_contiguous_strides": (48, 16, 4), "f_contiguous_strides": (4, 8, 24)}
    assert getattr(array, name)(4, (2, 3, 4)) == expected[name]


@row("equal_strides")
def equal_strides(name):
    assert array.equal_strides((99, 4), (8, 4), (1, 2))
    assert not array.equal_strides((16, 4), (8, 4), (2, 2))


@row("is_c_contiguous_strides", "is_f_contiguous_strides")
def contiguous(name):
    test = getattr(array, name)
    c, f = (24, 8), (8, 16)
    mine, other = (c, f) if "_c_" in name else (f, c)
    assert test(mine, 8, (2, 3)) and not test(other, 8, (2, 3))


@row("get_common_dtype")
def common_dtype(name):
    one, two = np.zeros(2, np.float32), np.zeros(2, np.float64)
    assert array.get_common_dtype(one, two, True) == np.float64
    assert array.get_common_dtype(one, two, False) == np.float32
    assert array.get_common_dtype(one, 2.5, True) == np.float32


# -- dtypes ----------------------------------------------------------------------------


def named(*names):
    return behaviour(*names, of="pycuda.compyte.dtypes")


@named("ArgTypeT")
def arg_type(name):
    assert isinstance(dtypes.ArgTypeT, typing.TypeVar)


@named("DTYPE_TO_NAME", "NAME_TO_DTYPE", "TYPE_REGISTRY")
def tables(name):
    registry = dtypes.TYPE_REGISTRY
    assert isinstance(registry, dtypes.DTypeRegistry)
    assert dtypes.DTYPE_TO_NAME is registry.dtype_to_name
    assert dtypes.NAME_TO_DTYPE is registry.name_to_dtype
    assert dtypes.DTYPE_TO_NAME[np.dtype(np.float32)] == "float"
    assert dtypes.NAME_TO_DTYPE["float"] == np.float32


@named(
    "DTypeRegistry",
    "DTypeRegistry.get_or_register_dtype",
    "DTypeRegistry.dtype_to_ctype",
    "DTypeRegistry.dtype_to_name",
    "DTypeRegistry.name_to_dtype",
)
def registry(name):
    own = dtypes.DTypeRegistry()
    pair = np.dtype([("a", np.int32), ("b", np.float32)])
    assert own.get_or_register_dtype(["pair", "couple"], pair) == pair
    assert own.get_or_register_dtype("couple") == pair
    assert own.dtype_to_ctype(pair) == "pair"
    assert own.name_to_dtype == {"pair": pair, "couple": pair}
    assert own.dtype_to_name[pair] == own.dtype_to_name[str(pair)] == "pair"
    with pytest.raises(ValueError):
        own.dtype_to_ctype(np.dtype(np.int8))


@named("TypeNameNotKnown")
def type_name_not_known(name):
    assert issubclass(dtypes.TypeNameNotKnown, RuntimeError)


@named("_fill_dtype_registry")
def fill_process_registry(name):
    dtypes._fill_dtype_registry(respect_windows=False, include_bool=True)
    assert dtypes.dtype_to_ctype(np.dtype(bool)) == "bool"


@named("dtype_to_ctype")
def ctype(name):
    for dtype, text in ((np.int32, "int"), (np.uint8, "unsigned char")):
        assert dtypes.dtype_to_ctype(np.dtype(dtype)) == text


@named(
    "fill_registry_with_c99_complex_types",
    "fill_registry_with_c99_stdint_types",
    "fill_registry_with_c_types",
    "fill_registry_with_opencl_c_types",
)
def fillers(name):
    own = dtypes.DTypeRegistry()
    fill = getattr(dtypes, name)
    expected = {
        "fill_registry_with_c99_complex_types": ("float complex", np.complex64),
        "fill_registry_with_c99_stdint_types": ("uint16_t", np.uint16),
        "fill_registry_with_c_types": ("unsigned short", np.uint16),
        "fill_registry_with_opencl_c_types": ("ushort", np.uint16),
    }
    if name == "fill_registry_with_c_types":
        fill(own, respect_windows=False, include_bool=True)
    else:
        fill(own)
    text, dtype = expected[name]
    assert own.name_to_dtype[text] == dtype


@named("get_or_register_dtype", "register_dtype")
def register(name):
    dtype = np.dtype([(f"behaviour_{name}", np.int32)])
    if name == "register_dtype":
        with pytest.warns(DeprecationWarning):
            dtypes.register_dtype(dtype, [f"type_{name}"], alias_ok=True)
    else:
        assert dtypes.get_or_register_dtype(f"type_{name}", dtype) == dtype
    assert dtypes.TYPE_REGISTRY.get_or_register_dtype(f"type_{name}") == dtype


@named("parse_c_arg_backend")
def parse(name):
    def scalar(dtype, word):
        return "scalar", np.dtype(dtype), word

    def vector(dtype, word):
        return "vector", np.dtype(dtype), word

    call = dtypes.parse_c_arg_backend
    assert call("const float *x", scalar, vector) == ("vector", np.float32, "x")
    own = call("own y", scalar, vector, name_to_dtype=lambda word: np.dtype(np.int8))
    assert own == ("scalar", np.int8, "y")
