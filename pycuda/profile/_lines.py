"""The cost of a program's kernels by line: made of counts, and its report."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pycuda import _command_line, _counts, _parameter_types, driver as drv
from pycuda._page import encodable, frame_html
from pycuda.profile import _lines_html, _lines_text, _ptxas
from pycuda.profile._advice import advice_for
from pycuda.profile._costs import Builder, KernelCost, LineCost, mean_lanes
from pycuda.profile._places import Places

if TYPE_CHECKING:
    from pycuda.tools import DeviceData

#: The limits of an OccupancyRecord, as readers know them.
_LIMITS = {
    "device": "blocks",
    "warps": "threads",
    "regs": "registers",
    "smem": "shared memory",
}


# -- kernels ---------------------------------------------------------------------------


class _Occupancy:
    """The blocks of a kernel that a multiprocessor runs at once."""

    def __init__(
        self, device: DeviceData | None, function: _counts.Function, registers: int
    ) -> None:
        self.share: float | None = None
        self.limit = ""
        self.resident = function.resident
        if device is None or not function.block_size:
            return
        from pycuda.tools import OccupancyRecord

        try:
            record = OccupancyRecord(
                device, function.block_size, function.shared, registers
            )
        except ValueError:  # the driver let it run, and the figures do not
            return
        self.share, self.resident = record.occupancy, record.tb_per_mp
        self.limit = _LIMITS[record.limited_by]


def _lines(
    program: _counts.Program,
    instructions: Iterable[_counts.Instruction],
    places: Places,
) -> list[LineCost]:
    builders: dict[tuple[str, int], Builder] = {}
    for each in instructions:
        if not each.line:
            continue
        file, line = places.of(program, each.file, each.line)
        builders.setdefault((file, line), Builder()).add(each)
    found = [
        builders[file, line].cost(file, line, places.text(file, line))
        for file, line in sorted(builders)
    ]
    files: dict[str, float] = {}
    for cost in found:
        files[cost.file] = files.get(cost.file, 0) + cost.instructions
    return sorted(found, key=lambda cost: -files[cost.file])


def _kernel(
    program: _counts.Program,
    number: int,
    resources: dict[str, _ptxas.Resources],
    places: Places,
    device: DeviceData | None,
) -> KernelCost:
    function = program.functions[number]
    own = [each for each in program.instructions if each.function == number]
    known = resources.get(function.name)
    registers = known.registers if known else function.registers
    occupancy = _Occupancy(device, function, registers)
    lines = _lines(program, own, places)
    moved = sum(each.moved for each in lines)
    flops = sum(each.flops for each in lines)
    kernel = KernelCost(
        _parameter_types.plain_name(function.name) or function.name,
        function.is_kernel,
        function.launches,
        function.blocks,
        function.threads,
        function.block_size,
        function.shared,
        registers,
        known is None,
        known.spills if known else 0,
        occupancy.resident,
        occupancy.share,
        occupancy.limit,
        sum(each.instructions for each in lines),
        mean_lanes(lines),
        moved,
        sum(each.least_moved for each in lines),
        flops,
        flops / moved if moved else None,
        lines,
        [],
    )
    return kernel._replace(advice=advice_for(kernel))


def kernels(
    programs: Iterable[_counts.Program], places: Places, device: DeviceData | None
) -> list[KernelCost]:
    """Return the kernels that ran, the one with the most instructions first."""
    found = []
    for program in programs:
        ran = {each.function for each in program.instructions if each.warps}
        if ran:
            ptx = program.source.ptx if program.source else ""
            resources = _ptxas.resources(ptx) if ptx else {}
            found += [
                _kernel(program, number, resources, places, device)
                for number in sorted(ran)
            ]
    return sorted(found, key=lambda each: -each.instructions)


# -- the report ------------------------------------------------------------------------


class LineCosts:
    """The cost of kernels by line."""

    def __init__(self, found: list[KernelCost], places: Places) -> None:
        self.kernels = found
        self._places = places

    def text(self) -> str:
        """Return a table of each kernel."""
        return _lines_text.text_of(self.kernels)

    __repr__ = text

    def document(self) -> dict[str, Any]:
        """Return all numbers, for JSON."""
        return {"kernels": self.kernels}

    def html(self) -> str:
        """Return the page."""
        return _lines_html.page_of(self.kernels, self._places)

    def _repr_html_(self) -> str:
        return frame_html(self.html())

    def save(self, path: str) -> None:
        """Write a page, a table or JSON, by the ending of the name."""
        kind = os.path.splitext(path)[1].lower()
        if kind == ".json":
            text = json.dumps(_command_line.as_json(self.document()))
        else:
            text = self.html() if kind == ".html" else self.text() + "\n"
        with open(path, "w", encoding="utf-8") as file:
            file.write(encodable(text))


def read(prefix: str, title: str = "", cell: str = "") -> LineCosts:
    """Return the costs in files of counts. The figures are those of the first device.

    ``cell`` is the text of a notebook's cell with this title. Then the programs are
    those of the cell.
    """
    from pycuda.tools import DeviceData

    places, device = Places(title, cell), None
    with contextlib.suppress(drv.Error, RuntimeError):
        drv.init()
        device = DeviceData(drv.Device(0))
    programs = filter(places.has, _counts.read(prefix))
    return LineCosts(kernels(programs, places, device), places)
