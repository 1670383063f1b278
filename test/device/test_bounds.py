"""Check that accesses beyond a variable of shared or local memory, or beyond what a
pool has lent, are found, and that accesses inside are not.

All kernels run in one process for each value of PYCUDA_CHECK, in contexts of their own.
"""

import json

import pytest

from support.child import run_child

PROGRAM = r'''
import json
import warnings

import numpy as np
import pycuda.driver as drv
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceMemoryPool

SOURCE = r"""
extern "C" {
__device__ __noinline__ int sum(const int *p, int n)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += p[i];
    return all;
}
__global__ void local(int *x, int i)
{
    int s[5];
    for (int k = 0; k < 5; k++) s[k] = x[k];
    s[i] = 3;
    x[0] = s[i] + s[0];
}
__global__ void local_of_caller(int *x, int i)
{
    int s[5];
    for (int k = 0; k < 5; k++) s[k] = x[k];
    x[0] = sum(s, 5) + s[i];
}
__global__ void shared(int *x, int i)
{
    __shared__ int s[66];
    if (threadIdx.x == 0) s[i] = x[0];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}
__global__ void two_arrays(int *x, int i, int j)
{
    __shared__ int first[64], second[64];
    first[threadIdx.x] = second[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = first[i] + second[j];
}
__global__ void rows(float *x, int column)
{
    __shared__ float a[16][17], b[16][16];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    a[ty][tx] = b[ty][tx] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = b[tx][ty + column] + a[tx][ty];
}
__global__ void swapped(int *x, int n)
{
    __shared__ int a[256], b[256];
    int *from = a, *to = b;
    from[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        int more = threadIdx.x >= d ? from[threadIdx.x - d] : 0;
        to[threadIdx.x] = from[threadIdx.x] + more;
        int *other = from;
        from = to;
        to = other;
        __syncthreads();
    }
    x[threadIdx.x] = from[threadIdx.x];
}
__global__ void atomic(int *x, int i)
{
    __shared__ int bins[8], other[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = other[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(bins + i, 1);
    __syncthreads();
    if (threadIdx.x < 8) x[threadIdx.x] = bins[threadIdx.x] + other[threadIdx.x];
}
__global__ void dynamic(int *x, int i)
{
    extern __shared__ int more[];
    __shared__ int fixed[32];
    fixed[threadIdx.x] = 1;
    more[threadIdx.x] = 2;
    __syncthreads();
    x[threadIdx.x] = more[i] + fixed[31 - threadIdx.x];
}
__global__ void passed(int *x, int n)
{
    __shared__ int first[16], second[16];
    if (threadIdx.x < 16) first[threadIdx.x] = second[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = sum(threadIdx.x % 2 ? first : second, n);
}
__global__ void vector(float4 *x, int i)
{
    __shared__ float4 tile[32], next[32];
    next[threadIdx.x] = tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float4 v = tile[threadIdx.x + i];
    v.x += next[threadIdx.x].x;
    x[threadIdx.x] = v;
}
__global__ void beyond(float *x, int i) { x[i] = 1; }
__global__ void widened(int *x, int i)
{
    __shared__ __align__(16) int s[3];
    s[threadIdx.x % 3] = 1;
    __syncthreads();
    x[threadIdx.x] = s[0] + s[1] + s[2];
    if (threadIdx.x == 0) s[i] = x[0];
    __syncthreads();
    x[threadIdx.x] += s[threadIdx.x % 3];
}
}
"""
#: The address of `b` is that of `a` plus the distance of the two variables.
PTX = b"""
.version 6.4
.target sm_75
.address_size 64
.visible .entry distance(.param .u64 x)
{
    .reg .b32 %r<9>;
    .shared .align 4 .b8 a[4];
    .shared .align 4 .b8 b[4];
    mov.u32 %r1, a;
    mov.u32 %r2, b;
    sub.s32 %r3, %r2, %r1;
    add.s32 %r4, %r1, %r3;
    mov.u32 %r5, 7;
    st.shared.u32 [%r4], %r5;
    and.b32 %r6, %r4, -4;
    st.shared.u32 [%r6], %r5;
    st.shared.u32 [a], %r5;
    ret;
}
"""
drv.init()
warnings.simplefilter("ignore")  # what else is found in the first block


def run(name, *more, block=32, shared=0, module=None):
    """Return the report, or nothing."""
    context = drv.Device(0).make_context()
    module = module or (lambda: SourceModule(SOURCE, no_extern_c=True))
    kernel = module().get_function(name)
    x = drv.mem_alloc(4096)
    drv.memset_d8(x, 0, 4096)
    more = map(np.int32, more)
    try:
        kernel(x, *more, block=(block, 1, 1), shared=shared)
        context.synchronize()
    except drv.Error as error:
        text = str(error).split("\n")[1].strip()
    else:
        text = ""
    context.pop()
    return text


def pooled(sizes, i):
    """Take and return blocks of these numbers of floats; the kernel uses the last."""
    context = drv.Device(0).make_context()
    kernel = SourceModule(SOURCE, no_extern_c=True).get_function("beyond")
    pool = DeviceMemoryPool()
    block = None
    for n in sizes:
        block = None
        block = pool.allocate(4 * n)
    whole = pool.alloc_size(pool.bin_number(4 * n))
    drv.memset_d8(block, 0, whole)  # a copy may use the rest of the block
    try:
        kernel(block, np.int32(i), block=(1, 1, 1))
        context.synchronize()
    except drv.Error as error:
        text = str(error).split("\n")[1].strip()
    else:
        text = ""
    block = None
    context.pop()
    return text


results = {}
for name, *more in json.loads(CASES):
    options = {}
    if name == "rows":
        options["block"] = 256
    elif name in ("two_arrays", "shared"):
        options["block"] = 64
    elif name == "swapped":
        options["block"] = 256
    elif name == "dynamic":
        options["shared"] = 200
    if name == "distance":
        options["module"] = lambda: drv.module_from_buffer(PTX)
    if name == "pooled":
        results[str([name, *more])] = pooled(*more)
    else:
        results[str([name, *more])] = run(name, *more, **options)
print(json.dumps(results))
'''

LOCAL = "of local memory"
#: Found without any word in PYCUDA_CHECK: kernel, arguments, words of the report.
ALWAYS = [
    ("local", 5, "write of 4 bytes at offset 20 of local memory"),
    ("local", 35, "write of 4 bytes at offset 140 of local memory"),
    ("local", -1, "local memory"),
    ("shared", 96, "write of 4 bytes at offset 384 of shared memory"),
    ("shared", 101, "write of 4 bytes at offset 404 of shared memory"),
]
#: A GPU gives shared memory in units of 128 bytes: these give a warning.
WARNED = [("shared", 66), ("shared", 95)]
#: Found with the word `memory`.
EXACT = [
    ("local", 5, "0 bytes beyond the end of the 20 bytes of local arrays"),
    ("local", -1, "4 bytes before the start of the 20 bytes of local arrays"),
    ("local_of_caller", 6, "4 bytes beyond the end of the 20 bytes of local arrays"),
    ("shared", 66, "0 bytes beyond the end of the 264-byte variable s"),
    ("two_arrays", -1, 0, "4 bytes before the start of the 256-byte variable first"),
    ("two_arrays", 64, 0, "0 bytes beyond the end of the 256-byte variable first"),
    ("two_arrays", 0, -1, "4 bytes before the start of the 256-byte variable second"),
    ("rows", 1, "0 bytes beyond the end of the 1024-byte variable b"),
    ("atomic", 8, "0 bytes beyond the end of the 32-byte variable bins"),
    ("dynamic", -1, "4 bytes before the start of the variable more"),
    ("widened", 3, "0 bytes beyond the end of the 12-byte variable s"),
    ("vector", 1, "0 bytes beyond the end of the 512-byte variable tile"),
    ("pooled", [100], 100, "0 bytes beyond the end of the 400-byte device allocation"),
    ("pooled", [100], 101, "4 bytes beyond the end of the 400-byte device allocation"),
    ("pooled", [103, 100], 102, "beyond the end of the 400-byte device allocation"),
]
#: Right, whatever is checked.
RIGHT = [
    ("local", 4),
    ("local_of_caller", 4),
    ("shared", 65),
    ("two_arrays", 63, 63),
    ("rows", 0),
    ("swapped", 256),
    ("atomic", 7),
    ("dynamic", 49),
    ("passed", 16),
    ("widened", 2),
    ("vector", 0),
    ("distance",),
    ("pooled", [100], 99),
    ("pooled", [100, 103], 102),
    ("pooled", [1], 0),
]


def run_cases(check):
    cases = [list(case[:-1]) for case in ALWAYS + EXACT]
    cases += map(list, RIGHT + WARNED)
    program = f"CASES = {json.dumps(json.dumps(cases))}\n{PROGRAM}"
    done = run_child(program, PYCUDA_DRIVER="emulator", PYCUDA_CHECK=check, timeout=300)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def plain():
    return run_cases("")


@pytest.fixture(scope="module")
def exact():
    return run_cases("memory,race,barrier")


@pytest.mark.parametrize("case", ALWAYS, ids=str)
def test_what_is_always_found(plain, exact, case):
    key = str(list(case[:-1]))
    assert case[-1] in plain[key]
    assert exact[key] != ""


@pytest.mark.parametrize("case", WARNED, ids=str)
def test_what_a_gpu_lets_pass(plain, exact, case):
    """From the next multiple of 128 bytes on, an H200 faults (see ALWAYS)."""
    key = str(list(case))
    assert plain[key] == ""
    assert f"{(case[1] - 66) * 4} bytes beyond the end of the 264-byte" in exact[key]


BEHIND_SHARED = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

kernel = SourceModule('''
__global__ void shared(int *x, int i)
{
    __shared__ int s[66];
    s[threadIdx.x] = 5;
    if (threadIdx.x == 0) s[i] = 7;
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x == 1 ? i : threadIdx.x];
}
''').get_function("shared")
x = np.zeros(32, np.int32)
kernel(drv.Out(x), np.int32(66), block=(32, 1, 1))
print(x[:3])
"""


def test_accesses_behind_shared_memory_warn_and_go_on():
    setting = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None}
    done = run_child(BEHIND_SHARED, check=False, **setting)
    assert done.stdout == "[5 7 5]\n"
    assert "a kernel goes beyond shared memory; a GPU lets it pass" in done.stderr
    assert "offset 264 of shared memory, which has 264 bytes" in done.stderr


@pytest.mark.parametrize("case", EXACT, ids=str)
def test_what_the_word_memory_finds(exact, case):
    assert case[-1] in exact[str(list(case[:-1]))]


@pytest.mark.parametrize("case", RIGHT, ids=str)
def test_what_is_right(plain, exact, case):
    assert plain[str(list(case))] == ""
    assert exact[str(list(case))] == ""


def test_neighbours_are_found_by_the_word_only(plain):
    """The counterpart: one array lies behind the other."""
    assert "" in [plain[f"['two_arrays', {i}, 0]"] for i in (-1, 64)]


# -- sizes that NVIDIA's assembler refuses ---------------------------------------------

SIZES = '''
import pycuda.autoinit
import pycuda.driver as drv

TEXT = """
.version 6.4
.target sm_75
.address_size 64
.const .align 4 .b8 c[{}];
.visible .entry k()
{{
    .shared .align 4 .b8 s[{}];
    .reg .b32 %r<2>;
    ld.const.u32 %r1, [c];
    st.shared.u32 [s], %r1;
    ret;
}}
"""

for sizes in [(65536, 49152), (65536, 49153), (65537, 49152)]:
    try:
        drv.module_from_buffer(TEXT.format(*sizes).encode())
    except drv.LogicError as error:
        print(str(error).strip().partition("error: ")[2])
    else:
        print("loaded")
'''


def test_sizes_that_are_too_large():
    done = run_child(SIZES, PYCUDA_DRIVER="emulator")
    assert done.stdout.splitlines() == [
        "loaded",
        "Entry function 'k' uses too much shared data (0xc001 bytes, 0xc000 max)",
        "File uses too much global constant data (0x10001 bytes, 0x10000 max)",
    ]
