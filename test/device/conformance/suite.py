"""All cases, which listed opcodes they cover, and which they cannot cover."""

import functools
from pathlib import Path

from . import (
    arithmetic,
    asynchronous,
    atomics,
    barriers,
    bits,
    conversions,
    copies,
    flow,
    memory,
    surfaces,
    textures,
    vectors,
    warps,
)

DATA = Path(__file__).resolve().parents[2] / "data"

#: The opcodes and modifiers that CUDA 13's compilers produce, with counts.
OPCODES = DATA / "ptx_opcodes.tsv"

#: The answers of a GPU, made by device.conformance.record.
ANSWERS = DATA / "conformance.xz"

_FAMILIES = (
    arithmetic,
    conversions,
    bits,
    memory,
    vectors,
    atomics,
    flow,
    barriers,
    copies,
    asynchronous,
    warps,
    textures,
    surfaces,
)

#: Pairs that no kernel with a unique answer can cover, with the reason.
NOT_COVERED = {}


@functools.cache
def cases():
    """Return all cases by name."""
    found = {}
    for module in _FAMILIES:
        for case in module.cases():
            if case.name in found:
                raise ValueError(f"two cases are called {case.name}")
            found[case.name] = case
    return found


@functools.cache
def families():
    """Return the names of the families."""
    return tuple(dict.fromkeys(case.family for case in cases().values()))


@functools.cache
def listed():
    """Return the pairs of the list, as `opcode modifiers`."""
    lines = OPCODES.read_text().splitlines()[1:]
    return tuple(" ".join(line.split("\t")[:2]).strip() for line in lines)


def covered(names=None):
    """Return the listed pairs whose cases are all in `names`, or that have a case."""
    known = cases()
    good = set(known if names is None else names)
    executed = {pair for case in known.values() for pair in case.pairs}
    failed = {p for name, case in known.items() if name not in good for p in case.pairs}
    return [pair for pair in listed() if pair in executed - failed]


def coverage_report(names=None):
    done = set(covered(names))
    lines = [f"pairs covered: {len(done)} / {len(listed())}"]
    for pair in listed():
        if pair not in done:
            lines.append(
                f"  not covered: {pair}: {NOT_COVERED.get(pair, 'no agreed answer')}"
            )
    return "\n".join(lines)
