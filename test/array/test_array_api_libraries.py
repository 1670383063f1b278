"""Libraries that are written for the array API standard, with GPUArrays."""

from pathlib import Path

import numpy as np
import pytest

from pycuda.gpuarray import GPUArray, to_gpu
from support.child import run_child

pytestmark = pytest.mark.gpu

FOLDER = Path(__file__).resolve().parents[1]


def calls_of(library):
    """Return the report of support/array_api_calls.py: name and result of each call."""
    done = run_child(
        f"""
        import sys
        sys.path.insert(0, {str(FOLDER)!r})
        from support.array_api_calls import main
        main({library!r})
        """,
        timeout=500,
        check=False,
        SCIPY_ARRAY_API="1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line]


def test_scipy():
    pytest.importorskip("scipy", minversion="1.15")
    calls = calls_of("scipy")
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) > 90


def test_scikit_learn():
    pytest.importorskip("sklearn", minversion="1.8")
    calls = calls_of("sklearn")
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) > 40


def test_special_functions_of_scipy(ctx):
    special = pytest.importorskip("scipy.special")
    numbers = np.linspace(0.1, 0.9, 5)
    x = to_gpu(numbers)
    for name, count in (("psi", 1), ("erfinv", 1), ("betaln", 2), ("fdtr", 3)):
        function = getattr(special, name)
        found = function(*(x,) * count)
        assert isinstance(found, GPUArray)
        np.testing.assert_allclose(found.get(), function(*(numbers,) * count), 1e-12)
    out = to_gpu(np.empty(5))
    assert special.gamma(x, out=out) is out
    np.testing.assert_allclose(out.get(), special.gamma(numbers), 1e-12)
    with pytest.raises(TypeError, match="jv has no counterpart"):
        special.jv(1.0, x)
    with pytest.raises(TypeError, match=r"scipy.special.psi of GPUArrays: .*where"):
        special.psi(x, where=numbers > 1)
