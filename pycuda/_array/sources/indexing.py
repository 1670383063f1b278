"""The source of generated kernels that move elements at index arrays.

``cuda/pycuda-index.hpp`` finds the place of an index. This file writes the loop.
"""

from __future__ import annotations

from types import SimpleNamespace

from pycuda._array.sources.elementwise import computation_type, computed

#: For each variant: how an index becomes a place, and what happens to the elements.
_VARIANTS = {
    "gather": ("place_or_note", "gather"),
    "gather_wrapped": ("place_wrapped", "gather"),
    "gather_clipped": ("place_clipped", "gather"),
    "scatter": ("place_or_note", "scatter"),
    "scatter_wrapped": ("place_wrapped", "scatter"),
    "scatter_clipped": ("place_clipped", "scatter"),
    "fill": ("place_or_note", "fill"),
    "check": ("place_or_note", "check"),
    "apply": ("place_or_note", "apply"),
}

#: What happens to the element, before and after its place is known.
_MOVES = {
    "gather": (
        [],
        "*(E *)(moved + b_e) = inside ? *(const E *)(array + b_a) : E();",
    ),
    "scatter": (
        ["const E item = *(const E *)(moved + b_e);"],
        "if (inside) *(E *)(array + b_a) = item;",
    ),
    "fill": ([], "if (inside) *(E *)(array + b_a) = value;"),
    "check": ([], ""),
    "apply": (
        ["const T item = *(const T *)(moved + b_e);"],
        "if (inside) APPLY((T *)(array + b_a), item);",
    ),
}

#: The types whose sums have instructions of their own.
_ADDED = {
    *("int32", "uint32", "int64", "uint64", "float32", "float64"),
    *("complex64", "complex128"),
}


def _applied(request):
    """Return the lines that define ``APPLY(place, value)``."""
    name = request.compute
    lines = [f"typedef {name} T;"]
    if request.operation == "add" and name in _ADDED:
        return [*lines, "#define APPLY add_at"]
    arguments = ", ".join(computed(element, name) for element in "xy")
    return [
        *lines,
        f"typedef {computation_type(name)} C;",
        "struct applied {",
        "static PYCUDA_FN T call(T x, T y)",
        f"{{ return cast<T>(op_{request.operation}({arguments})); }}",
        "};",
        "#define APPLY apply_bytes<sizeof(T)>::at<applied>",
    ]


def _kinds(request):
    """Return the types of the index arrays: all are the same if there are many."""
    count = request.kept_ndim
    return request.types if len(request.types) == count else request.types[:1] * count


def _parameters(request, action):
    """Return the parameters, in the order of ``selection_launch`` in selection.c."""
    count = request.kept_ndim
    axes = range(request.ndim)
    moved = "E value" if action == "fill" else "char *moved"
    parameters = ["char *array", moved]
    parameters += [f"const char *x{k}" for k in range(count)]
    parameters += ["index_report *report", "uint32 call", "I n"]
    parameters += [f"I d{axis}, I m{axis}, I h{axis}" for axis in axes[1:]]
    rows = ["e", "a", *(f"x{k}" for k in range(count))]
    parameters += [f"S s_{row}{axis}" for row in rows for axis in axes]
    if request.rounds > 1:
        parameters += [f"S u_{row}" for row in rows[1:]]
    for k in range(count):
        parameters += [f"S length{k}", f"S stride{k}", f"int32 axis{k}"]
    return parameters


def _offsets(request):
    """Return the lines that find the offsets of one element in all rows."""
    rows = ["e", "a", *(f"x{k}" for k in range(request.kept_ndim))]
    lines = [f"int64 b_{row} = 0;" for row in rows]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"{{ I next = quotient(rest, m{axis}, h{axis});")
        lines.append(f"S at = (S)(rest - next * d{axis});")
        lines += [f"b_{row} += (int64)at * s_{row}{axis};" for row in rows]
        lines.append("rest = next; }")
    if request.ndim:
        lines += [f"b_{row} += (int64)(S)rest * s_{row}0;" for row in rows]
    return lines


def indexing_text(request):
    """Return the source of a kernel with index arrays: a ``_KernelRequest``'s.

    A thread moves one element, or a word of several, or it reads ``rounds`` elements
    that follow each other in the result.
    """
    action = _VARIANTS[request.variant][1]
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    lines = [
        "#include <pycuda-index.hpp>",
        "using namespace pycuda_array;",
        f"typedef raw<{request.raw_bytes}, {request.vector}> E;",
        f"typedef {index} I;",
        f"typedef {step} S;",
        *(_applied(request) if action == "apply" else []),
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(_parameters(request, action))})",
        "{",
        "I rest = (I)blockIdx.x * 256 + threadIdx.x;",
        "if (rest >= n) return;",
        *_offsets(request),
        *(_vector(request) if request.rounds > 1 else _element(request)),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _element(request):
    """Return the lines that move one element."""
    before, after = _MOVES[_VARIANTS[request.variant][1]]
    kinds = list(enumerate(_kinds(request)))
    lines = [f"const {kind} given{k} = {_loaded(kind, k)};" for k, kind in kinds]
    lines += [*before, "bool inside = true;"]
    for k, kind in kinds:
        lines += _place(request, k, kind, f"given{k}", "b_a")
    return [*lines, after]


def _place(request, k, kind, given, place):
    """Return the lines that add the place of an index to the offset in the array."""
    find = _VARIANTS[request.variant][0]
    return [
        f"{{ S at; if (!{find}<{kind}, S>({given}, length{k}, at)) {{",
        "inside = false;",
        f"note_index(report, (uint64)(int64){given}, ({kind})-1 > ({kind})0, "
        f"(uint64)length{k}, axis{k}, call); }}",
        f"{place} += (int64)at * stride{k}; }}",
    ]


def _vector(request):
    """Return the lines that read a vector of elements.

    All indices are loaded before the first place is computed, and all places are known
    before the first element is loaded.
    """
    count = request.rounds
    kinds = list(enumerate(_kinds(request)))
    lines = []
    for k, kind in kinds:
        lines.append(f"pack<{kind}, {count}> given{k};")
        if request.passing[k] == "packed":
            lines.append(f"given{k}.stream((const {kind} *)(x{k} + b_x{k}));")
        else:
            lines += _each(count)
            loaded = f"*(const {kind} *)(x{k} + b_x{k} + j * (int64)u_x{k})"
            lines.append(f"given{k}.items[j] = {loaded}; }}")
    lines += [f"int64 places[{count}]; bool are_inside[{count}];", *_each(count)]
    lines.append("int64 place = b_a + j * (int64)u_a; bool inside = true;")
    for k, kind in kinds:
        lines += _place(request, k, kind, f"given{k}.items[j]", "place")
    return [
        *lines,
        "places[j] = place; are_inside[j] = inside; }",
        f"pack<E, {count}> v;",
        *_each(count),
        "v.items[j] = are_inside[j] ? *(const E *)(array + places[j]) : E(); }",
        "v.store((E *)(moved + b_e));",
    ]


def _each(count):
    """Return the head of a loop over the elements of a vector."""
    return ["#pragma unroll", f"for (int j = 0; j < {count}; j++) {{"]


def _loaded(kind, k):
    """Return the text that loads an index, which need not stay in a cache."""
    return f"__ldcs((const {kind} *)(x{k} + b_x{k}))"


def sample_sources():
    """Yield (name, source) of kernels that tools/compile_matrix.py compiles."""
    for number, variant in enumerate(_VARIANTS):
        count = 1 + number % 2
        request = SimpleNamespace(
            variant=variant,
            types=("int64", "uint8")[:count],
            kept_ndim=count,
            ndim=number % 3,
            wide=number % 4 > 1,
            raw_bytes=12 if number % 3 else 8,
            vector=4,
            rounds=1,
            passing=("packed", "array"),
            operation="maximum",
            compute="int16",
        )
        yield variant, indexing_text(request)
        if variant.startswith("gather"):
            request.raw_bytes, request.rounds = 4, 4
            yield f"{variant} of vectors", indexing_text(request)
