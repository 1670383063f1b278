"""Fixtures for the tests of compilation."""

import os
import types

import pytest

from pycuda._compile import architecture, inputs, store
from support.compilers import make_toy


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of an empty compile cache. No other setting of the user applies."""
    for name in list(os.environ):
        if name.startswith(("PYCUDA_", "TOY_")) or name in inputs.ENVIRONMENT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(architecture, "current_device", lambda: None)
    monkeypatch.setattr(store, "_complained", False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache"


@pytest.fixture
def toy(tmp_path):
    return make_toy(tmp_path)


@pytest.fixture
def on_device(monkeypatch):
    """Pretend that the current context's device has this capability."""

    def pretend(*capability, software=False):
        device = types.SimpleNamespace(capability=capability, software=software)
        monkeypatch.setattr(architecture, "current_device", lambda: device)

    return pretend


@pytest.fixture
def headers(tmp_path):
    """A folder with an old header, a.h."""
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "a.h").write_text("of a")
    os.utime(folder / "a.h", (1, 1))
    return folder
