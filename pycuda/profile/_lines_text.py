"""The cost of kernels by line as a table for the terminal, and its words."""

from __future__ import annotations

import os
import textwrap

from pycuda._page import bytes_text
from pycuda.profile._costs import Advice, KernelCost, LineCost

#: Kernels that the table on the terminal has.
_MOST_KERNELS = 10

#: The share of a kernel's instructions or bytes that a line of the table has.
_LEAST_SHARE = 0.01

_WIDTH = 88  # of the table

NOTE = (
    "Instructions are those of warps, estimated for machine code. Loads and stores:\n"
    "sectors of 32 bytes for each request of a warp to global memory. Shared:\n"
    "wavefronts for each request to shared memory."
)


def number_text(value: float) -> str:
    """Return a number for readers, with one digit behind the point if it is small."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}"


def also(line: LineCost) -> str:
    """Return the counts of a line that few lines have, as words."""
    parts = []
    if line.atomics.requests:
        lanes = number_text(line.atomics.equal / line.atomics.requests)
        noun = "lane" if lanes == "1" else "lanes"
        parts.append(f"{line.atomics.requests:,} atomics, {lanes} {noun} an address")
    if line.local:
        parts.append(f"{line.local:,} requests to local memory")
    if line.barriers:
        parts.append(f"{line.barriers:,} warps wait at a barrier")
    if line.divided:
        parts.append(f"{line.divided:,} warps divide")
    return "; ".join(parts)


def size_words(kernel: KernelCost) -> str:
    """Return the sizes of a kernel's launches as words."""
    if not kernel.is_kernel:
        return "a function that kernels call"
    launches = "1 launch" if kernel.launches == 1 else f"{kernel.launches:,} launches"
    blocks = "1 block" if kernel.blocks == 1 else f"{kernel.blocks:,} blocks"
    return f"{launches}, {blocks} of {kernel.block_size} threads"


def registers_words(kernel: KernelCost) -> str:
    """Return where the number of registers is from."""
    source = "an estimate without ptxas" if kernel.is_estimate else "from ptxas"
    return f"{kernel.registers} registers a thread ({source})"


def occupancy_words(kernel: KernelCost) -> str:
    """Return the occupancy and its limit as words, "" if it is not known."""
    if kernel.occupancy is None:
        return ""
    limit = f", limited by {kernel.limit}" if kernel.occupancy < 1 else ""
    return f"occupancy {kernel.occupancy:.0%}{limit}"


def intensity_words(kernel: KernelCost) -> str:
    """Return the arithmetic intensity as words."""
    if kernel.intensity is None:
        return "no global memory moved"
    return f"{kernel.intensity:.2f} operations a byte"


def _head(kernel: KernelCost) -> list[str]:
    rows = [f"{kernel.name}: {size_words(kernel)}"]
    rows.append(
        f"  {number_text(kernel.instructions)} warp instructions, "
        f"{kernel.lanes:.1f} of 32 lanes active"
    )
    rows.append(
        f"  {bytes_text(kernel.moved)} moved, {bytes_text(kernel.least_moved)} would "
        f"do; {number_text(kernel.flops)} floating-point operations, "
        f"{intensity_words(kernel)}"
    )
    if kernel.is_kernel:
        parts = [occupancy_words(kernel), registers_words(kernel)]
        parts.append(f"{bytes_text(kernel.shared)} of shared memory")
        rows.append(f"  {'; '.join(filter(None, parts))}")
    for each in kernel.advice:
        if not each.file:
            rows += _wrapped(each, 2)
    return rows


def _wrapped(advice: Advice, indent: int) -> list[str]:
    """Return the rows of an advice."""
    blanks = " " * indent
    return textwrap.wrap(
        f"{advice.text}.",
        _WIDTH,
        initial_indent=f"{blanks}> ",
        subsequent_indent=f"{blanks}  ",
        break_on_hyphens=False,
    )


def _cell(value: float, is_used: int) -> str:
    return number_text(value) if is_used else ""


def _is_shown(kernel: KernelCost, line: LineCost) -> bool:
    return (
        line.instructions >= _LEAST_SHARE * kernel.instructions
        or line.moved > _LEAST_SHARE * kernel.moved
        or any(
            (each.file, each.line) == (line.file, line.line) for each in kernel.advice
        )
    )


def _table(kernel: KernelCost) -> list[str]:
    rows = [
        f"{'line':>6}{'instructions':>14}{'lanes':>6}{'loads':>6}{'stores':>7}"
        f"{'shared':>7}  source"
    ]
    file = kernel.lines[0].file if kernel.lines else ""
    for line in filter(lambda each: _is_shown(kernel, each), kernel.lines):
        if line.file != file:
            file = line.file
            rows.append(f"  {shown_path(file)}")
        loads, stores, shared = line.loads, line.stores, line.shared
        rows.append(
            f"{line.line:>6}{number_text(line.instructions):>14}{line.lanes:>6.1f}"
            f"{_cell(loads.each, loads.requests):>6}"
            f"{_cell(stores.each, stores.requests):>7}"
            f"{_cell(shared.each, shared.requests):>7}  {line.text.strip()}"
        )
        words = also(line)
        if words:
            rows.append(f"{'':>48}({words})")
        for each in kernel.advice:
            if (each.file, each.line) == (line.file, line.line):
                rows += _wrapped(each, 6)
    return rows


def shown_path(path: str) -> str:
    """Return a path relative to the current folder, if that is shorter."""
    relative = os.path.relpath(path) if os.path.isabs(path) else path
    return min(relative, path, key=len)


def text_of(kernels: list[KernelCost]) -> str:
    """Return a table of each kernel."""
    rows: list[str] = []
    for kernel in kernels[:_MOST_KERNELS]:
        rows += [*_head(kernel), ""]
        if kernel.lines:
            rows += [shown_path(kernel.lines[0].file), *_table(kernel), ""]
    left = len(kernels) - _MOST_KERNELS
    if left > 0:
        rows += [f"{left} more kernels ran fewer instructions.", ""]
    rows.append(NOTE)
    return "\n".join(rows)
