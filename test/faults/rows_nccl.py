"""Rows: communicators, with the stand-in for NCCL that the tests build.

The stand-in makes no calls of the driver in a communicator of one process, so the calls
that fail are those of this package. Without a C compiler there are no rows.
"""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from pycuda import gpuarray, nccl
from support.cc import compilers
from support.nccl import build

from .row import calls, row

VALUES = np.arange(8, dtype=np.float32).reshape(1, 8)


@functools.cache
def install():
    """Let the package open the stand-in. Only the processes of the sweeps call this."""
    folder = tempfile.mkdtemp(prefix="pycuda-nccl-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.update(build(compilers()[0], Path(folder))[1])


def in_primary(w):
    """Make the primary context current, in which NCCL works."""
    install()
    context = w.device.retain_primary_context()
    context.push()
    w.primary = context
    return context


def communicator(w):
    in_primary(w)
    return nccl.Communicator(1, nccl.unique_id(), 0)


def with_array(w):
    comm = communicator(w)
    array = gpuarray.to_gpu(VALUES)
    comm.all_reduce(array)  # loads what the first call loads
    return comm, array


def grouped(pair):
    comm, array = pair
    with nccl.group():
        comm.all_reduce(array, array)


#: NCCL reports the failures of the driver as its own.
ITS_OWN = "NCCL raises RuntimeError with a code of its own"
INSIDE = {
    **dict.fromkeys(
        ("cuCtxGetCurrent", "cuCtxPushCurrent", "cuStreamSynchronize"), ITS_OWN
    ),
    "cuStreamIsCapturing": "the stream counts as not captured",
}

if compilers():
    row("nccl.version", lambda w: (install(), nccl.version)[1])
    row("nccl.unique_id", lambda w: (install(), nccl.unique_id)[1])
    calls(
        "nccl.Communicator",
        lambda primary: nccl.Communicator(1, nccl.unique_id(), 0).close(),
        in_primary,
        absorbs=INSIDE,
    )
    calls("nccl.Communicator.close", lambda c: c.close(), communicator)
    calls("nccl.Communicator.abort", lambda c: c.abort(), communicator)
    calls("nccl.Communicator.check", lambda c: c.check(), communicator)
    row("nccl.Communicator (dropped)", lambda w: [communicator(w)].clear)
    for _name in ("all_reduce", "broadcast", "all_gather", "reduce_scatter"):
        calls(
            f"nccl.Communicator.{_name}",
            lambda pair, name=_name: getattr(pair[0], name)(pair[1]),
            with_array,
            absorbs=INSIDE,
        )
    calls("nccl.group", grouped, with_array, absorbs=INSIDE)
