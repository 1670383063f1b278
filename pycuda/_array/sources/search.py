"""The source of generated searches in sorted arrays, and of counts in bins.

``cuda/pycuda-search.hpp`` finds the places and the bins. This file writes the loops.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type


def _kernel(request, parameters, body, types):
    lines = [
        "#include <pycuda-search.hpp>",
        "using namespace pycuda_array;",
        *types,
        f"typedef {computation_type(request.compute)} C;",
        f'extern "C" __global__ void __launch_bounds__({request.threads})',
        f"kernel({', '.join(parameters)})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


# -- searches --------------------------------------------------------------------------


def search_text(request):
    """Return the source of a search: sorted elements, values, and perhaps an order.

    "search_left" and "search_right" are those of ``searchsorted``; the "digitize" ones
    find out whether the elements are sorted from least to greatest.
    """
    right = "true" if request.variant in ("search_right", "digitize_right") else "false"
    threads, rounds = request.threads, request.rounds
    index = "uint64" if request.wide else "uint32"
    names = [f"typedef {name} T{k};" for k, name in enumerate(request.types[:3])]
    parameters = [
        "const char *sorted",
        "int64 step",
        "uint64 length",
        "const T1 *values",
        f"{index} count",
        "int64 *places",
    ]
    if request.inputs == 3:
        parameters += ["const char *order", "int64 order_step"]
        run = "const sorted_by<T0, C, T2> run = {sorted, step, order, order_step};"
    else:
        run = "const sorted_run<T0, C> run = {sorted, step};"
    find = f"find_places<{rounds}, {right}>"
    body = [
        run,
        f"C x[{rounds}];",
        f"uint64 place[{rounds}];",
        f"const {index} first = ({index})blockIdx.x * {threads * rounds}"
        f" + threadIdx.x;",
        "if (first >= count) return;",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"const {index} i = first + k * {threads};",
        "x[k] = cast<C>(values[i < count ? i : first]);",
        "}",
    ]
    if request.variant in ("digitize_left", "digitize_right"):
        body += [
            "const bool down = length > 1 && run.at(length - 1) < run.at(0);",
            "if (down) {",
            "const turned<sorted_run<T0, C>, C> back = {run, (int64)length - 1};",
            f"{find}(back, length, x, place);",
            "#pragma unroll",
            f"for (int k = 0; k < {rounds}; k++) place[k] = length - place[k];",
            "} else",
        ]
    body += [
        f"{find}(run, length, x, place);",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"const {index} i = first + k * {threads};",
        "if (i < count) places[i] = (int64)place[k];",
        "}",
    ]
    return _kernel(request, parameters, body, names)


# -- counts ----------------------------------------------------------------------------

_BINS = {
    "bin_by_value": ("bin_by_value<T0>", "{}"),
    "bin_by_distance": (
        "bin_by_distance<T0, E>",
        "{edges, (int64)bins, first, last, scale}",
    ),
    "bin_by_search": ("bin_by_search<T0, E, C>", "{edges, (int64)bins}"),
}


def count_text(request):
    """Return the source of a count of values in bins.

    The types are those of the values, of the edges, and of the weights if there are
    any. A block counts in shared memory, in several copies if there are few bins. With
    no room there (``room`` 0) it counts in the result.
    """
    threads, rounds, vec = request.threads, request.rounds, request.vector
    weighted = request.inputs == 3
    # A block counts fewer than 2**32 values.
    shared, total = ("double", "double") if weighted else ("uint32", "int64")
    room = request.raw_bytes // (8 if weighted else 4)
    kind, start = _BINS[request.variant]
    types = [f"typedef {request.types[0]} T0;", f"typedef {request.types[1]} E;"]
    parameters = [
        "const T0 *values",
        "const E *edges",
        f"{total} *totals",
        "uint64 count",
        "uint64 bins",
        "uint32 copies",
        "double first",
        "double last",
        "double scale",
    ]
    if weighted:
        types.append(f"typedef {request.types[2]} W;")
        parameters.append("const W *weights")
    place, target = ("mine + bin", shared) if room else ("totals + bin", total)
    body = [f"const {kind} find = {start};"]
    if room:
        body += [
            f"__shared__ {shared} counts[{room}];",
            "const uint32 used = copies * (uint32)bins;",
            f"for (uint32 i = threadIdx.x; i < used; i += {threads}) counts[i] = 0;",
            f"{shared} *mine = counts + threadIdx.x / 32 % copies * (uint32)bins;",
            "__syncthreads();",
        ]
    one = f"cast<{target}>(weights[i + j])" if weighted else f"({target})1"
    body += [
        f"const uint64 across = (uint64)gridDim.x * {threads * vec};",
        f"uint64 i = ((uint64)blockIdx.x * {threads} + threadIdx.x) * {vec};",
        f"for (; i + {vec - 1} < count; i += across * {rounds}) {{",
        f"pack<T0, {vec}> v[{rounds}];",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++)",
        f"if (i + k * across + {vec - 1} < count) v[k].load(values + i + k * across);",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"if (i + k * across + {vec - 1} < count) {{",
        "#pragma unroll",
        f"for (int j = 0; j < {vec}; j++) {{",
        "const int64 bin = find.of(v[k].items[j]);",
        f"if (bin >= 0) add_to({place}, {one.replace('[i', '[i + k * across')});",
        "} } } }",
    ]
    if vec > 1:  # the values behind the last vector
        one = f"cast<{target}>(weights[i])" if weighted else f"({target})1"
        body += [
            f"i = count / {vec} * {vec} + threadIdx.x;",
            "if (blockIdx.x == 0 && i < count) {",
            "const int64 bin = find.of(values[i]);",
            f"if (bin >= 0) add_to({place}, {one});",
            "}",
        ]
    if room:
        body += [
            "__syncthreads();",
            f"for (uint32 bin = threadIdx.x; bin < (uint32)bins; bin += {threads}) {{",
            f"{total} sum = 0;",
            "for (uint32 copy = 0; copy < copies; copy++)",
            "sum += counts[copy * (uint32)bins + bin];",
            "if (sum != 0) add_to(totals + bin, sum);",
            "}",
        ]
    return _kernel(request, parameters, body, types)
