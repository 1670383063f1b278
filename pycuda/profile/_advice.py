"""Advice about the cost of kernels: a table of conditions and sentences.

Each row looks at one number of a line or of a kernel. It returns a sentence if the
number is bad: what the number is, why, and what to do. The limits below say what bad
is. A line that costs little of its kernel gets no advice.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pycuda._page import bytes_text
from pycuda.profile._costs import (
    SECTOR,
    WARP,
    WORD,
    Accesses,
    Advice,
    KernelCost,
    LineCost,
)

#: The share of the kernel's sum that a line must have: of sectors, wavefronts, lanes
#: of instructions.
SHARE = 0.05

#: Sectors and wavefronts: how many times the least is bad.
TIMES = 2
#: Sectors of a request that are always good: eight are 256 bytes.
GOOD_SECTORS = 8

#: Bytes of a struct that a thread can move at once.
_WHOLE = (2, 4, 8, 16)

#: Active lanes of a warp below which a line diverges.
FEW_LANES = WARP / 2

#: Instructions of a kernel below which lanes are idle because there is little to do.
LITTLE_WORK = 500

#: Lanes of an atomic operation that use one address.
EQUAL_LANES = 8

#: The share of instructions that access local memory.
LOCAL_SHARE = 0.01

#: The share of a multiprocessor's threads that hides the latency of memory.
LOW_OCCUPANCY = 0.5

#: Bytes moved over the least possible, for a kernel.
MOVED_TIMES = 2
LITTLE_MOVED = 4096


def _words(count: float, noun: str) -> str:
    """Return a number with its noun, such as ``1 sector`` or ``4.5 sectors``."""
    text = f"{count:,.1f}".removesuffix(".0")
    return f"{text} {noun}{'' if text == '1' else 's'}"


# -- lines -----------------------------------------------------------------------------


def _scattered(accesses: Accesses, total: int, verb: str) -> str | None:
    """Return what is wrong with accesses to global memory."""
    worst, least = accesses.worst, max(accesses.worst_least, 1)
    is_bad = worst >= GOOD_SECTORS and worst >= TIMES * least
    if not is_bad or accesses.cost - accesses.least < SHARE * total:
        return None
    found = f"{_words(worst, 'sector')} a request, {_words(least, 'sector')} would do: "
    step = accesses.step
    if step is None:
        return (
            f"{found}the threads of a warp {verb} addresses far from each other. Let "
            "neighbouring threads use neighbouring elements: sort the indices, or copy "
            "a part to shared memory first"
        )
    found += f"neighbouring threads {verb} addresses {_words(abs(step), 'byte')} apart"
    if 0 < abs(step) <= SECTOR:
        found += f", {_words(accesses.bytes, 'byte')} each. Keep what they use side by "
        found += "side: an array for each member of a struct, a copy of a strided view"
        if abs(step) in _WHOLE:
            found += f". Or declare the struct __align__({abs(step)}) if a thread uses "
            found += "all of it"
        return found
    return (
        f"{found}. Let threadIdx.x count the last index of the array, or go through "
        "shared memory"
    )


def _sectors(kernel: KernelCost) -> int:
    return kernel.moved // SECTOR


def _uncoalesced_load(kernel: KernelCost, line: LineCost) -> str | None:
    return _scattered(line.loads, _sectors(kernel), "read")


def _uncoalesced_store(kernel: KernelCost, line: LineCost) -> str | None:
    return _scattered(line.stores, _sectors(kernel), "write")


def _bank_conflict(kernel: KernelCost, line: LineCost) -> str | None:
    shared = line.shared
    least = max(shared.worst_least, 1)
    total = sum(each.shared.cost for each in kernel.lines)
    if shared.worst < TIMES * least or shared.cost - shared.least < SHARE * total:
        return None
    found = f"{_words(shared.worst, 'wavefront')} a request, "
    found += f"{_words(least, 'wavefront')} would do: "
    words = abs(shared.step or 0) // WORD
    if shared.step is None or shared.step % WORD:
        return (
            f"{found}threads of a warp use different words of the same bank of shared "
            "memory. Let neighbouring threads use neighbouring words"
        )
    if shared.worst > math.gcd(words, WARP) * least:
        return (
            f"{found}a warp uses several rows of the array, which begin in the same "
            f"banks. Use blocks that are {WARP} threads wide, or rows of another length"
        )
    return (
        f"{found}neighbouring threads use shared memory {_words(words, 'word')} apart, "
        f"and words {WARP} apart are in one bank. Let neighbouring threads use "
        "neighbouring words, or add a column that is not used to the array, as in "
        f"[{WARP}][{WARP + 1}]"
    )


def _divergent(kernel: KernelCost, line: LineCost) -> str | None:
    idle = (WARP - line.lanes) * line.instructions
    is_small = kernel.is_kernel and kernel.block_size < FEW_LANES
    if line.lanes >= FEW_LANES or is_small or kernel.instructions < LITTLE_WORK:
        return None
    if idle < SHARE * WARP * kernel.instructions:
        return None
    return (
        f"{line.lanes:.1f} of {WARP} lanes are active: the threads of a warp take "
        "different ways, and each way waits for the others. Let the condition be the "
        "same for whole warps, such as threadIdx.x < n"
    )


def _equal_atomics(kernel: KernelCost, line: LineCost) -> str | None:
    atomics = line.atomics
    if not atomics.requests or atomics.equal < EQUAL_LANES * atomics.requests:
        return None
    if atomics.requests < SHARE * kernel.instructions / 10:
        return None
    lanes = atomics.equal / atomics.requests
    return (
        f"{lanes:.1f} lanes of a warp change one address by an atomic operation, one "
        "after the other. Add up in the warp first, with __reduce_add_sync or "
        "__shfl_down_sync, or in shared memory; then one thread changes the address"
    )


def _local_memory(kernel: KernelCost, line: LineCost) -> str | None:
    if not line.local or line.local < LOCAL_SHARE * kernel.instructions:
        return None
    return (
        f"{line.local:,} requests to local memory, which is as slow as global memory: "
        "an array of the thread is there if an index is not a constant. Unroll the "
        "loop (#pragma unroll), or use shared memory"
    )


def _accidental_double(kernel: KernelCost, line: LineCost) -> str | None:
    if not (line.doubles and line.widened and line.narrowed):
        return None
    return (
        "this line computes in double what is a float before and behind it: a number "
        "such as 0.5 is a double. Write 0.5f, and sqrtf instead of sqrt"
    )


# -- kernels ---------------------------------------------------------------------------


def _small_blocks(kernel: KernelCost) -> str | None:
    if not kernel.is_kernel or kernel.block_size >= FEW_LANES:
        return None
    size = _words(kernel.block_size, "thread")
    return (
        f"a block has {size}, and a warp has {WARP} lanes: the others are idle. Use "
        f"blocks of a multiple of {WARP} threads"
    )


#: What to do about each limit of the occupancy.
_OF_LIMIT = {
    "registers": "Give __launch_bounds__ to the kernel, or keep fewer values at a time",
    "shared memory": "Use less shared memory in a block, or smaller blocks with less",
    "threads": "Use blocks whose size divides the threads of a multiprocessor",
    "blocks": "Use larger blocks: a multiprocessor takes few of them, however small",
}


def _low_occupancy(kernel: KernelCost) -> str | None:
    if kernel.occupancy is None or kernel.occupancy >= LOW_OCCUPANCY:
        return None
    return (
        f"occupancy {kernel.occupancy:.0%}, limited by {kernel.limit}: few warps hide "
        f"the time that memory takes. {_OF_LIMIT[kernel.limit]}"
    )


def _spills(kernel: KernelCost) -> str | None:
    if not kernel.spills:
        return None
    return (
        f"ptxas keeps registers in local memory ({kernel.spills} bytes of stores and "
        f"loads), since a thread has {kernel.registers}. Use smaller blocks, or keep "
        "fewer values at a time"
    )


def _moves_much(kernel: KernelCost) -> str | None:
    if kernel.moved < max(MOVED_TIMES * kernel.least_moved, LITTLE_MOVED):
        return None
    moved, least = bytes_text(kernel.moved), bytes_text(kernel.least_moved)
    worst = max(kernel.lines, key=lambda line: line.moved - line.least_moved)
    found = f"{moved} move between the multiprocessors and the memory or its caches, "
    found += f"and {least} would do. Line {worst.line} wastes most"
    if _uncoalesced_load(kernel, worst) or _uncoalesced_store(kernel, worst):
        return found  # the line has the advice
    return (
        f"{found}. Let a request of a warp use all bytes of a row: blocks {WARP} "
        "threads wide, several small elements a thread"
    )


#: What is said about a line. The words are the kinds of advice.
OF_LINES: dict[str, Callable[[KernelCost, LineCost], str | None]] = {
    "uncoalesced load": _uncoalesced_load,
    "uncoalesced store": _uncoalesced_store,
    "bank conflict": _bank_conflict,
    "divergence": _divergent,
    "atomics on one address": _equal_atomics,
    "local memory": _local_memory,
    "double by accident": _accidental_double,
}

#: What is said about a kernel.
OF_KERNELS: dict[str, Callable[[KernelCost], str | None]] = {
    "small blocks": _small_blocks,
    "occupancy": _low_occupancy,
    "spills": _spills,
    "bytes moved": _moves_much,
}


def advice_for(kernel: KernelCost) -> list[Advice]:
    """Return the advice about a kernel and its lines. Each row is used."""
    found = []
    for kind, of_kernel in OF_KERNELS.items():
        text = of_kernel(kernel)
        if text is not None:
            found.append(Advice(kind, "", 0, text))
    for line in kernel.lines:
        for kind, of_line in OF_LINES.items():
            text = of_line(kernel, line)
            last = found[-1] if found else None
            is_next = (
                last is not None
                and kind == last.kind == "divergence"
                and last.file == line.file
            )
            if text is not None and not is_next:
                found.append(Advice(kind, line.file, line.line, text))
    return found
