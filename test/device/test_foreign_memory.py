"""Memory that was allocated in another context of the device is reported.

Contexts have address spaces of their own. A kernel that uses memory of another one may
run on the software device, but gets a warning, or with a check an error.
"""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

START = """
import warnings
import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule
drv.init()

def launch(context, memory):
    # Fill memory in a context. Print what is said of it.
    context.push()
    f = SourceModule("__global__ void f(int *x) { x[threadIdx.x] = 7; }")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            f.get_function("f")(memory, block=(32, 1, 1))
            drv.Context.synchronize()
        except drv.Error as error:
            print(" ".join(str(error).split()))
    context.pop()
    print(*(" ".join(str(each.message).split()) for each in caught), sep="\\n")

first = drv.Device(0).make_context(); first.pop()
second = drv.Device(0).make_context(); second.pop()

def within(context, make):
    context.push()
    made = make()
    context.pop()
    return made
"""

#: Memory of the first context, and of the device or the host.
MEMORY = {
    "alloc": ("lambda: drv.mem_alloc(512)", True),
    "pitched": ("lambda: drv.mem_alloc_pitch(512, 2, 4)[0]", True),
    "page-locked": (
        "lambda: drv.pagelocked_empty(32, np.int32, mem_flags=FLAG)",
        False,
    ),
    "managed": (
        "lambda: drv.managed_empty(32, np.int32, mem_flags="
        "drv.mem_attach_flags.GLOBAL)",
        False,
    ),
}
PASSED = {
    "page-locked": "within(first, lambda: np.intp(memory.base.get_device_pointer()))"
}


def said(name, user, **environment):
    make = MEMORY[name][0].replace("FLAG", "drv.host_alloc_flags.PORTABLE")
    passed = PASSED.get(name, "memory")
    code = f"memory = within(first, {make})\nlaunch({user}, {passed})"
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    return run_child(START + code, **environment).stdout.strip()


@pytest.mark.parametrize("name", MEMORY)
def test_memory_of_another_context(name):
    text = said(name, "second")
    if not MEMORY[name][1]:
        assert text == ""
        return
    assert text.startswith("a kernel uses memory of another context (PYCUDA_CHECK=")
    assert " of context 0x" in text and "the kernel runs in context 0x" in text
    assert "in kernel f, block (0, 0, 0), thread (0, 0, 0)" in text
    assert said(name, "first") == ""


@pytest.mark.parametrize("check", ["memory", "race"])
def test_with_a_check_it_is_an_error(check):
    text = said("alloc", "second", PYCUDA_CHECK=check)
    assert "cuCtxSynchronize failed: an illegal memory access" in text
    assert "the kernel runs in context 0x" in text
    assert said("alloc", "first", PYCUDA_CHECK=check) == ""


def test_the_primary_context_is_one_context():
    code = """
one, two = (drv.Device(0).retain_primary_context() for _ in range(2))
launch(two, within(one, lambda: drv.mem_alloc(128)))
"""
    done = run_child(START + code, PYCUDA_DRIVER="emulator", PYCUDA_CHECK="memory")
    assert done.stdout.strip() == ""


def test_peers_use_the_memory_of_each_other():
    code = """
far = drv.Device(1).make_context()
memory = drv.mem_alloc(128)
far.pop()
within(first, lambda: drv.Context.enable_peer_access(far))
launch(first, memory)
"""
    done = run_child(
        START + code,
        PYCUDA_DRIVER="emulator",
        PYCUDA_CHECK="memory",
        PYCUDA_EMULATOR_DEVICES="2",
    )
    assert done.stdout.strip() == ""
    done = run_child(
        START + code.replace("within(", "(lambda *_: 0)("),
        PYCUDA_DRIVER="emulator",
        PYCUDA_CHECK="memory",
        PYCUDA_EMULATOR_DEVICES="2",
    )
    assert "has no peer access" in done.stdout


def test_memory_that_is_written_is_that_memory():
    code = """
memory = within(first, lambda: drv.to_device(np.zeros(32, np.int32)))
launch(second, memory)
print(within(first, lambda: drv.from_device(memory, 32, np.int32)).tolist() == [7] * 32)
"""
    done = run_child(START + code, PYCUDA_DRIVER="emulator", PYCUDA_CHECK=None)
    assert done.stdout.splitlines()[-1] == "True"
