"""A few rounds of the soak, and errors that it must find."""

import os
import sys

import pytest

from pycuda import _driver
from support import cc
from support.child import run_child
from support.nccl import build

pytestmark = pytest.mark.gpu

SOAK = cc.ROOT / "test" / "package" / "soak.py"


def test_a_few_rounds(tmp_path):
    environment = dict(os.environ)
    if _driver._is_emulated() and cc.compilers():
        environment.update(build(cc.compilers()[0], tmp_path)[1])  # stands for NCCL
    command = [sys.executable, SOAK, "--rounds", "3"]
    done = cc.must(cc.run(command, env=environment, timeout=600))
    assert done.stdout.startswith(f"{8 * 3} rounds, ")
    assert done.stdout.rstrip().endswith(", 0 failures")
    assert done.stderr == ""


START = """
import gc, sys
sys.path.insert(0, {folder!r})
import numpy as np
import soak
from soak import drv
drv.init()
"""

BROKEN = {
    "a handle is kept": (
        "kept = []\ndef broken(self): kept.append(drv.mem_alloc(self.size()))",
        ["handles: ", "free bytes: "],
    ),
    "a value is wrong": (
        "def broken(self): soak.expect(self.rounds < 1, 'a value')",
        ["soak.Wrong: a value"],
    ),
    "a context is left": (
        "def broken(self): self.shared.device.make_context()",
        ["soak.Wrong: another context is left", "LogicError"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_found(name):
    step, words = BROKEN[name]
    code = START.format(folder=str(SOAK.parent))
    code += f"{step}\nsoak.Worker.steps = {{'broken': broken}}\n"
    code += "sys.exit(soak.main(['--rounds', '2']))"
    done = run_child(code, check=False, timeout=300)
    assert done.returncode == 1
    assert any(word in done.stderr for word in words), done.stderr


def test_growth_is_found():
    done = run_child(
        START.format(folder=str(SOAK.parent))
        + """
run = soak.Soak(1, None)
run.samples = [1 << 28] * 40
print(run.grown())
run.samples = [(1 << 28) + (n << 20) for n in range(40)]
print(run.grown())
run.samples = [1 << 28] * 4
print(run.grown())
"""
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert lines[0] == "[]"
    assert "more than" in lines[1] and "too few" in lines[2]


def test_freed_memory_of_the_device_is_not_kept():
    """The memory of the software device belongs to the process.

    The first access to an allocation must not make neighboring allocations resident,
    which may have been freed before.
    """
    done = run_child(
        START.format(folder=str(SOAK.parent))
        + """
context = drv.Device(0).make_context()
values = np.ones(100000, np.uint8)

def pass_by(times):
    for _ in range(times):
        untouched, used = drv.mem_alloc(40000), drv.to_device(values)
        untouched.free()
        used.free()

pass_by(3000)
before = soak.resident()
pass_by(9000)
print((soak.resident() - before) >> 20)
context.pop()
"""
    )
    assert int(done.stdout) < 32
