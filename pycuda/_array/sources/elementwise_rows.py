"""The source of generated elementwise kernels that go by rows, for the software device.

A block computes a part of one row along the fastest axis. All that does not depend on
the number of the thread is the same in the block, and the number is added last, so that
the software device runs the warps of the block together. Elements are not vectors: the
device would take them apart.
"""

from __future__ import annotations

from types import SimpleNamespace

from pycuda._array.sources import elementwise


def elementwise_rows_text(request):
    """Return the source of an elementwise kernel by rows: a ``_KernelRequest``'s."""
    lines = [
        *elementwise.includes(request),
        "using namespace pycuda_array;",
        *elementwise.typedefs(request),
        f'extern "C" __global__ void __launch_bounds__({request.threads})',
        f"kernel({', '.join(_parameters(request))})",
        "{",
        *_find_row(request),
        *_elements(request),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _parameters(request):
    """Return the parameters, in the order of ``rows_pack`` in elementwise_rows.c."""
    parameters = []
    for k, passing in enumerate(request.passing):
        label = elementwise.label(request, k)
        pointer = "*" if passing != "scalar" else ""
        const = "const " if pointer and k < request.inputs else ""
        parameters.append(f"{const}{label} {pointer}p{k}")
    parameters.append("uint32 n")
    for axis in range(0 if request.partial else 1, request.ndim):
        parameters += [f"uint32 {name}{axis}" for name in "dmh"]
    for k in elementwise.arrays(request):
        parameters += [f"int32 s{k}_{axis}" for axis in range(request.ndim)]
        if request.passing[k] == "array":
            parameters.append(f"int32 s{k}")
    return parameters


def _find_row(request):
    """Return the lines that let the operands begin at the block's row.

    The division by the number of blocks of a row, if there are several, comes first.
    """
    if request.ndim == 0:
        return ["const uint32 piece = blockIdx.x;"]
    lines = ["uint32 rest = blockIdx.x;", "const uint32 piece = 0;"]
    if request.partial:
        lines = [
            "uint32 rest = quotient(blockIdx.x, m0, h0);",
            "const uint32 piece = blockIdx.x - rest * d0;",
        ]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"const uint32 at{axis} = rest;")
        lines.append(f"rest = quotient(rest, m{axis}, h{axis});")
        lines += _advance(request, axis, f"(int32)(at{axis} - rest * d{axis})")
    return lines + _advance(request, 0, "(int32)rest")


def _advance(request, axis, places):
    """Return the lines that let the operands go forward along an axis of rows."""
    lines = []
    for k in elementwise.arrays(request):
        label = elementwise.label(request, k)
        const = "const " if k < request.inputs else ""
        step = f"(int64)({places}) * s{k}_{axis}"
        lines.append(f"p{k} = ({const}{label} *)(({const}char *)p{k} + {step});")
    return lines


def _elements(request):
    """Return the lines that compute the elements of the thread."""
    threads, each = request.threads, request.tile
    repeated = [
        k for k in elementwise.arrays(request) if request.passing[k] == "repeated"
    ]
    lines = [
        *(f"const {elementwise.label(request, k)} o{k} = *p{k};" for k in repeated),
        f"const uint32 start = piece * {threads * each};",
        "const int32 first = (int32)(start + threadIdx.x);",
    ]
    if each == 1:
        return [*lines, *_one(request, "first", "i < (int32)n")]
    unrolled = ["#pragma unroll", f"for (int u = 0; u < {each}; u++) {{"]
    if request.ndim == 0:  # only the last block has less than all
        lines.append(f"if (start + {threads * each} <= n) {{")
        lines += [*unrolled, *_one(request, f"first + u * {threads}"), "}", "} else {"]
        # The compiler would let the loop advance `first`, which must not change.
        lines.append("int32 k;")
        lines.append('asm volatile("mov.u32 %0, %%tid.x;" : "=r"(k));')
        lines += ["#pragma unroll 1"]
        lines.append(f"for (k += (int32)start; k < (int32)n; k += {threads})")
        return [*lines, *_one(request, "k"), "}"]
    lines += [*unrolled, f"if (start + (u + 1) * {threads} <= n) {{"]
    lines += [*_one(request, f"first + u * {threads}"), "}", "}"]
    lines.append(f"if (start + {threads * each} > n) {{")
    last = f"(int32)(n / {threads} * {threads} + threadIdx.x)"
    return [*lines, *_one(request, last, "i < (int32)n"), "}"]


def _one(request, place, condition=None):
    """Return the lines that compute the element at a place of the row."""
    nin = request.inputs
    body = elementwise.loop_body(request, lambda k: _element(request, k))
    body += [
        f"{_element(request, k)} = z{k - nin};" for k in elementwise.outputs_of(request)
    ]
    if condition is None:
        return ["{", f"const int32 i = {place};", *body, "}"]
    return ["{", f"const int32 i = {place};", f"if ({condition}) {{", *body, "}", "}"]


def _element(request, k):
    """Return the text of element ``i`` of a row of an operand."""
    if request.passing[k] == "repeated":
        return f"o{k}"
    if request.passing[k] == "packed":
        return f"p{k}[i]"
    label = elementwise.label(request, k)
    if k < request.inputs:
        return f"(*(const {label} *)((const char *)p{k} + (int64)i * s{k}))"
    return f"(*({label} *)((char *)p{k} + (int64)i * s{k}))"


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
    for name, ndim, tile in (("float16", 0, 8), ("complex128", 2, 1)):
        request = SimpleNamespace(
            operation="axpby",
            inputs=4,
            outputs=1,
            types=(name,) * 5,
            passing=("scalar", "packed", "repeated", "array", "packed"),
            compute=name,
            ndim=ndim,
            tile=tile,
            threads=256,
            partial=ndim == 2,
        )
        yield f"rows of {name}", elementwise_rows_text(request)
