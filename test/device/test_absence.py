"""Threads that never come to an operation of a warp, or to a barrier of a block."""

import functools
import json
import re

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

HEAD = r"""
#define ALL 0xffffffff
__device__ __noinline__ int vote(int p) { return __any_sync(ALL, p); }
"""

KERNEL = r"""__global__ void NAME(int *x, int n)
{
    __shared__ int s[96];
    int t = threadIdx.x, v = x[t], w = 0;
    s[t] = t;
CODE
    x[t] = w;
}
"""

PROGRAM = """
import json
import warnings
import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule

def told(name, threads):
    context = drv.Device(0).make_context()
    module = SourceModule(SOURCE, options=["-diag-suppress=177,550"])
    kernel = module.get_function(name)
    x = drv.to_device(np.arange(96, dtype=np.int32))
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kernel(x, np.int32(70), block=(threads, 1, 1))
            drv.Context.synchronize()
        return [" ".join(str(each.message).split()) for each in caught]
    except drv.Error as error:
        return ["error " + " ".join(str(error).split())]
    finally:
        x = module = kernel = None
        context.pop()

drv.init()
print(json.dumps([told(*case) for case in CASES]))
"""


def codes():
    """Return all codes, with the number of threads that run them."""
    warp = dict.fromkeys([*MISSED, TWO_LINES, BEFORE_BARRIER], 32)
    return warp | dict.fromkeys([*COMPLETE, *RETURNED, *ENDED, *NOT_ENDED], 96)


def source():
    """Return the source of all kernels, and for each the number of its first line."""
    text, lines = HEAD, []
    for i, code in enumerate(codes()):
        lines.append(text.count("\n") + 6)
        text += KERNEL.replace("NAME", f"f{i}").replace("CODE", code)
    return text, lines


@functools.cache
def results(checks):
    """Run all kernels with one value of PYCUDA_CHECK, in one process."""
    text, lines = source()
    cases = [(f"f{i}", threads) for i, threads in enumerate(codes().values())]
    done = run_child(
        PROGRAM.replace("SOURCE", repr(text)).replace("CASES", repr(cases)),
        PYCUDA_DRIVER="emulator",
        PYCUDA_CHECK=checks,
    )
    found = {}
    for code, first, texts in zip(codes(), lines, json.loads(done.stdout), strict=True):
        found[code] = [
            re.sub(r"kernel.cu:(\d+)", lambda m, n=first: f"line {int(m[1]) - n}", text)
            for text in texts
        ]
    return found


def told(code, checks="barrier"):
    """Return the texts of the warnings, or of the error, of a launch.

    A line of the source counts from that of the code, which is line 0.
    """
    return results(checks)[code]


MISSED = {
    "v > 9 ? w = __ballot_sync(ALL, v & 1) : 0;": "__ballot_sync",
    "if (v > 9) w = __all_sync(ALL, v & 1);": "__all_sync",
    "if (v > 9) w = vote(v & 1);": "__any_sync",
    "if (v > 9) w = __shfl_sync(ALL, v, 20);": "__shfl_sync",
    "if (v > 9) w = __shfl_down_sync(ALL, v, 1);": "__shfl_down_sync",
    "if (v > 9) w = __shfl_xor_sync(ALL, v, 1);": "__shfl_xor_sync",
    "if (v > 9) w = __match_any_sync(ALL, v);": "__match_any_sync",
    "if (v > 9) { s[t] = v; __syncwarp(); w = s[t ^ 1]; }": "__syncwarp",
    "for (int i = t; i < 40; i += 32) w += __ballot_sync(ALL, v);": "__ballot_sync",
}


TWO_LINES = "if (v > 9)\n  w = __ballot_sync(ALL, v & 1);"
BEFORE_BARRIER = "if (v > 9) w = __ballot_sync(ALL, v); __syncthreads();"


@pytest.mark.parametrize("code", MISSED)
def test_lanes_that_go_past_an_operation(code):
    (text,) = told(code)
    assert text.startswith("error ") and "barrier divergence: thread (" in text
    assert f"went past this {MISSED[code]} and ended, but the mask 0xffffffff" in text
    assert "vote(" in code or "at line 0 " in text


def test_the_report_names_the_lanes():
    (text,) = told(TWO_LINES)
    assert "thread (0, 0, 0) and 9 more went past" in text
    assert "block (0, 0, 0), thread (10, 0, 0)" in text
    assert "at line 1 w = __ballot_sync(ALL, v & 1);" in text


def test_the_trial_of_the_first_block_warns():
    (text,) = told(TWO_LINES, checks=None)
    assert text.startswith("a kernel has a fault that a GPU may not show")
    assert "thread (0, 0, 0) and 9 more went past this __ballot_sync" in text


COMPLETE = [
    "w = __ballot_sync(ALL, v > 9 && v & 1);",
    "if (v > 9) w = __ballot_sync(__activemask(), v & 1);",
    "unsigned m = __ballot_sync(ALL, v > 9); if (v > 9) w = __shfl_sync(m, v, 20);",
    "if (t < 16) w = __shfl_xor_sync(0xffff, v, 1); else w = 3;",
    "if (v > 9) w = __ballot_sync(ALL, v); else w = __ballot_sync(ALL, v + 1);",
    "if (v > 9) w = vote(v & 1); else w = vote(v & 2);",
    "for (int i = 0; i < 3; i++) { if (v & 1) w += i; w += __any_sync(ALL, v); }",
    "if (t / 32 == 1) w = __shfl_down_sync(ALL, v, 1);",
]
RETURNED = [
    "if (t >= n) return; w = __ballot_sync(ALL, v & 1);",
    "if (t >= n) return; w = __any_sync(ALL, v & 1);",
    "if (t >= n) { x[t] = 7; __threadfence(); return; } w = vote(v & 1);",
]


@pytest.mark.parametrize("code", COMPLETE + RETURNED)
@pytest.mark.parametrize("checks", ["barrier", None])
def test_no_report_of_operations_that_all_named_lanes_reach(code, checks):
    """Threads that have ended need not come."""
    assert told(code, checks=checks) == []


def test_lanes_at_a_barrier_are_a_deadlock():
    (text,) = told(BEFORE_BARRIER)
    assert "deadlock: 10 threads wait at barriers and 22 at warp operations" in text


GUARD = "if (t >= n) return;\n__syncthreads(); w = s[t - 1 + !t];"
CONDITION = "if (t < n) {\n__syncthreads(); x[t] = s[t - 1 + !t]; } return;"
TWO_GUARDS = (
    "if (t >= n) return;\nx[t] = 5; if (v == 3) return;\n__syncthreads(); w = s[t];"
)
ENDED = [GUARD, CONDITION, TWO_GUARDS]
NOT_ENDED = [
    "__syncthreads(); if (t >= n) return; w = s[95 - t];",
    "if (t < n) s[t] = v; __syncthreads(); if (t < n) w = s[95 - t];",
    'if (t >= 64) return; asm volatile("bar.sync 1, 64;"); w = s[t ^ 63];',
]


def test_threads_that_end_before_a_barrier_are_a_warning():
    (text,) = told(GUARD)
    assert text.startswith("threads have ended before a barrier of their block")
    assert "26 threads, from thread (70, 0, 0) on, have ended (line 0) and" in text
    assert "never came to this __syncthreads in kernel f" in text
    assert "block (0, 0, 0), thread (0, 0, 0) at line 1 __syncthreads();" in text


def test_a_barrier_in_a_condition_and_two_ways_out():
    (text,) = told(CONDITION)
    assert "26 threads, from thread (70, 0, 0) on, have ended (line 0) and" in text
    (text,) = told(TWO_GUARDS)
    assert "27 threads, from thread (3, 0, 0) on, have ended (line 0) or" in text
    assert "or (line 1) and never came" in text


@pytest.mark.parametrize("code", NOT_ENDED)
def test_threads_that_end_after_the_last_barrier(code):
    assert told(code) == []


@pytest.mark.parametrize("code", ENDED)
def test_a_plain_run_says_nothing_of_threads_that_have_ended(code):
    assert told(code, checks=None) == []
