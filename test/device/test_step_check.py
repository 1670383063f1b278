"""Threads of a warp that exchange values through shared memory without __syncwarp()."""

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

SOURCE = '''
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress 550
INCLUDE
extern "C" __global__ void f(int *x)
{
    MEMORY int s[256]; int t = threadIdx.x, lane = t % 32, first = t - lane;
    int v = x[t];
    BODY
    x[t] = v;
}'''
x = drv.to_device(np.arange(64, dtype=np.int32))
f = SourceModule(SOURCE, no_extern_c=True).get_function("f")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f(x, block=(64, 1, 1))
    drv.Context.synchronize()
for each in caught:
    print(" ".join(str(each.message).split()))
"""
SYNC = "__syncwarp();"
#: What lanes do, with `SYNC` where they must wait for each other.
EXCHANGES = {
    "neighbour": "s[t] = v; SYNC v = s[t ^ 1];",
    "from one": "if (lane == 0) s[t] = v; SYNC v = s[first];",
    "read, then written": "s[t] = v; __syncwarp(); v = s[t ^ 1]; SYNC s[t] = v + 1;",
    "scan": """s[t] = v; __syncwarp();
        for (int n = 1; n < 32; n *= 2) {
            v = lane >= n ? s[t - n] : 0; SYNC
            s[t] += v; __syncwarp();
        }""",
    "reduction": """s[t] = v; __syncwarp();
        for (int n = 16; n > 0; n /= 2) {
            if (lane < n) s[t] += s[t + n];
            SYNC
        }
        v = s[first];""",
    "two branches": "if (lane < 16) s[t] = v; SYNC if (lane >= 16) v = s[t - 16];",
    "wide": "((int2 *)s)[t] = make_int2(v, v); SYNC v = s[2 * t ^ 2];",
}


def warned(body, memory="__shared__", **environment):
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    header = "#include <cooperative_groups.h>" if "cooperative" in body else ""
    program = START.replace("BODY", body).replace("MEMORY", memory)
    program = program.replace("INCLUDE", header)
    return run_child(program, **environment).stdout.splitlines()


@pytest.mark.parametrize("check", [None, "race"])
@pytest.mark.parametrize("name", EXCHANGES)
def test_an_exchange_without_a_wait(name, check):
    body = EXCHANGES[name]
    lines = warned(body.replace("SYNC", ""), PYCUDA_CHECK=check)
    assert lines, name
    for line in lines:
        assert line.startswith("threads of a warp exchange values without __syncwarp()")
        assert "of the same warp" in line and "no __syncwarp() between them" in line
        assert "in kernel f, block (0, 0, 0)" in line
    assert warned(body.replace("SYNC", SYNC), PYCUDA_CHECK=check) == []


#: Operations that order the accesses of a warp, too.
WAITS = [
    "__syncthreads();",
    "__shfl_sync(0xffffffff, v, 0);",
    "if (__any_sync(0xffffffff, v > 99)) v = 0;",
    "cooperative_groups::coalesced_threads().sync();",
    "cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block())"
    ".sync();",
    "__threadfence_block();",
    "atomicAdd(&s[200], 1);",
]


@pytest.mark.parametrize("wait", WAITS)
def test_what_orders_the_accesses(wait):
    body = EXCHANGES["neighbour"]
    assert warned(body.replace("SYNC", wait), PYCUDA_CHECK="race") == []
    assert warned(body.replace("SYNC", "v += 1;"), PYCUDA_CHECK="race")


#: Threads that use what is their own, or what does not change.
RIGHT = {
    "own": "s[t] = v; v = s[t] + 1; s[t] = v; v = s[t];",
    "one value": "s[lane / 32] = 7; v = s[0];",
    "the same value again": "s[t] = v; __syncwarp(); v = s[t ^ 1]; s[t ^ 1] = v;",
    "readers": "s[t] = v; __syncwarp(); v = s[first]; v += s[first + 1];",
    "bytes": "((char *)s)[t] = v; v = ((char *)s)[t];",
    "two warps": "s[t] = v; __syncthreads(); v = s[63 - t];",
    "own loop": "for (int i = 0; i < 4; i++) s[4 * t + i] = v;"
    " for (int i = 0; i < 4; i++) v += s[4 * t + i];",
}


@pytest.mark.parametrize("check", [None, "race"])
@pytest.mark.parametrize("name", RIGHT)
def test_what_needs_no_wait(name, check):
    assert warned(RIGHT[name], PYCUDA_CHECK=check) == []


def test_a_volatile_reduction():
    """Code for older GPUs gives the expected results."""
    body = "s[t] = v; __syncthreads(); if (lane < 16) { " + "".join(
        f"s[t] += s[t + {n}]; " for n in (16, 8, 4, 2, 1)
    )
    body += "} __syncthreads(); v = s[first];"
    for check in (None, "race"):
        assert warned(body, "volatile __shared__", PYCUDA_CHECK=check) == []
    assert warned(body, PYCUDA_CHECK="race")


def test_a_race_between_warps_is_told_alone():
    """It needs __syncthreads(), which orders the threads of a warp, too."""
    body = "s[t] = v; v = s[(t + 1) % 64];"
    (line,) = warned(body)
    assert "with no __syncthreads between them" in line
    (line,) = warned("s[t] = v; v = s[t ^ 1]; __syncthreads(); v += s[63 - t];")
    assert "no __syncwarp() between them" in line
