"""scikit-learn's own tests of the array API, with GPUArrays."""

import unittest

from array_libraries import check

LIBRARY = "scikit_learn"


class ScikitLearn(unittest.TestCase):
    def test_all(self):
        check(self, LIBRARY, 597, "sklearn", "", f"{LIBRARY}_backend", "-k", "pycuda")
