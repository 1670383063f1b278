"""The text of generated kernels.

What elements are and what is done to them is in ``cuda/pycuda-array.hpp``. Here are the
loops around it.
"""

from __future__ import annotations

_ARRAY, _SCALAR, _ONE = range(3)

# {a0} is the element of the first input, {c0} the same in the type that is computed in;
# z0 is the first output, of type Z0. All others are z0 = op_name(c0, c1, ...).
_BODIES = {
    "copy": "z0 = cast<Z0>({a0});",
    "where": "z0 = truth({a0}) ? cast<Z0>({a1}) : cast<Z0>({a2});",
    "if_positive": "z0 = positive({a0}) ? cast<Z0>({a1}) : cast<Z0>({a2});",
    "axpby": (
        "z0 = cast<Z0>(op_add(op_multiply({c0}, {c1}), op_multiply({c2}, {c3})));"
    ),
    "axpb": "z0 = cast<Z0>(op_add(op_multiply({c0}, {c1}), {c2}));",
    "arange": "z0 = cast<Z0>(op_add({c0}, op_multiply({c1}, cast<C>(i))));",
    "divmod": "op_divmod({c0}, {c1}, z0, z1);",
    "modf": "op_modf({c0}, z0, z1);",
    "frexp": "op_frexp({c0}, z0, z1);",
    "ldexp": "z0 = cast<Z0>(op_ldexp({c0}, exponent({a1})));",
}


def _type_name(name, vec):
    """Return the C++ name of an element type; ``vec`` is the word of raw ones."""
    if name.startswith("raw"):
        return f"raw<{name[3:]}, {vec}>"
    return name


def _computed(element, compute):
    """Return an element in the type that is computed in."""
    if compute == "raw":
        return element
    if compute == "float16":
        return f"(float)cast<float16>({element})"
    return f"cast<C>({element})"


def _body(op, nin, compute, elements):
    words = {f"a{k}": element for k, element in enumerate(elements)}
    words |= {f"c{k}": _computed(e, compute) for k, e in enumerate(elements)}
    body = _BODIES.get(op)
    if body is None:
        arguments = ", ".join(f"{{c{k}}}" for k in range(nin))
        body = f"z0 = cast<Z0>(op_{op}({arguments}));"
    return body.format(**words)


def elementwise_text(op, types, nin, kinds, compute, ndim, wide, vec):
    """Return the source of an elementwise kernel."""
    is_raw = any(name.startswith("raw") for name in types)
    lines = ["#include <pycuda-array.hpp>", "using namespace pycuda_array;"]
    if compute != "raw":
        lines.append(f"typedef {'float' if compute == 'float16' else compute} C;")
    parameters = []
    for k, name in enumerate(types):
        label = f"T{k}" if k < nin else f"Z{k - nin}"
        lines.append(f"typedef {_type_name(name, vec)} {label};")
        if k >= nin:
            parameters.append(f"{label} *p{k}")
        elif kinds[k] == _SCALAR:
            parameters.append(f"{label} p{k}")
        else:
            parameters.append(f"const {label} *p{k}")
    index, step = ("uint64", "int64") if wide else ("uint32", "int32")
    parameters.append(f"{index} n")
    arrays = [k for k in range(len(types)) if kinds[k] != _SCALAR]
    parameters += [f"{index} d{axis}" for axis in range(ndim)]
    if ndim:
        parameters += [f"{step} s{k}_{axis}" for k in arrays for axis in range(ndim)]
    lines.append('extern "C" __global__ void __launch_bounds__(256)')
    lines.append(f"kernel({', '.join(parameters)})")
    lines.append("{")
    outputs = range(nin, len(types))
    if ndim:
        lines += _strided(op, nin, kinds, compute, ndim, arrays, outputs, index, step)
    else:
        size = 1 if is_raw else vec
        lines += _flat(op, nin, kinds, compute, size, outputs, index)
    lines.append("}")
    return "\n".join(lines) + "\n"


def _label(k, nin):
    return f"T{k}" if k < nin else f"Z{k - nin}"


def _flat(op, nin, kinds, compute, vec, outputs, index):
    """Return the body that sees one run of elements."""

    def loop_body(element, declare):
        elements = [
            f"p{k}"
            if kinds[k] == _SCALAR
            else f"o{k}"
            if kinds[k] == _ONE
            else element(k)
            for k in range(nin)
        ]
        return declare + [_body(op, nin, compute, elements)]

    lines = [f"const T{k} o{k} = *p{k};" for k in range(nin) if kinds[k] == _ONE]
    lines.append(f"{index} first = ({index})blockIdx.x * 256 + threadIdx.x;")
    declared = [f"Z{k - nin} z{k - nin};" for k in outputs]
    stored = [f"p{k}[i] = z{k - nin};" for k in outputs]
    if vec == 1:
        lines += [f"{index} i = first;", "if (i < n) {"]
        lines += loop_body(lambda k: f"p{k}[i]", declared) + stored + ["}"]
        return lines
    packed = [k for k in range(nin) if kinds[k] == _ARRAY]
    lines.append(f"first *= {vec};")
    lines.append(f"if (first + {vec} <= n) {{")
    for k in [*packed, *outputs]:
        lines.append(f"pack<{_label(k, nin)}, {vec}> v{k};")
    lines += [f"v{k}.load(p{k} + first);" for k in packed]
    lines += ["#pragma unroll", f"for (int j = 0; j < {vec}; j++) {{"]
    if op == "arange":
        lines.append(f"{index} i = first + j;")
    lines += loop_body(lambda k: f"v{k}.items[j]", declared)
    lines += [f"v{k}.items[j] = z{k - nin};" for k in outputs]
    lines.append("}")
    lines += [f"v{k}.store(p{k} + first);" for k in outputs]
    lines += ["} else {", f"for ({index} i = first; i < n; i++) {{"]
    lines += loop_body(lambda k: f"p{k}[i]", declared) + stored + ["}", "}"]
    return lines


def _strided(op, nin, kinds, compute, ndim, arrays, outputs, index, step):
    """Return the body that finds each element by its indices."""
    lines = [
        f"{index} i = ({index})blockIdx.x * 256 + threadIdx.x;",
        "if (i >= n) return;",
        f"{index} rest = i;",
    ]
    lines += [f"{step} b{k} = 0;" for k in arrays]
    for axis in range(ndim - 1, 0, -1):
        lines.append(f"{{ {index} next = rest / d{axis};")
        lines.append(f"{step} at = ({step})(rest - next * d{axis});")
        lines += [f"b{k} += at * s{k}_{axis};" for k in arrays]
        lines.append("rest = next; }")
    lines += [f"b{k} += ({step})rest * s{k}_0;" for k in arrays]
    elements = []
    for k in range(nin):
        if kinds[k] == _SCALAR:
            elements.append(f"p{k}")
        else:
            elements.append(f"(*(const T{k} *)((const char *)p{k} + b{k}))")
    lines += [f"Z{k - nin} z{k - nin};" for k in outputs]
    lines.append(_body(op, nin, compute, elements))
    lines += [f"*(Z{k - nin} *)((char *)p{k} + b{k}) = z{k - nin};" for k in outputs]
    return lines


def transpose_text(itemsize, tile, per, others):
    """Return the source of a copy that exchanges axes, ``per`` elements a thread."""
    parameters = ["const char *source", "char *target", "uint64 across", "uint64 along"]
    parameters += ["int64 source_step", "int64 target_step"]
    for axis in range(others):
        parameters += [f"uint64 d{axis}", f"int64 s{axis}", f"int64 t{axis}"]
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        f"typedef transpose_tile<{itemsize}, {tile}, {per}> tile;",
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(parameters)})",
        "{",
        "uint32 rest = blockIdx.x, place = rest, column, row;",
        "uint32 columns = (uint32)((across + tile::SIDE - 1) / tile::SIDE);",
        "uint32 rows = (uint32)((along + tile::SIDE - 1) / tile::SIDE);",
    ]
    if others:
        lines.append("rest /= columns * rows; place -= rest * (columns * rows);")
    lines.append("tile::find(place, columns, rows, column, row);")
    for axis in reversed(range(others)):
        lines.append(f"{{ uint32 next = rest / (uint32)d{axis};")
        lines.append(f"int64 at = rest - next * (uint32)d{axis}; rest = next;")
        lines.append(f"source += at * s{axis}; target += at * t{axis}; }}")
    lines.append(
        "tile::move(source, target, across, along, source_step, target_step,"
        " column, row);"
    )
    lines.append("}")
    return "\n".join(lines) + "\n"


_BY_BLOCK, _BY_THREAD, _JOIN_BY_BLOCK, _JOIN_BY_THREAD = range(4)


def reduction_text(
    op, types, nin, compute, reduced, wide, vec, kept, variant, partial, stream=0
):
    """Return the source of a kernel of a reduction."""
    index, step = ("uint64", "int64") if wide else ("uint32", "int32")
    lines = ["#include <pycuda-reduce.hpp>", "using namespace pycuda_array;"]
    lines += [f"typedef {name} T{k};" for k, name in enumerate(types[:nin])]
    lines.append(f"typedef {types[nin]} Z0;")
    lines.append(f"typedef {'float' if compute == 'float16' else compute} C;")
    lines.append(f"typedef reduce_{op}<C> R;")
    lines.append("typedef R::Acc Acc;")
    target = "Acc" if partial else "Z0"
    if variant in (_JOIN_BY_BLOCK, _JOIN_BY_THREAD):
        parameters = ["const Acc *partial", "Z0 *out", f"{index} results"]
        parameters += [f"{index} segments", "double divisor"]
        body = _join_by_block if variant == _JOIN_BY_BLOCK else _join_by_thread
        body = body(index)
    else:
        parameters = [f"const T{k} *p{k}" for k in range(nin)]
        parameters += [f"{target} *out"]
        parameters += [
            f"{index} {name}" for name in ("results", "length", "segments", "segment")
        ]
        parameters.append("double divisor")
        parameters += [f"{index} k{axis}" for axis in range(kept)]
        parameters += [f"{index} r{axis}" for axis in range(reduced)]
        for k in range(nin):
            parameters += [f"{step} k{k}_{axis}" for axis in range(kept)]
            parameters += [f"{step} r{k}_{axis}" for axis in range(reduced)]
        body = _reduce_body(
            nin, compute, reduced, vec, kept, variant, index, step, stream
        )
        result = "acc" if partial else "R::finish<Z0>(acc, divisor)"
        body = [line.replace("RESULT", result) for line in body]
    lines.append('extern "C" __global__ void __launch_bounds__(256)')
    lines += [f"kernel({', '.join(parameters)})", "{", *body, "}"]
    return "\n".join(lines) + "\n"


def _join_by_block(index):
    return [
        "Acc acc = R::identity();",
        f"partial += ({index})blockIdx.x * segments;",
        f"for ({index} s = threadIdx.x; s < segments; s += 256)",
        "R::merge(acc, partial[s]);",
        "reduce_block<R>(acc);",
        "if (threadIdx.x == 0) out[blockIdx.x] = R::finish<Z0>(acc, divisor);",
    ]


def _join_by_thread(index):
    return [
        f"{index} result = ({index})blockIdx.x * 256 + threadIdx.x;",
        "if (result >= results) return;",
        "Acc acc = R::identity();",
        f"for ({index} s = 0; s < segments; s++)",
        "R::merge(acc, partial[result * segments + s]);",
        "out[result] = R::finish<Z0>(acc, divisor);",
    ]


def _offsets(letter, ndim, nin, source, target, index, step):
    """Return the lines that turn a number of an element into byte offsets."""
    if ndim == 0:
        return []
    lines = [f"{index} rest = {source};"]
    for axis in range(ndim - 1, 0, -1):
        lines.append(f"{{ {index} next = rest / {letter}{axis};")
        lines.append(f"{step} at = ({step})(rest - next * {letter}{axis});")
        lines += [f"{target}{k} += at * {letter}{k}_{axis};" for k in range(nin)]
        lines.append("rest = next; }")
    lines += [f"{target}{k} += ({step})rest * {letter}{k}_0;" for k in range(nin)]
    return lines


def _reduce_body(nin, compute, reduced, vec, kept, variant, index, step, stream):
    """Return the body that takes up the elements of one segment of one result."""
    lines = []
    if variant == _BY_THREAD:
        lines += [
            f"{index} job = ({index})blockIdx.x * 256 + threadIdx.x;",
            "if (job >= results * segments) return;",
            f"{index} number = job / results;",
            f"{index} result = job - number * results;",
        ]
    else:
        lines += [
            f"{index} job = blockIdx.x;",
            f"{index} result = job / segments;",
            f"{index} number = job - result * segments;",
        ]
    lines += [f"{step} b{k} = 0;" for k in range(nin)]
    lines += ["{", *_offsets("k", kept, nin, "result", "b", index, step), "}"]
    lines += [
        f"{index} begin = number * segment;",
        f"{index} end = begin + segment < length ? begin + segment : length;",
        "Acc acc = R::identity();",
    ]
    first = "0" if variant == _BY_THREAD else "threadIdx.x"
    stride = 1 if variant == _BY_THREAD else 256
    if vec > 1:
        rows = [
            f"const T{k} *row{k} = (const T{k} *)((const char *)p{k} + b{k});"
            for k in range(nin)
        ]
        packs = [f"pack<T{k}, {vec}> v{k};" for k in range(nin)]
        load = "stream" if stream else "load"
        loads = [f"v{k}.{load}(row{k} + i);" for k in range(nin)]
        items = ", ".join(_computed(f"v{k}.items[j]", compute) for k in range(nin))
        tails = ", ".join(_computed(f"row{k}[i]", compute) for k in range(nin))
        lines += [
            *rows,
            f"{index} whole = end > begin ? begin + (end - begin) / {vec} * {vec} : 0;",
            "#pragma unroll 2",
            f"for ({index} i = begin + threadIdx.x * {vec}; i < whole;",
            f"i += 256 * {vec}) {{",
            *packs,
            *loads,
            "#pragma unroll",
            f"for (int j = 0; j < {vec}; j++) R::add(acc, {items}, (int64)i + j);",
            "}",
            f"for ({index} i = whole + threadIdx.x; i < end; i += 256)",
            f"R::add(acc, {tails}, (int64)i);",
        ]
    else:
        elements = [
            _computed(f"(*(const T{k} *)((const char *)p{k} + o{k}))", compute)
            for k in range(nin)
        ]
        lines += [
            f"for ({index} i = begin + {first}; i < end; i += {stride}) {{",
            *(f"{step} o{k} = b{k};" for k in range(nin)),
            *_offsets("r", reduced, nin, "i", "o", index, step),
            f"R::add(acc, {', '.join(elements)}, (int64)i);",
            "}",
        ]
    if variant == _BY_THREAD:
        lines.append("out[result * segments + number] = RESULT;")
    else:
        lines += ["reduce_block<R>(acc);", "if (threadIdx.x == 0) out[job] = RESULT;"]
    return lines
