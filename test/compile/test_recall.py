"""What a process remembers of its compilations."""

import os

import pytest

from pycuda import compiler
from pycuda._compile import architecture, recall, store

pytestmark = pytest.mark.usefixtures("cache")


class Device:
    """A device as the compilation sees it."""

    software = False

    def __init__(self, *capability):
        self.capability = capability


@pytest.fixture
def loads(monkeypatch):
    """The entries that are read from the cache."""
    names = []
    real = store.load

    def load(path, *how):
        names.append(os.path.basename(path))
        return real(path, *how)

    monkeypatch.setattr(store, "load", load)
    return names


def entries_in(names):
    return [name for name in names if name.endswith(".cubin")]


def test_the_cache_is_read_once(toy, loads):
    for _ in range(3):
        compiler.compile("text", nvcc=toy.path)
    made = len(entries_in(loads))
    recall.forget()
    for _ in range(3):
        compiler.compile("text", nvcc=toy.path)
    assert len(entries_in(loads)) == made + 1
    assert len(toy.compilations) == 1


def test_values_that_are_not_plain_are_not_remembered(toy, loads):
    for _ in range(3):
        compiler.compile("text", nvcc=toy.path, options=iter(["-DA"]))
    assert len(entries_in(loads)) == 2 + 2  # before and behind the lock, then hits


def test_each_device_has_its_own_code(toy, monkeypatch):
    for capability in ((8, 0), (9, 0), (8, 0), (9, 0)):
        device = Device(*capability)
        monkeypatch.setattr(
            architecture, "current_device", lambda device=device: device
        )
        compiler.compile("text", nvcc=toy.path)
    archs = [call[1] for call in toy.compilations]
    assert archs == ["-arch=sm_80", "-arch=sm_90"]


def test_the_folder_is_the_current_one(toy, tmp_path, monkeypatch):
    for name in ("here", "there", "here"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "a.h").write_text(name)
        os.utime(tmp_path / name / "a.h", (1, 1))
        monkeypatch.chdir(tmp_path / name)
        image = compiler.compile('#include "a.h"', nvcc=toy.path, include_dirs=["."])
        assert b"\n%s\n" % name.encode() in image


def test_a_removed_entry_is_made_again(toy, cache):
    for count in (1, 2):
        compiler.compile("text", nvcc=toy.path)
        assert len(toy.compilations) == count
        for entry in cache.glob("*.cubin"):
            entry.unlink()


def test_recordings_have_each_compilation(toy, tmp_path, monkeypatch):
    compiler.compile("text", nvcc=toy.path)
    monkeypatch.setenv("PYCUDA_CHECK_LOG", str(tmp_path / "log"))
    call = recall.Call(_request(toy), [])
    call.begin()
    assert call.find() is None
    monkeypatch.delenv("PYCUDA_CHECK_LOG")
    compiler.compile("text", nvcc=toy.path)
    assert recall.Call(_request(toy), []).find() is not None


def _request(toy):
    from pycuda._compile.request import CompileRequest

    return CompileRequest("text", [], linked=False, nvcc=toy.path)


def test_memory_is_bounded(toy, monkeypatch, loads):
    monkeypatch.setattr(recall, "_MOST", 4000)
    recall.forget()
    for number in range(20):
        compiler.compile(f"text {number}", nvcc=toy.path)
        assert 0 < recall._size <= 4000
        assert len(recall._known) < 20
    compiler.compile("long" * 2000, nvcc=toy.path)
    assert recall._size <= 4000
