"""PTX for tests that a compiler makes, once a session."""

import functools
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from pycuda import compiler
from pycuda.driver import CompilerNotFoundError
from support.compilers import REAL_NVCC


@functools.cache
def compile_ptx(source, *options):
    """Compile CUDA C with nvcc. Return the PTX as bytes that end in a zero byte."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cu")
        path.write_text(source)
        out = Path(folder, "kernel.ptx")
        arch = [] if any("arch" in o for o in options) else ["-arch=compute_75"]
        done = subprocess.run(
            [REAL_NVCC, "-ptx", *arch, *options, str(path), "-o", str(out)],
            check=False,
            capture_output=True,
            text=True,
            # A preloaded sanitizer is for the tests, not for the compiler.
            env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
        )
        assert done.returncode == 0, done.stderr
        return out.read_bytes() + b"\0"


@functools.cache
def compile_file(path):
    """Compile a .cu file with nvcc or NVRTC. Return the PTX as a string.

    Skip the test if there is no compiler.
    """
    try:
        image = compiler.compile(
            path.read_text(),
            options=[],
            no_extern_c=True,
            arch="compute_75",
            target="ptx",
        )
    except CompilerNotFoundError as error:
        pytest.skip(str(error))
    return image.decode()
