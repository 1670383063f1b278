"""The source of generated reductions.

``cuda/pycuda-reduce.hpp`` defines the operations. This file writes the loops.

A result is reduced in segments: one job makes one segment of one result. A job is a
block or a thread. Where results have several segments, a second kernel joins them.
"""

from __future__ import annotations

from pycuda._array.elementwise_text import computation_type, computed

_BY_BLOCK, _BY_THREAD, _JOIN_BY_BLOCK, _JOIN_BY_THREAD = range(4)


def reduction_text(
    op, types, nin, compute, reduced, wide, vec, kept, variant, partial, stream=0
):
    """Return the source of a kernel of a reduction.

    ``reduced`` and ``kept`` count axes. ``variant`` is one of the four kernels.
    ``partial`` asks for the accumulators of segments instead of results, ``stream`` for
    loads that bypass the caches.
    """
    index, step = ("uint64", "int64") if wide else ("uint32", "int32")
    if variant == _JOIN_BY_BLOCK:
        parameters, body = _join_parameters(index), _join_by_block(index)
    elif variant == _JOIN_BY_THREAD:
        parameters, body = _join_parameters(index), _join_by_thread(index)
    else:
        target, result = "Z0", "R::finish<Z0>(acc, divisor)"
        if partial:
            target, result = "Acc", "acc"
        parameters = _parameters(nin, target, kept, reduced, index, step)
        body = _job(nin, kept, variant, index, step)
        if vec > 1:
            body += _packed_loop(nin, compute, vec, stream, index)
        else:
            body += _strided_loop(nin, compute, reduced, variant, index, step)
        if variant == _BY_THREAD:
            body.append(f"out[result * segments + number] = {result};")
        else:
            body.append("reduce_block<R>(acc);")
            body.append(f"if (threadIdx.x == 0) out[job] = {result};")
    lines = [
        "#include <pycuda-reduce.hpp>",
        "using namespace pycuda_array;",
        *(f"typedef {name} T{k};" for k, name in enumerate(types[:nin])),
        f"typedef {types[nin]} Z0;",
        f"typedef {computation_type(compute)} C;",
        f"typedef reduce_{op}<C> R;",
        "typedef R::Acc Acc;",
        'extern "C" __global__ void __launch_bounds__(256)',
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


def _join_by_block(index):
    """Return the body of a kernel in which a block joins the segments of a result."""
    return [
        "Acc acc = R::identity();",
        f"partial += ({index})blockIdx.x * segments;",
        f"for ({index} s = threadIdx.x; s < segments; s += 256)",
        "R::merge(acc, partial[s]);",
        "reduce_block<R>(acc);",
        "if (threadIdx.x == 0) out[blockIdx.x] = R::finish<Z0>(acc, divisor);",
    ]


def _join_by_thread(index):
    """Return the body of a kernel in which a thread joins the segments of a result."""
    return [
        f"{index} result = ({index})blockIdx.x * 256 + threadIdx.x;",
        "if (result >= results) return;",
        "Acc acc = R::identity();",
        f"for ({index} s = 0; s < segments; s++)",
        "R::merge(acc, partial[result * segments + s]);",
        "out[result] = R::finish<Z0>(acc, divisor);",
    ]


# -- the kernels that reduce elements --------------------------------------------------


def _parameters(nin, target, kept, reduced, index, step):
    parameters = [f"const T{k} *p{k}" for k in range(nin)]
    parameters.append(f"{target} *out")
    numbers = ("results", "length", "segments", "segment")
    parameters += [f"{index} {name}" for name in numbers]
    parameters.append("double divisor")
    parameters += [f"{index} k{axis}" for axis in range(kept)]
    parameters += [f"{index} r{axis}" for axis in range(reduced)]
    for k in range(nin):
        parameters += [f"{step} k{k}_{axis}" for axis in range(kept)]
        parameters += [f"{step} r{k}_{axis}" for axis in range(reduced)]
    return parameters


def _offsets(letter, ndim, nin, source, target, index, step):
    """Return the lines that turn the number of an element into byte offsets."""
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


def _job(nin, kept, variant, index, step):
    """Return the lines that find a job's result, its segment and its first elements."""
    if variant == _BY_THREAD:
        lines = [
            f"{index} job = ({index})blockIdx.x * 256 + threadIdx.x;",
            "if (job >= results * segments) return;",
            f"{index} number = job / results;",
            f"{index} result = job - number * results;",
        ]
    else:
        lines = [
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
    return lines


def _packed_loop(nin, compute, vec, stream, index):
    """Return the loop over elements that lie one after the other, ``vec`` a load."""
    inputs = range(nin)
    load = "stream" if stream else "load"
    items = ", ".join(computed(f"v{k}.items[j]", compute) for k in inputs)
    tails = ", ".join(computed(f"row{k}[i]", compute) for k in inputs)
    return [
        *(
            f"const T{k} *row{k} = (const T{k} *)((const char *)p{k} + b{k});"
            for k in inputs
        ),
        f"{index} whole = end > begin ? begin + (end - begin) / {vec} * {vec} : 0;",
        "#pragma unroll 2",
        f"for ({index} i = begin + threadIdx.x * {vec}; i < whole;",
        f"i += 256 * {vec}) {{",
        *(f"pack<T{k}, {vec}> v{k};" for k in inputs),
        *(f"v{k}.{load}(row{k} + i);" for k in inputs),
        "#pragma unroll",
        f"for (int j = 0; j < {vec}; j++) R::add(acc, {items}, (int64)i + j);",
        "}",
        f"for ({index} i = whole + threadIdx.x; i < end; i += 256)",
        f"R::add(acc, {tails}, (int64)i);",
    ]


def _strided_loop(nin, compute, reduced, variant, index, step):
    """Return the loop over elements that are found by their indices."""
    first, stride = "threadIdx.x", 256
    if variant == _BY_THREAD:
        first, stride = "0", 1
    elements = [
        computed(f"(*(const T{k} *)((const char *)p{k} + o{k}))", compute)
        for k in range(nin)
    ]
    return [
        f"for ({index} i = begin + {first}; i < end; i += {stride}) {{",
        *(f"{step} o{k} = b{k};" for k in range(nin)),
        *_offsets("r", reduced, nin, "i", "o", index, step),
        f"R::add(acc, {', '.join(elements)}, (int64)i);",
        "}",
    ]
