"""Use this package and PyTorch or CuPy in one process, with shared memory and streams.

    python two_libraries.py {torch | cupy} {before | after} {main | worker} ENDING

``before`` and ``after``: import and use the other library before or after
pycuda.autoinit. ``worker``: do all the work in a thread that has not used the device
before. ENDING: release "ours" or "theirs" first at the end, or "nothing", so that all
objects are alive when the interpreter exits. Prints "done" if every value is right.
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

N = 1 << 20

SOURCE = """
__global__ void add(float *x, float value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
"""


class Torch:
    def __init__(self):
        import torch

        self.torch = torch
        self.arange(4).sum().item()

    def arange(self, n):
        return self.torch.arange(n, dtype=self.torch.float32, device="cuda")

    def view(self, ours):
        return self.torch.as_tensor(ours, device="cuda")

    def from_dlpack(self, ours):
        return self.torch.from_dlpack(ours)

    def pointer(self, theirs):
        return theirs.data_ptr()

    def get(self, theirs):
        return theirs.cpu().numpy()

    def stream(self):
        return self.torch.cuda.Stream()

    def handle(self, stream):
        return stream.cuda_stream

    def within(self, stream):
        return self.torch.cuda.stream(stream)

    def synchronize(self):
        self.torch.cuda.synchronize()

    def threads_of_its_own(self, add):
        """Run our kernel in the backward pass, for which PyTorch has threads."""
        torch, seen = self.torch, []

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * x

            @staticmethod
            def backward(ctx, gradient):
                seen.append(threading.get_ident())
                result = gradient.clone()
                add(result, 2)
                return result

        x = self.arange(N).requires_grad_()
        Square.apply(x).sum().backward()
        assert seen and (self.get(x.grad) == 3).all()

    def free(self):
        self.torch.cuda.empty_cache()


class Cupy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        self.arange(4).sum().item()

    def arange(self, n):
        return self.cupy.arange(n, dtype=self.cupy.float32)

    def view(self, ours):
        return self.cupy.asarray(ours)

    def from_dlpack(self, ours):
        return self.cupy.from_dlpack(ours)

    def pointer(self, theirs):
        return theirs.data.ptr

    def get(self, theirs):
        return self.cupy.asnumpy(theirs)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def handle(self, stream):
        return stream.ptr

    def within(self, stream):
        return stream

    def synchronize(self):
        self.cupy.cuda.runtime.deviceSynchronize()

    def threads_of_its_own(self, add):
        """Use CuPy first in the threads of a pool, because CuPy starts no threads."""

        def task(value):
            x = self.arange(N)
            add(x, value)
            return (self.get(x) == np.arange(N, dtype=np.float32) + value).all()

        with ThreadPoolExecutor(3) as pool:
            assert all(pool.map(task, range(1, 9)))

    def free(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


def check(what, array, expected):
    if not np.array_equal(array, expected):
        raise AssertionError(f"{what}: {array[:4]} ..., not {expected[:4]} ...")


def work(lib, kept):
    """Use both libraries together in every way. `kept` holds what lives to the end."""
    import pycuda.driver as drv
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule
    from pycuda.elementwise import ElementwiseKernel
    from pycuda.interop import from_gpuarray, to_gpuarray

    function = SourceModule(SOURCE).get_function("add")
    ramp = np.arange(N, dtype=np.float32)
    block, grid = (256, 1, 1), (N // 256, 1)

    def add(x, value, **keywords):
        function(x, np.float32(value), np.int32(N), block=block, grid=grid, **keywords)

    # our kernel on their array: by address, __cuda_array_interface__ and GPUArray
    x = lib.arange(N)
    add(np.uintp(lib.pointer(x)), 1)
    check("by address", lib.get(x), ramp + 1)
    add(x, 2)
    check("by interface", lib.get(x), ramp + 3)
    function.prepare("PfI")
    function.prepared_call(grid, block, lib.pointer(x), 1.0, N)
    check("prepared", lib.get(x), ramp + 4)
    ours = to_gpuarray(x)
    check("GPUArray of theirs", (ours * 2).get(), 2 * ramp + 8)
    twice = ElementwiseKernel("float *x", "x[i] *= 2", "twice")
    twice(ours)
    check("ElementwiseKernel", lib.get(x), 2 * ramp + 8)

    # their kernel on our array
    mine = gpuarray.to_gpu(ramp)
    view = lib.view(mine)
    view += 1
    lib.synchronize()
    check("their view of ours", mine.get(), ramp + 1)
    borrowed = lib.from_dlpack(mine)
    borrowed *= 3
    lib.synchronize()
    check("DLPack", mine.get(), 3 * ramp + 3)
    name = "torch" if isinstance(lib, Torch) else "cupy"
    third = from_gpuarray(mine, name)
    third -= 3
    lib.synchronize()
    check("from_gpuarray", mine.get(), 3 * ramp)
    memory = drv.mem_alloc(ramp.nbytes)
    drv.memcpy_dtod(memory, lib.pointer(x), ramp.nbytes)
    check("mem_alloc", drv.from_device(memory, N, np.float32), 2 * ramp + 8)

    # our kernel in their stream, between two kernels of theirs, without a wait
    theirs = lib.stream()
    stream = drv.Stream.from_handle(lib.handle(theirs), owner=theirs)
    with lib.within(theirs):
        y = lib.arange(N)
        for _ in range(20):
            y += 1
            add(y, 1, stream=stream)
        y *= 2
    stream.synchronize()
    check("their stream", lib.get(y), 2 * (ramp + 40))

    # their kernel in our stream
    own, done = drv.Stream(), drv.Event()
    with own:
        z = gpuarray.to_gpu_async(ramp, stream=own)
        add(z, 5)
        done.record(own)
    done.synchronize()
    check("our stream", lib.get(lib.view(z)), ramp + 5)
    drv.Context.synchronize()
    free, total = drv.mem_get_info()
    assert 0 < free <= total

    lib.threads_of_its_own(add)
    kept.update(function=function, x=x, ours=ours, mine=mine, view=view, y=y, z=z)
    kept.update(memory=memory, theirs=theirs, stream=stream, own=own, done=done)


def in_place(place, function, *arguments):
    """Call a function in this thread or a new one. Raise its exception here."""
    if place == "main":
        return function(*arguments)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


def main(library, order, place, ending):
    make = {"torch": Torch, "cupy": Cupy}[library]
    lib = make() if order == "before" else None
    import pycuda.autoinit
    import pycuda.driver as drv

    lib = lib or make()
    kept = {}
    in_place(place, work, lib, kept)
    # all live objects are valid in the main thread
    check("afterwards", lib.get(lib.view(kept["mine"])), kept["mine"].get())
    assert drv.Context.get_current() == pycuda.autoinit.context
    if ending == "ours":
        for name in ("function", "ours", "mine", "view", "z", "memory", "own", "done"):
            kept.pop(name)
        pycuda.autoinit.context.pop()
        pycuda.autoinit.context.detach()
        assert lib.get(lib.arange(4)).tolist() == [0, 1, 2, 3]
    elif ending == "theirs":
        for name in ("x", "y", "theirs", "stream", "view", "ours"):
            kept.pop(name)
        lib.free()
        check("alone", kept["mine"].get(), kept["mine"].get())
    globals()["kept"] = kept  # alive when the interpreter exits
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
