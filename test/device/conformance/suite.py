"""All cases, what of the list of opcodes they cover, and what they cannot."""

import functools
from pathlib import Path

from . import (
    arithmetic,
    atomics,
    barriers,
    bits,
    conversions,
    flow,
    memory,
    textures,
    vectors,
    warps,
)

DATA = Path(__file__).resolve().parents[2] / "data"

#: The opcodes and modifiers that CUDA 13's compilers were seen to produce, with counts.
OPCODES = DATA / "ptx_opcodes.tsv"

#: What a real GPU answered; made by device.conformance.record.
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
    warps,
    textures,
)

#: Pairs that no kernel with one definite answer can cover, and why.
NOT_COVERED = {}


@functools.cache
def cases():
    """Every case, by name."""
    found = {}
    for module in _FAMILIES:
        for case in module.cases():
            if case.name in found:
                raise ValueError(f"two cases are called {case.name}")
            found[case.name] = case
    return found


@functools.cache
def families():
    """The names of the families."""
    return tuple(dict.fromkeys(case.family for case in cases().values()))


@functools.cache
def listed():
    """The pairs of the list, as `opcode modifiers`."""
    lines = OPCODES.read_text().splitlines()[1:]
    return tuple(" ".join(line.split("\t")[:2]).strip() for line in lines)


def covered(names=None):
    """The listed pairs all of whose cases are among the named (or that have any)."""
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
