"""The source of generated reductions.

``cuda/pycuda-reduce.hpp`` defines the operations. This file writes the loops.

A result is reduced in segments: one job makes one segment of one result. A job is a
block or a thread. Where results have several segments, a second kernel joins them.
"""

from __future__ import annotations

from pycuda._array.sources.elementwise import computation_type, computed


def reduction_text(request):
    """Return the source of a kernel of a reduction: a ``_KernelRequest``'s."""
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    if request.variant == "join_by_block":
        parameters, body = _join_parameters(index), _join_by_block(index)
    elif request.variant == "join_by_thread":
        parameters, body = _join_parameters(index), _join_by_thread(index)
    else:
        parameters = _parameters(request, index, step)
        body = _reduce(request, index, step)
    nin, types = request.inputs, request.types
    lines = [
        "#include <pycuda-reduce.hpp>",
        "using namespace pycuda_array;",
        *(f"typedef {name} T{k};" for k, name in enumerate(types[:nin])),
        f"typedef {types[nin]} Z0;",
        f"typedef {computation_type(request.compute)} C;",
        f"typedef reduce_{request.operation}<C> R;",
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


def _reduce(request, index, step):
    """Return the body of a kernel that reduces elements."""
    body = _job(request, index, step)
    if request.vector > 1:
        body += _packed_loop(request, index)
    else:
        body += _strided_loop(request, index, step)
    result = "acc" if request.partial else "R::finish<Z0>(acc, divisor)"
    if request.variant == "by_thread":
        body.append(f"out[result * segments + number] = {result};")
    else:
        body.append("reduce_block<R>(acc);")
        body.append(f"if (threadIdx.x == 0) out[job] = {result};")
    return body


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


def _job(request, index, step):
    """Return the lines that find a job's result, its segment and its first elements."""
    nin, kept = request.inputs, request.kept_ndim
    if request.variant == "by_thread":
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
    lines += [
        "{",
        *_offsets("k", kept, nin, "result", "b", index, step),
        "}",
    ]
    lines += [
        f"{index} begin = number * segment;",
        f"{index} end = begin + segment < length ? begin + segment : length;",
        "Acc acc = R::identity();",
    ]
    return lines


def _packed_loop(request, index):
    """Return the loop over elements in a packed run, a vector of them a load."""
    vec = request.vector
    inputs = range(request.inputs)
    load = "stream" if request.streamed else "load"
    items = ", ".join(computed(f"v{k}.items[j]", request.compute) for k in inputs)
    tails = ", ".join(computed(f"row{k}[i]", request.compute) for k in inputs)
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


def _strided_loop(request, index, step):
    """Return the loop over elements that are found by their indices."""
    nin = request.inputs
    first, stride = "threadIdx.x", 256
    if request.variant == "by_thread":
        first, stride = "0", 1
    elements = [
        computed(f"(*(const T{k} *)((const char *)p{k} + o{k}))", request.compute)
        for k in range(nin)
    ]
    return [
        f"for ({index} i = begin + {first}; i < end; i += {stride}) {{",
        *(f"{step} o{k} = b{k};" for k in range(nin)),
        *_offsets("r", request.ndim, nin, "i", "o", index, step),
        f"R::add(acc, {', '.join(elements)}, (int64)i);",
        "}",
    ]
