"""Add the arrays of all GPUs in a ring: each sends to the next and adds what arrives.

    mpiexec -n 4 python examples/mpi/nccl_ring.py --elements 1000000

The array of each process has a part for each process. After size - 1 steps each
process has the sum of one part, after size - 1 more the sums of all. The parts go from
device to device through NCCL. The program makes the exchanges one by one, then once
more as a graph, and compares both with NCCL's own sum.
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI

import pycuda.driver as drv
from pycuda import gpuarray, nccl
from pycuda.tools import device_for_rank


def pass_on(comm, send, recv):
    """Send a part to the next process, and receive one from the process before."""
    with nccl.group():
        comm.send(send, (comm.rank + 1) % comm.size)
        comm.recv(recv, (comm.rank - 1) % comm.size)


def add_in_a_ring(comm, parts, spare):
    """Replace the parts by the sums of the parts of all processes."""
    for step in range(comm.size - 1):
        pass_on(comm, parts[(comm.rank - step) % comm.size], spare)
        mine = parts[(comm.rank - step - 1) % comm.size]
        mine += spare
    for step in range(comm.size - 1):
        pass_on(
            comm,
            parts[(comm.rank - step + 1) % comm.size],
            parts[(comm.rank - step) % comm.size],
        )


def differs(comm, elements):
    """Return which of the two sums are wrong: a list of words."""
    length = -(-elements // comm.size)
    host = np.random.default_rng(comm.rank).integers(0, 100, (comm.size, length))
    given = gpuarray.to_gpu(host.astype(np.float32))
    wanted = comm.all_reduce(given).get()
    spare = gpuarray.empty(length, np.float32)
    wrong = []

    sums = given.copy()
    add_in_a_ring(comm, sums, spare)
    if not (sums.get() == wanted).all():
        wrong.append("one by one")

    stream = drv.Stream()
    with stream.capture() as graph:
        add_in_a_ring(comm, sums, spare)
    again = graph.instantiate()
    sums.set(given.get())
    again.launch(stream)
    stream.synchronize()
    if not (sums.get() == wanted).all():
        wrong.append("as a graph")
    return wrong


def main():
    parser = argparse.ArgumentParser(description="Add arrays in a ring of GPUs.")
    parser.add_argument("--elements", type=int, default=1000, help="of each array")
    elements = parser.parse_args().elements

    world = MPI.COMM_WORLD
    device = device_for_rank(world)
    context = device.retain_primary_context()
    context.push()
    try:
        with nccl.communicator_of(world) as comm:
            wrong = differs(comm, elements)
    finally:
        context.pop()
    found = world.gather(wrong)
    if world.rank == 0:
        print("device:", device.name())
        for rank, words in enumerate(found):
            print(
                f"process {rank}: {'WRONG ' + ', '.join(words) if words else 'right'}"
            )
    return 1 if any(world.bcast(found)) else 0


if __name__ == "__main__":
    sys.exit(main())
