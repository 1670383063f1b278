"""Distribute an array over MPI processes, and compute on a GPU in each.

    mpiexec -n 4 python examples/mpi/scatter_gather.py --size 100000

Process 0 scatters the numbers. Each process counts, on its device, the steps of the
Collatz sequence for its numbers. Process 0 gathers the counts and checks
some of them. Each process makes one context by hand, on the device for its number on
its machine, and releases it by hand.
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI

import pycuda.driver as drv
from pycuda.compiler import SourceModule
from pycuda.tools import device_for_rank

SOURCE = """
__global__ void collatz(unsigned int *steps, const unsigned long long *numbers, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = numbers[i];
    unsigned int count = 0;
    for (; x > 1; count++)
        x = x % 2 ? 3 * x + 1 : x / 2;
    steps[i] = count;
}
"""


def compute(numbers):
    """Count the steps of some numbers on the device of the current context."""
    steps = np.zeros(numbers.size, dtype=np.uint32)
    if numbers.size:
        collatz = SourceModule(SOURCE).get_function("collatz")
        collatz(
            drv.Out(steps),
            drv.In(numbers),
            np.int32(numbers.size),
            block=(128, 1, 1),
            grid=((numbers.size + 127) // 128, 1),
        )
    return steps


def collatz_on_host(x):
    count = 0
    while x > 1:
        x = 3 * x + 1 if x % 2 else x // 2
        count += 1
    return count


parser = argparse.ArgumentParser(description="Scatter, compute on GPUs, gather.")
parser.add_argument("--size", type=int, default=1001, help="how many numbers")
size = parser.parse_args().size

comm = MPI.COMM_WORLD
rank, processes = comm.Get_rank(), comm.Get_size()

# The first processes get one more number if the division has a remainder.
counts = [size // processes + (r < size % processes) for r in range(processes)]
mine = np.empty(counts[rank], dtype=np.uint64)
everything = np.arange(1, size + 1, dtype=np.uint64) if rank == 0 else None
comm.Scatterv([everything, counts], mine, root=0)

device = device_for_rank(comm)
context = device.make_context()  # also makes it current
context.pop()  # as a library does that uses the context only from time to time

context.push()
try:
    result = compute(mine)
finally:
    context.pop()
    context.detach()

gathered = np.empty(size, dtype=np.uint32) if rank == 0 else None
comm.Gatherv(result, [gathered, counts], root=0)
used = comm.gather(f"{device.name()}, {device.pci_bus_id()}", root=0)

right = True
if rank == 0:
    for r, name in enumerate(used):
        print(f"process {r}: {counts[r]} numbers on {name}")
    sample = range(0, size, max(1, size // 1000))
    right = all(gathered[i] == collatz_on_host(i + 1) for i in sample)
    longest = int(gathered.argmax())
    print(f"longest: {longest + 1} with {gathered[longest]} steps")
    print("right" if right else "WRONG")
sys.exit(0 if comm.bcast(right) else 1)
