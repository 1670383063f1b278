"""The check ``leak``: what is alive when a program ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

START = """
import ctypes, gc
import numpy as np
import pycuda.driver as drv
from pycuda import gpuarray
AUTO
keep = ctypes.pythonapi.Py_IncRef
keep.argtypes = [ctypes.py_object]
keep.restype = None
class Node:
    pass
"""


def leaks(code, start="import pycuda.autoinit", check="leak"):
    """Run code behind START. Return what the check writes at exit."""
    done = subprocess.run(
        [sys.executable, "-c", START.replace("AUTO", start) + code],
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYCUDA_DRIVER": "emulator",
            "PYCUDA_CHECK": check,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "for _ in range(3):\n    keep(drv.mem_alloc(1024))",
            "alive at exit\n  3 device allocations, 3072 bytes, made at <string>:13 in "
            "<module>",
        ),
        (
            "keep(drv.pagelocked_empty(10, np.int32))",
            "1 page-locked allocation, 40 bytes, made at <string>:12 in <module>",
        ),
        ("keep(drv.Stream())", "1 stream, made at <string>:12 in <module>"),
        (
            "node = Node()\nnode.node = node\n"
            "node.x = gpuarray.zeros(8, np.int32)\ndel node",
            "only the garbage collector frees it\n  1 device allocation, 32 bytes, "
            "made at <string>:14 in <module>",
        ),
    ],
)
def test_what_is_alive(code, words):
    assert words in leaks(code)


def test_a_context_on_the_stack():
    start = "drv.init()\ncontext = drv.Device(0).make_context()"
    text = leaks("", start)
    assert "still on the stack of its thread" in text
    assert "1 context, made at <string>:7 in <module>" in text
    assert leaks("context.pop()", start) == ""


def test_programs_without_leaks():
    code = """
x = gpuarray.to_gpu(np.arange(1000.0))
y = (2 * x + 1).get()
total = gpuarray.sum(x).get()
page = drv.pagelocked_empty(10, np.int32)
stream, event = drv.Stream(), drv.Event()
event.record(stream)
node = Node()
node.node = node
node.x = drv.mem_alloc(10)
del node.x
kept = [drv.mem_alloc(100) for _ in range(5)]
"""
    assert leaks(code) == ""
    assert leaks("keep(drv.mem_alloc(1024))", check="memory,sync") == ""


def test_the_end_of_a_context_releases_what_is_in_it():
    code = """
x = gpuarray.zeros(10, np.float32)
stream = drv.Stream()
keep(drv.mem_alloc(1024))
"""
    start = "drv.init()\ncontext = drv.Device(0).make_context()"
    assert leaks(code + "context.detach()", start) == ""
    found = leaks(code + "context.pop()", start)
    assert "1 device allocation, 1024 bytes, made at <string>:16" in found
