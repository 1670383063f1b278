"""What a case is: buffers, launches over them, what comes out and what should.

A case is a function that returns a Plan; ``case`` puts it into CASES. Inputs come from
a RandomState, whose integers and uniform numbers are the same in every NumPy, seeded by
the case's name: so both devices, and a recording of last year, see the same bytes.
"""

import functools
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

CASES = {}

#: The architecture that every kernel is compiled for unless it needs more.
ARCH = "compute_75"


@dataclass
class Launch:
    """One launch; an argument is the name of a buffer or texture, or a NumPy scalar."""

    kernel: str
    grid: int | tuple
    block: int | tuple
    args: list
    shared: int = 0
    cooperative: bool = False


@dataclass
class Texture:
    """A texture or surface object over an array.

    ``kind`` is "array", "linear" (one piece of memory), "layered" or "surface"; the
    axes of ``data`` are (depth, height, width, channels), as many as it needs.
    """

    data: np.ndarray
    dims: int
    kind: str = "array"
    address: str = "clamp"
    smooth: bool = False
    normalized: bool = False  # coordinates from 0 to 1
    as_float: bool = False  # integers read as fractions


@dataclass
class Near:
    """An expected value that a model computes otherwise than the kernel does."""

    value: np.ndarray
    rtol: float = 0.0
    atol: float = 0.0


@dataclass
class Plan:
    """What one case does.

    ``outputs`` are compared between devices: bit for bit, except those in ``approx``,
    which may differ by that many units in the last place or, where the results lie near
    zero, by that much: {name: (ulps, atol)}. ``expect`` holds what a model says, exact
    arrays or Near. ``order_free`` names outputs whose order is chance; they are sorted.
    """

    buffers: dict
    launches: list
    outputs: list
    expect: dict = field(default_factory=dict)
    constants: dict = field(
        default_factory=dict
    )  # variable -> value before the launches
    variables: dict = field(default_factory=dict)  # variable -> like what is read back
    textures: dict = field(default_factory=dict)
    approx: dict = field(default_factory=dict)
    order_free: tuple = ()
    lines: list | None = None  # of text that the device prints, in any order


@dataclass(frozen=True)
class Case:
    name: str
    source: str
    make: Callable
    options: tuple
    arch: str
    fast: bool  # compiled with approximations: no exact result is promised

    def plan(self):
        return self.make(np.random.RandomState(zlib.crc32(self.name.encode())))

    @property
    def capability(self):
        number = int(self.arch.partition("_")[2])
        return divmod(number, 10)


def case(source, *options, arch=ARCH, name=None, **given):
    """Make a function a case; ``given`` are further arguments of it."""

    def register(function):
        its_name = name or function.__name__
        assert its_name not in CASES, its_name
        make = functools.partial(function, **given) if given else function
        fast = "-use_fast_math" in options
        CASES[its_name] = Case(its_name, source, make, options, arch, fast)
        return function

    return register


# -- inputs ----------------------------------------------------------------------------


def floats(rng, n, low=-1.0, high=1.0, dtype=np.float32):
    return (low + (high - low) * rng.random_sample(n)).astype(dtype)


def ints(rng, n, low, high, dtype=np.int32):
    """Random integers, ``high`` not among them; of any width."""
    span = int(high) - int(low)
    size = (n,) if np.isscalar(n) else tuple(n)
    words = rng.randint(0, 1 << 32, size=(2, *size), dtype=np.uint64)
    wide = (words[0] << np.uint64(32) | words[1]).ravel().tolist()
    values = [int(low) + v % span for v in wide]
    return np.array(values, dtype=dtype).reshape(size)


def blocks(n, size):
    return -(-n // size)


def i32(value):
    return np.int32(value)
