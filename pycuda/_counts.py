"""How often the instructions of kernels ran on the software device, and what they cost.

While PYCUDA_EMULATOR_COUNT has the word ``lines`` or ``accesses``, the software device
counts in all programs that it loads, and sources are compiled with the lines of their
instructions. With PYCUDA_EMULATOR_COUNT_LOG, which begins the names of files, each
process writes its counts at its end to ``PREFIX.PID``, and the sources that it compiled
to ``PREFIX.PID.sources``. This module reads these files. ``pycuda.coverage`` and
``pycuda.profile`` make reports of what it returns.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pycuda import _driver
from pycuda._compile import recording

VARIABLE = "PYCUDA_EMULATOR_COUNT"
LOG_VARIABLE = recording.COUNT_LOG_VARIABLE


class Choice(NamedTuple):
    """A predicate: of a branch, of another instruction that it guards, or of selp."""

    holds: int  # lanes for which the instruction runs, or selp takes the first value
    fails: int  # the other lanes
    divided: int  # warps that have both


class Access(NamedTuple):
    """What the accesses of an instruction to memory cost."""

    requests: int = 0  # warps that access global memory
    sectors: int = 0  # of 32 bytes, that they move
    least_sectors: int = 0  # that would do for the bytes that they use
    shared_requests: int = 0  # warps that access shared memory
    wavefronts: int = 0  # that this takes
    least_wavefronts: int = 0  # that would do without conflicts of banks
    local_requests: int = 0  # warps that access local memory
    equal: int = 0  # lanes at the most frequent address of each atomic operation
    step: int = 0  # bytes from a lane's address to that of the next; 0: none


#: The step of accesses whose lanes have no common step.
MIXED = -(2**63)


class Instruction(NamedTuple):
    """An instruction of PTX, and how often it ran."""

    function: int  # its place in Program.functions
    ptx_line: int
    file: str  # of the source; "" if it is unknown
    line: int  # 0 if it is unknown
    column: int
    text: str  # the opcode and its words
    bytes: int  # that a lane accesses
    warps: int  # that ran the block of the instruction
    lanes: int  # that were active in it
    choice: Choice | None
    access: Access | None
    target: int | None  # of a branch: the place in Program.instructions


class Function(NamedTuple):
    """A kernel or a function. The sizes are those of the last launch."""

    name: str
    is_kernel: bool
    launches: int
    blocks: int
    threads: int
    block_size: int
    shared: int  # bytes of a block
    registers: int
    resident: int  # blocks that a multiprocessor runs at once


class Program(NamedTuple):
    """A text that was loaded, with all its counts."""

    number: int  # the hash of the text
    functions: list[Function]
    instructions: list[Instruction]
    source: recording.Source | None  # that was compiled to it, if it is known
    pieces: tuple[recording.Source | None, ...] = ()  # of functions that were linked

    def source_of(self, function: int) -> recording.Source | None:
        """Return the source of a function, None if it is not known."""
        return self.source or (self.pieces[function] if self.pieces else None)


def write(prefix: str) -> None:
    """Write the counts of this process beside the sources that it compiled."""
    _driver._write_counts(f"{prefix}.{os.getpid()}")


def read(prefix: str) -> list[Program]:
    """Return the programs of all processes with this prefix, each once."""
    sources = recording.read_sources(prefix)
    found: dict[int, Program] = {}
    for path in sorted(glob.glob(f"{glob.escape(prefix)}.*")):
        if path.endswith(recording.SOURCES_ENDING):
            continue
        for program in _programs(path, sources):
            earlier = found.get(program.number)
            found[program.number] = _sum(earlier, program) if earlier else program
    return [
        program if program.source else _with_pieces(program, sources)
        for program in found.values()
    ]


def _with_pieces(program: Program, sources: dict[int, recording.Source]) -> Program:
    """Return a program that was linked with the sources of its functions."""
    pieces: list[recording.Source | None] = []
    for function in program.functions:
        name = re.escape(function.name)
        head = re.compile(rf"\.(?:entry|func)\b[^;{{]*\b{name}\s*\([^;]*{{")
        having = (x for x in sources.values() if head.search(x.ptx))
        # The lines of its PTX are others than those of the whole.
        pieces.append(next((x._replace(ptx="") for x in having), None))
    return program._replace(pieces=tuple(pieces))


def _programs(path: str, sources: dict[int, recording.Source]) -> Iterator[Program]:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            # A process that was killed leaves a part of a line.
            with contextlib.suppress(ValueError):
                row = json.loads(line)
                number = int(row["hash"], 16)
                functions = [
                    Function(name, bool(kernel), *numbers)
                    for name, kernel, *numbers in row["functions"]
                ]
                yield Program(
                    number, functions, _instructions(row), sources.get(number)
                )


def _instructions(row: dict[str, Any]) -> list[Instruction]:
    files, counts = ["", *row["files"]], row["counts"]
    found = []
    for fields in row["instructions"]:
        function, block, choice, access, target, ptx_line, file, line, column = fields[
            :9
        ]
        size, text = fields[9:]
        full, parts, lanes = _padded(counts[block], 3)
        found.append(
            Instruction(
                function,
                ptx_line,
                files[file],
                line,
                column,
                text,
                size,
                full + parts,
                full * 32 + lanes,
                None if choice < 0 else Choice(*_padded(counts[choice], 3)),
                None if access < 0 else Access(*counts[access]),
                None if target < 0 else target,
            )
        )
    return found


def _padded(values: list[int], length: int) -> list[int]:
    return values + [0] * (length - len(values))


def sum_of_accesses(one: Access, other: Access) -> Access:
    """Return the cost of two accesses."""
    steps = {one.step, other.step} - {0}
    step = MIXED if len(steps) > 1 else max(steps, default=0)
    return Access(*map(sum, zip(one, other, strict=True)))._replace(step=step)


def _sum(one: Program, other: Program) -> Program:
    """Return a program with the counts of two processes."""
    functions = [
        b._replace(
            launches=a.launches + b.launches,
            blocks=a.blocks + b.blocks,
            threads=a.threads + b.threads,
        )
        for a, b in zip(one.functions, other.functions, strict=True)
    ]
    instructions = [
        b._replace(
            warps=a.warps + b.warps,
            lanes=a.lanes + b.lanes,
            choice=Choice(*map(sum, zip(a.choice, b.choice, strict=True)))
            if a.choice and b.choice
            else None,
            access=sum_of_accesses(a.access, b.access)
            if a.access and b.access
            else None,
        )
        for a, b in zip(one.instructions, other.instructions, strict=True)
    ]
    return Program(one.number, functions, instructions, one.source or other.source)
