"""Random writes to device and shared memory, and whether an element was written.

    python test/device/init_oracle.py [SEED [CASES]]

Each case fills, copies and stores to parts of an allocation, and then lets each thread
of a kernel decide by an element. Or some threads of a block store to parts of shared
memory, and some or all decide by elements of it. NumPy follows which bytes were
written. The software device must report an uninitialised read if no byte of one of
these elements was written. Needs PYCUDA_CHECK=init.
"""

import random
import sys

import numpy as np

import pycuda.driver as drv
from pycuda.compiler import compile as compile_cuda

BYTES = 2048
THREADS = 64
SHARED_BYTES = 256
TYPES = {1: "char", 2: "short", 4: "int", 8: "long long"}

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

#: Three stores of some threads to shared memory, which another warp uses.
SHARED_SOURCE = r"""
extern "C" __global__ void shared_{write}_{read}(const int *numbers, int *out)
{{
    __shared__ __align__(16) char s[{bytes}];
    const int first = numbers[6], count = numbers[7], all = numbers[8];
    const int at = all ? threadIdx.x % count : threadIdx.x;
    for (int k = 0; k < 3; k++)
        if (threadIdx.x < numbers[k + 3])
            ((volatile {store} *)s)[numbers[k] + threadIdx.x] = 1;
    __syncthreads();
    if (all || threadIdx.x < count)
        if (((volatile {load} *)s)[first + at] == 77) out[threadIdx.x] = 1;
    out[threadIdx.x + 64] = 1;
}}
"""
SOURCE += "".join(
    SHARED_SOURCE.format(
        write=write, read=read, bytes=SHARED_BYTES, store=store, load=load
    )
    for write, store in TYPES.items()
    for read, load in TYPES.items()
)


def elements(random, size):
    """Return the first element of an access to shared memory, and how many follow."""
    count = random.randrange(1, min(THREADS, SHARED_BYTES // size) + 1)
    return random.randrange(SHARED_BYTES // size - count + 1), count


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

    def use_shared(self, random, out):
        """The same for shared memory."""
        write, read = random.choice(list(TYPES)), random.choice(list(TYPES))
        written = np.zeros(SHARED_BYTES, bool)
        stores = [elements(random, write) for _ in range(3)]
        for first, count in stores:
            written[first * write : (first + count) * write] = True
        first, count = elements(random, read)
        everyone = random.randrange(2)  # each half of a warp loads one element, or 16
        if everyone:
            count = random.choice([1, 16])
            first = random.randrange(SHARED_BYTES // read - count + 1)
        if random.random() < 0.7:  # near the end of what was written
            last = np.flatnonzero(written)[-1] // read
            count = min(last + 1, count)
            if not everyone:
                count = random.randrange(1, min(last + 1, THREADS) + 1)
            first = last + 1 - count
            if random.random() < 0.3 and last + 1 < SHARED_BYTES // read:
                first += 1
        numbers = [*zip(*stores, strict=True), (first, count, everyone)]
        numbers = np.array([n for part in numbers for n in part], np.int32)
        name = f"shared_{write}_{read}"
        self.steps.append((name, *numbers.tolist()))
        self.numbers = drv.to_device(numbers)
        self.module.get_function(name)(self.numbers, out, block=(THREADS, 1, 1))
        used = written[first * read : (first + count) * read]
        return not used.reshape(-1, read).any(axis=1).all()


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
        use = numbers.choice([memory.use, memory.use_shared])
        expected = use(numbers, out)
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
