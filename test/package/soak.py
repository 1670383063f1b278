#!/usr/bin/env python3
"""Let eight threads do everything at once for minutes. Nothing may fail or grow.

    python test/package/soak.py --minutes 10    as `make soak MINUTES=10` does
    python test/package/soak.py --rounds 3      so many rounds of each thread

Each round of a thread takes all steps below once. Their order depends only on the
numbers of the thread and the round. The measurement begins after a first round of all
threads, so memory that a driver takes once and keeps does not count. At the end, no
handle may be left, and the device must have at least as much free memory as at the
beginning, so no other program may use it. The resident memory of the process may not
rise by more than GROWTH, according to a line through the second half of the samples.
The program exits with 1 and the reasons otherwise. It works on a GPU and on the
software device.
"""

import argparse
import gc
import os
import random
import sys
import threading
import time
import traceback

import numpy as np

import pycuda.driver as drv
from pycuda import _driver

THREADS = 8
#: Bytes. The C library's arenas, one for each thread, fill slowly up to a limit.
GROWTH = 8 << 20
SAMPLE_SECONDS = 1.0
LARGEST = 50000

PTX = b"""
.version 6.4
.target sm_75
.address_size 64
.global .align 4 .b8 table[64];
.visible .entry add(.param .u64 p, .param .u32 n, .param .u32 count) {
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [count];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
    mad.lo.s32 %r6, %r3, %r4, %r5; setp.ge.u32 %p1, %r6, %r2; @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r6, 4; add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, %r1; st.global.u32 [%rd4], %r7;
DONE:
    ret;
}
\0"""


class Wrong(Exception):
    """A step returned a wrong result."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def refuse(kind, function, *arguments, **more):
    try:
        function(*arguments, **more)
    except kind:
        return
    raise Wrong(f"{function} did not raise {kind.__name__}")


class Worker:
    """One thread with its own context, which also uses the shared context in turn."""

    def __init__(self, number, shared):
        self.number, self.shared = number, shared
        self.rounds = 0
        self.failure = None
        self.thread = threading.Thread(target=self.main)

    def main(self):
        try:
            while self.shared.goes_on(self.rounds):
                self.round()
                self.rounds += 1
        except BaseException:
            self.failure = traceback.format_exc()
            self.shared.stop.set()

    def round(self):
        self.random = random.Random(f"{self.number} {self.rounds}")
        steps = [self.steps[name] for name in sorted(self.steps)]
        self.random.shuffle(steps)
        own = self.shared.device.make_context()
        try:
            for step in steps:
                if self.random.random() < 0.5:
                    step(self)
                else:
                    with self.shared.context:
                        step(self)
                    expect(drv.Context.get_current() == own, "another context is left")
        finally:
            own.pop()
            own.detach()

    def size(self):
        return self.random.randint(1, LARGEST)

    def values(self):
        return np.arange(self.size(), dtype=np.uint32) + np.uint32(self.number)

    # -- steps

    def allocate(self):
        blocks = [drv.mem_alloc(self.size()) for _ in range(10)]
        self.random.shuffle(blocks)
        for block in blocks[:5]:
            block.free()
        ring = [blocks.pop()]
        ring.append(ring)

    def copy(self):
        there = self.values()
        first, second = drv.to_device(there), drv.mem_alloc(there.nbytes)
        drv.memcpy_dtod(second, first, there.nbytes)
        back = np.empty_like(there)
        drv.memcpy_dtoh(back, second)
        expect((back == there).all(), "what was copied is not what came back")

    def copy_in_streams(self):
        there = self.values()
        pinned = drv.pagelocked_empty(there.shape, there.dtype)
        back = drv.pagelocked_zeros(there.shape, there.dtype)
        pinned[:] = there
        stream, other, event = drv.Stream(), drv.Stream(), drv.Event()
        memory = drv.mem_alloc(there.nbytes)
        drv.memcpy_htod_async(memory, pinned, stream)
        event.record(stream)
        other.wait_for_event(event)
        drv.memcpy_dtoh_async(back, memory, other)
        other.synchronize()
        expect((back == there).all(), "copies in streams lost something")
        expect(event.query() is True, "an event that was waited for is not there")

    def launch(self):
        function = drv.module_from_buffer(PTX).get_function("add")
        values = self.values()
        count = np.uint32(len(values))
        shape = {"block": (128, 1, 1), "grid": (-(-len(values) // 128), 1)}
        wanted = values + np.uint32(5)
        function(drv.InOut(values), np.uint32(5), count, **shape)
        expect((values == wanted).all(), "a kernel call gave something else")
        memory = drv.to_device(values)
        function.prepare("PII")
        for _ in range(3):
            function.prepared_call(shape["grid"], shape["block"], memory, 2, count)
        back = drv.from_device_like(memory, values)
        expect((back == wanted + np.uint32(6)).all(), "prepared calls did")

    def load(self):
        modules = [drv.module_from_buffer(PTX) for _ in range(3)]
        address, size = modules[1].get_global("table")
        expect(size == 64 and address > 0, "a variable is not where it should be")

    def err(self):
        module = drv.module_from_buffer(PTX)
        function = module.get_function("add")
        refuse(drv.LogicError, drv.mem_alloc, 0)
        refuse(drv.LogicError, module.get_function, "none")
        refuse(drv.Error, drv.module_from_buffer, b"no module\0")
        refuse(TypeError, function, 1, block=(1, 1, 1))
        refuse((ValueError, drv.Error), function, block=(1 << 20, 1, 1))
        block = drv.mem_alloc(64)
        block.free()
        refuse(drv.LogicError, block.free)

    def switch(self):
        contexts = [self.shared.device.make_context() for _ in range(2)]
        kept = drv.mem_alloc(100)
        contexts[0].push()
        stream = drv.Stream()
        drv.Context.pop()
        contexts.pop().detach()
        expect(drv.Context.get_current() == contexts[0], "not the next on the stack")
        drv.Context.pop()
        stream.synchronize()  # in a context that is not current
        contexts[0].detach()
        del kept, stream  # after their contexts

    def pass_on(self):
        """Pass objects of this thread to another one, which releases them."""
        with self.shared.lock:
            given, self.shared.given = self.shared.given, []
        given.clear()
        with self.shared.context:
            fresh = [drv.mem_alloc(self.size()), drv.Stream(), drv.Event()]
        with self.shared.lock:
            self.shared.given = fresh

    def pools(self):
        tools = self.shared.tools
        if not hasattr(tools, "DeviceMemoryPool"):
            return
        pool = tools.DeviceMemoryPool()
        blocks = [pool.allocate(self.size()) for _ in range(10)]
        blocks[3:7] = []
        blocks += [pool.allocate(self.size()) for _ in range(4)]
        host = tools.PageLockedMemoryPool()
        array = host.allocate(self.size(), np.uint8)
        array.fill(self.number)
        expect((array == self.number).all(), "an array of a pool has other values")
        pool.stop_holding()
        host.stop_holding()

    def stream_memory(self):
        if not hasattr(drv, "MemoryPool"):
            return
        pool, stream = drv.MemoryPool(), drv.Stream()
        blocks = [pool.allocate(self.size()) for _ in range(10)]
        drv.memset_d8_async(blocks[0], self.number, 1, stream)
        blocks[:5] = []
        other = drv.mem_alloc_async(self.size(), stream)
        drv.memset_d8(other, 0, 1)
        other.free()
        space = drv.VirtualMemory(1)
        space.map(drv.PhysicalMemory(1))
        drv.memset_d32(space, self.number, 4)
        got = np.zeros(4, np.uint32)
        drv.memcpy_dtoh(got, space)
        expect((got == self.number).all(), "mapped memory has other values")
        pool.trim()

    def capture(self):
        """Capture in a new context: the work of other threads would end a capture."""
        context = self.shared.device.make_context()
        try:
            self.replay(drv.module_from_buffer(PTX).get_function("add"))
        finally:
            context.pop()
            context.detach()

    def replay(self, function):
        values = self.values()
        count = np.uint32(len(values))
        shape = {"block": (128, 1, 1), "grid": (-(-len(values) // 128), 1)}
        back = np.zeros_like(values)
        stream = drv.Stream()
        memory, other = (drv.mem_alloc(values.nbytes) for _ in range(2))
        drv.memcpy_htod(other, values)
        with stream.capture() as graph:
            drv.memcpy_htod_async(memory, values)
            function(memory, np.uint32(7), count, **shape)
            drv.memcpy_dtoh_async(back, memory)
            drv.mem_alloc(100)  # released at the end of the capture
        node = next(node for node in graph.nodes if node.type == "kernel")
        executable = graph.instantiate()
        del memory
        executable.launch(stream)
        stream.synchronize()
        expect((back == values + np.uint32(7)).all(), "a graph gave something else")
        executable.update_node(node, other, np.uint32(8), count)
        del node, other
        executable.update(graph.clone())
        del graph
        executable.launch(stream)
        refuse(drv.LogicError, self.wait_in_a_capture, stream)
        stream.synchronize()
        expect((back == values + np.uint32(7)).all(), "an updated graph did")

    def wait_in_a_capture(self, stream):
        with stream.capture():
            stream.synchronize()

    def nodes(self):
        """Build a graph by hand, of all kinds of nodes that need no new code."""
        function = drv.module_from_buffer(PTX).get_function("add")
        values, seen = self.values(), []
        count = np.uint32(len(values))
        shape = {"block": (128, 1, 1), "grid": (-(-len(values) // 128), 1)}
        memory, stream, event = drv.mem_alloc(values.nbytes), drv.Stream(), drv.Event()
        child, graph = drv.Graph(), drv.Graph()
        if hasattr(drv, "UserObject"):
            graph.retain(drv.UserObject(lambda: None))
        child.add_kernel(function, memory, np.uint32(2), count, **shape)
        node = graph.add_copy(memory, values)
        node = graph.add_kernel(
            function, memory, np.uint32(1), count, after=node, **shape
        )
        node = graph.add_child(child, after=node)
        node = graph.add_host(lambda: seen.append(graph), after=node)  # a cycle
        node = graph.add_event_record(event, after=node)
        graph.add_edge(node, graph.add_empty())
        del child, function
        other = graph.clone().instantiate()
        executable = graph.instantiate()
        for each in (executable, other, executable):
            each.upload(stream)
            each.launch(stream)
        stream.synchronize()
        expect(len(seen) == 3, "a host function was not called each time")
        expect(event.query(), "the event of a graph is not there")
        back = drv.from_device_like(memory, values)
        expect((back == values + np.uint32(3)).all(), "the nodes of a graph did")

    def callbacks(self):
        seen, stream = [], drv.Stream()
        for number in range(5):
            stream.add_callback(seen.append, number)
        with stream:
            drv.launch_host_func(lambda: seen.append(5))
        stream.synchronize()
        expect(seen == [0, 1, 2, 3, 4, 5], "callbacks are lost, or in another order")

    def values_in_memory(self):
        memory = drv.mem_alloc(64)
        drv.memset_d32(memory, 0, 16)
        drv.Context.synchronize()  # the streams below do not wait for the memset
        first, second = (drv.Stream(drv.stream_flags.NON_BLOCKING) for _ in range(2))
        first.write_value(memory, self.number + 1)
        second.wait_value(memory, self.number + 1)
        operation = drv.stream_mem_op
        second.batch_memory_operations(
            [(operation.WRITE_VALUE_32, int(memory) + 4, 9), (operation.BARRIER,)]
        )
        second.synchronize()
        back = np.zeros(2, np.uint32)
        drv.memcpy_dtoh(back, memory)
        expect(back.tolist() == [self.number + 1, 9], "a stream wrote another value")

    def images(self):
        """A texture of several sizes, and a map of tiles."""
        d = drv.ArrayDescriptor3D()
        d.width, d.height, d.depth = 64, 32, 0
        d.format, d.num_channels = drv.array_format.FLOAT, 1
        image = drv.MipmappedArray(d)
        level = image.get_level(image.levels - 2)
        level.set(np.full((1, 2), self.number, np.float32))
        texture = drv.TextureObject(image, normalized_coords=True)
        del image
        expect((level.get() == self.number).all(), "a level has other values")
        texture.free()
        if hasattr(drv, "TensorMap"):
            pitch = drv.mem_alloc(64 * 64 * 4)
            interface = {
                "shape": (64, 64),
                "typestr": "<f4",
                "data": (int(pitch), False),
                "version": 3,
            }
            array = type("Tiles", (), {"__cuda_array_interface__": interface})()
            expect(len(bytes(drv.TensorMap(array, (8, 8)))) == 128, "no tensor map")

    def growing(self):
        """An array that grows, and memory that is named by descriptors of files."""
        from pycuda.gpuarray import GrowableArray

        rows = GrowableArray(max_rows=1 << 22, dtype=np.uint32)
        values = self.values()
        for _ in range(3):
            rows.append(values)
        expect(len(rows) == 3 * len(values), "rows are lost")
        back = np.empty_like(values)
        drv.memcpy_dtoh(back, int(rows.array.gpudata) + values.nbytes)
        expect((back == values).all(), "rows have other values")
        memory, pool = drv.PhysicalMemory(1, ipc=True), drv.MemoryPool(ipc=True)
        for owner, again in (
            (memory, lambda f: drv.PhysicalMemory.from_handle(f, memory.size)),
            (pool, drv.MemoryPool.from_handle),
        ):
            file = owner.export_handle()
            again(file)
            os.close(file)

    def foreign(self):
        """Wrap handles as those of another library."""
        function = drv.module_from_buffer(PTX).get_function("add")
        stream, event = drv.Stream(), drv.Event()
        wrapped = drv.Stream.from_handle(stream.handle, stream)
        values = self.values()
        memory = drv.to_device(values)
        shape = {"block": (128, 1, 1), "grid": (-(-len(values) // 128), 1)}
        again = drv.Function.from_handle(function.handle, function)
        del function
        again(memory, np.uint32(1), np.uint32(len(values)), stream=wrapped, **shape)
        event.record(wrapped)
        drv.Event.from_handle(event.handle, event).synchronize()
        tensor = drv.from_dlpack(memory.as_dlpack(values.shape, values.dtype))
        back = np.empty_like(values)
        drv.memcpy_dtoh(back, tensor)
        expect((back == values + np.uint32(1)).all(), "a wrapped kernel did")

    def managed(self):
        attach = drv.mem_attach_flags.GLOBAL
        array = drv.managed_empty(self.size(), np.uint32, mem_flags=attach)
        array[:] = self.number
        drv.mem_advise(array, drv.mem_advice.SET_READ_MOSTLY)
        drv.mem_prefetch(array)
        drv.Context.synchronize()
        what = drv.mem_range_attribute.READ_MOSTLY
        expect(drv.mem_range_get_attribute(array, what) == 1, "advice was lost")
        expect((array == self.number).all(), "managed memory has other values")

    def exchange(self):
        """Exchange an array with this thread alone, if NCCL is installed."""
        from pycuda import gpuarray

        nccl = self.shared.nccl
        if nccl is None:
            return
        primary = self.shared.device.retain_primary_context()
        try:
            with primary, nccl.Communicator(1, nccl.unique_id(), 0) as comm:
                values = self.values()
                array = gpuarray.to_gpu(values)
                with nccl.group():
                    array = comm.all_reduce(array, op="max")
                expect((array.get() == values).all(), "an exchange lost something")
                del array
        finally:
            primary.detach()

    steps = {
        function.__name__: function
        for function in (
            *(allocate, copy, copy_in_streams, launch, load, err, switch, pass_on),
            *(pools, stream_memory, capture, nodes, callbacks, values_in_memory),
            *(images, growing, foreign, managed, exchange),
        )
    }


class Soak:
    """The shared objects of the threads, and the checks before and after."""

    def __init__(self, minutes, rounds):
        import pycuda.tools
        from pycuda import nccl

        self.tools = pycuda.tools
        self.rounds = rounds
        self.deadline = None if rounds else time.monotonic() + 60 * minutes
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.given = []
        self.device = drv.Device(0)
        self.context = self.device.make_context()
        drv.Context.pop()
        self.samples = []
        self.nccl = nccl if nccl_works(nccl) else None

    def goes_on(self, rounds):
        if self.stop.is_set():
            return False
        return rounds < self.rounds if self.rounds else time.monotonic() < self.deadline

    def look(self):
        gc.collect()
        with self.context:
            free = drv.mem_get_info()[0]
        return {"handles": _driver._live_counts(), "free bytes": free}

    def work(self):
        """Let the threads do their rounds. Return the workers."""
        workers = [Worker(number, self) for number in range(THREADS)]
        for worker in workers:
            worker.thread.start()
        for worker in workers:
            while worker.thread.is_alive():
                worker.thread.join(SAMPLE_SECONDS)
                self.samples.append(resident())
        self.given = []
        return workers

    def run(self):
        """Run the soak. Return the list of errors."""
        first, self.rounds = self.rounds, 1
        wrong = [worker.failure for worker in self.work() if worker.failure]
        self.rounds, self.samples = first, []
        before = self.look()
        workers = self.work()
        wrong += [worker.failure for worker in workers if worker.failure]
        after = self.look()
        self.context.detach()
        done = sum(worker.rounds for worker in workers)
        print(f"{done} rounds, {done * len(Worker.steps)} steps, {len(wrong)} failures")
        if before["handles"] != after["handles"]:
            wrong.append(f"handles: {before['handles']} became {after['handles']}")
        if before["free bytes"] > after["free bytes"]:
            wrong.append(
                f"free bytes: {before['free bytes']} became {after['free bytes']}"
            )
        if not self.rounds:
            wrong += self.grown()
        return wrong

    def grown(self):
        half = self.samples[len(self.samples) // 2 :]
        if len(half) < 10:
            return [f"{len(half)} samples are too few to say whether memory grows"]
        slope = np.polyfit(np.arange(len(half)), half, 1)[0]
        rise = int(slope * len(half))
        print(f"resident: {half[-1] >> 20} MiB, risen by {rise >> 10} KiB in the end")
        if rise <= GROWTH:
            return []
        return [f"resident memory rose by {rise} bytes, more than {GROWTH}"]


def nccl_works(nccl):
    """Return whether exchanges are possible. NVIDIA's library needs NVIDIA's driver."""
    if _driver._is_emulated() and not os.environ.get("PYCUDA_NCCL"):
        return False
    try:
        nccl.version()
    except drv.RuntimeError:
        return False
    return True


def resident():
    """Return the resident memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--rounds", type=int, help="of each thread; no time then")
    args = p.parse_args(argv)
    drv.init()
    wrong = Soak(args.minutes, args.rounds).run()
    for what in wrong:
        print(what, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
