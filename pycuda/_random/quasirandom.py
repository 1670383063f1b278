"""Generators of quasirandom numbers, and their direction vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pycuda._driver import (
    GPUArray,
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    direction_vector_set,
    to_gpu,
)
from pycuda._random import sources
from pycuda._random.generator import _RandomNumberGeneratorBase, check_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike


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
        check_array(dir_vector, "dir_vector", (self._count, size), dtype)
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
        check_array(
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
        sources.sobol_random_source,
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
        sources.scrambledsobol_random_source,
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
        sources.sobol_random_source,
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
        sources.scrambledsobol_random_source,
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
