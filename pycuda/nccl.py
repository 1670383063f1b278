"""Exchange arrays between GPUs through NCCL, from several processes or contexts.

The extra ``nccl`` installs the library; the environment variable
``PYCUDA_NCCL`` may name another file. All functions raise RuntimeError without it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from pycuda import _hide_imports
from pycuda._driver import (
    Context,
    Device,
    _Communicator as Communicator,
    _nccl_group as group,
    _nccl_unique_id,
    _nccl_version,
)

__all__ = [
    "Communicator",
    "communicator_of",
    "communicators",
    "group",
    "unique_id",
    "version",
]
_hide_imports(globals())


def version() -> tuple[int, int, int]:
    """Return the version of the library.

    Returns
    -------
    tuple of int
        The numbers (major, minor, patch).

    Raises
    ------
    RuntimeError
        If the library is missing.
    """
    return _nccl_version()


def unique_id() -> bytes:
    """Return the bytes that the processes of one new communicator share.

    Returns
    -------
    bytes
        The 128 bytes. One process calls this function and sends them to the others.

    Raises
    ------
    RuntimeError
        If the library is missing.
    """
    return _nccl_unique_id()


def communicator_of(comm: Any) -> Communicator:
    """Return a Communicator of the processes of an mpi4py communicator.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The communicator. All its processes make the call, each in the primary context
        of its own device, which must be current.

    Returns
    -------
    Communicator
        The communicator, with the same size and ranks.

    Raises
    ------
    RuntimeError
        If the library is missing or refuses the call.
    """
    rank = comm.Get_rank()
    shared = comm.bcast(unique_id() if rank == 0 else None, root=0)
    return Communicator(comm.Get_size(), shared, rank)


def _check_contexts(contexts: list[Context]) -> None:
    """Refuse what no process could join: the others would wait for it."""
    devices: list[Device] = []
    for context in contexts:
        context.push()
        try:
            device = Context.get_device()
        finally:
            Context.pop()
        primary = device.retain_primary_context()
        is_primary = primary == context
        primary.detach()
        if not is_primary:
            raise ValueError(
                f"communicators: context {len(devices)} is not the primary context of "
                "its device; device.retain_primary_context() returns that"
            )
        devices.append(device)
    if len(set(devices)) != len(devices) or not devices:
        raise ValueError(
            "communicators: each context must be that of another device, and there "
            f"must be at least one; the devices are {[hash(d) for d in devices]}"
        )


def communicators(contexts: Sequence[Context]) -> list[Communicator]:
    """Return a Communicator for each primary context, of different devices.

    Parameters
    ----------
    contexts : sequence of Context
        Primary contexts of this process.

    Returns
    -------
    list of Communicator
        Rank i is the i-th. Exchanges that one thread enqueues for several of them
        belong into a ``with group():`` block.

    Raises
    ------
    RuntimeError
        If the library is missing or refuses the call.
    ValueError
        If a context is not the primary one, or if two are of one device.
    """
    contexts = list(contexts)
    _check_contexts(contexts)
    shared = unique_id()
    made: list[Communicator | None] = [None] * len(contexts)
    errors: list[BaseException] = []

    def make(rank: int) -> None:
        context = contexts[rank]
        try:
            context.push()
            try:
                made[rank] = Communicator(len(contexts), shared, rank)
            finally:
                Context.pop()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=make, args=(i,)) for i in range(len(contexts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        for communicator in filter(None, made):
            communicator.abort()
        raise errors[0]
    return [communicator for communicator in made if communicator is not None]
