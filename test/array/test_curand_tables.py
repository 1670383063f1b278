"""The tables that the extension reads from the cuRAND library."""

import numpy as np
import pytest

import pycuda._driver as drv
from support.child import run_child

SETS = drv.direction_vector_set


def find():
    try:
        return drv.get_curand_version()
    except drv.RuntimeError:
        return None


VERSION = find()
needs_curand = pytest.mark.skipif(
    VERSION is None, reason="needs the cuRAND library, which is not installed"
)


@needs_curand
def test_version():
    assert [type(part) for part in VERSION] == [int, int, int]
    assert VERSION[0] == 10 and VERSION[1] >= 0 and VERSION[2] >= 0


@needs_curand
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("VECTOR_32", np.uint32),
        ("SCRAMBLED_VECTOR_32", np.uint32),
        ("VECTOR_64", np.uint64),
        ("SCRAMBLED_VECTOR_64", np.uint64),
    ],
)
def test_direction_vectors(name, dtype):
    bits = np.dtype(dtype).itemsize * 8
    vectors = np.zeros((20003, bits), dtype)
    assert drv._get_direction_vectors(SETS.names[name], vectors, 20003) is None
    assert vectors.all()
    if not name.startswith("SCRAMBLED"):
        # Number i is odd and moved up bits - 1 - i places, so that is its lowest bit;
        # in the first vector, van der Corput's, it is the only one.
        plain = dtype(1) << np.arange(bits - 1, -1, -1, dtype=dtype)
        assert (vectors[0] == plain).all()
        assert (vectors & -vectors == plain).all()
    assert (vectors[20000:] == vectors[:3]).all()
    few = np.zeros((2, bits), dtype)
    drv._get_direction_vectors(set=int(SETS.names[name]), dst=few, count=1)
    assert (few[0] == vectors[0]).all() and not few[1].any()


@needs_curand
@pytest.mark.parametrize(("bits", "dtype"), [(32, np.uint32), (64, np.uint64)])
def test_scramble_constants(bits, dtype):
    get = getattr(drv, f"_get_scramble_constants{bits}")
    constants = np.zeros(45000, dtype)
    assert get(constants, 45000) is None
    assert (constants[20000:40000] == constants[:20000]).all()
    assert (constants[40000:] == constants[:5000]).all()
    assert len(np.unique(constants[:20000])) > 19000
    few = np.zeros(3, dtype)
    get(dst=few, count=2)
    assert (few[:2] == constants[:2]).all() and few[2] == 0
    get(few, 0)


@needs_curand
@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: drv._get_scramble_constants32(np.zeros(3, np.uint32), 4),
            ValueError,
            "dst has 12 bytes; 4 entries of 4 bytes do not fit",
        ),
        (
            lambda: drv._get_scramble_constants32(np.zeros(3, np.uint32), 2**62),
            ValueError,
            "do not fit",
        ),
        (
            lambda: drv._get_direction_vectors(SETS.VECTOR_32, b"x" * 128, 1),
            ValueError,
            "writable",
        ),
        (
            lambda: drv._get_direction_vectors(drv.limit.STACK_SIZE, bytearray(9), 1),
            TypeError,
            "set must be a pycuda._driver.direction_vector_set",
        ),
        (
            lambda: drv._get_direction_vectors(7, bytearray(999), 1),
            drv.RuntimeError,
            "curandGetDirectionVectors32 failed",
        ),
        (lambda: drv._get_scramble_constants64(bytearray(8)), TypeError, "'count'"),
    ],
)
def test_wrong_arguments(call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_without_the_library(tmp_path):
    for name in ("libcurand.so.10", "libcurand.so"):
        (tmp_path / name).write_text("not a library")
    code = """
        from pycuda import _driver
        from pycuda._libraries import CURAND
        CURAND.paths = lambda: ["libcurand.so.10", "libcurand.so"]
        for call in (_driver.get_curand_version,
                     lambda: _driver._get_scramble_constants32(bytearray(4), 1)):
            try:
                call()
            except RuntimeError as error:
                print(type(error).__module__, error)
        """
    lines = run_child(code, LD_LIBRARY_PATH=str(tmp_path)).stdout.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("pycuda._driver cuRAND (libcurand.so) was not found")
