"""Pictures of fused functions: ``FusedFunction.to_svg``.

Kernels, calls and arrays are nodes of a graph, which ``pycuda._graph_picture`` draws. A
kernel has a frame with its operations. An array that changes has a node for each state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pycuda.fuse._rows as rows
from pycuda import _graph_picture
from pycuda.fuse._group import Plan
from pycuda.fuse._instructions import (
    Compute,
    Few,
    Join,
    Kernel,
    Load,
    Reduce,
    Repeat,
    Store,
)
from pycuda.fuse._program import Call, Result, Same, Scalar, map_tree

#: The operations of a larger kernel are only counted.
MOST_DRAWN = 40


@dataclass(eq=False)
class _Node:
    """A node: its lines of text, its kind, and the graphs inside."""

    name: str
    type: str
    bodies: list[_Graph] = field(default_factory=list)


@dataclass(eq=False)
class _Graph:
    """Nodes and edges."""

    nodes: list[_Node] = field(default_factory=list)
    edges: list[tuple[_Node, _Node]] = field(default_factory=list)

    def add(self, node: _Node, before: Iterable[_Node]) -> _Node:
        """Add a node behind others."""
        self.nodes.append(node)
        self.edges += [(each, node) for each in dict.fromkeys(before)]
        return node


def to_svg(plan: Plan, arguments: list[str], result: Any) -> str:
    """Return a picture of a plan. ``arguments`` are the names of its arrays."""
    names = _names(plan, arguments, result)
    graph = _Graph()
    arrays: dict[int, _Node] = {}

    def array(block: int, before: Iterable[_Node] = ()) -> _Node:
        """Add the next state of an array."""
        text = f"{names[block]}\n{plan.blocks[block].size:,} bytes"
        arrays[block] = graph.add(_Node(text, "alloc"), before)
        return arrays[block]

    kernels = 0
    for step in plan.steps:
        if isinstance(step, Kernel):
            node = _kernel(step, kernels, names)
            kernels += 1
        else:
            name = getattr(step.function, "__name__", str(step.function))
            node = _Node(name, "host")
        read, written = _blocks(step)
        graph.add(node, [arrays.get(block) or array(block) for block in read])
        for block in written:
            array(block, [node])
    return _graph_picture.to_svg(graph)


def _names(plan: Plan, arguments: list[str], result: Any) -> dict[int, str]:
    """Return the names of the blocks."""
    names = {}
    for number, block in enumerate(plan.blocks):
        names[number] = {"constant": "constant"}.get(block.kind, "temporary")
        if block.kind == "argument":
            names[number] = arguments[block.source]
    results: list[int] = []

    def note(leaf: Any) -> Any:
        if isinstance(leaf, (Result, Same)):
            results.append(leaf.place.block if isinstance(leaf, Result) else leaf.block)
        return leaf

    map_tree(note, result)
    for k, number in enumerate(results):
        if plan.blocks[number].kind == "temporary":
            names[number] = "result" if len(results) == 1 else f"result {k}"
    return names


def _blocks(step: Kernel | Call) -> tuple[list[int], list[int]]:
    """Return the blocks that a step reads and writes."""
    if isinstance(step, Call):
        read = [place.block for place in (*step.reads, *step.writes)]
        written = [place.block for place in (*step.writes, *step.outputs)]
    else:
        every = [*step.before, *step.instructions]
        read = [access.block for access in rows.loads(every)]
        read += [each.block for each in step.before if isinstance(each, Join)]
        written = [e.access.block for e in step.instructions if isinstance(e, Store)]
        parts = list(step.partial.values())
        read, written = (
            (read + parts, written) if step.joins else (read, written + parts)
        )
    return list(dict.fromkeys(read)), list(dict.fromkeys(written))


def _kernel(kernel: Kernel, number: int, names: dict[int, str]) -> _Node:
    """Return the node of a kernel, with its operations."""
    lines = [
        f"kernel {number}",
        f"{' x '.join(map(str, kernel.shape)) or 1} elements, {kernel.bytes:,} bytes",
    ]
    node = _Node("\n".join(lines), "fused")
    if kernel.operations > MOST_DRAWN:
        node.name += f"\n{kernel.operations} operations"
        return node
    body = _Graph()
    _draw(body, [*kernel.before, *kernel.instructions], names, {})
    node.bodies.append(body)
    return node


def _draw(
    graph: _Graph,
    instructions: Iterable[Any],
    names: dict[int, str],
    made: dict[int, _Node],
) -> None:
    """Add the nodes of instructions. ``made`` has the nodes of variables."""
    for each in instructions:
        node = _instruction(each, names)
        if node is None:
            continue
        used = [made[variable] for variable in rows.sources(each) if variable in made]
        graph.add(node, used)
        made.update(dict.fromkeys(rows.targets(each), node))


def _instruction(each: Any, names: dict[int, str]) -> _Node | None:
    """Return the node of an instruction; one that computes indices has none."""
    if isinstance(each, Load):
        return _Node(f"load {names[each.access.block]}", "alloc")
    if isinstance(each, Store):
        return _Node(f"store {names[each.access.block]}", "alloc")
    if isinstance(each, (Reduce, Few, Join)):
        return _Node(each.reduction.name, "reduction")
    if isinstance(each, Compute):
        return _Node(_operation(each), "operation")
    if isinstance(each, Repeat):
        body = _Graph()
        _draw(body, each.body, names, {})
        return _Node(f"{each.count} turns", "conditional", [body])
    return None


def _operation(each: Compute) -> str:
    """Return the name of an operation, with the numbers that it gets."""
    numbers = [
        str(np.frombuffer(argument.data, argument.dtype)[0])
        for argument in each.arguments
        if isinstance(argument, Scalar) and argument.dtype != "bfloat16"
    ]
    return f"{each.operation.name} {', '.join(numbers)}".strip()
