"""The cost of kernels by line, from the counts of the software device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pycuda import _counts
from pycuda.profile import _opcodes

SECTOR = 32  # bytes
WARP = 32  # lanes
WORD = 4  # bytes of a bank of shared memory


class Accesses(NamedTuple):
    """Accesses of a line to global or to shared memory.

    ``cost`` is a number of sectors for global memory, of wavefronts for shared memory.
    The instructions of a line can have different steps; ``worst`` and what follows it
    are of those that waste most.
    """

    requests: int = 0  # of a warp
    cost: int = 0
    least: int = 0  # that would do for the same bytes
    worst: float = 0  # the cost of a request
    worst_least: float = 0
    step: int | None = 0  # bytes from a thread's address to the next; None: no rule
    bytes: int = 0  # that a thread accesses

    @property
    def each(self) -> float:
        """Return the cost of a request."""
        return self.cost / self.requests if self.requests else 0


class Atomics(NamedTuple):
    """Atomic operations of a line."""

    requests: int = 0
    equal: int = 0  # lanes at the address that most lanes of the warp have
    sectors: int = 0
    least_sectors: int = 0


class LineCost(NamedTuple):
    """What a line of a kernel costs, in all launches."""

    file: str
    line: int
    text: str
    instructions: float  # of warps
    lanes: float  # active ones of 32, on average
    divided: int  # warps of which a branch goes both ways
    loads: Accesses
    stores: Accesses
    shared: Accesses
    atomics: Atomics
    local: int  # requests to local memory
    barriers: int  # warps that wait at one
    flops: float
    doubles: float  # the operations among them that have 64 bits
    widened: int  # warps that make a float a double
    narrowed: int  # and that make a double a float

    @property
    def moved(self) -> int:
        """Return the bytes of global memory that move."""
        return SECTOR * (self.loads.cost + self.stores.cost + self.atomics.sectors)

    @property
    def least_moved(self) -> int:
        """Return the bytes that would do."""
        parts = self.loads.least, self.stores.least, self.atomics.least_sectors
        return SECTOR * sum(parts)


def _is_written(words: Sequence[str]) -> bool:
    return words[0] in ("st", "stmatrix") or "store" in words


def _kind(words: Sequence[str]) -> str:
    """Return which accesses of a line an instruction belongs to."""
    if words[0] in ("atom", "red"):
        return "atomics"
    return "stores" if _is_written(words) else "loads"


def _is_barrier(words: Sequence[str]) -> bool:
    return words[0] in ("bar", "barrier") and "warp" not in words


def _active(each: _counts.Instruction) -> int:
    """Return the lanes for which an instruction runs."""
    if each.choice is not None and not each.text.startswith("selp"):
        return each.choice.holds
    return each.lanes


class _Group:
    """Accesses with the same step."""

    def __init__(self, step: int, size: int) -> None:
        self.step, self.size = step, size
        self.requests = self.cost = self.least = 0

    def add(self, requests: int, cost: int, least: int) -> None:
        self.requests += requests
        self.cost += cost
        self.least += least


class _Groups:
    """Accesses by their steps."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], _Group] = {}

    def add(
        self, each: _counts.Instruction, requests: int, cost: int, least: int
    ) -> None:
        if requests:
            step = each.access.step if each.access else 0
            key = step, each.bytes
            group = self._known.setdefault(key, _Group(*key))
            group.add(requests, cost, least)

    def sum(self) -> Accesses:
        groups = self._known.values()
        if not groups:
            return Accesses()
        worst = max(groups, key=lambda g: g.cost - g.least)
        return Accesses(
            sum(g.requests for g in groups),
            sum(g.cost for g in groups),
            sum(g.least for g in groups),
            worst.cost / worst.requests,
            worst.least / worst.requests,
            None if worst.step == _counts.MIXED else worst.step,
            worst.size,
        )


class Builder:
    """The sums of the instructions of a line."""

    def __init__(self) -> None:
        self._warps = self._lanes = self._instructions = 0.0
        self._divided = self._local = self._barriers = 0
        self._widened = self._narrowed = 0
        self._flops = self._doubles = 0.0
        self._groups = {kind: _Groups() for kind in ("loads", "stores", "shared")}
        self._atomics = Atomics()

    def add(self, each: _counts.Instruction) -> None:
        """Add an instruction."""
        words = each.text.split(".")
        weight = _opcodes.weight(each.text)
        self._instructions += weight * each.warps
        if weight:
            self._warps += each.warps
            self._lanes += each.lanes
        operations = _opcodes.flops(each.text) * _active(each)
        self._flops += operations
        if "f64" in words:
            self._doubles += operations
            if words[0] == "cvt" and "f32" in words:
                self._widened += each.warps * (words[-1] == "f32")
                self._narrowed += each.warps * (words[-1] == "f64")
        if words[0] == "bra" and each.choice is not None:
            self._divided += each.choice.divided
        if _is_barrier(words):
            self._barriers += each.warps
        if each.access is not None:
            self._add_access(each, each.access, _kind(words))

    def _add_access(
        self, each: _counts.Instruction, access: _counts.Access, kind: str
    ) -> None:
        self._local += access.local_requests
        self._groups["shared"].add(
            each, access.shared_requests, access.wavefronts, access.least_wavefronts
        )
        if kind == "atomics":
            old = self._atomics
            self._atomics = Atomics(
                old.requests + access.requests + access.shared_requests,
                old.equal + access.equal,
                old.sectors + access.sectors,
                old.least_sectors + access.least_sectors,
            )
        else:
            self._groups[kind].add(
                each, access.requests, access.sectors, access.least_sectors
            )

    def cost(self, file: str, line: int, text: str) -> LineCost:
        """Return the cost of the line."""
        return LineCost(
            file,
            line,
            text,
            self._instructions,
            self._lanes / self._warps if self._warps else WARP,
            self._divided,
            self._groups["loads"].sum(),
            self._groups["stores"].sum(),
            self._groups["shared"].sum(),
            self._atomics,
            self._local,
            self._barriers,
            self._flops,
            self._doubles,
            self._widened,
            self._narrowed,
        )


class Advice(NamedTuple):
    """What is bad about a line or a kernel, and what to do."""

    kind: str
    file: str  # "" if it is about the kernel
    line: int
    text: str


class KernelCost(NamedTuple):
    """What a kernel costs, in all launches. The sizes are those of the last launch."""

    name: str
    is_kernel: bool  # or a function that kernels call
    launches: int
    blocks: int
    threads: int
    block_size: int
    shared: int  # bytes of a block
    registers: int
    is_estimate: bool  # the number of registers
    spills: int  # bytes of registers that ptxas keeps in local memory
    resident: int  # blocks that a multiprocessor runs at once
    occupancy: float | None  # of a multiprocessor's threads
    limit: str  # of the occupancy
    instructions: float  # of warps
    lanes: float
    moved: int  # bytes of global memory
    least_moved: int
    flops: float
    intensity: float | None  # operations for each byte that moves
    lines: list[LineCost]
    advice: list[Advice]


def mean_lanes(lines: Iterable[LineCost]) -> float:
    """Return how many lanes of a warp are active on average."""
    kept = [each for each in lines if each.instructions]
    count = sum(each.instructions for each in kept)
    return sum(x.lanes * x.instructions for x in kept) / count if count else WARP
