"""xarray's own tests with other arrays, with GPUArrays."""

import unittest

from array_libraries import check

#: {file: tests that pass}. Of the others only those with CuPy run.
PASSED = {
    "array_api": 13,
    "cupy": 3,
    "dataarray": 1,
    "dataset": 1,
    "duck_array_ops": 1,
    "duck_array_wrapping": 89,
    "variable": 1,
}


class Xarray(unittest.TestCase):
    """A test for each file."""


def _file_test(name, wanted):
    def test(self):
        options = () if name == "array_api" else ("-k", "cupy")
        part = f"tests/test_{name}.py"
        check(self, "xarray", wanted, "xarray", part, "xarray_backend", *options)

    return test


for _name, _wanted in PASSED.items():
    setattr(Xarray, f"test_{_name}", _file_test(_name, _wanted))
