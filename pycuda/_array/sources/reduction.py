"""The source of generated reductions.

``cuda/pycuda-reduce.hpp`` defines the operations. This file writes the loops.

A result is reduced in segments: one job makes one segment of one result. The job of
"by_block" is a block's, the job of "by_row" a warp's. In "by_short_row" some lanes of a
warp load a whole result at once. In "by_column" a thread has neighbouring results, and
the rows of a block's threads share the reduced elements. Where results have several
segments, a second kernel joins them.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type, computed


def reduction_text(request):
    """Return the source of a kernel of a reduction: a ``_KernelRequest``'s."""
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    if request.variant in ("join_by_block", "join_by_row"):
        parameters, body = _join_parameters(index), _join(request, index)
    else:
        parameters = _parameters(request, index, step)
        body = _BODIES[request.variant](request, index, step)
    nin, types = request.inputs, request.types
    lines = [
        "#include <pycuda-reduce.hpp>",
        "using namespace pycuda_array;",
        *(f"typedef {name} T{k};" for k, name in enumerate(types[:nin])),
        f"typedef {types[nin]} Z0;",
        f"typedef {computation_type(request.compute)} C;",
        f"typedef reduce_{request.operation}<C, {step}> R;",
        "typedef R::Acc Acc;",
        f'extern "C" __global__ void __launch_bounds__({request.threads})',
        f"kernel({', '.join(parameters)})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


# -- the kernels that join segments ----------------------------------------------------


def _join_parameters(index):
    return [
        "const Acc *partial",
        "Z0 *out",
        f"{index} results",
        f"{index} segments",
        "double divisor",
    ]


def _join(request, index):
    """Return the body of a kernel that joins the segments of each result."""
    return [
        *job(request, index),
        "Acc acc = R::identity();",
        "if (job < results) {",
        "partial += job * segments;",
        f"for ({index} s = lane; s < segments; s += {request.lanes})",
        "R::merge(acc, partial[s]);",
        "}",
        merged(request),
        "if (lane == 0 && job < results) out[job] = R::finish<Z0>(acc, divisor);",
    ]


# -- jobs and elements -----------------------------------------------------------------


def _parameters(request, index, step):
    """Return the parameters: inputs, target, counts, lengths and strides."""
    target = "Acc" if request.partial else "Z0"
    kept, reduced = range(request.kept_ndim), range(request.ndim)
    parameters = [f"const T{k} *p{k}" for k in range(request.inputs)]
    parameters.append(f"{target} *out")
    numbers = ("results", "length", "segments", "segment")
    parameters += [f"{index} {name}" for name in numbers]
    parameters.append("double divisor")
    parameters += [f"{index} k{axis}" for axis in kept]
    parameters += [f"{index} r{axis}" for axis in reduced]
    for k in range(request.inputs):
        parameters += [f"{step} k{k}_{axis}" for axis in kept]
        parameters += [f"{step} r{k}_{axis}" for axis in reduced]
    return parameters


def job(cut, index):
    """Return the lines that find a thread's job, and its lane in the job."""
    if cut.lanes == cut.threads:
        return [f"const {index} job = blockIdx.x, lane = threadIdx.x;"]
    jobs = cut.threads // cut.lanes
    return [
        f"const {index} job = ({index})blockIdx.x * {jobs}"
        f" + threadIdx.x / {cut.lanes};",
        f"const {index} lane = threadIdx.x % {cut.lanes};",
    ]


def merged(cut, reduction="R", acc="acc"):
    """Return the statement that joins the accumulators of a job's threads."""
    if cut.lanes == cut.threads:
        return f"reduce_block<{reduction}, {cut.threads}>({acc});"
    return f"{reduction}::merge_lanes<1, {cut.lanes}>({acc});"


def _offsets(letter, ndim, nin, source, target, index, step):
    """Return the lines that turn the number of an element into byte offsets."""
    if ndim == 0:
        return []
    lines = [f"{{ {index} rest = {source};"]
    for axis in range(ndim - 1, 0, -1):
        lines.append(f"{{ {index} next = rest / {letter}{axis};")
        lines.append(f"{step} at = ({step})(rest - next * {letter}{axis});")
        lines += [f"{target}{k} += at * {letter}{k}_{axis};" for k in range(nin)]
        lines.append("rest = next; }")
    lines += [f"{target}{k} += ({step})rest * {letter}{k}_0;" for k in range(nin)]
    return [*lines, "}"]


def _start(request, index, step, result):
    """Return the lines that set b0, b1: the byte offsets of a result's elements."""
    nin = request.inputs
    return [
        *(f"{step} b{k} = 0;" for k in range(nin)),
        *_offsets("k", request.kept_ndim, nin, result, "b", index, step),
    ]


def _load(request, index, step, target, element):
    """Return the lines that load the element of that number, or the vector there."""
    nin, vec = request.inputs, request.vector
    load = "stream" if request.streamed else "load"
    lines = [f"{{ {step} o{k} = b{k};" for k in range(nin)]
    lines += _offsets("r", request.ndim, nin, element, "o", index, step)
    for k in range(nin):
        address = f"(const T{k} *)((const char *)p{k} + o{k})"
        if vec == 1:
            lines.append(f"{target}{k}.items[0] = *{address};")
        else:
            lines.append(f"{target}{k}.{load}({address});")
    return lines + ["}"] * nin


def _packs(request, names):
    """Return the declaration of a vector of each input."""
    vec = request.vector
    return [f"pack<T{k}, {vec}> {names.format(k=k)};" for k in range(request.inputs)]


def _values(request, count, element):
    """Return the lines that put `count` elements in the type of the computation."""
    lines = []
    for k in range(request.inputs):
        value = computed(element.format(k=k), request.compute)
        lines += [
            f"C x{k}[{count}];",
            "#pragma unroll",
            f"for (int j = 0; j < {count}; j++) x{k}[j] = {value};",
        ]
    return lines


def _arguments(request):
    return ", ".join(f"x{k}" for k in range(request.inputs))


class _Scalar:
    """A request whose elements are loaded one by one."""

    vector = 1

    def __init__(self, request):
        self._request = request

    def __getattr__(self, name):
        return getattr(self._request, name)


# -- a block or a warp for each job ----------------------------------------------------


def lane_loops(cut, index, elements):
    """Return the loops in which lanes take up the elements from begin to end."""
    vec, lanes = cut.vector, cut.lanes
    across = lanes * vec
    lines = [
        f"const {index} whole ="
        f" end > begin ? begin + (end - begin) / {vec} * {vec} : 0;",
        f"{index} i = begin + lane * {vec};",
    ]
    for rounds in dict.fromkeys((cut.rounds, 1)):
        lines.append(
            f"for (; i + {(rounds - 1) * across} < whole; i += {rounds * across}) {{"
        )
        lines += [*elements.round(rounds, across), "}"]
    if vec > 1:
        lines.append(f"for (i = whole + lane; i < end; i += {lanes}) {{")
        lines += [*elements.one(), "}"]
    return lines


def unrolled_lane_loops(cut, index, elements, length):
    """Return loops that do the same for rows of a known length, without branches back.

    Here elements.round() gets the number of vector u of its lane, too. So the vectors
    can be in registers.
    """
    vec, lanes, rounds = cut.vector, cut.lanes, cut.rounds
    across = lanes * vec
    vectors = -(-(length // vec) // lanes)  # of the first lane
    groups = vectors // rounds if rounds > 1 else 0
    is_even = length // vec % lanes == 0  # all lanes have as many
    lines = []
    if not is_even or length % vec:
        lines.append(f"const {index} whole = end / {vec} * {vec};")
    if groups:
        inside = elements.round(rounds, across, f"g * {rounds} + u")
        if not is_even:
            lines.append("int done = 0;")
            inside = [
                f"if (i + {(rounds - 1) * across} < whole) {{",
                *inside,
                f"done = (g + 1) * {rounds};",
                "}",
            ]
        lines += [
            "#pragma unroll",
            f"for (int g = 0; g < {groups}; g++) {{",
            f"const {index} i = lane * {vec} + g * {rounds * across};",
            *inside,
            "}",
        ]
    first = groups * rounds if is_even else 0
    if first < vectors:
        inside = elements.round(1, across, "t")
        if not is_even:
            is_left = " && t >= done" if groups else ""
            inside = [f"if (i < whole{is_left}) {{", *inside, "}"]
        lines += [
            "#pragma unroll",
            f"for (int t = {first}; t < {vectors}; t++) {{",
            f"const {index} i = lane * {vec} + t * {across};",
            *inside,
            "}",
        ]
    if length % vec:
        lines += [f"const {index} i = whole + lane;", "if (i < end) {"]
        lines += [*elements.one(), "}"]
    return lines


def _by_lanes(request, index, step):
    """Return the body of a kernel in which a block or a warp makes a segment."""
    result = "acc" if request.partial else "R::finish<Z0>(acc, divisor)"
    return [
        *job(request, index),
        f"const {index} result = job / segments;",
        f"const {index} begin = (job - result * segments) * segment;",
        "Acc acc = R::identity();",
        "if (result < results) {",
        *_start(request, index, step, "result"),
        f"const {index} end = begin + segment < length ? begin + segment : length;",
        *lane_loops(request, index, _Elements(request, index, step)),
        "}",
        merged(request),
        f"if (lane == 0 && result < results) out[job] = {result};",
    ]


class _Elements:
    """What the lanes of a job do with elements in memory."""

    def __init__(self, request, index, step):
        self._of = request, index, step

    def round(self, rounds, across):
        """Return the lines that take up a number of vectors at once."""
        request, index, step = self._of
        return [
            *_packs(request, f"v{{k}}[{rounds}]"),
            "#pragma unroll",
            f"for (int u = 0; u < {rounds}; u++) {{",
            *_load_round(request, index, step, f"i + u * {across}"),
            "}",
            *_add_round(request, rounds, step, across),
        ]

    def one(self):
        """Return the lines that take up one element, loaded by itself."""
        request, index, step = self._of
        return [
            *(f"pack<T{k}, 1> t{k};" for k in range(request.inputs)),
            *_load(_Scalar(request), index, step, "t", "i"),
            *_values(request, 1, "t{k}.items[j]"),
            f"R::add(acc, {', '.join(f'x{k}[0]' for k in range(request.inputs))}, "
            f"({step})i);",
        ]


_BYTES = ("bool", "int8", "uint8")
_COUNTS_BYTES = ("any", "all", "count_nonzero")


def _add_round(request, rounds, step, across):
    """Return the lines that take up the vectors of a round."""
    vec = request.vector
    if request.operation in _COUNTS_BYTES and request.types[0] in _BYTES and vec >= 4:
        return [
            "#pragma unroll",
            f"for (int u = 0; u < {rounds}; u++)",
            f"R::add_bytes<{vec // 4}>(acc, (const uint32 *)v0[u].words);",
        ]
    return [
        *_values(request, rounds * vec, f"v{{k}}[j / {vec}].items[j % {vec}]"),
        f"R::add_some<{vec}, {rounds}>(acc, {_arguments(request)}, ({step})i, "
        f"({step}){across});",
    ]


def _load_round(request, index, step, element):
    """Return the lines that load the vector of round u."""
    names = [f"T{k}" for k in range(request.inputs)]
    lines = [f"pack<{name}, {request.vector}> w{k};" for k, name in enumerate(names)]
    lines += _load(request, index, step, "w", element)
    return lines + [f"v{k}[u] = w{k};" for k in range(request.inputs)]


# -- some lanes for each result --------------------------------------------------------


def _by_short_row(request, index, step):
    """Return the body of a kernel in which lanes load whole results.

    A warp has ``rounds`` times as many results as groups of lanes. In the end its lanes
    hold results that follow each other, for one store.
    """
    vec, rounds, lanes = request.vector, request.rounds, request.lanes
    groups = 32 // lanes
    warps = request.threads // 32
    kept, apart = max(rounds // lanes, 1), max(lanes // rounds, 1)
    return [
        f"const {index} lane = threadIdx.x % {lanes};",
        f"const {index} warp = ({index})blockIdx.x * {warps} + threadIdx.x / 32;",
        f"const {index} first = warp * {groups * rounds} + threadIdx.x % 32 / {lanes};",
        f"const bool has = lane * {vec} < length;",
        *_packs(request, f"v{{k}}[{rounds}]"),
        "#pragma unroll",
        f"for (int u = 0; u < {rounds}; u++) {{",
        f"const {index} result = first + u * {groups};",
        "if (result < results && has) {",
        *_start(request, index, step, "result"),
        *_load_round(request, index, step, f"lane * {vec}"),
        "}",
        "}",
        *_values(request, rounds * vec, f"v{{k}}[j / {vec}].items[j % {vec}]"),
        f"Acc acc[{rounds}];",
        f"short_rows<R, {lanes}, {rounds}, {vec}>::reduce(acc, {_arguments(request)}, "
        f"({step})(lane * {vec}), has, ({step})length);",
        "#pragma unroll",
        f"for (int j = 0; j < {kept}; j++) {{",
        f"const {index} result = first + (lane / {apart} * {kept} + j) * {groups};",
        f"if (lane % {apart} == 0 && result < results)",
        "out[result] = R::finish<Z0>(acc[j], divisor);",
        "}",
    ]


# -- a thread for some neighbouring results --------------------------------------------


def column_job(cut, index):
    """Return the lines that find a thread's results, and the elements of its tile."""
    wide = cut.lanes * cut.vector
    return [
        f"const {index} tiles = (results + {wide - 1}) / {wide};",
        f"const {index} number = blockIdx.x / tiles;",
        f"const {index} first = (blockIdx.x - number * tiles) * {wide};",
        f"const {index} mine = first + threadIdx.x % {cut.lanes} * {cut.vector};",
        f"const {index} begin = number * segment;",
        f"const {index} end = begin + segment < length ? begin + segment : length;",
    ]


def column_start(cut, reduction="R", acc="acc"):
    """Return the lines that declare a thread's accumulators."""
    return [
        f"{reduction}::Acc {acc}[{cut.vector}];",
        "#pragma unroll",
        f"for (int v = 0; v < {cut.vector}; v++) {acc}[v] = {reduction}::identity();",
    ]


def column_results(cut, store, reduction="R", acc="acc"):
    """Return the lines that give each column and its result to a function."""
    if cut.lanes == cut.threads:
        return [
            "#pragma unroll",
            f"for (int v = 0; v < {cut.vector}; v++)",
            f"{store}(threadIdx.x * {cut.vector} + v, {acc}[v]);",
        ]
    numbers = f"{cut.threads}, {cut.lanes}, {cut.vector}"
    return [f"reduce_columns<{reduction}, {numbers}>({acc}, {store});"]


def _by_column(request, index, step):
    """Return the body of a kernel in which a thread has neighbouring results."""
    result = "one" if request.partial else "R::finish<Z0>(one, divisor)"
    place = "(first + column) * segments + number"
    return [
        *column_job(request, index),
        *column_start(request),
        "if (mine < results) {",
        *_start(request, index, step, "mine"),
        f"{index} i = begin + threadIdx.x / {request.lanes};",
        *column_loops(request, _Columns(request, index, step)),
        "}",
        "auto store = [&](int column, const Acc &one) {",
        f"if (first + column < results) out[{place}] = {result};",
        "};",
        *column_results(request, "store"),
    ]


def column_loops(cut, elements):
    """Return the loops in which a thread takes up the elements from i to end."""
    rows = cut.threads // cut.lanes
    lines = []
    for rounds in dict.fromkeys((cut.rounds, 1)):
        lines.append(
            f"for (; i + {(rounds - 1) * rows} < end; i += {rounds * rows}) {{"
        )
        lines += [*elements.round(rounds, rows), "}"]
    return lines


class _Columns:
    """What a thread with neighbouring results does with elements in memory."""

    def __init__(self, request, index, step):
        self._of = request, index, step

    def round(self, rounds, rows):
        """Return the lines that take up a number of rows at once."""
        request, index, step = self._of
        values = []
        for k in range(request.inputs):
            value = computed(f"v{k}[j].items[v]", request.compute)
            values += [f"C x{k}[{rounds}];", "#pragma unroll"]
            values.append(f"for (int j = 0; j < {rounds}; j++) x{k}[j] = {value};")
        return [
            *_packs(request, f"v{{k}}[{rounds}]"),
            "#pragma unroll",
            f"for (int u = 0; u < {rounds}; u++) {{",
            *_load_round(request, index, step, f"i + u * {rows}"),
            "}",
            "#pragma unroll",
            f"for (int v = 0; v < {request.vector}; v++) {{",
            *values,
            f"R::add_some<1, {rounds}>(acc[v], {_arguments(request)}, ({step})i, "
            f"({step}){rows});",
            "}",
        ]


_BODIES = {
    "by_block": _by_lanes,
    "by_row": _by_lanes,
    "by_short_row": _by_short_row,
    "by_column": _by_column,
}
