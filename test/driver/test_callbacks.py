"""Host functions: add_callback and launch_host_func; flags and foreign events."""

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import SourceModule
from support import cc
from support.child import run_child
from support.emulator import LIBRARY
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


@pytest.fixture
def stream(ctx):
    return drv.Stream(drv.stream_flags.NON_BLOCKING)


@pytest.fixture
def unraisable(monkeypatch):
    """The exceptions that went to sys.unraisablehook, as (exception, object)."""
    found = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda it: found.append((it.exc_value, it.object))
    )
    return found


def test_calls_come_in_order_and_after_the_work(stream):
    source = "__global__ void add(int *a) { *a += 1; }"
    add = SourceModule(source).get_function("add")
    host = drv.pagelocked_zeros(1, np.int32)
    memory = drv.to_device(host)
    seen = []
    for i in range(4):
        add(memory, block=(1, 1, 1), stream=stream)
        drv.memcpy_dtoh_async(host, memory, stream)
        stream.add_callback(lambda i: seen.append((i, int(host[0]))), i)
    stream.synchronize()
    assert seen == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_arguments_and_the_default_stream(ctx):
    seen = []
    drv.launch_host_func(lambda: seen.append("default"))
    drv.Context.synchronize()
    stream = drv.Stream()
    drv.launch_host_func(lambda: seen.append("by name"), stream=stream)
    stream.synchronize()
    with stream:
        drv.launch_host_func(lambda: seen.append("current"))
    stream.synchronize()
    stream.add_callback(lambda *args: seen.append(args), 1, 2, 3)
    stream.synchronize()
    assert seen == ["default", "by name", "current", (1, 2, 3)]


def test_exceptions_are_reported(stream, unraisable):
    def broken():
        raise KeyError("lost?")

    seen = []
    stream.add_callback(broken)
    stream.add_callback(seen.append, 1)
    stream.synchronize()
    assert seen == [1]
    [(error, function)] = unraisable
    assert isinstance(error, KeyError) and function is broken
    unraisable.clear()


def test_a_function_may_not_call_the_driver(stream, unraisable):
    stream.add_callback(lambda: drv.mem_alloc(4))
    stream.synchronize()
    assert isinstance(unraisable[0][0], drv.Error)
    unraisable.clear()


def test_a_function_is_kept_until_it_has_run(stream):
    class Function:
        def __call__(self):
            seen.append("called")

    seen = []
    function = Function()
    dead = weakref.ref(function)
    stream.add_callback(function)
    del function
    stream.synchronize()
    gc.collect()
    assert seen == ["called"] and dead() is None


def test_many_calls_while_other_threads_compute(stream):
    seen = []
    done = threading.Event()

    def compute():
        while not done.is_set():
            sum(range(100))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        for i in range(200):
            stream.add_callback(seen.append, i)
        stream.synchronize()
    finally:
        done.set()
        thread.join()
    assert seen == list(range(200))


def test_work_behind_waits_for_the_function(stream):
    host = drv.pagelocked_zeros(1, np.int32)
    memory = drv.mem_alloc(4)

    def slow():
        time.sleep(0.02)
        host[0] = 42

    stream.add_callback(slow)
    drv.memcpy_htod_async(memory, host, stream)
    stream.synchronize()
    assert drv.from_device(memory, 1, np.int32)[0] == 42


def test_a_graph_calls_the_function_each_time(stream):
    seen = []
    with stream.capture() as graph:
        stream.add_callback(seen.append, 3)
    assert seen == []
    executable = graph.instantiate()
    for _ in range(3):
        executable.launch(stream)
    stream.synchronize()
    assert seen == [3, 3, 3]


def test_calls_of_a_context_that_ends():
    """They are not called, and let go of their functions."""
    context = drv.Device(0).make_context()
    try:
        stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
        memory = drv.mem_alloc(4)
        drv.memset_d32(memory, 0, 1)
        seen = []
        stream.add_callback(seen.append, 1)
        stream.synchronize()
    finally:
        context.pop()
        context.detach()
    assert seen == [1]
    with pytest.raises(drv.LogicError, match="cuLaunchHostFunc"):
        stream.add_callback(seen.append, 2)


@pytest.mark.software(why="such a wait never ends on a GPU")
def test_calls_that_never_run():
    context = drv.Device(0).make_context()
    stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
    memory = drv.mem_alloc(4)
    drv.memset_d32(memory, 0, 1)

    class Function:
        def __call__(self):
            raise AssertionError

    function = Function()
    dead = weakref.ref(function)
    stream.wait_value(memory, 1)
    stream.add_callback(function)
    del function
    assert dead() is not None
    context.pop()
    context.detach()
    gc.collect()
    assert dead() is None


def test_wrong_arguments(stream):
    with pytest.raises(TypeError, match="callable, not int"):
        stream.add_callback(3)
    with pytest.raises(TypeError, match="needs a function"):
        stream.add_callback()
    with pytest.raises(TypeError, match="callable"):
        drv.launch_host_func(None)
    with pytest.raises(TypeError, match="stream"):
        drv.launch_host_func(print, stream=3)


def test_a_failed_call_keeps_nothing(stream, fail_calls):  # noqa: F811
    def function():
        raise AssertionError

    dead = weakref.ref(function)
    fail_calls("cuLaunchHostFunc", 1)
    with pytest.raises(drv.LogicError):
        stream.add_callback(function)
    del function
    gc.collect()
    assert dead() is None


# -- events ----------------------------------------------------------------------------


def test_flags_of_events(stream):
    event = drv.Event().record(stream, drv.event_record_flags.DEFAULT)
    stream.wait_for_event(event, drv.event_wait_flags.DEFAULT)
    stream.wait_for_event(event, flags=0)
    event.record(flags=0).synchronize()
    with pytest.raises(drv.Error):
        event.record(stream, drv.event_record_flags.EXTERNAL)  # for captures only
    with pytest.raises(TypeError):
        event.record(stream, "EXTERNAL")


def test_external_events_in_a_graph(stream):
    event = drv.Event()
    with stream.capture() as graph:
        event.record(stream, drv.event_record_flags.EXTERNAL)
    executable = graph.instantiate()
    executable.launch(stream)
    stream.synchronize()
    assert event.query()
    other = drv.Stream()
    with other.capture() as graph2:
        other.wait_for_event(event, drv.event_wait_flags.EXTERNAL)
    executable2 = graph2.instantiate()
    executable2.launch(other)
    other.synchronize()


class ForeignEvent:
    """An event of another library, by the attribute that has its handle."""

    def __init__(self, name, handle):
        setattr(self, name, handle)


@pytest.mark.parametrize("name", ["cuda_event", "ptr", "handle"])
def test_events_of_other_libraries(stream, name):
    import ctypes

    own = drv.Event().record(stream)
    for handle in (own.handle, np.uint64(own.handle), ctypes.c_void_p(own.handle)):
        stream.wait_for_event(ForeignEvent(name, handle))
        wrapped = drv.Event.from_handle(ForeignEvent(name, handle))
        assert wrapped.handle == own.handle
        assert wrapped.record(stream).synchronize() is wrapped and wrapped.query()
    by_number = drv.Event.from_handle(own.handle, owner=own)
    dead = weakref.ref(own)
    del own
    gc.collect()
    assert dead() is not None and by_number.query()
    del by_number, wrapped
    gc.collect()
    assert dead() is None
    for wrong in (
        3.5,
        ForeignEvent(name, "x"),
        ForeignEvent(name, 0),
        ForeignEvent("other", 1),
        None,
    ):
        with pytest.raises(TypeError, match="event must be an Event"):
            stream.wait_for_event(wrong)
    with pytest.raises((OverflowError, TypeError)):
        drv.Event.from_handle(0)


def test_what_is_no_event_of_another_library(stream):
    """A stream has a handle, too."""
    for other in (stream, type("Stream", (), {"handle": 1})(), object()):
        with pytest.raises(TypeError, match="event must be an Event"):
            stream.wait_for_event(other)


def test_live_handles_do_not_count_foreign_events(stream):
    own = drv.Event()
    before = _driver._live_counts()["event"]
    wrapped = drv.Event.from_handle(own.handle)
    assert _driver._live_counts()["event"] == before
    with pytest.raises(TypeError, match="from_handle"):
        wrapped.__init__()
    del wrapped
    assert _driver._live_counts()["event"] == before
    own.record(stream).synchronize()


# -- the end of the interpreter --------------------------------------------------------

#: The software device, which calls host functions in threads, as a GPU's driver does.
#: The end of a context waits for them.
THREADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { void (*function)(void *); void *data; } call;
static volatile int running;
static int (*destroy)(void *);
static void *run(void *data)
{
    call *c = data;
    c->function(c->data);
    __sync_fetch_and_sub(&running, 1);
    return 0;
}
static int launch(void *stream, void (*function)(void *), void *data)
{
    (void)stream;
    call *c = malloc(sizeof(*c));
    pthread_t thread;
    c->function = function;
    c->data = data;
    __sync_fetch_and_add(&running, 1);
    return pthread_create(&thread, 0, run, c) || pthread_detach(thread);
}
static int end(void *context)
{
    for (int i = 0; running && i < 1000; i++) {
        usleep(10000);
    }
    if (running) {
        fprintf(stderr, "a host function did not return\\n");
    }
    return destroy(context);
}
int cuGetProcAddress_v2(const char *n, void **f, int v, unsigned long long g, int *s)
{
    void *device = dlopen(getenv("DEVICE"), RTLD_NOW | RTLD_LOCAL);
    int (*look_up)(const char *, void **, int, unsigned long long, int *);
    *(void **)&look_up = dlsym(device, "cuGetProcAddress_v2");
    int code = look_up(n, f, v, g, s);
    if (strcmp(n, "cuLaunchHostFunc") == 0) {
        *f = (void *)launch;
    }
    if (strcmp(n, "cuCtxDestroy") == 0) {
        *(void **)&destroy = *f;
        *f = (void *)end;
    }
    return code;
}
"""


@pytest.mark.parametrize("function", ["print", "sleeper"])
def test_functions_that_run_when_the_interpreter_ends(tmp_path, function):
    """The program ends while one thread waits for the interpreter lock."""
    cc.build_driver(tmp_path, THREADS)
    done = run_child(
        f"""
        import sys
        import time
        import pycuda.driver as drv

        def sleeper(*args):
            time.sleep(0.2)
            print(*args)

        drv.init()
        context = drv.Device(0).make_context()
        stream = drv.Stream()
        sys.setswitchinterval(1000)
        stream.add_callback({function}, "called")
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass  # the other thread reaches the lock, and does not get it
        """,
        LD_LIBRARY_PATH=str(tmp_path),
        PYCUDA_DRIVER="cuda",
        DEVICE=LIBRARY,
    )
    assert done.stdout == "called\n"
