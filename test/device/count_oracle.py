"""Random accesses to memory, and what they cost by a model of their own.

Run as a program with a number of cases and a seed: it prints the cases in which the
counts of the software device differ from the model.
"""

import functools
import os
import random
import sys
import tempfile

import numpy as np

import pycuda.autoinit  # noqa: F401  makes a context
import pycuda.driver as drv
from pycuda import _counts, _driver
from pycuda.compiler import SourceModule

THREADS, ELEMENTS = 96, 512
TYPES = {1: "char", 2: "short", 4: "int", 8: "long long", 16: "int4"}

#: A kernel a line; the access that counts is alone on the line behind it.
KERNEL = """
extern "C" __global__ void %s(const short *index, T *memory, T *out, T value) {
    __shared__ T s[%d]; T *any = value_of(value) ? memory : s;
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = index[t];
    for (int k = threadIdx.x; k < %d; k += blockDim.x)
        memset(&s[k], 0, sizeof s[k]);
    __syncthreads();
    if (i >= 0)
        %s;
    if (t == 200) { *out = s[i]; memory[i] = any[i]; }
}
"""
START = """
__device__ int value_of(T x) { return *(char *)&x; }
"""
ACCESSES = {
    "load": "out[t] = memory[i]",
    "store": "memory[i] = value",
    "atomic": "atomicAdd((int *)&memory[i], 1)",
    "shared": "s[i] = value",
    "shared_atomic": "atomicAdd((int *)&s[i], 1)",
    "generic": "any[i] = value",
}


def addresses(rng):
    """Return an index for each thread, -1 for none."""
    step, start = rng.choice([0, 1, 2, 3, 4, 8, 16, 17]), rng.randrange(60)
    found = rng.choice(
        [
            [rng.randrange(ELEMENTS) for _ in range(THREADS)],
            [start + rng.randrange(8) for _ in range(THREADS)],
            [(t % 16) * step + t // 16 * 7 + start for t in range(THREADS)],
            [t * step + start for t in range(THREADS)],
            [(THREADS - t) * step + start for t in range(THREADS)],
        ]
    )
    share = rng.choice([0, 0, rng.random()])
    return [-1 if rng.random() < share else at % ELEMENTS for at in found]


def warps(at):
    """Yield the active lanes of each warp, with their indices."""
    for first in range(0, len(at), 32):
        row = [(lane, i) for lane, i in enumerate(at[first : first + 32]) if i >= 0]
        if row:
            yield row


def global_cost(at, size):
    """Return the requests, the sectors, and the sectors that would do."""
    touched = [{i * size + b for _, i in row for b in range(size)} for row in warps(at)]
    sectors = [len({byte // 32 for byte in each}) for each in touched]
    return [len(touched), sum(sectors), sum(-(-len(each) // 32) for each in touched)]


def atomic_cost(at, size):
    """Return the same for atomic operations, which equal addresses make one by one."""
    requests, _, least = global_cost(at, size)
    sectors = 0
    for row in warps(at):
        left = [i for _, i in row]
        while left:
            sectors += len({i * size // 32 for i in left})
            for i in set(left):
                left.remove(i)
    return [requests, sectors, least]


def shared_cost(at, size, is_atomic=False):
    """Return the requests, the wavefronts, and the wavefronts that would do."""
    total = [0, 0, 0]
    together = 32 if size <= 4 else 128 // size
    for row in warps(at):
        total[0] += 1
        for first in range(0, 32, together):
            some = [i for lane, i in row if first <= lane < first + together]
            words = {(i * size + b) // 4 for i in some for b in range(size)}
            banks = [word % 32 for word in (some if is_atomic else words)]
            total[1] += max(map(banks.count, banks), default=0)
            total[2] += -(-len(words) // 32)
    return total


def equal_lanes(at):
    """Return the lanes at the index that most lanes of a warp have, of all warps."""
    rows = [[i for _, i in row] for row in warps(at)]
    return sum(max(map(row.count, row)) for row in rows)


def step_of(at, size):
    """Return the bytes between neighbours that most lanes of all warps have."""
    steps = set()
    for row in warps(at):
        pairs = [
            (b[0] - a[0], (b[1] - a[1]) * size)
            for a, b in zip(row, row[1:], strict=False)
        ]
        if pairs:
            lanes, distance = pairs[0]
            step = abs(distance) // lanes * (1 if distance > 0 else -1)
            same = [d == n * step for n, d in pairs]
            steps.add(step if 2 * sum(same) >= len(same) else _counts.MIXED)
    steps.discard(0)
    return _counts.MIXED if len(steps) > 1 else max(steps, default=0)


class Case:
    """The kernels for elements of one size."""

    def __init__(self, size):
        self.size = size
        kernels = [
            KERNEL % (name, ELEMENTS, ELEMENTS, text) for name, text in ACCESSES.items()
        ]
        self.text = START.replace("T", TYPES[size]) + "".join(kernels).replace(
            "T ", TYPES[size] + " "
        )
        self.module = SourceModule(self.text, no_extern_c=True)
        self.memory = drv.mem_alloc(ELEMENTS * 16)
        self.out = drv.mem_alloc(4096)
        drv.memset_d8(self.memory, 0, ELEMENTS * 16)

    def counted(self, name):
        """Return the sums over the accesses of a line."""
        line = self.text[: self.text.index(ACCESSES[name] + ";")].count("\n") + 1
        path = os.path.join(FOLDER, "counts")
        _counts.write(path)
        total = _counts.Access()
        for program in _counts.read(path):
            for each in program.instructions:
                is_here = program.functions[each.function].name == name
                if is_here and each.line == line and each.access:
                    loads = each.text.startswith("ld")
                    if loads == (name == "load"):
                        total = _counts.sum_of_accesses(total, each.access)
        return list(total)

    def difference(self, rng):
        """Return how a random case differs from the model, None if it does not."""
        names = [name for name in ACCESSES if self.size == 4 or "atomic" not in name]
        name, at = rng.choice(names), addresses(rng)
        is_shared = "shared" in name or (name == "generic" and rng.random() < 0.5)
        value = np.full(self.size, name == "generic" and not is_shared, np.int8)
        block, grid = rng.choice([(96, 1), (32, 3), (48, 2)])
        if block == 48:  # warps of 32 and 16 threads
            at[32:48] = at[80:] = [-1] * 16
            lanes = at[:32] + at[32:48] + [-1] * 16 + at[48:80] + at[80:] + [-1] * 16
        else:
            lanes = at
        _driver._clear_counts()
        self.module.get_function(name)(
            drv.to_device(np.array(at, np.int16)),
            self.memory,
            self.out,
            value.view(f"V{self.size}")[0],
            block=(block, 1, 1),
            grid=(grid, 1),
        )
        found = self.counted(name)
        wanted = [0] * 8
        cost = shared_cost if is_shared else global_cost
        if name == "atomic":
            cost = atomic_cost
        if name == "shared_atomic":
            cost = functools.partial(shared_cost, is_atomic=True)
        wanted[3 * is_shared : 3 * is_shared + 3] = cost(lanes, self.size)
        wanted[7] = equal_lanes(lanes) if "atomic" in name else 0
        wanted += [step_of(lanes, self.size)]
        if found == wanted:
            return None
        return (
            f"{name} of {self.size} bytes, block {block}: {found}, not {wanted}: {at}"
        )


if __name__ == "__main__":
    count, seed = map(int, sys.argv[1:])
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as FOLDER:
        cases = [Case(size) for size in TYPES]
        for _ in range(count):
            difference = rng.choice(cases).difference(rng)
            if difference:
                print(difference)
    print(count, "cases")
