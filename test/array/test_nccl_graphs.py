"""Exchanges through NCCL in captured graphs.

Each process has a thread here, because a launch may wait for those of the others.
"""

import gc
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray, nccl

pytest_plugins = ["support.nccl_fixtures"]
pytestmark = pytest.mark.gpu

COUNT = 1000


@pytest.fixture(scope="module")
def team(environment):
    """Return a function that calls function(communicator) in a thread per device."""
    devices = [drv.Device(i) for i in range(drv.Device.count())]
    contexts = [device.retain_primary_context() for device in devices]
    comms = nccl.communicators(contexts)

    def run(function):
        results, errors = [None] * len(comms), []

        def work(comm):
            comm.context.push()
            try:
                results[comm.rank] = function(comm)
            except Exception as error:
                errors.append(error)
            finally:
                gc.collect()
                drv.Context.pop()

        threads = [threading.Thread(target=work, args=(comm,)) for comm in comms]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        return results

    def load(comm):
        """Load the kernels of the tests, which a context keeps."""
        x = gpuarray.zeros(4, np.float32)
        x.fill(1)
        gpuarray.zeros(4, np.int32)
        return (comm.all_reduce(x * 2) + 1).get()

    run(load)
    run.size = len(comms)
    yield run
    for comm in comms:
        comm.close()
    for context in contexts:
        context.detach()


def test_a_captured_sum(team):
    def work(comm):
        stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
        x = gpuarray.to_gpu(np.full(COUNT, comm.rank + 1, np.float32))
        with stream.capture() as graph:
            doubled = x * 2
            total = comm.all_reduce(doubled) + 1
        del doubled
        executable = graph.instantiate()
        found = []
        for factor in (1, 10):
            x.fill(factor * (comm.rank + 1))
            drv.Context.synchronize()
            executable.launch(stream)
            stream.synchronize()
            found.append(total.get()[[0, -1]].tolist())
        return found

    once = sum(2 * (rank + 1) for rank in range(team.size))
    for found in team(work):
        assert found == [[once + 1] * 2, [10 * once + 1] * 2]


def test_a_captured_group(team):
    """Each process sends its array to the next one, and receives one."""

    def work(comm):
        stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
        x = gpuarray.to_gpu(np.full(COUNT, comm.rank, np.int32))
        y = gpuarray.zeros_like(x)
        drv.Context.synchronize()
        with stream.capture() as graph, nccl.group():
            comm.send(x, (comm.rank + 1) % comm.size)
            comm.recv(y, (comm.rank - 1) % comm.size)
        del x
        executable = graph.instantiate()
        executable.launch(stream)
        stream.synchronize()
        executable.launch(stream)
        stream.synchronize()
        return int(y.get()[0])

    assert team(work) == [(rank - 1) % team.size for rank in range(team.size)]


def test_a_graph_keeps_arrays_and_the_communicator(environment):
    context = drv.Device(0).retain_primary_context()
    context.push()
    try:
        (comm,) = nccl.communicators([context])
        stream = drv.Stream(drv.stream_flags.NON_BLOCKING)
        x = gpuarray.to_gpu(np.full(COUNT, 3, np.float32))
        y = gpuarray.zeros_like(x)
        drv.Context.synchronize()
        with stream.capture() as graph:
            comm.all_reduce(x, y)
        executable = graph.instantiate()
        reference = weakref.ref(comm)
        del x, comm, graph
        gc.collect()
        assert reference() is not None
        other = [gpuarray.zeros(COUNT, np.float32) for _ in range(10)]
        executable.launch(stream)
        stream.synchronize()
        assert (y.get() == 3).all()
        del executable, other
        gc.collect()
        assert reference() is None
        del y, stream
    finally:
        gc.collect()
        drv.Context.pop()
        context.detach()
