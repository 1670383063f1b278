"""Exchanges of arrays through NCCL.

On the software device a stand-in, ``support/nccl_stand_in.c``, is the library. On a GPU
it is NVIDIA's, with as many devices as the machine has.
"""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray, nccl
from support.nccl import alive

pytest_plugins = ["support.nccl_fixtures"]
pytestmark = pytest.mark.gpu

REDUCED = [
    np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128,
]  # fmt: skip
OPS = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
    "avg": lambda values, axis: np.add.reduce(values, axis) / len(values),
}


class Team:
    """The primary context and the communicator of each device, in one thread."""

    def __init__(self):
        devices = [drv.Device(i) for i in range(drv.Device.count())]
        self.contexts = [device.retain_primary_context() for device in devices]
        self.comms = nccl.communicators(self.contexts)
        self.size = len(self.comms)

    def __call__(self, function):
        """Return function(communicator) in each context, in one group."""
        results = []
        with nccl.group():
            for context, comm in zip(self.contexts, self.comms, strict=True):
                context.push()
                try:
                    results.append(function(comm))
                finally:
                    drv.Context.pop()
        return results

    def get(self, arrays):
        """Return the elements of each array, read in its context."""
        values = []
        for context, array in zip(self.contexts, arrays, strict=True):
            context.push()
            try:
                values.append(None if array is None else array.get())
            finally:
                drv.Context.pop()
        return values

    def close(self):
        for comm in self.comms:
            comm.close()
        for context in self.contexts:
            context.detach()


@pytest.fixture(scope="module")
def team(environment):
    """One for all tests: NCCL needs a second to connect two GPUs."""
    before = alive(environment)
    made = Team()
    yield made
    made.close()
    assert alive(environment) == before


def values(rank, dtype, shape=(3, 5)):
    """Return small integers, different in each process."""
    numbers = np.arange(np.prod(shape)).reshape(shape) % 7 + rank + 1
    result = numbers.astype(dtype)
    return (
        result * dtype(1 + 2j) if np.issubdtype(dtype, np.complexfloating) else result
    )


def of_all(team, dtype, shape=(3, 5)):
    return np.stack([values(rank, dtype, shape) for rank in range(team.size)])


def cases():
    """Yield what NCCL can reduce: complex numbers are only added."""
    for dtype in REDUCED:
        for op in OPS:
            if not (
                np.issubdtype(dtype, np.complexfloating) and op not in ("sum", "avg")
            ):
                yield pytest.param(dtype, op, id=f"{np.dtype(dtype)}-{op}")


@pytest.mark.parametrize(("dtype", "op"), list(cases()))
def test_all_reduce(team, dtype, op):
    made = team(
        lambda comm: comm.all_reduce(gpuarray.to_gpu(values(comm.rank, dtype)), op=op)
    )
    want = OPS[op](of_all(team, dtype), axis=0).astype(dtype)
    for got in team.get(made):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)


def test_a_sum_into_the_operand_and_in_a_stream(team):
    def reduce(comm):
        array = gpuarray.to_gpu(values(comm.rank, np.float32))
        assert comm.all_reduce(array, recv=array, stream=drv.Stream()) is array
        return array

    for got in team.get(team(reduce)):
        np.testing.assert_array_equal(got, of_all(team, np.float32).sum(axis=0))


def test_reduce_has_a_result_in_one_process(team):
    root = team.size - 1
    made = team(
        lambda comm: comm.reduce(
            gpuarray.to_gpu(values(comm.rank, np.int32)), op="max", root=root
        )
    )
    assert made[:-1] == [None] * root
    np.testing.assert_array_equal(
        team.get(made)[-1], of_all(team, np.int32).max(axis=0)
    )


@pytest.mark.parametrize("dtype", ["i2", "?", "c16", "S3", "f4,i2"])
def test_elements_of_any_dtype_are_moved(team, dtype):
    size, dtype = team.size, np.dtype(dtype)
    bits = np.arange(size * 4 * dtype.itemsize).astype(np.uint8) % 2
    host = np.frombuffer(bits.tobytes(), dtype).reshape(size, 2, 2)
    root = size - 1
    sent = team(
        lambda comm: comm.broadcast(gpuarray.to_gpu(host[comm.rank]), root=root)
    )
    for got in team.get(sent):
        assert got.tobytes() == host[root].tobytes()
    gathered = team(lambda comm: comm.all_gather(gpuarray.to_gpu(host[comm.rank])))
    for got in team.get(gathered):
        assert got.shape == host.shape
        assert got.tobytes() == host.tobytes()


def test_gather_in_place_and_scattered_sums(team):
    size = team.size
    host = of_all(team, np.float64)

    def gather(comm):
        whole = gpuarray.zeros(host.shape, np.float64)
        whole[comm.rank] = gpuarray.to_gpu(host[comm.rank])
        return comm.all_gather(whole[comm.rank], recv=whole)

    for got in team.get(team(gather)):
        np.testing.assert_array_equal(got, host)

    def scatter(comm):
        whole = gpuarray.to_gpu(host * (comm.rank + 1))
        new = comm.reduce_scatter(whole)
        comm.reduce_scatter(whole, recv=whole[comm.rank])
        return whole, new

    factor = sum(range(1, size + 1))
    for rank, (whole, new) in enumerate(team(scatter)):
        (part,) = team.get([None] * rank + [new] + [None] * (size - rank - 1))[
            rank : rank + 1
        ]
        np.testing.assert_array_equal(part, host[rank] * factor)
        (part,) = team.get([None] * rank + [whole] + [None] * (size - rank - 1))[
            rank : rank + 1
        ]
        np.testing.assert_array_equal(part[rank], host[rank] * factor)


def test_all_to_all_transposes(team):
    size = team.size
    host = np.arange(size * size * 6, dtype=np.int16).reshape(size, size, 6)
    made = team(lambda comm: comm.all_to_all(gpuarray.to_gpu(host[comm.rank])))
    for rank, got in enumerate(team.get(made)):
        np.testing.assert_array_equal(got, host[:, rank])


def test_a_ring(team):
    def shift(comm):
        here, there = (
            gpuarray.to_gpu(values(comm.rank, np.float32)),
            gpuarray.empty((3, 5), np.float32),
        )
        assert comm.send(here, (comm.rank + 1) % comm.size) is here
        return comm.recv(there, (comm.rank - 1) % comm.size)

    for rank, got in enumerate(team.get(team(shift))):
        np.testing.assert_array_equal(got, values((rank - 1) % team.size, np.float32))


def test_arrays_of_a_group_live_until_it_ends(team):
    made = []

    def reduce(comm):
        made.append(
            weakref.ref(array := gpuarray.to_gpu(values(comm.rank, np.float32)))
        )
        comm.all_reduce(array, recv=array)

    with nccl.group():
        team(reduce)
        gc.collect()
        assert all(ref() is not None for ref in made)
    gc.collect()
    assert all(ref() is None for ref in made)


def test_a_group_leaves_the_current_context(team):
    """NCCL makes a device current where none was."""
    team(lambda comm: comm.all_reduce(gpuarray.zeros(4, np.float32)))
    with pytest.raises(drv.LogicError, match="no current context"):
        drv.mem_get_info()
    with team.contexts[0] as context:
        with nccl.group():
            pass
        assert drv.Context.get_current() == context


def test_empty_arrays_and_fortran_order(team):
    def reduce(comm):
        empty = comm.all_reduce(gpuarray.empty((0, 3), np.float32))
        return empty, comm.all_reduce(
            gpuarray.to_gpu(np.asfortranarray(values(comm.rank, np.float32)))
        )

    made = team(reduce)
    assert all(empty.shape == (0, 3) for empty, _ in made)
    for got in team.get([array for _, array in made]):
        np.testing.assert_array_equal(got, of_all(team, np.float32).sum(axis=0))
