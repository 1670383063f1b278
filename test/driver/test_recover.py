"""pycuda.tools.recover_context: a new context after a fault.

Each test has a child process: on a GPU, a fault may end all contexts of the process.
"""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.software(why="after a fault, a GPU needs a new process"),
    needs_nvcc,
]

PRELUDE = """
import gc, threading
import numpy as np
import {module} as auto
import pycuda.driver as drv
import pycuda.gpuarray as gpuarray
from pycuda import tools
from pycuda.compiler import SourceModule

module = SourceModule('''
__global__ void fill(int *out) {{ out[threadIdx.x] = threadIdx.x; }}
__global__ void fail(int *out) {{ out[(size_t)1 << 40] = 1; }}
''')
fill, fail = module.get_function("fill"), module.get_function("fail")
old = auto.context
array = gpuarray.zeros(32, np.int32)
array + 1
stream, event = drv.Stream(), drv.Event()

def break_it():
    try:
        fail(array, block=(1, 1, 1))
        drv.Context.synchronize()
    except drv.Error as error:
        return str(error)

def outcome(call):
    try:
        call()
    except drv.Error as error:
        detached = " detached" if "was detached" in str(error) else ""
        return type(error).__name__ + detached
    return "works"
"""


def run(code, module="pycuda.autoinit", **environment):
    return run_child(PRELUDE.format(module=module) + code, **environment).stdout


@pytest.mark.parametrize(
    ("module", "environment"),
    [
        ("pycuda.autoinit", {}),
        ("pycuda.autoinit", {"PYCUDA_AUTOINIT": "own"}),
        ("pycuda.autoprimaryctx", {}),
    ],
)
def test_a_notebook_goes_on_after_a_fault(module, environment):
    """The error names the function, and a second fault is no different."""
    code = """
print("pycuda.tools.recover_context()" in break_it())
print(outcome(lambda: array + 1))  # counterpart: the context is lost
new = tools.recover_context()
print(new is auto.context, new is drv.Context.get_current(), new == old)
print((gpuarray.zeros(3, np.int32) + 1).get())
array = gpuarray.zeros(32, np.int32)
module = SourceModule("__global__ void fail(int *out) { out[(size_t)1 << 40] = 1; }")
fail = module.get_function("fail")
print(break_it() is None)
tools.recover_context()
print((gpuarray.zeros(3, np.int32) + 2).get())
threading.Thread(target=lambda: print(gpuarray.zeros(2, np.int32).get())).start()
"""
    assert run(code, module, **environment).splitlines() == [
        "True",
        "LogicError",
        "True True False",
        "[1 1 1]",
        "False",
        "[2 2 2]",
        "[0 0]",
    ]


def test_objects_of_the_lost_context_raise():
    code = """
pool = tools.DeviceMemoryPool()
tools.set_default_allocator(pool.allocate)
pooled = gpuarray.zeros(3, np.int32)
break_it()
tools.recover_context()
calls = (array.get, lambda: array + 1, lambda: fill(array, block=(32, 1, 1)),
         stream.synchronize, event.record, lambda: module.get_function("fill"),
         pooled.get, lambda: pool.allocate(8), old.push)
print({outcome(call) for call in calls})
print(outcome(lambda: gpuarray.zeros(3, np.int32).get()))
del array, stream, event, module, fill, fail, pooled, pool, calls
gc.collect()
"""
    assert run(code).splitlines() == ["{'LogicError detached'}", "works"]


def test_a_context_that_works_stays():
    code = """
array.fill(7)
print(tools.recover_context() is old, array.get()[3])
"""
    assert run(code).splitlines() == ["True 7"]


def test_all_objects_of_the_same_context_end():
    """A primary context that the program has retained twice."""
    code = """
twin = drv.Device(0).retain_primary_context()
break_it()
new = tools.recover_context()
print(outcome(twin.push), outcome(new.push))
"""
    assert run(code).splitlines() == ["LogicError detached works"]


def test_without_a_context():
    code = """
import pycuda.driver as drv
from pycuda import tools
try:
    tools.recover_context()
except RuntimeError as error:
    print("no context" in str(error))
"""
    assert run_child(code).stdout == "True\n"
