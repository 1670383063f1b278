"""Twelve programs in the style of programs for TensorRT.

A foreign library gets addresses and streams of this package and enqueues its work
there. test/c/inference_engine.c replaces TensorRT. An engine of n bytes with a tag
writes 2 n bytes: its input, then n times the tag.
"""

import asyncio
import ctypes
import gc
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_char_p, c_size_t, c_ubyte, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import _driver
from support.cc import compile_c, compilers, must
from support.child import run_child
from support.no_context import library

pytestmark = pytest.mark.gpu

SIZE = 4096
SOURCE = Path(__file__).parents[1] / "c" / "inference_engine.c"


def load(path):
    """Load the library with the driver that pycuda uses, and declare its functions."""
    lib = ctypes.CDLL(str(path))
    arguments = {
        "open": [c_char_p],
        "create": [ctypes.POINTER(c_void_p), c_size_t, c_ubyte],
        "destroy": [c_void_p],
        "set_size": [c_void_p, c_size_t],
        "enqueue": [c_void_p, ctypes.POINTER(c_uint64), c_void_p],
        "execute": [c_void_p, ctypes.POINTER(c_uint64)],
        "set_address": [c_void_p, c_char_p, c_uint64],
        "enqueue_named": [c_void_p, c_void_p],
    }
    for name, types in arguments.items():
        getattr(lib, f"engine_{name}").argtypes = types
    assert lib.engine_open(library().encode()) == 0
    return lib


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    names = compilers()
    if not names:
        pytest.skip("no C compiler on this machine")
    path = tmp_path_factory.mktemp("engine") / "libengine.so"
    must(compile_c(names[0], [SOURCE], path, ["-shared", "-fPIC", "-ldl"]))
    library = load(path)
    yield library
    assert library.engine_close() == 0


class Engine:
    """An engine as in a runtime's Python package, in the current context."""

    def __init__(self, lib, size=SIZE, tag=7):
        self.lib, self.size, self.tag = lib, size, tag
        self.handle = c_void_p()
        assert lib.engine_create(byref(self.handle), size, tag) == 0

    def execute(self, bindings):
        array = (c_uint64 * len(bindings))(*bindings)
        assert self.lib.engine_execute(self.handle, array) == 0

    def execute_async(self, bindings, stream_handle):
        array = (c_uint64 * len(bindings))(*bindings)
        assert self.lib.engine_enqueue(self.handle, array, stream_handle) == 0

    def set_input_shape(self, size):
        assert self.lib.engine_set_size(self.handle, size) == 0

    def set_tensor_address(self, name, address):
        assert self.lib.engine_set_address(self.handle, name.encode(), address) == 0

    def execute_async_v3(self, stream_handle):
        assert self.lib.engine_enqueue_named(self.handle, stream_handle) == 0

    def close(self):
        handle, self.handle = self.handle, None
        if handle:
            assert self.lib.engine_destroy(handle) == 0


class HostDevice:
    """Page-locked memory with its counterpart on the device."""

    def __init__(self, size):
        self.host = cuda.pagelocked_empty(size, np.uint8)
        self.device = cuda.mem_alloc(self.host.nbytes)


def frame(number, size=SIZE):
    return ((np.arange(size) * 7 + number) % 251).astype(np.uint8)


def right(output, number, tag=7, size=SIZE):
    return (output[:size] == frame(number, size)).all() and (
        output[size : 2 * size] == tag
    ).all()


@pytest.fixture
def lent(primary_ctx):
    """As after `import pycuda.autoinit`."""
    _driver._lend_to_threads(primary_ctx)
    yield primary_ctx
    _driver._lend_to_threads(None)


def in_threads(count, function, *arguments):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, *arguments))


class Inference:
    """The usual class, which makes buffers, bindings and a stream once."""

    def __init__(self, lib, size=SIZE, tag=7):
        self.input, self.output = HostDevice(size), HostDevice(2 * size)
        self.engine = Engine(lib, size, tag)
        self.bindings = [int(self.input.device), int(self.output.device)]
        self.stream = cuda.Stream()
        self.tag = tag

    def __call__(self, image):
        np.copyto(self.input.host, image.ravel())
        cuda.memcpy_htod_async(self.input.device, self.input.host, self.stream)
        self.engine.execute_async(self.bindings, self.stream.handle)
        cuda.memcpy_dtoh_async(self.output.host, self.output.device, self.stream)
        self.stream.synchronize()
        return self.output.host.copy()

    def close(self):
        self.engine.close()


def test_1_synchronous(lib, ctx):
    engine = Engine(lib)
    image, output = frame(1), np.empty(2 * SIZE, np.uint8)
    d_input, d_output = cuda.mem_alloc(image.nbytes), cuda.mem_alloc(output.nbytes)
    for number in range(3):
        cuda.memcpy_htod(d_input, frame(number))
        engine.execute([int(d_input), int(d_output)])
        cuda.memcpy_dtoh(output, d_output)
        assert right(output, number)
    # The comparison detects a wrong frame and a wrong tag.
    assert not right(output, 0)
    assert not right(output, 2, tag=8)
    engine.close()
    d_input.free()
    d_output.free()


def test_2_asynchronous(lib, ctx):
    inference = Inference(lib)
    assert all(right(inference(frame(number)), number) for number in range(5))
    inference.close()


def test_3_several_streams(lib, ctx):
    lanes = [Inference(lib, tag=tag) for tag in range(4)]
    for number, lane in enumerate(lanes):
        lane.input.host[:] = frame(number)
        cuda.memcpy_htod_async(lane.input.device, lane.input.host, lane.stream)
        lane.engine.set_tensor_address("input", int(lane.input.device))
        lane.engine.set_tensor_address("output", int(lane.output.device))
        lane.engine.execute_async_v3(stream_handle=lane.stream.handle)
        cuda.memcpy_dtoh_async(lane.output.host, lane.output.device, lane.stream)
    for number, lane in enumerate(lanes):
        lane.stream.synchronize()
        assert right(lane.output.host, number, tag=number)
        lane.close()


def test_4_a_context_in_each_thread(lib, ctx):
    cuda.init()

    class Worker(threading.Thread):
        def __init__(self, tag):
            super().__init__()
            self.tag, self.good = tag, False

        def run(self):
            self.context = cuda.Device(0).make_context()
            inference = Inference(lib, tag=self.tag)
            self.good = all(right(inference(frame(n)), n, self.tag) for n in range(4))
            inference.close()
            del inference
            self.context.pop()
            self.context.detach()

    workers = [Worker(tag) for tag in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.good for worker in workers] == [True] * 3


def test_5_one_context_pushed_around_each_call(lib):
    class Detector:
        def __init__(self):
            self.cfx = cuda.Device(0).make_context()
            self.inference = Inference(lib)
            self.lock = threading.Lock()
            self.cfx.pop()

        def infer(self, number):
            with self.lock:
                self.cfx.push()
                try:
                    return right(self.inference(frame(number)), number)
                finally:
                    self.cfx.pop()

        def destroy(self):
            self.cfx.push()
            self.inference.close()
            del self.inference
            self.cfx.pop()
            self.cfx.detach()

    detector = Detector()
    assert detector.infer(0)
    assert in_threads(4, detector.infer, range(16)) == [True] * 16
    assert cuda.Context.get_current() is None
    detector.destroy()


def test_6_double_buffering(lib, ctx):
    engine = Engine(lib)
    copy, work = cuda.Stream(), cuda.Stream()
    sides = [(HostDevice(SIZE), HostDevice(2 * SIZE)) for _ in range(2)]
    copied = [cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(2)]
    done = [cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(2)]
    good = []
    for number in range(7):
        side = number % 2
        source, target = sides[side]
        if number >= 2:
            done[side].synchronize()
            good.append(right(target.host, number - 2))
        source.host[:] = frame(number)
        cuda.memcpy_htod_async(source.device, source.host, copy)
        copied[side].record(copy)
        work.wait_for_event(copied[side])
        engine.execute_async([int(source.device), int(target.device)], work.handle)
        cuda.memcpy_dtoh_async(target.host, target.device, work)
        done[side].record(work)
    work.synchronize()
    assert good == [True] * 5
    assert right(sides[1][1].host, 5)
    assert right(sides[0][1].host, 6)
    engine.close()


def test_7_dynamic_shapes(lib, ctx):
    engine, stream = Engine(lib, size=SIZE), cuda.Stream()
    d_input = d_output = None
    room = 0
    for number, size in enumerate((64, 1024, 100, SIZE, 1)):
        if size > room:  # grow, as programs do
            for old in (d_input, d_output):
                if old is not None:
                    old.free()
            d_input, d_output = cuda.mem_alloc(size), cuda.mem_alloc(2 * size)
            room = size
        engine.set_input_shape(size)
        host = cuda.pagelocked_empty((2, size), np.uint8)
        cuda.memcpy_htod_async(
            d_input, np.ascontiguousarray(frame(number, size)), stream
        )
        engine.execute_async([int(d_input), int(d_output)], stream.handle)
        cuda.memcpy_dtoh_async(host, d_output, stream)
        stream.synchronize()
        assert right(host.ravel(), number, size=size)
    engine.close()


def test_8_several_engines_in_a_row(lib, ctx):
    """The output of one is the input of the next, on the device."""
    detect, classify = Engine(lib, SIZE, 1), Engine(lib, 2 * SIZE, 2)
    stream = cuda.Stream()
    a, b, c = (cuda.mem_alloc(SIZE * n) for n in (1, 2, 4))
    out = cuda.pagelocked_empty(4 * SIZE, np.uint8)
    cuda.memcpy_htod_async(a, frame(3), stream)
    detect.execute_async([int(a), int(b)], stream.handle)
    classify.execute_async([int(b), int(c)], stream_handle=stream.handle)
    cuda.memcpy_dtoh_async(out, c, stream)
    stream.synchronize()
    assert right(out, 3, tag=1)
    assert (out[2 * SIZE :] == 2).all()
    for engine in (classify, detect):
        engine.close()


def test_9_video_pipeline(lib, lent):
    """A reader, two workers and a writer, joined by queues; nothing is pushed."""
    frames, results = queue.Queue(maxsize=4), queue.Queue()
    written = {}

    def read():
        for number in range(12):
            frames.put((number, frame(number)), timeout=20)
        for _ in range(2):
            frames.put(None, timeout=20)

    def work():
        inference = Inference(lib)
        while (item := frames.get(timeout=20)) is not None:
            results.put((item[0], inference(item[1])))
        inference.close()
        results.put(None)

    def write():
        for _ in range(2):
            while (item := results.get(timeout=20)) is not None:
                written[item[0]] = right(item[1], item[0])

    threads = [threading.Thread(target=body) for body in (read, work, work, write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert written == dict.fromkeys(range(12), True)


def test_10_asyncio(lib, lent):
    inference, lock = Inference(lib), threading.Lock()

    def infer(number):
        with lock:
            return right(inference(frame(number)), number)

    async def main():
        return await asyncio.gather(*(asyncio.to_thread(infer, n) for n in range(8)))

    assert asyncio.run(main()) == [True] * 8
    inference.close()


def test_11_web_server(lib, lent):
    """The model is loaded at the start, requests come in threads of a pool; each of
    them has its buffers."""
    inference, lock = Inference(lib), threading.Lock()
    local = threading.local()

    def handle(number):
        if number % 2:
            with lock:
                return right(inference(frame(number)), number)
        if not hasattr(local, "inference"):
            local.inference = Inference(lib)
        return right(local.inference(frame(number)), number)

    def start_worker():
        assert cuda.Context.get_current() is None

    with ThreadPoolExecutor(3, initializer=start_worker) as pool:
        assert list(pool.map(handle, range(20))) == [True] * 20
    inference.close()
    with pytest.raises(cuda.LogicError, match="no current context"):
        _driver._lend_to_threads(None)
        in_threads(1, HostDevice, [16])


CLEAN_UP = """
    import atexit, sys
    sys.path.insert(0, {test!r})
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as cuda
    from driver.test_inference_programs import Inference, frame, load, right

    lib = load({path!r})

    class Model:
        def __init__(self, name):
            self.name = name
            self.ctx = cuda.Device(0).make_context()
            self.inference = Inference(lib)
            self.ctx.pop()

        def __call__(self, number):
            self.ctx.push()
            try:
                return right(self.inference(frame(number)), number)
            finally:
                self.ctx.pop()

        def __del__(self):
            self.ctx.push()
            self.inference.close()
            del self.inference
            self.ctx.pop()
            print(self.name, "closed")

    {body}
"""


@pytest.mark.parametrize(
    ("body", "out"),
    [
        ("model = Model('a'); print(model(1)); del model", "True\na closed\n"),
        ("model = Model('b'); print(model(1))", "True\nb closed\n"),
        (
            "inference = Inference(lib); print(right(inference(frame(2)), 2));"
            "atexit.register(lambda: (inference.close(), print('at exit')))",
            "True\nat exit\n",
        ),
        (
            "inference = Inference(lib); print(right(inference(frame(2)), 2));"
            "pycuda.autoinit.context.pop(); inference.close()",
            "True\n",
        ),
    ],
)
def test_12_clean_up(lib, body, out):
    """In __del__, also at the end of the interpreter, in atexit, and not at all."""
    test = str(Path(__file__).parents[1])
    code = CLEAN_UP.format(test=test, path=lib._name, body=body)
    assert run_child(code).stdout == out


def test_a_thread_of_c_leaves_nothing_behind(lib, lent):
    """A callback in a thread that Python did not start leaves no current context."""
    seen, current = [], c_void_p(1)

    @ctypes.CFUNCTYPE(None)
    def visit():
        image = HostDevice(16)
        cuda.memcpy_htod(image.device, frame(5, 16))
        cuda.memcpy_dtoh(image.host, image.device)
        seen.append((image.host == frame(5, 16)).all())

    libc = ctypes.CDLL(None)

    class Arguments(ctypes.Structure):
        _fields_ = (("visit", c_void_p), ("current", c_void_p))

    arguments = Arguments(ctypes.cast(visit, c_void_p), ctypes.addressof(current))
    thread = ctypes.c_ulong()
    start = ctypes.cast(lib.engine_thread, c_void_p)
    assert libc.pthread_create(byref(thread), None, start, byref(arguments)) == 0
    assert libc.pthread_join(thread, None) == 0
    assert seen == [True]
    assert current.value is None
    gc.collect()
