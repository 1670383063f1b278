"""Random numbers in device memory: ``rand``, and generators with states on the device.

The device code of the generators is NVIDIA's ``curand_kernel.h``. A generator has one
state for each thread of its largest launch. A fill loads each state once, keeps it in
registers while it makes elements, and stores it back.

The order of the elements and the number of states are those of PyCUDA, so that a seed
gives the same array: element ``i`` of a fill comes from state ``i % count``. Normal and
log-normal fills of an even size are made in pairs: elements ``2 * j`` and ``2 * j + 1``
come from state ``j % count``. PyCUDA has no Philox. Here it makes 16 bytes at a time:
elements ``V * k`` to ``V * k + V - 1`` come from state ``k % count``, where ``V`` is 4
for elements of 4 bytes and 2 for elements of 8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable

from pycuda._array.public_names import publish as _publish
from pycuda._driver import (
    _get_direction_vectors as _get_direction_vectors,
    _get_scramble_constants32 as _get_scramble_constants32,
    _get_scramble_constants64 as _get_scramble_constants64,
    direction_vector_set,
    get_curand_version,
)
from pycuda._random import sources as _sources
from pycuda._random.generator import (
    _RandomNumberGeneratorBase as _RandomNumberGeneratorBase,
)
from pycuda._random.pseudorandom import (
    MRG32k3aRandomNumberGenerator,
    PhiloxRandomNumberGenerator,
    XORWOWRandomNumberGenerator,
    _PseudoRandomNumberGeneratorBase as _PseudoRandomNumberGeneratorBase,
    seed_getter_uniform,
    seed_getter_unique,
)
from pycuda._random.quasirandom import (
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
    _ScrambledSobolRandomNumberGeneratorBase,  # noqa: F401
    _SobolRandomNumberGeneratorBase as _SobolRandomNumberGeneratorBase,
    generate_direction_vectors,
    generate_scramble_constants32,
    generate_scramble_constants64,
)
from pycuda._random.rand import rand
from pycuda._random.sources import (
    gen_log_template as gen_log_template,
    gen_poisson_inplace_template as gen_poisson_inplace_template,
    gen_poisson_template as gen_poisson_template,
    gen_template as gen_template,
    md5_code as md5_code,
    mrg32k3a_random_source as mrg32k3a_random_source,
    mrg32k3a_skip_ahead_sequence_source as mrg32k3a_skip_ahead_sequence_source,
    philox_random_source as philox_random_source,
    random_skip_ahead32_source as random_skip_ahead32_source,
    random_skip_ahead64_source as random_skip_ahead64_source,
    random_source as random_source,
    scrambledsobol_random_source as scrambledsobol_random_source,
    sobol_random_source as sobol_random_source,
    xorwow_random_source as xorwow_random_source,
    xorwow_skip_ahead_sequence_source as xorwow_skip_ahead_sequence_source,
)

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


_GENERATORS = (
    XORWOWRandomNumberGenerator,
    MRG32k3aRandomNumberGenerator,
    PhiloxRandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
)


def sample_sources() -> Iterable[tuple[str, str]]:
    """Yield (name, source) of all kernels, for other compilers."""
    yield "rand", _sources.rand_text()
    for generator in _GENERATORS:
        name = generator.__name__.removesuffix("RandomNumberGenerator")
        yield name, generator._text(*generator._kind[:5])


_publish(globals())
