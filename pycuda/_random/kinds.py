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
    """Return an array with one random seed for all states, from ``random``.

    Parameters
    ----------
    n : int
        Number of states.

    Returns
    -------
    GPUArray
        A new array of ``n`` equal int32.

    See Also
    --------
    seed_getter_unique : A seed for each state.

    Examples
    --------
    >>> from pycuda.curandom import seed_getter_uniform
    >>> seeds = seed_getter_uniform(8).get()
    >>> bool((seeds == seeds[0]).all())
    True
    """
    seed = _random.randint(0, 2**31 - 1)
    return to_gpu(np.full(n, seed, np.int32))


def seed_getter_unique(n: int) -> GPUArray:
    """Return an array with a random seed for each state, from NumPy's global generator.

    Parameters
    ----------
    n : int
        Number of states.

    Returns
    -------
    GPUArray
        A new array of ``n`` int32.

    See Also
    --------
    seed_getter_uniform : One seed for all states.
    """
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
        if seed_getter is not None and not callable(seed_getter):
            raise TypeError(
                "seed_getter must be a function that returns an array of n seeds, "
                f"not {type(seed_getter).__name__}; for one seed pass "
                "lambda n: pycuda.gpuarray.full(n, seed, numpy.int32)"
            )
        seeds = (seed_getter or seed_getter_uniform)(self._count)
        check_array(seeds, "what seed_getter returns", (self._count,), np.int32)
        self._seed("PQ", seeds.gpudata, offset)

    def call_skip_ahead_sequence(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip sequences.

        A sequence has 2**67 numbers for XORWOW, 2**66 for Philox, 2**127 for MRG32k3a.

        Parameters
        ----------
        i : int
            Number of sequences.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.
        """
        self._launch(self.skip_ahead_sequence, self._count, stream, i)

    def call_skip_ahead_sequence_array(
        self, i: GPUArray, stream: Stream | None = None
    ) -> None:
        """Let each state skip its own number of sequences.

        Parameters
        ----------
        i : GPUArray
            Number of sequences for each state, uint64.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        TypeError
            If ``i`` is another array.
        """
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

    Parameters
    ----------
    seed_getter : callable, optional
        Function of a number ``count`` that returns ``count`` seeds, an array of int32
        in device memory. The default is ``seed_getter_uniform``.
    offset : int, optional
        Number of its subsequence at which each state starts.

    Raises
    ------
    TypeError
        If ``seed_getter`` returns something else.

    See Also
    --------
    rand : Random numbers without a generator.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait. State ``k`` starts at subsequence ``k`` of
    its seed, so one seed for all states is as good as one seed for each.

    Examples
    --------
    >>> from pycuda.curandom import XORWOWRandomNumberGenerator
    >>> def seeds(count):
    ...     return gpuarray.to_gpu(np.full(count, 1, np.int32))
    >>> first = XORWOWRandomNumberGenerator(seeds).gen_uniform(4, np.float32)
    >>> second = XORWOWRandomNumberGenerator(seeds).gen_uniform(4, np.float32)
    >>> bool((first == second).all().get())
    True
    """

    _kind = KINDS["XORWOW"]


class MRG32k3aRandomNumberGenerator(_Seeded):
    """Pseudorandom numbers after L'Ecuyer, with a period of about 2**191.

    Parameters
    ----------
    seed_getter : callable, optional
        Function of a number ``count`` that returns ``count`` seeds, an array of int32
        in device memory. The default is ``seed_getter_uniform``.
    offset : int, optional
        Number of its subsequence at which each state starts.

    Attributes
    ----------
    skip_ahead_subsequence : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_subsequence``.
    skip_ahead_subsequence_array : pycuda.driver.Function
        The kernel behind ``call_skip_ahead_subsequence_array``.

    Raises
    ------
    TypeError
        If ``seed_getter`` returns something else.

    See Also
    --------
    rand : Random numbers without a generator.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait. State ``k`` starts at subsequence ``k`` of
    its seed, so one seed for all states is as good as one seed for each.

    Examples
    --------
    >>> from pycuda.curandom import MRG32k3aRandomNumberGenerator
    >>> def seeds(count):
    ...     return gpuarray.to_gpu(np.full(count, 1, np.int32))
    >>> first = MRG32k3aRandomNumberGenerator(seeds).gen_uniform(4, np.float32)
    >>> second = MRG32k3aRandomNumberGenerator(seeds).gen_uniform(4, np.float32)
    >>> bool((first == second).all().get())
    True
    """

    _kind = KINDS["MRG32k3a"]
    _sequence_source = sources.mrg32k3a_skip_ahead_sequence_source
    _skips = ("skip_ahead", "skip_ahead_sequence", "skip_ahead_subsequence")

    skip_ahead_subsequence: Function
    skip_ahead_subsequence_array: Function

    def call_skip_ahead_subsequence(self, i: int, stream: Stream | None = None) -> None:
        """Let each state skip subsequences, of 2**76 numbers each.

        Parameters
        ----------
        i : int
            Number of subsequences.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.
        """
        self._launch(self.skip_ahead_subsequence, self._count, stream, i)

    def call_skip_ahead_subsequence_array(
        self, i: GPUArray, stream: Stream | None = None
    ) -> None:
        """Let each state skip its own number of subsequences.

        Parameters
        ----------
        i : GPUArray
            Number of subsequences for each state, uint64.
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Raises
        ------
        TypeError
            If ``i`` is another array.
        """
        self._launch_array(self.skip_ahead_subsequence_array, i, stream)


class PhiloxRandomNumberGenerator(_Seeded):
    """Pseudorandom numbers of Philox 4x32 with 10 rounds, which encrypt a counter.

    The states take almost no time to initialise.

    Parameters
    ----------
    seed_getter : callable, optional
        Function of a number ``count`` that returns ``count`` seeds, an array of int32
        in device memory. The default is ``seed_getter_uniform``.
    offset : int, optional
        Number of its subsequence at which each state starts.

    Raises
    ------
    TypeError
        If ``seed_getter`` returns something else.

    See Also
    --------
    rand : Random numbers without a generator.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait. State ``k`` starts at subsequence ``k`` of
    its seed, so one seed for all states is as good as one seed for each.

    Examples
    --------
    >>> from pycuda.curandom import PhiloxRandomNumberGenerator
    >>> def seeds(count):
    ...     return gpuarray.to_gpu(np.full(count, 1, np.int32))
    >>> first = PhiloxRandomNumberGenerator(seeds).gen_uniform(4, np.float32)
    >>> second = PhiloxRandomNumberGenerator(seeds).gen_uniform(4, np.float32)
    >>> bool((first == second).all().get())
    True
    """

    _kind = KINDS["Philox"]
    _draws = sources.PHILOX_DRAWS
    _fill_body = sources.PHILOX_FILL
    _run_bytes = 16


# -- quasirandom numbers ---------------------------------------------------------------


def generate_direction_vectors(
    count: int, direction: direction_vector_set | None = None
) -> GPUArray:
    """Return direction vectors of Sobol sequences.

    Parameters
    ----------
    count : int
        Number of vectors. A set has 20000, which then repeat.
    direction : direction_vector_set, optional
        The set. The default is ``VECTOR_32``.

    Returns
    -------
    GPUArray
        A new array of shape (count, 32) and dtype uint32, or (count, 64) and uint64 for
        the sets of 64 bits.

    Examples
    --------
    >>> from pycuda.curandom import generate_direction_vectors
    >>> generate_direction_vectors(3).shape
    (3, 32)
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
    """Return constants that scramble Sobol sequences of 32 bits.

    Parameters
    ----------
    count : int
        Number of constants. There are 20000, which then repeat.

    Returns
    -------
    GPUArray
        A new array of ``count`` uint32.
    """
    return _scramble_constants(count, np.uint32, _get_scramble_constants32)


def generate_scramble_constants64(count: int) -> GPUArray:
    """Return constants that scramble Sobol sequences of 64 bits.

    Parameters
    ----------
    count : int
        Number of constants. There are 20000, which then repeat.

    Returns
    -------
    GPUArray
        A new array of ``count`` uint64.
    """
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

    Each state is a dimension, and all states are at one point: a fill of as many
    elements as there are states is one point.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        A direction vector for each state, an array of shape (count, 32) and dtype
        uint32. The default is cuRAND's vectors.
    offset : int, optional
        Point at which each state starts.

    Raises
    ------
    TypeError
        If an array has another shape or dtype.

    See Also
    --------
    generate_direction_vectors : Direction vectors of cuRAND.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait.

    Examples
    --------
    >>> from pycuda.curandom import Sobol32RandomNumberGenerator
    >>> x = Sobol32RandomNumberGenerator().gen_uniform(1000, np.float64)
    >>> bool(x.min().get() >= 0 and x.max().get() <= 1)
    True
    """

    _kind = KINDS["Sobol32"]


class ScrambledSobol32RandomNumberGenerator(_ScrambledSobol):
    """Scrambled quasirandom numbers of Sobol, 32 bits each.

    Each state is a dimension, and all states are at one point: a fill of as many
    elements as there are states is one point.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        A direction vector for each state, an array of shape (count, 32) and dtype
        uint32. The default is cuRAND's vectors.
    scramble_vector : GPUArray, optional
        A uint32 for each state. The default is cuRAND's constants.
    offset : int, optional
        Point at which each state starts.

    Raises
    ------
    TypeError
        If an array has another shape or dtype.

    See Also
    --------
    generate_direction_vectors : Direction vectors of cuRAND.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait.

    Examples
    --------
    >>> from pycuda.curandom import ScrambledSobol32RandomNumberGenerator
    >>> x = ScrambledSobol32RandomNumberGenerator().gen_uniform(1000, np.float64)
    >>> bool(x.min().get() >= 0 and x.max().get() <= 1)
    True
    """

    _kind = KINDS["ScrambledSobol32"]


class Sobol64RandomNumberGenerator(_Sobol):
    """Quasirandom numbers of Sobol, 64 bits each.

    Each state is a dimension, and all states are at one point: a fill of as many
    elements as there are states is one point.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        A direction vector for each state, an array of shape (count, 64) and dtype
        uint64. The default is cuRAND's vectors.
    offset : int, optional
        Point at which each state starts.

    Raises
    ------
    TypeError
        If an array has another shape or dtype.

    See Also
    --------
    generate_direction_vectors : Direction vectors of cuRAND.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait.

    Examples
    --------
    >>> from pycuda.curandom import Sobol64RandomNumberGenerator
    >>> x = Sobol64RandomNumberGenerator().gen_uniform(1000, np.float64)
    >>> bool(x.min().get() >= 0 and x.max().get() <= 1)
    True
    """

    _kind = KINDS["Sobol64"]


class ScrambledSobol64RandomNumberGenerator(_ScrambledSobol):
    """Scrambled quasirandom numbers of Sobol, 64 bits each.

    Each state is a dimension, and all states are at one point: a fill of as many
    elements as there are states is one point.

    Parameters
    ----------
    dir_vector : GPUArray, optional
        A direction vector for each state, an array of shape (count, 64) and dtype
        uint64. The default is cuRAND's vectors.
    scramble_vector : GPUArray, optional
        A uint64 for each state. The default is cuRAND's constants.
    offset : int, optional
        Point at which each state starts.

    Raises
    ------
    TypeError
        If an array has another shape or dtype.

    See Also
    --------
    generate_direction_vectors : Direction vectors of cuRAND.

    Notes
    -----
    The constructor compiles the kernels, or loads them from the compile cache, and
    initialises one state for each thread of the largest launch. A generator belongs to
    the context that was current when it was made. Its fills must not run at the same
    time: put them on one stream, or wait.

    Examples
    --------
    >>> from pycuda.curandom import ScrambledSobol64RandomNumberGenerator
    >>> x = ScrambledSobol64RandomNumberGenerator().gen_uniform(1000, np.float64)
    >>> bool(x.min().get() >= 0 and x.max().get() <= 1)
    True
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

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the array.
    dtype : dtype_like, optional
        Dtype of the array: float32, float64, int32 or uint32.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        A new array. The default allocator allocates it.

    Raises
    ------
    NotImplementedError
        If the dtype is another one.

    See Also
    --------
    XORWOWRandomNumberGenerator : Other distributions, and a seed of your own.

    Notes
    -----
    The call does not wait. The seed comes from NumPy's global generator. Use a
    generator of this module for many numbers and for other distributions.

    Examples
    --------
    >>> from pycuda import curandom
    >>> x = curandom.rand((100, 10))
    >>> x.shape, x.dtype
    ((100, 10), dtype('float32'))
    >>> bool(x.min().get() >= 0 and x.max().get() < 1)
    True
    """
    try:
        name = _RAND_OF.get(np.dtype(dtype))
    except TypeError:
        raise TypeError(
            f"rand() takes a shape, which may be a tuple, and a dtype, not {dtype!r}"
        ) from None
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
