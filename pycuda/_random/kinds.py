"""The kinds of generators, with a row and a public class for each; and ``rand``."""

from __future__ import annotations

import random as _random
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from pycuda._array.kernels.compilation import load
from pycuda._context_cache import context_dependent_memoize
from pycuda._driver import (
    GPUArray,
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    direction_vector_set,
    to_gpu,
)
from pycuda._random import sources
from pycuda._random.generator import (
    F4,
    F8,
    I4,
    U4,
    _RandomNumberGeneratorBase,
    check_array,
    multiprocessors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import DTypeLike

    from pycuda._array.kernels.compilation import SourceModule
    from pycuda._driver import Function, Stream
    from pycuda._random.generator import _Shape

    _SeedGetter = Callable[[int], GPUArray]


class Kind(NamedTuple):
    """The parts of a generator's source, in the order of the base class' arguments."""

    #: The C type of a state.
    state_type: str
    #: The C type of a direction vector; None for pseudorandom numbers.
    vector_type: str | None
    #: The bits of one number.
    generator_bits: int
    #: The kernel ``prepare``, which initialises the states.
    additional_source: str
    #: The C type of a scramble constant; None for sequences that are not scrambled.
    scramble_type: str | None = None
    #: The direction vectors that a generator has by default.
    direction_set: direction_vector_set | None = None


KINDS = {
    "XORWOW": Kind("curandStateXORWOW", None, 32, sources.xorwow_random_source),
    "MRG32k3a": Kind("curandStateMRG32k3a", None, 32, sources.mrg32k3a_random_source),
    "Philox": Kind(
        "curandStatePhilox4_32_10_t", None, 32, sources.philox_random_source
    ),
    "Sobol32": Kind(
        "curandStateSobol32_t",
        "curandDirectionVectors32_t",
        32,
        sources.sobol_random_source,
        None,
        direction_vector_set.VECTOR_32,
    ),
    "Sobol64": Kind(
        "curandStateSobol64_t",
        "curandDirectionVectors64_t",
        64,
        sources.sobol_random_source,
        None,
        direction_vector_set.VECTOR_64,
    ),
    "ScrambledSobol32": Kind(
        "curandStateScrambledSobol32_t",
        "curandDirectionVectors32_t",
        32,
        sources.scrambledsobol_random_source,
        "unsigned int",
        direction_vector_set.SCRAMBLED_VECTOR_32,
    ),
    "ScrambledSobol64": Kind(
        "curandStateScrambledSobol64_t",
        "curandDirectionVectors64_t",
        64,
        sources.scrambledsobol_random_source,
        "unsigned long long",
        direction_vector_set.SCRAMBLED_VECTOR_64,
    ),
}


# -- pseudorandom numbers --------------------------------------------------------------


def seed_getter_uniform(n: int) -> GPUArray:
    """Return an array that holds one random int32 of ``random`` n times."""
    seed = _random.randint(0, 2**31 - 1)
    return to_gpu(np.full(n, seed, np.int32))


def seed_getter_unique(n: int) -> GPUArray:
    """Return an array of n random int32 of NumPy's global generator."""
    seeds = np.random.randint(0, 2**31 - 1, n, dtype=np.dtype(np.int32))
    return to_gpu(seeds)


class _PseudoRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """Generators whose states differ in their seeds and subsequences.

    State ``k`` starts at subsequence ``k`` of its seed. One seed for all states is as
    good as one seed for each. ``seed_getter(count)`` returns ``count`` seeds; the
    default is ``seed_getter_uniform``.

    Attributes
    ----------
    skip_ahead_sequence : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_sequence``.
    skip_ahead_sequence_array : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_sequence_array``.
    """

    has_box_muller = True
    _draws = sources.PAIRED_DRAWS
    _fill_body = sources.PAIRED_FILL
    _sequence_source = sources.xorwow_skip_ahead_sequence_source
    _skips: tuple[str, ...] = ("skip_ahead", "skip_ahead_sequence")

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
        check_array(seeds, "what seed_getter returns", (self._count,), np.int32)
        self._seed("PQ", seeds.gpudata, offset)

    def call_skip_ahead_sequence(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip ``i`` of the generator's sequences.

        A sequence has 2**67 numbers for XORWOW, 2**66 for Philox, 2**127 for MRG32k3a.
        """
        self._launch(self.skip_ahead_sequence, self._count, stream, i)

    def call_skip_ahead_sequence_array(
        self, i: GPUArray, stream: Stream | None = None
    ) -> None:
        """Let each state skip as many sequences as its element of ``i``, uint64."""
        self._launch_array(self.skip_ahead_sequence_array, i, stream)


class _Seeded(_PseudoRandomNumberGeneratorBase):
    """The constructor of the public classes. Their ``_kind`` has what differs."""

    _kind: ClassVar[Kind]

    def __init__(self, seed_getter: _SeedGetter | None = None, offset: int = 0) -> None:
        kind = self._kind
        super().__init__(
            seed_getter,
            offset,
            kind.state_type,
            kind.vector_type,
            kind.generator_bits,
            kind.additional_source,
        )


class XORWOWRandomNumberGenerator(_Seeded):
    """Pseudorandom numbers after Marsaglia, with a period of 2**192 - 2**32.

    ``seed_getter(count)`` must return an array of ``count`` int32 in device memory,
    otherwise the constructor raises TypeError. Each state starts at number ``offset``
    of its subsequence.
    """

    _kind = KINDS["XORWOW"]


class MRG32k3aRandomNumberGenerator(_Seeded):
    """Pseudorandom numbers after L'Ecuyer, with a period of about 2**191.

    The arguments are those of ``XORWOWRandomNumberGenerator``.

    Attributes
    ----------
    skip_ahead_subsequence : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_subsequence``.
    skip_ahead_subsequence_array : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_subsequence_array``.
    """

    _kind = KINDS["MRG32k3a"]
    _sequence_source = sources.mrg32k3a_skip_ahead_sequence_source
    _skips = ("skip_ahead", "skip_ahead_sequence", "skip_ahead_subsequence")

    skip_ahead_subsequence: Function
    skip_ahead_subsequence_array: Function

    def call_skip_ahead_subsequence(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip ``i`` subsequences, of 2**76 numbers each."""
        self._launch(self.skip_ahead_subsequence, self._count, stream, i)

    def call_skip_ahead_subsequence_array(
        self, i: GPUArray, stream: Stream | None = None
    ) -> None:
        """Let each state skip as many subsequences as its element of ``i``, uint64."""
        self._launch_array(self.skip_ahead_subsequence_array, i, stream)


class PhiloxRandomNumberGenerator(_Seeded):
    """Pseudorandom numbers of Philox 4x32 with 10 rounds, which encrypt a counter.

    The arguments are those of ``XORWOWRandomNumberGenerator``. The states take almost
    no time to initialise.
    """

    _kind = KINDS["Philox"]
    _draws = sources.PHILOX_DRAWS
    _fill_body = sources.PHILOX_FILL
    _run_bytes = 16


# -- quasirandom numbers ---------------------------------------------------------------


def generate_direction_vectors(
    count: int, direction: direction_vector_set | None = None
) -> GPUArray:
    """Return ``count`` direction vectors of a set, by default ``VECTOR_32``.

    The shape is (count, 32) of uint32, or (count, 64) of uint64 for the sets of 64
    bits. A set has 20000 vectors, which then repeat.
    """
    sets = direction_vector_set
    direction = sets.VECTOR_32 if direction is None else direction
    if direction in (sets.VECTOR_64, sets.SCRAMBLED_VECTOR_64):
        vectors = np.empty((count, 64), np.uint64)
    else:
        vectors = np.empty((count, 32), np.uint32)
    _get_direction_vectors(direction, vectors, count)
    return to_gpu(vectors)


def _scramble_constants(
    count: int, dtype: DTypeLike, fetch: Callable[[Any, int], None]
) -> GPUArray:
    constants = np.empty(count, dtype)
    fetch(constants, count)
    return to_gpu(constants)


def generate_scramble_constants32(count: int) -> GPUArray:
    """Return ``count`` uint32 to scramble Sobol sequences; after 20000 they repeat."""
    return _scramble_constants(count, np.uint32, _get_scramble_constants32)


def generate_scramble_constants64(count: int) -> GPUArray:
    """Return ``count`` uint64 to scramble Sobol sequences; after 20000 they repeat."""
    return _scramble_constants(count, np.uint64, _get_scramble_constants64)


_DIMENSIONS = 20000  # cuRAND has direction vectors for so many


class _QuasiRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """Sobol sequences: each state is a dimension, and all states are at one point.

    Element ``i`` is of dimension ``i % count`` and of point ``i // count``: a fill of
    ``count`` elements is one point. There are no more states than dimensions.
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
        vector_set: direction_vector_set | None,
    ) -> GPUArray:
        """Return the direction vectors that were given, checked, or the default."""
        if dir_vector is None:
            return generate_direction_vectors(self._count, vector_set)
        check_array(dir_vector, "dir_vector", (self._count, size), dtype)
        return dir_vector


class _SobolRandomNumberGeneratorBase(_QuasiRandomNumberGeneratorBase):
    def __init__(
        self,
        dir_vector: GPUArray | None,
        dir_vector_dtype: DTypeLike,
        dir_vector_size: int,
        dir_vector_set: direction_vector_set | None,
        offset: int,
        state_type: str,
        vector_type: str | None,
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
        dir_vector_set: direction_vector_set | None,
        scramble_vector: GPUArray | None,
        scramble_vector_function: Callable[[int], GPUArray],
        offset: int,
        state_type: str,
        vector_type: str | None,
        generator_bits: int,
        scramble_type: str | None,
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
        check_array(
            scramble_vector, "scramble_vector", (self._count,), dir_vector_dtype
        )
        number = "I" if generator_bits == 32 else "Q"
        self._seed("PP" + number, vectors.gpudata, scramble_vector.gpudata, offset)


#: By the bits of a number: its dtype, and the function for its scramble constants.
_DTYPES: dict[int, DTypeLike] = {32: np.uint32, 64: np.uint64}
_SCRAMBLE_CONSTANTS = {
    32: generate_scramble_constants32,
    64: generate_scramble_constants64,
}


class _Sobol(_SobolRandomNumberGeneratorBase):
    """The constructor of the public classes. Their ``_kind`` has what differs."""

    _kind: ClassVar[Kind]

    def __init__(self, dir_vector: GPUArray | None = None, offset: int = 0) -> None:
        kind = self._kind
        super().__init__(
            dir_vector,
            _DTYPES[kind.generator_bits],
            kind.generator_bits,
            kind.direction_set,
            offset,
            kind.state_type,
            kind.vector_type,
            kind.generator_bits,
            kind.additional_source,
        )


class _ScrambledSobol(_ScrambledSobolRandomNumberGeneratorBase):
    """The constructor of the public classes. Their ``_kind`` has what differs."""

    _kind: ClassVar[Kind]

    def __init__(
        self,
        dir_vector: GPUArray | None = None,
        scramble_vector: GPUArray | None = None,
        offset: int = 0,
    ) -> None:
        kind = self._kind
        super().__init__(
            dir_vector,
            _DTYPES[kind.generator_bits],
            kind.generator_bits,
            kind.direction_set,
            scramble_vector,
            _SCRAMBLE_CONSTANTS[kind.generator_bits],
            offset,
            kind.state_type,
            kind.vector_type,
            kind.generator_bits,
            kind.scramble_type,
            kind.additional_source,
        )


class Sobol32RandomNumberGenerator(_Sobol):
    """Quasirandom numbers of Sobol, 32 bits each.

    ``dir_vector`` has a direction vector for each state, by default cuRAND's. It must
    have the shape (count, 32) and dtype uint32, otherwise the constructor raises
    TypeError. Each state starts at point ``offset``.
    """

    _kind = KINDS["Sobol32"]


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobol):
    """Scrambled Sobol numbers, 32 bits each.

    ``dir_vector`` and ``offset`` are those of ``Sobol32RandomNumberGenerator``.
    ``scramble_vector`` has a uint32 for each state, by default cuRAND's.
    """

    _kind = KINDS["ScrambledSobol32"]


class Sobol64RandomNumberGenerator(_Sobol):
    """Quasirandom numbers of Sobol, 64 bits each.

    ``dir_vector`` has a direction vector for each state, by default cuRAND's. It must
    have the shape (count, 64) and dtype uint64, otherwise the constructor raises
    TypeError. Each state starts at point ``offset``.
    """

    _kind = KINDS["Sobol64"]


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobol):
    """Scrambled Sobol numbers, 64 bits each.

    ``dir_vector`` and ``offset`` are those of ``Sobol64RandomNumberGenerator``.
    ``scramble_vector`` has a uint64 for each state, by default cuRAND's.
    """

    _kind = KINDS["ScrambledSobol64"]


# -- without a generator ---------------------------------------------------------------

_RAND_OF = {F4: "rand_float", F8: "rand_double", I4: "rand_uint", U4: "rand_uint"}


@context_dependent_memoize
def _rand_module() -> SourceModule:
    return load(sources.rand_text())


@context_dependent_memoize
def _rand_kernel(name: str) -> tuple[Function, int]:
    """Return (kernel, number of blocks that fill the device)."""
    function = _rand_module().get_function(name).prepare("PQQ")
    return function, 8 * multiprocessors()


def rand(
    shape: _Shape, dtype: DTypeLike = np.float32, stream: Stream | None = None
) -> GPUArray:
    """Return a new array of random numbers: floats in [0, 1), or integers of all bits.

    ``dtype`` is float32, float64, int32 or uint32. Raises NotImplementedError for
    others. The seed comes from NumPy's global generator. Use a generator of this module
    for many numbers and for other distributions.
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


def sample_sources() -> Iterator[tuple[str, str]]:
    """Yield (name, source) of all kernels, for other compilers."""
    yield "rand", sources.rand_text()
    for generator in (
        XORWOWRandomNumberGenerator,
        MRG32k3aRandomNumberGenerator,
        PhiloxRandomNumberGenerator,
        Sobol32RandomNumberGenerator,
        Sobol64RandomNumberGenerator,
        ScrambledSobol32RandomNumberGenerator,
        ScrambledSobol64RandomNumberGenerator,
    ):
        name = generator.__name__.removesuffix("RandomNumberGenerator")
        yield name, generator._text(*generator._kind[:5])
