"""python -m pycuda profile --lines: what each line of a kernel costs, and advice."""

import json
import os
import re
import subprocess
import sys

import pytest

from pycuda.profile import _advice, _opcodes, _ptxas
from support.compilers import needs_nvcc

pytestmark = needs_nvcc

PROGRAM = '''
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

module = SourceModule("""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
struct particle { float x, y, z, mass; };
struct __align__(16) vector { float x, y, z, w; };

__global__ void strided_load(float *a, const float *b) { a[I] = b[I * 32 % 4096]; }
__global__ void plain_load(float *a, const float *b) { a[I] = b[I]; }
__global__ void shifted_load(float *a, const float *b) { a[I] = b[I + 1]; }
__global__ void strided_store(float *a, const float *b) { a[I * 32 % 4096] = b[I]; }
__global__ void member(float *a, const particle *b) { a[I] = b[I].x; }
__global__ void whole(vector *a, const vector *b) { a[I] = b[I]; }
__global__ void gather(float *a, const float *b) { a[I] = b[I * 7919u * I % 4096]; }

__global__ void bytes(char *a, const char *b)
{
    int i = threadIdx.x % 16 + (I / 16) * 64;
    a[i] = b[i];
}

__global__ void column(float *a, const float *b)
{
    __shared__ float s[32][32];
    s[threadIdx.x / 32][threadIdx.x % 32] = b[I];
    __syncthreads();
    a[I] = s[threadIdx.x % 32][threadIdx.x / 32];
}
__global__ void padded(float *a, const float *b)
{
    __shared__ float s[32][33];
    s[threadIdx.x / 32][threadIdx.x % 32] = b[I];
    __syncthreads();
    a[I] = s[threadIdx.x % 32][threadIdx.x / 32];
}

__global__ void narrow(float *a, const float *b)
{
    __shared__ float s[16][36];
    int i = threadIdx.x % 16, k = threadIdx.x / 16;
    s[k][i] = b[I];
    __syncthreads();
    a[I] = s[k][15 - i];
}

__global__ void few_lanes(float *a, const float *b)
{
    float x = b[I];
    if (I % 8 == 0)
        for (int k = 0; k < 30; k++)
            x = x * x + b[k];
    a[I] = x;
}
__global__ void whole_warps(float *a, const float *b)
{
    float x = b[I];
    if (threadIdx.x < 32)
        for (int k = 0; k < 30; k++)
            x = x * x + b[k];
    a[I] = x;
}

__global__ void one_bin(int *a, const int *b) { atomicAdd(&a[0], b[I]); }
__global__ void many_bins(int *a, const int *b) { atomicAdd(&a[I], b[I]); }

__global__ void local_array(float *a, const int *b)
{
    float keep[16];
    for (int k = 0; k < 16; k++)
        keep[k] = a[I] + k;
    for (int k = 0; k < 16; k++)
        keep[b[k] % 16] *= 3;
    a[I] = keep[b[I] % 16];
}
__global__ void in_registers(float *a, const int *b)
{
    float keep[16], sum = 0;
    for (int k = 0; k < 16; k++)
        keep[k] = a[I] + k;
    for (int k = 0; k < 16; k++)
        sum += keep[k] * b[k];
    a[I] = sum;
}

__global__ void double_constant(float *a, const float *b) { a[I] = b[I] * 2.1; }
__global__ void float_constant(float *a, const float *b) { a[I] = b[I] * 2.1f; }
__global__ void double_sum(double *a, const float *b) { a[I] += b[I] * 2.0f; }

__global__ void large_shared(float *a, const float *b)
{
    __shared__ float s[10240];
    s[threadIdx.x] = b[I];
    __syncthreads();
    a[I] = s[threadIdx.x ^ 1];
}

__global__ void __launch_bounds__(1024, 2) many_values(float *a, const float *b)
{
    float keep[48], sum = 0;
    for (int k = 0; k < 48; k++)
        keep[k] = b[I + k];
    __syncthreads();
    for (int k = 0; k < 48; k++)
        sum = sum * keep[k] + a[I + k];
    a[I] = sum;
}
""")
a, b = (drv.mem_alloc(1 << 17) for _ in range(2))
for each in (a, b):
    drv.memset_d8(each, 0, 1 << 17)
for name, size in zip(sys.argv[1::2], sys.argv[2::2]):
    module.get_function(name)(a, b, block=(int(size), 1, 1), grid=(4, 1))
'''


def run(folder, *words, program=PROGRAM, **variables):
    (folder / "program.py").write_text(program, encoding="utf-8")
    environment = {
        **os.environ,
        "PYCUDA_CHECK": None,
        "PYCUDA_EMULATOR_CAPABILITY": "7.5",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        **variables,
    }
    return subprocess.run(
        [sys.executable, "-m", "pycuda", "profile", "--lines", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={k: v for k, v in environment.items() if v is not None},
    )


def kernels(folder, *words, **variables):
    """Run the program. Return its kernels by name."""
    done = run(folder, "--json", "program.py", *words, **variables)
    assert done.returncode == 0, done.stderr
    return {each["name"]: each for each in json.loads(done.stdout)["kernels"]}


#: (kind of advice, words of the advice, kernel that has it, kernel that has none)
ROWS = [
    (
        "uncoalesced load",
        "32 sectors a request, 4 sectors would do: neighbouring threads read addresses "
        "128 bytes apart",
        "strided_load",
        "plain_load",
    ),
    ("uncoalesced load", "far from each other", "gather", "shifted_load"),
    ("uncoalesced load", "16 bytes apart, 4 bytes each", "member", "whole"),
    ("uncoalesced store", "write addresses 128 bytes", "strided_store", "plain_load"),
    ("bank conflict", "32 wavefronts a request, 1 wavefront", "column", "padded"),
    ("bank conflict", "several rows of the array", "narrow", "padded"),
    ("divergence", "4.0 of 32 lanes are active", "few_lanes", "whole_warps"),
    ("atomics on one address", "32.0 lanes", "one_bin", "many_bins"),
    ("local memory", "1,024 requests", "local_array", "in_registers"),
    ("double by accident", "Write 0.5f", "double_constant", "float_constant"),
    ("double by accident", "", "double_constant", "double_sum"),
    ("small blocks", "a block has 8 threads", "float_constant", "plain_load"),
    ("occupancy", "limited by shared memory", "large_shared", "padded"),
    ("spills", "since a thread has 64", "many_values", "in_registers"),
    ("bytes moved", "36.0 KiB move", "strided_load", "shifted_load"),
    ("bytes moved", "several small elements a thread", "bytes", "plain_load"),
]
SIZES = {"column": 1024, "padded": 1024, "float_constant": 8}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The kernels of the rows."""
    words = []
    for name in dict.fromkeys(name for row in ROWS for name in row[2:]):
        words += [name, SIZES.get(name, 256)]
    return kernels(tmp_path_factory.mktemp("costs"), *words)


@pytest.mark.parametrize(("kind", "text", "bad", "good"), ROWS)
def test_advice(found, kind, text, bad, good):
    said = [each["text"] for each in found[bad]["advice"] if each["kind"] == kind]
    assert any(text in each for each in said), found[bad]["advice"]
    assert kind not in [each["kind"] for each in found[good]["advice"]]


def test_every_kind_of_advice_has_a_row():
    assert {row[0] for row in ROWS} == {*_advice.OF_LINES, *_advice.OF_KERNELS}


def test_little_work_is_not_called_divergent(tmp_path):
    found = kernels(tmp_path, "few_lanes", "32")["few_lanes"]
    assert found["lanes"] < 16 and found["advice"] == []


def test_good_kernels_have_no_advice(found):
    for name in ("plain_load", "shifted_load", "whole", "padded", "whole_warps"):
        assert found[name]["advice"] == [], name


def line(kernel, text):
    (found,) = [each for each in kernel["lines"] if text in each["text"]]
    return found


def test_the_numbers_of_lines(found):
    padded = found["padded"]
    load = line(padded, "= b[I]")
    assert [load["loads"][x] for x in ("requests", "cost", "least")] == [128, 512, 512]
    assert load["shared"]["requests"] == load["shared"]["cost"] == 128
    assert line(padded, "__syncthreads")["barriers"] == 128
    branch = line(found["few_lanes"], "if (I % 8")
    assert branch["divided"] == 4 * 256 // 32
    assert line(found["whole_warps"], "if (threadIdx.x < 32)")["divided"] == 0
    atomic = line(found["one_bin"], "atomicAdd")["atomics"]
    assert (atomic["requests"], atomic["equal"]) == (32, 1024)
    assert padded["lines"][0]["file"].endswith("program.py")
    number = PROGRAM[: PROGRAM.index("s[threadIdx.x % 32]")].count("\n") + 1
    assert line(found["column"], "a[I] = s[")["line"] == number


def test_the_totals_of_a_kernel(found):
    kernel = found["plain_load"]
    assert (kernel["launches"], kernel["blocks"], kernel["threads"]) == (1, 4, 1024)
    assert kernel["moved"] == kernel["least_moved"] == 2 * 4 * 1024
    assert kernel["lanes"] == 32 and kernel["flops"] == 0
    assert kernel["occupancy"] == 1
    doubled = found["double_sum"]
    # a * 2 and the sum, for 4 bytes read, 8 read and 8 written
    assert (doubled["flops"], doubled["intensity"]) == (2048, 0.1)
    moved = found["strided_load"]
    assert (moved["moved"], moved["least_moved"]) == (4096 + 32 * 32 * 32, 8192)


def test_the_limit_of_the_occupancy(found):
    large = found["large_shared"]
    assert (large["resident"], large["limit"]) == (1, "shared memory")
    assert found["padded"]["limit"] == "threads"


def test_registers_are_those_of_ptxas_or_estimated(found, tmp_path):
    assert not found["plain_load"]["is_estimate"]
    broken = tmp_path / "ptxas"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    # nvcc finds its own ptxas in its folder
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    estimated = kernels(tmp_path, "plain_load", "256", PATH=path)
    assert estimated["plain_load"]["is_estimate"]
    assert estimated["plain_load"]["registers"] > 0


def test_what_ptxas_says_is_read():
    said = """ptxas info    : Compiling entry function 'f' for 'sm_90'
ptxas info    : Function properties for f
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers
ptxas info    : Compiling entry function '_Z1gv' for 'sm_90'
ptxas info    : Function properties for _Z1gv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers
"""
    assert _ptxas._read(said) == {
        "f": _ptxas.Resources(24, 20),
        "_Z1gv": _ptxas.Resources(8, 0),
    }
    assert _ptxas._read("ptxas fatal   : error") == {}
    assert _ptxas.resources("no target") == {}


@pytest.mark.parametrize(
    ("text", "weight", "flops"),
    [
        ("mov.b32", 0, 0),
        ("mov.u32", 1, 0),
        ("fma.rn.f32", 1, 2),
        ("fma.rn.f16x2", 1, 4),
        ("add.s32", 1, 0),
        ("add.f64", 1, 1),
        ("div.rn.f32", 10, 1),
        ("div.rn.f64", 18, 1),
        ("rcp.approx.ftz.f32", 1, 1),
        ("mad.lo.s32", 1, 0),
        ("mad.lo.s64", 4, 0),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 1, 128),
        ("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 1, 0),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16", 1, 0),
        ("unknown", 1, 0),
    ],
)
def test_weights_and_operations_of_instructions(text, weight, flops):
    assert (_opcodes.weight(text), _opcodes.flops(text)) == (weight, flops)


# -- the command -----------------------------------------------------------------------


def test_the_table_and_the_page(tmp_path):
    words = "-o page.html -o table.txt -o all.json program.py column 1024 one_bin 256"
    done = run(tmp_path, *words.split())
    assert (done.returncode, done.stdout) == (0, "")
    table = (tmp_path / "table.txt").read_text(encoding="utf-8")
    assert table in done.stderr and "wrote page.html\nwrote table.txt" in done.stderr
    assert re.search(r"\n +\d+ +[\d,.]+ +32.0 +4 +1 +s\[threadIdx.x / 32\]", table)
    assert "  > 32 wavefronts a request" in table
    assert "(128 warps wait at a barrier)" in table
    assert max(len(row) for row in table.splitlines() if ">" in row[:10]) <= 88
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<td class="s">    __syncthreads();</td>' in page
    assert "32 wavefronts a request, 1 wavefront would do" in page
    assert not re.search(r"(src|href)=\"(?!#)", page)
    written = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [each["name"] for each in written["kernels"]] == ["column", "one_bin"]


def test_the_command_ends_as_the_program_does(tmp_path):
    program = PROGRAM + "print('text')\nsys.exit(3)\n"
    done = run(tmp_path, "-q", "program.py", "plain_load", "64", program=program)
    assert (done.returncode, done.stdout, done.stderr) == (3, "text\n", "")
    assert (tmp_path / "pycuda_lines.html").exists()


def test_a_program_without_kernels(tmp_path):
    done = run(tmp_path, "program.py", program="print('text')")
    assert (done.returncode, done.stdout) == (0, "text\n")
    assert "no kernel ran on the software device" in done.stderr
    assert not (tmp_path / "pycuda_lines.html").exists()
    failed = run(tmp_path, "program.py", program="1 / 0")
    assert failed.returncode == 1
    assert "ZeroDivisionError" in failed.stderr
    assert "the program failed before a kernel ran" in failed.stderr
    missing = run(tmp_path, "nothing.py")
    assert missing.returncode == 2 and "there is no file" in missing.stderr


def test_a_program_that_fails_is_reported(tmp_path):
    program = PROGRAM + "raise ValueError('wrong')\n"
    done = run(tmp_path, "program.py", "plain_load", "64", program=program)
    assert done.returncode == 1
    assert "ValueError: wrong" in done.stderr and "plain_load: 1 launch" in done.stderr


def test_children_are_counted(tmp_path):
    program = "import subprocess, sys\n" + (
        "sys.exit(subprocess.call([sys.executable, 'inner.py', 'plain_load', '64']))\n"
    )
    (tmp_path / "inner.py").write_text(PROGRAM, encoding="utf-8")
    assert kernels(tmp_path, program=program)["plain_load"]["launches"] == 1
