"""Programmatic dependent launches: a kernel that starts before the one ahead has ended.

On a GPU the kernels overlap. On the software device they run one after the other. The
instructions need compute capability 9.0.
"""

import json
import re

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.compiler import SourceModule
from support import cc
from support.child import run_child

pytestmark = [pytest.mark.gpu, pytest.mark.module_context]

ONE = {"block": (1, 1, 1), "grid": (1, 1)}
#: The first kernel lets the second one begin, and waits for a sign of it. The second
#: one gives the sign, waits for the end of the first one, and reads what that wrote.
KERNELS = """
#if __CUDA_ARCH__ >= 900
#define LAUNCH_DEPENDENTS asm volatile("griddepcontrol.launch_dependents;")
#define WAIT asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define LAUNCH_DEPENDENTS
#define WAIT
#endif

extern "C" __global__ void first(volatile int *flag, int *seen, int *data, int limit)
{
    LAUNCH_DEPENDENTS;
    int found = 0;
    for (int i = 0; i < limit && !found; i++)
        found = *flag;
    *seen = found;
    *data = 41;
}

extern "C" __global__ void second(volatile int *flag, int *data, int *result)
{
    *flag = 1;
    __threadfence();
    WAIT;
    *result = *data + 1;
}

extern "C" __global__ void next(int *data)
{
    WAIT;
    LAUNCH_DEPENDENTS;
    data[threadIdx.x] = 2 * data[threadIdx.x] + 1;
}
"""


@pytest.fixture(scope="module")
def mod(module_context):
    device = drv.Context.get_device()
    if not _driver._is_emulated() and device.compute_capability() < (9, 0):
        pytest.skip("programmatic dependent launches need compute capability 9.0")
    return SourceModule(KERNELS, no_extern_c=True)


def pair(mod, memory, stream, limit):
    """Enqueue the two kernels. The numbers are flag, seen, data and result."""
    addresses = [np.uintp(int(memory) + 4 * i) for i in range(4)]
    flag, seen, data, result = addresses
    mod.get_function("first")(flag, seen, data, np.int32(limit), stream=stream, **ONE)
    mod.get_function("second")(
        flag, data, result, stream=stream, programmatic=True, **ONE
    )


@pytest.mark.parametrize("captured", [False, True], ids=["stream", "graph"])
def test_kernels_overlap(mod, captured):
    memory = drv.mem_alloc(16)
    stream = drv.Stream()
    pair(mod, memory, stream, 0)  # loads the kernels, which may wait for the device
    stream.synchronize()
    drv.memset_d32(memory, 0, 4)
    limit = 100 if _driver._is_emulated() else 20_000_000
    if captured:
        with stream.capture() as graph:
            pair(mod, memory, stream, limit)
        assert len(graph.edges) == 1 and len(graph.leaves) == 1
        graph.clone().instantiate().launch(stream)
    else:
        pair(mod, memory, stream, limit)
    stream.synchronize()
    flag, seen, data, result = drv.from_device(memory, 4, np.int32)
    assert (flag, data, result) == (1, 41, 42)
    assert seen == (0 if _driver._is_emulated() else 1)


@pytest.mark.parametrize("captured", [False, True], ids=["stream", "graph"])
def test_a_chain_is_in_order(mod, captured):
    memory = gpuarray.zeros(64, np.uint32)
    stream = drv.Stream()
    kernel = mod.get_function("next")

    def chain():
        for _ in range(40):
            kernel(memory, block=(64, 1, 1), stream=stream, programmatic=True)

    if captured:
        with stream.capture() as graph:
            chain()
        graph.instantiate().launch(stream)
    else:
        chain()
    stream.synchronize()
    assert (memory.get() == 2**32 - 1).all()


def test_edges_of_a_chain_are_removed_and_nodes_disabled(mod):
    memory = gpuarray.zeros(64, np.uint32)
    stream = drv.Stream()
    kernel = mod.get_function("next")
    with stream.capture() as graph:
        for _ in range(3):
            kernel(memory, block=(64, 1, 1), stream=stream, programmatic=True)
    executable = graph.instantiate()
    executable.enable(graph.nodes[1], False)
    executable.launch(stream)
    stream.synchronize()
    assert (memory.get() == 3).all()
    before, after = graph.edges[0]
    for programmatic in (False, True):
        graph.remove_edge(before, after)
        graph.add_edge(before, after, programmatic=programmatic)
    assert len(graph.edges) == 2
    with pytest.raises(drv.LogicError, match="cuGraphAddDependencies"):
        graph.add_edge(graph.add_empty(), graph.nodes[0], programmatic=True)
    graph.instantiate().launch(stream)
    stream.synchronize()
    assert (memory.get() == 31).all()


def test_chains_of_array_operations(module_context):
    """Operations in graphs, with few blocks and with many, and other work between."""
    rng = np.random.default_rng(1)
    stream, other = drv.Stream(), drv.Stream()
    fork, join = drv.Event(), drv.Event()
    for count in (10, 3000, 300_000):
        a, b = (rng.integers(0, 1000, count).astype(np.int32) for _ in range(2))
        x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)

        def chain(u, v):
            for _ in range(5):
                u = u + v
                v = u - 2 * v
                u = -u
            return u, v

        with stream.capture() as graph:
            u, v = chain(x, y)
            fork.record(stream)
            other.wait_for_event(fork)
            with other:
                p = u * 2
                q = p + v
            u += 1
            join.record(other)
            stream.wait_for_event(join)
            w = q + u
            drv.memset_d32_async(u.gpudata, 7, count, stream)
            w += u
        executable = graph.instantiate()
        for _ in range(3):
            executable.launch(stream)
        stream.synchronize()
        with np.errstate(over="ignore"):
            s, t = chain(a, b)
            expected = (2 * s + t) + (s + 1) + np.int32(7)
        assert (w.get() == expected).all()


def test_graphs_of_other_sizes(module_context):
    """Without early launches, arrays of all sizes make the same edges."""
    stream = drv.Stream()

    def captured(count, **options):
        x = gpuarray.to_gpu(np.arange(count, dtype=np.float32))
        with stream.capture(**options) as graph:
            y = (x + 1) * 2 - x
        return graph, y

    executable = captured(100)[0].instantiate()
    graph, y = captured(5000)
    executable.update(graph)
    executable.launch(stream)
    stream.synchronize()
    assert (y.get() == np.arange(5000) + 2).all()
    try:
        executable.update(captured(1 << 20)[0])
    except drv.LogicError as error:
        assert "capture(early=False)" in str(error)  # noqa: PT017
    executable = captured(100, early=False)[0].instantiate()
    for count in (1 << 20, 1000):
        graph, y = captured(count, early=False)
        executable.update(graph)
        executable.launch(stream)
        stream.synchronize()
        assert (y.get() == np.arange(count) + 2).all()


def test_the_kernels_know_the_limit():
    """The number of blocks is written in the C and in the header of the kernels."""
    header = (cc.ROOT / "pycuda/cuda/pycuda-array.hpp").read_text()
    source = cc.ROOT / "src/cpp_free_c/python/array/ops/kernel_launch.h"
    if not source.exists():
        pytest.skip("the sources are not here")
    limit = re.search(r"PCU_FOLLOWING_BLOCKS_MOST = (\d+)", source.read_text())[1]
    assert re.search(r"gridDim.x <= (\d+)\) \{", header)[1] == limit


def test_which_operations_are_launched_early():
    """Those behind another one of few blocks, not the first, and no large ones."""
    code = """
    import ctypes, json
    from pathlib import Path
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as drv
    from pycuda import _driver, gpuarray

    library = ctypes.CDLL(str(Path(_driver.__file__).parent / "libpycuda_emulator.so"))

    def launches(*sizes):
        arrays = [gpuarray.zeros(size, np.float32) for size in sizes]
        for x in arrays:
            x += 1
        library.emu_call_log_clear()
        with stream.capture():
            for x in arrays:
                x += 1
        room = library.emu_call_log(None, 0)
        buffer = ctypes.create_string_buffer(room)
        library.emu_call_log(buffer, room)
        names = [line.split()[0] for line in buffer.value.decode().splitlines()]
        return [name for name in names if name.startswith("cuLaunch")]

    stream = drv.Stream()
    print(json.dumps([launches(9, 9, 900), launches(9, 1 << 20, 9, 9)]))
    """
    plain, early = "cuLaunchKernel", "cuLaunchKernelEx"
    found = {}
    for capability in ("8.0", "9.0"):
        found[capability] = json.loads(
            run_child(
                code,
                PYCUDA_DRIVER="emulator",
                PYCUDA_EMULATOR_CAPABILITY=capability,
            ).stdout
        )
    assert found["8.0"] == [[plain] * 3, [plain] * 4]
    assert found["9.0"] == [[plain, early, early], [plain, plain, plain, early]]


@pytest.mark.software(why="a GPU has one compute capability")
def test_with_compute_capability_9():
    """The tests above, with kernels that have the instructions."""
    code = f"""
    import sys
    import pytest

    chosen = "overlap or in_order or removed or chains_of or other_sizes"
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", {__file__!r}, "-k", chosen]))
    """
    done = run_child(code, PYCUDA_EMULATOR_CAPABILITY="9.0", check=False)
    assert done.returncode == 0, done.stdout
    assert "7 passed" in done.stdout
