"""The sources of generated sorts, selections, quantiles, searches and counts in bins.

``cuda/pycuda-sort.hpp``, ``pycuda-select.hpp``, ``pycuda-quantile.hpp`` and
``pycuda-search.hpp`` have the code. This file chooses the types and the sizes of
blocks, and writes the loops of searches.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type

#: The type that describes the keys of a dtype.
KEYS = {
    "bool": "number_key<unsigned char>",
    "int8": "number_key<signed char>",
    "uint8": "number_key<unsigned char>",
    "int16": "number_key<short>",
    "uint16": "number_key<unsigned short>",
    "int32": "number_key<int>",
    "uint32": "number_key<unsigned int>",
    "int64": "number_key<long long>",
    "uint64": "number_key<unsigned long long>",
    "float16": "half_key<0x7c00>",
    "bfloat16": "half_key<0x7f80>",
    "float32": "number_key<float>",
    "float64": "number_key<double>",
    "complex64": "complex_key<float>",
    "complex128": "complex_key<double>",
}


def sort_text(request):
    """Return the source of a kernel of a sort: a ``_KernelRequest``'s.

    The tile of the request is the number of threads in a block, or of lanes for a
    line; the vector is the number of elements of a thread.
    """
    body = {
        "sort_pass": _pass,
        "sort_count": _count,
        "sort_block": _block,
        "sort_lanes": _lanes,
    }[request.variant](request)
    return "\n".join(
        [
            "#include <pycuda-sort.hpp>",
            "using namespace pycuda_sort;",
            f"typedef {KEYS[request.types[0]]} KEY;",
            "typedef KEY::element E;",
            *body,
            "",
        ]
    )


def _pass(request):
    """Return the kernel that moves elements by one digit."""
    count = "uint64" if request.wide else "uint32"
    threads, items = request.tile, request.vector
    values = "true" if request.partial else "false"
    return [
        f'extern "C" __global__ void __launch_bounds__({threads})',
        f"kernel(const pass<E, {count}, {count}> p)",
        "{",
        f"onesweep<KEY, {values}, {count}, {threads}, {items}>::run(p);",
        "}",
    ]


def _count(request):
    """Return the kernel that counts all digits."""
    count = "uint64" if request.wide else "uint32"
    threads = request.tile
    return [
        f'extern "C" __global__ void __launch_bounds__({threads})',
        f"kernel(const pass<E, {count}, {count}> p)",
        "{",
        f"digit_totals<KEY, {count}, {threads}>::run(p);",
        "}",
    ]


def _block(request):
    """Return the kernel that sorts a line in each block."""
    threads, items = request.tile, request.vector
    indices = "true" if request.partial else "false"
    return [
        f'extern "C" __global__ void __launch_bounds__({threads})',
        "kernel(const E *in, E *out, int64 *indices, uint64 length, uint64 lines,",
        "uint32 flip)",
        "{",
        f"block_sort<KEY, {indices}, {threads}, {items}>::run(in, out, indices,",
        "(uint32)length, flip);",
        "}",
    ]


def _lanes(request):
    """Return the kernel that sorts a line in some lanes of a warp."""
    lanes, items = request.tile, request.vector
    indices = "true" if request.partial else "false"
    return [
        'extern "C" __global__ void __launch_bounds__(256)',
        "kernel(const E *in, E *out, int64 *indices, uint64 length, uint64 lines,",
        "uint32 flip)",
        "{",
        f"warp_sort<KEY, {indices}, {lanes}, {items}>::run(in, out, indices,",
        "(uint32)length, lines, flip);",
        "}",
    ]


# -- the first elements of an order ----------------------------------------------------


def _selection_head(dtype_name):
    return [
        "#include <pycuda-select.hpp>",
        "using namespace pycuda_sort;",
        f"typedef {KEYS[dtype_name]} KEY;",
        "typedef KEY::element E;",
    ]


def few_text(request):
    """Return the source of a kernel that selects few elements: a ``_KernelRequest``'s.

    The vector is the number of elements that a thread reads at once.
    """
    form = "false" if request.wide else "true"
    threads = request.threads
    sizes = f"KEY, {form}, {threads}, {request.vector}"
    parameters, call = {
        "few_of_blocks": (
            f"entry<{form}> *entries",
            f"first_of_blocks<{sizes}>(in, length, flip, k, entries);",
        ),
        "few_of_all": (
            f"const entry<{form}> *entries, uint64 count, E *elements, int64 *indices",
            f"first_of_all<{sizes}>(in, length, flip, k, entries, count, elements, "
            "indices);",
        ),
    }[request.variant]
    return "\n".join(
        [
            *_selection_head(request.types[0]),
            f'extern "C" __global__ void __launch_bounds__({threads})',
            f"kernel(const E *in, uint64 length, uint64 flip, uint32 k, {parameters})",
            "{",
            call,
            "}",
            "",
        ]
    )


def selection_text(dtype_name: str) -> str:
    """Return the source of the kernels ``find`` and ``store`` for a dtype."""
    return "\n".join(
        [
            *_selection_head(dtype_name),
            'extern "C" __global__ void __launch_bounds__(256)',
            "find(const E *in, uint64 length, selection *to, uint64 flip,",
            "uint32 place, uint32 of_index)",
            "{",
            "select<KEY>::find(in, length, to, place, of_index != 0, flip);",
            "}",
            'extern "C" __global__ void __launch_bounds__(256)',
            "store(const E *in, uint64 length, selection *to, uint64 flip,",
            "E *elements, int64 *indices)",
            "{",
            "select<KEY>::store(in, length, to, flip, elements, indices);",
            "}",
            "",
        ]
    )


# -- medians and quantiles -------------------------------------------------------------


#: How elements become integers of the same order: the integer, the kind of
#: ``ordered_bits``, and the bits of infinity.
_CODES = {
    "bool": ("uint32", 0, "0"),
    "uint8": ("uint32", 0, "0"),
    "uint16": ("uint32", 0, "0"),
    "uint32": ("uint32", 0, "0"),
    "uint64": ("uint64", 0, "0"),
    "int8": ("uint32", 1, "0"),
    "int16": ("uint32", 1, "0"),
    "int32": ("uint32", 1, "0"),
    "int64": ("uint64", 1, "0"),
    "float16": ("uint32", 2, "0x7c00"),
    "bfloat16": ("uint32", 2, "0x7f80"),
    "float32": ("uint32", 2, "0x7f800000"),
    "float64": ("uint64", 2, "0x7ffull << 52"),
}


def quantile_text(request):
    """Return the source of a kernel of quantiles: a ``_KernelRequest``'s.

    The types are those of the elements and of the results. With ``partial`` the results
    are elements. The tile is the number of lanes for a line, the vector is the number
    of elements of a lane.
    """
    is_element = "true" if request.partial else "false"
    types = [
        f"typedef {request.types[0]} E;",
        f"typedef {request.types[1]} R;",
        f"typedef {computation_type(request.compute)} C;",
    ]
    by_lanes = {"quantile_lanes": True, "quantile_sorted": False}
    if by_lanes[request.variant]:
        bits, kind, infinity = _CODES[request.types[0]]
        types.append(f"typedef ordered_bits<E, {bits}, {kind}, ({infinity})> CODE;")
        sizes = f"{request.tile}, {request.vector}"
        call = f"lane_quantiles<CODE, R, C, {is_element}, {sizes}>::run"
        length = "(uint32)length"
    else:
        call = f"sorted_quantiles<E, R, C, {is_element}>::run"
        length = "length"
    lines = [
        "#include <pycuda-quantile.hpp>",
        "using namespace pycuda_array;",
        *types,
        f'extern "C" __global__ void __launch_bounds__({request.threads})',
        "kernel(const E *in, R *out, uint64 lines, uint64 length,",
        "const quantile_list list)",
        "{",
        f"{call}(in, out, lines, {length}, list);",
        "}",
    ]
    return "\n".join(lines) + "\n"


# -- searches in sorted arrays, counts in bins -----------------------------------------


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
    find out whether the elements are sorted from least to greatest. With ``raw_bytes``
    a block keeps that many bytes of elements in shared memory.
    """
    right = "true" if request.variant in ("search_right", "digitize_right") else "false"
    digitize = request.variant in ("digitize_left", "digitize_right")
    threads, rounds = request.threads, request.rounds
    index = "uint64" if request.wide else "uint32"
    run, start = "packed_run<T0, C>", "{(const T0 *)sorted}"
    if request.inputs == 3:
        run, start = "sorted_by<T0, C, T2>", "{sorted, step, order, order_step}"
    elif not request.streamed:
        run, start = "spaced_run<T0, C>", "{sorted, step}"
    parameters = [
        "const char *sorted",
        "int64 step",
        f"{index} length",
        f"{index} width",
        "const T1 *values",
        f"{index} count",
        "int64 *places",
    ]
    if request.inputs == 3:
        parameters += ["const char *order", "int64 order_step"]
    body = [f"const {run} {'found' if digitize else 'run'} = {start};"]
    if digitize:
        body += [
            "const bool down = length > 1 && found.at(length - 1) < found.at(0u);",
            f"const turned_run<{run}, C> run = {{found, (uint64)length - 1, down}};",
        ]
    if request.raw_bytes:
        size = request.raw_bytes
        body += [
            f"__shared__ search_tops<{size} / sizeof(C), C, {index}> tops;",
            "tops.load(run, width, length);",
        ]
        find = [f"tops.find<{rounds}, {right}>(run, width, length, x, place);"]
    else:
        find = [
            "#pragma unroll",
            f"for (int k = 0; k < {rounds}; k++) place[k] = 0;",
            f"find_places<{rounds}, {right}>(run, length, x, place);",
        ]
    result = "down ? length - place[k] : place[k]" if digitize else "place[k]"
    body += [
        f"{index} first = ({index})blockIdx.x * {threads * rounds} + threadIdx.x;",
        f"for (; first < count; first += gridDim.x * {threads * rounds}) {{",
        f"C x[{rounds}];",
        f"{index} place[{rounds}];",
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"const {index} i = first + k * {threads};",
        "x[k] = cast<C>(values[i < count ? i : first]);",
        "}",
        *find,
        "#pragma unroll",
        f"for (int k = 0; k < {rounds}; k++) {{",
        f"const {index} i = first + k * {threads};",
        f"if (i < count) places[i] = (int64)({result});",
        "}",
        "}",
    ]
    names = [f"typedef {name} T{k};" for k, name in enumerate(request.types[:3])]
    return _kernel(request, parameters, body, names)


# -- counts ----------------------------------------------------------------------------

#: Bytes of edges that a block keeps: COUNT_EDGES of python/array/ops/count.c.
SHARED_EDGES = 16 * 1024
#: Bytes of edges that are passed by value: PCU_COUNT_EDGE_BYTES of count.h.
EDGE_BYTES = 2048

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
    any. With ``ndim`` 1 the edges are passed by value, and the kernel stores a copy.
    With ``partial`` a block keeps the edges in shared memory. It counts there, too, in
    several copies if there are few bins, or in the result if ``raw_bytes`` is 0.
    """
    threads, rounds, vec = request.threads, request.rounds, request.vector
    weighted = request.inputs == 3
    # A block counts fewer than 2**32 values.
    shared, total = ("double", "double") if weighted else ("uint32", "int64")
    room = request.raw_bytes // (8 if weighted else 4)
    kind, start = _BINS[request.variant]
    types = [f"typedef {request.types[0]} T0;", f"typedef {request.types[1]} E;"]
    by_value = request.ndim == 1
    given = ["const E *edges"]
    if by_value:
        types.append(f"struct edge_values {{ E values[{EDGE_BYTES} / sizeof(E)]; }};")
        types.append("struct __align__(16) given_edges : edge_values {};")
        given = ["const given_edges given", "E *edges_out"]
    parameters = [
        "const T0 *values",
        *given,
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
    body = []
    if by_value:
        body += [
            "if (blockIdx.x == 0) {",
            f"for (uint64 k = threadIdx.x; k <= bins; k += {threads})",
            "edges_out[k] = given.values[k];",
            "}",
        ]
    if request.partial:
        body += [
            f"__shared__ E edges_kept[{SHARED_EDGES} / sizeof(E)];",
            f"for (uint64 k = threadIdx.x; k <= bins; k += {threads})",
            f"edges_kept[k] = {'given.values' if by_value else 'edges'}[k];",
            f"{'const E *' if by_value else ''}edges = edges_kept;",
            "__syncthreads();",
        ]
    body.append(f"const {kind} find = {start};")
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
