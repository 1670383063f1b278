"""Accesses near an array, which a GPU lets pass, are a warning and do no damage.

A GPU maps memory in blocks of 2 MiB, so an access beyond an array mostly reaches memory
that belongs to nothing. Many programs of books live by that.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from support.child import run_child
from support.compilers import needs_nvcc
from support.emulator import PATH, Driver, child

DATA = Path(__file__).parents[1] / "data"
MIB = 1 << 20

START = """
import warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

def compiled(source, *options):
    return SourceModule(source, options=list(options))

touch = compiled('''
__global__ void touch(unsigned char *p, long long d) { p[d] = 7; }
__global__ void read(int *out, const int *p, long long d) { *out = p[d]; }
''')

def outcome(function, *arguments, block=1, grid=1):
    # "fine", "error" or the number of warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            function(*arguments, block=(block, 1, 1), grid=(grid, 1))
            drv.Context.synchronize()
        except drv.Error as error:
            return "error"
        return len(caught) or "fine"
"""


def run(code, **environment):
    """Run code behind START on the software device. Return what it prints."""
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    return run_child(START + textwrap.dedent(code), **environment).stdout


def recorded():
    """Return the rows of the table that was recorded on a GPU, by size and side."""
    lines = (DATA / "mapped_blocks.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    found = {}
    for size, _, _, side, _, fault in rows[1:]:
        distance = None if fault == "none" else int(fault)
        found.setdefault((int(size), side), []).append(distance)
    return found


RECORDED = recorded()
SIZES = sorted({size for size, _ in RECORDED})


@needs_nvcc
@pytest.mark.parametrize("size", SIZES)
def test_what_a_gpu_lets_pass_behind_an_allocation(size):
    faults = [distance for distance in RECORDED[size, "behind"] if distance]
    end = -(-size // (2 * MIB)) * 2 * MIB
    # The table has the first access of a walk by 512 or 4,096 bytes that faulted.
    assert all(end <= distance < end + 4096 for distance in faults)
    inside = [size, end - 300 * 1024, end - MIB] if size < end else []
    printed = run(
        f"""
        p = drv.mem_alloc({size})
        f = touch.get_function("touch")
        print(outcome(f, p, np.int64({size} - 1)))
        for d in {[d for d in inside if d >= size]}:
            print(outcome(f, p, np.int64(d)) != "error")
        print(outcome(f, p, np.int64({end})))
        """
    ).split()
    assert printed[0] == "fine" and printed[-1] == "error"
    assert set(printed[1:-1]) <= {"True"}


@needs_nvcc
@pytest.mark.parametrize("size", SIZES)
def test_what_a_gpu_lets_pass_before_an_allocation(size):
    let_pass = RECORDED[size, "before"].count(None)
    assert let_pass >= len(RECORDED[size, "before"]) / 2
    printed = run(
        f"""
        p = drv.mem_alloc({size})
        f = touch.get_function("touch")
        print(outcome(f, p, np.int64(-1)), outcome(f, p, np.int64(-200_000)))
        print(outcome(f, p, np.int64(-(1 << 40))))
        """
    )
    assert printed.split() == ["1", "fine", "error"]  # one warning for an instruction


@needs_nvcc
def test_no_other_array_is_damaged():
    printed = run(
        """
        arrays = [gpuarray.zeros(40, np.int32) + 5 for _ in range(50)]
        large = [gpuarray.zeros(100_000, np.int32) + 5 for _ in range(9)]
        fill = compiled('''
        __global__ void fill(int *x)
        {
            x[blockIdx.x * blockDim.x + threadIdx.x] = 9;
            x[-1 - (int)(blockIdx.x * blockDim.x + threadIdx.x)] = 9;
        }
        ''').get_function("fill")
        print(outcome(fill, arrays[20], block=1000, grid=40))
        print(outcome(fill, large[4], block=1000, grid=200))
        print(all((x.get() == (9 if x is arrays[20] else 5)).all() for x in arrays))
        print(all((x.get() == (9 if x is large[4] else 5)).all() for x in large))
        """
    )
    assert printed.split() == ["2", "fine", "True", "True"]


@needs_nvcc
def test_a_read_sees_zeros_or_what_was_written():
    printed = run(
        """
        x = gpuarray.zeros(40, np.int32) + 1
        out = gpuarray.zeros(1, np.int32)
        write = compiled("__global__ void write(int *x) { x[1234] = 77; }")
        outcome(touch.get_function("read"), out, x, np.int64(1234))
        print(out.get()[0])
        outcome(write.get_function("write"), x)
        outcome(touch.get_function("read"), out, x, np.int64(1234))
        print(out.get()[0])
        """
    )
    assert printed.split() == ["0", "77"]


@pytest.mark.parametrize(("size", "place"), [(64, 1000), (8192, 1000)])
def test_a_zone_is_empty_for_the_next_allocation(size, place):
    """What was written behind an allocation, or in a larger one, is not in its zone."""
    printed = child(
        f"""
from support.emulator_arrays import Arrays
import numpy as np
os.chdir(str(ROOT))
d.ok("Init", 0)
d.context()
g = Arrays(d)
m = g.load(open("test/data/kernels/runtime.ptx").read())
p = g.empty({size})
first = p
g.launch(m, "store_at", 1, 1, p, np.int64({place}))
def value(address):
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_int))[0]
print(value(p + 4000) != 0)
g.free(p)
for _ in range(20_000):
    p = g.empty(64)
    if p == first:
        break
    g.free(p)
print(p == first, value(p + 4000))
"""
    )
    assert printed.splitlines()[-1] == "True 0" and "True" in printed.splitlines()


@needs_nvcc
@pytest.mark.parametrize("check", ["memory", "init", "race", "barrier", "all"])
def test_with_a_check_of_kernels_it_is_an_error(check):
    code = """
    x = gpuarray.zeros(40, np.int32)
    print(outcome(touch.get_function("touch"), x.gpudata, np.int64(160)))
    """
    assert run(code, PYCUDA_CHECK=check).split() == ["error"]
    assert run(code, PYCUDA_CHECK="leak").split() == ["1"]  # is not about kernels


@needs_nvcc
def test_freed_memory_has_no_zone():
    printed = run(
        """
        x = drv.mem_alloc(400)
        address = np.intp(int(x))
        x.free()
        print(outcome(touch.get_function("touch"), address, np.int64(10)))
        """
    )
    assert printed.split() == ["error"]


@needs_nvcc
def test_a_variable_of_a_module_has_no_zone():
    printed = run(
        """
        m = compiled("__device__ int table[10]; __global__ void f(int i)"
                     "{ table[i] = 1; }")
        print(outcome(m.get_function("f"), np.int32(9)))
        print(outcome(m.get_function("f"), np.int32(1000)))
        """
    )
    assert printed.split() == ["fine", "error"]


@needs_nvcc
def test_one_warning_for_each_line():
    printed = run(
        """
        add = compiled('''
        __global__ void add(float *c, const float *a, const float *b)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            c[i] = a[i] + b[i];
            c[i] *= 2;
        }
        ''', "-lineinfo").get_function("add")
        a = gpuarray.zeros(40, np.float32)
        print(outcome(add, a.copy(), a, a, block=400), outcome(add, a, a, a, block=400))
        """
    )
    assert printed.split() == ["2", "fine"]


MESSAGE = """
x = gpuarray.zeros(40, np.int32)
f = touch.get_function("touch")
f(x.gpudata, np.int64(164), block=(1, 1, 1))  # here
"""


def program(code, *options, **environment):
    """Run a program as a user does. Return the process."""
    return run_child(
        START + code, *options, check=False, PYCUDA_DRIVER="emulator", **environment
    )


@needs_nvcc
def test_the_warning_names_the_line_the_kernel_and_the_memory():
    done = program(MESSAGE + "drv.Context.synchronize()\n")
    assert done.returncode == 0
    line = (START + MESSAGE).splitlines().index(MESSAGE.splitlines()[3]) + 1
    words = " ".join(done.stderr.split())
    assert f"<string>:{line}: PyCUDAWarning: a kernel goes beyond its array" in words
    assert "write of 1 bytes at address 0x" in words
    assert "it is 4 bytes beyond the end of the 160-byte device allocation" in words
    assert "in kernel touch, block (0, 0, 0), thread (0, 0, 0)" in words
    assert "PYCUDA_CHECK=memory" in words


@needs_nvcc
def test_a_warning_of_the_last_line_is_not_lost():
    done = program(
        MESSAGE.replace("block", "stream=drv.Stream(), block"),
        PYCUDA_EMULATOR_STREAMS="late",
    )
    assert done.returncode == 0
    assert done.stderr.count("a kernel goes beyond its array") == 1


@needs_nvcc
def test_a_warning_can_be_an_error():
    done = program("warnings.simplefilter('error')\n" + MESSAGE + "print('went on')\n")
    assert done.returncode == 1 and "went on" not in done.stdout
    assert "PyCUDAWarning: a kernel goes beyond its array" in done.stderr


@needs_nvcc
def test_a_kernel_of_another_thread():
    done = program(
        "import threading\n"
        "def work():\n"
        "    pycuda.autoinit.context.push()\n"
        "    try:\n"
        + textwrap.indent(MESSAGE, 8 * " ")
        + "        drv.Context.synchronize()\n"
        "    finally:\n"
        "        drv.Context.pop()\n"
        "pycuda.autoinit.context.pop()\n"
        "t = threading.Thread(target=work); t.start(); t.join()\n"
        "pycuda.autoinit.context.push()\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("a kernel goes beyond its array") == 1


def test_without_python_the_warning_goes_to_stderr():
    code = """
from support.emulator import *
from support.emulator_arrays import Arrays
import numpy as np, os
os.chdir(str(ROOT))
d = Driver()
d.ok("Init", 0)
d.context()
g = Arrays(d)
m = g.load(open("test/data/kernels/runtime.ptx").read())
g.launch(m, "store_at", 1, 1, g.empty(64), np.int64(1000))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": PATH, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.startswith("pycuda: a kernel goes beyond its array")
    assert Driver  # the same class as in the program


# -- programs of books -----------------------------------------------------------------

#: A kernel without a check of its index, the threads of a block and the blocks, the
#: elements of the arrays x and y, and what y holds in the end.
X = np.arange(40, dtype=np.int32)
BOOKS = {
    "scale": ("y[i] = 3 * x[i];", 400, 1, 3 * X),
    "add": ("y[i] = x[i] + x[i];", 256, 4, 2 * X),
    "difference": ("y[i] = x[i] - (i > 0) * x[i - 1];", 64, 1, np.diff(X, prepend=0)),
    "next": ("y[i] = x[i + 1];", 64, 1, np.append(X[1:], 0)),
    "reverse": ("y[39 - i] = x[i];", 1000, 1, X[::-1]),
    "two": ("y[2 * i] = x[2 * i]; y[2 * i + 1] = -x[2 * i + 1];", 64, 2, X * (-1) ** X),
}


@needs_nvcc
@pytest.mark.parametrize("name", BOOKS)
def test_a_program_of_a_book_runs_and_warns(name):
    body, block, grid, expected = BOOKS[name]
    printed = run(
        f"""
        f = compiled('''
        __global__ void f(int *y, const int *x)
        {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            {body}
        }}
        ''').get_function("f")
        y = np.zeros(40, np.int32)
        x = np.arange(40, dtype=np.int32)
        print(outcome(f, drv.InOut(y), drv.In(x), block={block}, grid={grid}))
        print(y.tolist())
        """
    )
    warned, values = printed.split("\n", 1)
    assert int(warned) >= 1
    assert values.strip() == str(expected.tolist())
