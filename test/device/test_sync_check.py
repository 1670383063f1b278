"""The check ``sync``: streams, and the host, that do not wait for each other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = Path(__file__).resolve().parents[1]

START = """
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
from ctypes import c_uint64 as u64, c_void_p
from support.emulator import Driver

SOURCE = '''
__global__ void fill(int *x, int first, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = first + i;
}
__global__ void twice(int *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] *= 2;
}
__global__ void even(int *x, int odd)
{
    x[2 * threadIdx.x + odd] = 1;
}
__global__ void count(int *x)
{
    atomicAdd(x, 1);
}
__global__ void stripes(int *x, int odd, int more)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[2 * i + odd] = 1;
    if (i == more) x[2 * i + 1 - odd] = 1;
}
__global__ void copy_back(int *to, const int *from, const int *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[at[i]];
}
'''
module = SourceModule(SOURCE)
fill, twice = module.get_function("fill"), module.get_function("twice")
even, count = module.get_function("even"), module.get_function("count")
N, n, zero = 1000, np.int32(1000), np.int32(0)
block = (256, 1, 1)
memory = drv.mem_alloc(4 * N)
page = drv.pagelocked_empty(N, np.int32)
page[:] = 0
both = drv.managed_empty(N, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
both[:] = 0
address = np.intp(both.ctypes.data)
s, t, free = drv.Stream(), drv.Stream(), drv.Stream(drv.stream_flags.NON_BLOCKING)
event = drv.Event()
other = np.empty(N, np.int32)
device = Driver()


def found(words):
    try:
        drv.Context.synchronize()
    except drv.LaunchError as error:
        text = str(error)
        assert "sync: " in text, text
        for word in words:
            assert word in text, (word, text)
        print("found")
    else:
        print("nothing")
    sys.stdout.flush()
"""


def run(code, words=(), check="sync", **environment):
    """Run code behind START; say what the check found."""
    program = START + code + f"\nfound({list(words)!r})\n"
    environment = {
        **os.environ,
        "PYTHONPATH": f"{TEST.parent}{os.pathsep}{TEST}",
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_CHECK": check,
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout in ("found\n", "nothing\n"), done.stdout + done.stderr
    return done.stdout.strip()


#: name: the program, the words of the report, the change that repairs the program.
FAULTS = {
    "read before the copy": (
        "fill(memory, zero, n, block=block, stream=s)\n"
        "drv.memcpy_dtoh_async(page, memory, s)\n"
        "WAIT\n"
        "page[7]",
        ["the host reads byte 28 of the 4000-byte page-locked", "cuMemcpyDtoHAsync"],
        "s.synchronize()",
    ),
    "read before the copy in the null stream": (
        "drv.memcpy_dtoh_async(page, memory)\nWAIT\npage.sum()",
        ["the host reads byte 0 ", "cuMemcpyDtoHAsync writes"],
        "drv.Context.synchronize()",
    ),
    "write during the copy": (
        "drv.memcpy_htod_async(memory, page, s)\nWAIT\npage[999] = 1",
        ["the host writes byte 3996 ", "cuMemcpyHtoDAsync reads"],
        "event.record(s); event.synchronize()",
    ),
    "managed memory during a kernel": (
        "fill(address, zero, n, block=block, stream=s)\nWAIT\nboth[3]",
        ["the host reads byte 12 of the 4000-byte managed", "kernel fill writes"],
        "s.synchronize()",
    ),
    "managed memory during a kernel of the null stream": (
        "fill(address, zero, n, block=block)\nWAIT\nboth[3] = 1",
        ["the host writes byte 12 of the 4000-byte managed", "kernel fill writes"],
        "drv.Context.synchronize()",
    ),
    "two kernels": (
        "fill(memory, zero, n, block=block, stream=s)\n"
        "WAIT\n"
        "twice(memory, n, block=block, stream=t)",
        [
            "kernel twice",
            "kernel fill in another stream writes",
            "neither stream waits",
        ],
        "event.record(s); t.wait_for_event(event)",
    ),
    "a copy that does not wait": (
        "fill(memory, zero, n, block=block, stream=s)\n"
        "WAIT\n"
        "drv.memcpy_dtoh_async(page, memory, t)",
        ["cuMemcpyDtoHAsync reads byte 0", "kernel fill in another stream writes"],
        "event.record(s); t.wait_for_event(event)",
    ),
    "a stream that waits for no null stream": (
        "fill(memory, zero, n, block=block)\n"
        "WAIT\n"
        "twice(memory, n, block=block, stream=free)",
        ["kernel twice", "kernel fill in another stream writes"],
        "drv.Context.synchronize()",
    ),
    "an event recorded too early": (
        "event.record(s)\n"
        "fill(memory, zero, n, block=block, stream=s)\n"
        "WAIT\n"
        "t.wait_for_event(event)\n"
        "twice(memory, n, block=block, stream=t)",
        ["kernel twice", "kernel fill in another stream writes"],
        "event.record(s)",
    ),
    "page-locked memory freed too early": (
        "drv.memcpy_htod_async(memory, page, s)\nWAIT\npage.base.free()",
        ["page-locked memory is freed while cuMemcpyHtoDAsync uses it"],
        "s.synchronize()",
    ),
    "freed in another stream": (
        "block_of = drv.mem_alloc_async(4 * N, s)\n"
        "s.synchronize()\n"
        "fill(np.intp(int(block_of)), zero, n, block=block, stream=t)\n"
        "WAIT\n"
        "device.ok('MemFreeAsync', u64(int(block_of)), c_void_p(s.handle))",
        ["cuMemFreeAsync frees byte 0", "kernel fill in another stream writes"],
        "event.record(t); s.wait_for_event(event)",
    ),
    "a graph": (
        "with s.capture() as graph:\n"
        "    fill(memory, zero, n, block=block, stream=s)\n"
        "executable = graph.instantiate()\n"
        "executable.launch(s)\n"
        "WAIT\n"
        "drv.memcpy_dtoh_async(page, memory, t)",
        ["cuGraphLaunch in another stream writes", "cuMemcpyDtoHAsync reads"],
        "s.synchronize()",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name):
    code, words, _ = FAULTS[name]
    assert run(code.replace("WAIT", "pass"), words) == "found"


#: Work that runs when it is enqueued, and reads what a kernel that a stream still keeps
#: must write first: what the program does before that kernel, and the work.
EARLIER = {
    "a launch": ("", "copy_back(third, third, memory, block=block)"),
    "a graph": (
        "with s.capture() as graph:\n"
        "    copy_back(third, third, memory, block=block, stream=s)\n"
        "executable = graph.instantiate()\n",
        "executable.launch(s)",
    ),
    "a copy in a graph": (
        "with s.capture() as graph:\n"
        "    drv.memcpy_dtod_async(second, memory, 4 * N, s)\n"
        "    copy_back(third, third, second, block=block, stream=s)\n"
        "executable = graph.instantiate()\n",
        "executable.launch(s)",
    ),
    "a copy": (
        "",
        "drv.memcpy_dtod(second, memory, 4 * N)\n"
        "copy_back(third, third, second, block=block)",
    ),
}
REPORT = """
try:
    exec(work)
    event.record(t)  # it runs no work that streams keep
except drv.LaunchError as error:
    assert "sync: " in str(error), error
"""


@pytest.mark.parametrize("name", EARLIER)
def test_a_missing_wait_is_no_uninitialised_read(name):
    """With ``init`` too, the report names the missing wait instead of its effect."""
    before, work = EARLIER[name]
    kernel = "fill(memory, zero, n, block=block, stream=free)\n"
    code = (
        "copy_back = module.get_function('copy_back')\n"
        "second, third = drv.mem_alloc(4 * N), drv.mem_alloc(4 * N)\n"
        f"drv.memset_d8(third, 0, 4 * N)\n{before}{kernel}work = {work!r}\n{REPORT}"
    )
    words = ["kernel fill in another stream writes", "neither stream waits"]
    assert run(code, words, check="init,sync") == "found"
    waits = code.replace(kernel, kernel + "free.synchronize()\n")
    assert run(waits, check="init,sync") == "nothing"


def test_the_same_programs_that_wait():
    """They run in one process."""
    for code, _, wait in FAULTS.values():
        code = code.replace("WAIT", wait)
        if "free" in code:
            assert run(code) == "nothing", code
    codes = [
        code.replace("WAIT", wait) + "\ndrv.Context.synchronize()"
        for code, _, wait in FAULTS.values()
        if "free" not in code.replace("stream=free", "")
    ]
    assert run("\n".join(codes)) == "nothing"


#: Graphs with two nodes that use the same bytes: the program, the words of the report,
#: and the edge that orders them, in place of EDGE.
GRAPHS = {
    "two kernels": (
        "one = graph.add_kernel(fill, memory, zero, n, block=block)\n"
        "graph.add_kernel(twice, memory, n, block=block, after=EDGE)",
        ["kernel twice writes byte 0 of the 4000-byte", "which kernel fill writes"],
        "one",
    ),
    "two kernels behind a third": (
        "first = graph.add_kernel(fill, memory, zero, n, block=block)\n"
        "one = graph.add_kernel(twice, memory, n, block=block, after=first)\n"
        "graph.add_kernel(even, memory, zero, block=block, after=[first, *EDGE])",
        ["kernel even writes byte 0", "kernel twice reads; no edges of the graph"],
        "[one]",
    ),
    "a copy and a kernel": (
        "one = graph.add_kernel(fill, memory, zero, n, block=block)\n"
        "graph.add_copy(page, memory, after=EDGE)",
        ["a copy reads byte 0 of the 4000-byte", "kernel fill writes"],
        "one",
    ),
    "two copies": (
        "one = graph.add_copy(memory, page)\n"
        "graph.add_copy(second, memory, after=EDGE)",
        ["a copy reads byte 0 of the 4000-byte", "which a copy writes"],
        "one",
    ),
    "a fill and a kernel": (
        "one = graph.add_set(memory, 7, N, 4)\n"
        "graph.add_kernel(even, memory, zero, block=block, after=EDGE)",
        ["kernel even writes byte 0", "which a fill writes"],
        "one",
    ),
    "a child graph": (
        "inner = drv.Graph()\n"
        "inner.add_kernel(twice, memory, n, block=block)\n"
        "one = graph.add_child(inner)\n"
        "graph.add_kernel(even, memory, zero, block=block, after=EDGE)",
        ["kernel even writes byte 0", "a child graph reads"],
        "one",
    ),
    "inside of a child graph": (
        "inner = drv.Graph()\n"
        "one = inner.add_kernel(twice, memory, n, block=block)\n"
        "inner.add_kernel(even, memory, zero, block=block, after=EDGE)\n"
        "graph.add_child(inner)",
        ["kernel even writes byte 0", "kernel twice reads"],
        "one",
    ),
    "a capture": (
        "with s.capture(graph):\n"
        "    fork = drv.Event().record(s)\n"
        "    t.wait_for_event(fork)\n"
        "    twice(memory, n, block=block, stream=t)\n"
        "    join = drv.Event().record(t)\n"
        "    if EDGE:\n"
        "        s.wait_for_event(join)\n"
        "    even(memory, zero, block=block, stream=s)\n"
        "    s.wait_for_event(join)",
        ["kernel even writes byte 0", "kernel twice reads"],
        "True",
    ),
}
GRAPH = "graph, second = drv.Graph(), drv.mem_alloc(4 * N)\nNODES\n"
LAUNCH = "executable = graph.instantiate()\nexecutable.launch(s)"


@pytest.mark.parametrize("name", GRAPHS)
def test_nodes_that_no_edges_order(name):
    nodes, words, edge = GRAPHS[name]
    nodes = nodes.replace("EDGE", "False" if edge == "True" else "()")
    assert run(GRAPH.replace("NODES", nodes) + LAUNCH, words) == "found"


def test_the_lines_of_nodes():
    nodes = GRAPHS["two kernels"][0].replace("EDGE", "()")
    code = GRAPH.replace("NODES", nodes)
    line = (START + code).count("\n")
    words = [
        f"kernel twice at <string>:{line}",
        f"kernel fill at <string>:{line - 1}",
        f"launched at <string>:{line + 2}",
        "the memory was allocated at <string>:",
    ]
    assert run(code + LAUNCH, words) == "found"


#: Graphs in which nodes without edges between them may run at the same time.
SIDE_BY_SIDE = [
    "graph.add_kernel(even, memory, zero, block=block)\n"
    "graph.add_kernel(even, memory, np.int32(1), block=block)",
    "graph.add_kernel(count, memory, block=block)\n"
    "graph.add_kernel(count, memory, block=block)",
    "graph.add_copy(page, memory)\ngraph.add_copy(second, memory)",
    "graph.add_set(memory, 7, N, 4)\ngraph.add_set(memory, 7, N, 4)",
    "one = graph.add_kernel(fill, memory, zero, n, block=block)\n"
    "two = graph.add_kernel(fill, second, zero, n, block=block)\n"
    "ends = [graph.add_kernel(twice, x, n, block=block, after=[one, two])"
    " for x in (memory, second)]\n"
    "graph.add_copy(second, memory, after=graph.add_empty(after=ends))",
    "one = graph.add_set(memory, 7, N, 4)\n"
    "two = graph.add_kernel(even, memory, zero, block=block, after=one)\n"
    "two.disable() if hasattr(two, 'disable') else None",
]


def test_nodes_that_may_run_at_the_same_time():
    right = [nodes.replace("EDGE", edge) for nodes, _, edge in GRAPHS.values()]
    codes = [GRAPH.replace("NODES", nodes) + LAUNCH for nodes in right + SIDE_BY_SIDE]
    assert run("\ndrv.Context.synchronize()\n".join(codes)) == "nothing"


def test_a_graph_as_a_whole_uses_what_its_nodes_do():
    code = (
        GRAPH.replace("NODES", SIDE_BY_SIDE[0])
        + LAUNCH
        + "\ndrv.memcpy_dtoh_async(page, memory, t)"
    )
    words = ["cuGraphLaunch in another stream writes", "cuMemcpyDtoHAsync reads"]
    assert run(code, words) == "found"


#: Programs in which a stream waits for a value before another stream's write of it is
#: enqueued: BEFORE stands where the work is that the write makes visible, AFTER behind
#: the write. The words of the report if WORK is AFTER.
VALUES = {
    "a copy": (
        "consumer.wait_value(flag, 1)\n"
        "drv.memcpy_dtoh_async(page, memory, consumer)\n"
        "BEFORE\n"
        "producer.write_value(flag, 1)\n"
        "AFTER",
        "drv.memset_d32_async(memory, 5, N, producer)",
        ["cuMemcpyDtoHAsync in another stream reads", "cuMemsetD32Async writes"],
    ),
    "a kernel": (
        "consumer.wait_value(flag, 1)\n"
        "twice(memory, n, block=block, stream=consumer)\n"
        "BEFORE\n"
        "producer.write_value(flag, 1)\n"
        "AFTER",
        "fill(memory, zero, n, block=block, stream=producer)",
        ["kernel twice in another stream reads", "kernel fill writes"],
    ),
    "an event behind the wait": (
        "consumer.wait_value(flag, 1)\n"
        "event.record(consumer)\n"
        "s.wait_for_event(event)\n"
        "drv.memcpy_dtoh_async(page, memory, s)\n"
        "BEFORE\n"
        "producer.write_value(flag, 1)\n"
        "AFTER",
        "drv.memset_d32_async(memory, 5, N, producer)",
        ["cuMemcpyDtoHAsync in another stream reads", "cuMemsetD32Async writes"],
    ),
    "an event that is waited for later": (
        "consumer.wait_value(flag, 1)\n"
        "event.record(consumer)\n"
        "BEFORE\n"
        "producer.write_value(flag, 1)\n"
        "AFTER\n"
        "s.wait_for_event(event)\n"
        "drv.memcpy_dtoh_async(page, memory, s)",
        "drv.memset_d32_async(memory, 5, N, producer)",
        ["cuMemsetD32Async in another stream writes", "cuMemcpyDtoHAsync reads"],
    ),
    "a chain of two values": (
        "s.wait_value(int(flag) + 4, 1)\n"
        "drv.memcpy_dtoh_async(page, memory, s)\n"
        "consumer.wait_value(flag, 1)\n"
        "consumer.write_value(int(flag) + 4, 1)\n"
        "BEFORE\n"
        "producer.write_value(flag, 1)\n"
        "AFTER",
        "drv.memset_d32_async(memory, 5, N, producer)",
        ["cuMemcpyDtoHAsync in another stream reads", "cuMemsetD32Async writes"],
    ),
    "the host": (
        "consumer.wait_value(flag, 1)\n"
        "drv.memcpy_htod_async(memory, page, consumer)\n"
        "BEFORE\n"
        "producer.write_value(flag, 1)\n"
        "AFTER",
        "page[7] = 5",
        ["the host writes byte 28", "cuMemcpyHtoDAsync reads"],
    ),
}
FLAG = """
producer, consumer = (drv.Stream(drv.stream_flags.NON_BLOCKING) for _ in range(2))
flag = drv.to_device(np.zeros(2, np.int32))
drv.Context.synchronize()
"""


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_is_written_after_its_wait(name):
    """The work behind the wait comes after the work before the write, and only that."""
    code, work, words = VALUES[name]
    before = code.replace("BEFORE", work).replace("AFTER", "")
    assert run(FLAG + before) == "nothing"
    after = code.replace("BEFORE", "").replace("AFTER", work)
    assert run(FLAG + after, words) == "found"


@pytest.mark.parametrize("name", ("a copy", "a kernel", "an event behind the wait"))
def test_a_missing_wait_for_a_value(name):
    code, work, words = VALUES[name]
    code = code.replace("consumer.wait_value(flag, 1)\n", "")
    code = code.replace("BEFORE", work).replace("AFTER", "")
    assert run(f"{FLAG}work = {code!r}\n{REPORT}", words) == "found"


@pytest.mark.parametrize("fault", ("page[7]\n", ""))
def test_waits_for_values_end_after_a_fault(fault):
    """The program can end: nothing may be left that writes the value. Without a fault
    the wait goes on until it is written."""
    code = f"""
consumer.wait_value(flag, 1)
drv.memcpy_dtoh_async(page, memory, s)
{fault}
try:
    consumer.is_done()
    assert not consumer.is_done()
    producer.write_value(flag, 1)
    s.synchronize()
except drv.LaunchError as error:
    assert "sync: the host reads byte 28" in str(error), error
"""
    expected = "found" if fault else "nothing"
    assert run(FLAG + code) == expected


def test_correct_programs():
    """What only looks like a fault: the exact bytes decide."""
    assert (
        run("""
# the halves of an array
fill(memory, zero, np.int32(500), block=block, stream=s)
fill(np.intp(int(memory) + 2000), zero, np.int32(500), block=block, stream=t)
drv.Context.synchronize()
# its even and odd elements
even(memory, zero, block=block, stream=s)
even(memory, np.int32(1), block=block, stream=t)
drv.Context.synchronize()
# two readers, two counters
drv.memcpy_dtoh_async(page, memory, s)
second = drv.pagelocked_empty(N, np.int32)
drv.memcpy_dtoh_async(second, memory, t)
drv.Context.synchronize()
count(memory, block=block, stream=s)
count(memory, block=block, stream=t)
drv.Context.synchronize()
# the null stream waits for the others, and they for it
fill(memory, zero, n, block=block, stream=s)
twice(memory, n, block=block)
drv.memcpy_dtoh(other, memory)
twice(memory, n, block=block, stream=t)
drv.memcpy_dtoh(other, memory)
assert other[3] == 12
# the host uses what no kernel uses, and reads what is only read
fill(address, zero, np.int32(500), block=block, stream=s)
both[600:] = 5
assert both[700:].sum() == 1500
s.synchronize()
assert both[499] == 499
page[:] = 3
drv.memcpy_htod_async(memory, page, s)
assert page.sum() == 3000
s.synchronize()
page[:] = 4
# an event that says that it is over
drv.memcpy_dtoh_async(page, memory, s)
event.record(s)
while not event.query():
    pass
assert page[5] == 3
# a chain of waits
fill(memory, zero, n, block=block, stream=s)
event.record(s)
t.wait_for_event(event)
twice(memory, n, block=block, stream=t)
event.record(t)
free.wait_for_event(event)
drv.memcpy_dtoh_async(page, memory, free)
free.synchronize()
assert page[5] == 10
# memory that another stream uses after it was freed and allocated again
for stream in (s, t, free):
    block_of = drv.mem_alloc(4 * N)
    fill(block_of, zero, n, block=block, stream=stream)
    block_of.free()
""")
        == "nothing"
    )


LARGE = """
stripes = module.get_function("stripes")
copy_back = module.get_function("copy_back")
M = 1 << 16
wide = drv.mem_alloc(8 * M)
drv.memset_d8(wide, 0, 8 * M)
halves = {"block": (256, 1, 1), "grid": (M // 256, 1)}
nobody = np.int32(-1)
"""
ALTERNATE = """
stripes(wide, zero, nobody, stream=s, **halves)
stripes(wide, np.int32(1), np.int32({more}), stream=t, **halves)
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_bytes_of_kernels_with_many_blocks(threads):
    """Each worker notes the bytes of its blocks, together those of the kernel."""
    for more in (-1, 0, 12345, (1 << 16) - 1):
        code = LARGE + ALTERNATE.format(more=more)
        if more < 0:
            assert run(code, PYCUDA_EMULATOR_THREADS=threads) == "nothing"
            continue
        words = [f"writes byte {8 * more} of the 524288-byte device allocation"]
        assert run(code, words, PYCUDA_EMULATOR_THREADS=threads) == "found"


def test_bytes_of_indexed_accesses():
    """The elements that a kernel reads by an index, and those that it does not read."""
    code = (
        "at = drv.to_device(np.random.default_rng(1).permutation(M).astype('i4'))\n"
        "to = drv.mem_alloc(4 * M)\n"
        "copy_back({to}, wide, at, stream=s, **halves)\n"
        "drv.memset_d32_async({where}, 7, 1, t)\n"
    )
    half = "np.intp(int(wide) + 4 * M)"
    middle, end = "int(wide) + 4 * M - 4", "int(wide) + 8 * M - 4"
    found = LARGE + code.format(to=half, where=middle)
    assert (
        run(found, ["MemsetD32", "kernel copy_back in another stream reads"]) == "found"
    )
    found = LARGE + code.format(to=half, where=end)
    assert run(found, ["MemsetD32", "writes byte 524284"]) == "found"
    assert run(LARGE + code.format(to="to", where=end)) == "nothing"


def test_the_value_of_the_byte():
    code = "page[7] = 42\ndrv.memcpy_dtoh_async(page, memory, s)\npage[7]"
    words = ["host reads byte 28", "value: the byte is 0x2a (int 42)"]
    assert run(code, words) == "found"


def test_the_lines_of_the_program():
    code = "drv.memcpy_dtoh_async(page, memory, s)\npage[7]"
    lines = (START + code).split("\n")
    made = lines.index("page = drv.pagelocked_empty(N, np.int32)") + 1
    words = [
        f"the host at <string>:{len(lines)} in <module>",
        f"cuMemcpyDtoHAsync at <string>:{len(lines) - 1} in <module>",
        f"the memory was allocated at <string>:{made} in <module>",
    ]
    assert run(code, words) == "found"


def test_a_report_needs_no_launch():
    """A copy is at fault: the text blames no other library."""
    code = """drv.memcpy_dtoh_async(page, memory, s)
page[7]
try:
    drv.Context.synchronize()
except drv.LaunchError as error:
    assert error.launches == () and "library" not in str(error), str(error)
"""
    words = ["cuMemcpyDtoHAsync at <string>:"]
    assert run(code, words) == "found"


def test_a_finding_that_no_call_reports():
    """It is written when the process ends."""
    program = START + "drv.memcpy_dtoh_async(page, memory, s)\npage[7]\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": f"{TEST.parent}{os.pathsep}{TEST}",
            "PYCUDA_DRIVER": "emulator",
            "PYCUDA_CHECK": "sync",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "PYCUDA_CHECK: " in done.stderr
    assert "sync: the host reads byte 28" in done.stderr


@pytest.mark.parametrize(
    "call",
    (
        "drv.pagelocked_empty(4, np.int32)",
        "drv.mem_alloc(16)",
        "drv.managed_empty(4, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)",
    ),
)
def test_an_allocation_shows_the_report(call):
    """It is more important than how many bytes were asked for."""
    code = f"""
drv.memcpy_dtoh_async(page, memory, s)
WAIT
page[7]
try:
    {call}
except drv.LaunchError as error:
    assert "sync: the host reads byte 28" in str(error), error
"""
    assert run(code.replace("WAIT", "")) == "found"
    assert run(code.replace("WAIT", "s.synchronize()")) == "nothing"


def test_without_the_check():
    code, _, _ = FAULTS["read before the copy"]
    assert run(code.replace("WAIT", "pass"), check="memory") == "nothing"


def test_signals_of_the_program_still_arrive():
    """A fault of the program's own ends it as without the check."""
    program = START + (
        "import ctypes, faulthandler\n"
        "faulthandler.enable()\n"
        "drv.memcpy_dtoh_async(page, memory, s)\n"
        "ctypes.string_at(8)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": f"{TEST.parent}{os.pathsep}{TEST}",
            "PYCUDA_DRIVER": "emulator",
            "PYCUDA_CHECK": "sync",
            "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0",  # where it is preloaded
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == -11
    assert "Segmentation fault" in done.stderr
