#!/usr/bin/env python3
"""Print which compiler SourceModule will find; exit with 1 if there is none.

In that case `make hello` installs NVIDIA's run-time compiler into the private
environment.
"""

import sys

from pycuda._compile import nvcc, nvrtc
from pycuda.driver import CompilerNotFoundError


def find():
    """Return the path of nvcc or NVRTC, None if neither is installed."""
    try:
        return nvcc.find("nvcc")
    except CompilerNotFoundError:
        return nvrtc.find()


if __name__ == "__main__":
    path = find()
    print(f"compiler: {path or 'none'}")
    sys.exit(path is None)
