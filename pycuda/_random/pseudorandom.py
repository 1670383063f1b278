"""Generators of pseudorandom numbers, and their seeds."""

from __future__ import annotations

import random as _random
from typing import TYPE_CHECKING

import numpy as np

from pycuda._driver import GPUArray, to_gpu
from pycuda._random import sources
from pycuda._random.generator import _RandomNumberGeneratorBase, check_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from pycuda._driver import Function, Stream

    SeedGetter = Callable[[int], GPUArray]


def seed_getter_uniform(n: int) -> GPUArray:
    """Return an array of n times the same random int32, from ``random``."""
    seed = _random.randint(0, 2**31 - 1)
    return to_gpu(np.full(n, seed, np.int32))


def seed_getter_unique(n: int) -> GPUArray:
    """Return an array of n random int32 from numpy's global generator."""
    seeds = np.random.randint(0, 2**31 - 1, n, np.int32)
    return to_gpu(seeds)


class _PseudoRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """Generators whose states are independent by their seeds and subsequences.

    State ``k`` is subsequence ``k`` of its seed, so that one seed for all is as good as
    one for each. ``seed_getter(count)`` returns ``count`` seeds; by default it is
    ``seed_getter_uniform``.
    """

    has_box_muller = True
    _draws = sources.PAIRED_DRAWS
    _fill_body = sources.PAIRED_FILL
    _sequence_source = sources.xorwow_skip_ahead_sequence_source

    skip_ahead_sequence: Function
    skip_ahead_sequence_array: Function

    def __init__(
        self,
        seed_getter: SeedGetter | None,
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

    _description = ("curandStateXORWOW", None, 32, sources.xorwow_random_source)

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter, offset, *self._description)


class MRG32k3aRandomNumberGenerator(_PseudoRandomNumberGeneratorBase):
    """Pseudorandom numbers after L'Ecuyer, with a period of about 2**191.

    The arguments are those of ``XORWOWRandomNumberGenerator``.
    """

    _description = ("curandStateMRG32k3a", None, 32, sources.mrg32k3a_random_source)
    _sequence_source = sources.mrg32k3a_skip_ahead_sequence_source

    skip_ahead_subsequence: Function
    skip_ahead_subsequence_array: Function

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
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

    _description = (
        "curandStatePhilox4_32_10_t",
        None,
        32,
        sources.philox_random_source,
    )
    _draws = sources.PHILOX_DRAWS
    _fill_body = sources.PHILOX_FILL
    _run_bytes = 16

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__(seed_getter, offset, *self._description)
