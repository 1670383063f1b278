"""scikit-learn's own tests of the array API, with GPUArrays."""

import unittest

from array_libraries import run

#: Fewer tests that pass are a failure.
PASSED = 546


class ScikitLearn(unittest.TestCase):
    def test_all(self):
        passed, said = run("sklearn", "", "scikit_learn_backend", "-k", "pycuda")
        self.assertGreaterEqual(passed, PASSED, said[-3000:])
