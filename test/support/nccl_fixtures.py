"""The fixture ``environment``: NCCL, or its stand-in on the software device.

A test module loads it with `pytest_plugins = ["support.nccl_fixtures"]`.
"""

import ctypes

import pytest

import pycuda.driver as drv
from pycuda import _driver, nccl
from support.cc import compilers
from support.nccl import build


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Let the package open the stand-in on the software device."""
    if not _driver._is_emulated():
        try:
            nccl.version()
        except drv.RuntimeError as error:
            pytest.skip(f"NCCL is not installed: {error}")
        yield None
        return
    if not compilers():
        pytest.skip("needs a C compiler for the stand-in")
    folder = tmp_path_factory.mktemp("nccl")
    library, variables = build(compilers()[0], folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield ctypes.CDLL(str(library))
