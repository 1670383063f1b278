"""einops' own tests of backends, with GPUArrays."""

import unittest

from array_libraries import check

#: Files without tests of backends for arrays.
OTHERS = ("layers", "parsing")


class Einops(unittest.TestCase):
    def test_all(self):
        options = [f"--ignore-glob=*/test_{name}.py" for name in OTHERS]
        options += ["-k", "not symbolic and not layer"]
        check(self, "einops", 40, "einops", "tests", "einops_backend", *options)
