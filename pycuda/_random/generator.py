"""The base class of all generators: states in device memory, and their kernels.

The device code is NVIDIA's ``curand_kernel.h``. A generator has one state for each
thread of its largest launch. A fill loads each state once, keeps it in registers while
it makes elements, and stores it back.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pycuda import _driver as drv, _extras
from pycuda._array.kernels.compilation import load
from pycuda._compile import nvrtc, toolkit
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import GPUArray, _plain_array
from pycuda._random import sources
from pycuda.driver import CompileError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pycuda._array.kernels.compilation import SourceModule
    from pycuda._driver import DeviceAllocation, Function, Stream

    _Shape = int | tuple[int, ...] | list[int]

#: NVIDIA's header for device code, and where its wheels have it.
_HEADER = "curand_kernel.h"
_WHEEL_HEADERS = ("nvidia/cu13/include", "nvidia/curand/include")
_SYSTEM = "/usr/include"

_THREADS = 256  # the most threads of a block, for any number of generators
F4, F8, I4, U4, I8, U8 = map(np.dtype, ("f4", "f8", "i4", "u4", "i8", "u8"))


def multiprocessors() -> int:
    """Return the number of multiprocessors of the current device."""
    attribute = drv.device_attribute.MULTIPROCESSOR_COUNT
    return drv.Context.get_device().get_attribute(attribute)


def compiler_options() -> list[str]:
    """Return the options with which a compiler finds the header.

    Raises CompileError if it is not there.
    """
    for folder in _folders():
        if os.path.isfile(os.path.join(folder, _HEADER)):
            # A system's own nvcc looks there, after the C library's own headers.
            return [] if folder == _SYSTEM else [f"-I{folder}"]
    raise CompileError(
        f"cuRAND's header for device code, {_HEADER}, was not found: not beside NVRTC "
        f"or nvcc, not under {toolkit.described_homes()} or /usr/local/cuda, and not "
        f"in NVIDIA's wheels ({' or '.join(_WHEEL_HEADERS)} in site-packages). Install "
        f"the CUDA toolkit, or its wheels with '{_extras.command('curand')}', or for "
        "CUDA 12 'pip install nvidia-curand-cu12'",
        [],
    )


def _folders() -> Iterator[str]:
    """Yield the folders that may have the header, those of the compilers first."""
    for path in (nvrtc.find(), toolkit.on_path(["nvcc"])):
        if path is not None:
            for each in (path, os.path.realpath(path)):
                yield os.path.join(os.path.dirname(os.path.dirname(each)), "include")
    for home in toolkit.homes():
        yield os.path.join(home, "include")
    yield from toolkit.in_wheels(_WHEEL_HEADERS)
    yield _SYSTEM


@context_dependent_memoize
def module_of(text: str) -> SourceModule:
    """Return the module of a generator's text; generators of one kind share it."""
    return load(text, compiler_options())


# The kernel that makes elements of a dtype, for each distribution.
_UNIFORM = {
    F4: "uniform_float",
    F8: "uniform_double",
    I4: "uniform_int",
    U4: "uniform_int",
    I8: "uniform_long",
    U8: "uniform_long",
}
_NORMAL = {F4: "normal_float", F8: "normal_double"}
_LOG_NORMAL = {F4: "normal_log_float", F8: "normal_log_double"}
_POISSON = {U4: "poisson_int", I4: "poisson_int"}
_POISSON_INPLACE = {
    F4: "poisson_inplace_float",
    F8: "poisson_inplace_double",
    U4: "poisson_inplace_int",
    I4: "poisson_inplace_int",
}


class _RandomNumberGeneratorBase:
    """States of one kind in device memory, and the kernels that draw from them.

    ``state_type`` is the C type of a state, ``vector_type`` that of a direction vector,
    ``scramble_type`` that of a scramble constant. ``additional_source`` has the kernel
    ``prepare``, which initialises the states. It names these types ``%(state_type)s``
    and so on. ``block_count`` is the number of multiprocessors. There are
    ``block_count * generators_per_block`` states. A generator belongs to the context
    that was current when it was made. Its fills must not run at the same time: put them
    on one stream, or wait.

    Attributes
    ----------
    gen_info : list of tuple of str
        The kernels that fill arrays: (name, C type of elements, suffix of functions).
    gen_log_info : list of tuple of str
        The kernels of the log-normal distribution, as in ``gen_info``.
    gen_poisson_info : list of tuple of str
        The kernels of the Poisson distribution with one mean, as in ``gen_info``.
    gen_poisson_inplace_info : list of tuple of str
        The kernels that replace means by Poisson numbers, as in ``gen_info``.
    has_box_muller : bool
        Whether normal numbers are made in pairs.
    block_count : int
        The number of blocks of a fill, one for each multiprocessor.
    module : pycuda.compiler.SourceModule
        The module with the kernels.
    generators : dict
        The prepared functions that fill arrays, by the names of the kernels.
    skip_ahead : pycuda.driver.Function
        The kernel behind ``call_skip_ahead``.
    skip_ahead_array : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_array``.
    """

    # (name of the kernel, C type of its elements, suffix of its functions' names)
    gen_info: ClassVar[list[tuple[str, str, str]]] = [
        ("uniform_int", "unsigned int", ""),
        ("uniform_long", "unsigned long long", ""),
        ("uniform_float", "float", "_uniform"),
        ("uniform_double", "double", "_uniform_double"),
        ("normal_float", "float", "_normal"),
        ("normal_double", "double", "_normal_double"),
    ]
    gen_log_info: ClassVar[list[tuple[str, str, str]]] = [
        ("normal_log_float", "float", "_log_normal"),
        ("normal_log_double", "double", "_log_normal_double"),
    ]
    gen_poisson_info: ClassVar[list[tuple[str, str, str]]] = [
        ("poisson_int", "unsigned int", "")
    ]
    gen_poisson_inplace_info: ClassVar[list[tuple[str, str, str]]] = [
        ("poisson_inplace_int", "unsigned int", ""),
        ("poisson_inplace_float", "float", ""),
        ("poisson_inplace_double", "double", ""),
    ]

    has_box_muller: bool = False
    _draws = sources.SINGLE_DRAWS
    _fill_body = sources.SINGLE_FILL
    _run_bytes = 1
    _sequence_source = ""
    _skips: tuple[str, ...] = ("skip_ahead",)

    skip_ahead: Function
    skip_ahead_array: Function

    def __init__(
        self,
        state_type: str,
        vector_type: str | None,
        generator_bits: int,
        additional_source: str,
        scramble_type: str | None = None,
    ) -> None:
        self.state_type = state_type
        self.vector_type = vector_type
        self.scramble_type = scramble_type
        self.generator_bits = generator_bits
        self.block_count: int = multiprocessors()
        self.module: SourceModule = module_of(
            self._text(
                state_type,
                vector_type,
                generator_bits,
                additional_source,
                scramble_type,
            )
        )
        self.generators: dict[str, Function] = {}
        for name, _, _ in self._rows(generator_bits, self.gen_info):
            self._add_generator(name, "PIPQ")
        for name, _, _ in self.gen_poisson_inplace_info:
            self._add_generator(name, "PIPQ")
        for name, c_type, _ in self.gen_log_info:
            self._add_generator(name, "PIPQff" if c_type == "float" else "PIPQdd")
        for name, _, _ in self.gen_poisson_info:
            self._add_generator(name, "PIPQd")
        self._prepare = self.module.get_function("prepare")
        self._prepare_skipahead()
        per_block = self.generators_per_block
        self._count = self.block_count * per_block
        self._block = (block_size(per_block), 1, 1)
        self._state: DeviceAllocation | None = None

    @staticmethod
    def _rows(
        generator_bits: int, rows: list[tuple[str, str, str]]
    ) -> Iterable[tuple[str, str, str]]:
        """Yield the rows of the kernels that generators of so many bits have."""
        return (row for row in rows if row[0] != "uniform_long" or generator_bits == 64)

    @classmethod
    def _text(
        cls,
        state_type: str,
        vector_type: str | None,
        generator_bits: int,
        additional_source: str,
        scramble_type: str | None = None,
    ) -> str:
        """Return the source of the module."""
        counted_in = cls._skip_type(generator_bits)
        words = {
            "state_type": state_type,
            "vector_type": vector_type,
            "scramble_type": scramble_type,
            "offset_type": counted_in,
            "draws": cls._draws,
            "fill": cls._fill_body,
        }
        parts = [
            sources.random_source % words,
            sources.STATE_SAMPLE,
            additional_source % words,
        ]
        templates = [
            (sources.gen_template, cls.gen_info),
            (sources.gen_log_template, cls.gen_log_info),
            (sources.gen_poisson_template, cls.gen_poisson_info),
            (sources.gen_poisson_inplace_template, cls.gen_poisson_inplace_info),
        ]
        for template, rows in templates:
            for name, out_type, suffix in cls._rows(generator_bits, rows):
                row_words = {
                    "name": name,
                    "out_type": out_type,
                    "suffix": suffix,
                    "paired": "normal" in suffix,
                }
                parts.append(template % row_words)
        if counted_in == "unsigned long long":
            parts.append(sources.random_skip_ahead64_source)
        else:
            parts.append(sources.random_skip_ahead32_source)
        parts.append(cls._sequence_source)
        return "".join(parts)

    @classmethod
    def _skip_type(cls, generator_bits: int) -> str:
        """Return the C type that counts the numbers of one state."""
        return "unsigned long long"

    def _counts_wide(self) -> bool:
        """Return whether 64 bits count the numbers of one state."""
        return self._skip_type(self.generator_bits) == "unsigned long long"

    def _add_generator(self, name: str, types: str) -> None:
        self.generators[name] = self.module.get_function(name).prepare(types)

    def _prepare_skipahead(self) -> None:
        """Prepare the kernels that skip, two for each name in ``_skips``."""
        for name in self._skips:
            number = "I" if name == "skip_ahead" and not self._counts_wide() else "Q"
            for suffix, type_ in (("", number), ("_array", "P")):
                kernel = self.module.get_function(name + suffix).prepare("PI" + type_)
                setattr(self, name + suffix, kernel)

    def _kernels(self) -> list[Function]:
        """Return all kernels: they initialise states, make elements, or skip."""
        skips = [name + suffix for name in self._skips for suffix in ("", "_array")]
        return [
            self._prepare,
            *self.generators.values(),
            *(getattr(self, name) for name in skips),
        ]

    @property
    def generators_per_block(self) -> int:
        """The most threads that a block of every kernel may have.

        The kernels that initialise states and skip elements are compiled as PyCUDA's
        are, without a bound on their registers. They set the limit for MRG32k3a.
        """
        attribute = drv.function_attribute.MAX_THREADS_PER_BLOCK
        return min(each.get_attribute(attribute) for each in self._kernels())

    @property
    def state(self) -> DeviceAllocation:
        """The states, one after the other."""
        if self._state is None:
            size = self.module.module.get_global("state_sample")[1]
            self._state = drv.mem_alloc(size * self._count)
        return self._state

    def _seed(self, types: str, *arguments: Any) -> None:
        """Launch the kernel that initialises the states."""
        self._prepare.prepare("PI" + types)
        try:
            self._launch(self._prepare, self._count, None, *arguments)
        except drv.LaunchError as error:
            raise ValueError(f"the states could not be made: {error}") from error

    def _launch(
        self, function: Function, threads: int, stream: Stream | None, *arguments: Any
    ) -> None:
        """Launch a kernel for some of the states."""
        function.prepared_async_call(
            (-(-threads // self._block[0]), 1),
            self._block,
            stream,
            self._state or self.state,
            self._count,
            *arguments,
        )

    def _fill(
        self,
        names: dict[np.dtype[Any], str],
        what: str,
        data: GPUArray,
        stream: Stream | None,
        *arguments: Any,
    ) -> None:
        """Launch the kernel of ``names`` for the dtype of ``data``."""
        if not isinstance(data, GPUArray):
            raise TypeError(f"data must be a GPUArray, not {type(data).__name__}")
        data = _plain_array(data)
        dtype, size = data.dtype, data.size
        function = self.generators.get(names.get(dtype, ""))
        if function is None:
            known = [each.name for each in names if names[each] in self.generators]
            raise NotImplementedError(
                f"{type(self).__name__} makes {what} of dtype {', '.join(known)}, "
                f"not {dtype}"
            )
        if not size:
            return
        target = data
        if not data.flags.forc:
            target = GPUArray(data.shape, dtype, data.allocator)
            if names is _POISSON_INPLACE:
                target.set_async(data, stream)
        runs = -(-size // (self._run_bytes // dtype.itemsize or 1))
        threads = self._count
        if runs < threads:  # a call of min() takes 100 ns
            threads = runs
        self._launch(function, threads, stream, target.gpudata, size, *arguments)
        if target is not data:
            data.set_async(target, stream)

    def fill_uniform(self, data: GPUArray, stream: Stream | None = None) -> None:
        """Fill an array with floats in (0, 1], or with integers of all bits.

        Parameters
        ----------
        data : GPUArray
            Array of dtype float32, float64, int32 or uint32, and with generators of 64
            bits also int64 or uint64.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.
        TypeError
            If ``data`` is not a GPUArray.

        Notes
        -----
        The call does not wait.

        Examples
        --------
        >>> from pycuda.curandom import XORWOWRandomNumberGenerator
        >>> generator = XORWOWRandomNumberGenerator()
        >>> x = gpuarray.empty(1000, np.float32)
        >>> generator.fill_uniform(x)
        >>> bool(x.min().get() > 0 and x.max().get() <= 1)
        True
        """
        self._fill(_UNIFORM, "uniform numbers", data, stream)

    def fill_normal(self, data: GPUArray, stream: Stream | None = None) -> None:
        """Fill an array with normal numbers of mean 0 and standard deviation 1.

        Parameters
        ----------
        data : GPUArray
            Array of dtype float32 or float64.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.
        TypeError
            If ``data`` is not a GPUArray.

        Notes
        -----
        The call does not wait.
        """
        self._fill(_NORMAL, "normal numbers", data, stream)

    def fill_log_normal(
        self,
        data: GPUArray,
        mean: float,
        stddev: float,
        stream: Stream | None = None,
    ) -> None:
        """Fill an array with the exponential function of normal numbers.

        Parameters
        ----------
        data : GPUArray
            Array of dtype float32 or float64.
        mean : float
            Mean of the logarithms.
        stddev : float
            Standard deviation of the logarithms.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.
        TypeError
            If ``data`` is not a GPUArray.

        Notes
        -----
        The call does not wait.
        """
        self._fill(_LOG_NORMAL, "log-normal numbers", data, stream, mean, stddev)

    def fill_poisson(
        self,
        data: GPUArray,
        lambda_value: float | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Fill an array with numbers of a Poisson distribution.

        Parameters
        ----------
        data : GPUArray
            Array of dtype float32, float64, int32 or uint32.
        lambda_value : float, optional
            Expected value. The default is the element of ``data`` that is replaced.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.
        TypeError
            If ``data`` is not a GPUArray.
        ValueError
            If ``lambda_value`` is below 0.

        Notes
        -----
        The call does not wait.
        """
        if lambda_value is None:
            self._fill(_POISSON_INPLACE, "Poisson numbers", data, stream)
            return
        if not lambda_value >= 0:
            raise ValueError(f"lambda_value is {lambda_value}; it must be 0 or more")
        if isinstance(data, GPUArray) and data.dtype.kind == "f":
            if data.dtype in _POISSON_INPLACE:
                data.fill(lambda_value, stream)
            self._fill(_POISSON_INPLACE, "Poisson numbers", data, stream)
            return
        self._fill(_POISSON, "Poisson numbers", data, stream, lambda_value)

    def gen_uniform(
        self, shape: _Shape, dtype: DTypeLike, stream: Stream | None = None
    ) -> GPUArray:
        """Return a new array of floats in (0, 1], or of integers of all bits.

        Parameters
        ----------
        shape : int or tuple of int
            Shape of the array.
        dtype : dtype_like
            Dtype of the array: float32, float64, int32 or uint32, and with generators
            of 64 bits also int64 or uint64.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            A new array. The default allocator allocates it.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.

        See Also
        --------
        fill_uniform : Fill an existing array.

        Examples
        --------
        >>> from pycuda.curandom import PhiloxRandomNumberGenerator
        >>> PhiloxRandomNumberGenerator().gen_uniform((2, 3), np.float64).shape
        (2, 3)
        """
        result = GPUArray(shape, dtype)
        self.fill_uniform(result, stream)
        return result

    def gen_normal(
        self, shape: _Shape, dtype: DTypeLike, stream: Stream | None = None
    ) -> GPUArray:
        """Return a new array of normal numbers of mean 0 and standard deviation 1.

        Parameters
        ----------
        shape : int or tuple of int
            Shape of the array.
        dtype : dtype_like
            Dtype of the array: float32 or float64.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            A new array. The default allocator allocates it.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.

        See Also
        --------
        fill_normal : Fill an existing array.

        Examples
        --------
        >>> from pycuda.curandom import XORWOWRandomNumberGenerator
        >>> x = XORWOWRandomNumberGenerator().gen_normal(10000, np.float32)
        >>> bool(abs(x.mean().get()) < 0.1)
        True
        """
        result = GPUArray(shape, dtype)
        self.fill_normal(result, stream)
        return result

    def gen_log_normal(
        self,
        shape: _Shape,
        dtype: DTypeLike,
        mean: float,
        stddev: float,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Return a new array of the exponential function of normal numbers.

        Parameters
        ----------
        shape : int or tuple of int
            Shape of the array.
        dtype : dtype_like
            Dtype of the array: float32 or float64.
        mean : float
            Mean of the logarithms.
        stddev : float
            Standard deviation of the logarithms.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            A new array. The default allocator allocates it.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.

        See Also
        --------
        fill_log_normal : Fill an existing array.
        """
        result = GPUArray(shape, dtype)
        self.fill_log_normal(result, mean, stddev, stream)
        return result

    def gen_poisson(
        self,
        shape: _Shape,
        dtype: DTypeLike,
        lambda_value: float,
        stream: Stream | None = None,
    ) -> GPUArray:
        """Return a new array of numbers of a Poisson distribution.

        Parameters
        ----------
        shape : int or tuple of int
            Shape of the array.
        dtype : dtype_like
            Dtype of the array: float32, float64, int32 or uint32.
        lambda_value : float
            Expected value.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Returns
        -------
        GPUArray
            A new array. The default allocator allocates it.

        Raises
        ------
        NotImplementedError
            If the generator does not make numbers of this dtype.
        ValueError
            If ``lambda_value`` is below 0.

        See Also
        --------
        fill_poisson : Fill an existing array.
        """
        result = GPUArray(shape, dtype)
        self.fill_poisson(result, lambda_value, stream)
        return result

    def call_skip_ahead(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip numbers.

        Parameters
        ----------
        i : int
            Number of numbers of each state.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.
        """
        self._launch(self.skip_ahead, self._count, stream, i)

    def call_skip_ahead_array(self, i: GPUArray, stream: Stream | None = None) -> None:
        """Let each state skip its own number of numbers.

        Parameters
        ----------
        i : GPUArray
            Number of numbers for each state, uint64, or uint32 for Sobol sequences of
            32 bits.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        TypeError
            If ``i`` is another array.
        """
        dtype = "uint64" if self._counts_wide() else "uint32"
        self._launch_array(self.skip_ahead_array, i, stream, dtype)

    def _launch_array(
        self,
        function: Function,
        i: GPUArray,
        stream: Stream | None,
        dtype: str = "uint64",
    ) -> None:
        check_array(i, "i", (self._count,), dtype)
        self._launch(function, self._count, stream, i.gpudata)


def block_size(per_block: int) -> int:
    """Return a block size that gives all multiprocessors the same number of blocks.

    A multiprocessor has ``per_block`` states, so the size divides that number.
    """
    sizes = (size for size in range(32, _THREADS + 1, 32) if per_block % size == 0)
    return max(sizes, default=min(per_block, _THREADS))


def check_array(
    array: object, name: str, shape: tuple[int, ...], dtype: DTypeLike
) -> None:
    """Raise TypeError unless an array has an element, or a row, for each state."""
    dtype = np.dtype(dtype)
    if not isinstance(array, GPUArray):
        raise TypeError(f"{name} must be a GPUArray, not {type(array).__name__}")
    plain: GPUArray = _plain_array(array)
    if plain.dtype != dtype or plain.size != np.prod(shape):
        raise TypeError(
            f"{name} must be {dtype} of shape {shape}, one for each state; it is "
            f"{plain.dtype} of shape {plain.shape}"
        )
    if not plain.flags.c_contiguous:
        raise TypeError(f"{name} must be contiguous")
