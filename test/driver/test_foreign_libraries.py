"""Streams, events, code and memory of cuda.core, Numba, CuPy and PyTorch in our calls,
and ours in theirs: the programs in support/foreign.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pycuda import _driver, emulator

pytestmark = pytest.mark.gpu

#: The libraries; for each one the module that must be there, and whether it can use the
#: software device.
LIBRARIES = {
    "cuda_core": ("cuda.core", True),
    "numba": ("numba.cuda", True),
    "cupy": ("cupy", False),
    "torch": ("torch", False),
}


def is_installed(module):
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


@pytest.mark.parametrize("library", LIBRARIES)
def test_objects_go_both_ways(library):
    module, without_gpu = LIBRARIES[library]
    if not is_installed(module):
        pytest.skip(f"{module} is not installed")
    environment = dict(os.environ)
    if _driver._is_emulated():
        if not without_gpu:
            pytest.skip(f"{module} works on NVIDIA's driver only")
        environment.update(emulator.environment())
    done = subprocess.run(
        [sys.executable, "-m", f"support.foreign.{library}"],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[1],
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
