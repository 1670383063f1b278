"""Generators of quasirandom numbers, and their direction vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pycuda._driver import (
    GPUArray,
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    direction_vector_set,
    to_gpu,
)
from pycuda._random.generator import _RandomNumberGeneratorBase, check_array
from pycuda._random.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike


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
