"""Pictures of graphs: ``Graph.to_dot`` and ``Graph._repr_svg_``.

Nodes are placed in layers: a node is below all nodes that it waits for. Within a layer,
nodes are ordered by the mean place of the nodes that they wait for, which avoids most
crossings. An edge that passes layers has a place of its own in each of them. Bodies of
conditional nodes and children are drawn inside a frame.
"""

from __future__ import annotations

from html import escape
from typing import Any, NamedTuple

#: Sizes in pixels: of a character, a line, the space around text and between nodes.
_CHARACTER, _LINE, _PADDING, _GAP, _ROW = 7.2, 16, 10, 24, 34

#: The colour of a node by its type.
_COLOURS = {
    "kernel": "#d7ecd9",
    "fused": "#d7ecd9",
    "copy": "#d9e6f7",
    "set": "#d9e6f7",
    "host": "#f9e4c8",
    "child": "#efefef",
    "alloc": "#f6f0d2",
    "free": "#f6f0d2",
    "batch": "#d9e6f7",
    "conditional": "#f3e2f3",
}
_PLAIN = "#f7f7f7"


class Box(NamedTuple):
    """A drawn graph or node: its size, and SVG relative to its upper left corner."""

    width: float
    height: float
    svg: str


def _label(node: Any) -> list[str]:
    """Return the lines of text of a node."""
    lines: list[str] = node.name.split("\n")
    if node.type == "kernel":
        grid, block = (_dims(dims) for dims in (node.grid, node.block))
        noun = "block" if grid == "1" else "blocks"
        lines.append(f"{grid} {noun} of {block}")
    return lines


def _dims(dims: tuple[int, int, int]) -> str:
    sizes = list(dims)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return "×".join(map(str, sizes))  # noqa: RUF001 - a multiplication sign


def _short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# -- dot -------------------------------------------------------------------------------


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _dot_lines(graph: Any, prefix: str, indent: str) -> list[str]:
    lines = []
    names = {}
    for number, node in enumerate(graph.nodes):
        name = names[node] = f"{prefix}{number}"
        label = "\\n".join(_quoted(line) for line in _label(node))
        colour = _COLOURS.get(node.type, _PLAIN)
        lines.append(
            f'{indent}{name} [shape=box style="filled,rounded" '
            f'fillcolor="{colour}" label="{label}"];'
        )
        for place, body in enumerate(node.bodies):
            inner = f"{name}_{place}_"
            lines.append(f"{indent}subgraph cluster_{inner} {{")
            lines.append(f'{indent}    label="{node.name} {number}, body {place}";')
            lines += _dot_lines(body, inner, indent + "    ")
            lines.append(f"{indent}}}")
            if body.nodes:
                lines.append(f"{indent}{name} -> {inner}0 [style=dashed];")
    lines += [f"{indent}{names[a]} -> {names[b]};" for a, b in graph.edges]
    return lines


def to_dot(graph: Any) -> str:
    """Return the graph in the language of Graphviz."""
    return "\n".join(["digraph graph_ {", *_dot_lines(graph, "n", "    "), "}"]) + "\n"


# -- SVG -------------------------------------------------------------------------------


def _depths(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """Return the layer of each node: behind those of all nodes that it waits for."""
    after: list[list[int]] = [[] for _ in range(count)]
    open_edges = [0] * count
    for a, b in edges:
        after[a].append(b)
        open_edges[b] += 1
    depth = [0] * count
    ready = [n for n in range(count) if not open_edges[n]]
    for n in ready:  # grows while it is read
        for m in after[n]:
            depth[m] = max(depth[m], depth[n] + 1)
            open_edges[m] -= 1
            if not open_edges[m]:
                ready.append(m)
    return depth


def _layers(
    count: int, edges: list[tuple[int, int]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the nodes of each layer, so that few edges cross, and the edges.

    An edge is a list: its nodes, and between them a number of ``count`` and above for
    each layer that the edge passes.
    """
    depth = _depths(count, edges)
    paths = []
    for a, b in edges:
        passed = range(len(depth), len(depth) + depth[b] - depth[a] - 1)
        depth += range(depth[a] + 1, depth[b])
        paths.append([a, *passed, b])
    before: list[list[int]] = [[] for _ in depth]
    for path in paths:
        for a, b in zip(path, path[1:], strict=False):
            before[b].append(a)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for n, layer in enumerate(depth):
        layers[layer].append(n)
    place = [0.0] * len(depth)
    for members in layers:
        members.sort(
            key=lambda n: (
                sum(place[m] for m in before[n]) / len(before[n]) if before[n] else n
            )
        )
        for i, n in enumerate(members):
            place[n] = i - (len(members) - 1) / 2
    return layers, paths


def _rectangle(width: float, height: float, fill: str, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="6" fill="{fill}" '
        f'stroke="#555"{dashed}/>'
    )


def _text(lines: list[str], width: float) -> str:
    return "".join(
        f'<text x="{width / 2:.0f}" y="{_PADDING + _LINE * i + 12}" '
        f'text-anchor="middle">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )


def _moved(box: Box, x: float, y: float) -> str:
    return f'<g transform="translate({x:.0f},{y:.0f})">{box.svg}</g>'


def _node_box(node: Any) -> Box:
    lines = [_short(line) for line in _label(node)]
    bodies = [_graph_box(body) for body in node.bodies]
    width = max(len(line) for line in lines) * _CHARACTER + 2 * _PADDING
    inside = sum(body.width for body in bodies) + _GAP * max(len(bodies) - 1, 0)
    width = max(width, inside + 2 * _PADDING)
    top = _LINE * len(lines) + _PADDING
    height: float = top + _PADDING
    parts = []
    if bodies:
        x = (width - inside) / 2
        for body in bodies:
            frame = _rectangle(body.width, body.height, "#ffffff", "4 3")
            parts.append(_moved(Box(0, 0, frame + body.svg), x, top + 4))
            x += body.width + _GAP
        height += max(body.height for body in bodies) + 4
    colour = _COLOURS.get(node.type, _PLAIN)
    svg = _rectangle(width, height, colour) + _text(lines, width) + "".join(parts)
    return Box(width, height, svg)


def _edge(
    path: list[int], boxes: list[Box], places: dict[int, tuple[float, float]]
) -> str:
    """Draw an edge through the places of the layers that it passes."""
    bend = _ROW / 2
    line = ""
    for a, b in zip(path, path[1:], strict=False):
        x1 = places[a][0] + boxes[a].width / 2
        y1 = places[a][1] + boxes[a].height
        x2, y2 = places[b][0] + boxes[b].width / 2, places[b][1]
        end = y2 - 5 if b == path[-1] else y2
        line += f"{'L' if line else 'M'}{x1:.0f},{y1:.0f} "
        line += f"C{x1:.0f},{y1 + bend:.0f} {x2:.0f},{y2 - bend:.0f} {x2:.0f},{end:.0f}"
    return (
        f'<path d="{line}" fill="none" stroke="#555" marker-end="url(#pycuda-arrow)"/>'
    )


def _graph_box(graph: Any) -> Box:
    """Draw the nodes and edges of a graph, without a frame."""
    nodes = list(graph.nodes)
    if not nodes:
        width = len("empty graph") * _CHARACTER + 2 * _PADDING
        return Box(width, _LINE + 2 * _PADDING, _text(["empty graph"], width))
    numbers = {node: i for i, node in enumerate(nodes)}
    edges = [(numbers[a], numbers[b]) for a, b in graph.edges]
    layers, paths = _layers(len(nodes), edges)
    boxes = [_node_box(node) for node in nodes]
    boxes += [Box(0, 0, "")] * (sum(map(len, layers)) - len(nodes))
    widths = [sum(boxes[n].width + _GAP for n in layer) - _GAP for layer in layers]
    width = max(widths) + 2 * _PADDING
    places: dict[int, tuple[float, float]] = {}
    y: float = _PADDING
    for layer, layer_width in zip(layers, widths, strict=True):
        x = (width - layer_width) / 2
        tall = max(boxes[n].height for n in layer)
        for n in layer:
            if n >= len(nodes):  # an edge passes the whole layer
                boxes[n] = Box(0, tall, "")
            places[n] = (x, y)
            x += boxes[n].width + _GAP
        y += tall + _ROW
    height = y - _ROW + _PADDING
    parts = [_edge(path, boxes, places) for path in paths]
    parts += [_moved(box, *places[n]) for n, box in enumerate(boxes[: len(nodes)])]
    return Box(width, height, "".join(parts))


def to_svg(graph: Any) -> str:
    """Return a picture of the graph as SVG."""
    box = _graph_box(graph)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{box.width:.0f}" '
        f'height="{box.height:.0f}" font-family="monospace" font-size="12">'
        '<defs><marker id="pycuda-arrow" markerWidth="8" markerHeight="8" refX="3" '
        'refY="3" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#555"/></marker>'
        f"</defs>{box.svg}</svg>"
    )
