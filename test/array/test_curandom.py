"""pycuda.curandom: the numbers are cuRAND's, in the documented order."""

import ctypes
import hashlib
import random
import struct
from statistics import NormalDist

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _extras, curandom, gpuarray
from pycuda._array.kernels.compilation import load
from pycuda._libraries import CURAND
from pycuda._pvt_struct import error as PackingError  # noqa: N812
from pycuda._random import generator as bases
from pycuda._random.generator import block_size, module_of
from pycuda._random.kinds import _rand_kernel, sample_sources
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.tools import DeviceMemoryPool
from support.child import run_child
from support.curand import (
    PSEUDO,
    QUASI,
    SEED,
    count_of,
    is_philox,
    kind,
    make,
    needs_curand,
    words,
)
from support.emulator import functions
from support.faults import OUT_OF_MEMORY, fail_calls

pytestmark = [pytest.mark.gpu, needs_curand]

LAUNCH_OUT_OF_RESOURCES = 701
__all__ = ["fail_calls"]  # a fixture


class Rewound:
    """A generator with its initial states."""

    def __init__(self, generator):
        self.generator = generator
        size = generator.module.module.get_global("state_sample")[1]
        self.size = size * count_of(generator)
        self.states = drv.mem_alloc(self.size)
        drv.memcpy_dtod(self.states, generator.state, self.size)

    def __call__(self):
        drv.memcpy_dtod(self.generator.state, self.states, self.size)
        return self.generator


def laid_out(rows, each, size):
    """Return the elements of a fill of ``size``, from the sequences of the states."""
    count = len(rows)
    rounds = -(-size // (count * each))
    runs = rows[:, : rounds * each].reshape(count, rounds, each)
    return np.moveaxis(runs, 1, 0).ravel()[:size]


# -- the sequences of curand_kernel.h, one call after the other ------------------------

PLAIN = """
#include <curand_kernel.h>
extern "C" __global__ void plain(unsigned int *words, float *floats, double *doubles,
                                 float *normals, double *wide, int count, int each,
                                 unsigned long long seed, unsigned long long offset)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    STATE first, state;
    curand_init(seed, id, offset, &first);
    long at = (long)id * each;
    state = first;
    for (int k = 0; k < each; k++)
        words[at + k] = curand(&state);
    state = first;
    for (int k = 0; k < each; k++)
        floats[at + k] = curand_uniform(&state);
    state = first;
    for (int k = 0; k < each; k++)
        DOUBLES
    state = first;
    for (int k = 0; k < each; k += 2)
    {
        float2 two = curand_normal2(&state);
        normals[at + k] = two.x;
        normals[at + k + 1] = two.y;
    }
    state = first;
    for (int k = 0; k < each; k += 2)
    {
        double2 two = curand_normal2_double(&state);
        wide[at + k] = two.x;
        wide[at + k + 1] = two.y;
    }
}
"""
ONE_DOUBLE = "doubles[at + k] = curand_uniform_double(&state);"
# One double of Philox uses 32 bits. A pair of doubles uses 53 bits each.
TWO_DOUBLES = """{
            double2 two = curand_uniform2_double(&state);
            doubles[at + k] = two.x;
            doubles[at + ++k] = two.y;
        }"""


def plain(name, count, each, offset=0, seed=SEED):
    """Return the states' first words, floats, doubles, normal floats and doubles."""
    doubles = TWO_DOUBLES if name == "Philox" else ONE_DOUBLE
    text = PLAIN.replace("STATE", PSEUDO[name]).replace("DOUBLES", doubles)
    kernel = load(text, bases.compiler_options()).get_function("plain")
    dtypes = (np.uint32, np.float32, np.float64, np.float32, np.float64)
    outs = [np.zeros((count, each), dtype) for dtype in dtypes]
    kernel(
        *map(drv.Out, outs),
        np.int32(count),
        np.int32(each),
        np.uint64(seed),
        np.uint64(offset),
        block=(64, 1, 1),
        grid=(-(-count // 64), 1),
    )
    return outs


@pytest.mark.parametrize("name", PSEUDO)
def test_pseudorandom_numbers_are_those_of_the_header(ctx, name):
    """Compare more than two rounds, which end in the middle of a run.

    XORWOW and MRG32k3a have PyCUDA's order: state i % count makes element i. If the
    number of normal elements is even, state j % count makes the pair j.
    """
    rewound = Rewound(make(name))
    count = count_of(rewound.generator)
    expected = plain(name, count, 12)
    wide = name == "Philox"
    for rows, each, odd, fill, dtype, exact in (
        (expected[0], 4 if wide else 1, 1, "fill_uniform", np.uint32, True),
        (expected[0], 4 if wide else 1, 0, "fill_uniform", np.uint32, True),
        (expected[1], 4 if wide else 1, 1, "fill_uniform", np.float32, True),
        (expected[1], 4 if wide else 1, 0, "fill_uniform", np.float32, True),
        (expected[2], 2 if wide else 1, 1, "fill_uniform", np.float64, True),
        (expected[3], 4 if wide else 1, 1, "fill_normal", np.float32, False),
        (expected[3], 4 if wide else 2, 0, "fill_normal", np.float32, False),
        (expected[4], 2 if wide else 1, 1, "fill_normal", np.float64, False),
        (expected[4], 2, 0, "fill_normal", np.float64, False),
    ):
        size = count * each * 2 + 4 * each + odd
        if not wide and each == 1:
            size += count * 3 - count % 2  # more than four rounds, of the same parity
        assert size % 2 == odd
        data = GPUArray(size, dtype)
        getattr(rewound(), fill)(data)
        got, wanted = data.get(), laid_out(rows, each, size)
        if exact:
            assert (got == wanted).all()
        else:  # compilers may contract products and sums differently
            tolerance = 1e-5 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(got, wanted, tolerance, tolerance)


def test_what_the_header_makes_can_be_told_apart(ctx):
    ours = words(make("XORWOW"))[:64]
    assert (ours == plain("XORWOW", 64, 4)[0]).all()
    assert (ours != plain("XORWOW", 64, 4, offset=1)[0]).all()
    assert (ours != plain("XORWOW", 64, 4, seed=SEED + 1)[0]).all()


@pytest.mark.parametrize("name", PSEUDO)
def test_offset(ctx, name):
    got = words(make(name, 7))
    assert (got[:64] == plain(name, 64, 4, offset=7)[0]).all()
    far = 2**40 + 5
    assert (words(make(name, far))[:64] == plain(name, 64, 4, offset=far)[0]).all()


def test_philox_of_the_publication(ctx):
    """The test vector for a counter and a key of zeros."""
    generator = curandom.PhiloxRandomNumberGenerator(
        lambda n: gpuarray.zeros(n, np.int32)
    )
    expected = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words(generator)[0].tolist() == expected


def test_the_counter_of_philox_carries(ctx):
    """Carry from the lowest word, and from the lower half into the next sequence."""
    near = 4 * (2**32 - 2)
    expected = plain("Philox", 64, 20, offset=near)
    generator = make("Philox", near)
    assert (words(generator, 5)[:64] == expected[0]).all()
    count = count_of(generator)
    floats = make("Philox", near).gen_uniform(count * 20, np.float32).get()
    rows = np.moveaxis(floats.reshape(5, count, 4), 0, 1).reshape(count, 20)
    assert (rows[:64] == expected[1]).all()
    first = words(make("Philox"), 2)
    generator = make("Philox")
    for _ in range(4):
        generator.call_skip_ahead(2**64 - 4)
    rows = words(generator, 6)
    assert (rows[:-1, 16:] == first[1:]).all()
    assert (rows[:-1, 8:16] != first[1:]).any(axis=1).all()


@pytest.mark.parametrize("name", PSEUDO)
def test_log_normal_numbers_are_exponentials_of_normal_ones(ctx, name):
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-12)):
        for size in (1001, 1002):
            normal = make(name).gen_normal(size, dtype).get()
            data = GPUArray(size, dtype)
            make(name).fill_log_normal(data, 0.5, 0.25)
            expected = np.exp(0.5 + 0.25 * normal)
            np.testing.assert_allclose(data.get(), expected, tolerance)
            again = make(name).gen_log_normal(size, dtype, 0.5, 0.25)
            assert (again.get() == data.get()).all()


@pytest.mark.parametrize("name", ["XORWOW", "MRG32k3a"])
def test_small_fills_take_turns_from_the_first_states_on(ctx, name):
    """Each fill begins with state 0. A state advances only for its own elements."""
    rows = plain(name, 16, 8)
    generator = make(name)
    for turn in range(3):
        got = generator.gen_uniform(10, np.float32).get()
        assert (got == rows[1][:10, turn]).all()
        assert (got != rows[1][1:11, turn]).all()  # nor do they belong to other states
    generator = make(name)
    tolerance = {"rtol": 1e-5, "atol": 1e-5}
    pairs = generator.gen_normal(10, np.float32).get()
    np.testing.assert_allclose(pairs, rows[3][:5, :2].ravel(), **tolerance)
    # An odd fill also makes pairs. It keeps the second number for the next odd fill.
    first = generator.gen_normal(5, np.float32).get()
    between = generator.gen_normal(6, np.float32).get()
    second = generator.gen_normal(5, np.float32).get()
    np.testing.assert_allclose(first, rows[3][:5, 2], **tolerance)
    np.testing.assert_allclose(between, rows[3][:3, 4:6].ravel(), **tolerance)
    np.testing.assert_allclose(second, rows[3][:5, 3], **tolerance)


def test_kernels_without_launch_bounds_limit_the_states(ctx, monkeypatch):
    """The smallest block of any kernel is the limit, as in PyCUDA, divided evenly."""
    limits = {"prepare": 640}
    attribute = drv.function_attribute.MAX_THREADS_PER_BLOCK
    real = drv.Function.get_attribute
    generator = make("MRG32k3a")
    names = {id(generator._prepare): "prepare"}

    class Limited:
        def __init__(self, function):
            self.function = function

        def get_attribute(self, wanted):
            if wanted == attribute:
                return limits.get(names.get(id(self.function)), 1024)
            return real(self.function, wanted)

    kernels = [Limited(each) for each in generator._kernels()]
    monkeypatch.setattr(type(generator), "_kernels", lambda self: kernels)
    assert generator.generators_per_block == 640
    limits.clear()
    assert generator.generators_per_block == 1024
    sizes = {1024: 256, 896: 224, 768: 256, 640: 160, 384: 192, 128: 128, 31: 31}
    for per_block, size in sizes.items():
        assert block_size(per_block) == size


# -- the host's library ----------------------------------------------------------------


def of_the_host(number, size, dtype=np.uint32, ordering=None, dimensions=None):
    """Return numbers of a generator of the cuRAND library on the host."""
    library = next(filter(None, map(opened, CURAND.paths())))
    generator = ctypes.c_void_p()

    def call(name, *arguments):
        status = getattr(library, name)(*arguments)
        assert status == 0, f"{name}: {status}"

    call("curandCreateGeneratorHost", ctypes.byref(generator), number)
    try:
        if dimensions is None:
            seed = ctypes.c_ulonglong(SEED)
            call("curandSetPseudoRandomGeneratorSeed", generator, seed)
        else:
            call("curandSetQuasiRandomGeneratorDimensions", generator, dimensions)
        out = np.zeros(size, dtype)
        name = "curandGenerate" if dtype == np.uint32 else "curandGenerateLongLong"
        pointer = out.ctypes.data_as(ctypes.c_void_p)
        call(name, generator, pointer, ctypes.c_size_t(size))
    finally:
        call("curandDestroyGenerator", generator)
    return out


def opened(path):
    try:
        return ctypes.CDLL(path)
    except OSError:
        return None


@pytest.mark.parametrize(
    ("name", "number", "sequences"), [("XORWOW", 101, 4096), ("MRG32k3a", 121, 81920)]
)
def test_the_host_library_steps_through_the_same_sequences(
    ctx, name, number, sequences
):
    """Number n is number n // sequences of sequence n % sequences."""
    host = of_the_host(number, sequences * 2).reshape(2, sequences).T
    ours = words(make(name))
    common = min(len(ours), sequences)
    assert common >= 4096
    assert (ours[:common, :2] == host[:common]).all()


def test_the_host_library_has_four_of_each_philox_sequence(ctx):
    ours = words(make("Philox"))
    common = min(len(ours), 65536)
    host = of_the_host(161, common * 4).reshape(common, 4)
    assert (ours[:common] == host).all()


@pytest.mark.parametrize(("number", "name"), list(enumerate(QUASI, 201)))
def test_the_host_library_has_the_same_dimensions(ctx, name, number):
    dtype = np.uint64 if "64" in name else np.uint32
    host = of_the_host(number, 40 * 6, dtype, dimensions=40).reshape(40, 6)
    ours = words(make(name), 6, dtype)[:40]
    assert (ours == host).all()
    assert (ours[1:, 2:] != ours[0, 2:]).any()


# -- quasirandom numbers ---------------------------------------------------------------


PLAIN_SOBOL = """
#include <curand_kernel.h>
extern "C" __global__ void plain(NUMBER *words, float *floats, double *normals,
                                 CURAND *vectors, const NUMBER *constants, int each,
                                 NUMBER offset)
{
    STATE first, state;
    INIT
    int at = threadIdx.x * each;
    state = first;
    for (int k = 0; k < each; k++)
        words[at + k] = curand(&state);
    state = first;
    for (int k = 0; k < each; k++)
        floats[at + k] = curand_uniform(&state);
    state = first;
    for (int k = 0; k < each; k++)
        normals[at + k] = curand_normal_double(&state);
}
"""


@pytest.mark.parametrize("name", QUASI)
@pytest.mark.parametrize("offset", [0, 5, -12])
def test_quasirandom_numbers_are_those_of_the_header(ctx, name, offset):
    """Compare at the start, between multiples of eight, and over the period's end."""
    bits, each = int(name[-2:]), 37
    dtype = np.dtype(f"u{bits // 8}")
    scrambled = name.startswith("Scrambled")
    offset %= 2**bits
    given = "constants[threadIdx.x], " if scrambled else ""
    text = (
        PLAIN_SOBOL.replace(
            "NUMBER", f"unsigned {'int' if bits == 32 else 'long long'}"
        )
        .replace("CURAND", f"curandDirectionVectors{bits}_t")
        .replace("STATE", f"curandState{name}_t")
        .replace("INIT", f"curand_init(vectors[threadIdx.x], {given}offset, &first);")
    )
    kernel = load(text, bases.compiler_options()).get_function("plain")
    sets = curandom.direction_vector_set
    which = f"{'SCRAMBLED_' if scrambled else ''}VECTOR_{bits}"
    vectors = curandom.generate_direction_vectors(64, sets.names[which])
    constants = getattr(curandom, f"generate_scramble_constants{bits}")(64)
    outs = [np.zeros((64, each), out) for out in (dtype, np.float32, np.float64)]
    arguments = (vectors, constants, np.int32(each), dtype.type(offset))
    kernel(*map(drv.Out, outs), *arguments, block=(64, 1, 1))
    rewound = Rewound(make(name, offset))
    count = count_of(rewound.generator)
    for expected, call in zip(outs, ("uniform", "uniform", "normal"), strict=True):
        fill = getattr(rewound(), f"gen_{call}")
        got = fill(count * each, expected.dtype).get().reshape(each, count).T[:64]
        np.testing.assert_allclose(got, expected, 1e-12 if call == "normal" else 0)
    # Fill in parts that begin between multiples of eight.
    generator = rewound()
    parts = [
        generator.gen_uniform(count * 9, dtype).get(),
        generator.gen_uniform(count * 3, dtype).get(),
        generator.gen_uniform(count * 25, dtype).get(),
    ]
    got = np.concatenate(parts).reshape(each, count).T[:64]
    assert (got == outs[0]).all()


@pytest.mark.parametrize("name", QUASI)
def test_points_fill_each_dimension_evenly(ctx, name):
    """Each sixteenth of a dimension has one of the first 16 points."""
    dtype = np.uint64 if "64" in name else np.uint32
    shift = np.iinfo(dtype).bits - 4
    rows = np.sort(words(make(name), 16, dtype)[:200] >> dtype(shift), axis=1)
    assert (rows == np.arange(16)).all()


@pytest.mark.parametrize("name", QUASI)
def test_no_dimension_comes_twice(ctx, name):
    """The 20000 dimensions repeat after that, but no generator has more states."""
    count = count_of(make(name))
    assert count <= 20000
    sets = curandom.direction_vector_set
    scrambled = "SCRAMBLED_" if name.startswith("Scrambled") else ""
    which = sets.names[f"{scrambled}VECTOR_{name[-2:]}"]
    for most in (count, 20001):
        vectors = curandom.generate_direction_vectors(most, which).get()
        assert len(np.unique(vectors, axis=0)) == min(most, 20000)


@pytest.mark.parametrize("name", QUASI)
def test_quasirandom_floats(ctx, name):
    """Floats come from the same integers. Normal numbers are their quantiles."""
    bits = int(name[-2:])
    integers = words(make(name), 8, np.uint64 if bits == 64 else np.uint32)[:60]
    count = count_of(make(name))
    exact = [(int(each) + 0.5) / 2**bits for each in integers.ravel()]
    quantiles = np.array([NormalDist().inv_cdf(each) for each in exact])
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-8)):

        def rows(data, count=count):
            return data.get().reshape(8, count).T[:60].ravel()

        got = rows(make(name).gen_uniform(count * 8, dtype))
        np.testing.assert_allclose(got, exact, tolerance, tolerance)
        assert got.min() > 0 and got.max() <= 1
        normal = rows(make(name).gen_normal(count * 8, dtype))
        # The very first point is 0, of which floats use at most 32 bits.
        inside = np.array(exact) > 2.0**-32
        assert inside.sum() >= 420
        np.testing.assert_allclose(
            normal[inside], quantiles[inside], tolerance, tolerance
        )
        logs = rows(make(name).gen_log_normal(count * 8, dtype, 1, 0.5))
        expected = np.exp(1 + 0.5 * quantiles)
        np.testing.assert_allclose(logs[inside], expected[inside], 10 * tolerance)


def test_the_upper_half_of_64_bits(ctx):
    whole = words(make("Sobol64"), 4, np.uint64)
    assert (words(make("Sobol64"), 4, np.uint32) == whole >> np.uint64(32)).all()
    assert (words(make("Sobol64"), 4, np.int64) == whole.astype(np.int64)).all()


@pytest.mark.parametrize("name", QUASI)
def test_given_vectors(ctx, name):
    dtype = np.uint64 if "64" in name else np.uint32
    first = make(name, 3)
    count, bits = count_of(first), np.iinfo(dtype).bits
    sets = curandom.direction_vector_set
    scrambled = name.startswith("Scrambled")
    kind_of = f"{'SCRAMBLED_' if scrambled else ''}VECTOR_{bits}"
    vectors = curandom.generate_direction_vectors(count, sets.names[kind_of]).get()
    arguments = [to_gpu(vectors[::-1].copy())]
    if scrambled:
        constants = getattr(curandom, f"generate_scramble_constants{bits}")(count)
        arguments.append(to_gpu(constants.get()[::-1].copy()))
    turned = kind(name)(*arguments, offset=3)
    expected = words(first, 4, dtype)
    assert (words(turned, 4, dtype) == expected[::-1]).all()
    assert (words(make(name), 7, dtype)[:, 3:] == expected).all()


@pytest.mark.parametrize("name", QUASI)
def test_vectors_that_do_not_fit(ctx, name):
    dtype, other = (np.uint64, np.uint32) if "64" in name else (np.uint32, np.uint64)
    bits = np.iinfo(dtype).bits
    count = count_of(make(name))
    for vectors in (
        GPUArray((count, bits), other),
        GPUArray((count - 1, bits), dtype),
        GPUArray((2 * count, bits), dtype)[::2],
        np.zeros((count, bits), dtype),
    ):
        with pytest.raises(TypeError, match="dir_vector must be"):
            kind(name)(vectors)
    if name.startswith("Scrambled"):
        with pytest.raises(TypeError, match="scramble_vector must be"):
            kind(name)(None, GPUArray(count, other))


# -- direction vectors and seeds -------------------------------------------------------


def test_direction_vectors(ctx):
    sets = curandom.direction_vector_set
    assert sets is drv.direction_vector_set
    plain_set = curandom.generate_direction_vectors(3)
    assert (plain_set.shape, plain_set.dtype) == ((3, 32), np.uint32)
    assert (plain_set.get()[0] == 1 << np.arange(31, -1, -1)).all()
    named = curandom.generate_direction_vectors(3, sets.VECTOR_32)
    assert (named.get() == plain_set.get()).all()
    other = curandom.generate_direction_vectors(3, sets.SCRAMBLED_VECTOR_32).get()
    assert other.dtype == np.uint32 and (other != named.get()).any()
    for each in (sets.VECTOR_64, sets.SCRAMBLED_VECTOR_64):
        wide = curandom.generate_direction_vectors(20002, each)
        assert (wide.shape, wide.dtype) == ((20002, 64), np.uint64)
        assert (wide.get()[20000:] == wide.get()[:2]).all()
        raw = np.zeros((20002, 64), np.uint64)
        curandom._get_direction_vectors(each, raw, 20002)
        assert (wide.get() == raw).all()


def test_scramble_constants(ctx):
    for bits, dtype in ((32, np.uint32), (64, np.uint64)):
        got = getattr(curandom, f"generate_scramble_constants{bits}")(20003)
        raw = np.zeros(20003, dtype)
        getattr(curandom, f"_get_scramble_constants{bits}")(raw, 20003)
        assert got.dtype == dtype and (got.get() == raw).all()
        assert len(np.unique(raw[:100])) == 100


def test_version():
    assert curandom.get_curand_version() == drv.get_curand_version()


def test_seed_getters(ctx):
    random.seed(5)
    seeds = curandom.seed_getter_uniform(50)
    assert (seeds.dtype, seeds.shape) == (np.int32, (50,))
    assert len(set(seeds.get())) == 1
    other = curandom.seed_getter_uniform(50).get()
    random.seed(5)
    assert curandom.seed_getter_uniform(50).get()[0] == seeds.get()[0] != other[0]
    np.random.seed(5)
    seeds = curandom.seed_getter_unique(50)
    assert (seeds.dtype, seeds.shape) == (np.int32, (50,))
    assert len(set(seeds.get())) == 50
    np.random.seed(5)
    assert (curandom.seed_getter_unique(n=50).get() == seeds.get()).all()


@pytest.mark.parametrize("name", PSEUDO)
def test_seeds(ctx, name):
    """Equal seeds give equal numbers. The default draws a new seed each time."""
    random.seed(9)
    first, second = words(kind(name)()), words(kind(name)())
    assert (first != second).any(axis=1).all()
    random.seed(9)
    assert (words(kind(name)()) == first).all()
    asked = []

    def getter(n):
        asked.append(n)
        return curandom.seed_getter_unique(n)

    np.random.seed(9)
    generator = kind(name)(seed_getter=getter, offset=3)
    assert asked == [count_of(generator)]
    np.random.seed(9)
    again = kind(name)(curandom.seed_getter_unique, 3)
    assert (words(again) == words(generator)).all()


def test_a_negative_seed_is_extended(ctx):
    generator = curandom.XORWOWRandomNumberGenerator(
        lambda n: to_gpu(np.full(n, -2, np.int32))
    )
    expected = plain("XORWOW", 64, 4, seed=2**64 - 2)[0]
    assert (words(generator)[:64] == expected).all()


@pytest.mark.parametrize("name", PSEUDO)
def test_seeds_that_do_not_fit(ctx, name):
    for getter in (
        lambda n: gpuarray.zeros(n, np.uint32),
        lambda n: gpuarray.zeros(n - 1, np.int32),
        lambda n: gpuarray.zeros(2 * n, np.int32)[::2],
        lambda n: np.zeros(n, np.int32),
    ):
        with pytest.raises(TypeError, match="what seed_getter returns must be"):
            kind(name)(getter)
    with pytest.raises(TypeError, match="must be a function .*not int; for one seed"):
        kind(name)(7)


def test_a_launch_that_fails_while_seeding(ctx, monkeypatch):
    def fail(*arguments):
        raise drv.LaunchError("cuLaunchKernel failed: out of resources")

    monkeypatch.setattr(curandom._RandomNumberGeneratorBase, "_launch", fail)
    with pytest.raises(ValueError, match="states could not be made: cuLaunchKernel"):
        curandom.XORWOWRandomNumberGenerator()


# -- skipping --------------------------------------------------------------------------


@pytest.mark.parametrize("name", PSEUDO)
@pytest.mark.parametrize("skipped", [0, 1, 3, 4, 6])
def test_skip_ahead_is_skipping(ctx, name, skipped):
    expected = words(make(name), 3)
    generator = make(name)
    generator.call_skip_ahead(skipped)
    got = words(generator)
    assert (got == expected[:, skipped : skipped + 4]).all()
    assert len(np.unique(expected)) > 0.9 * expected.size


@pytest.mark.parametrize("name", PSEUDO)
def test_skip_ahead_array(ctx, name):
    expected = words(make(name), 3)
    generator = make(name)
    count = count_of(generator)
    each = np.arange(count, dtype=np.uint64) % 8
    generator.call_skip_ahead_array(to_gpu(each))
    columns = each.astype(int)[:, None] + np.arange(4)
    assert (words(generator) == np.take_along_axis(expected, columns, 1)).all()


@pytest.mark.parametrize("name", PSEUDO)
def test_a_fill_goes_on_where_the_last_one_ended(ctx, name):
    """Test after any skip, over three fills of all states, with floats and words."""
    for skipped in (0, 2):
        expected = plain(name, 64, 4 * 5)[1]
        generator = make(name)
        count = count_of(generator)
        generator.call_skip_ahead(skipped)
        rows = [generator.gen_uniform(count * 4, np.float32).get() for _ in range(3)]
        if is_philox(generator):
            rows = [row.reshape(count, 4) for row in rows]
        else:
            rows = [row.reshape(4, count).T for row in rows]
        got = np.concatenate([row[:64] for row in rows], 1)
        assert (got == expected[:, skipped : skipped + 12]).all()


@pytest.mark.parametrize("name", QUASI)
def test_skip_ahead_of_points(ctx, name):
    dtype = np.uint64 if "64" in name else np.uint32
    expected = words(make(name), 9, dtype)
    generator = make(name)
    generator.call_skip_ahead(5)
    assert (words(generator, 2, dtype) == expected[:, 5:7]).all()
    count = count_of(generator)
    each = np.arange(count, dtype=dtype) % dtype(8)
    generator = make(name)
    generator.call_skip_ahead_array(to_gpu(each))
    columns = each.astype(int)[:, None]
    got = words(generator, 1, dtype)
    assert (got == np.take_along_axis(expected, columns, 1)).all()


@pytest.mark.parametrize("name", ["XORWOW", "Philox"])
def test_skip_ahead_sequence(ctx, name):
    """State k has sequence k, so one sequence ahead is that of the next state."""
    expected = words(make(name))
    generator = make(name)
    generator.call_skip_ahead_sequence(2)
    assert (words(generator)[:-2] == expected[2:]).all()
    generator = make(name)
    back = np.arange(count_of(generator), dtype=np.uint64)[::-1].copy()
    generator.call_skip_ahead_sequence_array(to_gpu(back))
    got = words(generator)
    assert (got == expected[-1]).all()


def test_skip_ahead_subsequence(ctx):
    expected = words(make("MRG32k3a"))
    generator = make("MRG32k3a")
    generator.call_skip_ahead_subsequence(2)
    assert (words(generator)[:-2] == expected[2:]).all()
    generator = make("MRG32k3a")
    back = np.arange(count_of(generator), dtype=np.uint64)[::-1].copy()
    generator.call_skip_ahead_subsequence_array(to_gpu(back))
    assert (words(generator) == expected[-1]).all()


def test_the_sequences_of_mrg32k3a(ctx):
    """2**127 numbers consist of 2**51 subsequences of 2**76."""
    one, other = make("MRG32k3a"), make("MRG32k3a")
    one.call_skip_ahead_sequence(1)
    for _ in range(2):
        other.call_skip_ahead_subsequence(2**50)
    expected = words(one)
    assert (expected == words(other)).all()
    assert (expected != words(make("MRG32k3a"))).any(axis=1).all()
    third = make("MRG32k3a")
    ones = np.ones(count_of(third), np.uint64)
    third.call_skip_ahead_sequence_array(to_gpu(ones))
    assert (words(third) == expected).all()


def mrg_step(matrix, modulus, power):
    """Return a matrix of Python integers to the power 2**power."""
    for _ in range(power):
        matrix = [
            [sum(matrix[i][k] * matrix[k][j] for k in range(3)) % modulus
             for j in range(3)]
            for i in range(3)
        ]  # fmt: skip
    return matrix


def test_the_length_of_a_subsequence_of_mrg32k3a(ctx):
    """Compute it from the published recurrences, with integers of any length."""
    m1, m2 = 4294967087, 4294944443
    a1 = [[0, 1, 0], [0, 0, 1], [-810728, 1403580, 0]]
    a2 = [[0, 1, 0], [0, 0, 1], [-1370589, 0, 527612]]
    step1, step2 = mrg_step(a1, m1, 76), mrg_step(a2, m2, 76)
    s1 = s2 = [12345] * 3
    generator = kind("MRG32k3a")(lambda n: gpuarray.zeros(n, np.int32))
    count = count_of(generator)
    got = generator.gen_uniform((2, count), np.float64).get()[:, :4].T.ravel()
    norm = 2.3283065498378288e-10
    for state in range(4):
        x1, x2, expected = list(s1), list(s2), []
        for _ in range(2):
            x1 = [*x1[1:], (1403580 * x1[1] - 810728 * x1[0]) % m1]
            x2 = [*x2[1:], (527612 * x2[2] - 1370589 * x2[0]) % m2]
            z = x1[2] - x2[2]
            expected.append((z if z > 0 else z + m1) * norm)
        np.testing.assert_allclose(got[2 * state : 2 * state + 2], expected, 1e-15)
        s1 = [sum(a * b for a, b in zip(row, s1, strict=True)) % m1 for row in step1]
        s2 = [sum(a * b for a, b in zip(row, s2, strict=True)) % m2 for row in step2]


@pytest.mark.parametrize("name", ["XORWOW", "Sobol32"])
def test_arrays_of_skips_that_do_not_fit(ctx, name):
    generator = make(name)
    count = count_of(generator)
    wrong = np.uint32 if name == "XORWOW" else np.uint64
    for each in (
        gpuarray.zeros(count, wrong),
        gpuarray.zeros(count - 1, np.uint64 if name == "XORWOW" else np.uint32),
        np.zeros(count, np.uint64),
    ):
        with pytest.raises(TypeError, match="i must be"):
            generator.call_skip_ahead_array(each)
    with pytest.raises(PackingError):
        generator.call_skip_ahead(-1)


# -- targets ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PSEUDO, "Sobol32"])
def test_any_length_and_alignment(ctx, name):
    """The numbers do not depend on address and size. Nothing else is written."""
    rewound = Rewound(make(name))
    for dtype in (np.float32, np.float64):
        whole = rewound().gen_uniform(70, dtype).get()
        assert len(np.unique(whole)) == 70 or name == "Sobol32"
        room = GPUArray(80, dtype)
        for start in (0, 1, 2, 3, 4):
            for size in (1, 2, 3, 4, 5, 8, 17, 70):
                room.fill(-1)
                rewound().fill_uniform(room[start : start + size])
                got = room.get()
                assert (got[start : start + size] == whole[:size]).all()
                assert (got[:start] == -1).all() and (got[start + size :] == -1).all()


@pytest.mark.parametrize("name", ["Philox", "ScrambledSobol64"])
def test_strides_and_orders(ctx, name):
    flat = make(name).gen_uniform(60, np.float32).get()
    rows = GPUArray((6, 10), np.float32)
    make(name).fill_uniform(rows)
    assert (rows.get() == flat.reshape(6, 10)).all()
    columns = GPUArray((6, 10), np.float32, order="F")
    make(name).fill_uniform(columns)
    assert (columns.get().ravel("K") == flat).all()
    room = gpuarray.zeros((12, 20), np.float32)
    make(name).fill_uniform(room[::2, 5:15])
    got = room.get()
    assert (got[::2, 5:15] == flat.reshape(6, 10)).all()
    got[::2, 5:15] = 0
    assert not got.any()
    stream = drv.Stream()
    make(name).fill_uniform(room[1::2, ::-2], stream)
    stream.synchronize()
    assert (room.get()[1::2, ::-2] == flat.reshape(6, 10)).all()


def test_poisson_numbers_of_means_with_gaps_between(ctx):
    means = np.arange(60, dtype=np.float32).reshape(6, 10)
    packed = to_gpu(means)
    make("Philox").fill_poisson(packed)
    room = gpuarray.zeros((12, 20), np.float32)
    room[::2, 5:15] = to_gpu(means)
    make("Philox").fill_poisson(room[::2, 5:15])
    got = room.get()
    assert (got[::2, 5:15] == packed.get()).all() and got[::2, 5:15].any()
    got[::2, 5:15] = 0
    assert not got.any()
    make("Philox").fill_poisson(room[1::2, 5:15], 7)
    expected = make("Philox").gen_poisson((6, 10), np.float32, 7).get()
    assert (room.get()[1::2, 5:15] == expected).all()


def test_nothing_to_fill(ctx):
    generator = make("Philox")
    for shape in (0, (3, 0)):
        assert (
            generator.gen_uniform(shape, np.float32).shape
            == GPUArray(shape, np.float32).shape
        )
    assert curandom.rand((0, 4)).shape == (0, 4)
    with pytest.raises(TypeError, match="a shape, which may be a tuple, and a dtype"):
        curandom.rand(5, 3)
    assert generator.gen_normal((), np.float64).get().shape == ()


@pytest.mark.parametrize("name", ["XORWOW", "Philox", "Sobol32", "Sobol64"])
def test_dtypes_that_are_not_made(ctx, name):
    generator = make(name)
    text = f"{name}RandomNumberGenerator makes uniform numbers of dtype float32, .*, "
    for dtype in (np.float16, np.int8, np.complex64, ">f4", np.bool_):
        with pytest.raises(NotImplementedError, match=text):
            generator.gen_uniform(3, dtype)
    if not name.endswith("64"):
        for dtype in (np.int64, np.uint64):
            with pytest.raises(NotImplementedError, match=f"not {np.dtype(dtype)}"):
                generator.gen_uniform(3, dtype)
    for call in (
        lambda: generator.gen_normal(3, np.int32),
        lambda: generator.gen_log_normal(3, np.uint32, 0, 1),
        lambda: generator.gen_poisson(3, np.int64, 5),
        lambda: generator.gen_poisson(3, np.float16, 5),
        lambda: generator.fill_poisson(GPUArray(3, np.int64)),
    ):
        with pytest.raises(NotImplementedError, match="makes .* numbers of dtype"):
            call()
    with pytest.raises(TypeError, match="data must be a GPUArray, not ndarray"):
        generator.fill_uniform(np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="lambda_value is -1"):
        generator.gen_poisson(3, np.uint32, -1)
    with pytest.raises(ValueError, match="lambda_value is nan"):
        generator.gen_poisson(3, np.uint32, float("nan"))


def test_a_stream_is_used_and_not_waited_for(ctx):
    """Fills of one stream run in order. The default is the current stream."""
    generator, other = make("Philox"), make("Philox")
    expected = words(other, 2)
    stream = drv.Stream()
    count = count_of(generator)
    with_stream = generator.gen_uniform(count * 4, np.uint32, stream)
    stream.synchronize()
    assert (with_stream.get().reshape(count, 4) == expected[:, :4]).all()
    with stream:
        current = generator.gen_uniform(count * 4, np.uint32)
    stream.synchronize()
    assert (current.get().reshape(count, 4) == expected[:, 4:]).all()


def test_fills_neither_allocate_nor_wait(ctx, fail_calls):
    """The only driver calls are launches."""
    names = [f"cu{row.name}" for row in functions()]
    generator, data = make("Philox"), GPUArray(1001, np.float32)
    whole, stream = data.view(np.uint32), drv.Stream()

    def fills():
        generator.fill_uniform(data, stream)
        generator.fill_normal(data, stream)
        generator.fill_log_normal(data, 0, 1, stream)
        generator.fill_poisson(whole, 3, stream)
        generator.fill_poisson(whole, None, stream)
        generator.call_skip_ahead(3, stream)
        generator.call_skip_ahead_sequence(3, stream)

    def calls(action):
        before = {name: fail_calls.count(name) for name in names}
        action()
        return {n for n in names if fail_calls.count(n) != before[n]}

    fills()
    assert calls(fills) == {"cuLaunchKernel"}
    assert "cuMemAlloc" in calls(lambda: generator.gen_uniform(5, np.float32))
    stream.synchronize()


def test_calls_of_the_driver_that_fail(ctx, fail_calls):
    """After any failure in making or using a generator, the next try succeeds."""
    data = GPUArray(40, np.float32)
    for name in ("XORWOW", "ScrambledSobol32"):
        expected = make(name).gen_uniform(40, np.float32).get()
        for number in range(1, 20):
            fail_calls.clear()
            # The second call is the retry after a garbage collection.
            fail_calls("cuMemAlloc", number, number + 1, code=OUT_OF_MEMORY)
            try:
                generator = make(name)
            except drv.MemoryError:
                continue
            break
        assert number == (3 if name == "XORWOW" else 4)  # arrays and states
        fail_calls.clear()
        fail_calls("cuLaunchKernel", 1)
        with pytest.raises(drv.LogicError, match="cuLaunchKernel failed"):
            generator.fill_uniform(data)
        generator.fill_uniform(data)
        assert (data.get() == expected).all()
        fail_calls("cuLaunchKernel", 1)
        with pytest.raises(drv.LogicError, match="cuLaunchKernel failed"):
            make(name)
        fail_calls("cuLaunchKernel", 1, code=LAUNCH_OUT_OF_RESOURCES)
        with pytest.raises(ValueError, match="states could not be made"):
            make(name)


def test_states(ctx):
    generator = make("XORWOW")
    assert generator.state is generator.state
    assert isinstance(generator.state, drv.DeviceAllocation)
    size = generator.module.module.get_global("state_sample")[1]
    assert size == 48
    host = np.zeros((count_of(generator), size), np.uint8)
    drv.memcpy_dtoh(host, generator.state)
    assert len(np.unique(host[:, :24], axis=0)) == len(host)


def test_attributes(ctx):
    multiprocessors = drv.Context.get_device().multiprocessor_count
    for name in (*PSEUDO, *QUASI):
        generator = make(name)
        assert generator.block_count == multiprocessors
        assert generator.generators_per_block > 0
        assert generator.generator_bits == (64 if "64" in name else 32)
        assert generator.has_box_muller is (name in PSEUDO)
        short = "Philox4_32_10" if name == "Philox" else name
        assert generator.state_type.startswith(f"curandState{short}")
        kernels = generator._kernels()
        assert generator._prepare in kernels
        assert generator.skip_ahead in kernels
        assert generator.skip_ahead_array in kernels
        assert all(each in kernels for each in generator.generators.values())
        names = {row[0] for row in generator.gen_info}
        names |= {row[0] for row in generator.gen_log_info}
        names |= {row[0] for row in generator.gen_poisson_info}
        names |= {row[0] for row in generator.gen_poisson_inplace_info}
        if "64" not in name:
            names -= {"uniform_long"}
        assert set(generator.generators) == names
        if name in PSEUDO:
            assert generator.skip_ahead_sequence in kernels
            assert generator.skip_ahead_sequence_array in kernels
        if name == "MRG32k3a":
            assert generator.skip_ahead_subsequence in kernels
            assert generator.skip_ahead_subsequence_array in kernels
    assert curandom._RandomNumberGeneratorBase.gen_poisson_info == [
        ("poisson_int", "unsigned int", "")
    ]


def test_generators_of_one_kind_share_their_code(ctx):
    first, second = make("Philox"), make("Philox")
    assert first.module is second.module
    assert first.state != second.state


def test_memory_comes_from_where_arrays_have_it(ctx):
    pool = DeviceMemoryPool()
    room = gpuarray.zeros((4, 6), np.float32, pool.allocate)
    make("Philox").fill_normal(room[:, ::2])
    assert room.get()[:, ::2].all() and not room.get()[:, 1::2].any()
    del room
    pool.free_held()


# -- rand ------------------------------------------------------------------------------


def philox(number, key):
    """Return four words, as in the publication."""
    c, k = [number & 0xFFFFFFFF, number >> 32, 0, 0], list(key)
    for _ in range(10):
        x, z = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            (z >> 32) ^ c[1] ^ k[0],
            z & 0xFFFFFFFF,
            (x >> 32) ^ c[3] ^ k[1],
            x & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def test_rand(ctx):
    key = None
    for dtype in (np.uint32, np.int32, np.float32, np.float64):
        for shape in (1, 4, 7, (3, 5), 1030):
            np.random.seed(11)
            got = curandom.rand(shape, dtype)
            np.random.seed(11)
            key = np.random.randint(0, 2**31 - 1, 2).tolist()
            assert got.dtype == dtype
            assert got.shape == (shape if isinstance(shape, tuple) else (shape,))
            packs = -(-got.nbytes // 16)
            words = np.array([philox(k, key) for k in range(packs)], np.uint32)
            if dtype == np.float32:
                expected = (words >> 8).ravel() / 2.0**24
            elif dtype == np.float64:
                high = words[:, ::2].astype(np.uint64) << np.uint64(32)
                both = (high | words[:, 1::2]) >> np.uint64(11)
                expected = both.ravel() / 2.0**53
            else:
                expected = words.ravel().astype(dtype)
            assert (got.get().ravel() == expected[: got.size]).all()
    assert philox(0, [0, 0])[0] == 0x6627E8D5


def test_rand_of_other_dtypes(ctx):
    assert curandom.rand(3).dtype == np.float32
    assert curandom.rand(3, "float64").dtype == np.float64
    for dtype in (np.int64, np.float16, np.complex64):
        with pytest.raises(NotImplementedError, match="rand.. makes float32"):
            curandom.rand(3, dtype)
    stream = drv.Stream()
    got = curandom.rand((20, 20), stream=stream)
    stream.synchronize()
    assert 0.4 < got.get().mean() < 0.6


def test_rand_into_memory_that_is_not_aligned(ctx):
    kernel = _rand_kernel("rand_float")[0]
    room = gpuarray.zeros(40, np.float32)
    arguments = (33, 5 | 7 << 32)
    call = ((1, 1), (256, 1, 1), None)
    kernel.prepared_async_call(*call, room.gpudata, *arguments)
    expected = room.get()
    room.fill(-1)
    kernel.prepared_async_call(*call, room[1:].gpudata, *arguments)
    got = room.get()
    assert (got[1:34] == expected[:33]).all()
    assert got[0] == -1 and (got[34:] == -1).all()


def test_md5(ctx):
    text = (
        curandom.md5_code
        + """
        extern "C" __global__ void digest(const unsigned int *words, unsigned int *out)
        {
            md5_of_block(words, out);
        }
        """
    )
    kernel = load(text).get_function("digest")
    for message in (b"", b"abc", b"0123456789" * 5):
        padded = message + b"\x80" + bytes(55 - len(message))
        padded += struct.pack("<Q", 8 * len(message))
        out = np.zeros(4, np.uint32)
        block = np.frombuffer(padded, np.uint32)
        kernel(drv.In(block), drv.Out(out), block=(1, 1, 1))
        assert out.tobytes() == hashlib.md5(message).digest()


# -- the texts -------------------------------------------------------------------------


def test_every_text_is_in_a_generator(ctx, monkeypatch):
    """The compiled sources are those under the known names."""
    texts = {}
    for name in (*PSEUDO, *QUASI):
        seen = []
        with monkeypatch.context() as patch:
            patch.setattr(
                "pycuda._random.generator.module_of",
                lambda text, seen=seen: seen.append(text) or module_of(text),
            )
            make(name)
        (texts[name],) = seen
    for text in texts.values():
        for template in (
            curandom.gen_template,
            curandom.gen_log_template,
            curandom.gen_poisson_template,
            curandom.gen_poisson_inplace_template,
        ):
            head = template.partition("%")[0]
            assert head in text
        assert curandom.random_source.partition("%")[0] in text
    for known, names in {
        "xorwow_random_source": ["XORWOW"],
        "mrg32k3a_random_source": ["MRG32k3a"],
        "philox_random_source": ["Philox"],
        "xorwow_skip_ahead_sequence_source": ["XORWOW", "MRG32k3a", "Philox"],
        "mrg32k3a_skip_ahead_sequence_source": ["MRG32k3a"],
        "random_skip_ahead64_source": [*PSEUDO, "Sobol64", "ScrambledSobol64"],
        "random_skip_ahead32_source": ["Sobol32", "ScrambledSobol32"],
    }.items():
        for name in (*PSEUDO, *QUASI):
            present = getattr(curandom, known) in texts[name]
            assert present or name not in names, (known, name)
    words = {"vector_type": "curandDirectionVectors64_t"}
    words["offset_type"] = words["scramble_type"] = "unsigned long long"
    assert curandom.sobol_random_source % words in texts["Sobol64"]
    assert curandom.scrambledsobol_random_source % words in texts["ScrambledSobol64"]


def test_samples_for_other_compilers(ctx):
    samples = dict(sample_sources())
    assert len(samples) == 8
    for name in (*PSEUDO, *QUASI):
        assert "curand_kernel.h" in samples[name]


# -- many elements ---------------------------------------------------------------------

MANY = """
import numpy as np
import pycuda.driver as drv
from pycuda import curandom
from pycuda._pvt_struct import error as PackingError  # noqa: N812
from pycuda.gpuarray import GPUArray, to_gpu

drv.init()
context = drv.Device(0).make_context()
try:
    generator = curandom.{name}RandomNumberGenerator()
    room = drv.mem_alloc(4 * (2**32 + 64))
except drv.MemoryError as error:
    print("no room", error)
else:
    # One thread takes the first run, one in the middle and one beyond 2**32 elements.
    each = 4 if "{name}" == "Philox" else 1
    step = 2**31 // each + 1
    fill = generator.generators["uniform_int"]
    size = (2 * step + 1) * each
    expected = GPUArray(3 * each, np.uint32)
    for count, target, n in ((1, expected.gpudata, 3 * each), (step, room, size)):
        copy = drv.mem_alloc(256)
        drv.memcpy_dtod(copy, generator.state, 256)
        fill.prepared_async_call((1, 1), (1, 1, 1), None, copy, count, target, n)
    got = np.zeros(3 * each, np.uint32)
    for run in range(3):
        place = int(room) + 4 * run * step * each
        drv.memcpy_dtoh(got[run * each : (run + 1) * each], place)
    print((got == expected.get()).all() and got[-1] != got[0])
context.pop()
"""


@pytest.mark.parametrize("name", ["XORWOW", "Philox", "ScrambledSobol32"])
def test_more_than_32_bits_of_elements(name):
    done = run_child(MANY.replace("{name}", name), PYCUDA_EMULATOR_MEMORY="20G")
    said = done.stdout.strip()
    if said.startswith("no room"):
        pytest.skip(said)
    assert said == "True"


# -- without cuRAND's header -----------------------------------------------------------


def test_where_the_header_is_looked_for(monkeypatch, tmp_path):
    """The folders are those of compilers, the named toolkit, wheels and the system."""
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    folders = list(bases._folders())
    named = folders.index(f"{tmp_path}/toolkit/include")
    wheel = folders.index(f"{tmp_path}/site/nvidia/cu13/include")
    older = folders.index(f"{tmp_path}/site/nvidia/curand/include")
    assert named < wheel and named < older and folders[-1] == "/usr/include"
    place = tmp_path / "site" / "nvidia" / "curand" / "include"
    place.mkdir(parents=True)
    (place / "curand_kernel.h").touch()
    monkeypatch.setattr(bases.toolkit, "homes", lambda: [])
    monkeypatch.setattr(bases.nvrtc, "find", lambda: None)
    monkeypatch.setattr(bases.toolkit, "on_path", lambda names: None)
    assert bases.compiler_options() == [f"-I{place}"]


def test_without_the_header(tmp_path):
    code = """
        from pycuda._random import generator as bases
        import pycuda.driver as drv
        bases._folders = lambda: iter([{folder!r}])
        try:
            bases.compiler_options()
        except drv.CompileError as error:
            print(error)
        open({folder!r} + "/curand_kernel.h", "w").close()
        print(bases.compiler_options() == ["-I" + {folder!r}])
        bases._SYSTEM = {folder!r}
        print(bases.compiler_options() == [])
        """
    done = run_child(code.replace("{folder!r}", repr(str(tmp_path))))
    first, *others = done.stdout.splitlines()
    assert "curand_kernel.h, was not found" in first
    assert _extras.command("curand") in first
    assert "nvidia-curand-cu12" in first and "CUDA toolkit" in first
    assert others == ["True", "True"]
