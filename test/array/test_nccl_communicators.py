"""Communicators: what makes one, what ends it, and arguments that are refused.

See test_nccl.py for the exchanges, and for what NCCL is on the software device.
"""

import gc
import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray, nccl
from support.child import run_child
from support.nccl import alive

pytest_plugins = ["support.nccl_fixtures"]
pytestmark = pytest.mark.gpu

VALUES = np.arange(15, dtype=np.float32).reshape(3, 5)


@pytest.fixture
def alone(environment):
    """A communicator of one process, whose context is current."""
    context = drv.Device(0).retain_primary_context()
    try:
        with context:
            comm = nccl.Communicator(1, nccl.unique_id(), 0)
            yield comm
            comm.close()
    finally:
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
    x = gpuarray.to_gpu(VALUES)
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
    x = gpuarray.to_gpu(VALUES)
    other = drv.Device(0).make_context()
    try:
        with pytest.raises(drv.LogicError, match="another context than the current"):
            alone.all_reduce(x)
    finally:
        other.pop()
        other.detach()


# -- lives -----------------------------------------------------------------------------


def test_closed_communicators(alone):
    x = gpuarray.to_gpu(VALUES)
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
    x = gpuarray.to_gpu(VALUES)
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
    x = gpuarray.to_gpu(VALUES)
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
    assert all("/nowhere/libnccl.so.2" in x and "nvidia-nccl-cu13" in x for x in lines)


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
