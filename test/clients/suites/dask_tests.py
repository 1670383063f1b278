"""dask's own tests with CuPy, with GPUArrays."""

import unittest

from array_libraries import check

#: {subject: tests that pass}. The files of random numbers and of sparse matrices are
#: about functions of CuPy.
PASSED = {
    "core": 122,
    "creation": 33,
    "gufunc": 1,
    "linalg": 51,
    "overlap": 7,
    "percentile": 9,
    "reductions": 6,
    "routines": 25,
    "slicing": 50,
}


class Dask(unittest.TestCase):
    """A test for each subject."""


def _subject_test(subject, wanted):
    def test(self):
        part = f"array/tests/test_cupy_{subject}.py"
        check(self, "dask", wanted, "dask", part, "dask_backend")

    return test


for _subject, _wanted in PASSED.items():
    setattr(Dask, f"test_{_subject}", _subject_test(_subject, _wanted))
