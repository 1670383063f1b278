"""Kernels of cells as functions of Python."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import pycuda.notebook._errors as _errors
import pycuda.notebook._structs as _structs
from pycuda import _argument_types, _parameter_types, driver as drv, gpuarray
from pycuda._parameter_types import Parameter
from pycuda.notebook._cell import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pycuda.compiler import SourceModule

Dims = int | Sequence[int]

#: The threads of a block by the number of axes, if the call does not choose.
_BLOCKS = {1: (256, 1, 1), 2: (16, 16, 1), 3: (8, 8, 4)}


class Shape(NamedTuple):
    """The shape of a launch."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int]


def _dims(value: Dims, name: str) -> tuple[int, int, int]:
    """Return a shape with three numbers."""
    several = value if isinstance(value, Iterable) else (value,)
    try:
        numbers = [_whole(each) for each in several]
    except (TypeError, ValueError):
        numbers = []
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise ValueError(
            f"{name} is one to three whole numbers from 1 on, such as (256, 1, 1), not "
            f"{value!r}"
        )
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _whole(value: Any) -> int:
    """Return a whole number, which may be a float. Raise TypeError or ValueError."""
    if isinstance(value, (str, bytes)) or int(value) != value:
        raise ValueError(value)
    return int(value)


def _array_in(argument: Any) -> Any:
    """Return the array that an argument is or copies, None if there is none."""
    array = argument.array if isinstance(argument, drv.ArgumentHandler) else argument
    return array if isinstance(array, (np.ndarray, drv.GPUArray)) else None


def _extent(arguments: Sequence[Any]) -> int | None:
    """Return the number of elements of the largest array."""
    arrays = map(_array_in, arguments)
    return max((int(each.size) for each in arrays if each is not None), default=None)


class Kernel:
    """A kernel of a cell, as a function of Python.

    Call it with its arguments, in order or by name. A parameter whose name is a word of
    Python, such as ``in``, is ``in_``. A call waits until the kernel has ended, unless
    ``stream`` is given.

    The threads: ``block`` and ``grid`` are as in CUDA. Without ``grid`` there are so
    many blocks that there is a thread for each element, ``threads`` of them: a number,
    or two or three numbers for x, y and z. The default is the number of elements of the
    largest array. ``shared`` is the bytes of dynamic shared memory.

    Numbers of Python get the type that the kernel declares. An array of another type
    than the kernel declares is a TypeError, and so are records of another size than a
    struct that the cell defines. An array of NumPy is copied to the device, and copied
    back if the kernel may write it, which is if its parameter is not a pointer to
    ``const``. A ``GPUArray`` stays where it is.

    ``function`` is the :class:`pycuda.driver.Function`, ``module`` the
    :class:`~pycuda.compiler.SourceModule`.
    """

    def __init__(
        self,
        name: str,
        function: drv.Function,
        parameters: Sequence[Parameter],
        cell: Cell,
    ) -> None:
        self.__name__: str = name
        self.__qualname__: str = name
        self.function: drv.Function = function
        self.module: SourceModule | None = cell.module
        self.parameters: tuple[Parameter, ...] = tuple(parameters)
        self._cell = cell
        structs = (_structs.of_parameter(each, cell.text) for each in parameters)
        self._structs = {n: each for n, each in enumerate(structs) if each is not None}
        listed = ", ".join(f"{each.text} {each.name}".strip() for each in parameters)
        self.__doc__ = f"__global__ void {name}({listed})\n\nIn {cell.title}."
        self.__signature__: inspect.Signature = _signature(parameters)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}{self.__signature__}, {self._cell.title}>"

    def symbols(self) -> Iterator[tuple[str, str]]:
        """Yield the symbol of the function and the name."""
        yield self.function.name, self.__name__

    def __call__(
        self,
        *args: Any,
        block: Dims | None = None,
        grid: Dims | None = None,
        threads: Dims | None = None,
        stream: drv.Stream | None = None,
        shared: int = 0,
        **named: Any,
    ) -> None:
        with _errors.short(self._cell.notebook):
            shape = block, grid, threads
            self._launch(args, named, shape, stream=stream, shared=shared)
            if stream is None:
                self._cell.notebook.finish()

    def timed(
        self,
        *args: Any,
        block: Dims | None = None,
        grid: Dims | None = None,
        threads: Dims | None = None,
        shared: int = 0,
        **named: Any,
    ) -> float:
        """Call the kernel, and return how many seconds it took, without copies."""
        with _errors.short(self._cell.notebook):
            shape = block, grid, threads
            seconds: float = self._launch(
                args, named, shape, shared=shared, time_kernel=True
            )
            self._cell.notebook.finish()
        return seconds

    def _launch(
        self,
        args: Sequence[Any],
        named: dict[str, Any],
        wanted: tuple[Dims | None, Dims | None, Dims | None],
        **options: Any,
    ) -> Any:
        """Launch the kernel. ``wanted`` are block, grid and threads."""
        arguments = self.arguments(args, named)
        try:
            shape = self.shape(arguments, *wanted)
            with _argument_types.strict(self._ordered(args, named)):
                return self.function(
                    *arguments, block=shape.block, grid=shape.grid, **options
                )
        except ValueError:
            self._refuse_memory(arguments)
            raise
        except drv.LogicError as error:
            said, _, why = str(error).partition(" - ")
            if "Module was detached" in why:
                error.args = (
                    f"{said} - the kernel {self.__name__} belongs to a context that "
                    f"was detached: run {self._cell.title} again",
                )
            raise

    def _refuse_memory(self, arguments: Sequence[Any]) -> None:
        """Raise ValueError for an array that cannot be copied to the device and back.

        The driver has refused one, and does not know its name.
        """
        for name, each in zip(_names(self.parameters), arguments, strict=True):
            array = _array_in(each)
            if not isinstance(array, np.ndarray):
                continue
            is_written = isinstance(each, (drv.Out, drv.InOut))
            text = f"the argument '{name}' of {self.__name__} is an array "
            if not array.flags.forc:
                text += "that is not contiguous. Pass a copy (numpy.ascontiguousarray)"
                if is_written:
                    text += ", and take the result from the copy"
                raise ValueError(text) from None
            if is_written and not array.flags.writeable:
                raise ValueError(
                    f"{text}that is read-only, and the kernel may write it. Declare "
                    "the parameter as a pointer to const, or pass a copy"
                ) from None

    def arguments(self, args: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """Return arguments in order and by name as the driver takes them."""
        values = self._ordered(args, named)
        converted = [
            _converted(self.__name__, parameter, value)
            for parameter, value in zip(self.parameters, values, strict=True)
        ]
        for n, struct in self._structs.items():
            array = _array_in(converted[n])
            if array is not None:
                described = _described(self.__name__, self.parameters[n])
                _structs.refuse(struct, array.dtype, described)
        return converted

    def _ordered(self, args: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """Return the arguments in the order of the parameters."""
        names = _names(self.parameters)
        wanted = f"{self.__name__}{self.__signature__}"
        if len(args) > len(names):
            raise TypeError(
                f"{wanted} takes {len(names)} argument{'s' * (len(names) != 1)} "
                f"({len(args)} given)"
            )
        for name in named:
            if name not in names:
                raise TypeError(f"{wanted} has no parameter {name!r}")
            if name in names[: len(args)]:
                raise TypeError(f"{wanted} was given {name!r} twice")
        values = list(args)
        for name in names[len(args) :]:
            if name not in named:
                raise TypeError(f"{wanted} needs an argument for {name!r}")
            values.append(named[name])
        return values

    def shape(
        self,
        arguments: Sequence[Any],
        block: Dims | None = None,
        grid: Dims | None = None,
        threads: Dims | None = None,
    ) -> Shape:
        """Return the block and the grid of a launch with these arguments."""
        if grid is not None:
            if threads is not None:
                raise TypeError("pass grid or threads, not both")
            if block is None:
                raise TypeError(
                    "grid needs block, too. Or pass threads, the number of threads, "
                    "instead of both"
                )
            return Shape(_dims(block, "block"), _dims(grid, "grid"))
        if threads is None:
            threads = _extent(arguments)
            if threads is None:
                if block is not None:
                    return Shape(_dims(block, "block"), (1, 1, 1))
                raise TypeError(
                    f"{self.__name__} has no array argument that tells how many "
                    "threads it needs. Pass threads=N, or block= and grid="
                )
            threads = max(threads, 1)
        wanted = _dims(threads, "threads")
        chosen = self._block_for(wanted) if block is None else _dims(block, "block")
        x, y, z = (-(-n // size) for n, size in zip(wanted, chosen, strict=True))
        return Shape(chosen, (x, y, z))

    def _block_for(self, threads: tuple[int, int, int]) -> tuple[int, int, int]:
        """Return a block for so many threads."""
        axes = max(place + 1 for place in range(3) if threads[place] > 1 or not place)
        x, y, z = _BLOCKS[axes]
        if axes == 1:
            x = min(x, threads[0])  # so a small array needs no check of the index
        limit = self.function.get_attribute(
            drv.function_attribute.MAX_THREADS_PER_BLOCK
        )
        while x * y * z > limit and x > 1:
            x //= 2
        return x, y, z


class KernelTemplate:
    """A kernel template of a cell: ``scale["float"]`` is the kernel ``scale<float>``.

    What is in the brackets is the text between ``<`` and ``>`` in C++, or several such
    texts, or dtypes.
    """

    def __init__(self, found: _parameter_types.Kernel, cell: Cell) -> None:
        name = found.name
        self.__name__: str = name
        self.__qualname__: str = name
        self.__doc__ = f"A template of kernels in {cell.title}; choose its arguments "
        self.__doc__ += f"with brackets, such as {name}['float']."
        self._found = found
        self._cell = cell
        self.kernels: dict[str, Kernel] = {}

    def __getitem__(self, arguments: Any) -> Kernel:
        several = arguments if isinstance(arguments, tuple) else (arguments,)
        with _errors.short(self._cell.notebook):
            words = [self._argument(each) for each in several]
        listed = ", ".join(words)
        if listed not in self.kernels:
            module = self._cell.module
            assert module is not None
            with _errors.messages(self._cell):
                function = module.get_function(f"{self._found.qualified}<{listed}>")
            types = dict(zip(self._found.template or (), words, strict=False))
            self.kernels[listed] = Kernel(
                f"{self.__name__}<{listed}>",
                function,
                parameters_of(self._cell, function, self.__name__, types),
                self._cell,
            )
        return self.kernels[listed]

    def _argument(self, value: Any) -> str:
        """Return an argument as C++ writes it."""
        if isinstance(value, str):
            return value
        if isinstance(value, (bool, np.bool_)):
            return "true" if value else "false"
        if isinstance(value, (int, np.integer)):
            return str(int(value))
        from pycuda.tools import dtype_to_ctype

        try:
            if value is not None:  # which NumPy takes for float64
                return str(dtype_to_ctype(np.dtype(value)))
        except (TypeError, ValueError):
            pass
        raise TypeError(
            f"{value!r} is no argument of the template {self.__name__}. Pass a text of "
            "C++, a number or a dtype of numbers"
        )

    def __call__(self, *args: Any, **named: Any) -> None:
        with _errors.short(self._cell.notebook):
            raise TypeError(
                f"{self.__name__} is a template. Choose its arguments with brackets, "
                f"such as {self.__name__}['float'](...)"
            )

    def __repr__(self) -> str:
        return f"<kernel template {self.__name__}, {self._cell.title}>"

    def symbols(self) -> Iterator[tuple[str, str]]:
        """Yield the symbols and the names of the kernels that were made."""
        for kernel in self.kernels.values():
            yield from kernel.symbols()


def parameters_of(
    cell: Cell,
    function: drv.Function,
    name: str,
    types: Mapping[str, str] | None = None,
) -> list[Parameter]:
    """Return the parameters of a kernel.

    ``types`` are the types that the parameters of its template mean. The source tells
    most. The symbol tells the types that the source hides.
    """
    declared = _parameter_types.of_kernel(cell.text, name, types) or []
    assert cell.module is not None
    found = _argument_types.parameters(
        cell.module.module, None, function.name, len(declared)
    )
    return [
        Parameter(new.type, old.name, old.text) if old.type[1] == "u" else old
        for old, new in zip(declared, found, strict=True)
    ]


def _names(parameters: Sequence[Parameter]) -> list[str]:
    """Return the names of parameters in Python: ``in`` of CUDA C is ``in_``."""
    names = [each.name or f"argument{n}" for n, each in enumerate(parameters)]
    return [f"{name}_" if keyword.iskeyword(name) else name for name in names]


def _signature(parameters: Sequence[Parameter]) -> inspect.Signature:
    """Return the signature that notebooks show."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [
        inspect.Parameter(name, kind, annotation=_Type(each.text))
        for name, each in zip(_names(parameters), parameters, strict=True)
    ]
    return inspect.Signature(shown)


class _Type:
    """A type of C, which a signature shows as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


# -- arguments -------------------------------------------------------------------------


def _is_pointer(parameter: Parameter) -> bool:
    """Return whether a parameter is a pointer, whatever it points to."""
    return parameter.type[0] == "p" or parameter.text.endswith(("*", "]"))


def _is_read_only(parameter: Parameter) -> bool:
    """Return whether a parameter is a pointer to const."""
    before_last_star = parameter.text.rpartition("*")[0]
    return re.search(r"\bconst\b", before_last_star) is not None


def _dtype_of(parameter: Parameter) -> str:
    """Return the name of NumPy's dtype for the values of a parameter, or ""."""
    return _argument_types.NUMPY.get(parameter.type[1], "")


def _converted(kernel: str, parameter: Parameter, value: Any) -> Any:
    """Return an argument as the driver takes it."""
    if type(value) in (bool, int, float, complex):
        return _number(kernel, parameter, value)
    is_pointer = _is_pointer(parameter)
    is_several = isinstance(value, (list, tuple, range, dict, set))
    if value is None or isinstance(value, str) or (is_several and not is_pointer):
        wanted = "an array" if is_pointer else _value_of(parameter)
        raise TypeError(
            f"{_described(kernel, parameter)}, and the argument is "
            f"{_short(value)}. Pass {wanted}"
        )
    if is_pointer and not isinstance(value, np.generic):
        return _array(kernel, parameter, value)
    return value


def _described(kernel: str, parameter: Parameter) -> str:
    type_text = _argument_types.with_article(parameter.text)
    return f"the parameter '{parameter.name}' of {kernel} is {type_text}"


def _value_of(parameter: Parameter) -> str:
    """Return what to pass for a parameter that is a value."""
    make = f"make_{parameter.text.removeprefix('const ')}"
    if not hasattr(gpuarray.vec, make):
        return "a number"
    number = "a complex number or " if parameter.type[1] in "FD" else ""
    return f"{number}pycuda.gpuarray.vec.{make}(...)"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"


def _number(kernel: str, parameter: Parameter, value: Any) -> Any:
    """Return a number of Python in the type of its parameter."""
    name = _dtype_of(parameter)
    is_a = _described(kernel, parameter)
    if _is_pointer(parameter):
        raise TypeError(f"{is_a}, and {value!r} is a number. Pass an array")
    if not name:
        raise TypeError(
            f"{is_a}, whose size is not known here. Pass {value!r} as a NumPy scalar, "
            "such as np.float32(...)"
        )
    dtype = np.dtype(name)
    if dtype.kind in "iu":
        if isinstance(value, (float, complex)):
            raise TypeError(f"{is_a}, and {value!r} is not a whole number")
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(
                f"{is_a}, which has numbers from {limits.min} to {limits.max}, and the "
                f"argument is {_short(value)}"
            )
    if isinstance(value, complex) and dtype.kind != "c":
        raise TypeError(f"{is_a}, and {value!r} is a complex number")
    try:
        return dtype.type(value)
    except OverflowError:
        raise OverflowError(f"{is_a}, and the argument is too large for it") from None


def _array(kernel: str, parameter: Parameter, value: Any) -> Any:
    """Return an array of the host with its copies, any other argument as it is."""
    is_read = _is_read_only(parameter)
    if isinstance(value, (list, tuple, range)):
        if not is_read:
            raise TypeError(
                f"{kernel} may write '{parameter.name}', and a "
                f"{type(value).__name__} cannot take that back. Pass an array of NumPy "
                "or a GPUArray"
            )
        value = _array_of(kernel, parameter, value)
    elif not isinstance(value, np.ndarray) and _has_buffer(value):
        value = np.asarray(memoryview(value))  # shares the memory
    if isinstance(value, np.ndarray):
        _refuse_texts(kernel, parameter, value.dtype)
        if value.size == 0:
            raise ValueError(
                f"{_described(kernel, parameter)}, and the argument is an array "
                f"without elements, of the shape {value.shape}"
            )
        return drv.In(value) if is_read else drv.InOut(value)
    return value


def _array_of(kernel: str, parameter: Parameter, value: Any) -> Any:
    """Return an array of a list of numbers."""
    try:
        return np.ascontiguousarray(value, _dtype_of(parameter) or None)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(
            f"{_described(kernel, parameter)}, and the argument {_short(value)} cannot "
            f"be an array of it: {error}"
        ) from None


def _refuse_texts(kernel: str, parameter: Parameter, dtype: np.dtype[Any]) -> None:
    """Raise TypeError for an array of texts or objects, which only NumPy can read.

    Fixed texts are characters of one byte (S) or of four (U), for pointers to integers
    of that size, and for types that are not known.
    """
    size = {"S": 1, "U": 4}.get(dtype.kind)
    name = _dtype_of(parameter)
    if size is not None and name:
        element = np.dtype(name)
        is_wrong = element.kind not in "iu" or element.itemsize != size
    else:
        is_wrong = dtype.hasobject
    if is_wrong:
        raise TypeError(
            f"{_described(kernel, parameter)}, and the argument is an array of "
            f"{dtype}. Pass an array of numbers"
        )


def _has_buffer(value: Any) -> bool:
    """Return whether a value is memory of Python, such as an array.array."""
    if hasattr(value, "__cuda_array_interface__") or hasattr(value, "gpudata"):
        return False
    if isinstance(value, (drv.ArgumentHandler, np.generic)):
        return False
    try:
        memoryview(value)
    except TypeError:
        return False
    return True
