"""One compilation of a key at a time, among threads and processes that may die.

The tests do not depend on speed. Pipes, locks and lines on standard streams define the
order of events.
"""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections import Counter

import pytest

from pycuda import compiler
from pycuda._compile import (
    lock as entry_lock,
    nvcc,
    single_flight,
    store,
    sweep,
)
from pycuda.driver import CompileError
from support.compilers import Pipes, make_counting, make_toy, needs_nvcc

pytestmark = pytest.mark.usefixtures("cache")

KERNEL = "__global__ void one(float *a)\n{ a[threadIdx.x] = 1; }\n"
PATIENCE = 300  # seconds, after which something hangs


@pytest.fixture
def pipes(tmp_path):
    return Pipes(tmp_path)


@pytest.fixture
def child():
    """Start Python programs, which end with the test."""
    started = []

    def start(code, *arguments, **environ):
        process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environ},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def end(process):
    """Let a program continue, wait for its end and return its output."""
    out, err = process.communicate("go\n", timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    return out


def hidden_in(cache):
    return [name for name in os.listdir(cache) if name.startswith(".")]


def lock_of(cache, toy, source="text"):
    """Return the lock file of a source's entry, which is made and removed again."""
    compiler.compile(source, nvcc=toy.path)
    (entry,) = cache.glob("*.cubin")
    entry.unlink()
    return cache / f".{entry.name}.lock"


# Processes

RACERS = """
import hashlib, multiprocessing, sys
from pycuda import compiler
from pycuda._compile import architecture, store
architecture.current_device = lambda: None
count, nvcc, *sources = sys.argv[1:]
load = store.load
def load_and_wait(path, *how):
    found = load(path, *how)
    if path.endswith(".cubin"):
        store.load = load
        assert found is None
        barrier.wait(60)  # until all have missed, so all compete
    return found
store.load = load_and_wait
def race(number):
    source = sources[number % len(sources)]
    image = compiler.compile(source, nvcc=nvcc, options=["-arch=sm_80"])
    return number % len(sources), hashlib.sha256(image).hexdigest()
fork = multiprocessing.get_context("fork")
barrier = fork.Barrier(int(count))
with fork.Pool(int(count)) as pool:
    print(*sorted({*pool.map(race, range(int(count)), 1)}), sep="\\n")
"""


@pytest.mark.parametrize(
    ("make", "count", "sources"),
    [(make_toy, 64, 5), pytest.param(make_counting, 8, 2, marks=needs_nvcc)],
)
def test_racing_processes_compile_each_source_once(
    make, count, sources, tmp_path, cache, child
):
    counted = make(tmp_path)
    texts = [KERNEL.replace("1;", f"{number};") for number in range(sources)]
    results = end(child(RACERS, count, counted.path, *texts)).splitlines()
    assert len(results) == len({line.split()[1] for line in results}) == sources
    assert len(counted.calls) == 2 + sources  # its number, its answer, each source
    assert hidden_in(cache) == []
    images = [
        compiler.compile(text, nvcc=counted.path, options=["-arch=sm_80"])
        for text in texts
    ]
    assert len(set(images)) == sources
    assert len(counted.calls) == 2 + sources


COMPILE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have ignored it
from pycuda import compiler
from pycuda._compile import architecture, lock
architecture.current_device = lambda: None
flock = lock.fcntl.flock
def tell(descriptor, how):
    if how == lock.fcntl.LOCK_EX:
        print("locks", flush=True)
    flock(descriptor, how)
if sys.argv[3] == "tell":
    lock.fcntl.flock = tell
print(compiler.compile(sys.argv[1], nvcc=sys.argv[2]).decode())
"""


def test_killed_compilation_is_taken_over(toy, cache, child, pipes):
    lock = lock_of(cache, toy)
    victim = child(COMPILE, "text", toy.path, "", TOY_PIPES=str(pipes.folder))
    pipes.wait_until_it_began()
    waiter = child(COMPILE, "text", toy.path, "tell")
    assert waiter.stdout.readline() == "locks\n"
    with (
        open(lock, "rb+") as file,
        pytest.raises(BlockingIOError),  # the victim holds the lock
    ):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    victim.kill()
    victim.communicate()
    assert victim.returncode == -signal.SIGKILL
    assert "text" in end(waiter)
    pipes.let_it_go_on()  # the victim's compiler, for which no process waits
    assert len(toy.compilations) == 3
    assert hidden_in(cache) == []
    assert b"text" in compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 3


KILLED = """
import os, signal, sys
from pycuda import compiler
from pycuda._compile import architecture, store
architecture.current_device = lambda: None
when, nvcc = sys.argv[1:]
if when == "before the rename":
    replace = os.replace
    def die(draft, path):
        if path.endswith(".cubin"):
            os.kill(os.getpid(), signal.SIGKILL)
        replace(draft, path)
    os.replace = die
else:
    write = store._write
    def die(path, data):
        if ".cubin." in path:
            open(path, "wb").write(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        write(path, data)
    store._write = die
compiler.compile("text", nvcc=nvcc)
"""


@pytest.mark.parametrize("when", ["before the rename", "in the middle of the write"])
def test_killed_writer_leaves_no_entry(when, toy, cache, child):
    victim = child(KILLED, when, toy.path)
    victim.communicate(timeout=PATIENCE)
    assert victim.returncode == -signal.SIGKILL
    assert list(cache.glob("*.cubin")) == []
    assert len(hidden_in(cache)) == 2  # a draft and a lock without an owner
    assert b"text" in compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 2
    (draft,) = hidden_in(cache)
    os.utime(cache / draft, (0, 0))  # it may have an owner until it is old
    sweep.sweep(str(cache), None)
    assert hidden_in(cache) == []


def test_waiting_can_be_interrupted(toy, cache, child):
    lock = lock_of(cache, toy)
    with open(lock, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiter = child(COMPILE, "text", toy.path, "tell")
        assert waiter.stdout.readline() == "locks\n"
        while waiter.poll() is None:
            waiter.send_signal(signal.SIGINT)
            try:
                waiter.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
    assert "KeyboardInterrupt" in waiter.communicate()[1]
    assert len(toy.compilations) == 1


WITH_A_THREAD = """
import sys, threading
def answer():
    print("heard", sys.stdin.readline().strip(), flush=True)
threading.Thread(target=answer).start()
""" + COMPILE.replace("import signal, sys\n", "import signal\n", 1)


def test_waiting_leaves_the_interpreter_to_others(toy, cache, child):
    lock = lock_of(cache, toy)
    with open(lock, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiter = child(WITH_A_THREAD, "text", toy.path, "tell")
        assert waiter.stdout.readline() == "locks\n"
        waiter.stdin.write("me\n")
        waiter.stdin.flush()
        assert waiter.stdout.readline() == "heard me\n"
    assert "text" in end(waiter)


def test_failure_of_one_lets_the_others_try_side_by_side(toy, cache, child, tmp_path):
    """The waiting processes learn that the first one failed, and do not queue."""
    lock = lock_of(cache, toy)
    (tmp_path / "meeting").mkdir()
    environ = {"TOY_MEET": str(tmp_path / "meeting"), "TOY_MEET_COUNT": "2"}
    with open(lock, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        waiters = [child(COMPILE, "text", toy.path, "tell", **environ) for _ in "12"]
        for waiter in waiters:
            assert waiter.stdout.readline() == "locks\n"
        file.write(entry_lock.GIVEN_UP)
        file.flush()
        lock.unlink()
    for waiter in waiters:
        assert "text" in end(waiter)
    assert len(toy.compilations) == 3
    assert hidden_in(cache) == []


@pytest.mark.parametrize("fits", [True, False])
def test_processes_do_not_queue_for_what_the_cache_cannot_keep(
    fits, toy, cache, monkeypatch
):
    """The waiting processes learn whether the entry was written."""
    lock = lock_of(cache, toy)
    write, seen = store._write, []

    def write_or_fail(path, data):
        seen.append(open(lock, "rb"))  # noqa: SIM115  as a process that waits
        if not fits:
            raise OSError(28, "No space left on device")
        write(path, data)

    monkeypatch.setattr(store, "_write", write_or_fail)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert b"text" in compiler.compile("text", nvcc=toy.path)
    with seen[0] as file:
        assert file.read() == (b"" if fits else entry_lock.GIVEN_UP)
    assert ["cannot be kept" in str(w.message) for w in caught] == [True] * (not fits)
    assert not lock.exists()


def test_mark_of_a_killed_holder_does_not_stay(toy, cache):
    lock = lock_of(cache, toy)
    lock.write_bytes(entry_lock.GIVEN_UP)
    assert b"text" in compiler.compile("text", nvcc=toy.path)
    assert hidden_in(cache) == []


def test_fork_does_not_share_a_lock(toy, cache, pipes, monkeypatch):
    """The child outlives the parent's compilation and does not hold its lock."""
    lock = lock_of(cache, toy)
    monkeypatch.setenv("TOY_PIPES", str(pipes.folder))
    thread = threading.Thread(
        target=compiler.compile, args=("text",), kwargs={"nvcc": toy.path}
    )
    thread.start()
    pipes.wait_until_it_began()
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(tell)
            ok = not any(not file.closed for file in entry_lock._files)
            ok = ok and not single_flight._flights
            os.read(told, 1)
        finally:
            os._exit(0 if ok else 1)
    try:
        pipes.let_it_go_on()
        thread.join()
        with open(lock, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.unlink()
    finally:
        os.close(told)
        os.close(tell)
        assert os.waitpid(pid, 0)[1] == 0


# Places without locks


@pytest.mark.parametrize("what", ["no file", "no lock", "no module"])
def test_without_locks_each_compiles_for_itself(what, toy, cache, monkeypatch):
    def refuse(*args):
        raise OSError(37, "No locks available")

    if what == "no module":
        monkeypatch.setattr(entry_lock, "fcntl", None)
    elif what == "no lock":
        monkeypatch.setattr(entry_lock.fcntl, "flock", refuse)
    else:
        monkeypatch.setattr(entry_lock, "_open", refuse)
    for _ in range(2):
        assert b"text" in compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 1
    assert not any(name.endswith(".part") for name in hidden_in(cache))


def test_mark_on_a_full_disk_is_done_without(toy, monkeypatch, cache):
    asked = []

    def full(descriptor, data):
        asked.append(data)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CompileError):
        compiler.compile("#error", nvcc=toy.path)
    assert asked == [entry_lock.GIVEN_UP]
    assert hidden_in(cache) == []


# Threads


def compile_in_threads(count, **how):
    """Compile one text in many threads; return the images and errors."""
    results = []

    def run():
        try:
            results.append(compiler.compile("text", **how))
        except CompileError as error:
            results.append(type(error))

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, results


@pytest.fixture
def together(monkeypatch, pipes, toy):
    """End the toy's compilation when this number of threads has requested it."""
    compiler.get_nvcc_version(toy.path)
    monkeypatch.setenv("TOY_PIPES", str(pipes.folder))
    asked = threading.Semaphore(0)
    real = single_flight.get

    def get(entry, make):
        asked.release()
        return real(entry, make)

    monkeypatch.setattr(single_flight, "get", get)

    def wait(count):
        pipes.wait_until_it_began()
        for _ in range(count):
            asked.acquire()
        monkeypatch.delenv("TOY_PIPES")
        pipes.let_it_go_on()

    return wait


@pytest.mark.parametrize("place", ["cache", "file/sub"])
def test_threads_compile_once(place, toy, together, tmp_path, monkeypatch):
    """If nothing can be cached, the threads get the result of the first one."""
    monkeypatch.setattr(store, "_complained", True)
    (tmp_path / "file").write_text("")
    threads, results = compile_in_threads(
        8, nvcc=toy.path, cache_dir=str(tmp_path / place)
    )
    together(8)
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len(set(results)) == 1
    assert len(toy.compilations) == 1


def test_thread_that_fails_concerns_itself(toy, together, monkeypatch):
    real = nvcc.Tool.run
    turn = threading.Lock()
    failed = []

    def run(self, *args):
        with turn:
            first = not failed
            failed.append(first)
        result = real(self, *args)
        if first:
            raise CompileError("no", [])
        return result

    monkeypatch.setattr(nvcc.Tool, "run", run)
    threads, results = compile_in_threads(4, nvcc=toy.path)
    together(4)
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 2
    assert Counter(results)[CompileError] == 1


def test_result_handed_on_is_checked(toy, together, tmp_path, monkeypatch):
    """If a header changed in between, only the first thread may use the result."""
    header = tmp_path / "a.h"
    header.write_text("A one")
    os.utime(header, (1, 1))
    monkeypatch.setenv("TOY_TOUCH", str(header))
    monkeypatch.setenv("TOY_TOUCH_TEXT", "A two")
    results = []

    def run():
        results.append(
            compiler.compile(
                '#include "a.h"', nvcc=toy.path, include_dirs=[str(tmp_path)]
            )
        )

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    together(3)
    for thread in threads:
        thread.join()
    assert len(toy.compilations) == 3
    assert sorted(b"A one" in image for image in results) == [False, False, True]


def test_interrupted_thread_is_replaced(toy, together, monkeypatch):
    """A waiting thread compiles if another exception stopped the first one."""
    real = nvcc.Tool.run
    runs = []

    def run(self, *args):
        runs.append(self)
        first = len(runs) == 1
        result = real(self, *args)
        if first:
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(nvcc.Tool, "run", run)
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    threads, results = compile_in_threads(4, nvcc=toy.path)
    together(4)
    for thread in threads:
        thread.join()
    assert len(results) == 3
    assert len(set(results)) == 1
    assert len(toy.compilations) == 2
