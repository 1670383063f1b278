"""Draw the diagrams of the chapters: python tools/diagrams.py [FOLDER].

The directive ``diagram`` of doc/conf.py puts the SVG into the HTML of a page. So a
diagram takes the colour of its text from the page, and is readable on a light and on a
dark background. Boxes are filled with transparent colours for the same reason.
"""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "doc" / "diagrams"

#: Colours that are visible on white and on black.
BLUE, GREEN, ORANGE, PURPLE, RED, GREY = (
    "#3f83cf", "#3c9a56", "#cf7f22", "#9b68cc", "#d5504a", "#858585",
)  # fmt: skip
TEXT = "currentColor"
SIZE = 14  # of the text, in units of the picture


class Diagram:
    """A picture: boxes, lines, arrows and texts."""

    def __init__(self, name, width, height, description):
        self.name = name
        self.root = ET.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {width} {height}",
                "role": "img",
                "aria-label": description,
                "font-family": "sans-serif",
                "font-size": str(SIZE),
                # On a narrow screen the page scrolls the picture sideways.
                "style": f"display:block;width:100%;min-width:{width * 3 // 4}px;"
                f"max-width:{width}px;height:auto;margin:auto;background:none",
            },
        )
        defs = ET.SubElement(self.root, "defs")
        marker = ET.SubElement(
            defs,
            "marker",
            {
                "id": f"{name}-arrow",
                "markerWidth": "9",
                "markerHeight": "8",
                "refX": "7",
                "refY": "4",
                "orient": "auto",
                "markerUnits": "userSpaceOnUse",
            },
        )
        ET.SubElement(marker, "path", {"d": "M0 0 L9 4 L0 8 z", "fill": GREY})

    def box(self, x, y, width, height, colour=GREY, text="", fill=0.2, dash=False):
        """Draw a rectangle, with lines of text in its middle."""
        attributes = {
            "x": str(x),
            "y": str(y),
            "width": str(width),
            "height": str(height),
            "rx": "3",
            "fill": colour,
            "fill-opacity": str(fill),
            "stroke": colour,
            "stroke-width": "1.2",
        }
        if dash:
            attributes["stroke-dasharray"] = "5 3"
        ET.SubElement(self.root, "rect", attributes)
        if text:
            lines = text.split("\n")
            top = y + height / 2 + SIZE * 0.36 - (len(lines) - 1) * SIZE * 0.62
            for number, line in enumerate(lines):
                place = round(top + number * SIZE * 1.24, 1)
                self.text(x + width / 2, place, line, anchor="middle")

    def text(self, x, y, text, anchor="start", colour=TEXT, code=False, bold=False):
        attributes = {"x": f"{x:g}", "y": f"{y:g}", "fill": colour}
        if anchor != "start":
            attributes["text-anchor"] = anchor
        if code:
            attributes |= {"font-family": "monospace", "font-size": str(SIZE - 1)}
        if bold:
            attributes["font-weight"] = "bold"
        ET.SubElement(self.root, "text", attributes).text = text

    def line(self, *points, colour=GREY, arrow=False, dash=False):
        """Draw a line through points, which are pairs."""
        path = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
        attributes = {
            "d": path,
            "fill": "none",
            "stroke": colour,
            "stroke-width": "1.4",
        }
        if arrow:
            attributes["marker-end"] = f"url(#{self.name}-arrow)"
        if dash:
            attributes["stroke-dasharray"] = "4 3"
        ET.SubElement(self.root, "path", attributes)

    def markup(self):
        """Return the text of the file."""
        ET.indent(self.root, " ")
        return ET.tostring(self.root, encoding="unicode") + "\n"


def grid():
    """A grid of blocks, a block of threads, and its two warps."""
    d = Diagram(
        "grid",
        720,
        330,
        "A grid of 3 x 2 blocks. One block has 16 x 4 threads: two warps of 32.",
    )
    d.text(10, 22, "the grid", bold=True)
    d.text(82, 22, "grid=(3, 2)", code=True)
    for y in range(2):
        for x in range(3):
            chosen = (x, y) == (2, 1)
            d.box(
                10 + 84 * x,
                38 + 62 * y,
                76,
                54,
                ORANGE if chosen else GREY,
                f"block\n({x}, {y})",
                0.35 if chosen else 0.12,
            )
    left, top, cell = 330, 38, 23
    d.text(left, 22, "one block", bold=True)
    d.text(left + 86, 22, "block=(16, 4, 1)", code=True)
    d.line((256, 127), (left - 8, top + 2 * cell), dash=True, arrow=True)
    for y in range(4):
        for x in range(16):
            chosen = (x, y) == (5, 2)
            colour = ORANGE if chosen else (BLUE if y < 2 else GREEN)
            d.box(
                left + cell * x,
                top + cell * y,
                cell - 3,
                cell - 3,
                colour,
                "",
                0.9 if chosen else 0.22,
            )
    d.text(left, 156, "■", colour=BLUE)
    d.text(left + 18, 156, "warp 0: rows 0 and 1, 32 threads")
    d.text(left, 178, "■", colour=GREEN)
    d.text(left + 18, 178, "warp 1: rows 2 and 3, 32 threads")
    d.text(left, 200, "■", colour=ORANGE)
    d.text(left + 18, 200, "the thread with threadIdx.x = 5, threadIdx.y = 2")
    d.line((10, 222), (710, 222))
    d.text(10, 248, "The place of this thread in the whole grid:")
    d.text(
        10,
        274,
        "x = blockIdx.x * blockDim.x + threadIdx.x = 2 * 16 + 5 = 37",
        code=True,
    )
    d.text(
        10,
        296,
        "y = blockIdx.y * blockDim.y + threadIdx.y = 1 * 4 + 2 = 6",
        code=True,
    )
    d.text(10, 320, "The 32 threads of a warp execute the same instruction together.")
    return d


def memory():
    """The memories of host and device, one above the other: it fits a narrow screen."""
    d = Diagram(
        "memory",
        360,
        540,
        "Host memory and device memory, the copies between them, and the memories of "
        "a multiprocessor: registers of each thread, shared memory of each block.",
    )
    d.text(10, 20, "host", bold=True)
    d.box(6, 28, 348, 168, GREY, fill=0.06)
    d.box(16, 38, 328, 30, GREY, "CPU, Python")
    d.box(16, 82, 118, 84, GREEN, "ordinary memory\nNumPy arrays")
    locked = "page-locked memory\npagelocked_empty,\nPageLockedMemoryPool"
    d.box(182, 82, 162, 84, BLUE, locked)
    d.line((136, 112), (180, 112), arrow=True, dash=True)
    d.line((180, 136), (136, 136), arrow=True, dash=True)
    d.text(16, 186, "dashed: the driver adds a step")
    d.line((270, 168), (270, 260), arrow=True)
    d.line((310, 260), (310, 168), arrow=True)
    d.text(262, 218, "one step", anchor="end")
    d.text(262, 238, "memcpy_*_async", anchor="end", code=True)
    d.text(10, 242, "device", bold=True)
    d.box(6, 250, 348, 284, GREY, fill=0.06)
    d.box(16, 262, 328, 50, BLUE, "global memory\nmem_alloc, GPUArray")
    d.line((180, 332), (180, 314), arrow=True)
    d.box(16, 334, 328, 30, PURPLE, "level-2 cache")
    for number, left in enumerate((16, 136)):
        d.line((left + 55, 384), (left + 55, 366), arrow=True)
        d.box(left, 386, 110, 140, PURPLE, fill=0.1)
        d.text(left + 55, 404, f"block {number}", anchor="middle")
        d.box(left + 8, 414, 94, 40, ORANGE, "registers")
        d.box(left + 8, 464, 94, 54, ORANGE, "shared\nmemory")
    d.text(258, 442, "... on 10 to")
    d.text(258, 460, "200 multi-")
    d.text(258, 478, "processors")
    return d


def timeline(d, top, label, rows, unit, left=96):
    """Draw rows of work: (name, [(start, length, colour, text), ...])."""
    d.text(10, top, label, bold=True)
    for number, (name, work) in enumerate(rows):
        y = top + 12 + 34 * number
        d.text(10, y + 18, name)
        d.line((left, y + 28), (710, y + 28))
        for start, length, colour, text in work:
            d.box(left + start * unit, y, length * unit - 2, 26, colour, text, 0.3)
    return top + 12 + 34 * len(rows)


def pieces(first, count, step, start):
    """Return copies in, kernels and copies out for numbered pieces of the data."""
    work = []
    for n in range(count):
        number, at = first + n * step, start + n * 3
        work += [
            (at, 1, BLUE, f"in {number}"),
            (at + 1, 1, ORANGE, f"run {number}"),
            (at + 2, 1, GREEN, f"out {number}"),
        ]
    return work


def streams():
    """The same work in one stream and in three."""
    d = Diagram(
        "streams",
        720,
        340,
        "Four pieces of data are copied in, computed and copied out. In one stream the "
        "twelve steps take twelve units of time. In three streams the copies run while "
        "kernels run, and they take six.",
    )
    unit = 50
    bottom = timeline(
        d, 22, "One stream: each step waits for the one before it",
        [("stream 1", pieces(1, 4, 1, 0))], unit,
    )  # fmt: skip
    d.text(710, bottom + 16, "12 steps of time", anchor="end")
    bottom = timeline(
        d, bottom + 46, "Three streams: copies run while kernels run",
        [
            ("stream 1", pieces(1, 2, 3, 0)),
            ("stream 2", pieces(2, 1, 3, 1)),
            ("stream 3", pieces(3, 1, 3, 2)),
        ],
        unit,
    )  # fmt: skip
    d.text(96 + 6 * unit, bottom + 16, "6 steps of time", anchor="end")
    d.line((96 + 6 * unit, bottom - 104), (96 + 6 * unit, bottom + 2), dash=True)
    d.line((96, bottom + 34), (706, bottom + 34), arrow=True)
    d.text(10, bottom + 38, "time")
    legend = "in: copy to the device; run: a kernel; out: copy to the host."
    d.text(96, bottom + 56, legend)
    d.text(96, bottom + 76, "Here the device does one step of each kind at a time.")
    return d


def graph():
    """From calls to a graph to launches."""
    d = Diagram(
        "graph",
        720,
        330,
        "Calls in two streams are captured as a graph of four nodes. The graph is "
        "instantiated once and launched many times.",
    )
    d.text(10, 22, "1. capture the calls", bold=True)
    lines = [
        "with s.capture() as g:",
        "    a(x, y)",
        "    fork.record(s)",
        "    t.wait_for_event(fork)",
        "    b(x, stream=t)",
        "    join.record(t)",
        "    c(y)",
        "    s.wait_for_event(join)",
        "    d(x, y)",
    ]
    for number, line in enumerate(lines):
        d.text(16, 52 + 20 * number, line.replace(" ", "\u00a0"), code=True)
    d.box(10, 34, 232, 186, GREY, fill=0.06)
    d.line((246, 127), (276, 127), arrow=True)
    d.text(280, 22, "2. the graph: work and order", bold=True)
    d.box(280, 34, 200, 186, GREY, fill=0.06)
    colours = {"a": ORANGE, "b": PURPLE, "c": BLUE, "d": ORANGE}
    places = {
        "a": (330, 46, 100), "b": (292, 106, 80),
        "c": (388, 106, 80), "d": (330, 166, 100),
    }  # fmt: skip
    for name, (x, y, width) in places.items():
        d.box(x, y, width, 34, colours[name], f"kernel {name}", 0.3)
    d.line((360, 81), (334, 104), arrow=True)
    d.line((400, 81), (426, 104), arrow=True)
    d.line((334, 141), (360, 164), arrow=True)
    d.line((426, 141), (400, 164), arrow=True)
    d.line((486, 127), (528, 127), arrow=True)
    d.text(540, 22, "3. ready to run", bold=True)
    d.box(540, 34, 170, 186, GREY, fill=0.06)
    d.box(554, 84, 142, 84, GREEN, "GraphExec\ng.instantiate()")
    d.text(10, 256, "4. launch it as often as needed, one call each", bold=True)
    d.text(10, 290, "stream s")
    d.line((96, 300), (706, 300), arrow=True)
    for number in range(4):
        x = 110 + 148 * number
        d.box(x, 268, 32, 30, colours["a"], "a", 0.3)
        d.box(x + 34, 268, 32, 14, colours["b"], "", 0.3)
        d.box(x + 34, 284, 32, 14, colours["c"], "", 0.3)
        d.box(x + 68, 268, 32, 30, colours["d"], "d", 0.3)
        d.text(x + 50, 320, f"launch {number + 1}", anchor="middle")
    return d


def capture():
    """What the host and the stream do while a graph is captured and launched."""
    d = Diagram(
        "capture",
        720,
        150,
        "A timeline. The host captures three kernels, which do not run. It prepares "
        "the graph, launches it three times and waits. The stream runs three kernels "
        "for each launch.",
    )
    d.text(6, 42, "host")
    d.text(6, 92, "stream")
    for y in (52, 102):
        d.line((70, y), (706, y))
    left = 74
    for width, colour, text in (
        (150, PURPLE, "capture: 3 kernels"),
        (90, GREEN, "instantiate"),
        (66, BLUE, "launch"),
        (66, BLUE, "launch"),
        (66, BLUE, "launch"),
        (150, GREY, "synchronize"),
    ):
        d.box(left, 24, width, 26, colour, text, 0.3)
        left += width + 4
    d.text(74, 92, "recorded only")
    for number in range(9):
        gap = 10 * (number // 3)
        d.box(350 + 30 * number + gap, 74, 27, 26, ORANGE, "k", 0.3)
    d.line((70, 122), (706, 122), arrow=True)
    d.text(6, 126, "time")
    return d


def tile():
    """A tile of an image in shared memory, with its border."""
    d = Diagram(
        "tile",
        720,
        290,
        "A block of 8 x 8 threads loads a tile of 12 x 12 pixels into shared memory: "
        "its own pixels, and a border of two pixels around them.",
    )
    d.text(10, 22, "the image, in global memory", bold=True)
    for y in range(3):
        for x in range(4):
            chosen = (x, y) == (1, 1)
            d.box(
                10 + 70 * x, 44 + 70 * y, 68, 68, ORANGE if chosen else GREY, "",
                0.35 if chosen else 0.08,
            )  # fmt: skip
    d.box(64, 98, 100, 100, BLUE, fill=0.12, dash=True)
    d.text(114, 153, "one block", anchor="middle")
    d.line((168, 148), (344, 148), arrow=True, dash=True)
    left, top, cell = 356, 34, 20
    d.text(left, 22, "the tile, in shared memory", bold=True)
    for y in range(12):
        for x in range(12):
            inside = 2 <= x < 10 and 2 <= y < 10
            d.box(
                left + cell * x, top + cell * y, cell - 2, cell - 2,
                ORANGE if inside else BLUE, "", 0.35 if inside else 0.15,
            )  # fmt: skip
    for number, (colour, lines) in enumerate(
        [(ORANGE, ("a pixel for", "each thread")), (BLUE, ("a border of", "2 pixels"))]
    ):
        y = 60 + 64 * number
        d.box(612, y - 12, 12, 12, colour, "", 0.5)
        for place, line in enumerate(lines):
            d.text(612, y + 18 + 17 * place, line)
    return d


def stream_memory():
    """What a pool does with a block that one stream reads and another one may get."""
    d = Diagram(
        "stream_memory",
        720,
        330,
        "A timeline of two streams and two blocks of a pool. A block that stream s "
        "reads is given to stream t only after the kernel in s has ended.",
    )
    for y, name in ((56, "program"), (116, "stream s"), (156, "stream t"),
                    (234, "block 1"), (284, "block 2")):  # fmt: skip
        d.text(6, y, name)
    for y in (66, 126, 166):
        d.line((84, y), (706, y))
    for x in (96, 176, 246, 336, 556):
        d.line((x, 52), (x, 66))
    for x, y, text in ((90, 26, "a = allocate()"), (160, 46, "f(a, s)"),
                       (232, 26, "del a"), (296, 46, "b = allocate(); f(b, t)"),
                       (510, 26, "c = allocate(); f(c, t)")):  # fmt: skip
        d.text(x, y, text, code=True)
    d.box(186, 98, 240, 26, BLUE, "kernel reads a", 0.3)
    d.box(346, 138, 130, 26, ORANGE, "kernel writes b", 0.3)
    d.box(566, 138, 120, 26, ORANGE, "writes c", 0.3)
    d.box(96, 216, 150, 26, BLUE, "array a", 0.3)
    d.box(248, 216, 178, 26, GREY, "free, but s reads it", 0.1, dash=True)
    d.box(428, 216, 126, 26, GREEN, "free for all", 0.3)
    d.box(556, 216, 130, 26, ORANGE, "array c", 0.3)
    d.box(336, 266, 240, 26, ORANGE, "array b: a new block", 0.3)
    d.line((427, 126), (427, 137), colour=RED, dash=True)
    d.line((427, 166), (427, 214), colour=RED, dash=True)
    d.text(434, 200, "the kernel in s has ended", colour=RED)
    d.line((84, 310), (706, 310), arrow=True)
    d.text(6, 314, "time")
    return d


DIAGRAMS = (grid, memory, streams, graph, capture, tile, stream_memory)


def main(arguments):
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for draw in DIAGRAMS:
        diagram = draw()
        path = folder / f"{diagram.name}.svg"
        path.write_text(diagram.markup(), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
