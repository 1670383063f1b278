"""Exchanges of arrays through NCCL.

On the software device a stand-in, ``support/nccl_stand_in.c``, is the library. On a GPU
it is NVIDIA's, with as many devices as the machine has.
"""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray, nccl
from support.cc import compilers
from support.child import run_child
from support.nccl import build

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


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Let the package open the stand-in on the software device."""
    if not _driver._is_emulated():
        try:
            nccl.version()
        except drv.RuntimeError as error:
            pytest.skip(f"NCCL is not installed: {error}")
        yield None
        return
    if not compilers():
        pytest.skip("needs a C compiler for the stand-in")
    folder = tmp_path_factory.mktemp("nccl")
    library, variables = build(compilers()[0], folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield ctypes.CDLL(str(library))


def alive(environment):
    return 0 if environment is None else environment.nccl_stand_in_alive()


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


@pytest.fixture
def team(environment):
    before = alive(environment)
    made = Team()
    yield made
    made.close()
    gc.collect()
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


# -- bad input -------------------------------------------------------------------------


@pytest.fixture
def alone(environment):
    """A communicator of one process, whose context is current."""
    context = drv.Device(0).retain_primary_context()
    context.push()
    comm = nccl.Communicator(1, nccl.unique_id(), 0)
    yield comm
    comm.close()
    context.pop()
    context.detach()


REFUSED = {
    "a NumPy array": (
        lambda comm, x: comm.all_reduce(x.get()),
        "TypeError: all_reduce: send must be a GPUArray, not numpy.ndarray",
    ),
    "gaps": (
        lambda comm, x: comm.all_reduce(x[:, ::2]),
        "ValueError: all_reduce: the elements of send (shape (3, 3), strides (20, 8)) "
        "are not adjacent in memory: exchange a copy",
    ),
    "another shape": (
        lambda comm, x: comm.all_reduce(x, x[:2]),
        "ValueError: all_reduce: recv must have shape (3, 5), not (2, 5)",
    ),
    "another dtype": (
        lambda comm, x: comm.all_reduce(x, x.astype(np.float64)),
        "TypeError: all_reduce: recv has dtype float64, send has float32",
    ),
    "a NumPy array as result": (
        lambda comm, x: comm.all_reduce(x, x.get()),
        "TypeError: all_reduce: recv must be a GPUArray, not numpy.ndarray",
    ),
    "an unknown operation": (
        lambda comm, x: comm.all_reduce(x, op="mean"),
        "ValueError: all_reduce: op must be 'sum', 'prod', 'max', 'min' or 'avg', not "
        "'mean'",
    ),
    "short integers": (
        lambda comm, x: comm.all_reduce(x.astype(np.int16)),
        "TypeError: all_reduce: NCCL cannot reduce int16 with that op; it reduces "
        "integers of 8, 32 and 64 bits and floats, and adds complex numbers",
    ),
    "truth values": (
        lambda comm, x: comm.reduce(x > 1),
        "TypeError: reduce: NCCL cannot reduce bool with that op; it reduces integers "
        "of 8, 32 and 64 bits and floats, and adds complex numbers",
    ),
    "the order of complex numbers": (
        lambda comm, x: comm.all_reduce(x.astype(np.complex64), op="max"),
        "TypeError: all_reduce: NCCL cannot reduce complex64 with that op; it reduces "
        "integers of 8, 32 and 64 bits and floats, and adds complex numbers",
    ),
    "rows that overlap": (
        lambda comm, x: comm.all_reduce(x[:2], x[1:]),
        "ValueError: all_reduce: the memory of send and recv overlaps: exchange a copy",
    ),
    "a result that is the operand": (
        lambda comm, x: comm.all_to_all(x[:1], x[:1]),
        "ValueError: all_to_all: the memory of send and recv overlaps: exchange a copy",
    ),
    "a root that is not there": (
        lambda comm, x: comm.reduce(x, root=1),
        "ValueError: reduce: root is 1; it must be from 0 to 0",
    ),
    "a peer that is not there": (
        lambda comm, x: comm.send(x, -1),
        "ValueError: send: peer is -1; it must be from 0 to 0",
    ),
    "too many parts": (
        lambda comm, x: comm.reduce_scatter(x),
        "ValueError: reduce_scatter: the first axis of send has one part for each of "
        "the 1 processes; its shape is (3, 5)",
    ),
    "no axis for the parts": (
        lambda comm, x: comm.all_gather(x, x),
        "ValueError: all_gather: recv must have shape (1, 3, 5), not (3, 5)",
    ),
    "another order": (
        lambda comm, x: comm.all_gather(
            x, gpuarray.to_gpu(np.zeros((1, 3, 5), np.float32, order="F"))
        ),
        "ValueError: all_gather: send and recv must have the same order in memory, "
        "that of C",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_that_are_refused(alone, name):
    call, text = REFUSED[name]
    x = gpuarray.to_gpu(values(0, np.float32))
    with pytest.raises((TypeError, ValueError)) as info:
        call(alone, x)
    assert f"{type(info.value).__name__}: {info.value}" == text
    np.testing.assert_array_equal(alone.all_reduce(x).get(), x.get())


def test_what_makes_no_communicator(environment):
    context = drv.Device(0).retain_primary_context()
    context.push()
    try:
        for size, rank in ((0, 0), (2, 2), (2, -1)):
            with pytest.raises(ValueError, match=f"rank {rank} of {size} processes"):
                nccl.Communicator(size, nccl.unique_id(), rank)
        for wrong in (b"short", "x" * 128, None):
            with pytest.raises(
                TypeError, match=r"128 bytes that pycuda\.nccl\.unique_id"
            ):
                nccl.Communicator(1, wrong, 0)
        with pytest.raises(ValueError, match="another device"):
            nccl.communicators([context, context])
        with pytest.raises(ValueError, match="at least one"):
            nccl.communicators([])
        with nccl.group(), pytest.raises(drv.LogicError, match="outside of"):
            nccl.Communicator(1, nccl.unique_id(), 0)
    finally:
        context.pop()
        context.detach()


def test_another_context_than_the_primary_one(environment):
    context = drv.Device(0).make_context()
    try:
        with pytest.raises(
            drv.LogicError, match=r"primary context.*retain_primary_context"
        ):
            nccl.Communicator(1, nccl.unique_id(), 0)
        with pytest.raises(ValueError, match="context 0 is not the primary context"):
            nccl.communicators([context])
    finally:
        context.pop()
        context.detach()


def test_another_context_is_current(alone):
    x = gpuarray.to_gpu(values(0, np.float32))
    other = drv.Device(0).make_context()
    try:
        with pytest.raises(drv.LogicError, match="another context than the current"):
            alone.all_reduce(x)
    finally:
        other.pop()
        other.detach()


# -- lives -----------------------------------------------------------------------------


def test_closed_communicators(alone):
    x = gpuarray.to_gpu(values(0, np.float32))
    assert (alone.size, alone.rank, alone.closed) == (1, 0, False)
    alone.check()
    alone.note = "an attribute"
    alone.close()
    alone.close()
    alone.abort()
    assert alone.closed
    for call in (lambda: alone.all_reduce(x), alone.check):
        with pytest.raises(drv.LogicError, match="it was closed"):
            call()
    with pytest.raises(drv.LogicError, match="make each one once"):
        alone.__init__(1, nccl.unique_id(), 0)


def test_a_block_closes_or_aborts(environment):
    context = drv.Device(0).retain_primary_context()
    context.push()
    before = alive(environment)
    try:
        with nccl.Communicator(1, nccl.unique_id(), 0) as comm:
            assert not comm.closed
        assert comm.closed
        with pytest.raises(KeyError), nccl.Communicator(1, nccl.unique_id(), 0) as comm:
            raise KeyError
        assert comm.closed
        nccl.Communicator(1, nccl.unique_id(), 0)  # dropped: aborted
        gc.collect()
        assert alive(environment) == before
        with nccl.group(), pytest.raises(drv.LogicError, match="cannot end inside"):
            with nccl.Communicator.__new__(nccl.Communicator) as blank:
                assert blank.context is None
                comm = blank
            raise drv.LogicError("cannot end inside: a blank object ends at once")
    finally:
        context.pop()
        context.detach()


def test_the_end_of_the_context_ends_its_communicators(environment):
    before = alive(environment)
    context = drv.Device(0).retain_primary_context()
    context.push()
    first = nccl.Communicator(1, nccl.unique_id(), 0)
    second = nccl.Communicator(1, nccl.unique_id(), 0)
    assert second.context == context
    x = gpuarray.to_gpu(values(0, np.float32))
    context.pop()
    context.detach()
    assert first.closed and second.closed
    assert alive(environment) == before
    with pytest.raises(drv.LogicError, match="context"):
        first.all_reduce(x)


def test_a_group_belongs_to_its_thread(environment):
    group = nccl.group()
    with pytest.raises(drv.LogicError, match="__exit__ without __enter__"):
        group.__exit__()
    errors = []

    def leave():
        try:
            group.__exit__()
        except drv.LogicError as error:
            errors.append(error)

    with group:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert len(errors) == 1


@pytest.mark.software(why="a stand-in fails on request")
@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("ncclAllReduce", lambda comm, x: comm.all_reduce(x)),
        ("ncclSend", lambda comm, x: comm.all_to_all(x[None])),
        ("ncclGroupStart", lambda comm, x: nccl.group().__enter__()),
        ("ncclCommDestroy", lambda comm, x: comm.close()),
        ("ncclGetUniqueId", lambda comm, x: nccl.unique_id()),
        ("ncclGetVersion", lambda comm, x: nccl.version()),
        ("ncclCommInitRank", lambda comm, x: nccl.Communicator(1, bytes(128), 0)),
    ],
)
def test_functions_that_fail(alone, monkeypatch, function, call):
    x = gpuarray.to_gpu(values(0, np.float32))
    monkeypatch.setenv("NCCL_STAND_IN_FAILS", function)
    with pytest.raises(drv.LogicError, match="ncclInvalidUsage: the stand-in was told"):
        call(alone, x)
    monkeypatch.delenv("NCCL_STAND_IN_FAILS")
    if not alone.closed:
        np.testing.assert_array_equal(alone.all_reduce(x).get(), x.get())


@pytest.mark.software(why="a stand-in fails on request")
def test_an_error_after_the_call(alone, monkeypatch):
    monkeypatch.setenv("NCCL_STAND_IN_ASYNC", "6")
    with pytest.raises(
        drv.RuntimeError, match="exchange of the Communicator failed: ncclRemoteError"
    ):
        alone.check()
    monkeypatch.setenv("NCCL_STAND_IN_ASYNC", "7")  # in progress
    alone.check()


def test_a_library_that_is_not_there():
    done = run_child(
        """
        import pycuda.driver as drv
        from pycuda import nccl
        for call in (nccl.version, nccl.unique_id, nccl.group().__enter__):
            try:
                call()
            except drv.RuntimeError as error:
                print(error)
        """,
        PYCUDA_NCCL="/nowhere/libnccl.so.2",
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("/nowhere/libnccl.so.2" in x and "pycuda[nccl]" in x for x in lines)


def test_a_communicator_at_exit(environment):
    done = run_child(
        """
        import pycuda.autoprimaryctx
        from pycuda import gpuarray, nccl
        import numpy as np
        comm = nccl.Communicator(1, nccl.unique_id(), 0)
        x = gpuarray.to_gpu(np.ones(3, np.float32))
        print(comm.all_reduce(x))
        """,
    )
    assert done.stdout.strip() == "[1. 1. 1.]"
