"""array-api-extra's own tests, with GPUArrays."""

import unittest

from array_libraries import check

LIBRARY = "array_api_extra"


class ArrayApiExtra(unittest.TestCase):
    def test_all(self):
        options = ("-k", "cupy", "-o", "xfail_strict=true")
        plugin = f"{LIBRARY}_backend"
        check(self, LIBRARY, 1191, LIBRARY, "tests/main", plugin, *options)
