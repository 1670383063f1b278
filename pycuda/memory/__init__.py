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

    The result does not change later. It needs no current context. If there is one, the
    driver is asked for the free memory of its device, and NVML for other processes.
    """
    return take()


def record(on: bool = True, *, events: int = 32768) -> None:
    """Switch the recording of allocations on or off.

    It is on from the beginning. ``events``: how many of the last allocations and
    releases the history keeps, rounded up to a power of two; 88 bytes each. Launches
    take places, too. If the number changes, the history so far is dropped. Memory that
    was allocated while the recording was off does not appear in a snapshot.
    """
    room = 0
    if events:
        room = 1 << (int(events) - 1).bit_length() if events > 0 else int(events)
    _driver._memory_record(bool(on), room)


def is_recording() -> bool:
    """Return whether allocations are recorded."""
    return bool(_driver._memory_recording()[0])
