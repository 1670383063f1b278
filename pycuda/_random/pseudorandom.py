"""Generators of pseudorandom numbers, and their seeds."""

from __future__ import annotations

import random as _random
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pycuda._driver import GPUArray, to_gpu
from pycuda._random import sources
from pycuda._random.generator import _RandomNumberGeneratorBase, check_array
from pycuda._random.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from pycuda._driver import Function, Stream

    _SeedGetter = Callable[[int], GPUArray]


def seed_getter_uniform(n: int) -> GPUArray:
    """Return an array that holds one random int32 of ``random`` n times."""
    seed = _random.randint(0, 2**31 - 1)
    return to_gpu(np.full(n, seed, np.int32))


def seed_getter_unique(n: int) -> GPUArray:
    """Return an array of n random int32 of NumPy's global generator."""
    seeds = np.random.randint(0, 2**31 - 1, n, np.int32)
    return to_gpu(seeds)


class _PseudoRandomNumberGeneratorBase(_RandomNumberGeneratorBase):
    """Generators whose states differ in their seeds and subsequences.

    State ``k`` starts at subsequence ``k`` of its seed. One seed for all states is as
    good as one seed for each. ``seed_getter(count)`` returns ``count`` seeds; the
    default is ``seed_getter_uniform``.
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
