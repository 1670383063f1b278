"""Solve the heat equation on a plate distributed over the GPUs of an MPI program.

    mpiexec -n 4 python examples/mpi/heat_equation.py
    mpiexec -n 2 python examples/mpi/heat_equation.py --bench --rows 16384

Each process has a band of rows in a GPUArray, with one row of each neighbour above and
below it. Each step first computes the outer rows. It then sends them to the neighbours
while it computes the inner rows in a separate stream. NCCL sends the rows from device
to device, in the stream, so no step waits on the host. Without NCCL, an MPI library
with CUDA support sends them from device to device, and for other libraries they are
staged through page-locked memory. --exchange chooses the way.

The result is compared with NumPy's. With --bench the program then times a large plate.
"""

import argparse
import ctypes
import os
import sys
import time

import numpy as np
from mpi4py import MPI

import pycuda.driver as drv
from pycuda import gpuarray, nccl
from pycuda.compiler import SourceModule
from pycuda.tools import device_for_rank

# No fused multiply-add, so that every process rounds as NumPy does.
OPTIONS = ["-fmad=false"]
SOURCE = """
// Rows first to last of the band; the rows around it and the sides are only read.
__global__ void step(double *to, const double *from, int first, int last, int columns,
                     double rate)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + first;
    if (x >= columns - 1 || y > last)
        return;
    long long i = (long long)y * columns + x;
    double around = from[i - columns] + from[i + columns] + from[i - 1] + from[i + 1];
    to[i] = from[i] + rate * (around - 4 * from[i]);
}
"""
RATE = 0.2
BLOCK = (32, 4, 1)
WAYS = {"nccl": "NCCL", "device": "the device", "host": "page-locked memory"}


def mpi_takes_device_memory():
    """Return whether the loaded MPI library supports CUDA.

    Open MPI and MPICH have a function for that, MPIX_Query_cuda_support. A library
    without it is treated as one without support.
    """
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "libmpi" in line}
    for file in sorted(file for file in files if os.path.exists(file)):
        query = getattr(ctypes.CDLL(file), "MPIX_Query_cuda_support", None)
        if query is not None:
            return bool(query())
    return False


def choose_exchange(comm):
    """Return "nccl", "device" or "host": the fastest way that works."""
    machine = comm.Split_type(MPI.COMM_TYPE_SHARED)
    own_devices = machine.Get_size() <= drv.Device.count()
    machine.Free()
    try:
        nccl.version()
        found = own_devices  # NCCL needs a device for each process
    except drv.RuntimeError:
        found = False
    if comm.allreduce(found, op=MPI.LAND):
        return "nccl"
    return "device" if mpi_takes_device_memory() else "host"


def first_plate(rows, columns):
    """Return a cold plate with a hot upper edge and a warm spot."""
    plate = np.zeros((rows, columns))
    plate[0] = 100
    plate[rows // 2 : rows // 2 + 4, columns // 3 : columns // 3 + 4] = 50
    return plate


def on_host(plate, steps):
    plate = plate.copy()
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = inner + RATE * (around - 4 * inner)
    return plate


class Band:
    """The rows of one process, and their time steps."""

    def __init__(self, comm, rows, columns, way):
        self.comm, self.way, self.columns = comm, way, columns
        rank, processes = comm.Get_rank(), comm.Get_size()
        # The processes share the inner rows; the edges of the plate are constant.
        inner = [
            (rows - 2) // processes + (r < (rows - 2) % processes)
            for r in range(processes)
        ]
        if min(inner) < 2:
            raise ValueError(f"{rows} rows are too few for {processes} processes")
        self.inner = inner
        self.start = sum(inner[:rank])  # this band begins at that row
        self.above = rank - 1 if rank > 0 else MPI.PROC_NULL
        self.below = rank + 1 if rank < processes - 1 else MPI.PROC_NULL
        self.last = inner[rank]
        self.step = SourceModule(SOURCE, options=OPTIONS).get_function("step")
        # The outer rows go first: the neighbours wait for them.
        urgent = drv.Context.get_stream_priority_range()[1]
        self.outer_stream = drv.Stream(priority=urgent)
        self.inner_stream = drv.Stream()
        self.outer_done, self.inner_done = drv.Event(), drv.Event()
        if way == "nccl":
            self.nccl = nccl.communicator_of(comm)
        elif way == "host":
            self.pages = drv.pagelocked_zeros((4, columns), np.float64)

    def put(self, plate):
        part = plate[self.start : self.start + self.last + 2]
        self.now = gpuarray.to_gpu(part)
        self.next = gpuarray.to_gpu(part)

    def compute(self, first, last, stream):
        if first > last:
            return
        self.step(
            self.next,
            self.now,
            np.int32(first),
            np.int32(last),
            np.int32(self.columns),
            np.float64(RATE),
            block=BLOCK,
            grid=(-(-self.columns // BLOCK[0]), -(-(last - first + 1) // BLOCK[1])),
            stream=stream,
        )

    def exchange(self):
        """Send the new outer rows; receive those of the neighbours."""
        top, bottom = self.next[1], self.next[self.last]
        over, under = self.next[0], self.next[self.last + 1]
        if self.way == "nccl":
            self.exchange_in_stream(
                ((top, over, self.above), (bottom, under, self.below))
            )
            return
        if self.way == "device":
            self.outer_stream.synchronize()  # MPI does not know about streams
            self.comm.Sendrecv(top, self.above, recvbuf=under, source=self.below)
            self.comm.Sendrecv(bottom, self.below, recvbuf=over, source=self.above)
            return
        stream = self.outer_stream
        sent_up, sent_down, from_above, from_below = self.pages
        top.get_async(stream, sent_up)
        bottom.get_async(stream, sent_down)
        stream.synchronize()
        self.comm.Sendrecv(sent_up, self.above, recvbuf=from_below, source=self.below)
        self.comm.Sendrecv(sent_down, self.below, recvbuf=from_above, source=self.above)
        if self.above != MPI.PROC_NULL:
            over.set_async(from_above, stream)
        if self.below != MPI.PROC_NULL:
            under.set_async(from_below, stream)

    def exchange_in_stream(self, neighbours):
        """Enqueue the exchange after the computation of the outer rows."""
        with nccl.group():
            for row, their_row, rank in neighbours:
                if rank != MPI.PROC_NULL:
                    self.nccl.send(row, rank, stream=self.outer_stream)
                    self.nccl.recv(their_row, rank, stream=self.outer_stream)

    def advance(self, steps):
        for _ in range(steps):
            # Each stream waits for what the other computed in the last step. Only MPI
            # needs the host: an exchange of NCCL is work in the outer stream.
            self.outer_stream.wait_for_event(self.inner_done)
            self.inner_stream.wait_for_event(self.outer_done)
            self.compute(1, 1, self.outer_stream)
            self.compute(self.last, self.last, self.outer_stream)
            self.outer_done.record(self.outer_stream)
            self.compute(2, self.last - 1, self.inner_stream)
            self.inner_done.record(self.inner_stream)
            self.exchange()
            self.now, self.next = self.next, self.now
        self.outer_stream.synchronize()
        self.inner_stream.synchronize()

    def close(self):
        if self.way == "nccl":
            self.nccl.close()

    def gather(self, plate):
        """Gather the rows of all processes in the plate of process 0."""
        counts = [count * self.columns for count in self.inner]
        target = plate[1:-1] if self.comm.Get_rank() == 0 else None
        self.comm.Gatherv(self.now.get()[1:-1], [target, counts], root=0)


def check(comm, rows, columns, steps, way):
    """Compare a small plate with NumPy's; process 0 gets the largest difference."""
    plate = first_plate(rows, columns)
    band = Band(comm, rows, columns, way)
    band.put(plate)
    band.advance(steps)
    result = plate.copy()
    band.gather(result)
    band.close()
    return np.abs(result - on_host(plate, steps)).max() if comm.Get_rank() == 0 else 0


def bench(comm, rows, columns, steps, way):
    """Return the seconds per step of the slowest process."""
    band = Band(comm, rows, columns, way)
    band.put(first_plate(rows, columns))
    band.advance(2)
    comm.Barrier()
    start = time.perf_counter()
    band.advance(steps)
    seconds = time.perf_counter() - start
    band.close()
    return comm.allreduce(seconds, op=MPI.MAX) / steps


def main():
    parser = argparse.ArgumentParser(description="The heat equation over GPUs.")
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--columns", type=int, help="default: as many as rows")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument(
        "--exchange",
        choices=["auto", "nccl", "device", "host"],
        default="auto",
        help="NCCL, or MPI with device or host memory; auto takes the first that works",
    )
    parser.add_argument("--bench", action="store_true", help="measure the time")
    args = parser.parse_args()
    args.columns = args.columns or args.rows

    drv.init()
    comm = MPI.COMM_WORLD
    way = choose_exchange(comm) if args.exchange == "auto" else args.exchange
    context = device_for_rank(comm).retain_primary_context()  # NCCL works in that one
    context.push()
    try:
        rows, columns, steps = (
            (50, 50, 10) if args.bench else (args.rows, args.columns, args.steps)
        )
        difference = comm.bcast(check(comm, rows, columns, steps, way))
        if comm.Get_rank() == 0:
            print("device:", drv.Context.get_device().name())
            print("rows go through", WAYS[way])
            print(
                f"{comm.Get_size()} processes, {rows} x {columns}, {steps} steps:",
                end=" ",
            )
            print(f"largest difference {difference}")
        if args.bench and difference == 0:
            seconds = bench(comm, args.rows, args.columns, args.steps, way)
            moved = 2 * 8 * (args.rows - 2) * (args.columns - 2)  # one read, one write
            if comm.Get_rank() == 0:
                print(
                    f"{args.rows} x {args.columns}: {seconds * 1e6:.1f} us a step, "
                    f"{moved / seconds / 1e9:.1f} GB/s over all devices, "
                    f"{8 * args.columns} bytes to each neighbour"
                )
    finally:
        context.pop()
        context.detach()
    return 0 if difference == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
