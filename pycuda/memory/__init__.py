"""Which lines of a program hold memory, now and over time.

Every allocation of this package notes the line of Python that made it: device memory,
managed and page-locked memory, texture arrays, and the blocks of memory pools. This is
always on and costs a few nanoseconds. :func:`snapshot` shows the result::

    import pycuda.memory

    print(pycuda.memory.snapshot())
    pycuda.memory.snapshot().save("memory.html")

In a notebook, a snapshot as the last line of a cell is a picture. The text of a
``MemoryError`` lists the lines that hold the most.
"""

from __future__ import annotations

from pycuda import _driver, _hide_imports
from pycuda.memory._records import (
    Allocation,
    DevicePool,
    DeviceUse,
    Line,
    LineUse,
    Process,
)
from pycuda.memory._snapshot import Snapshot, take

__all__ = [
    "Allocation",
    "DevicePool",
    "DeviceUse",
    "Line",
    "LineUse",
    "Process",
    "Snapshot",
    "is_recording",
    "record",
    "snapshot",
]
_hide_imports(globals())


def snapshot() -> Snapshot:
    """Return what holds memory now, and what happened before.

    Returns
    -------
    Snapshot
        The result, which does not change later.

    See Also
    --------
    record : Switch the recording.

    Notes
    -----
    The call needs no current context. If there is one, the driver is asked for the free
    memory of its device, and NVML for other processes.

    Examples
    --------
    >>> from pycuda.memory import snapshot
    >>> x = gpuarray.zeros(1000)
    >>> type(snapshot()).__name__
    'Snapshot'
    """
    return take()


def record(on: bool = True, *, events: int = 32768) -> None:
    """Switch the recording of allocations on or off.

    Parameters
    ----------
    on : bool, optional
        If true, record. Recording is on from the beginning.
    events : int, optional
        How many of the last allocations and releases the history keeps, rounded up to a
        power of two; 88 bytes each. Launches take places, too. If the number changes,
        the history so far is dropped.

    See Also
    --------
    is_recording : Whether allocations are recorded.

    Notes
    -----
    Memory that was allocated while the recording was off does not appear in a snapshot.
    """
    room = 0
    if events:
        room = 1 << (int(events) - 1).bit_length() if events > 0 else int(events)
    _driver._memory_record(bool(on), room)


def is_recording() -> bool:
    """Return whether allocations are recorded.

    Returns
    -------
    bool
        True while they are recorded.

    See Also
    --------
    record : Switch the recording.

    Examples
    --------
    >>> from pycuda.memory import is_recording
    >>> is_recording()
    True
    """
    return bool(_driver._memory_recording()[0])
