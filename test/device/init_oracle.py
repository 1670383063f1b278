"""Random writes to device memory, and whether an element was written.

    python test/device/init_oracle.py [SEED [CASES]]

Each case fills, copies and stores to parts of an allocation, and then lets each thread
of a kernel decide by an element. NumPy follows which bytes were written. The software
device must report an uninitialised read if no byte of one of these elements was
written. Needs PYCUDA_CHECK=init.
"""

import random
import sys

import numpy as np

import pycuda.driver as drv
from pycuda.compiler import compile as compile_cuda

BYTES = 2048
THREADS = 64

SOURCE = r"""
extern "C" {
__global__ void store1(char *x, int first) { x[first + threadIdx.x] = 1; }
__global__ void store4(int *x, int first) { x[first + threadIdx.x] = 1; }
__global__ void store16(int4 *x, int first)
{
    x[first + threadIdx.x] = make_int4(1, 2, 3, 4);
}
__global__ void scatter4(int *x, int first) { x[first + threadIdx.x * 5 % 64] = 1; }
__global__ void copy4(int *x, int first, int to)
{
    x[to + threadIdx.x] = x[first + threadIdx.x];
}
__global__ void use1(const char *x, int first, int *out)
{
    if (x[first + threadIdx.x] == 77) out[threadIdx.x] = 1;
    out[threadIdx.x + 64] = 1;
}
__global__ void use4(const int *x, int first, int *out)
{
    if (x[first + threadIdx.x] == 77) out[threadIdx.x] = 1;
    out[threadIdx.x + 64] = 1;
}
__global__ void use8(const long long *x, int first, int *out)
{
    if (x[first + threadIdx.x] == 77) out[threadIdx.x] = 1;
    out[threadIdx.x + 64] = 1;
}
}
"""


class Memory:
    """The allocation of a case, and which of its bytes were written."""

    def __init__(self, module):
        self.module = module
        self.allocation = drv.mem_alloc(BYTES)
        self.address = int(self.allocation)
        self.written = np.zeros(BYTES, bool)
        self.steps = []

    def run(self, name, size, *numbers):
        self.steps.append((name, *numbers))
        args = [np.int32(n) for n in numbers]
        self.module.get_function(name)(
            np.intp(self.address), *args, block=(THREADS, 1, 1)
        )

    def store(self, random):
        name, size = random.choice(
            [("store1", 1), ("store4", 4), ("store16", 16), ("scatter4", 4)]
        )
        first = random.randrange((BYTES - THREADS * size) // size + 1)
        if random.random() < 0.5:
            first -= first * size % 64 // size
        self.run(name, size, first)
        self.written[first * size : (first + THREADS) * size] = True

    def fill(self, random):
        first = random.randrange(BYTES)
        count = random.randrange(1, BYTES - first + 1)
        self.steps.append(("fill", first, count))
        drv.memset_d8(self.address + first, 0, count)
        self.written[first : first + count] = True

    def copy(self, random):
        count = random.randrange(1, BYTES // 2)
        source = random.randrange(BYTES // 2 - count + 1)
        target = random.randrange(BYTES // 2, BYTES - count + 1)
        self.steps.append(("copy", source, target, count))
        drv.memcpy_dtod(self.address + target, self.address + source, count)
        self.written[target : target + count] = self.written[source : source + count]

    def copy_words(self, random):
        source, target = random.randrange(64), random.randrange(192, 448)
        self.run("copy4", 4, source, target)
        words = self.written[source * 4 : (source + THREADS) * 4].reshape(-1, 4)
        # a word of which some bytes were written counts as written
        self.written[target * 4 : (target + THREADS) * 4] = np.repeat(
            words.any(axis=1), 4
        )

    def use(self, random, out):
        """Let a kernel decide by elements; return whether one of them has no value."""
        name, size = random.choice([("use1", 1), ("use4", 4), ("use8", 8)])
        first = random.randrange((BYTES - THREADS * size) // size + 1)
        self.steps.append((name, first))
        self.module.get_function(name)(
            np.intp(self.address), np.int32(first), out, block=(THREADS, 1, 1)
        )
        used = self.written[first * size : (first + THREADS) * size]
        return not used.reshape(-1, size).any(axis=1).all()


def run_case(numbers, text):
    """Return what the device reports, whether it should, and the steps of the case."""
    context = drv.Device(0).make_context()
    try:
        module = drv.module_from_buffer(text)
        memory = Memory(module)
        out = drv.mem_alloc(1024)
        for _ in range(numbers.choice([0, 2, 8, 20])):
            step = numbers.choice([memory.store] * 3 + [memory.fill, memory.copy])
            if numbers.random() < 0.2:
                step = memory.copy_words
            if step != memory.fill or numbers.random() < 0.3:
                step(numbers)
        expected = memory.use(numbers, out)
        try:
            context.synchronize()
        except drv.LaunchError as error:
            return str(error), expected, memory.steps
        return "", expected, memory.steps
    finally:
        context.pop()
        context.detach()


def main(seed=0, count=150):
    drv.init()
    text = compile_cuda(SOURCE, no_extern_c=True, arch="compute_75", target="ptx")
    numbers = random.Random(seed)
    faults = wrong = 0
    for number in range(count):
        report, expected, steps = run_case(numbers, text)
        faults += expected
        if ("uninitialised read" in report) != expected:
            wrong += 1
            print(f"case {number}: expected {expected}: {steps}\n{report}")
    print(f"{count} cases, {faults} faults, wrong: {wrong}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
