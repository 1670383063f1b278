"""Reports of what ran of CUDA sources: a table, HTML, lcov and Cobertura XML."""

from __future__ import annotations

import itertools
import os
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from html import escape
from xml.sax.saxutils import quoteattr

from pycuda._covered import File, Totals, totals
from pycuda._page import bar_html, encodable, page, table_html, tiles_html

_HEADS = ("name", "lines", "not run", "branches", "not taken", "covered")
_WIDTH = 100  # of the table, unless its last column gets narrower than
_LEAST = 30

_STYLE = """
.source td{border:0;padding:0 12px;white-space:pre;font:12.5px ui-monospace,
SFMono-Regular,Menlo,Consolas,monospace}
.source td.n{color:var(--soft);width:1%}
.source tr.run td{background:rgba(60,169,81,.13)}
.source tr.part td{background:rgba(239,177,24,.22)}
.source tr.not td{background:rgba(229,72,77,.20)}
.source td.way{white-space:normal;color:var(--soft);width:28%}
.source td.way b{color:var(--ink)}
.legend span{padding:1px 8px;margin-right:8px;border-radius:3px}
.legend .run{background:rgba(60,169,81,.18)}
.legend .part{background:rgba(239,177,24,.28)}
.legend .not{background:rgba(229,72,77,.25)}
"""


def short_name(name: str) -> str:
    """Return a path from the current folder, if it is below."""
    if not os.path.isabs(name):
        return name
    relative = os.path.relpath(name)
    return name if relative.startswith("..") else relative


def ranges(lines: Iterable[int], between: Iterable[int]) -> str:
    """Return numbers of lines as text: ``3, 7-9``.

    ``between`` are all lines that count: others do not interrupt a range.
    """
    order = {line: place for place, line in enumerate(sorted(between))}
    groups = itertools.groupby(
        enumerate(sorted(lines)), lambda pair: order[pair[1]] - pair[0]
    )
    found = []
    for _, group in groups:
        numbers = [line for _, line in group]
        first, last = numbers[0], numbers[-1]
        found.append(f"{first}" if first == last else f"{first}-{last}")
    return ", ".join(found)


def _missing(file: File) -> str:
    """Return what of a file is missing, in words."""
    parts = [ranges(file.missing(), file.lines)] if file.missing() else []
    parts += [
        f"{line}->{each.to.removeprefix('line ').replace(' ', '_')}"
        for line, each in file.missing_outcomes()
    ]
    return ", ".join(parts)


def _cells(name: str, found: Totals) -> list[str]:
    return [
        name,
        str(found.lines),
        str(found.lines - found.lines_run),
        str(found.outcomes),
        str(found.outcomes - found.outcomes_taken),
        percent_text(found),
    ]


def percent_text(found: Totals) -> str:
    """Return how much is covered. 100% means all, and 0% nothing."""
    percent = found.percent()
    rounded = round(percent)
    if rounded == 100 and percent < 100:
        rounded = 99
    return f"{max(rounded, 1) if percent > 0 else 0}%"


def table(files: Sequence[File], with_missing: bool = True) -> str:
    """Return a table for the terminal: a row for each file, and one for all."""
    rows = [[*_HEADS, "missing" if with_missing else ""]]
    for file in files:
        missing = _missing(file) if with_missing else ""
        rows.append([*_cells(short_name(file.name), totals([file])), missing])
    rows.append([*_cells("all", totals(files)), ""])
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    lines = []
    start = sum(widths) + 2 * len(_HEADS)
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [row[i].rjust(widths[i]) for i in range(1, len(_HEADS))]
        parts = textwrap.wrap(
            row[-1], max(_WIDTH - start, _LEAST), break_on_hyphens=False
        ) or [""]
        begin = "  ".join(cells) + "  "
        texts = [begin + parts[0], *(" " * start + part for part in parts[1:])]
        lines.append("\n".join(text.rstrip() for text in texts))
    rule = "-" * max(len(row) for line in lines for row in line.split("\n"))
    return "\n".join((lines[0], rule, *lines[1:-1], rule, lines[-1]))


# -- for other programs ----------------------------------------------------------------


def _in_files(files: Iterable[File]) -> list[File]:
    """Return the files that other programs can open."""
    return [file for file in files if os.path.isabs(file.name)]


def lcov(files: Sequence[File]) -> str:
    """Return a report in the format of lcov."""
    rows = []
    for file in _in_files(files):
        found = totals([file])
        rows += ["TN:", f"SF:{short_name(file.name)}"]
        for line, decisions in file.decisions.items():
            for number, outcomes in enumerate(decisions):
                for way, each in enumerate(outcomes):
                    taken = each.threads if file.lines.get(line) else "-"
                    rows.append(f"BRDA:{line},{number},{way},{taken}")
        rows += [f"BRF:{found.outcomes}", f"BRH:{found.outcomes_taken}"]
        rows += [f"DA:{line},{count}" for line, count in file.lines.items()]
        rows += [f"LF:{found.lines}", f"LH:{found.lines_run}", "end_of_record"]
    return "".join(f"{row}\n" for row in rows)


def _rate(part: int, whole: int) -> str:
    return f"{part / whole:.4g}" if whole else "1"


def _rates(found: Totals) -> str:
    return (
        f'line-rate="{_rate(found.lines_run, found.lines)}" '
        f'branch-rate="{_rate(found.outcomes_taken, found.outcomes)}" complexity="0"'
    )


def cobertura(files: Sequence[File]) -> str:
    """Return a report in the XML format of Cobertura."""
    files = _in_files(files)
    found = totals(files)
    rows = [
        '<?xml version="1.0" ?>',
        "<!DOCTYPE coverage SYSTEM "
        '"http://cobertura.sourceforge.net/xml/coverage-04.dtd">',
        f'<coverage {_rates(found)} version="pycuda" timestamp="{int(time.time())}" '
        f'lines-valid="{found.lines}" lines-covered="{found.lines_run}" '
        f'branches-valid="{found.outcomes}" '
        f'branches-covered="{found.outcomes_taken}">',
        f"<sources><source>{escape(os.getcwd())}</source></sources>",
        "<packages>",
    ]
    by_folder = itertools.groupby(files, lambda file: os.path.dirname(file.name))
    for folder, group in by_folder:
        members = list(group)
        name = quoteattr(short_name(folder).replace(os.sep, "."))
        rows.append(f"<package name={name} {_rates(totals(members))}><classes>")
        for file in members:
            rows += _cobertura_class(file)
        rows.append("</classes></package>")
    return "\n".join((*rows, "</packages>", "</coverage>", ""))


def _cobertura_class(file: File) -> list[str]:
    name = quoteattr(os.path.basename(file.name))
    path = quoteattr(short_name(file.name))
    rows = [
        f"<class name={name} filename={path} {_rates(totals([file]))}>",
        "<methods/><lines>",
    ]
    for line, count in file.lines.items():
        more = ""
        outcomes = list(itertools.chain(*file.decisions.get(line, ())))
        if outcomes:
            taken = sum(1 for each in outcomes if each.threads)
            share = f"{taken * 100 // len(outcomes)}% ({taken}/{len(outcomes)})"
            more = f' branch="true" condition-coverage="{share}"'
        rows.append(f'<line number="{line}" hits="{count}"{more}/>')
    return [*rows, "</lines></class>"]


# -- HTML ------------------------------------------------------------------------------


def html(files: Sequence[File]) -> str:
    """Return a page: a table of the files, and the lines of each."""
    found = totals(files)
    rows = []
    for number, file in enumerate(files):
        own = totals([file])
        cells = _cells("", own)
        name = f'<a href="#f{number}">{escape(encodable(short_name(file.name)))}</a>'
        rows.append([name, *cells[1:], bar_html(own.percent() / 100)])
    tiles = [
        (percent_text(found), "of lines and branches"),
        (f"{found.lines_run} of {found.lines}", "lines ran"),
        (f"{found.outcomes_taken} of {found.outcomes}", "branches taken"),
    ]
    body = [
        f"<style>{_STYLE}</style><h1>Coverage of kernels</h1>",
        tiles_html(tiles),
        table_html([*_HEADS, ""], rows, range(1, len(_HEADS))),
        '<p class="note legend"><br><span class="run">ran</span>'
        '<span class="part">ran, but a branch was never taken</span>'
        '<span class="not">never ran</span> The number is that of threads.</p>',
    ]
    body += [_source_html(number, file) for number, file in enumerate(files)]
    return page("Coverage of kernels", "".join(body))


def _shown(file: File) -> list[int]:
    """Return the lines of a file to show: those that count, and those around."""
    near = {n for line in file.lines for n in range(line - 4, line + 4)}
    return [n for n in sorted(near) if 1 <= n <= len(file.text)]


def _source_html(number: int, file: File) -> str:
    name = escape(encodable(short_name(file.name)))
    rows = []
    last = 0
    for line in _shown(file):
        if last and line != last + 1:
            rows.append('<tr><td class="n">…</td><td></td><td></td><td></td></tr>')
        last = line
        rows.append(_row_html(file, line))
    return (
        f'<h2 id="f{number}">{name}</h2><div class="scroll"><table class="source">'
        f"{''.join(rows)}</table></div>"
    )


def _row_html(file: File, line: int) -> str:
    count = file.lines.get(line)
    decisions = file.decisions.get(line, [])
    ways, kind = "", ""
    if count is not None:
        kind = "run" if count else "not"
    if count:
        not_taken = [each for way in decisions for each in way if not each.threads]
        kind = "part" if not_taken else kind
        ways = "; ".join(
            ", ".join(
                f"{each.to}: {each.threads}"
                if each.threads
                else f"<b>never to {each.to}</b>"
                if each.to.startswith("line")
                else f"<b>never {each.to}</b>"
                for each in outcomes
            )
            for outcomes in decisions
        )
    shown = "" if count is None else str(count)
    text = escape(encodable(file.text[line - 1]))
    return (
        f'<tr class="{kind}"><td class="n">{line}</td><td class="n">{shown}</td>'
        f'<td>{text}</td><td class="way">{ways}</td></tr>'
    )


#: The reports that are files: the kind, its default name, and what makes it.
KINDS: dict[str, tuple[str, Callable[[Sequence[File]], str]]] = {
    "html": ("kernel-coverage.html", html),
    "xml": ("kernel-coverage.xml", cobertura),
    "lcov": ("kernel-coverage.lcov", lcov),
}


def write(kind: str, path: str, files: Sequence[File]) -> str:
    """Write a report to a file. Return its name."""
    name, make = KINDS[kind]
    path = path or name
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(make(files))
    return path
