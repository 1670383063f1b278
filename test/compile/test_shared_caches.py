"""Caches that several machines share: read-only ones, and those on a network."""

import fcntl
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

from pycuda import compiler
from pycuda._compile import lock, manifest, recall, store
from support.compilers import make_toy

pytestmark = pytest.mark.usefixtures("cache")

SOURCE = '#include "a.h"\n'


def content(folder):
    """Return names, contents and times of all files in a folder."""
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


@pytest.fixture
def shared(cache, tmp_path, toy, headers, monkeypatch):
    """A filled cache. The own cache is empty."""
    compiler.compile("text", nvcc=toy.path)
    compiler.compile(SOURCE, nvcc=toy.path, include_dirs=[headers])
    folder = tmp_path / "shared"
    cache.rename(folder)
    for path in folder.iterdir():
        os.utime(path, (1, 1))  # a use would change the time
    monkeypatch.setenv("PYCUDA_SHARED_CACHE", f"/nonexistent:{folder}")
    return folder


# Read-only caches


def test_a_shared_cache_answers_and_is_not_changed(shared, toy, headers):
    before = content(shared)
    assert b"\ntext\n" in compiler.compile("text", nvcc=toy.path)
    os.utime(headers / "a.h", (2, 2))
    image = compiler.compile(SOURCE, nvcc=toy.path, include_dirs=[headers])
    assert b"\nof a\n" in image
    assert len(toy.compilations) == 2
    assert content(shared) == before


def test_what_it_lacks_goes_into_the_own_cache(shared, cache, toy):
    before = content(shared)
    for _ in range(2):
        assert b"\nnew\n" in compiler.compile("new", nvcc=toy.path)
    assert len(toy.compilations) == 3
    assert len(list(cache.glob("*.cubin"))) == 1
    assert content(shared) == before


def test_a_changed_header_is_a_miss_there_too(shared, toy, headers):
    (headers / "a.h").write_text("new")
    image = compiler.compile(SOURCE, nvcc=toy.path, include_dirs=[headers])
    assert b"\nnew\n" in image
    assert len(toy.compilations) == 3


def test_without_the_variable_it_is_not_read(shared, toy, monkeypatch):
    monkeypatch.delenv("PYCUDA_SHARED_CACHE")
    compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 3


def test_a_damaged_entry_is_a_miss(shared, toy):
    for path in shared.glob("*.cubin"):
        path.write_bytes(path.read_bytes()[:-1])
    before = content(shared)
    assert b"\ntext\n" in compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 3
    assert content(shared) == before


OTHER_ENVIRONMENT = """
import sys
from pycuda import compiler
from pycuda._compile import architecture, store
architecture.current_device = lambda: None
print(store.HEADERS)
source = "#include <pycuda-complex.hpp>\\n"
print(len(compiler.compile(source, nvcc=sys.argv[1])))
"""


@pytest.mark.parametrize("change", [False, True])
def test_environments_share_what_they_compile(change, cache, tmp_path):
    """The package's headers are in other places; their content counts."""
    toy = make_toy(tmp_path)
    said = []
    for name in ("one", "two"):
        package = tmp_path / name / "pycuda"
        shutil.copytree(
            os.path.dirname(compiler.__file__),
            package,
            ignore=shutil.ignore_patterns("__pycache__", "_array", "gl"),
        )
        if change and name == "two":
            with open(package / "cuda" / "pycuda-complex.hpp", "a") as file:
                file.write("// another version\n")
        done = subprocess.run(
            [sys.executable, "-c", OTHER_ENVIRONMENT, toy.path],
            env={**os.environ, "PYTHONPATH": str(package.parent)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.split())
    assert said[0][0] != said[1][0]
    assert (said[0][1] == said[1][1]) is not change
    assert len(toy.compilations) == 1 + change


# Networks


def test_drafts_of_two_machines_have_two_names(toy, cache, monkeypatch):
    """Processes of two machines may have the same number."""
    names = []
    real = store._write

    def note(draft, data):
        names.append(os.path.basename(draft))
        real(draft, data)

    monkeypatch.setattr(store, "_write", note)
    compiler.compile("text", nvcc=toy.path)
    assert names
    assert all(f".{socket.gethostname()}.{os.getpid()}." in name for name in names)


@pytest.mark.parametrize("stale", [70, 116, 5])  # ECOMM, ESTALE, EIO
def test_an_entry_that_cannot_be_read_is_a_miss(stale, toy, cache, monkeypatch):
    compiler.compile("text", nvcc=toy.path)
    real = os.fstat

    def refuse(descriptor):
        if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".cubin"):
            raise OSError(stale, os.strerror(stale))
        return real(descriptor)

    monkeypatch.setattr(os, "fstat", refuse)
    recall.forget()
    assert b"\ntext\n" in compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 2


@pytest.fixture
def held(toy, cache):
    """A lock that a failed machine holds for ever."""
    compiler.compile("text", nvcc=toy.path)
    (entry,) = cache.glob("*.cubin")
    entry.unlink()
    path = cache / f".{entry.name}.lock"
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def test_no_process_waits_for_ever(held, toy, cache, monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE", 0.2)
    with pytest.warns(UserWarning, match=r"held the lock '.*\.lock' for 0 s"):
        assert b"\ntext\n" in compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 2
    assert len(list(cache.glob("*.cubin"))) == 1


def test_a_lock_that_is_released_is_waited_for(held, toy, cache, monkeypatch):
    release = threading.Timer(0.2, lambda: fcntl.flock(held, fcntl.LOCK_UN))
    release.start()
    assert b"\ntext\n" in compiler.compile("text", nvcc=toy.path)
    assert not release.is_alive()
    assert len(lock._files) == 0


def test_a_lock_that_comes_too_late_is_let_go(held, monkeypatch):
    monkeypatch.setattr(lock, "PATIENCE", 0.05)
    assert lock._lock(held.name) is None
    assert len(lock._files) == 1  # the thread's
    fcntl.flock(held, fcntl.LOCK_UN)
    with open(held.name) as other:
        for _ in range(500):
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                threading.Event().wait(0.01)
            else:
                break
        else:
            pytest.fail("the lock was kept")


def test_paths_of_the_package_are_relative_in_a_manifest(tmp_path):
    own = os.path.join(store.HEADERS, "pycuda-complex.hpp")
    made = manifest.make("", [own], [], [], time.time_ns())
    assert store.HEADERS.encode() not in made
    assert b"<pycuda>/pycuda-complex.hpp" in made
    assert store.holds(made)
    changed = made.replace(b"pycuda-complex.hpp", b"nothing.hpp")
    assert not store.holds(changed)
