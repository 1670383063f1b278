"""The kinds of generators: one row for each, with everything in which they differ."""

from __future__ import annotations

from typing import NamedTuple

from pycuda._driver import direction_vector_set
from pycuda._random import sources


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
