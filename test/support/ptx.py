"""PTX for tests: what nvcc makes of a source text, compiled once a session."""

import functools
import os
import subprocess
import tempfile
from pathlib import Path

from support.compilers import REAL_NVCC


@functools.cache
def compile_ptx(source, *options):
    """The PTX of a CUDA C text, as bytes that end in a zero byte."""
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
            # a sanitizer that is preloaded into the tests is not for the compiler
            env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
        )
        assert done.returncode == 0, done.stderr
        return out.read_bytes() + b"\0"
