"""PYCUDA_EMULATOR_COUNT: how often instructions ran, and what accesses cost."""

import json
from pathlib import Path

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

START = """
import json, os, sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import _counts, _driver

PREFIX = os.environ.get("PYCUDA_EMULATOR_COUNT_LOG")

def show(*texts):
    # Print warps, lanes, choice and access of the instructions that begin so.
    _counts.write(PREFIX)
    for program in _counts.read(PREFIX):
        for each in program.instructions:
            if each.text.startswith(texts):
                numbers = (each.warps, each.lanes, each.choice, each.access)
                print(json.dumps([each.text, *numbers, each.line]))
"""

PTX = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, 0;
LOOP:
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r2;
    @%p1 bra LOOP;
    setp.lt.u32 %p2, %r2, %r1;
    @!%p2 bra END;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd3, %rd1, %rd2;
    @%p1 st.global.u32 [%rd3], %r3;
    st.global.u32 [%rd3], %r3;
END:
    ret;
}
"""


def printed(code, tmp_path, count="accesses", **environment):
    """Run code in a child process that counts. Return the rows that it prints."""
    environment = {
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_CHECK": None,
        "PYCUDA_EMULATOR_COUNT": count,
        "PYCUDA_EMULATOR_COUNT_LOG": str(tmp_path / "c"),
        **environment,
    }
    lines = run_child(START + code, **environment).stdout.splitlines()
    return [json.loads(line) for line in lines]


LAUNCH = f"""
k = drv.module_from_buffer({PTX!r}.encode()).get_function("k")
x = drv.to_device(np.zeros(64, np.int32))
def launch(n):
    k(x, np.uint32(n), block=(40, 1, 1), grid=(3, 1))
    drv.Context.synchronize()
"""


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"PYCUDA_CHECK": "all"},
        {"PYCUDA_EMULATOR_SEED": "3"},
        {"PYCUDA_EMULATOR_THREADS": "1"},
        {"PYCUDA_EMULATOR_SIMD": "0"},
    ],
)
def test_instructions_of_a_block_run_as_often(tmp_path, environment):
    rows = printed(
        LAUNCH + "launch(36); show('add.u32', 'bra', 'st.', 'ret')",
        tmp_path,
        **environment,
    )
    # Thread t runs the loop max(t, 1) times: warp 0 31 times, warp 1 39 times.
    turns = 3 * sum(max(t, 1) for t in range(40))
    again = turns - 3 * 40
    assert rows[0][:3] == ["add.u32", 3 * (31 + 39), turns]
    # In the last turn of a warp, all lanes that are left leave.
    divided = 3 * (30 + 7)
    assert rows[1][:4] == ["bra", 3 * (31 + 39), turns, [again, 120, divided]]
    # The lanes that have left the loop run on together.
    assert rows[2][:4] == ["bra", 6, 120, [3 * 4, 3 * 36, 3]]  # t >= 36
    # No lane holds the predicate behind the loop, so no warp makes a request.
    assert rows[3][:5] == ["st.global.u32", 6, 108, [0, 108, 0], [0] * 9]
    assert rows[4][:3] == ["st.global.u32", 6, 108]
    assert rows[4][4] == [6, 15, 15, 0, 0, 0, 0, 0, 4]
    assert rows[5][:3] == ["ret", 6, 120]


def test_lines_count_no_accesses_and_nothing_is_counted_without_the_variable(tmp_path):
    code = LAUNCH + "launch(36); show('st.')"
    assert printed(code, tmp_path, "") == []
    assert [row[4] for row in printed(code, tmp_path, "lines")] == [None, None]


def test_launches_add_to_the_counts_of_the_same_text(tmp_path):
    rows = printed(
        LAUNCH + "launch(36)\ndel k\n" + LAUNCH + "launch(1)\nshow('ret')\n"
        "_driver._clear_counts()\nshow('ret')\nlaunch(1)\nshow('ret')",
        tmp_path,
    )
    assert [row[1] for row in rows] == [12, 0, 6]


def test_a_launch_is_described(tmp_path):
    rows = printed(
        LAUNCH + "launch(36)\nlaunch(2)\n_counts.write(PREFIX)\n"
        "print(json.dumps(_counts.read(PREFIX)[0].functions[0]))",
        tmp_path,
    )
    name, is_kernel, launches, blocks, threads, size, shared, _, resident = rows[0]
    assert (name, is_kernel, launches, blocks, threads) == ("k", True, 2, 6, 240)
    assert (size, shared, resident) == (40, 0, 16)


def test_steps_of_processes_that_differ_are_mixed():
    from pycuda import _counts

    one, none = _counts.Access(2, 8, step=4), _counts.Access(1, 1)
    other = _counts.Access(1, 32, step=128)
    assert _counts.sum_of_accesses(one, none) == _counts.Access(3, 9, step=4)
    assert _counts.sum_of_accesses(one, one).step == 4
    assert _counts.sum_of_accesses(one, other).step == _counts.MIXED


def test_a_failed_load_leaves_nothing(tmp_path):
    wrong = PTX.replace("ret;", "nonsense;")
    rows = printed(
        f"try:\n    drv.module_from_buffer({wrong!r}.encode())\n"
        "except drv.Error as error:\n    print(json.dumps([error.name]))\n"
        + LAUNCH
        + ""
        "launch(1)\nshow('ret')",
        tmp_path,
    )
    assert [row[0] for row in rows] == ["CUDA_ERROR_INVALID_PTX", "ret"]


def test_processes_are_added(tmp_path):
    code = LAUNCH + "launch(36)"
    for _ in range(3):
        printed(code, tmp_path)
    rows = printed("show('ret', 'st.')", tmp_path)
    assert [row[1] for row in rows] == [18, 18, 18]
    assert rows[1][4] == [18, 45, 45, 0, 0, 0, 0, 0, 4]


def test_a_forked_process_counts_for_itself(tmp_path):
    code = LAUNCH + "launch(36)\nif os.fork() == 0:\n    sys.exit()\nos.wait()"
    printed(code, tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert [row[1] for row in printed("show('ret')", tmp_path)] == [6]


def test_an_unknown_word_is_refused(tmp_path):
    child = run_child(
        START, check=False, PYCUDA_DRIVER="emulator", PYCUDA_EMULATOR_COUNT="blocks"
    )
    assert 'PYCUDA_EMULATOR_COUNT is "blocks"; it must be lines or' in child.stderr


@needs_nvcc
def test_the_source_of_a_program_is_known(tmp_path):
    rows = printed(
        """
from pycuda.compiler import SourceModule
f = SourceModule('''
__global__ void f(int *x)
{
    x[0] = 3;
}''').get_function("f")
f(drv.mem_alloc(4), block=(1, 1, 1))
_counts.write(PREFIX)
program, = _counts.read(PREFIX)
print(json.dumps([program.source.text.split()[:2], program.source.line[-5:]]))
show('st.')
""",
        tmp_path,
    )
    assert rows[0] == [["#line", "1"], "g>:20"]
    assert rows[1][5] == 4


@needs_nvcc
@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"PYCUDA_CHECK": "memory,init,barrier"},
        {"PYCUDA_EMULATOR_SEED": "7"},
        {"PYCUDA_EMULATOR_SIMD": "0"},
    ],
)
def test_accesses_cost_what_a_model_says(environment):
    program = Path(__file__).with_name("count_oracle.py").read_text()
    environment = {
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_CHECK": None,
        "PYCUDA_EMULATOR_COUNT": "accesses",
        **environment,
    }
    code = f"import sys\nsys.argv[1:] = ['400', '{len(str(environment))}']\n{program}"
    assert run_child(code, **environment).stdout.splitlines() == ["400 cases"]
