"""Kernels that launch kernels on the software device, and their other calls."""

import ctypes
import re
import struct
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import numpy as np
import pytest

from support.compilers import needs_nvcc
from support.emulator import R, child, launch_parameters, size
from support.marks import emulator_only
from support.ptx import compile_ptx

pytest_plugins = ["support.emulator_fixtures"]

pytestmark = needs_nvcc

RUNTIME = b"/usr/local/cuda/lib64/libcudadevrt.a"  # only the name is used

FAMILY = r"""
struct shape { double scale; int from; char tag; };

extern "C" __global__ void fill(float *a, shape s, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = s.scale * (s.from + i) + s.tag;
}

extern "C" __global__ void parent(float *a, int n)
{
    // Each block fills its part of the array.
    if (threadIdx.x == 0) {
        shape s = {0.5, (int)blockIdx.x * n, 1};
        fill<<<(n + 31) / 32, 32>>>(a + blockIdx.x * n, s, n);
    }
}

// Children run after the parent's threads, in the order of their launches.
extern "C" __global__ void note(int *log, int what) { log[1 + log[0]++] = what; }

extern "C" __global__ void order(int *log)
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 90);
    note<<<1, 1>>>(log, 1);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 2);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 91);
    cudaStream_t s;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    note<<<1, 1, 0, s>>>(log, 3);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(0, e, 0);
    note<<<1, 1>>>(log, 4);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
    log[1 + log[0]++] = 100;
}

// A grid is complete when its children are, so 'a' comes before 'b' at all levels.
extern "C" __global__ void nested(int *log, int depth)
{
    note<<<1, 1>>>(log, depth);
    if (depth > 0) nested<<<1, 1>>>(log, depth - 1);
    note<<<1, 1>>>(log, -depth);
}

// The next step of a chain is launched by the one before, thousands of times.
extern "C" __global__ void chain(int *log, int left)
{
    log[0]++;
    if (left > 1) chain<<<1, 1, 0, cudaStreamTailLaunch>>>(log, left - 1);
}

extern "C" __global__ void deeper(int *depth, int *error)
{
    int mine = ++*depth;
    deeper<<<1, 1>>>(depth, error);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) *error = e * 1000 + mine;
}

// Quicksort, the example that all know.
extern "C" __global__ void sort(int *a, int low, int high)
{
    int l = low, h = high, pivot = a[(low + high) / 2];
    while (l <= h) {
        while (a[l] < pivot) l++;
        while (a[h] > pivot) h--;
        if (l <= h) { int t = a[l]; a[l++] = a[h]; a[h--] = t; }
    }
    if (low < h) sort<<<1, 1>>>(a, low, h);
    if (l < high) sort<<<1, 1>>>(a, l, high);
}

// Shared memory, several dimensions, all threads launching.
extern "C" __global__ void sum(int *out)
{
    extern __shared__ int part[];
    int me = threadIdx.y * blockDim.x + threadIdx.x;
    part[me] = blockIdx.z * 100 + me;
    __syncthreads();
    if (me == 0) {
        int s = 0;
        for (int i = 0; i < blockDim.x * blockDim.y; i++) s += part[i];
        atomicAdd(out, s);
    }
}

extern "C" __global__ void many(int *out)
{
    sum<<<dim3(1, 2, 3), dim3(4, 2), 8 * sizeof(int)>>>(out + threadIdx.x % 4);
}
"""

QUERIES = r"""
extern "C" __global__ void child(int *a) { a[0] = 1; }
extern "C" __global__ void __launch_bounds__(64) small(int *a) { a[0] = 2; }

extern "C" __global__ void queries(long long *out)
{
    int v;
    size_t n;
    cudaFuncAttributes f;
    out[0] = cudaGetDevice(&v);
    out[1] = v;
    out[2] = cudaGetDeviceCount(&v);
    out[3] = v;
    out[4] = cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0);
    out[5] = v;
    out[6] = cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 99);
    out[7] = cudaPeekAtLastError();
    out[8] = cudaGetLastError();
    out[9] = cudaGetLastError();
    out[10] = cudaDeviceGetLimit(&n, cudaLimitMallocHeapSize);
    out[11] = n;
    out[12] = cudaRuntimeGetVersion(&v);
    out[13] = v;
    out[14] = cudaFuncGetAttributes(&f, small);
    out[15] = f.maxThreadsPerBlock;
    out[16] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, child, 256, 0);
    out[17] = v;
    const char *s = cudaGetErrorString(cudaErrorInvalidConfiguration);
    out[18] = s[0];
    s = cudaGetErrorName(cudaErrorInvalidConfiguration);
    out[19] = s[0] * 256 + s[9];
    out[20] = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)100000, 0);
}

extern "C" __global__ void refusals(int *a, int *out)
{
    child<<<0, 1>>>(a);
    out[0] = cudaGetLastError();
    child<<<1, 2048>>>(a);
    out[1] = cudaGetLastError();
    small<<<1, 65>>>(a);
    out[2] = cudaGetLastError();
    child<<<1, 1, 1 << 20>>>(a);
    out[3] = cudaGetLastError();
    child<<<1, 1, 0, (cudaStream_t)9>>>(a);
    out[4] = cudaGetLastError();
    cudaStream_t s;
    out[5] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
    cudaGetLastError();
    // A thread's error is its own: each asks for what its number says.
    child<<<threadIdx.x % 2, 1>>>(a);
    out[8 + threadIdx.x] = cudaGetLastError();
}

extern "C" __global__ void pending(int *a, int n, int *refused)
{
    for (int i = 0; i < n; i++) {
        child<<<1, 1>>>(a);
        if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) ++*refused;
    }
}

extern "C" __global__ void memory(char *a, char *b, int *out)
{
    char *p;
    out[0] = cudaMalloc((void **)&p, 100);
    out[1] = p != 0;
    p[0] = 7;
    out[2] = cudaFree(p);
    out[3] = cudaFree(p);
    out[4] = cudaMalloc((void **)&p, (size_t)1 << 40);
    out[5] = cudaMemsetAsync(a, 'x', 10);
    out[6] = cudaMemcpyAsync(b, a, 5, cudaMemcpyDeviceToDevice);
    out[7] = cudaMemset2DAsync(a, 16, 'y', 2, 4);
    out[8] = cudaMemcpy2DAsync(b + 16, 8, a, 16, 3, 4, cudaMemcpyDeviceToDevice);
    out[9] = cudaMemsetAsync(a, 0, (size_t)1 << 40);
    out[10] = cudaMemcpyAsync(b, 0, 5, cudaMemcpyDeviceToDevice);
    cudaGetLastError();
    out[11] = a[0];
}

// The interface of before <<<>>>: a buffer of bytes, laid out by hand.
extern "C" __global__ void two(long long *o, char a, double b) { *o = 1000 * a + b; }

extern "C" __global__ void by_hand(long long *out, int *errors)
{
    char *p = (char *)cudaGetParameterBuffer(64, 24);
    *(long long **)p = out;
    p[8] = 7;
    *(double *)(p + 16) = 42;
    errors[0] = cudaLaunchDevice((void *)two, p, dim3(1), dim3(1), 0, 0);
    errors[1] = cudaLaunchDevice((void *)two, p, dim3(1), dim3(1), 0, 0); // gone
    p = (char *)cudaGetParameterBuffer(64, 24);
    errors[2] = cudaLaunchDevice(p, p, dim3(1), dim3(1), 0, 0); // no function
    cudaGetParameterBuffer(64, 24);                             // never used
    cudaGetLastError();
    errors[3] = cudaGetParameterBuffer(64, 1 << 20) != 0;
    errors[4] = cudaGetLastError();
}

extern "C" __global__ void bad_pointer() { cudaGetDevice((int *)16); }

extern "C" __global__ void poke(int *a) { *a = 1; }
extern "C" __global__ void faulty(int *a)
{
    poke<<<1, 1>>>(a);
    poke<<<1, 1>>>((int *)8);
    poke<<<1, 1>>>(a + 1);
}
"""

UNITS = [
    r"""
__global__ void twice(int *a);
__device__ int limit(int);
extern "C" __global__ void start(int *a) { twice<<<1, limit(100)>>>(a); }
""",
    r"""
__device__ int limit(int n) { return n < 8 ? n : 8; }
__global__ void twice(int *a) { a[threadIdx.x] *= 2; }
""",
]


def link(d, *texts):
    """Link a module of the texts and the device's runtime library."""
    state = c_void_p(d.last(c_void_p, "LinkCreate", 0, None, None))
    d.ok("LinkAddFile", state, 4, RUNTIME, 0, None, None)
    for text in texts:
        d.ok("LinkAddData", state, 1, text, size(len(text)), b"unit", 0, None, None)
    image, n = c_void_p(), c_size_t()
    d.ok("LinkComplete", state, byref(image), byref(n))
    module = c_void_p(d.out(c_void_p, "ModuleLoadData", image))
    d.ok("LinkDestroy", state)
    return module


def rdc(source):
    return compile_ptx(source, "-rdc=true", "-std=c++17")


@pytest.fixture
def family(d, emu_ctx):
    m = link(d, rdc(FAMILY))
    yield m
    d.ok("ModuleUnload", m)


@pytest.fixture
def queries(d, emu_ctx):
    m = link(d, rdc(QUERIES))
    yield m
    d.ok("ModuleUnload", m)


def run(d, module, name, *values, grid=1, block=1, stream=None):
    f = d.function(module, name)
    parameters = launch_parameters(*values)
    d.ok("LaunchKernel", f, grid, 1, 1, block, 1, 1, 0, stream, parameters, None)


def ints(d, address, n, dtype=np.int32):
    dtype = np.dtype(dtype)
    return np.frombuffer(d.read(address, n * dtype.itemsize), dtype)


class Memory:
    def __init__(self, d, n):
        self.d, self.address = d, d.alloc(n)
        d.ok("MemsetD8", self.address, 0, size(n))

    def __enter__(self):
        return self.address

    def __exit__(self, *error):
        self.d.ok("MemFree", self.address)


def test_a_struct_and_other_parameters(d, family):
    n, blocks = 75, 6
    with Memory(d, 4 * n * blocks) as a:
        run(d, family, b"parent", a, c_int(n), grid=blocks, block=64)
        out = ints(d, a, n * blocks, np.float32)
    assert (out == 0.5 * np.arange(n * blocks) + 1).all()


def test_order(d, family):
    with Memory(d, 4 * 32) as log:
        run(d, family, b"order", log)
        out = ints(d, log, 8)
        assert list(out) == [7, 100, 1, 2, 3, 4, 90, 91]


def test_nesting(d, family):
    def expected(depth):
        inner = expected(depth - 1) if depth else []
        return [depth, *inner, -depth]

    with Memory(d, 4 * 64) as log:
        run(d, family, b"nested", log, c_int(5))
        out = ints(d, log, 20)
        assert list(out[1 : 1 + out[0]]) == expected(5)


def test_what_follows_waits_for_children(d, family):
    streams = [c_void_p(d.out(c_void_p, "StreamCreate", 0)) for _ in range(2)]
    with Memory(d, 4 * 32) as log:
        for stream in streams:
            run(d, family, b"nested", log, c_int(1), stream=stream)
            run(d, family, b"note", log, c_int(50), stream=stream)
        d.ok("CtxSynchronize")
        out = ints(d, log, 11)
        assert list(out) == [10] + [1, 0, 0, -1, 50] * 2
    for stream in streams:
        d.ok("StreamDestroy", stream)


def test_a_long_chain(d, family):
    with Memory(d, 8) as log:
        run(d, family, b"chain", log, c_int(5000))
        assert ints(d, log, 1)[0] == 5000


def test_the_deepest_level(d, family):
    with Memory(d, 8) as log:
        run(d, family, b"deeper", log, c_uint64(log.value + 4))
        depth, error = ints(d, log, 2)
        assert depth == 25 and error == 65 * 1000 + 25


def test_quicksort(d, family):
    values = np.random.default_rng(5).integers(-1000, 1000, 60).astype(np.int32)
    values[:10] = 3
    with Memory(d, values.nbytes) as a:
        d.write(a, values.tobytes())
        run(d, family, b"sort", a, c_int(0), c_int(len(values) - 1))
        assert (ints(d, a, len(values)) == np.sort(values)).all()


def test_all_threads_launch(d, family):
    with Memory(d, 16) as out:
        run(d, family, b"many", out, grid=3, block=40)
        one = 2 * sum(8 * 100 * z + 28 for z in range(3))
        assert (ints(d, out, 4) == 30 * one).all()


def test_separate_units(d, emu_ctx):
    m = link(d, *(rdc(u) for u in UNITS))
    with Memory(d, 40) as a:
        d.write(a, np.arange(10, dtype=np.int32).tobytes())
        run(d, m, b"start", a)
        assert list(ints(d, a, 10)) == [0, 2, 4, 6, 8, 10, 12, 14, 8, 9]
    d.ok("ModuleUnload", m)


def test_a_graph_of_parents(d, family):
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 1))
    with Memory(d, 4 * 32) as log:
        d.ok("StreamBeginCapture", stream, 0)
        run(d, family, b"nested", log, c_int(1), stream=stream)
        run(d, family, b"note", log, c_int(50), stream=stream)
        graph = c_void_p(d.last(c_void_p, "StreamEndCapture", stream))
        exec_ = c_void_p(
            d.out(c_void_p, "GraphInstantiateWithFlags", graph, c_uint64(0))
        )
        for _ in range(2):
            d.ok("GraphLaunch", exec_, stream)
        d.ok("StreamSynchronize", stream)
        assert list(ints(d, log, 11)) == [10] + [1, 0, 0, -1, 50] * 2
        d.ok("GraphExecDestroy", exec_)
        d.ok("GraphDestroy", graph)
    d.ok("StreamDestroy", stream)


# -- what else a kernel may ask for ----------------------------------------------------


def test_queries(d, queries):
    with Memory(d, 8 * 21) as out:
        run(d, queries, b"queries", out)
        v = list(ints(d, out, 21, np.int64))
    processors = d.out(c_int, "DeviceGetAttribute", 16, 0)
    heap = d.out(c_size_t, "CtxGetLimit", 2)
    blocks = d.out(
        c_int,
        "OccupancyMaxActiveBlocksPerMultiprocessor",
        d.function(queries, b"child"),
        256,
        size(0),
    )
    assert v.pop(13) >= 12000
    assert v == [
        *(0, 0, 0, d.out(c_int, "DeviceGetCount")),
        *(0, processors, 101, 101, 101, 0),
        *(0, heap, 0, 0, 64, 0, blocks),
        *(ord("i"), ord("c") * 256 + ord("I"), 1),
    ]


def test_refused_launches(d, queries):
    with Memory(d, 4) as a, Memory(d, 4 * 40) as out:
        run(d, queries, b"refusals", a, out, block=32)
        v = list(ints(d, out, 40))
        assert v[:6] == [9, 9, 701, 1, 400, 1]
        assert v[8:] == [9, 0] * 16
        assert ints(d, a, 1)[0] == 1  # the accepted launches ran


def test_pending_launches(d, queries):
    limit = d.out(c_size_t, "CtxGetLimit", 4)
    assert limit == 2048
    with Memory(d, 4) as a, Memory(d, 4) as refused:
        run(d, queries, b"pending", a, c_int(2050), refused)
        assert ints(d, refused, 1)[0] == 2
        d.ok("CtxSetLimit", 4, size(3000))
        run(d, queries, b"pending", a, c_int(2050), refused)
        assert ints(d, refused, 1)[0] == 2


def test_memory(d, queries):
    with Memory(d, 64) as a, Memory(d, 64) as b, Memory(d, 48) as out:
        run(d, queries, b"memory", a, b, out)
        assert list(ints(d, out, 12)) == [0, 1, 0, 1, 2, 0, 0, 0, 0, 1, 1, 0]
        line = b"yy" + b"x" * 8 + bytes(6)
        assert d.read(a, 64) == line + (b"yy" + bytes(14)) * 3
        rows = b"yyx" + bytes(5) + (b"yy" + bytes(6)) * 3
        assert d.read(b, 48) == b"xxxxx" + bytes(11) + rows
    assert "heap" not in d.live()


def test_parameters_by_hand(d, queries):
    with Memory(d, 8) as out, Memory(d, 20) as errors:
        run(d, queries, b"by_hand", out, errors)
        assert list(ints(d, errors, 5)) == [0, 1, 98, 0, 1]
        assert ints(d, out, 1, np.int64)[0] == 7042


@emulator_only
@pytest.mark.parametrize("name", ["bad_pointer", "faulty"])
def test_faults(name, tmp_path):
    """The fault of a child breaks the context, and its siblings do not run."""
    path = tmp_path / "k.ptx"
    path.write_bytes(rdc(QUERIES))
    arguments = "None" if name == "bad_pointer" else "launch_parameters(a)"
    out = child(
        f"""
d.ok("Init", 0)
context = d.context()
a = c_uint64(d.out(c_uint64, "MemAllocManaged", c_size_t(8), 1))
f = d.function(d.module(open({str(path)!r}, "rb").read()), {name.encode()!r})
d.ok("LaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, None, {arguments}, None)
print(d.CtxSynchronize(), ctypes.string_at(a.value, 8).hex())
print(d.message())
d.ok("CtxDestroy", context)
print(d.live())
"""
    )
    first, *message, last = out.splitlines()
    done = "0100000000000000" if name == "faulty" else "00" * 8
    assert first == f"{R.ERROR_ILLEGAL_ADDRESS} {done}"
    assert ("poke" if name == "faulty" else "cudaGetDevice") in "\n".join(message)
    assert last == "{}"


@emulator_only
def test_an_unknown_function_is_named(d, emu_ctx):
    ptx = rdc(QUERIES).replace(b"__cudaCDP2GetDevice\n", b"__cudaCDP2NoSuchThing\n")
    ptx = re.sub(rb"__cudaCDP2GetDevice(,|$)", rb"__cudaCDP2NoSuchThing\1", ptx)
    log = ctypes.create_string_buffer(400)
    options = (c_int * 2)(5, 6)
    values = (c_void_p * 2)(ctypes.addressof(log), len(log))
    module = c_void_p()
    code = d.ModuleLoadDataEx(byref(module), ptx, 2, options, values)
    assert code == R.ERROR_INVALID_PTX
    assert b"__cudaCDP2NoSuchThing" in log.value


@emulator_only
def test_other_workers(tmp_path):
    """All launches run, with any number of worker threads."""
    path = tmp_path / "k.ptx"
    path.write_bytes(rdc(FAMILY))
    for threads in ("1", "4"):
        out = child(
            f"""
d.ok("Init", 0)
context = d.context()
out = d.alloc(16)
f = d.function(d.module(open({str(path)!r}, "rb").read()), b"many")
d.ok("LaunchKernel", f, 32, 1, 1, 64, 1, 1, 0, None, launch_parameters(out), None)
print(d.read(out, 16).hex())
""",
            PYCUDA_EMULATOR_THREADS=threads,
        )
        one = 2 * sum(8 * 100 * z + 28 for z in range(3))
        assert out == struct.pack("<4i", *[512 * one] * 4).hex()
