"""What the HTML pages and pictures of the package share: colours, numbers, the frame.

A page is one file without references to other files. It follows the light or dark
scheme of the browser. Colours are classes ``c0`` to ``c9``, and ``rest``, of the style
in :data:`STYLE`, so a picture inside a page changes with it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

#: Colours of series in the light and the dark scheme. Neighbours differ in lightness,
#: so that they can be told apart without colour vision.
_LIGHT = (
    *("4269d0", "efb118", "ff725c", "6cc5b0", "3ca951"),
    *("ff8ab7", "a463f2", "97bbf5", "9c6b4e", "9498a0"),
)
_DARK = (
    *("6f8ee0", "f2c14e", "ff8a75", "7fd3bf", "5cc072"),
    *("ff9dc4", "b785f5", "a9c8f8", "b98a6c", "a5a9b3"),
)

_SERIES_LIGHT = "".join(f".c{i}{{fill:#{c}}}" for i, c in enumerate(_LIGHT))
_SERIES_DARK = "".join(f".c{i}{{fill:#{c}}}" for i, c in enumerate(_DARK))

#: The style of pictures: usable inside an SVG file and inside a page.
PICTURE_STYLE = f"""
.pycuda-picture{{--paper:#fff;--ink:#1b1f24;--soft:#5b6470;--line:#e3e6ea;
--rest:#c9ced6;background:var(--paper);font-family:system-ui,-apple-system,"Segoe UI",
Roboto,"Helvetica Neue",Arial,sans-serif}}
.pycuda-picture text{{fill:var(--soft);font-size:11.5px}}
.pycuda-picture text.strong{{fill:var(--ink);font-size:13px;font-weight:600}}
.pycuda-picture .grid{{stroke:var(--line);stroke-width:1}}
.pycuda-picture .limit{{stroke:var(--soft);stroke-width:1;stroke-dasharray:4 4}}
.pycuda-picture .rest{{fill:var(--rest)}}
{_SERIES_LIGHT}
@media (prefers-color-scheme:dark){{
.pycuda-picture{{--paper:#14171b;--ink:#e8eaed;--soft:#9aa3ad;--line:#2b3037;
--rest:#4a515b}}
{_SERIES_DARK}
}}"""

#: The style of pages.
STYLE = f"""
:root{{color-scheme:light dark;--paper:#fff;--panel:#f6f7f9;--ink:#1b1f24;
--soft:#5b6470;--line:#e3e6ea;--accent:#2f5fd0;--rest:#c9ced6}}
@media (prefers-color-scheme:dark){{:root{{--paper:#14171b;--panel:#1c2026;
--ink:#e8eaed;--soft:#9aa3ad;--line:#2b3037;--accent:#7ea2ff;--rest:#4a515b}}}}
.rest{{fill:var(--rest)}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 system-ui,
-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}}
main{{max-width:1240px;margin:0 auto;padding:24px 28px 56px}}
h1{{font-size:22px;margin:0 0 2px}}
h2{{font-size:15px;margin:32px 0 8px}}
p.note{{color:var(--soft);margin:0 0 12px;max-width:80ch}}
.tiles{{display:flex;flex-wrap:wrap;gap:10px;margin:18px 0}}
.tile{{background:var(--panel);border:1px solid var(--line);border-radius:8px;
padding:10px 14px;min-width:132px}}
.tile b{{display:block;font-size:19px;font-weight:600;
font-variant-numeric:tabular-nums}}
.tile span{{color:var(--soft);font-size:12px}}
.scroll{{overflow-x:auto;border:1px solid var(--line);border-radius:8px}}
table{{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}}
th{{text-align:left;font-weight:600;color:var(--soft);font-size:12px;
background:var(--panel);white-space:nowrap}}
th,td{{padding:6px 12px;border-bottom:1px solid var(--line);vertical-align:top}}
tr:last-child td{{border-bottom:0}}
td.n,th.n{{text-align:right;white-space:nowrap}}
td code,.path{{font:12.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
overflow-wrap:anywhere}}
td .dir{{color:var(--soft)}}
td.bar{{width:160px;min-width:90px}}
td.bar i{{display:block;height:9px;margin-top:6px;border-radius:2px;
background:var(--accent)}}
.swatch{{display:inline-block;width:10px;height:10px;border-radius:2px;
margin-right:7px}}
.picture{{border:1px solid var(--line);border-radius:8px;overflow:hidden;
margin:0 0 12px}}
.picture svg{{display:block;width:100%;height:auto}}
{PICTURE_STYLE}"""


def encodable(text: str) -> str:
    """Return a text that UTF-8 can encode.

    Bytes in names of files that are no characters become U+FFFD. In the locale C, all
    characters but ASCII are such bytes for Python, and get their meaning in UTF-8.
    """
    if text.isascii():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that is not from a name of a file
        data = text.encode("utf-8", "replace")
    return data.decode("utf-8", "replace")


def bytes_text(size: float) -> str:
    """Return a number of bytes for readers, such as ``1.5 GiB``."""
    sign, size = ("-", -size) if size < 0 else ("", size)
    if size < 1024:
        return f"{sign}{size:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1023.95:
            return f"{sign}{size:.1f} {unit}"
    return f"{sign}{size / 1024:.1f} TiB"


def time_text(nanoseconds: float) -> str:
    """Return a time for readers, such as ``12.3 ms``."""
    if nanoseconds < 999.5:
        return f"{nanoseconds:.0f} ns"
    for unit in ("µs", "ms"):
        nanoseconds /= 1000
        if nanoseconds < 999.95:
            return f"{nanoseconds:.1f} {unit}"
    return f"{nanoseconds / 1000:.2f} s"


def path_html(path: str | None, line: int = 0) -> str:
    """Return a file and its line: the folder is less visible than the name."""
    if path is None:
        return "an unknown line"
    folder, slash, name = path.rpartition("/")
    head = f'<span class="dir">{escape(folder + slash)}</span>'
    tail = f":{line}" if line else ""
    return f"<code>{head}{escape(name)}{tail}</code>"


def table_html(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()
) -> str:
    """Return a table. The cells are HTML. ``numbers``: columns of numbers."""
    right = set(numbers)

    def cell(tag: str, i: int, text: str) -> str:
        kind = ' class="n"' if i in right else ""
        if text.startswith("<i "):
            kind = ' class="bar"'
        return f"<{tag}{kind}>{text}</{tag}>"

    lines = ["<tr>" + "".join(cell("th", i, t) for i, t in enumerate(heads)) + "</tr>"]
    for row in rows:
        lines.append("<tr>" + "".join(cell("td", i, t) for i, t in enumerate(row)))
        lines[-1] += "</tr>"
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def bar_html(share: float) -> str:
    """Return a bar for the last column of a table; ``share`` is 0 to 1."""
    return f'<i style="width:{max(0.0, min(1.0, share)) * 100:.1f}%"></i>'


def tiles_html(tiles: Iterable[tuple[str, str]]) -> str:
    """Return a row of numbers, each with its name below."""
    cells = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for value, name in tiles
    )
    return f'<div class="tiles">{cells}</div>'


def page(title: str, body: str, script: str = "") -> str:
    """Return a complete page."""
    tail = f"<script>{script}</script>" if script else ""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f"<body><main>{body}</main>{tail}</body></html>\n"
    )


def frame_html(text: str, height: int = 640) -> str:
    """Return a page inside of a frame, for the output of a notebook."""
    data = base64.b64encode(encodable(text).encode()).decode()
    return (
        f'<iframe src="data:text/html;base64,{data}" width="100%" height="{height}" '
        'style="border:0"></iframe>'
    )
