"""pycuda.curandom: the distributions of the numbers.

The seeds are fixed. One correct sample in a million exceeds the bounds.
"""

import math

import numpy as np
import pytest

from pycuda import curandom
from pycuda.gpuarray import GPUArray, to_gpu
from support import statistics
from support.curand import PSEUDO, QUASI, count_of, make, needs_curand, words
from support.statistics import chi_squared, kolmogorov_smirnov, mean_is

pytestmark = [pytest.mark.gpu, needs_curand]

SIZE = 20_000
SCRAMBLED = [name for name in QUASI if name.startswith("Scrambled")]
# Their first point has one scrambled number of each dimension, as if random.
NAMES = [*PSEUDO, *SCRAMBLED]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_uniform(ctx, name, dtype):
    sample = make(name).gen_uniform(SIZE, dtype).get()
    assert sample.min() > 0 and sample.max() <= 1
    assert kolmogorov_smirnov(sample, statistics.uniform_cdf) < 1
    assert mean_is(sample, 1 / 2, math.sqrt(1 / 12)) < 1
    assert mean_is((sample - 0.5) ** 2, 1 / 12, math.sqrt(1 / 180)) < 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_normal(ctx, name, dtype):
    sample = make(name).gen_normal(SIZE, dtype).get().astype(np.float64)
    assert kolmogorov_smirnov(sample, statistics.normal_cdf) < 1
    for power, mean, deviation in ((1, 0, 1), (2, 1, 2**0.5), (3, 0, 15**0.5)):
        assert mean_is(sample**power, mean, deviation) < 1
    assert mean_is(sample**4, 3, math.sqrt(105 - 9)) < 1
    logs = np.log(make(name).gen_log_normal(SIZE, dtype, 2, 0.5).get())
    assert kolmogorov_smirnov((logs - 2) / 0.5, statistics.normal_cdf) < 1


@pytest.mark.parametrize("name", PSEUDO)
def test_neighbours_of_normal_numbers(ctx, name):
    """The pairs of the Box-Muller transform are independent."""
    sample = make(name).gen_normal(SIZE, np.float32).get().astype(np.float64)
    for lag in (1, 2, 3, 4):
        assert mean_is(sample[:-lag] * sample[lag:], 0, 1) < 1
        assert mean_is(sample[:-lag] ** 2 * sample[lag:] ** 2, 1, 8**0.5) < 1


@pytest.mark.parametrize("name", NAMES)
def test_bits(ctx, name):
    """Each byte of the integers has all values. Each bit is set half of the time."""
    sample = make(name).gen_uniform(SIZE, np.uint32).get()
    for byte in sample.view(np.uint8).reshape(-1, 4).T:
        counts = np.bincount(byte, minlength=256)
        assert chi_squared(counts, np.full(256, SIZE / 256)) < 1
    for bit in range(32):
        assert mean_is(sample >> np.uint32(bit) & 1, 0.5, 0.5) < 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mean", [0.4, 5, 70, 5000])
def test_poisson(ctx, name, mean):
    size = 6000
    sample = make(name).gen_poisson(size, np.uint32, mean).get()
    assert sample.dtype == np.uint32
    assert chi_squared(*statistics.poisson_counts(sample, mean)) < 1
    assert mean_is(sample, mean, math.sqrt(mean)) < 1
    spread = (sample - float(mean)) ** 2
    assert mean_is(spread, mean, math.sqrt(mean + 2 * mean**2)) < 1


@pytest.mark.parametrize("name", [*PSEUDO, "ScrambledSobol32"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint32, np.int32])
def test_poisson_of_the_values_that_are_there(ctx, name, dtype):
    means = np.tile(np.array([0, 1, 3, 200, 6000], dtype), 1500)
    data = to_gpu(means)
    make(name).fill_poisson(data)
    got = data.get()
    assert got.dtype == dtype
    for mean in (1, 3, 200, 6000):
        sample = got[means == mean]
        assert mean_is(sample, mean, math.sqrt(mean)) < 1
        assert chi_squared(*statistics.poisson_counts(sample, mean)) < 1
    # A normal number is used for large means only.
    assert (got[means == 0] == 0).all()
    filled = GPUArray(7500, dtype)
    make(name).fill_poisson(filled, 3)
    assert mean_is(filled.get(), 3, math.sqrt(3)) < 1
    again = make(name).gen_poisson(shape=7500, dtype=dtype, lambda_value=3)
    assert (again.get() == filled.get()).all()


@pytest.mark.parametrize("name", PSEUDO)
def test_states_are_independent(ctx, name):
    """States of one seed are independent, whether they are neighbors or far apart."""
    rows = words(make(name), 3)[:2048]
    assert len(np.unique(rows, axis=0)) == len(rows)
    values = rows / 2.0**32 - 0.5
    for far in (1, 2, 31, 32, 64, 1024):
        for shift in (0, 1):
            products = values[far:, shift:] * values[:-far, : 12 - shift]
            assert mean_is(products, 0, 1 / 12) < 1
    # Pairs of a state and its neighbor fill the square.
    cells = (rows[1:, 0] >> np.uint32(29)) * 8 + (rows[:-1, 0] >> np.uint32(29))
    counts = np.bincount(cells, minlength=64)
    assert chi_squared(counts, np.full(64, len(cells) / 64)) < 1


def test_states_with_seeds_of_their_own_are_independent(ctx):
    np.random.seed(3)
    generator = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_unique)
    rows = words(generator, 3)[:2048]
    assert len(np.unique(rows, axis=0)) == len(rows)
    values = rows / 2.0**32 - 0.5
    for far in (1, 32):
        assert mean_is(values[far:] * values[:-far], 0, 1 / 12) < 1


@pytest.mark.parametrize("name", QUASI)
def test_quasirandom_points_integrate_better(ctx, name):
    """The mean of a product over 256 points is closer than that of random points."""
    count = count_of(make(name))
    points = make(name).gen_uniform(count * 256, np.float32).get()
    points = points.reshape(256, count)[:, :4].astype(np.float64)
    error = abs(np.prod(0.5 + points, axis=1).mean() - 1)
    by_chance = math.sqrt(((13 / 12) ** 4 - 1) / 256)
    assert error < by_chance / 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rand(ctx, dtype):
    np.random.seed(7)
    sample = curandom.rand(SIZE, dtype).get()
    assert sample.min() >= 0 and sample.max() < 1
    assert kolmogorov_smirnov(sample, statistics.uniform_cdf) < 1
    integers = curandom.rand(SIZE, np.uint32).get().view(np.uint8).reshape(-1, 4)
    for byte in integers.T:
        counts = np.bincount(byte, minlength=256)
        assert chi_squared(counts, np.full(256, SIZE / 256)) < 1


# -- what is wrong is found ------------------------------------------------------------


def test_wrong_distributions_are_found():
    generator = np.random.default_rng(1)
    uniform, normal = generator.random(SIZE), generator.standard_normal(SIZE)
    assert kolmogorov_smirnov(uniform, statistics.uniform_cdf) < 1
    assert kolmogorov_smirnov(normal, statistics.normal_cdf) < 1
    assert mean_is(uniform, 1 / 2, math.sqrt(1 / 12)) < 1
    for wrong in (uniform * 0.95, uniform**1.1, np.round(uniform, 1), normal):
        assert kolmogorov_smirnov(wrong, statistics.uniform_cdf) > 1
    for wrong in (normal * 1.2, normal + 0.1, np.abs(normal), uniform):
        assert kolmogorov_smirnov(wrong, statistics.normal_cdf) > 1
    assert mean_is(uniform + 0.02, 1 / 2, math.sqrt(1 / 12)) > 1
    assert mean_is((normal * 1.1) ** 2, 1, 2**0.5) > 1


def test_wrong_counts_are_found():
    generator = np.random.default_rng(2)
    for mean in (0.4, 5, 70, 5000):
        sample = generator.poisson(mean, 6000)
        assert chi_squared(*statistics.poisson_counts(sample, mean)) < 1
        twice = 2 * generator.poisson(mean / 2, 6000)
        assert chi_squared(*statistics.poisson_counts(twice, mean)) > 1
        assert mean_is(sample * 1.1 + 0.1, mean, math.sqrt(mean)) > 1
    bytes_ = generator.integers(0, 250, SIZE)
    counts = np.bincount(bytes_, minlength=256)
    assert chi_squared(counts, np.full(256, SIZE / 256)) > 1


def test_states_that_go_together_are_found(ctx):
    """Without their own sequences, all states of one seed are the same."""
    same = np.repeat(words(make("Philox"), 3)[:1], 2048, axis=0)
    assert len(np.unique(same, axis=0)) == 1
    values = same / 2.0**32 - 0.5
    assert mean_is(values[1:] * values[:-1], 0, 1 / 12) > 1
