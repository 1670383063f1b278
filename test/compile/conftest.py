"""Fixtures for the tests of compilation."""

import os

import pytest

from pycuda import compiler
from pycuda._compile import nvcc, store
from support.compilers import make_toy


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of an empty compile cache. No other setting of the user applies."""
    for name in list(os.environ):
        if name.startswith(("PYCUDA_", "TOY_")) or name in nvcc.ENVIRONMENT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "_current_device", lambda driver: None)
    monkeypatch.setattr(store, "_complained", False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache"


@pytest.fixture
def toy(tmp_path):
    return make_toy(tmp_path)
