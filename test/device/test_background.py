"""Kernels that wait for the host, or for a kernel of another stream.

A launch returns while such a kernel runs. Each program runs in a child, so a launch
that hangs fails its test.
"""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc
from support.emulator import PATH

pytestmark = [pytest.mark.gpu, needs_nvcc]

PREPARE = r"""
import signal, threading, time
from ctypes import c_uint64, c_void_p
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
from support.capture import driver

module = SourceModule('''
extern "C" {
__global__ void wait_for(volatile int *flag, int value, int *out)
{
    while (*flag != value);
    *out = value;
}
__global__ void give(volatile int *flag, int value) { *flag = value; }
__global__ void serve(volatile int *request, volatile int *answer, int last)
{
    for (int i = 1; i <= last; i++) {
        while (*request != i);
        *answer = 3 * i;
        __threadfence_system();
    }
}
__global__ void produce(volatile int *box, int count)
{
    for (int i = 1; i <= count; i++) {
        while (box[0] != 0);
        box[0] = i;
    }
}
__global__ void consume(volatile int *box, int count, int *sum)
{
    int total = 0;
    for (int i = 1; i <= count; i++) {
        int got;
        while ((got = box[0]) == 0);
        total += got;
        box[0] = 0;
    }
    *sum = total;
}
__global__ void add(int *out, int n) { *out += n; }
__global__ void one_waits(volatile int *flag, int which, int *out)
{
    if (blockIdx.x == which) while (*flag == 0);
    if (threadIdx.x == 0) atomicAdd(out, 1);
}
__global__ void count(int *out, int rounds)
{
    int last = 0;
    for (int i = 0; i < rounds; i++) if ((i * 7 + threadIdx.x) != ~0u) last = i;
    if (threadIdx.x == 0 && blockIdx.x == 0) *out += last;
}
}
''', no_extern_c=True)
kernel = module.get_function
one = dict(block=(1, 1, 1), grid=(1, 1))

def shared(count=16):
    array = drv.pagelocked_zeros(count, np.int32,
                                 mem_flags=drv.host_alloc_flags.DEVICEMAP)
    return array, np.uint64(array.base.get_device_pointer())

def zeros(count=16):
    memory = drv.mem_alloc(4 * count)
    drv.memset_d32(memory, 0, count)
    return memory

def value(memory):
    found = np.empty(1, np.int32)
    drv.memcpy_dtoh(found, memory)
    return int(found[0])

def timed(call, *arguments, **options):
    begin = time.monotonic()
    call(*arguments, **options)
    return time.monotonic() - begin

flag, at = shared()
out = zeros()
stream = drv.Stream()
"""


def run(code, **environment):
    run_child(PREPARE + code, timeout=60, PYTHONPATH=PATH, **environment)


@pytest.mark.parametrize("streams", ["eager", "late"])
@pytest.mark.parametrize("stream", ["None", "drv.Stream()"])
def test_a_flag_in_page_locked_memory(stream, streams):
    run(
        f"""
stream = {stream}
assert timed(kernel("wait_for"), at, np.int32(5), out, stream=stream, **one) < 1
kernel("add")(out, np.int32(2), stream=stream, **one)
event = drv.Event().record(stream)
assert not event.query()
flag[0] = 5
event.synchronize()
assert event.query()
assert value(out) == 7
""",
        PYCUDA_EMULATOR_STREAMS=streams,
    )


def test_a_mailbox_with_many_requests():
    run(
        """
request, to = shared()
answer, back = shared()
kernel("serve")(to, back, np.int32(1000), **one)
for i in range(1, 1001):
    request[0] = i
    while answer[0] != 3 * i:
        pass
drv.Context.synchronize()
"""
    )


@pytest.mark.parametrize("streams", ["eager", "late"])
def test_kernels_of_two_streams_that_wait_for_each_other(streams):
    run(
        """
first, second = drv.Stream(), drv.Stream()
box, sum = zeros(), zeros()
kernel("consume")(box, np.int32(50), sum, stream=first, **one)
kernel("produce")(box, np.int32(50), stream=second, **one)
first.synchronize()
assert value(sum) == 50 * 51 // 2
""",
        PYCUDA_EMULATOR_STREAMS=streams,
    )


def test_work_of_the_default_stream_comes_in_the_order_of_the_calls():
    run(
        """
other = zeros()
kernel("wait_for")(at, np.int32(1), out, **one)
kernel("wait_for")(out, np.int32(1), other, stream=stream, **one)
kernel("add")(other, np.int32(1), **one)
kernel("wait_for")(other, np.int32(2), out, stream=stream, **one)
flag[0] = 1
drv.Context.synchronize()
assert (value(out), value(other)) == (2, 2)
"""
    )


def test_an_executable_graph_is_updated_while_it_runs():
    run(
        """
def record(number):
    stream = drv.Stream()
    with stream.capture() as graph:
        kernel("wait_for")(at, np.int32(number), out, stream=stream, **one)
        kernel("add")(out, np.int32(10), stream=stream, **one)
    return graph

graph = record(1).instantiate()
assert timed(graph.launch, stream) < 1
graph.update(record(2))
graph.launch(stream)
assert not stream.is_done()
flag[0] = 1
time.sleep(0.2)
assert not stream.is_done()
flag[0] = 2
stream.synchronize()
assert value(out) == 12
"""
    )


def test_a_thread_enqueues_while_a_kernel_waits():
    run(
        """
context = pycuda.autoinit.context

def work():
    context.push()
    for _ in range(200):
        kernel("add")(out, np.int32(1), stream=stream, **one)
    context.pop()

kernel("wait_for")(at, np.int32(1), out, stream=stream, **one)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
flag[0] = 1
stream.synchronize()
assert value(out) == 601
"""
    )


@pytest.mark.software(why="a GPU's kernel goes on after Ctrl-C")
def test_ctrl_c_ends_the_wait_and_the_kernel():
    run(
        """
kernel("wait_for")(at, np.int32(1), out, stream=stream, **one)
threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
begin = time.monotonic()
try:
    stream.synchronize()
except KeyboardInterrupt:
    assert time.monotonic() - begin < 5
else:
    raise SystemExit("not interrupted")
assert value(out) == 0
kernel("add")(out, np.int32(4), stream=stream, **one)
stream.synchronize()
assert value(out) == 4
"""
    )


def test_kernels_that_wait_for_each_other_for_ever():
    """The counterpart of the producer and the consumer: nobody gives."""
    run(
        """
first, second = drv.Stream(), drv.Stream()
box, sum = zeros(), zeros()
kernel("consume")(box, np.int32(50), sum, stream=first, **one)
kernel("consume")(box, np.int32(50), sum, stream=second, **one)
try:
    first.synchronize()
except drv.LaunchError as error:
    assert "deadlock: all blocks" in str(error), error
    assert "in kernel consume" in str(error), error
else:
    raise SystemExit("no error")
import os
os._exit(0)
"""
    )


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_blocks_of_all_workers_go_on(threads):
    """Also if only those of a worker thread wait. The counterpart is the sum before."""
    run(
        """
other = zeros()
for which in 0, 1, 63:
    flag[0] = 0
    drv.memset_d32(out, 0, 16)
    kernel("one_waits")(at, np.int32(which), out, block=(32, 1, 1), grid=(64, 1))
    event = drv.Event().record()
    time.sleep(0.05)
    assert not event.query()
    flag[0] = 1
    assert value(out) == 64
    assert event.query()
kernel("count")(out, np.int32(1 << 17), block=(64, 1, 1), grid=(64, 1))
assert value(out) == 64 + (1 << 17) - 1
""",
        PYCUDA_EMULATOR_THREADS=threads,
    )


def test_which_calls_wait_for_a_kernel():
    """As recorded on an H200."""
    run(
        """
memory, late = zeros(), zeros()
host = np.zeros(16, np.int32)
context = pycuda.autoinit.context
other = drv.Stream()
second = SourceModule('__global__ void k() {}')

def waits(call):
    flag[0] = 0
    kernel("wait_for")(at, np.int32(1), out, stream=stream, **one)
    def work():
        context.push()
        call()
        context.pop()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(0.3)
    waited = thread.is_alive()
    flag[0] = 1
    thread.join(20)
    assert not thread.is_alive()
    stream.synchronize()
    return waited

assert not waits(lambda: drv.Event().record(stream).query())
kept = []
assert not waits(lambda: kept.append(drv.mem_alloc(1 << 20)))
assert not waits(other.synchronize)
assert not waits(lambda: drv.memset_d32(late, 0, 16))
assert not waits(lambda: drv.memcpy_htod_async(memory, host, other))
assert waits(lambda: drv.memcpy_htod(late, host))
assert waits(lambda: drv.memcpy_dtoh_async(host, late, stream))
assert waits(memory.free)
assert waits(context.synchronize)
assert waits(stream.synchronize)
assert waits(drv.Event().record(stream).synchronize) is False  # recorded before
assert waits(lambda: drv.Event().record(stream).synchronize())
"""
    )


def test_streams_and_graphs_that_end_while_a_kernel_runs():
    run(
        """
d = driver()
stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
other = drv.Stream()
with other.capture() as graph:
    kernel("wait_for")(at, np.int32(1), out, stream=other, **one)
    kernel("add")(out, np.int32(10), stream=other, **one)
exec = c_void_p(d.out(c_void_p, "GraphInstantiateWithFlags", c_void_p(graph.handle),
                      c_uint64(0)))
d.ok("GraphLaunch", exec, stream)
d.ok("GraphLaunch", exec, stream)
event = drv.Event()
d.ok("EventRecord", c_void_p(event.handle), stream)
d.ok("GraphExecDestroy", exec)
d.ok("StreamDestroy", stream)
assert d.GraphLaunch(exec, None) != 0
assert not event.query()
flag[0] = 1
event.synchronize()
assert value(out) == 11
"""
    )


def test_a_graph_runs_once_at_a_time():
    """A second launch in another stream returns and comes behind the first one."""
    run(
        """
streams = [drv.Stream(drv.stream_flags.NON_BLOCKING) for _ in range(2)]
with streams[0].capture() as graph:
    kernel("add")(out, np.int32(10), stream=streams[0], **one)
    kernel("wait_for")(at, np.int32(1), at + np.uint64(4), stream=streams[0], **one)
exec = graph.instantiate()
for stream in streams:
    assert timed(exec.launch, stream) < 1
assert not any(stream.is_done() for stream in streams)
found = drv.pagelocked_zeros(1, np.int32)
third = drv.Stream(drv.stream_flags.NON_BLOCKING)
end = time.monotonic() + 20
while found[0] == 0 and time.monotonic() < end:  # the first launch begins
    drv.memcpy_dtoh_async(found, out, third)
    third.synchronize()
assert found[0] == 10
flag[0] = 1
streams[1].synchronize()
assert all(stream.is_done() for stream in streams)
assert value(out) == 20
"""
    )


def test_a_loop_of_a_graph_waits():
    """A conditional node whose body waits in each round."""
    run(
        """
graph = drv.Graph()
handle = graph.condition(1, reset=True)
body = graph.add_while(handle).bodies[0]
setter = SourceModule('''
extern "C" __device__ void cudaGraphSetConditional(unsigned long long, unsigned int);
extern "C" __global__ void next(volatile int *flag, int *out, unsigned long long handle)
{
    int round = ++*out;
    while (*flag < round);
    cudaGraphSetConditional(handle, round < 3);
}''', no_extern_c=True).get_function("next")
body.add_kernel(setter, at, out, handle, **one)
graph.add_kernel(kernel("add"), out, np.int32(10), after=graph.nodes, **one)
exec = graph.instantiate()
assert timed(exec.launch, stream) < 1
for round in 1, 2:
    flag[0] = round
    time.sleep(0.1)
    assert not stream.is_done()
flag[0] = 3
stream.synchronize()
assert value(out) == 13
"""
    )


def test_a_graph_of_many_kernels():
    """Each node is short. The launch returns before all of them have run."""
    run(
        """
graph = drv.Graph()
for i in range(100):
    before = graph.nodes[-1:]
    graph.add_kernel(kernel("count"), out, np.int32(20000), after=before, **one)
exec = graph.instantiate()
begin = time.monotonic()
delay = timed(exec.launch, stream)
assert not stream.is_done()
stream.synchronize()
assert delay < (time.monotonic() - begin) / 2
assert value(out) == 100 * 19999
"""
    )


def test_a_loop_of_a_graph_whose_kernels_are_short():
    """The loop ends when the host writes a flag; its kernel reads it once a round."""
    run(
        """
graph = drv.Graph()
handle = graph.condition(1, reset=True)
body = graph.add_while(handle).bodies[0]
reader = SourceModule('''
extern "C" __device__ void cudaGraphSetConditional(unsigned long long, unsigned int);
extern "C" __global__ void look(volatile int *flag, int *out, unsigned long long handle)
{
    ++*out;
    cudaGraphSetConditional(handle, *flag == 0);
}''', no_extern_c=True).get_function("look")
body.add_kernel(reader, at, out, handle, **one)
graph.add_kernel(kernel("add"), out, np.int32(1 << 30), after=graph.nodes, **one)
exec = graph.instantiate()
assert timed(exec.launch, stream) < 1
assert not stream.is_done()
flag[0] = 1
stream.synchronize()
assert value(out) > 1 << 30
"""
    )


@pytest.mark.parametrize("streams", ["eager", "late"])
def test_waits_for_a_value(streams):
    """In the default stream and in a graph, where a GPU waits for it, too."""
    run(
        """
null = drv.Stream.from_handle(1)
assert timed(null.wait_value, at, 1) < 1
kernel("add")(out, np.int32(2), **one)
event = drv.Event().record()
assert not event.query()
flag[0] = 1
event.synchronize()
assert value(out) == 2

with stream.capture() as graph:
    stream.wait_value(at, 5)
    kernel("add")(out, np.int32(3), stream=stream, **one)
exec = graph.instantiate()
assert timed(exec.launch, stream) < 1
assert not stream.is_done()
flag[0] = 5
stream.synchronize()
assert value(out) == 5
""",
        PYCUDA_EMULATOR_STREAMS=streams,
    )


def test_faults_behind_a_kernel_that_waits():
    """The next call that waits raises the report."""
    run(
        """
for wrong in False, True:
    flag[0] = 0
    kernel("wait_for")(at, np.int32(1), out, stream=stream, **one)
    there = np.uint64(int(out) + (wrong << 40))
    kernel("add")(there, np.int32(1), stream=stream, **one)
    flag[0] = 1
    try:
        stream.synchronize()
        assert not wrong
    except drv.Error as error:
        assert wrong and "in kernel add, block (0, 0, 0)" in str(error), error
import os
os._exit(0)
"""
    )


def test_memory_and_host_functions_behind_a_kernel_that_waits():
    run(
        """
memory = drv.mem_alloc_async(64, stream)
said = []
kernel("wait_for")(at, np.int32(1), out, stream=stream, **one)
assert timed(memory.free, stream) < 1
stream.add_callback(lambda *arguments: said.append("called"))
time.sleep(0.1)
assert not said and not stream.is_done()
flag[0] = 1
stream.synchronize()
assert said == ["called"]
"""
    )
