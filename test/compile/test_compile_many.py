"""compile_many: parallel compilation, ordered results, and a progress line."""

import os
import pty
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from pycuda._compile import architecture, progress
from pycuda.compiler import SourceModule, compile_many
from pycuda.driver import CompileError

pytestmark = pytest.mark.usefixtures("cache")


def test_images_come_in_order(toy):
    texts = [f"text {number}" for number in range(7)]
    images = compile_many(texts, nvcc=toy.path)
    for text, image in zip(texts, images, strict=True):
        assert f"\n{text}\n".encode() in image
    assert len(toy.compilations) == 7
    assert compile_many(reversed(texts), nvcc=toy.path) == images[::-1]
    assert len(toy.compilations) == 7


def test_nothing_to_do():
    assert compile_many([], nvcc="/nowhere") == []


@pytest.mark.parametrize("one", ["abc", b"abc", {"source": "abc"}, ""])
def test_one_source_is_no_list_of_sources(one, toy):
    with pytest.raises(TypeError, match="list of sources"):
        compile_many(one, nvcc=toy.path)
    assert toy.compilations == []
    assert len(compile_many([one], nvcc=toy.path)) == 1


def test_they_run_side_by_side(toy, monkeypatch, tmp_path):
    (tmp_path / "meeting").mkdir()
    monkeypatch.setenv("TOY_MEET", str(tmp_path / "meeting"))
    monkeypatch.setenv("TOY_MEET_COUNT", "3")
    compile_many(["a", "b", "c"], nvcc=toy.path, workers=3)
    assert len(os.listdir(tmp_path / "meeting")) == 3


def test_equal_requests_are_compiled_once(toy):
    images = compile_many(["a", "b", "a", "a"], nvcc=toy.path, workers=4)
    assert images[0] == images[2] == images[3] != images[1]
    assert len(toy.compilations) == 2


def test_requests_with_arguments_of_their_own(toy):
    requests = [
        {"source": "a", "options": ["-DX"]},
        {"source": "a", "target": "ptx", "arch": "sm_90"},
        "a",
    ]
    images = compile_many(requests, nvcc=toy.path, options=["-DY"], arch="sm_80")
    assert [image.partition(b"\n")[0] for image in images] == [
        b"--cubin",
        b"--ptx",
        b"--cubin",
    ]
    found = [
        sorted(word for word in call if word.startswith(("-D", "-arch")))
        for call in toy.compilations
    ]
    assert sorted(found) == [
        ["-DX", "-arch=sm_80"],
        ["-DY", "-arch=sm_80"],
        ["-DY", "-arch=sm_90"],
    ]


def test_wrong_arguments_are_refused_before_anything_runs(toy):
    with pytest.raises(TypeError, match="no_such"):
        compile_many(["a", {"source": "b", "no_such": 1}], nvcc=toy.path)
    with pytest.raises(AssertionError, match="fatcat"):
        compile_many(["a"], nvcc=toy.path, target="fatcat")
    with pytest.raises(TypeError, match="source"):
        compile_many([{}], nvcc=toy.path)
    assert toy.compilations == []


def test_modules_made_afterwards_come_from_the_cache(toy, monkeypatch):
    class Module:
        get_function = get_global = get_texref = get_surfref = None

    device = types.SimpleNamespace(capability=(7, 5), software=True)
    monkeypatch.setattr(architecture, "current_device", lambda: device)
    monkeypatch.setattr("pycuda.driver.module_from_buffer", lambda *a, **k: Module())
    compile_many(["a", "b"], nvcc=toy.path)
    assert len(toy.compilations) == 2
    for text in ("a", "b"):
        SourceModule(text, nvcc=toy.path)
    assert len(toy.compilations) == 2


def test_the_device_is_that_of_the_calling_thread(toy, monkeypatch):
    """Contexts belong to threads, and the workers have none."""
    asked = []
    device = types.SimpleNamespace(capability=(8, 0), software=False)

    def current():
        asked.append(threading.current_thread())
        return device

    monkeypatch.setattr(architecture, "current_device", current)
    compile_many(["a", "b"], nvcc=toy.path)
    assert set(asked) == {threading.main_thread()}
    assert all("-arch=sm_80" in call for call in toy.compilations)


# Errors


def test_first_error_is_raised_when_all_are_done(toy):
    texts = ["good", "#error one", "#error two", "also good"]
    with pytest.raises(CompileError) as caught:
        compile_many(texts, nvcc=toy.path)
    assert "#error one" in caught.value.source
    assert "(and 1 more of 4 sources)" in str(caught.value)
    before = len(toy.compilations)
    compile_many(["good", "also good"], nvcc=toy.path)
    assert len(toy.compilations) == before == 4


def test_single_error_is_as_it_is(toy):
    with pytest.raises(CompileError) as caught:
        compile_many(["good", "#error"], nvcc=toy.path)
    assert "more" not in caught.value.msg


def test_what_compilers_say_is_said_here(toy, monkeypatch):
    monkeypatch.setenv("TOY_SAY", "used 8 registers\n")
    with pytest.warns(UserWarning, match="used 8 registers") as caught:
        compile_many(["a", "b"], nvcc=toy.path)
    assert [warning.filename for warning in caught] == [__file__] * 2


def test_interruption_drops_what_has_not_begun():
    begun = []
    go_on = threading.Event()

    def stop():
        begun.append("stop")
        raise KeyboardInterrupt

    def wait():
        begun.append("wait")
        go_on.wait()

    class Line:
        def show(self, text):
            if text == "compiling: 1 of 4 done":
                raise KeyboardInterrupt

        def remove(self):
            assert begun[0] == "first"
            assert "stop" not in begun

    def first():
        begun.append("first")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "_line", Line)
        shutdown = ThreadPoolExecutor.shutdown

        def let_go(self, *args, **how):
            shutdown(self, wait=False, cancel_futures=True)
            go_on.set()
            shutdown(self, wait=True)

        patch.setattr(ThreadPoolExecutor, "shutdown", let_go)
        with pytest.raises(KeyboardInterrupt):
            progress.run_all([first, wait, stop, stop], 1, True)


def test_workers_default_to_the_processors_of_this_process():
    assert progress.processors() == len(os.sched_getaffinity(0))


# The line

PROGRAM = """
import sys
from pycuda import compiler
from pycuda._compile import architecture
architecture.current_device = lambda: None
count, nvcc, progress = sys.argv[1:]
texts = [f"text {n}" for n in range(int(count))]
compiler.compile_many(texts, nvcc=nvcc, progress=bool(int(progress)))
sys.stderr.write("end")
"""


def said(count, toy, progress, terminal):
    """Return the output of a program to stderr, which may be a terminal."""
    command = [sys.executable, "-c", PROGRAM, str(count), toy.path, str(int(progress))]
    if not terminal:
        done = subprocess.run(command, stderr=subprocess.PIPE, check=True, text=True)
        return done.stderr
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stderr=theirs)
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    assert process.wait() == 0
    return b"".join(pieces).decode()


def test_terminal_shows_how_far_it_is(toy):
    shown = said(3, toy, progress=True, terminal=True).split(progress._ERASE)
    assert shown == ["", *(f"compiling: {n} of 3 done" for n in range(4)), "end"]


@pytest.mark.parametrize(
    ("count", "progress", "terminal"),
    [(3, True, False), (3, False, True), (1, True, 1)],
)
def test_nothing_is_shown_elsewhere(toy, count, progress, terminal):
    assert said(count, toy, progress, terminal) == "end"


def test_no_stderr_at_all(toy, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert len(compile_many(["a", "b"], nvcc=toy.path)) == 2


def test_arguments_that_there_are_not(toy):
    with pytest.raises(TypeError, match="compile takes no argument 'optoins'"):
        compile_many(["a"], nvcc=toy.path, optoins=[])
    with pytest.raises(TypeError, match="compile takes no argument 'name'"):
        compile_many([{"source": "a", "name": "b"}], nvcc=toy.path)
    with pytest.raises(ValueError, match="workers is a number of threads, not -1"):
        compile_many(["a"], nvcc=toy.path, workers=-1)
    assert not toy.compilations
