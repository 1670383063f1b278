"""The line about long compilations: on terminals and in notebooks, nowhere else."""

import io
import os
import pty
import re
import threading
import time
import types

import pytest

from pycuda import compiler
from pycuda._compile import progress
from support.compilers import make_toy


class Screen:
    """A pseudo terminal as stderr. ``text`` is what was written."""

    def __init__(self):
        self.reader, writer = pty.openpty()
        self.file = os.fdopen(writer, "w")

    def text(self):
        self.file.flush()
        os.set_blocking(self.reader, False)
        parts = []
        while True:
            try:
                parts.append(os.read(self.reader, 65536))
            except BlockingIOError:
                return b"".join(parts).decode()

    def close(self):
        self.file.close()
        os.close(self.reader)


class Notebook(io.StringIO):
    """The stream of a notebook."""


Notebook.__module__ = "ipykernel.iostream"


def use_as_stderr(monkeypatch, stream):
    """Replace stderr for the package; pytest replaces the real one in each phase."""
    fake = types.SimpleNamespace(stderr=stream)
    monkeypatch.setattr(progress, "sys", fake)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.1)
    monkeypatch.setattr(progress, "_STEP", 0.02)
    monkeypatch.delenv(progress.VARIABLE, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def screen(monkeypatch):
    screen = Screen()
    use_as_stderr(monkeypatch, screen.file)
    yield screen
    screen.close()


def threads():
    return [t for t in threading.enumerate() if t.name == "pycuda-progress"]


def test_a_long_compilation_has_a_line_that_is_removed(screen):
    with progress.shown("scale with nvcc"):
        time.sleep(0.3)
    text = screen.text()
    assert "\r\033[Kcompiling scale with nvcc ... 0 s" in text
    assert text.endswith("\r\033[K")
    assert text.count("compiling") == 1  # written again only when it changes
    assert "\n" not in text
    assert threads() == []


def test_a_short_compilation_has_none(screen):
    for _ in range(3):
        with progress.shown("scale"):
            time.sleep(0.01)
    assert screen.text() == ""
    assert threads() == []


def test_the_line_counts_the_seconds(screen, monkeypatch):
    class Clock:
        """A clock that is ten times too fast."""

        monotonic = staticmethod(lambda: 10 * time.monotonic())

    monkeypatch.setattr(progress, "time", Clock)
    with progress.shown("scale"):
        time.sleep(0.5)
    found = re.findall(r"scale \.\.\. (\d) s", screen.text())
    assert found == sorted(set(found))
    assert len(found) >= 3


def test_an_error_removes_the_line(screen):
    with pytest.raises(KeyError), progress.shown("scale"):
        time.sleep(0.2)
        raise KeyError
    assert screen.text().endswith("\r\033[K")
    assert threads() == []


def test_several_compilations_share_one_line(screen):
    def work(name):
        with progress.shown(name):
            time.sleep(0.4)

    workers = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for worker in workers:
        worker.start()
        time.sleep(0.02)
    time.sleep(0.2)
    assert len(threads()) == 1
    for worker in workers:
        worker.join()
    text = screen.text()
    assert "compiling a and 2 more" in text
    assert text.endswith("\r\033[K")
    assert threads() == []


def test_a_notebook_gets_the_line_without_codes(monkeypatch):
    notebook = Notebook()
    use_as_stderr(monkeypatch, notebook)
    with progress.shown("scale"):
        time.sleep(0.2)
    line = "compiling scale ... 0 s"
    assert notebook.getvalue() == f"{line}\r{' ' * len(line)}\r"


def test_pipes_files_and_missing_streams_get_nothing(monkeypatch, tmp_path):
    with open(tmp_path / "file", "w") as file:
        for stream in (file, io.StringIO(), object(), None):
            use_as_stderr(monkeypatch, stream)
            with progress.shown("scale"):
                time.sleep(0.15)
    assert (tmp_path / "file").read_text() == ""
    assert threads() == []


@pytest.mark.parametrize(
    ("name", "value"), [(progress.VARIABLE, "0"), ("TERM", "dumb")]
)
def test_it_can_be_turned_off(screen, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with progress.shown("scale"):
        time.sleep(0.15)
    assert screen.text() == ""


def test_compile_many_has_its_own_line(screen):
    def job():
        with progress.shown("scale"):
            time.sleep(0.15)

    progress.run_all([job, job], 2, True)
    text = screen.text()
    assert "2 of 2 done" in text
    assert "scale" not in text


def test_a_terminal_that_is_closed_meanwhile(monkeypatch):
    screen = Screen()
    use_as_stderr(monkeypatch, screen.file)
    with progress.shown("scale"):
        screen.close()
        time.sleep(0.2)
    assert threads() == []


def test_the_line_fits_the_terminal():
    long = progress._worded("kernel_of_a_long_name, another_one with nvcc", 12.3, 4, 40)
    assert len(long) == 40
    assert long.endswith("… and 3 more ... 12 s")
    assert (
        progress._worded("a with nvcc", 2.4, 1, 80) == "compiling a with nvcc ... 2 s"
    )
    assert progress._worded("abc", 2, 1, 3).endswith(" ... 2 s")


def test_a_thread_that_cannot_start(screen, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with progress.shown("scale"):
        pass
    assert progress._writer is None


def test_a_child_of_a_fork_has_no_line_of_its_parent(screen):
    with progress.shown("scale"):
        time.sleep(0.2)
        child = os.fork()
        if child == 0:
            with progress.shown("other"):
                pass
            os._exit(len(progress._running))
        assert os.waitpid(child, 0)[1] == 0


def test_compile_names_its_kernels(cache, screen, tmp_path, monkeypatch):
    toy = make_toy(tmp_path)
    seen = []
    real = progress.shown
    monkeypatch.setattr(
        progress, "shown", lambda text: seen.append(text) or real(text)
    )  # fmt: skip
    source = "__global__ void first() {}\n__global__ void second() {}"
    compiler.compile(source, nvcc=toy.path, arch="sm_80")
    assert seen == ["first, second with nvcc"]
