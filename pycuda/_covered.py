"""Which lines and branches of CUDA sources ran: made of the counts of the device.

A line is executable if instructions of PTX belong to it. Its count is the largest of
those of its instructions in a kernel, added over kernels, instances of templates and
processes. A decision is a conditional branch, a guarded instruction or a selection. Its
outcomes are the lines that it leads to. The compiler copies decisions when it unrolls
loops and inlines functions, and may invert them. So all decisions at a place of the
source are one, and the same line is the same outcome.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pycuda import _counts
from pycuda._counted_source import Place, Sources

_NOTHING = re.compile(r"[\s{};]*$")
_IS_LOOP = re.compile(r"\b(?:for|while|do)\b")
_IS_SWITCH = re.compile(r"\bswitch\b")
_COMPARES = re.compile(r"\bif\b|[?<>!]|[=&|]{2}")

_TRUE, _FALSE = "true", "false"

_REGISTER = re.compile(r"%[a-z]+\w*")
#: Instructions whose first operand is no result.
_NO_RESULT = re.compile(r"(?:st|bra|brx|bar|barrier|ret|exit|red|call|fence|membar)\b")

#: Instructions behind which a block begins.
_ENDS = re.compile(r"(?:bra|brx|ret|exit|trap|call)\b")

#: A decision in a program: its place, and which one it is at this line.
_Key = tuple[Place, int]


class _Ways(NamedTuple):
    """Where all copies of a decision lead."""

    outcomes: dict[str, Outcome]  # by their names
    pairs: set[tuple[str, str]]  # the two of each copy


class Outcome(NamedTuple):
    """A way that a decision can go."""

    to: str  # "line 12", "line 12 of file.h", "true" or "false"
    line: int  # in the same file; 0 if there is none
    threads: int  # that went there


class File(NamedTuple):
    """What ran of a file."""

    name: str  # its path, or the name of a generated source
    text: list[str]
    lines: dict[int, int]  # how many threads ran each executable line
    decisions: dict[int, list[list[Outcome]]]  # of each line that decides

    def missing(self) -> list[int]:
        """Return the executable lines that never ran."""
        return [line for line, count in self.lines.items() if not count]

    def outcomes(self) -> list[tuple[int, Outcome]]:
        """Return all outcomes of lines that ran, each with the line that decides."""
        return [
            (line, outcome)
            for line, decisions in self.decisions.items()
            for outcomes in decisions
            for outcome in outcomes
        ]

    def missing_outcomes(self) -> list[tuple[int, Outcome]]:
        """Return the outcomes never taken of lines that ran."""
        return [
            (line, outcome)
            for line, outcome in self.outcomes()
            if not outcome.threads and self.lines.get(line)
        ]


class Totals(NamedTuple):
    """How much of files ran."""

    lines: int
    lines_run: int
    outcomes: int
    outcomes_taken: int

    def percent(self) -> float:
        """Return how many of the lines and outcomes there were, in percent."""
        whole = self.lines + self.outcomes
        done = self.lines_run + self.outcomes_taken
        return 100.0 * done / whole if whole else 100.0


def totals(files: Iterable[File]) -> Totals:
    """Return how much of files ran."""
    found = [0, 0, 0, 0]
    for file in files:
        outcomes = [outcome for _, outcome in file.outcomes()]
        found[0] += len(file.lines)
        found[1] += sum(1 for count in file.lines.values() if count)
        found[2] += len(outcomes)
        found[3] += sum(1 for outcome in outcomes if outcome.threads)
    return Totals(*found)


def measure(
    prefix: str, folders: Sequence[str] = (), generated: bool = False
) -> list[File]:
    """Return what ran of the sources of all processes that counted.

    Parameters
    ----------
    prefix : str
        How the names of the files of counts begin.
    folders : sequence of str, optional
        Files and folders whose sources are wanted. By default all of the program are.
    generated : bool, optional
        Whether to include generated sources.

    Returns
    -------
    list of File
        The files, by name.
    """
    sources = Sources()
    counts: dict[Place, int] = {}
    decisions: dict[_Key, _Ways] = {}
    for program in _counts.read(prefix):
        _add(_Program(program, sources), counts, decisions)
    names = sorted({place.file for place in counts})
    roots = [os.path.abspath(folder) for folder in folders]
    found = []
    for name in names:
        if sources.is_generated(name):
            if not generated:
                continue
        elif roots and not any(_is_below(name, root) for root in roots):
            continue
        found.append(_file(name, sources.lines(name), counts, decisions))
    return [file for file in found if file.lines]


def _is_below(name: str, root: str) -> bool:
    return name == root or name.startswith(os.path.join(root, ""))


def _file(
    name: str,
    text: list[str],
    counts: dict[Place, int],
    decisions: dict[_Key, _Ways],
) -> File:
    own = sorted(place for place in counts if place.file == name)
    lines = {place.line: counts[place] for place in own}
    decided: dict[int, list[list[Outcome]]] = {}
    own_decisions = (key for key in decisions if key[0].file == name)
    for key in sorted(own_decisions):
        line = key[0].line
        if line in lines:
            is_switch = _text(text, line, _IS_SWITCH)
            ways = _real(decisions[key], is_switch, _text(text, line, _IS_LOOP))
            if len(ways) > 1:
                decided.setdefault(line, []).append(ways)
    return File(name, text, lines, decided)


def _text(text: list[str], line: int, pattern: re.Pattern[str]) -> bool:
    return 0 < line <= len(text) and bool(pattern.search(text[line - 1]))


def _real(ways: _Ways, is_switch: bool, is_loop: bool) -> list[Outcome]:
    """Return the outcomes that the source has.

    A condition goes two ways. Copies that the compiler has made may give these other
    names: the same line of different callers, or none.
    """
    outcomes = list(ways.outcomes.values())
    if not is_switch:
        outcomes = _two_ways(ways)
        taken = [each for each in outcomes if each.threads]
        if len(taken) > 1 or (is_loop and taken and _has_ended(outcomes)):
            outcomes = taken
    outcomes.sort(key=lambda each: (each.line, each.to))
    # Lines of generated sources have no names that a reader knows.
    return [
        each._replace(to=f"way {number}", line=0) if each.line < 0 else each
        for number, each in enumerate(outcomes, 1)
    ]


def _has_ended(outcomes: list[Outcome]) -> bool:
    """Return whether all ways into a loop were taken.

    It has ended then. The compiler may have put its end into other decisions.
    """
    inside = min((each.line for each in outcomes if each.line > 0), default=0)
    return all(each.threads for each in outcomes if each.line == inside)


def _two_ways(ways: _Ways) -> list[Outcome]:
    """Return the outcomes with those added that have the same opposite."""
    if not ways.pairs:
        return list(ways.outcomes.values())
    first = min(ways.pairs)[0]
    sides, waiting = {first: 0}, [first]
    while waiting:
        name = waiting.pop()
        for pair in ways.pairs:
            if name in pair:
                other = pair[1] if pair[0] == name else pair[0]
                if other not in sides:
                    waiting.append(other)
                if sides.setdefault(other, 1 - sides[name]) == sides[name]:
                    return list(ways.outcomes.values())  # they do not fit
    found = [each for name, each in ways.outcomes.items() if name not in sides]
    for side in range(2):
        same = [each for name, each in ways.outcomes.items() if sides.get(name) == side]
        best = min(same, key=lambda each: (each.line <= 0, each.line))
        found.append(best._replace(threads=sum(each.threads for each in same)))
    return found


# -- a program -------------------------------------------------------------------------


class _Program:
    """The instructions of a program with their places."""

    def __init__(self, program: _counts.Program, sources: Sources) -> None:
        self.instructions, self.sources = program.instructions, sources
        self.ptx = program.source.ptx if program.source else ""
        known: dict[tuple[str, int, int], Place | None] = {}
        self.places: list[Place | None] = []
        for each in program.instructions:
            where = each.file, each.line, each.function
            if where not in known:
                known[where] = sources.place(program, *where)
            # Column 0 is the head of a function, to which its first moves belong.
            self.places.append(known[where] if each.column else None)
        self.texts: dict[Place, str] = {}
        for place in filter(None, known.values()):
            rows = sources.lines(place.file)
            self.texts[place] = rows[place.line - 1] if place.line <= len(rows) else ""

    def is_conditional(self, number: int) -> bool:
        """Return whether an instruction may go on at two places."""
        each = self.instructions[number]
        return each.choice is not None and each.text.startswith("bra")

    def follow(self, number: int | None, begin: Place) -> list[Place]:
        """Return where the program goes from an instruction, the best name first.

        These are the first later line of the same file, and the first other line. None
        if the next is another decision of the same line, whose outcomes count then.
        """
        seen: set[int] = set()
        found: list[Place] = []
        while number is not None and number not in seen:
            if number == len(self.instructions):
                break
            seen.add(number)
            place, each = self.places[number], self.instructions[number]
            if place is not None and place != begin:
                found.append(place)
            if self.is_conditional(number):
                if place == begin and not found:
                    return []
                break
            if each.text.startswith(("ret", "exit", "trap", "brx")):
                break
            if each.text.startswith("bra"):
                if found:
                    break
                number = each.target
            else:
                number += 1
        if not found:
            return [Place(begin.file, 0)]
        # Instructions of earlier lines may have been moved here.
        own = [place for place in found if place.file == begin.file]
        later = [place for place in own if place.line > begin.line]
        return [*later[:1], *own[:1], found[0]]


class _Arm(NamedTuple):
    """What is computed for one of the two values of a selection only."""

    lanes: int  # that take the value
    members: frozenset[int]  # the instructions


class _Selections:
    """Instructions that the compiler runs for all threads, and the source for some.

    From ``if (c) a += 7; else a *= 3;`` it makes both results and a selection. What
    only one of the values needs, in lines behind the condition, belongs to the threads
    that take this value.
    """

    def __init__(self, program: _Program) -> None:
        self.lanes: dict[int, int] = {}  # of instructions in an arm
        self.arms: dict[int, tuple[_Arm, _Arm]] = {}  # of selections
        self._program = program
        self._rows = program.ptx.split("\n")
        self._makers: dict[tuple[int, str], list[int]] = {}
        self._users: dict[tuple[int, str], set[int]] = {}
        self._operands: dict[int, list[str]] = {}
        for number, each in enumerate(program.instructions):
            self._read(number, each)
        # Outer selections have larger numbers than those in their arms.
        for number in sorted(self._operands, reverse=True):
            each = program.instructions[number]
            if each.text.startswith("selp") and each.choice and program.places[number]:
                self._select(number, each.choice)

    def _read(self, number: int, each: _counts.Instruction) -> None:
        row = self._rows[each.ptx_line - 1] if each.ptx_line <= len(self._rows) else ""
        operands = row.partition(each.text.partition(" ")[0])[2]
        registers = _REGISTER.findall(operands)
        if registers and not _NO_RESULT.match(each.text) and "{" not in operands:
            key = each.function, registers.pop(0)
            self._makers.setdefault(key, []).append(number)
        self._operands[number] = registers
        guard = _REGISTER.findall(row.partition(each.text.partition(" ")[0])[0])
        for register in (*registers, *guard):
            self._users.setdefault((each.function, register), set()).add(number)

    def _select(self, number: int, choice: _counts.Choice) -> None:
        row = self._rows[self._program.instructions[number].ptx_line - 1]
        values = [word.strip(" ;\t") for word in row.split(",")[1:3]]
        if len(values) < 2 or values[0] == values[1]:
            return
        lanes = self.lanes.get(number)
        counts = choice.holds, choice.fails
        if lanes is not None:  # it is in an arm: not all of them come here
            counts = min(lanes, counts[0]), min(lanes, counts[1])
        first, second = (
            self._arm(number, value, count)
            for value, count in zip(values, counts, strict=True)
        )
        self.arms[number] = first, second

    def _arm(self, selection: int, value: str, lanes: int) -> _Arm:
        program, members = self._program, {selection}
        function, begin = program.instructions[selection].function, None
        begin = program.places[selection]
        waiting = [value]
        while waiting:
            key = function, waiting.pop()
            makers = self._makers.get(key, [])
            if len(makers) != 1 or not self._users.get(key, set()) <= members:
                continue
            place = program.places[makers[0]]
            if begin is None or place is None or makers[0] in members:
                continue
            if place.file == begin.file and place.line > begin.line:
                members.add(makers[0])
                waiting += self._operands[makers[0]]
        members.remove(selection)
        for each in members:
            self.lanes[each] = min(lanes, self.lanes.get(each, lanes))
        return _Arm(lanes, frozenset(members))


def _unrolled(program: _Program) -> dict[int, int]:
    """Return the instructions of unrolled loops that never ran, with lanes for them.

    A loop of few turns runs in the copy for the last turns, and the compiler may have
    moved some of its lines out of that one. The block that never ran has instructions
    several times that the copy has once.
    """
    instructions, places = program.instructions, program.places
    starts = {each.target for each in instructions}
    blocks: list[list[int]] = [[]]
    for number in range(len(instructions)):
        if number in starts or (number and _ENDS.match(instructions[number - 1].text)):
            blocks.append([])
        blocks[-1].append(number)
    known: dict[tuple[object, ...], tuple[int, int]] = {}  # how often, for how many
    waiting: list[tuple[list[int], Counter[tuple[object, ...]]]] = []
    for block in blocks:
        members = [n for n in block if places[n] is not None]
        if not members:
            continue
        kinds = Counter(_kind(program, n) for n in members)
        lanes = instructions[members[0]].lanes
        if not lanes:
            waiting.append((members, kinds))
            continue
        for kind, times in kinds.items():
            least, most = known.get(kind, (times, lanes))
            known[kind] = min(least, times), max(most, lanes)
    found: dict[int, int] = {}
    for members, kinds in waiting:
        lanes = max(
            (
                known[kind][1]
                for kind, times in kinds.items()
                if kind in known and times >= 2 * known[kind][0]
            ),
            default=0,
        )
        if lanes:
            found.update(dict.fromkeys(members, lanes))
    return found


def _kind(program: _Program, number: int) -> tuple[object, ...]:
    each = program.instructions[number]
    return each.function, program.places[number], each.column, each.text


def _add(
    program: _Program,
    counts: dict[Place, int],
    decisions: dict[_Key, _Ways],
) -> None:
    """Add what ran of a program."""
    selections, unrolled = _Selections(program), _unrolled(program)
    of_functions: dict[tuple[int, Place], int] = {}
    columns: dict[Place, set[int]] = {}
    deciding: list[int] = []
    for number, each in enumerate(program.instructions):
        place = program.places[number]
        if place is None:
            continue
        if not _NOTHING.match(program.texts[place]):
            is_guarded = each.choice and not each.text.startswith(("bra", "selp"))
            lanes = each.choice.holds if is_guarded and each.choice else each.lanes
            lanes = min(lanes, selections.lanes.get(number, lanes))
            lanes = lanes or unrolled.get(number, 0)
            function = each.function, place
            of_functions[function] = max(of_functions.get(function, 0), lanes)
        if each.choice is not None and _decides(each, program.texts[place]):
            columns.setdefault(place, set()).add(each.column)
            deciding.append(number)
    for (_, place), lanes in of_functions.items():
        counts[place] = counts.get(place, 0) + lanes
    ranks = {place: sorted(found) for place, found in columns.items()}
    for number in deciding:
        place, each = program.places[number], program.instructions[number]
        if place is not None:
            key = place, ranks[place].index(each.column)
            ways = decisions.setdefault(key, _Ways({}, set()))
            found = _outcomes(program, selections, number, place)
            for outcome in found:
                earlier = ways.outcomes.get(outcome.to)
                threads = outcome.threads + (earlier.threads if earlier else 0)
                ways.outcomes[outcome.to] = outcome._replace(threads=threads)
            if len(found) > 1:
                ways.pairs.add((found[0].to, found[1].to))


def _decides(each: _counts.Instruction, text: str) -> bool:
    """Return whether a predicate may be a decision of the source."""
    if each.text.startswith("selp"):  # the compiler computes how often a loop runs
        return bool(_COMPARES.search(text)) and not _IS_LOOP.search(text)
    return True


def _outcomes(
    program: _Program, selections: _Selections, number: int, place: Place
) -> list[Outcome]:
    each = program.instructions[number]
    if each.choice is None:
        return []
    counts = each.choice.holds, each.choice.fails
    if number in selections.arms:
        return [
            _outcome_of_arm(program, arm, name)
            for arm, name in zip(selections.arms[number], (_TRUE, _FALSE), strict=True)
        ]
    if not each.text.startswith("bra"):
        return [
            Outcome(name, 0, count)
            for name, count in zip((_TRUE, _FALSE), counts, strict=True)
        ]
    ways = [program.follow(after, place) for after in (each.target, number + 1)]
    if all(ways) and ways[0][0] == ways[1][0]:
        ways = [way[-1:] for way in ways]
    return [
        _outcome(program, way[0], place, count)
        for way, count in zip(ways, counts, strict=True)
        if way
    ]


def _outcome_of_arm(program: _Program, arm: _Arm, name: str) -> Outcome:
    places = [place for n in arm.members if (place := program.places[n])]
    if not places:
        return Outcome(name, 0, arm.lanes)
    line = min(place.line for place in places)
    return Outcome(f"line {line}", line, arm.lanes)


def _outcome(program: _Program, to: Place, place: Place, count: int) -> Outcome:
    if not to.line:
        return Outcome("the end", 0, count)
    if to.file == place.file:
        return Outcome(f"line {to.line}", to.line, count)
    name = f"line {to.line} of {os.path.basename(to.file)}"
    return Outcome(
        name, -to.line if program.sources.is_generated(to.file) else 0, count
    )
