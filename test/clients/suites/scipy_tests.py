"""SciPy's own tests of the array API, with GPUArrays."""

import unittest

from array_libraries import check

#: {part of SciPy: tests that pass}
PASSED = {
    "cluster": 60,
    "constants": 3,
    "differentiate": 76,
    "fft": 118,
    "integrate": 356,
    "interpolate": 47,
    "linalg": 19,
    "ndimage": 1,
    "optimize": 605,
    "signal": 166,
    "spatial": 370,
    "special": 1057,
    "stats": 1153,
}


class SciPy(unittest.TestCase):
    """A test for each part of the library."""


def _part_test(part, wanted):
    def test(self):
        options = ("scipy_backend", "-m", "array_api_backends")
        check(self, "scipy", wanted, "scipy", part, *options)

    return test


for _part, _wanted in PASSED.items():
    setattr(SciPy, f"test_{_part}", _part_test(_part, _wanted))
