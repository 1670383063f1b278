"""The dtype that a bool array counts as in arithmetic."""

from __future__ import annotations

import numpy as np


def remember_counts(result, arrays):
    """Let a bool array of others' elements remember the dtype that was compared."""
    dtypes = [array._counts_as for array in arrays]
    dtypes = [dtype for dtype in dtypes if dtype is not None]
    if result.dtype == bool and len(dtypes) == len(arrays):
        result._counts_as = np.result_type(*dtypes)
