"""The text about memory: of a snapshot, and of an error that says "out of memory"."""

from __future__ import annotations

from pycuda._page import bytes_text
from pycuda.memory._records import LineUse, Records

#: How many lines the text of an error lists.
_TOP = 10


def _lines(uses: list[LineUse], top: int) -> list[str]:
    """Return a row for each of the first lines, and one for the others."""
    rows = []
    for use in uses[:top]:
        noun = "allocation" if use.count == 1 else "allocations"
        rows.append(
            f"{bytes_text(use.bytes):>12}  {use.count:>6} {noun:<11}  {use.line}"
        )
    rest = uses[top:]
    if rest:
        size, count = sum(u.bytes for u in rest), sum(u.count for u in rest)
        noun = "line" if len(rest) == 1 else "lines"
        rows.append(
            f"{bytes_text(size):>12}  {count:>6} allocations  {len(rest)} other {noun}"
        )
    return rows


def _pools(snapshot: Records) -> list[str]:
    """Return what pools hold, and what releases it."""
    rows = []
    held = snapshot.held()
    if held:
        rows.append(
            f"{bytes_text(held)} are held by pools and unused; free_held() of the pool "
            "releases them."
        )
    rounding = snapshot.rounding()
    if rounding:
        rows.append(f"{bytes_text(rounding)} are lost because pools round sizes up.")
    cached = sum(pool.reserved - pool.used for pool in snapshot.pools)
    if cached:
        rows.append(
            f"{bytes_text(cached)} are reserved by the driver's pools and unused; "
            "MemoryPool.trim() releases them."
        )
    return rows


def _rest(snapshot: Records) -> list[str]:
    """Return what uses the device besides the allocations of this program."""
    rows = []
    away = snapshot.others()
    own = sum(p.bytes or 0 for p in snapshot.processes) - sum(
        p.bytes or 0 for p in away
    )
    for device in snapshot.devices[:1]:
        number = device.device
        known = snapshot.used(device=number) + snapshot.held(device=number)
        beyond = device.total - device.free - max(known, own)
        beyond -= sum(p.bytes or 0 for p in away)
        if own > known:
            rows.append(
                f"{bytes_text(own - known)} are used by contexts, kernels and other "
                "libraries of this program."
            )
        if beyond > 0:
            noun = "other processes" if own else "contexts, kernels and other programs"
            rows.append(f"{bytes_text(beyond)} are used by {noun}.")
    for process in away[:5]:
        size = bytes_text(process.bytes) if process.bytes else "an unknown amount"
        rows.append(f"Process {process.pid} ({process.name}) uses {size}.")
    return rows


def text_of(snapshot: Records, top: int = _TOP) -> str:
    """Return the report of :meth:`Snapshot.text`."""
    rows = []
    for d in snapshot.devices:
        rows.append(
            f"Device {d.device} ({d.name}): {bytes_text(d.free)} of "
            f"{bytes_text(d.total)} are free."
        )
    used = snapshot.used()
    rows.append(f"This program uses {bytes_text(used)} of device memory, by line:")
    rows += _lines(snapshot.lines(), top)
    host = snapshot.lines(host=True)
    if host:
        size = bytes_text(snapshot.used(host=True))
        rows.append(f"It uses {size} of page-locked host memory, by line:")
        rows += _lines(host, top)
    rows += _pools(snapshot)
    rows += _rest(snapshot)
    return "\n".join(rows)


def out_of_memory(snapshot: Records, asked: int, host: bool) -> str:
    """Return what the text of a MemoryError says after its first line.

    ``asked``: the bytes of the request. ``host``: for page-locked memory.
    """
    uses = snapshot.lines(host=host)
    noun = "page-locked host memory" if host else "device memory"
    rows = []
    if uses:
        size = bytes_text(snapshot.used(host=host))
        rows.append(f"This program uses {size} of {noun}, by line:")
        rows += _lines(uses, _TOP)
    if not host:
        rows += _pools(snapshot)
        rows += _fragmentation(snapshot, asked)
        rows += _rest(snapshot)
    return "".join("\n" + row for row in rows)


def _fragmentation(snapshot: Records, asked: int) -> list[str]:
    """Say if free memory would suffice if it were in one piece."""
    rows = []
    for d in snapshot.devices:
        if d.free >= asked > 0:
            rows.append(
                f"{bytes_text(d.free)} are free, more than the {bytes_text(asked)} "
                "that were asked for: the free memory is fragmented, or the driver "
                "reserves a part."
            )
    return rows
