"""The packages that ``bench_launch.py`` measures: this one and its peers.

    python subjects.py NAME --serve           answer requests (see common.Subject)
    python subjects.py pycuda --image PATH    compile the kernels to a file, for floor.c

Each prepare function returns (header, cases, synchronize): cases maps the names of
bench_launch.CASES to functions that make a given number of calls. They bind names to
locals first, so the loop itself costs only some ten nanoseconds per iteration.
"""

import argparse
import atexit
import importlib
import os
import sys
from itertools import repeat
from pathlib import Path

import numpy as np
from common import BLOCK, COUNT, GRID, KERNELS, claim_stdout, say, serve

SOURCE = KERNELS  # has its own extern "C", which may be nested in another one


def host_arrays():
    a = np.arange(COUNT, dtype=np.float32)
    return a, a / 2, np.zeros_like(a)


def check(c, a, b):
    """Raise RuntimeError if the kernel did not compute a + b."""
    if not np.array_equal(c, a + b):
        raise RuntimeError("the kernel did not add")


class Holder:
    """An array of another library, as a kernel call sees it."""

    def __init__(self, pointer):
        self.__cuda_array_interface__ = {
            "shape": (COUNT,),
            "typestr": "<f4",
            "data": (pointer, False),
            "version": 3,
        }


# -- this package ----------------------------------------------------------------------


def is_software(device):
    return "software" in device.name()


def pycuda_target(device):
    """Return the target: PTX for the software device, a cubin for a GPU."""
    return "ptx" if is_software(device) else "cubin"


def pycuda_context():
    import pycuda.driver as drv

    drv.init()
    device = drv.Device(0)
    context = device.make_context()
    atexit.register(context.pop)
    return device, context


def pycuda_image(path):
    """Write the compiled kernels to a file; return the driver library for the floor.

    This is the package's library for the software device, and None for the system's.
    """
    import pycuda
    from pycuda.compiler import compile

    device, _context = pycuda_context()
    Path(path).write_bytes(compile(SOURCE, target=pycuda_target(device)))
    package = Path(pycuda.__file__).resolve().parent
    return str(package / "libpycuda_emulator.so") if is_software(device) else None


def pycuda_launches(mod, stream, a, b, c):
    """Return the cases that launch k4 in different ways."""
    f = mod.get_function("k4")
    p = mod.get_function("k4").prepare("PPPi")
    empty = mod.get_function("k0")
    n = np.int32(COUNT)
    int32 = np.int32
    holders = [Holder(int(x)) for x in (a, b, c)]

    def launch_4(calls):
        for _ in repeat(None, calls):
            f(a, b, c, n, block=BLOCK, grid=GRID)

    def launch_4_scalar(calls):
        for _ in repeat(None, calls):
            f(a, b, c, int32(1024), block=BLOCK, grid=GRID)

    def launch_stream_4(calls):
        for _ in repeat(None, calls):
            f(a, b, c, n, block=BLOCK, grid=GRID, stream=stream)

    def launch_0(calls):
        for _ in repeat(None, calls):
            empty(block=(32, 1, 1))

    def launch_cai(calls):
        x, y, z = holders
        for _ in repeat(None, calls):
            f(x, y, z, n, block=BLOCK, grid=GRID)

    def prepared_call(calls):
        call = p.prepared_call
        for _ in repeat(None, calls):
            call(GRID, BLOCK, a, b, c, 1024)

    def prepared_async_call(calls):
        call = p.prepared_async_call
        for _ in repeat(None, calls):
            call(GRID, BLOCK, stream, a, b, c, 1024)

    cases = [launch_4, launch_4_scalar, launch_stream_4, launch_0, launch_cai]
    cases += [prepared_call, prepared_async_call]
    try:
        from pycuda import gpuarray
    except ImportError:
        return cases

    arrays = [gpuarray.to_gpu(h) for h in host_arrays()]

    def launch_gpuarray(calls):
        x, y, z = arrays
        for _ in repeat(None, calls):
            f(x, y, z, n, block=BLOCK, grid=GRID)

    return [*cases, launch_gpuarray]


def pycuda_memory(mod, drv, host, a):
    """Return the cases of allocations and copies of 4 kB."""
    f = mod.get_function("k4")
    ha, hb, hc = host
    n = np.int32(COUNT)
    In, Out = drv.In, drv.Out

    def in_in_out(calls):
        for _ in repeat(None, calls):
            f(In(ha), In(hb), Out(hc), n, block=BLOCK, grid=GRID)

    def alloc_free(calls):
        alloc, nbytes = drv.mem_alloc, ha.nbytes
        for _ in repeat(None, calls):
            alloc(nbytes)

    pool = drv.DeviceMemoryPool()

    def pool_alloc_free(calls):
        alloc, nbytes = pool.allocate, ha.nbytes
        for _ in repeat(None, calls):
            alloc(nbytes)

    def htod(calls):
        copy = drv.memcpy_htod
        for _ in repeat(None, calls):
            copy(a, ha)

    def dtoh(calls):
        copy = drv.memcpy_dtoh
        for _ in repeat(None, calls):
            copy(hc, a)

    def to_gpu(calls):
        to_device = drv.to_device
        for _ in repeat(None, calls):
            to_device(ha)

    def get(calls):
        from_device, shape, dtype = drv.from_device, ha.shape, ha.dtype
        for _ in repeat(None, calls):
            from_device(a, shape, dtype)

    hc.fill(-1)
    in_in_out(1)
    check(hc, ha, hb)
    return [in_in_out, alloc_free, pool_alloc_free, htod, dtoh, to_gpu, get]


def pycuda_objects(drv, context, stream, image):
    """Return the cases of events, streams, contexts and modules."""
    from pycuda.compiler import SourceModule

    def event_record(calls):
        record = drv.Event().record
        for _ in repeat(None, calls):
            record(stream)

    def stream_query(calls):
        is_done = stream.is_done
        for _ in repeat(None, calls):
            is_done()

    def ctx_get_current(calls):
        get_current = drv.Context.get_current
        for _ in repeat(None, calls):
            get_current()

    def ctx_push_pop(calls):
        push, pop = context.push, drv.Context.pop
        for _ in repeat(None, calls):
            push()
            pop()

    def module_load(calls):
        load = drv.module_from_buffer
        for _ in repeat(None, calls):
            load(image)

    def source_module(calls):
        for _ in repeat(None, calls):
            SourceModule(SOURCE)

    cases = [event_record, stream_query, ctx_get_current, ctx_push_pop]
    return [*cases, module_load, source_module]


def prepare_pycuda():
    import pycuda
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule, compile

    device, context = pycuda_context()
    mod = SourceModule(SOURCE)
    image = compile(SOURCE, target=pycuda_target(device))
    host = host_arrays()
    a, b, c = (drv.mem_alloc(h.nbytes) for h in host)
    for pointer, h in zip((a, b, c), host, strict=True):
        drv.memcpy_htod(pointer, h)
    stream = drv.Stream()
    cases = pycuda_launches(mod, stream, a, b, c)
    cases[0](1)
    drv.memcpy_dtoh(host[2], c)
    check(host[2], host[0], host[1])
    cases += pycuda_memory(mod, drv, host, a)
    cases += pycuda_objects(drv, context, stream, image)
    header = {"version": pycuda.__version__, "device": device.name()}
    return header, {f.__name__: f for f in cases}, context.synchronize


# -- peers -----------------------------------------------------------------------------


def prepare_cupy():
    import cupy

    host = host_arrays()
    a, b, c = (cupy.asarray(h) for h in host)
    kernel = cupy.RawKernel(KERNELS, "k4")
    empty = cupy.RawKernel(KERNELS, "k0")
    n = np.int32(COUNT)
    stream = cupy.cuda.Stream()
    event = cupy.cuda.Event()
    synchronize = cupy.cuda.runtime.deviceSynchronize

    def launch_4(calls):
        for _ in repeat(None, calls):
            kernel(GRID, BLOCK, (a, b, c, n))

    def launch_0(calls):
        for _ in repeat(None, calls):
            empty((1,), (32,), ())

    def event_record(calls):
        for _ in repeat(None, calls):
            event.record(stream)

    def stream_query(calls):
        for _ in repeat(None, calls):
            stream.done  # noqa: B018 - a property that calls the driver

    launch_4(1)
    check(c.get(), host[0], host[1])
    cases = [launch_4, launch_0, event_record, stream_query]
    return {"version": cupy.__version__}, {f.__name__: f for f in cases}, synchronize


def prepare_cuda_core():
    core = importlib.import_module("cuda.core")
    version = core.__version__
    if not hasattr(core, "Device"):  # its first releases
        core = importlib.import_module("cuda.core.experimental")

    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    options = core.ProgramOptions(arch=f"sm_{device.arch}")
    image = core.Program(KERNELS, code_type="c++", options=options).compile("cubin")
    kernel, empty = image.get_kernel("k4"), image.get_kernel("k0")
    a, b, c = (device.memory_resource.allocate(4 * COUNT, stream=stream) for _ in "abc")
    n = np.int32(COUNT)
    config = core.LaunchConfig(grid=GRID, block=BLOCK)
    config_0 = core.LaunchConfig(grid=1, block=32)
    launch = core.launch

    def launch_4(calls):
        for _ in repeat(None, calls):
            launch(stream, config, kernel, a, b, c, n)

    def launch_0(calls):
        for _ in repeat(None, calls):
            launch(stream, config_0, empty)

    return (
        {"version": version},
        {f.__name__: f for f in (launch_4, launch_0)},
        stream.sync,
    )


def prepare_numba():
    os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
    import numba
    from numba import cuda

    @cuda.jit("void(float32[::1], float32[::1], float32[::1], int32)")
    def k4(a, b, c, n):
        i = cuda.grid(1)
        if i < n:
            c[i] = a[i] + b[i]

    @cuda.jit("void()")
    def k0():
        pass

    host = host_arrays()
    a, b, c = (cuda.to_device(h) for h in host)
    n = np.int32(COUNT)
    kernel, empty = k4[GRID, BLOCK], k0[1, 32]

    def launch_4(calls):
        for _ in repeat(None, calls):
            kernel(a, b, c, n)

    def launch_0(calls):
        for _ in repeat(None, calls):
            empty()

    launch_4(1)
    check(c.copy_to_host(), host[0], host[1])
    cases = {"launch_4": launch_4, "launch_0": launch_0}
    return {"version": numba.__version__}, cases, cuda.synchronize


def prepare_torch():
    import torch

    torch.cuda.init()
    stream = torch.cuda.Stream()
    event = torch.cuda.Event()

    def event_record(calls):
        for _ in repeat(None, calls):
            event.record(stream)

    def stream_query(calls):
        for _ in repeat(None, calls):
            stream.query()

    cases = {"event_record": event_record, "stream_query": stream_query}
    return {"version": torch.__version__}, cases, torch.cuda.synchronize


PREPARE = {
    "pycuda": prepare_pycuda,
    "cupy": prepare_cupy,
    "cuda.core": prepare_cuda_core,
    "numba": prepare_numba,
    "torch": prepare_torch,
}


# -- the program -----------------------------------------------------------------------


def run_served(name):
    try:
        header, cases, synchronize = PREPARE[name]()
    except ImportError as e:
        reason = f"not installed ({e})"
    except Exception as e:  # noqa: BLE001 - reported; the run continues without it
        reason = f"{type(e).__name__}: {e}"
    else:
        serve({**header, "cases": sorted(cases)}, cases, synchronize)
        return 0
    with claim_stdout() as out:
        say(out, {"missing": reason})
    return 0


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(PREPARE))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--serve", action="store_true")
    what.add_argument("--image", metavar="PATH")
    args = parser.parse_args(argv)
    if args.serve:
        return run_served(args.name)
    if args.name != "pycuda":
        parser.error("only pycuda writes an image")
    with claim_stdout() as out:
        say(out, {"library": pycuda_image(args.image)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
