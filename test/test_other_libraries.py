"""PyTorch and CuPy in one process with pycuda.autoinit: every order, every thread."""

import importlib.util
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "support" / "two_libraries.py"

#: What ends first: each of the three for each library, in either thread.
ENDINGS = ["nothing", "ours", "theirs", "nothing"]
CASES = [
    (library, order, place, ENDINGS[i % 4])
    for library in ("torch", "cupy")
    for i, (order, place) in enumerate(product(("before", "after"), ("main", "worker")))
]


@pytest.mark.gpu
@pytest.mark.hardware(why="PyTorch and CuPy work on NVIDIA's driver only")
@pytest.mark.parametrize(("library", "order", "place", "ending"), CASES)
def test_in_one_process(library, order, place, ending):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), library, order, place, ending],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
    assert done.stderr == ""
