"""The source of generated kernels that read masks.

``cuda/pycuda-mask.hpp`` defines the kernels. This file writes what they do for each
element: find it in an array that may have gaps, and move it.
"""

from __future__ import annotations

_THREADS = 256


def _element(request, k):
    """Return the type of the elements of operand ``k``."""
    name = request.types[k]
    if name == "raw":
        return f"raw<{request.raw_bytes}, {request.vector}>"
    return name


def _offset(request, names):
    """Return the lines that turn the number of an element into distances in bytes.

    ``names`` are the variables; each has its own strides.
    """
    if request.ndim == 0:
        return []
    index = "uint64" if request.wide else "uint32"
    lines = [f"{index} rest = ({index})i;"]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"{{ {index} next = rest / ({index})d{axis};")
        lines.append(f"int64 at = rest - next * ({index})d{axis}; rest = next;")
        lines += [f"{name} += at * {name}{axis};" for name in names]
        lines.append("}")
    return [*lines, *(f"{name} += (int64)rest * {name}0;" for name in names)]


def _axes(request, names):
    """Return the lengths and strides as (type, name)."""
    pairs = []
    for axis in range(request.ndim):
        pairs.append(("uint64", f"d{axis}"))
        pairs += [("int64", f"{name}{axis}") for name in names]
    return pairs


def _declared(pairs):
    return " ".join(f"{kind} {name};" for kind, name in pairs)


def _mark(request):
    """Return the parts of the kernel that packs the truth of elements."""
    pairs = _axes(request, ["s"])
    fixed = [
        "const T *mask",
        "uint64 n",
        "uint32 *bits",
        "int64 *before",
        "uint64 *slots",
        "int64 *total",
    ]
    arguments = "n, bits, before, slots, total"
    if request.variant == "mark_bytes":
        body = [
            "packed_bytes elements = {(const unsigned char *)mask};",
            f"mark_true(elements, {arguments});",
        ]
        return [], fixed, pairs, body
    find = ["int64 s = 0;", *_offset(request, ["s"])] if request.ndim else []
    element = "*(const T *)((const char *)mask + s)" if request.ndim else "mask[i]"
    struct = [
        f"struct Source {{ const T *mask; {_declared(pairs)}",
        "PYCUDA_FN bool at(uint64 i) const {",
        *find,
        f"return truth({element}); }} }};",
    ]
    names = "".join(f", {name}" for _, name in pairs)
    body = [
        f"single_elements<Source> elements = {{{{mask{names}}}}};",
        f"mark_true(elements, {arguments});",
    ]
    return struct, fixed, pairs, body


def _move(request):
    """Return the parts of a kernel that copies true elements, to or from a packed one.

    ``step`` is the distance in bytes of elements on the packed side.
    """
    pairs = _axes(request, ["s"])
    fixed = [
        "T *array",
        "T *packed",
        "int64 step",
        "const uint32 *bits",
        "const int64 *before",
        "uint64 n",
    ]
    find = ["int64 s = 0;", *_offset(request, ["s"])] if request.ndim else []
    element = "*(T *)((char *)array + s)" if request.ndim else "array[i]"
    place = "*(T *)((char *)packed + place * step)"
    source, target = (element, place)
    load, store = find, []
    if request.variant == "put_true":
        source, target = place, element
        load, store = [], find
    struct = [
        f"struct Move {{ T *array, *packed; int64 step; {_declared(pairs)}",
        "typedef T value; enum { BATCH = batch_for<sizeof(T)>::count };",
        "PYCUDA_FN void load(T &value, uint64 i, int64 place) const {",
        *load,
        f"value = {source}; }}",
        "PYCUDA_FN void store(const T &value, uint64 i, int64 place) const {",
        *store,
        f"{target} = value; }} }};",
    ]
    names = "".join(f", {name}" for _, name in pairs)
    body = [
        f"Move move = {{array, packed, step{names}}};",
        "move_true(bits, before, n, move);",
    ]
    return struct, fixed, pairs, body


def _places(request):
    """Return the parts of the kernel that stores the indices of true elements."""
    axes = range(request.ndim)
    pairs = [("uint64", f"d{axis}") for axis in axes]
    pairs += [("int64 *", f"p{axis}") for axis in axes]
    fixed = ["int64 step", "const uint32 *bits", "const int64 *before", "uint64 n"]
    index = "uint64" if request.wide else "uint32"
    store = [f"{index} rest = ({index})i;", "int64 at = place * step;"]
    for axis in range(request.ndim - 1, 0, -1):
        store.append(f"{{ {index} next = rest / ({index})d{axis};")
        store.append(f"p{axis}[at] = rest - next * ({index})d{axis}; rest = next; }}")
    store.append("p0[at] = rest;")
    struct = [
        f"struct Move {{ int64 step; {_declared(pairs)}",
        "typedef char value; enum { BATCH = 8 };",
        "PYCUDA_FN void load(char &, uint64, int64) const {}",
        "PYCUDA_FN void store(char, uint64 i, int64 place) const {",
        *store,
        "} };",
    ]
    names = "".join(f", {name}" for _, name in pairs)
    body = [f"Move move = {{step{names}}};", "move_true(bits, before, n, move);"]
    return struct, fixed, pairs, body


def _fill(request):
    """Return the parts of the kernel that stores one value where a mask is true."""
    pairs = _axes(request, ["s", "t"])
    fixed = ["const bool *mask", "T *array", "uint64 n", "T value"]
    if request.ndim:
        body = [
            f"uint64 i = (uint64)blockIdx.x * {_THREADS} + threadIdx.x;",
            "if (i >= n) return;",
            "int64 s = 0, t = 0;",
            *_offset(request, ["s", "t"]),
            "if (*(const bool *)((const char *)mask + s))",
            "*(T *)((char *)array + t) = value;",
        ]
        return [], fixed, pairs, body
    body = [f"fill_true<T, {request.tile}>(mask, array, n, value);"]
    return [], fixed, pairs, body


def mask_text(request):
    """Return the source of a kernel that reads a mask: a ``_KernelRequest``'s."""
    writers = {
        "mark_bytes": _mark,
        "mark_elements": _mark,
        "take_true": _move,
        "put_true": _move,
        "places_of_true": _places,
        "fill_true": _fill,
    }
    struct, fixed, pairs, body = writers[request.variant](request)
    parameters = [*fixed, *(f"{kind} {name}" for kind, name in pairs)]
    lines = [
        "#include <pycuda-mask.hpp>",
        "using namespace pycuda_array;",
        "using namespace pycuda_mask;",
        f"typedef {_element(request, 0)} T;",
        *struct,
        f'extern "C" __global__ void __launch_bounds__({_THREADS})',
        f"kernel({', '.join(parameters)})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"
