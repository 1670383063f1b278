"""Random accesses of a kernel, and whether they are a race.

    python test/device/race_oracle.py [SEED [CASES]]

Each case is a table of accesses, which one kernel makes in turn: to shared or global
memory, by rows of lanes with steps between lanes, warps and blocks, with barriers
between some of them. Python finds from the table whether two accesses are a race. The
software device must report a race in the same cases. Needs PYCUDA_CHECK=race.
"""

import os
import random
import sys
import warnings
from dataclasses import dataclass
from itertools import combinations

import numpy as np

import pycuda.driver as drv
from pycuda.compiler import compile as compile_cuda

BYTES = 4096
SHARED, GLOBAL, BARRIER = range(3)
LANES = 32
WORDS = 11  # of a row of the table

SOURCE = r"""
template <class T>
__device__ long long touch(char *memory, int index, bool writes, int value)
{
    T *at = (T *)memory + index;
    if (!writes) return *at;
    *at = (T)value;
    return 0;
}

extern "C" __global__ void accesses(char *memory, long long *sums, const int *table,
                                    int rows)
{
    __shared__ __align__(16) char shared[4096];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    long long sum = 0;
    for (int r = 0; r < rows; r++, table += 11) {
        if (table[0] == 2) {
            __syncthreads();
            continue;
        }
        int index = table[3] + table[4] * lane + table[5] * warp
                    + table[6] * (int)blockIdx.x;
        if (lane < table[7] || lane >= table[8] || warp < table[9] || warp >= table[10])
            continue;
        char *start = table[0] == 0 ? shared : memory;
        index %= 4096 / (table[2] & 15);
        bool writes = table[1];
        int value = (r * 8192 + thread) * 257 + 1; // as value_of
        if (table[2] == 1) sum += touch<signed char>(start, index, writes, value);
        if (table[2] == 4) sum += touch<int>(start, index, writes, value);
        if (table[2] == 8) sum += touch<long long>(start, index, writes, value);
    }
    sums[thread] = sum;
}
"""


@dataclass(frozen=True)
class Access:
    """A row of the table."""

    space: int
    writes: bool = False
    size: int = 4
    base: int = 0
    lane_step: int = 1
    warp_step: int = 0
    block_step: int = 0
    lanes: tuple = (0, 32)
    warps: tuple = (0, 32)

    def row(self):
        return [
            self.space,
            self.writes,
            self.size,
            self.base,
            self.lane_step,
            self.warp_step,
            self.block_step,
            *self.lanes,
            *self.warps,
        ]

    def index(self, block, warp, lane):
        """Return the element that a thread accesses; None if it is not active."""
        if not (self.lanes[0] <= lane < self.lanes[1]):
            return None
        if not (self.warps[0] <= warp < self.warps[1]):
            return None
        index = self.base + self.lane_step * lane
        index += self.warp_step * warp + self.block_step * block
        return index % (BYTES // self.size)


@dataclass(frozen=True)
class Case:
    blocks: int
    warps: int
    rows: tuple


# -- what is a race --------------------------------------------------------------------


def value_of(case, row, block, warp, lane):
    """Return what a thread stores; the least byte is unlike that of its neighbours."""
    thread = (block * case.warps + warp) * LANES + lane
    return (row * 8192 + thread) * 257 + 1


def accesses_by_byte(case):
    """Return, for each byte of memory, its accesses.

    An access has a block, a warp, a period, and the byte that it writes or None. The
    byte of shared memory has the number of its block, too. Return None if two lanes of
    a warp write to one element in one instruction.
    """
    found = {}
    period = 0
    for row, access in enumerate(case.rows):
        if access.space == BARRIER:
            period += 1
            continue
        for block in range(case.blocks):
            for warp in range(case.warps):
                elements = {}
                for lane in range(LANES):
                    index = access.index(block, warp, lane)
                    if index is None:
                        continue
                    if access.writes and index in elements:
                        return None
                    elements[index] = value_of(case, row, block, warp, lane)
                where = block if access.space == SHARED else -1
                for index, value in elements.items():
                    for k in range(access.size):
                        byte = value >> 8 * k & 255 if access.writes else None
                        at = where, index * access.size + k
                        found.setdefault(at, set()).add((block, warp, period, byte))
    return found


def races(case):
    """Return whether a case may be a race, and whether it is one for sure.

    Two threads may write one value to a byte.
    """
    by_byte = accesses_by_byte(case)
    if by_byte is None:
        return True, True
    may_be = False
    for accesses in by_byte.values():
        if all(byte is None for *_, byte in accesses):
            continue
        for one, two in combinations(accesses, 2):
            if one[3] is two[3] is None or one[:2] == two[:2]:
                continue
            if one[0] != two[0] or one[2] == two[2]:
                may_be = True
                if one[3] != two[3]:
                    return True, True
    return may_be, False


def is_exact(case):
    """Return whether the check must find each race of a case.

    It remembers two readers of a byte of global memory. With barriers, one of them may
    be ordered, or be this warp itself long ago, and a third one is forgotten. Two
    threads of the host that check the same bytes at the same time may not see each
    other.
    """
    if case.blocks > 1 and os.environ.get("PYCUDA_EMULATOR_THREADS") != "1":
        return False
    barriers = any(access.space == BARRIER for access in case.rows)
    reads = any(a.space == GLOBAL and not a.writes for a in case.rows)
    return not (barriers and reads)


# -- random cases ----------------------------------------------------------------------


def random_access(random, is_apart):
    """Return an access; `is_apart`: its warps and blocks likely use their own bytes."""
    size = random.choice([4, 4, 4, 8, 8, 1])
    lane_step = random.choice([1, 1, 1, 1, 0, 2, 33])
    lanes = random.choice([(0, 32)] * 6 + [(0, 16), (16, 32), (5, 6)])
    warps = random.choice([(0, 32)] * 6 + [(0, 1), (1, 3)])
    writes = random.random() < (0.4 if lane_step else 0.05)
    warp_step, block_step = 32 * max(lane_step, 1), 128 * max(lane_step, 1)
    base = random.choice([0, 0, 0, 0, 16, 1, 3, 64])
    if not is_apart:
        warp_step = random.choice([warp_step, 0, 16, 31])
        block_step = random.choice([block_step, 0, 64])
        base = random.choice([base, random.randrange(256)])
    space = random.choice([SHARED, GLOBAL])
    return Access(
        space, writes, size, base, lane_step, warp_step, block_step, lanes, warps
    )


def random_case(random):
    is_apart = random.random() < 0.7
    count = random.choice([2, 3, 5, 9])
    rows = []
    for _ in range(count):
        rows.append(random_access(random, is_apart))
        while random.random() < 0.3:
            rows.append(rows[-1])
        if random.random() < 0.4:
            rows.append(Access(BARRIER))
    blocks, warps = random.choice([(1, 1), (1, 4), (2, 2), (4, 1), (3, 4), (2, 9)])
    return Case(blocks, warps, tuple(rows))


# -- the software device ---------------------------------------------------------------


class Device:
    def __init__(self):
        drv.init()
        # the model is about warps; lanes of one are compared in test_step_check.py
        warnings.filterwarnings("ignore", "threads of a warp", drv.PyCUDAWarning)
        self.text = compile_cuda(
            SOURCE, no_extern_c=True, arch="compute_75", target="ptx"
        )

    def report(self, case):
        """Run a case; return the text of its race, or "" if there is none."""
        context = drv.Device(0).make_context()
        try:
            kernel = drv.module_from_buffer(self.text).get_function("accesses")
            table = np.array([a.row() for a in case.rows], np.int32)
            memory = drv.mem_alloc(BYTES)
            drv.memset_d8(memory, 0, BYTES)
            sums = drv.mem_alloc(8 * case.blocks * case.warps * LANES)
            rows = drv.to_device(table)
            try:
                kernel(
                    memory,
                    sums,
                    rows,
                    np.int32(len(table)),
                    grid=(case.blocks, 1),
                    block=(LANES * case.warps, 1, 1),
                )
                context.synchronize()
            except drv.LaunchError as error:
                return str(error)
            return ""
        finally:
            context.pop()
            context.detach()


def main(seed=0, count=200):
    numbers = random.Random(seed)
    device = Device()
    certain = wrong = 0
    for number in range(count):
        case = random_case(numbers)
        may_be, is_race = races(case)
        text = device.report(case)
        found = "race: " in text
        certain += is_race
        if text and not found:
            print(f"case {number}: another fault: {text}")
        if found and not may_be:
            wrong += 1
            print(f"case {number}: reported, but no race: {case}\n{text}")
        if is_race and not found and is_exact(case):
            wrong += 1
            print(f"case {number}: a race, but not reported: {case}")
    print(f"{count} cases, {certain} races, wrong: {wrong}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
