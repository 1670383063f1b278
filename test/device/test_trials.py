"""The first block of a kernel runs with all checks, and what they find is a warning.

A race of a book may give right results on a GPU in every run and wrong ones here, where
warps run in another order. Without any switch the user learns why.
"""

import pytest

from support.child import run_child
from support.compilers import needs_nvcc

START = """
import sys, warnings
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

def launch(kernel, *arguments, block=256, grid=1):
    # Print the kinds of the warnings.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kernel(*arguments, block=(block, 1, 1), grid=(grid, 1))
            drv.Context.synchronize()
        except drv.Error as error:
            print("error", error.name)
    words = [str(each.message).split("PYCUDA_CHECK=")[1] for each in caught]
    print(*(word.split()[0] for word in words))

x = drv.to_device(np.ones(4096, np.int32))
"""


def printed(source, code, **environment):
    """Compile a source, run code, and return the lines that it prints."""
    program = f"{START}\nf = SourceModule('''{source}''').get_function('f')\n{code}"
    environment = {"PYCUDA_DRIVER": "emulator", "PYCUDA_CHECK": None, **environment}
    return run_child(program, **environment).stdout.splitlines()


#: Kernels of books: what is missing in `{}`, and the check that finds it.
BOOKS = {
    "scan": (
        """__shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
        for (int n = 1; n < 256; n *= 2) {{
            int v = t >= n ? s[t - n] : 0;
            {}
            s[t] += v;
            __syncthreads();
        }}
        x[t] = s[t];""",
        "__syncthreads();",
        "race",
    ),
    "reduction": (
        """__shared__ int s[256]; int t = threadIdx.x; s[t] = x[t]; __syncthreads();
        for (int n = 128; n > 0; n /= 2) {{
            if (t < n) s[t] += s[t + n];
            {}
        }}
        if (t == 0) x[0] = s[0];""",
        "__syncthreads();",
        "race",
    ),
    "reverse": (
        """__shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
        {}
        x[t] = s[255 - t];""",
        "__syncthreads();",
        "race",
    ),
    "tiles": (
        """__shared__ int s[256]; int t = threadIdx.x, sum = 0;
        for (int k = 0; k < 4; k++) {{
            s[t] = x[k * 256 + t];
            __syncthreads();
            for (int i = 0; i < 256; i += 16) sum += s[(i + t) % 256];
            {}
        }}
        x[t] = sum;""",
        "__syncthreads();",
        "race",
    ),
    "histogram": (
        """__shared__ int s[16]; int t = threadIdx.x; if (t < 16) s[t] = 0;
        __syncthreads();
        {} s[x[t] % 16] += 1;
        __syncthreads();
        if (t < 16) x[t] = s[t];""",
        "if (t == 0)",
        "race",
    ),
    "counter": (
        """__shared__ int s; int t = threadIdx.x; {}
        __syncthreads();
        atomicAdd(&s, x[t]);
        __syncthreads();
        if (t == 0) x[0] = s;""",
        "if (t == 0) s = 0;",
        "init",
    ),
    "branches": (
        """__shared__ int s[256]; int t = threadIdx.x; s[t] = x[t];
        {}
        if (t < 128) {{ x[t] = s[t]; __syncthreads(); }}
        else {{ x[t] = -s[t]; __syncthreads(); x[t] += 1; }}""",
        "__syncthreads(); x[t] = s[255 - t]; return;",
        "barrier",
    ),
}


def source_of(name, is_right):
    body, repair, _ = BOOKS[name]
    filled = body.format(repair if is_right else "")
    return "__global__ void f(int *x) {" + filled + "}"


@needs_nvcc
@pytest.mark.parametrize("name", BOOKS)
def test_a_fault_of_a_book_is_a_warning(name):
    check = BOOKS[name][2]
    lines = printed(source_of(name, False), "launch(f, x); print('end')")
    assert check in lines[0].split() and lines[1:] == ["end"]


@needs_nvcc
@pytest.mark.parametrize("name", BOOKS)
def test_the_right_program_has_no_warning(name):
    assert printed(source_of(name, True), "launch(f, x)") == [""]


@needs_nvcc
def test_with_the_check_it_is_an_error():
    source = source_of("reverse", False)
    lines = printed(source, "launch(f, x)", PYCUDA_CHECK="race")
    assert lines[0] == "error CUDA_ERROR_LAUNCH_FAILED"
    assert printed(source, "launch(f, x)", PYCUDA_CHECK="barrier") == [""]


@needs_nvcc
def test_exact_bounds_leave_the_trial():
    lines = printed(source_of("reverse", False), "launch(f, x)", PYCUDA_CHECK="memory")
    assert lines == ["race"]


LATER = """
__global__ void f(int *x, int block)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = x[t];
    if (blockIdx.x != block)
        __syncthreads();
    x[t] = s[255 - t];
}
"""


@needs_nvcc
@pytest.mark.parametrize(("block", "found"), [(0, "race"), (1, "")])
def test_only_the_first_block_is_tried(block, found):
    assert printed(LATER, f"launch(f, x, np.int32({block}), grid=2)") == [found]


@needs_nvcc
def test_only_the_first_launch_is_tried():
    code = "launch(f, x, np.int32(1)); launch(f, x, np.int32(0))"
    assert printed(LATER, code) == ["", ""]
    assert printed(LATER, code.replace("1", "0")) == ["race", ""]


@needs_nvcc
@pytest.mark.parametrize(("turns", "found"), [(1, "race"), (100_000, "")])
def test_a_trial_ends_after_a_while(turns, found):
    source = """
    __global__ void f(int *x, int turns)
    {
        __shared__ int s[256];
        int t = threadIdx.x;
        for (int i = 0; i < turns; i++)
            x[t] = x[t] * 3 + i;
        s[t] = x[t];
        x[t] = s[255 - t];
    }
    """
    assert printed(source, f"launch(f, x, np.int32({turns}))") == [found]


#: Each turn of an iteration reads what the iteration before stored, and stores for the
#: next. Warps stop before a store, and the second block lets time pass: after 2 ms the
#: device looks for 32 turns whether the first one waits, in the middle of its trial.
EXCHANGE = """
__global__ void f{number}(int *x)
{{
    __shared__ int s[2][11][256];
    int t = threadIdx.x, sum = {number};
    double a[24]; // more than warps keep side by side
    #pragma unroll
    for (int k = 0; k < 24; k++) a[k] = t + k;
    for (int i = 0; i < 60; i++) {{
        #pragma unroll
        for (int k = 0; k < 11; k++) {{
            if (i > 0) sum += s[~i & 1][k][t];
            s[i & 1][k][t ^ 1] = sum;
        }}
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < 24; k++) a[k] = a[k] * a[(k + 1) % 24] + sum;
        if (blockIdx.x)
            for (int k = 0; k < 5000; k++) {{
                sum ^= sum << 13;
                sum ^= sum >> 17;
                sum ^= sum << 5;
            }}
    }}
    #pragma unroll
    for (int k = 1; k < 24; k++) a[0] += a[k];
    x[blockIdx.x * 256 + t] = sum + (int)a[0];
}}
"""


def test_the_padding_of_a_struct_needs_no_value():
    """Compilers put a byte into a word without a value, and shuffles move the word."""
    code = """
from pycuda.gpuarray import to_gpu
made = to_gpu(np.arange(2880).reshape(2, 40, 36) % 7 == 0).max(axis=1)
print(made.get().all())
"""
    made = run_child(START + code, PYCUDA_DRIVER="emulator", PYCUDA_CHECK="init")
    assert made.stdout.split() == ["True"]


@needs_nvcc
def test_a_trial_has_no_gaps():
    """Gaps would hide barriers, and so find races in a right kernel."""
    source = "".join(EXCHANGE.format(number=k) for k in range(6))
    code = """
for k in range(6):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m.get_function(f"f{k}")(x, block=(256, 1, 1), grid=(2, 1), cooperative=True)
        drv.Context.synchronize()
    print(*(each.message for each in caught))
"""
    made = run_child(
        f"{START}\nm = SourceModule('''{source}''')\n{code}",
        PYCUDA_DRIVER="emulator",
        PYCUDA_CHECK=None,
        PYCUDA_EMULATOR_THREADS="1",
    )
    assert made.stdout.split() == []


@needs_nvcc
def test_a_later_kernel_knows_nothing_of_a_trial():
    """The trial ends with unset values in registers, and a check of bounds follows."""
    source = """
    __global__ void f(int *x, int n)
    {
        __shared__ int s[64];
        int own[4];
        if (n > 4)
            own[0] = own[1] = 1;
        for (int i = 0; i < 4; i++)
            x[64 * i + threadIdx.x] = own[(i + n) % 4];
        s[threadIdx.x % 64] = x[threadIdx.x];
        x[threadIdx.x] = s[(threadIdx.x + n) % 64];
    }
    """
    code = "for n in range(4): launch(f, x, np.int32(n), block=64)"
    lines = printed(source, code, PYCUDA_CHECK="memory")
    assert "init" in lines[0] and lines[1:] == ["", "", ""]


@needs_nvcc
def test_a_deadlock_is_an_error():
    source = """
    __global__ void f(int *x)
    {
        if (threadIdx.x < 32)
            asm volatile("bar.sync 1, 96;");
        else
            asm volatile("bar.sync 2, 96;");
    }
    """
    assert printed(source, "launch(f, x, block=64)")[0].startswith("error")


@needs_nvcc
def test_a_fault_in_a_trial_is_an_error():
    source = "__global__ void f(int *x) { *(int *)((char *)x + 2) = 1; }"
    assert printed(source, "launch(f, x)")[0] == "error CUDA_ERROR_MISALIGNED_ADDRESS"


@needs_nvcc
def test_results_are_those_without_a_trial():
    """Atomic operations, shuffles and warps of different lengths in a tried block."""
    source = """
    __global__ void f(int *x)
    {
        __shared__ int s[8];
        int t = threadIdx.x, v = x[t] + t;
        if (t < 8)
            s[t] = 0;
        __syncthreads();
        for (int i = 0; i < t / 32 + t % 3; i++)
            v += i * t;
        for (int n = 16; n > 0; n /= 2)
            v += __shfl_down_sync(0xffffffff, v, n);
        if (t % 32 == 0)
            atomicAdd(&s[t / 32], v);
        __syncthreads();
        x[t] = s[t / 32] + v;
    }
    """
    code = """
y = drv.to_device(np.ones(256, np.int32))
launch(f, y)
first = drv.from_device(y, 256, np.int32)
drv.memcpy_htod(y, np.ones(256, np.int32))
launch(f, y)
print((first == drv.from_device(y, 256, np.int32)).all(), first.sum() != 256)
"""
    assert printed(source, code) == ["", "", "True True"]


START_SUM = """__shared__ int s[1024]; int t = threadIdx.x;
    s[t] = x[t]; __syncthreads();"""

#: Kernels without a barrier between all loads and all stores, and with it.
SIDE_BY_SIDE = {
    "scan": (
        """for (int n = 1; n < 1024; n *= 2) {
            if (t >= n) s[t] = s[t] + s[t - n];
            __syncthreads();
        }
        x[t] = s[t];""",
        """int sum = 0;
        for (int n = 1; n < 1024; n *= 2) {
            if (t >= n) sum = s[t - n];
            __syncthreads();
            if (t >= n) s[t] += sum;
            __syncthreads();
        }
        x[t] = s[t];""",
    ),
    "tiles": (
        """int sum = 0;
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 1024; i += 64 + t / 32) sum += s[(i + t) % 1024];
            s[t] = x[t] + k;
            __syncthreads();
        }
        x[t] = sum;""",
        """int sum = 0;
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 1024; i += 64 + t / 32) sum += s[(i + t) % 1024];
            __syncthreads();
            s[t] = x[t] + k;
            __syncthreads();
        }
        x[t] = sum;""",
    ),
    "shift": (
        """if (t % 3) s[t] = s[t - 1] + 1;
        __syncthreads();
        x[t] = s[t];""",
        """int sum = 0;
        if (t % 3) sum = s[t - 1];
        __syncthreads();
        if (t % 3) s[t] = sum + 1;
        __syncthreads();
        x[t] = s[t];""",
    ),
}


@needs_nvcc
@pytest.mark.parametrize("name", SIDE_BY_SIDE)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_warps_load_side_by_side(name, threads):
    """A GPU gives the expected values without the barrier in nearly every run."""
    wrong, right = (
        "__global__ void f(int *x) {" + START_SUM + body + "}"
        for body in SIDE_BY_SIDE[name]
    )
    code = f"""
values = np.arange(1024, dtype=np.int32) % 7
def run(f):
    y = drv.to_device(values)
    f(y, block=(1024, 1, 1))
    return drv.from_device(y, 1024, np.int32)

expected = run(SourceModule({right!r}).get_function("f"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    same = sum((run(f) == expected).all() for _ in range(100))
print(same, any("race:" in str(each.message) for each in caught))
"""
    lines = printed(wrong, code, PYCUDA_EMULATOR_THREADS=threads)
    assert lines == ["100 True"]


@needs_nvcc
def test_warps_of_a_right_kernel_run_as_always():
    """Only a race makes the warps give way: the sums depend on their order."""
    source = """
    __global__ void f(int *x)
    {
        __shared__ int s[256];
        int t = threadIdx.x;
        s[t] = t;
        __syncthreads();
        if (t % 32 < 16) {
            s[t ^ 16] = s[t] * 2;
            x[t] = atomicAdd(x + 999, 1);
        }
    }
    """
    code = """
orders = []
for _ in range(3):
    y = drv.to_device(np.zeros(1024, np.int32))
    f(y, block=(256, 1, 1))
    orders.append(drv.from_device(y, 256, np.int32).tolist())
print(orders[1] == orders[2], sorted(orders[0]) == sorted(orders[1]))
"""
    assert printed(source, code) == ["True True"]
