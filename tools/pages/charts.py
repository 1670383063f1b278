"""The directive ``chart``: results of the benchmarks as pictures.

``bench/recorded`` has what the programs in ``bench`` wrote with ``--json``. A chart is
drawn when the page is built, as SVG whose colours follow the theme, light or dark.
"""

import datetime
import html
import io
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

RECORDED = Path(__file__).resolve().parents[2] / "bench" / "recorded"

#: Colours that the theme decides: the colour in the drawing -> the theme's variable.
THEME = {
    "#010203": "var(--pst-color-text-base)",
    "#010204": "var(--pst-color-border)",
    "#010205": "var(--pst-color-primary)",
}
TEXT, GRID, OURS = THEME
#: Names and colours of what is measured. These colours are readable on both grounds.
SUBJECTS = {
    "floor": ("driver, from C", "#94a3b8"),
    "ours": ("here", OURS),
    "cupy": ("CuPy", "#d97706"),
    "torch": ("PyTorch", "#8b5cf6"),
    "cuda.core": ("cuda.core", "#0ea5e9"),
    "numba": ("Numba", "#ec4899"),
}

#: Operations that the first two charts show, with their titles.
OPERATIONS = {
    "x + y": "x + y",
    "2 * x + 3 * y - x * y": "2x + 3y − xy",
    "exp": "exp(x)",
    "X + row": "X + row",
    "sum": "sum(x)",
    "argmax": "argmax(x)",
    "cumsum": "cumsum(x)",
    "x[mask]": "x[mask]",
    "x[idx]": "x[indices]",
    "sort, float32": "sort(x)",
    "concatenate": "concatenate",
    "Y.T, a copy": "copy of Y.T",
    "Y @ Y": "Y @ Y",
    "fft, complex64": "fft(z)",
}
SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pycuda",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": TEXT,
    "axes.edgecolor": GRID,
    "axes.labelcolor": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "legend.frameon": False,
}


# -- drawing ---------------------------------------------------------------------------


def new_axes(height):
    """Return a figure and its axes. On a phone it is as wide as the window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, height), layout="constrained")
    return figure, figure.add_subplot()


def draw_bars(rows, subjects, label):
    """Draw groups of horizontal bars; a row is a title and {subject: value}."""
    figure, axes = new_axes(0.6 + 0.14 * len(rows) * (len(subjects) + 1))
    thickness = 0.8 / len(subjects)
    for place, subject in enumerate(subjects):
        name, colour = SUBJECTS[subject]
        found = [(y, row[subject]) for y, (_, row) in enumerate(rows) if subject in row]
        offset = (place - (len(subjects) - 1) / 2) * thickness
        axes.barh(
            [y + offset for y, _ in found],
            [value for _, value in found],
            thickness,
            color=colour,
            label=name,
        )
        for y, value in found:
            text = f" {value:,.0f}" if value >= 100 else f" {value:.1f}"
            axes.text(value, y + offset, text, va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [title for title, _ in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.margins(x=0.08)
    axes.set_xlabel(label)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=len(subjects))
    return figure, axes


def operations(result, size):
    """Return the rows of some operations, [(title, {subject: seconds}, row)]."""
    rows = {row["name"]: row for row in result["rows"] if row["size"] == size}
    return [
        (title, rows[name]["seconds"], rows[name])
        for name, title in OPERATIONS.items()
        if name in rows
    ]


def draw_small(result):
    """Microseconds per operation on 2**14 elements."""
    rows = [
        (title, {name: 1e6 * value for name, value in seconds.items()})
        for title, seconds, _ in operations(result, 2**14)
    ]
    subjects = ["ours", "cupy", "torch"]
    return draw_bars(rows, subjects, "microseconds per call (shorter is better)")[0]


def draw_large(result):
    """Bytes moved per second by operations on 2**28 elements."""
    rows = []
    for title, seconds, row in operations(result, 2**28):
        if not row.get("moved"):
            continue
        moved = row["moved"] * seconds["ours"]
        rows.append((title, {k: moved / value / 1e9 for k, value in seconds.items()}))
    subjects = ["ours", "cupy", "torch"]
    label = "10⁹ bytes read and written per second (longer is better)"
    figure, axes = draw_bars(rows, subjects, label)
    copy = result["copies"][str(2**28)] / 1e9
    axes.axvline(copy, color=TEXT, linewidth=1, linestyle="--")
    axes.text(copy, -0.6, "copy ", ha="right", fontsize=8)
    return figure


def draw_all(result):
    """The time of the faster other package over ours, for all operations, sorted."""
    figure, axes = new_axes(3.4)
    for size, style in ((2**14, ":"), (2**22, "--"), (2**28, "-")):
        ratios = sorted(1 / row["ratio"] for row in at_size(result, size))
        share = [100 * (k + 0.5) / len(ratios) for k in range(len(ratios))]
        exponent = size.bit_length() - 1
        label = f"2^{exponent} elements, {len(ratios)} operations"
        axes.plot(share, ratios, style, color=OURS, label=label)
    axes.axhline(1, color=TEXT, linewidth=1)
    axes.set_yscale("log", base=2)
    axes.set_yticks([0.5, 1, 2, 4, 8, 16], ["½", "1", "2", "4", "8", "16"])
    axes.set_ylim(0.5, 16)
    axes.set_xlim(0, 100)
    axes.set_xlabel("operations in the order of this ratio, per cent")
    axes.set_ylabel("times as fast as the\nfaster of CuPy and PyTorch")
    axes.legend(loc="upper left")
    return figure


def at_size(result, size):
    return [r for r in result["rows"] if r["size"] == size and r.get("ratio")]


#: Charts: name -> (file in bench/recorded, function).
CHARTS = {
    "all-operations": ("wide.json", draw_all),
    "small-arrays": ("wide.json", draw_small),
    "large-arrays": ("wide.json", draw_large),
}


# -- the page --------------------------------------------------------------------------


def svg(figure):
    """Return a figure as SVG in the colours of the theme, without a fixed size."""
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = re.sub(r"^.*?(?=<svg)", "", file.getvalue(), flags=re.DOTALL)
    for colour, variable in THEME.items():
        text = text.replace(colour, variable)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    return re.sub(r' (width|height)="[\d.]+pt"', "", text, count=2)


def unique_ids(text, prefix):
    """Return SVG whose ids differ from those of the other charts of the page."""
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}-", text)


def origin(result):
    """Return the machine, the versions and the day of a result."""
    names = {name: label for name, (label, _) in SUBJECTS.items()}
    versions = result.get("versions", result.get("peers", {}))
    told = [
        f"{names[name]} {version.partition('+')[0]}"
        for name, version in versions.items()
        if name in names and name != "ours"
    ]
    day = datetime.datetime.fromisoformat(result["environment"]["date"])
    device = result.get("device") or result.get("cpu")
    return ", ".join([device, *told, f"{day.day} {day:%B %Y}"])


class Chart(SphinxDirective):
    """A chart of CHARTS, with its machine and day; the content is the caption."""

    required_arguments = 1
    has_content = True

    def run(self):
        import matplotlib

        name = self.arguments[0]
        if name not in CHARTS:
            raise self.error(
                f"there is no chart {name!r}; there are {', '.join(CHARTS)}"
            )
        file, draw = CHARTS[name]
        path = RECORDED / file
        self.env.note_dependency(str(path))
        self.env.note_dependency(__file__)
        result = json.loads(path.read_text(encoding="utf-8"))
        with matplotlib.rc_context(SETTINGS):
            picture = unique_ids(svg(draw(result)), name)
        caption = " ".join(self.content)
        text = html.escape(f"{caption} {origin(result)}.")
        label = html.escape(caption, quote=True)
        picture = picture.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
        body = (
            f'<figure class="chart">{picture}<figcaption>{text}</figcaption></figure>'
        )
        return [nodes.raw("", body, format="html")]


def setup(app):
    app.add_directive("chart", Chart)
    return {"parallel_read_safe": True}
