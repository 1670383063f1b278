"""Where the lines of counted programs are for a reader: in files that he can open.

The software device counts lines of ``kernel.cu``, the name of every source in a string.
A string is made of literals in Python files, often of several, with values put into
them, or it is the text of a file. So the lines of a source are aligned with the lines
of the program's files: of a Python file only those inside of literals. A line that is
found has a place there. What is found nowhere was generated, and its place is a line of
the source itself, under a name such as ``kernel sum of script.py:12``.

The files of a program are those of the frames that compiled the source, and of loaded
modules, without the standard library and installed packages; and the CUDA files in the
folders of these. Headers that a source includes have their own place. Headers of the
toolkit and of this package have none.
"""

from __future__ import annotations

import io
import itertools
import linecache
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from pycuda import _counts, _excerpt, _notebook_program
from pycuda._compile import recording
from pycuda._warning import cells

_CUDA_ENDINGS = (
    *(".cu", ".cuh", ".h", ".hpp", ".inl", ".c", ".cpp"),
    *(".mako", ".jinja", ".jinja2", ".j2", ".tmpl", ".tpl"),
)
_MOST_FILES = 5000  # that are looked at in the folders of a program
_LARGEST = 1 << 20  # bytes of a file
_DEEPEST = 3  # folders below those of the program
_WEIGHTY = 4  # letters and digits of a line that can tell where a source is
_DISTINCT = 12  # and of one that can do so though values were put into it
_NEAR = 3  # lines that a part of a file may have more than a part of a source
_SIMILAR = 0.6  # of a line that was changed, by difflib

_CELL = re.compile(r"(.*\.ipynb)\[\d+\]$")
_KERNEL = re.compile(r"__global__\b(?:[^(){};]|\(\s*\d[^()]*\))*?(\w+)\s*\((?!\s*\d)")
_OPERATOR = re.compile(r"[-+*/%&|^<>?]|\w\(.*\)|\w\[")

#: Where a value is put into a text: by an f-string or str.format, by %, by Template,
#: Mako or Jinja.
_SLOT = re.compile(
    r"\{\{\s[^{}]*\}\}|\$\{[^{}]*\}|\$\w+|\{[^{};]*\}"
    r"|%\(\w+\)[-+ #0-9.]*[a-z]|%[-+ #0-9.]*[sdigrf]\b"
)


class Place(NamedTuple):
    """A line that a reader can look up."""

    file: str  # a path, the name of a cell of a notebook, or that of a generated source
    line: int

    @property
    def text(self) -> str:
        """The place as Python names it, for a cell of Jupyter "Cell In[3], line 2"."""
        number = cells().get(self.file)
        if number is not None:
            return f"Cell In[{number}], line {self.line}"
        return f"{_excerpt.short_path(self.file)}:{self.line}"


class _Item(NamedTuple):
    """A line of a file that may be a line of a source."""

    text: str  # as lines are compared
    line: int
    pattern: re.Pattern[str] | None  # if values are put into it
    is_slot: bool  # there is nothing but values


# -- the lines of a program's files ----------------------------------------------------


def _plain(line: str) -> str:
    """Return a line as lines are compared: without blanks and the last semicolon."""
    return re.sub(r"\s+", " ", line).strip().removesuffix(";").rstrip()


def _weight(line: str) -> int:
    return len(re.findall(r"\w", line))


def _read_text(file: str) -> str:
    """Return the text of a file or of a notebook's cell, "" if there is none."""
    cell = _CELL.match(file)
    try:
        if cell:
            return _notebook_program.cells(cell[1])[file]
        with open(file, "rb") as opened:
            data = opened.read()
        encoding = "utf-8"
        if file.endswith(".py"):
            encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding, "replace").replace("\r\n", "\n")
    except (OSError, ValueError, KeyError, SyntaxError):
        text = "".join(linecache.getlines(file))  # such as a cell of Jupyter
        # A cell of CUDA C is one string there, and its kernels know its lines.
        return "" if text.startswith("get_ipython().run_cell_magic(") else text


text_of = cache(_read_text)


def _literals(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield (prefix, line, text between the quotes) of the strings of Python code."""
    rows = text.split("\n")
    start: list[tuple[int, int]] = []  # of the f-strings around, since Python 3.12
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind in ("FSTRING_START", "TSTRING_START"):
            start.append(token.start)
            continue
        begin = token.start
        if kind in ("FSTRING_END", "TSTRING_END"):
            begin = start.pop()
        elif kind != "STRING":
            continue
        if start:
            continue
        (top, left), (bottom, right) = begin, token.end
        lines = rows[top - 1 : bottom]
        lines[-1] = lines[-1][:right]
        lines[0] = lines[0][left:]
        whole = "\n".join(lines)
        match = re.match(r"(\w*)('''|\"\"\"|'|\")", whole)
        if match:
            yield match[1].lower(), top, whole[match.end() : -len(match[2])]


_ESCAPES = {"\\\\": "\\", "\\t": "\t", '\\"': '"', "\\'": "'"}


def _lines_of_literals(text: str) -> Iterator[tuple[str, int]]:
    """Yield the lines inside of the strings of a Python file, with their numbers."""
    for prefix, line, inside in _literals(text):
        for number, row in enumerate(inside.split("\n"), line):
            parts = [row]
            if "r" not in prefix:
                parts = re.split(r"(?<!\\)(?:\\\\)*\\n", row.removesuffix("\\"))
                parts = [
                    re.sub(r"\\[\\t\"']", lambda found: _ESCAPES[found[0]], part)
                    for part in parts
                ]
            for part in parts:
                if "f" in prefix or "t" in prefix:
                    part = part.replace("{{", "{").replace("}}", "}")
                yield part, number


def _pattern(text: str) -> re.Pattern[str] | None:
    """Return a pattern for a text into which values are put, None if none are."""
    doubled = (
        text.replace("{{", "\1").replace("}}", "\2") if "{{ " not in text else text
    )
    parts = _SLOT.split(doubled)
    if len(parts) == 1 and doubled == text:
        return None
    known = [re.escape(x.replace("\1", "{").replace("\2", "}")) for x in parts]
    return re.compile(".*?".join(known) + "$", re.DOTALL)


def _read_items(file: str) -> list[_Item]:
    """Return the lines of a file that may be lines of a source."""
    text = text_of(file)
    found: Iterable[tuple[str, int]] = (
        (row, line) for line, row in enumerate(text.split("\n"), 1)
    )
    if file.endswith(".py") or (_CELL.match(file) and not text.startswith("%%")):
        try:
            found = list(_lines_of_literals(text))
        except (tokenize.TokenError, SyntaxError, IndexError):
            found = ()
    return [
        _Item(plain, line, _pattern(plain), not _SLOT.sub("", plain))
        for row, line in found
        if (plain := _plain(row))
    ]


_items = cache(_read_items)


def _read_texts(file: str) -> frozenset[str]:
    return frozenset(item.text for item in _items(file))


_texts = cache(_read_texts)


def _cuda_files(folders: Iterable[str]) -> list[str]:
    """Return the files in folders, and in those below, that may be sources."""
    found: dict[str, None] = {}
    seen = 0
    for folder in folders:
        base = folder.rstrip(os.sep).count(os.sep)
        for path, inner, names in os.walk(folder):
            inner[:] = sorted(x for x in inner if not x.startswith((".", "__")))
            if path.count(os.sep) - base >= _DEEPEST or not recording.is_own(path):
                inner.clear()
            seen += len(names)
            if seen > _MOST_FILES:
                return list(found)
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith(_CUDA_ENDINGS) and os.path.getsize(file) < _LARGEST:
                    found[file] = None
    return list(found)


# -- alignment -------------------------------------------------------------------------


class _Matches:
    """Which lines of a source may be which lines of a file."""

    def __init__(self, source: Sequence[str], items: Sequence[_Item]) -> None:
        self.source, self.items = source, items
        equal: dict[str, list[int]] = {}
        for n, item in enumerate(items):
            equal.setdefault(item.text, []).append(n)
        formatted = [n for n, x in enumerate(items) if x.pattern and not x.is_slot]
        self._weights: list[dict[int, int]] = []  # of each line of the source, by item
        for text in source:
            found = dict.fromkeys(equal.get(text, ()) if text else (), _weight(text))
            for n in formatted if text else ():
                pattern = items[n].pattern
                if n not in found and pattern and pattern.match(text):
                    found[n] = _weight(_SLOT.sub("", items[n].text))
            self._weights.append(found)

    def best(
        self, low: int, high: int, first: int, last: int
    ) -> tuple[int, int, int] | None:
        """Return the heaviest block, (place in the source, in the items, size)."""
        # Lines such as a brace tell nothing unless those around have told it.
        is_near = last - first <= high - low + _NEAR
        best, heaviest = None, 0
        seen: set[tuple[int, int]] = set()
        for at in range(low, high):
            for n in self._weights[at]:
                if not first <= n < last or (at, n) in seen:
                    continue
                size = weight = most = 0
                while at + size < high and n + size < last:
                    own = self._weights[at + size].get(n + size)
                    if own is None:
                        break
                    seen.add((at + size, n + size))
                    is_equal = self.source[at + size] == self.items[n + size].text
                    most = max(most, own if is_equal else own * _WEIGHTY // _DISTINCT)
                    weight, size = weight + own + 1, size + 1
                if weight > heaviest and (most >= _WEIGHTY or is_near):
                    best, heaviest = (at, n, size), weight
        return best


def _align(
    source: Sequence[str], items: Sequence[_Item], place: dict[int, int]
) -> None:
    """Give lines of a source a line of the file with these items.

    ``place`` maps the index of a line of the source to the line of the file. Lines that
    it has already stay.
    """
    matches = _Matches(source, items)
    waiting = [(0, len(source), 0, len(items))]
    while waiting:
        low, high, first, last = waiting.pop()
        while low < high and low in place:
            low += 1
        while low < high and high - 1 in place:
            high -= 1
        found = matches.best(low, high, first, last)
        if found is None and (first, last) != (0, len(items)):
            first, last = 0, len(items)  # another part of the file
            found = matches.best(low, high, first, last)
        if found is None:
            continue
        a, b, size = found
        for n in range(size):
            place.setdefault(a + n, items[b + n].line)
        waiting.append((low, a, first, b))
        waiting.append((a + size, high, b + size, last))


def _fill(source: Sequence[str], items: Sequence[_Item], place: dict[int, int]) -> None:
    """Place lines beside those that are placed.

    Lines that were changed, such as by str.replace, are still similar. Lines between
    two others with nothing but a value between are in this value.
    """
    known: dict[int, _Item] = {}
    for item in items:
        known.setdefault(item.line, item)
    for step in (1, -1):
        for at in range(len(source))[::step]:
            line = place.get(at - step, -1) + step
            if at not in place and source[at] and line in known:
                matcher = SequenceMatcher(None, source[at], known[line].text, False)
                if matcher.ratio() >= _SIMILAR:
                    place[at] = line
    for one, other in itertools.pairwise(sorted(place)):
        between = [n for n in range(place[one] + 1, place[other]) if n in known]
        if len(between) == 1 and known[between[0]].is_slot:
            for at in range(one + 1, other):
                if source[at]:
                    place[at] = between[0]


def _find_expressions(
    source: Sequence[str], items: Sequence[_Item], place: dict[int, int]
) -> None:
    """Place lines of generated sources that have an expression of the program.

    They have it in brackets, or return it.
    """
    known = [x for x in items if _OPERATOR.search(x.text) and _weight(x.text) > 1]
    for at, line in enumerate(source):
        if at not in place:
            for item in known:
                if f"({item.text})" in line or line == f"return {item.text}":
                    place[at] = item.line


# -- the sources of programs -----------------------------------------------------------


class Sources:
    """The places of the lines of counted programs."""

    def __init__(self) -> None:
        self._generated: dict[str, list[str]] = {}  # name: lines
        self._names: dict[str, str] = {}  # text: name
        self._aligned: dict[str, dict[tuple[str, int], Place]] = {}
        self._folders: dict[tuple[str, ...], list[str]] = {}

    def place(
        self, program: _counts.Program, file: str, line: int, function: int = 0
    ) -> Place | None:
        """Return the place of a line of a program, None if a reader cannot have it.

        Parameters
        ----------
        program : Program
            The program.
        file : str
            The file that one of its instructions names.
        line : int
            The line in it.
        function : int, optional
            The number of its function, for programs that were linked.

        Returns
        -------
        Place or None
            The place. None if the line is of the toolkit, of a header of this package,
            or of a source that was not recorded.
        """
        if not line or not file:
            return None
        if os.path.basename(file) != _excerpt.SOURCE_NAME:
            is_there = recording.is_own(file) and os.path.exists(file)
            return Place(file, line) if is_there else None
        source = program.source_of(function)
        if source is None:
            return Place(file, line) if os.path.exists(file) else None
        return self.of_source(source, line)

    def of_source(self, source: recording.Source, line: int) -> Place | None:
        """Return the place of a line of a source, None if it has no such line."""
        if source.text not in self._aligned:
            self._aligned[source.text] = self._all_places(source)
        return self._aligned[source.text].get((_excerpt.SOURCE_NAME, line))

    def in_files(self, source: recording.Source, line: int) -> Place | None:
        """Return the place of a line of ``kernel.cu``, None if it is in no file."""
        found = self.of_source(source, line)
        return None if found is None or self.is_generated(found.file) else found

    def lines(self, file: str) -> list[str]:
        """Return the lines of a place's file, [] if it is gone."""
        known = self._generated.get(file)
        return text_of(file).split("\n") if known is None else known

    def is_generated(self, file: str) -> bool:
        """Return whether a place's file is the name of a generated source."""
        return file in self._generated

    def _all_places(self, source: recording.Source) -> dict[tuple[str, int], Place]:
        """Return the places of all lines of a source, by file and number."""
        own = _excerpt.own_text(source.text)
        plain = [_plain(line) for line in own.lines]
        places: dict[int, Place] = {}
        in_files: list[tuple[str, dict[int, int]]] = []
        for file in self._candidates(source, plain):
            taken = dict.fromkeys(places, 0)
            found = dict(taken)
            items = _items(file)
            _align(plain, items, found)
            for at in taken:
                del found[at]
            in_files.append((file, found))
            places |= {at: Place(file, line) for at, line in found.items()}
            if all(at in places for at, text in enumerate(plain) if _weight(text)):
                break
        for file, found in in_files:
            _fill(plain, _items(file), found)
            if file in source.files[: source.frames]:
                _find_expressions(plain, _items(file), found)
            places |= {
                at: Place(file, x) for at, x in found.items() if at not in places
            }
        for at in range(len(own.lines)):
            if at not in places:
                places[at] = Place(self._name(source, own.lines), at + 1)
        return {mark: places[at] for at, mark in enumerate(own.marks)}

    def _candidates(self, source: recording.Source, plain: Sequence[str]) -> list[str]:
        """Return the files that have lines of a source, the best first."""
        weighty = {line for line in plain if _weight(line) >= _WEIGHTY}
        scored, missing = [], set(weighty)
        for order, file in enumerate(source.files):
            shared = weighty & _texts(file)
            missing -= shared
            # Lines of the frames that compiled it may be changed so that none is equal.
            if shared or order < source.frames:
                scored.append((-len(shared), order, file))
        if missing:
            folders = tuple(dict.fromkeys(map(os.path.dirname, source.files)))
            if folders not in self._folders:
                self._folders[folders] = _cuda_files(folders)
            for order, file in enumerate(self._folders[folders], len(source.files)):
                shared = missing & _texts(file)
                if len(shared) * 2 >= len(missing):
                    scored.append((-len(shared), order, file))
        return [file for _, _, file in sorted(scored)]

    def _name(self, source: recording.Source, lines: list[str]) -> str:
        """Return the name of a source that is in no file."""
        if source.text in self._names:
            return self._names[source.text]
        kernel = _KERNEL.search("\n".join(lines))
        file, _, line = source.line.rpartition(":")
        name = f"kernel {kernel[1]}" if kernel else "source"
        name += f" of {os.path.basename(file)}:{line}"
        count, base = 1, name
        while name in self._generated:
            count += 1
            name = f"{base} ({count})"
        self._generated[name] = lines
        self._names[source.text] = name
        return name
