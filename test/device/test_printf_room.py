"""A warning for more text of printf than the buffer of a GPU has room for."""

import pytest

from support.child import run_child

PROGRAM = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

kernel = SourceModule('''
#include <cstdio>
__global__ void say(int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) printf(".");
}
''').get_function("say")
for n in CALLS:
    if n < 0:
        drv.Context.set_limit(drv.limit.PRINTF_FIFO_SIZE, -n)
    else:
        kernel(np.int32(n), block=(256, 1, 1), grid=(n // 256 + 1, 1))
        drv.Context.synchronize()
"""
#: The calls of printf for which an H200 has room.
ROOM = 33792


@pytest.mark.parametrize(
    "calls, warnings",
    [
        ([ROOM + 1], 1),
        ([ROOM + 1, ROOM + 1], 1),
        ([-(1 << 24), (1 << 16) + 1], 1),
        ([ROOM], 0),
        ([ROOM - 1, ROOM - 1, ROOM - 1], 0),
        ([-(1 << 24), 1 << 16], 0),
    ],
)
def test_more_text_than_a_gpu_keeps(calls, warnings):
    program = f"CALLS = {calls}\n{PROGRAM}"
    done = run_child(program, check=False, PYCUDA_DRIVER="emulator")
    assert done.returncode == 0
    assert done.stdout == "." * sum(n for n in calls if n > 0)
    lines = [line for line in done.stderr.splitlines() if "calls printf more" in line]
    assert len(lines) == warnings, done.stderr
    text = "PyCUDAWarning: one launch of the kernel say calls"
    assert all(text in line for line in lines)


def test_the_warning_obeys_the_filters():
    program = f"import warnings\nCALLS = [{ROOM + 1}]\n{PROGRAM}"
    start = "warnings.simplefilter('error')\nkernel = Source"
    program = program.replace("kernel = Source", start)
    done = run_child(program, check=False, PYCUDA_DRIVER="emulator")
    assert done.returncode != 0 and "raise" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("pycuda._driver.PyCUDAWarning: one")
    quiet = program.replace("'error'", "'ignore'")
    assert run_child(quiet, PYCUDA_DRIVER="emulator").stderr == ""
