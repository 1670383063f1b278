"""The source of generated scans: cumulative sums, products and extremes.

``cuda/pycuda-array-scan.hpp`` defines the kernels. This file writes the types, the
operation and the way from the number of a line to its first elements.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type

_WITH_COPIES = "#define PYCUDA_SCAN_WITH_COPIES"
_PARAMETERS = (
    "const In *input",
    "Out *output",
    "int64 in_step",
    "int64 out_step",
    "uint64 *slots",
    "uint64 length",
    "uint64 count",
    "uint64 tiles",
    "uint64 width",
    "uint64 vector",
)


#: Blocks on a multiprocessor that hide the waits of look-back: the registers of threads
#: are limited to what so many blocks leave. Values of 16 bytes need more registers.
_BLOCKS = {
    "scan_look_back": 6,
    "scan_rows_look_back": 5,
    "scan_columns_look_back": 4,
    "scan_columns_walk": 4,
}


def _call(request):
    """Return the struct of the variant, and the call of the kernel in it."""
    sides = "input, in_step, output, out_step"
    if request.rounds:
        sides = f"input, {request.rounds}, output, {request.rounds}"
    variant = request.variant
    if variant == "scan_lines" and request.ndim == 0:
        call = "run_packed(input, output, (uint32)length, count, (uint32)width, vector)"
        return "lines_scan", "", call
    if variant == "scan_lines":
        call = f"run({sides}, (uint32)length, count, (uint32)width, lines)"
        return "lines_scan", "", call
    if variant == "scan_walk":
        return "tile_scan", ", false", f"walk({sides}, length, vector, C(), lines)"
    if variant == "scan_tile_sums":
        source = sides.split(", output")[0]
        call = f"sum_tile({source}, (C *)slots, length, (uint32)tiles, vector, lines)"
        return "tile_scan", ", false", call
    if variant == "scan_after_sums":
        call = (
            f"run_after_sums({sides}, (const C *)slots, length, (uint32)tiles, vector, "
            "C(), lines)"
        )
        return "tile_scan", ", false", call
    if variant == "scan_look_back":
        call = f"run({sides}, slots, length, (uint32)tiles, vector, C(), lines)"
        return "tile_scan", ", false", call
    if variant == "scan_columns_walk":
        call = f"walk({sides}, length, count, (uint32)width, lines)"
        return "columns_scan", "", call
    if variant == "scan_rows_look_back":
        call = "run_rows(input, output, slots, length, (uint32)tiles, (uint32)width)"
        return "columns_scan", "", call
    call = f"run({sides}, slots, length, count, (uint32)tiles, (uint32)width, lines)"
    return "columns_scan", "", call


def _lines(request):
    """Return the struct that finds the first elements of a line."""
    axes = range(request.ndim)
    index = "uint64" if request.wide else "uint32"
    lines = ["struct Lines {"]
    for axis in axes:
        lines.append(f"uint64 d{axis}; int64 s{axis}, t{axis};")
    lines.append(
        "PYCUDA_FN void find(uint64 line, const In *&input, Out *&output) const {"
    )
    if axes:
        lines.append(f"{index} rest = ({index})line; int64 from = 0, to = 0;")
    for axis in reversed(axes[1:]):
        lines.append(f"{{ {index} next = rest / ({index})d{axis};")
        lines.append(f"int64 at = rest - next * ({index})d{axis}; rest = next;")
        lines.append(f"from += at * s{axis}; to += at * t{axis}; }}")
    if axes:
        lines.append("from += (int64)rest * s0; to += (int64)rest * t0;")
        lines.append("input = (const In *)((const char *)input + from);")
        lines.append("output = (Out *)((char *)output + to);")
    return [*lines, "}", "};"]


#: Types of 8 bytes.
_LONG = {"int64", "uint64", "float64", "complex64"}


def _bounds(request):
    """Return the threads of a block, and the least blocks on a multiprocessor."""
    blocks = _BLOCKS.get(request.variant)
    size = 8 if request.compute in _LONG else 4
    if request.variant == "scan_columns_look_back" and request.vector * size > 128:
        blocks = 2  # the values of a thread fill its registers
    if blocks is None or request.compute == "complex128" or request.tile != 256:
        return f"{request.tile}"
    return f"{request.tile}, {blocks}"


def scan_text(request):
    """Return the source of a kernel of a scan: a ``_KernelRequest``'s."""
    struct, more, call = _call(request)
    axes = range(request.ndim)
    parameters = list(_PARAMETERS)
    for axis in axes:
        parameters += [f"uint64 d{axis}", f"int64 s{axis}", f"int64 t{axis}"]
    values = ", ".join(f"d{axis}, s{axis}, t{axis}" for axis in axes)
    compute = computation_type(request.compute)
    sizes = f"{request.tile}, {request.vector}"
    copies = [] if "look_back" in request.variant else [_WITH_COPIES]
    lines = [
        *copies,
        "#include <pycuda-array-scan.hpp>",
        "using namespace pycuda_array;",
        f"typedef {request.types[0]} In;",
        f"typedef {request.types[1]} Out;",
        f"typedef {compute} C;",
        "struct Op {",
        "static PYCUDA_FN C join(C a, C b)",
        f"{{ return op_{request.operation}(a, b); }}",
        "};",
        *_lines(request),
        f'extern "C" __global__ void __launch_bounds__({_bounds(request)})',
        f"kernel({', '.join(parameters)})",
        "{",
        f"Lines lines = {{{values}}};" if axes else "Lines lines;",
        f"pycuda_scan::{struct}<In, C, Out, Op, {sizes}{more}>::{call};",
        "}",
    ]
    return "\n".join(lines) + "\n"
