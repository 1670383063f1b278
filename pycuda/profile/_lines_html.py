"""The page with the cost of kernels by line: the source, and a bar for each line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from pycuda._page import bytes_text, page, path_html, tiles_html
from pycuda.profile import _lines_text as words
from pycuda.profile._costs import Accesses, Advice, KernelCost, LineCost
from pycuda.profile._places import Places

#: Lines of the source between two lines that cost something; more are left out.
_MOST_BETWEEN = 8

_STYLE = """
<style>
.cost{border-collapse:collapse;width:100%}
.cost td,.cost th{padding:2px 10px;border-bottom:0;vertical-align:top}
.cost th{padding:6px 10px;border-bottom:1px solid var(--line)}
.cost td.s{white-space:pre;font:12.5px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,
monospace;padding-left:0;width:99%}
.cost td.l{color:var(--soft);text-align:right;font:12.5px/1.6 ui-monospace,monospace}
.cost td.b{width:110px;min-width:110px;padding-top:6px}
.cost td.b i{display:block;height:6px;border-radius:2px;margin-bottom:2px;
background:var(--accent)}
.cost td.b i.m,.key i.m{background:#efb118}
.cost td.b i.w,.key i.w{background:#3ca951}
.cost tr.bad td{background:rgba(255,114,92,.13)}
.cost tr.note td{color:var(--soft);font-size:12.5px;padding:0 10px 6px}
.cost tr.note.bad td{color:var(--ink);padding-bottom:8px}
.cost tr.note td div{position:sticky;left:10px;margin-left:178px;
width:min(92ch,calc(100vw - 280px))}
.cost th.s{padding-left:0}
@media (max-width:700px){.cost td.b{width:48px;min-width:48px}
.cost tr.note td div{margin-left:0;width:calc(100vw - 78px)}}
.cost tr.file td{padding-top:12px}
.cost .none{color:var(--soft)}
.advice{margin:0 0 12px;padding:9px 14px;border-left:3px solid #ff725c;
background:rgba(255,114,92,.13);border-radius:0 6px 6px 0;max-width:96ch}
.key i{display:inline-block;width:22px;height:6px;border-radius:2px;
margin:0 5px 2px 0;background:var(--accent)}
ul.kernels{padding-left:20px;margin:0 0 8px}
</style>"""

_NUMBERS = ("instructions", "lanes", "loads", "stores", "shared")
_HEAD = (
    '<tr><th></th><th class="n">line</th><th class="s">source</th>'
    + "".join(f'<th class="n">{name}</th>' for name in _NUMBERS)
    + "</tr>"
)


def _title(kernel: KernelCost) -> str:
    return f"<code>{escape(kernel.name)}</code>"


def _tiles(kernel: KernelCost) -> str:
    tiles = [
        (words.number_text(kernel.instructions), "warp instructions"),
        (f"{kernel.lanes:.1f}", "of 32 lanes active"),
        (bytes_text(kernel.moved), f"moved, {bytes_text(kernel.least_moved)} would do"),
    ]
    if kernel.intensity is not None:
        tiles.append((f"{kernel.intensity:.2f}", "operations a byte"))
    if kernel.occupancy is not None:
        limit = "occupancy"
        if kernel.occupancy < 1:
            limit += f", limited by {kernel.limit}"
        tiles.append((f"{kernel.occupancy:.0%}", limit))
    return tiles_html(tiles)


def _note(kernel: KernelCost) -> str:
    parts = [words.size_words(kernel)]
    if kernel.is_kernel:
        parts.append(words.registers_words(kernel))
        parts.append(f"{bytes_text(kernel.shared)} of shared memory a block")
    return f'<p class="note">{escape(", ".join(parts))}.</p>'


# -- the source ------------------------------------------------------------------------


def _cell(accesses: Accesses) -> str:
    if not accesses.requests:
        return '<td class="n"></td>'
    title = (
        f"{accesses.requests:,} requests, {accesses.cost:,}, least {accesses.least:,}"
    )
    return f'<td class="n" title="{title}">{words.number_text(accesses.each)}</td>'


#: What a line has bars for: the class of the bar, the name, and the number.
_KINDS: tuple[tuple[str, str, Callable[[LineCost], float]], ...] = (
    ("i", "instructions", lambda line: line.instructions),
    ("m", "bytes of global memory", lambda line: line.moved),
    ("w", "wavefronts of shared memory", lambda line: line.shared.cost),
)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0:.1f}%"


def _bars(kernel: KernelCost, line: LineCost) -> str:
    """Return a bar for each kind of cost that a line has: its share of the most."""
    bars, shares = "", []
    for kind, name, of in _KINDS:
        if of(line):
            most, total = (f(map(of, kernel.lines)) for f in (max, sum))
            bars += f'<i class="{kind}" style="width:{_share(of(line), most)}"></i>'
            shares.append(f"{_share(of(line), total)} of the {name}")
    return f'<td class="b" title="{", ".join(shares)}">{bars}</td>'


def _wide(kind: str, text: str) -> str:
    return (
        f'<tr class="{kind}"><td colspan="{len(_NUMBERS) + 3}"><div>{text}</div></td>'
        "</tr>"
    )


def _row(kernel: KernelCost, line: LineCost, advice: list[Advice]) -> str:
    kind = ' class="bad"' if advice else ""
    text = (
        f"<tr{kind}>{_bars(kernel, line)}"
        f'<td class="l">{line.line}</td><td class="s">{escape(line.text)}</td>'
        f'<td class="n">{words.number_text(line.instructions)}</td>'
        f'<td class="n">{line.lanes:.1f}</td>'
        f"{_cell(line.loads)}{_cell(line.stores)}{_cell(line.shared)}</tr>"
    )
    more = words.also(line)
    if more:
        text += _wide("note bad" if advice else "note", escape(more))
    return text + "".join(_wide("note bad", f"{escape(x.text)}.") for x in advice)


def _between(places: Places, file: str, first: int, end: int) -> Iterator[str]:
    """Yield rows for the lines that cost nothing, without most of a long part."""
    numbers = list(range(first, end))
    if len(numbers) > _MOST_BETWEEN:
        yield _wide("note", "...")
        return
    for number in numbers:
        text = escape(places.text(file, number))
        yield (
            f'<tr><td></td><td class="l">{number}</td><td class="s none">{text}</td>'
            + "<td></td>" * len(_NUMBERS)
            + "</tr>"
        )


def _source(kernel: KernelCost, places: Places) -> str:
    rows, file, last = [_HEAD], "", 0
    for line in kernel.lines:
        if line.file != file:
            file = line.file
            shown = path_html(words.shown_path(file))
            rows.append(
                f'<tr class="file"><td></td><td colspan="{len(_NUMBERS) + 2}">{shown}'
                "</td></tr>"
            )
        elif line.line > last + 1:
            rows += _between(places, file, last + 1, line.line)
        last = line.line
        advice = [
            each
            for each in kernel.advice
            if (each.file, each.line) == (line.file, line.line)
        ]
        rows.append(_row(kernel, line, advice))
    return f'<div class="scroll"><table class="cost">{"".join(rows)}</table></div>'


_NOTE = (
    "A bar is the share of the line that has most. Instructions are those of warps, "
    "estimated for machine code. Loads and stores: sectors of 32 bytes for each "
    "request of a warp to global memory. Shared: wavefronts for each request to shared "
    "memory."
)


def _key() -> str:
    bars = " &ensp; ".join(f'<i class="{kind}"></i>{name}' for kind, name, _ in _KINDS)
    return f'<p class="note key">{bars}</p><p class="note">{_NOTE}</p>'


def _kernel(kernel: KernelCost, number: int, places: Places) -> str:
    advice = "".join(
        f'<p class="advice">{escape(each.text)}.</p>'
        for each in kernel.advice
        if not each.file
    )
    return (
        f'<h2 id="kernel{number}">{_title(kernel)}</h2>{_note(kernel)}{_tiles(kernel)}'
        f"{advice}{_source(kernel, places) if kernel.lines else ''}"
    )


def _item(kernel: KernelCost, number: int) -> str:
    kinds = ", ".join(dict.fromkeys(each.kind for each in kernel.advice))
    return (
        f'<li><a href="#kernel{number}">{_title(kernel)}</a>: '
        f"{words.number_text(kernel.instructions)} warp instructions, "
        f"{bytes_text(kernel.moved)} moved{f'; {kinds}' if kinds else ''}</li>"
    )


def page_of(kernels: list[KernelCost], places: Places) -> str:
    """Return the page."""
    body = ["<h1>Cost by line</h1>", _STYLE]
    if len(kernels) > 1:
        items = "".join(_item(each, number) for number, each in enumerate(kernels))
        body.append(f'<ul class="kernels">{items}</ul>')
    body.append(_key())
    body += [_kernel(each, number, places) for number, each in enumerate(kernels)]
    return page("Cost by line", "".join(body))
