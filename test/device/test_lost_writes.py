"""A warning for what a kernel writes to the array of `In`: nothing copies it back."""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

START = """
import warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

f = SourceModule('''
__global__ void f(int *x, const int *y, int *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    WRITE
}''').get_function("f")
a, b, c = (np.arange(64, dtype=np.int32) for _ in range(3))

def launch(*arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f(*arguments, block=(32, 1, 1), grid=(2, 1))
        drv.Context.synchronize()
    print([" ".join(str(each.message).split()) for each in caught])
"""
ADD = "x[i] += y[i];  // HERE"


def warned(code, write=ADD, **environment):
    """Return the lists of warnings that the launches of some code print."""
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    done = run_child(START.replace("WRITE", write) + code, **environment)
    return [eval(line) for line in done.stdout.splitlines()]


ALL_IN = "launch(drv.In(a), drv.In(b), drv.In(c))"


def test_the_warning_names_kernel_argument_and_line():
    ((text,),) = warned(ALL_IN)
    assert text.startswith("what a kernel writes to an array of In is lost")
    assert "write of 4 bytes at byte 0 of argument 0, which In copies" in text
    assert "in kernel f, block (0, 0, 0), thread (0, 0, 0)" in text
    assert "at kernel.cu:5" in text


@pytest.mark.parametrize(
    "first", ["drv.InOut(a)", "drv.Out(a)", "gpuarray.to_gpu(a)", "drv.to_device(a)"]
)
def test_a_result_that_is_copied_back_or_stays(first):
    code = f"launch({first}, drv.In(b), drv.In(c))"
    assert warned(code) == [[]]
    assert warned(code, PYCUDA_CHECK="memory") == [[]]


SCRATCH = "x[i] += y[i]; z[i] = x[i] * 2;"
WITH_RESULT = "launch(drv.In(a), drv.In(b), drv.Out(c))"


def test_an_input_that_the_kernel_uses_up_is_told_with_the_check():
    """Reductions in place do so, and their result is elsewhere."""
    assert warned(WITH_RESULT, SCRATCH) == [[]]
    ((text,),) = warned(WITH_RESULT, SCRATCH, PYCUDA_CHECK="memory")
    assert "of argument 0" in text
    assert warned(WITH_RESULT, "z[i] = x[i] * 2;", PYCUDA_CHECK="memory") == [[]]


def test_each_line_warns_once():
    first, second = warned(f"{ALL_IN}; {ALL_IN}", PYCUDA_CHECK="memory")
    assert len(first) == 1 and second == []


def test_a_later_block_is_seen_with_the_check():
    late = "if (blockIdx.x == 1) x[i] = y[i];"
    assert warned(ALL_IN, late) == [[]]
    ((text,),) = warned(ALL_IN, late, PYCUDA_CHECK="memory")
    assert "block (1, 0, 0)" in text
    assert warned(ALL_IN, late, PYCUDA_CHECK="race") == [[]]


def test_an_atomic_operation_is_a_write():
    ((text,),) = warned(ALL_IN, "atomicAdd(x + i % 3, y[i]);")
    assert "of argument 0" in text


@pytest.mark.parametrize(
    "take", ["first.get_device_alloc()", "first.dev_alloc", "first.dev_alloc = mine"]
)
def test_memory_that_the_program_has_asked_for(take):
    code = f"""
first, mine = drv.In(a), drv.to_device(a)
{take}
launch(first, drv.In(b), drv.In(c))
"""
    assert warned(code, PYCUDA_CHECK="memory") == [[]]


def test_memory_that_is_passed_twice():
    code = """
first, mine = drv.In(a), drv.In(b)
launch(first, mine, drv.In(c))
launch(first, mine, np.intp(int(first.dev_alloc)))
"""
    read = "if (y[i] > 99) x[i] = 1; z[i] = 7;"
    with_pointer, again = warned(code, read, PYCUDA_CHECK="memory")
    assert "of argument 2" in with_pointer[0] and again == []


def test_the_next_launch_is_another_one():
    code = """
f(drv.In(a), drv.In(b), drv.In(c), block=(64, 1, 1))
x, y, z = (drv.to_device(each) for each in (a, b, c + 1))
f.prepare("PPP")
f.prepared_call((1, 1), (32, 1, 1), x, y, z)
launch(x, y, z)
"""
    write = "if (z[0]) x[i] = y[i];"
    assert warned(code, write, PYCUDA_CHECK="memory") == [[]]
    assert (
        "argument 0" in warned("c += 1; " + ALL_IN, write, PYCUDA_CHECK="memory")[0][0]
    )
