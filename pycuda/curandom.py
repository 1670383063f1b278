"""Random numbers in device memory: ``rand``, and generators that keep states there.

The generators' device code is NVIDIA's ``curand_kernel.h``. A generator has one state
for each thread of its largest launch. A fill loads each state once, keeps it in
registers while it makes elements, and stores it back.

The order of the elements and the number of states are PyCUDA's, so that a seed gives
the same array as there: element ``i`` of a fill comes from state ``i % count``. Normal
and log-normal fills of an even size are made in pairs: elements ``2 * j`` and
``2 * j + 1`` come from state ``j % count``. Philox, which PyCUDA does not have, makes
16 bytes at a time: elements ``V * k`` to ``V * k + V - 1`` come from state
``k % count``, where ``V`` is 4 for elements of 4 bytes and 2 for those of 8.
"""

from __future__ import annotations

import random as _random
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import pycuda.driver as drv
from pycuda import _codegen, _curand, _random_source
from pycuda._driver import (
    GPUArray,
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    _plain_array,
    direction_vector_set,
    get_curand_version,
    to_gpu,
)
from pycuda._random_source import (
    gen_log_template,
    gen_poisson_inplace_template,
    gen_poisson_template,
    gen_template,
    md5_code,  # noqa: F401  known under this module's name
    mrg32k3a_random_source,
    mrg32k3a_skip_ahead_sequence_source,
    philox_random_source,
    random_skip_ahead32_source,
    random_skip_ahead64_source,
    random_source,
    scrambledsobol_random_source,
    sobol_random_source,
    xorwow_random_source,
    xorwow_skip_ahead_sequence_source,
)
from pycuda.tools import context_dependent_memoize as _context_dependent_memoize

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from pycuda.compiler import SourceModule
    from pycuda.driver import DeviceAllocation, Function, Stream

    _Shape = int | tuple[int, ...] | list[int]
    _SeedGetter = Callable[[int], GPUArray]

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "PhiloxRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]

_THREADS = 256  # a block's threads at most, whatever the number of generators is

# -- rand ------------------------------------------------------------------------------

_F4, _F8, _I4, _U4, _I8, _U8 = map(np.dtype, ("f4", "f8", "i4", "u4", "i8", "u8"))
_RAND_OF = {_F4: "rand_float", _F8: "rand_double", _I4: "rand_uint", _U4: "rand_uint"}


@_context_dependent_memoize
def _rand_module() -> SourceModule:
    return _codegen.load(_random_source.rand_text())


@_context_dependent_memoize
def _rand_kernel(name: str) -> tuple[Function, int]:
    """Return the kernel and how many blocks fill the device."""
    function = _rand_module().get_function(name).prepare("PQQ")
    return function, 8 * _multiprocessors()


def rand(
    shape: _Shape, dtype: DTypeLike = np.float32, stream: Stream | None = None
) -> GPUArray:
    """Return a new array of random numbers: floats in [0, 1), or integers of all bits.

    ``dtype`` is float32, float64, int32 or uint32; NotImplementedError for others. The
    seed is drawn from numpy's global generator. For many numbers, and for other
    distributions, make a generator.
    """
    name = _RAND_OF.get(np.dtype(dtype))
    if name is None:
        raise NotImplementedError(
            f"rand() makes float32, float64, int32 and uint32, not {np.dtype(dtype)}"
        )
    result = GPUArray(shape, dtype)
    low, high = (int(each) for each in np.random.randint(0, 2**31 - 1, 2))
    if result.size:
        kernel, most = _rand_kernel(name)
        packs = -(-result.nbytes // 16)
        blocks = min(-(-packs // 256), most)
        kernel.prepared_async_call(
            (blocks, 1),
            (256, 1, 1),
            stream,
            result.gpudata,
            result.size,
            low | high << 32,
        )
    return result


def _multiprocessors() -> int:
    attribute = drv.device_attribute.MULTIPROCESSOR_COUNT
    return drv.Context.get_device().get_attribute(attribute)


@_context_dependent_memoize
def _module_of(text: str) -> SourceModule:
    """Return the module of a generator's text; generators of one kind share it."""
    return _codegen.load(text, _curand.compiler_options())


# -- seeds -----------------------------------------------------------------------------


def seed_getter_uniform(n: int) -> GPUArray:
    """Return an array of n times the same random int32, from ``random``."""
    seed = _random.randint(0, 2**31 - 1)
    return to_gpu(np.full(n, seed, np.int32))


def seed_getter_unique(n: int) -> GPUArray:
    """Return an array of n random int32 from numpy's global generator."""
    seeds = np.random.randint(0, 2**31 - 1, n, np.int32)
    return to_gpu(seeds)


# -- generators ------------------------------------------------------------------------


# Which kernel makes which elements.
_UNIFORM = {
    _F4: "uniform_float",
    _F8: "uniform_double",
    _I4: "uniform_int",
    _U4: "uniform_int",
    _I8: "uniform_long",
    _U8: "uniform_long",
}
_NORMAL = {_F4: "normal_float", _F8: "normal_double"}
_LOG_NORMAL = {_F4: "normal_log_float", _F8: "normal_log_double"}
_POISSON = {_U4: "poisson_int", _I4: "poisson_int"}
_POISSON_INPLACE = {
    _F4: "poisson_inplace_float",
    _F8: "poisson_inplace_double",
    _U4: "poisson_inplace_int",
    _I4: "poisson_inplace_int",
}


class _RandomNumberGeneratorBase:
    """States of one kind in device memory, and the kernels that draw from them.

    ``state_type`` is the C type of a state, ``vector_type`` that of a direction vector,
    ``scramble_type`` that of a scramble constant; ``additional_source`` has the kernel
    ``prepare`` that makes the states, with these types as ``%(state_type)s`` and so on.
    ``block_count`` is the number of multiprocessors; there are ``block_count *
    generators_per_block`` states. A generator belongs to the context it was made in,
    and its fills must not run at once: put them on one stream, or wait.
    """

    # name of the kernel, type of its elements, what the functions' names end in
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
    _draws = _random_source.SINGLE_DRAWS
    _fill_body = _random_source.SINGLE_FILL
    _run_bytes = 1
    _sequence_source = ""

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
        self.block_count: int = _multiprocessors()
        self.module: SourceModule = _module_of(
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
        self._block = (_block_size(per_block), 1, 1)
        self._state: DeviceAllocation | None = None

    @staticmethod
    def _rows(
        generator_bits: int, rows: list[tuple[str, str, str]]
    ) -> Iterable[tuple[str, str, str]]:
        """Yield the rows that generators of so many bits have."""
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
            random_source % words,
            _random_source.STATE_SAMPLE,
            additional_source % words,
        ]
        templates = [
            (gen_template, cls.gen_info),
            (gen_log_template, cls.gen_log_info),
            (gen_poisson_template, cls.gen_poisson_info),
            (gen_poisson_inplace_template, cls.gen_poisson_inplace_info),
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
        wide = counted_in == "unsigned long long"
        parts.append(random_skip_ahead64_source if wide else random_skip_ahead32_source)
        parts.append(cls._sequence_source)
        return "".join(parts)

    @classmethod
    def _skip_type(cls, generator_bits: int) -> str:
        """Return the C type that the numbers of one state are counted in."""
        return "unsigned long long"

    def _counts_wide(self) -> bool:
        return self._skip_type(self.generator_bits) == "unsigned long long"

    def _add_generator(self, name: str, types: str) -> None:
        self.generators[name] = self.module.get_function(name).prepare(types)

    def _prepare_skipahead(self) -> None:
        """Prepare the kernels that skip."""
        number = "Q" if self._counts_wide() else "I"
        self.skip_ahead = self.module.get_function("skip_ahead")
        self.skip_ahead.prepare("PI" + number)
        self.skip_ahead_array = self.module.get_function("skip_ahead_array")
        self.skip_ahead_array.prepare("PIP")

    def _kernels(self) -> list[Function]:
        """Return all kernels: they make states or elements, or skip elements."""
        made = [self._prepare, *self.generators.values()]
        return [*made, self.skip_ahead, self.skip_ahead_array]

    @property
    def generators_per_block(self) -> int:
        """How many threads a block of any of the kernels may have.

        The kernels that make states and skip elements are compiled as PyCUDA's are:
        without a bound on the number of their registers. They decide for MRG32k3a.
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
        """Launch the kernel that makes the states."""
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
        """Launch the generator of ``names`` that makes data's dtype."""
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
        threads = runs if runs < self._count else self._count
        self._launch(function, threads, stream, target.gpudata, size, *arguments)
        if target is not data:
            data.set_async(target, stream)

    def fill_uniform(self, data: GPUArray, stream: Stream | None = None) -> None:
        """Fill an array: floats in (0, 1], integers of all bits.

        float32, float64, int32 and uint32; int64 and uint64 from generators of 64 bits;
        NotImplementedError for others.
        """
        self._fill(_UNIFORM, "uniform numbers", data, stream)

    def fill_normal(self, data: GPUArray, stream: Stream | None = None) -> None:
        """Fill an array of float32 or float64 with mean 0 and standard deviation 1."""
        self._fill(_NORMAL, "normal numbers", data, stream)

    def fill_log_normal(
        self,
        data: GPUArray,
        mean: float,
        stddev: float,
        stream: Stream | None = None,
    ) -> None:
        """Fill an array of float32 or float64 with exp of normal numbers.

        ``mean`` and ``stddev`` are those of the logarithms.
        """
        self._fill(_LOG_NORMAL, "log-normal numbers", data, stream, mean, stddev)

    def fill_poisson(
        self,
        data: GPUArray,
        lambda_value: float | None = None,
        stream: Stream | None = None,
    ) -> None:
        """Fill an array with numbers of a Poisson distribution.

        The expected values are ``lambda_value``, or what stands in the array.
        ValueError if ``lambda_value`` is below 0.
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
        """Return a new array, filled as ``fill_uniform`` does."""
        result = GPUArray(shape, dtype)
        self.fill_uniform(result, stream)
        return result

    def gen_normal(
        self, shape: _Shape, dtype: DTypeLike, stream: Stream | None = None
    ) -> GPUArray:
        """Return a new array, filled as ``fill_normal`` does."""
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
        """Return a new array, filled as ``fill_log_normal`` does."""
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
        """Return a new array, filled as ``fill_poisson`` does."""
        result = GPUArray(shape, dtype)
        self.fill_poisson(result, lambda_value, stream)
        return result

    def call_skip_ahead(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip ``i`` of its numbers."""
        self._launch(self.skip_ahead, self._count, stream, i)

    def call_skip_ahead_array(self, i: GPUArray, stream: Stream | None = None) -> None:
        """Let each state skip as many of its numbers as an array says.

        ``i`` has an element for each state: uint64, or uint32 for Sobol sequences of 32
        bits; TypeError otherwise.
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
        _check_array(i, "i", (self._count,), dtype)
        self._launch(function, self._count, stream, i.gpudata)


def _block_size(per_block: int) -> int:
    """Return a block size that gives each multiprocessor as many blocks as the others.

    A multiprocessor has ``per_block`` states, so the size divides that number.
    """
    sizes = (size for size in range(32, _THREADS + 1, 32) if per_block % size == 0)
    return max(sizes, default=min(per_block, _THREADS))


def _check_array(
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


class _PseudoRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """Generators whose states are independent by their seeds and subsequences.

    State ``k`` is subsequence ``k`` of its seed, so that one seed for all is as good as
    one for each. ``seed_getter(count)`` returns ``count`` seeds; by default it is
    ``seed_getter_uniform``.
    """

    has_box_muller = True
    _draws = _random_source.PAIRED_DRAWS
    _fill_body = _random_source.PAIRED_FILL
    _sequence_source = xorwow_skip_ahead_sequence_source

    skip_ahead_sequence: Function
    skip_ahead_sequence_array: Function

    def __init__(
        self,
        seed_getter: _SeedGetter | None,
        offset: int,
        state_type: str,
        vector_type: str | None,
        generator_bits: int,
        additional_source: str,
        scramble_type: str | None = None,
    ) -> None:
        super().__init__(
            state_type,
            vector_type,
            generator_bits,
            additional_source,
            scramble_type,
        )
        seeds = (seed_getter or seed_getter_uniform)(self._count)
        _check_array(seeds, "what seed_getter returns", (self._count,), np.int32)
        self._seed("PQ", seeds.gpudata, offset)

    def _prepare_skipahead(self) -> None:
        super()._prepare_skipahead()
        self.skip_ahead_sequence = self.module.get_function("skip_ahead_sequence")
        self.skip_ahead_sequence.prepare("PIQ")
        self.skip_ahead_sequence_array = self.module.get_function(
            "skip_ahead_sequence_array"
        )
        self.skip_ahead_sequence_array.prepare("PIP")

    def _kernels(self) -> list[Function]:
        return [
            *super()._kernels(),
            self.skip_ahead_sequence,
            self.skip_ahead_sequence_array,
        ]

    def call_skip_ahead_sequence(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip ``i`` of the generator's sequences.

        They have 2**67 numbers for XORWOW, 2**66 for Philox, 2**127 for MRG32k3a.
        """
        self._launch(self.skip_ahead_sequence, self._count, stream, i)

    def call_skip_ahead_sequence_array(
        self, i: GPUArray, stream: Stream | None = None
    ) -> None:
        """Let each state skip as many sequences as an array of uint64 says."""
        self._launch_array(self.skip_ahead_sequence_array, i, stream)


class XORWOWRandomNumberGenerator(_PseudoRandomNumberGeneratorBase):
    """Pseudorandom numbers after Marsaglia, with a period of 2**192 - 2**32.

    ``seed_getter(count)`` returns an array of ``count`` int32 in device memory,
    TypeError otherwise. Each state starts at number ``offset`` of its subsequence.
    """

    _description = ("curandStateXORWOW", None, 32, xorwow_random_source)

    def __init__(self, seed_getter: _SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter, offset, *self._description)


class MRG32k3aRandomNumberGenerator(_PseudoRandomNumberGeneratorBase):
    """Pseudorandom numbers after L'Ecuyer, with a period of about 2**191.

    The arguments are those of ``XORWOWRandomNumberGenerator``.
    """

    _description = ("curandStateMRG32k3a", None, 32, mrg32k3a_random_source)
    _sequence_source = mrg32k3a_skip_ahead_sequence_source

    skip_ahead_subsequence: Function
    skip_ahead_subsequence_array: Function

    def __init__(self, seed_getter: _SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter, offset, *self._description)

    def _prepare_skipahead(self) -> None:
        super()._prepare_skipahead()
        self.skip_ahead_subsequence = self.module.get_function("skip_ahead_subsequence")
        self.skip_ahead_subsequence.prepare("PIQ")
        self.skip_ahead_subsequence_array = self.module.get_function(
            "skip_ahead_subsequence_array"
        )
        self.skip_ahead_subsequence_array.prepare("PIP")

    def _kernels(self) -> list[Function]:
        return [
            *super()._kernels(),
            self.skip_ahead_subsequence,
            self.skip_ahead_subsequence_array,
        ]

    def call_skip_ahead_subsequence(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip ``i`` subsequences, of 2**76 numbers each."""
        self._launch(self.skip_ahead_subsequence, self._count, stream, i)

    def call_skip_ahead_subsequence_array(
        self, i: GPUArray, stream: Stream | None = None
    ) -> None:
        """Let each state skip as many subsequences as an array of uint64 says."""
        self._launch_array(self.skip_ahead_subsequence_array, i, stream)


class PhiloxRandomNumberGenerator(_PseudoRandomNumberGeneratorBase):
    """Pseudorandom numbers of Philox 4x32 with 10 rounds, a counter that is mixed.

    The arguments are those of ``XORWOWRandomNumberGenerator``. Making the states costs
    next to nothing.
    """

    _description = ("curandStatePhilox4_32_10_t", None, 32, philox_random_source)
    _draws = _random_source.PHILOX_DRAWS
    _fill_body = _random_source.PHILOX_FILL
    _run_bytes = 16

    def __init__(self, seed_getter: _SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter, offset, *self._description)


def generate_direction_vectors(
    count: int, direction: direction_vector_set | None = None
) -> GPUArray:
    """Return ``count`` direction vectors of a set, by default ``VECTOR_32``.

    Their shape is (count, 32) of uint32, or (count, 64) of uint64 for the sets of 64
    bits. The sets have 20000 and then repeat.
    """
    sets = direction_vector_set
    direction = sets.VECTOR_32 if direction is None else direction
    if direction in (sets.VECTOR_64, sets.SCRAMBLED_VECTOR_64):
        vectors = np.empty((count, 64), np.uint64)
    else:
        vectors = np.empty((count, 32), np.uint32)
    _get_direction_vectors(direction, vectors, count)
    return to_gpu(vectors)


def generate_scramble_constants32(count: int) -> GPUArray:
    """Return ``count`` uint32 to scramble Sobol sequences; 20000, then they repeat."""
    constants = np.empty(count, np.uint32)
    _get_scramble_constants32(constants, count)
    return to_gpu(constants)


def generate_scramble_constants64(count: int) -> GPUArray:
    """Return ``count`` uint64 to scramble Sobol sequences; 20000, then they repeat."""
    constants = np.empty(count, np.uint64)
    _get_scramble_constants64(constants, count)
    return to_gpu(constants)


_DIMENSIONS = 20000  # that cuRAND has direction vectors for


class _QuasiRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """Sobol sequences: each state is a dimension, and all of them are at one point.

    Element ``i`` is of dimension ``i % count`` and of point ``i // count``, so that a
    fill of ``count`` elements is one point. There are no more states than dimensions.
    """

    @property
    def generators_per_block(self) -> int:
        most = max(_DIMENSIONS // self.block_count // 32 * 32, 1)
        return min(super().generators_per_block, most)

    @classmethod
    def _skip_type(cls, generator_bits: int) -> str:
        return "unsigned int" if generator_bits == 32 else "unsigned long long"

    def _vectors(
        self,
        dir_vector: GPUArray | None,
        dtype: DTypeLike,
        size: int,
        vector_set: direction_vector_set,
    ) -> GPUArray:
        """Return the direction vectors, checked."""
        if dir_vector is None:
            return generate_direction_vectors(self._count, vector_set)
        _check_array(dir_vector, "dir_vector", (self._count, size), dtype)
        return dir_vector


class _SobolRandomNumberGeneratorBase(_QuasiRandomNumberGeneratorBase):
    def __init__(
        self,
        dir_vector: GPUArray | None,
        dir_vector_dtype: DTypeLike,
        dir_vector_size: int,
        dir_vector_set: direction_vector_set,
        offset: int,
        state_type: str,
        vector_type: str,
        generator_bits: int,
        sobol_random_source: str,
    ) -> None:
        super().__init__(state_type, vector_type, generator_bits, sobol_random_source)
        vectors = self._vectors(
            dir_vector, dir_vector_dtype, dir_vector_size, dir_vector_set
        )
        number = "I" if generator_bits == 32 else "Q"
        self._seed("P" + number, vectors.gpudata, offset)


class _ScrambledSobolRandomNumberGeneratorBase(_QuasiRandomNumberGeneratorBase):
    def __init__(
        self,
        dir_vector: GPUArray | None,
        dir_vector_dtype: DTypeLike,
        dir_vector_size: int,
        dir_vector_set: direction_vector_set,
        scramble_vector: GPUArray | None,
        scramble_vector_function: Callable[[int], GPUArray],
        offset: int,
        state_type: str,
        vector_type: str,
        generator_bits: int,
        scramble_type: str,
        sobol_random_source: str,
    ) -> None:
        super().__init__(
            state_type, vector_type, generator_bits, sobol_random_source, scramble_type
        )
        vectors = self._vectors(
            dir_vector, dir_vector_dtype, dir_vector_size, dir_vector_set
        )
        if scramble_vector is None:
            scramble_vector = scramble_vector_function(self._count)
        _check_array(
            scramble_vector, "scramble_vector", (self._count,), dir_vector_dtype
        )
        number = "I" if generator_bits == 32 else "Q"
        self._seed("PP" + number, vectors.gpudata, scramble_vector.gpudata, offset)


class Sobol32RandomNumberGenerator(_SobolRandomNumberGeneratorBase):
    """Quasirandom numbers of Sobol, 32 bits each.

    ``dir_vector`` has a direction vector for each state, by default cuRAND's: shape
    (count, 32), uint32, TypeError otherwise. Each starts at point ``offset``.
    """

    _description = (
        "curandStateSobol32_t",
        "curandDirectionVectors32_t",
        32,
        sobol_random_source,
    )

    def __init__(self, dir_vector: GPUArray | None = None, offset: int = 0) -> None:
        super().__init__(
            dir_vector,
            np.uint32,
            32,
            direction_vector_set.VECTOR_32,
            offset,
            *self._description,
        )


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobolRandomNumberGeneratorBase):
    """Scrambled Sobol numbers, 32 bits each.

    ``dir_vector`` and ``offset`` as for ``Sobol32RandomNumberGenerator``;
    ``scramble_vector`` has a uint32 for each state, by default cuRAND's.
    """

    _description = (
        "curandStateScrambledSobol32_t",
        "curandDirectionVectors32_t",
        32,
        "unsigned int",
        scrambledsobol_random_source,
    )

    def __init__(
        self,
        dir_vector: GPUArray | None = None,
        scramble_vector: GPUArray | None = None,
        offset: int = 0,
    ) -> None:
        super().__init__(
            dir_vector,
            np.uint32,
            32,
            direction_vector_set.SCRAMBLED_VECTOR_32,
            scramble_vector,
            generate_scramble_constants32,
            offset,
            *self._description,
        )


class Sobol64RandomNumberGenerator(_SobolRandomNumberGeneratorBase):
    """Quasirandom numbers of Sobol, 64 bits each.

    ``dir_vector`` has a direction vector for each state, by default cuRAND's: shape
    (count, 64), uint64, TypeError otherwise. Each starts at point ``offset``.
    """

    _description = (
        "curandStateSobol64_t",
        "curandDirectionVectors64_t",
        64,
        sobol_random_source,
    )

    def __init__(self, dir_vector: GPUArray | None = None, offset: int = 0) -> None:
        super().__init__(
            dir_vector,
            np.uint64,
            64,
            direction_vector_set.VECTOR_64,
            offset,
            *self._description,
        )


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobolRandomNumberGeneratorBase):
    """Scrambled Sobol numbers, 64 bits each.

    ``dir_vector`` and ``offset`` as for ``Sobol64RandomNumberGenerator``;
    ``scramble_vector`` has a uint64 for each state, by default cuRAND's.
    """

    _description = (
        "curandStateScrambledSobol64_t",
        "curandDirectionVectors64_t",
        64,
        "unsigned long long",
        scrambledsobol_random_source,
    )

    def __init__(
        self,
        dir_vector: GPUArray | None = None,
        scramble_vector: GPUArray | None = None,
        offset: int = 0,
    ) -> None:
        super().__init__(
            dir_vector,
            np.uint64,
            64,
            direction_vector_set.SCRAMBLED_VECTOR_64,
            scramble_vector,
            generate_scramble_constants64,
            offset,
            *self._description,
        )


# -- for other compilers ---------------------------------------------------------------


def sample_sources() -> Iterable[tuple[str, str]]:
    """Yield (name, source) of the kernels here, to be compiled elsewhere."""
    yield "rand", _random_source.rand_text()
    yield (
        "XORWOW",
        XORWOWRandomNumberGenerator._text(*XORWOWRandomNumberGenerator._description),
    )
    yield (
        "MRG32k3a",
        MRG32k3aRandomNumberGenerator._text(
            *MRG32k3aRandomNumberGenerator._description
        ),
    )
    yield (
        "Philox",
        PhiloxRandomNumberGenerator._text(*PhiloxRandomNumberGenerator._description),
    )
    for name, quasi in (
        ("Sobol32", Sobol32RandomNumberGenerator),
        ("Sobol64", Sobol64RandomNumberGenerator),
    ):
        yield name, quasi._text(*quasi._description)
    for name, scrambled in (
        ("ScrambledSobol32", ScrambledSobol32RandomNumberGenerator),
        ("ScrambledSobol64", ScrambledSobol64RandomNumberGenerator),
    ):
        state_type, vector_type, bits, scramble_type, source = scrambled._description
        text = scrambled._text(state_type, vector_type, bits, source, scramble_type)
        yield name, text
