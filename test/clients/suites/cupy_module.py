"""A module for tests that take their arrays and functions from CuPy.

Its functions are NumPy's, which make and take GPUArrays.
"""

import functools
import importlib.machinery
import sys
import types

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda.gpuarray import GPUArray, to_gpu

#: Functions that make arrays of the type of ``like``.
MAKERS = {
    *("arange", "array", "asanyarray", "asarray", "asfortranarray"),
    *("empty", "eye", "full", "ones", "tri", "zeros"),
}
EMPTY = GPUArray((), np.float64)


class BitGenerator:
    """What dask gives to each chunk. It imports the first name of the module."""

    __module__ = "cupy.random"

    def __init__(self, seed=None):
        self.numbers = np.random.PCG64(seed)
        self._seed_seq = self.numbers.seed_seq


class Generator:
    """NumPy's generator, with results on the device. The tests make their data so."""

    def __init__(self, seed=None):
        given = isinstance(seed, BitGenerator)
        self.bit_generator = seed if given else BitGenerator(seed)
        self._generator = np.random.Generator(self.bit_generator.numbers)

    def __getattr__(self, name):
        make = getattr(self._generator, name)
        return lambda *args, **kwargs: to_gpu(np.asarray(make(*args, **kwargs)))


class CuPy(types.ModuleType):
    """The module."""

    __version__ = "14.0"
    ndarray = GPUArray
    random = types.SimpleNamespace(default_rng=Generator, XORWOW=BitGenerator)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        function = getattr(np, name)
        return functools.partial(function, like=EMPTY) if name in MAKERS else function

    @staticmethod
    def asnumpy(x):
        return x.get()


def add():
    """Let programs import the module."""
    module = CuPy("cupy")
    module.__spec__ = importlib.machinery.ModuleSpec("cupy", None)
    sys.modules["cupy"] = module


def to_host(x):
    """Return an array in host memory."""
    return x.get() if isinstance(x, GPUArray) else x
