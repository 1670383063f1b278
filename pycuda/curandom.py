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

# ruff: noqa: F401, F403, F405  all names are public

from __future__ import annotations

from typing import TYPE_CHECKING

from pycuda._driver import (
    _get_direction_vectors,
    _get_scramble_constants32,
    _get_scramble_constants64,
    direction_vector_set,
    get_curand_version,
)
from pycuda._public import names_at_first_use as _names_at_first_use

if TYPE_CHECKING:
    from pycuda._random.kinds import *
    from pycuda._random.sources import *

    # names of pycuda.curandom: written by tools/make_stub.py
    # fmt: off
    __all__ = [
        "MRG32k3aRandomNumberGenerator", "PhiloxRandomNumberGenerator",
        "ScrambledSobol32RandomNumberGenerator",
        "ScrambledSobol64RandomNumberGenerator", "Sobol32RandomNumberGenerator",
        "Sobol64RandomNumberGenerator", "XORWOWRandomNumberGenerator",
        "direction_vector_set", "gen_log_template", "gen_poisson_inplace_template",
        "gen_poisson_template", "gen_template", "generate_direction_vectors",
        "generate_scramble_constants32", "generate_scramble_constants64",
        "get_curand_version", "md5_code", "mrg32k3a_random_source",
        "mrg32k3a_skip_ahead_sequence_source", "philox_random_source", "rand",
        "random_skip_ahead32_source", "random_skip_ahead64_source", "random_source",
        "scrambledsobol_random_source", "seed_getter_uniform", "seed_getter_unique",
        "sobol_random_source", "xorwow_random_source",
        "xorwow_skip_ahead_sequence_source",
    ]
    # fmt: on
    # names of pycuda.curandom: end
else:
    __getattr__ = _names_at_first_use(
        globals(),
        {
            "pycuda._random.generator": "_RandomNumberGeneratorBase",
            "pycuda._random.kinds": (
                "MRG32k3aRandomNumberGenerator PhiloxRandomNumberGenerator "
                "ScrambledSobol32RandomNumberGenerator "
                "ScrambledSobol64RandomNumberGenerator Sobol32RandomNumberGenerator "
                "Sobol64RandomNumberGenerator XORWOWRandomNumberGenerator "
                "_PseudoRandomNumberGeneratorBase "
                "_ScrambledSobolRandomNumberGeneratorBase "
                "_SobolRandomNumberGeneratorBase generate_direction_vectors "
                "generate_scramble_constants32 generate_scramble_constants64 rand "
                "seed_getter_uniform seed_getter_unique"
            ),
            "pycuda._random.sources": (
                "gen_log_template gen_poisson_inplace_template gen_poisson_template "
                "gen_template md5_code mrg32k3a_random_source "
                "mrg32k3a_skip_ahead_sequence_source philox_random_source "
                "random_skip_ahead32_source random_skip_ahead64_source random_source "
                "scrambledsobol_random_source sobol_random_source "
                "xorwow_random_source xorwow_skip_ahead_sequence_source"
            ),
        },
    )
