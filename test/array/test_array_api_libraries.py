"""Libraries that are written for the array API standard, with GPUArrays."""

from pathlib import Path

import pytest

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
    scipy = pytest.importorskip("scipy", minversion="1.17")
    assert scipy is not None
    calls = calls_of("scipy")
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) > 80


def test_scikit_learn():
    pytest.importorskip("sklearn", minversion="1.8")
    calls = calls_of("sklearn")
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) > 40
