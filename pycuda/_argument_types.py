"""The types of a kernel's arguments compared with those of its parameters.

The first launch of a kernel asks for the types (``characters``). An argument of another
type calls ``report``. Both have the same first parameters: the Module, the declarations
in its PTX or None, the symbol of the kernel, and the number of its parameters.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pycuda._driver import ArgumentHandler, GPUArray, _is_strict
from pycuda._warning import forgive, warn_settled
from pycuda.driver import ArgumentTypeWarning, PyCUDAWarning

if TYPE_CHECKING:
    from pycuda._parameter_types import Parameter

#: The classes of NumPy for the characters of types.
NUMPY = {
    "?": "bool_", "c": "int8", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16",
    "i": "int32", "I": "uint32", "l": "int64", "L": "uint64", "e": "float16",
    "f": "float32", "d": "float64", "F": "complex64", "D": "complex128", "a": "uintp",
}  # fmt: skip


def parameters(
    module: object, entries: str | None, symbol: str, count: int
) -> list[Parameter]:
    """Return all that is known of a kernel's parameters.

    The source tells most. The symbol tells the types that the source hides.
    """
    from pycuda import _parameter_types, _symbol_types
    from pycuda._parameter_types import UNKNOWN, Parameter

    source = vars(module).get("_source")
    found = None
    if isinstance(source, str):
        found = _parameter_types.declared(source, symbol, count)
    mangled = _symbol_types.mangled(symbol, count)
    if found is not None and mangled is not None:
        return [
            own if own.type[1] != "u" or own.type[0] != other.type[0]
            else Parameter(other.type, own.name, own.text)
            for own, other in zip(found, mangled, strict=True)
        ]  # fmt: skip
    found = found or mangled
    if found is None and source is None and entries is not None:
        found = _symbol_types.of_ptx(entries, symbol, count)
    return found or [Parameter(UNKNOWN)] * count


def of_source(source: str, kernels: Iterable[str]) -> dict[str, str]:
    """Return the characters of the kernels that are not mangled, where they are known.

    A symbol of C++ tells types too, so it is not among them.
    """
    from pycuda import _parameter_types

    found: dict[str, str] = {}
    for name in dict.fromkeys(kernels):
        count = _parameter_types.number_declared(source, name)
        declared = None
        if count is not None:
            declared = _parameter_types.declared(source, name, count)
        if declared:
            found[name] = "".join(parameter.type for parameter in declared)
    return found


def characters(module: object, entries: str | None, symbol: str, count: int) -> bytes:
    """Return two characters for each parameter; see ``_parameter_types``.

    A module of a bundle has those of its kernels.
    """
    known = vars(module).get("_characters", {}).get(symbol, "")
    if known and len(known) == 2 * count:
        return bytes(known, "ascii")
    found = parameters(module, entries, symbol, count)
    return "".join(parameter.type for parameter in found).encode()


def integers(
    module: object, entries: str | None, symbol: str, count: int
) -> bytes | None:
    """Return a byte for each parameter; see ``_parameter_types.integers``."""
    from pycuda import _parameter_types

    source = vars(module).get("_source")
    if not isinstance(source, str):
        return None
    return _parameter_types.integers(source, symbol, count)


class _Calls(threading.local):
    """The calls of a thread that raise. ``given`` are their arguments, if known."""

    strict = False
    given: Sequence[object] | None = None


_calls = _Calls()


@contextlib.contextmanager
def strict(given: Sequence[object]) -> Iterator[None]:
    """Raise TypeError for an argument of another type than its parameter.

    ``given`` are the arguments as the user passed them, for the text of the error.
    """
    saved = _calls.strict, _calls.given
    _calls.strict, _calls.given = True, given
    try:
        yield
    finally:
        _calls.strict, _calls.given = saved


def report(
    module: object,
    entries: str | None,
    symbol: str,
    count: int,
    index: int,
    argument: object,
    is_format: bool,
) -> bool:
    """Warn that an argument is of another type than its parameter.

    With PYCUDA_STRICT=1, and inside of ``strict``, raise TypeError. ``is_format``: the
    argument is a character of the format of prepared calls. Return whether Python hides
    the next warning of this line.
    """
    from pycuda import _parameter_types

    parameter = parameters(module, entries, symbol, count)[index]
    name = _parameter_types.plain_name(symbol)
    if _calls.given is not None and _is_host_array(_calls.given[index]):
        argument = _calls.given[index]  # not the In or InOut that was made of it
    found = f"'{argument}' in the format" if is_format else _described(argument)
    text = f"argument {index} of {name} is {found}, but {_expected(parameter)}"
    advice = _advice(parameter, argument, is_format)
    if advice:
        text += f". {advice}"
    if _calls.strict or _is_strict():
        raise TypeError(text)
    return warn_settled(text, ArgumentTypeWarning)


def strided(symbol: str, index: int, arguments: tuple[Any, ...]) -> bool:
    """Warn that a kernel gets an array with gaps between its elements.

    The kernel knows the strides if one of them, in elements or bytes, is an argument,
    or if a structure may contain them. Return whether the line need not ask again.
    """
    from pycuda import _parameter_types

    array = arguments[index]
    gaps = _gaps(array)
    size = array.dtype.itemsize
    for argument in arguments:
        if isinstance(argument, np.void):
            return True
        if isinstance(argument, np.integer) and any(
            abs(int(argument)) in (abs(gap), abs(gap) // size) for gap in gaps
        ):
            return True
    name = _parameter_types.plain_name(symbol)
    return warn_settled(
        f"argument {index} of {name} is a view with the strides {array.strides} of "
        f"elements of {size} bytes. The kernel gets the address of the first element, "
        "and no strides. Pass a copy (.copy()), or the strides too",
        PyCUDAWarning,
    )


def _gaps(array: Any) -> list[int]:
    """Return the strides, in bytes, that an array without gaps does not have."""
    gaps, packed = [], array.dtype.itemsize
    lengths = zip(array.shape, array.strides, strict=True)
    for length, stride in reversed(list(lengths)):
        if length > 1 and stride != packed:
            gaps.append(stride)
        packed *= length
    return gaps


def explained(
    module: object,
    entries: str | None,
    symbol: str,
    count: int,
    index: int,
    argument: object,
    text: str,
) -> str:
    """Return the text of an error, with what is known of the parameter.

    ``count`` is -1 if the driver does not tell the number of parameters.
    """
    from pycuda import _parameter_types

    known = parameters(module, entries, symbol, count)
    parameter = _parameter_types.Parameter(_parameter_types.UNKNOWN)
    if index < len(known):
        parameter = known[index]
    name = _parameter_types.plain_name(symbol)
    here = f"parameter {index} ({_declaration(parameter)}) of '{name}'"
    if _is_host_array(argument):
        if parameter.type[0] == "p":
            return (
                f"argument {index} of {name} is a numpy.ndarray of "
                f"{_dtype_of(argument)} in the memory of the host, but {here} is a "
                f"pointer to memory of the device: wrap {_HOST_ARRAY}"
                f"{_step_for_page_locked(argument)}"
            )
        if parameter.type in (_parameter_types.UNKNOWN, "va"):
            text += f". If the parameter is a pointer, wrap {_HOST_ARRAY}"
    if parameter.text:
        text += f". It is for {here}"
    text += _step(parameter, argument)
    if not parameter.text:
        text += ". Arguments are counted from 0"
    return text


def _step_for_page_locked(array: Any) -> str:
    """Return how to pass page-locked memory without a copy, "" for other arrays."""
    from pycuda import _driver

    kinds = (_driver.PagelockedHostAllocation, _driver.RegisteredHostMemory)
    if not isinstance(array.base, kinds):
        return ""
    return (
        ", or, to use its page-locked memory without a copy, pass "
        "numpy.uintp(array.base.get_device_pointer())"
    )


#: What to pass for a number if the type of the parameter is not known.
_NUMBERS = {
    bool: "numpy.bool_(x) or numpy.int32(x)",
    int: "numpy.int32(x), or numpy.uintp(x) for an address",
    float: "numpy.float32(x)",
    complex: "numpy.complex64(x)",
}


def _step(parameter: Parameter, argument: Any) -> str:
    """Return what to pass for a parameter, "" if that is unknown."""
    if hasattr(argument, "get_device_pointer"):
        return ": pass its address, numpy.uintp(x.get_device_pointer())"
    if parameter.type[0] == "p":
        return f": pass {_memory_for(parameter, argument)}"
    if isinstance(argument, (ArgumentHandler, GPUArray)):
        given = "x.get()[0]" if isinstance(argument, GPUArray) else "x[0]"
        return f", a value and no pointer: pass an element of the host, such as {given}"
    dtype: Any = _dtype_of(argument)
    if getattr(dtype, "names", None):
        from pycuda._array.kernels.c_types import layout_advice

        return f": {layout_advice(dtype)}"
    numpy = NUMPY.get(parameter.type[1])
    if numpy is None and parameter.text and isinstance(argument, (tuple, list)):
        return ": pass an element of an array, as in numpy.array(value, dtype)[()]"
    if numpy is None:
        wrapped = _NUMBERS.get(type(argument))
        return f": pass it in the parameter's type, as in {wrapped}" if wrapped else ""
    if isinstance(argument, (int, float, np.number, np.bool_)):
        return f": pass numpy.{numpy}(x)"
    return f": pass a numpy.{numpy}"


def _memory_for(parameter: Parameter, argument: Any) -> str:
    """Return what to pass for a pointer."""
    if argument is None:
        return "numpy.uintp(0) for a null pointer"
    if isinstance(argument, (tuple, list)):
        numpy = NUMPY.get(parameter.type[1])
        dtype = f"numpy.{numpy}" if numpy else "dtype"
        return f"pycuda.driver.In(numpy.array(x, {dtype}))"
    if isinstance(argument, (int, np.integer)) and not isinstance(argument, bool):
        return "device memory, or numpy.uintp(x) if it is an address"
    return "device memory, such as a GPUArray, or an array in pycuda.driver.In"


def mistaken(
    module: object,
    entries: str | None,
    symbol: str,
    count: int,
    index: int,
    argument: object,
    text: str,
    error: type[Exception],
) -> None:
    """Warn of an argument that PyCUDA passes; raise ``error`` with PYCUDA_STRICT."""
    text = explained(module, entries, symbol, count, index, argument, text)
    forgive(text, error, ArgumentTypeWarning)


#: What to do with an array of the host where a kernel needs memory of the device.
_HOST_ARRAY = (
    "the array in pycuda.driver.In (the kernel reads it), Out (it writes it) or "
    "InOut, or copy it once with pycuda.gpuarray.to_gpu()"
)


def _declaration(parameter: Parameter) -> str:
    """Return a parameter as a source declares it, such as "float *x"."""
    if not parameter.name:
        return parameter.text or "a pointer"
    base, bracket, length = parameter.text.partition("[")
    base = base.rstrip()
    between = "" if base.endswith("*") else " "
    return f"{base}{between}{parameter.name}{bracket}{length}"


def _is_host_array(argument: object) -> bool:
    import numpy as np

    return isinstance(argument, np.ndarray)


def with_article(word: str) -> str:
    return f"{'an' if word[:1] in 'aeiouAEIO' else 'a'} {word}"


def _dtype_of(argument: Any) -> object:
    """Return the dtype of an array or of the array of In, Out or InOut, or None."""
    dtype = getattr(argument, "dtype", None)
    if dtype is None:
        dtype = getattr(getattr(argument, "array", None), "dtype", None)
    return dtype


def _described(argument: object) -> str:
    """Return what an argument is."""
    kind = type(argument)
    if kind.__module__ == "numpy" and kind.__name__ != "ndarray":
        return with_article(f"numpy.{kind.__name__}")
    words = "a numpy.ndarray" if _is_host_array(argument) else ""
    words = words or with_article(kind.__name__)
    dtype = _dtype_of(argument)
    if dtype is None:
        return f"{words}, which is an address"
    return f"{words} of {dtype}"


def _expected(parameter: Parameter) -> str:
    """Return what a parameter is."""
    words = "the parameter"
    if parameter.name:
        words += f" '{parameter.name}'"
    return f"{words} is {with_article(parameter.text or 'value of another type')}"


def _advice(parameter: Parameter, argument: object, is_format: bool) -> str:
    """Return what to do, "" if there is nothing to say."""
    numpy = NUMPY.get(parameter.type[1], "")
    if parameter.type[0] == "p":
        if is_format:
            return "Use 'P' for device memory"
        if _is_array(argument) and numpy:
            if _is_host_array(argument):  # a cell of CUDA C takes it as it is
                return f"Pass an array of {numpy}, such as x.astype(numpy.{numpy})"
            return (
                f"Pass an array of {numpy}, or a view(numpy.{numpy}) if its bytes are "
                "meant"
            )
        return "Pass device memory, or its address as a numpy.uintp"
    if not numpy:
        return ""
    if is_format:
        return f"Use numpy.{numpy} in the format"
    return f"Pass a numpy.{numpy}"


def _is_array(argument: object) -> bool:
    """Return whether an argument is an array, not a number."""
    kind = type(argument)
    is_number = kind.__module__ == "numpy" and kind.__name__ != "ndarray"
    return not is_number and _dtype_of(argument) is not None
