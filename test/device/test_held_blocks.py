"""Uses of a block that has gone back to its pool: a warning, or an error with a check.

Work that was enqueued before the block went back may use it, however late it runs.
"""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

START = """
import warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceMemoryPool

module = SourceModule('''
__global__ void f(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }
''')
f = module.get_function("f")
out, pool = drv.mem_alloc(256), DeviceMemoryPool()

def taken():
    block = pool.allocate(256)
    drv.memset_d32(block, 5, 64)
    return block

def use(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            work()
            drv.Context.synchronize()
        except drv.Error as error:
            print(["error " + " ".join(str(error).split())])
            raise SystemExit
    print([" ".join(str(each.message).split()) for each in caught])

def kernel(address=None):
    given = np.uintp(address if address else int(block))
    f(out, given, block=(64, 1, 1))
"""


def used(code, **environment):
    """Return the warnings, or the error, of each use in some code."""
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    done = run_child(START + code, **environment)
    return [eval(line) for line in done.stdout.splitlines()]


FREED = """
block = taken()
address = int(block)
block.free()
"""


def test_a_kernel_warns_and_goes_on():
    code = FREED + "use(lambda: kernel(address)); print(drv.from_device(out, 2, 'i4'))"
    done = run_child(START + code, PYCUDA_DRIVER="emulator", PYCUDA_CHECK=None)
    text, values = done.stdout.splitlines()
    assert "a kernel uses memory that has gone back to its pool; a GPU lets" in text
    assert "it is 0 bytes into the 256-byte device allocation at 0x" in text
    assert "which has gone back to its pool" in text and "in kernel f" in text
    assert values == "[5 5]"


def line_of(text):
    """Return the number of the line that has a text, in START with FREED behind it."""
    lines = (START + FREED).splitlines()
    return 1 + next(i for i, line in enumerate(lines) if text in line)


def test_with_the_check_it_is_an_error_that_names_both_places():
    ((text,),) = used(FREED + "use(lambda: kernel(address))", PYCUDA_CHECK="memory")
    assert text.startswith("error ") and "ILLEGAL_ADDRESS" in text
    assert f"the memory was allocated at <string>:{line_of('pool.allocate')} " in text
    assert f"went back to its pool at <string>:{line_of('block.free()')} " in text


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ("drv.from_device(address, 64, np.int32)", "a copy of 256 bytes at byte 0"),
        ("drv.memcpy_dtod(out, address + 8, 16)", "a copy of 16 bytes at byte 8"),
        ("drv.memcpy_dtod(address, out, 16)", "a copy of 16 bytes at byte 0"),
        ("drv.memset_d8(address + 4, 1, 3)", "a fill of 3 bytes at byte 4"),
    ],
)
def test_a_copy_and_a_fill(call, word):
    code = FREED + f"use(lambda: {call}); use(lambda: {call})"
    (text,), again = used(code)
    assert f"{word} of the 256-byte device allocation" in text and again == []
    ((text,),) = used(code, PYCUDA_CHECK="memory")
    assert text.startswith("error ") and word in text


LAST_USES = {
    "the block lives": "block = taken(); use(kernel)",
    "it was lent again": "block = taken(); block.free(); block = taken(); use(kernel)",
    "enqueued before": """
def work():
    block = taken()
    kernel(int(block))
    block.free()
use(work)
""",
    "enqueued before, in a stream": """
def work():
    stream, block = drv.Stream(), pool.allocate(256)
    drv.memset_d32_async(block, 6, 64, stream)
    f(out, block, block=(64, 1, 1), stream=stream)
    drv.memcpy_dtod_async(out, block, 256, stream)
    block.free()
    other = pool.allocate(256)
    drv.memset_d32_async(other, 6, 64, stream)
    f(out, other, block=(64, 1, 1), stream=stream)
    stream.synchronize()
use(work)
""",
    "a graph that has the block": """
def work():
    stream, block = drv.Stream(), taken()
    with stream.capture() as graph:
        f(out, block, block=(64, 1, 1))
    graph = graph.instantiate()
    del block
    for _ in range(2):
        graph.launch(stream)
        other = taken()
    stream.synchronize()
use(work)
""",
    "memory that the pool has given to the driver": """
block = taken()
block.free()
pool.free_held()
block = taken()
use(kernel)
""",
}


@pytest.mark.parametrize("name", LAST_USES)
@pytest.mark.parametrize("checks", [None, "memory", "all"])
def test_no_report_of_a_right_use(name, checks):
    late = "late" if checks == "memory" else None
    environment = {"PYCUDA_CHECK": checks, "PYCUDA_EMULATOR_STREAMS": late}
    assert used(LAST_USES[name], **environment) == [[]]


def test_a_graph_is_enqueued_by_each_launch():
    """A graph keeps a block that it finds in use; this one finds none."""
    code = """
block, stream = taken(), drv.Stream()
address = int(block)
block.free()
with stream.capture() as graph:
    f(out, np.uintp(address), block=(64, 1, 1))
graph = graph.instantiate()
use(lambda: graph.launch(stream))
"""
    ((text,),) = used(code, PYCUDA_CHECK="memory")
    assert "which has gone back to its pool" in text


def test_memory_of_a_stream_ordered_pool():
    code = """
pool = drv.MemoryPool()
use(lambda: kernel(int(pool.allocate(256))))
"""
    ((text,),) = used(code)
    assert "which has gone back to its pool" in text
