"""Generators of pycuda.curandom for tests."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import curandom
from pycuda._random.generator import compiler_options
from pycuda.gpuarray import to_gpu


def missing():
    """Return why no generator can be made here, or None."""
    try:
        compiler_options()
        curandom.get_curand_version()
    except drv.Error as error:
        return str(error)
    return None


MISSING = missing()
needs_curand = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

#: Pseudorandom generators, and the type of their state.
PSEUDO = {
    "XORWOW": "curandStateXORWOW_t",
    "MRG32k3a": "curandStateMRG32k3a_t",
    "Philox": "curandStatePhilox4_32_10_t",
}
QUASI = ("Sobol32", "ScrambledSobol32", "Sobol64", "ScrambledSobol64")
SEED = 1234


def kind(name):
    return getattr(curandom, f"{name}RandomNumberGenerator")


def same_seed(n):
    return to_gpu(np.full(n, SEED, np.int32))


def make(name, offset=0):
    """Make a generator that is the same in each run."""
    if name in PSEUDO:
        return kind(name)(same_seed, offset)
    return kind(name)(offset=offset)


def count_of(generator):
    """Return the number of states."""
    return generator.block_count * generator.generators_per_block


def is_philox(generator):
    """Whether it is the Philox generator, which writes runs of 16 bytes."""
    return isinstance(generator, curandom.PhiloxRandomNumberGenerator)


def words(generator, rounds=1, dtype=np.uint32):
    """Return the next integers of all states: row k has those of state k.

    Each round gives four integers of a state, or one of a Sobol state, which is a
    dimension.
    """
    count = count_of(generator)
    each = 4 if is_philox(generator) else 1
    if generator.has_box_muller and each == 1:
        rounds *= 4
    flat = generator.gen_uniform(count * each * rounds, dtype).get()
    return np.moveaxis(flat.reshape(rounds, count, each), 0, 1).reshape(count, -1)
